"""Measures in words: all of them by family, or everything about one; as text and as JSON."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from idealrank.measures.facts import Facts
from idealrank.measures.measure_texts import number_text
from idealrank.reports.table.records import result_json
from idealrank.reports.table.text import columns, filled

# Advice: an aim, the measure for it, and the reason; each measure also has sentences under `use`.
ADVICE = (
    ("one right answer per query", "RR", "only the first right answer counts"),
    ("several relevant documents, binary labels", "AP", "all of them count, higher ranks more"),
    (
        "graded labels, the top counts most",
        "nDCG@10",
        "better documents and higher ranks count more",
    ),
    ("candidates for a reranker", "R@100", "only documents among them can be found later"),
)
_TIES = {
    "closed form": "exact mean over all orders of tied documents",
    "not affected": "the order of tied documents does not matter",
    "not offered": "no mean over the orders of tied documents; ties=docid, input, best or worst",
}
_DIRECTIONS = {1: "more is better", -1: "less is better", 0: "neither higher nor lower is better"}
_AGGREGATES = {
    "mean": "mean over the queries",
    "sum": "sum over the queries",
    "geometric": "geometric mean over the queries",
    "text": "none: text",
}
_LABEL = 14  # width of the labels of a card


def tie_words(facts: Facts) -> str:
    """Describe the tie rule in words."""
    if facts.kind == "pair of runs" and facts.ties == "not offered":
        return "no mean over the orders of tied documents; ties=shared, docid or input"
    return _TIES[facts.ties]


def range_words(facts: Facts) -> str:
    """Describe the least and greatest value in words."""
    low, high = facts.bounds
    if math.isinf(low) and math.isinf(high):
        return "any number"
    if math.isinf(high):
        return f"{number_text(low)} and more"
    if math.isinf(low):
        return f"{number_text(high)} and less"
    return number_text(low) if low == high else f"{number_text(low)} to {number_text(high)}"


def direction_words(facts: Facts) -> str:
    """State the better direction in words."""
    return _DIRECTIONS[facts.direction]


def plain(text: str) -> str:
    """Return the text of a docstring without its backticks."""
    return text.replace("`", "")


def measures_table(listed: Iterable[tuple[str, Sequence[Facts]]]) -> str:
    """Write a table of all measures by family, and the advice on choosing one."""
    families = list(listed)
    width = max(len(facts.text) for _, members in families for facts in members)
    lines = []
    for title, members in families:
        lines += filled(plain(title))
        for facts in members:
            head = f"  {facts.text.ljust(width)}  "
            lines += filled(facts.summary, head)
        lines.append("")
    rows = [["what is measured", "choose", "why"], *map(list, ADVICE)]
    lines += [
        *columns(rows, left=(0, 1, 2)),
        "",
        "idealrank measures NAME explains measures; k is a cutoff; parts in [] are optional.",
    ]
    return "\n".join(lines) + "\n"


def measure_card(facts: Facts) -> str:
    """Describe one measure in full."""
    looks_at = facts.kind + (f"; needs {', '.join(facts.needs)}" if facts.needs else "")
    rows = [
        ("formula", facts.formula),
        ("range", f"{range_words(facts)}; {direction_words(facts)}"),
        ("aggregate", _AGGREGATES[facts.aggregate]),
        ("ties", tie_words(facts)),
        ("kind", looks_at),
        ("use", facts.use),
        ("source", facts.source),
        ("proof", facts.proof),
        ("trec_eval", ", ".join(facts.trec_names) or "has no such measure"),
        ("also written", ", ".join(facts.spellings)),
        ("in Python", f"idealrank.{facts.class_name}" if facts.family else facts.class_name),
    ]
    lines = [f"{facts.text}: {facts.summary}", "", *filled(plain(facts.idea)), ""]
    for label, text in rows:
        if text:
            lines += _labelled(label, plain(text))
    return "\n".join([*lines, *_options(facts)]) + "\n"


def _options(facts: Facts) -> list[str]:
    lines = ["", "options"]
    for parameter in facts.parameters:
        words = plain(parameter.meaning)
        words += f" ({plain(parameter.values)})" if parameter.values else ""
        lines += _labelled(f"  {parameter.name}", words)
    if facts.from_convention:
        unset = ", ".join(facts.from_convention)
        lines += ["", f"Options taken from the convention if unset: {unset}."]
    return lines


def _labelled(label: str, text: str) -> list[str]:
    return filled(text, label.ljust(_LABEL) + "  ")


def measures_record(listed: Iterable[Facts]) -> str:
    """Write measures as JSON: the facts by name of the measure, with measures of two runs in a map
    of their own, and the advice of the table.
    """
    advice = [{"what": what, "choose": choose, "why": why} for what, choose, why in ADVICE]
    tables: dict[str, dict[str, Any]] = {"measures": {}, "pair_measures": {}}
    for facts in listed:
        kind = "pair_measures" if facts.kind == "pair of runs" else "measures"
        tables[kind][facts.name] = _record(facts)
    return result_json({**tables, "advice": advice}, ascii_only=False)


def _record(facts: Facts) -> dict[str, Any]:
    record = asdict(facts)
    bounds = record.pop("bounds")
    return {**record, "range": [None if math.isinf(bound) else bound for bound in bounds]}
