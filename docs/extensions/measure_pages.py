"""Entries and the table of measures, made while the site is built.

In a page of the reference, these fences stand for what the measures say of themselves, in
docstrings and class facts:

* `{measures}` with the names of families (modules of `idealrank.measures`): an entry for each of
  their classes;
* `{measure-table}`: the table of all measures.
"""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import idealrank.measures
from idealrank.measures.facts import Facts, facts_of, families, family_title
from idealrank.reports.views.measures import range_words, tie_words

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:  # tests fill pages without Sphinx
    from sphinx.application import Sphinx

from reference_tables import with_entries, with_names

FENCE = re.compile(r"^```\{measure", re.MULTILINE)
TABLE = re.compile(r"^```\{measure-table\}\n```$", re.MULTILINE)
COLUMNS = (
    "text",
    "formula",
    "range",
    "source",
    "options",
    "tie rule",
    "aggregate",
    "proven against",
)
_COMMON = ("cutoff", "judged_only")


def cells(facts: Facts) -> list[str]:
    """One row: nothing in it is written here."""
    options = "; ".join(
        f"`{one.name}`: {one.meaning}" for one in facts.parameters if one.name not in _COMMON
    )
    common = ", ".join(f"`{one.name}`" for one in facts.parameters if one.name in _COMMON)
    named = (
        facts.trec_names
        and f"; trec_eval prints {', '.join(f'`{name}`' for name in facts.trec_names)}"
    )
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


def measure_table() -> str:
    """The table, a part for each family."""
    lines = []
    for classes in families().values():
        lines += [f"## {escaped(family_title(classes)).partition(':')[0].rstrip('.')}", ""]
        lines += [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
        lines += [
            f"| {' | '.join(escaped(cell) for cell in cells(facts_of(cls)))} |" for cls in classes
        ]
        lines.append("")
    return "\n".join(lines).rstrip("\n")


def expanded(page: str) -> str:
    """A page with its fences filled, and a row for each of its names."""
    return TABLE.sub(lambda _: measure_table(), with_entries(with_names(page)))


def expand(app: "Sphinx", _docname: str, source: list[str]) -> None:
    """Fill a page that is read; it is read again when a measure changes."""
    if FENCE.search(source[0]):
        source[0] = expanded(source[0])
        for path in Path(idealrank.measures.__file__).parent.glob("*.py"):
            app.env.note_dependency(str(path))


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("source-read", expand)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
