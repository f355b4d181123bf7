"""What a store keeps when writers are killed, when four write at once, and when the disk is full.

``python experiments/store_kill.py [--kills N] [--writers N] [--seed N] [--folder DIR]`` prints a
row for each of the three. Writers are killed with SIGKILL at random points while others go on; what
they acknowledged by printing an id must be there, with every bit. What a loss of power does cannot
be tried so: a killed process leaves the system's cache whole. `--control` commits rows before their
files are there, the mistake that the kills must find.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from store_full_disk import full_disk
from store_writers import (
    HEADER,
    Checked,
    Outcome,
    Writer,
    base,
    check,
    entries,
    half_stored,
    keep_rows_first,
    sound,
    started,
    store_forever,
    writes,
)

import idealrank as ir
from idealrank.store import Store

LONGEST = 0.12  # seconds that a writer lives after its first word or its start: a few evaluations


def main() -> int:
    """Run all three, and say what was found; 1 where something was lost."""
    parser = argparse.ArgumentParser(
        description="Kill writers of a store, let four write at once, and fill its disk."
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument(
        "--each", type=int, default=50, help="evaluations that each of the four writes"
    )
    parser.add_argument(
        "--fillings", type=int, default=40, help="how many times the disk is filled"
    )
    parser.add_argument(
        "--limit",
        action="store_true",
        help="limit the size of files instead of mounting a small disk",
    )
    parser.add_argument(
        "--control",
        action="store_true",
        help="commit rows before their files are there, and see it found out",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--folder",
        help="where the stores are made, and removed again; default the folder of temporary files",
    )
    options = parser.parse_args()
    if options.control:
        Store._keep = keep_rows_first
    whole, rng = base(), np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        print(HEADER)
        outcomes = []
        for trial in (
            partial(killed, Path(folder, "killed"), whole, rng, options.kills, options.writers),
            partial(at_once, Path(folder, "at once"), whole, options.writers, options.each),
            partial(full_disk, Path(folder), whole, rng, options.fillings, mount=not options.limit),
        ):
            outcomes.append(trial())
            print(outcomes[-1].row(), flush=True)
            for problem in outcomes[-1].checked.problems[:5]:
                print(f"  {problem}", file=sys.stderr)
    return 0 if all(outcome.is_fine for outcome in outcomes) else 1


def killed(
    folder: Path, whole: ir.Evaluation, rng: np.random.Generator, kills: int, writers: int
) -> Outcome:
    """Writers killed one by one, at random points; after each, the store is opened, checked and
    written to while the others go on.
    """
    checked, taken, own, everything = Checked(), 0, [], []
    seeds = iter(range(1, 10**9))
    folder.mkdir()
    alive = [_new(folder, whole, next(seeds)) for _ in range(writers)]
    for _ in range(kills):
        time.sleep(rng.uniform(0, LONGEST))
        victim = alive.pop(int(rng.integers(len(alive))))
        victim.end(signal.SIGKILL)
        said = victim.said()
        everything += said
        own.append(writes(folder, whole, rng))
        taken += 1
        check(folder, [*said[-5:], own[-1]], Checked())
        alive.append(_new(folder, whole, next(seeds)))
    for writer in alive:
        writer.end(signal.SIGKILL)
        everything += writer.said()
    check(folder, everything + own, checked)
    left = sum(path.suffix == ".unfinished" for path in folder.rglob("*"))
    unsaid, said_of_file = entries(folder) - checked.acknowledged, sound(folder)
    return Outcome(
        f"{kills + len(alive)} writers killed, {writers} at a time",
        checked,
        half_stored(folder),
        f"opened and written to after {taken} of {kills} kills; {unsaid} stored whole and "
        f"killed before saying so; {left} temporary files "
        f"left; SQLite says {said_of_file}",
        checked.acknowledged == checked.clean
        and not half_stored(folder)
        and taken == kills
        and unsaid >= 0
        and said_of_file == "ok",
    )


def _new(folder: Path, whole: ir.Evaluation, seed: int) -> Writer:
    return started(partial(store_forever, folder, whole, seed))


def at_once(folder: Path, whole: ir.Evaluation, writers: int, each: int) -> Outcome:
    """Writers that all end by themselves."""
    folder.mkdir()
    begin = time.perf_counter()
    alive = [
        started(partial(store_forever, folder, whole, 100 + number, most=each))
        for number in range(writers)
    ]
    codes = [os.waitpid(writer.process, 0)[1] for writer in alive]
    took = time.perf_counter() - begin
    checked = Checked()
    check(folder, [line for writer in alive for line in writer.said()], checked)
    said_of_file = sound(folder)
    return Outcome(
        f"{writers} writers at once, {each} evaluations each",
        checked,
        half_stored(folder),
        f"in {took:.1f} s; SQLite says {said_of_file}",
        checked.clean == entries(folder) == writers * each
        and not any(codes)
        and said_of_file == "ok",
    )


if __name__ == "__main__":
    raise SystemExit(main())
