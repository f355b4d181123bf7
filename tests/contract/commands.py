"""The command line as data: commands, options, the keys of their JSON, and the pytest plug-in; see
`containment`.
"""

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from idealrank import pytest_plugin
from idealrank.cli.main import cli
from idealrank.conventions import SWITCHES
from tests import in_process
from tests.contract.snapshot import parameters

FILE = Path(__file__).with_name("commands.json")
DATA = Path(__file__).resolve().parents[1] / "cli" / "data"
STORE = "STORE"  # stands for a folder of its own

# Each prints one JSON document, on the files of the command line's own tests.
JSON_COMMANDS = (
    "evaluate qrels.txt bm25.run neural.run --per-query --intervals --format json",
    "evaluate qrels.txt bm25.run neural.run --candidates 100 --chance --format json",
    "compare qrels.txt bm25.run neural.run --margin 0.1 --slices slices.csv --format json",
    "gate qrels.txt neural.run --baseline bm25.run --format json",
    "robust qrels.txt bm25.run neural.run --format json",
    "why qrels.txt bm25.run neural.run --format json",
    "seeds qrels.txt old-seed1.run old-seed2.run vs new-seed1.run new-seed2.run --format json",
    "overlap bm25.run neural.run --format json",
    "overlap bm25.run neural.run new-seed1.run --format json",
    "explain qrels.txt bm25.run --query q1 --format json",
    "reconcile qrels.txt bm25.run --value 0.5 --format json",
    "conventions lightgbm --format json",
    "measures nDCG --format json",
    "measures advise qrels.txt bm25.run --format json",
    "measures choose qrels.txt bm25.run neural.run new-seed1.run --format json",
    f"evaluate qrels.txt bm25.run --store {STORE} --format json",
    f"evaluate qrels.txt neural.run --store {STORE} --format json",
    f"history --store {STORE} --format json",
    f"store show ID --store {STORE} --format json",
    f"store diff ID OTHER --store {STORE} --format json",
    f"store gc --store {STORE} --format json",
)


def commands(group: click.Group = cli, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command and group by its full name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")


def options(command: click.Command) -> dict[str, Any]:
    """Arguments and options: every spelling, what it takes, and what holds without it."""
    found = {}
    for parameter in command.params:
        kind = parameter.type.to_info_dict()
        takes = kind.get("choices") or kind["name"]
        default = parameter.to_info_dict()["default"]
        facts = {
            "takes": list(takes) if isinstance(takes, (list, tuple)) else takes,
            "nargs": parameter.nargs,
            "default": str(default),
        }
        flags = [
            flag
            for flag in ("required", "multiple", "is_flag", "hidden")
            if getattr(parameter, flag, False)
        ]
        found[" ".join([*parameter.opts, *parameter.secondary_opts])] = {**facts, "is": flags}
    return found


def keys(value: Any, path: str = "") -> set[str]:
    """Paths to the keys of a JSON document; names that are data, as those of runs and queries, are
    `*`.
    """
    if isinstance(value, dict):
        return set().union(
            {path} if path else set(),
            *(keys(one, f"{path}.{_key(name)}") for name, one in value.items()),
        )
    if isinstance(value, list):
        return set().union({f"{path}[]"}, *(keys(one, f"{path}[]") for one in value))
    return {path}


def with_all_switches(paths: set[str]) -> set[str]:
    """The paths, with `.*` for every object that has all switches of a convention: one with a
    switch less keeps their names.
    """
    for holder in {path.rpartition(".")[0] for path in paths}:
        switches = {f"{holder}.{switch}" for switch in SWITCHES}
        if switches <= paths:
            paths = paths - switches | {f"{holder}.*"}
    return paths


def _key(name: str) -> str:
    """A key, or `*` for one that stands for a run, query, measure, document or slice of the
    example.
    """
    fixed = (
        name.isidentifier() and name == name.lower() and not any(mark.isdigit() for mark in name)
    )
    return name if fixed and name not in {"old", "new", "neural", "bm25"} else "*"


def json_keys() -> dict[str, list[str]]:
    """By command: the keys of what it prints."""
    found: dict[str, list[str]] = {}
    ids: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for text in JSON_COMMANDS:
            given = {
                STORE: str(Path(folder) / "store"),
                **dict(zip(("ID", "OTHER"), ids, strict=False)),
            }
            code, out, err = in_process.run([given.get(word, word) for word in _words(text)])
            assert code in (0, 1, 3), (text, code, err)
            document = json.loads(out)
            found[text] = sorted(with_all_switches(keys(document)))
            if text.startswith("history"):
                ids = re.findall(r'"id": "([0-9a-f]+)"', out)
    return found


def _words(text: str) -> list[str]:
    """Words of a command; names of files of the tests become their paths."""
    words = []
    for word in text.split():
        head, equals, tail = word.rpartition("=")
        files = [str(DATA / one) if (DATA / one).is_file() else one for one in tail.split(",")]
        words.append(head + equals + ",".join(files))
    return words


def plugin() -> dict[str, Any]:
    """What a test sees of the pytest plug-in."""
    public = sorted(
        name
        for name, value in vars(pytest_plugin).items()
        if getattr(value, "__module__", "") == pytest_plugin.__name__
    )
    return {
        "module": pytest_plugin.__name__,
        "names": [name for name in public if not name.startswith("_")],
        "ranking_gate": parameters(pytest_plugin.RankingGate.__call__),
    }


def snapshot() -> dict[str, Any]:
    """Everything that scripts depend on."""
    return {
        "commands": {name: options(command) for name, command in commands()},
        "json": json_keys(),
        "pytest_plugin": plugin(),
    }
