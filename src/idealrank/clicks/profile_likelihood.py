"""Examination of greatest likelihood: steps of Newton, with each pair at its best
attractiveness.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from idealrank.clicks.cell_counts import CellCounts, informative_sets, linked_sets
from idealrank.data.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_GAIN = 1e-10  # log-likelihood that another step could gain, below which the fit has converged
_PAIR_STEPS = 60  # of Newton, for the attractiveness of each pair
_PAIR_ERROR = 1e-13  # change of its logarithm, below which it has converged
_MOST_SITUATIONS = 1000  # of which a step of Newton inverts a table; beyond, its diagonal alone
_LARGEST_MOVE = 2.0  # of the logarithm of an examination in one step
_LEAST_SHARE = 2.0**-60  # of a step that the likelihood refuses, before rounding is to blame
_RIDGE = 1e-12  # times clicks: a situation whose impressions were all clicked has no curvature


@dataclass(frozen=True, eq=False)
class ExaminationFit:
    """Parameters of greatest likelihood."""

    attractive: FloatArray  # shape (pairs,): attractiveness of each pair
    # shape (situations,): examination of each situation; the largest of each set of linked
    # situations is 1
    examined: FloatArray
    converged: bool  # Whether the fit reached the maximum


@dataclass(frozen=True, kw_only=True, eq=False)
class ProfilePoint:
    """Likelihood at one examination, with each pair at its best attractiveness."""

    # shape (pairs,): logarithm of the attractiveness of each clicked pair; at most 0
    log_attractive: FloatArray
    log_likelihood: float  # Natural logarithm of the probability of all clicks
    score: FloatArray  # shape (situations,): derivative by the logarithm of each examination
    # shape (cells,): negative second derivative by the logarithm of the click rate of each cell
    weight: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ClickedCells:
    """Cells of clicked pairs in clicked situations, numbered anew: all that moves the
    likelihood.
    """

    # pairs, situations: Number in the log of each clicked pair, and of each clicked situation
    pairs: IntArray
    situations: IntArray
    # pair, situation: shape (cells,): place in `pairs` and `situations` of each cell
    pair: IntArray
    situation: IntArray
    # clicked, skipped: shape (cells,): impressions with and without a click
    clicked: FloatArray
    skipped: FloatArray

    @classmethod
    def of(cls, cells: CellCounts) -> "ClickedCells":
        """Select the cells of clicked pairs and situations."""
        of_pairs = np.bincount(cells.pair, cells.clicked, cells.n_pairs) > 0
        of_situations = np.bincount(cells.situation, cells.clicked, cells.n_situations) > 0
        used = np.flatnonzero(
            of_pairs[cells.pair] & of_situations[cells.situation] & (cells.shown > 0)
        )
        clicked = cells.clicked[used]
        return cls(
            pairs=np.flatnonzero(of_pairs),
            situations=np.flatnonzero(of_situations),
            pair=(np.cumsum(of_pairs) - 1)[cells.pair[used]],
            situation=(np.cumsum(of_situations) - 1)[cells.situation[used]],
            clicked=clicked,
            skipped=cells.shown[used] - clicked,
        )

    def by_pair(self, values: FloatArray) -> FloatArray:
        """Sum the values of the cells of each pair."""
        return np.asarray(np.bincount(self.pair, values, self.pairs.size), np.float64)

    def by_situation(self, values: FloatArray) -> FloatArray:
        """Sum the values of the cells of each situation."""
        return np.asarray(np.bincount(self.situation, values, self.situations.size), np.float64)

    def point(self, log_examined: FloatArray, log_attractive: FloatArray) -> ProfilePoint:
        """Compute the likelihood at an examination, from a first attractiveness of each pair."""
        logs = self._best_attractive(log_examined, log_attractive)
        log_rate = logs[self.pair] + log_examined[self.situation]
        rate = np.exp(log_rate)
        complement = -np.expm1(log_rate)
        with np.errstate(divide="ignore", invalid="ignore"):  # without skips, a rate may be 1
            lost = np.where(self.skipped > 0, self.skipped * np.log(complement), 0.0)
            odds = np.where(self.skipped > 0, self.skipped * rate / complement, 0.0)
            weight = np.where(self.skipped > 0, odds / complement, 0.0)
        clicks = self.by_situation(self.clicked)
        gained = float((self.clicked * log_rate).sum())
        return ProfilePoint(
            log_attractive=logs,
            log_likelihood=gained + float(lost.sum()),
            score=clicks - self.by_situation(odds),
            weight=weight,
        )

    def _best_attractive(self, log_examined: FloatArray, first: FloatArray) -> FloatArray:
        """Logarithm of the attractiveness of greatest likelihood of each pair: its expected clicks
        are its clicks.

        The logarithm of the expected clicks is convex in that of the attractiveness.
        """
        clicks = self.by_pair(self.clicked)
        rows = np.flatnonzero(self.skipped > 0)
        pair = self.pair[rows]
        skipped = self.skipped[rows]
        log_seen = log_examined[self.situation[rows]]
        # No cell alone expects more clicks than the pair had.
        highest = np.zeros(clicks.size)
        np.minimum.at(highest, pair, np.log(clicks[pair] / (clicks[pair] + skipped)) - log_seen)
        logs = np.minimum(first, highest)
        for _ in range(_PAIR_STEPS):
            log_rate = logs[pair] + log_seen
            complement = -np.expm1(log_rate)
            odds = skipped * np.exp(log_rate) / complement
            expected = np.bincount(pair, odds, clicks.size)
            slope = np.bincount(pair, odds / complement, clicks.size)
            # A pair that was always clicked expects nothing: it goes up to its bound.
            with np.errstate(divide="ignore", invalid="ignore"):
                move = np.where(expected > 0, np.log(expected / clicks) * expected / slope, -np.inf)
            moved = np.minimum(logs - move, highest)
            error = float(np.abs(moved - logs).max(initial=0.0))
            logs = moved
            if error < _PAIR_ERROR:
                break
        return logs

    def information(self, weight: FloatArray, free: BoolArray) -> FloatArray:
        """Negative second derivative by the logarithms of examination, with attractiveness of the
        free pairs eliminated.
        """
        scaled = self.scaled(weight, free)
        information: FloatArray = np.diag(self.by_situation(weight)) - (scaled.T @ scaled).toarray()
        return information

    def scaled(self, weight: FloatArray, free: BoolArray) -> "csr_array":
        """Weights of cells divided by the root of the weight of their pair, if it is free. Shape
        (pairs, situations).
        """
        from scipy.sparse import csr_array  # noqa: PLC0415  (a model without a fit needs none)

        of_pair = self.by_pair(weight)
        root = np.sqrt(
            np.divide(1.0, of_pair, out=np.zeros_like(of_pair), where=free & (of_pair > 0))
        )
        shape = (self.pairs.size, self.situations.size)
        return csr_array((weight * root[self.pair], (self.pair, self.situation)), shape=shape)


@dataclass(frozen=True, eq=False)
class ExaminationSearch:
    """Projected steps of Newton over the logarithms of examination, which are at most 0.

    With attractiveness eliminated, the likelihood is concave in these logarithms.
    """

    cells: ClickedCells
    sets: IntArray

    @classmethod
    def of(cls, cells: ClickedCells) -> "ExaminationSearch":
        """Number the sets of linked situations."""
        labels = linked_sets(cells.pair, cells.situation, cells.pairs.size, cells.situations.size)
        return cls(cells, np.unique(labels, return_inverse=True)[1].reshape(-1))

    def within_bounds(self, logs: FloatArray) -> FloatArray:
        """Divide by the largest examination of each set."""
        largest = np.full(int(self.sets.max(initial=-1)) + 1, -np.inf)
        np.maximum.at(largest, self.sets, logs)
        bounded: FloatArray = logs - largest[self.sets]
        return bounded

    def maximum(
        self, steps: int, log_examined: FloatArray, log_attractive: FloatArray
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Logarithms of examination and attractiveness after so many steps at most, and whether
        they have converged.
        """
        logs = self.within_bounds(log_examined)
        point = self.cells.point(logs, log_attractive)
        for _ in range(steps):
            move = self._move(logs, point)
            gain = float((move * point.score).sum())
            is_last = gain < _GAIN
            # Where all impressions were clicked, the likelihood has a slope and no curvature.
            largest = max(float(np.abs(move).max(initial=0.0)), _LARGEST_MOVE)
            share = min(1.0, _LARGEST_MOVE / largest)
            while True:
                moved = np.minimum(logs + share * move, 0.0)
                tried = self.cells.point(moved, point.log_attractive)
                if is_last or tried.log_likelihood >= point.log_likelihood:
                    logs, point = moved, tried
                    break
                share /= 2
                if share < _LEAST_SHARE:  # rounding hides what is left to gain
                    return logs, point.log_attractive, True
            if is_last:
                return logs, point.log_attractive, True
        return logs, point.log_attractive, False

    def _move(self, logs: FloatArray, point: ProfilePoint) -> FloatArray:
        """Step of Newton of the situations that are not held at their bound."""
        free = np.flatnonzero(~self._held(logs, point.score))
        move = np.zeros(logs.size)
        ridge = _RIDGE * self.cells.by_situation(self.cells.clicked)
        if free.size > _MOST_SITUATIONS:
            curvature = self.cells.by_situation(point.weight) + ridge
            move[free] = (point.score / curvature)[free]
        elif free.size:
            information = self.cells.information(point.weight, point.log_attractive < 0)
            table = information[np.ix_(free, free)]
            table += np.diag(ridge[free])
            move[free] = (inverse_of(table) * point.score[free]).sum(axis=1)
        return move

    def _held(self, logs: FloatArray, score: FloatArray) -> BoolArray:
        """Situations at their bound that the likelihood pushes against it; one of each set, since a
        common factor is free.
        """
        at_bound = np.flatnonzero(logs == 0)
        held = np.zeros(logs.size, bool)
        held[at_bound] = score[at_bound] >= 0
        by_score = at_bound[np.lexsort((score[at_bound], self.sets[at_bound]))]
        last_of_set = np.flatnonzero(np.diff(self.sets[by_score], append=-1))
        held[by_score[last_of_set]] = True
        return held


