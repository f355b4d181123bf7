"""Files of click logs: columns by their usual names, from CSV, TSV, JSON lines, Parquet and
Arrow.
"""

import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from idealrank.clicks import LogRows
from idealrank.data.types import FloatArray
from idealrank.errors import FileFormatError, InputError, OptionError, shown
from idealrank.io.checked_cells import parse_number
from idealrank.io.complaints import Notes, Tell
from idealrank.io.formats.delimited import rows_in_batches, sniff_delimiter
from idealrank.io.record_files import (
    Choose,
    columnar_records,
    is_columnar,
    json_records,
    line_records,
)
from idealrank.io.sources import BYTE_ORDER_MARK, Paths, Source, open_sources
from idealrank.io.table_columns import parse_roles

_HEAD = 1 << 16  # bytes of a file that tell its layout
_YANDEX = re.compile(rb"\d+\t\d+\tQ\t\d+\t\d+(\t\d+)+\r?(\n|$)")
_YANDEX_CLICK = re.compile(rb"\d+\t\d+\tC\t\d+\r?")
_TRUE = ("true", "yes", "t")
_FALSE = ("false", "no", "f", "")


@dataclass(frozen=True, kw_only=True)
class LogField:
    """A column of a log: its role, the names it usually has, whether a log may lack it, and a
    second name of the role for options.
    """

    role: str
    words: tuple[str, ...]
    required: bool = True
    is_number: bool = False
    second_role: str | None = None


SESSION = LogField(
    role="session",
    words=(
        "session",
        "session_id",
        "sessionid",
        "search_id",
        "impression_id",
        "request_id",
        "query_response_id",
    ),
)
SHOWN = (
    SESSION,
    LogField(
        role="query",
        words=("query", "query_id", "qid", "user_query", "query_text", "term", "keywords"),
    ),
    LogField(
        role="document",
        words=(
            "document",
            "document_id",
            "doc",
            "doc_id",
            "docid",
            "item",
            "item_id",
            "object_id",
            "url",
        ),
    ),
    LogField(role="rank", words=("rank", "position", "ordinal", "pos"), is_number=True),
    LogField(role="click", words=("click", "clicked", "clicks", "is_click"), is_number=True),
    LogField(role="user", words=("user", "user_id", "userid", "client_id"), required=False),
    LogField(
        role="propensity",
        words=("propensity", "propensity_score", "pscore", "logged_probability"),
        required=False,
        is_number=True,
    ),
    LogField(role="action", words=("action", "action_name", "event"), required=False),
    LogField(
        role="dwell", words=("dwell", "dwell_time", "dwell_seconds"), required=False, is_number=True
    ),
    LogField(role="time", words=("time", "timestamp"), required=False, is_number=True),
)
COHORT = LogField(role="cohort", words=("cohort", "arm", "variant", "group"))
COVARIATE = LogField(
    role="covariate", words=("covariate", "before"), required=False, is_number=True
)
PERIOD = LogField(role="period", words=("period", "day", "week"), required=False)
COHORT_LOG = (*SHOWN, COHORT, COVARIATE, PERIOD)
REWARDS = (
    LogField(role="reward", words=("reward", "click", "clicked", "rewards"), is_number=True),
    LogField(
        role="logged",
        words=("logged_probability", "propensity", "propensity_score", "pscore", "logged"),
        is_number=True,
    ),
    LogField(role="target", words=("target_probability", "target"), is_number=True),
    LogField(
        role="target_b", words=("target_b", "target_probability_b"), required=False, is_number=True
    ),
    LogField(
        role="cluster",
        words=("cluster", "user", "user_id", "session", "session_id"),
        required=False,
        second_role="user",
    ),
    LogField(role="predicted_logged", words=("predicted_logged",), required=False, is_number=True),
    LogField(role="predicted_target", words=("predicted_target",), required=False, is_number=True),
    LogField(
        role="predicted_target_b", words=("predicted_target_b",), required=False, is_number=True
    ),
)
SLATES = (
    LogField(role="session", words=("list", "list_id", *SESSION.words)),
    LogField(role="rank", words=("rank", "position", "ordinal", "pos"), is_number=True),
    *(field for field in REWARDS if field.role in ("reward", "logged", "target", "target_b")),
    LogField(
        role="cluster", words=("cluster", "user", "user_id"), required=False, second_role="user"
    ),
)
PROPENSITIES = (
    LogField(role="rank", words=("rank", "position"), is_number=True),
    LogField(role="propensity", words=("propensity", "slope"), is_number=True),
    LogField(role="offset", words=("offset",), required=False, is_number=True),
)
OUTCOMES = (
    LogField(role="preference", words=("preference", "outcome", "delta"), is_number=True),
    LogField(role="user", words=("user", "user_id", "userid", "client_id"), required=False),
)
EXPERIMENT = (
    LogField(role="value", words=("value", "clicks", "reward"), is_number=True),
    COHORT,
    LogField(role="user", words=("user", "user_id", "userid", "client_id"), required=False),
    LogField(role="denominator", words=("denominator",), required=False, is_number=True),
    COVARIATE,
    PERIOD,
)


