"""A job: many requests to one service, a search engine or a judge, without hurting it: limits of
the pace, further attempts, and a breaker.
"""

import heapq
import queue
import random
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from idealrank._keys import amount, key, part, whole
from idealrank._sections import Section
from idealrank.errors import BackendError, shown
from idealrank.live.backends import LONGEST_TIMEOUT
from idealrank.live.timing import Clock, SystemClock

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_LARGEST_RATE = 1e9  # queries a second
_LONGEST_BACKOFF = 30.0  # seconds
_DOUBLED = 64  # times that a pause is doubled, at most: 2.0**1024 overflows
_LONGEST_ASKED = 120.0  # seconds of Retry-After that are waited for
_PERCENTILES = (50, 95, 99)


@dataclass(frozen=True)
class BreakerPolicy:
    """Limits of failures above which an engine is left alone for a while."""

    failures: int = whole("Failed attempts in a row after which no query is sent.", 10)
    pause: float = amount(
        "Seconds until one query probes whether the engine answers.",
        10.0,
        most=LONGEST_TIMEOUT,
        unit="seconds",
    )
    probes: int = whole("Failed probes in a row after which the search or the round ends.", 5)


def _rate(section: Section, name: str) -> float:
    rate = section.amount(name, None, most=_LARGEST_RATE, unit="queries a second")
    if rate < 1 / LONGEST_TIMEOUT:
        raise section.error(
            name,
            repr(section.given[name]),
            "a number above 0 (queries a second), one query a day or more, or no rate",
        )
    return rate


@dataclass(frozen=True, kw_only=True)
class SearchPolicy:
    """Limits of a job."""

    limit: int = whole("Documents of each query.", 100)
    concurrency: int = whole("Queries at the same time.", 4)
    rate: float | None = key(
        about="Attempts a second.",
        read=_rate,
        schema=lambda: {
            "type": "number",
            "minimum": 1 / LONGEST_TIMEOUT,
            "maximum": _LARGEST_RATE,
        },
    )
    timeout: float = amount(
        "Seconds for an answer.", 10.0, most=LONGEST_TIMEOUT, is_above=True, unit="seconds"
    )
    retries: int = whole("Further attempts after a temporary failure.", 3, least=0)
    # At most 30 seconds, less up to half of it at random
    backoff: float = amount(
        "Seconds before the second attempt; doubled each time.",
        0.5,
        most=LONGEST_TIMEOUT,
        unit="seconds",
    )
    breaker: BreakerPolicy = part(
        BreakerPolicy, "When to leave an engine alone that does not answer."
    )
    seed: int = whole("Seed of the random part of the back-off.", 0, least=0)

    def delay(self, query: str, attempts: int) -> float:
        """Return seconds before the next attempt, after so many."""
        longest = min(_LONGEST_BACKOFF, self.backoff * 2.0 ** min(attempts - 1, _DOUBLED))
        return longest * (1 - random.Random(f"{self.seed} {query} {attempts}").random() / 2)  # noqa: S311  (no secret)


@dataclass(frozen=True)
class Latencies:
    """Percentiles of the latency of answered queries, in seconds; None without an answer."""

    p50: float | None = None
    p95: float | None = None
    p99: float | None = None

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Latencies":
        """Interpolate between the two nearest latencies."""
        if not seconds:
            return cls()
        percentiles = np.percentile(np.asarray(seconds, np.float64), _PERCENTILES)
        p50, p95, p99 = (round(float(latency), 6) for latency in percentiles)
        return cls(p50=p50, p95=p95, p99=p99)


@dataclass(frozen=True, kw_only=True, eq=False)
class RequestOutcome(Generic[Item, Answer]):
    """Outcome of one request."""

    item: Item  # What was asked
    answer: Answer | None  # The answer; None for a failure
    seconds: float  # Latency of the last attempt
    attempts: int  # Attempts in all
    failure: str = ""  # Message of the last error; empty if the service answered
    temporary: bool = False  # True if the failure may pass
    is_outage: bool = False  # True if the failure says nothing about the request
    # Seconds from the start of the first attempt to the end of the last one: failed attempts and
    # waits count
    elapsed: float = 0.0
    timed_out: bool = False  # True if an attempt took the whole time limit


