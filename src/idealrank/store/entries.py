"""Rows and value files of one evaluation or verdict, ready to write; and what may change of an
entry: tags, notes and removal.
"""

import hashlib
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from idealrank._lazy import annotation
from idealrank.data.interchange import finite
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.evaluation.judged_hits import JudgedHits
from idealrank.store.database import Database, column_text
from idealrank.store.encoding import (
    Fields,
    canonical,
    convention_fields,
    evaluation_fields,
    evaluation_files,
)
from idealrank.store.record import (
    Entry,
    Kind,
    Record,
    command_without_folders,
    now,
    plain,
    plain_options,
    utc,
)
from idealrank.store.value_files import Blob

if TYPE_CHECKING:
    from idealrank.analysis.comparison import Comparison
    from idealrank.analysis.gate import Gated
else:
    Comparison = annotation("idealrank.analysis.comparison", "Comparison")
    Gated = annotation("idealrank.analysis.gate", "Gated")


# What the fields of a record mean; a reader refuses a higher number.
FORMAT = 1
DIGITS = 12  # of an id


@dataclass(frozen=True, kw_only=True)
class Adding:
    """One entry, ready to be written."""

    kind: Kind  # Of the entry
    fields: Fields  # The record that never changes; the id is a hash of it
    files: Mapping[str, Blob] = field(default_factory=dict)  # By their role, as "queries"
    tags: Sequence[str] = ()  # May change later
    notes: Sequence[tuple[str, str]] = ()  # Time and text; may change later

    @property
    def digest(self) -> str:
        """SHA-256 of the record."""
        return hashlib.sha256(canonical(self.fields).encode()).hexdigest()

    @property
    def id(self) -> str:
        """The first digits of the digest."""
        return self.digest[:DIGITS]

    def renamed(self) -> "Adding":
        """Return the entry with another id, for an id that is taken."""
        return Adding(
            kind=self.kind,
            fields=self.fields | {"nonce": secrets.token_hex(8)},
            files=self.files,
            tags=self.tags,
            notes=self.notes,
        )

    def insert(self, connection: sqlite3.Connection) -> None:
        """Write the rows, in the transaction of the caller."""
        fields, key = self.fields, self.id
        _insert(
            connection,
            "entry",
            id=key,
            kind=self.kind,
            time=fields["time"],
            name=fields["name"],
            digest=self.digest,
            record=canonical(fields),
            convention=fields["convention"]["name"],
            fingerprint=fields["convention"]["fingerprint"],
            version=fields["version"],
            commit_id=fields["commit"],
            dirty=fields["dirty"],
            command=fields["command"],
        )
        if self.kind == "evaluation":
            self._insert_evaluation(connection, key)
        for place, part in enumerate(fields.get("parts", ())):
            _insert(connection, "part", id=key, place=place, evaluation=part)
        for file in sorted(set(fields["files"].values())):
            _insert(connection, "kept", id=key, file=file)
        for tag in dict.fromkeys(self.tags):
            _insert(connection, "tag", id=key, tag=tag)
        for time, text in dict.fromkeys(self.notes):
            _insert(connection, "note", id=key, time=time, text=text)

    def mend(self, connection: sqlite3.Connection) -> None:
        """Write the rows anew where those with this id are damaged; tags, notes and what was made
        of the entry stay.
        """
        connection.execute("PRAGMA defer_foreign_keys=ON")  # a comparison may name it
        tag_rows = connection.execute("SELECT tag FROM tag WHERE id = ?", (self.id,))
        tags = [tag for (tag,) in tag_rows]
        notes = list(connection.execute("SELECT time, text FROM note WHERE id = ?", (self.id,)))
        connection.execute("DELETE FROM entry WHERE id = ?", (self.id,))
        replace(self, tags=(*tags, *self.tags), notes=(*notes, *self.notes)).insert(connection)

    def _insert_evaluation(self, connection: sqlite3.Connection, key: str) -> None:
        fields, files = self.fields, self.fields["files"]
        _insert(
            connection,
            "evaluation",
            id=key,
            n_queries=fields["n_queries"],
            n_measures=len(fields["measures"]),
            queries_file=files["queries"],
            values_file=files["values"],
            scored_file=files.get("scored"),
        )
        measures = zip(fields["measures"], fields["means"], strict=True)
        for place, (measure, (mean, n_scored)) in enumerate(measures):
            _insert(
                connection,
                "mean",
                id=key,
                place=place,
                measure=measure["text"],
                resolved=measure["resolved"],
                value=mean,
                scored=n_scored,
            )
        for place, input_file in enumerate(fields["inputs"]):
            _insert(
                connection,
                "input",
                id=key,
                place=place,
                name=input_file["name"],
                size=input_file["size"],
                sha256=input_file["sha256"],
            )


