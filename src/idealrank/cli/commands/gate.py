"""`idealrank gate`: whether a run may replace its baselines.

The job has files as typed, the page that is wanted, and a baseline to replace. Outputs beside the report are files for build servers, a
comment, and annotations for GitHub.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

import click

from idealrank._files import real_path
from idealrank.analysis.gate import Gated
from idealrank.analysis.gate.outcome import Outcome, Policy, WhenUnjudged
from idealrank.api.gate import GateJob, GateRequest, Held, Result, settled
from idealrank.cli import console, input_options, options, output
from idealrank.cli.format_option import Formats
from idealrank.cli.main import CLOSED, FINE, UNDECIDABLE
from idealrank.cli.progress import Watch
from idealrank.cli.query_options import query_files
from idealrank.cli.result_options import Results, results_of_gates
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import Progress
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.gate_files.baselines import read_record
from idealrank.io.gate_files.gate_policies import DEFAULT_MEASURE, PolicyFile, find_policy
from idealrank.io.query_files import QueryFiles
from idealrank.measures.parse import parse_measures
from idealrank.reports.table.formats import FORMATS
from idealrank.reports.table.text import Part, harmless, harmless_json, parts_text

if TYPE_CHECKING:
    from idealrank.reports.subject import Subject
    from idealrank.reports.views.comparison.phrases import Asked


_SUMMARY_BYTES = 1 << 20  # GitHub takes no longer summary of a step


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Where a gate writes to.

    Attributes
    ----------
    report : str or None
        Path of the report; None for standard output.
    junit, markdown : str or None
        Paths of JUnit XML and of a comment; None for none.
    github : bool
        Whether to write annotations, and the summary of the step where its file is named in the environment.
    digits : int or None
        Decimals of what people read; None for those that the bounds allow.

    Examples
    --------
    >>> Outputs(junit="gate.xml").refuse_to_replace(["qrels.txt", "new.run"])
    """

    report: str | None = None
    junit: str | None = None
    markdown: str | None = None
    github: bool = False
    digits: int | None = None

    def files(self) -> Iterator[tuple[str, str]]:
        """Options and paths of the files."""
        named = (("-o", self.report), ("--junit", self.junit), ("--markdown", self.markdown))
        yield from ((option, path) for option, path in named if path is not None)

    def refuse_to_replace(self, inputs: Iterable[str | None], baseline: str | None = None) -> None:
        """Refuse to write where something is read from, or twice to one place, that of a new baseline included.

        Raises
        ------
        OptionError
            An output is an input, or another output.
        """
        read, written = list(inputs), dict[str, str]()
        if baseline is not None:
            written[str(real_path(baseline))] = "--update-baseline"
        for option, path in self.files():
            options.refuse_to_replace(path, read, option=option)
            place = path if path == "-" else str(real_path(path))
            if not Path(path).parent.is_dir():
                raise OptionError(f"{option} {path}: found no folder {Path(path).parent}, expected an existing folder")
            if place in written:
                raise OptionError(f"{option} {path}: found the file that {written[place]} writes, expected another name")
            written[place] = option

    def write(self, gated: Gated, report: Callable[[], str | list[Part]], layout: str) -> None:
        """Write everything; the report last, and not to standard output where that belongs to another.

        Parameters
        ----------
        gated : Gated
            What the gate said.
        report : callable
            Makes the report.
        layout : {"table", "json"}
            Its layout.
        """
        if self.junit is not None:
            from idealrank.reports.views.gate.junit import gate_junit  # noqa: PLC0415  (each is loaded by those who ask for it)

            output.write(gate_junit(gated), self.junit, "xml")
        if self.markdown is not None:
            from idealrank.reports.views.gate.pull_request import gate_markdown  # noqa: PLC0415

            output.write(gate_markdown(gated, digits=self.digits), self.markdown)
        if self.report is not None:
            output.write_report(report(), self.report, layout)
        elif "-" not in (self.junit, self.markdown):
            output.write_report(_held_in_the_log(report(), layout) if self.github else report(), None, layout)
        if self.github:
            _tell_github(gated, self.digits)


def _held_in_the_log(report: str | list[Part], layout: str) -> str:
    text = report if isinstance(report, str) else parts_text(output.shown(report))
    return harmless_json(text) if FORMATS[layout].is_data else harmless(text)


def _tell_github(gated: Gated, digits: int | None) -> None:
    """Annotations, to stderr, which the runner reads too: standard output is data. And the summary, whose file belongs to all steps."""
    from idealrank.reports.views.gate.pull_request import annotations, gate_markdown  # noqa: PLC0415

    for line in annotations(gated):
        console.tell(line.rstrip("\n"))
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as summary:
            summary.write("".join(gate_markdown(gated, _SUMMARY_BYTES, digits)) + "\n")
    except OSError as error:  # the verdict is worth more than its summary
        console.say("warning", f"GITHUB_STEP_SUMMARY {path}: cannot be written: {error.strerror or error}")


def outputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options, and ``-o``; it gets them as one argument, `outputs`."""

    @wraps(command)
    def with_outputs(
        *, output_path: str | None, junit: str | None, markdown: str | None, github: bool | None, digits: int | None, **others: Any
    ) -> Any:
        wanted = console.on_github() if github is None else github
        places = Outputs(report=None if output_path == "-" else output_path, junit=junit, markdown=markdown, github=wanted, digits=digits)
        return command(outputs=places, **others)

    decorated: Callable[..., Any] = _JUNIT(_MARKDOWN(_GITHUB(with_outputs)))
    return options.digits(options.output(decorated))


_JUNIT = click.option("--junit", metavar="FILE", help="JUnit XML file with a test case for each check and contract.")
_MARKDOWN = click.option(
    "--markdown", metavar="FILE", help="Markdown file for a comment on a pull request; - prints it instead of the report."
)
_GITHUB = click.option(
    "--github/--no-github", default=None,
    help="Write annotations and a summary for GitHub Actions.  [default: in a step of GitHub Actions]",
)  # fmt: skip


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
    judge_path : str or None
        Path of the judgments of a judge.

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
    judge_path: str | None = None

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
        watch, names = Watch(), _names(self.run, self.asked.baselines)
        declared = self.asked.declared
        source = input_options.named_run(declared.labels_from, "--labels-from", list(names.values()), list(names))
        asked = replace(self.asked, declared=declared._replace(labels_from=source))
        front = _Front(self, watch, names)
        kept, top = self.results.looked_at(asked.measures), self.results.ranks_looked_at(asked.measures)
        judge = self.inputs.open_judge(self.judge_path, asked.convention)
        work = GateJob(asked=asked, caller=front, kept=kept, top=top, threads=self.threads, judge=judge)
        held = work.hold(but_missing=self.update)
        notes, page = list(held.notes), self._page(held, watch)
        if self.update:
            notes.append(work.replace_if_as_good(held))
        return Done(held.gated, notes, page)

    def first_baseline(self) -> tuple[bytes, dict[str, float]]:
        """Return the file of a first baseline, made of the run, and the run's means; nothing is written.

        Raises
        ------
        InputError
            A file cannot be used, or the run has no judged document.
        """
        front = _Front(self, Watch(), _names(self.run, self.asked.baselines))
        work = GateJob(asked=self.asked, caller=front, threads=self.threads)
        held = work.hold_to_nothing()
        means = held.evaluations[0].mean()
        return work.baseline_file(held), {text: means[text] for text in map(str, self.asked.measures)}

    def _page(self, held: Held, watch: Watch) -> "Subject | None":
        """Put the results into the store, and gather what the page shows, where these are wanted."""
        return self.results.gathered(
            watch, self._given, gated=held.gated, evaluations=held.evaluations, measures=self.asked.measures, qrels=held.qrels,
            runs=held.runs, weights=held.of_queries.weights, clusters=held.of_queries.clusters, threads=self.threads,
        )  # fmt: skip

    @property
    def _given(self) -> input_options.InputFiles:
        return input_options.InputFiles(
            qrels=self.qrels, inputs=self.inputs, others=(self.run, *self.asked.baselines, *self.asked.paths, self.judge_path)
        )

    def _check_paths(self) -> None:
        if self.asked.queries == "-":
            raise OptionError("--queries -: found standard input, expected a file: texts of queries are read twice")
        judge = [] if self.judge_path is None else [self.judge_path]
        input_options.refuse_standard_input_twice(self.qrels, *self.inputs.more_qrels, self.run, *self.asked.paths, *judge)
        texts = [path for path in (self.asked.queries, self.results.documents) if path is not None]
        self.outputs.refuse_to_replace([*self._given.paths, *texts], self.asked.baselines[-1] if self.update else None)
        self.results.check(self._given.paths, dict(self.outputs.files()))
        if "-" in self.asked.baselines:
            raise OptionError("--baseline -: found standard input, expected a file: a baseline is read twice")
        if self.update:
            others = (self.qrels, *self.inputs.more_qrels, self.run, *self.asked.baselines[:-1], *self.asked.paths, *texts)
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
    places = [os.path.normpath(path) for path in baselines]
    if twice := [path for path, place in zip(baselines, places, strict=True) if places.count(place) > 1]:
        count = input_options.times(places.count(os.path.normpath(twice[0])))
        raise OptionError(f"--baseline {' and '.join(dict.fromkeys(twice))}: found the same file {count}, expected each baseline once")
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
        raise OptionError(f"--baseline {path}: found no folder {target.parent}, expected an existing folder")
    if not target.exists():
        return
    if any(other != "-" and Path(other).exists() and target.samefile(other) for other in others):
        raise OptionError(f"--baseline {path}: found an input file of this command, expected another name for --update-baseline")
    if target.is_dir() or read_record(path, input_options.notes()) is None:
        raise OptionError(
            f"--baseline {path}: found a file that --update-baseline did not make, and so does not replace; expected another baseline "
            f"after it, as in --baseline {path} --baseline best.run.gz --update-baseline, which replaces the last baseline"
        )


_NO_BASELINE = (
    "found no baseline, expected --baseline FILE: a run, or a file that --update-baseline made; "
    "idealrank gate QRELS RUN --baseline best.run.gz --update-baseline makes the file from the first run"
)
_OPTIONS = {"measure_texts": ("measures", "-m"), "also_texts": ("also", "--also")}


def asked_here(**typed: Any) -> GateRequest:
    """Settle what was typed with the policy of the project around the working directory.

    Raises
    ------
    InputError
        The policy file is wrong.
    OptionError
        An option is wrong, or there is no baseline.
    """
    return asked_of(find_policy(Path.cwd()), **typed)


def asked_of(found: PolicyFile, **typed: Any) -> GateRequest:
    """Settle what was typed with a policy; None, an empty text or nothing where the policy decides.

    Raises
    ------
    OptionError
        An option is wrong, or there is no baseline; with the file where it stands there.

    Examples
    --------
    >>> asked = asked_of(PolicyFile(path="pyproject.toml", alpha=0.1), baselines=("best.run",), tolerance=0.01, measure_texts=["AP,RR"])
    >>> asked.policy.tolerance, asked.policy.alpha, [str(one) for one in asked.measures]
    (0.01, 0.1, ['AP', 'RR'])
    """
    given = {name: value for name, value in typed.items() if value is not None and value not in ((), [], "")}
    for option, (name, where) in _OPTIONS.items():
        if texts := given.pop(option, ()):
            given[name] = parse_measures(options.measure_parts(texts, DEFAULT_MEASURE, where=where))
    if "convention_text" in given:
        given["convention"] = given.pop("convention_text")
    return settled(given, found, _NO_BASELINE, measures_in=_measures_in, convention_of=options.parse_convention)


def _measures_in(texts: Any, where: str) -> list[str]:
    return options.measure_parts(texts, DEFAULT_MEASURE, where=where)


_EPILOG = """\
Examples:

