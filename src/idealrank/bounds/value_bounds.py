"""Bounds of values: the lowest and the highest, whatever the grades of the documents that were not
judged.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from idealrank.bounds.extremes import MOST, Problem
from idealrank.bounds.free_documents import FreeDocuments
from idealrank.bounds.query_bounds import (
    Bounds,
    BoundsReport,
    DifferenceBounds,
    extreme_mean,
    known_mean,
    optional_mean,
)
from idealrank.conventions import Convention
from idealrank.data.align import align
from idealrank.data.judged import Judged
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.tally import Tally
from idealrank.measures.judgedness import JudgedShare
from idealrank.measures.measure import Measure, number_option
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.measures.sums import aggregate

AnyQrels: TypeAlias = Qrels | Mapping[str, Any]
AnyRun: TypeAlias = Run | Mapping[str, Any]
_WHOLE = (1 << 31) - 1  # the depth of whole lists: ranks are 32-bit integers


def bounds(
    qrels: AnyQrels,
    run: AnyRun,
    measure: MeasureLike,
    max_grade: float | None = None,
    depth: int | None = None,
    *,
    convention: "Convention | str" = "standard",
    threads: int = 0,
) -> Bounds:
    """Compute the lowest and the highest value of each query over all grades of the documents that
    the run returns unjudged.

    Parameters
    ----------
    qrels : Qrels or mapping
        What was judged.
    run : Run or mapping
        What was returned.
    measure : measure or str
        The measure.
    max_grade : float, optional
        Highest grade of the scale. Grades are the whole numbers from 0 to it, itself, and grades
        between that were judged. Default: the highest grade judged, at least 1.
    depth : int, optional
        Documents below this rank stay unjudged, as grade 0. Default: documents at any rank are
        open. Documents that the run does not return stay unjudged in any case.
    convention : Convention or str
        Convention of alignment and measure.
    threads : int
        Number of threads; 0 uses all cores.

    Returns
    -------
    Bounds

    Raises
    ------
    OptionError
        The convention or the measure takes unjudged documents out of the lists, or makes gains
        negative in a quotient; a value of `max_grade` or `depth` is impossible.
    InputError
        No query counts.

    Notes
    -----
    Exact for nDCG, DCG, R, P and RBP at any size, whatever the gain and the discount. Open
    documents change the ideal list, too. Exact for measures that rise with every grade (RR,
    Success, ERR, the static measures of C/W/L), and for AP. Exact for further measures that rise
    when higher grades move up (Rprec, F, Bpref, nERR, ...) while at most 2,048 choices of grades of
    a query can matter, and for all others while there are as few choices. `Bounds.exact_queries`
    marks the queries with exact bounds; the other bounds are the bounds of the measure.

    Grades between the ends matter. Of nDCG, the lowest value is attained by grades 0 and
    `max_grade` alone, the highest often by others: a document at rank 5 adds more to the list than
    to the ideal while its grade is low, and the reverse when it is high.

    Examples
    --------
    >>> found = bounds({"q": {"a": 2, "b": 1}}, {"q": ["a", "x", "b"]}, "nDCG@3")
    >>> found.low.round(3), found.high.round(3), [ranks.tolist() for ranks in found.unjudged_ranks]
    (array([0.95]), array([1.]), [[2]])
    """
    parsed = parse_measure(measure)
    table = as_qrels(qrels)
    lists = as_run(run, "run")
    _, resolved_convention = _resolved(parsed, convention)
    judged = aligned(table, lists, [parsed], resolved_convention, depth, threads=threads)
    if not judged.n_queries:
        raise InputError(
            f"no query to evaluate: {table.name} and run {lists.name!r} have none that counts "
            f"under convention {resolved_convention.name}"
        )
    return bounds_of(
        judged, parsed, max_grade, depth, convention=resolved_convention, name=lists.name
    )


def difference_bounds(
    qrels: AnyQrels,
    run_a: AnyRun,
    run_b: AnyRun,
    measure: MeasureLike,
    max_grade: float | None = None,
    depth: int | None = None,
    *,
    convention: "Convention | str" = "standard",
    threads: int = 0,
) -> DifferenceBounds:
    """Compute the lowest and the highest difference of two runs in each query over all grades of
    the documents they return unjudged.

    A document has one grade in both runs, and both share the ideal list. The bounds are therefore
    narrower than the difference of the bounds of the runs.

    Parameters
    ----------
    qrels : Qrels or mapping
        What was judged.
    run_a, run_b : Run or mapping
        What was returned; the difference is that of b less that of a.
    measure : measure or str
        The measure.
    max_grade, depth, convention, threads
        As for `bounds`. Documents are open that either run returns unjudged, down to the rank; a
        document is one in both runs, at any rank of the other.

    Returns
    -------
    DifferenceBounds

    Raises
    ------
    OptionError
        As for `bounds`.
    InputError
        No query counts in both runs.

    Notes
    -----
    Exact for nDCG and R where both runs have the same ideal list, for DCG, P and RBP, and for RR
    and Success without ties; for other measures that rise with every grade while documents that
    both runs return have at most 2,048 choices of grades; for all others while all open documents
    have. Elsewhere the bounds are differences of the bounds of both runs.

    Examples
    --------
    >>> qrels, a, b = {"q": {"a": 1}}, {"q": ["x", "a"]}, {"q": ["x", "y"]}
    >>> found = difference_bounds(qrels, a, b, "P@2")
    >>> found.low, found.value, found.high, found.flips
    (array([-0.5]), array([-0.5]), array([0.]), array([False]))
    """
    parsed = parse_measure(measure)
    table = as_qrels(qrels)
    lists = (as_run(run_a, "A"), as_run(run_b, "B"))
    _, resolved_convention = _resolved(parsed, convention)
    a, b = (
        aligned(table, run, [parsed], resolved_convention, depth, threads=threads) for run in lists
    )
    return difference_bounds_of(
        a,
        b,
        parsed,
        max_grade,
        depth,
        convention=resolved_convention,
        names=(lists[0].name, lists[1].name),
    )


def bounds_report(
    qrels: Qrels,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    *,
    max_grade: float | None = None,
    depth: int | None = None,
    convention: "Convention | str" = "standard",
    threads: int = 0,
) -> BoundsReport:
    """Compute the bounds of one or two runs; each run is ranked once.

    Parameters
    ----------
    qrels : Qrels
        What was judged.
    runs : sequence of Run
        One run, or two to be compared.
    measures : sequence of Measure
        The measures.
    max_grade, depth, convention, threads
        As for `bounds`.

    Returns
    -------
    BoundsReport

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measures
    >>> found = bounds_report(
    ...     Qrels({"q": {"a": 1}}), [Run({"q": ["x", "a"]})], parse_measures(["RR", "P@1"])
    ... )
    >>> [(one.measure, one.mean_low, one.mean_high) for one in found.runs]
    [('RR', 0.5, 1.0), ('P@1', 0.0, 1.0)]
    """
    resolved_convention = Convention.of(convention)
    lists = [
        aligned(qrels, run, measures, resolved_convention, depth, threads=threads) for run in runs
    ]
    for run, judged in zip(runs, lists, strict=True):
        if not judged.n_queries:
            raise InputError(
                f"no query to evaluate: {qrels.name} and run {run.name!r} have none that counts "
                f"under {resolved_convention.name}"
            )
    names = [run.name for run in runs]
    names = [
        name if names.index(name) == place else f"{name} ({place + 1})"
        for place, name in enumerate(names)
    ]
    alone: list[Bounds] = []
    differences: list[DifferenceBounds] = []
    for measure in measures:
        for judged, name in zip(lists, names, strict=True):
            alone.append(
                bounds_of(
                    judged, measure, max_grade, depth, convention=resolved_convention, name=name
                )
            )
    if len(runs) > 1:
        differences += [
            difference_bounds_of(
                lists[0],
                lists[1],
                measure,
                max_grade,
                depth,
                convention=resolved_convention,
                names=(names[0], names[1]),
            )
            for measure in measures
        ]
    return BoundsReport(
        convention=resolved_convention,
        max_grade=max(run_bounds.max_grade for run_bounds in alone),
        depth=depth,
        runs=tuple(alone),
        differences=tuple(differences),
    )


def bounds_of(
    judged: Judged,
    measure: Measure,
    max_grade: float | None,
    depth: int | None,
    *,
    convention: Convention,
    name: str = "run",
) -> Bounds:
    """Bounds of lists that are aligned already, with their unjudged documents; arguments as for
    `bounds`.
    """
    resolved, _ = _resolved(measure, convention)
    free = FreeDocuments.of([judged], judged.queries, _checked_depth(depth))
    highest = _highest(judged, max_grade)
    extremes = Problem(
        measure=resolved, free=free, convention=convention, max_grade=highest
    ).of_run()
    measured = resolved.measured(judged)
    scored = np.ones(judged.n_queries, np.bool_) if measured.scored is None else measured.scored
    places = free.sides[0].places
    cutoff = resolved.cutoff if measure.after_at == "cutoff" else None
    tally = Tally(cutoff if isinstance(cutoff, int) else 0)
    tally.add(judged, out_of_range=0)
    coverage = tally.coverage(judged.scope)
    return Bounds(
        measure=str(measure),
        name=name,
        query_ids=judged.queries,
        low=extremes.low,
        value=np.where(scored, measured.values, np.nan),
        high=extremes.high,
        exact_queries=extremes.exact,
        unjudged_ranks=np.split(
            places.rank, np.searchsorted(places.query, np.arange(1, judged.n_queries))
        ),
        judged_share=JudgedShare(cutoff=cutoff).compute(judged).values,
        unjudged_share=coverage.unjudged_share,
        max_grade=highest,
        depth=depth,
        mean_low=extreme_mean(measure, extremes.low, extremes.always, lowest=True),
        mean=aggregate(measure, measured.values, scored),
        mean_high=extreme_mean(measure, extremes.high, extremes.always, lowest=False),
        always=extremes.always,
        counts=(coverage.unjudged, coverage.considered),
        measured=measure,
    )


def difference_bounds_of(
    judged_a: Judged,
    judged_b: Judged,
    measure: Measure,
    max_grade: float | None,
    depth: int | None,
    *,
    convention: Convention,
    names: "tuple[str, str]" = ("A", "B"),
    queries: Sequence[str] | None = None,
    most: int = MOST,
    deepest: int = 0,
) -> DifferenceBounds:
    """Bounds of the difference of lists that are aligned already."""
    resolved, _ = _resolved(measure, convention)
    if queries is None:
        others = set(judged_b.queries)
        queries = [query for query in judged_a.queries if query in others]
    if not queries:
        raise InputError(
            f"no query to compare: runs {names[0]!r} and {names[1]!r} have none that counts in both"
        )
    free = FreeDocuments.of([judged_a, judged_b], queries, _checked_depth(depth), deepest)
    highest = max(_highest(judged_a, max_grade), _highest(judged_b, max_grade))
    extremes = Problem(
        measure=resolved, free=free, convention=convention, max_grade=highest, most=most
    ).of_difference()
    values_a, values_b = (
        scored_values(resolved, judged)[side.row]
        for side, judged in zip(free.sides, (judged_a, judged_b), strict=True)
    )
    by_a = free.returned_by(0)
    by_b = free.returned_by(1)
    only_a, only_b, in_both = (
        np.bincount(free.query[documents], minlength=len(queries)).astype(np.int64)
        for documents in (by_a & ~by_b, by_b & ~by_a, by_a & by_b)
    )
    value = values_b - values_a
    return DifferenceBounds(
        measure=str(measure),
        a=names[0],
        b=names[1],
        query_ids=queries,
        low=extremes.low,
        value=value,
        high=extremes.high,
        exact_queries=extremes.exact,
        unjudged_a=only_a,
        unjudged_b=only_b,
        unjudged_both=in_both,
        max_grade=highest,
        depth=depth,
        mean_low=optional_mean(extremes.low, extremes.always, lowest=True),
        mean=known_mean(value),
        mean_high=optional_mean(extremes.high, extremes.always, lowest=False),
        always=extremes.always,
    )


def scored_values(measure: Measure, judged: Judged) -> FloatArray:
    """Value of each query by a measure with every option set; NaN where the convention gives
    none.
    """
    measured = measure.measured(judged)
    if measured.scored is None:
        return measured.values
    return np.where(measured.scored, measured.values, np.nan)


def as_qrels(qrels: AnyQrels) -> Qrels:
    """Judgments as `Qrels`."""
    if isinstance(qrels, Qrels):
        return qrels
    if not isinstance(qrels, Mapping):
        raise InputError(
            f"found {type(qrels).__name__}, expected judgments as Qrels or {{query: {{document: "
            "grade}}"
        )
    return Qrels(qrels)


def as_run(run: AnyRun, name: str) -> Run:
    """Lists as a `Run`, with a name where they have none."""
    return run if isinstance(run, Run) else Run(run, name=name)


def _resolved(measure: Measure, convention: "Convention | str") -> tuple[Measure, Convention]:
    """The measure with every option set, refused where unjudged documents have no place in the
    lists.
    """
    resolved_convention = Convention.of(convention)
    measure.check_tables(())
    if measure.aggregate == "text" or not measure.looks_at_grades:
        raise OptionError(
            f"{measure}: found a measure without grades, expected one whose values depend on "
            f"them, such as nDCG@10"
        )
    if measure.judged_only or resolved_convention.alignment.unjudged == "skipped":
        raise OptionError(
            f"{measure}: unjudged documents are taken out of the lists, so that their grades have "
            "no bounds; expected unjudged=not-relevant, and a measure without judged_only",
            switch="unjudged=not-relevant",
        )
    return measure.under(resolved_convention), resolved_convention


def aligned(
    qrels: Qrels,
    run: Run,
    measures: Sequence[Measure],
    convention: Convention,
    depth: int | None,
    *,
    threads: int = 0,
) -> Judged:
    """Lists with hits as deep as the measures look, and unjudged documents at all ranks that may be
    open or count.
    """
    needed = [_resolved(measure, convention)[0].hits_needed() or _WHOLE for measure in measures]
    deepest = max(_checked_depth(depth) or _WHOLE, *needed)
    hits = 0 if deepest == _WHOLE else deepest
    return align(
        qrels, run, convention.alignment, depth=hits, unjudged_depth=deepest, threads=threads
    )


def _checked_depth(depth: object) -> int | None:
    if depth is None:
        return None
    if isinstance(depth, int | np.integer) and not isinstance(depth, bool) and 1 <= depth <= _WHOLE:
        return int(depth)
    raise OptionError(f"depth={depth!r}: expected a rank from 1 on, or None for whole lists")


def _highest(judged: Judged, max_grade: float | None) -> float:
    if max_grade is not None:
        return number_option("max_grade", max_grade, 0, 1e6)
    return max(1.0, float(judged.ideal.grade.max(initial=1.0)))
