"""The page that says which test when: its functions and options exist, and the numbers it takes
from other pages stand there.
"""

import re

import pytest
from click.testing import CliRunner

import idealrank as ir
from idealrank import stats
from idealrank.cli.main import cli
from tests.docs.blocks import ROOT

FOLDER = ROOT / "docs" / "concepts"
PAGE = (FOLDER / "which-test.md").read_text(encoding="utf-8")
QUESTIONS, DEFAULTS = PAGE.split("## Why these defaults")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in QUESTIONS.splitlines()
    if line.startswith("| ")
]
LINKS = re.findall(
    r"\[([^\]]+)\]\(([\w./-]*)(?:#[\w-]+)?\)", DEFAULTS.split("**Where the literature")[0]
)


def test_the_functions_of_the_tables_exist() -> None:
    names = {
        name
        for row in ROWS
        for name in re.findall(r"`(?:idealrank\.)?(\w+)(?:\([^`]*\))?`", row[1])
    } - {"function", "any"}
    assert len(names) > 20
    assert [
        name for name in sorted(names) if not hasattr(stats, name) and not hasattr(ir, name)
    ] == []


def test_the_options_of_the_tables_exist() -> None:
    commands = {
        tuple(text.split())
        for row in ROWS
        for text in re.findall(r"`((?:compare|gate|evaluate)[^`]*)`", row[2])
    }
    assert len(commands) > 8
    for command, *rest in commands:
        said = CliRunner().invoke(cli, [command, "--help"]).output
        assert [option for option in rest if option.startswith("--") and option not in said] == []


@pytest.mark.parametrize(("text", "page"), LINKS, ids=[text for text, _ in LINKS])
def test_numbers_taken_from_a_page_stand_on_it(text: str, page: str) -> None:
    said = (FOLDER / page).read_text(encoding="utf-8") if page else QUESTIONS
    wanted = re.findall(r"\d+\.\d+", text)
    assert [
        number for number in wanted if not re.search(rf"(?<![\d.]){re.escape(number)}", said)
    ] == []
