"""Changes of a search engine, simulated: values of queries before and after, with a true drop that
is known.

Values     Those of `interval_coverage`: a quarter of the queries 0, a tenth 1, the others Beta(1.2,
1.8); mean 0.36. Several measures of a
           query share 80 % of the variance of what lies behind them.
Changes    A change touches some of the queries. What lies behind the value of such a query becomes,
in part or as a whole, another one of
           the same law: rises and falls are alike. For a true drop some of the queries that are
           touched lose everything: their values become 0.
Lopsided   Differences of mean 0 that are many small losses and a few large gains, or the other way
round. Rankings   The demo's 60 queries and its second ranker's lists, drawn with replacement. A
query that is touched has its list reordered a
           little before and after, alike; for a true drop some of the lists after the change are in
           random order.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from interval_coverage import BETA, ONE, ZERO
from scipy.special import betaincinv, ndtr

import idealrank as ir
from idealrank.data.types import FloatArray

MEAN = ONE + (1 - ZERO - ONE) * BETA[0] / sum(BETA)
SHARED = 0.8
MEASURES = 3
GAINS = 0.15  # share of the lopsided differences that are gains, of 0.65 in the mean
PYDOCS = Path(__file__).resolve().parents[1] / "examples" / "pydocs"
REAL_MEASURES = ("nDCG@10", "AP", "RR")
VERSIONS, DEPTH = 60, 30  # reordered lists of each query, and how deep they are
LITTLE = 0.5  # noise of a list that is reordered a little, see `reordered`
_CHANCES = np.linspace(0, 1, 1 << 14)
_TABLE = betaincinv(*BETA, _CHANCES)


class Changed(NamedTuple):
    """Values before and after changes, shape (queries, changes, measures)."""

    before: FloatArray
    after: FloatArray

    @property
    def differences(self) -> FloatArray:
        """After - before."""
        return self.after - self.before


class Kind(NamedTuple):
    """How a change acts: share of the queries touched, and how much of what lies behind their
    values stays (a correlation).
    """

    touched: float
    kept: float
    real: bool = False


KINDS = {
    "small change": Kind(0.2, 0.0),
    "re-training": Kind(0.8, 0.95),
    "real rankings": Kind(0.2, 0.0, real=True),
}


def value_of(normal: FloatArray) -> FloatArray:
    """The value with the same rank in the law of values as a number in the standard normal one."""
    chance = ndtr(normal)
    inner = np.interp((chance - ZERO) / (1 - ZERO - ONE), _CHANCES, _TABLE)
    return np.where(chance < ZERO, 0.0, np.where(chance >= 1 - ONE, 1.0, inner))


def behind(shape: tuple[int, int, int], rng: np.random.Generator) -> FloatArray:
    """Standard normal numbers; the measures of a query are correlated."""
    common = np.sqrt(SHARED) * rng.standard_normal((*shape[:2], 1))
    return np.asarray(common + np.sqrt(1 - SHARED) * rng.standard_normal(shape))


class Changes:
    """Many changes of one kind on so many queries; the same ones for every drop, but for the
    queries that lose everything.
    """

    def __init__(
        self,
        kind: Kind,
        queries: int,
        changes: int,
        rng: np.random.Generator,
        measures: int = MEASURES,
    ) -> None:
        shape = (queries, changes, measures)
        touched = rng.random(shape[:2]) < kind.touched
        self.order = np.where(touched, rng.random(shape[:2]), np.inf)  # who loses first
        if kind.real:
            pool = lists()
            query = rng.integers(0, pool.little.shape[0], shape[:2])
            first, second, last = (rng.integers(0, VERSIONS, shape[:2]) for _ in range(3))
            before = pool.little[query, first][..., :measures]
            self.base = Changed(
                before,
                np.where(touched[..., None], pool.little[query, second][..., :measures], before),
            )
            self.worst = pool.none[query, last][..., :measures]
            self.loss = kind.touched * float((pool.little - pool.none)[..., 0].mean())
        else:
            old = behind(shape, rng)
            new = kind.kept * old + np.sqrt(1 - kind.kept**2) * behind(shape, rng)
            before = value_of(old)
            self.base = Changed(before, np.where(touched[..., None], value_of(new), before))
            self.worst = np.zeros(shape)
            self.loss = kind.touched * MEAN

    def dropped(self, drop: float, measures: slice = slice(None)) -> Changed:
        """The changes with a true mean drop of so much, in the first measure at least.

        Parameters
        ----------
        drop : float
            From 0 to `loss`, where every query that is touched loses everything.
        measures : slice
            The measures that lose.
        """
        if not 0 <= drop <= self.loss:
            raise ValueError(f"drop {drop}: these changes can lose at most {self.loss:.3f}")
        loses = (self.order < drop / self.loss)[..., None]
        after = self.base.after.copy()
        after[..., measures] = np.where(loses, self.worst[..., measures], after[..., measures])
        return Changed(self.base.before, after)


def lopsided(shape: tuple[int, int], rng: np.random.Generator, touched: float) -> FloatArray:
    """Differences of mean 0 of which few are large gains and many small losses, in a share of the
    queries.
    """
    gains = rng.random(shape) < GAINS
    most = 2 * GAINS * 0.65 / (1 - GAINS)
    found = np.where(gains, rng.uniform(0.3, 1, shape), rng.uniform(-most, 0, shape))
    return found if touched == 1 else np.where(rng.random(shape) < touched, found, 0.0)


class Lists(NamedTuple):
    """Values of reordered lists, shape (queries, versions, measures): a little reordered, and with
    nothing of the order kept.
    """

    little: FloatArray
    none: FloatArray


def demo() -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Judgments and second ranking of the demo, the first of each list."""
    qrels: dict[str, dict[str, int]] = {}
    for line in (PYDOCS / "qrels.txt").read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        qrels.setdefault(query, {})[document] = int(grade)
    ranked: dict[str, list[str]] = {query: [] for query in qrels}
    for line in (PYDOCS / "minilm.run").read_text(encoding="utf-8").splitlines():
        query, _, document, *_ = line.split()
        ranked[query] = [*ranked[query], document][:DEPTH]
    return qrels, ranked