def _insert(connection: sqlite3.Connection, table: str, **columns: Any) -> None:
    names = ", ".join(columns)
    marks = ", ".join("?" * len(columns))
    connection.execute(
        f"INSERT INTO {table} ({names}) VALUES ({marks})",  # noqa: S608  (names of this file)
        list(map(column_text, columns.values())),
    )


def evaluation_adding(evaluation: Evaluation, hits: JudgedHits | None, record: Record) -> Adding:
    """An evaluation, ready to be written."""
    files = evaluation_files(evaluation, hits)
    fields = evaluation_fields(evaluation) | _origin_fields("evaluation", record)
    fields["means"] = means_of(evaluation)
    fields["files"] = {role: blob.name for role, blob in files.items()}
    return Adding(
        kind="evaluation",
        fields=fields,
        files=files,
        tags=record.tags,
        notes=_notes(record, fields),
    )


def means_of(evaluation: Evaluation) -> list[list[float | int | None]]:
    """Mean and number of queries that count, measure by measure."""
    counted = evaluation.scored.sum(axis=0).tolist()
    return [
        [finite(float(mean)), int(n)]
        for mean, n in zip(evaluation.mean().values(), counted, strict=True)
    ]


def verdict_adding(
    kind: Kind,
    verdict: "Comparison | Gated",
    evaluations: Sequence[str],
    options: Mapping[str, Any],
    record: Record,
) -> Adding:
    """A comparison or a gate, ready to be written."""
    from idealrank.analysis.comparison import Comparison  # noqa: PLC0415  (loads SciPy, which a verdict has loaded)

    if isinstance(verdict, Comparison):
        name = f"{', '.join(verdict.names[1:])} against {verdict.names[0]}"
        version = verdict.method.version
    else:
        name = f"{verdict.run} against {', '.join(verdict.baselines)}"
        version = ""
    fields: Fields = _origin_fields(kind, record) | {
        "name": name,
        "parts": list(evaluations),
        "options": plain_options(options),
        "result": plain(verdict.as_dict()),
        "convention": convention_fields(verdict.convention),
        "version": version,
        "files": {},
    }
    return Adding(kind=kind, fields=fields, tags=record.tags, notes=_notes(record, fields))


def _origin_fields(kind: Kind, record: Record) -> Fields:
    return {
        "format": FORMAT,
        "kind": kind,
        # Two evaluations that are equal in everything are two entries.
        "nonce": secrets.token_hex(8),
        "time": utc(record.time) if record.time else now(),
        "commit": record.commit,
        "dirty": record.dirty,
        "command": command_without_folders(record.command),
    }


def _notes(record: Record, fields: Fields) -> list[tuple[str, str]]:
    return [(fields["time"], note) for note in record.notes]


def tag(database: Database, key: str, tags: Sequence[str]) -> None:
    """Add tags."""
    if not all(word.strip() and word.isprintable() for word in tags):
        raise OptionError(f"tag: found {tuple(tags)!r}, expected printable words")
    with database.writing() as connection:
        connection.executemany(
            "INSERT OR IGNORE INTO tag (id, tag) VALUES (?, ?)", [(key, word) for word in tags]
        )


def untag(database: Database, entry: Entry, tags: Sequence[str]) -> None:
    """Take tags away."""
    if missing := [word for word in tags if word not in entry.record.tags]:
        raise InputError(
            f"{entry.id}: found no tag {missing[0]!r}, expected one of "
            f"{', '.join(entry.record.tags) or 'none'}"
        )
    with database.writing() as connection:
        connection.executemany(
            "DELETE FROM tag WHERE id = ? AND tag = ?", [(entry.id, word) for word in tags]
        )


def note(database: Database, key: str, text: str) -> None:
    """Add a note."""
    with database.writing() as connection:
        connection.execute(
            "INSERT OR IGNORE INTO note (id, time, text) VALUES (?, ?, ?)",
            (key, now(), column_text(text)),
        )


def remove(database: Database, key: str) -> None:
    """Take an entry out."""
    with database.writing() as connection:
        rows = connection.execute("SELECT DISTINCT id FROM part WHERE evaluation = ?", (key,))
        users = [user for (user,) in rows]
        if users:
            raise InputError(
                f"{key}: found it in {', '.join(users)}, expected no entry that uses it; remove "
                "that entry first"
            )
        connection.execute("DELETE FROM entry WHERE id = ?", (key,))
