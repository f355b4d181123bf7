"""Intervals of means and of paired differences: against SciPy, closed forms and plain loops."""

import numpy as np
import pytest
from scipy import stats as peer

import idealrank as ir
from idealrank.stats import Design, Interval, difference_interval, intervals, mean_interval
from idealrank.stats.design import linear_mean

METHODS = ("percentile", "basic", "bca", "studentised")


@pytest.fixture
def values() -> np.ndarray:
    """Like nDCG: many zeros, some ones, skewed; shape (40, 3)."""
    rng = np.random.default_rng(5)
    found = rng.beta(0.6, 1.5, (40, 3))
    found[rng.random((40, 3)) < 0.3] = 0
    return found


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_t_is_that_of_scipy(values, alternative: str, level: float) -> None:
    found = mean_interval(values, level=level, alternative=alternative)
    expected = peer.ttest_1samp(values, 0, alternative=alternative).confidence_interval(level)
    assert found.low == pytest.approx(expected.low, abs=1e-14)
    assert found.high == pytest.approx(expected.high, abs=1e-14)
    pairs = difference_interval(values[:, 0], values[:, 1], level=level, alternative=alternative)
    expected = peer.ttest_rel(
        values[:, 1], values[:, 0], alternative=alternative
    ).confidence_interval(level)
    assert (pairs.low, pairs.high) == pytest.approx(tuple(expected), abs=1e-14)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_bootstrap_of_the_same_draws_is_that_of_scipy(
    values, method: str, alternative: str, monkeypatch
) -> None:
    monkeypatch.setattr(intervals, "_PICKS", 10**7)  # one block, so that the peer can draw the same
    child = np.random.default_rng(np.random.default_rng(8).bit_generator.seed_seq.spawn(1)[0])
    column = values[:, 0]
    named = "BCa" if method == "bca" else method
    expected = peer.bootstrap(
        (column,),
        np.mean,
        n_resamples=2000,
        method=named,
        alternative=alternative,
        rng=child,
        confidence_level=0.9,
    )
    found = mean_interval(
        column,
        level=0.9,
        method=method,
        alternative=alternative,
        n_resamples=2000,
        rng=np.random.default_rng(8),
    )
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval), abs=1e-13)


