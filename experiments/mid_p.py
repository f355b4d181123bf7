"""Level of sign-flip tests by p and by mid-p, which counts half of the sign vectors that tie.

Symmetric    Without a true difference: normal; 80 % zeros, the others normal; 80 % zeros, the
             others +1 or -1; +1 or -1 on every query; tenths, as of P@10; reciprocal ranks that
             move by a rank on 40 % of the queries; 2 % of +-0.9 among small ones.
Lopsided     Mean 0, and not symmetric: 15 % large losses and 85 % small gains; 5 % lose 0.38, and
             the others gain 0.02.
Tests        One test, one- and two-sided (one-sided: for gains), and the two-sided max-T test of
             families of three and ten measures with independent differences. All sign vectors for
             10 queries, 1,999 draws for more; the signs as observed count as one more tie.
Level        Share of sets with a value of at most 0.05; of a family, with any such value.
Power        The same with a true difference that a t test finds about half of the time.
Exact        Levels of single tests by binomial probabilities, as multiples of alpha, for the alpha
             of a comparison and of one commit of 50 and of 100: +1 or -1 on 20 % of the queries or
             on all, and sizes that no two sums share.
Given        Exact levels at 0.05 if so many queries differ, all by one size.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from gate_simulation import lined
from models import at_least_1
from simulated_changes import lopsided
from stated_power import MOVES, OFTEN

from idealrank.data.types import FloatArray

ALPHA, DRAWS, BATCH = 0.05, 1999, 100
FAMILIES = (3, 10)
QUERIES = (10, 25, 50, 250)
SPENT = (ALPHA, ALPHA / 50, ALPHA / 100)  # alpha of one look, and of a commit in a series
DIFFER = tuple(range(4, 13))
MOST = 1.1  # level that mid-p may have in a cell, as a multiple of alpha

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


def _all_binary(rng: np.random.Generator, shape: Shape) -> FloatArray:
    return _signs(rng, shape)


def _tenths(rng: np.random.Generator, shape: Shape) -> FloatArray:
    return np.rint(rng.normal(0, 1.2, shape)) / 10


def _ranks(rng: np.random.Generator, shape: Shape) -> FloatArray:
    sizes = rng.choice(MOVES, p=OFTEN, size=shape)
    return _some(rng, shape, 0.4, sizes * _signs(rng, shape))


def _heavy(rng: np.random.Generator, shape: Shape) -> FloatArray:
    large = rng.random(shape) < 0.02
    return np.where(large, 0.9 * _signs(rng, shape), rng.normal(0, 0.02, shape))


def _skewed(rng: np.random.Generator, shape: Shape) -> FloatArray:
    return -lopsided(shape, rng, 1.0)


def _rare(rng: np.random.Generator, shape: Shape) -> FloatArray:
    return np.where(rng.random(shape) < 0.05, -0.38, 0.02)


SYMMETRIC: dict[str, Draw] = {
    "normal": _normal,
    "80 % zeros": _zeros,
    "80 % zeros, +-1": _binary,
    "+-1 on all": _all_binary,
    "tenths": _tenths,
    "moves of a rank": _ranks,
    "heavy tail": _heavy,
}
LOPSIDED: dict[str, Draw] = {"15 % large losses": _skewed, "5 % lose 0.38": _rare}
LAWS = SYMMETRIC | LOPSIDED
TESTS = ("one-sided", "two-sided", *(f"max-T of {family}" for family in FAMILIES))


def values_of(
    differences: FloatArray, signs: FloatArray
) -> dict[str, tuple[FloatArray, FloatArray]]:
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
    statistics = {"one-sided": (flipped[..., 0].copy(), observed[:, 0].copy())}
    np.abs(flipped, out=flipped)
    np.abs(observed, out=observed)
    for name, family in zip(TESTS[1:], (1, *FAMILIES), strict=True):
        statistics[name] = (flipped[..., :family].max(axis=2), observed[:, :family].max(axis=1))
    every = len(signs) == 1 << queries
    return {
        name: _values(drawn, seen, 0 if every else 1) for name, (drawn, seen) in statistics.items()
    }


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


class Shares(NamedTuple):
    """Shares of sets that a test finds significant, without and with a true difference."""

    p: float
    mid_p: float
    p_effect: float
    mid_p_effect: float


def shares(name: str, queries: int, sets: int, seed: int) -> dict[str, Shares]:
    """Share of sets that each test finds significant; of lopsided laws, only without a
    difference.
    """
    rng = np.random.default_rng((seed, list(LAWS).index(name), queries))
    found: dict[str, list[tuple[FloatArray, ...]]] = {test: [] for test in TESTS}
    for _ in range(-(-sets // BATCH)):
        drawn = LAWS[name](rng, (queries, BATCH, max(FAMILIES)))
        signs = signs_of(queries, rng)
        # The effect turns losses into gains: zeros, sizes and the grid stay.
        turned = np.where(
            rng.random(drawn.shape) < half_found(queries, drawn), np.abs(drawn), drawn
        )
        without, with_effect = (values_of(differences, signs) for differences in (drawn, turned))
        for test in TESTS:
            found[test].append((*without[test], *with_effect[test]))
    return {
        test: Shares(
            *(float((np.concatenate(part) <= ALPHA).mean()) for part in zip(*parts, strict=True))
        )
        for test, parts in found.items()
    }


def half_found(queries: int, drawn: FloatArray) -> float:
    """Share of losses to turn for a t statistic of 2 on average."""
    share = 2 * float(np.sqrt((drawn**2).mean())) / (np.sqrt(queries) * float(np.abs(drawn).mean()))
    return min(share, 0.95)


class Levels(NamedTuple):
    """Exact levels of p and mid-p."""

    p: float
    mid_p: float


def given(differ: int, sides: int, alpha: float = ALPHA) -> Levels:
    """Exact levels if so many queries differ by one size."""
    gains = np.arange(differ + 1)
    chances = (
        np.array([math.comb(differ, gain) for gain in gains.tolist()], np.float64) / 2.0**differ
    )
    statistic = np.abs(2 * gains - differ) if sides == 2 else gains
    larger, reached = (
        np.array([chances[compare(statistic, value)].sum() for value in statistic])
        for compare in (np.greater, np.greater_equal)
    )
    return Levels(
        *(float(chances[values <= alpha].sum()) for values in (reached, (larger + reached) / 2))
    )


def zeros_and_ones(queries: int, sides: int, alpha: float) -> Levels:
    """Exact levels if each query differs by one size with probability 0.2."""
    chances = [
        math.comb(queries, differ) * 0.2**differ * 0.8 ** (queries - differ)
        for differ in range(queries + 1)
    ]
    levels = [given(differ, sides, alpha) for differ in range(queries + 1)]
    return Levels(
        *(
            math.fsum(chance * level for chance, level in zip(chances, part, strict=True))
            for part in zip(*levels, strict=True)
        )
    )


def untied(queries: int, sides: int, alpha: float) -> Levels:
    """Exact levels if every query differs and no two sums are equal; two-sided, each ties with its
    mirror image.
    """
    rank = alpha * 2.0**queries / sides  # p of the k-th largest is k / rank times alpha
    return Levels(*(math.floor(rank + half) * sides / 2.0**queries for half in (0.0, 0.5)))


EXACT: dict[str, Callable[[int, int, float], Levels]] = {
    "80 % zeros, +-1": zeros_and_ones,
    "+-1 on all": given,
    "all differ, no ties": untied,
}


def print_simulated(arguments: argparse.Namespace) -> None:
    """Print levels and powers."""
    levels, powers = [], []
    beyond = {name: np.zeros(2, int) for name in LAWS}
    for name in LAWS:
        for queries in arguments.queries:
            found = shares(name, queries, arguments.sets, arguments.seed)
            levels.append(
                [
                    name,
                    f"{queries}",
                    *(f"{share:.3f}" for one in found.values() for share in one[:2]),
                ]
            )
            powers.append(
                [
                    name,
                    f"{queries}",
                    *(f"{share:.3f}" for one in found.values() for share in one[2:]),
                ]
            )
            beyond[name] += np.sum(
                [np.array(one[:2]) > MOST * ALPHA for one in found.values()], axis=0
            )
    head = [
        "differences",
        "queries",
        *(f"{test}, {value}" for test in TESTS for value in ("p", "mid-p")),
    ]
    symmetric = [row for row in powers if row[0] in SYMMETRIC]
    for title, body in (("levels", levels), ("power", symmetric)):
        print("\n".join([f"**{title}**", "", *lined(head, body, 1), ""]))
    for title, laws in (("symmetric", SYMMETRIC), ("lopsided", LOPSIDED)):
        above, cells = (
            sum(beyond[name] for name in laws),
            len(laws) * len(arguments.queries) * len(TESTS),
        )
        print(
            f"Above {MOST * ALPHA:g}, {title}: p in {above[0]}, mid-p in {above[1]} of "
            f"{cells} cells."
        )
    print(
        f"Standard error of a level of {ALPHA:g}: "
        f"{(ALPHA * (1 - ALPHA) / arguments.sets) ** 0.5:.3f}.\n"
    )


def print_exact(arguments: argparse.Namespace) -> None:
    """Print exact levels, of each law and of each number of queries that differ."""
    body, beyond = [], 0
    for name, law in EXACT.items():
        for alpha in SPENT:
            for queries in arguments.queries:
                ratios = [level / alpha for sides in (1, 2) for level in law(queries, sides, alpha)]
                beyond += sum(ratio > MOST for ratio in ratios[1::2])
                body.append(
                    [name, f"{alpha:g}", f"{queries}", *(f"{ratio:.2f}" for ratio in ratios)]
                )
    kinds = ["one-sided, p", "one-sided, mid-p", "two-sided, p", "two-sided, mid-p"]
    print(
        "\n".join(
            [
                "**exact, as multiples of alpha**",
                "",
                *lined(["differences", "alpha", "queries", *kinds], body, 1),
                "",
            ]
        )
    )
    print(f"Mid-p is above {MOST} in {beyond} of {2 * len(body)} cells.\n")
    exact = [
        [f"{differ}", *(f"{level:.3f}" for sides in (1, 2) for level in given(differ, sides))]
        for differ in DIFFER
    ]
    print("\n".join(["**given**", "", *lined(["differ", *kinds], exact, 0)]))


def main(asked: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sets", type=at_least_1, default=10_000, help="sets for each share (default 10000)"
    )
    parser.add_argument(
        "--queries", type=at_least_1, nargs="+", default=list(QUERIES), help="queries"
    )
    parser.add_argument(
        "--seed", type=int, default=15, help="the same seed, the same numbers (default 15)"
    )
    arguments = parser.parse_args(asked)
    print_simulated(arguments)
    print_exact(arguments)


if __name__ == "__main__":
    main()
