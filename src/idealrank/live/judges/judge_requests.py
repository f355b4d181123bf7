"""Requests to judges: those that the cache lacks are sent, and what an outage left unanswered stays
open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from idealrank.errors import BackendError, hiding
from idealrank.judging.files.judgment_pairs import JudgmentPair
from idealrank.live.judges.judge_answers import Judge, JudgeAnswer
from idealrank.live.judges.judge_cache import JudgeCache, JudgeRecord
from idealrank.live.judges.judge_configuration import JudgeConfig
from idealrank.live.search_jobs import RequestJob, RequestOutcome
from idealrank.live.timing import wall_time

Tell = Callable[[int, int, str], None]
"""Called with answers there are, answers in all, and a note about the cost."""

_BATCH = 8  # times the concurrency: requests between two looks at the budget
_OWN = {"function": "function", "command": "program"}
"""By kind of a judge that the user can mend: what it is."""


@dataclass(frozen=True, eq=False)
class JudgeRequest:
    """Question to a judge about a pair."""

    pair: JudgmentPair  # The pair
    repeat: int  # Number of the repetition, from 1
    key: str  # Key in the cache


class JudgeAsking:
    """Requests that the cache lacks, in batches where there is a budget.

    Requests that the judge did not take count as not asked, whether it comes back or not. If it
    answers nothing before the job stops, all its failures count so.

    Examples
    --------
    >>> from idealrank.live.judges.callers import FunctionJudge
    >>> given = {"judge": {"kind": "function"}, "pairs": "pairs.csv", "scale": [0, 1]}
    >>> config, request = (
    ...     JudgeConfig.of(given),
    ...     JudgeRequest(JudgmentPair(query="q1", document="d1"), 1, "ab"),
    ... )
    >>> asking = JudgeAsking(
    ...     FunctionJudge(lambda query, document: 1, config.scale),
    ...     config,
    ...     JudgeCache(None),
    ...     [request],
    ... )
    >>> asking.ask([request])
    >>> asking.cache.records["ab"].answer.grade
    1.0
    """

    def __init__(
        self,
        judge: Judge,
        config: JudgeConfig,
        cache: JudgeCache,
        requests: Sequence[JudgeRequest],
        *,
        tell: Tell | None = None,
        hide: Callable[[str], str] = str,
    ) -> None:
        self.asked = 0
        self._answered = False
        self._failures: list[JudgeRecord] = []
        self.cache = cache
        self._judge, self._config, self._tell, self._hide = judge, config, tell, hide
        self._total = len(requests)
        keys = {one.key for one in requests}
        self._done = sum(one in keys for one in cache.records)
        self._spent = sum(
            self._cost(one.answer) for key, one in cache.records.items() if key in keys
        )

    def _cost(self, answer: JudgeAnswer | None) -> float:
        price = self._config.price
        return (
            0.0
            if price is None or answer is None
            else price.of(answer.input_tokens, answer.output_tokens)
        )

    def ask(self, requests: Sequence[JudgeRequest]) -> None:
        """Ask them all, or until the budget is spent."""
        config = self._config
        self._done = self._total - len(requests)
        size = len(requests) if config.budget is None else _BATCH * config.policy.concurrency
        for start in range(0, len(requests), max(1, size)):
            if config.budget is not None and self._spent >= config.budget:
                left = len(requests) - start
                said = (
                    f"{self._judge.name}: found a cost of {self._spent:.4g}, expected at most the "
                    f"budget of {config.budget:g}"
                )
                raise BackendError(
                    f"{said}; {left} requests were not sent",
                    hint="raise `budget`; the same command goes on from here",
                )
            try:
                self._job().run(requests[start : start + size], self._keep)
            except BackendError as error:  # not of one request: the job stopped
                if not self._answered:
                    self._reopen()
                raise self._advised(error) from None

    def _reopen(self) -> None:
        """Count all failed requests as not asked."""
        for one in self._failures:
            self.cache.add(replace(one, is_open=True))

    def _advised(self, stopped: BackendError) -> BackendError:
        """Return the error of a job that stopped, with the next step."""
        own, is_kept = _OWN.get(self._judge.kind), not getattr(self._judge, "uncached", "")
        asks = "asks the remaining requests" if is_kept else "asks all requests again"
        if own is None:
            hint = f"the same command {asks} when the service is well again"
        elif stopped.outage:
            hint = f"the same command {asks} when the {own} answers again"
        else:
            hint = (
                f"mend the {own}; the same command then "
                f"{asks}{', or all if its code changed' if is_kept else ''}"
            )
        said, _, _ = stopped.kept().parts
        return BackendError(said, outage=stopped.outage, hint=hint)

    def _job(self) -> RequestJob[JudgeRequest, JudgeAnswer]:
        judge, hide = self._judge, self._hide

        def ask(request: JudgeRequest) -> JudgeAnswer:
            with hiding(hide):
                return judge.ask(request.pair, request.repeat)

        refused = "failed on" if judge.kind in _OWN else "refused"
        return RequestJob(
            judge.name, ask, self._config.policy, key=lambda one: one.key, refused=refused
        )

    def _keep(self, one: RequestOutcome[JudgeRequest, JudgeAnswer]) -> None:
        now = datetime.fromtimestamp(wall_time(), UTC).isoformat(timespec="seconds")
        record = JudgeRecord(
            key=one.item.key,
            answer=one.answer,
            seconds=one.seconds,
            attempts=one.attempts,
            failure=one.failure,
            temporary=one.temporary,
            time=now,
            is_open=one.is_outage,
        )
        if one.answer is None:
            self._failures.append(record)
        else:
            self._answered = True
        self.cache.add(record)
        self.asked += 1
        self._done += 1
        self._spent += self._cost(one.answer)
        if self._tell is not None:
            self._tell(self._done, self._total, f"cost {self._spent:.4g}" if self._spent else "")


def is_open(record: JudgeRecord | None, *, retry_failed: bool) -> bool:
    """Return True if a request is to be sent, given what the cache has of it."""
    if record is None or record.is_open:
        return True
    return retry_failed and (record.answer is None or bool(record.answer.unreadable))
