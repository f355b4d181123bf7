"""Work on threads whose results come in order, so that nothing depends on how many threads there are."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from idealrank.stats.randomness import threads_of

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(one: Callable[[int], Result], count: int, threads: int | None) -> Iterator[Result]:
    """``one(0), one(1), ...`` on threads; a few wait to be taken, never all of them.

    Parameters
    ----------
    one : callable
        Takes a number.
    count : int
        Numbers, from 0.
    threads : int, optional
        Number of threads; None or 0 uses all cores.

    Examples
    --------
    >>> list(in_order(lambda number: number * number, 4, threads=2))
    [0, 1, 4, 9]
    """
    return each_in_order(one, range(count), min(threads_of(threads), count))


def each_in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Apply `work` to each item in order. This thread takes items a few steps ahead, so they may be generated on the way.

    Parameters
    ----------
    work : callable
        Called on threads, or in this one if that is all there are.
    items : iterable
        Any number of them.
    threads : int
        At least 1.

    Examples
    --------
    >>> list(each_in_order(str.upper, iter("ab"), 2))
    ['A', 'B']
    """
    if threads <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > threads + 1:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
