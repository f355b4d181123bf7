"""Training beside queries: against statsmodels' mixed model, closed forms and simulated
coverage.
"""

import math

import numpy as np
import pytest
from scipy import stats

from experiments import seeds_and_queries
from idealrank.errors import InputError, OptionError
from idealrank.stats import replicated_difference
from tests.conftest import ROOT

# Differences of eight queries and four crossed seeds.
CROSSED = np.array(
    [
        [0.026, -0.034, 0.078, 0.106],
        [-0.017, 0.02, 0.014, 0.037],
        [-0.099, -0.026, -0.011, 0.058],
        [-0.061, -0.086, -0.136, -0.045],
        [-0.027, -0.027, -0.043, 0.002],
        [-0.128, -0.127, 0.033, -0.068],
        [0.025, 0.063, 0.056, 0.072],
        [0.16, 0.15, 0.152, 0.209],
    ]
)
A = np.array(
    [
        [0.659, 0.638, 0.728, 0.662],
        [0.065, 0.052, 0.159, -0.051],
        [0.551, 0.53, 0.633, 0.526],
        [0.454, 0.412, 0.453, 0.463],
        [0.259, 0.225, 0.294, 0.191],
        [0.836, 0.75, 0.841, 0.74],
        [0.695, 0.629, 0.631, 0.587],
        [0.122, 0.151, 0.134, 0.084],
    ]
)
B = np.array(
    [
        [0.56, 0.571, 0.666, 0.674],
        [0.032, 0.093, 0.148, 0.111],
        [0.438, 0.395, 0.536, 0.514],
        [0.287, 0.266, 0.339, 0.262],
        [0.161, 0.249, 0.174, 0.34],
        [0.633, 0.77, 0.74, 0.838],
        [0.655, 0.584, 0.773, 0.8],
        [0.299, 0.301, 0.357, 0.333],
    ]
)


# --- against a mixed model ------------------------------------------------------------------------


def test_crossed_seeds_are_the_mixed_model_of_statsmodels() -> None:
    # statsmodels 0.15.0 on values times 100: mixedlm("y ~ 1", vc_formula={"q": "0+C(q)", "r":
    # "0+C(r)"}), REML by Powell's method and Nelder and Mead's; tests/parity/record_stats.py
    found = replicated_difference(np.zeros_like(CROSSED), CROSSED, seeds="crossed")
    assert found.difference == pytest.approx(0.010187500000000125)
    assert found.standard_error == pytest.approx(0.030907109781157637, rel=1e-6)
    assert found.queries == pytest.approx(0.006072714193071703, rel=1e-6)
    assert found.training[0].seeds == pytest.approx(0.0005875268040069352, rel=1e-6)
    assert found.training[0].residual == pytest.approx(0.0015769107164426417, rel=1e-6)


def test_nested_seeds_are_the_mixed_model_of_statsmodels() -> None:
    # mixedlm("y ~ s", vc_formula={"q": "0+C(q)", "qs": "0+C(qs)", "r": "0+C(r)"}): one variance of
    # seeds for both systems, whose balanced estimate is the mean of ours.
    found = replicated_difference(A, B)
    assert found.difference == pytest.approx(-0.006375000000002867)
    assert found.standard_error == pytest.approx(0.04793732301088378, rel=1e-6)
    assert found.queries == pytest.approx(2 * 0.005490283976154206, rel=1e-6)
    assert np.mean([part.seeds for part in found.training]) == pytest.approx(
        0.0016127364647415576, rel=1e-6
    )
    assert np.mean([part.residual for part in found.training]) == pytest.approx(
        0.0019047633766476459, rel=1e-6
    )


