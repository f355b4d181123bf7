"""Sums of partitions of a click log give the result of one machine: any partitions, some of them
empty, in any order.
"""

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealrank as ir
from idealrank.clicks import (
    LoggedDCGSums,
    PolicySums,
    Sessions,
    SlateSums,
    doubly_robust,
    ips,
    logged_dcg,
    slate_value,
)
from idealrank.clicks.logged_slates import SlateEstimator
from tests.clicks.log_partitions import (
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
    "ips": (ips, PolicySums.ips, {}),
    "snips": (ips, PolicySums.ips, {}),
    "clipped": (ips, PolicySums.ips, {"clip": 1.5}),
    "dr": (doubly_robust, PolicySums.doubly_robust, {}),
    "switch": (doubly_robust, PolicySums.doubly_robust, {"switch": 1.5}),
}


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=seeds,
    n=sizes,
    estimator=st.sampled_from(sorted(ROWS)),
    clustered=kinds,
    level=st.sampled_from([0.0, 1000.0]),
)
def test_rows(seed: int, n: int, estimator: str, clustered: bool, level: float) -> None:
    rng = np.random.default_rng(seed)
    target, logged = rng.uniform(0, 1, n) * rng.integers(0, 2, n), rng.uniform(0.1, 1, n)
    columns = [level + rng.normal(0, 1, n), target, logged]
    columns += (
        [level + rng.normal(0, 1, n), rng.normal(0, 1, n)] if estimator in ("dr", "switch") else []
    )
    units = units_of(rng, n, clustered=clustered)
    of_whole, of_part, options = ROWS[estimator]
    whole = of_whole(*columns, estimator, **options, clusters=units if clustered else None)
    parts = [
        of_part(
            *(column[rows] for column in columns),
            estimator,
            **options,
            clusters=units[rows] if clustered else None,
        )
        for rows in partitions(rng, units)
    ]
    same(merged(rng, parts).value(), whole, (1 + level) * (1 + whole.max_weight))


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=seeds,
    n=sizes,
    estimator=st.sampled_from(get_args(SlateEstimator)),
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
    target = np.where(shown, rng.uniform(0, 1, (n, ranks)) * (rng.uniform(size=(n, 1)) < 0.8), 1.0)
    logged = np.where(shown, rng.uniform(0.3, 1, (n, ranks)), 1.0)
    discount = rng.choice([0.0, 0.5, 1.0], ranks)
    units = units_of(rng, n, clustered=clustered)
    whole = slate_value(
        rewards, target, logged, estimator, discount=discount, clusters=units if clustered else None
    )
    parts = [
        SlateSums.of(
            rewards[rows],
            target[rows],
            logged[rows],
            estimator,
            discount=discount,
            clusters=units[rows] if clustered else None,
        )
        for rows in partitions(rng, units)
    ]
    same(
        merged(rng, parts).value(), whole, (1 + level) * (1 + float(whole.max_weight.max())) * ranks
    )


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds, n=sizes, clustered=kinds, by_list=kinds, of_ranks=kinds, trusted=kinds)
def test_logged_dcg(
    seed: int, n: int, clustered: bool, by_list: bool, of_ranks: bool, trusted: bool
) -> None:
    rng = np.random.default_rng(seed)
    lists = Lists.draw(rng, n, clustered=clustered, by_list=by_list, trusted=trusted)
    ranking = lists.ranking(rng)

    def given_to(rows: np.ndarray) -> tuple[Sessions, Any, Any, dict[str, Any]]:
        log, examined, options = lists.part(rows)
        new = np.array([list(range(2, 2 + log.n_ranks)) for _ in rows], int).reshape(
            -1, log.n_ranks
        )
        return log, new if of_ranks else ranking, examined, options

    log, new, examined, options = given_to(np.arange(n))
    whole = logged_dcg(log, new, examined, **options)
    parts = [
        LoggedDCGSums.of(log, new, examined, **options, n_ranks=lists.depth)
        for log, new, examined, options in map(given_to, partitions(rng, lists.units))
    ]
    same(merged(rng, parts).value(), whole, 10.0)


def test_what_does_not_fit_is_refused() -> None:
    half = [[0.5, 0.5]] * 2
    slates = SlateSums.of([[1, 0], [0, 1]], half, half)
    with pytest.raises(ir.IncompatibleError, match=r"found sums of .*'ips'.* and of .*'rips'"):
        slates.merge(SlateSums.of([[1, 0], [0, 1]], half, half, "rips"))
    with pytest.raises(ir.IncompatibleError, match=r"\[1.0, 1.0\].* and of .*\[1.0\]"):
        slates.merge(SlateSums.of([[1]], [[0.5]], [[0.5]]))
    with pytest.raises(ir.InputError, match="found 1 lists in all parts, expected at least 2"):
        SlateSums.of([[1]], [[0.5]], [[0.5]]).value()
    with pytest.raises(ir.InputError, match="found one cluster in all parts"):
        SlateSums.of([[1, 0], [0, 1]], half, half, clusters=["u", "u"]).value()
    with pytest.raises(ir.InputError, match="found 0 rows in all parts"):
        PolicySums.ips([], [], []).value()
    log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["a", "b"]], [[0, 1], [0, 0]])
    gains = LoggedDCGSums.of(log, {"q": ["b", "a"]}, [1.0, 0.5])
    swapped = Sessions.from_arrays(["q", "q"], [["a", "b"], ["b", "a"]], [[0, 1], [1, 0]])
    fitted = ir.clicks.PBM().fit(swapped)
    with pytest.raises(
        ir.OptionError, match=r"^LoggedDCGSums.of: propensity: found FittedPBM, whose"
    ):
        LoggedDCGSums.of(log, {"q": ["b", "a"]}, fitted)
    with pytest.raises(
        ir.IncompatibleError, match=r"a ranking of documents.* and of .*a ranking of ranks"
    ):
        gains.merge(LoggedDCGSums.of(log, [[2, 1], [2, 1]], [1.0, 0.5]))
    with pytest.raises(
        ir.IncompatibleError, match="query 'q': found new lists of 2 and of 1 documents"
    ):
        gains.merge(LoggedDCGSums.of(log, {"q": ["b"]}, [1.0, 0.5]))
    with pytest.raises(ir.IncompatibleError, match=r"2 ranks.* and of .*3 ranks"):
        gains.merge(LoggedDCGSums.of(log, {"q": ["b", "a"]}, [1.0, 0.5, 0.4], n_ranks=3))
    with pytest.raises(ir.OptionError, match="n_ranks=1: expected a whole number"):
        LoggedDCGSums.of(log, {"q": ["b", "a"]}, [1.0], n_ranks=1)
