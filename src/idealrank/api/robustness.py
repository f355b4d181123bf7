"""Robustness of a verdict, for paths, mappings, dataframes and arrays."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from idealrank.analysis.robustness import Robustness, VariantTest, robust_lists
from idealrank.analysis.robustness import robust as robust_runs
from idealrank.analysis.robustness.multiverse import Tell
from idealrank.api.evaluation import AnyTable, evaluate, is_array, to_run
from idealrank.api.per_query import QueryValues, clusters_of, weights_of
from idealrank.api.reconciliation import judgments_source
from idealrank.conventions import Convention
from idealrank.data.join import is_judgments
from idealrank.data.lists import Lists
from idealrank.data.run import Run
from idealrank.errors import InputError
from idealrank.evaluation.sweep import JudgmentsSource
from idealrank.measures.parse import MeasureLike
from idealrank.stats.comparison import TestName
from idealrank.stats.randomness import RandomLike


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
    weights: QueryValues = None,
    clusters: QueryValues = None,
    n_resamples: int | None = None,
    rng: RandomLike = None,
    threads: int | None = None,
    progress: Tell | None = None,
    **layout: Any,
) -> Robustness:
    """Repeat a comparison of two runs under other conventions, cutoffs and measures, and list the changes that alter its verdict.

    Each variant changes one thing: a switch of the convention (gain, discount, ideal, tie rule, unjudged documents, queries without an
    answer, ...), the cutoff or the relevance threshold; or it uses the whole convention of another tool, or another measure.

    Parameters
    ----------
    qrels, run_a, run_b : path, mapping, dataframe, Qrels or Run, or arrays of labels and two of scores
        As for `evaluate`; every difference is b - a.
    measure : Measure or str
        Measure that decides. Switches that it sets itself are changed in it.
    convention : Convention or str
        Reference convention.
    variants : iterable of str, optional
        Variants to try instead of all: groups (``"ties"``, ``"cutoff"``, ``"rel"``, ``"measure"``, ``"preset"``), changes
        (``"ties=worst"``, ``"gain=exp2,cutoff=5"``), presets (``"lightgbm"``) and measures (``"AP"``).
    pairs : int
        If no single switch alters the verdict, the number of most costly switches that are tried in pairs; 0 for none.
    test, level, margin, weights, clusters, n_resamples
        As for `compare`; the same for every variant.
    rng : Generator, seed or None
        Random generator or seed, the same for every variant; by default derived from the values, as in `compare`.
    threads : int, optional
        Number of threads; None or 0 uses all cores. Results do not depend on it.
    progress : callable, optional
        Progress callback, called with the number of finished alignments and the total.
    **layout
        For arrays: group, offsets, qid, mask, padding; see `Lists.from_arrays`.

    Returns
    -------
    Robustness
        The reference comparison, every variant with difference, interval, p and verdict, and the changes that alter the verdict.

    Raises
    ------
    InputError
        A table cannot be read, or no query counts in both runs as asked.
    OptionError
        An option is impossible, or the measure has no better and worse.

    Notes
    -----
    This is a sensitivity (multiverse) analysis of the choices behind one comparison. Variants share their queries and agree far more than
    independent experiments would, so the number of significant variants is not a p value. The p values are not corrected and must not be
    used to select a variant: choose the convention before looking at runs, and report this analysis with the result.

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
    way = VariantTest(
        test=test,
        level=level,
        margin=margin,
        weights=weights_of(weights),
        clusters=clusters_of(clusters),
        n_resamples=n_resamples,
        rng=rng,
        threads=threads,
    )
    options: dict[str, Any] = {"variants": variants, "pairs": pairs, "way": way, "tell": progress}
    if is_array(qrels) and is_array(run_a) and is_array(run_b):
        lists = [Lists.from_arrays(qrels, run, **layout) for run in (run_a, run_b)]
        return robust_lists(lists[0], lists[1], measure, convention, **options)
    if layout:
        raise InputError(f"{', '.join(layout)}: belongs to arrays of labels and scores; found other qrels or runs")
    first, second = (to_run(run, name=name if isinstance(run, Mapping) else None) for run, name in ((run_a, "A"), (run_b, "B")))
    judgments = qrels if is_judgments(qrels) else judgments_source(qrels)
    if callable(judgments):
        judgments = cache(judgments)
    for run in (first, second):
        # What is odd about these data is said once, of the comparison asked for, and not again for each variant.
        policy = Convention.of(convention).alignment.duplicates
        evaluate(judgments("error" if policy == "twice" else policy) if callable(judgments) else judgments, run, measure, convention)
    return robust_runs(judgments, first, second, measure, convention, **options)


def robust_read(
    qrels: JudgmentsSource,
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
    """`robust` for judgments and runs that are read already, without warnings of odd data; `way` has the fields of a `VariantTest`.

    Examples
    --------
    >>> from idealrank import Qrels
    >>> qrels, runs = Qrels({"q": {"x": 1}}), [Run({"q": ranking}) for ranking in (["x", "y"], ["y", "x"])]
    >>> robust_read(qrels, *runs, "RR", "standard", variants=["ties"], test="sign").reference.row.difference
    -0.5
    """
    return robust_runs(qrels, run_a, run_b, measure, convention, variants=variants, pairs=pairs, way=VariantTest(**way), tell=progress)