def written_out(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """Variances of the difference by queries and by as many copies on both sides, and Welch's
    degrees of freedom.
    """
    n, k = a.shape
    by_query = np.var(b.mean(axis=1) - a.mean(axis=1), ddof=1) / n
    rests = [
        side - side.mean(axis=1, keepdims=True) - side.mean(axis=0) + side.mean() for side in (a, b)
    ]
    residuals = sum((rest**2).sum() / ((n - 1) * (k - 1) * n * k) for rest in rests)
    copies = [np.var(side.mean(axis=0), ddof=1) / k for side in (a, b)]
    welch = sum(copies) ** 2 / sum(part**2 / (k - 1) for part in copies)
    return float(by_query - residuals), float(sum(copies)), float(welch)


def reach(a: np.ndarray, b: np.ndarray, tail: float) -> float:
    """Half the width of the interval that leaves this probability beyond each end."""
    queries, copies, welch = written_out(a, b)
    squares = [stats.t.isf(tail, len(a) - 1) ** 2 * queries, stats.t.isf(tail, welch) ** 2 * copies]
    return math.sqrt(sum(squares))


def test_the_error_and_the_interval_are_the_formulas_written_out() -> None:
    found = replicated_difference(A, B)
    queries, copies, welch = written_out(A, B)
    assert found.standard_error == pytest.approx(math.sqrt(queries + copies), rel=1e-12)
    assert found.low == pytest.approx(found.difference - reach(A, B, 0.025), rel=1e-12)
    assert found.high == pytest.approx(found.difference + reach(A, B, 0.025), rel=1e-12)
    assert reach(A, B, found.p / 2) == pytest.approx(abs(found.difference), rel=1e-9)
    # The degrees of freedom are those of one t interval of this width.
    assert welch < found.df < len(A) - 1
    one_t = stats.t.isf(0.025, found.df) * found.standard_error
    assert one_t == pytest.approx(reach(A, B, 0.025), rel=1e-9)


@pytest.mark.parametrize("gap", [0.3, 3.0, 1e3, 1e9])
def test_a_tiny_p_value_is_that_of_the_interval(gap: float) -> None:
    rng = np.random.default_rng(8)
    a, b = (
        rng.normal(0, 1, (300, 1)) + rng.normal(0, 0.03, 4) + rng.normal(0, 0.1, (300, 4))
        for _ in "ab"
    )
    found = replicated_difference(a, b + gap)
    assert 0 < found.p < 0.05
    assert reach(a, b + gap, found.p / 2) == pytest.approx(found.difference, rel=1e-7)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_p_value_and_the_interval_agree_at_every_level(level: float) -> None:
    p = replicated_difference(A, B + 0.2).p
    at_the_edge = replicated_difference(A, B + 0.2, level=1 - p)
    assert min(abs(at_the_edge.low), abs(at_the_edge.high)) < 1e-9
    found = replicated_difference(A, B + 0.2, level=level)
    assert (found.p < 1 - level) == (found.low > 0 or found.high < 0)


# --- what it reduces to ---------------------------------------------------------------------------


def test_copies_that_are_equal_leave_the_paired_t_test() -> None:
    a, b = np.repeat(A[:, :1], 3, axis=1), np.repeat(B[:, :1], 5, axis=1)
    found, expected = replicated_difference(a, b), stats.ttest_rel(B[:, 0], A[:, 0])
    interval = expected.confidence_interval(0.95)
    assert (found.p, found.low, found.high) == pytest.approx(
        (expected.pvalue, interval.low, interval.high), rel=1e-12
    )
    assert found.standard_error == found.query_error


def copies_without_interaction(n_seeds: int, seed: int) -> np.ndarray:
    """Values of copies that differ by the same amount on every query, so that queries add
    nothing.
    """
    rng = np.random.default_rng(seed)
    return np.linspace(0.1, 0.8, 20)[:, None] + rng.normal(0, 0.02, n_seeds)


def test_copies_that_differ_alike_on_every_query_leave_welchs_test_of_their_means() -> None:
    a, b = copies_without_interaction(4, 1), copies_without_interaction(4, 2)
    found = replicated_difference(a, b)
    expected = stats.ttest_ind(b.mean(axis=0), a.mean(axis=0), equal_var=False)
    interval = expected.confidence_interval(0.95)
    bounds = (interval.low, interval.high)
    assert (found.low, found.high) == pytest.approx(bounds, rel=1e-9)
    assert (found.p, found.df) == pytest.approx((expected.pvalue, expected.df), rel=1e-9)


def test_one_copy_beside_several_alike_leaves_the_prediction_interval_of_a_further_copy() -> None:
    """Student's interval of one more value: t with k - 1 degrees of freedom, s sqrt(1 + 1/k)."""
    a, b = copies_without_interaction(3, 3), copies_without_interaction(1, 4)
    found = replicated_difference(a, b, single="alike")
    means, k = a.mean(axis=0), 3
    error = means.std(ddof=1) * math.sqrt(1 + 1 / k)
    middle = b.mean() - means.mean()
    reach = stats.t.isf(0.025, k - 1) * error
    assert (found.standard_error, found.df) == pytest.approx((error, k - 1), rel=1e-9)
    assert (found.low, found.high) == pytest.approx((middle - reach, middle + reach), rel=1e-9)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(middle) / error, k - 1), rel=1e-9)


