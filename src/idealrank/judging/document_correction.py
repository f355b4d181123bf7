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
from idealrank.judging.ratings import check_confidence, t_quantile
from idealrank.measures.dcg import DCG, NDCG
from idealrank.measures.discounts import make_discount
from idealrank.measures.measure import Measure, number_option
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.measures.rules import checked
from idealrank.stats.randomness import RandomLike, generator_of, whole_number

Target: TypeAlias = Literal["sample", "fixed"]


@dataclass(frozen=True, kw_only=True)
class CorrectedDocuments:
    """DCG or NDCG of a run, or a difference of two, corrected document by document.

    Attributes
    ----------
    measure : str
        Text of the measure.
    estimate, standard_error : float
        Of DCG the mean over queries; of NDCG the sum of DCG over the sum of ideal DCG.
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
        What is estimated: of DCG the mean over queries; of nDCG the sum of DCG over the sum of
        ideal DCG. The ratio is not the mean of nDCG that `evaluate` gives: queries with a large
        ideal count more.

    Examples
    --------
    >>> judge = {"q": {"a": 2, "b": 1, "c": 0, "d": 0}, "r": {"a": 1, "b": 0, "c": 1, "d": 0}}
    >>> human = {"q": {"a": 2, "b": 0, "c": 0}, "r": {"a": 0, "c": 1, "d": 1}}
    >>> found = correct_documents(human, judge, {"q": ["a", "b"], "r": ["c", "d"]}, "DCG@2")
    >>> found.n_labelled, round(found.judge_estimate, 4)
    (6, 1.8155)
    """

    measure: str
    estimate: float
    standard_error: float
    interval: tuple[float, float]
    judge_estimate: float
    human_estimate: float
    human_error: float
    effective_labels: float
    n_labelled: int
    n_documents: int
    n_queries: int
    df: float
    confidence: float
    bootstrap_error: float = math.nan
    target: Literal["mean", "ratio of sums"] = "mean"


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
        Of the bootstrap.

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
    options = _check_measure(parse_measure(measure), resolved)
    checked("queries", queries, Target)
    check_confidence(confidence)
    weight = number_option("weight", weight, 0, 1)
    if whole_number("resamples", resamples, 0) == 1:
        raise OptionError(
            "resamples=1: expected 0 for no bootstrap, or at least 2; one draw shows no variation"
        )
    judged = judge if isinstance(judge, Qrels) else Qrels(judge, name="judge")
    people = human if isinstance(human, Qrels) else Qrels(human, name="human")
    if probability is not None and not isinstance(probability, Qrels):
        probability = Qrels(probability, name="probability")
    sample = _Sample.of(people, judged, probability)
    weights = _rank_weights(judged, run, options, resolved)
    if against is not None:
        weights = weights - _rank_weights(judged, against, options, resolved)
    one, alone = (_Estimator(sample, weights, options, lam) for lam in (weight, 0.0))
    value, (error, df), (human_error, _) = (
        one.value(),
        sample.error(one, queries),
        sample.error(alone, queries),
    )
    reach = error * t_quantile(confidence, df)
    boot = _bootstrap(one, sample, queries, resamples, generator_of(rng)) if resamples else math.nan
    judge_value = _Estimator(sample, weights, options, 1.0).value(np.zeros_like(sample.inverse))
    own, without = sample.error(one, "fixed")[0], sample.error(alone, "fixed")[0]
    n, size = sample.n_labelled, sample.judge.size
    # All documents leave no error: the variance falls with 1/n - 1/size.
    effective = (
        1 / (1 / size + (own / without) ** 2 * (1 / n - 1 / size)) if without > 0 else float(n)
    )
    return CorrectedDocuments(
        measure=str(parse_measure(measure)),
        estimate=value,
        standard_error=error,
        interval=(value - reach, value + reach),
        judge_estimate=judge_value,
        human_estimate=alone.value(),
        human_error=human_error,
        effective_labels=effective,
        n_labelled=sample.n_labelled,
        n_documents=sample.judge.size,
        n_queries=sample.n_queries,
        df=df,
        confidence=confidence,
        bootstrap_error=boot,
        target="ratio of sums" if has_ideal(options) else "mean",
    )


