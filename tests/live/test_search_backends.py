"""Backends that need no server of their own: what they ask, what they answer, and what each failure
becomes.
"""

import json
import socket
import sqlite3
import sys
from base64 import b64encode
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import numpy as np
import pytest

from idealrank._sections import Section
from idealrank.errors import BackendError, InputError, OptionError
from idealrank.live.backends import KINDS, backend_from
from idealrank.live.backends.http_endpoint import filled
from idealrank.live.backends.protocol import ScoredDocument, SearchQuery
from idealrank.live.backends.secrets import Secrets
from idealrank.live.search_jobs import QueryRecord
from tests.live.live_fakes import send, service

Given = dict[str, Any]


def make(given: Given) -> Any:
    return backend_from(Section(given, "search.yaml", "backend"))


def found(
    given: Given, text: str = "a b", limit: int = 10, vector: Any = None
) -> list[tuple[str, float]]:
    backend = make(given)
    try:
        return [tuple(one) for one in backend.search(SearchQuery("q1", text, vector), limit)]
    finally:
        backend.close()


# --- SQLite ---------------------------------------------------------------------------------------

DOCUMENTS = {
    "d1": ("red fox", "the red fox jumps"),
    "d2": ("dog", "a lazy dog sleeps"),
    "d3": ("fox", "a fox is no dog"),
    "dé": ("naïve", "naïve café"),
}


@pytest.fixture
def database(tmp_path: Path) -> str:
    path = str(tmp_path / "a #1?.db")
    with sqlite3.connect(path) as opened:
        opened.execute("CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, title, body)")
        opened.executemany(
            "INSERT INTO documents VALUES (?, ?, ?)",
            [(one, *texts) for one, texts in DOCUMENTS.items()],
        )
    opened.close()
    return path


def test_fts5_ranks_by_bm25_best_first(database: str) -> None:
    hits = found({"kind": "sqlite-fts5", "path": database}, "fox dog")
    with sqlite3.connect(database) as opened:
        wanted = opened.execute(
            "SELECT id, -bm25(documents) FROM documents('fox OR dog') ORDER BY bm25(documents)"
        ).fetchall()
    opened.close()
    assert hits == [(one, pytest.approx(score)) for one, score in wanted]
    assert found({"kind": "sqlite-fts5", "path": database}, "fox dog", limit=1) == hits[:1]
    assert {
        one
        for one, _ in found({"kind": "sqlite-fts5", "path": database, "operator": "all"}, "fox dog")
    } == {"d3"}
    weighted = {"kind": "sqlite-fts5", "path": database, "weights": {"title": 50, "body": 0.1}}
    assert found(weighted, "dog")[0][0] == "d2"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        '"',
        "* ^ -",
        "NEAR(",
        "AND",
        "title: fox",
        'fox" OR "dog',
        "fo*",
        "dog\0fox",
        "(((",
        "café",
        "-",
    ],
)
def test_no_query_is_taken_for_an_expression(database: str, text: str) -> None:
    for operator in ("any", "all"):
        hits = found({"kind": "sqlite-fts5", "path": database, "operator": operator}, text)
        assert all(score > 0 or len(DOCUMENTS) for _, score in hits)
    assert text != "café" or [one for one, _ in hits] == ["dé"]


