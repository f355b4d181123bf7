"""Journal of an evaluation of several files: the values of each finished file, so that a job that
was killed measures none twice.
"""

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from idealrank.data.label_kinds import Labels
from idealrank.errors import InputError
from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.evaluate import Evaluation, Provenance
from idealrank.measures.measure import Measure
from idealrank.version import __version__

_FORMAT = "idealrank evaluation journal 1"
_START = f'{{"format": "{_FORMAT}"'.encode()


class EvaluationJournal:
    r"""File with a line for each evaluated file.

    A line reaches the disk before the next file is evaluated.
    """

    def __init__(self, path: str, subject: Mapping[str, Any]) -> None:
        self._path = Path(path)
        self._head = {"format": _FORMAT, "version": __version__, **subject}
        self._lines: dict[str, dict[str, Any]] = {}
        # size and time of each file when `find` looked for it, before it is read
        self._states: dict[str, list[int]] = {}
        self._whole = 0  # bytes of complete lines
        try:
            lines = self._path.read_bytes().splitlines(keepends=True) if self._path.exists() else []
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
        records = [_parsed(line) for line in lines if line.endswith(b"\n")]
        # a job that was killed may have left the beginning of its first line
        if lines and not (lines[0].startswith(_START) or _START.startswith(lines[0])):
            raise InputError(
                f"{path}: found a file that is no journal of an evaluation, expected none or "
                f"one; name another output"
            )
        if records and records[0] == json.loads(json.dumps(self._head)):
            self._whole = sum(len(line) for line in lines if line.endswith(b"\n"))
            self._lines = {line["path"]: line for line in records[1:] if "path" in line}

    def __len__(self) -> int:
        return len(self._lines)

    def find(
        self, path: str, name: str, measures: tuple[Measure, ...], convention: Any
    ) -> Evaluation | None:
        """Return what is kept of a file, if that is still the same."""
        line = self._lines.get(path)
        state = _state(path)
        self._states[path] = state
        if line is None or line["state"] != state:
            return None
        shape = (len(line["queries"]), len(measures))
        values = np.frombuffer(base64.b64decode(line["values"]), "<f8").reshape(shape)
        marks = np.frombuffer(base64.b64decode(line["scored"]), np.uint8)
        scored = marks.reshape(shape).astype(bool)
        coverage = Coverage.from_record(line["coverage"])
        labels = line.get("labels")
        provenance = Provenance(
            version=__version__,
            convention=convention,
            measures=tuple(line["measures"]),
            judgments=line["judgments"],
            labels=None if labels is None else Labels(**labels),
            query_word=line.get("query_word", "query"),
        )
        return Evaluation(
            name=name,
            queries=line["queries"],
            measures=measures,
            values=values,
            scored=scored,
            coverage=coverage,
            provenance=provenance,
            path=path,
        )

    def add(self, path: str, evaluation: Evaluation) -> None:
        """Keep the values of a file, unless it changed since it was looked for."""
        state = _state(path)
        if self._states.get(path, state) != state:
            return
        coverage = evaluation.coverage
        labels = evaluation.provenance.labels
        counts_of_run = {field.name: getattr(coverage, field.name) for field in fields(coverage)}
        by_measure = {text: counts.as_dict() for text, counts in coverage.by_measure.items()}
        values = np.ascontiguousarray(evaluation.values, "<f8").tobytes()
        scored = np.ascontiguousarray(evaluation.scored, np.uint8).tobytes()
        line = {
            "path": path,
            "state": state,
            "queries": list(evaluation.queries),
            "measures": list(evaluation.provenance.measures),
            "judgments": evaluation.provenance.judgments,
            "labels": None if labels is None else asdict(labels),
            "query_word": evaluation.provenance.query_word,
            "coverage": {
                **counts_of_run,
                "missing_queries": list(coverage.missing_queries),
                "by_measure": by_measure,
            },
            "values": base64.b64encode(values).decode(),
            "scored": base64.b64encode(scored).decode(),
        }
        is_new = not self._lines
        self._lines[path] = line
        records = [self._head, line] if is_new else [line]
        try:
            # The first line of this subject replaces the journal of another; a later one replaces
            # a line that a killed job left half written.
            with self._path.open("wb" if is_new else "r+b") as file:
                file.seek(0 if is_new else self._whole)
                file.truncate()
                file.writelines(json.dumps(record).encode() + b"\n" for record in records)
                file.flush()
                self._whole = file.tell()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(
                f"{self._path}: cannot be written: {error.strerror or error}"
            ) from None

    def remove(self) -> None:
        """Remove the file, once the output is there."""
        self._path.unlink(missing_ok=True)


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _state(path: str) -> list[int]:
    status = Path(path).stat()
    return [status.st_size, status.st_mtime_ns]
