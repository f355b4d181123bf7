"""Judgments and runs that do not meet: data that no verdict can rest on are refused, and one run that does not join is named."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.evaluation.coverage import VALIDATE, Coverage, without_relevant_words
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.judgedness import JudgedShare, Unjudged
from idealrank.measures.measure import Measure

_NAMED = 3  # runs in one message


@dataclass(frozen=True, kw_only=True)
class WithWarnings:
    """A result that names the runs whose values mean nothing.

    Attributes
    ----------
    mismatches : mapping of str to str
        By run: why its values mean nothing, in a phrase without the name. Empty if every run has a judged document.

    Examples
    --------
    >>> WithWarnings(mismatches={"new": "has no judged document; do the document ids of both match?"}).warnings
    ('run new has no judged document; do the document ids of both match?',)
    """

    mismatches: Mapping[str, str] = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The mismatches as sentences, a run each."""
        return tuple(f"run {name} {phrase}" for name, phrase in self.mismatches.items())


def mismatches(evaluations: Sequence[Evaluation], names: Sequence[str], measure: Measure) -> dict[str, str]:
    """Refuse evaluations that say nothing about any run; name the runs that say nothing where others do.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of all runs of one question.
    names : sequence of str
        Their names, each once.
    measure : Measure
        The primary one: judgments are refused if none has a grade that it counts.

    Returns
    -------
    dict
        See `WithWarnings`.

    Raises
    ------
    InputError
        No run has a judged document or answers a judged query, or no judged grade counts.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 0}}, {"q": ["x"]}, "RR")
    >>> mismatches([one], ["run"], one.measures[0])
    Traceback (most recent call last):
    idealrank.errors.InputError: judgments: 1 of 1 queries have no grade above 0; NDCG is undefined there; expected a grade that RR counts
    """
    values = [one.values[one.scored[:, column], column] for one in evaluations for column in [one.measures.index(measure)]]
    resolved = measure.under(evaluations[0].convention)
    return mismatches_of(dict(zip(names, (one.coverage for one in evaluations), strict=True)), resolved, values)


def mismatches_of(coverages: Mapping[str, Coverage], measure: Measure, values: Sequence[FloatArray]) -> dict[str, str]:
    """Decide `mismatches` from coverages by run, the measure with every option set, and its values over the queries that count.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> mismatches_of({"one": one.coverage}, one.measures[0], [one["RR"]])
    {}
    """
    found = {name: coverage.mismatch for name, coverage in coverages.items() if coverage.mismatch}
    if len(found) == len(coverages):
        shown = [f"run {name}: {coverages[name].mismatch_words}" for name in list(found)[:_NAMED]]
        more = [f"{len(found) - _NAMED:,} more runs likewise"] if len(found) > _NAMED else []
        raise InputError(f"{'; '.join([*shown, *more])}; {VALIDATE}")
    _refuse_without_relevant(list(coverages.values()), measure, values)
    return found


def _refuse_without_relevant(coverages: Sequence[Coverage], measure: Measure, values: Sequence[FloatArray]) -> None:
    """Refuse judgments without a grade that the measure counts.

    A value other than that of a query without a relevant document shows that something counted: negative grades that are kept, or
    grade 0 by a gain of one's own.
    """
    if measure.needs or not measure.looks_at_grades or isinstance(measure, JudgedShare | Unjudged):
        return
    known = np.concatenate([one[np.isfinite(one)] for one in values])
    threshold: float | None = getattr(measure, "rel", None)
    best = max(coverage.best_grade for coverage in coverages)
    if math.isinf(best):  # unknown, as in results of earlier versions
        counts = any(coverage.no_relevant < coverage.scored for coverage in coverages)
    else:
        counts = best > 0 if threshold is None else best >= threshold
    nothing = 1.0 if getattr(measure, "no_relevant", None) == "one" else 0.0
    if counts or (known != nothing).any():
        return
    scored = max(coverage.scored for coverage in coverages)
    if threshold is not None and 0 < best < threshold:
        raise InputError(
            f"judgments: found no grade above {best:g}, expected one of {threshold:g} or more, the threshold of {measure.name}"
        )
    raise InputError(f"judgments: {without_relevant_words(scored, scored)}; expected a grade that {measure.name} counts")


def refuse_baselines(baselines: Sequence[Evaluation]) -> None:
    """Refuse a baseline without a judged document: no run could be worse, so that every run would pass.

    Raises
    ------
    InputError
        A baseline answers no judged query, or has no judged document.

    Examples
    --------
    >>> import idealrank as ir
    >>> refuse_baselines([ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")])
    """
    for one in baselines:
        cover = one.coverage
        if not cover.mismatch:
            continue
        answered = cover.queries_in_qrels - cover.missing
        found = (
            f"no judged document in {answered:,} answered queries"
            if answered
            else f"an answer to none of the {cover.missing:,} judged queries"
        )
        kind = "document" if answered else "query"
        raise InputError(
            f"baseline {one.name}: found {found}, expected a run with judged documents; do its {kind} ids match the ids of the judgments?"
        )
