"""A boosting round with an objective of ours, against LightGBM's own lambdarank on the same
data.
"""

import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from measuring import BenchmarkError, Contender, Timing, seconds
from report import Row

SCRIPT = Path(__file__).resolve().parent / "contenders" / "training.py"
QUERIES, ROUNDS, FEW = 30_000, 13, 300
AT_MOST = 1.1
# of the spread of the scores: LightGBM looks the logistic function up in a table, which may tip a
# split
APART = 0.02


def call(queries: int, rounds: int) -> Contender:
    """One process, which makes its data before the clock starts."""
    return Contender((sys.executable, str(SCRIPT), str(queries), str(rounds)), 1)


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Equal models of few queries first; the quick run takes a tenth of the queries, and promises
    nothing.

    The ratio is near 1, and another program slows some rounds to twice their time. It only ever
    adds time, and rounds differ little in their own work, so the least of each side is the time
    without it. The median ratio of neighbouring rounds is printed, too. It needs no quiet round of
    each side, but a machine that is quiet for more than half of the rounds.
    """
    few = call(FEW, 3).run().reported()
    if few["apart"] > APART * few["spread"]:
        raise BenchmarkError(
            f"training: scores of the two models are {few['apart']:g} apart, with a spread of "
            f"{few['spread']:g}"
        )
    queries = QUERIES // 10 if quick else QUERIES
    sample = call(queries, ROUNDS).run()
    found = sample.reported()
    own, ours = (
        Timing(
            min(one["cpu"] for one in found[name]),
            min(one["wall"] for one in found[name]),
            sample.peak,
            ROUNDS,
        )
        for name in ("own", "ours")
    )
    ratio = ours.wall / own.wall
    beside = statistics.median(
        one["wall"] / other["wall"] for one, other in zip(found["ours"], found["own"], strict=True)
    )
    target, met = ("", None) if quick else (f"at most {AT_MOST} x", ratio <= AT_MOST)
    behind = (
        f"{seconds(ours.wall)} against {seconds(own.wall)} on the clock; of the processor "
        f"{seconds(ours.cpu)} against {seconds(own.cpu)}, "
        f"{ours.cpu / own.cpu:.2f} x; the gradients take "
        f"{seconds(found['gradients']['wall'])}; the least of {ROUNDS} rounds by turns, of "
        f"whose ratios {beside:.2f} x is the median; "
        f"peak of the process {sample.peak / 1e9:.1f} GB"
    )
    yield Row(
        f"LambdaMART, {queries:,} queries x 120 documents x 136 features",
        "a round with `objective(...)`, against LightGBM's lambdarank",
        target,
        f"{ratio:.2f} x",
        met,
        behind,
        {"ours": ours, "theirs": own},
    )
