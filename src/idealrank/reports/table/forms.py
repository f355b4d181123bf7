"""Tables as values, and one function for each form: plain text, Markdown, LaTeX, HTML, CSV,
records.

In Markdown, names and ids are never instructions, mentions or links.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from idealrank.data.interchange import finite
from idealrank.reports.table.cells import Cell, Column, Table, Tone, Value, lacking
from idealrank.reports.table.records import Row
from idealrank.reports.table.text import Part, as_text, laid, printable

# What would end the cell or the row, or stand for HTML.
_CELL = str.maketrans({"|": "\\|", "<": "&lt;", "&": "&amp;"})
# What would emphasise, link, or quote; an underline within a word does nothing, and brackets alone
# do not either.
_MARKDOWN_SPECIAL = re.compile(r"[\\`*~]|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])")
# What pages make of a text once Markdown is read: mentions and addresses (the cutoff of a measure
# is neither), numbers of issues, links, formulas, faces; and what begins a list, a quotation or a
# heading.
_LIVE = re.compile(
    r"(?<![^\W_])@|@(?!\d+(?!\w|[.-]\w))|#\d|GH-\d|://|www\.|\$|:[\w+-]+:|\A\s*(?:[>#]|[+-]\s|(?:-\s*){2,}\Z|=+\Z|\d{1,9}[.)](?:\s|\Z))",
    re.IGNORECASE,
)
_JOINED = re.compile(r"[@#]|:(?=//|[\w+-]+:)|(?<=www)\.|(?<=GH)-(?=\d)", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[^\w\s,.+%()=;-]|_|(?<!\d)\.|^[\s+=-]")
_JOINER = "\u2060"  # takes no room, and no mention or link goes across it


def markdown_text(text: str) -> str:
    r"""Text that stays as it is, in a cell of a table or outside; readable in the source, too,
    where nothing in it is live.
    """
    text = printable(text)
    if text == "#":  # the head of a column of letters
        return text
    return (
        escaped(text)
        if _LIVE.search(text)
        else markdown_number(_MARKDOWN_SPECIAL.sub(r"\\\g<0>", text))
    )


def escaped(text: str) -> str:
    """Text on one line in which nothing is Markdown, HTML, a mention or a link: punctuation stands
    as entities, which mean a letter.
    """
    joined = _JOINED.sub(lambda found: found[0] + _JOINER, text)
    held = _PUNCTUATION.sub(lambda found: entity(found[0]), joined)
    return re.sub(r"\A(\d{1,9})([.)])(?=\s|\Z)", lambda found: found[1] + entity(found[2]), held)


def entity(letter: str) -> str:
    """A letter as HTML and Markdown read it back, and never obey it."""
    return f"&#{ord(letter)};"


def markdown_number(text: str) -> str:
    """A number or interval, in which nothing but a comparison sign means something."""
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
    r"""A row of a table, from cells that are LaTeX already."""
    return " & ".join(cells) + " \\\\\n"


def latex_text(text: str) -> str:
    r"""Text as it stands; brackets never follow the end of a row unprotected, and hyphens do not
    become dashes.
    """
    escaped = latex_escaped(text)
    return f"{{{escaped[0]}}}{escaped[1:]}" if escaped.startswith(("[", "*")) else escaped


def latex_escaped(text: str) -> str:
    r"""Text for a place where no command is just before it."""
    return (
        "".join(_LATEX_SPECIAL.get(letter, letter) for letter in printable(text))
        .replace("--", "-{}-")
        .replace("--", "-{}-")
    )


def latex_number(text: str, *, strong: bool = False) -> str:
    r"""A number; a sign before one is a minus or plus, and an interval is one formula."""
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
    r"""A Markdown table whose source is aligned, too; texts stay texts, whatever they look like."""
    numbers = [column.kind == "number" for column in table.columns]
    rows = [
        [_cell_markdown(cell, number=number) for cell, number in zip(row, numbers, strict=True)]
        for row in table.rows
    ]
    head = [markdown_text(column.title) for column in table.columns]
    widths = [max(3, *map(len, cells)) for cells in zip(head, *rows, strict=True)]
    rule = [
        "-" * (width - 1) + ":" if number else "-" * width
        for width, number in zip(widths, numbers, strict=True)
    ]
    padded = [
        [
            cell.rjust(w) if n else cell.ljust(w)
            for cell, w, n in zip(row, widths, numbers, strict=True)
        ]
        for row in [head, *rows]
    ]
    lines = [f"| {' | '.join(row)} |\n" for row in [padded[0], rule, *padded[1:]]]
    above = [f"**{markdown_text(table.title)}**\n\n"] if table.title else []
    return "".join([*above, *lines, *(f"\n{markdown_text(note)}\n" for note in table.notes)])


def parts_markdown(parts: Iterable[Part]) -> str:
    r"""All parts as Markdown: paragraphs, and tables under their titles."""
    made = (
        as_markdown(part)
        if isinstance(part, Table)
        else "".join(f"{markdown_text(line)}\n" for line in part)
        for part in parts
        if part
    )
    return "\n".join(made)


def _cell_markdown(cell: Cell, *, number: bool) -> str:
    text = markdown_number(cell.text) if number else markdown_text(cell.text)
    return (f"**{text}**" if cell.strong and text else text) + markdown_text(cell.mark)


def as_latex(table: Table) -> str:
    r"""A LaTeX table with the rules of booktabs; title and needs as comments, notes in small print
    below.

    Triangles need amssymb, all else no other package.
    """
    turned = [
        _column_latex(column, cells)
        for column, cells in zip(table.columns, table.columnwise(), strict=True)
    ]
    letters = "".join("r" if column.kind == "number" else "l" for column in table.columns)
    head = latex_row(latex_text(column.title) for column in table.columns)
    body = [*map(latex_row, zip(*turned, strict=True))]
    packages = "booktabs,amssymb" if any("\\blacktriangle" in line for line in body) else "booktabs"
    lines = [
        f"% needs \\usepackage{{{packages}}}\n",
        *([f"% {printable(table.title)}\n"] if table.title else []),
    ]
    lines += [f"\\begin{{tabular}}{{{letters}}}\n\\toprule\n", head, "\\midrule\n", *body]
    lines += ["\\bottomrule\n\\end{tabular}\n"]
    notes = [f"\\noindent {latex_text(note)}\\par\n" for note in table.notes]
    lines += ["\n\\smallskip\n{\\footnotesize\n", *notes, "}\n"] if notes else []
    return "".join(lines)


def _column_latex(column: Column[Any], cells: Sequence[Cell]) -> list[str]:
    if column.kind == "text":
        return [_marked_latex(cell, latex_text(cell.text), cell.mark) for cell in cells]
    widest = max((cell.mark for cell in cells), key=len, default="")
    found = []
    for cell, blank in zip(cells, lacking([cell.text for cell in cells]), strict=True):
        padded = latex_number(cell.text, strong=cell.strong) + (
            f"\\phantom{{{latex_escaped(blank)}}}" if blank else ""
        )
        found.append(_marked_latex(cell, padded, cell.mark, widest))
    return found


def _marked_latex(cell: Cell, text: str, mark: str, widest: str = "") -> str:
    bold = f"\\textbf{{{text}}}" if cell.strong and not text.startswith(("\\textbf", "$")) else text
    mark, rest = latex_escaped(mark), latex_escaped(widest[len(mark) :])
    if mark:
        return f"{bold}\\textsuperscript{{{mark}{f'{chr(92)}phantom{{{rest}}}' if rest else ''}}}"
    return f"{bold}\\phantom{{\\textsuperscript{{{rest}}}}}" if rest else bold


def as_html(table: Table) -> str:
    """A semantic table and its notes; every text is escaped, and a number keeps all its digits in
    ``data-value``.

    Classes: ``number`` or ``text`` of a cell, ``strong``, ``better``, ``worse``, ``quiet``.
    """
    head = "".join(
        f'<th scope="col" class="{column.kind}">{html_text(column.title)}</th>'
        for column in table.columns
    )
    blanks = [
        [blank.translate(_PADDING) for blank in lacking([cell.text for cell in cells])]
        for cells in table.columnwise()
    ]
    lines = [
        '<table class="table">\n',
        f"<caption>{html_text(table.title)}</caption>\n" if table.title else "",
    ]
    lines += [f"<thead><tr>{head}</tr></thead>\n<tbody>\n"]
    for row, beside in zip(table.rows, zip(*blanks, strict=True), strict=True):
        parts = [
            _cell_html(*one, first=not place)
            for place, one in enumerate(zip(row, table.columns, beside, strict=True))
        ]
        lines.append(f"<tr>{''.join(parts)}</tr>\n")
    lines += [
        "</tbody>\n</table>\n",
        *(f'<p class="note">{html_text(note)}</p>\n' for note in table.notes),
    ]
    return "".join(lines)


def _cell_html(cell: Cell, column: Column[Any], blank: str, *, first: bool) -> str:
    names = [column.kind, *(["strong"] if cell.strong else []), *([cell.tone] if cell.tone else [])]
    text = html_text(cell.text)
    text = f"<strong>{text}</strong>" if cell.strong else text
    text += (blank if column.kind == "number" else "") + (
        f"<sup>{html_text(cell.mark)}</sup>" if cell.mark else ""
    )
    head, end = ('th scope="row"', "th") if first else ("td", "td")
    return f'<{head} class="{" ".join(names)}"{_data_html(cell.value)}>{text}</{end}>'


def _data_html(value: Value) -> str:
    if isinstance(value, tuple):
        low, high = value
        return f' data-low="{low!r}" data-high="{high!r}"' if math.isfinite(high - low) else ""
    if value is None or finite(value) is None:
        return ""
    return f' data-value="{html_text(value if isinstance(value, str) else repr(value))}"'


def html_text(text: str) -> str:
    r"""Text as HTML shows it, in an element or an attribute; what cannot be printed is shown by its
    number.
    """
    import html  # noqa: PLC0415  (it brings the names of all characters, and few tables are HTML)

    return html.escape(printable(text, surrogates=False), quote=True)


# --- for programs ---------------------------------------------------------------------------------


def as_records(table: Table) -> list[dict[str, Any]]:
    """A dict a row, by the titles of the columns: exact numbers, intervals as lists of two; None
    for what is not finite.
    """
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, map(_exact, row, table.columns), strict=True)) for row in table.rows]


def _exact(cell: Cell, column: Column[Any]) -> Any:
    if cell.value is None and column.kind == "text":
        return cell.text
    return finite(cell.value)


def as_rows(table: Table) -> list[Row]:
    r"""CSV with a header and every digit; an interval has two columns, its title with ``low`` and
    ``high``.
    """
    titles: list[str] = []
    parts: list[Callable[[Any], list[Any]]] = []
    for column, cells in zip(table.columns, table.columnwise(), strict=True):
        is_interval = any(isinstance(cell.value, tuple) for cell in cells)
        titles += [f"{column.title} low", f"{column.title} high"] if is_interval else [column.title]
        parts.append(
            (lambda found: found or [None, None]) if is_interval else (lambda found: [found])
        )
    rows: list[Row] = [titles]
    for row in table.rows:
        found = [_exact(cell, column) for cell, column in zip(row, table.columns, strict=True)]
        rows.append(
            [
                _csv_text(value)
                for part, one in zip(parts, found, strict=True)
                for value in part(one)
            ]
        )
    return rows


def _csv_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
