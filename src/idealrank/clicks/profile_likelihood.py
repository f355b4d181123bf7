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
# Smallest share of a step that is tried: if the likelihood still falls, it falls by rounding.
_LEAST_SHARE = 2.0**-60
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
        is_clicked_pair = np.bincount(cells.pair, cells.clicked, cells.n_pairs) > 0
        is_clicked_situation = np.bincount(cells.situation, cells.clicked, cells.n_situations) > 0
        rows = np.flatnonzero(
            is_clicked_pair[cells.pair] & is_clicked_situation[cells.situation] & (cells.shown > 0)
        )
        clicked = cells.clicked[rows]
        return cls(
            pairs=np.flatnonzero(is_clicked_pair),
            situations=np.flatnonzero(is_clicked_situation),
            pair=(np.cumsum(is_clicked_pair) - 1)[cells.pair[rows]],
            situation=(np.cumsum(is_clicked_situation) - 1)[cells.situation[rows]],
            clicked=clicked,
            skipped=cells.shown[rows] - clicked,
        )

    def by_pair(self, values: FloatArray) -> FloatArray:
        """Sum the values of the cells of each pair."""
        return np.asarray(np.bincount(self.pair, values, self.pairs.size), np.float64)

    def by_situation(self, values: FloatArray) -> FloatArray:
        """Sum the values of the cells of each situation."""
        return np.asarray(np.bincount(self.situation, values, self.situations.size), np.float64)

    def point(self, log_examined: FloatArray, log_attractive: FloatArray) -> ProfilePoint:
        """Compute the likelihood at an examination, from a first attractiveness of each pair."""
        best = self._best_attractive(log_examined, log_attractive)
        log_rate = best[self.pair] + log_examined[self.situation]
        rate = np.exp(log_rate)
        complement = -np.expm1(log_rate)
        with np.errstate(divide="ignore", invalid="ignore"):  # without skips, a rate may be 1
            skip_logs = np.where(self.skipped > 0, self.skipped * np.log(complement), 0.0)
            odds = np.where(self.skipped > 0, self.skipped * rate / complement, 0.0)
            weight = np.where(self.skipped > 0, odds / complement, 0.0)
        clicks = self.by_situation(self.clicked)
        click_log = float((self.clicked * log_rate).sum())
        return ProfilePoint(
            log_attractive=best,
            log_likelihood=click_log + float(skip_logs.sum()),
            score=clicks - self.by_situation(odds),
            weight=weight,
        )

    def _best_attractive(self, log_examined: FloatArray, initial: FloatArray) -> FloatArray:
        """Logarithm of the attractiveness of greatest likelihood of each pair: its expected clicks
        are its clicks.
        """
        # The logarithm of the expected clicks is convex in the logarithm of the attractiveness, so
        # steps of Newton converge from above.
        clicks = self.by_pair(self.clicked)
        rows = np.flatnonzero(self.skipped > 0)
        pair = self.pair[rows]
        skipped = self.skipped[rows]
        log_seen = log_examined[self.situation[rows]]
        # No cell alone expects more clicks than the pair had.
        highest = np.zeros(clicks.size)
        np.minimum.at(highest, pair, np.log(clicks[pair] / (clicks[pair] + skipped)) - log_seen)
        logs = np.minimum(initial, highest)
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

        pair_weight = self.by_pair(weight)
        root = np.sqrt(
            np.divide(
                1.0, pair_weight, out=np.zeros_like(pair_weight), where=free & (pair_weight > 0)
            )
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
            # Where all impressions were clicked, the likelihood has a slope and no curvature: a
            # whole step would go very far.
            largest = max(float(np.abs(move).max(initial=0.0)), _LARGEST_MOVE)
            share = min(1.0, _LARGEST_MOVE / largest)
            while True:
                moved = np.minimum(logs + share * move, 0.0)
                next_point = self.cells.point(moved, point.log_attractive)
                if is_last or next_point.log_likelihood >= point.log_likelihood:
                    logs = moved
                    point = next_point
                    break
                share /= 2
                if share < _LEAST_SHARE:  # rounding hides what is left to gain
                    return logs, point.log_attractive, True
            if is_last:
                return logs, point.log_attractive, True
        return logs, point.log_attractive, False

    def _move(self, logs: FloatArray, point: ProfilePoint) -> FloatArray:
        """Step of Newton of the situations that are not fixed at their bound."""
        free = np.flatnonzero(~self._is_fixed(logs, point.score))
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

    def _is_fixed(self, logs: FloatArray, score: FloatArray) -> BoolArray:
        """Mark situations at their bound that the likelihood pushes against it, and one of each
        set, since a common factor is free.
        """
        at_bound = np.flatnonzero(logs == 0)
        is_fixed = np.zeros(logs.size, bool)
        is_fixed[at_bound] = score[at_bound] >= 0
        by_score = at_bound[np.lexsort((score[at_bound], self.sets[at_bound]))]
        last_of_set = np.flatnonzero(np.diff(self.sets[by_score], append=-1))
        is_fixed[by_score[last_of_set]] = True
        return is_fixed


def fit_examination(
    cells: CellCounts, steps: int, start: float, initial: ExaminationFit | None = None
) -> ExaminationFit:
    """Fit attractiveness of pairs and examination of situations."""
    clicked_cells = ClickedCells.of(cells)
    search = ExaminationSearch.of(clicked_cells)
    if initial is None:
        impressions = clicked_cells.by_situation(clicked_cells.clicked + clicked_cells.skipped)
        rates = clicked_cells.by_situation(clicked_cells.clicked) / impressions
        log_examined = np.log(rates)
        log_attractive = np.zeros(clicked_cells.pairs.size)
    else:
        log_examined = np.log(initial.examined[clicked_cells.situations])
        log_attractive = np.log(initial.attractive[clicked_cells.pairs])
    log_examined, log_attractive, converged = search.maximum(steps, log_examined, log_attractive)

    attractive = np.where(cells.impressions > 0, 0.0, start)
    attractive[clicked_cells.pairs] = np.exp(log_attractive)
    # Without a click, examination is 0 if a clicked document was shown there; other documents say
    # nothing.
    is_clicked_pair = np.bincount(cells.pair, cells.clicked, cells.n_pairs) > 0
    is_informed = (
        np.bincount(cells.situation, cells.shown * is_clicked_pair[cells.pair], cells.n_situations)
        > 0
    )
    examined = np.where(is_informed, 0.0, start)
    examined[clicked_cells.situations] = np.exp(log_examined)
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
    clicked_cells = ClickedCells.of(cells)
    point = clicked_cells.point(
        np.log(examined[clicked_cells.situations]), np.log(attractive[clicked_cells.pairs])
    )
    places = np.searchsorted(clicked_cells.situations, compared)
    covariance = _covariance(clicked_cells, point, places)
    variances = np.diag(covariance)
    # The variance of a pair: with examination known, plus what the errors of examination add.
    scaled = clicked_cells.scaled(point.weight, np.ones(clicked_cells.pairs.size, bool))[:, places]
    pair_weight = clicked_cells.by_pair(point.weight)
    joint = np.asarray(scaled.multiply(scaled @ covariance).sum(axis=1)).reshape(-1)
    variance_alone = np.divide(
        1.0, pair_weight, out=np.full_like(pair_weight, np.nan), where=pair_weight > 0
    )
    in_set = (
        np.bincount(
            clicked_cells.pair, np.isin(clicked_cells.situation, places), clicked_cells.pairs.size
        )
        > 0
    )
    pair_variances = np.full(cells.n_pairs, np.nan)
    pair_variances[clicked_cells.pairs] = np.where(in_set, variance_alone * (1 + joint), np.nan)
    return _standard_errors(pair_variances), _standard_errors(variances)


def _covariance(clicked_cells: ClickedCells, point: ProfilePoint, places: IntArray) -> FloatArray:
    """Covariance of the logarithms of examination at some places, relative to the first of them."""
    full_information = clicked_cells.information(
        point.weight, np.ones(clicked_cells.pairs.size, bool)
    )
    information = full_information[np.ix_(places, places)]
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
    clicked_cells = ClickedCells.of(cells)
    point = clicked_cells.point(
        np.log(examined[clicked_cells.situations]), np.log(attractive[clicked_cells.pairs])
    )
    situation_weights = (
        _covariance(clicked_cells, point, np.arange(clicked_cells.situations.size)) @ slope
    )
    pair_weights = np.zeros(cells.n_pairs)
    total = clicked_cells.by_pair(point.weight)
    shares = clicked_cells.by_pair(point.weight * situation_weights[clicked_cells.situation])
    pair_weights[clicked_cells.pairs] = np.divide(
        shares, total, out=np.zeros_like(total), where=total > 0
    )
    return situation_weights, pair_weights


def _standard_errors(variances: FloatArray) -> FloatArray:
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
