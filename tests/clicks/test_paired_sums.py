"""Sums of partitions of a log give the paired difference of two policies as one machine gives it:
any partitions, in any order.
"""

import pickle
from collections.abc import Callable, Sequence
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealrank as ir
from idealrank.clicks import (
    PairedSums,
    PolicyDifference,
    Sessions,
    doubly_robust_difference,
    ips_difference,
    logged_dcg_difference,
    slate_difference,
)
from idealrank.clicks.logged_slates import SlateEstimator
from tests.clicks.log_partitions import (
    CLOSE,
    Lists,
    kinds,
    merged,
    partitions,
    same,
    seeds,
    sizes,
    units_of,
)
from tests.conftest import examples

ROWS: dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = {
    "ips": (ips_difference, PairedSums.ips, {}),
    "snips": (ips_difference, PairedSums.ips, {}),
    "clipped": (ips_difference, PairedSums.ips, {"clip": 1.5}),
    "dr": (doubly_robust_difference, PairedSums.doubly_robust, {}),
    "switch": (doubly_robust_difference, PairedSums.doubly_robust, {"switch": 1.5}),
}
SLATES = get_args(SlateEstimator)


def likeness(rng: np.random.Generator, a: np.ndarray) -> np.ndarray:
    """Probabilities of B: independent of A, equal to A in most rows or in all, or close to A
    everywhere.
    """
    other = rng.uniform(0, 1, a.shape)
    mostly = rng.uniform(size=(len(a), *[1] * (a.ndim - 1))) < 0.8
    return [
        other,
        np.where(mostly, a, other),
        a.copy(),
        np.clip(a * (1 + 1e-6 * (other - 0.5)), 0, 1),
    ][rng.integers(4)]


def same_difference(merged_difference: Any, whole: Any, scale: float) -> None:
    """All fields of both values and of the difference, and the verdict unless an end of the
    interval is 0 to rounding.
    """
    same(merged_difference, whole, scale)
    if min(np.abs(getattr(whole, "dcg", getattr(whole, "total", whole)).interval)) > CLOSE * scale:
        assert merged_difference.verdict == whole.verdict


# --- against one machine --------------------------------------------------------------------------


@settings(max_examples=examples(80), deadline=None)
@given(
    seed=seeds,
    n=sizes,
    estimator=st.sampled_from(sorted(ROWS)),
    clustered=kinds,
    level=st.sampled_from([0.0, 1000.0]),
)
def test_rows(seed: int, n: int, estimator: str, clustered: bool, level: float) -> None:
    rng = np.random.default_rng(seed)
    a, logged = rng.uniform(0, 1, n) * rng.integers(0, 2, n), rng.uniform(0.1, 1, n)
    rewards, b = level + rng.normal(0, 1, n), likeness(rng, a)
    predicted = [level + rng.normal(0, 1, n), (level + rng.normal(0, 1, n), rng.normal(0, 1, n))]
    units = units_of(rng, n, clustered=clustered)
    of_whole, of_part, options = ROWS[estimator]

    def given_to(rows: Any) -> dict[str, Any]:
        columns = {
            "rewards": rewards[rows],
            "logged_probability": logged[rows],
            "estimator": estimator,
            **options,
        }
        columns["clusters"] = units[rows] if clustered else None
        if of_whole is ips_difference:
            return columns | {"target_a": a[rows], "target_b": b[rows]}
        of_targets = tuple(prediction[rows] for prediction in predicted[1])
        return columns | {
            "targets": (a[rows], b[rows]),
            "predicted_logged": predicted[0][rows],
            "predicted_targets": of_targets,
        }

    whole = of_whole(**given_to(slice(None)))
    sums = merged(rng, [of_part(**given_to(rows)) for rows in partitions(rng, units)])
    same_difference(
        sums.difference(), whole, (1 + level) * (1 + whole.a.max_weight + whole.b.max_weight)
    )


