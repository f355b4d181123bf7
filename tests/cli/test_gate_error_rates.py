"""`idealrank gate` with drops whose error rate is not known: one caution, worded by what each check
tests, and a mark in each table.
"""

from pathlib import Path

import pytest

from tests.cli.gate_runs import QUERIES, Gate, asked, words, write_run


@pytest.fixture
def anchored(gate: Gate, folder: Path) -> Gate:
    """Twelve queries fall by one place, in two steps that pass; so few changes leave the error rate
    open.
    """
    write_run(folder, "step", dict.fromkeys(QUERIES[:6], 3))
    assert gate("step", "--update-baseline", "--horizon", "10").code == 0
    write_run(folder, "far", dict.fromkeys(QUERIES[:12], 3))
    return gate


def test_the_check_of_the_anchor_is_worded_as_a_mean(anchored: Gate, folder: Path) -> None:
    said = anchored("far", "--horizon", "10", "--markdown", "gate.md", "--format", "json")
    whose = "the mean of far and the last accepted runs against main (anchor) by RR"
    checks = {check["baseline"]: check for check in asked(said)["checks"]}
    comment = (folder / "gate.md").read_text(encoding="utf-8")
    power = comment.partition("True drop that would be found 80% of the time: ")[2].partition("\n")[
        0
    ]

    assert checks["main (anchor)"]["error_rate_known"] is False
    assert checks["main"]["error_rate_known"] is True
    assert any(
        f"The error rate of the verdict on {whose} is not known" in warning
        for warning in asked(said)["warnings"]
    )
    assert "of the mean of <code>far</code> and the last accepted runs against" in power


def test_several_checks_have_one_caution_on_error_rates(gate: Gate, folder: Path) -> None:
    write_run(folder, "new", dict.fromkeys(QUERIES[:14], 3))

    said = gate("new", "--also", "AP", "--alpha", "0.05", "--format", "json", baseline="start.run")

    cautions = [warning for warning in asked(said)["warnings"] if "error rate" in warning]
    assert [check["error_rate_known"] for check in asked(said)["checks"]] == [False, False]
    assert cautions == [
        "The error rate of 2 verdicts is not known, for 120 queries may lack rare large "
        "differences; use 200 or more."
    ]


def test_a_verdict_of_unknown_error_rate_has_its_mark_and_one_line_on_it(
    gate: Gate, folder: Path
) -> None:
    write_run(folder, "new", dict.fromkeys(QUERIES[:14], 3))
    write_run(folder, "far", dict.fromkeys(QUERIES, 9))

    said = gate("new", "--markdown", "gate.md", baseline="start.run")
    known = gate("far", "--markdown", "known.md", baseline="start.run")

    note = "! too few queries to know the error rate of the verdict"
    comment, other = (
        (folder / name).read_text(encoding="utf-8") for name in ("gate.md", "known.md")
    )
    assert "failed!" in words(said)
    assert words(said).count(note) == 1
    assert "| **failed**! |" in comment
    assert comment.count("too few queries to know the error rate of the verdict") == 1
    assert (known.code, "failed!" in words(known), "**failed**!" in other) == (1, False, False)
