"""The file of grades and rankings that the figures are drawn from: an .npz whose bytes depend on
nothing but what is in it.

README.md in this folder describes the format. The arrays are stored, not compressed: compressed
bytes differ between versions of zlib, and Git and wheels compress by themselves.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# the earliest time a zip entry can have; the time of writing is nobody's business
EPOCH = (1980, 1, 1, 0, 0, 0)


def ranks_from_below(scores: ArrayLike) -> NDArray[np.uint16]:
    """Rank of each document of one query, 1 for the lowest score; of equal scores the document
    created first ranks higher.

    Order is all that NDCG sees of scores, and ranks are a third of their size.

    Examples
    --------
    >>> ranks_from_below([0.5, -1.0, 0.5, 2.0])
    array([3, 1, 2, 4], dtype=uint16)
    """
    values = np.asarray(scores)
    order = np.lexsort((-np.arange(values.size), values))
    ranks = np.empty(values.size, dtype=np.uint16)
    ranks[order] = np.arange(1, values.size + 1, dtype=np.uint16)
    return ranks


def as_bytes(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> bytes:
    """The file: the arrays by name, and `about` as JSON text in an array of no dimensions."""
    entries = {**arrays, "about": np.array(json.dumps(about, indent=1))}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name, array in entries.items():
            entry = io.BytesIO()
            np.lib.format.write_array(
                entry, np.ascontiguousarray(array) if array.ndim else array, allow_pickle=False
            )
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", EPOCH), entry.getvalue())
    return content.getvalue()


def write(path: Path, content: bytes) -> None:
    """All of the file or nothing: under another name first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(content)
    unfinished.replace(path)
