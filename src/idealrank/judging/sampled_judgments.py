"""Measures of runs from a stratified sample of judgments: xinfAP, infNDCG, statAP, and
Horvitz-Thompson estimates of DCG.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self, TypeAlias, get_args

import numpy as np

from idealrank.bounds.value_bounds import AnyQrels, AnyRun, as_qrels, as_run
from idealrank.conventions import Convention
from idealrank.data.interchange import finite
from idealrank.data.types import BoolArray, FloatArray, IntArray, decode_id
from idealrank.errors import InputError, OptionError
from idealrank.judging.pools import Pool
from idealrank.measures.measure import number_option
from idealrank.stats.intervals import Interval, mean_interval

SampledMeasure: TypeAlias = Literal["infAP", "xinfAP", "infNDCG", "statAP", "DCG"]
SAMPLED_MEASURES: tuple[SampledMeasure, ...] = get_args(SampledMeasure)
LARGEST_SHORTFALL = 0.05
"""Shortfall of an estimate beyond which it has no interval; see `SampledJudgments.shortfall`."""
# Added to the relevant documents above a rank; sample_eval.pl adds three of it to the sampled ones,
# trec_eval two.
_EPSILON = 0.00001
_MOST_RANKS = 1000  # that sample_eval.pl reads


class DrawnDocument(NamedTuple):
    """One pooled document, with its inclusion probability, and whether it was drawn."""

    query: str
    document: str
    stratum: str
    probability: float
    sampled: bool


class _GradedDocument(NamedTuple):
    """One row of `SampledJudgments.of_rows`."""

    query: str
    document: str
    stratum: object
    grade: float | None  # None if it was not sampled
    probability: float | None = None  # None for the sampled share of the stratum


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledQuery:
    """Pooled documents of one query, some of them sampled and judged.

    Attributes
    ----------
    documents : dict of str to int
        Place of each pooled document.
    stratum : int64 array, shape (n_documents,)
        Code of the stratum, from 0.
    probability : float64 array, shape (n_documents,)
        Inclusion probability.
    grade : float64 array, shape (n_documents,)
        Grade; NaN where the document was not sampled.
    """

    documents: dict[str, int]
    stratum: IntArray
    probability: FloatArray
    grade: FloatArray

    @property
    def sampled(self) -> BoolArray:
        """Mark sampled documents."""
        return ~np.isnan(self.grade)

    @property
    def gain(self) -> FloatArray:
        """Grades above 0; 0 elsewhere."""
        return np.where(self.sampled, np.maximum(np.nan_to_num(self.grade), 0.0), 0.0)

    @property
    def rate(self) -> FloatArray:
        """Sampled share of each document's stratum, from the sample itself."""
        size = np.bincount(self.stratum)
        sampled = np.bincount(self.stratum, weights=self.sampled, minlength=size.size)
        return np.asarray((sampled / size)[self.stratum])


