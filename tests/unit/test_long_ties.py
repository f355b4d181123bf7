"""Large tie groups under ERR: the integral is the exact mean over all orders, and is had in time."""

import time
from fractions import Fraction

import numpy as np
import pytest

from idealrank.data.align import align
from idealrank.data.alignment import Alignment
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray
from idealrank.measures import stopping
from idealrank.measures.cascade import ERR
from idealrank.measures.stopping import negligible_from, reciprocal_in_long_tie


def exact(stops: FloatArray, above: int, size: int) -> float:
    """By the definition, in fractions: the mean over all choices of j documents that all let the user pass, for each j."""
    means = [Fraction(int(place <= size - len(stops))) for place in range(size + 1)]
    for total, stop in enumerate(map(Fraction, stops.tolist()), size - len(stops) + 1):
        means = [((total - j) * means[j] + j * (1 - stop) * means[j - 1] if j <= total else Fraction(0)) / total for j in range(size + 1)]
    return float(sum((means[j - 1] - means[j]) / (above + j) for j in range(1, size + 1)))


@pytest.mark.parametrize("above", [0, 1, 7, 1000, 10**6])
@pytest.mark.parametrize("kind", ["grades", "any", "tiny", "certain", "small"])
def test_the_integral_is_the_exact_mean_over_all_orders(kind: str, above: int) -> None:
    rng = np.random.default_rng([above, len(kind)])
    for _ in range(6):
        size = int(rng.integers(1, 24))
        count = int(rng.integers(1, size + 1))
        stops = {
            "grades": rng.choice([1 / 16, 3 / 16, 7 / 16, 15 / 16], count),
            "any": rng.random(count) + 1e-6,
            "tiny": np.full(count, 2.0**-40),
            "certain": np.ones(count),
            "small": rng.random(count) / 1000 + 1e-9,
        }[kind]

        assert reciprocal_in_long_tie(stops, above, size) == pytest.approx(exact(stops, above, size), rel=1e-12)


@pytest.mark.parametrize("reached", [1000, 700])
def test_large_groups_keep_their_number_when_they_are_integrated(monkeypatch: pytest.MonkeyPatch, reached: int) -> None:
    stops, one = np.random.default_rng(2).choice([1 / 16, 3 / 16, 15 / 16], 900), np.array([1])
    shape = (np.array([0]), one * 900, one * 3, one * 1000, one * reached)

    summed = stopping.reciprocal_in_ties(stops, *shape)
    monkeypatch.setattr(stopping, "_LONG", 1)

    assert stopping.reciprocal_in_ties(stops, *shape) == pytest.approx(summed, rel=1e-12)


def test_a_cutoff_that_users_reach_is_not_integrated_over() -> None:
    stops = np.full(1000, 1e-6)

    assert negligible_from(stops, 1000) > 1000


def test_two_hundred_thousand_tied_documents_take_no_time() -> None:
    documents = {f"d{number}": number % 5 for number in range(200_000)}
    judged = align(Qrels({"q": documents}), Run({"q": dict.fromkeys(documents, 0.5)}), Alignment(ties="expected"))

    start = time.process_time()
    value = ERR().compute(judged).values

    assert time.process_time() - start < 2.0
    assert 0.5 < value[0] < 0.7
