"""A difference as results that users get: 'about 1.2 fewer relevant results in ten', where the measure counts results."""

import math

from idealrank.analysis.comparison import Difference, Pair
from idealrank.errors import IdealrankError
from idealrank.measures.binary import P, R
from idealrank.measures.measure import Measure
from idealrank.measures.measure_texts import number_text
from idealrank.measures.parse import parse_measure
from idealrank.measures.precision import Success

_NUMBERS = dict(enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1))
_SAID = ("better", "worse", "equivalent", "undecided")  # a difference that the judgments do not carry is not put into plain words
_SMALL = 0.05  # counts below it round to 0.0 and get two digits


def plain_sentence(pair: Pair) -> str:
    """The difference by the first measure as results, with its interval; by precision at its cutoff where that measure counts none.

    Parameters
    ----------
    pair : Pair
        Two runs compared; the first measure is the primary one.

    Returns
    -------
    str
        A sentence that names its measure; empty where neither measure counts results, where the means are equal, and where the verdict is
        that the judgments do not carry the difference.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1, "y": 1} for i in range(8)}
    >>> a, b = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), ["nDCG@10", "P@10"]) for ranking in (["x", "y"], ["x", "z"]))
    >>> plain_sentence(ir.compare(a, b).pairs[0])
    'By P@10, about 1.0 fewer relevant results in ten (95 % interval: 1.0 to 1.0 fewer).'
    """
    if pair.mismatch:
        return ""
    first, *others = pair.measures.values()
    cutoff = getattr(_measure(first), "cutoff", None)
    beside = [row for row in others if isinstance(one := _measure(row), P) and one.cutoff == cutoff and one.rel is None]
    for row in [first] if _counts(first) else beside[:1]:
        if said := plain_effect(row):
            return f"By {row.measure}, {said}."
    return ""


def plain_effect(row: Difference) -> str:
    """One difference of P@k, Success@k or R@k as a number of results, queries or documents, with its interval.

    Empty for other measures, for means that are equal, and where an undecided difference has no interval.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> rankings = [{q: ["x"] if i < hits else ["y"] for i, q in enumerate(qrels)} for hits in (8, 2)]
    >>> row = ir.compare(*(ir.evaluate(qrels, run, "Success@5") for run in rankings))["Success@5"]
    >>> plain_effect(row)
    'about 75 fewer queries in 100 with a relevant result in the first five (95 % interval: 33 to 100 fewer)'
    """
    found = _counts(row)
    if found is None or row.verdict not in _SAID or not row.difference:
        return ""
    scale, what, digits = found
    text = f"about {_count(row.difference * scale, digits)} {_word(row.difference)} {what}"
    low, high = (end * scale for end in row.interval)
    if row.about != "mean difference" or not math.isfinite(high - low):
        return "" if row.verdict == "undecided" else text  # nothing then says that it may be chance
    near, far = sorted((low, high), key=abs)
    crossing, same = f"{_count(low, digits)} fewer to {_count(high, digits)} more", f"{_count(near, digits)} to {_count(far, digits)}"
    between = crossing if low < 0 < high else f"{same} {_word(far)}"
    return f"{text} ({100 * row.level:g} % interval: {between})"


def _counts(row: Difference) -> tuple[float, str, int] | None:
    """Return the unit of a measure, its size, and its decimals; None if the measure counts nothing."""
    measure = _measure(row)
    if not isinstance(measure, P | R | Success) or measure.judged_only or not isinstance(measure.cutoff, int):
        return None
    k, grade = measure.cutoff, "" if measure.rel is None else f" of grade {number_text(measure.rel)} or more"
    first = "as the first result" if k == 1 else f"in the first {_number(k)}"
    one, several = (f"result{ending}{grade}" if grade else f"relevant result{ending}" for ending in ("", "s"))
    if isinstance(measure, R):
        documents = f"documents{grade}" if grade else "relevant documents"
        return 100.0, f"of every 100 {documents} {first}", 0
    if isinstance(measure, Success) or k == 1:
        return 100.0, f"queries in 100 with a {one} {first}" if k > 1 else f"queries in 100 whose first result is {_is(grade)}", 0
    return float(k), f"{several} in {_number(k)}", 1


def _is(grade: str) -> str:
    return grade.strip() or "relevant"


def _measure(row: Difference) -> Measure | None:
    try:
        return parse_measure(row.measure)
    except IdealrankError:  # a measure of somebody's own
        return None


def _number(k: int) -> str:
    return _NUMBERS.get(k, f"{k:,}")


def _word(value: float) -> str:
    return "more" if value > 0 else "fewer"


def _count(value: float, digits: int) -> str:
    """Without its sign; two digits where so few decimals would be 0."""
    size = abs(value)
    return f"{size:.{digits}f}" if not size or size >= _SMALL * 10 ** (1 - digits) else f"{size:.1g}"
