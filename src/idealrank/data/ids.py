"""Items in any order, brought together by the id of their query."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from idealrank.data.types import AnyArray, IntArray, QueryIds
from idealrank.errors import InputError


def id_array(ids: Any) -> AnyArray:
    """Ids of queries as an array; a list may not mix texts and numbers, of which NumPy makes texts.

    Raises
    ------
    InputError
        Ids are of several types.

    Examples
    --------
    >>> id_array([7, 3, 7])
    array([7, 3, 7])
    """
    if isinstance(ids, Sequence) and not isinstance(ids, (str, bytes)):
        kinds = {str if issubclass(kind, str) else bytes if issubclass(kind, bytes) else float for kind in set(map(type, ids))}
        if len(kinds) > 1:
            first = ids[0]
            place = next(place for place, one in enumerate(ids) if _is_other(one, first))
            raise InputError(
                f"qid: item {place}: found {ids[place]!r} after {first!r} (ids of several types), expected ids of one type; "
                "make all of them texts or all of them numbers"
            )
    return np.asarray(ids)


def _is_other(one: object, first: object) -> bool:
    return any(isinstance(one, kind) != isinstance(first, kind) for kind in (str, bytes))


def group_by_id(qid: AnyArray, n: int) -> tuple[IntArray, IntArray | None, QueryIds]:
    """Offsets, order and names of queries in order of first appearance; the order is None when queries stand together already.

    Parameters
    ----------
    qid : array, shape (n,)
        A query id per item, of any one type.
    n : int
        Number of items.

    Raises
    ------
    InputError
        Ids are missing, or of several types.

    Examples
    --------
    >>> offsets, order, queries = group_by_id(np.array([7, 3, 7]), 3)
    >>> offsets, order, list(queries)
    (array([0, 2, 3]), array([0, 2, 1]), ['7', '3'])
    """
    if qid.shape != (n,):
        raise InputError(f"qid has shape {qid.shape}, expected one id per item, ({n},)")
    if qid.dtype.kind == "f" and np.isnan(qid).any():
        raise InputError(f"qid: found NaN at item {int(np.flatnonzero(np.isnan(qid))[0])}, expected an id for every item")
    if n == 0:
        return np.zeros(1, np.int64), None, QueryIds(0, list)
    # A run is a stretch of items with one id. Sorting runs is cheaper than sorting items, and usually shows that nothing need be moved.
    starts = _heads(qid)
    names, sizes = qid[starts], np.diff(np.append(starts, n))
    try:
        by_name = _stable_order(names)
    except TypeError:
        raise InputError("qid: found ids of several types (is one of them None?), expected ids of one type") from None
    heads = _heads(names[by_name])
    if heads.size == names.size:
        return np.append(starts, n).astype(np.int64), None, QueryIds(names.size, lambda: [str(name) for name in names])
    first = by_name[heads]  # the first run of each query, for the sort is stable
    by_appearance = np.argsort(first)
    n_runs = np.diff(np.append(heads, names.size))[by_appearance]
    runs = by_name[_joined(heads[by_appearance], n_runs)]
    n_items = np.add.reduceat(sizes[by_name], heads)[by_appearance]
    ordered = names[first[by_appearance]]
    return (
        np.concatenate(([0], np.cumsum(n_items))).astype(np.int64),
        _joined(starts[runs], sizes[runs]),
        QueryIds(ordered.size, lambda: [str(name) for name in ordered]),
    )


def numbers_of_queries(qid: AnyArray, offsets: IntArray, order: IntArray | None) -> IntArray | None:
    """The ids of the queries that `group_by_id` found, where they are whole numbers; else None.

    Examples
    --------
    >>> qid = np.array([7, 3, 7])
    >>> numbers_of_queries(qid, *group_by_id(qid, 3)[:2])
    array([7, 3])
    """
    if qid.dtype.kind != "i":
        return None
    heads = offsets[:-1]
    return qid[heads if order is None else order[heads]].astype(np.int64)


def _heads(values: AnyArray) -> IntArray:
    """Where each stretch of equal values begins."""
    return np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))


def _joined(starts: IntArray, sizes: IntArray) -> IntArray:
    """The ranges start, start + 1, ... of these sizes, one after the other."""
    ends = np.cumsum(sizes)
    ranges: IntArray = np.repeat(starts - (ends - sizes), sizes) + np.arange(ends[-1])
    return ranges


def _stable_order(values: AnyArray) -> IntArray:
    """The order that sorts, equal values as they came.

    Whole numbers are packed with their place into one key, for NumPy sorts numbers many times faster than it sorts places.
    """
    if values.dtype.kind == "i":
        low, bits = int(values.min()), values.size.bit_length()
        if (int(values.max()) - low).bit_length() + bits < 63:
            key = values.astype(np.int64)
            key -= low
            key <<= bits
            key |= np.arange(values.size)
            key.sort()
            key &= (1 << bits) - 1
            return key
    return np.argsort(values, kind="stable")