@dataclass(frozen=True, eq=False)
class SampledJudgments:
    """A pool with the grades of its sampled documents.

    Attributes
    ----------
    queries : dict of str to SampledQuery
        Pooled documents by query.

    Examples
    --------
    >>> sample = SampledJudgments.of_rows(
    ...     [("q", "a", 1, 1.0), ("q", "b", 2, 0.0), ("q", "c", 2, None)]
    ... )
    >>> sample.queries["q"].rate.tolist()
    [1.0, 0.5, 0.5]
    """

    queries: dict[str, SampledQuery]

    @classmethod
    def of(cls, pool: Pool, qrels: AnyQrels) -> Self:
        """Join a pool with the judgments of its sampled documents.

        Raises
        ------
        InputError
            A sampled document has no judgment.
        """
        drawn = [
            DrawnDocument(
                query=pool.query_ids[int(pool.query[row])],
                document=document,
                stratum=str(pool.stratum[row]),
                probability=float(pool.probability[row]),
                sampled=bool(pool.sampled[row]),
            )
            for row, document in enumerate(pool.documents)
        ]
        return cls.of_drawn(drawn, qrels)

    @classmethod
    def of_drawn(cls, drawn: "Sequence[Any]", qrels: AnyQrels) -> Self:
        """Join rows with the attributes query, document, stratum, probability and sampled with the
        judgments of the sampled documents.

        Raises
        ------
        InputError
            A sampled document has no judgment.
        """
        table = as_qrels(qrels)
        rows = []
        judged: dict[str, dict[str, float]] = {}
        for pooled in drawn:
            if pooled.query not in judged:
                has_judgments = pooled.query in table
                judged[pooled.query] = table[pooled.query] if has_judgments else {}
            grade = judged[pooled.query].get(pooled.document) if pooled.sampled else None
            if pooled.sampled and grade is None:
                raise InputError(
                    f"query {pooled.query!r}, document {pooled.document!r}: found no judgment, "
                    "expected one of every sampled document; judge it first, or take the query out "
                    "of the sample"
                )
            rows.append(
                _GradedDocument(
                    query=pooled.query,
                    document=pooled.document,
                    stratum=pooled.stratum,
                    grade=grade,
                    probability=pooled.probability,
                )
            )
        return cls.of_rows(rows)

    @classmethod
    def of_rows(cls, rows: "Sequence[tuple[Any, ...]]") -> Self:
        """Build from rows of query, document, stratum, grade or None, and optionally the inclusion
        probability.

        Without probabilities, each document of a stratum has the share of the stratum that is
        sampled.

        Raises
        ------
        InputError
            A document comes twice for a query, a probability is not in (0, 1], or a stratum has no
            sampled document.
        """
        by_query: dict[str, list[_GradedDocument]] = {}
        for row in rows:
            graded = _GradedDocument(*row)
            by_query.setdefault(graded.query, []).append(graded)
        return cls({query: _sampled_query(query, graded) for query, graded in by_query.items()})

    @property
    def n_sampled(self) -> int:
        """Number of judgments."""
        return sum(int(query.sampled.sum()) for query in self.queries.values())

    @property
    def relevant_per_query(self) -> float:
        """Sampled documents that are relevant (grade above 0), mean over the queries."""
        return float(np.mean([(query.gain > 0).sum() for query in self.queries.values()]))

    @property
    def n_without_relevant(self) -> int:
        """Number of queries without a relevant document in the sample; their values are 0."""
        return sum(not (query.gain > 0).any() for query in self.queries.values())

    @property
    def shortfall(self) -> float:
        """Share by which estimates of AP and nDCG are about too low, from 0 to 1.

        It is ``x / (1 + x)``. Here x is the estimated share of relevant documents that were not
        sampled, divided by the mean number of sampled relevant documents of a query. It is 0 if all
        pooled documents were judged, and 1 if no sampled document is relevant. In the simulation of
        the guide, inferred AP is too low by about this share, and inferred nDCG by about half of
        it.
        """
        n_sampled_relevant = self.relevant_per_query * len(self.queries)
        if not n_sampled_relevant:
            return 0.0 if self.n_sampled == self.n_pooled else 1.0
        # Horvitz-Thompson: a relevant document that was drawn with probability p stands for 1 / p
        n_relevant = sum(
            float((1 / query.probability[query.gain > 0]).sum()) for query in self.queries.values()
        )
        ratio = max(1 - n_sampled_relevant / n_relevant, 0.0) / self.relevant_per_query
        return ratio / (1 + ratio)

    @property
    def n_pooled(self) -> int:
        """Number of pooled documents."""
        return sum(len(query.documents) for query in self.queries.values())


