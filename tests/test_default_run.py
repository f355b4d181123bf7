"""Which cases of a test with many of them the default run tries."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import pytest_collection_modifyitems


def cases(name: str, number: int, kept: int | None) -> list[Any]:
    """Cases as pytest collects them, each with the list of markers it is given."""
    marker = None if kept is None else pytest.mark.spread(kept).mark
    made = []
    for case in range(number):
        item = SimpleNamespace(nodeid=f"tests/test_it.py::{name}[{case}]", given=[])
        item.get_closest_marker = lambda word, marker=marker: marker if word == "spread" else None
        item.add_marker = item.given.append
        made.append(item)
    return made


def in_default(items: list[Any]) -> list[int]:
    return [case for case, item in enumerate(items) if pytest.mark.slow not in item.given]


def test_as_many_cases_as_asked_stay_in_the_default_run() -> None:
    nine, three, plain = cases("test_nine", 9, 3), cases("test_three", 3, 5), cases("test_plain", 4, None)

    pytest_collection_modifyitems([*nine, *three, *plain])

    assert len(in_default(nine)) == 3
    assert in_default(three) == [0, 1, 2]
    assert in_default(plain) == [0, 1, 2, 3]


@pytest.mark.parametrize("number", [1, 2, 7, 67])
def test_never_more_and_never_fewer(number: int) -> None:
    for kept in range(1, number + 1):
        items = cases("test_it", number, kept)

        pytest_collection_modifyitems(items)

        assert len(in_default(items)) == kept


def test_no_value_of_an_inner_parameter_is_left_out_because_steps_meet_it() -> None:
    items = cases("test_it", 24, 8)

    pytest_collection_modifyitems(items)

    assert {case % 2 for case in in_default(items)} == {0, 1}
    assert {case % 3 for case in in_default(items)} == {0, 1, 2}
    assert {case % 4 for case in in_default(items)} == {0, 1, 2, 3}
