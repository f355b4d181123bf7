"""Grades from behaviour: clicks counted or corrected for position, and a table of actions, with the
least support that a grade needs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from idealrank.clicks.arguments import number_table, real_number
from idealrank.clicks.cell_counts import CellCounts
from idealrank.clicks.fitted_model import FittedModel
from idealrank.clicks.log_rows import SEVERAL
from idealrank.clicks.sessions import Sessions, check_sessions, nested
from idealrank.data.qrels import Qrels
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError, shown, warn
from idealrank.stats.randomness import whole_number

_HIGHEST = 100.0  # grade of an action: an exponential gain of it is still a number


@dataclass(frozen=True, kw_only=True, eq=False)
class ClickGrades:
    """Grades made from a log.

    Attributes
    ----------
    qrels : Qrels
        The judgments; pairs with too little support are left out, so that they stay unjudged.
    cuts : tuple of float
        Least rate of grades 1, 2, ...
    n_pairs, n_left_out : int
        Pairs of query and document in the log, and those with fewer impressions than `least`.
    least : int
        Impressions that a grade needs.
    position_bias : float
        Rate of clicks at the first rank divided by that at the last rank, for the same documents
        where documents change ranks; NaN where that cannot be told.
    corrected : bool
        Whether the rates were corrected for position by a click model.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 4, [["a", "b"]] * 4, [[1, 0], [1, 0], [1, 1], [0, 0]])
    >>> from warnings import catch_warnings, simplefilter
    >>> with catch_warnings():
    ...     simplefilter("ignore")
    ...     dict(grades(log, cuts=[0.2, 0.5], least=1).qrels["q"])
    {'a': 2.0, 'b': 1.0}
    """

    qrels: Qrels
    cuts: tuple[float, ...]
    n_pairs: int
    n_left_out: int
    least: int
    position_bias: float
    corrected: bool


def grades(
    sessions: Sessions,
    model: FittedModel | None = None,
    *,
    cuts: Sequence[float] = (0.05, 0.2, 0.4),
    least: int = 10,
) -> ClickGrades:
    """Make grades from the rate of clicks of each query and document.

    Parameters
    ----------
    sessions : Sessions
        The log.
    model : fitted click model, optional
        Its attractiveness is graded; without one the raw rate of clicks, with a warning that gives
        the size of the position bias.
    cuts : sequence of float, rising, in (0, 1)
        Least rate of grades 1, 2, ...; a smaller rate is grade 0.
    least : int
        Impressions that a grade needs; with fewer a pair stays unjudged.

    Raises
    ------
    OptionError
        The cuts do not rise inside (0, 1), or `least` is below 1.

    Examples
    --------
    >>> from idealrank.clicks import PBM
    >>> log = Sessions.from_arrays(
    ...     ["q"] * 4,
    ...     [["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"]],
    ...     [[1, 0], [1, 1], [1, 0], [0, 0]],
    ... )
    >>> dict(grades(log, PBM(iterations=20).fit(log), cuts=[0.2, 0.6], least=1).qrels["q"])
    {'a': 2.0, 'b': 2.0}
    """
    rates: Any = cuts
    if isinstance(rates, np.ndarray):
        rates = rates.tolist()
    try:
        limits = tuple(real_number("cuts", cut, "rates") for cut in rates)
    except (TypeError, OptionError):
        raise OptionError(
            f"cuts={shown(repr(cuts))}: expected rising rates between 0 and 1, such as 0.05, 0.2, "
            "0.4"
        ) from None
    if not limits or not all(low < high for low, high in pairwise((0.0, *limits, 1.0))):
        raise OptionError(
            f"cuts={list(cuts)}: expected rising rates between 0 and 1, such as 0.05, 0.2, 0.4"
        )
    support = whole_number("least", least)
    check_sessions(sessions)
    if model is not None and not isinstance(model, FittedModel):
        raise OptionError(
            f"model={shown(repr(model))}: expected a fitted click model, such as "
            "PBM().fit(sessions)"
        )

    impressions, clicks = pair_counts(sessions)
    bias = position_bias(sessions)
    if model is None:
        rate = np.divide(clicks, impressions, out=np.zeros(clicks.size), where=impressions > 0)
        message = (
            f"grades from raw clicks carry the position: {bias_text(bias)}; correct it by a click "
            "model"
        )
        warn(message)
    else:
        number_of_pair = {pair: number for number, pair in enumerate(model.documents)}
        numbers = np.array([number_of_pair.get(pair, -1) for pair in sessions.documents], np.int64)
        rate = np.where(numbers >= 0, model.attractiveness_values[numbers], np.nan)
        # A document that the model takes as never examined has no grade.
        impressions = np.where(numbers >= 0, model.impressions[numbers], 0)

    kept = np.flatnonzero((impressions >= support) & ~np.isnan(rate))
    kept_grades = np.searchsorted(limits, rate[kept], side="right").astype(np.float64)
    table = nested([sessions.documents[number] for number in kept.tolist()], kept_grades)
    return ClickGrades(
        qrels=Qrels(table),
        cuts=limits,
        n_pairs=impressions.size,
        n_left_out=impressions.size - kept.size,
        least=support,
        position_bias=bias,
        corrected=model is not None,
    )


def grades_of_actions(
    query: Sequence[str],
    document: Sequence[str],
    action: Sequence[str],
    table: Mapping[str, float],
    *,
    least: int = 1,
    dwell: "Sequence[float] | FloatArray | None" = None,
    dwell_table: Mapping[float, float] | None = None,
) -> Qrels:
    """Grade each query and document by its best action, from a declared table.

    Actions depend on the rank of a document, as clicks do: `position_bias` has the size of that
    bias in a log.

    Parameters
    ----------
    query, document, action : sequence, shape (n,)
        One row an event, such as an impression ("none"), a click, a booking; or a result with
        several actions, joined by ``|``.
    table : mapping of str to float
        Grade of each action, such as ``{"none": 0, "clicked": 2, "booked": 4}``; every action must
        be in it.
    least : int
        Events that a grade needs; with fewer a pair stays unjudged.
    dwell : sequence, shape (n,), optional
        Seconds spent on the document.
    dwell_table : mapping of float to float, optional
        Grade of an event with at least so many seconds, such as ``{10: 1, 30: 3}``; an event counts
        by the greater grade of its action and its seconds. Needs `dwell`.

    Raises
    ------
    InputError
        Lengths differ, or a dwell time is no number.
    OptionError
        An action is not in the table, a grade is outside 0 to 100, a threshold is not above 0, or
        one of `dwell` and `dwell_table` is missing.

    Examples
    --------
    >>> qrels = grades_of_actions(
    ...     ["q", "q"], ["a", "a"], ["none", "booked"], {"none": 0, "clicked": 2, "booked": 4}
    ... )
    >>> dict(qrels["q"])
    {'a': 4.0}
    >>> qrels = grades_of_actions(
    ...     ["q"], ["a"], ["clicked"], {"clicked": 1}, dwell=[45.0], dwell_table={10: 2, 30: 3}
    ... )
    >>> dict(qrels["q"])
    {'a': 3.0}
    """
    if (dwell is None) != (dwell_table is None):
        raise OptionError("dwell: found seconds or their grades alone, expected both, or neither")
    grade_of_action = _grade_table("table", table)
    grade_of_seconds = _grade_table("dwell_table", {} if dwell_table is None else dwell_table)
    steps = sorted((_threshold(seconds), grade) for seconds, grade in grade_of_seconds.items())
    n_events = _text_column("action", action)
    _text_column("query", query, n_events)
    _text_column("document", document, n_events)
    seconds_of = np.zeros(n_events) if dwell is None else number_table("dwell", dwell)
    if seconds_of.shape != (n_events,) or np.isnan(seconds_of).any():
        raise InputError(
            f"dwell: found shape {seconds_of.shape}, expected seconds for each of the {n_events} "
            "events, none of them NaN"
        )
    support = whole_number("least", least)

    best: dict[tuple[str, str], float] = {}
    counts: dict[tuple[str, str], int] = {}
    for row, (query_id, document_id, action_text, dwell_seconds) in enumerate(
        zip(query, document, action, seconds_of.tolist(), strict=True)
    ):
        names = (
            [str(action_text)]
            if str(action_text) in grade_of_action
            else str(action_text).split(SEVERAL)
        )
        unknown = next((name for name in names if name not in grade_of_action), None)
        if unknown is not None:
            raise OptionError(
                f"action, row {row}: found {shown(repr(unknown))}, expected one of "
                f"{', '.join(grade_of_action)}; add its grade to the table"
            )
        pair = (str(query_id), str(document_id))
        earned = [grade_of_action[name] for name in names]
        earned += [grade for seconds, grade in steps if dwell_seconds >= seconds]
        best[pair] = max(*earned, best.get(pair, -np.inf))
        counts[pair] = counts.get(pair, 0) + 1
    kept = [pair for pair in best if counts[pair] >= support]
    return Qrels(nested(kept, np.array([best[pair] for pair in kept])))


def _text_column(name: str, column: Any, n_events: int | None = None) -> int:
    """Check a column of texts, one for each event, and return the number of events."""
    is_column = column.ndim == 1 if isinstance(column, np.ndarray) else isinstance(column, Sequence)
    if not is_column or isinstance(column, (str, bytes)) or n_events not in (None, len(column)):
        raise InputError(
            f"{name}: found {shown(repr(column))}, expected a sequence with one text for each "
            "event, as long as action"
        )
    return len(column)


def _grade_table(name: str, table: "Mapping[Any, float]") -> dict[str, float]:
    """Grades by the text of their action or threshold, checked."""
    if not isinstance(table, Mapping):
        raise OptionError(
            f"{name}={shown(repr(table))}: expected a mapping to grades, such as {{'none': 0, "
            f"'click': 1}}"
        )
    expected = f"a grade from 0 to {_HIGHEST:g}"
    return {
        str(key): real_number(
            f"{name}[{shown(repr(key))}]", grade, expected, low=0, high=_HIGHEST, closed="both"
        )
        for key, grade in table.items()
    }


def _threshold(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (seconds > 0 and math.isfinite(seconds)):
        raise OptionError(
            f"dwell_table: found a threshold of {shown(text)} seconds, expected a finite number "
            "above 0"
        )
    return seconds


def bias_text(bias: float) -> str:
    """Size of a position bias in words.

    Parameters
    ----------
    bias : float
        Ratio of rates of clicks, as of `position_bias`; NaN if it cannot be told.

    Examples
    --------
    >>> bias_text(2.5)
    'the same documents are clicked 2.5 times as often at the first rank as at the last'
    """
    value: Any = bias
    if isinstance(value, float) and math.isnan(value):
        return "its size cannot be told, since no document changes its rank"
    ratio = real_number("bias", bias, "a number, as of position_bias")
    return (
        f"the same documents are clicked {ratio:.3g} times as often at the first rank as at the "
        "last"
    )


def pair_counts(sessions: Sessions) -> tuple[IntArray, IntArray]:
    """Impressions and clicks of each pair of query and document."""
    size = len(sessions.documents)
    impressions = np.bincount(sessions.pair[sessions.pair >= 0], minlength=size)
    clicks = np.bincount(sessions.pair[sessions.clicks], minlength=size)
    return impressions, clicks


def position_bias(sessions: Sessions) -> float:
    """Rate of clicks of the first rank divided by that of the last, for the same documents; NaN
    where no document stood at both.

    Each step compares the documents that stood at a rank and at the next, weighted by the smaller
    number of impressions.

    Examples
    --------
    >>> log = Sessions.from_arrays(
    ...     ["q"] * 4,
    ...     [["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"]],
    ...     [[1, 0], [1, 1], [1, 0], [0, 0]],
    ... )
    >>> round(position_bias(log), 6)
    3.0
    """
    check_sessions(sessions)
    cells = CellCounts.of(sessions, np.arange(sessions.n_ranks), sessions.n_ranks)
    # Cells are grouped by rank once: each rank then handles its own pairs alone.
    by_rank = np.argsort(cells.situation, kind="stable")
    ends = np.searchsorted(cells.situation[by_rank], np.arange(sessions.n_ranks + 1))
    rows = [by_rank[low:high] for low, high in pairwise(ends.tolist())]
    ranks = [
        _RankCells(cells.pair[at_rank], cells.shown[at_rank], cells.clicked[at_rank])
        for at_rank in rows
    ]
    steps = [_step(upper, lower) for upper, lower in pairwise(ranks)]
    return float(np.prod(steps)) if steps else float("nan")


class _RankCells(NamedTuple):
    """Pairs that stood at a rank, rising, with their impressions and clicks there."""

    pairs: IntArray
    shown: FloatArray
    clicked: FloatArray

    def counts(self, pairs: IntArray) -> tuple[FloatArray, FloatArray]:
        """Impressions and clicks of some of the pairs."""
        places = np.searchsorted(self.pairs, pairs)
        return self.shown[places], self.clicked[places]


def _step(upper: _RankCells, lower: _RankCells) -> float:
    """Click rate at a rank divided by that at the next, of the documents that stood at both."""
    pairs = np.intersect1d(upper.pairs, lower.pairs, assume_unique=True)
    shown_above, clicked_above = upper.counts(pairs)
    shown_below, clicked_below = lower.counts(pairs)
    weight = np.minimum(shown_above, shown_below)
    rate_above = float((clicked_above / shown_above * weight).sum())
    rate_below = float((clicked_below / shown_below * weight).sum())
    return rate_above / rate_below if rate_below > 0 else float("nan")
