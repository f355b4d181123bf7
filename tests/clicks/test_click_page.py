"""The page of a click log: its stop signs, and the numbers of its drawings."""

import math
import re
from functools import cache

import numpy as np
import pytest

from idealrank.clicks import PBM, LogCheck, LogRows, Sessions, ips, propensities, simulate
from idealrank.clicks.inputs import click_page, rate_perplexity, reward_estimates
from idealrank.clicks.views import figures
from idealrank.clicks.views.page import RATES, ClickLogPage, click_page_html
from idealrank.errors import IdealrankWarning, OptionError
from idealrank.reports.subject import Made

HOSTILE = "</style><script>alert(1)</script>"


@cache
def shop() -> Sessions:
    """A log whose first result is swapped at random."""
    return simulate(np.random.default_rng(1).beta(1, 2, (6, 8)), 600, ranks=4, policy="swap", rng=3)


def checked(log: Sessions) -> LogCheck:
    return LogCheck(
        n_rows=log.clicks.size,
        n_lists=len(log),
        n_kept=len(log),
        problems=(),
        from_zero=False,
        sessions=log,
        kept_rows=np.ones(log.clicks.size, np.bool_),
    )


def of(log: Sessions, **perplexity: object) -> ClickLogPage:
    measured = propensities(log, n_resamples=5)
    return ClickLogPage(
        check=checked(log),
        propensities=measured,
        perplexity={"pbm": measured.perplexity, **perplexity},
    )  # type: ignore[arg-type]


def rewards(*, weight: float = 1.0, n: int = 400) -> dict[str, object]:
    rng = np.random.default_rng(2)
    logged = np.where(rng.random(n) < 0.5, 0.25, 0.75)
    return {
        "reward": rng.integers(0, 2, n).astype(float),
        "logged": logged,
        "target": logged * weight,
        "target_b": logged,
    }


def test_ranks_that_share_no_document_are_a_stop_sign() -> None:
    fixed = Sessions.from_arrays(
        ["q"] * 40, [["a", "b"]] * 40, [[1, 0], [0, 1], [1, 1], [0, 0]] * 10
    )
    coin = {RATES: np.full(2, 9.0)}

    with pytest.warns(IdealrankWarning, match="share no document"):
        page = of(fixed, **coin)
    assert [stop for stop in page.stops() if "share no document" in stop]
    assert of(shop(), **{RATES: np.full(4, 9.0)}).stops() == []


def test_a_log_of_one_query_has_a_stop_sign_and_no_interval_in_words() -> None:
    log = simulate([[0.5, 0.3, 0.2]], 400, ranks=3, policy="random", rng=1)
    with pytest.warns(IdealrankWarning, match="only one query links"):
        page = of(log, **{RATES: np.full(3, 9.0)})
    (stop,) = page.stops()
    assert "one query shows no variation between queries" in stop
    page_html = click_page_html(page)
    assert "(no interval; 400 lists" in page_html
    assert "nan" not in page_html


def test_models_that_predict_no_better_than_the_rate_of_each_rank_are_a_stop_sign() -> None:
    (stop,) = of(shop(), **{RATES: np.full(4, 1.01)}).stops()
    assert stop.startswith("No click model predicts held-out clicks better")


@pytest.mark.parametrize(("weight", "stops"), [(1.0, 0), (0.5, 1)])
def test_an_estimate_without_support_is_a_stop_sign_of_its_policy_alone(
    weight: float, stops: int
) -> None:
    log = shop()
    estimates = reward_estimates(rewards(weight=weight))
    page = ClickLogPage(
        check=checked(log),
        propensities=propensities(log, n_resamples=5),
        perplexity={RATES: np.full(4, 9.0), "pbm": np.ones(4)},
        estimates=estimates,
    )
    assert [stop[:15] for stop in page.stops()] == ["No verdict on A"] * stops


def test_estimates_with_a_model_stand_beside_the_others() -> None:
    columns = rewards() | {
        name: np.full(400, 0.5)
        for name in ("predicted_logged", "predicted_target", "predicted_target_b")
    }
    estimators = [("ips", None), ("dr", None), ("switch", 2.0)]
    estimates = reward_estimates(columns, estimators=estimators)
    for policy in ("A", "B"):
        assert [value.estimator for value in estimates.values[policy]] == ["ips", "dr", "switch"]
    assert [difference.a.estimator for difference in estimates.differences] == [
        "ips",
        "dr",
        "switch",
    ]
    alone = reward_estimates(
        {name: column for name, column in columns.items() if name != "predicted_target_b"},
        estimators=estimators,
    )
    assert [value.estimator for value in alone.values["B"]] == ["ips"]
    with pytest.raises(
        OptionError, match="dr: found no column for predicted_logged and predicted_target"
    ):
        reward_estimates(rewards(), estimators=estimators)


