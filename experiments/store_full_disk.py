"""A store on a disk that fills up: what was acknowledged stays, the error is said, and there is
more when there is room; part of `store_kill`.

The disk is a small one in memory (tmpfs), which only root may mount; for others the size of every
file is limited (RLIMIT_FSIZE), which the database's log meets first.
"""

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from store_writers import (
    Checked,
    Outcome,
    check,
    digest,
    entries,
    half_stored,
    random_evaluation,
    sound,
    writes,
)

import idealrank as ir
from idealrank.errors import InputError
from idealrank.store import Store

SIZE = 8 << 20  # bytes of the small disk


@dataclass
class Filled:
    """What happened when there was no room."""

    said: list[tuple[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    unclear: int = 0  # errors that say nothing of what to do


def full_disk(
    folder: Path, whole: ir.Evaluation, rng: np.random.Generator, fillings: int, *, mount: bool
) -> Outcome:
    """Fill the disk again and again, with more or less room left, and look each time at what is
    there.
    """
    filled, taken = Filled(), 0
    with _small_disk(folder / "small", wanted=mount) as mounted:
        store = folder / "small" / "store"
        filled.said.append(_made(store, whole, rng))
        for _ in range(fillings):
            if mounted:
                _fill(folder / "small", store, whole, rng, filled)
            else:
                _limited(store, whole, rng, filled)
            filled.said.append(writes(store, whole, rng))
            taken += 1
            with Store.open(store) as opened:
                opened.gc()
        checked = Checked()
        check(store, filled.said, checked)
        said_of_file, half, unsaid = (
            sound(store),
            half_stored(store),
            entries(store) - len(filled.said),
        )
    return Outcome(
        f"{'a disk of 8 MiB (tmpfs)' if mounted else 'files limited by RLIMIT_FSIZE'}, full "
        f"{fillings} times",
        checked,
        half,
        f"{len(filled.errors)} refusals, {len(filled.errors) - filled.unclear} of them say "
        f"what to do; {unsaid} refused and stored all the "
        f"same; written to again {taken} of {fillings} times; SQLite says {said_of_file}",
        checked.clean == len(filled.said)
        and not filled.unclear
        and not half
        and not unsaid
        and taken == fillings
        and said_of_file == "ok",
    )


def _made(store: Path, whole: ir.Evaluation, rng: np.random.Generator) -> tuple[str, str]:
    with Store.open(store) as opened:
        evaluation = random_evaluation(whole, rng)
        return opened.add(evaluation), digest(evaluation)


@contextmanager
def _small_disk(folder: Path, *, wanted: bool) -> Iterator[bool]:
    """A small disk where root can mount one; else a plain folder."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    mounted = (
        wanted
        and os.geteuid() == 0
        and subprocess.run(mount, check=False, capture_output=True).returncode == 0
    )
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def _fill(
    disk: Path, store: Path, whole: ir.Evaluation, rng: np.random.Generator, filled: Filled
) -> None:
    """Leave some room, and write until there is none."""
    ballast = disk / "ballast"
    there = os.statvfs(disk)
    room = there.f_bavail * there.f_frsize - int(rng.integers(0, 200)) * 1024
    ballast.write_bytes(bytes(max(0, room)))
    _write_until_refused(store, whole, rng, filled)
    ballast.unlink()


def _limited(store: Path, whole: ir.Evaluation, rng: np.random.Generator, filled: Filled) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(rng.integers(1, 80)) * 1024, hard))
    try:
        _write_until_refused(store, whole, rng, filled)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _write_until_refused(
    store: Path, whole: ir.Evaluation, rng: np.random.Generator, filled: Filled
) -> None:
    try:
        with Store.open(store) as opened:
            for _ in range(500):
                evaluation = random_evaluation(whole, rng)
                filled.said.append((opened.add(evaluation), digest(evaluation)))
    except InputError as error:
        filled.errors.append(str(error))
        filled.unclear += "nothing was stored" not in str(error)
