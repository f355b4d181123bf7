"""Evaluations side by side: what may be compared, on which queries, with which weights and
clusters.

Companions are measures evaluated beside those compared: they say how far the judgments of each
reach.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from idealrank.analysis.comparison.requirements import JudgmentsOption, require_same
from idealrank.data.interchange import by_query
from idealrank.data.label_kinds import Labels
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import IdealrankError, IncompatibleError, InputError, OptionError, warn
from idealrank.evaluation.evaluate import Evaluation
from idealrank.evaluation.label_needs import ALIKE, unreadable, way_out
from idealrank.measures.counts import NumRet
from idealrank.measures.cutoffs import Cutoff
from idealrank.measures.judgedness import JudgedShare, Unjudged
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measures
from idealrank.stats.design import Design
from idealrank.stats.randomness import RandomLike, generator_of
from idealrank.stats.tolerance import ROUNDING

TOO_SHORT = "lists too short to condense"
ALL_ALIKE = "judged documents all alike"

_ENOUGH = 30  # queries of equal weight, below which a warning says how few they are


def judgedness_of(measure: Measure) -> tuple[Measure, ...]:
    """The measures on unjudged documents: share judged and number returned at the cutoff, and the
    measure of judged documents.
    """
    if isinstance(measure, Unjudged | JudgedShare | NumRet) or measure.judged_only:
        return ()
    judged: tuple[Measure, ...] = ()
    with suppress(TypeError, IdealrankError):  # a user's measure with other arguments
        judged = (replace(measure, judged_only=True),)
    return (JudgedShare(cutoff=measure.cutoff), NumRet(cutoff=measure.cutoff), *judged)


def judgedness_among(measures: Sequence[Measure]) -> set[Measure]:
    """Find the measures that say how far the judgments of others reach, among those evaluated
    together; a count of documents alone is none.
    """
    companions: set[Measure] = set()
    for measure in measures:
        judgedness = judgedness_of(measure)
        if not judgedness:
            continue
        share, returned, *judged_only = judgedness
        companions |= {*judged_only, Unjudged(cutoff=measure.cutoff)}
        if share in measures and returned in measures:
            companions |= {share, returned}
    return companions & set(measures)


def with_companions(measures: "MeasureLike | Iterable[MeasureLike]") -> tuple[Measure, ...]:
    """Add the companion measures from which `compare` tells if there are too few judgments.

    Parameters
    ----------
    measures : measure or iterable of them
        Measures to compare.

    Returns
    -------
    tuple of Measure
        The given measures, then ``Judged`` and ``NumRet`` at each cutoff (for the unjudged share)
        and each measure with ``judged_only``.

    Examples
    --------
    >>> [str(measure) for measure in with_companions(["nDCG@10", "P@10"])]
    ['nDCG@10', 'P@10', 'Judged@10', 'NumRet@10', 'nDCG(judged_only=True)@10', 'P(judged_only=True)@10']
    """  # noqa: E501
    requested = parse_measures(measures)
    companions = chain.from_iterable(map(judgedness_of, requested))
    return tuple(dict.fromkeys((*requested, *companions)))


class QueryTable(NamedTuple):
    """Values of one run on all queries of a comparison."""

    # values, counted, answerable: shape (n_queries, n_measures)
    values: FloatArray
    counted: BoolArray
    answerable: BoolArray | None = None  # Queries with a relevant document; None if unknown
    spans: tuple[float, ...] = ()  # Range of each measure

    @classmethod
    def of(
        cls, evaluation: Evaluation, measures: Sequence[Measure], queries: Sequence[str]
    ) -> "QueryTable":
        """The columns of some measures, a row for each query."""
        columns = [evaluation.measures.index(measure) for measure in measures]
        values = np.full((len(queries), len(columns)), np.nan)
        rows = rows_in(evaluation, queries)
        values[rows] = np.where(evaluation.scored, evaluation.values, np.nan)[:, columns]
        spans = tuple(measure.bounds[1] - measure.bounds[0] for measure in measures)
        return cls(
            values=values,
            counted=np.isfinite(values),
            answerable=_answerable(evaluation, measures, queries),
            spans=spans,
        )

    def equal(self, other: "QueryTable") -> BoolArray:
        """Mark where two runs have the same value, but for rounding."""
        with np.errstate(invalid="ignore"):
            scale = np.fmax(np.abs(self.values), np.abs(other.values))
            return np.asarray(np.abs(self.values - other.values) <= ROUNDING * scale)


def _answerable(
    evaluation: Evaluation, measures: Sequence[Measure], queries: Sequence[str]
) -> BoolArray | None:
    """Queries with a relevant document, shape (n_queries, n_measures); None if the evaluation does
    not know them.
    """
    counts = [evaluation.coverage.by_measure.get(str(measure)) for measure in measures]
    # Results of earlier versions have the number of these queries without their ids.
    ids = [
        counted.unanswerable
        for counted in counts
        if counted is not None and len(counted.unanswerable) == counted.no_relevant
    ]
    if len(ids) < len(measures):
        return None
    answerable = np.ones((len(queries), len(measures)), np.bool_)
    if any(ids):
        row_of = {query: row for row, query in enumerate(queries)}
        for column, unanswerable in enumerate(ids):
            rows = [row_of[query] for query in unanswerable if query in row_of]
            answerable[rows, column] = False
    return answerable


class ComparedQueries(list[str]):
    """Queries of a comparison, which remembers the rows of each evaluation among them.

    Each measure asks for the rows of each run; with 60,000 queries, finding them anew each time
    takes as long as the tests.
    """

    def __init__(self, queries: Iterable[str]) -> None:
        super().__init__(queries)
        self._rows: dict[int, tuple[Evaluation, IntArray]] = {}

    def rows(self, evaluation: Evaluation) -> IntArray:
        """Row of each query of an evaluation."""
        if id(evaluation) not in self._rows:
            # The evaluation is kept, so that no other takes its id.
            self._rows[id(evaluation)] = evaluation, rows_in(evaluation, list(self))
        _, rows = self._rows[id(evaluation)]
        return rows


def rows_in(evaluation: Evaluation, queries: Sequence[str]) -> IntArray:
    """Row of each query of an evaluation among those compared."""
    if isinstance(queries, ComparedQueries):
        return queries.rows(evaluation)
    if len(evaluation.queries) == len(queries) and all(
        map(str.__eq__, evaluation.queries, queries)
    ):
        return np.arange(len(queries))
    place = {query: row for row, query in enumerate(queries)}
    return np.array([place[query] for query in evaluation.queries], np.int64)


def same_values(first: Evaluation, other: Evaluation) -> bool:
    """Return whether two evaluations by the same measures have equal values, to the last bit, in
    any order of queries.
    """
    if sorted(first.queries) != sorted(other.queries):
        return False
    place = {query: row for row, query in enumerate(first.queries)}
    rows = [place[query] for query in other.queries]
    same_scored = np.array_equal(first.scored[rows], other.scored)
    return same_scored and np.array_equal(first.values[rows], other.values, equal_nan=True)


def queries_of(evaluations: Sequence[Evaluation]) -> list[str]:
    """The union of the queries, by id: random signs go to queries in this order, and the order of
    lines in a file must not move them.
    """
    queries = chain.from_iterable(evaluation.queries for evaluation in evaluations)
    return ComparedQueries(sorted(set(queries)))


def comparable(
    evaluations: Sequence[Evaluation], judgments: JudgmentsOption | None = "same"
) -> Sequence[Evaluation]:
    """The evaluations, refused where their numbers mean different things; "different" judgments are
    meant. None for a caller that cannot allow them.
    """
    conventions = [evaluation.convention for evaluation in evaluations]
    if len({convention.fingerprint for convention in conventions}) > 1:
        names = ", ".join(map(str, conventions))
        raise IncompatibleError(f"found conventions {names}; expected one for all runs")
    first = evaluations[0]
    for other in evaluations[1:]:
        if first.provenance.max_documents != other.provenance.max_documents:
            cuts = f"{first.provenance.max_documents} and {other.provenance.max_documents}"
            raise IncompatibleError(
                f"found lists cut at {cuts} documents; expected one cut for all runs"
            )
    require_same(evaluations, judgments)
    return evaluations


def chosen_measures(
    evaluations: Sequence[Evaluation],
    requested: "MeasureLike | Iterable[MeasureLike] | None",
    labels: Labels | None = None,
) -> tuple[Measure, ...]:
    """Choose the measures to compare: the requested ones, or all with a direction except the
    companions of others.

    `labels` are declared for the comparison; by default each evaluation has its own.
    """
    first = evaluations[0].measures
    for other in evaluations[1:]:
        if requested is None and set(other.measures) != set(first):
            raise IncompatibleError(
                f"found measures {', '.join(map(str, first))} and "
                f"{', '.join(map(str, other.measures))}, expected the same",
                hint="name measures that all runs have with measures=",
                command_hint="name measures that all runs have with -m",
            )
    if requested is None:
        return _every_measure(evaluations, labels)
    measures = parse_measures(requested)
    for measure in measures:
        for evaluation in evaluations:
            if measure not in evaluation.measures:
                have = ", ".join(map(str, evaluation.measures))
                raise IncompatibleError(
                    f"{measure}: run {evaluation.name!r} was not evaluated by it, only by {have}"
                )
        if reason := unfit(measure):
            raise OptionError(f"{measure}: {reason}")
    if unreadable_ones := [measure for measure in measures if _alike(evaluations, measure, labels)]:
        raise _unreadable(unreadable_ones)
    return measures


def _every_measure(evaluations: Sequence[Evaluation], labels: Labels | None) -> tuple[Measure, ...]:
    """All measures that can be compared and read, without companions of others."""
    first = evaluations[0].measures
    companions = judgedness_among(first)
    fit = [measure for measure in first if measure not in companions and not unfit(measure)]
    if not fit:
        raise OptionError(
            f"found {', '.join(map(str, first))}, expected a measure of quality, such as nDCG@10"
        )
    readable = tuple(measure for measure in fit if not _alike(evaluations, measure, labels))
    if not readable:
        raise _unreadable(fit)
    return readable


def _alike(evaluations: Sequence[Evaluation], measure: Measure, labels: Labels | None) -> bool:
    """Return whether the judged documents of some run are all alike to the measure."""
    return any(
        unreadable(measure, labels or evaluation.provenance.labels, evaluation.coverage)
        for evaluation in evaluations
    )


def _unreadable(measures: Sequence[Measure]) -> OptionError:
    return OptionError(
        f"{', '.join(map(str, measures))}: {ALIKE}; {way_out(measures)}",
        hint="or label documents that are not relevant, with grade 0",
    )


def unfit(measure: Measure) -> str:
    """Why differences of this measure's means do not show what is better; empty where they do."""
    if measure.aggregate == "text":
        return "found a measure with text values, expected numbers"
    if measure.aggregate == "geometric":
        return (
            "its mean is geometric, and differences are of arithmetic means; compare the measure "
            "whose values it averages, as AP"
        )
    if measure.direction == 0:
        return (
            "more of it is neither better nor worse; expected a measure of quality such as nDCG@10"
        )
    return ""


