"""Click models of logs in parts: each part is counted or summed by itself, and only counts and sums
come together.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from idealrank.clicks.cascade_models import (
    DBN,
    DCM,
    SDBN,
    Cascade,
    FittedCascade,
)
from idealrank.clicks.cell_counts import CellCounts
from idealrank.clicks.examination_models import PBM, UBM
from idealrank.clicks.fitted_model import FittedModel, share
from idealrank.clicks.reading_fits import Each
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import IncompatibleError, InputError, OptionError, shown

ClickModel: TypeAlias = Cascade | DCM | SDBN | DBN | PBM | UBM


def fit_in_parts(model: ClickModel, parts: Iterable[Sessions], *, each: Each = map) -> FittedModel:
    """Fit a click model to a log in parts, as the model's own `fit` does to the whole log.

    PBM and UBM are fitted to counts, which each part returns once. Of the other models, parameters
    of a pair of query and document come from the part that has the query, and continuation comes
    from sums over the parts.

    Parameters
    ----------
    model : Cascade, DCM, SDBN, DBN, PBM or UBM
        The model, with its settings.
    parts : iterable of Sessions
        Parts of a log that was split by query.
    each : callable
        Applies a function to every part, as `map` does: the `map` of a pool of processes, or of a
        cluster's client with its results gathered.

    Returns
    -------
    FittedModel
        As from ``model.fit``; pairs stand part by part. Parameters equal the fit to the whole log,
        to the rounding of the sums.

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
    Dean and Ghemawat (2004), MapReduce, OSDI, for sums by part; Chu et al. (2007), Map-Reduce for
    machine learning on multicore, NIPS, section 3, for expectation maximisation as such sums.

    Examples
    --------
    >>> parts = [
    ...     Sessions.from_arrays([q] * 2, [["a", "b"], ["b", "a"]], [[1, 0], [1, 1]])
    ...     for q in ("p", "q")
    ... ]
    >>> fit_in_parts(PBM(), parts).relative_propensity.round(3).tolist()
    [1.0, 0.5]
    """
    if not callable(each):
        raise OptionError(f"each: found {shown(repr(each))}, expected a function such as map")
    try:
        logs = list(parts)
    except TypeError:
        raise InputError(
            f"parts: found {shown(repr(parts))}, expected parts of a log, each of them Sessions"
        ) from None
    _refuse_common_queries(logs)
    if isinstance(model, PBM | UBM):
        return _fit_examination(model, logs, each)
    if isinstance(model, DBN):
        return model.fit_parts(logs, _pairs(logs)[0], each=each)
    if isinstance(model, DCM):
        return _fit_dcm(logs, each)
    if isinstance(model, Cascade | SDBN):
        return _joined(list(each(model.fit, logs)), np.ones(max(log.n_ranks for log in logs)))
    raise OptionError(
        f"model: found {shown(repr(model))}, expected Cascade, DCM, SDBN, DBN, PBM or UBM"
    )


def _refuse_common_queries(logs: Sequence[Sessions]) -> None:
    if not logs:
        raise InputError("found no part of a log, expected at least one")
    earlier_queries: set[str] = set()
    for log in logs:
        check_sessions(log)
        common = earlier_queries.intersection(log.queries)
        if common:
            raise IncompatibleError(
                f"query {min(common)!r} is in two parts ({len(common)} are); expected all sessions "
                "of a query in one part"
            )
        earlier_queries.update(log.queries)


def _fit_examination(model: PBM | UBM, logs: Sequence[Sessions], each: Each) -> FittedModel:
    """Fit to the counts of all parts: they are small beside the sessions."""
    model.checked()
    n_ranks = max(log.n_ranks for log in logs)
    counts: list[CellCounts] = list(each(partial(model.cells, n_ranks=n_ranks), logs))
    documents, query_of_pair = _pairs(logs)
    return model.fitted(documents, CellCounts.joined(counts), query_of_pair)


def _fit_dcm(logs: Sequence[Sessions], each: Each) -> FittedModel:
    """Fit continuation to the last clicks and clicks of all parts, then each part by itself."""
    n_ranks = max(log.n_ranks for log in logs)
    ended = np.zeros(n_ranks)
    clicked = np.zeros(n_ranks)
    for part_ended, part_clicked in each(DCM.ends, logs):
        ended[: part_ended.size] += part_ended
        clicked[: part_clicked.size] += part_clicked
    goes_on = 1 - share(ended, clicked, 0.5)
    return _joined(list(each(partial(_with_continuation, goes_on=goes_on), logs)), goes_on)


def _with_continuation(log: Sessions, *, goes_on: FloatArray) -> FittedCascade:
    return DCM.with_continuation(log, goes_on)


def _joined(fits: Sequence[FittedCascade], goes_on: FloatArray) -> FittedCascade:
    """Models of parts without a common query, as one."""
    return FittedCascade(
        documents=tuple(pair for fit in fits for pair in fit.documents),
        attractiveness_values=np.concatenate([fit.attractiveness_values for fit in fits]),
        impressions=np.concatenate([fit.impressions for fit in fits]),
        start=fits[0].start,
        satisfaction=np.concatenate([fit.satisfaction for fit in fits]),
        continuation=fits[0].continuation,
        continuation_after_click=goes_on,
    )


def _pairs(logs: Sequence[Sessions]) -> "tuple[tuple[tuple[str, str], ...], IntArray]":
    """Pairs of all parts, and the number of each one's query."""
    offsets = np.cumsum([0, *(len(log.queries) for log in logs)])
    numbers = np.concatenate(
        [log.query_of_pair + offset for log, offset in zip(logs, offsets[:-1], strict=True)]
    )
    pairs = tuple(pair for log in logs for pair in log.documents)
    return pairs, numbers
