"""A store as the first version of the schema had it, made without the package's own schema: notes
were a column, one an entry.
"""

import hashlib
import json
import sqlite3
from pathlib import Path

import numpy as np

import idealrank as ir
from idealrank.store.entries import evaluation_adding
from idealrank.store.record import Record

TABLES = (
    "CREATE TABLE entry (id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN "
    "('evaluation', 'comparison', 'gate')), time TEXT NOT NULL,"
    " name TEXT NOT NULL, digest TEXT NOT NULL, record TEXT NOT NULL, convention TEXT NOT "
    "NULL, fingerprint TEXT NOT NULL,"
    " version TEXT NOT NULL, commit_id TEXT NOT NULL, dirty INTEGER, command TEXT NOT NULL, "
    "note TEXT NOT NULL DEFAULT '') WITHOUT ROWID",
    "CREATE INDEX entry_time ON entry (time)",
    "CREATE TABLE evaluation (id TEXT PRIMARY KEY REFERENCES entry (id) ON DELETE CASCADE, "
    "n_queries INTEGER NOT NULL,"
    " n_measures INTEGER NOT NULL, queries_file TEXT NOT NULL, values_file TEXT NOT NULL, "
    "scored_file TEXT) WITHOUT ROWID",
    "CREATE TABLE mean (id TEXT NOT NULL REFERENCES evaluation (id) ON DELETE CASCADE, place "
    "INTEGER NOT NULL, measure TEXT NOT NULL,"
    " resolved TEXT NOT NULL, value REAL, scored INTEGER NOT NULL, PRIMARY KEY (id, place)) "
    "WITHOUT ROWID",
    "CREATE INDEX mean_measure ON mean (measure)",
    "CREATE TABLE input (id TEXT NOT NULL REFERENCES evaluation (id) ON DELETE CASCADE, place "
    "INTEGER NOT NULL, name TEXT NOT NULL,"
    " size INTEGER NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (id, place)) WITHOUT ROWID",
    "CREATE TABLE part (id TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE, place "
    "INTEGER NOT NULL,"
    " evaluation TEXT NOT NULL REFERENCES evaluation (id), PRIMARY KEY (id, place)) WITHOUT ROWID",
    "CREATE INDEX part_evaluation ON part (evaluation)",
    "CREATE TABLE tag (id TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE, tag TEXT NOT "
    "NULL, PRIMARY KEY (id, tag)) WITHOUT ROWID",
    "CREATE INDEX tag_tag ON tag (tag)",
    "CREATE TABLE kept (id TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE, file TEXT "
    "NOT NULL, PRIMARY KEY (id, file))"
    " WITHOUT ROWID",
    "CREATE INDEX kept_file ON kept (file)",
)


def make_store_of_schema_1(
    folder: Path, evaluation: ir.Evaluation, *, note: str, tags: tuple[str, ...]
) -> str:
    """One evaluation with a note and tags; returns its id."""
    adding = evaluation_adding(evaluation, None, Record())
    fields = {name: value for name, value in adding.fields.items() if name != "judgments"}
    key = hashlib.sha256(json.dumps(fields, separators=(",", ":")).encode()).hexdigest()[:12]
    for blob in adding.files.values():
        path = folder / "values" / blob.name[:2] / blob.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(blob.content)
    record = json.dumps(fields, separators=(",", ":"))
    digest = hashlib.sha256(record.encode()).hexdigest()
    files = fields["files"]
    connection = sqlite3.connect(folder / "store.sqlite3")
    for statement in TABLES:
        connection.execute(statement)
    convention = fields["convention"]
    row = (
        key,
        "evaluation",
        fields["time"],
        fields["name"],
        digest,
        record,
        convention["name"],
        convention["fingerprint"],
    )
    connection.execute(
        f"INSERT INTO entry VALUES ({','.join('?' * 13)})",
        (*row, fields["version"], "", None, "", note),
    )
    sizes = (fields["n_queries"], len(fields["measures"]))
    connection.execute(
        "INSERT INTO evaluation VALUES (?, ?, ?, ?, ?, ?)",
        (key, *sizes, files["queries"], files["values"], files.get("scored")),
    )
    means = [None if np.isnan(mean) else mean for mean in evaluation.mean().values()]
    for place, (one, mean) in enumerate(zip(fields["measures"], means, strict=True)):
        counted = int(evaluation.scored[:, place].sum())
        connection.execute(
            "INSERT INTO mean VALUES (?, ?, ?, ?, ?, ?)",
            (key, place, one["text"], one["resolved"], mean, counted),
        )
    connection.executemany("INSERT INTO tag VALUES (?, ?)", [(key, tag) for tag in tags])
    connection.executemany(
        "INSERT INTO kept VALUES (?, ?)", [(key, name) for name in set(files.values())]
    )
    connection.execute("PRAGMA application_id=1769108340")
    connection.execute("PRAGMA user_version=1")
    connection.commit()
    connection.close()
    return key
