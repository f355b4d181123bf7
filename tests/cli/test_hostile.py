"""Ids, names and files that anybody can write: whatever is in them, no control character of theirs
reaches a terminal.
"""

import contextlib
import csv
import json
import os
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from idealrank.cli import main
from idealrank.cli.commands import measures as measure_commands
from idealrank.clicks.commands import clicks as click_commands
from idealrank.clicks.commands import online as online_commands
from idealrank.judging.commands import judge as judge_commands
from idealrank.live.commands import search as search_commands
from idealrank.store.commands import store as store_commands
from idealrank.theory.commands import theory as theory_commands

# An escape sequence, a C1 control in both its forms (UTF-8, and a byte alone), turned writing, a
# bell, an invisible mark, a deletion.
CONTROLS = "\x1b]0;x\x1b[31m\x9b2J\x90\u202e\u2066\x07\u200f\x7f"
BYTE = b"\x9b2J\x80"
LINES = "\r\n\x0b\x0c\u2028\x85"
HOSTILE = f"<i>{CONTROLS}{LINES}error: forged"
TYPED = f"x{CONTROLS}{LINES}y"  # as an option's value

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="other systems refuse such names of files"
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Path) -> Path:
    """A folder of the test's own with files of hostile names, which the process is in."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IDEALRANK_STORE", "store")
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments and runs whose queries, documents, and files have hostile names; written once, to
    be copied.
    """
    folder = tmp_path_factory.mktemp("written")
    with contextlib.chdir(folder):
        _write_files()
    return folder


def _write_files() -> None:
    draw = random.Random(7)
    queries = [f"q{number}{HOSTILE}" for number in range(12)]
    documents = [f"d{number}{HOSTILE}" for number in range(8)]
    grades = {
        query: {document: draw.randrange(3) for document in documents[:-2]}
        for query in queries[:-1]
    }
    Path("qrels\x1b[1m.json").write_text(json.dumps(grades), encoding="utf-8")
    Path(MODEL).write_text(
        json.dumps({query: {one: draw.randrange(3) for one in of} for query, of in grades.items()}),
        encoding="utf-8",
    )
    for name in ("a", "b", "c"):
        scores = {
            query: {document: draw.random() for document in documents} for query in queries[1:]
        }
        Path(run_of(name)).write_text(json.dumps(scores), encoding="utf-8")
    bytes_id = b"q\x1b[7m" + BYTE
    Path("bytes.qrels").write_bytes(bytes_id + b" 0 d" + BYTE + b" 1\nq2 0 d1 2\nq3 0 d1 2\n")
    Path("bytes.run").write_bytes(
        bytes_id + b" Q0 d" + BYTE + b" 1 1 t" + BYTE + b"\nq2 Q0 d1 1 1 t\nq3 Q0 d2 1 1 t\n"
    )
    Path("broken\x1b[1m\n.run").write_bytes(b"q\x1b[1m" + BYTE + b" too few\n")
    shown = [
        {
            "session": f"s{n}{HOSTILE}",
            "query": queries[1],
            "document": documents[n % 3],
            "rank": 1 + n // 6,
            "click": n % 2,
        }
        for n in range(9)
    ]
    Path(LOG).write_text("".join(f"{json.dumps(row)}\n" for row in shown), encoding="utf-8")
    nuggets = [
        {"text": f"fact {HOSTILE}", "importance": "vital", "assignment": word}
        for word in ("support", "not_support")
    ]
    answers = [
        {"qid": query, "run_id": f"{run}{HOSTILE}", "nuggets": nuggets}
        for run in "ab"
        for query in queries[:4]
    ]
    Path(ANSWERS).write_text("".join(f"{json.dumps(row)}\n" for row in answers), encoding="utf-8")
    Path("texts\x1b[1m.csv").write_text("query,slice\nq1,\x1b[1m\n", encoding="utf-8")
    with Path("sampled\x1b[1m.csv").open("w", encoding="utf-8", newline="") as file:
        sample = csv.writer(file)
        sample.writerow(["query", "document", "stratum", "probability", "sampled"])
        sample.writerows(
            [query, document, CONTROLS, 1, "true"]
            for query in queries[1:-1]
            for document in documents[:3]
        )
    Path("traffic\x1b[1m.csv").write_text(
        "query,traffic\n" + "".join(f"q{n}\x1b[1m,{n + 1}\n" for n in range(12)), encoding="utf-8"
    )
    Path("weights\x1b[1m.json").write_text(
        json.dumps({query: n + 1 for n, query in enumerate(queries)}), encoding="utf-8"
    )
    rows = "".join(f"{n % 3} qid:{n // 4}{CONTROLS} 1:{n}\n" for n in range(24))
    Path("rows\x1b[1m.letor").write_text(rows, encoding="utf-8", newline="\n")
    data = {"train": "rows\x1b[1m.letor", "test_share": 0.5}
    model = {"rounds": 1, "params": {"min_data_in_leaf": 1, "num_threads": 1}}
    Path("pairs\x1b[1m.json").write_text(
        json.dumps([{"query": queries[1], "document": one, "text": HOSTILE} for one in documents])
    )
    judge = {
        "judge": {"kind": "function", "function": f"{TYPED}:grade"},
        "pairs": "pairs\x1b[1m.json",
    }
    Path("judge\x1b[1m.json").write_text(json.dumps(judge), encoding="utf-8")
    Path(f"queries{TYPED}.json").write_text(
        json.dumps(dict.fromkeys(queries, f"text of {HOSTILE}")), encoding="utf-8"
    )
    backend = {"kind": "replay", "path": A}
    Path("search\x1b[1m.json").write_text(
        json.dumps({"backend": backend, "queries": f"queries{TYPED}.json"}), encoding="utf-8"
    )
    canaries = {
        "backend": backend,
        "queries": f"queries{TYPED}.json",
        "name": TYPED,
        "store": "rounds",
        "qrels": QRELS,
    }
    Path("monitor\x1b[1m.json").write_text(
        json.dumps(canaries | {"every": "1m", "alarms": [{"kind": "threshold", "least": 2}]}),
        "utf-8",
    )
    Path("config\x1b[1m.json").write_text(
        json.dumps({"data": data, "model": model}), encoding="utf-8"
    )


