"""Runs from search engines: ask all queries of a configuration, keep a journal, write the run, and
evaluate it.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from idealrank._files import write_bytes
from idealrank._sections import Section
from idealrank.analysis.comparison import intervals
from idealrank.api.evaluation import evaluate
from idealrank.data.run import Run
from idealrank.errors import BackendError, InputError, shown
from idealrank.evaluation.evaluate import Evaluation
from idealrank.live.backends import backend_from
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery
from idealrank.live.search_configuration import MeasuresSection
from idealrank.live.search_jobs import Latencies, SearchJob, SearchPolicy
from idealrank.live.search_journal import QueryRecord, SearchJournal

Tell = Callable[[int, int, Latencies], None]
"""Called with queries done, queries in all, and the latencies so far."""

_EVERY = 50  # answers between two computations of percentiles
_BLANK_HINT = "end the name of the run in .json"


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchRun:
    """Answers of one backend to all queries.

    Attributes
    ----------
    name : str
        Name of the backend in the configuration.
    records : tuple of QueryRecord
        In the order of the queries.
    evaluation : Evaluation or None
        Evaluation of the run, with judgments.
    path : str
        File of the run.

    Examples
    --------
    >>> found = SearchRun(
    ...     name="bm25",
    ...     records=(
    ...         QueryRecord(query="q1", hits=(), seconds=0.5, attempts=1, failure="timed out"),
    ...         QueryRecord(query="q2", hits=(), seconds=0.25, attempts=2),
    ...     ),
    ... )
    >>> found.failures, found.n_answered, found.latencies.p50
    ({'q1': 'timed out'}, 1, 0.25)
    """

    name: str
    records: tuple[QueryRecord, ...]
    evaluation: Evaluation | None = None
    path: str = ""
    setting: Mapping[str, Any] = field(default_factory=dict)

    @property
    def failures(self) -> dict[str, str]:
        """Message of each query that failed."""
        return {one.query: one.failure for one in self.records if one.failure}

    @property
    def n_answered(self) -> int:
        """Number of queries that the engine answered, with or without documents."""
        return sum(not one.failure for one in self.records)

    @property
    def latencies(self) -> Latencies:
        """Percentiles of the latency of answered queries."""
        return Latencies.of([one.seconds for one in self.records if not one.failure])

    @property
    def no_documents(self) -> str:
        """Message for answers that are all empty."""
        return (
            f"{self.name}: found no document in any answer, expected some; see the query, the "
            f"index and the field of text"
        )

    @property
    def run(self) -> Run:
        """Answers with documents, as a run; queries that failed are not in it.

        Raises
        ------
        InputError
            No query has a document.
        """
        answers = {one.query: dict(one.hits) for one in self.records if one.hits}
        if not answers:
            raise InputError(self.no_documents)
        return Run(answers, name=self.name)

    def to_dict(self) -> dict[str, Any]:
        """Return counts, latencies and means as plain values."""
        latencies = self.latencies
        found: dict[str, Any] = {
            "name": self.name,
            "run": self.path,
            "queries": len(self.records),
            "answered": self.n_answered,
            "empty": sum(not one.failure and not one.hits for one in self.records),
            "failed": self.failures,
            "attempts": sum(one.attempts for one in self.records),
            "latency": {"p50": latencies.p50, "p95": latencies.p95, "p99": latencies.p99},
        }
        if self.evaluation is not None:
            means = intervals(self.evaluation)
            found["measures"] = {
                text: {
                    "mean": one.mean,
                    "low": one.interval[0],
                    "high": one.interval[1],
                    "queries": one.n,
                }
                for text, one in means.items()
            }
            found["convention"] = str(self.evaluation.convention)
        return found


def search_section(
    section: Section,
    name: str,
    queries: Sequence[SearchQuery],
    policy: SearchPolicy,
    path: str,
    *,
    restart: bool = False,
    retry_failed: bool = False,
    tell: Tell | None = None,
) -> SearchRun:
    """Ask a backend all queries, and write the run when the last one has ended."""
    check_query_ids(queries, path)
    backend = backend_from(section)
    asked = backend if path.endswith(".json") else _TrecIds(backend)
    try:
        with SearchJournal(
            journal_path(path), subject_of(section, queries, policy), restart=restart
        ) as journal:
            _ask(asked, queries, policy, journal, retry_failed=retry_failed, tell=tell)
            records = tuple(journal.records[query.id] for query in queries)
    finally:
        backend.close()
    found = SearchRun(name=name, records=records, path=path, setting=section.given)
    if not found.n_answered:
        query, failure = next(iter(found.failures.items()))
        hint = "--retry-failed asks the queries again"
        raise BackendError(
            f"{name}: all {len(records)} queries failed; {query}: {failure}", hint=hint
        )
    if not any(one.hits for one in records):
        raise BackendError(found.no_documents)
    write_run(found.run, records, path)
    return found


def check_query_ids(queries: Sequence[SearchQuery], path: str) -> None:
    """Check that a run at a path can have the ids of all queries."""
    for query in () if path.endswith(".json") else queries:
        if _has_blank(query.id):
            raise InputError(_no_trec(path, "query", query.id), hint=_BLANK_HINT)


def _has_blank(text: str) -> bool:
    return not text or any(map(str.isspace, text))


def _no_trec(place: str, what: str, text: str) -> str:
    return f"{place}: found {what} {shown(repr(text))}, expected an id without blanks in a TREC run"


class _TrecIds:
    """Backend whose answers a TREC run can hold; an id with a blank is a failure of its query."""

    def __init__(self, backend: Backend) -> None:
        self.name = backend.name
        self._backend = backend

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        hits = self._backend.search(query, limit)
        for document, _ in hits:
            if _has_blank(document):
                raise BackendError(_no_trec(self.name, "document", document), hint=_BLANK_HINT)
        return hits

    def close(self) -> None:
        self._backend.close()


def _ask(
    backend: Backend,
    queries: Sequence[SearchQuery],
    policy: SearchPolicy,
    journal: SearchJournal,
    *,
    retry_failed: bool,
    tell: Tell | None,
) -> None:
    """Ask the queries that the journal lacks."""
    done = {
        query for query, record in journal.records.items() if not (retry_failed and record.failure)
    }
    seconds: list[float] = []
    latencies = Latencies()

    def keep(record: QueryRecord) -> None:
        nonlocal latencies
        journal.add(record)
        done.add(record.query)
        if not record.failure:
            seconds.append(record.seconds)
            if len(seconds) < _EVERY or len(seconds) % _EVERY == 0:
                latencies = Latencies.of(seconds)
        if tell is not None:
            tell(len(done), len(queries), latencies)

    SearchJob(backend, policy).run([query for query in queries if query.id not in done], keep)


def subject_of(
    section: Section, queries: Sequence[SearchQuery], policy: SearchPolicy
) -> dict[str, Any]:
    """Return all that answers depend on: the section without the values of secrets, the limit, and
    the queries.
    """
    hashed = hashlib.sha256()
    for query in queries:
        vector = None if query.vector is None else [float(one) for one in query.vector]
        hashed.update(json.dumps([query.id, query.text, vector]).encode() + b"\n")
    backend = {key: value for key, value in section.given.items() if key != "timeout"}
    return {
        "backend": json.loads(json.dumps(backend, default=str)),
        "limit": policy.limit,
        "queries": hashed.hexdigest(),
    }


def journal_path(path: str) -> str:
    """Return the file of the journal that belongs to a run."""
    return f"{path}.journal.jsonl"


def write_run(run: Run, records: Sequence[QueryRecord], path: str) -> None:
    """Write a run, whole or not at all."""
    if path.endswith(".json"):
        answers = {one.query: dict(one.hits) for one in records if one.hits}
        write_bytes([json.dumps(answers, indent=1).encode()], path)
        return
    tag = "".join(letter if not letter.isspace() else "_" for letter in run.name)
    lines = []
    for record in records:
        for rank, (document, score) in enumerate(record.hits, 1):
            for what, text in (("query", record.query), ("document", document)):
                if _has_blank(text):
                    raise InputError(_no_trec(path, what, text), hint=_BLANK_HINT)
            lines.append(f"{record.query} Q0 {document} {rank} {score!r} {tag}\n")
    write_bytes(["".join(lines).encode("utf-8", "surrogateescape")], path)


def evaluated(found: SearchRun, qrels: Any, section: MeasuresSection) -> SearchRun:
    """Return the answers with an evaluation of the run."""
    evaluation = evaluate(
        qrels, found.run, list(section.measures), section.convention, name=found.name
    )
    return SearchRun(
        name=found.name,
        records=found.records,
        evaluation=evaluation,
        path=found.path,
        setting=found.setting,
    )
