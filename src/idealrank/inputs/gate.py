"""A gate for evaluations, or for judgments and runs, and the requests of gates: the given options,
and for the rest the policy of the project.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealrank.analysis.comparison import StudyOptions
from idealrank.analysis.comparison.label_basis import NOTHING_DECLARED, DeclaredLabels
from idealrank.analysis.comparison.requirements import JudgmentsOption
from idealrank.analysis.gate.checks import GateCase, contracts_of, decided, gate_beside, policy_of
from idealrank.analysis.gate.contracts import Contract
from idealrank.analysis.gate.outcome import Gated, Policy, WhenUnjudged
from idealrank.conventions import Convention
from idealrank.data.label_kinds import LabelKind
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.comparison import judged_again
from idealrank.inputs.evaluation import AnyTable
from idealrank.inputs.judged_runs import JudgedRuns
from idealrank.inputs.per_query import QueryValues, clusters_of, weights_of
from idealrank.io.gate_files.gate_policies import DEFAULT_MEASURE, PARTS, PolicyFile
from idealrank.io.query_files import QueryFiles
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measure, parse_measures
from idealrank.stats.randomness import RandomLike

_FORM = (
    "gate(qrels, run, baseline), gate(labels, scores, baseline, group=...) or "
    "gate(evaluation, baseline)"
)


@dataclass(frozen=True, kw_only=True)
class GateRequest:
    """Measures, baselines and rule of a gate."""

    policy: Policy  # The rule
    # The measures that are tested, the primary one first; measures of `also` come last unless named
    # before
    measures: tuple[Measure, ...]
    also: tuple[Measure, ...]  # Companions that may close the gate
    convention: Convention  # Convention of every value
    baselines: tuple[str, ...]  # Paths; the last is the one that may be replaced
    # Path of the contracts of single queries, or the contracts; empty for none
    contracts: str | tuple[Contract, ...]
    query_files: QueryFiles  # Weights and clusters of the queries
    policy_file: str  # File and table of the project's policy; empty where the project has none
    declared: DeclaredLabels = NOTHING_DECLARED  # What is declared about the labels
    # Folder that holds the state of the series; empty if the last baseline file holds it
    series: str = ""
    holdout: float = 0.0  # Share of the queries that decide nothing, see `held_out_queries`
    queries: str | None = None  # Path of the texts of queries, which the message shows

    def __post_init__(self) -> None:
        if not 0 <= self.holdout < 1:
            raise OptionError(
                f"holdout={self.holdout!r}: expected a share of the queries from 0 to below 1, "
                "such as 0.2"
            )

    @property
    def state(self) -> str:
        """Path of the file that holds the series: the last baseline, or its namesake in the folder
        of the series.
        """
        baseline = self.baselines[-1]
        return str(Path(self.series) / Path(baseline).name) if self.series else baseline

    @property
    def paths(self) -> list[str]:
        """Paths of weights, clusters and contracts."""
        paths = list(self.query_files.paths)
        if self.contracts and isinstance(self.contracts, str):
            paths.append(self.contracts)
        return paths


def settled(
    options: Mapping[str, Any],
    policy_file: PolicyFile,
    without_baseline: str,
    *,
    measures_in: Callable[[Sequence[str], str], Any] = lambda texts, _where: texts,
    convention_of: Callable[[Any], Convention] = Convention.of,
) -> GateRequest:
    """Settle a request: the given options, and for the rest the policy of the project.

    A given `strict` also wins over the parts of the file that belong to the other rule.
    """
    baselines = tuple(options.get("baselines", policy_file.baselines))
    if not baselines:
        raise OptionError(without_baseline)

    def place_of(key: str) -> str:
        return "" if key in options else policy_file.at(key)

    def texts_of(key: str) -> Any:
        if key in options:
            return options[key]
        return measures_in(getattr(policy_file, key), policy_file.at(key))

    # An error names the policy file only if the option comes from there.
    texts = texts_of("measures")
    if "measures" not in options:
        texts = texts or DEFAULT_MEASURE
    with _naming(place_of("measures")):
        tested = parse_measures(texts)
    also_texts = texts_of("also")
    with _naming(place_of("also")):
        also = parse_measures(also_texts) if also_texts else ()
    with _naming(place_of("convention")):
        convention = convention_of(options.get("convention", policy_file.convention or "standard"))
    rule = {name: options[name] for name in PARTS if name in options}
    with _naming("" if rule else policy_file.where):
        policy = policy_file.policy(rule)

    files = ("contracts", "weights", "cluster", "queries")
    policy_file.require(*(key for key in files if key not in options))
    contracts = options.get("contracts", policy_file.contracts or ())
    declared = (options.get(name, getattr(policy_file, name)) for name in DeclaredLabels._fields)
    return GateRequest(
        policy=policy,
        measures=tuple(dict.fromkeys((*tested, *also))),
        also=also,
        convention=convention,
        baselines=baselines,
        contracts=contracts if isinstance(contracts, str) else tuple(contracts),
        query_files=QueryFiles(
            options.get("weights", policy_file.weights), options.get("cluster", policy_file.cluster)
        ),
        policy_file=policy_file.where,
        declared=DeclaredLabels(*declared),
        series=options.get("series", ""),
        holdout=options.get("holdout", policy_file.holdout),
        queries=options.get("queries", policy_file.queries),
    )


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Put the place of an option before its errors; `where` is empty for what the caller gave."""
    try:
        yield
    except OptionError as error:
        if not where:
            raise
        raise OptionError(f"{where}: {error}", switch=error.switch) from None


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
    contracts = contracts_of(contracts)
    demanded: tuple[Measure, ...] = ()
    if not isinstance(evaluation, Evaluation):
        measures = parse_measures(DEFAULT_MEASURE if measures is None else measures)
        also = parse_measures(also) if also else ()
        texts = (contract.measure for contract in contracts if contract.measure is not None)
        demanded = (*measures, *also, *map(parse_measure, texts))
    declared = DeclaredLabels(labels_are, sampled_negatives, labels_from)
    given = JudgedRuns(
        form=_FORM,
        tables=(evaluation, baseline, *more_baselines),
        names=names,
        unnamed=("run", *["baseline"] * len(more_baselines)),
        convention=convention,
        layout=layout,
        declared=declared,
    )
    evaluations = given.evaluations(demanded)
    rule = policy_of(
        policy,
        tolerance=tolerance,
        strict=strict,
        margin=margin,
        alpha=alpha,
        when_unjudged=when_unjudged,
        largest_loss=largest_loss,
    )
    options = StudyOptions(
        weights=weights_of(weights),
        clusters=clusters_of(clusters),
        n_resamples=n_resamples,
        rng=rng,
        threads=threads,
        judgments=judgments,
        declared=declared,
    )
    case = GateCase(runs=evaluations, measures=measures, also=also, contracts=contracts)
    gated = decided(case, rule, options)
    if judge_qrels is None:
        return gated
    tested = dict.fromkeys(check.measure for check in gated.checks)
    return gate_beside(gated, judged_again(judge_qrels, evaluations, tested), evaluations)
