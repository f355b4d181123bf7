"""The size of a page of many queries, runs and measures."""

import json
import re
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealrank as ir
from idealrank.evaluation.evaluate import Evaluation
from idealrank.pages.page.html import MOST_BYTES, page_html
from idealrank.pages.page.short_ids import shortened
from idealrank.pages.page.value_codes import unpacked
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
            Evaluation(
                name=f"run-{run}",
                queries=queries,
                measures=one.measures,
                values=values,
                scored=np.ones(values.shape, bool),
                coverage=one.coverage,
                provenance=one.provenance,
            )
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
        query: QueryLists(
            runs=tuple(listings[(place + run) % 300] for run in range(RUNS)), relevant=()
        )
        for place, query in enumerate(queries)
    }
    texts = {query: f"words of {query} {rng.integers(10**9)}" for query in queries}
    return Subject(
        evaluations=tuple(evaluations), measures=one.measures, lists=lists, query_texts=texts
    )


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


@pytest.mark.slow
def test_the_page_says_how_many_rankings_it_has_and_how_exact_its_values_are(page):
    assert "the largest differences first, had room on this page" in page
    assert "idealrank explain" in page
    assert "are rounded: the largest error is 8e-06" in page


def long_ids(rng: np.random.Generator, count: int, letters: int) -> list[str]:
    """Ids that no compression makes much smaller."""
    alphabet = np.array(list(string.ascii_letters + string.digits + "-_"))
    return ["".join(row) for row in alphabet[rng.integers(0, 64, (count, letters))]]


def subject_of(queries: list[str], documents: list[str], rng: np.random.Generator) -> Subject:
    """Two runs with rankings of ten documents for every query, and a measure."""
    one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["nDCG@10"])
    evaluations = [
        Evaluation(
            name=name,
            queries=queries,
            measures=one.measures,
            values=values,
            scored=np.ones(values.shape, bool),
            coverage=one.coverage,
            provenance=one.provenance,
        )
        for name, values in (
            ("a", rng.random((len(queries), 1))),
            ("b", rng.random((len(queries), 1))),
        )
    ]
    lists = {
        query: QueryLists(
            runs=tuple(
                Listing(
                    documents=tuple(
                        documents[(number * 20 + run * 10 + rank) % len(documents)]
                        for rank in range(DEPTH)
                    ),
                    grades=(1.0,) * DEPTH,
                    tied=(False,) * DEPTH,
                    added=(0.5,) * DEPTH,
                    length=DEPTH,
                )
                for run in range(2)
            ),
            relevant=(),
        )
        for number, query in enumerate(queries)
    }
    return Subject(evaluations=tuple(evaluations), measures=one.measures, lists=lists)


def data_of(page: str, part: str) -> dict:
    packed = re.search(rf'id="page-{part}"[^>]*>([^<]*)<', page)
    assert packed is not None
    return json.loads(unpacked(packed[1]))


@pytest.fixture(scope="module")
def page_of_long_ids() -> tuple[list[str], str]:
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    rng = np.random.default_rng(3)
    queries = long_ids(rng, QUERIES, 200)
    return queries, page_html(subject_of(queries, long_ids(rng, 1000, 200), rng))


@pytest.mark.slow
def test_random_ids_of_two_hundred_letters_keep_below_two_megabytes(page_of_long_ids):
    assert len(page_of_long_ids[1].encode()) <= MOST_BYTES


@pytest.mark.slow
def test_a_page_says_which_ids_it_shortens_and_names_all_queries_apart(page_of_long_ids):
    queries, page = page_of_long_ids
    data = data_of(page, "data")

    assert "Ids of 10,000 queries, longer than 24 letters, stand without their middle" in page
    assert len(set(data["queries"])) == QUERIES
    assert data["shortened"] == list(range(QUERIES))
    for query, short in zip(queries, data["queries"], strict=True):
        head, tail = short.split("…")
        assert len(short) == 24
        assert query.startswith(head)
        assert query.endswith(tail)


@pytest.mark.slow
def test_links_of_a_page_lead_to_queries_by_their_shortened_ids(page_of_long_ids):
    known = set(data_of(page_of_long_ids[1], "data")["queries"])
    links = re.findall(r'href="#query=([^"]*)"', page_of_long_ids[1])

    assert links
    assert {link.replace("%E2%80%A6", "…") for link in links} <= known


@pytest.mark.slow
def test_documents_of_long_ids_leave_room_for_some_rankings(page_of_long_ids):
    assert len(data_of(page_of_long_ids[1], "lists")["lists"]) > 100


@pytest.mark.slow
def test_ids_of_a_hundred_thousand_letters_keep_below_two_megabytes():
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    rng = np.random.default_rng(5)
    ids = long_ids(rng, 30, 100_000)

    page = page_html(subject_of(ids, ids, rng))

    assert len(page.encode()) <= MOST_BYTES
    assert len(data_of(page, "data")["queries"]) == 30


def test_ids_that_fit_stay_whole():
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    rng = np.random.default_rng(5)
    ids = long_ids(rng, 300, 200)

    page = page_html(subject_of(ids, ids, rng))

    assert data_of(page, "data")["queries"] == ids
    assert "without their middle" not in page


@given(ids=st.lists(st.text(alphabet="ab…1", max_size=14), unique=True), most=st.integers(8, 12))
def test_shortened_ids_are_told_apart_and_short_ids_stay_as_they_are(ids, most):
    short = shortened(ids, most)

    assert list(short) == ids
    assert len(set(short.values())) == len(ids)
    assert all(short[one] == one for one in ids if len(one) <= most)
