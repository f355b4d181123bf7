"""Agreement of predicted and true values of the same items: rankDCG, Kendall's tau, Spearman's rho.

Items are users, products, systems: anything with one true value and one predicted. Several lists at
once are laid out as for `ndcg`.
"""

from typing import Any, TypeAlias

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.lists import Lists, as_numbers
from idealrank.data.types import AnyArray, IntArray
from idealrank.errors import InputError
from idealrank.evaluation.batches import list_values
from idealrank.measures.rank_dcg import RankDCG
from idealrank.measures.rules import checked
from idealrank.measures.tau_rho import TauVariant, rho, tau

FloatOrArray: TypeAlias = Any
"""A float for one list; a float64 array of shape (n_queries,) for several."""

__all__ = ["kendall", "rank_dcg", "spearman"]


def rank_dcg(
    reference: Any,
    predicted: Any,
    ties: str = "worst",
    group: Any = None,
    *,
    no_relevant: str = "nan",
    offsets: Any = None,
    qid: Any = None,
    mask: Any = None,
    padding: float | None = None,
    threads: int = 0,
) -> FloatOrArray:
    """Compute rankDCG of predicted against true values: 0 for the worst order, 1 for the best.

    ``rankDCG = (DCG' - min) / (max - min), DCG' = sum over places i of level(i) / reverse(i)`` in
    the order of falling predictions, as explained at `RankDCG`. Only the order of each list
    matters: any strictly increasing transformation gives the same value.

    Parameters
    ----------
    reference, predicted : array-like, shape (n,) or (n_queries, width)
        True and predicted values of the same items, of any sign; 2-D: one query per row.
    ties : {"worst", "expected", "best"}
        Value for items with equal predictions: the minimum over their orders (the paper's choice,
        and the default: a constant prediction gets 0), the mean, or the maximum.
    group, offsets, qid, mask, padding
        How items form several lists, see `Lists.from_arrays`.
    no_relevant : {"nan", "zero", "one", "left-out"}
        Value of a list whose true values are all equal: every order is as good as any other and the
        quotient is 0/0. The default is NaN, since 0 and 1 would look like proper values. As a
        switch of the convention it is the value of a query without relevant documents.
    threads : int
        Number of threads; 0 uses all cores.

    Returns
    -------
    float, or float64 array of shape (n_queries,)
        In [0, 1]; a float for one list, an array for several (`group`, `offsets`, `qid` or 2-D
        input).

    Raises
    ------
    InputError
        The lists differ in shape, or hold NaN (predictions may be infinite).
    OptionError
        `ties` or `no_relevant` has an unknown value.

    References
    ----------
    Katerenchuk and Rosenberg (2016), RankDCG: Rank-Ordering Evaluation Measure, LREC; see `RankDCG`
    for the sign that is printed there.

    Examples
    --------
    >>> round(rank_dcg([9, 4, 4, 2, 2, 2, 1, 1, 1, 1], [4, 4, 2, 9, 2, 2, 1, 1, 1, 1]), 12)
    0.65
    >>> [rank_dcg([3, 2, 1], [0.5, 0.5, 0.5], ties=ties) for ties in ("worst", "expected", "best")]
    [0.0, 0.5, 1.0]
    >>> rank_dcg([3, 1, 2, 5, 5], [0.9, 0.1, 0.2, 0.4, 0.6], group=[3, 2])
    array([ 1., nan])
    """
    convention = Convention.of("standard", negative="kept", ties="input", no_relevant=no_relevant)
    measure = RankDCG(ties=ties).under(convention)  # type: ignore[arg-type]
    lists = _lists(
        reference, predicted, group=group, offsets=offsets, qid=qid, mask=mask, padding=padding
    )
    values = list_values(lists, measure, convention.alignment, threads=threads)
    return _one_or_all(values, reference, group, offsets, qid)


