"""Comparisons of systems that were trained several times; they load SciPy, which `compare` begins
without.
"""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from idealrank._lazy import under_name
from idealrank.analysis.comparison import Study, StudyOptions
from idealrank.analysis.comparison.requirements import JudgmentsOption
from idealrank.analysis.systems import (
    SystemComparison,
    SystemOptions,
    refuse_folds,
    systems_compared,
)
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import AnyTable, refuse_names
from idealrank.inputs.judged_runs import JudgedRuns
from idealrank.measures.parse import DEFAULT_MEASURES, MeasureLike, parse_measures
from idealrank.stats.replicates import Pairing, Single

_FORM = "seeds(qrels, [run, ...], [run, ...]) or seeds([evaluation, ...], [evaluation, ...])"


def compare_systems(
    evaluations_a: "Sequence[Evaluation] | AnyTable",
    evaluations_b: "Sequence[Evaluation] | Sequence[AnyTable]",
    *others: "Sequence[AnyTable]",
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    names: tuple[str, str] = ("A", "B"),
    seeds: Pairing = "nested",
    single: Single | None = None,
    level: float = 0.95,
    judgments: JudgmentsOption = "same",
) -> SystemComparison:
    """Compare two systems that were trained several times; seeds and queries are both random
    effects.

    `compare` tests two particular models: with enough queries it finds a difference that the next
    training may reverse. This function compares the training recipes, and includes the variance
    between training runs.

    Parameters
    ----------
    evaluations_a, evaluations_b, *others : sequences of Evaluation; or judgments, then two
    sequences of runs
        Evaluations of the models of each system, with the same judgments and convention; the
        systems may have different numbers of models. Or judgments and the runs of each system, in
        any form that `evaluate` reads: each is evaluated under the convention ``standard``. If
        queries are divided over folds, a model is all its folds together: ``read_run([fold1, fold2,
        ...])``.
    measures : measure or iterable of them, optional
        Measures to compare. Default: the measures that all evaluations have, except text measures
        and companions; of judgments and runs, the default of `evaluate`.
    names : (str, str)
        Names of the systems.
    seeds : {"nested", "crossed"}
        ``crossed``: model 3 of a and model 3 of b are paired, for example trained on the same
        sample; ``nested``: they are not.
    single : {"fixed", "alike"}, optional
        Meaning of a single model of one system: ``fixed``, it is not trained (BM25); ``alike``, its
        training varies as much as that of the other system.
    level : float
        Confidence level of the intervals; the significance level is ``1 - level``.
    judgments : {"same", "different"}
        "different" allows evaluations with different judgments, which are otherwise refused.

    Returns
    -------
    SystemComparison
        The primary measure is tested alone, the others are corrected together by Bonferroni's
        method, intervals included. Also: the variances of queries and of training, and the standard
        error expected for other numbers of both.

    Raises
    ------
    IncompatibleError
        The evaluations have different conventions, judgments, cuts or measures.
    InputError
        Models of a system answer different queries, there are fewer than two queries, or crossed
        systems have different numbers of models. No run has a judged document, or no grade counts
        as relevant.
    OptionError
        Both systems have one model, one has a single model and `single` is not given, or a measure
        has no better and worse.

    Notes
    -----
    `idealrank.stats.replicated_difference` documents the model, its interval and its degrees of
    freedom. Weights and clusters are not supported. A query that is excluded for a measure in any
    model is excluded in all.

    References
    ----------
    Banerjee (1961), On confidence interval for two-means problem based on separate estimates of
    variances and tabulated values of t-table. Sankhya A 23, 359-378.

    Examples
    --------
    >>> import idealrank as ir
    >>> import numpy as np
    >>> qrels = {f"q{i}": {"x": 1} for i in range(20)}
    >>> def copies(chances, rng):
    ...     orders = [
    ...         {q: ["x", "y"][:: 1 if rng.random() < chance else -1] for q in qrels}
    ...         for chance in chances
    ...     ]
    ...     return [ir.evaluate(qrels, order, "RR") for order in orders]
    >>> found = ir.compare_systems(
    ...     copies([0.2, 0.2, 0.3], np.random.default_rng(1)),
    ...     copies([0.9, 0.8, 0.9], np.random.default_rng(2)),
    ... )
    >>> round(found["RR"].found.difference, 3), found["RR"].verdict
    (0.342, 'better')
    >>> run_a, run_b = ({q: order for q in qrels} for order in (["y", "x"], ["x", "y"]))
    >>> ir.seeds(qrels, [run_a, run_a], [run_b, run_b], measures="RR")["RR"].verdict
    'better'
    """
    refuse_names(names, ("A", "B"), "systems")
    options = StudyOptions(level=level, judgments=judgments)
    training = SystemOptions(names=names, seeds=seeds, single=single)
    if not others:
        copies_a = _evaluations(evaluations_a, names[0])
        copies_b = _evaluations(evaluations_b, names[1])
    else:
        third, *further = others
        if further:
            raise InputError(f"seeds: found {2 + len(others)} arguments, expected {_FORM}")
        # Judgments come first, so the second and third arguments are the runs of the two systems.
        runs_a = _several(evaluations_b, names[0])
        runs_b = _several(third, names[1])
        measures = parse_measures(DEFAULT_MEASURES if measures is None else measures)
        given = JudgedRuns(form=_FORM, tables=(evaluations_a, *runs_a, *runs_b))
        evaluated = list(given.evaluations(measures))
        copies_a = evaluated[: len(runs_a)]
        copies_b = evaluated[len(runs_a) :]
    for name, copies in zip(names, (copies_a, copies_b), strict=True):
        refuse_folds(name, copies)
    study = Study.of([*copies_a, *copies_b], measures, options)
    return systems_compared(study, len(copies_a), training)


def _several(copies: Any, name: str) -> list[Any]:
    is_single = isinstance(copies, Evaluation | str | PathLike | Mapping)
    if is_single or not isinstance(copies, Iterable):
        raise InputError(
            f"seeds: {name}: found one {type(copies).__name__}, expected a list with one for each "
            f"trained copy, as in {_FORM}"
        )
    return list(copies)


def _evaluations(copies: Any, name: str) -> list[Evaluation]:
    listed = _several(copies, name)
    for copy in listed:
        if not isinstance(copy, Evaluation):
            raise InputError(
                f"seeds: {name}: found {type(copy).__name__} among the copies, expected {_FORM}"
            )
    return listed


seeds = under_name(compare_systems, "seeds")
"""`compare_systems` under the name of its command."""
