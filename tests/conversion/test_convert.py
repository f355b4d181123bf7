"""`idealrank convert`: what it says of losses, its JSON, standard input and output, and its
errors.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from tests.cli.terminal import Said

Say = Callable[..., Said]
BOOK = "query,docid,Ann,gpt-4o\nred shoes,p1,3,2\nred shoes,p2,0,\nhat,p3,,\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "book.csv").write_text(BOOK, encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0.5\n", encoding="utf-8")
    return tmp_path


def test_losses_are_named_on_stderr(say: Say, folder: Path) -> None:
    said = say(
        "convert",
        "book.csv",
        "a.qrels",
        "--aggregate",
        "lowest",
        "--write-queries",
        "queries.tsv",
        cwd=folder,
    )
    assert (said.code, said.out) == (0, "")
    assert said.err.splitlines() == [
        "note: book.csv: read as Quepid's judgments; to set the format, use --input-format quepid",
        "note: book.csv: 3 of 6 ratings by 2 raters are blank and count as unjudged",
        "warning: book.csv: 3 grades lose the name of their assessor (Ann, gpt-4o)",
        "warning: book.csv: 1 document has grades by several assessors, which become one",
        "warning: book.csv: 1 unjudged row is left out",
        "note: a.qrels: 2 judgments of 1 query written as trec, read as quepid",
    ]
    assert (folder / "a.qrels").read_text() == "q1 0 p1 2\nq1 0 p2 0\n"
    said = say("convert", "book.csv", "a.jsonl", "--keep-unjudged", cwd=folder)
    assert (
        said.err.splitlines()[-1]
        == "note: a.jsonl: 4 judgments of 2 queries written as jsonl, read as quepid, and "
        "nothing is lost"
    )


def test_the_report_as_json(say: Say, folder: Path) -> None:
    said = say(
        "convert",
        "book.csv",
        "a.json",
        "--to",
        "opensearch",
        "--aggregate",
        "Ann",
        "--format",
        "json",
        cwd=folder,
    )
    record = json.loads(said.out)
    assert record.pop("version")
    assert record == {
        "schema": 1,
        "content": "judgments",
        "in": {"path": "book.csv", "format": "quepid", "rows": 4},
        "out": {"path": "a.json", "format": "opensearch", "rows": 2, "queries": 1},
        "losses": [
            {
                "kind": "assessors",
                "count": 2,
                "text": "2 grades lose the name of their assessor (Ann)",
                "examples": ["Ann"],
            },
            {
                "kind": "other_assessors",
                "count": 1,
                "text": "1 grade by other assessors is left out (gpt-4o)",
                "examples": ["gpt-4o"],
            },
            {"kind": "unjudged", "count": 1, "text": "1 unjudged row is left out", "examples": []},
        ],
    }
    assert "warning" not in said.err


def test_standard_output_gets_the_file_alone(say: Say, folder: Path) -> None:
    said = say("convert", "qrels.txt", "-", "--to", "beir", cwd=folder)
    assert (said.code, said.out) == (0, "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t1\n")
    assert (
        "warning: qrels.txt: 1 fractional grade is rounded to a whole number, halves up" in said.err
    )
    said = say("convert", "qrels.txt", "-", "--to", "beir", "--format", "json", cwd=folder)
    assert (said.code, said.out) == (2, "")
    assert "found - as OUT, which is standard output, expected a file" in said.err


def test_strict_writes_nothing(say: Say, folder: Path) -> None:
    said = say(
        "convert",
        "book.csv",
        "a.tsv",
        "--to",
        "beir",
        "--aggregate",
        "mean",
        "--lossless",
        cwd=folder,
    )
    assert (said.code, said.out, sorted(path.name for path in folder.iterdir())) == (
        2,
        "",
        ["book.csv", "qrels.txt"],
    )
    assert said.err.splitlines()[-1].endswith(
        "expected nothing to be lost in beir; choose a format that holds it, or leave out "
        "--lossless"
    )
    said = say("convert", "qrels.txt", "-", "--to", "beir", "--lossless", cwd=folder)
    assert (said.code, said.out) == (2, "")


def test_an_input_is_never_replaced(say: Say, folder: Path) -> None:
    (folder / "link.csv").symlink_to("book.csv")
    (folder / "texts.tsv").write_text("red shoes\tred shoes\n", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    wanted = ["--aggregate", "mean", "--write-queries"]
    for arguments, message in (
        (
            ["book.csv", "book.csv", "--aggregate", "mean"],
            "OUT book.csv: found an input file of this command, expected another name",
        ),
        (
            ["book.csv", "link.csv", "--aggregate", "mean"],
            "OUT link.csv: found an input file of this command",
        ),
        (
            ["book.csv", "texts.tsv", "--queries", "texts.tsv"],
            "OUT texts.tsv: found an input file of this command",
        ),
        (
            ["book.csv", "a.qrels", *wanted, "book.csv"],
            "--write-queries book.csv: found an input file of this command",
        ),
        (
            ["book.csv", "a.qrels", *wanted, "texts.tsv", "--queries", "texts.tsv"],
            "--write-queries texts.tsv: found an input file",
        ),
        (
            ["book.csv", "a.qrels", *wanted, "./a.qrels"],
            "--write-queries ./a.qrels: found the path of the file to write, expected another",
        ),
        (
            ["book.csv", "-", "--to", "beir", *wanted, "-"],
            "--write-queries -: found the path of the file to write, expected another name",
        ),
    ):
        said = say("convert", *arguments, cwd=folder)
        assert (said.code, said.out) == (2, ""), arguments
        assert message in said.err
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


ERRORS = [
    (["book.csv", "a.qrels"], "use --aggregate mean | median | majority | lowest | highest"),
    (
        ["book.csv", "a.qrels", "--aggregate", "mean"],
        "add --write-queries queries.tsv, and the queries are numbered",
    ),
    (["book.csv", "a.txt"], "set the format with --to: trec | qrels_jg | beir"),
    (["book.csv", "a.csv", "--scale", "0,high"], "--scale 0,high: expected grades such as 0,1,2,3"),
    (["book.csv", "a.csv", "--scale", "nan"], "--scale nan: expected grades such as 0,1,2,3"),
    (["book.csv", "a.csv", "--scale", "0,inf"], "--scale 0,inf: expected grades such as 0,1,2,3"),
    (
        ["book.csv", "a.csv", "--labels", "Good"],
        "--labels Good: expected LABEL=GRADE,LABEL=GRADE,..., as in Exact=3,Substitute=2",
    ),
    (["book.csv", "a.csv", "--queries", "no.tsv"], "no.tsv: found no such file"),
    (["-", "a.csv", "--queries", "-"], "found - (standard input) twice"),
    (["no.csv", "a.csv"], "no.csv: found no such file"),
    (["qrels.txt", "no/a.csv"], "no/a.csv: cannot be written"),
    (["qrels.txt", "."], ".: found no ending that names a format"),
    (
        ["qrels.txt", "a.csv", "--columns", "query=foo,grade=g"],
        "--columns query=foo,grade=g: found TREC lines, expected a table with named",
    ),
    (
        ["book.csv", "a.csv", "--columns", "query=foo"],
        "--columns query=foo: found Quepid's judgments, expected a table with named columns",
    ),
    (
        ["qrels.txt", "a.csv", "--group-sizes", "no.txt"],
        "--group-sizes no.txt: found TREC lines, expected LETOR lines",
    ),
    (
        ["qrels.txt", "..", "--to", "csv"],
        "..: found a directory, expected the name of a file to write",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), ERRORS, ids=[message for _, message in ERRORS])
def test_the_message_teaches(say: Say, folder: Path, arguments: list[str], message: str) -> None:
    said = say("convert", *arguments, cwd=folder)
    assert (said.code, said.out) == (2, "")
    assert message in " ".join(said.err.split())
    assert sorted(path.name for path in folder.iterdir()) == ["book.csv", "qrels.txt"]


def test_ids_with_blanks_are_numbered_in_tables_too(say: Say, tmp_path: Path) -> None:
    """A query of words is numbered if the format needs ids without blanks; the others keep their
    ids.
    """
    rows = "query_id,doc_id,grade\nred shoes,d1,1\nhat,d1,2\nred shoes,d2,0\nsun hat,d1,2\n"
    (tmp_path / "words.csv").write_text(rows, encoding="utf-8")
    said = say("convert", "words.csv", "a.qrels", "--write-queries", "queries.tsv", cwd=tmp_path)
    assert (
        said.err.splitlines()[-1]
        == "note: a.qrels: 4 judgments of 3 queries written as trec, read as csv, and nothing is "
        "lost"
    )
    assert (tmp_path / "a.qrels").read_text() == "q1 0 d1 1\nhat 0 d1 2\nq1 0 d2 0\nq3 0 d1 2\n"
    assert (tmp_path / "queries.tsv").read_text() == "q1\tred shoes\nq3\tsun hat\n"
    said = say("convert", "words.csv", "b.csv", "--write-queries", "queries.tsv", cwd=tmp_path)
    assert (said.code, (tmp_path / "b.csv").read_text().splitlines()[1][:9]) == (0, "red shoes")


def test_a_number_is_no_other_query(say: Say, tmp_path: Path) -> None:
    for name, rows in (
        ("before", "q2,d1,1\nred shoes,d2,0\n"),
        ("after", "red shoes,d1,1\nq1,d2,0\n"),
    ):
        (tmp_path / f"{name}.csv").write_text(f"query_id,doc_id,grade\n{rows}", encoding="utf-8")
    say("convert", "before.csv", "a.qrels", "--write-queries", "queries.tsv", cwd=tmp_path)
    assert (tmp_path / "a.qrels").read_text() == "q2 0 d1 1\nq3 0 d2 0\n"
    said = say("convert", "after.csv", "b.qrels", "--write-queries", "others.tsv", cwd=tmp_path)
    assert (said.code, (tmp_path / "b.qrels").exists()) == (2, False)
    assert (
        "found query 'q1' and a query 'red shoes', which is numbered q1, too, expected "
        "different ids; rename query 'q1'" in said.err
    )


def test_an_id_beside_a_text_of_its_own_is_counted_as_lost(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "query_id,query_text,doc_id,grade\nshoe 1,red shoes,d1,1\n", encoding="utf-8"
    )
    said = say("convert", "a.csv", "a.qrels", "--write-queries", "queries.tsv", cwd=tmp_path)
    assert "warning: a.csv: 1 query loses its id and is numbered (shoe 1)" in said.err
    assert (tmp_path / "queries.tsv").read_text() == "q1\tred shoes\n"


def test_an_empty_run_has_no_tag_to_lose(say: Say, tmp_path: Path) -> None:
    (tmp_path / "empty.run").write_text("", encoding="utf-8")
    said = say("convert", "empty.run", "a.csv", "--content", "run", cwd=tmp_path)
    assert (
        said.err.splitlines()[-1]
        == "note: a.csv: 0 results of 0 queries written as csv, read as trec, and nothing is lost"
    )


def test_settings_that_convert_wrote_are_not_lost(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n", encoding="utf-8")
    say("convert", "a.qrels", "a.json", "--to", "rre", cwd=tmp_path)
    said = say("convert", "a.json", "b.qrels", "--lossless", cwd=tmp_path)
    assert (
        said.err.splitlines()[-1]
        == "note: b.qrels: 1 judgment of 1 query written as trec, read as rre, and nothing is lost"
    )
    record = json.loads((tmp_path / "a.json").read_text()) | {"template": "mine.json"}
    (tmp_path / "a.json").write_text(json.dumps(record), encoding="utf-8")
    assert (
        "3 settings of the file are left out"
        in say("convert", "a.json", "b.qrels", cwd=tmp_path).err
    )


SELECTED = {"_id": "p7", "_score": 3.5}
HIT = {
    "_index": "shop",
    **SELECTED,
    "_source": {"title": "Shoes", "maker": {"name": "A"}, "note": None},
    "highlight": {"t": ["x"]},
}
BEST = {
    "took": 3,
    "hits": {"total": {"value": 90}, "max_score": 3.5, "hits": [HIT]},
    "aggregations": {"makers": {}},
}
CELLS, BESIDE = ["_index", "_source.title", "_source.maker.name", "highlight.t"], ["aggregations"]
DOCS = [{"id": "p7", "score": 3.5, "title": "Shoes"}]
HEADER = {"status": 0, "params": {"q": "shoes"}}
SOLR = {
    "responseHeader": HEADER,
    "response": {"numFound": 90, "docs": DOCS},
    "highlighting": {"p7": {"t": ["x"]}},
}
RESPONSES = [  # with the columns and the fields of responses that no run holds
    ({"shoes": BEST}, CELLS, BESIDE),
    ({"query": "shoes", "response": BEST, "site": "b"}, ["site", *CELLS], BESIDE),
    ({"query": "shoes", **SELECTED, "fields": {"sku": ["a"]}}, ["fields.sku"], []),
    # the order counts
    (
        {"shoes": {"took": 1, "hits": {"hits": [SELECTED, {"_id": "p8", "_score": 4}]}}},
        ["_score", "_score"],
        [],
    ),
    ({"shoes": {"took": 1, "hits": {"max_score": 3.5, "hits": [SELECTED]}}}, [], []),
    (SOLR, ["title"], ["highlighting"]),
]


@pytest.mark.parametrize(("response", "cells", "beside"), RESPONSES)
def test_fields_of_responses_are_counted_as_lost(
    say: Say, tmp_path: Path, response: Any, cells: list[str], beside: list[str]
) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(response) + "\n", encoding="utf-8")

    said = say("convert", "a.jsonl", "b.csv", "--format", "json", cwd=tmp_path)

    losses = {
        loss["kind"]: (loss["count"], loss["examples"]) for loss in json.loads(said.out)["losses"]
    }
    expected = {"columns": cells, "response_fields": beside}
    assert losses == {
        kind: (len(names), list(dict.fromkeys(names))[:3])
        for kind, names in expected.items()
        if names
    }


def test_fields_of_a_document_named_by_the_user_are_not_lost(say: Say, tmp_path: Path) -> None:
    hit = {"_id": "1", "_score": 2.0, "_source": {"sku": "p7"}}
    (tmp_path / "a.json").write_text(
        json.dumps({"shoes": {"took": 1, "hits": {"hits": [hit]}}}), encoding="utf-8"
    )

    said = say("convert", "a.json", "b.csv", "--columns", "document=sku", cwd=tmp_path)

    assert said.err.splitlines()[-2].startswith(
        "warning: a.json: 1 cell of other columns is left out (_id)"
    )


def test_judgments_and_runs_get_the_same_ids_from_one_file(say: Say, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(
        'query,sku,grade\nphone cord,s1,3\nspeaker,s2,2\n"#1 dad mug",s3,1\n'
    )
    run = {
        "#1 dad mug": {"s3": 1, "s1": 2},
        "new one": {"s1": 1},
        "phone cord": {"s1": 2, "s2": 1},
        "speaker": {"s2": 3},
    }
    (tmp_path / "plain.json").write_text(json.dumps(run))
    refused = say("convert", "plain.json", "plain.run", cwd=tmp_path)
    assert refused.code == 2
    assert "add --write-queries queries.tsv, the same for judgments and runs" in refused.err

    for names in (("labels.csv", "labels.qrels"), ("plain.json", "plain.run")):
        said = say("convert", *names, "--write-queries", "queries.tsv", cwd=tmp_path)
        assert said.code == 0, said.err
    texts = (tmp_path / "queries.tsv").read_text()
    assert texts == "q1\tphone cord\nq3\t#1 dad mug\nq2\tnew one\n"
    text = ir.evaluate(tmp_path / "labels.csv", tmp_path / "plain.json", ["nDCG@10", "RR"])
    trec = ir.evaluate(tmp_path / "labels.qrels", tmp_path / "plain.run", ["nDCG@10", "RR"])
    assert trec.mean() == text.mean()
    assert "found queries" not in said.err

    # Again, in the other order and with nothing new: ids and file stay as they are.
    before = (tmp_path / "plain.run").read_bytes()
    said = say("convert", "plain.json", "plain.run", "--write-queries", "queries.tsv", cwd=tmp_path)
    assert ((tmp_path / "plain.run").read_bytes(), said.code) == (before, 0)
    assert (tmp_path / "queries.tsv").read_text() == texts


def test_ids_of_an_existing_file_of_texts_are_taken(say: Say, tmp_path: Path) -> None:
    (tmp_path / "topics.jsonl").write_text('{"_id": "17", "text": "speaker"}\n')
    (tmp_path / "run.json").write_text('{"speaker": {"s1": 1}, "usb hub": {"s2": 1}}')
    said = say("convert", "run.json", "a.run", "--write-queries", "topics.jsonl", cwd=tmp_path)
    assert said.code == 0, said.err
    lines = (tmp_path / "a.run").read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["17", "q2"]
    assert (tmp_path / "topics.jsonl").read_text() == (
        '{"_id": "17", "text": "speaker"}\n{"_id": "q2", "text": "usb hub"}\n'
    )
    (tmp_path / "run.json").write_text('{"speaker": {"s1": 1}, "17": {"s2": 1}}')
    said = say("convert", "run.json", "b.run", "--write-queries", "topics.jsonl", cwd=tmp_path)
    assert said.code == 2
    assert "found queries 'speaker' and '17' with one id, 17, expected different ids" in said.err
    assert not (tmp_path / "b.run").exists()
