"""Everything a page shows, gathered from results and, where they are at hand, from judgments and
runs, one run at a time: curves by cutoff, and the queries whose lists are shown.
"""

import warnings
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, zip_longest

import numpy as np

from idealrank.analysis.comparison import RunMean, intervals, with_companions
from idealrank.analysis.comparison.query_table import QueryTable, queries_of
from idealrank.analysis.gate import Gated
from idealrank.api.per_query import interval_cautions
from idealrank.data.judged import Judged, Top
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import IdealrankError, IdealrankWarning, IncompatibleError
from idealrank.evaluation.evaluate import Evaluation, evaluate
from idealrank.io.complaints import Notes, Tell
from idealrank.io.texts import clipped, read_texts
from idealrank.measures.measure import Measure
from idealrank.pages.report.material import ReportMaterial, Texts, lined_up
from idealrank.pages.report.query_lists import Lister, MadeOnDemand, depth_of, lists_of_hits
from idealrank.reports.subject import CutoffCurve, Listing, QueryLists, Subject

CUTOFFS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
_MOST = 3  # families of measures


def families(measures: Sequence[Measure]) -> dict[str, dict[int, Measure]]:
    """Measures at rising cutoffs, by the text of the measure without one: of the first three
    families that take a cutoff.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measures
    >>> found = families(parse_measures(["nDCG@7", "nDCG", "P@10", "NumRel"]))
    >>> list(found), [str(one) for one in found["nDCG"].values()][3:6]
    (['nDCG', 'P'], ['nDCG@5', 'nDCG@7', 'nDCG@10'])
    """
    found: dict[str, dict[int, Measure]] = {}
    for measure in measures:
        if (
            measure.cuts == "none"
            or measure.aggregate != "mean"
            or not isinstance(measure.cutoff, int | None)
        ):
            continue
        name = str(measure).removesuffix(f"@{measure.cutoff}")
        cutoffs = {
            *CUTOFFS,
            *([] if measure.cutoff is None else [measure.cutoff]),
            *found.get(name, ()),
        }
        try:
            at = {cutoff: replace(measure, cutoff=cutoff) for cutoff in sorted(cutoffs)}
        except (TypeError, IdealrankError):  # a user's measure with other arguments
            continue
        if name in found or len(found) < _MOST:
            found[name] = at
    return found


def curves(
    wanted: Mapping[str, Mapping[int, Measure]],
    means: Mapping[str, Mapping[str, RunMean]],
    depth: int,
) -> tuple[CutoffCurve, ...]:
    """The curves of every run, as deep as the longest list; curves of fewer than two cutoffs are
    left out.
    """
    found = []
    for name, at in wanted.items():
        cutoffs = tuple(cutoff for cutoff in at if cutoff <= depth)
        texts = [str(at[cutoff]) for cutoff in cutoffs]
        if len(cutoffs) > 1:
            found.append(
                CutoffCurve(
                    measure=name,
                    cutoffs=cutoffs,
                    means={run: tuple(of[text] for text in texts) for run, of in means.items()},
                )
            )
    return tuple(found)


# Bytes. A page is to stay under two megabytes; the script that draws, styles and tables take a part
# of it whatever they show.
_PAGE, _FIXED, _LEAST = 1_900_000, 620_000, 200_000
_IN_BASE64 = 4 / 3
# Compressed, of a listing: a document with grade, tie and contribution. Ids of eight digits take
# twice that (measured): short ones do not.
_FOR_A_DOCUMENT = 6.0


def queries_first(
    evaluations: Sequence[Evaluation],
    measure: Measure,
    pairs: Sequence[tuple[int, int]],
    gated: Gated | None = None,
) -> Iterator[str]:
    """Every query, the most telling ones first.

    Those that closed a gate; then of each pair of runs in turn the largest loss, the largest gain,
    the second loss, and so on; of one run alone those with the worst values; then all others.
    """
    queries = list(
        dict.fromkeys(query for evaluation in evaluations for query in evaluation.queries)
    )
    values = [
        QueryTable.of(one, [measure], queries).values[:, 0] * (measure.direction or 1)
        for one in evaluations
    ]
    looked = list(pairs) or list(combinations(range(len(values)), 2))
    orders = [_by_size(values[b] - values[a]) for a, b in looked] or [
        np.argsort(values[0], kind="stable")
    ]
    in_turn = (
        int(row)
        for rows in zip_longest(*(order.tolist() for order in orders))
        for row in rows
        if row is not None
    )
    known, closing = set(queries), () if gated is None else gated.closing_queries
    first = (query for query in closing if query in known)
    yield from dict.fromkeys([*first, *(queries[row] for row in in_turn), *queries])


def _by_size(differences: FloatArray) -> IntArray:
    """Rows with a difference: the largest loss, the largest gain, the second loss, ..."""
    order = np.argsort(np.nan_to_num(differences), kind="stable")
    order = order[np.nan_to_num(differences)[order] != 0]
    gains = differences[order] > 0
    losses = zip_longest(order[~gains].tolist(), order[gains][::-1].tolist())
    return np.array([row for both in losses for row in both if row is not None], np.int64)


def room_for_lists(
    evaluations: Sequence[Evaluation], n_measures: int, query_texts: Mapping[str, str]
) -> int:
    """Compressed bytes that lists, document ids and texts may take, beside the values and texts of
    all queries.
    """
    n_queries = len(evaluations[0].queries)
    values = 2 * n_queries * len(evaluations) * n_measures
    ids = len(zlib.compress("\n".join(evaluations[0].queries).encode("utf-8", "replace"), 1))
    texts = len(zlib.compress("\n".join(query_texts.values()).encode("utf-8", "replace"), 1))
    return max(int((_PAGE - _FIXED) / _IN_BASE64) - values - ids - texts, _LEAST)


def most_queries(room: int, n_runs: int, depth: int) -> int:
    """Return the largest number of queries whose lists may fit into a number of bytes."""
    return max(int(room / (n_runs * depth * _FOR_A_DOCUMENT)), 1)


def documents_of_lists(lists: Mapping[str, QueryLists]) -> dict[str, None]:
    """Every document of the lists and of what they missed, in the order of the queries."""
    found: dict[str, None] = {}
    for shown in lists.values():
        for listing in shown.runs:
            found.update(
                dict.fromkeys(
                    document
                    for document in (listing.documents if listing else ())
                    if document is not None
                )
            )
        found.update(dict.fromkeys(document for document, _ in shown.relevant))
    return found


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
