"""The tables of `judgment_reach`, from its cells."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from judged_pools import MEASURES, SOURCES

ALPHA = 0.05
BEFORE, CHOSEN = "old rule", "rule"
SHOWN = ("all judged", "as judged", BEFORE, CHOSEN)
PLAIN = ("nDCG@10", "P@10", "RR@10")
MISSING_TRUTHS = ("equal", "better", "worse")
KINDS = ("pools", "missing", "crossing", "crossing, others", "hidden", "positive labels")
REPORTED = ("A 10, B 10", "A 12, B 4", "A 10", "A 6, B 6", "2 others, 10", "2 others, 20")

# Where both first tens are judged, a rule has nothing to doubt: what is left is the ideal, which
# lacks the unjudged documents.
GROUPS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "one side": lambda cell: (
        cell["kind"] == "pools" and cell["pool"] in ("A 12, B 6", "A 12, B 4", "A 10")
    ),
    "both sides": lambda cell: cell["kind"] == "pools" and cell["pool"] in ("A 6, B 6", "A 4, B 4"),
    "neither": lambda cell: cell["kind"] == "pools" and "other" in cell["pool"],
    "a relative of A": lambda cell: cell["kind"] == "pools" and "relative" in cell["pool"],
    "new documents": lambda cell: cell["kind"] == "missing" and "new" in cell["pool"],
    "at random": lambda cell: (
        cell["kind"] == "missing" and cell["pool"].endswith("random") and "new" not in cell["pool"]
    ),
    "negatives": lambda cell: cell["kind"] == "missing" and "negatives" in cell["pool"],
    "crossing, all judged": lambda cell: (
        cell["kind"] == "crossing" and cell["pool"] == "A 10, B 10"
    ),
    "crossing, own pools": lambda cell: cell["kind"] == "crossing" and cell["pool"] != "A 10, B 10",
    "crossing, others' pools": lambda cell: cell["kind"] == "crossing, others",
    "hidden": lambda cell: cell["kind"] == "hidden",
}


def lined(head: Sequence[str], body: Sequence[Sequence[str]], words: int) -> list[str]:
    """A Markdown table; the first columns have words, the others numbers."""
    rule = "|" + "|".join(["---"] * words + ["---:"] * (len(head) - words)) + "|"
    return [f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(line)} |" for line in body)]


def rivals(found: Sequence[dict[str, Any]]) -> list[str]:
    """Each rule: the largest share of wrong verdicts in each group of cells, and its power where
    judged alike (250 queries).
    """
    names = [name for name in found[0]["wrong"] if name != "all judged"]
    most = max(cell["queries"] for cell in found)
    powered = {
        group: [
            c
            for c in found
            if GROUPS[group](c) and c["truth"] in ("better", "worse") and c["queries"] == most
        ]
        for group in ("both sides", "neither", "at random")
    }
    body = []
    for rule in ("all judged", *names):
        line = [
            rule,
            *(
                f"{max((c['wrong'][rule] for c in found if holds(c)), default=float('nan')):.3f}"
                for holds in GROUPS.values()
            ),
        ]
        line += [
            f"{np.mean([cell['right'][rule] for cell in part]):.2f}" for part in powered.values()
        ]
        body.append(line)
    return lined(["rule", *GROUPS, *(f"power, {group}" for group in powered)], body, 1)


def pool_lines(found: Sequence[dict[str, Any]]) -> list[str]:
    """Each pool: the largest share of wrong verdicts over worlds, measures and truths, and the mean
    share of right ones.
    """
    cells_of = [cell for cell in found if cell["kind"] in ("pools", "missing")]
    body = []
    for pool in dict.fromkeys(cell["pool"] for cell in cells_of):
        for queries in sorted({cell["queries"] for cell in cells_of}):
            part = [cell for cell in cells_of if (cell["pool"], cell["queries"]) == (pool, queries)]
            line = [
                pool,
                f"{queries:,}",
                *(f"{max(cell['wrong'][rule] for cell in part):.3f}" for rule in SHOWN),
            ]
            for truth, shown in (("better", SHOWN), ("worse", SHOWN[1:])):
                right = [
                    [cell["right"][rule] for rule in shown]
                    for cell in part
                    if cell["truth"] == truth
                ]
                line += [f"{share:.2f}" for share in np.mean(right, axis=0)]
            body.append(line)
    head = ["pool", "queries", "wrong: all judged", "as judged", BEFORE, CHOSEN]
    head += [
        "B better, found: all judged",
        "as judged",
        BEFORE,
        CHOSEN,
        "B worse, found: as judged",
        BEFORE,
        CHOSEN,
    ]
    return lined(head, body, 1)


def measure_lines(found: Sequence[dict[str, Any]], queries: int) -> list[str]:
    """The reported pools by measure (some relevant): wrong verdicts and power, before and after."""
    part = [
        c
        for c in found
        if c["world"] == "some relevant"
        and c["queries"] == queries
        and c["kind"] in ("pools", "missing")
    ]
    body = []
    for pool in dict.fromkeys(
        cell["pool"] for cell in part if cell["pool"] in REPORTED or cell["kind"] == "missing"
    ):
        for measure in PLAIN:
            by_truth = {
                cell["truth"]: cell
                for cell in part
                if (cell["pool"], cell["measure"]) == (pool, measure)
            }
            line = [pool, measure]
            line += [
                f"{max(by_truth[truth]['wrong'][rule] for truth in MISSING_TRUTHS):.3f}"
                for rule in SHOWN
            ]
            for truth in ("better", "worse"):
                line += [f"{by_truth[truth]['right'][rule]:.2f}" for rule in SHOWN]
            body.append(line)
    head = ["pool", "measure"]
    for title in ("wrong", "B better, found", "B worse, found"):
        head += [f"{title}: {SHOWN[0]}", *SHOWN[1:]]
    return lined(head, body, 2)


def positive_lines(found: Sequence[dict[str, Any]], queries: int) -> list[str]:
    """Labels that name relevant documents alone, by source and measure."""
    part = [
        cell for cell in found if cell["kind"] == "positive labels" and cell["queries"] == queries
    ]
    body = []
    for source in dict.fromkeys(cell["pool"] for cell in part):
        for measure in PLAIN:
            by_truth = {
                cell["truth"]: cell
                for cell in part
                if (cell["pool"], cell["measure"]) == (source, measure)
            }
            line = [SOURCES[source], measure]
            line += [
                f"{max(cell['wrong'][rule] for cell in by_truth.values()):.3f}"
                for rule in ("as judged", CHOSEN)
            ]
            line += [
                f"{by_truth[truth]['right'][rule]:.2f}"
                for truth in ("better", "worse")
                for rule in ("as judged", CHOSEN)
            ]
            body.append(line)
    head = ["labels", "measure", "wrong: as judged", "rule", "B better, found: as judged", "rule"]
    return lined([*head, "B worse, found: as judged", "rule"], body, 2)


def cell_lines(part: Sequence[dict[str, Any]]) -> list[str]:
    """Wrong and right verdicts of single cells: with all judged, as judged, and by the old rule and
    the rule.
    """
    shown = [rule for rule in SHOWN if rule in part[0]["wrong"]]
    head = ["truth", "pool", "queries", "true", "as judged", "unjudged A", "B"]
    for title in ("wrong", "right"):
        head += [f"{title}: {shown[0]}", *shown[1:]]
    body = []
    for cell in part:
        right = [cell["right"][rule] for rule in shown]
        body.append(
            [
                cell["truth"],
                cell["pool"],
                f"{cell['queries']:,}",
                f"{cell['difference']:+.3f}",
                f"{cell['as_judged']:+.3f}",
                f"{cell['unjudged_a']:.0%}",
                f"{cell['unjudged_b']:.0%}",
                *(f"{cell['wrong'][rule]:.3f}" for rule in shown),
                *("" if share is None else f"{share:.2f}" for share in right),
            ]
        )
    return lined(head, body, 2)


def rate_lines(found: Sequence[dict[str, Any]]) -> list[str]:
    """Relevant share of unjudged documents, and of judged documents at the same ranks."""
    body = []
    for cell in found:
        if (
            cell["relevant"]
            and cell["kind"] == "pools"
            and cell["truth"] == "equal"
            and cell["queries"] == found[0]["queries"]
        ):
            shares = cell["relevant"]
            ratio = shares["unjudged"] / shares["judged"] if shares["judged"] else float("nan")
            body.append(
                [
                    cell["world"],
                    cell["measure"],
                    cell["pool"],
                    *(f"{share:.2f}" for share in shares.values()),
                    f"{ratio:.2f}",
                ]
            )
    return lined(
        [
            "world",
            "measure",
            "pool",
            "judged",
            "judged, alone",
            "unjudged, alone",
            "unjudged : judged",
        ],
        body,
        3,
    )


def tables(found: dict[str, Any]) -> list[str]:
    """All of the answer as Markdown."""
    rows = found["cells"]
    lines = ["**rules**", "", *rivals(rows), "", "**by pool**", "", *pool_lines(rows), ""]
    for queries in sorted({cell["queries"] for cell in rows}):
        lines += [f"**by measure: {queries:,} queries**", "", *measure_lines(rows, queries), ""]
        lines += [
            f"**only relevant documents labelled: {queries:,} queries**",
            "",
            *positive_lines(rows, queries),
            "",
        ]
    for kind in KINDS:
        for world in dict.fromkeys(cell["world"] for cell in rows if cell["kind"] == kind):
            for measure in MEASURES:
                part = [
                    cell
                    for cell in rows
                    if (cell["kind"], cell["world"], cell["measure"]) == (kind, world, measure)
                ]
                if part:
                    lines += [f"**{kind}: {world}, {measure}**", "", *cell_lines(part), ""]
    lines += ["**relevance**", "", *rate_lines(rows), ""]
    error = (ALPHA * (1 - ALPHA) / found["runs"]) ** 0.5
    lines.append(
        f"{found['runs']:,} replicates a cell: a share of {ALPHA} has a standard error of "
        f"{error:.4f}."
    )
    return lines
