"""Sentences on the labels behind a verdict: how unlabelled documents count, and the next step if
there are too few labels.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from idealrank.analysis.comparison import Difference
from idealrank.analysis.comparison.label_basis import LabelBasis, OneSided
from idealrank.analysis.comparison.sensitivity import Sensitivity
from idealrank.data.label_kinds import LabelKind, Labels, found_kind
from idealrank.reports.table.cells import counted
from idealrank.reports.views.comparison.phrases import IN_PYTHON, Asked, share
from idealrank.reports.views.comparison.verdicts import UNLABELLED

if TYPE_CHECKING:
    from idealrank.analysis.gate.outcome import Check

_CLAUSES: Mapping[LabelKind, str] = {
    "positive-only": UNLABELLED,
    "complete": "the labels were declared complete",
}
# Share of the unlabelled documents of the run ahead in the sentence on the sensitivity; one of the
# shares for which `LabelBasis.sensitivity` has a row.
_SHARE = 0.05


def label_clause(basis: LabelBasis | None) -> str:
    """Say how documents without a label count in a verdict; empty if nothing needs to be said."""
    return "" if basis is None else _CLAUSES.get(basis.kind, "")


def counts_sentence(run: str, row: "Difference | Check", clause: str = "") -> str:
    """State on how many queries a run is better, equal and worse, with a clause on the labels."""
    counts = (
        f"{run} is better on {row.wins:,}, equal on {row.ties:,} and worse on {row.losses:,} of "
        f"{counted(row.n, 'query', 'queries')}"
    )
    return f"{counts}; {clause}." if clause else f"{counts}."


def _source_and_other(one_sided: OneSided, a: str, b: str) -> tuple[str, str]:
    """Return the run that the labels come from, then the other run."""
    return (a, b) if one_sided.run == "a" else (b, a)


def one_sided_why(one_sided: OneSided, a: str, b: str) -> str:
    """Say which run the labels come from, or seem to come from."""
    source, other = _source_and_other(one_sided, a, b)
    if one_sided.share is None or one_sided.other_share is None:
        return (
            f"The labels come from the results of {source}, as declared, so they hardly cover what "
            f"only {other} returns."
        )
    return (
        f"{_shares(one_sided, a, b)}: the labels seem to come from {source} alone, unless it "
        "really finds all of them."
    )


def suspected_sentence(basis: LabelBasis | None, a: str, b: str, difference: float) -> str:
    """Caution that the labels may favour the run ahead; empty if nothing says so."""
    suspected = None if basis is None else basis.suspected
    if suspected is None or suspected.share is None or suspected.other_share is None:
        return ""
    ahead = "b" if difference > 0 else "a"
    # Labels that favour the run behind do not explain the difference.
    if not difference or suspected.run != ahead:
        return ""
    source, _ = _source_and_other(suspected, a, b)
    return (
        f"{_shares(suspected, a, b)}: labels from {source}, or from a system like it, would "
        "favour it."
    )


def _shares(one_sided: OneSided, a: str, b: str) -> str:
    """State the shares of the labelled documents that both runs return."""
    source, other = _source_and_other(one_sided, a, b)
    where = "" if one_sided.depth is None else f" in its first {counted(one_sided.depth, 'result')}"
    share_of_other = share(one_sided.other_share or 0.0)
    return (
        f"{source} returns {share(one_sided.share or 0.0)} of the labelled relevant "
        f"documents{where}, and {other} {share_of_other}"
    )


def one_sided_step(one_sided: OneSided, again: str, origin: Asked = IN_PYTHON) -> str:
    """Say what to do about labels that come from one run."""
    if one_sided.declared:
        return f"Label documents of both runs and {again}."
    complete = origin.declares("complete")
    return (
        f"Label documents of both runs and {again}, or declare {complete} if a document without a "
        "label is never relevant."
    )


def sensitivity_sentence(basis: LabelBasis | None, a: str, b: str, difference: float) -> str:
    """Say how many unlabelled documents would have to be relevant to undo a difference; empty if
    that is not known.
    """
    if basis is None:
        return ""
    row = next((row for row in basis.sensitivity if row.share == _SHARE), None)
    if row is None or not difference:
        return ""
    sides = _Sides.of(basis, a, b, difference)
    if not sides.n_behind:
        return ""
    if not sides.n_ahead:
        return _undone_alone(row, sides.behind)
    start = (
        f"If {100 * row.share:g}% of the unlabelled documents that only {sides.ahead} returns were "
        "relevant"
    )
    if row.turning_share is None:
        return (
            f"{start}, not even all of those that only {sides.behind} returns would undo the "
            "difference."
        )
    documents = (
        f"those that only {sides.behind} returns "
        f"({counted(row.turning_documents or 0, 'document')})"
    )
    return (
        f"{start}, {share(row.turning_share)} of {documents} would also have to be relevant to "
        "undo the difference."
    )


def sensitivity_in_full(
    basis: LabelBasis | None, a: str, b: str, difference: float, number: str
) -> str:
    """Say how the difference stands at each share of a sensitivity, and what would undo it; empty
    if that is not known.
    """
    if basis is None or not basis.sensitivity or not difference:
        return ""
    sides = _Sides.of(basis, a, b, difference)
    if not sides.n_ahead or not sides.n_behind:
        return sensitivity_sentence(basis, a, b, difference)
    rows = basis.sensitivity
    shares = listed_in_words(f"{100 * row.share:g}%" for row in rows)
    moved = listed_in_words(format(row.difference, number) for row in rows)
    undone = listed_in_words(map(_turning_share, rows))
    counts = listed_in_words(map(_turning_documents, rows))
    return (
        f"If {shares} of the unlabelled documents that only {sides.ahead} returns were relevant, "
        f"the difference would be {moved}; {undone} of those that only {sides.behind} returns "
        f"({counts} documents) would then undo it."
    )


def _turning_share(row: Sensitivity) -> str:
    return "more than all" if row.turning_share is None else share(row.turning_share)


def _turning_documents(row: Sensitivity) -> str:
    return "all" if row.turning_documents is None else f"{row.turning_documents:,}"


class _Sides(NamedTuple):
    """Names of the run ahead and the run behind, and their numbers of unlabelled documents."""

    ahead: str
    behind: str
    n_ahead: int
    n_behind: int

    @classmethod
    def of(cls, basis: LabelBasis, a: str, b: str, difference: float) -> "_Sides":
        n_a = basis.unlabelled_a or 0
        n_b = basis.unlabelled_b or 0
        return (
            cls(ahead=b, behind=a, n_ahead=n_b, n_behind=n_a)
            if difference > 0
            else cls(ahead=a, behind=b, n_ahead=n_a, n_behind=n_b)
        )


def listed_in_words(words: Iterable[str]) -> str:
    """Join words to a list in a sentence."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _undone_alone(row: Sensitivity, behind: str) -> str:
    """Describe what undoes a difference if the run ahead returns only labelled documents."""
    documents = f"the unlabelled documents that only {behind} returns"
    if row.turning_share is None:
        return f"Even if all of {documents} were relevant, the difference would not be undone."
    return (
        f"If {share(row.turning_share)} of {documents} were relevant, the difference would be "
        "undone."
    )


def labels_note(
    labels: Labels | None, bases: Iterable[LabelBasis | None], origin: Asked = IN_PYTHON
) -> list[str]:
    """Write the line with the detected kind of labels and how to change it; none if it was declared
    or does not matter.
    """
    matters = any(basis is not None for basis in bases)
    note = found_kind(labels, command=origin.command)
    return [note] if matters and note else []


def one_sided_sentences(
    basis: LabelBasis, a: str, b: str, again: str, origin: Asked = IN_PYTHON
) -> list[str]:
    """Write two sentences on labels that come from one run, why and the next step; none if they do
    not.

    Examples
    --------
    >>> one_sided_sentences(LabelBasis(kind="positive-only"), "old", "new", "compare again")
    []
    """
    if basis.one_sided is None:
        return []
    return [one_sided_why(basis.one_sided, a, b), one_sided_step(basis.one_sided, again, origin)]