@dataclass(eq=False, kw_only=True)
class JobTally:
    """Counts of a job, which grow while it runs."""

    attempts: int = 0  # Attempts that ended
    failed: int = 0  # Attempts without an answer, also those that a later attempt made good
    timed_out: int = 0  # Failed attempts that took the whole time limit
    # Pauses of the breaker that began because the service was not reached or gave no access
    outages: int = 0
    paused: float = 0.0  # Seconds in which the breaker sent nothing or a probe alone


@dataclass(frozen=True, eq=False, kw_only=True)
class _Task(Generic[Item]):
    """Next attempt at a request."""

    item: Item
    attempts: int = 0
    first_started: float | None = None
    before: RequestOutcome[Item, Any] | None = None  # outcome if the attempt before was the last


@dataclass(kw_only=True, eq=False)
class _Attempt(Generic[Item, Answer]):
    """Attempt that is under way, or has ended with an answer or an error."""

    task: _Task[Item]
    started: float
    answer: Answer | None = None
    error: BackendError | None = None
    seconds: float = 0.0
    is_abandoned: bool = False


class Workers(Protocol):
    """Runs the attempts of a job."""

    def start(self, work: Callable[[], None]) -> None:
        """Start a piece of work."""

    def stop(self) -> None:
        """End when all work is done; do not wait."""


