"""`idealrank report`: a page of what a store keeps."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from idealrank.cli import headings, invocation, options, text_options
from idealrank.cli.progress import Watch
from idealrank.cli.result_options import FIGURES, ONLY, Results
from idealrank.errors import OptionError
from idealrank.store.commands import store_options

if TYPE_CHECKING:
    from idealrank.analysis.comparison.requirements import JudgmentsOption

_EPILOG = """\
Examples:

\b
  A page of a stored evaluation, comparison or gate; `idealrank history` and --store print ids:
    idealrank report 3f2a9c --store results -o out.html
\b
  Compare two stored evaluations:
    idealrank report 3f2a9c 81d07b --store results -o out.html -m nDCG@10
\b
  Plots for a paper:
    idealrank report 3f2a9c --store results --figures figures

`evaluate --report`, `compare --report` and `gate --report` show more. Whole rankings,
contributions of documents, curves over cutoffs and the robustness analysis need the runs, which a
store does not keep.
"""


@headings.command(epilog=_EPILOG, short_help="Make a page of stored results.")
@click.argument("ids", metavar="ID [ID...]", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    "report",
    cls=options.OnceOption,
    metavar="FILE",
    help="Page file, which ends in .html; it appears when it is complete.",
)
@FIGURES
@ONLY
@click.option(
    "-m",
    "--measure",
    "measure_texts",
    metavar="MEASURE",
    cls=options.OnceOption,
    multiple=True,
    help="Measures to show, the primary measure first.  [default: all measures of the entry]",
)
@store_options.different_judgments
@text_options.queries_option("the page")
@text_options.documents_option("the page, which keeps only texts that it shows")
@store_options.store
def report(
    *,
    ids: tuple[str, ...],
    report: str | None,
    figures: str | None,
    only: str | None,
    measure_texts: tuple[str, ...],
    judgments: "JudgmentsOption",
    queries: str | None,
    documents: str | None,
    store_path: str | None,
) -> None:
    """Make a page of a stored evaluation, comparison or gate; two or more evaluations are compared.

    The page shows stored values, verdicts and judged documents. Of unjudged documents it knows only
    the ranks.
    """
    files = [name for name in ids if Path(name).is_file()]
    if files:
        raise OptionError(
            f"{files[0]}: found a file, expected the id of a stored result; for judgments and runs "
            "use `idealrank evaluate QRELS RUN --report out.html` or `idealrank compare QRELS "
            "RUN_A RUN_B --report out.html`"
        )
    if report is None and figures is None:
        raise OptionError(
            f"found no output, expected -o FILE or --figures DIR: idealrank report {ids[0]} -o "
            "out.html"
        )
    results = Results(
        report=report,
        figures=figures,
        only=only,
        queries=queries,
        documents=documents,
        page_option="-o",
    )
    results.check(())
    measures = options.parse_measure_texts(measure_texts) if measure_texts else ()
    from idealrank.store.stored_report import found_in  # noqa: PLC0415  (not for the help)

    with store_options.opened(store_path) as store:
        material = found_in(
            store, ids, measures, judgments=judgments, command=invocation.command_line()
        )
        results.write_page(results.shown(material, Watch()))
