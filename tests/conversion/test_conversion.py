"""`convert`: files of other tools come back equal as data, and every loss is counted. The files are
described in tests/data/tools.
"""

import csv
import gzip
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import idealrank as ir
from idealrank.io.judgment_files import write_judgments
from tests.conftest import shared_file

TOOLS = Path(__file__).parents[1] / "data" / "tools"
FORMATS = (
    "trec",
    "qrels_jg",
    "beir",
    "csv",
    "tsv",
    "json",
    "jsonl",
    "parquet",
    "letor",
    "quepid",
    "rre",
    "opensearch",
    "ubi",
    "label-studio",
)


def quiet(_: str) -> None:
    """Notes of readers are tested elsewhere."""


def losses(done: ir.Conversion) -> dict[str, int]:
    return {loss.kind: loss.count for loss in done.losses}


def convert(source: Path, target: Path, **options: Any) -> ir.Conversion:
    return ir.convert(source, target, tell=quiet, **options)


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def as_csv(source: Path, folder: Path, **options: Any) -> list[dict[str, str]]:
    convert(source, folder / "as.csv", **options)
    return rows_of(folder / "as.csv")


def written(folder: Path, text: str, name: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


# --- there and back: a file of the tool, a format of ours, a file of the tool ---------------------


def opensearch_data(path: Path) -> Any:
    """Ratings by query, whatever stands around them."""
    value = json.loads(path.read_text(encoding="utf-8"))
    value = value["hits"]["hits"][0]["_source"] if "hits" in value else value
    return {
        one["query"]: {two["docId"]: float(two["rating"]) for two in one["ratings"]}
        for one in value["judgmentRatings"]
    }


def rre_data(path: Path) -> dict[str, dict[str, float]]:
    """Gains by query: of topics, groups and queries, by document or by gain."""
    found: dict[str, dict[str, float]] = {}

    def walk(node: Mapping[str, Any], documents: Any) -> None:
        documents = node.get("relevant_documents", documents)
        for name in ("topics", "query_groups", "queries"):
            for inner in node.get(name, []):
                walk(inner, documents)
        if "placeholders" in node:
            gains = {}
            for key, value in documents.items():
                if isinstance(value, list):
                    gains |= {document: float(key) for document in value if key}
                else:
                    gains[key] = float(value["gain"])
            found[node["placeholders"]["$query"]] = gains

    walk(json.loads(path.read_text(encoding="utf-8")), None)
    return found


def letor_data(path: Path) -> list[tuple[Any, ...]]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            data, _, comment = line.partition("#")
            grade, qid, *features = data.split()
            pairs = tuple((int(pair.split(":")[0]), float(pair.split(":")[1])) for pair in features)
            found.append((float(grade), qid, pairs, tuple(comment.split())))
    return found


def ubi_data(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


READERS = {"opensearch": opensearch_data, "rre": rre_data, "letor": letor_data, "ubi": ubi_data}
THERE_AND_BACK = [
    ("opensearch-import.json", "opensearch", "csv"),
    ("opensearch-import.json", "opensearch", "jsonl"),
    ("opensearch-response.json", "opensearch", "parquet"),
    ("opensearch-response.json", "opensearch", "label-studio"),
    ("rre-ratings.json", "rre", "csv"),
    ("rre-ratings.json", "rre", "quepid"),
    ("quepid-rre.json", "rre", "beir"),
    ("quepid-ltr.txt", "letor", "jsonl"),
    ("letor4.txt", "letor", "csv"),
    ("letor4.txt", "letor", "jsonl"),
    ("letor4.txt", "letor", "parquet"),
    ("ubi-judgments.jsonl", "ubi", "csv"),
    ("ubi-judgments.jsonl", "ubi", "label-studio"),
]


@pytest.mark.parametrize(
    ("name", "kind", "between"),
    THERE_AND_BACK,
    ids=[" by ".join(one[::2]) for one in THERE_AND_BACK],
)
def test_a_file_of_a_tool_comes_back_equal_as_data(
    tmp_path: Path, name: str, kind: str, between: str
) -> None:
    convert(TOOLS / name, tmp_path / "between", source_format=kind, target_format=between)
    convert(tmp_path / "between", tmp_path / "back", source_format=between, target_format=kind)
    assert READERS[kind](tmp_path / "back") == READERS[kind](TOOLS / name)


@pytest.mark.parametrize(
    "name",
    ["opensearch-import.json", "opensearch-response.json", "rre-ratings.json", "quepid-rre.json"],
)
def test_a_file_of_a_tool_is_read_as_its_own_reader_reads_it(tmp_path: Path, name: str) -> None:
    expected = (opensearch_data if name.startswith("opensearch") else rre_data)(TOOLS / name)
    qrels = ir.read_qrels(TOOLS / name, tell=quiet)
    assert {query: qrels[query] for query in qrels} == expected
    convert(TOOLS / name, tmp_path / "a.json", target_format="json")
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == expected


# --- Label Studio, BEIR ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["number", "rating", "choices"])
def test_tasks_of_label_studio_are_what_its_converter_reads(tmp_path: Path, kind: str) -> None:
    done = convert(TOOLS / f"label-studio-{kind}.json", tmp_path / "a.csv")
    found = sorted(
        [row["query_id"], row["doc_id"], row["assessor"], float(row["grade"])]
        for row in rows_of(tmp_path / "a.csv")
    )
    assert found == json.loads(
        (TOOLS / f"label-studio-{kind}-rows.json").read_text(encoding="utf-8")
    )
    assert losses(done) == {"cancelled": 2, "unjudged": 1}
    first = rows_of(tmp_path / "a.csv")[0]
    assert (first["query_text"], first["document_text"]) == ("text of q0", "Text of 0.")


def test_label_studio_there_and_back(tmp_path: Path) -> None:
    convert(TOOLS / "label-studio-number.json", tmp_path / "a.jsonl", keep_unjudged=True)
    convert(tmp_path / "a.jsonl", tmp_path / "back.json", target_format="label-studio")

    def data(path: Path) -> list[Any]:
        tasks = json.loads(path.read_text(encoding="utf-8"))
        return [
            (
                task["data"]["query_id"],
                task["data"]["query"],
                str(task["data"].get("doc_id", task["data"].get("document_id"))),
                task["data"]["document"],
                [
                    (one["completed_by"]["email"], one["result"][0]["value"])
                    for one in task["annotations"]
                    if not one["was_cancelled"]
                ],
            )
            for task in tasks
        ]

    assert data(tmp_path / "back.json") == data(TOOLS / "label-studio-number.json")


def test_label_studio_keeps_people_and_models_apart(tmp_path: Path) -> None:
    book = written(
        tmp_path,
        "query,docid,ann@x.org,gpt-4o,7\nred shoes,p1,3,2,\nred shoes,p2,0,1,0\nhat,p4,,,\n",
        "book.csv",
    )
    done = convert(book, tmp_path / "a.json", target_format="label-studio")
    tasks = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert [one["completed_by"] for one in tasks[1]["annotations"]] == [{"email": "ann@x.org"}, 7]
    assert [
        (one["model_version"], one["result"][0]["value"]) for one in tasks[0]["predictions"]
    ] == [("gpt-4o", {"number": 2})]
    assert (tasks[2]["annotations"], tasks[2]["predictions"]) == ([], [])
    assert (losses(done), done.losses[0].examples) == ({"predictions": 2}, ("gpt-4o",))
    back = as_csv(tmp_path / "a.json", tmp_path)
    assert {(row["query_id"], row["doc_id"], row["assessor"], row["grade"]) for row in back} == {
        ("red shoes", "p1", "ann@x.org", "3"),
        ("red shoes", "p1", "gpt-4o", "2"),
        ("red shoes", "p2", "ann@x.org", "0"),
        ("red shoes", "p2", "gpt-4o", "1"),
        ("red shoes", "p2", "7", "0"),
    }


def test_choices_with_words_need_their_grades(tmp_path: Path) -> None:
    def result(control: str, choice: str) -> dict[str, Any]:
        return {
            "from_name": control,
            "to_name": "t",
            "type": "choices",
            "value": {"choices": [choice]},
        }

    data = {"search": "shoes", "sku": "7"}
    tasks = [
        {
            "id": 1,
            "data": data,
            "annotations": [
                {"completed_by": 3, "result": [result("rel", "Good"), result("why", "1")]}
            ],
        }
    ]
    path = written(tmp_path, json.dumps(tasks), "tasks.json")
    with pytest.raises(
        ir.FileFormatError,
        match=r"task 1: found fields 'search', 'sku' as data, expected fields of a query and a "
        r"document",
    ):
        convert(path, tmp_path / "a.csv")
    names = {"query": "search", "document": "sku"}
    with pytest.raises(
        ir.FileFormatError,
        match='found choice "Good", expected a number; if grades are words, give each its number',
    ):
        convert(path, tmp_path / "a.csv", columns=names)
    with pytest.raises(
        ir.InputError,
        match=r"several controls \('rel', 'why'\), expected one; name it with columns=",
    ):
        convert(path, tmp_path / "a.csv", columns=names, labels={"Good": 2})
    done = convert(path, tmp_path / "a.csv", columns={**names, "grade": "rel"}, labels={"Good": 2})
    assert (rows_of(tmp_path / "a.csv")[0]["grade"], losses(done)) == ("2", {"other_results": 1})
    assert not list(tmp_path.glob("*.unfinished"))


def test_the_loader_of_beir_reads_what_was_written(tmp_path: Path) -> None:
    expected = json.loads((TOOLS / "beir.json").read_text(encoding="utf-8"))
    qrels = ir.read_qrels(TOOLS / "beir.tsv", tell=quiet)
    assert {query: qrels[query] for query in qrels} == expected
    convert(TOOLS / "beir.tsv", tmp_path / "a.jsonl")
    convert(tmp_path / "a.jsonl", tmp_path / "back.tsv", target_format="beir")
    assert (tmp_path / "back.tsv").read_bytes() == (TOOLS / "beir.tsv").read_bytes()


def test_fractions_are_rounded_for_beir_and_named_for_trec(tmp_path: Path) -> None:
    path = written(
        tmp_path, "query_id,doc_id,grade\nq,a,0.5\nq,b,2.4999\nq,c,-0.5\nq,d,2\n", "a.csv"
    )
    done = convert(path, tmp_path / "a.tsv", target_format="beir")
    assert (
        [row.split("\t")[2] for row in (tmp_path / "a.tsv").read_text().splitlines()[1:]],
        losses(done),
    ) == (
        ["1", "2", "0", "2"],
        {"rounded": 3},
    )
    done = convert(path, tmp_path / "a.qrels")
    assert ((tmp_path / "a.qrels").read_text(), losses(done)) == (
        "q 0 a 0.5\nq 0 b 2.4999\nq 0 c -0.5\nq 0 d 2\n",
        {"truncated": 3},
    )


# --- Quepid, LETOR, UBI ---------------------------------------------------------------------------


def test_a_book_of_quepid_there_and_back(tmp_path: Path) -> None:
    book = (
        "query,docid,Ann Lee,ben@example.com\nstar wars,12180,3,2\nstar wars,1895,0,\n "
        '-minus,7,,\n"a, ""b""",7,,1.5\n'
    )
    path = written(tmp_path, book, "book.csv")
    for between in ("label-studio", "jsonl", "csv", "tsv", "parquet"):
        convert(path, tmp_path / "between", target_format=between, keep_unjudged=True)
        done = convert(
            tmp_path / "between",
            tmp_path / "back.csv",
            source_format=between,
            target_format="quepid",
        )
        # whatever the order of the raters
        assert (rows_of(tmp_path / "back.csv"), losses(done)) == (rows_of(path), {}), between


def test_a_case_of_quepid_there_and_back(tmp_path: Path) -> None:
    case = (
        'query,docid,rating\n"star trek, the movie",193,3\n"star trek, the movie",157,\n '
        "-minus,13,0\n"
    )
    path = written(tmp_path, case, "case.csv")
    done = convert(path, tmp_path / "a.qrels", write_queries=tmp_path / "queries.tsv")
    assert (tmp_path / "a.qrels").read_text() == "q1 0 193 3\nq2 0 13 0\n"
    assert (tmp_path / "queries.tsv").read_text() == "q1\tstar trek, the movie\nq2\t-minus\n"
    assert (done.n_read, done.n_written, done.n_queries, losses(done)) == (3, 2, 2, {"unjudged": 1})
    done = convert(
        tmp_path / "a.qrels",
        tmp_path / "back.csv",
        target_format="quepid",
        queries=tmp_path / "queries.tsv",
    )
    assert (tmp_path / "back.csv").read_text() == case.replace('"star trek, the movie",157,\n', "")
    assert losses(done) == {"query_ids": 2}


def test_raters_whose_names_cannot_be_columns_stand_in_rows(tmp_path: Path) -> None:
    rows = [("q", "a", "rating", "1"), ("q", "a", "Ann", "0"), ("q", "b", "mean", "2")]
    path = written(
        tmp_path,
        "query_id,doc_id,rater,grade\n" + "".join(f"{','.join(row)}\n" for row in rows),
        "a.csv",
    )
    convert(path, tmp_path / "book.csv", target_format="quepid")
    assert (tmp_path / "book.csv").read_text().splitlines()[0] == "query,docid,user,rating"
    back = as_csv(tmp_path / "book.csv", tmp_path, source_format="quepid")
    assert sorted(
        (row["query_id"], row["doc_id"], row["assessor"], row["grade"]) for row in back
    ) == sorted(rows)


def test_documents_of_letor_files_are_those_of_their_comments(tmp_path: Path) -> None:
    found = as_csv(TOOLS / "letor4.txt", tmp_path)
    assert [row["doc_id"] for row in found] == [
        "GX029-35-5894638",
        "GX030-77-6315042",
        "GX100-01-0000001",
    ]
    assert [(row["feature_1"], row["prob"]) for row in found][:2] == [
        ("0.056537", "0.139842"),
        ("0.25", "0.341364"),
    ]
    found = as_csv(TOOLS / "quepid-ltr.txt", tmp_path)
    assert [(row["query_id"], row["doc_id"], row["grade"], row["query_text"]) for row in found] == [
        ("12", "193", "3", "star trek"),
        ("12", "13", "0", "star trek"),
        ("14", "7", "1", "red shoes"),
    ]
    numbered = written(tmp_path, "2 qid:7 1:0.5\n0 qid:7 1:0.25 # a remark\n", "a.letor")
    done = convert(numbered, tmp_path / "a.qrels")
    assert ((tmp_path / "a.qrels").read_text(), losses(done)) == (
        "7 0 7:1 2\n7 0 7:2 0\n",
        {"features": 2, "comments": 1},
    )


def test_features_are_lost_where_there_is_no_place_for_them(tmp_path: Path) -> None:
    done = convert(TOOLS / "letor4.txt", tmp_path / "a.qrels", strict=False)
    assert losses(done) == {"features": 3, "columns": 6}
    assert {loss.kind: loss.examples for loss in done.losses}["columns"] == ("inc", "prob")


def test_a_response_with_judgments_from_behaviour_is_recognised(tmp_path: Path) -> None:
    records = ubi_data(TOOLS / "ubi-judgments.jsonl")
    hits = {
        "hits": {
            "hits": [
                {"_index": "judgments", "_id": str(number), "_source": one}
                for number, one in enumerate(records)
            ]
        }
    }
    path = written(tmp_path, json.dumps(hits), "response.json")
    found = as_csv(path, tmp_path)
    assert [
        (row["query_id"], row["query_text"], row["doc_id"], float(row["grade"])) for row in found
    ] == [tuple(one.values()) for one in records]
    qrels = ir.read_qrels(path, tell=quiet)
    assert qrels["6b1d"] == {"B07-1": 1.273, "B07-2": 0.0}


def test_a_list_of_a_model_names_its_kind_as_the_assessor(tmp_path: Path) -> None:
    value = json.loads((TOOLS / "opensearch-import.json").read_text(encoding="utf-8"))
    value["type"] = "LLM_JUDGMENT"
    value["judgmentRatings"][0]["failures"] = [{"docId": "99", "reason": "timeout"}]
    path = written(tmp_path, json.dumps(value), "llm.json")
    done = convert(path, tmp_path / "a.csv", keep_unjudged=True)
    assert {row["assessor"] for row in rows_of(tmp_path / "a.csv")} == {"LLM_JUDGMENT"}
    assert [row["grade"] for row in rows_of(tmp_path / "a.csv") if row["doc_id"] == "99"] == [""]
    assert losses(done) == {"settings": 1}
    done = convert(path, tmp_path / "a.json", target_format="opensearch")
    assert losses(done) == {"assessors": 9, "unjudged": 1, "settings": 1}


# --- assessors, scales, texts ---------------------------------------------------------------------

BOOK = "query,docid,Ann,Ben,Cid\nq,a,3,2,2\nq,b,0,,\nq,c,1,0,\n"


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("mean", {"a": 7 / 3, "b": 0.0, "c": 0.5}),
        ("majority", {"a": 2.0, "b": 0.0, "c": 0.0}),
        ("median", {"a": 2.0, "b": 0.0, "c": 0.0}),
        ("lowest", {"a": 2.0, "b": 0.0, "c": 0.0}),
        ("highest", {"a": 3.0, "b": 0.0, "c": 1.0}),
        ("Ann", {"a": 3.0, "b": 0.0, "c": 1.0}),
        ("Ben", {"a": 2.0, "c": 0.0}),
    ],
)
def test_grades_of_several_assessors_become_one_by_a_named_policy(
    tmp_path: Path, policy: str, expected: dict[str, float]
) -> None:
    path = written(tmp_path, BOOK, "book.csv")
    done = convert(path, tmp_path / "a.json", assessors=policy)
    assert json.loads((tmp_path / "a.json").read_text())["q"] == pytest.approx(expected, abs=1e-15)
    counted = (
        {"assessors": 6, "merged": 2}
        if policy.islower()
        else {"assessors": len(expected), "other_assessors": 6 - len(expected)}
    )
    assert losses(done) == counted


