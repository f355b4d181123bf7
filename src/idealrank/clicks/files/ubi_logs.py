"""User Behavior Insights (UBI), the logs of OpenSearch: a store of queries with their results, and
a store of events.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from idealrank.clicks import LogRows
from idealrank.clicks.log_rows import SEVERAL
from idealrank.errors import FileFormatError, shown
from idealrank.io.complaints import Notes, Tell
from idealrank.io.record_files import (
    FieldRecord,
    columnar_records,
    is_columnar,
    json_records,
    line_records,
)
from idealrank.io.sources import Paths, Source, open_sources

# by version of the specification
_HITS = ("query_response_hit_ids", "query_response_object_ids", "query_response_objects_ids")
_TEXTS = ("user_query", "query")
_OBJECT = ("event_attributes.object.object_id", "object_id")
_WORD = 16  # bytes of a file that tell its layout


@dataclass
class _Events:
    """Actions on results by list and document, in the order of the log, and events that belong to
    no result.
    """

    actions: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    without: int = 0


def read_ubi(
    queries: Paths, events: Paths, *, clicks: Sequence[str] = ("click",), tell: Tell | None = None
) -> LogRows:
    r"""Read the two stores of User Behavior Insights, as exported from OpenSearch: every result of
    a query was shown, at its place.

    User Behavior Insights, specification 1.0 and 1.3, https://github.com/o19s/ubi.
    """
    notes = Notes(tell)
    found = _read_events(events, notes)
    wanted = dict.fromkeys(clicks)
    if not any(name in found.names for name in wanted):
        there = ", ".join(f"{name} ({count:,})" for name, count in found.names.items()) or "none"
        names = " or ".join(wanted)
        first = open_sources(events, Notes(lambda _: None))[0].path
        raise FileFormatError(
            first,
            0,
            f"no event on a result with the action {names}; actions on results: {there}",
            "at least one click",
            hint="name the actions that are clicks with clicks=[...]",
            command_hint="name the actions that are clicks with --click-actions",
        )
    rows = _rows_of(queries, found, wanted, notes)
    if found.actions:
        lost = sum(map(len, found.actions.values()))
        notes.warn(f"{lost:,} events name a query or a result that no list has; they count nothing")
    if found.without:
        notes.inform(
            f"{found.without:,} events name no query or no result, such as a filter or a "
            f"login; they count nothing"
        )
    return rows


def _read_events(paths: Paths, notes: Notes) -> _Events:
    found = _Events()
    for source in open_sources(paths, notes):
        for record in _records(source):
            name, query, document = (
                _value(record.fields, names) for names in (("action_name",), ("query_id",), _OBJECT)
            )
            if name is None:
                raise FileFormatError(
                    record.place,
                    record.line,
                    "no field 'action_name'",
                    "an event of UBI: action_name, query_id, ...",
                )
            if query is None or document is None:
                found.without += 1
                continue
            actions = found.actions.setdefault((str(query), str(document)), [])
            found.names[str(name)] = found.names.get(str(name), 0) + 1
            if str(name) not in actions:
                actions.append(str(name))
    return found


def _rows_of(paths: Paths, events: _Events, clicks: Mapping[str, None], notes: Notes) -> LogRows:
    """Rows of all results; the events that they use are taken out."""
    columns: dict[str, list[str]] = {
        name: [] for name in ("session", "query", "document", "user", "action")
    }
    ranks: list[int] = []
    empty = 0
    for source in open_sources(paths, notes):
        for record in _records(source):
            query_id, hits = _value(record.fields, ("query_id",)), _value(record.fields, _HITS)
            if query_id is None or not (hits is None or isinstance(hits, list)):
                raise FileFormatError(
                    record.place,
                    record.line,
                    f"fields {', '.join(map(repr, record.fields))}",
                    f"a query of UBI: query_id, user_query, and a list {_HITS[0]}",
                )
            empty += not hits
            text, client = (_value(record.fields, names) for names in (_TEXTS, ("client_id",)))
            for rank, hit in enumerate(hits or (), 1):
                done = events.actions.get((str(query_id), str(hit)), ["none"])
                ranks.append(rank)
                own = (
                    query_id,
                    query_id if text is None else text,
                    hit,
                    "" if client is None else client,
                    SEVERAL.join(done),
                )
                for column, value in zip(columns.values(), own, strict=True):
                    column.append(str(value))
            for hit in hits or ():
                events.actions.pop((str(query_id), str(hit)), None)
    if empty:
        notes.inform(f"{empty:,} queries have no result; they show nothing")
    clicked = np.array(
        [any(name in clicks for name in done.split(SEVERAL)) for done in columns["action"]],
        np.float64,
    )
    users = columns["user"] if any(columns["user"]) else None
    return LogRows(
        session=columns["session"],
        query=columns["query"],
        document=columns["document"],
        rank=np.array(ranks, np.float64),
        click=clicked,
        user=users,
        action=columns["action"],
    )


def _records(source: Source) -> Iterator[FieldRecord]:
    """Records of a store, however it was exported."""
    start = bytes(source.data[:_WORD])
    if is_columnar(start):
        records = columnar_records(source, lambda names: [name for name in names if name != "_id"])
    elif start.lstrip()[:1] == b"[":
        records = json_records(source.read(), source.path, "", "", "an array of records")
    else:
        records = line_records(source.open(), source.path)
    for record in records:
        answer = record.fields.get("hits")
        if isinstance(answer, Mapping) and isinstance(answer.get("hits"), list):
            for number, one in enumerate(answer["hits"], 1):
                yield FieldRecord(
                    _unwrapped(one, record), f"{record.place}: hit {number}", record.line
                )
        else:
            yield FieldRecord(_unwrapped(record.fields, record), record.place, record.line)


def _unwrapped(fields: Any, record: FieldRecord) -> Mapping[str, Any]:
    found = fields.get("_source", fields) if isinstance(fields, Mapping) else fields
    if not isinstance(found, Mapping):
        raise FileFormatError(
            record.place,
            record.line,
            shown(json.dumps(found, default=str)),
            "a record with named fields",
        )
    return found


def _value(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first of some fields that is there; a point leads into a nested record, or stands in the
    name of a flat one.
    """
    for name in names:
        found: Any = fields.get(name)
        if found is None:
            found = fields
            for part in name.split("."):
                found = found.get(part) if isinstance(found, Mapping) else None
        if found is not None:
            return found
    return None
