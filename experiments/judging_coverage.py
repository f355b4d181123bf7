"""Coverage of intervals about judges: agreement, corrected estimates, shares, accuracy, leniency,
worth of a label.

Data       Queries with documents. A document has a quality: normal about the level of its query,
which is normal too (0.6). The human
           grades it 0 to 3 by quality and a little noise (0.3); the judge by quality, more noise
           (0.7), and a leniency that is its own in every query (0.15 on average, 0.5 around it). So
           pairs of one query are alike, in what the human says and in how the judge errs.
Truth      Of agreement, leniency and worth: the value of 20,000 such queries. Of corrected
estimates: the mean of the human over all units
           (pairs), over the law of the queries (clustered, queries), or of the documents at hand
           (documents, fixed).
Asked      Of intervals of level 0.95: the share that hold the truth, the mean width, and of
estimates the bias in standard deviations,
           and how many human labels the estimate is worth for each one that there is.

The part `errors` has simpler data: independent units, each with a value of the human and one of the
judge. A judge may err rarely, or units with a value may be rare, so that a few labels show neither.
Truth is the mean of the law of the human values.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from models import at_least_1, progress_line

from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray
from idealrank.judging import (
    agreement,
    correct,
    correct_documents,
    corrected_share,
    gold_accuracy,
    label_worth,
)
from idealrank.judging.leniency import Pairs, by_rank

CUTS = (0.2, 0.9, 1.6)
DOCUMENTS = 40
LEVEL, HUMAN, JUDGE, LENIENT, SPREAD = 0.6, 0.3, 0.7, 0.15, 0.5
MANY = 20_000
CUTOFF = 10

Found: TypeAlias = tuple[float, tuple[float, float], float]
"""An estimate, its interval, and human labels that it is worth for each one that there is (NaN
where that means nothing).
"""


class Cell(NamedTuple):
    """Coverage of one interval in one setting."""

    what: str
    setting: str
    method: str
    coverage: float
    width: float
    bias: float
    worth: float
    none: float


class World(NamedTuple):
    """Queries: grades of the human and the judge, and scores of two systems, shape (queries,
    documents).
    """

    human: FloatArray
    judge: FloatArray
    system: FloatArray
    other: FloatArray

    @property
    def queries(self) -> Any:
        """Query of each pair, in the order of `ravel`."""
        return np.repeat(np.arange(self.human.shape[0]), self.human.shape[1])


def world(n_queries: int, rng: np.random.Generator, documents: int = DOCUMENTS) -> World:
    """Draw queries."""
    shape = (n_queries, documents)
    quality = rng.normal(0, LEVEL, (n_queries, 1)) + rng.normal(0, 1, shape)
    human = np.searchsorted(CUTS, quality + rng.normal(0, HUMAN, shape)).astype(float)
    lenient = rng.normal(LENIENT, SPREAD, (n_queries, 1))
    judge = np.searchsorted(CUTS, quality + lenient + rng.normal(0, JUDGE, shape)).astype(float)
    return World(
        human, judge, quality + rng.normal(0, 0.8, shape), quality + rng.normal(0, 1.2, shape)
    )


def ndcg(grades: FloatArray, scores: FloatArray) -> FloatArray:
    """NDCG@10 of each query; 0 without a relevant document."""
    discount = 1 / np.log2(np.arange(2, CUTOFF + 2))
    ranked = np.take_along_axis(grades, np.argsort(-scores, axis=1), axis=1)[:, :CUTOFF]
    ideal = -np.sort(-grades, axis=1)[:, :CUTOFF]
    best = ideal @ discount
    return np.divide(ranked @ discount, best, out=np.zeros_like(best), where=best > 0)


# --- what is tried --------------------------------------------------------------------------------

STATISTICS: Mapping[str, dict[str, Any]] = {
    "percent": {"statistic": "percent"},
    "Cohen's kappa": {"statistic": "cohen_kappa"},
    "quadratic kappa": {"statistic": "cohen_kappa", "weights": "quadratic"},
    "ordinal alpha": {"statistic": "krippendorff_alpha", "level": "ordinal"},
    "AC1": {"statistic": "gwet_ac1"},
}


class Try(NamedTuple):
    """A row of the table: what, in which setting, by which method; one draw of it; and its truth,
    unless the draw says it.
    """

    what: str
    setting: str
    method: str
    draw: Callable[[np.random.Generator], "Found | tuple[Found, float]"]
    truth: float | None


def agreements(large: World) -> Iterator[Try]:
    """Agreement coefficients, by query and as if pairs were independent."""
    pairs = np.stack([large.human.ravel(), large.judge.ravel()], axis=1)
    for name, options in STATISTICS.items():
        truth = agreement(pairs, **options, categories=[0, 1, 2, 3])
        for n in (10, 25, 100):
            yield Try(
                name, f"{n} queries", "by query", _agreement(n, options, by_query=True), truth
            )
        yield Try(
            name,
            "25 queries",
            "pairs as independent",
            _agreement(25, options, by_query=False),
            truth,
        )


def _agreement(
    n: int, options: dict[str, Any], *, by_query: bool
) -> Callable[[np.random.Generator], Found]:
    def draw(rng: np.random.Generator) -> Found:
        one = world(n, rng)
        rated = np.stack([one.human.ravel(), one.judge.ravel()], axis=1)
        clusters = one.queries if by_query else None
        found = agreement(
            rated, **options, categories=[0, 1, 2, 3], clusters=clusters, interval=True
        )
        return found.value, found.interval, np.nan

    return draw


def estimates() -> Iterator[Try]:
    """Means of pairs, labelled one by one or by whole queries, and means over queries."""
    for n in (20, 50, 200):
        for quantile, ddof in (("t", 1), ("z", 0)):
            method = "t" if quantile == "t" else "normal, as ppi-python"
            yield Try(
                "mean grade of 4,000 pairs",
                f"{n} labelled",
                method,
                _pairs(n, quantile, ddof),
                None,
            )
    level = float(world(MANY, np.random.default_rng(0)).human.mean())
    for labelled in (5, 10, 25):
        yield Try(
            "mean grade",
            f"{labelled} of 100 queries labelled",
            "by query",
            _queries_of_pairs(labelled, by_query=True),
            level,
        )
    yield Try(
        "mean grade",
        "10 of 100 queries labelled",
        "pairs as independent",
        _queries_of_pairs(10, by_query=False),
        level,
    )
    large = world(MANY, np.random.default_rng(0))
    one, other = ndcg(large.human, large.system), ndcg(large.human, large.other)
    for what, truth, differ in (
        ("nDCG@10", float(one.mean()), False),
        ("difference of nDCG@10", float((one - other).mean()), True),
    ):
        for n, quantile, ddof in ((10, "t", 1), (10, "z", 0), (25, "t", 1), (50, "t", 1)):
            method = "t" if quantile == "t" else "normal, as ppi-python"
            yield Try(
                what,
                f"{n} of 250 queries labelled",
                method,
                _measure(n, quantile, ddof, differ=differ),
                truth,
            )


def _tuning(quantile: str) -> Any:
    """`ppi-python` has normal quantiles, and tunes the weight on the units it is applied to."""
    return "left-out" if quantile == "t" else "ppi++"


def _pairs(
    n: int, quantile: Any, ddof: int
) -> Callable[[np.random.Generator], tuple[Found, float]]:
    def draw(rng: np.random.Generator) -> tuple[Found, float]:
        one = world(100, rng)
        human, judge = one.human.ravel(), one.judge.ravel()
        chosen = np.zeros(human.size, bool)
        chosen[rng.choice(human.size, n, replace=False)] = True
        found = correct(
            human[chosen],
            judge[chosen],
            judge[~chosen],
            tuning=_tuning(quantile),
            quantile=quantile,
            ddof=ddof,
        )
        return (found.estimate, found.interval, found.effective_labels / n), float(human.mean())

    return draw


def _queries_of_pairs(labelled: int, *, by_query: bool) -> Callable[[np.random.Generator], Found]:
    def draw(rng: np.random.Generator) -> Found:
        one = world(100, rng)
        human, judge, queries = one.human.ravel(), one.judge.ravel(), one.queries
        chosen = queries < labelled  # queries come in no order
        clusters = (queries[chosen], queries[~chosen]) if by_query else None
        found = correct(human[chosen], judge[chosen], judge[~chosen], clusters=clusters)
        return found.estimate, found.interval, found.effective_labels / chosen.sum()

    return draw


def _measure(
    n: int, quantile: Any, ddof: int, *, differ: bool
) -> Callable[[np.random.Generator], Found]:
    def draw(rng: np.random.Generator) -> Found:
        one = world(250, rng)
        human, judge = ndcg(one.human, one.system), ndcg(one.judge, one.system)
        if differ:
            human, judge = human - ndcg(one.human, one.other), judge - ndcg(one.judge, one.other)
        found = correct(
            human[:n], judge[:n], judge[n:], tuning=_tuning(quantile), quantile=quantile, ddof=ddof
        )
        return found.estimate, found.interval, found.effective_labels / n

    return draw


# --- rare errors and rare values ------------------------------------------------------------------


def _misses(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Share of 0.3; the judge misses a tenth of the positives."""
    human = rng.random(size) < 0.3
    return human.astype(float), (human & (rng.random(size) >= 0.1)).astype(float)


