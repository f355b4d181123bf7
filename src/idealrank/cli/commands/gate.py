"""`idealrank gate`: decide whether a run may replace its baselines.

A job has the files as typed, the requested page, and a baseline to replace. Further outputs are
files for build servers, a comment, and annotations for GitHub.
"""

import getpass
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

import click

from idealrank._files import real_path
from idealrank._keys import names_of
from idealrank.analysis.gate import Gated
from idealrank.analysis.gate.outcome import Outcome, Policy, WhenUnjudged
from idealrank.analysis.gate.series import ANCHOR, LONGEST_NAME, LONGEST_REASON, Acceptance
from idealrank.cli import input_options, options
from idealrank.cli.gate_outputs import Outputs, outputs
from idealrank.cli.main import CLOSED, FINE, UNDECIDABLE
from idealrank.cli.options import query_files
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.cli.result_options import Results, results_of_gates
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import Progress
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.gate import GateRequest, settled
from idealrank.inputs.gate_jobs import GateJob, Held, Result, acceptance_of
from idealrank.io.gate_files.baselines import read_record
from idealrank.io.gate_files.gate_policies import DEFAULT_MEASURE, PolicyFile, find_policy
from idealrank.io.query_files import QueryFiles
from idealrank.measures.parse import parse_measures
from idealrank.reports.table.text import Part

if TYPE_CHECKING:
    from idealrank.reports.subject import Subject
    from idealrank.reports.views.comparison.phrases import Asked


class Done(NamedTuple):
    """Result of a gate with its notes and its page; None without a page."""

    gated: Gated
    notes: list[str]
    page: "Subject | None"


