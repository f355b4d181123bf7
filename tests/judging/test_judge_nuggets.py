"""`idealrank judge nuggets`: tables, their agreement with the library, and errors that teach."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from tests.cli.terminal import Said

Say = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two systems: the second supports one nugget more in three of four queries."""
    for run, words in (
        ("base", ["support", "not_support", "partial_support"]),
        ("new", ["support", "support", "partial_support"]),
    ):
        lines = []
        for number in range(20):
            given = words if number % 4 else ["support", "not_support", "partial_support"]
            nuggets = [
                {
                    "text": f"n{place}",
                    "importance": "okay" if place == 2 else "vital",
                    "assignment": word,
                }
                for place, word in enumerate(given)
            ]
            lines.append(
                json.dumps({"qid": f"q{number}", "run_id": run, "nuggets": nuggets}) + "\n"
            )
        (tmp_path / f"{run}.jsonl").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def test_one_system_gets_means_with_intervals(say: Say, folder: Path) -> None:
    said = say("judge", "nuggets", "new.jsonl", cwd=folder)
    assert said.code == 0
    assert said.out.splitlines()[0].split() == ["run", "V_strict", "V", "A_strict", "A"]
    assert said.out.splitlines()[1].split()[:3] == ["new", "0.88", "0.88"]
    assert said.out.splitlines()[-1] == "20 answers, 60 nuggets"


def test_two_systems_are_compared_as_the_library_compares_them(say: Say, folder: Path) -> None:
    said = say(
        "judge",
        "nuggets",
        "base.jsonl",
        "new.jsonl",
        "-s",
        "V_strict,W",
        "--format",
        "json",
        "--per-query",
        cwd=folder,
    )
    record = json.loads(said.out)
    first, second = (
        ir.evaluate_answers(folder / f"{name}.jsonl", ["V_strict", "W"])[0]
        for name in ("base", "new")
    )
    assert [one["queries"] for one in record["systems"]] == [first.per_query(), second.per_query()]
    assert [one["scores"]["W"]["mean"] for one in record["systems"]] == [
        first.mean()["W"],
        second.mean()["W"],
    ]
    assert record["comparison"]["pairs"] == ir.compare(first, second).as_dict()["pairs"]
    said = say("judge", "nuggets", "base.jsonl", "new.jsonl", cwd=folder)
    assert "new is better than base" in said.out


def test_rows_for_programs(say: Say, folder: Path) -> None:
    said = say("judge", "nuggets", "base.jsonl", "new.jsonl", "--format", "csv", cwd=folder)
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert [(row["system"], row["score"]) for row in rows][:2] == [
        ("base", "V_strict"),
        ("base", "V"),
    ]
    rounding = 1e-12  # of a system whose answers all have one value
    assert all(
        float(row["low"]) - rounding <= float(row["mean"]) <= float(row["high"]) + rounding
        for row in rows
    )
    said = say(
        "judge",
        "nuggets",
        "base.jsonl",
        "--format",
        "csv",
        "--per-query",
        "-s",
        "V",
        "-o",
        "out.csv",
        cwd=folder,
    )
    assert ((folder / "out.csv").read_text().splitlines()[:2], said.out) == (
        ["system,query,score,value", "base,q0,V,0.5"],
        "",
    )


def test_systems_that_answer_different_queries_are_shown_and_not_compared(
    say: Say, folder: Path
) -> None:
    lines = (folder / "new.jsonl").read_text().splitlines(keepends=True)
    (folder / "fewer.jsonl").write_text("".join(lines[1:]), encoding="utf-8")
    (folder / "both.jsonl").write_text(
        (folder / "base.jsonl").read_text() + "".join(lines[1:]), encoding="utf-8"
    )
    for files in (["base.jsonl", "fewer.jsonl"], ["fewer.jsonl", "base.jsonl"], ["both.jsonl"]):
        said = say("judge", "nuggets", *files, "--format", "json", cwd=folder)
        record = json.loads(said.out)
        assert (said.code, {one["name"]: one["answers"] for one in record["systems"]}) == (
            0,
            {"base": 20, "new": 19},
        )
        assert "comparison" not in record
        expected = (
            "base answers query 'q0' and new does not, so the systems are not compared; --nuggets "
            "FILE counts a query without"
        )
        assert f"warning: {expected} an answer as 0" in " ".join(said.err.split())
    said = say("judge", "nuggets", "both.jsonl", cwd=folder)
    assert "new: 19 answers, 57 nuggets" in said.out
    said = say("judge", "nuggets", "both.jsonl", "--baseline", "base", cwd=folder)
    assert (said.code, said.out) == (2, "")
    assert (
        "--baseline base: base answers query 'q0' and new does not, expected answers to the "
        "same queries; --nuggets" in said.err
    )
    listed = [
        {"qid": f"q{number}", "nuggets": json.loads(lines[0])["nuggets"]} for number in range(20)
    ]
    (folder / "nuggets.jsonl").write_text(
        "".join(f"{json.dumps(one)}\n" for one in listed), encoding="utf-8"
    )
    said = say(
        "judge",
        "nuggets",
        "both.jsonl",
        "--nuggets",
        "nuggets.jsonl",
        "--format",
        "json",
        cwd=folder,
    )
    assert (said.code, len(json.loads(said.out)["comparison"]["pairs"]) > 0) == (0, True)


