"""The command line that scripts depend on, frozen: commands, options, keys of JSON, the pytest plug-in."""

import json
from typing import Any

import pytest

from tests.contract.commands import FILE, JSON_COMMANDS, commands, json_keys, options, plugin

FROZEN: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


def test_no_command_comes_or_goes_unnoticed() -> None:
    assert [name for name, _ in commands()] == list(FROZEN["commands"])


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_no_option_changes_unnoticed(name: str, command: Any) -> None:
    assert json.loads(json.dumps(options(command))) == FROZEN["commands"][name]


def test_no_key_of_json_changes_unnoticed() -> None:
    found = json_keys()
    for text in JSON_COMMANDS:
        assert found[text] == FROZEN["json"][text], text


def test_the_pytest_plug_in_keeps_its_name_and_what_tests_see_of_it() -> None:
    assert plugin() == FROZEN["pytest_plugin"]
