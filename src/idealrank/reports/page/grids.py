"""The tables of a page as plain cells, which its templates lay out."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.measures.measure import Measure
from idealrank.reports.compared_cells import cells, number_cells
from idealrank.reports.compared_many import Ranked
from idealrank.reports.digits import p_text
from idealrank.reports.gated_words import demand, number, one_line, unjudged, visible
from idealrank.reports.page.payload import queries_of, values_of
from idealrank.reports.page.subject import Subject
from idealrank.verdict import Comparison, Difference, Gated, Pair, Robustness, RunMean
from idealrank.verdict.robustness import Variant

_LEFT = frozenset(("measure", "run", "query", "slice", "verdict", "group", "changed", "outcome", "baseline", "why", "from", "file"))
_TONES = {"better": "better", "worse": "worse", "passed": "better", "failed": "worse", "broken": "worse"}
_QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_QUANTILE_NAMES = ("least", "10 %", "25 %", "median", "75 %", "90 %", "most")


@dataclass(frozen=True)
class Grid:
    """A table: titles, rows of texts, and what stands above it.

    Attributes
    ----------
    caption : str
        What a screen reader says first.
    head : tuple of str
        Titles.
    rows : tuple of tuple of str
        Cells; the first of each row is its head.

    Examples
    --------
    >>> Grid("Means", ("run", "AP"), (("bm25", "0.5000"),)).is_text(0)
    True
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def is_text(self, column: int) -> bool:
        """Whether the column begins at the left; numbers end at the right."""
        return self.head[column] in _LEFT

    def tone(self, column: int, text: str) -> str:
        """How a verdict looks: better, worse, or nothing special."""
        return _TONES.get(text, "") if self.head[column] in ("verdict", "outcome") else ""


def means_grid(subject: Subject) -> Grid:
    """Means with intervals and unjudged shares, a row a run, the best by the first measure first.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> means_grid(Subject(evaluations=(one,), measures=one.measures)).rows
    (('run', '1.0000', '-', '0.0%', '1'),)
    """
    texts = [str(measure) for measure in subject.measures]
    found = {text: subject.means.get(text, {}) for text in texts}
    comparison = subject.comparison
    ranked = [Ranked.of(comparison, text) for text in texts] if comparison is not None and len(subject.names) > 2 else []
    order = list(ranked[0].means) if ranked else list(subject.names)
    level = f"{100 * comparison.method.level:g} % interval" if comparison is not None else "95 % interval"
    lettered = [one for one in ranked if one.letters]
    head = ["run", *(title for text in texts for title in (text, level, *(["group"] if lettered else [])))]
    rows = []
    for run in order:
        one = subject.evaluations[subject.names.index(run)]
        row = [one_line(run)]
        for place, measure in enumerate(subject.measures):
            row += _mean(measure, found[str(measure)].get(run), one.mean().get(str(measure), math.nan))
            row += [lettered[place].letters[run]] if lettered else []
        rows.append((*row, f"{one.coverage.unjudged_share:.1%}", f"{one.coverage.scored:,}"))
    depth = subject.evaluations[0].coverage.unjudged_cutoff
    return Grid("Means of the runs", (*head, f"unjudged in {depth}" if depth else "unjudged", "queries"), tuple(rows))


def _mean(measure: Measure, found: RunMean | None, plain: float) -> list[str]:
    if found is None:
        return [f"{plain:,.0f}" if measure.aggregate == "sum" and math.isfinite(plain) else number(plain), "-"]
    return [number(found.mean), _ends(*found.interval)]


def _ends(low: float, high: float, signs: str = ".4f") -> str:
    return f"[{low:{signs}}, {high:{signs}}]" if math.isfinite(low) and math.isfinite(high) else "-"


def pair_grid(pair: Pair) -> Grid:
    """One pair of runs, a row a measure.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> pair_grid(ir.compare(one, one).pairs[0]).rows[0][:4]
    ('RR', '1.0000', '1.0000', '+0.0000')
    """
    rows = list(pair.measures.values())
    shared = any(row.unjudged_a is not None for row in rows)
    level = f"{100 * rows[0].level:g} % interval"
    a, b = one_line(pair.a), one_line(pair.b)
    head = ["measure", f" {a}", f" {b}", "difference", level, "p", "verdict", "+ / = / -", "d_z", "visible"]  # a run may be called "run"
    head += [f"unjudged {a}", f"unjudged {b}", "on judged"] if shared else []
    return Grid(f"{b} against {a}", tuple(head), tuple(tuple(_pair_row(row, shared=shared)) for row in rows))


