"""Cells of text that are lists: a row for each query, with its documents and their scores."""

import ast
import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.formats.answers import Answers, answer_paths
from idealrank.io.json_paths import EACH, ListPath
from idealrank.io.row_parts import Blocks, Table
from idealrank.io.table_columns import Columns, named_columns

# A list as Python writes it: texts in quotes, or words and numbers, with commas between them.
# Arrays of NumPy have no commas, without which Python joins neighbouring texts into one.
_ITEM = r"""\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[-+.\w]+)\s*"""
_PYTHON_LIST = re.compile(rf"\[(?:{_ITEM}(?:,{_ITEM})*,?)?\s*\]")


def list_of_cell(text: str) -> list[Any] | None:
    """Return the list that a cell has as JSON or as Python writes it; None for any other text.

    Examples
    --------
    >>> list_of_cell('["a", 7]'), list_of_cell("['a', 7]"), list_of_cell("['a' 'b']")
    (['a', 7], ['a', 7], None)
    """
    stripped = text.strip()
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        if not _PYTHON_LIST.fullmatch(stripped):
            return None
        try:
            value = ast.literal_eval(stripped)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    return value if isinstance(value, list) else None


def answers_of_cells(
    names: Sequence[str],
    batches: Iterable[tuple[list[list[str]], Any]],
    table: Table,
    columns: Columns,
    path: str,
    *,
    notes: Notes,
    complain: Complain,
) -> Blocks | None:
    """Read rows of text with a list of documents in each; None for any other rows, of which no
    batch but the first is taken.
    """
    later = iter(batches)
    first = next(later, None)
    if first is None:
        return None
    # A cell of words, such as "i7 i1", is a list where its name says so.
    spelled = named_columns(columns, table).values()
    of_words = {ListPath.of(name).to_list for name in spelled if EACH in name}
    rows, _ = first
    if not of_words and all(list_of_cell(cell) is None for cell in rows[0]):
        return None

    samples = (dict(zip(names, _cells(row, names, of_words), strict=False)) for row in rows)
    paths = answer_paths(samples, table, columns, path, notes)
    if paths is None:
        return None
    answers = Answers(paths, table, complain)
    for batch, lines in chain([first], later):
        for row, line in zip(batch, lines.tolist(), strict=True):
            if len(row) == len(names):
                record = dict(zip(names, _cells(row, names, of_words), strict=True))
                answers.add(record, (path, line))
            else:
                expected = f"{len(names)}, as in the header line"
                complain(Complaint("fields", path, line, f"{len(row)} cells", expected))
    answers.tell(notes, path)
    return Blocks(answers.blocks)


def _cells(row: Sequence[str], names: Sequence[str], of_words: Collection[str]) -> Iterator[Any]:
    """Yield the cells of a row, as lists where they are lists."""
    for name, cell in zip(names, row, strict=False):
        listed = list_of_cell(cell)
        if listed is None and name in of_words and not cell.lstrip().startswith("["):
            yield cell.split()
        else:
            yield cell if listed is None else listed
