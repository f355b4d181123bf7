"""Order of the pairs of a comparison in every report: the pair that is shown first."""

import math

from idealrank.analysis.comparison import Comparison, Pair


def leading_pairs(comparison: Comparison) -> tuple[Pair, ...]:
    """All pairs, the one that is shown first in front, in the direction in which it is shown: b is the better run.

    Of two runs it is the only pair, as given. Of several, with a baseline, it is the run with the best mean against the baseline;
    else the run with the best mean against the second best, by the first measure. Where only some pairs were compared, as by a gate,
    it is the first pair.

    Parameters
    ----------
    comparison : Comparison
        Of two runs or more.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels, lists = {f"q{i}": {"x": 1} for i in range(9)}, {"best": ["x"], "low": ["y", "z", "x"], "second": ["y", "x"]}
    >>> runs = [ir.evaluate(qrels, ir.Run(dict.fromkeys(qrels, ranking), name=name), "RR") for name, ranking in lists.items()]
    >>> [(pair.b, pair.a, pair["RR"].verdict) for pair in leading_pairs(ir.compare(*runs))][0]
    ('best', 'second', 'better')
    >>> [(pair.b, pair.a) for pair in leading_pairs(ir.compare(*runs, baseline="low"))][0]
    ('best', 'low')
    """
    baseline = comparison.method.baseline
    if len(comparison.pairs) == 1 or (baseline is None and len(comparison.pairs) < math.comb(len(comparison.names), 2)):
        return comparison.pairs
    order = [run for run in _by_mean(comparison) if run != baseline]
    best, other = order[0], baseline or order[1]
    found = next(pair for pair in comparison.pairs if {pair.a, pair.b} == {best, other})
    shown = found if found.b == best else found.reversed()
    return (shown, *(pair for pair in comparison.pairs if pair is not found))


def _by_mean(comparison: Comparison) -> list[str]:
    """Runs by the first measure, the best first; equal ones in the order in which they were given."""
    rows = [(pair, next(iter(pair.measures.values()))) for pair in comparison.pairs]
    means = {pair.a: row.mean_a for pair, row in rows} | {pair.b: row.mean_b for pair, row in rows}
    direction = rows[0][1].direction or 1
    goodness = {run: -math.inf if math.isnan(means[run]) else means[run] * direction for run in comparison.names}
    return sorted(comparison.names, key=lambda run: -goodness[run])
