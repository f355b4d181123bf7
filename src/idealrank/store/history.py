"""History of one measure in a store: of all queries together, or of one query."""

import hashlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import InputError, NotStoredError, OptionError, shown
from idealrank.measures.parse import canonical_text, parse_measure
from idealrank.store.database import column_text
from idealrank.store.encoding import view_array
from idealrank.store.intact_records import damaged, from_record, read_parts
from idealrank.store.mounts import shown_folder
from idealrank.store.record import OUTSIDE, utc
from idealrank.store.timeline import Point, Timeline
from idealrank.store.value_files import Readable

# Fields of `KeptEvaluation`, and where the record of an evaluation has them.
_PATHS = {
    "time": "time",
    "run": "name",
    "n_queries": "n_queries",
    "convention": "convention.name",
    "fingerprint": "convention.fingerprint",
    "version": "version",
    "commit": "commit",
    "dirty": "dirty",
    "command": "command",
    "path": "path",
    "judgments": "judgments",
    "inputs": "inputs",
    "measures": "measures",
    "means": "means",
    "files": "files",
}
# SQL of these parts; `e` is the table of entries.
KEPT_PARTS = from_record(*_PATHS.values(), entry="e")
_MOST_NAMES = 8  # in a message
_BLOCK = 16  # value files that a thread reads at a time
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class KeptEvaluation(NamedTuple):
    """An evaluation, as its record has it."""

    id: str
    time: str
    run: str
    n_queries: int
    convention: str
    fingerprint: str
    version: str
    commit: str
    dirty: bool | None
    command: str
    path: str | None
    judgments: str | None
    inputs: list[Mapping[str, str]]
    measures: list[Mapping[str, str]]
    means: list[tuple[float | None, int]]
    files: Mapping[str, str]
    place: int = 0  # of the requested measure, if any

    @classmethod
    def of(cls, store: Readable, key: str, listed: str | None) -> "KeptEvaluation":
        """The evaluation of a row with `KEPT_PARTS`."""
        parts = read_parts(store.folder, key, listed)
        return cls(id=key, **dict(zip(_PATHS, parts, strict=True)))

    @property
    def texts(self) -> list[str]:
        """Texts of the measures."""
        return [str(column_text(measure["text"])) for measure in self.measures]

    @property
    def mean(self) -> float:
        """The mean of the measure over queries; NaN where there is none."""
        value = self.means[self.place][0]
        return math.nan if value is None else float(value)


def history(
    store: Readable,
    *,
    measure: str | None = None,
    runs: Sequence[str] = (),
    tag: str | None = None,
    query: str | None = None,
    since: str | None = None,
) -> Timeline:
    """Values of one measure, in the order in which they were stored."""
    conditions, parameters = _conditions(runs, tag, since)
    if measure is None:
        text = _newest_measure(store, conditions, parameters)
    else:
        text = canonical_text(measure)
    # Conditions are constants of this file; the words of a user are parameters.
    rows = store.rows(
        f"SELECT e.id, m.place, {KEPT_PARTS} "  # noqa: S608
        f"FROM mean m JOIN entry e ON e.id = m.id "
        f"WHERE m.measure = ?{conditions} ORDER BY e.time, e.id",
        [text, *parameters],
    )
    kept: list[KeptEvaluation] = []
    for key, place, listed in rows:
        evaluation = KeptEvaluation.of(store, key, listed)
        _check_place(store, evaluation, place, text)
        kept.append(evaluation._replace(place=place))
    if not kept:
        raise _nothing(store, text, runs, tag, since)
    values = (
        [evaluation.mean for evaluation in kept] if query is None else _of_query(store, query, kept)
    )
    judgments = _judgments(kept)
    tags = _words(store, "tag", "tag")
    notes = _words(store, "note", "text")
    points = tuple(
        Point(
            id=evaluation.id,
            when=evaluation.time,
            run=column_text(evaluation.run),
            value=value,
            convention=f"{evaluation.convention} [{evaluation.fingerprint}]",
            judgments=judgments[evaluation.id],
            judgments_content=evaluation.judgments or "",
            commit=column_text(evaluation.commit),
            changed=bool(evaluation.dirty),
            tags=tuple(tags[evaluation.id]),
            note="; ".join(notes[evaluation.id]),
        )
        for evaluation, value in zip(kept, values, strict=True)
    )
    return Timeline(measure=text, query=query or "", direction=_direction(text), points=points)


