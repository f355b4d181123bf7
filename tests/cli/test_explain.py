"""`idealrank explain`: what it prints, and that its parts are the value `evaluate` prints."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]

COMMANDS = {
    "ndcg": "explain qrels.txt bm25.run --query q1",
    "ndcg-expected": "explain qrels.txt bm25.run --query q1 -m nDCG(gain=exp2)@2 --convention "
    "sklearn",
    "ndcg-rounded": "explain qrels.txt bm25.run --query q1 -m nDCG@3 --convention rre",
    "ap-all": "explain qrels.txt neural.run --query q2 -m MAP --all",
    "precision": "explain qrels.txt bm25.run --query q1 -m P@2",
    "no-relevant": "explain qrels.txt bm25.run --query q3 --convention lightgbm",
    "not-answered": "explain qrels.txt bm25.run --query q4 -m RR",
    "left-out": "explain qrels.txt bm25.run --query q5",
    "json": "explain qrels.txt bm25.run --query q1 -m nDCG@2 --format json",
    "texts": "explain qrels.txt bm25.run --query q1 --queries queries.tsv --documents "
    "documents.jsonl",
    "error-query": "explain qrels.txt bm25.run --query q11",
    "error-measure": "explain qrels.txt bm25.run --query q1 -m NumRet",
    "error-bpref": "explain qrels.txt bm25.run --query q1 -m Bpref(rel=2)",
    "error-two-measures": "explain qrels.txt bm25.run --query q1 -m AP,RR",
    "error-no-query": "explain qrels.txt bm25.run",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_explain_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"explain-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)
    assert name == "json" or max(map(len, said.out.splitlines()), default=0) <= 100


@pytest.mark.spread(8)
@pytest.mark.parametrize("measure", ["nDCG@10", "nDCG", "AP", "RR", "P@5", "R@5"])
@pytest.mark.parametrize("convention", ["standard", "lightgbm", "sklearn", "trec_eval-9"])
def test_the_contributions_sum_to_what_evaluate_prints(
    measure: str, convention: str, say: Say
) -> None:
    options = ("-m", measure, "--convention", convention, "--format", "json")
    evaluated = json.loads(say("evaluate", "qrels.txt", "bm25.run", *options, "--per-query").out)[
        "runs"
    ][0]["queries"]

    for query, values in evaluated.items():
        explained = json.loads(
            say("explain", "qrels.txt", "bm25.run", "--query", query, *options).out
        )
        assert explained["value"] == values[measure]
        assert sum(row["contribution"] for row in explained["rows"]) + explained[
            "adjustment"
        ] == pytest.approx(values[measure], abs=1e-12)


def test_long_ids_are_clipped_so_that_the_table_fits(say: Say, tmp_path: Path) -> None:
    ids = [
        f"https://example.org/a/rather/long/address/of/a/document/number-{number}"
        for number in range(3)
    ]
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q1 0 {name} {grade}\n" for grade, name in enumerate(ids)), encoding="utf-8"
    )
    (tmp_path / "a.run").write_text(
        "".join(f"q1 Q0 {name} 1 {score} t\n" for score, name in enumerate(ids)), encoding="utf-8"
    )

    table, _, improvements = say(
        "explain", "qrels.txt", "a.run", "--query", "q1", cwd=tmp_path
    ).out.partition("\n\nbest")

    assert max(map(len, table.splitlines())) <= 100
    assert ".." in table
    assert "none would raise the value" in improvements


def test_a_list_without_a_cutoff_shows_twenty_ranks_and_says_what_the_rest_adds(
    say: Say, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d25 1\n", encoding="utf-8")
    (tmp_path / "a.run").write_text(
        "".join(f"q1 Q0 d{number} 1 {-number} t\n" for number in range(1, 31)), encoding="utf-8"
    )

    short = say("explain", "qrels.txt", "a.run", "--query", "q1", "-m", "AP", cwd=tmp_path).out
    whole = say(
        "explain", "qrels.txt", "a.run", "--query", "q1", "-m", "AP", "--all", cwd=tmp_path
    ).out

    assert "10 more returned (1 judged) add 0.0400; --all shows them" in short
    assert "more returned" not in whole
    assert len(whole.splitlines()) - len(short.splitlines()) == 9


def test_texts_are_in_the_json_beside_their_ids(say: Say) -> None:
    options = ("explain", "qrels.txt", "neural.run", "--query", "q2", "--format", "json")
    plain = json.loads(say(*options).out)
    record = json.loads(
        say(*options, "--queries", "queries.tsv", "--documents", "documents.jsonl").out
    )

    assert record.pop("text") == "open a file"
    titles = {row["document"]: row.pop("text") for row in (*record["rows"], *record["ideal"])}

    assert titles["d5"].startswith("Input and Output: ")
    assert record == plain
