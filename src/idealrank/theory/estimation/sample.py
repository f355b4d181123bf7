"""The documents that an estimate is made of: canonical scores, shares of the list from the bottom,
and samples drawn again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from idealrank.data.lists import Lists, as_numbers
from idealrank.data.types import AnyArray, BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.tau_rho import middle_ranks
from idealrank.theory.estimation.bands import PlacedDocuments
from idealrank.theory.estimation.smoothing import Cells


def canonical_scores(
    scores: Any, group: Any = None, *, offsets: Any = None, qid: Any = None
) -> FloatArray:
    """Compute for each document the share of its query's documents that it is ranked above; itself
    and ties count half.

    The value is (rank from the bottom - 1/2) / n, with mid-ranks for ties: the mean over a query is
    1/2, and the top document of n has 1 - 1/(2n).

    Parameters
    ----------
    scores : array-like, shape (n,) or (n_queries, width)
        Scores of the ranker, higher is better; 2-D: one query per row.
    group, offsets, qid
        Grouping of items into lists, see `Lists.from_arrays`; default one query.

    Returns
    -------
    float64 array, shape of `scores`
        Canonical scores, in (0, 1).

    Raises
    ------
    InputError
        A score is NaN, or the lists do not match.

    Notes
    -----
    Lemma 3 of the paper states that canonical scores are uniform on [0, 1] for any ranker; it
    requires a ranker that gives no score twice with positive probability. For other rankers,
    mid-ranks keep the mean. A ranker with few distinct scores has no ybar of its own: it is
    averaged over each tie group.

    References
    ----------
    Wang, Wang, Li, He, Chen and Liu (2013), COLT, Lemma 3.

    Examples
    --------
    >>> canonical_scores([0.2, 0.9, 0.4, 0.4])
    array([0.125, 0.875, 0.5  , 0.5  ])
    >>> canonical_scores([5, 1, 3, 8], group=[2, 2])
    array([0.75, 0.25, 0.25, 0.75])
    """
    shape = np.shape(as_numbers("scores", scores))
    lists = Lists.from_arrays(
        np.zeros(shape, np.int8), scores, group=group, offsets=offsets, qid=qid
    )
    return placed(lists).score.reshape(shape)


@dataclass(frozen=True)
class Placed:
    """Canonical score of each item, and its query."""

    score: FloatArray
    query: IntArray


def placed(lists: Lists) -> Placed:
    """Canonical score and query of each item."""
    refuse_nan("scores", lists.scores)
    lengths = np.diff(lists.offsets)
    query = np.repeat(np.arange(lists.n_queries), lengths)
    if lists.order is not None:
        of_item = np.empty_like(query)
        of_item[lists.order] = query
        query = of_item
    n = lengths[query]
    return Placed((middle_ranks(query, lists.scores) + n) / (2 * n), query)


def refuse_nan(name: str, values: AnyArray) -> None:
    """Raise an InputError that names the first NaN."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise InputError(
            f"{name}: found NaN at item {int(np.flatnonzero(np.isnan(values))[0])}, expected a "
            "number for every item"
        )


