"""The C/W/L measures against cwl-eval, all numbers and residuals; ir_measures' own cases; what the
papers derive.
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from tests.parity.cwl_calls import MEASURES_OF_BOTH, NUMBERS, Gains, lists, numbers
from tests.parity.test_cascade import cases, value_of
from tests.parity.trec_folder import dl19_file

RECORDED = json.loads(
    (Path(__file__).parents[1] / "golden" / "cwl.json").read_text(encoding="utf-8")
)
INDEXES = [f"{kind}{name}" for kind in ("", "residual-") for name in NUMBERS]


def ours(text: str, made: dict[str, Gains]) -> dict[str, dict[str, float]]:
    """All numbers of a measure, by list."""
    qrels = {
        name: {f"d{rank}": grade for rank, grade in enumerate(grades) if grade is not None}
        for name, grades in made.items()
    }
    run = {name: [f"d{rank}" for rank in range(len(grades))] for name, grades in made.items()}
    measures = [
        ir.parse_measure(text.replace(")", f",of={name.removesuffix('-EU')})")) for name in INDEXES
    ]
    evaluation = ir.evaluate(
        {q: g or {"other": 0.0} for q, g in qrels.items()}, run, measures, "standard,ties=input"
    )
    return {
        query: dict(zip(INDEXES, values.values(), strict=True))
        for query, values in evaluation.per_query().items()
    }  # type: ignore[arg-type]


def differing(text: str, made: dict[str, Gains], theirs: dict[str, dict[str, float]]) -> list[str]:
    """What differs by more than 1e-10 of itself; cwl-eval's own sums over 1000 ranks are good to
    about 1e-12.
    """
    found = ours(text, made)
    return [
        f"{text}, {of} of {name}: cwl-eval {value!r}, found {found[name][of]!r}"
        for name, values in theirs.items()
        for of, value in values.items()
        if not math.isclose(found[name][of], value, rel_tol=1e-10, abs_tol=1e-10)
    ]


@pytest.mark.parametrize("text", RECORDED["values"])
def test_recorded_values_of_cwl_eval(text: str) -> None:
    """Empty, short, long and fully judged lists."""
    assert differing(text, RECORDED["lists"], RECORDED["values"][text]) == []


@pytest.mark.peers
@pytest.mark.parametrize("text", MEASURES_OF_BOTH)
def test_cwl_eval_live(text: str) -> None:
    """Other lists than those recorded."""
    made = lists(seed=1, count=40)
    assert (
        differing(text, made, {name: numbers(text, grades) for name, grades in made.items()}) == []
    )


@pytest.mark.peers
@pytest.mark.parametrize("text", MEASURES_OF_BOTH)
def test_cwl_eval_on_real_judgments(text: str) -> None:
    """TREC Deep Learning 2019, a thousand deep: grades 0 to 3, most documents unjudged."""
    run = ir.read_run(dl19_file("run.msmarco-v1-passage.bm25-default.dl19.txt.gz"))
    qrels = ir.read_qrels(dl19_file("qrels.dl19-passage.txt.gz"))
    made = {
        query: [qrels[query].get(document) for document in run.ranking(query).documents]
        for query in list(qrels)[::4]
    }
    assert (
        differing(text, made, {name: numbers(text, grades) for name, grades in made.items()}) == []
    )


def test_ir_measures_own_cases() -> None:
    """Half of the values in its test suite, which came from cwl-eval."""
    found: list[dict[str, Any]] = cases(
        "BPM", "INSQ", "INST", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11"
    )
    assert len(found) >= 15
    assert [
        case["measure"]
        for case in found
        if value_of(case) != pytest.approx(case["expected"], abs=case["tol"])
    ] == []


def test_a_goal_next_to_nothing_is_reciprocal_rank() -> None:
    """The user of RR stops at the first relevant document (Moffat, Scholer and Thomas 2012)."""
    qrels = {
        name: {f"d{rank}": float(rank % 7 == int(name)) for rank in range(30)} for name in "0123"
    }
    run = {name: [f"d{rank}" for rank in range(2, 30)] for name in qrels}
    evaluation = ir.evaluate(qrels, run, [ir.BPM(T=1e-6, cutoff=1000), ir.RR()])
    assert evaluation.values[:, 0] == pytest.approx(evaluation.values[:, 1], abs=1e-15)


def test_time_biased_gain_with_the_papers_calibration() -> None:
    """Smucker and Clarke (2012), equation 4: documents of 500 words take 4.4 + 0.39 (0.018 500 +
    7.8) s, relevant ones 4.4 + 0.64 (...).
    """
    reading = 0.018 * 500 + 7.8
    other, relevant = 4.4 + 0.39 * reading, 4.4 + 0.64 * reading
    grades = [1, 0, 0, 1, 1, 0, 1]
    times = [
        sum(relevant if grade else other for grade in grades[:rank]) for rank in range(len(grades))
    ]
    expected = sum(
        grade * math.exp(-time * math.log(2) / 224)
        for grade, time in zip(grades, times, strict=True)
    )
    measure = ir.TBG(cost=other, cost_relevant=relevant, of="ETU")
    qrels = {"q": {f"d{rank}": grade for rank, grade in enumerate(grades)}}
    assert ir.evaluate(qrels, {"q": list(qrels["q"])}, [measure]).values[0, 0] == pytest.approx(
        expected, abs=1e-13
    )


def test_inst_stops_adapting_once_it_is_insq() -> None:
    """Where nothing is found INST is INSQ, and its first rank weighs about 1 / (2T + 0.5) (Moffat
    et al. 2015, section 3).
    """
    qrels, run = {"q": {"a": 0}}, {"q": ["a"]}
    for goal in (1, 2, 5, 10):
        depths = ir.evaluate(
            qrels, run, [ir.INST(T=goal, of="ED"), ir.INSQ(T=goal, of="ED")]
        ).values[0]
        assert depths[0] == pytest.approx(depths[1], abs=1e-12)
        assert ir.evaluate(qrels, run, [ir.INST(T=goal, of="ED", cutoff=1_000_000)]).values[
            0, 0
        ] == pytest.approx(2 * goal + 0.5, abs=0.15)
