"""A store as Parquet files, for every program that reads those."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from idealrank._files import appearing
from idealrank._lazy import load_extra
from idealrank.errors import InputError
from idealrank.store.relations import Relation, relations
from idealrank.store.value_files import Readable

_ROWS = 1 << 20  # of a row group, about: what is in memory at a time


def write_parquet(store: Readable, folder: "str | Path") -> dict[str, int]:
    """Write every table of a store as a Parquet file, compressed by zstd.

    Parameters
    ----------
    store : Store
        What is written.
    folder : str or Path
        It is made where there is none; files of an earlier time are replaced, each when its successor is whole.

    Returns
    -------
    dict of str to int
        By file: its rows.

    Raises
    ------
    InputError
        The folder cannot be written, or a value file is damaged.
    MissingExtraError
        pyarrow is not installed.

    Examples
    --------
    >>> import tempfile, idealrank as ir
    >>> with ir.Store.open(tempfile.mkdtemp()) as store:
    ...     key = store.add(ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["RR", "AP"]))
    ...     write_parquet(store, tempfile.mkdtemp())["values.parquet"]
    2
    """
    load_extra("pyarrow", "writing Parquet", "arrow")
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        return {f"{name}.parquet": _written(relation, target / f"{name}.parquet") for name, relation in relations(store).items()}
    except OSError as error:
        raise InputError(
            f"{error.filename or folder}: {error.strerror or error}; expected a folder that may be written, with room"
        ) from None


def _written(relation: Relation, path: Path) -> int:
    """Write a table under another name, then rename it."""
    import pyarrow.parquet as pq  # noqa: PLC0415  (an extra)

    rows = 0
    with appearing(path) as unfinished, pq.ParquetWriter(unfinished, relation.schema, compression="zstd") as writer:
        for table in _gathered(relation):
            writer.write_table(table, row_group_size=_ROWS)
            rows += table.num_rows
    return rows


def _gathered(relation: Relation) -> Iterator[Any]:
    """Batches put together until they are worth a row group."""
    pa = load_extra("pyarrow", "writing Parquet", "arrow")
    held: list[Any] = []
    for batch in relation.batches():
        held.append(batch)
        if sum(one.num_rows for one in held) >= _ROWS:
            yield pa.Table.from_batches(held, relation.schema).unify_dictionaries()
            held = []
    if held:
        yield pa.Table.from_batches(held, relation.schema).unify_dictionaries()
