"""Simulated NDCG against the means, signs and single values recorded from another program's
simulations, beside the checkout.

Stochastic comparisons allow five standard errors of the difference. From 10,000 documents on a mean
is compared with the corrected pseudo-expectation, which it misses by less than a tenth of what the
correction is; before, with the mean recorded.
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from idealrank.theory import distinguish_many, simulate, simulate_many
from tests.conftest import shared_file

MODELS: dict[str, Any] = {
    "LIN": lambda s: 0.1 + 0.8 * s,
    "POW": lambda s: s**2,
    "RAND": lambda s: 0.5 + 0 * s,
    "COI0": lambda s: 0.7 - 1.6 * (1 - s) + 1.5 * (1 - s) ** 2,
    "COI1": lambda s: 0.6 - 0.4 * (1 - s),
}
MEASURES = {
    "full|log": ("log2", None),
    "full|b0.5": ("zipf(0.5)", None),
    "full|b1": ("reciprocal", None),
    "k=.2n|log": ("log2", "0.2n"),
    "k=.7n|log": ("log2", "0.7n"),
    "k=sqrt|b0.5": ("zipf(0.5)", "sqrt(n)"),
}
GRADED = {1.0: lambda s: 0.2 + 0.2 * s, 2.0: lambda s: 0.05 + 0.35 * s**2}
# even the lowest grade is worth something
LIFTED = {1.0: lambda s: 0.75 - 0.2 * s - 0.35 * s**2, 2.0: GRADED[1.0], 3.0: GRADED[2.0]}
GRADED_GAINS: dict[str, Any] = {
    "y": (GRADED, "linear"),
    "2^y-1": (GRADED, "exp2"),
    "y+1 (lowest>0)": (LIFTED, "linear"),
}
GRADED_DISCOUNTS = {
    "log": "log2",
    "0.25": "zipf(0.25)",
    "0.5": "zipf(0.5)",
    "0.8": "zipf(0.8)",
    "1": "reciprocal",
}
SIGNS = {
    "log": ("log2", None),
    "r^-.5": ("zipf(0.5)", None),
    "r^-.8": ("zipf(0.8)", None),
    "1/r": ("reciprocal", None),
    "2^-r": ("geometric(2)", None),
    "log@n/5": ("log2", "0.2n"),
    "log@10": ("log2", 10),
    "log@sqrt": ("log2", "sqrt(n)"),
    "r^-.5@n/5": ("zipf(0.5)", "0.2n"),
}


@cache
def theory() -> dict[str, Any]:
    """The part on the theory, read once."""
    content: dict[str, Any] = json.loads(
        shared_file("golden", "papers.json").read_text(encoding="utf-8")
    )["theory"]
    return content


def test_one_sample_is_the_recorded_one() -> None:
    case = theory()["fingerprint"]
    measures = {
        "log": ("log2", None),
        "r^-0.5": ("zipf(0.5)", None),
        "1/r": ("reciprocal", None),
        "2^-r": ("geometric(2)", None),
        "log@200": ("log2", 200),
        "log@10": ("log2", 10),
        "log@31": ("log2", "sqrt(n)"),
    }
    found = simulate_many(MODELS["LIN"], case["n"], 1, measures.values(), rng=case["seed"])[0]
    assert found == pytest.approx([case[key] for key in measures], abs=1e-12)


def allowed(
    row: dict[str, Any], n: int, deviation: float, samples: int, columns: tuple[str, str]
) -> tuple[float, float]:
    """What a mean is compared with, and how far it may be."""
    if n < 10_000:
        return row["mean"], 5 * np.hypot(deviation / np.sqrt(samples), row["se"])
    pseudo, corrected = (row[column] for column in columns)
    return corrected, 5 * np.hypot(deviation / np.sqrt(samples), 0.1 * abs(pseudo - corrected))


def check_means(n: int, samples: int) -> None:
    """All models and measures that were recorded at this size."""
    for number, (name, ybar) in enumerate(MODELS.items()):
        found = simulate_many(ybar, n, samples, MEASURES.values(), rng=[1, number, n])
        for column, key in enumerate(MEASURES):
            row = next(
                row
                for row in theory()["simulated"]
                if (row["model"], row["n"], row["measure"]) == (name, n, key)
            )
            expected, error = allowed(
                row, n, found[:, column].std(), samples, ("pseudo", "corrected")
            )
            assert abs(found[:, column].mean() - expected) <= error, (name, n, key)


@pytest.mark.parametrize(("n", "samples"), [(1000, 1000), (10_000, 200)])
def test_means_of_binary_relevance(n: int, samples: int) -> None:
    check_means(n, samples)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "samples"), [(1000, 20_000), (10_000, 4000), (100_000, 600), (1_000_000, 120)]
)
def test_means_of_binary_relevance_with_many_samples(n: int, samples: int) -> None:
    check_means(n, samples)


@pytest.mark.parametrize(
    ("n", "samples"),
    [(1000, 1000), (10_000, 200), pytest.param(1_000_000, 60, marks=pytest.mark.slow)],
)
def test_means_of_graded_relevance(n: int, samples: int) -> None:
    for name, (model, gain) in GRADED_GAINS.items():
        these = [row for row in theory()["graded"] if (row["n"], row["gain"]) == (n, name)]
        cutoffs = [
            {"1": None, "sqrt": "sqrt(n)"}.get(row["cut"], f"{row['cut']}n") for row in these
        ]
        measures = [
            (GRADED_DISCOUNTS[row["disc"]], cutoff)
            for row, cutoff in zip(these, cutoffs, strict=True)
        ]
        found = simulate_many(model, n, samples, measures, rng=[2, n], gain=gain)
        for row, values in zip(these, found.T, strict=True):
            if n < 10_000:
                expected, error = allowed(row, n, values.std(), samples, ("", ""))
            else:  # no uncorrected value was recorded: within five standard errors of both means
                expected, error = (
                    row["mean"],
                    5 * np.hypot(values.std() / np.sqrt(samples), row["se"]),
                )
            assert abs(values.mean() - expected) <= error, row


def test_theorem_10_the_deviation_does_not_shrink() -> None:
    """Wang et al., Theorem 10: 2^-r and a constant cutoff; with ybar(1) = 1, where its assumption
    fails, NDCG converges.
    """
    for name in ("LIN", "RAND", "POW"):
        for key, measure in (("sim", {"discount": "geometric(2)"}), ("k10", {"cutoff": 10})):
            mean, error, deviation = theory()["theorem10"][name][key]["1000"]
            values = simulate(MODELS[name], 1000, 1500, rng=[3, len(name)], **measure)  # type: ignore[arg-type]
            assert abs(values.mean() - mean) <= 5 * np.hypot(values.std() / np.sqrt(1500), error), (
                name,
                key,
            )
            assert values.std() == pytest.approx(deviation, rel=0.15, abs=0.01), (name, key)


def check_signs(pair: str, sizes: list[int], runs: int) -> None:
    """Share of runs in which the first ranker is ahead, within five binomial standard errors."""
    a, b = {"A": ("LIN", "RAND"), "C": ("COI0", "COI1")}[pair]
    recorded = theory()["pairs"]["geometric_to_1e6"][pair]
    tables = distinguish_many(
        MODELS[a], MODELS[b], SIGNS.values(), sizes=sizes, runs=runs, rng=[4, ord(pair)]
    )
    for table, key in zip(tables, SIGNS, strict=True):
        expected = dict(recorded[key]["p_f0_better"])
        for size, hits in zip(sizes, table.counts["a_better"].tolist(), strict=True):
            # Both are estimates: the pooled share has a half added to each side, so that 0 and 1
            # have an error too.
            others = recorded["runs"]
            pooled = (hits + expected[size] * others + 0.5) / (runs + others + 1)
            error = np.sqrt(pooled * (1 - pooled) * (1 / runs + 1 / others))
            assert abs(hits / runs - expected[size]) <= 5 * error, (pair, key, size)


@pytest.mark.parametrize("pair", ["A", "C"])
def test_signs_of_pairs(pair: str) -> None:
    check_signs(pair, [100, 1000, 10_000], 150)


@pytest.mark.slow
@pytest.mark.parametrize("pair", ["A", "C"])
def test_signs_of_pairs_up_to_a_million(pair: str) -> None:
    check_signs(pair, [100, 1000, 10_000, 100_000, 1_000_000], 100)
