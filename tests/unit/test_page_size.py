"""The size of a page of many queries, runs and measures."""

import numpy as np
import pytest

import idealrank as ir
from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.page.html import MOST_BYTES, page_html
from idealrank.reports.subject import Listing, QueryLists, Subject

QUERIES, RUNS, DEPTH = 10_000, 10, 10


def random_subject(rng: np.random.Generator) -> Subject:
    """Values that no compression makes smaller, and rankings of every query."""
    queries = [f"query-{number}" for number in range(QUERIES)]
    one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["nDCG@10", "AP", "RR"])
    evaluations = []
    for run in range(RUNS):
        values = rng.random((QUERIES, 3))
        evaluations.append(
            Evaluation(f"run-{run}", queries, one.measures, values, np.ones(values.shape, bool), one.coverage, one.provenance)
        )
    documents = rng.integers(0, 10**9, (300, DEPTH))
    listings = [
        Listing(
            documents=tuple(f"doc-{number}" for number in row),
            grades=(1.0,) * DEPTH,
            tied=(False,) * DEPTH,
            added=tuple(rng.random(DEPTH)),
            length=1000,
        )
        for row in documents
    ]
    lists = {
        query: QueryLists(runs=tuple(listings[(place + run) % 300] for run in range(RUNS)), relevant=())
        for place, query in enumerate(queries)
    }
    texts = {query: f"words of {query} {rng.integers(10**9)}" for query in queries}
    return Subject(evaluations=tuple(evaluations), measures=one.measures, lists=lists, query_texts=texts)


@pytest.fixture(scope="module")
def page() -> str:
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    return page_html(random_subject(np.random.default_rng(7)))


@pytest.mark.slow
def test_ten_thousand_queries_of_ten_runs_and_three_measures_keep_below_two_megabytes(page):
    size = len(page.encode())

    assert size <= MOST_BYTES < 2_000_000
    assert size > MOST_BYTES - 60_000, "there was room for more rankings"


def test_the_page_says_how_many_rankings_it_has_and_how_exact_its_values_are(page):
    assert "the largest differences first, had room on this page" in page
    assert "idealrank explain" in page
    assert "are rounded: the largest error is 8e-06" in page
