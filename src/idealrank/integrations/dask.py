"""Evaluation on Dask: rows of a query come together by one shuffle, and the kernel evaluates each partition."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from idealrank._lazy import load_extra
from idealrank.api.partitions import KINDS, ROWS, PartitionPlan, evaluate_rows, finished, local_rows
from idealrank.conventions import Convention
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.notes import Notes
from idealrank.io.row_parts import Table
from idealrank.io.table_columns import Columns, choose_columns
from idealrank.measures.parse import MeasureLike

__all__ = ["evaluate_dask"]


def evaluate_dask(
    qrels: Any,
    run: Any,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    convention: "Convention | str" = "standard",
    *,
    name: str = "run",
    qrels_columns: Columns = None,
    run_columns: Columns = None,
    max_documents: int | None = None,
    partitions: int | None = None,
) -> Evaluation:
    """Evaluate a run on Dask, with the bits of `idealrank.evaluate`; a `distributed.Client` in use is where the work is done.

    Parameters
    ----------
    qrels, run : dask.dataframe.DataFrame, or whatever `idealrank.evaluate` takes
        Rows in any order and any partitions; at least one of both is a Dask dataframe. Other tables are read here.
    measures, convention, name, qrels_columns, run_columns, max_documents
        As for `evaluate_spark`.
    partitions : int, optional
        Number of partitions after the shuffle; default: as many as both tables have.

    Returns
    -------
    Evaluation
        As from `idealrank.evaluate`; queries are sorted by id.

    Raises
    ------
    InputError
        A row cannot be used, or a column is missing.
    OptionError
        A measure or convention is unknown, or the convention depends on the order of rows.
    MissingExtraError
        Dask is not installed.

    Examples
    --------
    With a client of Dask::

        evaluate_dask(dd.read_parquet("qrels"), dd.read_parquet("run"), ["nDCG@10", "RR"]).mean()
    """
    frames: Any = load_extra("dask.dataframe", "evaluate_dask", "dask")
    plan = PartitionPlan.of(measures, convention, name, max_documents)
    tables: dict[Table, tuple[Any, Columns]] = {"qrels": (qrels, qrels_columns), "run": (run, run_columns)}
    if not any(isinstance(table, frames.DataFrame) for table, _ in tables.values()):
        raise InputError("found no Dask dataframe, expected one as qrels or run; idealrank.evaluate takes other tables")
    if plan.needs_order:
        raise OptionError("found a convention that depends on the order of rows, which a shuffle changes; expected ties=docid or expected")
    rows = [_rows(frames, table, kind, columns) for kind, (table, columns) in tables.items()]
    together = frames.concat(rows)
    shuffled = together.shuffle("query", npartitions=partitions or together.npartitions)
    delayed: Any = import_module("dask").delayed
    parts = import_module("dask").compute(*(delayed(_evaluated)(part, plan) for part in shuffled.to_delayed()))
    return finished(parts)


def _evaluated(part: Any, plan: PartitionPlan) -> Evaluation:
    return evaluate_rows(import_module("pyarrow").Table.from_pandas(part, preserve_index=False), plan)


def _rows(frames: Any, table: Any, kind: Table, columns: Columns) -> Any:
    """Columns `ROWS` of a table, ids as text."""
    if not isinstance(table, frames.DataFrame):
        held = local_rows(table, kind).select(list(ROWS)).to_pandas()
        held[["query", "document"]] = held[["query", "document"]].map(lambda identifier: identifier.decode("utf-8", "surrogateescape"))
        return frames.from_pandas(held, npartitions=1)
    chosen = choose_columns([str(column) for column in table.columns], kind, columns, kind, Notes(None))
    for name in (chosen.query, chosen.document):
        if str(table.dtypes[name]).startswith(("float", "bool", "datetime")):
            raise InputError(f"{kind}: found column {name!r} of type {table.dtypes[name]}, expected ids, which are text or whole numbers")
    found = table[chosen.names].rename(columns={chosen.query: "query", chosen.document: "document", chosen.value: "value"})
    if not chosen.value:
        found["value"] = 1.0
    found = found.astype({"query": "string", "document": "string", "value": "float64"})
    if chosen.by_rank:
        found["value"] = 0.0 - found["value"]
    found["kind"] = KINDS[kind]
    return found.astype({"kind": "int8"})[list(ROWS)]
