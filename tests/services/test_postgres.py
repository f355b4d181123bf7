"""PostgreSQL 18 with pgvector: full text, neighbours, a query of one's own, and sessions that can
only read.
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
def url(postgres_url: str, corpus: Corpus) -> Iterator[str]:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(
            f"CREATE TABLE documents (id text PRIMARY KEY, body text, embedding "
            f"vector({corpus.vectors.shape[1]}), "
            "words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED)"
        )
        with connection.cursor() as cursor:
            rows = zip(
                corpus.ids, corpus.texts, (str(one.tolist()) for one in corpus.vectors), strict=True
            )
            cursor.executemany(
                "INSERT INTO documents (id, body, embedding) VALUES (%s, %s, %s)", list(rows)
            )
        connection.execute("CREATE INDEX ON documents USING hnsw (embedding vector_cosine_ops)")
        connection.execute("CREATE INDEX ON documents USING gin (words)")
        connection.execute(
            'CREATE TABLE "odd"" name" AS SELECT id AS "the id", words FROM documents'
        )
        connection.execute("ANALYZE")
    return postgres_url


@pytest.mark.parametrize("metric", ["cosine", "l2", "inner-product", "l1"])
def test_neighbours_are_the_exact_ones(metric: str, url: str, corpus: Corpus) -> None:
    backend = made(
        "pgvector", url=url, table="documents", column="embedding", distance=metric, ef_search=400
    )

    for query in corpus.queries:
        found = backend.search(query, 10)
        assert [one.document for one in found] == corpus.nearest(query, 10, metric)
        assert found[0].score == pytest.approx(
            corpus.similarities(query, metric).max() - (metric == "cosine"), abs=1e-5
        )
    backend.close()


def test_an_hnsw_index_returns_at_most_ef_search_rows_unless_it_scans_on(
    url: str, corpus: Corpus
) -> None:
    # as in a large table
    given = {
        "url": f"{url}&options=-cenable_seqscan%3Doff",
        "table": "documents",
        "column": "embedding",
    }
    usual = made("pgvector", **given)
    deep = made("pgvector", **given, ef_search=100)
    iterative = made("pgvector", **given, iterative_scan="strict_order")

    assert [len(one.search(corpus.queries[0], 100)) for one in (usual, deep, iterative)] == [
        40,
        100,
        100,
    ]


def test_words_are_found_by_any_by_all_and_by_web_syntax(url: str, corpus: Corpus) -> None:
    texts = dict(zip(corpus.ids, (set(text.split()) for text in corpus.texts), strict=True))

    def found(text: str, **given: str) -> set[str]:
        backend = made("postgres", url=url, table="documents", column="words", **given)
        return set(ids_of(backend, SearchQuery("q", text), 300))

    assert found("red 'wolf' & (") == {one for one in corpus.ids if {"red", "wolf"} & texts[one]}
    assert found("red wolf", operator="all") == {
        one for one in corpus.ids if {"red", "wolf"} <= texts[one]
    }
    assert found("red -wolf", operator="web") == {
        one for one in corpus.ids if "red" in texts[one] and "wolf" not in texts[one]
    }
    assert found("the of") == set()


@pytest.mark.parametrize("rank", ["ts_rank", "ts_rank_cd"])
def test_equal_scores_are_in_the_order_of_ids(rank: str, url: str) -> None:
    backend = made("postgres", url=url, table="documents", column="words", rank=rank)

    found = backend.search(SearchQuery("q", "red"), 300)

    assert found == sorted(found, key=lambda one: (-one.score, one.document))


def test_names_are_quoted(url: str) -> None:
    backend = made("postgres", url=url, table='odd" name', column="words", id="the id")

    assert len(ids_of(backend, SearchQuery("q", "red"), 300)) > 50


def test_a_query_of_ones_own_gets_text_vector_and_limit(url: str, corpus: Corpus) -> None:
    backend = made(
        "postgres-sql",
        url=url,
        sql="SELECT id, 1 - (embedding <=> %(vector)s::vector) AS score FROM documents "
        "WHERE words @@ plainto_tsquery(%(text)s) ORDER BY score DESC LIMIT %(limit)s",
    )
    query = SearchQuery("q", "red", corpus.queries[0].vector)

    with_word = {
        one for one, text in zip(corpus.ids, corpus.texts, strict=True) if "red" in text.split()
    }
    assert (
        ids_of(backend, query)
        == [one for one in corpus.nearest(query, 300) if one in with_word][:10]
    )


def test_distances_without_a_minus_are_refused(url: str, corpus: Corpus) -> None:
    backend = made(
        "postgres-sql",
        url=url,
        sql="SELECT id, embedding <=> %(vector)s::vector d FROM documents ORDER BY d LIMIT "
        "%(limit)s",
    )

    with pytest.raises(BackendError, match="expected the best first"):
        backend.search(corpus.queries[0], 10)


@pytest.mark.parametrize(
    ("sql", "said", "temporary"),
    [
        ("DELETE FROM documents RETURNING id, 1.0", "read-only transaction", False),
        ("SELECT id FROM documents LIMIT 2", "found 1 columns", False),
        ("SELECT id, 1.0 FROM nothing", "does not exist", False),
        ("SELECT id, pg_sleep(3)::text FROM documents", "statement timeout", True),
    ],
)
def test_a_session_can_only_read_and_a_query_has_a_limit_of_time(
    sql: str, said: str, temporary: bool, url: str
) -> None:
    backend = made("postgres-sql", url=url, sql=sql, timeout=1)

    with pytest.raises(BackendError, match=said) as raised:
        backend.search(SearchQuery("q", "red"), 10)

    assert raised.value.temporary is temporary


def test_a_connection_that_the_server_ended_is_replaced_at_the_next_attempt(
    url: str, corpus: Corpus
) -> None:
    import psycopg

    backend = made("pgvector", url=url, table="documents", column="embedding", ef_search=400)
    query = corpus.queries[0]
    backend.search(query, 10)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
            "'idealrank'"
        )

    with pytest.raises(BackendError) as raised:
        backend.search(query, 10)
    assert raised.value.temporary
    assert ids_of(backend, query) == corpus.nearest(query, 10)


def test_an_unknown_database_is_no_passing_failure(url: str, corpus: Corpus) -> None:
    backend = made(
        "pgvector",
        url=url.replace("/postgres?", "/nothing?"),
        table="documents",
        column="embedding",
    )

    with pytest.raises(BackendError, match="does not exist") as raised:
        backend.search(corpus.queries[0], 10)
    assert not raised.value.temporary


def test_threads_get_the_same_answers(url: str, corpus: Corpus) -> None:
    backend = made("pgvector", url=url, table="documents", column="embedding", ef_search=400)

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda query: ids_of(backend, query), corpus.queries * 5))
    backend.close()

    assert found == [corpus.nearest(query, 10) for query in corpus.queries] * 5


@pytest.mark.parametrize("kind", ["postgres", "pgvector", "postgres-sql"])
def test_the_contract_of_backends_holds(kind: str, url: str, corpus: Corpus) -> None:
    given = {
        "postgres": {"table": "documents", "column": "words"},
        "pgvector": {"table": "documents", "column": "embedding", "ef_search": 400},
        "postgres-sql": {
            "sql": "SELECT id, ts_rank(words, q) s FROM documents, plainto_tsquery(%(text)s) q "
            "ORDER "
            "BY s DESC, id LIMIT %(limit)s"
        },
    }[kind]
    mistake = {"sql": "SELECT 1"} if kind == "postgres-sql" else {"table": "nothing"}

    check_backend(
        made(kind, url=url, **given),
        corpus.queries[:4],
        unreachable=lambda: made(kind, url="postgresql://127.0.0.1:1/postgres", **given),
        mistaken=lambda: made(kind, url=url, **{**given, **mistake}),
    )
