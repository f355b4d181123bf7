"""The peers that `make test-peers` installs, run live on random lists with ties, long lists and a
real ranker.
"""

import pytest

from tests.parity.agreement import disagreements, long_fixture, random_fixture
from tests.parity.calls import Call
from tests.parity.heavy_calls import HEAVY_CALLS
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


@pytest.mark.parametrize("call", HEAVY_CALLS, ids=by_name)
def test_real_rankers(call: Call) -> None:
    """Sentence embeddings over the demo's collection."""
    assert disagreements(call, pydocs("minilm.run", 20), (10,)) == []
