"""Sign flips of a pair with ten measures against SciPy's, all pairs of 130 runs with their HSD, and
what tipping points add.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from measuring import BenchmarkError, Contender, Sample, Timing, in_turns, require_equal, seconds
from report import Row, costing, faster
from workload import trec_files, turned_run

CONTENDERS = Path(__file__).resolve().parent / "contenders"
SCRIPT, REACH = CONTENDERS / "flips.py", CONTENDERS / "reach.py"
DRAWS, QUERIES, MEASURES = 100_000, 5000, 10
SECONDS = 2.0
THEIR_DRAWS = 500  # SciPy's time is a time a draw: 100,000 would take minutes
PAIR_DRAWS, PAIR_QUERIES, RUNS, PAIR_MEASURES = 10_000, 250, 130, 3
PAIR_SECONDS = 25.0
REACH_QUERIES, TIPPING_COSTS = 1000, 1.1


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Speed of one pair, against SciPy and on the clock; then of all pairs."""
    rounds = 2 if quick else 4
    require_same_p_values()
    yield from pair_rows(rounds)
    yield all_pairs_row(rounds)
    yield tipping_row(rounds)


def call(name: str, *sizes: int, calls: int = 1, rounds: int = 1) -> Contender:
    """Draws, queries, runs, measures; and how often in one process."""
    return Contender((sys.executable, str(SCRIPT), name, *map(str, (*sizes, calls))), rounds)


def require_same_p_values() -> None:
    """Exact ones to the last digits; drawn ones within five standard errors; those of all pairs as
    those of single ones.
    """
    for queries in (6, 12):
        ours, theirs = (
            call(name, DRAWS, queries, 2, MEASURES).run().reported()["p"]
            for name in ("idealrank", "scipy")
        )
        require_equal("exact sign flips", ours, theirs, 1e-12)
    ours, theirs = (
        call(name, draws, 60, 2, MEASURES).run().reported()["p"]
        for name, draws in (("idealrank", DRAWS), ("scipy", 10_000))
    )
    for number, p in theirs.items():
        if abs(ours[number] - p) > 5 * (p * (1 - p) / 10_000) ** 0.5 + 0.001:
            raise BenchmarkError(
                f"drawn sign flips: measure {number} has p = {p}, ours {ours[number]}"
            )
    one, single = (
        call(name, 5000, 40, 6, 2).run().reported()["p"] for name in ("all-pairs", "pair-by-pair")
    )
    require_equal("all pairs", one, single, 0)


def pair_rows(rounds: int) -> Iterator[Row]:
    """The target on the clock, and against SciPy."""
    sizes = (QUERIES, 2, MEASURES)
    samples = in_turns(
        {
            "ours": call("idealrank", DRAWS, *sizes, calls=3, rounds=rounds),
            "theirs": call("scipy", THEIR_DRAWS, *sizes, rounds=rounds),
        }
    )
    ours, theirs = Timing.of_calls(samples["ours"]), Timing.of_calls(samples["theirs"])
    longer = DRAWS / THEIR_DRAWS
    scaled = Timing(theirs.cpu * longer, theirs.wall * longer, theirs.peak, theirs.runs)
    subject = (
        f"sign flips: {DRAWS:,} draws, {QUERIES:,} queries, {MEASURES} measures, p and interval"
    )
    yield faster(
        subject,
        f"`scipy.stats.permutation_test`, samples, p alone, from the time of {THEIR_DRAWS} draws",
        50,
        ours,
        scaled,
    )
    yield within(subject, SECONDS, ours, samples["ours"])


def all_pairs_row(rounds: int) -> Row:
    """All pairs and the randomised HSD together."""
    samples = in_turns(
        {"ours": call("all-pairs", PAIR_DRAWS, PAIR_QUERIES, RUNS, PAIR_MEASURES, rounds=rounds)}
    )["ours"]
    subject = (
        f"all pairs of {RUNS} runs, {PAIR_MEASURES} measures, {PAIR_QUERIES} queries, "
        f"{PAIR_DRAWS:,} draws: p, intervals, HSD"
    )
    return within(subject, PAIR_SECONDS, Timing.of_calls(samples), samples)


def tipping_row(rounds: int) -> Row:
    """Tipping points beside reading, evaluating and comparing, where they have much to do."""
    qrels, first = trec_files(REACH_QUERIES)
    files = (str(qrels), str(first), str(turned_run(REACH_QUERIES)))
    samples = in_turns(
        {
            name: Contender((sys.executable, str(REACH), name, *files, "5"), rounds)
            for name in ("with", "without")
        }
    )
    subject = (
        f"two runs of {REACH_QUERIES:,} queries and 1,000 documents read, evaluated and compared "
        f"by 3 measures"
    )
    ours, theirs = Timing.of_calls(samples["with"]), Timing.of_calls(samples["without"])
    return costing(subject, "with tipping points, against without", TIPPING_COSTS, ours, theirs)


def within(subject: str, at_most: float | None, ours: Timing, samples: list[Sample]) -> Row:
    """A target in seconds on the clock of the machine, or none."""
    behind = (
        f"of the processor {seconds(ours.cpu)}; peak of the process "
        f"{max(sample.peak for sample in samples) / 2**20:.0f} MiB"
    )
    target, met = (
        ("", None) if at_most is None else (f"at most {at_most:g} s", ours.wall <= at_most)
    )
    return Row(subject, "on the clock", target, seconds(ours.wall), met, behind, {"ours": ours})
