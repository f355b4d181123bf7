"""Values of policies from a log and a model: against exact expectations, formulas written out, and
the truth of simulations.
"""

import csv
import gzip
import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from idealrank.clicks import PolicyValue, doubly_robust, doubly_robust_difference, ips
from idealrank.clicks.weighted_rows import ModelEstimator
from idealrank.errors import InputError, OptionError
from tests.conftest import shared_file

CONTEXTS = np.array([0.6, 0.4])
RATES = np.array([[0.1, 0.5, 0.3], [0.7, 0.2, 0.4]])
LOGGING = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
TARGET = np.array([[0.1, 0.2, 0.7], [0.8, 0.1, 0.1]])
WRONG_MODEL = np.array([[0.4, 0.4, 0.2], [0.3, 0.6, 0.5]])
TRUTH = float(CONTEXTS @ (TARGET * RATES).sum(axis=1))


def outcomes(logging: np.ndarray) -> Iterator[tuple[float, int, int, float]]:
    """Each outcome of one row with its probability: context, action, reward."""
    for context, action, reward in itertools.product(range(2), range(3), (0.0, 1.0)):
        rate = RATES[context, action]
        yield (
            CONTEXTS[context] * logging[context, action] * (rate if reward else 1 - rate),
            context,
            action,
            reward,
        )


def estimated(
    contexts: np.ndarray,
    actions: np.ndarray,
    rewards: np.ndarray,
    model: np.ndarray,
    believed: np.ndarray,
    estimator: ModelEstimator,
    switch: float | None,
) -> PolicyValue:
    expected = (TARGET[contexts] * model[contexts]).sum(axis=1)
    return doubly_robust(
        rewards,
        TARGET[contexts, actions],
        believed[contexts, actions],
        model[contexts, actions],
        expected,
        estimator,
        switch=switch,
    )


def expectation(
    model: np.ndarray,
    believed: np.ndarray,
    estimator: ModelEstimator = "dr",
    switch: float | None = None,
) -> float:
    """Mean of the estimate over all logs of two rows, each with its probability."""
    total = 0.0
    for first, second in itertools.product(outcomes(LOGGING), repeat=2):
        columns = [np.array(column) for column in zip(first[1:], second[1:], strict=True)]
        total += (
            first[0] * second[0] * estimated(*columns, model, believed, estimator, switch).value
        )
    return total


def test_either_the_probabilities_or_the_model_need_to_be_right() -> None:
    uniform = np.full((2, 3), 1 / 3)
    assert expectation(WRONG_MODEL, LOGGING) == pytest.approx(TRUTH, abs=1e-12)
    assert expectation(RATES, uniform) == pytest.approx(TRUTH, abs=1e-12)
    assert abs(expectation(WRONG_MODEL, uniform) - TRUTH) > 0.01


def test_switch_is_biased_by_what_the_model_gets_wrong_above_the_limit() -> None:
    assert expectation(RATES, LOGGING, "switch", 2) == pytest.approx(TRUTH, abs=1e-12)
    above = TARGET / LOGGING > 2
    bias = float(CONTEXTS @ (TARGET * (WRONG_MODEL - RATES) * above).sum(axis=1))
    assert abs(bias) > 0.01
    assert expectation(WRONG_MODEL, LOGGING, "switch", 2) == pytest.approx(TRUTH + bias, abs=1e-12)


def test_values_and_errors_on_the_open_bandit_sample_are_those_of_formulas_written_out() -> None:
    """Formulas of DoublyRobust and SwitchDoublyRobust of the Open Bandit Pipeline, on the sample,
    with a model of click rates by item.
    """
    with gzip.open(shared_file("data", "open-bandit", "bts_men.csv.gz"), "rt") as file:
        rows = list(csv.DictReader(file))
    rewards, logged = (
        np.array([float(row[name]) for row in rows]) for name in ("click", "propensity_score")
    )
    item = np.array([int(row["item_id"]) for row in rows])
    with gzip.open(shared_file("data", "open-bandit", "random_men.csv.gz"), "rt") as file:
        others = [(int(row["item_id"]), float(row["click"])) for row in csv.DictReader(file)]
    model = np.array(
        [np.mean([click for own, click in others if own == number]) for number in range(34)]
    )
    target = np.full(rewards.size, 1 / 34)
    expected = np.full(rewards.size, model.mean())
    for estimator, switch in (("dr", None), ("switch", 10.0)):
        estimate = doubly_robust(
            rewards, target, logged, model[item], expected, estimator, switch=switch
        )  # type: ignore[arg-type]
        terms = []
        for reward, propensity, number in zip(
            rewards.tolist(), logged.tolist(), item.tolist(), strict=True
        ):
            weight = (1 / 34) / propensity
            correction = (
                weight * (reward - float(model[number]))
                if switch is None or weight <= switch
                else 0.0
            )
            terms.append(math.fsum(float(prediction) / 34 for prediction in model) + correction)
        mean = math.fsum(terms) / len(terms)
        error = math.sqrt(
            math.fsum((term - mean) ** 2 for term in terms) / (len(terms) - 1) / len(terms)
        )
        assert estimate.value == pytest.approx(mean, abs=1e-12)
        assert estimate.standard_error == pytest.approx(error, abs=1e-12)
        assert estimate.max_weight == pytest.approx(178.25311942959001, rel=1e-12)
    assert estimate.n_clipped == int((target / logged > 10).sum()) > 0


