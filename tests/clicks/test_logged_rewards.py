"""Values of policies from the log of another: against recorded values, plain sums, and the truth of
simulations.
"""

import contextlib
import csv
import gzip
import io
import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from idealrank.clicks import doubly_robust, ips, ips_difference
from idealrank.clicks.weighted_rows import Estimator, label_codes
from idealrank.errors import InputError, OptionError
from tests.conftest import shared_file


def open_bandit() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with gzip.open(shared_file("data", "open-bandit", "bts_men.csv.gz"), "rt") as file:
        rows = list(csv.DictReader(file))
    rewards, logged = (
        np.array([float(row[name]) for row in rows]) for name in ("click", "propensity_score")
    )
    return rewards, np.full(rewards.size, 1 / 34), logged


def test_values_of_the_open_bandit_sample_are_the_recorded_ones() -> None:
    log = open_bandit()
    expected = json.loads(shared_file("data", "open-bandit", "expected_ips.json").read_text())[
        "campaigns"
    ]["men"]["uniform_from_bts"]
    estimate = ips(*log)
    assert estimate.value == pytest.approx(expected["ips"], abs=1e-12)
    assert estimate.standard_error == pytest.approx(expected["ips_se"], abs=1e-12)
    assert estimate.effective_sample_size == pytest.approx(expected["ess"], rel=1e-12)
    assert (estimate.max_weight, estimate.mean_weight) == pytest.approx(
        (expected["max_weight"], expected["mean_weight"]), rel=1e-12
    )
    assert ips(*log, "snips").value == pytest.approx(expected["snips"], abs=1e-12)
    assert ips(*log, "clipped", 10).value == pytest.approx(expected["clipped_ips_at_10"], abs=1e-12)
    assert not estimate.supported
    assert "one row has 16 % of all weighted rewards" in str(estimate)


_PROGRAM = """
import numpy as np
from idealrank.clicks import ips
rng = np.random.default_rng(1)
logged, target = rng.uniform(0.2, 1, 777), rng.uniform(0, 1, 777)
rewards = rng.normal(1, 1, 777)
for found in (ips(rewards, target, logged), ips(rewards, target, logged, "snips", clusters=np.arange(777) // 5)):
    print(*map(float.hex, (found.value, found.standard_error, *found.interval, found.effective_sample_size)))
"""  # noqa: E501


