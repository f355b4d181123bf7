"""Elasticsearch's protocol against an emulator (`noida-db`), which is not the real server:
requests, answers and errors, no numbers.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from idealrank.errors import BackendError
from idealrank.live.backends.protocol import SearchQuery
from idealrank.testing import check_backend
from tests.services.conftest import Corpus, ids_of, made

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def url(emulator_url: str, corpus: Corpus) -> Iterator[str]:
    import httpx

    size = corpus.vectors.shape[1]
    vector = {
        "type": "dense_vector",
        "dims": size,
        "similarity": "cosine",
        "index_options": {"type": "flat"},
    }
    fields = {"body": {"type": "text"}, "sku": {"type": "keyword"}, "embedding": vector}
    with httpx.Client(base_url=emulator_url) as client:
        client.put("/pages", json={"mappings": {"properties": fields}}).raise_for_status()
        for document, text, one in zip(corpus.ids, corpus.texts, corpus.vectors, strict=True):
            body = {"body": text, "sku": f"sku-{document}", "embedding": one.tolist()}
            client.put(f"/pages/_doc/{document}", json=body).raise_for_status()
        client.post("/pages/_refresh").raise_for_status()
    return emulator_url


def with_words(corpus: Corpus, *words: str) -> set[str]:
    return {
        one
        for one, text in zip(corpus.ids, corpus.texts, strict=True)
        if set(words) & set(text.split())
    }


@pytest.mark.parametrize("batch", [1, 16])
def test_words_of_a_user_cannot_change_the_request(batch: int, url: str, corpus: Corpus) -> None:
    backend = made(
        "elasticsearch",
        url=url,
        index="pages",
        body={"query": {"match": {"body": "{text}"}}},
        batch=batch,
    )

    found = ids_of(backend, SearchQuery("q", 'red"}}, "size": 0, {"wolf'), 300)

    assert set(found) == with_words(corpus, "red", "wolf")


def test_several_threads_share_requests_of_msearch_and_get_their_own_answers(
    url: str, corpus: Corpus
) -> None:
    one_by_one = made("elasticsearch", url=url, index="pages", fields=["body"])
    together = made("elasticsearch", url=url, index="pages", fields=["body"], batch=8)
    queries = corpus.queries * 10

    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda query: together.search(query, 20), queries))

    assert found == [one_by_one.search(query, 20) for query in queries]


def test_the_id_may_be_a_field(url: str, corpus: Corpus) -> None:
    backend = made("opensearch", url=url, index="pages", fields=["body"], id="_source.sku")

    found = ids_of(backend, SearchQuery("q", "wolf"), 300)

    assert set(found) == {f"sku-{one}" for one in with_words(corpus, "wolf")}


def test_a_body_with_a_vector_finds_neighbours(url: str, corpus: Corpus) -> None:
    knn = {"field": "embedding", "query_vector": "{vector}", "k": "{limit}", "num_candidates": 300}
    backend = made("elasticsearch", url=url, index="pages", body={"knn": knn})

    for query in corpus.queries[:3]:
        assert ids_of(backend, query) == corpus.nearest(query, 10)


def test_an_index_that_is_not_there_is_named_for_one_query_and_for_several(
    url: str, corpus: Corpus
) -> None:
    for batch in (1, 4):
        backend = made("elasticsearch", url=url, index="nothing", batch=batch)
        with pytest.raises(BackendError, match="no such index") as raised:
            backend.search(corpus.queries[0], 10)
        assert not raised.value.temporary


def test_a_body_that_the_server_refuses_is_no_passing_failure(url: str, corpus: Corpus) -> None:
    backend = made("elasticsearch", url=url, index="pages", body={"query": {"no_such_query": {}}})

    with pytest.raises(BackendError, match="HTTP 400") as raised:
        backend.search(corpus.queries[0], 10)
    assert not raised.value.temporary


@pytest.mark.parametrize("batch", [1, 4])
def test_the_contract_of_backends_holds(batch: int, url: str, corpus: Corpus) -> None:
    given = {"index": "pages", "fields": ["body"], "batch": batch}
    check_backend(
        made("elasticsearch", url=url, **given),
        corpus.queries[:4],
        unreachable=lambda: made("elasticsearch", url="http://127.0.0.1:1", **given),
        mistaken=lambda: made("elasticsearch", url=url, **{**given, "index": "nothing"}),
    )
