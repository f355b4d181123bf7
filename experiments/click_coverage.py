"""Coverage of the 95 % intervals of `idealrank.clicks` on simulated logs: ``python
experiments/click_coverage.py [--repetitions 1000]``.

Each case makes a log whose truth is known, and an interval. A case with a reason is one that theory
says cannot cover: the reason says why.
"""

import argparse
import itertools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from click_worlds import (
    CLICKS,
    DOCUMENTS,
    GOES_ON,
    LATER,
    LOGGING,
    MODEL,
    NEW,
    NOISE,
    OLD,
    OTHER,
    RANKS,
    RATES,
    SEEN,
    TARGET,
    THIN,
    TRUTH,
    browsed_lists,
    cut_lists,
    decisions,
    random_lists,
    read_lists,
    visits,
)

from idealrank.clicks import (
    DBN,
    DCM,
    PBM,
    SDBN,
    UBM,
    Cascade,
    LoggedDCGDifference,
    Preference,
    Sessions,
    ab_effect,
    doubly_robust,
    doubly_robust_difference,
    exposures,
    harvested_propensities,
    ips,
    ips_difference,
    logged_dcg,
    logged_dcg_difference,
    novelty,
    parameter_intervals,
    preference,
    propensities,
    simulate,
    slate_value,
    trust_propensities,
)

Interval = tuple[float, float]
Case = Callable[[np.random.Generator], tuple[Interval, float]]


@dataclass(frozen=True)
class Expected:
    """Share of intervals that should hold the truth, why it is not 95 %, where it is not, and what
    breaks the estimator, where it is.
    """

    low: float = 0.93
    high: float = 0.97
    reason: str = ""
    breaks: str = ""


CASES: dict[str, tuple[Case, Expected]] = {}


def case(
    name: str, low: float = 0.93, high: float = 0.97, reason: str = "", *, breaks: str = ""
) -> Callable[[Case], Case]:
    def listed(found: Case) -> Case:
        CASES[name] = (found, Expected(low, high, reason, breaks))
        return found

    return listed


# --- single decisions: five actions of known rates ------------------------------------------------


def by_weights(
    rng: np.random.Generator, estimator: str, clip: float | None = None, **options: object
) -> tuple[Interval, float]:
    rewards, actions = decisions(rng)
    return ips(
        rewards, TARGET[actions], LOGGING[actions], estimator, clip, rng=rng, **options
    ).interval, TRUTH  # type: ignore[arg-type]


def with_model(
    rng: np.random.Generator, model: np.ndarray, estimator: str, switch: float | None = None
) -> tuple[Interval, float]:
    rewards, actions = decisions(rng)
    expected = np.full(actions.size, TARGET @ model)
    found = doubly_robust(
        rewards,
        TARGET[actions],
        LOGGING[actions],
        model[actions],
        expected,
        estimator,
        switch=switch,
    )  # type: ignore[arg-type]
    return found.interval, TRUTH


case("ips", breaks="few rows carry the weight, or logged probabilities are wrong")(
    lambda rng: by_weights(rng, "ips")
)
case("snips", breaks="the same")(lambda rng: by_weights(rng, "snips"))
case("ips, bootstrap", breaks="the same")(lambda rng: by_weights(rng, "ips", n_resamples=200))
case("snips, bootstrap", breaks="the same")(lambda rng: by_weights(rng, "snips", n_resamples=200))
case("clipped at 3", 0.0, 0.5, "weights are cut: the value is too small")(
    lambda rng: by_weights(rng, "clipped", 3.0)
)
case("dr, poor model", breaks="logged probabilities and the model are wrong")(
    lambda rng: with_model(rng, MODEL, "dr")
)
case("dr, good model", breaks="the model was fitted to the same rows")(
    lambda rng: with_model(rng, RATES, "dr")
)
case("switch, good model", breaks="the model is wrong where weights are large")(
    lambda rng: with_model(rng, RATES, "switch", 3.0)
)
case("switch, poor model", 0.0, 0.5, "the model stands alone at large weights, and is wrong")(
    lambda rng: with_model(rng, MODEL, "switch", 3.0)
)


@case("ips by user", breaks="few users")
def clustered(rng: np.random.Generator) -> tuple[Interval, float]:
    """Users whose clicks depend on their mood; rows of one user are not independent."""
    user = np.repeat(np.arange(250), 4)
    actions = rng.choice(5, user.size, p=LOGGING)
    rewards = rng.random(user.size) < RATES[actions] * rng.uniform(0, 2, 250)[user]
    return ips(
        rewards.astype(float), TARGET[actions], LOGGING[actions], clusters=user
    ).interval, TRUTH