def _check_measure(measure: object, convention: Convention) -> "DCG | NDCG":
    if not isinstance(measure, (DCG, NDCG)):
        raise OptionError(
            f"measure {measure}: expected DCG or nDCG",
            hint="for other measures label whole queries, and use judging.correct_run",
            command_hint="for other measures label whole queries, and use --by queries",
        )
    found = measure.under(convention)
    ideal = found.ideal if has_ideal(found) else "judged"
    if (
        not (found.cutoff is None or isinstance(found.cutoff, int))
        or found.rounding not in (None, "none")
        or ideal != "judged"
    ):
        raise OptionError(
            f"measure {measure}: found cutoff {found.cutoff}, ideal {ideal}, rounding "
            f"{found.rounding}; expected a constant cutoff, the "
            "ideal of all judged documents, and no rounding"
        )
    if make_discount(found.discount or "log2").by_length:
        raise OptionError(
            f"measure {measure}: found a discount that depends on the length of the list, "
            f"expected one of the rank"
        )
    return found


def has_ideal(measure: Measure) -> bool:
    """Return whether a measure is divided by the value of an ideal list."""
    return "ideal" in measure.from_convention


def _rank_weights(
    judge: Qrels, run: "Run | Mapping[str, object]", measure: "DCG | NDCG", convention: Convention
) -> FloatArray:
    """Discount of the rank of each document of the judge in a run; 0 where it was not returned."""
    ranking = run if isinstance(run, Run) else Run(run)  # type: ignore[arg-type]
    aligned = align(judge, ranking, convention.alignment)
    found = np.zeros(judge.n_judgments)
    weights = (
        DCG(cutoff=measure.cutoff, gain=measure.gain, discount=measure.discount)
        .under(convention)
        .weights(aligned, aligned.hits)
    )
    if weights is None or aligned.hits.document is None:
        raise OptionError(
            f"measure {measure}: found no weight of a rank, expected a sum over documents"
        )
    found[aligned.hits.document] = weights
    return found


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
        place = {pair: row for row, pair in enumerate(zip(queries, documents, strict=True))}
        human = np.full(grades.size, np.nan)
        for query, document, grade in zip(*table_columns(people.table), strict=True):
            row = place.get((query, document))
            if row is None:
                raise InputError(
                    f"human, query {decode_id(query)!r}, document {decode_id(document)!r}: "
                    f"found no grade of the judge, expected one for "
                    "each document with a human grade"
                )
            human[row] = grade
        of_query = np.searchsorted(judge.offsets, np.arange(grades.size), side="right") - 1
        labelled = ~np.isnan(human)
        if chances is None:
            stratum = np.unique(grades, return_inverse=True)[1].reshape(-1)
            return cls(
                query=of_query,
                judge=grades,
                human=human,
                inverse=_inverse_shares(labelled, stratum, grades),
                stratum=stratum,
                n_queries=judge.n_queries,
            )
        return cls(
            query=of_query,
            judge=grades,
            human=human,
            inverse=_inverse_probabilities(labelled, chances, place),
            stratum=None,
            n_queries=judge.n_queries,
        )

    @property
    def n_labelled(self) -> int:
        return int((~np.isnan(self.human)).sum())

    def error(self, estimator: "_Estimator", queries: Target) -> tuple[float, float]:
        """Standard error of an estimate, and its degrees of freedom: over queries, or over sampled
        documents of these queries.
        """
        if queries == "sample":
            n = self.n_queries
            if n < 2:
                raise InputError(
                    f"queries: found {n}, expected at least 2; one query shows no variation"
                )
            return math.sqrt(n / (n - 1) * float((estimator.query_parts() ** 2).sum())), n - 1
        errors, labelled = estimator.document_errors(), ~np.isnan(self.human)
        if self.stratum is None:
            chance = 1 / self.inverse[labelled]
            return math.sqrt(float(((1 - chance) / chance**2 * errors[labelled] ** 2).sum())), max(
                self.n_labelled - 1, 1
            )
        variance, strata = 0.0, np.unique(self.stratum)
        for code in strata:
            inside = self.stratum == code
            size, values = int(inside.sum()), errors[inside & labelled]
            if values.size < size:
                variance += (
                    size**2 * (1 - values.size / size) * float(values.var(ddof=1)) / values.size
                )
        return math.sqrt(variance), max(self.n_labelled - strata.size, 1)


