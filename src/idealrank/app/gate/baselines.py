"""The baselines of a gate: opened, and one of them replaced by a run that is as good."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from idealrank._files import write_bytes
from idealrank.analysis.comparison.query_table import same_values
from idealrank.analysis.gate import Gated
from idealrank.analysis.gate.outcome import UNREACHED
from idealrank.app import reading
from idealrank.data.run import Run
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.gate_files import baselines as files
from idealrank.io.gate_files.baselines import BaselineRecord
from idealrank.measures.measure import Measure


@dataclass(frozen=True)
class Baseline:
    """A baseline, opened.

    Attributes
    ----------
    path : str
        As typed.
    run : Run
        What it holds.
    record : BaselineRecord or None
        What its first line says; None for an ordinary run.

    Examples
    --------
    >>> Baseline("bm25.run", Run({"q": ["x"]}), None).run.name
    'run'
    """

    path: str
    run: Run
    record: BaselineRecord | None

    def changes(self, evaluation: Evaluation, judgments: Sequence[str]) -> list[str]:
        """What is different from when it was made, in sentences, given its evaluation and the files of judgments."""
        return [] if self.record is None else files.changes_since(self.path, self.record, evaluation, judgments)


def open_baseline(path: str, name: str, open_run: Callable[[str, str], Run], check: Callable[[str, BaselineRecord], None]) -> Baseline:
    """A baseline file or any run.

    Parameters
    ----------
    path, name : str
        Of the baseline.
    open_run : callable
        Opens an ordinary run of a path and a name.
    check : callable
        Looks at the path of a baseline file, and at what its first line says, before anything else is read.

    Raises
    ------
    InputError
        It cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".run") as file:
    ...     open_baseline(file.name, "old", lambda path, name: Run({"q": ["x"]}, name=name), print).run.name
    'old'
    """
    try:
        record = files.read_record(path, reading.notes())
    except InputError as error:
        hint = "; with --update-baseline the first run becomes the baseline" if not Path(path).exists() else ""
        raise InputError(f"{error}{hint}") if hint else error from None
    if record is None:
        return Baseline(path, open_run(path, name), None)
    check(path, record)
    return Baseline(path, files.read_baseline(path, name, reading.notes())[0], record)


def refuse_unfit_target(path: str, others: Sequence[str]) -> None:
    """Refuse to make a baseline where something stands that is no baseline, before any work is done.

    Raises
    ------
    OptionError
        The file is an ordinary run, or one that this command reads; or its folder does not exist.

    Examples
    --------
    >>> refuse_unfit_target("no-such-file.run.gz", [])
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise OptionError(f"--baseline {path}: found no folder {target.parent}, expected one for --update-baseline to write the file to")
    if not target.exists():
        return
    if any(other != "-" and Path(other).exists() and target.samefile(other) for other in others):
        raise OptionError(f"--baseline {path}: found a file that is read by this command, expected another name for --update-baseline")
    if target.is_dir() or files.read_record(path, reading.notes()) is None:
        raise OptionError(
            f"--baseline {path}: found a file that --update-baseline did not make, and does not replace; expected a new name after it, "
            f"as in --baseline {path} --baseline best.run.gz --update-baseline: the last baseline is the one that is replaced"
        )


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A run that may become the baseline.

    Attributes
    ----------
    run : Run
        All of it.
    evaluation : Evaluation
        By everything that the gate looks at.
    gated : Gated
        What the gate says of it.
    measures : tuple of Measure
        Of the gate.
    judgments : tuple of str
        Paths of the judgments.
    again : callable
        Evaluates another run likewise.

    Examples
    --------
    >>> import idealrank as ir
    >>> run = Run({"q": ["x"]})
    >>> one = ir.evaluate({"q": {"x": 1}}, run, "RR")
    >>> made = Candidate(run=run, evaluation=one, gated=ir.gate(one, one), measures=one.measures, judgments=(), again=lambda run: one)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made.replace(f"{folder}/best.run", None).rpartition("/")[2]
    'best.run was made of run'
    """

    run: Run
    evaluation: Evaluation
    gated: Gated
    measures: tuple[Measure, ...]
    judgments: tuple[str, ...]
    again: Callable[[Run], Evaluation]

    def replace(self, path: str, old: BaselineRecord | None) -> str:
        """Put the run into the baseline's place if it is as good, and say what was done.

        Parameters
        ----------
        path : str
            Of the last baseline.
        old : BaselineRecord or None
            What its first line says; None where there is no such file yet.
        """
        if not self.gated.passed:
            why = "the judgments do not reach" if self.gated.outcome == UNREACHED else "the gate is closed"
            return f"{path} {'stays as it is' if old else 'was not made'}, for {why}"
        if old is None:
            self._write(path, None)
            return f"{path} was made of {self.run.name}"
        check = self.gated.checks[-len(self.measures)]  # the last baseline by the first measure
        means = f"{check.measure} {check.mean_run:.4f}, {old.name} had {check.mean_baseline:.4f}"
        if check.difference * check.direction < 0:
            return f"{path} keeps {old.name}, the best so far: {means}"
        self._write(path, old)
        return f"{path} now holds {self.run.name}: {means}"

    def _write(self, path: str, old: BaselineRecord | None) -> None:
        record = files.record_of(self.evaluation, list(map(str, self.measures)), self.judgments)
        record = record if old is None else record.as_deep_as(old)
        data = files.baseline_bytes(self.run, record, self.evaluation.convention)
        kept = self.again(files.run_in(data, self.run.name))
        if not same_values(kept, self.evaluation):
            raise InputError(
                f"{path}: not written, for the run read back from it has other values; a query that is answered without a document "
                "cannot be kept in a file of lines"
            )
        write_bytes([files.compressed(data) if path.endswith(".gz") else data], path)
