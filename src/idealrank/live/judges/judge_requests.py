"""Requests to judges: those that the cache lacks are sent, each answer is kept as it comes, and
what an outage left unanswered stays open.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from idealrank.errors import BackendError, hiding
from idealrank.judging.files.judgment_pairs import JudgmentPair
from idealrank.live.judges.judge_answers import MOST_TOKENS, Judge, JudgeAnswer, Scale
from idealrank.live.judges.judge_configuration import JudgeConfig
from idealrank.live.line_journal import LineJournal
from idealrank.live.request_jobs import RequestJob, RequestOutcome
from idealrank.live.timing import wall_time


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeRecord:
    """Outcome of one request."""

    key: str  # Key of the request
    answer: JudgeAnswer | None  # None for a failure
    seconds: float  # Latency of the last attempt
    attempts: int  # Attempts in all
    failure: str = ""  # Message of the last error; empty if the judge answered
    temporary: bool = False  # True if the failure may pass
    time: str = ""  # When, in ISO 8601 and UTC
    # True if the request counts as not asked: the service did not take it, or answered nothing
    # before the run stopped
    is_open: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the line of the journal, as plain values."""
        line: dict[str, Any] = {
            "key": self.key,
            "seconds": round(self.seconds, 6),
            "attempts": self.attempts,
            "time": self.time,
        }
        if self.answer is None:
            return line | {
                "failure": self.failure,
                "temporary": self.temporary,
                **({"open": True} if self.is_open else {}),
            }
        answer = self.answer
        line["grade"] = answer.grade
        details = {
            "unreadable": answer.unreadable,
            "text": answer.text,
            "input_tokens": answer.input_tokens,
            "output_tokens": answer.output_tokens,
            "model": answer.model,
        }
        if answer.probabilities is not None:
            line["probabilities"] = list(answer.probabilities.items())
        return line | {key: value for key, value in details.items() if value not in (None, "")}

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> "JudgeRecord":
        """Read a line of the journal."""
        answer = None
        if "grade" in line:
            probabilities = None
            if line.get("probabilities") is not None:
                pairs = line["probabilities"]
                probabilities = {float(grade): float(chance) for grade, chance in pairs}
            answer = JudgeAnswer(
                grade=None if line["grade"] is None else float(line["grade"]),
                probabilities=probabilities,
                unreadable=str(line.get("unreadable", "")),
                text=str(line.get("text", "")),
                input_tokens=_count(line.get("input_tokens")),
                output_tokens=_count(line.get("output_tokens")),
                model=str(line.get("model", "")),
            )
        failure = str(line.get("failure", "" if answer else "no message"))
        temporary = bool(line.get("temporary"))
        seconds = float(line["seconds"])
        attempts = int(line["attempts"])
        time = str(line.get("time", ""))
        return cls(
            key=str(line["key"]),
            answer=answer,
            seconds=seconds,
            attempts=attempts,
            failure=failure,
            temporary=temporary,
            time=time,
            is_open=bool(line.get("open")),
        )

    def hiding(self, hide: Callable[[str], str]) -> "JudgeRecord":
        """Return the record with texts of the service in which secrets are hidden: it may send back
        what it was sent.
        """
        answer = self.answer
        if answer is not None:
            answer = replace(
                answer,
                text=hide(answer.text),
                unreadable=hide(answer.unreadable),
                model=hide(answer.model),
            )
        return replace(self, answer=answer, failure=hide(self.failure))


def _count(value: Any) -> int | None:
    """Number of tokens; None for a number that no service counts."""
    if value is None:
        return None
    count = int(value)
    return count if 0 <= count <= MOST_TOKENS else None


class JudgeCache:
    """File of answers by their key; several configurations may share it, one process at a time."""

    def __init__(
        self, path: str | None, *, restart: bool = False, hide: Callable[[str], str] = str
    ) -> None:
        self.records: dict[str, JudgeRecord] = {}
        self._hide = hide
        self._shows_secrets = False  # True if a stored answer has to be hidden
        self._journal: LineJournal | None = None
        if path is None:
            return
        self._journal = LineJournal(path, "judge", "an answer of a judge", restart=restart)
        try:
            header = self._journal.start({}, self._keep)
            if header is not None and self._shows_secrets:
                self._journal.rewrite(
                    header, (record.to_dict() for record in self.records.values())
                )
        except BaseException:
            self._journal.close()
            raise

    def _keep(self, line: Mapping[str, Any]) -> None:
        stored = JudgeRecord.of(line)
        record = stored.hiding(self._hide)
        if record != stored:
            self._shows_secrets = True
        self.records[record.key] = record

    def add(self, record: JudgeRecord) -> None:
        """Append an outcome, with its secrets hidden."""
        record = record.hiding(self._hide)
        self.records[record.key] = record
        if self._journal is not None:
            self._journal.write(record.to_dict())

    def close(self) -> None:
        """Bring all answers to the disk, and close the file."""
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> "JudgeCache":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def key_of(identity: Mapping[str, Any], scale: Scale, pair: JudgmentPair, repeat: int) -> str:
    """Return the key of a request: a hash of all that its answer depends on."""
    content = pair.content
    grades = [list(scale.words.items()), scale.outside, scale.choose]
    texts = [pair.query, pair.document, pair.query_text, content.title, content.text, content.link]
    content_text = json.dumps([identity, grades, texts, repeat], sort_keys=True, default=str)
    return sha256(content_text.encode()).hexdigest()


