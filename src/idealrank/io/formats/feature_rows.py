"""Rows of features for training, from LETOR and SVMlight files and from Parquet: labels, queries
and a dense matrix.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from idealrank._lazy import load_extra
from idealrank.data.lists import group_by_id
from idealrank.data.problems import quoted
from idealrank.data.types import AnyArray, BoolArray, FloatArray, IntArray
from idealrank.errors import FileFormatError, InputError, near_ids
from idealrank.io.checked_cells import parse_number
from idealrank.io.complaints import Notes, Tell, refuse
from idealrank.io.formats.letor import read_labels
from idealrank.io.sources import LIMIT, RATIO, AnyPath, Source, open_sources

_PARQUET = b"PAR1"  # first bytes of a file

_MOST_FEATURES = 1 << 20  # numbers of features: a larger one is a mistake, such as an id
_EXPECTED = "FEATURE:VALUE with a whole number from 0 and a number"


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureRows:
    r"""Rows of a training file, the rows of a query together, in the order of the file."""

    path: str  # The file
    labels: FloatArray  # shape (n,): grades
    # shape (n, n_features): features; of LETOR files column i is feature i, and what a line leaves
    # out is 0
    features: FloatArray
    offsets: IntArray  # shape (n_queries + 1,): where each query begins
    queries: list[str]  # Query ids
    places: IntArray  # shape (n,): place of each row in the file, from 0
    names: tuple[str, ...] = ()  # Names of features; empty for numbers
    numbered: bool = False  # Queries have no ids but their number in a group file
    # shape (n,): other numbers of each row, by name, such as the rank at which users saw it
    beside: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def group(self) -> IntArray:
        """Number of rows of each query."""
        return np.diff(self.offsets)

    @property
    def codes(self) -> IntArray:
        """Number of the query of each row."""
        return np.repeat(np.arange(len(self.queries)), self.group)

    @cached_property
    def documents(self) -> list[str]:
        """Ids of the rows, ``QUERY:NUMBER`` counted from 1 in each query, as judgments from the
        same file have them.
        """
        return [
            f"{query}:{number}"
            for query, size in zip(self.queries, self.group.tolist(), strict=True)
            for number in range(1, size + 1)
        ]

    def select(self, keep: BoolArray) -> "FeatureRows":
        """Return the rows of some queries, by a mark of each."""
        rows = np.repeat(keep, self.group)
        offsets = np.concatenate(([0], np.cumsum(self.group[keep]))).astype(np.int64)
        queries = [query for query, keeps in zip(self.queries, keep.tolist(), strict=True) if keeps]
        beside = {name: numbers[rows] for name, numbers in self.beside.items()}
        return replace(
            self,
            labels=self.labels[rows],
            features=self.features[rows],
            offsets=offsets,
            queries=queries,
            places=self.places[rows],
            beside=beside,
        )

    def widened(self, width: int) -> "FeatureRows":
        """Return the rows with zeros for features that only other files have."""
        missing = width - self.features.shape[1]
        if missing <= 0:
            return self
        return replace(self, features=np.pad(self.features, ((0, 0), (0, missing))))

    def require(self, fits: BoolArray, expected: str) -> None:
        r"""Refuse the first feature that does not fit, with its place in the file."""
        places = np.argwhere(~fits)
        if places.size:
            row, column = map(int, places[0])
            feature = self.names[column] if self.names else column
            place = f"{self.path}: feature {feature} of row {int(self.places[row])}"
            raise InputError(f"{place}: found {self.features[row, column]}, {expected}")


def read_feature_rows(
    path: AnyPath,
    *,
    label: str = "label",
    qid: str = "qid",
    features: Sequence[str] = (),
    group: AnyPath | None = None,
    beside: Mapping[str, str] | None = None,
    no_features: Collection[str] = (),
    tell: Tell | None = None,
) -> FeatureRows:
    r"""Read labels, queries and features."""
    notes = Notes(tell)
    source = open_sources(path, notes)[0]
    if bytes(source.data[:4]) == _PARQUET:
        return _parquet_rows(
            source=source,
            label=label,
            qid=qid,
            features=features,
            beside=beside or {},
            no_features=no_features,
        )
    rows = letor_rows(source, group, notes)
    # the other files have the order of the lines; `places` brings them into that of the rows
    numbers = {
        name: _numbers_file(file, name, rows, notes)[rows.places]
        for name, file in (beside or {}).items()
    }
    return replace(rows, beside=numbers)


def is_parquet(path: str) -> bool:
    """Return True for a Parquet file; a pipe, which could be read only once, is none."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return file.read(len(_PARQUET)) == _PARQUET
    except (OSError, ValueError):
        return False


