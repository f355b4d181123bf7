"""Names and ids in files that other programs open: no spreadsheet computes them, no page of
Markdown links or calls anybody.
"""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import idealrank as ir
from idealrank.errors import InputError
from idealrank.reports.table.forms import markdown_text
from idealrank.reports.table.records import delimited, evaluation_rows, trec_report
from idealrank.reports.views.trec import TrecColumn, trec_eval_report

FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "\r=1",
    "\n=1",
    "\uff1d1",
    "=",
    "--",
    "+1-1",
    "-1e",
    "@",
    "-x",
]
PLAIN = ["", "q1", "-", "-1", "+0.5", "-1e-05", "-inf", "nan", "1+1", "'=1", "a=b", "-123456789"]


def cells_of(text: str) -> list[str]:
    (row,) = csv.reader(io.StringIO(text, newline=""))
    return row


@pytest.mark.parametrize("cell", FORMULAS)
def test_a_formula_is_a_text_in_csv(cell: str) -> None:
    assert cells_of("".join(delimited([["x", cell]]))) == ["x", f"'{cell}"]


@pytest.mark.parametrize("cell", PLAIN)
def test_numbers_and_other_texts_of_csv_stay(cell: str) -> None:
    assert cells_of("".join(delimited([["x", cell]]))) == ["x", cell]


def test_every_text_column_of_a_csv_is_held() -> None:
    run = ir.evaluate({"=q": {"d": 1}}, ir.Run({"=q": ["d"]}, name="@run"), ["AP"])

    text = "".join(delimited(evaluation_rows([run], per_query=True)))

    assert text.splitlines()[1].startswith("'@run,'=q,AP,1.0,")


@pytest.mark.parametrize("query", ["a\nb", "a\tb", "a\rb"])
def test_an_id_that_breaks_a_line_is_refused_by_the_layout_of_trec_eval(query: str) -> None:
    run = ir.evaluate({query: {"d": 1}, "q": {"d": 1}}, ir.Run({query: ["d"]}, name="mine"), ["AP"])

    with pytest.raises(
        InputError, match=r"run mine, query 'a\\.b': found a (line feed|tab|carriage return)"
    ):
        list(trec_report([run], per_query=True))
    with pytest.raises(InputError, match=r"query 'a\\.b': found a"):
        list(
            trec_eval_report(
                run, [TrecColumn(name="map", measure=ir.AP())], runid="t", per_query=True
            )
        )
    assert len(list(trec_report([run]))) == 2


def test_a_name_that_breaks_a_line_is_refused_by_the_layout_of_trec_eval() -> None:
    run = ir.evaluate({"q": {"d": 1}}, ir.Run({"q": ["d"]}, name="a\nb"), ["AP"])

    with pytest.raises(InputError, match=r"run 'a\\nb': found a line feed"):
        list(trec_report([run]))


CALLS = [
    "@user",
    "x @user",
    "(@user)",
    "me@example.com",
    "#1",
    "x#12",
    "user/repo#1",
    "GH-12",
    "https://evil.example",
    "http://x.y",
    "www.evil.example",
    "ftp://x",
    "<b>x</b>",
    "a|b",
    "![x](y)",
    "[x](y)",
    "[x]: y",
    "`x`",
    "*x*",
    "$x$",
    ":smile:",
    "mailto:a@b.c",
    "<!-- x",
    "&lt;",
    "# head",
    "> quote",
    "- item",
    "1. item",
    "---",
    "***",
]
# What GitHub makes of a text once Markdown is read: mentions, numbers of issues, links, pictures of
# faces.
LIVE = re.compile(
    r"(?<![^\W_])@\w|@\w[\w-]*\.\w|#\d|\bGH-\d|://|\bwww\.\w|:[a-z_]+:", re.IGNORECASE
)


def shown_by_markdown(text: str) -> str:
    """The text of one paragraph or cell in which nothing is more than text."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    assert [token.type for token in tokens] in (
        [],
        ["paragraph_open", "inline", "paragraph_close"],
    ), tokens
    children = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in children} <= {"text", "text_special"}, children
    return "".join(child.content for child in children)


@pytest.mark.parametrize("name", CALLS)
def test_markdown_shows_names_and_obeys_none(name: str) -> None:
    shown = shown_by_markdown(markdown_text(name))

    assert shown.replace("\u2060", "") == name
    assert not LIVE.search(shown), shown


@given(st.text(st.sampled_from("@#:/.wGH-1x$<>|`*_[]()! \\&~+="), max_size=12))
def test_no_name_is_live(name: str) -> None:
    shown = shown_by_markdown(markdown_text(name.strip()))

    assert not LIVE.search(shown), (name, shown)


@pytest.mark.parametrize(
    "name",
    ["nDCG@10", "bm25_rm3", "P@5 of x", "Differences are b - a.", "run-2.1 (old)", "q12: 0.5"],
)
def test_plain_names_stay_readable_in_the_source(name: str) -> None:
    assert markdown_text(name) == name