def read_log(
    path: Paths,
    *,
    columns: Mapping[str, str] | None = None,
    cohorts: bool = False,
    tell: Tell | None = None,
) -> LogRows:
    r"""Read a log of results shown: one row for each, clicked or not."""
    by_role = read_columns(path, COHORT_LOG if cohorts else SHOWN, columns=columns, tell=tell)
    return LogRows(
        session=by_role["session"],
        query=by_role["query"],
        document=by_role["document"],
        rank=by_role["rank"],
        click=by_role["click"],
        user=by_role.get("user"),
        propensity=by_role.get("propensity"),
        action=by_role.get("action"),
        dwell=by_role.get("dwell"),
        time=by_role.get("time"),
        cohort=by_role.get("cohort"),
        covariate=by_role.get("covariate"),
        period=by_role.get("period"),
    )


def log_columns(
    text: str, fields: Sequence[LogField], option: str = "--columns"
) -> dict[str, str] | None:
    """Column names by the roles of some fields, as `parse_roles` reads them; None for an empty
    text.
    """
    if not text:
        return None
    role_of_second = {
        field.second_role: field.role for field in fields if field.second_role is not None
    }
    name_of_role = parse_roles(text, [*(field.role for field in fields), *role_of_second], option)
    for second, role in role_of_second.items():
        if second in name_of_role and role in name_of_role:
            raise OptionError(
                f"{option} {text}: found {role} and {second}, expected one of them; both are the "
                f"role {role}"
            )
    return {role_of_second.get(role, role): name for role, name in name_of_role.items()}


def read_columns(
    path: Paths,
    fields: Sequence[LogField],
    *,
    columns: Mapping[str, str] | None = None,
    tell: Tell | None = None,
) -> dict[str, Any]:
    r"""Read the columns of some fields: lists of texts, and arrays of numbers, by role."""
    unknown = sorted(set(columns or {}) - {field.role for field in fields})
    if unknown:
        raise OptionError(
            f"columns: found {', '.join(map(repr, unknown))}, expected some of "
            f"{', '.join(field.role for field in fields)}"
        )
    by_role: dict[str, Any] = {}
    for source in open_sources(path, Notes(tell)):
        for role, values in _columns_of(source, fields, columns or {}).items():
            if role in by_role:
                by_role[role].extend(values)
            else:
                by_role[role] = values
    if "period" in by_role:
        by_role["period"] = period_numbers(by_role["period"], tell)
    return {
        role: np.array(values) if isinstance(values, array) else values
        for role, values in by_role.items()
    }


