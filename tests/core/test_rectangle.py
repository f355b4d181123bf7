"""Lists of one length are summed a block of rows at a time; the block a list falls into must not
matter.
"""

import sys

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from idealrank import ndcg
from idealrank.measures import sums


@pytest.fixture
def tied_lists() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    n_lists = 2 * sums._BLOCK + 3  # two full blocks, and one that is not
    return rng.integers(0, 4, (n_lists, 7)).astype(np.float64), rng.integers(0, 4, (n_lists, 7)) / 2


@pytest.mark.parametrize(
    "cutoff",
    [pytest.param(1, marks=pytest.mark.slow), 3, pytest.param(7, marks=pytest.mark.slow), 10],
)
def test_ties_averaged_in_every_block_are_those_of_scikit_learn(
    tied_lists: tuple[np.ndarray, np.ndarray], cutoff: int
) -> None:
    labels, scores = tied_lists
    edges = [
        0,
        1,
        sums._BLOCK - 1,
        sums._BLOCK,
        2 * sums._BLOCK - 1,
        2 * sums._BLOCK,
        len(labels) - 1,
    ]

    values = ndcg(labels, scores, cutoff)

    assert values.mean() == pytest.approx(ndcg_score(labels, scores, k=cutoff), abs=1e-12)
    for row in edges:
        assert values[row] == pytest.approx(
            ndcg_score(labels[row : row + 1], scores[row : row + 1], k=cutoff), abs=1e-12
        )


@pytest.mark.parametrize("ties", ["expected", "best", "worst", "input"])
def test_a_list_has_the_same_bits_in_any_company(
    tied_lists: tuple[np.ndarray, np.ndarray], ties: str
) -> None:
    labels, scores = tied_lists

    together = ndcg(labels, scores, 3, ties=ties)

    tail = slice(sums._BLOCK - 5, sums._BLOCK + 5)
    assert together[tail].tobytes() == ndcg(labels[tail], scores[tail], 3, ties=ties).tobytes()


@pytest.mark.parametrize("ties", ["expected", "input"])
def test_few_long_lists_are_summed_as_many_are(ties: str) -> None:
    rng = np.random.default_rng(6)
    labels, scores = rng.integers(0, 4, (200, 500)) / 1.0, rng.integers(0, 300, (200, 500)) / 1.0

    together = ndcg(labels, scores, discount="zipf(0.3)", ties=ties)

    for few in (1, sums._FEW - 1):
        assert (
            together[:few].tobytes()
            == ndcg(labels[:few], scores[:few], discount="zipf(0.3)", ties=ties).tobytes()
        )


def test_one_long_list_takes_no_step_of_python_for_each_rank() -> None:
    grades, weights = np.ones((1, 100_000)), np.ones(100_000)
    lines = 0

    def count(*_: object) -> object:
        nonlocal lines
        lines += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        total = sums.sum_rows(grades, lambda values: values, weights)
    finally:
        sys.settrace(before)
    assert total.tolist() == [100_000.0]
    assert lines < 100
