"""Collections of which everything is known, and the part of it that assessors saw: what
`judgment_reach` draws its queries from.

Documents  1,000 a query, few of them relevant, with grades 1 to 3; three worlds with few, some and
many relevant documents. Rankers    What a ranker gives a document is its relevance, seen more or
less well, an error that all rankers share, and one of its own.
           Two runs A and B, three other systems, and a relative of A and one of B that share four
           fifths of the run's own error.
Pools      Who was judged how deep; a document's chance to be judged depends on nothing else, except
where `hidden` takes judgments away.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray

CUTOFF, DEEPEST, DOCUMENTS, KEPT, CHUNK = 10, 20, 1000, 110, 500
BEYOND = 99
SYSTEMS = ("A", "B", "other 1", "other 2", "other 3", "relative of A", "relative of B")
OTHERS = SYSTEMS[2:5]


class World(NamedTuple):
    """Relevant documents a query (mean, and spread of the logarithm), and how well a ranker sees
    each grade.
    """

    relevant: float
    spread: float
    seen: tuple[float, ...]


WORLDS = {
    "few relevant": World(6, 0.7, (0, 1.9, 2.2, 2.5)),
    "some relevant": World(30, 0.8, (0, 1.35, 1.75, 2.1)),
    "many relevant": World(100, 0.7, (0, 1.2, 1.6, 2.0)),
}
SHARED, GRADES, EASE, LUCK, RELATED = 0.7, (0.6, 0.9), 0.35, 0.2, 0.8

POOLS: dict[str, dict[str, int]] = {
    "A 10, B 10": {"A": 10, "B": 10},
    "A 12, B 6": {"A": 12, "B": 6},
    "A 12, B 4": {"A": 12, "B": 4},
    "A 10": {"A": 10},
    "A 6, B 6": {"A": 6, "B": 6},
    "A 4, B 4": {"A": 4, "B": 4},
    "1 other, 10": dict.fromkeys(OTHERS[:1], 10),
    "3 others, 10": dict.fromkeys(OTHERS, 10),
    "3 others, 20": dict.fromkeys(OTHERS, 20),
    "2 others, 10": dict.fromkeys(OTHERS[:2], 10),
    "2 others, 20": dict.fromkeys(OTHERS[:2], 20),
    "relative of A, 20": {"relative of A": 20},
}


def _binary(grades: IntArray) -> FloatArray:
    return (grades > 0).astype(float)


# Gains of grades, and weights of ranks; the weights of RR@10 are those of its rates, since it is no
# sum over documents.
MEASURES: dict[str, tuple[Callable[[IntArray], FloatArray], FloatArray]] = {
    "nDCG@10": (lambda grades: grades.astype(float), 1 / np.log2(np.arange(2, CUTOFF + 2))),
    "nDCG@10, binary": (_binary, 1 / np.log2(np.arange(2, CUTOFF + 2))),
    "P@10": (_binary, np.full(CUTOFF, 1 / CUTOFF)),
    "RR@10": (_binary, 1 / np.arange(1, CUTOFF + 1)),
}


def has_ideal(measure: str) -> bool:
    return measure.startswith("nDCG")


@dataclass(frozen=True)
class Bank:
    """Queries to draw from; only documents that some system has among its first 20 are kept.

    Attributes
    ----------
    grades, scores, ranks : arrays of shape (queries, 110), (queries, 2, 110), (queries, 7, 110)
        Ranks count from 0; 99 is deeper than 20. Scores are those of A and B.
    best : array of shape (queries, 10)
        The highest grades of all 1,000 documents.
    """

    grades: IntArray
    ranks: IntArray
    scores: FloatArray
    best: IntArray

    def ideal(self, measure: str) -> FloatArray:
        """With every document judged."""
        gain, weights = MEASURES[measure]
        return gain(self.best) @ weights if has_ideal(measure) else np.ones(len(self.best))

    def swapped(self) -> "Bank":
        """A is B, and B is A; so are their relatives."""
        return replace(
            self, ranks=self.ranks[:, [1, 0, 2, 3, 4, 6, 5]], scores=self.scores[:, [1, 0]]
        )

    def mirrored(self) -> "Bank":
        """Each query twice, the second time swapped: A and B are exactly alike."""
        other = self.swapped()
        return Bank(
            np.concatenate([self.grades] * 2),
            np.concatenate([self.ranks, other.ranks]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.best] * 2),
        )


def bank(
    world: World, queries: int, rng: np.random.Generator, seen_a: Any = None, seen_b: Any = None
) -> Bank:
    """Draw queries; A and B may see relevance better or worse than the other systems."""
    seen = [
        world.seen if seen_a is None else seen_a,
        world.seen if seen_b is None else seen_b,
        *[world.seen] * 5,
    ]
    parts = [
        _chunk(world, min(CHUNK, queries - first), seen, rng) for first in range(0, queries, CHUNK)
    ]
    return Bank(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("grades", "ranks", "scores", "best")
        )
    )


def _chunk(world: World, queries: int, seen: list[Any], rng: np.random.Generator) -> Bank:
    shape = (queries, DOCUMENTS)
    relevant = np.clip(
        np.round(
            world.relevant
            * np.exp(world.spread * rng.standard_normal(queries) - world.spread**2 / 2)
        ),
        1,
        500,
    )
    grade = np.searchsorted(GRADES, rng.random(shape)) + 1
    grades = np.where(np.arange(DOCUMENTS) < relevant[:, None], grade, 0).astype(np.int8)
    ease = np.exp(EASE * rng.standard_normal((queries, 1)))
    shared = SHARED**0.5 * rng.standard_normal(shape, dtype=np.float32)
    own = [rng.standard_normal(shape, dtype=np.float32) for _ in seen]
    for relative, run in ((5, 0), (6, 1)):
        own[relative] = RELATED**0.5 * own[run] + (1 - RELATED) ** 0.5 * own[relative]
    scores = []
    for values, error in zip(seen, own, strict=True):
        luck = np.exp(LUCK * rng.standard_normal((queries, 1)))
        scores.append(
            (
                (np.array(values)[grades] * ease * luck) + shared + (1 - SHARED) ** 0.5 * error
            ).astype(np.float32)
        )
    ranks = np.stack([_ranks(score) for score in scores], axis=1)
    keep = np.argsort((ranks == BEYOND).all(axis=1), axis=1, kind="stable")[:, :KEPT]
    deep = keep[:, None, :]
    return Bank(
        np.take_along_axis(grades, keep, 1),
        np.take_along_axis(ranks, deep, 2),
        np.take_along_axis(np.stack(scores[:2], axis=1), deep, 2),
        _highest(grades),
    )


def _ranks(scores: FloatArray) -> IntArray:
    top = np.argpartition(-scores, DEEPEST, axis=1)[:, :DEEPEST]
    order = np.take_along_axis(top, np.argsort(-np.take_along_axis(scores, top, 1), axis=1), 1)
    ranks = np.full(scores.shape, BEYOND, np.int8)
    np.put_along_axis(ranks, order, np.arange(DEEPEST, dtype=np.int8)[None, :], 1)
    return ranks


def _highest(values: Any) -> Any:
    """The ten highest of each row, the highest first."""
    return np.sort(values, axis=1)[:, : -CUTOFF - 1 : -1]


def judged_by(drawn: Bank, pool: Mapping[str, int]) -> BoolArray:
    """Documents that some system of the pool has above its depth."""
    return np.logical_or.reduce(
        [drawn.ranks[:, SYSTEMS.index(name)] < depth for name, depth in pool.items()]
    )


def hidden(drawn: Bank, judged: BoolArray, share: float, rng: np.random.Generator) -> BoolArray:
    """Take away judgments for a reason that depends on the grade: this share of the relevant
    documents that B alone returns.
    """
    alone = (drawn.ranks[:, 1] < CUTOFF) & (drawn.ranks[:, 0] >= CUTOFF)
    return judged & ~(alone & (drawn.grades > 0) & (rng.random(judged.shape) < share))


def fresh(drawn: Bank, share: float, rng: np.random.Generator) -> tuple[Bank, BoolArray]:
    """Put new documents in this share of B's first ten places, as relevant as the ones that they
    replace; where they are.

    A ranks the replaced documents as before. No system of a pool returns a new document.
    """
    shape = (len(drawn.grades), CUTOFF)
    at = places_of(drawn, 1)
    new = rng.random(shape) < share
    query, slot = np.nonzero(new)
    old = at[query, slot]
    grades = np.concatenate(
        [drawn.grades, np.where(new, np.take_along_axis(drawn.grades, at, 1), 0)], axis=1
    )
    ranks = np.concatenate(
        [drawn.ranks, np.full((len(new), len(SYSTEMS), CUTOFF), BEYOND, np.int8)], axis=2
    )
    scores = np.concatenate(
        [drawn.scores, np.full((len(new), 2, CUTOFF), -BEYOND, np.float32)], axis=2
    )
    ranks[query, 1, KEPT + slot], scores[query, 1, KEPT + slot] = slot, drawn.scores[query, 1, old]
    ranks[query, 1, old], scores[query, 1, old] = BEYOND, -BEYOND
    best = _highest(np.concatenate([drawn.best, grades[:, KEPT:]], axis=1))
    return Bank(grades, ranks, scores, best), np.concatenate(
        [np.zeros(drawn.grades.shape, bool), new], axis=1
    )


def at_random(judged: BoolArray, share: float, rng: np.random.Generator) -> BoolArray:
    """Take away this share of the judgments, whatever they say."""
    return judged & (rng.random(judged.shape) >= share)


def sampled(drawn: Bank, judged: BoolArray, share: float, rng: np.random.Generator) -> BoolArray:
    """Keep every judgment of a relevant document, and this share of the others."""
    return judged & ((drawn.grades > 0) | (rng.random(judged.shape) < share))


def named(drawn: Bank, source: str, rng: np.random.Generator, *, mirrored: bool) -> BoolArray:
    """Labels that name relevant documents alone: see `SOURCES`. In a mirrored bank, both halves
    have the same luck.
    """
    relevant = drawn.grades > 0
    luck = (
        rng.random((len(relevant) // 2, relevant.shape[1]))
        if mirrored
        else rng.random(relevant.shape)
    )
    luck = np.concatenate([luck, luck]) if mirrored else luck
    if source.endswith("at random"):
        place = np.argsort(np.argsort(np.where(relevant, luck, 2), axis=1), axis=1)
        return relevant & (place < int(source.split(maxsplit=1)[0]))
    if source == "clicks on A":  # looked at with 1 / rank, clicked if relevant
        rank = drawn.ranks[:, 0].astype(float) + 1
        return relevant & (rank <= CUTOFF) & (luck < 1 / rank)
    rank = np.where(relevant, drawn.ranks[:, SYSTEMS.index(source)], BEYOND)
    return (rank == rank.min(axis=1, keepdims=True)) & (rank < CUTOFF)


SOURCES = {
    "1 at random": "1 relevant document",
    "3 at random": "3 relevant documents",
    "A": "A's first relevant document",
    "clicks on A": "clicks on A's ten",
    "other 1": "a third system's first relevant document",
    "relative of A": "the same, of a relative of A",
}


@dataclass(frozen=True)
class Side:
    """One run's first ten of each query: arrays of shape (queries, 10)."""

    gains: FloatArray
    judged: BoolArray
    alone: BoolArray
    other_weight: FloatArray


