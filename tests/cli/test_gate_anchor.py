"""`idealrank gate` of a series: the first run says which level holds, and a check against the
anchor is worded as what it is.
"""

import html
from pathlib import Path

import pytest

import idealrank as ir
from tests.cli.gate_runs import QUERIES, Gate, asked, noisy, record, words, write_run

SUBJECT = "the mean of new and the last accepted runs"


@pytest.fixture
def closed(gate: Gate, folder: Path) -> Gate:
    """Small drops in a row, of which the last is closed by the anchor alone."""
    for number in range(1, 30):
        write_run(folder, "new", dict.fromkeys(QUERIES[: 2 * number], 4))
        if gate("new", "--update-baseline").code:
            return gate
    raise AssertionError("the anchor closed no gate")


def test_every_form_names_what_the_anchor_is_tested_against(closed: Gate, folder: Path) -> None:
    said = closed(
        "new", "--junit", "gate.xml", "--markdown", "gate.md", "--report", "page.html", "--github"
    )

    assert f"The gate is closed: by RR, {SUBJECT} is worse than main (anchor): " in words(said)
    assert f"T{SUBJECT[1:]} is better on 0, equal on " in words(said)
    assert f"::error title=RR of {SUBJECT} against main (anchor)::" in said.err
    anchored = (
        "the run with which the baseline file was made, against the mean of this run and the last "
        "accepted ones"
    )
    for name in ("gate.xml", "gate.md", "page.html"):
        text = html.unescape((folder / name).read_text(encoding="utf-8"))
        assert anchored in text
        assert "new must not replace main (1 of 2 checks failed)" in text.replace(
            "<code>", ""
        ).replace("</code>", "")


def test_an_open_gate_does_not_say_that_the_run_replaces_the_anchor(
    gate: Gate, folder: Path
) -> None:
    for number in range(3):
        write_run(folder, "new", noisy(number))
        said = gate("new", "--update-baseline")

    clause = (
        "new is not shown to be worse than main, nor is its mean with the last accepted runs, "
        "than main (anchor)."
    )
    assert clause in words(said)


@pytest.mark.parametrize("options", [(), ("--alpha", "0.1", "--horizon", "20")])
def test_the_first_run_of_a_series_prints_the_level_of_the_next_look(
    gate: Gate, folder: Path, options: tuple[str, ...]
) -> None:
    write_run(folder, "new", noisy(1))

    first = gate("start", "--update-baseline", *options, baseline="other.gz")
    following = asked(gate("new", "--format", "json", *options, baseline="other.gz"))

    level, whole = f"{following['policy']['alpha']:g}", f"{following['series']['alpha']:g}"
    assert level == ("0.005" if options else "0.001")
    assert (
        f"passes if no drop is significant (one-sided, alpha {level}), from the next run on; "
        f"commit 1 of" in words(first)
    )
    assert f"its share of alpha {whole} is {level}" in words(first)


def test_a_first_run_that_breaks_a_contract_begins_no_series(gate: Gate, folder: Path) -> None:
    (folder / "contracts.csv").write_text("query,at_least\nq001,0.9\n", encoding="utf-8")

    said = gate("start", "--update-baseline", "--contracts", "contracts.csv", baseline="other.gz")

    assert said.code == 1
    assert "other.gz was not made: the gate is closed" in words(said)
    assert "counts as a commit" not in words(said)
    assert not (folder / "other.gz").exists()


def test_a_store_makes_the_first_run_again_as_it_was(gate: Gate, folder: Path) -> None:
    said = asked(
        gate(
            "start",
            "--update-baseline",
            "--store",
            "store",
            "--format",
            "json",
            baseline="other.gz",
        )
    )

    with ir.Store.open(folder / "store") as store:
        (key,) = [entry.id for entry in store.entries(kind="gate")]
        again = store.gate_again(key).as_dict()

    assert (again["policy"]["alpha"], again["series"]) == (0.001, said["series"])
    assert record(folder, "other.gz").series.looks == 0
