"""The report of `idealrank compare`: a paragraph that anyone can read, tables, and the method; JSON and CSV with every digit."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from idealrank.analysis.comparison import Comparison, Difference, Method, Pair
from idealrank.analysis.comparison.differences import about_equivalence
from idealrank.analysis.comparison.tipping import Tipping
from idealrank.reports.table.cells import Column, Table
from idealrank.reports.table.digits import counted
from idealrank.reports.table.records import SCHEMA, Row, record_rows
from idealrank.reports.table.text import MethodLines, Part, clipped, filled, wrapped
from idealrank.reports.views.comparison.columns import Line, Shown, Where, difference_columns, meanings
from idealrank.reports.views.comparison.league import Letters, is_many, letters_note, opening
from idealrank.reports.views.comparison.phrases import (
    ALL_RELEVANT,
    BOTH_RUNS,
    only_relevant,
    plain_sentence,
    reach_text,
    sentence,
    unchanged,
)
from idealrank.reports.views.comparison.slice_tables import NAME, slice_parts, slice_phrases
from idealrank.reports.views.comparison.verdicts import correction_word, is_identical, word
from idealrank.reports.views.conventions import design_phrases, paragraph, unanswered, warned

_CONTRADICTED = 6  # sentences on signs

_TESTS = {
    "permutation": "sign-flip permutation test",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
}


def method_text(comparison: Comparison) -> str:
    """Describe the method of a comparison in phrases.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> method_text(ir.compare(one, one, test="t")).split("; ")[0]
    'paired t test, two-sided'
    """
    method = comparison.method
    phrases = [f"{_TESTS[method.test]}, two-sided"]
    if method.test == "permutation":
        drawn = method.n_resamples is not None
        phrases.append(f"{method.n_resamples:,} draws, seed {method.seed}" if drawn else "exact, over all signs")
    about = next(row.about for _, row in comparison.rows())
    phrases.append("each interval from the same test" + ("" if about == "mean difference" else f": of the {about}"))
    phrases += family_phrases(comparison)
    if method.margin is not None:
        phrases.append(f"margin {method.margin:g}")
    phrases += design_phrases(weighted=method.weighted, clustered=method.clustered, judgments=method.judgments)
    return "; ".join([*phrases, *slice_phrases(comparison)])


def mark_note(comparison: Comparison, mark: str, labels: Mapping[str, str] | None = None) -> str:
    """Explain the mark of a difference: test, correction and level; the labels are other names of measures.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["RR", "AP"])
    >>> mark_note(ir.compare(one, one), "*")
    '* p at most 0.05: sign-flip permutation test, two-sided; RR is tested alone; the other measure is tested alone.'
    """
    method = comparison.method
    return f"{mark} p at most {1 - method.level:.12g}: {_TESTS[method.test]}, two-sided; {'; '.join(family_phrases(comparison, labels))}."


def family_phrases(comparison: Comparison, labels: Mapping[str, str] | None = None) -> list[str]:
    """Describe the families that are corrected together: the first measure, its companions, slices.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["RR", "AP", "P@1"])
    >>> family_phrases(ir.compare(one, one))
    ['RR is tested alone', '2 tests of the other measures corrected together (max-T)']
    """
    method, measure = comparison.method, next(iter(comparison.pairs[0].measures))
    first = (labels or {}).get(measure, measure)
    how = correction_word(method.correction)
    said = {
        "primary measure": lambda n: f"{n:,} tests of {first} corrected together ({how})",
        "companions": lambda n: f"{n:,} tests of the other measures corrected together ({how})",
        "slices": lambda n: f"{n:,} slices of {first} corrected together ({how})",
        "slices of companions": lambda n: f"{n:,} slices of the other measures corrected together ({how})",
    }
    alone = {"primary measure": f"{first} is tested alone", "companions": "the other measure is tested alone"}
    return [said[name](n) if n > 1 else alone[name] for name, n in method.families.items() if n > 1 or name in alone]


def comparison_parts(
    comparison: Comparison, *, every_pair: bool = False, digits: int | None = None, letters: Letters = "better"
) -> list[Part]:
    """The whole report: two to five runs pair by pair, more runs by groups without a significant difference.

    Parameters
    ----------
    comparison : Comparison
        What is to be shown.
    every_pair : bool
        Every pair of many runs besides.
    digits : int or None
        Decimals; None for those that the intervals allow.
    letters : {"better", "groups"}
        For many runs: letters of the runs that a run is significantly better than, or of indistinguishable groups.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> comparison_parts(ir.compare(one, one))[2].columns[0].title
    'measure'
    """
    pairs, first, many, shown = comparison.pairs, comparison.pairs[0], is_many(comparison), Shown.of(comparison, digits)
    several, with_pairs = len(pairs) > 1, every_pair or not many
    apart = warned(comparison.mismatches)
    parts: list[Part] = [_summary(comparison, shown) if several else filled([*sentences(comparison, first, shown), *apart[-1:]])]
    parts = [filled(apart if several else []), *(opening(comparison, shown, digits, letters) if many else parts)]
    for pair in pairs if with_pairs else ():
        parts += [pair_table(pair, shown, title=f"{pair.b} against {pair.a}" if several else "", clip=NAME)]
        parts += [judged_table(pair, shown, clip=NAME), _rankings(pair, titled=several), _left_out(pair)]
    parts += slice_parts(comparison, shown, with_pairs=with_pairs)
    beside = [unanswered(comparison.missing), judge_sentences(comparison.rows(), shown), _unknown(comparison)]
    parts += [filled(said) for said in beside if many or several]
    measures = [row.measure for row in first.measures.values()]
    method = _method(comparison, letters, with_pairs=with_pairs)
    return [*parts, reach_legend(parts), method, paragraph(comparison.convention, measures)]


def sentences(comparison: Comparison, pair: Pair, shown: Shown | None = None) -> list[str]:
    """Return the sentences of a pair: the verdict by the first measure, then the other measures.

    Parameters
    ----------
    comparison : Comparison
        Whose pair it is.
    pair : Pair
        Two of its runs.
    shown : Shown, optional
        With how many digits; default as many as the intervals allow.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> found = ir.compare(one, one)
    >>> sentences(found, found.pairs[0])[0].split(":")[0]
    'run (2) and run are identical in every value'
    """
    if pair.mismatch:
        return [f"No verdict on {pair.b} against {pair.a}: run {pair.mismatch}"]
    method, shown = comparison.method, shown or Shown.of(comparison)
    first, *others = pair.measures.values()
    said = [f"{verdict_text(pair, first, method)}: {numbers_text(first, method, shown)}."]
    said += [plain] if (plain := plain_sentence(pair)) else []
    if not is_identical(first):
        of = counted(first.n, "query", "queries")
        said.append(f"{pair.b} is better on {first.wins:,}, equal on {first.ties:,} and worse on {first.losses:,} of {of}.")
    said += judge_sentences(((pair, row) for row in pair.measures.values()), shown)
    said += [comparison.reach_unknown] if comparison.reach_unknown else reach_sentences(pair, first)
    said += bounds_sentences(first)
    missing = {name: number for name, number in comparison.missing.items() if name in (pair.a, pair.b)}
    said += [*unanswered(missing), *unchanged(pair.rankings)[:1]]
    said += [f"{needed}."] if (needed := needed_text(first, method)) else []
    if math.isinf(first.detectable):
        said.append(undetectable(comparison, first.n))
    elif math.isfinite(first.detectable):
        said.append(f"These queries detect a true difference of {shown.number(first.detectable)} with {100 * method.power:g} % power.")
    return said + _others(others)


def undetectable(comparison: Comparison, n: int) -> str:
    """Describe why no detectable difference is given.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> undetectable(ir.compare(one, one), 1)
    '1 query cannot detect any difference by this test, however large.'
    """
    if comparison.method.weighted:
        return "The queries count as too few of equal weight to give a detectable difference."
    return f"{counted(n, 'query', 'queries')} cannot detect any difference by this test, however large."


def _unknown(comparison: Comparison) -> list[str]:
    return [comparison.reach_unknown] if comparison.reach_unknown else []


def verdict_text(pair: Pair, row: Difference, method: Method) -> str:
    """Describe the verdict of one measure without numbers.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(6)}
    >>> a, b = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> found = ir.compare(a, b)
    >>> verdict_text(found.pairs[0], found["RR"], found.method)
    'run (2) is better than run'
    """
    if pair.mismatch:
        return f"No verdict on {pair.b} against {pair.a}: run {pair.mismatch.partition(';')[0]}"
    if is_identical(row):
        every = all(map(is_identical, pair.measures.values()))
        return f"{pair.b} and {pair.a} are identical in every value" + ("" if every else f" of {row.measure}")
    equivalent = f"{pair.b} and {pair.a} are equivalent, within {method.margin or 0:g} of each other"
    doubted = equivalent if about_equivalence(row) else f"{pair.b} is better than {pair.a}"
    return {
        "better": f"{pair.b} is better than {pair.a}",
        "worse": f"{pair.b} is worse than {pair.a}",
        "equivalent": equivalent,
        "undecided": f"{_undecided(row)} whether {pair.b} is better than {pair.a}",
        "too few judgments": f"Too few judgments to say whether {doubted}",
    }[row.verdict]


def _undecided(row: Difference) -> str:
    contradicted = row.judge is not None and row.judge.contradicts
    return "People and the judge disagree on" if contradicted else "These queries do not show"


def judge_sentences(rows: Iterable[tuple[Pair, Difference]], shown: Shown) -> list[str]:
    """Describe where a judge contradicts people, difference by difference; nothing without a judge.

    Examples
    --------
    >>> import idealrank as ir
    >>> a, b = {f"q{i}": ["x", "y"] for i in range(9)}, {f"q{i}": ["y", "x"] for i in range(9)}
    >>> people, judge = ({query: {good: 1} for query in a} for good in "xy")
    >>> found = ir.compare(people, a, b, measures="RR", judge_qrels=judge)
    >>> judge_sentences(found.rows(), Shown(2, 2, 0.05))[0]
    'B against A by RR is undecided: people find -0.50 and the judge +0.50 (9 queries), which disagree on the sign.'
    """
    held = [(pair, row, row.judge) for pair, row in rows if row.judge is not None]
    against = [
        f"{pair.b} against {pair.a} by {row.measure} is undecided: people find {shown.signed(row.difference)} and the judge "
        f"{shown.signed(judge.difference)} ({counted(judge.n, 'query', 'queries')}), which disagree on the sign."
        for pair, row, judge in held
        if judge.contradicts
    ]
    if len(against) > _CONTRADICTED:
        against[_CONTRADICTED:] = [f"People and the judge disagree on the sign of {len(against) - _CONTRADICTED:,} more differences."]
    return against or ([_agreed([judge.n for _, _, judge in held])] if held else [])


def _agreed(queries: Sequence[int]) -> str:
    """Say that a judge contradicts no sign, and on how many queries it was heard."""
    fewest, most = min(queries), counted(max(queries), "query", "queries")
    contradicted = "contradicts no sign" if len(queries) > 1 else "does not contradict the sign"
    return f"The judge {contradicted} on {most if fewest == max(queries) else f'{fewest:,} to {most}'}."


def reach_sentences(pair: Pair, row: Difference) -> list[str]:
    """Describe the reach of the judgments: the tipping point, or the reason for its absence if unjudged documents could matter.

    Where no difference is claimed none can tip: the table has the numbers all the same.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> found = ir.compare(one, one).pairs[0]
    >>> reach_sentences(found, found["RR"])
    []
    """
    if is_identical(row):
        return []
    if row.tipping is not None and row.verdict in ("undecided", "equivalent"):
        return []
    if row.tipping is not None and about_equivalence(row):  # of which a tipping point, of a difference, says nothing
        return _equivalence_sentences(row.tipping)
    if row.verdict == "too few judgments" and row.tipping is not None and only_relevant(row.tipping):
        return _interaction_sentences(pair, row)
    unjudged = bool(row.unjudged_a or row.unjudged_b)
    clause = reach_text(row.tipping, row.tipping_reason if unjudged else None, pair.a, pair.b)
    said = [sentence(clause)] if clause else []
    if row.verdict == "too few judgments" and row.tipping is not None:
        behind = pair.a if row.tipping.side == "a" else pair.b
        which = f" that only {behind} returns" if row.tipping.own_behind else ""
        said.append(f"Judge the unjudged documents{which}, the highest ranks first, and compare again.")
    return said


def _interaction_sentences(pair: Pair, row: Difference) -> list[str]:
    better, worse = (pair.b, pair.a) if row.difference * row.direction > 0 else (pair.a, pair.b)
    return [
        sentence(ALL_RELEVANT),
        f"If none is, as evaluations of recommenders assume, {better} is better than {worse}.",
    ]


def bounds_sentences(row: Difference) -> list[str]:
    """State the bounds of a difference over all grades of unjudged documents, if there are any.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = ir.Qrels({"q": {"x": 1}}, labels_are="pooled")
    >>> runs = {"q": ["y", "x"]}, {"q": ["x", "z"]}
    >>> found = ir.compare(*(ir.evaluate(qrels, run, "RR@2", keep_unjudged=True) for run in runs))
    >>> bounds_sentences(found["RR@2"])
    ['If unjudged documents down to rank 2 may have any grade from 0 to 1, the difference is between +0.000 and +0.500.']
    """
    found = row.bounds
    if found is None or is_identical(row):
        return []
    grades = f"If unjudged documents down to rank {found.depth} may have any grade from 0 to {found.max_grade:g}"
    either = f", and either run may be ahead on {found.either:,} of {row.n:,} queries" if found.either else ""
    return [f"{grades}, the difference is between {found.low:+.3f} and {found.high:+.3f}{either}."]


def _equivalence_sentences(tipping: Tipping) -> list[str]:
    count = tipping.unjudged_a + tipping.unjudged_b + tipping.unjudged_both
    documents = f"the {count:,} unjudged {'document' if count == 1 else 'documents'} within the cutoff"
    return [
        f"At the likely relevant share of {documents}, the runs would no longer be equivalent.",
        "Judge them, the highest ranks first, and compare again.",
    ]


def numbers_text(row: Difference, method: Method, shown: Shown | None = None) -> str:
    """Both means, the difference with its interval, and p.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> found = ir.compare(one, one)
    >>> numbers_text(found["RR"], found.method)
    'RR is 1.0000 in both'
    """
    shown, tests = shown or Shown.of_rows([row], method.level), method.tests
    if is_identical(row):
        return f"{row.measure} is {shown.number(row.mean_b)} in both"
    corrected = f" after correction for {tests:,} tests" if tests > 1 else ""
    p = f"p {shown.p(row.p_corrected)}"
    if about_equivalence(row):
        p = f"p of a difference as large as the margin {shown.p(row.p_equivalence or 0.0)}"
    means = f"{row.measure} is {shown.number(row.mean_b)} against {shown.number(row.mean_a)}"
    if math.isnan(row.interval[0]):  # the reason is long, and p is not a part of it
        beside = f"{p}{corrected}; no interval: the {row.about} has none if a difference is 0 or two are equal in size"
    else:
        beside = f"{_interval(row, shown)}, {p}{corrected}"
    return f"{means}, a difference of {shown.signed(row.difference)} ({beside})"


def _interval(row: Difference, shown: Shown) -> str:
    low, high = row.interval
    level = f"{100 * row.level:g} %"
    if math.isinf(low) and math.isinf(high):
        return f"too few queries for a {level} interval"
    start, end = shown.interval(row).strip("[]()").split(", ")
    ends = f"from {start} up" if math.isinf(high) else f"from {end} down" if math.isinf(low) else f"{start} to {end}"
    return f"{level} interval {ends}" if row.about == "mean difference" else f"{level} interval of the {row.about} {ends}"


def _others(rows: Sequence[Difference]) -> list[str]:
    by_verdict: dict[str, list[str]] = {}
    for row in rows:
        by_verdict.setdefault(word(row), []).append(row.measure)
    said = [f"{verdict} ({', '.join(measures)})" for verdict, measures in by_verdict.items()]
    return [f"Verdicts by other measures: {', '.join(said)}."] if said else []


def needed_text(row: Difference, method: Method) -> str:
    """State the number of queries that would detect an undecided difference of this size, without a full stop; empty if these suffice.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> runs = [{q: ["x"] if i < hits else ["y", "x"] for i, q in enumerate(qrels)} for hits in (2, 5)]
    >>> found = ir.compare(*(ir.evaluate(qrels, run, "RR") for run in runs))
    >>> needed_text(found["RR"], found.method)
    'About 17 queries like these would detect a difference this large with 80 % power'
    """
    if row.queries_needed is None or row.queries_needed <= row.n:
        return ""
    queries, power = counted(_rounded(row.queries_needed), "query", "queries"), f"{100 * method.power:g} % power"
    return f"About {queries} like these would detect a difference this large with {power}"


def _rounded(number: int) -> int:
    """Two digits, upwards: the rest would be a promise."""
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / unit) * unit


def _summary(comparison: Comparison, shown: Shown) -> list[str]:
    """One line for each pair: what the first measure says."""
    measure = next(iter(comparison.pairs[0].measures))
    return [f"By {measure}, the first measure:", *(f"  {line}" for line in pair_lines(comparison, measure, shown))]


def pair_lines(comparison: Comparison, measure: str, shown: Shown | None = None) -> list[str]:
    """One line for each pair: what a measure says of it.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> pair_lines(ir.compare(one, one), "RR")[0].rsplit(": ", 1)[1]
    '+0.0000, p 1'
    """
    shown, lines = shown or Shown.of(comparison), []
    for pair in comparison.pairs:
        row = pair.measures[measure]
        needed = f"; {said[:1].lower()}{said[1:]}" if (said := needed_text(row, comparison.method)) else ""
        numbers = f": {shown.signed(row.difference)}, p {shown.p(row.p_corrected)}{needed}"
        lines.append(verdict_text(pair, row, comparison.method) + ("" if pair.mismatch else numbers))
    return lines


def pair_table(pair: Pair, shown: Shown, *, title: str = "", clip: int | None = None) -> Table:
    """Every measure of one pair, a row each.

    Parameters
    ----------
    pair : Pair
        Two runs.
    shown : Shown
        With how many digits.
    title : str
        Above it.
    clip : int or None
        Letters that a name has room for; None for all.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> pair_table(ir.compare(one, one).pairs[0], Shown(2, 2, 0.05)).rows[0][1].text
    '1.00'
    """
    return Table.of([_MEASURE, *_columns("pair", pair, shown, clip)], map(Line.of, pair.measures.values()), title=title)


_MEASURE: Column[Line] = Column("measure", cell=lambda line: line.measure)


def _columns(where: Where, pair: Pair, shown: Shown, clip: int | None) -> list[Column[Line]]:
    names = [name if clip is None else clipped(name, clip) for name in (pair.a, pair.b)]
    return difference_columns(where, shown, next(iter(pair.measures.values())).level, *names)


def judged_table(pair: Pair, shown: Shown, *, clip: int | None = None) -> Part:
    """Build the table of the reach of judgments, if any document is unjudged and the runs join the judgments.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> judged_table(ir.compare(one, one).pairs[0], Shown(2, 2, 0.05))
    []
    """
    rows = list(pair.measures.values())
    if pair.mismatch or not any(row.unjudged_a or row.unjudged_b for row in rows):
        return []
    return Table.of([replace(_MEASURE, title="unjudged"), *_columns("judged", pair, shown, clip)], map(Line.of, rows))


def reach_legend(parts: Iterable[Part]) -> MethodLines:
    """Explain the columns of tipping points; empty without such a column.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> reach_legend([judged_table(ir.compare(one, one).pairs[0], Shown(2, 2, 0.05))])
    []
    """
    legend = "; ".join([*meanings(["judged"]), BOTH_RUNS])
    tips = any(column.title == "tips at" for part in parts if isinstance(part, Table) for column in part.columns)
    return MethodLines(filled(legend) if tips else [])


def _rankings(pair: Pair, *, titled: bool) -> list[str]:
    """Describe the similarity of the rankings; of two runs alone the paragraph contains the first sentence."""
    return [line for sentence in unchanged(pair.rankings)[0 if titled else 1 :] for line in filled([sentence])]


def _left_out(pair: Pair) -> list[str]:
    return [
        f"{row.measure}: {counted(row.excluded_queries, 'query', 'queries')} left out, not scored in both runs; {row.n:,} compared"
        for row in pair.measures.values()
        if row.excluded_queries
    ]


def _method(comparison: Comparison, letters: Letters, *, with_pairs: bool) -> MethodLines:
    method, phrases, brief = comparison.method, [method_text(comparison)], [_TESTS[comparison.method.test]]
    if not with_pairs and method.baseline is None:
        phrases.append(letters_note(comparison, letters))
        brief.append(phrases[-1])
        phrases.append("intervals of means: Student's, of each run alone")
    else:
        tables: tuple[Where, Where] = ("pair" if with_pairs else "baseline", "slices")
        phrases += meanings(tables if method.slices is not None else tables[:1], method.power)
    every = [] if with_pairs else ["every pair: --pairs, or --format csv or json"]
    brief += design_phrases(weighted=method.weighted, clustered=method.clustered, judgments=method.judgments)
    brief += [*slice_phrases(comparison), *every]
    return MethodLines(["method", *wrapped("; ".join([*phrases, *every]))], *brief)


def comparison_json(comparison: Comparison) -> Iterator[str]:
    """JSON text: pairs, method, convention; float64 in the shortest form that reads back, null for what is not finite.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> json.loads("".join(comparison_json(ir.compare(one, one))))["pairs"][0]["measures"]["RR"]["interval"]
    [0.0, 0.0]
    """
    record = comparison.as_dict()
    record["method"]["schema"] = SCHEMA
    yield json.dumps(record, indent=2) + "\n"


def comparison_rows(comparison: Comparison) -> Iterator[Row]:
    """Titles, a pair and measure a row, and below it its slices; empty where a number is not finite or was not measured.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> next(comparison_rows(ir.compare(one, one)))[:3]
    ['a', 'b', 'measure']
    """
    method = comparison.method
    how = {"test": method.test, "seed": method.seed, "convention": str(comparison.convention)}
    yield from record_rows(record | how for record in comparison.records())
