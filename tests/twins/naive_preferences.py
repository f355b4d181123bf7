"""Measures of preferences and of several assessors, written slowly: every preference as a pair,
ties by trying every order.

Nothing here is shared with the library. A group is a list of sub-groups ``{document: level}``; an
order is a list of documents.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, permutations, product

Parts = Sequence[Mapping[str, float]]
Pair = tuple[str, str]


def orders_of(scores: Mapping[str, float], ties: str) -> list[list[str]]:
    """The rankings that a tie rule allows; one, unless ties are averaged."""
    ranked = sorted(scores, key=lambda document: -scores[document])
    tied = [list(group) for _, group in groupby(ranked, key=lambda document: scores[document])]
    if ties == "expected":
        return [
            [document for group in chosen for document in group]
            for chosen in product(*(permutations(group) for group in tied))
        ]
    if ties == "input":
        return [ranked]
    # Preferences are ordered by rising id, grades by falling id.
    down = ties == "falling"
    return [
        [document for group in tied for document in sorted(group, key=str.encode, reverse=down)]
    ]


def pairs_of(parts: Parts) -> set[Pair]:
    """Every preference of a group as (preferred, other): those said, and those that follow."""
    pairs = {(one, two) for part in parts for one in part for two in part if part[one] > part[two]}
    while True:
        more = {(one, four) for one, two in pairs for three, four in pairs if two == three} - pairs
        if not more:
            return pairs
        pairs |= more


def is_fulfilled(pair: Pair, order: Sequence[str]) -> bool:
    """The preferred document is returned, and the other stands below it or is not returned."""
    one, two = pair
    return one in order and (two not in order or order.index(one) < order.index(two))


def counted(pairs: set[Pair], order: Sequence[str], among: str) -> list[Pair]:
    """The preferences that count."""
    least = {"all": 0, "implied": 1, "retrieved": 2}[among]
    return [pair for pair in pairs if sum(document in order for document in pair) >= least]


def share(fulfilled: float, possible: float) -> float:
    """0 where nothing is possible."""
    return fulfilled / possible if possible else 0.0


def num_prefs_poss(groups: Sequence[Parts], order: Sequence[str], among: str) -> float:
    return float(sum(len(counted(pairs_of(parts), order, among)) for parts in groups))


def num_prefs_ful(groups: Sequence[Parts], order: Sequence[str], among: str) -> float:
    return float(
        sum(
            is_fulfilled(pair, order)
            for parts in groups
            for pair in counted(pairs_of(parts), order, among)
        )
    )


def prefs_simp(groups: Sequence[Parts], order: Sequence[str], among: str) -> float:
    return share(num_prefs_ful(groups, order, among), num_prefs_poss(groups, order, among))


def prefs_pair(groups: Sequence[Parts], order: Sequence[str], among: str) -> float:
    opinions: dict[frozenset[str], list[bool]] = {}
    for parts in groups:
        for pair in counted(pairs_of(parts), order, among):
            opinions.setdefault(frozenset(pair), []).append(is_fulfilled(pair, order))
    return share(sum(sum(said) / len(said) for said in opinions.values()), len(opinions))


def prefs_avgjg(groups: Sequence[Parts], order: Sequence[str], among: str) -> float:
    return share(sum(prefs_simp([parts], order, among) for parts in groups), len(groups))


def prefs_avgjg_rnonrel(
    groups: Sequence[Parts], order: Sequence[str], among: str, surplus: str
) -> float:
    return share(sum(_rnonrel(parts, order, among, surplus) for parts in groups), len(groups))


def _rnonrel(parts: Parts, order: Sequence[str], among: str, surplus: str) -> float:
    """One group with as many documents of level 0 as above 0."""
    levels = {document: level for part in parts for document, level in part.items()}
    seen = (
        [document for document in levels if document in order]
        if among == "retrieved"
        else list(levels)
    )
    relevant = [document for document in levels if levels[document] > 0]
    nonrelevant = sorted(
        (d for d in seen if levels[d] == 0),
        key=lambda d: order.index(d) if d in order else math.inf,
    )
    wanted = sum(levels[document] > 0 for document in seen)
    pairs = counted(pairs_of(parts), order, among)
    returned = sum(document in order for document in relevant)
    fulfilled, possible = sum(is_fulfilled(pair, order) for pair in pairs), len(pairs)
    lacking = wanted - len(nonrelevant)
    if lacking >= 0:
        return share(fulfilled + returned * lacking, possible + len(relevant) * lacking)
    if len(parts) > 1:
        return share(fulfilled, possible)
    first = nonrelevant[:wanted]
    kept = [pair for pair in pairs if pair[1] not in nonrelevant[wanted:]]
    fulfilled = sum(is_fulfilled(pair, order) for pair in kept)
    if surplus == "cut":
        return share(fulfilled, len(kept))
    # trec_eval's number: documents of level 0 in the order of the ranking count against each other,
    # and all pairs stay possible.
    within = sum(
        is_fulfilled((one, two), order)
        for place, one in enumerate(first)
        for two in first[place + 1 :]
    )
    return share(fulfilled + within, possible + wanted**2)


MEASURES: dict[str, Callable[[Sequence[Parts], Sequence[str], str], float]] = {
    "prefs_num_prefs_poss": num_prefs_poss,
    "prefs_num_prefs_ful": num_prefs_ful,
    "prefs_simp": prefs_simp,
    "prefs_pair": prefs_pair,
    "prefs_avgjg": prefs_avgjg,
}


def is_defined(name: str, groups: Sequence[Parts]) -> bool:
    """True if there is anything to share out; counts always are."""
    if name == "prefs_avgjg_Rnonrel":
        return any(level > 0 for parts in groups for part in parts for level in part.values())
    return "num_prefs" in name or any(pairs_of(parts) for parts in groups)


def value(
    name: str,
    groups: Sequence[Parts],
    scores: Mapping[str, float],
    ties: str,
    *,
    among: str,
    surplus: str = "",
) -> float:
    """A measure of one query, the mean over the orders of ties."""
    values = [
        prefs_avgjg_rnonrel(groups, order, among, surplus)
        if name == "prefs_avgjg_Rnonrel"
        else MEASURES[name](groups, order, among)
        for order in orders_of(scores, ties)
    ]
    return math.fsum(values) / len(values)


def group_values(
    name: str, groups: Sequence[Mapping[str, float]], order: Sequence[str], cutoff: float
) -> Iterator[float]:
    """``AP_avgjg``, ``P_avgjg`` or ``Rprec_avgjg`` of each group for one order; the cutoff of the
    last is a multiple of R.
    """
    for graded in groups:
        relevant = [document for document in graded if graded[document] >= 1]
        ranks = [rank for rank, document in enumerate(order, 1) if document in relevant]
        if name == "AP_avgjg":
            yield share(
                sum(share(place, rank) for place, rank in enumerate(ranks, 1)), len(relevant)
            )
        else:
            k = int(cutoff) if name == "P_avgjg" else math.floor(cutoff * len(relevant) + 0.9)
            yield share(sum(rank <= k for rank in ranks), k)
