"""A store as Arrow tables, made a batch at a time, for SQL and for Parquet files."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from idealrank._files import appearing
from idealrank._lazy import load_extra
from idealrank.data.types import AnyArray
from idealrank.errors import InputError
from idealrank.store.database import column_text
from idealrank.store.encoding import read_array, read_hits
from idealrank.store.history import KEPT_PARTS, KeptEvaluation, judgments_hash
from idealrank.store.intact_records import from_record, read_parts
from idealrank.store.results import in_words_of_today
from idealrank.store.value_files import Readable, ValueFiles

if TYPE_CHECKING:
    import pyarrow as pa


# Columns of each table with their types, which `_schema` makes Arrow's: "words" are texts of
# which many are equal.
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "evaluations": {
        "id": "text",
        "time": "time",
        "run": "text",
        "queries": "integer",
        "convention": "text",
        "fingerprint": "text",
        "version": "text",
        "commit": "text",
        "changed": "boolean",
        "command": "text",
        "judgments": "text",
        "judgments_content": "text",
        "notes": "text",
    },
    "means": {
        "id": "text",
        "measure": "text",
        "resolved": "text",
        "value": "number",
        "queries": "integer",
    },
    "values": {"id": "words", "query": "words", "measure": "words", "value": "number"},
    "hits": {
        "id": "words",
        "query": "words",
        "document": "text",
        "rank": "integer",
        "tie_first": "integer",
        "tie_last": "integer",
        "grade": "number",
    },
    "comparisons": {
        "id": "text",
        "time": "time",
        "a": "text",
        "b": "text",
        "measure": "text",
        "mean_a": "number",
        "mean_b": "number",
        "difference": "number",
        "low": "number",
        "high": "number",
        "p": "number",
        "p_corrected": "number",
        "verdict": "text",
        "queries": "integer",
    },
    "gates": {
        "id": "text",
        "time": "time",
        "run": "text",
        "baseline": "text",
        "measure": "text",
        "mean_run": "number",
        "mean_baseline": "number",
        "difference": "number",
        "bound": "number",
        "p": "number",
        "passed": "boolean",
        "p_corrected": "number",
        "p_two_sided": "number",
        "decides": "boolean",
        "outcome": "text",
    },
    "tags": {"id": "text", "tag": "text"},
}

_Row: TypeAlias = Mapping[str, Any]  # cells by the name of the column


def _kept(store: Readable) -> list[KeptEvaluation]:
    rows = store.rows(
        f"SELECT e.id, {KEPT_PARTS} FROM entry e "  # noqa: S608
        f"WHERE kind = 'evaluation' ORDER BY e.time, e.id"
    )
    return [KeptEvaluation.of(store, key, listed) for key, listed in rows]


@dataclass(frozen=True)
class Relation:
    """One table, whose batches are made on reading, and made again for the next reader."""

    schema: "pa.Schema"  # Names and types
    batches: "Callable[[], Iterator[pa.RecordBatch]]"  # Makes the batches

    def reader(self) -> "pa.RecordBatchReader":
        """All batches, in order."""
        pa = load_extra("pyarrow", "reading a store as tables", "arrow")
        return pa.RecordBatchReader.from_batches(self.schema, self.batches())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The stream that other libraries read without a copy."""
        return self.reader().__arrow_c_stream__(requested_schema)


def relations(store: Readable) -> dict[str, Relation]:
    """Every table of a store by its name; `COLUMNS` has their columns."""
    pa = load_extra("pyarrow", "reading a store as tables", "arrow")
    kept = _kept(store)
    tags = store.rows("SELECT id, tag FROM tag ORDER BY id, tag")
    tables = {
        "evaluations": _small(pa, "evaluations", _evaluations(store, kept)),
        "means": _small(pa, "means", _means(kept)),
        "values": _values(pa, store.files, kept),
        "hits": _hits(pa, store.files, kept),
        "comparisons": _small(pa, "comparisons", _comparisons(store)),
        "gates": _small(pa, "gates", _gates(store)),
        "tags": _small(pa, "tags", [{"id": key, "tag": tag} for key, tag in tags]),
    }
    return {name: tables[name] for name in COLUMNS}


def _schema(pa: Any, name: str) -> "pa.Schema":
    types = {
        "text": pa.string(),
        "words": pa.dictionary(pa.int32(), pa.string()),
        "number": pa.float64(),
        "integer": pa.int64(),
        "boolean": pa.bool_(),
        "time": pa.timestamp("us"),
    }
    return pa.schema([(column, types[kind]) for column, kind in COLUMNS[name].items()])


