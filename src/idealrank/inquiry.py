"""Questions beyond a number, for anything a user may hold: where it comes from, who computes it, how alike runs are, what to measure."""

from collections.abc import Iterable, Mapping
from functools import cache
from inspect import isfunction
from os import PathLike
from typing import Any

from idealrank.analysis.advice import Advice, advise_lists
from idealrank.analysis.advice import advise as advise_run
from idealrank.analysis.attribution import Attribution
from idealrank.analysis.attribution import attribute as attribute_runs
from idealrank.analysis.explanation import Explanation
from idealrank.analysis.explanation import explain as explain_query
from idealrank.analysis.reconciliation import DifferenceSplit, Reconciliation, reconcile_lists, split_lists_difference
from idealrank.analysis.reconciliation import reconcile as reconcile_run
from idealrank.analysis.reconciliation import split_difference as split_run_difference
from idealrank.analysis.reconciliation.trials import QrelsSource
from idealrank.analysis.robustness import Robustness, Way, robust_lists
from idealrank.analysis.robustness import robust as robust_runs
from idealrank.analysis.robustness.multiverse import Tell
from idealrank.api import AnyTable, evaluate, is_array, to_qrels, to_run
from idealrank.conventions import Convention
from idealrank.data.assessors import AssessorQrels
from idealrank.data.lists import Lists
from idealrank.data.preferences.preference_qrels import PreferenceQrels
from idealrank.data.run import Run
from idealrank.errors import InputError
from idealrank.evaluation.overlap import DEFAULT_PAIR_MEASURES, Overlap
from idealrank.evaluation.overlap import overlap as overlap_runs
from idealrank.io.provenance import input_files
from idealrank.measures.parse import MeasureLike
from idealrank.stats.comparison import TestName
from idealrank.stats.randomness import RandomLike


def explain(
    qrels: AnyTable, run: AnyTable, query_id: "str | int", measure: MeasureLike = "nDCG@10", convention: "Convention | str" = "standard"
) -> Explanation:
    """Where the value of one query comes from, rank by rank.

    Parameters
    ----------
    qrels, run : path, mapping, dataframe, Qrels or Run
        As for `evaluate`.
    query_id : str or int
        The query; whole numbers are ids as elsewhere.
    measure : Measure or str
        nDCG, DCG, AP, RR, P or R.
    convention : Convention or str
        How to align and how to measure.

    Returns
    -------
    Explanation
        Rows with document, grade, gain, discount and contribution, the ideal beside them, and what would raise the value most.

    Examples
    --------
    >>> found = explain({"q": {"a": 3, "b": 1}}, {"q": ["b", "x", "a"]}, "q", "nDCG@10")
    >>> round(found.value, 4), found.rows[2].document, found.rows[2].contribution.__class__.__name__
    (0.6885, 'a', 'float')
    """
    return explain_query(to_qrels(qrels), to_run(run), str(query_id), measure, convention)


def reconcile(
    qrels: AnyTable,
    run: AnyTable,
    value: "str | float",
    measure: MeasureLike = "nDCG@10",
    convention: "Convention | str" = "standard",
    **layout: Any,
) -> Reconciliation:
    """The conventions under which a run has a stated value, nearest first, and how each differs from the current one.

    Parameters
    ----------
    qrels, run : path, mapping, dataframe, Qrels or Run, or arrays of labels and scores
        As for `evaluate`.
    value : str or float
        As printed elsewhere; of a text, the digits count: ``"0.50"`` stands for what rounds, or is cut, to 0.50.
    measure : Measure or str
        What the value is said to be.
    convention : Convention or str
        The current one.
    **layout
        For arrays: group, offsets, qid, mask, padding; see `Lists.from_arrays`.

    Examples
    --------
    >>> reconcile({"q": {"a": 3, "b": 2, "c": 1}}, {"q": ["b", "a"]}, "0.8340", "nDCG@10").matches[0].conventions[0]
    'xgboost-minus'
    """
    if is_array(qrels) and is_array(run):
        return reconcile_lists(Lists.from_arrays(qrels, run, **layout), value, measure, convention)
    return reconcile_run(_source(qrels), to_run(run), value, measure, convention)


