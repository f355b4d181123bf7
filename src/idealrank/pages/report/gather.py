"""Content of a page, gathered from results and, if they are at hand, from judgments and runs, one
run at a time: curves by cutoff, and the queries whose lists are shown.
"""

import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice, zip_longest
from typing import NamedTuple

import numpy as np

from idealrank.analysis.comparison import RunMean, intervals, with_companions
from idealrank.analysis.comparison.query_table import QueryTable, queries_of
from idealrank.analysis.gate import Gated
from idealrank.data.judged import Judged, Top
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import IdealrankError, IdealrankWarning, IncompatibleError
from idealrank.evaluation.evaluate import Evaluation, evaluate
from idealrank.inputs.per_query import interval_cautions
from idealrank.inputs.text_sources import TextSources
from idealrank.io.complaints import Tell
from idealrank.measures.measure import Measure
from idealrank.pages.report.material import ReportMaterial, lined_up
from idealrank.pages.report.query_lists import Lister, MadeOnDemand, depth_of, lists_of_hits
from idealrank.reports.subject import CutoffCurve, Listing, QueryLists, Subject

CUTOFFS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
_MOST = 3  # families of measures


def families(measures: Sequence[Measure]) -> dict[str, dict[int, Measure]]:
    """Return the first three families of measures that take a cutoff, by the text of the measure
    without one; each has rising cutoffs.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measures
    >>> by_family = families(parse_measures(["nDCG@7", "nDCG", "P@10", "NumRel"]))
    >>> list(by_family), [str(measure) for measure in by_family["nDCG"].values()][3:6]
    (['nDCG', 'P'], ['nDCG@5', 'nDCG@7', 'nDCG@10'])
    """
    by_family: dict[str, dict[int, Measure]] = {}
    for measure in measures:
        if measure.cuts == "none" or measure.aggregate != "mean":
            continue
        if not isinstance(measure.cutoff, int | None):
            continue
        name = str(measure).removesuffix(f"@{measure.cutoff}")
        cutoffs = {*CUTOFFS, *by_family.get(name, ())}
        if measure.cutoff is not None:
            cutoffs.add(measure.cutoff)
        try:
            by_cutoff = {cutoff: replace(measure, cutoff=cutoff) for cutoff in sorted(cutoffs)}
        except (TypeError, IdealrankError):  # a user's measure with other arguments
            continue
        if name in by_family or len(by_family) < _MOST:
            by_family[name] = by_cutoff
    return by_family


def curves(
    by_family: Mapping[str, Mapping[int, Measure]],
    means: Mapping[str, Mapping[str, RunMean]],
    depth: int,
) -> tuple[CutoffCurve, ...]:
    """Make the curves of every run, as deep as the longest list; a curve of fewer than two cutoffs
    is left out.
    """
    drawn = []
    for name, by_cutoff in by_family.items():
        cutoffs = tuple(cutoff for cutoff in by_cutoff if cutoff <= depth)
        if len(cutoffs) < 2:
            continue
        texts = [str(by_cutoff[cutoff]) for cutoff in cutoffs]
        of_runs = {run: tuple(map(by_text.__getitem__, texts)) for run, by_text in means.items()}
        drawn.append(CutoffCurve(measure=name, cutoffs=cutoffs, means=of_runs))
    return tuple(drawn)


_PAGE = 1_900_000  # bytes of a page, which must stay under two megabytes
_FIXED = 620_000  # bytes of its scripts, styles and tables, whatever they show
_ROOM_OF_LISTS = 200_000  # bytes that lists may take at least
_IN_BASE64 = 4 / 3  # letters for a byte
# Compressed bytes of a listed document with grade, tie and contribution, measured with short ids;
# ids of eight digits take twice that.
_FOR_A_DOCUMENT = 6.0


