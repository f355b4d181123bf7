"""Documents that may count: pairs of query and document that are excluded, and sets beyond which
nothing is permitted. Both leave judgments and lists before anything is ranked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from idealrank import _kernel
from idealrank.data.alignment import check_choice
from idealrank.data.types import decode_id, table_columns
from idealrank.errors import InputError

Breach: TypeAlias = Literal["removed", "error"]

_BREACHES = ("removed", "error")
_ALL = "*"  # the query of a set that all queries share
_WHOLE = (1 << 31) - 1  # a depth below every rank
# Odd numbers by which sums of a fingerprint are multiplied: a pair that is excluded must not count
# as one that is permitted or judged.
_EXCLUDED = 0x9E3779B97F4A7C15
_PERMITTED = 0xC2B2AE3D27D4EB4F


class DocumentTable:
    """Sets of documents by query, or one set for all queries, as the kernel takes them."""

    def __init__(
        self, by_query: Mapping[str, Sequence[str]], shared: Sequence[str] | None = None
    ) -> None:
        self.is_shared = shared is not None
        lists = by_query if shared is None else {_ALL: shared}
        # One value for all: a set has no order, and its fingerprint neither.
        self.table = _kernel.from_mapping(
            {query: dict.fromkeys(documents, 1.0) for query, documents in lists.items()}
        )

    @cached_property
    def sets(self) -> _kernel.DocumentSets:
        """The sets as the kernel looks documents up."""
        return _kernel.DocumentSets(self.table, for_all=self.is_shared)

    def lists(self, query: bytes) -> bool:
        """Return whether a query has a set, perhaps an empty one."""
        return self.is_shared or self.table.find_query(query) >= 0

    def __reduce__(self) -> tuple[type["DocumentTable"], tuple[dict[str, list[str]], object]]:
        """Another process gets the documents and builds the table again."""
        names = list(map(decode_id, self.table.document_ids(np.arange(self.table.n_rows))))
        begins = self.table.offsets.tolist()
        by_query = {
            decode_id(query): names[begins[place] : begins[place + 1]]
            for place, query in enumerate(self.table.query_ids())
        }
        return DocumentTable, (by_query, by_query[_ALL] if self.is_shared else None)


@dataclass(frozen=True, kw_only=True, eq=False)
class Eligibility:
    """Documents that may count; see `Qrels.restricted`."""

    excluded: DocumentTable | None = None
    permitted: DocumentTable | None = None
    breach: Breach = "removed"  # What a returned document is that is not permitted
    excluded_judgments: int = 0  # How many judgments were taken out

    def __post_init__(self) -> None:
        check_choice("breach", self.breach, _BREACHES)

    def kernel_options(self) -> dict[str, Any]:
        """The arguments of the kernel's `align`."""
        return {
            "excluded": None if self.excluded is None else self.excluded.sets,
            "permitted": None if self.permitted is None else self.permitted.sets,
        }

    def judgments_of(self, table: _kernel.Table) -> _kernel.Table:
        """The judgments that may count; a query that is left without any is gone."""
        if self.permitted is not None:
            self._refuse_unlisted(table, self.permitted)
        left = self.left_of(table)
        if bool((np.diff(left.offsets) == 0).any()):
            return _kernel.from_columns(*table_columns(left), duplicates="keep")
        return left

    def left_of(self, table: _kernel.Table) -> _kernel.Table:
        """The rows that may count, by falling value; a query that is left without any stays."""
        aligned = _kernel.align(
            table,
            table,
            ties="input",
            duplicates="twice",
            top_depth=_WHOLE,
            **self.kernel_options(),
        )
        return aligned.top

    def sums(self, queries: _kernel.Table) -> tuple[int, int]:
        """Sums for the fingerprint of judgments with these queries; documents of other queries
        change no number of theirs.
        """
        first = second = 0
        for documents, factor in ((self.excluded, _EXCLUDED), (self.permitted, _PERMITTED)):
            if documents is None:
                continue
            sums = _kernel.fingerprint(_only_queries(documents, queries))
            # A shared set counts for each query, so that parts of a collection add up.
            times = factor * (queries.n_queries if documents.is_shared else 1)
            first += times * sums[0]
            second += times * sums[1]
        return first, second

    def _refuse_unlisted(self, table: _kernel.Table, permitted: DocumentTable) -> None:
        unlisted = [query for query in table.query_ids() if not permitted.lists(query)]
        if unlisted:
            raise InputError(
                f"permitted: found no documents for {len(unlisted):,} of {table.n_queries:,} "
                f"judged queries, such as {decode_id(unlisted[0])!r}, expected some for each; an "
                "empty list permits none"
            )


def _only_queries(documents: DocumentTable, queries: _kernel.Table) -> _kernel.Table:
    if documents.is_shared:
        return documents.table
    table = documents.table
    kept = [queries.find_query(query) >= 0 for query in table.query_ids()]
    if all(kept):
        return table
    rows = np.flatnonzero(np.repeat(kept, np.diff(table.offsets)))
    names, ids, _ = table_columns(table)
    return _kernel.from_columns(
        [names[row] for row in rows], [ids[row] for row in rows], table.values[rows]
    )
