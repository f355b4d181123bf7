"""The ranker that wins in the end can lose on every list anyone will see.

Where      Definition 5 and Lemma 22 of Wang et al. (2013): standard NDCG (discount 1/log(1 + r),
whole list) tells two rankers apart
           consistently if the sign of the difference stays the same for all n >= N.
Printed    Nothing wrong: N exists. The statement says nothing of its size. Found      N can be
astronomic. The sign "in the end" is that of the first term, a / ln n; the next, b / ln^2 n, has the
other sign and
           is the larger one until ln n passes about b / |a|.
Shown by   Two rankers of the same documents, ybar_0 = 0.7 - 1.6 u + 1.8 u^2 and ybar_1 = 0.5 - 0.4
t + 0.8 t s, with u = 1 - s. Both find
           p = 1/2. For t = 0 the first wins from the start, with K = 2; a tilt t > 0 of the second
           makes K = 1, and it wins in the end.

N_0 - N_1 is the difference of the means of NDCG by Definition 20, N*_0 - N*_1 the same with the
correction of `pseudo_expectation`; a positive number means that the ranker that loses in the end is
ahead.
"""

import argparse
import math
from collections.abc import Sequence

from scipy.optimize import brentq

from idealrank.theory import Expansion, expansion

TILTS = (0.03, 0.01)
DIGITS = (2, 3, 4, 6, 8, 9, 10, 11, 12, 15, 20, 30, 40, 100, 1000)


def pair(tilt: float) -> Expansion:
    """The two rankers."""
    return expansion(
        lambda s: 0.7 - 1.6 * (1 - s) + 1.8 * (1 - s) ** 2,
        lambda s: 0.5 - 0.4 * tilt + 0.8 * tilt * s,
    )


def turn(found: Expansion) -> float:
    """log10 of the length at which N_0 - N_1 changes its sign."""
    return float(brentq(found.difference_at, math.log(1e3), math.log(10) * 1000)) / math.log(10)


def rows(tilt: float) -> list[tuple[int, float, float]]:
    """The exponent of n = 10^k, N_0 - N_1 and N*_0 - N*_1."""
    found = pair(tilt)
    return [(k, found.difference(10**k), found.difference(10**k, corrected=True)) for k in DIGITS]


def main(argv: Sequence[str] | None = None) -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args(argv)
    print(__doc__)
    for tilt in TILTS:
        found = pair(tilt)
        print(
            f"t = {tilt:g}: K = {found.order}, coefficient a/p = {found.coefficient:.6f}, so "
            f"the second ranker wins in the end."
        )
        print(f"{'n':>7}  {'N_0 - N_1':>12}  {'N*_0 - N*_1':>12}  {'ahead':>6}")
        for k, plain, corrected in rows(tilt):
            print(
                f"{f'10^{k}':>7}  {plain:12.3e}  {corrected:12.3e}  "
                f"{'first' if plain > 0 else 'second':>6}"
            )
        print(f"The sign turns at n = 10^{turn(found):.2f}.\n")


if __name__ == "__main__":
    main()
