"""Cache of judges: each answer by a key of prompt, model, parameters and texts, appended as it
comes, so that nothing is asked twice.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from idealrank.judging.files.judgment_pairs import JudgmentPair
from idealrank.live.judges.judge_answers import MOST_TOKENS, JudgeAnswer, Scale
from idealrank.live.line_journal import LineJournal


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
        found: dict[str, Any] = {
            "key": self.key,
            "seconds": round(self.seconds, 6),
            "attempts": self.attempts,
            "time": self.time,
        }
        if self.answer is None:
            return found | {
                "failure": self.failure,
                "temporary": self.temporary,
                **({"open": True} if self.is_open else {}),
            }
        answer = self.answer
        found["grade"] = answer.grade
        beside = {
            "unreadable": answer.unreadable,
            "text": answer.text,
            "input_tokens": answer.input_tokens,
            "output_tokens": answer.output_tokens,
            "model": answer.model,
        }
        if answer.probabilities is not None:
            found["probabilities"] = list(answer.probabilities.items())
        return found | {key: value for key, value in beside.items() if value not in (None, "")}

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> "JudgeRecord":
        """Read a line of the journal."""
        answer = None
        if "grade" in line:
            chances = line.get("probabilities")
            answer = JudgeAnswer(
                grade=None if line["grade"] is None else float(line["grade"]),
                probabilities=None
                if chances is None
                else {float(grade): float(chance) for grade, chance in chances},
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
    """A number of tokens; None for one that no service counts."""
    return None if value is None or not 0 <= (count := int(value)) <= MOST_TOKENS else count


class JudgeCache:
    """File of answers by their key; several configurations may share it, one process at a time."""

    def __init__(
        self, path: str | None, *, restart: bool = False, hide: Callable[[str], str] = str
    ) -> None:
        self.records: dict[str, JudgeRecord] = {}
        self._hide, self._shows_secrets = hide, False
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
        given = JudgeRecord.of(line)
        record = given.hiding(self._hide)
        self._shows_secrets |= record != given
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
    return sha256(
        json.dumps([identity, grades, texts, repeat], sort_keys=True, default=str).encode()
    ).hexdigest()
