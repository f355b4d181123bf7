"""The work behind `ranking_gate`: a run is evaluated, held to its baselines, or made one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealrank._files import write_bytes
from idealrank.analysis.comparison.query_table import same_values
from idealrank.analysis.gate.checks import first_run, gate
from idealrank.analysis.gate.outcome import UNREACHED, Gated
from idealrank.api import evaluate, to_run
from idealrank.data.run import Run, name_of
from idealrank.errors import IdealrankError, InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.gate_files.baselines import (
    baseline_bytes,
    changes_since,
    compressed,
    read_baseline,
    read_record,
    record_of,
    refuse_shallow,
    run_in,
)
from idealrank.io.notes import Notes
from idealrank.pytest_plugin.asking import Question
from idealrank.reports.gated import gate_text
from idealrank.reports.gated_words import could_see, one_line, reasons, verdict
from idealrank.reports.workflow_log import harmless


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a gate says to a test.

    Attributes
    ----------
    gated : Gated or None
        The whole of it; None where the gate could not be asked.
    said : tuple of str
        Lines for the summary of the session.
    failure : str
        Why the test fails; empty where it does not.
    skipped : str
        Why the test is skipped; empty where it is not.
    """

    gated: Gated | None = None
    said: tuple[str, ...]
    failure: str = ""
    skipped: str = ""


def ask(qrels: Any, run: Any, baseline: Any, options: Mapping[str, Any], *, root: Path, update: bool = False) -> Answer:
    """Hold a run to its baselines, or write it as the last of them.

    Parameters
    ----------
    qrels, run, baseline
        As the test gave them.
    options : mapping
        Measures, convention, contracts and the parts of the policy that the test gave.
    root : Path
        Where relative paths start, and the policy of the project is looked for.
    update : bool
        Whether to write.

    Examples
    --------
    >>> ask({"q": {"x": 1}}, "nowhere.run", "main.run", {}, root=Path.cwd()).failure
    'ranking gate: nowhere.run: found no such file'
    """
    try:
        question = Question.of(qrels, run, baseline, options, root)
        answer = _written(question) if update else _held(question)
    except IdealrankError as error:  # a sentence that says what to do; a traceback would hide it
        answer = Answer(said=(f"not asked: {error}",), failure=f"ranking gate: {error}")
    said = tuple(map(harmless, answer.said))
    return Answer(gated=answer.gated, said=said, failure=harmless(answer.failure), skipped=harmless(answer.skipped))


def _held(question: Question) -> Answer:
    evaluation = _evaluated(question, question.run)
    others: list[Evaluation] = []
    notes: list[str] = []
    for path in question.baselines:
        other, changes = _baseline(question, path)
        others.append(other)
        notes += changes
    gated = gate(
        evaluation, *others, measures=question.gated, also=question.also, policy=question.policy, contracts=question.contracts,
        weights=question.weights, clusters=question.clusters,
    )  # fmt: skip
    failure = gate_text(gated, notes, question.policy_file) if gated.outcome == "failed" else ""
    skipped = f"{verdict(gated)}: {'; '.join(map(_one_line, reasons(gated)))}" if gated.outcome == UNREACHED else ""
    return Answer(gated=gated, said=(verdict(gated), could_see(gated), *notes), failure=failure, skipped=skipped)


def _one_line(reason: str) -> str:
    return one_line(reason, 1000)


def _evaluated(question: Question, run: Run) -> Evaluation:
    return evaluate(question.qrels, run, question.measures, question.convention, keep_unjudged=True)


def _baseline(question: Question, path: str) -> tuple[Evaluation, list[str]]:
    """A baseline file or any run, evaluated; and what has changed since it was made."""
    if not Path(path).exists():
        raise InputError(f"baseline {path}: found no such file; `pytest --update-ranking-baseline` makes it of the run that is tested")
    record = read_record(path, Notes())
    if record is None:
        return _evaluated(question, to_run(path)), []
    refuse_shallow(path, record, question.measures, question.convention)
    found = _evaluated(question, read_baseline(path, name_of(path), Notes())[0])
    return found, changes_since(path, record, found, question.judgments)


def _written(question: Question) -> Answer:
    """The run becomes the last baseline, whatever that was: who asks for this has looked at the change."""
    path = question.baselines[-1]
    old = read_record(path, Notes()) if Path(path).exists() else None
    if Path(path).exists() and old is None:
        raise InputError(f"baseline {path}: found a file that is no baseline, and it is not replaced; give a new name as the last baseline")
    evaluation = _evaluated(question, question.run)
    gated = first_run(evaluation, question.gated, question.policy)
    record = record_of(evaluation, list(map(str, question.gated)), question.judgments)
    record = record if old is None else record.as_deep_as(old)
    data = baseline_bytes(question.run, record, question.convention)
    if not same_values(_evaluated(question, run_in(data, question.run.name)), evaluation):
        raise InputError(f"baseline {path}: not written, for a query that is answered without a document cannot be kept in a file of lines")
    write_bytes([compressed(data) if path.endswith(".gz") else data], path)
    means = evaluation.mean()
    values = ", ".join(f"{one_line(str(measure))} {means[str(measure)]:.4f}" for measure in question.gated)
    return Answer(gated=gated, said=(f"{path} now holds {one_line(question.run.name)}: {values}",))