def run_of(name: str) -> str:
    return f"{name}{CONTROLS}\r\nnote: forged.json"


QRELS, A, B, C = "qrels\x1b[1m.json", run_of("a"), run_of("b"), run_of("c")
MODEL = "model\x1b[1m.json"
LOG = "log\x1b[1m.jsonl"
ANSWERS = "answers\x1b[1m.jsonl"
BROKEN, MISSING = "broken\x1b[1m\n.run", f"none{TYPED}.run"
QUERY = f"q3{HOSTILE}"

LONG = {"theory limits"}
EVALUATED = {
    "evaluate": [
        ["evaluate", QRELS, A, B, "--per-query"],
        ["evaluate", QRELS, A, B, "--intervals", "--tag", "fine", "--note", TYPED],
        ["evaluate", QRELS, A, B, "--format", "markdown", "--per-query"],
        ["evaluate", QRELS, A, B, "--format", "latex", "--per-query"],
        ["evaluate", "bytes.qrels", "bytes.run", "--per-query"],
        ["evaluate", QRELS, A, "--weights", "weights\x1b[1m.json", "--intervals"],
        ["evaluate", QRELS, A, "--weights", "traffic\x1b[1m.csv"],
        ["evaluate", QRELS, A, "--cluster", MISSING, "--intervals"],
        ["evaluate", QRELS, A, "-m", TYPED],
        ["evaluate", QRELS, A, "--convention", TYPED],
        ["evaluate", QRELS, A, "--report", f"page{TYPED}.html"],
        ["evaluate", QRELS, A, "--format", TYPED],
        ["evaluate", QRELS, A, f"--{TYPED}"],
        ["evaluate", QRELS, A, "--tag", TYPED],
    ],
    "compare": [
        ["compare", QRELS, A, B],
        ["compare", QRELS, A, B, C, "--every-pair", "--correction", "holm"],
        ["compare", QRELS, A, B, "--format", "markdown"],
        ["compare", QRELS, A, B, "--format", "latex"],
        ["compare", QRELS, A, B, "--baseline", TYPED],
        ["compare", QRELS, A, B, "--slices", "texts\x1b[1m.csv"],
        ["compare", QRELS, A, B, "--report", f"page{TYPED}.html"],
    ],
    "gate": [
        ["gate", QRELS, A, "--baseline", B],
        ["gate", QRELS, A, "--baseline", B, "--github"],
        ["gate", QRELS, A, "--baseline", B, "--markdown", "-"],
        ["gate", QRELS, A, "--baseline", MISSING],
    ],
    "init": [
        ["init", QRELS, A, "--dry-run"],
        ["init", QRELS, MISSING],
        ["init", QRELS, A, "--search", TYPED],
        ["init", QRELS, A, "--directory", TYPED],
    ],
    "robust": [["robust", QRELS, A, B]],
    "why": [["why", QRELS, A, B]],
    "seeds": [["seeds", QRELS, A, "vs", B, C]],
    "overlap": [["overlap", A, B, "--per-query"]],
    "explain": [
        ["explain", QRELS, A, "--query", QUERY, "--all"],
        ["explain", QRELS, A, "--query", TYPED],
    ],
    "reconcile": [
        ["reconcile", QRELS, A, "--value", "0.5", "-m", "nDCG@10", "--versus", "lightgbm"]
    ],
    "validate": [
        ["validate", QRELS, A, B, BROKEN, MISSING],
        ["validate", "bytes.qrels", "bytes.run"],
        ["validate", QRELS, A, "--format", "json"],
    ],
    "trec-eval": [
        ["trec-eval", QRELS, MISSING],
        ["trec-eval", "-m", TYPED, QRELS, A],
        ["trec-eval", QRELS, BROKEN],
    ],
    "measures advise": [["measures", "advise", QRELS, A]],
    "search recall": [
        ["search", "recall", A, B, "--qrels", QRELS],
        ["search", "recall", A, MISSING],
        ["search", "recall", A, B, "-k", TYPED],
    ],
    "search": [
        ["search", "search\x1b[1m.json", "-o", f"out{TYPED}.run"],
        ["search", "search\x1b[1m.json", "-o", "found.run", "--qrels", QRELS],
        ["search", MISSING],
    ],
    "monitor": [
        ["monitor", "monitor\x1b[1m.json", "--once"],
        ["monitor", "monitor\x1b[1m.json", "--once"],
        ["monitor", "search\x1b[1m.json", "--once"],
        ["monitor", BROKEN],
    ],
    # It serves until it is stopped: here it is refused.
    "serve": [["serve", "--host", TYPED], ["serve", "--host", "0.0.0.0", "--store", TYPED]],
    "measures choose": [
        ["measures", "choose", QRELS, A, B],
        ["measures", "choose", QRELS, A, B, "--figure", f"f{TYPED}"],
    ],
    "conventions": [["conventions", TYPED]],
    "measures": [["measures", TYPED]],
    "judge agreement": [
        ["judge", "agreement", QRELS, MODEL, "--per-query"],
        ["judge", "agreement", QRELS, MODEL, "--format", "markdown"],
        ["judge", "agreement", QRELS, MODEL, "--scale", "0,1"],
        ["judge", "agreement", QRELS, BROKEN],
        ["judge", "agreement", QRELS, MODEL, "-s", TYPED],
    ],
    "judge bounds": [
        ["judge", "bounds", QRELS, A, B, "--per-query"],
        ["judge", "bounds", QRELS, A, "-m", "nDCG@2,AP", "--format", "markdown"],
        ["judge", "bounds", QRELS, BROKEN],
        ["judge", "bounds", QRELS, A, "-m", TYPED],
        ["judge", "bounds", QRELS, A, "--figure", TYPED],
    ],
    "judge next": [
        ["judge", "next", QRELS, A, B, "--budget", "3"],
        ["judge", "next", QRELS, A, B, "--replay", "--orders", "1", "--format", "markdown"],
        ["judge", "next", QRELS, A, BROKEN],
        ["judge", "next", QRELS, A, B, "-m", TYPED],
        ["judge", "next", QRELS, A, B, "--query-ids", TYPED],
    ],
    "judge infer": [
        ["judge", "infer", "sampled\x1b[1m.csv", A, B, "--qrels", QRELS],
        [
            "judge",
            "infer",
            "sampled\x1b[1m.csv",
            A,
            "--qrels",
            QRELS,
            "-m",
            "DCG",
            "--format",
            "markdown",
        ],
        ["judge", "infer", BROKEN, A],
        ["judge", "infer", "sampled\x1b[1m.csv", A, "-m", TYPED],
    ],
    "judge pool": [
        ["judge", "pool", A, B, "--depth", "2"],
        ["judge", "pool", A, B, "--sampling-rates", "1:1,3:0.5", "--format", "markdown"],
        ["judge", "pool", BROKEN],
        ["judge", "pool", A, "--sampling-rates", TYPED],
    ],
    "judge draw": [
        ["judge", "draw", "traffic\x1b[1m.csv", "--count", "2"],
        ["judge", "draw", "traffic\x1b[1m.csv", "--count", "2", "--format", "markdown"],
        ["judge", "draw", BROKEN],
        ["judge", "draw", "traffic\x1b[1m.csv", "--take", f"{TYPED}=x"],
    ],
    "judge reuse": [
        ["judge", "reuse", QRELS, A, B, "--depth", "2"],
        ["judge", "reuse", QRELS, A, B, "--format", "markdown"],
        ["judge", "reuse", QRELS, BROKEN],
        ["judge", "reuse", QRELS, A, "--team", f"{TYPED}=x"],
    ],
    "judge no-answer": [
        ["judge", "no-answer", QRELS, A, "--unanswerable", "texts\x1b[1m.csv"],
        ["judge", "no-answer", QRELS, A, "--unanswerable", BROKEN],
        ["judge", "no-answer", QRELS, A, "--unanswerable", TYPED],
    ],
    "judge run": [
        ["judge", "run", "judge\x1b[1m.json", "-o", "out.qrels", "--check"],
        ["judge", "run", "judge\x1b[1m.json", "-o", f"out{TYPED}.qrels"],
        ["judge", "run", BROKEN],
        ["judge", "run", "search\x1b[1m.json"],
    ],
    # It serves until it is stopped: here it is refused.
    "judge ui": [
        ["judge", "ui", BROKEN, "-o", "out.qrels"],
        ["judge", "ui", "pairs\x1b[1m.json", "-o", "out.qrels", "--scale", TYPED],
        ["judge", "ui", "pairs\x1b[1m.json", "-o", QRELS],
        ["judge", "ui", "pairs\x1b[1m.json", "-o", "out.qrels", "--host", TYPED],
    ],
    "judge nuggets": [
        ["judge", "nuggets", ANSWERS, "--per-query"],
        ["judge", "nuggets", ANSWERS, "--format", "markdown"],
        ["judge", "nuggets", BROKEN],
        ["judge", "nuggets", ANSWERS, "-s", TYPED],
        ["judge", "nuggets", ANSWERS, "--baseline", TYPED],
        ["judge", "nuggets", ANSWERS, "--nuggets", MISSING],
    ],
    "convert": [
        ["convert", QRELS, f"out{TYPED}.csv"],
        ["convert", QRELS, "out.qrels"],
        ["convert", QRELS, "out.json", "--to", "opensearch", "--format", "json"],
        ["convert", A, "out.jsonl", "--content", "run"],
        ["convert", LOG, "out.csv", "--columns", "query=query,document=document,grade=click"],
        ["convert", "bytes.qrels", "out.json", "--to", "label-studio"],
        ["convert", BROKEN, "out.csv"],
        ["convert", MISSING, "out.csv"],
        ["convert", QRELS, TYPED],
        ["convert", QRELS, "out.csv", "--aggregate", TYPED],
        ["convert", QRELS, "out.csv", "--scale", TYPED],
        ["convert", QRELS, "out.csv", "--labels", TYPED],
    ],
    "judge check": [
        ["judge", "check", QRELS, "--judge-qrels", f"m={MODEL}", A, B],
        ["judge", "check", QRELS, "--judge-qrels", f"{TYPED}={MODEL}", A, "--format", "markdown"],
        ["judge", "check", QRELS, "--judge-qrels", f"m={MODEL}", "--scale", "0,1"],
        ["judge", "check", QRELS, "--judge-qrels", TYPED],
        ["judge", "check", QRELS, "--judge-qrels", f"m={MODEL}", "--family", f"{TYPED}=x"],
    ],
    "judge correct": [
        ["judge", "correct", QRELS, "--judge-qrels", f"m={MODEL}", A, B],
        ["judge", "correct", QRELS, "--judge-qrels", f"{TYPED}={MODEL}", A, "--format", "markdown"],
        ["judge", "correct", QRELS, "--judge-qrels", f"m={BROKEN}", A],
        [
            "judge",
            "correct",
            MODEL,
            "--judge-qrels",
            f"m={QRELS}",
            A,
            "-m",
            "DCG",
            "--by",
            "documents",
        ],
    ],
    "clicks validate": [
        ["clicks", "validate", LOG],
        ["clicks", "validate", LOG, "--columns", f"rank={TYPED}"],
        ["clicks", "validate", BROKEN],
        ["clicks", "validate", BROKEN, "--events", LOG],
        ["clicks", "validate", LOG, "--events", MISSING],
        ["clicks", "validate", LOG, "--redact-key", MISSING],
    ],
    "clicks grade": [
        ["clicks", "grade", LOG, "--least", "1"],
        ["clicks", "grade", LOG, "--cuts", TYPED],
        ["clicks", "grade", MISSING],
    ],
    "clicks propensity": [
        ["clicks", "propensity", LOG, "--resamples", "2"],
        ["clicks", "propensity", MISSING],
    ],
    "clicks runs": [
        ["clicks", "runs", LOG, A],
        ["clicks", "runs", LOG, MISSING],
        ["clicks", "runs", BROKEN, A],
    ],
    "clicks slates": [
        ["clicks", "slates", LOG],
        ["clicks", "slates", LOG, "--columns", f"reward={TYPED}"],
        ["clicks", "slates", BROKEN],
    ],
    "clicks report": [
        ["clicks", "report", LOG, "-o", "clicks.html"],
        ["clicks", "report", MISSING, "-o", "clicks.html"],
    ],
    "clicks estimate": [
        ["clicks", "estimate", LOG],
        ["clicks", "estimate", LOG, "--columns", f"reward={TYPED}"],
    ],
    "online interleave": [
        ["online", "interleave", A, B],
        ["online", "interleave", A, MISSING],
        ["online", "interleave", "--outcomes", LOG],
    ],
    "online ab": [
        ["online", "ab", LOG],
        ["online", "ab", LOG, "--columns", f"value=click,cohort=query,user={TYPED}"],
        ["online", "ab", LOG, "--log"],
        ["online", "ab", LOG, "--qrels", A, "--columns", f"cohort=query,user={TYPED}"],
    ],
    "online plan": [["online", "plan", "--share", TYPED]],
    "train": [
        ["train", f"config{TYPED}.json"],
        ["train", "config\x1b[1m.json", "--check"],
        ["train", "config\x1b[1m.json", "-o", f"out{TYPED}"],
        ["train", BROKEN],
        ["train", QRELS],
    ],
    "theory limits": [
        ["theory", "limits", QRELS, A, "--length", "1000"],
        ["theory", "limits", "--ybar", TYPED],
    ],
    "theory distinguish": [
        [
            "theory",
            "distinguish",
            QRELS,
            A,
            B,
            "--query",
            QUERY,
            "--simulations",
            "2",
            "--length",
            "10,100",
        ],
        ["theory", "distinguish", QRELS, A, B, "--query", TYPED],
    ],
    "theory feasible": [["theory", "feasible", "--discount", TYPED]],
    "theory figures": [["theory", "figures", "--output", f"out{TYPED}", "--rankers", MISSING]],
}


