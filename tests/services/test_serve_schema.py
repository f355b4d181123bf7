"""The JSON API of `idealrank serve` against its own OpenAPI document, by schemathesis: coverage,
fuzzing and sequences of requests.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from idealrank.store import Store
from idealrank.store.web.guard import Guard
from idealrank.store.web.json_api import PATH
from tests.live.canary_samples import filled
from tests.store.serve_samples import example_store
from tests.web.serving import server

pytestmark = pytest.mark.service


def schemathesis(address: str, folder: Path, *options: str) -> str:
    """Run all checks in all phases; what was found is an error with its report."""
    program = Path(sys.executable).parent / "schemathesis"
    command = [
        program,
        "run",
        address + PATH,
        "--phases=examples,coverage,fuzzing,stateful",
        "--checks=all",
        "--seed=21",
        *options,
    ]
    environment = {**os.environ, "PYTHONUTF8": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    example_store(tmp_path / "store")
    with Store.open(tmp_path / "store") as store:
        filled(store)
    with server(tmp_path / "store") as address:
        said = schemathesis(address, tmp_path, "--max-examples=100")
    assert all(f"✅ {phase}" in said for phase in ("Coverage", "Fuzzing", "Stateful")), said


def test_schemathesis_finds_nothing_behind_a_token(tmp_path: Path) -> None:
    example_store(tmp_path / "store", days=1)
    with server(tmp_path / "store", Guard(token="a long token")) as address:
        schemathesis(
            address, tmp_path, "--max-examples=20", "--header=Authorization: Bearer a long token"
        )
