"""The tables of a page: what anyone can read without scripts, with exact numbers beside what is shown."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from idealrank.analysis.comparison import Comparison, Difference, Pair, RunMean, Slice
from idealrank.analysis.comparison.query_table import Judgedness
from idealrank.analysis.gate import Gated
from idealrank.analysis.robustness import Robustness
from idealrank.analysis.robustness.robustness import Variant
from idealrank.measures.measure import Measure
from idealrank.reports.compared_many import Ranked
from idealrank.reports.digits import decimals, p_text
from idealrank.reports.gated_words import COMPANION, demand, gate_places, mark, one_line, reach_text, reason_text, unjudged, visible
from idealrank.reports.leading import leading_pairs
from idealrank.reports.page.payload import values_of
from idealrank.reports.page.subject import Subject
from idealrank.reports.tables import Cell, Column, Table
from idealrank.reports.verdicts import look, word

_FEW = 3  # runs, and measures, up to which means stand in one line
_LEVEL = 0.95  # of intervals where nothing was compared
_QUANTILES = {"least": 0.0, "10 %": 0.1, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "90 %": 0.9, "most": 1.0}


def means_grid(subject: Subject) -> Table:
    """Means with intervals and unjudged shares, a row a run; of several compared the best by the first measure first, with groups.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> [cell.text for cell in means_grid(Subject(evaluations=(one,), measures=one.measures)).rows[0]]
    ['RR', '1.0000', '-', '1', '0.0%']
    """
    comparison, texts = subject.comparison, [str(measure) for measure in subject.measures]
    if len(subject.names) <= _FEW and (len(subject.names) == 1 or len(texts) > _FEW):
        return _long_means(subject)
    ranked = [Ranked.of(comparison, text) for text in texts] if comparison is not None and len(subject.names) > 2 else []
    lettered = [one.letters for one in ranked if one.letters]
    order = list(ranked[0].means) if ranked else list(subject.names)
    depth = subject.evaluations[0].coverage.unjudged_cutoff
    columns = [Column("run")]
    for text in texts:
        columns += [Column(text, "number"), Column(f"{text} interval", "number"), *([Column(f"{text} group")] if lettered else [])]
    columns += [Column(f"unjudged in {depth}" if depth else "unjudged", "number"), Column("queries", "number")]
    places = [decimals(one.interval for one in subject.means.get(text, {}).values()) for text in texts]
    rows = []
    for run in order:
        one = subject.evaluations[subject.names.index(run)]
        row = [Cell(one_line(run))]
        for at, measure in enumerate(subject.measures):
            row += _mean(measure, subject.means.get(str(measure), {}).get(run), one.mean().get(str(measure), math.nan), places[at])
            row += [Cell(lettered[at][run])] if lettered else []
        rows.append([*row, _share(one.coverage.unjudged_share), Cell(f"{one.coverage.scored:,}", one.coverage.scored)])
    return Table(columns, rows, f"Means of the runs with {100 * _level_of(subject):g} % intervals")


def _long_means(subject: Subject) -> Table:
    """A row a measure and run, where they are too many for a line; each share of unjudged documents is as deep as its measure."""
    several = len(subject.names) > 1
    rows = []
    for measure in subject.measures:
        found = subject.means.get(str(measure), {})
        places = decimals(one.interval for one in found.values())
        for name, one in zip(subject.names, subject.evaluations, strict=True):
            mean, n = found.get(name), one.coverage.scored if name not in found else found[name].n
            cells = _mean(measure, mean, one.mean().get(str(measure), math.nan), places)
            share = Judgedness.of(one, [measure], one.queries).shares[0]
            rows.append([Cell(str(measure)), *([Cell(one_line(name))] if several else []), *cells, Cell(f"{n:,}", n), _share(share)])
    titles = ("mean", f"{100 * _level_of(subject):g} % interval", "queries", "unjudged")
    columns = [Column("measure"), *([Column("run")] if several else []), *(Column(title, "number") for title in titles)]
    return Table(columns, rows, "Means of the runs")


def _level_of(subject: Subject) -> float:
    return _LEVEL if subject.comparison is None else subject.comparison.method.level


def _mean(measure: Measure, found: RunMean | None, plain: float, places: int) -> list[Cell]:
    if found is None:
        shown = f"{plain:,.0f}" if measure.aggregate == "sum" and math.isfinite(plain) else None
        return [Cell(shown, plain) if shown else _number(plain), Cell("-")]
    return [_number(found.mean, places), _ends(found.interval, places)]


def _number(value: float, places: int = 4, sign: str = "") -> Cell:
    return Cell(f"{value:{sign}.{places}f}", value) if math.isfinite(value) else Cell("-")


def _ends(interval: tuple[float, float], places: int = 4, sign: str = "") -> Cell:
    low, high = interval
    if not (math.isfinite(low) and math.isfinite(high)):
        return Cell("-")
    return Cell(f"[{low:{sign}.{places}f}, {high:{sign}.{places}f}]", (low, high))


def _share(share: float | None) -> Cell:
    return Cell("-") if share is None else Cell(f"{share:.1%}", share)


def _said(word: str) -> Cell:
    return Cell(word, tone=look(word).tone)


def _outcomes(row: Difference | Slice) -> Cell:
    return Cell(f"{row.wins:,} / {row.ties:,} / {row.losses:,}")


def _places(rows: Iterable[Difference | Slice]) -> int:
    """Decimals that all intervals of mean differences of a table allow; no interval may look as if it held 0 where it does not."""
    usual = [row for row in rows if row.about == "mean difference"]
    return decimals((row.interval for row in usual), apart=[(end, 0.0) for row in usual for end in row.interval])


def _difference(row: Difference | Slice, places: int) -> list[Cell]:
    sign = "+" if row.about == "mean difference" else ""
    return [_number(row.difference, places, "+"), _ends(row.interval, places, sign), Cell(p_text(row.p_corrected), row.p_corrected)]


def _level(row: Difference) -> str:
    return f"{100 * row.level:g} % interval"


def pair_grid(pair: Pair) -> Table:
    """One pair of runs, a row a measure: means, difference, verdict, and how far the judgments reach.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> [cell.text for cell in pair_grid(ir.compare(one, one).pairs[0]).rows[0]][:5]
    ['RR', 'identical', '1.0000', '1.0000', '+0.0000']
    """
    rows = list(pair.measures.values())
    a, b = one_line(pair.a), one_line(pair.b)
    judged = any(row.unjudged_a is not None for row in rows)
    titles = [a, b, "difference", _level(rows[0]), "p"]
    columns = [Column("measure"), Column("verdict"), *(Column(title, "number") for title in titles)]
    columns += [Column("better / equal / worse", "number")]
    columns += [Column(f"unjudged {a}", "number"), Column(f"unjudged {b}", "number")] if judged else []
    places = _places(rows)
    found = []
    for row in rows:
        cells = [_number(row.mean_a, places), _number(row.mean_b, places), *_difference(row, places), _outcomes(row)]
        shares = [_share(row.unjudged_a), _share(row.unjudged_b)] if judged else []
        found.append([Cell(row.measure), _said(word(row)), *cells, *shares])
    return Table(columns, found, f"{b} against {a}")


def more_grid(pair: Pair) -> Table:
    """What else is known of a pair, a row a measure.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> [cell.text for cell in more_grid(ir.compare(one, one).pairs[0]).rows[0]]
    ['RR', '1', '0', '-', '-', '-', '1', '-']
    """
    titles = (
        "queries",
        "left out",
        "effect d_z",
        "detectable with 80 % power",
        "queries needed",
        "p of this row alone",
        "on judged documents",
    )
    rows = []
    for row in pair.measures.values():
        judged, needed = row.difference_judged, row.queries_needed
        rows.append(
            [
                Cell(row.measure),
                Cell(f"{row.n:,}", row.n),
                Cell(f"{row.excluded_queries:,}", row.excluded_queries),
                Cell(f"{row.effect:+.2f}") if math.isinf(row.effect) else _number(row.effect, 2, "+"),
                _number(row.detectable),
                Cell("-") if needed is None else Cell(f"{needed:,}", needed),
                Cell(p_text(row.p), row.p),
                Cell("-") if judged is None else _number(judged, sign="+"),
            ]
        )
    return Table([Column("measure"), *(Column(title, "number") for title in titles)], rows, "More of each measure")


def every_pair_grid(comparison: Comparison, measure: str) -> Table:
    """All pairs by one measure, a row a pair, the one that is shown first in front.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> [cell.text for cell in every_pair_grid(ir.compare(one, one), "RR").rows[0]][:2]
    ['run (2)', 'run']
    """
    found = [(pair, pair.measures[measure]) for pair in leading_pairs(comparison)]
    places = _places(row for _, row in found)
    columns = [
        Column("run"),
        Column("against"),
        Column("verdict"),
        Column("difference", "number"),
        Column(_level(found[0][1]), "number"),
        Column("p", "number"),
    ]
    columns += [Column("better / equal / worse", "number")]
    rows = [[Cell(one_line(p.b)), Cell(one_line(p.a)), _said(word(row)), *_difference(row, places), _outcomes(row)] for p, row in found]
    return Table(columns, rows, f"All pairs by {measure}")


def slices_grid(pair: Pair, measure: str) -> Table | None:
    """Slices of one pair by one measure, the worst first; None without slices.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> found = slices_grid(ir.compare(one, one, slices={"q": "short"}).pairs[0], "RR")
    >>> [cell.text for cell in found.rows[0]][:5]
    ['short', 'identical', '1', '1.0000', '1.0000']
    """
    row = pair.measures[measure]
    if row.slices is None:
        return None
    places = _places(row.slices)
    titles = ("queries", one_line(pair.a), one_line(pair.b), "difference", _level(row), "p")
    columns = [Column("slice"), Column("verdict"), *(Column(title, "number") for title in titles)]
    rows = []
    for one in row.slices:
        cells = [Cell(f"{one.n:,}", one.n), _number(one.mean_a, places), _number(one.mean_b, places), *_difference(one, places)]
        rows.append([Cell(one_line(one.name)), _said(word(one)), *cells])
    return Table(columns, rows, f"Slices by {measure}, the worst first")


def spread_grid(subject: Subject) -> Table:
    """Quantiles of the values of each query, by measure and run.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"p": ["x"]}, "RR")
    >>> [cell.text for cell in spread_grid(Subject(evaluations=(one,), measures=one.measures)).rows[0]][:5]
    ['RR', 'run', '0.0000', '0.1000', '0.2500']
    """
    rows = []
    for measure in subject.measures:
        values, counted = values_of(subject, measure)
        for run, name in enumerate(subject.names):
            kept = values[run, counted[run] & np.isfinite(values[run])]
            ends = np.quantile(kept, list(_QUANTILES.values())) if kept.size else [math.nan] * len(_QUANTILES)
            zeros = int(np.count_nonzero(kept == 0))
            counts = [Cell(f"{zeros:,}", zeros), Cell(f"{kept.size:,}", kept.size)]
            rows.append([Cell(str(measure)), Cell(one_line(name)), *(_number(float(end)) for end in ends), *counts])
    titles = (*_QUANTILES, "at 0", "queries")
    return Table([Column("measure"), Column("run"), *(Column(title, "number") for title in titles)], rows, "Quantiles of values of queries")


def curves_grid(subject: Subject) -> Table:
    """Means at each cutoff with their intervals.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> curves_grid(Subject(evaluations=(one,), measures=one.measures)).rows
    []
    """
    means = [one for curve in subject.curves for of_run in curve.means.values() for one in of_run]
    places = decimals(one.interval for one in means)
    rows = [
        [Cell(f"{curve.measure}@{cutoff}"), Cell(one_line(run)), _number(found.mean, places), _ends(found.interval, places)]
        for curve in subject.curves
        for run, of_run in curve.means.items()
        for cutoff, found in zip(curve.cutoffs, of_run, strict=True)
    ]
    columns = [Column("measure"), Column("run"), Column("mean", "number"), Column("95 % interval", "number")]
    return Table(columns, rows, "Means at several cutoffs")


def robust_grid(found: Robustness) -> Table:
    """Every way of computing the first measure that changes the numbers, and what it says.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.robust({"q": {"x": 1}}, {"q": ["y", "x"]}, {"q": ["x"]}, "RR", variants=["cutoff=1"])
    >>> [(row[0].text, row[2].text) for row in robust_grid(found).rows]
    [('as asked', '+0.5000'), ('cutoff=1', '+1.0000')]
    """
    kept = [found.reference, *(one for one in found.variants if one.row is not None and one.status == "changes the numbers")]
    rows = [row for at, one in enumerate(kept) for row in _variant(one, one.change if at else "as asked")]
    titles = ("difference", "interval", "p")
    columns = [Column("changed"), Column("measure"), *(Column(title, "number") for title in titles), Column("verdict"), Column("turns")]
    return Table(columns, rows, f"{one_line(found.run_b)} against {one_line(found.run_a)}, computed otherwise")


def _variant(one: Variant, changed: str) -> Iterator[list[Cell]]:
    if one.row is not None:
        turns = "the verdict" if one.verdict_turns else "the sign" if one.sign_turns else "-"
        numbers = [_number(one.row.difference, sign="+"), _ends(one.row.interval, sign="+"), Cell(p_text(one.row.p), one.row.p)]
        yield [Cell(changed), Cell(one.measure), *numbers, _said(word(one.row)), Cell(turns)]


def checks_grid(gated: Gated) -> Table:
    """The checks of a gate, failures first.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> [cell.text for cell in checks_grid(ir.gate(one, one)).rows[0]][:3]
    ['passed', 'RR', 'run (2)']
    """
    titles = ("mean before", "mean now", "difference", "bound", "one-sided p", "two-sided p", "drop detectable with 80 % power")
    columns = [Column("outcome"), Column("measure"), Column("baseline"), *(Column(title, "number") for title in titles)]
    columns += [Column("unjudged before / now", "number"), Column("why")]
    rows, places = [], gate_places(gated)
    for one in sorted(gated.checks, key=lambda check: (not check.decides, check.passed)):
        numbers = [_number(value, places) for value in (one.mean_baseline, one.mean_run)]
        numbers += [_number(value, places, "+") for value in (one.difference, one.bound)]
        numbers += [Cell(p_text(p), p) for p in (one.p_corrected, one.p_two_sided)]
        clause = reach_text(gated, one) if one.carried else ""
        why = reason_text(gated, one, places) + (f"; {clause}" if clause else "")
        texts = [Cell(visible(one, places)), Cell(unjudged(one) or "-"), Cell(why)]
        rows.append([_said(mark(one)), Cell(one.measure), Cell(one_line(one.baseline)), *numbers, *texts])
    return Table(columns, rows, "Checks", [] if all(one.decides for one in gated.checks) else [COMPANION])


def contracts_grid(gated: Gated, texts: Mapping[str, str] | None = None) -> Table:
    """The contracts of a gate, broken ones first; a query by its text where there is one, with its id behind.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> contracts_grid(ir.gate(one, one)).rows
    []
    """
    rows: Sequence[Sequence[Cell]] = [
        [
            _said("kept" if one.passed else "broken"),
            *map(Cell, (_named(one.contract.query, texts or {}), one.measure, demand(one), one_line(one.contract.place) or "-")),
        ]
        for one in sorted(gated.contracts, key=lambda kept: kept.passed)
    ]
    return Table([Column(title) for title in ("outcome", "query", "measure", "found", "from")], rows, "Contracts")


def _named(query: str, texts: Mapping[str, str]) -> str:
    return f"{one_line(texts[query])} ({one_line(query)})" if texts.get(query) else one_line(query)
