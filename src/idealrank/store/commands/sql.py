"""`idealrank store sql`: SQL over a store."""

import json
import math
import sys
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from idealrank.cli import headings, options
from idealrank.cli.output import Formats
from idealrank.store.commands import store_options

if TYPE_CHECKING:
    from idealrank.reports.table.records import Row
    from idealrank.store.sql import Answer

_EPILOG = """\
Examples:

\b
  The best evaluation of each run by AP:
    idealrank store sql "select run, max(value) from evaluations join means using (id) where measure = 'AP' group by run" --store results
\b
  The ten hardest queries over all runs:
    idealrank store sql "select query, avg(value) from values where measure = 'nDCG@10' group by query order by 2 limit 10" --store results
\b
  The columns of a table:
    idealrank store sql "describe evaluations" --store results

Tables: evaluations, means, values (of each query), hits (returned judged documents), comparisons,
gates, tags. Join tables by `id`. Times are UTC. Only statements that use values or hits read values
of queries from disk.
"""  # noqa: E501


_WIDTH = 1 << 16  # letters of a line: wide answers are not cut


def _table(answer: "Answer") -> list[str]:
    from idealrank.reports.table.forms import Cell, Column, Table, as_text  # noqa: PLC0415  (not for the help)

    columns: list[Column[Any]] = []
    for place, name in enumerate(answer.columns):
        is_numeric = all(_is_number(row[place]) for row in answer.rows)
        rank = max(0, place - 1)  # the last columns of a narrow terminal go first, two stay
        columns.append(Column(title=name, kind="number" if is_numeric else "text", rank=rank))
    rows = [[Cell(_text(value)) for value in row] for row in answer.rows]
    table = Table(columns=columns, rows=rows)
    return [as_text(table, _WIDTH), f"({len(rows):,} row{'s' * (len(rows) != 1)})\n"]


def _is_number(value: Any) -> bool:
    return value is None or (
        isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    )


def _text(value: Any) -> str:
    """A value as people read it: six digits of a float, a dash for none."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return value.isoformat(" ", "seconds") if isinstance(value, datetime) else str(value)


def _plain(value: Any) -> Any:
    """A value as JSON and CSV have it, with every digit."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _json(answer: "Answer") -> Iterable[str]:
    yield "["
    for place, row in enumerate(answer.rows):
        yield (",\n " if place else "\n ") + json.dumps(
            dict(zip(answer.columns, map(_plain, row), strict=True))
        )
    yield "\n]\n"


def _rows(answer: "Answer") -> "Iterable[Row]":
    yield answer.columns
    for row in answer.rows:
        yield [str("" if value is None else _plain(value)) for value in row]


_FORMATS = Formats("A table to read;", table=_table, json=_json, rows=_rows)


@headings.command(epilog=_EPILOG, short_help="Query a store in SQL.")
@click.argument("query")
@_FORMATS.option
@store_options.store
@options.output
def sql(*, query: str, layout: str, store_path: str | None, output_path: str | None) -> None:
    """Run one SELECT over a store, in the SQL of DuckDB; - reads it from standard input.

    This command needs DuckDB, of the extra sql. A query changes nothing, and reaches no file and no
    network. Other processes may write to the store at the same time.
    """
    text = sys.stdin.read() if query == "-" else query
    with store_options.opened(store_path) as store:
        from idealrank.store.sql import ask  # noqa: PLC0415  (DuckDB; not for the help)

        answer = ask(store, text)
    _FORMATS.write(layout, output_path, answer)
