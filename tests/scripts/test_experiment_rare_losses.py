"""The script on rare losses: its truths, its rule against a gate, and the page."""

import importlib
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from tests.conftest import ROOT
from tests.core.gate_samples import evaluation


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        yield importlib.import_module("rare_losses")
    for name in ("rare_losses", "sign_flips", "models"):
        sys.modules.pop(name, None)


def rows_of(title: str, words: int) -> dict[tuple[str, ...], list[float]]:
    """Rows of a table of the page, by their first cells."""
    page = (ROOT / "docs" / "concepts" / "rare-losses.md").read_text(encoding="utf-8")
    lines = page.split(f"**{title}**")[1].split("\n\n")[1].splitlines()[2:]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {tuple(row[:words]): [float(cell) for cell in row[words:]] for row in cells}


def test_every_world_loses_the_margin(script: Any) -> None:
    for name, world in script.WORLDS.items():
        drawn = world.draw(np.random.default_rng(1), (1000, 400))
        assert drawn.mean() == pytest.approx(-world.margin, abs=4 * drawn.std() / 400_000**0.5), (
            name
        )
        assert drawn.min() >= -world.largest, name


def test_no_row_of_the_page_passes_more_than_the_level() -> None:
    levels = rows_of("passes at a true loss of the margin", 3)
    assert len(levels) == 24
    error = (0.05 * 0.95 / 2000) ** 0.5
    assert max(row[2] for row in levels.values()) <= 0.05 + 3 * error
    assert max(row[3] for row in levels.values()) <= 0.05 + 3 * error
    assert levels["2% lose 0.9", "0.018", "25"][0] > 0.5  # the sign-flip test alone


def test_the_page_has_the_rows_that_a_run_prints(script: Any) -> None:
    """Levels of 150 samples within four standard errors of both."""
    page = rows_of("passes at a true loss of the margin", 3)
    for row in script.levels(Namespace(samples=150, seed=3)):
        shares = page[row.world, f"{row.margin:g}", str(row.queries)]
        for share, found in zip(shares, (row.flips, row.three, row.whole, row.own), strict=True):
            assert found == pytest.approx(
                share, abs=4 * (share * (1 - share) / 140) ** 0.5 + 0.02
            ), row


def test_the_rule_decides_as_a_strict_gate_and_an_equivalence_do(script: Any) -> None:
    rng = np.random.default_rng(5)
    differences = np.clip(rng.normal(0, 0.05, (80, 12)), -0.3, 0.3)
    p = script.tails(differences, rng, (-0.02,)).greater[0]
    passes = script.passes(differences, 0.02, 0.3, p)
    assert 0 < passes.sum() < 12
    for column in range(12):
        run, baseline = (
            evaluation(0.5 + differences[:, column]),
            evaluation(np.full(80, 0.5), "baseline"),
        )
        gate = ir.gate(run, baseline, strict=True, margin=0.02, largest_loss=0.3)
        assert gate.passed == passes[column]
