"""`idealrank search`: a run, a journal that survives kill -9, and failures that are listed, never
an empty list in disguise.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from tests.cli.terminal import Said
from tests.live.live_fakes import send, service

Say = Callable[..., Said]

# Each call is written down; a query with a word of failure fails.
ENGINE = """
import os, time
def search(text, limit):
    with open("asked.txt", "a") as log:
        log.write(text + "\\n")
    time.sleep(float(os.environ.get("PAUSE", "0")))
    if "fail" in text: raise ValueError("no such field")
    if "none" in text: return []
    return {f"{text}-{place}": 1 / (place + 1) for place in range(5)}
"""
CONFIG = {
    "backend": {"kind": "function", "function": "engine.py:search"},
    "queries": "queries.tsv",
    "limit": 3,
    "concurrency": 2,
    "evaluation": {"measures": ["nDCG@10", "RR"]},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "engine.py").write_text(ENGINE)
    (tmp_path / "search.json").write_text(json.dumps(CONFIG))
    write_queries(tmp_path, ["one", "two", "fails", "none", "three"])
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q{place} 0 {text}-1 1\n" for place, text in enumerate(["one", "two", "fails"]))
    )
    return tmp_path


def write_queries(folder: Path, texts: list[str]) -> None:
    (folder / "queries.tsv").write_text(
        "".join(f"q{place}\t{text}\n" for place, text in enumerate(texts))
    )


def asked(folder: Path) -> list[str]:
    return (folder / "asked.txt").read_text().splitlines()


def change(folder: Path, **keys: Any) -> None:
    (folder / "search.json").write_text(json.dumps({**CONFIG, **keys}))


def test_a_search_writes_a_run_and_evaluates_it(say: Say, folder: Path) -> None:
    said = say(
        "search",
        "search.json",
        "-o",
        "out.run",
        "--qrels",
        "qrels.txt",
        "--format",
        "json",
        cwd=folder,
    )
    assert said.code == 1
    (one,) = json.loads(said.out)["systems"]
    assert {
        key: one[key] for key in ("name", "run", "queries", "answered", "empty", "attempts")
    } == {
        "name": "function",
        "run": "out.run",
        "queries": 5,
        "answered": 4,
        "empty": 1,
        "attempts": 5,
    }
    assert one["failed"] == {"q2": "engine.py:search: ValueError: no such field"}
    assert (folder / "out.run").read_text().splitlines()[:4] == [
        "q0 Q0 one-0 1 1.0 function",
        "q0 Q0 one-1 2 0.5 function",
        f"q0 Q0 one-2 3 {1 / 3!r} function",
        "q1 Q0 two-0 1 1.0 function",
    ]
    evaluation = ir.evaluate(folder / "qrels.txt", folder / "out.run", ["RR"])
    assert one["measures"]["RR"]["mean"] == evaluation.mean()["RR"] == pytest.approx(0.5 * 2 / 3), (
        "the failed query counts as missing"
    )


def test_failed_queries_end_with_code_1_unless_their_share_is_allowed(
    say: Say, folder: Path
) -> None:
    said = say("search", "search.json", "-o", "out.run", cwd=folder)
    assert said.code == 1
    assert "error: function: 1 of 5 queries failed and are not in out.run\n" in said.err
    assert "--retry-failed asks them again" in said.err
    assert (
        say("search", "search.json", "-o", "out.run", "--allow-failed", "0.2", cwd=folder).code == 0
    )
    assert (
        say("search", "search.json", "-o", "out.run", "--allow-failed", "0.19", cwd=folder).code
        == 1
    )
    assert (
        say("search", "search.json", "-o", "out.run", "--allow-failed", "2", cwd=folder).code == 2
    )
    # 0.29 * 100 is less than 29 in floating point; the failures are spread, or the breaker would
    # stop the search.
    write_queries(
        folder, ["fails" if (29 * place + 50) % 100 < 29 else "one" for place in range(100)]
    )
    change(folder, concurrency=1)
    assert (
        say("search", "search.json", "-o", "more.json", "--allow-failed", "0.29", cwd=folder).code
        == 0
    )


def test_an_interval_without_ends_is_null_in_json_and_empty_in_rows(say: Say, folder: Path) -> None:
    """One query with a value has an infinite interval, for which JSON has no number."""
    write_queries(folder, ["one"])
    searched = ("search", "search.json", "-o", "out.run", "--qrels", "qrels.txt", "--format")
    (folder / "qrels.txt").write_text("q0 0 one-1 1\n", encoding="utf-8")
    (one,) = json.loads(say(*searched, "json", cwd=folder).out, parse_constant=pytest.fail)[
        "systems"
    ]
    assert one["measures"]["RR"] == {"mean": 0.5, "low": None, "high": None, "queries": 1}
    rows = [row.split(",") for row in say(*searched, "csv", cwd=folder).out.splitlines()]
    assert {tuple(row[3:5]) for row in rows[1:]} == {("", "")}


@pytest.mark.parametrize("ending", ["tsv", "jsonl"])
def test_an_engine_is_asked_the_text_with_its_blanks(say: Say, folder: Path, ending: str) -> None:
    texts = {"q1": "two ", "q2": "  one  and\u00a0two"}
    lines = (
        f"{query}\t{text}" if ending == "tsv" else json.dumps({"_id": query, "text": text})
        for query, text in texts.items()
    )
    (folder / f"queries.{ending}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    change(folder, queries=f"queries.{ending}")
    assert say("search", "search.json", "-o", "out.json", cwd=folder).code == 0
    assert sorted((folder / "asked.txt").read_text(encoding="utf-8").split("\n")) == [
        "",
        *sorted(texts.values()),
    ]


def test_the_table_names_failed_queries(say: Say, folder: Path) -> None:
    said = say("search", "search.json", "-o", "out.run", "--qrels", "qrels.txt", cwd=folder)
    assert said.code == 1
    failed = 'function: 1 failed\n  q2 "fails": engine.py:search: ValueError: no such field\n'
    assert failed in said.out
    assert said.out.endswith("\nwrote out.run\n")
    rows = say(
        "search", "search.json", "-o", "out.run", "--format", "csv", cwd=folder
    ).out.splitlines()
    assert (
        rows[0]
        == "backend,measure,mean,low,high,queries,answered,failed,empty,p50_s,p95_s,p99_s,unjudged"
    )
    assert rows[1].startswith("function,,,,,5,4,1,1,")


def test_the_same_command_asks_nothing_twice(say: Say, folder: Path) -> None:
    assert say("search", "search.json", "-o", "out.run", cwd=folder).code == 1
    first, run = asked(folder), (folder / "out.run").read_bytes()
    (folder / "out.run").unlink()
    assert say("search", "search.json", "-o", "out.run", cwd=folder).code == 1
    assert (asked(folder), (folder / "out.run").read_bytes()) == (first, run)
    assert say("search", "search.json", "-o", "out.run", "--retry-failed", cwd=folder).code == 1
    assert asked(folder)[5:] == ["fails"]
    assert say("search", "search.json", "-o", "out.run", "--restart", cwd=folder).code == 1
    assert len(asked(folder)) == 11


def test_a_torn_line_of_the_journal_is_asked_again_and_nothing_else(say: Say, folder: Path) -> None:
    assert say("search", "search.json", "-o", "out.run", cwd=folder).code == 1
    journal, run = folder / "out.run.journal.jsonl", (folder / "out.run").read_bytes()
    content = journal.read_bytes()
    torn = json.loads(content.splitlines()[-1])["query"]
    for cut in (1, 10, 40):
        journal.write_bytes(content[:-cut])
        (folder / "asked.txt").unlink()
        assert say("search", "search.json", "-o", "out.run", cwd=folder).code == 1
        assert [
            f"q{['one', 'two', 'fails', 'none', 'three'].index(text)}" for text in asked(folder)
        ] == [torn]
        assert (folder / "out.run").read_bytes() == run


def test_a_journal_of_another_search_is_refused(say: Say, folder: Path) -> None:
    assert say("search", "search.json", "-o", "out.run", cwd=folder).code == 1
    change(folder, limit=4)
    said = say("search", "search.json", "-o", "out.run", cwd=folder)
    assert said.code == 2
    assert "out.run.journal.jsonl: found answers of another search (limit: 3, now 4)" in said.err
    assert "--restart" in said.err
    change(folder, timeout=20, rate=1000)  # how it is asked changes no answer
    assert say("search", "search.json", "-o", "out.run", cwd=folder).code == 1
    write_queries(folder, ["other"])
    assert (
        "another search (queries: " in say("search", "search.json", "-o", "out.run", cwd=folder).err
    )


def test_two_searches_do_not_write_one_journal(say: Say, folder: Path) -> None:
    from idealrank.live.search_jobs import SearchJournal

    with SearchJournal(str(folder / "out.run.journal.jsonl"), {}):
        for more in ((), ("--restart",)):
            said = say("search", "search.json", "-o", "out.run", *more, cwd=folder)
            assert (said.code, "another search that writes this journal" in said.err) == (2, True)


def test_a_restart_keeps_the_journal_of_a_running_search(say: Say, folder: Path) -> None:
    from idealrank.live.search_jobs import QueryRecord, SearchJournal

    path = folder / "out.run.journal.jsonl"
    with SearchJournal(str(path), {}) as journal:
        assert say("search", "search.json", "-o", "out.run", "--restart", cwd=folder).code == 2
        journal.add(QueryRecord(query="q0", hits=(), seconds=0.5, attempts=1))
    assert "q0" in path.read_text()
    assert say("search", "search.json", "-o", "out.run", "--restart", cwd=folder).code == 1
    assert len(asked(folder)) == 5


def test_a_backend_that_is_down_does_not_stop_the_others(say: Say, folder: Path) -> None:
    (folder / "engine.py").write_text(
        "def a(text, limit): return [('x', float('nan'))]\ndef b(text, limit): return ['y', 'x']\n"
    )
    change(
        folder,
        backend=None,
        backends={name: {"kind": "function", "function": f"engine.py:{name}"} for name in "ab"},
    )
    said = say("search", "search.json", "-o", "runs", "--format", "json", cwd=folder)
    assert (said.code, "1 of 2 backends failed: a: all 5 queries failed" in said.err) == (2, True)
    found = json.loads(said.out)
    assert [one["name"] for one in found["systems"]] == ["b"]
    assert list(found["failed"]) == ["a"]
    assert found["failed"]["a"].startswith("a: all 5 queries failed; q0: ")
    assert (folder / "runs" / "b.run").exists()


def test_python_returns_the_record_of_the_command(
    say: Say, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = {"kind": "command", "command": ["false"]}
    change(
        folder,
        backend=None,
        backends={"a": CONFIG["backend"], "b": failing},
        qrels="qrels.txt",
        retries=0,
    )
    said = say("search", "search.json", "-o", "runs", "--format", "json", cwd=folder)
    monkeypatch.chdir(folder)
    # answers come from the journal, with their latencies
    results = ir.search("search.json", "runs")
    assert (list(results.runs), list(results.failures)) == (["a"], ["b"])
    of_command, of_python = json.loads(said.out), json.loads(json.dumps(results.to_dict()))
    # A journal has whole microseconds, and percentiles are rounded to them again.
    assert of_python["systems"][0].pop("latency") == pytest.approx(
        of_command["systems"][0].pop("latency"), abs=2e-6
    )
    assert of_python == of_command


@pytest.mark.parametrize(
    ("text", "message"),
    [("q 1\tone\n", "found query 'q 1'"), ("q\udcff\tone\n", r"found the id 'q\udcff' of a query")],
)
def test_ids_of_queries_are_checked_before_the_engine_is_asked(
    say: Say, folder: Path, text: str, message: str
) -> None:
    (folder / "queries.tsv").write_bytes(text.encode("utf-8", "surrogateescape"))
    said = say("search", "search.json", "-o", "out.run", cwd=folder)
    assert (said.code, message in said.err) == (2, True), said.err
    assert not (folder / "asked.txt").exists()


@pytest.mark.parametrize("document", ["b\udcff", "b c"])
def test_one_bad_id_fails_its_query_and_no_other(say: Say, folder: Path, document: str) -> None:
    (folder / "engine.py").write_text(
        f"def search(text, limit): return [{document!r} if text == 'two' else 'a']\n"
    )
    said = say("search", "search.json", "-o", "out.run", "--format", "json", cwd=folder)
    assert said.code == 1, said.err
    assert list(json.loads(said.out)["systems"][0]["failed"]) == ["q1"]
    (folder / "engine.py").write_text("def search(text, limit): return ['a']\n")
    said = say(
        "search", "search.json", "-o", "out.run", "--format", "json", "--retry-failed", cwd=folder
    )
    assert json.loads(said.out)["systems"][0]["failed"] == {}


def test_an_engine_that_answers_nothing_gives_no_run(say: Say, folder: Path) -> None:
    write_queries(folder, ["fails", "fails too"])
    said = say("search", "search.json", "-o", "out.run", cwd=folder)
    assert said.code == 2
    assert (
        "function: all 2 queries failed; q0: engine.py:search: ValueError: no such field; "
        "--retry-failed asks" in said.err
    )
    write_queries(folder, ["none"])
    said = say("search", "search.json", "-o", "out.run", "--restart", cwd=folder)
    assert (said.code, "found no document in any answer" in said.err) == (2, True)
    assert not (folder / "out.run").exists()


def test_several_backends_and_a_sweep_give_a_run_each(say: Say, folder: Path) -> None:
    (folder / "engine.py").write_text(
        "def a(text, limit): return ['x']\ndef b(text, limit): return ['y', 'x']\n"
    )
    functions = ["engine.py:a", "engine.py:b"]
    change(
        folder,
        backend=None,
        backends={"swept": {"kind": "function", "function": "", "sweep": {"function": functions}}},
    )
    said = say("search", "search.json", "-o", "runs", "--format", "json", cwd=folder)
    assert (said.code, said.err) == (0, "")
    assert [one["name"] for one in json.loads(said.out)["systems"]] == [
        f"swept function={name}" for name in functions
    ]
    assert sorted(path.name for path in (folder / "runs").glob("*.run")) == [
        f"swept-function=engine.py-{one}.run" for one in "ab"
    ]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"backend": None},
            "backend: found nothing, expected a section `backend:`, or `backends:`",
        ),
        ({"backends": {"a": {}}}, "backend: found both backend and backends"),
        ({"backend": {"kind": "solr"}}, "backend.kind: found 'solr', expected one of "),
        (
            {"backend": None, "backends": {"a": {"kind": "replay"}}},
            "backends.a.path: found nothing, expected JSON lines",
        ),
        (
            {"backend": {"kind": "replay", "sweep": {"path": "a.run"}}},
            "backend.sweep.path: found 'a.run', expected a list of values",
        ),
        ({"queries": None}, "queries: found nothing, expected a file of queries"),
        (
            {"queries": {"pth": "q"}},
            "queries: unknown key 'pth', expected path, vectors; did you mean path?",
        ),
        ({"limits": 3}, "search.json: unknown key 'limits'"),
        ({"limit": 0}, "limit: found 0, expected a whole number of 1 or more"),
        ({"rate": 0}, "rate: found 0, expected a number above 0 (queries a second)"),
        ({"rate": 1e-300}, "rate: found 1e-300, expected a number above 0 (queries a second)"),
        (
            {"timeout": float("inf")},
            "timeout: found inf, expected a number from 0 to 86400 (seconds)",
        ),
        ({"backoff": 10**400}, "expected a smaller one"),
        (
            {"breaker": {"pause": 1e300}},
            "breaker.pause: found 1e+300, expected a number from 0 to 86400 (seconds)",
        ),
        ({"backend": {"kind": ["a"]}}, "backend.kind: found ['a'], expected one of "),
        (
            {"backend": {"kind": "replay", "path": "a\0b.jsonl"}},
            "a\\x00b.jsonl: embedded null byte",
        ),
        ({"output": "a\0b.run"}, "cannot be written: embedded null byte"),
        ({"timeout": 0}, "timeout: found 0, expected a number above 0 (seconds)"),
        (
            {"breaker": {"pause": -1}},
            "breaker.pause: found -1, expected a number from 0 to 86400 (seconds)",
        ),
        ({"breaker": {"wait": 1}}, "breaker: unknown key 'wait'"),
        (
            {"evaluation": {"measure": "AP"}},
            "evaluation: unknown key 'measure', expected measures, convention; did you mean "
            "measures?",
        ),
        ({"evaluation": {"measures": ["nDGC@10"]}, "qrels": "qrels.txt"}, "nDGC"),
        ({"evaluation": {"convention": "treceval"}, "qrels": "qrels.txt"}, "treceval"),
        ({"qrels": "no.txt"}, "no.txt: found no such file"),
        ({"queries": "no.tsv"}, "no.tsv: found no such file"),
    ],
)
def test_a_mistake_is_named_before_the_engine_is_asked(
    say: Say, folder: Path, keys: dict[str, Any], message: str
) -> None:
    change(folder, **keys)
    said = say(
        "search", "search.json", *(() if "output" in keys else ("-o", "out.run")), cwd=folder
    )
    assert (said.code, message in said.err, "Traceback" in said.err) == (2, True, False), said.err
    assert not (folder / "asked.txt").exists()


def test_a_page_has_every_backend_and_escapes_their_names(say: Say, folder: Path) -> None:
    change(
        folder, backend=None, backends={"<script>a": CONFIG["backend"], "b & c": CONFIG["backend"]}
    )
    said = say(
        "search",
        "search.json",
        "-o",
        "runs",
        "--qrels",
        "qrels.txt",
        "--report",
        "page.html",
        cwd=folder,
    )
    assert (said.code, "wrote page.html" in said.err) == (1, True), said.err
    page = (folder / "page.html").read_text()
    assert page.count("<circle") == 2
    assert "&lt;script&gt;a" in page
    assert "<script" not in page
    assert "1 (20.0 %)" in page
    assert (
        "page.txt: expected a file that ends in .html"
        in say("search", "search.json", "-o", "runs", "--report", "page.txt", cwd=folder).err
    )


def test_an_output_is_needed_and_a_folder_for_several(say: Say, folder: Path) -> None:
    assert (
        "search.json: found no output, expected the name of a run; use -o RUN, or set "
        "`output: FILE`" in say("search", "search.json", cwd=folder).err
    )
    change(folder, backend=None, backends={"a": CONFIG["backend"], "b": CONFIG["backend"]})
    assert (
        "output engine.py: found a file, expected a folder"
        in say("search", "search.json", "-o", "engine.py", cwd=folder).err
    )


def test_ids_with_blanks_need_json(say: Say, folder: Path) -> None:
    (folder / "engine.py").write_text("def search(text, limit): return ['a b']\n")
    said = say("search", "search.json", "-o", "out.run", cwd=folder)
    assert (
        said.code,
        "found document 'a b', expected an id without blanks in a TREC run; end the name"
        in said.err,
    ) == (2, True)
    assert say("search", "search.json", "-o", "out.json", "--restart", cwd=folder).code == 0
    assert json.loads((folder / "out.json").read_text())["q0"] == {"a b": 1.0}


def test_no_file_has_a_secret(say: Say, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGINE_KEY", "s3cret-value")
    program = (
        "import sys, json\nfor line in sys.stdin: print(json.dumps({'error': 'denied ' + "
        "sys.argv[1]}), flush=True)"
    )
    change(
        folder,
        backend={"kind": "command", "command": [sys.executable, "-c", program, "${ENGINE_KEY}"]},
        concurrency=1,
    )
    said = say("search", "search.json", "-o", "out.run", cwd=folder)
    assert (said.code, "denied ${ENGINE_KEY}" in said.err) == (2, True)
    written = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"s3cret-value" not in written
    assert "s3cret-value" not in said.out + said.err


@pytest.mark.slow
def test_after_kill_9_nothing_is_lost_and_no_answer_asked_again(folder: Path) -> None:
    texts = [f"text{place}" for place in range(400)]
    write_queries(folder, texts)
    command = [sys.executable, "-m", "idealrank", "search", "search.json", "-o", "out.run"]
    surroundings = {**os.environ, "PAUSE": "0.004"}
    for enough in (50, 150, 280):
        with subprocess.Popen(
            command, cwd=folder, env=surroundings, stdout=subprocess.DEVNULL
        ) as process:
            while not (folder / "asked.txt").exists() or len(asked(folder)) < enough:
                assert process.poll() is None, "the search ended before it was killed"
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
        assert not (folder / "out.run").exists()
    kept = [
        json.loads(line)["documents"][0]
        for line in (folder / "out.run.journal.jsonl").read_text().split("\n")[1:-1]
    ]
    assert (
        subprocess.run(
            command, cwd=folder, env=surroundings, check=False, capture_output=True
        ).returncode
        == 0
    )
    times = Counter(asked(folder))
    assert set(times) == set(texts)
    assert sum(times.values()) <= 400 + 3 * CONFIG["concurrency"], (
        "only queries under way at a kill are asked again"
    )  # type: ignore[operator]
    assert len(kept) >= 280 - 3 * CONFIG["concurrency"]  # type: ignore[operator]
    ranks = [line.split() for line in (folder / "out.run").read_text().splitlines()]
    assert [(row[0], row[2]) for row in ranks[::3]] == [
        (f"q{place}", f"{text}-0") for place, text in enumerate(texts)
    ]


def test_titles_of_the_engine_are_kept_for_other_commands(say: Say, folder: Path) -> None:
    def answer(_: str, body: Any, handler: Any) -> None:
        if "fail" in body["text"]:
            handler.send_error(400)
            return
        hits = [{"sku": f"{body['text']}-{place}", "score": 9 - place} for place in range(3)]
        hits[0]["about"] = {"title": f"The first of {body['text']}"}
        send(handler, {"hits": hits})

    with service(answer) as (url, _):
        request = {"kind": "http", "url": url, "body": {"text": "{text}"}}
        paths = {"hits": "hits", "id": "sku", "score": "score", "title": "about.title"}
        backend = request | paths
        change(folder, backend=backend)
        written = say("search", "search.json", "-o", "out.run", cwd=folder)
        (folder / "out.run.documents.jsonl").unlink()
        # answers of the journal have their titles, without a request
        again = say("search", "search.json", "-o", "out.run", "--format", "json", cwd=folder)
    options = ("--query", "q0", "--documents", "out.run.documents.jsonl")
    explained = say("explain", "qrels.txt", "out.run", *options, cwd=folder)

    assert "wrote out.run.documents.jsonl, titles for --documents" in written.out
    (system,) = json.loads(again.out)["systems"]
    assert system["documents"] == "out.run.documents.jsonl"
    lines = (folder / "out.run.documents.jsonl").read_text().splitlines()
    assert {line["_id"]: line["title"] for line in map(json.loads, lines)} == {
        f"{text}-0": f"The first of {text}" for text in ("one", "two", "none", "three")
    }
    assert "The first of one" in explained.out


def test_titles_never_take_the_place_of_an_input(say: Say, folder: Path) -> None:
    queries = folder / "out.run.documents.jsonl"
    queries.write_text('{"_id": "q0", "text": "one"}\n')
    change(folder, queries=queries.name)

    said = say("search", "search.json", "-o", "out.run", cwd=folder)

    assert said.code == 2
    assert "found an input file of this search as the titles out.run.documents.jsonl" in said.err
    assert queries.read_text() == '{"_id": "q0", "text": "one"}\n'


def test_a_check_names_all_mistakes_and_asks_nothing(say: Say, folder: Path) -> None:
    engine = CONFIG["backend"]
    backends = {
        "good": engine,
        "keys": {"kind": "http", "hit": "hits", "methd": "GET"},
        "kind": {"kind": "solr"},
        "code": {"kind": "function", "function": "engine.py:nothing"},
    }
    change(
        folder,
        backend=None,
        backends=backends,
        queries="no.tsv",
        qrels="no.txt",
        limit=0,
        breaker={"pause": -1, "wait": 2},
        limits=3,
    )

    said = say("search", "search.json", "--check", "-o", "runs", cwd=folder)

    assert said.code == 2
    assert said.out == ""
    for mistake in (
        "limit: found 0",
        "unknown key 'limits'",
        "breaker: unknown key 'wait'",
        "breaker.pause: found -1",
        "backends.keys: unknown key 'hit'",
        "backends.keys: unknown key 'methd'",
        "backends.keys.url: found nothing",
        "backends.kind.kind: found 'solr'",
        "backends.code.function: found engine.py:nothing",
        "no.tsv: found no such file",
        "no.txt: found no such file",
    ):
        assert said.err.count(mistake) == 1, (mistake, said.err)
    assert said.err.count("error: ") == 11, said.err
    assert not (folder / "asked.txt").exists()
    assert not (folder / "runs").exists()


def test_a_check_of_a_right_configuration_writes_a_line(say: Say, folder: Path) -> None:
    said = say("search", "search.json", "--check", "--qrels", "qrels.txt", cwd=folder)

    assert said.code == 0, said.err
    assert said.out == "search.json: 5 queries; backends function; no mistakes\n"
    assert not (folder / "asked.txt").exists()


def test_a_wrong_key_of_the_last_backend_comes_before_the_first_is_asked(
    say: Say, folder: Path
) -> None:
    late = {"first": CONFIG["backend"], "last": {"kind": "replay", "pth": "a.jsonl"}}
    change(folder, backend=None, backends=late)

    said = say("search", "search.json", "-o", "runs", cwd=folder)

    assert said.code == 2
    assert "backends.last: unknown key 'pth'" in said.err
    assert not (folder / "asked.txt").exists()


def test_the_share_without_a_judgment_is_beside_the_value(say: Say, folder: Path) -> None:
    write_queries(folder, ["one", "two"])
    arguments = ("search", "search.json", "-o", "out.run", "--qrels", "qrels.txt")

    table = say(*arguments, cwd=folder)
    rows = say(*arguments, "--format", "csv", cwd=folder)
    (system,) = json.loads(say(*arguments, "--format", "json", cwd=folder).out)["systems"]

    # three documents of each query, one of them judged
    assert system["unjudged"] == {"share": 4 / 6, "cutoff": 10}
    assert "unjudged@10" in table.out
    assert "66.7%" in table.out
    assert rows.out.splitlines()[0].endswith(",unjudged")
    assert rows.out.splitlines()[1].endswith(f",{4 / 6}")
