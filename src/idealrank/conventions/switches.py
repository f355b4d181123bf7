"""The table of switches, gathered from the fields of `Alignment` and `Rules`; what occurs in data,
and what that leaves of a convention.
"""

from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from idealrank.data.alignment import Alignment, Occurrences, Switch
from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.rules import Rules

# The order of sentences about a convention. `settled` follows it, too: the policy for negative
# grades depends on the policy for grades before it. A switch that is not here comes last.
_ORDER = (
    "gain",
    "discount",
    "ideal",
    "no_relevant",
    "missing",
    "without_judgments",
    "ties",
    "score",
    "duplicates",
    "unjudged",
    "grades",
    "negative",
    "rounding",
    "cutoff",
    "recall_points",
)
_BESIDE_FIELDS: dict[str, Switch] = {
    field.name: field.metadata["row"] for half in (Alignment, Rules) for field in fields(half)
}
ROWS = {name: _BESIDE_FIELDS[name] for name in dict.fromkeys((*_ORDER, *_BESIDE_FIELDS))}
"""Row of each switch, by its name."""


def occurrences(
    full: Judged, full_float32: Judged, grades: FloatArray, *, judged_twice: bool
) -> Occurrences:
    """Look the cases up in an alignment that refuses and drops nothing, and in its float32 twin."""
    counters = full.alignments
    whole = np.trunc(grades)
    hits = full.hits
    hits_float32 = full_float32.hits
    # Two scores that float32 makes equal move the end of some group of ties.
    same_ties = _are_equal(hits.tie_first, hits_float32.tie_first) and _are_equal(
        hits.tie_last, hits_float32.tie_last
    )
    return Occurrences(
        near_ties=not same_ties,
        ties=hits.tie_first is not None,
        ties_float32=hits_float32.tie_first is not None,
        duplicates=judged_twice or bool(counters.duplicates.any()),
        unjudged=bool((full.lengths > counters.judged).any()),
        missing=len(full.scope.missing) > 0,
        without_judgments=full.scope.without_judgments > 0,
        fractions=bool((whole != grades).any()),
        below_one=bool(((grades < 1) & (grades != 0)).any()),
        lowest_grade=float(grades.min(initial=0.0)),
        lowest_whole=float(whole.min(initial=0.0)),
        padding=bool((whole == -1).any()),
    )


def _are_equal(first: IntArray | None, other: IntArray | None) -> bool:
    if first is None or other is None:
        return first is other
    return bool(np.array_equal(first, other))


def settled(switches: Mapping[str, str], occurs: Occurrences) -> dict[str, str]:
    """A convention's switches, each set to a fixed value if it cannot act on some data.

    Two conventions that come out equal give equal numbers there; the reverse need not hold.
    """
    settled_switches = dict(switches)
    for name, row in ROWS.items():
        if row.settle is not None:
            settled_switches[name] = row.settle(occurs, settled_switches)
    return settled_switches


def phrase(switch: str, value: str) -> str:
    """One switch in words."""
    row = ROWS[switch]
    return (
        f"{row.about} {row.long(value)}" if switch == "ties" else f"{row.about}: {row.long(value)}"
    )


def difference_phrase(switch: str, here: str, there: str) -> str:
    """The value of a switch here, in contrast to its value there."""
    row = ROWS[switch]
    return f"{row.lead} {row.short(here)} instead of {row.short(there)}"