def _small(pa: Any, name: str, rows: Sequence[_Row]) -> Relation:
    """A table of one batch."""
    schema = _schema(pa, name)
    arrays = [_array(pa, [row[field.name] for row in rows], field.type) for field in schema]
    batch = pa.record_batch(arrays, schema=schema)
    return Relation(schema, lambda: iter([batch]))


def _array(pa: Any, cells: Sequence[Any], kind: Any) -> Any:
    return _texts(pa, cells) if kind == pa.string() else pa.array(cells, kind)


def _texts(pa: Any, words: Any) -> Any:
    """Texts as Arrow has them; bytes that are not UTF-8 become escapes, which Arrow can hold."""
    try:
        return pa.array(words, pa.string())
    except UnicodeEncodeError:
        return pa.array([column_text(word) for word in words], pa.string())


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=None)


def _evaluations(store: Readable, kept: Sequence[KeptEvaluation]) -> list[_Row]:
    notes: dict[str, list[str]] = {}
    for key, note in store.rows("SELECT id, text FROM note ORDER BY id, time, text"):
        notes.setdefault(key, []).append(note)
    rows: list[_Row] = []
    for evaluation in kept:
        files = [(input_file["name"], input_file["sha256"]) for input_file in evaluation.inputs]
        row = {
            "id": evaluation.id,
            "time": _time(evaluation.time),
            "run": column_text(evaluation.run),
            "queries": evaluation.n_queries,
            "convention": evaluation.convention,
            "fingerprint": evaluation.fingerprint,
            "version": column_text(evaluation.version),
            "commit": column_text(evaluation.commit),
            "changed": evaluation.dirty,
            "command": column_text(evaluation.command),
            "judgments": judgments_hash(files, evaluation.path or ""),
            "judgments_content": evaluation.judgments,
            "notes": "; ".join(notes.get(evaluation.id, [])),
        }
        rows.append(row)
    return rows


def _means(kept: Sequence[KeptEvaluation]) -> list[_Row]:
    rows: list[_Row] = []
    for evaluation in sorted(kept, key=lambda evaluation: evaluation.id):
        columns = (evaluation.texts, evaluation.measures, evaluation.means)
        for text, measure, (mean, n_scored) in zip(*columns, strict=True):
            row = {
                "id": evaluation.id,
                "measure": text,
                "resolved": column_text(measure["resolved"]),
                "value": mean,
                "queries": n_scored,
            }
            rows.append(row)
    return rows


def _verdicts(store: Readable, kind: str) -> Iterator[tuple[str, datetime, dict[str, Any]]]:
    parts = from_record("time", "result", entry="e")
    for key, listed in store.rows(
        f"SELECT e.id, {parts} FROM entry e WHERE kind = ? ORDER BY e.time, e.id",  # noqa: S608
        [kind],
    ):
        time, result = read_parts(store.folder, key, listed)
        yield key, _time(time), in_words_of_today(result)


def _comparisons(store: Readable) -> list[_Row]:
    # Columns that have the names of the result.
    same = ("mean_a", "mean_b", "difference", "p", "p_corrected", "verdict")
    rows: list[_Row] = []
    for key, time, result in _verdicts(store, "comparison"):
        for pair in result["pairs"]:
            for text, test in pair["measures"].items():
                low, high = test["interval"]
                row = {
                    "id": key,
                    "time": time,
                    "a": pair["a"],
                    "b": pair["b"],
                    "measure": text,
                    "low": low,
                    "high": high,
                    "queries": test["n"],
                }
                rows.append(row | {name: test[name] for name in same})
    return rows


def _gates(store: Readable) -> list[_Row]:
    """Read gates of versions before companions: unknown fields are null, except that each of their
    checks could fail them.
    """
    # Columns that every version names so in the result.
    same = (
        "baseline",
        "measure",
        "mean_run",
        "mean_baseline",
        "difference",
        "bound",
        "p",
        "passed",
        "p_corrected",
    )
    rows: list[_Row] = []
    for key, time, result in _verdicts(store, "gate"):
        for check in result["checks"]:
            row = {
                "id": key,
                "time": time,
                "run": result["run"],
                "p_two_sided": check.get("p_two_sided"),
                "decides": check.get("decides", True),
                "outcome": check.get("outcome", "passed" if check["passed"] else "failed"),
            }
            rows.append(row | {name: check[name] for name in same})
    return rows


