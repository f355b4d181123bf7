"""Means on slices: the mean and the interval of each part alone, in Python and in every format of
`evaluate --slices`.
"""

import csv
import io
import json
import math
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.cli.main import run as command

PYDOCS = Path(__file__).resolve().parents[2] / "examples" / "pydocs"
QRELS_FILE, RUN_FILE, SLICES_FILE = (
    str(PYDOCS / name) for name in ("qrels.txt", "bm25.run", "categories.csv")
)
QRELS = {f"q{i}": {"x": 1, "y": 2} for i in range(6)}
RUN = {f"q{i}": ["z"] * (i % 3 > 0) + ["x"] + ["y"] * (i % 2) for i in range(6)}
SLICES: dict[str, str | list[str]] = {
    "q0": "short",
    "q1": ["short", "news"],
    "q2": "short",
    "q3": "news",
    "other": "news",
}


def test_each_slice_has_the_mean_and_interval_of_its_queries() -> None:
    evaluation = ir.evaluate(QRELS, RUN, ["nDCG@10", "AP", "NumRel"])

    found = evaluation.by(SLICES)

    assert found.queries == {"news": 2, "short": 3}
    assert found.counts == {"in_none": 2, "in_several": 1, "unknown": 1}
    for name, queries in {"news": ["q1", "q3"], "short": ["q0", "q1", "q2"]}.items():
        part = ir.evaluate(
            {query: QRELS[query] for query in queries},
            {query: RUN[query] for query in queries},
            ["nDCG@10", "AP", "NumRel"],
        )
        assert {measure: one.mean for measure, one in found[name].items()} == part.mean()
        for measure, one in ir.intervals(part).items():
            assert found[name][measure] == one
        assert math.isnan(found[name]["NumRel"].interval[0])
        assert {one.n for one in found[name].values()} == {len(queries)}


def test_slices_as_a_record_and_as_a_frame() -> None:
    found = ir.evaluate(QRELS, RUN, ["AP", "NumRel"]).by({"q0": "one"}, level=0.9)

    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["slices"]["one"]["means"][
        "AP"
    ] == {
        "mean": found["one"]["AP"].mean,
        "low": None,
        "high": None,
        "n": 1,
    }
    assert found.as_dict()["level"] == 0.9
    frame = found.to_frame("polars")
    assert frame.columns == ["slice", "measure", "mean", "low", "high", "n"]
    assert frame["measure"].to_list() == ["AP", "NumRel"]


def test_slices_without_an_evaluated_query_are_refused() -> None:
    with pytest.raises(
        ir.InputError, match="found categories of 'other', expected some of the 6 evaluated queries"
    ):
        ir.evaluate(QRELS, RUN, "AP").by({"other": "news"})


@pytest.mark.parametrize("option", ["table", "json", "csv", "markdown", "latex"])
def test_evaluate_writes_slices_in_every_format(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = ir.evaluate(QRELS_FILE, RUN_FILE, ["nDCG@10"]).by(ir.read_categories(SLICES_FILE))
    name, first = next(iter(found.slices.items()))

    assert (
        command(
            [
                "evaluate",
                QRELS_FILE,
                RUN_FILE,
                "-m",
                "nDCG@10",
                "--slices",
                SLICES_FILE,
                "--format",
                option,
            ]
        )
        == 0
    )

    text = capsys.readouterr().out
    if option == "json":
        assert json.loads(text)["runs"][0]["slices"] == found.as_dict()["slices"]
    elif option == "csv":
        row = next(csv.DictReader(io.StringIO(text)))
        assert (row["run"], row["slice"], row["measure"], row["n"]) == (
            "bm25",
            name,
            "nDCG@10",
            str(first["nDCG@10"].n),
        )
        assert [float(row[key]) for key in ("value", "low", "high")] == [
            first["nDCG@10"].mean,
            *first["nDCG@10"].interval,
        ]
    else:
        assert all(slice_name in text for slice_name in found.slices)
        assert "95" in text


@pytest.mark.parametrize("extra", [("--format", "trec"), ("--format", "csv", "--per-query")])
def test_a_format_without_a_place_for_slices_is_refused(
    extra: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["evaluate", QRELS_FILE, RUN_FILE, "--slices", SLICES_FILE, *extra]) == 2
    assert capsys.readouterr().err.startswith("error: --slices: found --")
