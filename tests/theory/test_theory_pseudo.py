"""The mean of NDCG at a length: quadrature in many digits, sums over ranks, and how it comes to its
limit.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate as scipy_integrate

import idealrank as ir
from idealrank.theory import definition_gap, expansion, limit, pseudo_expectation
from idealrank.theory.discount_sums import scaled_expi
from tests.twins.means_of_lists import mean_dcg, mean_ideal, mean_ndcg_of_noise

GRADES = {2: lambda s: 0.05 + 0.35 * s**2, 1: lambda s: 0.2 + 0.2 * s}


def logistic(s: np.ndarray) -> np.ndarray:
    """The model LOGI."""
    return 1 / (1 + np.exp(-(8 * s - 5)))


# N and N* for LOGI by mpmath 1.3 with 40 digits, panels in ln s, kappa by the zeta function and
# Euler-Maclaurin.
DIGITS = [
    (50, None, "log2", 0.9539174707841656, 0.9538060218505644),
    (50, "0.2n", "zipf(0.8)", 0.9048742736334936, 0.9125685358827402),
    (50, None, "geometric(2)", 0.9298212317612495, 0.9361613996925819),
    (1000, "0.2n", "log2", 0.902246767526, 0.9030517283375001),
    (1000, None, "zipf(1.5)", 0.944359626703677, 0.9463639055940473),
    (10**6, None, "zipf", 0.9433278266346421, 0.9437253542372732),
    (10**6, "0.2n", "zipf(0.8)", 0.9324257913255622, 0.9326396257612091),
    (10**12, None, "log2", 0.9934272847986119, 0.9934272847964043),
    (10**12, "0.2n", "log2", 0.8940385668214829, 0.8940385668273453),
    (10**12, None, "zipf(0.8)", 0.9374893989635856, 0.9374976311654281),
    (10**12, "0.2n", "zipf", 0.9484653481859733, 0.9485545120389846),
    (10**12, None, "zipf(1.5)", 0.9525738689359499, 0.952573929388029),
]


@pytest.mark.parametrize(("n", "cutoff", "discount", "definition", "corrected"), DIGITS)
def test_against_forty_digits(
    n: int, cutoff: str | None, discount: str, definition: float, corrected: float
) -> None:
    """Up to n = 10^12, where 1e-10 is asked for."""
    assert pseudo_expectation(logistic, n, discount, cutoff, corrected=False) == pytest.approx(
        definition, abs=1e-14
    )
    assert pseudo_expectation(logistic, n, discount, cutoff) == pytest.approx(corrected, abs=1e-14)


@pytest.mark.parametrize("discount", ["jarvelin(2)", "jarvelin(50)", "log(7)", "zipf(0.999)"])
def test_definition_20_rank_by_rank(discount: str) -> None:
    """SciPy integrates over ranks; the weights are those of measures but for a factor, which
    cancels.
    """
    from idealrank.theory.decay import decay_of

    decay, n = decay_of(discount), 400
    integrand = lambda s: (0.2 + 0.7 * (1 - s / n) ** 3) * decay.weight(np.array([s]))[0]  # noqa: E731
    above = sum(
        scipy_integrate.quad(integrand, a, b, epsabs=1e-13)[0]
        for a, b in ((1, 2), (2, 50), (50, 100))
    )
    expected = above / decay.integral(np.array([100.0]))[0]
    assert pseudo_expectation(
        lambda s: 0.2 + 0.7 * s**3, n, discount, "0.25n", corrected=False
    ) == pytest.approx(expected, abs=1e-12)


def test_before_the_base_of_jarvelin_all_ranks_weigh_the_same() -> None:
    """n = 30 and base 50: both sides are plain integrals."""
    above = scipy_integrate.quad(lambda s: 0.2 + 0.7 * (1 - s / 30) ** 3, 1, 30)[0]
    found = pseudo_expectation(lambda s: 0.2 + 0.7 * s**3, 30, "jarvelin(50)", corrected=False)
    assert found == pytest.approx(above / (30 * 0.375 - 1), abs=1e-13)


MODELS = {
    "LIN": (0.9, -0.8),
    "POW": (1.0, -2.0, 1.0),
    "RAND": (0.5,),
    "ANTI": (0.1, 0.8),
    "COI0": (0.7, -1.6, 1.5),
}


def of_share(coefficients: tuple[float, ...]):
    """Ybar as a function of s, from powers of u = 1 - s."""
    return lambda s: np.polynomial.Polynomial(coefficients)(1 - s)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("discount", ["log2", "zipf(0.5)", "zipf(0.8)", "zipf(1)", "jarvelin(4)"])
@pytest.mark.parametrize("cutoff", [None, "0.2n", "0.7n"])
def test_the_correction_leaves_an_error_of_smaller_order(
    name: str, discount: str, cutoff: str | None
) -> None:
    """N* against exact sums over ranks and over the number of relevant documents: O(1/n) with a
    small constant.
    """
    for n in (400, 4000):
        depth = n if cutoff is None else int(float(cutoff[:-1]) * n)
        exact = mean_dcg(MODELS[name], n, discount, depth) / mean_ideal(
            MODELS[name], n, discount, depth
        )
        error = pseudo_expectation(of_share(MODELS[name]), n, discount, cutoff) - exact
        assert abs(error) < 1.0 / n


def test_the_definition_is_off_by_more() -> None:
    """Where the paper's N is worst: 1/r and a ranker that is right at the top."""
    n, coefficients = 4000, MODELS["POW"]
    exact = mean_dcg(coefficients, n, "zipf(1)", n) / mean_ideal(coefficients, n, "zipf(1)", n)
    corrected, plain = (
        pseudo_expectation(lambda s: s**2, n, "zipf(1)", corrected=each) - exact
        for each in (True, False)
    )
    assert abs(plain) > 20 * abs(corrected)


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
@pytest.mark.parametrize("name", MODELS)
def test_linear_means_are_exact_on_the_whole_list(name: str, n: int) -> None:
    """E[DCG] / E[ideal DCG] is the limit itself for every n; rank by rank."""
    exact = mean_dcg(MODELS[name], n, "linear", n) / mean_ideal(MODELS[name], n, "linear", n)
    assert pseudo_expectation(of_share(MODELS[name]), n, "linear") == pytest.approx(
        exact, rel=1e-12
    )
    assert limit(of_share(MODELS[name]), discount="linear").value == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("cutoff", ["0.1n", "0.2n", "0.75n"])
