"""`idealrank why`: what it prints, that its formats agree with the library and their parts with the
values, and its errors.
"""

import csv
import io
import json
import math
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from tests.cli.terminal import DATA, Said, check_snapshot

Say = Callable[..., Said]

COMMANDS = {
    "table": "why qrels.txt bm25.run neural.run",
    "ap": "why qrels.txt neural.run bm25.run -m AP --show 1 --show-documents 1",
    "json": "why qrels.txt bm25.run neural.run --show 1 --format json",
    "csv": "why qrels.txt bm25.run neural.run --format csv",
    "texts": "why qrels.txt bm25.run neural.run --show 2 --queries queries.tsv --documents "
    "documents.jsonl",
    "texts-csv": "why qrels.txt bm25.run neural.run --queries queries.tsv --format csv",
    "error-one-run": "why qrels.txt bm25.run",
    "error-same-run": "why qrels.txt bm25.run bm25.run",
    "error-measure": "why qrels.txt bm25.run neural.run -m AUC",
    "error-two-measures": "why qrels.txt bm25.run neural.run -m AP,RR",
    "error-csv-texts": "why qrels.txt bm25.run neural.run --documents documents.jsonl --format csv",
    "error-csv-documents": "why qrels.txt bm25.run neural.run --format csv --show-documents 2",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_why_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"why-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_the_json_is_the_library_and_its_parts_sum_to_the_values(say: Say) -> None:
    record = json.loads(
        say("why", "qrels.txt", "bm25.run", "neural.run", "-m", "nDCG", "--format", "json").out
    )

    expected = ir.attribute(
        *(DATA / name for name in ("qrels.txt", "bm25.run", "neural.run")), "nDCG"
    )  # type: ignore[call-arg]
    runs = [
        ir.evaluate(DATA / "qrels.txt", DATA / name, "nDCG") for name in ("bm25.run", "neural.run")
    ]
    a, b = (dict(zip(run.queries, run["nDCG"].tolist(), strict=True)) for run in runs)
    assert record["queries"] == expected.as_dict()["queries"]
    assert [query["difference"] for query in record["queries"]] == sorted(
        b[query] - a[query] for query in a
    )
    for query in record["queries"]:
        added = math.fsum(document["difference"] for document in query["documents"])
        assert added == pytest.approx(b[query["query"]] - a[query["query"]], abs=1e-12)
    assert math.fsum(move["difference"] for move in record["moves"]) == pytest.approx(
        record["difference"], abs=1e-12
    )


def test_the_csv_has_every_query_or_as_many_as_asked(say: Say) -> None:
    rows = list(
        csv.DictReader(
            io.StringIO(say("why", "qrels.txt", "bm25.run", "neural.run", "--format", "csv").out)
        )
    )
    some = say(
        "why", "qrels.txt", "bm25.run", "neural.run", "--format", "csv", "--show", "2"
    ).out.splitlines()

    expected = ir.attribute(*(DATA / name for name in ("qrels.txt", "bm25.run", "neural.run")))  # type: ignore[call-arg]
    assert [(row["query"], float(row["difference"])) for row in rows] == [
        (one.query, one.difference) for one in expected.queries
    ]
    assert {(row["run_a"], row["run_b"], row["measure"]) for row in rows} == {
        ("bm25", "neural", "nDCG@10")
    }
    assert len(some) == 3


def test_a_run_of_other_queries_is_doubted(say: Say, tmp_path: Path) -> None:
    (tmp_path / "other.run").write_text("z1 Q0 d1 1 1.0 t\n", encoding="utf-8")

    said = say("why", "qrels.txt", "bm25.run", str(tmp_path / "other.run"))

    assert said.code == 0
    assert (
        "run other answers none of the 4 judged queries; do the query ids of both match?"
        in said.err
    )


def test_shares_that_cancel_beyond_100_percent_give_way_to_counts(say: Say, tmp_path: Path) -> None:
    """Reciprocal ranks, by hand: -1/2 on one query and +1/4 on another, over two queries -0.125;
    the part is twice the whole.
    """
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n", encoding="utf-8")
    rankings = {
        "old": {"q1": "ax", "q2": "xyzb"},
        "new": {"q1": "xa", "q2": "xb"},
        "worse": {"q1": "xa", "q2": "xyzb"},
    }
    for name, run in rankings.items():
        lines = [
            f"{query} Q0 {document} {rank} {-rank} t\n"
            for query, found in run.items()
            for rank, document in enumerate(found, 1)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")

    cancelled, one_way = (
        say("why", "qrels.txt", "old.run", f"{run}.run", "-m", "RR", cwd=tmp_path)
        for run in ("new", "worse")
    )

    assert cancelled.out.splitlines()[4:10] == [
        "relevant documents that  number  queries  difference",
        "moved up                      1        1     +0.1250",
        "moved down                    1        1     -0.2500",
        "",
        "Gains and losses partly cancel: one part is larger than the whole difference, so no "
        "percentages are shown.",
        "",
    ]
    assert "documents that  number  queries  difference  share" in one_way.out
    assert "Gains and losses partly cancel" not in one_way.out


def test_texts_stand_beside_the_ids_of_the_same_numbers(say: Say) -> None:
    options = ("why", "qrels.txt", "bm25.run", "neural.run", "--format", "json")
    plain = json.loads(say(*options).out)
    texts = say(*options, "--queries", "queries.tsv", "--documents", "documents.jsonl")
    record = json.loads(texts.out)
    queries = dict(line.split("\t") for line in (DATA / "queries.tsv").read_text().splitlines())
    titles = [json.loads(line) for line in (DATA / "documents.jsonl").read_text().splitlines()]
    documents = {line["_id"]: f"{line['title']}: {line['text']}" for line in titles}

    for query in record["queries"]:
        assert query.pop("text") == queries[query["query"]]
        for document in query["documents"]:
            assert document.pop("text") == documents[document["document"]]

    assert record == plain
    assert texts.err == ""


def test_a_file_of_other_texts_is_doubted(say: Say, tmp_path: Path) -> None:
    (tmp_path / "other.tsv").write_text("x\tsort a list\n")
    (tmp_path / "shop.csv").write_text("sku,title\nd1,Sorting Techniques\n")
    runs = ("why", "qrels.txt", "bm25.run", "neural.run")

    other = say(*runs, "--queries", str(tmp_path / "other.tsv"))
    some = say(*runs, "--documents", str(tmp_path / "shop.csv"))
    missing = say(*runs, "--documents", str(tmp_path / "none.csv"))

    assert "found the text of none of the 3 queries shown" in other.err
    assert "do the ids match?" in other.err
    assert "found texts of 1 of the" in some.err
    assert "Sorting Techniques" in some.out
    assert missing.code == 2
    assert "none.csv" in missing.err


def test_a_narrow_terminal_keeps_every_text_in_its_width(say: Say) -> None:
    said = say(
        *("why", "qrels.txt", "bm25.run", "neural.run", "--documents", "documents.jsonl"),
        *("--show-documents", "9"),
    )

    assert max(map(len, said.out.splitlines())) <= 100
