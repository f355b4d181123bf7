"""Losses of a conversion, counted by kind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_EXAMPLES = 3

# By kind: what happens to so many things; `{n}` is their number.
LOSSES: Mapping[str, str] = {
    "assessors": "{n} grades lose the name of their assessor",
    "other_assessors": "{n} grades by other assessors are left out",
    "merged": "{n} documents have grades by several assessors, which become one",
    "unjudged": "{n} unjudged rows are left out",
    "reasons": "{n} unjudged rows lose the reason",
    "rounded": "{n} fractional grades are rounded to whole numbers, halves up",
    "truncated": "{n} fractional grades are written as they are, and trec_eval cuts them to whole numbers",
    "off_scale": "{n} grades outside the scale are left out",
    "query_ids": "{n} queries lose their id: their text names them",
    "query_texts": "{n} queries lose their text",
    "texts": "{n} rows lose the text of their document",
    "columns": "{n} cells of other columns are left out",
    "features": "{n} rows lose their features",
    "settings": "{n} settings of the file are left out",
    "groups": "{n} names of topics and groups of queries are left out",
    "comments": "{n} comments are left out",
    "iterations": "{n} rows lose their second column",
    "empty_queries": "{n} queries without documents are left out",
    "cancelled": "{n} skipped annotations are left out",
    "drafts": "{n} tasks lose their drafts of annotations",
    "ground_truth": "{n} annotations lose their mark as ground truth",
    "other_results": "{n} results of other controls are left out",
    "predictions": "{n} grades become predictions: their assessor is neither an e-mail address nor the number of an account",
    "tags": "{n} run tags are left out",
}


@dataclass(frozen=True)
class Loss:
    """One kind of loss.

    Attributes
    ----------
    kind : str
        A key of `LOSSES`.
    count : int
        How often it occurs.
    examples : tuple of str
        The first few different things that are lost, such as names of assessors or columns.

    Examples
    --------
    >>> Loss("assessors", 2, ("ann",)).text
    '2 grades lose the name of their assessor (ann)'
    """

    kind: str
    count: int
    examples: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The loss in words."""
        said = LOSSES[self.kind].format(n=f"{self.count:,}")
        return f"{said} ({', '.join(self.examples)}{', ...' if len(self.examples) == _EXAMPLES else ''})" if self.examples else said


class LossCounter:
    """Counts losses while rows pass.

    Examples
    --------
    >>> losses = LossCounter()
    >>> losses.add("assessors", "ann")
    >>> losses.add("assessors", "ben")
    >>> losses.found()
    (Loss(kind='assessors', count=2, examples=('ann', 'ben')),)
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, dict[str, None]] = {}

    def add(self, kind: str, example: str = "", count: int = 1) -> None:
        """Count a loss; an example that was named before is not named again."""
        self._counts[kind] = self._counts.get(kind, 0) + count
        examples = self._examples.setdefault(kind, {})
        if example and len(examples) < _EXAMPLES:
            examples[example] = None

    def add_all(self, left: Mapping[str, Iterable[str]]) -> None:
        """Count what a file holds that no row has."""
        for kind, examples in left.items():
            for example in examples:
                self.add(kind, example)

    def found(self) -> tuple[Loss, ...]:
        """All losses, in the order of `LOSSES`."""
        return tuple(Loss(kind, self._counts[kind], tuple(self._examples[kind])) for kind in LOSSES if kind in self._counts)


def listed(losses: Sequence[Loss]) -> str:
    """Losses in one sentence.

    Examples
    --------
    >>> listed([Loss("tags", 1), Loss("unjudged", 2)])
    '1 run tags are left out; 2 unjudged rows are left out'
    """
    return "; ".join(loss.text for loss in losses)
