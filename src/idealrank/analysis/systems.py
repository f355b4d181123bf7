"""Systems that were trained several times: the variance of training beside that of queries.

The runs of one system are copies of other seeds, which answer the same queries, or folds, which
share them out.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from idealrank._lazy import printed, repr_html
from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.differences import by_measure
from idealrank.analysis.comparison.families import COMPANIONS, PRIMARY, Side
from idealrank.analysis.comparison.query_table import QueryTable
from idealrank.analysis.comparison.requirements import WithWarnings, judged_by, run_cautions
from idealrank.analysis.comparison.study import Study
from idealrank.conventions import Convention
from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike
from idealrank.stats.comparison import POWER, Detectable, smallest_visible
from idealrank.stats.replicates import Pairing, ReplicatedDifference, Single, replicated_difference
from idealrank.stats.seen_changes import Criterion, SeenChanges, fewest_changed
from idealrank.stats.tolerance import subtracted
from idealrank.stats.values import open_share
from idealrank.version import __version__


@dataclass(frozen=True, kw_only=True)
class SystemDifference:
    """One measure of two systems on the same queries, training and queries both counted; every
    difference is b - a.

    Attributes
    ----------
    measure : str
        Text of the measure.
    direction : int
        1 where higher values are better, -1 where lower ones are.
    copies_a, copies_b : tuple of float
        The mean of each copy over the queries.
    mean_a, mean_b : float
        Of these.
    found : ReplicatedDifference
        Difference, interval, p, degrees of freedom and the variances of queries and of training.
    p_corrected : float
        The first measure's is its own; of the others after Bonferroni's correction over them, as
        their intervals are.
    verdict : {"better", "worse", "undecided"}
        About b, by the corrected p value; undecided where the values of a copy mean nothing
        (`SystemComparison.mismatches`).
    n, excluded_queries : int
        Queries compared; those left out since they are not scored in every copy.
    detectable : float
        The smallest true difference, in changes like those seen, that so many queries and copies
        find with a chance of 0.8; see `detectable_between`. Infinite for fewer than five copies of
        a trained system, which hardly show how much training varies, and if no such difference is
        found so often; NaN if too few queries differ.
    detectable_reason : str or None
        Why `detectable` is not finite.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1, "y": 2} for i in range(8)}
    >>> runs = [
    ...     {q: ["x", "y"][:: 1 if i < k else -1] for i, q in enumerate(qrels)}
    ...     for k in (5, 6, 6, 1, 2, 1)
    ... ]
    >>> row = ir.compare_systems(
    ...     *([ir.evaluate(qrels, run, "nDCG") for run in some] for some in (runs[:3], runs[3:]))
    ... )["nDCG"]
    >>> round(row.found.difference, 3), row.verdict, row.queries_worth_one_copy() is not None
    (0.076, 'better', True)
    """

    measure: str
    direction: int
    copies_a: tuple[float, ...]
    copies_b: tuple[float, ...]
    mean_a: float
    mean_b: float
    found: ReplicatedDifference
    p_corrected: float
    verdict: Side
    n: int
    excluded_queries: int
    detectable: float
    detectable_reason: str | None

    @property
    def trained(self) -> tuple[str, ...]:
        """Owner of each entry of ``found.training``: a, b, or the difference, if copies are paired
        one by one.
        """
        copies = {"a": len(self.copies_a), "b": len(self.copies_b)}
        several = [side for side, n_copies in copies.items() if n_copies > 1]
        if len(self.found.training) == 2:
            # A single copy may be taken to vary as the other system's copies do.
            single = [side for side in copies if side not in several]
            return (*several, *single)
        return (several[0],) if len(several) == 1 else ("difference",)

    @property
    def training_share(self) -> float:
        """Share of the variance of the difference that training makes up, in [0, 1]."""
        total = self.found.standard_error**2
        if not total:
            return 0.0
        return min(sum(part.error(self.n) for part in self.found.training) / total, 1.0)

    def standard_error(self, n_queries: int, seeds: "Callable[[int], int]") -> float:
        """The standard error to expect from so many queries, and from other numbers of copies.

        Parameters
        ----------
        n_queries : int
            Number of queries.
        seeds : callable
            Number of copies today -> number of copies then, for every system that is trained.
        """
        difference = self.found
        return math.sqrt(
            difference.queries / n_queries
            + sum(part.error(n_queries, seeds(part.n_seeds)) for part in difference.training)
        )

    def queries_worth_one_copy(self) -> "int | None":
        """Number of further queries that lower the standard error as much as one more copy of every
        trained system; None if impossible.
        """
        training = self.found.training
        # The variance is a part of the copies, which queries do not lower, and one that falls as
        # 1 / queries. Queries have to lower the second part until the sum is that with one more
        # copy; 1e-9 keeps a whole number that is computed as slightly more.
        of_copies = sum(part.seeds / part.n_seeds for part in training)
        left_to_queries = self.standard_error(self.n, lambda seeds: seeds + 1) ** 2 - of_copies
        per_query = self.found.queries + sum(part.residual / part.n_seeds for part in training)
        if left_to_queries <= 0:
            return None
        return math.ceil(per_query / left_to_queries - 1e-9) - self.n

    def as_dict(self) -> dict[str, Any]:
        """Everything but the measure by name; None for what is not finite."""
        difference = self.found
        return {
            "direction": self.direction,
            "mean_a": self.mean_a,
            "mean_b": self.mean_b,
            "difference": difference.difference,
            "interval": [difference.low, difference.high],
            "level": difference.level,
            "p": difference.p,
            "p_corrected": self.p_corrected,
            "verdict": self.verdict,
            "standard_error": difference.standard_error,
            "df": difference.df,
            "query_error": difference.query_error,
            "training_share": self.training_share,
            "variance": {
                "queries": difference.queries,
                "training": {
                    owner: {"copies": part.n_seeds, "seeds": part.seeds, "residual": part.residual}
                    for owner, part in zip(self.trained, difference.training, strict=True)
                },
            },
            "copies_a": list(self.copies_a),
            "copies_b": list(self.copies_b),
            "n": self.n,
            "excluded_queries": self.excluded_queries,
            "detectable": self.detectable if math.isfinite(self.detectable) else None,
            "detectable_reason": self.detectable_reason,
            "queries_worth_one_copy": self.queries_worth_one_copy(),
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class SystemComparison(WithWarnings):
    """Two systems compared over models and queries; made by `compare_systems`.

    Attributes
    ----------
    a, b : str
        Names of the systems.
    runs_a, runs_b : tuple of str
        Names of their models' runs.
    measures : mapping of str to SystemDifference
        Results in the order requested.
    pairing : {"nested", "crossed"}
        Whether models of a and b are paired one by one ("crossed") or not ("nested").
    single : {"fixed", "alike"} or None
        Meaning of a single model on one side.
    level : float
        Confidence level of the intervals.
    convention : Convention
        Convention of every value.
    version : str
        Version of idealrank.
    judgments : {"same", "different", "unknown"}
        Whether all models have the same judgments; "different" if that was allowed, "unknown" if
        some are not known.

    Examples
    --------
    >>> import idealrank as ir
    >>> copies = [ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"q": ["x"]}, "RR")] * 2
    >>> found = ir.compare_systems(copies, copies, names=("old", "new"))
    >>> found.b, found["RR"].found.difference, found["RR"].verdict
    ('new', 0.0, 'undecided')
    """

    a: str
    b: str
    runs_a: tuple[str, ...]
    runs_b: tuple[str, ...]
    measures: Mapping[str, SystemDifference]
    pairing: str
    single: str | None
    level: float
    convention: Convention
    version: str
    judgments: str = "same"

    _repr_html_ = repr_html  # for notebooks
    __str__ = printed

    def _brief(self) -> str:
        verdicts = ", ".join(f"{text} {row.verdict}" for text, row in self.measures.items())
        return f"{self.b!r} against {self.a!r}: {verdicts}; convention {self.convention}"

    def __getitem__(self, measure: MeasureLike) -> SystemDifference:
        """The difference by one measure."""
        return by_measure(self.measures, measure)

    def __iter__(self) -> Iterator[SystemDifference]:
        return iter(self.measures.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record: systems with their runs, measures, method, convention."""
        convention = self.convention
        families = {PRIMARY: 1}
        if len(self.measures) > 1:
            families[COMPANIONS] = len(self.measures) - 1
        return {
            "a": {"name": self.a, "runs": list(self.runs_a)},
            "b": {"name": self.b, "runs": list(self.runs_b)},
            "measures": {text: row.as_dict() for text, row in self.measures.items()},
            "warnings": list(self.warnings),
            "method": {
                "pairing": self.pairing,
                "single": self.single,
                "level": self.level,
                "correction": "bonferroni" if len(self.measures) > 2 else "none",
                "families": families,
                "version": self.version,
                "judgments": self.judgments,
            },
            "convention": {
                "name": convention.name,
                "fingerprint": convention.fingerprint,
                **convention.switches(),
            },
        }


