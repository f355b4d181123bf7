"""`idealrank online`: what it prints, and that its errors teach."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import pytest

from idealrank.clicks import interleave
from idealrank.clicks.commands.online import COMMANDS as SUBCOMMANDS
from idealrank.clicks.commands.online import online
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two runs, outcomes of interleaved lists, and rows of an experiment."""
    for name, order in (("a", "abcd"), ("b", "cbae")):
        lines = [
            f"q{query} Q0 {document} {rank} {9 - rank} {name}\n"
            for query in (1, 2)
            for rank, document in enumerate(order, 1)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    rng = np.random.default_rng(1)
    rows = "".join(
        f"u{user},{sign}\n"
        for user, sign in zip(
            range(200), rng.choice([-1, 0, 1], 200, p=[0.2, 0.2, 0.6]), strict=True
        )
    )
    (tmp_path / "outcomes.csv").write_text(f"user,preference\n{rows}", encoding="utf-8")
    values = "".join(
        f"{'AB'[user % 2]},u{user},{rng.poisson(2 + user % 2)},{rng.integers(3, 6)}\n"
        for user in range(300)
    )
    (tmp_path / "experiment.csv").write_text(
        f"cohort,user,value,denominator\n{values}", encoding="utf-8"
    )
    days = "".join(
        f"{'AB'[user % 2]},u{user},{day},{rng.poisson(2 + 2 * (user % 2) / day)}\n"
        for user in range(300)
        for day in range(1, 4)
    )
    (tmp_path / "days.csv").write_text(
        f"cohort,user,day,value\n{days}A,u900,9,1\n", encoding="utf-8"
    )
    (tmp_path / "wrong.csv").write_text(
        "cohort,value\n" + "A,1\nA,2\nA,3\n" * 30 + "B,1\nB,2\n" * 10, encoding="utf-8"
    )
    (tmp_path / "few.csv").write_text(
        "cohort,value\n" + "A,1\nA,2\nB,7\nB,8\n" * 9, encoding="utf-8"
    )
    lists = "".join(
        f"s{user},q{user % 2},{'dcb'[(rank + user) % 3] if user % 3 else 'abc'[rank]},{rank + 1},{int(rng.random() < 0.3)},u{user},"  # noqa: E501
        f"{'AB'[user % 3 > 0]}\n"
        for user in range(240)
        for rank in range(2)
    )
    (tmp_path / "lists.csv").write_text(
        f"session,query,document,rank,click,user,arm\n{lists}", encoding="utf-8"
    )
    dated = "".join(
        f"s{user}.{day},q,a,1,{int(rng.random() < 0.3 + 0.3 * (user % 2) / (day - 27))},u{user},{'AB'[user % 2]},{user % 5},2026-11-{day}\n"  # noqa: E501
        for user in range(200)
        for day in (28, 29, 30)
    )
    (tmp_path / "dated.csv").write_text(
        f"session,query,document,rank,click,user,cohort,before,day\n{dated}", encoding="utf-8"
    )
    timed = dated.replace(",2026-11-", ",2026-11-").replace("\n", "T10:00:00Z\n")
    (tmp_path / "timed.csv").write_text(
        f"session,query,document,rank,click,user,cohort,before,time\n{timed}", encoding="utf-8"
    )
    values = "".join(
        f"{'AB'[user % 2]},u{user},{day},1\n"
        for user in range(40)
        for day in ("2026-11-30", "2026-12-01")
    )
    (tmp_path / "dates.csv").write_text(f"cohort,user,day,value\n{values}", encoding="utf-8")
    (tmp_path / "mixed.csv").write_text(
        f"cohort,user,day,value\n{values}A,u0,3,1\n", encoding="utf-8"
    )
    (tmp_path / "monday.csv").write_text(
        f"cohort,user,day,value\n{values}A,u0,Monday,1\n", encoding="utf-8"
    )
    (tmp_path / "judged.txt").write_text(
        "q0 0 a 2\nq0 0 b 1\nq1 0 b 1\nq1 0 a 0\n", encoding="utf-8"
    )
    (tmp_path / "arms.csv").write_text("cohort,value\nnew,1\nold,2\n", encoding="utf-8")
    return tmp_path


COMMANDS = {
    "interleave": "online interleave a.run b.run --length 4 --seed 3",
    "interleave-probabilistic": "online interleave a.run b.run --method probabilistic --length 3",
    "outcomes": "online interleave --outcomes outcomes.csv",
    "outcomes-json": "online interleave --outcomes outcomes.csv --format json --level 0.9",
    "ab": "online ab experiment.csv",
    "outcomes-once": "online interleave --outcomes outcomes.csv --looks once",
    "ab-once": "online ab experiment.csv --looks once",
    "ab-few": "online ab few.csv",
    "ab-log-once": "online ab dated.csv --log --looks once",
    "ab-json": "online ab experiment.csv --format json",
    "ab-bootstrap": "online ab experiment.csv --resamples 200 --seed 4",
    "ab-novelty": "online ab days.csv",
    "ab-novelty-json": "online ab days.csv --format json",
    "ab-wrong": "online ab wrong.csv",
    "ab-log": "online ab lists.csv --log --split 0.667",
    "ab-log-measures": "online ab lists.csv --qrels judged.txt -m nDCG@2 --split 0.667 "
    "--convention linear-2010",
    "ab-log-json": "online ab lists.csv --qrels judged.txt -m RR@2 --split 0.667 --format json "
    "--resamples 50",
    "ab-log-dates": "online ab dated.csv --log",
    "plan-lists": "online plan --share 0.52 --tie-share 0.4",
    "plan-lists-once": "online plan --share 0.52 --tie-share 0.4 --looks once",
    "plan-users-planned": "online plan --sd 1.8 --effect 0.2 --planned-users 6000",
    "plan-users": "online plan --sd 1.8 --effect 0.02 --variance-reduction 0.3 --format json",
    "error-one-run": "online interleave a.run",
    "error-both": "online interleave a.run b.run --outcomes outcomes.csv",
    "error-arms": "online ab arms.csv",
    "error-log-measure": "online ab lists.csv --log -m nDCG@2",
    "error-log-column": "online ab experiment.csv --log",
    "error-log-judgments": "online ab lists.csv --qrels wrong.csv",
    "error-plan": "online plan --share 0.5",
    "error-nothing": "online plan",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_online_says(name: str, say: Say, folder: Path) -> None:
    command = f"idealrank {COMMANDS[name]}"

    output = say(*shlex.split(command)[1:], cwd=folder)

    check_snapshot(f"online-{name}", output.text(command))
    assert output.code == (2 if name.startswith("error") else 0)


def test_the_help_of_the_group_has_the_line_of_each_command() -> None:
    context = click.Context(online)
    for name, line in SUBCOMMANDS.items():
        command = online.get_command(context, name)
        assert command is not None
        assert command.short_help == line


def test_lists_are_those_of_the_library(say: Say, folder: Path) -> None:
    lines = say(
        "online", "interleave", "a.run", "b.run", "--length", "4", "--seed", "3", cwd=folder
    ).out.splitlines()
    for number, line in enumerate(lines):
        mixed = interleave(list("abcd"), list("cbae"), length=4, rng=[3, number])
        record = json.loads(line)
        assert (record["documents"], record["teams"]) == (list(mixed.documents), list(mixed.teams))


REFUSED = {
    "plan --sd 1 --effect 1e-300": "difference too small beside sd",
    "plan --sd inf --effect 1": "expected a finite number above 0",
    "plan --share 0.50001": "needs more than 16,777,216 lists",
    "plan --share 0.55 --sd 2": "found --share and --sd, expected --share alone, or --sd and "
    "--effect",
    "interleave --outcomes other.csv": "name it with --columns preference=NAME",
    "interleave --outcomes other.csv --columns winner=preference": "found the role 'winner'",
    "plan --sd 1": "found --sd, expected --share alone, or --sd and --effect",
    "ab experiment.csv --resamples 10000000000": "n_resamples=10000000000: expected a whole "
    "number from 0 to 10,000,000",
    "ab zeros.csv": "denominator, cohort A: found a sum of 0",
    "ab mixed.csv": "period, row 81: found '3', expected numbers in all rows, or dates in all rows",
    "ab monday.csv": "period, row 81: found 'Monday', expected a number, or a date such as "
    "2026-11-30",
    "ab tiny.csv": "denominator, cohort A: found a sum of",
    "ab blank.csv": "users, row 1: found an empty text, expected a label",
    "ab huge.csv": "values, row 0: found 1e+308, expected at most 1e+50",
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_cannot_be_computed_is_refused(command: str, say: Say, folder: Path) -> None:
    (folder / "zeros.csv").write_text(
        "cohort,value,denominator\n" + "A,1,0\nB,2,0\n" * 5, encoding="utf-8"
    )
    (folder / "tiny.csv").write_text(
        "cohort,value,denominator\n" + "A,1,1e-300\nB,2,1e-300\n" * 5, encoding="utf-8"
    )
    (folder / "blank.csv").write_text(
        "cohort,value,user\n" + "A,1,u\nA,1,\nB,2,v\n" * 5, encoding="utf-8"
    )
    (folder / "other.csv").write_text("winner,user\n1,u\n-1,v\n", encoding="utf-8")
    (folder / "huge.csv").write_text("cohort,value\n" + "A,1e308\nB,1e308\n" * 5, encoding="utf-8")

    output = say("online", *command.split(), cwd=folder)

    assert output.code == 2
    assert REFUSED[command] in " ".join(output.err.split())


def test_the_first_day_has_an_effect_without_a_trend(say: Say, folder: Path) -> None:
    (folder / "first.csv").write_text(
        "cohort,value,day\n" + "A,1,1\nA,2,1\nB,2,1\nB,3,1\n" * 5, encoding="utf-8"
    )

    output = say("online", "ab", "first.csv", cwd=folder)

    assert output.code == 0
    assert "no trend over time: period: found 1 periods" in " ".join(output.err.split())


def test_dates_are_days_from_the_first(say: Say, folder: Path) -> None:
    output = say("online", "ab", "dates.csv", "--format", "json", cwd=folder)

    assert [row["period"] for row in json.loads(output.out)["novelty"]["periods"]] == [1, 2]
    assert "day 1 is 2026-11-30" in output.err


def test_days_of_a_log_come_from_its_times_too(say: Say, folder: Path) -> None:
    dated, timed = (
        json.loads(say("online", "ab", f"{name}.csv", "--log", "--format", "json", cwd=folder).out)
        for name in ("dated", "timed")
    )

    assert dated["values"]["clicks"]["novelty"] == timed["values"]["clicks"]["novelty"]
    assert dated["values"]["clicks"]["variance_reduction"] >= 0


def test_the_user_of_an_experiment_may_have_any_column(say: Say, folder: Path) -> None:
    rows = (folder / "experiment.csv").read_text(encoding="utf-8")
    (folder / "own.csv").write_text(
        rows.replace("cohort,user,", "cohort,customer,", 1), encoding="utf-8"
    )
    usual = say("online", "ab", "experiment.csv", cwd=folder)
    named = say("online", "ab", "own.csv", "--columns", "user=customer", cwd=folder)
    assert named.code == 0
    assert named.out == usual.out


def test_the_outcomes_of_lists_may_have_any_columns(say: Say, folder: Path) -> None:
    rows = (folder / "outcomes.csv").read_text(encoding="utf-8")
    (folder / "own.csv").write_text(
        rows.replace("user,preference", "customer,winner", 1), encoding="utf-8"
    )
    usual = say("online", "interleave", "--outcomes", "outcomes.csv", cwd=folder)
    named = say(
        "online",
        "interleave",
        "--outcomes",
        "own.csv",
        "--columns",
        "preference=winner,user=customer",
        cwd=folder,
    )
    assert (named.code, named.out) == (0, usual.out)
    assert "users; a user counts once" in named.out


def test_a_small_cohort_without_conversions_has_no_verdict_and_the_users_that_it_takes(
    say: Say, folder: Path
) -> None:
    rows = "A,0\n" * 31 + "B,0\n" * 2914 + "B,1\n" * 55
    (folder / "rare.csv").write_text("cohort,value\n" + rows, encoding="utf-8")
    text = " ".join(say("online", "ab", "rare.csv", "--split", "0.99", cwd=folder).out.split())
    assert (
        "No verdict: the smaller cohort has too few users (31 in A, 2,969 in B) for values "
        "with such rare large ones." in text
    )
    assert "With this split, wait for" in text
