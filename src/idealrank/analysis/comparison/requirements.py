"""Requirements of a comparison: evaluations share their judgments, the runs meet them, and both
runs have scored queries.

Judgments are the same by fingerprint, or by counts, queries and files. Data that no verdict can
rest on are refused; one run that does not join is named.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal, TypeAlias

import numpy as np

from idealrank.data.qrels import Qrels
from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import IncompatibleError, InputError, warn
from idealrank.evaluation.coverage import VALIDATE, Coverage, beyond_bounds, without_relevant_words
from idealrank.evaluation.evaluate import Evaluation, InputRecord
from idealrank.evaluation.label_needs import every_rating_counts
from idealrank.measures.judgedness import JudgedShare, Unjudged
from idealrank.measures.measure import Measure
from idealrank.stats.values import chosen

JudgmentsOption: TypeAlias = Literal["same", "different", "different scales"]
Judged: TypeAlias = Literal["same", "different", "unknown"]


def require_same(
    evaluations: Sequence[Evaluation], judgments: JudgmentsOption | None = "same"
) -> None:
    """Refuse evaluations by different judgments, unless they are intended; warn if this cannot be
    checked.
    """
    can_differ = judgments is not None
    if judgments is not None:
        chosen("judgments", judgments, ("same", "different", "different scales"))
    if judgments == "different":
        _refuse_scales(evaluations)
    if judgments in ("different", "different scales"):
        return
    with_fingerprint = [
        evaluation for evaluation in evaluations if evaluation.provenance.judgments is not None
    ]
    for other in with_fingerprint[1:]:
        first = with_fingerprint[0]
        if other.provenance.judgments != first.provenance.judgments:
            n = first.coverage.queries_in_qrels
            invisible = f"other documents or grades for the same number of queries, {n:,}"
            raise _refusal(
                first, other, _visible_difference(first, other) or invisible, can_differ=can_differ
            )
    if unsure := _unsure(evaluations, can_differ=can_differ):
        warn(
            f"{', '.join(unsure)}: the judgments have no fingerprint, since the result comes from "
            "an earlier version or your own code; they are assumed to equal the other judgments"
        )


def judged_by(evaluations: Sequence[Evaluation], judgments: JudgmentsOption = "same") -> Judged:
    """Describe the judgments behind evaluations that may differ."""
    fingerprints = {evaluation.provenance.judgments for evaluation in evaluations}
    if len(fingerprints) == 1 and None not in fingerprints:
        return "same"
    if judgments != "same":
        return "different"
    return "unknown" if _unsure(evaluations) else "same"


def _refuse_scales(evaluations: Sequence[Evaluation]) -> None:
    """Refuse judgments with different highest grades: a gain and a threshold mean something else on
    each scale.
    """
    highest = []
    for evaluation in evaluations:
        qrels = None if evaluation.sources is None else evaluation.sources[0]
        if isinstance(qrels, Qrels) and qrels.n_judgments:
            highest.append((evaluation, float(qrels.grades.max())))
    for other, grade in highest[1:]:
        first, first_grade = highest[0]
        if grade != first_grade:
            raise IncompatibleError(
                f"{first.name} and {other.name}: found grades to {first_grade:g} and to "
                f"{grade:g}, which are two scales: a gain means something else on each; expected "
                "one scale",
                hint="map the grades of one source by a judging.ScaleTable, or allow it with "
                "judgments='different scales'",
                command_hint="bring the grades of both to one scale, and evaluate again",
            )


def _unsure(evaluations: Sequence[Evaluation], *, can_differ: bool = True) -> list[str]:
    """Names of runs with judgments that cannot be compared with the first run's; visible
    differences are refused.
    """
    first, *others = evaluations
    names = []
    for other in others:
        if first.provenance.judgments is not None and other.provenance.judgments is not None:
            continue
        if difference := _visible_difference(first, other):
            raise _refusal(first, other, difference, can_differ=can_differ)
        if not _same_files(first, other):
            unknown = [side for side in (first, other) if side.provenance.judgments is None]
            names += [side.name for side in unknown]
    return list(dict.fromkeys(names))


def _refusal(
    first: Evaluation, other: Evaluation, difference: str, *, can_differ: bool
) -> IncompatibleError:
    allow = ", or allow the difference: compare, gate and seeds take judgments='different'"
    return IncompatibleError(
        f"{first.name} and {other.name}: found {difference}; expected both runs evaluated against "
        f"the same judgments",
        hint=f"evaluate one run again{allow if can_differ else ''}",
        command_hint="evaluate one run again, or allow the difference with --different-judgments",
    )


def _visible_difference(first: Evaluation, other: Evaluation) -> str:
    """Describe how the judgments differ, as far as counts, queries and files show; empty if they do
    not.
    """
    n_judged = first.coverage.queries_in_qrels
    n_judged_other = other.coverage.queries_in_qrels
    if n_judged != n_judged_other:
        return f"judgments of {n_judged:,} and of {n_judged_other:,} queries"
    no_relevant = first.coverage.no_relevant
    no_relevant_other = other.coverage.no_relevant
    if (
        first.coverage.scored == other.coverage.scored
        and no_relevant != no_relevant_other
        and set(first.queries) == set(other.queries)
    ):
        return (
            f"{no_relevant:,} and {no_relevant_other:,} queries without a relevant document among "
            "the same queries"
        )
    if (
        first.convention.alignment.missing == "zero"
        and first.convention.alignment.without_judgments == "left-out"
    ):
        judged_for_one = set(first.queries) ^ set(other.queries)
        if judged_for_one:
            return f"query {min(judged_for_one)!r} judged for one run only"
    first_labels = first.provenance.labels
    other_labels = other.provenance.labels
    if (
        first_labels is not None
        and other_labels is not None
        and first_labels.kind != other_labels.kind
    ):
        return f"labels that are {first_labels.kind} and {other_labels.kind}"
    if _same_files(first, other) is not False:
        return ""
    paths = [", ".join(record.path for record in _files(side)) for side in (first, other)]
    return f"files of judgments that differ, {' and '.join(paths)}"


def _same_files(first: Evaluation, other: Evaluation) -> bool | None:
    """Return whether the files of judgments are equal, None if unknown; contents are read only if
    sizes leave the answer open.
    """
    first_files = _files(first)
    other_files = _files(other)
    if not first_files or not other_files:
        return None
    if list(map(_path_and_time, first_files)) == list(map(_path_and_time, other_files)):
        return True
    if sorted(file.size for file in first_files) != sorted(file.size for file in other_files):
        return False
    try:
        first_hashes = sorted(file.sha256 for file in first_files)
        other_hashes = sorted(file.sha256 for file in other_files)
    except OSError:  # the file was removed
        return None
    are_known = all((*first_hashes, *other_hashes))
    return first_hashes == other_hashes if are_known else None


def _path_and_time(record: InputRecord) -> tuple[str, str]:
    return record.path, record.modified


def _files(evaluation: Evaluation) -> list[InputRecord]:
    """List the files before the run's own, which are the judgments."""
    return list(
        takewhile(lambda record: record.path != evaluation.path, evaluation.provenance.inputs)
    )


