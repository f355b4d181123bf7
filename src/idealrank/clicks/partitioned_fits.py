"""Click models of logs in parts: each step sums its statistics part by part, and only the sums come together."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from idealrank.clicks.arguments import real_number, steps_of
from idealrank.clicks.cascade_models import DBN, DCM, SDBN, Cascade, FittedCascade, continuation_of, dbn_step
from idealrank.clicks.examination_models import PBM, UBM, CellCounts
from idealrank.clicks.fitted_model import FittedModel, share
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import IncompatibleError, InputError, OptionError, shown

Each: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""A function like `map`, such as the `map` of an executor."""


def fit_in_parts(model: "Cascade | DCM | SDBN | DBN | PBM | UBM", parts: Iterable[Sessions], *, each: Each = map) -> FittedModel:
    """Fit a click model to a log in parts, as the model's own `fit` does to the whole log.

    Parameters of a pair of query and document come from the part that has the query. What parts share (examination by rank,
    continuation) comes from sums: in each step of expectation maximisation a part returns a few numbers a rank.

    Parameters
    ----------
    model : Cascade, DCM, SDBN, DBN, PBM or UBM
        The model, with its settings.
    parts : iterable of Sessions
        Parts of a log that was split by query.
    each : callable
        Applies a function to every part, as `map` does: the `map` of a pool of processes, or of a cluster's client with its results
        gathered.

    Returns
    -------
    FittedModel
        As from ``model.fit``; pairs stand part by part. Parameters equal the fit to the whole log, to the rounding of the sums.

    Raises
    ------
    IncompatibleError
        A query is in two parts.
    InputError
        There is no part, or `parts` is none.
    OptionError
        The model is none of these, or has impossible settings.

    References
    ----------
    Dean and Ghemawat (2004), MapReduce, OSDI, for sums by part; Chu et al. (2007), Map-Reduce for machine learning on multicore, NIPS,
    section 3, for expectation maximisation as such sums.

    Examples
    --------
    >>> parts = [Sessions.from_arrays([q] * 2, [["a", "b"], ["b", "a"]], [[1, 0], [1, 1]]) for q in ("p", "q")]
    >>> fit_in_parts(PBM(iterations=20), parts).relative_propensity.round(3).tolist()
    [1.0, 0.707]
    """
    if not callable(each):
        raise OptionError(f"each: found {shown(repr(each))}, expected a function such as map")
    try:
        logs = list(parts)
    except TypeError:
        raise InputError(f"parts: found {shown(repr(parts))}, expected parts of a log, each of them Sessions") from None
    _refuse_common_queries(logs)
    if isinstance(model, PBM | UBM):
        return _fit_examination(model, logs, each)
    if isinstance(model, DBN):
        return _fit_dbn(model, logs, each)
    if isinstance(model, DCM):
        ends = list(each(DCM.ends, logs))
        width = max(log.n_ranks for log in logs)
        ended, clicked = (sum(np.pad(one[place], (0, width - one[place].size)) for one in ends) for place in (0, 1))
        goes_on = 1 - share(ended, clicked, 0.5)
        return _joined(list(each(partial(_with_continuation, goes_on=goes_on), logs)), goes_on)
    if isinstance(model, Cascade | SDBN):
        return _joined(list(each(model.fit, logs)), np.ones(max(log.n_ranks for log in logs)))
    raise OptionError(f"model: found {shown(repr(model))}, expected Cascade, DCM, SDBN, DBN, PBM or UBM")


def _refuse_common_queries(logs: Sequence[Sessions]) -> None:
    if not logs:
        raise InputError("found no part of a log, expected at least one")
    known: set[str] = set()
    for log in logs:
        check_sessions(log)
        if common := known.intersection(log.queries):
            raise IncompatibleError(
                f"query {min(common)!r} is in two parts ({len(common)} are); expected all sessions of a query in one part"
            )
        known.update(log.queries)


@dataclass(frozen=True)
class _Cells:
    """A part's counts, and the attractiveness of its pairs so far."""

    counts: CellCounts
    attractive: FloatArray


