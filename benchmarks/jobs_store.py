"""What a store answers with many evaluations in it, each by a process of its own: start, imports
and opening are in the time.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import workload
from jobs_stats import within
from measuring import Contender, Sample, Timing, in_turns, require_equal, seconds
from report import Row

SCRIPT = Path(__file__).resolve().parent / "contenders" / "kept.py"
EVALUATIONS, QUERIES, MEASURES = 1000, 10_000, 3
ANSWER_SECONDS = 1.0
PAGE_SECONDS, PAGE_BYTES = 0.3, 200_000
JOBS = {
    "measure": "the history of a measure",
    "query": "the history of one query",
    "show": "one evaluation, every hash checked",
}


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """The store is built first; what it answers is held against the random numbers that went in."""
    evaluations, rounds = (100, 3) if quick else (EVALUATIONS, 7)
    folder = workload.CACHE / f"store-{evaluations}"
    shutil.rmtree(folder, ignore_errors=True)
    workload.CACHE.mkdir(parents=True, exist_ok=True)
    try:
        built_in = call("build", folder, evaluations, 1).run()
        samples = in_turns({job: call(job, folder, evaluations, rounds) for job in JOBS})
        for job, expected in expectations(evaluations).items():
            # NumPy adds up in pairs, the library exactly: means may differ in the last digits,
            # values may not.
            require_equal(
                job, samples[job][0].reported()["found"], expected, 1e-14 if job == "measure" else 0
            )
        hashes = call("hashes", folder, evaluations, 1)
        hashed = [hashes.run() for _ in range(rounds)]
        # A record and the values of each evaluation; the ids of the queries and their counts of
        # judgments, which all of them share.
        require_equal(
            "hashes",
            {"right": hashed[0].reported()["found"]["right"]},
            {"right": 2.0 * evaluations + 2},
            0,
        )
        subject = (
            f"a store of {evaluations:,} evaluations, {QUERIES:,} queries, {MEASURES} measures"
        )
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        yield from (answered(subject, words, samples[job]) for job, words in JOBS.items())
        yield served(
            subject, [call("page", folder, evaluations, rounds).run() for _ in range(rounds)]
        )
        yield checked(subject, hashed)
        each = built_in.reported()["wall"] / evaluations
        behind = f"each on the disk before the next; {size / 2**20:.0f} MiB in all"
        yield Row(
            subject,
            "storing one evaluation",
            "",
            seconds(each),
            None,
            behind,
            {"ours": Timing.of([built_in])},
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def served(subject: str, samples: list[Sample]) -> Row:
    """The first page of `idealrank serve` for the first visitor, without the start of the
    process.
    """
    found = [sample.reported()["found"] for sample in samples]
    first, following, size = (
        min(one[name] for one in found) for name in ("first", "next", "bytes")
    )
    is_met = first <= PAGE_SECONDS and size <= PAGE_BYTES
    behind = (
        f"the least of {len(samples)} processes, {size / 1000:.0f} kB; for the next visitor "
        f"{seconds(following)}"
    )
    target = f"at most {seconds(PAGE_SECONDS)} and {PAGE_BYTES / 1000:.0f} kB"
    return Row(
        subject,
        "the first page of `idealrank serve`",
        target,
        seconds(first),
        is_met,
        behind,
        {"ours": Timing.least(samples)},
    )


def checked(subject: str, samples: list[Sample]) -> Row:
    """The hashes alone, of files that are in memory."""
    found = [sample.reported()["found"] for sample in samples]
    spent, reading, size = (
        min(one[name] for one in found) for name in ("seconds", "reading", "bytes")
    )
    amount = f"{size / 2**20:.0f} MiB of records and value files, {size / 2**20 / spent:,.0f} MiB/s"
    behind = (
        f"the least of {len(samples)} processes, of SHA-256 alone; {amount}; reading the files "
        f"whole takes {seconds(reading)}"
    )
    what = "checking the hashes in the history of one query"
    return Row(subject, what, "", seconds(spent), None, behind, {"ours": Timing.least(samples)})


def call(job: str, folder: Path, evaluations: int, rounds: int) -> Contender:
    """One question by a process of its own."""
    return Contender(
        (sys.executable, str(SCRIPT), job, str(folder), str(evaluations), str(QUERIES)), rounds
    )


def expectations(evaluations: int) -> dict[str, dict[str, float]]:
    """What has to come back, from the seeds alone."""
    made = [
        np.random.default_rng(place).random((QUERIES, MEASURES))[:, 1]
        for place in range(evaluations)
    ]
    return {
        "measure": {str(place): float(np.mean(values)) for place, values in enumerate(made)},
        "query": {str(place): float(values[QUERIES // 2]) for place, values in enumerate(made)},
        "show": {str(row): float(value) for row, value in enumerate(made[-1][:100])},
    }


def answered(subject: str, words: str, samples: list[Sample]) -> Row:
    """A target for the whole process, the call alone behind it."""
    # The least of some rounds: a question of half a second is hidden by whatever else the machine
    # does in that time.
    row = within(subject, ANSWER_SECONDS, Timing.least(samples), samples)
    call_alone = min(sample.reported()["wall"] for sample in samples)
    behind = (
        f"the least of {len(samples)} processes, of it importing, opening and answering "
        f"{seconds(call_alone)}; {row.behind}"
    )
    return Row(subject, words, row.target, row.reached, row.met, behind, row.timings)
