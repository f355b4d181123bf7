"""What is in memory already: arrays of labels and scores, and dicts of dicts."""

import sys
from collections.abc import Iterator
from pathlib import Path

from jobs_text import yardstick
from measuring import Contender, Sample, Timing, in_turns, require_equal
from report import Row, costing, faster
from workload import array_files, dicts

FOLDER = Path(__file__).resolve().parent / "contenders"
LISTS = 1_000_000
ARRAYS = "arrays, 1,000,000 lists of 20: nDCG@10"
TIED = "the same with 12 distinct scores: nearly all of them tied"
DICTS = "dict of dict, 1,000 queries x 1,000 documents: nDCG@10, nDCG, AP, RR"


def _call(name: str, files: tuple[Path, Path], rounds: int, *, calls: int = 5) -> Contender:
    return Contender(
        (sys.executable, str(FOLDER / "arrays.py"), name, *map(str, files), str(calls)), rounds
    )


def _timed(contenders: dict[str, Contender]) -> tuple[dict[str, Timing], dict[str, list[Sample]]]:
    samples = in_turns(contenders)
    return {name: Timing.of_calls(runs) for name, runs in samples.items()}, samples


def array_rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Calls on arrays that are there; scikit-learn's default averages over ties, and takes long."""
    files = array_files(LISTS)
    contenders = {name: _call(name, files, 5) for name in ("idealrank", "idealrank-input", "numpy")}
    contenders["scikit-learn-ignore-ties"] = _call("scikit-learn-ignore-ties", files, 3)
    contenders["C++"] = Contender((yardstick("arrays"), *map(str, files)), 5)
    if not quick:
        contenders["scikit-learn"] = _call("scikit-learn", files, 1, calls=1)
    timings, samples = _timed(contenders)
    values = {name: runs[0].reported()["value"] for name, runs in samples.items()}
    require_equal("arrays", dict.fromkeys(values, values["idealrank"]), values, 1e-12)
    ours = timings["idealrank"]
    yield faster(
        ARRAYS, "scikit-learn, ignore_ties=True", 5, ours, timings["scikit-learn-ignore-ties"]
    )
    if "scikit-learn" in timings:
        yield faster(ARRAYS, "scikit-learn's default", 50, ours, timings["scikit-learn"])
    yield faster(ARRAYS, "a plain NumPy program", 3.5, ours, timings["numpy"])
    yield costing(ARRAYS, "hand-written C++ that trusts its input", None, ours, timings["C++"])
    yield costing(
        ARRAYS, "ties averaged, against ties in input order", 1.5, ours, timings["idealrank-input"]
    )
    yield tied_row()


def tied_row() -> Row:
    """The price of averaging when there is something to average."""
    files = array_files(LISTS, distinct=12)
    timings, _ = _timed({name: _call(name, files, 5) for name in ("idealrank", "idealrank-input")})
    small = array_files(10_000, distinct=12)
    ours, theirs = (
        _call(name, small, 1).run().reported()["value"] for name in ("idealrank", "scikit-learn")
    )
    require_equal("tied arrays", {"mean": ours}, {"mean": theirs}, 1e-12)
    return costing(
        TIED,
        "ties averaged, against ties in input order",
        1.5,
        timings["idealrank"],
        timings["idealrank-input"],
    )


def dict_rows(**_: bool) -> Iterator[Row]:
    """The walk over both dicts is in our time; pytrec_eval has read its judgments before the clock
    starts.
    """
    queries = 1000
    dicts(1)  # fails here, with a traceback, rather than in a process of its own
    script = (sys.executable, str(FOLDER / "dicts.py"))
    ours = (*script, "idealrank", str(queries))
    contenders = {
        "idealrank": Contender((*ours, "standard"), 5),
        "pytrec_eval": Contender((*script, "pytrec_eval", str(queries)), 5),
    }
    same = Contender((*ours, "trec_eval-9"), 1).run().reported()["means"]
    timings, samples = _timed(contenders)
    require_equal("dict of dict", same, samples["pytrec_eval"][0].reported()["means"], 1e-12)
    yield faster(DICTS, "pytrec_eval's evaluate", 2, timings["idealrank"], timings["pytrec_eval"])