@dataclass(frozen=True)
class Sample:
    """A bank as a comparison sees it through its judgments, and as it is.

    Attributes
    ----------
    a, b : Side
    weights : array of shape (10,)
    scale : array of shape (queries,)
        1 / ideal of the judged documents; 0 where none is relevant. 1 of measures without an ideal.
    difference, truth, condensed, condensed_short : arrays of shape (queries,)
        B - A as judged, with every document judged, and on judged documents alone of lists of 1,000
        and of 10.
    linear : bool
        Whether the measure is a sum over documents.
    """

    a: Side
    b: Side
    weights: FloatArray
    scale: FloatArray
    difference: FloatArray
    truth: FloatArray
    condensed: FloatArray
    condensed_short: FloatArray
    linear: bool = True

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        return self.a, self.b


def sample(drawn: Bank, judged: BoolArray, measure: str) -> Sample:
    """Measure both runs of every query."""
    gain, weights = MEASURES[measure]
    gains = gain(drawn.grades)
    known = np.where(judged, gains, 0)
    ideal = _highest(known) @ weights if has_ideal(measure) else np.ones(len(gains))
    scale = np.divide(1, ideal, out=np.zeros(len(ideal)), where=ideal > 0)
    sides = [_side(drawn, run, gains, judged, weights) for run in (0, 1)]

    def value(listed: FloatArray) -> FloatArray:
        return (listed * weights).max(axis=1) if measure == "RR@10" else listed @ weights

    values = [value(side.gains * side.judged) * scale for side in sides]
    truths = [value(side.gains) / drawn.ideal(measure) for side in sides]

    def condensed(run: int, within: BoolArray) -> FloatArray:
        order = np.argsort(np.where(judged & within, -drawn.scores[:, run], np.inf), axis=1)[
            :, :CUTOFF
        ]
        return value(np.take_along_axis(np.where(within, known, 0), order, 1)) * scale

    everywhere = np.ones_like(judged)
    short = [condensed(run, drawn.ranks[:, run] < CUTOFF) for run in (0, 1)]
    long = [condensed(run, everywhere) for run in (0, 1)]
    return Sample(
        *sides,
        weights,
        scale,
        *(pair[1] - pair[0] for pair in (values, truths, long, short)),
        linear=measure != "RR@10",
    )


def places_of(drawn: Bank, run: int) -> IntArray:
    """Columns of a run's first ten documents, in order."""
    at = np.zeros((len(drawn.grades), CUTOFF), int)
    query, document = np.nonzero(drawn.ranks[:, run] < CUTOFF)
    at[query, drawn.ranks[query, run, document]] = document
    return at


def _side(drawn: Bank, run: int, gains: FloatArray, judged: BoolArray, weights: FloatArray) -> Side:
    at = places_of(drawn, run)
    other = np.take_along_axis(drawn.ranks[:, 1 - run], at, 1)
    alone = other >= CUTOFF
    other_weight = np.where(alone, 0, weights[np.minimum(other, CUTOFF - 1)])
    return Side(
        np.take_along_axis(gains, at, 1), np.take_along_axis(judged, at, 1), alone, other_weight
    )
