"""What the theory is built from: integrals, models of relevance, and how discounts fall and cutoffs
grow.
"""

import math

import numpy as np
import pytest
from scipy import integrate as scipy_integrate
from scipy.special import zeta

import idealrank as ir
from idealrank.theory.decay import decay_of, growth_of
from idealrank.theory.quadrature import integrate
from idealrank.theory.relevance import RelevanceModel

SMOOTH = [
    "log2",
    "log(10)",
    "jarvelin(2)",
    "jarvelin(10)",
    "zipf(0.25)",
    "zipf(0.5)",
    "zipf(0.8)",
    "zipf(1)",
    "zipf(2)",
    "geometric(2)",
]


@pytest.mark.parametrize("text", SMOOTH)
def test_a_decay_is_its_discount_but_for_a_factor(text: str) -> None:
    """At whole ranks the weights are those that measures use, times one constant."""
    decay, ranks = decay_of(text), np.arange(1, 40)
    ratio = decay.weight(ranks.astype(float)) / decay.discount.at(ranks, ranks)
    assert ratio == pytest.approx(np.full(39, ratio[0]), rel=1e-14)


@pytest.mark.parametrize("text", SMOOTH)
def test_the_integral_of_a_decay(text: str) -> None:
    """SciPy's quadrature is the oracle."""
    decay = decay_of(text)
    for end in (1.0, 1.5, 7.0, 300.0):
        expected = scipy_integrate.quad(
            lambda t: float(decay.weight(np.array([t]))[0]),
            1.0,
            end,
            points=[p for p in (2.0, 10.0) if p < end] or None,
            epsabs=1e-13,
            limit=200,
        )[0]
        assert decay.integral(np.array([end]))[0] == pytest.approx(expected, abs=1e-11, rel=1e-11)


@pytest.mark.parametrize("beta", [0.25, 0.5, 0.8, 1.5, 2.0])
def test_kappa_of_zipf_is_the_zeta_function(beta: float) -> None:
    """kappa = zeta(b) + 1 / (1 - b); below 1 zeta is the analytic continuation, by its functional
    equation.
    """
    value = (
        zeta(beta)
        if beta > 1
        else 2**beta
        * math.pi ** (beta - 1)
        * math.sin(math.pi * beta / 2)
        * math.gamma(1 - beta)
        * _zeta_above(beta)
    )
    assert decay_of(f"zipf({beta})").kappa == pytest.approx(value + 1 / (1 - beta), abs=2e-13)


def _zeta_above(beta: float) -> float:
    """zeta(1 - b) for 0 < b < 1 by the alternating series, summed with Euler's transformation."""
    s, terms = 1 - beta, [(k + 1) ** -(1 - beta) for k in range(60)]
    total, differences = 0.0, np.array(terms)
    for k in range(50):
        total += differences[0] / 2 ** (k + 1)
        differences = differences[:-1] - differences[1:]
    return total / (1 - 2 ** (1 - s))


def test_kappa_of_the_others() -> None:
    """Euler's constant; the logarithm's, recomputed independently (papers' golden numbers); a
    geometric series in closed form.
    """
    assert decay_of("zipf").kappa == pytest.approx(0.577215664901533, abs=1e-13)
    assert decay_of("log2").kappa == pytest.approx(0.801925437226512, abs=2e-13)
    assert decay_of("geometric(2)").kappa == pytest.approx(1 - 0.5 / math.log(2), abs=1e-14)


def test_which_discounts_have_a_finite_sum() -> None:
    """A function of the user's might or might not."""
    sums = {
        text: decay_of(text).summable
        for text in ("log2", "zipf(0.5)", "zipf(1)", "zipf(1.1)", "geometric(2)", "linear")
    }
    assert sums == {
        "log2": False,
        "zipf(0.5)": False,
        "zipf(1)": False,
        "zipf(1.1)": True,
        "geometric(2)": True,
        "linear": False,
    }
    assert decay_of([1, 0.5]).summable is True
    assert decay_of(lambda rank: 1 / rank).summable is None
    with pytest.raises(ir.OptionError, match="has no integral of its own"):
        decay_of("linear").integral(np.array([2.0]))


def test_how_cutoffs_grow() -> None:
    """The four kinds, and what they are at a length."""
    found = [
        (growth_of(cutoff).kind, growth_of(cutoff).size, growth_of(cutoff).at(1000))
        for cutoff in (None, 10, "0.2n", "sqrt(n)", "n^0.3", "2n")
    ]
    assert found == [
        ("whole", 1, 1000),
        ("constant", 10, 10),
        ("share", 0.2, 200),
        ("power", 0.5, 31),
        ("power", 0.3, 7),
        ("whole", 1, 1000),
    ]
    assert growth_of(10).at(4) == 4
    # beyond whole numbers of 63 bits
    assert growth_of(10).log_share(10**20) == pytest.approx(math.log(1e-19), rel=1e-14)


def test_integrals_settle_or_say_so() -> None:
    """Kinks that are named cost nothing; a singularity is an error."""
    assert integrate(lambda s: np.abs(s - 1 / 3), 0, 1, points=[1 / 3]) == pytest.approx(
        5 / 18, abs=1e-15
    )
    assert integrate(lambda s: np.sin(50 * s), 0, 1) == pytest.approx(
        (1 - math.cos(50)) / 50, abs=1e-13
    )
    with pytest.raises(ir.InputError, match=r"name the kinks in points="):
        integrate(lambda s: s**-0.9, 0, 1)


def test_a_model_of_relevance() -> None:
    """Binary and graded; shares by hand."""
    assert RelevanceModel.of(lambda s: s**2).share == pytest.approx(1 / 3, abs=1e-15)
    graded = RelevanceModel.of(
        {2: lambda s: 0.05 + 0.35 * s**2, 1: lambda s: 0.2 + 0.2 * s}, gain="exp2"
    )
    assert graded.gains == (3.0, 1.0)
    assert graded.reached == pytest.approx((1 / 6, 7 / 15), abs=1e-15)
    assert graded.at_top == pytest.approx(3 * 0.4 + 0.4, abs=1e-15)
    assert RelevanceModel.of(lambda s: 0.5).share == 0.5


@pytest.mark.parametrize(
    ("ybar", "options", "message"),
    [
        (lambda s: 2 * s, {}, "ybar is 1.0.* at s = 0.50.*, expected probabilities from 0 to 1"),
        (lambda s: s[:3], {}, "gave shape"),
        (0.5, {}, "expected a vectorised function"),
        (
            lambda s: 0.9 if s > 0.5 else 0.1,
            {},
            r"single numbers only, expected a vectorised function.*numpy\.where in place of if",
        ),
        (lambda s: math.exp(-s), {}, r"numpy\.exp in place of math\.exp"),
        ({1: lambda s: 0.7, 2: lambda s: 0.7}, {}, "sum to 1.4"),
        ({0: lambda s: 0.7}, {}, "expected grades above 0"),
        ({}, {}, "at least one grade"),
        (
            {grade: lambda s: 0.001 for grade in range(1, 257)},
            {},
            "found 256 grades, expected at most 255",
        ),
        (lambda s: s, {"points": [1.0]}, "between 0 and 1"),
        (lambda s: s * np.nan, {}, "expected probabilities from 0 to 1"),
    ],
)
def test_what_is_no_model(ybar: object, options: dict[str, object], message: str) -> None:
    """Named when built."""
    with pytest.raises((ir.InputError, ir.OptionError), match=message):
        RelevanceModel.of(ybar, **options)  # type: ignore[arg-type]
