"""rankDCG: the order of the judged documents against their grades, with a discount made of the
grades themselves.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from idealrank.data.alignment import ALSO_CALLED, Ties
from idealrank.data.judged import Hits, Judged
from idealrank.data.segments import heads, sizes_of, starts_of
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.measure import PerQuery
from idealrank.measures.order import OfGrades
from idealrank.measures.ranks import tie_groups
from idealrank.measures.rules import checked

TieOrder: TypeAlias = Literal["worst", "expected", "best"]


@dataclass(frozen=True, kw_only=True)
class RankDCG(OfGrades):
    """rankDCG: agreement of a whole order with the grades, from 0 for the worst possible order to 1
    for the best.

    ``rankDCG = (DCG' - min) / (max - min), DCG' = sum over places i of level(i) / reverse(i)``, in
    [0, 1]. ``level`` numbers the distinct grades of the query from 1, the lowest; ``reverse(i)``
    numbers them from the highest, by the grade at place i of the ideal order: 1 for all places of
    the highest grade, 2 for the next grade, and so on. ``max`` and ``min`` are DCG' of the
    documents by falling and by rising grade. Only the order of the grades matters; exchanging
    documents of one grade does not change the value.

    Computed over judged documents returned, of which there are ``coverage.judged``: unjudged
    documents are removed, and judged documents that were not returned do not count. The paper
    prints (max - DCG') / (max - min), which is 1 minus this value; its table has the values
    computed here.

    A random order has the expected value 1/2 if all grades differ, and less or more if some are
    equal: 0.4 for the paper's list.

    Parameters
    ----------
    ties : {"worst", "expected", "best"}, optional
        Value over all orders of documents with tied scores: the minimum (the paper's choice), the
        mean, in closed form, or the maximum. By default it follows the tie policy of the
        convention, as all other measures do.
    no_relevant : str, optional
        Value of a query where no two of these grades differ; default the convention's.

    References
    ----------
    Katerenchuk and Rosenberg (2016), RankDCG: Rank-Ordering Evaluation Measure, LREC: the measure,
    and the table of test lists.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 9, "b": 3, "c": 1}}, {"q": {"c": 7, "a": 5, "b": 1}}, [ir.RankDCG()]
    ... ).mean()["RankDCG"]
    0.125
    >>> tied = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> list(
    ...     ir.evaluate(
    ...         {"q": {"a": 9, "b": 3, "c": 1}}, tied, ["RankDCG(ties=worst)", "RankDCG(ties=best)"]
    ...     )
    ...     .mean()
    ...     .values()
    ... )
    [0.0, 1.0]
    """

    ties: TieOrder | None = None  # type: ignore[assignment, misc]  # an option of values here; what the class says of ties is set below

    name: ClassVar[str] = "RankDCG"
    samples: ClassVar = {"ties": (None, "worst", "expected", "best")}
    summary: ClassVar[str] = (
        "the run's order against the grades, between the worst order (0) and the best (1), among "
        "judged ones returned"
    )
    use: ClassVar[str] = (
        "Choose it to rank users, or anything whose true order is known from top to bottom, with "
        "many equal values at the lower end. Not for what a user sees of the top (nDCG), nor to "
        "compare with chance, whose value depends on how many grades are equal."
    )
    proof: ClassVar[str] = (
        "the paper's table of six lists, all printed digits, and 12 lists worked in fractions, to "
        "12 decimals; the definition over all orders of ties"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "ties", ALSO_CALLED["ties"].get(str(self.ties), self.ties))
        checked("ties", self.ties, TieOrder)

    def compute(self, judged: Judged) -> PerQuery:
        """Compute rankDCG of every query."""
        hits = judged.condensed().hits
        return self.filled_where(*rank_dcg_values(hits, self.ties or judged.ties, judged.n_queries))


# The fact of the class: there is a closed form. Instances have the option of the same name.
RankDCG.ties = "closed form"  # type: ignore[assignment]


def rank_dcg_values(hits: Hits, ties: Ties, n_queries: int) -> tuple[FloatArray, BoolArray]:
    """The rankDCG of each query, and whether two of its grades differ; meaningless where they do
    not.
    """
    query = hits.query
    if query.size == 0:
        return np.zeros(n_queries), np.zeros(n_queries, bool)
    by_grade = np.lexsort((hits.grade, query))
    starts = starts_of(query)
    ends = np.append(starts[1:], query.size)
    rising = _levels(query, hits.grade[by_grade], starts)
    level = np.empty_like(rising)
    level[by_grade] = rising
    # Queries stand in one order in all columns, so an ideal list is the rising one of the same
    # rows, upside down.
    falling = rising[np.repeat(starts + ends - 1, ends - starts) - np.arange(query.size)]
    # Places with one discount; their levels are summed as whole numbers, less those of the worst
    # order, so that a long list of nearly equal grades loses no digits.
    discounted = query * (int(rising.max()) + 1) - falling
    discount_starts = starts_of(discounted)
    reverse = (np.repeat(rising[ends - 1], ends - starts) + 1 - falling)[discount_starts]

    def above_worst(levels: "IntArray | FloatArray") -> FloatArray:
        gained = np.add.reduceat(levels - rising, discount_starts) / reverse
        sums = np.bincount(query[discount_starts], weights=gained, minlength=n_queries)
        return sums.astype(np.float64, copy=False)

    best = above_worst(falling)
    run_sums = above_worst(_in_order(hits, level, discounted, ties))
    values = run_sums / np.where(best > 0, best, 1.0)
    return np.clip(values, 0.0, 1.0), best > 0


def _levels(query: IntArray, grade: FloatArray, starts: IntArray) -> IntArray:
    """Dense ranks of grades that rise within each query, from 1."""
    number: IntArray = np.cumsum(heads(query, grade), dtype=np.int64)
    return number - np.repeat(number[starts] - 1, sizes_of(starts, query.size))


def _in_order(
    hits: Hits, level: IntArray, discounted: IntArray, ties: Ties
) -> "IntArray | FloatArray":
    """Levels from place to place: in the worst or the best order of tied documents, or each the
    mean of its tie.
    """
    if hits.tie_first is None or ties not in ("worst", "expected", "best"):
        return level
    if ties == "expected":
        starts, sizes, _ = tie_groups(hits, hits.tie_first)
        mean = np.repeat(np.add.reduceat(level, starts) / sizes, sizes)
        # A tie at places of one discount has one value in every order, and keeps its whole numbers.
        several = discounted[starts] != discounted[starts + sizes - 1]
        return np.where(np.repeat(several, sizes), mean, level)
    within_tie = level if ties == "worst" else -level
    placed: IntArray = level[np.lexsort((within_tie, hits.tie_first, hits.query))]
    return placed
