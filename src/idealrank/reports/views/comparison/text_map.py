"""A map of all pairs of runs in plain text: differences of all pairs, the best run first, never wider than a page."""

from collections.abc import Mapping, Sequence

import numpy as np

from idealrank.analysis.comparison import Comparison, Difference
from idealrank.data.types import BoolArray
from idealrank.reports.table.layout import clipped, filled
from idealrank.reports.views.comparison.verdicts import IDENTICAL, look, word

_NAME = 24  # letters of a run's name
_CELLS = 60  # of a line: with more runs, neighbours share a cell
_BANDS = (("#", 50.0), ("+", 5.0), (":", 1.0))  # by how many times p is below alpha
_OPEN, _SAME, _EQUIVALENT, _AGAINST, _UNREACHED, _SELF = ".", "=", "~", "!", "?", "\\"


def pair_map(comparison: Comparison, measure: str) -> list[str]:
    r"""Signs for all pairs by one measure: a line a run, with a sign for each run above it.

    With more than 60 runs, neighbours in the order of the means share a line and a cell, which then shows how many of its pairs differ.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
    >>> bad, good = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> print(*pair_map(ir.compare(bad, good, good), "RR"), sep="\n")
    pairs by RR
                  123
        1 run (2) \
        2 run (3) =\
        3 run     ++\
    + p <= 0.01, = identical: column better than row
    """
    order = list(comparison.groups(measure).letters)
    rows = {(pair.a, pair.b): pair.measures[measure] for pair in comparison.pairs}
    alpha = round(1 - comparison.method.level, 12)
    if len(order) <= _CELLS:
        return _of_each(measure, order, rows, alpha)
    return _of_blocks(measure, order, rows, alpha)


def _of_each(measure: str, order: Sequence[str], rows: Mapping[tuple[str, str], Difference], alpha: float) -> list[str]:
    signs = [[_sign(rows, better, run, alpha) for better in order[:place]] for place, run in enumerate(order)]
    names = [f"{place:>3} {clipped(run, _NAME)}" for place, run in enumerate(order, 1)]
    lines = _framed(names, ["".join(line) + _SELF for line in signs], len(order))
    used = {sign for line in signs for sign in line}
    words = {sign: f"{sign} p <= {alpha / part:g}" for sign, part in _BANDS}
    words |= {
        _OPEN: f"{_OPEN} undecided",
        _SAME: f"{_SAME} {IDENTICAL}",
        _EQUIVALENT: f"{_EQUIVALENT} equivalent",
        _AGAINST: f"{_AGAINST} the other way round, by ranks",
    }
    words |= {_UNREACHED: f"{_UNREACHED} the judgments do not reach"}
    legend = ", ".join(text for sign, text in words.items() if sign in used)
    return [f"pairs by {measure}", *lines, *filled([f"{legend}: column better than row"])]


def _sign(rows: Mapping[tuple[str, str], Difference], better: str, run: str, alpha: float) -> str:
    """Return the sign of a pair; its first run has the better mean."""
    turned = (better, run) not in rows
    row = rows[(run, better) if turned else (better, run)]
    if look(row.verdict).side == "equal":
        return {"undecided": _OPEN, IDENTICAL: _SAME, "equivalent": _EQUIVALENT}.get(word(row), _UNREACHED)
    if (row.verdict == "better") != turned:
        return _AGAINST
    return next(sign for sign, part in _BANDS if row.p_corrected <= alpha / part or part == 1)


def _framed(names: Sequence[str], lines: Sequence[str], count: int) -> list[str]:
    """Lines with names before them, and the numbers of the columns above them, their tens where these change."""
    width = max(map(len, names))
    tens = "".join(str(place // 10 % 10) if place % 10 == 0 else " " for place in range(1, count + 1)).rstrip()
    ones = "".join(str(place % 10) for place in range(1, count + 1))
    heads = [" " * (width + 3) + text for text in (tens, ones) if text]
    return [*heads, *(f"  {name.ljust(width)} {line}" for name, line in zip(names, lines, strict=True))]


def _of_blocks(measure: str, order: Sequence[str], rows: Mapping[tuple[str, str], Difference], alpha: float) -> list[str]:
    """Neighbours in one cell: the share of its pairs that differ."""
    place = {run: number for number, run in enumerate(order)}
    differs = np.zeros((len(order), len(order)), np.bool_)
    for (a, b), row in rows.items():
        differs[place[a], place[b]] = differs[place[b], place[a]] = row.p_corrected <= alpha
    size = -(-len(order) // _CELLS)
    blocks = [range(first, min(first + size, len(order))) for first in range(0, len(order), size)]
    lines = ["".join(_share(differs, line, column) for column in blocks[: number + 1]) for number, line in enumerate(blocks)]
    places = [f"{block[0] + 1:>3}" + (f"-{block[-1] + 1}" if len(block) > 1 else "") for block in blocks]
    names = [f"{place:<7} {clipped(order[block[0]], _NAME - 4)}" for place, block in zip(places, blocks, strict=True)]
    said = (
        f"Each line and column is of {size} runs, neighbours in the order of their means; signs say how many of the pairs of a cell "
        "differ: . none, 1 to 9 tenths of them, # all."
    )
    return [f"pairs by {measure}", *_framed(names, lines, len(blocks)), *filled([said])]


def _share(differs: BoolArray, line: range, column: range) -> str:
    if line == column:
        if len(line) == 1:
            return _SELF
        share = differs[np.ix_(line, line)].sum() / (len(line) * (len(line) - 1))
    else:
        share = differs[np.ix_(line, column)].mean()
    return "." if share == 0 else "#" if share == 1 else str(min(max(round(10 * float(share)), 1), 9))
