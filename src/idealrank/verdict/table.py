"""Evaluations side by side: what may be compared, on which queries, and the measures that only stand beside others."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import IdealrankError, IncompatibleError, OptionError
from idealrank.evaluation import Evaluation, compatible
from idealrank.measures.judgedness import JudgedShare, Unjudged
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measures
from idealrank.stats.design import Design
from idealrank.stats.randomness import RandomLike, generator_of
from idealrank.verdict.judgments import JudgmentsOption, require_same

_SAME = 1e-12  # of the largest value: differences below are rounding


@dataclass(frozen=True, eq=False)
class Table:
    """Values of one run on all queries of a comparison.

    Parameters
    ----------
    values : float64 array, shape (n_queries, n_measures)
        NaN where the query does not count.
    counted : bool array, of the same shape
        Which values do.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> Table.of(one, one.measures, ["p", "q"]).counted.tolist()
    [[False], [True]]
    """

    values: FloatArray
    counted: BoolArray

    @classmethod
    def of(cls, evaluation: Evaluation, measures: Sequence[Measure], queries: Sequence[str]) -> "Table":
        """The columns of some measures, a row for each query."""
        columns = [evaluation.measures.index(measure) for measure in measures]
        values = np.full((len(queries), len(columns)), np.nan)
        rows = rows_in(evaluation, queries)
        values[rows] = np.where(evaluation.scored, evaluation.values, np.nan)[:, columns]
        return cls(values, np.isfinite(values))

    def equal(self, other: "Table") -> BoolArray:
        """Where two runs have the same value, but for rounding."""
        with np.errstate(invalid="ignore"):
            scale = np.fmax(np.abs(self.values), np.abs(other.values))
            return np.asarray(np.abs(self.values - other.values) <= _SAME * scale)


def rows_in(evaluation: Evaluation, queries: Sequence[str]) -> IntArray:
    """Row of each query of an evaluation among those compared.

    Examples
    --------
    >>> import idealrank as ir
    >>> rows_in(ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR"), ["p", "q"])
    array([1])
    """
    if len(evaluation.queries) == len(queries) and all(map(str.__eq__, evaluation.queries, queries)):
        return np.arange(len(queries))
    place = {query: row for row, query in enumerate(queries)}
    return np.array([place[query] for query in evaluation.queries], np.int64)


def same_values(one: Evaluation, other: Evaluation) -> bool:
    """Whether two evaluations by the same measures have the same values, to the last bit, whatever the order of their queries.

    Examples
    --------
    >>> import idealrank as ir
    >>> one, other = (ir.evaluate({"q": {"x": 1}}, {"q": ranking}, "RR") for ranking in (["x"], ["y", "x"]))
    >>> same_values(one, one), same_values(one, other)
    (True, False)
    """
    if sorted(one.queries) != sorted(other.queries):
        return False
    place = {query: row for row, query in enumerate(one.queries)}
    rows = [place[query] for query in other.queries]
    return np.array_equal(one.values[rows], other.values, equal_nan=True) and np.array_equal(one.scored[rows], other.scored)


def queries_of(evaluations: Sequence[Evaluation]) -> list[str]:
    """The union of the queries, by id: random signs go to queries in this order, and the order of lines in a file must not move them.

    Examples
    --------
    >>> import idealrank as ir
    >>> queries_of([ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")] * 2)
    ['q']
    """
    return sorted({query for evaluation in evaluations for query in evaluation.queries})


def comparable(evaluations: Sequence[Evaluation], judgments: JudgmentsOption = "same") -> Sequence[Evaluation]:
    """The evaluations, refused where their numbers mean different things; "different" judgments are meant.

    Raises
    ------
    IncompatibleError
        Their conventions, cuts or judgments differ.

    Examples
    --------
    >>> import idealrank as ir
    >>> one, two = (ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR", name) for name in ("standard", "lightgbm"))
    >>> comparable([one, two])
    Traceback (most recent call last):
    idealrank.errors.IncompatibleError: found conventions standard [...], lightgbm [...]; expected one for all runs
    """
    compatible(evaluations)
    first = evaluations[0]
    for other in evaluations[1:]:
        if first.provenance.max_documents != other.provenance.max_documents:
            cuts = f"{first.provenance.max_documents} and {other.provenance.max_documents}"
            raise IncompatibleError(f"found lists cut at {cuts} documents; expected one cut for all runs")
    require_same(evaluations, judgments)
    return evaluations


def chosen_measures(evaluations: Sequence[Evaluation], asked: "MeasureLike | Iterable[MeasureLike] | None") -> tuple[Measure, ...]:
    """What is compared: the measures asked for, or all that know better and worse and are nobody's companions.

    Raises
    ------
    IncompatibleError
        A measure was not evaluated for every run.
    OptionError
        A measure cannot be compared by differences of means.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["RR@5", "RR(judged_only=True)@5", "Unjudged@5", "NumRet"])
    >>> [str(measure) for measure in chosen_measures([one], None)]
    ['RR@5']
    """
    first = evaluations[0].measures
    for other in evaluations[1:]:
        if asked is None and set(other.measures) != set(first):
            ours, theirs = (", ".join(map(str, measures)) for measures in (first, other.measures))
            raise IncompatibleError(f"found measures {ours} and {theirs}; expected the same, or measures= with those that all runs have")
    if asked is None:
        beside = {companion for measure in first for companion in companions_of(measure)}
        wanted = tuple(measure for measure in first if measure not in beside and not unfit(measure))
        if not wanted:
            raise OptionError(f"found {', '.join(map(str, first))}, expected a measure of which more, or less, is better, such as nDCG@10")
        return wanted
    wanted = parse_measures(asked)
    for measure in wanted:
        for evaluation in evaluations:
            if measure not in evaluation.measures:
                have = ", ".join(map(str, evaluation.measures))
                raise IncompatibleError(f"{measure}: run {evaluation.name!r} was not evaluated by it, only by {have}")
        if reason := unfit(measure):
            raise OptionError(f"{measure}: {reason}")
    return wanted


def unfit(measure: Measure) -> str:
    """Why differences of this measure's means say nothing about better and worse; empty where they do.

    Examples
    --------
    >>> import idealrank as ir
    >>> unfit(ir.NumRel())
    'more of it is neither better nor worse; expected a measure of quality such as nDCG@10'
    """
    if measure.aggregate == "text":
        return "found a measure of text, expected numbers"
    if measure.aggregate == "geometric":
        return "its mean is geometric, and differences are of arithmetic means; compare the measure whose values it averages, as AP"
    if measure.direction == 0:
        return "more of it is neither better nor worse; expected a measure of quality such as nDCG@10"
    return ""


def companions_of(measure: Measure) -> tuple[Measure, ...]:
    """The measures that say how far judgments reach: the unjudged share at the same cutoff, and the measure of judged documents alone.

    Examples
    --------
    >>> import idealrank as ir
    >>> [str(one) for one in companions_of(ir.NDCG(cutoff=10))]
    ['Unjudged@10', 'nDCG(judged_only=True)@10']
    """
    if isinstance(measure, Unjudged | JudgedShare) or measure.judged_only:
        return ()
    judged: tuple[Measure, ...] = ()
    try:
        judged = (replace(measure, judged_only=True),)
    except (TypeError, IdealrankError):  # a measure of somebody's own that is made otherwise
        judged = ()
    return (Unjudged(cutoff=measure.cutoff), *judged)


def with_companions(measures: "MeasureLike | Iterable[MeasureLike]") -> tuple[Measure, ...]:
    """Measures, with those that let `compare` say how far the judgments reach.

    Parameters
    ----------
    measures : measure or iterable of them
        What is to be compared.

    Returns
    -------
    tuple of Measure
        The same, then ``Unjudged`` at each cutoff and each measure with ``judged_only``.

    Examples
    --------
    >>> [str(measure) for measure in with_companions(["nDCG@10", "P@10"])]
    ['nDCG@10', 'P@10', 'Unjudged@10', 'nDCG(judged_only=True)@10', 'P(judged_only=True)@10']
    """
    asked = parse_measures(measures)
    return tuple(dict.fromkeys((*asked, *(companion for measure in asked for companion in companions_of(measure)))))


@dataclass(frozen=True, eq=False)
class Companions:
    """Of each measure compared: the share of unjudged documents, and values over judged documents alone; None where not measured.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x", "y"]}, with_companions("RR@2"))
    >>> Companions.of(one, one.measures[:1], ["q"]).unjudged[0]
    array([0.5])
    """

    unjudged: "tuple[FloatArray | None, ...]"
    judged: "tuple[FloatArray | None, ...]"

    @classmethod
    def of(cls, evaluation: Evaluation, measures: Sequence[Measure], queries: Sequence[str]) -> "Companions":
        """What the evaluation has."""
        unjudged, judged = [], []
        for measure in measures:
            found = [_column(evaluation, companion, queries) for companion in companions_of(measure)]
            share, alone = (*found, None, None)[:2]
            if share is None and evaluation.coverage.unjudged_cutoff == (measure.cutoff or 0):
                share = np.full(len(queries), evaluation.coverage.unjudged_share)
            unjudged.append(share)
            judged.append(alone)
        return cls(tuple(unjudged), tuple(judged))

    @cached_property
    def shares(self) -> "tuple[float | None, ...]":
        """Unjudged shares over all queries; those of one run stand beside each other one."""
        return tuple(None if share is None else float(np.nanmean(share)) for share in self.unjudged)

    def beside(self, other: "Companions", column: int, kept: BoolArray, design: Design) -> tuple[float | None, float | None, float | None]:
        """Unjudged shares of both sides, and the difference of judged documents, over some queries.

        Parameters
        ----------
        other : Companions
            Of run b.
        column : int
            The measure.
        kept : bool array, shape (n_queries,)
            The queries compared.
        design : Design
            Of these queries: its weights count in the difference.
        """
        if kept.all():
            shares = [self.shares[column], other.shares[column]]
        else:
            shares = [None if side is None else float(np.nanmean(side[kept])) for side in (self.unjudged[column], other.unjudged[column])]
        ours, theirs = self.judged[column], other.judged[column]
        difference = None if ours is None or theirs is None else float(design.mean((theirs - ours)[kept]))
        return shares[0], shares[1], None if difference is None or not np.isfinite(difference) else difference


def _column(evaluation: Evaluation, measure: Measure, queries: Sequence[str]) -> "FloatArray | None":
    return Table.of(evaluation, [measure], queries).values[:, 0] if measure in evaluation.measures else None


def seed_of(tables: Sequence[Table]) -> int:
    """A seed from the values of the first measure alone, whatever the order of the runs and the other measures.

    So one question has one answer: asking for more measures changes no p value of the first.

    Examples
    --------
    >>> one, two = (Table(np.array([[value]]), np.array([[True]])) for value in (0.25, 0.5))
    >>> seed_of([one, two]) == seed_of([two, one])
    True
    """
    columns = (np.where(one.counted[:, 0], one.values[:, 0] + 0.0, -1.0) for one in tables)
    digests = sorted(hashlib.sha256(column.astype("<f8").tobytes()).digest() for column in columns)
    return int.from_bytes(hashlib.sha256(b"".join(digests)).digest()[:4], "big")


def seed_from(rng: RandomLike, tables: Sequence[Table]) -> int:
    """The seed that was given, one drawn from the generator that was given, or `seed_of` the tables.

    Raises
    ------
    OptionError
        It is neither seed nor generator.

    Examples
    --------
    >>> seed_from(7, [])
    7
    """
    if rng is None:
        return seed_of(tables)
    generator = generator_of(rng)
    return int(rng) if isinstance(rng, (int, np.integer)) else int(generator.integers(1 << 32))
