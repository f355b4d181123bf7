"""Reports name their convention in one line; `--explain-method` prints the method and the
convention in full.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Said

PYDOCS = Path(__file__).parents[2] / "examples" / "pydocs"

Say = Callable[..., Said]

REPORTS = {
    "evaluate": "evaluate qrels.txt bm25.run",
    "compare": "compare qrels.txt bm25.run neural.run",
    "gate": "gate qrels.txt bm25.run --baseline neural.run",
    "robust": "robust qrels.txt bm25.run neural.run",
    "seeds": "seeds qrels.txt old-seed1.run old-seed2.run vs new-seed1.run new-seed2.run",
    "choose": "measures choose qrels.txt bm25.run neural.run",
    "explain": "explain qrels.txt bm25.run --query q1",
}


@pytest.mark.spread(3)
@pytest.mark.parametrize("command", REPORTS.values(), ids=REPORTS)
def test_a_report_has_one_line_of_convention_unless_asked_for_more(command: str, say: Say) -> None:
    short, full = (say(*command.split(), *options) for options in ((), ("--explain-method",)))

    assert short.code == full.code == 0, full.err
    assert sum("convention standard [" in line for line in short.out.splitlines()) == 1
    assert re.search(r"details:\s(--more, )?--explain-method\n", short.out)
    assert "gain: the grade" not in short.out
    assert "gain: the grade" in full.out
    assert "--explain-method" not in full.out
    tables = [line for line in full.out.splitlines() if not line.startswith(("  ", "convention "))]
    assert len(short.out.splitlines()) < len(full.out.splitlines())
    assert {line for line in tables if "  " in line} <= set(short.out.splitlines())


def test_what_makes_a_result_doubtful_stays_in_the_short_report(say: Say) -> None:
    said = say("evaluate", "qrels.txt", "bm25.run", "-m", "AP", "--convention", "sklearn")
    assert "this preset reproduces its tool's NDCG only, not AP" in said.out


def test_a_comparison_by_one_measure_fits_fifteen_lines(say: Say) -> None:
    said = say("compare", "qrels.txt", "bm25.run", "minilm.run", "-m", "nDCG@10", cwd=PYDOCS)
    assert len(said.out.splitlines()) <= 15, said.out
