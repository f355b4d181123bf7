"""Journal of a search: an answer a line, appended as it comes, so that a job that was killed asks
nothing twice.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from idealrank.errors import OptionError, shown
from idealrank.live.backends.protocol import ScoredDocument
from idealrank.live.line_journal import LineJournal


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryRecord:
    """Outcome of one query."""

    query: str  # Id of the query
    # Documents, best first; empty for a failure, and for an answer without documents
    hits: tuple[ScoredDocument, ...]
    seconds: float  # Latency of the last attempt
    attempts: int  # Attempts in all
    failure: str = ""  # Message of the last error; empty if the engine answered
    temporary: bool = False  # True if the failure may pass

    def to_dict(self) -> dict[str, Any]:
        """Return the line of the journal, as plain values."""
        shared = {"seconds": round(self.seconds, 6), "attempts": self.attempts}
        if self.failure:
            return {
                "query": self.query,
                "failure": self.failure,
                "temporary": self.temporary,
                **shared,
            }
        return {
            "query": self.query,
            "documents": [one[0] for one in self.hits],
            "scores": [one[1] for one in self.hits],
            **shared,
        }

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> "QueryRecord":
        """Read a line of the journal."""
        hits = tuple(map(ScoredDocument, line.get("documents", ()), line.get("scores", ())))
        failure, temporary = str(line.get("failure", "")), bool(line.get("temporary"))
        return cls(
            query=str(line["query"]),
            hits=hits,
            seconds=float(line["seconds"]),
            attempts=int(line["attempts"]),
            failure=failure,
            temporary=temporary,
        )


class SearchJournal:
    """File of answers that survives the end of the process at any point.

    Each record is written as soon as it comes, and reaches the disk in batches. A last line that
    was cut is dropped. One process writes at a time.
    """

    def __init__(self, path: str, subject: Mapping[str, Any], *, restart: bool = False) -> None:
        self.path = path
        self.records: dict[str, QueryRecord] = {}
        self._journal = LineJournal(path, "search", "a record of a query", restart=restart)
        try:
            self._start(dict(subject))
        except BaseException:
            self._journal.close()
            raise

    def _start(self, subject: dict[str, Any]) -> None:
        read: dict[str, QueryRecord] = {}

        def keep(line: Mapping[str, Any]) -> None:
            record = QueryRecord.of(line)
            read[record.query] = record

        header = self._journal.start({"subject": subject}, keep)
        if header is None:
            return
        if (
            changed := _changed(header.get("subject"), json.loads(json.dumps(subject)))
        ) is not None:
            hint = "use another output, or --restart to ask every query again"
            raise OptionError(
                f"{self.path}: found answers of another search ({changed})", hint=hint
            )
        self.records.update(read)

    def add(self, record: QueryRecord) -> None:
        """Append what became of a query."""
        self.records[record.query] = record
        self._journal.write(record.to_dict())

    def sync(self) -> None:
        """Bring all records to the disk."""
        self._journal.sync()

    def close(self) -> None:
        """Bring all records to the disk, and close the file."""
        self._journal.close()

    def __enter__(self) -> "SearchJournal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _changed(before: Any, now: Mapping[str, Any]) -> str | None:
    """Name a difference of two subjects; None for none."""
    if before == now:
        return None
    old = before if isinstance(before, dict) else {}
    key = next((key for key in (*now, *old) if old.get(key) != now.get(key)), "subject")
    return f"{key}: {shown(json.dumps(old.get(key)))}, now {shown(json.dumps(now.get(key)))}"
