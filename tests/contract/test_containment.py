"""Planted changes that the contract lets pass, and others that it refuses."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract import commands, snapshot
from tests.contract.containment import COMMAND, assert_kept, broken

API: dict[str, Any] = json.loads(snapshot.FILE.read_text(encoding="utf-8"))
CLI: dict[str, Any] = json.loads(commands.FILE.read_text(encoding="utf-8"))
JSON = next(iter(CLI["json"]))

ADDED: dict[str, Callable[[Any, Any], object]] = {
    "a name": lambda api, cli: api["names"].insert(0, "Planted"),
    "a function": lambda api, cli: api["stats"].update(planted=["x"]),
    "a parameter with a default": lambda api, cli: api["functions"]["evaluate"].append(
        "planted=None"
    ),
    "a class": lambda api, cli: api["classes"].update(Planted={"()": []}),
    "a member": lambda api, cli: api["classes"]["Run"].update(planted=["self"]),
    "an option of a measure": lambda api, cli: api["classes"]["IPrec"]["()"].append("planted=None"),
    "a measure": lambda api, cli: api["measures"].update(Planted={}),
    "a switch that a measure takes": lambda api, cli: api["measures"]["IPrec"][
        "from_convention"
    ].append("planted"),
    "a preset": lambda api, cli: api["presets"].update(planted=["0123abcd", "recorded", "planted"]),
    "a count": lambda api, cli: api["evaluation"]["coverage"].update(planted=0),
    "a command": lambda api, cli: cli["commands"].update(planted={}),
    "an option": lambda api, cli: cli["commands"]["evaluate"].update({"--planted": {}}),
    "a choice": lambda api, cli: cli["commands"]["evaluate"]["--format"]["takes"].append("planted"),
    "a JSON key": lambda api, cli: cli["json"][JSON].append(".planted"),
}
TAKEN: dict[str, Callable[[Any, Any], object]] = {
    "a name": lambda api, cli: api["names"].remove("evaluate"),
    "a function": lambda api, cli: api["stats"].popitem(),
    "a parameter": lambda api, cli: api["functions"]["evaluate"].pop(),
    "a default": lambda api, cli: api["functions"]["read_run"].__setitem__(
        -1, api["functions"]["read_run"][-1] + "0"
    ),
    "a member": lambda api, cli: api["classes"]["Run"].popitem(),
    "a new parameter without default": lambda api, cli: api["functions"]["evaluate"].append(
        "planted"
    ),
    "the order of parameters": lambda api, cli: api["functions"]["evaluate"].reverse(),
    "a measure": lambda api, cli: api["measures"].pop("RR"),
    "the bounds of a measure": lambda api, cli: api["measures"]["RR"]["bounds"].reverse(),
    "a switch that a measure takes": lambda api, cli: api["measures"]["RR"][
        "from_convention"
    ].clear(),
    "a fingerprint": lambda api, cli: api["presets"]["standard"].__setitem__(0, "0123abcd"),
    "a value": lambda api, cli: api["evaluation"]["mean"].__setitem__("AP", 0.1),
    "a command": lambda api, cli: cli["commands"].pop("evaluate"),
    "an option": lambda api, cli: cli["commands"]["evaluate"].pop("--format"),
    "a choice": lambda api, cli: cli["commands"]["evaluate"]["--format"]["takes"].remove("json"),
    "the default of an option": lambda api, cli: cli["commands"]["evaluate"]["--format"].update(
        default="json"
    ),
    "a JSON key": lambda api, cli: cli["json"][JSON].pop(),
    "a name of the plug-in": lambda api, cli: cli["pytest_plugin"]["names"].pop(),
}


def changed(change: Callable[[Any, Any], object]) -> list[str]:
    api, cli = copy.deepcopy((API, CLI))
    change(api, cli)
    assert (api, cli) != (API, CLI)
    return [*broken(API, api), *broken(CLI, cli)]


@pytest.mark.parametrize("what", ADDED)
def test_an_addition_needs_no_new_record(what: str) -> None:
    assert changed(ADDED[what]) == []


@pytest.mark.parametrize("what", TAKEN)
def test_a_change_or_a_loss_is_told(what: str) -> None:
    assert len(changed(TAKEN[what])) == 1


def test_the_failure_names_the_command_that_writes_both_files() -> None:
    with pytest.raises(AssertionError, match=f"names: 'b' is gone\n.*{COMMAND}"):
        assert_kept({"names": ["b"]}, {"names": []})
