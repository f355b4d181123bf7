"""What each document of one list adds to the value of a measure, and the ideal list beside it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from idealrank.analysis.explanation.query_list import Listed
from idealrank.analysis.explanation.swaps import (
    Groups,
    Pair,
    best_swap_of_gains,
    best_swap_of_relevant,
    first_reciprocals,
    precision_sums,
)
from idealrank.data.judged import Judged
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError, shown
from idealrank.measures.binary import AP, RR, P, R
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.dcg import DCG, NDCG, IdealDCG
from idealrank.measures.discounts import make_discount
from idealrank.measures.gains import make_gain
from idealrank.measures.measure import Measure
from idealrank.measures.ranks import chance_within, hit_weights, tied_ranks

EXPLAINED = (NDCG, DCG, AP, RR, P, R)


@dataclass(frozen=True)
class Account:
    """A value taken apart.

    Attributes
    ----------
    listed : Listed
        The list in the order that counts (ties in their best or worst order, where the convention says so).
    gains : float64 array, shape (n,)
        What each document is worth; 1 and 0 for binary measures.
    weights : float64 array, shape (n,), or None
        Weight of each place; None where a document's contribution depends on the others (AP and RR).
    contributions : float64 array, shape (n,)
        What each document adds.
    n_relevant : int
        Judged documents worth something.
    limit : int
        Ranks that count; a huge number where all do.
    is_defined : bool
        Whether the query has what the measure divides by.
    dcg, ideal_dcg : float or None
        Of NDCG and DCG.
    swap : callable
        Finds the best swap of two documents.
    """

    listed: Listed
    gains: FloatArray
    weights: FloatArray | None
    contributions: FloatArray
    n_relevant: int
    limit: int
    is_defined: bool
    swap: Callable[[], Pair | None]
    dcg: float | None = None
    ideal_dcg: float | None = None


@dataclass(frozen=True)
class Ideal:
    """The ideal list: document ids, grades as judged, gains, weights and shares of the ideal DCG, by rank."""

    documents: list[str]
    rank: IntArray
    grades: FloatArray
    gains: FloatArray
    weights: FloatArray
    contributions: FloatArray


def value_of(measure: Measure, judged: Judged) -> float | None:
    """The value of one query; None where it does not count.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.align import align
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> value_of(RR(), align(Qrels({"q": {"a": 1}}), Run({"q": ["x", "a"]}), Alignment()))
    0.5
    """
    result = measure.compute(judged)
    return float(result.values[0]) if result.scored is None or result.scored[0] else None


def unexplained(measure: Measure) -> OptionError:
    """The error for a measure whose value is no sum over documents, or whose sum is not known here.

    Examples
    --------
    >>> from idealrank.measures.counts import NumQ
    >>> str(unexplained(NumQ())).partition(", ")[0]
    'NumQ: found a measure without contributions of single documents'
    """
    return OptionError(
        f"{shown(measure)}: found a measure without contributions of single documents, expected nDCG, DCG, AP, RR, P or R; "
        f"`idealrank measures {measure.name}` has its formula, and `idealrank evaluate --per-query -m '{shown(measure)}'` its values"
    )


def account_of(measure: Measure, listed: Listed) -> Account:
    """Take a value apart.

    Parameters
    ----------
    measure : Measure
        With every option set.
    listed : Listed
        The list.

    Raises
    ------
    OptionError
        The measure has no such parts.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> from idealrank.analysis.explanation.query_list import list_query
    >>> account_of(P(cutoff=2), list_query(Qrels({"q": {"a": 1}}), Run({"q": ["x", "a"]}), "q", Alignment())).contributions
    array([0. , 0.5])
    """
    if isinstance(measure, (NDCG, DCG)):
        return _dcg_account(measure, listed)
    if isinstance(measure, (P, R)):
        return _counting_account(measure, listed)
    if isinstance(measure, (AP, RR)):
        return _ranked_account(measure, listed)
    raise unexplained(measure)


def _settled(listed: Listed, gains: FloatArray) -> tuple[Listed, FloatArray]:
    """The list with ties in their best or worst order where the convention takes that one."""
    order = np.argsort(tied_ranks(listed.judged, listed.hits(), gains), kind="stable")
    return listed.reordered(order), gains[order]


def _limit(measure: Measure, listed: Listed) -> int:
    return int(resolve_cutoff(measure.cutoff, listed.judged.lengths)[0])


def _row_gains(measure: NDCG | DCG, listed: Listed) -> FloatArray:
    """Gains by row of the qrels; 0 for documents taken out, whose grades a table of gains need not know."""
    gains = np.zeros(listed.qrels.n_judgments)
    gains[listed.is_kept] = make_gain(measure.gain or "linear")(listed.graded.grades[listed.is_kept])
    return gains


def _dcg_account(measure: NDCG | DCG, listed: Listed) -> Account:
    row_gains = _row_gains(measure, listed)
    listed, gains = _settled(listed, listed.by_row(row_gains))
    weights = hit_weights(listed.judged, listed.hits(), gains, make_discount(measure.discount or "log2"), measure.cutoff)
    common = {"cutoff": measure.cutoff, "gain": measure.gain, "discount": measure.discount, "rounding": measure.rounding}
    dcg = float(DCG(**common).per_query(listed.judged)[0])  # type: ignore[arg-type]
    ideal = float(IdealDCG(**common, ideal=measure.ideal).per_query(listed.judged)[0]) if isinstance(measure, NDCG) else None  # type: ignore[arg-type]

    def term(gain: FloatArray, weight: FloatArray) -> FloatArray:
        return np.floor(gain * weight * 100) / 100 if measure.rounding == "floor-2" else gain * weight

    is_defined = ideal is None or (ideal != 0 if measure.no_relevant == "quotient" else ideal > 0)
    terms = term(gains, weights) if is_defined else np.zeros(gains.size)
    return Account(
        listed,
        gains,
        weights,
        terms if ideal is None or not is_defined else terms / ideal,
        int(np.count_nonzero(row_gains > 0)),
        _limit(measure, listed),
        is_defined,
        lambda: best_swap_of_gains(gains, weights, term),
        dcg,
        ideal,
    )


def ideal_of(measure: NDCG | DCG, listed: Listed) -> Ideal:
    """The ideal list of a query, as far as it counts; documents of equal gain in the order of the judgments.

    Examples
    --------
    >>> from idealrank.conventions import Convention
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> from idealrank.analysis.explanation.query_list import list_query
    >>> convention = Convention.of("standard")
    >>> listed = list_query(Qrels({"q": {"a": 1, "b": 3}}), Run({"q": ["x"]}), "q", convention.alignment)
    >>> ideal_of(NDCG().under(convention), listed).documents
    ['b', 'a']
    """
    is_returned = measure.ideal == "returned"
    rows = listed.row[listed.is_judged] if is_returned else np.flatnonzero(listed.is_kept)
    gains = _row_gains(measure, listed)[rows]
    order = np.argsort(-gains, kind="stable")
    rows, gains = rows[order], gains[order]
    rank = np.arange(1, rows.size + 1)
    if is_returned:  # unjudged documents, whose gain is 0, stand above negative gains
        rank = np.where(gains < 0, rank + len(listed.documents) - rows.size, rank)
    limit = _ideal_limit(measure, listed)
    inside = rank <= limit
    rows, gains, rank = rows[inside], gains[inside], rank[inside]
    weights = make_discount(measure.discount or "log2").at(rank, np.full(rank.size, listed.judged.lengths[0]))
    terms = gains * weights
    if measure.rounding == "floor-2":
        terms = np.floor(terms * 100) / 100
    total = float(terms.sum())
    documents = [listed.qrel_documents[row] for row in rows]
    return Ideal(documents, rank, listed.qrels.grades[rows], gains, weights, terms / total if total else np.zeros(rank.size))


def _ideal_limit(measure: NDCG | DCG, listed: Listed) -> int:
    if measure.ideal == "uncut":
        return int(np.iinfo(np.int64).max)
    limit = _limit(measure, listed)
    return min(limit, max(len(listed.documents), 1)) if measure.ideal == "hits" else limit


def _relevant(measure: P | R | AP | RR, listed: Listed) -> tuple[Listed, BoolArray, int]:
    """The list, which of its documents are relevant, and how many are in all."""
    is_relevant = listed.is_kept & (listed.graded.grades >= measure.threshold)
    listed, relevant = _settled(listed, listed.by_row(is_relevant.astype(np.float64)))
    return listed, relevant > 0, int(np.count_nonzero(is_relevant))


def _counting_account(measure: P | R, listed: Listed) -> Account:
    listed, relevant, n_relevant = _relevant(measure, listed)
    gains, limit = relevant.astype(np.float64), _limit(measure, listed)
    weights = chance_within(listed.judged, listed.hits(), gains, measure.cutoff) / (limit if isinstance(measure, P) else max(n_relevant, 1))
    return Account(
        listed,
        gains,
        weights,
        gains * weights,
        n_relevant,
        limit,
        isinstance(measure, P) or n_relevant > 0,
        lambda: best_swap_of_gains(gains, weights, np.multiply),
    )


def _ranked_account(measure: AP | RR, listed: Listed) -> Account:
    listed, relevant, n_relevant = _relevant(measure, listed)
    limit = _limit(measure, listed)
    rank = np.arange(1, relevant.size + 1)
    is_averaged = listed.alignment.ties == "expected"
    groups = Groups.of(listed.first, listed.last, relevant) if is_averaged else Groups.of(rank, rank, relevant)

    def worth(changed: Groups) -> FloatArray:
        return precision_sums(changed, limit) / max(n_relevant, 1) if isinstance(measure, AP) else first_reciprocals(changed, limit)

    shares = worth(groups) / np.maximum(groups.relevant, 1)
    return Account(
        listed,
        relevant.astype(np.float64),
        None,
        np.where(relevant, shares[groups.owner], 0.0),
        n_relevant,
        limit,
        n_relevant > 0,
        lambda: best_swap_of_relevant(groups, relevant, worth),
    )
