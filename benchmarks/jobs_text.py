"""TREC text: 6,980 queries x 1,000 documents, 7 million lines, read and evaluated by whole
processes.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import BenchmarkError, Contender, Timing, in_turns, peak_beyond, require_equal
from report import Row, compiler, costing, faster
from workload import CACHE, trec_files

HERE = Path(__file__).resolve().parent
IDEALRANK = str(Path(sys.executable).parent / "idealrank")
MEASURES = "nDCG@10,nDCG,AP,RR"
SUBJECT = "TREC text, 6,980 queries x 1,000 documents: nDCG@10, nDCG, AP, RR"
QUERIES = 6980


def evaluation(qrels: Path, run: Path, *options: str) -> tuple[str, ...]:
    """Our command."""
    return (
        IDEALRANK,
        "evaluate",
        str(qrels),
        str(run),
        "-m",
        MEASURES,
        "--format",
        "json",
        *options,
    )


def means_of(reported: dict[str, Any]) -> dict[str, float]:
    """The means in our JSON."""
    means: dict[str, float] = reported["runs"][0]["mean"]
    return means


def yardstick(name: str) -> str:
    """A yardstick, compiled."""
    source, program = HERE / "yardstick" / f"{name}.cpp", CACHE / name
    CACHE.mkdir(parents=True, exist_ok=True)
    flags = ["-O3", "-march=native", "-std=c++20", "-pthread"]
    subprocess.run([compiler(), *flags, str(source), "-o", str(program)], check=True)
    return str(program)


def contenders(qrels: Path, run: Path, *, quick: bool) -> dict[str, Contender]:
    """Who reads and evaluates the same files."""
    python, folder, files = sys.executable, HERE / "contenders", (str(qrels), str(run))
    found = {
        "idealrank": Contender(evaluation(qrels, run), 5),
        "C++": Contender((yardstick("text"), *files, str(os.cpu_count() or 1)), 5),
        "pytrec_eval": Contender(
            (python, str(folder / "text_pytrec_eval.py"), *files), 1 if quick else 3
        ),
    }
    if not quick:
        found["ranx"] = Contender((python, str(folder / "text_ranx.py"), *files), 1)
    return found


# Contender -> our convention for it, and how far the means may lie apart. The yardstick compares
# single-precision scores and leaves ties in the order of the file; ranx's ties are those of a sort
# that keeps no order, so that equal scores may move its means a little.
EQUALS = {
    "C++": ("standard,score=float32,ties=input", 1e-12),
    "pytrec_eval": ("trec_eval-9", 1e-12),
    "ranx": ("ranx", 1e-6),
}


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Equal values first, then the times, memory, and the same bits for any number of threads."""
    qrels, run = trec_files(QUERIES)
    entered = contenders(qrels, run, quick=quick)
    for name, (convention, tolerance) in EQUALS.items():
        if name in entered:
            ours = Contender(evaluation(qrels, run, "--convention", convention), 1).run()
            require_equal(
                f"TREC text, {name}",
                means_of(ours.reported()),
                entered[name].run().reported(),
                tolerance,
            )
    timings = {name: Timing.of(samples) for name, samples in in_turns(entered).items()}
    ours_timing = timings["idealrank"]
    yield costing(
        SUBJECT, "hand-written C++ that trusts its input", 1.6, ours_timing, timings["C++"]
    )
    yield faster(SUBJECT, "pytrec_eval, including reading", 10, ours_timing, timings["pytrec_eval"])
    if "ranx" in timings:
        yield faster(
            SUBJECT,
            "ranx, including reading, with functions already compiled",
            40,
            ours_timing,
            timings["ranx"],
        )
    yield memory(qrels, run, timings)
    yield same_bits(qrels, run)


def memory(qrels: Path, run: Path, timings: dict[str, Timing]) -> Row:
    """Our peak beside the mapped files, and the peaks of the others."""
    beyond = peak_beyond(Contender(evaluation(qrels, run), 1), [qrels, run])
    others = ", ".join(
        f"{name} {timing.peak / 1e6:,.0f} MB in all" for name, timing in timings.items()
    )
    reached = "not measured here" if beyond is None else f"{beyond / 1e6:.0f} MB"
    met = None if beyond is None else beyond <= 150e6
    return Row(
        SUBJECT,
        "peak memory beyond the mapped files",
        "at most 150 MB",
        reached,
        met,
        others,
        timings,
    )


def same_bits(qrels: Path, run: Path) -> Row:
    """The values of every query under several numbers of threads."""
    said = {
        Contender(evaluation(qrels, run, "--per-query", "--threads", str(n)), 1).run().said
        for n in (1, 2, 5)
    }
    if len(said) != 1:
        raise BenchmarkError("1, 2 and 5 threads gave different values")
    return Row(
        SUBJECT,
        "values of every query with 1, 2 and 5 threads",
        "same bits",
        "same bits",
        met=True,
        behind=f"{QUERIES * 4:,} values compared",
    )
