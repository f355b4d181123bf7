"""Tables in every form: what people see, what programs read, and that no name gets out of its cell,
by independent readers.
"""

import csv
import io
import json
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from idealrank.reports.table import forms
from idealrank.reports.table.forms import Cell, Column, Table
from idealrank.reports.table.records import delimited
from idealrank.reports.table.text import on_terminal

HOSTILE = [
    "a|b",
    "<script>alert(1)</script>",
    "<!-- c",
    "&lt;d",
    "**e**",
    "`f`",
    "[g](http://h)",
    "_i_",
    "j\\",
    "~~k~~",
    "\"l' x=y",
    "]]>",
    "$m$%#",
]
NAMES = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=12)


def table_of(names: list[str], **options: object) -> Table:
    rows = [
        [
            Cell(name),
            Cell(f"{place / 10:.2f}", place / 10, strong=place == 1, mark="*" * (place % 2)),
        ]
        for place, name in enumerate(names)
    ]
    return Table(
        columns=[Column(title="run"), Column(title="AP", kind="number")], rows=rows, **options
    )  # type: ignore[arg-type]


# --- plain text -----------------------------------------------------------------------------------


def test_points_stand_below_each_other_whatever_the_digits_and_marks() -> None:
    cells = [
        Cell("1"),
        Cell("0.00006", mark="**"),
        Cell("-12.5"),
        Cell("0.25", mark="*"),
        Cell("-"),
        Cell("<0.000001"),
    ]
    lines = forms.as_text(
        Table(
            columns=[Column(title="run"), Column(title="p", kind="number")],
            rows=[[Cell("r"), cell] for cell in cells],
        )
    ).splitlines()[1:]

    numbers = [line for line, cell in zip(lines, cells, strict=True) if "." in cell.text]
    assert len({line.index(".") for line in numbers}) == 1
    # a whole number ends where the others have their point
    assert lines[0].index("1") == numbers[0].index(".") - 1


def test_a_table_that_is_too_wide_turns_its_rows_into_columns() -> None:
    wide = Table(
        columns=[
            Column(title="run"),
            *(Column(title="m" * 40 + str(i), kind="number") for i in range(4)),
        ],
        rows=[[Cell(f"run{j}"), *[Cell("0.5")] * 4] for j in range(9)],
    )

    lines = forms.as_text(wide, width=80).splitlines()

    assert max(map(len, lines)) <= 80
    heads = [line.split()[1:] for line in lines if line.startswith("run ")]
    assert [run for head in heads for run in head] == [f"run{j}" for j in range(9)]


def test_a_terminal_loses_columns_by_rank_and_a_table_that_cannot_fit_turns_whole() -> None:
    ranks = {"name": 0, "first": 1, "second": 2, "third": 3, "other third": 3}
    table = Table(
        columns=[Column(title=title, rank=rank) for title, rank in ranks.items()],
        rows=[[Cell("x" * 9) for _ in ranks]],
    )

    def shown(width: int) -> list[str]:
        with on_terminal(width):
            return forms.as_text(table).splitlines()

    assert shown(60) == forms.as_text(table, 60).splitlines()
    assert shown(40)[0].split() == ["name", "first", "second"]
    assert shown(20)[0].split() == ["name", "first"]
    assert " ".join(shown(20)[2:]).startswith("left out at this width: second, third, other third;")
    assert shown(9)[0].split() == ["name"]
    # Where a title and its cell are too wide together, the cell is below.
    assert " ".join(shown(8)).split() == [
        word for title in ranks for word in (*title.split(), "x" * 9)
    ]
    turned = forms.as_text(table, 8).splitlines()  # a pipe leaves nothing out
    assert [line.rsplit(maxsplit=1)[0].strip() for line in turned] == list(ranks)


@given(st.lists(NAMES, min_size=1, max_size=4), st.integers(20, 120))
def test_the_pieces_of_a_line_are_the_text(names: list[str], width: int) -> None:
    table = table_of(names)
    lines = ["".join(text for text, _ in line).rstrip() for line in forms.laid(table, width)]

    assert forms.as_text(table, width) == "".join(f"{line}\n" for line in lines)
    assert all(line.isprintable() for line in lines)


# --- Markdown -------------------------------------------------------------------------------------


def markdown_cells(text: str) -> list[str]:
    """What a reader of Markdown shows in each cell; fails where anything but our own bold type is
    more than text.
    """
    parsed = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    inner = [token for before, token in pairwise(parsed) if before.type in ("td_open", "th_open")]
    kinds = {child.type for token in inner for child in token.children or ()}
    assert kinds <= {"text", "text_special", "strong_open", "strong_close"}, kinds
    return ["".join(child.content for child in token.children or ()) for token in inner]


def test_markdown_keeps_hostile_names_in_their_cells() -> None:
    cells = markdown_cells(forms.as_markdown(table_of(HOSTILE, title="*t*", notes=["* best"])))

    assert cells[:2] == ["run", "AP"]
    assert [cell.replace("\u2060", "") for cell in cells[2::2]] == HOSTILE
    assert cells[3::2] == [f"{place / 10:.2f}{'*' * (place % 2)}" for place in range(len(HOSTILE))]


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_any_name_is_read_back_from_markdown(names: list[str]) -> None:
    shown = [forms.printable(name).strip(" ") for name in names]

    # A joiner, which takes no room, keeps mentions and links from being made.
    assert [
        cell.replace("\u2060", "")
        for cell in markdown_cells(forms.as_markdown(table_of(names)))[2::2]
    ] == shown


