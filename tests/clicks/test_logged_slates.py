"""Values of policies that show lists: expectations over every list by enumeration, and coverage by
simulation.
"""

import itertools
import math

import numpy as np
import pytest

from idealrank.clicks import SlateValue, simulate, slate_difference, slate_value
from idealrank.clicks.logged_slates import SlateEstimator
from idealrank.errors import InputError, OptionError

LOGGING, TARGET = np.array([1.0, 2.0, 0.7]), np.array([2.5, 0.6, 1.0])  # strengths of Plackett-Luce
ATTRACTIVE = np.array([0.8, 0.3, 0.5])
ORDERS = list(itertools.permutations(range(3), 2))


def given_above(order: tuple[int, ...], strength: np.ndarray) -> list[float]:
    """Probability of each document of a list, given the documents above."""
    return [
        strength[document] / (strength.sum() - sum(strength[above] for above in order[:place]))
        for place, document in enumerate(order)
    ]


def at_place(order: tuple[int, ...], strength: np.ndarray) -> list[float]:
    """Probability of each document of a list at its place, over all lists."""
    return [
        sum(math.prod(given_above(other, strength)) for other in ORDERS if other[place] == document)
        for place, document in enumerate(order)
    ]


def by_place(order: tuple[int, ...]) -> np.ndarray:
    return ATTRACTIVE[list(order)] * [1.0, 0.6]


def by_cascade(order: tuple[int, ...]) -> np.ndarray:
    rates = ATTRACTIVE[list(order)]
    return rates * [1.0, 1 - rates[0]]


def by_list(order: tuple[int, ...]) -> np.ndarray:
    """A document is clicked less beside one that attracts more, above or below it."""
    rates = ATTRACTIVE[list(order)]
    return rates * (1 - rates[::-1] / 2)


USERS = {"place": by_place, "cascade": by_cascade, "list": by_list}


def estimate(order: tuple[int, ...], rewards: np.ndarray, estimator: SlateEstimator) -> SlateValue:
    chance = at_place if estimator == "iips" else given_above
    return slate_value(
        [rewards] * 2, [chance(order, TARGET)] * 2, [chance(order, LOGGING)] * 2, estimator
    )


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize(
    ("estimator", "unbiased"),
    [("ips", ("place", "cascade", "list")), ("rips", ("place", "cascade")), ("iips", ("place",))],
)
def test_each_estimator_is_unbiased_for_the_users_that_it_assumes(
    users: str, estimator: SlateEstimator, unbiased: tuple[str, ...]
) -> None:
    rates = USERS[users]
    truth = sum(math.prod(given_above(order, TARGET)) * rates(order).sum() for order in ORDERS)
    mean = sum(
        math.prod(given_above(order, LOGGING))
        * estimate(order, rates(order), estimator).total.value
        for order in ORDERS
    )
    if users in unbiased:
        assert mean == pytest.approx(truth, abs=1e-12)
    else:
        assert abs(mean - truth) > 0.01


def test_mean_weights_are_one() -> None:
    for estimator in ("ips", "rips", "iips"):
        parts = [
            (
                math.prod(given_above(order, LOGGING)),
                estimate(order, np.zeros(2), estimator).mean_weight,
            )
            for order in ORDERS
        ]  # type: ignore[arg-type]
        assert sum(chance * weight for chance, weight in parts) == pytest.approx(
            np.ones(2), abs=1e-12
        )