Tell = Callable[[int, int, str], None]
"""Called with answers there are, answers in all, and a note about the cost."""

_BATCH = 8  # times the concurrency: requests between two looks at the budget
_MENDED_BY_USER = {"function": "function", "command": "program"}
"""Word for each kind of judge that the user can mend."""


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
    >>> config = JudgeConfig.of(
    ...     {"judge": {"kind": "function"}, "pairs": "pairs.csv", "scale": [0, 1]}
    ... )
    >>> request = JudgeRequest(JudgmentPair(query="q1", document="d1"), 1, "ab")
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
        self._judge = judge
        self._config = config
        self._tell = tell
        self._hide = hide
        self._total = len(requests)
        keys = {request.key for request in requests}
        self._done = sum(key in keys for key in cache.records)
        self._spent = sum(
            self._cost(record.answer) for key, record in cache.records.items() if key in keys
        )

    def _cost(self, answer: JudgeAnswer | None) -> float:
        price = self._config.price
        if price is None or answer is None:
            return 0.0
        return price.of(answer.input_tokens, answer.output_tokens)

    def ask(self, requests: Sequence[JudgeRequest]) -> None:
        """Ask them all, or until the budget is spent."""
        config = self._config
        self._done = self._total - len(requests)
        size = len(requests) if config.budget is None else _BATCH * config.policy.concurrency
        for start in range(0, len(requests), max(1, size)):
            if config.budget is not None and self._spent >= config.budget:
                n_unsent = len(requests) - start
                message = (
                    f"{self._judge.name}: found a cost of {self._spent:.4g}, expected at most the "
                    f"budget of {config.budget:g}"
                )
                raise BackendError(
                    f"{message}; {n_unsent} requests were not sent",
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
        for failed in self._failures:
            self.cache.add(replace(failed, is_open=True))

    def _advised(self, stopped: BackendError) -> BackendError:
        """Return the error of a job that stopped, with the next step."""
        word = _MENDED_BY_USER.get(self._judge.kind)
        is_kept = not getattr(self._judge, "uncached", "")
        asks = "asks the remaining requests" if is_kept else "asks all requests again"
        if word is None:
            hint = f"the same command {asks} when the service is well again"
        elif stopped.outage:
            hint = f"the same command {asks} when the {word} answers again"
        else:
            others = ", or all if its code changed" if is_kept else ""
            hint = f"mend the {word}; the same command then {asks}{others}"
        message, _, _ = stopped.kept().parts
        return BackendError(message, outage=stopped.outage, hint=hint)

    def _job(self) -> RequestJob[JudgeRequest, JudgeAnswer]:
        judge = self._judge
        hide = self._hide

        def ask(request: JudgeRequest) -> JudgeAnswer:
            with hiding(hide):
                return judge.ask(request.pair, request.repeat)

        refused = "failed on" if judge.kind in _MENDED_BY_USER else "refused"
        return RequestJob(
            judge.name, ask, self._config.policy, key=lambda request: request.key, refused=refused
        )

    def _keep(self, outcome: RequestOutcome[JudgeRequest, JudgeAnswer]) -> None:
        time = datetime.fromtimestamp(wall_time(), UTC).isoformat(timespec="seconds")
        record = JudgeRecord(
            key=outcome.item.key,
            answer=outcome.answer,
            seconds=outcome.seconds,
            attempts=outcome.attempts,
            failure=outcome.failure,
            temporary=outcome.temporary,
            time=time,
            is_open=outcome.is_outage,
        )
        if outcome.answer is None:
            self._failures.append(record)
        else:
            self._answered = True
        self.cache.add(record)
        self.asked += 1
        self._done += 1
        self._spent += self._cost(outcome.answer)
        if self._tell is not None:
            self._tell(self._done, self._total, f"cost {self._spent:.4g}" if self._spent else "")


def is_open(record: JudgeRecord | None, *, retry_failed: bool) -> bool:
    """Return True if a request is to be sent, given what the cache has of it."""
    if record is None or record.is_open:
        return True
    return retry_failed and (record.answer is None or bool(record.answer.unreadable))
