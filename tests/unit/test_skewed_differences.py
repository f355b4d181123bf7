"""Skewed differences: the skewness, the rule of Cochran, the sentences of compare and gate, and the page of the simulation."""

import importlib
import sys
from argparse import Namespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import idealrank as ir
from tests.conftest import ROOT
from tests.unit.gate_samples import evaluation


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=30).filter(lambda values: len(set(values)) > 1))
def test_the_skewness_is_scipys(values: list[int]) -> None:
    assert ir.stats.skewness(values) == pytest.approx(stats.skew(values), abs=1e-12)


def test_equal_differences_are_not_skewed() -> None:
    assert ir.stats.skewness([0.1] * 9) == 0.0
    assert not ir.stats.too_skewed([0.1] * 9, 1)


def rare_losses(n: int = 250) -> tuple[ir.Evaluation, ir.Evaluation]:
    """No true difference: 5 % lose 0.38 and the others gain 0.02; the losses are the last queries."""
    losses = n // 20
    after = np.concatenate([np.full(n - losses, 0.52), np.full(losses, 0.12)])
    return evaluation(np.full(n, 0.5), "a"), evaluation(after, "b")


def test_slices_without_the_rare_losses_have_a_caution() -> None:
    a, b = rare_losses()
    slices = {query: f"s{place // 25}" for place, query in enumerate(sorted(a.queries))}
    found = ir.compare(a, b, slices=slices)
    assert found["P@1"].slices is not None
    assert any(row.verdict == "better" for row in found["P@1"].slices.rows)
    caution = next(text for text in found.cautions if "slice" in text)
    assert caution.startswith("b against a by P@1: the error rate of the verdicts on ")
    assert caution in str(found)
    assert caution in found.as_dict()["warnings"]


def test_symmetric_differences_have_no_caution() -> None:
    rng = np.random.default_rng(1)
    a = evaluation(np.full(250, 0.5), "a")
    b = evaluation(0.5 + np.clip(rng.normal(0.03, 0.1, 250), -0.5, 0.5), "b")
    slices = {query: f"s{place // 25}" for place, query in enumerate(sorted(a.queries))}
    found = ir.compare(a, b, slices=slices)
    assert found["P@1"].verdict == "better"
    assert found.cautions == ()
    assert ir.gate(a, b).cautions == ()


def test_a_gate_that_skewed_differences_close_says_that_its_level_is_not_known() -> None:
    rng = np.random.default_rng(2)
    gains = np.where(np.arange(200) < 2, 0.45, -0.02 - 0.001 * rng.random(200))
    found = ir.gate(evaluation(0.5 + gains), evaluation(np.full(200, 0.5), "baseline"))
    assert not found.passed
    assert found.cautions[0].startswith("run against baseline by P@1: the error rate of the verdict is not known")
    assert found.checks[0].skewness == pytest.approx(stats.skew(gains), rel=1e-9)


def test_the_page_has_the_rows_that_a_run_prints() -> None:
    """Shares of 200 samples within four standard errors of both, and the claims on slices."""
    text = (ROOT / "docs" / "concepts" / "rare-losses.md").read_text(encoding="utf-8").split("## Skewed differences")[1]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")][1:]
    page = {tuple(row[:2]): [float(cell) for cell in row[2:]] for row in cells}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        script = importlib.import_module("skewed_differences")
        rows = script.rows_of(Namespace(samples=200, seed=5))
    for name in ("skewed_differences", "sign_flips", "models"):
        sys.modules.pop(name, None)
    for row in rows:
        shares = page[f"{row.world}, 10 slices" if row.slices else row.world, str(row.queries)]
        samples = 50 if row.slices else 200
        for share, found in zip(shares, (row.false, row.silent), strict=False):
            assert found == pytest.approx(share, abs=4 * (share * (1 - share) / samples) ** 0.5 + 0.03), row
    assert page["5% lose 0.38, 10 slices", "250"][:2] == [pytest.approx(0.96, abs=0.02), 0.0]
    assert page["normal, 10 slices", "250"][2] == 0.0
