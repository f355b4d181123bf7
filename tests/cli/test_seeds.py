"""`idealrank seeds`: what it prints, that its formats agree with the library, folds, and its
errors.
"""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]

COMMANDS = {
    "table": "seeds qrels.txt old-seed1.run old-seed2.run vs new-seed1.run new-seed2.run -m "
    "nDCG@10,AP",
    "fixed": "seeds qrels.txt bm25.run vs new-seed*.run --single fixed -m AP",
    "csv": "seeds qrels.txt old-seed*.run vs new-seed*.run -m AP --crossed --format csv",
    "error-no-vs": "seeds qrels.txt old-seed1.run new-seed1.run",
    "error-one-side": "seeds qrels.txt vs new-seed1.run new-seed2.run",
    "error-one-copy": "seeds qrels.txt old-seed1.run vs new-seed1.run",
    "error-single": "seeds qrels.txt bm25.run vs new-seed1.run new-seed2.run",
    "error-pattern": "seeds qrels.txt old-seed1.run vs new-seed1.run new-seed2.run --copies '['",
    "error-no-copy": "seeds qrels.txt bm25.run vs new-seed1.run new-seed2.run --copies seed[0-9]",
    "error-no-folds": "seeds qrels.txt old-seed1.run old-seed2.run vs new-seed1.run new-seed2.run "
    "--copies seed",
    "error-twice": "seeds qrels.txt old-seed1.run vs old-seed1.run new-seed2.run",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_seeds_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"seeds-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two systems, two seeds of each, whole and as three folds."""
    generator = np.random.default_rng(2)
    queries = [f"q{place}" for place in range(30)]
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 rel 1\n" for query in queries), encoding="utf-8"
    )
    for system, deepest in (("old", 9), ("new", 4)):
        for seed in (1, 2):
            lines = {
                query: _ranked(query, int(generator.integers(0, deepest))) for query in queries
            }
            (tmp_path / f"{system}-seed{seed}.run").write_text(
                "".join(lines.values()), encoding="utf-8"
            )
            for fold in range(3):
                part = "".join(lines[query] for query in queries[fold::3])
                (tmp_path / f"{system}-s{seed}-fold{fold}.run").write_text(part, encoding="utf-8")
    return tmp_path


def _ranked(query: str, place: int) -> str:
    documents = [f"d{number}" for number in range(10)]
    documents.insert(place, "rel")
    return "".join(
        f"{query} Q0 {document} {rank} {99 - rank} t\n" for rank, document in enumerate(documents)
    )


def test_the_formats_have_the_numbers_of_the_library(say: Say, folder: Path) -> None:
    sides = [
        [
            ir.evaluate(folder / "qrels.txt", folder / f"{name}-seed{seed}.run", ["RR", "P@3"])
            for seed in (1, 2)
        ]
        for name in ("old", "new")
    ]
    expected = ir.compare_systems(sides[0], sides[1], names=("old", "new"))
    options = shlex.split("seeds qrels.txt old-seed*.run vs new-seed*.run -m RR,P@3 --format")

    record = json.loads(say(*options, "json", cwd=folder).out)
    rows = list(csv.DictReader(io.StringIO(say(*options, "csv", cwd=folder).out)))
    text = say(*options, "table", cwd=folder).out

    assert record["measures"] == expected.as_dict()["measures"]
    assert (record["a"], record["b"]["name"]) == (
        {"name": "old", "runs": ["old-seed1", "old-seed2"]},
        "new",
    )
    assert [float(row["p"]) for row in rows] == [row.found.p for row in expected]
    assert all(f"{row.found.difference:+.2f}" in text and row.verdict in text for row in expected)
    assert "new is better than old: RR " in text


def test_folds_are_one_copy_and_give_the_same_numbers(say: Say, folder: Path) -> None:
    options = ["--format", "json", "-m", "RR", "-m", "P@3"]

    whole = json.loads(
        say("seeds", "qrels.txt", "old-seed*.run", "vs", "new-seed*.run", *options, cwd=folder).out
    )
    folds = say(
        "seeds",
        "qrels.txt",
        "old-s?-fold*.run",
        "vs",
        "new-s?-fold*.run",
        "--copies",
        "s[0-9]",
        *options,
        cwd=folder,
    )
    one = say(
        "seeds",
        "qrels.txt",
        "old-s1-fold*.run",
        "vs",
        "new-seed*.run",
        "--single",
        "alike",
        *options,
        cwd=folder,
    )
    mixed = say(
        "seeds", "qrels.txt", "old-s1-fold*.run", "old-seed2.run", "vs", "new-seed*.run", cwd=folder
    )

    assert json.loads(folds.out)["measures"] == whole["measures"]
    assert json.loads(folds.out)["a"] == {"name": "old", "runs": ["s1", "s2"]}
    assert (
        json.loads(one.out)["measures"]["RR"]["copies_a"] == whole["measures"]["RR"]["copies_a"][:1]
    )
    assert mixed.code == 2
    assert "share 10 queries" in mixed.err
