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
    common_measures = [text for text in a.measures if text in b.measures]
    by = next(iter(common_measures), None) if measure is None else measure
    in_b = set(b.queries)
    common_queries = [query for query in a.queries if query in in_b]
    return {
        "a": _named(a),
        "b": _named(b),
        "inputs": _inputs(a.fields, b.fields),
        "judgments": _judgments(a.fields, b.fields),
        "convention": _differing(_switches(a), _switches(b), "switch"),
        "made": _differing(_made(a), _made(b), "what"),
        "measures": {
            "both": common_measures,
            "only_a": [text for text in a.measures if text not in common_measures],
            "only_b": [text for text in b.measures if text not in common_measures],
        },
        "means": _means(a, b, common_measures),
        "queries": {
            "both": len(common_queries),
            "only_a": [query for query in a.queries if query not in in_b],
            "only_b": sorted(in_b - set(a.queries)),
        },
        "changed_queries": None if by is None else _queries(a, b, by, common_queries, most),
    }


def _switches(stored: Stored) -> dict[str, str]:
    return {**later_defaults(), **stored.fields["convention"]["switches"]}


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
    digests_a = _digests(a["inputs"])
    digests_b = _digests(b["inputs"])
    rows = []
    for key in dict.fromkeys([*digests_a, *digests_b]):
        in_a = digests_a.get(key)
        in_b = digests_b.get(key)
        if in_a is None or in_b is None:
            state = "only in a" if in_b is None else "only in b"
        elif not in_a or not in_b:
            state = "unknown"
        else:
            state = "same" if in_a == in_b else "changed"
        name, _ = key
        rows.append({"name": name, "state": state, "a": in_a or None, "b": in_b or None})
    return rows


def _digests(inputs: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], str]:
    """SHA-256 by name and number among the files of one name; empty where it is not known."""
    digests: dict[tuple[str, int], str] = {}
    for input_file in inputs:
        number = sum(1 for name, _ in digests if name == input_file["name"])
        digests[input_file["name"], number] = input_file["sha256"]
    return digests


def _judgments(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    """Compare judgments by content if both records have the fingerprint, else by the files."""
    in_a = a.get("judgments")
    in_b = b.get("judgments")
    if not (in_a and in_b):
        in_a = _files_hash(a)
        in_b = _files_hash(b)
    if not in_a or not in_b:
        return "unknown"
    return "same" if in_a == in_b else "changed"


def _files_hash(fields: Mapping[str, Any]) -> str:
    files = [(input_file["name"], input_file["sha256"]) for input_file in fields["inputs"]]
    return judgments_hash(files, fields["path"])


def _means(a: Stored, b: Stored, measures: Sequence[str]) -> list[dict[str, Any]]:
    means_a = a.entry.means or {}
    means_b = b.entry.means or {}
    rows = []
    for text in measures:
        in_a = means_a.get(text)
        in_b = means_b.get(text)
        difference = None if in_a is None or in_b is None else in_b - in_a
        rows.append({"measure": text, "a": in_a, "b": in_b, "difference": difference})
    return rows


def _queries(
    a: Stored, b: Stored, measure: str, queries: Sequence[str], most: int
) -> dict[str, Any]:
    """The common queries that changed most; a query with a value in one evaluation alone counts as
    changed, but has no difference.
    """
    values_a = _values_of(a, measure, queries)
    values_b = _values_of(b, measure, queries)
    differences = values_b - values_a
    changed = np.flatnonzero((differences != 0) & ~(np.isnan(values_a) & np.isnan(values_b)))
    largest = heapq.nsmallest(
        most,
        changed.tolist(),
        key=lambda place: (_weight(differences, place), queries[place]),
    )
    top = [
        {
            "query": queries[place],
            "a": finite(float(values_a[place])),
            "b": finite(float(values_b[place])),
            "difference": finite(float(differences[place])),
        }
        for place in largest
    ]
    return {"measure": measure, "n": int(changed.size), "top": top}


def _values_of(stored: Stored, measure: str, queries: Sequence[str]) -> FloatArray:
    rows = {query: row for row, query in enumerate(stored.queries)}
    return stored.values(measure)[np.array([rows[query] for query in queries], np.int64)]


def _weight(differences: FloatArray, place: int) -> float:
    """Return a sort key, smallest first: minus the size of the change; no difference comes last."""
    return 0.0 if math.isnan(differences[place]) else -abs(float(differences[place]))
