"""A store as Arrow tables, made a batch at a time, for SQL and for Parquet files."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from idealrank._files import appearing
from idealrank._lazy import load_extra
from idealrank.errors import InputError
from idealrank.store.database import column_text, from_record, read_parts
from idealrank.store.encoding import read_array, read_hits
from idealrank.store.history import OF_EVALUATION, KeptEvaluation, judgments_hash
from idealrank.store.results import in_words_of_today
from idealrank.store.value_files import Readable, ValueFiles

if TYPE_CHECKING:
    import pyarrow as pa


# Names of the columns, for help and messages.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "evaluations": (
        "id",
        "time",
        "run",
        "queries",
        "convention",
        "fingerprint",
        "version",
        "commit",
        "changed",
        "command",
        "judgments",
        "judgments_content",
        "notes",
    ),
    "means": ("id", "measure", "resolved", "value", "queries"),
    "values": ("id", "query", "measure", "value"),
    "hits": ("id", "query", "document", "rank", "tie_first", "tie_last", "grade"),
    "comparisons": (
        "id",
        "time",
        "a",
        "b",
        "measure",
        "mean_a",
        "mean_b",
        "difference",
        "low",
        "high",
        "p",
        "p_corrected",
        "verdict",
        "queries",
    ),
    "gates": (
        "id",
        "time",
        "run",
        "baseline",
        "measure",
        "mean_run",
        "mean_baseline",
        "difference",
        "bound",
        "p",
        "passed",
        "p_corrected",
        "p_two_sided",
        "decides",
        "outcome",
    ),
    "tags": ("id", "tag"),
}


def _kept(store: Readable) -> list[KeptEvaluation]:
    rows = store.rows(
        f"SELECT e.id, {from_record(*OF_EVALUATION, entry='e')} FROM entry e "  # noqa: S608
        f"WHERE kind = 'evaluation' ORDER BY e.time, e.id"
    )
    return [KeptEvaluation(key, *read_parts(store.folder, key, parts)) for key, parts in rows]


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
    text = pa.string()
    number = pa.float64()
    whole = pa.int64()
    when = pa.timestamp("us")
    kept = _kept(store)
    small = [
        (
            "evaluations",
            [text, when, text, whole, *[text] * 4, pa.bool_(), *[text] * 4],
            _evaluations(store, kept),
        ),
        ("means", [text, text, text, number, whole], _means(kept)),
        ("comparisons", [text, when, *[text] * 3, *[number] * 7, text, whole], _comparisons(store)),
        (
            "gates",
            [text, when, *[text] * 3, *[number] * 5, pa.bool_(), number, number, pa.bool_(), text],
            _gates(store),
        ),
        ("tags", [text, text], store.rows("SELECT id, tag FROM tag ORDER BY id, tag")),
    ]
    tables = {name: _small(pa, name, types, rows) for name, types, rows in small}
    tables["values"] = _values(pa, store.files, kept)
    tables["hits"] = _hits(pa, store.files, kept)
    return {name: tables[name] for name in COLUMNS}


def _small(pa: Any, name: str, types: list[Any], rows: list[Any]) -> Relation:
    """A table of one batch."""
    schema = pa.schema(list(zip(COLUMNS[name], types, strict=True)))
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    arrays = [_array(pa, column, kind) for column, kind in zip(columns, types, strict=True)]
    batch = pa.record_batch(arrays, schema=schema)
    return Relation(schema, lambda: iter([batch]))


def _array(pa: Any, cells: Any, kind: Any) -> Any:
    return _texts(pa, cells) if kind == pa.string() else pa.array(cells, kind)


def _texts(pa: Any, words: Any) -> Any:
    """Texts as Arrow has them; what is not UTF-8 is shown by its number, for Arrow has no way to
    hold it.
    """
    try:
        return pa.array(words, pa.string())
    except UnicodeEncodeError:
        return pa.array([column_text(word) for word in words], pa.string())


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=None)


def _evaluations(store: Readable, kept: Sequence[KeptEvaluation]) -> list[tuple[Any, ...]]:
    notes: dict[str, list[str]] = {}
    for key, note in store.rows("SELECT id, text FROM note ORDER BY id, time, text"):
        notes.setdefault(key, []).append(note)
    rows: list[tuple[Any, ...]] = []
    for evaluation in kept:
        files = [(input_file["name"], input_file["sha256"]) for input_file in evaluation.inputs]
        row = (
            evaluation.id,
            _time(evaluation.time),
            column_text(evaluation.run),
            evaluation.n_queries,
            evaluation.convention,
            evaluation.fingerprint,
            column_text(evaluation.version),
            column_text(evaluation.commit),
            evaluation.dirty,
            column_text(evaluation.command),
            judgments_hash(files, evaluation.path or ""),
            evaluation.judgments,
            "; ".join(notes.get(evaluation.id, [])),
        )
        rows.append(row)
    return rows


def _means(kept: Sequence[KeptEvaluation]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for evaluation in sorted(kept, key=lambda evaluation: evaluation.id):
        columns = (evaluation.texts, evaluation.measures, evaluation.means)
        for text, measure, mean in zip(*columns, strict=True):
            rows.append((evaluation.id, text, column_text(measure["resolved"]), *mean))
    return rows


def _verdicts(store: Readable, kind: str) -> Iterator[tuple[str, datetime, dict[str, Any]]]:
    parts = from_record("time", "result", entry="e")
    for key, listed in store.rows(
        f"SELECT e.id, {parts} FROM entry e WHERE kind = ? ORDER BY e.time, e.id",  # noqa: S608
        [kind],
    ):
        time, result = read_parts(store.folder, key, listed)
        yield key, _time(time), in_words_of_today(result)


def _comparisons(store: Readable) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for key, time, result in _verdicts(store, "comparison"):
        for pair in result["pairs"]:
            head = (key, time, pair["a"], pair["b"])
            rows += ((*head, *_tested(text, row)) for text, row in pair["measures"].items())
    return rows


def _tested(measure: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The columns of a test, after the two runs."""
    low, high = row["interval"]
    return (
        measure,
        row["mean_a"],
        row["mean_b"],
        row["difference"],
        low,
        high,
        row["p"],
        row["p_corrected"],
        row["verdict"],
        row["n"],
    )


