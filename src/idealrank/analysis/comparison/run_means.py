"""How sure the mean of each measure is."""

import math
from collections.abc import Mapping

import numpy as np

from idealrank.analysis.comparison.query_design import design_by_query, restricted
from idealrank.analysis.comparison.query_table import Table
from idealrank.analysis.comparison.standings import RunMean
from idealrank.evaluation.evaluate import Evaluation
from idealrank.stats.intervals import mean_interval


def intervals(
    evaluation: Evaluation,
    *,
    level: float = 0.95,
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, object] | None = None,
) -> dict[str, RunMean]:
    """Student's interval of the mean of each measure, over queries like these.

    Parameters
    ----------
    evaluation : Evaluation
        Of one run.
    level : float
        Between 0 and 1.
    weights : mapping of query to float, optional
        How much each query counts, its traffic for example.
    clusters : mapping of query to label, optional
        Queries that belong together (user, session, topic).

    Returns
    -------
    dict of str to RunMean
        By the text of the measure. Measures whose values are not averaged have none: counts, geometric means, texts.

    Raises
    ------
    InputError
        A query has no weight or cluster.
    OptionError
        The level is impossible.

    Notes
    -----
    The method and its coverage on values like those of nDCG are those of `stats.mean_interval`. Intervals of two runs that overlap do
    not say that the runs cannot be told apart: `compare` looks at the differences of the same queries.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels, run = {q: {"x": 1} for q in "abcd"}, {"a": ["x"], "b": ["y", "x"], "c": ["x"], "d": ["y", "z", "x"]}
    >>> found = intervals(ir.evaluate(qrels, run, "RR"))["RR"]
    >>> round(found.mean, 4), [round(end, 4) for end in found.interval], found.n
    (0.7083, [0.1616, 1.2551], 4)
    """
    averaged = [measure for measure in evaluation.measures if measure.aggregate == "mean"]
    queries = list(evaluation.queries)
    table, design = Table.of(evaluation, averaged, queries), design_by_query(queries, weights, clusters)
    means = evaluation.mean()
    found = {}
    for column, measure in enumerate(averaged):
        kept = table.counted[:, column]
        if not kept.any():
            found[str(measure)] = RunMean(math.nan, (math.nan, math.nan), 0)
            continue
        one = mean_interval(table.values[kept, column], level=level, design=restricted(design, np.asarray(kept)))
        # Without weights the mean is that of the evaluation, to the last bit.
        mean = float(one.estimate) if weights is not None else float(means[str(measure)])
        found[str(measure)] = RunMean(mean, (float(one.low), float(one.high)), int(kept.sum()))
    return found
