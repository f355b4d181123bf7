"""The queries that changed most between two runs, or that are the worst of one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.reports.page.payload import queries_of, values_of
from idealrank.reports.subject import Subject
from idealrank.stats.tolerance import ROUNDING


@dataclass(frozen=True)
class Change:
    """A query on which two runs differ, or one value of a single run.

    Attributes
    ----------
    query, text : str
        Its id and text.
    values : tuple of float
        Of a and b, or of the only run.
    difference : float
        b - a; the value itself of a single run.
    """

    query: str
    text: str
    values: tuple[float, ...]
    difference: float


def changes(subject: Subject, pair: tuple[int, int] | None, most: int) -> tuple[Sequence[Change], Sequence[Change]]:
    """Queries that lost and that gained most by the first measure; of a single run the worst, and nothing.

    Parameters
    ----------
    subject : Subject
        What the page shows.
    pair : tuple of int, optional
        Numbers of two runs.
    most : int
        Queries of each kind.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {"p": {"x": 1}, "q": {"x": 1}}
    >>> a, b = (ir.evaluate(qrels, {"p": ranking, "q": ["x"]}, "RR") for ranking in (["x"], ["y", "x"]))
    >>> worst, best = changes(Subject(evaluations=(a, b), measures=a.measures), (0, 1), 3)
    >>> [(one.query, one.difference) for one in worst], best
    ([('p', -0.5)], [])
    """
    measure, queries = subject.measures[0], queries_of(subject)
    values, counted = values_of(subject, measure)
    direction = measure.direction or 1
    shown = list(pair) if pair is not None else [0]
    kept = np.flatnonzero((counted[shown] & np.isfinite(values[shown])).all(axis=0))
    gain = (values[shown[-1], kept] - (values[shown[0], kept] if pair is not None else 0.0)) * direction
    if pair is not None:
        largest = np.abs(values[shown][:, kept]).max(initial=0.0)
        gain = np.where(np.abs(gain) <= ROUNDING * largest, 0.0, gain)  # rounding is no change: a comparison counts it as equal
    order = np.argsort(gain, kind="stable")

    def told(place: int) -> Change:
        query = queries[kept[place]]
        both = tuple(float(values[run, kept[place]]) for run in shown)
        return Change(query, subject.query_texts.get(query, ""), both, float(gain[place]) * direction)

    if pair is None:
        return [told(place) for place in order[:most]], []
    worst = [told(place) for place in order[:most] if gain[place] < 0]
    best = [told(place) for place in order[::-1][:most] if gain[place] > 0]
    return worst, best
