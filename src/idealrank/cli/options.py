"""Options that several commands share, weights, clusters and slices of queries among them, and the
parsing of their texts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from idealrank.cli import console
from idealrank.cli.headings import HeadedCommand
from idealrank.cli.input_options import CandidateOptions, Inputs
from idealrank.cli.output import EXPLAIN_METHOD, MORE
from idealrank.conventions import PRESETS, SWITCHES, Convention
from idealrank.data.label_kinds import LABEL_KINDS, LabelKind
from idealrank.errors import OptionError, shown
from idealrank.io.formats.detection import FORMATS
from idealrank.measures import MEASURES
from idealrank.measures.measure import Measure
from idealrank.measures.measure_texts import split_outside_brackets
from idealrank.measures.parse import DEFAULT_MEASURES, parse_measure, parse_measures

# A number alone between commas, as in trec_eval's lists of parameters (P.5,10), and the measure
# with a number that begins such a list.
_NUMBER = re.compile(r"[-+]?[\d.]+(=[-+]?[\d.]+)?")
_NUMBERED = re.compile(r"(.+?[.@_])([-+]?[\d.]+(?:=[-+]?[\d.]+)?)", re.DOTALL)

TOKEN_VARIABLE = "IDEALRANK_TOKEN"  # noqa: S105  (a name)
"""Environment variable of ``--token``."""

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


def completing(names: Iterable[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return what completes the last of several names, which commas separate, in a shell."""

    def completed(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
        before, comma, word = typed.rpartition(",")
        begun = [name for name in names if name.lower().startswith(word.lower())]
        return [f"{before}{comma}{name}" for name in begun]

    return completed


# By metavar: what a shell offers as the value of an option.
_COMPLETED = {"MEASURE": completing(MEASURES), "NAME[,SWITCH=VALUE...]": completing(PRESETS)}


class OnceOption(click.Option):
    """Option that may have one value; click would keep the last of several without a word.

    It is for options that name data, whose values look as if they added up. The last value of a
    setting, such as ``--level``, counts.
    """

    def __init__(self, *names: Any, **attributes: Any) -> None:
        attributes.setdefault("shell_complete", _COMPLETED.get(attributes.get("metavar", "")))
        super().__init__(*names, **attributes)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Collect all values, as an option that may be repeated does."""
        is_repeatable, self.multiple = self.multiple, True
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.multiple = is_repeatable

    def consume_value(self, ctx: click.Context, opts: "Mapping[str, Any]") -> "tuple[Any, Any]":
        """Return the only value that was given, or the default."""
        values = opts.get(self.name or "")
        if self.multiple or not isinstance(values, list):
            return super().consume_value(ctx, opts)
        if len(set(values)) > 1:
            listed = f"{', '.join(map(shown, values[:-1]))} and {shown(values[-1])}"
            raise click.UsageError(f"{self.opts[0]}: found {listed}, expected the option once", ctx)
        return super().consume_value(ctx, {**opts, self.name or "": values[0]})


class LeadingCommand(HeadedCommand):
    """A command that leads an argument too many to the option that takes it.

    Examples
    --------
    >>> command = LeadingCommand("gate", extra="--baseline")
    >>> try:
    ...     command.make_context("gate", ["best.run"])
    ... except click.UsageError as error:
    ...     print(error.message)
    found best.run after the run, expected --baseline best.run
    """

    def __init__(self, *names: Any, extra: str, **options: Any) -> None:
        super().__init__(*names, **options)
        self._extra = extra

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments as click does, but name the option in the error."""
        ctx.allow_extra_args = True
        surplus = super().parse_args(ctx, args)
        if surplus and not ctx.resilient_parsing:
            word = shown(surplus[0])
            ctx.fail(f"found {word} after the run, expected {self._extra} {word}")
        return surplus


measures: Decorator = click.option(
    "-m",
    "--measure",
    "measure_texts",
    metavar="MEASURE",
    multiple=True,
    cls=OnceOption,
    help="nDCG@10, AP, nDCG(gain=exp2)@10, ndcg_cut_10, ...; `idealrank measures` lists all. "
    f"Repeat, or separate with commas.  [default: {','.join(DEFAULT_MEASURES)}]",
)
one_measure: Decorator = click.option(
    "-m",
    "--measure",
    "measure_text",
    metavar="MEASURE",
    default=DEFAULT_MEASURES[0],
    show_default=True,
    cls=OnceOption,
    help="Measure to explain.",
)
judge_qrels: Decorator = click.option(
    "--judge-qrels",
    "judge_path",
    metavar="FILE",
    cls=OnceOption,
    help="Judgments of a judge, such as a language model; a difference whose sign it contradicts "
    "is undecided.",
)
convention: Decorator = click.option(
    "--convention",
    "convention_text",
    metavar="NAME[,SWITCH=VALUE...]",
    default="standard",
    show_default=True,
    cls=OnceOption,
    help="Convention to compute under; `idealrank conventions` lists all.",
)
level: Decorator = click.option(
    "--level",
    "confidence",
    metavar="LEVEL",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level.",
)
threads: Decorator = click.option(
    "--threads",
    metavar="N",
    type=click.IntRange(0, 1 << 16),
    default=0,
    help="Number of threads; 0 uses all cores. Results do not depend on N.",
)
memory: Decorator = click.option(
    "--memory",
    "memory_text",
    metavar="SIZE",
    help="Memory of the whole process, such as 512MB: runs are read in parts, grouped by query in "
    "temporary files if needed. For TREC text, Parquet, Arrow IPC, CSV and TSV; the values are the "
    "same.",
)
output: Decorator = click.option(
    "-o",
    "--output",
    "output_path",
    metavar="FILE",
    cls=OnceOption,
    help="Output file; it appears when it is complete.",
)


def schema(of_config: Callable[[], Mapping[str, Any]]) -> Decorator:
    """Add ``--schema``, which prints the JSON Schema of the configuration of a command."""

    def print_schema(context: click.Context, _: click.Parameter, value: bool) -> None:
        if not value or context.resilient_parsing:
            return
        import json  # noqa: PLC0415  (few ask for it)

        from idealrank.cli import output as written  # noqa: PLC0415  (as above)

        text = json.dumps(of_config(), indent=1, ensure_ascii=False)
        written.write([text, "\n"], None, "json")
        context.exit()

    return click.option(
        "--schema",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=print_schema,
        help="Print the JSON Schema of CONFIG, and exit.",
    )


explain_method: Decorator = click.option(
    EXPLAIN_METHOD,
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, value: context.meta.update({EXPLAIN_METHOD: value}),
    help="Print the method and the convention in full, with the meaning of each column. JSON and "
    "CSV always contain both.",
)

more: Decorator = click.option(
    MORE,
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, value: context.meta.update({MORE: value}),
    help="Print every sentence on the result, not only the verdict, its size, its basis and the "
    "next step. JSON always contains all.",
)

digits: Decorator = click.option(
    "--digits",
    metavar="N",
    type=click.IntRange(0, 15),
    help="Decimal places in human-readable output.  [default: as many as the intervals allow, from "
    "2 to 4; 4 without intervals]",
)

labels: Decorator = click.option(
    "--labels",
    "labels_text",
    metavar="LABEL=GRADE,...",
    default="",
    cls=OnceOption,
    help="Grades of labels that are words, such as Exact=3,Substitute=2; numbers count as they "
    "are.",
)
_RUN_INPUTS: tuple[Decorator, ...] = (
    click.option(
        "--input-format",
        "file_format",
        type=click.Choice(FORMATS),
        default="auto",
        show_default=True,
        metavar="FORMAT",
        help=f"Format of all files: {', '.join(FORMATS)}. auto inspects the extension and the "
        "content.",
    ),
    click.option(
        "--columns",
        "columns_text",
        metavar="ROLE=NAME,...",
        default="",
        cls=OnceOption,
        help="Columns of all tables: query= (user=), document= (item=), grade=, score= or rank=. "
        "hits[].id is a path through a list.",
    ),
    click.option(
        "--run-columns",
        "run_columns_text",
        metavar="ROLE=NAME,...",
        default="",
        cls=OnceOption,
        help="Columns of runs; overrides --columns.",
    ),
)
_INPUTS: tuple[Decorator, ...] = (
    click.option(
        "--qrels",
        "more_qrels",
        metavar="FILE",
        multiple=True,
        help="Additional file of judgments; may be repeated.",
    ),
    *_RUN_INPUTS,
    click.option(
        "--qrels-columns",
        "qrels_columns_text",
        metavar="ROLE=NAME,...",
        default="",
        cls=OnceOption,
        help="Columns of judgments; overrides --columns. grade=1 gives every row grade 1.",
    ),
    labels,
    click.option(
        "--group-sizes",
        "group",
        metavar="FILE",
        cls=OnceOption,
        help="File of group sizes, for LETOR files without qid.",
    ),
    click.option(
        "--labels-are",
        type=click.Choice(LABEL_KINDS),
        help="Kind of the labels: complete (a document without a label is not relevant), pooled (a "
        "sample was judged), positive-only (only relevant documents are named).  [default: pooled "
        "if a tenth of the queries have a grade of 0, else positive-only]",
    ),
    click.option(
        "--sampled-negatives",
        metavar="SHARE",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="Share of the non-relevant documents that were labelled, if every relevant document "
        "was.",
    ),
)

labels_from: Decorator = click.option(
    "--labels-from",
    metavar="NAME",
    cls=OnceOption,
    help="Run whose results were labelled, for positive-only labels; they cannot decide between "
    "this run and another.",
)


def inputs(command: Command) -> Command:
    """Add the options for reading files to a command, which gets them as one argument, `inputs`."""

    @wraps(command)
    def with_inputs(
        *,
        file_format: str,
        columns_text: str,
        qrels_columns_text: str,
        run_columns_text: str,
        labels_text: str,
        group: str | None,
        more_qrels: tuple[str, ...],
        labels_are: LabelKind | None,
        sampled_negatives: float | None,
        **others: Any,
    ) -> Any:
        runs = others.get("runs") or (others.get("run"),)
        refuse_to_replace(
            others.get("output_path"), (others.get("qrels"), *more_qrels, *runs, group)
        )
        read_options = Inputs(
            file_format=file_format,
            columns_text=columns_text,
            group=group,
            more_qrels=more_qrels,
            qrels_columns_text=qrels_columns_text,
            run_columns_text=run_columns_text,
            labels_text=labels_text,
            labels_are=labels_are,
            sampled_negatives=sampled_negatives,
        )
        return command(inputs=read_options, **others)

    return _decorated(with_inputs, _INPUTS)


def run_inputs(command: Command) -> Command:
    """Add the input options of a command for `runs` without judgments."""

    @wraps(command)
    def with_inputs(
        *, file_format: str, columns_text: str, run_columns_text: str, **others: Any
    ) -> Any:
        refuse_to_replace(others.get("output_path"), others["runs"])
        return command(
            inputs=Inputs(file_format, columns_text, run_columns_text=run_columns_text), **others
        )

    return _decorated(with_inputs, _RUN_INPUTS)


def _decorated(command: Command, decorators: Sequence[Decorator]) -> Command:
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


def refuse_to_replace(
    output_path: str | None, inputs: Iterable[str | None], *, option: str = "-o"
) -> None:
    """Refuse to write a result over an input file: judgments cannot be had again."""
    if output_path is None or output_path == "-" or not Path(output_path).is_file():
        return
    for path in inputs:
        if path is None or path == "-" or not Path(path).exists():
            continue
        if Path(path).samefile(output_path):
            raise OptionError(
                f"{option} {output_path}: found an input file of this command, expected another "
                "name"
            )


def parse_measure_texts(texts: Sequence[str]) -> tuple[Measure, ...]:
    """Parse the measures of all ``-m`` options; commas outside brackets separate."""
    return parse_measures(measure_parts(texts, "nDCG@10") or DEFAULT_MEASURES)


def measure_parts(texts: Sequence[str], example: str, *, where: str = "-m") -> list[str]:
    """Return the texts of the measures of all ``-m`` options, which `where` names; none without
    such an option.
    """
    parts: list[str] = []
    for text in texts:
        split = [part.strip() for part in split_outside_brackets(text)]
        parts += _with_numbers(split, where)
    if texts and not any(parts):  # such as an unset variable of a script
        without = "the default ones are computed" if where == "-m" else "all are listed"
        raise OptionError(
            f"{where}: found no measure, expected one such as {example}; without {where} {without}"
        )
    return [part for part in parts if part]


def _with_numbers(parts: list[str], where: str) -> Iterator[str]:
    """Yield the parts of one option; numbers alone follow the measure they belong to."""
    numbers: list[str] = []
    head = ""
    for part in [*parts, ""]:  # the empty part ends the last measure
        if part and _NUMBER.fullmatch(part):
            if not _NUMBERED.fullmatch(head):
                raise OptionError(
                    f"{where} {shown(','.join(parts))}: found {shown(part)} without a measure, "
                    "expected a measure with each number, as in P@5,P@10, or trec_eval's P.5,10"
                )
            numbers.append(part)
        else:
            yield from _one_or_many(head, numbers)
            head = part
            numbers = []


def _one_or_many(head: str, numbers: list[str]) -> Iterator[str]:
    """Yield one measure with all numbers (``11pt_avg.0.1,0.2``), or one for each (``P.5,10``)."""
    whole = ",".join([head, *numbers])
    numbered = _NUMBERED.fullmatch(head)
    if numbers and numbered and not _is_measure(whole):
        yield from (numbered[1] + number for number in [numbered[2], *numbers])
    else:
        yield whole


def _is_measure(text: str) -> bool:
    try:
        parse_measure(text)
    except OptionError:
        return False
    return True


def parse_convention(text: str) -> Convention:
    """Parse a convention; errors suggest a known name that is like the text."""
    name, *changes = split_outside_brackets(text)
    if name.partition("=")[0].strip().replace("-", "_") in SWITCHES:
        raise OptionError(
            f"convention {shown(repr(text))}: found a switch, expected the name of a convention "
            f"before it, as in standard,{shown(text)}"
        )
    _check("convention", name.strip().lower(), PRESETS, "one that `idealrank conventions` lists")
    for change in changes:
        switch = change.partition("=")[0].strip().replace("-", "_")
        _check("switch", switch, SWITCHES, f"one of {', '.join(SWITCHES)}")
    return Convention.of(text)


def _check(kind: str, name: str, known: Iterable[str], expected: str) -> None:
    if name not in known:
        near = console.nearest(name, known)
        raise OptionError(
            f"unknown {kind} {shown(repr(name))}, expected {expected}"
            + (f"; did you mean {near}?" if near else "")
        )


def listening(port: int) -> Decorator:
    """Add the options of a local web page: address, port, token, and further names of this host.

    Examples
    --------
    >>> [option.name for option in click.command(listening(8765)(lambda: None)).params]
    ['host', 'port', 'token', 'names']
    """
    added = (
        click.option(
            "--host",
            metavar="ADDRESS",
            default="127.0.0.1",
            show_default=True,
            help="Address to listen on.",
        ),
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            default=port,
            show_default=True,
            help="Port; 0 takes a free one.",
        ),
        click.option(
            "--token",
            metavar="TEXT",
            envvar=TOKEN_VARIABLE,
            show_envvar=True,
            help="Token that every request must show; required unless the address is loopback. "
            "Other users of this machine can read the options of a process, so prefer the "
            "variable.",
        ),
        click.option(
            "--allow-host",
            "names",
            metavar="NAME",
            multiple=True,
            help="Further name by which requests may call this host.",
        ),
    )
    return lambda command: _decorated(command, added)


