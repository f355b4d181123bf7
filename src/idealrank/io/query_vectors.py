"""Embeddings of queries, from NumPy files and Parquet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from idealrank._lazy import load_extra
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, shown


def read_vectors(path: str, queries: Sequence[str]) -> dict[str, FloatArray]:
    """Read an embedding for each query.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/queries.npy", np.array([[0.5, 1.0], [1.0, 0.0]]))
    ...     read_vectors(f"{folder}/queries.npy", ["q1", "q2"])["q2"]
    array([1., 0.])
    """
    ids, matrix = _read(path)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        raise InputError(
            f"{path}: found an array of {matrix.dtype} with shape {matrix.shape}, expected "
            f"numbers, a row for each query"
        )
    if ids is None:
        if len(matrix) != len(queries):
            raise InputError(
                f"{path}: found {len(matrix)} rows, expected {len(queries)}, one for each "
                f"query in the order of their file"
            )
        ids = list(queries)
    if len(ids) != len(matrix):
        raise InputError(
            f"{path}: found {len(ids)} ids for {len(matrix)} vectors, expected one for each"
        )
    found = dict(zip(ids, np.asarray(matrix, np.float64), strict=True))
    for query in queries:
        if query not in found:
            raise InputError(
                f"{path}: found no vector of query {shown(repr(query))}, expected one for "
                f"each query"
            )
        if not np.isfinite(found[query]).all():
            raise InputError(
                f"{path}: query {shown(repr(query))}: found a number that is not finite in "
                f"the vector"
            )
    return {query: found[query] for query in queries}


def _read(path: str) -> tuple[list[str] | None, Any]:
    try:
        if path.endswith(".npy"):
            return None, np.load(path, allow_pickle=False)
        if path.endswith(".npz"):
            with np.load(path, allow_pickle=False) as arrays:
                return [str(one) for one in arrays["ids"].tolist()], arrays["vectors"]
        if path.endswith((".parquet", ".pq")):
            return _of_parquet(path)
    except KeyError as error:
        raise InputError(f"{path}: found no {error.args[0]}, expected ids and vectors") from None
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    raise InputError(
        f"{path}: found the ending {Path(path).suffix!r}, expected .npy, .npz or .parquet"
    )


def _of_parquet(path: str) -> tuple[list[str], Any]:
    parquet = load_extra("pyarrow.parquet", "reading Parquet", "arrow", "pyarrow")
    if not Path(path).is_file():
        raise InputError(f"{path}: found no such file")
    table = parquet.read_table(path).to_pydict()
    ids = next(
        (table[name] for name in ("id", "_id", "query", "query_id", "qid") if name in table), None
    )
    vectors = next((table[name] for name in ("vector", "embedding") if name in table), None)
    if ids is None or vectors is None:
        raise InputError(f"{path}: found columns {', '.join(table)}, expected id and vector")
    return [str(one) for one in ids], np.array(vectors, np.float64)