@case("ips, users ignored", 0.0, 0.93, "rows of one user are taken for independent")
def not_clustered(rng: np.random.Generator) -> tuple[Interval, float]:
    user = np.repeat(np.arange(50), 20)
    actions = np.repeat(rng.choice(5, 50, p=LOGGING), 20)
    rewards = rng.random(user.size) < RATES[actions] * rng.uniform(0, 2, 50)[user]
    return ips(rewards.astype(float), TARGET[actions], LOGGING[actions]).interval, TRUTH


@case("ips, 100 rows of a thin log", 0.0, 0.93, "few rows have the weight: `supported` is False")
def thin(rng: np.random.Generator) -> tuple[Interval, float]:
    rewards, actions = decisions(rng, 100, THIN)
    return ips(rewards, TARGET[actions], THIN[actions]).interval, TRUTH


def difference(rng: np.random.Generator, estimator: str) -> tuple[Interval, float]:
    rewards, actions = decisions(rng)
    found = ips_difference(rewards, TARGET[actions], OTHER[actions], LOGGING[actions], estimator)  # type: ignore[arg-type]
    return found.interval, float((OTHER - TARGET) @ RATES)


case("difference by ips", breaks="few rows carry the weight of either policy")(
    lambda rng: difference(rng, "ips")
)
case("difference by snips", breaks="the same")(lambda rng: difference(rng, "snips"))


@case("difference by dr", breaks="logged probabilities and the model are wrong")
def robust_difference(rng: np.random.Generator) -> tuple[Interval, float]:
    rewards, actions = decisions(rng)
    predicted = tuple(np.full(actions.size, one @ MODEL) for one in (TARGET, OTHER))
    targets = (TARGET[actions], OTHER[actions])
    found = doubly_robust_difference(rewards, targets, LOGGING[actions], MODEL[actions], predicted)  # type: ignore[arg-type]
    return found.interval, float((OTHER - TARGET) @ RATES)


# --- lists of two of three documents, by Plackett-Luce --------------------------------------------

STRENGTH, WANTED = np.array([1.0, 2.0, 0.7]), np.array([1.6, 0.9, 1.0])
LIKED = np.array([0.8, 0.3, 0.5])
ORDERS = list(itertools.permutations(range(3), 2))


def given_above(order: tuple[int, ...], strength: np.ndarray) -> tuple[float, float]:
    first, second = order
    return strength[first] / strength.sum(), strength[second] / (strength.sum() - strength[first])


def whatever(order: tuple[int, ...], strength: np.ndarray) -> tuple[float, float]:
    """Probability of each document at its rank, over all lists."""
    return tuple(
        sum(math.prod(given_above(one, strength)) for one in ORDERS if one[place] == order[place])
        for place in (0, 1)
    )  # type: ignore[return-value]


def slates(
    rng: np.random.Generator, estimator: str, *, cascade: bool = False
) -> tuple[Interval, float]:
    chances = np.array([math.prod(given_above(order, STRENGTH)) for order in ORDERS])
    wanted = np.array([math.prod(given_above(order, WANTED)) for order in ORDERS])
    rates = np.array([[LIKED[a], LIKED[b] * (1 - LIKED[a] if cascade else 0.6)] for a, b in ORDERS])
    drawn = rng.choice(len(ORDERS), 600, p=chances / chances.sum())
    attracted = (
        rng.random((600, 2))
        < np.array([[LIKED[a], LIKED[b] * (1.0 if cascade else 0.6)] for a, b in ORDERS])[drawn]
    )
    if cascade:
        attracted[:, 1] &= ~attracted[:, 0]
    of = whatever if estimator.endswith("iips") else given_above
    target, logged = (
        np.array([of(order, strength) for order in ORDERS])[drawn]
        for strength in (WANTED, STRENGTH)
    )
    found = slate_value(attracted.astype(float), target, logged, estimator)  # type: ignore[arg-type]
    return found.total.interval, float(wanted @ rates.sum(axis=1))


SLATES = {
    "ips": "lists are long: few carry the weight",
    "iips": "clicks depend on the documents around",
    "rips": "clicks depend on the documents below",
    "snips": "as ips, and few lists",
    "sniips": "as iips, and few lists",
    "snrips": "as rips, and few lists",
}
for name, why in SLATES.items():
    case(f"slates, {name}", breaks=why)(lambda rng, name=name: slates(rng, name))  # type: ignore[misc]
