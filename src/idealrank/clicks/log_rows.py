"""Rows of a click log, one a result shown: what is wrong with them, and the sessions of those that make sense."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from idealrank.clicks.sessions import Sessions, numbered
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError

MOST_LISTS_OF_A_USER = 1000
"""Lists of one user in a log beyond which it is taken for a program."""
_ALL_CLICKED = 20  # lists of which a user clicked every result


@dataclass(frozen=True)
class LogProblem:
    """One kind of problem of a log, with how often it occurs.

    Attributes
    ----------
    kind : str
        Its name, in JSON.
    text : str
        What was found.
    n_lists : int
        Lists that it concerns; they are left out of the sessions.
    example : str
        The first such list: session and query.

    Examples
    --------
    >>> LogProblem("ranks", "ranks that are not 1, 2, 3, ...", 1, "session s1, query q1").n_lists
    1
    """

    kind: str
    text: str
    n_lists: int
    example: str


@dataclass(frozen=True, eq=False)
class LogRows:
    """Columns of a click log, one row a result shown. A list is what one session showed for one query.

    Attributes
    ----------
    session, query, document : sequence of str, shape (rows,)
        Ids.
    rank : float64 array, shape (rows,)
        From 1, or from 0 throughout.
    click : float64 array, shape (rows,)
        1 for a click, 0 for none.
    user : sequence of str, or None
        Whose session it is.
    propensity : float64 array, or None
        Probability with which the logging policy showed the document at the rank.

    Examples
    --------
    >>> rows = LogRows(["s", "s"], ["q", "q"], ["a", "b"], np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    >>> rows.check().sessions.clicks.tolist()
    [[False, True]]
    """

    session: Sequence[str]
    query: Sequence[str]
    document: Sequence[str]
    rank: FloatArray
    click: FloatArray
    user: Sequence[str] | None = None
    propensity: FloatArray | None = None

    def check(self, *, most_lists: int = MOST_LISTS_OF_A_USER) -> "LogCheck":
        """Find what makes no sense, list by list, and make sessions of the rest.

        Parameters
        ----------
        most_lists : int
            Lists of one user beyond which it is taken for a program.

        Raises
        ------
        InputError
            No list makes sense.
        """
        n = len(self.session)
        if not n:
            raise InputError("click log: found no row, expected one for each result shown")
        session, sessions = numbered(self.session)
        query, queries = numbered(self.query)
        document, documents = numbered(self.document)
        lists, names = _lists(session, query, len(queries))
        from_zero = bool((self.rank == 0).any())
        rank = self.rank + from_zero
        counts = np.bincount(lists)
        order = np.lexsort((rank, lists))
        place = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
        problems: list[LogProblem] = []
        kept = np.ones(counts.size, bool)

        def leave_out(kind: str, text: str, wrong: BoolArray) -> None:
            found = np.flatnonzero(wrong)
            if found.size:
                one, other = names[found[0]]
                problems.append(LogProblem(kind, text, found.size, f"session {sessions[one]}, query {queries[other]}"))
                kept[found] = False

        def lists_with(rows: BoolArray) -> BoolArray:
            return np.bincount(lists[rows], minlength=counts.size) > 0

        twice = np.zeros(n, bool)
        by_document = np.lexsort((document, lists))
        again = (np.diff(lists[by_document]) == 0) & (np.diff(document[by_document]) == 0)
        twice[by_document[1:][again]] = True
        repeated = np.zeros(n, bool)
        same = (np.diff(lists[order]) == 0) & (np.diff(rank[order]) == 0)
        repeated[order[1:][same]] = True
        leave_out("duplicates", "rows that come twice: same list, rank and document", lists_with(twice & repeated))
        leave_out("documents", "a document at two ranks of one list", lists_with(twice & ~repeated))
        gaps = np.zeros(n, bool)
        gaps[order] = rank[order] != place + 1
        leave_out("ranks", "ranks that are not 1, 2, 3, ...", lists_with(gaps))
        leave_out("clicks", "clicks that are neither 0 nor 1", lists_with(~np.isin(self.click, (0, 1))))
        blank = [number for number, name in enumerate(documents) if not name]
        leave_out("documents_empty", "results without an id", lists_with(np.isin(document, blank)))
        if self.propensity is not None:
            leave_out(
                "propensities",
                "propensities that are not above 0 and up to 1",
                lists_with(~((self.propensity > 0) & (self.propensity <= 1))),
            )
        user = None if self.user is None else numbered(self.user)[0]
        if user is not None:
            of_list = np.zeros(counts.size, np.int64)
            of_list[lists] = user
            leave_out("programs", f"lists of users with more than {most_lists:,} lists, or who click on everything",
                      _programs(of_list, lists, self.click, counts, most_lists)[of_list])  # fmt: skip
        if not kept.any():
            said = "; ".join(f"{problem.text}: {problem.n_lists:,}" for problem in problems)
            raise InputError(f"click log: found no list that makes sense ({said}), expected some")
        return LogCheck(n, counts.size, int(kept.sum()), tuple(problems), from_zero,
                        self._sessions(order[kept[lists[order]]], lists, place, kept, query, queries, document, documents))  # fmt: skip

    def _sessions(
        self, rows: IntArray, lists: IntArray, place: IntArray, kept: BoolArray, query: IntArray, queries: Sequence[str],
        document: IntArray, documents: Sequence[str],
    ) -> Sessions:  # fmt: skip
        """Sessions of the kept rows, which are in the order of their lists and ranks."""
        number = np.cumsum(kept) - 1
        row = number[lists[rows]]
        counts = np.bincount(row)
        column = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
        shape = (int(row[-1]) + 1, int(column.max()) + 1)

        def table(values: Any, filled: Any, kind: Any) -> Any:
            found = np.full(shape, filled, kind)
            found[row, column] = np.asarray(values)[rows]
            return found

        of_list = np.zeros(shape[0], np.int64)
        of_list[row] = query[rows]
        user = None
        if self.user is not None:
            first = np.zeros(shape[0], np.int64)
            first[row[::-1]] = rows[::-1]
            user = np.array([self.user[place] for place in first.tolist()])
        shown = None if self.propensity is None else table(self.propensity, 1.0, np.float64)
        log = Sessions.from_arrays(of_list, table(document, -1, np.int64), table(self.click, 0, np.int64), user=user, propensity=shown)
        pairs = tuple((queries[int(one)], documents[int(other)]) for one, other in log.documents)
        return replace(log, queries=tuple(queries[int(one)] for one in log.queries), documents=pairs)


@dataclass(frozen=True, eq=False)
class LogCheck:
    """What was found in a log, and the sessions that make sense.

    Attributes
    ----------
    n_rows, n_lists, n_kept : int
        Rows, lists, and lists that make sense.
    problems : tuple of LogProblem
        By kind.
    from_zero : bool
        Whether ranks were counted from 0.
    sessions : Sessions
        The lists that make sense.

    Examples
    --------
    >>> rows = LogRows(["s", "t"], ["q", "q"], ["a", "b"], np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    >>> [problem.kind for problem in rows.check().problems]
    ['ranks']
    """

    n_rows: int
    n_lists: int
    n_kept: int
    problems: tuple[LogProblem, ...]
    from_zero: bool
    sessions: Sessions = field(repr=False)

    def as_dict(self) -> Mapping[str, Any]:
        """Return the JSON record."""
        log = self.sessions
        return {
            "rows": self.n_rows, "lists": self.n_lists, "kept": self.n_kept, "ranks_from_zero": self.from_zero,
            "queries": len(log.queries), "pairs": len(log.documents), "ranks": log.n_ranks, "clicks": int(log.clicks.sum()),
            "click_rates": log.click_rates().tolist(),
            "problems": [{"kind": one.kind, "text": one.text, "lists": one.n_lists, "example": one.example} for one in self.problems],
        }  # fmt: skip


def _lists(session: IntArray, query: IntArray, n_queries: int) -> tuple[IntArray, list[tuple[int, int]]]:
    """Number of each row's list, by first appearance, and the session and query of each list."""
    distinct, first, inverse = np.unique(session * np.int64(n_queries) + query, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    return number[inverse.reshape(-1)], [(int(key // n_queries), int(key % n_queries)) for key in distinct[order]]


def _programs(of_list: IntArray, lists: IntArray, click: FloatArray, counts: IntArray, most: int) -> BoolArray:
    """Users that are taken for programs: more lists than people look at, or a click on everything they were shown."""
    n_lists = np.bincount(of_list)
    full = np.bincount(lists, click == 1, counts.size) == counts
    all_clicked = np.bincount(of_list, full, n_lists.size) == n_lists
    found: BoolArray = (n_lists > most) | (all_clicked & (n_lists >= _ALL_CLICKED))
    return found
