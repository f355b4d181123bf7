"""The store behind the pictures of served pages: real evaluations of real commits, and real rounds.

The twenty commits come from examples/history, which makes the same hashes on every machine. The
canary queries come from examples/canary, where the index loses a tenth of its documents.
"""

import subprocess
import sys
from pathlib import Path

import idealrank as ir
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.evaluation.judged_hits import judged_hits
from idealrank.store import Record, Store

ROOT = Path(__file__).resolve().parents[1]
PYDOCS = ROOT / "examples" / "pydocs"
MEASURES = ["nDCG@10", "RR"]
QUERIES, QRELS = PYDOCS / "queries.tsv", PYDOCS / "qrels.txt"
_GOOD_ROUNDS, _BAD_ROUNDS = 6, 2


def written(folder: Path) -> dict[str, str]:
    """Write the store, `folder/shop/store`; the id of the newest evaluation of each run."""
    folder.mkdir(parents=True, exist_ok=True)
    newest = _evaluated_commits(folder)
    _watched(folder)
    return newest


def store_of(folder: Path) -> Path:
    """Folder of the store, where the configuration of the monitor puts it."""
    return folder / "shop" / "store"


def commits_of(folder: Path) -> list[tuple[str, str]]:
    """Hash and time of each commit of the project, the oldest first."""
    lines = _output("git", "log", "--reverse", "--format=%H %cI", folder=folder / "project")
    pairs = [line.split() for line in lines.splitlines()]
    return [(commit, time) for commit, time in pairs]


def _output(*command: str | Path, folder: Path) -> str:
    finished = subprocess.run(
        list(map(str, command)), cwd=folder, check=True, capture_output=True, text=True
    )
    return finished.stdout


def _evaluated_commits(folder: Path) -> dict[str, str]:
    """Evaluate the search of each commit, then both rankers of the demo."""
    project = folder / "project"
    _output(sys.executable, ROOT / "examples" / "history" / "project.py", project, folder=folder)
    qrels = ir.read_qrels(str(QRELS))
    newest = {}
    with Store.open(store_of(folder)) as store:
        for commit, time in commits_of(folder):
            _output("git", "checkout", "--quiet", commit, folder=project)
            ranked = _output(sys.executable, "search.py", QUERIES, QRELS, folder=project)
            (folder / "search.run").write_text(ranked, encoding="utf-8")
            run = ir.read_run(str(folder / "search.run"), name="search")
            newest["search"] = _added(
                store, qrels, run, Record(time=time, commit=commit, tags=("main",))
            )
        for name in ("bm25", "minilm"):
            run = ir.read_run(str(PYDOCS / f"{name}.run"), name=name)
            newest[name] = _added(store, qrels, run, Record(time=time))
    return newest


def _added(store: Store, qrels: Qrels, run: Run, record: Record) -> str:
    return store.add(ir.evaluate(qrels, run, MEASURES), hits=judged_hits(qrels, run), record=record)


def _watched(folder: Path) -> None:
    """Rounds of the monitor: a baseline, and what follows the loss of documents."""
    shop = ROOT / "examples" / "canary" / "shop.py"
    monitor = [sys.executable, "-m", "idealrank", "monitor"]
    monitor += [str(ROOT / "examples" / "canary" / "monitor.yaml"), "--once"]
    for options, rounds in (([], _GOOD_ROUNDS), (["--lose", "documents"], _BAD_ROUNDS)):
        _output(sys.executable, shop, "shop", *options, folder=folder)
        for _ in range(rounds):
            # The exit code is 1 while an alarm is open
            finished = subprocess.run(monitor, cwd=folder, check=False, capture_output=True)
            assert finished.returncode <= 1, finished.stderr.decode()
