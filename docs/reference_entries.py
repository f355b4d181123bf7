"""Entries of the reference: the names that its pages list, each with a page of its own on the site.

A page lists names in comments, which GitHub hides: ``<!-- entries`` holds directives of autodoc,
and ``<!-- measures FAMILY ... -->`` stands for the classes of families. The table below the comment
is made from docstrings. In a checkout its names link to the source, on the site to their pages.
"""

import importlib
import inspect
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from idealrank.measures.facts import families
from idealrank.measures.measure import Measure

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
PAGES = "api"  # folder of the pages that the site has for names
BLOCK = re.compile(
    r"(?P<opening><!-- (?:entries\n(?P<directives>.*?)|measures (?P<families>[\w ]+) )-->\n)"
    r".*?(?P<end><!-- end of entries -->)",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^\.\. (\w+):: (\S+)$((?:\n +\S.*)*)", re.MULTILINE)
_PACKAGES = ("clicks", "judging", "stats", "testing", "theory", "training")
_FOLDERS = {"autofunction": "functions", "autoexception": "errors"}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One name of the reference."""

    kind: str  # the directive of autodoc
    path: str  # the whole dotted name
    options: str  # lines of the directive below its first
    value: Any

    @property
    def word(self) -> str:
        """The name without its module."""
        return self.path.rpartition(".")[2]

    @property
    def title(self) -> str:
        """The name as a user calls it below `idealrank`; of other modules the name alone."""
        parts = self.path.split(".")
        if parts[1] in _PACKAGES and len(parts) == 3:
            return ".".join(parts[1:])
        if parts[1] == "integrations":
            return ".".join(parts[2:])
        return self.word

    @property
    def page(self) -> str:
        """Its page, below the folder of the reference."""
        folder = "measures" if self.is_measure else _FOLDERS.get(self.kind, "classes")
        return f"{PAGES}/{folder}/{self.title}"

    @property
    def is_measure(self) -> bool:
        """True for a class with facts."""
        return (
            isinstance(self.value, type)
            and issubclass(self.value, Measure)
            and bool(getattr(self.value, "summary", ""))
        )

    @property
    def source(self) -> str:
        """The file that defines it, from the folder of the reference."""
        defined = inspect.unwrap(self.value) if callable(self.value) else None
        module = inspect.getmodule(defined) or importlib.import_module(self.path.rpartition(".")[0])
        return Path(os.path.relpath(str(inspect.getsourcefile(module)), FOLDER)).as_posix()


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


def with_blocks(page: str, filled: Callable[[list[Entry]], str]) -> str:
    """A page with the text below each comment made from the entries that it lists."""
    home = "idealrank"
    parts = []
    end = 0
    for block in BLOCK.finditer(page):
        entries = []
        for kind, name, options in _directives(block):
            if kind == "currentmodule":
                home = name
            else:
                entries += list(_entries(kind, name, options, home))
        parts += [page[end : block.start()], block["opening"], filled(entries), block["end"]]
        end = block.end()
    return "".join([*parts, page[end:]])


def entries_of(page: str) -> list[Entry]:
    """Every name that a page lists."""
    listed: list[Entry] = []

    def taken(entries: list[Entry]) -> str:
        listed.extend(entries)
        return ""

    with_blocks(page, taken)
    return listed


def _directives(block: re.Match[str]) -> Iterator[tuple[str, str, str]]:
    if block["families"] is None:
        yield from _DIRECTIVE.findall(block["directives"])
        return
    listed = families()
    for family in block["families"].split():
        yield from (("autoclass", f"idealrank.{cls.__name__}", "") for cls in listed[family])


def _entries(kind: str, name: str, options: str, home: str) -> Iterator[Entry]:
    if kind == "automodule":
        module = importlib.import_module(name)
        for word in _public(module):
            value = getattr(module, word)
            if callable(value) and getattr(value, "__module__", "").startswith(name):
                own = _kind_of(value)
                yield Entry(kind=own, path=f"{name}.{word}", options="", value=value)
        return
    path = name if name.startswith("idealrank.") else f"{home}.{name}"
    yield Entry(kind=kind, path=path, options=options, value=resolved(path))


def _public(module: ModuleType) -> list[str]:
    words = [word for word in vars(module) if word.endswith(("Error", "Warning"))]
    return list(getattr(module, "__all__", words))


def _kind_of(value: Any) -> str:
    if not isinstance(value, type):
        return "autofunction"
    return "autoexception" if issubclass(value, Exception) else "autoclass"


def table_of(entries: list[Entry], link: Callable[[Entry], str]) -> str:
    """A row for each name, with its first sentence."""
    rows = [
        f"| [`{entry.word}`]({link(entry)}) | {first_sentence(entry.value)} |" for entry in entries
    ]
    return "\n".join(["\n| name | summary |", "|---|---|", *rows, "", ""])


def with_sources(page: str) -> str:
    """A page as a checkout has it: names link to the files that define them."""
    return with_blocks(page, lambda entries: table_of(entries, lambda entry: entry.source))


def with_pages(page: str) -> str:
    """A page as the site has it: names link to pages of their own."""
    return with_blocks(page, lambda entries: table_of(entries, lambda entry: f"{entry.page}.rst"))
