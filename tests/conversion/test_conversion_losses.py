"""`convert`: everything that a format has no place for is counted, and what two names would share
is refused.
"""

import json
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.judging.inputs import combined_grades
from tests.conversion.test_conversion import as_csv, convert, losses, rows_of, written


@pytest.mark.parametrize("target", ["a.json", "a.jsonl", "a.qrels"])
def test_cells_of_rows_that_are_merged_are_counted(tmp_path: Path, target: str) -> None:
    text = (
        "query_id,doc_id,grade,assessor,note,weight\nq,a,1,ann,mine,2\nq,a,3,ben,his,2\n"
        "q,b,,cid,open,\nq,b,2,ben,,\n"
    )
    done = convert(written(tmp_path, text, "a.csv"), tmp_path / target, assessors="mean")
    kept = 0 if target == "a.jsonl" else 2  # note and weight of the row by ann, which have no place
    # notes by ben and by cid
    assert losses(done) == {"assessors": 3, "merged": 1, "columns": 2 + kept}
    if target == "a.jsonl":
        lines = [json.loads(line) for line in (tmp_path / target).read_text().splitlines()]
        assert lines == [
            {"query_id": "q", "doc_id": "a", "grade": 2, "note": "mine", "weight": "2"},
            {"query_id": "q", "doc_id": "b", "grade": 2},
        ]
    same = "query_id,doc_id,grade,assessor,note\nq,a,1,ann,mine\nq,a,3,ben,mine\n"
    done = convert(written(tmp_path, same, "a.csv"), tmp_path / "same.jsonl", assessors="lowest")
    assert losses(done) == {"assessors": 2, "merged": 1}


def test_texts_and_features_of_rows_that_are_merged_are_counted(tmp_path: Path) -> None:
    text = (
        "query_id,doc_id,grade,assessor,document_text,feature_1\nq,a,1,ann,red,0.5\n"
        "q,a,3,ben,blue,0.25\n"
    )
    done = convert(written(tmp_path, text, "a.csv"), tmp_path / "a.jsonl", assessors="highest")
    assert losses(done) == {"assessors": 2, "merged": 1, "texts": 1, "features": 1}


def test_a_column_of_one_assessor_is_not_given_to_another(tmp_path: Path) -> None:
    text = (
        "query_id,doc_id,grade,assessor,note,batch,other\nq,a,1,ann@x.org,mine,7,\n"
        "q,a,3,ben@x.org,,7,his\nq,b,0,ann@x.org,alone,8,\n"
        "q,c,1,ann@x.org,x,7,\nq,c,0,ben@x.org,x,7,\n"
    )
    path = written(tmp_path, text, "a.csv")
    done = convert(path, tmp_path / "a.json", target_format="label-studio")
    assert (losses(done), done.losses[0].examples) == ({"columns": 2}, ("note", "other"))
    back = as_csv(tmp_path / "a.json", tmp_path)
    assert [(row["doc_id"], row["assessor"], row["note"], row["batch"]) for row in back] == [
        ("a", "ann@x.org", "", "7"),
        ("a", "ben@x.org", "", "7"),
        ("b", "ann@x.org", "alone", "8"),
        ("c", "ann@x.org", "x", "7"),
        ("c", "ben@x.org", "x", "7"),
    ]
    with pytest.raises(
        ir.InputError, match=r"2 cells of other columns are left out \(note, other\)"
    ):
        convert(path, tmp_path / "b.json", target_format="label-studio", strict=True)


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("ubi", ("document", "judgment")),
        ("label-studio", ("document",)),
        ("csv", ()),
        ("jsonl", ()),
    ],
)
def test_columns_with_names_that_a_format_uses_itself_are_counted(
    tmp_path: Path, target: str, names: tuple[str, ...]
) -> None:
    path = written(
        tmp_path, "query_id,doc_id,grade,document,judgment,note\nq,7,1,Text here,fine,x\n", "a.csv"
    )
    columns = {"query": "query_id", "document": "doc_id", "grade": "grade"}
    done = convert(path, tmp_path / "out", target_format=target, columns=columns)
    assert (losses(done).get("columns", 0), done.losses[0].examples if done.losses else ()) == (
        len(names),
        names,
    )


