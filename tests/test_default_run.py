"""The default run tries some cases of a test with the marker `spread`, and every value of its
parameters where they suffice.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import pytest_collection_modifyitems


def cases(name: str, number: int, kept: int | None, inner: int = 1, slow: int = 0) -> list[Any]:
    """Cases as pytest collects them, the first of them slow; each with the list of markers it is
    given.
    """
    spread = {} if kept is None else {"spread": pytest.mark.spread(kept).mark}
    made = []
    for case in range(number):
        item = SimpleNamespace(nodeid=f"tests/test_it.py::{name}[{case}]", given=[])
        item.callspec = SimpleNamespace(params={"outer": case // inner, "inner": case % inner})
        found = {**spread, "slow": pytest.mark.slow.mark} if case < slow else spread
        item.get_closest_marker = found.get
        item.add_marker = item.given.append
        made.append(item)
    return made


def in_default(items: list[Any]) -> list[int]:
    return [case for case, item in enumerate(items) if pytest.mark.slow not in item.given]


def test_as_many_cases_as_asked_stay_in_the_default_run() -> None:
    nine, three, plain = (
        cases("test_nine", 9, 3),
        cases("test_three", 3, 5),
        cases("test_plain", 4, None),
    )

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


@pytest.mark.parametrize(("outer", "inner"), [(4, 6), (6, 4), (5, 5), (3, 8), (8, 3), (67, 3)])
def test_every_value_of_every_parameter_stays_where_the_cases_suffice(
    outer: int, inner: int
) -> None:
    items = cases("test_it", outer * inner, max(outer, inner), inner)

    pytest_collection_modifyitems(items)

    assert {case // inner for case in in_default(items)} == set(range(outer))
    assert {case % inner for case in in_default(items)} == set(range(inner))


def test_a_case_that_is_slow_anyway_does_not_count() -> None:
    items = cases("test_it", 6, 3, slow=3)

    pytest_collection_modifyitems(items)

    assert not any(item.given for item in items)
