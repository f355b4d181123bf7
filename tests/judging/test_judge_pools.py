"""`idealrank judge pool`, `estimate`, `reuse` and `queries`: what they print, that their formats
agree, and that their errors teach.
"""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]

COMMANDS = {
    "pool": "judge pool bm25.run neural.run --depth 2",
    "pool-strata": "judge pool bm25.run neural.run --sampling-rates 1:1,5:0.5",
    "pool-csv": "judge pool bm25.run neural.run --order rrf --budget 6 --format csv",
    "pool-json": "judge pool bm25.run neural.run --budget 2 --format json",
    "pool-markdown": "judge pool bm25.run --depth 1 --format markdown",
    "pool-error-both": "judge pool bm25.run --depth 3 --sampling-rates 1:1",
    "pool-error-strata": "judge pool bm25.run --sampling-rates 5:2",
    "infer": "judge infer sampled.txt bm25.run neural.run",
    "infer-dcg": "judge infer sampled.txt bm25.run neural.run -m DCG --cutoff 3 --digits 2",
    "infer-csv": "judge infer sampled.txt bm25.run -m statAP --format csv",
    "infer-json": "judge infer sampled.txt bm25.run -m infAP --format json",
    "infer-error-measure": "judge infer sampled.txt bm25.run -m AP",
    "infer-error-file": "judge infer qrels.txt bm25.run",
    "infer-error-cutoff": "judge infer sampled.txt bm25.run --cutoff 3",
    "reuse": "judge reuse qrels.txt bm25.run neural.run twice.run --depth 2 --convention "
    "standard,duplicates=first",
    "reuse-team": "judge reuse qrels.txt bm25.run neural.run --team bm25=x --team neural=x -m RR",
    "reuse-csv": "judge reuse qrels.txt bm25.run neural.run --format csv",
    "reuse-json": "judge reuse qrels.txt bm25.run neural.run --format json",
    "reuse-error-team": "judge reuse qrels.txt bm25.run --team other=x",
    "draw": "judge draw traffic.csv --count 6 --strata kinds.csv --take new=1",
    "draw-budget": "judge draw traffic.csv --max-cost 12 --price 0.1 --labels-per-query 20",
    "draw-csv": "judge draw traffic.csv --count 4 --format csv",
    "draw-json": "judge draw traffic.csv --count 4 --format json",
    "draw-error-both": "judge draw traffic.csv --count 4 --max-cost 4",
    "draw-error-budget": "judge draw traffic.csv --max-cost 0.5",
    "draw-error-take": "judge draw traffic.csv --take new",
    "draw-error-stratum": "judge draw traffic.csv --strata kinds.csv",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_judge_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"judge-{name}", said.text(command))
    assert said.code == (2 if "error" in name else 0)


def test_a_sample_is_pooled_judged_and_estimated(say: Say, tmp_path: Path) -> None:
    """Everything is sampled, so that the estimate is the value with all judgments of the pool."""
    sample, labels = tmp_path / "sample.csv", tmp_path / "labels.txt"
    say(
        "judge",
        "pool",
        "bm25.run",
        "neural.run",
        "--sampling-rates",
        "2:1,9:1",
        "--format",
        "csv",
        "-o",
        str(sample),
    )
    rows = list(csv.DictReader(io.StringIO(sample.read_text("utf-8"))))
    grades: dict[str, dict[str, float]] = {}
    for place, row in enumerate(rows):
        grades.setdefault(row["query"], {})[row["document"]] = place % 3
    labels.write_text(
        "".join(
            f"{query} 0 {document} {grade}\n"
            for query, of in grades.items()
            for document, grade in of.items()
        ),
        "utf-8",
    )
    said = say(
        "judge",
        "infer",
        str(sample),
        "bm25.run",
        "--qrels",
        str(labels),
        "-m",
        "DCG",
        "--format",
        "json",
    )
    estimate = json.loads(said.out)["estimates"][0]
    run = say(
        "evaluate",
        str(labels),
        "bm25.run",
        "-m",
        "DCG",
        "--format",
        "json",
        "--convention",
        "standard,duplicates=first",
    )
    assert estimate["mean"] == pytest.approx(json.loads(run.out)["runs"][0]["mean"]["DCG"])


