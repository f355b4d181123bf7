"""The fuzzer of the commands: its cases follow from seed and number, and end well."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_case_follows_from_seed_and_number_and_ends_well() -> None:
    command = [sys.executable, str(ROOT / "fuzz" / "mutate.py"), "--seed", "1", "--case", "5"]
    first, second = (subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True) for _ in range(2))
    assert (first.returncode, first.stdout, first.stderr) == (second.returncode, second.stdout, second.stderr)
    assert first.returncode == 0, first.stdout
    assert first.stdout.startswith("1 cases, 0 ended badly; ")
