"""ybar from data: canonical scores, estimates by three methods, their bands, and what they imply
for NDCG.
"""

import importlib.util
import sys
from types import ModuleType

import numpy as np
import pytest
from scipy import stats
from sklearn.isotonic import IsotonicRegression

import idealrank as ir
from idealrank.data.types import FloatArray
from idealrank.stats.intervals import clopper_pearson
from idealrank.theory import canonical_scores, estimate_ybar, pseudo_expectation, simulate
from idealrank.theory.estimation.bands import PlacedDocuments, effective_size, wilson
from idealrank.theory.estimation.estimates import chosen_bandwidth
from idealrank.theory.estimation.sample import Sample
from idealrank.theory.estimation.smoothing import Cells, Isotonic, Kernel
from tests.docs.blocks import ROOT


def sampled(
    n: int, seed: int, low: float = 0.1, rise: float = 0.8
) -> tuple[FloatArray, FloatArray]:
    """Labels and scores where ybar = low + rise s."""
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    return (rng.random(n) < low + rise * scores).astype(np.float64), scores


# --- canonical scores -----------------------------------------------------------------------------


def test_canonical_scores_are_mid_ranks_of_each_query() -> None:
    """SciPy's average ranks are the oracle; queries in any order, many ties."""
    rng = np.random.default_rng(1)
    scores, qid = rng.integers(0, 8, 400) / 8, rng.integers(0, 9, 400)
    expected = np.empty(400)
    for query in range(9):
        mine = qid == query
        expected[mine] = (stats.rankdata(scores[mine]) - 0.5) / mine.sum()
    assert canonical_scores(scores, qid=qid) == pytest.approx(expected, abs=1e-15)


def test_canonical_scores_take_what_ndcg_takes() -> None:
    rows = np.array([[0.3, 0.1, 0.2], [5.0, 5.0, 9.0]])
    expected = np.array([[5, 1, 3], [2, 2, 5]]) / 6
    assert canonical_scores(rows) == pytest.approx(expected)
    assert canonical_scores(rows.ravel(), [3, 3]) == pytest.approx(expected.ravel())
    assert canonical_scores(rows.ravel(), offsets=[0, 3, 6]) == pytest.approx(expected.ravel())
    assert canonical_scores([]).size == 0


# --- estimates ------------------------------------------------------------------------------------


def test_bins_by_hand() -> None:
    """Four documents a bin; at the top three of four are relevant."""
    found = estimate_ybar(
        [0, 1, 0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8], method="binned", bins=[0, 0.5, 1]
    )
    assert (found.score.tolist(), found.value.tolist(), found.points) == (
        [0.25, 0.75],
        [0.25, 0.75],
        (0.5,),
    )
    assert found([[0.0, 0.49], [0.5, 1.0]]).tolist() == [[0.25, 0.25], [0.75, 0.75]]
    low, high = found.band([0.2, 0.9])
    assert (low.tolist(), high.tolist()) == (found.low.tolist(), found.high.tolist())
    assert (found.n, found.n_queries, found.method) == (8, 1, "binned (2 bins)")


def test_one_bin_is_the_share_of_relevant_documents_with_the_interval_of_wilson() -> None:
    labels, scores = sampled(120, 3)
    found = estimate_ybar(labels, scores, method="binned", bins=1, level=0.9)
    expected = stats.binomtest(int(labels.sum()), 120).proportion_ci(0.9, method="wilson")
    assert (found.value[0], found.low[0], found.high[0]) == pytest.approx(
        (labels.mean(), expected.low, expected.high), abs=1e-14
    )


def test_the_kernel_is_local_linear_regression() -> None:
    """A weighted straight line through all documents, by NumPy's polyfit, at each knot."""
    labels, scores = sampled(300, 4)
    found = estimate_ybar(labels, scores, method="kernel", bandwidth=0.2)
    place = canonical_scores(scores)
    for knot in (0, 13, 50, 100):
        root = np.sqrt(np.maximum(1 - ((place - knot / 100) / 0.2) ** 2, 0))
        line = np.polyfit(place - knot / 100, labels, 1, w=root)
        assert found.value[knot] == pytest.approx(min(max(line[1], 0), 1), abs=1e-9)


