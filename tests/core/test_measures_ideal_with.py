"""The ideal that further documents would raise: any cutoff costs what the lists cost, with the bits
of the whole width.
"""

import time

import numpy as np
import pytest

import idealrank as ir
from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray
from idealrank.measures.sums import summed_width


def _judged(rng: np.random.Generator, longest: int, low: int) -> Judged:
    qrels = {
        f"q{n:02}": {
            f"d{i}": int(grade)
            for i, grade in enumerate(rng.integers(low, 4, 1 + n * longest // 11))
        }
        for n in range(12)
    }
    kept = ir.evaluate(
        qrels, {query: ["d0", "x"] for query in qrels}, "nDCG", keep_unjudged=True
    ).judged
    assert kept is not None
    return kept


def _of_whole_width(measure: ir.NDCG, judged: Judged, gain: FloatArray, most: int) -> FloatArray:
    """The ideal over every rank down to the cutoff."""
    cutoff, grades = measure.cutoff, judged.ideal
    assert isinstance(cutoff, int)
    top = grades.rank <= cutoff
    best = np.zeros((judged.n_queries, cutoff))
    best[grades.query[top], grades.rank[top] - 1] = grades.grade[top]
    weights = 1 / np.log2(np.arange(2, cutoff + 2))
    above = best >= gain[:, None]
    kept, pushed, place = (
        (best * above * weights).sum(axis=1),
        np.where(above, 0.0, best),
        above.sum(axis=1),
    )
    summed = np.concatenate(([0.0], np.cumsum(weights)))
    found = np.empty((judged.n_queries, most + 1))
    for count in range(most + 1):
        within = summed[np.minimum(place + count, cutoff)] - summed[place]
        found[:, count] = (
            kept
            + gain * within
            + (pushed[:, : max(cutoff - count, 0)] * weights[count:]).sum(axis=1)
        )
    return found


@pytest.mark.parametrize("cutoff", [1, 5, 100, 128, 129, 300, 1000, 4099])
@pytest.mark.parametrize(("longest", "low"), [(7, 0), (150, 0), (7, -2)])
def test_the_ideal_has_the_bits_of_the_whole_width(cutoff: int, longest: int, low: int) -> None:
    rng = np.random.default_rng([cutoff, longest])
    judged = _judged(rng, longest, low)
    for gain in (
        rng.uniform(0, 3, 12),
        np.where(rng.random(12) < 0.5, 0.0, 2.0),
        rng.uniform(-1, 1, 12),
    ):
        measure = ir.NDCG(cutoff=cutoff)
        found = measure.ideal_with(judged, gain, 6)
        assert found is not None
        assert found.tolist() == _of_whole_width(measure, judged, gain, 6).tolist()


def test_a_huge_cutoff_costs_what_the_lists_cost() -> None:
    judged, gain = _judged(np.random.default_rng(1), 20, 0), np.ones(12)
    ir.NDCG(cutoff=10**6).ideal_with(judged, gain, 6)  # weights are computed once
    begun = time.process_time()
    found = ir.NDCG(cutoff=10**9).ideal_with(judged, gain, 6)
    assert time.process_time() - begun < 1  # the whole width would not fit the memory
    assert found is not None
    assert found == pytest.approx(ir.NDCG(cutoff=10**4).ideal_with(judged, gain, 6))


@pytest.mark.parametrize("n", [1, 7, 8, 127, 128, 129, 136, 500, 1000, 9999])
def test_numbers_beyond_the_summed_width_add_no_bit(n: int) -> None:
    rng = np.random.default_rng(n)
    for needed in (0, 1, 5, 60, 130):
        numbers = np.zeros((3, n))
        numbers[:, :needed] = rng.random((3, min(needed, n)))
        assert (
            numbers.sum(axis=1).tolist()
            == numbers[:, : summed_width(n, needed)].sum(axis=1).tolist()
        )
