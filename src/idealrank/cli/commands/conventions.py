"""`idealrank conventions`: list the conventions, or show every switch of one."""

import click

from idealrank.cli import headings, options
from idealrank.cli.output import Formats
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


_FORMATS = Formats("A table to read,", table=_table, json=_json)


@headings.command(epilog=_EPILOG, short_help="List the conventions, or show every switch of one.")
@click.argument("name", required=False, shell_complete=options.completing(PRESETS))
@_FORMATS.option
def conventions(*, name: str | None, layout: str) -> None:
    """List the conventions; with NAME, every switch of one.

    A convention is every choice that can change a number: ties, gain, ideal list, queries that
    count, and more. Each preset reproduces a tool. `proof` states the evidence: the tool itself in
    the tests (live peer), values recorded from it, its source, or a definition.
    """
    _FORMATS.write(layout, None, None if name is None else options.parse_convention(name))
