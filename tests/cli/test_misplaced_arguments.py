"""Values typed as arguments that belong to an option: the message names the option."""

from collections.abc import Callable

import pytest

from tests.cli.terminal import Said

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
