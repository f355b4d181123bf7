"""The report of `idealrank compare`: a paragraph that anyone can read, tables, and how it was found out."""

import math
from collections.abc import Sequence

from idealrank.reports.compared_cells import cells
from idealrank.reports.compared_many import is_many, opening
from idealrank.reports.compared_rankings import unchanged
from idealrank.reports.compared_slices import slice_phrases, slice_sections
from idealrank.reports.digits import p_text
from idealrank.reports.layout import clipped, filled, fitted, wrapped
from idealrank.reports.words import paragraph, unanswered
from idealrank.verdict import Comparison, Difference, Method, Pair
from idealrank.verdict.many import MANY as CORRECTED_TOGETHER

_NAME = 14
_TESTS = {
    "permutation": "sign-flip permutation test",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
}


def comparison_table(comparison: Comparison, *, every_pair: bool = False) -> str:
    """The whole report: of two to five runs pair by pair, of more the groups that cannot be told apart.

    Parameters
    ----------
    comparison : Comparison
        What is to be shown.
    every_pair : bool
        Every pair of many runs besides.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(6)}
    >>> a, b = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> print(comparison_table(ir.compare(a, b)).splitlines()[0])
    run (2) is better than run: RR 1.0000 against 0.5000, +0.5000 (95 % interval +0.5000 to +0.5000), p
    """
    pairs, first, many = comparison.pairs, comparison.pairs[0], is_many(comparison)
    parts = opening(comparison) if many else [_summary(comparison) if len(pairs) > 1 else _paragraph(comparison)]
    with_pairs = every_pair or not many
    for pair in pairs if with_pairs else ():
        parts += [_table(pair, titled=len(pairs) > 1)]
        parts += [lines for lines in (_judgments(pair), _rankings(pair, titled=len(pairs) > 1), _left_out(pair)) if lines]
    parts += slice_sections(comparison, with_pairs=with_pairs)
    parts += [filled(said) for said in [unanswered(comparison.missing)] if said and (many or len(pairs) > 1)]
    measures = [row.measure for row in first.measures.values()]
    parts += [_method(comparison, with_pairs=with_pairs), paragraph(comparison.convention, measures)]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _paragraph(comparison: Comparison) -> list[str]:
    """What the first measure says, in sentences; then what the others say."""
    return filled(sentences(comparison, comparison.pairs[0]))


def sentences(comparison: Comparison, pair: Pair) -> list[str]:
    """What a pair says by the first measure, the verdict first; then what the other measures say.

    Parameters
    ----------
    comparison : Comparison
        Whose pair it is.
    pair : Pair
        Two of its runs.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> found = ir.compare(one, one)
    >>> sentences(found, found.pairs[0])[0].split(":")[0]
    'run (2) and run cannot be told apart, for they have the same value on every query'
    """
    method = comparison.method
    first, *others = pair.measures.values()
    said = [f"{verdict_text(pair, first, method)}: {numbers_text(first, method)}."]
    if first.wins or first.losses:
        said.append(f"{pair.b} is better on {first.wins:,}, equal on {first.ties:,} and worse on {first.losses:,} of {_queries(first.n)}.")
    missing = {name: number for name, number in comparison.missing.items() if name in (pair.a, pair.b)}
    said += [*unanswered(missing), *unchanged(pair.rankings)[:1]]
    if first.queries_needed is not None and first.queries_needed > first.n:
        said.append(f"To see a difference of this size would take about {_queries(_rounded(first.queries_needed))} like these.")
    if math.isinf(first.detectable):
        said.append("So few queries cannot show any difference by this test, however large.")
    elif math.isfinite(first.detectable):
        said.append(f"A true difference of {first.detectable:.4f} is seen four times in five, smaller ones less often.")
    return said + _others(others)


def verdict_text(pair: Pair, row: Difference, method: Method) -> str:
    """What one measure says of a pair, without numbers.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(6)}
    >>> a, b = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> found = ir.compare(a, b)
    >>> verdict_text(found.pairs[0], found["RR"], found.method)
    'run (2) is better than run'
    """
    if not row.wins and not row.losses:
        return f"{pair.b} and {pair.a} cannot be told apart, for they have the same value on every query"
    return {
        "better": f"{pair.b} is better than {pair.a}",
        "worse": f"{pair.b} is worse than {pair.a}",
        "equivalent": f"{pair.b} and {pair.a} are equivalent, within {method.margin or 0:g} of each other",
        "undecided": f"These queries cannot decide whether {pair.b} is better than {pair.a}",
    }[row.verdict]


def numbers_text(row: Difference, method: Method) -> str:
    """Both means, the difference with its interval, and p.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> found = ir.compare(one, one)
    >>> numbers_text(found["RR"], found.method)
    'RR 1.0000 against 1.0000, +0.0000 (95 % interval +0.0000 to +0.0000), p 1'
    """
    tests = method.tests
    corrected = f" after correction for {tests:,} tests" if tests > 1 else ""
    p = row.p_equivalence if row.verdict == "equivalent" and row.p_equivalence is not None else row.p_corrected
    return f"{row.measure} {row.mean_b:.4f} against {row.mean_a:.4f}, {row.difference:+.4f} ({_interval(row)}), p {p_text(p)}{corrected}"