def period_numbers(texts: Sequence[str], tell: Tell | None = None) -> FloatArray:
    """Numbers of periods: as they stand, or days from the first one, day 1, if they are dates."""
    distinct = dict.fromkeys(texts)
    days: dict[str, float | None] = {text: _day(text) for text in distinct}
    numbers: dict[str, float | None] = {text: parse_number(text) for text in distinct}
    # 20261130 is a number and a date: a column is of dates if all of it may be, or if it starts
    # with what is no number.
    are_dates = None not in days.values() or numbers[texts[0]] is None
    number_of = days if are_dates else numbers
    other_number_of = numbers if are_dates else days
    wrong = next((text for text in distinct if not _is_finite(number_of[text])), None)
    if wrong is not None:
        expected = "numbers in all rows, or dates in all rows"
        if other_number_of[wrong] is None:
            expected = "a number, or a date such as 2026-11-30"
        raise InputError(
            f"period, row {list(texts).index(wrong) + 1}: found {shown(repr(wrong))}, expected "
            f"{expected}"
        )
    row_periods = np.array([number_of[text] for text in texts], np.float64)
    if are_dates:
        Notes(tell).inform(f"period: day 1 is {date.fromordinal(int(row_periods.min()))}")
        row_periods += 1 - row_periods.min()
    return row_periods


def _is_finite(number: float | None) -> bool:
    return number is not None and math.isfinite(number)


def _day(text: str) -> int | None:
    """Number of the day of a date or time, as it is written, whatever its zone; None if it is
    none.
    """
    try:
        return datetime.fromisoformat(text).toordinal()
    except ValueError:
        return None


def _columns_of(
    source: Source, fields: Sequence[LogField], column_names: Mapping[str, str]
) -> dict[str, Any]:
    """Columns of a file that is read row by row; numbers take 8 bytes each, and equal texts are
    stored once.
    """
    if fields is SHOWN and not column_names and _YANDEX.match(bytes(source.data[:_HEAD])):
        return _yandex_columns(source)
    chosen: dict[str, str] = {}
    columns: dict[str, Any] = {}
    field_of = {field.role: field for field in fields}
    texts: dict[str, str] = {}
    for values, line in _rows(source, fields, column_names, chosen):
        for role, value in zip(chosen, values, strict=True):
            is_number = field_of[role].is_number
            if role not in columns:
                columns[role] = array("d") if is_number else []
            if is_number:
                columns[role].append(_number(value, role, source.path, line))
            else:
                text = _text(value)
                columns[role].append(texts.setdefault(text, text))
    source.refuse_cut()
    if not columns:
        raise FileFormatError(
            source.path, 0, "no row", "a header line, and a row for each result shown"
        )
    return columns


def _yandex_columns(source: Source) -> dict[str, Any]:
    """Columns of lines of the Yandex challenge; each list is a session of its own, numbered within
    its session.
    """
    columns: dict[str, Any] = {
        "session": [],
        "query": [],
        "document": [],
        "rank": array("d"),
        "click": array("d"),
    }
    session = ""
    n_lists = 0
    row_of_url: dict[str, int] = {}  # row of the last result with this URL
    texts: dict[str, str] = {}
    for number, ended in enumerate(source.open(), 1):
        line = ended.removesuffix(b"\n")
        if not (_YANDEX.fullmatch(line) or _YANDEX_CLICK.fullmatch(line)):
            text = shown(repr(line.decode(errors="backslashreplace")))
            raise FileFormatError(
                source.path,
                number,
                text,
                "SESSION TIME Q QUERY REGION URL ..., or SESSION TIME C URL, all whole numbers",
            )

        line_session, _, kind, subject, *rest = line.decode().split()
        if line_session != session:
            session = line_session
            n_lists = 0
            row_of_url = {}
        if kind == "Q":  # the subject is the query; then come a region and the results
            n_lists += 1
            documents = [texts.setdefault(document, document) for document in rest[1:]]
            first = len(columns["click"])
            size = len(documents)
            row_of_url.update(zip(documents, range(first, first + size), strict=True))
            columns["session"].extend([f"{session}.{n_lists}"] * size)
            columns["query"].extend([texts.setdefault(subject, subject)] * size)
            columns["document"].extend(documents)
            columns["rank"].extend(range(1, size + 1))
            columns["click"].extend([0.0] * size)
        elif subject in row_of_url:  # the subject is the result clicked
            columns["click"][row_of_url[subject]] = 1.0
        else:
            raise FileFormatError(
                source.path,
                number,
                f"a click on {subject}",
                f"a result of a list of session {session} above",
            )
    source.refuse_cut()
    return columns


