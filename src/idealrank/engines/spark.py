"""Evaluation on Apache Spark: rows of a query come together by one shuffle, and the kernel
evaluates them as Arrow batches.
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

from idealrank._lazy import load_extra
from idealrank.analysis.comparison.partition_sums import ComparisonSums
from idealrank.conventions import Convention
from idealrank.engines.engine_tables import Content, EngineTable
from idealrank.engines.partition_comparison import (
    ComparisonPlan,
    added_batches,
    compared_batches,
    comparison_of,
)
from idealrank.engines.partitions import (
    KINDS,
    PROBLEM,
    REFUSED,
    ROWS,
    PartitionPlan,
    evaluated_batches,
    evaluation_of,
    local_rows,
    needs_order,
    parsed_lines,
)
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import warn_of_doubt
from idealrank.io.row_parts import Table
from idealrank.io.table_columns import Columns
from idealrank.measures.parse import MeasureLike

__all__ = ["compare_spark", "evaluate_spark", "per_query_spark", "read_trec_spark"]

# schemas of the rows that workers return: of an evaluation, and of a comparison
_RESULT = "query binary, values array<double>, scored array<boolean>, counts string"
_SUMS = "numbers string, draws binary"
_ADDERS = 32  # partitions that add the sums of others: so many come back to the driver at most
_CONTENT: dict[str, Content] = {
    **dict.fromkeys(("string", "binary", "varchar", "char"), "text"),
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "whole"),
    **dict.fromkeys(("float", "double", "boolean", "decimal"), "number"),
}
"""Kind of values by the name of a type of Spark."""


def evaluate_spark(
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
    session: Any = None,
) -> Evaluation:
    """Evaluate a run on a Spark cluster, with the bits of `idealrank.evaluate`.

    Every worker needs idealrank. The values of all queries come back to the driver: 8 bytes a query
    and measure. `per_query_spark` leaves them on the cluster.

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
    order : str, optional
        Column that numbers the rows, for conventions that depend on their order (``ties=input``,
        ``duplicates=first`` or ``last``): a Spark dataframe has no order of its own.
    partitions : int, optional
        Number of partitions after the shuffle; default: Spark's own. All rows of a query must fit
        into a worker's memory.
    broadcast : bool
        Send all judgments to every worker, instead of shuffling them: faster where they are few,
        and needs their memory on the driver.
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
        A measure or convention is unknown, or the convention depends on the order of rows, and
        `order` is missing.
    MissingExtraError
        pyspark is not installed.

    Examples
    --------
    With a session of Spark::

        evaluate_spark(
            spark.read.parquet("qrels"), spark.read.parquet("run"), ["nDCG@10", "RR"]
        ).mean()
    """
    plan = PartitionPlan.of(measures, convention, name, max_documents)
    columns = {"qrels_columns": qrels_columns, "run_columns": run_columns}
    evaluation = evaluate_plan(
        qrels,
        run,
        plan,
        **columns,
        order=order,
        partitions=partitions,
        broadcast=broadcast,
        session=session,
    )
    warn_of_doubt(evaluation)
    return evaluation


def evaluate_plan(
    qrels: Any,
    run: Any,
    plan: PartitionPlan,
    *,
    qrels_columns: Columns = None,
    run_columns: Columns = None,
    order: str | None = None,
    partitions: int | None = None,
    broadcast: bool = False,
    session: Any = None,
) -> Evaluation:
    """Evaluate as `evaluate_spark`, without the warning of a run that does not fit the
    judgments.
    """
    tables = _Tables(plan.convention, order, partitions, _session((qrels, run), session))
    results = [tables.rows(EngineTable.run(run, run_columns))]
    judged = EngineTable.qrels(qrels, qrels_columns)
    if not broadcast:
        mapped = _mapped(
            tables,
            [tables.rows(judged), *results],
            lambda batches: evaluated_batches(batches, plan),
        )
        return evaluation_of(_arrow(mapped), plan)
    judgments = tables.collected(judged)
    sent = tables.session.sparkContext.broadcast(judgments)
    try:
        mapped = _mapped(
            tables, results, lambda batches: evaluated_batches(batches, plan, sent.value)
        )
        return evaluation_of(_arrow(mapped), plan, judgments)
    finally:
        sent.unpersist()


def per_query_spark(
    qrels: Any,
    run: Any,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    convention: "Convention | str" = "standard",
    *,
    qrels_columns: Columns = None,
    run_columns: Columns = None,
    order: str | None = None,
    max_documents: int | None = None,
    partitions: int | None = None,
    session: Any = None,
) -> Any:
    """Evaluate a run and leave the values on the cluster, for example to write them as Parquet.

    Parameters
    ----------
    qrels, run, measures, convention, qrels_columns, run_columns, order
        As for `evaluate_spark`.
    max_documents, partitions, session
        As for `evaluate_spark`.

    Returns
    -------
    pyspark.sql.DataFrame
        A row per query: its id, and a column of doubles per measure, null where the query does not
        count. An input that cannot be used raises when the frame is computed.

    Examples
    --------
    With a session of Spark::

        per_query_spark(qrels, run, ["nDCG@10"]).write.parquet("values")
    """
    functions = _functions()
    plan = PartitionPlan.of(measures, convention, max_documents=max_documents)
    tables = _Tables(plan.convention, order, partitions, _session((qrels, run), session))
    rows = [
        tables.rows(EngineTable.qrels(qrels, qrels_columns)),
        tables.rows(EngineTable.run(run, run_columns)),
    ]
    mapped = _mapped(tables, rows, lambda batches: evaluated_batches(batches, plan))
    refused = functions.get_json_object("counts", "$.error")
    query = functions.when(refused.isNotNull(), functions.raise_error(refused))
    checked = mapped.withColumn("query", query.otherwise(mapped["query"]))
    values = []
    for column, measure in enumerate(plan.measures):
        value = functions.when(functions.col("scored")[column], functions.col("values")[column])
        values.append(value.alias(str(measure)))
    return checked.where("query is not null").select(functions.col("query").cast("string"), *values)


def compare_spark(
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
    session: Any = None,
) -> ComparisonSums:
    """Compare two runs on a Spark cluster by sums of partitions: values by query neither come back
    nor come together.

    Parameters
    ----------
    qrels, measures, convention, qrels_columns, run_columns, order
        As for `evaluate_spark`.
    max_documents, partitions, session
        As for `evaluate_spark`.
    run_a, run_b : pyspark.sql.DataFrame, or whatever `idealrank.evaluate` takes
        The runs; differences are b - a. Their columns have the same names.
    names : tuple of str
        Names of both systems.
    n_draws, seed
        As for `stats.DifferenceSums.of`.

    Returns
    -------
    ComparisonSums
        Differences by ``differences()``; `idealrank.gate_sums` decides from them.

    Raises
    ------
    InputError, OptionError, MissingExtraError
        As for `evaluate_spark`.

    Examples
    --------
    With a session of Spark::

        sums = compare_spark(
            qrels, spark.read.parquet("bm25"), spark.read.parquet("neural"), ["nDCG@10"]
        )
        sums.differences()[0].p, idealrank.gate_sums(sums, tolerance=0.01).passed
    """
    plan = ComparisonPlan.of(
        measures=measures,
        convention=convention,
        names=names,
        max_documents=max_documents,
        n_draws=n_draws,
        seed=seed,
    )
    tables = _Tables(
        plan.plan.convention, order, partitions, _session((qrels, run_a, run_b), session)
    )
    rows = [
        tables.rows(table)
        for table in EngineTable.compared(qrels, (run_a, run_b), qrels_columns, run_columns)
    ]
    sums = _mapped(tables, rows, lambda batches: compared_batches(batches, plan), _SUMS)
    added = sums.repartition(_ADDERS).mapInArrow(
        lambda batches: added_batches(batches, plan), _SUMS
    )
    return comparison_of(_arrow(added), plan)


def read_trec_spark(session: Any, path: "str | list[str]", kind: Table = "run") -> Any:
    """Read TREC text on the workers, by the kernel.

    Rows have no order, so that conventions which depend on it take such a run from
    `idealrank.read_run`.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        Session of the cluster.
    path : str or list of str
        Files or folders that every worker sees, plain or as Spark decompresses them.
    kind : {"run", "qrels"}
        What the lines are.

    Returns
    -------
    pyspark.sql.DataFrame
        Columns query, document, and score or grade, for `evaluate_spark`. A line that cannot be
        used is an error of the evaluation.

    Examples
    --------
    With a session of Spark::

        evaluate_spark(
            read_trec_spark(spark, "qrels.txt", "qrels"),
            read_trec_spark(spark, "hdfs:///runs/bm25.run"),
            "nDCG@10",
        )
    """
    path_text = path if isinstance(path, str) else ", ".join(path)
    lines = session.read.text(path, lineSep="\n")
    value = "grade" if kind == "qrels" else "score"
    schema = f"query binary, document binary, {value} double, {PROBLEM} string"
    return lines.select(lines["value"].cast("binary")).mapInArrow(
        lambda batches: parsed_lines(batches, kind, path_text), schema
    )


def _functions() -> Any:
    return load_extra("pyspark.sql.functions", "evaluation on Spark", "spark", "pyspark")


def _frame() -> Any:
    return load_extra("pyspark.sql", "evaluate_spark", "spark", "pyspark").DataFrame


def _session(tables: Iterable[Any], session: Any) -> Any:
    frame = _frame()
    load_extra("pyarrow", "evaluate_spark", "spark")
    session = session or next(
        (table.sparkSession for table in tables if isinstance(table, frame)), None
    )
    if session is None:
        raise InputError(
            "found no Spark dataframe, expected one as qrels or run, or session=; "
            "idealrank.evaluate takes other tables"
        )
    return session


def _arrow(frame: Any) -> Any:
    """Compute a dataframe, as an Arrow table on the driver; a message of `raise_error` becomes an
    error of the input.
    """
    errors = load_extra("pyspark.errors", "evaluate_spark", "spark", "pyspark")
    try:
        return frame.toArrow()
    except errors.PySparkException as error:
        _, is_ours, raised = str(error).partition("[USER_RAISED_EXCEPTION] ")
        if not is_ours:
            raise
        message, _, _ = raised.partition(" SQLSTATE")
        raise InputError(message) from None


class _Tables:
    """Tables as rows of one kind of dataframe."""

    def __init__(
        self, convention: Convention, order: str | None, partitions: int | None, session: Any
    ) -> None:
        self.convention = convention
        self.session = session
        self.partitions = partitions
        self._order = order
        self.in_order = ["position"] if needs_order(convention) else []

    def rows(self, source: EngineTable) -> Any:
        """Columns `ROWS`, and the position where the convention needs it."""
        if isinstance(source.table, _frame()):
            return _rows(source, self.convention, self._order, with_position=bool(self.in_order))
        local = self.session.createDataFrame(local_rows(source.table, source.kind))
        rows = local.select(*ROWS, *self.in_order)
        if source.number == KINDS[source.kind]:
            return rows
        return rows.withColumn("kind", _functions().lit(source.number).cast("tinyint"))

    def collected(self, qrels: EngineTable) -> Any:
        """All judgments, on the driver."""
        if isinstance(qrels.table, _frame()):
            return _arrow(self.rows(qrels))
        return local_rows(qrels.table, "qrels")


def _mapped(tables: _Tables, frames: list[Any], work: Any, schema: str = _RESULT) -> Any:
    """Bring the rows of a query together, and run a function over the batches of each partition."""
    rows = reduce(lambda frame, other: frame.unionByName(other), frames)
    if tables.partitions is None:
        shuffled = rows.repartition("query")
    else:
        shuffled = rows.repartition(tables.partitions, "query")

    def on_worker(batches: Iterable[Any]) -> Iterator[Any]:
        yield from work(batches)

    return shuffled.sortWithinPartitions("query", *tables.in_order).mapInArrow(on_worker, schema)


def _rows(
    source: EngineTable, convention: Convention, order: str | None, *, with_position: bool
) -> Any:
    """Columns `ROWS` of a dataframe, ids as bytes."""
    functions = _functions()
    frame = source.table
    kind = source.kind
    columns = [(name, text.partition("(")[0]) for name, text in frame.dtypes if name != PROBLEM]
    types = dict(columns)
    chosen, order_column = source.chosen(
        columns, lambda name: _CONTENT.get(name, "other"), convention, order
    )

    def column(name: str) -> Any:
        return functions.col("`" + name.replace("`", "``") + "`")

    value = column(chosen.value).cast("double") if chosen.value else functions.lit(1.0)
    # float64 does not hold every number of these types: a changed one is an error of the row
    if types.get(chosen.value) in ("bigint", "decimal"):
        number = column(chosen.value)
        lost = functions.concat(
            functions.lit(f"{kind}: found "),
            number.cast("string"),
            functions.lit(", a number that float64 changes"),
        )
        changed = value.cast(dict(frame.dtypes)[chosen.value]) != number
        value = functions.when(changed, functions.raise_error(lost)).otherwise(value)
    if chosen.by_rank:
        value = (
            0.0 - value
        )  # -value would make rank 0 a negative zero, which is another bit pattern

    def id_column(name: str) -> Any:
        is_binary = types[name] == "binary"
        return column(name) if is_binary else column(name).cast("string").cast("binary")

    query = id_column(chosen.query)
    document = id_column(chosen.document)
    number_of_kind = functions.lit(source.number).cast("tinyint")
    if PROBLEM in frame.columns:
        problem = functions.col(PROBLEM)
        document = functions.coalesce(problem.cast("binary"), document)
        refused = functions.lit(REFUSED).cast("tinyint")
        number_of_kind = functions.when(problem.isNotNull(), refused).otherwise(number_of_kind)

    columns_of_rows = [
        query.alias("query"),
        document.alias("document"),
        value.alias("value"),
        number_of_kind.alias("kind"),
    ]
    if with_position:
        position = functions.lit(0)
        if order_column:
            missing = (
                f"{kind}: found a row without a value of order={order!r}, expected a whole number "
                "in every row"
            )
            position = functions.coalesce(
                column(order_column).cast("bigint"), functions.raise_error(missing)
            )
        columns_of_rows.append(position.cast("bigint").alias("position"))
    return frame.select(*columns_of_rows)