Relation: TypeAlias = Literal["copies", "folds"]

# Fewer copies hardly show how much training varies: experiments/seeds_and_queries.py.
_COPIES_FOR_POWER = 5

# Least share of the queries that a copy answers, of those that any copy does: some may lack an
# answer by a failed request.
_ANSWERED_BY_COPY = 0.9


def answered(evaluation: Evaluation) -> frozenset[str]:
    """Judged queries that the run answers."""
    return frozenset(evaluation.queries) - frozenset(evaluation.coverage.missing_queries)


def relation_of(evaluations: Sequence[Evaluation]) -> Relation:
    """Classify runs as copies of one system, which answer the same queries, or as folds of one
    copy, which divide them.
    """
    queries = [answered(evaluation) for evaluation in evaluations]
    union = frozenset().union(*queries)
    if all(len(of_run) >= _ANSWERED_BY_COPY * len(union) for of_run in queries):
        return "copies"
    pairs = combinations(range(len(queries)), 2)
    shared = next(((a, b) for a, b in pairs if queries[a] & queries[b]), None)
    if shared is None:
        return "folds"
    a, b = shared
    first, second = evaluations[a].name, evaluations[b].name
    common = len(queries[a] & queries[b])
    fewest = min(range(len(queries)), key=lambda place: len(queries[place]))
    raise InputError(
        f"{first} and {second} share {common} queries, and {evaluations[fewest].name} answers "
        f"{len(queries[fewest])} of the {len(union)} that the runs of its system answer together; "
        "expected the same queries in every run (seeds), or each query in only one run (the fold "
        "in which it was held out)"
    )


