"""Comparisons of runs, and of systems that were trained several times: evaluations, or judgments
and runs in any form.
"""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, cast

from idealrank.analysis.comparison import Comparison, Study, StudyOptions, compared
from idealrank.analysis.comparison.comparisons import Overlapping
from idealrank.analysis.comparison.difference_rows import of_judged_queries
from idealrank.analysis.comparison.families import Correction
from idealrank.analysis.comparison.label_basis import DeclaredLabels
from idealrank.analysis.comparison.procedure import Tell
from idealrank.analysis.comparison.requirements import JudgmentsOption
from idealrank.analysis.systems import (
    SystemComparison,
    SystemOptions,
    refuse_folds,
    systems_compared,
)
from idealrank.conventions import Convention
from idealrank.data.label_kinds import LabelKind
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import AnyTable, evaluate, evaluate_read, to_qrels
from idealrank.inputs.judged_runs import JudgedRuns
from idealrank.inputs.per_query import QueryValues, clusters_of, slices_of, weights_of
from idealrank.measures.measure import Measure
from idealrank.measures.parse import DEFAULT_MEASURES, MeasureLike, parse_measures
from idealrank.stats.comparison import TestName
from idealrank.stats.randomness import RandomLike
from idealrank.stats.replicates import Pairing, Single

_COMPARE = "compare(qrels, run_a, run_b)"
_SEEDS = "seeds(qrels, [run, ...], [run, ...])"