def test_different_numbers_of_copies_count_each_with_its_own_t() -> None:
    a, b = copies_without_interaction(2, 5), copies_without_interaction(6, 6)
    found = replicated_difference(a, b)
    squares = [
        (stats.t.isf(0.025, k - 1) * side.mean(axis=0).std(ddof=1)) ** 2 / k
        for side, k in ((a, 2), (b, 6))
    ]
    assert found.high - found.difference == pytest.approx(math.sqrt(sum(squares)), rel=1e-9)


def test_equal_systems_have_difference_zero_and_p_one() -> None:
    found = replicated_difference(A, A)
    assert (found.difference, found.p) == (0, 1)
    constant = replicated_difference(np.ones((5, 3)), np.ones((5, 3)))
    assert (constant.low, constant.high, constant.p) == (0, 0, 1)


def test_sides_change_places_with_the_sign() -> None:
    here, there = replicated_difference(A, B[:, :3]), replicated_difference(B[:, :3], A)
    assert (here.low, here.high, here.p) == pytest.approx(
        (-there.high, -there.low, there.p), rel=1e-12
    )


# --- one copy -------------------------------------------------------------------------------------


def test_a_system_without_training_adds_none() -> None:
    found = replicated_difference(A.mean(axis=1), B, single="fixed")
    assert found.difference == pytest.approx(B.mean() - A.mean())
    assert len(found.training) == 1
    both = replicated_difference(A.mean(axis=1), B, single="alike")
    assert both.training[0].seeds == pytest.approx(both.training[1].seeds)
    assert {part.n_seeds for part in both.training} == {1, 4}
    extra = both.standard_error**2 - found.standard_error**2
    assert extra == pytest.approx(4 * (found.standard_error**2 - found.query_error**2), rel=1e-9)


def test_one_copy_without_a_word_is_refused() -> None:
    with pytest.raises(
        OptionError, match=r'a has one copy, expected several.*; set single="fixed"'
    ):
        replicated_difference(A[:, 0], B)
    with pytest.raises(OptionError, match="both sides have one copy"):
        replicated_difference(A[:, 0], B[:, :1], single="alike")
    with pytest.raises(InputError, match="a has 7 queries and b 8"):
        replicated_difference(A[1:], B)
    with pytest.raises(InputError, match="crossed seeds are the same"):
        replicated_difference(A, B[:, :3], seeds="crossed")
    with pytest.raises(InputError, match=r"shape \(2, 2, 2\)"):
        replicated_difference(np.ones((2, 2, 2)), B)


# --- planning and coverage ------------------------------------------------------------------------


def test_more_queries_do_not_shrink_what_training_adds() -> None:
    found = replicated_difference(A, B)
    assert found.standard_error_with() == pytest.approx(found.standard_error, rel=1e-12)
    floor = math.sqrt(sum(part.seeds / part.n_seeds for part in found.training))
    assert found.standard_error_with(n_queries=10**9) == pytest.approx(floor, rel=1e-3)
    assert found.standard_error_with(n_seeds=10**9) == pytest.approx(
        math.sqrt(found.queries / 8), rel=1e-3
    )
    assert found.standard_error_with(n_queries=10**9, n_seeds=10**9) < 1e-4


