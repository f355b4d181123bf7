"""A gate for evaluations, or for judgments and runs."""

from collections.abc import Iterable, Sequence
from typing import Any

from idealrank.analysis.comparison.label_basis import DeclaredLabels
from idealrank.analysis.comparison.requirements import JudgmentsOption
from idealrank.analysis.gate.checks import gate as gate_evaluations
from idealrank.analysis.gate.checks import gate_beside
from idealrank.analysis.gate.outcome import Contract, Gated, Policy, WhenUnjudged
from idealrank.api.comparison import evaluations_of, judged_again
from idealrank.api.evaluation import AnyTable
from idealrank.api.per_query import QueryValues, clusters_of, weights_of
from idealrank.conventions import Convention
from idealrank.data.label_kinds import LabelKind
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.gate_files.gate_policies import DEFAULT_MEASURE
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measure, parse_measures
from idealrank.stats.randomness import RandomLike


def gate(
    evaluation: Evaluation | AnyTable,
    baseline: Evaluation | AnyTable,
    *more_baselines: Evaluation | AnyTable,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    names: Sequence[str] | None = None,
    convention: "Convention | str | None" = None,
    also: "MeasureLike | Iterable[MeasureLike]" = (),
    policy: Policy | None = None,
    tolerance: float | None = None,
    strict: bool | None = None,
    margin: float | None = None,
    alpha: float | None = None,
    when_unjudged: WhenUnjudged | None = None,
    largest_loss: float | None = None,
    contracts: Iterable[Contract] = (),
    weights: QueryValues = None,
    clusters: QueryValues = None,
    n_resamples: int | None = None,
    rng: RandomLike = None,
    threads: int | None = None,
    judgments: JudgmentsOption = "same",
    judge_qrels: "AnyTable | Sequence[Evaluation] | None" = None,
    labels_are: LabelKind | None = None,
    sampled_negatives: float | None = None,
    labels_from: str | None = None,
    **layout: Any,
) -> Gated:
    """Decide whether a run may replace its baselines: it fails if it is significantly worse or
    breaks a contract.

    Parameters
    ----------
    evaluation, baseline, *more_baselines : Evaluation; or judgments, the run, then baselines
        Evaluations of the run and of its baselines, with the same judgments and convention. Or
        judgments, a run and its baselines, in any form that `evaluate` reads: each is evaluated as
        by `compare`.
    measures : measure or iterable of them, optional
        Measures to test. Default: the measures that all evaluations have, except text measures and
        companions; of judgments and runs, nDCG@10. The first is the primary measure, which can
        close the gate; the others are secondary and cannot.
    names : sequence of str, optional
        Names of the run and of its baselines. Default: the name of each `Evaluation` or `Run`, else
        the file name without extensions, else "run" and "baseline".
    convention : str or Convention, optional
        For judgments and runs: the convention, ``standard`` by default. Evaluations have theirs.
    also : measure or iterable of them, optional
        Secondary measures that can close the gate as well; added to `measures` if they are not
        among them.
    policy : Policy, optional
        Policy of the gate; or give its parts `tolerance`, `strict`, `margin`, `alpha`,
        `when_unjudged` and `largest_loss`.
    contracts : iterable of Contract, optional
        Requirements for single queries, checked independently of the means.
    weights : mapping of query to float, Series, dataframe or path, optional
        Weight of each query, such as its traffic. A path or dataframe is read by `read_traffic`.
    clusters : mapping of query to label, Series, dataframe or path, optional
        Cluster of each query (user, session, topic): queries of one cluster are not independent.
    n_resamples : int, optional
        Number of random sign flips; default 100,000.
    rng : Generator, seed or None
        Random generator or seed. By default the seed is derived from the values, so the same input
        always gives the same decision.
    threads : int, optional
        Number of threads; None or 0 uses all cores. The decision does not depend on it.
    judgments : {"same", "different", "different scales"}
        "different" allows evaluations with different judgments, which are otherwise refused;
        "different scales" even of two scales.
    judge_qrels : path, mapping, dataframe or Qrels, or sequence of Evaluation, optional
        Grades of a judge, as for `compare`. Where its difference has the other sign, and either is
        significant, a check is undecided: its outcome is that of too few judgments.
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
    Gated

    Raises
    ------
    IncompatibleError
        The evaluations have different conventions, judgments, cuts or measures, or one lacks the
        measure of a contract.
    OptionError
        An option is impossible, or a measure has no better and worse.
    InputError
        The two runs have no scored query in common, the run or a baseline has no judged document,
        no grade counts as relevant, or a query has no weight or cluster.

    Notes
    -----
    For each measure and baseline, a one-sided sign-flip test (exact for up to 20 queries) tests
    whether the run's true mean is worse by more than the tolerance. With one baseline, the primary
    measure is a family of one test; with several, it is corrected over them. The secondary measures
    form another family. Families are corrected by single-step max-T, with simultaneous bounds. A
    run as good as its baselines is therefore stopped with probability at most `alpha` by the
    primary measure, and at most `alpha` by the measures of `also`.

    A strict gate reverses the burden of proof: a check passes only if the test rejects a drop of
    the margin or more. Every check must pass, so no correction is needed: a run that is worse by
    the margin in any check passes with probability at most `alpha`. The test reckons with rare
    queries that lose as much as `largest_loss`, by default the range of the measure, and that these
    queries do not show (`stats.unseen_loss_p`). A run that is equal on every query passes only with
    about ``3 largest_loss / margin`` queries or more. For a measure without a finite range and
    without `largest_loss`, the probability is not known.

    A drop that is shown, or ruled out under `strict`, must also be supported by the judgments. If a
    plausible number of unjudged documents, being relevant, would reverse the answer, the check
    fails, unless `when_unjudged` says otherwise. This needs evaluations that keep their unjudged
    documents: ``evaluate(..., keep_unjudged=True)``.

    The test is exact if a harmless change helps a query as often as it harms one, and by as much.
    With few queries, a change of mean 0 that gains much on a few and loses a little on many is
    stopped more often than `alpha`. No other test of the same queries avoids that; more queries do.

    A run with the same value as the baseline on every query passes, unless the gate is strict; a
    run without a judged document never passes. A query counts if the convention counts it for any
    of the runs. Queries are ordered by id, so the decision does not depend on the order of any
    file. Each check has the unjudged shares and the difference on judged documents, as in
    `compare`, if the evaluations have them.

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing, section 2.3, for max-T. Berger
    (1982), Multiparameter hypothesis testing and acceptance sampling. Technometrics 24(4), for the
    intersection of strict checks. Wellek (2010), Testing Statistical Hypotheses of Equivalence and
    Noninferiority, chapter 2.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (
    ...     ir.evaluate(qrels, {q: ranking for q in qrels}, "RR")
    ...     for ranking in (["x", "y"], ["y", "x"])
    ... )
    >>> ir.gate(good, bad).passed, ir.gate(bad, good).passed, ir.gate(bad, good).reasons
    (True, False, ('RR against run (2): a drop of 0.5000 is significant (one-sided p 0.0039, two-sided p 0.0078)',))
    """  # noqa: E501
    tables, contracts = (evaluation, baseline, *more_baselines), tuple(contracts)
    demanded: tuple[Measure, ...] = ()
    if not isinstance(evaluation, Evaluation):
        measures = parse_measures(DEFAULT_MEASURE if measures is None else measures)
        also = parse_measures(also) if also else ()
        texts = (contract.measure for contract in contracts)
        of_contracts = (parse_measure(text) for text in texts if text is not None)
        demanded = (*measures, *also, *of_contracts)
    unnamed = "run", *["baseline"] * len(more_baselines)
    declared = DeclaredLabels(labels_are, sampled_negatives, labels_from)
    evaluations = evaluations_of(
        "gate(qrels, run, baseline)",
        tables,
        demanded,
        names,
        unnamed,
        layout=layout,
        convention=convention,
        declared=declared,
    )
    gated = gate_evaluations(
        *evaluations,
        measures=measures,
        also=also,
        policy=policy,
        tolerance=tolerance,
        strict=strict,
        margin=margin,
        alpha=alpha,
        when_unjudged=when_unjudged,
        largest_loss=largest_loss,
        contracts=contracts,
        weights=weights_of(weights),
        clusters=clusters_of(clusters),
        n_resamples=n_resamples,
        rng=rng,
        threads=threads,
        judgments=judgments,
        declared=declared,
    )
    if judge_qrels is None:
        return gated
    tested = dict.fromkeys(check.measure for check in gated.checks)
    return gate_beside(gated, judged_again(judge_qrels, evaluations, tested), evaluations)