STORED = {
    "history": [
        ["history"],
        ["history", "--query", QUERY],
        ["history", "--drop", "0.1"],
        ["history", "--run", TYPED],
    ],
    "store show": [
        ["store", "show", "ID"],
        ["store", "show", "ID", "--per-query"],
        ["store", "show", "PAIR"],
        ["store", "show", TYPED],
    ],
    "store diff": [["store", "diff", "ID", "ID2"], ["store", "diff", "ID", "ID2", "-m", TYPED]],
    "store tag": [
        ["store", "tag", "ID", "fine"],
        ["store", "tag", "ID", TYPED],
        ["store", "tag", "ID", "--remove", TYPED],
    ],
    "store sql": [["store", "sql", "SELECT * FROM evaluations"], ["store", "sql", TYPED]],
    "store info": [["store", "info"], ["store", "info", "--store", MISSING]],
    "store export": [["store", "export", "ID", f"out{TYPED}.zip"]],
    "store import": [["store", "import", MISSING], ["store", "import", BROKEN]],
    "store parquet": [
        ["store", "parquet", f"tables{TYPED}"],
        ["store", "parquet", f"{MISSING}/tables"],
    ],
    "store remove": [["store", "remove", TYPED], ["store", "remove", "ID"]],
    "store gc": [["store", "gc"], ["store", "gc", "--store", MISSING]],
    "report": [
        ["report", "ID", "ID2", "-o", f"page{TYPED}.html"],
        ["report", TYPED, "-o", "page.html"],
    ],
}


