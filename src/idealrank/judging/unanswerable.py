"""Queries whose right answer is nothing: the share for which a run returns documents all the same,
and its recall, by threshold of the score.
"""

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from idealrank.bounds.value_bounds import AnyQrels, AnyRun, as_qrels, as_run
from idealrank.conventions import Convention
from idealrank.data.interchange import finite
from idealrank.data.one_query import in_memory
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError
from idealrank.judging.gold import wilson_interval
from idealrank.measures.measure import number_option
from idealrank.stats.intervals import mean_interval
from idealrank.stats.randomness import RandomLike, generator_of, whole_number


@dataclass(frozen=True, kw_only=True, eq=False)
class NoAnswer:
    """False returns of a run beside its recall, over thresholds of its scores; see `no_answer`.

    Attributes
    ----------
    name : str
        Name of the run.
    cutoff : int
        Ranks that a user sees.
    limit : float or None
        Highest false-return rate that the chosen threshold may have; None balances it with recall.
    answerable, unanswerable : sequence of str
        Queries with a relevant document, and queries declared to have no answer.
    left_out : int
        Judged queries without a relevant document that were not declared: nothing says whether they
        have an answer.
    thresholds : float64 array, shape (n_thresholds,)
        Scores at which either rate changes, falling. Documents with this score or a higher one are
        returned. The first is infinite and returns nothing.
    recall, false_return_rate : float64 array, shape (n_thresholds,)
        Mean recall of the answerable queries; share of the unanswerable ones for which the run
        returns a document.
    threshold : float
        Threshold chosen on all queries.
    fold_thresholds : float64 array, shape (n_folds,)
        Thresholds chosen without one fold of the queries.
    chosen_recall, chosen_false_return_rate : float
        Both rates with the threshold chosen on other queries (cross-fitted).
    recall_interval, false_return_interval : tuple of float
        Their confidence intervals: by Student's t, and Wilson's.
    confidence : float
        Confidence level.

    Examples
    --------
    >>> qrels = {f"q{i}": {"a": 1} for i in range(4)}
    >>> run = {
    ...     **{query: {"a": 0.9, "b": 0.2} for query in qrels},
    ...     "n0": {"c": 0.4},
    ...     "n1": {"c": 0.3},
    ... }
    >>> rates = no_answer(qrels, run, ["n0", "n1"])
    >>> rates.thresholds, rates.recall, rates.false_return_rate, rates.threshold
    (array([inf, 0.9, 0.4, 0.3]), array([0., 1., 1., 1.]), array([0. , 0. , 0.5, 1. ]), 0.9)
    """

    name: str
    cutoff: int
    limit: float | None
    answerable: Sequence[str]
    unanswerable: Sequence[str]
    left_out: int
    thresholds: FloatArray
    recall: FloatArray
    false_return_rate: FloatArray
    threshold: float
    fold_thresholds: FloatArray
    chosen_recall: float
    recall_interval: tuple[float, float]
    chosen_false_return_rate: float
    false_return_interval: tuple[float, float]
    confidence: float

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record; None for an infinite threshold."""
        sweep = zip(
            self.thresholds.tolist(),
            self.recall.tolist(),
            self.false_return_rate.tolist(),
            strict=True,
        )
        return {
            "run": self.name,
            "cutoff": self.cutoff,
            "limit": self.limit,
            "confidence": self.confidence,
            "answerable": len(self.answerable),
            "unanswerable": len(self.unanswerable),
            "left_out": self.left_out,
            "threshold": finite(self.threshold),
            "fold_thresholds": [finite(threshold) for threshold in self.fold_thresholds.tolist()],
            "recall": {
                "value": self.chosen_recall,
                "interval": [finite(end) for end in self.recall_interval],
            },
            "false_return_rate": {
                "value": self.chosen_false_return_rate,
                "interval": [finite(end) for end in self.false_return_interval],
            },
            "sweep": [
                {"threshold": finite(threshold), "recall": recall, "false_return_rate": rate}
                for threshold, recall, rate in sweep
            ],
        }


def no_answer(
    qrels: AnyQrels,
    run: AnyRun,
    queries: Iterable[str],
    *,
    cutoff: int = 10,
    rel: float = 1,
    limit: float | None = None,
    folds: int = 2,
    confidence: float = 0.95,
    rng: RandomLike = None,
    convention: "Convention | str" = "standard",
) -> NoAnswer:
    """Compute the false-return rate of queries without an answer, beside recall, for every
    threshold of the score.

    A query without relevant documents in the qrels may have an answer that was not judged. Queries
    without an answer are therefore declared, and never guessed.

    Parameters
    ----------
    qrels : Qrels or mapping
        What was judged.
    run : Run or mapping
        What was returned, with scores that can be compared between queries.
    queries : iterable of str
        Queries whose right answer is nothing. A query that the run lacks returns nothing.
    cutoff : int
        Ranks that a user sees: recall counts relevant documents down to it.
    rel : float
        Lowest grade of a relevant document.
    limit : float, optional
        Highest false-return rate, in [0, 1]: the threshold chosen has the highest recall among
        those that keep it. Default: the highest difference of recall and false-return rate
        (Youden's index). Of equal thresholds, the highest is chosen.
    folds : int
        Parts of the queries for cross-fitting, at most as many as there are queries of either kind.
        More parts choose thresholds on more queries, and make intervals too narrow; see Notes.
    confidence : float
        Confidence level.
    rng : Generator or seed
        Assigns queries to folds; by default a seed from the names of the queries.
    convention : Convention or str
        Convention of the ranking.

    Returns
    -------
    NoAnswer

    Raises
    ------
    InputError
        A declared query has a relevant document, or there are fewer than two queries of either
        kind.
    OptionError
        An option is impossible.

    Notes
    -----
    Rates at a threshold that was chosen on the same queries are too good. Each query is therefore
    measured at the threshold chosen without its fold; intervals are over these values. They hold
    for the procedure: thresholds chosen on ``(folds - 1) / folds`` of such queries. Values depend
    on each other by the thresholds, the more the more folds there are, and the intervals do not
    count that. In simulations (100 queries with an answer and 60 without, and more) intervals of 95
    % cover the true rates in 93 to 97 % of cases with two folds, and in fewer with ten.

    References
    ----------
    Youden (1950), Index for rating diagnostic tests. Cancer 3. Wilson (1927), Probable inference,
    JASA 22.

    Examples
    --------
    >>> qrels = {f"q{i}": {"a": 1} for i in range(20)}
    >>> run = {query: {"a": 0.5 + number / 40} for number, query in enumerate(qrels)}
    >>> run |= {f"n{i}": {"b": 0.3 + i / 30} for i in range(10)}
    >>> rates = no_answer(qrels, run, [f"n{i}" for i in range(10)], limit=0.1)
    >>> rates.threshold, rates.chosen_recall, rates.chosen_false_return_rate
    (0.575, 0.8, 0.1)
    """
    if isinstance(queries, str):
        raise InputError(
            f"queries: found the text {queries!r}, expected several ids, as in [{queries!r}]"
        )
    checked_run = as_run(run, "run")
    cutoff = whole_number("cutoff", cutoff)
    limit = None if limit is None else number_option("limit", limit, 0, 1)

    cases = _Cases.of(
        qrels=as_qrels(qrels),
        run=checked_run,
        declared=list(dict.fromkeys(queries)),
        cutoff=cutoff,
        rel=rel,
        convention=Convention.of(convention),
    )
    sweep = cases.sweep(np.ones(cases.n_answerable), np.ones(cases.top.size))
    fold, unanswerable_fold = _folds(cases, whole_number("folds", folds, 2), rng)
    # Each fold is measured at the threshold that the other folds choose.
    fold_thresholds = []
    for number in range(max(fold.max(), unanswerable_fold.max()) + 1):
        of_others = cases.sweep(fold != number, unanswerable_fold != number)
        fold_thresholds.append(_chosen(of_others, limit))
    thresholds = np.array(fold_thresholds)
    recall = cases.recall_at(thresholds[fold])
    returned = cases.top >= thresholds[unanswerable_fold]
    mean = mean_interval(recall, level=confidence)

    return NoAnswer(
        name=checked_run.name,
        cutoff=cutoff,
        limit=limit,
        answerable=cases.answerable,
        unanswerable=cases.unanswerable,
        left_out=cases.left_out,
        thresholds=sweep.threshold,
        recall=sweep.recall,
        false_return_rate=sweep.false_return_rate,
        threshold=_chosen(sweep, limit),
        fold_thresholds=thresholds,
        chosen_recall=float(recall.mean()),
        recall_interval=(max(float(mean.low), 0.0), min(float(mean.high), 1.0)),
        chosen_false_return_rate=float(returned.mean()),
        false_return_interval=wilson_interval(int(returned.sum()), returned.size, confidence),
        confidence=confidence,
    )


class _Sweep(NamedTuple):
    """Both rates by threshold, falling from infinity."""

    threshold: FloatArray
    recall: FloatArray
    false_return_rate: FloatArray


def _chosen(sweep: _Sweep, limit: float | None) -> float:
    """Choose the best threshold; the highest of equal ones."""
    if limit is None:
        worth = sweep.recall - sweep.false_return_rate
    else:
        worth = np.where(sweep.false_return_rate <= limit, sweep.recall, -np.inf)
    # Sums of shares that are equal on paper may differ in the last bits.
    best = np.flatnonzero(worth >= worth.max() - 1e-12)
    return float(sweep.threshold[best[0]])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Cases:
    """Scores that decide: of relevant documents within the cutoff, and of the first document of
    each unanswerable query.
    """

    answerable: Sequence[str]
    unanswerable: Sequence[str]
    left_out: int
    query: IntArray  # of each relevant document returned: code of its answerable query
    score: FloatArray  # its score
    share: FloatArray  # its share of the relevant documents of the query
    top: FloatArray  # highest score of each unanswerable query; -inf where nothing is returned

    @classmethod
    def of(
        cls,
        qrels: Qrels,
        run: Run,
        declared: Sequence[str],
        cutoff: int,
        rel: float,
        convention: Convention,
    ) -> "_Cases":
        """Rank every query once."""
        ranked_run = in_memory(run)
        relevant: dict[str, set[str]] = {}
        for query in qrels:
            grades = qrels[query]
            relevant[query] = {document for document, grade in grades.items() if grade >= rel}
        wrong = [query for query in declared if relevant.get(query)]
        if wrong:
            more = f"; {len(wrong):,} declared queries have one" if len(wrong) > 1 else ""
            raise InputError(
                f"query {wrong[0]!r}: found a relevant document in the judgments, expected none "
                f"for a query without an answer{more}"
            )
        answerable = [query for query, documents in relevant.items() if documents]
        if min(len(answerable), len(declared)) < 2:
            raise InputError(
                f"found {len(answerable)} queries with a relevant document and {len(declared)} "
                "declared to have no answer, expected two or more of each"
            )

        codes: list[int] = []
        scores: list[float] = []
        shares: list[float] = []
        for code, query in enumerate(answerable):
            for document, score in _ranked(ranked_run, query, convention, cutoff):
                if document in relevant[query]:
                    codes.append(code)
                    scores.append(score)
                    shares.append(1 / len(relevant[query]))
        tops = []
        for query in declared:
            ranked = _ranked(ranked_run, query, convention, cutoff)
            tops.append(max((score for _, score in ranked), default=-math.inf))

        # judged, without a relevant document, and not declared
        left_out = len(relevant.keys() - declared) - len(answerable)
        return cls(
            answerable=answerable,
            unanswerable=declared,
            left_out=left_out,
            query=np.array(codes, np.int64),
            score=np.array(scores),
            share=np.array(shares),
            top=np.array(tops),
        )

    @property
    def n_answerable(self) -> int:
        return len(self.answerable)

    def sweep(self, answerable: Any, unanswerable: Any) -> _Sweep:
        """Compute both rates over queries with these weights."""
        tops = self.top[np.isfinite(self.top)]
        threshold = np.concatenate(([np.inf], np.unique(np.concatenate((self.score, tops)))[::-1]))
        weight = np.asarray(answerable, np.float64)
        weight_of_top = np.asarray(unanswerable, np.float64)
        recalled = _reached(self.score, self.share * weight[self.query], threshold)
        returned = _reached(self.top, weight_of_top, threshold)
        return _Sweep(
            threshold=threshold,
            recall=recalled / weight.sum(),
            false_return_rate=returned / weight_of_top.sum(),
        )

    def recall_at(self, thresholds: FloatArray) -> FloatArray:
        """Compute the recall of each answerable query at its own threshold."""
        is_returned = self.score >= thresholds[self.query]
        recall = np.bincount(self.query[is_returned], self.share[is_returned], self.n_answerable)
        return recall.astype(np.float64, copy=False)


def _ranked(run: Run, query: str, convention: Convention, depth: int) -> list[tuple[str, float]]:
    """Return the first documents of a query with their scores; none if the run lacks the query."""
    try:
        ranking = run.ranking(query, convention.alignment, depth=depth)
    except KeyError:
        return []
    return list(zip(ranking.documents, ranking.scores.tolist(), strict=True))


def _reached(scores: FloatArray, weights: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Sum the weights of the scores that reach each threshold."""
    order = np.argsort(-scores, kind="stable")
    sums = np.concatenate(([0.0], np.cumsum(weights[order])))
    return np.asarray(sums[np.searchsorted(-scores[order], -thresholds, side="right")])


def _folds(cases: _Cases, folds: int, rng: RandomLike) -> tuple[IntArray, IntArray]:
    """Draw the fold of each answerable and of each unanswerable query: as many of each kind in
    every fold, but for one.
    """
    if rng is None:
        names = "\n".join((*cases.answerable, *cases.unanswerable))
        rng = zlib.crc32(names.encode("utf-8", "surrogatepass"))
    generator = generator_of(rng)
    n_folds = min(folds, cases.n_answerable, cases.top.size)
    answerable = generator.permutation(np.arange(cases.n_answerable) % n_folds)
    unanswerable = generator.permutation(np.arange(cases.top.size) % n_folds)
    return answerable, unanswerable