def _rows(
    source: Source,
    fields: Sequence[LogField],
    column_names: Mapping[str, str],
    chosen: dict[str, str],
) -> Iterator[tuple[Sequence[Any], int]]:
    """Values of the chosen columns, row by row, with the line; `chosen` is filled with the column
    of each role before the first row.
    """
    start = bytes(source.data[:_HEAD]).removeprefix(BYTE_ORDER_MARK).lstrip()

    def choose(names: Sequence[str]) -> Sequence[str]:
        chosen.update(_choose(source.path, names, fields, column_names))
        return list(chosen.values())

    if is_columnar(start):
        for number, record in enumerate(columnar_records(source, choose)):
            yield [record.fields[name] for name in chosen.values()], number
    elif start[:1] in (b"{", b"["):
        yield from _record_rows(source, is_lines=start[:1] == b"{", choose=choose)
    else:
        yield from _text_rows(source, choose)


def _record_rows(
    source: Source, *, is_lines: bool, choose: Choose
) -> Iterator[tuple[Sequence[Any], int]]:
    if is_lines:
        records = line_records(source.open(), source.path)
    else:
        records = json_records(source.read(), source.path, "", "", "an array of records")
    names: Sequence[str] = ()
    for record in records:
        names = names or choose(list(record.fields))
        missing = next((name for name in names if name not in record.fields), None)
        if missing is not None:
            raise FileFormatError(
                record.place, record.line, f"no field {missing!r}", "all fields of the first record"
            )
        yield [record.fields[name] for name in names], record.line


def _text_rows(source: Source, choose: Choose) -> Iterator[tuple[Sequence[Any], int]]:
    batches = rows_in_batches(source, sniff_delimiter(source))
    header, _ = next(batches, ([], None))
    names = [name.strip() for name in header[0]] if header else []
    places = [names.index(name) for name in choose(names)]
    for rows, lines in batches:
        for row, line in zip(rows, lines.tolist(), strict=True):
            if len(row) != len(names):
                raise FileFormatError(
                    source.path, line, f"{len(row)} cells", f"{len(names)}, as in the header line"
                )
            yield [row[place] for place in places], line


def _choose(
    path: str, names: Sequence[str], fields: Sequence[LogField], column_names: Mapping[str, str]
) -> dict[str, str]:
    """The column of each field: as named, or the first of its usual names that stands there."""
    chosen: dict[str, str] = {}
    name_of_word = {name.strip().lower(): name for name in reversed(names)}
    for field in fields:
        name = column_names.get(field.role)
        if name is not None:
            if name not in names:
                raise FileFormatError(
                    path,
                    1,
                    f"columns {', '.join(map(repr, names))}",
                    f"one column {name!r} for the {field.role}",
                )
            chosen[field.role] = name
            continue
        free = {word: name for word, name in name_of_word.items() if name not in chosen.values()}
        word = next((word for word in field.words if word in free), None)
        if word is not None:
            chosen[field.role] = free[word]
        elif field.required:
            missing = f"no column for {field.role} among {', '.join(map(repr, names))}"
            raise FileFormatError(
                path,
                1,
                missing,
                f"one named {' or '.join(field.words)}",
                f"name it with columns={{'{field.role}': ...}}",
                command_hint=f"name it with --columns {field.role}=NAME",
            )
    return chosen


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _number(value: Any, role: str, path: str, line: int) -> float:
    if isinstance(value, (bool, int, float)):
        return float(value)
    word = _text(value).lower()
    if role in ("click", "reward") and word in (*_TRUE, *_FALSE):
        return float(word in _TRUE)
    if role == "dwell" and not word:
        return 0.0  # a result without a click
    number = parse_number(word)
    if number is None and role == "time":
        number = _seconds(value)
    if number is None:
        raise FileFormatError(
            path,
            line,
            f"{role} {shown(repr(value))}",
            "seconds, or a time of ISO 8601" if role == "time" else "a number",
        )
    return number


def _seconds(value: Any) -> float | None:
    """Seconds since 1970 of a time of ISO 8601, in UTC where it names no zone; None if it is
    none.
    """
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(_text(value))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def reward_columns(columns: Mapping[str, Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rewards, probabilities of the target policy, and of the logging policy, in the order of
    `idealrank.clicks.ips`.
    """
    return columns["reward"], columns["target"], columns["logged"]
