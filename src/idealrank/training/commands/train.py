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

Given folds, as LETOR and MSLR have them, with several seeds; the test sets of all folds are pooled:

\b
  data:
    folds: MSLR-WEB10K/Fold*   # folders with train.txt, vali.txt and test.txt
  seeds: [1, 2, 3]

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
    from idealrank.training import pooled_folds, training_folder  # noqa: PLC0415  (help needs none of it)

    mapping = read_configuration(config, "train")
    if output_folder is not None and isinstance(mapping, dict):
        mapping["output"] = output_folder
    chosen = TrainingConfig.of(mapping, config)
    beside: tuple[str, ...] = ()
    if is_parquet(chosen.data.train):
        beside += ("data.propensity", "data.position")  # columns of the file
    if chosen.data.folds:
        beside += ("data.train", "data.valid", "data.test")  # names in the folder of each fold
    require_files(TrainingConfig, Section(mapping, config, ""), but=beside)
    watch = Watch()
    training_folder.require_folder(chosen)
    folds = pooled_folds.folds_of(chosen)
    tested: dict[str, str] = {}
    by_fold: dict[str, list[Any]] = {}
    warnings: list[str] = []
    # One fold after the other, so that only one is in memory.
    for name, fold in folds.items():
        parts, problems = _checked(name, fold, watch)
        if name:
            pooled_folds.refuse_shared_tests(tested, name, parts["test"])
        if check:
            _write_check(name or config, parts, problems)
            continue
        by_fold[name] = watch.count(f"training {name}".rstrip(), partial(_trained, fold, parts))
        where = f"{name}: " if name else ""
        warnings += [f"{where}{text}" for text in (*problems, *_cautions(by_fold[name]))]
    if check:
        return

    systems = [(name, system) for name, of_fold in by_fold.items() for system in of_fold]
    report: dict[str, Any] = {
        "convention": chosen.evaluation.convention,
        "systems": [_record(name, system) for name, system in systems],
        "warnings": warnings,
        "again": "" if len(folds) > 1 else _again(chosen, systems[0][1]),
    }
    pooled = pooled_folds.PooledSystems(by_fold=by_fold)
    if pooled.is_pooled:
        files = pooled_folds.write_pooled(chosen, pooled)
        report["pooled"] = {**pooled.record(), "folder": chosen.output, "files": files}
    _FORMATS.write(layout, None, report)


def _checked(name: str, config: TrainingConfig, watch: Watch) -> tuple[Any, list[Any]]:
    """Read the files of a fold, and check them; return warnings."""
    from idealrank.training import training_checks, training_folder  # noqa: PLC0415  (help needs none of it)

    tell = partial(console.say, "note")
    parts = watch.run(f"data {name}".rstrip(), lambda _: training_folder.read_parts(config, tell))
    problems = watch.run(
        f"checks {name}".rstrip(), lambda _: training_checks.check_parts(config, parts)
    )
    return parts, problems


def _write_check(name: str, parts: Any, problems: list[Any]) -> None:
    sizes = ", ".join(
        f"{part} {len(rows.queries)} queries and {rows.labels.size} rows"
        for part, rows in parts.items()
    )
    lines = [f"{name}: {sizes}", *(f"{problem.severity}: {problem}" for problem in problems)]
    output.write((f"{line}\n" for line in lines), None)


def _trained(config: TrainingConfig, parts: Any, count: Any) -> list[Any]:
    """Train the models of a fold, and count their rounds."""
    from idealrank.training import training_folder  # noqa: PLC0415  (help needs none of it)

    def tell(done: int, total: int, note: str) -> None:
        count.note = note
        count(done, total)

    return list(training_folder.train(config, parts, tell))


def _record(fold: str, system: Any) -> dict[str, Any]:
    part, _ = system.final
    return {
        **({"fold": fold} if fold else {}),
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