@dataclass(frozen=True, kw_only=True)
class SystemOptions:
    """Names and training of two systems; `idealrank.compare_systems` documents each option."""

    names: tuple[str, str] = ("A", "B")
    seeds: Pairing = "nested"
    single: Single | None = None


def refuse_folds(name: str, copies: Sequence[Evaluation]) -> None:
    """Refuse a system without a copy, and folds that stand for copies."""
    if not copies:
        raise InputError(f"{name}: found no evaluation, expected one for each trained copy")
    if len(copies) > 1 and relation_of(copies) == "folds":
        raise InputError(
            f"{name}: found {len(copies)} runs without common queries, which are folds of one "
            "copy, expected copies",
            hint="read the folds of a copy together, as in read_run([fold1, fold2])",
            command_hint="put the folds of a copy into one file",
        )


def systems_compared(study: Study, copies_of_a: int, training: SystemOptions) -> SystemComparison:
    """Compare two systems by a study of the copies of the first, then of the second."""
    level, requested = study.options.level, study.measures
    open_share("level", level)
    tables = study.tables[:copies_of_a], study.tables[copies_of_a:]
    unjoined = study.mismatches
    rows = {}
    for column, measure in enumerate(requested):
        tests = max(len(requested) - 1, 1) if column else 1
        corrected_level = round(1 - (1 - level) / tests, 12)
        values = _values_in_every_copy(tables, column, measure)
        difference = replicated_difference(
            *values, seeds=training.seeds, single=training.single, level=corrected_level
        )
        rows[str(measure)] = _row(
            measure,
            difference,
            values,
            p=min(1.0, tests * difference.p),
            family_alpha=1 - corrected_level,
            level=level,
            n_queries=len(study.queries),
        )

    if unjoined:  # values of 0 in every copy vary as little as good ones
        rows = {text: replace(row, verdict="undecided") for text, row in rows.items()}
    a, b = distinct(training.names)
    runs = [evaluation.name for evaluation in study.evaluations]
    return SystemComparison(
        a=a,
        b=b,
        runs_a=tuple(runs[:copies_of_a]),
        runs_b=tuple(runs[copies_of_a:]),
        measures=rows,
        pairing=training.seeds,
        single=training.single,
        level=level,
        convention=study.evaluations[0].convention,
        version=__version__,
        judgments=judged_by(study.evaluations, study.options.judgments),
        mismatches=unjoined,
        cautions=run_cautions(study.evaluations, study.names, requested),
    )


