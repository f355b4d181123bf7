"""A report of 10,000 queries, 10 runs and 3 measures: below two megabytes, and usable soon after it opens."""

import time
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir
from idealrank.evaluation.evaluate import Evaluation
from tests.web.browsing import Visits

QUERIES, RUNS = 10_000, 10


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Values that hardly pack: each its own."""
    rng = np.random.default_rng(5)
    one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["nDCG@10", "AP", "RR"])
    queries = [f"query-{number}" for number in range(QUERIES)]
    evaluations = [
        Evaluation(f"run {place}", queries, one.measures, values, np.ones(values.shape, bool), one.coverage, one.provenance)
        for place, values in enumerate(rng.random((RUNS, QUERIES, 3)))
    ]
    path = tmp_path_factory.mktemp("large") / "report.html"
    ir.report(evaluations, path, queries={query: f"words of {query}" for query in queries})
    return path


@pytest.mark.slow
def test_it_is_small_and_opens_in_seconds(visit: Visits, large: Path) -> None:
    assert large.stat().st_size < 2_000_000
    began = time.perf_counter()

    page = visit.report(large)

    opened = time.perf_counter() - began
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert painted < 3_000, f"first paint after {painted:.0f} ms"
    assert opened < 10, f"the table was there after {opened:.1f} s"
    assert page.locator("#query-table tbody tr").count() == 50


@pytest.mark.slow
def test_its_table_answers_at_once(visit: Visits, large: Path) -> None:
    page = visit.report(large)
    head = page.locator("#query-table thead button").nth(1)
    began = time.perf_counter()

    head.click()
    first = page.locator("#query-table tbody tr td").first.inner_text()
    page.locator("input[name=find]").fill("query-9999")

    taken = time.perf_counter() - began
    assert float(first) < 0.001
    assert page.locator("#query-table tbody tr").count() == 1
    assert taken < 5, f"sorting and searching took {taken:.1f} s"
