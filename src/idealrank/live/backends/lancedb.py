"""LanceDB: rows of a table by vector, or by words if the table has an index for full text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from idealrank._keys import choice, text, whole
from idealrank._lazy import load_extra
from idealrank._sections import Section
from idealrank.errors import BackendError, InputError
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import BackendKeys, keys_from, reason, vector_numbers

METRICS = ("cosine", "l2", "dot")


class LanceRows:
    """Rows of a table of LanceDB."""

    def __init__(
        self,
        table: Any,
        *,
        id_column: str = "id",
        column: str = "",
        by: str = "vector",
        metric: str = "cosine",
        nprobes: int | None = None,
        ef: int | None = None,
        refine_factor: int | None = None,
        name: str = "lancedb",
    ) -> None:
        self.name = name
        self._table: Any = table
        self._id = id_column
        self._column = column
        self._by = by
        self._metric = metric
        self._effort = {"nprobes": nprobes, "ef": ef, "refine_factor": refine_factor}

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return the rows with the best scores."""
        try:
            rows = self._rows(query, limit)
        except (ValueError, RuntimeError, OSError) as error:
            raise BackendError(
                f"{self.name}: {reason(error)}", temporary=isinstance(error, OSError)
            ) from None
        if self._by == "text":
            column = "_score"
            order = "score"
        else:
            column = "_distance"
            order = "distance"
        return ranked(
            self.name,
            [row[self._id] for row in rows],
            [row[column] for row in rows],
            limit=limit,
            order=order,
        )

    def close(self) -> None:
        """Release the table."""
        self._table = None

    def _rows(self, query: SearchQuery, limit: int) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]]
        if self._by == "text":
            matches = self._table.search(
                query.text, query_type="fts", fts_columns=self._column or None
            )
            rows = matches.select([self._id, "_score"]).limit(limit).to_list()
        else:
            vector = vector_numbers(query, self.name)
            vector_query = self._table.search(
                vector, query_type="vector", vector_column_name=self._column or None
            ).distance_type(self._metric)
            for key, value in self._effort.items():
                if value is not None:
                    vector_query = getattr(vector_query, key)(value)
            rows = vector_query.select([self._id, "_distance"]).limit(limit).to_list()
        return rows


@dataclass(frozen=True, kw_only=True)
class LanceKeys(BackendKeys):
    """Keys of the kind ``lancedb``."""

    path: str = text(
        "Folder or address of the database.", expected="a folder or an address of LanceDB"
    )
    table: str = text("Table to search.", expected="the name of a table")
    id: str = text("Column of ids.", "id")
    column: str = text("Column of vectors or texts.", "")
    by: str = choice(("vector", "text"), "Search by vector, or by full text.")
    metric: str = choice(METRICS, "Distance of vectors.")
    nprobes: int | None = whole("Parameter nprobes of an IVF index.")
    ef: int | None = whole("Parameter ef of an HNSW index.")
    refine_factor: int | None = whole("Parameter refine_factor of an approximate index.")


SECTIONS = {"lancedb": LanceKeys}


def from_section(section: Section) -> Backend:
    """Make the backend of a section."""
    keys = keys_from(LanceKeys, section)
    lancedb = load_extra("lancedb", "the backend lancedb", "lancedb")
    try:
        opened = lancedb.connect(keys.path).open_table(keys.table)
    except (ValueError, RuntimeError, OSError) as error:
        raise InputError(f"{keys.path}: {reason(error)}") from None
    return LanceRows(
        opened,
        id_column=keys.id,
        column=keys.column,
        by=keys.by,
        metric=keys.metric,
        nprobes=keys.nprobes,
        ef=keys.ef,
        refine_factor=keys.refine_factor,
    )
