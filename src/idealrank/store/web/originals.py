"""Evaluated files, found again by name and SHA-256, since a store keeps no whole rankings; and the
cache of these files and of other results of the site.
"""

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import IdealrankError
from idealrank.inputs.evaluation import read_qrels, read_run
from idealrank.store import Stored

T = TypeVar("T")

_MOST_KEPT = 64  # results; the one that was not used for longest goes first


class ResultCache:
    """The results used last, by the key they are computed from; each is computed once, however many
    threads ask for it at a time.
    """

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of a key, and compute it if it is not kept."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                kept: T = self._results[key]
                return kept
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._results:
                    made_meanwhile: T = self._results[key]
                    return made_meanwhile
            try:
                made = make()
                # Kept before its lock goes: a thread that asks in between would compute it again.
                self.put(key, made)
            finally:
                with self._lock:
                    self._making.pop(key, None)
            return made

    def put(self, key: Hashable, value: Any) -> None:
        """Keep a result that was computed elsewhere."""
        with self._lock:
            self._results[key] = value
            self._results.move_to_end(key)
            while len(self._results) > self._most:
                self._results.popitem(last=False)

    def known(self, key: Hashable) -> Any:
        """Return the result of a key; None if it is not kept."""
        with self._lock:
            return self._results.get(key)


_MOST_FILES = 20_000  # names that are looked at in each folder


@dataclass(frozen=True)
class Original:
    """Judgments and run of an evaluation, as they were."""

    qrels: Qrels
    run: Run


class Originals:
    """Folders that may hold the files of evaluations."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(map(Path, folders))
        self._read = ResultCache(8)
        self._hashes = ResultCache(4096)

    def of(self, stored: Stored) -> Original | None:
        """Return judgments and run of an evaluation; None if a file is not found as it was, or is
        not plain judgments.
        """
        run_name = stored.fields.get("path") or ""
        inputs = stored.fields["inputs"]
        if len(inputs) != 2 or run_name not in [file["name"] for file in inputs]:
            return None
        # The run is the file of its name; if the judgments have that name too, it is the last.
        qrels_file, run_file = inputs
        if run_file["name"] != run_name:
            qrels_file, run_file = run_file, qrels_file
        qrels_path = self._path_of(qrels_file)
        run_path = self._path_of(run_file)
        if qrels_path is None or run_path is None:
            return None
        try:
            qrels = self._read.get(("qrels", qrels_file["sha256"]), lambda: read_qrels(qrels_path))
            declared = stored.fields.get("labels")
            if declared is not None and not declared["found"]:
                qrels = qrels.labelled(
                    declared["kind"], sampled_negatives=declared["sampled_negatives"]
                )
            run = self._read.get(("run", run_file["sha256"]), lambda: read_run(run_path))
        except (IdealrankError, OSError):
            return None
        return Original(qrels, run.renamed(stored.entry.name))

    def _path_of(self, file: Mapping[str, Any]) -> Path | None:
        """Find a file by its name, size and hash."""
        size = int(file["size"])
        sha256 = file["sha256"]
        if not sha256:
            return None
        for path in self._named(file["name"]):
            if self._is(path, size, sha256):
                return path
        return None

    def _named(self, name: str) -> Iterator[Path]:
        for folder in self.folders:
            seen = 0
            for place, below, files in os.walk(folder):
                below[:] = sorted(child for child in below if not child.startswith("."))
                if name in files:
                    yield Path(place, name)
                seen += len(files) + len(below)
                if seen > _MOST_FILES:
                    break

    def _is(self, path: Path, size: int, sha256: str) -> bool:
        try:
            state = path.stat()
            if state.st_size != size:
                return False
            version = (path, state.st_size, state.st_mtime_ns)
            return self._hashes.get(version, lambda: _sha256(path)) == sha256
        except OSError:
            return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
