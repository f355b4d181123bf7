"""`idealrank evaluate --memory`: the same output, a journal that a killed command leaves, and what
is refused.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.cli.progress import Count, RatedCount
from idealrank.io.evaluation_journal import EvaluationJournal
from tests.cli.terminal import Said

Say = Callable[..., Said]
BUDGET = "4GB"  # of the process that runs all tests


@pytest.mark.parametrize("layout", ["json", "csv"])
@pytest.mark.parametrize("more", [[], ["--per-query"], ["--convention", "trec_eval-9"]])
def test_the_output_is_the_same(say: Say, layout: str, more: list[str]) -> None:
    command = ["evaluate", "qrels.txt", "bm25.run", "neural.run", "--format", layout, *more]
    assert say(*command, "--memory", BUDGET) == say(*command)


@pytest.mark.parametrize("run", ["broken.qrels", "nan.run", "twice.run", "bm26.run", "bm25.run.gz"])
def test_errors_and_compressed_files_are_the_same(say: Say, run: str) -> None:
    command = [
        "evaluate",
        "qrels.txt",
        run,
        "--convention",
        "sklearn,duplicates=error",
        "--format",
        "json",
    ]
    assert say(*command, "--memory", BUDGET) == say(*command)


@pytest.mark.parametrize(
    ("more", "found"),
    [
        (["--memory", "much"], "--memory much: expected an amount of memory"),
        (["--memory", "1MB"], "the program and the judgments take"),
        (["--memory", BUDGET, "--report", "out.html"], "--report: found --memory too"),
        (
            ["--memory", BUDGET, "--judgments", "qrels_prefs"],
            "--judgments qrels_prefs: found --memory too",
        ),
    ],
)
def test_what_is_refused(say: Say, more: list[str], found: str) -> None:
    said = say("evaluate", "qrels.txt", "bm25.run", *more)
    assert said.code == 2
    assert found in " ".join(said.err.split()).replace("'", "").replace(
        "memory=", "--memory "
    ).replace("----", "--")


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_command_goes_on_and_measures_no_file_twice(tmp_path: Path) -> None:
    """The second of two runs is a pipe that is never written: the command is killed while it waits.
    Then the file is there.
    """
    lines = "".join(
        f"q{query} Q0 d{rank} {rank} {9 - rank} t\n" for query in range(50) for rank in range(1, 6)
    )
    (tmp_path / "qrels").write_text("".join(f"q{query} 0 d3 1\n" for query in range(50)))
    (tmp_path / "first.run").write_text(lines)
    os.mkfifo(tmp_path / "second.run")
    journal, output = tmp_path / "values.json.journal", tmp_path / "values.json"
    command = [
        sys.executable,
        "-m",
        "idealrank",
        "evaluate",
        "qrels",
        "first.run",
        "second.run",
        "--memory",
        "2GB",
        "--format",
        "json",
        "-o",
        "values.json",
    ]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 120
        while not (journal.exists() and journal.read_bytes().count(b"\n") == 2):
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert not output.exists()
    (tmp_path / "second.run").unlink()
    (tmp_path / "second.run").write_text(lines)
    kept = journal.read_bytes()
    marked = json.loads(kept.splitlines()[1])
    marked["coverage"]["tied_documents"] = 12345  # which only the journal can tell
    # and a line that was cut
    journal.write_bytes(
        kept.splitlines(keepends=True)[0] + json.dumps(marked).encode() + b"\n" + kept[:100]
    )
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "1 of 2 runs were evaluated before" in done.stderr
    assert not journal.exists()
    found = json.loads(output.read_text())["runs"]
    assert [run["coverage"]["tied_documents"] for run in found] == [12345, 0]
    assert found[0]["mean"] == found[1]["mean"]


STOPPED = """
import sys, time
from idealrank.cli.main import main
from idealrank.io import query_buckets, run_stream

run_stream._LARGEST_TEXT = 2000  # a small run has several parts
write = query_buckets._write

def waiting(file, data):
    write(file, data)
    if len(data):
        print("written", flush=True)
        time.sleep(100)

