"""Lazy frames of Polars and relations of DuckDB, read batch by batch while the query runs: its
result is never in memory as a whole.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from idealrank._lazy import load_extra
from idealrank.data.run import Run
from idealrank.data.run_parts import RunParts
from idealrank.errors import InputError
from idealrank.io.complaints import refuse
from idealrank.io.dataframes import refuse_lists, run_from_frame
from idealrank.io.formats.arrow import rows_from_table
from idealrank.io.memory_budget import MemoryBudget, resident
from idealrank.io.notes import Notes, Tell
from idealrank.io.row_parts import Rows
from idealrank.io.run_stream import PieceReader
from idealrank.io.table_columns import Columns, choose_columns

_DEFAULT = 10**9  # beyond what the process takes: other rows of its owner are in it already
_ROW = 128  # bytes, with what the engine needs on the way


def stream_frame(
    frame: Any,
    memory: "str | int | None" = None,
    *,
    columns: Columns = None,
    name: str = "run",
    tell: Tell | None = None,
) -> Run:
    """A run from a query that runs during evaluation; see `run_from_frame`.

    Its rows may come in any order.
    """
    pyarrow = load_extra("pyarrow", f"reading a {type(frame).__name__} batch by batch", "arrow")
    of_polars = type(frame).__name__ == "LazyFrame"
    if of_polars and not hasattr(frame, "collect_batches"):  # before Polars 1.34
        return run_from_frame(frame, columns, name=name, tell=tell)
    names: Sequence[str] = frame.collect_schema().names() if of_polars else frame.columns
    refuse_lists(frame, "run", columns, "run")
    chosen = choose_columns(list(names), "run", columns, "run", Notes(tell))
    budget = MemoryBudget.of(resident() + _DEFAULT if memory is None else memory)

    def pieces(size: int) -> Iterator[Rows]:
        first, count = 0, max(1024, size // _ROW)
        batches = _polars_batches if of_polars else _duckdb_batches
        for data in batches(frame, chosen.names, count):
            for begin in range(0, max(1, data.num_rows), count):
                piece = data.slice(begin, count)
                yield rows_from_table(piece, "run", chosen, "run", refuse, first=first)
                first += piece.num_rows

    del pyarrow
    return Run.from_parts(
        RunParts(PieceReader(pieces, budget, 64 * (budget.total // 8))), name=name
    )


def _polars_batches(frame: Any, names: Sequence[str], count: int) -> Iterator[Any]:
    polars = import_module("polars")
    try:
        for batch in frame.select(names).collect_batches(chunk_size=count, maintain_order=True):
            yield batch.to_arrow()
    except polars.exceptions.PolarsError as error:
        raise InputError(
            f"run: the Polars query failed ({str(error).splitlines()[0]}), expected rows"
        ) from None


def _duckdb_batches(relation: Any, names: Sequence[str], count: int) -> Iterator[Any]:
    duckdb, pyarrow = import_module("duckdb"), import_module("pyarrow")
    try:
        selected = relation.project(
            ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        )
        reader = (
            selected.to_arrow_reader(count)
            if hasattr(selected, "to_arrow_reader")
            else selected.fetch_record_batch(count)
        )
        for batch in reader:
            yield pyarrow.Table.from_batches([batch])
    except (duckdb.Error, pyarrow.ArrowException) as error:
        raise InputError(
            f"run: the DuckDB query failed ({str(error).splitlines()[0]}), expected rows"
        ) from None
