"""Evaluation on Dask: rows of a query come together by one shuffle, and the kernel evaluates each
partition.
"""

from collections.abc import Iterable
from functools import reduce
from importlib import import_module
from typing import Any

from idealrank._lazy import load_extra
from idealrank.analysis.comparison.partition_sums import ComparisonSums
from idealrank.conventions import Convention
from idealrank.engines.engine_tables import EngineTable, local_frame, pandas_content, pandas_rows
from idealrank.engines.partition_comparison import ComparisonPlan, compare_rows
from idealrank.engines.partitions import (
    PartitionPlan,
    evaluated_batches,
    evaluation_of,
    result_schema,
)
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import warn_of_doubt
from idealrank.io.table_columns import Columns
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
    """Evaluate a run on Dask, with the bits of `idealrank.evaluate`; a `distributed.Client` in use
    is where the work is done.

    Parameters
    ----------
    qrels, run : dask.dataframe.DataFrame, or whatever `idealrank.evaluate` takes
        Rows in any order and any partitions; at least one of both is a Dask dataframe. Other tables
        are read here.
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
        A measure or convention is unknown, or the convention depends on the order of rows, and
        `order` is missing.
    MissingExtraError
        Dask is not installed.

    Examples
    --------
    With a client of Dask::

        evaluate_dask(dd.read_parquet("qrels"), dd.read_parquet("run"), ["nDCG@10", "RR"]).mean()
    """
    frames: Any = load_extra("dask.dataframe", "evaluate_dask", "dask")
    plan = PartitionPlan.of(measures, convention, name, max_documents)
    judged = EngineTable.qrels(qrels, qrels_columns)
    tables = [EngineTable.run(run, run_columns)]
    judgments = None
    if broadcast:
        judgments = _sorted(_rows(frames, judged, plan.convention, order).compute())
    else:
        tables.append(judged)
    delayed: Any = import_module("dask").delayed
    shuffled = _shuffled(frames, tables, plan.convention, order=order, partitions=partitions)
    sent = [delayed(plan), delayed(judgments)]  # once, and not with every call
    results = _computed([delayed(_evaluated)(rows, *sent) for rows in shuffled])
    evaluation = evaluation_of(import_module("pyarrow").concat_tables(results), plan, judgments)
    warn_of_doubt(evaluation)
    return evaluation


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
    """Compare two runs on Dask by sums of partitions; parameters and result as of
    `idealrank.engines.spark.compare_spark`.
    """
    frames: Any = load_extra("dask.dataframe", "compare_dask", "dask")
    plan = ComparisonPlan.of(
        measures=measures,
        convention=convention,
        names=names,
        max_documents=max_documents,
        n_draws=n_draws,
        seed=seed,
    )
    tables = EngineTable.compared(qrels, (run_a, run_b), qrels_columns, run_columns)
    delayed: Any = import_module("dask").delayed
    shuffled = _shuffled(frames, tables, plan.plan.convention, order=order, partitions=partitions)
    sent = delayed(plan)
    sums: list[ComparisonSums] = _computed([delayed(_compared)(rows, sent) for rows in shuffled])
    return reduce(ComparisonSums.merge, sums)


def _shuffled(
    frames: Any,
    tables: list[EngineTable],
    convention: Convention,
    *,
    order: str | None,
    partitions: int | None,
) -> list[Any]:
    """Bring the rows of each query together; return the rows of each partition, not computed."""
    if not any(isinstance(table.table, frames.DataFrame) for table in tables):
        raise InputError(
            "found no Dask dataframe, expected one as qrels or run; idealrank.evaluate takes other "
            "tables"
        )
    rows = frames.concat([_rows(frames, table, convention, order) for table in tables])
    shuffled = rows.shuffle("query", npartitions=partitions or rows.npartitions)
    return list(shuffled.to_delayed())


def _computed(calls: list[Any]) -> list[Any]:
    results: tuple[Any, ...] = import_module("dask").compute(*calls)
    return list(results)


def _sorted(rows: Any) -> Any:
    """Rows of a pandas dataframe as an Arrow table, ids as bytes, sorted by query."""
    pyarrow = import_module("pyarrow")
    table = pyarrow.Table.from_pandas(rows, preserve_index=False)
    for name in ("query", "document"):
        column = table.schema.get_field_index(name)
        table = table.set_column(column, name, table.column(name).cast(pyarrow.binary()))
    return table.sort_by([("query", "ascending"), ("position", "ascending")])


def _evaluated(rows: Any, plan: PartitionPlan, judgments: Any) -> Any:
    batches = evaluated_batches(_sorted(rows).to_batches(), plan, judgments)
    return import_module("pyarrow").Table.from_batches(batches, result_schema())


def _compared(rows: Any, plan: ComparisonPlan) -> ComparisonSums:
    return compare_rows(_sorted(rows), plan)


def _rows(frames: Any, source: EngineTable, convention: Convention, order: str | None) -> Any:
    """Columns `ROWS` and position of a table, ids as text."""
    if not isinstance(source.table, frames.DataFrame):
        return frames.from_pandas(local_frame(source), npartitions=1)
    types = [(str(column), str(dtype)) for column, dtype in source.table.dtypes.items()]
    chosen, order_column = source.chosen(types, pandas_content, convention, order)
    options: tuple[Any, ...] = (source.kind, source.number, chosen, order_column)
    frame = source.table.rename(columns=str)
    return frame.map_partitions(pandas_rows, *options, meta=pandas_rows(frame._meta, *options))
