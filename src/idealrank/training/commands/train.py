"""`idealrank train`: a ranker from a configuration, with the number that training watches and
`evaluate` reports.
"""

from functools import partial
from shlex import quote
from types import ModuleType
from typing import Any

import click

from idealrank._sections import Section
from idealrank.cli import console, headings, options, output
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.io.configuration_files import read_configuration, require_files
from idealrank.io.formats.feature_rows import is_parquet
from idealrank.training.configuration import TrainingConfig

_EPILOG = """\
Examples:

\b
  idealrank train ranker.yaml
  idealrank train ranker.yaml -o models/today
  idealrank train ranker.yaml --check

A configuration for LightGBM, whose own parameters stand under params unchanged:

\b
  data:
    train: rank.train          # LETOR or SVMlight with qid:, or with rank.train.query; or Parquet
    valid: rank.valid          # or valid_share: 0.2
    test: rank.test            # or test_share: 0.2
  model:
    library: lightgbm          # or xgboost, catboost, torch
    rounds: 500
    params:
      objective: lambdarank
      lambdarank_truncation_level: 13
      eval_at: [1, 3, 5, 10, 20]
      num_leaves: 31
      learning_rate: 0.05
  evaluation:
    early_stopping: {rounds: 50, measure: nDCG@10}
    test_store: runs/store     # optional: a second training on this test set needs `again: reason`
  seed: 1
  output: models/ranker

A neural ranker; `loss` is any loss of idealrank.training.torch, with its options:

\b
  model:
    library: torch             # a multi-layer perceptron
    rounds: 60                 # epochs
    params: {hidden: [64, 32], dropout: 0.1, normalisation: layer, learning_rate: 0.001}
  objective: {loss: ApproxNDCGLoss, cutoff: 10, temperature: 0.1}

If labels are clicks, data.propensity or data.position names a column of Parquet, or a file with one
number a line.

A section `objective:` with gain, discount, cutoff or measure trains for that measure instead of the
library's own objective.
"""


def _views() -> ModuleType:
    from idealrank.training.views import tables  # noqa: PLC0415  (NumPy; not for the help)

    return tables


_FORMATS = Formats(
    "Means with intervals to read;",
    views=_views,
    table="training_parts",
    json="training_json",
)


@headings.command(
    epilog=_EPILOG, short_help="Train a ranker, and evaluate it on queries that it has not seen."
)
@click.argument("config")
@click.option(
    "-o",
    "--output",
    "output_folder",
    metavar="DIR",
    help="Folder of the results, instead of `output` of the configuration.",
)
@click.option("--check", is_flag=True, help="Only check the configuration and the data.")
@options.schema(TrainingConfig.schema)
@_FORMATS.option
def train(*, config: str, output_folder: str | None, check: bool, layout: str) -> None:
    """Train a ranker from CONFIG (YAML, TOML or JSON), and evaluate it on queries that it has not
    seen.

    The measure of every round is the one that `idealrank evaluate` reports afterwards. The folder
    has the model, the configuration with every default, predictions as runs, an evaluation with
    intervals, values per query, and learning curves.
    """
    from idealrank.training import training_checks, training_folder  # noqa: PLC0415  (help needs none of it)

    mapping = read_configuration(config, "train")
    if output_folder is not None and isinstance(mapping, dict):
        mapping["output"] = output_folder
    chosen = TrainingConfig.of(mapping, config)
    columns = ("data.propensity", "data.position") if is_parquet(chosen.data.train) else ()
    require_files(TrainingConfig, Section(mapping, config, ""), but=columns)
    watch = Watch()
    training_folder.require_folder(chosen)
    parts = watch.run(
        "data", lambda _: training_folder.read_parts(chosen, partial(console.say, "note"))
    )
    problems = watch.run("checks", lambda _: training_checks.check_parts(chosen, parts))
    if check:
        sizes = ", ".join(
            f"{name} {len(rows.queries)} queries and {rows.labels.size} rows"
            for name, rows in parts.items()
        )
        lines = [f"{config}: {sizes}", *(f"{problem.severity}: {problem}" for problem in problems)]
        output.write((f"{line}\n" for line in lines), None)
        return

    def trained(count: Any) -> Any:
        def tell(done: int, total: int, note: str) -> None:
            count.note = note
            count(done, total)

        return list(training_folder.train(chosen, parts, tell))

    systems = watch.count("training", trained)
    report = {
        "convention": chosen.evaluation.convention,
        "systems": [_record(system) for system in systems],
        "warnings": [*map(str, problems), *_cautions(systems)],
        "again": _again(chosen, systems[0]),
    }
    _FORMATS.write(layout, None, report)


def _record(system: Any) -> dict[str, Any]:
    part, _ = system.final
    return {
        "seed": system.seed,
        "rounds": system.rounds,
        "part": part,
        "measures": system.record(),
        "folder": str(system.files[0].parent),
        "files": [path.name for path in system.files],
    }


def _cautions(systems: list[Any]) -> list[str]:
    """Cautions about the scores; with the seed if there are several models."""
    cautions: list[str] = []
    for system in systems:
        seed = f"seed {system.seed}, " if len(systems) > 1 else ""
        cautions += [f"{seed}{caution}" for caution in system.cautions]
    return cautions


def _again(config: TrainingConfig, system: Any) -> str:
    """The command that evaluates the predictions of a whole file."""
    part, _ = system.final
    judgments = {"test": config.data.test, "valid": config.data.valid}.get(part)
    if judgments is None or judgments.endswith(".parquet"):
        return ""
    run = next(str(path) for path in system.files if path.name == f"{part}.run")
    measures = " ".join(f"-m {quote(text)}" for text in config.evaluation.measures)
    return (
        f"idealrank evaluate {quote(judgments)} {quote(run)} {measures} --convention "
        f"{quote(config.evaluation.convention)}"
    )
