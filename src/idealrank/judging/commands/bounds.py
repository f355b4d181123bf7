"""`idealrank judge bounds`: what the grades of unjudged documents could change."""

from functools import partial
from types import ModuleType

import click

from idealrank.cli import headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.errors import OptionError
from idealrank.judging import bounds_report
from idealrank.judging.commands.input_files import read_qrels_and_runs, refuse_foreign
from idealrank.judging.commands.label_options import figure_kind, write_figure

_EPILOG = """\
Examples:

\b
  How far could the grades of unjudged documents move a run?
    idealrank judge bounds qrels.txt bm25.run
\b
  Two runs: could they turn the difference? A document that both return has one grade in both.
    idealrank judge bounds qrels.txt bm25.run neural.run -m nDCG@10 --depth 10
\b
  Grades 0 to 3, though nothing above 2 was judged; every query, for another program:
    idealrank judge bounds qrels.txt bm25.run --max-grade 3 --format csv
\b
  A figure of every query:
    idealrank judge bounds qrels.txt bm25.run neural.run --depth 10 --figure bounds.svg

\b
Bounds hold for all grades, however unlikely. `idealrank compare` estimates what is likely (its tipping point). If the
bounds of a difference exclude 0, further judging of these lists cannot reverse its sign.
\b
Documents far down a list can lower nDCG@10: a document with a high grade raises the ideal list, wherever it was returned.
With --depth, documents below that rank stay unjudged.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.judging.views import bounds  # noqa: PLC0415  (NumPy; not for the help)

    return bounds


_FORMATS = Formats(
    "Tables to read;",
    views=_views,
    table="bounds_parts",
    json="bounds_json",
    rows="bounds_rows",
    markdown="bounds_parts",
)


@headings.command(
    epilog=_EPILOG, short_help="Bound what the grades of unjudged documents could change."
)
@click.argument("qrels")
@click.argument("runs", metavar="RUN [RUN_B]", nargs=-1, required=True)
@click.option(
    "-m",
    "--measure",
    "measure_texts",
    metavar="MEASURE",
    multiple=True,
    cls=options.OnceOption,
    help="nDCG@10, AP, P@10, ...; repeat, or separate with commas.  [default: nDCG@10]",
)
@click.option(
    "--max-grade",
    metavar="G",
    type=click.FloatRange(0, min_open=True),
    help="Highest grade that an unjudged document may have.  [default: the highest grade judged]",
)
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(1),
    help="Deepest rank of unjudged documents with an open grade.  [default: every rank]",
)
@click.option("--per-query", is_flag=True, help="Bounds of every query.")
@options.convention
@click.option(
    "--figure",
    "figure_path",
    metavar="FILE",
    help="Figure of all queries by the first measure: FILE ends in .svg, .png, .pdf, .html (with "
    "the extra plots) or .json (Vega-Lite).",
)
@_FORMATS.option
@options.explain_method
@options.digits
@options.output
@options.inputs
@options.threads
def bounds(
    *,
    qrels: str,
    runs: tuple[str, ...],
    measure_texts: tuple[str, ...],
    max_grade: float | None,
    depth: int | None,
    per_query: bool,
    convention_text: str,
    figure_path: str | None,
    layout: str,
    digits: int | None,
    output_path: str | None,
    inputs: input_options.Inputs,
    threads: int,
) -> None:
    """Compute the lowest and the highest value over all grades of unjudged documents, query by
    query.

    With two runs, the output also bounds the difference RUN_B - RUN, and names the queries on which
    either run could have the higher value. The ideal list of nDCG changes with the grades, too. The
    output marks bounds that are not exact.
    """
    if len(runs) > 2:
        raise OptionError(
            f"found {len(runs)} runs, expected one or two: idealrank judge bounds QRELS RUN [RUN_B]"
        )
    input_options.refuse_standard_input_twice(qrels, *inputs.more_qrels, *runs)
    kind = figure_kind(figure_path, (qrels, *inputs.more_qrels, *runs))
    convention = options.parse_convention(convention_text)
    measures = options.parse_measure_texts(measure_texts or ("nDCG@10",))
    watch = Watch()
    judgments, opened = read_qrels_and_runs(inputs, qrels, runs, convention, watch)
    refuse_foreign(judgments, opened, runs, measures, convention)
    report = watch.run(
        "bounds",
        lambda _: bounds_report(
            judgments,
            opened,
            measures,
            max_grade=max_grade,
            depth=depth,
            convention=convention,
            threads=threads,
        ),
    )
    _FORMATS.write(layout, output_path, report, digits=digits, per_query=per_query)
    if kind is not None and figure_path is not None:
        from idealrank.judging.views.figures import bounds_spec  # noqa: PLC0415  (few ask for it)

        write_figure(
            figure_path, kind, f"Bounds of {report.runs[0].measure}", partial(bounds_spec, report)
        )