_NAMED = 3  # runs in one message


@dataclass(frozen=True, kw_only=True, repr=False)
class WithWarnings:
    """A result that names the runs whose values mean nothing, and the cautions about its queries.

    Attributes
    ----------
    mismatches : mapping of str to str
        By run: why its values mean nothing, in a phrase without the name. Empty if every run has a
        judged document.
    cautions : tuple of str
        Facts about the queries that limit every verdict, such as very unequal weights.

    Examples
    --------
    >>> WithWarnings(
    ...     mismatches={"new": "has no judged document; do the document ids of both match?"}
    ... ).warnings
    ('run new has no judged document; do the document ids of both match?',)
    """

    mismatches: Mapping[str, str] = field(default_factory=dict)
    cautions: tuple[str, ...] = ()

    @property
    def unjoined(self) -> tuple[str, ...]:
        """The mismatches, one phrase per run."""
        return tuple(f"run {name} {phrase}" for name, phrase in self.mismatches.items())

    @property
    def warnings(self) -> tuple[str, ...]:
        """The mismatches, one phrase per run, then the cautions."""
        return (*self.unjoined, *self.cautions)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._brief()})"

    def _brief(self) -> str:
        return "; ".join(self.warnings)


def mismatches(
    evaluations: Sequence[Evaluation], names: Sequence[str], measure: Measure
) -> dict[str, str]:
    """Refuse evaluations that say nothing about any run; name the runs that say nothing where
    others do.
    """
    values = []
    for evaluation in evaluations:
        column = evaluation.measures.index(measure)
        values.append(evaluation.values[evaluation.scored[:, column], column])
    resolved = measure.under(evaluations[0].convention)
    coverages = [evaluation.coverage for evaluation in evaluations]
    return mismatches_of(dict(zip(names, coverages, strict=True)), resolved, values)


