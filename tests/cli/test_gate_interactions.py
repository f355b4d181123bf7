"""`idealrank gate` on clicks and purchases: an item that a user did not see is unjudged, which is
not the same as irrelevant.
"""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Said

Gate = Callable[..., Said]
USERS = range(300)


@pytest.fixture
def gate(say: Callable[..., Said], tmp_path: Path) -> Gate:
    """One to three purchases a user, a recommender that finds most of them in the first ranks, and
    one that finds few at any rank.
    """
    rows: dict[str, list[str]] = {"bought": [], "good": [], "poor": []}
    draw = random.Random(5)
    for user in USERS:
        bought = [f"b{user}-{one}" for one in range(draw.randint(1, 3))]
        rows["bought"] += [f"u{user},{item}" for item in bought]
        for name, share, depth in (("good", 0.8, 6), ("poor", 0.1, 20)):
            items = [f"{name}{user}-{one}" for one in range(20)]
            for item in bought:
                if draw.random() < share:
                    items[draw.randrange(depth)] = item
            rows[name] += [f"u{user},{item},{-rank}" for rank, item in enumerate(items)]
    for name, lines in rows.items():
        head = "user,item" if name == "bought" else "user,item,score"
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")

    def ask(run: str, baseline: str, *options: str) -> Said:
        return say(
            "gate",
            "bought.csv",
            f"{run}.csv",
            "--baseline",
            f"{baseline}.csv",
            *options,
            cwd=tmp_path,
        )

    return ask


def words(said: Said) -> str:
    return " ".join(said.out.split())


def test_a_drop_by_purchases_closes_the_gate(gate: Gate) -> None:
    """Purchases name only what is relevant: the verdict counts other items as not relevant."""
    said = gate("poor", "good")

    assert said.code == 1
    assert "the gate is closed" in words(said).lower()
    assert "Judge the unjudged documents" not in words(said)


def test_purchases_of_the_baselines_own_recommendations_cannot_decide(gate: Gate) -> None:
    said = gate("poor", "good", "--labels-from", "good")

    assert said.code == 1
    assert "cannot be shown to be harmless" in words(said)
    assert gate("poor", "good", "--labels-from", "good", "--when-unjudged", "neutral").code == 3


def test_an_open_gate_states_once_that_items_without_a_label_count_as_not_relevant(
    gate: Gate,
) -> None:
    said = gate("good", "good")

    assert said.code == 0
    assert words(said).lower().count("documents without a label count as not relevant") == 1
    assert "labels: positive-only found; change: --labels-are pooled" in words(said)


def test_purchases_need_no_caution_about_unjudged_items(gate: Gate, tmp_path: Path) -> None:
    lines = (tmp_path / "good.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "short.csv").write_text(
        "\n".join(line for line in lines if "good" not in line) + "\n", encoding="utf-8"
    )

    said = gate("short", "good")

    assert said.code == 0
    assert "Caution:" not in words(said)
    assert "documents without a label count as not relevant" in words(said)
