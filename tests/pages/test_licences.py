"""Pages give copies of Vega and of what it brings along away, and with each copy the notices that
its licences ask for.
"""

import html

import pytest

import idealrank as ir
from idealrank.pages.figures import drawings
from idealrank.pages.page.html import page_html
from idealrank.reports.subject import Subject

NOTICES = [
    "Copyright (c) 2015-2023, University of Washington Interactive Data Lab",
    "Copyright 2010-2026 Mike Bostock",
    "Copyright (c) 2013, 2014, 2020 Joachim Wester",
    "Redistributions in binary form must reproduce the above copyright notice",
    "this permission notice appear in all copies",
    "all copies or substantial portions of the Software",
    "Licensed under the Apache License, Version 2.0",
]


def report() -> str:
    one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    return page_html(Subject(evaluations=(one,), measures=one.measures))


def figures() -> str:
    return drawings.page({"a": {"mark": "point", "data": {"values": [{}]}}}, "a")


@pytest.mark.parametrize("page", [report, figures])
def test_a_page_has_the_notices_of_what_draws_its_plots(page) -> None:
    text = html.unescape(page()).replace("\n", " ")

    assert [notice for notice in NOTICES if notice not in text] == []


def test_the_notices_are_short() -> None:
    assert len(drawings.licences()) < 7_000