def _fit_examination(model: PBM | UBM, logs: Sequence[Sessions], each: Each) -> FittedModel:
    steps, start = model.checked()
    n_ranks = max(log.n_ranks for log in logs)
    states: list[_Cells] = list(each(partial(_cells_of, model=model, n_ranks=n_ranks, start=start), logs))
    seen = np.sum([state.counts.impressions[1] for state in states], axis=0)
    examined = np.full(seen.size, start)
    for _ in range(steps):
        stepped = list(each(partial(_cells_step, examined=examined, start=start), states))
        states = [state for state, _ in stepped]
        examined = share(np.sum([of_part for _, of_part in stepped], axis=0), seen, start)
    documents, query_of_pair = _pairs(logs)
    attractive = np.concatenate([state.attractive for state in states])
    return model.fitted(documents, CellCounts.joined([state.counts for state in states]), query_of_pair, attractive, examined)


def _cells_of(log: Sessions, *, model: PBM | UBM, n_ranks: int, start: float) -> _Cells:
    counts = model.cells(log, n_ranks)
    return _Cells(counts, np.full(counts.n_pairs, start))


def _cells_step(state: _Cells, *, examined: FloatArray, start: float) -> tuple[_Cells, FloatArray]:
    of_pairs, of_situations = state.counts.step(state.attractive, examined)
    return replace(state, attractive=share(of_pairs, state.counts.impressions[0], start)), of_situations


@dataclass(frozen=True)
class _Reading:
    """A part's sessions, and the parameters of its pairs so far."""

    log: Sessions
    attractive: FloatArray
    satisfied: FloatArray


def _fit_dbn(model: DBN, logs: Sequence[Sessions], each: Each) -> FittedCascade:
    steps, start = steps_of(model.iterations), real_number("start", model.start, "a probability between 0 and 1", low=0, high=1)
    for log in logs:
        log.require_ranks()
    states = [_Reading(log, *(np.full(len(log.documents), start) for _ in range(2))) for log in logs]
    goes_on = start
    for _ in range(steps):
        stepped = list(each(partial(_dbn_step, goes_on=goes_on, start=start), states))
        states = [state for state, _ in stepped]
        goes_on = continuation_of((sum(moved for _, (moved, _) in stepped), sum(stayed for _, (_, stayed) in stepped)), goes_on)
    documents, _ = _pairs(logs)
    impressions = [np.bincount(log.pair[log.pair >= 0], minlength=len(log.documents)) for log in logs]
    attractive, satisfied = (np.concatenate([getattr(state, name) for state in states]) for name in ("attractive", "satisfied"))
    ranks = max(log.n_ranks for log in logs)
    return FittedCascade(documents, attractive, np.concatenate(impressions), start, satisfied, goes_on, np.full(ranks, goes_on))


def _dbn_step(state: _Reading, *, goes_on: float, start: float) -> tuple[_Reading, tuple[float, float]]:
    attractive, satisfied, moves = dbn_step(state.log, state.attractive, state.satisfied, goes_on, start)
    return _Reading(state.log, attractive, satisfied), moves


def _with_continuation(log: Sessions, *, goes_on: FloatArray) -> FittedCascade:
    return DCM.with_continuation(log, goes_on)


def _joined(fits: Sequence[FittedCascade], goes_on: FloatArray) -> FittedCascade:
    """Models of parts without a common query, as one."""
    columns = [np.concatenate([getattr(one, name) for one in fits]) for name in ("attractiveness_values", "impressions", "satisfaction")]
    documents = tuple(pair for one in fits for pair in one.documents)
    return FittedCascade(documents, columns[0], columns[1], fits[0].start, columns[2], fits[0].continuation, goes_on)


def _pairs(logs: Sequence[Sessions]) -> "tuple[tuple[tuple[str, str], ...], IntArray]":
    """Pairs of all parts, and the number of each one's query."""
    first = np.cumsum([0, *(len(log.queries) for log in logs)])
    numbers = np.concatenate([log.query_of_pair + begin for log, begin in zip(logs, first[:-1], strict=True)])
    return tuple(pair for log in logs for pair in log.documents), numbers
