"""The shop of `examples/shop-clicks`, at a small size: from its log to grades, to a verdict, and to
the test that confirms it.
"""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.in_process import run

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "shop-clicks" / "shop.py"


def shop(folder: Path, monkeypatch: pytest.MonkeyPatch, *, lists: int) -> None:
    monkeypatch.setattr(sys, "argv", ["shop.py", str(folder), "--lists", str(lists)])
    runpy.run_path(str(SCRIPT), run_name="__main__")


def record(*arguments: str) -> dict[str, object]:
    code, out, err = run([*arguments, "--format", "json"])
    assert code == 0, err
    found: dict[str, object] = json.loads(out)
    return found


@pytest.mark.parametrize(
    ("lists", "verdict", "confirmed"),
    [(800, "no support", "undecided"), pytest.param(6000, "better", "B", marks=pytest.mark.slow)],
)
def test_a_log_of_the_shop_leads_to_grades_a_verdict_and_a_test_and_a_small_one_to_a_stop_sign(
    lists: int,
    verdict: str,
    confirmed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shop(tmp_path, monkeypatch, lists=lists)
    truth = float(capsys.readouterr().out.rpartition(" ")[2])
    files = {path.name: str(path) for path in tmp_path.iterdir()}

    assert record("clicks", "validate", files["faulty.csv"])["kept"] == 500 - 12
    code, lines, err = run(["clicks", "grade", files["log.csv"]])
    assert (code, len(lines.splitlines()) > 200) == (0, True), err
    snips = record("clicks", "estimate", files["rewards.csv"], "--estimator", "snips")[
        "differences"
    ][0]  # type: ignore[index]
    low, high = snips["interval"]
    assert low < truth < high
    assert snips["verdict"] == verdict
    assert (
        record("online", "interleave", "--outcomes", files["outcomes.csv"])["verdict"] == confirmed
    )


def test_the_same_shop_has_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        shop(tmp_path / name, monkeypatch, lists=60)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == [
        "experiment.csv",
        "experiment_log.csv",
        "faulty.csv",
        "log.csv",
        "new.run",
        "old.run",
        "outcomes.csv",
        "places.csv",
        "predicted.csv",
        "rewards.csv",
        "ubi_events.jsonl",
        "ubi_queries.jsonl",
    ]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def sensitivity(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    sys.modules.pop("shop", None)  # examples/canary has a file of this name, too
    try:
        return runpy.run_path(str(SCRIPT.with_name("sensitivity.py")))
    finally:
        sys.modules.pop("shop", None)


def test_chances_of_preferences_are_those_of_drawn_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    found = sensitivity(monkeypatch)
    chances, is_b = np.array([0.6, 0.3, 0.5, 0.1]), np.array([True, False, False, True])
    clicks = np.random.default_rng(1).random((40_000, 4)) < chances
    signs = clicks[:, is_b].sum(axis=1) - clicks[:, ~is_b].sum(axis=1)
    assert found["preference_of"](chances, is_b) == pytest.approx(
        (np.mean(signs < 0), np.mean(signs > 0)), abs=0.01
    )


def test_interleaving_needs_fewer_lists_than_either_test_of_cohorts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = sensitivity(monkeypatch)
    shop_of = found["Shop"].of(1)
    alike, differ = (found["sizes"](shop_of, moods, draws=4) for moods in ((1.0,), found["MOODS"]))
    for one in (alike, differ):
        assert one.interleaved < one.clicks < one.purchases
    # a list compares within its user
    assert differ.clicks / differ.interleaved > alike.clicks / alike.interleaved
