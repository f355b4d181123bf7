"""Contribution of each document of one list to a value, the ideal list, and the best swap; and the
contributions of every list of a run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from idealrank.analysis.explanation.query_list import QueryList
from idealrank.data.alignment import Alignment
from idealrank.data.judged import Judged, Top
from idealrank.data.qrels import Qrels
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError, shown
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.dcg import floored
from idealrank.measures.measure import Measure
from idealrank.measures.ranks import tied_ranks
from idealrank.measures.terms import Quotient, RelevantGroups, Terms

# The best swap of two documents of one list is found exactly, without trying all pairs. They trade
# places: rank and, where ties are averaged, tie group. Nothing else moves.

Term: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
Pair: TypeAlias = tuple[int, int]

_LEAST_GAIN = 1e-15  # of a swap: less is rounding


def best_swap_of_gains(gains: FloatArray, weights: FloatArray, term: Term) -> Pair | None:
    """The swap that raises a sum of terms of gain and weight most.

    Documents of one gain differ in their weights alone, so for each pair of gains the two sides of
    the swap can be chosen apart: the work is n times the number of different gains, not n squared.
    """
    kept = _worth_trying(gains, weights)
    if kept.size < 2:
        return None
    kept = kept[np.argsort(gains[kept], kind="stable")]
    gain = gains[kept]
    weight = weights[kept]
    starts = np.flatnonzero(np.concatenate(([True], gain[1:] != gain[:-1])))
    ends = np.append(starts[1:], gain.size)
    terms = term(gain, weight)
    best = 0.0
    pair = None
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        # What a member of this gain adds by taking another gain, by member and gain; and what a
        # document of another gain adds by taking this one. Each side has its own best.
        member_changes = (
            term(gain[starts][None, :], weight[start:end, None]) - terms[start:end, None]
        )
        partner_changes = term(np.full(gain.size, gain[start]), weight) - terms
        sums = member_changes.max(axis=0) + np.maximum.reduceat(partner_changes, starts)
        other = int(np.argmax(sums))
        if sums[other] > best + _LEAST_GAIN:
            best = float(sums[other])
            begin_other = int(starts[other])
            end_other = int(ends[other])
            member = start + int(np.argmax(member_changes[:, other]))
            partner = begin_other + int(np.argmax(partner_changes[begin_other:end_other]))
            pair = int(kept[member]), int(kept[partner])
    return None if pair is None else (min(pair), max(pair))


def _worth_trying(gains: FloatArray, weights: FloatArray) -> IntArray:
    """All documents with weight, and of those without (below the cutoff) the one of the highest
    gain.
    """
    counted = np.flatnonzero(weights)
    below = np.flatnonzero(weights == 0)
    return np.append(counted, below[np.argmax(gains[below])]) if below.size else counted


GroupValues: TypeAlias = Callable[[RelevantGroups], FloatArray]


def best_swap_of_relevant(
    groups: RelevantGroups, relevant: BoolArray, values_of: GroupValues
) -> Pair | None:
    """The swap of a relevant document with one above it that is not relevant, that raises the value
    most.
    """
    if groups.size.size < 2:
        return None
    values = values_of(groups)
    up = np.where(
        groups.relevant < groups.size, values_of(groups.changed(relevant=1)) - values, -np.inf
    )
    less = values_of(groups.changed(relevant=-1, before=1))
    down = np.where(groups.relevant > 0, less - values, -np.inf)
    # A swap of groups u < l changes up[u], down[l], and every group between them, which has one
    # relevant document more above it: the sum over them is a difference of two cumulative sums.
    between = np.cumsum(values_of(groups.changed(before=1)) - values)
    reach = up - between
    total = np.maximum.accumulate(reach)[:-1] + between[:-1] + down[1:]
    lower = int(np.argmax(total)) + 1
    if not total[lower - 1] > _LEAST_GAIN:
        return None
    upper = int(np.argmax(reach[:lower]))
    owner = groups.owner
    first_irrelevant = np.flatnonzero((owner == upper) & ~relevant)[0]
    first_relevant = np.flatnonzero((owner == lower) & relevant)[0]
    return int(first_irrelevant), int(first_relevant)


@dataclass(frozen=True, kw_only=True)
class Account:
    """A value taken apart."""

    # The list in the order that counts (ties in their best or worst order, where the convention
    # says so)
    listed: QueryList
    gains: FloatArray  # shape (n,): what each document is worth; 1 and 0 for binary measures
    # shape (n,): weight of each place; None where a contribution depends on the others, as in AP
    weights: FloatArray | None
    contributions: FloatArray  # shape (n,): what each document adds
    n_relevant: int  # Judged documents worth something
    limit: int  # Ranks that count; a huge number where all do
    is_defined: bool  # Whether the query has what the measure divides by
    swap: Callable[[], Pair | None]  # Finds the best swap of two documents
    # dcg, ideal_dcg: Of NDCG and DCG
    dcg: float | None = None
    ideal_dcg: float | None = None


@dataclass(frozen=True, kw_only=True)
class Ideal:
    """The ideal list: document ids, grades as judged, gains, weights and shares of the ideal DCG,
    by rank.
    """

    documents: list[str]
    rank: IntArray
    grades: FloatArray
    gains: FloatArray
    weights: FloatArray
    contributions: FloatArray


def value_of(measure: Measure, judged: Judged) -> float | None:
    """The value of one query; None where it does not count."""
    result = measure.compute(judged)
    return float(result.values[0]) if result.scored is None or result.scored[0] else None


def unexplained(measure: Measure) -> OptionError:
    """The error for a measure whose value is no sum over documents, or whose sum is not known
    here.
    """
    return OptionError(
        f"{shown(measure)}: found a measure without contributions of single documents, expected "
        "nDCG, DCG, AP, RR, P or R",
        hint=f"its docstring has the formula, and `idealrank.evaluate(qrels, run, "
        f"'{shown(measure)}')` its values",
        command_hint=f"`idealrank measures {measure.name}` has its formula, and `idealrank "
        f"evaluate --per-query -m '{shown(measure)}'` its values",
    )


def account_of(measure: Measure, listed: QueryList) -> Account:
    """Take a value apart."""
    worth = measure.worth(listed.graded.grades[listed.is_kept])
    if worth is None:
        raise unexplained(measure)
    row_gains = _by_row(listed, worth)
    listed, gains = _settled(listed, listed.by_row(row_gains))
    n_relevant = int(np.count_nonzero(row_gains > 0))
    limit = int(resolve_cutoff(measure.cutoff, listed.judged.lengths)[0])
    terms = measure.terms(listed.judged, listed.hits(), gains)
    if terms is None:
        return _ranked_account(measure, listed, gains, n_relevant, limit)
    whole = measure.quotient(listed.judged)
    defined = terms.defined if whole is None else whole.defined
    dcg = None if whole is None else whole.total
    ideal = None if whole is None else whole.ideal
    term = _term_of(measure)
    return Account(
        listed=listed,
        gains=gains,
        weights=terms.weights,
        contributions=_shares(measure, terms, whole, gains, np.zeros(gains.size, np.int64)),
        n_relevant=n_relevant,
        limit=limit,
        is_defined=defined is None or bool(defined[0]),
        swap=lambda: best_swap_of_gains(gains, terms.weights, term),
        dcg=None if dcg is None else float(dcg[0]),
        ideal_dcg=None if ideal is None else float(ideal[0]),
    )


def contributions_of_hits(measure: Measure, judged: Judged) -> FloatArray | None:
    """Contribution of each judged document of every list, as `account_of` has it; None if the
    measure does not state it by itself.
    """
    hits = judged.hits
    gains = measure.worth(hits.grade)
    terms = None if gains is None else measure.terms(judged, hits, gains)
    if gains is None or terms is None:
        return None
    return _shares(measure, terms, measure.quotient(judged), gains, hits.query)


def _shares(
    measure: Measure, terms: Terms, whole: Quotient | None, gains: FloatArray, query: IntArray
) -> FloatArray:
    """Compute what each document adds to the value of its query; 0 if the query lacks the
    denominator of the measure.
    """
    added = _term_of(measure)(gains, terms.weights)
    defined = terms.defined if whole is None else whole.defined
    ideal = terms.ideal if whole is None else whole.ideal
    counts = np.ones(query.size, bool) if defined is None else defined[query]
    divisor = 1.0 if ideal is None else ideal[query]
    return np.divide(added, divisor, out=np.zeros(query.size), where=counts)


def _by_row(listed: QueryList, worth: FloatArray) -> FloatArray:
    """Gains by row of the qrels; 0 for documents taken out, whose grades a table of gains need not
    know.
    """
    gains = np.zeros(listed.qrels.n_judgments)
    gains[listed.is_kept] = worth
    return gains


def _term_of(measure: Measure) -> Term:
    """Term of one document: gain times weight, rounded down where the measure does so."""
    if getattr(measure, "rounding", None) == "floor-2":
        return lambda gain, weight: floored(gain * weight, "floor-2")
    return lambda gain, weight: gain * weight


def _settled(listed: QueryList, gains: FloatArray) -> tuple[QueryList, FloatArray]:
    """The list with ties in their best or worst order where the convention takes that one."""
    order = np.argsort(tied_ranks(listed.judged, listed.hits(), gains), kind="stable")
    return listed.reordered(order), gains[order]


def _ranked_account(
    measure: Measure, listed: QueryList, gains: FloatArray, n_relevant: int, limit: int
) -> Account:
    """The account of a measure whose relevant documents add by the documents above them."""
    relevant = gains > 0
    rank = np.arange(1, relevant.size + 1)
    if listed.alignment.ties == "expected":
        groups = RelevantGroups.of(listed.first, listed.last, relevant)
    else:
        groups = RelevantGroups.of(rank, rank, relevant)

    def worth(changed: RelevantGroups) -> FloatArray:
        added = measure.group_terms(changed, n_relevant, limit)
        if added is None:
            raise unexplained(measure)
        return added

    shares = worth(groups) / np.maximum(groups.relevant, 1)
    return Account(
        listed=listed,
        gains=gains,
        weights=None,
        contributions=np.where(relevant, shares[groups.owner], 0.0),
        n_relevant=n_relevant,
        limit=limit,
        is_defined=n_relevant > 0,
        swap=lambda: best_swap_of_relevant(groups, relevant, worth),
    )


def ideal_of(measure: Measure, listed: QueryList) -> Ideal | None:
    """The ideal list of a query, as far as it counts; documents of equal gain in the order of the
    judgments. None if there is none.
    """
    worth = measure.worth(listed.graded.grades[listed.is_kept])
    if worth is None:
        return None
    rows = (
        listed.row[listed.is_judged]
        if getattr(measure, "ideal", None) == "returned"
        else np.flatnonzero(listed.is_kept)
    )
    gains = _by_row(listed, worth)[rows]
    order = np.argsort(-gains, kind="stable")
    rows = rows[order]
    gains = gains[order]
    places = measure.ideal_places(listed.judged, gains)
    if places is None:
        return None
    rank, weights = places
    rows = rows[: rank.size]
    gains = gains[: rank.size]
    terms = _term_of(measure)(gains, weights)
    total = float(terms.sum())
    documents = [listed.qrel_documents[row] for row in rows]
    return Ideal(
        documents=documents,
        rank=rank,
        grades=listed.qrels.grades[rows],
        gains=gains,
        weights=weights,
        contributions=terms / total if total else np.zeros(rank.size),
    )


class HitsOfQuery(NamedTuple):
    """One list: its length, its first documents, and its judged ones by rank."""

    length: int
    # documents, tied: of the first documents
    documents: list[str]
    tied: list[bool]
    # rank, row, grade, added: of the judged documents: rank, row of the qrels, grade as given, and
    # contribution
    rank: list[int]
    row: list[int]
    grade: list[float]
    added: list[float | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class ListedHits:
    """Judged documents of every list, in the order of the lists."""

    judged: Judged  # Alignment of the run, with the hits of whole lists
    # qrels, top: The judgments, and the first documents of the lists
    qrels: Qrels
    top: Top
    # shape (n_hits,): contribution of each judged document; None if the measure states none
    added: FloatArray | None

    @property
    def is_explained(self) -> bool:
        """True if the measure states contributions."""
        return self.added is not None

    @cached_property
    def _code(self) -> dict[str, int]:
        return {query: code for code, query in enumerate(self.judged.queries)}

    @cached_property
    def _ends(self) -> IntArray:
        return np.searchsorted(self.judged.hits.query, np.arange(self.judged.n_queries + 1))

    def of(self, query: str, depth: int | None = None) -> HitsOfQuery | None:
        """The list of one query, with its first documents down to a rank; None where the run does
        not answer it.
        """
        code = self._code.get(query)
        top = self.top.of(query, depth)
        if code is None or top is None:
            return None
        here = slice(self._ends[code], self._ends[code + 1])
        hits = self.judged.hits
        row = np.asarray(hits.document)[here]
        added: list[float | None] = (
            [None] * row.size if self.added is None else self.added[here].tolist()
        )
        return HitsOfQuery(
            length=int(self.judged.lengths[code]),
            documents=top.documents,
            tied=top.tied,
            rank=hits.rank[here].tolist(),
            row=row.tolist(),
            grade=self.qrels.grades[row].tolist(),
            added=added,
        )


def list_hits(judged: Judged, measure: Measure, alignment: Alignment) -> ListedHits | None:
    """Find what each judged document of every list adds to a measure; None where lists are not
    whole, or where what a list holds (ties, skipped and repeated documents) is settled by query.
    """
    qrels, top = judged.qrels, judged.top
    if qrels is None or top is None or not top.is_whole or judged.depth:
        return None
    if (
        alignment.ties in ("best", "worst")
        or alignment.unjudged == "skipped"
        or alignment.duplicates == "twice"
    ):
        return None
    if not measure.is_explained:
        return ListedHits(judged=judged, qrels=qrels, top=top, added=None)
    added = contributions_of_hits(measure, judged)
    return None if added is None else ListedHits(judged=judged, qrels=qrels, top=top, added=added)
