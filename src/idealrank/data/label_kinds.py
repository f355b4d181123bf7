"""Kind of the labels: what a document without a label is taken to be.

Complete labels name every relevant document, pooled ones are a sample of all documents, and
positive-only ones name some relevant documents and nothing else.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError

LabelKind: TypeAlias = Literal["complete", "pooled", "positive-only"]

LABEL_KINDS: tuple[LabelKind, ...] = get_args(LabelKind)

MEANINGS: dict[LabelKind, str] = {
    "complete": "a document without a label is not relevant",
    "pooled": "a sample was judged, relevant or not, so a document without a label may be relevant",
    "positive-only": "only relevant documents are named; a document without a label counts as not "
    "relevant",
}
"""Meaning of a document without a label under each kind."""

_POOLED_FROM = 0.1  # share of the queries that have a judged grade of 0 or less


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Kind of the labels of a collection; see `Qrels`."""

    kind: LabelKind
    found: bool = True  # Whether the kind was found in the grades, not declared
    # queries, with_negatives: Judged queries, and the queries among them that have a grade of 0 or
    # less
    queries: int = 0
    with_negatives: int = 0
    # Declared share, between 0 and 1, of the non-relevant documents that were labelled, where every
    # relevant document was; None if not declared
    sampled_negatives: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in LABEL_KINDS:
            raise OptionError(f"labels_are={self.kind!r}: expected one of {', '.join(LABEL_KINDS)}")
        share = self.sampled_negatives
        if share is None:
            return
        if not isinstance(share, Real) or not 0 < share < 1:
            expected = "a share between 0 and 1, such as 0.3"
            raise OptionError(f"sampled_negatives={share!r}: expected {expected}")
        if self.kind != "pooled":
            raise OptionError(
                f"sampled_negatives={share:g}: found {self.kind} labels, expected pooled "
                f"ones, with grades of 0 for the sampled documents"
            )

    @classmethod
    def of(
        cls,
        grades: FloatArray,
        offsets: IntArray,
        *,
        declared: LabelKind | None = None,
        sampled_negatives: float | None = None,
    ) -> "Labels":
        """Find the kind in the grades of each query, unless it is declared."""
        starts = offsets[:-1]
        sizes = np.diff(offsets)
        judged = sizes > 0
        lowest = np.minimum.reduceat(grades, starts[judged]) if judged.any() else np.zeros(0)
        queries = int(judged.sum())
        with_negatives = int((lowest <= 0).sum())
        if declared is None and sampled_negatives is not None:
            declared = "pooled"
        labels = cls(
            kind=_found(queries, with_negatives) if declared is None else declared,
            found=declared is None,
            queries=queries,
            with_negatives=with_negatives,
            sampled_negatives=sampled_negatives,
        )
        if sampled_negatives is not None and not with_negatives:
            raise OptionError(
                f"sampled_negatives={sampled_negatives:g}: found no grade of 0 or less, expected "
                "such grades for the sampled documents"
            )
        return labels

    @property
    def differ_from_grades(self) -> bool:
        """Return whether something was declared that the grades do not show."""
        kind_of_grades = _found(self.queries, self.with_negatives)
        return self.kind != kind_of_grades or self.sampled_negatives is not None

    def plus(self, other: "Labels") -> "Labels":
        """Return the labels of both parts of a collection that was split by query.

        What one part declares holds for both. Where they declare different things, the labels count
        as pooled, of which least is assumed.
        """
        queries = self.queries + other.queries
        with_negatives = self.with_negatives + other.with_negatives
        declared: set[tuple[LabelKind, float | None]] = {
            (part.kind, part.sampled_negatives) for part in (self, other) if not part.found
        }
        kind: LabelKind = "pooled" if declared else _found(queries, with_negatives)
        share: float | None = None
        if len(declared) == 1:
            kind, share = declared.pop()
        return Labels(
            kind=kind,
            found=self.found and other.found,
            queries=queries,
            with_negatives=with_negatives,
            sampled_negatives=share,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record: kind, found, and the share of sampled negatives if declared."""
        record: dict[str, Any] = {"kind": self.kind, "found": self.found}
        if self.sampled_negatives is not None:
            record["sampled_negatives"] = self.sampled_negatives
        return record

    def __str__(self) -> str:
        return self.kind


def _found(queries: int, with_negatives: int) -> LabelKind:
    """Kind that the grades show: pooled if enough queries have a grade of 0 or less."""
    if queries and with_negatives >= _POOLED_FROM * queries:
        return "pooled"
    return "positive-only"


def merged_labels(first: Labels | None, other: Labels | None) -> Labels | None:
    """Return the labels of both parts of a collection; None if either is unknown."""
    return None if first is None or other is None else first.plus(other)


def declared_by(kind: LabelKind, *, command: bool = False) -> str:
    """Return the option that declares a kind: of a command, or in Python."""
    return f"--labels-are {kind}" if command else f'labels_are="{kind}"'


def found_kind(labels: Labels | None, *, command: bool = False) -> str:
    """Say which kind was found in the grades, and how to change it; empty where it was declared."""
    if labels is None or not labels.found:
        return ""
    other: LabelKind = "pooled" if labels.kind == "positive-only" else "positive-only"
    return f"labels: {labels.kind} found; change: {declared_by(other, command=command)}"
