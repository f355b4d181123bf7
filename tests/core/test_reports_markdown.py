"""Tables to paste: names and ids stay in their cells, by an independent reader of Markdown."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from markdown_it import MarkdownIt

import idealrank as ir
from idealrank.reports.views.comparison.markup import comparison_markdown

NAMES = ["a|b", "<script>x</script>", "<!-- c", "&lt;d", "e\nf", "plain"]


def cells_of(text: str) -> list[str]:
    """The texts of all cells; fails where anything in one is not plain text."""
    parsed = MarkdownIt("commonmark").enable("table").parse(text)
    inner = [token for before, token in pairwise(parsed) if before.type in ("td_open", "th_open")]
    assert all(
        child.type in ("text", "text_special", "strong_open", "strong_close")
        for token in inner
        for child in token.children or ()
    )
    return ["".join(child.content for child in token.children or ()) for token in inner]


def test_names_stay_in_their_cells() -> None:
    qrels = {f"q{place}": {"x": 1} for place in range(6)}
    made = ir.evaluate(qrels, {query: ["x"] for query in qrels}, "RR")
    runs = [
        replace(made, name=name, values=np.full((6, 1), place / 10))
        for place, name in enumerate(NAMES)
    ]

    comparison = ir.compare(*runs, slices=dict.fromkeys(qrels, NAMES[:5]))

    wanted = {name.replace("\n", "\\n") for name in NAMES}
    assert wanted <= set(cells_of(comparison_markdown(comparison)))
    assert wanted <= set(cells_of(comparison_markdown(ir.compare(*runs))))
