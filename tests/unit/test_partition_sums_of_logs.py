"""Sums of partitions of a click log give the result of one machine: any partitions, some of them empty, in any order."""

import dataclasses
import re
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealrank as ir
from idealrank.clicks import LoggedDCGSums, PolicySums, Sessions, SlateSums, doubly_robust, exposures, ips, logged_dcg, slate_value
from idealrank.clicks.logged_slates import SlateEstimator
from tests.conftest import examples

CLOSE = 1e-12
seeds, sizes, kinds = st.integers(0, 2**32 - 1), st.integers(2, 40), st.booleans()


def partitions(rng: np.random.Generator, units: np.ndarray) -> list[np.ndarray]:
    """Rows of each of up to six partitions, of which some have none; rows of a unit stay together."""
    part_of_unit = rng.integers(0, rng.integers(1, 7), units.max() + 1)
    return [np.flatnonzero(part_of_unit[units] == part) for part in range(6)]


def merged(rng: np.random.Generator, parts: list[Any]) -> Any:
    """Two parts at a time are merged, any two, until one is left."""
    while len(parts) > 1:
        rng.shuffle(parts)  # type: ignore[arg-type]
        parts.append(parts.pop().merge(parts.pop()))
    return parts[0]


def flat(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {
            f"{field.name}.{name}": one for field in dataclasses.fields(value) for name, one in flat(getattr(value, field.name)).items()
        }
    return {"": value}


def same(found: Any, whole: Any, scale: float) -> None:
    """Numbers to rounding, counts and reasons exactly; digits in a reason may round the other way."""
    ours, theirs = flat(found), flat(whole)
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        if name == "cautions.":
            assert [re.sub(r"[\d.e+-]+", "0", one) for one in ours[name]] == [re.sub(r"[\d.e+-]+", "0", one) for one in value]
        elif isinstance(value, int | str):
            assert ours[name] == value, name
        else:
            np.testing.assert_allclose(ours[name], value, rtol=CLOSE, atol=CLOSE * scale, err_msg=name)


def units_of(rng: np.random.Generator, n: int, *, clustered: bool) -> np.ndarray:
    """Number of each row's unit; every log has at least two."""
    if not clustered:
        return np.arange(n)
    return rng.permutation(np.append([0, 1], rng.integers(0, 1 + n // 3, n - 2)))


ROWS: dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = {
    "ips": (ips, PolicySums.ips, {}), "snips": (ips, PolicySums.ips, {}), "clipped": (ips, PolicySums.ips, {"clip": 1.5}),
    "dr": (doubly_robust, PolicySums.doubly_robust, {}), "switch": (doubly_robust, PolicySums.doubly_robust, {"switch": 1.5}),
}  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds, n=sizes, estimator=st.sampled_from(sorted(ROWS)), clustered=kinds, level=st.sampled_from([0.0, 1000.0]))
def test_rows(seed: int, n: int, estimator: str, clustered: bool, level: float) -> None:
    rng = np.random.default_rng(seed)
    target, logged = rng.uniform(0, 1, n) * rng.integers(0, 2, n), rng.uniform(0.1, 1, n)
    columns = [level + rng.normal(0, 1, n), target, logged]
    columns += [level + rng.normal(0, 1, n), rng.normal(0, 1, n)] if estimator in ("dr", "switch") else []
    units = units_of(rng, n, clustered=clustered)
    of_whole, of_part, options = ROWS[estimator]
    whole = of_whole(*columns, estimator, **options, clusters=units if clustered else None)
    parts = [
        of_part(*(column[rows] for column in columns), estimator, **options, clusters=units[rows] if clustered else None)
        for rows in partitions(rng, units)
    ]
    same(merged(rng, parts).value(), whole, (1 + level) * (1 + whole.max_weight))


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds, n=sizes, estimator=st.sampled_from(get_args(SlateEstimator)), clustered=kinds, level=st.sampled_from([0.0, 1000.0]))
def test_slates(seed: int, n: int, estimator: SlateEstimator, clustered: bool, level: float) -> None:
    rng = np.random.default_rng(seed)
    ranks = int(rng.integers(1, 5))
    shown = np.arange(ranks) < rng.integers(1, ranks + 1, n)[:, None]
    rewards = np.where(shown, level + rng.normal(0, 1, (n, ranks)), 0.0)
    target = np.where(shown, rng.uniform(0, 1, (n, ranks)) * (rng.uniform(size=(n, 1)) < 0.8), 1.0)
    logged = np.where(shown, rng.uniform(0.3, 1, (n, ranks)), 1.0)
    discount = rng.choice([0.0, 0.5, 1.0], ranks)
    units = units_of(rng, n, clustered=clustered)
    whole = slate_value(rewards, target, logged, estimator, discount=discount, clusters=units if clustered else None)
    parts = [
        SlateSums.of(rewards[rows], target[rows], logged[rows], estimator, discount=discount, clusters=units[rows] if clustered else None)
        for rows in partitions(rng, units)
    ]
    same(merged(rng, parts).value(), whole, (1 + level) * (1 + float(whole.max_weight.max())) * ranks)


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds, n=sizes, clustered=kinds, by_list=kinds, of_ranks=kinds, trusted=kinds)
def test_logged_dcg(seed: int, n: int, clustered: bool, by_list: bool, of_ranks: bool, trusted: bool) -> None:
    """Lists of a query are in several partitions, which have lists of other lengths."""
    rng = np.random.default_rng(seed)
    depth = int(rng.integers(1, 5))
    lengths = rng.integers(1, depth + 1, n) if rng.integers(2) else np.full(n, depth)
    lengths[0] = depth
    queries = [f"q{number}" for number in rng.integers(0, 3, n)]
    lists = [rng.permutation(depth + rng.integers(0, 2))[:length].tolist() for length in lengths]
    clicks = [rng.integers(0, 2, length).tolist() for length in lengths]
    rankings = {query: [str(number) for number in rng.permutation(depth + 1)] for query in ("q0", "q1", "q2")}
    options = {
        "discount": None if rng.integers(2) else rng.uniform(0, 1, int(rng.integers(1, 9))),
        "offset": rng.uniform(0, 0.2, depth) if trusted else None,
    }
    units = units_of(rng, n, clustered=clustered)

    def log_of(rows: np.ndarray) -> Sessions:
        width = max(lengths[rows])
        filled = [[row + [fill] * (width - len(row)) for row in (table[at] for at in rows)] for table, fill in ((lists, -1), (clicks, 0))]
        return Sessions.from_arrays([queries[at] for at in rows], np.array(filled[0]), filled[1])

    whole_log = log_of(np.arange(n))
    propensity = rng.uniform(0.2, 1, depth)
    seen = exposures(whole_log, propensity)

    def given_to(rows: np.ndarray) -> tuple[Sessions, Any, Any, dict[str, Any]]:
        log = whole_log.select([]) if not rows.size else log_of(rows)
        new = np.array([list(range(2, 2 + log.n_ranks)) for _ in rows], int).reshape(-1, log.n_ranks)
        examined = np.minimum(seen[rows][:, : log.n_ranks], 1.0) if by_list else propensity
        return log, new if of_ranks else rankings, examined, {**options, "clusters": units[rows] if clustered else None}

    log, ranking, examined, others = given_to(np.arange(n))
    whole = logged_dcg(log, ranking, examined, **others)
    given_parts = [given_to(rows) for rows in partitions(rng, units)]
    parts = [LoggedDCGSums.of(log, new, seen_by, **others, n_ranks=depth) for log, new, seen_by, others in given_parts]
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
    with pytest.raises(ir.IncompatibleError, match=r"a ranking of documents.* and of .*a ranking of ranks"):
        gains.merge(LoggedDCGSums.of(log, [[2, 1], [2, 1]], [1.0, 0.5]))
    with pytest.raises(ir.IncompatibleError, match="query 'q': found new lists of 2 and of 1 documents"):
        gains.merge(LoggedDCGSums.of(log, {"q": ["b"]}, [1.0, 0.5]))
    with pytest.raises(ir.IncompatibleError, match=r"2 ranks.* and of .*3 ranks"):
        gains.merge(LoggedDCGSums.of(log, {"q": ["b", "a"]}, [1.0, 0.5, 0.4], n_ranks=3))
    with pytest.raises(ir.OptionError, match="n_ranks=1: expected a whole number"):
        LoggedDCGSums.of(log, {"q": ["b", "a"]}, [1.0], n_ranks=1)
