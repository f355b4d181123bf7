"""Linear NDCG and its pairwise loss: every pair in fractions, scikit-learn's AUC, the paper's identities and where they end."""

import numpy as np
import pytest

import idealrank as ir
from tests.twins import naive_pairwise as naive

TIES = ("half", "strict", "weak")


def drawn(rng: np.random.Generator, kind: str, size: int) -> "np.ndarray[tuple[int], np.dtype[np.generic]]":
    """Labels of one kind."""
    return {
        "grades": lambda: rng.integers(0, 5, size),
        "ratings": lambda: rng.integers(-3, 4, size).astype(np.float64),
        "reals": lambda: rng.normal(size=size),
        "tenths": lambda: rng.choice([0.1, 0.2, 0.3, -0.7], size),
        "far apart": lambda: rng.choice([5e-324, 1e-310, 3.0, 1e300, -1e300], size),
        "large": lambda: rng.integers(-(2**62), 2**62, size),
    }[kind]()


@pytest.mark.parametrize("kind", ["grades", "ratings", "reals", "tenths", "far apart", "large"])
@pytest.mark.parametrize("ties", TIES)
def test_every_pair(kind: str, ties: str) -> None:
    """The float64 nearest to the sum over all pairs, in fractions: nothing is lost, and nothing overflows."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        size = int(rng.integers(0, 10))
        labels, scores = drawn(rng, kind, size), rng.integers(0, 5, size)
        loss = naive.loss(labels.tolist(), scores.tolist(), ties)
        assert ir.pairwise_loss(labels, scores, ties=ties) == float(loss)
