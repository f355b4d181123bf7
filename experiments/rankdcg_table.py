"""The test table of the rankDCG paper, worked anew, with what its text gets wrong.

Katerenchuk and Rosenberg (2016), "RankDCG: Rank-Ordering Evaluation Measure", LREC, compare four
measures on six lists of predictions for the true values L = 9 4 4 2 2 2 1 1 1 1. Each column is
computed here with idealrank's public functions, cut to three decimals as in the paper, and shown
exactly beside that.
"""

import argparse
import json
import math
import textwrap
from fractions import Fraction
from typing import Any

import numpy as np

import idealrank as ir

TRUE = [9, 4, 4, 2, 2, 2, 1, 1, 1, 1]
HYPOTHESES = [
    [9, 4, 4, 2, 2, 2, 1, 1, 1, 1],
    [9, 4, 4, 2, 2, 1, 2, 1, 1, 1],
    [4, 4, 2, 9, 2, 2, 1, 1, 1, 1],
    [1, 4, 4, 2, 2, 2, 9, 1, 1, 1],
    [1, 4, 4, 2, 2, 2, 1, 1, 1, 9],
    [1, 1, 1, 1, 2, 2, 2, 4, 4, 9],
]

# Key, and heading with the mark of the remark that belongs to it.
COLUMNS = (
    ("tau_b", "tau [b]"),
    ("avep", "AveP [c]"),
    ("value_ratio", "'nDCG' [d]"),
    ("rank_dcg", "rankDCG [a]"),
)
OTHERS = (
    ("printed_formula", "formula as printed [a]"),
    ("tau_a", "tau as printed [b]"),
    ("tau_c", "tau-c"),
    ("ndcg", "NDCG [d]"),
    ("rank_dcg_as_order", "list read as order [e]"),
)
REMARKS = {
    "a": "The formula is printed as (max - DCG') / (max - min), which is 1 - rankDCG: 0 for the "
    "best list and 1 for the worst. The column "
    "is (DCG' - min) / (max - min).",
    "b": "The formula of tau is printed without ties in its divisor (tau-a, which gives 0.777 for "
    "the true list itself). The column is "
    "tau-b; tau-c fits neither.",
    "c": "'Average precision' is the mean over k of the share of the first k places whose "
    "predicted value equals the true one exactly. "
    "No threshold makes it the average precision of retrieval.",
    "d": "The column is no NDCG: it adds up the predicted values themselves, in the order in which "
    "the list is printed, and divides by the "
    "same sum of the true values. Nothing is ranked, and values above 1 occur (1.188 and "
    "1.318 in the table 'Real data'; {ratio:g} for "
    "the true values times ten). NDCG ranks the true values by the predicted ones; with ties "
    "in the worst order it is in the second table.",
    "e": "The 'Hypothesis List' holds a predicted value for each item of L. Read as true values in "
    "the order of a ranking, row 3 would "
    "have 3/4 instead of 13/20; the other rows are the same either way.",
    "f": "In the table 'Real data', row 1 is a constant prediction: tau undefined, rankDCG 0 with "
    "ties in the worst order, as here "
    "({constant:g}). Row 4 (tau 0.5 with AveP, nDCG and rankDCG all 1) cannot be the tau-b of "
    "one list: AveP is 1 only if "
    "every predicted value equals the true one, and then tau-b is 1, or undefined if all are "
    "equal. It would fit tau-a, or a mean over "
    "lists, and is not reproduced.",
}


def positional_precision(reference: list[float], predicted: list[float]) -> Fraction:
    """Mean over k of the share of the first k places where both lists have one value."""
    equal = np.cumsum(
        [one == other for one, other in zip(reference, predicted, strict=True)]
    ).tolist()
    return sum((Fraction(found, k) for k, found in enumerate(equal, 1)), Fraction(0)) / len(equal)


def value_ratio(reference: list[float], predicted: list[float]) -> float:
    """The predicted values as gains, in the printed order, over the true ones: what the paper calls
    nDCG.
    """
    places = -np.arange(len(reference))
    return float(ir.dcg(predicted, places)[0] / ir.dcg(reference, places)[0])


