"""Questions to git about an untrusted working copy, so that no program that the copy names is run.

git never compares the content of files here, because it converts them by the filters of the copy's
own configuration. It lists what is tracked, and this module compares the files.
"""

import hashlib
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

# What a configuration can make git run on the way to an answer. Hooks, monitors and signatures are
# switched off here.
_OFF = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "log.showSignature=false")
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # the index is only read
    # a copy with objects left out would fetch them, by any command as transport
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# What `ask_git` may ask. Nothing here calls `status`, `diff`, `add` or `hash-object`, which run
# filters; `_WorkingCopy` also asks for the index, attributes and settings, which runs none.
_COMMANDS = frozenset({"cat-file", "log", "rev-list", "rev-parse"})


def ask_git(
    *words: str, folder: str | Path = ".", input_text: str = "", seconds: float | None = None
) -> "subprocess.CompletedProcess[str]":
    """Return git's answer in a folder.

    Raises FileNotFoundError without git, and `subprocess.TimeoutExpired` after so many seconds.
    """
    if words[0] not in _COMMANDS:
        raise ValueError(f"found git {words[0]}, expected one of {', '.join(sorted(_COMMANDS))}")
    done = _run(words, os.fsencode(folder), input_text.encode("utf-8", "replace"), seconds)
    streams = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, *streams)


