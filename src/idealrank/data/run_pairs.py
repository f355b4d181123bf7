"""Two runs joined query by query: where each document that both returned stands in either list."""

from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from idealrank import _kernel
from idealrank.data.judged import Top
from idealrank.data.problems import translate
from idealrank.data.run import KERNEL_TIES, Run
from idealrank.data.types import AnyArray, BoolArray, IntArray, QueryIds, ShortArray, decode_id
from idealrank.errors import OptionError

PairTies: TypeAlias = Literal["shared", "docid", "docid-ascending", "input", "expected"]
PairDuplicates: TypeAlias = Literal["error", "first", "last", "best"]

_FAR = np.iinfo(np.int32).max  # the rank of a document that is not looked at

# The words other tools and papers use for the same policies.
_SPELLINGS = {"average": "expected", "half": "expected", "docid-descending": "docid"}


class Side(NamedTuple):
    """One of the two runs: its lists, and where the common documents stand in them."""

    # lengths, tied: shape (n_queries,): list lengths, and how many documents of each list share
    # their score with another
    lengths: IntArray
    tied: IntArray
    # rank, first, last: shape (n_common,): rank of each common document, and first and last rank of
    # its tie group; all three equal where ties have an order
    rank: IntArray
    first: IntArray
    last: IntArray
    # group_first, group_last: shape (sum of lengths,): the same for every rank of every list, one
    # list after the other; None where ties have an order or there are none
    group_first: ShortArray | None = None
    group_last: ShortArray | None = None


class RunPairs(NamedTuple):
    """The queries that both runs answer, and the documents that both returned."""

    queries: QueryIds  # Ids of the queries of both, in the order of the first run
    query: IntArray  # shape (n_common,): query code of each common document, rising
    # a, b: The two runs
    a: Side
    b: Side
    ties: PairTies  # What tied scores mean, see `join`
    # only_a, only_b: Queries that only one of the runs answers
    only_a: QueryIds
    only_b: QueryIds

    @property
    def n_queries(self) -> int:
        """Number of queries that both runs answer."""
        return len(self.queries)

    @property
    def common(self) -> IntArray:
        """Documents of each query that both lists have, shape (n_queries,)."""
        return np.bincount(self.query, minlength=self.n_queries)

    @property
    def longer(self) -> IntArray:
        """Length of the longer list of each query, shape (n_queries,)."""
        return np.maximum(self.a.lengths, self.b.lengths)


def join(
    run_a: Run,
    run_b: Run,
    *,
    ties: str = "shared",
    duplicates: str = "error",
    depth: int = 0,
    threads: int = 0,
    progress: _kernel.Progress | None = None,
) -> RunPairs:
    """Rank both runs and look every document of the second up in the first.

    A query with an empty list counts as not answered.
    """
    policy: PairTies = _checked("ties", ties, get_args(PairTies))
    work = _Work(
        policy,
        _checked("duplicates", duplicates, get_args(PairDuplicates)),
        threads,
        progress,
        depth,
    )
    if depth and policy in ("shared", "expected"):
        raise OptionError(
            f"depth={depth} with ties={policy}: only lists with ordered ties can be cut"
        )

    # Judged documents of the kernel are here the documents of the first run.
    table = work.table(run_a)
    own = work.align(table, table, run_a)
    cross = work.align(table, run_b.source, run_b)
    n = table.n_queries
    length_a, length_b = own.length[:n], cross.length[:n]
    both = (length_a > 0) & (length_b > 0)
    kept = np.flatnonzero(both)

    code_of = np.cumsum(both) - 1
    query = code_of[np.repeat(np.arange(n), np.diff(cross.hit_offsets[: n + 1]))]
    row = cross.hit_row
    ranks_a = _Ranks(*(_by_row(column, own.hit_row, row, table.n_rows) for column in _ranks(own)))
    ranks_b = _Ranks(*(column.astype(np.int64) for column in _ranks(cross)))
    a = Side(
        length_a[kept], own.tied[kept].astype(np.int64), ranks_a.rank, ranks_a.first, ranks_a.last
    )
    b = Side(
        length_b[kept], cross.tied[kept].astype(np.int64), ranks_b.rank, ranks_b.first, ranks_b.last
    )
    if policy in ("shared", "expected"):
        a = _with_groups(a, own, kept)
        b = _with_groups(b, *_self_aligned(work, run_b, table, kept, b))
    else:
        a, b = _in_order(a), _in_order(b)
    only_a, only_b = _lonely(table, cross, length_a, length_b)
    return RunPairs(
        queries=_ids(table, kept), query=query, a=a, b=b, ties=policy, only_a=only_a, only_b=only_b
    )


def join_top(a: Top, b: Top, *, ties: str, depth: int, threads: int = 0) -> RunPairs:
    """Join two runs by the first documents that their alignments kept, in the order that these gave
    them.
    """
    policy: PairTies = _checked("ties", ties, get_args(PairTies))
    table, n = a.table, a.table.n_queries
    # The scores fall with the ranks, and those that tie stand in their order already.
    cross = _kernel.align(
        table, b.table, ties="input", duplicates="error", depth=depth, threads=threads
    )
    of_b = _places(table, b.table)
    length_b = np.where(of_b >= 0, np.append(b.lengths, 0)[of_b], 0)
    both = (a.lengths > 0) & (length_b > 0)
    kept = np.flatnonzero(both)
    owner = np.repeat(np.arange(n), np.diff(cross.hit_offsets[: n + 1]))
    rank_a, rank_b = cross.hit_row - table.offsets[owner] + 1, cross.hit_rank.astype(np.int64)
    within = rank_a <= depth
    code_of = np.cumsum(both) - 1
    query, rank_a, rank_b = code_of[owner[within]], rank_a[within], rank_b[within]
    side_a = Side(a.lengths[kept], a.n_tied[kept], rank_a, rank_a, rank_a)
    side_b = Side(length_b[kept], b.n_tied[of_b[kept]], rank_b, rank_b, rank_b)
    lonely_b = b.lengths > 0
    lonely_b[of_b[kept]] = False
    only_a = _ids(table, np.flatnonzero((a.lengths > 0) & ~both))
    only_b = _ids(b.table, np.flatnonzero(lonely_b))
    return RunPairs(
        queries=_ids(table, kept),
        query=query,
        a=side_a,
        b=side_b,
        ties=policy,
        only_a=only_a,
        only_b=only_b,
    )


