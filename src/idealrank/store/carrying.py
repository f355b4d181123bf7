"""One evaluation as one file, to go from store to store: a zip archive of its record and its value files, every hash checked."""

import hashlib
import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from idealrank.errors import InputError
from idealrank.store.adding import DIGITS, FORMAT, Adding
from idealrank.store.checking import check_evaluation, check_head, check_words
from idealrank.store.database import sync_folder, to_disk
from idealrank.store.encoding import Fields, array_head, canonical, read_array
from idealrank.store.files import Blob
from idealrank.store.record import Entry
from idealrank.store.sound import check_hits, check_ids, check_means, check_notes, check_record, check_texts

_RECORD, _WORDS = "record.json", "words.json"
_FILE = re.compile(r"[0-9a-f]{64}\.(npy|npz|json)")
_WHEN = (1980, 1, 1, 0, 0, 0)  # of every member, so that one evaluation is always the same file
# What is said of bytes that are no archive, or a damaged one; RuntimeError of one with a password.
_NO_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)
# Bytes that an archive may unpack to. Evaluations pack to a tenth at best, so one that wants more than this was made to fill memory.
_ROOM, _RATIO = 64 << 20, 100


def export(entry: Entry, fields: Fields, notes: list[tuple[str, str]], read: Callable[[str], bytes], path: Path) -> None:
    """Write an archive, under another name first.

    Raises
    ------
    InputError
        It cannot be written, or a value file is missing or damaged.
    """
    record = canonical(fields).encode()
    words = {"id": entry.id, "digest": hashlib.sha256(record).hexdigest(), "tags": list(entry.record.tags), "notes": notes}
    contents = {_RECORD: record, _WORDS: canonical(words).encode()}
    contents |= {name: read(name) for name in sorted(set(fields["files"].values()))}
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, content in contents.items():
                    archive.writestr(zipfile.ZipInfo(name, _WHEN), content, zipfile.ZIP_DEFLATED)
            file.flush()
            to_disk(file.fileno())
        unfinished.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def opened(path: Path) -> Adding:
    """What an archive holds, ready to be written into a store under the id it has.

    Raises
    ------
    InputError
        The file cannot be read, is damaged, or is none of ours.
    """
    try:
        return _checked(_contents(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _contents(path: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            for member in members:
                _check_member(member)
            _check_names([member.filename for member in members])
            _check_size(archive, path.stat().st_size)
            return {member.filename: archive.read(member) for member in members}
    except InputError:  # a ValueError, too, that has said what was found
        raise
    except _NO_ARCHIVE as error:
        raise _foreign(str(error) or type(error).__name__) from None


def _check_names(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise _foreign("one name twice in it")
    for name in (_RECORD, _WORDS):
        if name not in names:
            raise _foreign(f"no {name!r}")


def _check_member(member: zipfile.ZipInfo) -> None:
    if member.filename not in (_RECORD, _WORDS) and not _FILE.fullmatch(member.filename):
        raise InputError(f"found {member.filename!r} in it, expected a record and value files alone")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _foreign(f"{member.filename} packed in another way than stores do")


def _check_size(archive: zipfile.ZipFile, packed: int) -> None:
    """By the sizes that members say they have, of which unpacking gives no byte more."""
    size, most = sum(member.file_size for member in archive.infolist()), _ROOM + _RATIO * packed
    if size > most:
        raise InputError(f"found {size:,} bytes in it when unpacked, expected at most {most:,} of a file of {packed:,}")


def _checked(contents: dict[str, bytes]) -> Adding:
    """The parts of an archive, held against their hashes and against each other."""
    record, words = contents[_RECORD], _json(contents[_WORDS], _WORDS)
    check_words(words)
    digest = hashlib.sha256(record).hexdigest()
    if digest != words["digest"] or digest[:DIGITS] != words["id"]:
        raise InputError("found a record without the SHA-256 of its id, expected the one that was exported; export it again")
    fields = _json(record, _RECORD)
    check_head(fields)
    if fields["format"] > FORMAT:
        raise InputError(f"found a record of format {fields['format']}, expected {FORMAT} or earlier; upgrade idealrank")
    if fields["kind"] != "evaluation" or canonical(fields).encode() != record:
        raise InputError(f"found the record of one {fields['kind']}, expected one evaluation in its one spelling")
    check_evaluation(fields)
    check_record(fields)
    check_notes(words)
    names = set(fields["files"].values())
    if absent := sorted(names - set(contents)):
        raise _foreign(f"no {absent[0]!r}")
    files = {what: _blob(name, contents[name]) for what, name in fields["files"].items()}
    if set(contents) != {_RECORD, _WORDS, *names}:
        raise InputError("found files in it that its record does not name")
    _check_shapes(fields, files)
    return Adding("evaluation", fields, files, words["tags"], [(time, text) for time, text in words["notes"]])


def _json(content: bytes, name: str) -> Any:
    """What a member says; NaN and infinities, which Python reads and JSON does not have, are refused."""
    try:
        return json.loads(content, parse_constant=_no_json)
    except (ValueError, RecursionError) as error:
        raise _foreign(f"{name}: {error}") from None


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _foreign(found: str) -> InputError:
    return InputError(f"found {found}, expected an evaluation that a store exported; export it again")


def _blob(name: str, content: bytes) -> Blob:
    if hashlib.sha256(content).hexdigest() != name.partition(".")[0]:
        raise InputError(f"found {name} damaged: it does not have the SHA-256 of its name; export it again")
    return Blob(name, content)


def _check_shapes(fields: Fields, files: dict[str, Blob]) -> None:
    if absent := sorted({"queries", "values"} - set(files)):
        raise _foreign(f"no {absent[0]!r} among the files of its record")
    shape = fields["n_queries"], len(fields["measures"])
    values = read_array(files["values"].content, "<f8", shape, "its values")
    scored = read_array(files["scored"].content, "|b1", shape, "its values") if "scored" in files else np.ones(shape, np.bool_)
    queries = _json(files["queries"].content, "the queries")
    check_ids(queries, "queries")
    if len(queries) != shape[0] or len(fields["means"]) != shape[1]:
        raise InputError("found queries and means that do not go with its values, expected one of each query and of each measure")
    check_means(fields, values, scored)
    if "missing" in files:
        check_ids(_json(files["missing"].content, "the queries without an answer"), "queries without an answer")
    if "texts" in files:
        check_texts(_json(files["texts"].content, "the texts"), shape[0])
    if "hits" in files:
        _check_hits(files["hits"].content, queries)


def _check_hits(content: bytes, queries: list[str]) -> None:
    """Columns of any kind may stand in an archive with right hashes: what reading them says, whatever it is, is said of the file."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            _check_size(archive, len(content))
            for member in archive.infolist():
                with archive.open(member) as file:
                    array_head(file, member.file_size, f"its {member.filename}")
        check_hits(content, queries)
    except InputError:  # a ValueError, too, that has said what was found
        raise
    except (*_NO_ARCHIVE, LookupError, TypeError) as error:
        raise _foreign(f"hits that cannot be read ({error})") from None
