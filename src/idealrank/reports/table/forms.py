"""Tables as values, and one function for each form: plain text, Markdown, LaTeX, HTML, CSV,
records.

In Markdown, names and ids are never instructions, mentions or links.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from idealrank.data.interchange import finite
from idealrank.reports.table.cells import Cell, Column, Table, Tone, Value, lacking
from idealrank.reports.table.records import Row
from idealrank.reports.table.text import Part, as_text, laid, printable

# Characters that would end the cell or the row, or begin HTML.
_CELL = str.maketrans({"|": "\\|", "<": "&lt;", "&": "&amp;"})
# Characters that would emphasise, link or quote; an underline within a word and brackets alone do
# nothing.
_MARKDOWN_SPECIAL = re.compile(r"[\\`*~]|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])")
# Parts of a text that become live on pages: mentions and addresses (the cutoff of a measure is
# neither), numbers of issues, links, formulas, emoji; and beginnings of a list, a quotation or a
# heading.
_LIVE = re.compile(
    r"(?<![^\W_])@|@(?!\d+(?!\w|[.-]\w))|#\d|GH-\d|://|www\.|\$|:[\w+-]+:|\A\s*(?:[>#]|[+-]\s|(?:-\s*){2,}\Z|=+\Z|\d{1,9}[.)](?:\s|\Z))",
    re.IGNORECASE,
)
# Places in live parts where a joiner takes the life out of them.
_JOINED = re.compile(r"[@#]|:(?=//|[\w+-]+:)|(?<=www)\.|(?<=GH)-(?=\d)", re.IGNORECASE)
# Punctuation that becomes an entity; what numbers consist of stays readable in the source.
_PUNCTUATION = re.compile(r"[^\w\s,.+%()=;-]|_|(?<!\d)\.|^[\s+=-]")
_JOINER = "\u2060"  # takes no room, and no mention or link goes across it


def markdown_text(text: str) -> str:
    r"""Escape a text so that Markdown shows it as it is, in a cell or outside; it stays readable in
    the source if nothing in it is live.
    """
    text = printable(text)
    if text == "#":  # the head of a column of letters
        return text
    if _LIVE.search(text):
        return escaped(text)
    return markdown_number(_MARKDOWN_SPECIAL.sub(r"\\\g<0>", text))


def escaped(text: str) -> str:
    """Escape a line so that nothing in it is Markdown, HTML, a mention or a link: entities, which
    always mean a letter, replace punctuation.
    """
    joined = _JOINED.sub(lambda match: match[0] + _JOINER, text)
    held = _PUNCTUATION.sub(lambda match: entity(match[0]), joined)
    return re.sub(r"\A(\d{1,9})([.)])(?=\s|\Z)", lambda match: match[1] + entity(match[2]), held)


def entity(letter: str) -> str:
    """Return a letter as an entity, which HTML and Markdown show and never obey."""
    return f"&#{ord(letter)};"


def markdown_number(text: str) -> str:
    """Escape a number or interval, in which only a comparison sign is special."""
    return text.translate(_CELL)


_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "†": r"\textdagger{}",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
}
_SIGNED = re.compile(r"[+-]\d[\d.,]*")
_INTERVAL = re.compile(r"\[[+-]?[\d.]+, [+-]?[\d.]+\]")


def latex_row(cells: Iterable[str]) -> str:
    r"""Make a row of a table from cells that are LaTeX already."""
    return " & ".join(cells) + " \\\\\n"


def latex_text(text: str) -> str:
    r"""Escape a text so that LaTeX shows it as it is: a bracket or star at the beginning is no
    argument of the row before, and hyphens do not become dashes.
    """
    letters = latex_escaped(text)
    return f"{{{letters[0]}}}{letters[1:]}" if letters.startswith(("[", "*")) else letters


def latex_escaped(text: str) -> str:
    r"""Escape a text for a place that no command is just before."""
    letters = "".join(_LATEX_SPECIAL.get(letter, letter) for letter in printable(text))
    # Twice: in a row of three hyphens, the first pass leaves a pair.
    return letters.replace("--", "-{}-").replace("--", "-{}-")


def latex_number(text: str, *, strong: bool = False) -> str:
    r"""Write a number; its sign is a minus or plus of mathematics, and an interval is a formula."""
    if text == "-":
        return "--"
    if _SIGNED.fullmatch(text) or _INTERVAL.fullmatch(text):
        formula = text.replace(",", "{,}") if text[0] != "[" else text
        return f"$\\mathbf{{{formula}}}$" if strong else f"${formula}$"
    return f"\\textbf{{{latex_text(text)}}}" if strong else latex_text(text)


__all__ = [
    "Cell",
    "Column",
    "Table",
    "Tone",
    "as_html",
    "as_latex",
    "as_markdown",
    "as_records",
    "as_rows",
    "as_text",
    "html_text",
    "laid",
]

# blanks as wide as a digit and as a point
_PADDING = str.maketrans(dict.fromkeys("0123456789", "\u2007") | {".": "\u2008"})


def as_markdown(table: Table) -> str:
    r"""Write a Markdown table, aligned in the source, too; texts stay texts."""
    columns = []
    for column, cells in zip(table.columns, table.columnwise(), strict=True):
        is_number = column.kind == "number"
        texts = [_cell_markdown(cell, number=is_number) for cell in cells]
        columns.append(_column_markdown(markdown_text(column.title), texts, number=is_number))
    lines = [f"| {' | '.join(row)} |\n" for row in zip(*columns, strict=True)]
    above = [f"**{markdown_text(table.title)}**\n\n"] if table.title else []
    return "".join([*above, *lines, *(f"\n{markdown_text(note)}\n" for note in table.notes)])


def _column_markdown(head: str, cells: Sequence[str], *, number: bool) -> list[str]:
    """Pad a column to one width: its head, the rule below it, and its cells."""
    width = max(3, *map(len, [head, *cells]))
    rule = "-" * (width - 1) + ":" if number else "-" * width
    padded = [text.rjust(width) if number else text.ljust(width) for text in [head, *cells]]
    return [padded[0], rule, *padded[1:]]


def parts_markdown(parts: Iterable[Part]) -> str:
    r"""Write all parts as Markdown: paragraphs, and tables under their titles."""
    return "\n".join(_part_markdown(part) for part in parts if part)


def _part_markdown(part: Part) -> str:
    if isinstance(part, Table):
        return as_markdown(part)
    return "".join(f"{markdown_text(line)}\n" for line in part)


def _cell_markdown(cell: Cell, *, number: bool) -> str:
    text = markdown_number(cell.text) if number else markdown_text(cell.text)
    return (f"**{text}**" if cell.strong and text else text) + markdown_text(cell.mark)


def as_latex(table: Table, *, split: bool = False) -> str:
    r"""Write a LaTeX table with the rules of booktabs; the title and the packages are comments, and
    notes follow in small print. With `split`, a table wider than a page is split, and each part has
    the first columns. Only triangles need another package, amssymb.
    """
    printed = [
        _PrintedColumn.of(column, cells)
        for column, cells in zip(table.columns, table.columnwise(), strict=True)
    ]
    has_triangles = any("\\blacktriangle" in cell for column in printed for cell in column.cells)
    lines = [f"% needs \\usepackage{{{'booktabs,amssymb' if has_triangles else 'booktabs'}}}\n"]
    lines += [f"% {printable(table.title)}\n"] if table.title else []
    blocks = _blocks(printed) if split else [printed]
    if len(blocks) > 1:
        lines.append(f"% split into {len(blocks)} tables, since one would be wider than a page\n")
    lines.append("\n\\medskip\n".join(map(_tabular, blocks)))
    notes = [f"\\noindent {latex_text(note)}\\par\n" for note in table.notes]
    lines += ["\n\\smallskip\n{\\footnotesize\n", *notes, "}\n"] if notes else []
    return "".join(lines)


_PAGE_POINTS = 504  # of 7 inches, two columns of a paper
_LETTER_POINTS = 5.2  # of a digit and, about, of a letter, in 10 point Computer Modern
_MARK_POINTS = 3.9  # of a superscript
_GAP_POINTS = 12  # between two columns


class _PrintedColumn(NamedTuple):
    """A column in LaTeX, with its width in print, which is an estimate."""

    head: str
    is_number: bool
    cells: list[str]
    points: float

    @classmethod
    def of(cls, column: Column[Any], cells: Sequence[Cell]) -> "_PrintedColumn":
        longest = max([len(column.title), *(len(cell.text) for cell in cells)])
        marks = max((len(cell.mark) for cell in cells), default=0)
        points = longest * _LETTER_POINTS + marks * _MARK_POINTS + _GAP_POINTS
        latex = _column_latex(column, cells)
        return cls(latex_text(column.title), column.kind == "number", latex, points)


def _tabular(columns: Sequence[_PrintedColumn]) -> str:
    letters = "".join("r" if column.is_number else "l" for column in columns)
    lines = [
        f"\\begin{{tabular}}{{{letters}}}\n\\toprule\n",
        latex_row(column.head for column in columns),
        "\\midrule\n",
        *map(latex_row, zip(*(column.cells for column in columns), strict=True)),
        "\\bottomrule\n\\end{tabular}\n",
    ]
    return "".join(lines)


def _blocks(columns: Sequence[_PrintedColumn]) -> list[list[_PrintedColumn]]:
    """Split columns into tables as wide as a page at most; the columns before the first number,
    which name the rows, are in each.
    """
    heads = list(takewhile(lambda column: not column.is_number, columns))
    if not heads or sum(column.points for column in columns) <= _PAGE_POINTS:
        return [list(columns)]
    blocks = [[*heads]]
    for column in columns[len(heads) :]:
        block = blocks[-1]
        width = sum(other.points for other in block) + column.points
        if len(block) > len(heads) and width > _PAGE_POINTS:
            block = [*heads]
            blocks.append(block)
        block.append(column)
    return blocks


def _column_latex(column: Column[Any], cells: Sequence[Cell]) -> list[str]:
    if column.kind == "text":
        return [_marked_latex(cell, latex_text(cell.text), cell.mark) for cell in cells]
    widest = max((cell.mark for cell in cells), key=len, default="")
    turned = []
    # Phantoms are as wide as the digits and marks that other cells have, so that points align.
    for cell, blank in zip(cells, lacking([cell.text for cell in cells]), strict=True):
        padded = latex_number(cell.text, strong=cell.strong)
        padded += f"\\phantom{{{latex_escaped(blank)}}}" if blank else ""
        turned.append(_marked_latex(cell, padded, cell.mark, widest))
    return turned


def _marked_latex(cell: Cell, text: str, mark: str, widest: str = "") -> str:
    bold = f"\\textbf{{{text}}}" if cell.strong and not text.startswith(("\\textbf", "$")) else text
    mark, rest = latex_escaped(mark), latex_escaped(widest[len(mark) :])
    if mark:
        padding = f"\\phantom{{{rest}}}" if rest else ""
        return f"{bold}\\textsuperscript{{{mark}{padding}}}"
    return f"{bold}\\phantom{{\\textsuperscript{{{rest}}}}}" if rest else bold


def parts_latex(tables: Iterable[Table]) -> str:
    r"""Write tables in LaTeX, one below the other."""
    return "\n".join(map(as_latex, tables))


PASTED = {"markdown": parts_markdown, "latex": parts_latex}
"""Functions that write the parts of a report for pasting, by format."""


def as_html(table: Table) -> str:
    """Write a semantic table and its notes; every text is escaped, and a number keeps all its
    digits in ``data-value``.

    Classes: ``number`` or ``text`` of a cell, ``strong``, ``better``, ``worse``, ``quiet``.
    """
    head = "".join(
        f'<th scope="col" class="{column.kind}">{html_text(column.title)}</th>'
        for column in table.columns
    )
    paddings = []
    for cells in table.columnwise():
        blanks = lacking([cell.text for cell in cells])
        paddings.append([blank.translate(_PADDING) for blank in blanks])
    lines = ['<table class="table">\n']
    lines += [f"<caption>{html_text(table.title)}</caption>\n"] if table.title else []
    lines += [f"<thead><tr>{head}</tr></thead>\n<tbody>\n"]
    for row, of_row in zip(table.rows, zip(*paddings, strict=True), strict=True):
        parts: list[str] = []
        for cell, column, padding in zip(row, table.columns, of_row, strict=True):
            parts.append(_cell_html(cell, column, padding, first=not parts))
        lines.append(f"<tr>{''.join(parts)}</tr>\n")
    lines += ["</tbody>\n</table>\n"]
    lines += [f'<p class="note">{html_text(note)}</p>\n' for note in table.notes]
    return "".join(lines)


def _cell_html(cell: Cell, column: Column[Any], blank: str, *, first: bool) -> str:
    names = [column.kind, *(["strong"] if cell.strong else []), *([cell.tone] if cell.tone else [])]
    text = html_text(cell.text)
    text = f"<strong>{text}</strong>" if cell.strong else text
    text += blank if column.kind == "number" else ""
    text += f"<sup>{html_text(cell.mark)}</sup>" if cell.mark else ""
    head, end = ('th scope="row"', "th") if first else ("td", "td")
    return f'<{head} class="{" ".join(names)}"{_data_html(cell.value)}>{text}</{end}>'


def _data_html(value: Value) -> str:
    if isinstance(value, tuple):
        low, high = value
        return f' data-low="{low!r}" data-high="{high!r}"' if math.isfinite(high - low) else ""
    if value is None or finite(value) is None:
        return ""
    text = value if isinstance(value, str) else repr(value)
    return f' data-value="{html_text(text)}"'


def html_text(text: str) -> str:
    r"""Escape a text for HTML, in an element or an attribute; characters that cannot be printed
    become their numbers.
    """
    import html  # noqa: PLC0415  (it brings the names of all characters, and few tables are HTML)

    return html.escape(printable(text, surrogates=False), quote=True)


# --- for programs ---------------------------------------------------------------------------------


def as_records(table: Table) -> list[dict[str, Any]]:
    """Return a dict for each row, by the titles of the columns: exact numbers, intervals as lists
    of two; None for numbers that are not finite.
    """
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, map(_exact, row, table.columns), strict=True)) for row in table.rows]


def _exact(cell: Cell, column: Column[Any]) -> Any:
    if cell.value is None and column.kind == "text":
        return cell.text
    return finite(cell.value)


def as_rows(table: Table) -> list[Row]:
    r"""Return rows of CSV with a header and every digit; an interval has two columns, its title
    with ``low`` and ``high``.
    """
    columns: list[list[str]] = []
    for column, cells in zip(table.columns, table.columnwise(), strict=True):
        values = [_exact(cell, column) for cell in cells]
        if any(isinstance(cell.value, tuple) for cell in cells):
            ends = [value or (None, None) for value in values]
            columns.append([f"{column.title} low", *(_csv_text(low) for low, _ in ends)])
            columns.append([f"{column.title} high", *(_csv_text(high) for _, high in ends)])
        else:
            columns.append([column.title, *map(_csv_text, values)])
    return [list(row) for row in zip(*columns, strict=True)]


def _csv_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
