"""Write the tables of names in docs/reference from docstrings: ``python docs/reference_tables.py
[--check]``.

A page of the reference is directives that only a build of the site fills. Between ``<!-- names
-->`` and ``<!-- end of names -->`` stands what a reader without a build needs: each name of the
page with its first sentence, each command, each convention. The row of a new measure may wait for
the release. The tables of the keys of configurations are made from their JSON Schema.
"""

import argparse
import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from idealrank._keys import schema_of
from idealrank.cli.main import COMMANDS
from idealrank.conventions.presets import PRESETS
from idealrank.io.gate_files.gate_policies import PolicyFile
from idealrank.live.backends import backend_schema
from idealrank.live.canary.monitor_config import MonitorConfig
from idealrank.live.judges.callers import judge_schema
from idealrank.live.judges.judge_configuration import JudgeConfig
from idealrank.live.search_configuration import SearchConfig
from idealrank.measures.facts import families
from idealrank.training.configuration import TrainingConfig
from idealrank.training.neural_configuration import NetworkSection, loss_schema

FOLDER = Path(__file__).resolve().parent / "reference"
CHANGELOG = FOLDER.parents[1] / "CHANGELOG.md"
MARKED = re.compile(r"(<!-- names -->\n).*?(<!-- end of names -->)", re.DOTALL)
MEASURES = re.compile(r"^```\{measures\} *([\w ]*)\n```$", re.MULTILINE)
ENTRY = re.compile(
    r"^\.\. (auto(?:function|class|data|exception)|currentmodule|automodule):: (\S+)$", re.MULTILINE
)


def first_sentence(value: Any) -> str:
    """The summary of a docstring, as Markdown in a cell."""
    line = " ".join((value.__doc__ or "").strip().partition("\n\n")[0].split())
    return re.sub(r"``(.+?)``", r"`\1`", line).replace("|", "\\|")


def resolved(name: str) -> Any:
    """What a dotted name stands for."""
    module, rest = name, []
    while True:
        try:
            value: Any = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
    for part in rest:
        value = getattr(value, part)
    return value


def with_entries(page: str) -> str:
    """A page with an entry for each measure of the families that its fences `{measures}` name."""
    listed = families()

    def entries(found: re.Match[str]) -> str:
        return "\n".join(
            [
                "```{eval-rst}",
                *(
                    f".. autoclass:: {cls.__name__}"
                    for name in found[1].split()
                    for cls in listed[name]
                ),
                "```",
            ]
        )

    return MEASURES.sub(entries, page)


def names_of(page: str) -> Iterator[tuple[str, str]]:
    """Each name that a page documents, with its first sentence."""
    home = "idealrank"
    for kind, name in ENTRY.findall(with_entries(page)):
        if kind == "currentmodule":
            home = name
        elif kind == "automodule":
            module = importlib.import_module(name)
            for own in getattr(
                module,
                "__all__",
                [word for word in vars(module) if word.endswith(("Error", "Warning"))],
            ):
                value = getattr(module, own)
                if callable(value) and getattr(value, "__module__", "").startswith(name):
                    yield own, first_sentence(value)
        else:
            value = resolved(name if name.startswith("idealrank.") else f"{home}.{name}")
            yield name.rpartition(".")[2], first_sentence(value)


def table(title: str, rows: Iterator[tuple[str, ...]]) -> str:
    """Rows as Markdown; the first column is code."""
    columns = title.split(" | ")
    return "\n".join(
        [
            f"| {title} |",
            "|---" * len(columns) + "|",
            *(f"| {' | '.join([f'`{row[0]}`', *row[1:]])} |" for row in rows),
        ]
    )


def marked(page: str, text: str) -> str:
    """A page with this table of names."""
    return MARKED.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)


def with_names(page: str) -> str:
    """A page with a row for each name that it documents."""
    return marked(page, table("name | summary", names_of(page))) if MARKED.search(page) else page


Schema = dict[str, Any]
KEYS = re.compile(r"(<!-- keys of ([\w -]+) -->\n).*?(<!-- end of keys -->)", re.DOTALL)
TYPES = {"string": "text", "boolean": "true or false", "object": "section", "array": "list"}


def _items(key: str) -> Schema:
    items: Schema = MonitorConfig.schema()["properties"][key]["items"]
    return items


SECTIONS: dict[str, Callable[[], Schema]] = {
    "search": SearchConfig.schema,
    "backends": backend_schema,
    "monitor": MonitorConfig.schema,
    "alarms": lambda: _items("alarms"),
    "channels": lambda: _items("notify"),
    "judge run": JudgeConfig.schema,
    "judges": judge_schema,
    "train": TrainingConfig.schema,
    "networks": lambda: schema_of(NetworkSection),
    "losses": loss_schema,
    "gate": lambda: schema_of(PolicyFile),
}


def with_keys(page: str) -> str:
    """A page with the table of today in each of its places for keys."""
    return KEYS.sub(
        lambda found: f"{found[1]}\n{_tables(SECTIONS[found[2]]())}\n\n{found[3]}", page
    )


