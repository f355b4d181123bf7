"""Numbers of configurations are finite and of a size that clocks and engines take."""

from typing import Any

import pytest

from idealrank._sections import Section
from idealrank.errors import OptionError


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        (1e300, "1e+300"),
        (10**400, "0x"),
        (10**5000, "0x"),
        (-(10**5000), "-0x"),
        (-1, "-1"),
        (True, "True"),
        ("5", "'5'"),
        ([1], "[1]"),
    ],
    ids=lambda value: type(value).__name__,  # pytest cannot write numbers of more than 4,300 digits
)
def test_an_amount_is_finite_and_not_too_large(value: Any, found: str) -> None:
    with pytest.raises(OptionError, match="expected a number") as refused:
        Section({"timeout": value}, "monitor.yaml", "").amount("timeout", 10.0, unit="seconds")
    assert str(refused.value).startswith(f"monitor.yaml: timeout: found {found}")


@pytest.mark.parametrize("value", [2**63, 10**5000], ids=["64 bits", "5,001 digits"])
def test_a_whole_number_has_a_size_that_is_stored(value: int) -> None:
    with pytest.raises(
        OptionError, match=r"limit: found 0x\w+\.\.\., expected a whole number from 1 to 2\^63 - 1"
    ):
        Section({"limit": value}, "monitor.yaml", "").number("limit", 10)


def test_a_whole_number_far_below_the_least_is_refused() -> None:
    with pytest.raises(OptionError, match="expected a whole number of 1 or more"):
        Section({"limit": -(10**5000)}, "monitor.yaml", "").number("limit", 10)


def test_numbers_at_the_limits_are_taken() -> None:
    section = Section({"timeout": 1_000_000, "seed": 2**63 - 1}, "monitor.yaml", "")
    assert section.amount("timeout", 10.0) == 1e6
    assert section.number("seed", 0, least=0) == 2**63 - 1
