"""Objectives whose gradients follow a ranking measure: LambdaMART for NDCG with any gain and
discount, AP, RR and ERR.

A pair of documents with different gains is pulled apart by a logistic force, weighed with the
change of the measure if the two swapped places. For the linear discount the sum of the forces is
the gradient of a loss that bounds 1 - NDCG.
"""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from idealrank import _kernel
from idealrank._keys import amount, choice, flag, whole
from idealrank.conventions.configuration_keys import discount_key, gain_key
from idealrank.data.types import AnyArray, FloatArray, IntArray, thread_count
from idealrank.errors import InputError, OptionError
from idealrank.measures.discounts import DiscountLike, LinearDiscount, make_discount
from idealrank.measures.gains import GainLike, make_gain
from idealrank.training.row_arrays import row_numbers, whole_numbers

LambdaMeasure: TypeAlias = Literal["nDCG", "AP", "RR", "ERR", "pairs"]
Beyond: TypeAlias = Literal["kept", "zero"]
_SWAPS: dict[str, Literal["discounted", "even", "precision", "first", "cascade"]] = {
    "nDCG": "discounted",
    "AP": "precision",
    "RR": "first",
    "ERR": "cascade",
    "pairs": "even",
}
_DEEPEST = 2**31 - 1  # rank; the kernel's whole numbers end here
_ABOVE_CUTOFF = 3  # ranks that training looks at beyond the cutoff, as LightGBM's manual advises


