"""Differences of two runs on slices of the queries, with intervals, and p values corrected for the number of slices."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.stats.multiple import adjust
from idealrank.stats.permutation import permutation_test
from idealrank.stats.randomness import RandomLike, generator_of
from idealrank.verdict.table import Table, seed_of

# A label of each query, or several.
Categories: TypeAlias = "Mapping[str, str | Sequence[str]]"

# Thirds of the traffic are rounded sums.
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class Slice:
    """One slice of the queries; every difference is b - a.

    Attributes
    ----------
    name : str
        Its category.
    n : int
        Queries in it that count in both runs.
    mean_a, mean_b, difference : float
        Means over these.
    interval : tuple of float
        Of the difference, by inverting the test behind `p`; of this slice alone. An end is infinite where there are too few queries.
    p, p_corrected : float
        Of no difference, two-sided, by sign flips; and after Holm's correction over all slices.
    wins, ties, losses : int
        Queries on which b has more, as much (to 1e-12), and less.
    part : float
        What the slice adds to the difference over all queries: ``n * difference / all queries``.
    """

    name: str
    n: int
    mean_a: float
    mean_b: float
    difference: float
    interval: tuple[float, float]
    p: float
    p_corrected: float
    wins: int
    ties: int
    losses: int
    part: float


@dataclass(frozen=True, kw_only=True)
class Slices:
    """Differences on all slices.

    Attributes
    ----------
    rows : tuple of Slice
        The worst difference for the user first.
    n : int
        Queries that count in both runs, in a slice or not.
    difference : float
        Over all of them.
    uncategorised : tuple of str
        Those in no slice.
    unknown : int
        Queries that have a category and no value in both runs.
    level : float
        Of the intervals.
    seed : int
        Of the random signs.

    Examples
    --------
    >>> a = {f"q{i}": 0.5 for i in range(12)}
    >>> b = {f"q{i}": 0.25 if i < 6 else 0.75 for i in range(12)}
    >>> found = slices(a, b, {f"q{i}": "short" if i < 6 else "long" for i in range(12)})
    >>> found.difference, [(row.name, row.difference, row.p, row.p_corrected) for row in found.rows]
    (0.0, [('short', -0.25, 0.03125, 0.0625), ('long', 0.25, 0.03125, 0.0625)])
    """

    rows: tuple[Slice, ...]
    n: int
    difference: float
    uncategorised: tuple[str, ...]
    unknown: int
    level: float
    seed: int

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Slice:
        """The slice of a category."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"{name}: no such slice, only {', '.join(row.name for row in self.rows)}")

    def as_dict(self) -> dict[str, Any]:
        """Everything as dicts, lists, texts and numbers.

        Examples
        --------
        >>> slices({"q": 0.5}, {"q": 0.75}, {"q": "news"}).as_dict()["rows"][0]["difference"]
        0.25
        """
        return {
            **asdict(self),
            "rows": [{**asdict(row), "interval": list(row.interval)} for row in self.rows],
            "uncategorised": list(self.uncategorised),
        }


def slices(
    values_a: Mapping[str, float | None],
    values_b: Mapping[str, float | None],
    categories: Categories,
    *,
    direction: int = 1,
    level: float = 0.95,
    n_resamples: int = 100_000,
    rng: RandomLike = None,
    threads: int | None = None,
) -> Slices:
    """The difference of two runs on each slice of the queries.

    Parameters
    ----------
    values_a, values_b : mapping of query to float or None
        Values of one measure, as ``dict(zip(evaluation.queries, evaluation["nDCG@10"]))``. A query that is missing, None or NaN in
        either does not count.
    categories : mapping of query to str, or to several
        A query may be in several slices; see `read_categories` for files, and `traffic_thirds`.
    direction : {1, -1}
        -1 where less is better: it only decides which slice comes first.
    level : float
        Of the intervals.
    n_resamples : int
        Random sign vectors of a slice with more than 20 queries that differ; fewer are enumerated.
    rng : Generator, seed or None
        Of these. None derives the seed from the values, so that the same input gives the same output.
    threads : int, optional
        None or 0 for one a core; the numbers are the same for any.

    Returns
    -------
    Slices

    Raises
    ------
    InputError
        No query counts in both runs, or none of them is in a slice.

    Notes
    -----
    Slices are a family of tests of their own: the more of them one looks at, the likelier is one with a small p by chance alone. Holm's
    correction holds whether slices overlap or not. An interval is that of its own slice, as if nobody had looked at the others.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> [row.name for row in slices({"q1": 1.0, "q2": 0.0}, {"q1": 0.5, "q2": 0.5}, {"q1": ["news", "short"], "q2": "short"})]
    ['news', 'short']
    """
    queries = [query for query in values_a if _is_value(values_a[query]) and _is_value(values_b.get(query))]
    if not queries:
        raise InputError(f"no query has a value in both runs ({len(values_a)} and {len(values_b)} queries); do the query ids match?")
    table = np.array([[values_a[query], values_b[query]] for query in queries], np.float64)
    members = _members(queries, categories)
    if not members:
        some = ", ".join(map(repr, list(categories)[:3])) or "none at all"
        raise InputError(f"found categories of {some}, expected some of the {len(queries)} evaluated queries, as {queries[0]!r}")
    seed = _seed(table) if rng is None else rng if isinstance(rng, int) else int(generator_of(rng).integers(1 << 32))
    tested = {name: _tested(table[at], seed, number, level, n_resamples, threads) for number, (name, at) in enumerate(members.items())}
    corrected = adjust([p for p, _ in tested.values()]).tolist()
    rows = [
        _row(name, table[members[name]], p, interval, after, len(queries))
        for (name, (p, interval)), after in zip(tested.items(), corrected, strict=True)
    ]
    rows.sort(key=lambda row: row.difference * (-1 if direction < 0 else 1))
    counted = set(queries)
    return Slices(
        rows=tuple(rows),
        n=len(queries),
        difference=float((table[:, 1] - table[:, 0]).mean()),
        uncategorised=tuple(query for query in queries if not _labels(categories.get(query, ()))),
        unknown=sum(query not in counted for query in categories),
        level=level,
        seed=seed,
    )


