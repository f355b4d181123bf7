"""Sessions: what each list of results showed, and what was done with it, in columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import array_of, label_column, number_table, real_number
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, shown
from idealrank.stats.randomness import RandomLike, generator_of

MOST_RANKS = 1000
"""Ranks of a list, beyond which no model compares each rank with each other one."""


@dataclass(frozen=True, kw_only=True, eq=False)
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
            Ids of the documents within a query, from the first rank down; None, an empty text or a
            number below 0 where a list is shorter. One document may not stand twice in a list.
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
            Shapes do not fit, a click is neither 0 nor 1 or stands below the end of its list, or a
            list has a document twice.

        Examples
        --------
        >>> log = Sessions.from_arrays([7, 7], [[0, 1], [1, -1]], [[1, 0], [0, 0]])
        >>> log.lengths.tolist(), log.queries
        ([2, 1], ('7',))
        """
        rows = documents if isinstance(documents, np.ndarray) else _object_table(documents)
        if rows.ndim != 2 or not rows.size:
            raise InputError(
                f"documents: found shape {rows.shape}, expected (sessions, ranks); fill shorter "
                "lists up with None"
            )
        clicked = _click_table(clicks, rows.shape)
        labels = label_column("query", query, rows.shape[0], "sessions", blank=True)
        codes, queries = numbered(labels)
        has_document = _has_document(rows)
        if (clicked & ~has_document).any():
            session, place = np.argwhere(clicked & ~has_document)[0]
            raise InputError(
                f"clicks, session {session}, rank {place + 1}: found a click, expected none below "
                "the end of the list"
            )

        # The key of a pair is the number of the query times the number of documents, plus the
        # number of the document; then pairs are numbered by first appearance.
        flat = has_document.reshape(-1)
        document, names = numbered(rows.reshape(-1)[flat])
        keys = np.repeat(codes, rows.shape[1])[flat] * np.int64(len(names)) + document
        numbers, distinct = _by_first_appearance(keys)
        pair = np.full(rows.shape, -1, np.int64)
        pair[has_document] = numbers
        _refuse_twice(pair)
        pairs = tuple(
            (queries[int(key // len(names))], names[int(key % len(names))]) for key in distinct
        )
        users = None if user is None else label_column("user", user, rows.shape[0], "sessions")
        return cls(
            queries=queries,
            documents=pairs,
            query=codes,
            pair=pair,
            clicks=clicked,
            user=users,
            propensity=_propensity(propensity, has_document),
            time=_seconds(time, rows.shape[0]),
        )

    @property
    def n_ranks(self) -> int:
        """Ranks of the longest list."""
        return int(self.pair.shape[1])

    @property
    def lengths(self) -> IntArray:
        """Length of each list."""
        lengths: IntArray = (self.pair >= 0).sum(axis=1)
        return lengths

    @property
    def query_of_pair(self) -> IntArray:
        """Index of the query of each pair of query and document."""
        number_of_query = {query: number for number, query in enumerate(self.queries)}
        return np.array([number_of_query[query] for query, _ in self.documents], np.int64)

    def __len__(self) -> int:
        return int(self.pair.shape[0])

    def select(self, rows: "npt.ArrayLike") -> "Sessions":
        """Sessions of the given rows: indexes, or a boolean array. Queries and pairs keep their
        numbers.

        Examples
        --------
        >>> log = Sessions.from_arrays(["q", "r"], [["a"], ["b"]], [[1], [0]])
        >>> len(log.select([1])), log.select([1]).queries
        (1, ('q', 'r'))
        """
        indexes = self._indexes(rows)
        optional_columns = {
            name: None if column is None else column[indexes]
            for name, column in (
                ("user", self.user),
                ("propensity", self.propensity),
                ("examination", self.examination),
                ("time", self.time),
            )
        }
        return Sessions(
            queries=self.queries,
            documents=self.documents,
            query=self.query[indexes],
            pair=self.pair[indexes],
            clicks=self.clicks[indexes],
            **optional_columns,
        )

    def _indexes(self, rows: "npt.ArrayLike") -> "np.ndarray[Any, Any]":
        """Rows to select, checked."""
        indexes = array_of("rows", rows, "indexes of sessions")
        expected = f"indexes below {len(self)}, or a boolean for each session"
        if indexes.dtype.kind == "b":
            if indexes.shape != (len(self),):
                raise InputError(
                    f"rows: found booleans of shape {indexes.shape}, expected {expected}"
                )
            return indexes
        if indexes.ndim != 1 or (indexes.size and indexes.dtype.kind not in "iu"):
            raise InputError(
                f"rows: found {indexes.dtype} of shape {indexes.shape}, expected {expected}"
            )
        if indexes.size and not (
            -len(self) <= int(indexes.min()) and int(indexes.max()) < len(self)
        ):
            raise InputError(
                f"rows: found {int(indexes.min())} to {int(indexes.max())}, expected {expected}"
            )
        return indexes.astype(np.int64)

    def split(self, share: float, rng: RandomLike = 0) -> "tuple[Sessions, Sessions]":
        """Split at random: a share of the sessions, at least one, and the rest, such as for fitting
        and for perplexity.

        Raises
        ------
        InputError
            There are fewer than two sessions.

        Examples
        --------
        >>> log = Sessions.from_arrays(["q"] * 4, [["a"]] * 4, [[1], [0], [1], [0]])
        >>> [len(part) for part in log.split(0.5)]
        [2, 2]
        """
        first_share = real_number("share", share, "a number between 0 and 1", low=0, high=1)
        if len(self) < 2:
            raise InputError(
                f"sessions: found {len(self)} of the lists of results that users saw, expected at "
                "least 2 to split"
            )
        order = generator_of(rng).permutation(len(self))
        cut = min(max(round(first_share * len(self)), 1), len(self) - 1)
        first = np.sort(order[:cut])
        rest = np.sort(order[cut:])
        return self.select(first), self.select(rest)

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
            raise InputError(
                f"clicks: found none in {len(self):,} lists, expected some; is the column of "
                "clicks the right one?"
            )

    def require_ranks(self, most: int = MOST_RANKS) -> None:
        """Refuse lists that are too long for a table of ranks by ranks.

        Parameters
        ----------
        most : int
            Largest number of ranks.

        Raises
        ------
        InputError
            A list has more ranks.

        Examples
        --------
        >>> Sessions.from_arrays(["q"], [["a", "b"]], [[1, 0]]).require_ranks(2)
        """
        if self.n_ranks > most:
            raise InputError(
                f"sessions: found a list of {self.n_ranks:,} ranks, expected at most {most:,}: "
                "memory or time grow with the square of the ranks; cut the lists, or leave out "
                "lists that no user read"
            )

    def click_rates(self) -> FloatArray:
        """Share of lists with a click at each rank, among lists that are as long.

        Examples
        --------
        >>> Sessions.from_arrays(
        ...     ["q", "q"], [["a", "b"], ["b", "a"]], [[1, 0], [1, 1]]
        ... ).click_rates().tolist()
        [1.0, 0.5]
        """
        n_lists = (self.pair >= 0).sum(axis=0)
        rates: FloatArray = np.divide(
            self.clicks.sum(axis=0), n_lists, out=np.full(self.n_ranks, np.nan), where=n_lists > 0
        )
        return rates


def check_sessions(sessions: object) -> None:
    """Refuse what are no sessions."""
    if not isinstance(sessions, Sessions):
        raise InputError(
            f"sessions: found {shown(type(sessions).__name__)}, expected Sessions",
            hint="make them with Sessions.from_arrays, or read a log",
        )


def nested(
    documents: "Sequence[tuple[str, str]]", values: FloatArray
) -> Mapping[str, Mapping[str, float]]:
    """Values of pairs, as a mapping of queries to mappings of documents."""
    by_query: dict[str, dict[str, float]] = {}
    for (query, document), value in zip(documents, values.tolist(), strict=True):
        by_query.setdefault(query, {})[document] = value
    return by_query


def numbered(labels: "Sequence[Any] | np.ndarray[Any, Any]") -> tuple[IntArray, tuple[str, ...]]:
    """Number ids by first appearance, and list them as texts."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu":
        numbers, distinct = _by_first_appearance(labels.astype(np.int64))
        return numbers, tuple(map(str, distinct.tolist()))
    names: dict[Any, int] = {}
    values = labels.tolist() if isinstance(labels, np.ndarray) else labels
    try:
        numbers = np.fromiter(
            (names.setdefault(label, len(names)) for label in values), np.int64, len(values)
        )
    except TypeError as error:
        raise InputError(f"ids: found {shown(error)}, expected texts or whole numbers") from None
    texts = tuple(map(str, names))
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise InputError(
            f"ids: found {twice!r} and {twice}, a text and a number; expected ids of one type"
        )
    return numbers, texts


def _by_first_appearance(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Number whole numbers by their first appearance, and list them in that order: by a table where
    they are dense, else by a sort.
    """
    low = int(keys.min())
    span = int(keys.max()) - low + 1
    if span <= max(1 << 16, 4 * keys.size):
        first = np.full(span, keys.size, np.int64)
        # Of equal keys, the last one written is the first one of the column.
        first[keys[::-1] - low] = np.arange(keys.size - 1, -1, -1)
        used_keys = np.flatnonzero(first < keys.size)
        ordered = used_keys[np.argsort(first[used_keys])]
        numbers = np.empty(span, np.int64)
        numbers[ordered] = np.arange(ordered.size)
        return numbers[keys - low], ordered + low
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    return number[inverse.reshape(-1)], distinct[order]


def _click_table(clicks: npt.ArrayLike, shape: tuple[int, ...]) -> BoolArray:
    """Clicks of a table of documents of this shape, checked."""
    clicked = array_of("clicks", clicks, "0 or 1")
    if clicked.dtype.kind not in "biuf":
        clicked = number_table("clicks", clicked)
    if clicked.shape != shape:
        raise InputError(f"clicks: found shape {clicked.shape}, expected {shape}, as of documents")
    wrong = ~np.isin(clicked, (0, 1))
    if wrong.any():
        session, place = np.argwhere(wrong)[0]
        raise InputError(
            f"clicks, session {session}, rank {place + 1}: found {clicked[session, place]}, "
            "expected 0 or 1"
        )
    return clicked.astype(bool)


def _has_document(rows: "np.ndarray[Any, Any]") -> BoolArray:
    """Mark places that hold a document; below a list's end nothing may stand."""
    if rows.dtype.kind in "iu":
        has_document = rows >= 0
    elif rows.dtype.kind in "US":
        has_document = rows != rows.dtype.type()
    elif rows.dtype == object:
        flat = np.array([_is_id(value) for value in rows.reshape(-1)], bool)
        has_document = flat.reshape(rows.shape)
    else:
        raise InputError(
            f"documents: found values of type {rows.dtype}, expected ids: texts or whole numbers"
        )
    if not has_document.any():
        raise InputError("documents: found no document, expected at least one list with one")
    gap = has_document[:, 1:] & ~has_document[:, :-1]
    if gap.any():
        session, place = np.argwhere(gap)[0]
        raise InputError(
            f"documents, session {session}, rank {place + 1}: found no document above rank "
            f"{place + 2}, which has one"
        )
    return np.asarray(has_document, bool)


def _is_id(value: Any) -> bool:
    if isinstance(value, (int, float, np.number)) and not isinstance(value, complex):
        return bool(value >= 0)
    return not (value is None or (isinstance(value, (str, bytes)) and not value))


def _object_table(documents: Any) -> "np.ndarray[Any, Any]":
    try:
        return np.asarray(documents, object)
    except ValueError as error:
        raise InputError(
            f"documents: found no table ({shown(error)}), expected shape (sessions, ranks)"
        ) from None


def _seconds(time: Any, n: int) -> FloatArray | None:
    if time is None:
        return None
    seconds = number_table("time", time)
    if seconds.shape != (n,) or not np.isfinite(seconds).all():
        raise InputError(
            f"time: found shape {seconds.shape}, expected finite seconds, one for each of the {n} "
            "sessions"
        )
    return seconds


def _refuse_twice(pair: IntArray) -> None:
    ordered = np.sort(pair, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any():
        row = int(twice.any(axis=1).argmax())
        raise InputError(
            f"documents, session {row}: found one document at two ranks, expected each once"
        )


def _propensity(propensity: Any, has_document: BoolArray) -> FloatArray | None:
    if propensity is None:
        return None
    probabilities = number_table("propensity", propensity)
    if probabilities.shape != has_document.shape:
        raise InputError(
            f"propensity: found shape {probabilities.shape}, expected {has_document.shape}, as of "
            "documents"
        )
    wrong = has_document & ~((probabilities > 0) & (probabilities <= 1))
    if wrong.any():
        session, place = np.argwhere(wrong)[0]
        raise InputError(
            f"propensity, session {session}, rank {place + 1}: found "
            f"{probabilities[session, place]:g}, expected a probability above 0, up to 1"
        )
    return probabilities
