"""Redis 8.2 with its search module: neighbours, words, vector sets, and the sort of the
tutorials.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import BackendError, OptionError
from idealrank.live.backends.protocol import SearchQuery
from idealrank.testing import check_backend
from tests.services.conftest import Corpus, ids_of, made

pytestmark = pytest.mark.service
REPLIES = ["?protocol=2", "?protocol=3", "?protocol=3&decode_responses=True", ""]


@pytest.fixture(scope="module")
def client(redis_url: str, corpus: Corpus) -> Iterator[Any]:
    import redis

    client = redis.Redis.from_url(redis_url)
    for name, metric in (("cosine", "COSINE"), ("l2", "L2"), ("inner-product", "IP")):
        kind = ("HNSW", 6) if name == "cosine" else ("FLAT", 6)
        field = (
            "v",
            "VECTOR",
            *kind,
            "TYPE",
            "FLOAT32",
            "DIM",
            corpus.vectors.shape[1],
            "DISTANCE_METRIC",
            metric,
        )
        client.execute_command(
            "FT.CREATE", name, "PREFIX", 1, "doc:", "SCHEMA", *field, "body", "TEXT", "part", "TAG"
        )
    for number, (document, text, vector) in enumerate(
        zip(corpus.ids, corpus.texts, corpus.vectors, strict=True)
    ):
        client.hset(
            f"doc:{document}",
            mapping={"v": vector.tobytes(), "body": text, "part": f"p{number % 2}"},
        )
        client.execute_command("VADD", "set", "FP32", vector.tobytes(), document, "NOQUANT")
    yield client
    client.close()


@pytest.mark.parametrize("reply", REPLIES)
def test_neighbours_are_the_exact_ones_in_every_form_of_reply(
    reply: str, client: Any, redis_url: str, corpus: Corpus
) -> None:
    backend = made("redis", url=redis_url + reply, index="cosine", field="v", prefix="doc:", ef=300)

    for query in corpus.queries:
        assert ids_of(backend, query) == corpus.nearest(query, 10)


@pytest.mark.parametrize("metric", ["cosine", "l2", "inner-product"])
def test_scores_are_negated_distances(
    metric: str, client: Any, redis_url: str, corpus: Corpus
) -> None:
    backend = made("redis", url=redis_url, index=metric, field="v", prefix="doc:")
    query = corpus.queries[0]

    found = backend.search(query, 20)

    expected = np.sort(corpus.similarities(query, metric))[::-1][:20]
    # of Redis: l2 is squared
    distances = {"cosine": 1 - expected, "inner-product": 1 - expected, "l2": expected**2}[metric]
    # float32 of the server
    assert [one.score for one in found] == pytest.approx(-distances, abs=1e-5)


def test_the_ascending_page_of_a_perfect_retriever_has_ndcg_1_and_the_descending_sort_of_tutorials_has_0_83(  # noqa: E501
    client: Any, redis_url: str, corpus: Corpus
) -> None:
    query = corpus.queries[0]
    nearest = corpus.nearest(query, 10)
    # the retriever is perfect: nearer is more relevant
    qrels = {query.id: dict(zip(nearest, [2] * 6 + [1] * 4, strict=True))}

    backend = made("redis", url=redis_url, index="cosine", field="v", prefix="doc:", ef=300)
    right = backend.search(query, 10)
    # `.sort_by("score", asc=False)`
    sort = ("SORTBY", "score", "DESC", "LIMIT", 0, 10, "RETURN", 1, "score", "DIALECT", 2)
    parameters = ("PARAMS", 2, "vector", np.asarray(query.vector, dtype="<f4").tobytes())
    reply = client.execute_command(
        "FT.SEARCH", "cosine", "*=>[KNN 10 @v $vector EF_RUNTIME 300 AS score]", *parameters, *sort
    )
    keys = reply[1::2] if isinstance(reply, list) else [row[b"id"] for row in reply[b"results"]]
    turned = [key.decode().removeprefix("doc:") for key in keys]

    assert (
        ir.evaluate(qrels, {query.id: [one.document for one in right]}, "nDCG@10").mean()["nDCG@10"]
        == 1
    )
    assert turned == nearest[::-1]
    assert ir.evaluate(qrels, {query.id: turned}, "nDCG@10").mean()["nDCG@10"] == pytest.approx(
        0.83, abs=0.005
    )


def test_a_filter_restricts_the_neighbours(client: Any, redis_url: str, corpus: Corpus) -> None:
    backend = made(
        "redis", url=redis_url, index="cosine", field="v", prefix="doc:", where="@part:{p0}", ef=300
    )

    even = set(corpus.ids[::2])
    assert (
        ids_of(backend, corpus.queries[1])
        == [one for one in corpus.nearest(corpus.queries[1], 300) if one in even][:10]
    )


@pytest.mark.parametrize("reply", REPLIES)
def test_a_vector_set_has_the_same_neighbours(
    reply: str, client: Any, redis_url: str, corpus: Corpus
) -> None:
    backend = made("redis-vector-set", url=redis_url + reply, key="set", exact=True)
    query = corpus.queries[2]

    found = backend.search(query, 10)

    assert [one.document for one in found] == corpus.nearest(query, 10)
    assert found[0].score == pytest.approx((1 + corpus.similarities(query).max()) / 2, abs=1e-5)


@pytest.mark.parametrize("reply", REPLIES)
def test_words_are_found_and_punctuation_is_no_syntax(
    reply: str, client: Any, redis_url: str, corpus: Corpus
) -> None:
    backend = made(
        "redis-text", url=redis_url + reply, index="cosine", prefix="doc:", scorer="BM25"
    )
    both = made("redis-text", url=redis_url + reply, index="cosine", prefix="doc:", operator="all")
    texts = dict(zip(corpus.ids, corpus.texts, strict=True))

    found = ids_of(backend, SearchQuery("q", 'red -(wolf) | @part:{p0} "'), 300)
    assert set(found) == {one for one in corpus.ids if {"red", "wolf"} & set(texts[one].split())}
    assert set(ids_of(both, SearchQuery("q", "red wolf"), 300)) == {
        one for one in corpus.ids if {"red", "wolf"} <= set(texts[one].split())
    }
    assert ids_of(backend, SearchQuery("q", " -() ")) == []


def test_stop_words_do_not_stop_the_server(client: Any, redis_url: str) -> None:
    """`in|a|red`, as text of the query, ends the process of RediSearch 2.10.5 by a signal."""
    for operator in ("any", "all"):
        backend = made(
            "redis-text", url=redis_url, index="cosine", prefix="doc:", operator=operator
        )
        for text in ("in a red", "the of", "a a a red", "red in a", "in in"):
            assert bool(backend.search(SearchQuery("q", text), 5)) is ("red" in text)
    assert client.ping()


@pytest.mark.parametrize(
    ("given", "said", "temporary"),
    [
        ({"index": "nothing"}, "no such index", False),
        ({"url": "redis://127.0.0.1:1/0"}, "refused", True),
        ({"field": "nothing"}, "FT.SEARCH failed", False),
    ],
)
def test_a_failure_says_whether_another_attempt_may_succeed(
    given: dict[str, str], said: str, temporary: bool, client: Any, redis_url: str, corpus: Corpus
) -> None:
    backend = made("redis", **{"url": redis_url, "index": "cosine", "field": "v", **given})

    with pytest.raises(BackendError, match=said) as raised:
        backend.search(corpus.queries[0], 10)

    assert raised.value.temporary is temporary


def test_a_missing_vector_set_and_an_address_of_another_kind_are_refused(
    client: Any, redis_url: str, corpus: Corpus
) -> None:
    with pytest.raises(BackendError, match="no vector set"):
        made("redis-vector-set", url=redis_url, key="nothing").search(corpus.queries[0], 10)
    with pytest.raises(OptionError, match="an address such as"):
        made("redis", url="http://127.0.0.1", index="i", field="v")


def test_threads_get_the_same_answers(client: Any, redis_url: str, corpus: Corpus) -> None:
    backend = made("redis", url=redis_url, index="cosine", field="v", prefix="doc:", ef=300)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda query: ids_of(backend, query), corpus.queries * 10))

    assert found == [corpus.nearest(query, 10) for query in corpus.queries] * 10


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("kind", ["redis", "redis-text", "redis-vector-set"])
def test_the_contract_of_backends_holds(
    kind: str, protocol: int, client: Any, redis_url: str, corpus: Corpus
) -> None:
    given = {
        "redis": {"index": "cosine", "field": "v", "prefix": "doc:", "ef": 300},
        "redis-text": {"index": "cosine", "prefix": "doc:"},
        "redis-vector-set": {"key": "set", "exact": True},
    }[kind]
    place = "key" if kind == "redis-vector-set" else "index"

    check_backend(
        made(kind, url=f"{redis_url}?protocol={protocol}", **given),
        corpus.queries[:4],
        unreachable=lambda: made(kind, **{**given, "url": "redis://127.0.0.1:1"}),
        mistaken=lambda: made(kind, **{**given, "url": redis_url, place: "nothing"}),
    )
