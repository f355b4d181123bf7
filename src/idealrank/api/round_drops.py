"""Drop of a round against its baseline, query by query, over all queries and slices at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from idealrank.stats.multiple_tests import simultaneous

_DRAWS = 9_999
_SEED = 1  # the same round gives the same answer


@dataclass(frozen=True)
class RoundDrop:
    """Difference of a round from its baseline in one group of queries.

    Attributes
    ----------
    difference : float
        Mean of value less baseline.
    high : float
        Upper end of its one-sided interval, simultaneous over the groups.
    p : float
        p value of a drop beyond the tolerance, corrected over the groups.

    Examples
    --------
    >>> RoundDrop(-0.1, -0.05, 0.001).high < 0
    True
    """

    difference: float
    high: float
    p: float


def round_drops(
    differences: npt.ArrayLike, groups: Mapping[str, Sequence[int]], *, tolerance: float = 0.0, level: float = 0.99
) -> dict[str, RoundDrop]:
    """Test whether a round dropped below its baseline by more than a tolerance, in each of several groups of queries.

    Signs of the differences are flipped, and the groups are corrected together by their largest statistic (max-T).

    Parameters
    ----------
    differences : array_like, shape (queries,)
        Value less baseline of each query.
    groups : mapping of str to sequence of int
        Places of the queries of each group; empty groups are left out.
    tolerance : float
        Drop of the mean that is none.
    level : float
        Simultaneous confidence level.

    Examples
    --------
    >>> found = round_drops([-0.2] * 12 + [0.0] * 8, {"": range(20), "long": range(10, 20)})
    >>> {name: (round(drop.difference, 2), drop.p < 0.01) for name, drop in found.items()}
    {'': (-0.12, True), 'long': (-0.04, False)}
    """
    given = np.asarray(differences, dtype=float)
    chosen = {name: list(places) for name, places in groups.items() if len(places)}
    if not chosen:
        return {}
    counted = np.zeros((given.size, len(chosen)), dtype=bool)
    for column, places in enumerate(chosen.values()):
        counted[places, column] = True
    table = np.broadcast_to(given[:, None], counted.shape)
    found = simultaneous(table, counted=counted, alternative="less", null=-tolerance, level=level, n_resamples=_DRAWS, rng=_SEED, threads=1)
    return {
        name: RoundDrop(float(found.difference[place]), float(found.high[place]), float(found.p[place]))
        for place, name in enumerate(chosen)
    }