@pytest.mark.parametrize("target", ["csv", "tsv", "jsonl", "parquet"])
def test_fields_of_a_task_with_names_of_a_table_are_counted(tmp_path: Path, target: str) -> None:
    data = {"query_id": "q", "document_id": "d", "grade": "about 3", "doc_id": "other", "note": "x"}
    result = [{"from_name": "grade", "to_name": "t", "type": "number", "value": {"number": 3}}]
    path = written(
        tmp_path,
        json.dumps(
            [{"id": 1, "data": data, "annotations": [{"completed_by": 3, "result": result}]}]
        ),
        "tasks.json",
    )
    done = convert(path, tmp_path / "out", target_format=target)
    assert (losses(done), done.losses[0].examples) == ({"columns": 2}, ("grade", "doc_id"))


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        ("assessor", {"id": 3}, "an object"),
        ("assessor", True, "true"),
        ("query_text", ["red", "shoes"], "a list"),
        ("text", False, "false"),
    ],
)
def test_what_is_no_text_is_refused_where_a_text_is_expected(
    tmp_path: Path, field: str, value: object, found: str
) -> None:
    record = {"query_id": "q", "doc_id": "d", "grade": 1, field: value}
    for name, text in (("a.jsonl", json.dumps(record)), ("a.json", json.dumps([record]))):
        with pytest.raises(
            ir.FileFormatError, match=f"found {found} in column '{field}', expected "
        ):
            convert(written(tmp_path, text, name), tmp_path / "out.csv")
    record[field] = None
    assert convert(
        written(tmp_path, json.dumps(record), "a.jsonl"), tmp_path / "out.csv"
    ).is_lossless


def test_a_grade_without_an_assessor_is_not_replaced_by_one_of_anonymous(tmp_path: Path) -> None:
    head = "query_id,doc_id,grade,assessor\n"
    path = written(tmp_path, f"{head}q1,d1,3,\nq1,d1,0,Anonymous\nq1,d1,1,ann\n", "a.csv")
    with pytest.raises(ir.InputError) as caught:
        convert(path, tmp_path / "book.csv", target_format="quepid")
    assert (
        "query 'q1', document 'd1': found a grade without an assessor and one by 'Anonymous', "
        "expected one of them" in str(caught.value)
    )
    assert not (tmp_path / "book.csv").exists()
    path = written(tmp_path, f"{head}q1,d1,3,\nq1,d2,0,Anonymous\nq1,d1,1,ann\n", "a.csv")
    assert convert(path, tmp_path / "book.csv", target_format="quepid").n_written == 3
    back = as_csv(tmp_path / "book.csv", tmp_path)
    assert {(row["doc_id"], row["grade"]) for row in back} == {
        ("d1", "3"),
        ("d2", "0"),
        ("d1", "1"),
    }


def test_docid_in_the_text_of_a_query_names_no_document(tmp_path: Path) -> None:
    text = (
        "query_id,doc_id,grade,query_text,feature_1\n1,d1,2,red docid = 7 shoes,0.5\n1,d2,0,red "
        "docid = 7 shoes,0.25\n"
    )
    path = written(tmp_path, text, "a.csv")
    assert convert(path, tmp_path / "a.letor").is_lossless
    done = convert(tmp_path / "a.letor", tmp_path / "back.csv")
    assert (rows_of(tmp_path / "back.csv"), done.is_lossless) == (rows_of(path), True)
    named = written(tmp_path, "query_id,doc_id,grade\n1,docid=7,2\n", "named.csv")
    with pytest.raises(ir.InputError, match="found document 'docid=7', expected another id"):
        convert(named, tmp_path / "b.letor")


def test_two_columns_of_one_feature_are_refused(tmp_path: Path) -> None:
    path = written(
        tmp_path, "query_id,doc_id,grade,feature_1,feature_01\nq,d,1,0.5,0.25\n", "a.csv"
    )
    with pytest.raises(
        ir.InputError,
        match=r"found columns 'feature_1' and 'feature_01', expected one column of feature 1",
    ):
        convert(path, tmp_path / "out.csv")


@pytest.mark.parametrize("policy", ["median", "majority"])
def test_policies_are_those_of_combined_grades(tmp_path: Path, policy: Any) -> None:
    rng = np.random.default_rng(3)
    grades = [
        [float(grade) for grade in rng.integers(-1, 4, rng.integers(1, 7))] for _ in range(1500)
    ]
    rows = [
        f"q,d{document},{grade:g},r{rater}\n"
        for document, some in enumerate(grades)
        for rater, grade in enumerate(some)
    ]
    path = written(tmp_path, "".join(["query_id,doc_id,grade,assessor\n", *rows]), "a.csv")
    convert(path, tmp_path / "a.json", assessors=policy)
    table = np.array([some + [np.nan] * (6 - len(some)) for some in grades])
    expected = combined_grades(table, policy)
    if policy == "median":
        assert expected.tolist() == [statistics.median_low(some) for some in grades]
    assert list(json.loads((tmp_path / "a.json").read_text())["q"].values()) == expected.tolist()


# --- LETOR ----------------------------------------------------------------------------------------


