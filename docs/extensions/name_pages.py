"""A page for each name that the reference lists, written before the site is read.

They are in docs/reference/api, which no commit has. Their sidebar lists the names of the page that
lists them.
"""

import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # tests make pages without Sphinx
    from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from docs.reference_entries import FOLDER, PAGES, Entry, entries_of
from idealrank.measures.facts import Facts, facts_of
from idealrank.reports.views.measures import range_words, tie_words

_OTHERS = 4  # names of other tools in a title


@cache
def listed() -> dict[str, list[Entry]]:
    """The names of each page of the reference."""
    pages = {
        path.stem: entries_of(path.read_text(encoding="utf-8"))
        for path in sorted(FOLDER.glob("*.md"))
    }
    return {name: entries for name, entries in pages.items() if entries}


def page_of(entry: Entry, listed_on: str) -> str:
    """The text of a page, in reStructuredText, as docstrings are."""
    title = entry.title
    facts: list[str] = []
    if entry.is_measure:
        known = facts_of(entry.value)
        title = measure_title(known)
        facts = [*_facts(known), ""]
    return "\n".join(
        [
            ":orphan:",
            "",
            title,
            "=" * len(title),
            "",
            f"Part of :doc:`/reference/{listed_on}`.",
            "",
            *facts,
            f".. {entry.kind}:: {entry.path}{entry.options}",
            "",
        ]
    )


def measure_title(facts: Facts) -> str:
    """The name of a measure, its names in other tools, and the first words of its sentence."""
    others = [name for name in facts.spellings if name.lower() != facts.name.lower()]
    known = f" ({', '.join(others[:_OTHERS])})" if others else ""
    words = re.split(r"[:;,.](?:\s|$)", facts.idea)[0]
    return f"{facts.name}{known}: {words}"


def _facts(facts: Facts) -> list[str]:
    rows = {
        "Written": f"``{facts.text}``" + (f" (of {', '.join(facts.needs)})" if facts.needs else ""),
        "Formula": f"``{facts.formula}``" if facts.formula else "",
        "Range": range_words(facts),
        "Tie rule": f"{tie_words(facts)} (for ``ties=expected``)",
        "Aggregate": facts.aggregate,
        "Use": facts.use,
        "Proven against": facts.proof,
        "trec_eval prints": ", ".join(f"``{name}``" for name in facts.trec_names),
        "Also written": ", ".join(f"``{name}``" for name in facts.spellings),
    }
    lines = [".. list-table::", "   :widths: 20 80", ""]
    for heading, text in rows.items():
        if text:
            lines += [f"   * - {heading}", f"     - {text}"]
    return lines


def write_pages(_app: "Sphinx") -> None:
    """Write the pages that changed, and remove those whose name is gone."""
    home = FOLDER / PAGES
    texts = {}
    for listed_on, entries in listed().items():
        for entry in entries:
            texts[FOLDER / f"{entry.page}.rst"] = page_of(entry, listed_on)
    for path in set(home.rglob("*.rst")) - set(texts):
        path.unlink()
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def add_siblings(
    _app: "Sphinx", pagename: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Give the sidebar of a page the names that are listed with it."""
    prefix = f"reference/{PAGES}/"
    if not pagename.startswith(prefix):
        return
    own = pagename.removeprefix("reference/")
    for listed_on, entries in listed().items():
        if own in (entry.page for entry in entries):
            context["listed_on"] = f"reference/{listed_on}"
            context["siblings"] = [(entry.word, f"reference/{entry.page}") for entry in entries]


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.connect("html-page-context", add_siblings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
