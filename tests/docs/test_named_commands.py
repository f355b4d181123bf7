"""Commands and options that pages, help texts and messages name exist."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from idealrank.cli.console import Options
from idealrank.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
# A command in backquotes, on a line of a shell, or in the examples of a help text.
NAMED = re.compile(r"(?:`+|^\$ |^ {2,}|\()idealrank ([a-z][^`|;&>$()\n]*)", re.MULTILINE)
FILES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")),
    *(
        path
        for folder in ("docs", "examples", "src", "deploy", "experiments", ".github")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".md", ".py", ".html", ".yml", ".yaml"} and "site" not in path.parts
    ),
]


def named(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that words name, and the words after its name."""
    command: click.Command = cli
    while words and isinstance(command, click.Group):
        below = command.get_command(click.Context(command), words[0])
        if below is None:
            break
        command, words = below, words[1:]
    return command, words


def mistakes(text: str) -> Iterator[str]:
    for match in NAMED.finditer(text):
        typed = re.sub("[\"']", " ", match[1]).split()
        command, rest = named(typed)
        if command is cli:
            yield f"idealrank {match[1]}"
        elif typed[0] != "trec-eval":
            known = Options.of(command).names | {"--help"}
            options = [word.partition("=")[0].rstrip(".,:") for word in rest]
            yield from (
                f"idealrank {match[1]}: {option}"
                for option in options
                if re.fullmatch(r"--[a-z][\w-]*", option) and option not in known
            )


def test_mistakes_are_seen() -> None:
    text = "`idealrank advise q r` `idealrank why q a b --queries 2` `idealrank store gc --dry-run`"

    assert list(mistakes(text)) == [
        "idealrank advise q r",
        "idealrank why q a b --queries 2: --queries",
    ]


@pytest.mark.parametrize("folder", ["docs", "src", ""])
def test_every_command_and_option_that_is_named_exists(folder: str) -> None:
    chosen = [
        path
        for path in FILES
        if (path.relative_to(ROOT).parts[0] == folder)
        or (not folder and path.relative_to(ROOT).parts[0] not in {"docs", "src"})
    ]
    found = {
        f"{path.relative_to(ROOT)}: {mistake}"
        for path in chosen
        for mistake in mistakes(path.read_text(encoding="utf-8"))
    }

    assert found == set()
