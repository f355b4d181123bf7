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
        assert (values == 0).mean() == pytest.approx(0.25 if name == "mean" else 0.8 + (name == "no difference") * 0.2 * 0.0725, abs=0.004)


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
    assert script.cell("x", 5, "t", (low, high, 0.1)) == ("x", 5, "t", 1 / 3, pytest.approx(0.15), pytest.approx(1 / 3))
