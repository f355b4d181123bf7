"""Comparison of a judge with a human: agreement, leniency, system orders, and the worth of one of
its labels.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.judging.alternative import AltTest, alt_test
from idealrank.judging.correction import finite_values
from idealrank.judging.interrater import Agreement
from idealrank.judging.leniency import Leniency, Pairs, by_grade, by_length, by_rank
from idealrank.judging.rater_tables import Coefficient
from idealrank.judging.ratings import (
    LabelTable,
    OutsidePolicy,
    check_confidence,
    cluster_codes,
    t_quantile,
)
from idealrank.judging.system_changes import SystemOrders, system_orders
from idealrank.measures.parse import MeasureLike

JUDGE_COEFFICIENTS = (
    Coefficient("percent"),
    Coefficient("cohen_kappa"),
    Coefficient("cohen_kappa", weights="linear"),
    Coefficient("cohen_kappa", weights="quadratic"),
    Coefficient("scott_pi"),
    Coefficient("krippendorff_alpha", level="nominal"),
    Coefficient("krippendorff_alpha", level="ordinal"),
    Coefficient("krippendorff_alpha", level="interval"),
    Coefficient("gwet_ac1"),
    Coefficient("gwet_ac1", weights="quadratic"),
)
"""Coefficients of a judge against a human."""
_PEOPLE = 3  # people that the alternative annotator test needs, by its authors
_MOST = 200  # clusters that are left out one at a time; more are put into as many groups


@dataclass(frozen=True)
class LabelWorth:
    """Worth of one label of a judge, in labels of the human.

    Attributes
    ----------
    value : float
        Human labels that the judge's first label replaces in an estimate of the mean grade: the
        largest share of the variance of the human's mean that the judge explains, over weights from
        0 to 1. For independent pairs it is the squared correlation.
    interval : tuple of float
        Its interval, leaving out one cluster at a time, cut to [0, 1].
    most : float
        Factor by which any number of labels of the judge multiplies the human labels, at most: ``1
        / (1 - value)``.

    Examples
    --------
    >>> LabelWorth(0.25, (0.2, 0.3)).most
    1.3333333333333333
    """

    value: float
    interval: tuple[float, float]

    @property
    def most(self) -> float:
        """Factor by which any number of labels of the judge multiplies the human labels, at
        most.
        """
        return 1 / (1 - self.value) if self.value < 1 else math.inf

    def of(self, n_human: int, n_judge: int) -> float:
        """Return how many human labels so many of both kinds are worth together.

        Examples
        --------
        >>> round(LabelWorth(0.25, (0.2, 0.3)).of(100, 900), 1)
        129.0
        """
        return n_human / (1 - self.value * n_judge / (n_human + n_judge)) if n_human else 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgeCheck:
    """One judge against the human grades.

    Attributes
    ----------
    name : str
        Name of the judge.
    n : int
        Pairs of query and document that both graded.
    n_missing, n_extra : int
        Pairs with a human grade alone, and with a grade of the judge alone.
    n_outside : int
        Grades of the judge outside the scale, which were clipped or dropped.
    n_clusters : int
        Queries, or clusters of them, that intervals leave out one at a time.
    agreement : dict of str to Agreement
        Agreement by name of the coefficient.
    categories : tuple of float
        Grades of the scale.
    confusion : int64 array, shape (categories, categories)
        Pairs by grade of the human (row) and of the judge (column).
    human_mean, judge_mean : float
        Mean grades.
    correlation : float
        Pearson's, of the grades; 0 for a constant judge.
    bias : tuple of (float, (float, float))
        Mean of the judge's grade less the human's, and its interval.
    by_grade, by_rank, by_length : Leniency or None
        Errors by group; None without runs, or without lengths.
    worth_of_pair : LabelWorth
        Worth of a label if single pairs are labelled, at random.
    worth_of_query : LabelWorth
        Worth of a label if whole queries are labelled: the mean grade of a query counts as one.
    systems : SystemOrders or None
        Orders of the runs under both; `None` without runs.
    alt_test : AltTest or None
        Test of the judge as an annotator; `None` without several annotators.
    warnings : tuple of str
        Reasons to doubt the numbers.

    Examples
    --------
    >>> human = {"p": {"a": 1, "b": 0}, "q": {"a": 1, "b": 0}, "r": {"a": 0, "b": 2}}
    >>> judge = {"r": {"b": 2, "a": 1}, "p": {"a": 1, "b": 0}, "q": {"a": 1, "b": 1}}
    >>> check = check_judge(human, judge, name="model")
    >>> check.n, round(check.agreement["percent"].value, 4), check.bias[0] > 0
    (6, 0.6667, True)
    >>> check.confusion.tolist()
    [[1, 2, 0], [0, 2, 0], [0, 0, 1]]
    """

    name: str
    n: int
    n_missing: int
    n_extra: int
    n_outside: int
    n_clusters: int
    agreement: dict[str, Agreement]
    categories: tuple[float, ...]
    confusion: "npt.NDArray[np.int64]"
    human_mean: float
    judge_mean: float
    correlation: float
    bias: tuple[float, tuple[float, float]]
    by_grade: Leniency
    by_rank: Leniency | None
    by_length: Leniency | None
    worth_of_pair: LabelWorth
    worth_of_query: LabelWorth
    systems: SystemOrders | None
    alt_test: AltTest | None
    warnings: tuple[str, ...]


def check_judge(
    human: "Qrels | Mapping[str, Mapping[str, float]]",
    judge: "Qrels | Mapping[str, Mapping[str, float]]",
    runs: "Mapping[str, Run | Mapping[str, object]] | None" = None,
    *,
    name: str = "judge",
    scale: "Sequence[float] | None" = None,
    outside: OutsidePolicy = "error",
    measure: MeasureLike = "nDCG@10",
    convention: "Convention | str" = "standard",
    coefficients: Sequence[Coefficient] = JUDGE_COEFFICIENTS,
    clusters: "Mapping[str, str] | None" = None,
    lengths: "Mapping[str, float] | None" = None,
    annotators: LabelTable | None = None,
    epsilon: float = 0.2,
    families: "Mapping[str, str] | None" = None,
    confidence: float = 0.95,
) -> JudgeCheck:
    """Compare the grades of a judge, such as a language model, with the grades of a human.

    Pairs are joined by query and document, whatever the order of the rows; all numbers are of the
    pairs that both graded.

    Parameters
    ----------
    human, judge : Qrels or mapping
        Judgments.
    runs : mapping of str to Run or mapping, optional
        Systems by name, for leniency by rank, and for orders and verdicts under each judge.
    name : str
        Name of the judge.
    scale : sequence of float, optional
        All grades of the scale; by default the human's.
    outside : {"error", "clip", "drop"}
        Treatment of a judge's grade outside the scale; counted.
    measure, convention
        Measure and convention of the runs.
    coefficients : sequence of Coefficient
        Agreement coefficients.
    clusters : mapping of str to str, optional
        Cluster of each query, such as its user; by default each query is its own.
    lengths : mapping of str to float, optional
        Length of each document, for leniency by length.
    annotators : LabelTable, optional
        Grades of several people, for the alternative annotator test.
    epsilon : float
        Penalty of that test.
    families : mapping of str to str, optional
        Model family of the judge and of runs, by name: a judge tends to prefer the work of its own
        family.
    confidence : float
        Confidence level.

    Raises
    ------
    InputError
        No pair was graded by both, a grade is outside the scale, or there is only one cluster.

    Examples
    --------
    >>> human = {"p": {"a": 1, "b": 0}, "q": {"a": 1, "b": 0}}
    >>> check_judge(human, {"p": {"a": 1, "b": 1}, "q": {"a": 1, "b": 1}}).warnings[0]
    'judge gives grade 1 to every document: it tells nothing apart'
    """
    check_confidence(confidence)
    refuse_few_annotators("annotators", annotators)

    # a judge may be named human, too
    table = LabelTable.of({"the human" if name == "human" else "human": human, name: judge})
    by_human, by_judge = ~np.isnan(table.grades).T
    human_grades = table.grades[by_human, 0]
    grades_of_scale = np.unique(human_grades if scale is None else np.asarray(scale, np.float64))
    # `outside` is for the judge's grades: a human grade outside the scale is an error.
    replace(table, raters=table.raters[:1], grades=table.grades[:, :1]).in_scale(grades_of_scale)
    table = table.in_scale(grades_of_scale, outside)
    by_both = np.asarray(~np.isnan(table.grades).any(axis=1))
    n_dropped = table.outside.get(name, 0) if outside == "drop" else 0
    if n_dropped and np.isnan(table.grades[:, 1]).all():
        grades = ", ".join(f"{grade:g}" for grade in grades_of_scale)
        raise InputError(
            f"{name}: found no grade in the scale {grades}, so that all {n_dropped:,} were "
            f"dropped; expected some"
        )

    pairs = _pairs(table, by_both, clusters)
    named_runs = {
        run_name: run if isinstance(run, Run) else Run(run, name=run_name)  # type: ignore[arg-type]
        for run_name, run in (runs or {}).items()
    }
    rated = np.stack([pairs.human, pairs.judge], axis=1)
    categories = grades_of_scale.tolist()
    agreements = {
        str(coefficient): coefficient.of(rated, pairs.clusters, categories, confidence)
        for coefficient in coefficients
    }
    return JudgeCheck(
        name=name,
        n=int(by_both.sum()),
        n_missing=int((by_human & ~by_judge).sum()),
        n_extra=int((~by_human & by_judge).sum()),
        n_outside=table.outside.get(name, 0),
        n_clusters=np.unique(pairs.clusters).size,
        agreement=agreements,
        categories=tuple(categories),
        confusion=_confusion(pairs, grades_of_scale),
        human_mean=float(pairs.human.mean()),
        judge_mean=float(pairs.judge.mean()),
        correlation=_correlation(pairs.human, pairs.judge),
        bias=_bias(pairs, confidence),
        by_grade=by_grade(pairs),
        by_rank=by_rank(pairs, named_runs, confidence=confidence) if named_runs else None,
        by_length=None if lengths is None else by_length(pairs, lengths, confidence=confidence),
        worth_of_pair=_worth(pairs, "pair", confidence),
        worth_of_query=_worth(pairs, "cluster", confidence),
        systems=_orders(pairs, named_runs, measure, convention, confidence),
        alt_test=None if annotators is None else _alt_test(annotators, pairs, clusters, epsilon),
        warnings=tuple(_warnings(name, pairs, named_runs, families or {})),
    )


def _confusion(pairs: Pairs, scale: FloatArray) -> "npt.NDArray[np.int64]":
    human = np.searchsorted(scale, pairs.human)
    judge = np.searchsorted(scale, pairs.judge)
    counts = np.bincount(human * scale.size + judge, minlength=scale.size**2)
    return counts.reshape(scale.size, scale.size)


def _worth(pairs: Pairs, by: str, confidence: float) -> LabelWorth:
    return label_worth(pairs.human, pairs.judge, pairs.clusters, by=by, confidence=confidence)


def refuse_few_annotators(where: str, annotators: LabelTable | None) -> None:
    """Refuse grades of too few people for the alternative annotator test."""
    if annotators is None:
        return
    names = annotators.raters
    if len(names) < _PEOPLE:
        people = "one person" if len(names) == 1 else f"{len(names)} people"
        raise InputError(
            f"{where}: found the grades of {people} ({', '.join(names)}), expected at least three, "
            "since the alternative annotator test compares the judge and each person with the "
            "others"
        )


def _pairs(
    table: LabelTable, by_both: "npt.NDArray[np.bool_]", clusters: "Mapping[str, str] | None"
) -> Pairs:
    """Take the pairs that both graded; refuse no pair, and fewer than two clusters."""
    if not by_both.any():
        raise InputError(
            f"{table.raters[1]}: found no pair of query and document with a human grade, expected "
            "some; are ids written alike?"
        )
    rows = np.flatnonzero(by_both).tolist()
    queries = tuple(table.queries[row] for row in rows)
    labels = queries
    unit = "query"
    if clusters is not None:
        absent = next((query for query in queries if query not in clusters), None)
        if absent is not None:
            raise InputError(
                f"clusters: found none for query {absent!r}, expected one for each query"
            )
        labels = tuple(clusters[query] for query in queries)
        unit = "cluster of queries"
    if len(set(labels)) < 2:
        raise InputError(
            f"{table.raters[1]}: found one {unit} with grades of both the human and the judge, "
            "expected at least two, since intervals compare them",
            hint=f"label documents of another {unit}",
        )
    return Pairs(
        queries=queries,
        documents=tuple(table.documents[row] for row in rows),
        human=table.grades[rows, 0],
        judge=table.grades[rows, 1],
        clusters=cluster_codes(np.array(labels, object), len(rows)),
    )


def _correlation(human: FloatArray, judge: FloatArray) -> float:
    spread = float(human.std() * judge.std())
    if not spread > 0:
        return 0.0
    return float(((human - human.mean()) * (judge - judge.mean())).mean() / spread)


def _bias(pairs: Pairs, confidence: float) -> tuple[float, tuple[float, float]]:
    """Return the mean error with its interval, clustered by query."""
    error = pairs.error
    n = np.unique(pairs.clusters).size
    mean = float(error.mean())
    if n < 2:
        raise InputError(
            f"queries: found {n}, expected at least 2; one query, or cluster of queries, shows no "
            "variation"
        )
    totals = np.bincount(pairs.clusters, error - mean)
    spread = math.sqrt(n / (n - 1) * float((totals**2).sum()))
    reach = t_quantile(confidence, n - 1) * spread / error.size
    return mean, (mean - reach, mean + reach)


def label_worth(
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    clusters: Any = None,
    *,
    by: str = "pair",
    confidence: float = 0.95,
) -> LabelWorth:
    """Compute how many human labels one label of a judge is worth, from units that both labelled.

    Parameters
    ----------
    human, judge : array, shape (units,)
        Labels.
    clusters : array of labels, shape (units,), optional
        Cluster of each unit, such as its query.
    by : {"pair", "cluster"}
        Units that people would label at random: single units, or whole clusters.
    confidence : float
        Confidence level.

    Raises
    ------
    InputError
        The arrays differ in length, hold a value that is not finite, or there are fewer than two
        clusters.
    OptionError
        `by` is unknown, or the level is outside (0, 1).

    Notes
    -----
    With variances of the residual ``human - w judge`` about its mean, of single units or of totals
    of clusters, the worth is ``max over w in [0, 1] of 1 - V(human - w judge) / V(human)``. It is
    what `correct` gains per label of the judge while these are few beside the human labels.

    Examples
    --------
    >>> human = [0, 1, 2, 0, 1, 2, 0, 1]
    >>> round(label_worth(human, [0, 1, 1, 0, 2, 2, 0, 1]).value, 4)
    0.6318
    >>> label_worth(human, [1] * 8).value
    0.0
    """
    y = finite_values("human", human)
    f = finite_values("judge", judge)
    check_confidence(confidence)
    if y.shape != f.shape or y.ndim != 1:
        raise InputError(
            f"judge: found shape {f.shape}, expected one label for each of the human's, shape "
            f"{y.shape}"
        )
    if by not in ("pair", "cluster"):
        raise OptionError(f"by={by!r}: expected pair or cluster")
    codes = cluster_codes(clusters, y.size)
    n = int(codes.max(initial=-1)) + 1
    if n < 2:
        raise InputError(f"clusters: found {n}, expected at least 2")

    # the jackknife: the value without each cluster, or each group of clusters, in turn
    group = codes % min(n, _MOST)
    values_without = []
    for left_out in np.unique(group):
        others = group != left_out
        values_without.append(_explained(y[others], f[others], codes[others], by))
    replicates = np.array(values_without)
    m = replicates.size
    value = _explained(y, f, codes, by)
    error = math.sqrt((m - 1) / m * float(((replicates - replicates.mean()) ** 2).sum()))
    reach = t_quantile(confidence, m - 1) * error
    return LabelWorth(value, (max(value - reach, 0.0), min(value + reach, 1.0)))


def _explained(human: FloatArray, judge: FloatArray, codes: IntArray, by: str) -> float:
    """Return the largest share of the variance of the human's mean that the judge explains."""
    y = human - human.mean()
    f = judge - judge.mean()
    if by == "cluster":
        y = np.bincount(codes, y)
        f = np.bincount(codes, f)
    variance = float((y * y).sum())
    spread = float((f * f).sum())
    covariance = float((y * f).sum())
    if variance <= 0 or spread <= 0:
        return 0.0
    weight = min(max(covariance / spread, 0.0), 1.0)
    return min(max((2 * weight * covariance - weight**2 * spread) / variance, 0.0), 1.0)


