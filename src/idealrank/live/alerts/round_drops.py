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
    """Difference of a round from its baseline in one group of queries."""

    difference: float  # Mean of value less baseline
    high: float  # Upper end of its one-sided interval, simultaneous over the groups
    p: float  # p value of a drop beyond the tolerance, corrected over the groups


def round_drops(
    differences: npt.ArrayLike,
    groups: Mapping[str, Sequence[int]],
    *,
    tolerance: float = 0.0,
    level: float = 0.99,
) -> dict[str, RoundDrop]:
    """Test whether a round dropped below its baseline by more than a tolerance, in each of several
    groups of queries.
    """
    given = np.asarray(differences, dtype=float)
    chosen = {name: list(places) for name, places in groups.items() if len(places)}
    if not chosen:
        return {}
    counted = np.zeros((given.size, len(chosen)), dtype=bool)
    for column, places in enumerate(chosen.values()):
        counted[places, column] = True
    table = np.broadcast_to(given[:, None], counted.shape)
    found = simultaneous(
        table,
        counted=counted,
        alternative="less",
        null=-tolerance,
        level=level,
        n_resamples=_DRAWS,
        rng=_SEED,
        threads=1,
    )
    return {
        name: RoundDrop(
            float(found.difference[place]), float(found.high[place]), float(found.p[place])
        )
        for place, name in enumerate(chosen)
    }