def fit_examination(
    cells: CellCounts, steps: int, start: float, first: ExaminationFit | None = None
) -> ExaminationFit:
    """Fit attractiveness of pairs and examination of situations."""
    known = ClickedCells.of(cells)
    search = ExaminationSearch.of(known)
    if first is None:
        shown = known.by_situation(known.clicked + known.skipped)
        rates = known.by_situation(known.clicked) / shown
        log_examined = np.log(rates)
        log_attractive = np.zeros(known.pairs.size)
    else:
        log_examined = np.log(first.examined[known.situations])
        log_attractive = np.log(first.attractive[known.pairs])
    log_examined, log_attractive, converged = search.maximum(steps, log_examined, log_attractive)

    attractive = np.where(cells.impressions > 0, 0.0, start)
    attractive[known.pairs] = np.exp(log_attractive)
    # Without a click, examination is 0 if a clicked document was shown there; other documents say
    # nothing.
    of_pairs = np.bincount(cells.pair, cells.clicked, cells.n_pairs) > 0
    tells = np.bincount(cells.situation, cells.shown * of_pairs[cells.pair], cells.n_situations) > 0
    examined = np.where(tells, 0.0, start)
    examined[known.situations] = np.exp(log_examined)
    return ExaminationFit(attractive, examined, converged)


