"""A part of the rule of a gate is a field of `Policy`; each place that takes the rule takes it."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, get_args

import click
import pytest

import idealrank as ir
from idealrank._keys import names_of
from idealrank.analysis.gate.outcome import WhenUnjudged
from idealrank.analysis.gate.partition_gate import gate_sums
from idealrank.cli.commands.gate import gate as command
from idealrank.io.gate_files.gate_policies import PARTS, PolicyFile
from idealrank.pytest_plugin import RankingGate

# Without a baseline file there is no series over which alpha is spent; sums have no documents.
NO_SERIES = {"horizon"}
NO_DOCUMENTS = {"when_unjudged"}


def parameters(function: Callable[..., Any]) -> Iterable[str]:
    return inspect.signature(function).parameters


@pytest.mark.parametrize(
    ("place", "lacking"),
    [
        (names_of(PolicyFile), set()),
        ([option.name for option in command.params], set()),
        (parameters(ir.gate), NO_SERIES),
        (parameters(RankingGate.__call__), NO_SERIES),
        (parameters(gate_sums), NO_SERIES | NO_DOCUMENTS),
    ],
    ids=["pyproject.toml", "command", "function", "fixture", "sums"],
)
def test_every_place_takes_every_part(place: Iterable[str], lacking: set[str]) -> None:
    assert {part.name for part in fields(ir.Policy)} == set(PARTS)
    assert set(PARTS) - set(place) == lacking


def test_the_option_has_the_outcomes_of_the_policy() -> None:
    (option,) = [option for option in command.params if option.name == "when_unjudged"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == get_args(WhenUnjudged)
    assert ir.Policy().when_unjudged in option.type.choices
