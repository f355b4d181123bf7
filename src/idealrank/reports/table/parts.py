"""A report as parts, tables among them, so that a pipe, a terminal and a page show the same."""

from collections.abc import Iterable
from typing import TypeAlias

from idealrank.reports.table.cells import Table
from idealrank.reports.table.forms import as_markdown
from idealrank.reports.table.layout import WIDTH, printable
from idealrank.reports.table.lines import as_text
from idealrank.reports.table.markdown import markdown_text

Part: TypeAlias = list[str] | Table
"""Lines of a paragraph, or a table; a blank line stands between two parts, and empty parts are left out."""


def parts_markdown(parts: Iterable[Part]) -> str:
    r"""All parts as Markdown: paragraphs, and tables under their titles.

    Examples
    --------
    >>> parts_markdown([["One line.", "Another."], [], ["Below."]])
    'One line.\nAnother.\n\nBelow.\n'
    """
    made = (
        as_markdown(part) if isinstance(part, Table) else "".join(f"{markdown_text(line)}\n" for line in part) for part in parts if part
    )
    return "\n".join(made)


def parts_text(parts: Iterable[Part], width: int = WIDTH) -> str:
    r"""All parts as plain text.

    Examples
    --------
    >>> parts_text([["One line.", "Another."], [], ["Below."]])
    'One line.\nAnother.\n\nBelow.\n'
    """
    shown = (
        as_text(part, width) if isinstance(part, Table) else "".join(f"{printable(line)}\n" for line in part) for part in parts if part
    )
    return "\n".join(shown)
