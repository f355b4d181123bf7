"""Advice on measures for paths, mappings, dataframes and arrays."""

from typing import Any

from idealrank.analysis.advice import Advice, advise_lists
from idealrank.analysis.advice import advise as advise_run
from idealrank.api.evaluation import AnyTable, is_array, to_qrels, to_run
from idealrank.conventions import Convention
from idealrank.data.lists import Lists


def advise(
    qrels: AnyTable,
    run: AnyTable,
    *,
    surface: str | None = None,
    visible: int | None = None,
    convention: "Convention | str" = "standard",
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
    if is_array(qrels) and is_array(run):
        return advise_lists(
            Lists.from_arrays(qrels, run, **layout),
            surface=surface,
            visible=visible,
            convention=convention,
        )
    return advise_run(
        to_qrels(qrels),
        to_run(run, judgments=qrels),
        surface=surface,
        visible=visible,
        convention=convention,
    )


advise_read = advise_run
"""`advise` for judgments and a run that are read already."""