def test_fts5_names_what_is_missing(database: str, tmp_path: Path) -> None:
    with pytest.raises(
        OptionError,
        match=r"search.yaml: backend.path: no.db: found no such file",
    ):
        make({"kind": "sqlite-fts5", "path": "no.db"})
    with pytest.raises(
        OptionError, match=r"search.yaml: backend: sqlite-fts5: .*no such table: texts"
    ):
        make({"kind": "sqlite-fts5", "path": database, "table": "texts"})
    with pytest.raises(
        OptionError, match="found no column 'docno' in 'documents', expected id, title, body"
    ):
        make({"kind": "sqlite-fts5", "path": database, "id": "docno"})
    with sqlite3.connect(database) as opened:
        opened.execute("CREATE TABLE plain (id, rank, body)")
        opened.execute("CREATE VIRTUAL TABLE older USING fts4(id, body)")
        opened.execute("CREATE VIEW seen AS SELECT * FROM documents")
        opened.execute("create virtual table Upper using 'fts5' (id, body)")
    opened.close()
    for table in ("plain", "older", "seen", "documents_data"):
        with pytest.raises(
            OptionError,
            match=rf"found no full-text index in '{table}', expected a virtual table of FTS5",
        ):
            make({"kind": "sqlite-fts5", "path": database, "table": table, "id": "rowid"})
    assert found({"kind": "sqlite-fts5", "path": database, "table": "upper"}, "fox") == []
    (tmp_path / "text.db").write_text("no database at all, but a text of some length " * 30)
    with pytest.raises(OptionError, match="not a database"):
        make({"kind": "sqlite-fts5", "path": str(tmp_path / "text.db")})


# --- functions and programs -----------------------------------------------------------------------


def engine(text: str, limit: int) -> Any:
    return json.loads(text)[:limit] if text.startswith("[") else json.loads(text)


def hanging(_: str, __: int) -> Any:
    raise TimeoutError("30 s")


def broken(_: str, __: int) -> Any:
    return {}["hits"]


HERE = "tests.live.test_search_backends"
FORMS = [
    ('["a", "b"]', [("a", 1.0), ("b", 0.5)]),
    ("[7, 8]", [("7", 1.0), ("8", 0.5)]),
    ('[["a", 2], ["b", 1.5]]', [("a", 2.0), ("b", 1.5)]),
    ('{"a": 1, "b": 3}', [("b", 3.0), ("a", 1.0)]),
    ('{"documents": ["a", "b"], "scores": [3, 3]}', [("a", 3.0), ("b", 3.0)]),
    ('{"documents": []}', []),
    ("[]", []),
    ("{}", []),
]
BAD = [
    ('"a"', "found 'a', expected ids, pairs"),
    ("3", "found 3, expected ids, pairs"),
    ('["a", "a"]', "found document 'a' twice"),
    (
        '[["a", 1], ["b", 2]]',
        "found score 2 after 1, expected the best first; if less is better, set `order: distance`",
    ),
    ('[["a", "x"]]', "found 'x' as a score"),
    ('[["a", NaN]]', "found nan as a score"),
    ("[null]", "found None as the id"),
    ('[""]', "found '' as the id"),
    ("[1.5]", "found 1.5 as the id"),
    (r'["a\udcff"]', r"found the id 'a\udcff' with half a surrogate pair, expected valid Unicode"),
    ("[true]", "found True as the id"),
    ('{"documents": ["a", "b"], "scores": [3]}', "found 1 scores for 2 documents"),
]


@pytest.mark.parametrize(("text", "wanted"), FORMS)
def test_a_function_answers_in_any_of_these_forms(
    text: str, wanted: list[tuple[str, float]]
) -> None:
    assert found({"kind": "function", "function": f"{HERE}:engine"}, text) == wanted


@pytest.mark.parametrize(("text", "message"), BAD)
def test_an_answer_of_another_form_is_an_error_that_shows_it(text: str, message: str) -> None:
    with pytest.raises(BackendError) as caught:
        found({"kind": "function", "function": f"{HERE}:engine"}, text)
    assert message in str(caught.value)
    assert not caught.value.temporary


def test_distances_are_negated() -> None:
    assert found(
        {"kind": "function", "function": f"{HERE}:engine", "order": "distance"},
        '[["a", 1], ["b", 2]]',
    ) == [("a", -1), ("b", -2)]


def test_exceptions_of_a_function_are_failures() -> None:
    with pytest.raises(BackendError, match="TimeoutError: 30 s") as caught:
        found({"kind": "function", "function": f"{HERE}:hanging"})
    assert caught.value.temporary
    with pytest.raises(BackendError, match="KeyError: 'hits'") as caught:
        found({"kind": "function", "function": f"{HERE}:broken"})
    assert not caught.value.temporary


