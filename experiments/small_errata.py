"""Small slips in Wang et al. (2013) that a number shows. Each has a repair, which is given.

For every slip: where it stands, what is printed (in short), what was found, and the numbers that
show it. D(r) = 1/ln(1 + r) unless a line says otherwise, F(t) = int_1^t D.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.errors import OptionError
from idealrank.theory import limit, pseudo_expectation
from idealrank.theory.decay import decay_of

# powers of u = 1 - s: the r^-1/2 limits of these two rankers coincide
COI0, COI1 = (0.7, -1.6, 1.5), (0.6, -0.4)


@dataclass(frozen=True)
class Slip:
    """One of them."""

    where: str
    printed: str
    found: str
    shown: dict[str, float]


def weights(n: int, beta: float = 0.0) -> np.ndarray:
    """1/ln(1 + r) for beta = 0, else r^-beta, for r = 1 .. n."""
    ranks = np.arange(1.0, n + 1)
    return ranks**-beta if beta else 1 / np.log1p(ranks)


def mean_dcg(coefficients: tuple[float, ...], n: int, beta: float) -> float:
    """E[DCG], rank by rank: E[U_(r)^k] = r (r + 1) ... (r + k - 1) / ((n + 1) ... (n + k)) for the
    r-th smallest of n uniforms.
    """
    ranks, power, chance = np.arange(1.0, n + 1), np.ones(n), np.zeros(n)
    for k, coefficient in enumerate(coefficients):
        chance += coefficient * power
        power = power * (ranks + k) / (n + 1 + k)
    return float((weights(n, beta) * chance).sum())


def squares() -> Slip:
    """D(1) is above 1."""
    first = 1 / math.log(2)
    return Slip(
        "eq. (30)",
        "D(r)^2 <= D(r) for all r",
        "false at r = 1, where D is 1/ln 2 > 1; it holds from r = 2 on. The sum of squares "
        "needs a constant more",
        {
            "D(1)": first,
            "D(1)^2": first**2,
            "D(2)": 1 / math.log(3),
            "D(2)^2": 1 / math.log(3) ** 2,
        },
    )


def sums(n: int = 1000) -> Slip:
    """A falling function's sum is above its integral."""
    integral = float(decay_of("log2").integral(np.array([float(n)]))[0])
    return Slip(
        "Claim 31 (sixth line) and eq. (30)",
        "the sum of D over ranks is bounded by F(n)",
        "D falls, so even the sum over r < n is at least F(n); the bound that holds is F(n) + D(1)",
        {
            f"sum of D(r), r < {n}": float(weights(n - 1).sum()),
            f"F({n})": integral,
            f"F({n}) + D(1)": integral + 1 / math.log(2),
        },
    )


def constant(n: int = 10**6, beta: float = 0.5) -> Slip:
    """What Definition 20 leaves out at the top is of the order of the difference itself."""
    polynomials = [np.polynomial.Polynomial(coefficients) for coefficients in (COI0, COI1)]
    differences = {}
    for corrected, name in ((False, "N_0 - N_1"), (True, "N*_0 - N*_1")):
        first, second = (
            pseudo_expectation(lambda s, at=at: at(1 - s), n, f"zipf({beta})", corrected=corrected)  # type: ignore[misc]
            for at in polynomials
        )
        differences[name] = first - second
    ideal = float(weights(round(0.4 * n), beta).sum())
    differences["sum over ranks: (E[DCG_0] - E[DCG_1]) / ideal DCG of n p"] = (
        mean_dcg(COI0, n, beta) - mean_dcg(COI1, n, beta)
    ) / ideal
    zeta = decay_of(f"zipf({beta})").kappa - 1 / (1 - beta)
    return Slip(
        "Lemma 33, proof",
        "F(np) = (np)^(1-b)/(1-b); and N_0 - N_1 in place of the difference of the means",
        "F has another -1/(1-b), and where limits coincide this constant decides: the means "
        "have zeta(b) there, since sums over ranks are "
        "not integrals. The pair 0.7 - 1.6 u + 1.5 u^2 and 0.6 - 0.4 u under r^-1/2, n = 10^6",
        {"-1/(1-b)": -1 / (1 - beta), "zeta(b)": zeta, **differences},
    )


def sign() -> Slip:
    """Half of a negative number is no bound."""
    return Slip(
        "Lemma 33, proof",
        "delta = Dybar(1)/2",
        "delta = |Dybar(1)|/2: with the two rankers exchanged Dybar(1) is negative",
        {"Dybar(1)": COI0[0] - COI1[0], "exchanged": COI1[0] - COI0[0]},
    )


def unbounded() -> Slip:
    """It is the sum that grows."""
    return Slip(
        "Theorem 15",
        "D(r) and k grow unboundedly",
        "the sum of D(r) and k do; D(r) itself falls to 0",
        {"D(10^6)": 1 / math.log1p(1e6), "sum of D(r), r <= 10^6": float(weights(10**6).sum())},
    )


def divisor(n: int = 10**6) -> Slip:
    """The mean weight tends to 0."""
    weight = weights(n)
    return Slip(
        "Claim 27, proof",
        "DCG / l",
        "DCG over the sum of D(r), r <= l: over l it tends to 0 for every ranker. With all of "
        "l = 10^6 documents relevant",
        {
            "DCG / l": float(weight.sum()) / n,
            "DCG / sum of D(r), r <= l": float(weight.sum() / weight.sum()),
        },
    )


def nothing() -> Slip:
    """No relevant document at all."""
    try:
        found = limit(lambda s: 0 * s).value
    except OptionError:
        found = math.nan
    return Slip(
        "Theorem 4, proof",
        "for p = 0 it trivially holds",
        "for p = 0 NDCG is 0/0 on every list and has no limit; p > 0 is a condition (E[Y] > 0 "
        "and Y >= 0 for grades)",
        {"limit for p = 0 (nan: refused)": found},
    )


def ties(share: float = 0.5) -> Slip:
    """Canonical scores of a ranker that gives half of all documents one score and half another."""
    below = np.array([0.0, share])  # share of documents that score lower
    masses = np.array([share, 1 - share])
    return Slip(
        "Lemma 3",
        "the canonical score f~(X) is uniform on [0, 1] for every f",
        "for every f whose scores f(X) have no atoms. With tied scores it takes jumps; ties "
        "broken at random make it uniform again",
        {"mean of f~ with two scores": float((below * masses).sum()), "mean if uniform": 0.5},
    )


def slips() -> list[Slip]:
    """All of them."""
    return [squares(), sums(), constant(), sign(), unbounded(), divisor(), nothing(), ties()]


def main(argv: Sequence[str] | None = None) -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args(argv)
    print(__doc__)
    for slip in slips():
        print(f"{slip.where}\n  printed  {slip.printed}\n  found    {slip.found}")
        for name, value in slip.shown.items():
            print(f"  shown    {name} = {value:.9g}")
        print()


if __name__ == "__main__":
    main()
