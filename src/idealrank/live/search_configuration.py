"""Configuration of searches, from a mapping, with the embeddings of queries that it names; checked
before an engine is asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from idealrank._keys import (
    Schema,
    document,
    file_to_read,
    has_value,
    key,
    level,
    part,
    part_or_text,
    read,
    text,
)
from idealrank._lazy import load_extra
from idealrank._sections import Section
from idealrank.conventions.configuration_keys import convention_key, measures_key
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, shown
from idealrank.io.configuration_files import labels_key
from idealrank.io.texts import read_documents
from idealrank.live.backends import backend_schema
from idealrank.live.backends.protocol import SearchQuery
from idealrank.live.request_jobs import SearchPolicy


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
            "numbers, a row for each query"
        )
    if ids is None:
        if len(matrix) != len(queries):
            raise InputError(
                f"{path}: found {len(matrix)} rows, expected {len(queries)}, one for each query in "
                "the order of their file"
            )
        ids = list(queries)
    if len(ids) != len(matrix):
        raise InputError(
            f"{path}: found {len(ids)} ids for {len(matrix)} vectors, expected one for each"
        )
    vector_of = dict(zip(ids, np.asarray(matrix, np.float64), strict=True))
    for query in queries:
        if query not in vector_of:
            raise InputError(
                f"{path}: found no vector of query {shown(repr(query))}, expected one for each "
                "query"
            )
        if not np.isfinite(vector_of[query]).all():
            raise InputError(
                f"{path}: query {shown(repr(query))}: found a number that is not finite in the "
                "vector"
            )
    return {query: vector_of[query] for query in queries}


def _read(path: str) -> tuple[list[str] | None, Any]:
    try:
        if path.endswith(".npy"):
            return None, np.load(path, allow_pickle=False)
        if path.endswith(".npz"):
            with np.load(path, allow_pickle=False) as arrays:
                return [str(query_id) for query_id in arrays["ids"].tolist()], arrays["vectors"]
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
    id_names = ("id", "_id", "query", "query_id", "qid")
    ids = next((table[name] for name in id_names if name in table), None)
    vectors = next((table[name] for name in ("vector", "embedding") if name in table), None)
    if ids is None or vectors is None:
        raise InputError(f"{path}: found columns {', '.join(table)}, expected id and vector")
    return [str(query_id) for query_id in ids], np.array(vectors, np.float64)


@dataclass(frozen=True)
class QueriesSection:
    """Section ``queries``: texts by id, and vectors."""

    path: str = file_to_read(
        "File of query texts by id.", expected="a file of queries, as in queries.tsv"
    )
    vectors: str | None = file_to_read("File of query embeddings: .npy, .npz or .parquet.")

    def read(self) -> list[SearchQuery]:
        """Read the queries in the order of their file; texts keep their blanks."""
        texts = {
            query: content.joined if content.title else content.text
            for query, content in read_documents(self.path).items()
        }
        for query in texts:
            if not query.isascii() and any("\ud800" <= letter <= "\udfff" for letter in query):
                raise InputError(
                    f"{self.path}: found the id {shown(repr(query))} of a query, expected valid "
                    "Unicode (UTF-8)"
                )
        if not texts:
            raise InputError(f"{self.path}: found no query, expected one or more")
        vectors: Mapping[str, Any] = {}
        if self.vectors is not None:
            vectors = read_vectors(self.vectors, list(texts))
        return [SearchQuery(query, text, vectors.get(query)) for query, text in texts.items()]


@dataclass(frozen=True)
class MeasuresSection:
    """Keys of the section ``evaluation`` that all configurations share: measures and convention."""

    measures: tuple[str, ...] = measures_key("Measures to compute.", ("nDCG@10",))
    convention: str = convention_key()


def queries_key() -> Any:
    """Declare the key ``queries`` of a configuration: a path, or a section."""
    return part_or_text(
        QueriesSection,
        "path",
        "File of queries, or a section with the file and its embeddings.",
        expected="a file of queries, as in queries.tsv",
    )


_BACKENDS = "a section `backend:`, or `backends:` with a section for each name"


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """Configuration of a search."""

    schema_rules: ClassVar[Schema] = {"oneOf": [has_value("backend"), has_value("backends")]}
    # Section of each backend, by its name; a ``sweep`` is expanded
    backends: Mapping[str, Section] = key(
        about="Several engines to search, each a section under a name of your choice.",
        read=lambda top, _: backends_of(top) or None,
        schema=lambda: {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"$ref": "#/$defs/backend"},
        },
        others={"backend": ("Engine to search.", {"$ref": "#/$defs/backend"})},
        expected=_BACKENDS,
    )
    queries: QueriesSection = queries_key()
    policy: SearchPolicy = level(SearchPolicy)
    qrels: str | None = file_to_read("File of judgments, to evaluate the run.")
    labels: str = labels_key()
    evaluation: MeasuresSection = part(
        MeasuresSection, "Measures of the run, and their convention."
    )
    output: str | None = text("Run to write; a folder for several backends.")

    @classmethod
    def of(cls, mapping: Any, path: str = "configuration") -> "SearchConfig":
        """Read a mapping, as YAML, TOML or JSON give it."""
        return read(cls, Section(mapping, path, ""))

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a configuration."""
        return document("idealrank search", cls, backend=backend_schema())


def backends_of(top: Section) -> dict[str, Section]:
    """Read the sections of all backends: ``backend``, or ``backends`` by name, each with its
    ``sweep`` expanded.
    """
    if top.has("backend") and top.has("backends"):
        raise top.error("backend", "both backend and backends", _BACKENDS)
    if top.has("backend"):
        backend = top.section("backend")
        sections = {str(backend.given.get("kind") or "backend"): backend}
    else:
        many = top.section("backends")
        sections = {
            str(name): Section(content, top.path, f"backends.{name}")
            for name, content in many.given.items()
        }
        if top.has("backends") and not sections:
            raise top.error("backends", "no section", "a section for each name")
    timeout = {"timeout": top.given["timeout"]} if top.has("timeout") else {}
    expanded: dict[str, Section] = {}
    for name, section in sections.items():
        expanded |= _swept(name, section, timeout)
    return expanded


def _swept(name: str, section: Section, shared: Mapping[str, Any]) -> dict[str, Section]:
    """A section for each combination of the values of ``sweep``; the section itself without one."""
    fixed = {key: value for key, value in section.given.items() if key != "sweep"}
    lacking = {key: value for key, value in shared.items() if not section.has(key)}
    sweep = section.given.get("sweep")
    grid = Section({} if sweep is None else sweep, section.path, f"{section.name}.sweep").given
    for swept_key, values in grid.items():
        if not isinstance(values, Sequence) or isinstance(values, str) or not values:
            raise section.error(f"sweep.{swept_key}", repr(values), "a list of values")
    sections = {}
    for values in product(*grid.values()):
        chosen = dict(zip(grid, values, strict=True))
        label = " ".join([name, *(f"{key}={value}" for key, value in chosen.items())])
        # keys in the order of the section, then the shared keys that it lacks
        keys = {**fixed, **chosen} | lacking | chosen
        sections[label] = Section(MappingProxyType(keys), section.path, section.name)
    if len(sections) < len(list(product(*grid.values()))):
        raise section.error("sweep", repr(dict(grid)), "each combination of values once")
    return {
        label: Section(dict(swept.given), swept.path, swept.name)
        for label, swept in sections.items()
    }
