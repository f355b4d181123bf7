"""What Theorem 10 means in numbers: for 2^-r and for a constant cutoff NDCG does not settle, and
where its assumption is needed.

Where      Theorem 10 of Wang et al. (2013): discounts with a finite sum, and constant cutoffs.
Printed    NDCG does not converge, if the chance of relevance stays between delta and 1 - delta, and
such measures do not tell rankers
           apart consistently.
Found      True, and the size can be said. Under 2^-r the standard deviation of NDCG tends to sqrt(y
(1 - y)/3), y = ybar(1): the first
           ranks are coins, and the sum of 4^-r is 1/3. With k = 10 and the logarithm it is sqrt(y
           (1 - y) S_2)/S_1, with the sums of the ten weights and of their squares. The probability
           that 2^-r puts the first ranker ahead tends to

               y_0 (1 - y_1) / (y_0 (1 - y_1) + y_1 (1 - y_0)),

           for the first rank at which the two rankers differ decides. The assumption on delta is
           needed: s^2, with ybar(1) = 1, converges.
Shown by   The argument above, and simulation.
"""

import argparse
import math
from collections.abc import Sequence

import numpy as np
from models import MODELS, Model, decades, options, pair, progress_line, signs

from idealrank.theory import simulate_many

WEIGHTS = 1 / np.log2(np.arange(2, 12))  # of ranks 1 to 10
MEASURES = {"2^-r": ("geometric(2)", None), "log@10": ("log2", 10)}


def deviation(y: float, label: str) -> float:
    """What the standard deviation tends to."""
    share = 1 / 3 if label == "2^-r" else float((WEIGHTS**2).sum() / WEIGHTS.sum() ** 2)
    return math.sqrt(y * (1 - y) * share)


def preference(first: Model, second: Model) -> float:
    """The probability that 2^-r puts the first ranker ahead, as n grows."""
    y0, y1 = (model.made().at_top for model in (first, second))
    return y0 * (1 - y1) / (y0 * (1 - y1) + y1 * (1 - y0))


def deviations(arguments: argparse.Namespace) -> list[str]:
    """Mean and standard deviation at growing n."""
    rows = [
        f"  {'model':6} {'measure':8} {'n':>9}  {'mean':>8}  {'sd':>8}  {'its error':>9}  "
        f"{'sd as n grows':>13}"
    ]
    for name in ("LIN", "RAND", "POW"):
        model = MODELS[name]
        for n in decades(arguments.largest):
            values = simulate_many(
                model.made(),
                n,
                arguments.runs,
                MEASURES.values(),
                rng=[arguments.seed, ord(name[0]), n],
                threads=arguments.threads,
                progress=progress_line(f"{name}, n = {n:,}"),
            )
            for label, column in zip(MEASURES, values.T, strict=True):
                spread = column.std()
                fourth = ((column - column.mean()) ** 4).mean()
                error = (
                    math.sqrt(max(fourth - spread**4, 0) / column.size) / (2 * spread)
                    if spread
                    else 0.0
                )
                tends = deviation(model.made().at_top, label)
                rows.append(
                    f"  {name:6} {label:8} {n:9,}  {column.mean():8.5f}  {spread:8.5f}  "
                    f"{error:9.5f}  {tends:13.5f}"
                )
    return rows


def preferences(arguments: argparse.Namespace) -> list[str]:
    """How often 2^-r puts the first ranker ahead."""
    rows = [f"  {'pair':5} {'n':>9}  {'first ranker ahead':>22}  as n grows"]
    for name in ("A", "E", "G"):
        table = signs(name, {"2^-r": MEASURES["2^-r"]}, arguments, decades(arguments.largest))[
            "2^-r"
        ]
        for size, ahead, (low, high) in zip(
            table.sizes, table.share("a_better"), table.interval("a_better"), strict=True
        ):
            rows.append(
                f"  {name:5} {size:9,}  {ahead:.3f} [{low:.3f}, {high:.3f}]  "
                f"{preference(*pair(name)):.4f}"
            )
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    arguments = options(__doc__ or "", runs=2000, seed=10, largest=100_000).parse_args(argv)
    print(
        "Printed: discounts with a finite sum and constant cutoffs give no limit and tell no "
        "rankers apart consistently."
    )
    print("Found: so it is, unless ybar(1) is 0 or 1.\n")
    print("The standard deviation of NDCG does not shrink; that of POW, with ybar(1) = 1, does:")
    print("\n".join(deviations(arguments)))
    print("\nWhich ranker 2^-r puts ahead stays a coin, though not a fair one:")
    print("\n".join(preferences(arguments)))


if __name__ == "__main__":
    main()
