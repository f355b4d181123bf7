"""`idealrank compare --slices`: every format has the slices of the library, traffic makes thirds,
and errors name file and line.
"""

import csv
import io
import json
import runpy
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.analysis.comparison import Comparison
from idealrank.errors import IdealrankWarning
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]
PYDOCS = Path(__file__).resolve().parents[2] / "examples" / "pydocs"

COMMANDS = {
    "table": "compare qrels.txt bm25.run neural.run -m nDCG@10,AP --slices slices.csv",
    "json": "compare qrels.txt bm25.run neural.run -m AP --slices slices.csv --test t --format "
    "json",
    "latex": "compare qrels.txt bm25.run neural.run -m AP --slices slices.csv --format latex",
    "error-no-query": "compare qrels.txt bm25.run neural.run --slices curve.csv",
    "error-traffic": "compare qrels.txt bm25.run neural.run --slices traffic:slices.csv",
    "error-no-file": "compare qrels.txt bm25.run neural.run --slices nothing.csv",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_compare_says_of_slices(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"slices-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Judgments of 16 queries (all flips are few), three runs, categories that overlap, and
    traffic.
    """
    generator = np.random.default_rng(2)
    queries = [f"q{place}" for place in range(16)]
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 rel 1\n" for query in queries), encoding="utf-8"
    )
    for name, deepest in (("base", 9), ("good", 3), ("likewise", 9)):
        lines = []
        for query in queries:
            documents = [f"d{place}" for place in range(10)]
            documents.insert(int(generator.integers(0, deepest)), "rel")
            lines += [
                f"{query} Q0 {document} {rank} {99 - rank} t\n"
                for rank, document in enumerate(documents)
            ]
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    rows = [
        f"{query},{'even' if place % 2 == 0 else 'odd'}\n" for place, query in enumerate(queries)
    ]
    rows += [f"{query},first_10\n" for query in queries[:10]]
    (tmp_path / "slices.csv").write_text("query,category\n" + "".join(rows), encoding="utf-8")
    traffic = "".join(f"{query},{2 ** (place // 3)}\n" for place, query in enumerate(queries))
    (tmp_path / "traffic.csv").write_text(f"query,traffic\n{traffic}", encoding="utf-8")
    return tmp_path


def compared(folder: Path, slices: object, *names: str, **options: object) -> Comparison:
    runs = [
        ir.evaluate(
            folder / "qrels.txt",
            folder / f"{name}.run",
            ir.with_companions(["RR", "P@3"]),
            keep_unjudged=True,
        )
        for name in names
    ]
    return ir.compare(*runs, measures=["RR", "P@3"], slices=slices, **options)  # type: ignore[arg-type]


def measures_of(record: dict[str, Any]) -> list[Any]:
    return [pair["measures"] for pair in record["pairs"]]


def test_every_format_has_the_slices_of_the_library(say: Say, folder: Path) -> None:
    expected = compared(
        folder, ir.read_categories(folder / "slices.csv"), "base", "good", "likewise"
    )
    options = shlex.split(
        "compare qrels.txt base.run good.run likewise.run -m RR,P@3 --slices slices.csv --format"
    )

    record = json.loads(say(*options, "json", cwd=folder).out)
    rows = list(csv.DictReader(io.StringIO(say(*options, "csv", cwd=folder).out)))
    texts = {
        layout: say(*options, layout, "--digits", "4", cwd=folder).out
        for layout in ("table", "markdown", "latex")
    }

    assert measures_of(record) == measures_of(expected.as_dict())
    assert record["method"]["families"] == {
        "primary measure": 3,
        "companions": 3,
        "slices": 9,
        "slices of companions": 9,
    }
    assert record["method"]["slices"] == {"in_none": 0, "in_several": 10, "unknown": 0}
    assert [row["slice"] for row in rows] == [
        record["slice"] or "" for record in expected.records()
    ]
    assert [float(row["p"]) for row in rows] == [record["p"] for record in expected.records()]
    for layout, text in texts.items():
        for _, whole in expected.rows():
            for row in whole.slices or ():
                assert f"{row.difference:+.4f}" in text
        assert ("first\\_10" if layout == "latex" else "first_10") in text
        assert "10 queries are in several slices and count in each" in " ".join(text.split())
    assert texts["table"].count("slices by RR: ") == 3


def test_traffic_makes_head_torso_and_tail_with_and_without_weights(say: Say, folder: Path) -> None:
    traffic = ir.read_traffic(folder / "traffic.csv")
    thirds = ir.traffic_thirds(traffic)
    options = shlex.split(
        "compare qrels.txt base.run good.run -m RR,P@3 --format json --slices traffic:traffic.csv"
    )

    plain = json.loads(say(*options, cwd=folder).out)
    weighted = json.loads(say(*options, "--weights", "traffic.csv", cwd=folder).out)

    assert set(plain["pairs"][0]["measures"]["RR"]["slices"]) == {"head", "torso", "tail"}
    assert measures_of(plain) == measures_of(compared(folder, thirds, "base", "good").as_dict())
    with pytest.warns(IdealrankWarning, match="16 queries count as much as 7.6 of equal weight"):
        assert measures_of(weighted) == measures_of(
            compared(folder, thirds, "base", "good", weights=traffic).as_dict()
        )


def test_many_runs_against_one_have_one_table_of_slices(say: Say, folder: Path) -> None:
    for number in range(5):
        (folder / f"r{number}.run").write_text(
            (folder / "good.run").read_text(encoding="utf-8"), encoding="utf-8"
        )
    names = [f"r{number}.run" for number in range(5)]

    said = say(
        "compare",
        "qrels.txt",
        "base.run",
        *names,
        *shlex.split("--baseline base -m RR --slices slices.csv"),
        cwd=folder,
    )
    every = say(
        "compare",
        "qrels.txt",
        "base.run",
        *names,
        *shlex.split("-m RR --slices slices.csv --format markdown"),
        cwd=folder,
    )

    assert "differences on slices by RR (* better or worse after correction)" in said.out
    assert "\nr3 - base" in said.out
    assert every.out.count("first_10") == 15


def test_a_column_of_traffic_is_no_category(say: Say, folder: Path) -> None:
    (folder / "bad.csv").write_text("query,category\nq1,news\nq2\n", encoding="utf-8")

    columns = say(
        "compare", "qrels.txt", "base.run", "good.run", "--slices", "traffic.csv", cwd=folder
    )
    line = say("compare", "qrels.txt", "base.run", "good.run", "--slices", "bad.csv", cwd=folder)

    assert (columns.code, line.code) == (2, 2)
    assert "traffic.csv:1: found no column for category among 'query', 'traffic'" in columns.err
    assert "--slices traffic:traffic.csv" in columns.err
    assert "bad.csv:3: found 1 cell, expected 2, as in the header line" in line.err


def test_the_categories_of_the_demo_follow_their_rule(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(PYDOCS / "categories.py"), run_name="__main__")

    assert capsys.readouterr().out == (PYDOCS / "categories.csv").read_text(encoding="utf-8")
    assert len(ir.read_categories(PYDOCS / "categories.csv")) == 60


@pytest.mark.parametrize(
    ("slices", "said_of_it"),
    [
        ("empty.csv", "error: empty.csv: found no query, expected compared queries, such as 'q0'"),
        ("traffic:", "error: slices: found 'traffic:' without a file, expected traffic:FILE"),
    ],
)
def test_slices_of_no_query_are_refused(
    slices: str, said_of_it: str, folder: Path, say: Say
) -> None:
    (folder / "empty.csv").write_text("query,category\n", encoding="utf-8")
    said = say("compare", "qrels.txt", "base.run", "good.run", "--slices", slices, cwd=folder)
    assert (said.code, said.err.strip()) == (2, said_of_it)


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
@pytest.mark.parametrize(("option", "word"), [("--weights", "weights"), ("--cluster", "clusters")])
def test_a_test_without_weights_names_one_with_them(
    test: str, option: str, word: str, folder: Path, say: Say
) -> None:
    path = "traffic.csv" if word == "weights" else "users.csv"
    (folder / "users.csv").write_text(
        "query,user\n" + "".join(f"q{n},u{n // 2}\n" for n in range(16)), encoding="utf-8"
    )
    said = say(
        "compare", "qrels.txt", "base.run", "good.run", "--test", test, option, path, cwd=folder
    )
    assert said.code == 2
    assert f"test '{test}': found {word} of queries, which it cannot take" in said.err
    assert "use --test t or --test permutation" in said.err
    with pytest.raises(ir.OptionError, match='use test="t" or test="permutation"'):
        ir.slices(
            {"q1": 1.0, "q2": 0.5},
            {"q1": 0.5, "q2": 1.0},
            {"q1": "x"},
            test=test,
            weights={"q1": 1.0, "q2": 2.0},
        )  # type: ignore[arg-type]
