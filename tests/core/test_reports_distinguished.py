"""Tables of distinguishability show some list lengths and say how many were simulated."""

import csv
import io
import json

import pytest

from idealrank.reports.table.records import delimited
from idealrank.theory import distinguish_many
from idealrank.theory.views.tables import (
    distinguished_json,
    distinguished_rows,
    distinguished_table,
)

FOUND = distinguish_many(
    lambda s: s,
    lambda s: 0.5,
    [("log2", None), ("log2", 3)],
    sizes=range(10, 200, 7),
    runs=20,
    rng=1,
)
NAMES = ["nDCG", "nDCG@3"]


def test_the_table_shows_landmarks_and_says_how_many_lengths_there_are() -> None:
    text = "".join(distinguished_table(FOUND))

    shown = [
        line.split()[0] for line in text.splitlines() if line.strip() and line.split()[0].isdigit()
    ]
    assert shown[:4] == ["10", "31", "101", "199"]
    assert "28 list lengths from 10 to 199 were simulated" in text
    assert (
        text.count("covers at most one factor of 10")
        == text.count("The simulation does not cover lists longer than 199")
        == 1
    )
    every = "".join(distinguished_table(FOUND, every_size=True))
    assert len(every.splitlines()) > 2 * 28


def test_json_and_csv_have_every_length_and_the_numbers_of_the_library() -> None:
    record = json.loads(distinguished_json(FOUND, measures=NAMES))
    rows = list(
        csv.DictReader(io.StringIO("".join(delimited(distinguished_rows(FOUND, measures=NAMES)))))
    )

    assert record["largest"] == 199
    assert len(rows) == 2 * 28
    for place, (name, found) in enumerate(zip(NAMES, FOUND, strict=True)):
        sizes = record["measures"][place]["sizes"]
        assert [row["size"] for row in sizes] == found.sizes.tolist()
        assert [row["a_better"] for row in sizes] == found.share("a_better").tolist()
        assert [row["constant_low"] for row in sizes] == pytest.approx(
            found.interval("constant")[:, 0], abs=1e-6
        )
        mine = [row for row in rows if row["measure"] == name]
        assert [float(row["b_always_high"]) for row in mine] == [
            row["b_always_high"] for row in sizes
        ]
        assert mine[-1]["last_decade"] == "true"
