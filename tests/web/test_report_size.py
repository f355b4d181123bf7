"""A report of 10,000 queries, 10 runs and 3 measures: below two megabytes, and usable soon after it
opens.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import idealrank as ir
from idealrank.evaluation.evaluate import Evaluation
from tests.web.browsing import Visits, drawn, expect, ready

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

QUERIES, RUNS = 10_000, 10


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Values that hardly pack: each its own."""
    rng = np.random.default_rng(5)
    one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["nDCG@10", "AP", "RR"])
    queries = [f"query-{number}" for number in range(QUERIES)]
    evaluations = [
        Evaluation(
            name=f"run {place}",
            queries=queries,
            measures=one.measures,
            values=values,
            scored=np.ones(values.shape, bool),
            coverage=one.coverage,
            provenance=one.provenance,
        )
        for place, values in enumerate(rng.random((RUNS, QUERIES, 3)))
    ]
    path = tmp_path_factory.mktemp("large") / "report.html"
    ir.report(evaluations, path, queries={query: f"words of {query}" for query in queries})
    return path


def counted(page: "Page") -> "CDPSession":
    """Count the work of a page from now on: seconds of processor, which other programs do not take
    from it, as they do of a clock's.
    """
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return session


def worked(session: "CDPSession") -> float:
    """Seconds of processor that the page's scripts, styles and layout have taken."""
    found = session.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in found if one["name"] == "TaskDuration"))


@pytest.mark.slow
def test_it_is_small_and_opens_in_seconds(visit: Visits, large: Path) -> None:
    assert large.stat().st_size < 2_000_000
    page = visit("an empty page")
    session = counted(page)

    page.goto(large.as_uri())
    ready(page)

    opened = worked(session)
    assert opened < 3, f"the table was there after {opened:.1f} s of work"
    expect(page.locator("#query-table tbody tr")).to_have_count(50)


@pytest.mark.slow
def test_its_table_answers_at_once(visit: Visits, large: Path) -> None:
    page = drawn(visit.report(large))
    session = counted(page)
    before = worked(session)

    page.locator("#query-table thead button").nth(1).click()
    page.wait_for_selector("#query-table th[aria-sort=ascending]")
    first = page.locator("#query-table tbody tr td").first.inner_text()
    page.locator("input[name=find]").fill("query-9999")

    taken = worked(session) - before
    assert float(first) < 0.001
    assert page.locator("#query-table tbody tr").count() == 1
    assert taken < 1, f"sorting and searching took {taken:.1f} s of work"
