"""Questions to the tables of a store."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from idealrank.errors import InputError, NotStoredError, OptionError, shown
from idealrank.measures.parse import canonical_text
from idealrank.store.database import Database, Row, column_text
from idealrank.store.encoding import Fields
from idealrank.store.entries import DIGITS, FORMAT
from idealrank.store.intact_records import damaged, from_record, is_intact, read_parts
from idealrank.store.mounts import shown_folder
from idealrank.store.record import Entry, Kind, Record

_CONDITIONS = {
    "id": "id = ?",
    "kind": "kind = ?",
    "run": "name = ?",
    "tag": "id IN (SELECT id FROM tag WHERE tag = ?)",
    "measure": "id IN (SELECT id FROM mean WHERE measure = ?)",
    "commit": "commit_id <> '' AND substr(commit_id, 1, length(?)) = ?",
}

# Parts of a record that a list shows.
_SHOWN = (
    "kind",
    "name",
    "convention.name",
    "convention.fingerprint",
    "version",
    "time",
    "commit",
    "command",
    "dirty",
    "n_queries",
    "measures",
    "means",
    "parts",
)


def resolve(database: Database, beginning: str, kind: Kind | None) -> str:
    """The whole id of a unique beginning."""
    text = beginning.strip().lower()
    if not re.fullmatch(rf"[0-9a-f]{{4,{DIGITS}}}", text):
        raise OptionError(
            f"id {shown(repr(beginning))}: expected 4 to {DIGITS} hexadecimal digits, as "
            f"`idealrank history` shows them"
        )
    rows = database.rows(
        "SELECT id, kind FROM entry WHERE id >= ? AND id <= ? ORDER BY id LIMIT 9",
        (text, text + "g"),
    )
    if len(rows) > 1:
        raise NotStoredError(
            f"id {text}: found {', '.join(row[0] for row in rows)}, expected one; give more digits"
        )
    if not rows:
        raise NotStoredError(
            f"id {text}: found none in {shown_folder(database.path.parent)}; `idealrank history` "
            "lists the entries"
        )
    key, kind_of_entry = rows[0]
    if kind is not None and kind_of_entry != kind:
        raise NotStoredError(f"id {key}: found one {kind_of_entry}, expected one {kind}")
    return str(key)


def shortest(database: Database, key: str) -> str:
    """The shortest beginning of 4 digits or more that no other id has."""
    around = database.rows(
        "SELECT max(id) FROM entry WHERE id < ? UNION ALL SELECT min(id) FROM entry WHERE id > ?",
        (key, key),
    )
    others = [str(other) for (other,) in around if other is not None]
    for length in range(4, DIGITS):
        if not any(other.startswith(key[:length]) for other in others):
            return key[:length]
    return key


def fields_of(database: Database, key: str) -> Fields:
    """The record of an entry, its hash checked."""
    rows = database.rows(f"SELECT {is_intact()}, record FROM entry WHERE id = ?", (key,))  # noqa: S608  (names of the package)
    if not rows:
        raise removed(key)
    intact, record = rows[0]
    if not intact:
        raise damaged(database.path, key)
    fields: Fields = json.loads(record)
    if fields["format"] > FORMAT:
        raise InputError(
            f"{key}: found a record of format {fields['format']}, expected {FORMAT} or earlier; "
            "upgrade idealrank"
        )
    return fields


def removed(key: str) -> NotStoredError:
    """Make the error for an entry that another process took out after this one had found it."""
    return NotStoredError(
        f"id {key}: another process removed the entry; `idealrank history` lists the entries"
    )


def entry(database: Database, key: str) -> Entry:
    """Return the summary of the entry with this whole id."""
    matching = entries(database, {"id": key})
    if not matching:
        raise removed(key)
    return matching[0]


def entries(
    database: Database, value_of: Mapping[str, str], limit: int | None = None
) -> list[Entry]:
    """Entries with these values of keys of `_CONDITIONS`, the newest first, all as they are at one
    moment.
    """
    with database.one_state():
        return _entries(database, value_of, limit)


def _entries(database: Database, value_of: Mapping[str, str], limit: int | None) -> list[Entry]:
    parameters: list[Any] = []
    for name, value in value_of.items():
        text = canonical_text(value) if name == "measure" else value
        parameters += [text] * _CONDITIONS[name].count("?")
    conditions = " AND ".join(_CONDITIONS[name] for name in value_of) or "1"
    # Conditions are constants of this file; the words of a user are parameters.
    chosen = f"FROM entry WHERE {conditions} ORDER BY time DESC, id LIMIT ?"
    parameters.append(-1 if limit is None else limit)

    def of_these(columns: str, table: str, order: str) -> list[Row]:
        return database.rows(
            f"SELECT {columns} FROM {table} WHERE id IN (SELECT id {chosen}) ORDER BY {order}",  # noqa: S608
            parameters,
        )

    tags = _grouped(of_these("id, tag", "tag", "id, tag"))
    notes = _grouped(of_these("id, text", "note", "id, time, text"))
    return [
        _entry(key, read_parts(database.path, key, parts), tags[key], notes[key])
        for key, parts in database.rows(f"SELECT id, {from_record(*_SHOWN)} {chosen}", parameters)
    ]


def _entry(key: str, parts: list[Any], tags: Iterable[Row], notes: Iterable[Row]) -> Entry:
    fields = dict(zip(_SHOWN, map(column_text, parts), strict=True))
    means: dict[str, float | None] | None = None
    if fields["kind"] == "evaluation":
        means = {
            column_text(measure["text"]): mean
            for measure, (mean, _) in zip(fields["measures"], fields["means"], strict=True)
        }
    return Entry(
        id=key,
        kind=fields["kind"],
        name=fields["name"],
        means=means,
        n_queries=fields["n_queries"],
        convention=fields["convention.name"],
        fingerprint=fields["convention.fingerprint"],
        version=fields["version"],
        parts=tuple(fields["parts"] or ()),
        record=Record(
            command=fields["command"],
            commit=fields["commit"],
            dirty=fields["dirty"],
            time=fields["time"],
            tags=tuple(tag for (tag,) in tags),
            notes=tuple(text for (text,) in notes),
        ),
    )


def _grouped(rows: Iterable[tuple[Any, ...]]) -> defaultdict[str, list[tuple[Any, ...]]]:
    groups: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for key, *values in rows:
        groups[key].append(tuple(values))
    return groups
