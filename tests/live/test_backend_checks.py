"""The contract of backends holds for those that come along, and each way to break it is found."""

import itertools
import json
import sqlite3
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from idealrank._sections import Section
from idealrank.errors import BackendError, OptionError
from idealrank.live.backends import backend_from
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery
from idealrank.live.backends.sqlite_fts5 import FullTextIndex
from idealrank.testing import check_backend, faults_of_backend
from tests.live.live_fakes import send, service

QUERIES = ["red fox", "lazy dog", "fox dog"]
TEXTS = {
    "d1": "the red fox",
    "d2": "a lazy dog sleeps",
    "d3": "a fox is no dog",
    "d4": "dog and fox and dog",
}


def make(**given: Any) -> Backend:
    return backend_from(Section(given, "search.yaml", "backend"))


def test_sqlite_keeps_the_contract(tmp_path: Path) -> None:
    path = str(tmp_path / "texts.db")
    with sqlite3.connect(path) as opened:
        opened.execute("CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, body)")
        opened.executemany("INSERT INTO documents VALUES (?, ?)", TEXTS.items())
    opened.close()
    for operator in ("any", "all"):
        check_backend(
            make(kind="sqlite-fts5", path=path, operator=operator),
            QUERIES,
            limit=3,
            mistaken=lambda: FullTextIndex(path, "no such"),
        )


def test_replay_keeps_the_contract(tmp_path: Path) -> None:
    lines = [
        {"query": f"q{place}", "documents": ["b", "a"], "scores": [2.0, 1.0]} for place in range(3)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "a.run").write_text(
        "".join(
            f"q{place} Q0 {document} 1 {score} x\n"
            for place in range(3)
            for document, score in zip("ba", "21", strict=True)
        )
    )
    queries = [SearchQuery(f"q{place}", text) for place, text in enumerate(QUERIES)]
    for name in ("a.jsonl", "a.run"):
        check_backend(make(kind="replay", path=str(tmp_path / name)), queries)


def test_http_functions_and_programs_keep_the_contract(tmp_path: Path) -> None:
    def answer(_: str, body: Any, handler: Any) -> None:
        send(
            handler,
            [
                {"id": word, "score": 9 - place}
                for place, word in enumerate(dict.fromkeys(body["text"].split()))
            ],
        )

    with service(answer) as (url, _):
        given = {"kind": "http", "body": {"text": "{text}"}, "id": "id", "score": "score"}
        check_backend(
            make(url=url, **given),
            QUERIES,
            unreachable=lambda: make(url="http://127.0.0.1:9/", **given),
            mistaken=lambda: make(url=url, **{**given, "id": "_id"}),
        )
    program = (
        "import sys, json\nfor line in sys.stdin: "
        "print(json.dumps(list(dict.fromkeys(json.loads(line)['text'].split()))), flush=True)"
    )
    check_backend(make(kind="command", command=[sys.executable, "-c", program]), QUERIES)
    (tmp_path / "mine.py").write_text(
        "def search(text, limit): return list(dict.fromkeys(text.split()))"
    )
    check_backend(make(kind="function", function=f"{tmp_path}/mine.py:search"), QUERIES)


class Faulty:
    """A backend that answers by a function."""

    name = "faulty"

    def __init__(self, answer: Callable[[SearchQuery, int], Any]) -> None:
        self._answer = answer

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        return self._answer(query, limit)  # type: ignore[no-any-return]

    def close(self) -> None:
        pass


def pairs(*hits: tuple[Any, Any]) -> Callable[..., Any]:
    return lambda _, limit: list(itertools.starmap(ScoredDocument, hits))[:limit]


def raising(error: Exception, when: Callable[[str], bool]) -> Callable[..., Any]:
    def answer(query: SearchQuery, limit: int) -> Any:
        if when(query.text):
            raise error
        return [ScoredDocument("a", 2.0), ScoredDocument("b", 1.0)][:limit]

    return answer


numbers, main = itertools.count(), threading.main_thread()
FAULTS: list[tuple[Callable[..., Any], str]] = [
    (
        lambda _, __: [ScoredDocument("a", 2.0), ScoredDocument("b", 1.0)],
        "found 2 documents, expected at most 1",
    ),
    (pairs(("a", 1.0), ("b", 2.0)), "expected them to fall"),
    (pairs(("a", 1.0), ("a", 1.0)), "found a document twice"),
    (pairs(("a", float("nan")), ("b", 1.0)), "expected finite floats"),
    (pairs(("a", 2), ("b", 1)), "expected finite floats"),
    (pairs((1, 2.0), (2, 1.0)), "expected texts that are not empty"),
    (pairs(("", 2.0), ("b", 1.0)), "expected texts that are not empty"),
    (lambda _, limit: ["a", "b"][:limit], "expected pairs of document and score"),
    (pairs(("a", 1.0)), "no query has two documents"),
    (
        lambda _, limit: [ScoredDocument("a", 9.0 - limit), ScoredDocument("b", -99.0)][:limit],
        "with limit 1",
    ),
    (
        lambda _, limit: [ScoredDocument(str(next(numbers)), 2.0), ScoredDocument("b", 1.0)][
            :limit
        ],
        ", then ",
    ),
    (
        raising(KeyError("hits"), lambda text: text == QUERIES[1]),
        "raised KeyError: 'hits', expected documents",
    ),
    (
        raising(KeyError("hits"), lambda text: text == ""),
        "query '': raised KeyError: 'hits', expected BackendError",
    ),
    (
        raising(BackendError("syntax", temporary=True), lambda text: "NEAR(" in text),
        "raised a temporary error (syntax)",
    ),
    (
        raising(BackendError("thread"), lambda _: threading.current_thread() is not main),
        "raised BackendError: thread",
    ),
]


@pytest.mark.parametrize(("answer", "message"), FAULTS)
def test_each_way_to_break_the_contract_is_found(answer: Callable[..., Any], message: str) -> None:
    assert any(message in fault for fault in faults_of_backend(Faulty(answer), QUERIES))
    with pytest.raises(AssertionError, match="backend faulty violates the protocol:\n\\* "):
        check_backend(Faulty(answer), QUERIES)


def test_errors_of_another_class_and_closing_are_checked() -> None:
    good = raising(KeyError("x"), lambda _: False)
    assert faults_of_backend(Faulty(good), QUERIES) == []
    for options, message in (
        ({"unreachable": lambda: Faulty(good)}, "an engine that is not reached raised nothing"),
        (
            {"unreachable": lambda: Faulty(raising(OSError("refused"), bool))},
            "raised OSError: refused, expected BackendError",
        ),
        (
            {"unreachable": lambda: Faulty(raising(BackendError("refused"), bool))},
            "temporary=False, expected temporary=True",
        ),
        (
            {"mistaken": lambda: Faulty(raising(BackendError("refused", temporary=True), bool))},
            "temporary=True, expected temporary=False",
        ),
    ):
        assert any(
            message in fault for fault in faults_of_backend(Faulty(good), QUERIES, **options)
        )  # type: ignore[arg-type]

    class ClosedTwice(Faulty):
        times = 0

        def close(self) -> None:
            self.times += 1
            if self.times > 1:
                raise RuntimeError("closed")

    assert (
        "the second close raised RuntimeError" in faults_of_backend(ClosedTwice(good), QUERIES)[0]
    )
    assert "expected the protocol" in faults_of_backend(object(), QUERIES)[0]  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="found no query"):
        check_backend(Faulty(good), [])
