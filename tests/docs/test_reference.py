"""The reference covers everything that is public."""

import re

import idealrank
from docs.extensions.measure_pages import expanded
from idealrank.cli.main import COMMANDS
from tests.docs.blocks import ROOT

PAGES = [
    expanded(path.read_text(encoding="utf-8"))
    for path in (ROOT / "docs" / "reference").glob("*.md")
]
SUBPACKAGES = {"clicks", "judging", "stats", "theory", "training"}
MODULES = {"idealrank.errors"}  # documented whole, by automodule


def test_every_public_name_has_an_entry() -> None:
    entries = set(
        re.findall(r"^\.\. (?:auto\w+|py:data):: (?:\w+\.)*(\w+)$", "\n".join(PAGES), re.MULTILINE)
    )
    public = {
        name for name in idealrank.__all__ if not name.startswith("__") and name not in SUBPACKAGES
    }
    whole = {
        name for name in public if getattr(getattr(idealrank, name), "__module__", "") in MODULES
    }
    assert public - whole - entries == set()
    assert {
        name for package in SUBPACKAGES for name in getattr(idealrank, package).__all__
    } - entries == set()


def test_every_command_has_a_section() -> None:
    shown = set(re.findall(r"\{said\} idealrank ([\w-]+) --help", "\n".join(PAGES)))
    assert shown == set(COMMANDS)