def test_grades_of_several_assessors_are_never_merged_silently(tmp_path: Path) -> None:
    path = written(tmp_path, BOOK, "book.csv")
    with pytest.raises(ir.InputError) as caught:
        convert(path, tmp_path / "a.qrels")
    assert (
        "found grades by 3 assessors ('Ann', 'Ben', 'Cid'), expected one, since TREC qrels "
        "has no assessors" in str(caught.value)
    )
    assert "use --aggregate mean | median" in caught.value.on_command_line()
    with pytest.raises(
        ir.OptionError,
        match="found no such assessor, expected one of 'Ann', 'Ben', 'Cid', or one of mean",
    ):
        convert(path, tmp_path / "a.qrels", assessors="Dan")
    assert not (tmp_path / "a.qrels").exists()
    done = convert(path, tmp_path / "groups.qrels", target_format="qrels_jg")
    assert (losses(done), (tmp_path / "groups.qrels").read_text().splitlines()[0]) == (
        {},
        "q Ann a 3",
    )
    assert ir.read_assessors(tmp_path / "groups.qrels").of("Ben")["q"] == {"a": 2.0, "c": 0.0}
    done = convert(
        tmp_path / "groups.qrels",
        tmp_path / "back.csv",
        source_format="qrels_jg",
        target_format="quepid",
    )
    assert (losses(done), (tmp_path / "back.csv").read_text()) == ({}, BOOK)


