"""Runs in another format: TREC lines, JSON, tables and Parquet."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from idealrank.data.run import Run
from idealrank.data.types import decode_id
from idealrank.errors import InputError, shown
from idealrank.io.judgment_files import is_word, number

NAMES: tuple[str, ...] = ("query_id", "doc_id", "score")
"""Columns of a table."""


class RunRow(NamedTuple):
    """One result."""

    query: str
    document: str
    rank: int
    score: float


def rows_of_run(run: Run) -> Iterator[RunRow]:
    """Results of every query, best first, ties by document id descending as trec_eval has them; a
    document twice stays twice.
    """
    from idealrank.data.alignment import Alignment  # noqa: PLC0415  (judgments need none)

    held = run.in_memory()
    alignment = Alignment(duplicates="twice")
    for query_id in held.source.query_ids():  # type: ignore[union-attr]
        query = decode_id(query_id)
        ranking = held.ranking(query, alignment)
        for rank, (document, score) in enumerate(
            zip(ranking.documents, ranking.scores.tolist(), strict=True), 1
        ):
            yield RunRow(query, document, rank, score)


def _trec(rows: Iterable[RunRow], name: str) -> Iterator[str]:
    tag = "".join(letter if is_word(f"_{letter}") else "_" for letter in name)
    for row in rows:
        for what, text in (("query", row.query), ("document", row.document)):
            if not is_word(text):
                raise InputError(
                    f"found {what} {shown(repr(text))}, expected an id without blanks, "
                    f"control characters and a leading #, since TREC "
                    "separates fields by blanks",
                    hint="use a format such as csv or jsonl",
                )
        yield f"{row.query} Q0 {row.document} {row.rank} {number(row.score)} {tag}\n"


def _json_lines(rows: Iterable[RunRow], _name: str) -> Iterator[str]:
    for row in rows:
        yield (
            json.dumps(
                dict(zip(NAMES, (row.query, row.document, number(row.score)), strict=True)),
                ensure_ascii=False,
            )
            + "\n"
        )


def _nested(rows: Iterable[RunRow], _name: str) -> Iterator[str]:
    found: dict[str, dict[str, int | float]] = {}
    for row in rows:
        if row.document in found.setdefault(row.query, {}):
            raise InputError(
                f"query {shown(repr(row.query))}: found document {shown(repr(row.document))} "
                f"twice, expected it once in an object of JSON",
                hint="use a format such as jsonl",
            )
        found[row.query][row.document] = number(row.score)
    yield json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def _table(delimiter: str) -> Callable[[Iterable[RunRow], str], Iterator[str]]:
    def write(rows: Iterable[RunRow], _name: str) -> Iterator[str]:
        held = io.StringIO()
        writer = csv.writer(held, delimiter=delimiter, lineterminator="\n")
        writer.writerow(NAMES)
        for row in rows:
            writer.writerow((row.query, row.document, number(row.score)))
            yield held.getvalue()
            held.seek(0)
            held.truncate()
        yield held.getvalue()

    return write


RUN_TARGETS: Mapping[str, Callable[[Iterable[RunRow], str], Iterator[str]] | None] = {
    "trec": _trec,
    "csv": _table(","),
    "tsv": _table("\t"),
    "json": _nested,
    "jsonl": _json_lines,
    "parquet": None,
}
"""Writers of runs by format; None for Parquet, which is written in columns."""
