"""DCG and NDCG from grades of a judge for all documents and grades of people for a sample of
them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.align import align
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray, IntArray, decode_id, table_columns
from idealrank.errors import InputError, OptionError
from idealrank.judging.correction import CorrectedEstimate
from idealrank.judging.ratings import check_confidence, t_quantile
from idealrank.measures.dcg import DCG, NDCG
from idealrank.measures.discounts import make_discount
from idealrank.measures.measure import Measure, number_option
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.measures.rules import checked
from idealrank.stats.randomness import RandomLike, generator_of, whole_number

Target: TypeAlias = Literal["sample", "fixed"]


@dataclass(frozen=True, kw_only=True)
class CorrectedDocuments(CorrectedEstimate):
    """DCG or NDCG of a run, or a difference of two, corrected document by document.

    Attributes
    ----------
    measure : str
        Text of the measure.
    estimate, standard_error : float
        Mean of DCG over queries, or for NDCG the sum of DCG over the sum of ideal DCG.
    interval : tuple of float
        Low and high.
    judge_estimate : float
        The value with the grades of the judge alone.
    human_estimate, human_error : float
        Estimate and standard error from the sampled human grades alone, without the judge.
    effective_labels : float
        Number of human grades, sampled likewise, that alone would be as sure of the value of these
        queries.
    n_labelled, n_documents, n_queries : int
        Documents with a human grade, all documents, and queries.
    df : float
        Degrees of freedom of the interval.
    confidence : float
        Confidence level.
    bootstrap_error : float
        Standard error by bootstrap, as a check; NaN where it was not asked for.
    target : {"mean", "ratio of sums"}
        Estimated number: for DCG the mean over queries; for nDCG the sum of DCG over the sum of
        ideal DCG. The ratio is not the mean of nDCG that `evaluate` gives: queries with a large
        ideal count more.
    weight : float
        Weight of the judge's grades, between 0 and 1.

    Examples
    --------
    >>> judge = {"q": {"a": 2, "b": 1, "c": 0, "d": 0}, "r": {"a": 1, "b": 0, "c": 1, "d": 0}}
    >>> human = {"q": {"a": 2, "b": 0, "c": 0}, "r": {"a": 0, "c": 1, "d": 1}}
    >>> corrected = correct_documents(human, judge, {"q": ["a", "b"], "r": ["c", "d"]}, "DCG@2")
    >>> corrected.n_labelled, round(corrected.judge_estimate, 4)
    (6, 1.8155)
    """

    measure: str
    n_documents: int
    n_queries: int
    bootstrap_error: float = math.nan
    target: Literal["mean", "ratio of sums"] = "mean"
    weight: float = 1.0


def correct_documents(
    human: "Qrels | Mapping[str, Mapping[str, float]]",
    judge: "Qrels | Mapping[str, Mapping[str, float]]",
    run: "Run | Mapping[str, object]",
    measure: MeasureLike = "nDCG@10",
    *,
    against: "Run | Mapping[str, object] | None" = None,
    probability: "Qrels | Mapping[str, Mapping[str, float]] | None" = None,
    convention: "Convention | str" = "standard",
    weight: float = 1.0,
    queries: Target = "sample",
    confidence: float = 0.95,
    resamples: int = 0,
    rng: RandomLike = 0,
) -> CorrectedDocuments:
    """Estimate DCG or NDCG from grades of a judge for every document and grades of people for a
    random sample of documents.

    Each document counts ``f + (y - f) / p`` where a person graded it and ``f`` elsewhere: f is the
    judge's gain, y the human gain, p the probability that the document was sampled. DCG is linear
    in this, so the estimate is unbiased for every judge. The ideal is computed from estimated
    numbers of documents of each grade, which are corrected alike, and NDCG is the ratio of the two
    sums over queries: the ideal of a single query, from a few grades, is too uncertain to divide
    by.

    Parameters
    ----------
    human : Qrels or mapping
        Human grades of sampled documents, all of which the judge graded too.
    judge : Qrels or mapping
        The judge's grades of all documents that could be returned.
    run : Run or mapping
        The ranking.
    measure : Measure or str
        DCG or NDCG.
    against : Run or mapping, optional
        Estimate the value of `run` less the value of this run, on the same grades.
    probability : Qrels or mapping, optional
        Probability with which each document with a human grade was sampled, in (0, 1],
        independently of the others. By default the sample is stratified by the judge's grade:
        within each grade, every set of documents was equally likely.
    convention : Convention or str
        Gain, discount and ties.
    weight : float
        Weight of the judge, from 0 (human grades alone) to 1.
    queries : {"sample", "fixed"}
        The interval is about all queries of which these are a sample; or about these queries alone,
        and what complete human grades would show.
    confidence : float
        Confidence level.
    resamples : int
        Number of bootstrap draws of sampled grades (or of queries) that check the standard error; 0
        for none.
    rng : Generator or seed
        Random numbers of the bootstrap.

    Returns
    -------
    CorrectedDocuments
        Estimate, interval, and what the judge alone and people alone say.

    Raises
    ------
    InputError
        The judge did not grade a document with a human grade, a grade of the judge has fewer than
        two human grades, a probability is missing or outside (0, 1], or the ideal is 0.
    OptionError
        The measure is not DCG or NDCG with a constant cutoff, the ideal of judged documents and no
        rounding.

    Notes
    -----
    The standard error of NDCG is that of the ratio by the delta method. With few sampled grades,
    NDCG is biased: the ideal is a concave function of the counts, and its estimate too low on
    average. In the simulation of the page on label worth, NDCG is too high, and 95 % intervals
    contain it in 87 to 89 % of cases. With other grades it can be too low. The ratio is another
    number than the mean of NDCG over queries. Label whole queries and use `correct_run` where that
    mean is wanted.

    References
    ----------
    Horvitz and Thompson (1952), JASA 47; Cochran (1977), Sampling Techniques, sections 5A and 6;
    Yilmaz, Kanoulas and Aslam (2008), A simple and efficient sampling method for estimating AP and
    NDCG, SIGIR.

    Examples
    --------
    >>> judge = {"q": {"a": 2, "b": 1, "c": 0, "d": 0}, "r": {"a": 1, "b": 0, "c": 1, "d": 0}}
    >>> human = {"q": {"a": 2, "b": 0, "c": 0}, "r": {"a": 0, "c": 1, "d": 1}}
    >>> round(
    ...     correct_documents(human, judge, {"q": ["a", "b"], "r": ["c", "d"]}, "DCG@2").estimate, 4
    ... )
    2.1309
    """
    resolved = Convention.of(convention) if isinstance(convention, str) else convention
    dcg_or_ndcg = _check_measure(parse_measure(measure), resolved)
    checked("queries", queries, Target)
    check_confidence(confidence)
    weight = number_option("weight", weight, 0, 1)
    if whole_number("resamples", resamples, 0) == 1:
        raise OptionError(
            "resamples=1: expected 0 for no bootstrap, or at least 2; one draw shows no variation"
        )

    judge_qrels = judge if isinstance(judge, Qrels) else Qrels(judge, name="judge")
    human_qrels = human if isinstance(human, Qrels) else Qrels(human, name="human")
    if probability is not None and not isinstance(probability, Qrels):
        probability = Qrels(probability, name="probability")
    sample = _Sample.of(human_qrels, judge_qrels, probability)
    weights = _rank_weights(judge_qrels, run, dcg_or_ndcg, resolved)
    if against is not None:
        weights = weights - _rank_weights(judge_qrels, against, dcg_or_ndcg, resolved)

    estimator = _Estimator(sample, weights, dcg_or_ndcg, weight)
    people_alone = _Estimator(sample, weights, dcg_or_ndcg, 0.0)
    judge_alone = _Estimator(sample, weights, dcg_or_ndcg, 1.0)
    value = estimator.value()
    error, df = sample.error(estimator, queries)
    human_error, _ = sample.error(people_alone, queries)
    reach = error * t_quantile(confidence, df)
    bootstrap_error = math.nan
    if resamples:
        generator = generator_of(rng)
        bootstrap_error = _bootstrap(estimator, sample, queries, resamples, generator)

    sampling_error, _ = sample.error(estimator, "fixed")
    human_sampling_error, _ = sample.error(people_alone, "fixed")
    n_labelled = sample.n_labelled
    n_documents = sample.judge.size
    effective = float(n_labelled)
    if human_sampling_error > 0:
        # All documents leave no error: the variance falls with 1 / n_labelled - 1 / n_documents.
        variance_ratio = (sampling_error / human_sampling_error) ** 2
        share = variance_ratio * (1 / n_labelled - 1 / n_documents)
        effective = 1 / (1 / n_documents + share)
    return CorrectedDocuments(
        measure=str(parse_measure(measure)),
        estimate=value,
        standard_error=error,
        interval=(value - reach, value + reach),
        judge_estimate=judge_alone.value(np.zeros_like(sample.inverse)),  # no human grade counts
        human_estimate=people_alone.value(),
        human_error=human_error,
        effective_labels=effective,
        n_labelled=n_labelled,
        n_documents=n_documents,
        n_queries=sample.n_queries,
        df=df,
        confidence=confidence,
        bootstrap_error=bootstrap_error,
        target="ratio of sums" if has_ideal(dcg_or_ndcg) else "mean",
        weight=weight,
    )


def _check_measure(measure: object, convention: Convention) -> "DCG | NDCG":
    if not isinstance(measure, (DCG, NDCG)):
        raise OptionError(
            f"measure {measure}: expected DCG or nDCG",
            hint="for other measures label whole queries, and use judging.correct_run",
            command_hint="for other measures label whole queries, and use --by queries",
        )
    resolved = measure.under(convention)
    ideal = resolved.ideal if has_ideal(resolved) else "judged"
    if (
        not (resolved.cutoff is None or isinstance(resolved.cutoff, int))
        or resolved.rounding not in (None, "none")
        or ideal != "judged"
    ):
        raise OptionError(
            f"measure {measure}: found cutoff {resolved.cutoff}, ideal {ideal}, rounding "
            f"{resolved.rounding}; expected a constant cutoff, the ideal of all judged documents, "
            "and no rounding"
        )
    if make_discount(resolved.discount or "log2").by_length:
        raise OptionError(
            f"measure {measure}: found a discount that depends on the length of the list, expected "
            "one of the rank"
        )
    return resolved


def has_ideal(measure: Measure) -> bool:
    """Return whether a measure is divided by the value of an ideal list."""
    return "ideal" in measure.from_convention


def _rank_weights(
    judge: Qrels, run: "Run | Mapping[str, object]", measure: "DCG | NDCG", convention: Convention
) -> FloatArray:
    """Return the discount of each document of the judge by its rank in a run; 0 where it was not
    returned.
    """
    ranking = run if isinstance(run, Run) else Run(run)  # type: ignore[arg-type]
    aligned = align(judge, ranking, convention.alignment)
    discounts = np.zeros(judge.n_judgments)
    weights = (
        DCG(cutoff=measure.cutoff, gain=measure.gain, rel=measure.rel, discount=measure.discount)
        .under(convention)
        .weights(aligned, aligned.hits)
    )
    if weights is None or aligned.hits.document is None:
        raise OptionError(
            f"measure {measure}: found no weight of a rank, expected a sum over documents"
        )
    discounts[aligned.hits.document] = weights
    return discounts


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sample:
    """Documents of the judge with the grades of people, and how they were sampled."""

    query: IntArray  # of each document
    judge: FloatArray  # grade of each document
    human: FloatArray  # NaN where no person graded it
    inverse: FloatArray  # 1 / probability where a person graded it, 0 elsewhere
    stratum: IntArray | None  # None where documents were sampled independently
    n_queries: int

    @classmethod
    def of(cls, people: Qrels, judge: Qrels, chances: Qrels | None) -> "_Sample":
        queries, documents, grades = table_columns(judge.table)
        row_of = {pair: row for row, pair in enumerate(zip(queries, documents, strict=True))}
        human = np.full(grades.size, np.nan)
        for query, document, grade in zip(*table_columns(people.table), strict=True):
            row = row_of.get((query, document))
            if row is None:
                raise InputError(
                    f"human, query {decode_id(query)!r}, document {decode_id(document)!r}: found "
                    "no grade of the judge, expected one for each document with a human grade"
                )
            human[row] = grade
        of_query = np.searchsorted(judge.offsets, np.arange(grades.size), side="right") - 1
        labelled = ~np.isnan(human)
        stratum = None
        if chances is None:
            stratum = np.unique(grades, return_inverse=True)[1].reshape(-1)
            inverse = _inverse_shares(labelled, stratum, grades)
        else:
            inverse = _inverse_probabilities(labelled, chances, row_of)
        return cls(
            query=of_query,
            judge=grades,
            human=human,
            inverse=inverse,
            stratum=stratum,
            n_queries=judge.n_queries,
        )

    @property
    def n_labelled(self) -> int:
        return int((~np.isnan(self.human)).sum())

    def error(self, estimator: "_Estimator", queries: Target) -> tuple[float, float]:
        """Return the standard error of an estimate and its degrees of freedom: over queries, or
        over sampled documents of these queries.
        """
        if queries == "sample":
            n = self.n_queries
            if n < 2:
                raise InputError(
                    f"queries: found {n}, expected at least 2; one query shows no variation"
                )
            squares = float((estimator.query_parts() ** 2).sum())
            return math.sqrt(n / (n - 1) * squares), n - 1
        errors = estimator.document_errors()
        labelled = ~np.isnan(self.human)
        if self.stratum is None:
            # Documents were drawn independently (Horvitz and Thompson): their variances add up.
            chance = 1 / self.inverse[labelled]
            variance = float(((1 - chance) / chance**2 * errors[labelled] ** 2).sum())
            return math.sqrt(variance), max(self.n_labelled - 1, 1)
        variance = 0.0
        strata = np.unique(self.stratum)
        for code in strata:
            inside = self.stratum == code
            size = int(inside.sum())
            sampled = errors[inside & labelled]
            # A stratum that people graded completely has no error of sampling.
            if sampled.size < size:
                spread = float(sampled.var(ddof=1))
                variance += size**2 * (1 - sampled.size / size) * spread / sampled.size
        return math.sqrt(variance), max(self.n_labelled - strata.size, 1)


def _inverse_shares(labelled: BoolArray, stratum: IntArray, grades: FloatArray) -> FloatArray:
    """Return one over the share of documents with the judge's grade that people graded."""
    sizes = np.bincount(stratum)
    sampled = np.bincount(stratum, labelled)
    few = np.flatnonzero((sampled < 2) & (sampled < sizes))
    if few.size:
        grade = grades[np.argmax(stratum == few[0])]
        raise InputError(
            f"human: found {int(sampled[few[0]])} grades among the {sizes[few[0]]} documents with "
            f"grade {grade:g} of the judge, expected at least 2 for each grade; sample within each "
            "grade of the judge, or give the probabilities"
        )
    return np.where(labelled, (sizes / np.maximum(sampled, 1))[stratum], 0.0)


