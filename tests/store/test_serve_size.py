"""The first page of a large store: as many bytes and questions to its tables as that of a small
one.
"""

import asyncio
import socket
import threading
import time
import urllib.request
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.store import Record, Store, database, value_files
from idealrank.store.web import server
from idealrank.store.web.application import application
from idealrank.store.web.guard import Guard
from idealrank.store.web.host_names import shown_host
from idealrank.store.web.overview import SHOWN
from idealrank.store.web.site import StoreFolder
from tests.store.serve_samples import client, example_store


@pytest.fixture
def fast_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for the disk: these stores are thrown away."""
    monkeypatch.setattr(database, "to_disk", lambda handle: None)
    monkeypatch.setattr(value_files, "to_disk", lambda handle: None)


def filled(folder: Path, number: int) -> None:
    """Evaluations of four runs, all different, without a wait for the disk."""
    qrels = {f"q{place}": {"a": 1} for place in range(8)}
    one = ir.evaluate(qrels, {query: ["x", "a"] for query in qrels}, ["nDCG@10", "RR"])
    with Store.open(folder) as store:
        store.database._connection.execute("PRAGMA synchronous=OFF")
        for place in range(number):
            day, second = divmod(place, 60)
            record = Record(
                time=f"2026-01-{1 + day % 28:02d}T{day // 28:02d}:00:{second:02d}+00:00",
                commit=f"{place:040x}",
                tags=("main",),
            )
            store.add(replace(one, name=f"run {place % 4}"), record=record)


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The questions that the tables are asked."""
    asked: list[str] = []
    rows = database.Database.rows
    with monkeypatch.context() as patch:
        patch.setattr(
            database.Database,
            "rows",
            lambda self, sql, parameters=(): (asked.append(sql), rows(self, sql, parameters))[1],
        )
        yield asked


def first_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Bytes of the first page with all that it loads, and questions to the tables."""
    asking = client(folder)
    with counted(monkeypatch) as asked:
        page = asking.get("/")
    files = [asking.get(path) for path in ("/assets/style.css", "/assets/page.js")]
    assert page.status_code == 200
    return sum(len(one.content) for one in (page, *files)), len(asked)


@pytest.mark.usefixtures("fast_disk")
def test_the_first_page_grows_with_what_it_shows_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "a", SHOWN)
    filled(tmp_path / "b", SHOWN + 40)

    (bytes_a, asked_a), (bytes_b, asked_b) = (
        first_page(tmp_path / name, monkeypatch) for name in "ab"
    )

    assert asked_a == asked_b <= 15
    assert bytes_b < min(bytes_a + 2_000, 200_000)


def _finish(work: Coroutine[Any, Any, None]) -> None:
    """Run it in a thread of its own: in the main thread runs the loop of the browser, if other
    tests of this process have one.
    """
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


@pytest.mark.parametrize(
    ("host", "token"), [("127.0.0.1", ""), ("::1", ""), ("0.0.0.0", "a token"), ("::", "a token")]
)
def test_what_the_first_page_needs_is_there_before_the_first_request(
    tmp_path: Path, host: str, token: str
) -> None:
    example_store(tmp_path, days=1)
    told: list[Any] = []
    page = application(StoreFolder(tmp_path), Guard(host, token))

    async def overheard(scope: Any, receive: Any, send: Any) -> None:
        async def tell(message: Any) -> None:
            told.append(message)
            await send(message)

        await page(scope, receive, tell)

    _finish(server._prepare(overheard, shown_host(host), token))

    assert told[0]["status"] == 200
    assert b"nDCG@10" in told[1]["body"]


def test_a_page_that_cannot_be_prepared_stops_nothing() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise OSError("the disk is gone")

    _finish(server._prepare(broken, "127.0.0.1", ""))


def test_small_pieces_of_an_answer_are_sent_at_once() -> None:
    with server.bound("127.0.0.1", 0) as listening:
        # without it, asyncio leaves Nagle's algorithm on
        assert listening.proto == socket.IPPROTO_TCP


@pytest.mark.slow
@pytest.mark.usefixtures("fast_disk")
def test_the_first_page_of_1000_evaluations_is_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path, 1000)

    size, asked = first_page(tmp_path, monkeypatch)

    assert (size < 200_000, asked <= 15) == (True, True)


@pytest.mark.slow
def test_fifty_clients_at_once_for_a_minute_get_an_answer_each_time(tmp_path: Path) -> None:
    from tests.web.serving import server as page_server

    ids = example_store(tmp_path)
    old, new = ids["bm25"][0], ids["neural"][-1]
    paths = [
        "/",
        f"/runs/{new}",
        f"/compare?a={old}&b={new}",
        f"/query?run={new}&against={old}&query=q1",
        "/metrics",
        f"/conventions?run={new}",
        "/api/history",
        f"/verdicts/{ids['gate'][0]}",
        "/canaries",
        f"/queries?run={new}",
    ]
    wrong: list[str] = []
    answered = [0] * 50
    until = time.monotonic() + 60

    def ask(home: str, place: int) -> None:
        while time.monotonic() < until:
            path = paths[(place + answered[place]) % len(paths)]
            try:
                with urllib.request.urlopen(home + path, timeout=60) as answer:
                    answer.read()
            except OSError as error:
                wrong.append(f"{path}: {error}")
            answered[place] += 1

    with page_server(tmp_path) as home:
        threads = [threading.Thread(target=ask, args=(home, place)) for place in range(50)]
        for thread in threads:
            thread.start()
        with Store.open(tmp_path) as store:  # a writer meanwhile
            while time.monotonic() < until:
                store.tag(new, f"tag {time.monotonic():.0f}")
                time.sleep(1)
        for thread in threads:
            thread.join()

    assert wrong == []
    assert min(answered) > 0
