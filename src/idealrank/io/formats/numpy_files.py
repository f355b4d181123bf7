"""Files of NumPy: a matrix of ids (``.npy``), and named arrays or a sparse matrix of SciPy
(``.npz``). Nothing in them is unpickled.
"""

import io
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from idealrank.data.types import AnyArray
from idealrank.errors import FileFormatError, InputError
from idealrank.io.complaints import Complain, Notes
from idealrank.io.formats.answers import AnswerPaths, answer_paths
from idealrank.io.matrices import Entries, part_of_ids, part_of_sparse
from idealrank.io.row_parts import Blocks, Rows, Table
from idealrank.io.sources import LIMIT, RATIO, Source
from idealrank.io.table_columns import Columns

_SPARSE = frozenset(("format", "shape", "data"))  # arrays of every sparse matrix that SciPy saves
_SAMPLE = 16  # rows in which names are looked for


def read_npy(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows | Blocks:
    """Read a matrix of ids, a row for each query: the queries are the numbers of the rows."""
    if columns is not None:
        notes.inform(f"{source.path}: a matrix has no names; its rows are the queries")
    if table == "qrels":
        problem = "a matrix of ids in the order of their ranks"
        hint = "judgments come first, then runs; a sparse matrix of grades is an .npz file"
        raise FileFormatError(source.path, 0, problem, "judgments", hint)
    ids = _array(source.path, source.read(), "")
    return part_of_ids(ids, table, source.path, notes, complain)


def read_npz(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows | Blocks:
    """Read a sparse matrix, or arrays named as the columns of a table."""
    arrays = _arrays(source)
    if arrays.keys() >= _SPARSE:
        entries = _sparse_entries(source.path, arrays)
        return part_of_sparse(entries, table, source.path, complain)
    return _part_of_arrays(arrays, table, columns, source.path, notes=notes, complain=complain)


def _arrays(source: Source) -> dict[str, AnyArray]:
    """Return the arrays of an archive, which may not unpack to much more than its size."""
    data = source.read()
    most = max(LIMIT, RATIO * len(data))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = archive.infolist()
            size = sum(file.file_size for file in files)
            if size > most:
                raise FileFormatError(
                    source.path,
                    0,
                    f"an archive that unpacks to {size:,} bytes from {len(data):,}",
                    "a file that unpacks to less",
                )
            return {
                file.filename.removesuffix(".npy"): _array(
                    source.path, archive.read(file), file.filename
                )
                for file in files
            }
    # zlib.error: the compressed bytes are damaged. RuntimeError: the archive is encrypted, or
    # packed by a method that zipfile lacks.
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, RuntimeError) as error:
        raise FileFormatError(
            source.path, 0, f"data that cannot be read ({error})", "arrays of NumPy (.npz)"
        ) from None


def _array(path: str, data: bytes, name: str) -> AnyArray:
    """Return the array of an ``.npy`` file; its header is not believed beyond the bytes there."""
    where = f"{path}: {name}" if name else path
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, is_by_column, dtype = read_header(stream)
    except (ValueError, KeyError, SyntaxError, EOFError) as error:
        raise FileFormatError(
            where, 0, f"data that cannot be read ({error})", "an array of NumPy (.npy)"
        ) from None
    if dtype.hasobject:
        hint = "save the ids as text: ids.astype(str)"
        raise FileFormatError(where, 0, "an array of Python objects", "numbers or text", hint)
    count = math.prod(shape)
    begin = stream.tell()
    if begin + count * dtype.itemsize > len(data) or min(shape, default=0) < 0:
        raise FileFormatError(
            where, 0, f"{len(data):,} bytes for an array of shape {shape}", "a whole file"
        )
    flat = np.frombuffer(data, dtype, count, begin)
    return flat.reshape(shape, order="F" if is_by_column else "C")


def _sparse_entries(path: str, arrays: Mapping[str, AnyArray]) -> Entries:
    """Return the entries of a matrix of ``scipy.sparse.save_npz``."""
    kind = arrays["format"].item()
    layout = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    shape = tuple(map(int, arrays["shape"].reshape(-1).tolist()))
    values = arrays["data"]
    if layout not in ("csr", "csc", "coo") or len(shape) != 2 or values.dtype.kind not in "biuf":
        problem = f"a sparse matrix in the layout {layout!r} of {values.dtype}, shape {shape}"
        hint = "save it with matrix.tocsr()"
        raise FileFormatError(path, 0, problem, "numbers in the layout csr, csc or coo", hint)
    try:
        if layout == "coo":
            rows = arrays["row"]
            columns = arrays["col"]
        else:
            inner = arrays["indices"]
            starts = arrays["indptr"].astype(np.int64)
            outer = np.repeat(np.arange(starts.size - 1), np.diff(starts))
            rows, columns = (outer, inner) if layout == "csr" else (inner, outer)
    except (KeyError, ValueError) as error:
        raise FileFormatError(
            path, 0, f"a damaged sparse matrix ({error})", "one that SciPy saved"
        ) from None
    rows = rows.astype(np.int64)
    columns = columns.astype(np.int64)
    sizes = {rows.size, columns.size, values.size}
    is_inside = all(
        not places.size or (places.min() >= 0 and places.max() < size)
        for places, size in zip((rows, columns), shape, strict=True)
    )
    if len(sizes) > 1 or not is_inside:
        raise FileFormatError(path, 0, "a damaged sparse matrix", "one that SciPy saved")
    return Entries(rows, columns, values.astype(np.float64), shape[0])


def _part_of_arrays(
    arrays: Mapping[str, AnyArray],
    table: Table,
    columns: Columns,
    path: str,
    *,
    notes: Notes,
    complain: Complain,
) -> Rows | Blocks:
    """Read named arrays: ids by query and rank, and perhaps the queries and the scores."""
    shapes = ", ".join(f"{name!r} {array.shape}" for name, array in arrays.items()) or "no array"
    expected = "a matrix of documents, with a row for each query"
    paths = None
    for is_keyed in (False, True):  # without an array of queries they are numbered
        paths = paths or answer_paths(
            _records(arrays), table, columns, path, notes, is_keyed=is_keyed
        )
    if paths is None:
        raise InputError(
            f"{path}: found arrays {shapes}, expected {expected}",
            hint="name them, for example with columns={'query': 'users', 'document': 'ids'}",
            command_hint="name them, for example with --columns query=users,document=ids",
        )
    needed = paths.fields
    if any(name not in arrays for name in needed):
        raise InputError(f"{path}: found arrays {shapes}, expected {', '.join(needed)}")
    ids, scores, queries = _named(arrays, paths)
    return part_of_ids(
        ids,
        table,
        path,
        notes,
        complain,
        scores=scores,
        queries=queries,
        by_rank=paths.by_rank,
    )


def _named(
    arrays: Mapping[str, AnyArray], paths: AnswerPaths
) -> tuple[AnyArray, AnyArray | None, list[str] | None]:
    """Return the ids, the scores and the queries."""
    scores = None if paths.value is None else arrays[paths.value.to_list]
    queries = None
    if paths.query:
        queries = list(map(str, arrays[paths.query].reshape(-1).tolist()))
    return arrays[paths.document.to_list], scores, queries


def _records(arrays: Mapping[str, AnyArray]) -> Iterator[dict[str, Any]]:
    """Yield the first rows of all arrays as records."""
    sizes = [array.shape[0] for array in arrays.values() if array.ndim]
    for row in range(min([_SAMPLE, *sizes])):
        yield {name: array[row].tolist() for name, array in arrays.items() if array.ndim}