def test_linear_means_above_a_cutoff(name: str, cutoff: str) -> None:
    """An error of order n^-2, and Definition 20's is of order 1/n."""
    for n in (200, 2000):
        depth = int(float(cutoff[:-1]) * n)
        exact = mean_dcg(MODELS[name], n, "linear", depth) / mean_ideal(
            MODELS[name], n, "linear", depth
        )
        assert (
            abs(pseudo_expectation(of_share(MODELS[name]), n, "linear", cutoff) - exact)
            < 4.0 / n**2
        )
        assert (
            abs(
                pseudo_expectation(of_share(MODELS[name]), n, "linear", cutoff, corrected=False)
                - exact
            )
            < 2.0 / n
        )


def test_linear_definition_by_hand() -> None:
    """ybar = 1/2: both sides are integrals of n - s."""
    size = lambda low, high: (high - low) * (100 - (high + low) / 2)  # noqa: E731
    found = pseudo_expectation(lambda s: 0.5, 100, "linear", "0.7n", corrected=False)
    assert found == pytest.approx(0.5 * size(1, 70) / size(1, 50), abs=1e-14)


@pytest.mark.parametrize("discount", ["log2", "zipf(0.5)", "zipf(1)", "linear"])
def test_a_ranker_that_is_always_right_has_one(discount: str) -> None:
    """ybar = 1: every document is relevant, with or without a cutoff, corrected or not."""
    for cutoff in (None, "0.3n", "sqrt(n)", 7):
        for corrected in (True, False):
            assert pseudo_expectation(
                lambda s: 1.0, 1000, discount, cutoff, corrected
            ) == pytest.approx(1.0, abs=1e-13)


def test_the_mean_of_noise() -> None:
    """Where relevance does not depend on the place the mean of NDCG itself is a finite sum; E[NDCG]
    at n = 10^3 .. 10^6 was .87220(1) .. .94490109(1) in a simulation.
    """
    for n in (100, 1000, 20000):
        mean, _ = mean_ndcg_of_noise(0.5, n, "log2")
        plain, corrected = (
            pseudo_expectation(lambda s: 0.5, n, corrected=each) for each in (False, True)
        )
        assert abs(corrected - mean) < 0.6 / n
        assert abs(plain - mean) > 4 * abs(corrected - mean)
    assert mean_ndcg_of_noise(0.5, 1000, "log2")[0] == pytest.approx(0.872204, abs=2e-5)


@pytest.mark.slow
def test_how_much_one_list_of_noise_varies() -> None:
    """The orders that limits name, by exact standard deviations: their ratio to the order comes to
    a constant.
    """
    orders = {
        "log2": lambda n: n**-0.5 / math.log(n),
        "zipf(0.3)": lambda n: n**-0.5,
        "zipf(0.8)": lambda n: n**-0.2,
    }
    for discount, order in orders.items():
        ratios = [mean_ndcg_of_noise(0.5, n, discount)[1] / order(n) for n in (10**4, 10**5, 10**6)]
        assert abs(ratios[2] / ratios[1] - 1) < min(0.12, abs(ratios[1] / ratios[0] - 1))


