"""`idealrank conventions`: the list of what can be named, and every switch of one."""

import json
import shlex
from collections.abc import Callable

import pytest

from idealrank.conventions import PRESETS, SWITCHES, Convention
from idealrank.conventions.switches import ROWS, phrase
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]

COMMANDS = {
    "one": "conventions lightgbm",
    "changed": "conventions sklearn,ties=best",
    "one-json": "conventions xgboost --format json",
    "error-name": "conventions skleran",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_conventions_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"conventions-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_the_list_has_every_preset_with_its_tool_and_proof(say: Say) -> None:
    head, *lines = say("conventions").out.splitlines()

    assert head.split() == ["convention", "proof", "reproduces"]
    assert [" ".join(line.split()) for line in lines[: len(PRESETS)]] == [
        f"{name} {preset.proof} {preset.reproduces}" for name, preset in PRESETS.items()
    ]
    assert max(map(len, lines)) <= 100


def test_json_has_every_preset_with_every_switch(say: Say) -> None:
    record = json.loads(say("conventions", "--format", "json").out)["conventions"]

    assert list(record) == list(PRESETS)
    for name, convention in record.items():
        assert convention["switches"] == PRESETS[name].switches()
        assert (convention["fingerprint"], convention["tool"], convention["proof"]) == (
            PRESETS[name].fingerprint,
            PRESETS[name].tool,
            PRESETS[name].proof,
        )


@pytest.mark.parametrize(
    "convention", ["standard", "lightgbm", "sklearn,ties=best", "xgboost,recall_points=truncated"]
)
def test_the_table_of_a_convention_has_every_switch_with_its_value_in_words(
    convention: str, say: Say
) -> None:
    lines = say("conventions", convention).out.splitlines()
    head = next(
        place
        for place, line in enumerate(lines)
        if line.split() == ["switch", "value", "in", "words"]
    )
    switches, usual = Convention.of(convention).switches(), Convention.of("standard").switches()

    assert [" ".join(line.split()) for line in lines[head + 1 : head + 1 + len(SWITCHES)]] == [
        f"{'' if value == usual[switch] else '* '}{switch} {value} {phrase(switch, value)}"
        for switch, value in switches.items()
    ]
    assert lines[head + 1 + len(SWITCHES)] == ""


def test_the_error_about_a_switch_lists_all(say: Say) -> None:
    said = say("evaluate", "qrels.txt", "bm25.run", "--convention", "standard,tie=best")

    assert (
        f"unknown switch 'tie', expected one of {', '.join(SWITCHES)}; did you mean ties?"
        in said.err
    )


def test_every_switch_of_every_preset_has_words() -> None:
    assert set(ROWS) == set(SWITCHES)
    without_words = {"score", "cutoff", "gain", "discount"}  # their values say it themselves
    for convention in PRESETS.values():
        for switch, value in convention.switches().items():
            assert switch in without_words or value in ROWS[switch].values, (
                f"{convention.name}: {switch}={value}"
            )


SENTENCE = "this preset reproduces its tool's NDCG only, not"


@pytest.mark.parametrize(
    "command", ["evaluate qrels.txt bm25.run", "compare qrels.txt bm25.run neural.run"]
)
def test_a_preset_made_from_ndcg_says_so_beside_other_measures(command: str, say: Say) -> None:
    said = " ".join(
        say(*command.split(), "-m", "nDCG@10,AP,DCG", "--convention", "trectools").out.split()
    )
    assert f"{SENTENCE} AP;" in said
    many = " ".join(
        say(
            *command.split(), "-m", "P@1,P@2,P@3,RR", "--convention", "sklearn,ties=best"
        ).out.split()
    )
    assert f"{SENTENCE} P@1, P@2, P@3 and 1 more" in many
    assert (
        SENTENCE not in say(*command.split(), "-m", "nDCG@10,iDCG", "--convention", "trectools").out
    )
    assert SENTENCE not in say(*command.split(), "-m", "AP,RR", "--convention", "trec_eval").out
    assert SENTENCE not in say(*command.split(), "-m", "AP,RR").out