def test_judgments_that_know_their_origin_keep_their_assessors(tmp_path: Path) -> None:
    rows = [("q1", "ann", "d1", 2.0), ("q1", "model-x", "d1", 1.0)]
    write_judgments(
        str(tmp_path / "a.qrels"), rows, {"kind": "people", "assessors": ["ann", "model-x"]}
    )
    done = convert(tmp_path / "a.qrels", tmp_path / "a.csv", source_format="trec")
    found = [
        (row["query_id"], row["assessor"], row["doc_id"], float(row["grade"]))
        for row in rows_of(tmp_path / "a.csv")
    ]
    assert (found, losses(done)) == (rows, {"comments": 1})


def test_grades_outside_the_scale_are_left_out_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "q 0 a 3\nq 0 b -2\nq 0 c 0.5\nq 0 d 0\n", "a.qrels")
    done = convert(path, tmp_path / "a.csv", scale=[0, 1, 2, 3])
    assert ([row["doc_id"] for row in rows_of(tmp_path / "a.csv")], losses(done)) == (
        ["a", "d"],
        {"off_scale": 2},
    )
    assert done.losses[0].examples == ("-2", "0.5")


def test_texts_are_joined_and_lost_by_name(tmp_path: Path) -> None:
    qrels = written(tmp_path, "1 0 a 1\n2 0 a 0\n", "a.qrels")
    queries = written(tmp_path, "1\tred shoes\n2\thats\n", "queries.tsv")
    documents = written(
        tmp_path, '{"_id": "a", "title": "Shoes", "text": "in red"}\n', "corpus.jsonl"
    )
    done = convert(qrels, tmp_path / "a.csv", queries=queries, documents=documents)
    assert rows_of(tmp_path / "a.csv")[0] == {
        "query_id": "1",
        "doc_id": "a",
        "grade": "1",
        "query_text": "red shoes",
        "document_text": "Shoes: in red",
    }
    assert done.is_lossless
    assert losses(convert(tmp_path / "a.csv", tmp_path / "b.qrels")) == {
        "query_texts": 2,
        "texts": 2,
    }
    done = convert(tmp_path / "a.csv", tmp_path / "b.qrels", write_queries=tmp_path / "out.jsonl")
    assert losses(done) == {"texts": 2}
    assert (
        tmp_path / "out.jsonl"
    ).read_text() == '{"_id": "1", "text": "red shoes"}\n{"_id": "2", "text": "hats"}\n'
    queries.write_text("1\tsame\n2\tsame\n")
    with pytest.raises(
        ir.InputError,
        match=r"found queries '1' and '2' with the text 'same', expected different texts",
    ):
        convert(qrels, tmp_path / "a.json", target_format="rre", queries=queries)


