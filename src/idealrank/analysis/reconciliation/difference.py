"""The difference of two conventions, shared out among their switches: what `split_difference` gives."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from idealrank.analysis.reconciliation.result import wrapped
from idealrank.conventions.switches import ROWS, difference_phrase

Method: TypeAlias = Literal["average over orders", "path"]


@dataclass(frozen=True)
class QueryPart:
    """Contribution of one query to one part of a split."""

    query: str
    part: float


@dataclass(frozen=True)
class SplitPart:
    """Contribution of one switch, or of a few that only act together.

    Attributes
    ----------
    switches : tuple of str
        Nearly always one.
    before, after : tuple of str
        Their values in the two conventions.
    part : float
        Its share of the difference.
    alone, last : float or None
        What it changes when it is changed first, and last; None where only one order was walked.
    low, high : float or None
        The least and the greatest that it changes in any order.
    queries : tuple of QueryPart
        The queries that add most to `part`.
    """

    switches: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    part: float
    alone: float | None
    last: float | None
    low: float | None
    high: float | None
    queries: tuple[QueryPart, ...]

    @property
    def noun(self) -> str:
        """The switch as a cause, in words."""
        return " with ".join(ROWS[switch].noun for switch in self.switches)

    @property
    def words(self) -> str:
        """Description of the change."""
        sides = zip(self.switches, self.after, self.before, strict=True)
        return "; ".join(difference_phrase(switch, after, before) for switch, after, before in sides)


@dataclass(frozen=True)
class ConventionChange:
    """A query under both conventions.

    Attributes
    ----------
    query : str
        Query id.
    a, b : float or None
        Its values; None where it does not count.
    share : float
        What it adds to the difference; the shares of all queries add up to it.
    mostly : str
        The switch that moves it most.
    """

    query: str
    a: float | None
    b: float | None
    share: float
    mostly: str


@dataclass(frozen=True)
class DifferenceSplit:
    """Difference between the values of two conventions, split by switch.

    Attributes
    ----------
    measure : str
        Text of the measure.
    a, b, fingerprint_a, fingerprint_b : str
        Texts and fingerprints of the two conventions.
    value_a, value_b, difference : float
        Values of the two conventions, and `value_b` - `value_a`.
    method : {"average over orders", "path"}
        Each part is the effect of its switch averaged over all orders of changing the switches (the Shapley value), or its effect along one
        order, the order of `parts`.
    orders : int
        Number of orders averaged.
    parts : tuple of SplitPart
        Parts, which sum to the difference; largest first, or in the order of the path.
    idle : tuple of str
        Switches that differ but change no query's value on these data.
    queries : tuple of ConventionChange
        Queries with the largest changes.
    n_queries : int
        Number of queries that count under either convention.

    Examples
    --------
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> from idealrank.analysis.reconciliation import split_difference
    >>> split = split_difference(Qrels({"q": {"a": 3, "b": 1, "c": 2}}), Run({"q": ["b", "a"]}), "nDCG", "standard", "lightgbm")
    >>> [(part.switches, round(part.part, 4)) for part in split.parts], round(split.difference, 4)
    ([(('ideal',), 0.1612), (('gain',), -0.0589)], 0.1023)
    """

    measure: str
    a: str
    b: str
    fingerprint_a: str
    fingerprint_b: str
    value_a: float
    value_b: float
    difference: float
    method: Method
    orders: int
    parts: tuple[SplitPart, ...]
    idle: tuple[str, ...]
    queries: tuple[ConventionChange, ...]
    n_queries: int

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record.

        Examples
        --------
        >>> from idealrank.data.qrels import Qrels
        >>> from idealrank.data.run import Run
        >>> from idealrank.analysis.reconciliation import split_difference
        >>> split_difference(Qrels({"q": {"a": 1}}), Run({"q": ["a"]}), "nDCG", "standard", "rax").as_dict()["difference"]
        0.0
        """
        parts = [
            {**asdict(part), "switches": list(part.switches), "before": list(part.before), "after": list(part.after), "words": part.words,
             "queries": [asdict(query) for query in part.queries]}
            for part in self.parts
        ]  # fmt: skip
        return {
            "measure": self.measure,
            "a": {"name": self.a, "fingerprint": self.fingerprint_a, "value": self.value_a},
            "b": {"name": self.b, "fingerprint": self.fingerprint_b, "value": self.value_b},
            "difference": self.difference,
            "method": self.method,
            "orders": self.orders,
            "parts": parts,
            "idle": list(self.idle),
            "queries": [asdict(query) for query in self.queries],
            "n_queries": self.n_queries,
        }

    def __str__(self) -> str:
        return "\n".join([*_head(self), *_table(self), *_notes(self), *_queries(self)])


def _head(split: DifferenceSplit) -> list[str]:
    a, b = f"{split.a} [{split.fingerprint_a}]", f"{split.b} [{split.fingerprint_b}]"
    text = f"{split.measure} is {split.value_a:.6f} under {a} and {split.value_b:.6f} under {b}: {split.difference:+.6f}."
    return [*wrapped(text), ""]


def _table(split: DifferenceSplit) -> list[str]:
    if not split.parts:
        same = "They are the same convention for this measure."
        return ["No switch in which they differ changes a value here." if split.idle else same]
    ordered = split.parts[0].alone is not None and len(split.parts) > 1
    rows = [["part", *(["first", "last"] if ordered else []), "what", "from", "to"]]
    for part in split.parts:
        orders = [f"{part.alone:+.6f}", f"{part.last:+.6f}"] if ordered else []
        before, after = (", ".join(map(_short, part.switches, values)) for values in (part.before, part.after))
        rows.append([f"{part.part:+.6f}", *orders, part.noun, before, after])
    rows.append([f"{split.difference:+.6f}", *(["", ""] if ordered else []), "all together", "", ""])
    return _columns(rows)


def _short(switch: str, value: str) -> str:
    return ROWS[switch].short(value)


def _notes(split: DifferenceSplit) -> list[str]:
    lines = []
    if split.method == "path":
        lines = ["Parts along one path: each switch is changed after those above it. Another order gives other parts with the same sum."]
    elif split.orders > 1:
        lines = [
            f"Each part is the average over all {split.orders:,} orders of changing the {len(split.parts)} switches; 'first' and 'last' "
            "say what a switch changes before, and after, all others are changed. Where they differ, the switches act on each other."
        ]
    if split.idle:
        lines.append(f"They also differ, without effect on these data, in: {', '.join(split.idle)}.")
    return [piece for line in lines for piece in ("", *wrapped(line))]


def _queries(split: DifferenceSplit) -> list[str]:
    if not split.queries:
        return []
    rows = [["query", split.a, split.b, "share", "mostly"]]
    for query in split.queries:
        sides = ["left out" if value is None else f"{value:.6f}" for value in (query.a, query.b)]
        noun = next((part.noun for part in split.parts if query.mostly == " with ".join(part.switches)), "")
        rows.append([query.query, *sides, f"{query.share:+.6f}", noun])
    head = f"The queries with the largest shares (all {split.n_queries:,} shares add up to the difference):"
    return ["", head, *_columns(rows)]


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
