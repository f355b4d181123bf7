"""Sentences on results whose error rate is not known, or that these queries could not give: margins
and rare large losses.
"""

import math
from collections.abc import Mapping

from idealrank.stats.applied_margins import AppliedMargin
from idealrank.stats.effects import queries_for_skew


def margin_cautions(
    margin: AppliedMargin, n: int, *, largest_loss: float | None, shown: bool
) -> list[str]:
    """Return what a reader must know of a margin: too few queries, another largest loss, no known
    error rate.
    """
    said = []
    seen = margin.largest_seen
    if largest_loss is not None and margin.largest_loss != largest_loss:
        instead = (
            "the gate cannot pass"
            if margin.largest_loss is None
            else f"the range of the measure, {margin.largest_loss:g}, is taken"
        )
        said.append(
            f"A query differs by {seen:.4g}, more than the largest loss given, "
            f"{largest_loss:g}: {instead}."
        )
    elif margin.largest_loss is None and shown:
        said.append(
            f"The error rate of a difference below {margin.margin:g} is not known: the "
            f"measure has no finite range, so that rare queries "
            "may lose more than these show. Give the largest loss that one query can have."
        )
    if not shown and (margin.queries_needed or 0) > n:
        share = margin.unseen_share(n)
        widest = _floor(margin.applied / share)
        said.append(
            f"{n:,} {'query' if n == 1 else 'queries'} cannot show a difference below "
            f"{margin.margin:g}, even if none differs: up to "
            f"{100 * share:.2g}% of all queries may still lose {margin.largest_loss:g}, the "
            f"largest possible loss. "
            f"Use {margin.queries_needed:,} queries or more; or give a largest loss of at "
            f"most {widest:g}, if no query can lose more."
        )
    return said


def scale_note(margin: AppliedMargin, n: int, name: str = "margin") -> str:
    """Return over which queries a margin is meant; empty if every query compared has a relevant
    document.
    """
    if margin.answerable is None:
        return (
            f"The queries that have a relevant document are not known: the {name} of "
            f"{margin.margin:g} refers to all {_queries(n)}. "
            "Evaluate the runs again to refer it to those."
        )
    if margin.applied == margin.margin:
        return ""
    return (
        f"The {name} of {margin.margin:g} refers to the {margin.answerable:,} of {n:,} "
        f"queries that have a relevant document: "
        f"{margin.applied:.4g} in the mean of all."
    )


def skew_caution(verdict: str, skew: float, n: int, *, clustered: bool = False) -> str:
    """Return that a verdict has no known error rate, since n queries may lack rare large
    differences.

    `verdict` names the runs and the measure, and `skew` is the skewness of the differences.
    """
    if n < queries_for_skew(0.0, n) or clustered:
        why = _too_few(n, queries_for_skew(skew, 0), clustered=clustered)
    else:
        why = (
            f"the differences are skewed ({skew:.2g}); use {queries_for_skew(skew, n):,} queries "
            f"or more"
        )
    return f"The error rate of the verdict on {verdict} is not known, for {why}."


def skew_cautions(
    verdicts: Mapping[str, tuple[float, int]], *, clustered: bool = False
) -> list[str]:
    """Return the caution of the verdicts without a known error rate, one for all; none without such
    verdicts.
    """
    if len(verdicts) < 2:
        return [
            skew_caution(verdict, skew, n, clustered=clustered)
            for verdict, (skew, n) in verdicts.items()
        ]
    fewest = min(n for _, n in verdicts.values())
    needed = max(queries_for_skew(skew, 0) for skew, _ in verdicts.values())
    return [
        f"The error rate of {len(verdicts):,} verdicts is not known, for "
        f"{_too_few(fewest, needed, clustered=clustered)}."
    ]


def _too_few(n: int, needed: int, *, clustered: bool) -> str:
    of, unit = ("the clusters of ", " clusters") if clustered else ("", "")
    return f"{of}{_queries(n)} may lack rare large differences; use {needed:,}{unit} or more"


def slice_skew_caution(
    verdicts: str, whole: tuple[float, int], sizes: list[int], units: str = "queries"
) -> str:
    """Return that verdicts on slices have no known error rate, by the skewness over all queries;
    else empty.
    """
    skew, n = whole
    needed = queries_for_skew(skew, n)
    small = [size for size in sizes if size < needed]
    if not small:
        return ""
    count = f"{len(small)} slice" if len(small) == 1 else f"{len(small):,} slices"
    if n < queries_for_skew(0.0, n):
        why = f"all {n:,} {units} together may lack rare large differences; use {needed:,} or more"
    else:
        why = (
            f"the differences of all queries are skewed ({skew:.2g}), "
            f"and a slice of fewer than {needed:,} {units} may lack the rare large ones"
        )
    return f"The error rate of the verdicts on {count}, {verdicts}, is not known: {why}."


def _queries(n: int) -> str:
    return "1 query" if n == 1 else f"{n:,} queries"


def _floor(value: float) -> float:
    """Two digits, downwards."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.floor(value / unit * (1 + 1e-12)) * unit
