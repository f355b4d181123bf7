"""Formats are known by ending and first line, columns by their usual names; what is doubtful is
said.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from idealrank.errors import IdealrankWarning, InputError, OptionError
from idealrank.io.complaints import Notes
from idealrank.io.formats.detection import detect
from idealrank.io.read import read_qrels, read_run
from idealrank.io.sources import Source
from idealrank.io.table_columns import Chosen, choose_columns, parse_columns

TREC_RUN, TREC_QRELS = b"q1 Q0 d1 1 2.5 tag\n", b"q1 0 d1 1\n"
# name, content, format, what is said
CASES = [
    ("a.run", TREC_RUN, "trec", []),
    ("a.run.gz", TREC_RUN, "trec", []),
    ("noending", TREC_RUN, "trec", []),
    ("a.txt", TREC_QRELS, "trec", []),
    ("a.txt", b"# a comment\n\n  q1\t0\td1\t1\r\n", "trec", []),
    ("a.txt", b"\xef\xbb\xbfq1 0 d1 1\n", "trec", []),
    ("a.tsv", b"q1\t0\td1\t1\n", "trec", []),
    ("a.txt", b"q 1\t0\td 1\t1\n", "trec", []),
    ("a.txt", b"[1] 0 {d} 1\n", "trec", []),
    ("a.txt", b"[1]\t0\t[2]\t1\n", "trec", []),
    ("a.txt", b"{q1 0 d1 1\n", "trec", []),
    ("a.txt", b"{ 0 d1 1\n", "trec", []),
    ("a.txt", b'["q1 Q0 d1 1 2.5 tag\n', "trec", []),
    ("a.txt", b"2 0 CR93,12 1\n", "trec", []),
    ("empty", b"", "trec", []),
    ("a.csv", b"query,docid,Ann\nshoes,p1,3\n", "quepid", ["a.csv: read as Quepid's judgments"]),
    ("a.csv", b"query,docid,Ann\nshoes,p1,3\nshoes,p2,good\n", "csv", []),
    (
        "a.csv",
        b"query,docid,Ann\n" + b"shoes,p1,3\n" * 48 + b'shoes,p2,"good\n\n',
        "quepid",
        ["a.csv: read as Quepid's judgments"],
    ),
    ("a.json", b'{"q": {"d": 1}}', "json", []),
    ("a.JSON", b'\n {\n"q": {"d": 1}}', "json", []),
    ("a.json", b'[{"qid": 1}]', "json", []),
    # A bare number is the fourth or fifth word of these lines, as in TREC lines.
    ("a.json", b'{ "q1": { "d1": 1 } }\n', "json", []),
    (
        "a.txt",
        b'{ "q1": { "d1": 1 } }\n',
        "json",
        ["a.txt: read as JSON, though it could be JSON lines"],
    ),
    ("a.json", b'{ "q1": { "d1": 1 },\n"q2": { "d1": 1 } }\n', "json", []),
    ("a.txt", b'\xef\xbb\xbf { "q1": { "d1": 1 },\n"q2": { "d1": 1 } }\n', "json", []),
    ("a.txt", b'[ "q1", "d1", 1\n, 2]', "json", []),
    ("a.txt", b'[ "q1", "d1", ' + b"1" * 5000 + b" ]", "json", []),
    ("a.json", b'{ "q1": { "d1": 1 }' + b', "q2": { "d2": 1 }' * 4000 + b"}", "json", []),
    ("a.jsonl", b'{ "query": "q1", "grade": 1 }\n' * 2, "jsonl", []),
    ("a.txt", b'{ "query": "q1", "grade": 1 }\n' * 2, "jsonl", []),
    (
        "a.json",
        b'{ "query": "q1", "grade": 1 }\n' * 2,
        "jsonl",
        ["a.json: found JSON lines, expected JSON from the ending"],
    ),
    ("a.jsonl", b'{"q": {"d": 1}}', "jsonl", []),
    ("a.jsonl", b'{"q": {"d": 1}}\n\n{"r": {"d": 1}}', "jsonl", []),
    ("a.txt", b'{"q": {"d": 1}}\n{"r": {"d": 1}}', "jsonl", []),
    ("a.txt", b'{"q": {"d": 1}}', "json", ["a.txt: read as JSON, though it could be JSON lines"]),
    (
        "a.json",
        b'{"q": {}}\n{"r": {}}',
        "jsonl",
        ["a.json: found JSON lines, expected JSON from the ending"],
    ),
    (
        "a.jsonl",
        b'{"q":\n{}}',
        "json",
        ["a.jsonl: found JSON, expected JSON lines from the ending"],
    ),
    ("a.csv", b"qid,docid,score\n", "csv", []),
    (
        "a.csv",
        TREC_RUN,
        "trec",
        ["a.csv: found TREC lines, expected comma-separated columns from the ending"],
    ),
    (
        "a.csv",
        b"qid\tdocid\trel\n",
        "tsv",
        ["a.csv: found tab-separated columns, expected comma-separated columns from the ending"],
    ),
    ("a.txt", b"qid,docid,score\n", "csv", []),
    ("a.txt", b"qid\tdocid\tscore\n", "tsv", []),
    ("a.tsv", b"query-id\tcorpus-id\tscore\n", "beir", []),
    ("test.tsv", b"query-id\tcorpus-id\tscore\n1\t2\t1\n", "beir", []),
    ("a.parquet", b"PAR1....", "parquet", []),
    ("data", b"PAR1....", "parquet", []),
    ("a.feather", b"ARROW1\x00\x00", "arrow", []),
    ("data", b"\xff\xff\xff\xff\x00", "arrow", []),
    ("a.letor", b"2 qid:1 1:0.5\n", "letor", []),
    ("train.txt", b"2 qid:1 1:0.5 2:0.1 # docid\n", "letor", []),
    ("rank.train", b"0 10:0.89 11:0.75\n", "letor", []),
    ("scores.txt", b"-0.25\n1e-3\n", "letor", []),
]


@pytest.mark.parametrize(("name", "content", "kind", "said"), CASES, ids=range(len(CASES)))
def test_the_format_of(name: str, content: bytes, kind: str, said: Sequence[str]) -> None:
    heard: list[str] = []
    assert detect(Source(name, content), "auto", Notes(heard.append)) == kind
    assert heard == [f"{one}; to set the format, use format={kind!r}" for one in said]


@pytest.mark.parametrize("name", ["a.json", "a.txt"])
def test_json_whose_first_line_has_a_bare_number_as_a_trec_line_has(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text('{ "q1": { "d1": 1 } }\n')
    assert read_qrels(tmp_path / name, tell=lambda _: None)["q1"] == {"d1": 1.0}
    assert read_run(tmp_path / name, tell=lambda _: None).ranking("q1").documents == ["d1"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt"])
def test_json_lines_whose_first_has_a_bare_number_as_a_trec_line_has(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text('{ "query": "q1", "grade": 1 , "document": "d1" }\n')
    qrels = read_qrels(tmp_path / name, tell=lambda _: None)
    assert qrels["q1"] == {"d1": 1.0}
    (tmp_path / name).write_text('{ "query": "q1", "score": 2 , "document": "d1" }\n')
    assert read_run(tmp_path / name, tell=lambda _: None).ranking("q1").scores == [2.0]
    (tmp_path / name).write_text('{ "query": "q1", "grade": 1 }\n' * 2)
    with pytest.raises(InputError, match="found columns 'query', 'grade', expected one for the"):
        read_qrels(tmp_path / name, tell=lambda _: None)


def test_a_format_that_is_asked_for_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(TREC_QRELS)
    assert read_qrels(tmp_path / "a.csv", format="trec")["q1"] == {"d1": 1.0}
    (tmp_path / "b.txt").write_bytes(b"query-id\tcorpus-id\tscore\n1\t2\t1\n")
    assert read_qrels(tmp_path / "b.txt", format="beir")["1"] == {"2": 1.0}


def test_doubts_are_warnings_where_nobody_listens(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(TREC_QRELS)
    with pytest.warns(IdealrankWarning, match="found TREC lines, expected comma-separated columns"):
        read_qrels(tmp_path / "a.csv")


# columns, table, what is chosen, the doubt
COLUMNS = [
    (["query_id", "doc_id", "relevance"], "qrels", Chosen("query_id", "doc_id", "relevance"), ""),
    (["query-id", "corpus-id", "score"], "qrels", Chosen("query-id", "corpus-id", "score"), ""),
    (
        ["qid", "docid", "docno", "rank", "score", "query"],
        "run",
        Chosen("qid", "docid", "score"),
        "docno could be the document too",
    ),
    (["qid", "query", "docno", "label"], "qrels", Chosen("qid", "docno", "label"), ""),
    (["query", "row", "label", "score"], "qrels", None, ""),
    (["User ID", "Item-ID", "Rating"], "qrels", Chosen("User ID", "Item-ID", "Rating"), ""),
    (["user", "item", "score", "rank"], "run", Chosen("user", "item", "score"), ""),
    (
        ["Algorithm", "user", "rank", "item"],
        "run",
        Chosen("user", "item", "rank", by_rank=True),
        "",
    ),
    (["q", "doc", "label", "score"], "qrels", Chosen("q", "doc", "label"), ""),
    (
        ["query_id", "doc_id", "grade", "rating"],
        "qrels",
        Chosen("query_id", "doc_id", "grade"),
        "rating could be the grade too",
    ),
]


@pytest.mark.parametrize(("names", "table", "chosen", "doubt"), COLUMNS, ids=range(len(COLUMNS)))
def test_the_columns_of(names: list[str], table: str, chosen: Chosen | None, doubt: str) -> None:
    heard: list[str] = []
    if chosen is None:
        with pytest.raises(InputError, match="expected one for the document"):
            choose_columns(names, table, None, "t", Notes())  # type: ignore[arg-type]
        return
    assert choose_columns(names, table, None, "t", Notes(heard.append)) == chosen  # type: ignore[arg-type]
    role = "grade" if table == "qrels" else "rank" if chosen.by_rank else "score"
    query = "user" if chosen.query.lower().startswith("user") else "query"
    document = "item" if chosen.document.lower().startswith("item") else "document"
    guess = (
        f"t: columns guessed: {query}={chosen.query}, {document}={chosen.document}, "
        f"{role}={chosen.value}"
    )
    assert heard[0] == (f"{guess}; {doubt}; name them with columns=" if doubt else guess)
    has_rank_beside = table == "run" and not chosen.by_rank and "rank" in names
    assert [("ordered by score" in one, "--run-columns rank=rank" in one) for one in heard[1:]] == [
        (True, True)
    ] * has_rank_beside


def test_ids_of_a_table_that_are_not_utf8_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "latin1.csv").write_bytes(
        "user,item,rating\nu1,plain,1\nu1,caf\u00e9,1\nu2,th\u00e9,1\n".encode("latin-1")
    )
    heard: list[str] = []
    read_qrels(tmp_path / "latin1.csv", tell=heard.append)
    (told,) = (one for one in heard if "UTF-8" in one)
    assert told.startswith(f"{tmp_path / 'latin1.csv'}:3: 2 ids are not UTF-8 (the first: ")
    (tmp_path / "utf8.csv").write_text("user,item,rating\nu1,caf\u00e9,1\n", encoding="utf-8")
    heard.clear()
    read_qrels(tmp_path / "utf8.csv", tell=heard.append)
    assert not any("UTF-8" in one for one in heard)


def test_columns_that_are_named_need_no_guess() -> None:
    heard: list[str] = []
    names = ["a", "b", "c", "score", "qid"]
    given = {"query": "a", "document": "b", "score": "c", "grade": "elsewhere"}
    assert choose_columns(names, "run", given, "t", Notes(heard.append)) == Chosen("a", "b", "c")
    assert choose_columns(names, "run", ("a", "b", "c"), "t", Notes(heard.append)) == Chosen(
        "a", "b", "c"
    )
    assert choose_columns(
        names, "run", {"query": "a", "document": "b", "rank": "c"}, "t", Notes(heard.append)
    ).by_rank
    assert heard == []
    assert choose_columns(names, "run", {"document": "b"}, "t", Notes(heard.append)) == Chosen(
        "qid", "b", "score"
    )
    assert heard == ["t: columns guessed: query=qid, document=b, score=score"]


def test_columns_that_cannot_be() -> None:
    with pytest.raises(
        InputError, match=r"^t: found columns 'a', 'b', expected 'x' for the query; name them"
    ):
        choose_columns(["a", "b"], "run", ("x", "a", "b"), "t", Notes())
    with pytest.raises(InputError, match=r"expected one column 'a', found it more than once"):
        choose_columns(["a", "a", "b"], "run", ("a", "b", "b"), "t", Notes())
    with pytest.raises(
        OptionError,
        match=r"columns: found 'relevance', expected query, document, grade, score, rank",
    ):
        choose_columns(["a"], "run", {"relevance": "a"}, "t", Notes())
    with pytest.raises(OptionError, match="columns: found 'abc', expected a mapping"):
        choose_columns(["a"], "run", "abc", "t", Notes())
    with pytest.raises(OptionError, match=r"^--columns query: expected query=NAME"):
        parse_columns("query")


def test_ranks_order_a_run_without_scores(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,rank,item\nu,2,b\nu,1,a\nu,10,c\n")
    assert read_run(tmp_path / "a.csv").ranking("u").documents == ["a", "b", "c"]
    (tmp_path / "a.jsonl").write_text(
        '{"user": "u", "rank": 2, "item": "b"}\n{"user": "u", "rank": 1, "item": "a"}\n'
    )
    assert read_run(tmp_path / "a.jsonl").ranking("u").documents == ["a", "b"]


def test_the_name_of_a_run_is_that_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "bm25.v2.run").write_bytes(TREC_RUN)
    assert read_run(tmp_path / "bm25.v2.run").name == "bm25.v2"
    assert read_run(tmp_path / "bm25.v2.run", name="mine").name == "mine"
    assert read_run(tmp_path / "bm25.v2.run").paths == (str(tmp_path / "bm25.v2.run"),)


def test_blanks_at_the_ends_of_ids_stay_and_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("qid,docid,rel\nq1, d1,1\nq1,d2 ,0\n")
    with pytest.warns(
        IdealrankWarning,
        match=r'a\.csv:2: found the id " d1" with blanks at its end or beginning, 2 ids in all',
    ):
        assert read_qrels(tmp_path / "a.csv")["q1"] == {" d1": 1.0, "d2 ": 0.0}


def test_comments_that_would_be_judgments_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("# made by hand\n#q1 0 d0 1\nq1 0 #d1 1\n")
    with pytest.warns(IdealrankWarning, match="1 comment lines would be judgments without '#'"):
        assert read_qrels(tmp_path / "a.qrels")["q1"] == {"#d1": 1.0}


def test_a_run_submitted_to_trec_is_called_by_its_id(tmp_path: Path) -> None:
    """The archive calls every file input.RUNID.gz; all of them had the name "input"."""
    names = {
        "input.uwmt8a1.gz": "uwmt8a1",
        "input.bm25.v2.gz": "bm25.v2",
        "input.neural": "neural",
        "input.neural.run": "neural",
        "input.run": "input",
        "input.json": "input",
        "input.txt.gz": "input",
        "input.": "input.",
        "bm25.run": "bm25",
        "input": "input",
    }
    for file, name in names.items():
        (tmp_path / file).write_text("q Q0 d 1 1.0 tag\n", encoding="utf-8")
        assert read_run(tmp_path / file, format="trec", tell=lambda _: None).name == name, file


def test_a_byte_order_mark_before_letor_lines_and_scores(tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    labels, scores, bare, sizes = (
        tmp_path / name for name in ("a.letor", "a.scores", "b.letor", "b.letor.query")
    )
    labels.write_bytes(mark + b"2 qid:7 1:0.5\n0 qid:7 1:0.1\n")
    bare.write_bytes(mark + b"2 1:0.5\n0 1:0.1\n")
    sizes.write_bytes(mark + b"2\n")
    scores.write_bytes(mark + b"0.5\n0.9\n")
    assert read_qrels(labels, tell=lambda _: None)["7"] == {"7:1": 2.0, "7:2": 0.0}
    assert read_qrels(bare, tell=lambda _: None)["0"] == {"0:1": 2.0, "0:2": 0.0}
    assert read_run(scores, format="letor", labels=labels).ranking("7").documents == ["7:2", "7:1"]
    lines = tmp_path / "a.jsonl"
    lines.write_bytes(
        mark + b'{"qid": "q", "docid": "d", "rel": 1}\n{"qid": "q", "docid": "e", "rel": 0}\n'
    )
    assert read_qrels(lines, tell=lambda _: None)["q"] == {"d": 1.0, "e": 0.0}