def _gates(store: Readable) -> list[tuple[Any, ...]]:
    """Read gates of versions before companions: unknown fields are null, except that each of their
    checks could fail them.
    """
    names = (
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
    rows: list[tuple[Any, ...]] = []
    for key, time, result in _verdicts(store, "gate"):
        for check in result["checks"]:
            outcome = check.get("outcome", "passed" if check["passed"] else "failed")
            row = (
                key,
                time,
                result["run"],
                *(check[name] for name in names),
                check.get("p_two_sided"),
                check.get("decides", True),
                outcome,
            )
            rows.append(row)
    return rows


def _coded(pa: Any) -> Any:
    return pa.dictionary(pa.int32(), pa.string())


def _values(pa: Any, files: ValueFiles, kept: Sequence[KeptEvaluation]) -> Relation:
    """Values, one batch per evaluation."""
    coded_columns = [(name, _coded(pa)) for name in ("id", "query", "measure")]
    schema = pa.schema([*coded_columns, ("value", pa.float64())])

    def batches() -> "Iterator[pa.RecordBatch]":
        lists: dict[str, Any] = {}
        for evaluation in kept:
            whose = f"evaluation {evaluation.id}"
            texts = evaluation.texts
            queries_file = evaluation.files["queries"]
            if queries_file not in lists:
                # one list at a time
                lists = {queries_file: _texts(pa, json.loads(files.read(queries_file, whose)))}
            queries = lists[queries_file]
            shape = (len(queries), len(texts))
            content = files.read(evaluation.files["values"], whose)
            values = read_array(content, "<f8", shape, whose).ravel()
            # Values go query by query, and measure by measure within a query.
            n_queries, n_measures = shape
            indices = [
                np.zeros(values.size, np.int32),
                np.repeat(np.arange(n_queries, dtype=np.int32), n_measures),
                np.tile(np.arange(n_measures, dtype=np.int32), n_queries),
            ]
            words = (_texts(pa, [evaluation.id]), queries, _texts(pa, texts))
            coded = [
                pa.DictionaryArray.from_arrays(pa.array(codes), word)
                for codes, word in zip(indices, words, strict=True)
            ]
            yield pa.record_batch([*coded, pa.array(values, mask=np.isnan(values))], schema=schema)

    return Relation(schema, batches)


def _hits(pa: Any, files: ValueFiles, kept: Sequence[KeptEvaluation]) -> Relation:
    """Judged documents that were returned, one batch per evaluation that has them."""
    coded = _coded(pa)
    whole = pa.int64()
    types = [coded, coded, pa.string(), whole, whole, whole, pa.float64()]
    schema = pa.schema(list(zip(COLUMNS["hits"], types, strict=True)))

    def batches() -> "Iterator[pa.RecordBatch]":
        for evaluation in kept:
            if "hits" not in evaluation.files:
                continue
            whose = f"evaluation {evaluation.id}"
            hits = read_hits(
                files.read(evaluation.files["hits"], whose),
                json.loads(files.read(evaluation.files["queries"], whose)),
            )
            ids = pa.DictionaryArray.from_arrays(
                pa.array(np.zeros(hits.query.size, np.int32)), _texts(pa, [evaluation.id])
            )
            queries = pa.DictionaryArray.from_arrays(
                pa.array(hits.query.astype(np.int32)), _texts(pa, list(hits.queries))
            )
            numbers = [
                pa.array(getattr(hits, name).astype(np.int64))
                for name in ("rank", "tie_first", "tie_last")
            ]
            columns = [
                ids,
                queries,
                _texts(pa, list(hits.documents)),
                *numbers,
                pa.array(hits.grade.astype(np.float64)),
            ]
            yield pa.record_batch(columns, schema=schema)

    return Relation(schema, batches)


_ROWS = 1 << 20  # of a row group, about: so many are in memory at a time


def write_parquet(store: Readable, folder: "str | Path") -> dict[str, int]:
    """Write every table of a store as a Parquet file, compressed by zstd.

    Parameters
    ----------
    store : Store
        What is written.
    folder : str or Path
        It is made where there is none; files of an earlier time are replaced, each when its
        successor is whole.

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
            writer.write_table(table, row_group_size=_ROWS)
            rows += table.num_rows
    return rows


def _gathered(relation: Relation) -> Iterator[Any]:
    """Batches put together until they are worth a row group."""
    pa = load_extra("pyarrow", "writing Parquet", "arrow")
    held: list[Any] = []
    for batch in relation.batches():
        held.append(batch)
        if sum(part.num_rows for part in held) >= _ROWS:
            yield pa.Table.from_batches(held, relation.schema).unify_dictionaries()
            held = []
    if held:
        yield pa.Table.from_batches(held, relation.schema).unify_dictionaries()
