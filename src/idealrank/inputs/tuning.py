"""Choice of discount and cutoff, for paths, mappings, dataframes and arrays, with the theory of
each.
"""

from collections.abc import Iterable, Sequence

from idealrank._features import offered
from idealrank.analysis.tuning.measurement import (
    CUTOFFS,
    DISCOUNTS,
    Option,
    Sampling,
    Tell,
    chosen_setting,
    grid_of,
    measures_of,
)
from idealrank.analysis.tuning.settings import Choice, Theory
from idealrank.conventions import Convention
from idealrank.evaluation.evaluate import Evaluation, evaluate
from idealrank.inputs.evaluation import AnyTable, to_qrels, to_run
from idealrank.inputs.judged_runs import several_runs
from idealrank.measures.cutoffs import Cutoff
from idealrank.measures.discounts import DiscountLike
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike
from idealrank.stats.randomness import RandomLike


def choose(
    qrels: AnyTable,
    runs: Iterable[AnyTable],
    *,
    measure: MeasureLike = "nDCG",
    discounts: Iterable[DiscountLike] = DISCOUNTS,
    cutoffs: "Iterable[int | str | Cutoff | None]" = CUTOFFS,
    convention: "Convention | str" = "standard",
    size: int | None = None,
    n_splits: int = 2000,
    n_resamples: int = 400,
    level: float = 0.95,
    rng: RandomLike = None,
    threads: int = 0,
    tell: Tell | None = None,
) -> Choice:
    """Recommend the discount and cutoff that best distinguish given runs; the result never shows
    which run is better.

    Parameters
    ----------
    qrels : path, mapping, dataframe or Qrels
        As for `evaluate`.
    runs : iterable of path, mapping, dataframe or Run
        Two or more runs; more runs, and more diverse ones, give better recommendations.
    measure : measure
        nDCG or DCG, with any option except discount and cutoff.
    discounts, cutoffs : iterables
        Settings to compare, as accepted by the measures; a cutoff of None is the whole list.
    convention : Convention or str
        Convention of alignment and measure.
    size : int, optional
        Number of queries in each of the two sets that may disagree, at most half of all. Default: a
        tenth of all, at least 5. Larger sets disagree less often, and distinguish settings less
        well.
    n_splits : int
        Number of random splits into two such sets, the same for every setting; all splits are used
        if there are no more.
    n_resamples : int
        Number of bootstrap samples of the queries, from which the margins are computed.
    level : float
        Simultaneous confidence level of the margins of all differences between rates; pairs of runs
        are significant at ``1 - level``.
    rng : Generator, seed or None
        Random generator or seed. By default the seed is derived from the values, so the same input
        gives the same output.
    threads : int
        Number of threads; 0 uses all cores. Results do not depend on it.
    tell : callable, optional
        Progress callback, called with the number of finished settings and the total.

    Returns
    -------
    Choice
        For every discount with every cutoff: swap rate (between sets of `size` queries, not all
        queries), share of run pairs that differ significantly, generalisability, unjudged share,
        and theoretical properties.

    Raises
    ------
    OptionError
        Fewer than two runs, or an option has an invalid value.
    InputError
        A table cannot be read, or fewer than four queries are scored in all runs.

    Notes
    -----
    Only settings are considered for which at most a tenth of the documents down to the cutoff is
    unjudged, in every run. The best of these has the lowest swap rate. Settings whose swap rates
    are not significantly higher, by simultaneous bootstrap margins over queries, count as equally
    good. Among these, the setting nearest to nDCG@10 is recommended: first by its discount, then by
    the ratio of cutoffs.

    Significance is tested by sign flips with single-step max-T over the pairs, as in `compare`. A
    measure that separates runs well is not necessarily what users want: discriminative power is not
    validity, and it depends on the queries and runs. The theory concerns many documents for one
    query, whereas the rates are computed over sampled queries.

    References
    ----------
    Voorhees and Buckley (2002), The effect of topic set size on retrieval experiment error. SIGIR.
    Sakai (2006), Evaluating evaluation metrics based on the bootstrap. SIGIR. Urbano, Marrero and
    Martin (2013), On the measurement of test collection reliability. SIGIR. Wang et al. (2013), A
    theoretical analysis of NDCG type ranking measures. COLT.

    Examples
    --------
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> runs = [
    ...     {query: ranking for query in qrels}
    ...     for ranking in (["y", "z", "x"], ["y", "x", "z"], ["x", "y", "z"])
    ... ]
    >>> found = choose(qrels, runs, cutoffs=[1, 10])
    >>> (
    ...     found["nDCG@1"].swap_rate.__round__(3),
    ...     found["nDCG@10"].swap_rate,
    ...     found.recommended.measure,
    ... )
    (0.167, 0.0, 'nDCG@10')
    """
    tables = several_runs(runs, 'choose(qrels, ["bm25.run", "neural.run"])')
    judgments = to_qrels(qrels)
    grid = grid_of(measure, discounts, cutoffs, convention)
    evaluations = [
        evaluate(judgments, to_run(run), measures_of(grid), convention, threads=threads)
        for run in tables
    ]
    sampling = Sampling(
        size=size,
        n_splits=n_splits,
        n_resamples=n_resamples,
        level=level,
        rng=rng,
        threads=threads,
    )
    return chosen_by(evaluations, grid, sampling, tell=tell)


def chosen_by(
    evaluations: Sequence[Evaluation],
    grid: Sequence[Option],
    sampling: Sampling,
    *,
    tell: Tell | None = None,
) -> Choice:
    """Choose a setting from evaluations of several runs by the measures of a grid."""
    return chosen_setting(evaluations, grid, sampling, theory=theory_of(grid), tell=tell)


def theory_of(grid: Sequence[Option]) -> dict[Measure, Theory]:
    """Return the theory of each setting on growing lists."""
    theories = {}
    for option in grid:
        set_discount = option.measure.discount  # type: ignore[attr-defined]
        discount = option.discount if set_discount is None else set_discount
        feasibility = offered("feasibility")(discount, option.cutoff)
        theories[option.measure] = Theory(feasibility.verdict, feasibility.theorem)
    return theories
