"""Pools of documents to judge: unions of runs to a depth or a budget, fused pools, and stratified
samples with inclusion probabilities.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, TypeAlias, get_args

import numpy as np

from idealrank.bounds.value_bounds import AnyRun, as_run
from idealrank.conventions import Convention
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray, IntArray, decode_id
from idealrank.errors import InputError, OptionError
from idealrank.judging.label_order import random_number
from idealrank.measures.measure import number_option

_Rankings: TypeAlias = dict[str, list[tuple[str, float]]]  # documents and scores of each query
PoolOrder: TypeAlias = Literal["depth", "rrf", "borda", "combmnz"]
POOL_ORDERS: tuple[PoolOrder, ...] = get_args(PoolOrder)
_RRF = 60.0  # added to ranks in reciprocal rank fusion, as Cormack and others (2009) have it
_LEAST = 2  # documents sampled of a stratum: one shows no variance


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """Documents to judge, query by query, with the probability of each to be sampled; see `pool`.

    Attributes
    ----------
    query_ids : sequence of str
        Queries asked for, answered or not; by default those that some run answers.
    query : int64 array, shape (n_documents,)
        Query code of each document, rising.
    documents : sequence of str, shape (n_documents,)
        Documents in the order of the pool, within each query.
    best_rank, n_runs : int64 array, shape (n_documents,)
        Highest rank in any run, and number of runs that return the document down to the depth.
    score : float64 array, shape (n_documents,)
        Score of the order, higher first; the negative best rank for ``depth``.
    stratum : int64 array, shape (n_documents,)
        Stratum, from 1; all 1 without sampling.
    probability : float64 array, shape (n_documents,)
        Inclusion probability, in (0, 1]: documents sampled divided by documents in the
        stratum.
    sampled : bool array, shape (n_documents,)
        Documents to judge.
    order : str
        Order of the pool.
    depth : int
        Deepest rank pooled.

    Examples
    --------
    >>> pooled = pool({"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}, depth=2)
    >>> pooled.documents, pooled.best_rank.tolist(), pooled.n_sampled
    (['x', 'y', 'z'], [1, 1, 2], 3)
    """

    query_ids: Sequence[str]
    query: IntArray
    documents: Sequence[str]
    best_rank: IntArray
    n_runs: IntArray
    score: FloatArray
    stratum: IntArray
    probability: FloatArray
    sampled: BoolArray
    order: str
    depth: int

    @property
    def n_sampled(self) -> int:
        """Number of documents to judge."""
        return int(self.sampled.sum())

    def __len__(self) -> int:
        """Return the number of pooled documents."""
        return len(self.documents)

    def rows(self) -> "list[dict[str, Any]]":
        """Return a record for each document."""
        columns = {
            "query": [self.query_ids[code] for code in self.query.tolist()],
            "document": self.documents,
            "best_rank": self.best_rank.tolist(),
            "runs": self.n_runs.tolist(),
            "score": self.score.tolist(),
            "stratum": self.stratum.tolist(),
            "probability": self.probability.tolist(),
            "sampled": self.sampled.tolist(),
        }
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]


@dataclass(frozen=True)
class Strata:
    """Strata by best rank, each with the share of its documents that is sampled.

    Attributes
    ----------
    depths : tuple of int
        Deepest best rank of each stratum, rising.
    shares : tuple of float
        Share sampled in each, in (0, 1].

    Examples
    --------
    >>> Strata.of("10:1,100:0.1")
    Strata(depths=(10, 100), shares=(1.0, 0.1))
    """

    depths: tuple[int, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Read ``DEPTH:SHARE,...``.

        Raises
        ------
        OptionError
            A part is no depth and share, depths do not rise, or a share is not in (0, 1].
        """
        depths: list[int] = []
        shares: list[float] = []
        for part in text.split(","):
            depth, _, share = part.partition(":")
            try:
                depths.append(int(depth))
                shares.append(float(share))
            except ValueError:
                raise OptionError(
                    f"strata {text!r}: found {part!r}, expected a depth and a share, as in "
                    f"10:1,100:0.1"
                ) from None
        if depths != sorted(set(depths)) or depths[0] < 1:
            raise OptionError(
                f"strata {text!r}: expected depths that rise from 1 on, as in 10:1,100:0.1"
            )
        if not all(0 < share <= 1 for share in shares):
            raise OptionError(
                f"strata {text!r}: expected shares above 0 and up to 1, as in 10:1,100:0.1"
            )
        return cls(tuple(depths), tuple(shares))


def pool(
    runs: "Mapping[str, AnyRun] | Sequence[AnyRun]",
    depth: int = 100,
    *,
    budget: int | None = None,
    order: PoolOrder = "depth",
    strata: "Strata | str | None" = None,
    queries: Sequence[str] | None = None,
    convention: "Convention | str" = "standard",
    seed: int = 0,
) -> Pool:
    """Pool the documents of several runs, all of them, within a budget, or as a stratified sample.

    Parameters
    ----------
    runs : mapping of str to Run or mapping, or sequence of them
        The runs.
    depth : int
        Deepest rank pooled in each run.
    budget : int, optional
        Documents to keep, over all queries: the first of each query in the order of the pool, then
        the second of each, and so on.
    order : {"depth", "rrf", "borda", "combmnz"}
        Order within each query: best rank in any run; reciprocal rank fusion, ``sum 1 / (60 +
        rank)``; Borda counts, ``sum (depth + 1 - rank)``; CombMNZ of scores between 0 and 1 within
        each list.
    strata : Strata or str, optional
        Sample: of each stratum of best ranks the given share of its documents, at least two, drawn
        at random without replacement, query by query. ``"10:1,100:0.1"`` takes every document that
        some run has in its first ten, and a tenth of the others down to 100.
    queries : sequence of str, optional
        Queries to pool. Default: all that some run answers.
    convention : Convention or str
        Its order of ties.
    seed : int
        Seed of the sample. The random number of a document is computed from the seed, its query and
        its id.

    Returns
    -------
    Pool

    Raises
    ------
    OptionError
        An option is impossible, or both a budget and strata are given.
    InputError
        There is no run, or no run answers a query.

    References
    ----------
    Spärck Jones and van Rijsbergen (1975), Report on the need for and provision of an ideal
    information retrieval test collection. Cormack, Clarke and Buettcher (2009), Reciprocal rank
    fusion, SIGIR. Fox and Shaw (1994), Combination of multiple searches, TREC-2, for CombMNZ.
    Yilmaz, Kanoulas and Aslam (2008), A simple and efficient sampling method for estimating AP and
    NDCG, SIGIR, for strata.

    Examples
    --------
    >>> pooled = pool([{"q": ["a", "b", "c", "d", "e", "f"]}], 6, strata="2:1,6:0.5")
    >>> pooled.stratum.tolist(), pooled.probability.tolist(), pooled.n_sampled
    ([1, 1, 2, 2, 2, 2], [1.0, 1.0, 0.5, 0.5, 0.5, 0.5], 4)
    """
    convention = Convention.of(convention)
    if order not in POOL_ORDERS:
        raise OptionError(f"order={order!r}: expected one of {', '.join(POOL_ORDERS)}")
    strata = _checked_strata(strata, budget)
    deepest = int(number_option("depth", depth, 1, 1e9))
    if strata is not None:
        deepest = strata.depths[-1]
    if not isinstance(runs, Mapping):
        runs = {f"run {place}": run for place, run in enumerate(runs, 1)}
    if not runs:
        raise InputError("runs: found none, expected at least one")
    rankings = [_ranked(as_run(run, name), convention, deepest) for name, run in runs.items()]
    query_ids = _queries_to_pool(rankings, queries)

    rows: list[_Row] = []
    for code, query in enumerate(query_ids):
        rows += _of_query(code, [ranked.get(query, []) for ranked in rankings], order, deepest)
    if budget is not None:
        rows = _within(rows, int(number_option("budget", budget, 1, 1e12)))
    codes = np.array([row.query for row in rows], np.int64)
    best = np.array([row.best_rank for row in rows], np.int64)
    documents = [row.document for row in rows]
    stratum, probability, sampled = _drawn(
        query_ids=query_ids, code=codes, documents=documents, best=best, strata=strata, seed=seed
    )
    return Pool(
        query_ids=query_ids,
        query=codes,
        documents=documents,
        best_rank=best,
        n_runs=np.array([row.n_runs for row in rows], np.int64),
        score=np.array([row.score for row in rows], np.float64),
        stratum=stratum,
        probability=probability,
        sampled=sampled,
        order=order,
        depth=deepest,
    )


def _checked_strata(strata: "Strata | str | None", budget: int | None) -> Strata | None:
    if budget is not None and strata is not None:
        raise OptionError(
            "found a budget and strata, expected one of them: the shares of strata say how many "
            "documents are sampled"
        )
    return Strata.of(strata) if isinstance(strata, str) else strata


def _queries_to_pool(
    rankings: "Sequence[_Rankings]", queries: Sequence[str] | None
) -> Sequence[str]:
    """Return the given queries, or all of the runs; refuse them if no run answers any."""
    answered = dict.fromkeys(query for ranked in rankings for query in ranked)
    chosen = list(answered) if queries is None else list(queries)
    if not chosen:
        reason = "the runs have no results" if queries is None else "`queries` is empty"
        raise InputError(f"no query to pool: {reason}, expected at least one")
    # A run may name a query and have no document for it.
    if not any(ranked.get(query) for ranked in rankings for query in chosen):
        complaint = f"answer none of the {len(chosen):,} queries"
        if len(chosen) == 1:
            complaint = "do not answer the query"
        raise InputError(f"no query to pool: the runs {complaint}")
    return chosen


class _Row(NamedTuple):
    """One pooled document of a query, by the query's code."""

    query: int
    document: str
    best_rank: int
    n_runs: int
    score: float


def _ranked(run: Run, convention: Convention, depth: int) -> _Rankings:
    """Return the documents and scores of each query from the top."""
    in_memory = run.in_memory()
    ranked = {}
    for raw in in_memory.source.query_ids():  # type: ignore[union-attr]
        query = decode_id(raw)
        ranking = in_memory.ranking(query, convention.alignment, depth=depth)
        ranked[query] = list(zip(ranking.documents, ranking.scores.tolist(), strict=True))
    return ranked


def _of_query(
    query: int, lists: "Sequence[Sequence[tuple[str, float]]]", order: str, depth: int
) -> list[_Row]:
    """Pool the documents of one query, in the order of the pool."""
    best: dict[str, int] = {}
    count: dict[str, int] = {}
    score: dict[str, float] = {}
    for listed in lists:
        points = _points([value for _, value in listed], order, depth)
        for rank, (document, _) in enumerate(listed, 1):
            best[document] = min(best.get(document, rank), rank)
            count[document] = count.get(document, 0) + 1
            score[document] = score.get(document, 0.0) + points[rank - 1]
    final = score
    if order == "depth":
        final = {document: -float(rank) for document, rank in best.items()}
    elif order == "combmnz":
        final = {document: total * count[document] for document, total in score.items()}
    ordered = sorted(final, key=lambda document: (-final[document], best[document], document))
    return [
        _Row(
            query=query,
            document=document,
            best_rank=best[document],
            n_runs=count[document],
            score=final[document],
        )
        for document in ordered
    ]


def _points(scores: Sequence[float], order: str, depth: int) -> Sequence[float]:
    """Return what one list adds to the score of each of its documents."""
    ranks = range(1, len(scores) + 1)
    if order == "rrf":
        return [1 / (_RRF + rank) for rank in ranks]
    if order == "borda":
        return [depth + 1.0 - rank for rank in ranks]
    if order == "combmnz" and scores:
        low = min(scores)
        high = max(scores)
        if high > low:
            return [(value - low) / (high - low) for value in scores]
        return [1.0] * len(scores)
    return [0.0] * len(scores)


def _within(rows: list[_Row], budget: int) -> list[_Row]:
    """Keep the first document of each query, then the second of each, and so on."""
    n_before: Counter[int] = Counter()
    places = []  # of each document in the pool of its query
    for row in rows:
        n_before[row.query] += 1
        places.append(n_before[row.query])
    by_place = sorted(range(len(rows)), key=lambda number: (places[number], rows[number].query))
    return [rows[number] for number in sorted(by_place[:budget])]


def _drawn(
    query_ids: Sequence[str],
    code: IntArray,
    documents: Sequence[str],
    best: IntArray,
    strata: "Strata | None",
    seed: int,
) -> tuple[IntArray, FloatArray, BoolArray]:
    """Return the stratum and inclusion probability of each document, and mark the drawn ones."""
    if strata is None:
        return np.ones(code.size, np.int64), np.ones(code.size), np.ones(code.size, np.bool_)
    stratum = np.searchsorted(np.array(strata.depths), best) + 1
    probability = np.ones(code.size)
    sampled = np.zeros(code.size, np.bool_)
    numbers = [
        random_number(seed, query_ids[int(query)], document)
        for query, document in zip(code.tolist(), documents, strict=True)
    ]
    random_numbers = np.array(numbers)
    for query, number in np.unique(np.stack((code, stratum)), axis=1).T.tolist():
        rows = np.flatnonzero((code == query) & (stratum == number))
        # The small number keeps a product such as 3.0000000000000004 from being rounded up.
        n_of_share = math.ceil(strata.shares[number - 1] * rows.size - 1e-9)
        n_sampled = min(rows.size, max(_LEAST, n_of_share))
        probability[rows] = n_sampled / rows.size
        by_chance = rows[np.argsort(random_numbers[rows], kind="stable")]
        sampled[by_chance[:n_sampled]] = True
    return stratum, probability, sampled
