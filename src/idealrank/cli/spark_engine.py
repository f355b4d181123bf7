"""`--engine spark`: Parquet is read by the cluster, other files by this process; values and output do not differ from the local engine."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from idealrank._lazy import load_extra
from idealrank.api.partitions import needs_order
from idealrank.cli.input_options import Inputs
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # the query 007 of a folder query=007 is no number
}


def on_spark(
    inputs: Inputs, judgments: Qrels, path: str, *, qrels: str, name: str, measures: Sequence[Measure], convention: Convention
) -> Evaluation:
    """Evaluate a run on the Spark cluster of the configuration (``spark.master``; without one, on all cores of this machine).

    Queries come in the order of the judgments, as from the local engine.
    """
    from idealrank.integrations.spark import evaluate_spark  # noqa: PLC0415  (pyspark, for those who ask)

    builder: Any = load_extra("pyspark.sql", "--engine spark", "spark", "pyspark").SparkSession.builder
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    by_spark = _is_parquet(path, inputs) and not needs_order(convention)
    run = session.read.parquet(path) if by_spark else inputs.open_run(path, name, qrels)
    columns = inputs.columns_of("run") if by_spark else None
    found = evaluate_spark(judgments, run, measures, convention, name=name, run_columns=columns, session=session)
    place = {query: at for at, query in enumerate(judgments.queries)}
    return replace(found.on(sorted(found.queries, key=lambda query: place.get(query, len(place)))), path=path)


def _is_parquet(path: str, inputs: Inputs) -> bool:
    asked = inputs.format_of("run")
    return asked == "parquet" or (asked == "auto" and (path.endswith((".parquet", ".pq")) or Path(path).is_dir() or "://" in path))
