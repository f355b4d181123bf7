"""The work of a gate for the command and pytest: the baselines, the verdict, the state of the
series.

A caller says how files are opened and how long work is watched (`Caller`); it prints, fails and
skips by itself.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from idealrank._files import write_bytes
from idealrank.analysis.comparison import StudyOptions
from idealrank.analysis.comparison.label_basis import DeclaredLabels
from idealrank.analysis.comparison.query_table import same_values
from idealrank.analysis.gate.checks import (
    GateCase,
    Opposed,
    decided,
    first_run,
    gate_beside,
    measures_of_gate,
)
from idealrank.analysis.gate.contracts import Contract
from idealrank.analysis.gate.outcome import TOO_FEW, Gated
from idealrank.analysis.gate.series import ANCHOR, Acceptance, Series
from idealrank.data.interchange import finite
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import Progress
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.comparison import evaluated_by_judge
from idealrank.inputs.evaluation import RunEvaluator
from idealrank.inputs.gate import GateRequest
from idealrank.inputs.gate_series import (
    LOOK_AT_HOLDOUT,
    MeasuredBaseline,
    OpenedBaseline,
    anchored_record,
    held_out_queries,
    is_repeated,
    leading_run_note,
    next_record,
    noise_note,
    overfitting_note,
    refuse_unlike_repeats,
    sides_of,
    without_held_out,
)
from idealrank.inputs.text_sources import TextSources
from idealrank.io.complaints import Notes, Tell
from idealrank.io.gate_files import baselines as files
from idealrank.io.gate_files.baselines import BaselineRecord
from idealrank.io.gate_files.gate_policies import read_contracts
from idealrank.io.query_files import OfQueries, QueryFiles
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measures

Result = TypeVar("Result")


class Caller(Protocol):
    """Actions that a gate leaves to its caller: opening files, messages, and progress."""

    @property
    def missing_baseline(self) -> str:
        """Describe how to create a missing baseline, for an error."""
        ...

    @property
    def tell(self) -> Tell | None:
        """Receives messages of file readers; None for warnings alone."""
        ...

    def open_qrels(self) -> Qrels:
        """Open the judgments."""
        ...

    def open_run(self) -> Run:
        """Open the run."""
        ...

    def open_repeats(self) -> Sequence[Run]:
        """Open further runs of the same engine."""
        ...

    def open_baseline(self, path: str) -> Run:
        """Open a baseline that is an ordinary run."""
        ...

    def baseline_name(self, path: str) -> str:
        """Name a baseline."""
        ...

    def doubt(self, evaluation: Evaluation, baseline: str | None, /) -> None:
        """Refuse a run, or warn of one, that was hardly meant for the judgments; `baseline` is the
        path of a baseline.
        """
        ...

    def watch(self, label: str, work: Callable[[Progress], Result], /) -> Result:
        """Do work that may take long."""
        ...


@dataclass(frozen=True, kw_only=True)
class Held:
    """Outcome of a gate with its notes."""

    gated: Gated  # The verdict
    notes: tuple[str, ...] = ()  # What has changed since the baselines were made, in sentences
    qrels: Qrels  # The judgments
    runs: tuple[Run, ...]  # The run, and one that stands for each side before
    # Evaluations of `runs` by every measure that the gate looks at
    evaluations: tuple[Evaluation, ...]
    of_queries: OfQueries  # Weights and clusters
    # What the first line of the last baseline says; None where it is an ordinary run, or does not
    # exist yet
    last: BaselineRecord | None = None
    repeats: tuple[Run, ...] = ()  # Further runs of the same engine
    unchanged: bool = False  # Whether the run has the values of the last accepted one


def acceptance_of(gated: Gated, reason: str, by: str, time: str) -> Acceptance:
    """Make an acceptance of a closed gate, with the numbers of the first check that did not pass,
    or else of the first broken contract.
    """
    common = {"reason": reason, "by": by, "time": time, "run": gated.run}
    failed = next((check for check in gated.deciding if not check.passed), None)
    if failed is not None:
        return Acceptance(
            **common,
            measure=failed.measure,
            before=failed.mean_baseline,
            now=failed.mean_run,
            p=failed.p_corrected,
            baseline=failed.baseline,
        )
    broken = next(contract for contract in gated.contracts if not contract.passed)
    return Acceptance(
        **common,
        measure=broken.measure,
        before=finite(broken.demanded),
        now=finite(broken.found),
        p=None,
        baseline=broken.baseline or "",
        contract=broken.contract.query,
    )


def _is_look(held: Held) -> bool:
    """Return whether a gate spends alpha of its series: a strict gate, an unchanged run and a first
    run spend nothing.
    """
    return held.last is not None and not held.unchanged and not held.gated.policy.strict


def _series_after(held: Held) -> Series:
    """Return the state of the series after a gate."""
    series = held.gated.series or Series()
    return series.after_look() if _is_look(held) else series


def _runs_by_evaluation(
    opened: Sequence[OpenedBaseline], measured: Sequence[MeasuredBaseline]
) -> dict[int, Run]:
    """Map the id() of each evaluation of a baseline to its run."""
    run_of = {}
    for baseline, values in zip(opened, measured, strict=True):
        runs = (baseline.run, *baseline.others)
        evaluations = (values.first, *values.others)
        for run, evaluation in zip(runs, evaluations, strict=True):
            run_of[id(evaluation)] = run
    return run_of


def _baseline_notes(
    path: str, baseline: MeasuredBaseline, qrels: Qrels, *, is_last: bool
) -> list[str]:
    """Make notes on the changes since a baseline file was made, and on a series without effect."""
    if baseline.record is None:
        return []
    notes = files.changes_since(path, baseline.record, baseline.first, qrels.paths)
    if is_last:
        return notes
    return [*notes, f"{path} is not the last baseline: its series is neither read nor written"]


@dataclass(frozen=True, kw_only=True)
class GateJob:
    """The work of a gate."""

    asked: GateRequest  # The policy, measures, convention and baselines
    caller: Caller  # Opens files
    kept: Sequence[Measure] = ()  # Measures for which hits are kept, as `evaluate` does
    top: int = 0  # Ranks down to which the first documents of every list are kept
    threads: int = 0  # 0 for one a core
    judge: Qrels | None = None  # Grades of a judge, as a second opinion on signs

    def hold(self, *, but_missing: bool = False) -> Held:
        """Hold the run to its baselines."""
        request, caller = self.asked, self.caller
        TextSources(queries=request.queries).check()
        if request.series and Path(request.series).exists() and not Path(request.series).is_dir():
            raise OptionError(
                f"series={request.series!r}: found a file, expected a folder, such as a new one "
                "named state"
            )

        contracts = self._contracts()
        of_queries = request.query_files.read(caller.tell)
        qrels = caller.watch("judgments", lambda _: self._labelled())
        measures = measures_of_gate(request.measures, contracts)
        evaluate_run = partial(self._evaluated, self._evaluator(qrels, measures))
        paths = [*request.baselines[:-1], *self._last_path(but_missing=but_missing)]
        opened = [self._opened(path, measures) for path in paths]
        self._refuse_another_series(opened)
        run = caller.open_run()
        repeats = caller.open_repeats()
        runs = [evaluate_run(engine_run) for engine_run in (run, *repeats)]
        refuse_unlike_repeats(runs)
        baselines = [
            self._measured(baseline, path, evaluate_run)
            for path, baseline in zip(paths, opened, strict=True)
        ]
        of_queries.check([*runs, *(baseline.first for baseline in baselines)])
        last = baselines[-1] if len(baselines) == len(request.baselines) else None

        held_out = held_out_queries(runs[0].queries, request.holdout)
        if held_out and len(held_out) == len(runs[0].queries):
            raise OptionError(
                f"holdout={request.holdout:g}: holds out all {len(held_out):,} queries; expected a "
                "smaller share, such as 0.2"
            )
        sides = self._sides(runs, baselines, last)
        counted, notes = without_held_out(contracts, held_out)
        gated = self._verdict(runs, sides, counted, of_queries, last=last, held_out=held_out)
        if held_out:
            gated = replace(
                gated,
                holdout=request.holdout,
                held_out=len(held_out),
                n_queries=len(runs[0].queries),
            )

        # A run stands for each side: what is judged, stored and shown beside the checks.
        leading_baselines = [side.before[0] for side in sides]
        run_of = _runs_by_evaluation(opened, baselines)
        leading_runs = (run, *(run_of[id(evaluation)] for evaluation in leading_baselines))
        leading_evaluations = (runs[0], *leading_baselines)
        if self.judge is not None and leading_baselines:
            judged = evaluated_by_judge(
                self.judge, leading_runs, parse_measures(request.measures), request.convention
            )
            gated = gate_beside(gated, judged, list(leading_evaluations))

        for path, baseline in zip(paths, baselines, strict=True):
            notes += _baseline_notes(path, baseline, qrels, is_last=baseline is last)
        notes += leading_run_note(gated, sides, by_judge=self.judge is not None)
        notes += self._series_notes(gated, runs, last, of_queries, held_out)
        return Held(
            gated=self._with_texts(gated),
            notes=tuple(notes),
            qrels=qrels,
            runs=leading_runs,
            evaluations=leading_evaluations,
            of_queries=of_queries,
            last=None if last is None else last.record,
            repeats=tuple(repeats),
            unchanged=last is not None and is_repeated(runs, last),
        )

    def _refuse_another_series(self, opened: Sequence[OpenedBaseline]) -> None:
        """Refuse a folder for the state of a series where the last baseline has none, or is not the
        file that the series began with.
        """
        request = self.asked
        if not request.series or len(opened) < len(request.baselines):
            return
        record = opened[-1].record
        if record is None:
            raise OptionError(
                f"series={request.series!r}: found an ordinary run as the last baseline, "
                f"{request.baselines[-1]}, expected a baseline file, which holds a series; "
                "`idealrank gate --update-baseline` makes one"
            )
        if Path(request.state).exists() and record.origin not in (None, self._origin):
            raise InputError(
                f"{request.state}: found the state of a series that did not begin with "
                f"{request.baselines[-1]} as it is now, expected the state of this file; to begin "
                f"a new series with this file, delete {request.state}, whose commits and accepted "
                "drops are lost then, or name another folder for the series"
            )

    @property
    def _origin(self) -> str | None:
        """Identity of the baseline file behind a state in a folder; None without a folder."""
        state = self.asked.state
        baseline = self.asked.baselines[-1]
        if not self.asked.series:
            return None
        if Path(baseline).exists():
            return files.content_hash(baseline, self._notes)
        record = files.read_record(state, self._notes) if Path(state).exists() else None
        return "" if record is None else record.origin

    def _last_path(self, *, but_missing: bool) -> list[str]:
        """Path of the last baseline: the state of the series, where it exists; none if it may be
        missing and is.
        """
        state = self.asked.state
        baseline = self.asked.baselines[-1]
        path = state if Path(state).exists() else baseline
        return [] if but_missing and not Path(path).exists() else [path]

    def _measured(
        self, opened: OpenedBaseline, path: str, evaluated: Callable[..., Evaluation]
    ) -> MeasuredBaseline:
        others = tuple(evaluated(other_run, path) for other_run in opened.others)
        return MeasuredBaseline(
            first=evaluated(opened.run, path), others=others, record=opened.record
        )

    def _series_notes(
        self,
        gated: Gated,
        runs: Sequence[Evaluation],
        last: MeasuredBaseline | None,
        of_queries: OfQueries,
        held_out: Collection[str],
    ) -> list[str]:
        """Make notes on the noise from run to run, and on overfitted queries."""
        measure = self.asked.measures[0]
        if last is None or last.record is None:
            return noise_note(measure, [runs])
        commits = {kept_run.commit for kept_run in last.record.kept}
        by_commit = [last.of_commits({commit}) for commit in commits]
        notes = noise_note(measure, [runs, *by_commit])
        # `looks` counts the commits before this one, so the tenth is the one after nine.
        if (
            gated.series is not None
            and held_out
            and gated.series.looks % LOOK_AT_HOLDOUT == LOOK_AT_HOLDOUT - 1
        ):
            anchor = last.of_commits({0})
            notes += overfitting_note(measure, runs, anchor, held_out, of_queries)
        return notes

    def hold_to_nothing(self) -> Held:
        """Measure the run alone, without contracts, to make it the last baseline whatever that
        was.
        """
        path = self.asked.state
        last = files.read_record(path, self._notes) if Path(path).exists() else None
        if Path(path).exists() and last is None:
            raise InputError(
                f"baseline {path}: found a file that is no baseline, and it is not replaced",
                hint="give a new name as the last baseline",
            )
        qrels = self._labelled()
        run = self.caller.open_run()
        measures = measures_of_gate(self.asked.measures, self._contracts())
        evaluation = self._evaluated(self._evaluator(qrels, measures), run)
        gated = first_run(evaluation, self.asked.measures, self.asked.policy)
        return Held(
            gated=gated,
            qrels=qrels,
            runs=(run,),
            evaluations=(evaluation,),
            of_queries=OfQueries(QueryFiles()),
            last=last,
        )

    def record_look(self, held: Held) -> None:
        """Write that one more commit was looked at into the state of the series; its runs stay."""
        record = held.last
        if record is None or not _is_look(held):
            return
        lines = files.lines_of_kept(self._state_read, record, self._notes)
        after = replace(
            record, schema=files.SCHEMA, series=_series_after(held), origin=self._origin
        )
        self._write(self._packed(files.lines_with_record(after, lines)), after)

    def take_if_open(self, held: Held) -> str:
        """Make the run the last accepted one if the gate is open, and say what was done."""
        path = self.asked.state
        gated = held.gated
        name = held.runs[0].name
        if not gated.passed:
            self.record_look(held)
            reason = "too few judgments" if gated.outcome == TOO_FEW else "the gate is closed"
            if held.last is not None and not gated.policy.strict:
                reason += "; it counts as a commit of the series"
            return f"{path} was not {'replaced' if held.last else 'made'}: {reason}"
        if held.last is None:
            self.write_baseline(held)
            return f"saved {name} as the baseline {path}"
        if held.unchanged:
            return (
                f"{path} stays as it is: {name} has the values of {held.last.name}, the last "
                "accepted run"
            )
        self._add_commit(held)
        # Checks come side by side, and each side has one by measure: counted from the end, this is
        # the first measure against the last accepted run.
        against_runs = [check for check in gated.checks if not check.baseline.endswith(ANCHOR)]
        check = against_runs[-len(self.asked.measures)]
        means = (
            f"{check.measure} {check.mean_run:.4f}, against {check.mean_baseline:.4f} in "
            f"{held.last.name}"
        )
        return f"{path} now holds {name} as the last accepted run: {means}"

    def accept(self, held: Held, acceptance: Acceptance) -> str:
        """Make the run the anchor and the last accepted run although the gate is closed, and record
        the acceptance.
        """
        if held.gated.mismatches:
            raise InputError(
                f"{'; '.join(held.gated.unjoined)}; such a run cannot be accepted as a baseline"
            )
        self.write_baseline(held, _series_after(held).with_acceptance(acceptance))
        return f"{self.asked.state}: {acceptance.sentence}"

    def write_baseline(self, held: Held, series: Series | None = None) -> None:
        """Write the run as the anchor; errors as for `baseline_file`."""
        record = self._anchored(held, series)
        self._write(self._file_of(held, record, []), record)

    def baseline_file(self, held: Held) -> bytes:
        """Return the run as a baseline file of which it is the anchor; the file is read back and
        evaluated first.
        """
        return self._file_of(held, self._anchored(held, None), [])

    def _anchored(self, held: Held, series: Series | None) -> BaselineRecord:
        """Record of a file whose anchor is the run; without a series, a new one begins."""
        if series is None:  # the accepted drops stay
            accepted = () if held.last is None else held.last.series.accepted
            series = Series(accepted=accepted)
        return anchored_record(self._record_of(held), held.last, len(held.repeats), series)

    def _add_commit(self, held: Held) -> None:
        """Write the run as the last accepted commit, above the commits that the series still
        needs.
        """
        last = held.last
        assert last is not None  # noqa: S101  (for the type checker: the caller has looked)
        record, stays = next_record(
            self._record_of(held), last, len(held.repeats), _series_after(held)
        )
        lines = files.lines_of_kept(self._state_read, last, self._notes)
        self._write(self._file_of(held, record, [lines[place] for place in stays]), record)

    def _record_of(self, held: Held) -> BaselineRecord:
        record = files.record_of(
            held.evaluations[0], list(map(str, self.asked.measures)), held.qrels.paths
        )
        return replace(record, origin=self._origin)

    def _file_of(self, held: Held, record: BaselineRecord, others: Sequence[bytes]) -> bytes:
        """A baseline file in which the run comes first; it is read back and evaluated."""
        path = self.asked.state
        run = held.runs[0]
        evaluation = held.evaluations[0]
        repeats = [
            files.run_lines(repeat, record, self.asked.convention) for repeat in held.repeats
        ]
        data = files.baseline_bytes(run, record, self.asked.convention, [*repeats, *others])
        run_read = files.run_in(data, run.name)
        evaluator = self._evaluator(held.qrels, evaluation.measures)
        if not same_values(self._evaluated(evaluator, run_read), evaluation):
            raise InputError(
                f"{path}: not written, for the run read back from it has other values; a query "
                "that is answered without a document cannot be kept in a file of lines"
            )
        return self._packed(data)

    def _packed(self, data: bytes) -> bytes:
        return files.compressed(data) if self.asked.state.endswith(".gz") else data

    def _write(self, data: bytes, record: BaselineRecord) -> None:
        """Write the state; a file that reads back as another one does not take its name."""
        if self.asked.series:
            Path(self.asked.series).mkdir(parents=True, exist_ok=True)
        path = self.asked.state
        write_bytes(
            [data], path, check=lambda written: files.refuse_unreadable(written, path, record)
        )

    @property
    def _state_read(self) -> str:
        """The file from which the series was read."""
        return self._last_path(but_missing=False)[0]

    def _labelled(self) -> Qrels:
        """The judgments with the kind of labels that was declared."""
        declared = self.asked.declared
        qrels = self.caller.open_qrels()
        return qrels.labelled(declared.labels_are, sampled_negatives=declared.sampled_negatives)

    def _with_texts(self, gated: Gated) -> Gated:
        """Add the texts of the queries that fell most, or that broke a contract."""
        if self.asked.queries is None:
            return gated
        named = [drop.query for check in gated.checks for drop in check.worst]
        named += [kept.contract.query for kept in gated.contracts if not kept.passed]
        sources = TextSources(queries=self.asked.queries)
        return gated.with_texts(sources.of_queries(dict.fromkeys(named), self.caller.tell))

    @property
    def _notes(self) -> Notes:
        return Notes(self.caller.tell)

    def _contracts(self) -> tuple[Contract, ...]:
        contracts = self.asked.contracts
        return read_contracts(contracts, self._notes) if isinstance(contracts, str) else contracts

    def _opened(self, path: str, measures: Sequence[Measure]) -> OpenedBaseline:
        """A baseline file with its record, whose lists must reach as deep as the measures look; or
        any run.
        """
        try:
            record = files.read_record(path, self._notes)
        except InputError as error:
            if Path(path).exists():
                raise error from None
            raise InputError(str(error), hint=self.caller.missing_baseline) from None
        if record is None:
            return OpenedBaseline(run=self.caller.open_baseline(path))
        files.refuse_shallow(path, record, measures, self.asked.convention)
        name = self.caller.baseline_name(path)
        run, record = files.read_baseline(path, name, self._notes)
        others: tuple[Run, ...] = ()
        if len(record.kept) > 1:
            lines = files.lines_of_kept(path, record, self._notes)[1:]
            others = tuple(
                files.run_in(run_lines, kept_run.name)
                for run_lines, kept_run in zip(lines, record.kept[1:], strict=True)
            )
        return OpenedBaseline(run=run, record=record, others=others)

    def _evaluator(self, qrels: Qrels, measures: tuple[Measure, ...]) -> RunEvaluator:
        return RunEvaluator(
            qrels=qrels,
            measures=measures,
            convention=self.asked.convention,
            kept=self.kept,
            top=self.top,
            threads=self.threads,
        )

    def _evaluated(
        self, evaluator: RunEvaluator, run: Run, baseline: str | None = None
    ) -> Evaluation:
        evaluation = self.caller.watch(run.name, partial(evaluator.evaluate, run))
        self.caller.doubt(evaluation, baseline)
        return evaluation

    def _sides(
        self,
        runs: Sequence[Evaluation],
        baselines: Sequence[MeasuredBaseline],
        last: MeasuredBaseline | None,
    ) -> list[Opposed]:
        """Sides of every check; the last baseline has the anchor of its series, too."""
        strict = self.asked.policy.strict
        sides = []
        for baseline in baselines:
            in_series = baseline is last and not strict
            sides += sides_of(baseline.first.name, runs, baseline, in_series=in_series)
        return sides

    def _series(self, last: MeasuredBaseline | None) -> Series | None:
        """The series of the last baseline under the policy; None without one."""
        if last is None or last.record is None:
            return None
        if self.asked.policy.strict:  # it spends nothing, and changes nothing
            return last.record.series
        return self._under_policy(last.record.series)

    def _under_policy(self, series: Series) -> Series:
        """Return a series under the policy; errors name the file that holds it."""
        try:
            return series.under(self.asked.policy.alpha, self.asked.policy.horizon)
        except OptionError as error:
            raise OptionError(f"{self.asked.state}: {error}", switch=error.switch) from None

    def _declared(self, sides: Sequence[Opposed], last: MeasuredBaseline | None) -> DeclaredLabels:
        """Declared facts about the labels; the anchor may be their source, and may be the last
        accepted run, too.
        """
        declared = self.asked.declared
        source = declared.labels_from
        if (
            source is None
            or last is None
            or last.record is None
            or source in [side.name for side in sides]
        ):
            return declared
        if source != f"{last.first.name} {ANCHOR}":
            return declared
        # Labels of a run that is not looked at, since nothing changed, favour neither side.
        return declared._replace(
            labels_from=last.first.name if last.record.kept[0].is_anchor else None
        )

    def _verdict(
        self,
        runs: Sequence[Evaluation],
        sides: Sequence[Opposed],
        contracts: Sequence[Contract],
        of_queries: OfQueries,
        *,
        last: MeasuredBaseline | None,
        held_out: Collection[str],
    ) -> Gated:
        request = self.asked
        if not sides:
            # The run begins a series, of which the next commit is the first look.
            series = None if request.policy.strict else self._under_policy(Series())
            return first_run(
                runs[0],
                request.measures,
                request.policy,
                contracts,
                also=request.also,
                series=series,
            )
        case = GateCase(
            runs=(runs[0], *(side.before[0] for side in sides)),
            measures=request.measures,
            also=request.also,
            contracts=contracts,
            sides=sides,
            series=self._series(last),
            held_out=held_out,
        )
        options = StudyOptions(
            weights=of_queries.weights,
            clusters=of_queries.clusters,
            threads=self.threads,
            declared=self._declared(sides, last),
        )
        return decided(case, request.policy, options)
