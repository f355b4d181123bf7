"""Random logs in partitions, and their sums merged in any order."""

import dataclasses
import re
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from idealrank.clicks import Sessions, exposures

CLOSE = 1e-12
seeds, sizes, kinds = st.integers(0, 2**32 - 1), st.integers(2, 40), st.booleans()


def partitions(rng: np.random.Generator, units: np.ndarray) -> list[np.ndarray]:
    """Rows of each of up to six partitions, of which some have none; rows of a unit stay
    together.
    """
    part_of_unit = rng.integers(0, rng.integers(1, 7), units.max() + 1)
    return [np.flatnonzero(part_of_unit[units] == part) for part in range(6)]


def merged(rng: np.random.Generator, parts: list[Any]) -> Any:
    """Two parts at a time are merged, any two, until one is left."""
    while len(parts) > 1:
        rng.shuffle(parts)  # type: ignore[arg-type]
        parts.append(parts.pop().merge(parts.pop()))
    return parts[0]


def flat(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {
            f"{field.name}.{name}": part
            for field in dataclasses.fields(value)
            for name, part in flat(getattr(value, field.name)).items()
        }
    return {"": value}


def reasons(cautions: tuple[str, ...]) -> list[str]:
    """Cautions without their digits; a share of 10 % is at the limit, where rounding decides."""
    return [
        re.sub(r"[\d.e+-]+", "0", caution) for caution in cautions if " has 10 % " not in caution
    ]


def same(merged: Any, whole: Any, scale: float) -> None:
    """Numbers to rounding, counts and reasons exactly; digits in a reason may round the other
    way.
    """
    ours, theirs = flat(merged), flat(whole)
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        if name.endswith("cautions."):
            assert reasons(ours[name]) == reasons(value)
        elif isinstance(value, int | str):
            assert ours[name] == value, name
        else:
            np.testing.assert_allclose(
                ours[name], value, rtol=CLOSE, atol=CLOSE * scale, err_msg=name
            )


def units_of(rng: np.random.Generator, n: int, *, clustered: bool) -> np.ndarray:
    """Number of each row's unit; every log has at least two."""
    if not clustered:
        return np.arange(n)
    return rng.permutation(np.append([0, 1], rng.integers(0, 1 + n // 3, n - 2)))


class Lists(NamedTuple):
    """A log of lists, of which any rows make a partition; lists of a query are in several, which
    have lists of other lengths.
    """

    queries: list[str]
    lists: list[list[int]]
    clicks: list[list[int]]
    depth: int
    units: np.ndarray
    clustered: bool
    propensity: np.ndarray
    by_list: bool
    options: dict[str, Any]

    @classmethod
    def draw(
        cls, rng: np.random.Generator, n: int, *, clustered: bool, by_list: bool, trusted: bool
    ) -> "Lists":
        depth = int(rng.integers(1, 5))
        lengths = rng.integers(1, depth + 1, n) if rng.integers(2) else np.full(n, depth)
        lengths[0] = depth
        queries = [f"q{number}" for number in rng.integers(0, 3, n)]
        lists = [
            rng.permutation(depth + rng.integers(0, 2))[:length].tolist() for length in lengths
        ]
        clicks = [rng.integers(0, 2, length).tolist() for length in lengths]
        options = {
            "discount": None if rng.integers(2) else rng.uniform(0, 1, int(rng.integers(1, 9))),
            "offset": rng.uniform(0, 0.2, depth) if trusted else None,
        }
        units = units_of(rng, n, clustered=clustered)
        return cls(
            queries,
            lists,
            clicks,
            depth,
            units,
            clustered,
            rng.uniform(0.2, 1, depth),
            by_list,
            options,
        )

    def ranking(self, rng: np.random.Generator) -> dict[str, list[str]]:
        """A new list for each query."""
        return {
            query: [str(number) for number in rng.permutation(self.depth + 1)]
            for query in ("q0", "q1", "q2")
        }

    def sessions(self, rows: np.ndarray) -> Sessions:
        if not rows.size:
            return self.sessions(np.arange(len(self.lists))).select([])
        width = max(len(self.lists[at]) for at in rows)
        filled = [
            [row + [fill] * (width - len(row)) for row in (table[at] for at in rows)]
            for table, fill in ((self.lists, -1), (self.clicks, 0))
        ]
        return Sessions.from_arrays(
            [self.queries[at] for at in rows], np.array(filled[0]), filled[1]
        )

    def part(self, rows: np.ndarray) -> tuple[Sessions, np.ndarray, dict[str, Any]]:
        """Log, propensities and options of a partition."""
        log = self.sessions(rows)
        seen = exposures(self.sessions(np.arange(len(self.lists))), self.propensity)
        examined = (
            np.minimum(seen[rows][:, : log.n_ranks], 1.0) if self.by_list else self.propensity
        )
        return (
            log,
            examined,
            {**self.options, "clusters": self.units[rows] if self.clustered else None},
        )
