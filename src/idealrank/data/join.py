"""A run joined to judgments of any kind: plain grades, preferences, or the grades of several
assessors.
"""

from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from idealrank import _kernel
from idealrank._lazy import annotation
from idealrank.data.align import align
from idealrank.data.alignment import Alignment, Ties
from idealrank.data.judged import Judged
from idealrank.data.label_kinds import Labels
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run

# most judgments are plain grades: the other kinds are loaded only where they are used
if TYPE_CHECKING:
    from idealrank.data.assessors import AssessorQrels
    from idealrank.data.preference_qrels import PreferenceQrels
else:
    AssessorQrels = annotation("idealrank.data.assessors", "AssessorQrels")
    PreferenceQrels = annotation("idealrank.data.preference_qrels", "PreferenceQrels")

Judgments: TypeAlias = Qrels | PreferenceQrels | AssessorQrels


def join(
    table: Judgments,
    run: Run,
    alignment: Alignment,
    *,
    depth: int = 0,
    max_documents: int | None = None,
    unjudged_depth: int = 0,
    top_depth: int = 0,
    threads: int = 0,
    progress: _kernel.Progress | None = None,
) -> Judged:
    """Rank every query of the run once, and find its documents in the judgments."""
    options = {
        "depth": depth,
        "max_documents": max_documents,
        "unjudged_depth": unjudged_depth,
        "threads": threads,
    }
    if isinstance(table, Qrels):
        return align(table, run, alignment, **options, top_depth=top_depth, progress=progress)  # type: ignore[arg-type]
    return table.joined(
        lambda adapted: align(table.documents, run, adapted, **options, progress=progress),  # type: ignore[arg-type]
        alignment,
    )


def is_judgments(value: object) -> TypeGuard[Judgments]:
    """Return whether an object is judgments that are read already."""
    return isinstance(value, Qrels) or getattr(type(value), "kind", None) in {
        "preferences",
        "assessors",
    }


def tables_of(table: Judgments) -> tuple[str, ...]:
    """Return the kinds of judgments beyond plain grades, in the words of `Measure.needs`."""
    return () if isinstance(table, Qrels) else (table.kind,)


def ties_for(table: Judgments, ties: Ties) -> Ties:
    """The tie policy for judgments of this kind: trec_eval orders ties by document id falling, but
    rising where it reads preferences.
    """
    return "docid-ascending" if tables_of(table) == ("preferences",) and ties == "docid" else ties


def labels_of(table: Judgments) -> Labels | None:
    """Kind of the labels; None for preferences and for several assessors, whose measures need no
    kind.
    """
    return table.labels if isinstance(table, Qrels) else None


def query_word_of(table: Judgments) -> str:
    """Word for a query in the columns of the judgments."""
    return table.query_word if isinstance(table, Qrels) else "query"