def _values_in_every_copy(
    tables: Sequence[Sequence[QueryTable]], column: int, measure: Measure
) -> tuple[FloatArray, FloatArray]:
    """Values of both systems by one measure over the queries that count in every copy, each
    (queries, copies).
    """
    values = [np.stack([table.values[:, column] for table in side], axis=1) for side in tables]
    kept = np.isfinite(np.concatenate(values, axis=1)).all(axis=1)
    if kept.sum() < 2:
        raise InputError(
            f"{measure}: found {int(kept.sum())} queries that are scored in every run, expected at "
            "least 2"
        )
    a, b = (side[kept] for side in values)
    return a, b


def _row(
    measure: Measure,
    difference: ReplicatedDifference,
    values: tuple[FloatArray, FloatArray],
    *,
    p: float,
    family_alpha: float,
    level: float,
    n_queries: int,
) -> SystemDifference:
    alpha = round(1 - level, 12)
    n = difference.n_queries
    verdict: Side = "better" if difference.difference * measure.direction > 0 else "worse"
    if p > alpha:
        verdict = "undecided"
    copies_a, copies_b = map(_means_of_copies, values)
    visible = detectable_between(difference, values, family_alpha)
    return SystemDifference(
        measure=str(measure),
        direction=measure.direction,
        copies_a=copies_a,
        copies_b=copies_b,
        mean_a=math.fsum(copies_a) / len(copies_a),
        mean_b=math.fsum(copies_b) / len(copies_b),
        found=difference,
        p_corrected=p,
        verdict=verdict,
        n=n,
        excluded_queries=n_queries - n,
        detectable=visible.size,
        detectable_reason=visible.reason,
    )


def _means_of_copies(values: FloatArray) -> tuple[float, ...]:
    """Mean of each copy, given values by query and copy."""
    return tuple(math.fsum(copy) / len(copy) for copy in values.T.tolist())


def detectable_between(
    difference: ReplicatedDifference, values: tuple[FloatArray, FloatArray], alpha: float
) -> Detectable:
    """Compute the smallest true difference between two systems that such queries and copies find
    with a chance of 0.8.

    A shift of all queries is found by t with the degrees of freedom of the interval.
    """
    n_copies = min(part.n_seeds for part in difference.training if part.n_seeds > 1)
    if n_copies < _COPIES_FOR_POWER:
        return Detectable(
            math.inf,
            f"{n_copies} copies of a trained system, fewer than {_COPIES_FOR_POWER}, hardly show "
            "how much training varies",
        )
    n = difference.n_queries
    mean_a, mean_b = (side.mean(axis=1, keepdims=True) for side in values)
    changes = SeenChanges.of(subtracted(mean_a, mean_b)[:, 0], units=n)
    fewest_queries = fewest_changed(alpha / 2)
    if changes.differ < fewest_queries:
        return Detectable(math.nan, f"{changes.differ} queries differ, fewer than {fewest_queries}")
    if not difference.standard_error:
        return Detectable(math.nan, "the differences do not vary")
    spread = math.sqrt(float((changes.sizes**2).sum()) / (n - 1))
    of_shift = smallest_visible(spread, n, n - 1, alpha, POWER)
    of_changes = changes.detectable(Criterion(alpha / 2, POWER, n - 1, by_signs=False))
    # With few degrees of freedom the standard error is often estimated too low: the mean of its
    # true value over its estimate is close to the root of df / (df - 1.5).
    underestimation = math.sqrt(difference.df / (difference.df - 1.5))
    error = difference.standard_error * math.sqrt(n)
    visible = smallest_visible(error, n, difference.df, alpha, POWER)
    # Changes of few queries are found less often than a shift of all.
    size = underestimation * max(of_changes / of_shift, 1.0) * visible
    if math.isfinite(size):
        return Detectable(size)
    return Detectable(size, "no difference made of such changes is found so often")
