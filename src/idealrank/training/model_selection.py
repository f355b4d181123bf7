"""Selection of a model: the margin of the winner, the optimism of the best of several, nested
folds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.lists import Lists
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.evaluation.evaluate import Evaluation, evaluate_lists
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measures
from idealrank.stats import difference_interval
from idealrank.stats.randomness import RandomLike, generator_of, whole_number
from idealrank.stats.values import open_share
from idealrank.training.row_arrays import number_array, row_ids, row_numbers

Train: TypeAlias = Callable[[Any, IntArray], Callable[[IntArray], Any]]
"""Trains a configuration on rows, and returns what scores other rows."""


@dataclass(frozen=True, kw_only=True)
class BestOf:
    """The best of several configurations on one validation set.

    Attributes
    ----------
    names : tuple of str
        Configurations, best first.
    means : mapping of str to float
        Mean of each.
    n_queries : int
        Queries of the validation set.
    margin : float
        Mean of the winner less that of the second.
    interval : tuple of float
        Interval of the margin that holds after the choice: Student's, paired by query, at a level
        corrected for all pairs.
    optimism : float
        Estimate of the part of the winner's mean that is due to the choice, by resampling the
        queries.
    level : float
        Confidence level.

    Examples
    --------
    >>> values = np.random.default_rng(1).normal([0.50, 0.51, 0.49], 0.2, size=(40, 3))
    >>> print(best_of(values, ["a", "b", "c"], rng=1))
    a is the best of 3 by 0.0157 [-0.0792, +0.1105] on 40 queries
    these queries show no difference
    its mean of 0.5142 is too high by about 0.0203, as that of the best of several
    """

    names: tuple[str, ...]
    means: Mapping[str, float]
    n_queries: int
    margin: float
    interval: tuple[float, float]
    optimism: float
    level: float

    @property
    def is_clear(self) -> bool:
        """True if the interval of the margin excludes 0."""
        return self.interval[0] > 0

    @property
    def corrected(self) -> float:
        """Mean of the winner less the optimism."""
        return self.means[self.names[0]] - self.optimism

    def __str__(self) -> str:
        low, high = self.interval
        head = (
            f"{self.names[0]} is the best of {len(self.names)} by {self.margin:.4f} [{low:+.4f}, "
            f"{high:+.4f}]"
        )
        lines = [f"{head} on {self.n_queries:,} queries"]
        if not self.is_clear:
            lines.append("these queries show no difference")
        lines.append(
            f"its mean of {self.means[self.names[0]]:.4f} is too high by about "
            f"{self.optimism:.4f}, as that of the best of several"
        )
        return "\n".join(lines)


def best_of(
    values: Any,
    names: Sequence[str],
    *,
    higher_is_better: bool = True,
    level: float = 0.95,
    n_resamples: int = 1000,
    rng: RandomLike = 0,
) -> BestOf:
    """Choose the best of several configurations, and say how sure the choice is.

    Parameters
    ----------
    values : float array, shape (queries, configurations)
        Values on one validation set.
    names : sequence of str
        Name of each configuration.
    higher_is_better : bool
        Direction of the measure.
    level : float
        Confidence level of the interval.
    n_resamples : int
        Resamples of the queries for the optimism.
    rng : seed or Generator
        Random numbers.

    Raises
    ------
    InputError
        There are fewer than two queries or configurations, or a value is not finite.
    OptionError
        There is not a different name for each configuration.

    References
    ----------
    Efron (1983), Estimating the error rate of a prediction rule, JASA 78(382), for the optimism by
    bootstrap; Efron and Morris (1973), Stein's estimation rule and its competitors, JASA 68(341),
    for the means around which it resamples; Cawley and Talbot (2010), On over-fitting in model
    selection, JMLR 11.

    Examples
    --------
    >>> values = np.tile([0.2, 0.6, 0.5], (30, 1)) + np.linspace(-0.1, 0.1, 30)[:, None]
    >>> found = best_of(values, ["small", "large", "deep"])
    >>> found.names, found.is_clear, round(found.optimism, 6)
    (('large', 'deep', 'small'), True, 0.0)
    """
    table = number_array("values", values)
    if table.ndim != 2 or min(table.shape) < 2:
        raise InputError(
            f"values: found shape {table.shape}, expected two or more queries and configurations"
        )
    listed = _names(names)
    if len(listed) != table.shape[1] or len(set(listed)) != len(listed):
        raise OptionError(
            f"names: found {len(set(listed))} different ones, expected one for each of "
            f"{table.shape[1]} configurations"
        )
    _refuse_missing(table, listed)
    if not isinstance(higher_is_better, (bool, np.bool_)):
        raise OptionError(f"higher_is_better={higher_is_better!r}: expected True or False")
    open_share("level", level)
    n_resamples = whole_number("n_resamples", n_resamples)
    sign = 1.0 if higher_is_better else -1.0
    means = table.mean(axis=0)
    order: list[int] = np.argsort(-sign * means, kind="stable").tolist()
    winner, second = order[:2]
    n_pairs = len(listed) * (len(listed) - 1) / 2
    differences = sign * (table[:, winner] - table[:, second])
    margin = float(differences.mean())
    # The two were chosen by the same values, so the interval is one of all pairs' (Bonferroni).
    alpha = (1 - level) / n_pairs
    interval = difference_interval(np.zeros_like(differences), differences, level=1 - alpha)
    return BestOf(
        names=tuple(listed[place] for place in order),
        means={listed[place]: float(means[place]) for place in order},
        n_queries=table.shape[0],
        margin=margin,
        interval=(float(interval.low), float(interval.high)),
        optimism=sign * _optimism(sign * table, n_resamples, generator_of(rng)),
        level=level,
    )


def _refuse_missing(table: FloatArray, names: Sequence[str]) -> None:
    """Refuse values that are not finite, by their first place and their number in each
    configuration.
    """
    wrong = ~np.isfinite(table)
    if not wrong.any():
        return
    row, column = (int(axis[0]) for axis in np.nonzero(wrong))
    counts = wrong.sum(axis=0).tolist()
    counts_text = ", ".join(
        f"{count:,} of {name}" for name, count in zip(names, counts, strict=True) if count
    )
    raise InputError(
        f"values: found {table[row, column]} at row {row} of {names[column]}, and {wrong.sum():,} "
        f"of {table.size:,} values that are not finite ({counts_text}); expected a finite number "
        "for each query and configuration; leave these queries out of all configurations"
    )


def _names(names: Any) -> list[str]:
    listed: list[Any] = (
        list(names)
        if isinstance(names, Iterable) and not isinstance(names, (str, bytes))
        else [names]
    )
    if isinstance(names, (str, bytes)) or not all(isinstance(name, str) for name in listed):
        raise OptionError(
            f"names: found {shown(repr(names))}, expected a list of texts, one for each "
            f"configuration"
        )
    return listed


def _optimism(table: FloatArray, n_resamples: int, generator: np.random.Generator) -> float:
    """Mean over resamples of the noise in the winner's mean, where configurations differ as much as
    they do beyond noise.

    Observed means differ more than true ones.
    """
    n_queries, n_configurations = table.shape
    paired = table - table.mean(axis=1, keepdims=True)
    means = paired.mean(axis=0)
    # Observed means differ by their true difference and by noise. They are shrunk towards each
    # other (Efron and Morris), until they vary as much as they do without the noise.
    noise = float(paired.var(axis=0, ddof=1).sum()) / (n_configurations - 1) / n_queries
    observed = float(means.var(ddof=1))
    true = means * np.sqrt(max(0.0, 1 - noise / observed)) if observed > 0 else means
    residuals = paired - means
    total = 0.0
    for _ in range(n_resamples):
        queries = generator.integers(0, n_queries, n_queries)
        counts = np.bincount(queries, minlength=n_queries).astype(np.float64)
        drawn = np.einsum("q,qm->m", counts, residuals) / n_queries
        total += float(drawn[int((true + drawn).argmax())])
    return max(total / n_resamples, 0.0)


@dataclass(frozen=True, eq=False)
class NestedResult:
    """Held-out result of a whole selection.

    Attributes
    ----------
    evaluation : Evaluation
        Every query, scored by the configuration that was chosen without it.
    chosen : tuple of str
        Configuration that each outer fold chose.
    inner : tuple of mapping
        Means of the inner folds by configuration, for each outer fold.

    Examples
    --------
    >>> NestedResult(None, ("a", "b", "a"), ()).agreement
    0.6666666666666666
    """

    evaluation: Evaluation
    chosen: tuple[str, ...]
    inner: tuple[Mapping[str, float], ...]

    @property
    def agreement(self) -> float:
        """Share of the outer folds that chose the most frequent configuration."""
        return max(map(self.chosen.count, self.chosen)) / len(self.chosen)


def nested_cv(
    train: Train,
    configurations: Mapping[str, Any],
    labels: Any,
    qid: Any,
    *,
    measure: MeasureLike = "nDCG@10",
    convention: "Convention | str" = "standard",
    outer: int = 5,
    inner: int = 4,
    seed: int = 0,
) -> NestedResult:
    """Nested cross-validation by query: inner folds choose the configuration, outer folds measure
    the choice.

    Parameters
    ----------
    train : callable
        ``train(configuration, rows)`` trains on rows, and returns a function of other rows that
        gives their scores.
    configurations : mapping of str to object
        What to choose from, by name.
    labels : array, shape (n,)
        Grades.
    qid : array, shape (n,)
        Query of each row; no query is in two folds.
    measure, convention
        Measure that chooses and measures.
    outer, inner : int
        Number of folds.
    seed : int
        Deals queries to folds.

    Raises
    ------
    InputError
        There are too few queries for the folds, an argument is no array of numbers or ids, or a
        model does not return one score for each row.
    OptionError
        There is no configuration, `train` cannot be called, or the measure has no better direction.

    References
    ----------
    Varma and Simon (2006), Bias in error estimation when using cross-validation for model
    selection, BMC Bioinformatics 7:91.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> qid, feature = np.repeat(np.arange(20), 6), rng.normal(size=120)
    >>> labels = np.clip(np.round(feature + rng.normal(0, 0.3, 120)), 0, 2)
    >>> found = nested_cv(
    ...     lambda sign, rows: lambda rows: sign * feature[rows],
    ...     {"up": 1, "down": -1},
    ...     labels,
    ...     qid,
    ...     measure="nDCG@5",
    ... )
    >>> found.chosen, len(found.evaluation.queries)
    (('up', 'up', 'up', 'up', 'up'), 20)
    """
    parsed, *more = parse_measures(measure)
    if more:
        raise OptionError(f"measure: found {1 + len(more)}, expected one, which chooses")
    untyped: Any = configurations  # what callers without types pass
    if not isinstance(untyped, Mapping) or not callable(train):
        types = (
            f"{type(train).__name__} for train and {type(configurations).__name__} for "
            f"configurations"
        )
        raise OptionError(
            f"found {types}; expected a function of a configuration and rows, and a mapping of "
            "names to configurations"
        )
    if not configurations or not parsed.direction:
        raise OptionError(
            f"found {len(configurations)} configurations and measure {parsed}; expected one or "
            "more, and a better direction"
        )
    convention = Convention.of(convention)
    seed = whole_number("seed", seed, 0)
    outer = whole_number("outer", outer, 2)
    inner = whole_number("inner", inner, 2)
    grades = row_numbers("labels", labels)
    ids = row_ids("qid", qid, grades.size)
    scores = np.full(grades.size, np.nan)
    chosen = []
    inner_means = []
    for number, (rows, tested) in enumerate(query_folds(ids, outer, seed)):
        means = {}
        for name, configuration in configurations.items():
            held_out = _held_out(
                train=train,
                configuration=configuration,
                rows=rows,
                ids=ids,
                folds=inner,
                seed=seed + 1 + number,
            )
            means[name] = _mean(
                scores=held_out,
                grades=grades,
                ids=ids,
                rows=rows,
                measure=parsed,
                convention=convention,
            )
        best = max(means, key=lambda name: parsed.direction * means[name])
        chosen.append(best)
        inner_means.append(means)
        scores[tested] = _scores(train, configurations[best], rows, tested)
    evaluation = evaluate_lists(
        Lists.from_arrays(grades, scores, qid=ids),
        parsed,
        convention,
        name="nested cross-validation",
    )
    return NestedResult(evaluation, tuple(chosen), tuple(inner_means))


def query_folds(
    qid: Any, n_splits: int, seed: int | None = None
) -> list[tuple[IntArray, IntArray]]:
    """Rows of training and of testing for each fold, by query.

    Parameters
    ----------
    qid : array, shape (n,)
        Query of each row.
    n_splits : int
        Number of folds, 2 or more.
    seed : int, optional
        Shuffles the queries; without it they are dealt in turn, in order of first appearance.

    Raises
    ------
    InputError
        There are fewer queries than folds, or an id is missing.
    OptionError
        There are fewer than two folds, or the seed is no whole number.

    Examples
    --------
    >>> [(train.tolist(), test.tolist()) for train, test in query_folds([7, 7, 8], 2)]
    [([2], [0, 1]), ([0, 1], [2])]
    """
    n_splits = whole_number("n_splits", n_splits, 2)
    seed = None if seed is None else whole_number("seed", seed, 0)
    _, first_rows, codes = np.unique(row_ids("qid", qid), return_index=True, return_inverse=True)
    if n_splits > first_rows.size:
        raise InputError(
            f"n_splits={n_splits}: found {first_rows.size} queries, expected two folds or more, "
            "and as many queries or more"
        )
    if seed is None:
        order = np.argsort(first_rows)  # as the queries appear
    else:
        order = np.random.default_rng(seed).permutation(first_rows.size)
    turn = np.empty(first_rows.size, np.int64)  # of each query, when they are dealt to folds
    turn[order] = np.arange(first_rows.size)
    fold = turn[codes.reshape(-1)] % n_splits
    return [
        (np.flatnonzero(fold != number), np.flatnonzero(fold == number))
        for number in range(n_splits)
    ]


def _held_out(
    train: Train, configuration: Any, rows: IntArray, ids: AnyArray, folds: int, seed: int
) -> FloatArray:
    scores = np.empty(rows.size)
    for learned, tested in query_folds(ids[rows], folds, seed):
        scores[tested] = _scores(train, configuration, rows[learned], rows[tested])
    return scores


def _scores(train: Train, configuration: Any, learned: IntArray, tested: IntArray) -> FloatArray:
    model = train(configuration, learned)
    if not callable(model):
        raise OptionError(
            f"train: found {type(model).__name__} returned, expected a function of rows that gives "
            "their scores"
        )
    scores = number_array("train: scores of its function", model(tested))
    if scores.shape != tested.shape:  # one score for all would be broadcast
        raise InputError(
            f"train: its function of {tested.size} rows returned shape {scores.shape}, expected "
            "one score for each row"
        )
    return scores


def _mean(
    scores: FloatArray,
    grades: AnyArray,
    ids: AnyArray,
    rows: IntArray,
    measure: Measure,
    convention: "Convention | str",
) -> float:
    lists = Lists.from_arrays(grades[rows], scores, qid=ids[rows])
    return float(evaluate_lists(lists, measure, convention).mean()[str(measure)])
