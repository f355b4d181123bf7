"""Limits, pseudo-expectations and expansions against numbers recomputed from the paper, recorded
beside the checkout.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from idealrank.theory import definition_gap, expansion, limit, pseudo_expectation
from idealrank.theory.decay import decay_of
from tests.golden.test_shared_papers import papers

MODELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "LIN": lambda s: 0.1 + 0.8 * s,
    "POW": lambda s: s**2,
    "RAND": lambda s: 0.5 + 0 * s,
    "COI0": lambda s: 0.7 - 1.6 * (1 - s) + 1.5 * (1 - s) ** 2,
    "COI1": lambda s: 0.6 - 0.4 * (1 - s),
    "K2A": lambda s: 0.7 - 1.6 * (1 - s) + 1.8 * (1 - s) ** 2,
    "K2B": lambda s: 0.5 + 0 * s,
}
DISCOUNTS = {
    "log": "log2",
    "r^-0.5": "zipf(0.5)",
    "r^-0.8": "zipf(0.8)",
    "1/r": "zipf(1)",
    "b0.5": "zipf(0.5)",
    "b1": "zipf(1)",
}
CUTOFFS = {
    "full": None,
    "k=.2n": "0.2n",
    "k=.7n": "0.7n",
    "k=sqrt": "sqrt(n)",
    "1": None,
    "sqrt": "sqrt(n)",
}
TOP, MIDDLE = (lambda s: 0.05 + 0.35 * s**2), (lambda s: 0.2 + 0.2 * s)


def theory() -> dict[str, Any]:
    """The section on the theory of NDCG."""
    section: dict[str, Any] = papers()["theory"]
    return section


def asked_of(key: str) -> tuple[str, str | None, str]:
    """Discount, cutoff and theorem behind a key like ``T13_beta0.5_c0.2``."""
    if key == "linear_ndcg":
        return "linear", None, "Linear discount"
    number, *options = key.split("_")
    values = {"beta": None, "c": None} | {
        name: part.removeprefix(name)
        for part in options
        for name in ("beta", "c")
        if part.startswith(name)
    }
    discount = (
        f"zipf({values['beta']})" if values["beta"] else "zipf(1)" if number == "T9" else "log2"
    )
    cutoff = f"{values['c']}n" if values["c"] else "sqrt(n)" if number == "T11" else None
    return discount, cutoff, f"Theorem {number[1:]}"


def test_limits() -> None:
    """Seven models under every theorem for binary relevance."""
    for name, values in theory()["limits"].items():
        for key, expected in values.items():
            if key in {"p", "y1"}:
                continue
            discount, cutoff, theorem = asked_of(key)
            found = limit(MODELS[name], discount=discount, cutoff=cutoff)
            assert (found.theorem, found.value) == (theorem, pytest.approx(expected, abs=1e-12)), (
                name,
                key,
            )


def test_pseudo_expectations() -> None:
    """N and N* on whole lists of a thousand to a million."""
    for key, values in theory()["pseudo_expectation"].items():
        name, n = key.split("|")
        for discount, expected in values.items():
            for corrected, field in ((False, "N_D"), (True, "corrected")):
                found = pseudo_expectation(
                    MODELS[name], int(n), DISCOUNTS[discount], corrected=corrected
                )
                assert found == pytest.approx(expected[field], abs=1e-12), (key, discount, field)


def test_pseudo_expectations_above_cutoffs() -> None:
    """Those that stand beside the simulations; k is a whole number in N as well as in N*."""
    for row in theory()["simulated"]:
        cutoff, discount = row["measure"].split("|")
        for corrected, field in ((False, "pseudo"), (True, "corrected")):
            found = pseudo_expectation(
                MODELS[row["model"]], row["n"], DISCOUNTS[discount], CUTOFFS[cutoff], corrected
            )
            assert found == pytest.approx(row[field], abs=1e-12), row


def test_graded_limits_and_means() -> None:
    """Theorems 4 and 14 to 17, two scales of gains, and one whose lowest grade gains 1."""
    models = {
        "y": ({2: TOP, 1: MIDDLE}, "linear"),
        "2^y-1": ({2: TOP, 1: MIDDLE}, "exp2"),
        "y+1 (lowest>0)": ({3: TOP, 2: MIDDLE, 1: lambda s: 1 - TOP(s) - MIDDLE(s)}, "linear"),
    }
    for row in theory()["graded"]:
        model, gain = models[row["gain"]]
        discount = "log2" if row["disc"] == "log" else f"zipf({row['disc']})"
        cutoff = CUTOFFS.get(row["cut"], f"{row['cut']}n")
        found = limit(model, discount=discount, cutoff=cutoff, gain=gain)
        assert found.value == pytest.approx(row["limit"], abs=1e-12), row
        assert found.theorem == (
            row["thm"].replace("T", "Theorem ") if found.stated else "Theorem 9"
        )
        assert pseudo_expectation(model, row["n"], discount, cutoff, gain=gain) == pytest.approx(
            row["corrected"], abs=1e-12
        ), row


def test_constants() -> None:
    """Kappa of five discounts, and the rate of Theorem 4."""
    for name, expected in theory()["kappa"].items():
        discount = "log2" if name == "log" else f"zipf({name.removeprefix('beta')})"
        assert decay_of(discount).kappa == pytest.approx(expected, abs=1e-12)
    for name, expected in theory()["theorem4_rate"].items():
        assert limit(MODELS[name]).rate_constant == pytest.approx(expected, abs=1e-12)


def test_lemma_22() -> None:
    """Order, coefficient with and without 1/p, and the difference up to n = 10^1000."""
    for pair, expected in theory()["lemma22"].items():
        found = expansion(*(MODELS[name] for name in pair.split("-")))
        assert (found.order, found.p) == (expected["K"], pytest.approx(expected["p"], abs=1e-12))
        assert (found.without_p, found.coefficient) == pytest.approx(
            (expected["a_eq25"], expected["a_over_p"]), abs=1e-12
        )
        for digits, difference, scaled in expected["seq"]:
            assert found.difference(10**digits) == pytest.approx(difference, rel=1e-11, abs=1e-15)
            assert found.scaled(10**digits) == pytest.approx(scaled, abs=1e-11)


def test_lemma_21() -> None:
    """N* - N against the exact means, whose simulation error is stated: most of the distance is
    what N* adds.
    """
    for row in theory()["lemma21"]:
        found = definition_gap(MODELS[row["model"]], row["n"])
        assert abs(row["diff"] - found.difference) < 0.2 * abs(row["diff"]) + 5 * row["se"], row
        assert abs(row["diff"]) < found.bound
