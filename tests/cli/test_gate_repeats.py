"""`idealrank gate --repeat`: repeats are checked as the run is, and what changes nothing spends
nothing.
"""

from pathlib import Path

import pytest

from tests.cli.gate_runs import Gate, asked, noisy, record, words, write_run


@pytest.fixture
def repeated(gate: Gate, folder: Path) -> Gate:
    """Two accepted commits besides the anchor, of two runs each."""
    for number in (1, 2):
        write_run(folder, "one", noisy(number))
        write_run(folder, "two", noisy(number + 10))
        assert gate("one", "--repeat", "two.run", "--update-baseline").code == 0
    return gate


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--repeat", "new.run"), "--repeat new.run: found a file that is given twice"),
        (("--repeat", "./new.run"), "--repeat ./new.run: found a file that is given twice"),
        (
            ("--repeat", "start.run", "--repeat", "start.run"),
            "--repeat start.run: found a file that is given twice",
        ),
        (("--repeat", "-", "--repeat", "-"), "found - (standard input) twice"),
        (
            ("--repeat", "short.run"),
            "repeat 1: found no answer to 2 of the queries that another run of the same "
            "version answers ('q000', 'q001')",
        ),
    ],
)
def test_repeats_that_are_none_are_refused(
    gate: Gate, folder: Path, options: tuple[str, ...], said: str
) -> None:
    write_run(folder, "new", noisy(1))
    lines = (folder / "new.run").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "short.run").write_text(
        "".join(line for line in lines if line[:4] not in ("q000", "q001")), encoding="utf-8"
    )

    done = gate("new", *options)

    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_repeats_that_change_nothing_spend_nothing(repeated: Gate, folder: Path) -> None:
    before = record(folder).series

    said = repeated("one", "--repeat", "two.run", "--update-baseline")
    turned = repeated("two", "--repeat", "one.run", "--update-baseline", "--format", "json")

    assert "main.gz stays as it is" in words(said)
    assert asked(turned)["checks"][0]["reason"] == "the same value on every query"
    assert [check["baseline"] for check in asked(turned)["checks"]] == ["main"]
    assert record(folder).series == before


def test_a_run_that_equals_one_of_two_repeats_is_a_look(repeated: Gate, folder: Path) -> None:
    before = record(folder).series.looks

    said = repeated("one", "--update-baseline", "--format", "json")

    assert [check["baseline"] for check in asked(said)["checks"]] == ["main", "main (anchor)"]
    assert record(folder).series.looks == before + 1


def test_a_judge_of_repeats_says_what_it_looked_at(repeated: Gate, folder: Path) -> None:
    (folder / "judge.txt").write_text(
        (folder / "qrels.txt").read_text(encoding="utf-8"), encoding="utf-8"
    )
    write_run(folder, "new", noisy(5))

    with_judge, without = (
        repeated("new", *options) for options in (("--judge-qrels", "judge.txt"), ())
    )

    note = (
        "where a side has several runs, only its first run counts for the judge and unjudged "
        "documents"
    )
    assert note in words(with_judge)
    assert "where a side has several runs" not in words(without)
