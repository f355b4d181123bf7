"""Click logs, propensities and values of policies, as tables, JSON and CSV; judgments from clicks, as lines."""

import json
import math
from collections.abc import Iterator, Sequence

from idealrank.clicks import LogCheck, LogProblem, PolicyDifference, PolicyValue, Propensities
from idealrank.data.interchange import finite
from idealrank.data.qrels import Qrels
from idealrank.errors import InputError, shown
from idealrank.reports.table.cells import Column, Table, count_cell, interval_cell, number_cell
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, wrapped
from idealrank.version import __version__

_RANK_PLACES = 3
_VALUE_PLACES = 5


def log_parts(found: LogCheck) -> list[Part]:
    """Counts, problems, and the rate of clicks at each rank.

    Examples
    --------
    >>> import numpy as np
    >>> from idealrank.clicks import LogRows
    >>> log_parts(LogRows(["s"], ["q"], ["a"], np.ones(1), np.ones(1)).check())[0]
    ['1 row, 1 list, 1 of them makes sense: 1 query, 1 pair of query and document, 1 click']
    """
    log = found.sessions
    kept = f"{found.n_kept:,} of them make{'s' * (found.n_kept == 1)} sense"
    said = [
        f"{_many(found.n_rows, 'row')}, {_many(found.n_lists, 'list')}, {kept}: {_many(len(log.queries), 'query', 'queries')}, "
        f"{_many(len(log.documents), 'pair')} of query and document, {_many(int(log.clicks.sum()), 'click')}"
    ]
    problems: list[Column[LogProblem]] = [
        Column("left out", cell=lambda one: one.text),
        Column("lists", "number", lambda one: count_cell(one.n_lists)),
        Column("first", cell=lambda one: one.example),
    ]
    rates, shown = log.click_rates(), (log.pair >= 0).sum(axis=0)
    ranks: list[Column[int]] = [
        Column("rank", "number", lambda rank: count_cell(rank + 1)),
        Column("lists", "number", lambda rank: count_cell(int(shown[rank]))),
        Column("click rate", "number", lambda rank: number_cell(float(rates[rank]))),
    ]
    notes = ["ranks are counted from 0 in the log, from 1 here"] if found.from_zero else []
    parts: list[Part] = [said]
    if found.problems:
        parts.append(Table.of(problems, found.problems))
    return [*parts, Table.of(ranks, range(log.n_ranks), notes=notes)]


def _many(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def log_json(found: LogCheck) -> str:
    """JSON text.

    Examples
    --------
    >>> import numpy as np
    >>> from idealrank.clicks import LogRows
    >>> json.loads(log_json(LogRows(["s"], ["q"], ["a"], np.ones(1), np.ones(1)).check()))["kept"]
    1
    """
    return json.dumps(finite({"version": __version__, "schema": SCHEMA, **found.as_dict()}), indent=2) + "\n"


def qrels_lines(qrels: Qrels, source: str = "0") -> Iterator[str]:
    r"""Judgments as TREC lines, with their source in the second field, which evaluation ignores.

    Raises
    ------
    InputError
        An id holds a blank or a control character, so that it does not fit into such a line.

    Examples
    --------
    >>> list(qrels_lines(Qrels({"q": {"a": 2}}), "clicks-pbm"))
    ['q clicks-pbm a 2\n']
    """
    for query in qrels.queries:
        for document, grade in qrels[query].items():
            for kind, name in (("query", query), ("document", document)):
                if not name.isprintable() or " " in name:
                    hint = "write CSV, which takes every id: --format csv"
                    raise InputError(f"{kind} {shown(repr(name))}: found a blank or a control character, expected an id without; {hint}")
            yield f"{query} {source} {document} {grade:g}\n"


def qrels_rows(qrels: Qrels, source: str = "0") -> Iterator[Row]:
    """Titles, and a row a judgment.

    Examples
    --------
    >>> list(qrels_rows(Qrels({"red shoes": {"a": 2}}), "clicks-pbm"))
    [['query', 'document', 'grade', 'source'], ['red shoes', 'a', '2', 'clicks-pbm']]
    """
    yield ["query", "document", "grade", "source"]
    for query in qrels.queries:
        yield from ([query, document, f"{grade:g}", source] for document, grade in qrels[query].items())


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
        Column("propensity", "number", lambda rank: number_cell(float(found.relative[rank]), _RANK_PLACES)),
        Column(
            "95 % interval",
            "number",
            lambda rank: interval_cell((float(found.intervals[rank, 0]), float(found.intervals[rank, 1])), _RANK_PLACES),
        ),
        Column("click rate", "number", lambda rank: number_cell(float(found.click_rates[rank]), _RANK_PLACES)),
        Column("perplexity", "number", lambda rank: number_cell(float(found.perplexity[rank]), _RANK_PLACES)),
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
            for rank, (value, interval, rate, perplexity) in enumerate(_ranks(found))
        ],
    }  # fmt: skip
    return json.dumps(finite(record), indent=2) + "\n"


