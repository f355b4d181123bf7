"""Retrievers of the real LangChain, LlamaIndex and Haystack as backends."""

from pathlib import Path

import numpy as np
import pytest

from idealrank.errors import BackendError, OptionError
from idealrank.live.backends.protocol import SearchQuery
from idealrank.testing import check_backend
from tests.services.conftest import made

pytestmark = pytest.mark.service
FILE = Path(__file__).with_name("shop_retrievers.py")
QUERY = SearchQuery("q1", "red running shoes", np.array([1.0, 0.5, 0.0]))


def found(name: str, **given: object) -> list[tuple[str, float]]:
    return [
        tuple(one)
        for one in made("retriever", retriever=f"{FILE}:{name}", **given).search(QUERY, 3)
    ]


def test_passages_of_langchain_become_pages_with_the_reciprocal_rank_as_score() -> None:
    assert found("langchain") == [("p1", 1.0), ("p2", 0.5), ("p3", pytest.approx(1 / 3))]
    assert found("langchain", id="page") == [("shoes", 1.0), ("boots", 0.5)]


def test_a_vector_store_of_langchain_is_a_retriever() -> None:
    assert {one for one, _ in found("langchain_vectors")} < {"p1", "p2", "p3", "p4"}
    assert len(found("langchain_vectors", framework="langchain")) == 3


def test_nodes_of_llama_index_have_scores_and_documents() -> None:
    nodes = found("llama_index")
    assert len(nodes) == 3
    # its mock embedding gives every text the same vector
    assert all(score == pytest.approx(1) for _, score in nodes)
    assert {one for one, _ in found("llama_index", id="ref_doc_id")} == {
        "doc-shoes",
        "doc-boots",
        "doc-socks",
    }
    assert {one for one, _ in found("llama_index", id="page")} == {"shoes", "boots", "socks"}


def test_components_of_haystack_take_words_or_vectors_and_a_limit() -> None:
    words = found("haystack")
    assert [one for one, _ in words] == ["p2", "p1", "p3"]  # the shorter passage first
    assert words[0][1] > words[1][1] > words[2][1] > 0
    assert [one for one, _ in found("haystack", id="page")] == ["shoes", "boots"]
    vectors = found("haystack_vectors")
    assert vectors[0] == ("d2", pytest.approx(1))


def test_what_is_no_retriever_is_refused() -> None:
    for name, said in (
        ("NOT_A_RETRIEVER", "found 7, expected an object"),
        ("nothing", "expected a retriever that can be imported"),
    ):
        with pytest.raises(OptionError, match=said):
            found(name)
    with pytest.raises(OptionError, match="methods invoke, retrieve, run"):
        found("langchain", framework="haystack")
    with pytest.raises(BackendError, match="no vector"):
        made("retriever", retriever=f"{FILE}:haystack_vectors").search(SearchQuery("q1", "red"), 3)


@pytest.mark.parametrize("name", ["langchain", "llama_index", "haystack"])
def test_the_contract_of_backends_holds(name: str) -> None:
    # Vectors of LlamaIndex's mock are all alike, so that its order is free.
    check_backend(
        made("retriever", retriever=f"{FILE}:{name}"),
        ["red running shoes", "red boots"],
        limit=3,
        exact=name != "llama_index",
    )
