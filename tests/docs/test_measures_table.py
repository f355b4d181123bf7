"""The index of measures and the page of each, as the site has it, have every measure and no empty
cell.
"""

import re

import pytest

from docs.extensions.name_pages import page_of
from docs.extensions.site_view import on_site
from docs.reference_entries import FOLDER, entries_of, first_sentence
from docs.reference_tables import waiting_rows
from idealrank.cli.trec_options import NAMES
from idealrank.measures import MEASURES, PAIR_MEASURES
from idealrank.measures.facts import classes_of, facts_of, families
from idealrank.measures.measure import Measure
from tests.conftest import ROOT

ALL = [*MEASURES.values(), *PAIR_MEASURES.values()]


INDEX = (FOLDER / "measures-table.md").read_text(encoding="utf-8")
PAGE = (FOLDER / "measures.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [INDEX, on_site(INDEX)], ids=["checkout", "site"])
def test_the_index_has_every_measure_in_three_columns(page: str) -> None:
    rows = [
        re.split(r"(?<!\\)\|", line)[1:-1] for line in page.splitlines() if line.startswith("| [`")
    ]

    assert len(rows) >= len(ALL) - len(waiting_rows()) // 2
    assert {len(row) for row in rows} == {3}
    assert [row[0] for row in rows if not all(cell.strip(" `") for cell in row)] == []


def test_the_page_of_measures_has_every_family_once_and_every_class_with_a_summary() -> None:
    placed = [
        name
        for line in re.findall(r"^<!-- measures (.*) -->$", PAGE, re.MULTILINE)
        for name in line.split()
    ]
    entries = entries_of(PAGE)
    measures = [entry.word for entry in entries if entry.is_measure]

    assert sorted(placed) == sorted(families())
    assert sorted(measures) == sorted(cls.__name__ for cls in ALL)
    assert all(first_sentence(entry.value) for entry in entries)


def test_the_page_of_a_measure_has_its_facts_and_its_other_names() -> None:
    rank = next(entry for entry in entries_of(PAGE) if entry.word == "RR")
    page = page_of(rank, "measures")

    title = "RR (mrr, recip_rank): Reciprocal rank of the first relevant document"
    assert page.splitlines()[2] == title
    assert ".. autoclass:: idealrank.RR\n" in page
    for heading in ("Written", "Formula", "Range", "Tie rule", "Use", "Proven against"):
        assert re.search(rf"\* - {heading}\n     - \S", page), heading


def test_no_comment_is_left_where_the_site_expects_text() -> None:
    for path in (ROOT / "docs").rglob("*.md"):
        page = on_site(path.read_text(encoding="utf-8"))
        assert "<!-- site" not in page, path
        assert "<!-- cards" not in page, path
        assert "on the site -->" not in page, path


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