@dataclass(frozen=True, kw_only=True)
class Job:
    """Gate to run, with its files; the caller of its `GateJob`."""

    request: GateRequest  # The policy, measures, convention and paths of baselines
    # qrels, run: Paths
    qrels: str
    run: str
    inputs: input_options.Inputs = field(default_factory=input_options.Inputs)  # How files are read
    update: bool = False  # Whether the run may take the place of the last baseline
    outputs: Outputs = field(default_factory=Outputs)  # None of which is to be a file that is read
    results: Results = field(default_factory=Results)  # The page that is wanted
    threads: int = 0  # 0 for one a core
    judge_path: str | None = None  # Path of the judgments of a judge
    repeats: tuple[str, ...] = ()  # Paths of further runs of the same engine
    # accept, accepted_by: Reason to accept the run although the gate is closed, and the name of the
    # person; empty without one
    accept: str = ""
    accepted_by: str = ""
    watched: Watch = field(default_factory=Watch)

    def decide(self) -> "Done":
        """Run the gate on the files as they are before any is replaced."""
        self._check_paths()
        names = self._names
        declared = self.request.declared
        source = declared.labels_from
        # The anchor is a run in the baseline file, which is not read yet.
        if source is None or not source.endswith(ANCHOR):
            source = input_options.named_run(
                source, "--labels-from", list(names.values()), list(names)
            )
        request = replace(self.request, declared=declared._replace(labels_from=source))
        gate_job = GateJob(
            asked=request,
            caller=self,
            kept=self.results.looked_at(request.measures),
            top=self.results.ranks_looked_at(request.measures),
            threads=self.threads,
            judge=self.inputs.open_judge(self.judge_path, request.convention),
        )
        held = gate_job.hold(but_missing=self.update)
        if self.accept and not held.gated.passed:
            held = replace(held, gated=replace(held.gated, acceptance=self._acceptance(held)))
        # Before a baseline or a state is replaced: they stay if results cannot be stored.
        page = self._store_and_gather(held)
        notes = list(held.notes)
        if held.gated.acceptance is not None:
            notes.append(gate_job.accept(held, held.gated.acceptance))
        elif self._writes:
            notes.append(gate_job.take_if_open(held))
        elif self.request.series:
            gate_job.record_look(held)
        return Done(held.gated, notes, page)

    @property
    def _writes(self) -> bool:
        """Return whether an accepted run, by the gate or by name, goes into the last baseline
        file.
        """
        return self.update or bool(self.accept)

    def _acceptance(self, held: Held) -> Acceptance:
        """Make the acceptance that the options ask for."""
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return acceptance_of(held.gated, self.accept, self.accepted_by, time)

    def first_baseline(self) -> tuple[bytes, dict[str, float]]:
        """Return the file of a first baseline, made of the run, and the run's means; write
        nothing.
        """
        gate_job = GateJob(asked=self.request, caller=self, threads=self.threads)
        held = gate_job.hold_to_nothing()
        every_mean = held.evaluations[0].mean()
        means = {text: every_mean[text] for text in map(str, self.request.measures)}
        return gate_job.baseline_file(held), means

    def _store_and_gather(self, held: Held) -> "Subject | None":
        """Put the results into the store, and gather what the page shows, where these are
        wanted.
        """
        return self.results.gathered(
            self.watched,
            self._input_files,
            gated=held.gated,
            evaluations=held.evaluations,
            measures=self.request.measures,
            qrels=held.qrels,
            runs=held.runs,
            weights=held.of_queries.weights,
            clusters=held.of_queries.clusters,
            threads=self.threads,
        )

    @property
    def _input_files(self) -> input_options.InputFiles:
        baselines = self.request.baselines
        return input_options.InputFiles(
            qrels=self.qrels,
            inputs=self.inputs,
            others=(self.run, *self.repeats, *baselines, *self.request.paths, self.judge_path),
        )

    def _check_paths(self) -> None:
        if self.request.queries == "-":
            raise OptionError(
                "--queries -: found standard input, expected a file: texts of queries are read "
                "twice"
            )
        judge = [] if self.judge_path is None else [self.judge_path]
        new_files = (self.qrels, *self.inputs.more_qrels, self.run, *self.repeats)
        input_options.refuse_standard_input_twice(*new_files, *self.request.paths, *judge)
        _refuse_same_repeat(self.run, self.repeats)
        texts = [
            path for path in (self.request.queries, self.results.documents) if path is not None
        ]
        written = self.request.state if self._writes or self.request.series else None
        self.outputs.refuse_to_replace([*self._input_files.paths, *texts], written)
        self.results.check(self._input_files.paths, dict(self.outputs.files()))

        if "-" in self.request.baselines:
            raise OptionError(
                "--baseline -: found standard input, expected a file: a baseline is read twice"
            )
        *other_baselines, last = self.request.baselines
        if self._writes:
            refuse_unfit_target(last, (*new_files, *other_baselines, *self.request.paths, *texts))
        if self.request.series and Path(self.request.state).exists():
            _refuse_unfit_state(self.request.state, (*new_files, *self.request.paths))

    # What a gate leaves to its caller (`Caller`):

    @property
    def missing_baseline(self) -> str:
        """Describe how to create a missing baseline."""
        return "with --update-baseline the first run becomes the baseline"

    def tell(self, message: str) -> None:
        """Print a message of a reader of files."""
        input_options.notes().inform(message)

    def open_qrels(self) -> Qrels:
        """Open the judgments."""
        return self.inputs.open_qrels(self.qrels, self.request.convention)

    def open_run(self) -> Run:
        """Open the run."""
        return self.inputs.open_run(self.run, self._names[self.run], self.qrels)

    def open_repeats(self) -> list[Run]:
        """Open further runs of the same engine."""
        return [
            self.inputs.open_run(path, f"repeat {number}", self.qrels)
            for number, path in enumerate(self.repeats, 1)
        ]

    def open_baseline(self, path: str) -> Run:
        """Open a baseline that is an ordinary run."""
        return self.inputs.open_run(path, self.baseline_name(path), self.qrels)

    def baseline_name(self, path: str) -> str:
        """Name a baseline."""
        # The state of a series stands for the last baseline.
        is_state = path == self.request.state
        return self._names[self.request.baselines[-1] if is_state else path]

    def doubt(self, evaluation: Evaluation, baseline: str | None) -> None:
        """Refuse or warn of a run that was hardly meant for the judgments."""
        input_options.doubt(evaluation, baseline or self.run)

    def watch(self, label: str, work: Callable[[Progress], Result]) -> Result:
        """Do work with a bar on a terminal."""
        return self.watched.run(label, work)

    @cached_property
    def _names(self) -> dict[str, str]:
        return _names(self.run, self.request.baselines)


