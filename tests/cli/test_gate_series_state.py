"""`idealrank gate`: what is left of the alpha of a series, folders that hold a series, and the
number of held-out queries.
"""

from pathlib import Path

import pytest

from tests.cli.gate_runs import QUERIES, Gate, asked, noisy, record, words, write_run


@pytest.mark.parametrize(
    ("then", "found"),
    [
        (
            ("--alpha", "0.0005"),
            "is spent: found 0.001 spent by 1 commit, which leaves 0 for the next one",
        ),
        (
            ("--alpha", "0.00101"),
            "is spent: found 0.001 spent by 1 commit, which leaves 2e-07 for the next one",
        ),
        (
            ("--horizon", "10000"),
            "is spent: found 0.001 spent by 1 commit, which leaves 4.9e-06 for the next one",
        ),
        (
            ("--horizon", "1"),
            "horizon=1: found a series with 1 of 50 commits looked at, expected a horizon above 1",
        ),
    ],
)
def test_a_policy_that_leaves_a_series_no_level_is_refused(
    gate: Gate, folder: Path, then: tuple[str, ...], found: str
) -> None:
    """No result could close such a gate: it would be open for every run."""
    write_run(folder, "new", noisy(1))
    assert gate("new", "--update-baseline").code == 0
    write_run(folder, "worst", dict.fromkeys(QUERIES, 10))

    said = gate("worst", *then)

    assert said.code == 2
    assert said.err.startswith("error: main.gz: ")
    assert found in said.err
    assert (
        "ask for alpha 0.05 over 50 commits, as before, or begin a new series: delete the file"
        in said.err
    )
    assert gate("worst").code == 1


def test_a_horizon_that_leaves_each_commit_no_level_is_refused_at_the_first_run(
    gate: Gate, folder: Path
) -> None:
    said = gate("start", "--horizon", "10000", "--update-baseline", baseline="fresh.gz")

    assert said.code == 2
    assert (
        "alpha=0.05, horizon=10000: found a level of 5e-06 for each commit, expected at least 1e-05"
        in said.err
    )
    assert "use a horizon of at most 5,000" in said.err
    assert not (folder / "fresh.gz").exists()


def test_a_series_of_one_commit_gives_way_to_one_of_fifty(gate: Gate, folder: Path) -> None:
    write_run(folder, "new", noisy(1))
    assert gate("new", "--update-baseline", "--horizon", "1").code == 0
    write_run(folder, "worst", dict.fromkeys(QUERIES, 10))

    said = gate("worst")

    assert said.code == 1
    assert "commit 1 of 50, series 2; its share of alpha 0.05 is 0.001" in words(said)


def test_a_level_below_every_p_of_sign_flips_is_named_as_the_reason(
    gate: Gate, folder: Path
) -> None:
    write_run(folder, "worst", dict.fromkeys(QUERIES, 10))

    said = gate("worst", "--alpha", "1e-6", baseline="start.run")

    assert said.code == 0
    assert (
        "100000 sign flips are too few for the level 1e-06: this gate passes every run."
        in words(said)
    )
    assert "too few queries" not in words(said)


def test_a_folder_of_a_series_refuses_another_baseline_file_of_the_same_name(
    gate: Gate, folder: Path
) -> None:
    write_run(folder, "new", noisy(1))
    assert gate("new", "--series", "state").code == 0
    assert gate("new", "--series", "state", "--update-baseline").code == 0
    (folder / "other").mkdir()
    assert gate("new", "--update-baseline", baseline="other/main.gz").code == 0
    before = (folder / "state" / "main.gz").read_bytes()

    namesake = gate("start", "--series", "state", baseline="other/main.gz")
    (folder / "other" / "main.gz").replace(folder / "main.gz")
    replaced = gate("start", "--series", "state")

    for said, path in ((namesake, "other/main.gz"), (replaced, "main.gz")):
        assert said.code == 2
        assert (
            f"state/main.gz: found the state of a series that did not begin with {path} as it "
            f"is now" in said.err
        )
        assert (
            "delete state/main.gz, whose commits and accepted drops are lost then, or name "
            "another folder" in said.err
        )
    assert (folder / "state" / "main.gz").read_bytes() == before


def test_a_folder_of_a_series_outlives_its_baseline_file(gate: Gate, folder: Path) -> None:
    """A build server may have the state alone; the file that comes back is the same one."""
    file = (folder / "main.gz").read_bytes()
    for seed, there in enumerate((True, False, True)):
        (folder / "main.gz").unlink(missing_ok=True)
        if there:
            (folder / "main.gz").write_bytes(file)
        write_run(folder, "new", noisy(seed))
        assert gate("new", "--series", "state").code == 0

    assert record(folder, "state/main.gz").series.looks == 3


def test_a_file_as_the_folder_of_a_series_is_refused(gate: Gate, folder: Path) -> None:
    said = gate("start", "--series", "start.run")

    assert said.code == 2
    assert "--series 'start.run': found a file, expected a folder" in said.err


def test_a_file_that_no_gate_made_is_not_replaced_by_the_state_of_a_series(
    gate: Gate, folder: Path
) -> None:
    (folder / "state").mkdir()
    (folder / "state" / "main.gz").write_text("q001 Q0 d 1 1.0 t\n", encoding="utf-8")

    said = gate("start", "--series", "state")

    assert said.code == 2
    assert "--series: state/main.gz: found a file that no gate made" in said.err
    assert (folder / "state" / "main.gz").read_text(encoding="utf-8") == "q001 Q0 d 1 1.0 t\n"


def test_the_rule_and_json_state_how_many_queries_are_held_out(gate: Gate, folder: Path) -> None:
    write_run(folder, "new", noisy(1))
    said, plain = gate("new", "--holdout", "0.2", "--markdown", "gate.md"), gate("new")
    found, without = (
        asked(gate("new", "--format", "json", *options)) for options in (("--holdout", "0.2"), ())
    )
    number = len(QUERIES) - found["checks"][0]["n"]

    assert number > 0
    assert (found["holdout"], found["held_out"]) == (0.2, number)
    assert f"{number} of 120 queries held out (share 0.2)" in words(said)
    assert f"{number} of 120 queries held out" in (folder / "gate.md").read_text(encoding="utf-8")
    assert "held out" not in words(plain)
    assert "holdout" not in without