def test_isotonic_estimates_are_those_of_scikit_learn() -> None:
    labels, scores = sampled(400, 5)
    place = canonical_scores(scores)
    order = np.argsort(place)
    found = Isotonic(0.0).fit(Cells(place[order], np.ones(400), labels[order][None, :]))
    expected = IsotonicRegression().fit_transform(place, labels)
    assert found.at(0, place) == pytest.approx(expected, abs=1e-12)


def test_the_ends_of_isotonic_estimates_are_pooled() -> None:
    """scikit-learn's, of the pooled ends as one place each, weighted."""
    labels, scores = sampled(400, 5)
    place, ends = canonical_scores(scores), 400 ** (-1 / 3) / 2
    x = np.where(place < ends, 0.0, np.where(place > 1 - ends, 1.0, place))
    expected = IsotonicRegression().fit(x, labels).predict(x)
    assert estimate_ybar(labels, scores, method="isotonic")(place) == pytest.approx(
        expected, abs=1e-12
    )


def test_grades_have_a_chance_each() -> None:
    """Shares of each grade in each bin, counted."""
    rng = np.random.default_rng(6)
    scores = rng.random(600)
    labels = rng.integers(0, 3, 600) * (rng.random(600) < scores)
    found = estimate_ybar(labels, scores, method="binned", bins=4, rel="graded")
    bins = np.minimum((canonical_scores(scores) * 4).astype(int), 3)
    assert found.grades == (2.0, 1.0)
    for grade, chance in found.ybar.items():
        assert chance(found.score) == pytest.approx(
            [(labels[bins == b] == grade).mean() for b in range(4)], abs=1e-14
        )
    assert found.value == pytest.approx(
        [(labels[bins == b] > 0).mean() for b in range(4)], abs=1e-14
    )
    assert estimate_ybar(labels, scores, method="binned", bins=4, rel=2)(0.9) == pytest.approx(
        found.ybar[2.0](0.9)
    )


@pytest.mark.parametrize("method", ["kernel", "binned", "isotonic"])
def test_graded_chances_never_exceed_one(method: str) -> None:
    rng = np.random.default_rng(7)
    scores = rng.random(300)
    labels = np.floor(4 * scores * rng.random(300))
    found = estimate_ybar(labels, scores, method=method, rel="graded")  # type: ignore[arg-type]
    grid = np.linspace(0, 1, 1001)
    chances = [chance(grid) for chance in found.ybar.values()]
    assert min(each.min() for each in chances) >= 0
    assert sum(chances) == pytest.approx(found(grid))
    assert found(grid).max() <= 1


def test_short_lists_have_defaults_that_work() -> None:
    """Five documents a query: canonical scores .1, .3, .5, .7, .9 alone."""
    rng = np.random.default_rng(8)
    scores = rng.random((200, 5))
    labels = rng.random((200, 5)) < scores
    assert estimate_ybar(labels, scores, method="binned").method == "binned (5 bins)"
    assert estimate_ybar(labels, scores).value[[10, 90]] == pytest.approx([1 / 6, 5 / 6], abs=0.08)


# --- bands ----------------------------------------------------------------------------------------


def test_intervals_of_shares_are_those_of_scipy() -> None:
    hits, size = np.array([0, 1, 7, 20]), np.full(4, 20.0)
    for mine, name in ((wilson, "wilson"), (clopper_pearson, "exact")):
        low, high = mine(hits / 20, size, 0.9)
        expected = [stats.binomtest(int(k), 20).proportion_ci(0.9, method=name) for k in hits]
        assert low == pytest.approx([each.low for each in expected], abs=1e-12)
        assert high == pytest.approx([each.high for each in expected], abs=1e-12)


def test_documents_that_repeat_their_query_are_worth_one() -> None:
    """Each query has one label, ten times: Q queries are worth Q - 1, for the mean is estimated."""
    relevant = np.repeat(np.arange(40) % 4 == 0, 10)
    documents = PlacedDocuments(
        score=np.zeros(400), relevant=relevant, query=np.repeat(np.arange(40), 10), n_queries=40
    )
    assert effective_size(
        documents, np.zeros(400, np.int64), np.ones((1, 1)), np.array([0.25])
    ) == pytest.approx(39)