def _places(table: _kernel.Table, other: _kernel.Table) -> IntArray:
    """Number of each query of a table in the other; -1 where that does not have it."""
    place = {query: number for number, query in enumerate(other.query_ids())}
    return np.fromiter(
        (place.get(query, -1) for query in table.query_ids()), np.int64, table.n_queries
    )


class _Ranks(NamedTuple):
    """Ranks of the common documents in one run."""

    rank: IntArray
    first: IntArray
    last: IntArray


class _Work(NamedTuple):
    """Options of the kernel for this pair."""

    ties: PairTies
    duplicates: PairDuplicates
    threads: int
    progress: _kernel.Progress | None
    depth: int

    def table(self, run: Run) -> _kernel.Table:
        """The run in memory."""
        if isinstance(run.source, _kernel.Table):
            return run.source
        try:
            return _kernel.read_text(
                run.source,
                duplicates=self.duplicates,
                threads=self.threads,
                progress=self.progress,
            )
        except _kernel.ParseError as error:
            raise translate(error, run.paths or (f"run {run.name!r}",), "pair") from None

    def align(
        self, table: _kernel.Table, source: "_kernel.Table | _kernel.Text", run: Run
    ) -> _kernel.Aligned:
        """The run's lists, with the ranks of the documents of the table."""
        try:
            return _kernel.align(
                table,
                source,
                ties=KERNEL_TIES.get(self.ties, "input"),  # type: ignore[arg-type]
                duplicates=self.duplicates,
                depth=self.depth,
                threads=self.threads,
                progress=self.progress,
            )
        except _kernel.ParseError as error:
            raise translate(error, run.paths or (f"run {run.name!r}",), "pair") from None


def _checked(name: str, value: str, words: tuple[Any, ...]) -> Any:
    value = _SPELLINGS.get(value, value)
    if value not in words:
        raise OptionError(f"{name}={value}: expected one of {' | '.join(words)} for two runs")
    return value


def _ranks(aligned: _kernel.Aligned) -> tuple[ShortArray, ShortArray, ShortArray]:
    """Rank, and first and last rank of the tie group, of every hit."""
    rank = aligned.hit_rank
    if aligned.tie_first.size:
        return (rank, aligned.tie_first, aligned.tie_last)
    return (rank, rank, rank)


def _by_row(column: ShortArray, hit_row: IntArray, row: IntArray, n_rows: int) -> IntArray:
    """A column of the first run's own hits, for the documents in these rows of its table."""
    of_row = np.full(n_rows, _FAR, np.int64)
    of_row[hit_row] = column
    return of_row[row]


def _in_order(side: Side) -> Side:
    """Ties have an order: every document is a group of its own."""
    return Side(side.lengths, side.tied, side.rank, side.rank, side.rank)


def _with_groups(side: Side, own: _kernel.Aligned | None, places: IntArray) -> Side:
    """The tie groups of every rank, from a run aligned with itself; `places` are the numbers of the
    queries there.
    """
    if own is None or not own.tie_first.size:
        return side
    starts, sizes = own.hit_offsets[places], side.lengths
    ends = np.cumsum(sizes)
    picked = np.arange(int(ends[-1]) if ends.size else 0) + np.repeat(
        starts - (ends - sizes), sizes
    )
    return Side(
        lengths=side.lengths,
        tied=side.tied,
        rank=side.rank,
        first=side.first,
        last=side.last,
        group_first=own.tie_first[picked],
        group_last=own.tie_last[picked],
    )


def _self_aligned(
    work: _Work, run: Run, other: _kernel.Table, kept: IntArray, side: Side
) -> tuple[_kernel.Aligned | None, IntArray]:
    """The second run aligned with itself, and where it has the queries of both; only ties ask for
    it.
    """
    if not side.tied.any():
        return None, kept
    table = work.table(run)
    places = np.array(
        [table.find_query(other.query_id(query)) for query in kept.tolist()], np.int64
    )
    return work.align(table, table, run), places


def _ids(table: _kernel.Table, kept: IntArray) -> QueryIds:
    return QueryIds(
        kept.size, lambda: [decode_id(table.query_id(query)) for query in kept.tolist()]
    )


def _lonely(
    table: _kernel.Table, cross: _kernel.Aligned, length_a: AnyArray, length_b: AnyArray
) -> tuple[QueryIds, QueryIds]:
    """Queries that only the first, and only the second, run answers."""
    n = table.n_queries
    only_a = np.flatnonzero((length_a > 0) & (length_b == 0))
    unanswered = np.flatnonzero((length_a == 0) & (length_b > 0))
    extra: BoolArray = cross.length[n:] > 0

    def names() -> list[str]:
        ids = cross.run_only_ids()
        known = [decode_id(table.query_id(query)) for query in unanswered.tolist()]
        return known + [decode_id(ids[place]) for place in np.flatnonzero(extra)]

    return _ids(table, only_a), QueryIds(unanswered.size + int(np.count_nonzero(extra)), names)
