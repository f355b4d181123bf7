"""`idealrank convert`: scores never become grades without a word."""

import json
from collections.abc import Callable
from pathlib import Path

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
def test_a_run_comes_back_if_out_is_named_as_one(say: Say, folder: Path, between: str, ending: str) -> None:
    say("convert", "a.run", f"a.{between}", cwd=folder)

    said = say("convert", f"a.{between}", f"b.{ending}", "--name", "a", cwd=folder)

    assert (said.code, (folder / f"b.{ending}").read_text(encoding="utf-8")) == (0, RUN)
    assert f"note: b.{ending}: 3 results of 2 queries written as trec" in said.err


@pytest.mark.parametrize("between", ["csv", "tsv", "jsonl", "parquet"])
def test_a_column_of_scores_makes_a_run(say: Say, folder: Path, between: str) -> None:
    say("convert", "a.run", f"a.{between}", cwd=folder)

    said = say("convert", f"a.{between}", "b.jsonl", cwd=folder)

    assert said.code == 0
    assert f"note: a.{between}: read as a run, since it has column 'score' and no column of grades" in said.err
    assert json.loads((folder / "b.jsonl").read_text(encoding="utf-8").splitlines()[0]) == {"query_id": "q1", "doc_id": "d8", "score": 9.5}


@pytest.mark.parametrize("options", [["b.csv"], ["b.qrels"], ["b.tsv", "--to", "beir"]])
def test_numbers_without_a_name_that_look_like_scores_are_refused(say: Say, folder: Path, options: list[str]) -> None:
    say("convert", "a.run", "a.json", cwd=folder)

    said = say("convert", "a.json", *options, cwd=folder)

    assert (said.code, (folder / options[0]).exists()) == (2, False)
    assert "a.json: found numbers that may be grades or scores, expected grades such as 0, 1, 2; set --content judgments or" in said.err
    assert say("convert", "a.json", *options, "--content", "judgments", cwd=folder).code == 0


def test_many_whole_numbers_are_scores_too(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"q": {f"d{number}": number for number in range(30)}}), encoding="utf-8")
    assert "may be grades or scores" in say("convert", "a.json", "b.csv", cwd=tmp_path).err


MISFITS = [
    ("a.csv", "query_id,doc_id,score\nq1,d8,9.5\n", "b.qrels", "column 'score' and no column of grades, expected judgments"),
    ("a.csv", "query_id,doc_id,rank\nq1,d8,1\n", "b.qrels", "column 'rank' and no column of grades, expected judgments"),
    ("a.csv", "query_id,doc_id,score\nq1,d8,9.5\n", "b.json --to rre", "expected judgments, since rre holds judgments only"),
    ("a.csv", "query_id,doc_id,grade\nq1,d8,1\n", "b.run", "found grades in column 'grade', expected a run, since b.run ends in .run"),
    ("a.run", RUN, "b.qrels", "a.run: found a run, expected judgments, since b.qrels ends in .qrels"),
    ("a.qrels", "q1 0 d8 1\n", "b.run", "a.qrels: found judgments, expected a run, since b.run ends in .run"),
    ("a.csv", "query_id,doc_id,score\nq1,d8,9.5\n", "b.csv --assessors mean", "found a run, expected judgments, since a run has no grades"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "arguments", "message"), MISFITS, ids=[one[2] + one[0] + one[1][:20] for one in MISFITS])
def test_the_wrong_content_for_out_is_refused(say: Say, tmp_path: Path, name: str, text: str, arguments: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    said = say("convert", name, *arguments.split(), cwd=tmp_path)

    assert (said.code, len(list(tmp_path.iterdir()))) == (2, 1)
    assert message in said.err
    assert "--content judgments" in said.err


KEPT = [
    ("a.csv", "query_id,doc_id,grade,score\nq1,d8,2,9.5\n", "b.qrels", "q1 0 d8 2\n"),
    ("a.csv", "query_id,doc_id,grade,score\nq1,d8,2,9.5\n", "b.run --name a", "q1 Q0 d8 1 9.5 a\n"),
    ("a.csv", "query_id,doc_id,sim\nq1,d8,9.5\n", "b.qrels --columns grade=sim", "q1 0 d8 9.5\n"),
    ("a.csv", "query_id,doc_id,x\nq1,d8,9.5\n", "b.txt --to trec --columns score=x --name a", "q1 Q0 d8 1 9.5 a\n"),
    ("a.tsv", "query-id\tcorpus-id\tscore\nq1\td8\t2\n", "b.qrels", "q1 0 d8 2\n"),
    ("a.jsonl", '{"query-id": "q1", "corpus-id": "d8", "score": 2}\n', "b.qrels", "q1 0 d8 2\n"),
    ("a.json", '{"q1": {"d8": 2}}', "b.qrels", "q1 0 d8 2\n"),
    ("a.json", '[{"query": "q1", "document": "d8", "grade": 0.5}]', "b.txt --to trec", "q1 0 d8 0.5\n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "arguments", "wanted"), KEPT, ids=[f"{one[1][:40]} {one[2]}" for one in KEPT])
def test_what_names_its_content_is_taken_at_its_word(say: Say, tmp_path: Path, name: str, text: str, arguments: str, wanted: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    said = say("convert", name, *arguments.split(), cwd=tmp_path)

    assert (said.code, (tmp_path / arguments.split(maxsplit=1)[0]).read_text(encoding="utf-8")) == (0, wanted)


def test_the_reader_names_the_faults_of_broken_json(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"query_id": "q1", "doc_id": "d8", "grade": 0.5}\n{"query_id": 0.5\n', encoding="utf-8")
    said = say("convert", "a.jsonl", "b.csv", cwd=tmp_path)
    assert (said.code, "may be grades or scores" in said.err) == (2, False)
    assert "a.jsonl:2: found text that is not JSON" in said.err


def test_a_long_array_of_records_is_known_by_its_first(say: Say, tmp_path: Path) -> None:
    records = [{"query_id": f"q{number}", "doc_id": "d" * 50, "score": 0.5} for number in range(15_000)]
    (tmp_path / "a.json").write_text(json.dumps(records), encoding="utf-8")
    said = say("convert", "a.json", "b.jsonl", cwd=tmp_path)
    assert (said.code, "15,000 results of 15,000 queries" in said.err) == (0, True)
