"""A standalone cluster of Spark on loopback: a master and two workers, each a process of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    """Master and workers; `kill_worker` ends a worker with its executor, as a lost machine does."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        self._command = [str(home / "bin" / "spark-class")]
        self._folder = folder
        self._env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
        self._processes: list[subprocess.Popen[bytes]] = []
        port, page = _free_port(), _free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self._start(
            "master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)
        )
        _wait(lambda: _listens(port), "the master")
        self.workers = [self.start_worker(name) for name in ("one", "two")]

    def start_worker(self, name: str) -> subprocess.Popen[bytes]:
        folder, page = self._folder / name, str(_free_port())
        options = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--work-dir", str(folder), "--webui-port", page]
        return self._start(name, "org.apache.spark.deploy.worker.Worker", *options, self.url)

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen([*self._command, *arguments], env=self._env, stdout=log, stderr=log, start_new_session=True)
        self._processes.append(process)
        return process

    def kill_worker(self, worker: subprocess.Popen[bytes]) -> None:
        os.killpg(worker.pid, signal.SIGKILL)  # the executor is in the group of its worker
        worker.wait()

    def stop(self) -> None:
        for process in reversed(self._processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def _wait(ready, what: str, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, f"{what}: not ready after {seconds} s"
        time.sleep(0.1)


@pytest.fixture
def cluster(tmp_path):
    found = Cluster(tmp_path)
    yield found
    found.stop()


@pytest.fixture
def spark(cluster, monkeypatch):
    """A session on the cluster, with one core on each worker."""
    from pyspark.sql import SparkSession

    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.executor.cores": "1", "spark.executor.memory": "512m", "spark.sql.shuffle.partitions": "6",
        "spark.executorEnv.PYTHONPATH": str(ROOT), "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    }  # fmt: skip
    builder = SparkSession.builder.master(cluster.url)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    _wait(lambda: executors(session) == 2, "two executors")
    yield session
    session.stop()


def executors(session) -> int:
    return session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1  # the driver is one of them
