"""`Explanation`, and `explain`, which creates it."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from idealrank._lazy import printed, repr_html
from idealrank.analysis.explanation.contributions import (
    Account,
    Ideal,
    account_of,
    ideal_of,
    unexplained,
    value_of,
)
from idealrank.analysis.explanation.query_list import QueryList, list_query
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.measures.measure import Measure


@dataclass(frozen=True, kw_only=True)
class RankedDocument:
    """One document of the list."""

    rank: int  # Its place, from 1, in the order of the convention
    document: str  # Document id
    score: float  # What the system gave
    grade: float | None  # As judged; None if unjudged
    # First and last rank of the documents with this score, where there are several
    tie: tuple[int, int] | None
    gain: float  # What the grade is worth; for P, R, AP and RR 1 if relevant, else 0
    # Weight of the rank, 0 beyond the cutoff; its mean over the tie group where ties are averaged
    discount: float | None
    contribution: float  # What the document adds to the value


@dataclass(frozen=True, kw_only=True)
class IdealDocument:
    """One document of the ideal list; `contribution` is its share of the ideal DCG."""

    rank: int
    document: str
    grade: float
    gain: float
    discount: float
    contribution: float


@dataclass(frozen=True, kw_only=True)
class Swap:
    """Two returned documents whose swap would raise the value most."""

    # upper_rank, lower_rank: Their ranks
    upper_rank: int
    lower_rank: int
    # upper, lower: Their ids; `lower` would move up
    upper: str
    lower: str
    value: float  # The value after it
    gain: float  # How much that is more


@dataclass(frozen=True, kw_only=True)
class Missing:
    """The judged document that was not returned and would raise the value most at the cutoff."""

    document: str  # Document id
    grade: float  # As judged
    rank: int  # Where it would stand: at the cutoff, or below the list where that is shorter
    instead_of: str | None  # The document that stands there now
    value: float  # The value after it
    gain: float  # How much that is more


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Value of one query, split by document.

    Attributes
    ----------
    run, query : str
        Names of the run and of the query.
    measure, resolved : str
        The measure as requested, and with every option resolved.
    convention : Convention
        Convention that resolves options left unset.
    value : float or None
        The value that `evaluate` gives; None if the convention leaves the query out.
    dcg, ideal_dcg : float or None
        DCG of the list (for NDCG and DCG), and DCG of the ideal list (for NDCG).
    n_judged, n_relevant : int
        Number of judged documents, and of documents with a gain above 0 (for P, R, AP and RR: with
        a grade that reaches the threshold).
    cutoff : int or None
        Cutoff, or None for the whole list.
    adjustment : float
        ``value`` minus the sum of all contributions; 0 except for rounding and queries without
        relevant documents.
    note : str
        Reason why `adjustment` is not 0 or the query is left out; otherwise empty.
    rows : tuple of RankedDocument
        The ranked documents from the top.
    ideal : tuple of IdealDocument
        The ideal list from the top, down to the cutoff.
    best_swap, best_missing
        The change that would raise the value most; None if no change would.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.explain({"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]}, "q", "nDCG@10")
    >>> [round(row.contribution, 4) for row in found.rows], found.best_swap.lower
    ([0.2754, 0.5213], 'a')
    """

    run: str
    query: str
    measure: str
    resolved: str
    convention: Convention
    value: float | None
    dcg: float | None
    ideal_dcg: float | None
    n_judged: int
    n_relevant: int
    cutoff: int | None
    adjustment: float
    note: str
    rows: tuple[RankedDocument, ...]
    ideal: tuple[IdealDocument, ...]
    best_swap: Swap | None
    best_missing: Missing | None

    _repr_html_ = repr_html  # for notebooks
    __str__ = printed

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record, with the convention by its switches.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.explain({"q": {"a": 3}}, {"q": ["a"]}, "q", "RR").as_dict()["rows"][0][
        ...     "contribution"
        ... ]
        1.0
        """
        plain = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _NESTED
        }
        convention = {
            "name": self.convention.name,
            "fingerprint": self.convention.fingerprint,
            **self.convention.switches(),
        }
        return {
            **plain,
            "convention": convention,
            "rows": [asdict(row) for row in self.rows],
            "ideal": [asdict(row) for row in self.ideal],
            "best_swap": self.best_swap and asdict(self.best_swap),
            "best_missing": self.best_missing and asdict(self.best_missing),
        }


_NESTED = ("convention", "rows", "ideal", "best_swap", "best_missing")


def explained(
    qrels: Qrels, run: Run, query_id: str, requested: Measure, convention: Convention
) -> Explanation:
    """Take the value of one query apart."""
    if not requested.is_explained:
        raise unexplained(requested)
    if requested.judged_only:
        convention = Convention.of(convention, unjudged="skipped")
    resolved = requested.under(convention)
    account = account_of(resolved, list_query(qrels, run, query_id, convention.alignment))
    listed = account.listed
    value = value_of(resolved, listed.judged) if listed.is_counted else None
    note = _note(resolved, account, value)
    adjustment = 0.0
    if note and value is not None:
        adjustment = value - float(account.contributions.sum())
    return Explanation(
        run=run.name,
        query=query_id,
        measure=str(requested),
        resolved=str(resolved),
        convention=convention,
        value=value,
        dcg=account.dcg,
        ideal_dcg=account.ideal_dcg,
        n_judged=int(np.count_nonzero(listed.is_kept)),
        n_relevant=account.n_relevant,
        cutoff=account.limit if account.limit < np.iinfo(np.int64).max else None,
        adjustment=adjustment,
        note=note,
        rows=_rows(account),
        ideal=_ideal_rows(ideal_of(resolved, listed)),
        best_swap=_best_swap(resolved, account, value),
        best_missing=_best_missing(resolved, account, value),
    )


def _note(measure: Measure, account: Account, value: float | None) -> str:
    """Why the contributions do not simply sum to the value; empty where they do."""
    if not account.listed.is_counted:
        if account.listed.is_answered:
            return "left out: the query has no judgments"
        return "left out: the run does not answer the query"
    if not account.is_defined:
        return "no relevant document: " + ("left out" if value is None else f"counted {value:g}")
    rounding = getattr(measure, "rounding", None)
    return "" if rounding in (None, "none") else _ROUNDINGS[rounding]


_ROUNDINGS = {
    "round-2": "rounded to 2 decimals",
    "round-5": "rounded to 5 decimals",
    "floor-2": "terms, sums and value rounded down to 2 decimals",
}


def _rows(account: Account) -> tuple[RankedDocument, ...]:
    listed = account.listed
    scores = listed.scores.tolist()
    grades = listed.by_row(listed.qrels.grades).tolist()
    is_judged = listed.is_judged.tolist()
    ties = list(zip(listed.first.tolist(), listed.last.tolist(), strict=True))
    gains = account.gains.tolist()
    contributions = account.contributions.tolist()
    weights = None if account.weights is None else account.weights.tolist()
    rows = []
    for place, document in enumerate(listed.documents):
        first, last = ties[place]
        rows.append(
            RankedDocument(
                rank=place + 1,
                document=document,
                score=scores[place],
                grade=grades[place] if is_judged[place] else None,
                tie=(first, last) if first < last else None,
                gain=gains[place],
                discount=None if weights is None else weights[place],
                contribution=contributions[place],
            )
        )
    return tuple(rows)


def _ideal_rows(ideal: Ideal | None) -> tuple[IdealDocument, ...]:
    if ideal is None:
        return ()
    rows = []
    for place, document in enumerate(ideal.documents):
        rows.append(
            IdealDocument(
                rank=int(ideal.rank[place]),
                document=document,
                grade=float(ideal.grades[place]),
                gain=float(ideal.gains[place]),
                discount=float(ideal.weights[place]),
                contribution=float(ideal.contributions[place]),
            )
        )
    return tuple(rows)


def _best_swap(measure: Measure, account: Account, value: float | None) -> Swap | None:
    if value is None or not account.is_defined:
        return None
    pair = account.swap()
    if pair is None:
        return None
    upper, lower = pair
    documents = list(account.listed.documents)
    documents[upper], documents[lower] = documents[lower], documents[upper]
    after = value_of(measure, account.listed.again(documents))
    if after is None or not after > value:
        return None
    return Swap(
        upper_rank=upper + 1,
        lower_rank=lower + 1,
        upper=documents[lower],
        lower=documents[upper],
        value=after,
        gain=after - value,
    )


# Judged documents of one gain change a value alike, so one of each is tried, beginning with the
# highest gains.
_TRIED = 32


def _best_missing(measure: Measure, account: Account, value: float | None) -> Missing | None:
    if value is None or not account.is_defined:
        return None
    listed = account.listed
    place = min(account.limit, len(listed.documents) + 1) - 1
    above = listed.documents[:place]
    below = listed.documents[place + 1 :]
    instead_of = listed.documents[place] if place < len(listed.documents) else None
    best: Missing | None = None
    for row in _missing_rows(listed):
        document = listed.qrel_documents[row]
        after = value_of(measure, listed.again([*above, document, *below]))
        if after is not None and after > max(value, best.value if best else value):
            best = Missing(
                document=document,
                grade=float(listed.qrels.grades[row]),
                rank=place + 1,
                instead_of=instead_of,
                value=after,
                gain=after - value,
            )
    return best


def _missing_rows(listed: QueryList) -> list[int]:
    """One judged document that was not returned for each of the highest grades."""
    missing = listed.is_kept.copy()
    missing[listed.row[listed.is_judged]] = False
    rows = np.flatnonzero(missing)
    _, firsts = np.unique(-listed.graded.grades[rows], return_index=True)
    return [int(row) for row in rows[firsts[:_TRIED]]]
