"""The script on mid-p: p against the library's, mid-p against its definition, and its rows against
the page.
"""

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
MODULES = (
    "mid_p",
    "stated_power",
    "gate_simulation",
    "gate_erosion",
    "simulated_changes",
    "sign_flips",
)


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
        drawn = law(rng, (10, 3, max(script.FAMILIES)))
        values = script.values_of(drawn, script.signs_of(10, rng))
        for at in range(3):
            columns = drawn[:, at]
            zeros = np.zeros(10)
            assert values["one-sided"][0][at] == pytest.approx(
                permutation_test(zeros, columns[:, 0], alternative="greater").p
            )
            assert values["two-sided"][0][at] == pytest.approx(
                permutation_test(zeros, columns[:, 0]).p
            )
            for family in script.FAMILIES:
                expected = np.min(simultaneous(columns[:, :family]).p)
                assert values[f"max-T of {family}"][0][at] == pytest.approx(expected)


def test_mid_p_is_the_mean_of_the_probabilities_with_and_without_ties(script) -> None:
    drawn = script.LAWS["80 % zeros, +-1"](np.random.default_rng(1), (10, 20, max(script.FAMILIES)))
    signs = script.signs_of(10, np.random.default_rng(1))
    p, mid = script.values_of(drawn, signs)["one-sided"]
    sums, seen = signs @ drawn[..., 0], drawn[..., 0].sum(axis=0)
    assert mid == pytest.approx(((sums > seen).mean(axis=0) + (sums >= seen).mean(axis=0)) / 2)
    assert (mid <= p).all()


def rows_of_page(title: str) -> list[list[str]]:
    """Cells of the first table after a text."""
    lines = PAGE.split(title, 1)[1].splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("|---")) + 1
    last = next(at for at, line in enumerate(lines) if at >= first and not line.startswith("|"))
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[first:last]]


LEVELS, POWERS, EXACT, GIVEN = (
    "## Levels and power",
    "**Power**",
    "## Exact levels",
    "## Levels for the queries",
)


@pytest.mark.parametrize(
    ("name", "queries"), [("80 % zeros, +-1", 25), ("tenths", 10), ("5 % lose 0.38", 25)]
)
def test_the_page_has_the_rows_that_a_run_prints(script, name: str, queries: int) -> None:
    """Shares of the page against 600 sets, within four standard errors of both."""
    found = script.shares(name, queries, 600, 3).values()
    pairs = [(LEVELS, [share for one in found for share in one[:2]])]
    if name in script.SYMMETRIC:
        pairs.append((POWERS, [share for one in found for share in one[2:]]))
    for title, shares in pairs:
        [cells] = [row[2:] for row in rows_of_page(title) if row[:2] == [name, str(queries)]]
        for share, cell in zip(shares, map(float, cells), strict=True):
            assert share == pytest.approx(cell, abs=4 * (cell * (1 - cell) / 500) ** 0.5 + 0.004)


def test_the_page_counts_the_simulated_cells_that_are_above_the_limit(script) -> None:
    """The cells are rounded: at the limit, they may be on either side of it."""
    rows = rows_of_page(LEVELS)
    assert len(rows) == len(script.LAWS) * len(script.QUERIES)
    cells = [(row[0], float(cell)) for row in rows for cell in row[3::2]]
    symmetric = [level for name, level in cells if name in script.SYMMETRIC]
    limit = script.MOST * script.ALPHA
    assert (
        sum(level > limit + 5e-4 for level in symmetric)
        <= 3
        <= sum(level >= limit - 5e-4 for level in symmetric)
    )
    assert len(symmetric) == 112
    assert all(level > limit for name, level in cells if name in script.LOPSIDED)


def test_exact_levels_of_the_page_are_binomial(script) -> None:
    """The levels of the page, and of p by SciPy's exact test."""
    beyond = 0
    for name, alpha, queries, *cells in rows_of_page(EXACT):
        levels = [script.EXACT[name](int(queries), sides, float(alpha)) for sides in (1, 2)]
        assert [f"{level / float(alpha):.2f}" for pair in levels for level in pair] == cells
        assert all(pair.p <= float(alpha) * (1 + 1e-9) for pair in levels)
        beyond += sum(pair.mid_p > script.MOST * float(alpha) for pair in levels)
    assert (beyond, len(rows_of_page(EXACT))) == (9, 36)
    for row in rows_of_page(GIVEN):
        levels = [level for sides in (1, 2) for level in script.given(int(row[0]), sides)]
        assert [f"{level:.3f}" for level in levels] == row[1:]
    for sides, alternative in ((1, "greater"), (2, "two-sided")):
        rejected = [
            k for k in range(9) if peer.binomtest(k, 8, alternative=alternative).pvalue <= 0.05
        ]
        assert script.given(8, sides).p == pytest.approx(
            sum(peer.binom.pmf(k, 8, 0.5) for k in rejected)
        )


def test_the_two_cells_that_decide_have_the_levels_of_the_page(script) -> None:
    fifty = [script.given(50, sides).mid_p for sides in (1, 2)]
    assert [f"{level:.3f}" for level in fifty] == ["0.059", "0.065"]
    ten = [script.untied(10, 2, 0.001).mid_p / 0.001, script.untied(10, 1, 0.0005).mid_p / 0.0005]
    assert [f"{ratio:.2f}" for ratio in ten] == ["1.95", "1.95"]


@pytest.mark.parametrize("sides", [1, 2])
def test_levels_without_ties_are_those_of_every_sign_vector(script, sides: int) -> None:
    """Powers of two: no two of their signed sums are equal."""
    signs = script.signs_of(6, np.random.default_rng(0))
    sums = signs @ 2.0 ** np.arange(6)
    statistic = np.abs(sums) if sides == 2 else sums
    larger, reached = (
        (compare(statistic[None, :], statistic[:, None])).mean(axis=1)
        for compare in (np.greater, np.greater_equal)
    )
    for alpha in (0.05, 0.02):
        levels = tuple(
            float((values <= alpha).mean()) for values in (reached, (larger + reached) / 2)
        )
        assert script.untied(6, sides, alpha) == pytest.approx(levels)
