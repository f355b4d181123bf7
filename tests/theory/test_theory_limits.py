"""Limits of NDCG: the theorems' numbers as recomputed independently, closed forms, and what has no
limit.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate as scipy_integrate

import idealrank as ir
from idealrank.theory import RelevanceModel, limit, pseudo_expectation
from idealrank.theory.decay import decay_of, growth_of

MODELS = {
    "LIN": lambda s: 0.1 + 0.8 * s,
    "POW": lambda s: s**2,
    "LOGI": lambda s: 1 / (1 + np.exp(-(8 * s - 5))),
    "RAND": lambda s: 0.5,
    "ANTI": lambda s: 0.9 - 0.8 * s,
    "COI0": lambda s: 0.7 - 1.6 * (1 - s) + 1.5 * (1 - s) ** 2,
    "COI1": lambda s: 0.6 - 0.4 * (1 - s),
}
CASES = [
    ("zipf(1)", None, 9),
    ("zipf(0.25)", None, 7),
    ("zipf(0.5)", None, 7),
    ("zipf(0.8)", None, 7),
    ("log2", "0.2n", 12),
    ("log2", "0.7n", 12),
    ("zipf(0.5)", "0.2n", 13),
    ("zipf(0.5)", "0.7n", 13),
]
# Recomputed by an independent quadrature, nine digits; the columns are those of CASES.
TABLE = {
    "LIN": [0.9, 0.936998863, 0.895668590, 0.880668739, 0.82, 0.868, 0.846666667, 0.844027382],
    "POW": [
        1.0,
        0.947327608,
        0.923760431,
        0.943735560,
        0.813333333,
        0.973,
        0.874666667,
        0.914888919,
    ],
    "LOGI": [
        0.952574127,
        0.963025078,
        0.941166337,
        0.937562265,
        0.892606214,
        0.978654807,
        0.914373987,
        0.933767956,
    ],
    "RAND": [0.5, 0.840896415, 0.707106781, 0.574349177, 0.5, 0.7, 0.5, 0.591607978],
    "ANTI": [0.1, 0.744793968, 0.518544973, 0.268029616, 0.18, 0.532, 0.153333333, 0.339188574],
    "COI0": [0.7, 0.841747590, 0.737864787, 0.684276950, 0.56, 0.67375, 0.605333333, 0.626602102],
    "COI1": [0.6, 0.852075781, 0.737864787, 0.640599698, 0.56, 0.805, 0.573333333, 0.670256999],
}
GRADES = {2: lambda s: 0.05 + 0.35 * s**2, 1: lambda s: 0.2 + 0.2 * s}


@pytest.mark.parametrize("name", TABLE)
def test_the_table_of_limits(name: str) -> None:
    """Seven models under eight pairs of discount and cutoff."""
    for (discount, cutoff, number), expected in zip(CASES, TABLE[name], strict=True):
        found = limit(MODELS[name], discount=discount, cutoff=cutoff)
        assert (found.theorem, found.stated) == (f"Theorem {number}", True)
        assert found.value == pytest.approx(expected, abs=6e-10)


def test_the_logarithm_on_the_whole_list() -> None:
    """Theorem 4: 1, whatever the ranker; log(b) and jarvelin(b) fall under it."""
    for discount in ("log2", "log(10)", "jarvelin(2)", "jarvelin(10)"):
        found = limit(MODELS["ANTI"], discount=discount)
        assert (found.value, found.theorem) == (1.0, "Theorem 4")
    shared = [
        limit(MODELS["ANTI"], discount=discount, cutoff="0.2n").value
        for discount in ("log2", "jarvelin(10)", "log(3)")
    ]
    assert shared == pytest.approx([0.18] * 3, abs=1e-13)


@pytest.mark.parametrize("discount", ["log2", "zipf(0.5)", "zipf(1)", "linear"])
def test_cutoffs_of_smaller_order_see_the_top_alone(discount: str) -> None:
    """Theorems 11 and 15; a best grade that never occurs is not the ideal's."""
    assert limit(MODELS["LIN"], discount=discount, cutoff="sqrt(n)").value == pytest.approx(
        0.9, abs=1e-15
    )
    graded = limit(GRADES, discount=discount, cutoff="n^0.3")
    assert (graded.value, graded.theorem) == (pytest.approx(0.6, abs=1e-15), "Theorem 15")
    assert limit(
        {**GRADES, 3: lambda s: 0.0 * s}, discount=discount, cutoff="n^0.3"
    ).value == pytest.approx(0.6, abs=1e-15)


