"""Write docs/concepts/edge-cases.md from the values recorded from the tools: ``python
docs/edge_cases.py [--check]``.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
GOLDEN = DOCS.parent / "tests" / "golden"
PAGE = DOCS / "concepts" / "edge-cases.md"

# Fixture, and what is on its edge.
CASES = {
    "plain": "all documents returned and judged, no ties",
    "not-returned": "two relevant documents were not returned",
    "tied-pairs": "pairs of equal scores",
    "near-ties": "scores that are equal in single precision only",
    "tied-unjudged": "equal scores, some documents unjudged",
    "none-relevant": "a judged query without a relevant document",
    "nothing-judged": "no returned document is judged",
    "short": "fewer documents returned than relevant",
    "negative": "negative grades",
    "fractions": "fractional grades",
    "unanswered": "mean of two queries, of which the run answers one",
    "without-judgments": "mean of two queries, of which one has no judgments",
}

HEAD = """# Edge cases

<!-- Written by docs/edge_cases.py from tests/golden; do not edit. -->

This table shows the NDCG (without a cutoff) of each tool, recorded from the tool itself by `python -m tests.golden.make`. A dash means that
the tool refuses the input, or would hang or crash. `none` means that the tool leaves the query out. The test suite compares the preset of
each tool with every value in the table, and with the values at the cutoffs 1, 2, 4 and 10.
"""  # noqa: E501


def shown(value: Any) -> str:
    """A recorded value in five digits."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else f"{value:.5f}"


def cell(call: dict[str, Any], case: str) -> str:
    """Mean over the queries of a fixture that the tool gave a value."""
    by_query = call["values"].get(case, {}).get("all")
    if by_query is None:
        return "-"
    numbers = [value for value in by_query.values() if isinstance(value, float)]
    if not numbers:
        return shown(next(iter(by_query.values()), None))
    return shown(sum(numbers) / len(numbers))


def rows_of(fixture: dict[str, list[list[Any]]]) -> str:
    """A fixture as text: grades by falling score, ties joined, what was not returned behind a
    bar.
    """
    texts = []
    for query, rows in fixture.items():
        listed = [
            f"{document}:{'?' if grade is None else f'{grade:g}'}@{score}"
            for document, score, grade in rows
            if score is not None
        ]
        missed = [f"{document}:{grade:g}" for document, score, grade in rows if score is None]
        texts.append(
            f"`{query}` "
            + " ".join(f"`{text}`" for text in listed)
            + (" not returned " + " ".join(f"`{t}`" for t in missed) if missed else "")
        )
    return "; ".join(texts)


def page() -> str:
    """The whole page."""
    fixtures = json.loads((GOLDEN / "fixtures.json").read_text(encoding="utf-8"))["fixtures"]
    calls = json.loads((GOLDEN / "peers.json").read_text(encoding="utf-8"))["calls"]
    lines = [HEAD, "| tool | " + " | ".join(CASES) + " |", "|---" * (len(CASES) + 1) + "|"]
    lines += [
        f"| {call['peer']} {call['version']}: `{call['call']}` | "
        + " | ".join(cell(call, case) for case in CASES)
        + " |"
        for call in calls
        if any("all" in call["values"].get(case, {}) for case in CASES)
    ]
    lines += [
        "",
        "## The cases",
        "",
        "Each row is `document:grade@score` in input order; `?` is an unjudged document.",
        "",
    ]
    lines += [f"* **{case}**: {words}. {rows_of(fixtures[case])}" for case, words in CASES.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page, or say that it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 if the page is not what would be written"
    )
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        sys.exit("docs/concepts/edge-cases.md is out of date; run: python docs/edge_cases.py")


if __name__ == "__main__":
    main()