def _names(run: str, baselines: Sequence[str]) -> dict[str, str]:
    """Return names of the run and of the baselines by their paths; a run may be compared with
    itself.
    """
    places = [os.path.normpath(path) for path in baselines]
    twice = [path for path, place in zip(baselines, places, strict=True) if places.count(place) > 1]
    if twice:
        count = input_options.times(places.count(os.path.normpath(twice[0])))
        raise OptionError(
            f"--baseline {' and '.join(dict.fromkeys(twice))}: found the same file {count}, "
            "expected each baseline once"
        )
    paths = list(dict.fromkeys([run, *baselines]))
    return dict(zip(paths, input_options.run_names(paths), strict=True))


def _refuse_same_repeat(run: str, repeats: Sequence[str]) -> None:
    """Refuse a file that is given as two runs of one version: equal runs show no noise."""
    earlier_files = {real_path(run)}
    for path in repeats:
        file = real_path(path)
        if file in earlier_files:
            raise OptionError(
                f"--repeat {path}: found a file that is given twice, expected another run of the "
                "same version"
            )
        earlier_files.add(file)


def refuse_unfit_target(path: str, others: Sequence[str]) -> None:
    """Refuse to replace a file that is no baseline, before any work is done."""
    target = Path(path)
    if not target.parent.is_dir():
        raise OptionError(
            f"--baseline {path}: found no folder {target.parent}, expected an existing folder"
        )
    if not target.exists():
        return
    if any(other != "-" and Path(other).exists() and target.samefile(other) for other in others):
        raise OptionError(
            f"--baseline {path}: found an input file of this command, expected another name for "
            "--update-baseline"
        )
    if target.is_dir() or read_record(path, input_options.notes()) is None:
        raise OptionError(
            f"--baseline {path}: found a file that --update-baseline did not make, and so does not "
            f"replace; expected another baseline after it, as in --baseline {path} --baseline "
            "best.run.gz --update-baseline, which replaces the last baseline"
        )


def _refuse_unfit_state(path: str, others: Sequence[str]) -> None:
    """Refuse to replace a file that is no state of a series, before any work is done."""
    if any(
        other != "-" and Path(other).exists() and Path(path).samefile(other) for other in others
    ):
        raise OptionError(
            f"--series: {path}: found an input file of this command, expected another folder"
        )
    if Path(path).is_dir() or read_record(path, input_options.notes()) is None:
        raise OptionError(
            f"--series: {path}: found a file that no gate made, and so does not replace; expected "
            "another folder, or none of this file"
        )


_NO_BASELINE = (
    "found no baseline, expected --baseline FILE: a run, or a file that --update-baseline made; "
    "idealrank gate QRELS RUN --baseline best.run.gz --update-baseline makes the file from the "
    "first run"
)
# By argument of the command: the name in a request, and the option in messages.
_OPTIONS = {"measure_texts": ("measures", "-m"), "also_texts": ("also", "--also")}


def asked_here(**typed: Any) -> GateRequest:
    """Settle the typed options with the policy of the project around the working directory."""
    return asked_of(find_policy(Path.cwd()), **typed)


