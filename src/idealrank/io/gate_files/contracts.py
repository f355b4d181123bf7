"""Files of contracts: what single queries must reach."""

import csv
import math
from collections.abc import Iterator
from io import StringIO

from idealrank.analysis.gate.outcome import Contract
from idealrank.errors import FileFormatError, OptionError
from idealrank.io.notes import Notes
from idealrank.io.numerals import parse_number
from idealrank.io.sources import AnyPath, Source, open_sources
from idealrank.measures.parse import parse_measure

_COLUMNS = ("query", "measure", "at_least")


def read_contracts(path: AnyPath, notes: Notes) -> tuple[Contract, ...]:
    r"""Contracts from CSV with the header ``query``, ``query,measure``, ``query,at_least`` or
    ``query,measure,at_least``.
    """
    (source,) = open_sources(path, notes)
    rows = _rows(source)
    number, head = next(rows, (0, []))
    names = [name.strip().lower() for name in head]
    if "query" not in names or len(set(names)) < len(names) or not set(names) <= set(_COLUMNS):
        raise FileFormatError(
            source.path,
            number,
            f"the header {','.join(head) or 'of an empty file'}",
            "query[,measure][,at_least]",
        )
    found: dict[tuple[str, str | None, float | None], Contract] = {}
    for number, row in rows:
        contract = _contract(source.path, number, names, row)
        key = (contract.query, contract.measure, contract.at_least)
        if key in found:
            raise FileFormatError(
                source.path,
                number,
                f"the contract of {found[key].place} a second time",
                "each once",
            )
        found[key] = contract
    if not found:
        raise FileFormatError(
            source.path,
            0,
            "no contract",
            "one line per contract below the header",
            "omit --contracts if there are none",
        )
    return tuple(found.values())


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    # ids may hold what Unicode calls line ends
    lines = StringIO(source.read().decode("utf-8-sig", "surrogateescape"), newline="")
    reader = csv.reader(("\n" if line.startswith("#") else line for line in lines), strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise FileFormatError(
            source.path,
            reader.line_num,
            f"a line that is not CSV ({error})",
            "query[,measure][,at_least]",
        ) from None


def _contract(path: str, number: int, names: list[str], row: list[str]) -> Contract:
    if len(row) != len(names):
        raise FileFormatError(
            path,
            number,
            f"{len(row)} fields",
            f"{len(names)}: {','.join(names)}",
            "quote a measure that contains commas",
        )
    cells = dict(zip(names, (cell.strip() for cell in row), strict=True))
    if not cells["query"]:
        raise FileFormatError(path, number, "no query", "the id of one")
    return Contract(
        query=cells["query"],
        measure=_measure(path, number, cells.get("measure", "")),
        at_least=_number(path, number, cells.get("at_least", "")),
        place=f"{path}:{number}",
    )


def _measure(path: str, number: int, text: str) -> str | None:
    if not text:
        return None
    try:
        measure = parse_measure(text)
    except OptionError as error:
        raise FileFormatError(
            path, number, f"no valid measure ({error})", "one such as nDCG@10, or an empty field"
        ) from None
    if not measure.direction or measure.aggregate == "text":
        raise FileFormatError(
            path,
            number,
            f"{measure}, for which neither more nor less is better",
            "a measure of quality such as nDCG@10",
        )
    return str(measure)


def _number(path: str, number: int, text: str) -> float | None:
    value = parse_number(text) if text else None
    if text and (value is None or not math.isfinite(value)):
        raise FileFormatError(
            path,
            number,
            f"at_least {text}",
            "a finite number, or an empty field for the value in each baseline",
        )
    return value
