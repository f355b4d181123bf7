"""Overlaps of the rankings of compared runs, from the documents that evaluations kept if there are
enough of them.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from idealrank._kernel import Progress
from idealrank._lazy import annotation
from idealrank.conventions import Convention
from idealrank.data.run import Run
from idealrank.data.run_pairs import PairRules
from idealrank.errors import IdealrankWarning, InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure

if TYPE_CHECKING:
    from idealrank.data.judged import Top
    from idealrank.evaluation.overlap import Overlap
else:
    Top = annotation("idealrank.data.judged", "Top")
    Overlap = annotation("idealrank.evaluation.overlap", "Overlap")

# Ranks of lists that are kept to compare rankings. Deeper cutoffs read the runs again, which takes
# less memory than to keep every list.
_DEEPEST = 100
_ORDERS = ("docid", "docid-ascending", "input")  # policies for ties that give every document a rank


def overlap_ranks(measures: Sequence[Measure], convention: Convention) -> int:
    """Return the ranks down to which evaluations keep the first documents of every list
    (`keep_top`), so that `overlaps` reads no run again.
    """
    from idealrank.evaluation.overlap import measures_beside  # noqa: PLC0415

    alignment = convention.alignment
    cutoffs = [measure.cutoff for measure in measures_beside(measures)]
    is_plain = alignment.ties in _ORDERS and alignment.score == "float64"
    if not is_plain or alignment.duplicates == "twice" or alignment.unjudged == "skipped":
        return 0
    # A cutoff that is no number, such as the length of the list, counts as too deep.
    depths = [cutoff if isinstance(cutoff, int) else _DEEPEST + 1 for cutoff in cutoffs]
    deepest = max(depths, default=0)
    return deepest if deepest <= _DEEPEST else 0


def overlaps(
    runs: Sequence[Run],
    measures: Sequence[Measure],
    convention: Convention,
    *,
    evaluations: Sequence[Evaluation] = (),
    baseline: str | None = None,
    threads: int = 0,
    watch: Callable[[str, Callable[[Progress], Any]], Any] = lambda _label, work: work(Progress()),
) -> "Iterable[Overlap]":
    """Compute the overlap of every two runs, or of each and the baseline, at the measures' cutoffs;
    omit pairs without a common query.

    Tied documents are ordered as the convention does, and share a rank where it gives them none.
    """
    from idealrank.evaluation.overlap import measures_beside  # noqa: PLC0415  (few compare rankings)

    overlap_measures = measures_beside(measures)
    alignment = convention.alignment
    is_ordered = alignment.ties in _ORDERS
    cutoffs = [measure.cutoff for measure in overlap_measures]
    depth = 0  # whole lists
    if is_ordered and all(isinstance(cutoff, int) for cutoff in cutoffs):
        depth = max(map(int, cutoffs))  # type: ignore[arg-type]
    rules = PairRules(
        ties=alignment.ties if is_ordered else "shared",
        duplicates="first" if alignment.duplicates == "twice" else alignment.duplicates,
        depth=depth,
        threads=threads,
    )

    tops = _tops(evaluations, overlap_ranks(measures, convention)) or [None] * len(runs)
    works = []
    for (a, b), pair_tops in zip(combinations(runs, 2), combinations(tops, 2), strict=True):
        if baseline in (None, a.name, b.name):
            work = partial(_overlap, (a, b), pair_tops, overlap_measures, rules)
            works.append((f"{a.name} and {b.name}", work))

    # Kept documents are compared quickly, when the caller asks for the overlap. Runs that are read
    # again take long, so their work is watched.
    pair_overlaps = (
        (work(Progress()) for _, work in works)
        if all(top is not None for top in tops)
        else [watch(label, work) for label, work in works]
    )
    return (overlap for overlap in pair_overlaps if overlap is not None)


def _tops(evaluations: Sequence[Evaluation], depth: int) -> "list[Top | None]":
    """Return the first documents that evaluations kept; None if these are not the whole ranking
    down to the depth.
    """
    tops: list[Top | None] = []
    for evaluation in evaluations:
        top = None if evaluation.judged is None else evaluation.judged.top
        is_enough = top is not None and top.is_whole and 0 < depth <= top.depth
        tops.append(top if is_enough else None)
    return tops


def _overlap(
    runs: tuple[Run, Run],
    tops: "tuple[Top | None, Top | None]",
    measures: Sequence[Measure],
    rules: PairRules,
    progress: Progress,
) -> "Overlap | None":
    """Compute the overlap of two runs; None if they have no query in common."""
    from idealrank.evaluation.overlap import overlap_of, overlap_of_top  # noqa: PLC0415

    try:
        top_a, top_b = tops
        if top_a is not None and top_b is not None:
            return overlap_of_top(runs, (top_a, top_b), measures, rules)
        with warnings.catch_warnings():  # which no other thread may be in
            warnings.simplefilter("ignore", IdealrankWarning)
            return overlap_of(runs, measures, replace(rules, progress=progress))
    except InputError:
        return None
