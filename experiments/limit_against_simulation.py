"""Every limit of the theory, the pseudo-expectation N with and without its correction, and
simulated means side by side.

Where      Theorems 4, 7, 9 and 11 to 17 and Definition 20 of Wang et al. (2013); the linear
discount of Jin and Geng. Printed    The limits, and N = int_1^cn ybar(1 - s/n) D(s) ds / F(n min(c,
p)) as what NDCG is like at a finite n. Found      The limits hold. Some are very far away: by the
theorem on the logarithm everything tends to 1, and at n = 10^6 a bad ranker
           has 0.91. N leaves out what a sum over ranks has beyond the integral, kappa; the
           corrected N* has it in numerator and denominator, and there is no bias left that the
           simulation could see from n = 10^4 on.
Shown by   z = (mean - N*) / standard error, which should look like standard normal numbers, beside
z of N. Rows of one model and one n
           are about the same lists, so their z go together.
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from models import GRADED, MODELS, decades, options, progress_line

from idealrank.theory import RelevanceModel, limit, pseudo_expectation, simulate_many

BINARY = {
    "Theorem 4": ("log2", None),
    "Theorem 7": ("zipf(0.5)", None),
    "Theorem 7, b=.8": ("zipf(0.8)", None),
    "Theorem 9": ("zipf(1)", None),
    "Theorem 11": ("log2", "sqrt(n)"),
    "Theorem 12": ("log2", "0.2n"),
    "Theorem 12, c=.7": ("log2", "0.7n"),
    "Theorem 13": ("zipf(0.5)", "0.2n"),
    "Theorem 13, c=.7": ("zipf(0.5)", "0.7n"),
}
WITH_GRADES = {
    "Theorem 4": ("log2", None),
    "Theorem 14": ("zipf(0.5)", None),
    "Theorem 14, b=.25": ("zipf(0.25)", None),
    "Theorem 15": ("log2", "sqrt(n)"),
    "Theorem 16": ("log2", "0.1n"),
    "Theorem 16, c=.6": ("log2", "0.6n"),
    "Theorem 17": ("zipf(0.5)", "0.1n"),
    "Theorem 17, c=.6": ("zipf(0.5)", "0.6n"),
    "1/r with grades": ("zipf(1)", None),
}


class Row(NamedTuple):
    """One mean and what it is compared with; NaN where there is no N."""

    case: str
    model: str
    n: int
    limit: float
    plain: float
    corrected: float
    mean: float
    error: float

    def z(self, value: float) -> float:
        """How many standard errors the mean is above a value; 0 where both are the same and nothing
        varies.
        """
        return (self.mean - value) / self.error if self.error else 0.0


def rows(
    name: str, model: RelevanceModel, cases: dict[str, Any], arguments: argparse.Namespace
) -> Iterator[Row]:
    """All cases of one model at growing n."""
    for n in decades(arguments.largest):
        runs = max(round(arguments.runs * min(1.0, 1000 / n) ** 0.5), min(arguments.runs, 40))
        values = simulate_many(
            model,
            n,
            runs,
            cases.values(),
            rng=[arguments.seed, *name.encode(), n],
            threads=arguments.threads,
            progress=progress_line(f"{name}, n = {n:,}"),
        )
        for (case, (discount, cutoff)), column in zip(cases.items(), values.T, strict=True):
            end = limit(model, discount=discount, cutoff=cutoff).value
            found = [np.nan, np.nan]
            if discount != "linear":
                found = [
                    pseudo_expectation(model, n, discount=discount, cutoff=cutoff, corrected=flag)
                    for flag in (False, True)
                ]
            yield Row(case, name, n, end, *found, column.mean(), column.std(ddof=1) / np.sqrt(runs))


def table(title: str, found: list[Row]) -> str:
    """For people."""
    lines = [
        title,
        f"  {'':18} {'model':10} {'n':>9}  {'limit':>8}  {'N':>8}  {'N*':>8}  {'mean':>8}  "
        f"{'error':>8}  {'z of N*':>7}  {'z of N':>7}",
    ]
    for row in found:
        numbers = "  ".join(
            f"{value:8.6f}" for value in (row.limit, row.plain, row.corrected, row.mean, row.error)
        )
        lines.append(
            f"  {row.case:18} {row.model:10} {row.n:9,}  {numbers}  "
            f"{row.z(row.corrected):+7.1f}  {row.z(row.plain):+7.1f}"
        )
    return "\n".join(lines)


def summary(found: list[Row]) -> str:
    """How the z values are spread, and how far the limits are."""
    late = [row for row in found if row.n >= 10_000]
    lines = []
    for name, zs in (
        ("N*", [row.z(row.corrected) for row in late]),
        ("N", [row.z(row.plain) for row in late]),
    ):
        if zs:
            text = (
                f"mean {np.mean(zs):+.2f}, standard deviation {np.std(zs):.2f}, largest "
                f"{np.abs(zs).max():.1f}"
            )
            lines.append(f"z of {name}, over {len(zs)} rows with n of 10,000 or more: {text}")
    for case in dict.fromkeys(row.case for row in found):
        sizes = sorted({row.n for row in found})
        gaps = [
            max(abs(row.mean - row.limit) for row in found if (row.case, row.n) == (case, n))
            for n in sizes
        ]
        lines.append(
            f"  {case:18} largest |mean - limit| at {'/'.join(f'{n:,}' for n in sizes)}: "
            f"{' / '.join(f'{gap:.4f}' for gap in gaps)}"
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__ or "", runs=4000, seed=43, largest=100_000)
    parser.description = (
        f"{parser.description}\n--runs are those at n = 1,000; for 100 times that length there "
        f"are a tenth, but 40 at least."
    )
    arguments = parser.parse_args(argv)
    names = ("LIN", "POW", "LOGI", "RAND", "ANTI", "COI0", "COI1")
    binary = [row for name in names for row in rows(name, MODELS[name].made(), BINARY, arguments)]
    print(table("Relevant or not", binary), summary(binary), sep="\n", end="\n\n")
    graded: list[Row] = []
    for gain, label in (("linear", "gain y"), ("exp2", "gain 2^y-1")):
        graded.extend(rows(label, RelevanceModel.of(GRADED, gain=gain), WITH_GRADES, arguments))
    print(
        table("Grades: P(Y=1|s) = 0.2 + 0.2 s, P(Y=2|s) = 0.05 + 0.35 s^2", graded),
        summary(graded),
        sep="\n",
        end="\n\n",
    )
    print(
        "Linear NDCG, weight n - r: tends to int ybar(s) s ds / (p - p^2/2), which is not in "
        "the papers"
    )
    for name in ("LIN", "POW", "RAND", "ANTI"):
        for row in rows(name, MODELS[name].made(), {"linear": ("linear", None)}, arguments):
            print(
                f"  {name:6} {row.n:9,}  limit {row.limit:.6f}  mean {row.mean:.6f}  error "
                f"{row.error:.6f}  z {row.z(row.limit):+.1f}"
            )


if __name__ == "__main__":
    main()
