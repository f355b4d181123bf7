"""The budget of each folder: modules, tokens of code and lines of docstrings, in budget.toml.

The whole may fall, or grow by a new feature. To raise a number, say in the same commit why; to
lower one after a clearing, run ``python -m tests.test_architecture_budget``.
"""

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Mapping
from math import ceil
from pathlib import Path

import pytest

from tests.processor_time import by_folder, over_budget
from tests.sources import library, nodes

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "budget.toml"
CORE = (
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
    "top",
)
_ROOM = 1.02  # of what is there, where the file is written anew
Size = Mapping[str, int]


def docstring_lines(source: str) -> set[int]:
    """Return the line numbers of all docstrings, including the docstrings of attributes."""
    return {
        line
        for node in nodes(source)
        for statement in _statements(node)
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
        for line in range(statement.lineno, (statement.end_lineno or 0) + 1)
    }


def _statements(node: ast.AST) -> list[ast.stmt]:
    body = getattr(node, "body", None)
    return body if isinstance(body, list) else []


# The reader of tokens in the standard library takes ten times as long for a million of them.
_TOKEN = re.compile(
    r"""
    \#[^\n]* |
    (?P<code>
        [rbfuRBFU]{0,2} (?: \"{3}[\s\S]*?\"{3} | \'{3}[\s\S]*?\'{3} )
        | [rbfuRBFU]{0,2} (?: "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
        | \d[\d_]*(?:\.[\d_]*)?(?:[eE][-+]?\d+)? | \w+ | \.\.\.
        | \*\*= | //= | >>= | <<= | \*\* | // | >> | << | -> | := | [-+*/%@&|^<>=!]= | [^\s\w\\]
    )
    """,
    re.VERBOSE,
)


def tokens(source: str, documented: set[int]) -> int:
    """Tokens of code: no comments, no layout, no docstrings."""
    lines = source.split("\n")
    code = "\n".join(line for number, line in enumerate(lines, 1) if number not in documented)
    return sum(found["code"] is not None for found in _TOKEN.finditer(code))