def _inverse_shares(labelled: BoolArray, stratum: IntArray, grades: FloatArray) -> FloatArray:
    """One over the share of documents of the judge's grade that people graded."""
    sizes, sampled = np.bincount(stratum), np.bincount(stratum, labelled)
    few = np.flatnonzero((sampled < 2) & (sampled < sizes))
    if few.size:
        grade = grades[np.argmax(stratum == few[0])]
        raise InputError(
            f"human: found {int(sampled[few[0]])} grades among the {sizes[few[0]]} documents "
            f"with grade {grade:g} of the judge, expected "
            "at least 2 for each grade; sample within each grade of the judge, or give the "
            "probabilities"
        )
    return np.where(labelled, (sizes / np.maximum(sampled, 1))[stratum], 0.0)


def _inverse_probabilities(
    labelled: BoolArray, chances: Qrels, place: Mapping[tuple[bytes, bytes], int]
) -> FloatArray:
    given = np.full(labelled.size, np.nan)
    for query, document, chance in zip(*table_columns(chances.table), strict=True):
        row = place.get((query, document))
        if row is not None:
            given[row] = chance
    wrong = labelled & ~((given > 0) & (given <= 1))
    if wrong.any():
        row = int(np.argmax(wrong))
        query, document = next(pair for pair, at in place.items() if at == row)
        raise InputError(
            f"probability, query {decode_id(query)!r}, document {decode_id(document)!r}: "
            f"found {given[row]:g}, expected a number above 0 "
            "and up to 1 for each document with a human grade"
        )
    return np.where(labelled, 1 / np.where(labelled, given, 1.0), 0.0)


