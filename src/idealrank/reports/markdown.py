"""Text as Markdown shows it: names and ids are never instructions."""

import re

from idealrank.reports.layout import printable

# What would end the cell or the row, or stand for HTML.
_CELL = str.maketrans({"|": "\\|", "<": "&lt;", "&": "&amp;"})
# What would emphasise, link, or quote; an underline within a word does nothing, and brackets alone do not either.
_SPECIAL = re.compile(r"[\\`*~]|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])")


def markdown_text(text: str) -> str:
    r"""Text that stays as it is, in a cell of a table or outside.

    Examples
    --------
    >>> markdown_text("a|b"), markdown_text("<!-- x"), markdown_text("bm25_rm3 *new*"), markdown_text("[x](y)")
    ('a\\|b', '&lt;!-- x', 'bm25_rm3 \\*new\\*', '[x\\](y)')
    """
    return markdown_number(_SPECIAL.sub(r"\\\g<0>", printable(text)))


def markdown_number(text: str) -> str:
    """A number or interval, in which nothing but a comparison sign means something.

    Examples
    --------
    >>> markdown_number("[0.1, 0.2]"), markdown_number("<0.001")
    ('[0.1, 0.2]', '&lt;0.001')
    """
    return text.translate(_CELL)
