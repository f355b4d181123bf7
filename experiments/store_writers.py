"""Processes that put evaluations into a store and say so, and what is held against what they said;
part of `store_kill`.
"""

import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import idealrank as ir
from idealrank.errors import InputError
from idealrank.store import Record, Store
from idealrank.store.entries import Adding

QUERIES, MEASURES = 500, ("nDCG@10", "AP", "RR")


def base() -> ir.Evaluation:
    """An evaluation whose values are replaced by random ones."""
    qrels = {f"q{number}": {"a": 1} for number in range(QUERIES)}
    return ir.evaluate(qrels, {query: ["a"] for query in qrels}, MEASURES)


def random_evaluation(whole: ir.Evaluation, rng: np.random.Generator) -> ir.Evaluation:
    """Random values, every bit of which has to come back; of some queries no value counts."""
    scored = rng.random(whole.values.shape) < 0.99 if rng.random() < 0.5 else whole.scored
    return replace(
        whole,
        name=f"run {rng.integers(1000)}",
        values=rng.random(whole.values.shape),
        scored=scored,
    )


def digest(evaluation: ir.Evaluation) -> str:
    """What is acknowledged beside the id: a hash of every value and of what counts."""
    return hashlib.sha256(
        np.ascontiguousarray(evaluation.values).tobytes() + evaluation.scored.tobytes()
    ).hexdigest()


@dataclass(frozen=True)
class Writer:
    """A child process, and the end of the pipe that it acknowledges into."""

    process: int
    pipe: int
    text: list[bytes] = field(default_factory=list)

    def said(self) -> list[tuple[str, str]]:
        """Whole lines said so far, as id and digest; what is cut off was never acknowledged."""
        while piece := _read(self.pipe):
            self.text.append(piece)
        lines = b"".join(self.text).split(b"\n")[:-1]
        return [(line.split()[0].decode(), line.split()[1].decode()) for line in lines]

    def end(self, signal: int) -> None:
        """End it at once, and wait until it is gone."""
        os.kill(self.process, signal)
        os.waitpid(self.process, 0)


def _read(pipe: int) -> bytes:
    try:
        return os.read(pipe, 1 << 16)
    except BlockingIOError:
        return b""


def started(work: Callable[[int], None]) -> Writer:
    """A child that does this work with the pipe it says things into. The parent has no store open:
    SQLite does not survive a fork.
    """
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    child = os.fork()
    if child:
        os.close(theirs)
        return Writer(child, ours)
    os.close(ours)
    code = 1
    try:
        work(theirs)
        code = 0
    except InputError as error:
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(code)


def keep_rows_first(store: Store, adding: Adding) -> str:
    """The wrong order: a control, by which the trial shows that it would see an entry without its
    files.
    """
    with store.files.prepared(list(adding.files.values())) as prepared:
        with store.database.writing() as connection:
            adding.insert(connection)
        prepared.place()
    return adding.id


def store_forever(
    folder: Path, whole: ir.Evaluation, seed: int, pipe: int, *, most: int = sys.maxsize
) -> None:
    """Put in one evaluation after the other; an id is said when `add` has given it, never earlier.
    Some sweep, too.
    """
    rng = np.random.default_rng(seed)
    with Store.open(folder) as store:
        for number in range(most):
            evaluation = random_evaluation(whole, rng)
            key = store.add(
                evaluation, record=Record(tags=(f"writer {seed}",), notes=(f"number {number}",))
            )
            os.write(pipe, f"{key} {digest(evaluation)}\n".encode())
            if seed % 4 == 0 and number % 3 == 2:
                store.gc()


@dataclass
class Checked:
    """What was found of what was acknowledged."""

    acknowledged: int = 0
    found: int = 0
    clean: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """A row of what is printed: what was done, what was found, and whether nothing is wrong."""

    what: str
    checked: Checked
    half: int  # entries, acknowledged or not, that cannot be read whole
    besides: str
    is_fine: bool

    def row(self) -> str:
        """As Markdown."""
        found = self.checked
        return (
            f"| {self.what} | {found.acknowledged:,} | {found.found:,} | {found.clean:,} | "
            f"{self.half} | {self.besides} |"
        )


HEADER = """\
| what | acknowledged | found again | with every bit and hash | half-stored | besides |
|---|---|---|---|---|---|"""


def check(folder: Path, said: list[tuple[str, str]], checked: Checked) -> None:
    """Every acknowledged evaluation is there, with every bit and the hashes of its files; and the
    store takes another one.
    """
    with Store.open(folder, create=False) as store:
        for key, expected in said:
            checked.acknowledged += 1
            try:
                stored = store.evaluation(key)
                checked.found += 1
                checked.clean += digest(stored.evaluation) == expected
            except InputError as error:
                checked.problems.append(str(error))


def writes(folder: Path, whole: ir.Evaluation, rng: np.random.Generator) -> tuple[str, str]:
    """The store opens and takes an evaluation; its id and digest."""
    with Store.open(folder, create=False) as store:
        evaluation = random_evaluation(whole, rng)
        return store.add(evaluation), digest(evaluation)


def sound(folder: Path) -> str:
    """What SQLite itself says of the file."""
    connection = sqlite3.connect(folder / "store.sqlite3")
    try:
        said = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        said += [f"foreign key: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
    finally:
        connection.close()
    return ", ".join(map(str, said))


def entries(folder: Path) -> int:
    """Evaluations in the store."""
    with Store.open(folder, create=False) as store:
        return len(store.entries())


def half_stored(folder: Path) -> int:
    """Evaluations in the store, acknowledged or not, that cannot be read whole."""
    half = 0
    with Store.open(folder, create=False) as store:
        for entry in store.entries():
            try:
                _ = store.evaluation(entry.id).evaluation
            except InputError:
                half += 1
    return half
