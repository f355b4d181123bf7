"""Two runs joined query by query: where each document that both returned stands in either list."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from idealrank import _kernel
from idealrank.data.judged import Top
from idealrank.data.problems import translate
from idealrank.data.run import KERNEL_TIES, Run
from idealrank.data.segments import joined_ranges
from idealrank.data.types import (
    AnyArray,
    BoolArray,
    IntArray,
    QueryIds,
    ShortArray,
    decode_id,
    thread_count,
)
from idealrank.errors import OptionError

PairTies: TypeAlias = Literal["shared", "docid", "docid-ascending", "input", "expected"]
PairDuplicates: TypeAlias = Literal["error", "first", "last", "best"]

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
    ties: str  # What tied scores mean, see `PairRules`
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


@dataclass(frozen=True, kw_only=True)
class PairRules:
    """Rules by which two runs are joined; `idealrank.overlap` documents them."""

    ties: str = "shared"
    duplicates: str = "error"
    depth: int = 0  # Ranks that are looked at, where ties have an order; 0 for whole lists
    threads: int = 0
    progress: _kernel.Progress | None = None

    def __post_init__(self) -> None:
        ties = _checked("ties", self.ties, get_args(PairTies))
        object.__setattr__(self, "ties", ties)
        object.__setattr__(
            self, "duplicates", _checked("duplicates", self.duplicates, get_args(PairDuplicates))
        )
        object.__setattr__(self, "threads", thread_count(self.threads))
        if self.depth and ties in ("shared", "expected"):
            raise OptionError(
                f"depth={self.depth} with ties={ties}: only lists with ordered ties can be cut"
            )

    def table(self, run: Run) -> _kernel.Table:
        """The run in memory."""
        if isinstance(run.source, _kernel.Table):
            return run.source
        try:
            return _kernel.read_text(
                run.source,
                duplicates=self.duplicates,  # type: ignore[arg-type]
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
                duplicates=self.duplicates,  # type: ignore[arg-type]
                depth=self.depth,
                threads=self.threads,
                progress=self.progress,
            )
        except _kernel.ParseError as error:
            raise translate(error, run.paths or (f"run {run.name!r}",), "pair") from None


def join(run_a: Run, run_b: Run, rules: PairRules) -> RunPairs:
    """Rank both runs and look every document of the second up in the first.

    A query with an empty list counts as not answered.
    """
    # The first run is the judgments of the kernel, also for itself: hits have its rows.
    table = rules.table(run_a)
    aligned_a = rules.align(table, table, run_a)
    aligned_b = rules.align(table, run_b.source, run_b)
    n = table.n_queries
    length_a = aligned_a.length[:n]
    length_b = aligned_b.length[:n]
    in_both = (length_a > 0) & (length_b > 0)
    common = np.flatnonzero(in_both)

    hit_in_a = _hit_of_each_row(aligned_a, table.n_rows, rules.depth)[aligned_b.hit_row]
    within = (hit_in_a >= 0) & _down_to(rules.depth, aligned_b)
    query = _number_among(in_both)[_query_of_each_hit(aligned_b, n)[within]]
    ranks_a = _Ranks.of_hits(aligned_a).at(hit_in_a[within])
    ranks_b = _Ranks.of_hits(aligned_b).at(within)
    a = Side(
        lengths=length_a[common],
        tied=aligned_a.tied[common].astype(np.int64),
        rank=ranks_a.rank,
        first=ranks_a.first,
        last=ranks_a.last,
    )
    b = Side(
        lengths=length_b[common],
        tied=aligned_b.tied[common].astype(np.int64),
        rank=ranks_b.rank,
        first=ranks_b.first,
        last=ranks_b.last,
    )
    if rules.ties in ("shared", "expected"):
        a = _with_groups(a, aligned_a, common)
        self_aligned_b, places = _self_aligned(rules, run_b, table, common, b)
        b = _with_groups(b, self_aligned_b, places)
    else:
        a = _in_order(a.lengths, a.tied, a.rank)
        b = _in_order(b.lengths, b.tied, b.rank)
    only_a, only_b = _queries_of_one(table, aligned_b, length_a, length_b)
    return RunPairs(
        queries=_ids(table, common),
        query=query,
        a=a,
        b=b,
        ties=rules.ties,
        only_a=only_a,
        only_b=only_b,
    )


def join_top(a: Top, b: Top, rules: PairRules) -> RunPairs:
    """Join two runs by the first documents that their alignments kept, in the order that these gave
    them.
    """
    table = a.table
    n = table.n_queries
    # The scores fall with the ranks, and those that tie stand in their order already.
    cross = _kernel.align(
        table, b.table, ties="input", duplicates="error", depth=rules.depth, threads=rules.threads
    )
    place_in_b = _places(table, b.table)
    length_b = np.append(b.lengths, 0)[place_in_b]  # -1, a query without an answer, picks the 0
    in_both = (a.lengths > 0) & (length_b > 0)
    common = np.flatnonzero(in_both)
    owner = _query_of_each_hit(cross, n)
    rank_a = cross.hit_row - table.offsets[owner] + 1
    within = (rank_a <= rules.depth) & _down_to(rules.depth, cross)
    query = _number_among(in_both)[owner[within]]
    rank_b = _Ranks.of_hits(cross).at(within).rank
    side_a = _in_order(a.lengths[common], a.n_tied[common], rank_a[within])
    side_b = _in_order(length_b[common], b.n_tied[place_in_b[common]], rank_b)
    is_only_b = b.lengths > 0
    is_only_b[place_in_b[common]] = False
    only_a = _ids(table, np.flatnonzero((a.lengths > 0) & ~in_both))
    only_b = _ids(b.table, np.flatnonzero(is_only_b))
    return RunPairs(
        queries=_ids(table, common),
        query=query,
        a=side_a,
        b=side_b,
        ties=rules.ties,
        only_a=only_a,
        only_b=only_b,
    )


def _places(table: _kernel.Table, other: _kernel.Table) -> IntArray:
    """Number of each query of a table in the other; -1 where that does not have it."""
    place = {query: number for number, query in enumerate(other.query_ids())}
    return np.fromiter(
        (place.get(query, -1) for query in table.query_ids()), np.int64, table.n_queries
    )


def _query_of_each_hit(aligned: _kernel.Aligned, n: int) -> IntArray:
    """Query code of every hit of the first n queries."""
    return np.repeat(np.arange(n), np.diff(aligned.hit_offsets[: n + 1]))


def _number_among(kept: BoolArray) -> IntArray:
    """Number of each query among those that are kept, for these alone."""
    return np.cumsum(kept) - 1


def _down_to(depth: int, aligned: _kernel.Aligned) -> BoolArray:
    """Mark the hits down to a depth; 0 means all."""
    # The kernel also keeps what follows in a tie group that begins above the depth.
    is_above: BoolArray = aligned.hit_rank <= (depth or np.iinfo(np.int32).max)
    return is_above


def _hit_of_each_row(aligned: _kernel.Aligned, n_rows: int, depth: int) -> IntArray:
    """The hit of each row of the table; -1 for a document below the depth."""
    within = np.flatnonzero(_down_to(depth, aligned))
    hits = np.full(n_rows, -1)
    hits[aligned.hit_row[within]] = within
    return hits


class _Ranks(NamedTuple):
    """Rank, and first and last rank of the tie group, of each hit in one run."""

    rank: AnyArray
    first: AnyArray
    last: AnyArray

    @classmethod
    def of_hits(cls, aligned: _kernel.Aligned) -> "_Ranks":
        """Ranks of all hits, in the numbers of the kernel; without ties a group is one rank."""
        rank = aligned.hit_rank
        if aligned.tie_first.size:
            return cls(rank=rank, first=aligned.tie_first, last=aligned.tie_last)
        return cls(rank=rank, first=rank, last=rank)

    def at(self, hits: AnyArray) -> "_Ranks":
        """Ranks of some hits as int64; `hits` are places, or a mark for each."""
        return _Ranks(
            rank=self.rank[hits].astype(np.int64),
            first=self.first[hits].astype(np.int64),
            last=self.last[hits].astype(np.int64),
        )


def _checked(name: str, value: str, words: tuple[Any, ...]) -> Any:
    value = _SPELLINGS.get(value, value)
    if value not in words:
        raise OptionError(f"{name}={value}: expected one of {' | '.join(words)} for two runs")
    return value


def _in_order(lengths: IntArray, tied: IntArray, rank: IntArray) -> Side:
    """Ties have an order: every document is a group of its own."""
    return Side(lengths=lengths, tied=tied, rank=rank, first=rank, last=rank)


def _with_groups(side: Side, self_aligned: _kernel.Aligned | None, places: IntArray) -> Side:
    """The tie groups of every rank, from a run aligned with itself; `places` are the numbers of the
    queries there.
    """
    if self_aligned is None or not self_aligned.tie_first.size:
        return side
    picked = joined_ranges(self_aligned.hit_offsets[places], side.lengths)
    return Side(
        lengths=side.lengths,
        tied=side.tied,
        rank=side.rank,
        first=side.first,
        last=side.last,
        group_first=self_aligned.tie_first[picked],
        group_last=self_aligned.tie_last[picked],
    )


def _self_aligned(
    rules: PairRules, run: Run, other: _kernel.Table, kept: IntArray, side: Side
) -> tuple[_kernel.Aligned | None, IntArray]:
    """The second run aligned with itself, and where it has the queries of both; only ties ask for
    it.
    """
    if not side.tied.any():
        return None, kept
    table = rules.table(run)
    places = np.array(
        [table.find_query(other.query_id(query)) for query in kept.tolist()], np.int64
    )
    return rules.align(table, table, run), places


def _ids(table: _kernel.Table, kept: IntArray) -> QueryIds:
    return QueryIds(
        kept.size, lambda: [decode_id(table.query_id(query)) for query in kept.tolist()]
    )


def _queries_of_one(
    table: _kernel.Table, aligned_b: _kernel.Aligned, length_a: AnyArray, length_b: AnyArray
) -> tuple[QueryIds, QueryIds]:
    """Queries that only the first, and only the second, run answers."""
    n = table.n_queries
    only_a = np.flatnonzero((length_a > 0) & (length_b == 0))
    unanswered = np.flatnonzero((length_a == 0) & (length_b > 0))
    extra: BoolArray = aligned_b.length[n:] > 0

    def decoded() -> list[str]:
        run_only_ids = aligned_b.run_only_ids()
        ids_of_table = [decode_id(table.query_id(query)) for query in unanswered.tolist()]
        return ids_of_table + [decode_id(run_only_ids[place]) for place in np.flatnonzero(extra)]

    return _ids(table, only_a), QueryIds(unanswered.size + int(np.count_nonzero(extra)), decoded)
