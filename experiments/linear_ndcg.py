"""Linear NDCG as a pairwise loss: where the identity of Jin and Geng holds, where ranks begin, and
what bounds the loss.

The NDCG of the ECML/PKDD 2010 challenge gives rank i of n documents the weight n - i. Then ideal
DCG - DCG is a sum over the pairs in the wrong order, R(f). Random lists show three things: which
order of tied documents goes with which way of counting tied pairs; that ranks count from 1; and
that the number of pairs Z bounds R(f) for two grades only, where the weighted number Z_w always
does.
"""

import argparse
import json
from typing import Any

import numpy as np

import idealrank as ir

WEIGHT_OF_A_TIE = {"half": 0.5, "strict": 0.0, "weak": 1.0}
# How tied pairs count, and the order in which idealrank's DCG takes tied documents.
RULES = (
    ("strict", "best", "nothing", "higher grade first"),
    ("weak", "worst", "whole", "lower grade first"),
    ("half", "expected", "half", "mean over all orders"),
    ("strict", "input", "nothing", "as they came (a stable sort)"),
    ("strict", "worst", "nothing", "lower grade first"),
)


class Sample:
    """Random lists, one after the other: labels, scores, sizes."""

    def __init__(
        self,
        rng: np.random.Generator,
        count: int,
        longest: int,
        kind: str = "ties",
        grades: int = 0,
    ):
        self.sizes = rng.integers(2, longest + 1, count)
        parts = np.full(count, grades) if grades else rng.integers(2, 6, count)
        self.labels = np.concatenate(
            [rng.integers(0, part, size) for part, size in zip(parts, self.sizes, strict=True)]
        ).astype(float)
        if grades:  # the lowest and the highest in every list
            first = np.cumsum(self.sizes) - self.sizes
            self.labels[first], self.labels[first + 1] = 0, grades - 1
        if kind == "eighths":  # not whole, some below 0, and exact in binary
            self.labels = rng.integers(-24, 25, self.labels.size) / 8
        draw = [
            rng.permutation(size) if kind == "no ties" else rng.integers(0, size // 2 + 1, size)
            for size in self.sizes
        ]
        self.scores = np.concatenate(draw).astype(float)

    def losses_by_pairs(self, ties: str) -> Any:
        """R(f) of each list, every pair looked at."""
        cuts = np.cumsum(self.sizes)[:-1]
        lists = zip(np.split(self.labels, cuts), np.split(self.scores, cuts), strict=True)
        return np.array(
            [loss_by_pairs(labels, scores, WEIGHT_OF_A_TIE[ties]) for labels, scores in lists]
        )

    def lack(self, order: str, discount: Any = "linear") -> Any:
        """Ideal DCG - DCG of each list."""
        options = {
            "group": self.sizes,
            "discount": discount,
            "convention": "standard,negative=kept",
        }
        ideal, dcg = (
            ir.dcg(self.labels, self.labels, **options),
            ir.dcg(self.labels, self.scores, ties=order, **options),
        )
        return ideal - dcg


def loss_by_pairs(labels: Any, scores: Any, tie: float) -> float:
    """Each pair with a lower and a higher grade: 1 if the lower stands first, `tie` if the scores
    are equal, times the difference.
    """
    # row: lower grade, column: higher grade
    difference = np.maximum(labels[None, :] - labels[:, None], 0)
    ahead = scores[:, None] - scores[None, :]
    return float((difference * ((ahead > 0) + tie * (ahead == 0))).sum())


def from_zero(rank: Any, length: Any) -> Any:
    """The weight where ranks count from 0: n - (rank - 1)."""
    return length - rank + 1.0


def identity(rng: np.random.Generator, count: int, longest: int) -> list[dict[str, Any]]:
    """How many lists violate ideal DCG - DCG = R(f), under each way to take ties, and R(f) = sum of
    the losses at the thresholds.
    """
    tied, untied = Sample(rng, count, longest), Sample(rng, count, longest, "no ties")
    ratings = Sample(rng, count, longest, "eighths")
    cases = [
        ("whole grades, no ties", untied, *RULES[0]),
        *(("whole grades, ties", tied, *rule) for rule in RULES),
    ]
    cases += [("ratings in eighths, ties", ratings, *rule) for rule in RULES[:3]]
    rows = []
    for what, lists, ties, order, counts, words in cases:
        by_pairs = lists.losses_by_pairs(ties)
        parts = ir.pairwise_loss(lists.labels, lists.scores, lists.sizes, ties=ties, decompose=True)
        rows.append(
            {
                "lists": what,
                "tied_pairs_count": counts,
                "tied_documents_stand": words,
                "violations": int((lists.lack(order) != by_pairs).sum()),
                "decomposition": int((parts.losses.sum(axis=1) != by_pairs).sum()),
                "pairwise_loss": int((parts.loss != by_pairs).sum()),
            }
        )
    return rows


def base(m_most: int = 12, n_most: int = 10) -> dict[str, int]:
    """The ideal DCG of m ones and n zeros against mn + m(m - 1)/2, ranks from 1 and from 0; the
    difference to a DCG does not change.
    """
    sizes = [(m, n) for m in range(m_most + 1) for n in range(n_most + 1)]
    labels = np.concatenate([[1.0] * m + [0.0] * n for m, n in sizes])
    scores, group = (
        np.concatenate([np.arange(float(m + n)) for m, n in sizes]),
        [m + n for m, n in sizes],
    )
    closed = [m * n + m * (m - 1) / 2 for m, n in sizes]
    found, lack = {}, {}
    for name, discount in (("from_1", "linear"), ("from_0", from_zero)):
        ideal = ir.dcg(labels, labels, group=group, discount=discount)
        found[name] = int((ideal == closed).sum())
        lack[name] = ideal - ir.dcg(labels, scores, group=group, discount=discount)
    return {
        "pairs_m_n": len(sizes),
        **found,
        "differences_unlike": int((lack["from_1"] != lack["from_0"]).sum()),
    }


def bounds(rng: np.random.Generator, count: int, longest: int) -> list[dict[str, Any]]:
    """R(f) of worst orders as a share of Z and of Z_w, by the number of grades."""
    rows = []
    for grades in range(2, 7):
        lists = Sample(rng, count, max(longest, grades), grades=grades)
        parts = ir.pairwise_loss(lists.labels, -lists.labels, lists.sizes, decompose=True)
        of_pairs, of_weighted = parts.per_pair, parts.relative
        rows.append(
            {
                "grades": grades,
                "most_of_Z": of_pairs.max(),
                "above_Z": (of_pairs > 1).mean(),
                "most_of_Z_w": of_weighted.max(),
            }
        )
    return rows


def document(seed: int, count: int, longest: int) -> dict[str, Any]:
    """Everything that is found."""
    rng = np.random.default_rng(seed)
    parts = ir.pairwise_loss([0, 0, 1, 2, 2], [5, 4, 3, 2, 1], decompose=True)
    example = {
        "R": parts.loss,
        "Z": parts.pairs,
        "Z_w": parts.weighted_pairs,
        "R/Z": parts.per_pair,
        "R/Z_w": parts.relative,
    }
    found = {
        "identity": identity(rng, count, longest),
        "base": base(),
        "bounds": bounds(rng, count, longest),
        "example": example,
    }
    return {"seed": seed, "lists": count, "longest": longest} | found


def text_of(found: dict[str, Any]) -> str:
    """For people."""
    count = found["lists"]
    lines = [
        f"1. Lists of {count:,} that violate ideal DCG - DCG = R(f), R(f) counted pair by pair",
        "",
    ]
    lines.append(
        f"   {'lists':25} {'a tied pair counts':19} {'tied documents stand':30} "
        f"{'violations':>10} {'sum of R_k':>11}"
    )
    for row in found["identity"]:
        columns = (row["lists"], row["tied_pairs_count"], row["tied_documents_stand"])
        lines.append(
            f"   {columns[0]:25} {columns[1]:19} {columns[2]:30} {row['violations']:10,} "
            f"{row['decomposition']:11,}"
        )
    wrong = sum(row["pairwise_loss"] for row in found["identity"])
    lines += [
        "",
        "   The order as they came and the lowest first violate it in most lists; how many "
        "depends on how lists are drawn.",
    ]
    lines += ["   'sum of R_k': lists whose losses at the thresholds do not add up to R(f)."]
    lines += [f"   ir.pairwise_loss differs from the count of pairs in {wrong} lists.", ""]
    at = found["base"]
    lines += [
        "2. Where ranks begin: ideal DCG of m ones and n zeros against mn + m(m - 1)/2",
        "",
        f"   i from 1: equal for {at['from_1']} of {at['pairs_m_n']} pairs (m, n)",
        f"   i from 0: equal for {at['from_0']} of {at['pairs_m_n']} (those with m = 0); it "
        f"is mn + m(m + 1)/2",
        f"   ideal DCG - DCG of the worst order: unlike for {at['differences_unlike']}, so "
        f"R(f) does not depend on it, and NDCG does",
        "",
        "3. Worst orders: R(f) as a share of Z = sum |S_a||S_b| and of Z_w = sum (b - a)|S_a||S_b|",
        "",
        "   grades   most of Z   lists above Z   most of Z_w",
    ]
    for row in found["bounds"]:
        lines.append(
            f"   {row['grades']:6} {row['most_of_Z']:11.4f} {row['above_Z']:15.1%} "
            f"{row['most_of_Z_w']:13.4f}"
        )
    shares = found["example"]
    lines += [
        "",
        f"   Reversed [0, 0, 1, 2, 2]: R = {shares['R']:g}, R/Z = "
        f"{shares['R']:g}/{shares['Z']:g} = {shares['R/Z']:g}, "
        f"R/Z_w = {shares['R']:g}/{shares['Z_w']:g} = {shares['R/Z_w']:g}",
    ]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  python experiments/linear_ndcg.py\n  python "
        "experiments/linear_ndcg.py "
        "--seed 7 --lists 500 --longest 30\n"
        "  python experiments/linear_ndcg.py --format json | python -m json.tool\n\n"
        "In Python: idealrank.pairwise_loss(labels, scores, ties='half', decompose=True).",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="of the random lists (default: %(default)s)"
    )
    parser.add_argument(
        "--lists", type=int, default=2000, help="how many of each kind (default: %(default)s)"
    )
    parser.add_argument(
        "--longest",
        type=int,
        default=12,
        help="documents of the longest list, 2 or more (default: %(default)s)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="what is printed (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    if options.lists < 1 or options.longest < 2:
        parser.error(
            f"found --lists {options.lists} and --longest {options.longest}; expected 1 list "
            f"or more, of 2 documents or more"
        )
    found = document(options.seed, options.lists, options.longest)
    print(json.dumps(found, indent=2) if options.format == "json" else text_of(found))


if __name__ == "__main__":
    main()
