"""One evaluation as one file, to go from store to store: a zip archive of its record and its value files, every hash checked."""

import hashlib
import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

from idealrank.errors import InputError
from idealrank.store.adding import DIGITS, FORMAT, Adding
from idealrank.store.checking import check_evaluation, check_head, check_words
from idealrank.store.database import sync_folder, to_disk
from idealrank.store.encoding import Fields, canonical, read_array, read_hits
from idealrank.store.files import Blob
from idealrank.store.record import Entry

_RECORD, _WORDS = "record.json", "words.json"
_FILE = re.compile(r"[0-9a-f]{64}\.(npy|npz|json)")
_WHEN = (1980, 1, 1, 0, 0, 0)  # of every member, so that one evaluation is always the same file
# What is said of bytes that are no archive, or a damaged one; RuntimeError of one with a password.
_NO_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)
_LARGEST = 1 << 32  # bytes of all members; more is no evaluation but an archive made to fill a disk or memory


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
            _check_size(archive)
            return {one.filename: _content(archive, one) for one in archive.infolist()}
    except InputError:  # a ValueError, too, that has said what was found
        raise
    except _NO_ARCHIVE as error:
        raise _foreign(str(error) or type(error).__name__) from None


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.filename not in (_RECORD, _WORDS) and not _FILE.fullmatch(member.filename):
        raise InputError(f"found {member.filename!r} in it, expected a record and value files alone")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _foreign(f"{member.filename} packed in another way than stores do")
    return archive.read(member)


def _check_size(archive: zipfile.ZipFile) -> None:
    size = sum(member.file_size for member in archive.infolist())
    if size > _LARGEST:
        raise InputError(f"found {size:,} bytes in it when unpacked, expected less than {_LARGEST:,}")


def _checked(contents: dict[str, bytes]) -> Adding:
    """The parts of an archive, held against their hashes and against each other."""
    for name in (_RECORD, _WORDS):
        if name not in contents:
            raise _foreign(f"no {name!r}")
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
    for what, kind in (("values", "<f8"), ("scored", "|b1")):
        if what in files:
            _check_array(files[what].content, kind, shape)
    queries = _json(files["queries"].content, "the queries")
    is_list = isinstance(queries, list) and all(isinstance(query, str) for query in queries)
    if not is_list or len(queries) != shape[0] or len(fields["means"]) != shape[1]:
        raise InputError("found queries and means that do not go with its values, expected one of each query and of each measure")
    if "hits" in files:
        _check_hits(files["hits"].content, queries)


def _check_array(content: bytes, kind: str, shape: tuple[int, int]) -> None:
    try:
        read_array(content, kind, shape, "it")
    except InputError:  # a ValueError, too, that has said what was found
        raise
    except (ValueError, EOFError) as error:
        raise _foreign(f"values that NumPy cannot read ({error})") from None


def _check_hits(content: bytes, queries: list[str]) -> None:
    """Columns of any kind may stand in an archive with right hashes: what reading them says, whatever it is, is said of the file."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            _check_size(archive)
        read_hits(content, queries)
    except InputError:  # a ValueError, too, that has said what was found
        raise
    except (*_NO_ARCHIVE, LookupError, TypeError) as error:
        raise _foreign(f"hits that cannot be read ({error})") from None
