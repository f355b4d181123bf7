"""Everything a page shows, gathered from results and, where they are at hand, from judgments and
runs; one run at a time.
"""

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from idealrank.analysis.comparison import RunMean, intervals, with_companions
from idealrank.analysis.comparison.query_table import QueryTable, queries_of
from idealrank.api.per_query import interval_cautions
from idealrank.data.judged import Judged
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.top import Top
from idealrank.errors import IdealrankWarning, IncompatibleError
from idealrank.evaluation.evaluate import Evaluation, evaluate
from idealrank.io.notes import Notes, Tell
from idealrank.io.texts import clipped, read_texts
from idealrank.measures.measure import Measure
from idealrank.pages.report.curves import curves, families
from idealrank.pages.report.material import ReportMaterial, Texts, lined_up
from idealrank.pages.report.query_lists import Lister, MadeOnDemand, depth_of, lists_of_hits
from idealrank.pages.report.selection import (
    documents_of_lists,
    most_queries,
    queries_first,
    room_for_lists,
)
from idealrank.reports.subject import CutoffCurve, Listing, QueryLists, Subject

_SAME = 1e-9  # of a value
_QUERY_LETTERS, _DOCUMENT_LETTERS = 200, 280


def gather(
    found: ReportMaterial,
    *,
    tell: Tell | None = None,
    progress: "Callable[[int, int], None] | None" = None,
) -> Subject:
    """Gather the content of a page."""
    names = None if found.comparison is None else found.comparison.names
    evaluations = lined_up(found.evaluations, names)
    queries = evaluations[0].queries
    query_texts = _texts(found.queries, queries, _QUERY_LETTERS, "queries", tell)
    lists: Mapping[str, QueryLists] = {}
    drawn: tuple[CutoffCurve, ...] = ()
    room = room_for_lists(evaluations, len(found.measures), query_texts)
    if (
        isinstance(found.qrels, Qrels)
        and found.runs
        and evaluations[0].provenance.max_documents is None
    ):
        evaluations, lists, drawn = _looked_into(found, found.qrels, evaluations, room, progress)
    elif any(found.hits):
        lists = lists_of_hits(
            found.hits, _chosen(found, evaluations, room), depth_of(found.measures)
        )
    documents = {} if found.documents is None else documents_of_lists(lists)
    texts = _texts(found.documents, documents, _DOCUMENT_LETTERS, "documents", tell)
    undecided = found.comparison is None and found.gated is None
    cautions = interval_cautions(evaluations, found.weights, found.clusters) if undecided else ()
    return Subject(
        cautions=cautions,
        evaluations=evaluations,
        measures=found.measures,
        means=_means(found, evaluations),
        comparison=found.comparison,
        gated=found.gated,
        robustness=found.robustness,
        curves=drawn,
        categories=_categories(found),
        lists=lists,
        query_texts=query_texts,
        document_texts=texts,
        made=found.made,
        weighted=found.weights is not None,
        clustered=found.clusters is not None,
    )


def _looked_into(
    found: ReportMaterial,
    qrels: Qrels,
    evaluations: Sequence[Evaluation],
    room: int,
    progress: "Callable[[int, int], None] | None",
) -> tuple[tuple[Evaluation, ...], Mapping[str, QueryLists], tuple[CutoffCurve, ...]]:
    """Evaluations with their judgedness, lists of as many queries as there may be room for, and
    curves.
    """
    wanted, depth = families(found.measures), depth_of(found.measures)
    lister = Lister(qrels, found.measures[0], evaluations[0].convention, depth)
    chosen = _chosen(found, evaluations, room)
    looked = []
    for number, (evaluation, given, run) in enumerate(
        zip(evaluations, found.evaluations, found.runs, strict=True), 1
    ):
        looked.append(
            _look_into(
                found=found,
                lister=lister,
                evaluation=evaluation,
                looked=_looked_at(found, lister.qrels, given, run),
                run=run,
                queries=chosen,
            )
        )
        if progress is not None:
            progress(number, len(evaluations))

    def lists_of(query: str) -> QueryLists:
        return QueryLists(
            runs=tuple(one.listings[query] for one in looked), relevant=lister.relevant(query)
        )

    lists = MadeOnDemand(chosen, lists_of)
    means = {one.evaluation.name: one.at_cutoffs for one in looked}
    return (
        tuple(one.evaluation for one in looked),
        lists,
        curves(wanted, means, max(one.longest for one in looked)),
    )


def _chosen(found: ReportMaterial, evaluations: Sequence[Evaluation], room: int) -> list[str]:
    """The queries whose lists are gathered."""
    order = queries_first(evaluations, found.measures[0], found.pairs, found.gated)
    return list(islice(order, most_queries(room, len(evaluations), depth_of(found.measures))))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Looked:
    """Rankings and values of one run."""

    evaluation: Evaluation
    at_cutoffs: Mapping[str, RunMean]
    listings: Mapping[str, Listing | None]
    longest: int