\b
  May the new run replace the old run?
    idealrank gate qrels.txt neural.run --baseline bm25.run
\b
  Keep the best run so far in a file, and compare new runs with it and with a pinned run:
    idealrank gate qrels.txt bm25.run --baseline best.run.gz --update-baseline
    idealrank gate qrels.txt neural.run --baseline bm25.run --baseline best.run.gz --update-baseline
\b
  Accept a drop of 0.01, show a second measure, let a third measure fail the gate, and print JSON:
    idealrank gate qrels.txt neural.run --baseline bm25.run --tolerance 0.01 -m nDCG@10,P@5 --also RR --format json
\b
  Write JUnit XML for the build server, and a comment for the pull request:
    idealrank gate qrels.txt neural.run --baseline bm25.run --junit gate.xml --markdown gate.md
\b
  Write a page with the queries behind a failure:
    idealrank gate qrels.txt neural.run --baseline bm25.run --report gate.html

The gate fails on a significant drop. With --strict, it passes only if a drop of the margin is ruled out. If unjudged documents may
explain the result, there are too few judgments, and the gate neither passes nor fails.

Files and options that are not given come from [tool.idealrank.gate] in pyproject.toml: qrels, run, qrels_columns, run_columns,
queries, documents, baseline, measures, also, tolerance, strict, margin, alpha, when_unjudged, contracts, weights, cluster, convention,
labels_are, sampled_negatives and labels_from.

