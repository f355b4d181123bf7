"""Mutated files through every command: each case must end with code 0, 1, 2 or 3, without a
traceback and without unfinished files.

    python fuzz/mutate.py --seconds 600          as many cases as that takes, from seed 0 python
    fuzz/mutate.py --seed 3 --case 1234   one case again; its files stay in build/fuzz/commands/

A case follows from the seed and its number alone. Its number stands in build/fuzz/commands/current
while it runs, so that a crash of the process can be found, too. Standard input is never read. Two
commands make pages of files of their own; the option --report of others costs seconds, and its
input is the same.
"""

import argparse
import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import random
import shutil
import signal
import sqlite3
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from idealrank.cli import main as cli

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "tests" / "cli" / "data"
FOLDER = ROOT / "build" / "fuzz" / "commands"
PATIENCE = (
    # seconds of the processor that a case may take, on a machine that may be busy with other work;
    # what only waits, ten times that
    60
)
FINE = {0, 1, 2, 3}
IDS = "ids.json"  # of two evaluations and a comparison in the store: the letters E, F and C
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}

# Judgments, runs and tables of the words Q, A and B in COMMANDS; each has its names.
QRELS = [
    "qrels.txt",
    "qrels.json",
    "qrels.jsonl",
    "records.json",
    "qrels.csv",
    "qrels.tsv",
    "beir.tsv",
    "qrels.parquet",
    "qrels.arrow",
    "qrels.arrows",
    "codes.parquet",
    "codes.arrows",
]
RUNS = [
    "bm25.run",
    "neural.run",
    "run.json",
    "lists.json",
    "run.jsonl",
    "run.csv",
    "run.parquet",
    "run.arrow",
    "run.arrows",
    "ranks.csv",
]
COMMANDS = [
    "evaluate Q A",
    "evaluate Q A B -m nDCG@10,AP,RR,Bpref,infAP,ERR,RBP,Q,DCG@1 --intervals",
    "evaluate Q A --format json --per-query",
    "evaluate Q A --format csv -m DCG,nDCG(gain=exp2),GradeTau,Utility,NumRet",
    "evaluate Q A --convention lightgbm",
    "evaluate Q A --convention standard,duplicates=best,ties=expected",
    "evaluate Q A --format trec --per-query",
    "evaluate Q A -o out.txt",
    "evaluate Q A --store store",
    "evaluate labels.letor scores.txt -m nDCG",
    "evaluate bare.letor scores.txt",
    "evaluate --judgments prefs preferences.txt A",
    "evaluate --judgments qrels_jg assessors.qrels A",
    "evaluate --judgments qrels_prefs Q A",
    "evaluate Q A B --weights traffic.csv --cluster cluster.csv --intervals --slices slices.csv",
    "evaluate Q A --qrels more.qrels",
    "compare Q A B",
    "compare Q A B --test t --format json",
    "compare Q A B --slices slices.csv",
    "compare Q A B --weights weights.csv --cluster cluster.csv",
    "gate Q A --baseline B",
    "gate Q A --baseline base.run.gz --format json",
    "gate Q A --baseline B --contracts contracts.csv",
    "gate Q A",
    "gate Q A --baseline B --junit junit.xml --markdown out.md",
    "init Q A --dry-run",
    "robust Q A B --try ties --try cutoff",
    "why Q A B",
    "why Q A B --format json",
    "seeds Q old-seed1.run old-seed2.run vs A B -m AP",
    "overlap A B -m RBO,tau,overlap@10",
    "search recall A B --qrels Q -k 2",
    "explain Q A --query q1",
    "explain Q A --query q1 -m AP --all",
    "reconcile Q A --value 0.3 -m nDCG@2",
    "reconcile Q A --versus lightgbm -m nDCG@2",
    "validate Q A B",
    "validate Q A --format json",
    "trec-eval -q -m all_trec qrels.txt bm25.run",
    "trec-eval -c -m official qrels.txt neural.run",
    "measures advise Q A",
    "measures choose Q A B --size 2 --cutoff 1,10",
    "theory limits --ybar curve.csv",
    "theory limits Q A --length 1000",
    "store import bundle.zip --store other",
    "store sql 'select * from means' --store kept",
    "history --store kept",
    "history --store kept --query q1",
    "store diff E F --store kept",
    "store show E --per-query --store kept",
    "store show C --format json --store kept",
    "store tag E fine --store kept",
    "report E F --store kept -o page.html",
    "store gc --store kept",
    "store info --store kept",
    "store export E out.zip --store kept",
    "store remove C --store kept",
    "store parquet tables --store kept",
    "judge agreement qrels.txt model.qrels --per-query",
    "judge bounds Q A B -m nDCG@2,AP",
    "judge check qrels.txt --judge-qrels m=model.qrels A B",
    "judge correct few.qrels --judge-qrels m=model.qrels A B",
    "judge next Q A B --budget 3",
    "judge next Q A B --replay --orders 1 -m P@2",
    "judge pool A B --depth 3 --sampling-rates 1:1,3:0.5",
    "judge infer sampled.txt A B",
    "judge reuse Q A B --depth 2",
    "judge draw traffic.csv --count 2",
    "judge run judge.json -o judged.qrels --qrels qrels.txt",
    "judge no-answer qrels.txt open.run --unanswerable nothing.txt",
    "judge nuggets answers.jsonl --per-query",
    "judge nuggets answers.jsonl --nuggets nuggets.jsonl --format json",
    "convert Q out.csv --aggregate mean",
    "convert Q out.qrels --to trec --aggregate lowest --write-queries texts.tsv",
    "convert A out.jsonl --content run",
    "convert Q out.json --to label-studio --format json",
    "convert Q out.parquet --keep-unjudged",
    "convert book.csv out.json --to rre --aggregate majority",
    "convert ratings.json out.qrels --write-queries texts.jsonl",
    "convert list.json out.csv",
    "convert tasks.json out.jsonl",
    "convert implicit.jsonl out.csv --input-format ubi",
    "convert labels.letor out.csv",
    "convert comments.letor out.letor",
    "convert tasks.json out.letor --aggregate mean",
    "evaluate tasks.json A",
    "convert raters.qrels out.csv --input-format qrels_jg",
    "clicks validate log.csv",
    "clicks validate log.jsonl --redact",
    "clicks grade log.csv --least 1",
    "clicks grade log.jsonl --model dbn --least 1",
    "judge agreement raters.qrels",
    "clicks propensity log.csv --resamples 2",
    "clicks estimate rewards.csv --estimator snips --estimator dr",
    "clicks report log.csv --rewards rewards.csv -o clicks.html",
    "clicks runs log.csv A -k 2",
    "clicks runs log.jsonl A B",
    "clicks slates places.csv --estimator rips --estimator sniips",
    "train train.json --check",
    "search search.json -o found.run --qrels Q",
    "monitor monitor.json --once",
    "online interleave A B",
    "online interleave --outcomes outcomes.csv",
    "online ab experiment.csv",
    "theory distinguish Q A B --query q1 --simulations 2 --length 1,2",
    "theory figures --rankers mine.npz --output figures --format svg",
]
# They read no file; `serve` and `judge ui` read theirs until they are stopped.
WITHOUT_FILES = {"conventions", "judge ui", "online plan", "serve", "theory feasible"}