def _orders(
    pairs: Pairs,
    runs: Mapping[str, Run],
    measure: MeasureLike,
    convention: "Convention | str",
    confidence: float,
) -> SystemOrders | None:
    """Order the runs under the grades of the pairs that both graded, so that a difference is one of
    grades and not of coverage.
    """
    if not runs:
        return None
    human: dict[str, dict[str, float]] = {}
    judge: dict[str, dict[str, float]] = {}
    for row, (query, document) in enumerate(zip(pairs.queries, pairs.documents, strict=True)):
        human.setdefault(query, {})[document] = float(pairs.human[row])
        judge.setdefault(query, {})[document] = float(pairs.judge[row])
    alpha = round(1 - confidence, 12)  # 1 - 0.95 itself is 0.050000000000000044
    return system_orders(human, judge, runs, measure, convention=convention, alpha=alpha)


def _alt_test(
    annotators: LabelTable, pairs: Pairs, clusters: "Mapping[str, str] | None", epsilon: float
) -> AltTest:
    keys = zip(pairs.queries, pairs.documents, strict=True)
    of_judge = dict(zip(keys, pairs.judge.tolist(), strict=True))
    rows = zip(annotators.queries, annotators.documents, strict=True)
    grades = [of_judge.get(pair, math.nan) for pair in rows]
    codes = annotators.query_codes
    if clusters is not None:
        # A query without a cluster has no pair with a human grade, and so no part in the test.
        labels = [clusters.get(query, query) for query in annotators.queries]
        codes = cluster_codes(np.array(labels, object), len(labels))
    return alt_test(
        annotators.grades,
        grades,
        epsilon=epsilon,
        annotators=annotators.raters,
        clusters=codes,
    )


def _warnings(
    name: str, pairs: Pairs, runs: Mapping[str, Run], families: Mapping[str, str]
) -> "list[str]":
    warnings = []
    if not np.ptp(pairs.judge):
        warnings.append(
            f"{name} gives grade {pairs.judge[0]:g} to every document: it tells nothing apart"
        )
    family = families.get(name)
    relatives = [run for run in runs if family and families.get(run) == family]
    if relatives:
        warnings.append(
            f"{name} is of the family {family}, as {', '.join(relatives)}: judges tend to prefer "
            "the work of their own family"
        )
    n = np.unique(pairs.clusters).size
    if n < 10:
        warnings.append(f"{n} queries, or clusters of them, carry the intervals: they are rough")
    return warnings
