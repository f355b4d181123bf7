"""Seeds, numbers of threads and whole numbers, checked; and work on threads, with results in an
order that no thread can change.
"""

import operator
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Self, TypeAlias, TypeVar

import numpy as np

from idealrank._lazy import annotation
from idealrank.errors import OptionError

# A seed, a sequence of seeds, a generator, or None for a seed from the operating system.
if TYPE_CHECKING:
    RandomLike: TypeAlias = (
        np.random.Generator | np.random.SeedSequence | int | Iterable[int] | None
    )
else:  # NumPy loads its generators when they are first used
    RandomLike = (
        annotation("numpy.random", "Generator")
        | annotation("numpy.random", "SeedSequence")
        | int
        | Iterable[int]
        | None
    )


def generator_of(rng: RandomLike) -> np.random.Generator:
    """A generator from a seed, or the one given."""
    try:
        generator = np.random.default_rng(rng)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"rng={rng!r}: expected a seed from 0 on, or a NumPy generator ({error})"
        ) from None
    if not hasattr(generator.bit_generator.seed_seq, "spawn"):
        raise OptionError(
            f"rng={rng!r}: its bit generator has no seed sequence, so it has no children; use "
            f"numpy.random.default_rng(seed)"
        )
    return generator


def threads_of(threads: int | None) -> int:
    """Return the number of threads; None and 0 mean one a core."""
    count = whole_number("threads", 0 if threads is None else threads, 0)
    if count:
        return count
    if hasattr(os, "sched_getaffinity"):  # the cores that this process may use
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def whole_number(name: str, value: int, least: int = 1, most: int | None = None) -> int:
    """An option that is a whole number, checked."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, (bool, np.bool_)) or number < least:
        raise OptionError(f"{name}={value!r}: expected a whole number from {least} on")
    if most is not None and number > most:
        raise OptionError(f"{name}={value!r}: expected a whole number from {least} to {most}")
    return number


Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(work: Callable[[int], Result], count: int, threads: int | None) -> Iterator[Result]:
    """Yield ``work(0), work(1), ...`` from threads; a few results wait at a time, never all."""
    return each_in_order(work, range(count), min(threads_of(threads), count))


class Background:
    """Work begun on threads before its result is asked for; on one thread it is done when it is
    asked for.

    A context manager: leaving it drops what was not begun, and waits for what was.
    """

    def __init__(self, threads: int | None) -> None:
        count = threads_of(threads)
        self._pool = ThreadPoolExecutor(count) if count > 1 else None

    def begin(self, work: Callable[[], Result]) -> Callable[[], Result]:
        """Begin the work; the call returned gives its result, or raises its error."""
        return cache(work) if self._pool is None else self._pool.submit(work).result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def each_in_order(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """Apply `work` to each item in order. This thread takes items a few steps ahead, so they may be
    generated on the way.
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
