"""Write the tables of docs/reference from the library: ``python docs/reference_tables.py
[--check]``.

A reader without a build of the site needs each name with its first sentence, each command with its
help, each measure in one line, each convention with its switches, and the BibTeX entry. The row of
a new measure may wait for the release. The tables of the keys of configurations are made from their
JSON Schema.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs.command_pages import help_pages  # noqa: E402  (the path above comes first)
from docs.reference_entries import Entry, entries_of, with_sources  # noqa: E402
from idealrank._keys import schema_of  # noqa: E402
from idealrank.cli.main import COMMANDS  # noqa: E402
from idealrank.conventions import Convention  # noqa: E402
from idealrank.conventions.presets import PRESETS  # noqa: E402
from idealrank.conventions.switches import phrase  # noqa: E402
from idealrank.io.gate_files.gate_policies import PolicyFile  # noqa: E402
from idealrank.live.backends import backend_schema  # noqa: E402
from idealrank.live.canary.monitor_config import MonitorConfig  # noqa: E402
from idealrank.live.judges.callers import judge_schema  # noqa: E402
from idealrank.live.judges.judge_configuration import JudgeConfig  # noqa: E402
from idealrank.live.search_configuration import SearchConfig  # noqa: E402
from idealrank.measures.facts import facts_of, families  # noqa: E402
from idealrank.training.configuration import TrainingConfig  # noqa: E402
from idealrank.training.neural_configuration import NetworkSection, loss_schema  # noqa: E402

FOLDER = ROOT / "docs" / "reference"
CHANGELOG = ROOT / "CHANGELOG.md"
CITATION = ROOT / "CITATION.cff"
MARKED = re.compile(r"(<!-- names -->\n).*?(<!-- end of names -->)", re.DOTALL)


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


def measure_index(page_of_families: str, link: Callable[[Entry], str]) -> str:
    """Every measure by its name: how it is written, in one line, and its family."""
    headings = dict(_headings(page_of_families))
    lines = []
    for entry in sorted(entries_of(page_of_families), key=lambda entry: entry.word.lower()):
        if entry.is_measure:
            facts = facts_of(entry.value)
            heading = headings[facts.family]
            anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            family = f"[{heading}](measures.md#{anchor})"
            lines.append(
                f"| [`{facts.text}`]({link(entry)}) | {_cell_text(facts.summary)} | {family} |"
            )
    return "\n".join(["| measure | value | family |", "|---|---|---|", *lines])


def _headings(page: str) -> Iterator[tuple[str, str]]:
    """The heading above each family."""
    heading = ""
    for line in page.splitlines():
        heading = line.removeprefix("## ") if line.startswith("## ") else heading
        listed = re.match(r"<!-- measures ([\w ]+) -->$", line)
        if listed:
            yield from ((family, heading) for family in listed[1].split())


def _cell_text(text: str) -> str:
    """A text as Markdown in a cell: bars would end it, and docstrings write code with two
    backticks.
    """
    return re.sub(r"``(.+?)``", r"`\1`", text).replace("|", "\\|")


def switch_tables() -> str:
    """Every switch of `standard`, and of every other convention those that differ."""
    usual = Convention.of("standard").switches()
    parts = []
    for name, convention in PRESETS.items():
        own = {
            switch: value
            for switch, value in convention.switches().items()
            if name == "standard" or value != usual[switch]
        }
        rows = [
            f"| `{switch}` | `{value}` | {_cell_text(phrase(switch, value))} |"
            for switch, value in own.items()
        ]
        parts += [f"### {name}", "", f"{convention.tool} (proof: {convention.proof}).", ""]
        if rows:
            parts += ["| switch | value | meaning |", "|---|---|---|", *rows, ""]
        else:
            parts += ["Every switch is as in `standard`.", ""]
        if convention.unstable_from:
            parts += [
                f"Not reproduced: equal scores in lists of {convention.unstable_from} or more "
                "documents. The tool's sort is unstable, and puts them in an order of its own.",
                "",
            ]
    return "\n".join(parts).rstrip("\n")


def switch_matrix() -> str:
    """The switches on which conventions differ most, one row for each convention."""
    switches = ("gain", "discount", "ideal", "no_relevant", "missing", "ties", "negative")
    rows = []
    for name, convention in PRESETS.items():
        values = convention.switches()
        cells = " | ".join(f"`{values[switch]}`" for switch in switches)
        rows.append(f"| [`{name}`](#{name.replace('.', '')}) | {cells} |")
    return "\n".join([f"| convention | {' | '.join(switches)} |", "|---" * 8 + "|", *rows])


def bibtex(citation: str) -> str:
    """An entry for LaTeX from the fields of CITATION.cff."""
    fields = dict(re.findall(r"^(\w[\w-]*): +(.+)$", citation, re.MULTILINE))
    title = fields["title"].strip('"').replace("idealrank", "{idealrank}", 1)
    return "\n".join(
        [
            "```bibtex",
            "@software{idealrank,",
            f"  title = {{{title}}},",
            "  author = {{idealrank maintainers}},",
            f"  version = {{{fields['version']}}},",
            "  license = {Apache-2.0},",
            "}",
            "```",
        ]
    )


def marked_as(page: str, mark: str, text: str) -> str:
    """A page with this text between ``<!-- mark -->`` and ``<!-- end of mark -->``."""
    place = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end of {mark} -->)", re.DOTALL)
    if not place.search(page):
        raise SystemExit(f"a page lacks <!-- {mark} -->")
    return place.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)


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
    about = re.sub(r"\$(?:\w+|\{\w+\})", r"`\g<0>`", about)  # a dollar would begin a formula
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
    """A page with its tables of today."""
    page = path.read_text(encoding="utf-8")
    rewrite = _REWRITTEN.get(path.name, with_sources)
    return rewrite(page)


def _commands(page: str) -> str:
    rows = [f"| [`{name}`](commands/{name}.md) | {purpose} |" for name, purpose in COMMANDS.items()]
    return marked(page, "\n".join(["| command | purpose |", "|---|---|", *rows]))


def _conventions(page: str) -> str:
    rows = ((name, one.proof, one.reproduces) for name, one in PRESETS.items())
    page = marked(page, table("convention | proof | reproduces", rows))
    page = marked_as(page, "matrix", switch_matrix())
    return with_sources(marked_as(page, "switches", switch_tables()))


def _measures_table(page: str) -> str:
    families_page = (FOLDER / "measures.md").read_text(encoding="utf-8")
    return marked_as(page, "index", measure_index(families_page, lambda entry: entry.source))


_REWRITTEN: dict[str, Callable[[str], str]] = {
    "cite.md": lambda page: marked_as(page, "bibtex", bibtex(CITATION.read_text(encoding="utf-8"))),
    "commands.md": _commands,
    "configuration.md": with_keys,
    "conventions.md": _conventions,
    "measures-table.md": _measures_table,
}


def waiting_rows() -> tuple[str, ...]:
    """Openings of the rows of measures that the changelog has under "Unreleased"."""
    unreleased = (
        CHANGELOG.read_text(encoding="utf-8")
        .partition("\n## [Unreleased]")[2]
        .partition("\n## ")[0]
    )
    facts = [facts_of(cls) for classes in families().values() for cls in classes]
    new = [one for one in facts if f"`{one.class_name}`" in unreleased]
    return tuple(f"| [`{name}`](" for one in new for name in (one.class_name, one.text))


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
    for path, today in help_pages():
        pages[path] = (path.read_text(encoding="utf-8") if path.exists() else "", today)
    if not parser.parse_args().check:
        for path, (page, today) in pages.items():
            if page != today:
                path.parent.mkdir(exist_ok=True)
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
