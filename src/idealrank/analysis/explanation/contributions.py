"""Contribution of each document of one list to a value, and the ideal list."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from idealrank.analysis.explanation.query_list import QueryList
from idealrank.analysis.explanation.swaps import (
    Pair,
    Term,
    best_swap_of_gains,
    best_swap_of_relevant,
)
from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError, shown
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.measure import Measure
from idealrank.measures.ranks import tied_ranks
from idealrank.measures.terms import Quotient, RelevantGroups, Terms


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
        f"{shown(measure)}: found a measure without contributions of single documents, "
        f"expected nDCG, DCG, AP, RR, P or R",
        hint=f"its docstring has the formula, and `idealrank.evaluate(qrels, run, "
        f"'{shown(measure)}')` its values",
        command_hint=f"`idealrank measures {measure.name}` has its formula, and `idealrank "
        f"evaluate "
        f"--per-query -m '{shown(measure)}'` its "
        "values",
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
    dcg, ideal = (None, None) if whole is None else (whole.total, whole.ideal)
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
    return (
        None
        if gains is None or terms is None
        else _shares(measure, terms, measure.quotient(judged), gains, hits.query)
    )


def _shares(
    measure: Measure, terms: Terms, whole: Quotient | None, gains: FloatArray, query: IntArray
) -> FloatArray:
    """Compute what each document adds to the value of its query; 0 if the query lacks the
    denominator of the measure.
    """
    added = _term_of(measure)(gains, terms.weights)
    defined, divisor = (
        (terms.defined, terms.ideal) if whole is None else (whole.defined, whole.ideal)
    )
    counts = np.ones(query.size, bool) if defined is None else defined[query]
    return np.divide(
        added, 1.0 if divisor is None else divisor[query], out=np.zeros(query.size), where=counts
    )


def _by_row(listed: QueryList, worth: FloatArray) -> FloatArray:
    """Gains by row of the qrels; 0 for documents taken out, whose grades a table of gains need not
    know.
    """
    gains = np.zeros(listed.qrels.n_judgments)
    gains[listed.is_kept] = worth
    return gains


def _term_of(measure: Measure) -> Term:
    is_floored = getattr(measure, "rounding", None) == "floor-2"
    return lambda gain, weight: np.floor(gain * weight * 100) / 100 if is_floored else gain * weight


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
    is_averaged = listed.alignment.ties == "expected"
    groups = (
        RelevantGroups.of(listed.first, listed.last, relevant)
        if is_averaged
        else RelevantGroups.of(rank, rank, relevant)
    )

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
    rows, gains = rows[order], gains[order]
    places = measure.ideal_places(listed.judged, gains)
    if places is None:
        return None
    rank, weights = places
    rows, gains = rows[: rank.size], gains[: rank.size]
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
