"""A margin as one test applies it: over the queries that can differ, and with the loss that a query
may hide.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from idealrank.data.interchange import finite
from idealrank.data.types import BoolArray, FloatArray
from idealrank.stats.design import Design
from idealrank.stats.tolerance import ROUNDING


@dataclass(frozen=True, kw_only=True)
class AppliedMargin:
    """Margin of one measure of two runs, or tolerance of a gate, as the test applied it."""

    margin: float  # As given: a difference of means over the answerable queries
    # The same difference in the mean over all queries compared, of which unanswerable ones are
    # equal in both runs: the margin times the answerable share of the queries, or of their weight
    applied: float
    # Queries compared that have a relevant document; None if it is not known, and the margin is
    # then one of all queries compared
    answerable: int | None
    # Greatest difference of one query that the test reckons with; None if there is no such limit,
    # so that the error rate is not known
    largest_loss: float | None = None
    largest_seen: float = 0.0  # Greatest difference of one query in the direction tested
    # Fewest independent queries of equal weight that rule out the margin if none of them differs;
    # None without a largest loss
    queries_needed: int | None = None
    # Level of the test, after the correction for other tests; None without a largest loss
    level: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record; None for what is not known."""
        return {name: finite(value) for name, value in asdict(self).items()}

    @property
    def share(self) -> float:
        """Answerable share of the queries, or of their weight; 1 if it is not known."""
        return self.applied / self.margin

    def unseen_share(self, n: int) -> float:
        """Return the largest share of all queries that may still lose the most if none of n queries
        differs; 1 without a level.
        """
        return 1.0 if self.level is None else -math.expm1(math.log(self.level) / n)


def answerable_share(answerable: BoolArray | None, design: Design) -> float:
    """Return the answerable share of the queries of a design, by weight; 1 if it is not known, or
    none is.
    """
    if answerable is None or not answerable.any():
        return 1.0
    return float(design.mean(answerable.astype(np.float64)))


def loss_limit(largest_loss: float | None, span: float, seen: float) -> float | None:
    """Return the greatest loss of a query to reckon with: as given, or the range of the measure.

    A loss beyond the one that was given refutes it, and the range is taken. None if neither holds.
    """
    limits = [limit for limit in (largest_loss, span) if limit is not None and math.isfinite(limit)]
    return next((limit for limit in limits if seen <= limit * (1 + ROUNDING)), None)


def largest_loss_p(
    differences: FloatArray, margin: AppliedMargin, design: Design, *, refuted: bool
) -> float:
    """Return the p value of `unseen_loss_p`; without a limit 0, or 1 if the one that was given is
    refuted.
    """
    if margin.largest_loss is None:
        return float(refuted)
    if margin.largest_loss <= margin.applied:  # no loss of the margin is possible
        return 0.0
    from idealrank.stats.unseen_losses import unseen_loss_p  # noqa: PLC0415  (few comparisons have a margin)

    return unseen_loss_p(differences, margin.applied, margin.largest_loss, design=design)