def _sampled_query(query: str, rows: Sequence[_GradedDocument]) -> SampledQuery:
    names = [row.document for row in rows]
    documents = {name: place for place, name in enumerate(names)}
    if len(documents) < len(rows):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"query {query!r}, document {twice!r}: found it twice, expected each pooled document "
            "once"
        )
    strata = np.array([str(row.stratum) for row in rows])
    stratum = np.unique(strata, return_inverse=True)[1].reshape(-1).astype(np.int64)
    # None becomes NaN
    grade = np.array([row.grade for row in rows], np.float64)
    sampled_query = SampledQuery(
        documents=documents, stratum=stratum, probability=np.ones(len(rows)), grade=grade
    )
    if rows[0].probability is None:
        probability = sampled_query.rate
    else:
        probability = np.array([row.probability for row in rows], np.float64)
    wrong = ~((probability > 0) & (probability <= 1))
    if wrong.any():
        first_wrong = int(np.argmax(wrong))
        raise InputError(
            f"query {query!r}, document {names[first_wrong]!r}: found inclusion probability "
            f"{probability[first_wrong]:g}, expected a number above 0 and up to 1; a stratum "
            "without a sampled document shows nothing"
        )
    return replace(sampled_query, probability=probability)


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledEstimate:
    """A measure of a run, estimated from a sample of judgments.

    Attributes
    ----------
    run, measure : str
        Name of the run, and the measure.
    query_ids : tuple of str
        Queries of the sample.
    values : float64 array, shape (n_queries,)
        Estimate of each query; 0 where the run does not answer it.
    interval : Interval
        Mean with its t interval over queries, which covers the sampling of documents, too. None for
        one query, and if `shortfall` is above `LARGEST_SHORTFALL`: the interval would exclude the
        true value too often.
    sampling_se : float or None
        Standard error of the mean by the sampling of documents alone, for these queries; None where
        no formula is exact.
    shortfall : float
        Share by which the estimate, or the difference, is about too small; see
        `SampledJudgments.shortfall`. 0 for DCG, which is unbiased.

    Examples
    --------
    >>> sample = SampledJudgments.of_rows([("q", "a", 1, 1.0), ("q", "b", 1, 0.0)])
    >>> sampled_estimate(sample, {"q": ["b", "a"]}, "statAP").mean
    0.5
    """

    run: str
    measure: str
    query_ids: tuple[str, ...]
    values: FloatArray
    interval: Interval | None
    sampling_se: float | None
    shortfall: float = 0.0

    @property
    def is_biased(self) -> bool:
        """True if too few relevant documents were sampled for an interval.

        With 250 queries and a sample of 15 %, intervals of level 95 % would contain a difference of
        xinfAP in 5 to 50 % of cases.
        """
        return self.shortfall > LARGEST_SHORTFALL

    @property
    def mean(self) -> float:
        """Mean over the queries."""
        return float(self.values.mean())

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        interval = self.interval
        return {
            "run": self.run,
            "measure": self.measure,
            "mean": self.mean,
            "low": None if interval is None else float(interval.low),
            "high": None if interval is None else float(interval.high),
            "sampling_se": None if self.sampling_se is None else finite(self.sampling_se),
            "shortfall": self.shortfall,
            "queries": dict(zip(self.query_ids, self.values.tolist(), strict=True)),
        }


