"""The peers that `make test-peers` installs, run live on random lists with ties, long lists and a
real ranker.
"""

import statistics

import pytest

import idealrank as ir
from tests.parity.agreement import disagreements, long_fixture, random_fixture
from tests.parity.calls import Call
from tests.parity.heavy_calls import HEAVY_CALLS, tensorflow_ranking
from tests.parity.test_live_peers import by_name, pydocs

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("call", HEAVY_CALLS, ids=by_name)
def test_random_lists_with_ties(call: Call) -> None:
    """Equal per query at every cutoff; a peer that is not installed fails."""
    for seed in range(10):
        assert disagreements(call, random_fixture(seed)) == []


@pytest.mark.parametrize("call", HEAVY_CALLS, ids=by_name)
def test_long_lists(call: Call) -> None:
    """Two hundred documents without ties, as unstable sorts need it."""
    assert disagreements(call, long_fixture(3), (None, 10, 100)) == []


def test_random_orders_of_ties_have_the_mean_of_the_preset() -> None:
    """TensorFlow Ranking orders equal scores anew on each call; within five standard errors."""
    labels, scores = [2.0, 0.0, 1.0, 3.0, 0.0], [1.0, 1.0, 1.0, 0.5, 0.5]
    metrics = tensorflow_ranking()
    values = [float(metrics.NDCGMetric(topn=4)([labels], [scores])) for _ in range(400)]

    expected = ir.evaluate(labels, scores, "nDCG@4", "tf-ranking").mean()["nDCG@4"]

    assert len(set(values)) > 3
    error = statistics.stdev(values) / len(values) ** 0.5
    assert abs(statistics.fmean(values) - expected) < 5 * error


@pytest.mark.parametrize("call", HEAVY_CALLS, ids=by_name)
def test_real_rankers(call: Call) -> None:
    """Sentence embeddings over the demo's collection."""
    assert disagreements(call, pydocs("minilm.run", 20), (10,)) == []