@settings(max_examples=examples(80), deadline=None)
@given(
    seed=seeds,
    n=sizes,
    estimator=st.sampled_from(SLATES),
    clustered=kinds,
    level=st.sampled_from([0.0, 1000.0]),
)
def test_slates(
    seed: int, n: int, estimator: SlateEstimator, clustered: bool, level: float
) -> None:
    rng = np.random.default_rng(seed)
    ranks = int(rng.integers(1, 5))
    shown = np.arange(ranks) < rng.integers(1, ranks + 1, n)[:, None]
    rewards = np.where(shown, level + rng.normal(0, 1, (n, ranks)), 0.0)
    a = np.where(shown, rng.uniform(0, 1, (n, ranks)) * (rng.uniform(size=(n, 1)) < 0.8), 1.0)
    b = np.where(shown, likeness(rng, a), 1.0)
    logged = np.where(shown, rng.uniform(0.3, 1, (n, ranks)), 1.0)
    discount = rng.choice([0.0, 0.5, 1.0], ranks)
    units = units_of(rng, n, clustered=clustered)

    def given_to(rows: Any) -> tuple[list[np.ndarray], dict[str, Any]]:
        tables = [table[rows] for table in (rewards, a, b, logged)]
        return tables, {
            "estimator": estimator,
            "discount": discount,
            "clusters": units[rows] if clustered else None,
        }

    tables, options = given_to(slice(None))
    whole = slate_difference(*tables, **options)
    parts = [
        PairedSums.slate(*tables, **options)
        for tables, options in map(given_to, partitions(rng, units))
    ]
    largest = float(max(whole.a.max_weight.max(), whole.b.max_weight.max()))
    same_difference(merged(rng, parts).difference(), whole, (1 + level) * (1 + largest) * ranks)


@settings(max_examples=examples(80), deadline=None)
@given(seed=seeds, n=sizes, clustered=kinds, by_list=kinds, of_ranks=kinds, trusted=kinds)
def test_logged_dcg(
    seed: int, n: int, clustered: bool, by_list: bool, of_ranks: bool, trusted: bool
) -> None:
    rng = np.random.default_rng(seed)
    lists = Lists.draw(rng, n, clustered=clustered, by_list=by_list, trusted=trusted)
    a, b = lists.ranking(rng), lists.ranking(rng)
    b["q0"] = a["q0"]  # lists of this query cancel

    def given_to(rows: np.ndarray) -> tuple[list[Any], dict[str, Any]]:
        log, examined, options = lists.part(rows)
        new = np.array([list(range(2, 2 + log.n_ranks)) for _ in rows], int).reshape(
            -1, log.n_ranks
        )
        return [log, new if of_ranks else a, b, examined], options

    columns, options = given_to(np.arange(n))
    whole = logged_dcg_difference(*columns, **options)
    given_parts = map(given_to, partitions(rng, lists.units))
    parts = [
        PairedSums.logged_dcg(*columns, **options, n_ranks=lists.depth)
        for columns, options in given_parts
    ]
    same_difference(merged(rng, parts).difference(), whole, 10.0)


# --- against plain NumPy --------------------------------------------------------------------------


def plain_weights(estimator: str, a: np.ndarray, logged: np.ndarray) -> np.ndarray:
    """Weights of places; a log of rows has one place."""
    weights = a / logged
    if estimator.endswith("rips"):
        return np.cumprod(weights, axis=1)
    return (
        np.repeat(np.prod(weights, axis=1)[:, None], weights.shape[1], axis=1)
        if estimator in ("ips", "snips")
        else weights
    )


def plain_influence(rewards: np.ndarray, weights: np.ndarray, *, normalised: bool) -> np.ndarray:
    """Influence of each list on the reward of a list: the derivative of the estimate in the weight
    of the list, times n.
    """
    if not normalised:
        return (weights * rewards).sum(axis=1)
    by_rank = (weights * rewards).sum(axis=0) / weights.sum(axis=0)
    return by_rank.sum() + (weights * (rewards - by_rank) / weights.mean(axis=0)).sum(axis=1)


def plain_error(influence: np.ndarray, users: "np.ndarray | None") -> float:
    if users is None:
        return float(np.sqrt(np.var(influence, ddof=1) / influence.size))
    totals = np.array(
        [(influence[users == user] - influence.mean()).sum() for user in np.unique(users)]
    )
    return float(np.sqrt(totals.size * np.var(totals, ddof=1)) / influence.size)


