"""How many decimals are shown: two digits of the half-width, and never so few that a verdict is
contradicted.
"""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idealrank.reports.table.cells import decimals, interval, interval_cell, number, p_text

ENDS = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(lambda ends: (min(ends), max(ends)))


@pytest.mark.parametrize(
    ("half", "expected"),
    # Two significant digits of the half-width, worked by hand; 0.0996 rounds to 0.10, 0.00996 to
    # 0.010.
    [
        (0.43, 2),
        (0.099, 3),
        (0.0996, 2),
        (0.042, 3),
        (0.00996, 3),
        (0.0031, 4),
        (0.00031, 4),
        (1.2, 2),
        (9.4, 2),
        (12.0, 0),
        (340.0, 0),
    ],
)
def test_two_digits_of_the_half_width_decide(half: float, expected: int) -> None:
    assert decimals([(-half, half)]) == expected


def test_the_narrowest_interval_decides_and_what_is_no_interval_does_not() -> None:
    assert decimals([(0.2, 0.3), (0.250, 0.254)]) == 4
    assert decimals([(0.2, 0.3), (0.5, 0.5), (math.nan, math.nan), (-math.inf, math.inf)]) == 3
    assert decimals([(0.5, 0.5)]) == decimals([(-math.inf, 1.0)]) == 4


def test_asked_digits_are_taken_as_they_are() -> None:
    assert [
        decimals([(0.2, 0.3)], apart=[(0.00001, 0.0)], digits=digits) for digits in (0, 2, 9)
    ] == [0, 2, 9]


@given(st.lists(ENDS, max_size=4))
def test_between_two_and_four_for_values_from_0_to_1(intervals: list[tuple[float, float]]) -> None:
    assert 2 <= decimals(intervals) <= 4


@given(ENDS.filter(lambda ends: ends[0] > 1e-12), st.sampled_from([1, -1]))
def test_the_interval_of_a_decided_difference_never_looks_as_if_it_held_zero(
    ends: tuple[float, float], sign: int
) -> None:
    low, high = sorted(sign * end for end in ends)

    places = decimals([(low, high)], apart=[(low, 0.0), (high, 0.0)])

    shown = [
        Decimal(text) for text in interval((low, high), places, signed=True).strip("[]").split(", ")
    ]
    assert all(end * sign > 0 for end in shown)


@given(st.floats(0, 1), st.sampled_from([0.05, 0.01, 0.001, 0.1]))
def test_a_p_value_is_shown_on_its_own_side_of_alpha(p: float, alpha: float) -> None:
    shown = p_text(p, alpha)

    if p >= 1e-6:
        assert (Decimal(shown) <= Decimal(str(alpha))) == (p <= alpha)
        assert Decimal(shown) == pytest.approx(Decimal(p), rel=Decimal("0.0051"))
    else:
        assert shown == "<0.000001"


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.092, math.inf), "[+0.092, open)"),
        ((-math.inf, -0.092), "(open, -0.092]"),
        ((-math.inf, math.inf), "-"),
        ((math.nan, math.nan), "-"),
    ],
)
def test_an_open_end_is_shown_and_an_interval_without_ends_is_a_dash(
    ends: tuple[float, float], expected: str
) -> None:
    assert interval(ends, 3, signed=True) == interval_cell(ends, 3, signed=True).text == expected
    assert interval_cell(ends, 3).value == ends


def test_zero_has_no_minus_and_no_number_is_a_dash() -> None:
    assert [number(value, 2, signed=True) for value in (-0.0, 0.0, -0.001, math.inf)] == [
        "+0.00",
        "+0.00",
        "-0.00",
        "-",
    ]


def test_what_rounding_sets_apart_takes_no_decimals() -> None:
    """An end next to 0, as of Holm's intervals, asked for 15 decimals in all of a report."""
    assert decimals([(0.2, 0.3)], apart=[(5e-324, 0.0), (0.1 + 0.2, 0.3), (-3e-13, 0.0)]) == 3
    assert decimals([(0.2, 0.3)], apart=[(2e-6, 0.0)]) == 6
