"""The command line that scripts depend on, frozen: commands, options, keys of JSON, the pytest
plug-in.
"""

import json
from typing import Any

import pytest

from idealrank.conventions import SWITCHES
from tests.contract.commands import (
    FILE,
    JSON_COMMANDS,
    commands,
    json_keys,
    options,
    plugin,
    with_all_switches,
)
from tests.contract.containment import assert_kept

FROZEN: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
NOW = dict(commands())


@pytest.mark.parametrize("name", FROZEN["commands"])
def test_no_command_or_option_goes_or_changes_unnoticed(name: str) -> None:
    assert_kept(
        {name: FROZEN["commands"][name]},
        {name: json.loads(json.dumps(options(NOW[name])))} if name in NOW else {},
        "commands",
    )


def test_no_key_of_json_goes_unnoticed() -> None:
    assert_kept(FROZEN["json"], json_keys(), "json")


def test_every_command_that_prints_json_is_recorded() -> None:
    assert set(JSON_COMMANDS) == set(FROZEN["json"])


def test_a_convention_in_json_is_one_path_only_if_it_has_every_switch() -> None:
    whole = {".convention", ".convention.name", *(f".convention.{switch}" for switch in SWITCHES)}

    assert with_all_switches(whole) == {".convention", ".convention.name", ".convention.*"}
    assert with_all_switches(whole - {".convention.ties"}) == whole - {".convention.ties"}


def test_the_pytest_plug_in_keeps_its_name_and_what_tests_see_of_it() -> None:
    assert_kept(FROZEN["pytest_plugin"], plugin(), "pytest_plugin")