def _is_value(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def _labels(given: "str | Sequence[str]") -> Sequence[str]:
    return (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))


def _members(queries: Sequence[str], categories: Categories) -> dict[str, list[int]]:
    """Places of the queries of each slice, slices by name: seeds must not depend on the order of a file."""
    found: dict[str, list[int]] = {}
    for place, query in enumerate(queries):
        for label in _labels(categories.get(query, ())):
            found.setdefault(label, []).append(place)
    return dict(sorted(found.items()))


def _seed(table: FloatArray) -> int:
    return seed_of([Table(column, np.ones(column.shape, bool)) for column in (table[:, :1], table[:, 1:])])


def _tested(
    table: FloatArray, seed: int, number: int, level: float, n_resamples: int, threads: int | None
) -> tuple[float, tuple[float, float]]:
    child = np.random.SeedSequence([seed, number])
    found = permutation_test(
        table[:, 0], table[:, 1], n_resamples=n_resamples, rng=np.random.default_rng(child), level=level, threads=threads
    )
    return float(found.p), (float(found.low), float(found.high))


def _row(name: str, table: FloatArray, p: float, interval: tuple[float, float], corrected: float, n_all: int) -> Slice:
    differences = table[:, 1] - table[:, 0]
    scale = 1e-12 * np.abs(table).max(axis=1)
    wins, losses = (int(np.count_nonzero(sign * differences > scale)) for sign in (1, -1))
    return Slice(
        name=name,
        n=len(table),
        mean_a=float(table[:, 0].mean()),
        mean_b=float(table[:, 1].mean()),
        difference=float(differences.mean()),
        interval=interval,
        p=p,
        p_corrected=corrected,
        wins=wins,
        ties=len(table) - wins - losses,
        losses=losses,
        part=float(differences.sum()) / n_all,
    )


def traffic_thirds(traffic: Mapping[str, float]) -> dict[str, str]:
    """Head, torso and tail: the queries that bring the first, second and last third of the traffic.

    Queries are lined up by falling traffic, each as long as its traffic. A query is in the third in which the middle of its stretch lies;
    queries of the same traffic are one stretch, so that none of them is in another third than its equals. Thirds are of the traffic given,
    whether a query was evaluated or not.

    Parameters
    ----------
    traffic : mapping of query to float
        How often each query is asked: finite, from 0 on, not all 0.

    Returns
    -------
    dict
        ``head``, ``torso`` or ``tail`` of each query, in the order given.

    Raises
    ------
    InputError
        A number is negative or not finite, or all are 0.

    Examples
    --------
    >>> traffic_thirds({"a": 50, "b": 20, "c": 10, "d": 10, "e": 5, "f": 5})
    {'a': 'head', 'b': 'torso', 'c': 'tail', 'd': 'tail', 'e': 'tail', 'f': 'tail'}
    """
    for query, count in traffic.items():
        if not (math.isfinite(count) and count >= 0):
            raise InputError(f"traffic {count!r} of query {query!r}: expected a finite number from 0 on")
    total = math.fsum(traffic.values())
    if not total > 0:
        raise InputError(f"found no traffic in {len(traffic)} queries, expected some above 0")
    names: dict[float, str] = {}
    before = 0.0
    for count, equals in groupby(sorted(traffic.values(), reverse=True)):
        stretch = count * len(list(equals))
        names[count] = _third((before + stretch / 2) / total)
        before += stretch
    return {query: names[count] for query, count in traffic.items()}


def _third(place: float) -> str:
    return "head" if place <= 1 / 3 + _ROUNDING else "torso" if place <= 2 / 3 + _ROUNDING else "tail"
