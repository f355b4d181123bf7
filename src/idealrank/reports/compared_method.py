"""How a comparison was made, in phrases."""

from idealrank.reports.compared_slices import slice_phrases
from idealrank.reports.words import JUDGED
from idealrank.verdict import Comparison
from idealrank.verdict.families import MANY as CORRECTED_TOGETHER

_TESTS = {
    "permutation": "sign-flip permutation test",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
}


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
    phrases += JUDGED[method.judgments]
    return "; ".join([*phrases, *slice_phrases(comparison)])


def mark_note(comparison: Comparison, mark: str) -> str:
    """What a mark beside a difference means: test, correction and level.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["RR", "AP"])
    >>> mark_note(ir.compare(one, one), "*")
    "* p at most 0.05: sign-flip permutation test, two-sided, after Holm's correction for 2 tests."
    """
    method = comparison.method
    how = "Holm's correction" if method.correction == "holm" else f"correction ({method.correction})"
    corrected = f", after {how} for {method.tests:,} tests" if method.tests > 1 else ""
    slices = method.families.get("slices", 0)
    of_slices = f"; slices after Holm's correction for {slices:,} tests of their own" if slices > 1 else ""
    return f"{mark} p at most {1 - method.level:.12g}: {_TESTS[method.test]}, two-sided{corrected}{of_slices}."
