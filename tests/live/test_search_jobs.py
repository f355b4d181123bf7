"""A job asks each query until it is answered, and hurts no engine; the clock is moved, so that no
test waits.
"""

import os
import queue
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from idealrank.errors import BackendError, FileFormatError, InputError
from idealrank.live.backends.protocol import ScoredDocument, SearchQuery
from idealrank.live.request_jobs import BreakerPolicy, Latencies, SearchPolicy, WorkerThreads
from idealrank.live.search_jobs import QueryRecord, SearchJob, SearchJournal, SearchOutcome
from idealrank.live.timing import SystemClock
from tests.live.live_fakes import AtOnce, FakeClock, Never, Scripted


def queries(number: int) -> list[SearchQuery]:
    return [SearchQuery(f"q{place}", f"text {place}") for place in range(number)]


def run(
    answer: Callable[[str, int], Any], number: int = 1, **policy: Any
) -> tuple[Scripted, dict[str, QueryRecord]]:
    clock = FakeClock()
    backend, kept = Scripted(clock, answer), dict[str, QueryRecord]()
    SearchJob(backend, SearchPolicy(**policy), clock=clock, workers=AtOnce()).run(
        queries(number), lambda one: kept.update({one.query: one})
    )
    return backend, kept


def down(_: str, __: int) -> Exception:
    return BackendError("down", temporary=True)


def test_each_query_is_asked_once_and_its_documents_kept() -> None:
    backend, kept = run(lambda query, _: [f"{query}-a", f"{query}-b", "c"], 50, limit=2)
    assert Counter(query for _, query in backend.asked) == Counter(
        f"q{place}" for place in range(50)
    )
    assert kept["q7"].hits == (ScoredDocument("q7-a", 1.0), ScoredDocument("q7-b", 0.5))
    assert {one.attempts for one in kept.values()} == {1}


def test_a_temporary_failure_is_repeated_after_growing_pauses_and_a_permanent_one_is_not() -> None:
    backend, kept = run(
        lambda _, times: ["a"] if times == 4 else BackendError("busy", temporary=True),
        retries=3,
        backoff=1.0,
    )
    pauses = np.diff([time for time, _ in backend.asked])
    assert (kept["q0"].attempts, kept["q0"].failure) == (4, "")
    assert ((pauses >= [0.5, 1.0, 2.0]) & (pauses <= [1.0, 2.0, 4.0])).all()
    backend, kept = run(lambda _, __: BackendError("bad request"))
    assert (len(backend.asked), kept["q0"].failure, kept["q0"].temporary) == (
        1,
        "bad request",
        False,
    )


def test_the_random_part_of_a_pause_has_a_seed() -> None:
    delays = [SearchPolicy(seed=seed).delay("q1", 1) for seed in (0, 0, 1)]
    assert delays[0] == delays[1] != delays[2]
    assert max(SearchPolicy().delay("q1", attempts) for attempts in range(1, 60)) <= 30


def test_retries_end_and_the_failure_is_recorded() -> None:
    backend, kept = run(down, retries=2)
    assert (len(backend.asked), kept["q0"].attempts, kept["q0"].failure, kept["q0"].temporary) == (
        3,
        3,
        "down",
        True,
    )


def test_attempts_keep_to_the_rate() -> None:
    backend, _ = run(lambda _, __: ["a"], 20, rate=4.0, concurrency=8)
    times = [time for time, _ in backend.asked]
    assert np.diff(times) == pytest.approx(0.25)


def test_an_engine_that_asks_for_a_pause_gets_it_from_all_queries() -> None:
    def answer(query: str, times: int) -> Any:
        return (
            BackendError("busy", temporary=True, retry_after=7.0)
            if (query, times) == ("q0", 1)
            else ["a"]
        )

    backend, kept = run(answer, 3, concurrency=1)
    assert backend.asked[1][0] - backend.asked[0][0] >= 7
    assert not any(one.failure for one in kept.values())


def test_no_pause_is_longer_than_two_minutes() -> None:
    _, kept = run(lambda _, __: BackendError("busy", temporary=True, retry_after=86400.0))
    assert kept["q0"].failure == "busy"


def test_an_answer_after_the_timeout_counts_as_none() -> None:
    clock = FakeClock()

    class Slow(Scripted):
        def search(self, query: SearchQuery, limit: int) -> Any:
            found = super().search(query, limit)
            clock.time += 11
            return found

    kept: list[QueryRecord] = []
    job = SearchJob(
        Slow(clock, lambda _, __: ["a"]), SearchPolicy(retries=1), clock=clock, workers=AtOnce()
    )
    job.run(queries(1), kept.append)
    assert (kept[0].failure, kept[0].attempts) == ("scripted: found no answer in 10 s", 2)


def test_searches_that_never_end_stop_the_job() -> None:
    clock = FakeClock()
    job = SearchJob(
        Scripted(clock, lambda _, __: ["a"]),
        SearchPolicy(concurrency=3),
        clock=clock,
        workers=Never(),
    )
    with pytest.raises(BackendError, match="stopped, as 3 queries do not end"):
        job.run(queries(10), lambda _: None)


def test_the_breaker_opens_lets_one_query_through_and_closes() -> None:
    clock = FakeClock()
    backend = Scripted(
        clock, lambda _, __: BackendError("down", temporary=True) if clock.time < 140 else ["a"]
    )
    kept: dict[str, QueryRecord] = {}
    policy = SearchPolicy(
        concurrency=1,
        retries=50,
        backoff=0.01,
        breaker=BreakerPolicy(failures=5, pause=20, probes=4),
    )
    SearchJob(backend, policy, clock=clock, workers=AtOnce()).run(
        queries(8), lambda one: kept.update({one.query: one})
    )
    times = [time for time, _ in backend.asked]
    assert sum(time < 120 for time in times) == 5
    assert sum(120 <= time < 140 for time in times) == 1, "one probe while the breaker is open"
    assert len(kept) == 8
    assert not any(one.failure for one in kept.values())


