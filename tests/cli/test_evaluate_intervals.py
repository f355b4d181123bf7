"""`idealrank evaluate --intervals`: what it prints and refuses."""

import json
import shlex
from collections.abc import Callable

import pytest

import idealrank as ir
from tests.cli.terminal import DATA, Said, check_snapshot

Say = Callable[..., Said]

COMMANDS = {
    "table-intervals": "evaluate qrels.txt bm25.run neural.run --intervals -m nDCG@10,RR,NumRel",
    "json-intervals": "evaluate qrels.txt bm25.run neural.run --intervals --format json -m "
    "nDCG@10,NumRel",
    "csv-intervals": "evaluate qrels.txt bm25.run neural.run --intervals --format csv -m "
    "nDCG@10,NumRel",
    "error-intervals-trec": "evaluate qrels.txt bm25.run --intervals --format trec",
    "error-intervals-per-query": "evaluate qrels.txt bm25.run --intervals --per-query --format csv",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_evaluate_says_of_intervals(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"
    said = say(*shlex.split(command)[1:])
    check_snapshot(f"evaluate-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_the_numbers_are_those_of_the_library(say: Say) -> None:
    said = say(
        "evaluate", "qrels.txt", "neural.run", "--intervals", "--format", "json", "-m", "nDCG@10,AP"
    )
    found = ir.intervals(ir.evaluate(DATA / "qrels.txt", DATA / "neural.run", ["nDCG@10", "AP"]))
    assert json.loads(said.out)["runs"][0]["intervals"] == {
        measure: list(one.interval) for measure, one in found.items()
    }