def test_other_nuggets_of_the_same_queries_are_not_compared(say: Say, folder: Path) -> None:
    (folder / "other.jsonl").write_text(
        (folder / "new.jsonl").read_text().replace('"okay"', '"vital"'), encoding="utf-8"
    )
    said = say("judge", "nuggets", "base.jsonl", "other.jsonl", cwd=folder)
    assert (said.code, said.out) == (2, "")
    assert (
        "assign the same nuggets, with the same importance, to the answers of every system"
        in said.err
    )
    assert "--different-judgments" not in said.err


ERRORS = [
    (
        ["base.jsonl", "base.jsonl"],
        "found several systems called 'base', expected different names (run_id)",
    ),
    (["base.jsonl", "-s", "V_strikt"], "did you mean V_strict?"),
    (
        ["base.jsonl", "--baseline", "base"],
        "--baseline base: found one system, expected two or more",
    ),
    (["base.jsonl", "new.jsonl", "--baseline", "old"], "found no run of that name"),
    (["no.jsonl"], "no.jsonl: found no such file"),
    (["base.jsonl", "--nuggets", "no.jsonl"], "no.jsonl: found no such file"),
    (["-", "-"], "found - (standard input) twice"),
    (["base.jsonl", "-o", "base.jsonl"], "base.jsonl"),
]


def test_an_id_with_half_a_surrogate_pair_is_refused(say: Say, folder: Path) -> None:
    nuggets = [{"text": "x", "importance": "vital", "assignment": "support"}]
    for ids, role in (
        ({"qid": "q\ud800"}, "qid"),
        ({"topic_id": "q\ud800"}, "qid"),
        ({"qid": "q", "run_id": "a\ud800"}, "run_id"),
    ):
        (folder / "half.jsonl").write_text(
            json.dumps({**ids, "nuggets": nuggets}), encoding="utf-8"
        )
        for arguments in (
            ["half.jsonl"],
            ["half.jsonl", "--format", "json"],
            ["base.jsonl", "--nuggets", "half.jsonl"],
        ):
            said = say("judge", "nuggets", *arguments, cwd=folder)
            assert (said.code, said.out) == (2, "")
            assert "half.jsonl:1: found the id" in said.err
            assert f"with half a surrogate pair as {role}, expected valid Unicode" in said.err


@pytest.mark.parametrize(
    ("arguments", "message"), ERRORS, ids=[" ".join(arguments) for arguments, _ in ERRORS]
)
def test_the_message_teaches(say: Say, folder: Path, arguments: list[str], message: str) -> None:
    said = say("judge", "nuggets", *arguments, cwd=folder)
    assert (said.code, said.out) == (2, "")
    assert message in " ".join(said.err.split())


def test_queries_without_a_vital_nugget_are_counted(say: Say, tmp_path: Path) -> None:
    nugget = {"text": "a", "importance": "okay", "assignment": "support"}
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"qid": "q1", "run_id": "a", "nuggets": [nugget]}), encoding="utf-8"
    )
    said = say("judge", "nuggets", "a.jsonl", cwd=tmp_path)
    assert (
        said.out.splitlines()[-1]
        == "1 answer, 1 nugget: 1 query has no vital nugget, and counts 0 by V and V_strict"
    )


def test_the_details_are_there_and_no_convention_of_runs(say: Say, folder: Path) -> None:
    said = say("judge", "nuggets", "base.jsonl", "new.jsonl", cwd=folder)
    assert "details: --more, --explain-method" in said.out
    assert "convention" not in said.out
    said = say("judge", "nuggets", "base.jsonl", "new.jsonl", "--explain-method", cwd=folder)
    assert (
        said.code,
        "sign-flip permutation test, two-sided; exact" in " ".join(said.out.split()),
    ) == (0, True), said.out