def split_difference(
    qrels: AnyTable, run: AnyTable, measure: MeasureLike, a: "Convention | str", b: "Convention | str", **layout: Any
) -> DifferenceSplit:
    """The difference between two conventions' values of a run, shared out among the switches in which they differ.

    Parameters
    ----------
    qrels, run, measure, **layout
        As for `reconcile`.
    a, b : Convention or str
        The two conventions.

    Examples
    --------
    >>> split = split_difference({"q": {"a": 3, "b": 2}}, {"q": ["b"]}, "nDCG@10", "standard", "standard,gain=exp2")
    >>> [part.switches for part in split.parts]
    [('gain',)]
    """
    if is_array(qrels) and is_array(run):
        return split_lists_difference(Lists.from_arrays(qrels, run, **layout), measure, a, b)
    return split_run_difference(_source(qrels), to_run(run), measure, a, b)


def advise(
    qrels: AnyTable,
    run: AnyTable,
    *,
    surface: str | None = None,
    visible: int | None = None,
    convention: "Convention | str" = "standard",
    **layout: Any,
) -> Advice:
    """Which measures and cutoffs fit judgments and a run, and why.

    Parameters
    ----------
    qrels, run : path, mapping, dataframe, Qrels or Run, or arrays of labels and scores
        As for `evaluate`.
    surface : {"phone", "desktop", "carousel", "rag"}, optional
        Where the results are shown: 5 ranks count on a phone, 10 and 20 on a desktop, as many as are visible in a carousel, as many as
        go into the prompt of a language model.
    visible : int, optional
        How many that is.
    convention : Convention or str
        How run and judgments are joined.
    **layout
        For arrays: group, offsets, qid, mask, padding; see `Lists.from_arrays`.

    Returns
    -------
    Advice
        Measures that fit with the reason for each, cutoffs, warnings, and what was seen: grades, judgments per query, how deep the
        lists are judged, relevant documents per query, ties, list lengths.

    Examples
    --------
    >>> advice = advise({"q": {"a": 3, "b": 1, "c": 0}}, {"q": ["b", "x", "a"]}, surface="phone")
    >>> advice.cutoffs, [fit.measure for fit in advice.fits[:2]]
    ((5,), ['nDCG@5', 'nDCG(judged_only=True)@5'])
    """
    if is_array(qrels) and is_array(run):
        return advise_lists(Lists.from_arrays(qrels, run, **layout), surface=surface, visible=visible, convention=convention)
    return advise_run(to_qrels(qrels), to_run(run), surface=surface, visible=visible, convention=convention)


def attribute(
    qrels: AnyTable,
    run_a: AnyTable,
    run_b: AnyTable,
    measure: MeasureLike = "nDCG@10",
    convention: "Convention | str" = "standard",
    *,
    threads: int = 0,
) -> Attribution:
    """Why two runs differ: their difference taken apart into queries, documents and rank moves, whatever holds them.

    Parameters
    ----------
    qrels, run_a, run_b : path, mapping, dataframe, Qrels or Run
        As for `evaluate`; every difference is b - a.
    measure : Measure or str
        The split is exact for DCG, NDCG, P, R and RBP. For others (AP, RR, ERR, ...) a document adds what the value rises when the list is
        known down to it; `Attribution.split` says which it is.
    convention : Convention or str
        How to align and how to measure. A query that it leaves out of either run is left out of both.
    threads : int
        0 uses all cores; the values are the same for any number.

    Returns
    -------
    Attribution
        Queries and documents, the worst change first, and what documents that entered, left and moved contribute.

    Raises
    ------
    InputError
        A table cannot be read, or no query counts in both runs.
    OptionError
        The measure cannot be split among documents.

    Examples
    --------
    >>> found = attribute({"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}, {"q": ["x", "a", "b"]}, "AP")
    >>> round(found.difference, 4), [(document.document, round(document.difference, 4)) for document in found.documents("q")]
    (-0.4167, [('a', -0.25), ('b', -0.1667)])
    """
    first, second = to_run(run_a, name="A"), to_run(run_b, name="B")
    return attribute_runs(to_qrels(qrels), first, second, measure, convention, threads=threads)


