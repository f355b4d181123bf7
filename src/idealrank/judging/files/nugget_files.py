"""Assignments of nuggets to answers, as the tool nuggetizer writes them: JSON lines, one for each
answer.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from idealrank.errors import FileFormatError, InputError, near_ids, shown
from idealrank.io.checked_cells import check_id
from idealrank.io.complaints import Notes
from idealrank.io.record_files import FieldRecord, json_records, line_records
from idealrank.io.sources import Paths, Source, open_sources
from idealrank.judging.nuggets import IMPORTANCE, SUPPORT, AssignedAnswers, Nugget

_QUERY = ("qid", "topic_id", "query_id")
_EXPECTED = (
    '{"qid": ..., "nuggets": [{"text": ..., "importance": "vital" | "okay", "assignment": '
    '"support" | ...}]}'
)


class _Answer(NamedTuple):
    """The nuggets of one record."""

    query: str
    run: str
    nuggets: list[Nugget]


def read_answers(path: Paths, notes: Notes) -> list[AssignedAnswers]:
    """Read the answers of one or several systems."""
    by_run: dict[str, dict[str, list[Nugget]]] = {}
    sources = open_sources(path, notes)
    for source in sources:
        for record in _records(source):
            answer = _answer(record, assigned=True)
            of_run = by_run.setdefault(answer.run, {})
            if answer.query in of_run:
                whose = f" by run {shown(repr(answer.run))}" if answer.run else ""
                problem = f"a second answer to query {shown(repr(answer.query))}{whose}"
                hint = ""
                if "docid" in record.fields:
                    hint = (
                        "passages have assignments of their own (docid); expected assignments of "
                        "answers"
                    )
                raise _refused(record, problem, "one answer to a query", hint)
            of_run[answer.query] = answer.nuggets
    systems = [AssignedAnswers(name, answers) for name, answers in by_run.items()]
    where = ", ".join(source.path for source in sources)
    if not systems:
        raise InputError(f"{where}: found no answer, expected at least one: {_EXPECTED}")
    failed = sum(system.n_failed for system in systems)
    if failed:
        notes.warn(
            f"{where}: {failed:,} nuggets were not rated or assigned (failed); they count as not "
            "supported"
        )
    return systems


def read_nuggets(path: Paths, notes: Notes) -> dict[str, list[Nugget]]:
    """Read nuggets with their importance, by query."""
    by_query: dict[str, list[Nugget]] = {}
    for source in open_sources(path, notes):
        for record in _records(source):
            answer = _answer(record, assigned=False)
            if answer.query in by_query:
                raise _refused(
                    record, f"query {shown(repr(answer.query))} a second time", "each query once"
                )
            by_query[answer.query] = answer.nuggets
    return by_query


def _records(source: Source) -> Iterator[FieldRecord]:
    """Yield the records of an array, or of JSON lines."""
    start = bytes(source.data[:64]).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] == b"[":
        yield from json_records(
            source.read(), source.path, "qid", "nuggets", f"an array of {_EXPECTED}"
        )
    else:
        yield from line_records(source.open(), source.path)


def _answer(record: FieldRecord, *, assigned: bool) -> _Answer:
    """Check a record, and return its nuggets."""
    fields = record.fields
    query = next((fields[name] for name in _QUERY if name in fields), None)
    if isinstance(query, bool) or not isinstance(query, str | int) or query == "":
        problem = "no id as qid"
        if query is None:
            problem = f"no qid among the fields {', '.join(map(repr, list(fields)[:6]))}"
        raise _refused(record, problem, _EXPECTED)
    checked_query = check_id(query)
    if isinstance(checked_query, tuple):
        raise _refused(record, f"{checked_query.problem} as qid", checked_query.expected)
    nuggets = fields.get("nuggets")
    if not isinstance(nuggets, list):
        raise _refused(
            record, f"{type(nuggets).__name__} as nuggets of query {shown(repr(query))}", _EXPECTED
        )
    run = fields.get("run_id")
    has_run = isinstance(run, str | int) and not isinstance(run, bool) and run != ""
    checked_run = check_id(run) if has_run else ""
    if isinstance(checked_run, tuple):
        raise _refused(record, f"{checked_run.problem} as run_id", checked_run.expected)
    checked_nuggets = [_nugget(nugget, record, assigned=assigned) for nugget in nuggets]
    return _Answer(query=checked_query, run=checked_run, nuggets=checked_nuggets)


def _nugget(value: Any, record: FieldRecord, *, assigned: bool) -> Nugget:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise _refused(record, "a nugget without a text", _EXPECTED)
    importance = _word(value, "importance", IMPORTANCE, record)
    assignment = _word(value, "assignment", SUPPORT, record) if assigned else ""
    return Nugget(value["text"], importance, assignment)


def _word(
    value: Mapping[str, Any], name: str, known: Mapping[str, float], record: FieldRecord
) -> str:
    word = value.get(name)
    if isinstance(word, str) and word.lower() in known:
        return word.lower()
    near = near_ids(word, known, 1) if isinstance(word, str) else []
    hint = f"did you mean {near[0]}?" if near else ""
    shown_word = f"{name} {shown(repr(word))}" if name in value else f"no {name}"
    problem = f"{shown_word} of nugget {shown(repr(value['text']))}"
    raise _refused(record, problem, f"one of {', '.join(known)}", hint)


def _refused(record: FieldRecord, problem: str, expected: str, hint: str = "") -> FileFormatError:
    return FileFormatError(record.place, record.line, problem, expected, hint)