def propensity_rows(found: Propensities) -> Iterator[Row]:
    """Titles, and a row a rank.

    Examples
    --------
    >>> from idealrank.clicks import propensities, simulate
    >>> found = propensities(simulate([[0.5, 0.3]] * 4, 400, ranks=2, policy="random"), n_resamples=10)
    >>> next(propensity_rows(found))[:2]
    ['rank', 'propensity']
    """
    yield ["rank", "propensity", "low", "high", "click_rate", "perplexity"]
    for rank, (value, interval, rate, perplexity) in enumerate(_ranks(found)):
        yield [str(rank + 1), *map(repr, (value, *interval, rate, perplexity))]


def _ranks(found: Propensities) -> Iterator[tuple[float, list[float], float, float]]:
    return zip(found.relative.tolist(), found.intervals.tolist(), found.click_rates.tolist(), found.perplexity.tolist(), strict=True)


def estimate_parts(values: Sequence[PolicyValue], differences: Sequence[PolicyDifference] = ()) -> list[Part]:
    """Cautions, a row an estimator, and differences.

    Examples
    --------
    >>> from idealrank.clicks import ips
    >>> estimate_parts([ips([1, 0, 1, 0], [0.5] * 4, [0.5] * 4)])[0]  # doctest: +ELLIPSIS
    ['No verdict: 4 rows are worth 4 of equal weight, fewer than 100', ...]
    """
    cautions = dict.fromkeys(caution for one in (*values, *(two.b for two in differences)) for caution in one.cautions)
    confidence = f"{100 * values[0].confidence:g} % interval"
    columns: list[Column[PolicyValue]] = [
        Column("estimator", cell=lambda one: one.estimator),
        Column("value", "number", lambda one: number_cell(one.value, _VALUE_PLACES)),
        Column(confidence, "number", lambda one: interval_cell(one.interval, _VALUE_PLACES)),
        Column("rows", "number", lambda one: count_cell(one.n)),
        Column("worth", "number", lambda one: count_cell(round(one.effective_sample_size))),
        Column("largest weight", "number", lambda one: number_cell(one.max_weight, 2)),
        Column("mean weight", "number", lambda one: number_cell(one.mean_weight, 3)),
    ]
    pairs: list[Column[PolicyDifference]] = [
        Column("B - A by", cell=lambda one: one.a.estimator),
        Column("difference", "number", lambda one: number_cell(one.value, _VALUE_PLACES, signed=True)),
        Column(confidence, "number", lambda one: interval_cell(one.interval, _VALUE_PLACES)),
        Column("B is", cell=lambda one: one.verdict),
        Column(
            "rows needed",
            "number",
            lambda one: number_cell(None) if math.isinf(one.rows_needed()) else count_cell(math.ceil(one.rows_needed())),
        ),
    ]
    parts: list[Part] = [[f"No verdict: {caution}" for caution in cautions]] if cautions else []
    parts.append(Table.of(columns, values))
    if differences:
        parts.append(Table.of(pairs, differences, notes=["rows needed: for a difference of this size, with power 0.8"]))
    return parts


def estimate_json(values: Sequence[PolicyValue], differences: Sequence[PolicyDifference] = ()) -> str:
    """JSON text.

    Examples
    --------
    >>> from idealrank.clicks import ips
    >>> json.loads(estimate_json([ips([1, 0, 1, 0], [0.5] * 4, [0.5] * 4)]))["values"][0]["value"]
    0.5
    """
    record = {
        "version": __version__, "schema": SCHEMA,
        "values": [_value_record(one) for one in values],
        "differences": [
            {"estimator": one.a.estimator, "difference": one.value, "standard_error": one.standard_error, "interval": list(one.interval),
             "verdict": one.verdict, "rows_needed": one.rows_needed(), "b": _value_record(one.b)}
            for one in differences
        ],
    }  # fmt: skip
    return json.dumps(finite(record), indent=2) + "\n"


def _value_record(one: PolicyValue) -> dict[str, object]:
    return {
        "estimator": one.estimator, "value": one.value, "standard_error": one.standard_error, "interval": list(one.interval),
        "confidence": one.confidence, "rows": one.n, "clusters": one.n_clusters, "effective_sample_size": one.effective_sample_size,
        "max_weight": one.max_weight, "mean_weight": one.mean_weight, "largest_share": one.largest_share, "clipped_rows": one.n_clipped,
        "cautions": list(one.cautions),
    }  # fmt: skip


def estimate_rows(values: Sequence[PolicyValue], differences: Sequence[PolicyDifference] = ()) -> Iterator[Row]:
    """Titles, a row an estimator, and a row a difference.

    Examples
    --------
    >>> from idealrank.clicks import ips
    >>> list(estimate_rows([ips([1, 0, 1, 0], [0.5] * 4, [0.5] * 4)]))[1][:3]
    ['ips', 'A', '0.5']
    """
    yield ["estimator", "of", "value", "standard_error", "low", "high", "effective_sample_size", "max_weight"]
    for one in values:
        yield [one.estimator, "A", *map(repr, (one.value, one.standard_error, *one.interval, one.effective_sample_size, one.max_weight))]
    for two in differences:
        yield [two.a.estimator, "B - A", *map(repr, (two.value, two.standard_error, *two.interval)), "", ""]
