"""`idealrank trec-eval`: take trec_eval's command line, and print trec_eval's text.

The texts of `-h` and `-v` are here, too, and the measures of this library for trec_eval's names.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import click
import numpy as np

from idealrank.cli import console, input_options, output
from idealrank.cli.progress import Watch
from idealrank.cli.trec_options import NAMES, NICKNAMES, VERSION_9, Request, chosen, parse_request
from idealrank.conventions import Convention
from idealrank.data.join import Judgments
from idealrank.data.qrels import Qrels
from idealrank.data.types import Progress
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import evaluate_read as evaluate
from idealrank.io.complaints import Notes
from idealrank.io.formats.preferences import read_assessors, read_preferences
from idealrank.io.formats.trec import read_trec_qrels, read_trec_run, read_zscores, tag_of
from idealrank.io.sources import open_sources
from idealrank.measures.bpref import RunningBpref
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.reports.views.trec import TrecColumn, trec_eval_report
from idealrank.version import __version__

# Names that mean something else in this library.
_SPELLINGS = {"rbp": "trec_rbp"}
# Measures that weigh grades whatever the level: their threshold would make grades binary.
_WITHOUT_LEVEL = ("rbp", "rbp_resid", "dcg", "ideal_dcg", "ndcg", "ndcg_cut")


# By format of -R: the tables that measures may need.
_TABLES = {
    "qrels": (),
    "prefs": ("preferences",),
    "qrels_prefs": ("preferences",),
    "qrels_jg": ("assessors",),
}


def columns_of(
    names: Mapping[str, tuple[str, ...]], request: Request, grades: Iterable[float] = ()
) -> list[TrecColumn]:
    """List the printed measures, line by line, without the run's tag."""
    columns = []
    for name, parameters in names.items():
        if name != "runid":
            columns += [
                _column(name, parameter, request, grades) for parameter in parameters or ("",)
            ]
    return columns


def _column(name: str, parameter: str, request: Request, grades: Iterable[float]) -> TrecColumn:
    measure = measure_of(name, parameter, grades)
    needs_table = measure.needs or measure.looks_at_grades
    if needs_table and measure.needs != _TABLES[request.relevance_format]:
        fitting = " or ".join(
            f"-R {format_}" for format_, tables in _TABLES.items() if tables == measure.needs
        )
        raise OptionError(
            f"-m {name}: found judgments of -R {request.relevance_format}, expected {fitting}"
        )
    if request.collection is not None and getattr(measure, "collection", None) is not None:
        measure = replace(measure, collection=float(request.collection))  # type: ignore[call-arg]
    if name == "bpref":
        measure = RunningBpref()
    has_level = name not in _WITHOUT_LEVEL and any(field.name == "rel" for field in fields(measure))
    if has_level and request.level != 1:
        measure = replace(measure, rel=float(request.level))  # type: ignore[call-arg]
    # With -c, trec_eval sums up the relevant documents of all judged queries, and counts every
    # grade above 0 there, whatever -l.
    summary = None
    if name == "num_rel" and request.complete and request.level != 1:
        summary = parse_measure("num_rel")
    return TrecColumn(
        name=NAMES[name].printed(parameter),
        measure=measure,
        summary=summary,
        made_up=_made_up(name, parameter),
    )


def _made_up(name: str, parameter: str) -> float | str | None:
    """Return the value or text of the document that trec_eval makes up for an unanswered query;
    None without a parameter, since trec_eval then empties the measure by its name.
    """
    if not parameter:
        return None
    # The document counts as returned and not relevant, and no longer among the others.
    if name == "utility":
        # The worth of a document that is relevant and returned, not relevant and returned, relevant
        # and not returned, neither.
        _, worth_returned, _, worth_of_others = map(float, parameter.split(","))
        return worth_returned - worth_of_others
    return "'-'" if name == "relstring" else None


def measure_of(name: str, parameter: str, grades: Iterable[float] = ()) -> Measure:
    """Make the measure of a name and a parameter, at the usual relevance level."""
    spelling = _SPELLINGS.get(name, name)
    try:
        if parameter and name in _WITH_GAINS:
            return replace(parse_measure(spelling), gain=_gains(parameter, grades))  # type: ignore[call-arg]
        if parameter and name in _WITH_OPTIONS:
            return _WITH_OPTIONS[name](parse_measure(spelling), parameter)
        for part in parameter.split(",") if parameter else ():
            float(part)
        return parse_measure(f"{spelling}_{parameter}" if parameter else spelling)
    except ValueError as error:
        problem = (
            error if isinstance(error, OptionError) else "expected numbers, separated by commas"
        )
        raise OptionError(f"-m {name}{'.' if parameter else ''}{parameter}: {problem}") from None


