"""Arrays are ranked and measured a block of lists at a time; nobody can tell where a block ends."""

import numpy as np
import pytest

from idealrank import dcg, evaluate, ndcg
from idealrank.errors import InputError
from idealrank.measures import in_blocks


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_blocks, "_ITEMS", 64)


@pytest.fixture
def grouped() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels and tied scores; among the lists are empty ones, and one that is longer than a block."""
    rng = np.random.default_rng(11)
    sizes = np.concatenate((rng.integers(0, 20, 90), [0, 0, 200, 0], rng.integers(0, 20, 30), [0]))
    n = int(sizes.sum())
    return rng.integers(0, 4, n).astype(np.float32), (rng.integers(0, 9, n) / 4).astype(np.float32), sizes


@pytest.mark.parametrize("ties", ["expected", "input", "worst"])
@pytest.mark.parametrize("cutoff", [None, 5, "0.5n"])
def test_blocks_have_the_bits_of_an_evaluation_of_the_whole(grouped, ties: str, cutoff: object) -> None:
    labels, scores, sizes = grouped

    values = ndcg(labels, scores, cutoff, group=sizes, ties=ties)

    whole = evaluate(labels, scores, f"nDCG@{cutoff}" if cutoff else "nDCG", f"standard,ties={ties}", group=sizes)
    assert values.tobytes() == np.ascontiguousarray(whole.values[:, 0]).tobytes()


def test_queries_in_any_order_are_brought_together(grouped) -> None:
    labels, scores, sizes = grouped
    query = np.repeat(np.arange(sizes.size), sizes)
    shuffled = np.random.default_rng(12).permutation(query.size)

    values = dcg(labels[shuffled], scores[shuffled], qid=query[shuffled])

    _, first = np.unique(query[shuffled], return_index=True)
    by_appearance = np.argsort(np.argsort(first))
    assert values[by_appearance] == pytest.approx(dcg(labels, scores, group=sizes[sizes > 0]), abs=1e-12)


def test_a_mistake_is_named_by_its_place_in_the_whole(grouped) -> None:
    labels, scores, sizes = grouped
    scores = scores.copy()
    scores[700] = np.nan

    with pytest.raises(InputError, match="item 700"):
        ndcg(labels, scores, group=sizes)
