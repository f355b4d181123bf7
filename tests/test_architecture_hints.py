"""Each message names what exists in the interface in use: arguments in Python, options on the
command line.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

import idealrank
from idealrank.cli.console import Options
from idealrank.cli.main import cli
from tests.sources import nodes

SOURCE = Path(idealrank.__file__).parent
# What a user of the command line cannot type: an argument with a value of Python, a call, a name of
# the package.
PYTHON = re.compile(
    r"(?<![-\w])[a-z_]+=(?=['\"\[( "
    r",;)]|\{[^}]|$|\.\.\.)|(?<![-\w])\w+=(?:True|False|None)\b|\bir\.\w|\(\.\.\.|\bread_\w+\(|\w\.\w+\("
)
# Modules whose messages no command can print, since it hands in files, or what it read from files.
ONLY_IN_PYTHON = {
    "analysis/gate/checks.py": "a policy together with its parts: a command has the parts alone",
    "inputs/agreement.py": "arrays",
    "inputs/judged_runs.py": "evaluations and arrays in place of files",
    "data/lists.py": "arrays",
    "evaluation/evaluate.py": "measures after an evaluation",
    "io/sources.py": "something that is no path",
    "bounds/free_documents.py": "evaluations in place of files",
    "measures/precision.py": "a list in place of text",
    "measures/user.py": "measures of one's own",
    "stats/power.py": "differences of a pilot; the commands draw from none",
    "stats/randomness.py": "generators of random numbers",
    "store/replay.py": "entries that Python added",
    "theory/distinguishability.py": "arrays of scores",
    "theory/growth.py": "a file that NumPy writes",
    "theory/relevance.py": "functions of Python",
    "theory/simulation.py": "pairs of discount and cutoff",
}
# options themselves, and packages that are used from Python alone
EDGE = ("cli", "engines", "integrations", "testing", "trackers", "training")


def _text(node: ast.AST) -> str | None:
    """Text of a literal; a letter stands for what is filled in."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values
        )
    return None


def _texts(node: ast.AST) -> Iterator[str]:
    text = _text(node)
    if text is not None:
        yield text
        return
    for child in ast.iter_child_nodes(node):
        yield from _texts(child)


@cache
@cache
def _messages(place: str) -> list[tuple[list[str], bool]]:
    """Texts of each call that makes an error, a note or a warning, and whether the command line has
    a text of its own.
    """
    found = []
    for node in nodes((SOURCE / place).read_text(encoding="utf-8")):
        if isinstance(node, ast.Call):
            made = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            words = {keyword.arg for keyword in node.keywords}
            if (
                re.fullmatch(r"\w*Error|Complaint|_?bad|_?warn|inform|_?complain", made)
                or "hint" in words
            ):
                nested = any(
                    getattr(part, "id", "") == "Advised"
                    for argument in node.args
                    for part in ast.walk(argument)
                )
                found.append((list(_texts(node)), "command_hint" in words or nested))
    return found


def _places() -> list[str]:
    return sorted(
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] not in EDGE
    )


def _all_options() -> set[str]:
    names: set[str] = set()

    def look(command: click.Command) -> None:
        names.update(Options.of(command).names)
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                found = command.get_command(context, name)
                assert found is not None
                look(found)

    look(cli)
    return names


def test_a_message_with_words_of_python_has_a_form_for_the_command_line() -> None:
    wrong = []
    for place in _places():
        for texts, has_form in _messages(place) if place not in ONLY_IN_PYTHON else ():
            wrong += [f"{place}: {text}" for text in texts if PYTHON.search(text) and not has_form]

    assert wrong == []


def test_each_exception_is_still_needed() -> None:
    needed = {
        place
        for place in ONLY_IN_PYTHON
        if any(
            PYTHON.search(text)
            for texts, has_form in _messages(place)
            if not has_form
            for text in texts
        )
    }

    assert needed == set(ONLY_IN_PYTHON)


def test_each_option_in_a_message_exists() -> None:
    known, unknown = _all_options(), []
    for place in _places():
        for texts, _ in _messages(place):
            unknown += [
                f"{place}: {name}"
                for text in texts
                for name in re.findall(r"(?<![\w-])--[a-z][\w-]*", text)
                if name not in known
            ]

    assert unknown == []
