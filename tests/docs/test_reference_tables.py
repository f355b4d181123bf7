"""The tables of names in the reference are the ones that their script writes, and have no empty
cell.
"""

import re
import runpy
import sys

import pytest

from docs.reference_tables import is_current
from tests.conftest import ROOT

REFERENCE = ROOT / "docs" / "reference"


def test_the_tables_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["reference_tables.py", "--check"])

    # ends with a message where a page is out of date
    runpy.run_path(str(ROOT / "docs" / "reference_tables.py"), run_name="__main__")


def test_only_the_row_of_an_unreleased_measure_may_be_missing() -> None:
    full = "| name | summary |\n| `Old` | One. |\n| `New` | Two. |\n"
    lacking = full.replace("| `New` | Two. |\n", "")

    assert is_current(full, full, ())
    assert is_current(lacking, full, ("| `New` |",))
    assert not is_current(lacking, full, ("| `Old` |",))
    assert not is_current(full, lacking, ("| `New` |",))
    assert not is_current(full.replace("Two", "Too"), full, ("| `New` |",))


def test_every_name_has_a_summary() -> None:
    pages = [path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md")]
    tables = [
        found
        for page in pages
        for found in re.findall(r"<!-- names -->\n(.*?)<!-- end of names -->", page, re.DOTALL)
    ]
    rows = [line for table in tables for line in table.splitlines() if line.startswith("| `")]

    assert len(tables) == 13
    assert len(rows) > 300
    assert [row for row in rows if not row.split(" | ", 1)[1].strip(" |")] == []


def test_every_key_of_a_configuration_has_its_values() -> None:
    page = (REFERENCE / "configuration.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]

    assert {"| `breaker.failures`", "| `largest_loss`", "| `learning_rate`"} <= {
        row.rsplit(" | ", 1)[0] for row in rows
    }
    assert len(rows) > 250
    assert [row for row in rows if not row.split(" | ", 1)[1].strip(" |")] == []


def test_the_guide_to_the_command_line_lists_every_command() -> None:
    listed = re.findall(
        r"^\| `([a-z-]+)` \|", (REFERENCE / "commands.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    guide = (ROOT / "docs" / "guides" / "command-line.md").read_text(encoding="utf-8")
    named = {
        name
        for row in re.findall(r"^\| (`[^|]+) \|", guide, re.MULTILINE)
        for name in re.findall(r"`([a-z-]+)`", row)
    }

    assert len(listed) > 20
    assert set(listed) <= named