@dataclass(frozen=True, kw_only=True)
class LambdaObjective:
    """Objective of LambdaMART for a measure.

    A pair (i, j) in which i is worth more has the loss ``|change| log(1 + exp(-sigma (s_i -
    s_j)))`` with ``|change|`` the change of the measure if i and j swapped ranks, held fixed. The
    hessian is the second derivative of the same loss.

    Parameters
    ----------
    measure : {"nDCG", "AP", "RR", "ERR", "pairs"}
        The measure whose change weighs a pair. ``pairs`` counts every pair with the difference of
        its gains (RankNet for binary labels).
    gain : gain
        As for `NDCG`; for AP and RR documents with a grade of `rel` or more count, for ERR the gain
        is ``(2^grade - 1) / 2^max_rel``.
    discount : discount
        As for `NDCG`. With ``"linear"`` every pair counts, and the loss bounds 1 - NDCG.
    cutoff : int, optional
        Cutoff of the measure; default all ranks.
    truncation : int, optional
        Only pairs with a document among so many ranks count. Default: three ranks more than the
        cutoff for nDCG, else all ranks.
    beyond : {"kept", "zero"}
        Weight of ranks below the cutoff in the change of nDCG: their discount, as in LightGBM, or
        zero, which is the exact change of nDCG@k. AP, RR and ERR always use the exact change.
    sigma : float
        Steepness of the logistic function, above 0.
    damped : bool, optional
        Divide a pair by 0.01 plus its distance in scores, and shrink the sums of a query to their
        logarithm, as in LightGBM (``lambdarank_norm``). Default: yes, except for the linear
        discount, whose loss would no longer bound 1 - NDCG.
    rel : float
        Least grade that is relevant, for AP and RR.
    max_rel : float
        Highest grade of the scale, for ERR.

    Raises
    ------
    OptionError
        An option is out of its range.

    References
    ----------
    Burges (2010), From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82; Donmez, Svore and
    Burges (2009), On the local optimality of LambdaRank, SIGIR; Chapelle et al. (2009), CIKM, for
    ERR.

    Examples
    --------
    >>> lists = LambdaObjective(cutoff=10).prepare([2, 0, 1], [3])
    >>> gradients, hessians = lists.gradients([0.0, 0.0, 0.0])
    >>> gradients.round(3), bool((hessians > 0).all())
    (array([-0.326,  0.192,  0.135], dtype=float32), True)
    """

    measure: LambdaMeasure = choice(
        get_args(LambdaMeasure), "Measure whose change weighs a pair of documents."
    )
    gain: GainLike = gain_key("exp2")
    discount: DiscountLike = discount_key("log2")
    cutoff: int | None = whole("Cutoff of the measure; default all ranks.", most=_DEEPEST)
    truncation: int | None = whole(
        "Ranks of which a pair must have one; default three more than the cutoff for nDCG, else "
        "all.",
        most=_DEEPEST,
    )
    beyond: Beyond = choice(get_args(Beyond), "Weight of ranks below the cutoff, for nDCG.")
    sigma: float = amount("Steepness of the logistic function.", 1.0, most=1e9, is_above=True)
    damped: bool | None = flag(
        "Divide a pair by its distance in scores; default true, except for the linear discount.",
        default=None,
    )
    rel: float = amount("Least grade that is relevant, for AP and RR.", 1.0, least=-1e9, most=1e9)
    max_rel: float = amount("Highest grade of the scale, for ERR.", 4.0, most=1e9, is_above=True)

    def __post_init__(self) -> None:
        if str(self.measure) not in _SWAPS:
            raise OptionError(f"measure={self.measure!r}: expected one of {', '.join(_SWAPS)}")
        beyond: Any = self.beyond  # arrays have no truth
        if not isinstance(beyond, str) or beyond not in ("kept", "zero"):
            raise OptionError(f"beyond={self.beyond!r}: expected kept or zero")
        if not (self.damped is None or isinstance(self.damped, (bool, np.bool_))):
            raise OptionError(
                f"damped={self.damped!r}: expected true or false, or None for the default of the "
                "discount"
            )
        for name, number in (("cutoff", self.cutoff), ("truncation", self.truncation)):
            if number is not None and not (
                _is_number(number) and number % 1 == 0 and 1 <= number <= _DEEPEST
            ):
                raise OptionError(
                    f"{name}={number!r}: expected a whole number from 1 to {_DEEPEST:,}, or None "
                    "for all ranks"
                )
        for name, positive in (("sigma", self.sigma), ("max_rel", self.max_rel)):
            if not (_is_number(positive) and 0 < positive < math.inf):
                raise OptionError(f"{name}={positive!r}: expected a number above 0")
        if not (_is_number(self.rel) and math.isfinite(self.rel)):
            raise OptionError(f"rel={self.rel!r}: expected a grade")
        make_gain(self.gain)
        make_discount(self.discount)

    def __str__(self) -> str:
        cut = "" if self.cutoff is None else f"@{self.cutoff}"
        if self.measure == "nDCG":
            gain = make_gain(self.gain).text
            discount = make_discount(self.discount).text
            return f"lambda nDCG(gain={gain},discount={discount}){cut}"
        return f"lambda {self.measure}{cut}"

    @property
    def levels(self) -> int | None:
        """Ranks of which a pair must have one; None for all."""
        if (
            self.truncation is not None
            or self.cutoff is None
            or self.measure != "nDCG"
            or self._is_pairwise
        ):
            return self.truncation
        return self.cutoff + _ABOVE_CUTOFF

    @property
    def is_damped(self) -> bool:
        """True if pairs are divided by their distance."""
        return not self._is_pairwise if self.damped is None else self.damped

    @property
    def _is_pairwise(self) -> bool:
        """True if the pairs out of order sum to the loss of the measure, so that each weighs its
        difference of gains.
        """
        return self.measure == "nDCG" and isinstance(make_discount(self.discount), LinearDiscount)

    def prepare(
        self,
        labels: Any,
        group: Any = None,
        *,
        offsets: Any = None,
        up: Any = None,
        down: Any = None,
    ) -> "LambdaLists":
        """Prepare the lists of a data set: gains, ideals and weights, which every round of boosting
        uses again.

        Parameters
        ----------
        labels : array, shape (n,)
            Grades; of clicks 1 for a click.
        group : array of int, optional
            Number of rows of each query, as LightGBM takes it; default one query.
        offsets : array of int, shape (n_queries + 1,), optional
            Where each query begins, instead of `group`.
        up, down : array, shape (n,), optional
            Factor of each row in pairs where its gain is higher, or lower. With ``up = 1 /
            propensity`` training on clicks is unbiased.

        Raises
        ------
        InputError
            Shapes do not match, a label is no number, or the labels do not fit the measure.

        Examples
        --------
        >>> LambdaObjective(measure="AP").prepare([1, 0, 0, 1], [2, 2]).n_queries
        2
        """
        grades = row_numbers("labels", labels)
        bounds = _bounds(grades.size, group, offsets)
        gains = self._gains(grades)
        length = int(np.diff(bounds).max(initial=0))
        weights = self._weights(length)
        scale = self._scale(gains, bounds, weights)
        if up is not None:
            up = row_numbers("up", up, grades.size)
        if down is not None:
            down = row_numbers("down", down, grades.size)
        if self.measure == "nDCG" and self.beyond == "zero" and self.cutoff is not None:
            weights[self.cutoff :] = 0.0
        return LambdaLists(
            objective=self,
            gains=gains,
            offsets=bounds,
            weights=weights,
            scale=scale,
            up=up,
            down=down,
        )

    def _gains(self, grades: FloatArray) -> FloatArray:
        if self.measure in ("AP", "RR"):
            return (grades >= self.rel).astype(np.float64)
        if self.measure == "ERR":
            if grades.size and grades.max() > self.max_rel:
                raise InputError(
                    f"labels: found grade {grades.max():g}, expected at most "
                    f"max_rel={self.max_rel:g}; set max_rel"
                )
            chances: FloatArray = make_gain("exp2")(np.maximum(grades, 0.0)) / 2.0**self.max_rel
            return chances
        return np.ascontiguousarray(make_gain(self.gain)(grades), np.float64)

    def _weights(self, length: int) -> FloatArray:
        """Return the weights of the ranks 1 to `length`."""
        rank = np.arange(1, length + 1)
        if self.measure == "nDCG":
            return make_discount(self.discount).at(rank, np.full(length, length))
        weights: FloatArray = 1.0 / rank
        if self.cutoff is not None:
            weights[self.cutoff :] = 0.0
        return weights

    def _scale(self, gains: FloatArray, offsets: IntArray, weights: FloatArray) -> FloatArray:
        """One over the measure's norm of each list; 0 where it has none."""
        n = offsets.size - 1
        owner = np.repeat(np.arange(n), np.diff(offsets))
        if self.measure in ("RR", "ERR", "pairs"):
            return np.ones(n)
        if self.measure == "AP":
            norm = np.bincount(owner, weights=gains, minlength=n)
        else:
            ordered = gains[np.lexsort((-gains, owner))]
            rank = np.arange(gains.size) - offsets[owner] + 1
            if self._is_pairwise:  # this discount depends on the length of the list
                discounts = make_discount(self.discount).at(rank, np.diff(offsets)[owner])
            else:
                discounts = weights[rank - 1]
            counted = ordered * discounts
            if self.cutoff is not None:
                counted = np.where(rank <= self.cutoff, counted, 0.0)
            norm = np.bincount(owner, weights=counted, minlength=n)
        return np.divide(1.0, norm, out=np.zeros(n), where=norm > 0)

    @property
    def swap(self) -> Literal["discounted", "even", "precision", "first", "cascade"]:
        """The kernel's word for the change of a swap."""
        return "even" if self._is_pairwise else _SWAPS[self.measure]


