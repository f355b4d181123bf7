"""Matrices as judgments and runs: ids by user and rank, and sparse matrices of users and items."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import FileFormatError, InputError
from idealrank.io.complaints import Complain, Complaint, Notes, refuse
from idealrank.io.row_parts import Block, Blocks, IdColumn, Rows, Table, pack, to_qrels, to_run

_NO_ITEM = -1  # what recommenders write where a list has no further item


def is_sparse(value: object) -> bool:
    """Return whether an object is a sparse matrix of SciPy; imports nothing."""
    return type(value).__module__.startswith("scipy.sparse") and hasattr(value, "tocoo")


def is_id_matrix(value: object) -> bool:
    """Return whether an object is an array of ids with a row for each query."""
    return isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "iuUO"


def run_of_ids(ids: AnyArray, name: str) -> Run:
    """Make a run of a matrix of ids; queries are the numbers of its rows."""
    return to_run([part_of_ids(ids, "run", "run", Notes(), refuse)], (), name)


def run_of_sparse(matrix: Any, name: str) -> Run:
    """Make a run of a sparse matrix of scores; ids are the numbers of rows and columns."""
    return to_run([part_of_sparse(_entries(matrix), "run", "run", refuse)], (), name)


def qrels_of_sparse(matrix: Any, duplicates: QrelsDuplicates) -> Qrels:
    """Make judgments of a sparse matrix of grades; see `run_of_sparse`."""
    qrels = to_qrels(
        [part_of_sparse(_entries(matrix), "qrels", "qrels", refuse)], ["qrels"], duplicates
    )
    return Qrels.from_table(qrels.table, name="qrels")


class Entries:
    """Entries of a sparse matrix."""

    def __init__(self, rows: IntArray, columns: IntArray, values: FloatArray, n_rows: int) -> None:
        self.rows = rows
        self.columns = columns
        self.values = values
        self.n_rows = n_rows


def _entries(matrix: Any) -> Entries:
    # a copy in coordinates: entries that are 0 stay, and so do those that are there twice
    coordinates = matrix.tocoo()
    if len(matrix.shape) != 2:
        raise InputError(f"found a sparse array of shape {matrix.shape}, expected rows and columns")
    return Entries(
        coordinates.row.astype(np.int64),
        coordinates.col.astype(np.int64),
        np.asarray(coordinates.data, np.float64),
        int(matrix.shape[0]),
    )


def part_of_sparse(entries: Entries, table: Table, where: str, complain: Complain) -> Rows | Blocks:
    """Return the entries as rows. In a run, a row without entries is an empty answer; in judgments
    it is a query that was not judged.
    """
    faults = np.isnan(entries.values)
    if table == "qrels":
        faults |= np.isinf(entries.values)
    for place in np.flatnonzero(faults)[:1].tolist():
        noun = "grade" if table == "qrels" else "score"
        row = f"row {entries.rows[place]}, column {entries.columns[place]} (counted from 0)"
        problem = f"{noun} {entries.values[place]} in {row}"
        complain(Complaint("nan", where, 0, problem, "a finite number"))
    usable = ~faults
    return _part(
        rows=entries.rows[usable],
        documents=_numbers(entries.columns[usable]),
        values=entries.values[usable],
        queries=None,
        n_rows=entries.n_rows if table == "run" else 0,
        where=where,
    )


def part_of_ids(
    ids: AnyArray,
    table: Table,
    where: str,
    notes: Notes,
    complain: Complain,
    *,
    scores: AnyArray | None = None,
    queries: Sequence[str] | None = None,
    by_rank: bool = False,
) -> Rows | Blocks:
    """Return a matrix of ids, best first in each row, as rows; -1 and empty text are no ids.

    `scores`, of the same shape, order each row instead of the places.
    """
    if ids.ndim != 2 or ids.dtype.kind not in "iuUO":
        expected = "a matrix of ids (whole numbers or text), a row for each query, best first"
        hint = (
            "scores without ids belong to labels in an array, too" if ids.dtype.kind == "f" else ""
        )
        problem = f"an array of {ids.dtype} with shape {ids.shape}"
        raise FileFormatError(where, 0, problem, expected, hint)
    if scores is not None and scores.shape != ids.shape:
        problem = f"ids of shape {ids.shape} and scores of shape {scores.shape}"
        raise FileFormatError(where, 0, problem, "the same shape")
    n_rows, width = ids.shape
    if queries is not None and len(queries) != n_rows:
        problem = f"{len(queries)} queries and {n_rows} rows of ids"
        raise FileFormatError(where, 0, problem, "as many of both")
    flat = ids.reshape(-1)
    is_id = _are_ids(flat, where)
    if not is_id.all():
        count = int(np.count_nonzero(~is_id))
        notes.inform(f"{where}: {count:,} of {flat.size:,} places hold no id (-1 or empty text)")
    rows = np.repeat(np.arange(n_rows), width)[is_id]
    if scores is None and table == "run":
        values = 0.0 - np.tile(np.arange(width, dtype=np.float64), n_rows)[is_id]
    elif scores is None:
        values = np.ones(rows.size)
    else:
        values = np.asarray(scores, np.float64).reshape(-1)[is_id]
        values = 0.0 - values if by_rank else values
    for place in np.flatnonzero(np.isnan(values))[:1].tolist():
        noun = "grade" if table == "qrels" else "score"
        problem = f"{noun} NaN in row {rows[place]} (counted from 0)"
        complain(Complaint("nan", where, 0, problem, "a number, since NaN has no order"))
    kept = flat[is_id]
    documents = _numbers(kept) if ids.dtype.kind in "iu" else _texts(kept)
    return _part(
        rows=rows,
        documents=documents,
        values=values,
        queries=queries,
        n_rows=n_rows if table == "run" else 0,
        where=where,
    )


def _are_ids(flat: AnyArray, where: str) -> Any:
    """Mark the places that hold an id."""
    if flat.dtype.kind == "u":
        return np.ones(flat.size, bool)
    if flat.dtype.kind == "i":
        if flat.size and flat.min() < _NO_ITEM:
            problem = f"the id {flat.min()} in a matrix of ids"
            raise FileFormatError(where, 0, problem, "ids of 0 or more, or -1 for no item")
        return flat != _NO_ITEM
    if flat.dtype.kind == "U":
        return flat != ""
    values = flat.tolist()
    for value in values:
        if isinstance(value, bool) or not (value is None or isinstance(value, (str, int))):
            problem = f"{value!r} in a matrix of ids"
            raise FileFormatError(where, 0, problem, "text or whole numbers, or None for no item")
    return np.array([value not in (None, "", _NO_ITEM) for value in values], bool)


def _numbers(values: AnyArray) -> IdColumn:
    """Whole numbers as ids; each distinct one is text once."""
    names, codes = np.unique(values, return_inverse=True)
    ids = pack(list(map(str, names.tolist())))
    return IdColumn(ids.offsets, ids.data, codes.reshape(-1).astype(np.int32))


def _texts(values: AnyArray) -> IdColumn:
    names, codes = np.unique(values.astype(str), return_inverse=True)
    ids = pack(names.tolist())
    return IdColumn(ids.offsets, ids.data, codes.reshape(-1).astype(np.int32))


def _part(
    *,
    rows: IntArray,
    documents: IdColumn,
    values: FloatArray,
    queries: Sequence[str] | None,
    n_rows: int,
    where: str,
) -> Rows | Blocks:
    """Rows in their order; blocks if one of `n_rows` is empty, since a column cannot say so."""
    counts = np.bincount(rows, minlength=n_rows)
    names = list(map(str, range(counts.size))) if queries is None else list(queries)
    if n_rows and not counts.all():
        order = np.argsort(rows, kind="stable")
        ends = np.cumsum(counts)
        blocks = []
        for row, (end, count) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True)):
            places = order[end - count : end].tolist()
            blocks.append(
                Block(
                    query=names[row],
                    documents=[documents[place] for place in places],
                    values=values[places].tolist(),
                    place=(f"{where}: row {row} (counted from 0)", 0),
                )
            )
        return Blocks(blocks)
    ids = pack(names)
    return Rows(
        queries=IdColumn(ids.offsets, ids.data, rows.astype(np.int32)),
        documents=documents,
        values=values,
        place=lambda place: (f"{where}: row {rows[place]} (counted from 0)", 0),
    )
