"""Propensities by rank, as tables, JSON and CSV: of the position-based model, harvested, and with
trust bias.
"""

import json
from collections.abc import Iterator

from idealrank.clicks import HarvestedPropensities, Propensities, TrustPropensities
from idealrank.data.interchange import finite
from idealrank.data.types import FloatArray
from idealrank.reports.table.cells import Column, Table, count_cell, interval_cell, number_cell
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, wrapped
from idealrank.version import __version__

_RANK_PLACES = 3


def propensity_parts(found: Propensities) -> list[Part]:
    """A row a rank."""
    columns: list[Column[int]] = [
        Column(title="rank", kind="number", cell=lambda rank: count_cell(rank + 1)),
        Column(
            title="propensity",
            kind="number",
            cell=lambda rank: number_cell(float(found.relative[rank]), _RANK_PLACES),
        ),
        _interval("95 % interval", found.intervals),
        Column(
            title="click rate",
            kind="number",
            cell=lambda rank: number_cell(float(found.click_rates[rank]), _RANK_PLACES),
        ),
        Column(
            title="perplexity",
            kind="number",
            cell=lambda rank: number_cell(float(found.perplexity[rank]), _RANK_PLACES),
        ),
    ]
    notes = [
        "propensity: how often a rank is examined, divided by that of the first; "
        "position-based model, maximum likelihood",
        "intervals: bootstrap over queries; perplexity: on lists that the model has not seen, "
        "1 for certainty, 2 for a coin",
    ]
    bias = (
        f"the same documents are clicked {found.position_bias:.3g} times as often at the first "
        f"rank as at the last"
    )
    return [
        [f"{found.n_sessions:,} lists of {found.n_queries:,} queries, {found.relative.size} ranks"],
        Table.of(columns, range(found.relative.size)),
        [
            *([bias] if found.position_bias == found.position_bias else []),
            "method",
            *wrapped("; ".join(notes)),
        ],
    ]


def propensity_json(found: Propensities) -> str:
    """JSON text."""
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "lists": found.n_sessions,
        "queries": found.n_queries,
        "position_bias": found.position_bias,
        "sets_of_ranks": found.n_components,
        "cautions": list(found.cautions),
        "ranks": [
            {
                "rank": rank + 1,
                "propensity": value,
                "interval": interval,
                "click_rate": rate,
                "perplexity": perplexity,
            }
            for rank, (value, interval, rate, perplexity) in enumerate(_ranks(found))
        ],
    }
    return json.dumps(finite(record), indent=2) + "\n"


def propensity_rows(found: Propensities) -> Iterator[Row]:
    """Titles, and a row a rank."""
    yield ["rank", "propensity", "low", "high", "click_rate", "perplexity"]
    for rank, (value, interval, rate, perplexity) in enumerate(_ranks(found)):
        yield [str(rank + 1), *map(repr, (value, *interval, rate, perplexity))]


def _ranks(found: Propensities) -> Iterator[tuple[float, list[float], float, float]]:
    return zip(
        found.relative.tolist(),
        found.intervals.tolist(),
        found.click_rates.tolist(),
        found.perplexity.tolist(),
        strict=True,
    )


def harvest_parts(found: HarvestedPropensities) -> list[Part]:
    """A row a rank."""
    columns: list[Column[int]] = [
        Column(title="rank", kind="number", cell=lambda rank: count_cell(rank + 1)),
        Column(
            title="propensity",
            kind="number",
            cell=lambda rank: number_cell(float(found.relative[rank]), _RANK_PLACES),
        ),
        _interval("95 % interval", found.intervals),
        Column(
            title="with the first",
            kind="number",
            cell=lambda rank: count_cell(int(found.interventions[0, rank])),
        ),
        Column(
            title="with any",
            kind="number",
            cell=lambda rank: count_cell(int(found.interventions[rank].sum())),
        ),
    ]
    how = (
        "likelihood of all pairs of ranks"
        if found.method == "all-pairs"
        else "ratio to the click rates at the first rank"
    )
    said = (
        f"propensity: how often a rank is examined, divided by that of the first; {how}; of "
        f"documents at several ranks; intervals: "
        "bootstrap over queries; with the first, with any: documents at this rank and at the "
        "first, or at another"
    )
    return [
        [f"{found.n_sessions:,} lists, {found.relative.size} ranks"],
        Table.of(columns, range(found.relative.size)),
        ["method", *wrapped(said)],
    ]


