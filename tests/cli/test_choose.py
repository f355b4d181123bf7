"""`idealrank measures choose`: what it prints, that its formats agree with the library, its
figure, and that its errors teach.
"""

import csv
import io
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.errors import install_command
from idealrank.pages.figures.tuning import choice_spec
from tests.cli.terminal import Said, check_snapshot
from tests.core.test_tuning import GOOD, collection

Say = Callable[..., Said]

COMMANDS = {
    "table": "measures choose qrels.txt bm25.run neural.run --size 2 --seed 1",
    "error-one-run": "measures choose qrels.txt bm25.run",
    "error-measure": "measures choose qrels.txt bm25.run neural.run -m AP",
    "error-discount": "measures choose qrels.txt bm25.run neural.run --discount lg2",
    "error-cutoff": "measures choose qrels.txt bm25.run neural.run --cutoff ten",
    "error-nothing": "measures choose qrels.txt bm25.run neural.run --cutoff ''",
    "error-size": "measures choose qrels.txt bm25.run neural.run --size 3",
    "error-figure": "measures choose qrels.txt bm25.run neural.run --figure figure.gif",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_choose_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"choose-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Judgments and runs that tell what is relevant from rank 4 on alone, so that a deep cutoff
    shows more.
    """
    qrels, runs = collection(GOOD, at=(3, 12), n_queries=60, seed=1)
    lines = [
        f"{query} 0 {document} {grade}\n"
        for query, grades in qrels.items()
        for document, grade in grades.items()
    ]
    (tmp_path / "qrels.txt").write_text("".join(lines), encoding="utf-8")
    for run in runs:
        lines = [
            f"{query} Q0 {document} {rank} {99 - rank} t\n"
            for query in qrels
            for rank, document in enumerate(run.ranking(query).documents, start=1)
        ]
        (tmp_path / f"{run.name}.run").write_text("".join(lines), encoding="utf-8")
    return tmp_path


RUNS = (
    "qrels.txt",
    "a.run",
    "b.run",
    "c.run",
    "d.run",
    "--cutoff",
    "3,12",
    "--discount",
    "log2,linear",
)


@pytest.mark.slow
def test_every_format_has_the_numbers_of_the_library(say: Say, many: Path) -> None:
    expected = ir.choose(
        many / "qrels.txt",
        [many / f"{name}.run" for name in "abcd"],
        discounts=["log2", "linear"],
        cutoffs=[3, 12],
    )

    record = json.loads(say("measures", "choose", *RUNS, "--format", "json", cwd=many).out)
    rows = list(
        csv.DictReader(
            io.StringIO(say("measures", "choose", *RUNS, "--format", "csv", cwd=many).out)
        )
    )
    text = say("measures", "choose", *RUNS, cwd=many).out

    assert record["settings"] == expected.as_dict()["settings"]
    assert {name: record[name] for name in ("recommended", "best", "usual", "recommendation")} == {
        name: expected.as_dict()[name]
        for name in ("recommended", "best", "usual", "recommendation")
    }
    assert [float(row["swap_rate"]) for row in rows] == [
        setting.swap_rate for setting in expected.settings
    ]
    assert [row["measure"] for row in rows if row["recommended"] == "True"] == [
        expected.recommended.measure
    ]
    assert all(f"{setting.swap_rate:.3f}" in text for setting in expected.settings)
    assert " ".join(text.split()).startswith(" ".join(expected.recommendation.split()))


def test_the_json_has_the_fields_that_programs_rely_on(say: Say) -> None:
    options = (
        "--format",
        "json",
        "--cutoff",
        "2,0.5n,all",
        "--discount",
        "log2,[1,0.5]",
        "--size",
        "1",
    )

    record = json.loads(
        say("measures", "choose", "qrels.txt", "bm25.run", "neural.run", *options).out
    )

    assert [(one["discount"], one["cutoff"]) for one in record["settings"]] == [
        (discount, cutoff) for discount in ("log2", "[1,0.5]") for cutoff in (2, "0.5n", None)
    ]
    assert record["settings"][3]["measure"] == "nDCG(discount=[1,0.5])@2"
    assert (
        record["queries"],
        record["runs"],
        record["method"]["size"],
        record["method"]["exact"],
    ) == (4, ["bm25", "neural"], 1, True)
    for one in record["settings"]:
        assert {
            "swap_rate",
            "swap_error",
            "tied",
            "pairs",
            "significant",
            "share",
            "uncorrected",
            "generalisability",
            "unjudged",
            "behind",
            "margin",
            "considered",
            "as_good",
            "theory",
        } <= set(one)
        assert 0 <= one["swap_rate"] <= 1


def test_nothing_says_which_run_is_better(say: Say, many: Path) -> None:
    forward, backward = (
        say(
            "measures",
            "choose",
            "qrels.txt",
            *(f"{name}.run" for name in order),
            *RUNS[5:],
            "--seed",
            "3",
            cwd=many,
        ).out
        for order in ("abcd", "dcba")
    )

    assert forward == backward


@pytest.mark.spread(1)
@pytest.mark.parametrize(
    ("ending", "begins"),
    [("svg", b"<svg"), pytest.param("png", b"\x89PNG", marks=pytest.mark.slow)],
)
def test_a_figure_is_drawn(say: Say, many: Path, ending: str, begins: bytes) -> None:
    pytest.importorskip("vl_convert", reason="drawings need the extra plots")
    said = say("measures", "choose", *RUNS, "--figure", f"choice.{ending}", cwd=many)
    assert (said.code, said.err) == (0, "")
    assert (many / f"choice.{ending}").read_bytes().startswith(begins)


@pytest.mark.slow
def test_a_figure_is_a_page_or_a_specification(say: Say, many: Path) -> None:
    pytest.importorskip("vl_convert", reason="drawings need the extra plots")
    for ending, begins in {"html": b"<!DOCTYPE html>", "json": b"{"}.items():
        said = say("measures", "choose", *RUNS, "--figure", f"choice.{ending}", cwd=many)
        assert (said.code, said.err) == (0, "")
        assert (many / f"choice.{ending}").read_bytes().startswith(begins)
    page = (many / "choice.html").read_text(encoding="utf-8")
    assert "connect-src" in page or "default-src 'none'" in page
    spec = json.loads((many / "choice.json").read_text(encoding="utf-8"))
    assert len(spec["data"]["values"]) == 4
    assert len(spec["vconcat"][1]["hconcat"]) == 2


def test_a_figure_without_the_extra_is_refused_before_anything_is_read(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)

    drawn = say("measures", "choose", "nothing.txt", "a.run", "b.run", "--figure", "choice.svg")
    written = say("measures", "choose", "nothing.txt", "a.run", "b.run", "--figure", "choice.json")

    assert drawn.code == written.code == 2
    assert install_command("plots") in drawn.err
    assert "nothing.txt" in written.err


def test_a_figure_says_without_colour_what_it_says_with_it(many: Path) -> None:
    runs = [many / f"{name}.run" for name in "abcd"]
    found = ir.choose(
        many / "qrels.txt", runs, discounts=["log2", "linear"], cutoffs=[3, 12], size=6
    )

    spec = choice_spec(found)

    key, panels, _ = spec["vconcat"]
    assert [row["discount"] for row in key["data"]["values"]] == ["log2", "linear"]
    assert {"color", "strokeDash"} <= set(key["layer"][0]["encoding"])
    assert {"color", "shape"} <= set(key["layer"][1]["encoding"])
    assert [panel["title"]["text"] for panel in panels["hconcat"]] == [
        "Swap rate",
        "Share of significant pairs",
    ]
    assert [row["measure"] for row in spec["data"]["values"] if row["recommended"]] == [
        found.recommended.measure
    ]
    assert [row["swap rate"] for row in spec["data"]["values"]] == [
        round(setting.swap_rate, 5) for setting in found.settings
    ]
    assert found.recommendation in spec["description"]
    with pytest.raises(ir.OptionError, match="found 8 discounts, expected at most 7 in a figure"):
        choice_spec(
            ir.choose(
                many / "qrels.txt",
                runs,
                discounts=[f"zipf(0.{i})" for i in range(1, 9)],
                cutoffs=[3],
            )
        )


def test_cutoffs_that_are_not_considered_stand_on_grey(many: Path) -> None:
    runs = [ir.read_run(many / f"{name}.run") for name in "ab"]
    shown = {
        query: {document for run in runs for document in run.ranking(query).documents[:3]}
        for query in ir.read_qrels(many / "qrels.txt")
    }
    qrels = {
        query: {document: int(document < "d5") for document in documents}
        for query, documents in shown.items()
    }

    spec = choice_spec(ir.choose(qrels, runs, cutoffs=[1, 3, 12]))

    for panel in spec["vconcat"][1]["hconcat"]:
        assert panel["layer"][0]["data"]["values"] == [{"cutoff": "@12"}]


def test_a_figure_never_replaces_what_is_read(say: Say, many: Path) -> None:
    (many / "a.run").rename(many / "a.json")

    said = say(
        "measures",
        "choose",
        "qrels.txt",
        "a.json",
        "b.run",
        "--figure",
        "a.json",
        "--input-format",
        "trec",
        cwd=many,
    )

    assert said.code == 2
    assert "found an input file of this command" in said.err
