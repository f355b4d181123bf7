"""Features: a folder each, registered in one table, and named in no other text.

Each rule is a function of what there is, so that a planted violation shows that it can fail. That
features import each other nowhere is a contract of import-linter, in pyproject.toml.
"""

import ast
import tomllib
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

import click
import pytest

from idealrank._features import FEATURES, RUNS_CODE_OF_USERS, Feature, command_homes, offered
from tests.contract.commands import commands
from tests.sources import library, module, nodes

ROOT = Path(__file__).resolve().parents[1]
Modules = Mapping[str, str]

# The core, from the ground up, the storey that all features share, and the fronts above them.
CORE = {
    "analysis",
    "bounds",
    "cli",
    "conventions",
    "data",
    "evaluation",
    "inputs",
    "io",
    "measures",
    "reports",
    "stats",
}
SHARED, FRONTS = {"pages"}, {"integrations", "testing"}
EXTRAS_OF_USERS = {"all", "ltr", "paper", "rag", "search-team"}  # made of the others
EXTRAS_OF_THE_CORE = EXTRAS_OF_USERS | {"arrow", "plots", "report", "testing", "zstd"}
TABLES = {"idealrank._features", "idealrank._lazy"}


def folders_unlisted(modules: Modules) -> list[str]:
    """Folders at the top that are neither the core nor a row of the table; and rows without a
    folder.
    """
    folders = {name.split(".")[1] for name in modules if name.count(".") > 1}
    return sorted(folders ^ (CORE | SHARED | FRONTS | set(FEATURES)))


def modules_in_texts(modules: Modules) -> list[str]:
    """Texts outside the two tables that name a module of another folder: no import rule sees them.

    `annotation` names what its branch for type checkers imports.
    """
    found = []
    for name, source in modules.items():
        if name in TABLES:
            continue
        annotated = {
            id(argument)
            for node in nodes(source)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "annotation"
            for argument in node.args
        }
        folder = ".".join(name.split(".")[:2])
        for node in nodes(source):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = node.value.partition(":")[0]
                is_module = named in modules and "." in named
                if is_module and not named.startswith(folder) and id(node) not in annotated:
                    found.append(f"{name}:{node.lineno} {node.value}")
    return found


def features_without_a_room(modules: Modules) -> list[str]:
    """Commands that are kept elsewhere than in `commands`, and modules of tables elsewhere than in
    `views`.
    """
    return [
        f"{folder}: {home}"
        for folder, feature in FEATURES.items()
        for home in feature.commands.values()
        if not home.startswith("commands.") or f"idealrank.{folder}.{home}" not in modules
    ]


def extras_unlisted(declared: set[str], features: Mapping[str, Feature]) -> list[str]:
    """Extras of pyproject.toml that belong neither to the core nor to one feature."""
    listed = [extra for feature in features.values() for extra in feature.extras]
    twice = {extra for extra in listed if listed.count(extra) > 1}
    return sorted((declared ^ (EXTRAS_OF_THE_CORE | set(listed))) | twice)


def _declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return set(project["optional-dependencies"])


RULES = [folders_unlisted, modules_in_texts, features_without_a_room]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_library_keeps_to_it(rule: Callable[[Modules], list[str]]) -> None:
    assert rule(library()) == []


def test_every_extra_has_its_place() -> None:
    assert extras_unlisted(_declared(), FEATURES) == []
    assert extras_unlisted({*_declared(), "fusion"}, FEATURES) == ["fusion"]
    twice = {**FEATURES, "new": Feature({}, extras=("web",))}
    assert extras_unlisted(_declared(), twice) == ["web"]


@pytest.mark.parametrize(
    ("rule", "planted"),
    [
        (folders_unlisted, {**library(), "idealrank.fusion.methods": ""}),
        (folders_unlisted, {"idealrank.data.run": ""}),
        (
            modules_in_texts,
            {**library(), "idealrank.io.new": 'VIEW = "idealrank.clicks.views.online:parts"'},
        ),
        (modules_in_texts, {**library(), "idealrank.io.new": 'import_module("idealrank.store")'}),
        (features_without_a_room, {}),
    ],
)
def test_a_planted_violation_is_found(
    rule: Callable[[Modules], list[str]], planted: Modules
) -> None:
    assert rule(planted)


@pytest.mark.parametrize(
    "words", [words for feature in FEATURES.values() for words in feature.offers]
)
def test_what_a_feature_offers_is_there_and_asked_for(words: str) -> None:
    assert offered(words) is not None
    asked = {
        node.args[0].value
        for source in library().values()
        for node in nodes(source)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "offered"
        and isinstance(node.args[0], ast.Constant)
    }
    assert words in asked


def test_every_command_of_a_feature_is_found_in_its_folder() -> None:
    found = dict(commands())
    for folder, feature in FEATURES.items():
        for name in feature.commands:
            command = getattr(found[name], "own_command", found[name])
            assert isinstance(command, click.Command)
            assert command.callback is not None
            assert command.callback.__module__.startswith(f"idealrank.{folder}.commands.")


def test_the_module_that_runs_code_of_users_is_there() -> None:
    assert import_module(RUNS_CODE_OF_USERS).__name__ == RUNS_CODE_OF_USERS


def test_commands_of_groups_are_told_apart_from_those_at_the_top() -> None:
    assert {"run", "ui"} == set(command_homes("judge"))
    assert {"recall"} == set(command_homes("search"))
    assert not {"run", "ui", "judge run"} & set(command_homes())


def test_a_package_of_features_has_a_docstring() -> None:
    bare = [
        folder
        for folder in FEATURES
        if ast.get_docstring(module(library()[f"idealrank.{folder}"])) is None
    ]
    assert bare == []
