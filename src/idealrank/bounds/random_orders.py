"""Chance level and ceiling: the expected value of a random order of all candidates, in closed form,
and the best value that any order of them has.

Both are values of one list, in which all candidates tie: its mean over all orders, and its best
order. Measures have both for ties, so that the chance level follows every switch as values do.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from idealrank._lazy import printed
from idealrank.conventions import Convention
from idealrank.data.candidates import Candidates, JoinedCandidates
from idealrank.data.interchange import finite, frame_of
from idealrank.data.qrels import Qrels
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures import MEASURES
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measure, parse_measures
from idealrank.measures.sums import Means, values_by_query


@dataclass(frozen=True, kw_only=True, eq=False)
class Chance:
    """Expected value of a random order of the candidates, and the best value that they allow; see
    `chance`.

    Attributes
    ----------
    queries : sequence of str
        Queries that count.
    measures : tuple of Measure
        Measures as requested, without those in `not_offered`.
    values : float64 array, shape (n_queries, n_measures)
        Mean value over all orders of all candidates.
    ceilings : float64 array, shape (n_queries, n_measures)
        Highest value of these orders.
    scored : bool array, shape (n_queries, n_measures)
        Values that count in the means, as in an evaluation.
    candidates : int64 array, shape (n_queries,)
        Number of candidates of each query.
    outside : int64 array, shape (n_queries,)
        Number of judged documents of each query that are not candidates. They lower the ceiling,
        not the ideal.
    convention : Convention
        Convention of every value.
    not_offered : mapping of str to str
        Reason why a measure has no chance level, by its text.

    Examples
    --------
    >>> import idealrank as ir
    >>> level = ir.chance({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y", "z"]}, ["RR", "R@2"])
    >>> level.mean(), level.mean_ceiling()
    ({'RR': 0.5208333333333333, 'R@2': 0.25}, {'RR': 1.0, 'R@2': 0.5})
    """

    queries: Sequence[str]
    measures: tuple[Measure, ...]
    values: FloatArray
    ceilings: FloatArray
    scored: BoolArray
    candidates: IntArray
    outside: IntArray
    convention: Convention
    not_offered: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, measure: MeasureLike) -> FloatArray:
        """Chance level of one measure, shape (n_queries,), in the order of `queries`."""
        return self.values[:, self._column(measure)]

    def ceiling(self, measure: MeasureLike) -> FloatArray:
        """Return the best value of one measure that the candidates allow, shape (n_queries,)."""
        return self.ceilings[:, self._column(measure)]

    def _column(self, measure: MeasureLike) -> int:
        parsed = parse_measure(measure)
        if parsed not in self.measures:
            listed = ", ".join(map(str, self.measures)) or "none"
            raise KeyError(f"{parsed}: no chance level here, only of {listed}")
        return self.measures.index(parsed)

    def mean(self) -> Means:
        """Mean chance level of each measure over the queries that count; NaN where none does."""
        return Means.of(self.measures, self.values, self.scored)

    def mean_ceiling(self) -> Means:
        """Mean ceiling of each measure over the queries that count; NaN where none does."""
        return Means.of(self.measures, self.ceilings, self.scored)

    def per_query(self) -> dict[str, dict[str, float | None]]:
        """Return ``{query: {measure: chance level}}``; None if the query does not count."""
        return values_by_query(self.queries, self.measures, self.values, self.scored)

    def ceiling_per_query(self) -> dict[str, dict[str, float | None]]:
        """Return ``{query: {measure: ceiling}}``; None if the query does not count."""
        return values_by_query(self.queries, self.measures, self.ceilings, self.scored)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Sentences about cutoffs that are deeper than the candidates of all or some queries."""
        cautions = []
        for place, measure in enumerate(self.measures):
            if measure.over_orders == "by set":
                cautions.append(self._caution(measure, self.values[:, place]))
        return tuple(filter(None, cautions))

    def _caution(self, measure: Measure, values: FloatArray) -> str:
        """Sentence about a cutoff that no candidate is beyond; empty if there is none."""
        if measure.cutoff is None:
            return ""
        is_deep = self.candidates <= resolve_cutoff(measure.cutoff, self.candidates)
        if not is_deep.any():
            return ""
        distinct = np.unique(values[is_deep & ~np.isnan(values)].round(12))
        value = f"is {distinct[0]:.4g}" if distinct.size == 1 else "has the same value"
        sizes = np.unique(self.candidates[is_deep])
        size = f"{sizes[0]:,}" if sizes.size == 1 else f"at most {sizes[-1]:,}"
        where = ""
        if not is_deep.all():
            where = f" ({np.count_nonzero(is_deep):,} of {is_deep.size:,} queries)"
        return f"{measure} of {size} candidates{where} {value} whatever the ranking"

    __str__ = printed

    def __repr__(self) -> str:
        means = ", ".join(f"{text} {value:.4g}" for text, value in self.mean().items())
        return f"Chance({means or 'no measure'}; {len(self.queries)} queries)"

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record: means by measure, and numbers of candidates."""
        chances = self.mean()
        ceilings = self.mean_ceiling()
        measures = {
            text: {"chance": chances[text], "ceiling": ceilings[text], "n": n}
            for text, n in zip(chances, self.scored.sum(axis=0).tolist(), strict=True)
        }
        record: dict[str, Any] = {
            "convention": str(self.convention),
            "queries": len(self.queries),
            "candidates": int(self.candidates.sum()),
            "judged_outside": int(self.outside.sum()),
            "measures": finite(measures),
        }
        if self.not_offered:
            record["not_offered"] = dict(self.not_offered)
        return record

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a dataframe with a row per query: query, candidates, and for each measure its
        chance level and its ceiling.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.chance({"q": {"a": 1}}, 4, "RR").to_frame("polars").columns
        ['query', 'candidates', 'RR chance', 'RR ceiling']
        """
        columns: dict[str, Any] = {"query": list(self.queries), "candidates": self.candidates}
        for place, measure in enumerate(self.measures):
            columns[f"{measure} chance"] = self.values[:, place]
            columns[f"{measure} ceiling"] = self.ceilings[:, place]
        return frame_of(columns, backend)


class _Levels(NamedTuple):
    """Columns of some queries."""

    queries: list[str]
    # values, ceilings, scored: shape (n_queries, n_measures), as in `Chance`
    values: FloatArray
    ceilings: FloatArray
    scored: BoolArray
    # candidates, outside: shape (n_queries,), as there
    candidates: IntArray
    outside: IntArray


def chance_of(
    qrels: Qrels,
    candidates: Candidates,
    measures: Iterable[MeasureLike] | MeasureLike,
    convention: Convention,
    queries: Sequence[str] | None = None,
) -> Chance:
    """Chance levels and ceilings of the judged queries, or of some queries in their order; the
    reason for a measure without one is in `not_offered`.
    """
    joined = candidates.join(qrels)
    codes = _codes(joined, convention, queries)
    offered: list[Measure] = []
    not_offered: dict[str, str] = {}
    for measure in parse_measures(measures):
        resolved = measure.under(convention)
        reason = _why_not_offered(resolved) or _why_no_ceiling(resolved, joined, codes)
        if reason:
            not_offered[str(measure)] = reason
        else:
            offered.append(measure)
    levels = _levels(joined, codes, [measure.under(convention) for measure in offered], convention)
    if queries is not None:
        others = [query for query in queries if query not in qrels]
        if others:
            levels = _with_unjudged(levels, candidates, others, offered, convention)
        levels = _in_order(levels, queries)
    return Chance(
        **levels._asdict(),
        measures=tuple(offered),
        convention=convention,
        not_offered=not_offered,
    )


def chance_of_evaluation(evaluation: Evaluation) -> Chance:
    """Chance levels of the queries and measures of an evaluation; the function of
    `Evaluation.chance`.
    """
    if evaluation.candidates is None:
        raise InputError(
            f"{evaluation.name}: found no candidates, which chance level and lift need",
            hint="evaluate with candidates=",
            command_hint="set --candidates",
        )
    qrels, candidates = evaluation.candidates
    return chance_of(
        qrels, candidates, evaluation.measures, evaluation.convention, list(evaluation.queries)
    )


def _why_not_offered(measure: Measure) -> str:
    """Reason why a measure with every option set has no chance level here; empty if it has one."""
    if measure.over_orders == "not offered" or measure.direction != 1:
        offered = [name for name, kind in MEASURES.items() if kind.over_orders != "not offered"]
        names = ", ".join(offered)
        return f"its mean over all orders is known in closed form only for {names}"
    rounding = getattr(measure, "rounding", None)
    if rounding not in (None, "none"):
        return f"each value is rounded ({rounding}), whose mean over orders has no closed form"
    if getattr(measure, "ideal", None) == "returned":
        return (
            "the ideal is that of the returned documents (ideal=returned), which depends on the "
            "order where lists are cut at a rank"
        )
    return ""


def _why_no_ceiling(measure: Measure, joined: JoinedCandidates, codes: IntArray) -> str:
    """Reason why the order by falling gain need not be the best; empty if it is."""
    if getattr(measure, "no_relevant", None) == "quotient":
        worth = measure.worth(joined.qrels.grades)
        if worth is not None and (worth < 0).any():
            return "values may be divided by an ideal below 0 (no_relevant=quotient)"
    discount: Any = getattr(measure, "discount", None)
    if discount is None:
        return ""
    sizes = joined.sizes[codes]
    lengths = np.unique(sizes) if discount.by_length else np.array([sizes.max(initial=0)])
    cutoffs = resolve_cutoff(measure.cutoff, lengths)
    for length, cutoff in zip(lengths.tolist(), cutoffs.tolist(), strict=True):
        ranks = np.arange(1, min(length, cutoff) + 1)
        weights = discount.at(ranks, np.full(ranks.size, length))
        if (np.diff(weights) > 0).any() or (weights < 0).any():
            return f"weights of ranks rise or are below 0 (discount={discount.text})"
    return ""


def refuse_not_offered(level: Chance) -> None:
    """Raise the reason for the first measure without a chance level."""
    for text, reason in level.not_offered.items():
        raise OptionError(f"{shown(text)}: the chance level is not offered: {reason}")


def _codes(
    joined: JoinedCandidates, convention: Convention, queries: Sequence[str] | None
) -> IntArray:
    """Codes of the queries that count, rising."""
    qrels = joined.qrels
    is_wanted = np.ones(qrels.n_queries, np.bool_)
    if queries is not None:
        wanted = set(queries)
        is_wanted[:] = [query in wanted for query in qrels.queries]
    without = np.flatnonzero(is_wanted & ~joined.known)
    if without.size and convention.alignment.missing != "left-out":
        raise InputError(
            f"candidates: found none for query {qrels.queries[int(without[0])]!r} "
            f"({without.size:,} of {np.count_nonzero(is_wanted):,} queries), expected candidates "
            "of every query; an empty list says that nothing could be returned, missing=left-out "
            "leaves such queries out",
            switch="missing=left-out",
        )
    codes = np.flatnonzero(is_wanted & joined.known)
    if not codes.size and queries is None:
        raise InputError(
            f"candidates: found candidates of none of the {qrels.n_queries:,} judged queries; do "
            "the query ids of both match?"
        )
    return codes


def _with_unjudged(
    levels: _Levels,
    candidates: Candidates,
    others: Sequence[str],
    measures: Sequence[Measure],
    convention: Convention,
) -> _Levels:
    """The levels with further ones, of queries without judgments."""
    unjudged = chance_of(Qrels({query: {} for query in others}), candidates, measures, convention)
    return _Levels(
        queries=[*levels.queries, *unjudged.queries],
        values=np.concatenate((levels.values, unjudged.values)),
        ceilings=np.concatenate((levels.ceilings, unjudged.ceilings)),
        scored=np.concatenate((levels.scored, unjudged.scored)),
        candidates=np.concatenate((levels.candidates, unjudged.candidates)),
        outside=np.concatenate((levels.outside, unjudged.outside)),
    )


def _in_order(levels: _Levels, queries: Sequence[str]) -> _Levels:
    """The levels in another order of the queries, without those that have none."""
    place_of = {query: place for place, query in enumerate(levels.queries)}
    ordered = [query for query in queries if query in place_of]
    places = np.array([place_of[query] for query in ordered], np.int64)
    return _Levels(
        queries=ordered,
        values=levels.values[places],
        ceilings=levels.ceilings[places],
        scored=levels.scored[places],
        candidates=levels.candidates[places],
        outside=levels.outside[places],
    )


def _levels(
    joined: JoinedCandidates, codes: IntArray, measures: Sequence[Measure], convention: Convention
) -> _Levels:
    """Chance levels and ceilings by measures with every option set."""
    values = np.full((codes.size, len(measures)), np.nan)
    ceilings = values.copy()
    scored = np.ones(values.shape, np.bool_)
    averaged = joined.one_tie(codes, convention.alignment, "expected")
    best = joined.one_tie(codes, convention.alignment, "best")
    for place, measure in enumerate(measures):
        expected = measure.mean_over_orders(averaged)
        values[:, place] = expected.values
        ceilings[:, place] = measure.measured(best).values
        if expected.scored is not None:
            scored[:, place] = expected.scored
    return _Levels(
        queries=[joined.qrels.queries[code] for code in codes.tolist()],
        values=values,
        ceilings=ceilings,
        scored=scored,
        candidates=joined.sizes[codes],
        outside=joined.outside(codes),
    )
