"""Results in MLflow: metrics, parameters, tags and files of a run."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from idealrank._lazy import is_installed, load_extra
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.integrations.content import Content, Result, content_of

_BATCH = 1000  # metrics; MLflow takes so many at once
_OWN = "idealrank."  # begins parameters and tags, so that they stand together and apart from those of the model


def log_to_mlflow(
    result: Result,
    *,
    evaluations: Sequence[Evaluation] = (),
    page: str | None = None,
    run_id: str | None = None,
    step: int | None = None,
    prefix: str = "",
) -> None:
    """Log an evaluation, a comparison or a gate to MLflow.

    Metrics are means with their intervals, ``nDCG_at_10``, ``nDCG_at_10_low`` and ``nDCG_at_10_high``, what they cover,
    ``coverage_unjudged_share`` and others, and differences, ``nDCG_at_10_difference``; see `metric_names` for the names. What is
    infinite or has no value is no metric. Parameters are the convention with every switch, tags the name of the run, the verdict and, as
    ``idealrank.measures``, the texts of the measures by their names. Files, under ``idealrank/``, are the report, the result as JSON, the
    per-query table as CSV and, where pyarrow is installed, as Parquet, and where pandas is, as a table of MLflow.

    Parameters
    ----------
    result : Evaluation, Comparison or Gated
        What to log.
    evaluations : sequence of Evaluation, optional
        Those behind a comparison or a gate, for the per-query table and the report.
    page : str, optional
        A report that `report` made with rankings and texts, or an empty one for none; default one of the values alone, where the extra
        ``report`` is installed.
    run_id : str, optional
        Of the MLflow run; default the one that is active.
    step : int, optional
        Of the training, where a model is evaluated again and again. Files of each step have a folder of their own.
    prefix : str
        Begins every name, as ``test/``; for several results in one run.

    Raises
    ------
    MissingExtraError
        MLflow is not installed.
    OptionError
        No MLflow run is active, or the result is of another kind.

    Examples
    --------
    In a training script::

        import idealrank as ir, mlflow

        with mlflow.start_run():
            ir.log_to_mlflow(ir.evaluate(qrels, run, ["nDCG@10", "AP"]))

    It takes results, not numbers:

    >>> log_to_mlflow(0.42)
    Traceback (most recent call last):
    ...
    idealrank.errors.OptionError: found a result of type float, expected an Evaluation, a Comparison or a Gated
    """
    content = content_of(result, evaluations, page)
    client, tracked = _client(run_id)
    _log_values(client, tracked, content, step, prefix)
    folder = "/".join(filter(None, ["idealrank", prefix.strip("/"), "" if step is None else f"step-{step}"]))
    with tempfile.TemporaryDirectory() as made:
        for name, text in content.files.items():
            Path(made, name).write_bytes(text if isinstance(text, bytes) else text.encode())
        client.log_artifacts(tracked, made, folder)
    if content.columns and is_installed("pandas"):
        client.log_table(tracked, {name: list(column) for name, column in content.columns.items()}, f"{folder}/per_query_table.json")


def _client(run_id: str | None) -> tuple[Any, str]:
    mlflow = load_extra("mlflow", "logging to MLflow", "mlflow", package="mlflow-skinny")
    if run_id is None:
        active = mlflow.active_run()
        if active is None:
            raise OptionError("log_to_mlflow: found no active run of MLflow; expected `with mlflow.start_run():` around it, or run_id=")
        run_id = str(active.info.run_id)
    return mlflow.MlflowClient(), run_id


def _log_values(client: Any, tracked: str, content: Content, step: int | None, prefix: str) -> None:
    from mlflow.entities import Metric, Param, RunTag  # noqa: PLC0415  (an extra)

    now = time.time_ns() // 1_000_000
    metrics = [Metric(prefix + name, value, now, step or 0) for name, value in content.metrics.items()]
    settings = [Param(prefix + _OWN + name, value) for name, value in content.settings.items()]
    words = [RunTag(prefix + _OWN + name, value) for name, value in content.words.items()]
    client.log_batch(tracked, params=settings, tags=words)
    for top in range(0, len(metrics), _BATCH):
        client.log_batch(tracked, metrics=metrics[top : top + _BATCH])