class WorkerThreads:
    """Threads that live as long as the job, and do not keep the process alive."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self, work: Callable[[], None]) -> None:
        """Hand the work to an idle thread."""
        if len(self._threads) < self._number:
            self._threads.append(threading.Thread(target=self._work, daemon=True))
            self._threads[-1].start()
        self._waiting.put(work)

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            work()

    def stop(self) -> None:
        """End each thread when its work is done."""
        for _ in self._threads:
            self._waiting.put(None)


class _Breaker:
    """Counter of failures in a row, which decides whether to send nothing, one query, or all."""

    def __init__(self, policy: BreakerPolicy) -> None:
        self._policy = policy
        self._failures = 0
        self._probes = 0
        self.opened: float | None = None
        self.has_answered = False

    @property
    def is_open(self) -> bool:
        return self.opened is not None

    @property
    def next_probe(self) -> float:
        return (self.opened or 0.0) + self._policy.pause

    @property
    def gives_up(self) -> bool:
        return self._probes >= self._policy.probes

    def answered(self) -> None:
        self._failures = self._probes = 0
        self.opened = None
        self.has_answered = True

    def failed(self, now: float, *, was_probe: bool) -> None:
        self._failures += 1
        if was_probe:
            self._probes += 1
        if was_probe or (not self.is_open and self._failures >= self._policy.failures):
            self.opened = now

    @property
    def is_refused(self) -> bool:
        """True if the first queries all failed, so that a mistake in the configuration is
        likely.
        """
        return not self.has_answered and self._failures >= self._policy.failures


class RequestJob(Generic[Item, Answer]):
    """Requests to one service."""

    def __init__(
        self,
        name: str,
        ask: Callable[[Item], Answer],
        policy: SearchPolicy,
        *,
        key: Callable[[Item], str] = str,
        what: str = "requests",
        refused: str = "refused",
        clock: Clock | None = None,
        workers: Workers | None = None,
    ) -> None:
        self._name = name
        self._what = what
        self._refused = refused
        self._ask_service = ask
        self._key = key
        self._policy = policy
        self._clock: Clock = clock or SystemClock()
        self._workers: Workers = workers or WorkerThreads(policy.concurrency)
        self._ended: queue.Queue[_Attempt[Item, Answer]] = queue.Queue()
        # heap of the next attempts: when, a running number, and the request
        self._due: list[tuple[float, int, _Task[Item]]] = []
        self._numbers = count()
        self._running: list[_Attempt[Item, Answer]] = []
        self._abandoned: list[_Attempt[Item, Answer]] = []
        self._breaker = _Breaker(policy.breaker)
        self.tally = JobTally()
        self.interrupted: list[RequestOutcome[Item, Answer]] = []
        self._pause_started: float | None = None
        self._probe: _Attempt[Item, Answer] | None = None
        self._not_before = 0.0
        self._last: BackendError | None = None

    def run(
        self, items: Iterable[Item], keep: Callable[[RequestOutcome[Item, Answer]], None]
    ) -> None:
        """Ask all items; `keep` gets what became of each, in the order in which they end. An
        exception of `keep` ends the job.
        """
        now = self._clock.now()
        for item in items:
            self._put(_Task(item=item), now)
        try:
            self._go(keep)
        finally:
            self._end_pause()
            self.interrupted = self._not_finished()
            self._workers.stop()

    def _go(self, keep: Callable[[RequestOutcome[Item, Answer]], None]) -> None:
        while self._due or self._running:
            self._send()
            ended = self._clock.wait_for(self._ended, self._until_next())
            if ended is None:
                self._abandon(keep)
            elif ended.is_abandoned:
                self._abandoned.remove(ended)
            else:
                self._running.remove(ended)
                self._settle(ended, keep)

    def _not_finished(self) -> list[RequestOutcome[Item, Answer]]:
        """Outcomes so far of requests that have failed and would have been repeated; an attempt
        that is under way counts until now.
        """
        waiting = [task.before for _, _, task in self._due if task.before is not None]
        now = self._clock.now()
        return waiting + [
            replace(attempt.task.before, elapsed=now - self._first_started(attempt))
            for attempt in self._running
            if attempt.task.before is not None
        ]

    def _put(self, task: _Task[Item], due: float) -> None:
        # the number keeps the order of tasks that are due at the same time
        heapq.heappush(self._due, (due, next(self._numbers), task))

    def _send(self) -> None:
        """Start attempts as far as slots, rate and breaker allow."""
        while self._due and self._may_send():
            now = self._clock.now()
            _, _, task = heapq.heappop(self._due)
            attempt: _Attempt[Item, Answer] = _Attempt(task=task, started=now)
            self._running.append(attempt)
            if self._breaker.is_open:
                self._probe = attempt
            if self._policy.rate is not None:
                self._not_before = max(now, self._not_before) + 1 / self._policy.rate
            self._workers.start(partial(self._ask, attempt))

    def _may_send(self) -> bool:
        if len(self._running) + len(self._abandoned) >= self._policy.concurrency:
            return False
        is_probing = self._breaker.is_open and self._probe is not None
        return self._clock.now() >= self._earliest() and not is_probing

    def _earliest(self) -> float:
        """Time of the next attempt, by back-off, rate and breaker."""
        due, _, _ = self._due[0]
        next_probe = self._breaker.next_probe if self._breaker.is_open else 0.0
        return max(due, self._not_before, next_probe)

    def _ask(self, attempt: _Attempt[Item, Answer]) -> None:
        """Ask the service, in the thread of the attempt."""
        started = self._clock.now()
        try:
            attempt.answer = self._ask_service(attempt.task.item)
        except BackendError as error:
            attempt.error = error
        except BaseException as error:  # noqa: BLE001  (a client may raise anything; the request failed, and the job goes on)
            attempt.error = BackendError(f"{self._name}: {type(error).__name__}: {shown(error)}")
        attempt.seconds = self._clock.now() - started
        self._ended.put(attempt)

    def _until_next(self) -> float:
        """Seconds until an attempt is late, or the next one may start."""
        times = [attempt.started + self._policy.timeout for attempt in self._running]
        has_slot = len(self._running) + len(self._abandoned) < self._policy.concurrency
        if self._due and has_slot and not (self._breaker.is_open and self._probe is not None):
            times.append(self._earliest())
        if not times:  # every slot is held by an attempt that is late
            times.append(self._clock.now() + self._policy.timeout)
        return max(0.0, min(times) - self._clock.now())

    def _abandon(self, keep: Callable[[RequestOutcome[Item, Answer]], None]) -> None:
        """Give up attempts that are late; each holds its slot until it ends."""
        now = self._clock.now()
        late = [
            attempt for attempt in self._running if now >= attempt.started + self._policy.timeout
        ]
        for attempt in late:
            self._running.remove(attempt)
            self._abandoned.append(attempt)
            attempt.is_abandoned = True
            self._settle(
                _Attempt(
                    task=attempt.task,
                    started=attempt.started,
                    error=self._late(),
                    seconds=now - attempt.started,
                ),
                keep,
                attempt,
            )
        if not late and not self._running and len(self._abandoned) >= self._policy.concurrency:
            raise self._stopped(f"{len(self._abandoned)} {self._what} do not end")

    def _late(self) -> BackendError:
        return BackendError(
            f"{self._name}: found no answer in {self._policy.timeout:g} s", temporary=True
        )

    def _settle(
        self,
        attempt: _Attempt[Item, Answer],
        keep: Callable[[RequestOutcome[Item, Answer]], None],
        abandoned: _Attempt[Item, Answer] | None = None,
    ) -> None:
        """Record an attempt that ended, or plan the next one; `abandoned` is the attempt under way
        if `attempt` stands for it.
        """
        was_probe = self._probe is not None and self._probe is (abandoned or attempt)
        if was_probe:
            self._probe = None
        error = attempt.error
        if error is None and attempt.seconds > self._policy.timeout:
            error = self._late()
        task = attempt.task
        now = self._clock.now()
        self.tally.attempts += 1
        if error is None:
            self._breaker.answered()
            self._end_pause()
            keep(self._outcome(attempt, now, answer=attempt.answer))
            return
        self._last = error
        self._count_failure(attempt, error, was_probe=was_probe)
        asked_pause = error.retry_after or 0.0
        attempts = task.attempts + 1
        if error.temporary and attempts <= self._policy.retries and asked_pause <= _LONGEST_ASKED:
            # Retry-After holds for all requests, the back-off for this one.
            self._not_before = max(self._not_before, now + asked_pause)
            before = self._outcome(attempt, now, error=error)
            again = replace(
                task, attempts=attempts, first_started=self._first_started(attempt), before=before
            )
            delay = self._policy.delay(self._key(task.item), attempts)
            self._put(again, now + max(asked_pause, delay))
        elif self._breaker.is_refused and not error.temporary:
            raise self._stopped(f"it {self._refused} all {self._what} so far")
        else:
            keep(self._outcome(attempt, now, error=error))
        if self._breaker.gives_up:
            raise self._stopped(f"{self._policy.breaker.probes} probes failed")

    def _count_failure(
        self, attempt: _Attempt[Item, Answer], error: BackendError, *, was_probe: bool
    ) -> None:
        """Count a failed attempt, and begin a pause if the breaker opens."""
        self.tally.failed += 1
        if attempt.seconds >= self._policy.timeout:
            self.tally.timed_out += 1
        was_open = self._breaker.is_open
        self._breaker.failed(self._clock.now(), was_probe=was_probe)
        if self._breaker.is_open and not was_open:
            if error.outage:
                self.tally.outages += 1
            self._pause_started = self._clock.now()

    def _end_pause(self) -> None:
        if self._pause_started is not None:
            self.tally.paused += self._clock.now() - self._pause_started
            self._pause_started = None

    def _outcome(
        self,
        attempt: _Attempt[Item, Answer],
        now: float,
        *,
        answer: Answer | None = None,
        error: BackendError | None = None,
    ) -> RequestOutcome[Item, Answer]:
        return RequestOutcome(
            item=attempt.task.item,
            answer=answer,
            seconds=attempt.seconds,
            attempts=attempt.task.attempts + 1,
            failure="" if error is None else str(error),
            temporary=error is not None and error.temporary,
            is_outage=error is not None and error.outage,
            elapsed=now - self._first_started(attempt),
            timed_out=self._has_timed_out(attempt),
        )

    @staticmethod
    def _first_started(attempt: _Attempt[Item, Answer]) -> float:
        first_started = attempt.task.first_started
        return attempt.started if first_started is None else first_started

    def _has_timed_out(self, attempt: _Attempt[Item, Answer]) -> bool:
        before = attempt.task.before
        return (before is not None and before.timed_out) or attempt.seconds >= self._policy.timeout

    def _stopped(self, reason: str) -> BackendError:
        last = f"; the last failure: {self._last}" if self._last is not None else ""
        is_outage = self._last is not None and self._last.outage
        hint = f"the same command asks the remaining {self._what} when the service is well again"
        return BackendError(
            f"{self._name}: stopped, as {reason}{last}", outage=is_outage, hint=hint
        )
