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

# Names of the fields, in several versions of the specification.
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
    name_counts: dict[str, int] = field(default_factory=dict)
    n_unmatched: int = 0


def read_ubi(
    queries: Paths, events: Paths, *, clicks: Sequence[str] = ("click",), tell: Tell | None = None
) -> LogRows:
    r"""Read the two stores of User Behavior Insights, as exported from OpenSearch: every result of
    a query was shown, at its place.

    User Behavior Insights, specification 1.0 and 1.3, https://github.com/o19s/ubi.
    """
    notes = Notes(tell)
    event_log = _read_events(events, notes)
    click_actions = dict.fromkeys(clicks)
    if not any(name in event_log.name_counts for name in click_actions):
        counts = [f"{name} ({count:,})" for name, count in event_log.name_counts.items()]
        counts_text = ", ".join(counts) or "none"
        names = " or ".join(click_actions)
        first_path = open_sources(events, Notes(lambda _: None))[0].path
        raise FileFormatError(
            first_path,
            0,
            f"no event on a result with the action {names}; actions on results: {counts_text}",
            "at least one click",
            hint="name the actions that are clicks with clicks=[...]",
            command_hint="name the actions that are clicks with --click-actions",
        )
    rows = _rows_of(queries, event_log, click_actions, notes)
    if event_log.actions:
        lost = sum(map(len, event_log.actions.values()))
        notes.warn(f"{lost:,} events name a query or a result that no list has; they count nothing")
    if event_log.n_unmatched:
        notes.inform(
            f"{event_log.n_unmatched:,} events name no query or no result, such as a filter or a "
            "login; they count nothing"
        )
    return rows


def _read_events(paths: Paths, notes: Notes) -> _Events:
    event_log = _Events()
    for source in open_sources(paths, notes):
        for record in _records(source):
            name = _value(record.fields, ("action_name",))
            query = _value(record.fields, ("query_id",))
            document = _value(record.fields, _OBJECT)
            if name is None:
                raise FileFormatError(
                    record.place,
                    record.line,
                    "no field 'action_name'",
                    "an event of UBI: action_name, query_id, ...",
                )
            if query is None or document is None:
                event_log.n_unmatched += 1
                continue
            actions = event_log.actions.setdefault((str(query), str(document)), [])
            event_log.name_counts[str(name)] = event_log.name_counts.get(str(name), 0) + 1
            if str(name) not in actions:
                actions.append(str(name))
    return event_log


def _rows_of(paths: Paths, events: _Events, clicks: Mapping[str, None], notes: Notes) -> LogRows:
    """Rows of all results; the events that they use are taken out."""
    columns: dict[str, list[str]] = {
        name: [] for name in ("session", "query", "document", "user", "action")
    }
    ranks: list[int] = []
    n_empty = 0
    for source in open_sources(paths, notes):
        for record in _records(source):
            query_id = _value(record.fields, ("query_id",))
            hits = _value(record.fields, _HITS)
            if query_id is None or not (hits is None or isinstance(hits, list)):
                raise FileFormatError(
                    record.place,
                    record.line,
                    f"fields {', '.join(map(repr, record.fields))}",
                    f"a query of UBI: query_id, user_query, and a list {_HITS[0]}",
                )
            if not hits:
                n_empty += 1

            text = _value(record.fields, _TEXTS)
            query_text = str(query_id if text is None else text)
            client = _value(record.fields, ("client_id",))
            for rank, hit in enumerate(hits or (), 1):
                actions = events.actions.get((str(query_id), str(hit)), ["none"])
                ranks.append(rank)
                columns["session"].append(str(query_id))
                columns["query"].append(query_text)
                columns["document"].append(str(hit))
                columns["user"].append("" if client is None else str(client))
                columns["action"].append(SEVERAL.join(actions))
            for hit in hits or ():
                events.actions.pop((str(query_id), str(hit)), None)

    if n_empty:
        notes.inform(f"{n_empty:,} queries have no result; they show nothing")
    is_click = [not clicks.keys().isdisjoint(text.split(SEVERAL)) for text in columns["action"]]
    users = columns["user"] if any(columns["user"]) else None
    return LogRows(
        session=columns["session"],
        query=columns["query"],
        document=columns["document"],
        rank=np.array(ranks, np.float64),
        click=np.array(is_click, np.float64),
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
            for number, hit in enumerate(answer["hits"], 1):
                yield FieldRecord(
                    _unwrapped(hit, record), f"{record.place}: hit {number}", record.line
                )
        else:
            yield FieldRecord(_unwrapped(record.fields, record), record.place, record.line)


def _unwrapped(fields: Any, record: FieldRecord) -> Mapping[str, Any]:
    unwrapped = fields.get("_source", fields) if isinstance(fields, Mapping) else fields
    if not isinstance(unwrapped, Mapping):
        raise FileFormatError(
            record.place,
            record.line,
            shown(json.dumps(unwrapped, default=str)),
            "a record with named fields",
        )
    return unwrapped


def _value(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first of some fields that is there; a point leads into a nested record, or stands in the
    name of a flat one.
    """
    for name in names:
        value: Any = fields.get(name)
        if value is None:
            value = fields
            for part in name.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    return None