TOKENS = [
    b"",
    b" ",
    b"\t",
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b'"',
    b"'",
    b",",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"#",
    b"-1",
    b"0",
    b"1",
    b"nan",
    b"inf",
    b"-inf",
    b"1e308",
    b"1.5e308",
    b"1e999",
    b"-0",
    b"9007199254740993",
    b"18446744073709551616",
    b"9" * 400,
    b"9" * 5000,
    b"0.1",
    b"true",
    b"null",
    b"\\ud800",
    b"\xed\xa0\x80",
    b"\xe2\x80\xa8",
    b"q1",
    b"d1",
    b"\xf0\x9f\x98\x80",
    b"=1+1",
    b"../x",
    b"[" * 1500,
    b'{"a":' * 1500,
    b"qid:",
    b"x" * 70_000,
    b"1_0",
    b"0x1",
    b"\x1e",
]


def table(values: str, *, coded: bool = False) -> pa.Table:
    """Judgments or a run as columns; `coded` gives dictionaries."""
    columns = {
        "query_id": ["q1", "q1", "q2", "q2"],
        "doc_id": ["d1", "d2", "d1", "d3"],
        values: [2, 0, 1, 1],
    }
    arrays = {name: pa.array(column) for name, column in columns.items()}
    return pa.table(
        {name: array.dictionary_encode() if coded else array for name, array in arrays.items()}
    )


