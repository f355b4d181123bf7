"""Sign flips of paired differences: random ones, all of them, and the test of every shift at once.

**Random flips** are made for many columns under the same signs, a block of draws at a time. A draw
flips each unit (a query, or a cluster of them) with probability one half. With S the flipped units,
``T* = T - 2 sum_S`` is the total under the flipped signs: the sum over S is all that a test needs,
and the means over S are what its inversion needs.

Eight units share a byte of random bits and a table of their 256 subset sums, so a draw costs one
row of a table for every eight units. Columns hold whole numbers (`as_whole`): sums are exact,
whatever the order.

**p values and intervals** come from the means of the flipped units, for every shift at once. Let
unit i have the total ``t_i`` (the weighted sum of its differences) and the weight ``w_i``; under
the hypothesis that the mean difference is ``delta`` its sign-symmetric total is ``t_i - delta
w_i``. For a draw that flips S, the total under the flipped signs is ``T*(delta) = T(delta) - 2
sum_S (t_i - delta w_i)``, so

* ``T*(delta) >= T(delta)`` if and only if ``sum_S t_i <= delta sum_S w_i``: the mean over S is at
  most delta, or S is empty;
* ``T*(delta) <= -T(delta)`` if and only if the same is true of the units outside S.

For delta below the mean, the two-sided p value is thus a count of draws whose smaller mean, of S
and of the rest, is at most delta: a step function whose jumps are those means. The lower end of the
interval is one of them, and likewise the upper end. The test at delta = 0 counts the same numbers,
so the interval holds 0 if and only if p is above 1 - level.

**All flips** of the few units that differ are listed, with random signs of the many that do not.
A sign-flip test of 200 queries of which 20 differ has 2^20 distinct results. Their p value is a
count of subset sums. Their interval also needs the weights of the flipped queries that do not
differ, which are drawn: 2^17 numbers, each of them met by the subsets of the units from the 18th
on. So a draw is one of 2^17 rows and one of at most eight extras, and nothing of the size of all
draws is made:

* the p value compares the rows with a threshold for each extra;
* a few thousand draws say roughly where the wanted end lies. One linear function of the rows then
  finds the draws that can be beyond it (the mean of S is at most delta where ``sum_S - delta
  weight_S <= 0``), and only for those is the mean itself computed.
"""

import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from idealrank import _kernel
from idealrank.data.types import FloatArray, IntArray
from idealrank.stats.design import Design
from idealrank.stats.randomness import RandomLike, generator_of, in_order
from idealrank.stats.whole_numbers import as_whole, tie_step, to_steps, unit_of

Result = TypeVar("Result")
Part: TypeAlias = tuple[slice, FloatArray]

DRAWS = 2048  # of a block, whatever is asked: the first draws do not depend on how many follow
_COLUMNS = 32  # summed at a time: a block of them stays in the cache
MOST_UNITS = 20  # of an enumeration: a million sign vectors