def queries_first(
    evaluations: Sequence[Evaluation],
    measure: Measure,
    pairs: Sequence[tuple[int, int]],
    gated: Gated | None = None,
) -> Iterator[str]:
    """Yield every query, the most telling ones first.

    Queries that closed a gate come first; then of each pair of runs in turn the largest loss, the
    largest gain, the second loss, and so on, or of a single run the worst values; then all others.
    """
    every = chain.from_iterable(evaluation.queries for evaluation in evaluations)
    queries = list(dict.fromkeys(every))
    values = [
        QueryTable.of(evaluation, [measure], queries).values[:, 0] * (measure.direction or 1)
        for evaluation in evaluations
    ]
    ordered_pairs = list(pairs) or list(combinations(range(len(values)), 2))
    orders = [_by_size(values[b] - values[a]) for a, b in ordered_pairs]
    if not orders:
        orders = [np.argsort(values[0], kind="stable")]
    evaluated = set(queries)
    closing = () if gated is None else gated.closing_queries
    closing_queries = [query for query in closing if query in evaluated]
    by_difference = [queries[row] for row in _in_turn(*orders)]
    yield from dict.fromkeys([*closing_queries, *by_difference, *queries])


def _in_turn(*orders: IntArray) -> Iterator[int]:
    """Yield the first row of each order, then the second of each, and so on."""
    for rows in zip_longest(*(order.tolist() for order in orders)):
        yield from (row for row in rows if row is not None)


def _by_size(differences: FloatArray) -> IntArray:
    """Rows with a difference: the largest loss, the largest gain, the second loss, ..."""
    order = np.argsort(np.nan_to_num(differences), kind="stable")
    order = order[np.nan_to_num(differences)[order] != 0]
    gains = differences[order] > 0
    return np.array(list(_in_turn(order[~gains], order[gains][::-1])), np.int64)


def room_for_lists(
    evaluations: Sequence[Evaluation], n_measures: int, query_texts: Mapping[str, str]
) -> int:
    """Return the compressed bytes that lists, document ids and texts may take, with the values and
    texts of all queries on the page.
    """
    queries = evaluations[0].queries
    values = 2 * len(queries) * len(evaluations) * n_measures  # two bytes each
    ids = _compressed_size(queries)
    texts = _compressed_size(query_texts.values())
    return max(int((_PAGE - _FIXED) / _IN_BASE64) - values - ids - texts, _ROOM_OF_LISTS)


def _compressed_size(texts: Iterable[str]) -> int:
    return len(zlib.compress("\n".join(texts).encode("utf-8", "replace"), 1))


def most_queries(room: int, n_runs: int, depth: int) -> int:
    """Return the largest number of queries whose lists may fit into a number of bytes."""
    return max(int(room / (n_runs * depth * _FOR_A_DOCUMENT)), 1)


def documents_of_lists(lists: Mapping[str, QueryLists]) -> dict[str, None]:
    """Return every document of the lists and of the relevant documents that they missed, in the
    order of the queries.
    """
    names: dict[str, None] = {}
    for query_lists in lists.values():
        for listing in filter(None, query_lists.runs):
            names |= {document: None for document in listing.documents if document is not None}
        names |= {document: None for document, _ in query_lists.relevant}
    return names


_SAME = 1e-9  # values that differ by less are the same value, computed again


