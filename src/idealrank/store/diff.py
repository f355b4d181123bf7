"""Changes between two evaluations of a store: data, rules, versions, means, queries."""

import heapq
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from idealrank.conventions.presets import later_defaults
from idealrank.data.interchange import finite
from idealrank.data.types import FloatArray
from idealrank.store.history import judgments_hash
from idealrank.store.results import Stored

MOST = 10


def changes(
    a: Stored, b: Stored, *, measure: str | None = None, most: int = MOST
) -> dict[str, Any]:
    """Return the changes from a to b for JSON; a difference is always b - a."""
    both = [text for text in a.measures if text in b.measures]
    shown = next(iter(both), None) if measure is None else measure
    places = {query: place for place, query in enumerate(b.queries)}
    pairs = [(place, places[query]) for place, query in enumerate(a.queries) if query in places]
    ours, theirs = (later_defaults() | one.fields["convention"]["switches"] for one in (a, b))
    return {
        "a": _named(a),
        "b": _named(b),
        "inputs": _inputs(a.fields, b.fields),
        "judgments": _judgments(a.fields, b.fields),
        "convention": _differing(ours, theirs, "switch"),
        "made": _differing(_made(a), _made(b), "what"),
        "measures": {
            "both": both,
            "only_a": [text for text in a.measures if text not in both],
            "only_b": [text for text in b.measures if text not in both],
        },
        "means": _means(a, b, both),
        "queries": {
            "both": len(pairs),
            "only_a": [query for query in a.queries if query not in places],
            "only_b": sorted(set(b.queries) - set(a.queries)),
        },
        "changed_queries": None if shown is None else _queries(a, b, shown, pairs, most),
    }


def _named(one: Stored) -> dict[str, Any]:
    convention = one.fields["convention"]
    return {
        "id": one.id,
        "run": one.entry.name,
        "when": one.record.time,
        "commit": one.record.commit,
        "convention": f"{convention['name']} [{convention['fingerprint']}]",
    }


def _made(one: Stored) -> dict[str, Any]:
    return {
        "run": one.entry.name,
        "version of idealrank": one.entry.version,
        "commit": one.record.commit or None,
        "changed files": one.record.dirty,
        "lists cut at": one.fields["max_documents"],
        "queries counted": one.fields["n_queries"],
    }


def _differing(a: Mapping[str, Any], b: Mapping[str, Any], what: str) -> list[dict[str, Any]]:
    names = dict.fromkeys([*a, *b])
    return [
        {what: name, "a": a.get(name), "b": b.get(name)}
        for name in names
        if a.get(name) != b.get(name)
    ]


def _inputs(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Files by their names; of several of one name the first with the first."""
    kept = [_by_name(fields["inputs"]) for fields in (a, b)]
    found = []
    for name in dict.fromkeys([*kept[0], *kept[1]]):
        ours, theirs = (one.get(name) for one in kept)
        if ours is None or theirs is None:
            state = "only in a" if theirs is None else "only in b"
        elif not ours or not theirs:
            state = "unknown"
        else:
            state = "same" if ours == theirs else "changed"
        found.append({"name": name[0], "state": state, "a": ours or None, "b": theirs or None})
    return found


def _by_name(inputs: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], str]:
    found: dict[tuple[str, int], str] = {}
    for one in inputs:
        number = sum(1 for name, _ in found if name == one["name"])
        found[one["name"], number] = one["sha256"]
    return found


def _judgments(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    """By content where both records have its fingerprint, else by the files."""
    contents = [fields.get("judgments") for fields in (a, b)]
    if all(contents):
        return "same" if contents[0] == contents[1] else "changed"
    ours, theirs = (
        judgments_hash([(one["name"], one["sha256"]) for one in fields["inputs"]], fields["path"])
        for fields in (a, b)
    )
    if not ours or not theirs:
        return "unknown"
    return "same" if ours == theirs else "changed"


def _means(a: Stored, b: Stored, both: Sequence[str]) -> list[dict[str, Any]]:
    found = []
    for text in both:
        ours, theirs = ((one.entry.means or {}).get(text) for one in (a, b))
        found.append(
            {
                "measure": text,
                "a": ours,
                "b": theirs,
                "difference": None if ours is None or theirs is None else theirs - ours,
            }
        )
    return found


def _queries(
    a: Stored, b: Stored, measure: str, pairs: Sequence[tuple[int, int]], most: int
) -> dict[str, Any]:
    """The queries of both that changed most; one that has a value in one of them alone counts as
    changed, but has no difference.
    """
    order = np.array(pairs, np.int64).reshape(-1, 2)
    ours, theirs = a.values(measure)[order[:, 0]], b.values(measure)[order[:, 1]]
    differences = theirs - ours
    changed = np.flatnonzero((differences != 0) & ~(np.isnan(ours) & np.isnan(theirs)))
    ids = a.queries
    largest = heapq.nsmallest(
        most,
        changed.tolist(),
        key=lambda place: (_weight(differences, place), ids[pairs[place][0]]),
    )
    sides = {"a": ours, "b": theirs, "difference": differences}
    top = [
        {"query": ids[pairs[place][0]]}
        | {name: finite(float(array[place])) for name, array in sides.items()}
        for place in largest
    ]
    return {"measure": measure, "n": int(changed.size), "top": top}


def _weight(differences: FloatArray, place: int) -> float:
    """Smallest first: minus the size of the change; what has none comes last."""
    return 0.0 if math.isnan(differences[place]) else -abs(float(differences[place]))
