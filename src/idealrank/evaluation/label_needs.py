"""Measures that cannot be read under some labels: they compare judged documents alone, and all of
these are alike.

Labels that name only what is relevant leave AUC, Bpref and measures of judged documents nothing to
compare with: a list and its reverse have the same value.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from idealrank.data.label_kinds import Labels
from idealrank.data.types import FloatArray
from idealrank.errors import warn
from idealrank.evaluation.coverage import Coverage
from idealrank.measures.counts import NumRet
from idealrank.measures.judgedness import JudgedShare
from idealrank.measures.measure import Measure
from idealrank.measures.measure_texts import number_text

ALIKE = (
    "judged documents are all alike under positive-only labels, so a list and its reverse have "
    "the same value"
)

_ENOUGH = 0.1  # share of the queries with something to compare, as for pooled labels
# Highest rating of a scale, and how many different ratings distinguish the scale from grades
_TOPS = {5.0: 4, 10.0: 6}
_LIKED = 0.8  # of the highest rating: 4 of 5, 8 of 10


def unreadable(measure: Measure, labels: Labels | None, coverage: Coverage) -> str:
    """Reason why the values of a measure say nothing under these labels; empty if they do."""
    if labels is None or labels.kind != "positive-only" or not measure.compares_judged:
        return ""
    counts = coverage.by_measure.get(str(measure))
    comparable = None if counts is None else counts.comparable
    if comparable and comparable >= _ENOUGH * coverage.scored:
        return ""
    has_threshold = getattr(measure, "rel", None) is not None
    return "" if counts is None and has_threshold else ALIKE


def warn_of_labels(measures: Sequence[Measure], labels: Labels | None, coverage: Coverage) -> None:
    """Warn of the measures that cannot be read under these labels, companions of others left
    out.
    """
    unreadable_measures = [
        measure
        for measure in measures
        if unreadable(measure, labels, coverage) and not _is_companion(measure, measures)
    ]
    if unreadable_measures:
        warn(f"{', '.join(map(str, unreadable_measures))}: {ALIKE}; {way_out(unreadable_measures)}")


def way_out(measures: Sequence[Measure]) -> str:
    """Name measures that count documents without a label as not relevant, one in place of each."""
    others = list(dict.fromkeys(map(_in_place_of, measures)))
    verb = "counts" if len(others) == 1 else "count"
    return f"{', '.join(others)} {verb} documents without a label as not relevant"


def _in_place_of(measure: Measure) -> str:
    if measure.judged_only and not measure.compares:
        return str(replace(measure, judged_only=None))
    return "AP" if measure.response == "upward" else "Accuracy"


def _is_companion(measure: Measure, measures: Sequence[Measure]) -> bool:
    """Return whether a measure of judged documents was added beside another one, as
    `with_companions` does.
    """
    if not measure.judged_only:
        return False
    others = (
        replace(measure, judged_only=None),
        JudgedShare(cutoff=measure.cutoff),
        NumRet(cutoff=measure.cutoff),
    )
    return all(companion in measures for companion in others)


def warn_of_ratings(measures: Sequence[Measure], labels: Labels | None, grades: FloatArray) -> None:
    """Warn of what `every_rating_counts` describes."""
    if doubt := every_rating_counts(measures, labels, grades):
        warn(doubt)


def every_rating_counts(
    measures: Sequence[Measure], labels: Labels | None, grades: FloatArray
) -> str:
    """Describe ratings, the lowest of which count as relevant for a binary measure without a
    threshold; empty without them.
    """
    if labels is None or labels.kind != "positive-only":
        return ""
    unset: list[Any] = [
        measure
        for measure in measures
        if measure.direction
        and getattr(measure, "rel", 1) is None
        and not _distinguishes(measure, grades)
    ]
    if not unset or not look_like_ratings(grades):
        return ""
    low = float(grades.min())
    high = float(grades.max())
    example = replace(unset[0], rel=_LIKED * high)
    scale = f"grades {number_text(low)} to {number_text(high)} look like ratings"
    return f"{scale}: every rated item counts as relevant for {unset[0]}; set rel, as in {example}"


def _distinguishes(measure: Measure, grades: FloatArray) -> bool:
    """Return whether a measure with gains of its own gives some of these grades another gain."""
    gains = measure.worth(grades) if hasattr(measure, "gain") else None
    return gains is not None and bool((gains != gains[:1]).any())


def look_like_ratings(grades: FloatArray) -> bool:
    """Return whether grades are steps of a scale up to 5 or 10, whole or half, and many of its
    steps occur.
    """
    if not grades.size or grades.min() <= 0 or float(grades.max()) not in _TOPS:
        return False
    steps = np.unique(grades)
    return bool(np.all(2 * steps == np.floor(2 * steps)) and steps.size >= _TOPS[float(steps[-1])])