def gather(
    material: ReportMaterial,
    *,
    tell: Tell | None = None,
    progress: "Callable[[int, int], None] | None" = None,
) -> Subject:
    """Gather the content of a page."""
    names = None if material.comparison is None else material.comparison.names
    evaluations = lined_up(material.evaluations, names)
    queries = evaluations[0].queries
    sources = TextSources(queries=material.queries, documents=material.documents)
    query_texts = sources.of_queries(queries, tell)

    lists: Mapping[str, QueryLists] = {}
    drawn: tuple[CutoffCurve, ...] = ()
    room = room_for_lists(evaluations, len(material.measures), query_texts)
    qrels = material.qrels
    is_whole = evaluations[0].provenance.max_documents is None
    if isinstance(qrels, Qrels) and material.runs and is_whole:
        evaluations, lists, drawn = _with_rankings(material, qrels, evaluations, room, progress)
    elif any(material.hits):
        chosen = _chosen(material, evaluations, room)
        lists = lists_of_hits(material.hits, chosen, depth_of(material.measures))
    documents = {} if material.documents is None else documents_of_lists(lists)
    texts = sources.of_documents(documents, tell)
    undecided = material.comparison is None and material.gated is None
    cautions: tuple[str, ...] = ()
    if undecided:
        cautions = interval_cautions(evaluations, material.weights, material.clusters)
    return Subject(
        cautions=cautions,
        evaluations=evaluations,
        measures=material.measures,
        means=_means(material, evaluations),
        comparison=material.comparison,
        gated=material.gated,
        robustness=material.robustness,
        curves=drawn,
        categories=_categories(material),
        lists=lists,
        query_texts=query_texts,
        document_texts=texts,
        made=material.made,
        weighted=material.weights is not None,
        clustered=material.clusters is not None,
    )


def _with_rankings(
    material: ReportMaterial,
    qrels: Qrels,
    evaluations: Sequence[Evaluation],
    room: int,
    progress: "Callable[[int, int], None] | None",
) -> tuple[tuple[Evaluation, ...], Mapping[str, QueryLists], tuple[CutoffCurve, ...]]:
    """Return the evaluations with their judgedness, lists of as many queries as there may be room
    for, and curves.
    """
    depth = depth_of(material.measures)
    lister = Lister(
        qrels=qrels, measure=material.measures[0], convention=evaluations[0].convention, depth=depth
    )
    chosen = _chosen(material, evaluations, room)
    ranked_runs: list[_RankedRun] = []
    # An evaluation as it was before `lined_up` may have kept its hits.
    rows = zip(evaluations, material.evaluations, material.runs, strict=True)
    for evaluation, original, run in rows:
        ranked_run = _ranked_run(
            material=material,
            lister=lister,
            evaluation=evaluation,
            values=_page_values(material, lister.qrels, original, run),
            run=run,
            queries=chosen,
        )
        ranked_runs.append(ranked_run)
        if progress is not None:
            progress(len(ranked_runs), len(evaluations))

    def lists_of(query: str) -> QueryLists:
        listings = tuple(of_run.listings[query] for of_run in ranked_runs)
        return QueryLists(runs=listings, relevant=lister.relevant(query))

    means = {of_run.evaluation.name: of_run.at_cutoffs for of_run in ranked_runs}
    longest = max(of_run.longest for of_run in ranked_runs)
    drawn = curves(families(material.measures), means, longest)
    with_judgedness = tuple(of_run.evaluation for of_run in ranked_runs)
    return with_judgedness, MadeOnDemand(chosen, lists_of), drawn


def _chosen(material: ReportMaterial, evaluations: Sequence[Evaluation], room: int) -> list[str]:
    """Choose the queries whose lists are gathered."""
    order = queries_first(evaluations, material.measures[0], material.pairs, material.gated)
    return list(islice(order, most_queries(room, len(evaluations), depth_of(material.measures))))


@dataclass(frozen=True, kw_only=True, eq=False)
class _RankedRun:
    """Rankings and values of one run."""

    evaluation: Evaluation
    at_cutoffs: Mapping[str, RunMean]
    listings: Mapping[str, Listing | None]
    longest: int


class _PageValues(NamedTuple):
    """Values of a run by all measures of the page, its alignment and first documents."""

    evaluation: Evaluation
    judged: Judged
    top: Top


def _ranked_run(
    material: ReportMaterial,
    lister: Lister,
    evaluation: Evaluation,
    values: _PageValues,
    run: Run,
    queries: Sequence[str],
) -> _RankedRun:
    return _RankedRun(
        evaluation=evaluation.join(values.evaluation, _judgedness(material)),
        at_cutoffs=_intervals(material, values.evaluation.select(_at_cutoffs(material.measures))),
        listings=lister.listings(run, values.judged, queries),
        longest=values.top.longest,
    )