def test_texts_of_queries_that_comments_of_letor_4_have_no_place_for_are_counted(
    tmp_path: Path,
) -> None:
    text = (
        "query_id,doc_id,grade,query_text,inc,prob,note\nq1,a,1,red shoes,1,0.5,x\nq1,b,0,red "
        "shoes,0,0.25,\nq2,c,2,hats,1,0.125,\n"
    )
    done = convert(written(tmp_path, text, "a.csv"), tmp_path / "a.letor")
    assert losses(done) == {"query_texts": 2, "columns": 1}
    lines = (tmp_path / "a.letor").read_text().splitlines()
    assert lines[:2] == [
        "1 qid:q1 #docid = a inc = 1 prob = 0.5",
        "0 qid:q1 #docid = b inc = 0 prob = 0.25",
    ]
    back = as_csv(tmp_path / "a.letor", tmp_path)
    assert [(row["doc_id"], row["inc"], row["prob"]) for row in back] == [
        ("a", "1", "0.5"),
        ("b", "0", "0.25"),
        ("c", "1", "0.125"),
    ]


def test_comments_of_letor_name_every_document_though_few_rows_have_numbers(tmp_path: Path) -> None:
    rows = [
        {"query_id": "q", "doc_id": name, "grade": 1, "inc": inc}
        for name, inc in (("a", 0), ("b", ""), ("c", "two\nlines"))
    ]
    path = tmp_path / "a.json"
    for first, count in ((0, 1), (1, 4)):  # the first row has both numbers, or not
        given = [row | {"prob": 0.5} for row in rows]
        given[0]["inc"] = "" if first else 0
        path.write_text(json.dumps(given), encoding="utf-8")
        done = convert(path, tmp_path / "a.letor")
        assert len((tmp_path / "a.letor").read_text().splitlines()) == 3
        assert [row["doc_id"] for row in as_csv(tmp_path / "a.letor", tmp_path)] == ["a", "b", "c"]
        assert losses(done) == {"columns": count}


def test_what_comments_of_letor_4_say_beside_their_fields_is_counted(tmp_path: Path) -> None:
    lines = (
        "2 qid:10 1:0.5 #docid = GX1 inc = 1 prob = 0.25 star trek\n0 qid:10 1:0.1 #docid = GX2 "
        "inc = 1 prob = 0.5\n"
    )
    path = written(
        tmp_path, lines + "0 qid:10 1:0.2 #docid = GX3 inc = 0 prob = 0.5 docid = GX4\n", "a.letor"
    )
    done = convert(path, tmp_path / "a.csv")
    assert [row["doc_id"] for row in rows_of(tmp_path / "a.csv")] == ["GX1", "GX2", "GX3"]
    assert losses(done) == {"comments": 2}


def test_columns_of_comments_of_letor_are_in_their_order_where_a_name_is_repeated(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, "2 qid:1 1:0.5 #docid = a inc = 1 prob = 0.5 inc = 2\n", "a.letor")
    convert(path, tmp_path / "a.csv")
    (row,) = rows_of(tmp_path / "a.csv")
    assert list(row.items())[3:5] == [("inc", "1"), ("prob", "0.5")]


# --- Label Studio ---------------------------------------------------------------------------------


def task(number: int, **more: Any) -> dict[str, Any]:
    return {"id": number, "data": {"query": "shoes", "doc_id": f"d{number}"}, **more}


def rated(grade: int, **more: Any) -> dict[str, Any]:
    return {
        "result": [
            {"from_name": "grade", "to_name": "t", "type": "number", "value": {"number": grade}}
        ],
        **more,
    }


def saved(folder: Path, *tasks: dict[str, Any]) -> Path:
    return written(folder, json.dumps(tasks), "tasks.json")


def test_grades_of_people_and_of_a_model_of_different_documents_are_not_joined_silently(
    tmp_path: Path,
) -> None:
    both = saved(
        tmp_path,
        task(1, annotations=[rated(2, completed_by=3)]),
        task(2, predictions=[rated(1, model_version="m")]),
    )
    said: list[str] = []
    assert ir.read_qrels(both, tell=said.append)["shoes"] == {"d1": 2.0, "d2": 1.0}
    assert any("people and model) and were joined" in one for one in said)
    for alone, words in (
        (task(1, annotations=[rated(2, completed_by=3)], predictions=[{"result": []}]), ""),
        (task(1, predictions=[rated(2)]), "all judgments are of kind model, none by people"),
    ):
        said.clear()
        ir.read_qrels(saved(tmp_path, alone), tell=said.append)
        assert words in " ".join(said)
        assert "joined" not in " ".join(said)


