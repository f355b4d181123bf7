"""Skewed differences: the skewness, the rule of Cochran, the sentences of compare and gate, and the
page of the simulation.
"""

import importlib
import math
import sys
from argparse import Namespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import idealrank as ir
from idealrank.reports.table.cells import Table
from idealrank.reports.views.comparison.comparison import comparison_parts
from idealrank.reports.views.comparison.markup import comparison_markdown
from idealrank.reports.views.gate.detectable_drops import seen_text
from idealrank.reports.views.gate.junit import gate_junit
from idealrank.stats.unseen_losses import error_rate_known
from tests.conftest import ROOT
from tests.core.gate_samples import evaluation


@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=30).filter(
        lambda values: len(set(values)) > 1
    )
)
def test_the_skewness_is_scipys(values: list[int]) -> None:
    assert ir.stats.skewness(values) == pytest.approx(stats.skew(values), abs=1e-12)


def test_equal_differences_are_not_skewed() -> None:
    assert ir.stats.skewness([0.1] * 9) == 0.0
    assert not ir.stats.too_skewed([0.1] * 9, 1)


def rare_losses(n: int = 250) -> tuple[ir.Evaluation, ir.Evaluation]:
    """No true difference: 5 % lose 0.38 and the others gain 0.02; the losses are the last
    queries.
    """
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
    assert caution.startswith("The error rate of the verdicts on ")
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
    assert found.cautions[0].startswith(
        "The error rate of the verdict on run against baseline by P@1 is not known"
    )
    assert found.checks[0].skewness == pytest.approx(stats.skew(gains), rel=1e-9)


def without_losses(n: int, gain: float = 0.01) -> tuple[ir.Evaluation, ir.Evaluation]:
    """A sample that may come from a population without a difference, since it lacks the rare
    losses.
    """
    return evaluation(np.full(n, 0.4), "a"), evaluation(np.full(n, 0.4 + gain), "b")


@pytest.mark.parametrize("n", [10, 25, 50, 199])
def test_a_verdict_of_few_queries_has_no_known_error_rate(n: int) -> None:
    found = ir.compare(*without_losses(n))
    row = found["P@1"]
    assert (row.verdict, row.error_rate_known) == ("better", False)
    assert found.cautions[-1] == (
        f"The error rate of the verdict on b against a by P@1 is not known, for {n} queries "
        f"may lack rare large differences; "
        "use 200 or more."
    )
    assert found.as_dict()["pairs"][0]["measures"]["P@1"]["error_rate_known"] is False
    assert found["P@1"].reversed().error_rate_known is False


