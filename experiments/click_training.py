"""Rankers that learn from clicks, beside one that learns from full labels: ``python experiments/click_training.py [--sessions 40000]``.

The log is simulated, so that the grades of all documents are known. Users examine rank r with probability 1/r, and click an examined
document with a probability that grows with its grade. The ranker that made the log follows one useful feature and one useless feature.
A ranker that takes clicks as labels learns both. The table has nDCG@10 on new queries with their true grades.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import lightgbm as lgb
import numpy as np

import idealrank as ir
from idealrank.clicks import PBM, ClickRows, Sessions, click_rows, harvested_propensities, simulate
from idealrank.integrations.lightgbm import objective

MEASURE = "nDCG@5"
DOCUMENTS, FEATURES, USEFUL, USELESS = 15, 10, 0, 5
PARAMS = {
    "num_leaves": 15, "min_data_in_leaf": 50, "learning_rate": 0.1, "verbose": -1, "num_threads": 1, "seed": 1, "deterministic": True,
    "metric": "None",
}  # fmt: skip


@dataclass(frozen=True)
class Queries:
    """Features and true grades of queries; the score of the ranker that makes the log."""

    features: np.ndarray
    grades: np.ndarray
    logged: np.ndarray

    @classmethod
    def of(cls, n: int, rng: np.random.Generator) -> "Queries":
        x = rng.normal(size=(n, DOCUMENTS, FEATURES))
        quality = x[..., USEFUL] + x[..., 1] * (x[..., 2] > 0) + np.abs(x[..., 3]) + rng.normal(0, 0.5, (n, DOCUMENTS))
        grades = np.searchsorted([0.9, 1.8, 2.6, 3.4], quality)
        return cls(x, grades, x[..., USEFUL] + 1.5 * x[..., USELESS])

    @property
    def attractiveness(self) -> np.ndarray:
        """Probability that an examined document is clicked."""
        return 0.05 + 0.9 * (2.0**self.grades - 1) / 15

    def log(self, n: int, rng: np.random.Generator) -> Sessions:
        return simulate(self.attractiveness, n, ranks=DOCUMENTS, scores=self.logged, temperature=0.5, rng=rng)

    def rows_of(self, log: Sessions) -> np.ndarray:
        """Features of each document of the log."""
        where = np.array(log.documents).astype(int)
        return self.features[where[:, 0], where[:, 1]]


@dataclass(frozen=True)
class Trained:
    """Per-query values of one ranker on new queries."""

    name: str
    values: np.ndarray


def trained(x: np.ndarray, labels: np.ndarray, group: Any, chosen: Any, rounds: int, positions: Any = None) -> lgb.Booster:
    data = lgb.Dataset(x, labels, group=group, position=positions)
    return lgb.train(PARAMS | {"objective": chosen}, data, rounds)


def rankers(known: Queries, log: Sessions, rounds: int) -> Iterator[tuple[str, Callable[[np.ndarray], np.ndarray]]]:
    """Names of the rankers with their scores, each trained when it is asked for."""
    sizes = np.full(len(known.grades), DOCUMENTS)
    full = trained(known.features.reshape(-1, FEATURES), known.grades.reshape(-1), sizes, objective(cutoff=10), rounds)
    yield "full labels", full.predict
    rows, x = click_rows(log), known.rows_of(log)

    def on_clicks(chosen: Any, rows: ClickRows = rows, positions: Any = None) -> Callable[[np.ndarray], np.ndarray]:
        return trained(x[rows.pair], rows.labels, rows.group, chosen, rounds, positions).predict

    options = {"measure": "pairs", "gain": "linear", "damped": False}
    yield "clicks as labels", on_clicks(objective(**options))
    estimates: dict[str, Callable[[], np.ndarray]] = {
        "true propensities": lambda: 1 / np.arange(1, DOCUMENTS + 1),
        "harvested propensities": lambda: harvested_propensities(log, n_resamples=2).relative,
        "PBM's propensities": lambda: PBM().fit(log).relative_propensity,
    }
    for name, propensity in estimates.items():
        weighted = click_rows(log, propensity())
        yield f"clicks, {name}", on_clicks(objective(propensity=weighted.propensity, **options))
    yield "unbiased LambdaMART", on_clicks(objective(positions=rows.positions, **options))
    yield "unbiased LambdaMART, clicked alone", on_clicks(objective(positions=rows.positions, bias="clicked", **options))
    yield "LightGBM's lambdarank", on_clicks("lambdarank")
    yield "LightGBM's lambdarank, positions", on_clicks("lambdarank", positions=rows.positions)


def table(new: Queries, found: Sequence[tuple[str, Callable[[np.ndarray], np.ndarray]]]) -> list[Trained]:
    labels, sizes = new.grades.reshape(-1), np.full(len(new.grades), DOCUMENTS)
    x = new.features.reshape(-1, FEATURES)
    scores = [(name, score(x)) for name, score in found] + [("the ranker of the log", new.logged.reshape(-1))]
    return [Trained(name, ir.evaluate(labels, one, MEASURE, "lightgbm", group=sizes)[MEASURE]) for name, one in scores]


def lines(trained: Sequence[Trained]) -> Iterator[str]:
    first = trained[0].values
    yield f"{'':38}{MEASURE:>8}   difference to full labels"
    for one in trained:
        gap = ir.stats.difference_interval(first, one.values)
        beside = "" if one is trained[0] else f"   {(one.values - first).mean():+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]"
        yield f"{one.name:38}{one.values.mean():8.4f}{beside}"


def main(argv: Sequence[str] | None = None) -> list[Trained]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=40_000)
    parser.add_argument("--queries", type=int, default=400, help="queries of the log, and as many new ones")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--rankers", type=int, help="only the first ones")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(argv)
    rng = np.random.default_rng(chosen.seed)
    known, new = Queries.of(chosen.queries, rng), Queries.of(chosen.queries, rng)
    log = known.log(chosen.sessions, rng)
    found = table(new, list(islice(rankers(known, log, chosen.rounds), chosen.rankers)))
    counts = f"{chosen.sessions:,} lists of {DOCUMENTS} for {chosen.queries} queries, {int(log.clicks.sum()):,} clicks"
    print(f"{counts}; {chosen.queries} new queries\n")
    print("\n".join(lines(found)))
    return found


if __name__ == "__main__":
    main()
