"""Queries against one search engine as a job, with a journal of its answers, so that none is lost
or asked for twice.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from idealrank.errors import OptionError, shown
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery
from idealrank.live.line_journal import LineJournal
from idealrank.live.request_jobs import (
    JobTally,
    RequestJob,
    RequestOutcome,
    SearchPolicy,
    Workers,
)
from idealrank.live.timing import Clock


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
    # Title of each document, where the engine returns titles
    titles: Mapping[str, str] = field(default_factory=dict)

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
        titles = [self.titles.get(hit.document) for hit in self.hits]
        return {
            "query": self.query,
            "documents": [hit.document for hit in self.hits],
            "scores": [hit.score for hit in self.hits],
            **({"titles": titles} if self.titles else {}),
            **shared,
        }

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> "QueryRecord":
        """Read a line of the journal."""
        hits = tuple(map(ScoredDocument, line.get("documents", ()), line.get("scores", ())))
        titles = dict(zip(line.get("documents", ()), line.get("titles", ()), strict=False))
        failure = str(line.get("failure", ""))
        temporary = bool(line.get("temporary"))
        return cls(
            query=str(line["query"]),
            hits=hits,
            seconds=float(line["seconds"]),
            attempts=int(line["attempts"]),
            failure=failure,
            temporary=temporary,
            titles={document: title for document, title in titles.items() if title is not None},
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
        records: dict[str, QueryRecord] = {}

        def keep(line: Mapping[str, Any]) -> None:
            record = QueryRecord.of(line)
            records[record.query] = record

        header = self._journal.start({"subject": subject}, keep)
        if header is None:
            return
        # through JSON, since tuples and lists are equal there
        changed = _changed(header.get("subject"), json.loads(json.dumps(subject)))
        if changed is not None:
            hint = "use another output, or --restart to ask every query again"
            raise OptionError(
                f"{self.path}: found answers of another search ({changed})", hint=hint
            )
        self.records.update(records)

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


SearchOutcome: TypeAlias = RequestOutcome[SearchQuery, Sequence[ScoredDocument]]
"""Outcome of one query."""


class SearchJob:
    """Queries against one backend."""

    def __init__(
        self,
        backend: Backend,
        policy: SearchPolicy,
        *,
        clock: Clock | None = None,
        workers: Workers | None = None,
    ) -> None:
        def search(query: SearchQuery) -> Sequence[ScoredDocument]:
            return backend.search(query, policy.limit)

        self._job = RequestJob(
            backend.name,
            search,
            policy,
            key=lambda query: query.id,
            what="queries",
            clock=clock,
            workers=workers,
        )

    @property
    def tally(self) -> JobTally:
        """Counts of attempts, outages and pauses so far."""
        return self._job.tally

    @property
    def interrupted(self) -> Sequence[SearchOutcome]:
        """Outcomes so far of failed queries that waited for another attempt, or made it, when the
        job stopped.
        """
        return self._job.interrupted

    def run(self, queries: Iterable[SearchQuery], keep: Callable[[QueryRecord], None]) -> None:
        """Ask all queries; `keep` gets what became of each, in the order in which they end."""

        def record(outcome: SearchOutcome) -> None:
            hits = tuple(outcome.answer or ())
            keep(
                QueryRecord(
                    query=outcome.item.id,
                    hits=hits,
                    seconds=outcome.seconds,
                    attempts=outcome.attempts,
                    failure=outcome.failure,
                    temporary=outcome.temporary,
                )
            )

        self.ask(queries, record)

    def ask(self, queries: Iterable[SearchQuery], keep: Callable[[SearchOutcome], None]) -> None:
        """Ask all queries as `run` does; `keep` gets outcomes with the time of retries and
        waits.
        """
        self._job.run(queries, keep)