query_buckets._write = waiting
sys.exit(main())
"""


@pytest.mark.parametrize("signalled", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_leaves_no_temporary_file(
    tmp_path: Path, signalled: signal.Signals
) -> None:
    """Stopped while rows are grouped by query, after the first were written."""
    lines = "".join(
        f"q{query} Q0 d{rank} {rank} {9 - rank} t\n" for rank in range(1, 9) for query in range(50)
    )
    (tmp_path / "qrels").write_text("".join(f"q{query} 0 d3 1\n" for query in range(50)))
    (tmp_path / "mixed.run").write_text(lines)
    (tmp_path / "temporary").mkdir()
    command = [
        sys.executable,
        "-c",
        STOPPED,
        "evaluate",
        "qrels",
        "mixed.run",
        "--memory",
        "2GB",
        "-o",
        "values.txt",
    ]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        process.send_signal(signalled)
        _, said = process.communicate(timeout=60)
    assert process.returncode in ((130,) if signalled == signal.SIGINT else (-signal.SIGTERM, 143))
    assert "Traceback" not in said
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["mixed.run", "qrels", "temporary"]


def test_a_journal_of_other_judgments_or_of_a_changed_file_is_not_used(
    say: Say, tmp_path: Path
) -> None:
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "a.run").write_text("q Q0 a 1 2 t\n")
    (tmp_path / "no.json").mkdir()  # the output cannot be written, so the journal stays
    command = ["evaluate", "qrels", "a.run", "-m", "RR", "--format", "json", "--memory", BUDGET]
    assert say(*command, "-o", "no.json", cwd=tmp_path).code != 0
    assert (tmp_path / "no.json.journal").exists()
    (tmp_path / "no.json").rmdir()
    (tmp_path / "a.run").write_text("q Q0 b 1 3 t\nq Q0 a 2 1 t\n")
    assert say(*command, "-o", "no.json", cwd=tmp_path).code == 0
    assert json.loads((tmp_path / "no.json").read_text())["runs"][0]["mean"] == {"RR": 0.5}
    (tmp_path / "b.csv").write_text("qid,docno,score,other\nq,a,1,2\nq,b,2,1\n")
    command[2] = "b.csv"
    (tmp_path / "no.json").unlink()
    (tmp_path / "no.json").mkdir()
    assert say(*command, "-o", "no.json", cwd=tmp_path).code != 0
    assert (tmp_path / "no.json.journal").exists()
    (tmp_path / "no.json").rmdir()
    # other values of the same file
    assert say(*command, "--run-columns", "score=other", "-o", "no.json", cwd=tmp_path).code == 0
    assert json.loads((tmp_path / "no.json").read_text())["runs"][0]["mean"] == {"RR": 1.0}
    (tmp_path / "no.json.journal").write_text("my own notes\n")
    said = say(*command, "-o", "no.json", cwd=tmp_path)
    assert said.code == 2
    assert "no journal of an evaluation" in " ".join(said.err.split())
    assert (tmp_path / "no.json.journal").read_text() == "my own notes\n"


def test_a_file_that_changes_while_it_is_measured_is_not_kept(tmp_path: Path) -> None:
    """Its values come from the old content, but the journal would name the new content."""
    run, measures, standard = (
        tmp_path / "a.run",
        (ir.parse_measure("RR"),),
        ir.Convention.of("standard"),
    )
    run.write_text("q Q0 a 1 2 t\n")
    journal = EvaluationJournal(str(tmp_path / "journal"), {})
    assert journal.find(str(run), "a", measures, standard) is None
    found = ir.evaluate({"q": {"a": 1}}, run, measures)
    run.write_text("q Q0 b 1 3 t\nq Q0 a 2 1 t\n")
    journal.add(str(run), found)
    assert (
        EvaluationJournal(str(tmp_path / "journal"), {}).find(str(run), "a", measures, standard)
        is None
    )


def test_the_bar_has_a_rate_that_starts_again_with_a_second_pass() -> None:
    count, clock = Count(), iter([0.0, 2.0, 3.0, 3.0, 4.0])
    rated = RatedCount(count, "B", now=lambda: next(clock))
    rated(300_000_000, 600_000_000)
    assert (count.done, count.total, count.note) == (300_000_000, 600_000_000, "150.0 MB/s")
    rated(0, 600_000_000)
    rated(50_000_000, 600_000_000)
    assert count.note == "50.0 MB/s"