def test_graded_limits() -> None:
    """Theorems 14, 16 and 17, and 1/r; recorded beside simulations of 150 lists of a million
    documents, six digits.
    """
    cases = [
        ("log2", "0.1n", "linear", 16, 0.561167),
        ("log2", "0.3n", "exp2", 16, 0.609395),
        ("log2", "0.6n", "linear", 16, 0.761684),
        ("zipf(0.5)", None, "linear", 14, 0.739127),
        ("zipf(0.25)", None, "exp2", 14, 0.829088),
        ("zipf(0.5)", "0.6n", "exp2", 17, 0.627889),
        ("zipf(1)", None, "exp2", 9, 0.533333),
        ("log2", None, "exp2", 4, 1.0),
    ]
    for discount, cutoff, gain, number, expected in cases:
        found = limit(GRADES, discount=discount, cutoff=cutoff, gain=gain)
        assert found.theorem == f"Theorem {number}"
        assert found.value == pytest.approx(expected, abs=6e-7)


def test_the_linear_discount() -> None:
    """Four models in closed form; with a cutoff, and for grades, by SciPy's quadrature."""
    expected = {"LIN": 0.38 / 0.45, "POW": 0.9, "RAND": 2 / 3, "ANTI": 0.22 / 0.45}
    for name, value in expected.items():
        found = limit(MODELS[name], discount="linear")
        assert found.value == pytest.approx(value, abs=1e-14)
        assert (found.theorem, found.stated) == ("Linear discount", False)
    above = scipy_integrate.quad(
        lambda u: (2 * (0.05 + 0.35 * (1 - u) ** 2) + 0.2 + 0.2 * (1 - u)) * (1 - u), 0, 0.3
    )[0]
    size = lambda u: u - u * u / 2  # noqa: E731
    assert limit(GRADES, discount="linear", cutoff="0.3n").value == pytest.approx(
        above / (2 * size(1 / 6) + size(0.3) - size(1 / 6)), abs=1e-14
    )


@pytest.mark.parametrize("beta", [0.01, 0.3, 0.5, 0.9, 0.999, 0.999999])
@pytest.mark.parametrize("power", [0.2, 1, 2, 7.5])
def test_powers_from_the_top_have_a_closed_form(beta: float, power: float) -> None:
    """ybar = 0.2 + 0.6 u^a, singular at the top for a < 1, and b near 1, too; float64 knows no
    scores between 1 - 1e-16 and 1.
    """
    rest, share = 1 - beta, 0.2 + 0.6 / (power + 1)
    tolerance = 1e-12 + rest / power * 1e-16 ** (power + rest)
    whole = limit(lambda s: 0.2 + 0.6 * (1 - s) ** power, discount=f"zipf({beta})").value
    assert whole == pytest.approx((0.2 + 0.6 * rest / (power + rest)) / share**rest, abs=tolerance)
    above = 0.2 * 0.3**rest + 0.6 * rest / (power + rest) * 0.3 ** (power + rest)
    cut = limit(
        lambda s: 0.2 + 0.6 * (1 - s) ** power, discount=f"zipf({beta})", cutoff="0.3n"
    ).value
    assert cut == pytest.approx(above / min(0.3, share) ** rest, abs=tolerance)


def test_kinks_and_jumps() -> None:
    """Named or found; a jump by hand: ybar = 0.8 above s = 0.7, else 0.2."""

    def step(s: np.ndarray) -> np.ndarray:
        return np.where(s > 0.7, 0.8, 0.2)

    expected = (0.2 + 0.6 * math.sqrt(0.3)) / math.sqrt(0.38)
    assert limit(step, discount="zipf(0.5)", points=[0.7]).value == pytest.approx(
        expected, abs=1e-13
    )
    assert limit(step, discount="zipf(0.5)").value == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("discount", "cutoff", "message"),
    [
        ("log2", 10, "cutoff 10 has no limit: .*grows with n"),
        ("linear", 10, "cutoff 10 has no limit"),
        ("zipf(1.01)", None, "finite sum .Theorem 10"),
        ("zipf(2)", "sqrt(n)", "Theorems 7 and 11 need it to diverge"),
        ("geometric(2)", "0.2n", "finite sum .Theorem 10"),
        ([1, 0.5], None, "finite sum .Theorem 10"),
        (lambda rank: 1 / rank, "0.2n", "no number of values of a function can tell"),
    ],
)
def test_what_has_no_limit(discount: object, cutoff: object, message: str) -> None:
    """The error names the theorem and the condition that fails."""
    with pytest.raises(ir.OptionError, match=message):
        limit(MODELS["LIN"], discount=discount, cutoff=cutoff)  # type: ignore[arg-type]


