"""Level of sign-flip tests by p and by mid-p, which counts half of the sign vectors that tie.

Differences  Without a true difference: normal; 80 % zeros, the others normal; 80 % zeros, the
             others +1 or -1; tenths, as of P@10; reciprocal ranks that move by a rank on 40 % of
             the queries; 2 % of +-0.9 among small ones.
Tests        One test, one- and two-sided, and the two-sided max-T test of a family of five measures
             with independent differences. All sign vectors for 10 queries, 1,999 draws for more;
             the signs as observed count as one more tie.
Given        Exact levels if so many queries differ, all by one size: binomial probabilities.
Level        Share of sets with a value of at most 0.05; of a family, with any such value.
Power        The same with a true difference that a t test finds about half of the time.
"""

import argparse
import math
from collections.abc import Callable, Sequence

import numpy as np
from gate_simulation import lined
from models import at_least_1
from stated_power import MOVES, OFTEN

from idealrank.data.types import FloatArray

ALPHA, DRAWS, FAMILY, BATCH = 0.05, 1999, 5, 200
QUERIES = (10, 25, 50, 250)
DIFFER = tuple(range(4, 13))
MOST = 0.055  # level that mid-p may have in a cell

Shape = tuple[int, ...]
Draw = Callable[[np.random.Generator, Shape], FloatArray]


def _signs(rng: np.random.Generator, shape: Shape) -> FloatArray:
    return rng.integers(0, 2, shape) * 2.0 - 1.0


def _some(rng: np.random.Generator, shape: Shape, share: float, values: FloatArray) -> FloatArray:
    return np.where(rng.random(shape) < share, values, 0.0)


def _normal(rng: np.random.Generator, shape: Shape) -> FloatArray:
    return rng.normal(0, 0.1, shape)


def _zeros(rng: np.random.Generator, shape: Shape) -> FloatArray:
    return _some(rng, shape, 0.2, rng.normal(0, 0.1, shape))


def _binary(rng: np.random.Generator, shape: Shape) -> FloatArray:
    return _some(rng, shape, 0.2, _signs(rng, shape))


def _tenths(rng: np.random.Generator, shape: Shape) -> FloatArray:
    return np.rint(rng.normal(0, 1.2, shape)) / 10


def _ranks(rng: np.random.Generator, shape: Shape) -> FloatArray:
    sizes = rng.choice(MOVES, p=OFTEN, size=shape)
    return _some(rng, shape, 0.4, sizes * _signs(rng, shape))


def _heavy(rng: np.random.Generator, shape: Shape) -> FloatArray:
    large = rng.random(shape) < 0.02
    return np.where(large, 0.9 * _signs(rng, shape), rng.normal(0, 0.02, shape))


LAWS: dict[str, Draw] = {
    "normal": _normal,
    "80 % zeros": _zeros,
    "80 % zeros, +-1": _binary,
    "tenths": _tenths,
    "moves of a rank": _ranks,
    "heavy tail": _heavy,
}
TESTS = ("one-sided", "two-sided", "max-T of 5")


def values_of(differences: FloatArray, signs: FloatArray) -> dict[str, tuple[FloatArray, FloatArray]]:
    """p and mid-p of sets by each test; of a family, of its largest statistic.

    Parameters
    ----------
    differences : float64 array, shape (queries, sets, measures)
    signs : float64 array, shape (draws, queries)
    """
    queries, sets, measures = differences.shape
    norms = np.sqrt((differences**2).sum(axis=0))
    norms[norms == 0] = 1.0
    observed = differences.sum(axis=0) / norms
    flipped = (signs @ differences.reshape(queries, -1)).reshape(len(signs), sets, measures) / norms
    first, first_observed = flipped[..., 0], observed[:, 0]
    statistics = {
        "one-sided": (first, first_observed),
        "two-sided": (np.abs(first), np.abs(first_observed)),
        "max-T of 5": (np.abs(flipped).max(axis=2), np.abs(observed).max(axis=1)),
    }
    every = len(signs) == 1 << queries
    return {name: _values(drawn, seen, 0 if every else 1) for name, (drawn, seen) in statistics.items()}