# --- parameters that are one text -----------------------------------------------------------------

_WITH_GAINS = ("G", "dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg")


def _gains(parameter: str, grades: Iterable[float]) -> dict[float, float]:
    """Parse gains by grade, pairs such as ``1=3,2=9``; other grades are their own gains."""
    pairs = [part.partition("=") for part in parameter.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise OptionError("expected pairs GRADE=GAIN, separated by commas, as in 1=3,2=9")
    # trec_eval's grades are whole numbers, and grades below 0 have no gain.
    whole_grades = {max(float(int(grade)), 0.0) for grade in grades} | {0.0}
    stated = {float(grade): float(gain) for grade, _, gain in pairs}
    return {grade: grade for grade in sorted(whole_grades)} | stated


def _coefficients(measure: Measure, parameter: str) -> Measure:
    numbers = [float(part) for part in parameter.split(",")]
    if len(numbers) != 4:
        raise OptionError("expected four numbers, separated by commas, as in 1,-1,0,0")
    worth: dict[str, Any] = dict(zip("abcd", numbers, strict=True))
    if numbers[3]:
        worth["collection"] = 0.0  # trec_eval's, where -N does not say how many documents there are
    return replace(measure, **worth)


def _persistence(measure: Measure, parameter: str) -> Measure:
    return replace(measure, p=float(parameter))  # type: ignore[call-arg]


_WITH_OPTIONS: Mapping[str, Callable[[Measure, str], Measure]] = {
    "utility": _coefficients,
    "rbp": _persistence,
    "rbp_resid": _persistence,
}


def report(request: Request) -> Iterator[str]:
    r"""Yield the text for a request, in pieces."""
    is_version_9 = request.convention == VERSION_9
    names = chosen(request.measures, new=not is_version_9)
    input_options.refuse_standard_input_twice(*request.files, request.zscores or "")
    watch = Watch()
    notes = Notes(lambda message: console.say("note", message))
    judgments = watch.run("judgments", lambda _: _judgments(request, notes))
    zscores = None if request.zscores is None else read_zscores(request.zscores, notes)
    grades = np.unique(judgments.grades).tolist() if isinstance(judgments, Qrels) else ()
    columns = columns_of(names, request, grades)
    tag, evaluation = _evaluated(request, judgments, columns, watch, notes)
    input_options.doubt(evaluation, request.files[1])

    # For queries that the run does not answer, version 9 prints nothing. Version 10 prints its
    # values, and makes up an unjudged document, unless -J takes it out.
    unanswered = set(evaluation.coverage.missing_queries)
    return trec_eval_report(
        evaluation,
        columns,
        runid=tag if "runid" in names else None,
        per_query=request.per_query,
        summary=not request.no_summary,
        silent=unanswered if is_version_9 else (),
        made_up=() if is_version_9 or request.judged_only else unanswered,
        zscores=zscores,
    )


def _judgments(request: Request, notes: Notes) -> Judgments:
    path = request.files[0]
    if request.relevance_format == "prefs":
        return read_preferences(path, tell=notes.warn)
    if request.relevance_format == "qrels_prefs":
        return read_preferences(path, layout="qrels", tell=notes.warn)
    if request.relevance_format == "qrels_jg":
        return read_assessors(path, tell=notes.warn)
    return read_trec_qrels(open_sources(path, notes), "error", notes)


def _evaluated(
    request: Request,
    judgments: Judgments,
    columns: Sequence[TrecColumn],
    watch: Watch,
    notes: Notes,
) -> tuple[str, Evaluation]:
    """Return the run's tag, and the values of every column from one pass over the run."""
    sources = open_sources(request.files[1], notes)
    tag = tag_of(sources)
    measures = []
    for column in columns:
        measures += [column.measure] if column.summary is None else [column.measure, column.summary]

    def work(progress: Progress) -> Evaluation:
        return evaluate(
            judgments,
            read_trec_run(sources, tag),
            measures or [parse_measure("num_q")],
            convention_of(request),
            max_documents=request.depth,
            threads=request.threads,
            progress=progress,
        )

    return tag, watch.run(tag, work)


def convention_of(request: Request) -> Convention:
    """Make the convention of the options."""
    switches = {"missing": "zero" if request.complete else "left-out"}
    if request.judged_only:
        switches |= {"unjudged": "skipped", "negative": "removed"}
    return Convention.of(request.convention, **switches)


_USAGE = """\
Usage: idealrank trec-eval [OPTIONS] QRELS RUN

Accepts the options of trec_eval 10.0, and prints the same output. Files may be compressed; - is standard input.

Options may be clustered or attached, as in getopt (-qc, -M100), before or after the files:
  -h, --help                      this text; with -m, also a description of the measures
  -v, --version                   the version
  -q, --query_eval_wanted         the values of each query before the summary
  -n, --nosummary                 no summary
  -c, --complete_rel_info_wanted  average over all queries of QRELS; an unanswered query counts as 0
  -l, --level_for_rel LEVEL       lowest relevant grade, default 1
  -J, --Judged_docs_only          leave out unjudged documents and negative grades
  -M, --Max_retrieved_per_topic N use only the first N documents of each query
  -N, --Number_docs_in_coll N     number of documents in the collection, for utility
  -m, --measure NAME[.PARAMETERS] measure or set of measures; may be repeated, default official
  -R, --Rel_info_format FORMAT    format of QRELS: qrels (default), prefs, qrels_prefs, qrels_jg
  -T, --Results_format FORMAT     format of RUN: trec_results
  -Z, --Zscore FILE               print z-scores instead of values; lines of FILE: QUERY MEASURE MEAN DEVIATION
  -D LEVEL, -o                    accepted with a notice, without effect

Two further options:
  --convention NAME               trec_eval-10 (default), or trec_eval-9 for the numbers of 9.0.8
  --threads N                     number of threads; 0 uses all cores, and results do not depend on N
"""  # noqa: E501
_MORE = """\
`idealrank trec-eval -h -m all_trec` describes measures, with their names in idealrank; `idealrank measures NAME` shows the formula.
Exit codes: 0 success, 2 bad input or usage, 70 fault of idealrank.
"""  # noqa: E501


def version_text() -> str:
    r"""Return the line of ``-v``."""
    return f"idealrank {__version__} in the place of trec_eval 10.0\n"


def help_text(request: Request) -> str:
    """Return the usage, the sets of measures, and a description of the measures of ``-m``."""
    parts = [_USAGE, _nicknames()]
    parts += [_described(request)] if request.measures else []
    return "\n".join([*parts, _MORE])


def _nicknames() -> str:
    return "Sets of measures:\n" + "".join(
        _wrapped(nickname, " ".join(names)) for nickname, names in NICKNAMES.items()
    )


def _described(request: Request) -> str:
    lines = [
        _wrapped(name, _about(name, parameters))
        for name, parameters in chosen(request.measures).items()
    ]
    return "Measures:\n" + "".join(lines)


def _about(name: str, parameters: tuple[str, ...]) -> str:
    if name == "runid":
        return "the tag of the run: the last field of its lines"
    measure = measure_of(name, parameters[0] if parameters else "")
    parameter_words = ""
    if parameters and NAMES[name].parameters != "none":
        parameter_words = f"; parameters {','.join(parameters)}"
    return f"{measure.summary}{parameter_words}; in idealrank: {measure}"


def _wrapped(head: str, text: str, indent: int = 26, width: int = 100) -> str:
    lines = [f"  {head:<{indent - 4}}  "]
    for word in text.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append(" " * indent)
        lines[-1] += word + " "
    return "".join(line.rstrip() + "\n" for line in lines)


class _Verbatim(click.Command):
    """A command that reads its command line itself: trec_eval's options are getopt's, not
    click's.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params = {"arguments": tuple(args)}
        return []


@click.command(
    "trec-eval",
    cls=_Verbatim,
    short_help="Replace the trec_eval binary: same options, same output.",
)
def trec_eval(*, arguments: tuple[str, ...]) -> None:
    """Evaluate a run like trec_eval 10, and print the same output."""
    request = parse_request(arguments)
    for notice in request.notices:
        console.say("notice", notice)
    if request.version:
        output.write([version_text()], None)
    elif request.help:
        output.write([help_text(request)], None)
    else:
        output.write(report(request), None, "trec")
