"""Unequal weights: what Student's t, power and the sign-flip test promise under them, and who is
warned.
"""

import warnings

import numpy as np
import pytest
from scipy import stats as peer

import idealrank as ir
from idealrank.analysis.comparison.query_table import weights_cautions
from idealrank.errors import IdealrankWarning, OptionError
from idealrank.reports.views.comparison.pair_sentences import undetectable
from idealrank.reports.views.gate.detectable_drops import seen_text
from idealrank.stats import detectable, mean_interval, paired_t, permutation_test, pilot
from idealrank.stats.comparison import Plan, compare_columns, smallest_visible, visible_by
from idealrank.stats.design import Design, linear_mean, student_mean

ZIPF = 1.0 / np.arange(1, 61)


@pytest.mark.parametrize(
    ("weights", "clusters", "worth"),
    [
        ([1, 1, 1, 1], None, 4.0),
        (None, None, 4.0),
        ([3, 1, 1, 1], None, 3.0),
        ([1, 1, 1, 1], "aabc", 8 / 3),
        (None, "aabc", 3.0),
    ],
)
def test_the_number_of_equal_units_is_that_of_kish(
    weights: list[float] | None, clusters: str | None, worth: float
) -> None:
    labels = None if clusters is None else list(clusters)
    assert Design.of(4, weights=weights, clusters=labels).effective_units == pytest.approx(
        worth, rel=1e-15
    )


def quadratic_form(design: Design) -> np.ndarray:
    """The matrix Q of a variance that is a quadratic form of the values, from its values at sums of
    unit vectors.
    """
    n, one = design.n, np.eye(design.n)
    sums = (one[:, :, None] + one[:, None, :]).reshape(n, n * n)
    rounding = np.ones(n * n)
    alone = student_mean(one, design, rounding[:n]).se ** 2
    return (
        (student_mean(sums, design, rounding).se ** 2).reshape(n, n)
        - alone[:, None]
        - alone[None, :]
    ) / 2


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"strata": [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2]},
        {"clusters": [0, 0, 1, 2, 2, 2, 3, 4, 5, 5, 6, 6]},
        {
            "strata": [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
            "clusters": [0, 0, 1, 1, 2, 3, 3, 3, 4, 4, 4, 5],
        },
    ],
)
@pytest.mark.parametrize(
    "weights", [1 / np.arange(1, 13), np.r_[30.0, np.ones(11)], np.r_[np.ones(11), 1e-9]]
)
def test_the_variance_is_unbiased_for_units_of_one_variance(
    weights: np.ndarray, named: dict[str, list[int]]
) -> None:
    design, shares = Design.of(12, weights=weights, **named), weights / weights.sum()
    labels = np.array(named.get("clusters", range(12)))
    # the queries of a cluster have one value
    covariance = (labels[:, None] == labels).astype(float)
    form = quadratic_form(design)
    assert np.trace(form @ covariance) == pytest.approx(shares @ covariance @ shares, rel=1e-9)
    # what is the same in a stratum adds nothing
    means = np.eye(3)[np.array(named.get("strata", [0] * 12))]
    assert means.T @ form @ means == pytest.approx(np.zeros((3, 3)), abs=1e-12)


@pytest.mark.parametrize(
    "named", [{}, {"strata": np.arange(12) % 3}, {"clusters": [0, 0, 1, 2, 2, 2, 3, 4, 5, 5, 6, 6]}]
)
def test_equal_weights_have_the_same_bits_as_none_and_nearly_equal_ones_nearly_the_same_numbers(
    named: dict[str, list[int]],
) -> None:
    values, equal = (
        np.random.default_rng(2).normal(size=(12, 3)),
        Design.of(12, weights=[0.3] * 12, **named),
    )
    linear, found = linear_mean(values, equal), student_mean(values, equal)
    assert (found.df, found.se.tolist(), found.mean.tolist()) == (
        linear.df,
        linear.se.tolist(),
        linear.mean.tolist(),
    )
    # of unequal sizes: units of unequal weight, which without weights of queries keep their number
    if "clusters" in named:
        return
    nearly = student_mean(values, Design.of(12, weights=0.3 + 1e-9 * np.arange(12), **named))
    assert (nearly.df, nearly.se) == (
        pytest.approx(linear.df, rel=1e-7),
        pytest.approx(linear.se, rel=1e-7),
    )


def test_degrees_of_freedom_are_those_of_kish_and_of_cochran() -> None:
    values = np.random.default_rng(3).normal(size=(60, 1))
    assert student_mean(values, Design.of(60, weights=ZIPF)).df == pytest.approx(
        ZIPF.sum() ** 2 / (ZIPF**2).sum() - 1, rel=1e-14
    )
    # Cochran (1977), equation 5.16, with strata of 20 and 40 equal queries that count 3 to 1, and
    # one variance.
    strata, counts, shares = np.repeat([0, 1], [20, 40]), np.array([20, 40]), np.array([0.6, 0.4])
    found = student_mean(
        values, Design.of(60, weights=np.where(strata == 0, 3.0, 1.0), strata=strata)
    )
    parts = shares**2 / counts
    assert found.df == pytest.approx(parts.sum() ** 2 / (parts**2 / (counts - 1)).sum(), rel=1e-12)
    spreads = np.array([values[strata == of].var(ddof=1) for of in (0, 1)])
    assert found.se[0] == pytest.approx(np.sqrt((parts * spreads).sum()), rel=1e-12)


