"""What the page on ir_measures says of its other providers: their orders of tied scores, and which
queries they count.
"""

import math
import random
from typing import Any

import ir_measures
import pytest

import idealrank as ir
from tests.golden.harness import quietly

Table = dict[str, dict[str, Any]]

ASCENDING = "ir_measures,ties=docid-ascending,score=float64"
INPUT = "ir_measures,ties=input,score=float64"

# Two relevant queries found and not found, one without an answer, one without a relevant document.
QRELS: Table = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}, "q3": {"d": 1}, "q4": {"e": 0}}
RUN: Table = {"q1": {"b": 2.0, "a": 1.0, "z": 0.5}, "q2": {"x": 1.0, "y": 0.5}, "q4": {"e": 1.0}}


def theirs(text: str, qrels: Table, run: Table, *beside: str) -> float:
    """The mean of a measure in ir_measures, asked beside others."""
    measure = ir_measures.parse_measure(text)
    return float(
        ir_measures.calc_aggregate([measure, *map(ir_measures.parse_measure, beside)], qrels, run)[
            measure
        ]
    )


def tied_tables(seed: int) -> tuple[Table, Table]:
    """A query with tied scores, some equal in single precision only, in an order that no id has."""
    rng = random.Random(seed)
    documents = [f"d{number:02}" for number in range(12)]
    qrels = {document: rng.choice([0, 0, 1, 2, 3]) for document in rng.sample(documents, 9)}
    returned = rng.sample(documents, 10)
    return {"q": dict(sorted(qrels.items()))}, {
        "q": {document: rng.choice([1.0, 2.0, 1.0 + 1e-9, 3.0]) for document in returned}
    }


@pytest.mark.spread(8)
@pytest.mark.parametrize(
    ("text", "convention"),
    [
        *(
            (text, "ir_measures")
            for text in (
                "RR",
                "AP",
                "AP@3",
                "P@3",
                "R@3",
                "nDCG@3",
                "Rprec",
                "Bpref",
                "infAP",
                "IPrec@0.2",
            )
        ),
        *(
            (text, ASCENDING)
            for text in (
                "RR@1",
                "RR@3",
                "RR(rel=2)@2",
                "Judged",
                "Judged@3",
                "Compat",
                "Compat(p=0.8)",
            )
        ),
        *((text, INPUT) for text in ("Accuracy", "Accuracy@4")),
    ],
)
def test_the_order_of_tied_scores(text: str, convention: str) -> None:
    """Each measure under the convention that the page names for it; and where that is another one,
    the plain one would not do.
    """
    compared = differing = 0
    for seed in range(40):
        qrels, run = tied_tables(seed)
        try:
            value = theirs(text, qrels, run)
        except ZeroDivisionError:  # Accuracy of relevant documents alone
            continue
        if not math.isnan(value):
            assert quietly(ir.evaluate, qrels, run, text, convention).mean()[text] == pytest.approx(
                value, abs=1e-12
            ), seed
            compared += 1
            differing += quietly(ir.evaluate, qrels, run, text, "ir_measures").mean()[
                text
            ] != pytest.approx(value, abs=1e-12)
    assert compared >= 30
    assert bool(differing) == (convention != "ir_measures" and text != "Judged")


def test_the_mean_of_accuracy_depends_on_what_is_asked_beside_it() -> None:
    """Alone, ir_measures leaves out what has no value; beside a measure of pytrec_eval it counts it
    0, as the convention does.
    """
    assert theirs("Accuracy", QRELS, RUN) == 0.5
    assert theirs("Accuracy", QRELS, RUN, "AP") == 0.125
    for beside in ([], ["AP"]):
        assert (
            ir.evaluate(QRELS, RUN, ["Accuracy", *beside], "ir_measures").mean()["Accuracy"]
            == 0.125
        )


@pytest.mark.parametrize(
    ("text", "value", "convention_value"), [("NumQ", 3, 4), ("NumRel", 2, 3), ("NumRet", 6, 6)]
)
def test_counts_of_a_query_without_an_answer(text: str, value: int, convention_value: int) -> None:
    """ir_measures counts 0 of everything; the convention counts as trec_eval -c, and with
    missing=left-out as ir_measures.
    """
    assert theirs(text, QRELS, RUN) == value
    assert ir.evaluate(QRELS, RUN, text, "ir_measures").mean()[text] == convention_value
    assert ir.evaluate(QRELS, RUN, text, "ir_measures,missing=left-out").mean()[text] == value


@pytest.mark.parametrize(
    ("table", "text"),
    [("{0:1,1:5,2:6}", "{0:1,1:5,2:6}"), ("{1:5}", "{1:5,*:*}"), ("{1:5,2:6}", "{1:5,2:6}")],
)
def test_tables_of_gains(table: str, text: str) -> None:
    """A grade that is not in the table is its own gain, grade 0 as well; unjudged documents gain
    nothing.
    """
    qrels, run = (
        {"q": {"a": 1, "b": 0, "c": 2, "d": 0}},
        {"q": {"b": 5.0, "u": 4.0, "a": 2.0, "c": 1.0}},
    )
    value = theirs(f"nDCG(gains={table})", qrels, run)
    ours = ir.evaluate(qrels, run, f"nDCG(gain={text})", "ir_measures")
    assert ours.mean()[f"nDCG(gain={text})"] == pytest.approx(value, abs=1e-12)


def test_a_negative_grade_gains_what_grade_0_does_and_nothing_in_ir_measures() -> None:
    """The one difference where a table pays for grade 0."""
    qrels, run = {"q": {"a": 1, "b": -1}}, {"q": {"b": 2.0, "a": 1.0}}
    assert theirs("nDCG(gains={0:1,1:5})", qrels, run) == pytest.approx(
        5 / math.log2(3) / 5, abs=1e-12
    )
    ours = ir.evaluate(qrels, run, "nDCG(gain={0:1,1:5})", "ir_measures").mean()[
        "nDCG(gain={0:1,1:5})"
    ]
    assert ours == pytest.approx((1 + 5 / math.log2(3)) / (5 + 1 / math.log2(3)), abs=1e-12)


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "text",
    [
        "RBP(rel=1)",
        "RBP(p=0.5,rel=2)",
        "SDCG(max_rel=3)@4",
        "NERR8(max_rel=3)@4",
        "NERR9(max_rel=3)@4",
        "BPM(max_rel=3)@5",
    ],
)
def test_the_order_of_tied_scores_in_cwl_eval(text: str) -> None:
    """The C/W/L measures, which ir_measures takes from cwl-eval: as in the input, and by document
    id they would differ.
    """
    differing = 0
    for seed in range(20):
        qrels, run = tied_tables(seed)
        value = theirs(text, qrels, run)
        assert quietly(ir.evaluate, qrels, run, text, INPUT).mean()[text] == pytest.approx(
            value, abs=1e-12
        ), seed
        differing += quietly(ir.evaluate, qrels, run, text, "ir_measures").mean()[
            text
        ] != pytest.approx(value, abs=1e-12)
    assert differing