def run_cautions(
    evaluations: Sequence[Evaluation], names: Sequence[str], measures: Sequence[Measure]
) -> tuple[str, ...]:
    """Repeat the warnings of evaluations that limit a verdict: it outlives what was on stderr.

    Mismatches are left out, which `mismatches` has. Grades are known where evaluations keep their
    judgments.
    """
    cautions: list[str] = []
    for name, evaluation in zip(names, evaluations, strict=True):
        if not evaluation.coverage.mismatch:
            cautions.append(evaluation.coverage.doubt(name))
        cautions.append(beyond_bounds(evaluation.convention, evaluation.coverage, name))
        judgments = None if evaluation.sources is None else evaluation.sources[0]
        if isinstance(judgments, Qrels):
            cautions.append(
                every_rating_counts(measures, evaluation.provenance.labels, judgments.grades)
            )
    return tuple(dict.fromkeys(filter(None, cautions)))


def mismatches_of(
    coverages: Mapping[str, Coverage], measure: Measure, values: Sequence[FloatArray]
) -> dict[str, str]:
    """Decide `mismatches` from coverages by run, the measure with every option set, and its values
    over the queries that count.
    """
    by_run = {name: coverage.mismatch for name, coverage in coverages.items() if coverage.mismatch}
    if len(by_run) == len(coverages):
        reasons = [f"run {name}: {coverages[name].mismatch_words}" for name in by_run]
        named = reasons[:_NAMED]
        if len(reasons) > _NAMED:
            named.append(f"{len(reasons) - _NAMED:,} more runs likewise")
        raise InputError(f"{'; '.join(named)}; {VALIDATE}")
    _refuse_without_relevant(list(coverages.values()), measure, values)
    return by_run


def _refuse_without_relevant(
    coverages: Sequence[Coverage], measure: Measure, values: Sequence[FloatArray]
) -> None:
    """Refuse judgments without a grade that the measure counts.

    A value other than that of a query without a relevant document shows that something counted:
    negative grades that are kept, or grade 0 by a gain of one's own.
    """
    if measure.needs or not measure.looks_at_grades or isinstance(measure, JudgedShare | Unjudged):
        return
    finite_values = np.concatenate([column[np.isfinite(column)] for column in values])
    threshold: float | None = getattr(measure, "rel", None)
    best = max(coverage.best_grade for coverage in coverages)
    if math.isinf(best):  # unknown, as in results of earlier versions
        counts = any(coverage.no_relevant < coverage.scored for coverage in coverages)
    else:
        counts = best > 0 if threshold is None else best >= threshold
    without_relevant = 1.0 if getattr(measure, "no_relevant", None) == "one" else 0.0
    if counts or (finite_values != without_relevant).any():
        return
    scored = max(coverage.scored for coverage in coverages)
    if threshold is not None and 0 < best < threshold:
        raise InputError(
            f"judgments: found no grade above {best:g}, expected one of {threshold:g} or more, the "
            f"threshold of {measure.name}"
        )
    raise InputError(
        f"judgments: {without_relevant_words(scored, scored)}; expected a grade that "
        f"{measure.name} counts"
    )


def refuse_baselines(baselines: Sequence[Evaluation]) -> None:
    """Refuse a baseline without a judged document: no run could be worse, so that every run would
    pass.
    """
    for baseline in baselines:
        cover = baseline.coverage
        if not cover.mismatch:
            continue
        answered = cover.queries_in_qrels - cover.missing
        kind = "document" if answered else "query"
        if answered:
            noun = "query" if answered == 1 else "queries"
            problem = f"no judged document in {answered:,} answered {noun}"
        elif cover.missing == 1:
            problem = "no answer to the judged query"
        else:
            problem = f"an answer to none of the {cover.missing:,} judged queries"
        raise InputError(
            f"baseline {baseline.name}: found {problem}, expected a run with judged documents; do "
            f"its {kind} ids match the ids of the judgments?"
        )


def refuse_unscored(measure: Measure, names: tuple[str, str], counted: BoolArray) -> None:
    """Refuse a measure by which no query is scored in both of two runs."""
    if not counted.any():
        raise InputError(
            f"{unscored(measure, names)}; leave the measure out, or use a convention under which "
            "such queries count, as missing=zero and no_relevant=zero do",
            switch="missing=zero",
        )


def unscored(measure: Measure, names: tuple[str, str]) -> str:
    """Sentence about a measure by which no query is scored in both of two runs."""
    return f"{measure}: no query is scored in both {names[0]} and {names[1]}"