def test_ids_that_a_line_cannot_hold(tmp_path: Path) -> None:
    case = written(tmp_path, "query,docid,rating\nred shoes,p 1,3\n", "case.csv")
    with pytest.raises(ir.InputError) as caught:
        convert(case, tmp_path / "a.qrels")
    assert "found query 'red shoes', expected an id without blanks" in str(caught.value)
    assert (
        "add --write-queries queries.tsv, and the queries are numbered"
        in caught.value.on_command_line()
    )
    with pytest.raises(ir.InputError, match="found document 'p 1', expected an id without blanks"):
        convert(case, tmp_path / "a.qrels", write_queries=tmp_path / "queries.tsv")
    for name in ("#1", "a\x0bb", "a\u2003b", "a\x7f"):
        comment = written(tmp_path, json.dumps({name: {"d": 1}}), "a.json")
        with pytest.raises(
            ir.InputError, match="expected an id without blanks, control characters and a leading #"
        ):
            convert(comment, tmp_path / "a.qrels")
    assert {path.name for path in tmp_path.iterdir()} == {"case.csv", "a.json"}


def test_what_a_file_of_lines_holds_besides_is_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "# made today\nq 0 a 1\nq\t2\tb c\t0\nq Q0 d 1\n", "a.qrels")
    done = convert(path, tmp_path / "a.csv")
    assert (losses(done), done.losses[1].examples) == ({"comments": 1, "iterations": 1}, ("2",))
    assert [row["doc_id"] for row in rows_of(tmp_path / "a.csv")] == ["a", "b c", "d"]