Exit codes: 0 passed, 1 failed, 2 bad input or usage, 3 too few judgments. After 3, judge the documents that only the
lower-scoring run returns, the highest ranks first, and run the gate again. `idealrank why` lists the queries with unjudged
documents, and `idealrank explain` the documents of a query.
"""


_CODES: dict[Outcome, int] = {"passed": FINE, "failed": CLOSED, "too few judgments": UNDECIDABLE}


_FORMATS = Formats("Text and a table to read;", table="views.gate.gate:gate_parts", json="views.gate.gate:gate_json")


@click.command(
    cls=options.LeadingCommand,
    extra="--baseline",
    epilog=_EPILOG,
    short_help="Pass or fail a run against its baselines, in continuous integration.",
)
@click.argument("qrels", required=False)
@click.argument("run", required=False)
@click.option(
    "--baseline", "baselines", metavar="FILE", multiple=True,
    help="Baseline: any run, or a file written by --update-baseline; may be repeated.",
)  # fmt: skip
@click.option(
    "-m", "--measure", "measure_texts", metavar="MEASURE", cls=options.MeasureOption, multiple=True,
    help="Measures; repeat, or separate with commas. The first decides; the others are companions and never fail the gate.  "
    f"[default: {DEFAULT_MEASURE}]",
)  # fmt: skip
@click.option(
    "--also", "also_texts", metavar="MEASURE", multiple=True,
    help="Measures that can fail the gate, in addition to the first of -m; repeat, or separate with commas.",
)  # fmt: skip
@click.option("--tolerance", metavar="X", type=float, help="Accept a drop of X, in units of the measures.  [default: 0]")
@click.option("--strict/--no-strict", default=None, help="Pass only if a drop of the margin is ruled out; needs --margin.")
@click.option("--margin", metavar="X", type=float, help="Smallest unacceptable drop of --strict, in units of the measure.")
@click.option(
    "--alpha", metavar="P", type=float,
    help="Highest probability that a harmless run fails: once for the first measure, and once for the measures of --also. With --strict, "
    "highest probability that a drop of the margin passes.  [default: 0.05]",
)  # fmt: skip
@click.option(
    "--when-unjudged", type=click.Choice(get_args(WhenUnjudged)),
    help="Outcome if there are too few judgments: fail (code 1), pass (code 0) or neutral (code 3).  [default: neutral]",
)  # fmt: skip
@click.option(
    "--contracts", metavar="FILE",
    help="Queries that must not drop, regardless of the means: CSV with the header query[,measure][,at_least].",
)  # fmt: skip
@click.option(
    "--update-baseline", is_flag=True,
    help="After a pass, replace the last baseline with the run, unless the run is lower by the first measure; create a missing file.",
)  # fmt: skip
@click.option(
    "--convention", "convention_text", metavar="NAME[,SWITCH=VALUE...]", cls=options.OnceOption,
    help="Convention to compute under; `idealrank conventions` lists all.  [default: standard]",
)  # fmt: skip
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
    **typed: Any,
) -> None:
    """Pass or fail RUN against its baselines. Exit code 1: failed; 3: too few judgments.

    All runs are evaluated against the judgments in QRELS. RUN fails if it is significantly worse than a baseline, or if it breaks a
    contract for a query. The report names the drop that the gate finds 80% of the time. If pyproject.toml names the judgments and
    the run, the command needs no argument; a single argument is the run.
    """
    policy = find_policy(Path.cwd())
    read = input_options.gate_inputs(qrels, run, inputs, policy)
    asked = asked_of(
        policy,
        weights=files.weights_path,
        cluster=files.cluster_path,
        labels_are=inputs.labels_are,
        sampled_negatives=inputs.sampled_negatives,
        queries=results.queries,
        **typed,
    )
    results = results.with_texts(queries=asked.queries, documents=policy.documents)
    job = Job(
        asked=asked, **read._asdict(), update=update_baseline, outputs=outputs, results=results, threads=threads, judge_path=judge_path
    )
    gated, notes, page = job.done()
    from idealrank.reports.views.comparison.phrases import Asked  # noqa: PLC0415  (not for the help)

    paths = {name: path for path, name in _names(job.run, asked.baselines).items()}
    words = ("-m", str(asked.measures[0]), *_policy_words(asked.policy), *job.inputs.words(typed["convention_text"] or "standard"))
    people = _People(outputs.digits, Asked(command=True, qrels=job.qrels, paths=paths, options=words))
    outputs.write(gated, partial(_report, gated, notes, asked.policy_file, layout, people), layout)
    results.write_page(page)
    context.exit(_CODES[gated.outcome])


def _policy_words(policy: Policy) -> list[str]:
    """Options of `judge next` that make its stop the rule of this gate."""
    words = ["--tolerance", f"{policy.tolerance:g}"] if policy.tolerance else []
    words += ["--strict", "--margin", f"{policy.margin:g}"] if policy.strict else []
    return words if policy.alpha == Policy().alpha else [*words, "--alpha", f"{policy.alpha:g}"]


class _People(NamedTuple):
    """Needs of a report for people: decimals, and where it was asked for."""

    digits: int | None
    asked: "Asked"


def _report(gated: Gated, notes: Sequence[str], policy_file: str, layout: str, people: _People) -> str | list[Part]:
    shown = {} if FORMATS[layout].is_data else people._asdict()
    return cast("str | list[Part]", _FORMATS.made(layout, gated, notes, policy_file, **shown))
