"""The table of features: one folder each, with its commands and the functions that others use.

The core and the features know each other by this table, and by that of lazy names: a test holds
that no other text names a module of another folder. To add a feature, add its folder and its row;
ARCHITECTURE.md has the other places.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple


class Feature(NamedTuple):
    """A row of the table."""

    commands: Mapping[str, str] = {}  # Commands, with blanks as typed: the module, below the folder
    # Functions for other folders, by words: module below the folder, a colon, the name in it
    offers: Mapping[str, str] = {}
    extras: tuple[str, ...] = ()  # Extras of pyproject.toml that are for it alone


FEATURES: Mapping[str, Feature] = {
    "clicks": Feature(commands={"clicks": "commands.clicks", "online": "commands.online"}),
    "conversion": Feature(commands={"convert": "commands.convert"}),
    "engines": Feature(
        offers={"evaluate on Spark": "spark_engine:on_spark"}, extras=("spark", "dask")
    ),
    "judging": Feature(
        commands={"judge": "commands.judge"}, offers={"combine grades": "inputs:combined_grades"}
    ),
    "live": Feature(
        commands={
            "judge run": "commands.run_judge",
            "judge ui": "commands.ui",
            "monitor": "commands.monitor",
            "search": "commands.search",
            "search recall": "commands.recall",
        },
        offers={
            "monitoring of a store": "monitoring:Monitoring",
            "pages of a served store": "web.canary_pages:pages_of_canaries",
        },
        extras=(
            "duckdb",
            "faiss",
            "lancedb",
            "monitor",
            "otel",
            "postgres",
            "qdrant",
            "redis",
            "search",
            "sqlite-vec",
        ),
    ),
    "store": Feature(
        commands={name: f"commands.{name}" for name in ("history", "report", "serve", "store")},
        offers={
            "check a store": "commands.keeping:check",
            "keep results": "commands.keeping:keep",
            "keep an opened test set": "held_out:keep_opened",
            "refuse an opened test set": "held_out:require_unopened",
        },
        extras=("sql", "web"),
    ),
    "theory": Feature(
        commands={"theory": "commands.theory"}, offers={"feasibility": "feasible:feasibility"}
    ),
    "trackers": Feature(extras=("mlflow", "wandb")),
    "training": Feature(
        commands={"train": "commands.train"},
        extras=("catboost", "lightgbm", "sklearn", "torch", "train", "xgboost"),
    ),
}

# The module that loads functions of users.
RUNS_CODE_OF_USERS = "idealrank.live.backends.python_function"


def command_homes(group: str = "") -> dict[str, str]:
    """Modules of the features' commands, by name: of one group of commands, or at the top.

    Examples
    --------
    >>> command_homes()["train"]
    'idealrank.training.commands.train'
    """
    homes: dict[str, str] = {}
    for folder, feature in FEATURES.items():
        for command, module in feature.commands.items():
            group_of_command, _, name = command.rpartition(" ")
            if group_of_command == group:
                homes[name] = f"idealrank.{folder}.{module}"
    return homes


@cache
def offered(words: str) -> Any:
    """Load what a feature offers under these words, when it is first asked for.

    Examples
    --------
    >>> offered("feasibility").__module__
    'idealrank.theory.feasible'
    """
    # Unpacking fails unless exactly one feature offers it.
    [home] = [
        f"idealrank.{folder}.{feature.offers[words]}"
        for folder, feature in FEATURES.items()
        if words in feature.offers
    ]
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)