def test_variance_between_queries_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain loop over queries; and the same however few queries are looked at a time."""
    rng = np.random.default_rng(9)
    query, code, relevant = rng.integers(0, 30, 500), rng.integers(0, 6, 500), rng.random(500) < 0.4
    relevant ^= query % 3 == 0
    weights = rng.random((4, 6))
    heavy = weights[:, code]
    share = (heavy * relevant).sum(1) / heavy.sum(1)
    parts = [(heavy * (relevant - share[:, None]))[:, query == q].sum(1) for q in range(30)]
    variance = 30 / 29 * (np.array(parts) ** 2).sum(0) / heavy.sum(1) ** 2
    expected = np.minimum(share * (1 - share) / variance, heavy.sum(1) ** 2 / (heavy**2).sum(1))
    documents = PlacedDocuments(score=np.zeros(500), relevant=relevant, query=query, n_queries=30)
    assert effective_size(documents, code, weights, share) == pytest.approx(expected)
    monkeypatch.setattr("idealrank.theory.estimation.bands._NUMBERS_PER_SUM", 7)
    assert effective_size(documents, code, weights, share) == pytest.approx(expected)


def test_queries_that_differ_make_the_band_wider() -> None:
    rng = np.random.default_rng(10)
    scores, shift = rng.random((60, 50)), rng.random((60, 1))
    labels = rng.random((60, 50)) < 0.5 * scores + 0.5 * shift
    pooled = estimate_ybar(labels.ravel(), scores.ravel(), method="binned", bins=2)
    by_query = estimate_ybar(labels, scores, method="binned", bins=2)
    assert ((by_query.high - by_query.low) > 1.3 * (pooled.high - pooled.low)).all()


def experiment(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module; its dataclasses look it up by name."""
    spec = importlib.util.spec_from_file_location(
        "ybar_bands", ROOT / "experiments" / "ybar_bands.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "ybar_bands", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("method", ["kernel", "binned", "isotonic"])
def test_bands_hold_the_truth(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty samples of 500 documents; nominal 0.95, and the standard error of the mean over the
    grid is about 0.01.
    """
    module = experiment(monkeypatch)
    found = module.coverage(module.MODELS["LIN"], 500, method, 60, np.random.default_rng(11))
    assert found.mean > 0.91
    assert found.worst > 0.7
    assert found.width < 0.4


def test_bands_hold_the_truth_where_queries_differ() -> None:
    """Thirty queries, each with a level of its own about the line; nominal 0.95, sixty samples."""
    grid, held = np.linspace(0.05, 0.95, 19), np.zeros(19)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scores, level = rng.random((30, 50)), rng.uniform(-0.1, 0.1, (30, 1))
        low, high = estimate_ybar(
            rng.random((30, 50)) < 0.1 + 0.8 * scores + level, scores, method="binned"
        ).band(grid)
        held += (low <= 0.1 + 0.8 * grid) & (0.1 + 0.8 * grid <= high)
    assert held.mean() / 60 > 0.92
    assert held.min() / 60 > 0.8


# --- what follows for NDCG ------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["kernel", "binned", "isotonic"])
def test_implied_values_are_those_of_the_functions(method: str) -> None:
    found = estimate_ybar(*sampled(800, 12), method=method)  # type: ignore[arg-type]
    for discount, cutoff in (("log2", None), ("zipf(0.5)", "0.2n")):
        one, two = found.pseudo_expectation([1000, 10**6], discount, cutoff, resamples=20, rng=1)
        expected = pseudo_expectation(found, [1000, 10**6], discount, cutoff, points=found.points)
        assert (one.value, two.value) == pytest.approx(expected, abs=1e-13)
        assert one.low <= one.value <= one.high
        at_infinity = found.limit(discount, cutoff, resamples=20, rng=1)
        stated = ir.theory.limit(found, discount=discount, cutoff=cutoff, points=found.points)
        assert (at_infinity.value, at_infinity.theorem) == (
            pytest.approx(stated.value, abs=1e-13),
            stated.theorem,
        )


def test_implied_mean_is_that_of_simulated_lists() -> None:
    """Lists of 10,000 documents drawn from the estimate; 5 standard errors, and a tenth of what the
    correction does.
    """
    found = estimate_ybar(*sampled(1000, 13), method="binned", bins=10)
    values = simulate(found, 10_000, 200, discount="zipf(0.5)", points=found.points, rng=14)
    implied = found.pseudo_expectation(10_000, "zipf(0.5)", resamples=10, rng=0).value
    plain = pseudo_expectation(found, 10_000, "zipf(0.5)", None, False, points=found.points)
    assert abs(values.mean() - implied) < 5 * np.hypot(
        values.std() / np.sqrt(200), 0.1 * abs(implied - plain)
    )


@pytest.mark.slow
def test_implied_intervals_hold_the_truth_and_depend_on_the_seed_alone() -> None:
    truth = pseudo_expectation(lambda s: 0.1 + 0.8 * s, 10**5)
    held = 0
    for seed in range(20):
        found = estimate_ybar(*sampled(500, 100 + seed), method="binned").pseudo_expectation(
            10**5, resamples=60, rng=seed
        )
        held += found.low <= truth <= found.high
    assert held >= 15  # 0.95 nominal: 14 or fewer has a chance below 1e-3
    again = estimate_ybar(*sampled(500, 119), method="binned").pseudo_expectation(
        10**5, resamples=60, rng=19
    )
    assert again == found


def test_graded_estimates_imply_graded_ndcg() -> None:
    rng = np.random.default_rng(15)
    scores = rng.random(3000)
    draw = rng.random(3000)
    two, one = 0.05 + 0.35 * scores**2, 0.2 + 0.2 * scores
    labels = np.where(draw < two, 2, np.where(draw < two + one, 1, 0))
    found = estimate_ybar(labels, scores, rel="graded").pseudo_expectation(
        10**6, "zipf(0.5)", gain="exp2", resamples=100, rng=1
    )
    assert found.low < 0.695966 < found.high  # N* of the true model, Theorem 14, gain 2^y - 1
    assert found.high - found.low < 0.08


def test_a_sample_drawn_again_varies_as_a_new_one_would() -> None:
    """The share of relevant documents: binomial for one query, and between queries where there are
    several.
    """
    labels, scores = sampled(300, 16)
    one = [
        cells.reached.sum() / 300
        for cells in Sample.of(labels, scores, 1.0).resampled(np.random.default_rng(1), 2000)
    ]
    p = labels.mean()
    assert np.mean(one) == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 300 / 2000))
    assert np.std(one) == pytest.approx(np.sqrt(p * (1 - p) / 300), rel=0.1)
    by_query = labels.reshape(30, 10)
    several = Sample.of(by_query, scores.reshape(30, 10), 1.0).resampled(
        np.random.default_rng(2), 2000
    )
    assert np.std([cells.reached.sum() / 300 for cells in several]) == pytest.approx(
        by_query.mean(1).std() / np.sqrt(30), rel=0.1
    )


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["RankSVM", "ListNet", "random"])
def test_500_documents_of_a_query_foretell_its_ndcg_at_5000(ranker: str) -> None:
    """Three real rankers on 40 queries that were not drawn from one ybar: the mean NDCG of all
    documents, from the first tenth.
    """
    collection = ir.theory.paper_rankers()
    labels, scores = (
        collection.grades.reshape(40, 5000),
        collection.scores[ranker].reshape(40, 5000),
    )
    actual = ir.ndcg((labels >= 1).astype(float), scores).mean()
    found = estimate_ybar(labels[:, :500], scores[:, :500]).pseudo_expectation(
        5000, resamples=100, rng=0
    )
    assert found.low < actual < found.high
    assert found.high - found.low < 0.03
    assert abs(found.value - actual) < 0.008
    assert not estimate_ybar(labels, scores).check.contradicted


def test_the_default_bandwidth_follows_the_data() -> None:
    """Wide where ybar is a line, narrow where it steps; and never so narrow that short lists leave
    gaps.
    """
    labels, scores = sampled(2000, 18)
    step = np.random.default_rng(19).random(2000) < np.where(scores < 0.7, 0.1, 0.8)
    wide, narrow = (
        chosen_bandwidth(Sample.of(labels, scores, 1.0)),
        chosen_bandwidth(Sample.of(step, scores, 1.0)),
    )
    assert wide > 0.05 > 0.03 > narrow
    rows = np.random.default_rng(20).random((100, 3))
    assert chosen_bandwidth(Sample.of(rows > 0.5, rows, 1.0)) > 1 / 3


def test_text_of_what_is_implied() -> None:
    labels, scores = sampled(100, 17)
    found = estimate_ybar(labels.reshape(10, 10), scores.reshape(10, 10), method="binned", bins=5)
    text = str(found.limit("zipf(0.5)", "0.2n", resamples=10, rng=0))
    assert text.startswith("nDCG(discount=zipf(0.5))@0.2n in the limit (Theorem 13): 0.")
    assert text.endswith("(95 %, 10 samples of queries)")


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "scores", "options", "message"),
    [
        ([0, 1], [0.1, np.nan], {}, "scores: found NaN at item 1"),
        ([0, np.nan], [0.1, 0.2], {}, "labels: found NaN at item 1"),
        ([0, np.inf], [0.1, 0.2], {}, "finite grades"),
        ([0, 1, 0], [0.1, 0.2], {}, "same 1-D or 2-D shape"),
        ([0, 0], [0.1, 0.2], {}, "no document is relevant"),
        ([0, 0], [0.1, 0.2], {"rel": "graded"}, "no document is relevant"),
        ([1, 1], [0.1, 0.2], {}, "all 2 documents are relevant"),
        ([0, 1, 2], [1, 2, 3], {"rel": "all"}, "expected the lowest relevant grade"),
        (np.arange(40), np.arange(40), {"rel": "graded"}, "at most 32"),
        ([0, 1], [1, 2], {"group": [3]}, "expected 2"),
        ([0, 1], [1, 2], {"level": 95}, "expected a share"),
        ([0, 1], [1, 2], {"method": "spline"}, "expected binned, kernel or isotonic"),
        ([0, 1], [1, 2], {"bins": 2}, "only the binned method"),
        ([0, 1], [1, 2], {"method": "binned", "bins": 0}, "from 1 on"),
        ([0, 1], [1, 2], {"method": "binned", "bins": [0, 2]}, "rising edges"),
        (
            [0, 1],
            [1, 2],
            {"method": "binned", "bins": 5},
            "no document has a canonical score from 0 to 0.2",
        ),
        ([0, 1], [1, 2], {"method": "binned", "bandwidth": 0.1}, "only the kernel method"),
        ([0, 1], [1, 2], {"method": "kernel", "bandwidth": 2}, "at most 1"),
        ([0, 1], [1, 2], {"method": "kernel", "bandwidth": 0.1}, "fewer than two canonical scores"),
    ],
)
def test_what_cannot_be_estimated_is_refused(
    labels: object, scores: object, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_ybar(labels, scores, **options)  # type: ignore[arg-type]


def test_resamples_are_at_least_two() -> None:
    found = estimate_ybar([0, 1, 0, 1], [1, 2, 3, 4], method="binned", bins=2)
    with pytest.raises(ValueError, match="resamples=1"):
        found.limit("zipf(0.5)", resamples=1)


def test_a_kernel_between_samples_fills_no_gap_with_nan() -> None:
    """Documents of one place alone give no line: neighbouring knots stand in."""
    cells = Cells(np.array([0.05, 0.1, 0.9, 0.95]), np.ones(4), np.array([[0.0, 0.0, 1.0, 1.0]]))
    assert np.isfinite(Kernel(0.2).fit(cells).values).all()


def test_an_estimate_prints_what_it_stands_on() -> None:
    """Two bins of four by hand: one relevant of four, and three of four."""
    found = estimate_ybar(
        [0, 0, 1, 0, 1, 1, 0, 1], [1, 2, 3, 4, 5, 6, 7, 8], method="binned", bins=2
    )
    assert str(found).splitlines() == [
        "ybar of 8 documents of 1 query, binned (2 bins)",
        "  0.250 [0.034, 0.761] at s = 0, 0.750 [0.239, 0.966] at s = 0.5, 0.750 [0.239, "
        "0.966] at s = 1 (95 %)",
        "  rising ybar not tested: too few documents",
    ]


def test_weights_of_a_kernel_are_the_same_however_many_are_made_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At each place they are those of the line with the least weighted squares, but for a
    factor.
    """
    rng = np.random.default_rng(12)
    cells = Cells(np.sort(rng.random(90)), rng.integers(1, 5, 90).astype(float), np.zeros((1, 90)))
    found = Kernel(0.3).weights(cells)
    for at, row in zip(np.linspace(0, 1, 101), found, strict=True):
        heavy = np.maximum(1 - ((cells.score - at) / 0.3) ** 2, 0) * cells.count
        line = np.column_stack([np.ones(90), cells.score - at])
        level = np.linalg.solve(line.T @ (heavy[:, None] * line), (heavy[:, None] * line).T)[0]
        assert row * cells.count / (row * cells.count).sum() == pytest.approx(
            level, rel=1e-8, abs=1e-12
        )
    for held in (1, 200, 1 << 20):
        monkeypatch.setattr("idealrank.theory.estimation.smoothing._WEIGHTS", held)
        assert np.array_equal(Kernel(0.3).weights(cells), found)
