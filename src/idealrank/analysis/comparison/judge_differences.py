"""The difference of two runs under the grades of a judge, held beside that of people: a second
opinion on its sign.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from idealrank.analysis.comparison.query_table import QueryTable
from idealrank.data.qrels import Qrels
from idealrank.errors import IncompatibleError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.stats.paired_tests import paired_t
from idealrank.stats.tolerance import ROUNDING


@dataclass(frozen=True, kw_only=True)
class JudgeDifference:
    """One measure of two runs a and b under the grades of a judge, such as a language model."""

    # mean_a, mean_b, difference: Means over the queries that the judge judged and the comparison
    # has, and that count for both runs; b - a
    mean_a: float
    mean_b: float
    difference: float
    p: float  # Of no difference, two-sided, by the paired t test; NaN for fewer than two queries
    n: int  # Number of these queries
    contradicts: bool  # Whether the sign is the opposite of that under people's grades

    @classmethod
    def of(
        cls,
        a: Evaluation,
        b: Evaluation,
        measure: str,
        difference: float,
        compared: Collection[str] | None = None,
    ) -> "JudgeDifference":
        """Compare two evaluations by a judge's grades with the difference under people's grades."""
        queries = _common({*a.queries, *b.queries}, a, b, compared)
        one, other = (
            QueryTable.of(side.on(queries), [_measure(side, measure)], queries) for side in (a, b)
        )
        both = (one.counted & other.counted)[:, 0]
        n = int(both.sum())
        if not n:
            raise IncompatibleError(
                "judge: found no query of the comparison, expected at least one; are ids "
                "written alike?"
            )
        first, second = one.values[both, 0], other.values[both, 0]
        found = math.fsum(second - first) / n
        slack = ROUNDING * max(float(np.abs(first).max()), float(np.abs(second).max()))
        p = float(paired_t(first, second).p) if n > 1 else math.nan
        contradicts = min(abs(found), abs(difference)) > slack and found * difference < 0
        return cls(
            mean_a=math.fsum(first) / n,
            mean_b=math.fsum(second) / n,
            difference=found,
            p=p,
            n=n,
            contradicts=contradicts,
        )

    def reversed(self) -> "JudgeDifference":
        """Return the difference a - b; the signs still contradict each other, or do not."""
        return replace(
            self, mean_a=self.mean_b, mean_b=self.mean_a, difference=0.0 - self.difference
        )


def of_judged_queries(evaluation: Evaluation, qrels: Qrels) -> Evaluation:
    """Return the evaluation on the queries that have judgments; a convention may evaluate others,
    too.
    """
    if evaluation.convention.alignment.without_judgments == "left-out":
        return evaluation
    return evaluation.on([query for query in evaluation.queries if query in qrels])


def _common(
    judged: Collection[str], a: Evaluation, b: Evaluation, compared: Collection[str] | None
) -> list[str]:
    if compared is not None:
        return sorted(set(compared).intersection(judged))
    unanswered = set(a.coverage.missing_queries).intersection(b.coverage.missing_queries)
    return sorted(set(judged) - unanswered)


def _measure(evaluation: Evaluation, text: str) -> Measure:
    found = next((measure for measure in evaluation.measures if str(measure) == text), None)
    if found is None:
        raise IncompatibleError(
            f"judge: found no values of {text}, expected the measures that are compared"
        )
    return found
