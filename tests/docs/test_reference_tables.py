"""The tables of names in the reference are the ones that their script writes, and have no empty
cell.
"""

import re
import runpy
import sys

import pytest

from docs.reference_tables import bibtex, is_current
from idealrank.conventions import Convention
from idealrank.conventions.presets import PRESETS
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
        block
        for page in pages
        for block in re.findall(
            r"^-->\n(.*?)<!-- end of entries -->|^<!-- names -->\n(.*?)<!-- end of names -->",
            page,
            re.DOTALL | re.MULTILINE,
        )
    ]
    rows = [
        line for table in tables for line in "".join(table).splitlines() if line.startswith("| [`")
    ]

    assert len(tables) > 60
    assert len(rows) > 400
    assert [row for row in rows if not row.split(" | ", 1)[1].strip(" |")] == []


def test_every_convention_has_its_switches() -> None:
    page = (REFERENCE / "conventions.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", page, re.DOTALL | re.MULTILINE))

    assert list(sections) == list(PRESETS)
    usual = Convention.of("standard").switches()
    for name, section in sections.items():
        values = dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", section, re.MULTILINE))
        assert {**usual, **values} == PRESETS[name].switches(), name
        assert len(values) == len(usual) or name != "standard"


def test_the_entry_to_cite_has_the_version_of_the_citation_file() -> None:
    page = (REFERENCE / "cite.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    version = re.findall(r"^version: (.+)$", citation, re.MULTILINE)

    assert re.findall(r"version = \{(.+)\}", page) == version
    assert bibtex('title: "idealrank: x"\nversion: 9.8\n').splitlines()[1:5] == [
        "@software{idealrank,",
        "  title = {{idealrank}: x},",
        "  author = {{idealrank maintainers}},",
        "  version = {9.8},",
    ]


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
        r"^\| \[`([a-z-]+)`\]",
        (REFERENCE / "commands.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    guide = (ROOT / "docs" / "guides" / "command-line.md").read_text(encoding="utf-8")
    named = {
        name
        for row in re.findall(r"^\| (`[^|]+) \|", guide, re.MULTILINE)
        for name in re.findall(r"`([a-z-]+)`", row)
    }

    assert len(listed) > 20
    assert set(listed) <= named
