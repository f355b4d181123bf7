"""Contribution of each judged document to the value of a measure, for all queries at once.

A document adds what the value rises when the list is known one rank further, nothing being judged
below: the value of the list down to it less the value of the list above it. For sums of gain x
discount over a fixed ideal that is the document's own term, whatever the other documents are. For
AP it is the precision at its rank over the number of relevant documents, for RR 1 / rank of the
first relevant one: the terms that `explain` shows. For ERR it is the chance to stop there over the
rank.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.judged import Alignments, Hits, Judged, Judgments
from idealrank.data.policies import IdealGrades
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.segments import heads, joined_ranges, starts_of
from idealrank.data.types import BoolArray, FloatArray, IntArray, QueryIds
from idealrank.errors import IdealrankError, OptionError, shown
from idealrank.evaluation.evaluate import evaluate
from idealrank.measures.binary import AP
from idealrank.measures.measure import Measure

# Tie policies under which tied documents have no order among themselves.
UNORDERED = ("expected", "best", "worst")
# Rows of judgments and hits of the lists that are measured at once.
_ROWS = 1 << 20


def split_of(measure: Measure) -> str:
    """Describe in words how a measure splits a value among documents."""
    refuse_unfit(measure)
    return measure.split


def can_be_attributed(measure: Measure, convention: "Convention | str" = "standard") -> bool:
    """Return whether `attribute` can split a measure; its options may prevent this.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measure
    >>> can_be_attributed(parse_measure("AP")), can_be_attributed(parse_measure("AUC"))
    (True, False)
    """
    qrels = Qrels({"q": {"a": 1, "b": 0}})
    run = Run({"q": ["b", "a"]})
    convention = Convention.of(convention)
    try:
        resolved = measure.under(convention)
        split_of(resolved)
        evaluation = evaluate(
            qrels, run, measure, convention, keep_unjudged=True, keep_for=[AP()], threads=1
        )
        if evaluation.judged is not None:
            added(resolved, seen_by(resolved, evaluation.judged))
    except IdealrankError:
        return False
    return True


def refuse_unfit(measure: Measure) -> None:
    """Refuse a measure whose difference is no mean of differences of queries."""
    measure.check_tables(())
    kind: str | None = measure.kind
    if kind == "per query":
        kind = {"geometric": "geometric mean", "text": "text"}.get(measure.aggregate)
    if kind:
        raise OptionError(
            f"{shown(measure)}: found a measure of {kind}, expected one whose difference is a "
            "mean over queries, as nDCG, or AP in the place of GMAP"
        )


def seen_by(measure: Measure, judged: Judged) -> Judged:
    """Remove unjudged documents if the measure does."""
    return judged.condensed(pooled=False) if measure.judged_only else judged


def added(measure: Measure, judged: Judged) -> FloatArray:
    """Compute the contribution of each hit, shape (n_hits,)."""
    hits = judged.hits
    gains = measure.worth(hits.grade)
    terms = None if gains is None else measure.terms(judged, hits, gains)
    return _from_the_top(measure, judged) if terms is None else terms.over_ideal(hits.query)


def _from_the_top(measure: Measure, judged: Judged) -> FloatArray:
    """Rises of the value from one rank, or tie group, to the next; a rise of several tied documents
    is shared among them.
    """
    hits = judged.hits
    counted = _that_count(measure, judged)
    sums = np.zeros(hits.query.size)
    counted_hits = np.flatnonzero(counted)
    if not counted_hits.size:
        return sums
    query = hits.query[counted_hits]
    group = _groups(judged, hits.part(counted))
    first = starts_of(group)
    after = np.append(first[1:], counted_hits.size)
    begin = np.searchsorted(query, query[first])
    no_hit = np.full(first.size, -1)
    values = _values(
        measure,
        judged,
        counted_hits,
        _States(query=query[first], begin=begin, end=after, extra=no_hit),
    )
    # The value before a group is the value of the group above, or of a list without hits.
    before = np.concatenate(([0.0], values[:-1]))
    of_new_query = np.flatnonzero(begin == first)
    empty = _States(
        query=query[first[of_new_query]],
        begin=begin[of_new_query],
        end=begin[of_new_query],
        extra=no_hit[of_new_query],
    )
    before[of_new_query] = _values(measure, judged, counted_hits, empty)
    rise = values - before
    sizes = after - first
    shares = np.repeat(rise, sizes)
    several = np.flatnonzero(np.repeat(sizes > 1, sizes))
    if several.size:
        group_of = np.repeat(np.arange(first.size), sizes)[several]
        with_each = _States(
            query=query[several], begin=begin[group_of], end=first[group_of], extra=several
        )
        alone = _values(measure, judged, counted_hits, with_each) - before[group_of]
        shares[several] = _shared(rise, alone, group_of, sizes)
    sums[counted_hits] = shares
    return sums


def _that_count(measure: Measure, judged: Judged) -> BoolArray:
    """Hits that the measure may look at."""
    hits = judged.hits
    depth = measure.hits_needed()
    top = hits.rank if hits.tie_first is None else np.minimum(hits.tie_first, hits.rank)
    return np.ones(top.size, bool) if not depth else top <= depth


def _groups(judged: Judged, hits: Hits) -> IntArray:
    """A number for each hit, that of its tie group where tied documents have no order."""
    if judged.ties not in UNORDERED or hits.tie_first is None:
        return np.arange(hits.query.size)
    return np.cumsum(heads(hits.query, hits.tie_first)) - 1


def _shared(rise: FloatArray, alone: FloatArray, group_of: IntArray, sizes: IntArray) -> FloatArray:
    """The rise of each tie group shared among its documents, in proportion to what each would add
    alone; if these have different signs, the remainder is shared equally.
    """
    total = np.bincount(group_of, weights=alone, minlength=rise.size)
    magnitude = np.bincount(group_of, weights=np.abs(alone), minlength=rise.size)
    one_sign = (np.abs(total) == magnitude) & (magnitude > 0)
    factor = np.divide(rise, total, out=np.ones_like(rise), where=one_sign)
    remainder = np.where(one_sign, 0.0, rise - total) / sizes
    return alone * factor[group_of] + remainder[group_of]


class _States(NamedTuple):
    """Shorter lists: of a query, the hits from `begin` to before `end`, and one more where `extra`
    is not -1; shape (n_states,).
    """

    query: IntArray
    begin: IntArray
    end: IntArray
    extra: IntArray

    def part(self, rows: slice) -> "_States":
        return _States(
            query=self.query[rows],
            begin=self.begin[rows],
            end=self.end[rows],
            extra=self.extra[rows],
        )

    @property
    def sizes(self) -> IntArray:
        n_extra = np.where(self.extra >= 0, 1, 0)
        return self.end - self.begin + n_extra

    def hits(self) -> tuple[IntArray, IntArray]:
        """State and hit of each row."""
        state, hit = _ranges(self.begin, self.end - self.begin)
        more = np.flatnonzero(self.extra >= 0)
        state = np.concatenate((state, more))
        hit = np.concatenate((hit, self.extra[more]))
        order = np.lexsort((hit, state))
        return state[order], hit[order]


def _ranges(begin: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Number of its range, and value, of each member of ranges of whole numbers."""
    return np.repeat(np.arange(begin.size), sizes), joined_ranges(begin, sizes)