case("slates, rips, cascade users", breaks="users look at the documents below")(
    lambda rng: slates(rng, "rips", cascade=True)
)
case("slates, iips, cascade users", 0.0, 0.93, "clicks depend on the document above")(
    lambda rng: slates(rng, "iips", cascade=True)
)


# --- DCG of a ranker that was never shown ---------------------------------------------------------


@case(
    "DCG by exposures",
    0.95,
    0.995,
    "exposures come from the same log, which makes the intervals too wide",
)
def dcg(rng: np.random.Generator) -> tuple[Interval, float]:
    log = cut_lists(rng)
    return logged_dcg(log, NEW, exposures(log, SEEN), discount=SEEN).dcg.interval, CLICKS


@case(
    "difference of DCG",
    0.95,
    0.995,
    "exposures come from the same log, which makes the intervals too wide",
)
def dcg_difference(rng: np.random.Generator) -> tuple[Interval, float]:
    log = cut_lists(rng)
    found = logged_dcg_difference(log, OLD, NEW, exposures(log, SEEN), discount=SEEN)
    return found.dcg.interval, float(CLICKS - DOCUMENTS[0, [3, 4, 5]] @ SEEN)


@case("DCG, one propensity a rank", 0.0, 0.1, "lists lack documents: a caution says so")
def dcg_of_ranks(rng: np.random.Generator) -> tuple[Interval, float]:
    return logged_dcg(cut_lists(rng), NEW, SEEN, discount=SEEN).dcg.interval, CLICKS


def dcg_under_trust(
    rng: np.random.Generator, noise: np.ndarray, offset: np.ndarray | None
) -> tuple[Interval, float]:
    log = cut_lists(rng, "trust")
    return logged_dcg(
        log, NEW, exposures(log, SEEN * (1 - noise)), offset=offset, discount=SEEN
    ).dcg.interval, CLICKS


case(
    "DCG under trust bias",
    0.95,
    0.995,
    "exposures come from the same log, which makes the intervals too wide",
)(lambda rng: dcg_under_trust(rng, NOISE, SEEN * NOISE))
case("DCG under trust bias, without offset", 0.0, 0.5, "mistaken clicks count as wanted")(
    lambda rng: dcg_under_trust(rng, 0 * NOISE, None)
)


def fitted_runs(rng: np.random.Generator) -> tuple[LoggedDCGDifference, float, float]:
    """Lists of six of twelve documents, by propensities of the same log, for the order by
    attractiveness and another one.
    """
    attractive = rng.beta(2, 6, (40, 12))
    log = simulate(
        attractive,
        4000,
        ranks=6,
        scores=2 * attractive + rng.normal(0, 0.7, attractive.shape),
        rng=rng,
    )
    orders = [
        np.argsort(-values, axis=1)[:, :6]
        for values in (attractive + rng.normal(0, 0.1, attractive.shape), attractive)
    ]
    runs = [
        {
            str(query): [str(document) for document in row]
            for query, row in enumerate(order.tolist())
        }
        for order in orders
    ]
    discounts = 1 / np.log2(np.arange(2, 8))
    old, new = (
        float((np.take_along_axis(attractive, order, axis=1) @ discounts).mean())
        for order in orders
    )
    return logged_dcg_difference(log, runs[0], runs[1], PBM().fit(log)), new, new - old


@case(
    "DCG, as by `clicks runs`",
    breaks="documents have few clicks, or users do not follow the position-based model",
)
def dcg_by_fit(rng: np.random.Generator) -> tuple[Interval, float]:
    found, new, _ = fitted_runs(rng)
    return found.b.dcg.interval, new


@case(
    "difference of DCG, as by `clicks runs`",
    0.95,
    0.99,
    "exposures come from the same log, which makes the intervals too wide",
)
def dcg_difference_by_fit(rng: np.random.Generator) -> tuple[Interval, float]:
    found, _, change = fitted_runs(rng)
    return found.dcg.interval, change


# --- propensities ---------------------------------------------------------------------------------


@case("propensity by em", 0.91, 0.97, "a bootstrap with 60 replicates is somewhat short")
def by_em(rng: np.random.Generator) -> tuple[Interval, float]:
    low, high = (
        PBM().fit(random_lists(rng, 4000, 60)).propensity_intervals(n_resamples=60, rng=rng)[2]
    )
    return (float(low), float(high)), float(RANKS[2])