def test_values_are_the_sums_written_out() -> None:
    rng = np.random.default_rng(4)
    rewards = rng.binomial(1, 0.4, (50, 3)).astype(float)
    target, logged = rng.uniform(0.2, 1, (2, 50, 3))
    discount, users = [1.0, 0.5, 0.25], np.arange(50) // 5
    for estimator in ("ips", "rips", "iips"):
        rows = []
        for row in range(50):
            ratio = [target[row, place] / logged[row, place] for place in range(3)]
            weight = {
                "ips": [math.prod(ratio)] * 3,
                "iips": ratio,
                "rips": [math.prod(ratio[: place + 1]) for place in range(3)],
            }[estimator]
            rows.append(
                sum(weight[place] * rewards[row, place] * discount[place] for place in range(3))
            )
        value = slate_value(rewards, target, logged, estimator, discount=discount)  # type: ignore[arg-type]
        assert value.total.value == pytest.approx(np.mean(rows), rel=1e-12)
        assert value.total.standard_error == pytest.approx(
            np.std(rows, ddof=1) / math.sqrt(50), rel=1e-12
        )
        totals = (np.array(rows) - np.mean(rows)).reshape(10, 5).sum(axis=1)
        clustered = slate_value(
            rewards, target, logged, estimator, discount=discount, clusters=users
        )  # type: ignore[arg-type]
        assert clustered.total.standard_error == pytest.approx(
            math.sqrt((totals**2).sum() * 10 / 9) / 50, rel=1e-12
        )


@pytest.mark.parametrize("estimator", ["snips", "sniips", "snrips"])
def test_self_normalised_values_are_ratios_with_the_error_of_the_delta_method(
    estimator: SlateEstimator,
) -> None:
    rng = np.random.default_rng(5)
    rewards = rng.binomial(1, 0.4, (80, 3)).astype(float)
    target, logged = rng.uniform(0.2, 1, (2, 80, 3))
    ratio = target / logged
    weight = {
        "sniips": ratio,
        "snrips": np.cumprod(ratio, axis=1),
        "snips": np.prod(ratio, axis=1)[:, None] * np.ones(3),
    }[estimator]
    value = slate_value(rewards, target, logged, estimator, discount=[1.0, 0.5, 0.25])
    by_rank = [
        float((weight[:, rank] * rewards[:, rank]).sum() / weight[:, rank].sum())
        for rank in range(3)
    ]
    assert value.by_rank == pytest.approx(by_rank, rel=1e-12)
    assert value.total.value == pytest.approx(
        by_rank[0] + by_rank[1] / 2 + by_rank[2] / 4, rel=1e-12
    )
    linear = sum(
        part * weight[:, rank] * (rewards[:, rank] - by_rank[rank]) / weight[:, rank].mean()
        for rank, part in enumerate((1, 0.5, 0.25))
    )
    assert value.total.standard_error == pytest.approx(
        np.std(linear, ddof=1) / math.sqrt(80), rel=1e-10
    )
    assert slate_value(np.ones((80, 3)), target, logged, estimator).by_rank == pytest.approx(
        np.ones(3), rel=1e-12
    )


def test_two_policies_are_compared_list_by_list() -> None:
    rng = np.random.default_rng(6)
    rewards = rng.binomial(1, 0.4, (3000, 2)).astype(float)
    logged = rng.uniform(0.4, 0.6, (3000, 2))
    target_a, target_b = logged.copy(), np.clip(logged * [1.02, 1.0], 0, 1)
    for estimator in ("ips", "sniips", "snrips"):
        same = slate_difference(rewards, target_a, target_a, logged, estimator)  # type: ignore[arg-type]
        assert (same.total.value, same.total.standard_error, same.lists_needed()) == (
            0.0,
            0.0,
            math.inf,
        )
        difference = slate_difference(rewards, target_a, target_b, logged, estimator)  # type: ignore[arg-type]
        assert difference.total.value == pytest.approx(
            difference.b.total.value - difference.a.total.value, abs=1e-12
        )
        assert difference.total.standard_error < difference.a.total.standard_error / 5
        wanted = (
            3000
            * (
                (1.959963984540054 + 0.8416212335729143)
                * difference.total.standard_error
                / difference.total.value
            )
            ** 2
        )
        assert difference.lists_needed() == pytest.approx(wanted, rel=1e-9)


def chances(pairs: np.ndarray, strength: np.ndarray) -> np.ndarray:
    chosen = strength[pairs]
    return chosen / (strength.sum() - (np.cumsum(chosen, axis=1) - chosen))


