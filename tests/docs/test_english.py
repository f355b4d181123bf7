"""Words that make a sentence hard to read occur nowhere: in docstrings, messages, help, pages and
templates.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT
from tests.sources import library, nodes

# Said of a user, a module or `None`; and phrases that leave a noun out.
WORDS = re.compile(
    r"\b(who|whom|nobody|somebody|anybody|everybody|those of|what else|stands? beside|goes "
    r"by|go by|four times in five)\b",
    re.IGNORECASE,
)
OPENERS = re.compile(r"(What|Which|How|Whether|The same)\b")
LONGEST = 30  # words of a sentence; about 20 are the aim
README_LINES = 150  # the rest belongs in docs/
CODE = re.compile(r"```.*?```|`[^`\n]+`|^ {4,}.*$", re.DOTALL | re.MULTILINE)

PAGES = sorted(
    {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")}
)
TEMPLATES = sorted((ROOT / "src").rglob("*.html")) + sorted((ROOT / "src").rglob("*.js"))


def forbidden(text: str) -> list[str]:
    return WORDS.findall(text)


def too_long(page: str) -> list[str]:
    """Sentences of a page over the limit; headings, tables, code and comments are none."""
    lines = re.sub(r"```.*?```|<!--.*?-->", "", page, flags=re.DOTALL).splitlines()
    prose = "\n".join(
        line for line in lines if not line.lstrip().startswith(("|", "#", ">>>", "...", ":::", "!"))
    )
    parts = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", prose)
    found = [
        sentence
        for part in parts
        for sentence in re.split(r"(?<=[.!?:;])[*_]*\s+", " ".join(part.split()))
    ]
    return [sentence for sentence in found if len(sentence.split()) > LONGEST]


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Docstrings, messages and help of a module, by line; examples in docstrings are code."""
    for node in nodes(source):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield (
                node.lineno,
                "\n".join(
                    line
                    for line in node.value.splitlines()
                    if not line.lstrip().startswith((">>>", "..."))
                ),
            )


def openers(source: str) -> Iterator[tuple[int, str]]:
    for node in nodes(source):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node) or ""
            if OPENERS.match(text):
                yield node.body[0].lineno, text.partition("\n")[0]


def test_docstrings_messages_and_help_are_plain() -> None:
    found = [
        f"{name}:{line}: {', '.join(forbidden(text))}"
        for name, source in library().items()
        for line, text in sentences(source)
        if forbidden(text)
    ]
    assert found == []


def test_docstrings_open_with_a_verb_or_a_noun() -> None:
    found = [
        f"{name}:{line}: {text}"
        for name, source in library().items()
        for line, text in openers(source)
    ]
    assert found == []


@pytest.mark.parametrize(
    "path",
    [path for path in [*PAGES, *TEMPLATES] if "site" not in path.relative_to(ROOT).parts],
    ids=lambda path: path.name,
)
def test_pages_and_templates_are_plain(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    prose = CODE.sub("", text) if path.suffix == ".md" else text
    assert forbidden(prose) == []


@pytest.mark.parametrize(
    "path",
    [path for path in PAGES if "site" not in path.relative_to(ROOT).parts],
    ids=lambda path: path.name,
)
def test_sentences_of_pages_are_short(path: Path) -> None:
    assert too_long(path.read_text(encoding="utf-8")) == []


def test_the_readme_is_a_front_page() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES


def test_what_is_forbidden_is_found() -> None:
    planted = (
        'def which():\n    """Whether somebody asked."""\n    raise ValueError("nobody knows '
        'who")\n'
    )
    assert [line for line, _ in openers(planted)] == [2]
    assert [forbidden(text) for _, text in sentences(planted)] == [["somebody"], ["nobody", "who"]]
    assert [
        len(one.split()) for one in too_long(f"Short. {'word ' * 30}end.\n\n| {'cell ' * 60} |")
    ] == [31]
