"""Method of a comparison, in phrases."""

from idealrank.analysis.comparison import Comparison
from idealrank.reports.views.comparison.slices import slice_phrases
from idealrank.reports.views.comparison.verdicts import correction_word
from idealrank.reports.views.conventions import JUDGED

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
    weighting = [word for word, used in (("weighted", method.weighted), ("in clusters", method.clustered)) if used]
    phrases += [f"queries {' and '.join(weighting)}"] if weighting else []
    phrases += JUDGED[method.judgments]
    return "; ".join([*phrases, *slice_phrases(comparison)])


def mark_note(comparison: Comparison, mark: str) -> str:
    """Explain the mark of a difference: test, correction and level.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["RR", "AP"])
    >>> mark_note(ir.compare(one, one), "*")
    '* p at most 0.05: sign-flip permutation test, two-sided; RR is tested alone; the other measure is tested alone.'
    """
    method = comparison.method
    return f"{mark} p at most {1 - method.level:.12g}: {_TESTS[method.test]}, two-sided; {'; '.join(family_phrases(comparison))}."


def family_phrases(comparison: Comparison) -> list[str]:
    """Describe the families that are corrected together: the first measure, its companions, slices.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["RR", "AP", "P@1"])
    >>> family_phrases(ir.compare(one, one))
    ['RR is tested alone', '2 tests of the other measures corrected together (max-T)']
    """
    method, first = comparison.method, next(iter(comparison.pairs[0].measures))
    how = correction_word(method.correction)
    said = {
        "primary measure": lambda n: f"{n:,} tests of {first} corrected together ({how})",
        "companions": lambda n: f"{n:,} tests of the other measures corrected together ({how})",
        "slices": lambda n: f"{n:,} slices of {first} corrected together ({how})",
        "slices of companions": lambda n: f"{n:,} slices of the other measures corrected together ({how})",
    }
    alone = {"primary measure": f"{first} is tested alone", "companions": "the other measure is tested alone"}
    return [said[name](n) if n > 1 else alone[name] for name, n in method.families.items() if n > 1 or name in alone]
