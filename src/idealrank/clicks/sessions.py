"""Sessions: what each list of results showed, and what was done with it, in columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError


@dataclass(frozen=True, eq=False)
class Sessions:
    """Lists of results, each with its clicks: one row a session, one column a rank.

    Attributes
    ----------
    queries : tuple of str
        Each query once, in the order of its first session.
    documents : tuple of (str, str)
        Each pair of query and document once.
    query : int64 array, shape (sessions,)
        Index of each session's query in `queries`.
    pair : int64 array, shape (sessions, ranks)
        Index in `documents` of what stands at each rank; -1 below the end of a shorter list.
    clicks : bool array, shape (sessions, ranks)
        Whether it was clicked.
    user : array of labels, shape (sessions,), or None
        Whose session it is.
    propensity : float64 array, shape (sessions, ranks), or None
        Probability with which the logging policy showed this document at this rank.
    examination : float64 array, shape (sessions, ranks), or None
        Of simulated sessions, the true probability of examination.
    time : float64 array, shape (sessions,), or None
        When the first result was shown, in seconds.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["b", "a"]], [[1, 0], [0, 1]])
    >>> len(log), log.n_ranks, log.documents
    (2, 2, (('q', 'a'), ('q', 'b')))
    """

    queries: tuple[str, ...]
    documents: tuple[tuple[str, str], ...]
    query: IntArray
    pair: IntArray
    clicks: BoolArray
    user: "np.ndarray[Any, Any] | None" = None
    propensity: FloatArray | None = None
    examination: FloatArray | None = field(default=None, repr=False)
    time: FloatArray | None = field(default=None, repr=False)

    @classmethod
    def from_arrays(
        cls,
        query: "Sequence[Any] | npt.ArrayLike",
        documents: "Sequence[Sequence[Any]] | npt.ArrayLike",
        clicks: npt.ArrayLike,
        *,
        user: "Sequence[Any] | npt.ArrayLike | None" = None,
        propensity: npt.ArrayLike | None = None,
        time: npt.ArrayLike | None = None,
    ) -> "Sessions":
        """Build sessions from arrays.

        Parameters
        ----------
        query : sequence, shape (sessions,)
            Query of each session.
        documents : array, shape (sessions, ranks)
            Ids of the documents within a query, from the first rank down; None, an empty text or a number below 0 where a list is shorter.
            One document may not stand twice in a list.
        clicks : array of 0 and 1, shape (sessions, ranks)
            Whether each was clicked.
        user : sequence, shape (sessions,), optional
            Whose session it is.
        propensity : array, shape (sessions, ranks), optional
            Probability, in (0, 1], with which the logging policy showed this document at this rank.
        time : array, shape (sessions,), optional
            When each was shown, in seconds.

        Raises
        ------
        InputError
            Shapes do not fit, a click is neither 0 nor 1 or stands below the end of its list, or a list has a document twice.

        Examples
        --------
        >>> log = Sessions.from_arrays([7, 7], [[0, 1], [1, -1]], [[1, 0], [0, 0]])
        >>> log.lengths.tolist(), log.queries
        ([2, 1], ('7',))
        """
        rows = np.asarray(documents, object) if not isinstance(documents, np.ndarray) else documents
        if rows.ndim != 2 or not rows.size:
            raise InputError(f"documents: found shape {rows.shape}, expected (sessions, ranks); fill shorter lists up with None")
        clicked = np.asarray(clicks)
        if clicked.shape != rows.shape:
            raise InputError(f"clicks: found shape {clicked.shape}, expected {rows.shape}, as of documents")
        if not np.isin(clicked, (0, 1)).all():
            where = np.argwhere(~np.isin(clicked, (0, 1)))[0]
            raise InputError(f"clicks, session {where[0]}, rank {where[1] + 1}: found {clicked[tuple(where)]}, expected 0 or 1")
        labels = np.asarray(query)
        if labels.shape != rows.shape[:1]:
            raise InputError(f"query: found shape {labels.shape}, expected one query for each of the {rows.shape[0]} sessions")
        codes, queries = numbered(labels)
        shown = _shown(rows)
        clicked = clicked.astype(bool)
        if (clicked & ~shown).any():
            where = np.argwhere(clicked & ~shown)[0]
            raise InputError(f"clicks, session {where[0]}, rank {where[1] + 1}: found a click, expected none below the end of the list")
        flat = shown.reshape(-1)
        own, names = numbered(rows.reshape(-1)[flat])
        keys = np.repeat(codes, rows.shape[1])[flat] * np.int64(len(names)) + own
        numbers, distinct = _by_first_appearance(keys)
        pair = np.full(rows.shape, -1, np.int64)
        pair[shown] = numbers
        _refuse_twice(pair)
        pairs = tuple((queries[int(key // len(names))], names[int(key % len(names))]) for key in distinct)
        whose, when = _labels("user", user, rows.shape[0]), _labels("time", time, rows.shape[0])
        seconds = None if when is None else when.astype(np.float64)
        return cls(queries, pairs, codes, pair, clicked, whose, _propensity(propensity, shown), time=seconds)

    @property
    def n_ranks(self) -> int:
        """Ranks of the longest list."""
        return int(self.pair.shape[1])

    @property
    def lengths(self) -> IntArray:
        """Length of each list."""
        found: IntArray = (self.pair >= 0).sum(axis=1)
        return found

    @property
    def query_of_pair(self) -> IntArray:
        """Index of the query of each pair of query and document."""
        place = {query: number for number, query in enumerate(self.queries)}
        return np.array([place[query] for query, _ in self.documents], np.int64)

    def __len__(self) -> int:
        return int(self.pair.shape[0])

    def select(self, rows: "npt.ArrayLike") -> "Sessions":
        """Sessions of the given rows: indexes, or a boolean array. Queries and pairs keep their numbers.

        Examples
        --------
        >>> log = Sessions.from_arrays(["q", "r"], [["a"], ["b"]], [[1], [0]])
        >>> len(log.select([1])), log.select([1]).queries
        (1, ('q', 'r'))
        """
        wanted = np.asarray(rows)
        own = {name: None if column is None else column[wanted] for name, column in
               (("user", self.user), ("propensity", self.propensity), ("examination", self.examination), ("time", self.time))}  # fmt: skip
        return Sessions(self.queries, self.documents, self.query[wanted], self.pair[wanted], self.clicks[wanted], **own)

    def split(self, share: float, rng: "np.random.Generator | int" = 0) -> "tuple[Sessions, Sessions]":
        """Split at random: a share of the sessions, and the rest, such as for fitting and for perplexity.

        Examples
        --------
        >>> log = Sessions.from_arrays(["q"] * 4, [["a"]] * 4, [[1], [0], [1], [0]])
        >>> [len(part) for part in log.split(0.5)]
        [2, 2]
        """
        if not 0 < share < 1:
            raise OptionError(f"share={share}: expected a number between 0 and 1")
        order = np.random.default_rng(rng).permutation(len(self))
        cut = round(share * len(self))
        return self.select(np.sort(order[:cut])), self.select(np.sort(order[cut:]))

    def require_click(self) -> None:
        """Refuse a log without a click, which says nothing about propensities.

        Raises
        ------
        InputError
            No list has a click.

        Examples
        --------
        >>> Sessions.from_arrays(["q"], [["a", "b"]], [[1, 0]]).require_click()
        """
        if not self.clicks.any():
            raise InputError(f"clicks: found none in {len(self):,} lists, expected some; is the column of clicks the right one?")

    def click_rates(self) -> FloatArray:
        """Share of lists with a click at each rank, of those that reach it.

        Examples
        --------
        >>> Sessions.from_arrays(["q", "q"], [["a", "b"], ["b", "a"]], [[1, 0], [1, 1]]).click_rates().tolist()
        [1.0, 0.5]
        """
        shown = (self.pair >= 0).sum(axis=0)
        found: FloatArray = np.divide(self.clicks.sum(axis=0), shown, out=np.full(self.n_ranks, np.nan), where=shown > 0)
        return found


def nested(documents: "Sequence[tuple[str, str]]", values: FloatArray) -> Mapping[str, Mapping[str, float]]:
    """Values of pairs, as a mapping of queries to mappings of documents.

    Examples
    --------
    >>> nested([("q", "a"), ("q", "b")], np.array([0.5, 1.0]))
    {'q': {'a': 0.5, 'b': 1.0}}
    """
    found: dict[str, dict[str, float]] = {}
    for (query, document), value in zip(documents, values.tolist(), strict=True):
        found.setdefault(query, {})[document] = value
    return found


def numbered(labels: "Sequence[Any] | np.ndarray[Any, Any]") -> tuple[IntArray, tuple[str, ...]]:
    """Number ids by first appearance, and list them as texts.

    Raises
    ------
    InputError
        A text and a number are the same id.

    Examples
    --------
    >>> numbers, names = numbered(["b", "a", "b"])
    >>> numbers.tolist(), names
    ([0, 1, 0], ('b', 'a'))
    """
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu":
        numbers, distinct = _by_first_appearance(labels.astype(np.int64))
        return numbers, tuple(map(str, distinct.tolist()))
    names: dict[Any, int] = {}
    given = labels.tolist() if isinstance(labels, np.ndarray) else labels
    numbers = np.fromiter((names.setdefault(label, len(names)) for label in given), np.int64, len(given))
    texts = tuple(map(str, names))
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise InputError(f"ids: found {twice!r} and {twice}, a text and a number; expected ids of one type")
    return numbers, texts


def _by_first_appearance(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Number whole numbers by their first appearance, and list them in that order: by a table where they are dense, else by a sort."""
    low, span = int(keys.min()), int(keys.max()) - int(keys.min()) + 1
    if span <= max(1 << 16, 4 * keys.size):
        first = np.full(span, keys.size, np.int64)
        first[keys[::-1] - low] = np.arange(keys.size - 1, -1, -1)  # of equal keys, the last one written is the first one of the column
        seen = np.flatnonzero(first < keys.size)
        ordered = seen[np.argsort(first[seen])]
        table = np.empty(span, np.int64)
        table[ordered] = np.arange(ordered.size)
        return table[keys - low], ordered + low
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    return number[inverse.reshape(-1)], distinct[order]


