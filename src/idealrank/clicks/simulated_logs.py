"""Simulated click logs: users of a known click model, known relevance, and logging policies with
known propensities.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import MOST_CELLS, MOST_USERS, number_table, one_of, real_number
from idealrank.clicks.sessions import Sessions
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.randomness import RandomLike, generator_of, whole_number

UserModel: TypeAlias = Literal["pbm", "cascade", "sdbn", "dcm", "trust"]
LoggingPolicy: TypeAlias = Literal["fixed", "random", "swap", "plackett-luce"]


def simulate(
    attractiveness: npt.ArrayLike,
    n_sessions: int,
    *,
    ranks: int = 10,
    model: UserModel = "pbm",
    propensity: "Sequence[float] | FloatArray | None" = None,
    satisfaction: float = 0.5,
    noise: float = 0.1,
    policy: LoggingPolicy = "plackett-luce",
    scores: "npt.ArrayLike | None" = None,
    temperature: float = 1.0,
    popularity: float = 0.0,
    drift: float = 0.0,
    users: int | None = None,
    rng: RandomLike = 0,
) -> Sessions:
    """Simulate sessions of users whose behaviour, and documents whose attractiveness are known.

    Parameters
    ----------
    attractiveness : array, shape (queries, documents)
        Probability that an examined document is clicked.
    n_sessions : int
        Number of sessions.
    ranks : int
        Length of the lists; at most the number of documents.
    model : {"pbm", "cascade", "sdbn", "dcm", "trust"}
        Users examine each rank by itself (pbm); read on to the first click (cascade), to a click
        that satisfies (sdbn), or with the probability `propensity` of the rank after each click
        (dcm); or examine as pbm and also click by mistake, more at the top (trust: a click on an
        examined document has probability ``a + noise / rank * (1 - a)``).
    propensity : sequence, shape (ranks,), optional
        Probability of examining each rank; by default ``1 / rank``.
    satisfaction : float
        Probability that a click satisfies, for sdbn.
    noise : float
        Strength of trust bias.
    policy : {"fixed", "random", "swap", "plackett-luce"}
        Order that users see: by score; random; by score with the first rank swapped with one at
        random; or drawn from the scores without replacement, each document with probability
        proportional to ``exp(score / temperature)``.
    scores : array, shape (queries, documents), optional
        Scores of the logging policy; by default standard normal noise of its own.
    temperature : float
        Of plackett-luce.
    popularity : float
        Exponent of the frequency of queries: query i has weight ``(i + 1) ** -popularity``.
    drift : float
        Change of the attractiveness from the first to the last session: a share of the way to 1 -
        attractiveness.
    users : int, optional
        Number of users, each session of one at random; without it `user` is None.
    rng : seed or Generator
        Random numbers.

    Returns
    -------
    Sessions
        Documents are named "0", "1", ... within a query. `propensity` holds the probability with
        which the policy shows each document at its rank: of plackett-luce, given what stands above.
        `examination` holds the true probabilities of examination of pbm and trust.

    Raises
    ------
    InputError
        A probability is outside [0, 1], or shapes do not fit.
    OptionError
        An option is unknown or outside its range.

    Examples
    --------
    >>> log = simulate([[0.9, 0.1, 0.5]], 1000, ranks=2, policy="random", rng=1)
    >>> len(log), log.propensity[0].tolist()
    (1000, [0.3333333333333333, 0.3333333333333333])
    """
    one_of("model", model, UserModel)
    one_of("policy", policy, LoggingPolicy)
    truth = _matrix("attractiveness", attractiveness)
    if not ((truth >= 0) & (truth <= 1)).all():
        raise InputError("attractiveness: found a value outside [0, 1], expected probabilities")
    n_queries, n_documents = truth.shape
    length = whole_number("ranks", ranks)
    n = whole_number("n_sessions", n_sessions)
    _require_memory(n, n_documents)
    if length > n_documents:
        raise OptionError(
            f"ranks={length}: expected at most {n_documents}, the number of documents"
        )
    heat = real_number("temperature", temperature, "a finite number above 0, such as 1", low=0)
    satisfied = _share("satisfaction", satisfaction)
    mistakes = _share("noise", noise)
    change = _share("drift", drift)
    expected = "a number from 0 to 100"
    exponent = real_number("popularity", popularity, expected, low=0, high=100, closed="both")
    n_users = None if users is None else whole_number("users", users, 1, MOST_USERS)
    generator = generator_of(rng)
    examined = 1 / np.arange(1, length + 1)
    if propensity is not None:
        examined = number_table("propensity", propensity)
    if examined.shape != (length,) or not ((examined >= 0) & (examined <= 1)).all():
        raise InputError(
            f"propensity: found {examined.tolist()}, expected {length} probabilities, one a rank"
        )
    ranked_by = (
        generator.standard_normal(truth.shape) if scores is None else _matrix("scores", scores)
    )
    if ranked_by.shape != truth.shape:
        raise InputError(
            f"scores: found shape {ranked_by.shape}, expected {truth.shape}, as of attractiveness"
        )

    weights = np.arange(1, n_queries + 1, dtype=np.float64) ** -exponent
    query = generator.choice(n_queries, n, p=weights / weights.sum())
    shown, shown_probability = _lists(
        scores=ranked_by, query=query, length=length, policy=policy, temperature=heat, rng=generator
    )
    attraction = truth[query[:, None], shown]
    if change:
        attraction = attraction + np.linspace(0, change, n)[:, None] * (1 - 2 * attraction)
    clicks = _clicks(
        attraction=attraction,
        model=model,
        examined=examined,
        satisfaction=satisfied,
        noise=mistakes,
        rng=generator,
    )
    user = None if n_users is None else generator.integers(0, n_users, n)
    log = Sessions.from_arrays(query, shown, clicks, user=user, propensity=shown_probability)
    examination = (
        np.broadcast_to(examined, clicks.shape).copy() if model in ("pbm", "trust") else None
    )
    return Sessions(
        queries=log.queries,
        documents=log.documents,
        query=log.query,
        pair=log.pair,
        clicks=log.clicks,
        user=log.user,
        propensity=log.propensity,
        examination=examination,
    )


def _require_memory(n: int, n_documents: int) -> None:
    if n * n_documents > MOST_CELLS:
        limit = MOST_CELLS // n_documents
        raise OptionError(
            f"n_sessions={n}: expected at most {limit:,} with {n_documents:,} documents; more need "
            "too much memory"
        )


def _share(name: str, value: float) -> float:
    return real_number(name, value, "a number from 0 to 1", low=0, high=1, closed="both")


def _matrix(name: str, values: npt.ArrayLike) -> FloatArray:
    matrix = number_table(name, values)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise InputError(
            f"{name}: found shape {matrix.shape}, expected finite numbers of shape (queries, "
            "documents)"
        )
    return matrix


def _lists(
    scores: FloatArray,
    query: IntArray,
    length: int,
    policy: LoggingPolicy,
    temperature: float,
    rng: np.random.Generator,
) -> tuple[IntArray, FloatArray]:
    """Documents of each list, and the probability of each at its rank."""
    n = query.size
    n_documents = scores.shape[1]
    if policy == "random":
        shown = np.argsort(rng.random((n, n_documents)), axis=1)[:, :length]
        return shown, np.full(shown.shape, 1 / n_documents)
    if policy == "plackett-luce":
        with np.errstate(over="ignore"):
            odds = scores[query] / temperature
        if not np.isfinite(odds).all():
            raise OptionError(
                f"temperature={temperature:g}: found scores divided by it that are no numbers, "
                "expected a larger one"
            )
        # Scores with Gumbel noise have the order of draws without replacement.
        shown = np.argsort(-(odds + rng.gumbel(size=odds.shape)), axis=1, kind="stable")[:, :length]
        strengths = np.exp(odds - odds.max(axis=1, keepdims=True))
        strength = np.take_along_axis(strengths, shown, axis=1)
        above = np.cumsum(strength, axis=1) - strength
        # Rounding may leave less than the strength of the document itself.
        remaining = np.maximum(strengths.sum(axis=1, keepdims=True) - above, strength)
        return shown, np.minimum(strength / remaining, 1.0)

    ordered = np.argsort(-scores, axis=1, kind="stable")[:, :length][query]
    chance = np.ones(ordered.shape)
    if policy == "swap":
        swapped = rng.integers(0, length, n)
        rows = np.arange(n)
        ordered = ordered.copy()
        first = ordered[:, 0].copy()
        second = ordered[rows, swapped].copy()
        ordered[:, 0] = second
        ordered[rows, swapped] = first
        chance[:, 0] = 1 / length
        chance[:, 1:] = (length - 1) / length
        chance[rows[swapped > 0], swapped[swapped > 0]] = 1 / length
    return ordered, chance


def _clicks(
    attraction: FloatArray,
    model: UserModel,
    examined: FloatArray,
    satisfaction: float,
    noise: float,
    rng: np.random.Generator,
) -> BoolArray:
    """Draw the clicks on documents of known attraction."""
    draws = rng.random(attraction.shape)
    if model == "pbm":
        return np.asarray(draws < attraction * examined, bool)
    if model == "trust":
        mistaken = noise / np.arange(1, attraction.shape[1] + 1)
        return np.asarray(draws < examined * (attraction + mistaken * (1 - attraction)), bool)
    attracts = draws < attraction
    stop = np.full(attraction.shape, 1.0 if model == "cascade" else satisfaction)
    if model == "dcm":
        stop = np.broadcast_to(1 - examined, attraction.shape)
    stopped = attracts & (rng.random(attraction.shape) < stop)
    stops_above: IntArray = np.cumsum(stopped, axis=1) - stopped
    reading: BoolArray = stops_above == 0
    return np.asarray(attracts & reading, bool)
