"""Lemma 23: the exponent is min(alpha/3, 1/3) at best, not min(alpha/3, 1).

Where      Lemma 23 of Wang et al. (2013). Printed    NDCG differs from its pseudo-expectation by
order n^-min(alpha/3, 1), for ybar Hoelder continuous of exponent alpha. Found      Eq. (31) of its
proof gives F(n)^(-1/3) besides, so min(alpha/3, 1/3) up to logarithms under the logarithmic
discount. A
           constant ybar is Hoelder continuous of any exponent; for it the printed rate is 1/n,
           which neither the mean of NDCG nor the spread of single lists allows.
Shown by   ybar = 1/2, exactly and without simulation: given that l of n documents are relevant,
every choice of l ranks is alike, so that
           the mean of NDCG is l mean(D) / (D(1) + ... + D(l)), and its variance that of a sample
           without replacement; then l is binomial. N is Definition 20's. Were the rate 1/n, the
           columns n |E - N| and n sd would stay bounded. They grow.
"""

import argparse
import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.stats import binom

from idealrank.theory import pseudo_expectation

SIZES = (10**2, 10**3, 10**4, 10**5, 10**6)
DISCOUNTS = ("log2", "zipf(0.5)")
SHARE = 0.5


def weights(discount: str, n: int) -> np.ndarray:
    """D(1), ..., D(n), but for a factor."""
    ranks = np.arange(1.0, n + 1)
    return 1 / np.log1p(ranks) if discount == "log2" else ranks**-0.5


@cache
def mean_and_spread(discount: str, n: int) -> tuple[float, float]:
    """E[NDCG] and its standard deviation over lists of n with at least one relevant document."""
    weight, counts = weights(discount, n), np.arange(1, n + 1)
    ideal, chance = np.cumsum(weight), binom.pmf(counts, n, SHARE)
    chance = chance / chance.sum()
    means = counts * weight.mean() / ideal
    variances = (
        counts * (n - counts) / (n * (n - 1.0)) * ((weight - weight.mean()) ** 2).sum() / ideal**2
    )
    mean = float((chance * means).sum())
    return mean, math.sqrt(float((chance * (variances + (means - mean) ** 2)).sum()))


def rows(discount: str) -> list[tuple[int, float, float]]:
    """The length, |E[NDCG] - N| and the standard deviation of NDCG."""
    found = []
    for n in SIZES:
        mean, spread = mean_and_spread(discount, n)
        found.append(
            (
                n,
                abs(
                    mean - pseudo_expectation(lambda s: SHARE + 0 * s, n, discount, corrected=False)
                ),
                spread,
            )
        )
    return found


def exponents(discount: str) -> tuple[float, float]:
    """Of both columns as powers of n, over the last decade."""
    (n, gap, spread), (longer, smaller, narrower) = rows(discount)[-2:]
    decades = math.log(longer / n)
    return math.log(smaller / gap) / decades, math.log(narrower / spread) / decades


def main(argv: Sequence[str] | None = None) -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args(argv)
    print(__doc__)
    for discount in DISCOUNTS:
        print(
            f"discount {discount}\n{'n':>8}  {'|E - N|':>10}  {'n |E - N|':>10}  {'sd':>10}  "
            f"{'n sd':>10}"
        )
        for n, gap, spread in rows(discount):
            print(f"{n:8}  {gap:10.3e}  {n * gap:10.3f}  {spread:10.3e}  {n * spread:10.3f}")
        print(
            "powers of n over the last decade: {:.3f} for |E - N|, {:.3f} for sd; printed: "
            "-1\n".format(*exponents(discount))
        )


if __name__ == "__main__":
    main()
