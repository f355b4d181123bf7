"""The first documents of every list of a run, kept from its alignment: what pages list, and what
rankings are compared by.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from idealrank import _kernel
from idealrank.data.types import BoolArray, IntArray, QueryIds, decode_id, sought_id


class TopOfQuery(NamedTuple):
    """First documents of one list by rank, and whether each shares its score with another of the
    whole list.
    """

    documents: list[str]
    tied: list[bool]


@dataclass(frozen=True, kw_only=True, eq=False)
class Top:
    """The lists of a run, cut at a rank."""

    depth: int  # Ranks kept
    table: _kernel.Table  # The queries that the run answers, with their documents by rank
    # shape (n_rows,): whether another document of the whole list has the same score
    tied: BoolArray
    # lengths, returned, n_tied: shape (n_queries,): list lengths after duplicates and removals, and
    # as given; documents of the whole list that share their score with another
    lengths: IntArray
    returned: IntArray
    n_tied: IntArray
    # Whether lists kept all documents: none was taken out for its judgment, or because it has none
    is_whole: bool

    @classmethod
    def of_aligned(cls, aligned: _kernel.Aligned, depth: int, *, is_whole: bool) -> "Top":
        """Take it from an alignment."""
        answered = aligned.in_run
        length, returned, n_tied = (
            column[answered].astype(np.int64)
            for column in (aligned.length, aligned.returned, aligned.tied)
        )
        return cls(
            depth=depth,
            table=aligned.top,
            tied=aligned.top_tied,
            lengths=length,
            returned=returned,
            n_tied=n_tied,
            is_whole=is_whole,
        )

    @property
    def longest(self) -> int:
        """Documents of the longest list, as given."""
        return int(self.returned.max(initial=0))

    @cached_property
    def queries(self) -> QueryIds:
        """Ids of the queries that the run answers."""
        return QueryIds(
            self.table.n_queries, lambda: [decode_id(query) for query in self.table.query_ids()]
        )

    def of(self, query: str, depth: int | None = None) -> TopOfQuery | None:
        """The list of one query, down to a rank if one is given; None where the run does not answer
        it.
        """
        place = self.table.find_query(sought_id(query))
        if place < 0:
            return None
        rows = np.arange(*self.table.offsets[place : place + 2].tolist())[:depth]
        return TopOfQuery(
            [decode_id(document) for document in self.table.document_ids(rows)],
            self.tied[rows].tolist(),
        )
