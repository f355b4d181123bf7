"""Rankings from what a store keeps: judged documents with their ranks; of all others it is known that nobody judged them."""

from collections.abc import Sequence
from itertools import islice

from idealrank.evaluation.judged_hits import JudgedHits
from idealrank.reports.page.subject import Listing, QueryLists


def lists_of_hits(hits: Sequence[JudgedHits | None], order: Sequence[str], depth: int) -> dict[str, QueryLists]:
    """Rankings from judged documents alone: of all others the rank is known, and that nobody judged them.

    Parameters
    ----------
    hits : sequence of (JudgedHits or None)
        Of each run; None where they were not kept.
    order : sequence of str
        Queries.
    depth : int
        Ranks shown.

    Examples
    --------
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> from idealrank.evaluation.judged_hits import judged_hits
    >>> kept = judged_hits(Qrels({"q": {"a": 2}}), Run({"q": ["x", "a"]}))
    >>> lists_of_hits([kept], ["q"], 10)["q"].runs[0].documents
    (None, 'a')
    """
    known = [set() if one is None else set(one.queries) for one in hits]
    found = {}
    for query in order:
        own = [one.of(query) if one is not None and query in has else None for one, has in zip(hits, known, strict=True)]
        grades: dict[str, float] = {}
        for one in own:
            grades |= {} if one is None else dict(zip(one.documents, one.grade.tolist(), strict=True))
        relevant = sorted(((name, grade) for name, grade in grades.items() if grade > 0), key=lambda pair: -pair[1])
        found[query] = QueryLists(runs=tuple(_listing(one, depth) for one in own), relevant=tuple(islice(relevant, depth)))
    return found


def _listing(hits: JudgedHits | None, depth: int) -> Listing | None:
    """The list of one query."""
    if hits is None or not hits.lengths[0]:
        return None
    length = int(hits.lengths[0])
    shown = min(depth, hits.depth, length)
    documents: list[str | None] = [None] * shown
    grades: list[float | None] = [None] * shown
    tied = [False] * shown
    below: list[tuple[str, int, float, float | None]] = []
    columns = zip(hits.documents, hits.rank.tolist(), hits.grade.tolist(), (hits.tie_first < hits.tie_last).tolist(), strict=True)
    for name, rank, grade, is_tied in columns:
        if rank <= shown:
            documents[rank - 1], grades[rank - 1], tied[rank - 1] = name, grade, is_tied
        elif grade > 0:
            below.append((name, rank, grade, None))
    return Listing(
        documents=tuple(documents), grades=tuple(grades), tied=tuple(tied), added=(None,) * shown, length=length, below=tuple(below)
    )  # fmt: skip
