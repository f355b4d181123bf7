"""Comparisons of runs: evaluations, or judgments and runs in any form."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from idealrank.analysis.comparison import Comparison, Study, StudyOptions, compared
from idealrank.analysis.comparison.difference_rows import of_judged_queries
from idealrank.analysis.comparison.families import Correction
from idealrank.analysis.comparison.label_basis import DeclaredLabels
from idealrank.analysis.comparison.procedure import Tell
from idealrank.analysis.comparison.rankings import Overlapping
from idealrank.analysis.comparison.requirements import JudgmentsOption
from idealrank.conventions import Convention
from idealrank.data.label_kinds import LabelKind
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import AnyTable, evaluate, evaluate_read, to_qrels
from idealrank.inputs.judged_runs import JudgedRuns
from idealrank.inputs.per_query import QueryValues, clusters_of, slices_of, weights_of
from idealrank.measures.measure import Measure
from idealrank.measures.parse import DEFAULT_MEASURES, MeasureLike, parse_measures
from idealrank.stats.comparison import TestName
from idealrank.stats.randomness import RandomLike

_FORM = (
    "compare(qrels, run_a, run_b), compare(labels, scores_a, scores_b, group=...) or "
    "compare(evaluation_a, evaluation_b)"
)


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
        Progress callback: called with the number of finished pairs and the total; before that,
        with the families of slices.
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
        form=_FORM,
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
    runs = JudgedRuns(form=_FORM, tables=tuple(evaluations)).kept_runs
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
