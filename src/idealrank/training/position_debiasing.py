"""Position bias of clicks, estimated while a ranker is trained: unbiased LambdaMART."""

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from idealrank._keys import amount, choice
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.rules import checked
from idealrank.training.objectives import LambdaLists, LambdaObjective
from idealrank.training.row_arrays import row_numbers

EstimatedBias: TypeAlias = Literal["both", "clicked"]

_BLOCK = 1 << 22  # pairs that are looked at together
_DEEPEST = 1 << 20  # each position has an estimate


@dataclass(frozen=True, kw_only=True)
class UnbiasedObjective:
    """Objective of LambdaMART for clicks, which estimates the bias of positions in every round.

    The loss of a pair of a clicked document at position k and an unclicked one at position l is
    divided by ``t+(k) t-(l)``. After each round, ``t+(k)`` is the loss of pairs with the click at
    k, divided by that of pairs with the click at the first position, to the power ``1 / (1 +
    regularisation)``. ``t-(l)`` is the same for unclicked documents. Both begin at 1.

    The ratios also hold all else that differs between positions, such as features that the log's
    order follows. In ``experiments/click_training.py``, ``bias="clicked"``, which leaves ``t-`` at
    1, recovers more of what full labels give.

    Parameters
    ----------
    objective : LambdaObjective
        Measure, gain, discount and cutoff; the measure is nDCG or pairs.
    regularisation : float
        0 or more; larger values bring the estimates closer to 1.
    bias : {"both", "clicked"}
        Estimate ``t+`` and ``t-``, or ``t+`` alone.

    Raises
    ------
    OptionError
        An option is out of its range.

    References
    ----------
    Hu, Wang, Peng and Li (2019), Unbiased LambdaMART: an unbiased pairwise learning-to-rank
    algorithm. WWW.

    Examples
    --------
    >>> lists = UnbiasedObjective(objective=LambdaObjective(cutoff=10)).prepare(
    ...     [1, 0, 0, 1], [2, 2], positions=[1, 2, 1, 2]
    ... )
    >>> gradients, hessians = lists.gradients([0.0, 0.0, 0.0, 0.0])
    >>> lists.clicked.tolist()
    [1.0, 1.0]
    """

    objective: LambdaObjective = field(default_factory=LambdaObjective)
    regularisation: float = amount(
        "Larger values bring the estimates of the bias of positions closer to 1.", 0.0, most=1e9
    )
    bias: EstimatedBias = choice(
        get_args(EstimatedBias),
        "Estimate the bias of clicked and unclicked positions, or of clicked.",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.objective, LambdaObjective):
            raise OptionError(
                f"objective: found {type(self.objective).__name__}, expected a LambdaObjective"
            )
        if self.objective.swap not in ("discounted", "even"):
            raise OptionError(
                f"measure={self.objective.measure!r}: expected nDCG or pairs, whose weights of "
                "pairs are known in advance"
            )
        is_number = isinstance(self.regularisation, Real) and not isinstance(
            self.regularisation, bool
        )
        if not (is_number and 0 <= self.regularisation < np.inf):
            raise OptionError(
                f"regularisation={self.regularisation!r}: expected a number of 0 or more"
            )
        checked("bias", self.bias, EstimatedBias)

    def __str__(self) -> str:
        return f"unbiased {self.objective}"

    def prepare(
        self, labels: Any, group: Any = None, *, positions: Any, offsets: Any = None
    ) -> "UnbiasedLists":
        """Prepare the lists of a data set.

        Parameters
        ----------
        labels : array, shape (n,)
            1 for a click, else 0.
        group : array of int, optional
            Number of rows of each list; default one list.
        positions : array of int, shape (n,)
            Rank at which each row was shown; 1 is the top.
        offsets : array of int, shape (n_lists + 1,), optional
            Where each list begins, instead of `group`.

        Raises
        ------
        InputError
            Shapes do not match, or a position is not a whole number of 1 or more.
        """
        lists = self.objective.prepare(labels, group, offsets=offsets)
        ranks = row_numbers("positions", positions, lists.gains.size)
        wrong = np.flatnonzero(~((ranks >= 1) & (ranks <= _DEEPEST) & (ranks == np.floor(ranks))))
        if wrong.size:
            row = int(wrong[0])
            raise InputError(
                f"positions: found {ranks[row]:g} at row {row}, expected whole numbers from 1, the "
                f"top, to {_DEEPEST:,}"
            )
        places = ranks.astype(np.int64) - 1
        n = int(places.max(initial=-1)) + 1
        higher, lower = _pairs(lists)
        return UnbiasedLists(
            objective=self,
            lists=lists,
            places=places,
            higher=higher,
            lower=lower,
            clicked=np.ones(n),
            unclicked=np.ones(n),
        )


