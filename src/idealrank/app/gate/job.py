"""The work of a gate: everything is read and evaluated, the run is held, and a baseline replaced."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from idealrank.analysis.comparison.query_table import queries_of
from idealrank.analysis.gate import Contract, Gated, gate
from idealrank.analysis.gate.checks import first_run, measures_of_gate
from idealrank.app import reading
from idealrank.app.by_query import OfQueries, QueryFiles
from idealrank.app.gate.asked import Asked
from idealrank.app.gate.baselines import Baseline, Candidate, open_baseline, refuse_unfit_target
from idealrank.app.gate.outputs import Outputs
from idealrank.app.progress import Watch
from idealrank.app.results import Results
from idealrank.data.progress import Progress
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation, evaluate
from idealrank.io.gate_files.baselines import refuse_shallow
from idealrank.io.gate_files.contracts import read_contracts
from idealrank.measures.measure import Measure

if TYPE_CHECKING:
    from idealrank.reports.page.subject import Subject


class Done(NamedTuple):
    """What a gate says, what else there is to say, and what the page shows; None where none is wanted."""

    gated: Gated
    notes: list[str]
    page: "Subject | None"


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is to be done.

    Attributes
    ----------
    asked : Asked
        The policy, measures, convention and paths of baselines.
    qrels, run : str
        Paths.
    inputs : Inputs
        How files are read.
    files : QueryFiles
        Weights and clusters.
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
    >>> from idealrank.app.gate.asked import Typed, settled
    >>> from idealrank.io.gate_files.policies import PolicyFile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name, text in (("qrels", "q 0 x 1"), ("new.run", "q Q0 x 1 2.0 t"), ("old.run", "q Q0 x 1 3.0 t")):
    ...     _ = (folder / name).write_text(text, encoding="utf-8")
    >>> asked = settled(Typed(baselines=[str(folder / "old.run")]), PolicyFile())
    >>> done = Job(asked=asked, qrels=str(folder / "qrels"), run=str(folder / "new.run")).done()
    >>> done.gated.passed, done.notes
    (True, [])
    """

    asked: Asked
    qrels: str
    run: str
    inputs: reading.Inputs = field(default_factory=reading.Inputs)
    files: QueryFiles = field(default_factory=QueryFiles)
    update: bool = False
    outputs: Outputs = field(default_factory=Outputs)
    results: Results = field(default_factory=Results)
    threads: int = 0

    def done(self) -> "Done":
        """What the gate says, what else there is to say, and what the page shows, of files as they are before one is replaced.

        Raises
        ------
        InputError
            A file cannot be used.
        OptionError
            An option is impossible.
        """
        self._check_paths()
        asked = self.asked
        contracts = () if asked.contracts_path is None else read_contracts(asked.contracts_path, reading.notes())
        names, of_queries, watch = _names(self.run, asked.baselines), self.files.read(), Watch()
        judgments = watch.run("judgments", lambda _: self.inputs.open_qrels(self.qrels, asked.convention))
        kept = self.results.looked_at(asked.measures)
        work = _Evaluate(judgments, measures_of_gate(asked.measures, contracts), asked, watch, self.threads, kept)
        opened = self._opened(names[1:], work.measures)
        run = self._open_run(self.run, names[0])
        evaluation = work.of(run, self.run)
        others = [work.of(one.run, one.path) for one in opened]
        gated = self._held(evaluation, others, contracts, of_queries)
        judged_by = (self.qrels, *self.inputs.more_qrels)
        notes = [note for one, other in zip(opened, others, strict=True) for note in one.changes(other, judged_by)]
        page = self._page(gated, watch, judgments, [run, *(one.run for one in opened)], [evaluation, *others], of_queries)
        if self.update:
            again, path = partial(work.of, path=self.run), asked.baselines[-1]
            candidate = Candidate(run=run, evaluation=evaluation, gated=gated, measures=asked.measures, judgments=judged_by, again=again)
            notes.append(candidate.replace(path, next((one.record for one in opened if one.path == path), None)))
        return Done(gated, notes, page)

    def _page(
        self, gated: Gated, watch: Watch, judgments: Qrels, runs: list[Run], evaluations: list[Evaluation], of_queries: OfQueries
    ) -> "Subject | None":
        """Put the results into the store, and gather what the page shows, where these are wanted."""
        return self.results.gathered(
            watch, self._given, gated=gated, evaluations=tuple(evaluations), measures=self.asked.measures, qrels=judgments,
            runs=tuple(runs), weights=of_queries.weights, clusters=of_queries.clusters, threads=self.threads,
        )  # fmt: skip

    @property
    def _given(self) -> reading.Given:
        others = (self.run, *self.asked.baselines, *self.files.paths, self.asked.contracts_path)
        return reading.Given(qrels=self.qrels, inputs=self.inputs, others=others)

    def _check_paths(self) -> None:
        others = [path for path in (*self.files.paths, self.asked.contracts_path) if path]
        reading.refuse_standard_input_twice(self.qrels, *self.inputs.more_qrels, self.run, *others)
        self.outputs.refuse_to_replace(self._given.paths, self.asked.baselines[-1] if self.update else None)
        self.results.check(self._given.paths, dict(self.outputs.files()))
        if "-" in self.asked.baselines:
            raise OptionError("--baseline -: found standard input, expected a file: a baseline is looked at twice")
        if self.update:
            last = self.asked.baselines[-1]
            refuse_unfit_target(last, (self.qrels, *self.inputs.more_qrels, self.run, *self.asked.baselines[:-1], *others))

    def _open_run(self, path: str, name: str) -> Run:
        return self.inputs.open_run(path, name, self.qrels)

    def _opened(self, names: Sequence[str], measures: Sequence[Measure]) -> list[Baseline]:
        """Every baseline but the one that is only to be made."""
        check = partial(refuse_shallow, measures=measures, convention=self.asked.convention)
        named = list(zip(self.asked.baselines, names, strict=True))
        wanted = named[:-1] if self.update and not Path(self.asked.baselines[-1]).exists() else named
        return [open_baseline(path, name, self._open_run, check) for path, name in wanted]

    def _held(self, evaluation: Evaluation, others: Sequence[Evaluation], contracts: Sequence[Contract], of_queries: OfQueries) -> Gated:
        of_queries.check(queries_of([evaluation, *others]))
        asked = self.asked
        if not others:
            return first_run(evaluation, asked.measures, asked.policy, contracts, also=asked.also)
        return gate(
            evaluation, *others, measures=asked.measures, also=asked.also, policy=asked.policy, contracts=contracts,
            weights=of_queries.weights, clusters=of_queries.clusters, threads=self.threads,
        )  # fmt: skip


def _names(run: str, baselines: Sequence[str]) -> list[str]:
    """Names of the run and of the baselines; a run may be held against itself."""
    paths = [run, *baselines]
    if twice := [path for path in baselines if baselines.count(path) > 1]:
        raise OptionError(f"--baseline {twice[0]}: found {baselines.count(twice[0])} times, expected each baseline once")
    if run in baselines:
        names = reading.run_names(baselines)
        return [names[baselines.index(run)], *names]
    return reading.run_names(paths)


@dataclass(frozen=True, eq=False)
class _Evaluate:
    """Every run is evaluated likewise."""

    judgments: Qrels
    measures: tuple[Measure, ...]
    asked: Asked
    watch: Watch
    threads: int
    kept: Sequence[Measure]

    def of(self, run: Run, path: str) -> Evaluation:
        def work(progress: Progress) -> Evaluation:
            return evaluate(
                self.judgments, run, self.measures, self.asked.convention, keep_unjudged=True, keep_for=self.kept, threads=self.threads,
                progress=progress,
            )  # fmt: skip

        found = self.watch.run(run.name, work)
        reading.doubt(found, path)
        return found
