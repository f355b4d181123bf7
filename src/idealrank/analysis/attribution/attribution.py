"""Why two runs differ: the difference of their values taken apart into queries, documents and rank
moves.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from idealrank._lazy import printed
from idealrank.analysis.attribution.document_contributions import (
    UNORDERED,
    added,
    seen_by,
    split_of,
)
from idealrank.analysis.comparison.comparisons import Comparison, distinct
from idealrank.analysis.comparison.label_basis import DeclaredLabels
from idealrank.analysis.comparison.procedure import compared
from idealrank.analysis.comparison.query_table import unfit
from idealrank.analysis.comparison.requirements import WithWarnings, mismatches_of
from idealrank.analysis.comparison.study import Study, StudyOptions
from idealrank.conventions import Convention
from idealrank.data.judged import Judged
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray, IntArray, decode_id
from idealrank.errors import IdealrankWarning, InputError
from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.evaluate import Evaluation, evaluate
from idealrank.measures.binary import AP
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.measure import Measure
from idealrank.measures.sums import aggregate
from idealrank.measures.terms import EXACT

MoveName: TypeAlias = Literal["entered", "left", "moved up", "moved down", "stayed", "no document"]
MOVES: tuple[MoveName, ...] = ("entered", "left", "moved up", "moved down", "stayed")


@dataclass(frozen=True, kw_only=True)
class QueryChange:
    """One query of two runs; every difference is b - a.

    Attributes
    ----------
    query : str
        Query id.
    value_a, value_b, difference : float
        Values of the measure, and how much b has more.
    answered_a, answered_b : bool
        Whether the run returned anything for it.
    unjudged_a, unjudged_b : int
        Returned documents without a judgment, down to the cutoff.
    rest : float
        What of the difference no document accounts for: rounding, and what depends on the lists
        alone; 0 nearly always.
    """

    query: str
    value_a: float
    value_b: float
    difference: float
    answered_a: bool
    answered_b: bool
    unjudged_a: int
    unjudged_b: int
    rest: float


@dataclass(frozen=True, kw_only=True)
class DocumentChange:
    """One judged document of a query.

    Attributes
    ----------
    query, document : str
        Ids.
    grade : float
        As judged.
    rank_a, rank_b : float or None
        Its rank, from 1, cutoff or not; the mean rank of its tie group where tied documents have no
        order; None where the run has not returned it.
    added_a, added_b, difference : float
        What it added to the value of the query in each run, and b - a.
    move : str
        ``entered`` and ``left``: it stands within the cutoff (or in the list, where there is none)
        in one run only; ``moved up``, ``moved down``, ``stayed``: in both. Below both cutoffs the
        ranks decide.
    """

    query: str
    document: str
    grade: float
    rank_a: float | None
    rank_b: float | None
    added_a: float
    added_b: float
    difference: float
    move: MoveName


@dataclass(frozen=True, kw_only=True)
class Move:
    """Documents with the same kind of move.

    Attributes
    ----------
    move : str
        As in `DocumentChange`; ``no document`` for the `rest` of the queries.
    documents, queries : int
        How many documents that add something in either run, and in how many queries.
    difference : float
        What they add to the difference of the runs.
    share : float or None
        Of that difference; shares sum to 1 and may lie outside [0, 1]. None where the runs do not
        differ.
    """

    move: MoveName
    documents: int
    queries: int
    difference: float
    share: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Documents:
    """Judged documents that either run returned, a row each, query after query; see
    `DocumentChange`.
    """

    query: IntArray  # shape (n,): place of the query in the order of `Attribution.query_ids`
    row: IntArray  # shape (n,): row of the qrels
    rank: FloatArray  # shape (n, 2): in a and b; infinite where it was not returned
    added: FloatArray  # shape (n, 2): to the value of the query
    move: IntArray  # shape (n,): place in `MOVES`

    @property
    def difference(self) -> FloatArray:
        """Contribution of each document to b - a, shape (n,)."""
        return self.added[:, 1] - self.added[:, 0]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Attribution(WithWarnings):
    """Difference between two runs, b - a, split by query and document.

    Attributes
    ----------
    run_a, run_b : str
        Names of the runs.
    measure, resolved : str
        The measure as requested, and with every option resolved.
    convention : Convention
        How runs and judgments were joined.
    split : str
        How a value is split among documents: exactly, or along which path.
    n : int
        Number of queries that count in both runs.
    mean_a, mean_b, difference : float
        Means over these queries, and b - a; sums for measures that are summed over queries.
    excluded : tuple of str
        Queries that the convention leaves out of either run.
    queries : tuple of QueryChange
        Changes by query, the largest loss first; ties in the order of the judgments.
    moves : tuple of Move
        Contribution to the difference of the documents that entered, left, moved up, moved down or
        stayed.
    query_ids : sequence of str
        Query ids in the order of the judgments.
    direction : int
        1 if higher values of the measure are better, -1 if lower ones are, 0 if neither.
    comparison : Comparison or None
        Comparison of the two runs by this measure, as made by `compare`; None if its means have no
        better and worse.

    Examples
    --------
    >>> import idealrank as ir
    >>> old, new = {"q1": ["x"], "q2": ["z", "y"]}, {"q1": ["z"], "q2": ["y"]}
    >>> found = ir.attribute({"q1": {"x": 1}, "q2": {"y": 1}}, old, new, "RR")
    >>> [(query.query, query.difference) for query in found.queries], found.difference
    ([('q1', -1.0), ('q2', 0.5)], -0.25)
    >>> found.documents("q1")[0].move, [(move.move, move.difference) for move in found.moves]
    ('left', [('left', -0.5), ('moved up', 0.25)])
    """

    run_a: str
    run_b: str
    measure: str
    resolved: str
    convention: Convention
    split: str
    n: int
    mean_a: float
    mean_b: float
    difference: float
    excluded: tuple[str, ...]
    queries: tuple[QueryChange, ...]
    moves: tuple[Move, ...]
    query_ids: Sequence[str]
    direction: int
    _qrels: Qrels
    _documents: Documents
    comparison: Comparison | None = None

    __str__ = printed

    def _brief(self) -> str:
        return (
            f"{self.run_b!r} against {self.run_a!r}: {self.measure} {self.difference:+.4f}; "
            f"{self.n:,} queries, convention {self.convention}"
        )

    @property
    def is_exact(self) -> bool:
        """True if the contribution of a document depends only on its own rank."""
        return self.split == EXACT

    def documents(
        self, query: "str | None" = None, *, limit: int | None = None
    ) -> tuple[DocumentChange, ...]:
        """Return the judged documents that either run returned, the largest loss first.

        Parameters
        ----------
        query : str, optional
            Restrict to this query. Default: all queries, without the documents that contribute
            nothing in either run.
        limit : int, optional
            Maximum number of documents.

        Raises
        ------
        InputError
            The query does not count in both runs.
        """
        table = self._documents
        if query is None:
            chosen = np.flatnonzero((table.added != 0).any(axis=1))
        else:
            begin, end = np.searchsorted(table.query, self._place(query) + np.arange(2)).tolist()
            chosen = np.arange(begin, end)
        order = np.argsort(_sign(self.direction) * table.difference[chosen], kind="stable")
        return tuple(self._document(int(place)) for place in chosen[order][:limit])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {query: place for place, query in enumerate(self.query_ids)}

    def _place(self, query: str) -> int:
        try:
            return self._places[query]
        except KeyError:
            why = "the judgments or the runs lack it"
            if query in self.excluded:
                why = "the convention leaves it out of one run or both"
            raise InputError(
                f"query {query!r}: found no difference, expected a query that counts in both "
                f"runs; {why}"
            ) from None

    def _document(self, place: int) -> DocumentChange:
        table, qrels = self._documents, self._qrels
        row = int(table.row[place])
        added_a, added_b = table.added[place].tolist()
        rank_a, rank_b = (_rank(rank) for rank in table.rank[place].tolist())
        return DocumentChange(
            query=self.query_ids[int(table.query[place])],
            document=decode_id(qrels.table.document_id(row)),
            grade=float(qrels.grades[row]),
            rank_a=rank_a,
            rank_b=rank_b,
            added_a=added_a,
            added_b=added_b,
            difference=added_b - added_a,
            move=MOVES[int(table.move[place])],
        )

    def as_dict(
        self, *, queries: int | None = None, documents: int | None = None
    ) -> dict[str, Any]:
        """Return the JSON record.

        Parameters
        ----------
        queries, documents : int, optional
            Maximum number of queries, the largest loss first, and of documents for each query.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.attribute({"q": {"a": 1}}, {"q": ["a"]}, {"q": ["x", "a"]}, "RR").as_dict()[
        ...     "difference"
        ... ]
        -0.5
        """
        names = (
            "run_a",
            "run_b",
            "measure",
            "resolved",
            "split",
            "is_exact",
            "n",
            "mean_a",
            "mean_b",
            "difference",
        )
        row = None
        if self.comparison is not None:
            _, row = next(self.comparison.rows())
        return {
            **{name: getattr(self, name) for name in names},
            "verdict": None if row is None else row.verdict,
            "p": None if row is None else row.p_corrected,
            "convention": {
                "name": self.convention.name,
                "fingerprint": self.convention.fingerprint,
                **self.convention.switches(),
            },
            "excluded": list(self.excluded),
            "warnings": list(self.warnings),
            "moves": [asdict(move) for move in self.moves],
            "queries": [self._record(change, documents) for change in self.queries[:queries]],
        }

    def _record(self, change: QueryChange, limit: int | None) -> dict[str, Any]:
        """Record of a query with some of its documents."""
        documents = self.documents(change.query, limit=limit)
        return {**asdict(change), "documents": [asdict(document) for document in documents]}


def attributed(
    qrels: Qrels,
    runs: tuple[Run, Run],
    requested: Measure,
    convention: Convention,
    *,
    labels_from: str | None = None,
    threads: int = 0,
) -> Attribution:
    """Take the difference of two runs apart into queries, documents and rank moves."""
    run_a, run_b = runs
    resolved = requested.under(convention)
    split = split_of(resolved)
    evaluations = [
        evaluate(
            qrels, run, requested, convention, keep_unjudged=True, keep_for=[AP()], threads=threads
        )
        for run in runs
    ]
    sides = [_Side.of(evaluation, resolved) for evaluation in evaluations]
    ids, places, excluded = _common(sides)
    if not ids:
        raise InputError(
            f"no query counts in both {run_a.name} and {run_b.name} under convention "
            f"{convention.name}; do the query ids match, also in {qrels.name}?"
        )
    names = distinct([run_a.name, run_b.name])
    coverages = dict(zip(names, (side.coverage for side in sides), strict=True))
    unjoined = mismatches_of(coverages, resolved, [side.values[side.scored] for side in sides])

    values = np.stack([side.values[rows] for side, rows in zip(sides, places, strict=True)], axis=1)
    documents = _documents(qrels, ids, sides)
    of_documents = np.bincount(documents.query, weights=documents.difference, minlength=len(ids))
    rest = values[:, 1] - values[:, 0] - of_documents
    scale = 1.0 if resolved.aggregate == "sum" else 1.0 / len(ids)
    everything = np.ones(len(ids), bool)
    mean_a = aggregate(resolved, values[:, 0], everything)
    mean_b = aggregate(resolved, values[:, 1], everything)
    rest = _without_rounding(rest, values)
    return Attribution(
        run_a=run_a.name,
        run_b=run_b.name,
        measure=str(requested),
        resolved=str(resolved),
        convention=convention,
        split=split,
        n=len(ids),
        mean_a=mean_a,
        mean_b=mean_b,
        difference=mean_b - mean_a,
        excluded=excluded,
        queries=_queries(
            ids=ids,
            values=values,
            rest=rest,
            sides=sides,
            places=places,
            direction=resolved.direction,
        ),
        moves=_moves(documents, rest, scale, mean_b - mean_a),
        query_ids=ids,
        direction=resolved.direction,
        _qrels=qrels,
        _documents=documents,
        comparison=_compared(evaluations, requested, labels_from, threads),
        mismatches=unjoined,
    )


def _compared(
    evaluations: Sequence[Evaluation], measure: Measure, labels_from: str | None, threads: int
) -> Comparison | None:
    """The comparison of the two runs by the measure, as `compare` makes it; None where its means
    say nothing about better and worse.
    """
    if unfit(measure):
        return None
    with warnings.catch_warnings():
        # all was said when the runs were measured
        warnings.simplefilter("ignore", IdealrankWarning)
        declared = DeclaredLabels(labels_from=labels_from)
        options = StudyOptions(threads=threads, declared=declared)
        return compared(Study.of(evaluations, measure, options))


class _Side(NamedTuple):
    """One run: values and what counts by query; ranks and what they add by hit."""

    judged: Judged
    coverage: Coverage
    values: FloatArray
    scored: BoolArray
    rank: FloatArray
    within: BoolArray
    added: FloatArray
    unjudged: IntArray

    @classmethod
    def of(cls, evaluation: Evaluation, measure: Measure) -> "_Side":
        if evaluation.judged is None:
            raise RuntimeError("expected an evaluation with its hits")
        judged = seen_by(measure, evaluation.judged)
        hits = judged.hits
        limit = resolve_cutoff(measure.cutoff, judged.lengths)
        rank = hits.rank.astype(np.float64)
        top = hits.rank
        if judged.ties in UNORDERED and hits.tie_first is not None and hits.tie_last is not None:
            rank = (hits.tie_first + hits.tie_last) / 2
            top = hits.tie_first
        judged_within = np.bincount(
            hits.query[hits.rank <= limit[hits.query]], minlength=judged.n_queries
        )
        values = evaluation.values[:, 0]
        scored = evaluation.scored[:, 0]
        unjudged = np.minimum(limit, judged.lengths) - judged_within
        return cls(
            judged=judged,
            coverage=evaluation.coverage,
            values=values,
            scored=scored,
            rank=rank,
            within=top <= limit[hits.query],
            added=added(measure, judged),
            unjudged=unjudged,
        )


def _common(sides: Sequence[_Side]) -> tuple[list[str], list[IntArray], tuple[str, ...]]:
    """Queries that count in both, their places in each, and those that count in one at most."""
    place_in_a, place_in_b = map(_counted_places, sides)
    common = [query for query in place_in_a if query in place_in_b]
    places = [
        np.array([place_in_a[query] for query in common], np.int64),
        np.array([place_in_b[query] for query in common], np.int64),
    ]
    every = dict.fromkeys(chain.from_iterable(side.judged.queries for side in sides))
    is_common = set(common)
    return common, places, tuple(query for query in every if query not in is_common)


def _counted_places(side: _Side) -> dict[str, int]:
    """Place of each query of a run that counts."""
    return {query: place for place, query in enumerate(side.judged.queries) if side.scored[place]}


def _documents(qrels: Qrels, ids: Sequence[str], sides: Sequence[_Side]) -> Documents:
    """Hits of both runs, joined by the row of the judgments."""
    place_of = {query: place for place, query in enumerate(ids)}
    places = np.array([place_of.get(query, -1) for query in qrels.queries], np.int64)
    rows = [_rows(side) for side in sides]
    row, place_of_hit = np.unique(np.concatenate(rows), return_inverse=True)
    query = places[np.searchsorted(qrels.offsets, row, side="right") - 1] if row.size else row
    rank = np.full((row.size, 2), np.inf)
    adds = np.zeros((row.size, 2))
    within = np.zeros((row.size, 2), bool)
    begin = 0
    for number, side in enumerate(sides):
        hit = place_of_hit.reshape(-1)[begin : begin + rows[number].size]
        begin += hit.size
        # A document that is listed twice adds twice, and has the better of its ranks.
        np.minimum.at(rank[:, number], hit, side.rank)
        np.add.at(adds[:, number], hit, side.added)
        np.logical_or.at(within[:, number], hit, side.within)
    is_compared = query >= 0
    query = query[is_compared]
    row = row[is_compared]
    rank = rank[is_compared]
    adds = adds[is_compared]
    within = within[is_compared]
    order = np.argsort(query, kind="stable")
    return Documents(
        query=query[order],
        row=row[order],
        rank=rank[order],
        added=adds[order],
        move=_moved(rank, within)[order],
    )


def _rows(side: _Side) -> IntArray:
    rows = side.judged.hits.document
    return np.zeros(0, np.int64) if rows is None else rows.astype(np.int64)


def _moved(rank: FloatArray, within: BoolArray) -> IntArray:
    """Place of each document's move in `MOVES`."""
    # A document below both cutoffs is present where a run returns it at all.
    present = np.where(within.any(axis=1, keepdims=True), within, np.isfinite(rank))
    up = rank[:, 1] < rank[:, 0]
    down = rank[:, 1] > rank[:, 0]
    moves: IntArray = np.select(
        [~present[:, 0], ~present[:, 1], up, down],
        [MOVES.index(move) for move in ("entered", "left", "moved up", "moved down")],
        MOVES.index("stayed"),
    )
    return moves