def in_four(n: int, users: np.ndarray) -> list[np.ndarray]:
    return [
        np.flatnonzero(np.searchsorted([20, 21, 70], users, "right") == part) for part in range(4)
    ]


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("estimator", SLATES)
def test_lists_against_influences_in_plain_numpy(
    estimator: SlateEstimator, clustered: bool
) -> None:
    rng = np.random.default_rng(3)
    n = 600
    rewards, a, b = (
        rng.normal(5, 1, (n, 3)),
        rng.uniform(0.1, 0.9, (n, 3)),
        rng.uniform(0.1, 0.9, (n, 3)),
    )
    logged, users = rng.uniform(0.3, 1, (n, 3)), rng.integers(0, 100, n)
    of_a, of_b = (
        plain_influence(
            rewards, plain_weights(estimator, target, logged), normalised=estimator.startswith("sn")
        )
        for target in (a, b)
    )
    parts = [
        PairedSums.slate(
            rewards[at],
            a[at],
            b[at],
            logged[at],
            estimator,
            clusters=users[at] if clustered else None,
        )
        for at in in_four(n, users)
    ]
    difference = merged(rng, parts).difference().total
    assert difference.value == pytest.approx(of_b.mean() - of_a.mean(), rel=1e-11)
    assert difference.standard_error == pytest.approx(
        plain_error(of_b - of_a, users if clustered else None), rel=1e-12
    )


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("estimator", sorted(ROWS))
def test_rows_against_influences_in_plain_numpy(estimator: str, clustered: bool) -> None:
    rng = np.random.default_rng(4)
    n = 600
    rewards, a, logged, users = (
        rng.normal(5, 1, n),
        rng.uniform(0.1, 0.9, n),
        rng.uniform(0.3, 1, n),
        rng.integers(0, 100, n),
    )
    b, predicted, of_targets = (
        np.where(rng.uniform(size=n) < 0.9, a, 0.5),
        rng.normal(5, 1, n),
        rng.normal(5, 1, (2, n)),
    )
    influences = []
    for target, model in zip((a, b), of_targets, strict=True):
        weights = target / logged
        if estimator in ("dr", "switch"):
            kept = weights * (weights <= 1.5) if estimator == "switch" else weights
            influences.append(model + kept * (rewards - predicted))
        else:
            weights = np.minimum(weights, 1.5) if estimator == "clipped" else weights
            influences.append(
                plain_influence(rewards[:, None], weights[:, None], normalised=estimator == "snips")
            )

    def sums_of(at: np.ndarray) -> PairedSums[PolicyDifference]:
        _, of_part, options = ROWS[estimator]
        options = {**options, "estimator": estimator, "clusters": users[at] if clustered else None}
        if estimator in ("dr", "switch"):
            return of_part(
                rewards[at],
                (a[at], b[at]),
                logged[at],
                predicted[at],
                list(of_targets[:, at]),
                **options,
            )
        return of_part(rewards[at], a[at], b[at], logged[at], **options)

    difference = merged(rng, [sums_of(at) for at in in_four(n, users)]).difference(0.9)
    error = plain_error(influences[1] - influences[0], users if clustered else None)
    assert difference.value == pytest.approx(influences[1].mean() - influences[0].mean(), rel=1e-11)
    assert difference.standard_error == pytest.approx(error, rel=1e-12)
    assert difference.interval == pytest.approx(
        (
            difference.value - 1.6448536269514722 * error,
            difference.value + 1.6448536269514722 * error,
        )
    )