# For a command of `query_files` that shows slices, too.
slices: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--slices",
    "slices_text",
    metavar="FILE",
    cls=OnceOption,
    help="Also compare on each category of queries: CSV, JSON lines or Parquet with columns query "
    "and category. traffic:FILE makes head, torso and tail from columns query and traffic.",
)


def query_paths(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it gets the paths as `weights_path` and `cluster_path`."""
    weights = click.option(
        "--weights",
        "weights_path",
        metavar="FILE",
        cls=OnceOption,
        help="Weights of queries, such as traffic: columns query and weight, or lines QUERY "
        "WEIGHT.",
    )
    clusters = click.option(
        "--cluster",
        "cluster_path",
        metavar="FILE",
        cls=OnceOption,
        help="Clusters of queries, such as the queries of one user: columns query and cluster, or "
        "lines QUERY LABEL.",
    )
    return weights(clusters(command))


def query_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it gets the files as one argument, `files`."""

    @wraps(command)
    def with_files(
        *,
        weights_path: str | None,
        cluster_path: str | None,
        slices_text: str | None = None,
        **others: Any,
    ) -> Any:
        from idealrank.io.query_files import QueryFiles  # noqa: PLC0415  (SciPy; `evaluate` needs it for those who ask)

        files = QueryFiles(weights_path, cluster_path, slices_text)
        refuse_to_replace(others.get("output_path"), files.paths)
        return command(files=files, **others)

    return query_paths(with_files)


_CANDIDATES = (
    click.option(
        "--candidates",
        "candidate_source",
        metavar="FILE|N",
        cls=OnceOption,
        help="Documents from which each list was ranked: columns query and document, judgments, a "
        "run, one column of documents for all queries, or their number.",
    ),
    click.option(
        "--chance",
        "chance",
        is_flag=True,
        help="Expected value of a random order of the candidates, value of their best order, and "
        "each mean's lift from the first to the second, with 95 % interval.",
    ),
)


def candidates(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it gets them as one argument, `pool`."""

    @wraps(command)
    def with_pool(*, candidate_source: str | None, chance: bool, **others: Any) -> Any:
        return command(pool=CandidateOptions(candidate_source, chance), **others)

    decorated: Callable[..., Any] = with_pool
    for option in reversed(_CANDIDATES):
        decorated = option(decorated)
    return decorated
