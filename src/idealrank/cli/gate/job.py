"""The gate of the command line: files as typed, bars, the page that is wanted, and a baseline replaced."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from idealrank.analysis.gate import Gated
from idealrank.api.gate import GateJob, GateRequest, Held, Result
from idealrank.cli import input_options
from idealrank.cli.gate.outputs import Outputs
from idealrank.cli.progress import Watch
from idealrank.cli.result_options import Results
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import Progress
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.gate_files.baselines import read_record

if TYPE_CHECKING:
    from idealrank.reports.subject import Subject


class Done(NamedTuple):
    """Result of a gate with its notes and its page; None without a page."""

    gated: Gated
    notes: list[str]
    page: "Subject | None"


@dataclass(frozen=True, kw_only=True)
class Job:
    """Gate to run, with its files.

    Attributes
    ----------
    asked : GateRequest
        The policy, measures, convention and paths of baselines.
    qrels, run : str
        Paths.
    inputs : Inputs
        How files are read.
    update : bool
        Whether the run may take the place of the last baseline.
    outputs : Outputs
        None of which is to be a file that is read.
    results : Results
        The page that is wanted.
    threads : int
        0 for one a core.

    Examples
    --------
    >>> import tempfile
    >>> from idealrank.cli.commands.gate import asked_of
    >>> from idealrank.io.gate_files.gate_policies import PolicyFile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name, text in (("qrels", "q 0 x 1"), ("new.run", "q Q0 x 1 2.0 t"), ("old.run", "q Q0 x 1 3.0 t")):
    ...     _ = (folder / name).write_text(text, encoding="utf-8")
    >>> asked = asked_of(PolicyFile(), baselines=[str(folder / "old.run")])
    >>> done = Job(asked=asked, qrels=str(folder / "qrels"), run=str(folder / "new.run")).done()
    >>> done.gated.passed, done.notes
    (True, [])
    """

    asked: GateRequest
    qrels: str
    run: str
    inputs: input_options.Inputs = field(default_factory=input_options.Inputs)
    update: bool = False
    outputs: Outputs = field(default_factory=Outputs)
    results: Results = field(default_factory=Results)
    threads: int = 0

    def done(self) -> "Done":
        """Run the gate on the files as they are before any is replaced.

        Raises
        ------
        InputError
            A file cannot be used.
        OptionError
            An option has an invalid value.
        """
        self._check_paths()
        asked, watch = self.asked, Watch()
        front = _Front(self, watch, _names(self.run, asked.baselines))
        work = GateJob(asked=asked, caller=front, kept=self.results.looked_at(asked.measures), threads=self.threads)
        held = work.hold(but_missing=self.update)
        notes, page = list(held.notes), self._page(held, watch)
        if self.update:
            notes.append(work.replace_if_as_good(held))
        return Done(held.gated, notes, page)

    def _page(self, held: Held, watch: Watch) -> "Subject | None":
        """Put the results into the store, and gather what the page shows, where these are wanted."""
        return self.results.gathered(
            watch, self._given, gated=held.gated, evaluations=held.evaluations, measures=self.asked.measures, qrels=held.qrels,
            runs=held.runs, weights=held.of_queries.weights, clusters=held.of_queries.clusters, threads=self.threads,
        )  # fmt: skip

    @property
    def _given(self) -> input_options.InputFiles:
        return input_options.InputFiles(qrels=self.qrels, inputs=self.inputs, others=(self.run, *self.asked.baselines, *self.asked.paths))

    def _check_paths(self) -> None:
        input_options.refuse_standard_input_twice(self.qrels, *self.inputs.more_qrels, self.run, *self.asked.paths)
        self.outputs.refuse_to_replace(self._given.paths, self.asked.baselines[-1] if self.update else None)
        self.results.check(self._given.paths, dict(self.outputs.files()))
        if "-" in self.asked.baselines:
            raise OptionError("--baseline -: found standard input, expected a file: a baseline is looked at twice")
        if self.update:
            others = (self.qrels, *self.inputs.more_qrels, self.run, *self.asked.baselines[:-1], *self.asked.paths)
            refuse_unfit_target(self.asked.baselines[-1], others)


@dataclass(frozen=True)
class _Front:
    """Caller of a gate on the command line."""

    job: Job
    watched: Watch
    names: Mapping[str, str]

    missing_baseline = "with --update-baseline the first run becomes the baseline"

    def tell(self, message: str) -> None:
        input_options.notes().inform(message)

    def qrels(self) -> Qrels:
        return self.job.inputs.open_qrels(self.job.qrels, self.job.asked.convention)

    def run(self) -> Run:
        return self.job.inputs.open_run(self.job.run, self.names[self.job.run], self.job.qrels)

    def baseline(self, path: str) -> Run:
        return self.job.inputs.open_run(path, self.names[path], self.job.qrels)

    def baseline_name(self, path: str) -> str:
        return self.names[path]

    def doubt(self, evaluation: Evaluation, baseline: str | None) -> None:
        input_options.doubt(evaluation, baseline or self.job.run)

    def watch(self, label: str, work: Callable[[Progress], Result]) -> Result:
        return self.watched.run(label, work)


def _names(run: str, baselines: Sequence[str]) -> dict[str, str]:
    """Names of the run and of the baselines by their paths; a run may be held against itself."""
    if twice := [path for path in baselines if baselines.count(path) > 1]:
        raise OptionError(f"--baseline {twice[0]}: found {baselines.count(twice[0])} times, expected each baseline once")
    paths = list(dict.fromkeys([run, *baselines]))
    return dict(zip(paths, input_options.run_names(paths), strict=True))


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
    if target.is_dir() or read_record(path, input_options.notes()) is None:
        raise OptionError(
            f"--baseline {path}: found a file that --update-baseline did not make, and does not replace; expected a new name after it, "
            f"as in --baseline {path} --baseline best.run.gz --update-baseline: the last baseline is the one that is replaced"
        )
