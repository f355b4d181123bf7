"""The scripts on judges: small runs of the simulation of coverage, its truths, and the table of the
worth of a label.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.conftest import ROOT, shared_file


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(ROOT / "experiments")
    yield importlib.import_module
    for name in ("judging_coverage", "label_worth", "sampled_pools", "models"):
        sys.modules.pop(name, None)


def test_pairs_of_one_query_of_the_simulation_are_alike(scripts: Any) -> None:
    """By the law of the script, errors of a query share their leniency: the variance of their means
    is far above that of pairs.
    """
    world = scripts("judging_coverage").world(400, np.random.default_rng(1))
    error = world.judge - world.human

    assert error.mean(axis=1).var() > 5 * error.var() / error.shape[1]
    assert set(np.unique(world.human)) == {0, 1, 2, 3}


def test_a_small_run_of_two_parts(
    scripts: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = scripts("judging_coverage")
    monkeypatch.setattr(script, "MANY", 200)

    script.main(["--runs", "4", "--part", "estimates", "shares", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    script.main(["--runs", "2", "--part", "shares"])
    lines = capsys.readouterr().out.splitlines()

    assert found["runs"] == 4
    assert len(found["cells"]) == 24
    assert all(0 <= cell["coverage"] <= 1 for cell in found["cells"])
    assert [line.count("|") for line in lines[:8]] == [8] * 8
    assert lines[-1].startswith("2 draws of each row")


@pytest.mark.parametrize(
    ("setting", "method", "low", "high"),
    [
        ("25 labels, 20,000 others", "left-out", 0.90, 1.0),
        ("25 labels, 20,000 others", "ppi++", 0.35, 0.70),
        ("100 labels, 20,000 others", "left-out", 0.92, 1.0),
        ("100 labels, 20,000 others", "ppi++", 0.75, 0.93),
    ],
)
def test_errors_that_no_label_shows_are_covered(
    scripts: Any, setting: str, method: str, low: float, high: float
) -> None:
    """A hundred draws: a coverage of 95 % has a standard error of 2.2 %."""
    script = scripts("judging_coverage")
    (row,) = (
        row
        for row in script.errors()
        if (row.what, row.setting, row.method) == ("share 0.3, a tenth missed", setting, method)
    )

    cell = script.cell(row, 100, 3)

    assert low <= cell.coverage <= high
    assert abs(cell.bias) < (0.35 if method == "left-out" else 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "setting", "method", "low", "high"),
    [
        ("estimates", "200 labelled", "t", 0.92, 0.99),
        ("estimates", "25 of 100 queries labelled", "by query", 0.90, 0.99),
        ("estimates", "10 of 100 queries labelled", "pairs as independent", 0.2, 0.7),
        ("agreement", "25 queries", "by query", 0.90, 0.99),
        ("agreement", "25 queries", "pairs as independent", 0.5, 0.92),
        ("errors", "100 labels, 500 others", "left-out", 0.90, 1.0),
        ("documents", "20% of 40 x 40 documents, these queries", "delta method", 0.90, 1.0),
        ("others", "100 queries", "by query", 0.87, 0.99),
    ],
)
def test_intervals_hold_the_truth_as_often_as_the_page_says(
    scripts: Any, part: str, setting: str, method: str, low: float, high: float
) -> None:
    """Two hundred draws: a coverage of 95 % has a standard error of 1.5 %."""
    script = scripts("judging_coverage")
    rows = [row for row in script.tries([part]) if (row.setting, row.method) == (setting, method)]

    assert rows
    for row in rows:
        assert low <= script.cell(row, 200, 17).coverage <= high, row.what


@pytest.mark.slow
def test_the_table_of_the_page_on_label_worth_is_what_the_script_prints(
    scripts: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared_file("data", "llm-judges", "judges.csv").parent

    scripts("label_worth").main([str(folder)])

    page = (ROOT / "docs" / "judging" / "label-worth.md").read_text(encoding="utf-8")
    for table in capsys.readouterr().out.strip().split("\n\n"):
        assert table in page


def test_inferred_measures_are_too_low_by_about_the_shortfall(
    scripts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few queries and draws: the estimates err by several percent."""
    script = scripts("sampled_pools")
    monkeypatch.setattr(script, "QUERIES", 60)

    known = script.truth(script.CUTS["17"], 200)
    few, many = (script.row("17", strata, known, 2, 5) for strata in ("60:0.15", "10:1,60:0.1"))

    assert (few.refused, many.refused) == (1, 0)
    assert few.cells[0].bias == pytest.approx(-few.shortfall, abs=0.12)
    assert few.cells[0].bias < -0.15 < many.cells[0].bias
    assert few.sampled < 4 < many.sampled
    assert [line.count("|") for line in script.lines([few, many])] == [11] * 4


def test_the_interval_of_a_query_sample_is_as_wide_as_it_must_be(scripts: Any) -> None:
    """Fifty draws: a standard deviation has a standard error of 10 %."""
    script = scripts("sampled_pools")

    found = script.query_row(200, 50, 7)

    assert 0.7 < found.width < 1.35 < 2 < found.weights_width
    assert found.interval >= 0.84
    assert len(list(script.query_lines([found]))) == 3