@pytest.fixture
def said(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Callable[[list[str]], Iterator[tuple[str, str]]]:
    """What a command writes, stream by stream."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(arguments: list[str]) -> Iterator[tuple[str, str]]:
        capfdbinary.readouterr()
        code = main.run(arguments)
        assert code in (0, 1, 2, 3), capfdbinary.readouterr()
        for stream, written in zip(("stdout", "stderr"), capfdbinary.readouterr(), strict=True):
            yield stream, written.decode("utf-8", "surrogateescape")

    return run


def controls(text: str) -> list[str]:
    """Letters that do more than stand there; bytes that are no UTF-8 do nothing from A0 on."""
    return [
        letter
        for letter in text
        if letter != "\n" and not letter.isprintable() and not "\udca0" <= letter <= "\udcff"
    ]


def check(arguments: list[str], written: Iterator[tuple[str, str]]) -> None:
    for stream, text in written:
        assert not controls(text), (arguments, stream, text)
        forged = [
            line for line in text.splitlines() if line.startswith(("error: forged", "note: forged"))
        ]
        assert not forged, (arguments, stream, text)


def test_one_module_writes_to_each_stream() -> None:
    # Whatever is written in another way is not made harmless. Bars are rich's own.
    ways = re.compile(
        r"\bclick\.(s?echo|secho|echo_via_pager)\(|\bprint\(|\bsys\.(stdout|stderr)\.(buffer|write)\b|\btraceback\.print|\bos\.write\("
    )
    app = Path(main.__file__).parent
    found = {
        str(path.relative_to(app))
        for path in app.rglob("*.py")
        if ways.search(
            "".join(
                line
                for line in path.read_text(encoding="utf-8").splitlines(keepends=True)
                if not re.match(r" *(>>>|\.\.\.)", line)
            )
        )
    }

    assert found == {"console.py", "output.py", "colours.py"}


ALONE = {"measures": measure_commands, "search": search_commands}


def test_every_command_is_tried() -> None:
    modules = {
        "clicks": click_commands,
        "judge": judge_commands,
        "online": online_commands,
        "store": store_commands,
        "theory": theory_commands,
    }
    groups = {name: list(module.COMMANDS) for name, module in modules.items()}
    # These two are commands of their own, too.
    groups |= {name: ["", *below.COMMANDS] for name, below in ALONE.items()}
    names = [f"{name} {one}".strip() for name in main.COMMANDS for one in groups.get(name, [""])]

    assert sorted(names) == sorted([*EVALUATED, *STORED])


@pytest.mark.parametrize(
    "command",
    [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in EVALUATED],
)
def test_no_name_reaches_the_terminal_as_a_control(
    command: str, files: Path, said: Callable[..., Iterator[tuple[str, str]]]
) -> None:
    for arguments in EVALUATED[command]:
        check(arguments, said(arguments))


@pytest.fixture(scope="module")
def kept(written: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A store with two evaluations, a comparison, and hostile tags and notes, as a stranger could
    send it; made once.
    """
    store = tmp_path_factory.mktemp("kept") / "store"
    with contextlib.chdir(written), pytest.MonkeyPatch.context() as patch:
        for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
            patch.delenv(name, raising=False)
        assert main.run(["compare", QRELS, A, B, "--note", TYPED, "--store", str(store)]) == 0
    with sqlite3.connect(store / "store.sqlite3") as database:
        kinds = database.execute("SELECT kind, id FROM entry ORDER BY kind, id").fetchall()
        database.executemany(
            "INSERT INTO tag (id, tag) VALUES (?, ?)", [(one, TYPED) for _, one in kinds]
        )
    database.close()
    first, second = (one for kind, one in kinds if kind == "evaluation")
    return store, {
        "ID": first,
        "ID2": second,
        "PAIR": next(one for kind, one in kinds if kind == "comparison"),
    }


@pytest.fixture
def ids(files: Path, kept: tuple[Path, dict[str, str]]) -> dict[str, str]:
    """The ids of a store of the test's own."""
    shutil.copytree(kept[0], files / "store")
    return kept[1]


@pytest.mark.parametrize("command", STORED)
def test_no_name_of_a_store_reaches_the_terminal_as_a_control(
    command: str, ids: dict[str, str], said: Callable[..., Iterator[tuple[str, str]]]
) -> None:
    for arguments in STORED[command]:
        check(arguments, said([ids.get(one, one) for one in arguments]))