DISCOUNTS = ["log2", "zipf(0.3)", "zipf(0.5)", "zipf(1)", "linear"]


@pytest.mark.parametrize("cutoff", [None, "0.2n", "0.7n", "n^0.4"])
@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("ybar", [logistic, GRADES], ids=["binary", "graded"])
def test_means_come_to_the_limit_at_the_rate_it_names(
    ybar: object, discount: str, cutoff: str | None
) -> None:
    """N* - limit falls, and times ln n or n^(1-b) it tends to minus the constant."""
    found = limit(ybar, discount=discount, cutoff=cutoff)  # type: ignore[arg-type]
    distances = [
        pseudo_expectation(ybar, 10**k, discount, cutoff) - found.value for k in (4, 8, 16, 100)
    ]  # type: ignore[arg-type]
    assert abs(distances[-1]) <= abs(distances[0]) + 1e-15
    assert abs(distances[-1]) < 0.01
    if found.rate_constant is None:
        return
    power = 1 - float(discount[5:-1]) if discount in {"zipf(0.3)", "zipf(0.5)"} else 0
    large = 10**12 if power else 10**1000
    pace = float(large) ** power if power else math.log(large)
    distance = pseudo_expectation(ybar, large, discount, cutoff) - found.value  # type: ignore[arg-type]
    assert -distance * pace == pytest.approx(found.rate_constant, rel=0.01, abs=1e-4)


@given(
    st.integers(2, 10**12),
    st.sampled_from(DISCOUNTS),
    st.sampled_from([None, "0.15n", "n^0.5", 5]),
    st.floats(0, 0.5),
)
def test_means_rise_with_the_order(
    n: int, discount: str, cutoff: str | int | None, tilt: float
) -> None:
    """From 0 to 1 (N* of short lists may pass 1 by what it leaves out), and more relevance at the
    top never costs.
    """
    flat, tilted = (
        pseudo_expectation(lambda s: 0.5 + slope * (2 * s - 1), n, discount, cutoff)  # noqa: B023
        for slope in (0.0, tilt)
    )
    assert 0 < flat <= tilted + 1e-12
    assert tilted < 1 + 1 / n


def test_sequences_and_numbers_of_any_size() -> None:
    """A list gives an array; whole floats and NumPy's integers are numbers, and 10^1000 is one,
    too.
    """
    found = pseudo_expectation(logistic, [10, 100, 1000])
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [pseudo_expectation(logistic, n) for n in (10, 1e2, np.int64(1000))]
    assert pseudo_expectation(logistic, np.array([100])).shape == (1,)
    assert pseudo_expectation(logistic, np.array(100)) == pseudo_expectation(logistic, 100)
    assert 1 - pseudo_expectation(logistic, 10**1000) == pytest.approx(
        limit(logistic).rate_constant / math.log(10**1000), rel=1e-3
    )
    for discount, cutoff in (
        ("zipf(0.5)", "0.2n"),
        ("linear", None),
        ("jarvelin(10)", "0.2n"),
        ("zipf(1)", "sqrt(n)"),
    ):
        value = limit(logistic, discount=discount, cutoff=cutoff).value
        assert pseudo_expectation(logistic, 10**1000, discount, cutoff) == pytest.approx(
            value, abs=2e-3
        )
    assert pseudo_expectation(logistic, 10**1000, "geometric(2)") == pytest.approx(
        logistic(np.array([1.0]))[0], abs=1e-12
    )


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (1, {}, "n=1: expected a whole number of documents, at least 2"),
        (2.5, {}, "n=2.5"),
        ("10", {}, "n='10'"),
        (math.inf, {}, "n=inf"),
        ([10, 0], {}, "n=0"),
        (10, {"discount": lambda rank: 1 / rank}, "needs the integral of the discount"),
        (10, {"discount": [1, 0.5]}, "needs the integral of the discount"),
        (10, {"cutoff": 1, "corrected": False}, "which is 1 here, and is 0/0"),
    ],
)
def test_what_has_no_pseudo_expectation(
    n: object, options: dict[str, object], message: str
) -> None:
    """Said before anything is computed."""
    with pytest.raises(ir.OptionError, match=message):
        pseudo_expectation(logistic, n, **options)  # type: ignore[call-overload]
    with pytest.raises(ir.OptionError, match="expected p > 0"):
        pseudo_expectation(lambda s: 0.0, 10)


