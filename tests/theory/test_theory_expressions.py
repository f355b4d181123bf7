"""Chances of relevance as one types them."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from idealrank.errors import IdealrankError, OptionError
from idealrank.theory.expressions import parse_curve, parse_model

S = np.linspace(0, 1, 11)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1+0.8s", 0.1 + 0.8 * S),
        ("0.9 - 0.8*s", 0.9 - 0.8 * S),
        ("s^2", S**2),
        ("S**2", S**2),
        (".5", np.full(11, 0.5)),
        ("5e-1", np.full(11, 0.5)),
        ("-0.2 + s", S - 0.2),
        ("4s(1-s)", 4 * S * (1 - S)),
        ("0.7-1.6(1-s)+1.5(1-s)^2", 0.7 - 1.6 * (1 - S) + 1.5 * (1 - S) ** 2),
        ("logistic(8,-5)", 1 / (1 + np.exp(-(8 * S - 5)))),
        ("0.2+0.6*logistic(8, -5)^2", 0.2 + 0.6 / (1 + np.exp(-(8 * S - 5))) ** 2),
        ("2s*s s", 2 * S**3),
        ("((s))", S),
        ("s^0", np.ones(11)),
        ("2s^2", 2 * S**2),
        ("-s^2", -(S**2)),
        ("0:0.1,1:0.9", 0.1 + 0.8 * S),
        ("0:0.1, 0.5:0.3, 1:0.9", np.interp(S, [0, 0.5, 1], [0.1, 0.3, 0.9])),
        ("0:0.1,0.5:0.1,0.5:0.9,1:0.9", np.where(S < 0.5, 0.1, 0.9)),
    ],
)
def test_what_is_typed_is_what_is_meant(text: str, expected: np.ndarray) -> None:
    np.testing.assert_allclose(parse_curve(text).chance(S), expected, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "found the end at character 1, expected a number"),
        ("0.1+", "found the end at character 5"),
        ("0.1 0.2", "found '0.2' at character 5, expected an operator"),
        ("s2", "found '2' at character 2"),
        ("1-t", "found 't' at character 3, expected a polynomial in s"),
        ("__import__('os')", "found '_'"),
        ("s^-1", "found '-' at character 3, expected a whole power"),
        ("s^0.5", "whole power from 0 to 64"),
        ("s^65", "whole power"),
        ("s^s", "whole power"),
        ("(s", "closing bracket"),
        ("s)", "found '\\)' at character 2"),
        ("(" * 30 + "s" + ")" * 30, "at most 20 brackets"),
        ("1e999", "finite number"),
        ("logistic(8)", "found '\\)'"),
        ("logistic 8", "logistic"),
        ("logistic(s,1)", "finite number"),
        ("s/2", "found '/'"),
        ("\u0663s", "found '\u0663'"),
        ("0:0.1", "at character|expected 2 to"),
        ("0:0.1,0.5:0.2", "rise from 0 to 1"),
        ("0:0.1,0.7:1,0.5:0.2,1:1", "rise from 0 to 1"),
        ("0:0.1,0.5:1,0.5:0.2,0.5:0.3,1:1", "twice for a jump"),
        ("0:0.1,1:1.5", "found probability 1.5"),
        ("0:0.1,1:x", "expected 2 to 1000 points"),
        ("0:0.1,,1:1", "points"),
        ("s" * 3000, "found 3000 characters"),
    ],
)
def test_what_is_no_chance_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        parse_curve(text)


def test_points_say_where_the_kinks_are() -> None:
    assert parse_curve("0:0.1,0.25:0.3,0.5:0.1,0.5:0.9,1:0.9").points == (0.25, 0.5)
    assert parse_curve("0.1+0.8s").points == ()


def test_grades_stand_before_a_colon() -> None:
    model = parse_model(["1:0.2+0.2s", "2:0:0.05,0.5:0.2,1:0.4", "3:logistic(1,-9)"], gain="exp2")

    assert model.gains == (7.0, 3.0, 1.0)
    assert model.points == (0.5,)
    np.testing.assert_allclose(model.chances[1](np.array([0.25])), [0.125])
    assert parse_model("2:0.5").gains == (2.0,)
    assert parse_model("0:0.1,1:0.9").gains == (1.0,)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([], "expected one text"),
        (["s", "0.5s"], "each begin with a grade"),
        (["2:0.1s", "2:0.2s"], "each grade once"),
        (["x:0.1s"], "found 'x' before the colon"),
        ("2s", "ybar is 2 at|ybar is .* expected probabilities"),
        ("0:0.5", "grade 0"),
        (["1:s", "2:s"], "sum to 2"),
        ("(999999s)^64", "expected probabilities"),
    ],
)
def test_what_is_no_model_is_refused(texts: list[str] | str, said: str) -> None:
    with pytest.raises(IdealrankError, match=said):
        parse_model(texts)


@given(st.text(alphabet="s0123456789.+-*^() ,:elogistc", max_size=40) | st.text(max_size=20))
@example("((((((((((((((((((((((((((((((((((s")
@example("0:0,1:" + "9" * 400)
def test_any_text_is_a_curve_or_an_error_of_ours(text: str) -> None:
    try:
        curve = parse_curve(text)
    except OptionError:
        return
    assert curve.chance(S).shape == S.shape
    assert all(0 < point < 1 for point in curve.points)


_NUMBERS = st.integers(0, 99).map(lambda number: f"{number / 10:g}")
_EXPRESSIONS = st.recursive(
    _NUMBERS | st.just("s"),
    lambda inner: (
        st.tuples(inner, st.sampled_from("+-*"), inner).map(
            lambda parts: f"({parts[0]}{parts[1]}{parts[2]})"
        )
        | st.tuples(inner, st.integers(0, 4)).map(lambda parts: f"({parts[0]})^{parts[1]}")
    ),
    max_leaves=9,
)


@given(_EXPRESSIONS)
def test_an_expression_has_the_value_that_python_gives_it(text: str) -> None:
    # What Hypothesis made of brackets, numbers, s and operators is evaluated by Python itself.
    expected = [float(eval(text.replace("^", "**"), {"s": float(s)})) for s in S]
    if all(map(math.isfinite, expected)):
        found = parse_curve(text).chance(S)
        np.testing.assert_allclose(
            found, expected, rtol=1e-12, atol=1e-9 * max(1.0, np.abs(expected).max())
        )
