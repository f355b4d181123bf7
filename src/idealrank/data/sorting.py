"""Orders of hashes and of query codes: the place of each is packed into its low bits, so that one
plain sort of numbers finds the order.

NumPy sorts numbers several times faster than it finds the order of numbers.
"""

import numpy as np

from idealrank.data.types import IntArray, KeyArray

_SHORT = 32  # bits of a place


def sorted_keys(keys: KeyArray) -> tuple[IntArray, KeyArray]:
    """Stable order of hashes, and the hashes in that order."""
    low = np.uint64((1 << max(keys.size - 1, 1).bit_length()) - 1)
    packed = keys & ~low  # in place from here on: columns of many rows are the peak of the memory
    packed |= np.arange(keys.size, dtype=np.uint64)
    packed.sort()
    packed &= low
    order = packed.view(np.int64)
    found = keys[order]
    if (found[1:] >= found[:-1]).all():
        return order, found
    order = np.argsort(keys, kind="stable")  # some differ in their low bits alone
    return order, keys[order]


def distinct_keys(keys: KeyArray) -> tuple[KeyArray, IntArray]:
    """Distinct hashes, rising, and the first place of each."""
    order, found = sorted_keys(keys)
    first = np.append(True, found[1:] != found[:-1])[: keys.size]
    return found[first], order[first]


def in_stable_order(codes: IntArray) -> IntArray:
    """Stable order of whole numbers from 0 to 2^31 - 1, such as query codes."""
    if codes.size >> _SHORT:
        return np.argsort(codes, kind="stable")
    return np.sort(codes << _SHORT | np.arange(codes.size)) & ((1 << _SHORT) - 1)
