"""Rows of a click log, one a result shown: what is wrong with them, and the sessions of those that
make sense.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from idealrank.clicks.arguments import number_table
from idealrank.clicks.sessions import Sessions, numbered
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.stats.randomness import whole_number

MOST_LISTS_OF_A_USER = 1000
"""Lists of one user in a log beyond which it is taken for a program."""
MOST_RESULTS = 1000
"""Results of a list, beyond which it is taken for an export: a table of all lists has a column for
each rank of the longest.
"""
SEVERAL = "|"
"""Between the actions of one result, where a log has several."""
_NUMBERS = ("rank", "click", "propensity", "dwell", "time", "covariate", "period")
_ALL_CLICKED = 20  # fewest lists of which a program clicked every result; people may, of a few


@dataclass(frozen=True, kw_only=True)
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
    >>> LogProblem(
    ...     kind="ranks",
    ...     text="ranks that are not 1, 2, 3, ...",
    ...     n_lists=1,
    ...     example="session s1, query q1",
    ... ).n_lists
    1
    """

    kind: str
    text: str
    n_lists: int
    example: str


@dataclass(frozen=True, kw_only=True, eq=False)
class LogRows:
    """Columns of a click log, one row a result shown. A list is what one session showed for one
    query.

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
    action : sequence of str, or None
        Name of the best action on the result, such as ``booked``, for `grades_of_actions`; several
        are joined by ``|``.
    dwell : float64 array, or None
        Seconds that the user spent on the document; 0 without a click.
    time : float64 array, or None
        When it was shown: seconds, of the same clock in all rows.
    cohort : sequence of str, or None
        Cohort of an A/B test that the list was shown to.
    covariate : float64 array, or None
        Value of the user from before an A/B test, such as clicks per list.
    period : float64 array, or None
        Number of the period of an A/B test, such as its day.

    Examples
    --------
    >>> rows = LogRows(
    ...     session=["s", "s"],
    ...     query=["q", "q"],
    ...     document=["a", "b"],
    ...     rank=np.array([1.0, 2.0]),
    ...     click=np.array([0.0, 1.0]),
    ... )
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
    action: Sequence[str] | None = None
    dwell: FloatArray | None = None
    time: FloatArray | None = None
    cohort: Sequence[str] | None = None
    covariate: FloatArray | None = None
    period: FloatArray | None = None

    def redacted(self, key: bytes = b"") -> "LogRows":
        """Replace sessions, users and queries by hashes (BLAKE2b, 64 bits); documents, actions and
        times stay.

        Equal texts have equal hashes. Without a key, guesses can be checked against the hashes:
        most queries and many users' ids can be guessed.

        Parameters
        ----------
        key : bytes
            Secret of at most 64 bytes, without which no hash of a guess fits.

        Examples
        --------
        >>> rows = LogRows(
        ...     session=["s"],
        ...     query=["my name"],
        ...     document=["a"],
        ...     rank=np.array([1.0]),
        ...     click=np.array([0.0]),
        ... ).redacted()
        >>> len(rows.query[0]), rows.document
        (16, ['a'])
        """
        if not isinstance(key, bytes):
            raise OptionError(
                f"key={shown(repr(key))}: expected at most {blake2b.MAX_KEY_SIZE} bytes"
            )
        if len(key) > blake2b.MAX_KEY_SIZE:
            raise InputError(
                f"key: found {len(key)} bytes, expected at most {blake2b.MAX_KEY_SIZE}"
            )

        def digest(text: str) -> str:
            content = str(text).encode("utf-8", "surrogatepass")
            return blake2b(content, digest_size=8, key=key).hexdigest()

        def hashed(texts: Sequence[str]) -> list[str]:
            hashes = {text: digest(text) for text in set(texts)}
            return [hashes[text] for text in texts]

        user = None if self.user is None else hashed(self.user)
        return replace(self, session=hashed(self.session), query=hashed(self.query), user=user)

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
        limit = whole_number("most_lists", most_lists)
        rows = checked_rows(self)
        table = _Table.of(rows)
        kept = np.ones(table.counts.size, bool)
        problems = []
        for kind, text, wrong in table.problems(rows, limit):
            lists = np.flatnonzero(wrong)
            if lists.size:
                problems.append(
                    LogProblem(
                        kind=kind, text=text, n_lists=lists.size, example=table.name(lists[0])
                    )
                )
                kept[lists] = False
        if not kept.any():
            counts = "; ".join(f"{problem.text}: {problem.n_lists:,}" for problem in problems)
            raise InputError(f"click log: found no list that makes sense ({counts}), expected some")

        first = table.first_rows(kept)
        by_list = {"cohort": rows.cohort, "covariate": rows.covariate, "period": rows.period}
        return LogCheck(
            n_rows=table.list_of_row.size,
            n_lists=kept.size,
            n_kept=int(kept.sum()),
            problems=tuple(problems),
            from_zero=table.from_zero,
            sessions=table.sessions(rows, kept),
            kept_rows=kept[table.list_of_row],
            **{
                name: None if column is None else np.asarray(column)[first]
                for name, column in by_list.items()
            },
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class LogCheck:
    """Problems of a log, and the sessions that make sense.

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
    kept_rows : bool array, shape (rows,)
        Whether a row stands in a list that makes sense.
    cohort : array of str, shape (sessions,), or None
        Cohort of each list that makes sense.
    covariate, period : float64 array, shape (sessions,), or None
        Value of its user from before the A/B test, and its period.

    Examples
    --------
    >>> rows = LogRows(
    ...     session=["s", "t"],
    ...     query=["q", "q"],
    ...     document=["a", "b"],
    ...     rank=np.array([1.0, 2.0]),
    ...     click=np.array([0.0, 1.0]),
    ... )
    >>> [problem.kind for problem in rows.check().problems]
    ['ranks']
    """

    n_rows: int
    n_lists: int
    n_kept: int
    problems: tuple[LogProblem, ...]
    from_zero: bool
    sessions: Sessions = field(repr=False)
    kept_rows: BoolArray = field(repr=False)
    cohort: "np.ndarray[Any, Any] | None" = field(default=None, repr=False)
    covariate: FloatArray | None = field(default=None, repr=False)
    period: FloatArray | None = field(default=None, repr=False)

    def as_dict(self) -> Mapping[str, Any]:
        """Return the JSON record."""
        log = self.sessions
        return {
            "rows": self.n_rows,
            "lists": self.n_lists,
            "kept": self.n_kept,
            "ranks_from_zero": self.from_zero,
            "queries": len(log.queries),
            "pairs": len(log.documents),
            "ranks": log.n_ranks,
            "clicks": int(log.clicks.sum()),
            "click_rates": log.click_rates().tolist(),
            "problems": [
                {
                    "kind": problem.kind,
                    "text": problem.text,
                    "lists": problem.n_lists,
                    "example": problem.example,
                }
                for problem in self.problems
            ],
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class _Table:
    """Rows of a log with numbers instead of ids, their lists, and their order by list and rank."""

    session_names: tuple[str, ...]
    queries: tuple[str, ...]
    documents: tuple[str, ...]
    # query, document, list_of_row, rank: shape (rows,): numbers of the query, document and list of
    # each row, and its rank from 1
    query: IntArray
    document: IntArray
    list_of_row: IntArray
    rank: FloatArray
    from_zero: bool  # Whether the log counts ranks from 0
    # list_key, counts: shape (lists,): session times the number of queries, plus query; and rows
    list_key: IntArray
    counts: IntArray
    # order, place: shape (rows,): rows sorted by list and rank, and the place of each sorted row in
    # its list
    order: IntArray
    place: IntArray

    @classmethod
    def of(cls, rows: LogRows) -> "_Table":
        session, sessions = numbered(rows.session)
        query, queries = numbered(rows.query)
        document, documents = numbered(rows.document)
        distinct, first_rows, inverse = np.unique(
            session * np.int64(len(queries)) + query, return_index=True, return_inverse=True
        )
        # Lists are numbered by their first row.
        by_first = np.argsort(first_rows)
        list_number = np.empty(by_first.size, np.int64)
        list_number[by_first] = np.arange(by_first.size)
        list_of_row = list_number[inverse.reshape(-1)]

        from_zero = bool((rows.rank == 0).any())
        rank = rows.rank + 1 if from_zero else rows.rank
        counts = np.bincount(list_of_row)
        place = np.arange(list_of_row.size) - np.repeat(np.cumsum(counts) - counts, counts)
        order = np.lexsort((rank, list_of_row))
        return cls(
            session_names=sessions,
            queries=queries,
            documents=documents,
            query=query,
            document=document,
            list_of_row=list_of_row,
            list_key=distinct[by_first],
            rank=rank,
            from_zero=from_zero,
            counts=counts,
            order=order,
            place=place,
        )

    def name(self, number: int) -> str:
        """Session and query of a list."""
        session, query = divmod(int(self.list_key[number]), len(self.queries))
        return f"session {self.session_names[session]}, query {self.queries[query]}"

    def problems(self, rows: LogRows, most_lists: int) -> Iterator[tuple[str, str, BoolArray]]:
        """Each kind of problem, with the lists that have it."""
        twice = self._repeats(self.document)
        repeated = self._repeats(self.rank)
        yield (
            "duplicates",
            "rows that come twice: same list, rank and document",
            self._lists_with(twice & repeated),
        )
        yield (
            "documents",
            "a document at two ranks of one list",
            self._lists_with(twice & ~repeated),
        )
        gaps = np.zeros(self.list_of_row.size, bool)
        gaps[self.order] = self.rank[self.order] != self.place + 1
        yield "ranks", "ranks that are not 1, 2, 3, ...", self._lists_with(gaps)
        yield (
            "lengths",
            f"lists of more than {MOST_RESULTS:,} results, which no user reads",
            self.counts > MOST_RESULTS,
        )
        yield (
            "clicks",
            "clicks that are neither 0 nor 1",
            self._lists_with(~np.isin(rows.click, (0, 1))),
        )
        blank = [number for number, name in enumerate(self.documents) if not name]
        yield (
            "documents_empty",
            "results without an id",
            self._lists_with(np.isin(self.document, blank)),
        )

        if rows.propensity is not None:
            wrong = ~((rows.propensity > 0) & (rows.propensity <= 1))
            yield (
                "propensities",
                "propensities that are not above 0 and up to 1",
                self._lists_with(wrong),
            )
        if rows.cohort is not None:
            cohort, _ = numbered(rows.cohort)
            differs = self._by_list(cohort)[self.list_of_row] != cohort
            yield "cohorts", "rows of two cohorts in one list", self._lists_with(differs)
        if rows.user is not None:
            user, _ = numbered(rows.user)
            user_of_list = self._by_list(user)
            differs = user_of_list[self.list_of_row] != user
            yield "users", "rows of two users in one list", self._lists_with(differs)
            n_clicks = np.bincount(self.list_of_row, rows.click == 1, self.counts.size)
            is_program = _programs(user_of_list, n_clicks == self.counts, most_lists)
            yield (
                "programs",
                f"lists of users with more than {most_lists:,} lists, or with a click on "
                "everything",
                is_program[user_of_list],
            )

    def _by_list(self, numbers: IntArray) -> IntArray:
        """Number of the last row of each list."""
        of_lists = np.zeros(self.counts.size, np.int64)
        of_lists[self.list_of_row] = numbers
        return of_lists

    def _repeats(self, values: "IntArray | FloatArray") -> BoolArray:
        """Mark rows whose value stands in an earlier row of their list."""
        order = np.lexsort((values, self.list_of_row))
        is_repeated = np.zeros(self.list_of_row.size, bool)
        is_repeated[order[1:]] = (np.diff(self.list_of_row[order]) == 0) & (
            np.diff(values[order]) == 0
        )
        return is_repeated

    def _lists_with(self, rows: BoolArray) -> BoolArray:
        """Mark lists that have a marked row."""
        has_row: BoolArray = np.bincount(self.list_of_row[rows], minlength=self.counts.size) > 0
        return has_row

    def _sorted_rows(self, kept: BoolArray) -> IntArray:
        """Rows of the lists that make sense, by list and rank."""
        rows: IntArray = self.order[kept[self.list_of_row[self.order]]]
        return rows

    def first_rows(self, kept: BoolArray) -> IntArray:
        """Row of the first rank of each list that makes sense."""
        rows = self._sorted_rows(kept)
        firsts: IntArray = rows[self.rank[rows] == 1]
        return firsts

    def sessions(self, log: LogRows, kept: BoolArray) -> Sessions:
        """Sessions of the lists that make sense."""
        rows = self._sorted_rows(kept)
        row = (np.cumsum(kept) - 1)[self.list_of_row[rows]]
        column = self.rank[rows].astype(np.int64) - 1
        shape = (int(row[-1]) + 1, int(column.max()) + 1)

        def table(values: Any, otherwise: float) -> Any:
            cells = np.full(shape, otherwise, np.asarray(values).dtype)
            cells[row, column] = np.asarray(values)[rows]
            return cells

        first = rows[column == 0]
        user = None
        if log.user is not None:
            user = np.array([log.user[number] for number in first.tolist()])
        propensity = None if log.propensity is None else table(log.propensity, 1.0)
        time = None if log.time is None else log.time[first]
        by_number = Sessions.from_arrays(
            self.query[first],
            table(self.document, -1),
            table(log.click, 0),
            user=user,
            propensity=propensity,
            time=time,
        )
        pairs = tuple(
            (self.queries[int(query)], self.documents[int(document)])
            for query, document in by_number.documents
        )
        queries = tuple(self.queries[int(query)] for query in by_number.queries)
        return replace(by_number, queries=queries, documents=pairs)


def checked_rows(rows: LogRows) -> LogRows:
    """Return rows whose columns have one length and the type of their role; each list without a
    user has one of its own.
    """
    n = len(_texts("session", rows.session, None))
    if not n:
        raise InputError("click log: found no row, expected one for each result shown")
    columns: dict[str, Any] = {}
    for column in fields(rows):
        values = getattr(rows, column.name)
        if values is None and column.default is None:
            continue
        if column.name not in _NUMBERS:
            columns[column.name] = _texts(column.name, values, n)
            continue
        numbers = number_table(column.name, getattr(rows, column.name))
        if numbers.shape != (n,):
            raise InputError(
                f"{column.name}: found shape {numbers.shape}, expected one number for each of the "
                f"{n} rows"
            )
        columns[column.name] = numbers
    if "user" in columns and "" in set(columns["user"]):
        columns["user"] = [
            user or f"(session {session})"
            for user, session in zip(columns["user"], rows.session, strict=True)
        ]
    return replace(rows, **columns)


def _texts(name: str, values: Any, n: int | None) -> Sequence[str]:
    """A column of ids, which stays as it is: a table of texts would need far more memory."""
    expected = "one text for each row" if n is None else f"one text for each of the {n} rows"
    if isinstance(values, np.ndarray) and values.ndim == 1:
        values = values.tolist()
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise InputError(f"{name}: found {shown(type(values).__name__)}, expected {expected}")
    if n is not None and len(values) != n:
        raise InputError(f"{name}: found {len(values)} values, expected {expected}")
    try:
        distinct = set(values)
    except TypeError as error:
        raise InputError(f"{name}: found {shown(error)}, expected texts") from None
    wrong = next(
        (
            value
            for value in distinct
            if not isinstance(value, (str, int)) or isinstance(value, bool)
        ),
        None,
    )
    if wrong is not None or None in distinct:
        raise InputError(f"{name}: found {shown(repr(wrong))}, expected texts or whole numbers")
    return values


def _programs(user_of_list: IntArray, all_clicked: BoolArray, most_lists: int) -> BoolArray:
    """Users that are taken for programs: more lists than people look at, or a click on everything
    they were shown.
    """
    n_lists = np.bincount(user_of_list)
    always = np.bincount(user_of_list, all_clicked, n_lists.size) == n_lists
    is_program: BoolArray = (n_lists > most_lists) | (always & (n_lists >= _ALL_CLICKED))
    return is_program
