"""Results in Weights & Biases: numbers, configuration, a table and an artefact of a run."""

import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from idealrank._lazy import load_extra
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.trackers.content import Content, Result, content_of

_MOST_ROWS = 10_000  # that a table of W&B shows; the artefact has all


def log_to_wandb(
    result: Result,
    *,
    evaluations: Sequence[Evaluation] = (),
    page: str | None = None,
    run: Any = None,
    step: int | None = None,
    prefix: str = "",
) -> None:
    """Log an evaluation, a comparison or a gate to Weights & Biases.

    Numbers and names match `log_to_mlflow`. The configuration holds the convention with every
    switch under ``idealrank``; the summary holds the name of the run, the verdict and the texts of
    the measures by name. The per-query table is logged as a W&B table (first 10,000 rows), and as
    CSV (and Parquet, if pyarrow is installed) in an artefact of type ``idealrank``, together with
    the report and the JSON result. Logging works offline as well.

    Parameters
    ----------
    result : Evaluation, Comparison or Gated
        Evaluation, comparison or gate to log.
    evaluations : sequence of Evaluation, optional
        Evaluations behind a comparison or a gate, for the per-query table and the report.
    page : str, optional
        A page from `report`, with rankings and texts; an empty text for none. Default: a page of
        the values alone, if the extra ``report`` is installed.
    run : wandb.Run, optional
        W&B run; default the active run.
    step : int, optional
        Training step, for a model that is evaluated repeatedly.
    prefix : str
        Prefix of every name, such as ``test/``, to log several results in one run.

    Raises
    ------
    MissingExtraError
        W&B is not installed.
    OptionError
        No W&B run is active, or the result has another type.

    Examples
    --------
    In a training script::

        import idealrank as ir, wandb

        with wandb.init(project="search"):
            ir.log_to_wandb(ir.evaluate(qrels, run, ["nDCG@10", "AP"]))

    It takes results, not numbers:

    >>> log_to_wandb(0.42)
    Traceback (most recent call last):
    ...
    idealrank.errors.OptionError: found a result of type float, expected an Evaluation, a Comparison or a Gated
    """  # noqa: E501
    content = content_of(result, evaluations, page)
    wandb = load_extra("wandb", "logging to Weights & Biases", "wandb")
    tracked = wandb.run if run is None else run
    if tracked is None:
        raise OptionError(
            "log_to_wandb: found no active run of Weights & Biases; expected a call within `with "
            "wandb.init(...):`, or run="
        )
    logged: dict[str, Any] = {prefix + name: value for name, value in content.metrics.items()}
    if content.columns:
        logged[f"{prefix}per_query"] = _table(wandb, content)
    if "report.html" in content.files:
        logged[f"{prefix}report"] = wandb.Html(str(content.files["report.html"]), inject=False)
    tracked.config.update({f"{prefix}idealrank": dict(content.settings)}, allow_val_change=True)
    tracked.log(logged, step=step)
    words = {f"{prefix}idealrank_{name}": value for name, value in content.words.items()}
    tracked.summary.update(words)
    _log_files(wandb, tracked, content, prefix)


def _table(wandb: Any, content: Content) -> Any:
    rows = zip(*content.columns.values(), strict=True)
    return wandb.Table(
        columns=list(content.columns), data=[list(row) for row in islice(rows, _MOST_ROWS)]
    )


def _log_files(wandb: Any, tracked: Any, content: Content, prefix: str) -> None:
    dashed = prefix.strip("/").replace("/", "-")
    name = "-".join(filter(None, ["idealrank", dashed, str(tracked.id)]))
    artefact = wandb.Artifact(name, type="idealrank")
    with tempfile.TemporaryDirectory() as folder:
        for file, text in content.files.items():
            path = Path(folder, file)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            # copied now: the folder goes before it is sent
            artefact.add_file(str(path), name=file, policy="mutable")
        tracked.log_artifact(artefact)
