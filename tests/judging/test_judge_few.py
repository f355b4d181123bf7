"""`idealrank judge` with too few queries or people: errors in the user's words, with what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Said

Say = Callable[..., Said]
DOCUMENTS = [f"d{number}" for number in range(6)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Judgments of one query and of six, by one to three people, and a run."""
    queries = [f"q{number}" for number in range(6)]
    lines = [
        (query, document, place % 3)
        for query in queries
        for place, document in enumerate(DOCUMENTS)
    ]
    files = {
        "all.qrels": "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in lines)
    }
    files["one.qrels"] = "".join(
        f"q0 0 {document} {place % 3}\n" for place, document in enumerate(DOCUMENTS)
    )
    for number in (1, 2, 3):
        names = ("ann", "ben", "cai")[:number]
        files[f"people{number}.txt"] = "".join(
            f"{query} {name} {document} {grade}\n"
            for name in names
            for query, document, grade in lines
        )
    files["a.run"] = "".join(
        f"{query} Q0 {document} 1 {9 - place} a\n"
        for query in queries
        for place, document in enumerate(DOCUMENTS)
    )
    files["clusters.tsv"] = "".join(f"{query}\tu1\n" for query in queries)
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


FEW = [
    (
        "correct one.qrels --judge-qrels m=all.qrels a.run",
        "human: found judgments of 1 query, expected at least 2 queries, since the interval",
    ),
    (
        "correct all.qrels --judge-qrels m=all.qrels a.run --cluster clusters.tsv",
        "found all 6 queries with human judgments in cluster 'u1'",
    ),
    (
        "check one.qrels --judge-qrels m=all.qrels",
        "m: found one query with grades of both the human and the judge, expected at least two",
    ),
    ("check all.qrels --judge-qrels m=one.qrels", "label documents of another query"),
    (
        "check all.qrels --judge-qrels m=all.qrels --cluster clusters.tsv",
        "m: found one cluster of queries with grades of both",
    ),
    (
        "agreement one.qrels all.qrels",
        "judgments: found one query with documents graded twice, expected at least two",
    ),
    ("agreement all.qrels one.qrels", "let two raters grade documents of another query"),
    (
        "check all.qrels --judge-qrels m=all.qrels --assessors people1.txt",
        "people1.txt: found the grades of one person (ann), expected",
    ),
    (
        "check all.qrels --judge-qrels m=all.qrels --assessors people2.txt",
        "found the grades of 2 people (ann, ben), expected at least three",
    ),
]


@pytest.mark.parametrize(("command", "message"), FEW, ids=[message for _, message in FEW])
def test_too_few_are_refused_in_plain_words(
    say: Say, folder: Path, command: str, message: str
) -> None:
    said = say("judge", *command.split(), cwd=folder)
    assert (said.code, said.out) == (2, "")
    assert message in said.err


def test_three_people_are_enough(say: Say, folder: Path) -> None:
    said = say(
        "judge",
        "check",
        "all.qrels",
        "--judge-qrels",
        "m=all.qrels",
        "--assessors",
        "people3.txt",
        cwd=folder,
    )
    assert said.code == 0
    assert "winning rate" in said.out
