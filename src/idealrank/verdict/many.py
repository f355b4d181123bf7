"""Many runs at once: corrections that know how alike runs are, with intervals that hold together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.stats.comparison import Found, Plan
from idealrank.stats.design import Design
from idealrank.stats.many_to_one import max_t
from idealrank.stats.rearranged import randomised_hsd

MANY = 10  # runs; beyond, Holm's correction of every pair sees little, and testing each pair takes long
DRAWS = 10_000


def together(
    values: FloatArray, found: Sequence[Sequence[Found]], wanted: Sequence[tuple[int, int]], design: Design, plan: Plan
) -> tuple[list[list[Found]], FloatArray, str]:
    """The same comparisons with p values and intervals that hold for all of them at once.

    Pairs with one baseline are corrected by max-T over runs and measures, all pairs by the randomised HSD of each measure, whose p
    values are then multiplied by the number of measures (Bonferroni).

    Parameters
    ----------
    values : float64 array, shape (queries, runs, measures)
        Finite.
    found : sequence of sequence of Found
        A row a pair, an entry a measure; p and interval are replaced.
    wanted : sequence of pairs of int
        The runs of each pair.
    design : Design
        Of the queries.
    plan : Plan
        Level, draws, seed, threads.

    Returns
    -------
    tuple
        The comparisons, the corrected p values (pairs, measures), and the name of the correction.

    Examples
    --------
    >>> from idealrank.stats.comparison import compare_columns
    >>> values, design, plan = np.random.default_rng(1).random((20, 3, 1)), Design.of(20), Plan(test="t", n_resamples=999)
    >>> found = [compare_columns(values[:, a], values[:, b], design, plan) for a, b in [(0, 1), (0, 2)]]
    >>> together(values, found, [(0, 1), (0, 2)], design, plan)[2]
    'max-T'
    """
    firsts, seconds = (np.array(side) for side in zip(*wanted, strict=True))
    drawn: dict[str, Any] = {"n_resamples": plan.n_resamples, "rng": plan.seed, "level": plan.level, "threads": plan.threads}
    drawn["design"] = design
    if (firsts == firsts[0]).all():
        against = max_t(values[:, firsts[0]], values[:, seconds], **drawn)
        p, low, high, corrected, name = against.p, against.low, against.high, against.p, "max-T"
    else:
        hsd = randomised_hsd(values, **drawn)
        p, low, high = (matrix[firsts, seconds] for matrix in (hsd.p, hsd.low, hsd.high))
        corrected, name = np.minimum(p * values.shape[2], 1.0), "randomised HSD"
    rows = [
        [one._replace(p=float(p[at, m]), low=float(low[at, m]), high=float(high[at, m]), exact=False) for m, one in enumerate(row)]
        for at, row in enumerate(found)
    ]
    return rows, corrected, name
