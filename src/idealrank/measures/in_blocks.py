"""Values of lists held as arrays, a block of lists at a time.

Ranked whole, a million lists leave hundreds of megabytes of columns between the kernel and the measure: memory that must be had
from the system, written and read again. A block's columns stay in the cache and their memory is used again for the next.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

from idealrank.data.alignment import Alignment
from idealrank.data.judged import Judged
from idealrank.data.lists import Lists, judge_lists
from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.measures.measure import Measure

Result = TypeVar("Result")

# Items of a block: enough work for the kernel to share among threads, few enough for the columns to stay in the cache.
_ITEMS = 1 << 18


def list_values(lists: Lists, measure: Measure, alignment: Alignment, *, threads: int = 0) -> FloatArray:
    """Values of a measure for every list, where nothing else is asked for.

    Parameters
    ----------
    lists : Lists
        Labels and scores.
    measure : Measure
        With every option set (`Measure.under`).
    alignment : Alignment
        Policies for grades, ties and scores.
    threads : int
        Number of threads; 0 uses all cores.

    Returns
    -------
    float64 array, shape (n_queries,)
        The same bits as from all lists at once.

    Raises
    ------
    InputError
        A label or score cannot be used.

    Examples
    --------
    >>> from idealrank.conventions import Convention
    >>> from idealrank.measures.dcg import NDCG
    >>> standard = Convention.of("standard")
    >>> list_values(Lists.from_arrays([[1, 0], [0, 1]], [[2, 1], [2, 1]]), NDCG().under(standard), standard.alignment)
    array([1.        , 0.63092975])
    """
    return in_whole_or_blocks(
        lists,
        alignment,
        lambda parts: np.concatenate([measure.per_query(part) for part in parts]),
        measure.hits_needed(lists=True),
        threads,
    )


def in_whole_or_blocks(
    lists: Lists, alignment: Alignment, work: Callable[[Iterable[Judged]], Result], depth: int, threads: int = 0, *, whole: bool = False
) -> Result:
    """Do some work on lists judged a block at a time.

    Parameters
    ----------
    lists, alignment, depth, threads
        As for `judge_lists`.
    work : callable
        Takes the judged blocks in their order.
    whole : bool
        One block of all lists.

    Examples
    --------
    >>> lists = Lists.from_arrays([[1, 0], [0, 1]], [[2, 1], [2, 1]])
    >>> in_whole_or_blocks(lists, Alignment(), lambda parts: sum(part.n_queries for part in parts), 0)
    2
    """

    def all_at_once() -> Iterator[Judged]:
        yield judge_lists(lists, alignment, depth=depth, threads=threads)

    if whole or lists.labels.size <= _ITEMS:
        return work(all_at_once())
    try:
        return work(judge_lists(part, alignment, depth=depth, threads=threads) for part in _blocks(lists))
    except InputError:
        # The message must count and name items of the whole, so the whole finds the mistake again.
        return work(all_at_once())


def _blocks(lists: Lists) -> Iterator[Lists]:
    begin = 0
    while begin < lists.n_queries:
        end = int(np.searchsorted(lists.offsets, lists.offsets[begin] + _ITEMS, side="right")) - 1
        end = min(max(end, begin + 1), lists.n_queries)
        yield lists.part(begin, end)
        begin = end
