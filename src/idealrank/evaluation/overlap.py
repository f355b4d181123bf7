"""Similarity of runs: values of pair measures by query with their coverage, and the means of every
two of several runs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np

from idealrank._lazy import printed, repr_html
from idealrank.data.interchange import frame_of
from idealrank.data.judged import Top
from idealrank.data.one_query import in_memory_where_distinct
from idealrank.data.run import Run
from idealrank.data.run_pairs import PairRules, RunPairs, join, join_top
from idealrank.data.types import AnyArray, BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, warn
from idealrank.evaluation.evaluate import InputRecord
from idealrank.measures.measure import Measure
from idealrank.measures.pairs import PairMeasure
from idealrank.measures.parse import MeasureLike, parse_pair_measure, parse_pair_measures
from idealrank.measures.sums import Means, values_by_query
from idealrank.version import __version__

DEFAULT_PAIR_MEASURES = ("RBO(p=0.9)", "overlap@10", "Jaccard@10", "tau", "tauAP")
DEFAULT_MATRIX_MEASURES = ("RBO(p=0.9)", "overlap@10")

_SOME = 3  # query ids that a message names
_DEPTH = 10  # cutoff of a comparison by measures without one
_DEEPEST = 100  # cutoff of RBO with p = 0.9: the ranks below have 0.003 % of its weight


class PairMeans(Means):
    """Mean of each measure of two runs by its text; also found by the measure itself or any of its
    spellings.
    """

    @staticmethod
    def _spelled(key: Any) -> str:
        return str(parse_pair_measure(key))


@dataclass(frozen=True, kw_only=True, eq=False)
class Overlap:
    """Values of pair measures of two runs, for each query that both answer.

    Attributes
    ----------
    names, paths : tuple of str
        Names and paths of the two runs; a path is empty if there is no file.
    queries : sequence of str
        Ids of the queries that both runs answer.
    measures : tuple of Measure
        Measures as requested.
    values : float64 array, shape (n_queries, n_measures)
        Values by measure; NaN if undefined.
    scored : bool array, shape (n_queries, n_measures)
        Which values count in the mean.
    only_a, only_b : sequence of str
        Queries that only the first, or only the second, run answers; no value includes them.
    common : int64 array, shape (n_queries,)
        Number of documents that both lists have.
    lengths, tied : int64 array, shape (n_queries, 2)
        Number of documents in each list, and of those that share their score with another.
    ties, duplicates : str
        The policies.
    inputs : tuple
        The files, with path, size, modification time, and SHA-256 computed on request.
    version : str
        Version of idealrank.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.overlap(
    ...     {"q1": ["a", "b"], "q2": ["c"]}, {"q1": ["b", "a"], "q3": ["c"]}, ["overlap@2", "tau"]
    ... )
    >>> found["tau"], found.mean()["overlap@2"], list(found.only_a), list(found.only_b)
    (array([-1.]), 1.0, ['q2'], ['q3'])
    """

    names: tuple[str, str]
    paths: tuple[str, str]
    queries: Sequence[str]
    measures: tuple[Measure, ...]
    values: FloatArray
    scored: BoolArray
    only_a: Sequence[str]
    only_b: Sequence[str]
    common: IntArray
    lengths: IntArray
    tied: IntArray
    ties: str
    duplicates: str
    inputs: tuple[InputRecord, ...] = ()
    version: str = __version__

    _repr_html_ = repr_html  # for notebooks
    __str__ = printed

    def __getitem__(self, measure: MeasureLike) -> FloatArray:
        """Values of one measure, shape (n_queries,), in the order of `queries`."""
        parsed = parse_pair_measure(measure)
        if parsed not in self.measures:
            raise KeyError(f"{parsed}: not computed, only {', '.join(map(str, self.measures))}")
        return self.values[:, self.measures.index(parsed)]

    def mean(self) -> PairMeans:
        """Mean of each measure over the queries for which it is defined, exact in any order; NaN if
        there are none.
        """
        return PairMeans.of(self.measures, self.values, self.scored)

    def per_query(self) -> dict[str, dict[str, float | None]]:
        """Return ``{query: {measure: value}}``; None if the measure is undefined."""
        return values_by_query(self.queries, self.measures, self.values, self.scored)

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a dataframe with columns ``query`` and ``common`` and one column per measure.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.overlap({"q": ["a"]}, {"q": ["a"]}, "RBO").to_frame("polars").columns
        ['query', 'common', 'RBO']
        """
        columns: dict[str, Any] = {"query": list(self.queries), "common": self.common}
        columns |= {str(measure): self.values[:, i] for i, measure in enumerate(self.measures)}
        return frame_of(columns, backend)

    def __repr__(self) -> str:
        means = ", ".join(f"{text} {value:.4f}" for text, value in self.mean().items())
        return (
            f"Overlap({self.names[0]!r}, {self.names[1]!r}: {means}; {len(self.queries)} common "
            f"queries, {len(self.only_a)} only in the first, {len(self.only_b)} only in the "
            f"second, ties={self.ties})"
        )


