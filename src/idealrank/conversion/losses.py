"""Losses of a conversion, counted by kind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_EXAMPLES = 3  # different things that a message names

# A sentence for each kind of loss; `{n}` is the number of things that are lost or changed, and the
# other words in braces are those of `_FORMS`.
LOSSES: Mapping[str, str] = {
    "assessors": "{n} grade{s} {lose} the name of {their} assessor",
    "kinds": "{n} kind{s} of assessors {are} joined, and their grades can no longer be told apart",
    "other_assessors": "{n} grade{s} by other assessors {are} left out",
    "merged": "{n} document{s} {have} grades by several assessors, which become one",
    "unjudged": "{n} unjudged row{s} {are} left out",
    "reasons": "{n} unjudged row{s} {lose} the reason",
    "rounded": "{n} fractional grade{s} {are} rounded to {whole}, halves up",
    "truncated": "{n} fractional grade{s} {are} written as {they} {are}, and trec_eval cuts {them} "
    "to {whole}",
    "off_scale": "{n} grade{s} outside the scale {are} left out",
    "query_ids": "{n} {queries} {lose} {their} id: {their} text names {them}",
    "numbered": "{n} {queries} {lose} {their} id and {are} numbered",
    "query_texts": "{n} {queries} {lose} {their} text",
    "texts": "{n} row{s} {lose} the text of {their} document",
    "columns": "{n} cell{s} of other columns {are} left out",
    "features": "{n} row{s} {lose} {their} features",
    "response_fields": "{n} field{s} of responses besides the hits {are} left out",
    "settings": "{n} setting{s} of the file {are} left out",
    "groups": "{n} name{s} of topics and groups of queries {are} left out",
    "comments": "{n} comment{s} {are} left out",
    "iterations": "{n} row{s} {lose} {their} second column",
    "empty_queries": "{n} {queries} without documents {are} left out",
    "cancelled": "{n} skipped annotation{s} {are} left out",
    "drafts": "{n} task{s} {lose} {their} drafts of annotations",
    "ground_truth": "{n} annotation{s} {lose} {their} mark as ground truth",
    "other_results": "{n} result{s} of other controls {are} left out",
    "predictions": "{n} grade{s} {become} {predictions}: {their} assessor is neither an e-mail "
    "address nor the number of an account",
    "tags": "{n} run tag{s} {are} left out",
}
_FORMS: Mapping[str, tuple[str, str]] = {
    "s": ("", "s"),
    "are": ("is", "are"),
    "have": ("has", "have"),
    "lose": ("loses", "lose"),
    "become": ("becomes", "become"),
    "their": ("its", "their"),
    "they": ("it", "they"),
    "them": ("it", "them"),
    "queries": ("query", "queries"),
    "predictions": ("a prediction", "predictions"),
    "whole": ("a whole number", "whole numbers"),
}
"""Forms of the words of `LOSSES`: for one thing, and for several."""


@dataclass(frozen=True, kw_only=True)
class Loss:
    """One kind of loss."""

    kind: str  # A key of `LOSSES`
    count: int  # How often it occurs
    # The first few different things that are lost, such as names of assessors or columns
    examples: tuple[str, ...] = ()
    has_more: bool = False  # Whether further different things are lost

    @property
    def text(self) -> str:
        """The loss in words."""
        forms = {
            word: singular if self.count == 1 else plural
            for word, (singular, plural) in _FORMS.items()
        }
        sentence = LOSSES[self.kind].format(n=f"{self.count:,}", **forms)
        if not self.examples:
            return sentence
        more = ", ..." if self.has_more else ""
        return f"{sentence} ({', '.join(self.examples)}{more})"


class LossCounter:
    """Counts losses while rows pass."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, dict[str, None]] = {}

    def add(self, kind: str, example: str = "", count: int = 1) -> None:
        """Count a loss; an example that was named before is not named again."""
        self._counts[kind] = self._counts.get(kind, 0) + count
        examples = self._examples.setdefault(kind, {})
        # One more than is named: it shows that there are more.
        if example and len(examples) <= _EXAMPLES:
            examples[example] = None

    def add_all(self, lost: Mapping[str, Iterable[str]]) -> None:
        """Count parts of a file that no row has."""
        for kind, examples in lost.items():
            for example in examples:
                self.add(kind, example)

    def losses(self) -> tuple[Loss, ...]:
        """All losses, in the order of `LOSSES`."""
        return tuple(self._loss(kind) for kind in LOSSES if kind in self._counts)

    def _loss(self, kind: str) -> Loss:
        different = tuple(self._examples[kind])
        return Loss(
            kind=kind,
            count=self._counts[kind],
            examples=different[:_EXAMPLES],
            has_more=len(different) > _EXAMPLES,
        )


def listed(losses: Sequence[Loss]) -> str:
    """Losses in one sentence."""
    return "; ".join(loss.text for loss in losses)
