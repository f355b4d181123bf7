"""Lists of pairs to judge: their forms, and what is wrong with them, with its line."""

import csv
import json
from pathlib import Path

import pytest

from idealrank.errors import InputError
from idealrank.judging import pool
from idealrank.judging.files.judgment_pairs import read_pairs
from idealrank.judging.views.pooled_documents import pool_json


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "query,document\n",
            "found no pair, expected columns query and document, and query_text, title, text, "
            "link, priority, sampled if",
        ),
        ("query,title\nq1,a\n", "found no document"),
        ("query,document\nq1,d1\nq1,d1\n", "a second time"),
        (
            "query,document,sampled\nq1,d1,maybe\n",
            "pairs.csv:2: found sampled 'maybe', expected true or false",
        ),
        ("query,document,sampled\nq1,d1,false\n", "found no pair that is sampled"),
        ("query,document\nq1,d1\n\nq1,\n", "pairs.csv:4: found no document among"),
        ("query,document\nq1\n", "found 1 cells"),
        ("query,document,priority\nq1,d1,high\n", "priority 'high'"),
        ("", "found no pair"),
        ('{"query": ["q"], "document": "d"}\n', "query"),
    ],
)
def test_a_list_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "pairs.csv").write_text(text)
    with pytest.raises(InputError, match=r".*") as caught:
        read_pairs(tmp_path / "pairs.csv")
    assert said in str(caught.value)
    assert "pairs.csv" in str(caught.value)


def test_names_of_shops_are_known(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("customer_id,sku,title\nc1,s1,Cord\n")
    assert [pair.key for pair in read_pairs(path)] == [("c1", "s1")]


def test_ids_are_taken_as_they_are(tmp_path: Path) -> None:
    """Without its blanks, an id would be another one than in the run."""
    path = tmp_path / "pairs.csv"
    path.write_text('query,document\nphone cord,d 1\n"#1 mug ",d2\n')
    with pytest.warns(UserWarning, match=r"the id '#1 mug ' with blanks at its end .* 1 ids"):
        pairs = read_pairs(path)
    assert [pair.key for pair in pairs] == [("phone cord", "d 1"), ("#1 mug ", "d2")]


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.jsonl"])
def test_ids_that_are_no_utf8_are_refused_with_their_line_and_never_renamed(
    tmp_path: Path, name: str
) -> None:
    rows = [b'{"query": "q1", "document": "d\\udcfe"}', b'{"query": "q1", "document": "d\\udcff"}']
    lines = [b"query,document", b"q1,d\xfe", b"q1,d\xff"] if name == "pairs.csv" else rows
    (tmp_path / name).write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(
        InputError,
        match=rf"{name}.*: found document 'd\\udcfe', expected an id in UTF-8; save the file as UTF-8",  # noqa: E501
    ):
        read_pairs(tmp_path / name)


def test_lists_come_as_csv_tabs_json_and_with_titles_links_and_line_ends(tmp_path: Path) -> None:
    rows = {
        "query": "q1",
        "document": "d1",
        "query_text": "sort",
        "title": "T, t",
        "text": "one\n two",
        "url": "https://a.example/1",
        "priority": 2,
    }
    (tmp_path / "a.json").write_text(json.dumps([rows]))
    (tmp_path / "a.jsonl").write_text(json.dumps(rows) + "\n")
    with (tmp_path / "a.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows)
        writer.writeheader()
        writer.writerow(rows)
    expected = read_pairs(tmp_path / "a.json")
    assert (expected[0].content.text, expected[0].content.link, expected[0].priority) == (
        "one\n two",
        "https://a.example/1",
        2.0,
    )
    assert read_pairs(tmp_path / "a.jsonl") == read_pairs(tmp_path / "a.csv") == expected


def test_rows_that_are_not_sampled_are_left_out_and_counted(tmp_path: Path) -> None:
    """Judging them would cost, and `judge infer` does not count them."""
    rows = [
        {"query": "q1", "document": f"d{place}", "sampled": value}
        for place, value in enumerate([True, False, None, False])
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    said: list[str] = []
    assert [one.document for one in read_pairs(tmp_path / "a.json", tell=said.append)] == [
        "d0",
        "d2",
    ]
    assert said == [
        f"{tmp_path / 'a.json'}: 2 of 4 pairs are not sampled and were left out; 2 are to be judged"
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows[:2]))
    assert len(read_pairs(tmp_path / "a.json", tell=said.append)) == 1
    assert said[1:] == [
        f"{tmp_path / 'a.json'}: 1 of 2 pairs is not sampled and was left out; 1 is to be judged"
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_pool_in_json_is_a_list_of_pairs(tmp_path: Path, indent: "int | None") -> None:
    found = pool([{"q": ["a", "b", "c", "d", "e", "f"]}], 6, strata="2:1,6:0.5")
    (tmp_path / "a.json").write_text(json.dumps(json.loads(pool_json(found)), indent=indent))
    sampled = [row["document"] for row in found.rows() if row["sampled"]]
    assert len(sampled) == 4
    assert [one.document for one in read_pairs(tmp_path / "a.json", tell=[].append)] == sampled
    rows = [{"query": "q", "document": "a"}, {"query": "q", "document": ""}]
    (tmp_path / "a.json").write_text(json.dumps({"documents": rows}))
    with pytest.raises(InputError, match=r"a.json: documents: record 2: found no document"):
        read_pairs(tmp_path / "a.json")
    (tmp_path / "a.json").write_text('{\n"document": "a"\n}')
    with pytest.raises(InputError, match=r"a.json:1: found a line that is not JSON"):
        read_pairs(tmp_path / "a.json")
