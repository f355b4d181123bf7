"""The share of unjudged documents is one number in every command: of the documents returned down to
the cutoff, all queries together.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from tests.cli.terminal import Said

Say = Callable[..., Said]

# Lists shorter than the cutoff of 10: 4 documents returned, 2 of them unjudged, over three queries,
# one of which the run misses. Shares of ranks would give (1/10 + 1/10 + 0) / 3, and the mean over
# queries (1/3 + 1 + 0) / 3. Grade -1 is a judgment like any other.
SHORT = {"q1": ["a", "b", "x"], "q2": ["y"]}
# 16 documents within the first ten ranks, 4 of them unjudged; those below do not count.
LONG = {
    "q1": ["a", "b", "c", "v", "w"],
    "q2": [*"ab", *(f"j{i}" for i in range(6)), "v", "w", "t", "u"],
    "q3": ["a"],
}
QRELS = {
    "q1": {"a": 1, "b": -1, "c": 0},
    "q2": {"a": 1, "b": 0} | {f"j{i}": 0 for i in range(6)},
    "q3": {"a": 1},
}
SHARES = {"short": 2 / 4, "long": 4 / 16}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [
        f"{query} 0 {document} {grade}\n"
        for query, grades in QRELS.items()
        for document, grade in grades.items()
    ]
    (tmp_path / "qrels.txt").write_text("".join(lines), encoding="utf-8")
    for name, run in (("short", SHORT), ("long", LONG)):
        lines = [
            f"{q} Q0 {d} {n} {-n} {name}\n"
            for q, documents in run.items()
            for n, d in enumerate(documents, 1)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def test_every_command_says_the_same_share_of_a_short_list(folder: Path, say: Say) -> None:
    def asked(command: str, *options: str) -> dict[str, Any]:
        said = say(command, "qrels.txt", *options, "-m", "nDCG@10", "--format", "json", cwd=folder)
        assert said.code == 0, said.err
        return dict(json.loads(said.out))

    evaluated = asked("evaluate", "short.run", "long.run")["runs"]
    assert {one["name"]: one["coverage"]["unjudged_share"] for one in evaluated} == SHARES

    row = asked("compare", "short.run", "long.run")["pairs"][0]["measures"]["nDCG@10"]
    assert (row["unjudged_a"], row["unjudged_b"]) == (SHARES["short"], SHARES["long"])

    check = asked("gate", "long.run", "--baseline", "short.run")["checks"][0]
    assert (check["unjudged_baseline"], check["unjudged_run"]) == (SHARES["short"], SHARES["long"])

    queries = asked("why", "short.run", "long.run")["queries"]
    assert [sum(query[f"unjudged_{side}"] for query in queries) for side in "ab"] == [2, 4]

    rows = [
        row for query in SHORT for row in asked("explain", "short.run", "--query", query)["rows"]
    ]
    assert sum(row["grade"] is None for row in rows) / len(rows) == SHARES["short"]

    assert (
        json.loads(
            say("measures", "advise", "qrels.txt", "short.run", "--format", "json", cwd=folder).out
        )["observed"]["unjudged"]["10"]
        == 0.5
    )


def test_the_page_of_a_comparison_says_it_too(folder: Path, say: Say) -> None:
    assert (
        say(
            "compare",
            "qrels.txt",
            "short.run",
            "long.run",
            "-m",
            "nDCG@10",
            "--report",
            "page.html",
            cwd=folder,
        ).code
        == 0
    )

    shares = re.findall(
        r'data-value="([\d.]+)">\d+\.\d%', (folder / "page.html").read_text(encoding="utf-8")
    )

    assert {float(share) for share in shares} == set(SHARES.values())


def test_a_choice_of_settings_looks_at_the_same_documents() -> None:
    qrels, short, long = (
        {f"{q}{copy}": found for q, found in one.items() for copy in "ab"}
        for one in (QRELS, SHORT, LONG)
    )

    choice = ir.choose(qrels, [short, long], discounts=["log2"], cutoffs=[2, 10], size=2)

    # of the run with the larger one
    assert [setting.unjudged for setting in choice.settings] == [1 / 3, SHARES["short"]]


def test_the_shares_of_queries_that_are_not_compared_do_not_count() -> None:
    convention = "standard,missing=left-out"
    evaluations = [
        ir.evaluate(QRELS, ir.Run(run), ir.with_companions("nDCG@10"), convention)
        for run in (SHORT, LONG)
    ]

    row = ir.compare(*evaluations, measures="nDCG@10").pairs[0].measures["nDCG@10"]

    assert row.n == 2
    # without q3, which the first run misses
    assert (row.unjudged_a, row.unjudged_b) == (2 / 4, 4 / 15)


@pytest.mark.filterwarnings("ignore::idealrank.errors.IdealrankWarning")
def test_a_run_that_returns_nothing_has_no_unjudged_document() -> None:
    nothing, one = (
        ir.evaluate(QRELS, ir.Run(run), ir.with_companions("nDCG@10"))
        for run in ({"q9": ["a"]}, {"q1": ["x", "a"]})
    )

    row = ir.compare(nothing, one, measures="nDCG@10").pairs[0].measures["nDCG@10"]

    assert (row.unjudged_a, row.unjudged_b) == (0.0, 0.5)
    assert [evaluation.coverage.unjudged_share for evaluation in (nothing, one)] == [0.0, 0.5]
