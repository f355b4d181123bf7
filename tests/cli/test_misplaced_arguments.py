"""Values typed as arguments that belong to an option: the message names the option."""

from collections.abc import Callable

import pytest

from idealrank.cli import console
from tests.cli.terminal import Said
from tests.contract.commands import commands

Say = Callable[..., Said]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["gate", "qrels.txt", "bm25.run", "neural.run"],
            "found neural.run after the run, expected --baseline neural.run",
        ),
        (
            ["reconcile", "qrels.txt", "bm25.run", "0.82"],
            "found 0.82 after the run, expected --value 0.82",
        ),
        (
            ["report", "qrels.txt", "bm25.run", "-o", "a.html"],
            "qrels.txt: found a file, expected the id of a stored result",
        ),
    ],
)
def test_the_message_names_the_option_or_command_that_takes_it(
    say: Say, arguments: list[str], message: str
) -> None:
    said = say(*arguments)

    assert said.code == 2
    assert message in said.err


def test_a_page_of_files_is_led_to_evaluate_and_compare(say: Say) -> None:
    said = say("report", "qrels.txt", "bm25.run", "-o", "a.html")

    assert "`idealrank compare QRELS RUN_A RUN_B --report out.html`" in said.err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("compare qrels.txt bm25.run neural.run --confidence .9", "--level"),
        ("compare qrels.txt bm25.run neural.run --alpha=.1", "--level (1 - alpha)"),
        ("evaluate qrels.txt bm25.run --json", "--format json"),
        ("evaluate qrels.txt bm25.run --out values.txt", "--output"),
        ("judge pool bm25.run --queries ids.txt", "--query-ids"),
        ("gate qrels.txt neural.run --tolerence 1", "--tolerance"),
        ("compare qrels.txt bm25.run neural.run --largest-los 1", "--largest-loss"),
        # the command has neither the option nor the format
        ("robust qrels.txt bm25.run neural.run --alpha .1", ""),
        ("clicks grade log.csv --json", ""),
    ],
)
def test_an_option_of_another_tool_or_command_is_led_to_that_of_this_one(
    say: Say, typed: str, meant: str
) -> None:
    said = say(*typed.split())
    option = next(word for word in typed.split() if word.startswith("--")).partition("=")[0]

    assert said.code == 2
    first = f"error: no option {option}" + (f"; did you mean {meant}?" if meant else "")
    assert said.err.splitlines()[0] == first


def test_each_option_that_is_led_to_exists_and_is_missing_somewhere() -> None:
    known = [console.Options.of(command).names for _, command in commands()]
    for typed, texts in console._INSTEAD.items():
        for text in texts:
            option = text.split()[0]
            assert any(option in names and typed not in names for names in known), (typed, text)
