"""Judgments and runs in the wrong order are noticed; interactions are lists and sets."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import idealrank as ir
from idealrank.io.complaints import Notes
from idealrank.io.formats.trec import read_zscores
from tests.in_process import run as command

RANDOM = np.random.default_rng(7)
GRADES = {
    f"q{query}": {f"d{document}": int(RANDOM.integers(0, 4)) for document in range(8)}
    for query in range(5)
}
SCORES = {
    query: {document: round(float(RANDOM.random()), 6) for document in graded}
    for query, graded in GRADES.items()
}


def frame(table: dict[str, dict[str, Any]], value: str) -> pd.DataFrame:
    rows = [
        (query, document, number)
        for query, numbers in table.items()
        for document, number in numbers.items()
    ]
    return pd.DataFrame(rows, columns=["query", "doc", value])


def test_swapped_tables_are_noticed_in_python(tmp_path: Path) -> None:
    (tmp_path / "qrels.json").write_text(json.dumps(GRADES))
    (tmp_path / "run.json").write_text(json.dumps(SCORES))
    frame(GRADES, "score").to_csv(tmp_path / "qrels.csv")
    frame(SCORES, "rel").to_csv(tmp_path / "run.csv")
    pairs: list[tuple[Any, Any]] = [
        (SCORES, GRADES),
        (tmp_path / "run.json", tmp_path / "qrels.json"),
        (tmp_path / "run.csv", tmp_path / "qrels.csv"),
        (frame(SCORES, "rel"), frame(GRADES, "score")),
    ]
    for qrels, run in pairs:
        with pytest.warns(ir.IdealrankWarning, match=r"[Jj]udgments come first") as said:
            ir.evaluate(qrels, run, "nDCG@10")
        assert "are the files swapped? Judgments come first" in str(said[-1].message)


def test_swapped_files_are_noticed_by_commands(tmp_path: Path) -> None:
    (tmp_path / "qrels.json").write_text(json.dumps(GRADES))
    (tmp_path / "run.json").write_text(json.dumps(SCORES))
    for names, swapped in ((("qrels.json", "run.json"), False), (("run.json", "qrels.json"), True)):
        code, _, said = command(
            ["evaluate", *(str(tmp_path / name) for name in names), "-m", "nDCG@10"]
        )
        assert code == 0
        assert ("are the files swapped?" in " ".join(said.split())) is swapped
        assert (
            "are the files swapped?"
            in command(["validate", *(str(tmp_path / name) for name in names)])[1]
        ) is swapped


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_scores_in_the_place_of_judgments_are_noticed_without_a_column_name(
    tmp_path: Path, ending: str
) -> None:
    def path(table: Any) -> Path:
        lines = (
            [table] if ending == "json" else [{query: graded} for query, graded in table.items()]
        )
        (tmp_path / f"a.{ending}").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return tmp_path / f"a.{ending}"

    with pytest.warns(
        ir.IdealrankWarning,
        match=r"look like the scores of a run, expected grades; judgments come first, then runs",
    ):
        assert ir.read_qrels(path(SCORES))["q1"] == SCORES["q1"]
    means = {
        query: {document: grade / 3 for document, grade in graded.items()}
        for query, graded in GRADES.items()
    }
    with warnings.catch_warnings(action="error"):  # grades repeat, and scores are expected of a run
        assert ir.read_qrels(path(means))["q1"] == means["q1"]
        assert ir.read_run(path(SCORES)).ranking("q1").scores.max() == max(SCORES["q1"].values())


def test_a_run_with_ranks_in_the_place_of_judgments_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user;item;rank\nu1;i1;1\n")
    code, _, said = command(["evaluate", str(tmp_path / "a.csv"), str(tmp_path / "a.csv")])
    assert code == 2
    assert (
        "; judgments come first, then runs; or name them, for example with --qrels-columns "
        "query=user" in " ".join(said.split())
    )


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (GRADES, SCORES),
        # fractional grades, and a ranking
        (SCORES, {query: list(scores) for query, scores in SCORES.items()}),
        (SCORES, SCORES),
        (GRADES, GRADES),
        ({"q": {"a": 0.5, "b": 1, "c": 0}}, {"q": {"a": 1, "b": 1, "c": 0}}),
    ],
)
def test_tables_in_order_are_not_suspected(qrels: Any, run: Any) -> None:
    assert ir.evaluate(qrels, run, "nDCG@10").coverage.looks_swapped is False


def test_lists_and_sets_of_items_are_judgments(tmp_path: Path) -> None:
    run = {"ann": ["i9", "i1"], "bob": ["i2"]}
    for liked in (
        {"ann": ["i1", "i7"], "bob": ("i2",)},
        {"ann": {"i1", "i7"}, "bob": frozenset({"i2"})},
        {"ann": {"i1": 1, "i7": 1}, "bob": {"i2"}},
    ):
        assert ir.evaluate(liked, run, ["R@10", "HR@1"]).mean() == {"R@10": 0.75, "Success@1": 0.5}
    said: list[str] = []
    (tmp_path / "liked.json").write_text(json.dumps({"ann": ["i1", "i7"], "bob": ["i2"]}))
    assert ir.read_qrels(tmp_path / "liked.json", tell=said.append)["ann"] == {"i1": 1.0, "i7": 1.0}
    assert said[0].endswith(
        "found 2 lists of documents without grades; every document counts as grade 1"
    )
    (tmp_path / "one.json").write_text(json.dumps({"ann": ["i1", "i7"], "bob": {"i2": 1}}))
    ir.read_qrels(tmp_path / "one.json", tell=said.append)
    assert said[1].endswith(
        "found 1 list of documents without grades; every document counts as grade 1"
    )
    (tmp_path / "liked.jsonl").write_text('{"ann": ["i1", "i7"]}\n{"bob": ["i2"]}\n')
    assert ir.read_qrels(tmp_path / "liked.jsonl")["bob"] == {"i2": 1.0}


@pytest.mark.parametrize(
    ("liked", "message"),
    [
        (
            {"ann": ["i1", "i1"]},
            "found document 'i1' twice in a list, expected each once, as in a set",
        ),
        (
            {"ann": "i1"},
            r"found str, expected \{document: grade\}, or a list or set of documents, which "
            r"have the grade 1",
        ),
        ({"ann": 1}, r"found int, expected \{document: grade\}, or a list"),
        ({"ann": [["i1"]]}, "found documents that are not ids"),
        ({"ann": [("i1", 2)]}, "."),
    ],
)
def test_lists_that_are_no_judgments(liked: Any, message: str) -> None:
    with pytest.raises(ir.InputError, match=message):
        ir.Qrels(liked)


def test_recommendations_given_as_judgments_are_noticed() -> None:
    rated, recommended = {"ann": {"i1": 5, "i7": 5, "i2": 1}}, {"ann": ["i2", "i1"]}
    with pytest.warns(
        ir.IdealrankWarning,
        match=r"the judgments are lists, .*: are they swapped\? judgments come first",
    ):
        ir.evaluate(recommended, rated, "nDCG@10")


def test_mostly_unjudged_lists_are_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "liked.csv").write_text(
        "user,item\n" + "".join(f"u{user},i{user}\n" for user in range(5))
    )
    lists = {f"u{user}": [f"i{user}", *(f"x{item}" for item in range(49))] for user in range(5)}
    (tmp_path / "run.json").write_text(json.dumps(lists))
    code, out, said = command(
        ["evaluate", str(tmp_path / "liked.csv"), str(tmp_path / "run.json"), "-m", "HR@50"]
    )
    assert code == 0, said
    assert (
        "98% of the documents within rank 50 are unjudged; values are too low if some are relevant"
        in " ".join(out.split())
    )


def test_tables_whose_columns_are_those_of_the_other_kind_are_said_to_be_swapped(
    tmp_path: Path,
) -> None:
    (tmp_path / "bought.csv").write_text("user,item\nann,alien\n")
    (tmp_path / "new.csv").write_text("user,item,prediction\nann,alien,0.7\n")
    with pytest.raises(
        ir.InputError, match=r"expected one for the grade .*judgments come first, then runs"
    ):
        ir.read_qrels(tmp_path / "new.csv")
    with pytest.raises(
        ir.InputError,
        match=r"bought.csv: found columns .* one for the score .*judgments come first, then runs",
    ):
        ir.evaluate(tmp_path / "new.csv", tmp_path / "bought.csv", "HR@1")
    with pytest.raises(
        ir.InputError,
        match=r"run: found columns 'user', 'item', expected one for the score .*judgments come "
        r"first",
    ):
        ir.evaluate(
            frame(SCORES, "score"), pd.DataFrame({"user": ["ann"], "item": ["alien"]}), "HR@1"
        )
    with pytest.raises(ir.InputError) as caught:
        ir.read_qrels(pd.DataFrame({"user": ["ann"], "item": ["alien"], "stars": [3]}))
    assert "come first" not in str(caught.value)


def test_a_first_line_beyond_the_bytes_that_are_looked_at_is_no_judgment(tmp_path: Path) -> None:
    # 64 KiB end after the fourth field of the run's first line, which would be one of judgments.
    comment = "#" + "x" * (65536 - 10) + "\n"
    (tmp_path / "long.run").write_text(comment + "q Q0 d 1 0.5 tag\n")

    assert ir.evaluate({"q": {"d": 1}}, tmp_path / "long.run", "RR").mean() == {"RR": 1.0}


def test_ids_hold_any_blank_but_space_and_tab_whichever_line_they_are_on(tmp_path: Path) -> None:
    (tmp_path / "odd.run").write_text("q\xa01 Q0 d\x852 1 0.5 tag\n", encoding="utf-8")
    (tmp_path / "odd.qrels").write_text("q\xa01 0 d\x852 1\n", encoding="utf-8")
    (tmp_path / "zscores").write_text("q\xa01 map 0.5 0.1\n", encoding="utf-8")

    assert ir.evaluate(tmp_path / "odd.qrels", tmp_path / "odd.run", "RR").mean() == {"RR": 1.0}
    assert read_zscores(tmp_path / "zscores", Notes()) == {("q\xa01", "map"): (0.5, 0.1)}
