"""`idealrank convert`: scores never become grades without a word."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Said

Say = Callable[..., Said]
RUN = "q1 Q0 d8 1 9.5 a\nq1 Q0 d2 2 7 a\nq2 Q0 d1 1 3.25 a\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.run").write_text(RUN, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("ending", ["run", "res"])
@pytest.mark.parametrize("between", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_a_run_comes_back_if_out_is_named_as_one(
    say: Say, folder: Path, between: str, ending: str
) -> None:
    say("convert", "a.run", f"a.{between}", cwd=folder)

    said = say("convert", f"a.{between}", f"b.{ending}", "--name", "a", cwd=folder)

    assert (said.code, (folder / f"b.{ending}").read_text(encoding="utf-8")) == (0, RUN)
    assert f"note: b.{ending}: 3 results of 2 queries written as trec" in said.err


@pytest.mark.parametrize("between", ["csv", "tsv", "jsonl", "parquet"])
def test_a_column_of_scores_makes_a_run(say: Say, folder: Path, between: str) -> None:
    say("convert", "a.run", f"a.{between}", cwd=folder)

    said = say("convert", f"a.{between}", "b.jsonl", cwd=folder)

    assert said.code == 0
    assert (
        f"note: a.{between}: read as a run, since it has column 'score' and no column of grades"
        in said.err
    )
    assert json.loads((folder / "b.jsonl").read_text(encoding="utf-8").splitlines()[0]) == {
        "query_id": "q1",
        "doc_id": "d8",
        "score": 9.5,
    }


@pytest.mark.parametrize("options", [["b.csv"], ["b.qrels"], ["b.tsv", "--to", "beir"]])
def test_numbers_without_a_name_that_look_like_scores_are_refused(
    say: Say, folder: Path, options: list[str]
) -> None:
    say("convert", "a.run", "a.json", cwd=folder)

    said = say("convert", "a.json", *options, cwd=folder)

    assert (said.code, (folder / options[0]).exists()) == (2, False)
    assert (
        "a.json: found numbers that may be grades or scores, expected grades such as 0, 1, 2; "
        "set --content judgments" in said.err
    )
    # the others hold judgments only
    assert ("or --content run" in said.err) == (options == ["b.csv"])
    assert say("convert", "a.json", *options, "--content", "judgments", cwd=folder).code == 0


def test_many_whole_numbers_are_scores_too(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        json.dumps({"q": {f"d{number}": number for number in range(30)}}), encoding="utf-8"
    )
    assert "may be grades or scores" in say("convert", "a.json", "b.csv", cwd=tmp_path).err


SCORED, RANKED = "query_id,doc_id,score\nq1,d8,9.5\n", "query_id,doc_id,rank\nq1,d8,1\n"
MISFITS = [  # with the content that the hint names, if it names one
    (
        "a.csv",
        SCORED,
        "b.qrels",
        "column 'score' and no column of grades, expected judgments, since b.qrels ends in .qrels",
        "judgments",
    ),
    (
        "a.csv",
        SCORED,
        "b.json --to rre",
        "expected judgments, since rre holds judgments only",
        "judgments",
    ),
    ("a.csv", SCORED, "b.letor", "expected judgments, since b.letor ends in .letor", "judgments"),
    (
        "a.csv",
        RANKED,
        "b.qrels",
        "column 'rank' and no column of grades, expected judgments, since b.qrels ends in .qrels",
        "",
    ),
    (
        "a.csv",
        "query_id,doc_id,grade\nq1,d8,1\n",
        "b.run",
        "grades in column 'grade', expected a run, since b.run ends in .run",
        "",
    ),
    (
        "a.tsv",
        "q1\td8\t9.5\nq1\td2\t7\n",
        "b.run",
        "found no column of scores, expected a run, since b.run ends in .run",
        "",
    ),
    (
        "a.run",
        RUN,
        "b.qrels",
        "a.run: found a run, expected judgments, since b.qrels ends in .qrels",
        "",
    ),
    (
        "a.qrels",
        "q1 0 d8 1\n",
        "b.run",
        "a.qrels: found judgments, expected a run, since b.run ends in .run",
        "",
    ),
]


@pytest.mark.parametrize(
    ("name", "text", "arguments", "message", "remedy"),
    MISFITS,
    ids=[one[2] + one[0] + one[1][:20] for one in MISFITS],
)
def test_the_wrong_content_for_out_is_refused(
    say: Say, tmp_path: Path, name: str, text: str, arguments: str, message: str, remedy: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    said = say("convert", name, *arguments.split(), cwd=tmp_path)

    assert (said.code, len(list(tmp_path.iterdir()))) == (2, 1)
    assert said.err.endswith(f"{message}; set --content {remedy}\n" if remedy else f"{message}\n")
    assert (
        not remedy
        or say("convert", name, *arguments.split(), "--content", remedy, cwd=tmp_path).code == 0
    )


def test_options_of_judgments_are_refused_for_a_run(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(SCORED, encoding="utf-8")
    said = say("convert", "a.csv", "b.csv", "--aggregate", "mean", cwd=tmp_path)
    assert (said.code, len(list(tmp_path.iterdir()))) == (2, 1)
    assert (
        "found a run, expected judgments, since a run has no grades and texts; --content "
        "judgments reads judgments" in said.err
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q1": {"d1": {"grade": 0.5}}}', "found an object as grade for document"),
        (
            '{"data": [{"query": "q1", "document": "d1", "score": 0.5}]}',
            "found an object as id, expected text",
        ),
    ],
)
def test_objects_that_hold_no_numbers_get_no_hint_that_cannot_work(
    say: Say, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    said = say("convert", "a.json", "b.csv", cwd=tmp_path)
    assert (said.code, message in said.err, "--content" in said.err) == (2, True, False)


@pytest.mark.parametrize(
    "text",
    [
        '{"q0": {}, "q1": {"d1": 0.5}}',
        '{"q0": ["d[1]"], "q\\"1": {"d1": 0.5}}',
        '{"q0": {}}\n\n{"q1": {"d1": 9}, "q2": {"d2": 0.5}}',
    ],
)
def test_numbers_are_found_after_queries_without_numbers(
    say: Say, tmp_path: Path, text: str
) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert "may be grades or scores" in say("convert", "a.json", "b.csv", cwd=tmp_path).err


RECORDS = [
    {"query": "q1", "document": "d1", "assessor": one, "score": score}
    for one, score in (("ann", 1), ("ben", 2))
]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.json", "a.jsonl", "a.parquet"])
def test_a_column_of_assessors_makes_judgments_of_scores(
    say: Say, tmp_path: Path, name: str
) -> None:
    write(RECORDS, tmp_path / name)

    said = say("convert", name, "b.jsonl", cwd=tmp_path)

    assert (said.code, "nothing is lost" in said.err) == (0, True)
    assert f"note: {name}: read as judgments, since it has column 'assessor'" in said.err
    found = [
        json.loads(line) for line in (tmp_path / "b.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [(one["grade"], one["assessor"]) for one in found] == [(1, "ann"), (2, "ben")]


def test_users_of_a_recommender_are_no_assessors(say: Say, tmp_path: Path) -> None:
    write([{"user_id": 7, "username": "ann", "item_id": "d1", "score": 0.5}], tmp_path / "a.csv")
    said = say("convert", "a.csv", "b.jsonl", cwd=tmp_path)
    assert "read as a run" in said.err
    assert "warning: a.csv: 1 cell of other columns is left out (username)" in said.err


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.json", "a.jsonl", "a.parquet"])
def test_a_run_counts_other_columns_and_tells_of_documents_that_stand_twice(
    say: Say, tmp_path: Path, name: str
) -> None:
    records = [
        {"query": "q1", "document": "d1", "score": 2 + one, "title": title, "rank": 1}
        for one, title in enumerate(("Shoes", "", "Hats"))
    ]
    write(records, tmp_path / name)

    said = say("convert", name, "b.run", cwd=tmp_path)

    assert said.code == 0
    assert f"warning: {name}: 2 cells of other columns are left out (title)" in said.err
    assert (
        f"{name}: found 2 results for a document that the query has already (query 'q1', "
        f"document 'd1'); all are written" in said.err
    )
    assert (
        "5 cells of other columns are left out (title, rank)"
        in say("convert", name, "b.csv", cwd=tmp_path).err
    )
    refused = say("convert", name, "c.csv", "--lossless", cwd=tmp_path)
    assert (refused.code, (tmp_path / "c.csv").exists()) == (2, False)


@pytest.mark.parametrize("padding", [0, 1 << 19])
def test_an_array_and_lines_of_the_same_records_are_read_alike(
    say: Say, tmp_path: Path, padding: int
) -> None:
    records = [
        {"query": "q1", "document": f"d{one}", "score": 9.5, "text": padding * "é"}
        for one in range(5)
    ]
    write(
        [*records, {"query": "q1", "document": "e", "score": 3.5, "grade": 1}], tmp_path / "a.json"
    )
    write(
        [*records, {"query": "q1", "document": "e", "score": 3.5, "grade": 1}], tmp_path / "a.jsonl"
    )

    said = [say("convert", name, f"{name}.qrels", cwd=tmp_path) for name in ("a.json", "a.jsonl")]

    assert [one.code for one in said] == [0, 0]
    assert said[0].err.replace("a.json", "A").replace("as json", "as J") == said[1].err.replace(
        "a.jsonl", "A"
    ).replace("as jsonl", "as J")
    assert (tmp_path / "a.json.qrels").read_text(encoding="utf-8") == "q1 0 e 1\n"


@pytest.mark.parametrize("raters", [("ann", "ben"), ("session", "ben"), ("ann", "topic")])
def test_a_book_of_one_document_is_recognised(
    say: Say, tmp_path: Path, raters: tuple[str, str]
) -> None:
    records = [
        {"query_id": "q1", "doc_id": "d1", "grade": grade, "assessor": name}
        for grade, name in enumerate(raters)
    ]
    write(records, tmp_path / "a.jsonl")
    said = [
        say("convert", "a.jsonl", "book.csv", "--to", "quepid", cwd=tmp_path),
        say("convert", "book.csv", "b.jsonl", cwd=tmp_path),
    ]
    assert ([one.code for one in said], "read as Quepid's judgments" in said[1].err) == (
        [0, 0],
        True,
    )
    assert (tmp_path / "b.jsonl").read_text(encoding="utf-8") == (tmp_path / "a.jsonl").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("content", ["judgments", "run"])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_queries_without_documents_are_counted(
    say: Say, tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text('{"q1": {}, "q2": {"d1": 1}, "q3": {}}\n', encoding="utf-8")
    said = say("convert", name, "b.csv", "--content", content, cwd=tmp_path)
    assert (
        said.code,
        f"warning: {name}: 2 queries without documents are left out (q1, q3)" in said.err,
    ) == (0, True)


@pytest.mark.parametrize("options", [[], ["--to", "csv"]])
def test_plain_text_is_not_written_to_the_name_of_a_compressed_file(
    say: Say, folder: Path, options: list[str]
) -> None:
    said = say("convert", "a.run", "b.csv.gz", *options, cwd=folder)
    assert (said.code, (folder / "b.csv.gz").exists()) == (2, False)
    assert "b.csv.gz: found the ending of a compressed file, expected another" in said.err


def write(records: list[dict[str, Any]], path: Path) -> None:
    """Write records as a table or as JSON."""
    if path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(records), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text(
            "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8"
        )
    else:
        delimiter = "," if path.suffix == ".csv" else "\t"
        rows = [list(records[0]), *([str(cell) for cell in one.values()] for one in records)]
        path.write_text("".join(delimiter.join(row) + "\n" for row in rows), encoding="utf-8")


KEPT = [
    ("a.csv", "query_id,doc_id,grade,score\nq1,d8,2,9.5\n", "b.qrels", "q1 0 d8 2\n"),
    ("a.csv", "query_id,doc_id,grade,score\nq1,d8,2,9.5\n", "b.run --name a", "q1 Q0 d8 1 9.5 a\n"),
    ("a.csv", "query_id,doc_id,sim\nq1,d8,9.5\n", "b.qrels --columns grade=sim", "q1 0 d8 9.5\n"),
    (
        "a.csv",
        "query_id,doc_id,x\nq1,d8,9.5\n",
        "b.txt --to trec --columns score=x --name a",
        "q1 Q0 d8 1 9.5 a\n",
    ),
    ("a.tsv", "query-id\tcorpus-id\tscore\nq1\td8\t2\n", "b.qrels", "q1 0 d8 2\n"),
    ("a.jsonl", '{"query-id": "q1", "corpus-id": "d8", "score": 2}\n', "b.qrels", "q1 0 d8 2\n"),
    ("a.csv", "query,document,assessor,score\nq1,d8,ann,2\n", "b.run --name a", "q1 Q0 d8 1 2 a\n"),
    ("a.json", '{"q1": {"d8": 2}}', "b.qrels", "q1 0 d8 2\n"),
    (
        "a.json",
        '[{"query": "q1", "document": "d8", "grade": 0.5}]',
        "b.txt --to trec",
        "q1 0 d8 0.5\n",
    ),
]


@pytest.mark.parametrize(
    ("name", "text", "arguments", "wanted"), KEPT, ids=[f"{one[1][:40]} {one[2]}" for one in KEPT]
)
def test_what_names_its_content_is_taken_at_its_word(
    say: Say, tmp_path: Path, name: str, text: str, arguments: str, wanted: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    said = say("convert", name, *arguments.split(), cwd=tmp_path)

    assert (said.code, (tmp_path / arguments.split(maxsplit=1)[0]).read_text(encoding="utf-8")) == (
        0,
        wanted,
    )


def test_the_reader_names_the_faults_of_broken_json(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"query_id": "q1", "doc_id": "d8", "grade": 0.5}\n{"query_id": 0.5\n', encoding="utf-8"
    )
    said = say("convert", "a.jsonl", "b.csv", cwd=tmp_path)
    assert (said.code, "may be grades or scores" in said.err) == (2, False)
    assert "a.jsonl:2: found text that is not JSON" in said.err


def test_a_long_array_of_records_is_known_by_its_first(say: Say, tmp_path: Path) -> None:
    records = [
        {"query_id": f"q{number}", "doc_id": "d" * 50, "score": 0.5} for number in range(15_000)
    ]
    (tmp_path / "a.json").write_text(json.dumps(records), encoding="utf-8")
    said = say("convert", "a.json", "b.jsonl", cwd=tmp_path)
    assert (said.code, "15,000 results of 15,000 queries" in said.err) == (0, True)
