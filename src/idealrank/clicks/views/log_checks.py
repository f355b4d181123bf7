"""Checked click logs, as tables and JSON; judgments from clicks, as lines and CSV."""

import json
from collections.abc import Iterator, Mapping, Sequence

from idealrank.clicks import LogCheck, LogProblem
from idealrank.data.interchange import finite
from idealrank.data.qrels import Qrels
from idealrank.errors import InputError, shown
from idealrank.reports.table.cells import Column, Table, count_cell, counted, number_cell
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part
from idealrank.version import __version__


def log_parts(found: LogCheck) -> list[Part]:
    """Counts, problems, and the rate of clicks at each rank."""
    log = found.sessions
    kept = f"{found.n_kept:,} of them make{'s' * (found.n_kept == 1)} sense"
    said = [
        f"{counted(found.n_rows, 'row')}, {counted(found.n_lists, 'list')}, {kept}: "
        f"{counted(len(log.queries), 'query', 'queries')}, "
        f"{counted(len(log.documents), 'pair')} of query and document, "
        f"{counted(int(log.clicks.sum()), 'click')}"
    ]
    problems: list[Column[LogProblem]] = [
        Column(title="left out", cell=lambda one: one.text),
        Column(title="lists", kind="number", cell=lambda one: count_cell(one.n_lists)),
        Column(title="first", cell=lambda one: one.example),
    ]
    rates, shown = log.click_rates(), (log.pair >= 0).sum(axis=0)
    ranks: list[Column[int]] = [
        Column(title="rank", kind="number", cell=lambda rank: count_cell(rank + 1)),
        Column(title="lists", kind="number", cell=lambda rank: count_cell(int(shown[rank]))),
        Column(
            title="click rate", kind="number", cell=lambda rank: number_cell(float(rates[rank]))
        ),
    ]
    notes = ["ranks are counted from 0 in the log, from 1 here"] if found.from_zero else []
    parts: list[Part] = [said]
    if found.problems:
        parts.append(Table.of(problems, found.problems))
    return [*parts, Table.of(ranks, range(log.n_ranks), notes=notes)]


def log_json(found: LogCheck) -> str:
    """JSON text."""
    return (
        json.dumps(finite({"version": __version__, "schema": SCHEMA, **found.as_dict()}), indent=2)
        + "\n"
    )


def provenance_json(
    checked: LogCheck,
    how: Mapping[str, object],
    inputs: Sequence[tuple[str, str]],
    n_graded: int,
    bias: float,
) -> str:
    """Origin of judgments made from a log: options, hashes of the files, counts, and the size of
    the position bias.
    """
    log = checked.sessions
    record = {
        "version": __version__,
        "schema": SCHEMA,
        **how,
        "inputs": [{"name": name, "sha256": digest} for name, digest in inputs],
        "lists": checked.n_lists,
        "lists_kept": checked.n_kept,
        "impressions": int((log.pair >= 0).sum()),
        "clicks": int(log.clicks.sum()),
        "pairs_graded": n_graded,
        "pairs_unjudged": len(log.documents) - n_graded,
        "position_bias": bias,
        "problems": {one.kind: one.n_lists for one in checked.problems},
    }
    return json.dumps(finite(record), indent=2) + "\n"


def qrels_lines(qrels: Qrels, source: str = "0") -> Iterator[str]:
    r"""Judgments as TREC lines, with their source in the second field, which evaluation ignores."""
    for query in qrels.queries:
        for document, grade in qrels[query].items():
            for kind, name in (("query", query), ("document", document)):
                if not name.isprintable() or " " in name:
                    hint = "write CSV, which takes every id: --format csv"
                    raise InputError(
                        f"{kind} {shown(repr(name))}: found a blank or a control character, "
                        f"expected an id without; {hint}"
                    )
            yield f"{query} {source} {document} {grade:g}\n"


def qrels_rows(qrels: Qrels, source: str = "0") -> Iterator[Row]:
    """Titles, and a row a judgment."""
    yield ["query", "document", "grade", "source"]
    for query in qrels.queries:
        yield from (
            [query, document, f"{grade:g}", source] for document, grade in qrels[query].items()
        )
