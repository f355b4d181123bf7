"""Arrays are ranked and measured a block of lists at a time; nobody can tell where a block ends."""

import numpy as np
import pytest

from idealrank import dcg, evaluate, measure, ndcg
from idealrank.errors import InputError, OptionError
from idealrank.evaluation import batches


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_ITEMS", 64)


@pytest.fixture
def grouped() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels and tied scores; among the lists are empty ones, and one that is longer than a
    block.
    """
    rng = np.random.default_rng(11)
    sizes = np.concatenate((rng.integers(0, 20, 90), [0, 0, 200, 0], rng.integers(0, 20, 30), [0]))
    n = int(sizes.sum())
    return (
        rng.integers(0, 4, n).astype(np.float32),
        (rng.integers(0, 9, n) / 4).astype(np.float32),
        sizes,
    )


@pytest.mark.parametrize("ties", ["expected", "input", "worst"])
@pytest.mark.parametrize("cutoff", [None, 5, "0.5n"])
def test_blocks_have_the_bits_of_an_evaluation_of_the_whole(
    grouped, ties: str, cutoff: object
) -> None:
    labels, scores, sizes = grouped

    values = ndcg(labels, scores, cutoff, group=sizes, ties=ties)

    whole = evaluate(
        labels, scores, f"nDCG@{cutoff}" if cutoff else "nDCG", f"standard,ties={ties}", group=sizes
    )
    assert values.tobytes() == np.ascontiguousarray(whole.values[:, 0]).tobytes()


def test_queries_in_any_order_are_brought_together(grouped) -> None:
    labels, scores, sizes = grouped
    query = np.repeat(np.arange(sizes.size), sizes)
    shuffled = np.random.default_rng(12).permutation(query.size)

    values = dcg(labels[shuffled], scores[shuffled], qid=query[shuffled])

    _, first = np.unique(query[shuffled], return_index=True)
    by_appearance = np.argsort(np.argsort(first))
    assert values[by_appearance] == pytest.approx(
        dcg(labels, scores, group=sizes[sizes > 0]), abs=1e-12
    )


def test_a_mistake_is_named_by_its_place_in_the_whole(grouped) -> None:
    labels, scores, sizes = grouped
    scores = scores.copy()
    scores[700] = np.nan

    with pytest.raises(InputError, match="item 700"):
        ndcg(labels, scores, group=sizes)


@pytest.mark.parametrize("items", [64, 1 << 18])
@pytest.mark.parametrize("name", ["Compat", "own"])
def test_tied_scores_are_refused_alike_wherever_a_block_ends(
    name: str, items: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first list with tied scores is named; how many there are would be the number of one
    block.
    """
    monkeypatch.setattr(batches, "_ITEMS", items)
    scores = np.tile(np.arange(10.0), (40, 1))
    scores[[21, 22, 39], :2] = 5.0
    own = measure(name="own")(lambda grades: float(grades[0]))

    with pytest.raises(
        OptionError,
        match=r"^(Compat|own): found tied scores, in query '21' first, and .*; choose ties=input, "
        r"best or worst",
    ):
        evaluate(np.tile([1, 0, 2, 0, 0], (40, 2)), scores, own if name == "own" else name)


@pytest.mark.parametrize("items", [64, 1 << 18])
def test_of_two_mistakes_the_first_is_told_wherever_a_block_ends(
    items: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function that fails on one list, and tied scores further down."""
    monkeypatch.setattr(batches, "_ITEMS", items)
    scores = np.tile(np.arange(10.0), (40, 1))
    scores[30, :2] = 5.0
    labels = np.ones((40, 10))
    labels[2] = 0
    own = measure(name="own")(lambda grades: 1 // int(grades[0]))

    with pytest.raises(InputError, match=r"measure own, query '2' .*: ZeroDivisionError"):
        evaluate(labels, scores, own)
