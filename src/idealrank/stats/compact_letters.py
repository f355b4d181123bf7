"""Groups of systems that cannot be told apart, as letters: two share a letter if and only if they
do not differ.
"""

import string
from dataclasses import dataclass

import numpy as np

from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import InputError

_SIGNS = string.ascii_lowercase + string.ascii_uppercase


@dataclass(frozen=True)
class Letters:
    """A compact letter display; see `letters`.

    Parameters
    ----------
    groups : tuple of tuple of int
        Runs with the first letter, the second, ...; best run first.
    texts : tuple of str
        Letters of each run, such as ``ab``; from the 53rd group on a letter is a number in
        brackets.
    top : tuple of int
        Runs that do not differ significantly from the run with the highest mean, that run first.

    Examples
    --------
    >>> found = letters(np.array([[False, True], [True, False]]), np.array([0.1, 0.9]))
    >>> print(found)
    a: 1
    b: 0
    """

    groups: tuple[tuple[int, ...], ...]
    texts: tuple[str, ...]
    top: tuple[int, ...]

    def __str__(self) -> str:
        return "\n".join(
            f"{sign_of(number)}: {' '.join(map(str, group))}"
            for number, group in enumerate(self.groups)
        )


def letters(differs: BoolArray, means: FloatArray) -> Letters:
    """Compute the compact letter display of pairwise decisions.

    Insert and absorb: starting from one group of all runs, every significantly different pair
    splits each group that holds both, and groups inside another are dropped; a last sweep removes
    runs from groups that do not need them.

    Parameters
    ----------
    differs : bool array, shape (runs, runs)
        Whether two runs differ significantly; symmetric, False on the diagonal.
    means : float64 array, shape (runs,)
        Order the runs, and determine the best.

    Raises
    ------
    InputError
        `differs` is not symmetric or has True on the diagonal, or the shapes do not match.

    References
    ----------
    Piepho (2004), An algorithm for a letter-based representation of all-pairwise comparisons.
    Journal of Computational and Graphical Statistics 13, 456-466.

    Examples
    --------
    >>> differs = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool)  # only the first and the last
    >>> letters(differs, np.array([0.3, 0.2, 0.1])).texts
    ('a', 'ab', 'b')
    """
    decided = np.asarray(differs, bool)
    run_means = np.asarray(means, np.float64)
    n = run_means.size
    if (
        run_means.ndim != 1
        or decided.shape != (n, n)
        or (decided != decided.T).any()
        or decided.diagonal().any()
    ):
        raise InputError(
            f"differs of shape {decided.shape} for {n} means: expected (runs, runs), symmetric, "
            "with nothing on its diagonal"
        )
    order = np.argsort(-run_means, kind="stable")
    ranked = decided[np.ix_(order, order)]
    masks = _sweep(_insert_and_absorb(ranked), n)
    places = sorted(_members(mask, n) for mask in masks)
    texts = [""] * n
    for number, group in enumerate(places):
        for place in group:
            texts[order[place]] += sign_of(number)
    groups = tuple(tuple(order[list(group)].tolist()) for group in places)
    top = tuple(order[~ranked[0]].tolist()) if n else ()
    return Letters(groups=groups, texts=tuple(texts), top=top)


def _members(mask: int, n: int) -> tuple[int, ...]:
    """Places of the runs whose bit is set; place 0 has the highest mean."""
    return tuple(place for place in range(n) if mask >> place & 1)


def sign_of(number: int) -> str:
    """The letter of a group; from the 53rd on a number in brackets."""
    return _SIGNS[number] if number < len(_SIGNS) else f"[{number + 1}]"


def _insert_and_absorb(ranked: BoolArray) -> list[int]:
    """The largest groups without a pair that differs, as bit masks over places."""
    groups = [(1 << len(ranked)) - 1] if len(ranked) else []
    for first, second in np.argwhere(np.triu(ranked)).tolist():
        pair = 1 << first | 1 << second
        with_pair = [group for group in groups if group & pair == pair]
        groups = [group for group in groups if group & pair != pair]
        without_one = set()  # each group lacks one run of the pair
        for group in with_pair:
            without_one.add(group & ~(1 << first))
            without_one.add(group & ~(1 << second))
        for smaller in sorted(without_one, key=int.bit_count, reverse=True):
            if not any(smaller & group == smaller for group in groups):
                groups.append(smaller)
    return groups


def _sweep(groups: list[int], n: int) -> list[int]:
    """Remove a run from a group if every pair with it is in another group, too."""
    swept = list(groups)
    for number in range(len(swept)):
        for place in range(n):
            if swept[number] >> place & 1 and _needless(place, number, swept):
                swept[number] &= ~(1 << place)
    return [group for group in swept if group]


def _needless(place: int, number: int, groups: list[int]) -> bool:
    in_other_groups = 0  # runs that share another group with this one
    for other, group in enumerate(groups):
        if other != number and group >> place & 1:
            in_other_groups |= group
    return groups[number] & ~in_other_groups == 0
