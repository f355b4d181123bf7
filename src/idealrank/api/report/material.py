"""Results and inputs of a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TypeAlias

from idealrank.analysis.comparison import Comparison
from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.query_table import judgedness_among
from idealrank.analysis.comparison.slice_differences import Categories
from idealrank.analysis.gate import Gated
from idealrank.analysis.robustness import Robustness
from idealrank.data.join import Judgments
from idealrank.data.run import Run
from idealrank.errors import IncompatibleError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.evaluation.judged_hits import JudgedHits
from idealrank.measures.measure import Measure
from idealrank.reports.leading_pairs import leading_pairs
from idealrank.reports.subject import Made

Texts: TypeAlias = str | PathLike[str] | Mapping[str, str]
"""Texts by id: a file that `io.texts.read_texts` reads, or a mapping."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportMaterial:
    """Results, and where they come from.

    Attributes
    ----------
    evaluations : tuple of Evaluation
        One per run, on the same measures.
    measures : tuple of Measure
        Those asked for, the one that decides first.
    comparison, gated, robustness : Comparison, Gated, Robustness, optional
        Further results; the comparison of these evaluations, in their order.
    qrels : Qrels, PreferenceQrels, AssessorQrels, optional
        Lists, contributions and curves need judgments with grades and the runs.
    runs : tuple of Run
        In the order of the evaluations; empty where they are not at hand.
    hits : tuple of (JudgedHits or None)
        Of each evaluation, where runs are not at hand: judged documents with their ranks.
    weights, clusters : mapping, optional
        Of each query, as the comparison has them.
    categories : mapping, optional
        Slices of each query.
    queries, documents : path or mapping, optional
        Texts by id.
    made : Made
        Where it all comes from.
    threads : int
        0 for one a core.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> ReportMaterial(evaluations=(one,), measures=one.measures).level
    0.95
    """

    evaluations: tuple[Evaluation, ...]
    measures: tuple[Measure, ...]
    comparison: Comparison | None = None
    gated: Gated | None = None
    robustness: Robustness | None = None
    qrels: "Judgments | None" = None
    runs: tuple[Run, ...] = ()
    hits: tuple[JudgedHits | None, ...] = ()
    weights: Mapping[str, float] | None = None
    clusters: Mapping[str, object] | None = None
    categories: Categories | None = None
    queries: Texts | None = None
    documents: Texts | None = None
    made: Made = field(default_factory=Made)
    threads: int = 0

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        return 0.95 if self.comparison is None else self.comparison.method.level

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Numbers of the runs that are compared, the pair that is shown first in front."""
        if self.comparison is None:
            return []
        place = {name: number for number, name in enumerate(self.comparison.names)}
        return [(place[pair.a], place[pair.b]) for pair in leading_pairs(self.comparison)]


def lined_up(evaluations: Sequence[Evaluation], names: Sequence[str] | None = None) -> tuple[Evaluation, ...]:
    """Evaluations with names that tell them apart, all on the same queries in the same order: a query that one lacks counts for nothing.

    Raises
    ------
    IncompatibleError
        Their measures differ.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {"q1": {"x": 1}, "q2": {"x": 1}}
    >>> runs = {"q1": ["x"]}, {"q2": ["x"], "q1": ["x"]}
    >>> both = lined_up([ir.evaluate(qrels, run, "RR", "standard,missing=left-out") for run in runs])
    >>> [(one.name, list(one.queries), one["RR"].tolist(), one.mean()["RR"]) for one in both]
    [('run', ['q1', 'q2'], [1.0, nan], 1.0), ('run (2)', ['q1', 'q2'], [1.0, 1.0], 1.0)]
    """
    names = distinct([one.name for one in evaluations]) if names is None else names
    queries = list(dict.fromkeys(query for one in evaluations for query in one.queries))
    first = evaluations[0].measures
    for one in evaluations:
        if one.measures != first:
            ours, theirs = (", ".join(map(str, measures)) for measures in (first, one.measures))
            raise IncompatibleError(f"{one.name}: found measures {theirs}, expected the measures of {evaluations[0].name}: {ours}")
    return tuple(replace(one.on(queries), name=name) for one, name in zip(evaluations, names, strict=True))


def shown_measures(evaluated: Sequence[Measure]) -> tuple[Measure, ...]:
    """Choose the measures that a page shows: numbers, without the companions of other measures.

    Examples
    --------
    >>> from idealrank.analysis.comparison import with_companions
    >>> [str(measure) for measure in shown_measures(with_companions(["nDCG@10", "RR"]))]
    ['nDCG@10', 'RR']
    """
    beside = judgedness_among(evaluated)
    return tuple(measure for measure in evaluated if measure not in beside and measure.aggregate != "text")
