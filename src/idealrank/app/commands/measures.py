"""`idealrank measures`: what can be named with -m, and what each measure means."""

import click

from idealrank.app import output
from idealrank.measures.facts import classes_of, facts_of, families, family_title
from idealrank.reports.measures import measure_card, measures_record, measures_table

_EPILOG = """\
Examples:

\b
  idealrank measures
  idealrank measures nDCG
  idealrank measures map
  idealrank measures --format json
"""


@click.command(epilog=_EPILOG, short_help="List the measures, or explain one.")
@click.argument("name", required=False)
@click.option(
    "--format", "layout", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Text for people, JSON for programs."
)  # fmt: skip
def measures(*, name: str | None, layout: str) -> None:
    """List the measures by family and say which to choose; with NAME, explain one.

    NAME is a measure in anybody's spelling (nDCG@10, map, recip_rank). The explanation has formula, range, tie rule, options, source, when
    to use it and when not, and whose numbers it was held against.
    """
    output.write([_report(name, layout)], None)


def _report(name: str | None, layout: str) -> str:
    if name is not None:
        found = [facts_of(cls) for cls in classes_of(name)]
        return measures_record(found) if layout == "json" else "\n\n".join(map(measure_card, found))
    listed = families()
    if layout == "json":
        return measures_record(facts_of(cls) for classes in listed.values() for cls in classes)
    return measures_table((family_title(classes), [facts_of(cls) for cls in classes]) for classes in listed.values())