def test_other_columns_pass_where_there_is_a_place(tmp_path: Path) -> None:
    records = [
        {
            "query_id": "q",
            "doc_id": "a",
            "grade": 1,
            "weight": 0.5,
            "tags": ["x", {"y": None}],
            "by": "x",
        },
        {"query_id": "q", "doc_id": "b", "grade": None, "weight": 2},
    ]
    path = written(tmp_path, "".join(f"{json.dumps(record)}\n" for record in records), "a.jsonl")
    done = convert(path, tmp_path / "back.jsonl", keep_unjudged=True)
    assert (
        [json.loads(line) for line in (tmp_path / "back.jsonl").read_text().splitlines()],
        done.is_lossless,
    ) == (records, True)
    convert(path, tmp_path / "a.parquet", keep_unjudged=True)
    assert pq.read_table(tmp_path / "a.parquet").to_pylist()[0] == {
        "query_id": "q",
        "doc_id": "a",
        "grade": 1.0,
        "weight": "0.5",
        "tags": '["x", {"y": null}]',
        "by": "x",
    }
    done = convert(path, tmp_path / "a.qrels")
    assert (losses(done), {one.kind: one.examples for one in done.losses}["columns"]) == (
        {"unjudged": 1, "columns": 3},
        ("weight", "tags", "by"),
    )


