"""Tables as values, and one function for each form: plain text, Markdown, LaTeX, HTML, CSV, records.

Every report makes its tables of these. A cell holds what people read and, beside it, the exact number for programs.
"""

import html
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from idealrank.reports.latex import latex_escaped, latex_number, latex_row, latex_text
from idealrank.reports.layout import WIDTH, printable
from idealrank.reports.markdown import markdown_number, markdown_text
from idealrank.reports.records import csv_row, finite

Tone: TypeAlias = Literal["", "better", "worse", "quiet"]
Value: TypeAlias = float | int | str | tuple[float, float] | None

_NUMBER = re.compile(r"[<+-]?[\d,]+(?P<after>(?:\.\d+)?(?: ?%)?)")
_PADDING = str.maketrans(dict.fromkeys("0123456789", "\u2007") | {".": "\u2008"})  # blanks as wide as a digit and as a point


@dataclass(frozen=True)
class Column:
    """A column: texts begin at the left, numbers stand with their points below each other.

    Examples
    --------
    >>> Column("AP", "number").kind
    'number'
    """

    title: str
    kind: Literal["text", "number"] = "text"


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes
    ----------
    text : str
        What people read.
    value : float, int, str, pair of float, or None
        What programs read: the exact number, both ends of an interval; None where the text says all.
    strong : bool
        Stands out, as the best of its column does.
    mark : str
        Behind the text and a little higher, such as the ``*`` of a significant difference; what it means is in a note.
    tone : {"", "better", "worse", "quiet"}
        Colour, where there is one. It never says anything that no word says.

    Examples
    --------
    >>> Cell("0.25", 0.2533).value
    0.2533
    """

    text: str
    value: Value = None
    strong: bool = False
    mark: str = ""
    tone: Tone = ""


@dataclass(frozen=True)
class Table:
    """Columns and rows, the first column naming the rows.

    Attributes
    ----------
    columns : sequence of Column
        With their titles.
    rows : sequence of sequence of Cell
        Each with a cell for each column.
    title : str
        Stands above; none where empty.
    notes : sequence of str
        Sentences below: what marks mean.

    Raises
    ------
    ValueError
        A row has more cells than there are columns, or fewer.

    Examples
    --------
    >>> Table([Column("run"), Column("AP", "number")], [[Cell("bm25"), Cell("0.25", 0.2533)]]).rows[0][1].value
    0.2533
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"found a row of {len(row)} cells, expected {len(self.columns)}, one for each column")


Span: TypeAlias = tuple[str, Cell | None]
"""A piece of a line, and the cell it shows; None for blanks, heads and notes."""


# --- plain text ------------------------------------------------------------------------------------------------------------------


def as_text(table: Table, width: int = WIDTH) -> str:
    r"""Aligned columns, no line wider than `width` where that can be had; see `laid`.

    Examples
    --------
    >>> columns = [Column("run"), Column("AP", "number"), Column("p", "number")]
    >>> rows = [[Cell("bm25"), Cell("0.25", mark="*"), Cell("1")], [Cell("x"), Cell("12.50"), Cell("0.031")]]
    >>> print(as_text(Table(columns, rows, notes=["* the best"])), end="")
    run      AP       p
    bm25   0.25*  1
    x     12.50   0.031
    * the best
    """
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in laid(table, width))


def laid(table: Table, width: int = WIDTH) -> list[list[Span]]:
    """The lines of a table in pieces, for those who colour them: with a wide gap, a narrow one, or with rows as columns in several blocks.

    Examples
    --------
    >>> laid(Table([Column("run")], [[Cell("bm25")]]))[1][0]
    ('bm25', Cell(text='bm25', value=None, strong=False, mark='', tone=''))
    """
    head = [Cell(column.title) for column in table.columns]
    upright = [_padded([title, *cells], column.kind) for column, title, cells in zip(table.columns, head, _turned(table), strict=True)]
    lines = next((found for gap in ("  ", " ") if _width(found := _joined(upright, gap)) <= width), None)
    lines = lines or list(_blocks(head, table.rows, width))
    notes: list[list[Span]] = [[(line, None)] for note in table.notes for line in _wrapped(note, width)]
    title: list[list[Span]] = [[(line, None)] for line in _wrapped(table.title, width)]
    return [*title, *lines, *notes]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(printable(text), width, break_long_words=False, break_on_hyphens=False)