def _queries(
    ids: Sequence[str],
    values: FloatArray,
    rest: FloatArray,
    sides: Sequence[_Side],
    places: Sequence[IntArray],
    direction: int,
) -> tuple[QueryChange, ...]:
    difference = values[:, 1] - values[:, 0]
    side_a, side_b = sides
    rows_a, rows_b = places
    returned_a = side_a.judged.returned[rows_a]
    returned_b = side_b.judged.returned[rows_b]
    unjudged_a = side_a.unjudged[rows_a]
    unjudged_b = side_b.unjudged[rows_b]
    order = np.argsort(_sign(direction) * difference, kind="stable").tolist()
    return tuple(
        QueryChange(
            query=ids[int(place)],
            value_a=float(values[place, 0]),
            value_b=float(values[place, 1]),
            difference=float(difference[place]),
            answered_a=bool(returned_a[place] > 0),
            answered_b=bool(returned_b[place] > 0),
            unjudged_a=int(unjudged_a[place]),
            unjudged_b=int(unjudged_b[place]),
            rest=float(rest[place]),
        )
        for place in order
    )


def _moves(
    documents: Documents, rest: FloatArray, scale: float, difference: float
) -> tuple[Move, ...]:
    adds = (documents.added != 0).any(axis=1)
    moves: list[Move] = []
    for number, name in enumerate(MOVES):
        chosen = adds & (documents.move == number)
        total = float(np.sum(documents.difference[chosen])) * scale
        moves.append(_move(name, int(chosen.sum()), documents.query[chosen], total, difference))
    if rest.any():
        total = float(rest.sum()) * scale
        moves.append(_move("no document", 0, np.flatnonzero(rest), total, difference))
    return tuple(move for move in moves if move.queries)


def _move(
    name: MoveName, documents: int, queries: Iterable[int], total: float, difference: float
) -> Move:
    share = total / difference if difference else None
    return Move(
        move=name,
        documents=documents,
        queries=len(set(map(int, queries))),
        difference=total,
        share=share,
    )


def _without_rounding(rest: FloatArray, values: FloatArray) -> FloatArray:
    """Set a rest to 0 that is only the rounding of sums."""
    rounding = 1e-12 * np.maximum(1.0, np.abs(values).max(axis=1))
    return np.where(np.abs(rest) <= rounding, 0.0, rest)


def _rank(rank: float) -> float | None:
    if rank == np.inf:
        return None
    return int(rank) if rank == int(rank) else rank


def _sign(direction: int) -> int:
    return -1 if direction < 0 else 1