def compare(
    evaluation_a: Evaluation | AnyTable,
    evaluation_b: Evaluation | AnyTable,
    *others: Evaluation | AnyTable,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    names: Sequence[str] | None = None,
    convention: "Convention | str | None" = None,
    baseline: str | None = None,
    test: TestName = "permutation",
    correction: Correction = "auto",
    level: float = 0.95,
    margin: float | None = None,
    largest_loss: float | None = None,
    effect: float | None = None,
    weights: QueryValues = None,
    clusters: QueryValues = None,
    slices: QueryValues = None,
    n_resamples: int | None = None,
    rng: RandomLike = None,
    threads: int | None = None,
    rankings: "Overlapping | Iterable[Overlapping] | None" = None,
    tell: Tell | None = None,
    judgments: JudgmentsOption = "same",
    judge_qrels: "AnyTable | Sequence[Evaluation] | None" = None,
    labels_are: LabelKind | None = None,
    sampled_negatives: float | None = None,
    labels_from: str | None = None,
    **layout: Any,
) -> Comparison:
    """Compare runs: verdict, difference, confidence interval, and the smallest detectable
    difference.

    Parameters
    ----------
    evaluation_a, evaluation_b, *others : Evaluation; or judgments, then runs
        Evaluations of runs with the same judgments and convention. Differences are b - a. Three or
        more runs are compared pair by pair. Or judgments and two or more runs, in any form that
        `evaluate` reads: each run is evaluated with its unjudged documents and the measures of
        `with_companions`.
    measures : measure or iterable of them, optional
        Measures to compare. Default: the measures that both evaluations have, except text measures
        and companions; of judgments and runs, the default of `evaluate`. The first is the primary
        measure, which decides; the others are secondary.
    names : sequence of str, optional
        Names of the runs. Default: the name of each `Evaluation` or `Run`, else the file name
        without extensions, else "A" and "B", or "run 1", "run 2", ... for more than two runs.
    convention : str or Convention, optional
        For judgments and runs: the convention, ``standard`` by default. Evaluations have theirs.
    baseline : str, optional
        Name of a run. The others are compared with it only, not with each other.
    test : {"permutation", "t", "wilcoxon", "sign"}
        Test behind each p value and interval: sign flips of the mean difference, exact for up to 20
        queries that differ; Student's t; Wilcoxon's signed ranks; signs. Under very unequal
        weights, Student's t has less power than sign flips.
    correction : {"auto", "holm"}
        Correction of p values for the number of tests in a family, see Notes. "holm" is Holm's
        method with matching intervals.
    level : float
        Confidence level of the intervals; the significance level is ``1 - level``.
    margin : float, optional
        Largest difference that does not matter, in units of the measure. With it, two one-sided
        tests can show that b is equivalent to a.
    largest_loss : float, optional
        Greatest difference that one query can have, in units of the measure, for the margin.
        Default: the range of the measure. It takes about ``3 largest_loss / margin`` queries to
        rule out that rare queries lose so much; see Notes.
    effect : float, optional
        Smallest true difference worth finding, in units of the measure. With it,
        `Difference.queries_needed` is the number of queries like these that would detect such a
        difference with 80 % power.
    weights : mapping of query to float, Series, dataframe or path, optional
        Weight of each query, such as its traffic; for the permutation and t tests. A path or
        dataframe is read by `read_traffic`.
    clusters : mapping of query to label, Series, dataframe or path, optional
        Cluster of each query (user, session, topic): queries of one cluster are not independent.
        For the permutation and t tests. A path or dataframe is read by `read_clusters`.
    slices : mapping of query to str, or to several, Series, dataframe or path, optional
        Slices of the queries; see `traffic_thirds`. A path or dataframe is read by
        `read_categories`. Each difference is also computed on each slice (`Difference.slices`).
        Slices of the primary measure are one family of tests, slices of the other measures another.
    n_resamples : int, optional
        Number of random sign flips; default 100,000, and 10,000 for more than ten runs.
    rng : Generator, seed or None
        Random generator or seed. By default the seed is derived from the values, so the same input
        gives the same output.
    threads : int, optional
        Number of threads, at most; None or 0 uses all cores. Few queries use fewer. Results do not
        depend on it.
    rankings : Overlap or iterable of them, optional
        Similarity of the runs' rankings, as computed by `overlap`; evaluations do not keep the
        rankings.
    tell : callable, optional
        Progress callback: called with the number of finished pairs and the total, and then again
        for slices.
    judgments : {"same", "different", "different scales"}
        "different" allows evaluations with different judgments, which are otherwise refused;
        "different scales" even of two scales.
    judge_qrels : path, mapping, dataframe or Qrels, or sequence of Evaluation, optional
        Grades of a judge, such as a language model, for these queries or more; or the same runs,
        evaluated with its grades. A difference whose sign the judge contradicts is ``undecided``
        (`Difference.judge`). Evaluations must keep their runs: ``evaluate(...,
        keep_unjudged=True)``.
    labels_are : {"complete", "pooled", "positive-only"}, optional
        Kind of the labels, see `Labels`. Default: declared by the `Qrels`, else found in the
        grades.
    sampled_negatives : float, optional
        Share of the non-relevant documents that were labelled, if every relevant document was.
    labels_from : str, optional
        Name of the run whose results were labelled, for positive-only labels: they cannot decide
        between this run and another.
    **layout
        For arrays of labels and scores: group, offsets, qid, mask, padding; see
        `Lists.from_arrays`.

    Returns
    -------
    Comparison

    Raises
    ------
    IncompatibleError
        The evaluations have different conventions, judgments, cuts or measures.
    OptionError
        An option is impossible, or a measure has no better and worse.
    InputError
        The two runs have no scored query in common, no run has a judged document, no grade counts
        as relevant, or a query has no weight or cluster.

    Notes
    -----
    A query counts if the convention counts it for either run; the convention decides the value of a
    query without an answer. A query that is excluded for a measure in one run is excluded in both,
    and counted in `excluded_queries`.

    For two runs, the primary measure is a family of one test. For several pairs, its tests form a
    family. The secondary measures, over all pairs, form another family; their p values never change
    the verdict of the primary measure. Each family is corrected in a single step: its intervals
    hold simultaneously, and an interval excludes 0 if and only if its corrected p is at most ``1 -
    level``. The permutation test is corrected by max-T, which accounts for correlations between
    measures and runs; other tests and equivalence by Bonferroni's method.

    Equivalence must also hold against rare large losses that these queries do not show: p of
    equivalence is at least that of `stats.unseen_loss_p`, which depends on `largest_loss`. With no
    difference on n queries, up to 3 / n of all queries may still differ by `largest_loss`.
    `Difference.margin` has the number of queries that this takes. For a measure without a finite
    range, give `largest_loss`: the error rate of ``equivalent`` is not known otherwise.

    A significant or equivalent result must also be supported by the judgments. `tipping` holds the
    share of unjudged documents that would have to be relevant for the result to change. If that
    share is plausible, given the grades of judged documents at the same ranks, the verdict is ``too
    few judgments``. This needs evaluations that keep their unjudged documents: ``evaluate(...,
    keep_unjudged=True)``.

    `unjudged_a` and `unjudged_b` are computed from ``Judged`` and ``NumRet`` at the same cutoff,
    and `difference_judged` from the measure with ``judged_only``, if the evaluations have them;
    `with_companions` adds them to a list of measures.

    References
    ----------
    Smucker, Allan and Carterette (2007), A comparison of statistical significance tests for
    information retrieval evaluation. CIKM. Westfall and Young (1993), Resampling-based multiple
    testing, section 2.3, for max-T. Schuirmann (1987), A comparison of the two one-sided tests
    procedure. Journal of Pharmacokinetics and Biopharmaceutics 15.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> a, b = (
    ...     ir.evaluate(qrels, {q: ranking for q in qrels}, ["RR", "AP"])
    ...     for ranking in (["y", "x"], ["x", "y"])
    ... )
    >>> found = compare(a, b)
    >>> {
    ...     measure: (row.difference, row.p, row.p_corrected, row.verdict)
    ...     for measure, row in found.pairs[0].measures.items()
    ... }
    {'RR': (0.5, 0.0078125, 0.0078125, 'better'), 'AP': (0.5, 0.0078125, 0.0078125, 'better')}
    >>> compare(
    ...     {q: {"x": 1, "y": 0} for q in qrels},
    ...     {q: ["y", "x"] for q in qrels},
    ...     {q: ["x", "y"] for q in qrels},
    ...     measures="RR",
    ... )["RR"].verdict
    'better'
    """
    if not isinstance(evaluation_a, Evaluation):
        measures = parse_measures(DEFAULT_MEASURES if measures is None else measures)
    declared = DeclaredLabels(labels_are, sampled_negatives, labels_from)
    given = JudgedRuns(
        form=_COMPARE,
        tables=(evaluation_a, evaluation_b, *others),
        names=names,
        convention=convention,
        layout=layout,
        declared=declared,
    )
    evaluations = given.evaluations(measures or ())
    options = StudyOptions(
        test=test,
        correction=correction,
        level=level,
        margin=margin,
        largest_loss=largest_loss,
        effect=effect,
        weights=weights_of(weights),
        clusters=clusters_of(clusters),
        n_resamples=n_resamples,
        rng=rng,
        threads=threads,
        judgments=judgments,
        declared=declared,
    )
    comparison = compared(
        Study.of(evaluations, measures, options),
        baseline=baseline,
        slices=slices_of(slices),
        rankings=rankings,
        tell=tell,
    )
    if judge_qrels is None:
        return comparison
    return comparison.beside(judged_again(judge_qrels, evaluations, comparison.means))