class Flips:
    """Units that each draw flips."""

    def __init__(self, n_units: int, rng: RandomLike = None) -> None:
        self.n_units = n_units
        sequence = generator_of(rng).bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined]
        self._entropy = sequence.entropy
        self._key = sequence.spawn_key

    def map(
        self,
        columns: FloatArray,
        n_draws: int,
        work: Callable[[FloatArray], Result],
        *,
        threads: int | None = None,
    ) -> Iterator[Result]:
        """Apply `work` to each block of subset sums, in the order of the draws.

        Asking again gives the same draws again: nothing needs to be kept for a second look.
        """
        columns = np.ascontiguousarray(columns, np.float64)

        def of_block(block: int) -> Result:
            return work(self._sums(columns, block)[: n_draws - block * DRAWS])

        return in_order(of_block, -(-n_draws // DRAWS), threads)

    def map_parts(
        self,
        columns: FloatArray,
        n_draws: int,
        work: Callable[[Iterator[Part]], Result],
        *,
        threads: int | None = None,
    ) -> Iterator[Result]:
        """Apply `work` as `map` does, to more columns than should have all their sums at once."""
        columns = np.ascontiguousarray(columns, np.float64)

        def of_block(block: int) -> Result:
            n_rows = n_draws - block * DRAWS
            return work((part, sums[:n_rows]) for part, sums in self._parts(columns, block))

        return in_order(of_block, -(-n_draws // DRAWS), threads)

    def _sums(self, columns: FloatArray, block: int) -> FloatArray:
        width = columns.shape[1]
        if width <= _COLUMNS:
            return next(self._parts(columns, block))[1]
        sums = np.empty((DRAWS, width))
        for part, part_sums in self._parts(columns, block):
            sums[:, part] = part_sums
        return sums

    def _parts(self, columns: FloatArray, block: int) -> Iterator[Part]:
        flip_bytes = self._bytes(block)
        for first in range(0, columns.shape[1], _COLUMNS):
            part = slice(first, first + _COLUMNS)
            part_columns = np.ascontiguousarray(columns[:, part])
            sums = np.empty((DRAWS, part_columns.shape[1]))
            _kernel.sum_subsets(part_columns, flip_bytes, sums)
            yield part, sums

    def _bytes(self, block: int) -> npt.NDArray[np.uint8]:
        """Random bits, a byte for each eight units and draw: shape (groups, DRAWS)."""
        child = np.random.SeedSequence(self._entropy, spawn_key=(*self._key, block))
        groups = -(-self.n_units // 8)
        raw = np.random.PCG64(child).random_raw(groups * DRAWS // 8)
        return raw.astype("<u8", copy=False).view(np.uint8).reshape(groups, DRAWS)


class AllFlips(Flips):
    """Every sign vector once: 2^n_units draws, for at most 20 units.

    The order is scattered, so that the first draws look like any others.
    """

    def __init__(self, n_units: int) -> None:
        # Not the constructor of `Flips`: it sets up random bits, and these are listed.
        self.n_units = n_units
        self.n_draws = 1 << n_units

    def _bytes(self, block: int) -> npt.NDArray[np.uint8]:
        draws = np.arange(block * DRAWS, (block + 1) * DRAWS) * _scatter(self.n_draws)
        draws %= self.n_draws
        groups = -(-self.n_units // 8)
        return np.stack([(draws >> 8 * group & 255).astype(np.uint8) for group in range(groups)])


def _scatter(n_draws: int) -> int:
    """A step through 2^n draws, by the golden ratio; odd, so that it comes to every draw once."""
    return int(0.6180339887498949 * n_draws) | 1


Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


class Units(NamedTuple):
    """Totals and weights of the units in whole numbers."""

    totals: FloatArray  # shape (n_units, columns), as multiples of `unit`
    weights: FloatArray  # shape (n_units,), as multiples of `weight_unit`
    unit: FloatArray
    weight_unit: float
    step: FloatArray  # least distance of two sums of totals that are not tied

    @classmethod
    def of(cls, differences: FloatArray, design: Design) -> "Units":
        """Sum differences (n, columns) by unit."""
        totals = design.unit_totals(differences)
        weights = design.unit_totals(np.ones(design.n))
        unit = unit_of(totals)
        weight_unit = float(unit_of(weights[:, None])[0])
        whole = as_whole(totals, unit)
        return cls(
            totals=whole,
            weights=as_whole(weights, weight_unit),
            unit=unit,
            weight_unit=weight_unit,
            step=tie_step(whole),
        )

    @property
    def n_nonzero(self) -> IntArray:
        """Units whose total is not zero, in each column."""
        return np.asarray(np.count_nonzero(self.totals, axis=0), np.int64)

    def of_columns(self, columns: IntArray) -> "Units":
        """Return some columns alone."""
        return Units(
            totals=self.totals[:, columns],
            weights=self.weights,
            unit=self.unit[columns],
            weight_unit=self.weight_unit,
            step=self.step[columns],
        )

    def with_weights(self) -> FloatArray:
        """Totals and, as the last column, weights: what is summed over the flipped units."""
        return np.concatenate([self.totals, self.weights[:, None]], axis=1)

    def ends(self, sums: FloatArray, alternative: Alternative) -> FloatArray:
        """The end of each draw: the shift at which it begins to count, with its sign changed for
        lower ends. So a draw with a larger end counts at more shifts, on either side.
        """
        flipped = sums[:, :-1]
        weight = sums[:, -1:]
        if alternative == "two-sided":
            return both_ends(
                flipped, weight, self.totals.sum(axis=0), float(self.weights.sum()), self.step
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = to_steps(flipped, self.step) / weight
        return np.where(weight == 0, np.inf, -mean if alternative == "greater" else mean)

    def interval(self, ends: FloatArray, alternative: Alternative) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends in the units of the differences, from the ranked `ends`."""
        scaled = ends.reshape(-1, self.unit.size) * (self.step * self.unit / self.weight_unit)
        infinite = np.full(self.unit.size, np.inf)
        low = infinite if alternative == "less" else scaled[0]
        high = infinite if alternative == "greater" else scaled[-1]
        return 0.0 - low, high + 0.0  # no negative zeros

    def counts(self, from_zero: IntArray, draws: int, alternative: Alternative) -> IntArray:
        """Draws that are as extreme as what was observed; `from_zero` counts the draws whose `ends`
        are 0 or more, and if two-sided, first the lower and then the upper ends.
        """
        if alternative != "two-sided":
            return from_zero
        lower, upper = from_zero.reshape(2, -1)
        total = to_steps(self.totals.sum(axis=0), self.step)
        # A mean above 0 is tested from below; at a mean of 0, every draw is as extreme.
        one_side = np.where(total > 0, lower, upper)
        return np.where(total == 0, draws, one_side)


def both_ends(
    flipped: FloatArray,
    weight: FloatArray,
    total: FloatArray,
    total_weight: float,
    step: FloatArray,
) -> FloatArray:
    """`Units.ends` of a two-sided test, from sums over the flipped units (draws, columns), their
    weights (draws, 1), and the totals.
    """
    ends = np.empty((2, *flipped.T.shape))  # columns first: what follows runs along the draws
    # The two halves hold the means over the flipped units and over the rest, until the ends replace
    # them: minus the smaller mean, and the larger one.
    mean = ends[0]
    other = ends[1]
    steps = step[:, None]
    rest_weight = total_weight - weight
    np.rint(np.divide(flipped.T, steps, out=mean), out=mean)
    np.rint(
        np.divide(np.subtract(total[:, None], flipped.T, out=other), steps, out=other), out=other
    )
    alone = ((weight == 0) | (rest_weight == 0))[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean /= weight.T
        other /= rest_weight.T
    smaller = np.minimum(mean, other)
    np.maximum(mean, other, out=other)
    np.negative(smaller, out=mean)
    if alone.any():
        ends[:, :, alone] = np.inf
    draws, columns = flipped.shape  # of no draws NumPy cannot work out a size of -1
    return ends.reshape(2 * columns, draws).T


def counted_rank(level: float, draws: int, n_observed: int) -> int:
    """Return the number of draws that must count for a shift to be in the interval; 0 or less if
    every shift is.
    """
    # The p value of `rank` counted draws is the least above alpha. The search starts two below, so
    # that rounding of the product cannot put its start beyond the rank.
    alpha = level_left(level)
    rank = math.floor(alpha * (draws + n_observed)) - n_observed - 1
    while (rank + n_observed) / (draws + n_observed) <= alpha:
        rank += 1
    return rank


def level_left(level: float) -> float:
    """One minus the level, without the last bits: 0.05 for 0.95."""
    return round(1 - level, 12)


ROW_BITS = 17  # units whose sign vectors are the rows of an enumeration: 1 MB for a column
_PILOT = 1 << 13  # draws that say where to look
_ERRORS = 5.0  # standard errors of a rank; a look that missed is followed by one at all draws


class Ends(NamedTuple):
    """Counts and ends of one column: draws as extreme as the observed signs, and the ends at the
    rank, one for each side.
    """

    counted: IntArray
    end: FloatArray


class ColumnDraws(NamedTuple):
    """The draws of one column: row j together with extra h."""

    sums: FloatArray  # over the flipped units of each row
    weights: FloatArray
    more_sums: FloatArray  # over the flipped units of each extra
    more_weights: FloatArray
    total: float  # of all units, flipped or not
    total_weight: float
    step: float

    @classmethod
    def of(cls, units: Units, zero_weights: FloatArray) -> "ColumnDraws":
        """Make the draws of one column, with drawn weights of the flipped units that do not differ,
        shape (2^17,).
        """
        totals = units.totals[:, 0]
        differ = np.flatnonzero(totals)
        # The subsets of 20 units are a table: rows for the first 17 units, extras for the others.
        of_rows = differ[:ROW_BITS]
        of_extras = differ[ROW_BITS:]
        sums = _subset_sums(totals[of_rows])
        weights = _subset_sums(units.weights[of_rows])
        more_sums = _subset_sums(totals[of_extras])
        more_weights = _subset_sums(units.weights[of_extras])
        rows = zero_weights.size
        # Both sizes are powers of two: every subset is repeated equally often.
        sums = np.resize(sums, rows)
        weights = np.resize(weights, rows) + zero_weights
        return cls(
            sums=sums,
            weights=weights,
            more_sums=more_sums,
            more_weights=more_weights,
            total=float(totals.sum()),
            total_weight=float(units.weights.sum()),
            step=float(units.step[0]),
        )

    @property
    def n_draws(self) -> int:
        """Rows times extras."""
        return self.sums.size * self.more_sums.size

    def negated(self) -> "ColumnDraws":
        """Return the draws of ``a - b``, whose lower ends are the upper ends."""
        return self._replace(sums=-self.sums, more_sums=-self.more_sums, total=-self.total)

    def from_zero(self, *, two_sided: bool) -> int:
        """Draws with a mean over the flipped units (or, if `two_sided`, over them or the rest) of
        at most 0.
        """
        half = self.step / 2
        if two_sided and self.total <= self.step:
            return self.n_draws
        counted = 0
        for more in self.more_sums:
            counted += int(np.count_nonzero(self.sums <= half - more))
            if two_sided:
                counted += int(np.count_nonzero(self.sums >= self.total - half - more))
        return counted

    def end(self, rank: int, *, two_sided: bool) -> float:
        """The end at a rank from the top: the mean with its sign changed, in steps over weight
        units.
        """
        # A scattered sample tells where the rank lies; only draws about there are computed.
        scatter = _scatter(self.n_draws)
        pilot = np.arange(min(_PILOT, self.n_draws)) * scatter % self.n_draws
        pilot_ends = np.sort(
            self._ends(pilot % self.sums.size, pilot // self.sums.size, two_sided=two_sided)
        )
        expected = rank * pilot_ends.size / self.n_draws
        pilot_rank = int(np.ceil(expected + _ERRORS * np.sqrt(expected) + 1))
        lowest = pilot_ends[-pilot_rank] if pilot_rank <= pilot_ends.size else -np.inf
        ends = self._beyond(float(lowest), two_sided=two_sided)
        if np.count_nonzero(ends >= lowest) < rank:
            ends = self._beyond(-np.inf, two_sided=two_sided)
        ends.partition(ends.size - rank)
        return float(ends[ends.size - rank])

    def _beyond(self, lowest: float, *, two_sided: bool) -> FloatArray:
        """All ends from `lowest` on, and some others."""
        slope = -lowest * self.step  # the shift whose end is `lowest`, in units
        if not np.isfinite(slope):
            rows = np.arange(self.sums.size)
            return np.concatenate(
                [
                    self._ends(rows, np.full(rows.size, extra), two_sided=two_sided)
                    for extra in range(self.more_sums.size)
                ]
            )
        # A mean is at most the shift where ``sum - slope weight <= 0``, summed over a row and an
        # extra. Rounding to steps moves a sum by half a step, the products by far less: nothing
        # beyond is lost within a whole one.
        line = self.sums - slope * self.weights
        ends = []
        for extra, (more, weight) in enumerate(zip(self.more_sums, self.more_weights, strict=True)):
            threshold = slope * weight - more
            near = line <= threshold + self.step
            if two_sided:
                near |= line >= self.total - slope * self.total_weight + threshold - self.step
            rows = np.flatnonzero(near)
            ends.append(self._ends(rows, np.full(rows.size, extra), two_sided=two_sided))
        return np.concatenate(ends)

    def _ends(self, rows: IntArray, extras: IntArray, *, two_sided: bool) -> FloatArray:
        sums = self.sums[rows] + self.more_sums[extras]
        weights = self.weights[rows] + self.more_weights[extras]
        step = np.array([self.step])
        if two_sided:
            total = np.array([self.total])
            return both_ends(sums[:, None], weights[:, None], total, self.total_weight, step)[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(weights == 0, np.inf, -(np.rint(sums / self.step) / weights))


def listed_ends(
    units: Units, zero_weights: FloatArray, rank: int, alternative: Alternative
) -> Ends:
    """Counts and ends of one column whose differing units are at most 20.

    Examples
    --------
    >>> from idealrank.stats.design import Design
    >>> units = Units.of(np.array([[0.5], [0.25], [0.0]]), Design.of(3))
    >>> ends = listed_ends(units, np.zeros(1 << ROW_BITS), 1, "greater")
    >>> ends.counted.tolist(), ends.end.tolist()
    ([32768], [inf])
    """
    lower = ColumnDraws.of(units, zero_weights)
    sides = {
        "two-sided": (lower, lower.negated()),
        "greater": (lower,),
        "less": (lower.negated(),),
    }[alternative]
    two_sided = alternative == "two-sided"
    counted = np.array([side.from_zero(two_sided=two_sided) for side in sides], np.int64)
    ends = np.array([side.end(rank, two_sided=two_sided) for side in sides])
    return Ends(counted, ends)


def _subset_sums(values: FloatArray) -> FloatArray:
    """Sums of all subsets: bit i of a subset's number is 1 if value i is in it."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


_MOST_COLUMNS = 32
_MOST_DRAWS = 1 << 17  # with the columns, 32 MB of sums


class SharedFlips:
    """A seed of flips, for tests that flip the same units: in the place of a seed it gives the same
    numbers.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._flips: KeptFlips | None = None

    def of(self, n_units: int) -> "KeptFlips":
        """Return the flips of so many units, and let flips of another number go."""
        if self._flips is None or self._flips.n_units != n_units:
            self._flips = KeptFlips(n_units, self._seed)
        return self._flips


def flips_of(n_units: int, rng: "RandomLike | SharedFlips") -> Flips:
    """Flips by a seed or generator, or shared ones."""
    return rng.of(n_units) if isinstance(rng, SharedFlips) else Flips(n_units, rng)


class KeptFlips(Flips):
    """Flips that remember the sums of each column; many columns or draws are summed anew, as by
    `Flips`.
    """

    def __init__(self, n_units: int, rng: RandomLike = None) -> None:
        super().__init__(n_units, rng)
        self._column_sums: dict[bytes, FloatArray] = {}  # by the bytes of the column

    def keep(self, columns: FloatArray, n_draws: int, *, threads: int | None = None) -> None:
        """Sum columns together, which takes less time than one after another, and keep the sums;
        too many are left to their tests.
        """
        if columns.shape[1] <= _MOST_COLUMNS and n_draws <= _MOST_DRAWS:
            self._sums_of(columns, n_draws, threads)

    def map(
        self,
        columns: FloatArray,
        n_draws: int,
        work: Callable[[FloatArray], Result],
        *,
        threads: int | None = None,
    ) -> Iterator[Result]:
        """See `Flips.map`."""
        if columns.shape[1] > _MOST_COLUMNS or n_draws > _MOST_DRAWS:
            return super().map(columns, n_draws, work, threads=threads)
        return self._by_block(columns, n_draws, work, threads)

    def map_parts(
        self,
        columns: FloatArray,
        n_draws: int,
        work: Callable[[Iterator[Part]], Result],
        *,
        threads: int | None = None,
    ) -> Iterator[Result]:
        """See `Flips.map_parts`."""
        if columns.shape[1] > _MOST_COLUMNS or n_draws > _MOST_DRAWS:
            return super().map_parts(columns, n_draws, work, threads=threads)
        part = slice(0, _MOST_COLUMNS)
        return self._by_block(columns, n_draws, lambda sums: work(iter([(part, sums)])), threads)

    def _by_block(
        self,
        columns: FloatArray,
        n_draws: int,
        work: Callable[[FloatArray], Result],
        threads: int | None,
    ) -> Iterator[Result]:
        column_sums = self._sums_of(columns, n_draws, threads)

        def of_block(block: int) -> Result:
            rows = slice(block * DRAWS, min((block + 1) * DRAWS, n_draws))
            return work(np.stack([sums[rows] for sums in column_sums], axis=1))

        return in_order(of_block, -(-n_draws // DRAWS), threads)

    def _sums_of(self, columns: FloatArray, n_draws: int, threads: int | None) -> list[FloatArray]:
        """The sums of each column, made where they are not kept."""
        keys = [column.tobytes() for column in np.asarray(columns, np.float64).T]
        known = self._column_sums
        missing = [
            column
            for column, key in enumerate(keys)
            if key not in known or known[key].size < n_draws
        ]
        if missing:
            if len(known) + len(missing) > _MOST_COLUMNS:  # other columns make room
                known = {key: known[key] for key in keys if key in known}
            blocks = super().map(
                np.ascontiguousarray(columns[:, missing]), n_draws, np.copy, threads=threads
            )
            new_sums = np.concatenate(list(blocks))
            for column, sums in zip(missing, new_sums.T, strict=True):
                known[keys[column]] = np.ascontiguousarray(sums)
            self._column_sums = known
        return [known[key] for key in keys]