def asked_of(policy_file: PolicyFile, **typed: Any) -> GateRequest:
    """Settle the typed options with a policy, which decides for None, an empty text or an empty
    list.
    """
    typed_options = {
        name: value
        for name, value in typed.items()
        if value is not None and value not in ((), [], "")
    }
    for option, (name, where) in _OPTIONS.items():
        if texts := typed_options.pop(option, ()):
            typed_options[name] = parse_measures(
                options.measure_parts(texts, DEFAULT_MEASURE, where=where)
            )
    if "convention_text" in typed_options:
        typed_options["convention"] = typed_options.pop("convention_text")
    return settled(
        typed_options,
        policy_file,
        _NO_BASELINE,
        measures_in=_measures_in,
        convention_of=options.parse_convention,
    )


def _measures_in(texts: Any, where: str) -> list[str]:
    return options.measure_parts(texts, DEFAULT_MEASURE, where=where)


_KEYS = names_of(PolicyFile)
_EPILOG = """\
Examples:

\b
  May the new run replace the old run?
    idealrank gate qrels.txt neural.run --baseline bm25.run
\b
  Keep accepted runs in a file, and hold the next commits to it:
    idealrank gate qrels.txt bm25.run --baseline main.run.gz --update-baseline
    idealrank gate qrels.txt neural.run --baseline main.run.gz --update-baseline
\b
  Accept a drop of 0.01, show a second measure, let a third measure fail the gate, and print JSON:
    idealrank gate qrels.txt neural.run --baseline bm25.run --tolerance 0.01 -m nDCG@10,P@5 --also RR --format json
\b
  Write JUnit XML for the build server, and a comment for the pull request:
    idealrank gate qrels.txt neural.run --baseline bm25.run --junit gate.xml --markdown gate.md
\b
  Write a page with the queries behind a failure:
    idealrank gate qrels.txt neural.run --baseline bm25.run --report gate.html

The gate fails on a significant drop. With --strict, it passes only if a drop of the margin is ruled
out. If unjudged documents may explain a drop, there are too few judgments to show that it is
harmless, and the gate fails, too, unless --when-unjudged says otherwise.

Against a baseline file, the gate is one of a series: --alpha is spent over --horizon commits. The
file holds the last accepted runs, and the run with which it was made, its anchor. The run is tested
against the last accepted one, and its mean with the last accepted ones against the anchor, which
shows what small drops sum up to.

Files and options that are not given come from [tool.idealrank.gate] in pyproject.toml: KEYS.

Exit codes: 0 passed, 1 failed, 2 bad input or usage, 3 too few judgments under --when-unjudged
neutral. With too few judgments, label the documents that `idealrank judge next --until gate` lists,
and run the gate again. `idealrank why` lists the queries with unjudged documents, and `idealrank
explain` the documents of a query.
""".replace("KEYS", f"{', '.join(_KEYS[:-1])} and {_KEYS[-1]}")  # noqa: E501


_CODES: dict[Outcome, int] = {"passed": FINE, "failed": CLOSED, "too few judgments": UNDECIDABLE}


def _views() -> ModuleType:
    from idealrank.reports.views.gate import gate  # noqa: PLC0415  (NumPy; not for the help)

    return gate


_FORMATS = Formats(
    "Text and a table to read;",
    views=_views,
    elsewhere={"digits": ("markdown", "github")},
    table="gate_parts",
    json="gate_json",
)


