"""Write the tables of names in docs/reference from docstrings: ``python docs/reference_tables.py
[--check]``.

A page of the reference is directives that only a build of the site fills. Between ``<!-- names
-->`` and ``<!-- end of names -->`` stands what a reader without a build needs: each name of the
page with its first sentence, each command, each convention. The row of a new measure may wait for
the release.
"""

import argparse
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from idealrank.cli.main import COMMANDS
from idealrank.conventions.presets import PRESETS
from idealrank.measures.facts import families

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
    return with_names(page)


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