def _look_into(
    found: ReportMaterial,
    lister: Lister,
    evaluation: Evaluation,
    looked: tuple[Evaluation, Judged, Top],
    run: Run,
    queries: Sequence[str],
) -> _Looked:
    more, judged, top = looked
    at_cutoffs = [measure for at in families(found.measures).values() for measure in at.values()]
    means = intervals(
        more.select(at_cutoffs), level=found.level, weights=found.weights, clusters=found.clusters
    )
    return _Looked(
        evaluation=evaluation.join(more, _judgedness(found)),
        at_cutoffs=means,
        listings=lister.listings(run, judged, queries),
        longest=top.longest,
    )


def measures_looked_at(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """All that a page looks at beside the measures asked for: unjudged documents, and the measures
    at many cutoffs.
    """
    at_cutoffs = (measure for at in families(measures).values() for measure in at.values())
    return tuple(dict.fromkeys([*with_companions(measures), *at_cutoffs]))


def _looked_at(
    found: ReportMaterial, qrels: Qrels, evaluation: Evaluation, run: Run
) -> tuple[Evaluation, Judged, Top]:
    """One run by all of these, its alignment and first documents: as its evaluation kept them, or
    where it kept none, evaluated again.
    """
    measures, depth = measures_looked_at(found.measures), depth_of(found.measures)
    if (
        evaluation.can_tell(measures)
        and (judged := evaluation.judged)
        and (top := judged.top)
        and top.depth >= depth
    ):
        return evaluation.further(measures), judged, top
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)  # all was said of the evaluation itself
        again = evaluate(
            qrels, run, measures, evaluation.convention, keep_top=depth, threads=found.threads
        )
    _refuse_another(evaluation, again, found.measures[0])
    if again.judged is None or again.judged.top is None:
        raise TypeError("evaluated without first documents, which `keep_top` keeps")
    return again, again.judged, again.judged.top


def _refuse_another(evaluation: Evaluation, again: Evaluation, measure: Measure) -> None:
    """Refuse judgments and a run that do not belong to the evaluation: rankings and numbers would
    not match.
    """
    ours, theirs = (
        QueryTable.of(one, [measure], queries_of([evaluation, again]))
        for one in (evaluation, again)
    )
    if not np.allclose(ours.values, theirs.values, rtol=0, atol=_SAME, equal_nan=True):
        means = [one.mean()[str(measure)] for one in (again, evaluation)]
        raise IncompatibleError(
            f"{evaluation.name}: found judgments and a run whose {measure} is {means[0]:.6g}, "
            f"expected the evaluation's own, where it "
            f"is {means[1]:.6g}; runs stand in the order of the evaluations"
        )


def _judgedness(found: ReportMaterial) -> tuple[Measure, ...]:
    """Choose the measures of judgedness; a gate omits values of judged documents alone, since
    baselines are cut.
    """
    added = (one for one in with_companions(found.measures) if one not in found.measures)
    return tuple(one for one in added if found.gated is None or not one.judged_only)


def _means(
    found: ReportMaterial, evaluations: Sequence[Evaluation]
) -> dict[str, dict[str, RunMean]]:
    """Of every measure asked for that is averaged, by run."""
    if found.comparison is not None and all(
        str(measure) in found.comparison.means for measure in found.measures
    ):
        return {text: dict(of_runs) for text, of_runs in found.comparison.means.items()}
    asked = [one.select(found.measures) for one in evaluations]
    means = {
        one.name: intervals(one, level=found.level, weights=found.weights, clusters=found.clusters)
        for one in asked
    }
    texts = [str(measure) for measure in found.measures if measure.aggregate == "mean"]
    return {text: {name: of_run[text] for name, of_run in means.items()} for text in texts}


def _categories(found: ReportMaterial) -> dict[str, tuple[str, ...]]:
    return {
        query: (name,) if isinstance(name, str) else tuple(name)
        for query, name in (found.categories or {}).items()
    }


def _texts(
    table: Texts | None, wanted: Collection[str], length: int, kind: str, tell: Tell | None
) -> dict[str, str]:
    """The texts that are wanted; that a file has few of them is said."""
    if table is None or not wanted:
        return {}
    if isinstance(table, Mapping):
        texts = {name: clipped(table[name], length) for name in wanted if name in table}
    else:
        texts = read_texts(table, wanted, length=length, tell=tell)
    where = "the mapping" if isinstance(table, Mapping) else str(table)
    if not texts:
        some = ", ".join(repr(name) for name in islice(wanted, 3))
        Notes(tell).warn(
            f"{where}: found the text of none of the {len(wanted):,} {kind} shown ({some}, "
            f"...); do the ids match?"
        )
    elif len(texts) < len(wanted):
        Notes(tell).inform(
            f"{where}: found texts of {len(texts):,} of the {len(wanted):,} {kind} shown"
        )
    return texts
