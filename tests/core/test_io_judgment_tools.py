"""Judgments exported by Quepid and RRE. The files are typed after the exports of Quepid and the
examples of RRE.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.io.complaints import Notes
from idealrank.io.formats.detection import detect
from idealrank.io.lint import lint
from idealrank.io.sources import Source
from tests.in_process import run as command

# A case: one rating a document; a query without ratings has a row of its own, a blank is unjudged,
# and "-" is protected by a blank.
CASE = (
    'query,docid,rating\n"star trek, the movie",193,3\n"star trek, the movie",157,\nempty query\n '
    "-minus,13,0\nold style,,\n"
)
# A book: a column for each rater.
BOOK = (
    "query,docid,Ann Lee,ben@example.com,Unknown\nstar wars,12180,3,2,\nstar wars,1895,0,,1\nstar "
    "wars,7,,,\nstar trek,193,2,2,2\n"
)


def written(folder: Path, text: str, name: str = "export.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_a_case_of_quepid(tmp_path: Path) -> None:
    said: list[str] = []
    qrels = ir.read_qrels(written(tmp_path, CASE), tell=said.append)
    assert {query: qrels[query] for query in qrels} == {
        "star trek, the movie": {"193": 3.0},
        "-minus": {"13": 0.0},
    }
    assert [line.partition(": ")[2] for line in said] == [
        "read as Quepid's judgments; to set the format, use format='quepid'",
        "1 of 3 ratings is blank and counts as unjudged",
        "2 queries have no rated document; they are left out",
    ]
    assert ir.read_qrels(tmp_path / "export.csv", format="quepid").n_judgments == 2


def test_a_book_of_several_raters_needs_a_choice(tmp_path: Path) -> None:
    path = written(tmp_path, BOOK)
    with pytest.raises(ir.InputError) as caught:
        ir.read_qrels(path)
    assert str(caught.value).startswith(
        f"{path}: found 3 raters ('Ann Lee', 'ben@example.com', 'Unknown'), expected one "
        f"grade for a document; "
        "use columns={'grade': 'mean'}"
    )
    assert "use --qrels-columns grade=mean" in caught.value.on_command_line()
    said: list[str] = []
    mean = ir.read_qrels(path, columns={"grade": "mean"}, tell=said.append)
    assert (mean["star wars"], mean["star trek"]) == ({"12180": 2.5, "1895": 0.5}, {"193": 2.0})
    assert "5 of 12 ratings by 3 raters are blank and count as unjudged" in said[1]
    assert ir.read_qrels(path, columns={"grade": "Ann Lee"})["star wars"] == {
        "12180": 3.0,
        "1895": 0.0,
    }
    with pytest.raises(ir.InputError, match="found no rater 'Cid' among 'Ann Lee'"):
        ir.read_qrels(path, columns={"grade": "Cid"})


def test_a_book_of_several_raters_as_assessors(tmp_path: Path) -> None:
    path = written(tmp_path, BOOK)
    for options in ({}, {"format": "quepid"}):
        raters = ir.read_assessors(path, tell=[].append, **options)
        assert raters.assessors == ("Ann Lee", "ben@example.com", "Unknown")
        assert raters.of("ben@example.com")["star wars"] == {"12180": 2.0}
    run = written(
        tmp_path, json.dumps({"star wars": ["1895", "12180"], "star trek": ["193"]}), "a.json"
    )
    code, out, said = command(
        [
            "evaluate",
            str(path),
            str(run),
            "--judgments",
            "qrels_jg",
            "-m",
            "AP_avgjg",
            "--format",
            "csv",
        ]
    )
    assert code == 0, said
    # Of star wars: Ann has the second document relevant, Ben too, the third rater the first; of
    # star trek all have the first.
    assert float(out.splitlines()[1].split(",")[2]) == pytest.approx(
        ((0.5 + 0.5 + 1) / 3 + 1) / 2, abs=1e-12
    )
    with pytest.raises(ir.OptionError, match="expected one of auto"):
        ir.read_assessors(path, format="csv")  # type: ignore[arg-type]
    with pytest.raises(ir.InputError, match="found no judgments"):
        ir.read_assessors(written(tmp_path, "query,docid,rating\nq,d,\n"), tell=[].append)
    with pytest.raises(ir.FileFormatError, match=r"export\.csv:3: "):
        ir.read_assessors(written(tmp_path, "query,docid,rating\nq,d,1\nq,d,2\n"))


# A book with a row for each rating, and Quepid's flags of ratings that do not count.
ROWS = """query,docid,user,rating,unrateable,judge_later,explanation
shoes,7,ann@x.com,3,false,false,"fits, well"
shoes,7,ben@x.com,2,false,false,
shoes,4,ann@x.com,,true,false,broken picture
shoes,4,ben@x.com,0,false,false,
boots,9,ann@x.com,,false,true,
boots,9,ben@x.com,1,,,
boots,8,ann@x.com,0,false,false,
boots,8,ben@x.com,,false,false,
 -minus,3,,2,false,false,