def row_of(predicted: list[float]) -> dict[str, Any]:
    """Every column of one list."""
    return {
        "list": predicted,
        "tau_b": ir.kendall(TRUE, predicted, "b"),
        "avep": float(positional_precision(TRUE, predicted)),
        "value_ratio": value_ratio(TRUE, predicted),
        "rank_dcg": ir.rank_dcg(TRUE, predicted),
        "printed_formula": 1 - ir.rank_dcg(TRUE, predicted),
        "tau_a": ir.kendall(TRUE, predicted, "a"),
        "tau_c": ir.kendall(TRUE, predicted, "c"),
        "ndcg": float(ir.ndcg(TRUE, predicted, ties="worst")[0]),
        "rank_dcg_as_order": ir.rank_dcg(predicted, -np.arange(len(predicted))),
    }


def cut(value: float) -> float:
    """Three decimals, the rest cut off as in the paper; what misses a thousandth by a binary error
    is that thousandth.
    """
    return math.trunc(1000 * value + math.copysign(1e-9, value)) / 1000


def exact(key: str, value: float) -> str:
    """As a fraction where the column consists of fractions (lists of ten have small ones), else to
    twelve decimals.
    """
    if key in ("value_ratio", "ndcg"):
        return "1" if math.isclose(value, 1, rel_tol=1e-15) else f"{value:.12f}"
    return str(Fraction(value).limit_denominator(30_000))


def remarks() -> dict[str, str]:
    """The remarks, with the numbers that this script computes."""
    ratio = value_ratio(TRUE, [10 * value for value in TRUE])
    return {
        mark: text.format(ratio=ratio, constant=ir.rank_dcg(TRUE, [1] * len(TRUE)))
        for mark, text in REMARKS.items()
    }


def document() -> dict[str, Any]:
    """Everything, for programs: each column cut and exact."""
    keys = [*(key for key, _ in COLUMNS), *(key for key, _ in OTHERS)]
    rows = [row_of(predicted) for predicted in HYPOTHESES]
    return {
        "true_values": TRUE,
        "columns_of_the_paper": [key for key, _ in COLUMNS],
        "other_readings": [key for key, _ in OTHERS],
        "rows": [
            {"list": row["list"]}
            | {
                key: {"cut": cut(row[key]), "exact": exact(key, row[key]), "value": row[key]}
                for key in keys
            }
            for row in rows
        ],
        "remarks": remarks(),
    }


def cells(keys: list[str], *, join: str) -> list[list[str]]:
    """A row a list: its values, and each column cut and exact."""
    table = []
    for place, predicted in enumerate(HYPOTHESES, 1):
        row = row_of(predicted)
        shown = [(f"{cut(row[key]):.3f}", exact(key, row[key])) for key in keys]
        table.append(
            [
                str(place),
                " ".join(map(str, predicted)),
                *(join.format(short, long) for short, long in shown),
            ]
        )
    return table


def aligned(head: list[str], body: list[list[str]]) -> str:
    """Columns as wide as their longest cell."""
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    return "\n".join(
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *body]
    )


def piped(head: list[str], body: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *body])


def wrapped(mark: str, text: str) -> str:
    """A remark, 100 columns wide."""
    return textwrap.fill(text, 100, initial_indent=f"[{mark}] ", subsequent_indent="    ")


def text_of(form: str) -> str:
    """Both tables and the remarks, for people."""
    lay_out, join = (piped, "{} ({})") if form == "markdown" else (aligned, "{}  {}")
    first = lay_out(
        ["row", "hypothesis list", *(head for _, head in COLUMNS)],
        cells([key for key, _ in COLUMNS], join=join),
    )
    second = lay_out(
        ["row", "hypothesis list", *(head for _, head in OTHERS)],
        cells([key for key, _ in OTHERS], join=join),
    )
    said = [
        f"* [{mark}] {text}" if form == "markdown" else wrapped(mark, text)
        for mark, text in remarks().items()
    ]
    return "\n".join(
        [
            f"True values L: {' '.join(map(str, TRUE))}. Each cell: three decimals, cut as in "
            f"the paper; then the exact value.",
            "",
            "The columns of the paper",
            "",
            first,
            "",
            "What its text says or means instead",
            "",
            second,
            "",
            *said,
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="A letter in brackets leads from a column to a remark below the tables.\n\n"
        "examples:\n  python experiments/rankdcg_table.py\n"
        "  python experiments/rankdcg_table.py --format json | python -m json.tool",
    )
    parser.add_argument(
        "--format",
        choices=("text", "markdown", "json"),
        default="text",
        help="what is printed (default: %(default)s)",
    )
    form = parser.parse_args(arguments).format
    print(json.dumps(document(), indent=2) if form == "json" else text_of(form))


if __name__ == "__main__":
    main()