def _turned(table: Table) -> list[list[Cell]]:
    return [[row[place] for row in table.rows] for place in range(len(table.columns))]


def _padded(cells: Sequence[Cell], kind: str, *, points: bool = True) -> list[list[Span]]:
    """A column, its head first: each cell with the blanks around it."""
    marks = max(len(cell.mark) for cell in cells)
    afters = _afters([cell.text for cell in cells[1:]]) if points and kind == "number" else [0] * (len(cells) - 1)
    texts = [printable(cell.text) for cell in cells]
    tails = [" " * (after + marks - len(cell.mark)) for cell, after in zip(cells, [0, *afters], strict=True)]
    widths = [len(text + cell.mark + tail) for text, cell, tail in zip(texts, cells, tails, strict=True)]
    column = []
    for place, (cell, text, tail, size) in enumerate(zip(cells, texts, tails, widths, strict=True)):
        blanks = " " * (max(widths) - size)
        shown: Span = (text + cell.mark, cell if place else None)
        column.append([(blanks, None), shown, (tail, None)] if kind == "number" else [shown, (tail + blanks, None)])
    return [[span for span in spans if span[0]] for spans in column]


def _afters(texts: Sequence[str]) -> list[int]:
    """How many blanks each number needs behind it, so that the points of all stand below each other."""
    found = [_NUMBER.fullmatch(text) for text in texts]
    most = max((len(number["after"]) for number in found if number), default=0)
    return [most - len(number["after"]) if number else 0 for number in found]


def _joined(columns: Sequence[Sequence[list[Span]]], gap: str) -> list[list[Span]]:
    lines = []
    for row in zip(*columns, strict=True):
        first, *others = row
        lines.append([*first, *(span for spans in others for span in ((gap, None), *spans))])
    return lines


def _width(lines: Sequence[Sequence[Span]]) -> int:
    return max(len("".join(text for text, _ in line).rstrip()) for line in lines)


def _blocks(head: Sequence[Cell], rows: Sequence[Sequence[Cell]], width: int) -> Iterator[list[Span]]:
    """Rows as columns, as many side by side as fit, at least one; the titles stand before each block."""
    titles, rest, first = _padded(head, "text"), list(rows), True
    titles = [[(text, None) for text, _ in spans] for spans in titles]
    while rest:
        shown = len(rest)
        while True:
            block = _joined([titles, *(_padded(row, "number", points=False) for row in rest[:shown])], "  ")
            if shown == 1 or _width(block) <= width:
                break
            shown -= 1
        yield from block if first else [[], *block]
        rest, first = rest[shown:], False


# --- Markdown, LaTeX, HTML -------------------------------------------------------------------------------------------------------


def as_markdown(table: Table) -> str:
    r"""A Markdown table whose source is aligned, too; texts stay texts, whatever they look like.

    Examples
    --------
    >>> columns = [Column("run"), Column("AP", "number")]
    >>> print(as_markdown(Table(columns, [[Cell("bm_25_"), Cell("0.25", strong=True)], [Cell("x|y"), Cell("0.2")]])), end="")
    | run     |       AP |
    | ------- | -------: |
    | bm_25\_ | **0.25** |
    | x\|y    |      0.2 |
    """
    numbers = [column.kind == "number" for column in table.columns]
    rows = [[_cell_markdown(cell, number=number) for cell, number in zip(row, numbers, strict=True)] for row in table.rows]
    head = [markdown_text(column.title) for column in table.columns]
    widths = [max(3, *map(len, cells)) for cells in zip(head, *rows, strict=True)]
    rule = ["-" * (width - 1) + ":" if number else "-" * width for width, number in zip(widths, numbers, strict=True)]
    padded = [[cell.rjust(w) if n else cell.ljust(w) for cell, w, n in zip(row, widths, numbers, strict=True)] for row in [head, *rows]]
    lines = [f"| {' | '.join(row)} |\n" for row in [padded[0], rule, *padded[1:]]]
    above = [f"**{markdown_text(table.title)}**\n\n"] if table.title else []
    return "".join([*above, *lines, *(f"\n{markdown_text(note)}\n" for note in table.notes)])