def test_a_function_of_a_file_and_its_mistakes(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def search(vector, limit):\n    return [f'd{len(vector)}']\n"
    )
    given = {"kind": "function", "function": f"{tmp_path / 'mine.py'}:search", "takes": "vector"}
    assert found(given, vector=np.zeros(3)) == [("d3", 1.0)]
    for place, message in {
        "mine": "expected module:function",
        "no_such:f": "ModuleNotFoundError",
        "json:nothing": "AttributeError",
        "no.py:f": "no file no.py",
        "json:__name__": "expected a function",
    }.items():
        with pytest.raises(OptionError, match=f"backend.function: .*{message}"):
            make({"kind": "function", "function": place})


PROGRAM = """
import json, sys, time
for line in sys.stdin:
    query = json.loads(line)
    if query["text"] == "die": sys.exit("out of memory")
    if query["text"] == "hang": time.sleep(60)
    if query["text"] == "nonsense": print("<html>", flush=True); continue
    if query["text"] == "fail": print(json.dumps({"error": "no index", "temporary": True}), flush=True); continue
    print(json.dumps([[query["text"], query["limit"]], [query["id"], len(query.get("vector", []))]]), flush=True)
"""  # noqa: E501


def command(timeout: float = 30.0) -> Any:
    return make({"kind": "command", "command": [sys.executable, "-c", PROGRAM], "timeout": timeout})


def test_a_program_answers_line_by_line_in_any_script() -> None:
    backend = command()
    try:
        for text in ("été 東京", "two\nlines", '"'):
            assert backend.search(SearchQuery("q1", text, np.zeros(2)), 9) == [
                ScoredDocument(text, 9.0),
                ScoredDocument("q1", 2.0),
            ]
        with pytest.raises(BackendError, match="no index") as caught:
            backend.search(SearchQuery("q1", "fail"), 9)
        assert caught.value.temporary
        with pytest.raises(BackendError, match=r"found '<html>.*expected a line of JSON"):
            backend.search(SearchQuery("q1", "nonsense"), 9)
        with pytest.raises(
            BackendError, match=r"ended with exit code 1 \(out of memory\)"
        ) as caught:
            backend.search(SearchQuery("q1", "die"), 9)
        assert caught.value.temporary
        assert backend.search(SearchQuery("q1", "again"), 9)[0].document == "again"
    finally:
        backend.close()


def test_a_program_that_hangs_is_killed_and_one_that_is_missing_named() -> None:
    backend = command(timeout=0.05)
    with pytest.raises(BackendError, match=r"found no answer in 0.05 s") as caught:
        backend.search(SearchQuery("q1", "hang"), 9)
    assert caught.value.temporary
    backend.close()
    with pytest.raises(BackendError, match=r"no-such-program: (No such file|Permission denied)"):
        found({"kind": "command", "command": "no-such-program"})


# --- HTTP -----------------------------------------------------------------------------------------


