"""Lemma 22: the coefficient needs a factor 1/p, and its power of the logarithm is never 0.

Where      Lemma 22 and eq. (25) of Wang et al. (2013). Printed    N_0 - N_1 behaves like a / ln^K
n, with a = (-1)^K int Dybar(1 - u) ln^K u du, Dybar = ybar_0 - ybar_1, and K a nonnegative
           integer, the smallest for which a is not 0.
Found      The coefficient is a / p. And K >= 1: for K = 0 the integral is p - p = 0, since both
rankers order the same documents. Neither
           touches what the lemma is used for, the sign.
Shown by   ln^K n (N_0 - N_1), by Definition 20, for three pairs of rankers and n up to 10^1000: it
tends to a / p, not to a.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from idealrank.theory import Expansion, RelevanceModel, expansion

DIGITS = (3, 6, 20, 100, 300, 1000)
PAIRS = {
    "0.1 + 0.8 s against 0.5": (lambda s: 0.1 + 0.8 * s, lambda s: 0.5 + 0 * s),
    "0.7 - 1.6 u + 1.8 u^2 against 0.5": (
        lambda s: 0.7 - 1.6 * (1 - s) + 1.8 * (1 - s) ** 2,
        lambda s: 0.5 + 0 * s,
    ),
    "0.7 - 1.6 u + 1.5 u^2 against 0.6 - 0.4 u": (
        lambda s: 0.7 - 1.6 * (1 - s) + 1.5 * (1 - s) ** 2,
        lambda s: 0.6 - 0.4 * (1 - s),
    ),
}


def sequence(found: Expansion) -> list[float]:
    """ln^K n (N_0 - N_1) for n = 10^3 .. 10^1000."""
    return [found.scaled(10**k) for k in DIGITS]


def nought(name: str) -> float:
    """int Dybar(1 - u) du: what K = 0 would need to be other than 0."""
    first, second = (RelevanceModel.of(ybar).share for ybar in PAIRS[name])
    return first - second


def main(argv: Sequence[str] | None = None) -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args(argv)
    print(__doc__)
    print("n = " + ", ".join(f"10^{k}" for k in DIGITS))
    for name, (ybar0, ybar1) in PAIRS.items():
        found = expansion(ybar0, ybar1)
        print(
            f"\n{name}: p = {found.p:g}, integral for K = 0: {nought(name):.1e}, so K = "
            f"{found.order}"
        )
        print("  ln^K n (N_0 - N_1):  " + "  ".join(f"{value:.5f}" for value in sequence(found)))
        print(f"  a as printed {found.without_p:.5f}, a / p {found.coefficient:.5f}")
        nearer = np.abs(
            np.array(sequence(found))[-1] - np.array([found.without_p, found.coefficient])
        ).argmin()
        print(f"  the last is nearer to {('a', 'a / p')[nearer]}")


if __name__ == "__main__":
    main()
