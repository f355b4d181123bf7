"""One evaluation as one file, to go from store to store: a zip archive of its record and its value
files, every hash checked.
"""

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from idealrank._files import appearing
from idealrank.errors import IdealrankError, InputError, shown
from idealrank.store.archive import Room, foreign, unpacked
from idealrank.store.database import sync_folder, to_disk
from idealrank.store.encoding import Fields, canonical
from idealrank.store.entries import DIGITS, FORMAT, Adding
from idealrank.store.record import Entry
from idealrank.store.validation import check_evaluation, check_head, check_words
from idealrank.store.value_file_checks import check_contents
from idealrank.store.value_files import Blob

_RECORD = "record.json"
_WORDS = "words.json"
_FILE = re.compile(r"[0-9a-f]{64}\.(npy|npz|json)")  # a value file, named by its SHA-256
_TIME = (1980, 1, 1, 0, 0, 0)  # of every member, so that one evaluation is always the same file


def export(
    entry: Entry,
    fields: Fields,
    notes: list[tuple[str, str]],  # Time and text of each
    read: Callable[[str], bytes],
    path: Path,
) -> None:
    """Write an archive, under another name first."""
    record = canonical(fields).encode()
    words = {
        "id": entry.id,
        "digest": hashlib.sha256(record).hexdigest(),
        "tags": list(entry.record.tags),
        "notes": notes,
    }
    contents = {_RECORD: record, _WORDS: canonical(words).encode()}
    contents |= {name: read(name) for name in sorted(set(fields["files"].values()))}
    try:
        with appearing(path) as unfinished:
            with unfinished.open("xb") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                    for name, content in contents.items():
                        archive.writestr(
                            zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED
                        )
                file.flush()
                to_disk(file.fileno())
            opened(unfinished, path)  # what no store would take in is not worth keeping
        sync_folder(path.parent)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def opened(path: Path, named: Path | None = None) -> Adding:
    """Return the content of an archive, ready to write into a store under its id."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise foreign("no file")
        with path.open("rb") as file:
            return _checked(file)
    except OSError as error:
        raise InputError(f"{named or path}: cannot be read: {error.strerror or error}") from None
    except IdealrankError as error:
        raise InputError(f"{named or path}: {error}") from None


def _checked(file: BinaryIO) -> Adding:
    """The parts of an archive, checked against their hashes and against each other."""
    room = Room(os.fstat(file.fileno()).st_size)
    contents = unpacked(file, _is_member, room)
    for name in (_RECORD, _WORDS):
        if name not in contents:
            raise foreign(f"no {name!r}")
        room.take_json(contents[name])
    record = contents[_RECORD]
    words = _json(contents[_WORDS], _WORDS)
    check_words(words)
    digest = hashlib.sha256(record).hexdigest()
    if digest != words["digest"] or digest[:DIGITS] != words["id"]:
        raise InputError(
            "found a record without the SHA-256 of its id, expected the exported record; export it "
            "again"
        )
    try:
        return _consistent(_json(record, _RECORD), words, contents, room)
    except IdealrankError as error:
        raise InputError(f"evaluation {words['id']}: {error}") from None


def _is_member(name: str) -> bool:
    return name in (_RECORD, _WORDS) or _FILE.fullmatch(name) is not None


def _consistent(fields: Any, words: Fields, contents: dict[str, bytes], room: Room) -> Adding:
    """The entry of a record, the words about it and value files that fit together."""
    check_head(fields)
    if not 1 <= fields["format"] <= FORMAT:
        raise InputError(
            f"found a record of format {fields['format']}, expected {FORMAT} or earlier; upgrade "
            "idealrank"
        )
    if fields["kind"] != "evaluation" or not _is_canonical(fields, contents[_RECORD]):
        raise InputError(
            f"found the record of one {shown(fields['kind'])}, expected one evaluation in its one "
            "spelling; export it again"
        )
    measures = check_evaluation(fields)
    names = set(fields["files"].values())
    if absent := sorted(names - set(contents)):
        raise foreign(f"no {absent[0]!r}")
    files = {role: _blob(name, contents[name]) for role, name in fields["files"].items()}
    if set(contents) != {_RECORD, _WORDS, *names}:
        raise foreign("files in it that its record does not name")
    check_contents(fields, {role: blob.content for role, blob in files.items()}, measures, room)
    return Adding(
        kind="evaluation",
        fields=fields,
        files=files,
        tags=words["tags"],
        notes=[(time, text) for time, text in words["notes"]],
    )


def _is_canonical(fields: Fields, record: bytes) -> bool:
    try:
        return canonical(fields).encode() == record
    except (ValueError, RecursionError):  # NaN, or nesting too deep
        return False


def _json(content: bytes, name: str) -> Any:
    """Parse a member as JSON; NaN and infinities, which Python accepts and JSON lacks, are
    refused.
    """
    try:
        return json.loads(content, parse_constant=_no_json)
    except (ValueError, RecursionError) as error:
        raise foreign(f"{name} that is no JSON of a store: {shown(error)}") from None


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _blob(name: str, content: bytes) -> Blob:
    if hashlib.sha256(content).hexdigest() != name.partition(".")[0]:
        raise InputError(f"{name} is damaged: its SHA-256 is not that of its name; export it again")
    return Blob(name, content)