def test_of_clustered_queries_the_clusters_count() -> None:
    """Four hundred queries are enough, and eighty clusters are not: the rule and its sentence count
    the same units.
    """
    a, b = without_losses(400)
    clusters = {query: place // 5 for place, query in enumerate(sorted(a.queries))}
    said = (
        "b against a by P@1 is not known, for the clusters of 400 queries may lack rare large "
        "differences; use 200 clusters or more."
    )
    assert ir.compare(a, b).cautions == ()
    assert (
        ir.compare(a, b, clusters=clusters).cautions[-1]
        == f"The error rate of the verdict on {said}"
    )
    assert (
        "for the clusters of 400 queries may lack" in ir.gate(a, b, clusters=clusters).cautions[-1]
    )


def test_slices_of_clustered_queries_count_their_clusters() -> None:
    """Each slice has 400 queries; without clusters they are enough, and its 80 clusters are not,
    nor are all 160.
    """
    a, b = without_losses(800)
    ordered = sorted(a.queries)
    slices = {query: f"s{place // 400}" for place, query in enumerate(ordered)}
    clusters = {query: place // 5 for place, query in enumerate(ordered)}
    assert ir.compare(a, b, slices=slices).cautions == ()
    said = [
        text
        for text in ir.compare(a, b, clusters=clusters, slices=slices).cautions
        if "2 slices" in text
    ]
    assert len(said) == 1
    assert "all 160 clusters together may lack rare large differences; use 200 or more" in said[0]


def test_enough_queries_or_a_bound_of_rare_losses_make_the_error_rate_known() -> None:
    many, large = without_losses(200), without_losses(50, gain=0.3)
    assert ir.compare(*many)["P@1"].error_rate_known
    assert ir.stats.unseen_loss_p(np.full(50, 0.3), 0.0, 1.0) < 0.025
    assert ir.compare(*large)["P@1"].error_rate_known
    assert ir.compare(*large).cautions == ()


def test_an_undecided_comparison_of_few_queries_has_no_caution() -> None:
    rng = np.random.default_rng(3)
    found = ir.compare(
        evaluation(np.full(40, 0.5), "a"), evaluation(0.5 + rng.normal(0, 0.1, 40), "b")
    )
    assert (found["P@1"].verdict, found["P@1"].error_rate_known) == ("undecided", True)
    assert found.cautions == ()


def test_several_verdicts_of_few_queries_have_one_caution_and_marks() -> None:
    a, b = without_losses(50)
    found = ir.compare(a, b, evaluation(np.full(50, 0.44), "c"))
    assert found.cautions == (
        "The error rate of 3 verdicts is not known, for 50 queries may lack rare large "
        "differences; use 200 or more.",
    )
    text = "".join(comparison_markdown(found))
    assert "better!" in text
    assert "! too few queries to know the error rate of the verdict." in text


def test_the_printed_table_marks_each_verdict_of_unknown_error_rate() -> None:
    a, b = without_losses(50)
    c = evaluation(np.full(50, 0.42), "c")
    found = ir.compare(a, b, c)
    unknown = sum(not row.error_rate_known for _, row in found.rows())
    marks = sum(
        cell.mark == "!"
        for part in comparison_parts(found)
        if isinstance(part, Table)
        for row in part.rows
        for cell in row
    )
    assert unknown == marks == 3


def test_the_caution_of_a_margin_has_the_level_of_a_test_of_the_family() -> None:
    """Its share and its loss lead to the number of queries that it names."""
    runs = [evaluation(np.full(60, 0.5), name) for name in "abc"]
    found = ir.compare(*runs, margin=0.05)
    margin = found.pairs[0].measures["P@1"].margin
    assert margin is not None
    assert margin.level is not None
    assert margin.level < 0.05
    assert margin.unseen_share(60) > 0.05 >= margin.unseen_share(margin.queries_needed or 0)
    caution = next(text for text in found.cautions if "cannot show a difference below" in text)
    assert f"up to {100 * margin.unseen_share(60):.2g}% of all queries" in caution


def test_a_gate_that_few_queries_close_says_so_in_every_report() -> None:
    found = ir.gate(*without_losses(50))
    assert found.outcome == "failed"
    assert found.checks[0].error_rate_known is False
    assert "50 queries may lack rare large differences" in found.cautions[-1]
    assert found.as_dict()["checks"][0]["error_rate_known"] is False
    assert "Too few queries to know the error rate of the verdict." in "".join(gate_junit(found))
    assert ir.gate(*without_losses(200)).checks[0].error_rate_known
    assert ir.gate(*without_losses(50, gain=0.3)).checks[0].error_rate_known


def test_a_tolerance_counts_in_the_bound_of_a_gate() -> None:
    """The bound must show a drop beyond the tolerance, not any drop."""
    run, baseline = without_losses(50, gain=0.16)
    assert ir.gate(run, baseline).checks[0].error_rate_known
    assert not ir.gate(run, baseline, tolerance=0.12).checks[0].error_rate_known


@given(
    st.lists(st.integers(-10, 10), min_size=1, max_size=25).filter(lambda values: sum(values) > 0),
    st.sampled_from([0.001, 0.025, 0.3]),
)
def test_the_bound_behind_the_flag_is_unseen_loss_p(tenths: list[int], alpha: float) -> None:
    differences = np.array(tenths) / 10
    expected = ir.stats.unseen_loss_p(differences, 0.0, 1.0) <= alpha
    assert error_rate_known(differences, 1.0, alpha) == expected


def test_the_page_has_the_rows_that_a_run_prints() -> None:
    """Shares of 200 samples within four standard errors of both, and the claims on slices."""
    text = (
        (ROOT / "docs" / "concepts" / "rare-losses.md")
        .read_text(encoding="utf-8")
        .split("## Skewed differences")[1]
    )
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if line.startswith("| ")
    ][1:]
    page = {tuple(row[:3]): [float(cell) for cell in row[3:]] for row in cells}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        script = importlib.import_module("skewed_differences")
        rows = script.rows_of(Namespace(samples=200, seed=5))
    for name in ("skewed_differences", "sign_flips", "models"):
        sys.modules.pop(name, None)
    for row in rows:
        shares = page[row.world, row.test, str(row.queries)]
        samples = 50 if row.test == "10 slices" else 200
        for share, found in zip(shares, (row.false, row.silent), strict=False):
            assert found == pytest.approx(
                share, abs=4 * (share * (1 - share) / samples) ** 0.5 + 0.03
            ), row
    # Rare differences of 1 % are beyond the rule; the standard error of 0.05 is 0.005, of slices
    # 0.01.
    unflagged = {key: shares[1] for key, shares in page.items() if key[0] != "1% lose 0.9"}
    assert len(unflagged) == 7 * (2 * 6 + 3)
    assert max(unflagged.values()) <= 0.06
    assert page["5% lose 0.38", "10 slices", "250"][0] == pytest.approx(0.96, abs=0.02)
    assert page["2% gain 0.72, 18% lose 0.08", "gate", "50"][0] > 0.25


def test_a_gate_states_its_power_by_the_first_check_that_has_one() -> None:
    """Two queries differ from the last run, too few to state a power, and forty from another
    baseline.
    """
    rng = np.random.default_rng(5)
    values = rng.uniform(0.2, 0.8, 300)
    last, first = values.copy(), values.copy()
    last[:2] += 0.1
    first[:40] += rng.normal(0, 0.1, 40)
    found = ir.gate(evaluation(values), evaluation(last, "last"), evaluation(first, "first"))
    assert [math.isnan(check.detectable) for check in found.checks] == [True, False]
    (said,) = seen_text(found, 4)
    assert said.startswith("With these 300 queries, a true drop of ")
    assert "by P@1 against first would be found 80% of the time" in said
