"""Evaluation on Dask: rows of a query come together by one shuffle, and the kernel evaluates each partition."""

from collections.abc import Iterable
from functools import reduce
from importlib import import_module
from typing import Any

from idealrank._lazy import load_extra
from idealrank.analysis.comparison.partition_sums import ComparisonSums
from idealrank.api.partition_comparison import ComparisonPlan, compare_rows
from idealrank.api.partitions import (
    BASELINE,
    KINDS,
    ROWS,
    PartitionPlan,
    evaluated_batches,
    evaluation_of,
    local_rows,
    needs_order_of,
    refuse_order,
    result_schema,
)
from idealrank.conventions import Convention
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.notes import Notes
from idealrank.io.row_parts import Table
from idealrank.io.table_columns import Columns, choose_columns
from idealrank.measures.parse import MeasureLike

__all__ = ["compare_dask", "evaluate_dask"]


def evaluate_dask(
    qrels: Any,
    run: Any,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    convention: "Convention | str" = "standard",
    *,
    name: str = "run",
    qrels_columns: Columns = None,
    run_columns: Columns = None,
    order: str | None = None,
    max_documents: int | None = None,
    partitions: int | None = None,
    broadcast: bool = False,
) -> Evaluation:
    """Evaluate a run on Dask, with the bits of `idealrank.evaluate`; a `distributed.Client` in use is where the work is done.

    Parameters
    ----------
    qrels, run : dask.dataframe.DataFrame, or whatever `idealrank.evaluate` takes
        Rows in any order and any partitions; at least one of both is a Dask dataframe. Other tables are read here.
    measures, convention, name, qrels_columns, run_columns, order, max_documents, broadcast
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
        A measure or convention is unknown, or the convention depends on the order of rows, and `order` is missing.
    MissingExtraError
        Dask is not installed.

    Examples
    --------
    With a client of Dask::

        evaluate_dask(dd.read_parquet("qrels"), dd.read_parquet("run"), ["nDCG@10", "RR"]).mean()
    """
    frames: Any = load_extra("dask.dataframe", "evaluate_dask", "dask")
    plan = PartitionPlan.of(measures, convention, name, max_documents)
    given: list[_Given] = [(run, "run", run_columns, KINDS["run"])]
    of_qrels: _Given = (qrels, "qrels", qrels_columns, KINDS["qrels"])
    judgments = _sorted(_rows(frames, of_qrels, plan.convention, order).compute()) if broadcast else None
    given += [] if broadcast else [of_qrels]
    parts = _on_partitions(frames, given, plan.convention, order, partitions, _evaluated, plan, judgments)
    return evaluation_of(import_module("pyarrow").concat_tables(parts), plan, judgments)


def compare_dask(
    qrels: Any,
    run_a: Any,
    run_b: Any,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    convention: "Convention | str" = "standard",
    *,
    names: tuple[str, str] = ("a", "b"),
    qrels_columns: Columns = None,
    run_columns: Columns = None,
    order: str | None = None,
    max_documents: int | None = None,
    partitions: int | None = None,
    n_draws: int = 10_000,
    seed: int = 0,
) -> ComparisonSums:
    """Compare two runs on Dask by sums of partitions; parameters and result as of `idealrank.integrations.spark.compare_spark`."""
    frames: Any = load_extra("dask.dataframe", "compare_dask", "dask")
    plan = ComparisonPlan.of(measures, convention, names, max_documents, n_draws, seed)
    given: list[_Given] = [
        (qrels, "qrels", qrels_columns, KINDS["qrels"]), (run_a, "run", run_columns, BASELINE), (run_b, "run", run_columns, KINDS["run"])
    ]  # fmt: skip
    parts: list[ComparisonSums] = _on_partitions(frames, given, plan.plan.convention, order, partitions, _compared, plan)
    return reduce(ComparisonSums.merge, parts)


_Given = tuple[Any, Table, Columns, int]


def _on_partitions(
    frames: Any, given: list[_Given], convention: Convention, order: str | None, partitions: int | None, work: Any, *options: Any
) -> list[Any]:
    """Call a function on the rows of each partition, after the rows of a query came together."""
    if not any(isinstance(table, frames.DataFrame) for table, *_ in given):
        raise InputError("found no Dask dataframe, expected one as qrels or run; idealrank.evaluate takes other tables")
    together = frames.concat([_rows(frames, one, convention, order) for one in given])
    shuffled = together.shuffle("query", npartitions=partitions or together.npartitions)
    delayed: Any = import_module("dask").delayed
    held = [delayed(option) for option in options]
    found: tuple[Any, ...] = import_module("dask").compute(*(delayed(work)(part, *held) for part in shuffled.to_delayed()))
    return list(found)


def _sorted(part: Any) -> Any:
    pyarrow = import_module("pyarrow")
    table = pyarrow.Table.from_pandas(part, preserve_index=False)
    for place, name in enumerate(("query", "document")):
        table = table.set_column(place, name, table.column(name).cast(pyarrow.binary()))
    return table.sort_by([("query", "ascending"), ("position", "ascending")])


def _evaluated(part: Any, plan: PartitionPlan, judgments: Any) -> Any:
    return import_module("pyarrow").Table.from_batches(evaluated_batches(_sorted(part).to_batches(), plan, judgments), result_schema())


def _compared(part: Any, plan: ComparisonPlan) -> ComparisonSums:
    return compare_rows(_sorted(part), plan)


def _rows(frames: Any, given: _Given, convention: Convention, order: str | None) -> Any:
    """Columns `ROWS` and position of a table, ids as text."""
    table, kind, columns, number = given
    if not isinstance(table, frames.DataFrame):
        held = local_rows(table, kind).to_pandas().assign(kind=number)
        held[["query", "document"]] = held[["query", "document"]].map(lambda identifier: identifier.decode("utf-8", "surrogateescape"))
        return frames.from_pandas(held.astype({"kind": "int8"}), npartitions=1)
    refuse_order(kind, convention, order)
    chosen = choose_columns([str(column) for column in table.columns], kind, columns, kind, Notes(None))
    for name in (chosen.query, chosen.document):
        if str(table.dtypes[name]).startswith(("float", "bool", "datetime")):
            raise InputError(f"{kind}: found column {name!r} of type {table.dtypes[name]}, expected ids, which are text or whole numbers")
    found = table[chosen.names].rename(columns={chosen.query: "query", chosen.document: "document", chosen.value: "value"})
    if not chosen.value:
        found["value"] = 1.0
    found["position"] = table[order] if order is not None and needs_order_of(kind, convention) else 0
    found = found.astype({"query": "string", "document": "string", "value": "float64", "position": "int64"})
    if chosen.by_rank:
        found["value"] = 0.0 - found["value"]
    found["kind"] = number
    return found.astype({"kind": "int8"})[[*ROWS, "position"]]