@pytest.mark.parametrize("clustered", [False, True])
def test_dcg_against_plain_numpy(clustered: bool) -> None:
    rng = np.random.default_rng(5)
    n, seen, discount = 200, np.array([1.0, 0.6, 0.3]), 1 / np.log2([2, 3, 4])
    lists, clicks, users = (
        np.array([rng.permutation(3) for _ in range(n)]),
        rng.integers(0, 2, (n, 3)),
        rng.integers(0, 100, n),
    )

    def plain(order: Sequence[int]) -> np.ndarray:
        """DCG and NDCG of each list."""
        gains = clicks / seen
        dcg = np.array(
            [
                sum(gain * discount[order.index(doc)] for gain, doc in zip(*row, strict=True))
                for row in zip(gains, lists.tolist(), strict=True)
            ]
        )
        ideal = np.array([np.sort(row)[::-1] @ discount for row in gains])
        return np.array([dcg, np.where(ideal > 0, dcg / np.where(ideal > 0, ideal, 1), 0)])

    gap = plain([2, 1, 0]) - plain([0, 2, 1])
    parts = [
        PairedSums.logged_dcg(
            Sessions.from_arrays(["q"] * at.size, lists[at], clicks[at]),
            {"q": ["0", "2", "1"]},
            {"q": ["2", "1", "0"]},
            seen,
            clusters=users[at] if clustered else None,
        )
        for at in in_four(n, users)
    ]
    difference = merged(rng, parts).difference()
    for mean, column in ((difference.dcg, gap[0]), (difference.ndcg, gap[1])):
        assert mean.value == pytest.approx(column.mean(), rel=1e-11)
        assert mean.standard_error == pytest.approx(
            plain_error(column, users if clustered else None), rel=1e-12
        )


# --- digits, verdicts and order -------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["ips", "snips"])
@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_the_error_of_policies_that_are_nearly_alike_keeps_its_digits(
    estimator: Any, gap: float
) -> None:
    """Variances of each policy less twice their covariance would leave an absolute error of 1e-8,
    and lose all digits of the last.
    """
    rng = np.random.default_rng(6)
    n = 5000
    rewards, a, logged = rng.normal(10, 1, n), rng.uniform(0.1, 0.9, n), rng.uniform(0.3, 1, n)
    b = a + gap * rng.uniform(-0.1, 0.1, n)
    parts = [
        PairedSums.ips(*(column[at] for column in (rewards, a, b, logged)), estimator)
        for at in (slice(0, 900), slice(900, n))
    ]
    whole = ips_difference(rewards, a, b, logged, estimator)
    assert abs(merged(rng, parts).difference().standard_error - whole.standard_error) < 1e-14


@pytest.mark.parametrize("estimator", SLATES)
def test_policies_that_are_alike_have_no_difference_and_no_error(estimator: SlateEstimator) -> None:
    rng = np.random.default_rng(7)
    tables = [rng.uniform(0.2, 1, (50, 4)) for _ in range(3)]
    parts = [
        PairedSums.slate(*(tables[which][at] for which in (0, 1, 1, 2)), estimator)
        for at in (slice(0, 9), slice(9, 50))
    ]
    difference = parts[0].merge(parts[1]).difference().total
    assert (difference.value, difference.standard_error) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("shift", "verdict"),
    [(0.2, "better"), (-0.2, "worse"), (0.0, "undecided"), (None, "no support")],
)
def test_verdicts(shift: "float | None", verdict: str) -> None:
    rng = np.random.default_rng(8)
    n = 4000
    taken = rng.integers(0, 2, n)
    rewards, a = (rng.uniform(size=n) < np.where(taken, 0.7, 0.3)).astype(float), np.full(n, 0.5)
    b = np.full(n, 0.01) if shift is None else np.where(taken, 0.5 + shift, 0.5 - shift)
    columns = (rewards, a, b, np.full(n, 0.5))
    parts = [
        PairedSums.ips(*(column[at] for column in columns))
        for at in (slice(0, 10), slice(10, n), slice(0, 0))
    ]
    difference = pickle.loads(pickle.dumps(merged(rng, parts))).difference()
    assert difference.verdict == ips_difference(*columns).verdict == verdict
    assert difference.rows_needed() == pytest.approx(
        ips_difference(*columns).rows_needed(), rel=1e-9
    )


def test_merging_is_associative_and_commutative() -> None:
    rng = np.random.default_rng(9)
    rewards, a, b, logged = (rng.uniform(0.2, 1, (60, 3)) for _ in range(4))
    x, y, z = (
        PairedSums.slate(rewards[at], a[at], b[at], logged[at], "snrips")
        for at in (slice(0, 1), slice(1, 30), slice(30, 60))
    )
    for sums in (z.merge(x).merge(y), y.merge(x.merge(z)), z.merge(y.merge(x))):
        same(sums.difference(), x.merge(y).merge(z).difference(), 10.0)


