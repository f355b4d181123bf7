"""Seeds, numbers of threads and whole numbers, checked where they come in."""

import operator
import os
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from idealrank.errors import OptionError

# A seed, a sequence of seeds, a generator, or None for a seed from the operating system.
RandomLike: TypeAlias = "np.random.Generator | np.random.SeedSequence | int | Iterable[int] | None"


def generator_of(rng: RandomLike) -> np.random.Generator:
    """A generator from a seed, or the one given.

    Raises
    ------
    OptionError
        It is neither; or a generator that cannot spawn others.

    Examples
    --------
    >>> generator_of(1).random() == generator_of(np.random.default_rng(1)).random()
    True
    """
    try:
        generator = np.random.default_rng(rng)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise OptionError(f"rng={rng!r}: expected a seed from 0 on, or a NumPy generator ({error})") from None
    if not hasattr(generator.bit_generator.seed_seq, "spawn"):
        raise OptionError(f"rng={rng!r}: its bit generator has no seed sequence, so it has no children; use numpy.random.default_rng(seed)")
    return generator


def threads_of(threads: int | None) -> int:
    """Return the number of threads; None and 0 mean one a core.

    Raises
    ------
    OptionError
        It is no whole number from 0 on.

    Examples
    --------
    >>> threads_of(3)
    3
    """
    count = whole_number("threads", 0 if threads is None else threads, 0)
    return count or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))


def whole_number(name: str, value: int, least: int = 1) -> int:
    """An option that is a whole number, checked.

    Raises
    ------
    OptionError
        It is none, or too small.

    Examples
    --------
    >>> whole_number("n", np.int64(5))
    5
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, (bool, np.bool_)) or number < least:
        raise OptionError(f"{name}={value!r}: expected a whole number from {least} on")
    return number
