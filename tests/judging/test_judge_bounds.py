"""`idealrank judge bounds`: what it prints, that its formats agree, and that its errors teach."""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.judging import bounds, difference_bounds
from tests.cli.terminal import DATA, Said, check_snapshot

Say = Callable[..., Said]

BOUNDS = {
    "one": "judge bounds qrels.txt bm25.run -m nDCG@3,RR",
    "two": "judge bounds qrels.txt bm25.run neural.run -m nDCG@3 --depth 3",
    "per-query": "judge bounds qrels.txt bm25.run neural.run -m P@2 --max-grade 1 --per-query "
    "--digits 2",
    "outer": "judge bounds qrels.txt bm25.run neural.run -m Q@3 --max-grade 3000",
    "markdown": "judge bounds qrels.txt bm25.run neural.run -m RR --format markdown",
    "csv": "judge bounds qrels.txt bm25.run neural.run -m nDCG@3 --format csv",
    "json": "judge bounds qrels.txt bm25.run neural.run -m nDCG@3 --depth 3 --format json",
    "error-three-runs": "judge bounds qrels.txt bm25.run neural.run bm25.run",
    "error-skipped": "judge bounds qrels.txt bm25.run --convention standard,unjudged=skipped",
    "error-measure": "judge bounds qrels.txt bm25.run -m NumRet",
    "error-figure": "judge bounds qrels.txt bm25.run --figure bounds.txt",
}


@pytest.mark.parametrize("name", BOUNDS)
def test_what_bounds_says(name: str, say: Say) -> None:
    command = f"idealrank {BOUNDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"judge-bounds-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_all_formats_of_bounds_have_the_numbers_of_the_library(say: Say) -> None:
    qrels, a, b = (
        ir.read_qrels(DATA / "qrels.txt"),
        ir.read_run(DATA / "bm25.run"),
        ir.read_run(DATA / "neural.run"),
    )
    files = (
        "judge",
        "bounds",
        "qrels.txt",
        "bm25.run",
        "neural.run",
        "-m",
        "nDCG@3",
        "--depth",
        "3",
    )

    record = json.loads(say(*files, "--format", "json").out)
    rows = list(csv.DictReader(io.StringIO(say(*files, "--format", "csv").out)))
    table = say(*files).out

    for run, one in zip((a, b), record["runs"], strict=True):
        found = bounds(qrels, run, "nDCG@3", depth=3)
        assert [one["queries"][query]["low"] for query in found.query_ids] == found.low.tolist()
        assert [
            float(row["high"]) for row in rows if (row["run"], row["minus"]) == (run.name, "")
        ] == found.high.tolist()
        assert f"{found.mean_low:.4f}  {found.mean:.4f}  {found.mean_high:.4f}" in table
    pair = difference_bounds(qrels, a, b, "nDCG@3", depth=3)
    assert (record["differences"][0]["low"], record["differences"][0]["high"]) == (
        pair.mean_low,
        pair.mean_high,
    )
    assert [float(row["low"]) for row in rows if row["minus"]] == pair.low.tolist()


@pytest.mark.parametrize("runs", [("bm25.run",), ("bm25.run", "neural.run")])
def test_a_figure_has_a_line_for_each_query(
    runs: tuple[str, ...], say: Say, tmp_path: Path
) -> None:
    path = tmp_path / "bounds.json"

    said = say("judge", "bounds", "qrels.txt", *runs, "-m", "nDCG@3", "--figure", str(path))

    assert said.code == 0
    spec = json.loads(path.read_text(encoding="utf-8"))
    found = bounds if len(runs) == 1 else difference_bounds
    asked = found(
        ir.read_qrels(DATA / "qrels.txt"), *(ir.read_run(DATA / run) for run in runs), "nDCG@3"
    )
    drawn = {row["query"]: (row["low"], row["high"]) for row in spec["data"]["values"]}
    assert drawn == {
        query: (round(low, 5), round(high, 5))
        for query, low, high in zip(
            asked.query_ids, asked.low.tolist(), asked.high.tolist(), strict=True
        )
    }


def test_the_option_that_the_last_line_names_prints_the_convention_in_full(say: Say) -> None:
    command = ("judge", "bounds", "qrels.txt", "bm25.run", "-m", "nDCG@3")

    brief, whole = say(*command).out, say(*command, "--explain-method").out

    assert brief.endswith("details: --explain-method\n")
    assert "discount: 1/log2(rank + 1)" in whole
    assert "discount" not in brief


def test_a_query_that_only_the_runs_have_has_open_bounds_where_it_is_evaluated(
    say: Say, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 x 1\nq1 0 y 0\n", "utf-8")
    for name, order in (("a", "xy"), ("b", "yx")):
        lines = (
            f"{query} Q0 {one} {at} {9 - at} {name}\n"
            for query in ("q1", "q2")
            for at, one in enumerate(order, 1)
        )
        (tmp_path / f"{name}.run").write_text("".join(lines), "utf-8")
    command = ("judge", "bounds", "qrels.txt", "a.run", "b.run", "-m", "RR", "--format", "json")
    record = json.loads(
        say(*command, "--convention", "standard,without_judgments=evaluated", cwd=tmp_path).out
    )
    q1, q2 = (record["differences"][0]["queries"][query] for query in ("q1", "q2"))
    assert (q1["low"], q1["high"]) == (-0.5, -0.5)
    assert (q2["low"], q2["value"], q2["high"], q2["unjudged_both"]) == (-0.5, 0.0, 0.5, 2)
    assert (record["differences"][0]["low"], record["differences"][0]["high"]) == (-0.5, 0.0)
    assert (
        record["runs"][0]["queries"]["q2"]["low"],
        record["runs"][0]["queries"]["q2"]["high"],
    ) == (0.0, 1.0)
    assert list(json.loads(say(*command, cwd=tmp_path).out)["differences"][0]["queries"]) == ["q1"]