def counted_values(
    store: Readable, measure: str, ids: Sequence[str]
) -> dict[str, FloatArray | None]:
    """Values of one measure that count in its mean, by evaluation; None where they cannot be
    read.
    """
    rows = store.rows(
        f"SELECT e.id, m.place, {from_record('n_queries', 'measures', 'files', entry='e')} "  # noqa: S608
        f"FROM mean m JOIN entry e ON e.id = m.id "
        f"WHERE m.measure = ? AND e.id IN ({', '.join('?' * len(ids))})",
        [measure, *ids],
    )
    return {key: _counted(store, key, place, listed) for key, place, listed in rows}


def _counted(store: Readable, key: str, place: int, listed: str | None) -> FloatArray | None:
    whose = f"evaluation {key}"
    try:
        n_queries, measures, files = read_parts(store.folder, key, listed)
        shape = (n_queries, len(measures))
        values: FloatArray = view_array(
            store.files.read(files["values"], whose), "<f8", shape, whose
        )[:, place]
        if files.get("scored") is None:
            return values[np.isfinite(values)]
        scored: BoolArray = view_array(
            store.files.read(files["scored"], whose), "|b1", shape, whose
        )[:, place]
    except (InputError, IndexError, ValueError):
        return None
    return values[scored & np.isfinite(values)]


def _conditions(runs: Sequence[str], tag: str | None, since: str | None) -> tuple[str, list[str]]:
    conditions = ""
    parameters = [*runs]
    if runs:
        conditions += f" AND e.name IN ({', '.join('?' * len(runs))})"
    if tag is not None:
        conditions += " AND e.id IN (SELECT id FROM tag WHERE tag = ?)"
        parameters.append(tag)
    if since is not None:
        conditions += " AND e.time >= ?"
        parameters.append(moment(since))
    return conditions, parameters


def moment(text: str) -> str:
    """A time as a store has it: from ISO 8601, UTC where no zone is said, or so long ago."""
    ago = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    try:
        if ago:
            span = timedelta(**{_UNITS[ago[2]]: int(ago[1])})
            return (datetime.now(UTC) - span).isoformat(timespec="microseconds")
        return utc(text)
    except (OptionError, OverflowError) as error:
        is_outside = isinstance(error, OverflowError) or OUTSIDE in str(error)
        outside = f"found {OUTSIDE}, " if is_outside else ""
    expected = "expected a date such as 2026-01-31, a time in ISO 8601, or 7d, 12h, 30m, 2w"
    raise OptionError(f"since {shown(repr(text))}: {outside}{expected}")


def _direction(measure: str) -> int:
    try:
        return parse_measure(measure).direction
    except OptionError:  # a measure of the user's own: assume that more is better
        return 1


def _newest_measure(store: Readable, conditions: str, parameters: Sequence[str]) -> str:
    rows = store.rows(
        f"SELECT m.measure FROM mean m JOIN entry e ON e.id = m.id WHERE 1{conditions} "  # noqa: S608
        f"ORDER BY e.time DESC, e.id DESC, m.place LIMIT 1",
        parameters,
    )
    for (measure,) in rows:
        return str(measure)
    return ""


