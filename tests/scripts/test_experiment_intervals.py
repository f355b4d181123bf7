"""The script on coverage: its truths, and a small run in every format."""

import importlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.conftest import ROOT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(ROOT / "experiments")
    yield importlib.import_module("interval_coverage")
    for name in ("interval_coverage", "models"):
        sys.modules.pop(name, None)


def test_the_true_means_are_those_of_what_is_drawn(script) -> None:
    """Means of 200,000 draws, within 4 standard errors; four in five differences are 0."""
    for name, (draw, truth) in script.DATA.items():
        values = draw((200_000,), np.random.default_rng(3))
        assert abs(values.mean() - truth) < 4 * values.std() / 200_000**0.5
        assert (values == 0).mean() == pytest.approx(
            0.25 if name == "mean" else 0.8 + (name == "no difference") * 0.2 * 0.0725, abs=0.004
        )


def test_a_small_run(script, capsys, monkeypatch) -> None:
    monkeypatch.setattr(script, "DRAWS", 200)
    arguments = ["--runs", "20", "--queries", "200"]
    script.main([*arguments, "--format", "json", "--threads", "1"])
    found = json.loads(capsys.readouterr().out)
    cells = {(cell["data"], cell["method"]): cell for cell in found["cells"]}
    assert len(cells) == 23
    assert all(cells["mean", method]["coverage"] > 0.6 for method in script.METHODS[:-1])
    assert all(0.08 < cell["width"] < 0.11 for (data, _), cell in cells.items() if data == "mean")
    script.main([*arguments, "--format", "markdown", "--threads", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.count("|") for line in lines[:6]] == [10] * 6
    assert f"{cells['better', 'bca']['coverage']:.3f} (" in lines[4]
    script.main([*arguments, "--threads", "2"])
    assert "20 runs, standard error at most" in capsys.readouterr().out


def test_rounding_is_no_miss_and_open_sides_are_counted(script) -> None:
    low, high = np.array([0.1 + 1e-15, 0.2, -np.inf]), np.array([0.3, 0.3, 0.05])
    assert script.cell("x", 5, "t", (low, high, 0.1)) == (
        "x",
        5,
        "t",
        1 / 3,
        pytest.approx(0.15),
        pytest.approx(1 / 3),
    )


def test_what_the_page_says_of_25_pairs(script) -> None:
    """With many equal pairs BCa covers about 0.81 and t 0.95: 500 data sets, more than 4 standard
    errors apart from 0.88.
    """
    for name in ("no difference", "better"):
        draw, truth = script.DATA[name]
        values = draw((25, 500), np.random.default_rng(4))
        covered = {
            method: script.cell(
                name,
                25,
                method,
                (*script.bounds(method, values, np.random.default_rng(5), 1), truth),
            ).coverage
            for method in ("t", "bca")
        }
        assert covered["bca"] < 0.88 < covered["t"]


@pytest.mark.slow
def test_the_page_has_the_row_that_a_run_prints(script) -> None:
    """A row of the page against 300 data sets, within 4 standard errors."""
    page = (ROOT / "docs" / "concepts" / "intervals.md").read_text(encoding="utf-8")
    rows = {
        tuple(row.split("|")[1:3]): row.split("|")[3:]
        for row in page.replace(" ", "").splitlines()
        if row.startswith("|")
    }
    for name, methods in (("mean", script.METHODS[:-1]), ("raregains", script.METHODS)):
        draw, truth = script.DATA[name.replace("raregains", "rare gains")]
        values = draw((200, 300), np.random.default_rng(6))
        for method, shown in zip(methods, rows[name, "200"], strict=False):
            found = script.cell(
                name,
                200,
                method,
                (*script.bounds(method, values, np.random.default_rng(7), 1), truth),
            )
            assert float(shown.split("(")[0]) == pytest.approx(
                found.coverage, abs=4 * (0.1 / 300) ** 0.5
            )