def compared_with_first(cells: CellCounts, examined: FloatArray) -> IntArray:
    """Situations in the set of the first rank that had a click, from the first rank on; none if it
    had no click.
    """
    sets = informative_sets(cells)
    clicks = np.bincount(cells.situation, cells.clicked, cells.n_situations)
    had_click = (clicks > 0) & (examined > 0)
    if sets[0] < 0 or not had_click[0]:
        return np.zeros(0, np.int64)
    return np.flatnonzero((sets == sets[0]) & had_click)


def relative_to_first(cells: CellCounts, examined: FloatArray) -> FloatArray:
    """Divide examination by that of the first rank; NaN where clicked documents do not link both,
    or the first had no click.
    """
    sets = informative_sets(cells)
    relative = np.full(examined.size, np.nan)
    if sets[0] >= 0 and examined[0] > 0:
        linked = sets == sets[0]
        relative[linked] = examined[linked] / examined[0]
    return relative


def log_errors(
    cells: CellCounts, attractive: FloatArray, examined: FloatArray, compared: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Standard errors of the logarithms of click rates at the first rank, and of relative
    examination.
    """
    known = ClickedCells.of(cells)
    point = known.point(np.log(examined[known.situations]), np.log(attractive[known.pairs]))
    places = np.searchsorted(known.situations, compared)
    covariance = _covariance(known, point, places)
    variances = np.diag(covariance)
    # The variance of a pair has its own part, and what the errors of examination add.
    scaled = known.scaled(point.weight, np.ones(known.pairs.size, bool))[:, places]
    of_pair = known.by_pair(point.weight)
    joint = np.asarray(scaled.multiply(scaled @ covariance).sum(axis=1)).reshape(-1)
    own_variance = np.divide(1.0, of_pair, out=np.full_like(of_pair, np.nan), where=of_pair > 0)
    in_set = np.bincount(known.pair, np.isin(known.situation, places), known.pairs.size) > 0
    pair_variances = np.full(cells.n_pairs, np.nan)
    pair_variances[known.pairs] = np.where(in_set, own_variance * (1 + joint), np.nan)
    return _root(pair_variances), _root(variances)


def _covariance(known: ClickedCells, point: ProfilePoint, places: IntArray) -> FloatArray:
    """Covariance of the logarithms of examination at some places, relative to the first of them."""
    of_all = known.information(point.weight, np.ones(known.pairs.size, bool))
    information = of_all[np.ix_(places, places)]
    covariance = np.zeros_like(information)
    # A few impressions that were all clicked have no curvature, and no interval.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        covariance[1:, 1:] = inverse_of(information[1:, 1:])
    return covariance


def residual_weights(
    cells: CellCounts, attractive: FloatArray, examined: FloatArray, slope: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weights with which residual clicks move a value that depends on relative examination.

    By the efficient score, with attractiveness as nuisance parameters. Bickel, Klaassen, Ritov and
    Wellner (1993), Efficient and Adaptive Estimation for Semiparametric Models, section 2.4.
    """
    known = ClickedCells.of(cells)
    point = known.point(np.log(examined[known.situations]), np.log(attractive[known.pairs]))
    of_situation = _covariance(known, point, np.arange(known.situations.size)) @ slope
    of_pair = np.zeros(cells.n_pairs)
    total = known.by_pair(point.weight)
    shares = known.by_pair(point.weight * of_situation[known.situation])
    of_pair[known.pairs] = np.divide(shares, total, out=np.zeros_like(total), where=total > 0)
    return of_situation, of_pair


def _root(variances: FloatArray) -> FloatArray:
    """Standard errors; NaN for a variance below 0, of parameters that the log does not
    determine.
    """
    errors: FloatArray = np.sqrt(np.where(variances >= 0, variances, np.nan))
    return errors


def inverse_of(matrix: FloatArray) -> FloatArray:
    """Invert a symmetric positive definite matrix by elimination, whose sums have one order on
    every processor.
    """
    size = matrix.shape[0]
    work = np.hstack([matrix, np.eye(size)])
    for row in range(size):
        work[row] /= work[row, row]
        factors = work[:, row].copy()
        factors[row] = 0.0
        work -= factors[:, None] * work[row]
    return work[:, size:]
