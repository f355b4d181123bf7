"""`idealrank judge next`: which documents to label, so that the comparison of two runs is settled
soonest.
"""

from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from click.core import ParameterSource

from idealrank.cli import console, headings, input_options, options
from idealrank.cli.comparison_options import LARGEST_LOSS
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.errors import OptionError
from idealrank.judging import LabelReplay, NextLabels, next_labels, replay_labels
from idealrank.judging.commands import label_options
from idealrank.judging.commands.input_files import (
    read_known_queries,
    read_qrels_and_runs,
    tell_gaps,
)
from idealrank.judging.commands.label_options import figure_kind, write_figure
from idealrank.judging.commands.next_verdict import (
    UNTIL,
    Until,
    VerdictFiles,
    gate_request,
    refuse_unused,
    steps,
)
from idealrank.judging.label_order import STRATEGIES, Strategy
from idealrank.judging.label_stops import VerdictLike
from idealrank.pages.figures import drawings
from idealrank.reports.table.formats import FORMATS

_EPILOG = """\
Examples:

\b
  Too few judgments? Choose the labels that compare needs for a verdict, and write the sheet to fill in:
    idealrank judge next qrels.txt bm25.run neural.run --until compare -o sheet.csv
\b
  The same for a gate with the baseline bm25.run:
    idealrank judge next qrels.txt bm25.run neural.run --until gate --tolerance 0.01 -o sheet.csv
\b
  Label the sheet, and choose again with the new labels, until there is a verdict:
    idealrank judge ui sheet.csv -o sheet.qrels
    idealrank judge next qrels.txt bm25.run neural.run --until compare --qrels sheet.qrels -o sheet-2.csv
\b
  The 50 documents whose labels help most until no grades can change the sign:
    idealrank judge next qrels.txt bm25.run neural.run --budget 50
\b
  Whole queries in random order; a sequential test says when to stop:
    idealrank judge next qrels.txt bm25.run neural.run --strategy queries --query-ids all.txt
\b
  How many labels would each strategy have needed? Hide the judgments, and reveal them in its order:
    idealrank judge next qrels.txt bm25.run neural.run --replay --figure replay.svg

\b
Strategies: bounds (expected move of the bounds of the difference), change (expected change of the difference), uncertainty
(relevance nearest to one half), move-to-front, depth, random, queries (whole queries in random order).
\b
No strategy chooses a document below --depth in both runs: none takes more labels than depth pooling.
\b
Label whole sheets: a verdict that is looked at after every few labels is wrong more often. Label documents that are not relevant, too,
with grade 0: only then do the labels show how many of the others are relevant.
\b
--until gate reads [tool.idealrank.gate] in pyproject.toml as `idealrank gate` does; RUN is the baseline, and RUN_B the run.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.judging.views import label_choice  # noqa: PLC0415  (NumPy; not for the help)

    return label_choice


_FORMATS = Formats(
    "A table to read; with -o FILE.csv, a sheet for labelling;",
    views=_views,
    table="labels_parts",
    json="labels_json",
    rows="labels_rows",
    markdown="labels_parts",
)


@headings.command(
    epilog=_EPILOG, short_help="Choose the documents to label next, to settle a comparison soonest."
)
@click.argument("qrels")
@click.argument("run_a", metavar="RUN")
@click.argument("run_b", metavar="RUN_B")
@label_options.measure
@click.option(
    "--until",
    type=click.Choice(UNTIL),
    default="sign",
    show_default=True,
    help="Stop: no grades can change the sign of the difference (sign), or `compare` or `gate` no "
    "longer finds too few judgments.",
)
@click.option(
    "--budget",
    metavar="N",
    type=click.IntRange(1),
    help="Number of documents to choose.  [default: the estimated number until the verdict, or 50]",
)
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    help="Order of the documents; see below.  [default: bounds; change with --until compare or "
    "gate]",
)
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(1),
    help="Deepest rank to label.  [default: the measure's cutoff, or 100]",
)
@click.option(
    "--max-grade",
    metavar="G",
    type=click.FloatRange(0, min_open=True),
    help="Highest grade of a label.  [default: the highest grade judged]",
)
@click.option(
    "--query-ids",
    "query_path",
    metavar="FILE",
    cls=options.OnceOption,
    help="Queries compared: lines ID, or ID, tab and text.  [default: the queries in QRELS]",
)
@click.option(
    "--replay",
    is_flag=True,
    help="Count the labels that each strategy would have needed, with the judgments of QRELS.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Error rate: of the sequential test, and with --until the significance level of `compare` "
    "or `gate`.",
)
@click.option(
    "--tolerance",
    metavar="X",
    type=float,
    help="With --until gate: accepted drop, in units of the measure.  [default: 0]",
)
@click.option(
    "--strict/--no-strict",
    default=None,
    help="With --until gate: pass only if a drop of the margin is ruled out.",
)
@click.option(
    "--margin",
    metavar="X",
    type=float,
    help="With --until compare, also test equivalence within ±X; with --until gate --strict, the "
    "smallest unacceptable drop.",
)
@LARGEST_LOSS
@click.option(
    "--orders",
    metavar="N",
    type=click.IntRange(1),
    help="Random orders in the replay.  [default: 20]",
)
@click.option(
    "--seed", metavar="N", type=int, default=0, show_default=True, help="Random seed of the orders."
)
@options.convention
@click.option(
    "--figure",
    "figure_path",
    metavar="FILE",
    help="Figure of the replay: FILE ends in .svg, .png, .pdf, .html (with the extra plots) or "
    ".json (Vega-Lite).",
)
@options.labels_from
@_FORMATS.option
@options.explain_method
@options.digits
@options.output
@options.inputs
@click.pass_context
def next(  # noqa: A001  (the name of the command)
    context: click.Context,
    /,
    *,
    qrels: str,
    run_a: str,
    run_b: str,
    measure_text: str,
    until: Until,
    budget: int | None,
    strategy: Strategy | None,
    depth: int | None,
    max_grade: float | None,
    query_path: str | None,
    replay: bool,
    alpha: float,
    orders: int | None,
    seed: int,
    convention_text: str,
    labels_from: str | None,
    figure_path: str | None,
    layout: str,
    digits: int | None,
    output_path: str | None,
    inputs: input_options.Inputs,
    **policy: Any,
) -> None:
    """Choose the documents whose labels decide between RUN and RUN_B soonest.

    With `--until compare` or `--until gate`, the labels decide once the verdict of that command on
    RUN_B - RUN is no longer "too few judgments". By default, they decide once no grades of the
    unjudged documents can change the sign of the mean difference. QRELS has the labels so far, and
    is read again when new ones have been added.
    """
    _check(replay=replay, figure_path=figure_path, orders=orders, query_path=query_path)
    refuse_unused(context, until, replay=replay)
    paths = (qrels, *inputs.more_qrels, run_a, run_b)
    input_options.refuse_standard_input_twice(*paths)
    options.refuse_to_replace(output_path, (*paths, query_path))
    kind = figure_kind(figure_path, paths)
    measure = options.parse_measure_texts((measure_text,))[0]
    request = None
    if until == "gate":
        request = gate_request(context, run_a, measure, inputs, policy)
    # A gate's convention also decides the order, and is the one that is printed.
    convention = (
        options.parse_convention(convention_text) if request is None else request.convention
    )
    watch = Watch()
    judgments, (a, b) = read_qrels_and_runs(inputs, qrels, (run_a, run_b), convention, watch)
    queries = read_known_queries(query_path, (a, b), judgments.queries)
    if replay:
        replayed = watch.run(
            "replay",
            lambda _: replay_labels(
                judgments,
                a,
                b,
                measure,
                convention=convention,
                orders=orders or 20,
                depth=depth,
                max_grade=max_grade,
                alpha=alpha,
                seed=seed,
            ),
        )
        tell_gaps(judgments, (a, b), queries)
        _FORMATS.write(layout, output_path, replayed, digits=digits)
        _draw(replayed, figure_path, kind)
        return

    verdict: VerdictLike | None = None  # none settles the sign
    files = VerdictFiles(
        qrels=qrels,
        run_a=run_a,
        run_b=run_b,
        inputs=inputs,
        judgments=judgments,
        runs=(a, b),
        labels_from=labels_from,
    )
    if request is not None:
        verdict = files.gated(measure, request)
    elif until == "compare":
        verdict = files.compared(measure, convention, alpha, policy, watch)
    chosen = watch.run(
        "labels",
        lambda _: next_labels(
            judgments,
            a,
            b,
            measure,
            queries=queries,
            convention=convention,
            until=verdict,
            budget=budget,
            strategy=strategy,
            depth=depth,
            max_grade=max_grade,
            alpha=alpha,
            seed=seed,
        ),
    )
    tell_gaps(judgments, (a, b), queries, hint="; --query-ids FILE names the compared queries")
    by_default = context.get_parameter_source("layout") is ParameterSource.DEFAULT
    if by_default and output_path is not None and Path(output_path).suffix.lower() == ".csv":
        _write_sheet(context, chosen, layout, output_path)
    else:
        _write_report(context, chosen, layout, output_path)


def _write_sheet(context: click.Context, chosen: NextLabels, layout: str, sheet: str) -> None:
    """Write the documents to a sheet that is to be filled in, and a summary to read."""
    if chosen.labels:
        _FORMATS.write("csv", sheet, chosen)
    text_options: dict[str, Any] = {"digits": context.params["digits"]}
    if chosen.stop is not None:
        text_options["steps"] = steps(context, chosen.stop, sheet)
    _FORMATS.write(layout, None, chosen, sheet=sheet, **text_options)


def _write_report(
    context: click.Context, chosen: NextLabels, layout: str, path: str | None
) -> None:
    """Write the documents in the format asked for; beside data, the stop is a note."""
    text_options: dict[str, Any] = {"digits": context.params["digits"]}
    if FORMATS[layout].use == "people" and chosen.stop is not None:
        text_options["steps"] = steps(context, chosen.stop, None)
    _FORMATS.write(layout, path, chosen, **text_options)
    if FORMATS[layout].is_data and chosen.stop is not None:
        from idealrank.judging.views.label_choice import opening  # noqa: PLC0415  (only with a stop)

        console.say("note", opening(chosen))


def _draw(replay: LabelReplay, path: str | None, kind: "drawings.Format | None") -> None:
    if path is not None and kind is not None:
        from idealrank.judging.views.figures import replay_spec  # noqa: PLC0415  (few ask for it)

        write_figure(
            path, kind, f"Labels until {replay.measure} is settled", partial(replay_spec, replay)
        )


def _check(
    *, replay: bool, figure_path: str | None, orders: int | None, query_path: str | None
) -> None:
    """Refuse options of the replay without it, and queries with it."""
    for name, value in (("--figure", figure_path), ("--orders", orders)):
        if value is not None and not replay:
            raise OptionError(f"{name}: found it without --replay, expected --replay, too")
    if replay and query_path is not None:
        raise OptionError(
            "--query-ids: found it with --replay, which compares the queries in QRELS; expected "
            "one of them"
        )