def unjudged_counts(
    evaluation: Evaluation, cutoff: Cutoff | None, queries: Sequence[str]
) -> "FloatArray | None":
    """Documents without a judgment, and documents returned, down to the cutoff; a query that the
    run does not answer has none.
    """
    counts = (JudgedShare(cutoff=cutoff), NumRet(cutoff=cutoff))
    if all(measure in evaluation.measures for measure in counts):
        share, returned = np.nan_to_num(QueryTable.of(evaluation, counts, queries).values).T
        # Rounding restores whole numbers; under ties=expected, numbers of documents are fractions.
        return np.column_stack((returned - np.round(share * returned, 9), returned))
    if evaluation.coverage.unjudged_cutoff == (cutoff or 0):
        return np.tile([evaluation.coverage.unjudged_share, 1.0], (len(queries), 1))
    return None


def unjudged_share(counts: FloatArray) -> float:
    """Share of the documents returned without a judgment, in [0, 1]; 0 where nothing was
    returned.
    """
    unjudged, returned = counts.sum(axis=0).tolist()
    return unjudged / returned if returned else 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Judgedness:
    """Documents unjudged and returned, and values over judged documents alone, by measure; None
    where not measured.
    """

    counts: "tuple[FloatArray | None, ...]"
    judged: "tuple[FloatArray | None, ...]"
    short: tuple[bool, ...]  # Whether most lists end at the cutoff
    alike: tuple[bool, ...]  # Whether the judged documents are all alike to the measure

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        measures: Sequence[Measure],
        queries: Sequence[str],
        labels: Labels | None = None,
    ) -> "Judgedness":
        """Extract the columns of an evaluation; `labels` are declared for a comparison."""
        judged_only = [_judged_only(measure) for measure in measures]
        return cls(
            counts=tuple(
                unjudged_counts(evaluation, measure.cutoff, queries) for measure in measures
            ),
            judged=tuple(
                None if measure is None else _column(evaluation, measure, queries)
                for measure in judged_only
            ),
            short=tuple(_too_short(evaluation, measure) for measure in measures),
            alike=tuple(
                measure is not None and _alike([evaluation], measure, labels)
                for measure in judged_only
            ),
        )

    @cached_property
    def shares(self) -> "tuple[float | None, ...]":
        """Unjudged shares over all queries, for the run alone or for each pair."""
        return tuple(None if counts is None else unjudged_share(counts) for counts in self.counts)

    def beside(
        self, other: "Judgedness", column: int, kept: BoolArray, design: Design
    ) -> tuple[float | None, float | None, float | None]:
        """Unjudged shares of both sides, and the difference of judged documents, over some
        queries.
        """
        if kept.all():
            shares = [self.shares[column], other.shares[column]]
        else:
            shares = [
                None if side is None else unjudged_share(side[kept])
                for side in (self.counts[column], other.counts[column])
            ]
        own_share, other_share = shares
        judged = self.judged[column]
        other_judged = other.judged[column]
        unknown = any(shares) and self.judged_reason(other, column) is not None
        if judged is None or other_judged is None or unknown:
            return own_share, other_share, None
        difference = float(design.mean((other_judged - judged)[kept]))
        return own_share, other_share, difference if np.isfinite(difference) else None

    def judged_reason(self, other: "Judgedness", column: int) -> str | None:
        """Return why judged documents alone say nothing of a difference; None if they do."""
        if self.alike[column] or other.alike[column]:
            return ALL_ALIKE
        return TOO_SHORT if self.short[column] or other.short[column] else None