def _flips(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Share of 0.3; the judge is wrong on 15 % of the units."""
    human = rng.random(size) < 0.3
    return human.astype(float), (human ^ (rng.random(size) < 0.15)).astype(float)


def _rare(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Share of 0.05; the judge misses a fifth of the positives, and is wrong on 2 % of the
    others.
    """
    human = rng.random(size) < 0.05
    judge = np.where(human, rng.random(size) >= 0.2, rng.random(size) < 0.02)
    return human.astype(float), judge.astype(float)


def _biased(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Values from 0 to 1; the judge is 0.15 too high, with errors of 0.15."""
    human = rng.beta(2, 1.5, size)
    return human, np.clip(human + rng.normal(0.15, 0.15, size), 0, 1)


def _blunders(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Values from 0 to 1; the judge is close, but says 0 for 3 % of the units."""
    human = rng.beta(2, 1.5, size)
    close = np.clip(human + rng.normal(0, 0.05, size), 0, 1)
    return human, np.where(rng.random(size) < 0.03, 0.0, close)


def _few_differ(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Differences, of which 80 % are 0; the judge overlooks a tenth of the others."""
    differs = rng.random(size) < 0.2
    human = np.where(differs, rng.normal(0.1, 0.3, size), 0.0)
    seen = differs & (rng.random(size) < 0.9)
    return human, np.where(seen, human + rng.normal(0, 0.1, size), 0.0)


Law: TypeAlias = Callable[[int, np.random.Generator], tuple[FloatArray, FloatArray]]

LAWS: Mapping[str, tuple[Law, float, tuple[int, ...], tuple[int, ...]]] = {
    "share 0.3, a tenth missed": (_misses, 0.3, (500, 20_000), (10, 25, 50, 100, 200)),
    "share 0.3, 15% wrong": (_flips, 0.3, (500,), (10, 25, 100)),
    "share 0.05": (_rare, 0.05, (500,), (10, 25, 100, 200)),
    "value, biased judge": (_biased, 2 / 3.5, (500,), (10, 25, 100)),
    "value, 3% of the judge 0": (_blunders, 2 / 3.5, (500,), (10, 25, 100)),
    "difference, 80% zero": (_few_differ, 0.02, (500,), (10, 25, 100)),
}
"""The law of the units, its mean, numbers of other units, and numbers of labels."""


def errors() -> Iterator[Try]:
    """Corrected means by a judge whose errors are rare, or of values that are rare."""
    for what, (law, mean, others_of, labels_of) in LAWS.items():
        for n_other in others_of:
            for n in labels_of:
                for method in ("left-out", "ppi++", "human alone"):
                    yield Try(
                        what,
                        f"{n} labels, {n_other:,} others",
                        method,
                        _corrected(law, n, n_other, method),
                        mean,
                    )


def _corrected(
    law: Law, n: int, n_other: int, method: Any
) -> Callable[[np.random.Generator], Found]:
    def draw(rng: np.random.Generator) -> Found:
        human, judge = law(n + n_other, rng)
        if method == "human alone":
            found = correct(human[:n], judge[:n], judge[n:], weight=0)
        else:
            found = correct(human[:n], judge[:n], judge[n:], tuning=method)
        return found.estimate, found.interval, found.effective_labels / n

    return draw


def documents() -> Iterator[Try]:
    """DCG and NDCG by sampled documents, stratified by the judge's grade."""
    large = world(MANY, np.random.default_rng(0))
    discount = 1 / np.log2(np.arange(2, CUTOFF + 2))
    ranked = np.take_along_axis(large.human, np.argsort(-large.system, axis=1), axis=1)[:, :CUTOFF]
    gains, ideals = ranked @ discount, -np.sort(-large.human, axis=1)[:, :CUTOFF] @ discount
    truths = {
        "DCG@10": float(gains.mean()),
        "nDCG@10, ratio of sums": float(gains.sum() / ideals.sum()),
    }
    for what, truth in truths.items():
        for share in (0.1, 0.2, 0.4):
            for queries in ("fixed", "sample"):
                setting = (
                    f"{share:.0%} of 40 x 40 documents, "
                    f"{'these' if queries == 'fixed' else 'all'} queries"
                )
                known = truth if queries == "sample" else None
                yield Try(
                    what,
                    setting,
                    "delta method",
                    _documents(what.partition(",")[0], share, queries),
                    known,
                )


def _documents(
    measure: str, share: float, queries: Any
) -> Callable[[np.random.Generator], "Found | tuple[Found, float]"]:
    def draw(rng: np.random.Generator) -> "Found | tuple[Found, float]":
        one = world(40, rng)
        names = [f"d{number}" for number in range(DOCUMENTS)]
        human, judge, run = (
            {f"q{q}": dict(zip(names, row, strict=True)) for q, row in enumerate(of.tolist())}
            for of in (one.human, one.judge, one.system)
        )
        chosen = np.zeros(one.judge.shape, bool)
        for grade in np.unique(one.judge):
            places = np.argwhere(one.judge == grade)
            picked = places[
                rng.choice(
                    len(places), min(max(round(share * len(places)), 2), len(places)), replace=False
                )
            ]
            chosen[picked[:, 0], picked[:, 1]] = True
        sample = {
            query: {name: of[name] for name, has in zip(names, row, strict=True) if has}
            for (query, of), row in zip(human.items(), chosen, strict=True)
        }
        given = Qrels({query: of for query, of in sample.items() if of})
        found = correct_documents(given, Qrels(judge), Run(run), measure, queries=queries)
        result: Found = (found.estimate, found.interval, found.effective_labels / found.n_labelled)
        if queries == "sample":
            return result
        everything = correct_documents(
            Qrels(human), Qrels(judge), Run(run), measure, queries="fixed"
        )
        return result, everything.estimate

    return draw


def shares() -> Iterator[Try]:
    """Rogan and Gladen's share of relevant pairs: the judge errs alike in all queries here, as the
    estimate assumes, or by query.
    """
    for n in (100, 400):
        for method in ("smoothed", "delta"):
            yield Try(
                "share of grade 2 or 3",
                f"{n} labelled, errors alike",
                method,
                _share(n, method, spread=0.0),
                None,
            )
    yield Try(
        "share of grade 2 or 3",
        "10 of 100 queries labelled, errors by query",
        "smoothed",
        _share_by_query(clustered=False),
        None,
    )
    yield Try(
        "share of grade 2 or 3",
        "10 of 100 queries labelled, errors by query",
        "by query",
        _share_by_query(clustered=True),
        None,
    )


def _share(
    n: int, method: Any, spread: float
) -> Callable[[np.random.Generator], tuple[Found, float]]:
    def draw(rng: np.random.Generator) -> tuple[Found, float]:
        true = rng.random(4000) < 0.27
        errs = np.where(true, rng.random(4000) < 0.35 + spread, rng.random(4000) < 0.1)
        human, judge = true.astype(int), (true ^ errs).astype(int)
        found = corrected_share(human[:n], judge[:n], judge[n:], interval=method)
        return (found.estimate, found.interval, np.nan), float(human[n:].mean())

    return draw


def _share_by_query(*, clustered: bool) -> Callable[[np.random.Generator], tuple[Found, float]]:
    def draw(rng: np.random.Generator) -> tuple[Found, float]:
        one = world(100, rng)
        human, judge, queries = (
            (one.human.ravel() >= 2).astype(int),
            (one.judge.ravel() >= 2).astype(int),
            one.queries,
        )
        chosen = queries < 10
        clusters = (queries[chosen], queries[~chosen]) if clustered else None
        found = corrected_share(human[chosen], judge[chosen], judge[~chosen], clusters=clusters)
        return (found.estimate, found.interval, np.nan), float(human[~chosen].mean())

    return draw


def others(large: World) -> Iterator[Try]:
    """Accuracy on gold questions, worth of a label, and leniency at the top."""
    for n, accuracy in ((20, 0.8), (50, 0.95), (200, 0.8)):
        yield Try(
            "accuracy",
            f"{n} gold questions, {accuracy:.0%} right",
            "Wilson",
            _accuracy(n, accuracy),
            accuracy,
        )
    for by in ("pair", "cluster"):
        truth = label_worth(large.human.ravel(), large.judge.ravel(), large.queries, by=by).value
        for n in (25, 100):
            yield Try(
                f"worth of a label of a {'pair' if by == 'pair' else 'query'}",
                f"{n} queries",
                "by query",
                _worth(n, by),
                truth,
            )
    truth = float(np.mean([_leniency(2000)(np.random.default_rng(seed))[0] for seed in range(8)]))
    for n in (10, 25, 100):
        yield Try("leniency at the top", f"{n} queries", "by query", _leniency(n), truth)


def _accuracy(n: int, accuracy: float) -> Callable[[np.random.Generator], Found]:
    def draw(rng: np.random.Generator) -> Found:
        one = gold_accuracy(
            (rng.random(n) < accuracy).astype(float)[:, None], np.ones(n)
        ).assessors[0]
        return one.accuracy, one.interval, np.nan

    return draw


def _worth(n: int, by: str) -> Callable[[np.random.Generator], Found]:
    def draw(rng: np.random.Generator) -> Found:
        one = world(n, rng)
        found = label_worth(one.human.ravel(), one.judge.ravel(), one.queries, by=by)
        return found.value, found.interval, np.nan

    return draw


def _leniency(n: int) -> Callable[[np.random.Generator], Found]:
    def draw(rng: np.random.Generator) -> Found:
        one = world(n, rng)
        names = [str(number) for number in range(DOCUMENTS)]
        queries = [f"q{query}" for query in one.queries]
        pairs = Pairs(
            queries=queries,
            documents=names * n,
            human=one.human.ravel(),
            judge=one.judge.ravel(),
            clusters=one.queries,
        )
        run = Run(
            {
                f"q{q}": dict(zip(names, row, strict=True))
                for q, row in enumerate(one.system.tolist())
            }
        )
        found = by_rank(pairs, {"system": run})
        return found.difference, found.interval, np.nan

    return draw


PARTS = ("agreement", "estimates", "errors", "documents", "shares", "others")


def tries(parts: Sequence[str]) -> Iterator[Try]:
    """Every row of the asked parts."""
    large = world(MANY if {"agreement", "others"} & set(parts) else 1, np.random.default_rng(0))
    made: dict[str, Callable[[], Iterator[Try]]] = {
        "agreement": lambda: agreements(large),
        "estimates": estimates,
        "errors": errors,
        "documents": documents,
        "shares": shares,
        "others": lambda: others(large),
    }
    for part in parts:
        yield from made[part]()


# --- the table ------------------------------------------------------------------------------------


def cell(one: Try, runs: int, seed: int) -> Cell:
    """Repeat one row; a draw without an interval counts as a miss."""
    values, truths, ends, worth = [], [], [], []
    for run in range(runs):
        found = one.draw(np.random.default_rng([seed, run]))
        (value, interval, labels), truth = found if one.truth is None else (found, one.truth)  # type: ignore[misc]
        values.append(value)
        truths.append(truth)
        ends.append(interval)
        worth.append(labels)
    low, high = np.array(ends).T
    errors = np.array(values) - np.array(truths)
    known = np.isfinite(high - low)
    held = known & (low <= np.array(truths) + 1e-12) & (np.array(truths) - 1e-12 <= high)
    spread = float(errors.std()) or 1.0
    mean_worth = float(np.median(worth)) if np.isfinite(worth).all() else float("nan")
    width = float((high - low)[known].mean()) if known.any() else float("nan")
    bias, none = float(errors.mean()) / spread, float(1 - known.mean())
    return Cell(
        one.what, one.setting, one.method, float(held.mean()), width, bias, mean_worth, none
    )


def lines(rows: Sequence[Cell]) -> Iterator[str]:
    """The table in Markdown."""
    yield "| what | setting | interval | coverage | mean width | bias in sd | worth of a label |"
    yield "|---|---|---|---:|---:|---:|---:|"
    for row in rows:
        worth = "" if np.isnan(row.worth) else f"{row.worth:.2f}"
        yield (
            f"| {row.what} | {row.setting} | {row.method} | {row.coverage:.1%} | {row.width:.3f} "
            f"| {row.bias:+.2f} | {worth} |"
        )


def main(asked: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=at_least_1, default=1000, help="draws of each row (default 1000)"
    )
    parser.add_argument(
        "--part", choices=PARTS, nargs="+", default=list(PARTS), help="which rows (default all)"
    )
    parser.add_argument(
        "--seed", type=int, default=41, help="the same seed, the same numbers (default 41)"
    )
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    arguments = parser.parse_args(asked)
    show, rows = progress_line("rows") or (lambda _done, _runs: None), []
    wanted = list(tries(arguments.part))
    for one in wanted:
        rows.append(cell(one, arguments.runs, arguments.seed))
        show(len(rows), len(wanted))
    if arguments.format == "json":
        print(
            json.dumps(
                {"runs": arguments.runs, "level": 0.95, "cells": [row._asdict() for row in rows]},
                indent=1,
            )
        )
    else:
        error = (0.05 * 0.95 / arguments.runs) ** 0.5
        note = (
            f"{arguments.runs:,} draws of each row; a coverage of 95 % has a standard error of "
            f"{error:.1%}."
        )
        print("\n".join([*lines(rows), "", note]))


if __name__ == "__main__":
    main()
