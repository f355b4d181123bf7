"""How long it takes until anything happens: imports, and two queries on the command line."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from jobs_text import IDEALRANK, means_of
from measuring import Contender, Timing, in_turns, require_equal, seconds
from report import Row

IMPORT = "cold start: import"
COMMAND = "cold start: two queries on the command line, nDCG@10"
QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\nq2 0 d4 1\n"
RUN = "q1 Q0 d2 1 2.5 tag\nq1 Q0 d1 2 1.5 tag\nq2 Q0 d4 1 3 tag\nq2 Q0 d3 2 2 tag\n"
RANX = """
import sys
from ranx import Qrels, Run, evaluate
print(evaluate(Qrels.from_file(sys.argv[1], kind="trec"), Run.from_file(sys.argv[2], kind="trec"), "ndcg@10"))
"""  # noqa: E501


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Both jobs."""
    yield from import_rows()
    with tempfile.TemporaryDirectory() as folder:
        yield from command_rows(Path(folder), quick=quick)


def import_rows() -> Iterator[Row]:
    """Seconds on the clock over `import numpy`, which no user of arrays is spared."""
    statements = {
        "numpy": "import numpy",
        "idealrank": "import numpy, idealrank",
        "evaluate": "import numpy, idealrank; idealrank.evaluate",
    }
    samples = in_turns(
        {
            name: Contender((sys.executable, "-c", statement), 15)
            for name, statement in statements.items()
        }
    )
    timings = {name: Timing.least(runs) for name, runs in samples.items()}
    base = timings["numpy"].wall
    for name, what, most in (
        ("idealrank", "`import idealrank`", 0.05),
        ("evaluate", "the same, and `idealrank.evaluate` looked up", None),
    ):
        over = timings[name].wall - base
        target = "" if most is None else f"at most {most * 1000:.0f} ms over `import numpy`"
        behind = (
            f"{seconds(timings[name].wall)} against {seconds(base)} on the clock, least of "
            f"{timings[name].runs} runs"
        )
        yield Row(
            IMPORT,
            what,
            target,
            f"{max(over, 0) * 1000:.0f} ms",
            None if most is None else over <= most,
            behind,
            timings,
        )


def command_rows(folder: Path, *, quick: bool) -> Iterator[Row]:
    """Seconds on the clock; ranx compiles its functions when it runs for the first time."""
    qrels, run, cache = folder / "a.qrels", folder / "a.run", folder / "numba"
    qrels.write_text(QRELS)
    run.write_text(RUN)
    files = (str(qrels), str(run))
    measure = Path(sys.executable).parent / "ir_measures"
    contenders = {
        "idealrank": Contender(
            (IDEALRANK, "evaluate", *files, "-m", "nDCG@10", "--format", "json"), 11
        ),
        "idealrank, table": Contender((IDEALRANK, "evaluate", *files), 11),
        "ir_measures": Contender((str(measure), *files, "nDCG@10", "-p", "16"), 5),
    }
    ours = contenders["idealrank"].run().reported()
    theirs = {"nDCG@10": float(contenders["ir_measures"].run().said.split()[-1])}
    require_equal("two queries", means_of(ours), theirs, 1e-12)
    timings = {name: Timing.of(samples) for name, samples in in_turns(contenders).items()}
    if not quick:
        contender = Contender(
            (sys.executable, "-c", RANX, *files), 1, {"NUMBA_CACHE_DIR": str(cache)}
        )
        require_equal(
            "two queries, ranx", means_of(ours), {"nDCG@10": float(contender.run().said)}, 1e-12
        )
        shutil.rmtree(cache, ignore_errors=True)
        timings["ranx, first run"] = Timing.of([contender.run()])
    own = timings["idealrank"].wall
    behind = ", ".join(
        f"{name} {seconds(timing.wall)}" for name, timing in timings.items() if name != "idealrank"
    )
    yield Row(
        COMMAND,
        "`idealrank evaluate`, on the clock",
        "at most 0.30 s",
        seconds(own),
        own <= 0.30,
        behind,
        timings,
    )