@dataclass(frozen=True, eq=False)
class OverlapMatrix:
    """Similarity of every two of several runs.

    Attributes
    ----------
    names : tuple of str
        Names of the runs, in their order in every matrix.
    measures : tuple of Measure
        Measures of two runs.
    pairs : mapping of (str, str) to Overlap
        The overlap of each run with itself and with every other run. If a measure is not symmetric,
        both orders of each pair.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.overlap_matrix(
    ...     [{"q": ["x", "y"]}, {"q": ["y", "x"]}, {"q": ["x", "z"]}],
    ...     "overlap@2",
    ...     names=["a", "b", "c"],
    ... )
    >>> found["overlap@2"].tolist()
    [[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]]
    >>> found.pair("a", "c").per_query()
    {'q': {'overlap@2': 0.5}}
    """

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    pairs: Mapping[tuple[str, str], Overlap]

    _repr_html_ = repr_html  # for notebooks
    __str__ = printed

    def __getitem__(self, measure: MeasureLike) -> FloatArray:
        """Means of one measure, shape (n_runs, n_runs): of the run of the row with the run of the
        column; NaN if undefined.
        """
        parsed = parse_pair_measure(measure)
        if parsed not in self.measures:
            raise KeyError(f"{parsed}: not computed, only {', '.join(map(str, self.measures))}")
        return self._table(lambda a, b: self._means[a, b][str(parsed)])

    def _table(self, number: "Callable[[str, str], float]") -> AnyArray:
        """Make a table of numbers by two names of runs, the first in the rows."""
        return np.array([[number(a, b) for b in self.names] for a in self.names])

    @cached_property
    def _means(self) -> dict[tuple[str, str], PairMeans]:
        means = {pair: pair_overlap.mean() for pair, pair_overlap in self.pairs.items()}
        return {**{(b, a): mean for (a, b), mean in means.items()}, **means}

    def pair(self, a: str, b: str) -> Overlap:
        """Overlap of two runs.

        Raises
        ------
        KeyError
            A run is not in the matrix.
        """
        pair = (a, b) if (a, b) in self.pairs else (b, a)
        if pair not in self.pairs:
            raise KeyError(f"{a!r}, {b!r}: expected two of {', '.join(map(repr, self.names))}")
        return self.pairs[pair]

    def common(self) -> IntArray:
        """Number of queries that both runs answer, shape (n_runs, n_runs)."""
        return self._table(lambda a, b: len(self.pair(a, b).queries))

    def values_with(self, measure: MeasureLike) -> IntArray:
        """Number of queries that have a value by one measure, shape (n_runs, n_runs)."""
        place = self.measures.index(parse_pair_measure(measure))
        return self._table(lambda a, b: int(np.count_nonzero(self.pair(a, b).scored[:, place])))

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a dataframe with a row for each measure and ordered pair: ``run_a``, ``run_b``,
        ``measure``, ``value``, ``queries``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.overlap_matrix([{"q": ["x"]}, {"q": ["x"]}]).to_frame("polars").shape
        (8, 5)
        """
        columns: dict[str, list[Any]] = {
            name: [] for name in ("run_a", "run_b", "measure", "value", "queries")
        }
        for a, b in product(self.names, repeat=2):
            means = self._means[a, b]
            columns["run_a"] += [a] * len(means)
            columns["run_b"] += [b] * len(means)
            columns["measure"] += means.keys()
            columns["value"] += means.values()
            columns["queries"] += self.pair(a, b).scored.sum(axis=0).tolist()
        return frame_of(columns, backend)

    def __repr__(self) -> str:
        return (
            f"OverlapMatrix({', '.join(map(repr, self.names))}: "
            f"{', '.join(map(str, self.measures))})"
        )


def measures_beside(measures: Iterable[Measure]) -> tuple[Measure, ...]:
    """Choose measures of ranking similarity that suit the measures of a comparison."""
    depths = dict.fromkeys(measure.cutoff or _DEPTH for measure in measures)
    texts = [
        f"{text}@{depth}" for depth in depths for text in ("Same", "Same(order=any)", "overlap")
    ]
    return parse_pair_measures([*texts, f"RBO(p=0.9)@{_DEEPEST}"])


def overlap_of(
    runs: tuple[Run, Run],
    measures: "MeasureLike | Iterable[MeasureLike]",
    rules: PairRules,
    inputs: Sequence[InputRecord] = (),
) -> Overlap:
    """Compare two runs, query by query."""
    requested = parse_pair_measures(measures)
    pair_overlap = _measured(runs, join(*runs, rules), requested, rules, inputs=inputs)
    _warn_of_disjoint(pair_overlap)
    return pair_overlap


def overlap_of_top(
    runs: tuple[Run, Run], tops: tuple[Top, Top], measures: Iterable[Measure], rules: PairRules
) -> Overlap:
    """Compare two runs by the first documents that their alignments kept, without reading or
    ranking them again, and without warnings.
    """
    return _measured(runs, join_top(*tops, rules), tuple(measures), rules)


def _measured(
    runs: tuple[Run, Run],
    pairs: RunPairs,
    measures: tuple[Measure, ...],
    rules: PairRules,
    *,
    names: tuple[str, str] | None = None,
    inputs: Sequence[InputRecord] = (),
) -> Overlap:
    names = (runs[0].name, runs[1].name) if names is None else names
    if not pairs.n_queries:
        raise InputError(
            f"found no query in common: run {names[0]!r} answers {_some(pairs.only_a)}, run "
            f"{names[1]!r} {_some(pairs.only_b)}; expected at least one; do the query ids of both "
            "match?"
        )
    columns = []
    for measure in measures:
        assert isinstance(measure, PairMeasure)  # noqa: S101  (for the type checker)
        columns.append(measure.measured_pair(pairs))
    every_query = np.ones(pairs.n_queries, bool)
    return Overlap(
        names=names,
        paths=(_path(runs[0]), _path(runs[1])),
        queries=pairs.queries,
        measures=measures,
        values=np.column_stack([result.values for result in columns]),
        scored=np.column_stack(
            [every_query if result.scored is None else result.scored for result in columns]
        ),
        only_a=pairs.only_a,
        only_b=pairs.only_b,
        common=pairs.common,
        lengths=np.column_stack((pairs.a.lengths, pairs.b.lengths)),
        tied=np.column_stack((pairs.a.tied, pairs.b.tied)),
        ties=pairs.ties,
        duplicates=rules.duplicates,
        inputs=tuple(inputs),
    )


def overlap_matrix_of(
    runs: Mapping[str, Run],
    measures: "MeasureLike | Iterable[MeasureLike]",
    rules: PairRules,
    *,
    tell: Callable[[int, int], None] | None = None,
    inputs: Sequence[InputRecord] = (),
) -> OverlapMatrix:
    """Compare every two of several runs by name."""
    requested = parse_pair_measures(measures)
    # Each run is compared with all others, and is therefore read once into memory.
    tables = {name: in_memory_where_distinct(run) for name, run in runs.items()}
    name_pairs = list(combinations_with_replacement(tables, 2))
    if not all(isinstance(measure, PairMeasure) and measure.symmetric for measure in requested):
        name_pairs = [*((name, name) for name in tables), *permutations(tables, 2)]
    overlaps = {}
    for number, (a, b) in enumerate(name_pairs, 1):
        pairs = join(tables[a], tables[b], rules)
        overlaps[a, b] = _measured(
            (tables[a], tables[b]), pairs, requested, rules, names=(a, b), inputs=inputs
        )
        _warn_of_disjoint(overlaps[a, b])
        if tell is not None:
            tell(number, len(name_pairs))
    return OverlapMatrix(tuple(tables), requested, overlaps)


def _warn_of_disjoint(pair_overlap: Overlap) -> None:
    if not pair_overlap.common.any():
        a, b = pair_overlap.names
        n_queries = len(pair_overlap.queries)
        warn(
            f"runs {a!r} and {b!r} have no document in common in any of {n_queries} common "
            "queries; do the document ids of both match?"
        )


def _path(run: Run) -> str:
    return run.paths[0] if run.paths else ""


def _some(queries: Sequence[str]) -> str:
    if not len(queries):
        return "no query"
    ids = [repr(query) for query in list(queries)[:_SOME]]
    if len(queries) > _SOME:
        ids.append("...")
    return f"{len(queries)} {'query' if len(queries) == 1 else 'queries'} ({', '.join(ids)})"
