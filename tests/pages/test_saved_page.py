"""A report is a str that saves itself, and one line in a notebook."""

import pickle
from pathlib import Path

import pytest

import idealrank as ir

HTML = "<!DOCTYPE html><p>" + "nDCG@10 " * 10_000


def test_a_page_is_its_html_and_one_line_in_a_notebook() -> None:
    page = ir.Page(HTML)

    assert page == HTML
    assert (str(page), page.html, f"{page}", "nDCG" in page) == (HTML, HTML, HTML, True)
    assert type(page.html) is str
    assert repr(page) == '<idealrank page of 80 kB, not saved; page.save("report.html") writes it>'
    assert (
        page._repr_html_()
        == '<p>Page of 80 kB, not saved: <code>page.save("report.html")</code> writes it.</p>'
    )


def test_a_saved_page_is_a_link(tmp_path: Path) -> None:
    path = tmp_path / "a <b>&c.html"
    page = ir.Page(HTML).save(path)

    assert path.read_text(encoding="utf-8") == HTML
    assert page.path == str(path)
    shown = page._repr_html_()
    assert shown.count("<") == shown.count(">") == 4
    assert 'a%20%3Cb%3E%26c.html" target' in shown
    assert "a &lt;b&gt;&amp;c.html</a>" in shown
    assert 'href="javascript:' not in ir.Page(HTML, "javascript:alert(1)")._repr_html_()
    again = pickle.loads(pickle.dumps(page))
    assert (again, again.path) == (page, page.path)


def test_report_returns_a_page_with_its_path(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    one = ir.evaluate(
        {f"q{i}": {"a": 1} for i in range(4)}, {f"q{i}": ["a"] for i in range(4)}, "RR"
    )

    page, saved = ir.report(one), ir.report(one, tmp_path / "report.html")

    assert isinstance(page, ir.Page)
    assert page.path is None
    assert saved.path == str(tmp_path / "report.html")
    assert Path(saved.path).read_text(encoding="utf-8") == saved
    assert len(saved._repr_html_()) < 500 + len(saved.path)