def test_nothing_relevant() -> None:
    """p = 0, which the paper's proof of Theorem 4 lets pass, is 0/0."""
    with pytest.raises(ir.OptionError, match="Theorem 4 needs p > 0"):
        limit(lambda s: 0.0)


def test_a_limit_reads_well() -> None:
    """Value, theorem, rate and conditions; what the paper does not state says so."""
    text = str(limit(GRADES, discount="zipf(1)", cutoff="0.2n"))
    assert text.startswith(
        "NDCG -> 0.6 (Theorem 9), discount zipf(1), cutoff 0.2n\n  rate: its mean is 0.6 - C/ln n"
    )
    assert text.count("not stated in the paper") == 2
    assert "gains 2, in a share R_1 = 0.166667 (checked)" in text
    assert float(limit(MODELS["LIN"], discount="zipf(1)")) == pytest.approx(0.9, abs=1e-15)
    assert any(
        "factor cancels" in each for each in limit(MODELS["LIN"], discount="jarvelin(2)").conditions
    )


def test_theorem_4_asks_nothing_of_the_ranker() -> None:
    """All relevant documents last, a jump: F(n) - F(n - p n) over F(p n) comes to 1; continuity
    stands with the others.
    """
    worst, n = limit(lambda s: (s < 0.3) * 1.0, points=[0.3]), 10.0**300
    assert not any("continuous" in each for each in worst.conditions)
    integral = decay_of("log2").integral
    ndcg = float(
        (integral(np.array([n])) - integral(np.array([0.7 * n])))[0]
        / integral(np.array([0.3 * n]))[0]
    )
    assert (1 - ndcg) * math.log(n) == pytest.approx(worst.rate_constant, rel=0.01)
    many = limit(lambda s: 0.5 + 0 * s, cutoff="0.2n", points=np.arange(1, 20) / 20)
    assert "on [0, 1] but at the 19 points given (assumed" in many.conditions[1]
    assert many.rate_constant == 0
    cut = limit(lambda s: (s < 0.3) * 1.0, cutoff="0.9n", points=[0.3])
    assert (
        "ybar is continuous on [0, 1] but at s = 0.3 (assumed; single places have no share of "
        "the list)" in cut.conditions
    )
    assert cut.value == pytest.approx(2 / 3, abs=1e-13)


def test_the_constants_of_the_rates() -> None:
    """Theorem 4: 1 - ln p + (1/p) int ybar(1-u) ln u du, in closed form for polynomials: int u^k ln
    u = -1/(k+1)^2.
    """
    assert limit(MODELS["LIN"]).rate_constant == pytest.approx(
        1 + math.log(2) + 2 * (-0.9 + 0.8 / 4), abs=1e-13
    )
    assert limit(MODELS["POW"]).rate_constant == pytest.approx(
        1 + math.log(3) + 3 * (-1 + 2 / 4 - 1 / 9), abs=1e-13
    )
    assert limit(MODELS["RAND"]).rate_constant == pytest.approx(math.log(2), abs=1e-13)


@pytest.mark.parametrize(
    ("discount", "cutoff", "words", "order"),
    [
        ("zipf(0.25)", None, "n^-1/2", lambda n: n**-0.5),
        ("zipf(0.5)", None, "(ln n / n)^1/2", lambda n: (math.log(n) / n) ** 0.5),
        ("zipf(0.8)", None, "n^-0.2", lambda n: n**-0.2),
        ("zipf(0.8)", "0.2n", "n^-0.2", lambda n: n**-0.2),
        ("zipf(1)", None, "1/ln n, too", lambda n: 1 / math.log(n)),
        ("log2", "0.2n", "n^-1/2", lambda n: n**-0.5),
        ("log2", "n^0.6", "n^-0.3", lambda n: n**-0.3),
        ("zipf(0.25)", "n^0.6", "n^-0.3", lambda n: n**-0.3),
        ("zipf(0.5)", "n^0.6", "(ln n)^1/2 n^-0.3", lambda n: math.log(n) ** 0.5 * n**-0.3),
        ("zipf(0.8)", "n^0.6", "n^-0.12", lambda n: n**-0.12),
    ],
)
def test_one_list_varies_as_its_weights_do(
    discount: str, cutoff: str | None, words: str, order: Callable[[float], float]
) -> None:
    """The order that is named falls as root(sum D^2) / sum D over the ranks that count, from 10^5
    to 10^6 documents.
    """
    assert limit(MODELS["RAND"], discount=discount, cutoff=cutoff).rate.endswith(
        f" by order {words}"
    )
    spread = []
    for n in (10**5, 10**6):
        weights = decay_of(discount).weight(np.arange(1.0, growth_of(cutoff).at(n) + 1))
        spread.append(math.sqrt((weights**2).sum()) / weights.sum() / order(n))
    assert spread[1] == pytest.approx(spread[0], rel=0.1)


