"""`idealrank conventions`: what can be named with --convention."""

from collections.abc import Iterator

import click

from idealrank.cli import options, output
from idealrank.conventions import PRESETS, Convention

_EPILOG = """\
Examples:

\b
  idealrank conventions
  idealrank conventions lightgbm
  idealrank conventions lightgbm,ties=expected --format json
"""


@click.command(epilog=_EPILOG, short_help="List the conventions, or show every switch of one.")
@click.argument("name", required=False)
@click.option(
    "--format",
    "layout",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="A table for people, JSON for programs.",
)
def conventions(*, name: str | None, layout: str) -> None:
    """List the conventions; with NAME, every switch of one.

    A convention is every choice that can change a number: how ties are broken, what a grade is worth, what the ideal is, which queries
    count. Each of these reproduces a tool, and `proof` says how that was shown: by running the tool beside idealrank in the tests (live
    peer), by values recorded from it, from its source, or by its definition.
    """
    output.write(_report(None if name is None else options.parse_convention(name), layout), None, layout)


def _report(chosen: Convention | None, layout: str) -> Iterator[str]:
    if layout == "json":
        from idealrank.reports.records import conventions_record  # noqa: PLC0415  (only the layout asked for is loaded)

        yield conventions_record(PRESETS if chosen is None else {chosen.name: chosen})
    elif chosen is None:
        from idealrank.reports.words import conventions_table  # noqa: PLC0415

        yield conventions_table(PRESETS)
    else:
        from idealrank.reports.words import convention_card  # noqa: PLC0415

        yield convention_card(chosen)
