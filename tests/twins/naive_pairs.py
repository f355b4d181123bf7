"""Measures of two runs for one query, written slowly from their definitions: Python's sets, lists
and loops.

A list is ``{document: score}``. `value` takes a measure and a tie policy; under ``expected`` it
tries every order of the tied documents.
"""

import math
from collections.abc import Iterator
from itertools import groupby, permutations, product
from statistics import fmean

from idealrank.measures.measure import Measure

List = dict[str, float]
Groups = list[list[str]]
FAR = 3000  # depth at which p^d no longer counts for the p that the tests use


def groups_of(scores: List) -> Groups:
    """Tied documents together, best first, in input order."""
    ordered = sorted(scores, key=lambda d: -scores[d])
    return [list(group) for _, group in groupby(ordered, key=lambda d: scores[d])]


def ordered(scores: List, ties: str) -> Groups:
    """Every document alone, in the order that the policy gives."""
    groups = groups_of(scores)
    if ties in ("docid", "docid-ascending"):
        groups = [
            sorted(group, key=lambda d: d.encode(), reverse=ties == "docid") for group in groups
        ]
    return [[d] for group in groups for d in group]


def orders(groups: Groups) -> Iterator[Groups]:
    """Every order of the tied documents."""
    for choice in product(*(permutations(group) for group in groups)):
        yield [[d] for group in choice for d in group]


def value(measure: Measure, a: List, b: List, ties: str) -> float:
    """The measure of two lists; NaN where it is undefined."""
    function = FUNCTIONS[measure.name]
    if ties == "shared":
        return function(measure, groups_of(a), groups_of(b))
    if ties != "expected":
        return function(measure, ordered(a, ties), ordered(b, ties))
    return fmean(
        function(measure, one, two) for one in orders(groups_of(a)) for two in orders(groups_of(b))
    )


def first_ranks(groups: Groups) -> dict[str, int]:
    """The rank that the documents of each group share."""
    ranks, above = {}, 0
    for group in groups:
        ranks |= dict.fromkeys(group, above + 1)
        above += len(group)
    return ranks


def down_to(groups: Groups, depth: int) -> set[str]:
    """Documents whose rank is at most the depth."""
    return {d for d, rank in first_ranks(groups).items() if rank <= depth}


def length(groups: Groups) -> int:
    return sum(map(len, groups))


def cut(measure: Measure, a: Groups, b: Groups) -> int:
    assert measure.cutoff is None or isinstance(measure.cutoff, int)
    longer = max(length(a), length(b))
    return longer if measure.cutoff is None else min(measure.cutoff, longer)


def overlap(measure: Measure, a: Groups, b: Groups) -> float:
    k = cut(measure, a, b) if measure.cutoff is None else int(measure.cutoff)  # type: ignore[call-overload]
    top_a, top_b = down_to(a, k), down_to(b, k)
    return 2 * len(top_a & top_b) / (max(len(top_a), k) + max(len(top_b), k))


def jaccard(measure: Measure, a: Groups, b: Groups) -> float:
    k = cut(measure, a, b)
    top_a, top_b = down_to(a, k), down_to(b, k)
    return len(top_a & top_b) / len(top_a | top_b)


def same(measure: Measure, a: Groups, b: Groups) -> float:
    k = cut(measure, a, b)
    top_a, top_b = down_to(a, k), down_to(b, k)
    if measure.order == "any":  # type: ignore[attr-defined]
        return float(top_a == top_b)
    ranks_a, ranks_b = first_ranks(a), first_ranks(b)
    return float(top_a == top_b and all(ranks_a[d] == ranks_b[d] for d in top_a))


def rbo(measure: Measure, a: Groups, b: Groups) -> float:
    p = 0.9 if measure.p is None else measure.p  # type: ignore[attr-defined]
    estimate = measure.estimate or "ext"  # type: ignore[attr-defined]
    if estimate == "res":
        return sum_of_agreements(a, b, p, "max") - sum_of_agreements(a, b, p, "min")
    return (
        extrapolated(measure, a, b, p)
        if estimate == "ext"
        else sum_of_agreements(a, b, p, estimate)
    )