def _judged_only(measure: Measure) -> Measure | None:
    """The measure of judged documents alone; None if it has none."""
    companions = judgedness_of(measure)
    return next((companion for companion in companions if companion.judged_only), None)


def _too_short(evaluation: Evaluation, measure: Measure) -> bool:
    """Return whether most lists end at the cutoff, so that condensed lists are only shorter;
    unknown without the lists.
    """
    if evaluation.judged is None or not isinstance(measure.cutoff, int):
        return False
    lengths = evaluation.judged.lengths[evaluation.judged.lengths > 0]
    return bool(lengths.size) and 2 * int((lengths > measure.cutoff).sum()) < lengths.size


def _column(
    evaluation: Evaluation, measure: Measure, queries: Sequence[str]
) -> "FloatArray | None":
    if measure in evaluation.measures:
        return QueryTable.of(evaluation, [measure], queries).values[:, 0]
    return None


def seed_of(tables: Sequence[QueryTable]) -> int:
    """A seed from the values of the first measure alone, whatever the order of the runs and the
    other measures.

    So one question has one answer: asking for more measures changes no p value of the first.
    """
    # Adding 0 makes -0.0 a plain 0: equal values give equal bytes.
    columns = (np.where(table.counted[:, 0], table.values[:, 0] + 0.0, -1.0) for table in tables)
    digests = sorted(hashlib.sha256(column.astype("<f8").tobytes()).digest() for column in columns)
    return int.from_bytes(hashlib.sha256(b"".join(digests)).digest()[:4], "big")