def write_tables(folder: Path) -> None:
    """Valid files of every layout of columns."""
    for stem, values in (("qrels", "rel"), ("run", "score")):
        data, coded = table(values), table(values, coded=True)
        rows = data.to_pylist()
        for ending, delimiter in ((".csv", ","), (".tsv", "\t")):
            lines = [
                delimiter.join(map(str, row))
                for row in (data.schema.names, *(row.values() for row in rows))
            ]
            (folder / f"{stem}{ending}").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / f"{stem}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
        nested = {
            query: {row["doc_id"]: row[values] for row in rows if row["query_id"] == query}
            for query in ("q1", "q2")
        }
        (folder / f"{stem}.json").write_text(json.dumps(nested), encoding="utf-8")
        for name, one in ((stem, data), ("codes" if stem == "qrels" else "codes-run", coded)):
            pq.write_table(one, folder / f"{name}.parquet")
            for ending, opened in ((".arrow", pa.ipc.new_file), (".arrows", pa.ipc.new_stream)):
                with (
                    pa.OSFile(str(folder / f"{name}{ending}"), "wb") as file,
                    opened(file, one.schema) as writer,
                ):
                    writer.write_table(one)


def write_others(folder: Path) -> None:
    """Valid files of the other kinds, a baseline, a store and a bundle of it."""
    texts = {
        "records.json": json.dumps(table("rel").to_pylist()),
        "lists.json": '{"q1": ["d1", "d2"], "q2": ["d3"]}',
        "beir.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td1\t0\n",
        "ranks.csv": "qid,docid,rank\nq1,d1,1\nq1,d2,2\nq2,d1,1\n",
        "bare.letor": "2 1:0.5\n0 1:0.1\n1 2:3\n",
        "bare.letor.query": "2\n1\n",
        "weights.csv": "query,weight\nq1,2\nq2,1\nq3,1\nq4,1\n",
        "traffic.csv": "query,traffic\nq1,20\nq2,5\nq3,1\nq4,1\n",
        "contracts.csv": "query,measure,at_least\nq1,nDCG@10,0.1\nq2,RR,0\n",
        "cluster.csv": "query,cluster\nq1,a\nq2,a\nq3,b\nq4,c\n",
        "pyproject.toml": '[tool.idealrank.gate]\nmeasures = ["nDCG@10", "RR"]\nalso = ["RR"]\n'
        "baseline = "
        '"neural.run"\nmargin = 0.01\n',
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def write_judgments(folder: Path) -> None:
    """Valid files of a second judge, of a few judgments, of several raters in one file, and of a
    run for queries without an answer.
    """
    lines = [
        line.split() for line in (folder / "qrels.txt").read_text(encoding="utf-8").splitlines()
    ]
    others = [
        [query, zero, document, str(min(int(grade), 1))] for query, zero, document, grade in lines
    ]
    run = (folder / "bm25.run").read_text(encoding="utf-8").splitlines()
    files = {
        "sampled.txt": [
            [query, zero, document, "1", grade] for query, zero, document, grade in lines
        ],
        "model.qrels": [*others, ["n1", "0", "d1", "0"]],
        "few.qrels": lines[::2],
        "raters.qrels": [
            [query, rater, *rest]
            for rater, rows in (("ann", lines), ("ben", others))
            for query, _, *rest in rows
        ],
        "pairs.txt": [
            ["query", "document"],
            *([query, document] for query, _, document, _ in lines),
        ],
        "open.run": [
            *(line.split() for line in run),
            *([f"n{number}", "Q0", "d1", "1", str(number), "t"] for number in (1, 2)),
        ],
    }
    for name, rows in files.items():
        (folder / name).write_text(
            "".join((" " if name != "pairs.txt" else ",").join(row) + "\n" for row in rows),
            encoding="utf-8",
        )
    judge = {
        "judge": {"kind": "function", "function": "operator:eq", "takes": "ids"},
        "pairs": "pairs.txt",
        "scale": {"0": "no", "1": "yes"},
    }
    (folder / "judge.json").write_text(json.dumps(judge), encoding="utf-8")


def write_tools(folder: Path) -> None:
    """Valid files of judgments of other tools, and answers with their nuggets."""
    rated = [
        {
            "query": "red shoes",
            "ratings": [{"docId": "d1", "rating": "2.0"}, {"docId": "d2", "rating": 0}],
        }
    ]
    result = [{"from_name": "grade", "to_name": "t", "type": "rating", "value": {"rating": 2}}]
    annotation = {
        "completed_by": {"email": "ann@example.com"},
        "result": result,
        "was_cancelled": False,
    }
    task = {
        "id": 1,
        "data": {"query": "q1", "doc_id": "d1", "text": "t"},
        "annotations": [annotation],
        "predictions": [],
    }
    predicted = [{"model_version": "m-1", "result": result}]
    other = {
        "id": 2,
        "data": {"query": "q1", "doc_id": "d2", "text": "t"},
        "predictions": predicted,
        "drafts": [],
        "meta": {"batch": 1},
    }
    nuggets = [
        {"text": "n1", "importance": "vital", "assignment": "support"},
        {"text": "n2", "importance": "okay", "assignment": "failed"},
    ]
    answers = [
        {"qid": query, "run_id": run, "nuggets": nuggets}
        for run in ("a", "b")
        for query in ("q1", "q2")
    ]
    gains = {"3": ["d1"], "": ["d2"]}
    judged = [{"query_id": "q1", "query": "shoes", "document": "d1", "judgment": 1.5}]
    files = {
        "book.csv": "query,docid,Ann,Ben\nred shoes,d1,3,2\nred shoes,d2,,\nhat,d1,0,\n",
        "ratings.json": json.dumps(
            {
                "id_field": "id",
                "queries": [{"placeholders": {"$query": "shoes"}, "relevant_documents": gains}],
            }
        ),
        "list.json": json.dumps({"name": "list", "type": "LLM_JUDGMENT", "judgmentRatings": rated}),
        "comments.letor": "2 qid:1 1:0.5 #docid = d1 inc = 1 prob = 0.25\n0 qid:1 1:0.1 #docid = "
        "d2 inc = 0 "
        "prob = 0.5\n",
        "tasks.json": json.dumps([task, other]),
        "implicit.jsonl": "".join(f"{json.dumps(row)}\n" for row in judged),
        "answers.jsonl": "".join(f"{json.dumps(row)}\n" for row in answers),
        "nuggets.jsonl": "".join(
            f"{json.dumps({'qid': query, 'nuggets': nuggets})}\n" for query in ("q1", "q2")
        ),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def write_clicks(folder: Path) -> None:
    """Valid files of clicks and experiments: a log twice, rewards, outcomes, and users; and arrays
    for the figures of the theory.
    """
    draw = random.Random(1)
    shown = [
        {
            "session": f"s{session}",
            "query": f"q{session % 3}",
            "document": f"d{document}",
            "rank": rank,
            "click": int(draw.random() < 1 / rank),
        }
        for session in range(12)
        for rank, document in enumerate(draw.sample(range(4), 3), 1)
    ]
    (folder / "log.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in shown), encoding="utf-8"
    )
    numbers = [[round(draw.random(), 3) for _ in range(5)] for _ in range(20)]
    tables: dict[str, list[list[object]]] = {
        "log.csv": [list(shown[0]), *(list(row.values()) for row in shown)],
        "rewards.csv": [
            ["reward", "logged", "target", "predicted_logged", "predicted_target"],
            *([int(one > 0.5), (1 + logged) / 2, *others] for one, logged, *others in numbers),
        ],
        "places.csv": [
            ["list", "rank", "reward", "logged", "target"],
            *(
                [
                    f"s{place // 2}",
                    place % 2 + 1,
                    int(one > 0.5),
                    (1 + logged) / 2,
                    (1 + target) / 2,
                ]
                for place, (one, logged, target, *_) in enumerate(numbers)
            ),
        ],
        "outcomes.csv": [
            ["preference", "user"],
            *([draw.choice((-1, 0, 1)), f"u{place % 7}"] for place in range(20)),
        ],
        "experiment.csv": [
            ["cohort", "value", "user", "covariate"],
            *(
                ["AB"[place % 2], one, f"u{place}", other]
                for place, (one, other, *_) in enumerate(numbers)
            ),
        ],
        "nothing.txt": [["n1"], ["n2"]],
    }
    for name, rows in tables.items():
        (folder / name).write_text(
            "".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8"
        )
    letor = [
        f"{place % 3} qid:{place // 5} 1:{one} 2:{other}"
        for place, (one, other, *_) in enumerate(numbers)
    ]
    (folder / "train.letor").write_text("\n".join(letor) + "\n", encoding="utf-8")
    data = {"train": "train.letor", "valid_share": 0.25, "test_share": 0.25}
    (folder / "train.json").write_text(
        json.dumps({"data": data, "model": {"library": "lightgbm"}}), encoding="utf-8"
    )
    search = {
        "backend": {"kind": "replay", "path": "bm25.run"},
        "queries": "asked.json",
        "limit": 3,
    }
    canaries = {
        "name": "shop",
        "store": "rounds",
        "qrels": "qrels.txt",
        "alarms": [{"kind": "threshold", "least": 0.5}],
    }
    (folder / "asked.json").write_text(
        json.dumps({"q1": "some words", "q2": "others"}), encoding="utf-8"
    )
    (folder / "search.json").write_text(json.dumps(search), encoding="utf-8")
    (folder / "monitor.json").write_text(json.dumps(search | canaries), encoding="utf-8")
    arrays = np.array(numbers)
    np.savez(folder / "mine.npz", grades=(arrays > 0.5).astype(int), one=arrays, other=arrays[::-1])


def write_kept(folder: Path) -> None:
    """Make the files that commands write: a baseline, a store, and an exported entry."""
    both = "qrels.txt bm25.run neural.run --store kept"
    for command in (
        "gate qrels.txt bm25.run --baseline base.run.gz --update-baseline",
        f"evaluate {both}",
        f"compare {both}",
    ):
        run_command(command.split(), folder)
    with contextlib.closing(sqlite3.connect(folder / "kept" / "store.sqlite3")) as database:
        kept = database.execute("SELECT kind, id FROM entry ORDER BY kind DESC, id").fetchall()
    evaluations, compared = (
        [one for kind, one in kept if kind == asked] for asked in ("evaluation", "comparison")
    )
    ids = dict(zip("EFC", [*evaluations[:2], compared[0]], strict=True))
    (folder / IDS).write_text(json.dumps(ids), encoding="utf-8")
    run_command(["store", "export", ids["E"], "bundle.zip", "--store", "kept"], folder)
    for name in ("base.run.gz", "bundle.zip", "kept/store.sqlite3"):
        assert (folder / name).is_file(), name


def run_command(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    """Exit code and both streams of a command inside this process."""
    before, out, err = (
        Path.cwd(),
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8"),
        io.TextIOWrapper(io.BytesIO(), errors="backslashreplace"),
    )
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = cli.run(arguments)
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 1
            except BaseException as error:  # noqa: BLE001  (what passes the command line is a finding)
                traceback.print_exception(error)
                code = -1
    finally:
        os.chdir(before)
    streams = []
    for stream in (out, err):
        stream.flush()
        streams.append(stream.buffer.getvalue().decode("utf-8", "replace"))  # type: ignore[attr-defined]
    return code, streams[0], streams[1]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one to four changes to bytes, lines or fields."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = rng.choice((of_bytes, of_bytes, of_lines, of_fields))(data, rng)
    return data


def of_bytes(data: bytes, rng: random.Random) -> bytes:
    """One change somewhere: a byte, a bit, a token put in, a stretch cut out or doubled, or the
    rest cut off.
    """
    at = rng.randrange(len(data) + 1)
    until = min(len(data), at + rng.randrange(1, 24))
    return rng.choice(
        (
            data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :],
            data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
            if at < len(data)
            else data,
            data[:at] + rng.choice(TOKENS) + data[at:],
            data[:at] + data[until:],
            data[:until] + data[at:],
            data[:at],
        )
    )


def of_lines(data: bytes, rng: random.Random) -> bytes:
    """A line doubled, dropped, moved or joined to the next, or all lines ended in another way."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    kind = rng.randrange(5)
    if kind == 4:
        return rng.choice((b"\r\n", b"\r", b"")).join(lines)
    if kind == 0:
        lines.insert(at, lines[at])
    elif kind == 1:
        del lines[at]
    elif kind == 2:
        lines.insert(rng.randrange(len(lines)), lines.pop(at))
    elif at + 1 < len(lines):
        lines[at] += b" " + lines.pop(at + 1)
    return b"\n".join(lines)


def of_fields(data: bytes, rng: random.Random) -> bytes:
    """A field of some line replaced by a token, or by another field."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    delimiter = rng.choice(
        [mark for mark in (b" ", b"\t", b",", b": ") if mark in lines[at]] or [b" "]
    )
    fields = lines[at].split(delimiter)
    fields[rng.randrange(len(fields))] = rng.choice((rng.choice(TOKENS), rng.choice(fields)))
    lines[at] = delimiter.join(fields)
    return b"\n".join(lines)


def prepare(name: str, folder: Path, rng: random.Random) -> str:
    """A file mutated in its folder, sometimes packed before or after; its name."""
    path = folder / name
    data = path.read_bytes()
    ending, pack = rng.choice(list(PACKERS.items()))
    kind = rng.randrange(10) if "/" not in name else 9
    if kind == 0:
        changed = path.with_name(path.name + ending)
        changed.write_bytes(mutated(pack(data), rng))
    elif kind == 1:
        changed = path.with_name(path.name + ending)
        changed.write_bytes(pack(mutated(data, rng)))
    elif kind == 2:
        changed = path.with_name(
            rng.choice(("x", "x.json", "x.csv", "x.run", "x.parquet", "x.letor"))
        )
        changed.write_bytes(mutated(data, rng))
    else:
        changed = path
        changed.write_bytes(mutated(data, rng))
    return name if "/" in name else changed.name


def words_of(command: str, ids: dict[str, str], rng: random.Random) -> list[str]:
    """The command with files, and ids of the store, for its letters."""
    first, second = rng.sample(RUNS, 2)
    chosen = {"Q": rng.choice(QRELS), "A": first, "B": second, **ids}
    words = command.split("'")
    plain = words[0].split() + ([words[1], *words[2].split()] if len(words) > 1 else [])
    return [chosen.get(word, word) for word in plain]


class SlowError(BaseException):
    """A case takes longer than the patience for it."""


def give_up(_number: int, _frame: object) -> NoReturn:
    """End a slow case, whatever it is doing in Python."""
    raise SlowError


def run_case(seed: int, number: int, valid: Path, folder: Path) -> tuple[str, str]:
    """The command of a case, and what is wrong with how it ended; nothing where it ended well."""
    rng = random.Random(f"{seed} {number}")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(valid, folder)
    words = words_of(
        rng.choice(COMMANDS), json.loads((valid / IDS).read_text(encoding="utf-8")), rng
    )
    besides = {"gate": ["pyproject.toml"], "evaluate": ["bare.letor.query"]}
    files = [word for word in words if (folder / word).is_file()] + besides.get(words[0], [])
    files += [
        name
        for word in words
        for name in [word.removeprefix("m=")]
        if name != word and (folder / name).is_file()
    ]
    files += ["kept/store.sqlite3"] if "kept" in words else []
    for name in rng.sample(files, min(len(files), rng.choice((1, 1, 2)))):
        changed = prepare(name, folder, rng)
        words = [
            changed if word == name else f"m={changed}" if word == f"m={name}" else word
            for word in words
        ]
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    signal.alarm(10 * PATIENCE)
    try:
        code, _, err = run_command(words, folder)
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    wrong = [] if code in FINE else [f"code {code}"]
    wrong += ["a traceback"] if "Traceback" in err else []
    wrong += [
        f"unfinished {path.name}" for path in folder.rglob("*") if path.name.endswith(".unfinished")
    ]
    taken = time.process_time() - began
    wrong += [f"{taken:.0f} seconds"] if taken > PATIENCE / 2 else []
    return " ".join(words), f"{', '.join(wrong)}\n{err[-2000:]}" if wrong else ""


def cases(first: int, seconds: float, *, only: bool) -> Iterator[int]:
    """Numbers of cases, until the time is up."""
    end = time.monotonic() + seconds
    number = first
    while time.monotonic() < end:
        yield number
        if only:
            return
        number += 1


def main() -> int:
    """Run cases, print each that ended badly, and say how many there were."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="this case alone")
    asked = parser.parse_args()
    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGPROF, give_up)
    valid, folder = FOLDER / "valid", FOLDER / "case"
    shutil.rmtree(valid, ignore_errors=True)
    shutil.copytree(EXAMPLES, valid)
    write_tables(valid)
    write_kept(valid)
    write_judgments(valid)
    write_tools(valid)
    write_clicks(valid)
    write_others(valid)
    found, by_command, done = 0, Counter[str](), 0
    for number in cases(asked.case or 0, asked.seconds, only=asked.case is not None):
        (FOLDER / "current").write_text(f"--seed {asked.seed} --case {number}\n", encoding="utf-8")
        command, wrong = run_case(asked.seed, number, valid, folder)
        done += 1
        by_command[command.split()[0]] += 1
        if wrong:
            found += 1
            print(f"--seed {asked.seed} --case {number}: idealrank {command}\n{wrong}", flush=True)
    print(
        f"{done:,} cases, {found:,} ended badly; "
        + ", ".join(f"{name} {count:,}" for name, count in sorted(by_command.items()))
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