def naive_draws(design: Design, counts: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Means and linearised standard errors of each draw, by writing out the drawn queries as a data
    set of their own.
    """
    clusters = np.arange(design.n) if design.clusters is None else design.clusters
    found = []
    for drawn in counts.astype(int):
        rows, names = [], []
        for unit in np.repeat(np.arange(drawn.size), drawn):
            members = np.flatnonzero(clusters == unit)
            rows.append(members)
            names.append(np.full(members.size, len(names)))
        at = np.concatenate(rows)
        again = Design.of(
            at.size,
            weights=None if design.weights is None else design.weights[at],
            strata=None if design.strata is None else design.strata[at],
            clusters=np.concatenate(names),
        )
        drawn_mean = linear_mean(columns[at], again)
        found.append([drawn_mean.mean, drawn_mean.se])
    return np.array(found)


DESIGNS = {
    "plain": {},
    "weights": {"weights": np.arange(1, 41)},
    "strata": {"strata": np.arange(40) % 3},
    "clusters": {"clusters": np.arange(40) // 3},
    "all": {
        "weights": np.arange(1, 41),
        "strata": np.arange(40) // 20,
        "clusters": np.arange(40) // 4,
    },
}


@pytest.mark.parametrize("named", DESIGNS)
def test_draws_under_a_design_are_data_sets_of_their_own(values, named: str) -> None:
    design = Design.of(40, **DESIGNS[named])
    counts = intervals.Draws(design, 25, rng=3).each(np.copy, design.n_units)
    mean = design.mean(values)
    units = intervals.ResampledUnits.of(values, design, linear_mean(values, design))

    expected = naive_draws(design, counts, values)

    assert counts.sum(axis=1) == pytest.approx(design.n_units)
    for units_of_one in units.strata:
        assert (counts[:, units_of_one].sum(axis=1) == units_of_one.size).all()
    assert units.shifts(counts) + mean == pytest.approx(expected[:, 0], abs=1e-13)
    ratio = (expected[:, 0] - mean) / expected[:, 1]
    assert units.studentised(counts) == pytest.approx(ratio, rel=1e-10)


@pytest.mark.parametrize("named", DESIGNS)
def test_every_method_agrees_on_many_queries(named: str) -> None:
    """With 1,000 skewed values all methods come near the t interval: within 10 % of its width."""
    rng = np.random.default_rng(6)
    values = rng.beta(0.5, 1, (1000, 2)) + np.repeat(rng.normal(0, 0.2, (250, 2)), 4, axis=0)
    repeated = {
        key: np.tile(part, 25) + (np.repeat(np.arange(25) * 40, 40) if key == "clusters" else 0)
        for key, part in DESIGNS[named].items()
    }
    if "strata" in repeated and "clusters" in repeated:
        repeated["strata"] = np.arange(1000) // 500
    design = Design.of(1000, **repeated)
    expected = mean_interval(values, design=design)
    for method in METHODS:
        found = mean_interval(values, design=design, method=method, n_resamples=1500, rng=1)
        assert found.low == pytest.approx(expected.low, abs=0.1 * expected.width.max())
        assert found.high == pytest.approx(expected.high, abs=0.1 * expected.width.max())
        assert (found.n, found.n_units) == (1000, design.n_units)


def test_variance_of_strata_and_clusters_is_the_textbook_one() -> None:
    """Cochran (1977): strata add N_h^2/N^2 s_h^2/n_h; clusters of one size are a sample of cluster
    means.
    """
    values = np.random.default_rng(7).random(60)
    strata = np.repeat([0, 1, 2], [10, 20, 30])
    expected = sum(
        (size / 60) ** 2 * values[strata == h].var(ddof=1) / size
        for h, size in enumerate([10, 20, 30])
    )
    found = mean_interval(values, design=Design.of(60, strata=strata))
    assert found.width / 2 == pytest.approx(peer.t.ppf(0.975, 57) * expected**0.5, rel=1e-12)
    clustered = mean_interval(values, design=Design.of(60, clusters=np.arange(60) // 5))
    of_means = mean_interval(values.reshape(12, 5).mean(axis=1))
    assert (clustered.low, clustered.high) == pytest.approx(
        (of_means.low, of_means.high), abs=1e-14
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_same_bits_for_any_threads_columns_and_memory(values, method: str, monkeypatch) -> None:
    monkeypatch.setattr(intervals, "_PICKS", 1 << 12)
    design = Design.of(40, strata=np.arange(40) % 2)
    one = mean_interval(values, method=method, design=design, n_resamples=999, rng=4, threads=1)
    many = mean_interval(values, method=method, design=design, n_resamples=999, rng=4, threads=5)
    monkeypatch.setattr(intervals, "_KEPT", 1000)  # a column at a time
    apart = mean_interval(values, method=method, design=design, n_resamples=999, rng=4)
    for other in (many, apart):
        assert (one.low.tobytes(), one.high.tobytes()) == (
            other.low.tobytes(),
            other.high.tobytes(),
        )
    another = mean_interval(values, method=method, design=design, n_resamples=999, rng=5)
    assert (one.low != another.low).any()


def test_a_generator_goes_on(values) -> None:
    rng = np.random.default_rng(1)
    first, second = (mean_interval(values[:, 0], method="percentile", rng=rng) for _ in range(2))
    assert first.low != second.low


@pytest.mark.parametrize("method", ["t", *METHODS])
def test_equal_values_and_single_queries_are_said(method: str) -> None:
    equal = mean_interval(
        np.column_stack([np.full(7, 0.1), np.arange(7)]), method=method, n_resamples=200, rng=1
    )
    assert equal.low[0] == equal.high[0] == equal.estimate[0] == pytest.approx(0.1, abs=1e-16)
    assert equal.low[1] < 3 < equal.high[1]
    assert equal.note == "all values are equal in column 0"
    same = difference_interval([0.3, 0.1, 0.4], [0.3, 0.1, 0.4], method=method, rng=1)
    assert (same.estimate, same.low, same.high, same.note) == (0, 0, 0, "all values are equal")
    for design in (None, Design.of(1, strata=["x"])):
        lonely = mean_interval([0.5], method=method, design=design)
        assert (lonely.low, lonely.high, lonely.note) == (
            -np.inf,
            np.inf,
            "one unit alone shows no variance",
        )
    assert mean_interval([0.5, 1], design=Design.of(2, clusters=[1, 1])).high == np.inf


def test_a_studentised_side_is_open_where_draws_do_not_vary() -> None:
    """With 1 of 10 values not 0, 35 % of the draws are all zeros: no upper bound."""
    found = mean_interval([1.0] + [0.0] * 9, method="studentised", n_resamples=500, rng=1)
    assert found.high == np.inf
    assert np.isfinite(found.low)
    assert found.note == "draws without variance leave a side open"


def test_an_interval_reads_well() -> None:
    found = mean_interval(
        [[0.0, 1.0], [1.0, 1.0]], level=0.9, alternative="greater", design=Design.of(2)
    )
    assert (
        str(found)
        == "0.5 [-1.039, inf]\n1 [1, inf] (90 % t interval, 2 queries; all values are equal in "
        "column 1)"
    )
    assert isinstance(found, Interval)
    assert found.holds(0.9).tolist() == [True, False]
    assert type(mean_interval([0.0, 1.0]).low) is float


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bayes"}, "method='bayes': expected one of t, percentile"),
        ({"alternative": "up"}, "alternative='up': expected one of two-sided"),
        ({"level": 95}, "level=95: expected a number between 0 and 1"),
        ({"method": "bca", "n_resamples": 39}, "n_resamples=39: expected at least 40"),
        ({"method": "bca", "n_resamples": 1.5}, r"n_resamples=1.5: expected a whole number"),
        ({"method": "bca", "rng": "seed"}, "rng='seed'"),
    ],
)
def test_impossible_options_are_named(options: dict, message: str) -> None:
    with pytest.raises(ir.OptionError, match=message):
        mean_interval([0.1, 0.2, 0.3], **options)


def test_what_is_no_sample_is_refused() -> None:
    with pytest.raises(ir.InputError, match="query 1, column 0: value nan"):
        mean_interval([[0.1, 0.2], [np.nan, 0.3]])
    with pytest.raises(ir.InputError, match=r"shape \(0,\)"):
        mean_interval([])
    with pytest.raises(ir.InputError, match="the same queries and measures"):
        difference_interval([0.1, 0.2], [0.1])
    with pytest.raises(ir.InputError, match="a design of 3 queries for values of 2"):
        mean_interval([0.1, 0.2], design=Design.of(3))
    with pytest.raises(ir.InputError, match="stratum of query 2 has no other query"):
        mean_interval([0.1, 0.2, 0.3], design=Design.of(3, strata=["a", "a", "b"]))
    with pytest.raises(ir.InputError, match="stratum of cluster 1 has no other cluster"):
        mean_interval(
            [0.1, 0.2, 0.3, 0.4, 0.5],
            design=Design.of(5, strata=[0, 0, 1, 1, 0], clusters=[0, 0, 1, 1, 2]),
        )
