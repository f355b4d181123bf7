"""The first documents of every list of a run, kept from its alignment: what pages list, and what rankings are compared by."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from idealrank import _kernel
from idealrank.data.types import BoolArray, IntArray, QueryIds, decode_id, sought_id


class TopOfQuery(NamedTuple):
    """First documents of one list by rank, and whether each shares its score with another of the whole list."""

    documents: list[str]
    tied: list[bool]


@dataclass(frozen=True, kw_only=True, eq=False)
class Top:
    """The lists of a run, cut at a rank.

    Attributes
    ----------
    depth : int
        Ranks kept.
    table : Table
        The queries that the run answers, with their documents by rank.
    tied : bool array, shape (n_rows,)
        Whether another document of the whole list has the same score.
    lengths, returned, n_tied : int64 array, shape (n_queries,)
        List lengths after duplicates and removals, and as given; documents of the whole list that share their score with another.
    is_whole : bool
        Whether lists kept all documents: none was taken out for its judgment, or because it has none.

    Examples
    --------
    >>> from idealrank.data.align import align
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> top = align(Qrels({"q": {"a": 1}}), Run({"q": {"x": 3, "a": 2, "y": 2}}), Alignment(), top_depth=2).top
    >>> top.of("q"), top.lengths
    (TopOfQuery(documents=['x', 'y'], tied=[False, True]), array([3]))
    """

    depth: int
    table: _kernel.Table
    tied: BoolArray
    lengths: IntArray
    returned: IntArray
    n_tied: IntArray
    is_whole: bool

    @classmethod
    def of_aligned(cls, aligned: _kernel.Aligned, depth: int, *, is_whole: bool) -> "Top":
        """Take it from an alignment."""
        answered = aligned.in_run
        length, returned, n_tied = (column[answered].astype(np.int64) for column in (aligned.length, aligned.returned, aligned.tied))
        return cls(
            depth=depth, table=aligned.top, tied=aligned.top_tied, lengths=length, returned=returned, n_tied=n_tied, is_whole=is_whole
        )

    @property
    def longest(self) -> int:
        """Documents of the longest list, as given."""
        return int(self.returned.max(initial=0))

    @cached_property
    def queries(self) -> QueryIds:
        """Ids of the queries that the run answers."""
        return QueryIds(self.table.n_queries, lambda: [decode_id(query) for query in self.table.query_ids()])

    def of(self, query: str, depth: int | None = None) -> TopOfQuery | None:
        """The list of one query, down to a rank if one is given; None where the run does not answer it."""
        place = self.table.find_query(sought_id(query))
        if place < 0:
            return None
        rows = np.arange(*self.table.offsets[place : place + 2].tolist())[:depth]
        return TopOfQuery([decode_id(document) for document in self.table.document_ids(rows)], self.tied[rows].tolist())
