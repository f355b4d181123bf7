"""Fingerprints of judgments: they tell whether two evaluations had the same judgments, whatever
file, frame or mapping held them.

A fingerprint is two sums modulo 2**64 of a hash of every judgment, written as 32 hexadecimal
digits. A sum has no order, and the sums of two parts of a collection are added.
``src/kernel/fingerprint.hpp`` hashes grades and labels; judgment groups (assessors, preferences)
are hashed here, by BLAKE2b. Stores and baseline files keep fingerprints: neither hash may change.
"""

import hashlib
import struct
from collections.abc import Iterable

_MODULUS = 1 << 64


def fingerprint_text(first: int, second: int) -> str:
    """Two sums as 32 hexadecimal digits."""
    return f"{first % _MODULUS:016x}{second % _MODULUS:016x}"


def added(ours: str | None, theirs: str | None) -> str | None:
    """The fingerprint of both parts of a collection that was split by query; None where one part
    has none.

    Examples
    --------
    >>> from idealrank.data.qrels import Qrels
    >>> one, two, both = (
    ...     Qrels({"p": {"a": 1}}),
    ...     Qrels({"q": {"a": 1}}),
    ...     Qrels({"q": {"a": 1}, "p": {"a": 1}}),
    ... )
    >>> added(one.fingerprint, two.fingerprint) == both.fingerprint, added(one.fingerprint, None)
    (True, None)
    """
    if ours is None or theirs is None:
        return None
    return fingerprint_text(
        int(ours[:16], 16) + int(theirs[:16], 16), int(ours[16:], 16) + int(theirs[16:], 16)
    )


def added_labels(first: int, second: int, n_queries: int, kind: str) -> tuple[int, int]:
    """Sums with a declared kind of labels: a constant for each query, so that parts add up."""
    digest = hashlib.blake2b(b"labels " + kind.encode(), digest_size=16).digest()
    halves = (int.from_bytes(half, "little") for half in (digest[:8], digest[8:]))
    more_first, more_second = (n_queries * half for half in halves)
    return first + more_first, second + more_second


def fingerprint_of_groups(
    kind: bytes, judgments: Iterable[tuple[tuple[bytes, bytes, int], bytes, float]]
) -> str:
    """The fingerprint of judgments that are made in groups.

    The numbers of sub-groups only say which judgments belong together: sub-groups have no order,
    and their names do not count.
    """
    parts: dict[tuple[bytes, bytes, int], list[tuple[bytes, bytes]]] = {}
    for part, document, level in judgments:
        parts.setdefault(part, []).append((document, struct.pack("<d", level + 0.0)))  # -0.0 is 0
    first = second = 0
    for (query, group, _), judged in parts.items():
        words = [kind, query, group, *(word for one in sorted(judged) for word in one)]
        digest = hashlib.blake2b(
            b"".join(b"%d:%b" % (len(word), word) for word in words), digest_size=16
        ).digest()
        first = first + int.from_bytes(digest[:8], "little")
        second = second + int.from_bytes(digest[8:], "little")
    return fingerprint_text(first, second)
