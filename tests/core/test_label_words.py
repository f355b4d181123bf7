"""Labels that are words have the grades that a map gives them, in every format that can hold
words.
"""

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import idealrank as ir
from idealrank.io.label_grades import labels_text, parse_labels
from tests.in_process import run as command

LABELS = {"Exact": 3, "Substitute": 2, "Irrelevant": 0}
ROWS = {
    "query": ["phone cord", "phone cord", "usb hub", "usb hub"],
    "sku": ["s1", "s2", "s3", "s4"],
    "label": ["Exact", "Substitute", "Irrelevant", "Exact"],
}
GRADES = {"phone cord": {"s1": 3.0, "s2": 2.0}, "usb hub": {"s3": 0.0, "s4": 3.0}}
RUN = {"phone cord": {"s2": 2.0, "s1": 1.0}, "usb hub": {"s3": 3.0, "s4": 1.0}}


def quiet(_: str) -> None:
    """Leave guesses unsaid."""


def records() -> list[dict[str, str]]:
    return [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]


def written(folder: Path, ending: str, rows: dict[str, list[Any]] = ROWS) -> str:
    path = folder / f"labels{ending}"
    frame = pd.DataFrame(rows)
    listed = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    match ending:
        case ".csv" | ".tsv":
            frame.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
        case ".parquet":
            frame.to_parquet(path, index=False)
        case ".feather":
            frame.to_feather(path)
        case ".json":
            path.write_text(json.dumps(listed))
        case _:
            path.write_text("".join(json.dumps(row) + "\n" for row in listed))
    return str(path)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".feather", ".json", ".jsonl"])
def test_every_format_of_tables_takes_words(tmp_path: Path, ending: str) -> None:
    qrels = ir.read_qrels(written(tmp_path, ending), labels=LABELS, tell=quiet)
    assert {query: qrels[query] for query in qrels.queries} == GRADES


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS).astype({"label": "category"}),
        pd.DataFrame({**ROWS, "label": ["Exact", 2, 0.0, "Exact"]}),  # cells of mixed types
        pl.DataFrame(ROWS),
        pl.DataFrame(ROWS).with_columns(pl.col("label").cast(pl.Categorical)),
        pl.DataFrame(ROWS).lazy(),
        pa.table(ROWS),
        {"phone cord": {"s1": "Exact", "s2": "Substitute"}, "usb hub": {"s3": 0, "s4": "Exact"}},
    ],
    ids=["pandas", "category", "mixed", "polars", "categorical", "lazy", "arrow", "mapping"],
)
def test_frames_and_mappings_take_words(frame: Any) -> None:
    by_words = ir.evaluate(frame, RUN, "nDCG@10", labels=LABELS)
    assert by_words.mean() == ir.evaluate(GRADES, RUN, "nDCG@10").mean()


def test_numbers_count_as_they_are_beside_words(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("query,sku,label\nphone cord,s1, Exact \nphone cord,s2,1.5\n")
    assert ir.read_qrels(path, labels=LABELS, tell=quiet)["phone cord"] == {"s1": 3.0, "s2": 1.5}
    path = tmp_path / "a.json"
    path.write_text('{"phone cord": {"s1": "Exact", "s2": "1.5", "s3": 1}}')
    qrels = ir.read_qrels(path, labels=LABELS)
    assert qrels["phone cord"] == {"s1": 3.0, "s2": 1.5, "s3": 1.0}


def test_large_files_of_json_lines_are_read_by_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, ".jsonl")
    monkeypatch.setattr("idealrank.io.formats.json_columns._FEWEST", 0)
    monkeypatch.setattr("idealrank.io.formats.nested.Records.add", lambda *_: pytest.fail("slow"))
    assert ir.read_qrels(path, labels=LABELS, tell=quiet)["usb hub"] == GRADES["usb hub"]


WRONG = {**ROWS, "label": ["Exact", "Substitute", "Exakt", "Exact"]}