def judged_again(
    judge: "AnyTable | Sequence[Evaluation]",
    evaluations: Sequence[Evaluation],
    measures: Iterable[str],
) -> Sequence[Evaluation]:
    """Evaluate the runs of evaluations once more, with the grades of a judge."""
    listed = judge if isinstance(judge, Sequence) else ()
    if listed and all(isinstance(evaluation, Evaluation) for evaluation in listed):
        return cast("Sequence[Evaluation]", judge)
    qrels = to_qrels(cast("AnyTable", judge))
    form = "compare(qrels, run_a, run_b, judge_qrels=judge)"
    runs = JudgedRuns(form=form, tables=tuple(evaluations)).kept_runs
    tested = set(measures)
    tested_measures = [measure for measure in evaluations[0].measures if str(measure) in tested]
    return [
        of_judged_queries(evaluate(qrels, run, tested_measures, evaluations[0].convention), qrels)
        for run in runs
    ]


def evaluated_by_judge(
    judge: Qrels, runs: Iterable[Run], measures: Sequence[Measure], convention: "Convention | str"
) -> list[Evaluation]:
    """Evaluate runs with the grades of a judge, on the queries that the judge judged, without
    warnings of odd data.
    """
    return [
        of_judged_queries(evaluate_read(judge, run, measures, convention), judge) for run in runs
    ]


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
    options = StudyOptions(level=level, judgments=judgments)
    training = SystemOptions(names=names, seeds=seeds, single=single)
    if not others:
        copies_a = _several(evaluations_a, names[0])
        copies_b = _several(evaluations_b, names[1])
    else:
        third, *further = others
        if further:
            raise InputError(
                f"found {2 + len(others)} arguments, expected evaluations of two systems, or "
                f"{_SEEDS}"
            )
        # Judgments come first, so the second and third arguments are the runs of the two systems.
        runs_a, runs_b = _several(evaluations_b, names[0]), _several(third, names[1])
        measures = parse_measures(DEFAULT_MEASURES if measures is None else measures)
        given = JudgedRuns(form=_SEEDS, tables=(evaluations_a, *runs_a, *runs_b))
        evaluated = list(given.evaluations(measures))
        copies_a, copies_b = evaluated[: len(runs_a)], evaluated[len(runs_a) :]
    for name, copies in zip(names, (copies_a, copies_b), strict=True):
        refuse_folds(name, copies)
    study = Study.of([*copies_a, *copies_b], measures, options)
    return systems_compared(study, len(copies_a), training)


def _several(copies: Any, name: str) -> list[Any]:
    is_single = isinstance(copies, Evaluation | str | PathLike | Mapping)
    if is_single or not isinstance(copies, Iterable):
        raise InputError(
            f"{name}: found one {type(copies).__name__}, expected a list with one for each trained "
            f"copy; or {_SEEDS}"
        )
    return list(copies)


seeds = compare_systems
"""`compare_systems` under the name of its command."""
