"""`idealrank measures`: list the measures, explain some, or recommend one."""

import click

from idealrank.cli.lazy_groups import CommandGroup
from idealrank.cli.options import completing, measure_parts
from idealrank.cli.output import Formats
from idealrank.measures import MEASURES
from idealrank.measures.facts import Facts, classes_of, facts_of, families, family_title
from idealrank.reports.views.measures import measure_card, measures_record, measures_table

# Command -> what it does in one line, the same line as in its own help (a test compares them).
COMMANDS = {
    "advise": "Recommend measures and cutoffs for judgments and a run.",
    "choose": "Find the discount and cutoff that best distinguish your runs.",
}

_EPILOG = """\
Examples:

\b
  idealrank measures
  idealrank measures nDCG
  idealrank measures map recip_rank
  idealrank measures --format json
  idealrank measures advise qrels.txt bm25.run
  idealrank measures choose qrels.txt bm25.run neural.run
"""


def _text(names: tuple[str, ...]) -> str:
    if names:
        return "\n\n".join(map(measure_card, _named(names)))
    return measures_table(
        (family_title(classes), list(map(facts_of, classes))) for classes in families().values()
    )


def _json(names: tuple[str, ...]) -> str:
    if names:
        return measures_record(_named(names))
    return measures_record(facts_of(cls) for classes in families().values() for cls in classes)


def _named(names: tuple[str, ...]) -> list[Facts]:
    texts = measure_parts(names, "nDCG", where="NAME")
    classes = dict.fromkeys(cls for text in texts for cls in classes_of(text))
    return [facts_of(cls) for cls in classes]


_FORMATS = Formats("Text to read,", table=_text, json=_json)


@click.group(
    cls=CommandGroup,
    lines=COMMANDS,
    home="idealrank.cli.commands",
    epilog=_EPILOG,
    short_help="List the measures, explain some, or recommend one.",
)
@click.argument("names", metavar="[NAME...]", nargs=-1, shell_complete=completing(MEASURES))
@_FORMATS.option
def measures(*, names: tuple[str, ...], layout: str) -> None:
    """List the measures by family with advice, or explain the measures NAME.

    NAME is a measure in any tool's spelling (nDCG@10, map, recip_rank). The explanation has
    formula, range, tie rule, options, source, advice, and the tools that confirm its numbers.
    """
    _FORMATS.write(layout, None, names)
