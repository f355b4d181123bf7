"""The script on mid-p: p against the library's, mid-p against its definition, and its rows against the page."""

import argparse
import importlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats as peer

from idealrank.stats import permutation_test, simultaneous
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "concepts" / "mid-p.md").read_text(encoding="utf-8")
MODULES = ("mid_p", "stated_power", "gate_simulation", "gate_erosion", "simulated_changes", "sign_flips")


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        yield importlib.import_module("mid_p")
    for name in (*MODULES, "interval_coverage", "models"):
        sys.modules.pop(name, None)


def test_p_of_the_script_is_p_of_the_library(script) -> None:
    """All sign vectors of 10 queries; the family has the corrected p of its smallest."""
    rng = np.random.default_rng(4)
    for law in script.LAWS.values():
        drawn = law(rng, (10, 3, script.FAMILY))
        values = script.values_of(drawn, script.signs_of(10, rng))
        for at in range(3):
            columns = drawn[:, at]
            zeros = np.zeros(10)
            assert values["one-sided"][0][at] == pytest.approx(permutation_test(zeros, columns[:, 0], alternative="greater").p)
            assert values["two-sided"][0][at] == pytest.approx(permutation_test(zeros, columns[:, 0]).p)
            assert values["max-T of 5"][0][at] == pytest.approx(np.min(simultaneous(columns).p))


def test_mid_p_is_the_mean_of_the_probabilities_with_and_without_ties(script) -> None:
    drawn = script.LAWS["80 % zeros, +-1"](np.random.default_rng(1), (10, 20, script.FAMILY))
    signs = script.signs_of(10, np.random.default_rng(1))
    p, mid = script.values_of(drawn, signs)["one-sided"]
    sums, seen = signs @ drawn[..., 0], drawn[..., 0].sum(axis=0)
    assert mid == pytest.approx(((sums > seen).mean(axis=0) + (sums >= seen).mean(axis=0)) / 2)
    assert (mid <= p).all()


def rows_of_page(head: str) -> list[list[str]]:
    lines = PAGE.split(head, 1)[1].splitlines()[2:]
    last = next(at for at, line in enumerate(lines) if not line.startswith("|"))
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[:last]]


@pytest.mark.parametrize(("name", "queries"), [("80 % zeros, +-1", 25), ("tenths", 10), ("normal", 25)])
def test_the_page_has_the_rows_that_a_run_prints(script, name: str, queries: int) -> None:
    """Shares of the page against 600 sets, within four standard errors of both."""
    arguments = argparse.Namespace(sets=600, seed=3, turned=script.half_found)
    rows = {row[1]: row[3:] for row in rows_of_page("| differences |") if (row[0], row[2]) == (name, str(queries))}
    for test, share in script.shares(name, queries, arguments).items():
        for value, cell in zip(share.values(), rows[test], strict=True):
            assert value == pytest.approx(float(cell), abs=4 * (float(cell) * (1 - float(cell)) / 500) ** 0.5 + 0.004)


def test_on_average_mid_p_keeps_its_level_as_the_page_says(script) -> None:
    rows = rows_of_page("| differences |")
    assert len(rows) == 72
    assert max(float(row[4]) for row in rows) <= 0.054 < script.MOST


def test_levels_for_the_queries_that_differ_are_binomial(script) -> None:
    """The levels of the page, and of p by SciPy's exact test."""
    for row in rows_of_page("| differ |"):
        levels = [level for sides in (1, 2) for level in script.given(int(row[0]), sides)]
        assert [f"{level:.3f}" for level in levels] == row[1:]
    for sides, alternative in ((1, "greater"), (2, "two-sided")):
        rejected = [k for k in range(9) if peer.binomtest(k, 8, alternative=alternative).pvalue <= 0.05]
        assert script.given(8, sides)[0] == pytest.approx(sum(peer.binom.pmf(k, 8, 0.5) for k in rejected))