@pytest.mark.parametrize("discount", ["log2", "zipf(0.5)", "zipf(1)", "linear"])
def test_means_above_a_power_of_n_come_to_the_limit_at_the_pace_of_the_slope(discount: str) -> None:
    """Where ybar has a slope at the top the mean is off by the share of the list that is seen, k/n
    = n^-(1-a).
    """
    found = limit(MODELS["LIN"], discount=discount, cutoff="n^0.6")
    off = [
        abs(pseudo_expectation(MODELS["LIN"], n, discount, "n^0.6") - found.value)
        for n in (10**5, 10**15)
    ]
    assert "of order n^-0.4 where" in found.rate
    assert math.log10(off[0] / off[1]) == pytest.approx(4, abs=0.6)


POLYNOMIALS = st.lists(st.floats(0.01, 1), min_size=1, max_size=5).map(
    lambda parts: np.array(parts) / len(parts)
)
DISCOUNTS = st.sampled_from(["log2", "zipf(0.3)", "zipf(0.5)", "zipf(0.9)", "zipf(1)", "linear"])
CUTOFFS = st.sampled_from([None, "0.1n", "0.45n", "0.9n", "n^0.4"])


@given(POLYNOMIALS, DISCOUNTS, CUTOFFS)
def test_limits_are_values_of_ndcg(parts: np.ndarray, discount: str, cutoff: str | None) -> None:
    """From 0 to 1; and reversing a rising ybar never makes it larger."""
    rising = limit(np.polynomial.Polynomial(parts), discount=discount, cutoff=cutoff).value
    falling = limit(
        lambda s: np.polynomial.Polynomial(parts)(1 - s), discount=discount, cutoff=cutoff
    ).value
    assert 0 <= falling <= rising + 1e-12
    assert rising <= 1 + 1e-12


@given(POLYNOMIALS, DISCOUNTS, CUTOFFS, st.floats(0.5, 3))
def test_graded_theorems_reduce_to_the_binary_ones(
    parts: np.ndarray, discount: str, cutoff: str | None, split: float
) -> None:
    """One grade of any gain is binary relevance; so are two grades whose gains are all but
    equal.
    """
    chance = np.polynomial.Polynomial(parts)
    binary = limit(chance, discount=discount, cutoff=cutoff).value
    assert limit({3: chance}, discount=discount, cutoff=cutoff).value == pytest.approx(
        binary, abs=1e-12
    )
    share = split / 4
    two = RelevanceModel(
        (1 + 1e-9, 1.0), (lambda s: share * chance(s), lambda s: (1 - share) * chance(s))
    )
    assert limit(two, discount=discount, cutoff=cutoff).value == pytest.approx(binary, abs=1e-8)


@given(POLYNOMIALS, st.floats(0.01, 0.99).map(lambda share: round(share, 4)))
def test_theorem_12_is_precision_at_the_cutoff(parts: np.ndarray, share: float) -> None:
    """c / min(c, p) P(Y = 1 | s >= 1 - c), from the polynomial's antiderivative."""
    chance = np.polynomial.Polynomial(parts)
    area = chance.integ()
    p, above = area(1) - area(0), area(1) - area(1 - share)
    assert limit(chance, cutoff=f"{share}n").value == pytest.approx(
        share / min(share, p) * (above / share), abs=1e-12
    )


@given(POLYNOMIALS, st.floats(0, 0.2), DISCOUNTS)
def test_a_better_order_has_a_larger_limit(parts: np.ndarray, tilt: float, discount: str) -> None:
    """More relevance at the top and less at the bottom, p the same."""
    chance = np.polynomial.Polynomial(0.5 * parts + 0.2 * (np.arange(parts.size) == 0))
    better = limit(lambda s: chance(s) + tilt * (2 * s - 1), discount=discount)
    assert better.value >= limit(chance, discount=discount).value - 1e-12
