"""The fuzzer of the commands: its cases follow from seed and number, and end well."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from idealrank.cli import main
from idealrank.cli.commands import measures
from idealrank.clicks.commands import clicks, online
from idealrank.judging.commands import judge
from idealrank.live.commands import search
from idealrank.store.commands import store
from idealrank.theory.commands import theory

ROOT = Path(__file__).resolve().parents[2]


def test_every_command_that_reads_a_file_is_tried() -> None:
    spec = importlib.util.spec_from_file_location("mutate", ROOT / "fuzz" / "mutate.py")
    assert spec is not None
    assert spec.loader is not None
    mutate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mutate)
    groups = {"clicks": clicks, "judge": judge, "online": online, "store": store, "theory": theory}
    names = {
        f"{name} {one}".strip()
        for name in main.COMMANDS
        for one in (groups[name].COMMANDS if name in groups else [""])
    }
    names |= {f"measures {one}" for one in measures.COMMANDS}
    names |= {f"search {one}" for one in search.COMMANDS}
    tried = {
        name for name in names for command in mutate.COMMANDS if re.match(rf"{name}( |$)", command)
    }

    assert names - tried == mutate.WITHOUT_FILES


@pytest.mark.slow
def test_a_case_follows_from_seed_and_number_and_ends_well() -> None:
    command = [sys.executable, str(ROOT / "fuzz" / "mutate.py"), "--seed", "1", "--case", "5"]
    first, second = (
        subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        for _ in range(2)
    )
    assert (first.returncode, first.stdout, first.stderr) == (
        second.returncode,
        second.stdout,
        second.stderr,
    )
    assert first.returncode == 0, first.stdout
    assert first.stdout.startswith("1 cases, 0 ended badly; ")
