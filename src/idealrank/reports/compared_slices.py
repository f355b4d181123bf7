"""Slices in the report of `idealrank compare`: a table a pair for the first measure, and in brief what other measures say."""

import math
from collections.abc import Mapping, Sequence

from idealrank.reports.compared_cells import number_cells
from idealrank.reports.layout import clipped, columns, fitted
from idealrank.verdict import Comparison, Pair, Slice, Slices

_NAME = 14
_SLICE = 28
_D_Z = 6  # place in the cells of a table


def slice_sections(comparison: Comparison, *, with_pairs: bool = True) -> list[list[str]]:
    r"""Blocks of lines: for each pair the slices by the first measure, worst first, and differences by the others; none without slices.

    Parameters
    ----------
    comparison : Comparison
        What is to be shown.
    with_pairs : bool
        False for many pairs: one table of differences by the first measure, a row a pair.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(6)}
    >>> a, b = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> print("\n".join(slice_sections(ir.compare(a, b, slices=dict.fromkeys(qrels, "short")))[0]))
    slices by RR: run (2) against run, the worst first
    slice  queries     run  run (2)  difference       95 % interval       p  +/=/-  visible  verdict
    short        6  0.5000   1.0000     +0.5000  [+0.5000, +0.5000]  0.0312  6/0/0        -   better
    """
    if comparison.method.slices is None:
        return []
    first = next(iter(comparison.pairs[0].measures))
    if not with_pairs:
        rows = {f"{pair.b} - {pair.a}": _of(pair, first) for pair in comparison.pairs}
        names = list(dict.fromkeys(one.name for found in rows.values() for one in found))
        by_pair = {label: [_by_name(found).get(name) for name in names] for label, found in rows.items()}
        return [[f"differences on slices by {first} (* decided after correction)", *_brief("pair", names, by_pair)]]
    return [lines for pair in comparison.pairs for lines in (_table(pair, first), _others(pair, first)) if lines]


def _of(pair: Pair, measure: str) -> Sequence[Slice]:
    found = pair.measures[measure].slices
    return () if found is None else found.rows


def _by_name(rows: Sequence[Slice]) -> dict[str, Slice]:
    return {row.name: row for row in rows}


def _table(pair: Pair, measure: str) -> list[str]:
    title = f"slices by {measure}: {pair.b} against {pair.a}, the worst first"
    rows = _of(pair, measure)
    if not rows:
        return [title, "  no slice has a query that counts in both runs"]
    level = f"{100 * pair.measures[measure].level:g} % interval"
    head = ["slice", "queries", clipped(pair.a, _NAME), clipped(pair.b, _NAME), "difference", level, "p", "+/=/-", "visible", "verdict"]
    return [title, *fitted([head, *([clipped(row.name, _SLICE), *_without_d_z(slice_cells(row))] for row in rows)])]


def _without_d_z(cells: list[str]) -> list[str]:
    return cells[: _D_Z + 1] + cells[_D_Z + 2 :]


def slice_cells(row: Slice) -> list[str]:
    """Queries of a slice, then cells as of a measure; ``none`` where so few queries can show no difference.

    Examples
    --------
    >>> from idealrank.verdict import slices
    >>> slice_cells(slices({"q": 0.5}, {"q": 0.75}, {"q": "news"})["news"])
    ['1', '0.5000', '0.7500', '+0.2500', '-', '1', '1/0/0', '-', 'none', 'undecided']
    """
    *cells, visible, verdict = number_cells(row)
    return [f"{row.n:,}", *cells, "none" if math.isinf(row.detectable) else visible, verdict]


def _others(pair: Pair, first: str) -> list[str]:
    """Differences by the other measures, slices in the order of the first."""
    others = [measure for measure in pair.measures if measure != first]
    rows = {measure: _by_name(_of(pair, measure)) for measure in others}
    names = list(dict.fromkeys(name for found in (_by_name(_of(pair, first)), *rows.values()) for name in found))
    if not others or not names:
        return []
    by_slice = {name: [rows[measure].get(name) for measure in others] for name in names}
    return ["differences by other measures (* decided after correction)", *_brief("slice", others, by_slice)]


def _brief(corner: str, head: Sequence[str], rows: Mapping[str, Sequence[Slice | None]]) -> list[str]:
    table = [[corner, *(clipped(name, _NAME) for name in head)]]
    return columns([*table, *([clipped(label, _SLICE), *map(_mark, cells)] for label, cells in rows.items())])


def _mark(row: Slice | None) -> str:
    return "-" if row is None else f"{row.difference:+.4f}{' ' if row.verdict == 'undecided' else '*'}"


def slice_phrases(comparison: Comparison) -> list[str]:
    """How slices were corrected, and which queries are in none, or in several; nothing without slices.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"p": ["x"]}, "RR")
    >>> slice_phrases(ir.compare(one, one, slices={"p": ["news", "short"]}))[1:3]
    ['1 query in several slices counts in each', '1 query is in no slice']
    """
    counts = comparison.method.slices
    if counts is None:
        return []
    tests = comparison.method.families["slices"]
    phrases = [f"slices: a family of their own, p and verdict corrected for {tests:,} test{'s' * (tests != 1)} (Holm)"]
    if counts["in_several"]:
        phrases.append(_counted(counts["in_several"], "{} in several slices counts in each", "{} in several slices count in each"))
    if counts["in_none"]:
        phrases.append(_counted(counts["in_none"], "{} is in no slice", "{} are in no slice"))
    if counts["unknown"]:
        phrases.append(_counted(counts["unknown"], "{} with a category is not compared", "{} with a category are not compared"))
    if any(math.isinf(one.detectable) for _, row in comparison.rows() for one in row.slices or ()):
        phrases.append("visible none: so few queries can show no difference by this test, however large")
    return phrases


def _counted(number: int, one: str, several: str) -> str:
    return one.format("1 query") if number == 1 else several.format(f"{number:,} queries")


def slices_table(found: Slices) -> str:
    """Slices of `idealrank.slices` as a table, the worst first.

    Parameters
    ----------
    found : Slices
        What is to be shown.

    Examples
    --------
    >>> from idealrank.verdict import slices
    >>> a, b = {f"q{i}": 0.5 for i in range(6)}, {f"q{i}": 0.25 for i in range(6)}
    >>> print(slices_table(slices(a, b, dict.fromkeys(a, "short"))))
    slice  queries       a       b  difference       95 % interval       p  +/=/-  visible  verdict
    short        6  0.5000  0.2500     -0.2500  [-0.2500, -0.2500]  0.0312  0/0/6        -    worse
    all          6                     -0.2500
    <BLANKLINE>
    p and verdict corrected for 1 test (Holm)
    <BLANKLINE>
    """
    head = ["slice", "queries", "a", "b", "difference", f"{100 * found.level:g} % interval", "p", "+/=/-", "visible", "verdict"]
    rows = [[clipped(row.name, _SLICE), *_without_d_z(slice_cells(row))] for row in found.rows]
    total = ["all", f"{found.n:,}", "", "", f"{found.difference:+.4f}", *[""] * 5]
    notes = [f"p and verdict corrected for {found.tests} test{'s' * (found.tests != 1)} (Holm)"]
    if found.uncategorised:
        notes.append(_counted(len(found.uncategorised), "{} is in no slice", "{} are in no slice"))
    if found.unknown:
        notes.append(
            _counted(found.unknown, "{} with a category has no value in both runs", "{} with a category have no value in both runs")
        )
    return "\n".join([*columns([head, *rows, total]), "", *notes]) + "\n"
