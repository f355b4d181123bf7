"""A judge beside people in comparisons and gates: contradicting signs leave the verdict undecided,
in every form that says so.
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.analysis.comparison.difference_rows import JudgeDifference
from idealrank.cli import main
from idealrank.errors import IncompatibleError, InputError
from idealrank.reports.table.text import parts_text
from idealrank.reports.views.comparison.comparison import comparison_json, comparison_parts
from idealrank.reports.views.comparison.markup import comparison_markdown
from idealrank.reports.views.gate.gate import gate_json, gate_parts

QUERIES = [f"q{n}" for n in range(12)]
OLD, NEW = ({query: list(ranking) for query in QUERIES} for ranking in ("xyz", "yxz"))
PEOPLE = {query: {"x": 2, "y": 0, "z": 1} for query in QUERIES}
JUDGE = {query: {"x": 0, "y": 2, "z": 1} for query in [*QUERIES, "q98", "q99"]}
LIKE_PEOPLE = {query: {"x": 3, "y": 1, "z": 0} for query in QUERIES}


def test_a_contradicted_sign_leaves_a_comparison_undecided_and_says_why() -> None:
    alone = ir.compare(PEOPLE, OLD, NEW, measures="nDCG@2")["nDCG@2"]
    found = ir.compare(PEOPLE, OLD, NEW, measures="nDCG@2", judge_qrels=JUDGE)
    row = found["nDCG@2"]

    assert (alone.verdict, row.verdict) == ("worse", "undecided")
    # people's numbers stay
    assert (row.difference, row.p, row.interval) == (alone.difference, alone.p, alone.interval)
    assert row.judge is not None
    assert row.judge.contradicts
    assert row.difference < 0 < row.judge.difference
    said = parts_text(comparison_parts(found))
    assert "disagree on the sign" in " ".join(said.split())
    assert "disagree on the sign" in comparison_markdown(found)


def test_a_judge_with_the_same_sign_changes_no_verdict() -> None:
    row = ir.compare(PEOPLE, OLD, NEW, measures="nDCG@2", judge_qrels=LIKE_PEOPLE)["nDCG@2"]

    assert row.verdict == "worse"
    assert row.judge is not None
    assert not row.judge.contradicts


def test_records_have_the_judge_only_if_there_is_one() -> None:
    alone, found = (
        ir.compare(PEOPLE, OLD, NEW, measures="nDCG@2", judge_qrels=judge)
        for judge in (None, JUDGE)
    )

    record = json.loads("".join(comparison_json(found)))["pairs"][0]["measures"]["nDCG@2"]
    (row,) = found.records()

    assert (
        "judge" not in json.loads("".join(comparison_json(alone)))["pairs"][0]["measures"]["nDCG@2"]
    )
    assert record["verdict"] == row["verdict"] == "undecided"
    assert record["judge"]["contradicts"] is True
    assert row["judge_difference"] == record["judge"]["difference"] > 0
    assert record["judge"]["n"] == 12  # not the two that people lack


def test_a_reversed_difference_keeps_the_contradiction() -> None:
    row = ir.compare(PEOPLE, OLD, NEW, measures="nDCG@2", judge_qrels=JUDGE)["nDCG@2"]

    turned = row.reversed()

    assert turned.judge is not None
    assert row.judge is not None
    assert (turned.judge.difference, turned.judge.contradicts, turned.verdict) == (
        -row.judge.difference,
        True,
        "undecided",
    )


def test_several_pairs_name_the_contradicted_one() -> None:
    third = {query: list("zxy") for query in QUERIES}
    found = ir.compare(PEOPLE, OLD, NEW, third, measures="nDCG@2", judge_qrels=JUDGE)

    said = " ".join(parts_text(comparison_parts(found)).split())

    assert {
        row.verdict for _, row in found.rows() if row.judge is not None and row.judge.contradicts
    } == {"undecided"}
    assert "run 2 against run 1 by nDCG@2 is undecided" in said


def test_evaluations_that_keep_no_run_need_the_evaluations_of_the_judge() -> None:
    people, judge = (
        [ir.evaluate(qrels, run, "nDCG@2") for run in (OLD, NEW)] for qrels in (PEOPLE, JUDGE)
    )

    kept = [ir.evaluate(PEOPLE, run, "nDCG@2", keep_unjudged=True) for run in (OLD, NEW)]

    assert ir.compare(*people, judge_qrels=judge)["nDCG@2"].verdict == "undecided"
    assert (
        ir.compare(*kept, judge_qrels=JUDGE)["nDCG@2"].judge
        == ir.compare(*people, judge_qrels=judge)["nDCG@2"].judge
    )
    with pytest.raises(InputError, match="found no judgments and run in it"):
        ir.compare(*people, judge_qrels=JUDGE)
    with pytest.raises(
        IncompatibleError, match="evaluations of 1 runs, expected one for each of 2"
    ):
        ir.compare(*people, judge_qrels=judge[:1])
    with pytest.raises(IncompatibleError, match=r"found no values of nDCG@2"):
        ir.compare(*people, judge_qrels=[ir.evaluate(JUDGE, run, "AP") for run in (OLD, NEW)])
    with pytest.raises(IncompatibleError, match="found convention lightgbm, expected standard"):
        ir.compare(
            *people,
            judge_qrels=[ir.evaluate(JUDGE, run, "nDCG@2", "lightgbm") for run in (OLD, NEW)],
        )


def test_the_judges_p_is_that_of_its_own_t_test() -> None:
    mixed = {query: {"x": int(n < 5), "y": int(n >= 5)} for n, query in enumerate(QUERIES)}
    a, b = (ir.evaluate(mixed, run, "RR") for run in (OLD, NEW))

    found = JudgeDifference.of(a, b, "RR", -1.0)

    expected = ir.compare(a, b, test="t")["RR"]
    assert (found.difference, found.p, found.n) == pytest.approx(
        (expected.difference, expected.p, 12)
    )


def test_a_difference_of_rounding_contradicts_nothing() -> None:
    one = ir.evaluate(PEOPLE, OLD, "RR")

    found = JudgeDifference.of(one, one, "RR", 0.5)

    assert (found.difference, found.contradicts) == (0, False)


FOREIGN = {query.replace("q", "x"): grades for query, grades in LIKE_PEOPLE.items()}


@pytest.mark.filterwarnings("ignore:.*answers none")
@pytest.mark.parametrize("call", [ir.compare, ir.gate])
def test_a_judge_of_other_queries_is_refused(call: Any) -> None:
    with pytest.raises(
        IncompatibleError,
        match="judge: found no query of the comparison, expected at least one; are ids written "
        "alike",
    ):
        call(PEOPLE, OLD, NEW, measures="nDCG@2", judge_qrels=FOREIGN)
    with pytest.raises(IncompatibleError, match="found no query of the comparison"):
        call(
            PEOPLE,
            OLD,
            NEW,
            measures="nDCG@2",
            judge_qrels=FOREIGN,
            convention="standard,without_judgments=evaluated",
        )


@pytest.mark.filterwarnings("ignore:.*answers none")
def test_evaluations_of_other_queries_are_refused_too() -> None:
    people, judge = (
        [ir.evaluate(qrels, run, "nDCG@2") for run in (OLD, NEW)] for qrels in (PEOPLE, FOREIGN)
    )
    with pytest.raises(IncompatibleError, match="found no query of the comparison"):
        ir.compare(*people).beside(judge)
    with pytest.raises(IncompatibleError, match="found no query of the comparison"):
        JudgeDifference.of(*judge, "nDCG@2", -0.1)  # neither run answers a query of it


@pytest.mark.parametrize("convention", ["standard", "standard,without_judgments=evaluated"])
def test_a_judge_of_one_query_is_heard_on_one(convention: str) -> None:
    found = ir.compare(
        PEOPLE,
        OLD,
        NEW,
        measures="nDCG@2",
        judge_qrels={"q3": LIKE_PEOPLE["q3"]},
        convention=convention,
    )
    said = " ".join(parts_text(comparison_parts(found)).split())

    assert found["nDCG@2"].judge is not None
    assert found["nDCG@2"].judge.n == 1
    assert "The judge does not contradict the sign on 1 query." in said


def test_several_signs_are_held_against_a_stated_number_of_queries() -> None:
    found = ir.compare(PEOPLE, OLD, NEW, measures=["nDCG@2", "RR"], judge_qrels=LIKE_PEOPLE)
    assert "The judge contradicts no sign on 12 queries." in " ".join(
        parts_text(comparison_parts(found)).split()
    )


@pytest.mark.parametrize(
    ("given", "found"),
    [("judge.qrels", "str"), (PEOPLE, "dict"), (["a", "b"], "str in the sequence")],
)
def test_only_evaluations_stand_beside_a_comparison(given: Any, found: str) -> None:
    compared = ir.compare(PEOPLE, OLD, NEW, measures="RR")
    with pytest.raises(
        ir.OptionError,
        match=f"judge: found {found}, expected a sequence of Evaluation, one for each of 2 runs",
    ):
        compared.beside(given)
    with pytest.raises(ir.OptionError, match="found Comparison, expected"):
        compared.beside(compared)  # type: ignore[arg-type]


def test_the_command_hears_a_judge_of_one_query_on_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    qrels = [
        f"{query} 0 {document} {grade}"
        for query, grades in LIKE_PEOPLE.items()
        for document, grade in grades.items()
    ]
    runs = (
        [f"{query} Q0 {d} {n} {9 - n} t" for query, run in one.items() for n, d in enumerate(run)]
        for one in (OLD, NEW)
    )
    for name, lines in zip(
        ("qrels", "judge", "old.run", "new.run"), (qrels, qrels[:3], *runs), strict=True
    ):
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")

    for convention in ("standard", "standard,without_judgments=evaluated"):
        command = (
            f"compare qrels old.run new.run -m nDCG@2 --judge-qrels judge --more --convention "
            f"{convention}"
        )
        assert main.run(command.split()) == 0
        assert "The judge does not contradict the sign on 1 query." in " ".join(
            capsys.readouterr().out.split()
        )


# --- gates ----------------------------------------------------------------------------------------


def test_a_contradicted_gain_is_no_drop_in_the_message() -> None:
    found = ir.gate(PEOPLE, OLD, NEW, measures="nDCG@2", judge_qrels=JUDGE)

    said = " ".join(parts_text(gate_parts(found)).split())
    assert found.checks[0].difference > 0
    assert f"a difference of {found.checks[0].difference:+.4f} (p of a drop: " in said
    assert ", a drop of" not in said


def test_a_contradicted_drop_neither_opens_nor_closes_the_gate() -> None:
    alone = ir.gate(PEOPLE, NEW, OLD, measures="nDCG@2")
    found = ir.gate(PEOPLE, NEW, OLD, measures="nDCG@2", judge_qrels=JUDGE, when_unjudged="neutral")

    assert (alone.outcome, found.outcome, found.passed) == ("failed", "too few judgments", False)
    assert "undecided: people find -0.28" in found.reasons[0]
    assert "disagree on the sign" in " ".join(parts_text(gate_parts(found)).split())
    assert json.loads(gate_json(found))["checks"][0]["judge"]["contradicts"] is True
    assert "judge" not in json.loads(gate_json(alone))["checks"][0]


def test_a_rise_that_the_judge_calls_a_drop_is_undecided_too() -> None:
    found = ir.gate(PEOPLE, OLD, NEW, measures="nDCG@2", judge_qrels=JUDGE, when_unjudged="neutral")

    assert found.outcome == "too few judgments"


@pytest.mark.parametrize(
    ("policy", "outcome"),
    [("fail", "failed"), ("pass", "passed"), ("neutral", "too few judgments")],
)
def test_a_policy_says_what_follows(policy: Any, outcome: str) -> None:
    assert (
        ir.gate(
            PEOPLE, NEW, OLD, measures="nDCG@2", judge_qrels=JUDGE, when_unjudged=policy
        ).outcome
        == outcome
    )


def test_signs_that_neither_side_shows_contradict_nothing() -> None:
    flat = {query: {"x": int(n % 2), "y": int(n % 2 == 0)} for n, query in enumerate(QUERIES)} | {
        "q0": {"x": 1, "y": 0},
        "q2": {"x": 1},
    }
    other = {query: {"x": int(n % 2 == 0), "y": int(n % 2)} for n, query in enumerate(QUERIES)} | {
        "q1": {"x": 0, "y": 1},
        "q3": {"y": 1},
    }

    alone = ir.gate(flat, NEW, OLD, measures="RR")
    found = ir.gate(flat, NEW, OLD, measures="RR", judge_qrels=other | {"q5": {"y": 1}})

    assert alone.outcome == found.outcome == "passed"
    assert found.checks[0].judge is not None
    assert not math.isnan(found.checks[0].judge.p)
