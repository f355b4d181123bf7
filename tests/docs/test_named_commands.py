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


def mistakes(text: str) -> Iterator[str]:
    for match in NAMED.finditer(text):
        words = match[1].replace('"', " ").replace("'", " ").split()
        command, context = cli, click.Context(cli)
        below: click.Command = cli
        for place, word in enumerate(words):
            found = below.get_command(context, word) if isinstance(below, click.Group) else None
            if found is None:
                break
            below = found
        else:
            place = len(words)
        if below is command:
            yield f"idealrank {match[1]}"
            continue
        if "trec-eval" in words[:1]:
            continue
        known = Options.of(below).names | {"--help"}
        options = [word.split("=")[0].rstrip(".,:)") for word in words[place:]]
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