def test_the_overlap_shows_where_rows_and_weight_are() -> None:
    logged = np.array([0.01] * 10 + [0.5] * 90)
    weights = np.array([9.0] * 10 + [1 / 9] * 90)
    overlap = figures.overlap_rows(logged, {"A": weights})
    share = {(row["of"], row["low"] < 0.02): row["share"] for row in overlap}
    assert share == pytest.approx(
        {("log", True): 0.1, ("log", False): 0.9, ("A", True): 0.9, ("A", False): 0.1}
    )
    page = ClickLogPage(
        check=checked(shop()),
        propensities=propensities(shop(), n_resamples=5),
        perplexity={RATES: np.full(4, 9.0), "pbm": np.ones(4)},
        estimates=reward_estimates(
            {
                "reward": np.arange(100) % 2.0,
                "logged": logged,
                "target": np.minimum(logged * weights, 1),
            }
        ),
    )
    assert "A: half of the weight stands on 6.0% of the rows" in click_page_html(page)


def test_cautions_have_the_size_of_the_bias_and_the_share_left_out() -> None:
    log = shop()
    estimated = propensities(log, n_resamples=5)
    page = ClickLogPage(
        check=LogCheck(
            n_rows=3000,
            n_lists=800,
            n_kept=600,
            problems=(),
            from_zero=False,
            sessions=log,
            kept_rows=np.ones(3000, np.bool_),
        ),
        propensities=estimated,
        perplexity={RATES: estimated.perplexity},
    )
    bias, left_out = page.cautions()
    assert f"{estimated.position_bias:.3g} times" in bias
    assert "200 of 800 lists were left out (25.0%)" in left_out


def test_the_perplexity_of_click_rates_is_that_of_a_loop() -> None:
    rows = LogRows(
        session=["s", "s", "t", "u", "u"],
        query=["q"] * 5,
        document=list("ababa"),
        rank=np.array([1.0, 2, 1, 1, 2]),
        click=np.array([1.0, 0, 0, 1, 1]),
    )
    log = rows.check().sessions
    expected = []
    for rank in range(2):
        clicks = [
            bool(log.clicks[row, rank]) for row in range(len(log)) if log.pair[row, rank] >= 0
        ]
        rate = sum(clicks) / len(clicks)
        bits = [-math.log2(rate if click else 1 - rate) for click in clicks]
        expected.append(2 ** (sum(bits) / len(bits)))
    assert rate_perplexity(log, log) == pytest.approx(expected, rel=1e-12)


def test_the_bars_of_the_weights_hold_every_row_of_a_weight_once() -> None:
    weights = {"A": np.array([0.0, 0.5, 1.0, 8.0]), "B": np.array([0.5, 0.5, 0.5, 0.5])}
    bars = figures.weight_rows(weights)
    assert sum(bar["share"] for bar in bars if bar["policy"] == "A") == pytest.approx(0.75)
    assert [bar["share"] for bar in bars if bar["policy"] == "B"] == [1.0]
    assert all(
        any(bar["low"] <= weight <= bar["high"] for bar in bars if bar["policy"] == "A")
        for weight in (0.5, 1.0, 8.0)
    )
    assert figures.weight_rows({"A": np.zeros(3)}) == []
    assert all(
        0 < bar["low"] < bar["high"] for bar in figures.weight_rows({"A": np.array([1e-9, 1e9])})
    )


def test_values_of_policies_are_those_of_the_library() -> None:
    columns = rewards(weight=0.5)
    estimates = reward_estimates(
        columns, estimators=[("snips", None), ("clipped", 0.4)], confidence=0.9
    )
    for policy, target in (("A", "target"), ("B", "target_b")):
        expected = ips(
            columns["reward"], columns[target], columns["logged"], "clipped", 0.4, confidence=0.9
        )
        assert estimates.values[policy][1] == expected
    assert [difference.b.estimator for difference in estimates.differences] == ["snips", "clipped"]


@pytest.fixture(scope="module")
def page() -> str:
    made = Made(
        command=f"idealrank clicks report {HOSTILE} -o page.html", inputs=((HOSTILE, "00"),)
    )
    return click_page(
        checked(shop()), {"pbm": PBM(10)}, reward_estimates(rewards()), n_resamples=5, made=made
    )


def test_the_same_log_gives_the_same_page(page: str) -> None:
    made = Made(
        command=f"idealrank clicks report {HOSTILE} -o page.html", inputs=((HOSTILE, "00"),)
    )
    again = click_page(
        checked(shop()), {"pbm": PBM(10)}, reward_estimates(rewards()), n_resamples=5, made=made
    )
    assert again == page


def test_a_page_has_no_script_and_fetches_nothing(page: str) -> None:
    assert "<script" not in page
    assert "default-src &#39;none&#39;" in page
    assert not re.findall(r'(?:src|href)="(?!#)', page)


def test_the_stop_signs_come_before_every_plot(page: str) -> None:
    wrong = click_page(
        checked(shop()), {"pbm": PBM(10)}, reward_estimates(rewards(weight=0.5)), n_resamples=5
    )
    assert wrong.index("No verdict on A") < wrong.index("<svg")
    assert "No stop sign in this log" in page
