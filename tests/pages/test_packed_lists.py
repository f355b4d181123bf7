"""Rankings of a page, deflated piece by piece, against the same JSON deflated at once."""

import json
import zlib

import numpy as np
import pytest

import idealrank as ir
from idealrank.pages.page import packed_rankings
from idealrank.pages.page.packed_rankings import fitting, lists_of, pieces_of
from idealrank.pages.page.value_codes import as_json
from idealrank.reports.subject import Listing, QueryLists, Subject

QUERIES, DEPTH = 1500, 10


@pytest.fixture(scope="module")
def subject() -> Subject:
    rng = np.random.default_rng(11)
    queries = [f"q{number}" for number in range(QUERIES)]
    one = ir.evaluate(
        {query: {"x": 1} for query in queries}, {query: ["x"] for query in queries}, "RR"
    )
    lists = {}
    for query in queries:
        documents = tuple(f"doc-{number}" for number in rng.integers(0, 5000, DEPTH))
        added = tuple(rng.random(DEPTH).tolist())
        listing = Listing(
            documents=documents,
            grades=(1.0,) * DEPTH,
            tied=(False,) * DEPTH,
            added=added,
            length=DEPTH,
        )
        lists[query] = QueryLists(runs=(listing, None), relevant=((documents[0], 1.0),))
    texts = {f"doc-{number}": f"text of {number}" for number in range(0, 5000, 3)}
    return Subject(evaluations=(one, one), measures=one.measures, lists=lists, document_texts=texts)


@pytest.mark.parametrize("room", [0, 20_000, 60_000, 10_000_000])
def test_the_content_is_the_json_of_the_first_rankings(subject: Subject, room: int) -> None:
    queries = list(subject.lists)
    pieces, content = fitting(subject, queries, room)
    assert zlib.decompress(content) == as_json(
        lists_of(subject, list(pieces_of(subject, queries))[: len(pieces)])
    )
    assert list(json.loads(zlib.decompress(content))["lists"]) == [
        str(place) for place in range(len(pieces))
    ]


@pytest.mark.parametrize("room", [100_000, 150_000])
def test_the_room_is_filled_and_hardly_passed(subject: Subject, room: int) -> None:
    pieces, content = fitting(subject, list(subject.lists), room)
    assert 0 < len(pieces) < QUERIES
    # what the deflation still holds, and documents behind all lists, is estimated
    assert 0.85 * room < len(content) * 4 / 3 < 1.05 * room


@pytest.mark.parametrize("room", [0, 150_000, 10_000_000])
def test_pieces_made_ahead_change_nothing(
    subject: Subject, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for ahead in (0, 16):
        monkeypatch.setattr(packed_rankings, "_AHEAD", ahead)
        found.append(fitting(subject, list(subject.lists), room))
    assert all(one == found[0] for one in found)