# --- real files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMATS)
def test_real_ratings_of_quepid_through_every_format(tmp_path: Path, kind: str) -> None:
    source = shared_file("data", "haystack-quepid", "judgements.csv")
    queries = tmp_path / "queries.tsv"
    convert(source, tmp_path / "whole.json", target_format="json", assessors="majority")
    expected = json.loads((tmp_path / "whole.json").read_text(encoding="utf-8"))
    texts = {row["query_id"]: row["query_text"] for row in rows_of(source)}
    convert(
        source, tmp_path / "there", target_format=kind, assessors="majority", write_queries=queries
    )
    convert(tmp_path / "there", tmp_path / "back.json", source_format=kind, target_format="json")
    found = json.loads((tmp_path / "back.json").read_text(encoding="utf-8"))
    named_by_text = kind in ("quepid", "rre", "opensearch")
    assert found == (
        {texts[query]: grades for query, grades in expected.items()} if named_by_text else expected
    ), kind
    assert (
        dict(line.split("\t") for line in queries.read_text(encoding="utf-8").splitlines()) == texts
    )


def test_real_features_there_and_back(tmp_path: Path) -> None:
    source = shared_file("data", "lightgbm-rank", "rank.test.gz")
    group = shared_file("data", "lightgbm-rank", "rank.test.query")
    convert(source, tmp_path / "a.parquet", source_format="letor", group=group)
    convert(tmp_path / "a.parquet", tmp_path / "back.letor")
    with gzip.open(source, "rt", encoding="utf-8") as file:
        expected = [
            (
                float(line.split()[0]),
                [tuple(map(float, pair.split(":"))) for pair in line.split()[1:]],
            )
            for line in file
        ]
    found = [
        (grade, [tuple(map(float, pair)) for pair in pairs])
        for grade, _, pairs, _ in letor_data(tmp_path / "back.letor")
    ]
    assert found == expected