def _pair_row(row: Difference, *, shared: bool) -> Iterator[str]:
    measure, a, b, difference, interval, p, outcomes, effect, seen, verdict = cells(row)
    yield from (measure, a, b, difference, interval, p, verdict, outcomes.replace("/", " / "), effect, seen)
    if shared:
        judged = row.difference_judged
        yield from (_share(row.unjudged_a), _share(row.unjudged_b), "-" if judged is None else f"{judged:+.4f}")


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def every_pair_grid(comparison: Comparison, measure: str) -> Grid:
    """All pairs by one measure, a row a pair.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> every_pair_grid(ir.compare(one, one), "RR").rows[0][:2]
    ('run (2)', 'run')
    """
    level = f"{100 * comparison.method.level:g} % interval"
    head = ("run", "baseline", "difference", level, "p", "verdict", "+ / = / -")
    rows = []
    for pair in comparison.pairs:
        _, _, difference, interval, p, outcomes, _, _, verdict = number_cells(pair.measures[measure])
        rows.append((one_line(pair.b), one_line(pair.a), difference, interval, p, verdict, outcomes.replace("/", " / ")))
    return Grid(f"All pairs by {measure}", head, tuple(rows))


def slices_grid(pair: Pair, measure: str) -> Grid | None:
    """Slices of one pair by one measure, the worst first; None without slices.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> slices_grid(ir.compare(one, one, slices={"q": "short"}).pairs[0], "RR").rows[0][:4]
    ('short', '1', '1.0000', '1.0000')
    """
    row = pair.measures[measure]
    if row.slices is None:
        return None
    head = (
        "slice",
        "queries",
        f" {one_line(pair.a)}",
        f" {one_line(pair.b)}",
        "difference",
        f"{100 * row.level:g} % interval",
        "p",
        "verdict",
    )
    rows = []
    for one in row.slices:
        a, b, difference, interval, p, *_, verdict = number_cells(one)
        rows.append((one_line(one.name), f"{one.n:,}", a, b, difference, interval, p, verdict))
    return Grid(f"Slices by {measure}, the worst first", head, tuple(rows))


def spread_grid(subject: Subject) -> Grid:
    """Quantiles of the values of each query, by measure and run.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"p": ["x"]}, "RR")
    >>> spread_grid(Subject(evaluations=(one,), measures=one.measures)).rows[0][:5]
    ('RR', 'run', '0.0000', '0.1000', '0.2500')
    """
    rows = []
    for measure in subject.measures:
        values, counted = values_of(subject, measure)
        for run, name in enumerate(subject.names):
            kept = values[run, counted[run] & np.isfinite(values[run])]
            ends = np.quantile(kept, _QUANTILES) if kept.size else [math.nan] * len(_QUANTILES)
            rows.append(
                (str(measure), one_line(name), *map(number, map(float, ends)), f"{np.count_nonzero(kept == 0):,}", f"{kept.size:,}")
            )
    return Grid("Quantiles of the values of queries", ("measure", "run", *_QUANTILE_NAMES, "at 0", "queries"), tuple(rows))


def curves_grid(subject: Subject) -> Grid:
    """Means at each cutoff with their intervals.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> curves_grid(Subject(evaluations=(one,), measures=one.measures)).rows
    ()
    """
    rows = [
        (f"{curve.measure}@{cutoff}", one_line(run), number(found.mean), _ends(*found.interval))
        for curve in subject.curves
        for run, means in curve.means.items()
        for cutoff, found in zip(curve.cutoffs, means, strict=True)
    ]
    return Grid("Means at several cutoffs", ("measure", "run", "mean", "95 % interval"), tuple(rows))


