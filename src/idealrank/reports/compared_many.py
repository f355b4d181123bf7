"""Comparisons of many runs for people: the top group, then league tables with letters, or tables against a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass

from idealrank.reports.compared_cells import cells
from idealrank.reports.compared_map import pair_map
from idealrank.reports.layout import WIDTH, clipped, columns, filled
from idealrank.verdict import Comparison, RunMean

MANY = 6  # runs; from here on a report begins with groups, and pairs are shown on request
_NAME = 24  # letters of a run's name
_MAPS = 3  # measures; with more of them only the first has its map
_LONG_ROW = 4  # letters in a row from which only the first and the last are written
_LETTERS = 20
_AGAINST = (3, 4, 5, 6, 8, 9)  # of the cells of a difference: those that stand beside a baseline's
_SOME = 9  # runs named in a sentence


def is_many(comparison: Comparison) -> bool:
    """Whether there are so many runs that one reads groups before pairs.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> is_many(ir.compare(one, one))
    False
    """
    return len(comparison.names) >= MANY


@dataclass(frozen=True)
class Ranked:
    """Runs by one measure.

    Attributes
    ----------
    measure : str
        Its text.
    means : mapping of str to RunMean
        Of each run, the best first.
    letters : mapping of str to str
        As tables show them; empty where runs were compared with a baseline alone.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
    >>> bad, good = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> Ranked.of(ir.compare(bad, good), "RR").letters
    {'run (2)': 'a', 'run': 'b'}
    """

    measure: str
    means: dict[str, RunMean]
    letters: dict[str, str]

    @classmethod
    def of(cls, comparison: Comparison, measure: str) -> "Ranked":
        """The runs of a comparison."""
        means = comparison.means[measure]
        if comparison.method.baseline is not None:
            direction = comparison.pairs[0].measures[measure].direction
            return cls(measure, dict(sorted(means.items(), key=lambda one: -one[1].mean * direction)), {})
        groups = comparison.groups(measure)
        return cls(measure, {run: means[run] for run in groups.letters}, {run: shortened(text) for run, text in groups.letters.items()})


def shortened(letters: str) -> str:
    """Letters with only the ends of long rows of them, cut where even that is too long for a table.

    Examples
    --------
    >>> shortened("abcdf"), shortened("yz[53][54]")
    ('a-df', 'yz[53][54]')
    """
    signs, bracket, numbers = letters.partition("[")
    rows: list[str] = []
    for sign in signs:
        follows = rows and ord(sign) == ord(rows[-1][-1]) + 1
        rows = [*rows[:-1], rows[-1] + sign] if follows else [*rows, sign]
    text = "".join(row if len(row) < _LONG_ROW else f"{row[0]}-{row[-1]}" for row in rows) + bracket + numbers
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 2]}.."


def opening(comparison: Comparison) -> list[list[str]]:
    """What comes first: the top group, the league table, the map of all pairs; or each run against the baseline.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
    >>> bad, good = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> opening(ir.compare(bad, good, bad))[0]
    ['By RR, run (2) is better than all 2 others.']
    """
    measures = list(comparison.means)
    if comparison.method.baseline is not None:
        return [_against_baseline(comparison, measure) for measure in measures]
    mapped = measures if len(measures) <= _MAPS else measures[:1]
    sentences = [headline(comparison, measure) for measure in measures]
    return [filled(sentences), *league_tables(comparison), *(pair_map(comparison, measure) for measure in mapped)]


def headline(comparison: Comparison, measure: str) -> str:
    """The first sentence on several runs: which is the best, and which cannot be told apart from it; or how many beat the baseline.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
    >>> bad, good = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> headline(ir.compare(bad, good, bad), "RR")
    'By RR, run (2) is better than all 2 others.'
    """
    if comparison.method.baseline is not None:
        return _against(comparison, measure)
    groups, runs = comparison.groups(measure), len(comparison.names)
    best, *others = groups.top
    if not others:
        return f"By {groups.measure}, {best} is better than all {runs - 1:,} others."
    shown = ", ".join(others[:_SOME]) + (f" and {len(others) - _SOME:,} more" if len(others) > _SOME else "")
    if len(groups.top) == runs:
        return f"By {groups.measure}, none of {runs:,} runs can be told apart from the best, {best}."
    return f"By {groups.measure}, {best} has the best mean of {runs:,} runs, and cannot be told apart from {shown}."


def _against(comparison: Comparison, measure: str) -> str:
    found = [pair.measures[measure].verdict for pair in comparison.pairs]
    better, worse = (found.count(verdict) for verdict in ("better", "worse"))
    counts = f"{better:,} better than {comparison.method.baseline}, {worse:,} worse, {len(found) - better - worse:,} neither"
    return f"Of {len(found):,} runs, by {measure}: {counts}."


def league_tables(comparison: Comparison) -> list[list[str]]:
    r"""Runs with means and letters, the best by the first measure first; as many measures side by side as fit on a page.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
    >>> bad, good = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> print(*league_tables(ir.compare(bad, good))[0], sep="\n")
    #  run          RR    95 % interval  group
    1  run (2)  1.0000  [1.0000, 1.0000]  a
    2  run      0.5000  [0.5000, 0.5000]  b
    """
    ranked = [Ranked.of(comparison, measure) for measure in comparison.means]
    order = list(ranked[0].means)
    names = [["#", "run"], *([str(place), clipped(run, _NAME)] for place, run in enumerate(order, 1))]
    level = f"{100 * comparison.method.level:g} % interval"
    tables = []
    rows = [name + cells for name, cells in zip(names, _cells(ranked[0], order, level), strict=True)]
    for one in ranked[1:]:
        more = _cells(one, order)
        wider = [row + cells for row, cells in zip(rows, more, strict=True)]
        if len(_lines(wider)[0]) <= WIDTH and max(map(len, _lines(wider))) <= WIDTH:
            rows = wider
        else:
            tables.append(_lines(rows))
            rows = [name + cells for name, cells in zip(names, more, strict=True)]
    return [*tables, _lines(rows)]


def _cells(ranked: Ranked, order: Sequence[str], level: str = "") -> list[list[str]]:
    """A head and a row a run: mean, interval where its level is given, letters."""
    rows = [[ranked.measure, level, "group"] if level else [ranked.measure, "group"]]
    for run in order:
        one, low, high = ranked.means[run].mean, *ranked.means[run].interval
        rows.append([f"{one:.4f}", *([f"[{low:.4f}, {high:.4f}]"] if level else []), ranked.letters[run]])
    return rows


def _lines(rows: list[list[str]]) -> list[str]:
    return columns(rows, left=[number for number, title in enumerate(rows[0]) if title in ("run", "group", "verdict")])


def _against_baseline(comparison: Comparison, measure: str) -> list[str]:
    """Every run beside the baseline, the best first."""
    ranked = Ranked.of(comparison, measure)
    found = {pair.b: pair.measures[measure] for pair in comparison.pairs}
    level = next(iter(found.values())).level
    rows = [["#", "run", measure, "difference", f"{100 * level:g} % interval", "p", "+/=/-", "visible", "verdict"]]
    for place, (run, mean) in enumerate(ranked.means.items(), 1):
        row = found.get(run)
        rest = ["", "", "", "", "", "baseline"] if row is None else [cells(row)[number] for number in _AGAINST]
        rows.append([str(place), clipped(run, _NAME), f"{mean.mean:.4f}", *rest])
    return [*filled([headline(comparison, measure)]), "", *_lines(rows)]
