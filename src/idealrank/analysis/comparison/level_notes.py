"""Sentences on results whose error rate is not known, or that these queries could not give: margins and rare large losses."""

import math

from idealrank.stats.applied_margins import AppliedMargin


def margin_cautions(margin: AppliedMargin, n: int, *, alpha: float, largest_loss: float | None, shown: bool) -> list[str]:
    """Return what a reader must know of a margin: too few queries, another largest loss, no known error rate.

    Parameters
    ----------
    margin : AppliedMargin
        As the test applied it.
    n : int
        Queries compared, or independent clusters.
    alpha : float
        Level of the test.
    largest_loss : float or None
        As given by the user.
    shown : bool
        Whether the test shows that the difference is smaller than the margin.

    Examples
    --------
    >>> from dataclasses import replace
    >>> margin = AppliedMargin(margin=0.01, applied=0.01, answerable=None, largest_loss=1.0, queries_needed=299)
    >>> margin_cautions(margin, 50, alpha=0.05, largest_loss=None, shown=False)  # doctest: +NORMALIZE_WHITESPACE
    ['50 queries cannot show a difference below 0.01, even if none differs: up to 5.8% of all queries may still lose
    1, the largest possible loss. Use 299 queries or more; or give a largest loss of at most 0.17, if no query can lose more.']
    """
    said = []
    seen = margin.largest_seen
    if largest_loss is not None and margin.largest_loss != largest_loss:
        instead = "the gate cannot pass" if margin.largest_loss is None else f"the range of the measure, {margin.largest_loss:g}, is taken"
        said.append(f"A query differs by {seen:.4g}, more than the largest loss given, {largest_loss:g}: {instead}.")
    elif margin.largest_loss is None and shown:
        said.append(
            f"The error rate of a difference below {margin.margin:g} is not known: the measure has no finite range, so that rare queries "
            "may lose more than these show. Give the largest loss that one query can have."
        )
    if not shown and (margin.queries_needed or 0) > n:
        share = -100 * math.expm1(math.log(alpha) / n)
        widest = _floor(margin.widest_loss(n, alpha))
        said.append(
            f"{n:,} {'query' if n == 1 else 'queries'} cannot show a difference below {margin.margin:g}, even if none differs: up to "
            f"{share:.2g}% of all queries may still lose {margin.largest_loss:g}, the largest possible loss. "
            f"Use {margin.queries_needed:,} queries or more; or give a largest loss of at most {widest:g}, if no query can lose more."
        )
    return said


def scale_note(margin: AppliedMargin, n: int, name: str = "margin") -> str:
    """Return over which queries a margin is meant; empty if over all that are compared.

    Examples
    --------
    >>> scale_note(AppliedMargin(margin=0.01, applied=0.005, answerable=50), 100)
    'The margin of 0.01 refers to the 50 of 100 queries that have a relevant document: 0.005 in the mean of all.'
    """
    if margin.answerable is None or margin.applied == margin.margin:
        return ""
    return (
        f"The {name} of {margin.margin:g} refers to the {margin.answerable:,} of {n:,} queries that have a relevant document: "
        f"{margin.applied:.4g} in the mean of all."
    )


_LEAST_WHOLE = 100  # queries of a whole comparison: of fewer, their own skewness says too little
_PER_SQUARE = 25


def skew_caution(pair: str, measure: str, found: tuple[float, int]) -> str:
    """Return that a verdict has no known error rate, for differences too skewed for the number of queries; else empty.

    `found` has the skewness and the number of queries.

    Examples
    --------
    >>> skew_caution("b against a", "RR", (-3.9, 250))
    'b against a by RR: the error rate of the verdict is not known, for the differences are skewed (-3.9); 250 queries are fewer than 381.'
    >>> skew_caution("b against a", "RR", (-0.2, 250))
    ''
    """
    skew, n = found
    needed = _needed_for(skew)
    if n < _LEAST_WHOLE or n >= needed:
        return ""
    return (
        f"{pair} by {measure}: the error rate of the verdict is not known, for the differences are skewed ({skew:.2g}); "
        f"{n:,} queries are fewer than {needed:,}."
    )


def slice_skew_caution(pair: str, measure: str, skew: float, sizes: list[int]) -> str:
    """Return that verdicts on slices have no known error rate, by the skewness over all queries; else empty.

    `sizes` are the queries of the slices with a verdict.

    Examples
    --------
    >>> slice_skew_caution("b against a", "RR", -4.1, [25, 30])[:60]
    'b against a by RR: the error rate of the verdicts on 2 slice'
    """
    needed = _needed_for(skew)
    small = [size for size in sizes if size < needed]
    if not small:
        return ""
    count = f"{len(small)} slice" if len(small) == 1 else f"{len(small):,} slices"
    return (
        f"{pair} by {measure}: the error rate of the verdicts on {count} is not known. The differences of all queries are skewed "
        f"({skew:.2g}), and a slice of fewer than {needed:,} queries may lack the rare large ones."
    )


def _needed_for(skew: float) -> int:
    """Queries by Cochran's rule; see `too_skewed`."""
    return math.ceil(_PER_SQUARE * skew**2)


def _floor(value: float) -> float:
    """Two digits, downwards."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.floor(value / unit * (1 + 1e-12)) * unit
