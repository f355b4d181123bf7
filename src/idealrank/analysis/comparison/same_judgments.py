"""Check that evaluations share their judgments: by fingerprint, or by counts, queries and files."""

import warnings
from collections.abc import Sequence
from itertools import takewhile
from typing import Literal, TypeAlias

from idealrank.errors import IdealrankWarning, IncompatibleError
from idealrank.evaluation.evaluate import Evaluation, InputRecord
from idealrank.stats.values import chosen

JudgmentsOption: TypeAlias = Literal["same", "different"]
Judged: TypeAlias = Literal["same", "different", "unknown"]


def require_same(evaluations: Sequence[Evaluation], judgments: JudgmentsOption = "same") -> None:
    """Refuse evaluations by different judgments, unless they are intended; warn if this cannot be checked.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Two or more.
    judgments : {"same", "different"}
        "different": nothing is refused.

    Raises
    ------
    IncompatibleError
        Their judgments differ.

    Examples
    --------
    >>> import idealrank as ir
    >>> one, other = (ir.evaluate({"q": {"x": grade}}, {"q": ["x"]}, "RR") for grade in (1, 2))
    >>> require_same([one, other])
    Traceback (most recent call last):
    idealrank.errors.IncompatibleError: run and run: found other documents or grades for the same number of queries, 1; expected both ...
    """
    chosen("judgments", judgments, ("same", "different"))
    if judgments == "different":
        return
    known = [one for one in evaluations if one.provenance.judgments is not None]
    for other in known[1:]:
        if other.provenance.judgments != known[0].provenance.judgments:
            n = known[0].coverage.queries_in_qrels
            raise _refusal(known[0], other, _seen(known[0], other) or f"other documents or grades for the same number of queries, {n:,}")
    if unsure := _unsure(evaluations):
        warnings.warn(
            f"{', '.join(unsure)}: the judgments are not known by their content, as of results that were stored by an earlier version or "
            "made by hand; they are assumed to equal the judgments of the others",
            IdealrankWarning,
            stacklevel=4,
        )


def judged_by(evaluations: Sequence[Evaluation], judgments: JudgmentsOption = "same") -> Judged:
    """Describe the judgments behind evaluations that may differ.

    Examples
    --------
    >>> import idealrank as ir
    >>> one, other = (ir.evaluate({"q": {"x": grade}}, {"q": ["x"]}, "RR") for grade in (1, 2))
    >>> judged_by([one, one]), judged_by([one, other], "different")
    ('same', 'different')
    """
    found = {one.provenance.judgments for one in evaluations}
    if len(found) == 1 and None not in found:
        return "same"
    if judgments == "different":
        return "different"
    return "unknown" if _unsure(evaluations) else "same"


def _unsure(evaluations: Sequence[Evaluation]) -> list[str]:
    """Names of runs with judgments that cannot be compared with the first run's; visible differences are refused."""
    first, *others = evaluations
    found = []
    for other in others:
        if first.provenance.judgments is not None and other.provenance.judgments is not None:
            continue
        if seen := _seen(first, other):
            raise _refusal(first, other, seen)
        if not _same_files(first, other):
            found += [one.name for one in (first, other) if one.provenance.judgments is None]
    return list(dict.fromkeys(found))


def _refusal(first: Evaluation, other: Evaluation, found: str) -> IncompatibleError:
    return IncompatibleError(
        f"{first.name} and {other.name}: found {found}; expected both runs evaluated against the same judgments",
        hint="evaluate one of them again, or allow it with judgments='different'",
        command_hint="evaluate one of them again, or allow it with --different-judgments",
    )


def _seen(first: Evaluation, other: Evaluation) -> str:
    """Describe how the judgments differ, as far as counts, queries and files show; empty if they do not."""
    ours, theirs = first.coverage, other.coverage
    if ours.queries_in_qrels != theirs.queries_in_qrels:
        return f"judgments of {ours.queries_in_qrels:,} and of {theirs.queries_in_qrels:,} queries"
    if ours.scored == theirs.scored and ours.no_relevant != theirs.no_relevant and set(first.queries) == set(other.queries):
        return f"{ours.no_relevant:,} and {theirs.no_relevant:,} queries without a relevant document among the same queries"
    if first.convention.alignment.missing == "zero" and first.convention.alignment.without_judgments == "left-out":
        strange = set(first.queries) ^ set(other.queries)
        if strange:
            return f"query {min(strange)!r} judged for one run only"
    if _same_files(first, other) is not False:
        return ""
    names = [", ".join(one.path for one in _files(evaluation)) for evaluation in (first, other)]
    return f"files of judgments that differ, {names[0]} and {names[1]}"


def _same_files(first: Evaluation, other: Evaluation) -> bool | None:
    """Return whether the files of judgments are equal, None if unknown; contents are read only if sizes leave the answer open."""
    ours, theirs = _files(first), _files(other)
    if not ours or not theirs:
        return None
    if [(one.path, one.modified) for one in ours] == [(one.path, one.modified) for one in theirs]:
        return True
    if sorted(one.size for one in ours) != sorted(one.size for one in theirs):
        return False
    try:
        hashes = [sorted(one.sha256 for one in files) for files in (ours, theirs)]
    except OSError:  # a file is no more there to be read
        return None
    return hashes[0] == hashes[1] if all(map(all, hashes)) else None


def _files(evaluation: Evaluation) -> list[InputRecord]:
    """The files before that of the run."""
    return list(takewhile(lambda one: one.path != evaluation.path, evaluation.provenance.inputs))
