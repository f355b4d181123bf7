"""The page of a click log, opened as a reader opens it."""

from functools import cache

import numpy as np
import pytest

from idealrank.clicks import PBM, LogCheck, simulate
from idealrank.clicks.inputs import click_page, reward_estimates
from tests.web.browsing import DESK, PHONE, Visits, axe, shot, sideways


@cache
def made() -> str:
    """A page with stop signs, and every plot."""
    log = simulate(np.random.default_rng(1).beta(1, 2, (6, 8)), 600, ranks=4, policy="swap", rng=3)
    rng = np.random.default_rng(2)
    logged = np.where(rng.random(400) < 0.5, 0.25, 0.75)
    columns = {
        "reward": rng.integers(0, 2, 400).astype(float),
        "logged": logged,
        "target": logged / 2,
        "target_b": logged,
    }
    return click_page(
        LogCheck(
            n_rows=2400,
            n_lists=600,
            n_kept=600,
            problems=(),
            from_zero=False,
            sessions=log,
            kept_rows=np.ones(2400, np.bool_),
        ),
        {"pbm": PBM(10)},
        reward_estimates(columns),
        n_resamples=5,
    )


def test_a_page_of_clicks_has_the_stop_sign_first_and_is_for_everybody(visit: Visits) -> None:
    page = visit(made(), size=PHONE, scheme="dark")

    assert page.locator("h1").inner_text() == "Stop: 1 reason not to conclude from this log."
    assert page.locator("figure svg").count() == 5
    line = page.locator("#propensity svg path[stroke^='var(--plot-accent']").first
    # the accent of the night
    assert line.evaluate("one => getComputedStyle(one).stroke") == "rgb(99, 185, 221)"
    assert axe(page) == ""
    assert sideways(page) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "size"), [("light", DESK), ("light", PHONE), ("dark", DESK)])
def test_it_is_for_everybody_in_every_light_and_size(
    visit: Visits, scheme: str, size: tuple[int, int]
) -> None:
    page = visit(made(), size=size, scheme=scheme)  # type: ignore[arg-type]
    shot(page, f"clicks-{scheme}-{size[0]}", full_page=True)

    assert axe(page) == ""
    assert sideways(page) == 0


@pytest.mark.slow
def test_without_scripts_it_is_the_same_page(visit: Visits) -> None:
    page = visit(made(), javascript=False)
    assert page.locator("figure svg").first.is_visible()
    assert page.locator("#estimates table").count() == 3