def _numbers_file(path: str, name: str, rows: FeatureRows, notes: Notes) -> FloatArray:
    source = open_sources(path, notes)[0]
    numbers = []
    for number, line in enumerate(source.open(), 1):
        text = line.strip().decode("utf-8", "replace")
        value = parse_number(text)
        if value is None:
            raise FileFormatError(
                source.path,
                number,
                quoted(line.rstrip(b"\r\n")),
                f"one number a line, the {name} of a row of {rows.path}",
            )
        numbers.append(value)
    if len(numbers) != rows.labels.size:
        raise InputError(
            f"{source.path}: found {len(numbers)} lines, expected one for each of "
            f"{rows.labels.size} rows of {rows.path}"
        )
    return np.array(numbers, np.float64)


def letor_rows(
    source: Source, group: AnyPath | None = None, notes: Notes | None = None
) -> FeatureRows:
    r"""Read the rows of a LETOR or SVMlight file."""
    items = read_labels(source, group, notes or Notes(), refuse)
    n_rows = items.labels.size
    if not n_rows:
        raise InputError(f"{source.path}: found no row, expected GRADE qid:QUERY FEATURE:VALUE ...")
    numbers = []
    values = []
    counts = np.zeros(n_rows, np.int64)
    item_lines = iter(items.lines.tolist())  # others are blank, or comments
    next_line = next(item_lines)
    row = 0
    has_qid = True
    for line_number, line in enumerate(source.open(), 1):
        if line_number != next_line:
            continue
        pairs = feature_pairs(line, source.path, line_number)
        has_qid = (
            b"qid:" in line.partition(b"#")[0]
        )  # in all lines or none, as `read_labels` checks
        numbers.append(pairs[:, 0])
        values.append(pairs[:, 1])
        counts[row] = len(pairs)
        next_line = next(item_lines, 0)
        row += 1

    columns = np.concatenate(numbers)
    row_of_value = np.repeat(np.arange(n_rows), counts)
    width = int(columns.max(initial=-1)) + 1
    _refuse_sparse(source, n_rows, width)
    matrix = np.zeros((n_rows, width))
    matrix[row_of_value, columns.astype(np.int64)] = np.concatenate(values)
    rows = _grouped(source.path, items.labels, matrix, items.codes, items.queries)
    return replace(rows, numbered=not has_qid)


def _refuse_sparse(source: Source, n_rows: int, width: int) -> None:
    """Refuse a matrix that is far larger than its file: one large number of a feature makes every
    row as wide.
    """
    size = 8 * n_rows * width
    limit = max(LIMIT, RATIO * len(source.data))
    if size > limit:
        largest = f"features up to number {width - 1:,}"
        problem = f"{n_rows:,} rows with {largest}, which take {size:,} bytes as a matrix"
        raise FileFormatError(
            source.path, 0, problem, f"at most {limit:,} bytes", "number the features without gaps"
        )