def test_lemma_22() -> None:
    """Moments of polynomials in closed form, int u^j ln^k u = (-1)^k k! / (j+1)^(k+1); the sequence
    as recomputed independently.
    """
    found = expansion(lambda s: 0.1 + 0.8 * s, lambda s: 0.5)
    assert (found.order, found.coefficient, found.without_p) == (
        1,
        pytest.approx(0.4, abs=1e-14),
        pytest.approx(0.2, abs=1e-14),
    )
    sequence = [round(found.scaled(10**k), 4) for k in (3, 6, 20, 100, 1000)]
    assert sequence == [0.5346, 0.4530, 0.4123, 0.4023, 0.4002]
    second = expansion(of_share((0.7, -1.6, 1.8)), lambda s: 0.5)
    assert (second.order, second.coefficient) == (2, pytest.approx(4 / 15, abs=1e-13))
    assert [round(second.scaled(10**k), 4) for k in (3, 6, 20, 100, 1000)] == [
        0.5200,
        0.3877,
        0.2913,
        0.2712,
        0.2671,
    ]
    # Lists of e^(10^6) documents: differences of 10^-13, free of rounding, for second-order terms
    # are 1 in 10^6.
    assert second.difference_at(1e6) * 1e12 == pytest.approx(second.coefficient, rel=1e-4)
    graded = expansion(
        GRADES, {2: lambda s: 0.05 + 0.35 * (1 - s) ** 2, 1: lambda s: 0.4 - 0.2 * s}
    )
    assert graded.p == pytest.approx(2 / 6 + 0.3, abs=1e-14)
    assert graded.scaled(10**1000) == pytest.approx(graded.coefficient, rel=2e-3)


def test_differences_are_those_of_the_pseudo_expectations() -> None:
    """Below and above the length at which the order of summation changes."""
    better, worse = logistic, lambda s: logistic(1 - s)
    found = expansion(better, worse)
    for n in (10, 10**4, 10**12, 10**17, 10**18, 10**40):
        for corrected in (False, True):
            expected = pseudo_expectation(better, n, corrected=corrected) - pseudo_expectation(
                worse, n, corrected=corrected
            )
            assert found.difference(n, corrected=corrected) == pytest.approx(expected, abs=1e-14)


def test_the_exponential_integral_where_its_series_takes_over() -> None:
    """By mpmath 1.3 with 30 digits; SciPy's is off by 1e-14 near 40 and infinite beyond 709."""
    expected = [
        0.0257249188150907438,
        0.0255931453869612795,
        0.0227396072545282793,
        0.0014306181009351634,
        1.00000100000200001e-6,
    ]
    assert [scaled_expi(x) for x in (39.9, 40.1, 45.0, 700.0, 1e6)] == pytest.approx(
        expected, rel=1e-15
    )


def test_what_has_no_expansion() -> None:
    """The same function twice; or another set of documents."""
    with pytest.raises(ir.OptionError, match="they are the same"):
        expansion(logistic, logistic)
    with pytest.raises(ir.OptionError, match=r"found P.Y >= y_j. = 0.5 and 0.4"):
        expansion(lambda s: 0.5, lambda s: 0.4)
    with pytest.raises(ir.OptionError, match="p > 0"):
        expansion(lambda s: 0.0, lambda s: 0.0)


def test_lemma_21_is_far_from_sharp() -> None:
    """E[NDCG] - N as measured in simulations with exact means: -.0033777, -9.0430e-6 for RAND,
    -1.586e-6 for LIN.
    """
    measured = {
        (0.5, 0.0, 10**3): -3.3777e-3,
        (0.5, 0.0, 10**6): -9.0430e-6,
        (0.1, 0.8, 10**6): -1.586e-6,
    }
    for (start, slope, n), expected in measured.items():
        found = definition_gap(lambda s: start + slope * s, n)  # noqa: B023
        assert found.difference == pytest.approx(expected, rel=0.13)
        assert abs(found.difference) < 0.05 * found.bound
    graded = definition_gap(GRADES, 10**6, gain="exp2")
    assert graded.difference == pytest.approx(graded.corrected - graded.definition, rel=1e-6)
    assert (graded.bound, graded.constant) == (
        pytest.approx(0.01),
        pytest.approx(graded.difference * 1e6 / math.log(1e6)),
    )
    constants = [definition_gap(lambda s: 0.5, 10**k).constant for k in (6, 12, 100, 1000)]
    assert constants == sorted(constants, reverse=True)
    assert constants[-1] == pytest.approx(-2 * 0.801925437226512 * 0.5, rel=2e-3)
    assert definition_gap(lambda s: 0.5, 10**1000).difference == 0
