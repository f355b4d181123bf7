"""Rows of a training set from sessions: clicks as labels, with the rank and the propensity of each
row.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import number_table, one_of, real_number
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.clicks.weighted_rows import LARGEST
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError

TrainedLists: TypeAlias = Literal["with-pairs", "all"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ClickRows:
    """Training rows of a click log, one for each document of each list.

    Attributes
    ----------
    labels : float64 array, shape (rows,)
        1 for a click, else 0.
    pair : int64 array, shape (rows,)
        Index of each row in `Sessions.documents`; ``features[rows.pair]`` are its features.
    group : int64 array, shape (lists,)
        Number of rows of each list, as LightGBM and XGBoost take it.
    positions : int64 array, shape (rows,)
        Rank at which the row was shown; 1 is the top.
    propensity : float64 array, shape (rows,)
        Probability of examination at that rank, relative to the first; 1 if none was given.
    n_left_out : int
        Lists without a pair of a clicked and an unclicked document, from which a ranker learns
        nothing.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["b", "a"]], [[0, 1], [0, 0]])
    >>> rows = click_rows(log, [1.0, 0.5])
    >>> rows.labels.tolist(), rows.weights.tolist(), rows.group.tolist(), rows.n_left_out
    ([0.0, 1.0], [1.0, 2.0], [2], 1)
    """

    labels: FloatArray
    pair: IntArray
    group: IntArray
    positions: IntArray
    propensity: FloatArray
    n_left_out: int

    @property
    def weights(self) -> FloatArray:
        """Inverse propensity of each click, and 1 for other rows: weights of rows for losses of
        single rows.
        """
        weights: FloatArray = np.where(self.labels > 0, 1 / self.propensity, 1.0)
        return weights


def click_rows(
    sessions: Sessions,
    propensity: "npt.ArrayLike | None" = None,
    *,
    lists: TrainedLists = "with-pairs",
    largest_weight: float | None = None,
) -> ClickRows:
    """Make training rows of sessions, for rankers that learn from clicks.

    With ``up = 1 / rows.propensity`` the expected loss is that of a log in which users examine
    every rank (inverse propensity scoring).

    Parameters
    ----------
    sessions : Sessions
        The log.
    propensity : array, shape (ranks,) or (sessions, ranks), optional
        Probability of examination at each rank, above 0; a common factor does not matter.
        `harvested_propensities` and `PBM` estimate it.
    lists : {"with-pairs", "all"}
        Leave out lists in which all documents have the same label, or keep all lists.
    largest_weight : float, optional
        Largest inverse propensity, 1 or more: propensities below its inverse are raised to it. The
        loss is then biased and varies less.

    Returns
    -------
    ClickRows
        Rows of one list are adjacent, from the first rank down.

    Raises
    ------
    InputError
        A propensity is not above 0 or too small, or the shape does not fit.
    OptionError
        An option is unknown or outside its range.

    References
    ----------
    Joachims, Swaminathan and Schnabel (2017), Unbiased learning-to-rank with biased feedback. WSDM.

    Examples
    --------
    >>> from idealrank.clicks import harvested_propensities, simulate
    >>> log = simulate([[0.5, 0.3, 0.2]] * 5, 2000, ranks=3, policy="random")
    >>> rows = click_rows(log, harvested_propensities(log).relative, largest_weight=10)
    >>> bool(rows.labels.size == rows.group.sum()), rows.positions[:3].tolist()
    (True, [1, 2, 3])
    """
    one_of("lists", lists, TrainedLists)
    check_sessions(sessions)
    limit = None
    if largest_weight is not None:
        limit = real_number(
            "largest_weight",
            largest_weight,
            "a number of 1 or more, such as 100",
            low=1,
            closed="low",
        )

    has_document = sessions.pair >= 0
    chances = _chances(propensity, sessions)
    clicked = (sessions.clicks & has_document).sum(axis=1)
    kept = np.ones(len(sessions), bool)
    if lists == "with-pairs":
        kept = (clicked > 0) & (clicked < sessions.lengths)
    cells = has_document & kept[:, None]
    propensities = chances[cells]
    if not (np.isfinite(propensities) & (propensities > 0)).all():
        row, column = np.argwhere(cells & ~(np.isfinite(chances) & (chances > 0)))[0]
        expected = "expected a number above 0; estimate it, or leave out what stands at this rank"
        raise InputError(
            f"propensity, session {row}, rank {column + 1}: found {chances[row, column]:g}, "
            f"{expected}"
        )
    if limit is not None:
        propensities = np.maximum(propensities, 1 / limit)
    if (propensities < 1 / LARGEST).any():
        raise InputError(
            f"propensity: found {propensities.min():g}, too small: expected at least "
            f"{1 / LARGEST:g}; set largest_weight, such as 100"
        )

    ranks = np.broadcast_to(np.arange(1, sessions.n_ranks + 1), has_document.shape)
    labels = sessions.clicks[cells].astype(np.float64)
    return ClickRows(
        labels=labels,
        pair=sessions.pair[cells],
        group=sessions.lengths[kept],
        positions=ranks[cells],
        propensity=propensities,
        n_left_out=int((~kept).sum()),
    )


def _chances(propensity: "npt.ArrayLike | None", sessions: Sessions) -> FloatArray:
    shape = sessions.pair.shape
    chances = np.ones(1) if propensity is None else number_table("propensity", propensity)
    if propensity is not None and chances.shape not in (shape[1:], shape):
        raise InputError(
            f"propensity: found shape {chances.shape}, expected {shape[1:]}, one a rank, or "
            f"{shape}, one a place"
        )
    return np.broadcast_to(chances, shape)
