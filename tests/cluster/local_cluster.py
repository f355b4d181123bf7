"""A standalone cluster of Spark on loopback: a master and two workers, each a process of its
own.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    """Master and workers; `kill_worker` ends a worker with its executor, as a lost machine does."""

    def __init__(self, folder: Path, n_workers: int = 2, memory: str = "1g") -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        self._command = [str(home / "bin" / "spark-class")]
        self._folder, self._memory = folder, memory
        self._env = {
            **os.environ,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_HOME": str(home),
            "PYSPARK_PYTHON": sys.executable,
        }
        self._processes: list[subprocess.Popen[bytes]] = []
        port, page = _free_port(), _free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self._start(
            "master",
            "org.apache.spark.deploy.master.Master",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--webui-port",
            str(page),
        )
        wait_for(lambda: _listens(port), "the master")
        self.workers = [self.start_worker(f"worker-{number}") for number in range(n_workers)]

    def start_worker(self, name: str) -> subprocess.Popen[bytes]:
        folder, page = self._folder / name, str(_free_port())
        options = [
            "--host",
            "127.0.0.1",
            "--cores",
            "1",
            "--memory",
            self._memory,
            "--work-dir",
            str(folder),
            "--webui-port",
            page,
        ]
        return self._start(name, "org.apache.spark.deploy.worker.Worker", *options, self.url)

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [*self._command, *arguments],
                env=self._env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def kill_worker(self, worker: subprocess.Popen[bytes]) -> None:
        os.killpg(worker.pid, signal.SIGKILL)  # the executor is in the group of its worker
        worker.wait()

    def processor_seconds(self) -> float:
        """Processor time that the workers have used so far, with their executors and the Python
        processes of these.
        """
        sessions = {str(worker.pid) for worker in self.workers}
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:  # it has ended meanwhile; whoever waited for it has its time
                continue
            ticks += sum(map(int, fields[11:15])) if fields[3] in sessions else 0
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        for process in reversed(self._processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def wait_for(ready, what: str, seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, f"{what}: not ready after {seconds} s"
        time.sleep(0.1)


def executors(session) -> int:
    # the driver is one of them
    return session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