def _values(measure: Measure, judged: Judged, place: IntArray, states: _States) -> FloatArray:
    """Values of shorter lists; an error where one is undefined and its whole list is not."""
    has_policy = any(field.name == "no_relevant" for field in fields(measure))
    strict = replace(measure, no_relevant="nan") if has_policy else measure  # type: ignore[call-arg]
    whole = strict.compute(judged)
    defined = ~np.isnan(whole.values) & (True if whole.scored is None else whole.scored)
    values = np.zeros(states.query.size)
    offsets = judged.ideal.offsets
    for rows in _pieces(states.sizes + np.diff(offsets)[states.query]):
        part = states.part(rows)
        measured = strict.compute(_shorter(judged, place, part))
        is_value = ~np.isnan(measured.values) & (
            True if measured.scored is None else measured.scored
        )
        if (defined[part.query] & ~is_value).any():
            raise OptionError(
                f"{shown(measure)}: found a measure without a value for the first documents of a "
                "list, expected a measure that can be split among documents, such as nDCG, DCG, "
                "AP, RR, ERR, RBP, P and R; its values per query can still be compared"
            )
        values[rows] = np.where(defined[part.query], measured.values, 0.0)
    return values


def _pieces(rows: IntArray) -> Iterator[slice]:
    """Stretches of states with at most `_ROWS` rows together, or of one state."""
    begin = 0
    total = np.cumsum(rows)
    while begin < rows.size:
        rows_before = total[begin - 1] if begin else 0
        end = max(int(np.searchsorted(total, rows_before + _ROWS, side="right")), begin + 1)
        yield slice(begin, end)
        begin = end


def _shorter(judged: Judged, place: IntArray, states: _States) -> Judged:
    """Shorter lists as queries of their own: hits are gone, lengths and judgments stay."""
    state, hit = states.hits()
    hit_rows = place[hit]
    hits = judged.hits
    offsets = judged.ideal.offsets
    of_state, row = _ranges(offsets[:-1][states.query], np.diff(offsets)[states.query])
    new_offsets = np.concatenate(([0], np.cumsum(np.diff(offsets)[states.query])))
    counters = _picked(judged.alignments, states.query)._replace(
        judged=np.bincount(state, minlength=states.query.size)
    )
    return Judged(
        queries=QueryIds(
            states.query.size, lambda: [judged.queries[code] for code in states.query.tolist()]
        ),
        ties=judged.ties,
        lengths=judged.lengths[states.query],
        returned=judged.returned[states.query],
        hits=lambda: replace(hits.part(hit_rows), query=state),
        ideal=lambda: IdealGrades(
            offsets=new_offsets,
            query=of_state,
            rank=judged.ideal.rank[row],
            grade=judged.ideal.grade[row],
        ),
        judgments=lambda: _judgments(judged.judgments, states.query),
        given=lambda: judged.given[hit_rows],
        alignments=counters,
        scope=judged.scope,
    )


def _judgments(whole: Judgments, queries: IntArray) -> Judgments:
    begin, end = (np.searchsorted(whole.query, queries, side=side) for side in ("left", "right"))
    of_query, row = _ranges(begin, end - begin)
    return Judgments(
        query=of_query,
        grade=whole.grade[row],
        given=whole.given[row],
        document=None if whole.document is None else whole.document[row],
    )


def _picked(counters: Alignments, queries: IntArray) -> Alignments:
    return Alignments._make(column[queries] for column in counters)