def _interval(row: Difference) -> str:
    low, high = row.interval
    level = f"{100 * row.level:g} %"
    if math.isnan(low):
        return f"no interval: {row.about} has none where differences are zero or equal"
    if math.isinf(low) or math.isinf(high):
        return f"too few queries for a {level} interval"
    if row.about == "mean difference":
        return f"{level} interval {low:+.4f} to {high:+.4f}"
    return f"{level} interval of the {row.about} {low:.4f} to {high:.4f}"


def _others(rows: Sequence[Difference]) -> list[str]:
    by_verdict: dict[str, list[str]] = {}
    for row in rows:
        by_verdict.setdefault(row.verdict, []).append(row.measure)
    said = [f"{verdict} ({', '.join(measures)})" for verdict, measures in by_verdict.items()]
    return [f"Other measures say: {', '.join(said)}."] if said else []


def _rounded(number: int) -> int:
    """Two digits, upwards: the rest would be a promise."""
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / unit) * unit


def _queries(number: int) -> str:
    return f"{number:,} {'query' if number == 1 else 'queries'}"


def _summary(comparison: Comparison) -> list[str]:
    """One line for each pair: what the first measure says."""
    measure = next(iter(comparison.pairs[0].measures))
    return [f"By {measure}, the first measure:", *(f"  {line}" for line in pair_lines(comparison, measure))]


def pair_lines(comparison: Comparison, measure: str) -> list[str]:
    """One line for each pair: what a measure says of it.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> pair_lines(ir.compare(one, one), "RR")[0].rsplit(": ", 1)[1]
    '+0.0000, p 1'
    """
    lines = []
    for pair in comparison.pairs:
        row = pair.measures[measure]
        needed = f" (about {_queries(_rounded(row.queries_needed))} would be needed)" if row.queries_needed else ""
        lines.append(f"{verdict_text(pair, row, comparison.method)}: {row.difference:+.4f}, p {p_text(row.p_corrected)}{needed}")
    return lines


def _table(pair: Pair, *, titled: bool) -> list[str]:
    a, b = clipped(pair.a, _NAME), clipped(pair.b, _NAME)
    level = next(iter(pair.measures.values())).level
    rows = [["measure", a, b, "difference", f"{100 * level:g} % interval", "p", "+/=/-", "d_z", "visible", "verdict"]]
    rows += [cells(row) for row in pair.measures.values()]
    return [*([f"{pair.b} against {pair.a}"] if titled else []), *fitted(rows)]


def _judgments(pair: Pair) -> list[str]:
    """How far the judgments reach, where they do not reach everything."""
    rows = list(pair.measures.values())
    if not any(row.unjudged_a or row.unjudged_b for row in rows):
        return []
    head = ["unjudged", clipped(pair.a, _NAME), clipped(pair.b, _NAME), "difference on judged documents"]
    return fitted([head, *([row.measure, _share(row.unjudged_a), _share(row.unjudged_b), _signed(row.difference_judged)] for row in rows)])


def _rankings(pair: Pair, *, titled: bool) -> list[str]:
    """How alike the rankings are; of two runs alone the paragraph has said the first."""
    return [line for sentence in unchanged(pair.rankings)[0 if titled else 1 :] for line in filled([sentence])]


def _left_out(pair: Pair) -> list[str]:
    return [
        f"{row.measure}: {_queries(row.excluded_queries)} left out, not scored in both runs; {row.n:,} compared"
        for row in pair.measures.values()
        if row.excluded_queries
    ]


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _signed(difference: float | None) -> str:
    return "-" if difference is None else f"{difference:+.4f}"


def method_text(comparison: Comparison) -> str:
    """How it was compared, in phrases.

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
    if (tests := method.tests) > 1:
        phrases.append(f"p and verdict corrected for {tests:,} tests ({'Holm' if method.correction == 'holm' else method.correction})")
    if len(comparison.names) > CORRECTED_TOGETHER and method.correction == "holm":
        phrases.append("intervals hold pair by pair, not all at once")
        phrases.append("a correction of all pairs at once takes --correction auto, --test permutation, no --margin, and every query scored")
    if method.margin is not None:
        phrases.append(f"margin {method.margin:g}")
    weighting = [word for word, used in (("weighted", method.weighted), ("in clusters", method.clustered)) if used]
    phrases += [f"queries {' and '.join(weighting)}"] if weighting else []
    return "; ".join([*phrases, *slice_phrases(comparison)])


def _method(comparison: Comparison, *, with_pairs: bool) -> list[str]:
    phrases = [method_text(comparison)]
    if not with_pairs and comparison.method.baseline is None:
        phrases.append(f"runs that share a letter cannot be told apart: their corrected p is above {1 - comparison.method.level:g}")
        phrases.append("intervals of means: Student's, of each run alone")
    else:
        phrases.append("+/=/-: queries on which the second run is better, equal, worse")
        phrases += ["d_z: difference over its standard deviation"] if with_pairs else []
        phrases.append("visible: the smallest true difference that so many queries find four times in five")
    phrases += [] if with_pairs else ["every pair: --pairs, or --format csv or json"]
    return ["method", *wrapped("; ".join(phrases))]