def sampled_estimate(
    sample: SampledJudgments,
    run: AnyRun,
    measure: SampledMeasure = "xinfAP",
    *,
    against: "AnyRun | None" = None,
    cutoff: int | None = None,
    level: float = 0.95,
    convention: "Convention | str" = "standard",
) -> SampledEstimate:
    r"""Estimate a measure of a run, or of the difference of two, from a stratified sample of
    judgments.

    Parameters
    ----------
    sample : SampledJudgments
        Pooled documents, with the grades of the sampled ones.
    run : Run or mapping
        The run.
    measure : str
        One of:

        * ``xinfAP``: AP inferred stratum by stratum, as NIST's ``sample_eval.pl`` computes it;
        * ``infAP``: the same with all pooled documents in one stratum, for a pool sampled at one
          rate, as trec_eval computes it;
        * ``infNDCG``: DCG inferred stratum by stratum over the ideal of the estimated numbers of
          documents of each grade, as in ``sample_eval.pl``; gains are the grades, discounts
          ``log2(rank + 1)``;
        * ``statAP``: AP from inclusion probabilities, as in ``statAP_MQ_eval``;
        * ``DCG``: the Horvitz-Thompson estimate ``sum gain / (p log2(rank + 1))``, which is
          unbiased.
    against : Run or mapping, optional
        Estimate the value of `run` less the value of this run.
    cutoff : int, optional
        Ranks that count, of DCG; the others read up to 1,000 ranks, as their programs do.
    level : float
        Confidence level, in (0, 1).
    convention : Convention or str
        Its order of ties.

    Returns
    -------
    SampledEstimate

    Raises
    ------
    OptionError
        No such measure, or a cutoff of a measure without.
    InputError
        The run answers none of the sampled queries.

    Notes
    -----
    Documents outside the pool count as not relevant. A query without a relevant document in the
    sample has the value 0. With few sampled relevant documents, all measures but DCG are therefore
    too low, and differences too small: `SampledJudgments.shortfall` estimates by how much. For an
    unbiased estimate that uses grades of a judge for the documents that were not sampled, see
    `correct_documents`.

    References
    ----------
    Yilmaz and Aslam (2006), Estimating average precision with incomplete and imperfect judgments,
    CIKM, for infAP. Yilmaz, Kanoulas and Aslam (2008), A simple and efficient sampling method for
    estimating AP and NDCG, SIGIR, sections 3 and 4. Aslam and Pavlu (2007), A practical sampling
    strategy for efficient retrieval evaluation. Horvitz and Thompson (1952), JASA 47.

    Examples
    --------
    >>> sample = SampledJudgments.of_rows(
    ...     [("q", "a", 1, 1.0), ("q", "b", 2, 1.0), ("q", "c", 2, None)]
    ... )
    >>> sampled_estimate(sample, {"q": ["a", "x", "b"]}, "DCG").mean
    2.0
    """
    if measure not in SAMPLED_MEASURES:
        raise OptionError(f"measure={measure!r}: expected one of {', '.join(SAMPLED_MEASURES)}")
    if cutoff is not None and measure != "DCG":
        raise OptionError(f"cutoff={cutoff!r}: found it with {measure}, expected it with DCG alone")
    limit = _MOST_RANKS if cutoff is None else int(number_option("cutoff", cutoff, 1, 1e9))
    resolved = Convention.of(convention)
    runs = [as_run(run, "run")]
    title = runs[0].name
    if against is not None:
        runs.append(as_run(against, "against"))
        title = f"{runs[0].name} - {runs[1].name}"
    answers = [_pooled_places(side, sample, resolved, limit) for side in runs]
    if not any(answers):
        complaint = f"answers none of the {len(sample.queries):,} sampled queries"
        if len(sample.queries) == 1:
            complaint = "does not answer the sampled query"
        raise InputError(f"no query to estimate: run {runs[0].name!r} {complaint}")

    rule = _RULES[measure]
    values = np.zeros(len(sample.queries))
    # one run: its value; two: the value of the first less the value of the second
    for sign, places in zip((1.0, -1.0), answers, strict=False):
        of_run = [
            rule(sampled_query, places[query]) if query in places else 0.0
            for query, sampled_query in sample.queries.items()
        ]
        values += sign * np.array(of_run)

    name: str = measure
    sampling_se = None
    shortfall = sample.shortfall
    if measure == "DCG":
        name = measure if cutoff is None else f"DCG@{cutoff}"
        variances = []
        for query, sampled_query in sample.queries.items():
            ranked_places = [places.get(query, _NOTHING) for places in answers]
            variances.append(_dcg_variance(sampled_query, ranked_places))
        sampling_se = float(np.sqrt(sum(variances)) / values.size)
        shortfall = 0.0
    interval = None
    if values.size > 1 and shortfall <= LARGEST_SHORTFALL:
        interval = mean_interval(values, level=level)
    return SampledEstimate(
        run=title,
        measure=name,
        query_ids=tuple(sample.queries),
        values=values,
        interval=interval,
        sampling_se=sampling_se,
        shortfall=shortfall,
    )


_NOTHING = np.empty(0, np.int64)  # the list of a run that does not answer the query


def _pooled_places(
    run: Any, sample: SampledJudgments, convention: Convention, limit: int
) -> dict[str, IntArray]:
    """Return the place among the pooled documents at each rank of each list; -1 for a document
    outside the pool.
    """
    in_memory = run.in_memory()
    answered = {decode_id(query) for query in in_memory.source.query_ids()}
    places = {}
    for query, sampled_query in sample.queries.items():
        if query in answered:
            ranked = in_memory.ranking(query, convention.alignment, depth=limit).documents
            pooled = sampled_query.documents
            places[query] = np.array([pooled.get(document, -1) for document in ranked], np.int64)
    return places


def _xinf_ap(query: SampledQuery, ranked: IntArray, kinds: int = 3) -> float:
    """Return the mean over sampled relevant documents of the expected precision at their rank, each
    stratum by its estimated share of the relevant. `kinds` is the number of kinds of judgments.
    """
    n_strata = int(query.stratum.max()) + 1
    sampled = query.sampled
    relevant = query.gain > 0
    n_pooled = np.bincount(query.stratum, minlength=n_strata)
    n_sampled = np.bincount(query.stratum, weights=sampled, minlength=n_strata)
    n_relevant = np.bincount(query.stratum, weights=relevant, minlength=n_strata)
    scale = np.divide(n_pooled, n_sampled, out=np.zeros(n_strata), where=n_sampled > 0)
    total = float((n_relevant * scale).sum())
    if not total:
        return 0.0
    # documents above the current rank, by stratum
    n_above = np.zeros(n_strata)
    sampled_above = np.zeros(n_strata)
    relevant_above = np.zeros(n_strata)
    value = 0.0
    for rank, place in enumerate(ranked.tolist(), 1):
        if place < 0:
            continue
        stratum = query.stratum[place]
        if relevant[place]:
            # documents above, times the share of the sampled ones among them that are relevant
            smoothed_relevant = relevant_above + _EPSILON
            smoothed_sampled = sampled_above + kinds * _EPSILON
            expected = float((n_above * smoothed_relevant / smoothed_sampled).sum())
            precision = 1 / rank + expected / rank
            value += precision * float(scale[stratum])
        n_above[stratum] += 1
        sampled_above[stratum] += sampled[place]
        relevant_above[stratum] += relevant[place]
    return value / total


