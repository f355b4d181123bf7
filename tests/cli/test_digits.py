"""Digits of commands: as many as intervals allow, as many as asked, and never so few that a verdict
is contradicted.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.cli.terminal import Said

Say = Callable[..., Said]
N = 400


@pytest.fixture
def close(tmp_path: Path) -> Path:
    """Runs so alike that three decimals would not tell them apart, on so many queries that a test
    does.
    """
    rng = np.random.default_rng(1)
    gains = 0.0006 + rng.normal(0, 0.002, N)
    lines: dict[str, list[str]] = {"a": [], "b": []}
    qrels = []
    for query in range(N):
        ideal = 10_000  # of one document with that grade; the others say what a run loses
        qrels += [
            f"q{query} 0 top {ideal}\n",
            f"q{query} 0 a {5000}\n",
            f"q{query} 0 b {max(round(5000 + 10_000 * gains[query]), 0)}\n",
        ]
        for run in lines:
            lines[run] += [f"q{query} Q0 {run} 1 1.0 t\n"]
    (tmp_path / "qrels.txt").write_text("".join(qrels), encoding="utf-8")
    for run, text in lines.items():
        (tmp_path / f"{run}.run").write_text("".join(text), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("layout", ["table", "markdown", "latex"])
def test_a_small_difference_that_is_decided_looks_decided(
    layout: str, say: Say, close: Path
) -> None:
    command = (
        "compare",
        "qrels.txt",
        "a.run",
        "b.run",
        "-m",
        "nDCG@1",
        "--test",
        "t",
        "--no-rankings",
    )
    row = json.loads(say(*command, "--format", "json", cwd=close).out)["pairs"][0]["measures"][
        "nDCG@1"
    ]

    text = say(*command, "--format", layout, cwd=close).out

    assert row["verdict"] == "better"
    assert row["interval"][0] < 0.001
    low, high = (float(end) for end in re.findall(r"\[([+-][\d.]+), ([+-][\d.]+)\]", text)[0])
    assert 0 < low < high
    assert low == pytest.approx(row["interval"][0], abs=0.00006)


def test_digits_that_were_asked_for(say: Say) -> None:
    commands = [
        ("compare", "qrels.txt", "bm25.run", "neural.run", "-m", "AP", "--test", "t"),
        ("gate", "qrels.txt", "bm25.run", "--baseline", "neural.run", "-m", "AP"),
        ("evaluate", "qrels.txt", "bm25.run", "-m", "AP", "--intervals"),
    ]
    for command in commands:
        for digits in (1, 6):
            assert f" {0.131944444:.{digits}f} " in say(
                *command, "--digits", str(digits)
            ).out.replace("\n", " ")
    assert say(*commands[0], "--digits", "16").code == 2


def test_programs_get_every_digit(say: Say) -> None:
    command = ("evaluate", "qrels.txt", "bm25.run", "-m", "AP", "--format")

    assert json.loads(say(*command, "json").out)["runs"][0]["mean"]["AP"] == pytest.approx(
        0.13194444444444442, abs=1e-16
    )
    assert "0.1319444444444444" in say(*command, "csv").out
