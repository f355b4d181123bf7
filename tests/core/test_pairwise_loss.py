"""Linear NDCG and its pairwise loss: every pair in fractions, the identities of Jin and Geng and
where they end, scikit-learn's AUC.
"""

import json
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from sklearn.metrics import roc_auc_score

import idealrank as ir
from idealrank.errors import InputError, OptionError
from tests.conftest import examples, shared_file
from tests.twins import naive_pairwise as naive

TIES = ("half", "strict", "weak")
IN_NDCG = {"half": "expected", "strict": "best", "weak": "worst"}
KINDS = ("grades", "ratings", "reals", "tenths", "far apart", "large")
Array = np.ndarray


def drawn(rng: np.random.Generator, kind: str, size: int) -> Array:
    """Labels of one kind."""
    kinds: dict[str, Callable[[], Array]] = {
        "grades": lambda: rng.integers(0, 5, size),
        "ratings": lambda: rng.integers(-3, 4, size).astype(np.float64),
        "reals": lambda: rng.normal(size=size),
        "tenths": lambda: rng.choice([0.1, 0.2, 0.3, -0.7], size),
        "far apart": lambda: rng.choice([5e-324, 1e-310, 3.0, 1e300, -1e300], size),
        "large": lambda: rng.integers(-(2**62), 2**62, size),
    }
    return kinds[kind]()