@case("propensity, harvested", 0.9, 0.97, "a bootstrap with 60 replicates is somewhat short")
def by_harvest(rng: np.random.Generator) -> tuple[Interval, float]:
    low, high = harvested_propensities(
        random_lists(rng, 4000, 80), method="pivot", n_resamples=60, rng=rng
    ).intervals[2]
    return (float(low), float(high)), float(RANKS[2])


@case("slope under trust bias", 0.95, 1.0, "holds for all ranks together: wider at each of them")
def by_trust(rng: np.random.Generator) -> tuple[Interval, float]:
    slopes = RANKS * (1 - NOISE)
    low, high = trust_propensities(
        random_lists(rng, 8000, 100, "trust"), n_resamples=200, rng=rng
    ).slope_intervals[2]
    return (float(low), float(high)), float(slopes[2] / slopes[0])


def all_held(intervals: np.ndarray, truth: np.ndarray) -> tuple[Interval, float]:
    """Return 0 and an interval around it if all intervals hold the truth, and another one if
    not.
    """
    held = (intervals[:, 0] <= truth) & (truth <= intervals[:, 1])
    return ((-1.0, 1.0) if held.all() else (1.0, 2.0)), 0.0


@case(
    "propensity of the last rank, as by `clicks propensity`",
    0.9,
    0.97,
    "a bootstrap with 60 replicates is somewhat short",
)
def by_default(rng: np.random.Generator) -> tuple[Interval, float]:
    log = simulate(rng.beta(2, 6, (40, 12)), 8000, ranks=6, rng=rng)
    low, high = propensities(log, n_resamples=60, rng=rng).intervals[5]
    return (float(low), float(high)), 1 / 6


@case(
    "offsets of ten ranks without trust bias",
    breaks="documents attract alike, or have few clicks: a caution says so",
)
def no_trust(rng: np.random.Generator) -> tuple[Interval, float]:
    attractive = rng.beta(2, 6, (133, 14))
    log = simulate(
        attractive,
        15_000,
        ranks=10,
        scores=2 * attractive + rng.normal(0, 0.7, attractive.shape),
        rng=rng,
    )
    return all_held(
        trust_propensities(log, n_resamples=200, rng=rng).offset_intervals, np.zeros(10)
    )


@case(
    "offsets under trust bias",
    breaks="documents attract alike, or have few clicks: a caution says so",
)
def offsets(rng: np.random.Generator) -> tuple[Interval, float]:
    found = trust_propensities(random_lists(rng, 8000, 100, "trust"), n_resamples=200, rng=rng)
    slopes, mistaken = RANKS * (1 - NOISE), RANKS * NOISE
    return all_held(found.offset_intervals, mistaken - slopes / slopes[0] * mistaken[0])


# --- parameters of click models -------------------------------------------------------------------


def of_first(intervals: np.ndarray) -> Interval:
    """Of the first pair of the log, which no click has chosen."""
    low, high = intervals[0]
    return float(low), float(high)


def truth_of_first(log: Sessions, truth: np.ndarray) -> float:
    query, document = log.documents[0]
    return float(truth[int(query), int(document)])


@case(
    "PBM, examination by information",
    breaks="documents keep their ranks, or have a handful of impressions",
)
def pbm_information(rng: np.random.Generator) -> tuple[Interval, float]:
    found = parameter_intervals(PBM(), random_lists(rng, 4000, 60)).examination
    assert found is not None
    return (float(found[2, 0]), float(found[2, 1])), float(RANKS[2])


@case("UBM, examination below a click", breaks="the same, and few clicks above others")
def ubm_information(rng: np.random.Generator) -> tuple[Interval, float]:
    found = parameter_intervals(UBM(), browsed_lists(rng)).examination
    assert found is not None
    return (float(found[2, 1, 0]), float(found[2, 1, 1])), float(LATER[2, 1] / LATER[0, 0])


@case("Cascade, attractiveness", 0.94, 0.99, "exact (Clopper and Pearson): at least 95 %")
def cascade_shares(rng: np.random.Generator) -> tuple[Interval, float]:
    truth = rng.beta(2, 3, (20, 5))
    log = simulate(truth, 3000, ranks=3, model="cascade", policy="random", rng=rng)
    return of_first(parameter_intervals(Cascade(), log).attractiveness), truth_of_first(log, truth)


@case(
    "DCM, continuation", 0.0, 0.5, "its estimate takes results below the last click as not examined"
)
def dcm_shares(rng: np.random.Generator) -> tuple[Interval, float]:
    onward = np.array([0.7, 0.5, 0.5])
    log = simulate(
        rng.beta(2, 3, (20, 5)),
        3000,
        ranks=3,
        model="dcm",
        propensity=onward,
        policy="random",
        rng=rng,
    )
    found = parameter_intervals(DCM(), log).continuation
    assert found is not None
    return (float(found[0, 0]), float(found[0, 1])), 0.7