@pytest.mark.parametrize(
    ("ending", "place"),
    [
        (".csv", "labels.csv:4"),
        (".tsv", "labels.tsv:4"),
        (".jsonl", "labels.jsonl:3"),
        (".json", "labels.json: record 3"),
        (".parquet", "labels.parquet: row 2 (counted from 0)"),
        (".feather", "labels.feather: row 2 (counted from 0)"),
    ],
)
def test_a_word_without_a_grade_is_named_with_its_line(
    tmp_path: Path, ending: str, place: str
) -> None:
    with pytest.raises(ir.InputError) as caught:
        ir.read_qrels(written(tmp_path, ending, WRONG), labels=LABELS, tell=quiet)
    message = str(caught.value)
    assert f'{place}: found "Exakt" as grade in ' in message
    assert "expected a number, or one of the labels Exact, Substitute, Irrelevant" in message
    assert "did you mean Exact? add the label to labels=" in message
    assert caught.value.command_hint == "did you mean Exact? add the label to --labels"


def test_words_without_a_map_name_the_argument(tmp_path: Path) -> None:
    with pytest.raises(ir.InputError, match=r"give each its number: labels=\{'Exact': NUMBER"):
        ir.read_qrels(written(tmp_path, ".csv"), tell=quiet)
    with pytest.raises(ir.InputError, match="give each its number with labels="):
        ir.read_qrels(written(tmp_path, ".parquet"), tell=quiet)


def test_scores_of_a_run_are_never_labels(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("query,sku,score\nq,a,Exact\n")
    typed = ["evaluate", written(tmp_path, ".csv"), str(path), "--labels", labels_text(LABELS)]
    code, _, err = command(typed)
    assert code == 2
    assert "run.csv:2: found \"Exact\" as score in column 'score', expected a number" in err


@pytest.mark.parametrize(
    ("text", "grades"),
    [
        ("Exact=3,Substitute=2", {"Exact": 3, "Substitute": 2}),
        (" Exact = 3 , Not relevant = 0 ", {"Exact": 3, "Not relevant": 0}),
        ("Partly, mostly=1.5,No, not=2", {"Partly, mostly": 1.5, "No, not": 2}),
        ("schlecht=-1e0", {"schlecht": -1}),
        ("", {}),
    ],
)
def test_labels_are_parsed_and_written(text: str, grades: dict[str, float]) -> None:
    assert parse_labels(text) == grades
    assert parse_labels(labels_text(grades)) == grades


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Exact", "--labels Exact: expected LABEL=GRADE,LABEL=GRADE,..."),
        ("Exact=three", "--labels Exact=three: expected LABEL=GRADE"),
        ("Exact=3,,", "expected LABEL=GRADE"),
        ("Exact=3,Exact=2", "found the label Exact twice, expected each once"),
        ("2=3", "found the number 2 as a label, expected a word"),
    ],
)
def test_a_broken_map_is_refused(text: str, message: str) -> None:
    with pytest.raises(ir.OptionError) as caught:
        parse_labels(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"": 1}, "labels: found the label '', expected a word"),
        ({"Exact": "three"}, "labels: found 'three' for Exact, expected a finite grade"),
        ({"Exact": float("inf")}, "labels: found inf for Exact, expected a finite grade"),
        ({3: 1}, "labels: found the label 3, expected a word"),
    ],
)
def test_a_broken_mapping_is_refused(tmp_path: Path, labels: dict[Any, Any], message: str) -> None:
    with pytest.raises(ir.OptionError) as caught:
        ir.read_qrels(written(tmp_path, ".csv"), labels=labels)
    assert str(caught.value) == message


