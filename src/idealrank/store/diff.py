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

MOST = 10  # changed queries in a table


def changes(
    a: Stored, b: Stored, *, measure: str | None = None, most: int = MOST
) -> dict[str, Any]:
    """Return the changes from a to b for JSON; a difference is always b - a."""
    both = [text for text in a.measures if text in b.measures]
    shown = next(iter(both), None) if measure is None else measure
    places = {query: place for place, query in enumerate(b.queries)}
    pairs = [(place, places[query]) for place, query in enumerate(a.queries) if query in places]
    ours, theirs = (later_defaults() | stored.fields["convention"]["switches"] for stored in (a, b))
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


def _named(stored: Stored) -> dict[str, Any]:
    convention = stored.fields["convention"]
    return {
        "id": stored.id,
        "run": stored.entry.name,
        "when": stored.record.time,
        "commit": stored.record.commit,
        "convention": f"{convention['name']} [{convention['fingerprint']}]",
    }


def _made(stored: Stored) -> dict[str, Any]:
    return {
        "run": stored.entry.name,
        "version of idealrank": stored.entry.version,
        "commit": stored.record.commit or None,
        "changed files": stored.record.dirty,
        "lists cut at": stored.fields["max_documents"],
        "queries counted": stored.fields["n_queries"],
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
    rows = []
    for name in dict.fromkeys([*kept[0], *kept[1]]):
        ours, theirs = (side.get(name) for side in kept)
        if ours is None or theirs is None:
            state = "only in a" if theirs is None else "only in b"
        elif not ours or not theirs:
            state = "unknown"
        else:
            state = "same" if ours == theirs else "changed"
        rows.append({"name": name[0], "state": state, "a": ours or None, "b": theirs or None})
    return rows


def _by_name(inputs: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], str]:
    digests: dict[tuple[str, int], str] = {}
    for input_file in inputs:
        number = sum(1 for name, _ in digests if name == input_file["name"])
        digests[input_file["name"], number] = input_file["sha256"]
    return digests


def _judgments(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    """Compare judgments by content if both records have the fingerprint, else by the files."""
    ours = a.get("judgments")
    theirs = b.get("judgments")
    if not (ours and theirs):
        ours, theirs = _files_hash(a), _files_hash(b)
    if not ours or not theirs:
        return "unknown"
    return "same" if ours == theirs else "changed"


def _files_hash(fields: Mapping[str, Any]) -> str:
    files = [(input_file["name"], input_file["sha256"]) for input_file in fields["inputs"]]
    return judgments_hash(files, fields["path"])


def _means(a: Stored, b: Stored, both: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for text in both:
        ours, theirs = ((stored.entry.means or {}).get(text) for stored in (a, b))
        difference = None if ours is None or theirs is None else theirs - ours
        rows.append({"measure": text, "a": ours, "b": theirs, "difference": difference})
    return rows


def _queries(
    a: Stored, b: Stored, measure: str, pairs: Sequence[tuple[int, int]], most: int
) -> dict[str, Any]:
    """The queries of both that changed most; one that has a value in one of them alone counts as
    changed, but has no difference.
    """
    order = np.array(pairs, np.int64).reshape(-1, 2)
    ours = a.values(measure)[order[:, 0]]
    theirs = b.values(measure)[order[:, 1]]
    differences = theirs - ours
    changed = np.flatnonzero((differences != 0) & ~(np.isnan(ours) & np.isnan(theirs)))
    ids = a.queries
    largest = heapq.nsmallest(
        most,
        changed.tolist(),
        key=lambda place: (_weight(differences, place), ids[pairs[place][0]]),
    )
    top = [
        {
            "query": ids[pairs[place][0]],
            "a": finite(float(ours[place])),
            "b": finite(float(theirs[place])),
            "difference": finite(float(differences[place])),
        }
        for place in largest
    ]
    return {"measure": measure, "n": int(changed.size), "top": top}


def _weight(differences: FloatArray, place: int) -> float:
    """Return a sort key, smallest first: minus the size of the change; no difference comes last."""
    return 0.0 if math.isnan(differences[place]) else -abs(float(differences[place]))
