"""The pair of runs that a page and its figures show first: of several runs the best, against the baseline or the runner-up."""

import math
from dataclasses import replace
from typing import Literal

from idealrank.reports.verdicts import opposite
from idealrank.verdict import Comparison, Difference, Pair, Slice
from idealrank.verdict.tipping import Tipping


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
    shown = found if found.b == best else turned(found)
    return (shown, *(pair for pair in comparison.pairs if pair is not found))


def _by_mean(comparison: Comparison) -> list[str]:
    """Runs by the first measure, the best first; equal ones in the order in which they were given."""
    rows = [(pair, next(iter(pair.measures.values()))) for pair in comparison.pairs]
    means = {pair.a: row.mean_a for pair, row in rows} | {pair.b: row.mean_b for pair, row in rows}
    direction = rows[0][1].direction or 1
    goodness = {run: -math.inf if math.isnan(means[run]) else means[run] * direction for run in comparison.names}
    return sorted(comparison.names, key=lambda run: -goodness[run])


def turned(pair: Pair) -> Pair:
    """The same comparison with the runs in the other order; two-sided tests say the same.

    Examples
    --------
    >>> import idealrank as ir
    >>> a, b = (ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"q": ranking}, "RR") for ranking in (["x"], ["y", "x"]))
    >>> found = turned(ir.compare(a, b).pairs[0])
    >>> found.b, found["RR"].difference, found["RR"].wins
    ('run', 0.25, 1)
    """
    return replace(pair, a=pair.b, b=pair.a, measures={text: _turned_row(row) for text, row in pair.measures.items()})


def _turned_row(row: Difference) -> Difference:
    judged = None if row.difference_judged is None else 0.0 - row.difference_judged
    slices = row.slices
    if slices is not None:
        slices = replace(slices, difference=0.0 - slices.difference, rows=tuple(_turned_slice(one) for one in reversed(slices.rows)))
    return replace(
        row, mean_a=row.mean_b, mean_b=row.mean_a, difference=0.0 - row.difference, interval=_turned_ends(row.interval, row.about),
        verdict=opposite(row.verdict), effect=0.0 - row.effect, wins=row.losses, losses=row.wins, unjudged_a=row.unjudged_b,
        unjudged_b=row.unjudged_a, difference_judged=judged, slices=slices,
        tipping=None if row.tipping is None else _turned_tipping(row.tipping),
    )  # fmt: skip


def _turned_tipping(found: Tipping) -> Tipping:
    side: Literal["a", "b"] | None = None if found.side is None else "b" if found.side == "a" else "a"
    return replace(found, side=side, unjudged_a=found.unjudged_b, unjudged_b=found.unjudged_a)


def _turned_slice(row: Slice) -> Slice:
    return replace(
        row, mean_a=row.mean_b, mean_b=row.mean_a, difference=0.0 - row.difference, interval=_turned_ends(row.interval, row.about),
        verdict=opposite(row.verdict), effect=0.0 - row.effect, wins=row.losses, losses=row.wins, part=0.0 - row.part,
    )  # fmt: skip


def _turned_ends(interval: tuple[float, float], about: str) -> tuple[float, float]:
    whole = 1.0 if about.startswith("share of wins") else 0.0  # the share of wins of one run is that of losses of the other
    return whole - interval[1], whole - interval[0]
