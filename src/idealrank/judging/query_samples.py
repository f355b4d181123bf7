"""Samples of queries to label, weights that make means unbiased again, and the precision that a
budget buys.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.judging.label_order import random_number
from idealrank.judging.ratings import check_confidence, t_quantile
from idealrank.measures.measure import number_option
from idealrank.stats.design import Design
from idealrank.stats.intervals import Interval, mean_interval
from idealrank.stats.power import half_width

HEAD, TAIL = "head", "tail"
_CERTAIN = 1e-12  # a query whose probability is closer to 1 is taken for certain


@dataclass(frozen=True, kw_only=True)
class QueryStratum:
    """One stratum of queries.

    Attributes
    ----------
    name : str
        Its name.
    n_queries, n_sampled : int
        Queries, and queries sampled.
    traffic_share : float
        Share of the traffic, in [0, 1].
    """

    name: str
    n_queries: int
    n_sampled: int
    traffic_share: float


@dataclass(frozen=True, kw_only=True, eq=False)
class QuerySample:
    """Queries to label, with the weight of each; see `sample_queries`.

    Attributes
    ----------
    query_ids : tuple of str
        Queries, stratum by stratum.
    stratum : tuple of str
        Stratum of each query.
    traffic, probability, weight : float64 array, shape (n_sampled,)
        Traffic of each query, its inclusion probability, and its weight: traffic over probability.
        The weights sum to the whole traffic.
    strata : tuple of QueryStratum
        All strata.
    traffic_total : float
        Traffic of all queries.

    Examples
    --------
    >>> sample = sample_queries({"a": 60, "b": 20, "c": 10, "d": 10}, 2, tail=0.5, head_traffic=0.6)
    >>> sample.strata[0].name, sample.weight.tolist()
    ('head', [60.0, 40.0])
    """

    query_ids: tuple[str, ...]
    stratum: tuple[str, ...]
    traffic: FloatArray
    probability: FloatArray
    weight: FloatArray
    strata: tuple[QueryStratum, ...]
    traffic_total: float

    @property
    def design_effect(self) -> float:
        """Factor by which unequal weights raise the variance of a mean: ``n sum w^2 / (sum w)^2``
        (Kish).
        """
        return float(self.weight.size * (self.weight**2).sum() / self.weight.sum() ** 2)

    def mean(self, values: npt.ArrayLike) -> float:
        """Return the weighted mean of values of the sampled queries: unbiased for the mean over the
        traffic.

        Raises
        ------
        InputError
            There is not one value for each query.
        """
        return float((self._checked(values) * self.weight).sum() / self.weight.sum())

    @property
    def sampling_effect(self) -> float:
        """Factor of the variance of a mean, against as many queries from infinitely many.

        The mean is over the traffic of all queries that the sample is drawn from. Queries that are
        taken for certain add no variance; the factor is 0 if all queries are.
        """
        share = self.weight / self.weight.sum()
        return float(self.weight.size * ((1 - self.probability) * share**2).sum())

    def interval(self, values: npt.ArrayLike, *, level: float = 0.95) -> Interval:
        """Return the weighted mean with a t interval for the mean over the traffic of all queries.

        The interval respects weights, strata and the finite number of queries: those taken for
        certain add no variance, and the others ``1 - probability`` of theirs. Strata with a single
        drawn query are joined with the nearest one.

        Raises
        ------
        InputError
            There is not one value for each query.

        Notes
        -----
        The variance is that of Hajek for sampling without replacement of high entropy, as the
        systematic sample in random order is:
        ``sum_h m/(m - 1) sum (1 - p) (w (x - mean_h) / sum(w))^2`` over the m queries of a stratum
        with p < 1. Satterthwaite's formula gives the degrees of freedom.

        References
        ----------
        Hajek (1964), Asymptotic theory of rejective sampling with varying probabilities, Annals of
        Mathematical Statistics 35. Cochran (1977), Sampling Techniques, sections 2.4 and 9A.
        """
        sampled_values = self._checked(values)
        check_confidence(level)
        design = Design.of(sampled_values.size, weights=self.weight)
        interval = mean_interval(sampled_values, level=level, design=design)

        is_drawn = self.probability <= 1 - _CERTAIN  # and not taken for certain
        codes = self._joined(is_drawn)
        variances: list[float] = []
        degrees: list[int] = []
        for code in np.unique(codes[is_drawn]):
            inside = (codes == code) & is_drawn
            n_drawn = int(inside.sum())
            if n_drawn == 1:
                return replace(
                    interval, low=-math.inf, high=math.inf, note="one drawn query shows no variance"
                )
            chance_left_out = 1 - self.probability[inside]
            values_inside = sampled_values[inside]
            mean = float((chance_left_out * values_inside).sum() / chance_left_out.sum())
            errors = self.weight[inside] / self.weight.sum() * (values_inside - mean)
            squares = float((chance_left_out * errors**2).sum())
            variances.append(n_drawn / (n_drawn - 1) * squares)
            degrees.append(n_drawn - 1)

        variance = sum(variances)
        if variance == 0:
            return replace(interval, low=interval.estimate, high=interval.estimate)
        df = variance**2 / sum(part**2 / n for part, n in zip(variances, degrees, strict=True))
        reach = t_quantile(level, df) * math.sqrt(variance)
        return replace(
            interval, low=interval.estimate - reach, high=interval.estimate + reach, note=""
        )

    def design(self) -> Design:
        """Return weights and strata for intervals, tests and power."""
        return Design.of(
            self.weight.size,
            weights=self.weight,
            strata=self._joined(np.ones(self.weight.size, np.bool_)).tolist(),
        )

    def _joined(self, counted: BoolArray) -> IntArray:
        """Return the code of each query's stratum; strata with a single counted query, which shows
        no variance, are joined with the nearest one that has some.
        """
        names = list(dict.fromkeys(self.stratum))
        codes = np.array([names.index(name) for name in self.stratum], np.int64)
        for code in range(len(names)):
            if int((counted & (codes == code)).sum()) == 1:
                others = [other for other in np.unique(codes[counted]).tolist() if other != code]
                if others:
                    codes[codes == code] = min(others, key=lambda other: abs(other - code))
        return codes

    def _checked(self, values: npt.ArrayLike) -> FloatArray:
        """Return the values as an array, one for each sampled query."""
        array = np.asarray(values, np.float64)
        if array.shape != self.weight.shape:
            raise InputError(
                f"values: found shape {array.shape}, expected one for each of the "
                f"{self.weight.size} sampled queries"
            )
        return array

    def rows(self) -> "list[dict[str, Any]]":
        """Return a record for each query."""
        columns = (
            self.query_ids,
            self.stratum,
            self.traffic.tolist(),
            self.probability.tolist(),
            self.weight.tolist(),
        )
        names = ("query", "stratum", "requests", "probability", "weight")
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        return {
            "traffic": self.traffic_total,
            "design_effect": self.design_effect,
            "sampling_effect": self.sampling_effect,
            "strata": [asdict(stratum) for stratum in self.strata],
            "queries": self.rows(),
        }


def sample_queries(
    traffic: Mapping[str, float],
    n: int,
    *,
    tail: float = 0.3,
    head_traffic: float = 0.5,
    strata: Mapping[str, str] | None = None,
    take: Mapping[str, int] | None = None,
    seed: int = 0,
) -> QuerySample:
    """Sample queries to label by their traffic, with a tail stratum, and strata of new or edge
    queries.

    The queries with the most traffic, down to a share of all traffic, are the head; the others are
    the tail, which gets a share of the sample of its own. Further strata, such as new queries or
    edge cases, are named by the caller, with the number of queries to take of each. Within a
    stratum, a query is drawn with a probability in proportion to its traffic (systematic sampling
    in random order), and at most once. Queries with more traffic than one draw stands for are taken
    for certain.

    Parameters
    ----------
    traffic : mapping of str to float
        Requests of each query, above 0. Give new queries the traffic that they are expected to
        have.
    n : int
        Queries to sample from head and tail together; the queries of `take` come on top.
    tail : float
        Share of these taken from the tail, in [0, 1].
    head_traffic : float
        Share of the traffic (outside named strata) that the head covers, in (0, 1].
    strata : mapping of str to str, optional
        Stratum of some queries, such as ``new`` or ``edge``.
    take : mapping of str to int, optional
        Queries to take of each of these strata. A stratum with traffic must be sampled, or the mean
        would leave it out.
    seed : int
        Random seed.

    Returns
    -------
    QuerySample

    Raises
    ------
    OptionError
        An option is impossible.
    InputError
        A traffic is not finite and above 0, or a stratum is not sampled.

    Notes
    -----
    The weight of a query is its traffic over its probability: the weighted mean is unbiased for the
    mean over all traffic, for every measure, since the weights of every sample sum to the whole
    traffic. Oversampled strata weigh less: they are seen in detail and change no mean. For the mean
    over distinct queries instead, weigh by ``1 / probability``.

    References
    ----------
    Cochran (1977), Sampling Techniques, 3rd edition, sections 5.5 and 9A.9; Madow (1949), On the
    theory of systematic sampling II, Annals of Mathematical Statistics 20; Kish (1965), Survey
    Sampling, section 11.7, for the design effect.

    Examples
    --------
    >>> requests = {f"q{place}": 1000 / (place + 1) for place in range(200)} | {
    ...     "n1": 1.0,
    ...     "n2": 1.0,
    ... }
    >>> sample = sample_queries(requests, 20, strata={"n1": "new", "n2": "new"}, take={"new": 1})
    >>> (
    ...     [(stratum.name, stratum.n_sampled) for stratum in sample.strata],
    ...     bool(abs(sample.weight.sum() - sum(requests.values())) < 1e-9),
    ... )
    ([('head', 11), ('tail', 9), ('new', 1)], True)
    """
    n_sampled = int(number_option("n", n, 1, 1e9))
    tail_share = number_option("tail", tail, 0, 1)
    head_share = number_option("head_traffic", head_traffic, 0, 1)
    stratum_of = dict(strata or {})
    n_taken = dict(take or {})
    _check_traffic(traffic, stratum_of, n_taken)

    by_traffic = sorted(
        (query for query in traffic if query not in stratum_of),
        key=lambda query: (-traffic[query], query),
    )
    members = _head_and_tail(by_traffic, traffic, head_share)
    n_head = len(members[HEAD])
    # A head with fewer queries than its share leaves more of the sample to the tail.
    n_tail = min(len(members[TAIL]), max(round(n_sampled * tail_share), n_sampled - n_head))
    sample_sizes = {HEAD: n_sampled - n_tail, TAIL: n_tail, **n_taken}
    for name in sorted(n_taken):
        members[name] = sorted(query for query, stratum in stratum_of.items() if stratum == name)

    total = math.fsum(traffic.values())
    query_ids: list[str] = []
    strata_drawn: list[str] = []
    volumes: list[float] = []
    probabilities: list[float] = []
    sampled_strata = []
    for name, queries in members.items():
        if not queries:
            continue
        sample_size = min(sample_sizes[name], len(queries))
        if sample_size < 1:
            raise InputError(
                f"stratum {name!r}: found {len(queries):,} queries with traffic and none to "
                "sample, expected at least one: a mean would leave them out"
            )
        volume = np.array([traffic[query] for query in queries], np.float64)
        probability = inclusion_probabilities(volume, sample_size)
        picked = _systematic(queries, probability, name, seed)
        query_ids += [queries[row] for row in np.flatnonzero(picked).tolist()]
        strata_drawn += [name] * int(picked.sum())
        volumes += volume[picked].tolist()
        probabilities += probability[picked].tolist()
        sampled_strata.append(
            QueryStratum(
                name=name,
                n_queries=len(queries),
                n_sampled=int(picked.sum()),
                traffic_share=float(volume.sum()) / total,
            )
        )

    requests = np.array(volumes, np.float64)
    chances = np.array(probabilities, np.float64)
    return QuerySample(
        query_ids=tuple(query_ids),
        stratum=tuple(strata_drawn),
        traffic=requests,
        probability=chances,
        weight=requests / chances,
        strata=tuple(sampled_strata),
        traffic_total=total,
    )


def _check_traffic(
    traffic: Mapping[str, float], stratum_of: Mapping[str, str], take: Mapping[str, int]
) -> None:
    if not traffic:
        raise InputError("traffic: found no query, expected at least one")
    for query, requests in traffic.items():
        if not 0 < requests < math.inf:
            raise InputError(
                f"traffic of query {query!r}: found {requests!r}, expected a finite number above 0"
            )
    stray = next((query for query in stratum_of if query not in traffic), None)
    if stray is not None:
        raise InputError(
            f"stratum {stratum_of[stray]!r}: found query {stray!r}, which has no traffic; expected "
            f"every query with its traffic"
        )
    named_strata = set(stratum_of.values())
    for name in {*named_strata, *take}:
        if name in (HEAD, TAIL):
            raise OptionError(
                f"strata: found the name {name!r}, expected another: head and tail are made from "
                "the traffic"
            )
        if name not in take:
            raise OptionError(
                f"stratum {name!r}: found no number of queries to take, expected one at least"
            )
        if name not in named_strata:
            names = ", ".join(sorted(named_strata))
            expected = f"one of {names}" if names else "strata that name queries"
            raise OptionError(f"take: found stratum {name!r} without a query, expected {expected}")
        number_option(f"take of {name}", take[name], 1, 1e9)


def _head_and_tail(
    by_traffic: Sequence[str], traffic: Mapping[str, float], head_share: float
) -> dict[str, list[str]]:
    """Split the queries, by falling traffic, where the head has its share of the traffic."""
    size = 0
    if by_traffic:
        volume = np.cumsum([traffic[query] for query in by_traffic])
        # a share that is reached but for rounding is reached
        size = int(np.searchsorted(volume, head_share * volume[-1] - 1e-12)) + 1
    return {HEAD: list(by_traffic[:size]), TAIL: list(by_traffic[size:])}


def inclusion_probabilities(sizes: FloatArray, n: int) -> FloatArray:
    """Return inclusion probabilities in proportion to size. Those above 1 are 1, and the others
    share the rest of the sample.
    """
    certain = np.zeros(sizes.size, np.bool_)
    while True:
        if certain.all():
            return np.ones(sizes.size)
        n_uncertain = n - int(certain.sum())
        probability = np.where(certain, 1.0, n_uncertain * sizes / sizes[~certain].sum())
        is_sure = ~certain & (probability >= 1 - _CERTAIN)
        if not is_sure.any():
            return probability
        certain |= is_sure


def _systematic(queries: Sequence[str], probability: FloatArray, name: str, seed: int) -> BoolArray:
    """Draw units at equal steps along their probabilities in random order, from a random start:
    each has its probability exactly.
    """
    order = np.argsort([random_number(seed, name, query) for query in queries], kind="stable")
    return systematic_draw(probability, order, random_number(seed, name, "", "start"))


def systematic_draw(probability: FloatArray, order: IntArray, start: float) -> BoolArray:
    """Mark the units whose stretch of the cumulated probabilities, in this order, has one of start,
    start + 1, ...
    """
    # Rounded, so that the stretches of a sample of n units end at n: the error of a sum would
    # otherwise add or lose a draw.
    ends = np.round(np.cumsum(probability[order]), 9)
    begins = np.concatenate(([0.0], ends[:-1]))
    hits = np.ceil(ends - start) - np.ceil(begins - start)
    picked = np.zeros(probability.size, np.bool_)
    picked[order] = hits > 0
    return picked


@dataclass(frozen=True, kw_only=True)
class LabelCost:
    """Cost of labels.

    Attributes
    ----------
    documents : float
        Documents labelled for each query, such as the size of the pool; at least 1.
    price : float
        Price of one label.
    overhead : float
        Labels for quality, such as double judging and gold questions, as a share of the others; at
        least 0.
    fixed : float
        Fixed costs, such as guidelines and training.
    per_week : float
        Labels a week of all raters together, above 0.

    Examples
    --------
    >>> cost = LabelCost(documents=20, price=0.1, overhead=0.15, per_week=2000)
    >>> cost.of(300).labels, cost.of(300).cost, round(cost.of(300).weeks, 2)
    (6900, 690.0, 3.45)
    """

    documents: float = 20.0
    price: float = 0.1
    overhead: float = 0.15
    fixed: float = 0.0
    per_week: float = 2000.0

    def __post_init__(self) -> None:
        for name, low in (("documents", 1.0), ("price", 0.0), ("overhead", 0.0), ("fixed", 0.0)):
            number_option(name, getattr(self, name), low, 1e12)
        if not 0 < self.per_week < math.inf:
            raise OptionError(f"per_week: found {self.per_week!r}, expected a number above 0")

    def of(self, n_queries: int) -> "LabelBudget":
        """Return labels, cost and weeks of a number of queries."""
        # 200 * 1.1 is slightly above 220 in floats, and would else be 221 labels.
        labels = math.ceil(round(n_queries * self.documents * (1 + self.overhead), 6))
        return LabelBudget(
            n_queries=n_queries,
            labels=labels,
            cost=self.fixed + round(labels * self.price, 10),
            weeks=labels / self.per_week,
        )

    def queries_for(self, budget: float) -> int:
        """Return the largest number of queries that a budget pays for."""
        if self.price == 0:
            raise OptionError(
                "price: found 0, expected a price above 0 for the queries that a budget pays for"
            )
        per_query = self.documents * (1 + self.overhead) * self.price
        # Labels are rounded to whole ones: start one query above the quotient, and step back.
        n_queries = max(0, int((budget - self.fixed) / per_query) + 1)
        while n_queries and self.of(n_queries).cost > budget + 1e-9:
            n_queries -= 1
        return n_queries


@dataclass(frozen=True, kw_only=True)
class LabelBudget:
    """Labels, cost, time and precision of a number of queries.

    Attributes
    ----------
    n_queries, labels : int
        Queries, and labels with those for quality.
    cost, weeks : float
        Cost, and weeks of labelling.
    half_width : float or None
        Half of the width of the interval of a mean, or of a mean difference, over the traffic; see
        `QuerySample.interval`.

    Examples
    --------
    >>> LabelCost().of(10).labels
    230
    """

    n_queries: int
    labels: int
    cost: float
    weeks: float
    half_width: float | None = None


def label_budgets(
    n_queries: Sequence[int],
    cost: LabelCost,
    *,
    sd: float,
    design_effect: float = 1.0,
    sampling_effect: float | None = None,
    level: float = 0.95,
) -> list[LabelBudget]:
    """Compute cost, time and precision for numbers of queries.

    Parameters
    ----------
    n_queries : sequence of int
        Numbers of queries, each at least 2.
    cost : LabelCost
        Cost of labels.
    sd : float
        Standard deviation over queries, of the values or of the differences of two systems, from
        earlier judgments.
    design_effect : float
        Effect of the weights, see `QuerySample.design_effect`; the precision is that of ``n /
        design_effect`` queries, as a sample of infinitely many.
    sampling_effect : float, optional
        See `QuerySample.sampling_effect`; it takes the place of `design_effect` for a sample of
        finitely many queries.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    list of LabelBudget

    Raises
    ------
    OptionError
        A number is impossible.

    Examples
    --------
    >>> round(label_budgets([100], LabelCost(), sd=0.3)[0].half_width, 4)
    0.0595
    """
    effect = number_option("design_effect", design_effect, 1, 1e6)
    if sampling_effect is not None:
        effect = number_option("sampling_effect", sampling_effect, 0, 1e6)
    error = number_option("sd", sd, 0, 1e6) * math.sqrt(effect)
    budgets = []
    for number in n_queries:
        n = int(number_option("n_queries", number, 2, 1e9))
        width = half_width(n, error, level=level) if error else 0.0
        budgets.append(replace(cost.of(n), half_width=float(width)))
    return budgets
