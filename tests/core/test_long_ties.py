"""Large tie groups under ERR: some places are worked out, and the value is the exact mean over all
orders.
"""

import math
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
from idealrank.measures.stopping import reciprocal_in_long_tie

KINDS = ["grades", "any", "tiny", "certain", "small", "nearly certain", "both ends"]


def exact(stops: FloatArray, above: int, size: int, reached: int) -> float:
    """By the definition, in fractions: the mean over all choices of j documents that all let the
    user pass, for each j.
    """
    means = [Fraction(int(place <= size - len(stops))) for place in range(size + 1)]
    for total, stop in enumerate(map(Fraction, stops.tolist()), size - len(stops) + 1):
        means = [
            ((total - j) * means[j] + j * (1 - stop) * means[j - 1] if j <= total else Fraction(0))
            / total
            for j in range(size + 1)
        ]
    return float(sum((means[j - 1] - means[j]) / (above + j) for j in range(1, reached + 1)))


def chances(kind: str, count: int, rng: np.random.Generator) -> FloatArray:
    drawn: FloatArray = {
        "grades": rng.choice([1 / 16, 3 / 16, 7 / 16, 15 / 16], count),
        "any": rng.random(count) + 1e-6,
        "tiny": np.full(count, 2.0**-40),
        "certain": np.ones(count),
        "small": rng.random(count) / 1000 + 1e-9,
        "nearly certain": 1.0 - rng.random(count) * 1e-12,
        "both ends": rng.choice([1e-12, 1.0 - 1e-12, 1.0], count),
    }[kind]
    return np.minimum(drawn, 1.0)


def of_one_group(stops: FloatArray, above: int, size: int, reached: int) -> float:
    group = stopping.TieGroupStops(
        starts=np.array([0]),
        members=np.array([stops.size]),
        above=np.array([above]),
        size=np.array([size]),
        reached=np.array([reached]),
    )
    return float(stopping.reciprocal_in_ties(stops, group)[0])


@pytest.mark.spread(12)
@pytest.mark.parametrize("above", [0, 1, 7, 1000, 10**6])
@pytest.mark.parametrize("kind", KINDS)
def test_short_and_long_groups_are_the_exact_mean_over_all_orders_at_any_cutoff(
    kind: str, above: int
) -> None:
    rng = np.random.default_rng([above, len(kind)])
    for _ in range(5):
        size = int(rng.integers(1, 24))
        stops = chances(kind, int(rng.integers(1, size + 1)), rng)
        for reached in {1, int(rng.integers(1, size + 1)), size}:
            expected = exact(stops, above, size, reached)

            assert reciprocal_in_long_tie(stops, above, size, reached) == pytest.approx(
                expected, rel=1e-12
            )
            assert of_one_group(stops, above, size, reached) == pytest.approx(expected, rel=1e-12)


@pytest.mark.spread(10)
@pytest.mark.parametrize("reached", [10, 129, 700, 1100])
@pytest.mark.parametrize("kind", KINDS)
def test_large_groups_keep_their_number_when_only_some_places_are_worked_out(
    monkeypatch: pytest.MonkeyPatch, kind: str, reached: int
) -> None:
    stops = chances(kind, 500, np.random.default_rng(2))
    monkeypatch.setattr(stopping, "_LONG", 1 << 30)
    summed = of_one_group(stops, 3, 1100, reached)

    assert reciprocal_in_long_tie(stops, 3, 1100, reached) == pytest.approx(summed, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("above", [0, 100, 10**9])
@pytest.mark.parametrize("chance", [1 / 16, 1e-3, 1e-5, 1e-8])
def test_a_million_equal_documents_are_a_geometric_series(chance: float, above: int) -> None:
    places = np.arange(1.0, 500_001.0)
    terms = chance * np.exp((places - 1.0) * math.log1p(-chance)) / (above + places)

    for reached in (10, 1000, 500_000):
        found = reciprocal_in_long_tie(np.full(1_000_000, chance), above, 1_000_000, reached)
        assert found == pytest.approx(math.fsum(terms[:reached]), rel=1e-12)


@pytest.mark.spread(5)
@pytest.mark.parametrize("reached", [10, 1000, 50_000, 99_970, 100_000])
@pytest.mark.parametrize("count", [1, 2, 5, 30, 60])
def test_a_few_certain_documents_among_a_hundred_thousand_are_drawn_without_replacement(
    count: int, reached: int
) -> None:
    size, before = 100_000, np.arange(float(reached))
    passing = np.prod(
        [np.maximum(size - before - other, 0.0) / (size - other) for other in range(count)], axis=0
    )

    found = reciprocal_in_long_tie(np.ones(count), 0, size, reached)

    assert found == pytest.approx(
        math.fsum(passing * count / (size - before) / (1.0 + before)), rel=1e-12
    )


def test_groups_of_many_distinct_chances_keep_their_number() -> None:
    rng = np.random.default_rng(4)
    stops = np.concatenate((rng.random(300) / 1000, rng.random(60), 1.0 - rng.random(60) / 1000))

    summed = of_one_group(stops, 0, 1000, 40)

    assert reciprocal_in_long_tie(stops, 0, 1000, 40) == pytest.approx(summed, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("cutoff", [10, 1000, 100_000, None])
def test_two_hundred_thousand_tied_documents_are_not_summed_one_by_one(
    monkeypatch: pytest.MonkeyPatch, cutoff: int | None
) -> None:
    documents = {f"d{number}": number % 5 for number in range(200_000)}
    judged = align(
        Qrels({"q": documents}),
        Run({"q": dict.fromkeys(documents, 0.5)}),
        Alignment(ties="expected"),
    )
    monkeypatch.setattr(stopping, "_in_block", lambda *_: pytest.fail("summed one by one"))

    value = ERR(cutoff=cutoff, max_rel=16).compute(judged).values

    assert 1e-4 < value[0] < 1e-3
