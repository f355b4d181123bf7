"""The guide from a closed gate to its query: four clicks, from a page like that of a pull request
to what `why` names first.
"""

import html
import re
from pathlib import Path

import pytest

from tests.conftest import PYDOCS
from tests.in_process import run
from tests.web import pages
from tests.web.browsing import Visits, address, ready, shows_query


@pytest.fixture
def pull_request(tmp_path: Path) -> Path:
    """What the guide's command wrote, behind pages that stand for those of GitHub: the comment, and
    the files of the job.
    """
    arguments = [
        "gate",
        pages.QRELS,
        pages.BM25,
        "--baseline",
        pages.MINILM,
        "--queries",
        str(PYDOCS / "queries.tsv"),
    ]
    code, _, problem = run(
        [
            *arguments,
            "--markdown",
            str(tmp_path / "gate.md"),
            "--report",
            str(tmp_path / "report.html"),
        ]
    )
    assert code == 1, problem
    comment = html.escape((tmp_path / "gate.md").read_text(encoding="utf-8"))
    page = "<!DOCTYPE html><meta charset=utf-8><title>{}</title>{}"
    (tmp_path / "files.html").write_text(
        page.format("ranking-gate", "<a href=report.html>report.html</a>"), encoding="utf-8"
    )
    path = tmp_path / "pull-request.html"
    path.write_text(
        page.format("Pull request", f"<pre>{comment}</pre><a href=files.html>Ranking report</a>"),
        encoding="utf-8",
    )
    return path


@pytest.mark.slow
def test_four_clicks_lead_to_the_query_that_why_names_first(
    visit: Visits, pull_request: Path
) -> None:
    code, said, _ = run(["why", pages.QRELS, pages.MINILM, pages.BM25])
    worst = re.findall(r"^query (\S+):", said, re.MULTILINE)[0]
    assert code == 0
    page = visit(pull_request)

    page.get_by_role("link", name="Ranking report").click()
    page.get_by_role("link", name="report.html").click()
    ready(page)
    assert (
        page.locator("h1")
        .inner_text()
        .startswith("The gate is closed: bm25 must not replace minilm")
    )
    assert (
        page.locator(".lead")
        .inner_text()
        .startswith("nDCG@10 against minilm: a drop of 0.203 is significant")
    )
    page.get_by_role("link", name="Queries that changed").click()
    page.locator("#regressions a").first.click()

    view = shows_query(page)
    assert re.search(rf"\b{worst}\b", view.inner_text())
    assert f"#query={worst}" in address(page)
    for document in (
        "configparser.RawConfigParser.read",
        "configparser.RawConfigParser.read_string",
    ):
        assert document in view.inner_text()
