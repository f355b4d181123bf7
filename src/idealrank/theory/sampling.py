"""Random samples in blocks, on any number of threads with the same result."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.data.types import IntArray
from idealrank.stats.randomness import each_in_order, threads_of

# Called with the samples done and the samples in all, in the thread of the caller.
ProgressCall: TypeAlias = Callable[[int, int], None]

_BLOCK = 1 << 17  # documents that are drawn at a time, or one sample if it is longer


class Streams(NamedTuple):
    """Two independent generators that belong to one block alone."""

    main: np.random.Generator
    side: np.random.Generator


class SampleBlock(NamedTuple):
    """Some samples, from the first to before the last, and their randomness."""

    first: int
    last: int
    streams: Streams


def block_size(documents: int) -> int:
    """Return the number of samples in a block; results depend on it, so it depends only on the number of documents."""
    return max(1, _BLOCK // documents)


def run_blocks(
    work: Callable[[SampleBlock], None],
    samples: int,
    size: int,
    rng: np.random.Generator,
    *,
    threads: int | None = None,
    progress: ProgressCall | None = None,
) -> None:
    """Call `work` for each block of `size` samples, on threads.

    The first block draws from `rng` itself, each later one from a child of its own: what is drawn does not depend on threads, nor
    the first samples on how many there are.

    Parameters
    ----------
    work : callable
        Takes a `SampleBlock` and keeps its results where no other block does.
    samples, size : int
        How many samples, and how many of them make a block.
    rng : Generator
        Advanced, so that another call draws other samples.
    threads : int, optional
        Number of threads; None or 0 uses all cores.
    progress : callable, optional
        Called as ``progress(done, samples)`` in this thread.
    """
    report = progress or _nobody

    def last_of(block: SampleBlock) -> int:
        work(block)
        return block.last

    # Blocks hold generators, which are made on the way: never all of them at once.
    for done in each_in_order(last_of, _blocks(samples, size, rng), min(threads_of(threads), -(-samples // size))):
        report(done, samples)


def _nobody(_done: int, _samples: int) -> None:
    """Ignore progress."""


def _blocks(samples: int, size: int, rng: np.random.Generator) -> Iterator[SampleBlock]:
    for first in range(0, samples, size):
        child = rng.spawn(1)[0]
        streams = Streams(child, child.spawn(1)[0]) if first else Streams(rng, child)
        yield SampleBlock(first, min(first + size, samples), streams)


def thinned(count: int, keep: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """A mask of `count` that keeps a uniformly random subset of `keep`.

    Examples
    --------
    >>> int(thinned(10, 4, np.random.default_rng(0)).sum())
    4
    """
    few = min(keep, count - keep)
    chosen: IntArray = rng.choice(count, few, replace=False, shuffle=False)
    mask = np.full(count, few < keep)
    mask[chosen] = few == keep
    return mask
