"""Files that were evaluated, found again by name and SHA-256, and results that are computed once: a
store keeps values and judged documents, and no whole rankings.
"""

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from idealrank.api.evaluation import read_qrels, read_run
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import IdealrankError
from idealrank.store import Stored

T = TypeVar("T")

_MOST_KEPT = 64


class Kept:
    """Results by what they are computed from, the latest used ones; each is computed once, however
    many ask for it at a time.
    """

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._found: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of a key, and compute it if it is not kept."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                found: T = self._found[key]
                return found
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._found:
                    made_meanwhile: T = self._found[key]
                    return made_meanwhile
            try:
                made = make()
            finally:
                with self._lock:
                    self._making.pop(key, None)
            self.put(key, made)
            return made

    def put(self, key: Hashable, value: Any) -> None:
        """Keep a result that was computed elsewhere."""
        with self._lock:
            self._found[key] = value
            self._found.move_to_end(key)
            while len(self._found) > self._most:
                self._found.popitem(last=False)

    def known(self, key: Hashable) -> Any:
        """Return the result of a key; None if it is not kept."""
        with self._lock:
            return self._found.get(key)


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
        self._read = Kept(8)
        self._hashes = Kept(4096)

    def of(self, stored: Stored) -> Original | None:
        """Return judgments and run of an evaluation; None if a file is not found as it was, or is
        not plain judgments.
        """
        run_name, inputs = stored.fields.get("path") or "", stored.fields["inputs"]
        last = max(
            (place for place, one in enumerate(inputs) if one["name"] == run_name), default=-1
        )
        judgments = [one for place, one in enumerate(inputs) if place != last]
        if last < 0 or len(judgments) != 1:
            return None
        found = [
            self._found(one["name"], int(one["size"]), one["sha256"])
            for one in (judgments[0], inputs[last])
        ]
        if found[0] is None or found[1] is None:
            return None
        try:
            qrels = self._read.get(("qrels", judgments[0]["sha256"]), lambda: read_qrels(found[0]))
            declared = stored.fields.get("labels")
            if declared is not None and not declared["found"]:
                qrels = qrels.labelled(
                    declared["kind"], sampled_negatives=declared["sampled_negatives"]
                )
            run = self._read.get(("run", inputs[last]["sha256"]), lambda: read_run(found[1]))
        except (IdealrankError, OSError):
            return None
        return Original(qrels, run.renamed(stored.entry.name))

    def _found(self, name: str, size: int, sha256: str) -> Path | None:
        if not sha256:
            return None
        return next((path for path in self._named(name) if self._is(path, size, sha256)), None)

    def _named(self, name: str) -> Iterator[Path]:
        for folder in self.folders:
            seen = 0
            for place, below, files in os.walk(folder):
                below[:] = sorted(one for one in below if not one.startswith("."))
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
            return (
                self._hashes.get((path, state.st_size, state.st_mtime_ns), lambda: _sha256(path))
                == sha256
            )
        except OSError:
            return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