def feature_pairs(line: bytes, path: str, number: int) -> FloatArray:
    """Parse the features of a line, shape (n, 2): number and value."""
    text = line.partition(b"#")[0]
    features = text.split()[1:]
    if features and features[0].startswith(b"qid:"):
        del features[0]
    refused = FileFormatError(
        path,
        number,
        quoted(line.rstrip(b"\r\n")),
        f"{_EXPECTED}; the number below {_MOST_FEATURES:,}",
    )
    if any(feature.count(b":") != 1 for feature in features):
        raise refused
    numbers = b":".join(features).split(b":") if features else []
    try:
        pairs = np.array(numbers, np.float64).reshape(-1, 2)
    except ValueError:
        raise refused from None
    indices = pairs[:, 0]
    is_whole = (indices >= 0) & (indices == np.floor(indices))
    if not (is_whole & (indices < _MOST_FEATURES)).all():
        raise refused
    return pairs


def _grouped(
    path: str,
    labels: FloatArray,
    matrix: FloatArray,
    ids: AnyArray,
    queries: list[str] | None,
    names: tuple[str, ...] = (),
) -> FeatureRows:
    offsets, order, query_ids = group_by_id(ids, labels.size)
    listed = list(query_ids) if queries is None else [queries[int(code)] for code in query_ids]
    rows = FeatureRows(
        path=path,
        labels=labels,
        features=matrix,
        offsets=offsets,
        queries=listed,
        places=np.arange(labels.size),
        names=names,
    )
    # without an order the rows of each query are together; a copy would take as much memory again
    if order is None:
        return rows
    return replace(rows, labels=labels[order], features=matrix[order], places=order)


def _parquet_rows(
    source: Source,
    label: str,
    qid: str,
    features: Sequence[str],
    beside: Mapping[str, str],
    no_features: Collection[str],
) -> FeatureRows:
    pyarrow = load_extra("pyarrow", "reading Parquet", "arrow")
    parquet: Any = import_module("pyarrow.parquet")
    try:
        file = pyarrow.BufferReader(source.read())
        listed = parquet.read_schema(file).names
        if len(set(listed)) != len(listed):
            twice = next(name for name in listed if listed.count(name) > 1)
            raise InputError(
                f"{source.path}: found two columns {twice!r}, expected different names; "
                f"rename or drop one"
            )
        table = parquet.read_table(file)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{source.path}: damaged Parquet file: {error}") from None

    options = [(label, "data.label"), (qid, "data.qid")]
    options += [(feature, "data.features") for feature in features]
    options += [(column, f"data.{key}") for key, column in beside.items()]
    for name, option in options:
        if name not in table.column_names:
            near = near_ids(name, table.column_names, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise InputError(
                f"{source.path}: found no column {name!r}, expected it by "
                f"{option}{hint or _hint(option)}"
            )

    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    numeric = [
        name
        for name, kind in types.items()
        if kind.startswith(("int", "uint", "float", "double", "bool"))
    ]
    left_out = {label, qid, *beside.values(), *no_features}
    names = tuple(features) or tuple(name for name in numeric if name not in left_out)
    columns = [_numbers_of(table, name, source.path) for name in names]
    if not columns or not table.num_rows:
        raise InputError(
            f"{source.path}: found {table.num_rows} rows and {len(columns)} features, "
            f"expected at least one of each"
        )

    ids = np.asarray(table.column(qid).to_pylist())
    labels = _numbers_of(table, label, source.path)
    try:
        rows = _grouped(
            path=source.path,
            labels=labels,
            matrix=np.column_stack(columns),
            ids=ids,
            queries=None,
            names=names,
        )
    except InputError as error:
        raise InputError(f"{source.path}, column {qid!r}: {error}") from None
    numbers = {
        key: _numbers_of(table, column, source.path)[rows.places] for key, column in beside.items()
    }
    return replace(rows, beside=numbers)


def _hint(option: str) -> str:
    return "; name features that every file has" if option == "data.features" else ""


def _numbers_of(table: Any, name: str, path: str) -> FloatArray:
    try:
        return np.asarray(table.column(name).to_numpy(), np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{path}: column {name!r} holds no numbers, expected numbers") from None