def test_weights_of_a_sample_are_read_by_compare(say: Say, tmp_path: Path) -> None:
    traffic, weights = tmp_path / "traffic.csv", tmp_path / "weights.csv"
    queries = list(ir.Qrels({"q1": {}, "q2": {}, "q3": {}, "q4": {}}).queries)
    traffic.write_text(
        "query,traffic\n"
        + "".join(f"{query},{10 - place}\n" for place, query in enumerate(queries)),
        "utf-8",
    )
    say("judge", "draw", str(traffic), "--count", "4", "--format", "csv", "-o", str(weights))
    assert {row["query"] for row in csv.DictReader(io.StringIO(weights.read_text("utf-8")))} == set(
        queries
    )
    said = say(
        "compare", "qrels.txt", "bm25.run", "neural.run", "-m", "RR", "--weights", str(weights)
    )
    assert said.code == 0
    assert "weight" in said.out


def test_a_draw_of_all_queries_is_exact(say: Say, tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("query,traffic\na,5\nb,3\nc,1\n", encoding="utf-8")
    said = say("judge", "draw", "all.csv", "--count", "3", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert "exact" in said.out
    assert "0.0000" not in said.out


@pytest.mark.parametrize("layout", ["table", "markdown"])
def test_a_draw_of_one_query_has_no_precision(say: Say, tmp_path: Path, layout: str) -> None:
    (tmp_path / "one.csv").write_text("query,traffic\na,5\n", encoding="utf-8")
    said = say("judge", "draw", "one.csv", "--count", "1", "--format", layout, cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert "1 query to label" in said.out
    assert "weight: requests over" in said.out
    assert not any(word in said.out for word in ("Cost and precision", "interval +-", "detects"))


def test_a_draw_is_no_larger_than_the_traffic(say: Say, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("query,traffic\na,5\nb,4\nc,2\nd,1\n", encoding="utf-8")
    (tmp_path / "kinds.csv").write_text("query,stratum\nd,new\n", encoding="utf-8")
    for options, notes in (
        ([], ["head and tail have 4 queries, fewer than the 100 of the default; all are drawn"]),
        (
            ["--count", "8"],
            ["head and tail have 4 queries, fewer than the 8 of --count; all are drawn"],
        ),
        (
            ["--max-cost", "500"],
            [
                "head and tail have 4 queries, fewer than the 217 that --max-cost 500 pays for; "
                "all are drawn"
            ],
        ),
        (
            ["--count", "3", "--strata", "kinds.csv", "--take", "new=2"],
            ["stratum new has 1 query, fewer than the 2 of --take; all are drawn"],
        ),
        (["--count", "3"], []),
    ):
        said = say("judge", "draw", "few.csv", *options, "--format", "json", cwd=tmp_path)
        assert (said.code, said.err.splitlines()) == (0, [f"note: {note}" for note in notes]), (
            options
        )
        assert [plan["n_queries"] for plan in json.loads(said.out)["plans"]] == sorted(
            {2, len(json.loads(said.out)["queries"]), 4}
        )


def test_intervals_by_the_weights_of_a_sample_have_a_caution(say: Say, tmp_path: Path) -> None:
    """They do not know which queries were taken for certain, so that they are too wide."""
    drawn = tmp_path / "drawn.csv"
    lines = [f"q{number},head,5,0.5,{number + 1}" for number in range(1, 9)]
    drawn.write_text(
        "query,stratum,requests,probability,weight\n" + "\n".join(lines) + "\n", encoding="utf-8"
    )
    plain = tmp_path / "plain.txt"
    plain.write_text(
        "".join(f"q{number} {number + 1}\n" for number in range(1, 9)), encoding="utf-8"
    )
    command = ("evaluate", "qrels.txt", "bm25.run", "-m", "RR", "--intervals", "--weights")

    of_sample, of_traffic = say(*command, str(drawn)), say(*command, str(plain))

    assert of_sample.code == of_traffic.code == 0
    told = [" ".join(said.out.split()) for said in (of_sample, of_traffic)]
    assert ["has a sample of queries" in one for one in told] == [True, False]
