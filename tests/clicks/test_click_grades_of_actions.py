"""Grades from a declared table of actions and seconds, and rows whose texts are hashed."""

import numpy as np
import pytest

from idealrank.clicks import LogRows, grades_of_actions
from idealrank.errors import InputError, OptionError

TABLE = {"none": 0, "clicked": 1, "booked": 4}


def naive(
    events: list[tuple[str, str, str, float]], dwell: dict[float, float], least: int
) -> dict[str, dict[str, float]]:
    """Grades by looking through all events for each pair."""
    best: dict[str, dict[str, float]] = {}
    for query, document, _, _ in events:
        own = [
            (action, seconds)
            for query_id, document_id, action, seconds in events
            if (query_id, document_id) == (query, document)
        ]
        if len(own) >= least:
            by_action = [TABLE[action] for action, _ in own]
            by_seconds = [
                grade for _, seconds in own for step, grade in dwell.items() if seconds >= step
            ]
            best.setdefault(query, {})[document] = float(max(by_action + by_seconds))
    return best


@pytest.mark.parametrize("least", [1, 4])
def test_the_grade_is_the_greatest_of_all_actions_and_seconds(least: int) -> None:
    rng = np.random.default_rng(5)
    events = [
        (
            f"q{rng.integers(4)}",
            f"d{rng.integers(6)}",
            str(rng.choice(list(TABLE), p=[0.7, 0.25, 0.05])),
            float(rng.exponential(8)),
        )
        for _ in range(120)
    ]
    dwell = {30.0: 3.0, 10.0: 2.0}  # in no order
    query, document, action, seconds = map(list, zip(*events, strict=True))
    qrels = grades_of_actions(
        query, document, action, TABLE, least=least, dwell=seconds, dwell_table=dwell
    )
    expected = naive(events, dwell, least)
    assert {query: dict(qrels[query]) for query in qrels.queries} == expected
    assert len({grade for grades in expected.values() for grade in grades.values()}) >= 3


def test_seconds_and_their_grades_need_each_other() -> None:
    event = (["q"], ["a"], ["clicked"], TABLE)
    with pytest.raises(OptionError, match="expected both, or neither"):
        grades_of_actions(*event, dwell=[3.0])
    with pytest.raises(OptionError, match="expected both, or neither"):
        grades_of_actions(*event, dwell_table={3: 1})
    with pytest.raises(OptionError, match="found a threshold of -1 seconds"):
        grades_of_actions(*event, dwell=[3.0], dwell_table={3: 1, -1: 2})


def test_hashes_keep_equal_texts_equal_and_depend_on_the_key() -> None:
    rows = LogRows(
        session=["s", "t", "s"],
        query=["q", "q", "r"],
        document=["a", "b", "a"],
        rank=np.array([1.0, 1.0, 1.0]),
        click=np.array([0.0, 1.0, 0.0]),
        user=["u", "v", "u"],
    )
    plain, keyed = rows.redacted(), rows.redacted(b"secret")
    for hashed in (plain, keyed):
        assert hashed.user is not None
        assert (hashed.query[0] == hashed.query[1], hashed.query[0] == hashed.query[2]) == (
            True,
            False,
        )
        assert hashed.user[0] == hashed.user[2] != hashed.user[1]
        assert list(hashed.document) == ["a", "b", "a"]
        assert hashed.check().sessions.clicks.tolist() == rows.check().sessions.clicks.tolist()
    assert set(plain.query).isdisjoint(keyed.query)
    with pytest.raises(InputError, match="found 65 bytes, expected at most 64"):
        rows.redacted(b"x" * 65)
