"""FAISS: an index file, and a file with the id of each of its vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from idealrank._keys import file_to_read, flag, whole
from idealrank._lazy import load_extra
from idealrank._sections import Section
from idealrank.errors import BackendError, InputError
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import BackendKeys, keys_from, vector_numbers


class FaissIndex:
    """Nearest vectors of a FAISS index."""

    def __init__(
        self,
        index: Any,
        ids: Sequence[str],
        *,
        normalize: bool = False,
        ef_search: int | None = None,
        nprobe: int | None = None,
        name: str = "faiss",
    ) -> None:
        self.name = name
        if len(ids) != index.ntotal:
            raise InputError(
                f"{name}: found {len(ids)} ids for {index.ntotal} vectors, expected one for each"
            )
        faiss = load_extra("faiss", f"the backend {name}", "faiss", "faiss-cpu")
        self._index: Any = index
        self._ids, self._normalize = ids, normalize
        self._order = "score" if index.metric_type == faiss.METRIC_INNER_PRODUCT else "distance"
        for key, value in (("efSearch", ef_search), ("nprobe", nprobe)):
            if value is None:
                continue
            try:
                faiss.ParameterSpace().set_index_parameter(index, key, value)
            except RuntimeError:
                raise InputError(
                    f"{name}: an index of type {type(index).__name__} has no {key}"
                ) from None

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return the nearest vectors."""
        vector = np.array([vector_numbers(query, self.name)], dtype=np.float32)
        if vector.shape[1] != self._index.d:
            raise BackendError(
                f"{self.name}: found a vector of {vector.shape[1]} dimensions, expected "
                f"{self._index.d}"
            )
        if self._normalize:
            length = float(np.sqrt((vector.astype(np.float64) ** 2).sum()))
            vector = vector / np.float32(length or 1.0)
        # one row, as one vector is searched for
        ((distances,), (places,)) = self._index.search(
            np.ascontiguousarray(vector, dtype=np.float32), limit
        )
        # -1 fills the places of a list that the search could not fill.
        is_filled = places >= 0
        ids = [self._ids[place] for place in places[is_filled]]
        numbers = distances[is_filled].tolist()
        return ranked(self.name, ids, numbers, limit=limit, order=self._order)

    def close(self) -> None:
        """Release the index."""
        self._index = None
        self._ids = ()


@dataclass(frozen=True, kw_only=True)
class FaissKeys(BackendKeys):
    """Keys of the kind ``faiss``."""

    path: str = file_to_read("File of the index.", expected="an index file")
    ids: str = file_to_read(
        "File with an id in each line.", expected="a file with an id in each line"
    )
    normalize: bool = flag("Divide query vectors by their length.")
    ef_search: int | None = whole("Parameter efSearch of an HNSW index.")
    nprobe: int | None = whole("Parameter nprobe of an IVF index.")


SECTIONS = {"faiss": FaissKeys}


def from_section(section: Section) -> Backend:
    """Make the backend of a section."""
    keys = keys_from(FaissKeys, section)
    faiss = load_extra("faiss", "the backend faiss", "faiss", "faiss-cpu")
    try:
        index = faiss.read_index(keys.path)
    except RuntimeError:
        raise InputError(f"{keys.path}: found no index that FAISS can read") from None
    try:
        names = Path(keys.ids).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        unreadable = "found bytes that are no UTF-8, expected text"
        problem = getattr(error, "strerror", None) or unreadable
        raise InputError(f"{keys.ids}: {problem}") from None
    return FaissIndex(
        index,
        names,
        normalize=keys.normalize,
        ef_search=keys.ef_search,
        nprobe=keys.nprobe,
    )