def _values(drawn: FloatArray, seen: FloatArray, extra: int) -> tuple[FloatArray, FloatArray]:
    larger = (drawn > seen + 1e-9).sum(axis=0)
    tied = (drawn >= seen - 1e-9).sum(axis=0) - larger + extra
    total = len(drawn) + extra
    return (larger + tied) / total, (larger + tied / 2) / total


def signs_of(queries: int, rng: np.random.Generator) -> FloatArray:
    """Every sign vector of 10 queries, random ones of more."""
    if queries <= 10:
        return (np.arange(1 << queries)[:, None] >> np.arange(queries) & 1) * 2.0 - 1.0
    return _signs(rng, (DRAWS, queries))


def shares(name: str, queries: int, arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Share of sets that each test finds significant, by p and mid-p, without and with an effect."""
    rng = np.random.default_rng((arguments.seed, list(LAWS).index(name), queries))
    found: dict[str, list[list[FloatArray]]] = {test: [[], [], [], []] for test in TESTS}
    for _ in range(-(-arguments.sets // BATCH)):
        drawn = LAWS[name](rng, (queries, BATCH, FAMILY))
        signs = signs_of(queries, rng)
        # The effect turns losses into gains: zeros, sizes and the grid stay.
        turned = np.where(rng.random(drawn.shape) < arguments.turned(queries, drawn), np.abs(drawn), drawn)
        for at, differences in ((0, drawn), (2, turned)):
            for test, pair in values_of(differences, signs).items():
                for place, values in enumerate(pair):
                    found[test][at + place].append(values <= ALPHA)
    kinds = ("p", "mid-p", "p, effect", "mid-p, effect")
    return {
        test: {kind: float(np.concatenate(part).mean()) for kind, part in zip(kinds, parts, strict=True)} for test, parts in found.items()
    }


def half_found(queries: int, drawn: FloatArray) -> float:
    """Share of losses to turn for a t statistic of 2 on average."""
    share = 2 * float(np.sqrt((drawn**2).mean())) / (np.sqrt(queries) * float(np.abs(drawn).mean()))
    return min(share, 0.95)


def given(differ: int, sides: int) -> tuple[float, float]:
    """Exact levels of p and mid-p if so many queries differ by one size."""
    gains = np.arange(differ + 1)
    chances = np.array([math.comb(differ, gain) for gain in gains.tolist()]) / 2.0**differ
    statistic = np.abs(2 * gains - differ) if sides == 2 else gains
    larger, reached = (
        np.array([chances[compare(statistic, value)].sum() for value in statistic]) for compare in (np.greater, np.greater_equal)
    )
    p, mid = (float(chances[values <= ALPHA].sum()) for values in (reached, (larger + reached) / 2))
    return p, mid


def main(asked: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=at_least_1, default=10_000, help="sets for each share (default 10000)")
    parser.add_argument("--queries", type=at_least_1, nargs="+", default=list(QUERIES), help="queries")
    parser.add_argument("--seed", type=int, default=15, help="the same seed, the same numbers (default 15)")
    arguments = parser.parse_args(asked)
    arguments.turned = half_found
    body, beyond = [], 0
    for name in LAWS:
        for queries in arguments.queries:
            for test, share in shares(name, queries, arguments).items():
                beyond += share["mid-p"] > MOST
                body.append([name, test, f"{queries}", *(f"{value:.3f}" for value in share.values())])
    head = ["differences", "test", "queries", "level, p", "level, mid-p", "power, p", "power, mid-p"]
    print("\n".join(lined(head, body, 2)))
    error = (ALPHA * (1 - ALPHA) / arguments.sets) ** 0.5
    head = ["differ", "one-sided, p", "one-sided, mid-p", "two-sided, p", "two-sided, mid-p"]
    exact = [[f"{differ}", *(f"{level:.3f}" for sides in (1, 2) for level in given(differ, sides))] for differ in DIFFER]
    print("\n".join(["", *lined(head, exact, 0)]))
    print(f"\nMid-p is above {MOST} in {beyond} of {len(body)} rows. Standard error of a level: {error:.3f}.")


if __name__ == "__main__":
    main()
