"""Propensities of ranks, as a table, JSON and CSV."""

import json
from collections.abc import Iterator

from idealrank.clicks import Propensities
from idealrank.data.interchange import finite
from idealrank.reports.table.cells import Column, Table, count_cell, interval_cell, number_cell
from idealrank.reports.table.records import SCHEMA, csv_row
from idealrank.reports.table.text import Part, wrapped
from idealrank.version import __version__

_PLACES = 3


def propensity_parts(found: Propensities) -> list[Part]:
    """A row a rank.

    Examples
    --------
    >>> from idealrank.clicks import propensities, simulate
    >>> found = propensities(simulate([[0.5, 0.3]] * 4, 400, ranks=2, policy="random"), n_resamples=10)
    >>> propensity_parts(found)[0]
    ['400 lists of 4 queries, 2 ranks']
    """
    columns: list[Column[int]] = [
        Column("rank", "number", lambda rank: count_cell(rank + 1)),
        Column("propensity", "number", lambda rank: number_cell(float(found.relative[rank]), _PLACES)),
        Column(
            "95 % interval",
            "number",
            lambda rank: interval_cell((float(found.intervals[rank, 0]), float(found.intervals[rank, 1])), _PLACES),
        ),
        Column("click rate", "number", lambda rank: number_cell(float(found.click_rates[rank]), _PLACES)),
        Column("perplexity", "number", lambda rank: number_cell(float(found.perplexity[rank]), _PLACES)),
    ]
    notes = [
        "propensity: how often a rank is examined, divided by that of the first; position-based model, expectation maximisation",
        "intervals: bootstrap over queries; perplexity: on lists that the model has not seen, 1 for certainty, 2 for a coin",
    ]
    bias = f"the same documents are clicked {found.position_bias:.3g} times as often at the first rank as at the last"
    return [
        [f"{found.n_sessions:,} lists of {found.n_queries:,} queries, {found.relative.size} ranks"],
        Table.of(columns, range(found.relative.size)),
        [*([bias] if found.position_bias == found.position_bias else []), "method", *wrapped("; ".join(notes))],
    ]


def propensity_json(found: Propensities) -> str:
    """JSON text.

    Examples
    --------
    >>> from idealrank.clicks import propensities, simulate
    >>> found = propensities(simulate([[0.5, 0.3]] * 4, 400, ranks=2, policy="random"), n_resamples=10)
    >>> json.loads(propensity_json(found))["ranks"][0]["propensity"]
    1.0
    """
    record = {
        "version": __version__, "schema": SCHEMA, "lists": found.n_sessions, "queries": found.n_queries,
        "position_bias": found.position_bias, "sets_of_ranks": found.n_components,
        "ranks": [
            {"rank": rank + 1, "propensity": value, "interval": interval, "click_rate": rate, "perplexity": perplexity}
            for rank, (value, interval, rate, perplexity) in enumerate(_rows(found))
        ],
    }  # fmt: skip
    return json.dumps(finite(record), indent=2) + "\n"


def propensity_csv(found: Propensities) -> Iterator[str]:
    r"""CSV: a row a rank.

    Examples
    --------
    >>> from idealrank.clicks import propensities, simulate
    >>> found = propensities(simulate([[0.5, 0.3]] * 4, 400, ranks=2, policy="random"), n_resamples=10)
    >>> next(iter(propensity_csv(found)))
    'rank,propensity,low,high,click_rate,perplexity\n'
    """
    yield csv_row(["rank", "propensity", "low", "high", "click_rate", "perplexity"])
    for rank, (value, interval, rate, perplexity) in enumerate(_rows(found)):
        yield csv_row([str(rank + 1), *map(repr, (value, *interval, rate, perplexity))])


def _rows(found: Propensities) -> Iterator[tuple[float, list[float], float, float]]:
    return zip(found.relative.tolist(), found.intervals.tolist(), found.click_rates.tolist(), found.perplexity.tolist(), strict=True)
