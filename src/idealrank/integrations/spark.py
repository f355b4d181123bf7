"""Evaluation on Apache Spark: rows of a query come together by one shuffle, and the kernel evaluates them as Arrow batches."""

from collections.abc import Iterable, Iterator
from typing import Any

from idealrank._lazy import load_extra
from idealrank.api.partitions import KINDS, ROWS, PartitionPlan, evaluated_batches, evaluation_of, local_rows
from idealrank.conventions import Convention
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.notes import Notes
from idealrank.io.row_parts import Table
from idealrank.io.table_columns import Columns, choose_columns
from idealrank.measures.parse import MeasureLike

__all__ = ["evaluate_spark", "per_query_spark"]

_RESULT = "query binary, values array<double>, scored array<boolean>, counts string"
_WHOLE = ("bigint", "decimal")
_NUMBERS = ("tinyint", "smallint", "int", "float", "double", "boolean", *_WHOLE)
_IDS = ("string", "binary", "tinyint", "smallint", "int", "bigint")


def evaluate_spark(
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
    session: Any = None,
) -> Evaluation:
    """Evaluate a run on a Spark cluster, with the bits of `idealrank.evaluate`.

    Every worker needs idealrank. The values of all queries come back to the driver: 8 bytes a query and measure. `per_query_spark` leaves
    them on the cluster.

    Parameters
    ----------
    qrels, run : pyspark.sql.DataFrame, or whatever `idealrank.evaluate` takes
        Rows in any order and any partitions; other tables are read on the driver.
    measures, convention, max_documents
        As for `idealrank.evaluate`.
    name : str
        Name of the system.
    qrels_columns, run_columns : mapping or sequence, optional
        Names of the columns, as in `read_qrels` and `read_run`; guessed by default.
    partitions : int, optional
        Number of partitions after the shuffle; default: Spark's own. All rows of a query must fit into a worker's memory.
    session : pyspark.sql.SparkSession, optional
        Needed where neither table is a Spark dataframe.

    Returns
    -------
    Evaluation
        As from `idealrank.evaluate`; queries are sorted by id.

    Raises
    ------
    InputError
        A row cannot be used, or a column is missing.
    OptionError
        A measure or convention is unknown, or the convention depends on the order of rows (``ties=input``, ``duplicates=first`` or
        ``last``), which a Spark dataframe does not have.
    MissingExtraError
        pyspark is not installed.

    Examples
    --------
    With a session of Spark::

        evaluate_spark(spark.read.parquet("qrels"), spark.read.parquet("run"), ["nDCG@10", "RR"]).mean()
    """
    plan = PartitionPlan.of(measures, convention, name, max_documents)
    found = _evaluated(qrels, run, plan, {"qrels": qrels_columns, "run": run_columns}, partitions, session)
    return evaluation_of(found.toArrow(), plan)


def per_query_spark(
    qrels: Any,
    run: Any,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    convention: "Convention | str" = "standard",
    *,
    qrels_columns: Columns = None,
    run_columns: Columns = None,
    max_documents: int | None = None,
    partitions: int | None = None,
    session: Any = None,
) -> Any:
    """Evaluate a run and leave the values on the cluster, for example to write them as Parquet.

    Parameters
    ----------
    qrels, run, measures, convention, qrels_columns, run_columns, max_documents, partitions, session
        As for `evaluate_spark`.

    Returns
    -------
    pyspark.sql.DataFrame
        A row per query: its id, and a column of doubles per measure, null where the query does not count. An input that cannot be used
        raises when the frame is computed.

    Examples
    --------
    With a session of Spark::

        per_query_spark(qrels, run, ["nDCG@10"]).write.parquet("values")
    """
    functions: Any = load_extra("pyspark.sql.functions", "evaluate_spark", "spark", "pyspark")
    plan = PartitionPlan.of(measures, convention, max_documents=max_documents)
    found = _evaluated(qrels, run, plan, {"qrels": qrels_columns, "run": run_columns}, partitions, session)
    refused = functions.get_json_object("counts", "$.error")
    checked = found.withColumn("query", functions.when(refused.isNotNull(), functions.raise_error(refused)).otherwise(found["query"]))
    values = [
        functions.when(functions.col("scored")[place], functions.col("values")[place]).alias(str(measure))
        for place, measure in enumerate(plan.measures)
    ]
    return checked.where("query is not null").select(functions.col("query").cast("string"), *values)