# --- errors ---------------------------------------------------------------------------------------


def test_what_does_not_fit_is_refused() -> None:
    half, tables = [0.5, 0.5], [[[1, 0], [0, 1]], *[[[0.5, 0.5]] * 2] * 3]
    rows, slates = PairedSums.ips([1, 0], half, half, half), PairedSums.slate(*tables)  # type: ignore[arg-type]
    with pytest.raises(ir.IncompatibleError, match="found pairs of PolicySums and of SlateSums"):
        rows.merge(slates)  # type: ignore[arg-type]
    with pytest.raises(ir.IncompatibleError, match=r"'ips'.* and of .*'snips'"):
        rows.merge(PairedSums.ips([1, 0], half, half, half, "snips"))
    with pytest.raises(ir.IncompatibleError, match=r"2\.0.* and of .*3\.0"):
        PairedSums.ips([1, 0], half, half, half, "clipped", 2).merge(
            PairedSums.ips([1, 0], half, half, half, "clipped", 3)
        )
    with pytest.raises(ir.IncompatibleError, match=r"'no clusters'.* and of .*'clusters'"):
        rows.merge(PairedSums.ips([1, 0], half, half, half, clusters=["u", "v"]))
    with pytest.raises(ir.IncompatibleError, match=r"'ips'.* and of .*'dr'"):
        rows.merge(PairedSums.doubly_robust([1, 0], (half, half), half, half, (half, half)))
    with pytest.raises(ir.IncompatibleError, match=r"\[1.0, 1.0\].* and of .*\[1.0\]"):
        slates.merge(PairedSums.slate([[1]], [[0.5]], [[0.5]], [[0.5]]))
    two = ([[1, 0]], *([[half]] * 3))
    with pytest.raises(ir.IncompatibleError, match=r"'ips'.* and of .*'snips'"):
        PairedSums.slate(*two).merge(PairedSums.slate(*two, "snips"))
    with pytest.raises(ir.IncompatibleError, match=r"\[1.0, 1.0\].* and of .*\[1.0\]"):
        PairedSums.slate(*two, "snips").merge(
            PairedSums.slate([[1]], [[0.5]], [[0.5]], [[0.5]], "snips")
        )
    log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["a", "b"]], [[0, 1], [0, 0]])
    gains = PairedSums.logged_dcg(log, {"q": ["a", "b"]}, {"q": ["b", "a"]}, [1.0, 0.5])
    with pytest.raises(ir.IncompatibleError, match=r"2 ranks.* and of .*3 ranks"):
        gains.merge(
            PairedSums.logged_dcg(
                log, {"q": ["a", "b"]}, {"q": ["b", "a"]}, [1.0, 0.5, 0.4], n_ranks=3
            )
        )


def test_columns_and_logs_that_carry_no_difference_are_refused() -> None:
    half = [0.5, 0.5]
    with pytest.raises(ir.InputError, match=r"targets: .* expected two columns"):
        PairedSums.doubly_robust([1, 0], (half,), half, half, (half, half))  # type: ignore[arg-type]
    with pytest.raises(ir.InputError, match="target_probability, row 1: found 2"):
        PairedSums.ips([1, 0], half, [0.5, 2], half)
    with pytest.raises(ir.OptionError, match="clip"):
        PairedSums.ips([1, 0], half, half, half, "clipped")
    with pytest.raises(ir.OptionError, match="confidence"):
        PairedSums.ips([1, 0], half, half, half).difference(2)
    with pytest.raises(ir.InputError, match="found 0 rows in all parts"):
        PairedSums.ips([], [], [], []).difference()
    with pytest.raises(ir.InputError, match="found 1 lists in all parts"):
        PairedSums.slate([[1]], [[0.5]], [[0.5]], [[0.5]]).difference()
    with pytest.raises(ir.InputError, match="found one cluster in all parts"):
        PairedSums.ips([1, 0], half, half, half, clusters=["u", "u"]).difference()
