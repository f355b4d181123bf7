"""Rankers that learn from clicks, beside one that learns from full labels: ``python
experiments/click_training.py [--policy fixed]``.

The logs are simulated, so that the grades of all documents are known. Users examine rank r with
probability 1/r, and click an examined document with a probability that grows with its grade. The
ranker that made a log follows one useful feature and one useless feature. A ranker that takes
clicks as labels learns both. Each log has queries of its own, and as many new queries for nDCG@5 by
their true grades. Intervals are Student's over the logs, so that they hold for other logs, too.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import lightgbm as lgb
import numpy as np

import idealrank as ir
from idealrank.clicks import PBM, Sessions, click_rows, harvested_propensities, simulate
from idealrank.clicks.simulated_logs import LoggingPolicy
from idealrank.errors import IdealrankError, IdealrankWarning, InputError
from idealrank.training.lightgbm import objective

MEASURE = "nDCG@5"
DOCUMENTS, FEATURES, USEFUL, USELESS = 15, 10, 0, 5
PARAMS = {
    "num_leaves": 15,
    "min_data_in_leaf": 50,
    "learning_rate": 0.1,
    "verbose": -1,
    "num_threads": 1,
    "seed": 1,
    "deterministic": True,
    "metric": "None",
}


@dataclass(frozen=True)
class Queries:
    """Features and true grades of queries; the score of the ranker that makes the log."""

    features: np.ndarray
    grades: np.ndarray
    logged: np.ndarray

    @classmethod
    def of(cls, n: int, rng: np.random.Generator) -> "Queries":
        x = rng.normal(size=(n, DOCUMENTS, FEATURES))
        quality = (
            x[..., USEFUL]
            + x[..., 1] * (x[..., 2] > 0)
            + np.abs(x[..., 3])
            + rng.normal(0, 0.5, (n, DOCUMENTS))
        )
        grades = np.searchsorted([0.9, 1.8, 2.6, 3.4], quality)
        return cls(x, grades, x[..., USEFUL] + 1.5 * x[..., USELESS])

    @property
    def attractiveness(self) -> np.ndarray:
        """Probability that an examined document is clicked."""
        return 0.05 + 0.9 * (2.0**self.grades - 1) / 15

    def log(self, n: int, policy: LoggingPolicy, rng: np.random.Generator) -> Sessions:
        return simulate(
            self.attractiveness,
            n,
            ranks=DOCUMENTS,
            scores=self.logged,
            policy=policy,
            temperature=0.5,
            rng=rng,
        )

    def rows_of(self, log: Sessions) -> np.ndarray:
        """Features of each document of the log."""
        where = np.array(log.documents).astype(int)
        return self.features[where[:, 0], where[:, 1]]


@dataclass(frozen=True)
class Trained:
    """Mean values of one ranker on the new queries of each log."""

    name: str
    means: np.ndarray


Ranker = Callable[[np.ndarray], np.ndarray]


def trained(
    x: np.ndarray,
    labels: np.ndarray,
    group: Any,
    chosen: Any,
    rounds: int,
    positions: Any = None,
    **options: Any,
) -> Ranker:
    data = lgb.Dataset(x, labels, group=group, position=positions)
    predict: Ranker = lgb.train(PARAMS | {"objective": chosen} | options, data, rounds).predict
    return predict


def rankers(known: Queries, log: Sessions, rounds: int) -> Iterator[tuple[str, Ranker]]:
    """Names of the rankers with their scores, each trained when it is asked for."""
    sizes = np.full(len(known.grades), DOCUMENTS)
    yield (
        "full labels",
        trained(
            known.features.reshape(-1, FEATURES),
            known.grades.reshape(-1),
            sizes,
            objective(cutoff=5),
            rounds,
        ),
    )
    rows, x = click_rows(log), known.rows_of(log)

    def on_clicks(chosen: Any, **options: Any) -> Ranker:
        return trained(x[rows.pair], rows.labels, rows.group, chosen, rounds, **options)

    options = {"measure": "pairs", "gain": "linear", "damped": False}
    yield "clicks as labels", on_clicks(objective(**options))
    for name, propensity in PROPENSITIES.items():
        try:
            weighted = click_rows(log, propensity(log))
        except IdealrankError:  # documents that keep their ranks show no propensities
            continue
        yield f"clicks, {name}", on_clicks(objective(propensity=weighted.propensity, **options))
    yield "unbiased LambdaMART", on_clicks(objective(positions=rows.positions, **options))
    yield (
        "unbiased LambdaMART, bias=clicked",
        on_clicks(objective(positions=rows.positions, bias="clicked", **options)),
    )
    yield "LightGBM's lambdarank", on_clicks("lambdarank")
    for penalty in (0.0, 0.1):
        name = f"LightGBM's, positions, penalty {penalty:g}"
        yield (
            name,
            on_clicks(
                "lambdarank",
                positions=rows.positions,
                lambdarank_position_bias_regularization=penalty,
            ),
        )


def _of_model(log: Sessions) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)  # the same as below
        fitted = PBM().fit(log)
    if fitted.n_components > 1:
        raise InputError(
            f"log: found {fitted.n_components} sets of ranks without a document in common, "
            f"expected 1"
        )
    return fitted.relative_propensity


PROPENSITIES: dict[str, Callable[[Sessions], np.ndarray]] = {
    "true propensities": lambda log: 1 / np.arange(1, log.n_ranks + 1),
    "harvested propensities": lambda log: harvested_propensities(log, n_resamples=2).relative,
    "PBM's propensities": _of_model,
}


def table(asked: argparse.Namespace) -> list[Trained]:
    """Means of each ranker on the new queries of each log."""
    found: dict[str, list[float]] = {}
    for rng in np.random.default_rng(asked.seed).spawn(asked.logs):
        known, new = Queries.of(asked.queries, rng), Queries.of(asked.queries, rng)
        labels, sizes, x = (
            new.grades.reshape(-1),
            np.full(asked.queries, DOCUMENTS),
            new.features.reshape(-1, FEATURES),
        )
        log = known.log(asked.sessions, asked.policy, rng)
        scores = [
            (name, score(x))
            for name, score in islice(rankers(known, log, asked.rounds), asked.rankers)
        ]
        for name, one in [*scores, ("the ranker of the log", new.logged.reshape(-1))]:
            found.setdefault(name, []).append(
                ir.evaluate(labels, one, MEASURE, "lightgbm", group=sizes).mean()[MEASURE]
            )
    return [Trained(name, np.array(means)) for name, means in found.items()]


def lines(trained: Sequence[Trained]) -> Iterator[str]:
    full = trained[0].means
    yield f"{'':38}{MEASURE:>8}   difference to full labels"
    for one in trained:
        beside = ""
        if one is not trained[0]:
            gap = ir.stats.difference_interval(full, one.means)
            beside = f"   {(one.means - full).mean():+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]"
        yield f"{one.name:38}{one.means.mean():8.4f}{beside}"


def main(argv: Sequence[str] | None = None) -> list[Trained]:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--logs", type=int, default=5)
    parser.add_argument("--sessions", type=int, default=20_000, help="lists of a log")
    parser.add_argument(
        "--queries", type=int, default=400, help="queries of a log, and as many new ones"
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument(
        "--policy",
        choices=["plackett-luce", "fixed"],
        default="plackett-luce",
        help="fixed: documents keep their ranks",
    )
    parser.add_argument("--rankers", type=int, help="only the first ones")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(argv)
    found = table(asked)
    print(
        f"{asked.logs} logs with {asked.sessions:,} lists of {DOCUMENTS} each, "
        f"{asked.policy}; {asked.queries} new queries each\n"
    )
    print("\n".join(lines(found)))
    return found


if __name__ == "__main__":
    main()
