"""Measures of a collection, stretch by stretch: the columns of a stretch of queries are freed
before the next; lists are judged block by block.

Ranked whole, a million lists leave hundreds of megabytes of columns between the kernel and the
measure: memory that must be had from the system, written and read again. A block's columns stay in
the cache and their memory is used again for the next.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from idealrank.data.alignment import Alignment
from idealrank.data.judged import Judged, Scope
from idealrank.data.lists import Lists, judge_lists
from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import InputError
from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.tally import Tally
from idealrank.measures.measure import Measure, PerQuery
from idealrank.measures.sums import too_large

Result = TypeVar("Result")

# Items of a block: enough work for the kernel to share among threads, few enough for the columns to
# stay in the cache.
_ITEMS = 1 << 18


def list_values(
    lists: Lists, measure: Measure, alignment: Alignment, *, threads: int = 0
) -> FloatArray:
    """Values of a measure for every list, where nothing else is asked for."""
    return in_whole_or_blocks(
        lists,
        alignment,
        lambda parts: np.concatenate([measure.per_query(part) for part in parts]),
        measure.hits_needed(lists=True),
        threads,
    )


def in_whole_or_blocks(
    lists: Lists,
    alignment: Alignment,
    work: Callable[[Iterable[Judged]], Result],
    depth: int,
    threads: int = 0,
    *,
    whole: bool = False,
) -> Result:
    """Do some work on lists judged a block at a time."""

    def all_at_once() -> Iterator[Judged]:
        yield judge_lists(lists, alignment, depth=depth, threads=threads)

    if whole or lists.labels.size <= _ITEMS:
        return work(all_at_once())
    try:
        return work(
            judge_lists(part, alignment, depth=depth, threads=threads) for part in _blocks(lists)
        )
    except InputError:
        # The message must count and name items of the whole, so the whole finds the mistake again.
        return work(all_at_once())


def _blocks(lists: Lists) -> Iterator[Lists]:
    begin = 0
    while begin < lists.n_queries:
        end = int(np.searchsorted(lists.offsets, lists.offsets[begin] + _ITEMS, side="right")) - 1
        end = min(max(end, begin + 1), lists.n_queries)
        yield lists.part(begin, end)
        begin = end


# A sum of n values is a number if each is at most 1/n of this one.
_LARGEST = float(np.finfo(np.float64).max)


class Measured(NamedTuple):
    """Values of measures on a collection."""

    values: FloatArray  # shape (n_queries, n_measures): NaN where a query is left out
    scored: BoolArray  # shape (n_queries, n_measures): which values count
    texts: dict[int, list[str]]  # Texts of each query, by place of a text measure
    coverage: Coverage  # What the values cover


def splits(measures: Iterable[Measure]) -> bool:
    """Return whether every measure looks at one query at a time, so that queries may come in
    stretches.
    """
    return all(measure.kind == "per query" and not measure.needs for measure in measures)


def measure_parts(parts: Iterable[Judged], n_queries: int, measures: Sequence[Measure]) -> Measured:
    """Values of every measure for queries that come stretch by stretch."""
    values = np.empty((len(measures), n_queries))
    scored: dict[int, BoolArray] = {}
    texts: dict[int, list[str]] = {}
    cutoffs = [measure.cutoff for measure in measures if isinstance(measure.cutoff, int)]
    tally = Tally(min(cutoffs, default=0), measures)
    scope = Scope(
        queries_in_qrels=0, queries_in_run=0, missing=(), without_judgments=0, truncated_grades=0
    )
    begin = 0
    for judged in parts:
        stretch = slice(begin, begin + judged.n_queries)
        outside = 0
        for place, measure in enumerate(measures):
            result = measure.measured(judged)
            values[place, stretch] = result.values
            _refuse_large(measure, result.values, n_queries)
            if result.scored is not None:
                scored.setdefault(place, np.ones(n_queries, bool))[stretch] = result.scored
            if result.texts is not None:
                texts.setdefault(place, []).extend(result.texts)
            outside += _out_of_range(measure, result)
        tally.add(judged, out_of_range=outside)
        begin = stretch.stop
        scope = judged.scope
    values.flags.writeable = False
    n_scored = [
        int(np.count_nonzero(scored[place])) if place in scored else n_queries
        for place in range(len(measures))
    ]
    coverage = tally.coverage(scope, n_scored)
    return Measured(
        values=values.T,
        scored=_columns(scored, n_queries, len(measures)),
        texts=texts,
        coverage=coverage,
    )


def measure_judged(judged: Judged, measures: Sequence[Measure]) -> Measured:
    """Values of every measure, in stretches of queries where all measures allow it."""
    parts = judged.parts() if splits(measures) else [judged]
    return measure_parts(parts, judged.n_queries, measures)


def measure_lists(
    lists: Lists, measures: Sequence[Measure], alignment: Alignment, *, threads: int = 0
) -> Measured:
    """Values of every measure for lists held as arrays."""
    depths = [measure.hits_needed(lists=True) for measure in measures]
    depth = 0 if 0 in depths else max(depths)

    n = lists.n_queries

    def work(parts: Iterable[Judged]) -> Measured:
        scopes: list[Scope] = []
        measured = measure_parts(_noting_scopes(parts, scopes), n, measures)
        coverage = replace(
            measured.coverage,
            queries_in_qrels=n,
            queries_in_run=n,
            truncated_grades=sum(scope.truncated_grades for scope in scopes),
        )
        return measured._replace(coverage=coverage)

    return in_whole_or_blocks(lists, alignment, work, depth, threads, whole=not splits(measures))


def _noting_scopes(parts: Iterable[Judged], scopes: list[Scope]) -> Iterator[Judged]:
    """Yield the parts, and append the scope of each to a list: parts are gone once measured."""
    for judged in parts:
        scopes.append(judged.scope)
        yield judged


def _refuse_large(measure: Measure, values: FloatArray, n_queries: int) -> None:
    """Refuse values of which no mean can be made, for their sum may be larger than a number."""
    with np.errstate(over="ignore", invalid="ignore"):
        finite = values if np.isfinite(values.sum()) else values[np.isfinite(values)]
    if finite.size and max(float(finite.max()), -float(finite.min())) > _LARGEST / n_queries:
        raise too_large(measure)


def _columns(scored: dict[int, BoolArray], n_queries: int, n_measures: int) -> BoolArray:
    """All columns as one array; no memory is filled where every query counts."""
    if not scored:
        return np.broadcast_to(np.True_, (n_queries, n_measures))
    columns = np.ones((n_measures, n_queries), bool)
    for place, column in scored.items():
        columns[place] = column
    columns.flags.writeable = False
    return columns.T


def _out_of_range(measure: Measure, result: PerQuery) -> int:
    values = result.values if result.scored is None else result.values[result.scored]
    return int(np.count_nonzero(outside_bounds(measure, values)))


def outside_bounds(measure: Measure, values: FloatArray) -> BoolArray:
    """Mark the values that are beyond the bounds of a measure, by more than rounding."""
    low, high = measure.bounds
    return np.asarray((values < low - 1e-12) | (values > high + 1e-12))