def _nothing(
    store: Readable, measure: str, runs: Sequence[str], tag: str | None, since: str | None
) -> NotStoredError:
    """Describe a missing history, and the available ones."""
    conditions = [f" of measure {measure}"] if measure else []
    conditions += [f" of run {' or '.join(runs)}"] if runs else []
    conditions += [f" with tag {tag}"] if tag is not None else []
    conditions += [f" since {since}"] if since is not None else []
    statements = {
        "runs": "SELECT name FROM entry WHERE kind = 'evaluation' GROUP BY name ORDER BY max(time) "
        "DESC",
        "measures": "SELECT measure FROM mean GROUP BY measure ORDER BY count(*) DESC, measure",
        "tags": "SELECT tag FROM tag GROUP BY tag ORDER BY count(*) DESC, tag",
    }
    names: dict[str, list[str]] = {}
    for kind, sql in statements.items():
        names[kind] = [str(name) for (name,) in store.rows(sql)]
    folder = shown_folder(store.folder)
    if not names["runs"]:
        return NotStoredError(
            f"{folder}: found a store without an evaluation; `idealrank evaluate ... --store "
            f"{folder}` adds one"
        )
    available = "; ".join(f"{kind}: {_some(found)}" for kind, found in names.items() if found)
    return NotStoredError(
        f"{folder}: found no evaluation{''.join(conditions)}; there are {available}"
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(map(shown, names[:_MOST_NAMES])) + more


def _check_place(store: Readable, evaluation: KeptEvaluation, place: int, measure: str) -> None:
    """Check the place of a measure against the record: the table may be damaged, and name an entry
    that is no evaluation.
    """
    measures: Any = evaluation.measures
    if (
        not isinstance(measures, list)
        or not 0 <= place < len(measures)
        or column_text(measures[place]["text"]) != measure
    ):
        raise damaged(store.folder, evaluation.id)


def _of_query(store: Readable, query: str, kept: Sequence[KeptEvaluation]) -> list[float]:
    """The value of one query in each evaluation. Checking the hash of each file takes nearly all of
    the time, so threads share it.
    """
    from idealrank.stats.randomness import in_order  # noqa: PLC0415  (threads cost 5 ms to load; most histories need none)

    # Evaluations of the same queries share one file of ids.
    row_in: dict[str, int | None] = {}
    for evaluation in kept:
        queries_file = evaluation.files["queries"]
        if queries_file not in row_in:
            ids = json.loads(store.files.read(queries_file, f"evaluation {evaluation.id}"))
            row_in[queries_file] = ids.index(query) if query in ids else None

    def values_of(block: int) -> list[float]:
        return [
            _value(store, evaluation, row_in[evaluation.files["queries"]])
            for evaluation in kept[block * _BLOCK : (block + 1) * _BLOCK]
        ]

    values: list[float] = []
    for values_of_block in in_order(values_of, math.ceil(len(kept) / _BLOCK), threads=None):
        values += values_of_block
    if all(row is None for row in row_in.values()):
        raise NotStoredError(
            f"query {shown(repr(query))}: found in none of {len(kept):,} evaluations; "
            "`idealrank store show ID --per-query` lists queries"
        )
    return values


def _value(store: Readable, evaluation: KeptEvaluation, row: int | None) -> float:
    whose = f"evaluation {evaluation.id}"
    # The file is read even without a row of the query, so that damage is reported.
    content = store.files.read(evaluation.files["values"], whose)
    values = view_array(content, "<f8", (evaluation.n_queries, len(evaluation.measures)), whose)
    return math.nan if row is None else float(values[row, evaluation.place])


def _judgments(kept: Sequence[KeptEvaluation]) -> Mapping[str, str]:
    """A short hash of the judgment files of each evaluation; empty without such files."""
    hashes: dict[str, str] = {}
    for evaluation in kept:
        files = [(input_file["name"], input_file["sha256"]) for input_file in evaluation.inputs]
        hashes[evaluation.id] = judgments_hash(files, evaluation.path or "")
    return hashes


def judgments_hash(files: Sequence[tuple[str, str]], run: str) -> str:
    """12 digits of the SHA-256 of all judgment files of an evaluation, whatever their names; empty
    where one is not known.
    """
    # Inputs list the run last, and a file of judgments may have its name.
    places_of_run = [place for place, (name, _) in enumerate(files) if run and name == run]
    last = max(places_of_run, default=-1)
    hashes = [sha256 for place, (_, sha256) in enumerate(files) if place != last]
    if not hashes or not all(hashes):
        return ""
    if len(hashes) == 1:
        return hashes[0][:12]
    return hashlib.sha256("".join(sorted(hashes)).encode()).hexdigest()[:12]


def _words(store: Readable, table: str, column: str) -> defaultdict[str, list[str]]:
    words: defaultdict[str, list[str]] = defaultdict(list)
    for key, word in store.rows(f"SELECT id, {column} FROM {table} ORDER BY id, {column}"):  # noqa: S608  (names of this file)
        words[key].append(word)
    return words