def robust_grid(found: Robustness) -> Grid:
    """Every way of computing the first measure that changes the numbers, and what it says.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.robust({"q": {"x": 1}}, {"q": ["y", "x"]}, {"q": ["x"]}, "RR", variants=["cutoff=1"])
    >>> [(row[0], row[2]) for row in robust_grid(found).rows]
    [('as asked', '+0.5000'), ('cutoff=1', '+1.0000')]
    """
    kept = [found.reference, *(one for one in found.variants if one.row is not None and one.status == "changes the numbers")]
    rows = tuple(row for place, one in enumerate(kept) for row in _variant(one, "as asked" if place == 0 else one.change))
    return Grid("The first pair, computed otherwise", ("changed", "measure", "difference", "interval", "p", "verdict", "turns"), rows)


def _variant(one: Variant, changed: str) -> Iterator[tuple[str, ...]]:
    if one.row is not None:
        turns = "the verdict" if one.verdict_turns else "the sign" if one.sign_turns else ""
        ends = _ends(*one.row.interval, "+.4f")
        yield changed, one.measure, f"{one.row.difference:+.4f}", ends, p_text(one.row.p), one.row.verdict, turns


def checks_grid(gated: Gated) -> Grid:
    """The checks of a gate, failures first.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> checks_grid(ir.gate(one, one)).rows[0][:3]
    ('passed', 'RR', 'run (2)')
    """
    head = ("outcome", "measure", "baseline", "mean before", "mean now", "difference", "bound", "visible drop", "unjudged", "why")
    rows = []
    for one in sorted(gated.checks, key=lambda check: check.passed):
        numbers = (number(one.mean_baseline), number(one.mean_run), number(one.difference, "+.4f"), number(one.bound, "+.4f"))
        outcome = "passed" if one.passed else "failed"
        rows.append((outcome, one.measure, one_line(one.baseline), *numbers, visible(one), unjudged(one) or "-", one.reason))
    return Grid("Checks", head, tuple(rows))


def contracts_grid(gated: Gated) -> Grid:
    """The contracts of a gate, broken ones first.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> contracts_grid(ir.gate(one, one)).rows
    ()
    """
    rows = [
        ("kept" if one.passed else "broken", one_line(one.contract.query), one.measure, demand(one), one_line(one.contract.place) or "-")
        for one in sorted(gated.contracts, key=lambda kept: kept.passed)
    ]
    return Grid("Contracts", ("outcome", "query", "measure", "found", "from"), tuple(rows))


@dataclass(frozen=True)
class Change:
    """A query on which two runs differ, or one value of a single run.

    Attributes
    ----------
    query, text : str
        Its id and text.
    values : tuple of float
        Of a and b, or of the only run.
    difference : float
        b - a; the value itself of a single run.
    """

    query: str
    text: str
    values: tuple[float, ...]
    difference: float


def changes(subject: Subject, pair: tuple[int, int] | None, most: int) -> tuple[Sequence[Change], Sequence[Change]]:
    """Queries that lost and that gained most by the first measure; of a single run the worst, and nothing.

    Parameters
    ----------
    subject : Subject
        What the page shows.
    pair : tuple of int, optional
        Numbers of two runs.
    most : int
        Queries of each kind.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {"p": {"x": 1}, "q": {"x": 1}}
    >>> a, b = (ir.evaluate(qrels, {"p": ranking, "q": ["x"]}, "RR") for ranking in (["x"], ["y", "x"]))
    >>> worst, best = changes(Subject(evaluations=(a, b), measures=a.measures), (0, 1), 3)
    >>> [(one.query, one.difference) for one in worst], best
    ([('p', -0.5)], [])
    """
    measure, queries = subject.measures[0], queries_of(subject)
    values, counted = values_of(subject, measure)
    direction = measure.direction or 1
    shown = list(pair) if pair is not None else [0]
    kept = np.flatnonzero((counted[shown] & np.isfinite(values[shown])).all(axis=0))
    gain = (values[shown[-1], kept] - (values[shown[0], kept] if pair is not None else 0.0)) * direction
    order = np.argsort(gain, kind="stable")

    def told(place: int) -> Change:
        query = queries[kept[place]]
        both = tuple(float(values[run, kept[place]]) for run in shown)
        return Change(query, subject.query_texts.get(query, ""), both, float(gain[place]) * direction)

    if pair is None:
        return [told(place) for place in order[:most]], []
    worst = [told(place) for place in order[:most] if gain[place] < 0]
    best = [told(place) for place in order[::-1][:most] if gain[place] > 0]
    return worst, best
