"""A format of files: three cells in a line, with bars between them."""

from pathlib import Path

from tests.changes.checks import FIRST, QRELS, files, output
from tests.changes.copies import Change, Edit

_DETECTION = "src/idealrank/io/formats/detection.py"

_MODULE = '''\
"""Lines of three cells with bars between them: query, document, grade or score."""

import numpy as np

from idealrank.io.complaints import Complain, Notes
from idealrank.io.row_parts import Rows, Table, pack
from idealrank.io.sources import Source
from idealrank.io.table_columns import Columns


def read_bars(
    source: Source, _table: Table, _columns: Columns, _notes: Notes, _complain: Complain
) -> Rows:
    """Read the lines."""
    lines = bytes(source.data).decode().splitlines()
    queries, documents, numbers = zip(*(line.split("|") for line in lines), strict=True)
    values = np.array([float(number) for number in numbers])
    return Rows(pack(queries), pack(documents), values, lambda row: (source.path, row + 1))
'''

CHANGE = Change(
    row="a format of files",
    edits=(
        Edit.file("src/idealrank/io/formats/bars.py", _MODULE),
        Edit.after(
            "src/idealrank/io/read.py",
            '    "rre": ("rre", "read_rre"),\n',
            '    "bars": ("bars", "read_bars"),\n',
        ),
        Edit.after(_DETECTION, '    "ubi",\n    "label-studio",\n', '    "bars",\n'),
        Edit.after(_DETECTION, '    ".res": "trec",\n', '    ".bars": "bars",\n'),
        Edit.after(
            _DETECTION, '    "rre": "RRE\'s ratings",\n', '    "bars": "cells with bars",\n'
        ),
    ),
)


def check(folder: Path) -> None:
    """Evaluate a run in the format by its ending, and judgments and a run by its name."""
    qrels, run, _ = files(folder)
    lines = bars([(query, *row) for query in FIRST for row in FIRST[query]])
    judged = bars([(query, *row) for query in QRELS for row in QRELS[query].items()])
    for name, text in {"first.bars": lines, "first.txt": lines, "judged.txt": judged}.items():
        (folder / name).write_text(text, "utf-8")
    expected = output("evaluate", qrels, run, "--format", "csv")
    assert output("evaluate", qrels, str(folder / "first.bars"), "--format", "csv") == expected
    texts = [str(folder / name) for name in ("judged.txt", "first.txt")]
    assert output("evaluate", *texts, "--input-format", "bars", "--format", "csv") == expected


def bars(rows: list[tuple[str, str, float]]) -> str:
    """Rows in the format."""
    return "".join(f"{query}|{document}|{number:g}\n" for query, document, number in rows)
