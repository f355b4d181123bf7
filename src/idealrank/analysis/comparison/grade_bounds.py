"""Bounds of a difference over all grades of unjudged documents."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from idealrank.bounds.value_bounds import difference_bounds_of
from idealrank.data.interchange import finite
from idealrank.data.judged import Judged
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.stats.design import Design


@dataclass(frozen=True, kw_only=True)
class GradeBounds:
    """Lowest and highest mean difference of two runs over all grades of the documents that either
    shows unjudged within the cutoff.

    Some grades attain both: see `idealrank.judging.difference_bounds`.
    """

    # low, high: Means over the queries compared, weighted if these have weights
    low: float
    high: float
    either: int  # Number of queries in which either run may have the higher value
    max_grade: float  # Highest grade of an unjudged document: the highest grade judged, at least 1
    depth: int  # The cutoff

    @classmethod
    def of(
        cls, a: Evaluation, b: Evaluation, measure: Measure, queries: Sequence[str], design: Design
    ) -> "GradeBounds | None":
        """Bounds of evaluations that keep their unjudged documents, over queries of both.

        None without unjudged documents or a fixed cutoff, and for measures whose bounds are not
        exact at any size.
        """
        depth = measure.cutoff
        lists = [evaluation.judged for evaluation in (a, b)]
        if (
            not isinstance(depth, int)
            or any(judged is None or judged.unjudged is None for judged in lists)
            or not queries
        ):
            return None

        first, second = (cast("Judged", judged) for judged in lists)
        if not all(set(queries) <= set(judged.queries) for judged in (first, second)):
            return None
        try:
            deepest = measure.under(a.convention).hits_needed()
            bounds = difference_bounds_of(
                first,
                second,
                measure,
                None,
                depth,
                convention=a.convention,
                queries=queries,
                most=0,  # nothing is enumerated: only bounds that are exact at any size count
                deepest=deepest,
            )
        except OptionError:
            return None
        unjudged = bounds.unjudged_a + bounds.unjudged_b + bounds.unjudged_both
        if not bounds.exact or not unjudged.any():
            return None
        return cls(
            low=float(design.mean(bounds.low)),
            high=float(design.mean(bounds.high)),
            either=int(bounds.flips.sum()),
            max_grade=bounds.max_grade,
            depth=depth,
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything by name, as JSON has it."""
        return {name: finite(value) for name, value in asdict(self).items()}

    def reversed(self) -> "GradeBounds":
        """Return the bounds of the difference a - b."""
        # Subtracted, not negated: a bound of 0 does not become -0.0.
        return replace(self, low=0.0 - self.high, high=0.0 - self.low)
