"""Other forms of a measure, which tools and papers print under the same name: another relevance
threshold, gains of 1, another number to divide by.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

from idealrank.errors import OptionError
from idealrank.measures.binary import AP, P, R
from idealrank.measures.cwl import SDCG
from idealrank.measures.dcg import DCG, NDCG, MeanNDCG
from idealrank.measures.measure import Measure
from idealrank.measures.measure_texts import number_text
from idealrank.measures.precision import RelativeP

_MOST_THRESHOLDS = 10  # more different grades are no scale of a person

_POSSIBLE = "divided by what the cutoff can hold"
_FULL = "divided by the gain of a list without a document that is not relevant"
_WHOLE = "divided by all relevant documents"
# By measure: measures that have its name elsewhere, and in whose tools.
_TWINS: dict[type[Measure], tuple[tuple[type[Measure], str], ...]] = {
    NDCG: (
        (SDCG, f"{_FULL}, as in RecTools"),
        (MeanNDCG, "the mean over all cutoffs, as in LETOR"),
    ),
    SDCG: ((NDCG, "divided by the ideal of the query"),),
    MeanNDCG: ((NDCG, "of the whole list"),),
    R: ((RelativeP, f"{_POSSIBLE}, as the recall of LensKit"),),
    P: ((RelativeP, f"{_POSSIBLE}, as the R-precision of RecTools"),),
    RelativeP: ((R, _WHOLE), (P, "divided by the cutoff")),
}


class Form(NamedTuple):
    """A measure that may have been meant."""

    measure: Measure
    words: str  # How it differs from the measure asked


def other_forms(measure: Measure, grades: Sequence[float]) -> list[Form]:
    """Forms of a measure on judgments with these grades above 0, rising; the plainest first.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measure
    >>> [str(form.measure) for form in other_forms(parse_measure("R@20"), [1.0, 2.0])]
    ['RelP@20', 'R(rel=2)@20', 'RelP(rel=2)@20']
    """
    twins = [Form(measure, ""), *_twins(measure)]
    forms = twins[1:]
    for twin in twins:
        forms += [
            Form(form.measure, "; ".join(filter(None, (form.words, twin.words))))
            for form in _with_thresholds(twin.measure, grades)
        ]
    by_measure: dict[Measure, Form] = {}
    for form in forms:
        if form.measure != measure:
            by_measure.setdefault(form.measure, form)
    return list(by_measure.values())


def _twins(measure: Measure) -> Iterator[Form]:
    if type(measure) is AP and measure.cutoff is not None:
        if measure.divisor == "reachable":
            yield Form(replace(measure, divisor=None), _WHOLE)
        else:
            words = f"{_POSSIBLE}, as in implicit and in Kaggle's competitions"
            yield Form(replace(measure, divisor="reachable"), words)
    for cls, words in _TWINS.get(type(measure), ()):
        names = {field.name for field in fields(cls)} & {field.name for field in fields(measure)}
        options = {name: getattr(measure, name) for name in names}
        if cls.cuts == "none":
            options["cutoff"] = None
        try:
            yield Form(cls(**options), words)
        except OptionError:  # P needs a cutoff, which R need not have
            continue


def _with_thresholds(measure: Measure, grades: Sequence[float]) -> Iterator[Form]:
    names = {field.name for field in fields(measure)}
    if "rel" not in names:
        return
    weighs_grades = isinstance(measure, DCG | NDCG | MeanNDCG)
    for grade in _thresholds(measure, grades, weighs_grades=weighs_grades):
        words = f"relevant from grade {number_text(grade)}"
        changed = replace(measure, rel=grade)  # type: ignore[call-arg]
        yield Form(changed, words)
        if weighs_grades and measure.gain is None:  # type: ignore[attr-defined]
            yield Form(replace(changed, gain="binary"), f"{words}, with gain 1")  # type: ignore[call-arg]


def _thresholds(
    measure: Measure, grades: Sequence[float], *, weighs_grades: bool
) -> Iterator[float]:
    """Grades from which documents may have been relevant, other than the threshold asked."""
    asked = getattr(measure, "rel", None)
    if asked is None and not weighs_grades:
        asked = 1.0
    for grade in grades[:_MOST_THRESHOLDS]:
        # From the lowest grade on, all documents with a gain count, as without a threshold.
        if grade != asked and not (asked is None and grade == grades[0] <= 1):
            yield grade
