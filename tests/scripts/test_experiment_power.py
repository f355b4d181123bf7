"""The script on stated power: its structures, and its rows against the page."""

import argparse
import importlib
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from idealrank.stats.seen_changes import FEWEST_CHANGED, fewest_changed
from tests.conftest import ROOT

MODULES = ("stated_power", "gate_simulation", "gate_erosion", "simulated_changes", "sign_flips")
PAGE = (ROOT / "docs" / "concepts" / "stated-power.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        yield importlib.import_module("stated_power")
    for name in (*MODULES, "interval_coverage", "models"):
        sys.modules.pop(name, None)


def rows_of_page(after: str) -> list[list[str]]:
    """Cells of the first table after a text."""
    lines = PAGE.split(after, 1)[1].splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("|---")) + 1
    last = next(at for at, line in enumerate(lines) if at >= first and not line.startswith("|"))
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[first:last]]


def test_structures_have_their_true_difference(script) -> None:
    for name, structure in script.STRUCTURES.items():
        true = min(0.04, structure.largest)
        drawn = structure.draw(np.random.default_rng(2), (500, 400), true)
        assert abs(abs(drawn.mean()) - true) < 4 * drawn.std() / 200_000**0.5, name


@pytest.mark.parametrize(
    ("name", "queries"),
    [
        ("all queries shift", 25),
        ("20 % change, these shift", 25),
        ("20 % change, by 1", 200),
        ("RR, moves of a rank", 50),
    ],
)
def test_the_page_has_the_rows_that_a_run_prints(script, name: str, queries: int) -> None:
    """Shares of the page against 400 comparisons, within four standard errors of both."""
    [cells] = [
        row for row in rows_of_page("## Stated and found") if row[:2] == [name, str(queries)]
    ]
    arguments = argparse.Namespace(sets=100, comparisons=400, seed=1)
    row = script.row_of(name, queries, arguments)
    pairs = [(row.found_former, cells[7])]
    if cells[5] == "none":
        assert np.isnan(row.found)
    else:
        assert row.size == pytest.approx(float(cells[3]), rel=0.06, abs=6e-4)
        pairs.append((row.found, cells[5]))
    for found, cell in pairs:
        share = float(cell)
        assert found == pytest.approx(share, abs=4 * (share * (1 - share) / 350) ** 0.5)


def test_every_statement_of_the_page_is_true_or_none_is_made() -> None:
    """Within two standard errors of the simulation, which are 0.015."""
    rows = rows_of_page("## Stated and found")
    assert len(rows) == 20
    found = [float(row[5]) for row in rows if row[5] != "none"]
    assert 8 < len(found) < 20
    assert min(found) >= 0.8 - 0.015


def test_the_limit_is_the_first_row_that_is_nearly_found_as_often_as_stated() -> None:
    """With 2,999 draws, p of at most 0.001 leaves room for two draws: power is a little lower."""
    for alpha, sides, enough in ((0.05, 2, 0.775), (0.001, 1, 0.765)):
        least = {
            int(row[2]): min(map(float, row[3:]))
            for row in rows_of_page("**The limit.**")
            if float(row[0]) == alpha
        }
        fewest = fewest_changed(alpha / sides)
        assert all(share >= enough for differ, share in least.items() if differ >= fewest)
        assert min(least.values()) < 0.75
        assert fewest in least
    assert f"If fewer than {FEWEST_CHANGED} queries differ, no number is stated;" in PAGE.replace(
        "\n", " "
    )


def test_families_of_the_page_are_found_as_often_as_stated(script) -> None:
    """Within two standard errors of the simulation, which are 0.026."""
    rows = rows_of_page("## Families")
    assert len(rows) == len(script.FAMILIES) * len(script.FAMILY_STRUCTURES) * len(
        script.FAMILY_QUERIES
    )
    found = [(float(row[6]), float(row[7])) for row in rows if row[6] != "none"]
    assert 12 < len(found) < len(rows)
    assert min(corrected for corrected, _ in found) >= 0.8 - 0.026
    assert all(alone > corrected for corrected, alone in found)


@pytest.mark.parametrize(
    ("name", "kind", "queries"),
    [("5 alike", "all queries shift", 25), ("5 independent", "20 % change, these shift", 100)],
)
def test_the_page_has_the_families_that_a_run_prints(
    script, name: str, kind: str, queries: int
) -> None:
    """Shares of the page against 200 families, within four standard errors of both."""
    [cells] = [row for row in rows_of_page("## Families") if row[:3] == [name, kind, str(queries)]]
    row = script.family_row(
        name, kind, queries, argparse.Namespace(sets=90, comparisons=600, seed=2)
    )
    assert row.size == pytest.approx(float(cells[4]), rel=0.1)
    assert row.found == pytest.approx(float(cells[6]), abs=4 * (0.8 * 0.2 / 165) ** 0.5)


def test_the_plans_of_the_page_are_the_plans_of_a_run(script) -> None:
    plans = script.plans_of(1000, 2)
    words = PAGE.replace("\n", " ")
    too_small, wrong = re.search(
        r"(\d+) % of them were too small, and (\d+) % had the wrong sign", words
    ).groups()
    assert f"{plans.needed} queries are needed" in words
    assert (plans.too_small, plans.wrong_sign) == pytest.approx(
        (int(too_small) / 100, int(wrong) / 100), abs=0.07
    )