def robust(
    qrels: AnyTable,
    run_a: AnyTable,
    run_b: AnyTable,
    measure: MeasureLike = "nDCG@10",
    *,
    convention: "Convention | str" = "standard",
    variants: "Iterable[str] | None" = None,
    pairs: int = 8,
    test: TestName = "permutation",
    level: float = 0.95,
    margin: float | None = None,
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, object] | None = None,
    n_resamples: int | None = None,
    rng: RandomLike = None,
    threads: int | None = None,
    progress: Tell | None = None,
    **layout: Any,
) -> Robustness:
    """Whether a comparison of two runs holds when the measure is computed in other ways, and which switch turns it.

    Every variant changes one thing: a switch of the convention (gain, discount, ideal, tie rule, unjudged documents, queries without
    an answer, ...), the cutoff, the threshold of relevance; or takes the convention of another tool whole, or another measure.

    Parameters
    ----------
    qrels, run_a, run_b : path, mapping, dataframe, Qrels or Run, or arrays of labels and two of scores
        As for `evaluate`; every difference is b - a.
    measure : Measure or str
        The measure that the decision goes by. A switch that it sets itself is changed there.
    convention : Convention or str
        The reference.
    variants : iterable of str, optional
        What to try instead of everything: groups (``"ties"``, ``"cutoff"``, ``"rel"``, ``"measure"``, ``"preset"``), changes
        (``"ties=worst"``, ``"gain=exp2,cutoff=5"``), presets (``"lightgbm"``) and measures (``"AP"``).
    pairs : int
        Where no switch turns the verdict by itself: of so many switches that cost the leader most, every two are tried together. 0 for
        none.
    test, level, margin, weights, clusters, n_resamples
        As for `compare`; the same for every variant.
    rng : Generator, seed or None
        One seed for every variant; None derives it from the values, as `compare` does.
    threads : int, optional
        None or 0 for one a core; the numbers are the same for any.
    progress : callable, optional
        Called with the alignments done and their number.
    **layout
        For arrays: group, offsets, qid, mask, padding; see `Lists.from_arrays`.

    Returns
    -------
    Robustness
        The comparison asked for, every variant with its difference, interval, p and verdict, and what turns the verdict.

    Raises
    ------
    InputError
        A table cannot be read, or no query counts in both runs as asked.
    OptionError
        An option is impossible, or the measure has no better and worse.

    Notes
    -----
    This is a sensitivity analysis, a multiverse of the choices behind one comparison. Variants share their queries, so they agree far
    more than independent experiments would, and how many of them show a difference is no p value. p values are not corrected, and are
    not for choosing a variant: decide the convention before looking at runs, and report this beside it.

    References
    ----------
    Steegen, Tuerlinckx, Gelman and Vanpaemel (2016), Increasing transparency through a multiverse analysis. Perspectives on
    Psychological Science 11(5).

    Examples
    --------
    >>> qrels = {f"q{i}": {"x": 1} for i in range(6)}
    >>> tied = {query: {"x": 1.0, "y": 1.0} for query in qrels}
    >>> found = robust(qrels, tied, {query: ["x"] for query in qrels}, "RR")
    >>> found.asked.difference, [(one.change, one.row.difference) for one in found.turning]
    (0.5, [('ties=docid-ascending', 0.0), ('P@10', 0.0)])
    """
    way = Way(test=test, level=level, margin=margin, weights=weights, clusters=clusters, n_resamples=n_resamples, rng=rng, threads=threads)
    options: dict[str, Any] = {"variants": variants, "pairs": pairs, "way": way, "tell": progress}
    if is_array(qrels) and is_array(run_a) and is_array(run_b):
        lists = [Lists.from_arrays(qrels, run, **layout) for run in (run_a, run_b)]
        return robust_lists(lists[0], lists[1], measure, convention, **options)
    if layout:
        raise InputError(f"{', '.join(layout)}: belongs to arrays of labels and scores; found other qrels or runs")
    first, second = (to_run(run, name=name if isinstance(run, Mapping) else None) for run, name in ((run_a, "A"), (run_b, "B")))
    judgments = qrels if isinstance(qrels, (PreferenceQrels, AssessorQrels)) else _source(qrels)
    if callable(judgments):
        judgments = cache(judgments)
    for run in (first, second):
        # What is odd about these data is said once, of the comparison asked for, and not again for each variant.
        policy = Convention.of(convention).alignment.duplicates
        evaluate(judgments("error" if policy == "twice" else policy) if callable(judgments) else judgments, run, measure, convention)
    return robust_runs(judgments, first, second, measure, convention, **options)