def _values(pa: Any, files: ValueFiles, kept: Sequence[KeptEvaluation]) -> Relation:
    """Values, one batch per evaluation."""
    schema = _schema(pa, "values")

    def batches() -> "Iterator[pa.RecordBatch]":
        # Neighbours often share one file of ids; only the last list is in memory.
        queries_file = ""
        queries: Any = None
        for evaluation in kept:
            whose = f"evaluation {evaluation.id}"
            if evaluation.files["queries"] != queries_file:
                queries_file = evaluation.files["queries"]
                queries = _texts(pa, json.loads(files.read(queries_file, whose)))
            content = files.read(evaluation.files["values"], whose)
            yield _values_batch(pa, schema, evaluation, queries, content)

    return Relation(schema, batches)


def _values_batch(
    pa: Any, schema: "pa.Schema", evaluation: KeptEvaluation, queries: Any, content: bytes
) -> "pa.RecordBatch":
    measures = _texts(pa, evaluation.texts)
    shape = (len(queries), len(measures))
    values = read_array(content, "<f8", shape, f"evaluation {evaluation.id}").ravel()
    # Values go query by query, and measure by measure within a query.
    query = np.repeat(np.arange(len(queries), dtype=np.int32), len(measures))
    measure = np.tile(np.arange(len(measures), dtype=np.int32), len(queries))
    columns = [
        _words(pa, np.zeros(values.size, np.int32), _texts(pa, [evaluation.id])),
        _words(pa, query, queries),
        _words(pa, measure, measures),
        pa.array(values, mask=np.isnan(values)),
    ]
    return pa.record_batch(columns, schema=schema)


def _words(pa: Any, places: AnyArray, words: Any) -> Any:
    """The words at these places, as Arrow has repeated texts."""
    return pa.DictionaryArray.from_arrays(pa.array(places), words)


def _hits(pa: Any, files: ValueFiles, kept: Sequence[KeptEvaluation]) -> Relation:
    """Judged documents that were returned, one batch per evaluation that has them."""
    schema = _schema(pa, "hits")

    def batches() -> "Iterator[pa.RecordBatch]":
        for evaluation in kept:
            if "hits" not in evaluation.files:
                continue
            whose = f"evaluation {evaluation.id}"
            hits = read_hits(
                files.read(evaluation.files["hits"], whose),
                json.loads(files.read(evaluation.files["queries"], whose)),
            )
            first = np.zeros(hits.query.size, np.int32)
            columns = [
                _words(pa, first, _texts(pa, [evaluation.id])),
                _words(pa, hits.query.astype(np.int32), _texts(pa, list(hits.queries))),
                _texts(pa, list(hits.documents)),
                pa.array(hits.rank.astype(np.int64)),
                pa.array(hits.tie_first.astype(np.int64)),
                pa.array(hits.tie_last.astype(np.int64)),
                pa.array(hits.grade.astype(np.float64)),
            ]
            yield pa.record_batch(columns, schema=schema)

    return Relation(schema, batches)


_GROUP_ROWS = 1 << 20  # about, of a row group: so many are in memory at a time


def write_parquet(store: Readable, folder: "str | Path") -> dict[str, int]:
    """Write every table of a store as a Parquet file, compressed by zstd.

    Parameters
    ----------
    store : Store
        Store to write.
    folder : str or Path
        Created if missing; each earlier file is replaced when its successor is complete.

    Returns
    -------
    dict of str to int
        Number of rows by file name.

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
        return {
            f"{name}.parquet": _written(relation, target / f"{name}.parquet")
            for name, relation in relations(store).items()
        }
    except OSError as error:
        raise InputError(
            f"{error.filename or folder}: {error.strerror or error}; expected a folder that may be "
            "written, with room"
        ) from None


def _written(relation: Relation, path: Path) -> int:
    """Write a table under another name, then rename it."""
    import pyarrow.parquet as pq  # noqa: PLC0415  (an extra)

    rows = 0
    with (
        appearing(path) as unfinished,
        pq.ParquetWriter(unfinished, relation.schema, compression="zstd") as writer,
    ):
        for table in _gathered(relation):
            writer.write_table(table, row_group_size=_GROUP_ROWS)
            rows += table.num_rows
    return rows


def _gathered(relation: Relation) -> Iterator[Any]:
    """Tables of batches, each large enough for a row group, the last one excepted."""
    pa = load_extra("pyarrow", "writing Parquet", "arrow")
    batches: list[Any] = []
    for batch in relation.batches():
        batches.append(batch)
        if sum(batch.num_rows for batch in batches) >= _GROUP_ROWS:
            yield pa.Table.from_batches(batches, relation.schema).unify_dictionaries()
            batches = []
    if batches:
        yield pa.Table.from_batches(batches, relation.schema).unify_dictionaries()