"""


def test_a_book_with_a_row_for_each_rating(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    said: list[str] = []
    mean = ir.read_qrels(path, columns={"grade": "mean"}, tell=said.append)
    expected = {"shoes": {"7": 2.5, "4": 0.0}, "boots": {"9": 1.0, "8": 0.0}, "-minus": {"3": 2.0}}
    assert {query: mean[query] for query in mean} == expected
    assert [line.partition(": ")[2] for line in said] == [
        "read as Quepid's judgments; to set the format, use format='quepid'",
        "of 9 ratings by 3 raters, 1 blank, 1 unrateable, 1 left for later: unjudged",
    ]
    assert ir.read_qrels(path, columns={"grade": "ben@x.com"})["shoes"] == {"7": 2.0, "4": 0.0}
    with pytest.raises(
        ir.InputError, match=r"found 3 raters .*'Anonymous'.*, expected one grade for a document"
    ):
        ir.read_qrels(path)
    raters = ir.read_assessors(path, tell=[].append)
    assert raters.assessors == ("ann@x.com", "ben@x.com", "Anonymous")
    assert raters.of("ann@x.com")["shoes"] == {"7": 3.0}

    # The same, in another order and with semicolons.
    lines = [
        ";".join(line.split(",")[place] for place in (2, 1, 3, 4, 5, 0))
        for line in ROWS.replace("fits, well", "fits").splitlines()
    ]
    turned = ir.read_assessors(written(tmp_path, "\n".join(lines), "turned.csv"), tell=[].append)
    assert turned.of("ben@x.com")["shoes"] == raters.of("ben@x.com")["shoes"]


def test_the_agreement_of_raters_in_rows_is_that_of_raters_in_columns(tmp_path: Path) -> None:
    grades = [
        (f"q{query}", f"d{place}", "Ann", (query * place) % 3)
        for query in range(8)
        for place in range(4)
    ]
    grades += [
        (query, document, "Ben", min(2, grade + (document == "d1")))
        for query, document, _, grade in grades
    ]
    rows = [
        "query,docid,rater,rating,judge_later",
        *(f"{','.join(map(str, one))},false" for one in grades),
        "q0,d9,Ann,,true",
    ]
    by_pair = {
        (query, document): [grade for *pair, _, grade in grades if pair == [query, document]]
        for query, document, _, _ in grades
    }
    columns = [
        "query,docid,Ann,Ben",
        *(",".join(map(str, (*pair, *two))) for pair, two in by_pair.items()),
    ]
    found = []
    for name, text in (("rows.csv", rows), ("columns.csv", columns)):
        code, out, said = command(
            [
                "judge",
                "agreement",
                str(written(tmp_path, "\n".join(text), name)),
                "--format",
                "json",
            ]
        )
        assert code == 0, said
        found.append(json.loads(out))
    assert found[0] == found[1]
    code, _, said = command(["judge", "agreement", str(tmp_path / "rows.csv")])
    assert "of 65 ratings by 2 raters, 1 left for later: unjudged" in said


def test_an_export_saved_again_by_a_spreadsheet_keeps_its_blanks(tmp_path: Path) -> None:
    assert ir.read_qrels(written(tmp_path, "query;docid;rating\nq;d;\nq;e;2\n"), tell=[].append)[
        "q"
    ] == {"e": 2.0}
    book = written(tmp_path, "query;docid;Ann;Ben\nq;e;2;1\nq;d;;\nq;f;;\n")
    assert ir.read_qrels(book, columns={"grade": "mean"}, tell=[].append)["q"] == {"e": 1.5}


def test_a_flag_outweighs_a_rating(tmp_path: Path) -> None:
    path = written(tmp_path, "query,docid,rating,unrateable\nq,d,3,true\nq,e,1,False\n")
    assert ir.read_qrels(path)["q"] == {"e": 1.0}


def test_one_rater_needs_no_choice(tmp_path: Path) -> None:
    path = written(tmp_path, "query,docid,ann@example.com\nq,d,2\nq,e,\n")
    assert ir.read_qrels(path)["q"] == {"d": 2.0}


BAD = [
    (
        "query,docid,rating\nq,d,high\n",
        'export.csv:2: found "high" as rating, expected a number, or a blank if unjudged',
    ),
    (
        "query,docid,rating\nq,d,nan\n",
        'export.csv:2: found "nan" as rating, expected a number, or a blank if unjudged',
    ),
    (
        "query,docid,rating\nq,d,1,2\n",
        "export.csv:2: found 4 cells, expected 3, as in the header line",
    ),
    (
        "query,docid,rating\nq,,1\n",
        "export.csv:2: found an empty cell as query or document, expected an id",
    ),
    (
        "query,docid,rating\nq,d,1\nq,d,2\n",
        'export.csv:3: found "q d" a second time (first on line 2), expected each document once',
    ),
    (
        "query,docid,Ann,Ann\nq,d,1,2\n",
        "export.csv:1: found columns 'query', 'docid', 'Ann', 'Ann', expected columns query, "
        "docid and rating",
    ),
    ("query,docid,rating\nq,d,\n", "export.csv: found no judgments, expected at least one"),
    (
        "query,docid,user,rating\nq,d,ann,1\nq,d,ben,0\nq,d,ann,2\n",
        'export.csv:4: found "q d" a second time by "ann" (first on line 2)',
    ),
    (
        "query,docid,rating,unrateable\nq,d,1,maybe\n",
        'export.csv:2: found "maybe" as unrateable or judge_later, expected true or false',
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=range(len(BAD)))
def test_the_message_about_an_export(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ir.InputError) as caught:
        ir.read_qrels(written(tmp_path, text), format="quepid", tell=[].append)
    assert message in str(caught.value)


def test_every_problem_of_an_export_is_listed(tmp_path: Path) -> None:
    path = written(tmp_path, "query,docid,rating\nq,d,high\nq,e,low\nq,f\nq,g,1\n")
    assert lint([path], "qrels").problems.counts == {"number": 2, "fields": 1}


GENERAL = [
    "query,docid,score\nq,d,1\n",
    "query,docid,rank\nq,d,1\n",
    "query,docid,title,rel\nq,d,x,1\n",
    "query,docid,title\nq,d,x\n",
    "query,docid,timestamp\nq,d,12\n",
    "query,docid\nq,d\n",
    "user,item,rating\nq,d,1\n",
    "query,docid,title,rating\nq,d,x,1\n",
    "query,docid,stars,sim\nq,d,3,0.5\n",
]


@pytest.mark.parametrize("text", GENERAL, ids=range(len(GENERAL)))
def test_general_columns_stay_general(text: str) -> None:
    assert detect(Source("a.csv", text.encode()), "auto", Notes([].append)) == "csv"


def test_a_run_with_columns_that_look_like_raters_is_a_run(tmp_path: Path) -> None:
    path = written(tmp_path, "query,docid,bm25\nq,d,0.5\nq,e,0.7\n")
    assert list(ir.read_run(path, columns={"score": "bm25"}).ranking("q").documents) == ["e", "d"]


RATINGS: dict[str, Any] = {
    "index": "core1",
    "corpora_file": "electric_basses.json",
    "id_field": "id",
    "topics": [
        {
            "description": "Fender basses",
            "query_groups": [
                {
                    "name": "Brand search",
                    "queries": [
                        {"template": "only_q.json", "placeholders": {"$query": "fender"}},
                        {
                            "template": "by_language.json",
                            "placeholders": {"$query": "Fender", "$lang": "eng"},
                        },
                        {
                            "template": "by_language.json",
                            "placeholders": {"$query": "fender", "$lang": "eng"},
                        },
                    ],
                    "relevant_documents": {"1": {"gain": 3}, "2": {"gain": 0}},
                },
                {
                    "name": "Jazz bass search",
                    "queries": [{"template": "only_q.json", "placeholders": {"$query": "jazz"}}],
                    "relevant_documents": [{"1": {"gain": 3}}, {"4": {"gain": 1.5}}],
                },
            ],
        }
    ],
}
QUEPID_RRE = {
    "id_field": "id",
    "index": "Movies Search",
    "template": "template.json",
    "queries": [
        {
            "placeholders": {"$query": "star trek"},
            "relevant_documents": {"": ["9"], "1": ["193"], "2": ["157", "152"]},
        },
        {"placeholders": {"$query": "unrated"}, "relevant_documents": {}},
    ],
}


def test_ratings_of_rre(tmp_path: Path) -> None:
    said: list[str] = []
    qrels = ir.read_qrels(
        written(tmp_path, json.dumps(RATINGS, indent=2), "ratings.json"), tell=said.append
    )
    brand = {"1": 3.0, "2": 0.0}
    assert {query: qrels[query] for query in qrels} == {
        "fender": brand,
        "Fender": brand,
        "jazz": {"1": 3.0, "4": 1.5},
    }
    assert [line.partition(": ")[2] for line in said] == [
        "read as RRE's ratings; to set the format, use format='rre'",
        "1 queries are repeated with the same documents; each counts once",
    ]
    assert ir.read_qrels(tmp_path / "ratings.json", format="rre")["jazz"] == {"1": 3.0, "4": 1.5}


def test_ratings_of_rre_that_quepid_exports(tmp_path: Path) -> None:
    said: list[str] = []
    qrels = ir.read_qrels(
        written(tmp_path, json.dumps(QUEPID_RRE), "ratings.json"), tell=said.append
    )
    assert (qrels["star trek"], qrels["unrated"]) == ({"193": 1.0, "157": 2.0, "152": 2.0}, {})
    assert said[1].endswith("1 documents have no gain: unjudged")


def rated(documents: Any, **placeholders: str) -> dict[str, Any]:
    return {
        "queries": [
            {"placeholders": placeholders or {"$query": "q"}, "relevant_documents": documents}
        ]
    }


BAD_RATINGS = [
    (
        rated({"1": ["d"]}, text="q"),
        "queries 1: found placeholders 'text', expected '$query', the text of the query; set "
        '"query_placeholder"',
    ),
    (rated({"high": ["d"]}), 'queries 1: found "high" as gain, expected a finite number'),
    (
        rated({"1": ["d"], "2": ["d"]}),
        'queries 1: found document "d" with two gains, expected one gain',
    ),
    (
        rated({"d": {"gain": "3"}}),
        'queries 1: found "3" as grade of document "d", expected {document: {"gain": number}}',
    ),
    (
        rated({"\ud800": 3}),
        'queries 1: found the id "\\ud800" with half a surrogate pair of a document, expected '
        "valid Unicode",
    ),
    (rated({"": {"gain": 1}}), "queries 1: found an empty id of a document, expected an id"),
    (rated(3), 'queries 1: found 3 as relevant_documents, expected {document: {"gain": number}}'),
    (
        {"queries": [*rated({"1": ["d"]})["queries"], *rated({"1": ["e"]})["queries"]]},
        'queries 2: found query "q" again, with other documents',
    ),
]


@pytest.mark.parametrize(("value", "message"), BAD_RATINGS, ids=range(len(BAD_RATINGS)))
def test_the_message_about_ratings(tmp_path: Path, value: Any, message: str) -> None:
    with pytest.raises(ir.FileFormatError) as caught:
        ir.read_qrels(written(tmp_path, json.dumps(value), "ratings.json"), format="rre")
    assert message in str(caught.value)


def test_judgments_are_no_run(tmp_path: Path) -> None:
    with pytest.raises(
        ir.FileFormatError,
        match="found ratings of RRE, which are judgments, expected a run; judgments come first",
    ):
        ir.read_run(written(tmp_path, json.dumps(RATINGS), "ratings.json"))


def test_a_format_of_judgments_does_not_concern_runs(tmp_path: Path) -> None:
    qrels = written(tmp_path, CASE)
    hits = {
        "-minus": {"hits": {"hits": [{"_id": "13", "_score": 1.0}]}},
        "star trek, the movie": {"hits": {"hits": [{"_id": "193"}]}},
    }
    run = written(tmp_path, json.dumps(hits), "run.json")
    for name in ("auto", "quepid", "elasticsearch"):
        assert command(["evaluate", str(qrels), str(run), "--input-format", name])[0] == 0
        assert command(["validate", str(qrels), str(run), "--input-format", name])[0] == 0
    assert command(["evaluate", str(qrels), str(run), "--input-format", "rre"])[0] == 2
