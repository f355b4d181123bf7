"""Queries whose documents came one after another, judged, and what several rankers make of them."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np

from idealrank.data.lists import as_numbers
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import InputError

_ABOUT, _GRADES, _OFFSETS = "about", "grades", "offsets"


@dataclass(frozen=True, eq=False)
class RankedCollection:
    """Grades and scores of the same documents, query after query, in the order in which the documents came.

    Parameters
    ----------
    grades : float64 array, shape (n_documents,)
        At least 0; documents of all queries.
    scores : mapping of str to float64 array, shape (n_documents,)
        By the name of the ranker; higher is better, and only the order within a query matters.
    offsets : int64 array, shape (n_queries + 1,)
        Query q has the documents from offsets[q] to offsets[q + 1].
    about : mapping
        Information on the data; ``what`` is a short description.

    Raises
    ------
    InputError
        Arrays do not match or hold NaN, or there is no ranker.

    Examples
    --------
    >>> mine = RankedCollection(np.array([1.0, 0.0]), {"mine": np.array([0.2, 0.9])}, np.array([0, 2]))
    >>> mine.n_queries, mine.lengths, mine.rows(mine.grades)
    (1, array([2]), [array([1., 0.])])
    """

    grades: FloatArray
    scores: Mapping[str, FloatArray]
    offsets: IntArray
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.scores:
            raise InputError("found no ranker, expected an array of scores, or of ranks, for each")
        if self.offsets.size < 2 or self.offsets[0] != 0 or self.offsets[-1] != self.grades.size or (np.diff(self.offsets) < 1).any():
            raise InputError(f"offsets: expected them to rise from 0 to the number of documents, {self.grades.size}")
        for name, values in {_GRADES: self.grades, **self.scores}.items():
            if values.shape != self.grades.shape:
                raise InputError(f"{name}: found {values.size} values, expected one for each of the {self.grades.size} grades")
            if not np.isfinite(values).all():
                raise InputError(f"{name}: found a value that is not finite, expected numbers")
        if self.grades.min() < 0:
            raise InputError(f"{_GRADES}: found {self.grades.min():g}, expected grades of at least 0")

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.offsets.size - 1

    @property
    def lengths(self) -> IntArray:
        """Number of documents of each query, shape (n_queries,)."""
        return np.diff(self.offsets)

    def rows(self, values: FloatArray) -> list[FloatArray]:
        """Return the grades or scores, one array per query."""
        return np.split(values, self.offsets[1:-1])

    def at_least(self, n: int) -> "RankedCollection":
        """Return the queries that have at least n documents, cut after the n-th.

        Raises
        ------
        InputError
            No query has n documents.
        """
        long = np.flatnonzero(self.lengths >= n)
        if n < 1 or not long.size:
            raise InputError(f"found {self.lengths.max():,} documents in the longest list, expected at least {n:,}; ask for fewer")
        kept = (self.offsets[long][:, None] + np.arange(n)).ravel()
        scores = {name: values[kept] for name, values in self.scores.items()}
        return RankedCollection(self.grades[kept], scores, np.arange(long.size + 1, dtype=np.int64) * n, self.about)


def paper_rankers() -> RankedCollection:
    """Load RankSVM, ListNet and a random ranker on the synthetic collection behind figures 1 to 4.

    Returns
    -------
    RankedCollection
        40 queries of 5,000 documents each; grades 0, 1 and 2. ``experiments/rankers`` reproduces it bit for bit.

    References
    ----------
    Wang et al. (2013), COLT, Appendix A. The paper's data are not public.

    Examples
    --------
    >>> found = paper_rankers()
    >>> found.n_queries, set(found.lengths.tolist()), list(found.scores)
    (40, {5000}, ['RankSVM', 'ListNet', 'random'])
    """
    with resources.files("idealrank.theory").joinpath("data/rankers.npz").open("rb") as file:
        return _from_npz(file, "rankers.npz")


def read_rankers(path: "str | Path") -> RankedCollection:
    """Read a collection from a file of NumPy arrays (``numpy.savez``).

    Parameters
    ----------
    path : str or Path
        ``grades``, shape (n_queries, n_documents), or (n,) with ``offsets``, shape (n_queries + 1,), for lists of several lengths; and for
        each ranker an array of its scores by its name, in the shape of the grades. ``about``, if present, is a JSON object: ``what``
        describes the data, ``rankers`` gives the names to print.

    Raises
    ------
    InputError
        The file cannot be read, or its arrays do not match.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/mine.npz", grades=[[1, 0, 2]], mine=[[0.3, 0.2, 0.1]])
    ...     read_rankers(f"{folder}/mine.npz").lengths
    array([3])
    """
    try:
        with Path(path).open("rb") as file:
            return _from_npz(file, str(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def _from_npz(file: IO[bytes], name: str) -> RankedCollection:
    try:
        stored = np.load(file, allow_pickle=False)
        arrays = {key: stored[key] for key in stored.files}
    except (ValueError, AttributeError, EOFError, RuntimeError, BadZipFile, zlib.error):
        raise InputError(
            f"{name}: found no archive of NumPy arrays, expected what numpy.savez(file, grades=..., mine=...) writes"
        ) from None
    if _GRADES not in arrays:
        raise InputError(f"{name}: found arrays {', '.join(arrays) or 'none'}, expected {_GRADES}, and one of scores for each ranker")
    try:
        return _collection(arrays)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _collection(arrays: dict[str, AnyArray]) -> RankedCollection:
    about = _about(arrays.pop(_ABOUT, None))
    arrays = {name: as_numbers(name, values) for name, values in arrays.items()}
    offsets, grades = arrays.pop(_OFFSETS, None), arrays.pop(_GRADES)
    if grades.ndim not in (1, 2):
        raise InputError(f"{_GRADES}: found shape {grades.shape}, expected (n_queries, n_documents), or one dimension")
    if offsets is not None and grades.ndim != 1:
        raise InputError(f"{_GRADES}: found shape {grades.shape} beside offsets, expected one dimension")
    if offsets is None:
        queries, documents = grades.shape if grades.ndim == 2 else (1, grades.size)
        offsets = np.arange(queries + 1) * documents
    elif offsets.ndim != 1 or offsets.dtype.kind != "i":
        raise InputError(f"{_OFFSETS}: found shape {offsets.shape} of {offsets.dtype}, expected whole numbers in one dimension")
    for name, values in arrays.items():
        if values.shape != grades.shape:
            raise InputError(f"{name}: found shape {values.shape}, expected that of {_GRADES}, {grades.shape}")
    labels = about.get("rankers", {})
    scores = {labels.get(name, name): values.astype(np.float64).ravel() for name, values in arrays.items()}
    if len(scores) < len(arrays):
        raise InputError(f"{_ABOUT}: found {len(arrays)} rankers with {len(scores)} names, expected names that differ")
    return RankedCollection(grades.astype(np.float64).ravel(), scores, offsets.astype(np.int64), about)


def _about(stored: AnyArray | None) -> dict[str, Any]:
    try:
        about = {} if stored is None else json.loads(str(stored))
    except (ValueError, RecursionError):
        about = None
    labels = about.get("rankers", {}) if isinstance(about, dict) else None
    if not isinstance(about, dict) or not isinstance(labels, dict) or not all(isinstance(label, str) for label in labels.values()):
        raise InputError(f"{_ABOUT}: expected a JSON object, its rankers an object of names")
    return about