def seed_from(rng: RandomLike, tables: Sequence[QueryTable]) -> int:
    """The seed that was given, one drawn from the generator that was given, or `seed_of` the
    tables.
    """
    if rng is None:
        return seed_of(tables)
    generator = generator_of(rng)
    return int(rng) if isinstance(rng, (int, np.integer)) else int(generator.integers(1 << 32))


def design_by_query(
    queries: Sequence[str],
    weights: Mapping[str, float] | None,
    clusters: Mapping[str, object] | None,
    test: str = "permutation",
) -> Design:
    """The design of these queries, for a test."""

    def of_each(name: str, values: Mapping[str, Any] | None) -> list[Any] | None:
        if values is None:
            return None
        values = by_query(values, name)
        missing = [query for query in queries if query not in values]
        if missing:
            raise InputError(
                f"{name}: found no value for query {missing[0]!r} ({len(missing)} of "
                f"{len(queries)} queries); expected a value for each query"
            )
        return [values[query] for query in queries]

    labels = of_each("clusters", clusters)
    design = Design.of(
        len(queries),
        weights=of_each("weights", weights),
        clusters=None if labels is None else list(map(str, labels)),
    )
    if test in ("wilcoxon", "sign") and not design.plain:
        options = " and ".join(
            name
            for name, values in (("weights", design.weights), ("clusters", design.clusters))
            if values is not None
        )
        raise OptionError(
            f"test {test!r}: found {options} of queries, which it cannot take, expected a test "
            f"that can",
            hint='use test="t" or test="permutation"',
            command_hint="use --test t or --test permutation",
        )
    return design


