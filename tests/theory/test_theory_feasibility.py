"""Verdicts on discounts and cutoffs, written by hand from the theorems; and what is said of
functions, of which no theorem speaks.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest

import idealrank as ir
from idealrank.theory.feasible import Feasibility, feasibility

F, B, N = "feasible", "borderline", "infeasible"
CUTOFFS = (None, "0.2n", "0.9n", "1n", "sqrt(n)", "n^0.3", "n^0.9", 1, 10)
# Wang et al. (2013): whole lists by Theorems 4 and 6, 7 and 8, 9, 10; shares by 12 and 13; k = o(n)
# by 11; constants by 10. The linear discount by the law of large numbers.
TABLE: dict[str, tuple[str, ...]] = {
    "log2": (F, F, F, F, B, B, B, N, N),
    "log(10)": (F, F, F, F, B, B, B, N, N),
    "jarvelin(2)": (F, F, F, F, B, B, B, N, N),
    "jarvelin(10)": (F, F, F, F, B, B, B, N, N),
    "zipf(0.01)": (F, F, F, F, B, B, B, N, N),
    "zipf(0.5)": (F, F, F, F, B, B, B, N, N),
    "zipf(0.99)": (F, F, F, F, B, B, B, N, N),
    "zipf": (B, B, B, B, B, B, B, N, N),
    "zipf(1)": (B, B, B, B, B, B, B, N, N),
    "reciprocal": (B, B, B, B, B, B, B, N, N),
    "zipf(1.01)": (N, N, N, N, N, N, N, N, N),
    "zipf(2)": (N, N, N, N, N, N, N, N, N),
    "geometric(2)": (N, N, N, N, N, N, N, N, N),
    "geometric(0.99)": (N, N, N, N, N, N, N, N, N),
    "[1,0.5,0.25]": (N, N, N, N, N, N, N, N, N),
    "linear": (F, F, F, F, B, B, B, N, N),
}
THEOREMS = {
    ("log2", None): "Theorems 4 and 6",
    ("log2", "0.2n"): "Theorem 12",
    ("log2", "sqrt(n)"): "Theorem 11",
    ("log2", 10): "Theorem 10",
    ("zipf(0.5)", None): "Theorem 7 and Theorem 8, condition 1",
    ("zipf(0.5)", "0.2n"): "Theorem 13 and Theorem 8, condition 1",
    ("zipf(0.5)", "n^0.3"): "Theorem 11",
    ("zipf(1)", None): "Theorem 9",
    ("zipf(1)", "0.2n"): "Theorem 9",
    ("zipf(1)", "sqrt(n)"): "Theorem 11",
    ("geometric(2)", None): "Theorem 10",
    ("linear", None): "law of large numbers",
}


@pytest.mark.parametrize("discount", TABLE)
def test_named_discounts_are_decided_by_theorem(discount: str) -> None:
    found = [feasibility(discount, cutoff) for cutoff in CUTOFFS]
    assert tuple(one.verdict for one in found) == TABLE[discount]
    assert all(
        one.theorem
        and one.reason
        and one.distinguishes
        and not one.evidence
        and one.resembles is None
        for one in found
    )


@pytest.mark.parametrize(("discount", "cutoff"), THEOREMS)
def test_the_theorem_stands_in_the_result(discount: str, cutoff: str | int | None) -> None:
    assert feasibility(discount, cutoff).theorem == THEOREMS[discount, cutoff]


def test_a_table_of_weights_is_finite() -> None:
    assert feasibility([1, 1, 1]).verdict == "infeasible"
    assert "table" in feasibility([1, 1, 1]).reason


@pytest.mark.parametrize(
    ("discount", "cutoff", "erratum"),
    [
        ("zipf(0.5)", None, "Condition 2 of Theorem 8"),
        ("zipf(0.5)", "0.2n", "Section 3.3"),
        ("log2", "0.2n", "Section 3.3"),
        ("linear", "0.2n", "Section 3.3"),
        ("geometric(2)", None, "ybar(1) = 1"),
        ("log2", 10, "ybar(1) = 1"),
    ],
)
def test_what_the_paper_states_otherwise_is_named(
    discount: str, cutoff: str | int | None, erratum: str
) -> None:
    assert erratum in feasibility(discount, cutoff).errata


def test_what_is_seen_names_the_share_and_the_power() -> None:
    """The threshold: (k/n) against k^-1/2 for weights near even, against k^-(1-b) for b above a
    half.
    """
    assert "top 20 % of the list" in feasibility("log2", "0.2n").distinguishes
    assert "vanish in the noise" in feasibility("log2", "n^0.66").distinguishes
    assert "n^0.667, also" in feasibility("log2", "n^0.7").distinguishes
    assert "vanish in the noise" in feasibility("zipf(0.75)", "n^0.8").distinguishes
    assert "n^0.8, also" in feasibility("zipf(0.75)", "n^0.81").distinguishes


def test_a_function_is_undecided_but_at_a_constant_cutoff() -> None:
    for cutoff, verdict in (
        (None, "undecided"),
        ("0.2n", "undecided"),
        ("sqrt(n)", "undecided"),
        (10, "infeasible"),
    ):
        found = feasibility(lambda rank: 1 / np.log1p(rank), cutoff, largest=1000)
        assert found.verdict == verdict
        assert [row.n for row in found.evidence] == [10, 100, 1000]


@pytest.mark.parametrize(
    ("function", "resembles"),
    [
        (lambda rank: 1 / np.log1p(rank), "feasible"),
        (lambda rank: rank**-0.5, "feasible"),
        (lambda rank: np.ones(rank.size), "feasible"),
        (lambda rank: 1 / rank, None),
        # diverges though every exponent is above 1
        (lambda rank: 1 / (rank * np.log1p(rank)), None),
        (lambda rank: 1 / (rank * np.log1p(rank) ** 2), None),  # converges
        # converges though every exponent to 10^6 is below 1
        (lambda rank: np.exp(-(rank**0.1)), None),
        (lambda rank: rank**-1.5, "infeasible"),
        (lambda rank: np.exp2(-rank), "infeasible"),
        (lambda rank: 1.0 * (rank <= 50), "infeasible"),
        (lambda rank: 1.0 * rank, None),  # rises
        (lambda rank, length: length + 1.0 - rank, None),  # depends on the length
    ],
)
def test_what_a_function_resembles(
    function: Callable[..., np.ndarray], resembles: str | None
) -> None:
    found = feasibility(function, largest=10**5)
    assert (found.verdict, found.resembles) == ("undecided", resembles)
    assert (f"it is {resembles}" in found.reason) == bool(resembles)


def test_a_function_cut_at_a_vanishing_share_is_borderline_at_best() -> None:
    found = feasibility(lambda rank: rank**-0.5, "sqrt(n)", largest=10**4)
    assert (found.verdict, found.resembles) == ("undecided", "borderline")


def test_the_evidence_of_a_power() -> None:
    """By hand: sum of 1/r to 100, and (sum)^2 / sum of squares, over the ten ranks that sqrt(n)
    leaves.
    """
    row = feasibility(lambda rank: 1 / rank, "sqrt(n)", largest=100).evidence[-1]
    total = math.fsum(1 / r for r in range(1, 11))
    assert (row.n, row.cutoff) == (100, 10)
    assert row.exponent == pytest.approx(1, abs=1e-14)
    assert row.total == pytest.approx(total, rel=1e-14)
    assert row.effective == pytest.approx(
        total**2 / math.fsum(r**-2 for r in range(1, 11)), rel=1e-14
    )
    assert row.top == pytest.approx(1 / total, rel=1e-14)


def test_text_of_a_result_names_everything() -> None:
    text = str(feasibility(lambda rank: 1 / rank, "0.2n", largest=100))
    assert "@0.2n: undecided" in text
    assert "exponent" in text.splitlines()[-3]
    assert str(feasibility("zipf(0.5)")).startswith(
        "zipf(0.5): feasible (Theorem 7 and Theorem 8, condition 1)\nWhy: "
    )
    assert isinstance(ir.theory.feasibility("log2", 10), Feasibility)


@pytest.mark.parametrize(
    ("discount", "options", "message"),
    [
        ("nonsense", {}, "expected log2"),
        ("log2", {"cutoff": "-3"}, "expected a whole number from 1 on"),
        ("log2", {"largest": 99}, "largest=99"),
        ("log2", {"largest": "1000"}, "largest='1000'"),
        (lambda rank: -1.0 / rank, {}, "gave -1 for rank 1"),
        (lambda rank: 0.0 * rank, {}, "no weight"),
    ],
)
def test_what_is_no_discount_or_cutoff_is_refused(
    discount: object, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        feasibility(discount, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("discount", TABLE)
def test_a_discount_is_infeasible_where_ndcg_has_no_limit(discount: str) -> None:
    """`limit` refuses what Theorem 10 forbids, and gives ybar(1) for the borderline; both are
    written from other sides of the theory.
    """
    for cutoff in CUTOFFS:
        verdict = feasibility(discount, cutoff).verdict
        try:
            value = ir.theory.limit(lambda s: 0.1 + 0.8 * s, discount=discount, cutoff=cutoff).value
        except ir.errors.OptionError:
            assert verdict == "infeasible"
        else:
            assert verdict == (
                "borderline" if value == pytest.approx(0.9, abs=1e-9) else "feasible"
            )


@pytest.mark.slow
def test_deep_powers_see_different_slopes_at_the_top() -> None:
    """Two rankers of equal ybar(1): the difference outgrows the noise at n^0.9, as 10^0.35 a
    decade, and drowns at sqrt(n).
    """
    pairs = [("log2", "sqrt(n)"), ("log2", "n^0.9")]
    ratios = []
    for n in (10**4, 10**6):
        one = ir.theory.simulate_many(lambda s: 0.1 + 0.8 * s, n, 60, pairs, rng=1)
        two = ir.theory.simulate_many(
            lambda s: 0.9 - 0.6 * (1 - s) - 0.3 * (1 - s) ** 2, n, 60, pairs, rng=2
        )
        difference = two - one
        ratios.append(difference.mean(axis=0) / difference.std(axis=0))
    assert np.abs([ratio[0] for ratio in ratios]).max() < 0.7  # a mean of 60: 5 standard errors
    assert ratios[0][1] > 1.5
    assert ratios[1][1] / ratios[0][1] == pytest.approx(10**0.7, rel=0.6)
