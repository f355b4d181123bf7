"""Commands and options that pages, help texts, messages and snapshots name exist."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from idealrank.cli.console import Options
from idealrank.cli.lazy_groups import CommandGroup
from idealrank.cli.main import cli
from tests.contract.commands import commands
from tests.sources import walked

ROOT = Path(__file__).resolve().parents[2]
CONSOLE = ROOT / "src" / "idealrank" / "cli" / "console.py"
# A command in backquotes, on a line of a shell, or in the examples of a help text.
NAMED = re.compile(r"(?:`+|^\$ |^ {2,}|\()idealrank ([a-z][^`|;&>$()\n]*)", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
FILES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")),
    *(
        path
        for folder in ("docs", "examples", "src", "deploy", "experiments", ".github", "tests/cli")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".md", ".py", ".html", ".yml", ".yaml", ".txt"}
        and "site" not in path.relative_to(ROOT).parts
        and (folder != "tests/cli" or path.parent.name == "snapshots")
    ),
]
# Options of programs that pages tell readers to run, or that the library runs itself.
OF_OTHERS = {
    "curl": "--data-binary",
    "CSS, whose variables begin alike": "--accent --ink --line --paper --plot- --quiet --run "
    "--worse",
    "gh": "--field --jq --paginate",
    "git": "--batch-check --bisect-all --cached --debug --get --git-dir --git-path "
    "--ignore-submodules --no-ext-diff --no-pager --quiet --show-toplevel --stage --stdin "
    "--topo-order --verify",
    "jq": "--arg",
    "apt": "--no-install-recommends",
    "pip, uvx, conda, rattler-build": "--channel --dest --find-links --from --no-index --recipe",
    "docker": "--env --publish --rm --tag --volume",
    "pytest": "--junitxml --update-ranking-baseline",
    "trec-eval": "--complete_rel_info_wanted --level_for_rel --nosummary --query_eval_wanted "
    "--level_for_nothing",
}
# Scripts of a checkout, whose options their own pages name
SCRIPTS = ("benchmarks", "examples", "experiments")


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
    """Commands with an option that they lack, and words that are no command."""
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


def texts_of(path: Path) -> list[str]:
    """The text of a file; of Python also each string, whose literals may be on several lines."""
    text = path.read_text(encoding="utf-8")
    names_some = path.suffix == ".py" and re.search(r"`idealrank |(?<![\w-])--[a-z]", text)
    return [text, *strings_of(text)] if names_some else [text]


def strings_of(program: str) -> Iterator[str]:
    """Strings as they are when the program runs; a mark stands for a value in them."""
    for node in walked(ast.parse(program)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values
            )


@cache
def options_of_commands() -> frozenset[str]:
    """Options of any command, and of programs that are named with them."""
    of_commands = {name for _, command in commands() for name in Options.of(command).names}
    return frozenset({"--help", "--version", *of_commands, *" ".join(OF_OTHERS.values()).split()})


@cache
def options_of_scripts() -> frozenset[str]:
    """Options of the scripts of the checkout."""
    programs = [
        path.read_text(encoding="utf-8")
        for folder in SCRIPTS
        for path in (ROOT / folder).rglob("*.py")
    ]
    return frozenset(
        option
        for program in programs
        if "add_argument" in program
        for option in re.findall(r"\"(--[a-z][\w-]*)\"", program)
    )


def unknown_options(path: Path, text: str) -> set[str]:
    """Words that look like an option, and are none of a command or of another program."""
    if path == CONSOLE:  # it has the options of others, to lead to ours
        return set()
    unwrapped = re.sub(r"(?<=\w)-\n +", "-", text)  # a help text may break an option at a hyphen
    found = set(OPTION.findall(unwrapped)) - options_of_commands()
    if path.suffix == ".md" or "experiments/" in text:
        return found - options_of_scripts()
    return found if path.relative_to(ROOT).parts[0] in {"src", "tests"} else set()


def test_mistakes_are_seen() -> None:
    text = "`idealrank advise q r` `idealrank why q a b --power 2` `idealrank store gc --dry-run`"

    assert list(mistakes(text)) == [
        "idealrank advise q r",
        "idealrank why q a b --power 2: --power",
    ]


def test_a_string_on_several_lines_is_read_as_one() -> None:
    program = 'hint = (\n    "use `idealrank why "\n    f"{name} --power 5`, or --frobnicate"\n)\n'
    (text,) = (text for text in strings_of(program) if "…" in text)

    assert list(mistakes(text)) == ["idealrank why … --power 5: --power"]
    assert unknown_options(ROOT / "src" / "a.py", text) == {"--frobnicate"}


@pytest.mark.parametrize("folder", ["docs", "src", "tests", ""])
def test_every_command_and_option_that_is_named_exists(folder: str) -> None:
    folders = {"docs", "src", "tests"}
    found = set()
    for path in FILES:
        top = path.relative_to(ROOT).parts[0]
        if top == folder or (not folder and top not in folders):
            found |= {
                f"{path.relative_to(ROOT)}: {mistake}"
                for text in texts_of(path)
                for mistake in (*mistakes(text), *unknown_options(path, text))
            }

    assert found == set()


def test_every_option_in_the_help_of_a_command_is_its_own_or_of_a_command_named_with_it() -> None:
    others = set(" ".join(OF_OTHERS.values()).split())
    found = set()
    for name, command in commands():
        own = command.own_command if isinstance(command, CommandGroup) else command
        text = own.get_help(click.Context(own, info_name=name, help_option_names=["-h", "--help"]))
        # `mistakes` checks other commands in backquotes, and examples with their further lines
        text = re.sub(r"`[^`]*`|^ +idealrank .*(?:\n {8,}.*)*", "", text, flags=re.MULTILINE)
        strange = set(OPTION.findall(text)) - Options.of(own).names - {"--help"} - others
        found |= {f"{name}: {option}" for option in strange}

    assert found == set()
