"""The script on tests with users: false verdicts, power of plans, indifferent users, and the
page.
"""

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import ROOT

SAMPLES = 500
LEVEL_ERROR = (0.05 * 0.95 / SAMPLES) ** 0.5
POWER_ERROR = (0.8 * 0.2 / SAMPLES) ** 0.5
MODULES = (
    "online_looks",
    "gate_simulation",
    "gate_erosion",
    "simulated_changes",
    "sign_flips",
    "interval_coverage",
    "models",
)


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        yield importlib.import_module("online_looks")
    for name in MODULES:
        sys.modules.pop(name, None)


def rows_of(title: str, words: int) -> dict[tuple[str, ...], list[str]]:
    """Rows of a table of the page, by their first cells."""
    page = (ROOT / "docs" / "clicks" / "online-looks.md").read_text(encoding="utf-8")
    lines = page.split(f"**{title}**")[1].split("\n\n")[1].splitlines()[2:]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {tuple(row[:words]): row[words:] for row in cells}


def test_no_row_of_the_page_has_more_false_verdicts_than_the_level() -> None:
    rows = {
        row: [float(cell) for cell in cells] for row, cells in rows_of("false verdicts", 2).items()
    }
    assert len(rows) == 16
    assert {users for _, users in rows} == {"20", "60", "400", "2,000"}
    assert max(row[0] for row in rows.values()) <= 0.05
    assert max(row[1] for row in rows.values()) <= 0.05
    assert max(row[2] for row in rows.values()) <= 0.05 + 3 * LEVEL_ERROR
    assert rows["normal", "2,000"][3] > 0.2  # the interval of a planned size at every look


def test_no_row_of_unequal_cohorts_has_more_false_verdicts_than_the_level() -> None:
    rows = {
        row: [float(cell) for cell in cells]
        for row, cells in rows_of("false verdicts of unequal cohorts", 3).items()
    }
    assert len(rows) == 20
    assert {share for *_, share in rows} == {"90%", "99%"}
    assert max(row[0] for row in rows.values()) <= 0.05
    assert max(row[1] for row in rows.values()) <= 0.05
    assert max(row[2] for row in rows.values()) <= 0.05 + 3 * LEVEL_ERROR
    # enough users in the small cohort for a verdict
    assert rows["5 % convert", "10,000", "90%"][3] == 0


def test_every_plan_of_the_page_has_its_power_at_the_planned_number() -> None:
    rows = rows_of("power at the planned number", 2)
    assert len(rows) == 10
    for row in rows.values():
        assert float(row[1]) == pytest.approx(0.8, abs=3 * POWER_ERROR + 0.005)
        assert float(row[2]) >= float(row[1])


def test_indifferent_users_of_the_page_decide_balanced_lists_alone() -> None:
    rows = rows_of("indifferent users", 3)
    assert len(rows) == 18
    verdicts = {
        row[0]: {cells[0] for key, cells in rows.items() if key[0] == row[0]} for row in rows
    }
    assert verdicts["team-draft"] == verdicts["probabilistic"] == {"undecided"}
    assert verdicts["balanced"] != {"undecided"}
    # by the sign of shares
    assert float(rows["probabilistic", "last to first", "one, at any rank"][2]) < 0.45


@pytest.mark.parametrize(
    ("world", "users", "samples"),
    [
        ("clicks per list", 60, 15),
        *(pytest.param(name, 400, 100, marks=pytest.mark.slow) for name in ("normal", "lognormal")),
    ],
)
def test_the_page_has_the_false_verdicts_that_a_run_prints(
    script: Any, world: str, users: int, samples: int
) -> None:
    page = [float(cell) for cell in rows_of("false verdicts", 2)[world, str(users)]]
    found = script.false_verdicts(world, users, samples, 3)
    for share, again in zip(
        page, (found.at_any_look, found.own_plan, found.once, found.peeking), strict=True
    ):
        assert again == pytest.approx(
            share, abs=4 * (share * (1 - share) / samples) ** 0.5 + 0.6 / samples
        )


def test_the_page_has_the_plans_that_a_run_prints(script: Any) -> None:
    page = rows_of("power at the planned number", 2)
    for looks in ("any", "once"):
        for found in (
            script.power_of_users(0.5, 400, looks, 12, 3),
            script.power_of_lists(0.6, 0.5, looks, 12, 3),
        ):
            row = page[found.plan, looks]
            assert f"{found.needed:,}" == row[0]
            assert found.last_look == pytest.approx(float(row[1]), abs=4 * (0.8 * 0.2 / 12) ** 0.5)


def test_the_page_has_the_shares_of_indifferent_users_that_a_run_prints(script: Any) -> None:
    page = rows_of("indifferent users", 3)
    for method in ("balanced", "probabilistic"):
        found = script.indifferent(method, "last to first", "one, at any rank", 300, 3)
        shares = page[method, "last to first", "one, at any rank"][1:3]
        for share, again in zip(shares, (found.by_teams, found.by_sign_of_shares), strict=True):
            assert again == pytest.approx(float(share), abs=4 * 0.5 / 200**0.5)
