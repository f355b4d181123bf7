"""The pairwise loss that linear NDCG is: pairs in the wrong order, each weighed with the difference
of its grades.

Lists are in the order of their scores, and a place weighs as much as documents stand below it. DCG
with the weights n - rank, its ideal and its worst are summed exactly, with counts by grade.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, cast, overload

import numpy as np

from idealrank.data.alignment import Alignment
from idealrank.data.lists import Lists, judge_lists
from idealrank.data.types import AnyArray, BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.dyadic import Dyadic, dots, joined
from idealrank.measures.measure import fill_undefined
from idealrank.measures.rules import NoRelevant, checked

TieOrder: TypeAlias = Literal["expected", "best", "worst"]

# Items of a piece: few enough for its columns to stay in the cache, and for exact sums over it (see
# `dots`).
PIECE = 1 << 18


def stretches(lists: Lists) -> Iterator[Lists]:
    """The lists in stretches: one list alone, or several that make a piece together."""
    if lists.n_queries == 1 and lists.order is None:
        yield lists
        return
    begin = 0
    while begin < lists.n_queries:
        end = int(np.searchsorted(lists.offsets, lists.offsets[begin] + PIECE, side="right")) - 1
        # 2**16 lists at most, as `ascending` sorts their numbers
        end = min(max(end, begin + 1), begin + (1 << 16), lists.n_queries)
        yield lists.part(begin, end)
        begin = end


@dataclass(frozen=True, eq=False)
class ListOrder:
    """Items from the lowest score to the highest, list after list, and where scores tie."""

    order: IntArray  # shape (n,): the item at each place
    offsets: IntArray  # shape (n_lists + 1,): where each list begins and ends
    # shape (n_groups + 1,): where each group of equal scores begins, single items among them, and
    # n; None where no score occurs twice in a list
    ties: IntArray | None

    @classmethod
    def of(cls, scores: AnyArray, offsets: IntArray) -> "ListOrder":
        """Sort the scores of every list."""
        order = ascending(scores, offsets)
        head = np.ones(scores.size, bool)
        if scores.size:
            ranked = scores[order]
            np.not_equal(ranked[1:], ranked[:-1], out=head[1:])
            head[offsets[:-1][np.diff(offsets) > 0]] = True
        if head.all():
            return cls(order, offsets, None)
        return cls(order, offsets, np.append(np.flatnonzero(head), scores.size))

    def lists(self, begin: int, end: int) -> IntArray:
        """The list of each place from `begin` to before `end`."""
        return _owners(self.offsets, begin, end)

    def below(self, begin: int, end: int, ties: TieOrder) -> IntArray:
        """Twice the number of documents of its list below each place from `begin` to before
        `end`.
        """
        place = np.arange(begin, end)
        if self.ties is not None and ties != "best":
            group = _owners(self.ties, begin, end)
            ends = self.ties[group] + self.ties[group + 1] - 1
            doubled = ends if ties == "expected" else 2 * (ends - place)
        else:
            doubled = 2 * place
        if self.offsets.size > 2:
            doubled -= 2 * self.offsets[self.lists(begin, end)]
        return doubled

    def tied_in_order(self, values: AnyArray) -> AnyArray:
        """Values by place, in rising order within each tie group."""
        if self.ties is None:
            return values
        sizes = np.diff(self.ties)
        several = sizes > 1
        tied = np.repeat(several, sizes)
        sizes = sizes[several]
        changed = values.copy()
        changed[tied] = _in_groups(values[tied], sizes)
        return changed


def _in_groups(values: AnyArray, sizes: IntArray) -> AnyArray:
    """Values sorted within groups of these sizes.

    The group and the place among all values make one whole number: NumPy sorts numbers many times
    faster than it sorts places.
    """
    key = np.repeat(np.arange(sizes.size), sizes)
    if values.dtype.kind == "u":  # short codes, which are their own places
        span = 1 << 8 * values.dtype.itemsize
        key *= span
        key += values
        key.sort()
        return (key % span).astype(values.dtype)
    rising = np.argsort(values)
    key *= values.size
    key[rising] += np.arange(values.size)
    key.sort()
    key %= max(values.size, 1)
    return values[rising[key]]


def in_rising_order(values: AnyArray, offsets: IntArray) -> AnyArray:
    """Values sorted within each list."""
    return np.sort(values) if offsets.size <= 2 else values[ascending(values, offsets)]


def ascending(values: AnyArray, offsets: IntArray) -> IntArray:
    """The order that sorts every list, equal values in any order."""
    order = np.argsort(values)
    if offsets.size <= 2:
        return order
    # At most 2**16 lists: NumPy sorts so short numbers by counting, equal ones in the order they
    # have.
    owner = _owners(offsets, 0, values.size).astype(np.uint16)
    by_list: IntArray = order[np.argsort(owner[order], kind="stable")]
    return by_list


def _owners(bounds: IntArray, begin: int, end: int) -> IntArray:
    """The stretch between rising `bounds` in which each place from `begin` to before `end` lies."""
    first, last = np.searchsorted(bounds, (begin, max(end - 1, begin)), side="right") - 1
    within = np.clip(bounds[first : last + 2], begin, end)
    return np.repeat(np.arange(first, first + within.size - 1), np.diff(within))


# Whole labels of at most so many different values are counted instead of sorted.
_COUNTED = 1 << 16
# The most numbers that a table of lists x grades may have.
_CELLS = 50_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class PairSums:
    """Exact sums of each list, shape (n_lists,)."""

    length: IntArray  # n
    # dcg, ideal, worst: Sum of grade x (n - rank): of the list as ranked, of the best order, of the
    # worst
    dcg: Dyadic
    ideal: Dyadic
    worst: Dyadic

    @property
    def loss(self) -> Dyadic:
        """R(f)."""
        return self.ideal - self.dcg

    @classmethod
    def of(cls, lists: Lists, ties: TieOrder) -> "PairSums":
        """Sum every list, grades as they are."""
        coded = _whole(lists.labels)
        parts = [_sums(part, coded, ties) for part in stretches(lists)]
        dcg = joined([part.dcg for part in parts])
        ideal = joined([part.ideal for part in parts])
        total = joined([part.total for part in parts])
        return cls._halved(np.diff(lists.offsets), _Doubled(dcg, ideal, total))

    @classmethod
    def of_table(cls, table: "GradeTable") -> "PairSums | None":
        """Sum counts by grade to the same numbers; None if the grades are not whole."""
        if table.whole is None:
            return None
        doubled = _weighed_columns(table.number, table.below, table.whole)
        return cls._halved(table.number.sum(axis=1), doubled)

    @classmethod
    def _halved(cls, length: IntArray, doubled: "_Doubled") -> "PairSums":
        ideal = doubled.ideal.halved()
        # The ranks of a document in an order and in the order turned round sum to n + 1: the
        # weights n - rank sum to n - 1.
        worst = doubled.total * np.maximum(length - 1, 0) - ideal
        return cls(length=length, dcg=doubled.dcg.halved(), ideal=ideal, worst=worst)


class _Doubled(NamedTuple):
    """Twice the DCG and its ideal, and the sum of the labels, of each list."""

    dcg: Dyadic
    ideal: Dyadic
    total: Dyadic


@dataclass(frozen=True, kw_only=True, eq=False)
class GradeTable:
    """Counts by list and grade."""

    grades: FloatArray  # shape (n_grades,): the different labels of all lists, rising
    number: IntArray  # shape (n_lists, n_grades): items with each grade
    # shape (n_lists, n_grades): twice the number of documents ranked below those items, summed
    below: IntArray
    # shape (n_grades,): the grades, where they are whole numbers of moderate size
    whole: IntArray | None = None

    @classmethod
    def of(cls, lists: Lists, ties: TieOrder) -> "GradeTable":
        """Count the items of every list."""
        coded = _whole(lists.labels)
        if coded is not None and lists.n_queries * coded.size <= _CELLS:
            parts = ((part, coded.codes(part.labels)) for part in stretches(lists))
            number, below = _tables(parts, coded.size, ties)
            used = np.flatnonzero(number.any(axis=0))
            return cls(
                grades=(coded.least + used).astype(np.float64),
                number=number[:, used],
                below=below[:, used],
                whole=coded.least + used,
            )
        values, codes = np.unique(lists.labels, return_inverse=True)
        if lists.n_queries * values.size > _CELLS:
            raise InputError(
                f"found {values.size} different labels in {lists.n_queries} lists, more than a "
                f"table of lists x labels can hold ({_CELLS} numbers); decompose a list at a time, "
                "or round the labels"
            )
        by_code = Lists(codes.reshape(-1), lists.scores, lists.offsets, order=lists.order)
        parts = ((part, part.labels) for part in stretches(by_code))
        number, below = _tables(parts, values.size, ties)
        return cls(grades=values.astype(np.float64), number=number, below=below)


def _tables(
    parts: Iterable[tuple[Lists, AnyArray]], size: int, ties: TieOrder
) -> tuple[IntArray, IntArray]:
    """The tables of every stretch with its codes, one below the other."""
    none = np.zeros((0, size), np.int64)
    numbers, belows = [none], [none]
    for part, codes in parts:
        number, below = _table(codes, size, part, ties)
        numbers.append(number)
        belows.append(below)
    return np.concatenate(numbers), np.concatenate(belows)


def _sums(part: Lists, coded: "_Whole | None", ties: TieOrder) -> _Doubled:
    if coded is not None and part.n_queries * coded.size <= max(_COUNTED, 4 * PIECE):
        number, below = _table(coded.codes(part.labels), coded.size, part, ties)
        return _weighed_columns(number, below, coded.least + np.arange(coded.size))
    rising = in_rising_order(part.labels, part.offsets)
    ranked = ListOrder.of(part.scores, part.offsets)
    placed = part.labels[ranked.order]
    if ties != "expected":
        placed = ranked.tied_in_order(placed)
    filled = np.flatnonzero(np.diff(part.offsets))
    dcg = ideal = total = Dyadic(np.zeros(filled.size, np.int64))
    for begin, end, starts in _pieces(part.offsets[np.append(filled, part.n_queries)]):
        dcg += dots(placed[begin:end], ranked.below(begin, end, ties), starts)
        ideal += dots(rising[begin:end], ranked.below(begin, end, "best"), starts)
        total += dots(rising[begin:end], np.ones(end - begin, np.int64), starts)
    if filled.size == part.n_queries:
        return _Doubled(dcg, ideal, total)
    return _Doubled(
        dcg=_scattered(dcg, filled, part),
        ideal=_scattered(ideal, filled, part),
        total=_scattered(total, filled, part),
    )


def _pieces(offsets: IntArray) -> Iterator[tuple[int, int, IntArray]]:
    """Items to take at once, and where lists begin among them: a long list in pieces, or several
    lists whole.
    """
    if offsets.size > 2:
        yield 0, int(offsets[-1]), offsets[:-1]
        return
    for begin in range(0, int(offsets[-1]), PIECE):
        yield begin, min(begin + PIECE, int(offsets[-1])), np.zeros(1, np.int64)


def _scattered(sums: Dyadic, filled: IntArray, part: Lists) -> Dyadic:
    """Sums of the lists that have items, 0 for the others."""
    numerator = np.zeros(part.n_queries, sums.numerator.dtype)
    numerator[filled] = sums.numerator
    return Dyadic(numerator, sums.shift)


def _table(codes: AnyArray, size: int, part: Lists, ties: TieOrder) -> tuple[IntArray, IntArray]:
    """Items of each list and code, and twice the documents below them, shape (n_lists, size)
    each.
    """
    ranked = ListOrder.of(part.scores, part.offsets)
    ordered = None if ties == "expected" else ranked.tied_in_order(codes[ranked.order])
    number, below = np.zeros((2, part.n_queries * size), np.int64)
    step = max(PIECE, size)
    for begin in range(0, codes.size, step):
        end = min(begin + step, codes.size)
        piece = codes[ranked.order[begin:end]] if ordered is None else ordered[begin:end]
        cell = piece.astype(np.int64)
        if part.n_queries > 1:
            cell += ranked.lists(begin, end) * size
        number += np.bincount(cell, minlength=number.size)
        below += np.bincount(cell, ranked.below(begin, end, ties), number.size).astype(np.int64)
    shape = (part.n_queries, size)
    return number.reshape(shape), below.reshape(shape)


def _weighed_columns(number: IntArray, below: IntArray, values: IntArray) -> _Doubled:
    """Weigh counts by list and grade."""
    before = np.cumsum(number, axis=1) - number
    return _Doubled(
        dcg=_weighed(below, values),
        ideal=_weighed(number * (2 * before + number - 1), values),
        total=_weighed(number, values),
    )


def _weighed(counts: IntArray, values: IntArray) -> Dyadic:
    """The sum over grades of count x grade."""
    if int(np.abs(values).max(initial=0)) * int(counts.sum(axis=1).max(initial=1)) < 1 << 62:
        return Dyadic(counts @ values)
    return Dyadic((counts.astype(object) * values.astype(object)).sum(axis=1))


@dataclass(frozen=True)
class _Whole:
    """Labels that are whole numbers from `least` on, `size` of them at most."""

    least: int
    size: int

    def codes(self, labels: AnyArray) -> AnyArray:
        """Label - least, a piece at a time for the sake of memory."""
        narrow = np.empty(labels.size, np.uint8 if self.size <= 1 << 8 else np.uint16)
        for begin in range(0, labels.size, PIECE):
            piece = labels[begin : begin + PIECE]
            narrow[begin : begin + PIECE] = np.subtract(piece, self.least, dtype=_wide(labels))
        return narrow


def _wide(labels: AnyArray) -> type[np.int64] | type[np.float64]:
    return np.int64 if labels.dtype.kind == "i" else np.float64


def _whole(labels: AnyArray) -> _Whole | None:
    """Return labels as whole numbers for counting; None if they are not whole, or have too many
    values.
    """
    if labels.size == 0:
        return None
    least = labels.min()
    most = labels.max()
    if not float(most) - float(least) < _COUNTED or abs(float(least)) >= 1 << 53:
        return None
    pieces = (labels[begin : begin + PIECE] for begin in range(0, labels.size, PIECE))
    whole = (np.array_equal(piece, np.trunc(piece)) for piece in pieces)
    if labels.dtype.kind == "f" and not all(whole):
        return None
    return _Whole(int(least), int(most) - int(least) + 1)


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
    # the weights that they have; both are doubled.
    above = length - np.cumsum(table.number, axis=1)[:, :-1]
    best = above * (2 * length - above - 1)
    seen = table.below.sum(axis=1)[:, None] - np.cumsum(table.below, axis=1)[:, :-1]
    doubled = best - seen
    with np.errstate(over="ignore"):  # labels so far apart that only infinity says how far
        gaps = np.diff(table.grades)
        losses = np.multiply(gaps, doubled / 2, out=np.zeros(doubled.shape), where=doubled > 0)
    pairs = Dyadic(sums.length * sums.length - (table.number * table.number).sum(axis=1)).halved()
    weighted = sums.ideal - sums.worst
    positive = sums.ideal.positive()
    relative = _share(sums.loss, weighted, weighted.positive(), no_relevant)
    two = (table.number > 0).sum(axis=1) == 2

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
        auc=shaped(_auc(sums, weighted, two, table.number, no_relevant)),
        ties={"expected": "half", "best": "strict", "worst": "weak"}[_TIES[ties]],  # type: ignore[arg-type]
    )


def _auc(
    sums: PairSums, weighted: Dyadic, two: BoolArray, number: IntArray, no_relevant: NoRelevant
) -> FloatArray:
    """1 - R(f) / Z_w of lists with two grades; undefined for one, NaN for more."""
    values = _share(weighted - sums.loss, weighted, weighted.positive(), no_relevant)
    return np.where(two | ((number > 0).sum(axis=1) < 2), values, np.nan)


def _share(part: Dyadic, whole: Dyadic, defined: BoolArray, no_relevant: NoRelevant) -> FloatArray:
    """The quotient, or what the policy says where there is none."""
    divisor = np.where(defined, whole.numerator, 1)
    return fill_undefined(part.over(Dyadic(divisor, whole.shift)), defined, no_relevant).values