@pytest.mark.parametrize("repetitions", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_intervals_of_cascade_weights_hold_the_truth_and_are_shorter_than_of_whole_lists(
    repetitions: int,
) -> None:
    """Lists of four of five documents, shown to users of the cascade model by a logging policy
    whose strengths are known.
    """
    attractive = np.array([0.5, 0.1, 0.3, 0.2, 0.4])
    logging, target = np.exp([0.2, 0.0, -0.2, 0.1, 0.0]), np.exp([0.5, -0.3, 0.0, 0.0, 0.3])
    truth = 0.0
    for order in itertools.permutations(range(5), 4):
        chosen = target[list(order)]
        chance = math.prod(chosen / (target.sum() - (np.cumsum(chosen) - chosen)))
        # the cascade ends with the first click
        truth += chance * (1 - math.prod(1 - attractive[list(order)]))
    held, normalised, shorter = 0, 0, []
    for repetition in range(repetitions):
        log = simulate(
            attractive[None],
            1000,
            ranks=4,
            model="cascade",
            scores=np.log(logging)[None],
            rng=repetition,
        )
        names = np.array([int(document) for _, document in log.documents])[log.pair]
        columns = (log.clicks.astype(float), chances(names, target), chances(names, logging))
        own = slate_value(*columns, "snrips").total.interval
        normalised += own[0] <= truth <= own[1]
        if not repetition:
            assert log.propensity == pytest.approx(columns[2], rel=1e-12)
        value, whole = slate_value(*columns, "rips"), slate_value(*columns, "ips")
        held += value.total.interval[0] <= truth <= value.total.interval[1]
        shorter.append(value.total.standard_error / whole.total.standard_error)
    reach = 0.02 * repetitions if repetitions >= 1000 else 4 * math.sqrt(0.95 * 0.05 * repetitions)
    assert abs(held - 0.95 * repetitions) <= reach
    assert abs(normalised - 0.95 * repetitions) <= reach
    assert max(shorter) < 1


def thin_target() -> np.ndarray:
    """Probabilities of a policy that takes one of twenty logged documents at the second place."""
    target = np.full((400, 2), 0.5)
    target[:, 1] = np.where(np.arange(400) % 20 == 1, 1.0, 0.01)
    return target


def test_thin_support_is_said_with_the_place() -> None:
    rng = np.random.default_rng(1)
    rewards = rng.binomial(1, 0.5, (400, 2))
    logged = np.full((400, 2), 0.5)
    fine = slate_value(rewards, logged, logged, "rips")
    assert fine.supported
    thin = slate_value(rewards, thin_target(), logged, "rips")
    assert "at place 2, 400 lists are worth" in str(thin)
    assert "of equal weight" not in str(
        slate_value(rewards, thin_target(), logged, "rips", discount=[1, 0])
    )
    wrong = slate_value(rewards, logged * 1.5, logged, "iips")
    assert "the mean weight of place 1 is 1.5, not 1" in wrong.cautions[0]


def test_what_does_not_fit_is_refused() -> None:
    good = [[0.5, 0.5], [0.5, 0.5]]
    with pytest.raises(
        InputError, match="logged_probability, list 1, rank 2: found 0, expected a value above 0"
    ):
        slate_value(good, good, [[0.5, 0.5], [0.5, 0.0]])
    with pytest.raises(
        InputError, match=r"target_probability: found shape \(1, 2\), expected \(2, 2\)"
    ):
        slate_value(good, [[0.5, 0.5]], good)
    with pytest.raises(InputError, match="rewards, list 0, rank 1: found nan"):
        slate_value([[float("nan"), 1], [0, 1]], good, good)
    with pytest.raises(InputError, match="discount: found"):
        slate_value(good, good, good, discount=[1.0])
    with pytest.raises(OptionError, match="estimator"):
        slate_value(good, good, good, "dr")  # type: ignore[arg-type]


def test_lists_without_a_reward_allow_no_verdict() -> None:
    half = np.full((500, 2), 0.5)
    assert "no list has a reward" in slate_value(np.zeros((500, 2)), half, half).cautions[0]