def _shown(rows: "np.ndarray[Any, Any]") -> BoolArray:
    """Mark places that hold a document; below a list's end nothing may stand."""
    if rows.dtype.kind in "iu":
        found = rows >= 0
    elif rows.dtype.kind in "US":
        found = rows != rows.dtype.type()
    elif rows.dtype == object:
        found = np.array([not (one is None or one == "" or (isinstance(one, (int, float)) and not one >= 0)) for one in rows.reshape(-1)])
        found = found.reshape(rows.shape)
    else:
        raise InputError(f"documents: found values of type {rows.dtype}, expected ids: texts or whole numbers")
    if not found.any():
        raise InputError("documents: found no document, expected at least one list with one")
    gap = found[:, 1:] & ~found[:, :-1]
    if gap.any():
        where = np.argwhere(gap)[0]
        raise InputError(f"documents, session {where[0]}, rank {where[1] + 1}: found no document above rank {where[1] + 2}, which has one")
    return np.asarray(found, bool)


def _refuse_twice(pair: IntArray) -> None:
    ordered = np.sort(pair, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any():
        row = int(np.argwhere(twice)[0][0])
        raise InputError(f"documents, session {row}: found one document at two ranks, expected each once")


def _labels(name: str, given: Any, n: int) -> "np.ndarray[Any, Any] | None":
    if given is None:
        return None
    found = np.asarray(given)
    if found.shape != (n,):
        raise InputError(f"{name}: found shape {found.shape}, expected one label for each of the {n} sessions")
    return found


def _propensity(given: Any, shown: BoolArray) -> FloatArray | None:
    if given is None:
        return None
    found = np.asarray(given, np.float64)
    if found.shape != shown.shape:
        raise InputError(f"propensity: found shape {found.shape}, expected {shown.shape}, as of documents")
    wrong = shown & ~((found > 0) & (found <= 1))
    if wrong.any():
        where = np.argwhere(wrong)[0]
        value = found[tuple(where)]
        raise InputError(f"propensity, session {where[0]}, rank {where[1] + 1}: found {value:g}, expected a probability above 0, up to 1")
    return found