@lru_cache(maxsize=1)
def lists() -> Lists:
    """Of the demo's rankings; always the same."""
    rng = np.random.default_rng(7)
    qrels, ranked = demo()
    found = [
        _values(qrels, {query: reordered(ranked[query], noise, rng) for query in qrels})
        for noise in (LITTLE, None)
    ]
    return Lists(*found)


def reordered(
    ranking: list[str], noise: float | None, rng: np.random.Generator, versions: int = VERSIONS
) -> list[list[str]]:
    """Versions of a list: by log rank with Gumbel noise, so that the top moves as rarely as it does
    between models; or at random.
    """
    keep = -np.log(np.arange(1, len(ranking) + 1)) / noise if noise else np.zeros(len(ranking))
    scores = keep + rng.gumbel(size=(versions, len(ranking)))
    return [[ranking[place] for place in row] for row in np.argsort(-scores, axis=1).tolist()]


def _values(qrels: dict[str, dict[str, int]], versions: dict[str, list[list[str]]]) -> FloatArray:
    """Every version as a query of its own."""
    run = {
        f"{query}#{number}": ranking
        for query, rankings in versions.items()
        for number, ranking in enumerate(rankings)
    }
    judged = {name: qrels[name.split("#")[0]] for name in run}
    evaluation = ir.evaluate(judged, run, list(REAL_MEASURES))
    row = {name: at for at, name in enumerate(evaluation.queries)}
    at = [[row[f"{query}#{number}"] for number in range(VERSIONS)] for query in versions]
    return np.asarray(evaluation.values, np.float64)[np.array(at)]
