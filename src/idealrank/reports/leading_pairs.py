"""Order of the pairs of a comparison in every report: the pair that is shown first."""

import math

from idealrank.analysis.comparison import Comparison, Pair


def leading_pairs(comparison: Comparison) -> tuple[Pair, ...]:
    """All pairs, the one that is shown first in front, in the direction in which it is shown: b is
    the better run.

    Of two runs it is the only pair, as given.
    """
    baseline = comparison.method.baseline
    if len(comparison.pairs) == 1 or (
        baseline is None and len(comparison.pairs) < math.comb(len(comparison.names), 2)
    ):
        return comparison.pairs
    order = [run for run in _by_mean(comparison) if run != baseline]
    best, other = order[0], baseline or order[1]
    found = next(pair for pair in comparison.pairs if {pair.a, pair.b} == {best, other})
    shown = found if found.b == best else found.reversed()
    return (shown, *(pair for pair in comparison.pairs if pair is not found))


def _by_mean(comparison: Comparison) -> list[str]:
    """Runs by the first measure, the best first; equal ones in the order in which they were
    given.
    """
    rows = [(pair, next(iter(pair.measures.values()))) for pair in comparison.pairs]
    means = {pair.a: row.mean_a for pair, row in rows} | {pair.b: row.mean_b for pair, row in rows}
    direction = rows[0][1].direction or 1
    goodness = {
        run: -math.inf if math.isnan(means[run]) else means[run] * direction
        for run in comparison.names
    }
    return sorted(comparison.names, key=lambda run: -goodness[run])