def _intervals(material: ReportMaterial, evaluation: Evaluation) -> dict[str, RunMean]:
    return intervals(
        evaluation,
        level=material.level,
        weights=material.weights,
        clusters=material.clusters,
    )


def _at_cutoffs(measures: Sequence[Measure]) -> list[Measure]:
    return [measure for by_cutoff in families(measures).values() for measure in by_cutoff.values()]


def measures_looked_at(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return all measures that a page needs: the given ones, companions for unjudged documents, and
    the measures at many cutoffs.
    """
    return tuple(dict.fromkeys([*with_companions(measures), *_at_cutoffs(measures)]))


def _page_values(
    material: ReportMaterial, qrels: Qrels, evaluation: Evaluation, run: Run
) -> _PageValues:
    """Return the values of a run: as its evaluation kept them, or evaluated again."""
    measures = measures_looked_at(material.measures)
    depth = depth_of(material.measures)
    judged = evaluation.judged if evaluation.can_tell(measures) else None
    if judged and judged.top and judged.top.depth >= depth:
        return _PageValues(evaluation.further(measures), judged, judged.top)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)  # all was said of the evaluation itself
        again = evaluate(
            qrels, run, measures, evaluation.convention, keep_top=depth, threads=material.threads
        )
    _refuse_another(evaluation, again, material.measures[0])
    if again.judged is None or again.judged.top is None:
        raise TypeError("evaluated without first documents, which `keep_top` keeps")
    return _PageValues(again, again.judged, again.judged.top)


def _refuse_another(evaluation: Evaluation, again: Evaluation, measure: Measure) -> None:
    """Refuse judgments and a run that do not belong to the evaluation: rankings and numbers would
    not match.
    """
    queries = queries_of([evaluation, again])
    kept = QueryTable.of(evaluation, [measure], queries)
    recomputed = QueryTable.of(again, [measure], queries)
    if not np.allclose(kept.values, recomputed.values, rtol=0, atol=_SAME, equal_nan=True):
        mean = again.mean()[str(measure)]
        kept_mean = evaluation.mean()[str(measure)]
        raise IncompatibleError(
            f"{evaluation.name}: found judgments and a run whose {measure} is {mean:.6g}, expected "
            f"the evaluation's own, where it is {kept_mean:.6g}; runs stand in the order of the "
            f"evaluations"
        )


def _judgedness(material: ReportMaterial) -> tuple[Measure, ...]:
    """Choose the measures of judgedness; a gate omits values of judged documents alone, since
    baselines are cut.
    """
    added = (
        measure
        for measure in with_companions(material.measures)
        if measure not in material.measures
    )
    return tuple(measure for measure in added if material.gated is None or not measure.judged_only)


def _means(
    material: ReportMaterial, evaluations: Sequence[Evaluation]
) -> dict[str, dict[str, RunMean]]:
    """Means with intervals by measure and run, from the comparison if it has all measures."""
    compared = {} if material.comparison is None else material.comparison.means
    if compared and all(str(measure) in compared for measure in material.measures):
        return {text: dict(of_runs) for text, of_runs in compared.items()}
    selected = [evaluation.select(material.measures) for evaluation in evaluations]
    means = {evaluation.name: _intervals(material, evaluation) for evaluation in selected}
    texts = [str(measure) for measure in material.measures if measure.aggregate == "mean"]
    by_measure = {}
    for text in texts:
        by_measure[text] = {name: of_run[text] for name, of_run in means.items()}
    return by_measure


def _categories(material: ReportMaterial) -> dict[str, tuple[str, ...]]:
    return {
        query: (name,) if isinstance(name, str) else tuple(name)
        for query, name in (material.categories or {}).items()
    }
