"""`--engine spark`: the cluster reads Parquet and TREC text, this process other files; values and
output equal the local engine's.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from idealrank._lazy import load_extra
from idealrank.cli.input_options import Inputs, notes
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.engines.partitions import PartitionPlan, needs_order
from idealrank.errors import IdealrankError, InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure

_SETTINGS = {
    "spark.ui.enabled": "false",
    # the query 007 of a folder query=007 is not the number 7
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
_PARQUET = (".parquet", ".pq")
# words in errors of workers that do not see a file of this machine
_UNSEEN = ("FileNotFoundException", "does not exist", "PATH_NOT_FOUND")


def on_spark(
    inputs: Inputs,
    judgments: Qrels,
    path: str,
    *,
    qrels: str,
    name: str,
    measures: Sequence[Measure],
    convention: Convention,
) -> Evaluation:
    """Evaluate a run on the Spark cluster of the configuration (``spark.master``; without one, on
    all cores of this machine).

    Queries come in the order of the judgments, as from the local engine.
    """
    from idealrank.engines.spark import evaluate_plan  # noqa: PLC0415  (pyspark, for those who ask)

    builder: Any = load_extra(
        "pyspark.sql", "--engine spark", "spark", "pyspark"
    ).SparkSession.builder
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    context = session.sparkContext
    context.setLogLevel("OFF")
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        # workers of this machine; Spark would take any `python3`
        context.pythonExec = sys.executable

    plan = PartitionPlan.of(measures, convention, name)

    def evaluation_of(run: Any, columns: Any = None) -> Evaluation:
        return evaluate_plan(
            judgments, run, plan, run_columns=columns, session=session, broadcast=True
        )

    kind = "local" if needs_order(convention) else _kind(path, inputs)
    try:
        if kind == "local":
            evaluation = evaluation_of(inputs.open_run(path, name, qrels))
        else:
            rows = _opened(session, path, kind)
            columns = inputs.columns_of("run") if kind == "parquet" else None
            evaluation = evaluation_of(rows, columns)
    except Exception as error:
        is_unseen = any(text in str(error) for text in _UNSEEN)
        if kind == "local" or isinstance(error, IdealrankError) or not is_unseen:
            raise
        if "://" in path or not Path(path).is_file():
            raise _unreadable(path, error) from None
        notes().inform(f"{path}: the workers do not see this file; this machine reads it")
        evaluation = evaluation_of(inputs.open_run(path, name, qrels))
    place_of = {query: place for place, query in enumerate(judgments.queries)}
    ordered = sorted(evaluation.queries, key=lambda query: place_of.get(query, len(place_of)))
    return replace(evaluation.on(ordered), path=path)


def _opened(session: Any, path: str, kind: str) -> Any:
    """Open the rows of a run, which Spark reads later; Spark, Hadoop and Java raise errors of their
    own.
    """
    from idealrank.engines.spark import read_trec_spark  # noqa: PLC0415  (pyspark, for those who ask)

    try:
        return session.read.parquet(path) if kind == "parquet" else read_trec_spark(session, path)
    except IdealrankError:
        raise
    except Exception as error:
        if any(text in str(error) for text in _UNSEEN):
            raise
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> InputError:
    # an error of Java comes after the frames of Python, and its first line is the message
    _, _, java = str(error).partition("\n: ")
    reason, _, _ = (java or str(error)).partition(" SQLSTATE")
    reason, _, _ = reason.partition("\n")
    return InputError(f"{path}: Spark cannot read it ({reason}), expected a run")


def _kind(path: str, inputs: Inputs) -> str:
    """Reader of a run: "parquet" or "trec" on the cluster, "local" in this process."""
    format_ = inputs.format_of("run")
    if format_ in ("parquet", "trec"):
        return str(format_)
    if format_ != "auto" or path == "-":
        return "local"
    if path.endswith(_PARQUET) or Path(path).is_dir():
        return "parquet"
    if "://" in path:
        is_text = Path(path).suffix in (".run", ".txt", ".trec", ".gz", ".bz2")
        return "trec" if is_text else "parquet"
    # Spark does not unpack every format that this process does
    is_readable = not path.endswith((".zst", ".xz", ".zip"))
    return "trec" if inputs.detected(path) == "trec" and is_readable else "local"