@pytest.mark.spread(3)
@pytest.mark.parametrize("design", list(seeds_and_queries.DESIGNS))
def test_few_copies_cover_at_the_level(design: str) -> None:
    """The worst cells: 1,200 experiments, three standard errors below 0.94."""
    cell = seeds_and_queries.Cell(design=design, n_queries=400, n_seeds=2)
    found = seeds_and_queries.covered(cell, trials=1200, rng=3)
    assert found.replicated > 0.94 - 3 * math.sqrt(0.94 * 0.06 / 1200)


@pytest.mark.parametrize("row", [0, 9], ids=["one alike, 2", "spread x4, 3"])
def test_the_page_has_the_rows_that_a_run_prints(row: int) -> None:
    """Shares of the page against 500 experiments, within four standard errors of both."""
    page = (ROOT / "docs" / "reference" / "stats.md").read_text(encoding="utf-8")
    lines = page.split("### Few copies")[1].split("| design |")[1].splitlines()[2:]
    cell = list(seeds_and_queries.few_rows())[row][1]
    titles = [text.strip() for text in lines[row].split("|")[1:-1]]
    assert titles[:2] == [cell.design, str(cell.n_seeds)]
    found = seeds_and_queries.covered(cell, trials=500, rng=4)
    # Columns of 400 queries: one t, replicated, width, power.
    for share, text in zip((found.one_t, found.replicated), titles[6:8], strict=True):
        expected = float(text)
        assert share == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 440))
    assert found.width == pytest.approx(float(titles[8]), rel=0.25)


@pytest.mark.parametrize("row", [1, 6], ids=["100%, 50, 10", "20%, 50, 5"])
def test_the_page_has_what_systems_find_that_differ_on_some_queries(row: int) -> None:
    """Shares of the page against 300 experiments, within four standard errors of both."""
    page = (ROOT / "docs" / "concepts" / "stated-power.md").read_text(encoding="utf-8")
    cells = [
        cell.strip()
        for cell in page.split("| queries that change |")[1].splitlines()[2:][row].split("|")[1:-1]
    ]
    found = seeds_and_queries.changed(
        int(cells[1]), int(cells[2]), float(cells[0].rstrip("%")) / 100, trials=300, rng=5
    )
    assert found.size == pytest.approx(float(cells[4]), rel=0.1)
    for share, text in ((found.power, cells[5]), (found.former_power, cells[7])):
        expected = float(text)
        assert share == pytest.approx(
            expected, abs=4 * math.sqrt(expected * (1 - expected) / 275) + 0.02
        )


@pytest.mark.parametrize("table", ["left-out", "few"])
def test_a_table_of_the_experiment_has_all_its_rows(
    table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds_and_queries.main(["--table", table, "--trials", "2"])
    lines = capsys.readouterr().out.splitlines()
    expected = len(seeds_and_queries.SIZES) + 1 if table == "left-out" else 2 + 18
    assert len(lines) == expected + 2


@pytest.mark.slow
def test_leaving_out_the_seeds_covers_too_little_and_counting_them_does_not() -> None:
    one, means, pooled, both, width = seeds_and_queries.coverage(200, 3, trials=500, rng=1)
    assert max(one, means, pooled) < 0.92
    assert both > 0.92
    assert width > 1.2
    _, without, _, counted, _ = seeds_and_queries.coverage(200, 3, trials=500, rng=1, seed=0.0)
    assert abs(without - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 500)
    assert counted >= without


@pytest.mark.slow
@pytest.mark.parametrize(("n_queries", "n_seeds"), [(50, 3), (1000, 5)])
def test_the_interval_covers_at_its_level(n_queries: int, n_seeds: int) -> None:
    """It covers at least as often as it says, and a little more: the two sources each have their
    own t.
    """
    assert 0.945 < seeds_and_queries.coverage(n_queries, n_seeds, trials=4000, rng=2)[3] < 0.985