def _cell_markdown(cell: Cell, *, number: bool) -> str:
    text = markdown_number(cell.text) if number else markdown_text(cell.text)
    return (f"**{text}**" if cell.strong and text else text) + markdown_text(cell.mark)


def as_latex(table: Table) -> str:
    r"""A LaTeX table with the rules of booktabs, and no other package; title and needs as comments, notes in small print below.

    Numbers stand in columns that end at the right, each padded with ``\phantom`` to the same number of decimals and marks. Columns of
    siunitx would be the other way; they refuse what is no number (a dash, an interval, letters of groups), need settings for bold
    type that changed between its versions, and nothing of them survives where a journal has no siunitx.

    Examples
    --------
    >>> columns = [Column("run"), Column("AP", "number")]
    >>> print(as_latex(Table(columns, [[Cell("a_b"), Cell("0.25", strong=True, mark="*")], [Cell("x"), Cell("-0.1")]])), end="")
    % needs \usepackage{booktabs}
    \begin{tabular}{lr}
    \toprule
    run & AP \\
    \midrule
    a\_b & \textbf{0.25}\textsuperscript{*} \\
    x & $-0.1$\phantom{0}\phantom{\textsuperscript{*}} \\
    \bottomrule
    \end{tabular}
    """
    turned = [_column_latex(column, cells) for column, cells in zip(table.columns, _turned(table), strict=True)]
    letters = "".join("r" if column.kind == "number" else "l" for column in table.columns)
    head = latex_row(latex_text(column.title) for column in table.columns)
    lines = ["% needs \\usepackage{booktabs}\n", *([f"% {printable(table.title)}\n"] if table.title else [])]
    lines += [f"\\begin{{tabular}}{{{letters}}}\n\\toprule\n", head, "\\midrule\n", *map(latex_row, zip(*turned, strict=True))]
    lines += ["\\bottomrule\n\\end{tabular}\n"]
    lines += ["\n\\smallskip\n{\\footnotesize\n", *(f"{latex_text(note)}\\par\n" for note in table.notes), "}\n"] if table.notes else []
    return "".join(lines)


def _column_latex(column: Column, cells: Sequence[Cell]) -> list[str]:
    if column.kind == "text":
        return [_marked_latex(cell, latex_text(cell.text), cell.mark) for cell in cells]
    widest = max((cell.mark for cell in cells), key=len, default="")
    tails = ["0" * after for after in _afters([cell.text for cell in cells])]
    longest = re.sub(r"\d", "0", max((_after(cell.text) for cell in cells), key=len, default=""))
    found = []
    for cell, tail in zip(cells, tails, strict=True):
        blank = f"\\phantom{{{latex_escaped(longest[len(longest) - len(tail) :])}}}" if tail else ""
        found.append(_marked_latex(cell, latex_number(cell.text, strong=cell.strong) + blank, cell.mark, widest))
    return found


def _after(text: str) -> str:
    found = _NUMBER.fullmatch(text)
    return found["after"] if found else ""


def _marked_latex(cell: Cell, text: str, mark: str, widest: str = "") -> str:
    bold = f"\\textbf{{{text}}}" if cell.strong and not text.startswith(("\\textbf", "$")) else text
    mark, rest = latex_escaped(mark), latex_escaped(widest[len(mark) :])
    if mark:
        return f"{bold}\\textsuperscript{{{mark}{f'{chr(92)}phantom{{{rest}}}' if rest else ''}}}"
    return f"{bold}\\phantom{{\\textsuperscript{{{rest}}}}}" if rest else bold


