"""Many small drops in a row against a gate that looks back one step, or farther; part of
`gate_simulation`.

Each change touches 20 % of the queries, whose values become other ones of the law of values; some
of them lose everything, so that the mean of all queries drops by 0.002, or stays. What is blocked
is not merged, and the next change starts from what is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from models import progress_line
from sign_flips import tails, together
from simulated_changes import MEAN, behind, value_of

from idealrank.data.types import BoolArray, FloatArray

ALPHA = 0.05
CHANGES = 50
TOUCHED = 0.2
DROPS = (0.002, 0.0)


@dataclass(frozen=True)
class Eroded:
    """What many sequences of changes came to, on average.

    Attributes
    ----------
    drop : float
        True drop of each change.
    lost : float
        True drop of all that was merged.
    blocked, late : float
        Changes blocked; share blocked of the last ten.
    """

    drop: float
    queries: int
    baselines: str
    lost: float
    blocked: float
    late: float


class Chains:
    """Sequences side by side: values (queries, chains) of what is merged, and of the baselines."""

    def __init__(self, queries: int, chains: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.merged = _values((queries, chains), rng)
        self.pinned = self.best = self.merged.copy()
        self.truth = np.full(chains, MEAN)  # expected value of what is merged

    def candidate(self, drop: float) -> FloatArray:
        """The next change: expected value `drop` below what is merged."""
        new = _values(self.merged.shape, self.rng)
        # A query that is touched has the mean truth - drop/TOUCHED afterwards, so the mean of all
        # drops by `drop`.
        keeps = (self.truth - drop / TOUCHED) / MEAN
        new = np.where(self.rng.random(new.shape) < keeps, new, 0.0)
        return np.where(self.rng.random(new.shape) < TOUCHED, new, self.merged)

    def merge(self, candidate: FloatArray, drop: float, passes: BoolArray) -> None:
        """Take what passes; the best so far is the merged state with the highest observed mean."""
        self.merged = np.where(passes, candidate, self.merged)
        self.truth = self.truth - drop * passes
        better = passes & (self.merged.mean(axis=0) > self.best.mean(axis=0))
        self.best = np.where(better, self.merged, self.best)


def _values(shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    return value_of(behind((*shape, 1), rng)[..., 0])


# What a candidate is held against.
BASELINES = {
    "previous": lambda chains: [chains.merged],
    "pinned": lambda chains: [chains.pinned],
    "pinned and previous": lambda chains: [chains.pinned, chains.merged],
    "pinned and best so far": lambda chains: [chains.pinned, chains.best],
}


def erosion(queries: int, chains: int, seed: int) -> Iterator[Eroded]:
    """Every choice of baselines, for drops and for harmless changes."""
    for drop in DROPS:
        for name, choose in BASELINES.items():
            rng = np.random.default_rng((seed, queries, list(BASELINES).index(name), int(drop > 0)))
            state, blocked = Chains(queries, chains, rng), []
            show = progress_line(f"erosion by {drop:g}, {queries} queries, {name}") or (
                lambda _done, _all: None
            )
            for step in range(CHANGES):
                candidate = state.candidate(drop)
                passes = ~stops(candidate, choose(state), rng)
                state.merge(candidate, drop, passes)
                blocked.append(float(1 - passes.mean()))
                show(step + 1, CHANGES)
            yield Eroded(
                drop,
                queries,
                name,
                float(MEAN - state.truth.mean()),
                sum(blocked),
                float(np.mean(blocked[-10:])),
            )


def stops(
    candidate: FloatArray, baselines: list[FloatArray], rng: np.random.Generator
) -> BoolArray:
    """True if the gate blocks: a drop against a baseline, of several one whose corrected p is at
    most alpha.
    """
    differences = np.stack([candidate - baseline for baseline in baselines], axis=2)
    p = together(differences, rng) if len(baselines) > 1 else tails(differences[..., 0], rng).less.T
    return np.asarray((p <= ALPHA).any(axis=1))
