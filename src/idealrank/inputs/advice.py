"""Advice on measures for paths, mappings, dataframes and arrays."""

from typing import Any

from idealrank.analysis.advice import Advice, Display, advised
from idealrank.conventions import Convention
from idealrank.data.align import align
from idealrank.data.lists import judge_lists
from idealrank.errors import InputError
from idealrank.inputs.evaluation import AnyTable, to_qrels, to_run
from idealrank.inputs.judged_runs import lists_of


def advise(
    qrels: AnyTable,
    run: AnyTable,
    *,
    surface: str | None = None,
    visible: int | None = None,
    convention: "Convention | str" = "standard",
    threads: int = 0,
    **layout: Any,
) -> Advice:
    """Recommend measures and cutoffs that fit judgments and a run, with reasons.

    Parameters
    ----------
    qrels, run : path, mapping, dataframe, Qrels or Run, or arrays of labels and scores
        As for `evaluate`.
    surface : {"phone", "desktop", "carousel", "rag"}, optional
        Place where the results are shown. It determines how many ranks count: 5 on a phone, 10 and
        20 on a desktop, those visible in a carousel, those that fit into the prompt of a language
        model.
    visible : int, optional
        Number of visible results.
    convention : Convention or str
        How run and judgments are joined.
    threads : int
        Number of threads; 0 uses all cores. The advice does not depend on it.
    **layout
        For arrays: group, offsets, qid, mask, padding; see `Lists.from_arrays`.

    Returns
    -------
    Advice
        Recommended measures with reasons, cutoffs, warnings, and statistics: grades, judgments and
        relevant documents per query, depth of judgment, ties, list lengths.

    Examples
    --------
    >>> advice = advise({"q": {"a": 3, "b": 1, "c": 0}}, {"q": ["b", "x", "a"]}, surface="phone")
    >>> advice.cutoffs, [fit.measure for fit in advice.fits[:2]]
    ((5,), ['nDCG@5', 'nDCG(judged_only=True)@5'])
    """
    display = Display(surface=surface, visible=visible)
    alignment = Convention.of(convention).alignment
    form = "advise(qrels, run) or advise(labels, scores, group=...)"
    if lists := lists_of((qrels, run), layout, form):
        if not lists[0].labels.size:
            raise InputError("found no item, expected some")
        judged = judge_lists(lists[0], alignment, threads=threads)
        return advised(judged, display, run="run", labels="complete")
    judgments = to_qrels(qrels)
    ranked = to_run(run, judgments=qrels)
    judged = align(judgments, ranked, alignment, threads=threads)
    if not judged.n_queries or not judgments.n_judgments:
        raise InputError(
            f"nothing to look at: {judgments.name} has {judgments.n_judgments} judgments of "
            f"{judgments.n_queries} queries, expected some"
        )
    return advised(judged, display, run=ranked.name, labels=judgments.labels.kind)
