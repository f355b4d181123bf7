"""A margin as one test applies it: over the queries that can differ, and with the loss that a query may hide."""

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
    """Margin of one measure of two runs, or tolerance of a gate, as the test applied it.

    Attributes
    ----------
    margin : float
        As given: a difference of means over the answerable queries.
    applied : float
        The same difference in the mean over all queries compared, of which unanswerable ones are
        equal in both runs: the margin times the answerable share of the queries, or of their weight.
    answerable : int or None
        Queries compared that have a relevant document; None if it is not known, and the margin is
        then one of all queries compared.
    largest_loss : float or None
        Greatest difference of one query that the test reckons with; None if there is no such limit,
        so that the error rate is not known.
    largest_seen : float
        Greatest difference of one query in the direction tested.
    queries_needed : int or None
        Fewest independent queries of equal weight that rule out the margin if none of them differs;
        None without a largest loss.
    level : float or None
        Level of the test, after the correction for other tests; None without a largest loss.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels, run = {f"q{i}": {"x": 1} for i in range(9)}, {f"q{i}": ["x"] for i in range(9)}
    >>> found = ir.compare(*[ir.evaluate(qrels, run, "RR")] * 2, margin=0.1)["RR"]
    >>> found.margin.queries_needed, found.margin.largest_loss, found.verdict
    (29, 1.0, 'undecided')
    """

    margin: float
    applied: float
    answerable: int | None
    largest_loss: float | None = None
    largest_seen: float = 0.0
    queries_needed: int | None = None
    level: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record; None for what is not known."""
        return {name: finite(value) for name, value in asdict(self).items()}

    @property
    def share(self) -> float:
        """Answerable share of the queries, or of their weight; 1 if it is not known."""
        return self.applied / self.margin

    def unseen_share(self, n: int) -> float:
        """Return the largest share of all queries that may still lose the most if none of n queries differs; 1 without a level.

        Examples
        --------
        >>> round(AppliedMargin(margin=0.01, applied=0.01, answerable=50, level=0.05).unseen_share(50), 3)
        0.058
        """
        return 1.0 if self.level is None else -math.expm1(math.log(self.level) / n)


def answerable_share(answerable: BoolArray | None, design: Design) -> float:
    """Return the answerable share of the queries of a design, by weight; 1 if it is not known, or none is.

    Examples
    --------
    >>> answerable_share(np.array([True, False]), Design.of(2, weights=[3, 1]))
    0.75
    """
    if answerable is None or not answerable.any():
        return 1.0
    return float(design.mean(answerable.astype(np.float64)))


def loss_limit(largest_loss: float | None, span: float, seen: float) -> float | None:
    """Return the greatest loss of a query to reckon with: as given, or the range of the measure.

    A loss beyond the one that was given refutes it, and the range is taken. None if neither holds.

    Examples
    --------
    >>> loss_limit(0.3, 1.0, 0.2), loss_limit(0.3, 1.0, 0.5), loss_limit(None, math.inf, 0.5)
    (0.3, 1.0, None)
    """
    limits = [limit for limit in (largest_loss, span) if limit is not None and math.isfinite(limit)]
    return next((limit for limit in limits if seen <= limit * (1 + ROUNDING)), None)


def largest_loss_p(differences: FloatArray, margin: AppliedMargin, design: Design, *, refuted: bool) -> float:
    """Return the p value of `unseen_loss_p`; without a limit 0, or 1 if the one that was given is refuted.

    Examples
    --------
    >>> margin = AppliedMargin(margin=0.1, applied=0.1, answerable=None, largest_loss=1.0)
    >>> round(largest_loss_p(np.zeros(30), margin, Design.of(30), refuted=False), 4), round(0.9**30, 4)
    (0.0424, 0.0424)
    """
    if margin.largest_loss is None:
        return float(refuted)
    if margin.largest_loss <= margin.applied:  # no loss of the margin is possible
        return 0.0
    from idealrank.stats.unseen_losses import unseen_loss_p  # noqa: PLC0415  (few comparisons have a margin)

    return unseen_loss_p(differences, margin.applied, margin.largest_loss, design=design)
