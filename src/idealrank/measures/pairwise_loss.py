"""The pairwise loss that linear NDCG is: pairs in the wrong order, each weighed with the difference
of its grades.

It is the difference of two DCG with the weights n - rank, which `pair_sums` computes exactly.
"""

from dataclasses import dataclass
from typing import Any, Literal, cast, overload

import numpy as np

from idealrank.data.alignment import Alignment
from idealrank.data.lists import Lists, judge_lists
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.dyadic import Dyadic
from idealrank.measures.measure import fill_undefined
from idealrank.measures.pair_sums import GradeTable, PairSums, TieOrder
from idealrank.measures.rules import NoRelevant, checked

_TIES: dict[str, TieOrder] = {
    "half": "expected",
    "expected": "expected",
    "average": "expected",
    "strict": "best",
    "best": "best",
    "weak": "worst",
    "worst": "worst",
    "le": "worst",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class PairwiseLoss:
    """Pairwise loss and its parts: numbers for one list, arrays with one entry per list for
    several.

    Attributes
    ----------
    loss : float or float64 array, shape (n_lists,)
        R(f): the sum over misordered pairs of the difference of their grades, 0 or more.
    exact : bool or bool array, shape (n_lists,)
        True if `loss` is exactly R(f); otherwise float64 cannot represent R(f), and `loss` is R(f)
        rounded once.
    thresholds : float64 array, shape (n_thresholds,)
        Distinct grades of all lists except the lowest, rising; threshold t separates grades of at
        least t from lower ones.
    gaps : float64 array, shape (n_thresholds,)
        Difference between each threshold and the grade below it: 1 if no grade is missing in
        between.
    losses : float64 array, shape (n_thresholds,) or (n_lists, n_thresholds)
        Loss at each threshold multiplied by its gap; they sum to `loss`. If grades are missing, a
        threshold with gap g stands for g equal losses R_k of the paper.
    pairs, weighted_pairs : float or float64 array, shape (n_lists,)
        ``Z = sum over a < b of |S_a| |S_b|``, where S_a are the documents of grade a, and ``Z_w =
        sum of (b - a) |S_a| |S_b|``. Z_w is the loss of the worst order; Z can be smaller.
    per_pair, relative : float or float64 array, shape (n_lists,)
        R(f) / Z, the paper's normalised loss, in [0, highest - lowest grade], and R(f) / Z_w, in
        [0, 1].
    dcg, ideal_dcg, worst_dcg : float or float64 array, shape (n_lists,)
        Sum of grade x (n - rank) for the list, its best order and its worst order: ``ideal_dcg -
        dcg`` is R(f), ``ideal_dcg - worst_dcg`` is Z_w.
    ndcg, least_ndcg : float or float64 array, shape (n_lists,)
        ``dcg / ideal_dcg`` of the list and of the worst order: not 0, but (m - 1) / (2n + m - 1)
        for m ones and n zeros.
    auc : float or float64 array, shape (n_lists,)
        For two grades, the probability that a document of the higher grade is ranked above one of
        the lower, with ties counted as set by `ties`. Equal to ``1 - relative`` and to ``(ndcg -
        least_ndcg) / (1 - least_ndcg)``. NaN for three or more grades.
    ties : {"half", "strict", "weak"}
        Share of the loss that a pair with equal scores counts: half, none, or all.

    Notes
    -----
    If no pair has two grades, `per_pair`, `relative` and `auc` are undefined; if the ideal DCG is 0
    or less, `ndcg` and `least_ndcg` are. Undefined values are replaced by `no_relevant`.

    Examples
    --------
    >>> import idealrank as ir
    >>> parts = ir.pairwise_loss([3, 2, 3, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5], decompose=True)
    >>> parts.loss, parts.thresholds, parts.losses
    (2.0, array([1., 2., 3.]), array([1., 0., 1.]))
    >>> parts.pairs, parts.weighted_pairs, parts.ideal_dcg, round(parts.ndcg, 6)
    (9.0, 16.0, 26.0, 0.923077)
    """

    loss: Any
    exact: Any
    thresholds: FloatArray
    gaps: FloatArray
    losses: FloatArray
    pairs: Any
    weighted_pairs: Any
    per_pair: Any
    relative: Any
    dcg: Any
    ideal_dcg: Any
    worst_dcg: Any
    ndcg: Any
    least_ndcg: Any
    auc: Any
    ties: Literal["half", "strict", "weak"]


@overload
def pairwise_loss(
    labels: Any,
    scores: Any,
    group: Any = None,
    *,
    ties: str = "half",
    decompose: Literal[False] = False,
    no_relevant: str | None = None,
    offsets: Any = None,
    qid: Any = None,
    mask: Any = None,
    padding: float | None = None,
) -> Any: ...
@overload
def pairwise_loss(
    labels: Any,
    scores: Any,
    group: Any = None,
    *,
    ties: str = "half",
    decompose: Literal[True],
    no_relevant: str | None = None,
    offsets: Any = None,
    qid: Any = None,
    mask: Any = None,
    padding: float | None = None,
) -> PairwiseLoss: ...
def pairwise_loss(
    labels: Any,
    scores: Any,
    group: Any = None,
    *,
    ties: str = "half",
    decompose: bool = False,
    no_relevant: str | None = None,
    offsets: Any = None,
    qid: Any = None,
    mask: Any = None,
    padding: float | None = None,
) -> Any:
    """Compute the pairwise loss of linear NDCG: ideal DCG - DCG with the weights n - rank.

    ``R(f) = sum over pairs with grade(i) < grade(j) and f(j) < f(i) of grade(j) - grade(i)``, in
    [0, inf).

    Parameters
    ----------
    labels, scores : array-like, shape (n,) or (n_queries, width)
        1-D: one list, or several with `group`, `offsets` or `qid`; 2-D: one list per row. Labels
        may be negative or fractional.
    group, offsets, qid, mask, padding
        Grouping of items into lists, see `Lists.from_arrays`.
    ties : {"half", "strict", "weak"}
        Share of the loss that a pair with equal scores counts: half (``expected``, ``average``: the
        mean over all orders, as in AUC), none (``best``: ``f(j) < f(i)``), or all (``worst``,
        ``le``: ``f(j) <= f(i)``).
    decompose : bool
        Return also the losses at every threshold, the normalisers, DCG, NDCG and AUC.
    no_relevant : {"zero", "one", "nan", "left-out", "quotient"}, optional
        With `decompose`: the value of undefined parts, as for `ndcg`; default ``zero``. R(f) itself
        is always defined.

    Returns
    -------
    float, or float64 array of shape (n_queries,), or PairwiseLoss
        A float for one list of 1-D arrays without `group`, `offsets` or `qid`; `PairwiseLoss` with
        `decompose`.

    Raises
    ------
    InputError
        Shapes do not match, a label or score is NaN, or a label is infinite.
    OptionError
        `ties` or `no_relevant` is unknown.

    Notes
    -----
    The cost is one sort of the scores. Sums are computed in integers, without rounding or overflow,
    and rounded once at the end: for integer labels R(f) is exact up to 2**52. Beyond that, and for
    labels such as 0.1, the result is the float64 nearest to R(f), and `PairwiseLoss.exact` tells
    whether it is exact.

    Linear DCG counts for every pair the grade of the document ranked first, ``DCG = sum over i < j
    of r_i``; the ideal order counts the higher of the two grades, and the difference is R(f). Some
    indices in the paper are misprints: the bounds of i and j are exchanged in equations 3, 4, 6 and
    7 (i runs over S_b for x_i of grade b), the upper bound ``|S_b|`` of x_j with grade n should be
    ``|S_n|``, and "(1) equals (10)" should read (9). R(f) / Z is at most 1 only for grades 0 and 1;
    `PairwiseLoss.relative` always is.

    References
    ----------
    Jin and Geng (2011), on the NDCG of the ECML/PKDD 2010 challenge as a pairwise loss, equations 1
    to 10.

    Examples
    --------
    >>> pairwise_loss([1, 0, 2, 0, 0], [2, 2, 1, 1, 3])
    7.5
    >>> pairwise_loss([[0, 2], [1, 0]], [[0.9, 0.1], [0.9, 0.1]])
    array([2., 0.])
    """
    if ties not in _TIES:
        raise OptionError(
            f"ties={ties}: expected half (expected, average) | strict (best) | weak (worst, le)"
        )
    checked("no_relevant", no_relevant, NoRelevant)
    policy = cast("NoRelevant", no_relevant or "zero")
    lists = Lists.from_arrays(
        labels, scores, group=group, offsets=offsets, qid=qid, mask=mask, padding=padding
    )
    _refuse_what_has_no_order(lists)
    alone = np.ndim(labels) == 1 and all(layout is None for layout in (group, offsets, qid))
    if decompose:
        return _decomposed(lists, ties, policy, alone=alone)
    loss = PairSums.of(lists, _TIES[ties]).loss.rounded()
    return float(loss[0]) if alone else loss


def _refuse_what_has_no_order(lists: Lists) -> None:
    """Refuse NaN, and infinite labels, with the message of every other function of arrays."""
    for values in (lists.labels, lists.scores):
        if not values.size or values.dtype.kind != "f":
            continue
        least = values.min()
        most = values.max()
        infinite = values is lists.labels and not np.isfinite([least, most]).all()
        if np.isnan(least) or infinite:
            judge_lists(lists, Alignment(negative="kept"))


def _decomposed(lists: Lists, ties: str, no_relevant: NoRelevant, *, alone: bool) -> PairwiseLoss:
    table = GradeTable.of(lists, _TIES[ties])
    sums = PairSums.of_table(table) or PairSums.of(lists, _TIES[ties])
    length = sums.length[:, None]
    # The loss at a threshold between two grades: the best weights of the documents above it, less
    # the weights that they have; both are doubled. The best weights of m documents are the m
    # largest, n - 1 to n - m.
    above = length - np.cumsum(table.number, axis=1)[:, :-1]
    best = above * (2 * length - above - 1)
    actual = table.below.sum(axis=1)[:, None] - np.cumsum(table.below, axis=1)[:, :-1]
    doubled = best - actual
    with np.errstate(over="ignore"):  # the gap of two labels may be above the largest float
        gaps = np.diff(table.grades)
        losses = np.multiply(gaps, doubled / 2, out=np.zeros(doubled.shape), where=doubled > 0)
    pairs = Dyadic(sums.length * sums.length - (table.number * table.number).sum(axis=1)).halved()
    weighted = sums.ideal - sums.worst
    positive = sums.ideal.positive()
    relative = _share(sums.loss, weighted, weighted.positive(), no_relevant)
    n_grades = (table.number > 0).sum(axis=1)

    def shaped(values: Any) -> Any:
        return values[0].item() if alone else values

    return PairwiseLoss(
        loss=shaped(sums.loss.rounded()),
        exact=shaped(sums.loss.is_float()),
        thresholds=table.grades[1:],
        gaps=gaps,
        losses=losses[0] if alone else losses,
        pairs=shaped(pairs.rounded()),
        weighted_pairs=shaped(weighted.rounded()),
        per_pair=shaped(_share(sums.loss, pairs, pairs.positive(), no_relevant)),
        relative=shaped(relative),
        dcg=shaped(sums.dcg.rounded()),
        ideal_dcg=shaped(sums.ideal.rounded()),
        worst_dcg=shaped(sums.worst.rounded()),
        ndcg=shaped(_share(sums.dcg, sums.ideal, positive, no_relevant)),
        least_ndcg=shaped(_share(sums.worst, sums.ideal, positive, no_relevant)),
        auc=shaped(_auc(sums, weighted, n_grades, no_relevant)),
        ties={"expected": "half", "best": "strict", "worst": "weak"}[_TIES[ties]],  # type: ignore[arg-type]
    )


def _auc(
    sums: PairSums, weighted: Dyadic, n_grades: IntArray, no_relevant: NoRelevant
) -> FloatArray:
    """1 - R(f) / Z_w of lists with two grades; undefined for one, NaN for more."""
    values = _share(weighted - sums.loss, weighted, weighted.positive(), no_relevant)
    return np.where(n_grades <= 2, values, np.nan)


def _share(part: Dyadic, whole: Dyadic, defined: BoolArray, no_relevant: NoRelevant) -> FloatArray:
    """The quotient, or what the policy says where there is none."""
    divisor = np.where(defined, whole.numerator, 1)
    return fill_undefined(part.over(Dyadic(divisor, whole.shift)), defined, no_relevant).values
