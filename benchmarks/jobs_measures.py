"""Many measures at once from TREC text, each of the common ones on arrays, and the cost of all of
them as lists grow in number.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from jobs_text import IDEALRANK, QUERIES
from measuring import BenchmarkError, Contender, Timing, in_turns, require_equal, seconds
from report import Row, costing, faster
from workload import WIDTH, array_files, trec_files

FOLDER = Path(__file__).resolve().parent / "contenders"
ALL_TREC = "all measures of trec_eval (`all_trec`), 6,980 queries x 1,000 documents"
COMMON = (
    "arrays, 1,000,000 lists of 20, no ties: P@10, R@10, AP, RR, Success@10, Rprec, Bpref, ERR, "
    "RBP, Q"
)
OTHERS = "every measure of one run, arrays of lists of 20"
LISTS = 1_000_000
# Our measure -> trec_eval's name for it; ERR, RBP and Q are not trec_eval's, and are held against
# their own peers by the tests.
ARRAYS = {
    "P@10": "P_10",
    "R@10": "recall_10",
    "AP": "map",
    "RR": "recip_rank",
    "Success@10": "success_10",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "ERR": "",
    "RBP": "",
    "Q": "",
}


def printed(said: str) -> dict[str, float]:
    """Names and numbers of trec_eval's summary, but for sums and geometric means, which are no
    means of queries.
    """
    rows = [line.split("\t") for line in said.splitlines()]
    return {
        name.strip(): float(value)
        for name, _, value in rows
        if not name.startswith(("runid", "num_", "gm_"))
    }


def text_rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """The whole of all_trec against nDCG@10 alone, and against trec_eval 9's own code, which
    pytrec_eval is.
    """
    qrels, run = map(str, trec_files(QUERIES))
    front = (IDEALRANK, "trec-eval", "-m", "all_trec", qrels, run)
    peer = (sys.executable, str(FOLDER / "text_pytrec_eval.py"), qrels, run, "all")
    theirs = Contender(peer, 1).run().reported()
    ours = printed(Contender((*front, "--convention", "trec_eval-9"), 1).run().said)
    shared = {name: value for name, value in theirs.items() if name in ours}
    if len(shared) < 80:
        raise BenchmarkError(
            f"all_trec: {len(shared)} values to compare with pytrec_eval, expected 80 or more"
        )
    require_equal("all_trec", ours, shared, 0.5001e-4)  # four decimals are printed
    alone = (IDEALRANK, "evaluate", qrels, run, "-m", "nDCG@10", "--format", "json")
    contenders = {
        "all": Contender(front, 5),
        "one": Contender(alone, 5),
        "pytrec_eval": Contender(peer, 1 if quick else 3),
    }
    timings = {name: Timing.of(samples) for name, samples in in_turns(contenders).items()}
    yield costing(ALL_TREC, "nDCG@10 alone", 2.5, timings["all"], timings["one"])
    yield faster(
        ALL_TREC,
        "pytrec_eval, which is trec_eval 9's code, including reading",
        10,
        timings["all"],
        timings["pytrec_eval"],
    )


def array_rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Each common measure against nDCG@10, then all of them for more and more lists."""
    files = tuple(map(str, array_files(LISTS)))
    script = (sys.executable, str(FOLDER / "measures.py"))
    same_as_pytrec_eval()
    contenders = {
        name: Contender((*script, "one", name, *files, "5"), 3) for name in ("nDCG@10", *ARRAYS)
    }
    timings = {name: Timing.of_calls(samples) for name, samples in in_turns(contenders).items()}
    base = timings.pop("nDCG@10")
    ratios = {name: timing.cpu / base.cpu for name, timing in timings.items()}
    behind = (
        ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
        + f"; nDCG@10 {seconds(base.cpu)} of the processor"
    )
    worst = max(ratios.values())
    yield Row(
        COMMON, "each against nDCG@10", "at most 3 x", f"{worst:.2f} x", worst <= 3, behind, timings
    )
    sizes = (10_000, 100_000) if quick else (50_000, 500_000)
    times = Contender((*script, "all", *files, *map(str, sizes)), 1).run().reported()
    growth = {name: more / fewer * sizes[0] / sizes[1] for name, (fewer, more) in times.items()}
    steepest, dearest = (
        max(growth, key=lambda name: growth[name]),
        max(times, key=lambda name: times[name][1]),
    )
    behind = (
        f"{len(growth)} measures; {steepest} grows most; {dearest} takes longest, "
        f"{seconds(times[dearest][1])} for {sizes[1]:,} lists"
    )
    what = f"time of a list among {sizes[1]:,} against that among {sizes[0]:,}"
    yield Row(
        OTHERS,
        what,
        "linear: at most 1.5 x",
        f"{growth[steepest]:.2f} x",
        growth[steepest] <= 1.5,
        behind,
    )


def same_as_pytrec_eval() -> None:
    """Equal values of a few thousand of the lists, as far as trec_eval has the measure."""
    import numpy as np  # noqa: PLC0415  (the jobs start in a process that needs none of it)
    import pytrec_eval  # noqa: PLC0415

    import idealrank as ir  # noqa: PLC0415

    some = 2000
    labels, scores = (
        np.fromfile(path, np.float32, some * WIDTH).reshape(some, WIDTH)
        for path in array_files(LISTS)
    )
    qrels = {
        str(q): {f"d{i}": int(label) for i, label in enumerate(row)}
        for q, row in enumerate(labels.tolist())
    }
    run = {
        str(q): {f"d{i}": score for i, score in enumerate(row)}
        for q, row in enumerate(scores.tolist())
    }
    names = {ours: theirs for ours, theirs in ARRAYS.items() if theirs}
    found = pytrec_eval.RelevanceEvaluator(qrels, {"all_trec"}).evaluate(run).values()
    means = ir.evaluate(labels, scores, list(names), "standard,ties=input").mean()
    theirs = {ours: sum(value[name] for value in found) / some for ours, name in names.items()}
    require_equal("measures of arrays", means, theirs, 1e-12)
