"""Rows of a Markdown table."""

from collections.abc import Iterable

# What would end the cell or the row, or stand for HTML.
_SPECIAL = str.maketrans({"|": "\\|", "<": "&lt;", "&": "&amp;", "\n": " ", "\r": " "})


def markdown_row(cells: Iterable[str]) -> str:
    r"""A line of a table; names and ids in it stay in their cells.

    Examples
    --------
    >>> markdown_row(["a|b", "<!-- x", "1"])
    '| a\\|b | &lt;!-- x | 1 |\n'
    """
    return f"| {' | '.join(cell.translate(_SPECIAL) for cell in cells)} |\n"
