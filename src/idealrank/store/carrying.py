"""One evaluation as one file, to go from store to store: a zip archive of its record and its value files, every hash checked."""

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from idealrank.errors import InputError
from idealrank.store.adding import DIGITS, FORMAT, Adding
from idealrank.store.checking import check_evaluation
from idealrank.store.database import sync_folder, to_disk
from idealrank.store.encoding import Fields, canonical, read_array, read_hits
from idealrank.store.files import Blob
from idealrank.store.record import Entry

_RECORD, _WORDS = "record.json", "words.json"
_FILE = re.compile(r"[0-9a-f]{64}\.(npy|npz|json)")
_WHEN = (1980, 1, 1, 0, 0, 0)  # of every member, so that one evaluation is always the same file
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
        with zipfile.ZipFile(path) as archive:
            _check_size(archive)
            contents = {one.filename: _content(archive, one) for one in archive.infolist()}
        return _checked(contents)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: found {_said(error)}, expected an evaluation that a store exported; export it again") from None
    except Exception as error:
        if type(error).__module__ == "zlib":
            raise InputError(f"{path}: found {error}, expected an evaluation that a store exported; export it again") from None
        raise


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.filename not in (_RECORD, _WORDS) and not _FILE.fullmatch(member.filename):
        raise InputError(f"found {member.filename!r} in it, expected a record and value files alone")
    return archive.read(member)


def _check_size(archive: zipfile.ZipFile) -> None:
    size = sum(member.file_size for member in archive.infolist())
    if size > _LARGEST:
        raise InputError(f"found {size:,} bytes in it when unpacked, expected less than {_LARGEST:,}")


def _checked(contents: dict[str, bytes]) -> Adding:
    """The parts of an archive, held against their hashes and against each other."""
    record, words = contents[_RECORD], json.loads(contents[_WORDS])
    digest = hashlib.sha256(record).hexdigest()
    if digest != words["digest"] or digest[:DIGITS] != words["id"]:
        raise InputError("found a record without the SHA-256 of its id, expected the one that was exported; export it again")
    fields = json.loads(record)
    if fields["format"] > FORMAT:
        raise InputError(f"found a record of format {fields['format']}, expected {FORMAT} or earlier; upgrade idealrank")
    if fields["kind"] != "evaluation" or canonical(fields).encode() != record:
        raise InputError(f"found the record of one {fields['kind']}, expected one evaluation in its one spelling")
    check_evaluation(fields)
    files = {what: _blob(name, contents[name]) for what, name in fields["files"].items()}
    if set(contents) != {_RECORD, _WORDS, *fields["files"].values()}:
        raise InputError("found files in it that its record does not name")
    _check_shapes(fields, files)
    tags, notes = [str(tag) for tag in words["tags"]], [(str(time), str(text)) for time, text in words["notes"]]
    return Adding("evaluation", fields, files, tags, notes)


def _blob(name: str, content: bytes) -> Blob:
    if hashlib.sha256(content).hexdigest() != name.partition(".")[0]:
        raise InputError(f"found {name} damaged: it does not have the SHA-256 of its name; export it again")
    return Blob(name, content)


def _check_shapes(fields: Fields, files: dict[str, Blob]) -> None:
    shape = fields["n_queries"], len(fields["measures"])
    read_array(files["values"].content, "<f8", shape, "it")
    if "scored" in files:
        read_array(files["scored"].content, "|b1", shape, "it")
    queries: Any = json.loads(files["queries"].content)
    if len(queries) != shape[0] or not all(isinstance(query, str) for query in queries) or len(fields["means"]) != shape[1]:
        raise InputError("found queries and means that do not go with its values")
    if "hits" in files:
        with zipfile.ZipFile(BytesIO(files["hits"].content)) as archive:
            _check_size(archive)
        read_hits(files["hits"].content, queries)


def _said(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