@dataclass(kw_only=True, eq=False)
class UnbiasedLists:
    """Lists of a click log, with the estimates of position bias after the last round.

    Attributes
    ----------
    objective : UnbiasedObjective
        The objective.
    lists : LambdaLists
        The lists, without factors.
    places : int64 array, shape (n,)
        Position of each row, from 0.
    higher, lower : int64 array, shape (pairs,)
        Rows of each pair with different labels.
    clicked, unclicked : float64 array, shape (positions,)
        ``t+`` and ``t-`` of each position, relative to the first.

    Examples
    --------
    >>> lists = UnbiasedObjective().prepare([0, 1, 1, 0], [2, 2], positions=[1, 2, 1, 2])
    >>> _ = lists.gradients([3.0, 0.0, 3.0, 0.0])
    >>> (
    ...     bool(lists.clicked[1] > 1),
    ...     bool(lists.unclicked[1] < 1),
    ... )  # pairs in the wrong order lose more
    (True, True)
    """

    objective: UnbiasedObjective
    lists: LambdaLists
    places: IntArray
    higher: IntArray
    lower: IntArray
    clicked: FloatArray
    unclicked: FloatArray

    @property
    def n_queries(self) -> int:
        """Number of lists."""
        return self.lists.n_queries

    def gradients(
        self, scores: Any, *, weights: Any = None, dtype: Any = "float32", threads: int = 0
    ) -> tuple[AnyArray, AnyArray]:
        """First and second derivatives at the estimates so far; then estimate anew.

        Parameters
        ----------
        scores, weights, dtype, threads
            As for `LambdaLists.gradients`.

        Raises
        ------
        InputError
            Scores are too few or too many, or not finite.
        """
        factors = replace(
            self.lists, up=1 / self.clicked[self.places], down=1 / self.unclicked[self.places]
        )
        derivatives = factors.gradients(scores, weights=weights, dtype=dtype, threads=threads)
        self._estimate(np.asarray(scores, np.float64).reshape(-1))
        return derivatives

    def _estimate(self, scores: FloatArray) -> None:
        losses = self._losses(scores)
        above = self.places[self.higher]
        below = self.places[self.lower]
        n = self.clicked.size
        if not n:
            return
        # both from the estimates of the round before
        clicked_losses = np.bincount(above, weights=losses / self.unclicked[below], minlength=n)
        unclicked_losses = np.bincount(below, weights=losses / self.clicked[above], minlength=n)
        if clicked_losses[0] > 0:
            self.clicked = self._relative(clicked_losses)
        if unclicked_losses[0] > 0 and self.objective.bias == "both":
            self.unclicked = self._relative(unclicked_losses)

    def _relative(self, losses: AnyArray) -> FloatArray:
        """Bias of each position relative to the first, from the losses of its pairs."""
        power = 1 / (1 + self.objective.regularisation)
        relative: FloatArray = np.where(losses > 0, losses / losses[0], 1.0) ** power
        return relative

    def _losses(self, scores: FloatArray) -> FloatArray:
        """The loss of each pair, without factors."""
        lists = self.lists
        sigma = self.objective.objective.sigma
        owner = np.repeat(np.arange(lists.n_queries), np.diff(lists.offsets))
        weight = lists.gains[self.higher] - lists.gains[self.lower]
        if lists.objective.swap == "discounted":
            order = np.lexsort((-scores, owner))
            place = np.empty(scores.size, np.int64)  # in the ranking of its list, from 0
            place[order] = np.arange(scores.size) - lists.offsets[owner]
            discount = lists.weights[place]
            weight = weight * np.abs(discount[self.higher] - discount[self.lower])
        losses: FloatArray = (
            weight
            * lists.scale[owner[self.higher]]
            * np.logaddexp(0, -sigma * (scores[self.higher] - scores[self.lower]))
        )
        return losses


def _pairs(lists: LambdaLists) -> tuple[IntArray, IntArray]:
    """Rows of pairs whose first row has the larger gain."""
    sizes = np.diff(lists.offsets)
    start = np.repeat(lists.offsets[:-1], sizes)
    length = np.repeat(sizes, sizes)
    ends = np.cumsum(length)
    higher = [np.empty(0, np.int64)]
    lower = [np.empty(0, np.int64)]
    # Each row with every row of its list, a block of rows at a time: all pairs together would not
    # fit in memory. A block has at least one row.
    first = 0
    while first < length.size:
        pairs_before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, pairs_before + _BLOCK, side="right")))
        rows = np.arange(first, last)
        row = np.repeat(rows, length[rows])
        pairs_of_earlier = np.repeat(np.cumsum(length[rows]) - length[rows], length[rows])
        other = start[row] + np.arange(row.size) - pairs_of_earlier
        chosen = lists.gains[row] > lists.gains[other]
        higher.append(row[chosen])
        lower.append(other[chosen])
        first = last
    return np.concatenate(higher), np.concatenate(lower)