def _inverse_probabilities(
    labelled: BoolArray, chances: Qrels, row_of: Mapping[tuple[bytes, bytes], int]
) -> FloatArray:
    """Return one over the probability of each document with a human grade."""
    probabilities = np.full(labelled.size, np.nan)
    for query, document, chance in zip(*table_columns(chances.table), strict=True):
        row = row_of.get((query, document))
        if row is not None:
            probabilities[row] = chance
    wrong = labelled & ~((probabilities > 0) & (probabilities <= 1))
    if wrong.any():
        first_wrong = int(np.argmax(wrong))
        query, document = next(pair for pair, row in row_of.items() if row == first_wrong)
        raise InputError(
            f"probability, query {decode_id(query)!r}, document {decode_id(document)!r}: found "
            f"{probabilities[first_wrong]:g}, expected a number above 0 and up to 1 for each "
            "document with a human grade"
        )
    return np.where(labelled, 1 / np.where(labelled, probabilities, 1.0), 0.0)


class _Estimator:
    """The estimate as a ratio of sums over queries: DCG over ideal DCG, or over 1 for each
    query.
    """

    def __init__(
        self, sample: _Sample, weights: FloatArray, measure: "DCG | NDCG", judge_weight: float
    ) -> None:
        self.sample = sample
        self.weights = weights  # discount of each document, or the difference of two
        self.labelled = ~np.isnan(sample.human)
        judge_gain = np.asarray(measure.worth(sample.judge), np.float64)
        human_grades = np.where(self.labelled, sample.human, 0.0)
        human_gain = np.asarray(measure.worth(human_grades), np.float64)
        if (judge_gain < 0).any() or (human_gain[self.labelled] < 0).any():
            raise OptionError(f"measure {measure}: found a gain below 0, expected gains from 0 on")
        # Each document counts its base, plus 1 / probability times what the judge missed if a
        # person graded it. `reached` and `missed` are the same for the counts of the ideal.
        self.base = judge_weight * judge_gain
        self.missing = np.where(self.labelled, human_gain - self.base, 0.0)
        gains = np.unique(np.concatenate([judge_gain, human_gain[self.labelled]]))
        self.ideal = _Ideal(measure, gains[gains > 0]) if has_ideal(measure) else None
        if self.ideal is not None:
            judge_reached = (judge_gain[:, None] >= self.ideal.gains).astype(np.float64)
            human_reached = (human_gain[:, None] >= self.ideal.gains).astype(np.float64)
            self.reached = judge_weight * judge_reached
            self.missed = np.where(self.labelled[:, None], human_reached - self.reached, 0.0)

    def sums(self, inverse: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return DCG and ideal DCG of each query under given weights of the sampled documents."""
        weight = self.sample.inverse if inverse is None else inverse
        n = self.sample.n_queries
        dcg = np.bincount(self.sample.query, self.weights * (self.base + weight * self.missing), n)
        ideal = np.ones(n) if self.ideal is None else self.ideal.value(self._counts(weight))
        return np.asarray(dcg, np.float64), ideal

    def _counts(self, inverse: FloatArray) -> FloatArray:
        """Estimate the numbers of documents that reach each gain, shape (queries, gains)."""
        columns = (self.reached + inverse[:, None] * self.missed).T
        counts = [
            np.asarray(np.bincount(self.sample.query, column, self.sample.n_queries), np.float64)
            for column in columns
        ]
        return np.stack(counts, axis=1) if counts else np.zeros((self.sample.n_queries, 0))

    def value(self, inverse: FloatArray | None = None) -> float:
        """Return the ratio."""
        dcg, ideal = self.sums(inverse)
        return _ratio(dcg, ideal)

    def query_parts(self) -> FloatArray:
        """Return the error that each query adds to the ratio."""
        dcg, ideal = self.sums()
        return np.asarray((dcg - _ratio(dcg, ideal) * ideal) / ideal.sum())

    def document_errors(self) -> FloatArray:
        """Return the change of the estimate by each sampled document, by the delta method."""
        dcg, ideal = self.sums()
        errors = self.weights * self.missing
        if self.ideal is not None:
            slopes = self.ideal.slope(self._counts(self.sample.inverse))[self.sample.query]
            errors = errors - _ratio(dcg, ideal) * (slopes * self.missed).sum(axis=1)
        return np.asarray(errors / ideal.sum())


def _ratio(dcg: FloatArray, ideal: FloatArray) -> float:
    if not ideal.sum() > 0:
        raise InputError(
            "human: found no relevant document, so that the ideal is 0; expected some, sample more "
            "documents"
        )
    return float(dcg.sum() / ideal.sum())


class _Ideal:
    """DCG of the ideal list as a function of how many documents reach each gain, between whole
    numbers by interpolation.
    """

    def __init__(self, measure: "DCG | NDCG", gains: FloatArray) -> None:
        self.gains = gains  # above 0, rising
        self.steps = np.diff(gains, prepend=0.0)
        self.cutoff = measure.cutoff if isinstance(measure.cutoff, int) else None
        self.discount = make_discount(measure.discount or "log2")

    def _weights(self, counts: FloatArray) -> FloatArray:
        """Return the weight of each rank down to the cutoff, after a 0: the index is the rank."""
        last = self.cutoff or max(math.ceil(float(counts.max(initial=0.0))) + 1, 1)
        ranks = np.arange(1, last + 1)
        weights = np.asarray(self.discount.at(ranks, np.zeros_like(ranks)), np.float64)
        return np.concatenate([[0.0], weights])

    def value(self, counts: FloatArray) -> FloatArray:
        """Return the ideal DCG of each query, from counts of shape (queries, gains)."""
        weights = self._weights(counts)
        # n documents that reach a gain fill the first n ranks. Each adds the step to this gain.
        filled = np.clip(counts, 0, weights.size - 1)
        sums = np.interp(filled, np.arange(weights.size), np.cumsum(weights))
        return np.asarray((sums * self.steps).sum(axis=1))

    def slope(self, counts: FloatArray) -> FloatArray:
        """Return the derivative of the ideal DCG in each count: the weight of the next rank, 0
        beyond the cutoff.
        """
        weights = self._weights(counts)
        following = np.floor(np.clip(counts, 0, None)).astype(np.int64) + 1
        weight = weights[np.minimum(following, weights.size - 1)]
        return np.asarray(np.where(following < weights.size, weight, 0.0) * self.steps)


# --- the bootstrap --------------------------------------------------------------------------------


def _bootstrap(
    estimator: _Estimator,
    sample: _Sample,
    queries: Target,
    resamples: int,
    rng: np.random.Generator,
) -> float:
    """Return the standard deviation of the estimate over draws: of queries with their sampled
    documents, or of documents within strata.
    """
    dcg, ideal = estimator.sums()
    values = []
    for _ in range(resamples):
        if queries == "fixed":
            values.append(estimator.value(sample.inverse * _multipliers(sample, rng)))
        else:
            drawn = rng.integers(0, sample.n_queries, sample.n_queries)
            values.append(_ratio(dcg[drawn], ideal[drawn]))
    return float(np.std(values, ddof=1))


def _multipliers(sample: _Sample, rng: np.random.Generator) -> FloatArray:
    """Draw weights of the sampled documents, rescaled for the finite number of documents."""
    multipliers = np.ones(sample.judge.size)
    labelled = ~np.isnan(sample.human)
    if sample.stratum is None:
        chance = 1 / sample.inverse[labelled]
        multipliers[labelled] = 1 + np.sqrt(1 - chance) * rng.standard_normal(chance.size)
        return multipliers
    for code in np.unique(sample.stratum):
        rows = np.flatnonzero(labelled & (sample.stratum == code))
        size = int((sample.stratum == code).sum())
        if 1 < rows.size < size:
            # n - 1 draws instead of n make the variance of a draw unbiased, and the factor below
            # shrinks it by the share of the stratum that was not sampled.
            times = rng.multinomial(rows.size - 1, np.full(rows.size, 1 / rows.size))
            drawn = times * rows.size / (rows.size - 1)
            multipliers[rows] = 1 + math.sqrt(1 - rows.size / size) * (drawn - 1)
    return multipliers