def _evaluated(qrels: Any, run: Any, plan: PartitionPlan, columns: dict[Table, Columns], partitions: int | None, session: Any) -> Any:
    """The rows of `evaluated_batches`, of all partitions."""
    frame: Any = load_extra("pyspark.sql", "evaluate_spark", "spark", "pyspark").DataFrame
    load_extra("pyarrow", "evaluate_spark", "spark")
    session = session or next((table.sparkSession for table in (qrels, run) if isinstance(table, frame)), None)
    if session is None:
        raise InputError("found no Spark dataframe, expected one as qrels or run, or session=; idealrank.evaluate takes other tables")
    order = ["position"] if plan.needs_order else []
    tables: dict[Table, Any] = {"qrels": qrels, "run": run}
    rows = []
    for kind, table in tables.items():
        if isinstance(table, frame):
            _refuse_order(plan)
            rows.append(_rows(table, kind, columns[kind]))
        else:
            rows.append(session.createDataFrame(local_rows(table, kind)).select(*ROWS, *order))
    together = rows[0].unionByName(rows[1])
    shuffled = together.repartition("query") if partitions is None else together.repartition(partitions, "query")

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        return evaluated_batches(batches, plan)

    return shuffled.sortWithinPartitions("query", *order).mapInArrow(work, _RESULT)


def _refuse_order(plan: PartitionPlan) -> None:
    if plan.needs_order:
        alignment = plan.convention.alignment
        raise OptionError(
            f"found ties={alignment.ties}, duplicates={alignment.duplicates}, which depend on the order of rows; "
            "a Spark dataframe has none, so expected ties=docid or expected, and duplicates=error or best"
        )


def _rows(frame: Any, kind: Table, columns: Columns) -> Any:
    """Columns `ROWS` of a dataframe, ids as bytes."""
    functions: Any = load_extra("pyspark.sql.functions", "evaluate_spark", "spark", "pyspark")
    chosen = choose_columns(frame.columns, kind, columns, kind, Notes(None))
    types = {name: text.partition("(")[0] for name, text in frame.dtypes}
    for name in (chosen.query, chosen.document):
        if types[name] not in _IDS:
            raise InputError(f"{kind}: found column {name!r} of type {types[name]}, expected ids, which are text or whole numbers")
    if chosen.value and types[chosen.value] not in _NUMBERS:
        raise InputError(f"{kind}: found column {chosen.value!r} of type {types[chosen.value]}, expected numbers")

    def column(name: str) -> Any:
        return functions.col("`" + name.replace("`", "``") + "`")

    value = column(chosen.value).cast("double") if chosen.value else functions.lit(1.0)
    if types.get(chosen.value) in _WHOLE:
        given = column(chosen.value)
        lost = functions.concat(functions.lit(f"{kind}: found "), given.cast("string"), functions.lit(", a number that float64 changes"))
        changed = value.cast(dict(frame.dtypes)[chosen.value]) != given
        value = functions.when(changed, functions.raise_error(lost)).otherwise(value)
    value = 0.0 - value if chosen.by_rank else value
    ids = {"query": column(chosen.query), "document": column(chosen.document)}
    cells = [
        (cell if types[cell_name] == "binary" else cell.cast("string").cast("binary")).alias(name)
        for (name, cell), cell_name in zip(ids.items(), (chosen.query, chosen.document), strict=True)
    ]
    return frame.select(*cells, value.alias("value"), functions.lit(KINDS[kind]).cast("tinyint").alias("kind"))