def test_an_annotator_and_a_model_of_one_name_are_refused(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        task(1, annotations=[rated(2, completed_by=3)]),
        task(2, predictions=[rated(1, model_version=3)]),
    )
    with pytest.raises(
        ir.InputError,
        match=r'task 2: found a prediction by the model "3", which is the name of an annotator, '
        r"too",
    ):
        convert(path, tmp_path / "a.csv")
    path = saved(
        tmp_path,
        task(1, annotations=[rated(2, completed_by=3)]),
        task(2, predictions=[rated(1, model_version="v3")]),
    )
    convert(path, tmp_path / "a.csv")
    assert [(row["doc_id"], row["assessor"]) for row in rows_of(tmp_path / "a.csv")] == [
        ("d1", "3"),
        ("d2", "v3"),
    ]


def test_drafts_and_notes_on_a_task_are_counted(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        task(1, annotations=[rated(2, completed_by=3)], drafts=[rated(1)], meta={"batch": 7}),
        task(2, drafts=[], meta={}),
    )
    assert losses(convert(path, tmp_path / "a.csv")) == {"unjudged": 1, "columns": 1, "drafts": 1}


# --- kinds of assessors, and options that change nothing ------------------------------------------


@pytest.mark.parametrize(
    ("target", "kept"), [("a.qrels", False), ("a.tsv", True), ("a.jg", False), ("a.jsonl", True)]
)
def test_grades_of_people_and_models_that_become_one_set_are_counted(
    tmp_path: Path, target: str, kept: bool
) -> None:
    path = written(
        tmp_path, "query,document,grade,kind\nq1,d1,2,people\nq1,d2,1,model\n", "mix.csv"
    )
    chosen = {"a.jg": "qrels_jg"}.get(target, "auto")
    done = convert(path, tmp_path / target, target_format=chosen)
    assert losses(done) == ({} if kept else {"kinds": 2, "columns": 2})
    if not kept:
        assert "(people, model)" in done.losses[0].text
        with pytest.raises(ir.InputError, match="2 kinds of assessors are joined"):
            convert(path, tmp_path / "b.qrels", target_format=chosen, strict=True)


def test_kinds_of_an_export_of_label_studio_are_kept_with_its_assessors(tmp_path: Path) -> None:
    both = saved(
        tmp_path,
        task(1, annotations=[rated(2, completed_by=3)]),
        task(2, predictions=[rated(1, model_version="m")]),
    )
    assert losses(convert(both, tmp_path / "a.jg", target_format="qrels_jg")) == {}
    assert losses(convert(both, tmp_path / "a.qrels")) == {"kinds": 2, "assessors": 2}
    assert losses(convert(both, tmp_path / "m.qrels", assessors="m")) == {
        "other_assessors": 1,
        "assessors": 1,
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"assessors": "mean"}, "assessors=mean: found a run"),
        ({"scale": [0, 1]}, r"scale=\[0, 1\]: found a run"),
        ({"keep_unjudged": True}, "keep_unjudged=True: found a run"),
        ({"write_queries": "x.tsv"}, "write_queries=x.tsv: found csv, whose ids may be any"),
        ({"labels": {"Good": 1.0}}, "labels=Good=1: found TREC lines, expected a format whose"),
    ],
)
def test_options_that_change_nothing_are_refused(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    run = written(tmp_path, "q1 Q0 d1 1 2 r\n", "a.run")
    with pytest.raises(ir.OptionError, match=words):
        convert(run, tmp_path / "a.csv", **options)
    assert not (tmp_path / "a.csv").exists()


def test_a_column_whose_name_is_no_utf_8_is_refused_in_parquet_and_kept_in_text(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"query_id,doc_id,grade,n\xe4me\nq1,d1,1,x\n")
    with pytest.raises(
        ir.InputError, match="expected a name in UTF-8, the text of Parquet; use csv or jsonl"
    ):
        convert(path, tmp_path / "a.parquet")
    convert(path, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == path.read_bytes()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.csv", "b.csv"]


def test_a_choice_without_a_grade_names_the_next_step_in_both_languages(tmp_path: Path) -> None:
    chosen = {"result": [{"from_name": "grade", "type": "choices", "value": {"choices": ["Good"]}}]}
    path = saved(tmp_path, task(1, annotations=[chosen]))
    with pytest.raises(
        ir.InputError, match=r"give each its number: labels=\{'Good': NUMBER, \.\.\.\}"
    ) as caught:
        ir.read_qrels(path, tell=lambda _: None)
    assert caught.value.command_hint.endswith("give each its number: --labels 'Good=NUMBER,...'")
    qrels = ir.read_qrels(path, labels={"Good": 2}, tell=lambda _: None)
    assert [qrels[query] for query in qrels.queries] == [{"d1": 2.0}]
    convert(path, tmp_path / "a.csv", labels={"Good": 2})
    assert rows_of(tmp_path / "a.csv")[0]["grade"] == "2"
