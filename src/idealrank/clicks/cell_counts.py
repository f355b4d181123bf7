"""Counts of cells, a pair of query and document in one situation, and the sets of situations that
they link.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.clicks.sessions import Sessions
from idealrank.data.types import FloatArray, IntArray

FIRST_WITHOUT_CLICK = (
    "rank 1 has no click: no propensity can be estimated relative to it; check that ranks start at "
    "the top, and that the log has the clicks at rank 1"
)
"""Caution of propensities that the log does not determine."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CellCounts:
    """Sessions counted: all that an examination model needs of them, whatever their number.

    A cell is a pair of query and document in one situation: at a rank (PBM), or at a rank below a
    click at another (UBM). Counts of two logs with the same numbers add up.
    """

    # pair, situation: shape (cells,): pair and situation of each cell
    pair: IntArray
    situation: IntArray
    # shown, clicked: shape (cells,): impressions and clicks
    shown: FloatArray
    clicked: FloatArray
    # n_pairs, n_situations: numbers of pairs and of situations in the log
    n_pairs: int
    n_situations: int

    @classmethod
    def of(cls, sessions: Sessions, situation: IntArray, n_situations: int) -> "CellCounts":
        """Count sessions whose ranks have these situations; shape (sessions, ranks)."""
        has_document = sessions.pair >= 0
        situations = np.broadcast_to(situation, sessions.pair.shape)
        keys = sessions.pair[has_document] * np.int64(n_situations) + situations[has_document]
        clicks = sessions.clicks[has_document]
        size = len(sessions.documents) * n_situations
        if size <= max(1 << 20, 4 * keys.size):
            shown = np.bincount(keys, minlength=size)
            clicked = np.bincount(keys[clicks], minlength=size)
            used_keys = np.flatnonzero(shown)
            shown = shown[used_keys]
            clicked = clicked[used_keys]
        else:  # a table of all cells would be far larger than the log
            used_keys, inverse = np.unique(keys, return_inverse=True)
            inverse = inverse.reshape(-1)
            shown = np.bincount(inverse)
            clicked = np.bincount(inverse[clicks], minlength=used_keys.size)
        return cls(
            pair=used_keys // n_situations,
            situation=used_keys % n_situations,
            shown=shown.astype(np.float64),
            clicked=clicked.astype(np.float64),
            n_pairs=len(sessions.documents),
            n_situations=n_situations,
        )

    @property
    def impressions(self) -> FloatArray:
        """Impressions of each pair."""
        return np.asarray(np.bincount(self.pair, self.shown, self.n_pairs), np.float64)

    @classmethod
    def joined(cls, parts: "Sequence[CellCounts]") -> "CellCounts":
        """Counts of logs without a common pair; pairs are numbered part by part."""
        offsets = np.cumsum([0, *(part.n_pairs for part in parts)])
        pair = np.concatenate(
            [part.pair + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
        )
        return cls(
            pair=pair,
            situation=np.concatenate([part.situation for part in parts]),
            shown=np.concatenate([part.shown for part in parts]),
            clicked=np.concatenate([part.clicked for part in parts]),
            n_pairs=int(offsets[-1]),
            n_situations=parts[0].n_situations,
        )

    def at_first(self) -> "CellCounts":
        """Select the cells of pairs that were also in the first situation."""
        was_first = np.bincount(self.pair[self.situation == 0], minlength=self.n_pairs) > 0
        is_selected = was_first[self.pair]
        return CellCounts(
            pair=self.pair[is_selected],
            situation=self.situation[is_selected],
            shown=self.shown[is_selected],
            clicked=self.clicked[is_selected],
            n_pairs=self.n_pairs,
            n_situations=self.n_situations,
        )

    def of_queries(self, times: IntArray, query_of_pair: IntArray) -> "CellCounts":
        """Count each query so many times as it was drawn."""
        factor = times[query_of_pair][self.pair]
        return CellCounts(
            pair=self.pair,
            situation=self.situation,
            shown=self.shown * factor,
            clicked=self.clicked * factor,
            n_pairs=self.n_pairs,
            n_situations=self.n_situations,
        )


def rank_components(cells: CellCounts) -> int:
    """Number of sets of situations that share no pair: parameters of two sets cannot be
    compared.
    """
    labels = linked_sets(cells.pair, cells.situation, cells.n_pairs, cells.n_situations)
    return int(np.unique(labels[np.unique(cells.situation)]).size)


def informative_sets(cells: CellCounts) -> IntArray:
    """Number the sets of situations that share clicked pairs, from the one with most impressions;
    -1 without a clicked pair.
    """
    is_clicked = np.bincount(cells.pair, cells.clicked, cells.n_pairs)[cells.pair] > 0
    labels = linked_sets(
        cells.pair[is_clicked], cells.situation[is_clicked], cells.n_pairs, cells.n_situations
    )
    set_of_situation = np.full(cells.n_situations, -1, np.int64)
    situations = np.unique(cells.situation[is_clicked])
    weight = np.bincount(cells.situation, cells.shown, cells.n_situations)
    names, set_index = np.unique(labels[situations], return_inverse=True)
    set_index = set_index.reshape(-1)
    impressions = np.bincount(set_index, weight[situations], names.size)
    # The number of a set is its place in the order of falling impressions.
    number = np.empty(names.size, np.int64)
    number[np.argsort(-impressions, kind="stable")] = np.arange(names.size)
    set_of_situation[situations] = number[set_index]
    return set_of_situation


def linked_sets(pair: IntArray, situation: IntArray, n_pairs: int, n_situations: int) -> IntArray:
    """Label situations, with one label for all that a chain of cells links. Shape (situations,)."""
    from scipy.sparse import coo_array  # noqa: PLC0415  (a model without a fit needs none)
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    size = n_situations + n_pairs
    graph = coo_array((np.ones(pair.size), (situation, n_situations + pair)), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    of_situations: IntArray = labels[:n_situations].astype(np.int64)
    return of_situations
