"""The report of `idealrank compare`: a paragraph that anyone can read, tables, and how it was found out."""

import math
from collections.abc import Sequence
from dataclasses import replace

from idealrank.analysis.comparison import Comparison, Difference, Method, Pair
from idealrank.analysis.comparison.differences import about_equivalence
from idealrank.analysis.comparison.tipping import Tipping
from idealrank.reports.table.cells import Column, Table
from idealrank.reports.table.layout import clipped, filled, wrapped
from idealrank.reports.table.parts import Part
from idealrank.reports.views.comparison.columns import Line, Shown, Where, difference_columns
from idealrank.reports.views.comparison.league import is_many, opening
from idealrank.reports.views.comparison.letters import Letters, letters_note
from idealrank.reports.views.comparison.method import method_text
from idealrank.reports.views.comparison.plain_effects import plain_sentence
from idealrank.reports.views.comparison.rankings import unchanged
from idealrank.reports.views.comparison.reach import BOTH_RUNS, reach_text, sentence
from idealrank.reports.views.comparison.slices import slice_parts
from idealrank.reports.views.comparison.verdicts import is_identical, word
from idealrank.reports.views.conventions import paragraph, unanswered, warned

_NAME = 14


def comparison_parts(
    comparison: Comparison, *, every_pair: bool = False, digits: int | None = None, letters: Letters = "better"
) -> list[Part]:
    """The whole report: of two to five runs pair by pair, of more the groups that cannot be told apart.

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
        parts += [pair_table(pair, shown, title=f"{pair.b} against {pair.a}" if several else "", clip=_NAME)]
        parts += [judged_table(pair, shown, clip=_NAME), _rankings(pair, titled=several), _left_out(pair)]
    parts += slice_parts(comparison, shown, with_pairs=with_pairs)
    parts += [filled(said) for said in [unanswered(comparison.missing), _unknown(comparison)] if many or several]
    measures = [row.measure for row in first.measures.values()]
    return [*parts, _method(comparison, letters, with_pairs=with_pairs), paragraph(comparison.convention, measures)]


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
        said.append(f"{pair.b} is better on {first.wins:,}, equal on {first.ties:,} and worse on {first.losses:,} of {_queries(first.n)}.")
    said += [comparison.reach_unknown] if comparison.reach_unknown else reach_sentences(pair, first)
    missing = {name: number for name, number in comparison.missing.items() if name in (pair.a, pair.b)}
    said += [*unanswered(missing), *unchanged(pair.rankings)[:1]]
    said += [f"{needed}."] if (needed := needed_text(first, method)) else []
    if math.isinf(first.detectable):
        said.append(f"{_queries(first.n)} cannot detect any difference by this test, however large.")
    elif math.isfinite(first.detectable):
        said.append(f"These queries detect a true difference of {shown.number(first.detectable)} with {100 * method.power:g} % power.")
    return said + _others(others)


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
        "undecided": f"These queries do not show whether {pair.b} is better than {pair.a}",
        "judgments do not reach": f"The judgments do not reach far enough to say whether {doubted}",
    }[row.verdict]


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
    unjudged = bool(row.unjudged_a or row.unjudged_b)
    clause = reach_text(row.tipping, row.tipping_reason if unjudged else None, pair.a, pair.b)
    said = [sentence(clause)] if clause else []
    if row.verdict == "judgments do not reach" and row.tipping is not None:
        behind = pair.a if row.tipping.side == "a" else pair.b
        which = f"that only {behind} shows" if row.tipping.own_behind else "without a judgment"
        said.append(f"Judge the documents {which}, the highest ranks first, and compare again.")
    return said


def _equivalence_sentences(tipping: Tipping) -> list[str]:
    count = tipping.unjudged_a + tipping.unjudged_b + tipping.unjudged_both
    documents = f"the {count:,} {'document' if count == 1 else 'documents'} within the cutoff without a judgment"
    return [
        f"If as many of {documents} were relevant as is likely, this equivalence would no longer be shown.",
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
    'RR 1.0000 in both'
    """
    shown, tests = shown or Shown.of_rows([row], method.level), method.tests
    if is_identical(row):
        return f"{row.measure} {shown.number(row.mean_b)} in both"
    corrected = f" after correction for {tests:,} tests" if tests > 1 else ""
    p = f"p {shown.p(row.p_corrected)}"
    if about_equivalence(row):
        p = f"p of a difference as large as the margin {shown.p(row.p_equivalence or 0.0)}"
    means = f"{row.measure} {shown.number(row.mean_b)} against {shown.number(row.mean_a)}"
    return f"{means}, {shown.signed(row.difference)} ({_interval(row, shown)}), {p}{corrected}"


def _interval(row: Difference, shown: Shown) -> str:
    low, high = row.interval
    level = f"{100 * row.level:g} %"
    if math.isnan(low):
        return f"no interval: {row.about} has none where differences are zero or equal"
    if math.isinf(low) or math.isinf(high):
        return f"too few queries for a {level} interval"
    ends = " to ".join(shown.interval(row).strip("[]").split(", "))
    return f"{level} interval {ends}" if row.about == "mean difference" else f"{level} interval of the {row.about} {ends}"


def _others(rows: Sequence[Difference]) -> list[str]:
    by_verdict: dict[str, list[str]] = {}
    for row in rows:
        by_verdict.setdefault(word(row), []).append(row.measure)
    said = [f"{verdict} ({', '.join(measures)})" for verdict, measures in by_verdict.items()]
    return [f"Other measures say: {', '.join(said)}."] if said else []


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
    queries, power = _queries(_rounded(row.queries_needed)), f"{100 * method.power:g} % power"
    return f"About {queries} like these would detect a difference this large with {power}"


def _rounded(number: int) -> int:
    """Two digits, upwards: the rest would be a promise."""
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / unit) * unit


def _queries(number: int) -> str:
    return f"{number:,} {'query' if number == 1 else 'queries'}"


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
    note = (
        "tips at: share of the unjudged documents of the run behind that, if relevant, undo the significance (paired t); "
        "turns at: the share that turns the sign; likely: relevant at most (run behind) and at least (run ahead), by judged "
        "documents at these ranks; " + BOTH_RUNS
    )
    notes = [note] if any(row.tipping is not None for row in rows) else []
    return Table.of([replace(_MEASURE, title="unjudged"), *_columns("judged", pair, shown, clip)], map(Line.of, rows), notes=notes)


def _rankings(pair: Pair, *, titled: bool) -> list[str]:
    """Describe the similarity of the rankings; of two runs alone the paragraph contains the first sentence."""
    return [line for sentence in unchanged(pair.rankings)[0 if titled else 1 :] for line in filled([sentence])]


def _left_out(pair: Pair) -> list[str]:
    return [
        f"{row.measure}: {_queries(row.excluded_queries)} left out, not scored in both runs; {row.n:,} compared"
        for row in pair.measures.values()
        if row.excluded_queries
    ]


def _method(comparison: Comparison, letters: Letters, *, with_pairs: bool) -> list[str]:
    phrases = [method_text(comparison)]
    if not with_pairs and comparison.method.baseline is None:
        phrases.append(letters_note(comparison, letters))
        phrases.append("intervals of means: Student's, of each run alone")
    else:
        phrases.append("+/=/-: queries on which the second run is better, equal, worse")
        phrases += ["d_z: difference over its standard deviation"] if with_pairs else []
        phrases.append(f"detectable: the smallest true difference that these queries detect with {100 * comparison.method.power:g} % power")
    phrases += [] if with_pairs else ["every pair: --pairs, or --format csv or json"]
    return ["method", *wrapped("; ".join(phrases))]
