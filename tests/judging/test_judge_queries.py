"""`idealrank judge`: query ids that do not match, lists of queries, and gaps of the runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Said

Say = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Judgments of q1 and q2; a run of both, and one of q2 and q3."""
    files = {
        "qrels.txt": "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n",
        "upper.txt": "Q1 0 a 1\nQ2 0 a 1\n",
        "others.txt": "q1 0 x 1\nq2 0 y 1\nq3 0 z 1\n",
        "one.run": "q1 Q0 a 1 3 one\nq1 Q0 c 2 2 one\nq2 Q0 d 1 3 one\n",
        "two.run": "q2 Q0 a 1 3 two\nq2 Q0 c 2 2 two\nq3 Q0 a 1 3 two\n",
        "empty.run": "",
        "ids.txt": "query\nq1\nq2\nq02x\n",
        "texts.tsv": "q1\tred shoes\nq2\tblue hats for men\n",
        "words.txt": "q1 red shoes\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", ["bounds", "reuse"])
def test_runs_of_other_queries_are_refused(say: Say, folder: Path, command: str) -> None:
    said = say("judge", command, "upper.txt", "one.run", "two.run", cwd=folder)
    assert (said.code, said.out) == (2, "")
    assert said.err.strip() == (
        "error: run one answers none of the 2 judged queries, expected the query ids of the "
        "judgments; `idealrank validate QRELS one.run` "
        "shows how they differ"
    )
    said = say("judge", command, "qrels.txt", "one.run", "empty.run", cwd=folder)
    assert (said.code, said.out) == (2, "")
    assert "empty.run: found no result, expected at least one" in said.err


@pytest.mark.parametrize("command", ["bounds", "reuse"])
def test_runs_of_other_documents_are_doubted(say: Say, folder: Path, command: str) -> None:
    said = say("judge", command, "others.txt", "one.run", "two.run", cwd=folder)
    assert said.code == 0
    assert (
        "warning: run one has no judged document; do the document ids of both match? "
        "`idealrank validate QRELS one.run`" in said.err
    )
    assert say("judge", command, "qrels.txt", "one.run", cwd=folder).err == ""


def test_unknown_queries_of_a_list_do_not_count(say: Say, folder: Path) -> None:
    said = say(
        "judge",
        "next",
        "qrels.txt",
        "one.run",
        "two.run",
        "--query-ids",
        "ids.txt",
        "--explain-method",
        cwd=folder,
    )
    assert said.code == 0
    warning = (
        "warning: ids.txt: 2 of 4 queries are in no other file and do not count: query, q02x (did "
        "you mean q2?)"
    )
    assert warning in said.err.splitlines()
    assert "documents of 2 queries" in " ".join(said.out.split())
    first = said.out.splitlines()[:2]
    (folder / "known.txt").write_text("q1\nq2\n", encoding="utf-8")
    assert (
        say(
            "judge",
            "next",
            "qrels.txt",
            "one.run",
            "two.run",
            "--query-ids",
            "known.txt",
            cwd=folder,
        ).out.splitlines()[:2]
        == first
    )
    said = say("judge", "pool", "one.run", "two.run", "--query-ids", "ids.txt", cwd=folder)
    assert warning in said.err.splitlines()
    assert "of 2 queries in the first" in " ".join(said.out.split())


def test_a_list_of_unknown_queries_alone_is_refused(say: Say, folder: Path) -> None:
    (folder / "unknown.txt").write_text("Q1\n", encoding="utf-8")
    said = say(
        "judge", "next", "qrels.txt", "one.run", "two.run", "--query-ids", "unknown.txt", cwd=folder
    )
    assert (said.code, said.out) == (2, "")
    assert (
        "unknown.txt: found no query of the other files, expected their ids, one a line: Q1 "
        "(did you mean q1?)" in said.err
    )


def test_a_list_of_queries_may_have_texts(say: Say, folder: Path) -> None:
    said = say(
        "judge",
        "next",
        "qrels.txt",
        "one.run",
        "two.run",
        "--query-ids",
        "texts.tsv",
        "--explain-method",
        cwd=folder,
    )
    assert said.code == 0
    assert "documents of 2 queries" in " ".join(said.out.split())
    said = say(
        "judge", "next", "qrels.txt", "one.run", "two.run", "--query-ids", "words.txt", cwd=folder
    )
    assert said.code == 2
    assert (
        "words.txt:1: found 3 words, expected the id of a query, or its id, a tab and its text; "
        "end an id that has blanks with a tab" in said.err
    )


def test_gaps_of_the_runs_are_noted(say: Say, folder: Path) -> None:
    said = say("judge", "next", "qrels.txt", "one.run", "two.run", cwd=folder)
    assert said.err.splitlines() == [
        "note: run two misses 1 of 2 compared queries: q1",
        "note: 1 query of the runs has no judgment and is not compared: q3; --query-ids FILE "
        "names the compared queries",
    ]
    (folder / "all.txt").write_text("q1\nq2\nq3\n", encoding="utf-8")
    said = say(
        "judge", "next", "qrels.txt", "one.run", "two.run", "--query-ids", "all.txt", cwd=folder
    )
    assert said.err.splitlines() == [
        "note: run one misses 1 of 3 compared queries: q3",
        "note: run two misses 1 of 3 compared queries: q1",
    ]


def test_a_pool_of_empty_runs_says_so(say: Say, folder: Path) -> None:
    said = say("judge", "pool", "empty.run", cwd=folder)
    assert (said.code, said.out) == (2, "")
    assert "error: no query to pool: the runs have no results, expected at least one" in said.err


@pytest.mark.parametrize("command", ["pool one.run", "next qrels.txt one.run two.run"])
def test_a_list_without_a_query_is_named(say: Say, folder: Path, command: str) -> None:
    (folder / "empty.ids").write_text("\n", encoding="utf-8")
    said = say("judge", *command.split(), "--query-ids", "empty.ids", cwd=folder)
    assert (said.code, said.out, said.err) == (
        2,
        "",
        "error: empty.ids: found no query, expected an id on each line\n",
    )


def test_ranks_are_of_the_runs_by_name(say: Say, folder: Path) -> None:
    said = say(
        "judge", "next", "qrels.txt", "one.run", "two.run", "--strategy", "depth", cwd=folder
    )
    assert "rank 2 of one" in said.out
    assert " of A" not in said.out


@pytest.mark.parametrize("command", ["next", "bounds"])
def test_a_highest_grade_of_0_is_refused(say: Say, folder: Path, command: str) -> None:
    said = say("judge", command, "qrels.txt", "one.run", "two.run", "--max-grade", "0", cwd=folder)
    assert (said.code, said.out) == (2, "")
    assert "--max-grade" in said.err


def test_one_query_is_singular(say: Say, folder: Path) -> None:
    (folder / "list.txt").write_text("q1\n", encoding="utf-8")
    said = say(
        "judge",
        "next",
        "qrels.txt",
        "one.run",
        "two.run",
        "--query-ids",
        "list.txt",
        "--explain-method",
        cwd=folder,
    )
    assert "2 documents of 1 query in the first 10 ranks" in " ".join(said.out.split())
