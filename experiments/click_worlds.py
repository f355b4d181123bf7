"""Logs of clicks whose truth is known, for `click_coverage.py`."""

import numpy as np

from idealrank.clicks import Sessions, simulate

# --- single decisions: five actions of known rates ------------------------------------------------

RATES = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
LOGGING = 0.1 + 0.5 * np.array([0.5, 0.3, 0.1, 0.07, 0.03])
THIN = 0.01 + 0.95 * np.array([0.5, 0.3, 0.1, 0.07, 0.03])
TARGET, OTHER = np.array([0.05, 0.05, 0.1, 0.2, 0.6]), np.array([0.2, 0.2, 0.2, 0.2, 0.2])
MODEL = np.array([0.3, 0.3, 0.3, 0.3, 0.3])
TRUTH = float(TARGET @ RATES)


def decisions(
    rng: np.random.Generator, n: int = 1000, logging: np.ndarray = LOGGING
) -> tuple[np.ndarray, np.ndarray]:
    actions = rng.choice(5, n, p=logging)
    return rng.binomial(1, RATES[actions]).astype(float), actions


# --- lists of three of six documents, the worse ones more often first -----------------------------

DOCUMENTS = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
SEEN = np.array([1.0, 0.6, 0.4])
NEW, OLD = {"0": list("543")}, {"0": list("345")}
CLICKS = float(DOCUMENTS[0, [5, 4, 3]] @ SEEN)
NOISE = 0.3 / np.arange(1, 4)


def cut_lists(rng: np.random.Generator, model: str = "pbm") -> Sessions:
    """Three of six documents, the worse ones more often first."""
    return simulate(
        DOCUMENTS,
        1500,
        ranks=3,
        propensity=SEEN,
        scores=-3 * DOCUMENTS,
        model=model,
        noise=0.3,
        rng=rng,
    )  # type: ignore[arg-type]


# --- lists in random order ------------------------------------------------------------------------

RANKS = 1 / np.arange(1, 4)


def random_lists(rng: np.random.Generator, n: int, queries: int, model: str = "pbm") -> Sessions:
    return simulate(
        rng.beta(2, 2, (queries, 5)), n, ranks=3, model=model, noise=0.3, policy="random", rng=rng
    )  # type: ignore[arg-type]


# examination of a rank, by the rank of the last click above (0: none)
LATER = np.array([[0.9, 0, 0], [0.4, 0.8, 0], [0.2, 0.5, 0.7]])
GOES_ON = 0.7


def read_lists(
    rng: np.random.Generator, n: int, queries: int, goes_on: float, satisfied: float
) -> tuple[Sessions, np.ndarray]:
    """Lists of three of five documents in random order, read from the top until a click satisfies
    or the user gives up.
    """
    truth = rng.beta(2, 3, (queries, 5))
    query = rng.integers(0, queries, n)
    shown = rng.permuted(np.tile(np.arange(5), (n, 1)), axis=1)[:, :3]
    clicks, reads = np.zeros((n, 3), bool), np.ones(n, bool)
    for rank in range(3):
        clicks[:, rank] = reads & (rng.random(n) < truth[query, shown[:, rank]])
        reads &= ~(clicks[:, rank] & (rng.random(n) < satisfied)) & (rng.random(n) < goes_on)
    return Sessions.from_arrays(query, shown, clicks), truth


def browsed_lists(rng: np.random.Generator, n: int = 4000, queries: int = 60) -> Sessions:
    """Lists in random order; users look at a rank with a chance that depends on the last click
    above.
    """
    truth, query = rng.beta(2, 3, (queries, 5)), rng.integers(0, queries, n)
    shown = rng.permuted(np.tile(np.arange(5), (n, 1)), axis=1)[:, :3]
    clicks, last = np.zeros((n, 3), bool), np.zeros(n, np.int64)
    for rank in range(3):
        clicks[:, rank] = rng.random(n) < LATER[rank, last] * truth[query, shown[:, rank]]
        last = np.where(clicks[:, rank], rank + 1, last)
    return Sessions.from_arrays(query, shown, clicks)


# --- users with a level of their own --------------------------------------------------------------


def visits(rng: np.random.Generator, users: int = 300) -> tuple[np.ndarray, ...]:
    """Users with a level of their own, who come once or several times; B gains 0.3 a list."""
    side, level = rng.choice(["A", "B"], users), rng.gamma(2, 1, users)
    user = np.repeat(np.arange(users), rng.integers(1, 5, users))
    return (
        rng.poisson(level[user] + 0.3 * (side[user] == "B")).astype(float),
        side[user],
        user,
        rng.integers(1, 5, user.size),
    )
