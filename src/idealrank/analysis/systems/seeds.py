"""Compare systems that were trained several times: the variance of training beside that of queries."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from idealrank.analysis.comparison.differences import distinct
from idealrank.analysis.comparison.query_table import QueryTable, chosen_measures, comparable, queries_of
from idealrank.analysis.comparison.same_judgments import JudgmentsOption, judged_by
from idealrank.analysis.comparison.significance import Side
from idealrank.analysis.systems.copies import relation_of
from idealrank.analysis.systems.system_differences import SystemComparison, SystemDifference
from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike
from idealrank.stats.comparison import POWER, smallest_visible
from idealrank.stats.replicates import Pairing, ReplicatedDifference, Single, replicated_difference
from idealrank.version import __version__


def compare_systems(
    evaluations_a: Sequence[Evaluation],
    evaluations_b: Sequence[Evaluation],
    *,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    names: tuple[str, str] = ("A", "B"),
    seeds: Pairing = "nested",
    single: Single | None = None,
    level: float = 0.95,
    judgments: JudgmentsOption = "same",
) -> SystemComparison:
    """Compare two systems that were trained several times; seeds and queries are both random effects.

    `compare` tests two particular models: with enough queries it finds a difference that the next training may reverse. This function
    compares the training recipes, and includes the variance between trainings.

    Parameters
    ----------
    evaluations_a, evaluations_b : sequence of Evaluation
        Evaluations of the models of each system, with the same judgments and convention; the systems may have different numbers of models.
        If queries are divided over folds, a model is all its folds together: ``read_run([fold1, fold2, ...])``.
    measures : measure or iterable of them, optional
        Measures to compare. Default: the measures that all evaluations have, except text measures and companions.
    names : (str, str)
        Names of the systems.
    seeds : {"nested", "crossed"}
        ``crossed``: model 3 of a and model 3 of b are paired, for example trained on the same sample; ``nested``: they are not.
    single : {"fixed", "alike"}, optional
        Meaning of a single model of one system: ``fixed``, it is not trained (BM25); ``alike``, its training varies as much as that of the
        other system.
    level : float
        Confidence level of the intervals; the significance level is ``1 - level``.
    judgments : {"same", "different"}
        "different" allows evaluations with different judgments, which are otherwise refused.

    Returns
    -------
    SystemComparison
        The primary measure is tested alone, the others are corrected together by Bonferroni's method, intervals included. Also: the
        variances of queries and of training, and the standard error expected for other numbers of both.

    Raises
    ------
    IncompatibleError
        The evaluations have different conventions, judgments, cuts or measures.
    InputError
        Models of a system answer different queries, there are fewer than two queries, or crossed systems have different numbers of models.
    OptionError
        Both systems have one model, one has a single model and `single` is not given, or a measure has no better and worse.

    Notes
    -----
    `idealrank.stats.replicated_difference` documents the model and its degrees of freedom. Weights and clusters are not supported. A query
    that is excluded for a measure in any model is excluded in all.

    References
    ----------
    Satterthwaite (1946), An approximate distribution of estimates of variance components. Biometrics Bulletin 2, 110-114.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(20)}
    >>> def copies(chances, rng):
    ...     orders = [{q: ["x", "y"][:: 1 if rng.random() < chance else -1] for q in qrels} for chance in chances]
    ...     return [ir.evaluate(qrels, order, "RR") for order in orders]
    >>> found = compare_systems(copies([0.2, 0.2, 0.3], np.random.default_rng(1)), copies([0.9, 0.8, 0.9], np.random.default_rng(2)))
    >>> round(found["RR"].found.difference, 3), found["RR"].verdict
    (0.342, 'better')
    """
    sides = (list(evaluations_a), list(evaluations_b))
    for name, side in zip(names, sides, strict=True):
        if not side:
            raise InputError(f"{name}: found no evaluation, expected one for each trained copy")
        if len(side) > 1 and relation_of(side) == "folds":
            raise InputError(
                f"{name}: found {len(side)} runs without a query in common, which are folds of one copy; expected copies: read the folds "
                "of a copy together, as read_run([fold1, fold2]), and evaluate that"
            )
    everything = comparable([*sides[0], *sides[1]], judgments)
    asked = chosen_measures(everything, measures)
    queries = queries_of(everything)
    tables = [[QueryTable.of(one, asked, queries) for one in side] for side in sides]
    rows = {}
    for column, measure in enumerate(asked):
        tests = max(len(asked) - 1, 1) if column else 1
        of_family = round(1 - (1 - level) / tests, 12)
        found, values = _found(tables, column, measure, (seeds, single, of_family))
        rows[str(measure)] = _row(measure, found, values, min(1.0, tests * found.p), (1 - of_family, level, len(queries)))
    a, b = distinct(names)
    runs_a, runs_b = (tuple(one.name for one in side) for side in sides)
    return SystemComparison(
        a=a, b=b, runs_a=runs_a, runs_b=runs_b, measures=rows, pairing=seeds, single=single, level=level,
        convention=everything[0].convention, version=__version__, judgments=judged_by(everything, judgments),
    )  # fmt: skip


seeds = compare_systems
"""`compare_systems` under the name of its command."""


def _found(
    tables: Sequence[Sequence[QueryTable]], column: int, measure: Measure, how: tuple[Pairing, Single | None, float]
) -> tuple[ReplicatedDifference, tuple[FloatArray, FloatArray]]:
    """One measure over the queries that count in every copy, and its values, each (queries, copies)."""
    values = [np.stack([table.values[:, column] for table in side], axis=1) for side in tables]
    kept = np.isfinite(np.concatenate(values, axis=1)).all(axis=1)
    if kept.sum() < 2:
        raise InputError(f"{measure}: found {int(kept.sum())} queries that are scored in every run, expected at least 2")
    a, b = (side[kept] for side in values)
    seeds, single, level = how
    return replicated_difference(a, b, seeds=seeds, single=single, level=level), (a, b)


def _row(
    measure: Measure, found: ReplicatedDifference, values: tuple[FloatArray, FloatArray], p: float, sizes: tuple[float, float, int]
) -> SystemDifference:
    of_family, level, n_queries = sizes
    alpha, n = round(1 - level, 12), found.n_queries
    verdict: Side = "undecided" if p > alpha else "better" if found.difference * measure.direction > 0 else "worse"
    copies_a, copies_b = (tuple(math.fsum(copy) / n for copy in side.T.tolist()) for side in values)
    mean_a, mean_b = (math.fsum(copies) / len(copies) for copies in (copies_a, copies_b))
    return SystemDifference(
        measure=str(measure),
        direction=measure.direction,
        copies_a=copies_a,
        copies_b=copies_b,
        mean_a=mean_a,
        mean_b=mean_b,
        found=found,
        p_corrected=p,
        verdict=verdict,
        n=n,
        excluded_queries=n_queries - n,
        detectable=smallest_visible(found.standard_error * math.sqrt(n), n, found.df, of_family, POWER),
    )