class _Estimator:
    """The estimate as a ratio of sums over queries: DCG over ideal DCG, or over 1 for each
    query.
    """

    def __init__(
        self, sample: _Sample, weights: FloatArray, measure: "DCG | NDCG", lam: float
    ) -> None:
        self.sample, self.weights = sample, weights
        self.labelled = ~np.isnan(sample.human)
        judge_gain = np.asarray(measure.worth(sample.judge), np.float64)
        human_gain = np.asarray(
            measure.worth(np.where(self.labelled, sample.human, 0.0)), np.float64
        )
        if (judge_gain < 0).any() or (human_gain[self.labelled] < 0).any():
            raise OptionError(f"measure {measure}: found a gain below 0, expected gains from 0 on")
        self.base = lam * judge_gain
        self.missing = np.where(self.labelled, human_gain - self.base, 0.0)
        gains = np.unique(np.concatenate([judge_gain, human_gain[self.labelled]]))
        self.ideal = _Ideal(measure, gains[gains > 0]) if has_ideal(measure) else None
        if self.ideal is not None:
            self.reached = lam * (judge_gain[:, None] >= self.ideal.gains)
            self.missed = np.where(
                self.labelled[:, None],
                (human_gain[:, None] >= self.ideal.gains) - self.reached,
                0.0,
            )

    def sums(self, inverse: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """DCG and ideal DCG of each query under given weights of the sampled documents."""
        weight = self.sample.inverse if inverse is None else inverse
        n = self.sample.n_queries
        dcg = np.bincount(self.sample.query, self.weights * (self.base + weight * self.missing), n)
        ideal = np.ones(n) if self.ideal is None else self.ideal.value(self._counts(weight))
        return np.asarray(dcg, np.float64), ideal

    def _counts(self, inverse: FloatArray) -> FloatArray:
        """Estimated numbers of documents that reach each gain, shape (queries, gains)."""
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
        """Error that each query adds to the ratio."""
        dcg, ideal = self.sums()
        return np.asarray((dcg - _ratio(dcg, ideal) * ideal) / ideal.sum())

    def document_errors(self) -> FloatArray:
        """Change of the estimate by each sampled document, by the delta method."""
        dcg, ideal = self.sums()
        errors = self.weights * self.missing
        if self.ideal is not None:
            slopes = self.ideal.slope(self._counts(self.sample.inverse))[self.sample.query]
            errors = errors - _ratio(dcg, ideal) * (slopes * self.missed).sum(axis=1)
        return np.asarray(errors / ideal.sum())


def _ratio(dcg: FloatArray, ideal: FloatArray) -> float:
    if not ideal.sum() > 0:
        raise InputError(
            "human: found no relevant document, so that the ideal is 0; expected some, sample "
            "more documents"
        )
    return float(dcg.sum() / ideal.sum())


class _Ideal:
    """DCG of the ideal list as a function of how many documents reach each gain, between whole
    numbers by interpolation.
    """

    def __init__(self, measure: "DCG | NDCG", gains: FloatArray) -> None:
        self.gains, self.steps = gains, np.diff(gains, prepend=0.0)
        self.cutoff = measure.cutoff if isinstance(measure.cutoff, int) else None
        self.discount = make_discount(measure.discount or "log2")

    def _weights(self, counts: FloatArray) -> FloatArray:
        """Weight of each rank down to the cutoff, after a 0; index is the rank."""
        last = self.cutoff or max(math.ceil(float(counts.max(initial=0.0))) + 1, 1)
        ranks = np.arange(1, last + 1)
        return np.concatenate(
            [[0.0], np.asarray(self.discount.at(ranks, np.zeros_like(ranks)), np.float64)]
        )

    def value(self, counts: FloatArray) -> FloatArray:
        """Ideal DCG of each query, from counts of shape (queries, gains)."""
        weights = self._weights(counts)
        sums = np.interp(
            np.clip(counts, 0, weights.size - 1), np.arange(weights.size), np.cumsum(weights)
        )
        return np.asarray((sums * self.steps).sum(axis=1))

    def slope(self, counts: FloatArray) -> FloatArray:
        """Derivative of the ideal DCG in each count: the weight of the next rank, 0 beyond the
        cutoff.
        """
        weights = self._weights(counts)
        following = np.floor(np.clip(counts, 0, None)).astype(np.int64) + 1
        return np.asarray(
            np.where(
                following < weights.size, weights[np.minimum(following, weights.size - 1)], 0.0
            )
            * self.steps
        )


# --- the bootstrap --------------------------------------------------------------------------------


def _bootstrap(
    one: _Estimator, sample: _Sample, queries: Target, resamples: int, rng: np.random.Generator
) -> float:
    """Standard deviation of the estimate over draws: of queries with their sampled documents, or of
    documents within strata.
    """
    dcg, ideal = one.sums()
    values = []
    for _ in range(resamples):
        if queries == "fixed":
            values.append(one.value(sample.inverse * _multipliers(sample, rng)))
        else:
            drawn = rng.integers(0, sample.n_queries, sample.n_queries)
            values.append(_ratio(dcg[drawn], ideal[drawn]))
    return float(np.std(values, ddof=1))


def _multipliers(sample: _Sample, rng: np.random.Generator) -> FloatArray:
    """Weights of sampled documents in one draw, rescaled for the finite number of documents."""
    found = np.ones(sample.judge.size)
    labelled = ~np.isnan(sample.human)
    if sample.stratum is None:
        chance = 1 / sample.inverse[labelled]
        found[labelled] = 1 + np.sqrt(1 - chance) * rng.standard_normal(chance.size)
        return found
    for code in np.unique(sample.stratum):
        rows = np.flatnonzero(labelled & (sample.stratum == code))
        size = int((sample.stratum == code).sum())
        if 1 < rows.size < size:
            drawn = (
                rng.multinomial(rows.size - 1, np.full(rows.size, 1 / rows.size))
                * rows.size
                / (rows.size - 1)
            )
            found[rows] = 1 + math.sqrt(1 - rows.size / size) * (drawn - 1)
    return found