# --- HTML -----------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """Elements with their attributes and texts; fails where one is not closed by its own end."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[dict[str, str | None]] = []
        self.found: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append({"tag": tag, "text": "", **dict(attrs)})
        self.found.append(self.open[-1])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element["text"] = (element["text"] or "") + data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def html_elements(text: str) -> list[dict[str, str | None]]:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open
    return reader.found


def test_html_is_a_table_with_a_caption_and_scopes_and_escapes_everything() -> None:
    found = html_elements(forms.as_html(table_of(HOSTILE, title="<b>t</b>", notes=["<i>n</i>"])))

    by_tag = {
        tag: [one for one in found if one["tag"] == tag]
        for tag in ("caption", "th", "td", "p", "sup", "strong")
    }
    assert {one["tag"] for one in found} == {"table", "thead", "tbody", "tr", *by_tag}
    assert [one["text"] for one in by_tag["caption"] + by_tag["p"]] == ["<b>t</b>", "<i>n</i>"]
    assert [(one["scope"], one["text"]) for one in by_tag["th"]] == [
        ("col", "run"),
        ("col", "AP"),
        *(("row", name) for name in HOSTILE),
    ]
    assert [float(one["data-value"] or "nan") for one in by_tag["td"]] == [
        place / 10 for place in range(len(HOSTILE))
    ]
    assert [one["class"] for one in by_tag["td"]][:2] == ["number", "number strong"]


@given(NAMES, NAMES)
def test_no_text_gets_out_of_html(name: str, value: str) -> None:
    table = Table(
        columns=[Column(title=name), Column(title=name)],
        rows=[[Cell(name), Cell("x", value, mark=name)]],
        title=name,
        notes=[name],
    )

    found = html_elements(forms.as_html(table))

    assert {one["tag"] for one in found} == {
        "table",
        "caption",
        "thead",
        "tr",
        "th",
        "tbody",
        "td",
        "sup",
        "p",
    }
    assert next(one for one in found if one["tag"] == "caption")["text"] == forms.printable(name)
    assert next(one for one in found if one["tag"] == "td")["data-value"] == forms.printable(value)


def test_what_is_no_number_has_no_value_in_html() -> None:
    row = [
        Cell("r"),
        Cell("-", float("nan")),
        Cell("-", (0.0, float("inf"))),
        Cell("[0, 1]", (0.0, 1.0)),
        Cell("1", 1),
    ]
    found = html_elements(
        forms.as_html(
            Table(
                columns=[Column(title="run"), *[Column(title="x", kind="number")] * 4], rows=[row]
            )
        )
    )

    data = [
        {key: value for key, value in one.items() if key.startswith("data-")}
        for one in found
        if one["tag"] == "td"
    ]
    assert data == [{}, {}, {"data-low": "0.0", "data-high": "1.0"}, {"data-value": "1"}]


def test_numbers_with_unlike_digits_are_padded_in_html() -> None:
    rows = [[Cell("a"), Cell("1")], [Cell("b"), Cell("0.031")]]
    found = html_elements(
        forms.as_html(
            Table(columns=[Column(title="run"), Column(title="p", kind="number")], rows=rows)
        )
    )

    assert [one["text"] for one in found if one["tag"] == "td"] == [
        "1\u2008\u2007\u2007\u2007",
        "0.031",
    ]


# --- LaTeX ----------------------------------------------------------------------------------------


def test_latex_escapes_names_and_pads_numbers() -> None:
    text = forms.as_latex(
        table_of(["50%_a&b", "[x]", "*y", "a\\b{c}", "-0.5"], notes=["* p < 0.05"])
    )

    lines = text.splitlines()
    assert lines[:5] == [
        "% needs \\usepackage{booktabs}",
        "\\begin{tabular}{lr}",
        "\\toprule",
        "run & AP \\\\",
        "\\midrule",
    ]
    assert lines[5] == r"50\%\_a\&b & 0.00\phantom{\textsuperscript{*}} \\"
    assert lines[6] == r"{[}x] & \textbf{0.10}\textsuperscript{*} \\"
    assert lines[7].startswith("{*}y & ")
    assert lines[8].startswith(r"a\textbackslash{}b\{c\} & ")
    assert r"\noindent {*} p \textless{} 0.05\par" in lines


# What a spreadsheet would compute begins so, in the width of East Asian letters too.
FORMULAS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")

# --- CSV and records ------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(NAMES, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=4
    )
)
def test_csv_and_records_keep_every_digit_and_every_name(found: list[tuple[str, float]]) -> None:
    rows = [[Cell(name), Cell("-", value), Cell("-", (value, 1.0))] for name, value in found]
    table = Table(
        columns=[
            Column(title="run"),
            Column(title="AP", kind="number"),
            Column(title="interval", kind="number"),
        ],
        rows=rows,
    )

    records = json.loads(json.dumps(forms.as_records(table)))
    lines = list(csv.reader(io.StringIO("".join(delimited(forms.as_rows(table))), newline="")))

    assert [(one["run"], one["AP"], one["interval"]) for one in records] == [
        (name, value, [value, 1.0]) for name, value in found
    ]
    assert lines[0] == ["run", "AP", "interval low", "interval high"]
    assert [(float(value), float(low)) for _, value, low, _ in lines[1:]] == [
        (value, value) for _, value in found
    ]
    for (shown, *_), (name, _) in zip(lines[1:], found, strict=True):
        assert shown == name or (shown == f"'{name}" and name.startswith(FORMULAS))


def test_rows_of_another_length_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="row of 1 cells, expected 2"):
        Table(columns=[Column(title="run"), Column(title="AP")], rows=[[Cell("a")]])
