"""Rankings of single queries for a page: first documents with grade, tie and contribution, and the
relevant documents.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from idealrank.analysis.explanation.contributions import ListedHits, account_of, list_hits
from idealrank.analysis.explanation.query_list import list_query
from idealrank.conventions import Convention
from idealrank.data.judged import Judged
from idealrank.data.one_query import in_memory, run_of_query
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import decode_id, sought_id
from idealrank.evaluation.judged_hits import JudgedHits
from idealrank.measures.measure import Measure
from idealrank.reports.subject import Listing, QueryLists

Made = TypeVar("Made")


class MadeOnDemand(Mapping[str, Made], Generic[Made]):
    """A mapping whose values are made at their first use: a page has room for some of the lists
    that it could show.
    """

    def __init__(self, keys: Sequence[str], make: Callable[[str], Made]) -> None:
        self._keys, self._make = dict.fromkeys(keys), make
        self._made: dict[str, Made] = {}

    def __getitem__(self, key: str) -> Made:
        if key not in self._made:
            if key not in self._keys:
                raise KeyError(key)
            self._made[key] = self._make(key)
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def lists_of_hits(
    hits: Sequence[JudgedHits | None], order: Sequence[str], depth: int
) -> dict[str, QueryLists]:
    """Make rankings from judged documents alone: of other documents only the ranks are known."""
    known = [set() if of_run is None else set(of_run.queries) for of_run in hits]
    lists = {}
    for query in order:
        own = [
            of_run.of(query) if of_run is not None and query in queries else None
            for of_run, queries in zip(hits, known, strict=True)
        ]
        grades: dict[str, float] = {}
        for of_query in own:
            if of_query is not None:
                grades |= zip(of_query.documents, of_query.grade.tolist(), strict=True)
        positive = [name for name, grade in grades.items() if grade > 0]
        best = sorted(positive, key=lambda name: -grades[name])[:depth]
        lists[query] = QueryLists(
            runs=tuple(_listing(of_query, depth) for of_query in own),
            relevant=tuple((name, grades[name]) for name in best),
        )
    return lists


def _listing(hits: JudgedHits | None, depth: int) -> Listing | None:
    """The list of one query from its judged documents; None if the run does not answer it."""
    if hits is None or not hits.lengths[0]:
        return None
    length = int(hits.lengths[0])
    shown = min(depth, hits.depth, length)
    documents: list[str | None] = [None] * shown
    grades: list[float | None] = [None] * shown
    tied = [False] * shown
    below: list[tuple[str, int, float, float | None]] = []
    columns = zip(
        hits.documents,
        hits.rank.tolist(),
        hits.grade.tolist(),
        (hits.tie_first < hits.tie_last).tolist(),
        strict=True,
    )
    for name, rank, grade, is_tied in columns:
        if rank <= shown:
            documents[rank - 1], grades[rank - 1], tied[rank - 1] = name, grade, is_tied
        elif grade > 0:
            below.append((name, rank, grade, None))
    return Listing(
        documents=tuple(documents),
        grades=tuple(grades),
        tied=tuple(tied),
        added=(None,) * shown,
        length=length,
        below=tuple(below),
    )


_LEAST, _MOST = 10, 20  # ranks of a listing


def depth_of(measures: Sequence[Measure]) -> int:
    """Return the ranks that a listing shows: as deep as the deepest cutoff, from 10 to 20."""
    cutoffs = [measure.cutoff if isinstance(measure.cutoff, int) else _MOST for measure in measures]
    return min(max([_LEAST, *cutoffs]), _MOST)


class Lister(NamedTuple):
    """Options for showing lists."""

    qrels: Qrels  # What was judged
    measure: Measure  # Source of the contributions, if `idealrank explain` can compute them
    convention: Convention  # That orders the lists
    depth: int  # Ranks shown

    def listings(
        self, run: Run, judged: Judged, queries: Sequence[str]
    ) -> Mapping[str, Listing | None]:
        """Return the lists of some queries; None for a query that the run does not answer. `judged`
        has the hits of whole lists, and their top.
        """
        if not queries:
            return {}
        convention = self.convention
        if self.measure.judged_only:
            convention = Convention.of(convention, unjudged="skipped")
        listed = list_hits(judged, self.measure.under(convention), convention.alignment)
        if listed is None:
            held = in_memory(run)
            return {query: self._listing(held, query, convention) for query in queries}
        return MadeOnDemand(queries, lambda query: self._listing_of_hits(query, listed))

    def _listing_of_hits(self, query: str, listed: ListedHits) -> Listing | None:
        """The list of one query from its judged documents and the ids of its first ranks."""
        hits = listed.of(query, self.depth)
        if hits is None:
            return None
        documents = tuple(hits.documents)
        tied = tuple(hits.tied)
        grades: list[float | None] = [None] * len(documents)
        added: list[float | None] = [0.0 if listed.is_explained else None] * len(documents)
        below = []
        for place, rank in enumerate(hits.rank):
            grade = hits.grade[place]
            contribution = hits.added[place]
            if rank <= self.depth:
                grades[rank - 1] = grade
                added[rank - 1] = contribution
            elif grade > 0:
                document = decode_id(self.qrels.table.document_id(hits.row[place]))
                below.append((document, rank, grade, contribution))
        return Listing(
            documents=documents,
            grades=tuple(grades),
            tied=tied,
            added=tuple(added),
            length=hits.length,
            below=tuple(below),
        )

    def _listing(self, run: Run, query: str, convention: Convention) -> Listing | None:
        """The list of one query, ranked and explained by itself."""
        if query not in self.qrels and run_of_query(run, query) is None:
            return None
        listed = list_query(self.qrels, run, query, convention.alignment)
        if not listed.is_answered:
            return None
        added: list[float | None] = [None] * len(listed.documents)
        if self.measure.is_explained:
            account = account_of(self.measure.under(convention), listed)
            listed = account.listed
            added = account.contributions.tolist()
        top = slice(self.depth)
        every = listed.by_row(listed.qrels.grades)
        judged = zip(every[top].tolist(), listed.is_judged[top].tolist(), strict=True)
        deeper = (self.depth + np.flatnonzero(every[self.depth :] > 0)).tolist()
        below = [
            (listed.documents[place], place + 1, float(every[place]), added[place])
            for place in deeper
        ]
        return Listing(
            documents=tuple(listed.documents[top]),
            grades=tuple(grade if is_judged else None for grade, is_judged in judged),
            tied=tuple((listed.first < listed.last)[top].tolist()),
            added=tuple(added[top]),
            length=len(listed.documents),
            below=tuple(below),
        )

    def relevant(self, query: str) -> tuple[tuple[str, float], ...]:
        """Return the documents with a grade above 0, the best first, as deep as the listings."""
        table = self.qrels.table
        code = table.find_query(sought_id(query))
        if code < 0:
            return ()
        rows = np.arange(*table.offsets[code : code + 2].tolist())
        rows = rows[np.argsort(-table.values[rows], kind="stable")][: self.depth]
        grades = table.values[rows]
        documents = map(decode_id, table.document_ids(rows[grades > 0]))
        return tuple(zip(documents, grades[grades > 0].tolist(), strict=True))
