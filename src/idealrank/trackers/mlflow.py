"""Results in MLflow: metrics, parameters, tags and files of a run."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from idealrank._lazy import is_installed, load_extra
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.trackers.content import Content, Result, content_of

_BATCH = 1000  # metrics; MLflow takes so many at once
# Prefix of parameters and tags: it keeps them together, and apart from the parameters of the model
_NAMESPACE = "idealrank."


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

    Metrics: means with intervals (``nDCG_at_10``, ``nDCG_at_10_low``, ``nDCG_at_10_high``),
    coverage (``coverage_unjudged_share`` and others), and differences (``nDCG_at_10_difference``);
    `metric_names` defines the names. Infinite and undefined values are not logged. Parameters: the
    convention with every switch. Tags: the name of the run, the verdict and, as
    ``idealrank.measures``, the texts of the measures by name. Files, under ``idealrank/``: the
    report, the result as JSON, and the per-query table as CSV, as Parquet if pyarrow is installed,
    and as an MLflow table if pandas is installed.

    Parameters
    ----------
    result : Evaluation, Comparison or Gated
        Evaluation, comparison or gate to log.
    evaluations : sequence of Evaluation, optional
        Evaluations behind a comparison or a gate, for the per-query table and the report.
    page : str, optional
        A page from `report`, with rankings and texts; an empty text for none. Default: a page of
        the values alone, if the extra ``report`` is installed.
    run_id : str, optional
        Id of the MLflow run; default the active run.
    step : int, optional
        Training step, for a model that is evaluated repeatedly. Each step has its own folder of
        files.
    prefix : str
        Prefix of every name, such as ``test/``, to log several results in one run.

    Raises
    ------
    MissingExtraError
        MLflow is not installed.
    OptionError
        No MLflow run is active, or the result has another type.

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
    """  # noqa: E501
    content = content_of(result, evaluations, page)
    client, tracked = _client(run_id)
    _log_values(client, tracked, content, step, prefix)
    step_folder = "" if step is None else f"step-{step}"
    artifact_folder = "/".join(filter(None, ["idealrank", prefix.strip("/"), step_folder]))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in content.files.items():
            Path(folder, name).write_bytes(text if isinstance(text, bytes) else text.encode())
        client.log_artifacts(tracked, folder, artifact_folder)
    if content.columns and is_installed("pandas"):
        table = {name: list(column) for name, column in content.columns.items()}
        client.log_table(tracked, table, f"{artifact_folder}/per_query_table.json")


def _client(run_id: str | None) -> tuple[Any, str]:
    mlflow = load_extra("mlflow", "logging to MLflow", "mlflow", package="mlflow-skinny")
    if run_id is None:
        active = mlflow.active_run()
        if active is None:
            raise OptionError(
                "log_to_mlflow: found no active run of MLflow; expected a call within `with "
                "mlflow.start_run():`, or run_id="
            )
        run_id = str(active.info.run_id)
    return mlflow.MlflowClient(), run_id


def _log_values(client: Any, tracked: str, content: Content, step: int | None, prefix: str) -> None:
    from mlflow.entities import Metric, Param, RunTag  # noqa: PLC0415  (an extra)

    milliseconds = time.time_ns() // 1_000_000
    metrics = [
        Metric(prefix + name, value, milliseconds, step or 0)
        for name, value in content.metrics.items()
    ]
    settings = [
        Param(prefix + _NAMESPACE + name, value) for name, value in content.settings.items()
    ]
    words = [RunTag(prefix + _NAMESPACE + name, value) for name, value in content.words.items()]
    client.log_batch(tracked, params=settings, tags=words)
    for first in range(0, len(metrics), _BATCH):
        client.log_batch(tracked, metrics=metrics[first : first + _BATCH])
