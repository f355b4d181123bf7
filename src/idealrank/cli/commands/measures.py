"""`idealrank measures`: what can be named with -m, and what each measure means."""

import click

from idealrank.cli import output
from idealrank.cli.options import measure_parts
from idealrank.measures.facts import classes_of, facts_of, families, family_title
from idealrank.reports.measures import measure_card, measures_record, measures_table

_EPILOG = """\
Examples:

\b
  idealrank measures
  idealrank measures nDCG
  idealrank measures map recip_rank
  idealrank measures --format json
"""


@click.command(epilog=_EPILOG, short_help="List the measures, or explain some.")
@click.argument("names", metavar="[NAME...]", nargs=-1)
@click.option(
    "--format", "layout", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Text for people, JSON for programs."
)  # fmt: skip
def measures(*, names: tuple[str, ...], layout: str) -> None:
    """List the measures by family and say which to choose; with NAMEs, explain those.

    NAME is a measure in anybody's spelling (nDCG@10, map, recip_rank). The explanation has formula, range, tie rule, options, source, when
    to use it and when not, and whose numbers it was held against.
    """
    output.write([_report(names, layout)], None, layout)


def _report(names: tuple[str, ...], layout: str) -> str:
    if names:
        texts = measure_parts(names, "nDCG", where="NAME")
        found = [facts_of(cls) for cls in dict.fromkeys(cls for text in texts for cls in classes_of(text))]
        return measures_record(found) if layout == "json" else "\n\n".join(map(measure_card, found))
    listed = families()
    if layout == "json":
        return measures_record(facts_of(cls) for classes in listed.values() for cls in classes)
    return measures_table((family_title(classes), [facts_of(cls) for cls in classes]) for classes in listed.values())