@case("SDBN, satisfaction", 0.0, 0.93, "its estimate takes every last click as satisfied")
def sdbn_shares(rng: np.random.Generator) -> tuple[Interval, float]:
    log, _ = read_lists(rng, 8000, 20, 1.0, 0.5)
    found = parameter_intervals(SDBN(), log).satisfaction
    assert found is not None
    return of_first(found), 0.5


def of_dbn(rng: np.random.Generator, name: str) -> tuple[Interval, float]:
    log, truth = read_lists(rng, 600, 2, GOES_ON, 0.5)
    found = parameter_intervals(DBN(), log, n_resamples=60, rng=rng)
    known = {
        "attractiveness": truth_of_first(log, truth),
        "satisfaction": 0.5,
        "continuation": GOES_ON,
    }
    return of_first(getattr(found, name)), known[name]


case("DBN, continuation", 0.9, 0.97, "a bootstrap with 60 replicates is somewhat short")(
    lambda rng: of_dbn(rng, "continuation")
)
case("DBN, attractiveness", 0.0, 0.93, "percentiles of few impressions: a caution says so")(
    lambda rng: of_dbn(rng, "attractiveness")
)
case(
    "DBN, satisfaction",
    0.0,
    0.93,
    "percentiles of few clicks, which end at 0 and 1: a caution says so",
)(lambda rng: of_dbn(rng, "satisfaction"))


# --- tests with users -----------------------------------------------------------------------------


@case("A/B by user", breaks="few users, or one with most of the value")
def delta(rng: np.random.Generator) -> tuple[Interval, float]:
    value, side, user, _ = visits(rng)
    return ab_effect(value, side, users=user).interval, 0.3


@case("A/B by user, bootstrap", breaks="the same")
def drawn(rng: np.random.Generator) -> tuple[Interval, float]:
    value, side, user, _ = visits(rng)
    found = ab_effect(value, side, users=user, n_resamples=300, rng=rng).bootstrap
    assert found is not None
    return found, 0.3


case("A/B by list", 0.0, 0.93, "lists of one user are taken for independent")(
    lambda rng: (ab_effect(*visits(rng)[:2]).interval, 0.3)
)


@case("A/B with CUPED", breaks="the covariate was measured during the test")
def cuped(rng: np.random.Generator) -> tuple[Interval, float]:
    side, level = rng.choice(["A", "B"], 300), rng.normal(0, 1, 300)
    value = level + 0.3 * (side == "B") + rng.normal(0, 0.5, 300)
    return ab_effect(value, side, covariate=level + rng.normal(0, 0.5, 300)).interval, 0.3


@case("A/B at any look", 0.97, 1.0, "holds at all looks together: wider at each of them")
def sequence(rng: np.random.Generator) -> tuple[Interval, float]:
    value, side, user, _ = visits(rng)
    return ab_effect(value, side, users=user, planned_users=300).sequence, 0.3


@case("trend of an effect", breaks="users of late periods are others")
def trend(rng: np.random.Generator) -> tuple[Interval, float]:
    value, side, user, period = visits(rng)
    return novelty(value, side, period, users=user).interval, 0.0


def wins(rng: np.random.Generator) -> Preference:
    return preference(rng.choice([-1, 0, 1], 500, p=[0.27, 0.4, 0.33]))


case("interleaving", 0.94, 0.98, "exact (Clopper and Pearson): at least 95 % in expectation")(
    lambda rng: (wins(rng).interval, 0.55)
)
case("interleaving at any look", 0.97, 1.0, "holds at all looks together: wider at each of them")(
    lambda rng: (wins(rng).sequence, 0.55)
)


def covered(name: str, repetitions: int, seed: int = 0) -> float:
    """Share of the intervals of a case that hold its truth."""
    made, held = CASES[name][0], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for repetition in range(repetitions):
            (low, high), truth = made(np.random.default_rng([seed, repetition]))
            held += low <= truth <= high
    return held / repetitions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", choices=list(CASES), action="append")
    asked = parser.parse_args()
    print(
        "| 95 % interval of | holds the truth in | why not in 95 % | else breaks where |\n"
        "|---|---:|---|---|"
    )
    for name in asked.case or CASES:
        expected = CASES[name][1]
        print(
            f"| {name} | {covered(name, asked.repetitions, asked.seed):.1%} | "
            f"{expected.reason} | {expected.breaks} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
