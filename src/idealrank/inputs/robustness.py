"""Robustness of a verdict, for paths, mappings, dataframes and arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from idealrank.analysis.comparison.label_basis import DeclaredLabels
from idealrank.analysis.comparison.study import StudyOptions
from idealrank.analysis.robustness import (
    Robustness,
    VariedComparison,
    robust_lists,
    robust_runs,
)
from idealrank.analysis.robustness.multiverse import Tell
from idealrank.conventions import Convention
from idealrank.data.join import Judgments, is_judgments
from idealrank.data.label_kinds import LabelKind
from idealrank.evaluation.sweep import JudgmentsSource
from idealrank.inputs.evaluation import AnyTable, evaluate
from idealrank.inputs.judged_runs import JudgedRuns, ReadRuns, judgments_source
from idealrank.inputs.per_query import QueryValues, clusters_of, weights_of
from idealrank.measures.parse import DEFAULT_MEASURES, MeasureLike
from idealrank.stats.comparison import TestName
from idealrank.stats.randomness import RandomLike

__all__ = ["robust", "robust_runs"]

_FORM = (
    "robust(qrels, run_a, run_b), robust(labels, scores_a, scores_b, group=...) or "
    "robust(evaluation_a, evaluation_b)"
)


def robust(
    qrels: AnyTable,
    run_a: AnyTable,
    run_b: AnyTable = None,
    measure: "MeasureLike | None" = None,
    *,
    names: Sequence[str] | None = None,
    convention: "Convention | str | None" = None,
    variants: "Iterable[str] | None" = None,
    pairs: int = 8,
    test: TestName = "permutation",
    level: float = 0.95,
    margin: float | None = None,
    largest_loss: float | None = None,
    weights: QueryValues = None,
    clusters: QueryValues = None,
    n_resamples: int | None = None,
    rng: RandomLike = None,
    threads: int | None = None,
    progress: Tell | None = None,
    labels_are: LabelKind | None = None,
    sampled_negatives: float | None = None,
    labels_from: str | None = None,
    **layout: Any,
) -> Robustness:
    """Repeat a comparison of two runs under other conventions, cutoffs and measures, and list the
    changes that alter its verdict.

    Each variant changes one thing: a switch of the convention (gain, discount, ideal, tie rule,
    unjudged documents, queries without an answer, ...), the cutoff or the relevance threshold; or
    it uses the whole convention of another tool, or another measure.

    Parameters
    ----------
    qrels, run_a, run_b : path, mapping, dataframe, Qrels or Run, or arrays of labels and two of
    scores
        As for `evaluate`; every difference is b - a. Or two evaluations that keep their judgments
        and runs (``evaluate(..., keep_unjudged=True)``), and the measure as the third argument.
    measure : Measure or str, optional
        Measure that decides. Switches that it sets itself are changed in it. Default: nDCG@10; of
        evaluations, their first measure.
    names : sequence of str, optional
        Names of the runs; not for arrays. Default: as for `compare`.
    convention : Convention or str, optional
        Reference convention; evaluations have theirs.
    variants : iterable of str, optional
        Variants to try instead of all: groups (``"ties"``, ``"cutoff"``, ``"rel"``, ``"measure"``,
        ``"preset"``), changes (``"ties=worst"``, ``"gain=exp2,cutoff=5"``), presets
        (``"lightgbm"``) and measures (``"AP"``).
    pairs : int
        If no single switch alters the verdict, the number of most costly switches that are tried in
        pairs; 0 for none.
    test, level, margin, largest_loss, weights, clusters, n_resamples
        As for `compare`; the same for every variant.
    rng : Generator, seed or None
        Random generator or seed, the same for every variant; by default derived from the values, as
        in `compare`.
    threads : int, optional
        Number of threads; None or 0 uses all cores. Results do not depend on it.
    progress : callable, optional
        Progress callback, called with the number of finished alignments and the total.
    labels_are : {"complete", "pooled", "positive-only"}, optional
        Kind of the labels, see `Labels`. Default: declared by the `Qrels`, else found in the
        grades.
    sampled_negatives : float, optional
        Share of the non-relevant documents that were labelled, if every relevant document was.
    labels_from : str, optional
        Name of the run whose results were labelled, for positive-only labels: they cannot decide
        between this run and another.
    **layout
        For arrays: group, offsets, qid, mask, padding; see `Lists.from_arrays`.

    Returns
    -------
    Robustness
        The reference comparison, every variant with difference, interval, p and verdict, and the
        changes that alter the verdict.

    Raises
    ------
    InputError
        A table cannot be read, or no query counts in both runs as asked.
    OptionError
        An option is impossible, or the measure has no better and worse.

    Notes
    -----
    This is a sensitivity (multiverse) analysis of the choices behind one comparison. Variants share
    their queries and agree far more than independent experiments would, so the number of
    significant variants is not a p value. The p values are not corrected and must not be used to
    select a variant: choose the convention before looking at runs, and report this analysis with
    the result.

    References
    ----------
    Steegen, Tuerlinckx, Gelman and Vanpaemel (2016), Increasing transparency through a multiverse
    analysis. Perspectives on Psychological Science 11(5).

    Examples
    --------
    >>> qrels = {f"q{i}": {"x": 1} for i in range(6)}
    >>> tied = {query: {"x": 1.0, "y": 1.0} for query in qrels}
    >>> found = robust(qrels, tied, {query: ["x"] for query in qrels}, "RR")
    >>> found.asked.difference, [(one.change, one.row.difference) for one in found.turning]
    (0.5, [('ties=docid-ascending', 0.0), ('P@10', 0.0)])
    """
    declared = DeclaredLabels(labels_are, sampled_negatives, labels_from)
    options = StudyOptions(
        test=test,
        level=level,
        margin=margin,
        largest_loss=largest_loss,
        weights=weights_of(weights),
        clusters=clusters_of(clusters),
        n_resamples=n_resamples,
        rng=rng,
        threads=threads,
        declared=declared,
    )
    given, measure = JudgedRuns.of_pair(
        _FORM,
        (qrels, run_a, run_b),
        measure,
        names=names,
        convention=convention,
        layout=layout,
        declared=declared,
    )
    varied = partial(VariedComparison, variants=variants, pairs=pairs, options=options)
    if lists := given.lists():
        asked = varied(
            measure=DEFAULT_MEASURES[0] if measure is None else measure,
            convention="standard" if convention is None else convention,
        )
        lists_a, lists_b = lists
        robustness = robust_lists((lists_a, lists_b), asked, tell=progress)
        return robustness if names is None else replace(robustness, run_a=names[0], run_b=names[1])

    read = given.read(measure)
    first, second = read.runs
    judgments = read.judgments if given.has_evaluations else _examined_judgments(read)
    asked = varied(measure=read.measure, convention=read.convention)
    return robust_runs(judgments, (first, second), asked, tell=progress)


def _examined_judgments(read: ReadRuns) -> "Judgments | JudgmentsSource":
    """Return judgments, or a function that reads them; warn of odd data once, not for each variant
    of the comparison.
    """
    qrels = read.judgments
    source = qrels if is_judgments(qrels) else judgments_source(qrels)
    source = cache(source) if callable(source) else source
    policy = Convention.of(read.convention).alignment.duplicates
    for run in read.runs:
        judgments = source
        if callable(source):
            judgments = source("error" if policy == "twice" else policy)
        evaluate(judgments, run, read.measure, read.convention)
    return source