advise_read = advise_run
"""`advise` for judgments and a run that are read already."""

overlap_read = overlap_runs
"""`overlap` for runs that are read already."""


def robust_read(
    qrels: QrelsSource,
    run_a: Run,
    run_b: Run,
    measure: MeasureLike,
    convention: "Convention | str",
    *,
    variants: "Iterable[str] | None" = None,
    pairs: int = 8,
    progress: Tell | None = None,
    **way: Any,
) -> Robustness:
    """`robust` for judgments and runs that are read already, without warnings of odd data; `way` has the fields of a `Way`.

    Examples
    --------
    >>> from idealrank import Qrels
    >>> qrels, runs = Qrels({"q": {"x": 1}}), [Run({"q": ranking}) for ranking in (["x", "y"], ["y", "x"])]
    >>> robust_read(qrels, *runs, "RR", "standard", variants=["ties"], test="sign").reference.row.difference
    -0.5
    """
    return robust_runs(qrels, run_a, run_b, measure, convention, variants=variants, pairs=pairs, way=Way(**way), tell=progress)


def _source(qrels: AnyTable) -> QrelsSource:
    """Judgments, or what reads them under each policy for documents judged twice: a function, or one made for a path."""
    if isinstance(qrels, (str, PathLike)):
        return lambda policy: to_qrels(qrels, duplicates=policy)
    return qrels if isfunction(qrels) else to_qrels(qrels)


def overlap(
    run_a: AnyTable,
    run_b: AnyTable,
    measures: "MeasureLike | Iterable[MeasureLike]" = DEFAULT_PAIR_MEASURES,
    *,
    ties: str = "shared",
    duplicates: str = "error",
    threads: int = 0,
) -> Overlap:
    """How alike two runs are, query by query, whatever holds them; no judgments are needed.

    Parameters
    ----------
    run_a, run_b : path, mapping, dataframe or Run
        As for `evaluate`.
    measures : measure or iterable of them
        Measures of two runs, or their texts: ``"RBO(p=0.9)"``, ``"overlap@10"``, ``"Jaccard@10"``, ``"tau"``, ``"tauAP"``, ``"wtau"``.
    ties : {"shared", "docid", "docid-ascending", "input", "expected"}
        Documents of a list with equal scores: they share a rank (then tau is tau-b); or are ordered by document id (descending as
        trec_eval, or ascending) or as they came in; or every order is equally likely and each value is the mean over all of them.
    duplicates : {"error", "first", "last", "best"}
        A document that a run lists twice for a query.
    threads : int
        0 uses all cores; the values are the same for any number.

    Returns
    -------
    Overlap
        Values per query, means, the queries of only one run.

    Raises
    ------
    InputError
        The runs cannot be read, or have no query in common.
    OptionError
        A measure or an option is unknown.

    Examples
    --------
    >>> found = overlap({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, ["RBO(p=0.9)", "overlap@3", "tau"])
    >>> {measure: round(value, 4) for measure, value in found.mean().items()}
    {'RBO(p=0.9)': 0.63, 'overlap@3': 0.6667, 'tau': -1.0}
    """
    first, second = to_run(run_a, name="A"), to_run(run_b, name="B")
    inputs = input_files((*first.paths, *second.paths))
    return overlap_runs(first, second, measures, ties=ties, duplicates=duplicates, threads=threads, inputs=inputs)
