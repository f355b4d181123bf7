"""`idealrank judge run`: judgments, a cache that survives kill -9, and failures that are listed."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.io.judgment_files import read_labels_table
from tests.cli.terminal import Said
from tests.live.live_fakes import send, service

Say = Callable[..., Said]

# Each call is written down.
JUDGE = """
import os, time
def grade(query, document):
    with open("asked.txt", "a") as log:
        log.write(document + "\\n")
    time.sleep(float(os.environ.get("PAUSE", "0")))
    if document == "d3": raise ValueError("no memory")
    return int(document[1:]) % 3
"""
CONFIG = {
    "judge": {"kind": "function", "function": "judge.py:grade", "takes": "ids"},
    "pairs": "pairs.csv",
    "scale": [0, 1, 2],
    "concurrency": 2,
    "most_failed": 0.5,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "judge.py").write_text(JUDGE)
    (tmp_path / "judge.json").write_text(json.dumps(CONFIG))
    write_pairs(tmp_path, 6)
    (tmp_path / "human.qrels").write_text("q0 0 d0 0\nq1 0 d1 1\nq0 0 d2 1\n")
    return tmp_path


def write_pairs(folder: Path, number: int) -> None:
    (folder / "pairs.csv").write_text(
        "query,document\n" + "".join(f"q{place % 2},d{place}\n" for place in range(number))
    )


def change(folder: Path, **keys: Any) -> None:
    (folder / "judge.json").write_text(json.dumps({**CONFIG, **keys}))


def test_a_run_writes_judgments_and_a_table_and_says_what_failed(folder: Path, say: Say) -> None:
    said = say(
        "judge", "run", "judge.json", "-o", "model.qrels", "--qrels", "human.qrels", cwd=folder
    )
    assert said.code == 0, said.err
    assert said.out.splitlines() == [
        "judge  pairs  graded  abstained  unreadable  failed  asked now  from cache",
        "grade      6       5          0           0       1          6           0",
        "",
        "grade  0  1  2",
        "pairs  1  2  2",
        "",
        "Against the people on 3 pairs: 67 % equal, linear kappa 0.571, mean difference +0.33.",
        "",
        "requests without a grade:",
        "  1 x grade: ValueError: no memory (judge.py:7, in grade)",
        "",
        "wrote model.qrels",
        "wrote model.qrels.labels.csv",
    ]
    assert dict(ir.read_qrels(str(folder / "model.qrels"))["q0"]) == {"d0": 0, "d2": 2, "d4": 1}
    again = json.loads(
        say("judge", "run", "judge.json", "-o", "model.qrels", "--format", "json", cwd=folder).out
    )
    assert (again["asked"], again["graded"], again["failed"], again["people"]) == (0, 5, 1, None)
    rows = say(
        "judge",
        "run",
        "judge.json",
        "-o",
        "model.qrels",
        "--format",
        "csv",
        "--retry-failed",
        cwd=folder,
    ).out.splitlines()
    assert dict(zip(rows[0].split(","), rows[1].split(","), strict=True))["asked"] == "1"


def test_a_check_asks_nothing_and_counts_what_is_left(folder: Path, say: Say) -> None:
    said = say("judge", "run", "judge.json", "-o", "model.qrels", "--check", cwd=folder)
    assert (said.code, said.out) == (0, "judge.json: 6 pairs; 6 requests, 6 to send\n")
    assert not (folder / "asked.txt").exists()
    say("judge", "run", "judge.json", "-o", "model.qrels", cwd=folder)
    change(folder, repeats=2)
    said = say("judge", "run", "judge.json", "-o", "model.qrels", "--check", cwd=folder)
    assert said.out == "judge.json: 6 pairs; 12 requests, 6 to send\n"


def test_too_many_failures_are_an_error_and_nothing_is_written(folder: Path, say: Say) -> None:
    change(folder, most_failed=0)
    said = say("judge", "run", "judge.json", "-o", "model.qrels", cwd=folder)
    assert said.code == 2
    assert "found 1 of 6 pairs without a grade" in said.err
    assert not (folder / "model.qrels").exists()
    assert len(read_labels_table(folder / "model.qrels.labels.csv")) == 6


def test_judgments_of_people_are_never_replaced(folder: Path, say: Say) -> None:
    before = (folder / "human.qrels").read_bytes()
    said = say("judge", "run", "judge.json", "-o", "human.qrels", cwd=folder)
    assert said.code == 2
    assert "without its origin" in said.err
    assert (folder / "human.qrels").read_bytes() == before


def test_an_output_is_asked_for(folder: Path, say: Say) -> None:
    assert "use -o QRELS" in say("judge", "run", "judge.json", cwd=folder).err


def test_after_kill_9_nothing_is_lost_and_nothing_asked_again(folder: Path) -> None:
    number = 240
    write_pairs(folder, number)
    command = [sys.executable, "-m", "idealrank", "judge", "run", "judge.json", "-o", "out.qrels"]
    surroundings = {**os.environ, "PAUSE": "0.004"}

    def asked() -> list[str]:
        return (folder / "asked.txt").read_text().splitlines()

    for enough in (40, 120):
        with subprocess.Popen(
            command, cwd=folder, env=surroundings, stdout=subprocess.DEVNULL
        ) as process:
            while not (folder / "asked.txt").exists() or len(asked()) < enough:
                assert process.poll() is None, "the run ended before it was killed"
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
        assert not (folder / "out.qrels").exists()
    assert (
        subprocess.run(
            command, cwd=folder, env=surroundings, check=False, capture_output=True
        ).returncode
        == 0
    )
    times = Counter(asked())
    assert set(times) == {f"d{place}" for place in range(number)}
    assert sum(times.values()) <= number + 2 * CONFIG["concurrency"], (
        "only requests under way at a kill are sent again"
    )  # type: ignore[operator]
    found = ir.read_qrels(str(folder / "out.qrels"))
    assert {
        document: grade for query in ("q0", "q1") for document, grade in found[query].items()
    } == {f"d{place}": place % 3 for place in range(number) if place != 3}


def test_an_error_of_every_call_names_function_file_and_line(folder: Path, say: Say) -> None:
    (folder / "judge.py").write_text("def grade(query, document):\n    return len(query) / 0\n")
    write_pairs(folder, 30)
    said = say("judge", "run", "judge.json", "-o", "model.qrels", cwd=folder)
    text = " ".join(said.err.split())
    assert said.code == 2
    assert (
        "grade: stopped, as it failed on all requests so far; the last failure: grade: "
        "ZeroDivisionError: division by zero" in text
    )
    assert "(judge.py:2, in grade)" in text
    assert "mend the function" in text
    assert "service" not in text
    assert len(read_labels_table(folder / "model.qrels.labels.csv")) == 30


def test_documents_of_a_pool_that_are_not_sampled_are_not_asked_and_a_note_counts_them(
    folder: Path, say: Say
) -> None:
    ranked = "".join(f"q1 Q0 d{place} {place + 1} {100 - place} bm25\n" for place in range(40))
    (folder / "bm25.run").write_text(ranked)
    pool = say(
        "judge",
        "pool",
        "bm25.run",
        "--sampling-rates",
        "10:1,40:0.5",
        "--format",
        "csv",
        "-o",
        "pairs.csv",
        cwd=folder,
    )
    assert pool.code == 0, pool.err
    said = say("judge", "run", "judge.json", "-o", "model.qrels", "--check", cwd=folder)
    assert said.out == "judge.json: 25 pairs; 25 requests, 25 to send\n"
    assert (
        " ".join(said.err.split())
        == "note: pairs.csv: 15 of 40 pairs are not sampled and were left out; 25 are to be judged"
    )


def test_paths_start_at_the_current_folder_and_the_message_says_where_to_go(
    folder: Path, say: Say
) -> None:
    (folder / "below").mkdir()
    said = say("judge", "run", "../judge.json", "-o", "model.qrels", cwd=folder / "below")
    text = " ".join(said.err.split())
    assert said.code == 2
    assert "pairs.csv: found no such file" in text
    assert "paths of a configuration start at the current folder; run the command in .." in text


@pytest.mark.parametrize("more", [(), ("--check",)], ids=["run", "check"])
@pytest.mark.parametrize(
    "keys",
    [
        {"pairs": "data/x.csv"},
        {"pairs": "/no/such/x.csv"},
        {"pairs": "../x.csv"},
        {"queries": "data/q.tsv"},
        {"documents": "data/d.jsonl"},
        {
            "judge": {
                "kind": "openai",
                "url": "http://127.0.0.1:1",
                "model": "m",
                "prompt": "prompts/p.txt",
            }
        },
    ],
    ids=str,
)
def test_a_missing_file_in_another_folder_is_named(
    folder: Path, say: Say, keys: dict[str, Any], more: tuple[str, ...]
) -> None:
    change(folder, **keys)
    said = say("judge", "run", "judge.json", "-o", "model.qrels", *more, cwd=folder)
    key, missing = next(iter(keys.items()))
    if key == "judge":
        key, missing = "judge.prompt", missing["prompt"]
    message = f"error: judge.json: {key}: {missing}: found no such file\n"
    assert (said.code, said.err) == (2, message)


def test_a_file_in_a_folder_beside_the_configuration_is_said_to_be_there(
    folder: Path, say: Say
) -> None:
    (folder / "data").mkdir()
    (folder / "below").mkdir()
    (folder / "pairs.csv").rename(folder / "data" / "x.csv")
    change(folder, pairs="data/x.csv")
    said = say("judge", "run", "../judge.json", "-o", "model.qrels", cwd=folder / "below")
    assert said.code == 2
    assert (
        "data/x.csv: found no such file; paths of a configuration start at the current "
        "folder; run the command in .." in said.err
    )


def test_a_check_refuses_a_program_that_is_not_there(folder: Path, say: Say) -> None:
    change(folder, judge={"kind": "command", "command": ["nopeprog", "judge.py"]})
    for more in (["--check"], []):
        said = say("judge", "run", "judge.json", "-o", "model.qrels", *more, cwd=folder)
        assert said.code == 2
        assert (
            "judge.json: judge.command: found no program nopeprog, expected one that is on the PATH"
            in " ".join(said.err.split())
        )


def test_a_judge_that_abstains_on_every_pair_is_told_so(folder: Path, say: Say) -> None:
    (folder / "judge.py").write_text("def grade(query, document):\n    1\n")
    said = say("judge", "run", "judge.json", "-o", "model.qrels", cwd=folder)
    text = " ".join(said.err.split())
    assert said.code == 2
    assert (
        "grade: found 6 of 6 pairs without a grade (the judge abstained on 6), expected at "
        "least one with a grade" in text
    )
    assert (
        "a function without `return` abstains, so let the judge answer with a grade of 0, 1, 2"
        in text
    )
    assert "--retry-failed" not in text


@pytest.mark.parametrize("where", ["help", "guide"])
def test_the_configuration_that_is_printed_works_for_a_local_server_without_a_key(
    tmp_path: Path, say: Say, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    guide = Path(__file__).parents[2] / "docs" / "live" / "judge-run.md"
    whole = say("judge", "run", "--help").out if where == "help" else guide.read_text()
    text = textwrap.dedent(
        whole.partition("for a model on this machine:" if where == "help" else "```yaml")[
            2
        ].partition("qrels: human")[0]
    )

    def answer(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        assert "authorization" not in handler.headers
        send(handler, {"choices": [{"message": {"content": "1"}}]})

    for name, content in (
        ("next.csv", "query,document\nq1,d1\n"),
        ("queries.tsv", "q1\ta\n"),
        ("prompt.txt", "{query} {text}"),
    ):
        (tmp_path / name).write_text(content)
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "a"}\n')
    with service(answer) as (url, _):
        (tmp_path / "judge.yaml").write_text(text.replace("http://127.0.0.1:11434", url))
        said = say("judge", "run", "judge.yaml", "-o", "a.qrels", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
