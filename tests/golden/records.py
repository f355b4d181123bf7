"""Recorded calls of peers: one record is one call on one fixture at one cutoff."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.golden.harness import Fixture

# What a peer does by accident is no target: random or unstable ties, the order of NaN, crashes, and
# numbers that no rule explains.
ACCIDENTS = frozenset(
    {
        "random",
        "unstable_sort",
        "cpu_dependent",
        "undefined_order",
        "native_crash",
        "not_explained_by_convention",
    }
)


@dataclass(frozen=True)
class Record:
    """One call.

    Attributes
    ----------
    value : float or None
        The mean over the queries the peer returned; None when it returned none.
    per_query : mapping
        Values by query, where recorded.
    error : str
        What the peer raised, if it did.
    """

    peer: str
    version: str
    call: str
    fixture: str
    cutoff: int | None
    value: float | None
    per_query: Mapping[str, float | None]
    error: str

    def __str__(self) -> str:
        return f"{self.peer} {self.version} {self.call} on {self.fixture} at {self.cutoff}"


@dataclass(frozen=True)
class Golden:
    """Fixtures and the records made on them."""

    fixtures: Mapping[str, Fixture]
    records: tuple[Record, ...]

    @classmethod
    def read(cls, path: Path) -> "Golden":
        """From a file; what a peer does by accident is left out."""
        content = json.loads(path.read_text(encoding="utf-8"))
        fixtures = {
            name: Fixture.of(entry["queries"]) for name, entry in content["fixtures"].items()
        }
        return cls(
            fixtures,
            tuple(
                _record(entry)
                for entry in content["records"]
                if not ACCIDENTS & set(entry.get("flags", ()))
            ),
        )

    @classmethod
    def read_calls(cls, path: Path, fixtures: Path | None = None) -> "Golden":
        """From our own files: values by call, fixture, cutoff and query; the query ``""`` is the
        mean.
        """
        content = json.loads(path.read_text(encoding="utf-8"))
        held = content if fixtures is None else json.loads(fixtures.read_text(encoding="utf-8"))
        records = [
            _from_values(call, fixture, cutoff, values)
            for call in content["calls"]
            for fixture, by_cutoff in call["values"].items()
            for cutoff, values in by_cutoff.items()
        ]
        return cls(
            {name: Fixture.of(queries) for name, queries in held["fixtures"].items()},
            tuple(records),
        )

    @cached_property
    def cutoffs(self) -> Mapping[str, tuple[int | None, ...]]:
        """The cutoffs of the records on each fixture."""
        found: dict[str, dict[int | None, None]] = {name: {} for name in self.fixtures}
        for record in self.records:
            found[record.fixture][record.cutoff] = None
        return {name: tuple(cutoffs) for name, cutoffs in found.items()}

    def calls(self) -> Iterator[tuple[str, str, str]]:
        """Each distinct (peer, version, call)."""
        return iter(
            dict.fromkeys((record.peer, record.version, record.call) for record in self.records)
        )


def _record(entry: Mapping[str, Any]) -> Record:
    per_query = {query: _number(value) for query, value in entry.get("per_query", {}).items()}
    return Record(
        entry["peer"],
        entry["version"],
        entry["call"],
        entry["fixture"],
        entry["k"],
        _number(entry.get("value")),
        per_query,
        entry.get("error", ""),
    )


def _from_values(
    call: Mapping[str, Any], fixture: str, cutoff: str, values: Mapping[str, Any]
) -> Record:
    per_query = {query: _number(value) for query, value in values.items() if query}
    counted = [value for value in per_query.values() if value is not None]
    mean = math.fsum(counted) / len(counted) if counted else None
    return Record(
        call["peer"],
        call["version"],
        call["call"],
        fixture,
        None if cutoff == "all" else int(cutoff),
        _number(values.get("", mean)),
        per_query,
        "",
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def same(found: float | None, recorded: float | None, tolerance: float) -> bool:
    """True if two values agree: both absent, both NaN, or close (relative to values above 1)."""
    if found is None or recorded is None:
        return found is recorded
    if math.isnan(found) or math.isnan(recorded):
        return math.isnan(found) and math.isnan(recorded)
    return abs(found - recorded) <= tolerance * max(1.0, abs(recorded))
