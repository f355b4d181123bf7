"""The reference covers everything that is public."""

import re

import idealrank
from idealrank.cli.main import COMMANDS
from tests.docs.blocks import ROOT

PAGES = [path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")]
MODULES = {"idealrank.errors"}  # documented whole, by automodule


def test_every_public_name_has_an_entry() -> None:
    entries = set(re.findall(r"^\.\. (?:auto\w+|py:data):: (?:\w+\.)*(\w+)$", "\n".join(PAGES), re.MULTILINE))
    public = {name for name in idealrank.__all__ if not name.startswith("__") and name not in {"clicks", "judging", "stats", "theory"}}
    whole = {name for name in public if getattr(getattr(idealrank, name), "__module__", "") in MODULES}
    assert public - whole - entries == set()
    assert {*idealrank.clicks.__all__, *idealrank.judging.__all__, *idealrank.stats.__all__, *idealrank.theory.__all__} - entries == set()


def test_every_command_has_a_section() -> None:
    shown = set(re.findall(r"\{said\} idealrank ([\w-]+) --help", "\n".join(PAGES)))
    assert shown == set(COMMANDS)