def sizes(modules: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Modules, tokens and docstring lines of each folder at the top; files beside the folders are
    `top`.
    """
    found: dict[str, Counter[str]] = {}
    for name, source in modules.items():
        parts = name.split(".")
        is_folder = len(parts) > 2 or any(one.startswith(f"{name}.") for one in modules)
        folder = parts[1] if is_folder and len(parts) > 1 else "top"
        documented = docstring_lines(source)
        found.setdefault(folder, Counter()).update(
            modules=1, tokens=tokens(source, documented), docstring_lines=len(documented)
        )
    return {folder: dict(size) for folder, size in sorted(found.items())}


def total(found: Mapping[str, Size], folders: tuple[str, ...] | None = None) -> Size:
    whole: Counter[str] = Counter()
    for folder, size in found.items():
        if folders is None or folder in folders:
            whole.update(size)
    return dict(whole)


def beyond(found: Mapping[str, Size], budget: Mapping[str, Size]) -> list[str]:
    """Folders that are larger than they may be, and those that the budget does not know."""
    said = []
    for folder, size in found.items():
        if folder not in budget:
            said.append(f"{folder}: found no row, expected one in budget.toml")
            continue
        said += [
            f"{folder}: found {count} {what.replace('_', ' ')}, expected at most "
            f"{budget[folder][what]}; make it smaller, or raise the number and say why"
            for what, count in size.items()
            if count > budget[folder][what]
        ]
    return said


def everything() -> dict[str, Size]:
    found: dict[str, Size] = dict(sizes(library()))
    return {**found, "core": total(found, CORE), "all": total(found)}


def test_no_folder_is_larger_than_its_budget() -> None:
    assert beyond(everything(), tomllib.loads(FILE.read_text("utf-8"))["source"]) == []


def test_a_row_of_the_budget_is_of_a_folder() -> None:
    assert set(tomllib.loads(FILE.read_text("utf-8"))["source"]) == set(everything())


def test_the_budget_of_docstrings_does_not_creep_up() -> None:
    """A rewritten file takes its numbers from the code; this one is a ceiling of its own."""
    budget = tomllib.loads(FILE.read_text("utf-8"))["source"]["all"]
    assert budget["docstring_lines"] <= 34_000


def test_what_counts_is_code() -> None:
    source = (
        '"""Head.\n\nMore.\n"""\n\nX = 1  # why\n"""A value."""\n\n\ndef f():\n    """Say."""\n'
    )
    assert sizes({"idealrank.a.b": source}) == {
        "a": {"modules": 1, "tokens": 3 + 5, "docstring_lines": 6}
    }


@pytest.mark.parametrize("name", ["data.lists", "measures.dcg", "cli.main", "live.web.label_pages"])
def test_tokens_are_those_of_python(name: str) -> None:
    source = library()[f"idealrank.{name}"]
    documented = docstring_lines(source)
    layout = {"COMMENT", "DEDENT", "ENDMARKER", "INDENT", "NEWLINE", "NL"}
    exact = sum(
        tokenize.tok_name[token.type] not in layout and token.start[0] not in documented
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
    )
    assert tokens(source, documented) == exact


@pytest.mark.parametrize("what", ["modules", "tokens", "docstring_lines"])
def test_a_folder_beyond_its_budget_is_found(what: str) -> None:
    size = {"modules": 2, "tokens": 10, "docstring_lines": 4}
    assert beyond({"a": size}, {"a": size}) == []
    assert len(beyond({"a": {**size, what: size[what] + 1}}, {"a": size})) == 1
    assert len(beyond({"a": size}, {})) == 1


def test_seconds_beyond_the_budget_are_found() -> None:
    files = {"tests/a/test_b.py": 2.0, "tests/a/test_c.py": 3.0, "tests/test_d.py": 1.0}
    assert by_folder(files) == {"tests/a": 5.0, "tests": 1.0}
    assert over_budget(by_folder(files), {"tests/a": 5, "tests": 1}) == []
    assert len(over_budget(by_folder(files), {"tests/a": 4})) == 2


@pytest.mark.parametrize(("option", "code"), [((), 0), (("--budget",), 1)])
def test_a_run_above_the_budget_fails(
    pytester: pytest.Pytester, option: tuple[str, ...], code: int
) -> None:
    pytester.makepyfile(test_unknown="def test_it():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.processor_time", *option]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=surroundings)
    assert done.returncode == code, done.stdout + done.stderr
    assert ("over budget: test_unknown.py" in done.stdout) == bool(option)


def test_what_all_tests_shared_is_not_the_time_of_the_last(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_last="""
        import subprocess, sys

        import pytest

        @pytest.fixture(scope="session")
        def server():
            running = subprocess.Popen([sys.executable, "-c", "sum(range(10**8))"])
            yield
            running.wait()

        def test_first(server):
            pass

        def test_last():
            pass
        """
    )
    command = [sys.executable, "-m", "pytest", "-p", "tests.processor_time", "--budget"]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=surroundings)
    assert re.search(r"^ +0\.\d s  test_last\.py$", done.stdout, re.MULTILINE), done.stdout


def _written(budget: Mapping[str, Mapping[str, Size]], found: Mapping[str, Size]) -> str:
    seconds = "\n".join(f'"{name}" = {taken}' for name, taken in budget["seconds"].items())
    rows = "\n".join(
        f"{folder} = {{ "
        + ", ".join(
            f"{what} = {count if what == 'modules' else ceil(count * _ROOM / 10) * 10}"
            for what, count in size.items()
        )
        + " }"
        for folder, size in found.items()
    )
    head = FILE.read_text("utf-8").partition("\n[seconds]")[0]
    return f"{head}\n[seconds]\n{seconds}\n\n[source]\n{rows}\n"


if __name__ == "__main__":
    now = tomllib.loads(FILE.read_text("utf-8"))
    FILE.write_text(_written(now, everything()), encoding="utf-8")
