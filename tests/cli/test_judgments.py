"""Judgments of other kinds on the command line: measured as in Python."""

import json
from collections.abc import Callable

import pytest

import idealrank as ir
from tests.cli.terminal import DATA, Said

Say = Callable[..., Said]


@pytest.mark.parametrize(
    ("kind", "path", "read"),
    [
        ("prefs", "preferences.txt", ir.read_preferences),
        ("qrels_jg", "assessors.qrels", ir.read_assessors),
    ],
)
def test_judgments_of_other_kinds_have_default_measures_of_their_own(
    say: Say, kind: str, path: str, read: Callable[..., object]
) -> None:
    (run,) = json.loads(
        say("evaluate", "--judgments", kind, path, "bm25.run", "--format", "json").out
    )["runs"]

    assert run["mean"] == ir.evaluate(read(DATA / path), DATA / "bm25.run").mean()
    assert len(run["mean"]) == {"prefs": 3, "qrels_jg": 2}[kind]
