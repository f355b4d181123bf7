"""Help: what it says, that its examples run, and that it costs nothing."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from idealrank.cli import headings, main
from idealrank.cli.lazy_groups import CommandGroup
from tests import in_process
from tests.cli.terminal import DATA, SNAPSHOTS, Said, check_snapshot, environment
from tests.contract.commands import commands

Say = Callable[..., Said]
OWN = (
    "evaluate",
    "compare",
    "gate",
    "why",
    "seeds",
    "robust",
    "overlap",
    "explain",
    "conventions",
    "measures",
    "measures advise",
    "measures choose",
    "theory",
)
"""Commands whose examples run on the data of these tests."""

STORES = (
    "history",
    "serve",
    "store",
    *(
        f"store {name}"
        for name in (
            "show",
            "diff",
            "tag",
            "gc",
            "sql",
            "export",
            "import",
            "parquet",
            "remove",
            "info",
        )
    ),
)
THEORY = ("theory limits", "theory feasible", "theory figures", "theory distinguish")


def command_of(name: str) -> click.Command:
    command: click.Command | None = main.cli
    for word in name.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None
    return command


@pytest.mark.parametrize("name", ["", *OWN, *STORES, *THEORY])
def test_help(name: str, say: Say) -> None:
    arguments = [*name.split(), "--help"]

    said = say(*arguments)

    check_snapshot(
        f"help-{name.replace(' ', '-') or 'all'}", said.text(f"idealrank {' '.join(arguments)}")
    )
    assert said.code == 0


def test_every_snapshot_of_a_help_text_is_checked_here() -> None:
    kept = {path.stem.removeprefix("help-") for path in SNAPSHOTS.glob("help-*.txt")}

    assert kept == {"all", *(name.replace(" ", "-") for name in (*OWN, *STORES, *THEORY))}


@pytest.mark.parametrize("name", main.COMMANDS)
def test_a_command_says_the_same_in_the_list_and_in_its_own_help(name: str) -> None:
    assert command_of(name).short_help == main.COMMANDS[name]


def every_command(command: click.Command, name: str) -> dict[str, click.Command]:
    """A command with all below it, by what is typed."""
    found = {name: command}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None
            found |= every_command(below, f"{name} {word}")
    return found


def test_every_default_in_a_help_text_ends() -> None:
    for name, command in every_command(main.cli, "idealrank").items():
        # A command keeps the help option that its first context asks for, so this one has the
        # settings of all.
        text = " ".join(
            command.get_help(click.Context(command, help_option_names=["-h", "--help"])).split()
        )
        begun = [part.partition("]") for part in re.split(r"\[default[^:\]]*:", text)[1:]]
        assert all(value.strip() and end and "[" not in value for value, end, _ in begun), name


def examples(text: str) -> list[str]:
    """Lines of a help text that are commands."""
    return [
        line.strip() for line in text.splitlines() if re.match(r"\s+(zcat .*\| )?idealrank ", line)
    ]


ALL_EXAMPLES = [
    example
    for epilog in (main.cli.epilog, *(command_of(name).epilog for name in OWN))
    for example in examples(epilog or "")
]
# drawings and simulations; other examples of theory are short
LONG = ("idealrank theory figures", "idealrank theory distinguish")


@pytest.mark.skipif(shutil.which("zcat") is None, reason="an example decompresses with zcat")
@pytest.mark.parametrize(
    "example",
    [
        pytest.param(one, marks=pytest.mark.slow if one.startswith(LONG) else ())
        for one in ALL_EXAMPLES
    ],
)
def test_every_example_of_the_help_runs(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(ALL_EXAMPLES) >= 12
    for path in DATA.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    command = in_process.command_of(example)

    code, _, said = (
        as_typed(example)
        if command is None
        else in_process.run(in_process.arguments_of(command["arguments"]), COLUMNS="80")
    )

    assert (code, re.sub(r"^note: wrote .*\n", "", said, flags=re.MULTILINE)) == (0, "")


def as_typed(example: str) -> tuple[int, str, str]:
    """Exit code and both streams of a line in a shell and a process of its own."""
    python = f"{shlex.quote(sys.executable)} -m idealrank "
    done = subprocess.run(
        re.sub(r"\bidealrank ", lambda _: python, example),
        shell=True,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def groups(command: click.Command, *words: str) -> Iterator[tuple[str, ...]]:
    """Words of each group of commands, the command line itself among them; not of commands that
    have commands of their own, such as `search CONFIG`.
    """
    if isinstance(command, click.Group):
        if not isinstance(command, CommandGroup):
            yield words
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from groups(command.get_command(context, name), *words, name)


def test_a_group_alone_answers_with_its_help(say: Say) -> None:
    for words in groups(main.cli):
        alone, asked = say(*words), say(*words, "--help")

        assert (alone.code, alone.err) == (0, ""), words
        assert alone.out == asked.out, words


def test_an_unknown_command_is_refused_with_the_nearest(say: Say) -> None:
    said = say("evalaute", "a", "b")

    assert said.code == 2
    assert said.err.startswith("error: unknown command 'evalaute', expected one of evaluate, ")
    assert "did you mean evaluate?" in said.err


def test_the_version_is_printed(say: Say) -> None:
    from idealrank import __version__

    assert say("--version").out == f"idealrank {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"]])
def test_what_needs_no_numbers_loads_no_numpy(arguments: list[str]) -> None:
    code = (
        f"import sys; from idealrank.cli.main import run; run({arguments}); sys.exit('numpy' in "
        f"sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=environment(), check=False
    )

    assert done.returncode == 0


def test_blas_gets_one_thread_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import os

    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)

    main._limit_blas_threads()

    limits = os.environ["OMP_NUM_THREADS"], os.environ.pop("OPENBLAS_NUM_THREADS")
    assert limits == ("7", "1")


def test_a_fault_of_ours_does_not_end_with_the_code_of_a_gate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: list[str]) -> None:
        raise RuntimeError("something unforeseen")

    monkeypatch.setattr(main, "_dispatch", fail)

    assert main.run(["evaluate"]) == 70
    said = capsys.readouterr().err
    assert "something unforeseen" in said
    assert "please report it" in said


def test_commands_of_a_store_are_only_under_store(say: Say) -> None:
    group = command_of("store")
    assert isinstance(group, click.Group)

    for name in ("show", "diff", "tag", "sql", "gc"):
        assert group.get_command(click.Context(group), name) is not None
        assert say(name, "--help").code == 2
    assert "idealrank store gc" in say("store", "gc", "--help").out


@pytest.mark.parametrize(
    ("name", "below"), [("measures", "advise"), ("measures", "choose"), ("search", "recall")]
)
def test_a_command_with_commands_of_its_own_lists_them(name: str, below: str, say: Say) -> None:
    said = say(name, "--help")

    assert re.search(rf"\nCommands:\n(?:  .*\n)*  {below} ", said.out)
    assert f"Usage: idealrank {name} {below} " in say(name, below, "--help").out


def test_the_first_word_decides_between_a_command_and_those_below_it(say: Say) -> None:
    explained, refused = say("measures", "nDCG", "advise"), say("search", "./recall")

    assert "'advise'" in explained.err
    assert (refused.code, "./recall" in refused.err) == (2, True)


def test_options_are_under_headings_and_none_is_left_out(say: Say) -> None:
    text = say("compare", "--help").out
    found = re.findall(r"^(\w+):\n", text, re.MULTILINE)

    assert found == ["Options", "Input", "Decision", "Output", "Page", "Texts", "Store", "Run"]
    for option in command_of("compare").params:
        if isinstance(option, click.Option):
            assert (
                len(re.findall(rf"^  (-\w, )?{option.opts[-1]}(?![\w-])", text, re.MULTILINE)) == 1
            )


def test_a_heading_names_only_options_that_exist() -> None:
    commands = every_command(main.cli, "idealrank").values()
    names = {name for command in commands for option in command.params for name in option.opts}

    assert set(headings._HEADINGS) - names == {"--help"}


@pytest.mark.parametrize(
    ("name", "near"),
    [("recall", "search recall"), ("advise", "measures advise"), ("gc", "store gc")],
)
def test_a_command_of_another_group_is_named_with_its_group(say: Say, name: str, near: str) -> None:
    refused = say(name)

    assert refused.code == 2
    assert f"did you mean {near}?" in refused.err


CLOSING = {"(": ")", "[": "]", "{": "}"}
END = re.compile(r"[.!?:][\"'`)\]]?$|[\])]$")


def unclosed(text: str) -> str:
    """Brackets that a text opens and does not close, and those that close none."""
    waiting: list[str] = []
    for letter in text:
        if letter in CLOSING:
            waiting.append(letter)
            continue
        closes = letter in CLOSING.values()
        if closes and (not waiting or CLOSING[waiting.pop()] != letter):
            return letter
    return "".join(waiting)


def test_a_bracket_without_its_end_is_found() -> None:
    assert unclosed("fail.  [default of --query:") == "["
    assert unclosed("fail).") == ")"
    assert unclosed("fail (above V).  [default of --query: 0.1]") == ""
    assert END.search("fail.  [default of --query") is None


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=[n for n, _ in commands()])
def test_every_text_of_a_help_is_whole(name: str, command: click.Command) -> None:
    context = click.Context(command, info_name=name)
    texts = {"summary": command.get_short_help_str(limit=500)}
    for place, paragraph in enumerate((command.help or "").split("\n\n")):
        if "\b" not in paragraph:
            texts[f"paragraph {place + 1}"] = paragraph
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            texts[record[0]] = record[1]
    broken = {
        place: text
        for place, text in texts.items()
        if text.strip() and (unclosed(text) or not END.search(text.strip()))
    }
    assert broken == {}
    assert unclosed(command.epilog or "") == ""