def _run(
    words: Sequence[str | bytes],
    folder: bytes,
    input_bytes: bytes = b"",
    seconds: float | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    git = shutil.which("git")
    if git is None:
        raise FileNotFoundError(2, os.strerror(2), "git")
    settings = chain.from_iterable(("-c", setting) for setting in _OFF)
    command = [git, "-C", os.fsdecode(folder), "--no-pager", *settings, *map(os.fsdecode, words)]
    environment = os.environ | _ENVIRONMENT
    return subprocess.run(  # noqa: S603  (no shell)
        command,
        input=input_bytes,
        capture_output=True,
        timeout=seconds,
        check=False,
        env=environment,
    )


def has_changes(folder: str | Path = ".", *, seconds: float = 10) -> bool | None:
    """Return whether tracked files of a working copy differ from the commit that is checked out;
    None if that is unknown: no repository, no time left, or a filter of its own.
    """
    # A file counts as unchanged if the index has its times and size, or if its blob is the
    # committed one: as it is, with the line ends of the repository, or as a pointer of Git LFS.
    copy = _WorkingCopy(os.fsencode(folder), time.monotonic() + seconds)
    try:
        return copy.differs()
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


class _Tracked(NamedTuple):
    """A line of the index; times in seconds and nanoseconds."""

    tag: bytes
    mode: int
    blob: str
    stage: int
    path: bytes
    changed: tuple[int, int]
    modified: tuple[int, int]
    size: int


# modes of entries, and the bit of files that the owner may execute
_LINK = 0o120000
_SUBMODULE = 0o160000
_EXECUTABLE = 0o100
_WORD = 1 << 32  # times and sizes of the index have 32 bits
_PIECE = 1 << 20  # bytes that are read at a time
# An entry of the index: tag, mode, blob, stage and path, then times and size from the debug lines.
_ENTRY = re.compile(
    rb"(\S) ([0-7]+) ([0-9a-f]+) ([0-3])\t([^\0]+)\0"
    rb"  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: \d+\tino: \d+\n  uid: \d+\tgid: "
    rb"\d+\n  size: (\d+)\tflags: \w+\n"
)
_CONVERSIONS = ("filter", "text", "eol", "ident", "working-tree-encoding")
_NO_CONVERSION = (b"unspecified", b"unset")


class _WorkingCopy:
    """Compares the files of a working copy with its commit."""

    def __init__(self, folder: bytes, deadline: float) -> None:
        self._root = folder
        self._deadline = deadline
        self._is_real_folder = cache(lambda parent: os.path.realpath(parent) == parent)

    def differs(self) -> bool | None:
        """True if a file differs, None if that is unknown."""
        self._root = os.path.realpath(self._ask("rev-parse", "--show-toplevel").removesuffix(b"\n"))
        staged = self._answer(
            "diff-index",
            "--cached",
            "--quiet",
            "--no-ext-diff",
            "--ignore-submodules=dirty",
            "HEAD",
        )
        if staged.returncode not in (0, 1):
            raise ValueError(staged.stderr)
        if staged.returncode == 1:
            return True
        converted = []
        for entry in _tracked(self._ask("ls-files", "-v", "-z", "--stage", "--debug")):
            state = self._state(entry)
            if state == "changed":
                return True
            if state == "other blob":
                converted.append(entry)
        return self._conversions_differ(converted)

    def _answer(
        self, *words: str, input_bytes: bytes = b""
    ) -> "subprocess.CompletedProcess[bytes]":
        return _run(words, self._root, input_bytes, self._seconds_left())

    def _ask(self, *words: str, input_bytes: bytes = b"") -> bytes:
        done = self._answer(*words, input_bytes=input_bytes)
        if done.returncode:
            raise ValueError(done.stderr)
        return done.stdout

    def _seconds_left(self) -> float:
        """Seconds until the deadline; raise TimeoutError after it."""
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds

    @cached_property
    def _index_time(self) -> int:
        """Return when the index was written: a file of the same second may have changed since, with
        the same times.
        """
        path = self._ask("rev-parse", "--git-path", "index").removesuffix(b"\n")
        return int(os.stat(os.path.join(self._root, path)).st_mtime)  # noqa: PTH116, PTH118  (bytes)

    @cached_property
    def _modes_count(self) -> bool:
        return self._setting("core.fileMode") != b"false"

    @cached_property
    def _has_links(self) -> bool:
        return self._setting("core.symlinks") != b"false"

    def _setting(self, name: str) -> bytes:
        """Value of the configuration; empty without one."""
        return self._answer("config", "--get", name).stdout.strip().lower()

    def _state(self, entry: _Tracked) -> str:
        """`same`, `changed`, or `other blob` where only a conversion of the content can make it the
        same.
        """
        self._seconds_left()
        if entry.stage:
            return "changed"  # a conflict
        if entry.tag == b"S" or entry.tag.islower():
            return "same"  # outside a sparse checkout, or assumed to be unchanged
        path = self._path_of(entry)
        try:
            status = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return "changed"
        if not self._is_real_folder(os.path.dirname(path)):  # noqa: PTH120
            return "changed"  # below a symbolic link
        if entry.mode == _SUBMODULE:
            return "changed" if self._is_other_commit(path, entry.blob) else "same"
        return self._state_of_file(entry, path, status)

    def _path_of(self, entry: _Tracked) -> bytes:
        return os.path.join(self._root, entry.path.replace(b"/", os.fsencode(os.sep)))  # noqa: PTH118

    def _is_other_commit(self, path: bytes, commit: str) -> bool:
        """True if a submodule has another commit checked out. One without a checkout has the commit
        of the index.
        """
        git = os.path.join(path, b".git")  # noqa: PTH118
        if not os.path.lexists(git):
            return False
        done = self._answer(f"--git-dir={os.fsdecode(git)}", "rev-parse", "--verify", "HEAD")
        return done.returncode == 0 and done.stdout.strip() != commit.encode()

    def _state_of_file(self, entry: _Tracked, path: bytes, status: os.stat_result) -> str:
        is_written_link = (
            entry.mode == _LINK and stat.S_ISREG(status.st_mode) and not self._has_links
        )
        if stat.S_IFMT(status.st_mode) != stat.S_IFMT(entry.mode) and not is_written_link:
            return "changed"
        if (
            stat.S_ISREG(entry.mode)
            and (entry.mode ^ status.st_mode) & _EXECUTABLE
            and self._modes_count
        ):
            return "changed"
        size = status.st_size % _WORD
        changed = _split(status.st_ctime_ns)
        modified = _split(status.st_mtime_ns)
        has_times = entry.changed == changed and entry.modified == modified
        seconds, _ = entry.modified
        if has_times and entry.size == size and seconds < self._index_time:
            return "same"
        if entry.size and entry.size != size:
            return "changed"
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(path)  # noqa: PTH115
            return "same" if _is_blob(entry.blob, len(target), [target]) else "changed"
        return "same" if _is_blob(entry.blob, status.st_size, self._pieces(path)) else "other blob"

    def _pieces(self, path: bytes) -> Iterator[bytes]:
        """Content of a file, piece by piece."""
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            while piece := file.read(_PIECE):
                self._seconds_left()
                yield piece

    def _conversions_differ(self, entries: Sequence[_Tracked]) -> bool | None:
        """Return whether a file differs from its blob after the conversion of its attributes; None
        if one of them is unknown.
        """
        if not entries:
            return False
        paths = b"".join(entry.path + b"\0" for entry in entries)
        answer = self._ask("check-attr", "-z", "--stdin", *_CONVERSIONS, input_bytes=paths)
        # For each path and attribute: path, attribute, value.
        values = iter(answer.split(b"\0")[2::3])
        is_unknown = False
        for entry in entries:
            attributes = {name: next(values) for name in _CONVERSIONS}
            differs = self._differs_converted(entry, attributes)
            if differs:
                return True
            is_unknown = is_unknown or differs is None
        return None if is_unknown else False

    def _differs_converted(self, entry: _Tracked, attributes: dict[str, bytes]) -> bool | None:
        path = self._path_of(entry)
        if attributes["filter"] == b"lfs":
            pointer = self._pointer(path)
            return not _is_blob(entry.blob, len(pointer), [pointer])
        is_filtered = attributes["filter"] not in (*_NO_CONVERSION, b"set")
        is_encoded = attributes["working-tree-encoding"] not in _NO_CONVERSION
        if is_filtered or is_encoded or attributes["ident"] not in _NO_CONVERSION:
            return None
        if not self._has_own_line_ends(attributes):
            return True
        size = sum(map(len, _with_line_feeds(self._pieces(path))))
        return not _is_blob(entry.blob, size, _with_line_feeds(self._pieces(path)))

    def _has_own_line_ends(self, attributes: dict[str, bytes]) -> bool:
        """True if the working copy may end its lines by CR LF where the repository has LF."""
        if attributes["text"] == b"unspecified" and attributes["eol"] in _NO_CONVERSION:
            return self._converts_line_ends
        return attributes["text"] != b"unset"

    @cached_property
    def _converts_line_ends(self) -> bool:
        return self._setting("core.autocrlf") in (b"true", b"input")

    def _pointer(self, path: bytes) -> bytes:
        """Text that Git LFS commits in place of a file."""
        digest = hashlib.sha256()
        size = 0
        for piece in self._pieces(path):
            digest.update(piece)
            size += len(piece)
        return b"version https://git-lfs.github.com/spec/v1\noid sha256:%b\nsize %d\n" % (
            digest.hexdigest().encode(),
            size,
        )


def _tracked(listing: bytes) -> Iterator[_Tracked]:
    """Lines of the index as ``git ls-files -v -z --stage --debug`` prints them."""
    position = 0
    while position < len(listing):
        match = _ENTRY.match(listing, position)
        if match is None:
            raise ValueError("the list of this version of git cannot be read")
        tag, mode, blob, stage, path, *numbers = match.groups()
        changed, changed_ns, modified, modified_ns, size = map(int, numbers)
        yield _Tracked(
            tag=tag,
            mode=int(mode, 8),
            blob=blob.decode(),
            stage=int(stage),
            path=path,
            changed=(changed, changed_ns),
            modified=(modified, modified_ns),
            size=size,
        )
        position = match.end()


def _split(nanoseconds: int) -> tuple[int, int]:
    """A time as the index has it."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return seconds % _WORD, rest


def _is_blob(name: str, size: int, pieces: Iterable[bytes]) -> bool:
    """Return whether git gives this name to a content: its SHA-1, or its SHA-256 in newer
    repositories.
    """
    digest = hashlib.sha256() if len(name) == 64 else hashlib.sha1(usedforsecurity=False)
    digest.update(b"blob %d\0" % size)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest() == name


def _with_line_feeds(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The content with LF for CR LF; a pair may be divided between two pieces."""
    held_back = b""  # a CR at the end of a piece, whose LF may begin the next one
    for piece in pieces:
        joined = held_back + piece
        held_back = b"\r" if joined.endswith(b"\r") else b""
        yield joined.removesuffix(held_back).replace(b"\r\n", b"\n")
    yield held_back
