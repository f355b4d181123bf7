"""Text as Markdown shows it: names and ids are never instructions, mentions or links."""

import re

from idealrank.reports.table.layout import printable

# What would end the cell or the row, or stand for HTML.
_CELL = str.maketrans({"|": "\\|", "<": "&lt;", "&": "&amp;"})
# What would emphasise, link, or quote; an underline within a word does nothing, and brackets alone do not either.
_SPECIAL = re.compile(r"[\\`*~]|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])")
# What pages make of a text once Markdown is read: mentions and addresses (the cutoff of a measure is neither), numbers of issues, links,
# formulas, faces; and what begins a list, a quotation or a heading.
_LIVE = re.compile(
    r"(?<![^\W_])@|@(?!\d+(?!\w|[.-]\w))|#\d|GH-\d|://|www\.|\$|:[\w+-]+:|\A\s*(?:[>#]|[+-]\s|(?:-\s*){2,}\Z|=+\Z|\d{1,9}[.)](?:\s|\Z))",
    re.IGNORECASE,
)
_JOINED = re.compile(r"[@#]|:(?=//|[\w+-]+:)|(?<=www)\.|(?<=GH)-(?=\d)", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[^\w\s,.+%()=;-]|_|(?<!\d)\.|^[\s+=-]")
_JOINER = "\u2060"  # takes no room, and no mention or link goes across it


def markdown_text(text: str) -> str:
    r"""Text that stays as it is, in a cell of a table or outside; readable in the source, too, where nothing in it is live.

    Examples
    --------
    >>> markdown_text("a|b"), markdown_text("<!-- x"), markdown_text("bm25_rm3 *new*"), markdown_text("[x](y)")
    ('a\\|b', '&lt;!-- x', 'bm25_rm3 \\*new\\*', '[x\\](y)')
    >>> markdown_text("nDCG@10"), markdown_text("@me")
    ('nDCG@10', '&#64;&#8288;me')
    """
    text = printable(text)
    if text == "#":  # the head of a column of letters
        return text
    return escaped(text) if _LIVE.search(text) else markdown_number(_SPECIAL.sub(r"\\\g<0>", text))


def escaped(text: str) -> str:
    """Text on one line in which nothing is Markdown, HTML, a mention or a link: punctuation stands as entities, which mean a letter.

    Examples
    --------
    >>> escaped("p 0.01 <b> @me")
    'p 0.01 &#60;b&#62; &#64;&#8288;me'
    """
    joined = _JOINED.sub(lambda found: found[0] + _JOINER, text)
    held = _PUNCTUATION.sub(lambda found: entity(found[0]), joined)
    return re.sub(r"\A(\d{1,9})([.)])(?=\s|\Z)", lambda found: found[1] + entity(found[2]), held)


def entity(letter: str) -> str:
    """A letter as HTML and Markdown read it back, and never obey it.

    Examples
    --------
    >>> entity("|")
    '&#124;'
    """
    return f"&#{ord(letter)};"


def markdown_number(text: str) -> str:
    """A number or interval, in which nothing but a comparison sign means something.

    Examples
    --------
    >>> markdown_number("[0.1, 0.2]"), markdown_number("<0.001")
    ('[0.1, 0.2]', '&lt;0.001')
    """
    return text.translate(_CELL)