_MOST_CELLS = 4096  # places of documents whose samples are drawn
_MOST_GRADES = 32  # each has a curve


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Documents by canonical score, with the grades they reach."""

    score: FloatArray
    reached: BoolArray
    grades: tuple[float, ...]
    query: IntArray
    n_queries: int

    @classmethod
    def of(
        cls, labels: Any, scores: Any, rel: "float | Literal['graded']", **layout: Any
    ) -> "Sample":
        """A sample from arrays, as `estimate_ybar` takes them."""
        lists = Lists.from_arrays(labels, scores, **layout)
        refuse_nan("labels", lists.labels)
        placed_items = placed(lists)
        grades, reached = _reached(lists.labels, rel)
        total = int(reached[-1].sum())
        if total in {0, lists.labels.size}:
            relevant = "no document is" if total == 0 else f"all {total} documents are"
            raise InputError(
                f"labels: {relevant} relevant ({_relevant_grade(rel)}); expected some of each "
                "kind, or there is nothing to estimate"
            )
        has_documents = np.bincount(placed_items.query) > 0
        return cls(
            score=placed_items.score,
            reached=reached,
            grades=grades,
            query=(np.cumsum(has_documents) - 1)[placed_items.query],
            n_queries=int(has_documents.sum()),
        )

    @property
    def n(self) -> int:
        """Number of documents."""
        return self.score.size

    @property
    def shortest(self) -> int:
        """Length of the shortest list."""
        return int(np.bincount(self.query).min())

    @property
    def documents(self) -> PlacedDocuments:
        """Documents with their places, for bands and tests."""
        return PlacedDocuments(
            score=self.score, relevant=self.reached[-1], query=self.query, n_queries=self.n_queries
        )

    @cached_property
    def _places(self) -> tuple[FloatArray, IntArray]:
        """Distinct scores, or as many cells as can be handled, and the cell of each document."""
        distinct, code = np.unique(self.score, return_inverse=True)
        if distinct.size <= _MOST_CELLS:
            return distinct, code.astype(np.int64)
        code = np.minimum((self.score * _MOST_CELLS).astype(np.int64), _MOST_CELLS - 1)
        code = np.unique(code, return_inverse=True)[1]
        sums = np.bincount(code, weights=self.score)
        return sums / np.bincount(code), code.astype(np.int64)

    @cached_property
    def cells(self) -> Cells:
        """All documents, grouped by canonical score."""
        distinct, code = np.unique(self.score, return_inverse=True)
        return self._gathered(distinct, code, None)

    def _gathered(self, score: FloatArray, code: IntArray, weight: FloatArray | None) -> Cells:
        count = np.bincount(code, weights=weight, minlength=score.size).astype(np.float64)
        reached = [
            np.bincount(
                code,
                weights=row.astype(np.float64) if weight is None else row * weight,
                minlength=score.size,
            )
            for row in self.reached
        ]
        return Cells(score=score, count=count, reached=np.stack(reached).astype(np.float64))

    def resampled(self, rng: np.random.Generator, times: int) -> Iterator[Cells]:
        """Samples drawn with replacement: of queries where there are several, else of documents,
        which are then ranked anew.
        """
        score, code = self._places
        if self.n_queries > 1:
            for _ in range(times):
                picks = rng.integers(self.n_queries, size=self.n_queries)
                times_drawn = np.bincount(picks, minlength=self.n_queries)
                weight = times_drawn[self.query].astype(np.float64)
                yield _without_gaps(self._gathered(score, code, weight))
            return
        observed = self._gathered(score, code, None)
        # A document has its highest grade, or none: the table of places and grades is drawn at
        # once.
        kinds = np.diff(np.vstack([np.zeros(score.size), observed.reached, observed.count]), axis=0)
        for _ in range(times):
            drawn = rng.multinomial(self.n, kinds.ravel() / self.n)
            table = drawn.reshape(kinds.shape).astype(np.float64)
            count = table.sum(axis=0)
            reached = np.cumsum(table[:-1], axis=0)
            mid_ranks = np.cumsum(count) - count / 2
            yield _without_gaps(Cells(score=mid_ranks / self.n, count=count, reached=reached))


def _without_gaps(cells: Cells) -> Cells:
    return cells.of(cells.count > 0)


def _relevant_grade(rel: "float | Literal['graded']") -> str:
    return "grade above 0" if isinstance(rel, str) else f"grade >= {rel:g}"


def _reached(
    labels: AnyArray, rel: "float | Literal['graded']"
) -> tuple[tuple[float, ...], BoolArray]:
    """Grades, falling, and whether each label reaches each."""
    if not np.isfinite(labels).all():
        raise InputError(f"labels: found {labels[~np.isfinite(labels)][0]}, expected finite grades")
    if isinstance(rel, str):
        if rel != "graded":
            raise OptionError(f"rel={rel!r}: expected the lowest relevant grade, or 'graded'")
        grades = np.unique(labels[labels > 0])[::-1].astype(np.float64)
        if grades.size > _MOST_GRADES:
            raise InputError(
                f"labels: found {grades.size} grades above 0, expected at most {_MOST_GRADES}; "
                "round them, or pass rel=GRADE"
            )
        if not grades.size:
            raise InputError(
                "labels: no document is relevant (grade above 0); expected some, or there is "
                "nothing to estimate"
            )
        return tuple(grades.tolist()), np.asarray(labels >= grades[:, None])
    if not np.isfinite(rel):
        raise OptionError(f"rel={rel}: expected the lowest relevant grade, or 'graded'")
    return (1.0,), np.asarray(labels >= rel)[None, :]
