"""Differences over all queries and over a slice: the fields that both have, made from one test, and
turned round for a - b; and beside them the difference under the grades of a judge.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from idealrank.analysis.comparison.families import Corrected, side_of
from idealrank.analysis.comparison.query_table import QueryTable
from idealrank.data.interchange import finite
from idealrank.data.qrels import Qrels
from idealrank.errors import IncompatibleError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.stats.comparison import Detectable
from idealrank.stats.paired_tests import paired_t
from idealrank.stats.tolerance import ROUNDING

Verdict: TypeAlias = Literal["better", "worse", "equivalent", "undecided", "too few judgments"]

_OPPOSITE: Mapping[Verdict, Verdict] = {"better": "worse", "worse": "better"}

NEGATED: Mapping[str, object] = {"negated": True}
"""Metadata of a field that has the other sign for a - b."""


def swapped(other: str) -> Mapping[str, object]:
    """Metadata of a field that has the value of another for a - b."""
    return {"swapped": other}


@dataclass(frozen=True, kw_only=True)
class DifferenceRow:
    """Difference of two runs a and b by one measure on some queries; every difference is b - a.

    A new number is a field here, with its line in `of`, and so in `Difference` and `Slice`, in JSON
    and in CSV.

    Attributes
    ----------
    mean_a, mean_b, difference : float
        Means over the `n` queries, weighted where weights were given.
    interval : tuple of float
        Of what `about` says, by the test that gave `p_corrected`: it excludes "no difference" where
        ``p_corrected <= 1 - level``, and all intervals of a family hold at once. An end is infinite
        where there are too few queries, in a family where there are for the test alone; NaN where
        the test has no interval.
    about : str
        "mean difference", "pseudo-median of the differences" (Wilcoxon) or "share of wins among the
        queries that differ" (signs).
    p, p_corrected : float
        Of no difference, two-sided; and after the correction over the family. The verdict uses the
        second.
    verdict : {"better", "worse", "equivalent", "undecided", "too few judgments"}
        About b. Equivalent comes before better and worse: the margin says which differences do not
        matter. ``too few judgments`` takes the place of these three where the judgments of these
        queries do not carry them.
    effect, sd_difference : float
        d_z, the difference over the standard deviation of the differences; and that deviation.
    wins, ties, losses : int
        Queries on which b is better than, equal to (to 1e-12) and worse than a.
    n : int
        Queries compared.
    detectable : float
        Smallest true difference that these queries detect with 80 % power, by a test at the level
        of a single test of the family. It is made of changes like those seen: as many queries
        change, by as much; see `SeenChanges`. Infinite if the test finds no such difference so
        often; NaN if fewer independent units differ than `fewest_changed` asks for, twelve at 0.05.
    detectable_reason : str or None
        Why `detectable` is not finite.
    family : str
        Tests that were corrected together.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(6)}
    >>> a, b = (
    ...     ir.evaluate(qrels, {query: ranking for query in qrels}, "RR")
    ...     for ranking in (["y", "x"], ["x", "y"])
    ... )
    >>> found = ir.compare(a, b, slices=dict.fromkeys(qrels, "news"))["RR"]
    >>> [(row.difference, row.reversed().difference) for row in (found, found.slices["news"])]
    [(0.5, -0.5), (0.5, -0.5)]
    """

    _AFTER: ClassVar[Mapping[str, str]] = {}
    """Fields of a record that stand after another one, empty for none; by default, the shared
    fields stand first.
    """

    mean_a: float = field(metadata=swapped("mean_b"))
    mean_b: float = field(metadata=swapped("mean_a"))
    difference: float = field(metadata=NEGATED)
    interval: tuple[float, float]
    about: str
    p: float
    p_corrected: float
    verdict: Verdict
    effect: float = field(metadata=NEGATED)
    sd_difference: float
    wins: int = field(metadata=swapped("losses"))
    ties: int
    losses: int = field(metadata=swapped("wins"))
    n: int
    detectable: float
    detectable_reason: str | None
    family: str

    @classmethod
    def of(
        cls,
        corrected: Corrected,
        visible: Detectable,
        direction: int,
        verdict: Verdict,
        /,
        **further: Any,
    ) -> Self:
        """The row of a test: what it found, what the correction makes of it, and the verdict.

        Parameters
        ----------
        corrected : Corrected
            The test, and its corrected p value.
        visible : Detectable
            Smallest true difference that the test detects.
        direction : int
            1 where higher values are better; else wins and losses change places.
        verdict : str
            As `verdict_of` and the judgments leave it.
        **further
            Fields of a subclass.
        """
        test = corrected.found
        is_rising = direction > 0
        return cls(
            mean_a=test.mean_a,
            mean_b=test.mean_b,
            difference=test.difference,
            interval=(test.low, test.high),
            about=test.about,
            p=test.p,
            p_corrected=corrected.p,
            verdict=verdict,
            effect=test.effect,
            sd_difference=test.sd,
            wins=test.wins if is_rising else test.losses,
            ties=test.ties,
            losses=test.losses if is_rising else test.wins,
            n=test.n,
            detectable=visible.size,
            detectable_reason=visible.reason,
            **further,
        )

    def reversed(self) -> Self:
        """Return the difference a - b; two-sided tests do not change."""
        # Subtracted, not negated: a difference of 0 does not become -0.0.
        turned: dict[str, Any] = {
            "verdict": _OPPOSITE.get(self.verdict, self.verdict),
            "interval": _turned(self.interval, self.about),
        }
        for attribute in fields(self):
            value = getattr(self, str(attribute.metadata.get("swapped", attribute.name)))
            if "swapped" in attribute.metadata:
                turned[attribute.name] = value
            elif "negated" in attribute.metadata and value is not None:
                turned[attribute.name] = 0.0 - value
        return replace(self, **turned)

    def record(self) -> dict[str, Any]:
        """Every field by name in the order of a record; None for what is not finite."""
        values = asdict(self)
        names = [attribute.name for attribute in fields(self)]
        for name, before in self._AFTER.items():
            names.remove(name)
            names.insert(names.index(before) + 1 if before else 0, name)
        return {name: finite(values[name]) for name in names}


def verdict_of(corrected: Corrected, direction: int, alpha: float) -> Verdict:
    """Return the verdict of a test, if the judgments support it."""
    if corrected.equivalence is not None and corrected.equivalence <= alpha:
        return "equivalent"
    return side_of(corrected.found, direction, corrected.p, alpha)


def _turned(interval: tuple[float, float], about: str) -> tuple[float, float]:
    """The interval for a - b. The shares of wins of both runs sum to 1, their differences to 0."""
    total = 1.0 if about.startswith("share of wins") else 0.0
    low, high = interval
    return total - high, total - low


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
        table_a, table_b = (
            QueryTable.of(side.on(queries), [_measure(side, measure)], queries) for side in (a, b)
        )
        both = (table_a.counted & table_b.counted)[:, 0]
        n = int(both.sum())
        if not n:
            raise IncompatibleError(
                "judge: found no query of the comparison, expected at least one; are ids written "
                "alike?"
            )
        first = table_a.values[both, 0]
        second = table_b.values[both, 0]
        mean_difference = math.fsum(second - first) / n
        p = float(paired_t(first, second).p) if n > 1 else math.nan
        # Two signs contradict each other only where neither difference is one of rounding.
        rounding = ROUNDING * max(float(np.abs(first).max()), float(np.abs(second).max()))
        smaller = min(abs(mean_difference), abs(difference))
        contradicts = smaller > rounding and mean_difference * difference < 0
        return cls(
            mean_a=math.fsum(first) / n,
            mean_b=math.fsum(second) / n,
            difference=mean_difference,
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
    for measure in evaluation.measures:
        if str(measure) == text:
            return measure
    raise IncompatibleError(
        f"judge: found no values of {text}, expected the measures that are compared"
    )