def test_without_a_model_it_is_inverse_propensity_scoring() -> None:
    rng = np.random.default_rng(3)
    rewards, target, logged = (
        rng.binomial(1, 0.3, 300),
        rng.uniform(0, 1, 300),
        rng.uniform(0.2, 1, 300),
    )
    nothing = np.zeros(300)
    clusters = np.arange(300) // 3
    estimate = doubly_robust(
        rewards, target, logged, nothing, nothing, clusters=clusters, n_resamples=50, rng=1
    )
    weighted = ips(rewards, target, logged, clusters=clusters, n_resamples=50, rng=1)
    assert (estimate.value, estimate.standard_error, estimate.interval) == (
        weighted.value,
        weighted.standard_error,
        weighted.interval,
    )
    assert estimate.estimator == "dr"


def simulated(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    contexts = rng.choice(2, n, p=CONTEXTS)
    draws = rng.random(n)
    actions = (draws[:, None] > np.cumsum(LOGGING, axis=1)[contexts]).sum(axis=1)
    return contexts, actions, rng.binomial(1, RATES[contexts, actions]).astype(float)


def exact_variance(model: np.ndarray) -> float:
    """Variance of the contribution of one row, by enumeration; without predictions, that of inverse
    propensity scoring.
    """
    moments = np.zeros(2)
    for chance, context, action, reward in outcomes(LOGGING):
        weight = TARGET[context, action] / LOGGING[context, action]
        own = TARGET[context] @ model[context] + weight * (reward - model[context, action])
        moments += chance * np.array([own, own**2])
    return float(moments[1] - moments[0] ** 2)


@pytest.mark.parametrize("repetitions", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_intervals_hold_the_truth_and_a_good_model_makes_them_short(repetitions: int) -> None:
    rng, held, widths = np.random.default_rng(11), 0, []
    for _ in range(repetitions):
        log = simulated(rng, 800)
        estimate = estimated(*log, RATES, LOGGING, "dr", None)
        contexts, actions, rewards = log
        weighted = ips(rewards, TARGET[contexts, actions], LOGGING[contexts, actions])
        held += estimate.interval[0] <= TRUTH <= estimate.interval[1]
        widths.append(estimate.standard_error / weighted.standard_error)
    # 95 % within four standard errors of the count, and within 93-97 % of 1,000
    reach = (
        max(0.02 * repetitions, 4 * math.sqrt(0.95 * 0.05 * repetitions))
        if repetitions < 1000
        else 0.02 * repetitions
    )
    assert abs(held - 0.95 * repetitions) <= reach
    assert np.mean(widths) == pytest.approx(
        math.sqrt(exact_variance(RATES) / exact_variance(np.zeros((2, 3)))), rel=0.05
    )


@pytest.mark.parametrize(("estimator", "switch"), [("dr", None), ("switch", 2.0)])
def test_two_policies_with_one_model_are_compared_row_by_row(
    estimator: ModelEstimator, switch: float | None
) -> None:
    contexts, actions, rewards = simulated(np.random.default_rng(13), 2000)
    policies = (TARGET, np.array([[0.1, 0.25, 0.65], [0.75, 0.15, 0.1]]))
    targets = tuple(policy[contexts, actions] for policy in policies)
    predicted = tuple((policy[contexts] * WRONG_MODEL[contexts]).sum(axis=1) for policy in policies)
    logged, model = LOGGING[contexts, actions], WRONG_MODEL[contexts, actions]
    difference = doubly_robust_difference(
        rewards, targets, logged, model, predicted, estimator, switch=switch
    )  # type: ignore[arg-type]
    rows = []
    for target, baseline in zip(targets, predicted, strict=True):
        weight = target / logged
        kept = weight if switch is None else np.where(weight > switch, 0, weight)
        rows.append(baseline + kept * (rewards - model))
    assert difference.value == pytest.approx((rows[1] - rows[0]).mean(), rel=1e-10)
    assert difference.standard_error == pytest.approx(
        (rows[1] - rows[0]).std(ddof=1) / math.sqrt(2000), rel=1e-10
    )
    assert (
        difference.standard_error
        < math.hypot(difference.a.standard_error, difference.b.standard_error) / 2
    )
    same = doubly_robust_difference(
        rewards, targets[:1] * 2, logged, model, predicted[:1] * 2, estimator, switch=switch
    )  # type: ignore[arg-type]
    assert (same.value, same.standard_error) == (0.0, 0.0)


def test_models_that_do_not_fit_are_refused() -> None:
    log = ([1, 0], [0.5, 0.5], [0.5, 0.5])
    with pytest.raises(
        InputError, match="predicted_target: found 1 values, expected one for each of the 2 rewards"
    ):
        doubly_robust(*log, [0.5, 0.5], [0.5])
    with pytest.raises(InputError, match="predicted_logged, row 1: found nan"):
        doubly_robust(*log, [0.5, float("nan")], [0.5, 0.5])
    for options, message in [
        ({"estimator": "switch"}, "switch: found none, expected a largest weight"),
        ({"switch": 2}, "switch: found 2, expected none for 'dr'"),
        ({"estimator": "switch", "switch": 0}, "switch=0: expected a finite weight above 0"),
        ({"estimator": "ips"}, "estimator"),
    ]:
        with pytest.raises(OptionError, match=message):
            doubly_robust(*log, [0.5, 0.5], [0.5, 0.5], **options)  # type: ignore[arg-type]
