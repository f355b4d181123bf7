"""Record of a result in a store: author, inputs and time; and the summary for lists of results."""

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, Literal, TypeAlias

import numpy as np

from idealrank.errors import OptionError, shown

Kind: TypeAlias = Literal["evaluation", "comparison", "gate"]


@dataclass(frozen=True, kw_only=True)
class Record:
    """Origin of a result, beyond its numbers.

    Attributes
    ----------
    command : str
        Command line. Absolute paths are shortened to their last part when it is stored.
    commit : str
        Commit of the git repository in which the command ran; empty outside a repository.
    dirty : bool or None
        Whether files of that repository had uncommitted changes; None if unknown.
    time : str
        UTC, ISO 8601, to the microsecond; if empty, the time of storing is used.
    tags, notes : tuple of str
        Tags and notes, free text.

    Examples
    --------
    >>> Record(tags=("release",), notes=("the new stemmer",)).commit
    ''
    """

    command: str = ""
    commit: str = ""
    dirty: bool | None = None
    time: str = ""
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Summary of a stored result.

    Attributes
    ----------
    id : str
        12 hexadecimal digits.
    kind : {"evaluation", "comparison", "gate"}
        Evaluation, comparison or gate.
    name : str
        Name of the run; for a comparison the names of its runs, joined by ``against``.
    means : mapping of str to (float or None)
        For an evaluation: means by the text of the measure; None if no query counts or the mean is
        not finite.
    n_queries : int or None
        Number of queries of an evaluation.
    convention, fingerprint : str
        Name and short hash of the convention.
    version : str
        Of the idealrank that computed it.
    parts : tuple of str
        For a comparison or a gate: ids of its evaluations.
    record : Record
        Origin: command, commit, time, tags, notes.

    Examples
    --------
    >>> Entry(id="3f2a9c41d07b", kind="evaluation", name="bm25").record.tags
    ()
    """

    id: str
    kind: Kind
    name: str
    means: Mapping[str, float | None] | None = None
    n_queries: int | None = None
    convention: str = ""
    fingerprint: str = ""
    version: str = ""
    parts: tuple[str, ...] = ()
    record: Record = Record()


def origin(entry: Entry) -> dict[str, Any]:
    """Describe an entry with the keys of ``idealrank store show --format json``."""
    record = entry.record
    return {
        "id": entry.id,
        "kind": entry.kind,
        "name": entry.name,
        "when": record.time,
        "command": record.command,
        "commit": record.commit,
        "changed": record.dirty,
        "tags": list(record.tags),
        "notes": list(record.notes),
        "parts": list(entry.parts),
    }


OUTSIDE = "a time outside the years 1 to 9999 in UTC"


def now() -> str:
    """The time, UTC, ISO 8601, to the microsecond, so that texts sort as times do."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def utc(text: str) -> str:
    """A time in ISO 8601 as a store has all of them, in UTC; one without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise OptionError(
            f"time {shown(repr(text))}: expected a date such as 2026-01-31, or a time in ISO 8601"
        ) from None
    try:
        in_utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return in_utc.isoformat(timespec="microseconds")
    except OverflowError:  # a zone can lie across the end of the calendar
        raise OptionError(
            f"time {shown(repr(text))}: found {OUTSIDE}, expected a date such as 2026-01-31, or a "
            "time in ISO 8601"
        ) from None


def file_name(path: str) -> str:
    r"""The last part of a path of any system."""
    return PureWindowsPath(path).name or PurePosixPath(path).name


# An absolute path after the start of a word, or after what parts words in an option:
# --output=/tmp/x, a:/b, [/tmp/x].
_ABSOLUTE = re.compile(
    r"(^|[=,:;\[({'\"\s])((?:file:)?(?:[A-Za-z]:[\\/]|\\\\|/|~[\w.-]*[\\/])[^=,;'\"\])}\s]+)"
)

# An option whose value is one absolute path, blanks and all: --output=/home/ann smith/x, -o/tmp/x.
_OPTION = re.compile(
    r"(--[\w-]+=|-\w)((?:file:)?(?:[A-Za-z]:[\\/]|\\\\|/|~[\w.-]*[\\/])[^,;:]*)$", re.DOTALL
)


def without_folders(text: str) -> str:
    """A text with every absolute path shortened to its last part; addresses of the web stay as they
    are.
    """
    if re.match(r"(?!file:)\w+://", text):
        return text
    if option := _OPTION.match(text):
        return option[1] + file_name(option[2])
    if text.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]|\\\\|file:", text):
        return file_name(text)
    return _ABSOLUTE.sub(lambda match: match[1] + file_name(match[2]), text)


def command_without_folders(command: str) -> str:
    """A command line with every absolute path in it shortened to its last part."""
    try:
        words = shlex.split(command)
    except ValueError:  # no line of a shell: a bracket of quotes is open
        words = command.split()
    return shlex.join(without_folders(word) for word in words)


def plain(value: Any) -> Any:
    """Return dicts and lists for JSON; None for values that are not finite. A file position is
    named without folders.
    """
    if isinstance(value, Mapping):
        record: dict[str, Any] = {}
        for name, part in value.items():
            is_position = name == "place" and isinstance(part, str)
            record[str(name)] = without_folders(part) if is_position else plain(part)
        return record
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as JSON takes them. Texts are freed of absolute paths; what is said by query stays,
    for ids and labels may look like paths.
    """
    values = plain(options)
    for name, value in values.items():
        if isinstance(value, str):
            values[name] = without_folders(value)
        elif isinstance(value, list):
            values[name] = [
                without_folders(part) if isinstance(part, str) else part for part in value
            ]
    return {**values}
