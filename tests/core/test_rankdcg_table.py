"""The script that works the rankDCG paper's table anew: its numbers, as recorded apart from it, and
its three forms.
"""

import importlib.util
import json
from fractions import Fraction
from types import ModuleType

import pytest

from tests.conftest import ROOT, shared_file

# What the paper prints, three decimals cut off: tau, AveP, "nDCG", rankDCG.
PRINTED = [
    (1.0, 1.0, 1.0, 1.0),
    (0.8, 0.887, 0.998, 0.975),
    (0.742, 0.454, 0.825, 0.65),
    (0.285, 0.659, 0.688, 0.325),
    (0.285, 0.697, 0.667, 0.325),
    (-0.8, 0.149, 0.571, 0.0),
]


def script() -> ModuleType:
    """The file as a module, wherever it lies."""
    spec = importlib.util.spec_from_file_location(
        "rankdcg_table", ROOT / "experiments" / "rankdcg_table.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(capsys: pytest.CaptureFixture[str], form: str) -> str:
    """What it prints in a form."""
    script().main(["--format", form])
    return capsys.readouterr().out


def test_every_column_has_the_printed_digits(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, "json"))
    columns = found["columns_of_the_paper"]
    assert columns == ["tau_b", "avep", "value_ratio", "rank_dcg"]
    assert [tuple(row[column]["cut"] for column in columns) for row in found["rows"]] == PRINTED


def test_the_exact_values_are_those_worked_apart(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(printed(capsys, "json"))["rows"]
    table = json.loads(shared_file("golden", "papers.json").read_text(encoding="utf-8"))[
        "rank_dcg"
    ]["table"]
    assert len(rows) == len(table) == 6
    for row, case in zip(rows, table, strict=True):
        assert row["list"] == case["list"]
        for key, name in (
            ("tau_b", "tau_b"),
            ("avep", "avep_positional"),
            ("value_ratio", "ndcg_raw"),
        ):
            assert row[key]["value"] == pytest.approx(case[name], abs=1e-14)
        for key, name in (("rank_dcg", "rankdcg"), ("rank_dcg_as_order", "rankdcg_order")):
            assert Fraction(row[key]["exact"]) == Fraction(case[name])
            assert row[key]["value"] == pytest.approx(float(Fraction(case[name])), abs=1e-15)


def test_what_the_text_gets_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    """The sign, tau-a, NDCG of the true values (which the authors' package has by now), and row 3
    read as an order.
    """
    rows = json.loads(printed(capsys, "json"))["rows"]
    assert [row["printed_formula"]["exact"] for row in rows] == [
        "0",
        "1/40",
        "7/20",
        "27/40",
        "27/40",
        "1",
    ]
    assert [row["tau_a"]["exact"] for row in rows] == [
        "7/9",
        "28/45",
        "26/45",
        "2/9",
        "2/9",
        "-28/45",
    ]
    assert [round(row["ndcg"]["value"], 5) for row in rows] == [
        1,
        0.99172,
        0.77863,
        0.66759,
        0.66759,
        0.57171,
    ]
    assert [row["rank_dcg_as_order"]["exact"] for row in rows] == [
        "1",
        "39/40",
        "3/4",
        "13/40",
        "13/40",
        "0",
    ]


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_for_people(capsys: pytest.CaptureFixture[str], form: str) -> None:
    """Both tables, each mark explained once, and no column that calls the ratio of values NDCG."""
    said = printed(capsys, form)
    for mark in "abcde":
        assert said.count(f"[{mark}]") >= 2
    heads = [line for line in said.splitlines() if "hypothesis list" in line]
    assert ["'nDCG' [d]" in line for line in heads] == [True, False]
    assert "Row 4" in said
    assert "3/4" in said
    assert max(map(len, said.splitlines())) <= 160 or form == "markdown"


def test_help_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        script().main(["--help"])
    assert stopped.value.code == 0
    assert "Katerenchuk and Rosenberg (2016)" in capsys.readouterr().out
