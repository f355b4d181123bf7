"""A gate for evaluations or runs, and its work for the command and pytest: the request, the baselines, the verdict, a new baseline.

A caller says how files are opened and how long work is watched (`Caller`); it prints, fails and skips by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from idealrank._files import write_bytes
from idealrank.analysis.comparison.label_basis import NOTHING_DECLARED, DeclaredLabels
from idealrank.analysis.comparison.query_table import same_values
from idealrank.analysis.comparison.requirements import JudgmentsOption
from idealrank.analysis.gate.checks import first_run, gate_beside, measures_of_gate
from idealrank.analysis.gate.checks import gate as gate_evaluations
from idealrank.analysis.gate.outcome import TOO_FEW, Contract, Gated, Policy, WhenUnjudged
from idealrank.api.comparison import evaluated_by_judge, evaluations_of, judged_again
from idealrank.api.evaluation import AnyTable, evaluate_read
from idealrank.api.per_query import QueryValues, clusters_of, weights_of
from idealrank.conventions import Convention
from idealrank.data.label_kinds import LabelKind
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import Progress
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.gate_files import baselines as files
from idealrank.io.gate_files.baselines import BaselineRecord
from idealrank.io.gate_files.contracts import read_contracts
from idealrank.io.gate_files.gate_policies import DEFAULT_MEASURE, PARTS, PolicyFile
from idealrank.io.notes import Notes, Tell
from idealrank.io.query_files import OfQueries, QueryFiles
from idealrank.io.texts import check_texts, read_texts
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measure, parse_measures
from idealrank.stats.randomness import RandomLike

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class GateRequest:
    """Measures, baselines and rule of a gate.

    Attributes
    ----------
    policy : Policy
        The rule.
    measures : tuple of Measure
        The measures that are tested, the primary one first; measures of `also` come last unless named before.
    also : tuple of Measure
        Companions that may close the gate.
    convention : Convention
        Convention of every value.
    baselines : tuple of str
        Paths; the last is the one that may be replaced.
    contracts : str or tuple of Contract
        Path of the contracts of single queries, or the contracts; empty for none.
    query_files : QueryFiles
        Weights and clusters of the queries.
    policy_file : str
        File and table of the project's policy; empty where the project has none.
    declared : DeclaredLabels
        What is declared about the labels.
    queries : str or None
        Path of the texts of queries, which the message shows.

    Examples
    --------
    >>> asked = settled({"baselines": ("best.run",), "tolerance": 0.01}, PolicyFile(path="pyproject.toml", alpha=0.1), "no baseline")
    >>> asked.policy.tolerance, asked.policy.alpha, [str(one) for one in asked.measures], asked.policy_file
    (0.01, 0.1, ['nDCG@10'], 'pyproject.toml [tool.idealrank.gate]')
    """

    policy: Policy
    measures: tuple[Measure, ...]
    also: tuple[Measure, ...]
    convention: Convention
    baselines: tuple[str, ...]
    contracts: str | tuple[Contract, ...]
    query_files: QueryFiles
    policy_file: str
    declared: DeclaredLabels = NOTHING_DECLARED
    queries: str | None = None

    @property
    def paths(self) -> list[str]:
        """Paths of weights, clusters and contracts."""
        return [*self.query_files.paths, *([self.contracts] if self.contracts and isinstance(self.contracts, str) else [])]


def settled(
    given: Mapping[str, Any],
    found: PolicyFile,
    without_baseline: str,
    *,
    measures_in: Callable[[Sequence[str], str], Any] = lambda texts, _where: texts,
    convention_of: Callable[[Any], Convention] = Convention.of,
) -> GateRequest:
    """Settle what is asked: what was given, and for the rest the policy of the project.

    A given `strict` also wins over the parts of the file that belong to the other rule.

    Parameters
    ----------
    given : mapping
        ``baselines``, ``measures``, ``also``, ``convention``, ``contracts``, ``weights``, ``cluster``, ``queries`` and the parts of
        a `Policy`; what is missing comes from the file.
    found : PolicyFile
        The policy of the project.
    without_baseline : str
        Message where there is no baseline.
    measures_in : callable, optional
        Reads the file's texts of measures; also gets the place for messages.
    convention_of : callable, optional
        Reads the text of a convention.

    Raises
    ------
    OptionError
        An option is wrong, or there is no baseline; with the file where the option comes from there.
    """
    baselines = tuple(given.get("baselines", found.baselines))
    if not baselines:
        raise OptionError(without_baseline)
    texts = given["measures"] if "measures" in given else measures_in(found.measures, found.where) or DEFAULT_MEASURE
    with _said_in("" if "measures" in given else found.where):
        named = parse_measures(texts)
    texts = given["also"] if "also" in given else measures_in(found.also, found.where)
    with _said_in("" if "also" in given else found.where):
        also = parse_measures(texts) if texts else ()
    with _said_in("" if "convention" in given else found.where):
        convention = convention_of(given.get("convention", found.convention or "standard"))
    rule = {name: given[name] for name in PARTS if name in given}
    with _said_in("" if rule else found.where):
        policy = found.policy(**rule)
    contracts = given.get("contracts", found.contracts or ())
    return GateRequest(
        policy=policy,
        measures=tuple(dict.fromkeys((*named, *also))),
        also=also,
        convention=convention,
        baselines=baselines,
        contracts=contracts if isinstance(contracts, str) else tuple(contracts),
        query_files=QueryFiles(given.get("weights", found.weights), given.get("cluster", found.cluster)),
        policy_file=found.where,
        declared=DeclaredLabels(*(given.get(name, getattr(found, name)) for name in DeclaredLabels._fields)),
        queries=given.get("queries", found.queries),
    )


@contextmanager
def _said_in(where: str) -> Iterator[None]:
    """Put the place of an option before its errors; `where` is empty for what the caller gave."""
    try:
        yield
    except OptionError as error:
        if not where:
            raise
        raise OptionError(f"{where}: {error}", switch=error.switch) from None


class Caller(Protocol):
    """Actions that a gate leaves to its caller: opening files, messages, and progress."""

    @property
    def missing_baseline(self) -> str:
        """Describe how to create a missing baseline, for an error."""
        ...

    @property
    def tell(self) -> Tell | None:
        """Gets what readers of files have to say; None for warnings alone."""
        ...

    def qrels(self) -> Qrels:
        """Open the judgments."""
        ...

    def run(self) -> Run:
        """Open the run."""
        ...

    def baseline(self, path: str) -> Run:
        """Open a baseline that is an ordinary run."""
        ...

    def baseline_name(self, path: str) -> str:
        """Name a baseline."""
        ...

    def doubt(self, evaluation: Evaluation, baseline: str | None, /) -> None:
        """Refuse a run, or warn of one, that was hardly meant for the judgments; `baseline` is the path of a baseline."""
        ...

    def watch(self, label: str, work: Callable[[Progress], Result], /) -> Result:
        """Do work that may take long."""
        ...


@dataclass(frozen=True, kw_only=True)
class Held:
    """Outcome of a gate with its notes.

    Attributes
    ----------
    gated : Gated
        The verdict.
    notes : tuple of str
        What has changed since the baselines were made, in sentences.
    qrels : Qrels
        The judgments.
    runs : tuple of Run
        The run, and the baselines.
    evaluations : tuple of Evaluation
        Of these, by everything that the gate looks at.
    of_queries : OfQueries
        Weights and clusters.
    last : BaselineRecord or None
        What the first line of the last baseline says; None where it is an ordinary run, or does not exist yet.
    """

    gated: Gated
    notes: tuple[str, ...] = ()
    qrels: Qrels
    runs: tuple[Run, ...]
    evaluations: tuple[Evaluation, ...]
    of_queries: OfQueries
    last: BaselineRecord | None = None


@dataclass(frozen=True, kw_only=True)
class GateJob:
    """The work of a gate.

    Attributes
    ----------
    asked : GateRequest
        The policy, measures, convention and baselines.
    caller : Caller
        Opens files.
    kept : sequence of Measure
        Measures for which hits are kept, as `evaluate` does.
    top : int
        Ranks down to which the first documents of every list are kept.
    threads : int
        0 for one a core.
    judge : Qrels, optional
        Grades of a judge, as a second opinion on signs.
    """

    asked: GateRequest
    caller: Caller
    kept: Sequence[Measure] = ()
    top: int = 0
    threads: int = 0
    judge: Qrels | None = None

    def hold(self, *, but_missing: bool = False) -> Held:
        """Hold the run to its baselines.

        Parameters
        ----------
        but_missing : bool
            Whether the last baseline may be missing.

        Raises
        ------
        InputError
            A file cannot be used.
        OptionError
            An option has an invalid value.
        """
        asked, caller = self.asked, self.caller
        if asked.queries is not None:
            check_texts(asked.queries)
        contracts, of_queries = self._contracts(), asked.query_files.read(caller.tell)
        qrels = caller.watch("judgments", lambda _: self._labelled())
        measures = measures_of_gate(asked.measures, contracts)
        evaluated = partial(self._evaluated, qrels, measures)
        paths = asked.baselines[:-1] if but_missing and not Path(asked.baselines[-1]).exists() else asked.baselines
        opened = [self._opened(path, measures) for path in paths]
        run = caller.run()
        evaluation, others = evaluated(run), [evaluated(other, path) for path, (other, _) in zip(paths, opened, strict=True)]
        of_queries.check([evaluation, *others])
        gated = self._verdict(evaluation, others, contracts, of_queries)
        if self.judge is not None and others:
            runs = [run, *(other for other, _ in opened)]
            judged = evaluated_by_judge(self.judge, runs, parse_measures(asked.measures), asked.convention)
            gated = gate_beside(gated, judged, [evaluation, *others])
        notes = tuple(
            note
            for path, (_, record), other in zip(paths, opened, others, strict=True)
            if record is not None
            for note in files.changes_since(path, record, other, qrels.paths)
        )
        return Held(
            gated=self._with_texts(gated),
            notes=notes, qrels=qrels, runs=(run, *(other for other, _ in opened)), evaluations=(evaluation, *others),
            of_queries=of_queries, last=opened[-1][1] if len(opened) == len(asked.baselines) else None,
        )  # fmt: skip

    def hold_to_nothing(self) -> Held:
        """Measure the run alone, without contracts, to make it the last baseline whatever that was.

        Raises
        ------
        InputError
            A file cannot be used, or the last baseline is an ordinary run.
        """
        path = self.asked.baselines[-1]
        last = files.read_record(path, self._notes) if Path(path).exists() else None
        if Path(path).exists() and last is None:
            raise InputError(
                f"baseline {path}: found a file that is no baseline, and it is not replaced", hint="give a new name as the last baseline"
            )
        qrels, run = self._labelled(), self.caller.run()
        evaluation = self._evaluated(qrels, measures_of_gate(self.asked.measures, self._contracts()), run)
        gated = first_run(evaluation, self.asked.measures, self.asked.policy)
        return Held(gated=gated, qrels=qrels, runs=(run,), evaluations=(evaluation,), of_queries=OfQueries(QueryFiles()), last=last)

    def replace_if_as_good(self, held: Held) -> str:
        """Put the run into the last baseline's place if the gate is open and the run not lower, and say what was done."""
        path, gated, name = self.asked.baselines[-1], held.gated, held.runs[0].name
        if not gated.passed:
            why = "too few judgments" if gated.outcome == TOO_FEW else "the gate is closed"
            return f"{path} was not {'replaced' if held.last else 'made'}: {why}"
        if held.last is None:
            self.write_baseline(held)
            return f"saved {name} as the baseline {path}"
        check = gated.checks[-len(self.asked.measures)]  # the last baseline by the first measure
        if check.difference * check.direction < 0:
            means = f"{check.measure} {check.mean_baseline:.4f}, against {check.mean_run:.4f} in {name}"
            return f"{path} still holds {held.last.name}, the best so far: {means}"
        self.write_baseline(held)
        means = f"{check.measure} {check.mean_run:.4f}, against {check.mean_baseline:.4f} in {held.last.name}"
        return f"{path} now holds {name}: {means}"

    def write_baseline(self, held: Held) -> None:
        """Write the run as the last baseline; errors as for `baseline_file`."""
        write_bytes([self.baseline_file(held)], self.asked.baselines[-1])

    def baseline_file(self, held: Held) -> bytes:
        """Return the run as the file of the last baseline; the file is read back and evaluated first.

        Raises
        ------
        InputError
            The run cannot be kept in a file of lines.
        """
        path, run, evaluation = self.asked.baselines[-1], held.runs[0], held.evaluations[0]
        record = files.record_of(evaluation, list(map(str, self.asked.measures)), held.qrels.paths)
        record = record if held.last is None else record.as_deep_as(held.last)
        data = files.baseline_bytes(run, record, self.asked.convention)
        if not same_values(self._evaluated(held.qrels, evaluation.measures, files.run_in(data, run.name)), evaluation):
            raise InputError(
                f"{path}: not written, for the run read back from it has other values; a query that is answered without a document "
                "cannot be kept in a file of lines"
            )
        return files.compressed(data) if path.endswith(".gz") else data

    def _labelled(self) -> Qrels:
        """The judgments with the kind of labels that was declared."""
        declared, qrels = self.asked.declared, self.caller.qrels()
        return qrels.labelled(declared.labels_are, sampled_negatives=declared.sampled_negatives)

    def _with_texts(self, gated: Gated) -> Gated:
        """Add the texts of the queries that fell most."""
        if self.asked.queries is None:
            return gated
        wanted = {drop.query for check in gated.checks for drop in check.worst}
        return gated.with_texts(read_texts(self.asked.queries, wanted, tell=self.caller.tell))

    @property
    def _notes(self) -> Notes:
        return Notes(self.caller.tell)

    def _contracts(self) -> tuple[Contract, ...]:
        contracts = self.asked.contracts
        return read_contracts(contracts, self._notes) if isinstance(contracts, str) else contracts

    def _opened(self, path: str, measures: Sequence[Measure]) -> tuple[Run, BaselineRecord | None]:
        """A baseline file with its record, whose lists must reach as deep as the measures look; or any run."""
        try:
            record = files.read_record(path, self._notes)
        except InputError as error:
            raise error if Path(path).exists() else InputError(str(error), hint=self.caller.missing_baseline) from None
        if record is None:
            return self.caller.baseline(path), None
        files.refuse_shallow(path, record, measures, self.asked.convention)
        return files.read_baseline(path, self.caller.baseline_name(path), self._notes)

    def _evaluated(self, qrels: Qrels, measures: Sequence[Measure], run: Run, baseline: str | None = None) -> Evaluation:
        work = partial(
            evaluate_read,
            qrels,
            run,
            measures,
            self.asked.convention,
            keep_unjudged=True,
            keep_for=self.kept,
            keep_top=self.top,
            threads=self.threads,
        )
        found = self.caller.watch(run.name, lambda progress: work(progress=progress))
        self.caller.doubt(found, baseline)
        return found

    def _verdict(self, evaluation: Evaluation, others: Sequence[Evaluation], contracts: Sequence[Contract], of_queries: OfQueries) -> Gated:
        asked = self.asked
        if not others:
            return first_run(evaluation, asked.measures, asked.policy, contracts, also=asked.also)
        return gate(
            evaluation, *others, measures=asked.measures, also=asked.also, policy=asked.policy, contracts=contracts,
            weights=of_queries.weights, clusters=of_queries.clusters, threads=self.threads, labels_from=asked.declared.labels_from,
        )  # fmt: skip


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
    """Decide whether a run may replace its baselines: it fails if it is significantly worse or breaks a contract.

    Parameters
    ----------
    evaluation, baseline, *more_baselines : Evaluation; or judgments, the run, then baselines
        Evaluations of the run and of its baselines, with the same judgments and convention. Or judgments, a run and its baselines, in any
        form that `evaluate` reads: each is evaluated as by `compare`.
    measures : measure or iterable of them, optional
        Measures to test. Default: the measures that all evaluations have, except text measures and companions; of judgments and runs,
        nDCG@10. The first is the primary measure, which can close the gate; the others are secondary and cannot.
    names : sequence of str, optional
        Names of the run and of its baselines. Default: the name of each `Evaluation` or `Run`, else the file name without extensions,
        else "run" and "baseline".
    convention : str or Convention, optional
        For judgments and runs: the convention, ``standard`` by default. Evaluations have theirs.
    also : measure or iterable of them, optional
        Secondary measures that can close the gate as well; added to `measures` if they are not among them.
    policy : Policy, optional
        Policy of the gate; or give its parts `tolerance`, `strict`, `margin`, `alpha` and `when_unjudged`.
    contracts : iterable of Contract, optional
        Requirements for single queries, checked independently of the means.
    weights : mapping of query to float, Series, dataframe or path, optional
        Weight of each query, such as its traffic. A path or dataframe is read by `read_traffic`.
    clusters : mapping of query to label, Series, dataframe or path, optional
        Cluster of each query (user, session, topic): queries of one cluster are not independent.
    n_resamples : int, optional
        Number of random sign flips; default 100,000.
    rng : Generator, seed or None
        Random generator or seed. By default the seed is derived from the values, so the same input always gives the same decision.
    threads : int, optional
        Number of threads; None or 0 uses all cores. The decision does not depend on it.
    judgments : {"same", "different", "different scales"}
        "different" allows evaluations with different judgments, which are otherwise refused; "different scales" even of two scales.
    judge_qrels : path, mapping, dataframe or Qrels, or sequence of Evaluation, optional
        Grades of a judge, as for `compare`. Where its difference has the other sign, and either is significant, a check is undecided: its
        outcome is that of too few judgments.
    labels_are : {"complete", "pooled", "positive-only"}, optional
        Kind of the labels, see `Labels`. Default: declared by the `Qrels`, else found in the grades.
    sampled_negatives : float, optional
        Share of the non-relevant documents that were labelled, if every relevant document was.
    labels_from : str, optional
        Name of the run whose results were labelled, for positive-only labels: they cannot decide between this run and another.
    **layout
        For arrays of labels and scores: group, offsets, qid, mask, padding; see `Lists.from_arrays`.

    Returns
    -------
    Gated

    Raises
    ------
    IncompatibleError
        The evaluations have different conventions, judgments, cuts or measures, or one lacks the measure of a contract.
    OptionError
        An option is impossible, or a measure has no better and worse.
    InputError
        The two runs have no scored query in common, the run or a baseline has no judged document, no grade counts as relevant, or a query
        has no weight or cluster.

    Notes
    -----
    For each measure and baseline, a one-sided sign-flip test (exact for up to 20 queries) tests whether the run's true mean is worse by
    more than the tolerance. With one baseline, the primary measure is a family of one test; with several, it is corrected over them. The
    secondary measures form another family. Families are corrected by single-step max-T, with simultaneous bounds. A run as good as its
    baselines is therefore stopped with probability at most `alpha` by the primary measure, and at most `alpha` by the measures of `also`.

    A strict gate reverses the burden of proof: a check passes only if the test rejects a drop of the margin or more. Every check must pass,
    so no correction is needed: a run that is worse by the margin in any check passes with probability at most `alpha`.

    A drop that is shown, or ruled out under `strict`, must also be supported by the judgments. If a plausible number of unjudged documents,
    being relevant, would reverse the answer, the outcome is ``too few judgments``, unless `when_unjudged` says otherwise. This needs
    evaluations that keep their unjudged documents: ``evaluate(..., keep_unjudged=True)``.

    The test is exact if a harmless change helps a query as often as it harms one, and by as much. With few queries, a change of mean 0 that
    gains much on a few and loses a little on many is stopped more often than `alpha`. No other test of the same queries avoids that; more
    queries do.

    A run with the same value as the baseline on every query always passes; a run without a judged document never passes. A query counts if
    the convention counts it for any of the runs. Queries are ordered by id, so the decision does not depend on the order of any file. Each
    check has the unjudged shares and the difference on judged documents, as in `compare`, if the evaluations have them.

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing, section 2.3, for max-T. Berger (1982), Multiparameter hypothesis
    testing and acceptance sampling. Technometrics 24(4), for the intersection of strict checks. Wellek
    (2010), Testing Statistical Hypotheses of Equivalence and Noninferiority, chapter 2.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (ir.evaluate(qrels, {q: ranking for q in qrels}, "RR") for ranking in (["x", "y"], ["y", "x"]))
    >>> ir.gate(good, bad).passed, ir.gate(bad, good).passed, ir.gate(bad, good).reasons
    (True, False, ('RR against run (2): a drop of 0.5000 is significant (one-sided p 0.0039, two-sided p 0.0078)',))
    """
    given, contracts = (evaluation, baseline, *more_baselines), tuple(contracts)
    demanded: tuple[Measure, ...] = ()
    if not isinstance(evaluation, Evaluation):
        measures, also = parse_measures(DEFAULT_MEASURE if measures is None else measures), parse_measures(also) if also else ()
        demanded = *measures, *also, *(parse_measure(one.measure) for one in contracts if one.measure is not None)
    unnamed = "run", *["baseline"] * len(more_baselines)
    declared = DeclaredLabels(labels_are, sampled_negatives, labels_from)
    evaluations = evaluations_of(
        "gate(qrels, run, baseline)",
        given,
        demanded,
        names,
        unnamed,
        layout=layout,
        convention=convention,
        declared=declared,
    )
    found = gate_evaluations(
        *evaluations, measures=measures, also=also, policy=policy, tolerance=tolerance, strict=strict, margin=margin, alpha=alpha,
        when_unjudged=when_unjudged, contracts=contracts, weights=weights_of(weights), clusters=clusters_of(clusters),
        n_resamples=n_resamples, rng=rng,
        threads=threads, judgments=judgments, declared=declared,
    )  # fmt: skip
    if judge_qrels is None:
        return found
    tested = dict.fromkeys(check.measure for check in found.checks)
    return gate_beside(found, judged_again(judge_qrels, evaluations, tested), evaluations)