def lists(
    rng: np.random.Generator, kind: str, count: int, longest: int = 7
) -> Iterator[tuple[Array, Array]]:
    """Labels and scores, half of them tied."""
    for _ in range(count):
        size = int(rng.integers(1, longest + 1))
        yield drawn(rng, kind, size), rng.integers(0, 2 * longest // 3, size)


@pytest.mark.spread(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", TIES)
def test_every_pair(kind: str, ties: str) -> None:
    """The float64 nearest to the sum over all pairs, in fractions: nothing is lost, nothing
    overflows, and what is exact is known.
    """
    for labels, scores in lists(np.random.default_rng(3), kind, examples(50), 9):
        expected = naive.loss(labels.tolist(), scores.tolist(), ties)
        parts = ir.pairwise_loss(labels, scores, ties=ties, decompose=True)
        assert ir.pairwise_loss(labels, scores, ties=ties) == parts.loss == float(expected)
        assert parts.exact == (Fraction(parts.loss) == expected)


@pytest.mark.parametrize("kind", ["grades", "ratings", "reals"])
@pytest.mark.parametrize("ties", TIES)
def test_ideal_less_dcg_is_the_loss(kind: str, ties: str) -> None:
    """The identity, in fractions, under every convention for ties: the mean, the greatest and the
    least DCG over the orders of ties.
    """
    for labels, scores in lists(np.random.default_rng(4), kind, examples(50), 6):
        ideal, worst = (
            naive.dcg(sorted(labels.tolist(), reverse=True)),
            naive.dcg(sorted(labels.tolist())),
        )
        dcg = naive.dcg_over_ties(labels.tolist(), scores.tolist(), ties)
        assert ideal - dcg == naive.loss(labels.tolist(), scores.tolist(), ties)
        parts = ir.pairwise_loss(labels, scores, ties=ties, decompose=True)
        assert (parts.ideal_dcg, parts.worst_dcg, parts.dcg) == (
            float(ideal),
            float(worst),
            float(dcg),
        )
        pairs, weighted = naive.normalisers(labels.tolist())
        assert (parts.pairs, parts.weighted_pairs) == (pairs, float(weighted))
        assert weighted == ideal - worst


@pytest.mark.spread(4)
@pytest.mark.parametrize("kind", ["grades", "ratings", "reals", "tenths"])
@pytest.mark.parametrize("ties", TIES)
def test_the_loss_is_the_sum_of_the_losses_at_the_thresholds(kind: str, ties: str) -> None:
    for labels, scores in lists(np.random.default_rng(5), kind, examples(50)):
        parts = ir.pairwise_loss(labels, scores, ties=ties, decompose=True)
        values = sorted({Fraction(label) for label in labels.tolist()})
        assert parts.thresholds.tolist() == [float(value) for value in values[1:]]
        at = [
            naive.loss_at(float(value), labels.tolist(), scores.tolist(), ties)
            for value in values[1:]
        ]
        exact = [
            (high - low) * loss for low, high, loss in zip(values, values[1:], at, strict=False)
        ]
        assert sum(exact, Fraction(0)) == naive.loss(labels.tolist(), scores.tolist(), ties)
        assert parts.losses == pytest.approx([float(loss) for loss in exact], rel=1e-15)


@pytest.mark.parametrize("ties", TIES)
def test_dcg_and_ndcg_of_arrays_are_the_same(ties: str) -> None:
    """Of whole grades `ir.dcg` and `ir.ndcg` have the same bits; with grades below 0 where the
    convention keeps them.
    """
    convention = ir.Convention.of("linear-2010", ties=IN_NDCG[ties], negative="kept")
    for kind in ("grades", "ratings"):
        for labels, scores in lists(np.random.default_rng(6), kind, examples(100), 12):
            parts = ir.pairwise_loss(labels, scores, ties=ties, decompose=True)
            assert ir.dcg(labels, scores, convention=convention)[0] == parts.dcg
            assert ir.ndcg(labels, scores, convention=convention)[0] == parts.ndcg
            if kind == "grades":
                assert (
                    ir.ndcg(labels, scores, discount="linear", gain="linear", ties=ties)[0]
                    == parts.ndcg
                )
                assert (
                    ir.ndcg(np.sort(labels), -np.arange(labels.size), discount="linear")[0]
                    == parts.least_ndcg
                )


# papers.md, section 3: r and f; ideal, worst, R under strict, weak and half, R_k under strict, Z,
# Z_w, NDCG of the best and the mean order.
GOLDEN = [
    (
        [3, 2, 3, 0, 1],
        [0.9, 0.8, 0.7, 0.6, 0.5],
        26,
        10,
        2,
        2,
        2.0,
        [1, 0, 1],
        9,
        16,
        0.9230769230769231,
        0.9230769230769231,
    ),
    (
        [1, 0, 2, 0, 0],
        [2, 2, 1, 1, 3],
        11,
        1,
        6,
        9,
        7.5,
        [3, 3],
        7,
        10,
        0.45454545454545453,
        0.31818181818181823,
    ),
]


@pytest.mark.parametrize("case", GOLDEN)
def test_worked_lists(case: tuple) -> None:
    (
        labels,
        scores,
        ideal,
        worst,
        strict,
        weak,
        half,
        by_threshold,
        pairs,
        weighted,
        best_ndcg,
        mean_ndcg,
    ) = case
    parts = {ties: ir.pairwise_loss(labels, scores, ties=ties, decompose=True) for ties in TIES}
    assert [parts[ties].loss for ties in TIES] == [half, strict, weak]
    assert parts["strict"].losses.tolist() == by_threshold
    assert (parts["half"].ideal_dcg, parts["half"].worst_dcg) == (ideal, worst)
    assert (parts["half"].pairs, parts["half"].weighted_pairs) == (pairs, weighted)
    assert (parts["strict"].ndcg, parts["half"].ndcg) == pytest.approx(
        (best_ndcg, mean_ndcg), abs=1e-15
    )


def test_the_recorded_lists_are_those() -> None:
    """The constants above against the file they come from."""
    names = (
        "r",
        "f",
        "ideal",
        "worst",
        "R_strict",
        "R_le",
        "R_half",
        "Rk",
        "Z",
        "Zw",
        "ndcg_opt",
        "ndcg_half",
    )
    recorded = json.loads(shared_file("golden", "papers.json").read_text(encoding="utf-8"))[
        "linear_ndcg"
    ]
    assert [tuple(case[name] for name in names) for case in recorded] == GOLDEN


def test_ranks_count_from_one() -> None:
    """The difference is the same for ranks from 0, NDCG is not: the ideal is mn + m(m - 1)/2 from 1
    and mn + m(m + 1)/2 from 0.
    """
    for m, n in ((m, n) for m in range(1, 12) for n in range(13)):
        ranked = [0] * n + [1] * m
        from_one, from_zero = (naive.dcg(ranked[::-1], base) for base in (1, 0))
        assert (from_one, from_zero) == (m * n + m * (m - 1) // 2, m * n + m * (m + 1) // 2)
        assert from_one - naive.dcg(ranked, 1) == from_zero - naive.dcg(ranked, 0) == m * n
        assert ir.pairwise_loss(ranked, range(m + n, 0, -1), decompose=True).ideal_dcg == from_one


def test_two_grades_and_auc() -> None:
    """R = mn(1 - AUC), NDCG = 1 - mn(1 - AUC)/(mn + m(m - 1)/2), its minimum (m - 1)/(2n + m - 1):
    AUC from scikit-learn, ties included.
    """
    rng = np.random.default_rng(7)
    for _ in range(examples(150)):
        m, n = (int(size) for size in rng.integers(1, 40, 2))
        labels = rng.permutation([1] * m + [0] * n)
        scores = rng.integers(0, 15, m + n) / 4
        parts, auc = ir.pairwise_loss(labels, scores, decompose=True), roc_auc_score(labels, scores)
        assert parts.loss == pytest.approx(m * n * (1 - auc), abs=1e-9)
        assert (parts.auc, parts.per_pair, parts.relative) == pytest.approx(
            (auc, 1 - auc, 1 - auc), abs=1e-12
        )
        assert parts.ndcg == pytest.approx(
            1 - m * n * (1 - auc) / (m * n + m * (m - 1) / 2), abs=1e-12
        )
        assert parts.least_ndcg == pytest.approx((m - 1) / (2 * n + m - 1), abs=1e-15)
        if parts.least_ndcg < 1:
            assert (parts.ndcg - parts.least_ndcg) / (1 - parts.least_ndcg) == pytest.approx(
                auc, abs=1e-12
            )


def exchanges(ranked: tuple[int, ...], *, adjacent: bool) -> int:
    """The least number of exchanges that put the ones first, by breadth-first search."""
    goal, seen, queue = tuple(sorted(ranked, reverse=True)), {ranked}, deque([(ranked, 0)])
    while queue:
        found, steps = queue.popleft()
        if found == goal:
            return steps
        for i, j in combinations(range(len(found)), 2):
            if adjacent and j != i + 1:
                continue
            other = list(found)
            other[i], other[j] = other[j], other[i]
            if tuple(other) not in seen:
                seen.add(tuple(other))
                queue.append((tuple(other), steps + 1))
    raise AssertionError


def test_lemma_1() -> None:
    """Exchanges of any two documents: as many as zeros among the first m; of neighbours: as many as
    the loss.
    """
    for m, n in ((m, n) for m in range(1, 5) for n in range(1, 5)):
        for ones in combinations(range(m + n), m):
            ranked = tuple(int(place in ones) for place in range(m + n))
            assert exchanges(ranked, adjacent=False) == m - sum(ranked[:m]) <= min(m, n)
            assert exchanges(ranked, adjacent=True) == ir.pairwise_loss(ranked, range(m + n, 0, -1))


def test_the_number_of_pairs_is_no_bound_for_three_grades() -> None:
    """Reversed [0, 0, 1, 2, 2] loses 3/2 of Z, and all of Z_w."""
    parts = ir.pairwise_loss([0, 0, 1, 2, 2], [5, 4, 3, 2, 1], decompose=True)
    assert (parts.per_pair, parts.relative) == (1.5, 1.0)
    for labels, scores in lists(np.random.default_rng(8), "grades", 200):
        parts = ir.pairwise_loss(labels, scores, ties="weak", decompose=True)
        assert 0 <= parts.relative <= 1
        assert 0 <= parts.per_pair <= max(labels) - min(labels)


@pytest.mark.parametrize("policy", ["zero", "one", "nan", "left-out", "quotient"])
def test_undefined_values_follow_the_policy(policy: str) -> None:
    """NDCG where the ideal is 0: no positive label, or one document alone, whose weight is n - 1 =
    0; shares where no pair is counted.
    """
    for labels in ([0, 0, 0], [1], [0], [2, 2], [-1, -2], []):
        scores = [float(-place) for place in range(len(labels))]
        parts = ir.pairwise_loss(labels, scores, decompose=True, no_relevant=policy)
        convention = ir.Convention.of("linear-2010", negative="kept", no_relevant=policy)
        if policy != "quotient" or min(labels, default=0) >= 0:
            assert np.array_equal(
                [parts.ndcg], ir.ndcg(labels, scores, convention=convention), equal_nan=True
            )
        undefined = {"zero": 0.0, "quotient": 0.0, "one": 1.0}.get(policy, np.nan)
        if len(set(labels)) < 2:
            assert np.array_equal(
                [parts.per_pair, parts.relative, parts.auc], [undefined] * 3, equal_nan=True
            )
            assert parts.loss == 0
    # of three grades, whatever the policy
    assert np.isnan(ir.pairwise_loss([0, 1, 2], [3, 2, 1], decompose=True).auc)


@pytest.mark.parametrize("kind", ["grades", "reals", "large"])
@pytest.mark.parametrize("ties", TIES)
def test_lists_together_are_lists_alone(
    kind: str, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes, offsets, ids in any order and rows give the bits of each list alone, whatever pieces
    the work is cut into.
    """
    rng = np.random.default_rng(9)
    sizes = np.array([4, 0, 1, 9, 3, 0])
    labels, scores, ends = drawn(rng, kind, 17), rng.integers(0, 6, 17), np.cumsum(sizes)
    alone = [
        ir.pairwise_loss(labels[end - size : end], scores[end - size : end], ties=ties)
        for size, end in zip(sizes, ends, strict=True)
    ]
    mixed = rng.permutation(17)
    qid = np.repeat(np.arange(6), sizes)[mixed]
    for piece in (1 << 18, 3):
        monkeypatch.setattr("idealrank.measures.pair_sums.PIECE", piece)
        monkeypatch.setattr("idealrank.measures.pair_sums.PIECE", piece)
        assert ir.pairwise_loss(labels, scores, sizes, ties=ties).tolist() == alone
        parts = ir.pairwise_loss(labels, scores, offsets=[0, *ends], ties=ties, decompose=True)
        assert parts.loss.tolist() == alone
        assert parts.losses.sum(axis=1) == pytest.approx(alone, rel=1e-12)
        by_id = ir.pairwise_loss(labels[mixed], scores[mixed], qid=qid, ties=ties).tolist()
        assert by_id == [alone[query] for query in dict.fromkeys(qid.tolist())]
        rows = ir.pairwise_loss(
            labels[:16].reshape(4, 4), scores[:16].reshape(4, 4), ties=ties
        ).tolist()
        assert rows == [
            ir.pairwise_loss(labels[i : i + 4], scores[i : i + 4], ties=ties)
            for i in range(0, 16, 4)
        ]


def test_long_lists() -> None:
    """Several pieces: Mann and Whitney's U of each two grades from SciPy; and sums beyond int64, of
    labels in reverse, in closed form.
    """
    rng = np.random.default_rng(10)
    labels, scores = (
        rng.integers(0, 3, 600_000),
        rng.integers(0, 200_000, 600_000).astype(np.float32),
    )
    by_grade = [scores[labels == grade].astype(np.float64) for grade in range(3)]
    expected = sum(
        (b - a) * mannwhitneyu(by_grade[a], by_grade[b]).statistic
        for a, b in combinations(range(3), 2)
    )
    assert ir.pairwise_loss(labels, scores) == ir.pairwise_loss(labels / 8, scores) * 8 == expected
    few = labels[:5000] - 2.0**52, scores[:5000]
    assert ir.pairwise_loss(*few) == ir.pairwise_loss(labels[:5000], scores[:5000])
    size = 400_000
    rising = np.arange(size) << 40
    parts = ir.pairwise_loss(rising, -np.arange(size), decompose=True)
    assert parts.loss == parts.weighted_pairs == float((size**3 - size) // 6 << 40)
    beyond = ir.pairwise_loss([-1.7e308, 1.7e308], [2, 1], decompose=True)
    assert (beyond.loss, beyond.exact, beyond.relative) == (np.inf, False, 1.0)


@given(
    st.lists(st.tuples(st.integers(-3, 5), st.integers(-4, 4)), min_size=1, max_size=25),
    st.sampled_from(TIES),
    st.randoms(use_true_random=False),
)
def test_what_changes_nothing(items: list[tuple[int, int]], ties: str, shuffler: Random) -> None:
    """The loss is the same for items in any order, for rising functions of the scores and for
    labels moved; scaled labels scale it.
    """
    labels, scores = (np.array(column, np.float64) for column in zip(*items, strict=True))
    loss = ir.pairwise_loss(labels, scores, ties=ties)
    order = np.array(shuffler.sample(range(len(items)), len(items)))
    assert ir.pairwise_loss(labels[order], scores[order], ties=ties) == loss
    assert ir.pairwise_loss(labels, np.exp(scores) - 7, ties=ties) == loss
    assert ir.pairwise_loss(labels, scores.astype(np.float32), ties=ties) == loss
    assert ir.pairwise_loss(labels + 11, scores, ties=ties) == loss
    assert ir.pairwise_loss(labels / 4, scores, ties=ties) == loss / 4
    opposite = {"half": "half", "strict": "weak", "weak": "strict"}[ties]
    weighted = ir.pairwise_loss(labels, scores, decompose=True).weighted_pairs
    assert loss + ir.pairwise_loss(labels, -scores, ties=opposite) == weighted


@pytest.mark.parametrize(
    ("words", "ties"),
    [(("expected", "average"), "half"), (("best",), "strict"), (("worst", "le"), "weak")],
)
def test_spellings_of_ties(words: tuple[str, ...], ties: str) -> None:
    case = ([1, 0, 2, 0, 0], [2, 2, 1, 1, 3])
    for word in words:
        assert ir.pairwise_loss(*case, ties=word) == ir.pairwise_loss(*case, ties=ties)
        assert ir.pairwise_loss(*case, ties=word, decompose=True).ties == ties


def test_what_is_refused() -> None:
    """As `ir.ndcg` refuses it, in the same words."""
    for labels, scores in (
        ([1, np.nan], [1, 2]),
        ([1, 0], [1, np.nan]),
        ([1, np.inf], [1, 2]),
        ([1, 0], [1]),
        ([1, "a"], [1, 2]),
    ):
        with pytest.raises(InputError) as theirs:
            ir.ndcg(labels, scores)
        with pytest.raises(InputError) as ours:
            ir.pairwise_loss(labels, scores)
        assert str(ours.value) == str(theirs.value)
    with pytest.raises(OptionError, match=r"ties=docid: expected half \(expected, average\)"):
        ir.pairwise_loss([1], [1], ties="docid")
    with pytest.raises(
        InputError,
        match=r"group: found 'half', expected sizes .* add up to 2; pass options such as ties= by "
        r"name",
    ):
        ir.pairwise_loss([1, 0], [1, 2], "half")
    with pytest.raises(OptionError, match="no_relevant"):
        ir.pairwise_loss([1], [1], no_relevant="never")
    assert ir.pairwise_loss([1, 0, 2], [np.inf, -np.inf, 0.0]) == 1  # infinite scores have an order


def test_a_table_that_no_memory_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idealrank.measures.pair_sums._CELLS", 5)
    with pytest.raises(InputError, match="found 4 different labels in 2 lists"):
        ir.pairwise_loss([[0.5, 1.5], [2.5, 3.5]], [[1, 2], [1, 2]], decompose=True)


@pytest.mark.parametrize("labels", [pytest.param("grades", marks=pytest.mark.slow), "reals"])
def test_memory(labels: str) -> None:
    """At most 40 bytes a document beside the inputs, half of the scores tied."""
    rng, size = np.random.default_rng(11), 1_000_000
    inputs = drawn(rng, labels, size), rng.integers(0, size, size) / 7
    tracemalloc.start()
    ir.pairwise_loss(*inputs)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most <= 40 * size
