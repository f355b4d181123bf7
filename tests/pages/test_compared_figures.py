"""The map of all pairs: its cells are the numbers of the comparison, and long names and many runs
do not break it.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir
from idealrank.analysis.comparison import Comparison
from idealrank.cli import figure_files
from idealrank.errors import OptionError
from idealrank.pages.figures import drawings
from idealrank.pages.figures.pair_map import pairs_spec


def compared(n_runs: int, measures: tuple[str, ...] = ("nDCG@10",), suffix: str = "") -> Comparison:
    generator = np.random.default_rng(2)
    qrels = {f"q{i}": {"x": 1} for i in range(30)}
    made = ir.evaluate(qrels, {query: ["x"] for query in qrels}, measures)
    base = generator.random((30, 1))
    runs = [
        replace(
            made,
            name=f"run{run}{suffix}",
            values=np.clip(
                0.5 * base + 0.3 * run / n_runs + generator.normal(0, 0.1, (30, 1)), 0, 1
            ),
        )
        for run in range(n_runs)
    ]
    return ir.compare(*runs, measures=measures[:1], n_resamples=999)


def test_cells_are_the_numbers_of_the_comparison() -> None:
    found = compared(7)

    cells = pairs_spec(found, "nDCG@10")["data"]["values"]

    order = list(found.groups().letters)
    assert len(cells) == 7 * 6
    by_runs = {
        (order[int(cell["line"].split()[0]) - 1], order[cell["column"] - 1]): cell for cell in cells
    }
    for pair, row in found.rows():
        for runs, sign in (((pair.b, pair.a), 1), ((pair.a, pair.b), -1)):
            assert by_runs[runs]["difference"] == pytest.approx(sign * row.difference, abs=5e-6)
        assert by_runs[pair.b, pair.a]["verdict"] == row.verdict
        assert by_runs[pair.b, pair.a]["shape"] == by_runs[pair.a, pair.b]["shape"]
    assert {cell["shape"] for cell in cells} == {"", "dot"}


def test_less_is_better_turns_the_colours() -> None:
    qrels = {f"q{i}": {"x": 1} for i in range(12)}
    more, less = (
        ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "Unjudged@2")
        for ranking in (["y", "x"], ["x"])
    )

    first = pairs_spec(ir.compare(more, less), "Unjudged@2")["data"]["values"][0]

    assert (first["line"], first["column"], first["difference"] > 0) == ("1  run (2)", 2, True)


@pytest.mark.parametrize("n_runs", [2, 30, pytest.param(70, marks=pytest.mark.slow)])
def test_the_drawing_stays_on_a_page_whatever_the_names(n_runs: int) -> None:
    pytest.importorskip("vl_convert")

    drawing = drawings.svg(pairs_spec(compared(n_runs, suffix="-" + "long" * 30), "nDCG@10"))

    width, height = (
        float(size) for size in re.search(r'width="([\d.]+)" height="([\d.]+)"', drawing).groups()
    )  # type: ignore[union-attr]
    assert 200 < width < 1100
    assert 100 < height < 900
    assert "long" * 10 not in drawing


def test_files_by_their_ending(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    found = compared(3)

    for ending in ("svg", "png", "pdf", "html", "json"):
        figure_files.draw_pair_map(found, str(tmp_path / f"pairs.{ending}"))

    assert (tmp_path / "pairs.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (tmp_path / "pairs.png").read_bytes()[1:4] == b"PNG"
    assert "vegaEmbed" in (tmp_path / "pairs.html").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "pairs.json").read_text(encoding="utf-8")) == pairs_spec(
        found, "nDCG@10"
    )


def test_what_cannot_be_drawn_is_refused_before_anything_is_computed() -> None:
    with pytest.raises(
        OptionError,
        match=r"--figure pairs.gif: expected a file that ends in .svg, .png, .pdf, .html, .json",
    ):
        figure_files.check_pair_map("pairs.gif", None, ())
    with pytest.raises(
        OptionError, match="found --baseline bm25, which does not compare all pairs"
    ):
        figure_files.check_pair_map("pairs.json", "bm25", ())