def _inf_ap(query: SampledQuery, ranked: IntArray) -> float:
    return _xinf_ap(replace(query, stratum=np.zeros_like(query.stratum)), ranked, kinds=2)


def _inf_ndcg(query: SampledQuery, ranked: IntArray) -> float:
    """Return DCG from the mean gain of the sampled documents returned in each stratum, over the
    ideal of rounded numbers of each grade.
    """
    ideal = _ideal_of_counts(query)
    if not ideal:
        return 0.0
    n_strata = int(query.stratum.max()) + 1
    pooled = ranked[ranked >= 0]
    ranks = np.flatnonzero(ranked >= 0) + 1
    discounted = query.gain[pooled] / np.log2(ranks + 1)
    stratum = query.stratum[pooled]
    n_returned = np.bincount(stratum, minlength=n_strata)
    n_sampled = np.bincount(stratum, weights=query.sampled[pooled], minlength=n_strata)
    sums = np.bincount(stratum, weights=discounted, minlength=n_strata)
    dcg = np.divide(n_returned * sums, n_sampled, out=np.zeros(n_strata), where=n_sampled > 0)
    return float(dcg.sum()) / ideal


def _ideal_of_counts(query: SampledQuery) -> float:
    """Return the DCG of the ideal list of the estimated number of documents of each grade."""
    scale = 1 / query.rate
    ideal = 0.0
    begin = 0  # ranks that higher grades fill
    for grade in sorted({float(gain) for gain in query.gain[query.gain > 0]}, reverse=True):
        count = int(float(scale[query.gain == grade].sum()) + 0.5)
        ranks = np.arange(begin + 1, min(begin + count, _MOST_RANKS) + 1)
        ideal += grade * float((1 / np.log2(ranks + 1)).sum())
        begin += count
    return ideal


def _stat_ap(query: SampledQuery, ranked: IntArray) -> float:
    """Return the sum of estimated precisions at sampled relevant documents, each over its
    probability, over the estimated number of relevant documents.
    """
    relevant = query.gain > 0
    total = float((1 / query.probability[relevant]).sum())
    if not total:
        return 0.0
    precision_sum = 0.0
    relevant_above = 0.0
    for rank, place in enumerate(ranked.tolist(), 1):
        if place >= 0 and relevant[place]:
            precision_sum += (1 + relevant_above) / rank / float(query.probability[place])
            relevant_above += 1 / float(query.probability[place])
    return precision_sum / total


def _dcg(query: SampledQuery, ranked: IntArray) -> float:
    pooled = ranked[ranked >= 0]
    ranks = np.flatnonzero(ranked >= 0) + 1
    return float((query.gain[pooled] / query.probability[pooled] / np.log2(ranks + 1)).sum())


def _dcg_variance(query: SampledQuery, ranked_places: Sequence[IntArray]) -> float:
    """Estimate the variance of the Horvitz-Thompson sum, or of the difference of two, under simple
    random sampling within each stratum.
    """
    weight = np.zeros(query.grade.size)
    for sign, ranked in zip((1.0, -1.0), ranked_places, strict=False):
        pooled = ranked[ranked >= 0]
        ranks = np.flatnonzero(ranked >= 0) + 1
        weight[pooled] += sign / np.log2(ranks + 1)
    worth = weight * query.gain
    total = 0.0
    for stratum in range(int(query.stratum.max()) + 1):
        inside = query.stratum == stratum
        n_all = int(inside.sum())
        drawn = worth[inside & query.sampled]
        if drawn.size < n_all:
            spread = float(drawn.var(ddof=1)) if drawn.size > 1 else np.nan
            total += n_all * (n_all - drawn.size) * spread / drawn.size
    return total


_RULES: "Mapping[str, Callable[[SampledQuery, IntArray], float]]" = {
    "infAP": _inf_ap,
    "xinfAP": _xinf_ap,
    "infNDCG": _inf_ndcg,
    "statAP": _stat_ap,
    "DCG": _dcg,
}
