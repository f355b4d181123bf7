"""Orders of hashes and of codes against NumPy's own sorts and dictionaries."""

import numpy as np
import pytest

from idealrank.analysis.comparison.places import matches
from idealrank.data.segments import (
    distinct_keys,
    in_stable_order,
    joined_ranges,
    sorted_keys,
)

# Of few bits keys are equal or differ in the bits that their places take; of 64 bits they are
# spread like hashes.
BITS = [64, 30, 12, 3, 0]
SIZES = (0, 1, 2, 1000)


def keys_of(bits: int, size: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.random.default_rng([bits, size]).integers(
        0, 2**bits - 1, size, np.uint64, endpoint=True
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("bits", BITS)
def test_keys_are_sorted_whatever_bits_they_differ_in(bits: int, size: int) -> None:
    keys = keys_of(bits, size)
    order, found = sorted_keys(keys)
    assert order.tolist() == np.argsort(keys, kind="stable").tolist()
    assert found.tolist() == sorted(keys.tolist())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("bits", BITS)
def test_distinct_keys_have_their_first_places(bits: int, size: int) -> None:
    keys = keys_of(bits, size)
    distinct, first = distinct_keys(keys)
    expected, places = np.unique(keys, return_index=True)
    assert distinct.tolist() == expected.tolist()
    assert first.tolist() == places.tolist()


@pytest.mark.parametrize("most", [0, 5, 2**31 - 1])
def test_codes_keep_the_order_of_equal_ones(most: int) -> None:
    codes = np.random.default_rng(most).integers(0, most, 500, np.int64, endpoint=True)
    assert in_stable_order(codes).tolist() == np.argsort(codes, kind="stable").tolist()


@pytest.mark.parametrize("repeated", ["neither", "a", "both"])
def test_documents_of_both_runs_meet_by_rising_key(repeated: str) -> None:
    rng = np.random.default_rng(7)
    a, b = (
        rng.permutation(rng.integers(0, 2**63, 900, np.uint64)[:700] // np.uint64(1 << 20))
        for _ in range(2)
    )
    b[:300] = rng.permutation(a)[:300]
    if repeated != "neither":
        a[5] = a[400]
    if repeated == "both":
        b[350] = b[1] = a[400]
    first, second = matches(a, b)
    places: dict[int, list[int]] = {}
    for place, key in enumerate(b.tolist()):
        places.setdefault(key, []).append(place)
    taken: dict[int, int] = {}
    expected = []
    # the first place of a document meets its first place in the other run
    for place, key in enumerate(a.tolist()):
        nth = taken[key] = taken.get(key, -1) + 1
        if nth < len(places.get(key, ())):
            expected.append((place, places[key][nth]))
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == sorted(expected)
    if repeated == "neither":
        assert (np.diff(a[first].astype(np.float64)) > 0).all()


@pytest.mark.parametrize("sizes", [[], [0], [2, 0, 3], [1, 1, 1]])
def test_ranges_are_joined_as_lists_are(sizes: list[int]) -> None:
    starts = np.random.default_rng(1).integers(0, 50, len(sizes))
    expected = [start + n for start, size in zip(starts, sizes, strict=True) for n in range(size)]
    assert joined_ranges(starts, np.array(sizes, np.int64)).tolist() == expected