@click.command(
    cls=options.LeadingCommand,
    extra="--baseline",
    epilog=_EPILOG,
    short_help="Pass or fail a run against its baselines, in continuous integration.",
)
@click.argument("qrels", required=False)
@click.argument("run", required=False)
@click.option(
    "--baseline",
    "baselines",
    metavar="FILE",
    multiple=True,
    help="Baseline: any run, or a file written by --update-baseline; may be repeated.",
)
@click.option(
    "-m",
    "--measure",
    "measure_texts",
    metavar="MEASURE",
    cls=options.OnceOption,
    multiple=True,
    help="Measures; repeat, or separate with commas. The first decides; the others are companions "
    f"and never fail the gate.  [default: {DEFAULT_MEASURE}]",
)
@click.option(
    "--also",
    "also_texts",
    metavar="MEASURE",
    cls=options.OnceOption,
    multiple=True,
    help="Measures that can fail the gate, in addition to the first of -m; repeat, or separate "
    "with commas.",
)
@click.option(
    "--tolerance",
    metavar="X",
    type=float,
    help="Accept a drop of X, in units of the measures.  [default: 0]",
)
@click.option(
    "--strict/--no-strict",
    default=None,
    help="Pass only if a drop of the margin is ruled out; needs --margin.",
)
@click.option(
    "--margin",
    metavar="X",
    type=float,
    help="Smallest unacceptable drop of --strict, in units of the measure.",
)
@click.option(
    "--largest-loss",
    metavar="L",
    type=float,
    help="Largest loss that one query can have, for --strict. [default: the range of the measure]",
)
@click.option(
    "--alpha",
    metavar="P",
    type=float,
    help="Highest probability that a harmless run fails, and against a baseline file, that any of "
    "--horizon harmless commits does: once for the first measure, and once for the measures of "
    "--also. With --strict, highest probability that a drop of the margin passes.  [default: 0.05]",
)
@click.option(
    "--when-unjudged",
    type=click.Choice(get_args(WhenUnjudged)),
    help="Outcome if there are too few judgments: fail (code 1), neutral (code 3) or pass (code "
    "0).  [default: fail]",
)
@click.option(
    "--horizon",
    metavar="N",
    type=int,
    help="Commits over which a gate against a baseline file spends --alpha; 1 gives each commit "
    "the whole of it.  [default: 50]",
)
@click.option(
    "--series",
    metavar="DIR",
    help="Folder for the state of the series, in place of the last baseline file; each gate then "
    "counts as a commit, with or without --update-baseline.",
)
@click.option(
    "--repeat",
    "repeats",
    metavar="FILE",
    multiple=True,
    help="Another run of the same version of the engine, with answers to the same queries; may be "
    "repeated. Values are averaged by query, which shows and lowers the noise from run to run. A "
    "judge looks at the first run of each side alone.",
)
@click.option(
    "--holdout",
    metavar="SHARE",
    type=float,
    help="Share of the queries that decide nothing, with their contracts; every tenth commit, they "
    "show whether the others are overfitted.  [default: 0]",
)
@click.option(
    "--accept",
    metavar="REASON",
    help="Accept the run although the gate is closed: record the reason (at most 1,000 letters) in "
    "the last baseline file, make the run its anchor, exit with 0. The file must exist. If the "
    "gate is open, the run becomes the last accepted one, as with --update-baseline.",
)
@click.option(
    "--accepted-by",
    metavar="NAME",
    default="",
    help="Name recorded with --accept.  [default: the user of the system]",
)
@click.option(
    "--contracts",
    metavar="FILE",
    help="Queries that must not drop, regardless of the means: CSV with the header "
    "query[,measure][,at_least].",
)
@click.option(
    "--update-baseline",
    is_flag=True,
    help="After a pass, make the run the last accepted run of the last baseline file, whatever its "
    "value; create a missing file.",
)
@click.option(
    "--convention",
    "convention_text",
    metavar="NAME[,SWITCH=VALUE...]",
    cls=options.OnceOption,
    help="Convention to compute under; `idealrank conventions` lists all.  [default: standard]",
)
@options.judge_qrels
@options.labels_from
@query_files
@_FORMATS.option
@options.more
@options.explain_method
@outputs
@results_of_gates
@options.inputs
@options.threads
@click.pass_context
def gate(
    context: click.Context,
    /,
    *,
    qrels: str | None,
    run: str | None,
    update_baseline: bool,
    judge_path: str | None,
    files: QueryFiles,
    layout: str,
    outputs: Outputs,
    results: Results,
    inputs: input_options.Inputs,
    threads: int,
    repeats: tuple[str, ...],
    accept: str | None,
    accepted_by: str,
    **typed: Any,
) -> None:
    """Pass or fail RUN against its baselines. Exit code 1: failed.

    All runs are evaluated against the judgments in QRELS. RUN fails if it is significantly worse
    than a baseline, or if it breaks a contract for a query. The report names the drop that the gate
    finds 80% of the time. If pyproject.toml names the judgments and the run, the command needs no
    argument; a single argument is the run.
    """
    policy = find_policy(Path.cwd())
    read = input_options.gate_inputs(qrels, run, inputs, policy)
    request = asked_of(
        policy,
        weights=files.weights_path,
        cluster=files.cluster_path,
        labels_are=inputs.labels_are,
        sampled_negatives=inputs.sampled_negatives,
        queries=results.queries,
        **typed,
    )
    if not results.documents:
        policy.require("documents")
    results = results.with_texts(queries=request.queries, documents=policy.documents)
    job = Job(
        request=request,
        **read._asdict(),
        update=update_baseline,
        outputs=outputs,
        results=results,
        threads=threads,
        judge_path=judge_path,
        repeats=repeats,
        accept=_reason(accept, accepted_by),
        accepted_by="" if accept is None else accepted_by.strip() or _user(),
    )
    gated, notes, page = job.decide()
    from idealrank.reports.views.comparison.phrases import Asked  # noqa: PLC0415  (not for the help)

    paths = {name: path for path, name in _names(job.run, request.baselines).items()}
    words = (
        "-m",
        str(request.measures[0]),
        *_policy_words(request.policy),
        *job.inputs.words(typed["convention_text"] or "standard"),
    )
    origin = Asked(command=True, qrels=job.qrels, paths=paths, options=words)
    details = _TextDetails(outputs.digits, origin)
    report = partial(_report, gated, notes, request.policy_file, layout, details)
    outputs.write(gated, report, layout)
    results.write_page(page)
    context.exit(FINE if gated.acceptance is not None else _CODES[gated.outcome])


