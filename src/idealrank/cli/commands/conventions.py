"""`idealrank conventions`: what can be named with --convention."""

import click

from idealrank.cli import options
from idealrank.cli.format_option import Formats
from idealrank.conventions import PRESETS, Convention

_EPILOG = """\
Examples:

\b
  idealrank conventions
  idealrank conventions lightgbm
  idealrank conventions lightgbm,ties=expected --format json
"""


def _table(chosen: Convention | None) -> str:
    from idealrank.reports.views.conventions import convention_card, conventions_table  # noqa: PLC0415  (only the layout asked for is loaded)

    return conventions_table(PRESETS) if chosen is None else convention_card(chosen)


def _json(chosen: Convention | None) -> str:
    from idealrank.reports.table.records import conventions_record  # noqa: PLC0415

    return conventions_record(PRESETS if chosen is None else {chosen.name: chosen})


_FORMATS = Formats("A table for people,", table=_table, json=_json)


@click.command(epilog=_EPILOG, short_help="List the conventions, or show every switch of one.")
@click.argument("name", required=False)
@_FORMATS.option
def conventions(*, name: str | None, layout: str) -> None:
    """List the conventions; with NAME, every switch of one.

    A convention is every choice that can change a number: how ties are broken, what a grade is worth, what the ideal is, which queries
    count. Each of these reproduces a tool, and `proof` says how that was shown: by running the tool beside idealrank in the tests (live
    peer), by values recorded from it, from its source, or by its definition.
    """
    _FORMATS.write(layout, None, None if name is None else options.parse_convention(name))
