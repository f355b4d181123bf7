"""Where NDCG with the discount r^-b cannot decide although condition 2 of Theorem 8 says it does.

Where      Theorem 8, condition 2, and Lemma 34 of Wang et al. (2013): discount r^-b, 0 < b < 1, two
rankers with equal limits. Printed    If the difference of ybar is Hoelder continuous with alpha > 3
(1 - b) and is not 0 at s = 1, NDCG tells the rankers apart
           consistently: from some N on the sign of the difference stays.
Found      It does not. A function that is not constant has alpha <= 1, so for b <= 2/3 (the r^-1/2
of Figure 2 among them) the condition
           is empty. For b > 2/3 the sum of r^-2b converges: the first ranks keep their noise for
           ever, and it is as large as the difference. n^(1-b) (NDCG_0 - NDCG_1) tends to a random
           W, a positive constant times

               zeta(b) (ybar_0(1) - ybar_1(1)) + sum over r of r^-b (e_0r - e_1r),

           where 1 - b > 0 makes zeta(b) < 0, and e_ir is a coin with chance ybar_i(1) less that
           chance. P(W > 0) is neither 0 nor 1.
Shown by   This limit law, which is an argument and no written-out proof, and simulation under
scores that are independent given the
           relevance of a document. For two rankers with b = 0.8, alpha = 1 > 0.6 and ybar(1) 0.05
           apart; and for b = 1/2, where the noise of the first n ranks even grows like sqrt(ln n),
           so that the difference becomes a fair coin. Condition 1 is not touched.
"""

import argparse
import math
from collections.abc import Sequence

import numpy as np
from models import Model, options, pair, sign_rows, signs
from scipy.special import zeta
from scipy.stats import norm

from idealrank.theory import limit

# ranks whose coins are taken one by one; the rest is a normal number of their variance
EXACT_RANKS = 500
# where the characteristic function is taken; at 40 it is below 1e-12
TIMES = np.arange(1, 2001) * 0.02


def chance_of_a_positive_limit(first: Model, second: Model, beta: float) -> float:
    """P(W > 0) for b > 1/2, by the inversion of W's characteristic function (Gil-Pelaez)."""
    chances = [model.made().at_top for model in (first, second)]
    drift = float(zeta_below_1(beta)) * (chances[0] - chances[1])
    ranks = np.arange(1, EXACT_RANKS + 1.0)
    rest = sum(p * (1 - p) for p in chances) * float(zeta(2 * beta, EXACT_RANKS + 1.0))
    logarithm = -0.5 * rest * TIMES**2 + 1j * drift * TIMES
    for sign, p in zip((1, -1), chances, strict=True):
        for weight in ranks**-beta:
            angle = 1j * sign * weight * TIMES
            logarithm += np.log(1 - p + p * np.exp(angle)) - p * angle
    inner = np.exp(logarithm).imag / TIMES  # its value at 0 is the mean of W
    return float(0.5 + TIMES[0] * (drift / 2 + inner.sum()) / np.pi)


def zeta_below_1(beta: float) -> float:
    """Riemann's zeta for 0 < b < 1 by the Euler-Maclaurin formula; negative."""
    m = 200
    head = math.fsum(r**-beta for r in range(1, m))
    return head + m ** (1 - beta) / (beta - 1) + m**-beta / 2 + beta * m ** (-beta - 1) / 12


def fair_in_the_end(first: Model, second: Model, n: int) -> float:
    """The chance that the first ranker is ahead under r^-1/2 with equal limits, to the first order
    in 1/sqrt(ln n).
    """
    chances = [model.made().at_top for model in (first, second)]
    variance = sum(p * (1 - p) for p in chances) * (math.log(n) + np.euler_gamma)
    return float(norm.cdf(zeta_below_1(0.5) * (chances[0] - chances[1]) / math.sqrt(variance)))


def condition() -> list[str]:
    """For which b the condition can hold at all."""
    rows = [
        "The condition asks for alpha > 3 (1 - b); a function that is not constant has alpha <= 1:"
    ]
    for beta in (0.25, 0.5, 2 / 3, 0.7, 0.8, 0.9):
        needed = 3 * (1 - beta)
        rows.append(
            f"  b = {beta:.3f}  alpha > {needed:.2f}  "
            f"{'can hold' if needed < 1 - 1e-12 else 'empty'}"
        )
    return rows


def found(name: str, beta: float, arguments: argparse.Namespace) -> list[str]:
    """One pair with equal limits under r^-b, and the logarithm beside it, under which its sign
    settles.
    """
    first, second = pair(name)
    limits = [limit(model.made(), discount=f"zipf({beta})").value for model in (first, second)]
    apart = first.made().at_top - second.made().at_top
    tables = signs(
        name, {f"r^-{beta:g}": (f"zipf({beta})", None), "log": ("log2", None)}, arguments
    )
    return [
        f"Pair {name}: {first.formula} against {second.formula}; limits {limits[0]:.12f} and "
        f"{limits[1]:.12f} under r^-{beta:g},",
        f"ybar(1) is {apart:.2f} apart",
        *sign_rows(tables, arguments.largest),
    ]


def main(argv: Sequence[str] | None = None) -> None:
    arguments = options(__doc__ or "", runs=400, seed=8, largest=100_000).parse_args(argv)
    print(
        "Printed: with equal limits, alpha > 3 (1 - b) and ybar_0(1) != ybar_1(1), the sign "
        "of NDCG_0 - NDCG_1 settles."
    )
    print("Found: it does not.\n")
    print("\n".join(condition()) + "\n")
    print("\n".join(found("G", 0.8, arguments)))
    print(
        f"  as n grows, by the limit law: P(W > 0) = "
        f"{chance_of_a_positive_limit(*pair('G'), 0.8):.4f} under r^-0.8\n"
    )
    print("\n".join(found("C", 0.5, arguments)))
    for n in (arguments.largest, 10**12):
        print(
            f"  by the limit law, first order: {fair_in_the_end(*pair('C'), n):.3f} at n = "
            f"{n:,} under r^-0.5, 1/2 in the end"
        )


if __name__ == "__main__":
    main()
