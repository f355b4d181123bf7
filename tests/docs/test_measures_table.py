"""The table of measures is the one that its script writes, and has no empty cell."""

import re
import subprocess
import sys

import pytest

from idealrank.cli.trec_options import NAMES
from idealrank.measures import MEASURES, PAIR_MEASURES
from idealrank.measures.facts import classes_of, facts_of
from idealrank.measures.measure import Measure
from tests.conftest import ROOT

ALL = [*MEASURES.values(), *PAIR_MEASURES.values()]


def test_the_page_is_up_to_date() -> None:
    done = subprocess.run([sys.executable, ROOT / "docs" / "measures_table.py", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_cell_is_empty() -> None:
    page = (ROOT / "docs" / "reference" / "measures-table.md").read_text(encoding="utf-8")
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in page.splitlines() if line.startswith("| `")]

    assert len(rows) == len(ALL)
    assert {len(row) for row in rows} == {8}
    assert [row[0] for row in rows if not all(cell.strip(" `") for cell in row)] == []


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_a_measure_says_everything_of_itself(cls: type[Measure]) -> None:
    facts = facts_of(cls)

    assert [name for name in ("idea", "summary", "formula", "source", "use", "proof", "parameters") if not getattr(facts, name)] == []
    assert [parameter.name for parameter in facts.parameters if not parameter.meaning] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "runid"])
def test_every_name_of_trec_eval_leads_to_a_measure_that_says_so(name: str) -> None:
    facts = facts_of(classes_of(name)[0])

    assert f"``{name}``" in facts.source or any(said.startswith(name) for said in facts.trec_names)
