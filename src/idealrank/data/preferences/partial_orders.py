"""Judgment groups with several sub-groups: a partial order, closed under transitivity and checked for contradictions."""

import numpy as np

from idealrank.data.assessors import Groups, Refuse
from idealrank.data.preferences.preference_pairs import Pairs
from idealrank.data.qrels import Qrels
from idealrank.data.types import BoolArray, FloatArray, IntArray, decode_id

_EXPECTED = "one order within a judgment group"
_HINT = "give contradicting views to groups of their own"


def pairs_of_partial_groups(groups: Groups, part: IntArray, partial: BoolArray, documents: Qrels, refuse: Refuse) -> Pairs:
    """All preferences of the groups that have several sub-groups.

    Parameters
    ----------
    groups : Groups
        What the groups said, group after group.
    part : int64 array, shape (n,)
        Sub-group of each row of `groups`, numbered over all groups.
    partial : bool array, shape (n_groups,)
        Which groups have several.
    documents : Qrels
        Names documents in messages.
    refuse : callable
        Raises the error for a row.

    Raises
    ------
    InputError
        A group contradicts itself.
    """
    found = []
    for group in np.flatnonzero(partial).tolist():
        begin, end = np.searchsorted(groups.group, (group, group + 1)).tolist()
        order = _Order(groups, slice(begin, end), documents, refuse)
        for number in dict.fromkeys(part[begin:end].tolist()):
            order.add(np.flatnonzero(part[begin:end] == number))
        better, worse = np.nonzero(order.closed())
        found.append(Pairs(order.rows[better], order.rows[worse], np.full(better.size, group)))
    return Pairs.joined(found)


class _Order:
    """The order of one group, sub-group by sub-group."""

    def __init__(self, groups: Groups, span: slice, documents: Qrels, refuse: Refuse) -> None:
        self.rows, self._local = np.unique(groups.row[span], return_inverse=True)
        self._levels: FloatArray = groups.level[span]
        self._source = groups.source[span]
        self._documents, self._refuse = documents, refuse
        n = self.rows.size
        self._above, self._equal = np.zeros((n, n), bool), np.zeros((n, n), bool)
        self._seen, self._zero = np.zeros(n, bool), np.zeros(n, bool)

    def add(self, places: IntArray) -> None:
        """Take in one sub-group, given by its rows within the group."""
        local, levels = self._local[places], self._levels[places]
        changed = self._seen[local] & (self._zero[local] != (levels == 0))
        if changed.any():
            place = int(np.flatnonzero(changed)[0])
            name, other = self._name(local[place]), "above 0" if levels[place] == 0 else "0"
            found = f"level {levels[place]:g} for document {name}, whose level is {other} in another sub-group"
            self._refuse(int(self._source[places[place]]), found, "a document relevant (above 0) or not (0) in all of a group", _HINT)
        self._seen[local], self._zero[local] = True, levels == 0
        above, equal = levels[:, None] > levels, (levels[:, None] == levels) & ~np.eye(local.size, dtype=bool)
        block = np.ix_(local, local)
        against = (above & (self._above[block].T | self._equal[block])) | (equal & (self._above[block] | self._above[block].T))
        if against.any():
            one, two = np.argwhere(against)[0].tolist()
            relation = "above" if above[one, two] else "level with"
            found = f"document {self._name(int(local[one]))} {relation} {self._name(int(local[two]))}, which another sub-group contradicts"
            self._refuse(int(max(self._source[places[one]], self._source[places[two]])), found, _EXPECTED, _HINT)
        self._above[block] |= above
        self._equal[block] |= equal

    def closed(self) -> BoolArray:
        """Who is above whom, what follows by transitivity included (Warshall)."""
        above = self._above.copy()
        for middle in range(self.rows.size):
            above |= above[:, middle, None] & above[middle]
        circle = np.argwhere((above & above.T) | (above & self._equal))
        if circle.size:
            one, two = circle[0].tolist()
            names = self._name(one) if one == two else f"{self._name(one)} and {self._name(two)}"
            last = int(self._source[np.isin(self._local, circle)].max())
            self._refuse(last, f"preferences that go round in a circle through document {names}", _EXPECTED, _HINT)
        return above

    def _name(self, local: int) -> str:
        return repr(decode_id(self._documents.table.document_id(int(self.rows[local]))))
