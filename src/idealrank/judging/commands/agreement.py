"""`idealrank judge agreement`: how far assessors agree."""

from types import ModuleType

import click

from idealrank.cli import headings, options
from idealrank.cli.input_options import notes
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.io.label_grades import parse_labels
from idealrank.judging import Coefficient, agreement_report
from idealrank.judging.commands import label_options
from idealrank.judging.inputs import read_labels
from idealrank.judging.rater_tables import DEFAULT_COEFFICIENTS

_EPILOG = """\
Examples:

\b
  One file with all assessors, lines QUERY ASSESSOR DOCUMENT GRADE (or a table with a column assessor, or Quepid's export of a book):
    idealrank judge agreement assessors.txt
\b
  One file of judgments for each assessor:
    idealrank judge agreement ann.qrels ben.qrels model.qrels --scale 0,1,2,3
\b
  Chosen coefficients, for programs:
    idealrank judge agreement assessors.txt -s krippendorff_alpha_ordinal,gwet_ac2_quadratic --format json

Coefficients: percent, cohen_kappa (mean over pairs of raters), conger_kappa, scott_pi (two raters),
fleiss_kappa, krippendorff_alpha_LEVEL (nominal, ordinal, interval, ratio), gwet_ac1,
brennan_prediger. _linear and _quadratic give the others partial credit for near grades
(gwet_ac2_quadratic), by the values of the grades.

\b
Which one? Kappa and alpha fall where one grade is rare, even if raters agree on nearly all documents; AC1 does not. Report one of
each kind with the percentage, and look at the table by grade: it names the grade that raters disagree about.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.judging.views import agreement  # noqa: PLC0415  (NumPy; not for the help)

    return agreement


_FORMATS = Formats(
    "Tables to read;",
    views=_views,
    table="agreement_parts",
    json="agreement_json",
    rows="agreement_rows",
    markdown="agreement_parts",
)


@headings.command(
    epilog=_EPILOG, short_help="Measure how far assessors agree, by grade, assessor and query."
)
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-s",
    "--statistic",
    "statistic_texts",
    metavar="NAME",
    multiple=True,
    help=f"Coefficients; repeat, or separate with commas.  [default: "
    f"{','.join(map(str, DEFAULT_COEFFICIENTS))}]",
)
@options.labels
@label_options.scale
@label_options.outside
@label_options.clusters
@label_options.level
@click.option("--per-query", is_flag=True, help="Agreement in every query.")
@_FORMATS.option
@options.output
def agreement(
    *,
    files: tuple[str, ...],
    statistic_texts: tuple[str, ...],
    labels_text: str,
    scale_text: str,
    outside: str,
    cluster_path: str | None,
    confidence: float,
    per_query: bool,
    layout: str,
    output_path: str | None,
) -> None:
    """Measure how far assessors agree on the grades of the same documents.

    FILES are one file with several assessors, or one file of judgments for each. Intervals leave
    out whole queries: the documents of one query are not independent, and an interval over
    documents would be far too narrow.
    """
    options.refuse_to_replace(output_path, (*files, cluster_path))
    names = [name for text in statistic_texts for name in text.split(",")]
    coefficients = [Coefficient.of_text(name) for name in names if name.strip()]
    scale = label_options.parse_scale(scale_text)
    watch = Watch()
    source: str | dict[str, str] = files[0]
    if len(files) > 1:
        source = dict(zip(label_options.rater_names(files), files, strict=True))
    labels = parse_labels(labels_text)
    table = watch.run(
        "judgments", lambda _: read_labels(source, labels=labels, tell=notes().inform)
    )
    if scale is not None:
        table = table.in_scale(scale, outside)  # type: ignore[arg-type]
    clusters = label_options.cluster_labels(cluster_path, table)
    report = watch.run(
        "agreement",
        lambda _: agreement_report(
            table,
            coefficients or DEFAULT_COEFFICIENTS,
            categories=scale,
            clusters=clusters,
            confidence=confidence,
        ),
    )
    _FORMATS.write(layout, output_path, report, per_query=per_query)