def weights_cautions(design: Design, test: str = "permutation") -> tuple[str, ...]:
    """Describe weights so unequal that a mean varies as much as one of few queries; none
    otherwise.
    """
    effective = design.effective_units
    if effective >= min(_ENOUGH, design.n_units / 2):
        return ()
    units = "queries" if design.clusters is None else "clusters"
    counted = (
        f"weights: {design.n_units:,} {units} count as much as {effective:.1f} of equal weight"
    )
    if test == "t":
        # As many degrees of freedom as few queries have; experiments/which_test.py shows the loss
        # of power.
        return (
            f"{counted}; Student's t accounts for it, and has less power than the permutation test",
        )
    return (f"{counted}; intervals by Student's t and detectable differences account for it",)


def warn_of_weights(design: Design, test: str = "permutation") -> tuple[str, ...]:
    """Warn of what `weights_cautions` describes, and return it."""
    cautions = weights_cautions(design, test)
    for caution in cautions:
        warn(caution)
    return cautions


def restricted(design: Design, kept: BoolArray) -> Design:
    """The design of some of its queries."""
    if kept.all():
        return design
    weights = None if design.weights is None else design.weights[kept]
    clusters = None if design.clusters is None else design.clusters[kept]
    return Design.of(int(kept.sum()), weights=weights, clusters=clusters)


def alike_columns(counted: BoolArray) -> list[tuple[BoolArray, IntArray]]:
    """Group columns that count the same queries: what each group counts, and its columns."""
    alike: dict[bytes, list[int]] = {}  # np.unique would be slow: it makes each query a column
    for column, kept in enumerate(counted.T):
        alike.setdefault(kept.tobytes(), []).append(column)
    return [(counted[:, columns[0]], np.array(columns)) for columns in alike.values()]