def test_judgments_that_have_numbers_already_take_no_labels() -> None:
    with pytest.raises(ir.OptionError, match="labels: found Qrels, whose grades are numbers"):
        ir.evaluate(ir.Qrels(GRADES), RUN, labels=LABELS)
    with pytest.raises(ir.OptionError, match="labels: found list, whose grades are numbers"):
        ir.evaluate([[1, 0]], [[0.2, 0.1]], labels=LABELS)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Judgments in words and in numbers, and two runs that return some documents unjudged."""
    rng = np.random.default_rng(7)
    queries = [f"query {number}" for number in range(12)]
    rows = [
        (query, f"s{place}", str(rng.choice(list(LABELS))))
        for query in queries
        for place in range(8)
    ]
    words = pd.DataFrame(rows, columns=["query", "sku", "label"])
    numbers = words.assign(label=words["label"].map(LABELS))
    paths = {"OTHER": str(tmp_path / "other.csv")}
    numbers.to_csv(paths["OTHER"], index=False)
    for name, frame in (("WORDS", words), ("NUMBERS", numbers)):
        (tmp_path / name).mkdir()
        paths[name] = str(tmp_path / name / "labels.csv")
        frame.to_csv(paths[name], index=False)
    for name in ("A", "B"):
        scores = {query: {f"s{place}": rng.random() for place in range(10)} for query in queries}
        path = tmp_path / f"{name.lower()}.json"
        path.write_text(json.dumps(scores))
        paths[name] = str(path)
    return paths


@pytest.mark.spread(4)
@pytest.mark.parametrize(
    "arguments",
    [
        "evaluate QRELS A",
        "compare QRELS A B",
        "why QRELS A B",
        "robust QRELS A B",
        "explain QRELS A --query 'query 3'",
        "validate QRELS A",
        "reconcile QRELS A --value 0.9",
        "measures advise QRELS A",
        "measures choose QRELS A B",
        "judge bounds QRELS A B",
        "judge next QRELS A B --budget 2",
        "judge reuse QRELS A B",
        "judge check QRELS --judge-qrels QRELS",
        "judge agreement QRELS OTHER",
        "theory limits QRELS A",
        "search recall A B --qrels QRELS",
        "gate QRELS A --baseline B",
        "convert QRELS - --to csv",
    ],
)
def test_every_command_takes_words_as_numbers(files: dict[str, str], arguments: str) -> None:
    def said(name: str, *labels: str) -> tuple[int, str]:
        paths = {**files, "QRELS": files[name]}
        typed = [paths.get(word, word) for word in shlex.split(arguments)]
        code, out, _ = command([*typed, *labels])
        # the next steps that are printed repeat the option
        return code, out.replace(name, "NAME").replace(shlex.join(["", *labels])[2:], "")

    by_numbers = said("NUMBERS")
    assert said("WORDS", "--labels", labels_text(LABELS)) == by_numbers
    assert by_numbers[0] in (0, 1, 3)
    assert said("WORDS")[0] == 2


def test_the_policy_of_a_gate_holds_labels_and_columns(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    shop = pd.read_csv(files["WORDS"]).rename(columns={"query": "need", "label": "stars"})
    shop.to_csv("shop.csv", index=False)
    columns = "query=need,document=sku,grade=stars"
    typed = ["init", "shop.csv", "a.json", "--qrels-columns", columns, "--no-workflow"]
    code, _, err = command([*typed, "--labels", labels_text(LABELS), "--no-pytest"])
    assert code == 0, err
    policy = Path("pyproject.toml").read_text()
    assert 'labels = "Exact=3,Substitute=2,Irrelevant=0"' in policy
    code, by_words, _ = command(["gate", "b.json", "--format", "json"])
    assert code in (0, 1, 3)
    Path("pyproject.toml").rename("kept.toml")
    typed = ["gate", files["NUMBERS"], "b.json", "--baseline", "main.baseline.gz"]
    code_of_numbers, by_numbers, _ = command([*typed, "--format", "json"])
    assert code_of_numbers == code
    checks = [json.loads(out)["checks"] for out in (by_words, by_numbers)]
    assert checks[0] == checks[1]

    Path("pyproject.toml").write_text(policy.replace("Exact=3", "Exact=three"))
    code, _, err = command(["gate", "b.json"])
    assert code == 2
    assert "pyproject.toml: [tool.idealrank.gate]" in err
    assert "labels: found 'Exact=three,Substitute=2,Irrelevant=0', expected LABEL=GRADE" in err


def test_words_in_saved_answers_are_grades(tmp_path: Path) -> None:
    hits = [{"sku": "a b", "label": "Exact"}, {"sku": "c", "label": "No"}, {"sku": "d", "label": 1}]
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"query": "red mug", "hits": hits}) + "\n")

    qrels = ir.read_qrels(path, labels={"Exact": 3, "No": 0})

    assert qrels["red mug"] == {"a b": 3.0, "c": 0.0, "d": 1.0}
    path.write_text(path.read_text().replace("No", "Other"))
    with pytest.raises(ir.InputError, match='"Other" as grade'):
        ir.read_qrels(path, labels={"Exact": 3, "No": 0})