def test_an_engine_that_stays_down_stops_the_job_and_most_queries_are_never_sent() -> None:
    clock = FakeClock()
    backend, kept = Scripted(clock, down), list[QueryRecord]()
    policy = SearchPolicy(
        concurrency=1, retries=1, breaker=BreakerPolicy(failures=5, pause=20, probes=3)
    )
    with pytest.raises(
        BackendError, match="stopped, as 3 probes failed; the last failure: down; the same command"
    ) as caught:
        SearchJob(backend, policy, clock=clock, workers=AtOnce()).run(queries(1000), kept.append)
    assert "service is well again" in caught.value.hint
    assert len(backend.asked) == 8
    assert backend.asked[-1][0] - backend.asked[0][0] >= 60


def test_queries_that_wait_for_another_attempt_when_the_job_stops_keep_their_attempts_and_time() -> (  # noqa: E501
    None
):
    clock, kept = FakeClock(), dict[str, SearchOutcome]()
    policy = SearchPolicy(
        concurrency=3,
        retries=5,
        timeout=4.0,
        breaker=BreakerPolicy(failures=2, pause=1.0, probes=1),
    )
    job = SearchJob(Scripted(clock, down), policy, clock=clock, workers=Never())
    with pytest.raises(BackendError, match="stopped"):
        job.ask(queries(5), lambda one: kept.update({one.item.id: one}))
    assert kept == {}
    found = {
        one.item.id: (one.attempts, one.elapsed, one.timed_out, bool(one.failure))
        for one in job.interrupted
    }
    assert found == dict.fromkeys(("q0", "q1", "q2"), (1, 4.0, True, True))


def test_a_mistake_in_the_configuration_stops_the_job_early() -> None:
    clock = FakeClock()
    backend = Scripted(clock, lambda _, __: BackendError("no such index 'producs'"))
    with pytest.raises(
        BackendError, match="refused all queries so far; the last failure: no such index"
    ):
        SearchJob(backend, SearchPolicy(concurrency=1), clock=clock, workers=AtOnce()).run(
            queries(1000), lambda _: None
        )
    assert len(backend.asked) == 10


def test_an_exception_of_a_client_is_a_failure_of_its_query() -> None:
    _, kept = run(lambda query, _: KeyError("hits") if query == "q1" else ["a"], 3)
    assert {one.query: one.failure for one in kept.values()} == {
        "q0": "",
        "q1": "scripted: KeyError: 'hits'",
        "q2": "",
    }


def test_no_more_queries_run_at_once_than_allowed() -> None:
    running, most, lock, enough = 0, 0, threading.Lock(), threading.Barrier(3, timeout=30)

    class Counting:
        name = "counting"

        def search(self, query: SearchQuery, limit: int) -> list[ScoredDocument]:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            if query.id in {"q0", "q1", "q2"}:
                enough.wait()  # the first three are under way at the same time
            with lock:
                running -= 1
            return []

        def close(self) -> None:
            pass

    kept: list[QueryRecord] = []
    SearchJob(Counting(), SearchPolicy(concurrency=3), workers=WorkerThreads(8)).run(
        queries(100), kept.append
    )
    assert (most, len(kept)) == (3, 100)


def test_percentiles_are_those_of_numpy() -> None:
    seconds = np.random.default_rng(1).exponential(size=501).round(6)
    found = Latencies.of(list(seconds))
    assert [found.p50, found.p95, found.p99] == pytest.approx(
        np.quantile(seconds, [0.5, 0.95, 0.99]), abs=1e-6
    )
    assert Latencies.of([]).p50 is None


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), RuntimeError("x" * 100_000)]
)
def test_whatever_a_client_raises_is_a_short_failure_of_its_query(error: BaseException) -> None:
    class Raising:
        name = "raising"

        def search(self, query: SearchQuery, limit: int) -> Any:
            raise error

        def close(self) -> None:
            pass

    kept: list[QueryRecord] = []
    SearchJob(Raising(), SearchPolicy(timeout=60)).run([SearchQuery("q1", "a")], kept.append)
    assert f"raising: {type(error).__name__}" in kept[0].failure
    assert len(kept[0].failure) < 200


def test_pauses_and_waits_have_an_end() -> None:
    assert SearchPolicy(retries=5000).delay("q1", 4000) <= 30
    waiting: queue.Queue[int] = queue.Queue()
    waiting.put(1)
    assert SystemClock().wait_for(waiting, float("inf")) == 1


def test_a_record_of_no_number_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.journal.jsonl"
    SearchJournal(str(path), {}).close()
    with path.open("a") as file:
        file.write('{"query": "q1", "seconds": 1, "attempts": Infinity}\n')
    with pytest.raises(FileFormatError, match="a record of a query"):
        SearchJournal(str(path), {})


def test_a_disk_that_takes_no_more_is_an_error_with_a_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    journal = SearchJournal(str(tmp_path / "a.journal.jsonl"), {})
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        InputError, match=r"No space left on device; make room .*the same command continues"
    ):
        journal.close()
    monkeypatch.undo()
    SearchJournal(str(tmp_path / "a.journal.jsonl"), {}).close()