@dataclass(frozen=True, kw_only=True, eq=False)
class LambdaLists:
    """Lists of a data set, ready for gradients at any scores.

    Attributes
    ----------
    objective : LambdaObjective
        What is trained for.
    gains : float64 array, shape (n,)
        Worth of each row.
    offsets : int64 array, shape (n_queries + 1,)
        Where each query begins.
    weights : float64 array, shape (longest list,)
        Weight of each rank.
    scale : float64 array, shape (n_queries,)
        One over the ideal of each query; 0 without a relevant document.
    up, down : float64 array, shape (n,), or None
        Factors of rows, see `LambdaObjective.prepare`.

    Examples
    --------
    >>> lists = LambdaObjective(measure="RR", damped=False).prepare([0, 1], [2])
    >>> lists.gradients([0.0, 0.0], dtype="float64")
    (array([ 0.25, -0.25]), array([0.125, 0.125]))
    """

    objective: LambdaObjective
    gains: FloatArray
    offsets: IntArray
    weights: FloatArray
    scale: FloatArray
    up: FloatArray | None = None
    down: FloatArray | None = None

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.offsets.size - 1

    def gradients(
        self, scores: Any, *, weights: Any = None, dtype: Any = "float32", threads: int = 0
    ) -> tuple[AnyArray, AnyArray]:
        """First and second derivative of the loss by every score.

        Parameters
        ----------
        scores : array, shape (n,)
            What the model gives.
        weights : array, shape (n,), optional
            Weight of each row; its derivatives are multiplied by it.
        dtype : {"float32", "float64"}
            Of the results.
        threads : int
            0 uses all cores; the results do not depend on it.

        Raises
        ------
        InputError
            Scores are too few or too many, or not finite.

        Examples
        --------
        >>> lists = LambdaObjective(gain="linear", damped=False).prepare([1, 0], [2])
        >>> [array.round(4).tolist() for array in lists.gradients([0.0, 1.0], dtype="float64")]
        [[-0.2698, 0.2698], [0.0726, 0.0726]]
        """
        row_scores = row_numbers("scores", scores, self.gains.size)
        _check_type(dtype)
        gradients = np.empty(row_scores.size, dtype)
        hessians = np.empty(row_scores.size, dtype)
        _kernel.lambda_gradients(
            gains=self.gains,
            scores=row_scores,
            offsets=self.offsets,
            weights=self.weights,
            scale=self.scale,
            gradients=gradients,
            hessians=hessians,
            swap=self.objective.swap,
            truncation=self.objective.levels or 0,
            sigma=float(self.objective.sigma),
            damped=self.objective.is_damped,
            up=self.up,
            down=self.down,
            threads=thread_count(threads),
        )
        if weights is not None:
            factor = row_numbers("weights", weights, row_scores.size).astype(gradients.dtype)
            gradients *= factor
            hessians *= factor
        return gradients, hessians


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check_type(dtype: Any) -> None:
    try:
        is_float = np.dtype(dtype) in (np.float32, np.float64)
    except (TypeError, ValueError):
        is_float = False
    if dtype is None or not is_float:  # NumPy takes None for float64
        raise OptionError(f"dtype={dtype!r}: expected float32 or float64")


def _bounds(n: int, group: Any, offsets: Any) -> IntArray:
    if group is not None and offsets is not None:
        raise InputError("found group and offsets, expected one of them")
    if offsets is not None:
        bounds = whole_numbers("offsets", offsets)
    else:
        sizes = whole_numbers("group", [n] if group is None else group)
        bounds = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    if bounds.size == 0 or bounds[0] != 0 or bounds[-1] != n or (np.diff(bounds) < 0).any():
        total = int(bounds[-1]) if bounds.size else 0
        raise InputError(
            f"group: the sizes sum to {total}, expected the number of rows, {n}, and none below 0; "
            "set group to the rows of each query"
        )
    return bounds
