"""A run joined to judgments of any kind: plain grades, preferences, or the grades of several assessors."""

from dataclasses import replace
from typing import TypeAlias

from idealrank import _kernel
from idealrank.data.align import align
from idealrank.data.alignment import Alignment, Ties
from idealrank.data.assessors import AssessorQrels, ByAssessor
from idealrank.data.judged import Judged
from idealrank.data.preferences.fulfilment import Preferred
from idealrank.data.preferences.preference_qrels import PreferenceQrels
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run

Judgments: TypeAlias = Qrels | PreferenceQrels | AssessorQrels


def join(
    table: Judgments,
    run: Run,
    alignment: Alignment,
    *,
    depth: int = 0,
    max_documents: int | None = None,
    unjudged_depth: int = 0,
    threads: int = 0,
    progress: _kernel.Progress | None = None,
) -> Judged:
    """Rank every query of the run once, and find its documents in the judgments.

    Parameters
    ----------
    table : Qrels, PreferenceQrels or AssessorQrels
        What was judged. A document counts as judged when anybody judged it.
    run : Run
        What was returned.
    alignment, depth, max_documents, unjudged_depth, threads, progress
        As for `align`.

    Examples
    --------
    >>> judged = join(PreferenceQrels({"q": {"ann": {"a": 1, "b": 0}}}), Run({"q": ["a"]}), Alignment())
    >>> judged.beside["preferences"].counts("all").fulfilled
    array([1.])
    >>> qrels = AssessorQrels({"q": {"ann": {"a": 1}, "ben": {"b": 1}}})
    >>> join(qrels, Run({"q": ["b", "a"]}), Alignment()).beside["assessors"].judged.hits.rank
    array([2, 1])
    """
    documents = table if isinstance(table, Qrels) else table.documents
    if isinstance(table, PreferenceQrels):
        # Levels only order documents; policies for grades are not about them.
        alignment = replace(alignment, grades="given", negative="zero")
    options = {"depth": depth, "max_documents": max_documents, "unjudged_depth": unjudged_depth, "threads": threads}
    judged = align(documents, run, alignment, **options, progress=progress)  # type: ignore[arg-type]
    if isinstance(table, PreferenceQrels):
        judged.beside["preferences"] = Preferred(documents, table.groups, table.complete, table.pairs, judged)
    elif isinstance(table, AssessorQrels):
        judged.beside["assessors"] = ByAssessor(table, judged, alignment)
    return judged


def tables_of(table: Judgments) -> tuple[str, ...]:
    """What measures may need that this table has, in the words of `Measure.needs`; nothing for plain grades.

    Examples
    --------
    >>> tables_of(PreferenceQrels({"q": {"ann": {"a": 1, "b": 0}}}))
    ('preferences',)
    """
    return ("preferences",) if isinstance(table, PreferenceQrels) else ("assessors",) if isinstance(table, AssessorQrels) else ()


def ties_for(table: Judgments, ties: Ties) -> Ties:
    """The tie policy for judgments of this kind: trec_eval orders ties by document id falling, but rising where it reads preferences.

    Examples
    --------
    >>> ties_for(PreferenceQrels({"q": {"ann": {"a": 1, "b": 0}}}), "docid")
    'docid-ascending'
    """
    return "docid-ascending" if isinstance(table, PreferenceQrels) and ties == "docid" else ties
