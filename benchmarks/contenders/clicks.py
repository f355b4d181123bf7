"""Click models and values of policies: NAME SIZE CALLS; prints some values, and the median time of
a call.

"arrays SIZE FILE" writes the data for peers.

The data are made before the clock starts. The contenders named plain-... are the textbook, in plain
NumPy.
"""

import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from idealrank.clicks import PBM, UBM, Sessions, ips, simulate
from idealrank.errors import IdealrankWarning

QUERIES, DOCUMENTS, RANKS = 1000, 20, 10
PLAIN_STEPS = 3000  # of expectation maximisation
CLUSTERS, REPLICATES, CLIP = 10_000, 1000, 3.0
FEW = 2000  # sessions, up to which values are compared
ESTIMATORS: tuple[tuple[Any, float | None], ...] = (
    ("ips", None),
    ("snips", None),
    ("clipped", CLIP),
)
Values = dict[str, float]


@cache
def sessions(size: int) -> Sessions:
    """Lists in random order."""
    truth = np.random.default_rng(1).beta(1, 3, (QUERIES, DOCUMENTS))
    return simulate(truth, size, ranks=RANKS, policy="random", rng=2)


@cache
def rewards(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rewards, probabilities of the target policy and of the logging policy, and clusters."""
    rng = np.random.default_rng(3)
    logged, target = rng.uniform(0.1, 1, size), rng.uniform(0.1, 1, size)
    return (rng.random(size) < 0.1).astype(float), target, logged, rng.integers(0, CLUSTERS, size)


def pbm(size: int) -> Values:
    return model(PBM(), size)


def ubm(size: int) -> Values:
    return model(UBM(), size)


def model(chosen: PBM | UBM, size: int) -> Values:
    """The log-likelihood costs time, so it is computed for few sessions alone."""
    fitted = chosen.fit(sessions(size))
    return {"log-likelihood": fitted.log_likelihood(sessions(size))} if size <= FEW else {}


def plain_pbm(size: int) -> Values:
    """Examination by the rank alone."""
    return by_results(sessions(size), np.broadcast_to(np.arange(RANKS), (size, RANKS)))


def plain_ubm(size: int) -> Values:
    """Examination by the rank and the rank of the last click above."""
    log = sessions(size)
    situation = np.zeros((size, RANKS), np.int64)
    for row, clicks in enumerate(log.clicks):
        last = 0
        for rank, click in enumerate(clicks):
            situation[row, rank] = rank * (RANKS + 1) + last
            last = rank + 1 if click else last
    return by_results(log, situation)


def by_results(log: Sessions, situation: np.ndarray) -> Values:
    """Expectation maximisation over each result of each session: examination by situation,
    attractiveness by pair.
    """
    seen = np.maximum(np.bincount(situation.ravel()), 1)
    examined, attracted = np.full(seen.size, 0.5), np.full(len(log.documents), 0.5)
    shown = np.maximum(np.bincount(log.pair.ravel(), minlength=attracted.size), 1)
    for _ in range(PLAIN_STEPS):
        attraction, looked = attracted[log.pair], examined[situation]
        not_clicked = np.maximum(1 - looked * attraction, 1e-300)
        is_examined = np.where(log.clicks, 1.0, looked * (1 - attraction) / not_clicked)
        attracts = np.where(log.clicks, 1.0, (1 - looked) * attraction / not_clicked)
        examined = np.bincount(situation.ravel(), is_examined.ravel()) / seen
        attracted = np.bincount(log.pair.ravel(), attracts.ravel(), attracted.size) / shown
    clicked = examined[situation] * attracted[log.pair]
    return {"log-likelihood": float(np.log(np.where(log.clicks, clicked, 1 - clicked)).sum())}


def estimates(size: int) -> Values:
    """All three estimators, each with its interval."""
    reward, target, logged, _ = rewards(size)
    found = [ips(reward, target, logged, name, most) for name, most in ESTIMATORS]
    return {
        f"{one.estimator} {end}": value
        for one in found
        for end, value in zip(("low", "high"), one.interval, strict=True)
    }


def plain_estimates(size: int) -> Values:
    reward, target, logged, _ = rewards(size)
    found = {}
    for name, most in ESTIMATORS:
        weight = target / logged if most is None else np.minimum(target / logged, most)
        value = (weight * reward).sum() / (weight.sum() if name == "snips" else size)
        parts = (
            weight * (reward - value) / weight.mean()
            if name == "snips"
            else weight * reward - value
        )
        reach = 1.959963984540054 * np.sqrt((parts**2).sum() / (size - 1) / size)
        found |= {f"{name} low": float(value - reach), f"{name} high": float(value + reach)}
    return found


def bootstrap(size: int) -> Values:
    reward, target, logged, cluster = rewards(size)
    low, high = ips(
        reward, target, logged, "snips", clusters=cluster, n_resamples=REPLICATES, rng=4
    ).interval
    return {"low": low, "high": high}


def plain_bootstrap(size: int) -> Values:
    """Clusters drawn with replacement, summed row by row."""
    reward, target, logged, cluster = rewards(size)
    weight, rng = target / logged, np.random.default_rng(5)
    names, codes = np.unique(cluster, return_inverse=True)
    values = []
    for _ in range(REPLICATES):
        times = np.bincount(rng.integers(0, names.size, names.size), minlength=names.size)[codes]
        values.append(float((times * weight * reward).sum() / (times * weight).sum()))
    low, high = np.quantile(values, [0.025, 0.975])
    return {"low": float(low), "high": float(high)}


def estimate_rows(size: int) -> Values:
    """IPS with a bootstrap over rows."""
    reward, target, logged, _ = rewards(size)
    return {"mean": ips(reward, target, logged, n_resamples=100, rng=4).value}


def likelihood(size: int) -> Values:
    """The model and its log-likelihood, of which `pbm` has the model alone."""
    return {"log-likelihood": PBM().fit(sessions(size)).log_likelihood(sessions(size))}


def write_arrays(path: str, size: int) -> None:
    """Arrays for the peers, which read no Sessions."""
    reward, target, logged, _ = rewards(size)
    log = sessions(size)
    np.savez(
        path,
        reward=reward,
        target=target,
        logged=logged,
        pair=log.pair,
        clicks=log.clicks,
        likelihood=likelihood(size)["log-likelihood"],
    )


CONTENDERS: dict[str, Callable[[int], Values]] = {
    "pbm": pbm,
    "plain-pbm": plain_pbm,
    "ubm": ubm,
    "plain-ubm": plain_ubm,
    "estimates": estimates,
    "plain-estimates": plain_estimates,
    "bootstrap": bootstrap,
    "plain-bootstrap": plain_bootstrap,
    "rows": estimate_rows,
    "model": likelihood,
}


def main() -> None:
    name, size, calls = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if name == "arrays":
        write_arrays(calls, size)
        return
    # few sessions do not identify all examination of a UBM
    warnings.simplefilter("ignore", IdealrankWarning)
    call = CONTENDERS[name]
    call(100)  # loads what is loaded at the first call
    (sessions if "bm" in name or name == "model" else rewards)(size)
    taken, values = [], {}
    for _ in range(int(calls)):
        wall, cpu = time.perf_counter(), time.process_time()
        values = call(size)
        taken.append((time.perf_counter() - wall, time.process_time() - cpu))
    print(
        json.dumps(
            {
                "values": values,
                "wall": statistics.median(one[0] for one in taken),
                "cpu": statistics.median(one[1] for one in taken),
            }
        )
    )


if __name__ == "__main__":
    main()