def _tables(schema: Schema) -> str:
    kinds = [rule["then"] for rule in schema.get("allOf", ()) if "then" in rule]
    if "kind" in schema.get("properties", {}):
        return "\n\n".join(f"**`{_constant(kind, 'kind')}`**\n\n{_table(kind)}" for kind in kinds)
    if "oneOf" in schema and "properties" not in schema:
        losses = schema["oneOf"]
        return "\n\n".join(f"**`{_constant(loss, 'loss')}`**\n\n{_table(loss)}" for loss in losses)
    return _table(schema)


def _constant(schema: Schema, key: str) -> str:
    value = schema["properties"][key]
    return str(value["const"] if "const" in value else value["enum"][0])  # else it may be null


def _table(schema: Schema) -> str:
    rows = [f"| `{name}` | {value} |" for name, value in _rows(schema, "")]
    return "\n".join(["| key | value |", "|---|---|", *rows])


def _rows(schema: Schema, place: str) -> Iterator[tuple[str, str]]:
    needed = [*schema.get("required", ())]
    for rule in schema.get("allOf", ()):  # keys that a sweep may have in place of the section
        needed += rule.get("anyOf", [{}])[0].get("required", ())
    for name, value in schema["properties"].items():
        if name == "sweep" or "const" in value or value.get("enum", [])[1:] == [None]:
            continue  # a key with a single value, or null
        yield place + name, _cell(value, is_needed=name in needed)
        for part in (value, *value.get("anyOf", ())):
            if "properties" in part:
                yield from _rows(part, f"{place}{name}.")


def _cell(schema: Schema, *, is_needed: bool) -> str:
    about = schema.get("description", "").removesuffix(".").replace("|", "\\|")
    sentences = [f"{about}." if about and not about.endswith("...") else about]
    words = _words(schema)
    sentences.append(f"{words[0].upper()}{words[1:]}." if words else "")
    if "default" in schema:
        default = schema["default"]
        shown = default if isinstance(default, str) else json.dumps(default).removesuffix(".0")
        sentences.append(f"Default: `{shown}`.")
    sentences.append("Required." if is_needed else "")
    return " ".join(filter(None, sentences))


def _words(schema: Schema) -> str:
    """Values of a key, in words; null, which every key that may be missing takes, is left out."""
    if "enum" in schema:
        words = [word for word in schema["enum"] if word is not None]
        return "one of " + ", ".join(f"`{word}`" for word in words)
    if "anyOf" in schema:
        parts = [part for part in schema["anyOf"] if part.get("type") != "null"]
        listed = [_words(part) for part in parts if "const" not in part]
        return " or ".join(dict.fromkeys(listed))
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0]
    if kind in ("integer", "number"):
        noun = "whole number" if kind == "integer" else "number"
        return f"{noun}{_range(schema)}"
    if kind == "array" and "items" in schema:
        return "list of several values"
    if kind is None:
        return "section" if "$ref" in schema or "allOf" in schema else "any value"
    return TYPES[kind]


def _range(schema: Schema) -> str:
    least, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    most, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    start = f" above {above:g}" if above is not None else ""
    start = f" from {least:g}" if least is not None else start
    end = f" to below {below:,g}" if below is not None else ""
    return start + (f" to {most:,g}" if most is not None else end)


def written(path: Path) -> str:
    """A page with its table of today."""
    page = path.read_text(encoding="utf-8")
    if path.name == "commands.md":
        return marked(page, table("command | purpose", iter(COMMANDS.items())))
    if path.name == "conventions.md":
        return marked(
            page,
            table(
                "convention | proof | reproduces",
                ((name, one.proof, one.reproduces) for name, one in PRESETS.items()),
            ),
        )
    return with_keys(page) if path.name == "configuration.md" else with_names(page)


def waiting_rows() -> tuple[str, ...]:
    """Openings of the rows of measures that the changelog has under "Unreleased"."""
    unreleased = (
        CHANGELOG.read_text(encoding="utf-8")
        .partition("\n## [Unreleased]")[2]
        .partition("\n## ")[0]
    )
    names = [cls.__name__ for classes in families().values() for cls in classes]
    return tuple(f"| `{name}` |" for name in names if f"`{name}`" in unreleased)


def is_current(page: str, today: str, waiting: tuple[str, ...]) -> bool:
    """True if a page is as it would be written today, perhaps without the rows that wait for the
    release.
    """
    lines = page.splitlines()
    return lines == [
        line for line in today.splitlines() if line in lines or not line.startswith(waiting)
    ]


def main() -> None:
    """Write the pages, or say which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a page is out of date")
    pages = {
        path: (path.read_text(encoding="utf-8"), written(path))
        for path in sorted(FOLDER.glob("*.md"))
    }
    if not parser.parse_args().check:
        for path, (page, today) in pages.items():
            if page != today:
                path.write_text(today, encoding="utf-8")
        return
    stale = [
        path.name
        for path, (page, today) in pages.items()
        if not is_current(page, today, waiting_rows())
    ]
    if stale:
        sys.exit(f"{', '.join(stale)}: out of date; run: python docs/reference_tables.py")


if __name__ == "__main__":
    main()
