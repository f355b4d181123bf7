"""Bias and coverage of estimates from samples of pooled documents, and from samples of queries.

Data       250 queries with 60 pooled documents. A document has a quality: normal (1) about the
level of its query (0.7).
           It is relevant above a cut, and doubly 0.8 above it. Two runs rank by quality with noise
           of 0.9 and of 1.3.
Sample     Strata by best rank, each with a share, as `judge pool --sampling-rates`: 10:1,60:0.1
           takes all documents down to rank 10, and a tenth of the others, within each query.
Asked      For each measure: how much its mean is off, as a share of the mean with all judgments,
and how often the 95 %
           interval of the difference of the two runs over queries contains the true difference.
           `relevant` is the mean number of sampled relevant documents of a query, `shortfall` the
           share by which `SampledJudgments.shortfall` expects AP to be too low, `no interval` the
           share of samples of which `sampled_estimate` gives no interval; the coverage is that of
           the interval without this rule.

The second table is about samples of queries: 2,000 queries, whose traffic falls with the rank as 1
/ rank, have values from 0 to 1 that do not depend on it. `sample_queries` draws some of them, and
the mean is over the traffic of all.

    interval     share of intervals of `QuerySample.interval` that contain this mean width
    mean width of these intervals over 3.92 standard deviations of the estimates weights      the
    same of `mean_interval` with the weights alone, as `evaluate --weights --intervals`
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from models import at_least_1, progress_line

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.judging import (
    SampledEstimate,
    SampledJudgments,
    SampledQuery,
    sample_queries,
    sampled_estimate,
)
from idealrank.judging.sampled_judgments import SampledMeasure
from idealrank.stats.design import Design
from idealrank.stats.intervals import mean_interval

QUERIES, DOCUMENTS = 250, 60
LOG, DRAWN = 2000, (20, 60, 200)
LEVEL, NOISE = 0.7, (0.9, 1.3)
CUTS = {"3": 2.0, "17": 0.7}
"""The cut by the mean number of relevant documents of a query."""
STRATA = {
    "60:0.15": ((60, 0.15),),
    "60:0.3": ((60, 0.3),),
    "60:0.5": ((60, 0.5),),
    "10:1,60:0.1": ((10, 1.0), (60, 0.1)),
}
MEASURES: tuple[SampledMeasure, ...] = ("xinfAP", "infAP", "statAP", "infNDCG", "DCG")
NAMES = tuple(f"d{number}" for number in range(DOCUMENTS))


class World(NamedTuple):
    """Grades, and the documents by rank of two runs, each (queries, documents)."""

    grades: FloatArray
    first: IntArray
    second: IntArray


class Cell(NamedTuple):
    """Bias of the mean of a measure, as a share of it, and coverage of the difference."""

    bias: float
    coverage: float


class Row(NamedTuple):
    """Results for one number of relevant documents and one sample."""

    relevant: str
    strata: str
    sampled: float
    shortfall: float
    refused: float
    cells: tuple[Cell, ...]


def world(n_queries: int, cut: float, rng: np.random.Generator) -> World:
    """Draw queries."""
    shape = (n_queries, DOCUMENTS)
    quality = rng.normal(0, 1, shape)
    level = quality + rng.normal(0, LEVEL, (n_queries, 1))
    grades = (level > cut).astype(float) + (level > cut + 0.8)
    first, second = (
        np.argsort(-(quality + rng.normal(0, noise, shape)), axis=1) for noise in NOISE
    )
    return World(grades, first, second)


def strata_of(one: World, strata: Sequence[tuple[int, float]]) -> IntArray:
    """Stratum of each document, by its best rank in the two runs."""
    best = np.minimum(np.argsort(one.first, axis=1), np.argsort(one.second, axis=1))
    return np.searchsorted([depth for depth, _ in strata], best, side="right")


def drawn(strata: IntArray, shares: Sequence[float], rng: np.random.Generator) -> BoolArray:
    """Mark the sampled documents of one query: a share of each stratum, at least one document."""
    picked = np.zeros(strata.size, np.bool_)
    for code, share in enumerate(shares):
        inside = np.flatnonzero(strata == code)
        if inside.size:
            picked[rng.choice(inside, max(round(share * inside.size), 1), replace=False)] = True
    return picked


def sample_of(
    one: World, strata: Sequence[tuple[int, float]], rng: np.random.Generator
) -> SampledJudgments:
    """Sample the documents of every query."""
    codes, shares, found = strata_of(one, strata), [share for _, share in strata], {}
    places = {name: place for place, name in enumerate(NAMES)}
    for query, (code, grades) in enumerate(zip(codes, one.grades, strict=True)):
        of_query = np.unique(code, return_inverse=True)[1].reshape(-1)
        grade = np.where(drawn(code, shares, rng), grades, np.nan)
        bare = SampledQuery(
            documents=places, stratum=of_query, probability=np.ones(DOCUMENTS), grade=grade
        )
        found[f"q{query}"] = SampledQuery(
            documents=places, stratum=of_query, probability=bare.rate, grade=grade
        )
    return SampledJudgments(found)


def estimates(
    one: World, sample: SampledJudgments
) -> list[tuple[SampledEstimate, SampledEstimate]]:
    """Each measure of the first run, and of the difference of the two."""
    runs = [
        {
            f"q{query}": [NAMES[place] for place in ranked]
            for query, ranked in enumerate(of.tolist())
        }
        for of in (one.first, one.second)
    ]
    return [
        (
            sampled_estimate(sample, runs[0], measure),
            sampled_estimate(sample, runs[0], measure, against=runs[1]),
        )
        for measure in MEASURES
    ]


def truth(cut: float, n_queries: int) -> list[tuple[float, float]]:
    """Mean of each measure, and of the difference, with all judgments of many queries."""
    one = world(n_queries, cut, np.random.default_rng(0))
    found = estimates(one, sample_of(one, ((DOCUMENTS, 1.0),), np.random.default_rng(0)))
    return [(run.mean, difference.mean) for run, difference in found]


def row(
    relevant: str, strata: str, known: Sequence[tuple[float, float]], runs: int, seed: int
) -> Row:
    """Repeat one setting."""
    means, held, sampled, shortfall, refused = [], [], [], [], []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        one = world(QUERIES, CUTS[relevant], rng)
        sample = sample_of(one, STRATA[strata], rng)
        found = estimates(one, sample)
        means.append([of.mean for of, _ in found])
        intervals = [mean_interval(difference.values) for _, difference in found]
        held.append(
            [of.low <= value <= of.high for of, (_, value) in zip(intervals, known, strict=True)]
        )
        sampled.append(sample.relevant_per_query)
        shortfall.append(sample.shortfall)
        refused.append(found[0][1].interval is None)
    bias = np.mean(means, axis=0) / np.array([value for value, _ in known]) - 1
    cells = tuple(
        Cell(float(off), float(share))
        for off, share in zip(bias, np.mean(held, axis=0), strict=True)
    )
    return Row(
        relevant,
        strata,
        float(np.mean(sampled)),
        float(np.mean(shortfall)),
        float(np.mean(refused)),
        cells,
    )


class QueryRow(NamedTuple):
    """Results for one number of sampled queries."""

    n: int
    interval: float
    width: float
    weights: float
    weights_width: float


def query_row(n: int, runs: int, seed: int) -> QueryRow:
    """Repeat samples of n queries of one log."""
    values = np.random.default_rng(seed).beta(2, 1.5, LOG)
    traffic = {f"q{place}": 1000 / (place + 1) for place in range(LOG)}
    value_of = dict(zip(traffic, values.tolist(), strict=True))
    true = sum(traffic[query] * value for query, value in value_of.items()) / sum(traffic.values())
    estimates_of: list[float] = []
    held: list[list[bool]] = []
    widths: list[list[float]] = []
    for run in range(runs):
        sample = sample_queries(traffic, n, seed=run)
        seen = np.array([value_of[query] for query in sample.query_ids])
        design = Design.of(n, weights=sample.weight)
        both = (sample.interval(seen), mean_interval(seen, design=design))
        estimates_of.append(both[0].estimate)
        held.append([bool(one.holds(true)) for one in both])
        widths.append([float(one.width) for one in both])
    right = 2 * 1.96 * float(np.std(estimates_of))
    shares, ratios = np.mean(held, axis=0), np.mean(widths, axis=0) / right
    return QueryRow(n, float(shares[0]), float(ratios[0]), float(shares[1]), float(ratios[1]))


def query_lines(rows: Sequence[QueryRow]) -> Iterator[str]:
    """The second table in Markdown."""
    yield "| queries | interval | width | weights | width |"
    yield "|---:|---:|---:|---:|---:|"
    for one in rows:
        yield (
            f"| {one.n} | {one.interval:.1%} | {one.width:.2f} | {one.weights:.1%} | "
            f"{one.weights_width:.2f} |"
        )


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """The table in Markdown."""
    yield "| relevant | strata | sampled | shortfall | no interval | " + " | ".join(MEASURES) + " |"
    yield "|---:|---|---:|---:|---:|" + "---:|" * len(MEASURES)
    for one in rows:
        cells = " | ".join(f"{cell.bias:+.0%} ({cell.coverage:.0%})" for cell in one.cells)
        start = (
            f"| {one.relevant} | {one.strata} | {one.sampled:.1f} | {one.shortfall:.0%} | "
            f"{one.refused:.0%}"
        )
        yield f"{start} | {cells} |"


def main(asked: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", choices=["documents", "queries"], default="documents")
    parser.add_argument(
        "--runs", type=at_least_1, help="draws of each row (default 40, of queries 1000)"
    )
    parser.add_argument(
        "--known", type=at_least_1, default=2000, help="queries of the truth (default 2000)"
    )
    parser.add_argument(
        "--seed", type=int, default=7, help="the same seed, the same numbers (default 7)"
    )
    arguments = parser.parse_args(asked)
    if arguments.table == "queries":
        runs = arguments.runs or 1000
        table = list(query_lines([query_row(n, runs, arguments.seed) for n in DRAWN]))
    else:
        runs = arguments.runs or 40
        table = list(lines(document_rows(runs, arguments.known, arguments.seed)))
    error = (0.05 * 0.95 / runs) ** 0.5
    print(
        "\n".join(
            [
                *table,
                "",
                f"{runs:,} draws of each row; a coverage of 95 % has a standard error of "
                f"{error:.1%}.",
            ]
        )
    )


def document_rows(runs: int, n_known: int, seed: int) -> list[Row]:
    """Each number of relevant documents with each sample."""
    show, rows = progress_line("rows") or (lambda _done, _runs: None), []
    for relevant, cut in CUTS.items():
        known = truth(cut, n_known)
        for strata in STRATA:
            rows.append(row(relevant, strata, known, runs, seed))
            show(len(rows), len(CUTS) * len(STRATA))
    return rows


if __name__ == "__main__":
    main()