def as_html(table: Table) -> str:
    """A semantic table and its notes; every text is escaped, and a number keeps all its digits in ``data-value``.

    Classes: ``number`` or ``text`` of a cell, ``strong``, ``better``, ``worse``, ``quiet``. An interval has ``data-low`` and ``data-high``.

    Examples
    --------
    >>> columns = [Column("run"), Column("AP", "number")]
    >>> print(as_html(Table(columns, [[Cell("a<b"), Cell("0.25", 0.2533, strong=True, mark="*")]], title="means")), end="")
    <table class="table">
    <caption>means</caption>
    <thead><tr><th scope="col" class="text">run</th><th scope="col" class="number">AP</th></tr></thead>
    <tbody>
    <tr><th scope="row" class="text">a&lt;b</th><td class="number strong" data-value="0.2533"><strong>0.25</strong><sup>*</sup></td></tr>
    </tbody>
    </table>
    """
    head = "".join(f'<th scope="col" class="{column.kind}">{html_text(column.title)}</th>' for column in table.columns)
    afters = [_afters([cell.text for cell in cells]) for cells in _turned(table)]
    longest = [max((_after(cell.text) for cell in cells), key=len, default="") for cells in _turned(table)]
    lines = ['<table class="table">\n', f"<caption>{html_text(table.title)}</caption>\n" if table.title else ""]
    lines += [f"<thead><tr>{head}</tr></thead>\n<tbody>\n"]
    for number, row in enumerate(table.rows):
        blanks = [whole[len(whole) - found[number] :].translate(_PADDING) for whole, found in zip(longest, afters, strict=True)]
        parts = [_cell_html(*one, first=not place) for place, one in enumerate(zip(row, table.columns, blanks, strict=True))]
        lines.append(f"<tr>{''.join(parts)}</tr>\n")
    lines += ["</tbody>\n</table>\n", *(f'<p class="note">{html_text(note)}</p>\n' for note in table.notes)]
    return "".join(lines)


def _cell_html(cell: Cell, column: Column, blank: str, *, first: bool) -> str:
    names = [column.kind, *(["strong"] if cell.strong else []), *([cell.tone] if cell.tone else [])]
    text = html_text(cell.text)
    text = f"<strong>{text}</strong>" if cell.strong else text
    text += (blank if column.kind == "number" else "") + (f"<sup>{html_text(cell.mark)}</sup>" if cell.mark else "")
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
    r"""Text as HTML shows it, in an element or an attribute; what cannot be printed is shown by its number.

    Examples
    --------
    >>> html_text('a<b & "c"'), html_text("\x00")
    ('a&lt;b &amp; &quot;c&quot;', '\\x00')
    """
    return html.escape(printable(text, surrogates=False), quote=True)


# --- for programs ----------------------------------------------------------------------------------------------------------------


def as_records(table: Table) -> list[dict[str, Any]]:
    """A dict a row, by the titles of the columns: exact numbers, intervals as lists of two; None for what is not finite.

    Examples
    --------
    >>> columns = [Column("run"), Column("AP", "number")]
    >>> as_records(Table(columns, [[Cell("bm25"), Cell("0.25", 0.2533)], [Cell("x"), Cell("-")]]))
    [{'run': 'bm25', 'AP': 0.2533}, {'run': 'x', 'AP': None}]
    """
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, map(_exact, row, table.columns), strict=True)) for row in table.rows]


def _exact(cell: Cell, column: Column) -> Any:
    if cell.value is None and column.kind == "text":
        return cell.text
    return finite(cell.value)


def as_csv(table: Table) -> str:
    r"""CSV with a header and every digit; an interval has two columns, its title with ``low`` and ``high``.

    Examples
    --------
    >>> columns = [Column("run"), Column("AP", "number"), Column("95 %", "number")]
    >>> as_csv(Table(columns, [[Cell("a,b"), Cell("0.25", 0.2533), Cell("[0.2, 0.3]", (0.21, 0.29))]]))
    'run,AP,95 % low,95 % high\n"a,b",0.2533,0.21,0.29\n'
    """
    titles: list[str] = []
    parts: list[Callable[[Any], list[Any]]] = []
    for column, cells in zip(table.columns, _turned(table), strict=True):
        is_interval = any(isinstance(cell.value, tuple) for cell in cells)
        titles += [f"{column.title} low", f"{column.title} high"] if is_interval else [column.title]
        parts.append((lambda found: found or [None, None]) if is_interval else (lambda found: [found]))
    lines = [csv_row(titles)]
    for row in table.rows:
        found = [_exact(cell, column) for cell, column in zip(row, table.columns, strict=True)]
        lines.append(csv_row([_csv_text(value) for part, one in zip(parts, found, strict=True) for value in part(one)]))
    return "".join(lines)


def _csv_text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
