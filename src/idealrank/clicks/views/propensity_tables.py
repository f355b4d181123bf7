"""Propensities by rank, as tables, JSON and CSV: of the position-based model, harvested, and with
trust bias.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from idealrank.clicks import HarvestedPropensities, Propensities, TrustPropensities
from idealrank.data.types import FloatArray
from idealrank.reports.table.cells import Column, Table, count_cell, interval_cell, number_cell
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, wrapped

_RANK_PLACES = 3


def propensity_parts(propensities: Propensities) -> list[Part]:
    """Return counts, a table with a row for each rank, and the method."""
    columns: list[Column[int]] = [
        Column(title="rank", kind="number", cell=lambda rank: count_cell(rank + 1)),
        Column(
            title="propensity",
            kind="number",
            cell=lambda rank: number_cell(float(propensities.relative[rank]), _RANK_PLACES),
        ),
        _interval("95 % interval", propensities.intervals),
        Column(
            title="click rate",
            kind="number",
            cell=lambda rank: number_cell(float(propensities.click_rates[rank]), _RANK_PLACES),
        ),
        Column(
            title="perplexity",
            kind="number",
            cell=lambda rank: number_cell(float(propensities.perplexity[rank]), _RANK_PLACES),
        ),
    ]

    notes = [
        "propensity: how often a rank is examined, divided by that of the first; position-based "
        "model, maximum likelihood",
        "intervals: bootstrap over queries; perplexity: on lists that the model has not seen, 1 "
        "for certainty, 2 for a coin",
    ]
    bias_text = (
        f"the same documents are clicked {propensities.position_bias:.3g} times as often at the "
        "first rank as at the last"
    )
    n_ranks = propensities.relative.size
    counts = (
        f"{propensities.n_sessions:,} lists of {propensities.n_queries:,} queries, {n_ranks} ranks"
    )
    bias = [] if math.isnan(propensities.position_bias) else [bias_text]
    return [
        [counts],
        Table.of(columns, range(n_ranks), kept=3),
        [*bias, "method", *wrapped("; ".join(notes))],
    ]


def propensity_json(propensities: Propensities) -> str:
    """Write the result as JSON text."""
    record = {
        "lists": propensities.n_sessions,
        "queries": propensities.n_queries,
        "position_bias": propensities.position_bias,
        "sets_of_ranks": propensities.n_components,
        "cautions": list(propensities.cautions),
        "ranks": [row._asdict() for row in _rank_rows(propensities)],
    }
    return result_json(record)


def propensity_rows(propensities: Propensities) -> Iterator[Row]:
    """Yield titles, and a row for each rank."""
    yield ["rank", "propensity", "low", "high", "click_rate", "perplexity"]
    for row in _rank_rows(propensities):
        numbers = (row.propensity, *row.interval, row.click_rate, row.perplexity)
        yield [str(row.rank), *map(repr, numbers)]


class _RankRow(NamedTuple):
    """Numbers of a rank, by their keys in JSON."""

    rank: int
    propensity: float
    interval: list[float]
    click_rate: float
    perplexity: float


def _rank_rows(propensities: Propensities) -> list[_RankRow]:
    return [
        _RankRow(
            rank=number + 1,
            propensity=float(propensities.relative[number]),
            interval=propensities.intervals[number].tolist(),
            click_rate=float(propensities.click_rates[number]),
            perplexity=float(propensities.perplexity[number]),
        )
        for number in range(propensities.relative.size)
    ]


def harvest_parts(harvest: HarvestedPropensities) -> list[Part]:
    """Return counts, a table with a row for each rank, and the method."""
    columns: list[Column[int]] = [
        Column(title="rank", kind="number", cell=lambda rank: count_cell(rank + 1)),
        Column(
            title="propensity",
            kind="number",
            cell=lambda rank: number_cell(float(harvest.relative[rank]), _RANK_PLACES),
        ),
        _interval("95 % interval", harvest.intervals),
        Column(
            title="with the first",
            kind="number",
            cell=lambda rank: count_cell(int(harvest.interventions[0, rank])),
        ),
        Column(
            title="with any",
            kind="number",
            cell=lambda rank: count_cell(int(harvest.interventions[rank].sum())),
        ),
    ]

    method_text = "ratio to the click rates at the first rank"
    if harvest.method == "all-pairs":
        method_text = "likelihood of all pairs of ranks"
    method = (
        f"propensity: how often a rank is examined, divided by that of the first; {method_text}; "
        "of documents at several ranks; intervals: bootstrap over queries; with the first, with "
        "any: documents at this rank and at the first, or at another"
    )
    return [
        [f"{harvest.n_sessions:,} lists, {harvest.relative.size} ranks"],
        Table.of(columns, range(harvest.relative.size), kept=3),
        ["method", *wrapped(method)],
    ]


def harvest_json(harvest: HarvestedPropensities) -> str:
    """Write the result as JSON text.

    Examples
    --------
    >>> import json
    >>> from idealrank.clicks import harvested_propensities, simulate
    >>> harvest = harvested_propensities(
    ...     simulate([[0.5, 0.3]] * 4, 400, ranks=2, policy="random"), n_resamples=10
    ... )
    >>> json.loads(harvest_json(harvest))["method"]
    'all-pairs'
    """
    record = {
        "lists": harvest.n_sessions,
        "method": harvest.method,
        "interventions": harvest.interventions.tolist(),
        "ranks": [
            {"rank": rank, "propensity": value, "interval": interval}
            for rank, (value, interval) in enumerate(
                zip(harvest.relative.tolist(), harvest.intervals.tolist(), strict=True), 1
            )
        ],
    }
    return result_json(record)


def harvest_rows(harvest: HarvestedPropensities) -> Iterator[Row]:
    """Yield titles, and a row for each rank.

    Examples
    --------
    >>> from idealrank.clicks import harvested_propensities, simulate
    >>> harvest = harvested_propensities(
    ...     simulate([[0.5, 0.3]] * 4, 400, ranks=2, policy="random"), n_resamples=10
    ... )
    >>> next(harvest_rows(harvest))
    ['rank', 'propensity', 'low', 'high']
    """
    yield ["rank", "propensity", "low", "high"]
    for rank, (value, interval) in enumerate(
        zip(harvest.relative.tolist(), harvest.intervals.tolist(), strict=True), 1
    ):
        yield [str(rank), *map(repr, (value, *interval))]


def trust_parts(trust: TrustPropensities) -> list[Part]:
    """Return the verdict on trust bias, and a table with a row for each rank."""
    columns: list[Column[int]] = [
        Column(title="rank", kind="number", cell=lambda rank: count_cell(rank + 1)),
        Column(
            title="slope",
            kind="number",
            cell=lambda rank: number_cell(float(trust.slope[rank]), _RANK_PLACES),
        ),
        _interval("95 % of slope", trust.slope_intervals),
        Column(
            title="offset",
            kind="number",
            cell=lambda rank: number_cell(float(trust.offset[rank]), _RANK_PLACES),
        ),
        _interval("95 % of offset", trust.offset_intervals),
        Column(
            title="documents", kind="number", cell=lambda rank: count_cell(int(trust.n_pairs[rank]))
        ),
    ]

    verdict = "trust bias: an offset is not 0" if trust.has_trust_bias else "no trust bias found"
    if trust.cautions:
        verdict = "the log cannot tell whether there is trust bias"
    method = (
        "a document with the click rate m at the first rank has slope * m + offset here; without "
        "trust bias, offsets are 0 and slopes are propensities; slopes: covariances with the click "
        "rate at all other ranks; intervals: hold for all ranks together, by bootstrap over "
        "queries; documents: that stood at this rank, at the first, and at a third"
    )
    return [
        [f"{trust.n_sessions:,} lists, {trust.slope.size} ranks: {verdict}"],
        Table.of(columns, range(trust.slope.size), kept=5),
        ["method", *wrapped(method)],
    ]


def trust_json(trust: TrustPropensities) -> str:
    """Write the result as JSON text.

    Examples
    --------
    >>> import json
    >>> import numpy as np
    >>> from idealrank.clicks import simulate, trust_propensities
    >>> log = simulate(
    ...     np.random.default_rng(1).beta(1, 1, (40, 6)), 20_000, ranks=3, policy="random", rng=2
    ... )
    >>> json.loads(trust_json(trust_propensities(log)))["trust_bias"]
    False
    """
    record = {
        "lists": trust.n_sessions,
        "trust_bias": trust.has_trust_bias,
        "cautions": list(trust.cautions),
        "ranks": [line._asdict() for line in _lines(trust)],
    }
    return result_json(record)


def trust_rows(trust: TrustPropensities) -> Iterator[Row]:
    """Yield titles, and a row for each rank."""
    yield ["rank", "slope", "slope_low", "slope_high", "offset", "offset_low", "offset_high"]
    for line in _lines(trust):
        numbers = (line.slope, *line.slope_interval, line.offset, *line.offset_interval)
        yield [str(line.rank), *map(repr, numbers)]


class _Line(NamedTuple):
    """Line of a rank, by its keys in JSON."""

    rank: int
    slope: float
    slope_interval: list[float]
    offset: float
    offset_interval: list[float]


def _lines(trust: TrustPropensities) -> list[_Line]:
    return [
        _Line(
            rank=number + 1,
            slope=float(trust.slope[number]),
            slope_interval=trust.slope_intervals[number].tolist(),
            offset=float(trust.offset[number]),
            offset_interval=trust.offset_intervals[number].tolist(),
        )
        for number in range(trust.slope.size)
    ]


def _interval(title: str, intervals: FloatArray) -> Column[int]:
    return Column(
        title=title,
        kind="number",
        cell=lambda rank: interval_cell(
            (float(intervals[rank, 0]), float(intervals[rank, 1])), _RANK_PLACES
        ),
    )
