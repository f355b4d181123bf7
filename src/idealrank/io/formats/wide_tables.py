"""Tables with columns of lists: a row for each query, with its documents and their scores."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import Any, TypeAlias

from idealrank.errors import InputError
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.formats.answers import AnswerPaths, Answers, answer_paths, as_list
from idealrank.io.json_paths import EACH, ListPath
from idealrank.io.row_parts import Blocks, Table
from idealrank.io.table_columns import Columns, named_columns

_SAMPLE = 64  # rows in which lists are looked for
_BATCH = 1 << 12  # rows that are Python objects at one time
# Reads record batches of the named columns, so many rows at a time.
ReadBatches: TypeAlias = Callable[[Sequence[str], int], Iterator[Any]]


def answers_of_arrow(
    schema: Any,
    batches: ReadBatches,
    table: Table,
    columns: Columns,
    where: str,
    *,
    notes: Notes,
    complain: Complain,
) -> Blocks | None:
    """Read an Arrow table with a list of documents in each row; None for any other table."""
    if not any(_is_list(field.type) for field in schema):
        return None
    names = list(dict.fromkeys(schema.names))

    def rows(wanted: Sequence[str], size: int) -> Iterator[Any]:
        for batch in batches(wanted, size):
            yield from batch.to_pylist()

    paths = answer_paths(islice(rows(names, _SAMPLE), _SAMPLE), table, columns, where, notes)
    if paths is None:
        return None
    wanted = [name for name in names if _is_read(name, paths)]
    return _answers(rows(wanted, _BATCH), paths, table, where, notes=notes, complain=complain)


def _is_list(kind: Any) -> bool:
    return "list" in str(kind).partition("<")[0]  # list, large_list, fixed_size_list, list_view


def _is_read(name: str, paths: AnswerPaths) -> bool:
    return any(path == name or path.startswith(f"{name}.") for path in paths.fields)


def checked_batches(data: Any) -> ReadBatches:
    """Return a reader of an Arrow table, whose nested columns are checked before they are read."""

    def batches(names: Sequence[str], size: int) -> Iterator[Any]:
        part = data.select(names)
        part.validate(full=True)
        yield from part.to_batches(max_chunksize=size)

    return batches


def has_answers(batch: Any, table: Table, columns: Columns, where: str) -> bool:
    """Return whether a record batch has a list of documents in each row."""
    if not any(_is_list(field.type) for field in batch.schema):
        return False
    records = batch.slice(0, _SAMPLE).to_pylist()
    return answer_paths(records, table, columns, where, Notes(lambda _: None)) is not None


# A cell of the types that tell ids from numbers; any other type has neither.
_CELLS: Mapping[str, Any] = MappingProxyType(
    {"string": "", "large_string": "", "string_view": "", "int": 1, "uint": 1, "float": 0.5}
    | {"double": 0.5, "halffloat": 0.5, "decimal": 0.5}
)


def arrow_sample(schema: Any) -> dict[str, Any]:
    """Return a cell of each column by its type, for `choose_columns`."""
    sample = {}
    for field in schema:
        kind = str(getattr(field.type, "value_type", field.type))
        is_list = _is_list(field.type)
        sample[field.name] = [] if is_list else _CELLS.get(re.split(r"[\d(<]", kind)[0], False)
    return sample


def answers_of_frame(
    frame: Any,
    table: Table,
    columns: Columns,
    where: str,
    *,
    notes: Notes,
    complain: Complain,
) -> Blocks | None:
    """Read a dataframe of narwhals with a list of documents in each row; None for any other one."""

    def rows(part: Any) -> Iterator[dict[str, Any]]:
        for row in part.iter_rows(named=True):
            cells = {str(name): cell for name, cell in row.items()}
            yield {
                name: cell if isinstance(cell, Mapping) else _or_list(cell)
                for name, cell in cells.items()
            }

    head = frame.head(_SAMPLE)
    paths = answer_paths(rows(head), table, columns, where, notes)
    if paths is None:
        return None
    wanted = [name for name in frame.columns if _is_read(str(name), paths)]
    return _answers(
        rows(frame.select(*wanted)), paths, table, where, notes=notes, complain=complain
    )


def _or_list(cell: Any) -> Any:
    listed = as_list(cell)
    return cell if listed is None else listed


def _answers(
    records: Iterable[Mapping[str, Any]],
    paths: AnswerPaths,
    table: Table,
    where: str,
    *,
    notes: Notes,
    complain: Complain,
) -> Blocks:
    answers = Answers(paths, table, complain)
    for row, record in enumerate(records):
        answers.add(record, (f"{where}: row {row} (counted from 0)", 0))
    answers.tell(notes, where)
    return Blocks(answers.blocks)


def refuse_parts(where: str) -> InputError:
    """Return the error for lists in a table that is read within a budget of memory."""
    hint = "or write one document per row"
    return InputError(
        f"{where}: found a list of documents in each row, expected one document per row, which "
        "can be read in parts",
        hint=f"leave memory= out, {hint}",
        command_hint=f"leave --memory out, {hint}",
    )


# A list as Python writes it: texts in quotes, or words and numbers, with commas between them.
# Arrays of NumPy have no commas, without which Python joins neighbouring texts into one.
_ITEM = r"""\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[-+.\w]+)\s*"""
_PYTHON_LIST = re.compile(rf"\[(?:{_ITEM}(?:,{_ITEM})*(?:,\s*)?|\s*)\]")


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
    import ast  # noqa: PLC0415  (TREC files do not need it)
    import json  # noqa: PLC0415  (as above)

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
