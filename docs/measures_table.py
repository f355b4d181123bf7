"""Write docs/reference/measures-table.md from what the measures say of themselves: ``python docs/measures_table.py [--check]``.

Text, formula, source and options come from docstrings, the rest from class facts, so the page cannot disagree with the code.
"""

import argparse
import re
import sys
from pathlib import Path

from idealrank.measures.facts import Facts, facts_of, families, family_title
from idealrank.reports.views.measures import range_words, tie_words

PAGE = Path(__file__).resolve().parent / "reference" / "measures-table.md"

HEAD = """# All measures in a table

<!-- Written by docs/measures_table.py from the measures' own facts; do not edit. -->

`idealrank measures NAME` prints the row of one measure, and when to use it. k is a cutoff; `[]` marks an optional part. Every measure of
one run has two more options: `judged_only` first removes unjudged documents from the list, and `cutoff` is k. The convention decides how
ties are broken; the column *tie rule* is for `ties=expected`.
"""
COLUMNS = ("text", "formula", "range", "source", "options", "tie rule", "aggregate", "proven against")
_COMMON = ("cutoff", "judged_only")


def cells(facts: Facts) -> list[str]:
    """One row: nothing in it is written here."""
    options = "; ".join(f"`{one.name}`: {one.meaning}" for one in facts.parameters if one.name not in _COMMON)
    common = ", ".join(f"`{one.name}`" for one in facts.parameters if one.name in _COMMON)
    named = facts.trec_names and f"; trec_eval prints {', '.join(f'`{name}`' for name in facts.trec_names)}"
    return [
        f"`{facts.text}`" + (f" (of {', '.join(facts.needs)})" if facts.needs else ""),
        f"`{facts.formula}`" if facts.formula else "",
        range_words(facts),
        facts.source.rstrip(".") + named if named and facts.source else facts.source,
        "; ".join(filter(None, (re.sub(r"(?<!\.)\.; ", "; ", options).rstrip("."), common))),
        tie_words(facts),
        facts.aggregate,
        facts.proof,
    ]


def escaped(cell: str) -> str:
    """A cell as Markdown: bars would end it, and docstrings write code with two backticks."""
    return re.sub(r"``(.+?)``", r"`\1`", cell).replace("|", "\\|")


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for classes in families().values():
        lines += [f"## {escaped(family_title(classes)).partition(':')[0].rstrip('.')}", ""]
        lines += [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
        lines += [f"| {' | '.join(escaped(cell) for cell in cells(facts_of(cls)))} |" for cls in classes]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def main() -> None:
    """Write the page, or say that it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit with 1 if the page is not what would be written")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        sys.exit("docs/reference/measures-table.md is out of date; run: python docs/measures_table.py")


if __name__ == "__main__":
    main()