def harvest_json(found: HarvestedPropensities) -> str:
    """JSON text.

    Examples
    --------
    >>> from idealrank.clicks import harvested_propensities, simulate
    >>> found = harvested_propensities(
    ...     simulate([[0.5, 0.3]] * 4, 400, ranks=2, policy="random"), n_resamples=10
    ... )
    >>> json.loads(harvest_json(found))["method"]
    'all-pairs'
    """
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "lists": found.n_sessions,
        "method": found.method,
        "interventions": found.interventions.tolist(),
        "ranks": [
            {"rank": rank, "propensity": value, "interval": interval}
            for rank, (value, interval) in enumerate(
                zip(found.relative.tolist(), found.intervals.tolist(), strict=True), 1
            )
        ],
    }
    return json.dumps(finite(record), indent=2) + "\n"


def harvest_rows(found: HarvestedPropensities) -> Iterator[Row]:
    """Titles, and a row a rank.

    Examples
    --------
    >>> from idealrank.clicks import harvested_propensities, simulate
    >>> found = harvested_propensities(
    ...     simulate([[0.5, 0.3]] * 4, 400, ranks=2, policy="random"), n_resamples=10
    ... )
    >>> next(harvest_rows(found))
    ['rank', 'propensity', 'low', 'high']
    """
    yield ["rank", "propensity", "low", "high"]
    for rank, (value, interval) in enumerate(
        zip(found.relative.tolist(), found.intervals.tolist(), strict=True), 1
    ):
        yield [str(rank), *map(repr, (value, *interval))]


def trust_parts(found: TrustPropensities) -> list[Part]:
    """Verdict on trust bias, and a row a rank."""
    columns: list[Column[int]] = [
        Column(title="rank", kind="number", cell=lambda rank: count_cell(rank + 1)),
        Column(
            title="slope",
            kind="number",
            cell=lambda rank: number_cell(float(found.slope[rank]), _RANK_PLACES),
        ),
        _interval("95 % of slope", found.slope_intervals),
        Column(
            title="offset",
            kind="number",
            cell=lambda rank: number_cell(float(found.offset[rank]), _RANK_PLACES),
        ),
        _interval("95 % of offset", found.offset_intervals),
        Column(
            title="documents", kind="number", cell=lambda rank: count_cell(int(found.n_pairs[rank]))
        ),
    ]
    verdict = "trust bias: an offset is not 0" if found.has_trust_bias else "no trust bias found"
    if found.cautions:
        verdict = "the log cannot tell whether there is trust bias"
    said = (
        "a document with the click rate m at the first rank has slope * m + offset here; "
        "without trust bias, offsets are 0 and slopes are "
        "propensities; slopes: covariances with the click rate at all other ranks; intervals: "
        "hold for all "
        "ranks together, by bootstrap over queries; documents: that stood at this rank, at "
        "the first, and at a third"
    )
    return [
        [f"{found.n_sessions:,} lists, {found.slope.size} ranks: {verdict}"],
        Table.of(columns, range(found.slope.size)),
        ["method", *wrapped(said)],
    ]


def trust_json(found: TrustPropensities) -> str:
    """JSON text.

    Examples
    --------
    >>> import numpy as np
    >>> from idealrank.clicks import simulate, trust_propensities
    >>> log = simulate(
    ...     np.random.default_rng(1).beta(1, 1, (40, 6)), 20_000, ranks=3, policy="random", rng=2
    ... )
    >>> json.loads(trust_json(trust_propensities(log)))["trust_bias"]
    False
    """
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "lists": found.n_sessions,
        "trust_bias": found.has_trust_bias,
        "cautions": list(found.cautions),
        "ranks": [
            {
                "rank": rank,
                "slope": slope,
                "slope_interval": of_slope,
                "offset": offset,
                "offset_interval": of_offset,
            }
            for rank, (slope, of_slope, offset, of_offset) in enumerate(_lines(found), 1)
        ],
    }
    return json.dumps(finite(record), indent=2) + "\n"


def trust_rows(found: TrustPropensities) -> Iterator[Row]:
    """Titles, and a row a rank."""
    yield ["rank", "slope", "slope_low", "slope_high", "offset", "offset_low", "offset_high"]
    for rank, (slope, of_slope, offset, of_offset) in enumerate(_lines(found), 1):
        yield [str(rank), *map(repr, (slope, *of_slope, offset, *of_offset))]


def _lines(found: TrustPropensities) -> Iterator[tuple[float, list[float], float, list[float]]]:
    columns = (found.slope, found.slope_intervals, found.offset, found.offset_intervals)
    return zip(*(column.tolist() for column in columns), strict=True)


def _interval(title: str, intervals: FloatArray) -> Column[int]:
    return Column(
        title=title,
        kind="number",
        cell=lambda rank: interval_cell(
            (float(intervals[rank, 0]), float(intervals[rank, 1])), _RANK_PLACES
        ),
    )
