"""Docstrings: whole for the names that users meet, and at most three lines of text for all others.

Each rule is a function of source texts, so that a planted violation shows that it can fail.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.sources import SOURCE, library, module, nodes

ROOT = Path(__file__).resolve().parents[1]
MOST_LINES = 3
DIRECTIVE = re.compile(
    r"^\s*\.\. (?P<kind>currentmodule|automodule|auto\w+):: (?P<name>\S+)", re.MULTILINE
)

Sources = Mapping[str, str]
Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Name = tuple[str, str]


def public_names(stubs: Iterator[str], pages: Iterator[str], sources: Sources) -> set[Name]:
    """Modules and names in the stubs and on the pages of the reference; and the classes that their
    classes come from.
    """
    names = {found for stub in stubs for found in _imported(stub)}
    for page in pages:
        names |= set(_on_page(page, sources))
    names |= {origin for name in names for origin in _origins(name, sources)}
    bases = {
        node.name: (home, node)
        for home, source in sources.items()
        for node in module(source).body
        if isinstance(node, ast.ClassDef)
    }
    waiting = [name for _, name in names if name in bases]
    while waiting:
        for base in bases[waiting.pop()][1].bases:
            word = ast.unparse(base).split("[")[0].rpartition(".")[2]
            if word in bases and (bases[word][0], word) not in names:
                names.add((bases[word][0], word))
                waiting.append(word)
    return names


def _origins(name: Name, sources: Sources) -> Iterator[Name]:
    """Where a package takes a name from that it hands on."""
    home, word = name
    for taken in _imported(sources.get(home, "")):
        if taken[1] == word:
            yield taken
            yield from _origins(taken, sources)


def _imported(text: str) -> Iterator[Name]:
    for node in module(text).body:
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def _on_page(page: str, sources: Sources) -> Iterator[Name]:
    current = ""
    for found in DIRECTIVE.finditer(page):
        kind, name = found["kind"], found["name"]
        if kind == "currentmodule":
            current = name
        elif kind == "automodule":
            yield from _imported(sources[name])
            yield from (
                (name, node.name)
                for node in module(sources[name]).body
                if isinstance(node, Documented)
            )
        else:
            whole = name if name.startswith("idealrank.") else f"{current}.{name}"
            home, _, word = whole.rpartition(".")
            yield home, word


def long_docstrings(sources: Sources, public: set[Name]) -> list[str]:
    """Docstrings of other names with more lines of text; an example that is there because nothing
    else runs its lines does not count.
    """
    return [
        f"{home}.{name}: {size} lines"
        for home, source in sources.items()
        for name, node in _defined(nodes(source)[0])
        if not _is_public(home, name, node, public)
        and (size := _lines(ast.get_docstring(node) or "")) > MOST_LINES
    ]


def _defined(node: ast.AST, outside: str = "") -> Iterator[tuple[str, Documented]]:
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, Documented):
            yield outside + inner.name, inner
            yield from _defined(inner, f"{outside}{inner.name}.")
        elif not isinstance(inner, ast.expr):
            yield from _defined(inner, outside)


def _is_public(home: str, name: str, node: Documented, public: set[Name]) -> bool:
    # What a command's docstring says is what `--help` prints.
    if any(
        re.search(r"\b(command|group)\b", ast.unparse(decorator))
        for decorator in node.decorator_list
    ):
        return True
    first, *rest = name.split(".")
    return (home, first) in public and not any(
        word.startswith("_") and not word.startswith("__") for word in rest
    )


def _lines(text: str) -> int:
    told, _, _ = text.partition("Examples\n--------")
    return len([line for line in told.splitlines() if line.strip()])


def _library_names() -> set[Name]:
    stubs = (
        path.read_text("utf-8") for path in sorted((SOURCE / "idealrank").rglob("__init__.pyi"))
    )
    pages = (
        path.read_text("utf-8") for path in sorted((ROOT / "docs" / "reference").rglob("*.md"))
    )
    return public_names(stubs, pages, library())


def test_docstrings_of_other_names_have_at_most_three_lines() -> None:
    assert long_docstrings(library(), _library_names()) == []


LONG = '"""One.\n\n    Two.\n    Three.\n    Four.\n    """'


def test_a_long_docstring_of_a_name_that_nobody_imports_is_found() -> None:
    planted = {
        "a": f"class Base:\n    {LONG}\n\nclass Known(Base):\n    {LONG}\n\n    def _own(self):\n  "
        f"      {LONG}\n\ndef other():\n    {LONG}"
    }
    public = public_names(iter(["from a import Known as Known"]), iter([]), planted)
    assert long_docstrings(planted, public) == ["a.Known._own: 4 lines", "a.other: 4 lines"]


def test_names_on_the_pages_of_the_reference_are_public() -> None:
    planted = {
        "idealrank.a": f"def known():\n    {LONG}",
        "idealrank.b": "from idealrank.c import more",
        "idealrank.c": f"def more():\n    {LONG}",
    }
    pages = [
        ".. currentmodule:: idealrank.a\n.. autofunction:: known\n",
        ".. automodule:: idealrank.b",
    ]
    assert long_docstrings(planted, public_names(iter([]), iter(pages), planted)) == []
