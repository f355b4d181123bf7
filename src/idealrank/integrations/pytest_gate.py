"""The gate of a test: its judgments and run as the test gives them, and its verdict for pytest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from idealrank.analysis.gate.outcome import Gated
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run, name_of
from idealrank.data.types import Progress
from idealrank.errors import IdealrankError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import to_qrels, to_run, warn_of_doubt
from idealrank.inputs.gate import GateRequest, settled
from idealrank.inputs.gate_jobs import GateJob, Result
from idealrank.io.gate_files.gate_policies import TABLE, PolicyFile, find_policy
from idealrank.io.label_grades import parse_labels
from idealrank.io.table_columns import Columns, parse_columns
from idealrank.reports.table.text import harmless, one_line
from idealrank.reports.views.comparison.verdicts import mark
from idealrank.reports.views.gate.gate import gate_text
from idealrank.reports.views.gate.sentences import could_see, reasons, verdict

_NO_BASELINE = (
    f'baseline: found none, expected ranking_gate(qrels, run, baseline="best.run.gz"), or one in '
    f"[{TABLE}]"
)


@dataclass(frozen=True, kw_only=True)
class GateAnswer:
    """Answer of a gate to a test."""

    gated: Gated | None = None  # None if an error kept the gate from running
    said: tuple[str, ...]  # Lines for the summary of the session
    failure: str = ""  # Why the test fails; empty if it does not
    skipped: str = ""  # Why the test is skipped; empty if it is not


def ask(
    qrels: Any,
    run: Any,
    baseline: Any,
    options: Mapping[str, Any],
    *,
    root: Path,
    update: bool = False,
    judge_qrels: Any = None,
) -> GateAnswer:
    """Hold a run to its baselines, or write it as the last of them."""
    try:
        policy = find_policy(root)
        gate_request = _requested(baseline, options, root, policy)
        caller = _TestCaller(
            given_qrels=_table_or_policy(qrels, "qrels", policy, root),
            given_run=_table_or_policy(run, "run", policy, root),
            convention=gate_request.convention,
            columns=_columns(policy),
            labels=parse_labels(policy.labels),
        )
        judge = None if judge_qrels is None else caller.judgments(_from_root(judge_qrels, root))
        work = GateJob(asked=gate_request, caller=caller, judge=judge)
        answer = _update(work) if update else _check(work)
    except IdealrankError as error:  # a sentence that says what to do; a traceback would hide it
        answer = GateAnswer(said=(f"not asked: {error}",), failure=f"ranking gate: {error}")
    lines = tuple(map(harmless, answer.said))
    return GateAnswer(
        gated=answer.gated,
        said=lines,
        failure=harmless(answer.failure),
        skipped=harmless(answer.skipped),
    )


def _table_or_policy(table: Any, name: str, policy: PolicyFile, root: Path) -> Any:
    """Return the table of the test, or the path of the policy, which opens from here already."""
    if table is not None:
        return _from_root(table, root)
    policy.require(name)
    policy_paths = getattr(policy, name)
    if not policy_paths:
        raise OptionError(
            f"{name}: found none, expected ranking_gate(qrels, run), or the key {name} in [{TABLE}]"
        )
    return list(policy_paths) if isinstance(policy_paths, tuple) else policy_paths


def _columns(policy: PolicyFile) -> dict[str, Columns]:
    """Columns of judgments and of runs that the policy names; None to guess."""
    texts = {"qrels": policy.qrels_columns, "run": policy.run_columns}
    return {table: parse_columns(text) if text else None for table, text in texts.items()}


def _requested(
    baseline: Any, options: Mapping[str, Any], root: Path, policy: PolicyFile
) -> GateRequest:
    settings = dict(options)
    if baseline is not None:
        settings["baselines"] = _paths(baseline, root)
    if isinstance(settings.get("contracts"), str | PathLike):
        settings["contracts"] = str(_from_root(settings["contracts"], root))
    return settled(settings, policy, _NO_BASELINE)


def _paths(baseline: Any, root: Path) -> tuple[str, ...]:
    listed = list(baseline) if isinstance(baseline, list | tuple) else [baseline]
    for path in listed:
        if not isinstance(path, str | PathLike):
            raise OptionError(
                f"baseline: found {type(path).__name__}, expected a path, or a list of paths: a "
                "baseline is a file"
            )
    return tuple(str(_from_root(path, root)) for path in listed)


def _from_root(table: Any, root: Path) -> Any:
    """Return paths as they open from here; dataframes and the like as they are. If pytest was
    started at its root, messages name files as they were typed.
    """
    if isinstance(table, list | tuple) and all(isinstance(path, str | PathLike) for path in table):
        return [_from_root(path, root) for path in table]
    if not isinstance(table, str | PathLike) or Path.cwd() == root:
        return table
    return root / table


@dataclass(frozen=True, kw_only=True)
class _TestCaller:
    """Caller of a gate in a test; `columns` has the columns of its files, by table."""

    given_qrels: Any
    given_run: Any
    convention: Convention
    columns: Mapping[str, Columns]
    labels: Mapping[str, float]  # Grades of labels that are words

    missing_baseline = "`pytest --update-ranking-baseline` makes it from the tested run"
    tell = None

    def open_qrels(self) -> Qrels:
        return self.judgments(self.given_qrels)

    def judgments(self, table: Any) -> Qrels:
        """Judgments under the convention's rule for a document listed twice."""
        duplicates = self.convention.alignment.duplicates
        if duplicates == "twice":  # a rule for runs alone
            duplicates = "error"
        return to_qrels(
            table,
            duplicates=duplicates,
            columns=self._columns_of("qrels", table),
            labels=self.labels,
        )

    def open_run(self) -> Run:
        columns = self._columns_of("run", self.given_run)
        return to_run(self.given_run, judgments=self.given_qrels, columns=columns)

    def open_repeats(self) -> list[Run]:
        return []

    def open_baseline(self, path: str) -> Run:
        return to_run(path, judgments=self.given_qrels, columns=self.columns["run"])

    def _columns_of(self, table: str, content: Any) -> Columns:
        """Columns of the policy, which describe files; a dataframe of the test has its own."""
        listed = content if isinstance(content, list | tuple) else [content]
        is_file = all(isinstance(path, str | PathLike) for path in listed)
        return self.columns[table] if is_file else None

    def baseline_name(self, path: str) -> str:
        return name_of(path)

    def doubt(self, evaluation: Evaluation, _baseline: str | None) -> None:
        warn_of_doubt(evaluation)

    def watch(self, _label: str, work: Callable[[Progress], Result]) -> Result:
        return work(Progress())


def _check(work: GateJob) -> GateAnswer:
    outcome = work.hold()
    gated = outcome.gated
    case = mark(gated.outcome).case
    failure = gate_text(gated, outcome.notes, work.asked.policy_file) if case == "failure" else ""
    sentences = "; ".join(one_line(reason, 1000) for reason in reasons(gated))
    skipped = f"{verdict(gated)}: {sentences}" if case == "skipped" else ""
    return GateAnswer(
        gated=gated,
        said=(verdict(gated), could_see(gated), *outcome.notes),
        failure=failure,
        skipped=skipped,
    )


def _update(work: GateJob) -> GateAnswer:
    """The run becomes the last baseline, whatever the outcome: the option states that the change
    was reviewed.
    """
    measured = work.hold_to_nothing()
    work.write_baseline(measured)
    means = measured.evaluations[0].mean()
    values = ", ".join(
        f"{one_line(str(measure))} {means[str(measure)]:.4f}" for measure in work.asked.measures
    )
    return GateAnswer(
        gated=measured.gated,
        said=(f"{work.asked.baselines[-1]} now holds {one_line(measured.runs[0].name)}: {values}",),
    )
