"""The pages of measures, as the build of the site fills them, have every measure and no empty
cell.
"""

import re

import pytest

from docs.extensions.measure_pages import expanded
from idealrank.cli.trec_options import NAMES
from idealrank.measures import MEASURES, PAIR_MEASURES
from idealrank.measures.facts import classes_of, facts_of, families
from idealrank.measures.measure import Measure
from tests.conftest import ROOT

ALL = [*MEASURES.values(), *PAIR_MEASURES.values()]


def test_no_cell_is_empty() -> None:
    page = expanded((ROOT / "docs" / "reference" / "measures-table.md").read_text(encoding="utf-8"))
    rows = [
        re.split(r"(?<!\\)\|", line)[1:-1] for line in page.splitlines() if line.startswith("| `")
    ]

    assert len(rows) == len(ALL)
    assert {len(row) for row in rows} == {8}
    assert [row[0] for row in rows if not all(cell.strip(" `") for cell in row)] == []


def test_the_page_of_measures_has_every_family_once_and_every_class_with_a_summary() -> None:
    page = (ROOT / "docs" / "reference" / "measures.md").read_text(encoding="utf-8")
    placed = [
        name
        for found in re.findall(r"^```\{measures\} (.*)$", page, re.MULTILINE)
        for name in found.split()
    ]
    entries = re.findall(r"^\.\. autoclass:: (\w+)$", expanded(page), re.MULTILINE)
    summaries = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", expanded(page), re.MULTILINE))

    assert sorted(placed) == sorted(families())
    assert sorted(entries) == sorted(["Measure", *(cls.__name__ for cls in ALL)])
    assert list(summaries) == entries
    assert all(summaries.values())


def test_no_fence_is_left_unfilled() -> None:
    for path in (ROOT / "docs").rglob("*.md"):
        page = path.read_text(encoding="utf-8")
        assert "```{measure" not in expanded(page), path
        assert "```{measure" not in page or path.parent.name == "reference", path


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_a_measure_says_everything_of_itself(cls: type[Measure]) -> None:
    facts = facts_of(cls)

    assert [
        name
        for name in ("idea", "summary", "formula", "source", "use", "proof", "parameters")
        if not getattr(facts, name)
    ] == []
    assert [parameter.name for parameter in facts.parameters if not parameter.meaning] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "runid"])
def test_every_name_of_trec_eval_leads_to_a_measure_that_says_so(name: str) -> None:
    facts = facts_of(classes_of(name)[0])

    assert f"``{name}``" in facts.source or any(said.startswith(name) for said in facts.trec_names)