def elastic(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
    words = body["query"]["match"]["text"].split()
    send(
        handler,
        {
            "hits": {
                "hits": [{"_id": word, "_score": 10 - place} for place, word in enumerate(words)]
            }
        },
    )


def test_http_fills_templates_and_follows_paths() -> None:
    with service(elastic) as (url, seen):
        body = {
            "query": {"match": {"text": "{text}"}},
            "size": "{limit}",
            "vector": "{vector}",
            "note": "{id} top {limit}",
        }
        given = {
            "kind": "http",
            "url": f"{url}/docs/_search",
            "body": body,
            "hits": "hits.hits",
            "id": "_id",
            "score": "_score",
        }
        assert found(given, '"été" {limit} x', vector=np.array([0.5, 1])) == [
            ('"été"', 10.0),
            ("{limit}", 9.0),
            ("x", 8.0),
        ]
    assert seen[0][0] == "/docs/_search"
    assert seen[0][2] == {
        "query": {"match": {"text": '"été" {limit} x'}},
        "size": 10,
        "vector": [0.5, 1.0],
        "note": "q1 top 10",
    }


def test_http_encodes_what_stands_in_an_address() -> None:
    with service(lambda _, __, handler: send(handler, ["a", "b"])) as (url, seen):
        given = {
            "kind": "http",
            "url": url + "/search?q={text}&n={limit}",
            "headers": {"x-team": "search"},
        }
        assert found(given, "a&n=9 é/?") == [("a", 1.0), ("b", 0.5)]
        assert found(
            {"kind": "http", "url": f"{url}/search", "params": {"q": "{text}", "n": 5}}, "a&b"
        ) == [("a", 1.0), ("b", 0.5)]
    assert seen[0][0] == "/search?q=a%26n%3D9%20%C3%A9%2F%3F&n=10"
    assert seen[0][1]["x-team"] == "search"
    assert seen[1][0] == "/search?q=a%26b&n=5"


def closing(_: str, __: Any, handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def slow(_: str, __: Any, handler: BaseHTTPRequestHandler) -> None:
    handler.connection.settimeout(5)
    handler.connection.recv(1)  # until the client leaves
    handler.close_connection = True


FAULTS: dict[str, tuple[Callable[..., None], str, bool, float | None]] = {
    "500": (
        lambda _, __, handler: send(handler, b"Traceback: boom", 500),
        r"status 500 \(Traceback: boom\)",
        True,
        None,
    ),
    "429": (
        lambda _, __, handler: send(handler, {}, 429, retry_after="7"),
        "status 429",
        True,
        7.0,
    ),
    "401": (lambda _, __, handler: send(handler, {}, 401), "status 401", False, None),
    "404": (
        lambda _, __, handler: send(handler, {"error": "index_not_found"}, 404),
        "index_not_found",
        False,
        None,
    ),
    "moved": (
        lambda _, __, handler: send(handler, b"", 302, location="/elsewhere"),
        "status 302, expected 200",
        False,
        None,
    ),
    "nonsense": (
        lambda _, __, handler: send(handler, b"<html>a page</html>"),
        "found '<html>a page</html>', expected JSON",
        False,
        None,
    ),
    "empty": (lambda _, __, handler: send(handler, b""), "expected JSON", False, None),
    "no list": (
        lambda _, __, handler: send(handler, {"results": []}),
        "found nothing at 'hits' of the answer, expected a list",
        False,
        None,
    ),
    "a text": (
        lambda _, __, handler: send(handler, {"hits": "none"}),
        """found "none" at 'hits'""",
        False,
        None,
    ),
    "no id": (
        lambda _, __, handler: send(handler, {"hits": [{"key": 1}]}),
        "found no id at 'id' of a hit: {\"key\": 1}",
        False,
        None,
    ),
    "closed": (closing, "Remote|disconnected|ReadError", True, None),
    "slow": (slow, r"found no answer in 0.2 s", True, None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_a_service_is_said_and_is_temporary_or_not(fault: str) -> None:
    answer, message, temporary, wait = FAULTS[fault]
    with service(answer) as (url, _), pytest.raises(BackendError, match=message) as caught:
        found(
            {
                "kind": "http",
                "url": url,
                "hits": "hits",
                "id": "id",
                "timeout": 0.2 if fault == "slow" else 20,
            }
        )
    assert (caught.value.temporary, caught.value.retry_after) == (temporary, wait)


def test_a_service_that_is_not_there_may_come_back() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(BackendError, match="ConnectError") as caught:
        found({"kind": "http", "url": f"http://127.0.0.1:{port}/"})
    assert caught.value.temporary


# --- secrets --------------------------------------------------------------------------------------


def test_secrets_come_from_the_environment_and_no_message_shows_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "s3cret/+ü")

    def echo(path: str, _: Any, handler: BaseHTTPRequestHandler) -> None:
        send(handler, f"no {path} for {handler.headers['authorization']}".encode("latin-1"), 403)

    with service(echo) as (url, seen), pytest.raises(BackendError) as caught:
        found(
            {
                "kind": "http",
                "url": f"{url}/?key=" + "${SEARCH_KEY}",
                "headers": {"authorization": "Bearer ${SEARCH_KEY}"},
            }
        )
    assert "s3cret" not in str(caught.value)
    assert "${SEARCH_KEY}" in str(caught.value)
    assert caught.value.__context__ is None or "s3cret" not in str(caught.value.__context__)
    assert "s3cret" in seen[0][0]
    with pytest.raises(OptionError) as refused:
        make({"kind": "http", "url": "${SEARCH_KEY}"})
    assert "s3cret" not in str(refused.value)


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(
        OptionError,
        match=r"headers.authorization: found \$\{NO_SUCH_KEY\}, and no such environment variable",
    ):
        make(
            {
                "kind": "http",
                "url": "http://127.0.0.1/",
                "headers": {"authorization": "${NO_SUCH_KEY}"},
            }
        )


# --- recorded answers -----------------------------------------------------------------------------


def test_replay_repeats_a_journal_with_its_failures(tmp_path: Path) -> None:
    records = [
        QueryRecord(
            query="q1",
            hits=(ScoredDocument("b", 2.0), ScoredDocument("a", 2.0)),
            seconds=0.1,
            attempts=1,
        ),
        QueryRecord(query="q2", hits=(), seconds=0.1, attempts=4, failure="busy", temporary=True),
    ]
    lines = [
        json.dumps({"format": "idealrank search journal 1"}),
        *(json.dumps(one.to_dict()) for one in records),
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    backend = make({"kind": "replay", "path": str(tmp_path / "a.jsonl")})
    assert list(backend.search(SearchQuery("q1", ""), 10)) == list(records[0].hits)
    with pytest.raises(BackendError, match="busy") as caught:
        backend.search(SearchQuery("q2", ""), 10)
    assert caught.value.temporary
    with pytest.raises(BackendError, match="found no answer to query 'q3'"):
        backend.search(SearchQuery("q3", ""), 10)


def test_replay_reads_a_run_in_its_own_order(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 b 1 2 x\nq1 Q0 c 2 2 x\nq1 Q0 a 3 2 x\n")
    assert found({"kind": "replay", "path": str(tmp_path / "a.run")}, limit=2) == [
        ("b", 2.0),
        ("c", 2.0),
    ]


def test_every_kind_refuses_a_key_that_it_does_not_know(tmp_path: Path, database: str) -> None:
    for kind in KINDS:
        with pytest.raises(OptionError, match=r"backend.*(unknown key 'pathh'|found)"):
            make({"kind": kind, "pathh": "x"})


@pytest.mark.parametrize(
    "secret",
    ["k", "a/b c", "s3cret/+ü", "50%", 'quo"te\\', "${HOME}", "abcdefgh", "s3crétTOKEN9\n"],
)
def test_a_secret_is_hidden_in_each_form_in_which_programs_write_it(
    monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setenv("SEARCH_KEY", secret)
    secrets = Secrets()
    secrets.fill(["${SEARCH_KEY}"], Section({}, "search.yaml", "backend"))
    forms = {
        secret,
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
    }
    forms.add(repr(secret.encode())[2:-1])
    for form in forms:
        assert secrets.hide(f"<{form}>") == "<${SEARCH_KEY}>"
    for user in ("", "u:", "us:", "use:"):
        coded = b64encode(f"{user}{secret}".encode()).decode()
        assert len(secret) < 8 or b64encode(secret.encode()).decode()[2:-4] not in secrets.hide(
            coded
        )
        assert len(secret) < 8 or "${SEARCH_KEY}" in secrets.hide(coded)


def exits(_: str, __: int) -> Any:
    raise SystemExit("x" * 100_000)


def test_an_exit_of_a_function_is_a_failure_and_its_message_is_cut() -> None:
    with pytest.raises(BackendError, match="SystemExit: xxx") as caught:
        found({"kind": "function", "function": f"{HERE}:exits"})
    assert len(str(caught.value)) < 200


@pytest.mark.spread(8)
@pytest.mark.parametrize("letters", range(20, 90, 3))
def test_a_secret_at_the_place_where_a_message_is_cut_is_hidden_whole(
    monkeypatch: pytest.MonkeyPatch, letters: int
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "SuperSecretTokenValue-0123456789")

    def echo(_: str, __: Any, handler: BaseHTTPRequestHandler) -> None:
        send(handler, f"{'x' * letters} {handler.headers['authorization']}".encode(), 401)

    with service(echo) as (url, _), pytest.raises(BackendError) as caught:
        found({"kind": "http", "url": url, "headers": {"authorization": "Bearer ${SEARCH_KEY}"}})
    assert "Supe" not in str(caught.value)


def test_a_program_that_repeats_a_secret_in_its_error_shows_no_part_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "SuperSecretTokenValue-0123456789")
    program = "import sys\nfor line in sys.stdin: print('x' * 60 + sys.argv[1], flush=True)"
    with pytest.raises(BackendError) as caught:
        found({"kind": "command", "command": [sys.executable, "-c", program, "${SEARCH_KEY}"]})
    assert "Super" not in str(caught.value)


def refuses(section: Section) -> Any:
    raise ArithmeticError(section.given)


def test_errors_while_a_backend_is_made_hide_secrets(
    monkeypatch: pytest.MonkeyPatch, database: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("SEARCH_KEY", database)
    with pytest.raises(OptionError, match=r"\$\{SEARCH_KEY\}: no such table") as caught:
        make({"kind": "sqlite-fts5", "path": "${SEARCH_KEY}", "table": "texts"})
    assert database not in str(caught.value)
    monkeypatch.setenv("SEARCH_KEY", str(tmp_path / "missing.jsonl"))
    with pytest.raises(OptionError) as unread:
        make({"kind": "replay", "path": "${SEARCH_KEY}"})
    assert "missing" not in str(unread.value)
    monkeypatch.setattr("idealrank.live.backends.recorded_answers.from_section", refuses)
    with pytest.raises(OptionError, match=r"search.yaml: backend: found ArithmeticError") as other:
        make({"kind": "replay", "path": "${SEARCH_KEY}"})
    assert "missing" not in str(other.value)


@pytest.mark.parametrize("kind", [["http"], {"http": 1}, 7, True])
def test_a_kind_that_is_no_text_is_refused(kind: Any) -> None:
    with pytest.raises(OptionError, match=r"backend.kind: found .*expected one of sqlite-fts5"):
        make({"kind": kind})


@pytest.mark.parametrize("timeout", [float("inf"), float("nan"), 1e300, 10**400])
def test_a_timeout_that_no_clock_can_wait_for_is_refused(timeout: float) -> None:
    with pytest.raises(
        OptionError, match=r"backend.timeout: found .*expected a number from 0 to 86400"
    ):
        make({"kind": "replay", "path": "a.jsonl", "timeout": timeout})


@pytest.mark.parametrize("ending", ["jsonl", "run"])
def test_a_nul_in_a_path_is_refused(ending: str) -> None:
    with pytest.raises(InputError):
        make({"kind": "replay", "path": f"a\0b.{ending}"})


def test_an_answer_that_is_a_list_has_an_empty_path() -> None:
    with service(lambda _, __, handler: send(handler, ["a", "b"])) as (url, _):
        assert found({"kind": "http", "url": url, "hits": "", "id": ""}) == [("a", 1.0), ("b", 0.5)]


def test_a_text_of_a_request_that_is_the_name_of_a_field_stays() -> None:
    """The vector field of a kNN request may be called vector."""
    template = {"knn": {"field": "vector", "query_vector": "{vector}"}, "as text": "v={vector}"}
    found = filled(template, SearchQuery("q1", "a", [0.5, 1.0]), 10)
    assert found == {
        "knn": {"field": "vector", "query_vector": [0.5, 1.0]},
        "as text": "v=[0.5, 1.0]",
    }
    assert filled({"field": "vector"}, SearchQuery("q1", "a"), 10) == {"field": "vector"}
