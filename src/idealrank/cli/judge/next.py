"""`idealrank judge next`: which documents to label, so that the comparison of two runs is settled soonest."""

from functools import partial

import click

from idealrank.cli import input_options, options
from idealrank.cli.format_option import Formats
from idealrank.cli.judge import label_options
from idealrank.cli.judge.figure_option import figure_kind, write_figure
from idealrank.cli.judge.run_files import read_known_queries, read_qrels_and_runs, tell_gaps
from idealrank.cli.progress import Watch
from idealrank.errors import OptionError
from idealrank.judging import LabelReplay, next_labels, replay_labels
from idealrank.judging.label_order import STRATEGIES
from idealrank.reports.figures import drawings
from idealrank.reports.table.formats import FORMATS

_EPILOG = """\
Examples:

\b
  The 50 documents whose labels help most to decide between two runs:
    idealrank judge next qrels.txt bm25.run neural.run --budget 50
\b
  The same as a file for labelling: query, document, ranks, reason, priority:
    idealrank judge next qrels.txt bm25.run neural.run --budget 50 --format csv -o todo.csv
\b
  Whole queries in random order; a sequential test says when to stop:
    idealrank judge next qrels.txt bm25.run neural.run --strategy queries --queries all.txt
\b
  How many labels would each strategy have needed? Hide the judgments, and reveal them in its order:
    idealrank judge next qrels.txt bm25.run neural.run --replay --figure replay.svg

\b
Strategies: bounds (expected move of the bounds of the difference), change (expected change of the difference), uncertainty
(relevance nearest to one half), move-to-front, depth, random, queries (whole queries in random order).
\b
No strategy chooses a document below --depth in both runs: none takes more labels than depth pooling.
"""

_FORMATS = Formats(
    "A table to read;", table="views.judging.label_choice:labels_parts", json="views.judging.label_choice:labels_json",
    rows="views.judging.label_choice:labels_rows", markdown="views.judging.label_choice:labels_markdown",
)  # fmt: skip


@click.command(epilog=_EPILOG, short_help="Choose the documents to label next, to settle a comparison soonest.")
@click.argument("qrels")
@click.argument("run_a", metavar="RUN")
@click.argument("run_b", metavar="RUN_B")
@label_options.measure
@click.option("--budget", metavar="N", type=click.IntRange(1), default=50, show_default=True, help="Number of documents to choose.")
@click.option("--strategy", type=click.Choice(STRATEGIES), default="bounds", show_default=True, help="Order of the documents; see below.")
@click.option("--depth", metavar="N", type=click.IntRange(1), help="Deepest rank to label.  [default: the measure's cutoff, or 100]")
@click.option(
    "--max-grade",
    metavar="G",
    type=click.FloatRange(0, min_open=True),
    help="Highest grade of a label.  [default: the highest grade judged]",
)
@click.option(
    "--queries",
    "query_path",
    metavar="FILE",
    cls=options.OnceOption,
    help="Queries compared: lines ID, or ID, tab and text.  [default: the queries in QRELS]",
)
@click.option("--replay", is_flag=True, help="Count the labels that each strategy would have needed, with the judgments of QRELS.")
@click.option(
    "--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
    help="Error rate of the sequential test.",
)  # fmt: skip
@click.option("--orders", metavar="N", type=click.IntRange(1), help="Random orders in the replay.  [default: 20]")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the orders.")
@options.convention
@click.option(
    "--figure", "figure_path", metavar="FILE",
    help="Figure of the replay: FILE ends in .svg, .png, .pdf, .html (with the extra plots) or .json (Vega-Lite).",
)  # fmt: skip
@_FORMATS.option
@options.explain_method
@options.digits
@options.output
@options.inputs
def next(  # noqa: A001  (the name of the command)
    *,
    qrels: str,
    run_a: str,
    run_b: str,
    measure_text: str,
    budget: int,
    strategy: str,
    depth: int | None,
    max_grade: float | None,
    query_path: str | None,
    replay: bool,
    alpha: float,
    orders: int | None,
    seed: int,
    convention_text: str,
    figure_path: str | None,
    layout: str,
    digits: int | None,
    output_path: str | None,
    inputs: input_options.Inputs,
) -> None:
    """Choose the documents whose labels settle the comparison RUN_B - RUN soonest.

    The comparison is settled when no grades of the unjudged documents can change the sign of the mean difference. QRELS has the labels so
    far, and is read again when new ones have been added.
    """
    _check(replay=replay, figure_path=figure_path, orders=orders, query_path=query_path)
    paths = (qrels, *inputs.more_qrels, run_a, run_b)
    input_options.refuse_standard_input_twice(*paths)
    options.refuse_to_replace(output_path, (*paths, query_path))
    kind, convention, watch = figure_kind(figure_path, paths), options.parse_convention(convention_text), Watch()
    measure = options.parse_measure_texts((measure_text,))[0]
    judgments, (a, b) = read_qrels_and_runs(inputs, qrels, (run_a, run_b), convention, watch)
    shown = {} if FORMATS[layout].is_data else {"digits": digits}
    queries = read_known_queries(query_path, (a, b), judgments.queries)
    if not replay:
        more = {"budget": budget, "strategy": strategy, "depth": depth, "max_grade": max_grade, "alpha": alpha, "seed": seed}
        chosen = watch.run(
            "labels", lambda _: next_labels(judgments, a, b, measure, queries=queries, convention=convention, **more)  # type: ignore[arg-type]
        )  # fmt: skip
        tell_gaps(judgments, (a, b), queries, hint="; --queries FILE names the compared queries")
        _FORMATS.write(layout, output_path, chosen, **shown)
        return
    found = watch.run(
        "replay",
        lambda _: replay_labels(
            judgments, a, b, measure, depth=depth, max_grade=max_grade, convention=convention, alpha=alpha, orders=orders or 20, seed=seed
        ),
    )  # fmt: skip
    tell_gaps(judgments, (a, b), queries)
    _FORMATS.write(layout, output_path, found, **shown)
    _draw(found, figure_path, kind)


def _draw(found: LabelReplay, path: str | None, kind: "drawings.Format | None") -> None:
    if path is not None and kind is not None:
        from idealrank.reports.figures.label_curves import replay_spec  # noqa: PLC0415  (few ask for it)

        write_figure(path, kind, f"Labels until {found.measure} is settled", partial(replay_spec, found))


def _check(*, replay: bool, figure_path: str | None, orders: int | None, query_path: str | None) -> None:
    """Refuse options of the replay without it, and queries with it."""
    for name, value in (("--figure", figure_path), ("--orders", orders)):
        if value is not None and not replay:
            raise OptionError(f"{name}: found it without --replay, expected both or neither")
    if replay and query_path is not None:
        raise OptionError("--queries: found it with --replay, which compares the queries in QRELS; expected one of them")