def seen(a: Groups, b: Groups, depth: int) -> tuple[float, float]:
    """Common documents down to a depth, and the size of either set, summed; an ended list goes on
    with other documents.
    """
    top_a, top_b = down_to(a, depth), down_to(b, depth)
    return len(top_a & top_b), max(len(top_a), depth) + max(len(top_b), depth)


def extrapolated(measure: Measure, a: Groups, b: Groups, p: float) -> float:
    """Depth by depth: agreement goes on below the shorter list as at its end, and below both as at
    the end of the longer.
    """
    end = cut(measure, a, b)
    short = min(length(a), length(b), end)
    agreement = 0.0
    total = 0.0
    at_short = 0.0
    for depth in range(1, end + 1):
        common, sizes = seen(a, b, depth)
        agreement = 2 * (common + at_short * max(depth - short, 0)) / sizes
        if depth == short:
            at_short = agreement
        total += (1 - p) * p ** (depth - 1) * agreement
    return total + p**end * agreement


def sum_of_agreements(a: Groups, b: Groups, p: float, bound: str) -> float:
    """What follows the lists is common as late as can be (never), or as early as can be."""
    short, long = sorted((length(a), length(b)))
    total = 0.0
    for depth in range(1, FAR):
        common, sizes = seen(a, b, depth)
        if bound == "max":
            common = min(common + max(depth - short, 0) + max(depth - long, 0), sizes / 2)
        total += (1 - p) * p ** (depth - 1) * 2 * common / sizes
    return total


def common_ranks(measure: Measure, a: Groups, b: Groups) -> list[tuple[int, int]]:
    k = cut(measure, a, b)
    rank_a, rank_b = first_ranks(a), first_ranks(b)
    return [(rank_a[d], rank_b[d]) for d in down_to(a, k) & down_to(b, k)]


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


def tau(measure: Measure, a: Groups, b: Groups) -> float:
    ranks = common_ranks(measure, a, b)
    pairs = [(sign(x - u), sign(y - v)) for (x, y), (u, v) in product(ranks, ranks)]
    scale = math.sqrt(sum(one * one for one, _ in pairs) * sum(two * two for _, two in pairs))
    return sum(one * two for one, two in pairs) / scale if scale else math.nan


def tau_ap(measure: Measure, a: Groups, b: Groups) -> float:
    ranks = common_ranks(measure, a, b)
    reversed_ranks = [(y, x) for x, y in ranks]
    reference = measure.reference or "a"  # type: ignore[attr-defined]
    both = {"a": (reversed_ranks,), "b": (ranks,), "both": (ranks, reversed_ranks)}[reference]
    return fmean(one_way(pairs) for pairs in both)


def one_way(pairs: list[tuple[int, int]]) -> float:
    """Pairs of (rank in the list that is judged, rank in the reference)."""
    shares = []
    for rank, right in pairs:
        above = [other for place, other in pairs if place < rank]
        if above:
            shares.append(sum(other < right for other in above) / len(above))
    return 2 * fmean(shares) - 1 if shares else math.nan


def weighted_tau(measure: Measure, a: Groups, b: Groups) -> float:
    ranks = common_ranks(measure, a, b)
    return fmean(
        (weighted_by(sorted(ranks)), weighted_by(sorted(ranks, key=lambda pair: pair[::-1])))
    )


def weighted_by(ranks: list[tuple[int, int]]) -> float:
    sums = [0.0, 0.0, 0.0]
    for i, (x, y) in enumerate(ranks, 1):
        for j, (u, v) in enumerate(ranks, 1):
            one, two, weight = sign(x - u), sign(y - v), 1 / i + 1 / j
            sums = [
                sums[0] + weight * one * two,
                sums[1] + weight * one * one,
                sums[2] + weight * two * two,
            ]
    return sums[0] / math.sqrt(sums[1] * sums[2]) if sums[1] and sums[2] else math.nan


FUNCTIONS = {
    "RBO": rbo,
    "overlap": overlap,
    "Jaccard": jaccard,
    "Same": same,
    "tau": tau,
    "tauAP": tau_ap,
    "wtau": weighted_tau,
}
