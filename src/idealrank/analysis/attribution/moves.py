"""The parts of a difference between two runs: queries, documents, rank moves."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

MoveName: TypeAlias = Literal["entered", "left", "moved up", "moved down", "stayed", "no document"]
MOVES: tuple[MoveName, ...] = ("entered", "left", "moved up", "moved down", "stayed")


@dataclass(frozen=True, kw_only=True)
class QueryChange:
    """One query of two runs; every difference is b - a.

    Attributes
    ----------
    query : str
        Query id.
    value_a, value_b, difference : float
        Values of the measure, and how much b has more.
    answered_a, answered_b : bool
        Whether the run returned anything for it.
    unjudged_a, unjudged_b : int
        Returned documents without a judgment, down to the cutoff.
    rest : float
        What of the difference no document accounts for: rounding, and what depends on the lists alone; 0 nearly always.
    """

    query: str
    value_a: float
    value_b: float
    difference: float
    answered_a: bool
    answered_b: bool
    unjudged_a: int
    unjudged_b: int
    rest: float


@dataclass(frozen=True, kw_only=True)
class DocumentChange:
    """One judged document of a query.

    Attributes
    ----------
    query, document : str
        Ids.
    grade : float
        As judged.
    rank_a, rank_b : float or None
        Its rank, from 1, cutoff or not; the mean rank of its tie group where tied documents have no order; None where the run has
        not returned it.
    added_a, added_b, difference : float
        What it added to the value of the query in each run, and b - a.
    move : str
        ``entered`` and ``left``: it stands within the cutoff (or in the list, where there is none) in one run only; ``moved up``,
        ``moved down``, ``stayed``: in both. Below both cutoffs the ranks decide.
    """

    query: str
    document: str
    grade: float
    rank_a: float | None
    rank_b: float | None
    added_a: float
    added_b: float
    difference: float
    move: MoveName


@dataclass(frozen=True, kw_only=True)
class Move:
    """Documents with the same kind of move.

    Attributes
    ----------
    move : str
        As in `DocumentChange`; ``no document`` for the `rest` of the queries.
    documents, queries : int
        How many documents that add something in either run, and in how many queries.
    difference : float
        What they add to the difference of the runs.
    share : float or None
        Of that difference; shares sum to 1 and may lie outside [0, 1]. None where the runs do not differ.
    """

    move: MoveName
    documents: int
    queries: int
    difference: float
    share: float | None