def test_a_processor_changes_no_bit() -> None:
    # OpenBLAS adds in another order on each family of processors, here on one of 2011.
    there = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env={**os.environ, "OPENBLAS_CORETYPE": "Sandybridge"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = io.StringIO()
    with contextlib.redirect_stdout(here):
        exec(_PROGRAM, {})

    assert there.stdout == here.getvalue()


def small_log(n: int = 500, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    logged, target = rng.uniform(0.2, 1, n), rng.uniform(0, 1, n)
    return rng.binomial(1, 0.3, n).astype(float), target, logged


def test_errors_are_those_of_plain_sums() -> None:
    rewards, target, logged = small_log(70_001)  # more than one block
    weights = target / logged
    estimate = ips(rewards, target, logged)
    assert estimate.standard_error == pytest.approx(
        (weights * rewards).std(ddof=1) / math.sqrt(rewards.size), rel=1e-12
    )
    own = ips(rewards, target, logged, "snips")
    spread = weights * (rewards - own.value) / weights.mean()
    assert own.standard_error == pytest.approx(
        spread.std(ddof=1) / math.sqrt(rewards.size), rel=1e-10
    )
    cut = np.minimum(weights, 2)
    clipped = ips(rewards, target, logged, "clipped", 2)
    assert clipped.value == pytest.approx((cut * rewards).mean(), rel=1e-12)
    assert clipped.n_clipped == int((weights > 2).sum())
    assert clipped.max_weight == weights.max()


def test_rows_of_one_cluster_count_together() -> None:
    rewards, target, logged = small_log()
    twice = (np.repeat(rewards, 2), np.repeat(target, 2), np.repeat(logged, 2))
    clusters = np.repeat(np.arange(rewards.size), 2)
    alone, together = ips(rewards, target, logged), ips(*twice, clusters=clusters)
    assert together.standard_error == pytest.approx(alone.standard_error, rel=1e-12)
    assert ips(*twice).standard_error < 0.75 * alone.standard_error
    assert together.n_clusters == rewards.size


def test_a_bootstrap_of_clusters_is_about_as_wide_as_the_normal_interval() -> None:
    rewards, target, logged = small_log(4000)
    estimators: tuple[Estimator, ...] = ("ips", "snips")
    for estimator in estimators:
        normal = ips(rewards, target, logged, estimator)
        drawn = ips(
            rewards,
            target,
            logged,
            estimator,
            n_resamples=600,
            rng=3,
            clusters=np.arange(4000) % 2000,
        )
        width = [high - low for low, high in (normal.interval, drawn.interval)]
        assert width[1] == pytest.approx(width[0], rel=0.15)
        again = ips(
            rewards,
            target,
            logged,
            estimator,
            n_resamples=600,
            rng=3,
            clusters=np.arange(4000) % 2000,
        )
        assert again.interval == drawn.interval


@pytest.mark.parametrize("estimator", ["ips", "snips"])
def test_a_bootstrap_without_clusters_counts_each_row_of_each_draw(estimator: Estimator) -> None:
    """More rows than are drawn at once, against the draws in one piece."""
    rewards, target, logged = small_log(20_000)
    estimate = ips(rewards, target, logged, estimator, n_resamples=40, rng=9)
    weights, rng, values = target / logged, np.random.default_rng(9), []
    for _ in range(40):
        counts = np.bincount(rng.integers(0, 20_000, 20_000), minlength=20_000)
        below = float((weights * counts).sum()) if estimator == "snips" else 20_000.0
        values.append(float((weights * rewards * counts).sum()) / below)
    assert estimate.interval == tuple(np.quantile(values, [(1 - 0.95) / 2, (1 + 0.95) / 2]))


def test_two_policies_are_compared_row_by_row() -> None:
    rewards, target, logged = small_log(3000)
    same = ips_difference(rewards, target, target, logged)
    assert (same.value, same.standard_error, same.rows_needed()) == (0.0, 0.0, math.inf)
    near = np.clip(target + 0.02, 0, 1)
    difference = ips_difference(rewards, target, near, logged)
    apart = math.hypot(difference.a.standard_error, difference.b.standard_error)
    assert difference.standard_error < apart / 5
    x = near / logged * rewards - target / logged * rewards
    assert difference.value == pytest.approx(x.mean(), rel=1e-10)
    assert difference.standard_error == pytest.approx(x.std(ddof=1) / math.sqrt(3000), rel=1e-10)


def bandit_log(
    rng: np.random.Generator, n: int, uniform: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """A log of five actions of known rates, and the true value of a policy that prefers the
    last.
    """
    rates = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    logging = uniform / 5 + (1 - uniform) * np.array([0.5, 0.3, 0.1, 0.07, 0.03])
    target = np.array([0.05, 0.05, 0.1, 0.2, 0.6])
    actions = rng.choice(5, n, p=logging)
    return (
        rng.binomial(1, rates[actions]).astype(float),
        target[actions],
        logging[actions],
        float(target @ rates),
    )


TRUTH = bandit_log(np.random.default_rng(0), 1, 1.0)[-1]


@pytest.mark.parametrize("estimator", ["ips", "snips"])
def test_estimates_are_unbiased_and_their_intervals_hold_the_truth(estimator: Estimator) -> None:
    rng = np.random.default_rng(7)
    held, values = 0, []
    for _ in range(1000):
        rewards, target, logged, _ = bandit_log(rng, 1000, 0.5)
        estimate = ips(rewards, target, logged, estimator)
        held += estimate.interval[0] <= TRUTH <= estimate.interval[1]
        values.append(estimate.value)
    assert np.mean(values) == pytest.approx(TRUTH, abs=float(4 * np.std(values) / math.sqrt(1000)))
    assert 930 <= held <= 970


def test_clipping_is_biased_and_says_how_many_rows_it_cut() -> None:
    rng = np.random.default_rng(8)
    estimates = [ips(*bandit_log(rng, 1000, 0.2)[:3], "clipped", 3) for _ in range(200)]
    values = [estimate.value for estimate in estimates]
    assert np.mean(values) < TRUTH - 10 * np.std(values) / math.sqrt(200)
    assert all(estimate.n_clipped > 0 for estimate in estimates)
    assert not any(estimate.supported for estimate in estimates)
    assert "weights are cut" in estimates[0].cautions[-1]


def test_a_clip_that_cuts_nothing_is_no_reason_for_a_caution() -> None:
    rewards, target, logged, _ = bandit_log(np.random.default_rng(9), 20_000, 0.5)
    assert ips(rewards, target, logged, "clipped", 1000).supported


def test_a_model_that_stands_alone_and_is_wrong_is_noticed() -> None:
    rng = np.random.default_rng(4)
    rates, logged = np.array([0.1, 0.5]), np.array([0.9, 0.1])
    target = np.array([0.2, 0.8])
    actions = rng.choice(2, 4000, p=logged)
    rewards = (rng.random(4000) < rates[actions]).astype(float)
    for model, expected in ((np.array([0.1, 0.1]), False), (rates, True)):
        predicted = np.full(4000, target @ model)
        estimate = doubly_robust(
            rewards,
            target[actions],
            logged[actions],
            model[actions],
            predicted,
            "switch",
            switch=2.0,
        )
        assert estimate.supported == expected


def test_wrong_propensities_are_noticed() -> None:
    rewards, target, logged, _ = bandit_log(np.random.default_rng(9), 20_000, 0.5)
    assert ips(rewards, target, logged).supported
    wrong = ips(rewards, target, np.minimum(logged * 1.5, 1))
    assert not wrong.supported
    assert "the logged probabilities are wrong" in wrong.cautions[0]
    assert (
        ips_difference(rewards, target, target, np.minimum(logged * 1.5, 1)).verdict == "no support"
    )


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            ([1, 0], [0.5, 0.5], [0.5, 0.0]),
            "logged_probability, row 1: found 0, expected a probability above 0 to 1",
        ),
        (
            ([1, 0], [0.5, 1.5], [0.5, 0.5]),
            "target_probability, row 1: found 1.5, expected a probability from 0 to 1",
        ),
        (
            ([1, float("nan")], [0.5, 0.5], [0.5, 0.5]),
            "rewards, row 1: found nan, expected a finite value",
        ),
        (
            ([1, 0], [0.5], [0.5, 0.5]),
            "target_probability: found 1 values, expected one for each of the 2 rewards",
        ),
        (([1], [0.5], [0.5]), "rewards: found 1 rows, expected at least 2"),
    ],
)
def test_a_log_that_makes_no_sense_is_refused(
    columns: tuple[list[float], list[float], list[float]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        ips(*columns)


def test_options_that_do_not_go_together_are_refused() -> None:
    log = ([1, 0], [0.5, 0.5], [0.5, 0.5])
    for options, message in [
        ({"estimator": "clipped"}, "clip: found none, expected a largest weight"),
        ({"clip": 3}, "clip: found 3, expected none for 'ips'"),
        ({"estimator": "clipped", "clip": -1}, "clip=-1: expected a finite weight above 0"),
        ({"estimator": "dr"}, "estimator"),
        ({"confidence": 2}, "confidence=2"),
    ]:
        with pytest.raises(OptionError, match=message):
            ips(*log, **options)  # type: ignore[arg-type]


def test_labels_are_numbered_as_by_a_sort_whatever_their_type() -> None:
    rng = np.random.default_rng(6)
    columns = [
        rng.integers(-128, 128, 300).astype(np.int8),
        rng.integers(0, 256, 900).astype(np.uint8),
        rng.integers(-5, 5, 100),
        rng.integers(0, 10**9, 400),
        np.array([-(2**63), 2**63 - 1]),
        np.array([2**64 - 1, 2**64 - 3], np.uint64),
        rng.integers(0, 9, 50).astype(str),
        np.array([True, False, True]),
        rng.normal(size=20).round(),
    ]
    for labels in columns:
        codes = label_codes(labels)
        assert codes.dtype == np.int64
        assert codes.tolist() == np.unique(labels, return_inverse=True)[1].tolist()


@pytest.mark.parametrize("estimator", ["ips", "snips"])
def test_rewards_of_0_alone_allow_no_verdict(estimator: str) -> None:
    """The interval has no width, whatever the number of rows: rare rewards may not have come up."""
    estimate = ips(np.zeros(5000), np.full(5000, 0.5), np.full(5000, 0.5), estimator)  # type: ignore[arg-type]
    assert not estimate.supported
    assert "an interval without width says nothing" in estimate.cautions[0]