def kendall(
    reference: Any,
    predicted: Any,
    variant: str = "b",
    group: Any = None,
    *,
    offsets: Any = None,
    qid: Any = None,
    mask: Any = None,
    padding: float | None = None,
) -> FloatOrArray:
    """Compute Kendall's tau of true and predicted values: concordant minus discordant pairs, as a
    share.

    ``(C - D) / norm``, where the norm depends on the variant: a all pairs; b the geometric mean of
    the pairs not tied in either list; c ``n^2 (m - 1) / (2 m)``, m being the smaller number of
    distinct values of the two lists. Symmetric in the two lists.

    Parameters
    ----------
    reference, predicted, group, offsets, qid, mask, padding
        As for `rank_dcg`.
    variant : {"b", "a", "c"}
        Variant of tau; default b, as in SciPy.

    Returns
    -------
    float, or float64 array of shape (n_queries,)
        In [-1, 1], as for `rank_dcg`; NaN for fewer than two items, and for variants b and c also
        if a list has only one distinct value.

    Raises
    ------
    InputError
        The lists differ in shape, or hold NaN.
    OptionError
        The variant is unknown.

    References
    ----------
    Kendall (1945), The treatment of ties in ranking problems, Biometrika 33(3); Stuart (1953),
    Biometrika 40, for tau-c; SciPy, ``scipy.stats.kendalltau``. For a run and its judgments see
    `GradeTau`.

    Examples
    --------
    >>> [round(kendall([9, 4, 4, 2], [3, 4, 2, 1], variant), 4) for variant in ("a", "b", "c")]
    [0.5, 0.5477, 0.5625]
    >>> kendall([[3, 2, 1], [3, 2, 1]], [[9, 8, 7], [0, 1, 2]])
    array([ 1., -1.])
    """
    checked("variant", variant, TauVariant)
    lists = _lists(
        reference, predicted, group=group, offsets=offsets, qid=qid, mask=mask, padding=padding
    )
    values = tau(*_columns(lists), variant)  # type: ignore[arg-type]  # checked above
    return _one_or_all(values, reference, group, offsets, qid)


def spearman(
    reference: Any,
    predicted: Any,
    group: Any = None,
    *,
    offsets: Any = None,
    qid: Any = None,
    mask: Any = None,
    padding: float | None = None,
) -> FloatOrArray:
    """Compute Spearman's rho of true and predicted values: the correlation of ranks, with mean
    ranks for ties.

    Parameters
    ----------
    reference, predicted, group, offsets, qid, mask, padding
        As for `rank_dcg`.

    Returns
    -------
    float, or float64 array of shape (n_queries,)
        In [-1, 1], as for `rank_dcg`; NaN if a list has only one distinct value.

    Raises
    ------
    InputError
        The lists differ in shape, or hold NaN.

    References
    ----------
    Spearman (1904), The proof and measurement of association between two things, American Journal
    of Psychology 15; SciPy, ``scipy.stats.spearmanr``. For a run and its judgments see `GradeRho`.

    Examples
    --------
    >>> spearman([1, 2, 3, 4], [10, 30, 20, 40])
    0.8
    >>> spearman([3, 2, 1, 5, 5], [0.9, 0.5, 0.1, 1.0, 2.0], group=[3, 2])
    array([ 1., nan])
    """
    lists = _lists(
        reference, predicted, group=group, offsets=offsets, qid=qid, mask=mask, padding=padding
    )
    return _one_or_all(rho(*_columns(lists)), reference, group, offsets, qid)


def _columns(lists: Lists) -> tuple[IntArray, AnyArray, AnyArray, int]:
    """Return query codes, true and predicted values, query after query, and the number of
    queries.
    """
    order = slice(None) if lists.order is None else lists.order
    query_codes = np.repeat(np.arange(lists.n_queries), np.diff(lists.offsets))
    # Columns are negated on the way, and the least number of a narrow integer type has no negative.
    true = lists.labels.astype(np.int64) if lists.labels.dtype.kind == "i" else lists.labels
    return query_codes, true[order], lists.scores[order], lists.n_queries


def _lists(reference: Any, predicted: Any, **layout: Any) -> Lists:
    """Make lists of two columns; errors name them as the caller does."""
    true = as_numbers("reference", reference)
    guessed = as_numbers("predicted", predicted)
    if true.shape != guessed.shape or true.ndim not in (1, 2):
        raise InputError(
            f"reference has shape {true.shape} and predicted {guessed.shape}; expected the same "
            "1-D or 2-D shape for both, an entry an item"
        )
    lists = Lists.from_arrays(true, guessed, **layout)
    for name, values, is_bad in (
        ("reference", lists.labels, ~np.isfinite(lists.labels)),
        ("predicted", lists.scores, np.isnan(lists.scores)),
    ):
        if is_bad.any():
            row = int(np.argmax(is_bad))
            raise InputError(
                f"{name}, {lists.name_item(row)}: found {values[row]}, expected a finite number; "
                "leave such items out with mask="
            )
    return lists


def _one_or_all(values: Any, reference: Any, *layout: Any) -> FloatOrArray:
    """Return a float for a single list; an array if the layout or the shape allows several."""
    is_single = np.ndim(reference) == 1 and all(option is None for option in layout)
    return float(values[0]) if is_single else values
