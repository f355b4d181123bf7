"""Recorded answers of an engine as a backend, from a journal or a run."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealrank._keys import file_to_read
from idealrank._sections import Section
from idealrank.data.alignment import Alignment
from idealrank.data.run import Run
from idealrank.errors import BackendError, FileFormatError, InputError, shown
from idealrank.io.read import read_run
from idealrank.live.backends.protocol import ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import BackendKeys, keys_from


class RecordedAnswers:
    """Answers by the id of the query."""

    name = "replay"

    def __init__(self, answers: Mapping[str, list[ScoredDocument] | BackendError]) -> None:
        self._answers = dict(answers)

    def search(self, query: SearchQuery, limit: int) -> list[ScoredDocument]:
        """Return the recorded answer."""
        answer = self._answers.get(query.id)
        if answer is None:
            raise _unknown(query)
        if isinstance(answer, BackendError):
            raise BackendError(str(answer), temporary=answer.temporary)
        return answer[:limit]

    def close(self) -> None:
        """Do nothing: all answers are in memory."""


def read_answers(path: str) -> dict[str, list[ScoredDocument] | BackendError]:
    r"""Read answers from JSON lines, as the journal of a search has them."""
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except (OSError, ValueError) as error:  # a NUL in the path is a ValueError
        raise InputError(f"{shown(path)}: {getattr(error, 'strerror', None) or error}") from None
    return dict(_answers(lines, path))


def _answers(
    lines: Iterable[str], path: str
) -> Iterable[tuple[str, list[ScoredDocument] | BackendError]]:
    expected = '{"query": ..., "documents": [...], "scores": [...]}'
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line) if line.strip() else {}
        except ValueError:
            raise FileFormatError(path, number, shown(repr(line)), expected) from None
        if not isinstance(record, dict):
            raise FileFormatError(path, number, shown(repr(record)), expected)
        if "query" in record:
            yield str(record["query"]), _answer(record, path, number)


def _answer(
    record: Mapping[str, Any], path: str, number: int
) -> list[ScoredDocument] | BackendError:
    if "failure" in record:
        return BackendError(str(record["failure"]), temporary=bool(record.get("temporary")))
    ids = record.get("documents")
    scores = record.get("scores")
    if not isinstance(ids, list) or not isinstance(scores, list | None):
        raise FileFormatError(
            path, number, f"keys {', '.join(map(str, record))}", "a list of documents"
        )
    try:
        return ranked("replay", ids, scores, limit=len(ids))
    except BackendError as error:
        problem, _, _ = str(error).removeprefix("replay: found ").partition(", expected")
        raise FileFormatError(path, number, problem, "a ranked answer") from None


class RecordedRun:
    """Answers of a run, in the order of its file where scores are equal."""

    name = "replay"

    def __init__(self, run: Run) -> None:
        self._run = run.in_memory()

    def search(self, query: SearchQuery, limit: int) -> list[ScoredDocument]:
        """Return the first documents of the query in the run."""
        try:
            ranking = self._run.ranking(query.id, Alignment(ties="input"), depth=limit)
        except KeyError:
            raise _unknown(query) from None
        return [
            ScoredDocument(document, float(score))
            for document, score in zip(ranking.documents, ranking.scores, strict=True)
        ]

    def close(self) -> None:
        """Do nothing: the run is in memory."""


def _unknown(query: SearchQuery) -> BackendError:
    return BackendError(
        f"replay: found no answer to query {shown(repr(query.id))}, expected a recorded one"
    )


@dataclass(frozen=True, kw_only=True)
class ReplayKeys(BackendKeys):
    """Keys of the kind ``replay``."""

    path: str = file_to_read(
        "JSON lines of a journal, or a run.", expected="JSON lines of a journal, or a run"
    )


SECTIONS = {"replay": ReplayKeys}


def from_section(section: Section) -> RecordedAnswers | RecordedRun:
    """Make the backend of a section."""
    path = keys_from(ReplayKeys, section).path
    if path.endswith(".jsonl"):
        return RecordedAnswers(read_answers(path))
    return RecordedRun(read_run(path))