def _reason(accept: str | None, accepted_by: str) -> str:
    """Reason to accept a run; empty without one."""
    if accept is None:
        if accepted_by:
            raise OptionError("--accepted-by: found it without --accept, expected both")
        return ""
    if not accept.strip():
        raise OptionError(
            "--accept: found an empty reason, expected a sentence, such as 'half the latency'"
        )
    for option, text, longest in (
        ("--accept", accept, LONGEST_REASON),
        ("--accepted-by", accepted_by, LONGEST_NAME),
    ):
        if len(text) > longest:
            raise OptionError(
                f"{option}: found {len(text):,} letters, expected at most {longest:,}; put the "
                "rest where the change is described, and name the place"
            )
    return accept


def _user() -> str:
    """Return the name of the user of this process."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may give a number that has no name
        raise OptionError(
            "--accepted-by: found no name of the user, expected one, such as --accepted-by Ada"
        ) from None


def _policy_words(policy: Policy) -> list[str]:
    """Options of `judge next` that make its stop the rule of this gate."""
    words = ["--tolerance", repr(policy.tolerance)] if policy.tolerance else []
    if policy.strict and policy.margin is not None:
        words += ["--strict", "--margin", repr(policy.margin)]
    if policy.largest_loss is not None:
        words += ["--largest-loss", repr(policy.largest_loss)]
    return words if policy.alpha == Policy().alpha else [*words, "--alpha", repr(policy.alpha)]


class _TextDetails(NamedTuple):
    """Details of a report that is text, not data: decimals, and the origin of the request."""

    digits: int | None
    origin: "Asked"


def _report(
    gated: Gated, notes: Sequence[str], policy_file: str, layout: str, details: _TextDetails
) -> str | list[Part]:
    made = _FORMATS.made(layout, gated, notes, policy_file, **details._asdict())
    return cast("str | list[Part]", made)
