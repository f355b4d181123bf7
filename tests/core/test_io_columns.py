"""Columns have names of their own in judgments and runs, delimiters of their own, and sometimes no
grade.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import idealrank as ir
from idealrank.io.complaints import Notes
from idealrank.io.formats.detection import detect
from idealrank.io.sources import Source
from idealrank.io.table_columns import choose_columns, parse_columns
from tests.in_process import run as command

JUDGMENTS = {"suchwort": ["q1", "q1"], "artikel": ["d1", "d2"], "note": [2, 0]}
RESULTS = {"anfrage": ["q1", "q1"], "treffer": ["d2", "d1"], "punkte": [0.9, 0.4]}
QRELS_COLUMNS = {"query": "suchwort", "document": "artikel", "grade": "note"}
RUN_COLUMNS = {"query": "anfrage", "document": "treffer", "score": "punkte"}


def files(folder: Path) -> tuple[str, str]:
    qrels, run = folder / "qrels.csv", folder / "run.csv"
    pd.DataFrame(JUDGMENTS).to_csv(qrels, index=False)
    pd.DataFrame(RESULTS).to_csv(run, index=False)
    return str(qrels), str(run)


def test_judgments_and_run_name_their_columns_differently(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    for table, results in (
        (qrels, run),
        (pd.DataFrame(JUDGMENTS), pl.DataFrame(RESULTS)),
        (pl.DataFrame(JUDGMENTS).lazy(), run),
    ):
        found = ir.evaluate(
            table,
            results,
            "RR",
            qrels_columns=QRELS_COLUMNS,
            run_columns=tuple(RUN_COLUMNS.values()),
        )
        assert found.mean()["RR"] == 0.5


def test_columns_of_both_give_way_to_those_of_one(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    both = {"query": "suchwort", "document": "artikel", "grade": "note"}
    assert ir.evaluate(qrels, run, "RR", columns=both, run_columns=RUN_COLUMNS).mean()["RR"] == 0.5


def test_columns_belong_to_files_and_frames(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    with pytest.raises(
        ir.OptionError,
        match=r"qrels_columns: found dict, which has no columns, expected a file or a dataframe",
    ):
        ir.evaluate(
            {"q1": {"d1": 1}}, run, "RR", qrels_columns=QRELS_COLUMNS, run_columns=RUN_COLUMNS
        )
    with pytest.raises(ir.OptionError, match=r"run_columns: found dict"):
        ir.evaluate(
            qrels, {"q1": ["d1"]}, "RR", qrels_columns=QRELS_COLUMNS, run_columns=RUN_COLUMNS
        )
    with pytest.raises(ir.OptionError, match=r"columns: found list"):
        ir.evaluate([1, 0], [0.2, 0.1], "RR", columns=RUN_COLUMNS)


def test_evaluate_names_the_system() -> None:
    frame, judged = pd.DataFrame({"qid": ["q"], "docno": ["d"], "score": [0.5]}), {"q": {"d": 1}}
    for run in ({"q": ["d"]}, frame, ir.Run({"q": ["d"]}, name="other")):
        assert ir.evaluate(judged, run, "RR", name="mine").name == "mine"
    assert ir.evaluate(np.array([1, 0]), np.array([0.2, 0.1]), "RR", name="mine").name == "mine"
    assert ir.evaluate(judged, ir.Run({"q": ["d"]}, name="other"), "RR").name == "other"


def test_the_options_of_a_command(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    options = [
        "--qrels-columns",
        "query=suchwort,document=artikel,grade=note",
        "--run-columns",
        "query=anfrage,document=treffer,score=punkte",
    ]
    code, out, said = command(["evaluate", qrels, run, "-m", "RR", "--format", "csv", *options])
    assert (code, out.splitlines()[1].split(",")[2]) == (0, "0.5"), said
    assert command(["validate", qrels, run, *options])[0] == 0


def test_all_wrong_columns_are_named_at_once_with_an_option_that_works(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    code, _, said = command(["evaluate", qrels, run, "-m", "RR"])
    assert code == 2
    for role in ("query", "document", "grade"):
        assert f"one for the {role}" in " ".join(said.split())
    pasted = []
    for path, read in ((qrels, ir.read_qrels), (run, ir.read_run)):
        with pytest.raises(ir.InputError) as caught:
            read(path)
        pasted += re.search(r"(--\w+-columns) ([^\s;]+)", caught.value.on_command_line()).groups()  # type: ignore[union-attr]
    assert (
        command(["evaluate", qrels, run, "-m", "RR", "--format", "csv", *pasted])[1]
        .splitlines()[1]
        .split(",")[2]
        == "0.5"
    )


def test_a_misspelled_column_is_replaced_by_its_neighbour() -> None:
    with pytest.raises(ir.InputError) as caught:
        choose_columns(
            ["Suchwort", "artikel", "note"],
            "qrels",
            {"query": "suchwort", "document": "artikle", "grade": "note"},
            "t",
            Notes(),
        )
    assert "expected 'suchwort' for the query and 'artikle' for the document" in str(caught.value)
    assert "columns={'query': 'Suchwort', 'document': 'artikel', 'grade': 'note'}" in str(
        caught.value
    )
    assert caught.value.on_command_line().endswith(
        "--qrels-columns query=Suchwort,document=artikel,grade=note"
    )


@pytest.mark.parametrize("names", [["user_id", "item_id", "timestamp"], ["user_id", "item_id"]])
def test_interactions_are_offered_the_grade_1(names: list[str]) -> None:
    with pytest.raises(ir.InputError) as caught:
        choose_columns(names, "qrels", {"user": "uid", "item": "item_id"}, "t", Notes())
    assert caught.value.on_command_line().endswith(
        "with --qrels-columns query=user_id,document=item_id,grade=1"
    )


def test_users_items_and_ratings_are_words_for_roles() -> None:
    assert parse_columns("user=u,item=i,rating=r") == {"query": "u", "document": "i", "grade": "r"}
    assert choose_columns(
        ["u", "i", "r"], "qrels", {"user": "u", "item": "i", "rating": "r"}, "t", Notes()
    ).names == ["u", "i", "r"]
    with pytest.raises(ir.OptionError, match="found a role twice"):
        parse_columns("user=u,query=q")
    with pytest.raises(ir.OptionError, match="found a role twice"):
        choose_columns(["u", "i"], "qrels", {"user": "u", "query": "u"}, "t", Notes())


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_the_delimiter_is_that_of_the_header(tmp_path: Path, delimiter: str, name: str) -> None:
    path = tmp_path / name
    rows = (("qid", "docid", '"rel"', '"text; or, other"'), ("q1", "d1", "2", '"a, b; c"'))
    path.write_text("".join(delimiter.join(row) + "\n" for row in rows))
    assert ir.read_qrels(path, tell=[].append)["q1"] == {"d1": 2.0}
    assert ir.read_qrels(path, format="csv", tell=[].append)["q1"] == {"d1": 2.0}


def test_a_delimiter_that_is_none_of_them_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("qid|docid|rel\nq1|d1|1\n")
    with pytest.raises(
        ir.FileFormatError,
        match=r'a\.csv:1: found "qid\|docid\|rel", one column, expected columns separated by',
    ):
        ir.read_qrels(path)
    path.write_text("anfrage;artikel;note\nq1;d1;1\n")
    with pytest.raises(
        ir.InputError, match=r"the file was read as columns separated by ';'$"
    ) as caught:
        ir.read_qrels(path)
    said = caught.value.on_command_line()
    assert "with --qrels-columns query=anfrage,document=artikel,grade=note; grade=1 if" in said
    assert said.endswith("columns separated by ';'")
    path.write_text("qid;docid;score\nq1;d1;0,5\n")
    with pytest.raises(
        ir.FileFormatError, match=r'a\.csv:2: found "0,5" as score .* write decimals with a point'
    ):
        ir.read_run(path)
    assert detect(Source("a", b"qid;docid;rel\n"), "auto", Notes()) == "csv"


INTERACTIONS = {
    "user_id": ["u1", "u1", "u2"],
    "item_id": ["i1", "i2", "i1"],
    "timestamp": [881250949, 891717742, 878887116],
}


@pytest.mark.parametrize(
    "layout", ["csv", "jsonl", "parquet", "arrow", "pandas", "polars", "objects"]
)
def test_interactions_without_a_grade_count_as_grade_1_and_that_is_said(
    tmp_path: Path, layout: str
) -> None:
    frame, path = pd.DataFrame(INTERACTIONS), tmp_path / f"clicks.{layout}"
    table: object = path
    if layout == "csv":
        frame.to_csv(path)  # with the nameless index
    elif layout == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif layout == "parquet":
        frame.to_parquet(path)
    elif layout == "arrow":
        pl.DataFrame(INTERACTIONS).write_ipc(path)
    else:
        table = pl.DataFrame(INTERACTIONS) if layout == "polars" else frame
    if layout == "objects":
        table = frame.astype(object).replace("i2", 7)
    with pytest.warns(
        ir.IdealrankWarning,
        match=r"every row counts as grade 1; to set the columns, use columns=\{'user': 'user_id',",
    ):
        found = ir.evaluate(table, {"u1": ["x", "i1"], "u2": ["i1"]}, "RR")
    assert found.per_query()["u1"]["RR"] == 0.5
    columns = {"user": "user_id", "item": "item_id", "grade": "1"}
    assert (
        ir.evaluate(table, {"u1": ["x", "i1"], "u2": ["i1"]}, "RR", qrels_columns=columns).mean()[
            "RR"
        ]
        == 0.75
    )


def test_a_column_that_may_be_a_grade_is_not_taken_for_none(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("user,item,stars\nu1,i1,5\n")
    with pytest.raises(
        ir.InputError, match=r"'grade': 'stars'}.*; grade=1 if every row is relevant$"
    ):
        ir.read_qrels(path)
    assert ir.read_qrels(path, columns=parse_columns("grade=1"))["u1"] == {"i1": 1.0}
    with pytest.raises(ir.InputError, match="one for the score"):
        ir.read_run(path)


def test_files_of_queries_may_name_users(tmp_path: Path) -> None:
    path = tmp_path / "slices.csv"
    path.write_text("user_id,category\nu1,new\n")
    assert ir.read_categories(path) == {"u1": ("new",)}
    path.write_text("query,user\nq1,ann\n")
    assert ir.read_clusters(path) == {"q1": "ann"}


@pytest.mark.parametrize("indent", [None, 1])
def test_a_file_of_one_record_is_read_as_the_array_of_it(
    tmp_path: Path, indent: int | None
) -> None:
    record = {"suchwort": "q1", "doc_id": 7, "grade": 2, "note": "clear", "tags": ["a"]}
    columns = {"query": "suchwort"}
    for name, value in (("one.json", record), ("array.json", [record])):
        (tmp_path / name).write_text(json.dumps(value, indent=indent))
    one, array = (
        ir.read_qrels(tmp_path / name, columns=columns, tell=[].append)
        for name in ("one.json", "array.json")
    )
    assert one["q1"] == array["q1"] == {"7": 2.0}
    (tmp_path / "run.json").write_text(
        json.dumps({"query": "q1", "document": "d1", "score": 0.5}, indent=indent)
    )
    assert ir.read_run(tmp_path / "run.json", tell=[].append).ranking("q1").documents == ["d1"]
    for target in ("out.trec", "out.csv"):
        lost = [
            ir.convert(tmp_path / name, tmp_path / target, columns=columns, tell=[].append).losses
            for name in ("one.json", "array.json")
        ]
        assert lost[0] == lost[1]


def test_objects_by_query_are_no_records(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"query": {"doc": 2}, "doc": {"query": 1}}))
    assert ir.read_qrels(tmp_path / "a.json")["query"] == {"doc": 2.0}
    (tmp_path / "a.json").write_text(json.dumps({"q1": {"d1": 2}, "q2": 5}))
    with pytest.raises(ir.FileFormatError, match=r'query "q2": found 5 as the documents'):
        ir.read_qrels(tmp_path / "a.json")


def test_a_single_record_names_its_kind_of_assessor(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        json.dumps({"query": "q1", "document": "d1", "grade": 1, "kind": "model"})
    )
    said: list[str] = []
    ir.read_qrels(tmp_path / "a.json", tell=said.append)
    assert said[-1].endswith("all judgments are of kind model, none by people")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_file_with_ranks_and_scores_says_once_which_it_uses(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame(
        {"user": ["u", "u"], "item": ["a", "b"], "rank": [1, 2], "score": [0.5, 0.5]}
    )
    path = tmp_path / f"run.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    notes: list[str] = []

    by_score = ir.read_run(path, tell=notes.append)
    by_rank = ir.read_run(path, columns={"rank": "rank"})

    told = [note for note in notes if "rows are ordered by score" in note]
    assert len(told) == 1
    assert told[0].endswith("--run-columns rank=rank orders them by rank")
    # equal scores are ordered by document, descending
    assert by_score.ranking("u").documents == ["b", "a"]
    assert by_rank.ranking("u").documents == ["a", "b"]


@pytest.mark.parametrize(
    ("header", "query", "document"),
    [
        ("query,sku,label", "query", "sku"),
        ("customer_id,asin,rating", "customer_id", "asin"),
        ("uid,iid,rating", "uid", "iid"),
        ("session_id,sku,grade", "session_id", "sku"),
        # a usual name of an id comes before the names of shops
        ("query_id,customer_id,doc_id,sku,grade", "query_id", "doc_id"),
    ],
)
def test_names_of_shops_and_logs_are_known(header: str, query: str, document: str) -> None:
    notes: list[str] = []
    chosen = choose_columns(header.split(","), "qrels", None, "a.csv", Notes(notes.append))
    assert (chosen.query, chosen.document) == (query, document)
    assert len(notes) == 1
    assert f"={query}, " in notes[0]
    assert f"={document}, grade={chosen.value}" in notes[0]


@pytest.mark.parametrize(
    ("header", "roles"),
    [
        ("user_id,item_id,rating", "user=user_id, item=item_id, grade=rating"),
        ("User,Item,rating", "user=User, item=Item, grade=rating"),
        ("user_id,movie_id,rating", "user=user_id, document=movie_id, grade=rating"),
        ("query_id,item_id,rating", "query=query_id, item=item_id, grade=rating"),
        ("uid,iid,rating", "query=uid, document=iid, grade=rating"),
        ("session_id,sku,grade", "query=session_id, document=sku, grade=grade"),
    ],
)
def test_a_guess_calls_users_and_items_what_their_columns_call_them(
    header: str, roles: str
) -> None:
    notes: list[str] = []
    choose_columns(header.split(","), "qrels", None, "a.csv", Notes(notes.append))
    assert notes == [f"a.csv: columns guessed: {roles}"]

    # The words of a guess are roles that name the columns
    spelled = dict(pair.split("=") for pair in roles.split(", "))
    chosen = choose_columns(header.split(","), "qrels", spelled, "a.csv", Notes(notes.append))
    assert chosen.names == list(spelled.values())
    assert len(notes) == 1


def test_a_customer_beside_a_query_is_a_doubt(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("query,customer_id,sku,label\nphone cord,c1,s1,2\n")
    with pytest.warns(UserWarning, match="customer_id could be the query too"):
        assert ir.read_qrels(path)["phone cord"] == {"s1": 2.0}
