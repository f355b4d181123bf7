"""Files of pools with strata and inclusion probabilities, as `idealrank judge pool` and TREC's
sampled judgments have them.
"""

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from idealrank.data.types import decode_id
from idealrank.errors import FileFormatError
from idealrank.io.checked_cells import parse_number
from idealrank.io.complaints import Notes, Tell
from idealrank.io.formats.detection import refuse_foreign
from idealrank.io.sources import BYTE_ORDER_MARK, open_sources

_NEEDED = ("query", "document", "stratum", "probability", "sampled")


class PoolRow(NamedTuple):
    """One pooled document."""

    # query, document, stratum: Ids, and the stratum as written
    query: str
    document: str
    stratum: str
    grade: float | None  # Grade of a sampled document, where the file has it
    probability: float | None  # Inclusion probability, where the file has it
    sampled: bool  # Whether the document was sampled


def read_pool_rows(path: str, *, tell: Tell | None = None) -> list[PoolRow]:
    r"""Read a pool."""
    rows: list[PoolRow] = []
    for source in open_sources(path, Notes(tell)):
        raw = source.read().removeprefix(BYTE_ORDER_MARK)
        refuse_foreign(source.path, raw[:4])
        text = decode_id(raw)
        header = next((line for line in text.splitlines() if line.strip()), "")
        if "query" in [name.strip() for name in header.split(",")]:
            rows += _of_csv(source.path, text)
        else:
            for number, line in enumerate(text.splitlines(), 1):
                if line.strip():
                    rows.append(_of_trec(source.path, number, line))
    if not rows:
        raise FileFormatError(
            path,
            0,
            "no document",
            "a pool of documents",
            "make one with: idealrank judge pool RUN... --format csv",
        )
    return rows


def _of_csv(path: str, text: str) -> Iterator[PoolRow]:
    """Yield the rows of a table with a header line."""
    rows = csv.reader(io.StringIO(text))
    try:
        header = next(row for row in rows if row)
        names = [name.strip() for name in header]
        for name in _NEEDED:
            if name not in names:
                raise FileFormatError(
                    path, rows.line_num, f"columns {', '.join(names)}", f"a column {name!r}"
                )
        for cells in rows:
            if not cells:
                continue
            if len(cells) != len(names):
                expected = f"{len(names)}, one for each column"
                raise FileFormatError(path, rows.line_num, f"{len(cells)} cells", expected)
            yield _row(path, rows.line_num, dict(zip(names, cells, strict=True)))
    except csv.Error as error:
        raise FileFormatError(path, rows.line_num, str(error), "CSV") from None


def _row(path: str, number: int, cells: dict[str, str]) -> PoolRow:
    probability = parse_number(cells["probability"])
    if probability is None or not 0 < probability <= 1:
        raise FileFormatError(
            path, number, repr(cells["probability"]), "an inclusion probability above 0 and up to 1"
        )
    if cells["sampled"] not in ("true", "false"):
        raise FileFormatError(path, number, repr(cells["sampled"]), "true or false")
    return PoolRow(
        query=cells["query"],
        document=cells["document"],
        stratum=cells["stratum"],
        grade=None,
        probability=probability,
        sampled=cells["sampled"] == "true",
    )


def _of_trec(path: str, number: int, line: str) -> PoolRow:
    """Return the row of a line QUERY 0 DOCUMENT STRATUM GRADE."""
    fields = line.split()
    if len(fields) != 5:
        raise FileFormatError(
            path,
            number,
            f"{len(fields)} fields",
            "5: QUERY 0 DOCUMENT STRATUM GRADE, or the CSV file of judge pool",
        )
    query, _iteration, document, stratum, grade_text = fields
    grade = parse_number(grade_text)
    if grade is None or not abs(grade) < float("inf"):
        expected = "a finite grade; below 0 for a document that was not sampled"
        raise FileFormatError(path, number, repr(grade_text), expected)
    return PoolRow(
        query=query,
        document=document,
        stratum=stratum,
        grade=grade if grade >= 0 else None,
        probability=None,
        sampled=grade >= 0,
    )