@pytest.mark.parametrize("largest", [1e4, 1e13, 1e30, 1e300])
def test_a_query_with_nearly_all_weight_shows_no_variance(largest: float) -> None:
    values, design = (
        np.random.default_rng(4).normal(size=60),
        Design.of(60, weights=np.r_[largest, np.ones(59)]),
    )
    found = mean_interval(values, design=design)
    assert (found.low, found.high, found.note) == (
        -np.inf,
        np.inf,
        "one unit alone shows no variance",
    )
    assert paired_t(np.zeros(60), values, design=design).p == 1
    assert mean_interval(np.full(60, 0.3), design=design).width == 0
    with pytest.raises(OptionError, match="nearly all weight on one unit"):
        pilot(values, design=design)


def bell_mccaffrey(shares: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights of the squared residuals of a weighted mean by CR2, and its Satterthwaite degrees of
    freedom, from matrices.
    """
    residual = np.eye(shares.size) - np.outer(np.ones(shares.size), shares)
    parts = shares**2 / np.diag(residual @ residual.T)
    form = residual.T @ np.diag(parts) @ residual
    return parts, np.trace(form) ** 2 / np.trace(form @ form)


def test_bias_reduced_linearisation_agrees_for_equal_weights_and_hardly_ever_misses_for_unequal_ones() -> (  # noqa: E501
    None
):
    values = np.random.default_rng(5).normal(size=(60, 4000))
    parts, df = bell_mccaffrey(np.full(60, 1 / 60))
    found = student_mean(values, Design.of(60))
    assert (found.df, found.se) == (
        pytest.approx(df),
        pytest.approx(np.sqrt(parts @ (values - found.mean) ** 2)),
    )
    parts, df = bell_mccaffrey(ZIPF / ZIPF.sum())
    found = student_mean(values, Design.of(60, weights=ZIPF))
    assert df == pytest.approx(2.2, abs=0.05)
    assert (
        np.mean(
            np.abs(found.mean) > peer.t.ppf(0.975, df) * np.sqrt(parts @ (values - found.mean) ** 2)
        )
        < 0.01
    )


CASES = {
    "equal": (np.ones(60), 0.04, 0.06),
    "1/sqrt(rank)": (ZIPF**0.5, 0.04, 0.06),
    "1/rank": (ZIPF, 0.04, 0.06),
    "two queries with half of the weight": (np.r_[29.0, 29.0, np.ones(58)], 0.03, 0.06),
    "one query with a third": (np.r_[29.5, np.ones(59)], 0.0, 0.06),
    "one query with half": (np.r_[59.0, np.ones(59)], 0.0, 0.06),
    "one query with nine tenths": (np.r_[531.0, np.ones(59)], 0.0, 0.06),
}


@pytest.mark.parametrize("named", CASES)
def test_students_interval_misses_the_mean_of_normal_values_at_most_as_often_as_it_says(
    named: str,
) -> None:
    weights, least, most = CASES[named]
    found = mean_interval(
        np.random.default_rng(1).normal(size=(60, 8000)), design=Design.of(60, weights=weights)
    )
    missed = np.mean((np.asarray(found.low) > 0) | (np.asarray(found.high) < 0))
    assert least <= missed < most


def test_the_linearised_error_with_a_degree_of_freedom_for_each_query_but_one_misses_twice_as_often() -> (  # noqa: E501
    None
):
    found = linear_mean(
        np.random.default_rng(1).normal(size=(60, 4000)), Design.of(60, weights=ZIPF)
    )
    assert 0.095 < np.mean(np.abs(found.mean) > peer.t.ppf(0.975, found.df) * found.se) < 0.125


def test_the_sign_flip_test_keeps_its_level() -> None:
    values = np.random.default_rng(1).normal(size=(60, 600))
    flipped = permutation_test(
        np.zeros((60, 600)), values, design=Design.of(60, weights=ZIPF), n_resamples=999, rng=1
    )
    assert np.mean(np.asarray(flipped.p) <= 0.05) < 0.075


@pytest.mark.parametrize(
    "named", ["equal", "1/sqrt(rank)", "1/rank", "two queries with half of the weight"]
)
def test_a_detectable_difference_is_found_with_the_power_that_it_promises(named: str) -> None:
    weights = CASES[named][0]
    design, shares = Design.of(60, weights=weights), weights / weights.sum()
    rng = np.random.default_rng(6)
    zeros, values = np.zeros((60, 4000)), rng.normal(size=(60, 4000))
    df = student_mean(values, design).df
    size = smallest_visible(float(np.sqrt(60 * (shares**2).sum())), 60, df, 0.05, 0.8)
    assert (
        0.78 < np.mean(np.asarray(paired_t(zeros, values + size, design=design).p) <= 0.05) < 0.88
    )
    # a plan, and a comparison, use the standard error and the degrees of freedom of the test
    seen = pilot(values[:, 0], design=design)
    row = compare_columns(zeros[:, :1], values[:, :1], design, Plan(test="t"))[0]
    assert (row.spread, row.df) == (pytest.approx(seen.sd), seen.df)
    assert detectable(60, seen) == pytest.approx(
        smallest_visible(row.spread, 60, row.df, 0.05, 0.8), rel=1e-3
    )
    visible = visible_by(row, Plan(test="t"), 0.05)
    if named == "equal":
        assert visible.size == pytest.approx(detectable(60, seen), rel=0.05)
    else:
        assert visible.reason == "the power of Student's t under unequal weights is not computed"
    assert row.units == 60


@pytest.mark.parametrize("named", ["1/sqrt(rank)", "1/rank"])
def test_sign_flips_find_the_detectable_difference_under_weights_as_often_as_stated(
    named: str,
) -> None:
    design = Design.of(60, weights=CASES[named][0])
    rng = np.random.default_rng(7)
    zeros, values = np.zeros((60, 1000)), rng.normal(size=(60, 1000))
    rows = compare_columns(zeros[:, :200], values[:, :200], design, Plan(n_resamples=99))
    stated = np.median([visible_by(row, Plan(), 0.05).size for row in rows])
    flipped = permutation_test(zeros, values + stated, design=design, n_resamples=999, rng=1)
    assert np.mean(np.asarray(flipped.p) <= 0.05) == pytest.approx(0.8, abs=0.045)


def test_too_few_queries_of_equal_weight_have_no_detectable_difference() -> None:
    queries = [f"q{number}" for number in range(30)]
    rng = np.random.default_rng(4)
    qrels = {query: {"x": 1, "y": 0, "z": 2} for query in queries}
    a, b = (
        ir.evaluate(
            qrels,
            {query: rng.permutation(["x", "y", "z"]).tolist() for query in queries},
            "nDCG",
            name=name,
        )
        for name in "ab"
    )
    weights = dict(zip(queries, [100.0, 100.0] + [1.0] * 28, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)
        compared, gated = ir.compare(a, b, weights=weights), ir.gate(b, a, weights=weights)
    assert [compared["nDCG"].detectable, gated.checks[0].detectable] == [np.inf, np.inf]
    assert (
        undetectable(compared, compared["nDCG"])
        == "The queries count as too few of equal weight to give a detectable difference."
    )
    assert seen_text(gated, 4) == [
        "The queries count as too few of equal weight to give a detectable drop."
    ]
    assert 0 < ir.compare(a, b)["nDCG"].detectable < 1


def heard(call: object, *given: object, **named: object) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*given, **named)  # type: ignore[operator]
    return [str(one.message) for one in caught if issubclass(one.category, IdealrankWarning)]


def test_comparisons_gates_and_intervals_warn_once_and_equal_weights_of_few_queries_do_not() -> (
    None
):
    queries = [f"q{number}" for number in range(60)]
    qrels = {query: {"x": 1} for query in queries}
    a, b = (
        ir.evaluate(qrels, dict.fromkeys(queries, ranking), ["RR", "AP"])
        for ranking in (["y", "x"], ["x", "y"])
    )
    weights, equal = dict(zip(queries, ZIPF.tolist(), strict=True)), dict.fromkeys(queries, 2.0)
    slices = {query: "odd" if place % 2 else "even" for place, query in enumerate(queries)}
    said = "60 queries count as much as 13.4 of equal weight"
    for call, given in ((ir.compare, (a, b)), (ir.gate, (b, a)), (ir.intervals, (a,))):
        assert [said in text for text in heard(call, *given, weights=weights)] == [True]
        assert heard(call, *given, weights=equal) == []
    assert [said in text for text in heard(ir.compare, a, b, weights=weights, slices=slices)] == [
        True
    ]
    assert heard(a.by, slices) == []


def test_variants_of_arrays_warn_as_those_of_runs_do() -> None:
    rng = np.random.default_rng(7)
    labels, scores = rng.integers(0, 2, (60, 5)), rng.normal(size=(2, 60, 5))
    labels[:, 0] = 1
    weights = {str(place): 1 / (place + 1) for place in range(60)}
    said = heard(ir.robust, labels, *scores, "RR", variants=["cutoff"], weights=weights)
    assert ["60 queries count as much as 13.4 of equal weight" in text for text in said] == [True]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)
        found = ir.robust(labels, *scores, "RR", variants=["cutoff"], weights=weights)
    assert found.warnings == tuple(said)


def test_a_t_test_is_said_to_have_less_power_and_a_sign_flip_test_is_not() -> None:
    design = Design.of(60, weights=ZIPF)
    ((by_t,), (by_flips,)) = (weights_cautions(design, test) for test in ("t", "permutation"))
    assert by_t.endswith(
        "Student's t accounts for it, and has less power than the permutation test"
    )
    assert "less power" not in by_flips
    assert (
        weights_cautions(Design.of(60)) == weights_cautions(Design.of(60, weights=[2.0] * 60)) == ()
    )
