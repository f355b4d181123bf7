"""Precision elsewhere and set measures: worked by hand, thresholds, ties, recall points, and their
texts in other tools' words.
"""

import math

import numpy as np
import pytest

import idealrank as ir
from idealrank.measures.measure import Measure

QRELS = {"q": {"a": 1, "b": 2, "c": 0, "d": 3, "e": 1}}
RUN = {"q": ["b", "x", "a", "c", "e"]}  # relevant at ranks 1, 3, 5; d is missed


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("Rprec", 2 / 4),
        ("Rprec(rel=2)", 1 / 2),
        ("Rprec(mult=0.5)", 1 / 2),  # floor(0.5 x 4 + 0.9) = 2
        ("Rprec(mult=0.3)", 1 / 2),  # floor(1.2 + 0.9) = 2
        ("Rprec(mult=0.25)", 1.0),  # floor(1 + 0.9) = 1
        ("Rprec(mult=0.02)", 0.0),  # floor(0.08 + 0.9) = 0
        ("Rprec(mult=2)", 3 / 8),
        ("Success@1", 1.0),
        ("Success(rel=3)@5", 0.0),
        ("RelP@1", 1.0),
        ("RelP@3", 2 / 3),
        ("RelP@10", 3 / 4),
        ("RelP(rel=2)@3", 1 / 2),
        ("GMAP", (1 + 2 / 3 + 3 / 5) / 4),
        ("GMAP@3", (1 + 2 / 3) / 4),
        ("IPrec@0", 1.0),
        ("IPrec@0.25", 1.0),
        ("IPrec@0.5", 2 / 3),
        ("IPrec@0.75", 3 / 5),
        ("IPrec@1", 0.0),
        ("11ptAP(recalls=[0.25,0.5,1])", (1 + 2 / 3) / 3),
        ("SetP", 3 / 5),
        ("SetP(relative=True)", 3 / 4),
        ("SetP(judged_only=True)", 3 / 4),
        ("R", 3 / 4),
        ("SetF", 2 * 3 / (5 + 4)),
        ("SetF(beta=0)", 3 / 5),
        ("SetF(beta=4)", 5 * 3 / (5 + 16)),
        ("SetAP", 9 / 20),
    ],
)
def test_values_worked_by_hand(measure: str, value: float) -> None:
    assert ir.evaluate(QRELS, RUN, [measure]).values[0, 0] == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize(
    ("policy", "recall", "n_relevant", "needed"),
    [
        ("rounded", 0.1, 4, 0),
        ("rounded", 0.1, 5, 1),  # a half goes up
        ("rounded", 0.3, 4, 1),
        ("rounded", 0.7, 3, 2),
        ("truncated", 0.1, 4, 1),
        ("truncated", 0.1, 11, 2),
        ("truncated", 0.05, 21, 1),  # 1.05 + 0.9 is below 2
        ("truncated", 0.3, 4, 2),
    ],
)
def test_recall_points_are_made_whole_in_two_ways(
    policy: str, recall: float, n_relevant: int, needed: int
) -> None:
    """Of n relevant documents, each behind as many others as stand before it, IPrec tells which of
    them is looked at.
    """
    qrels = {"q": {f"r{i}": 1 for i in range(n_relevant)}}
    # The i-th relevant document stands at rank i^2, so precision falls: 1, 2/4, 3/9, ...
    run = {
        "q": [
            f"r{math.isqrt(rank) - 1}" if math.isqrt(rank) ** 2 == rank else f"x{rank}"
            for rank in range(1, n_relevant**2 + 1)
        ]
    }

    value = ir.evaluate(
        qrels, run, ir.IPrec(recall=recall), f"standard,recall_points={policy}"
    ).values[0, 0]

    assert value == pytest.approx(1 / max(needed, 1), abs=1e-15)


def test_the_versions_of_trec_eval_set_the_recall_points() -> None:
    measure = ir.IPrec(recall=0.1)
    points = {
        name: measure.under(ir.Convention.of(name)).recall_points
        for name in ("standard", "trec_eval-10", "trec_eval-9", "ir_measures")
    }

    assert points == {
        "standard": "rounded",
        "trec_eval-10": "rounded",
        "trec_eval-9": "truncated",
        "ir_measures": "truncated",
    }
    assert (
        ir.IPrec(recall=0.1, recall_points="rounded")
        .under(ir.Convention.of("trec_eval-9"))
        .recall_points
        == "rounded"
    )


# --- ties and queries without anything ------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "cutoff", "chance"),
    [
        ([1, 1, 0, 0, 0], 2, 1 - 3 / 10),
        ([1, 0, 0, 0, 0], 2, 2 / 5),
        ([1, 1, 1, 1, 0], 2, 1.0),
        ([1, 0], 5, 1.0),
        ([0, 0], 1, 0.0),
    ],
)
def test_success_of_tied_documents_is_the_chance_of_drawing_one(
    labels: list[int], cutoff: int, chance: float
) -> None:
    assert ir.evaluate([labels], [[1.0] * len(labels)], ir.Success(cutoff=cutoff)).values[
        0, 0
    ] == pytest.approx(chance, abs=1e-15)


def test_success_of_a_tie_below_others_counts_the_ranks_that_are_left() -> None:
    """Rank 1 is not relevant, the cutoff leaves two of three tied documents, one of them
    relevant.
    """
    assert ir.evaluate([[0, 1, 0, 0]], [[9.0, 1.0, 1.0, 1.0]], "Success@3").values[
        0, 0
    ] == pytest.approx(2 / 3, abs=1e-15)


def test_a_million_tied_documents_are_no_work() -> None:
    """The product runs over the fewer of relevant and taken, and stays exact: 1 - (n-m)/n
    (n-m-1)/(n-1).
    """
    n, m = 1_000_000, 250_000
    labels = np.zeros((1, n))
    labels[0, :2] = 1

    value = ir.evaluate(labels, np.zeros((1, n)), ir.Success(cutoff=m)).values[0, 0]

    assert value == pytest.approx(1 - (n - m) / n * (n - m - 1) / (n - 1), abs=1e-15)


@pytest.mark.parametrize("measure", ["IPrec@0.5", "11ptAP"])
def test_interpolated_precision_has_no_expected_value(measure: str) -> None:
    with pytest.raises(
        ir.OptionError,
        match=r"found tied scores, in query 'q' first, .* choose ties=docid, input, best or worst",
    ):
        ir.evaluate(QRELS, {"q": {"a": 1.0, "c": 1.0}}, measure, "standard,ties=expected")
    with pytest.raises(ir.OptionError, match="choose ties=input, best or worst"):
        ir.evaluate([[1, 0]], [[0.5, 0.5]], measure)
    best, worst = (
        ir.evaluate([[1, 0]], [[0.5, 0.5]], measure, f"standard,ties={ties}").values[0, 0]
        for ties in ("best", "worst")
    )
    assert (best, worst) == (1.0, 0.5)


DEFINED_WITHOUT_RELEVANT = {"SetP": 0.0}
EVERY = [
    "Rprec",
    "Success@5",
    "RelP@5",
    "GMAP",
    "IPrec@0.5",
    "11ptAP",
    "SetP",
    "SetP(relative=True)",
    "SetF",
    "SetAP",
]


@pytest.mark.parametrize("measure", EVERY)
def test_a_query_without_relevant_documents_has_the_value_of_the_policy(measure: str) -> None:
    qrels, run = {"q": {"a": 0}, "r": {"a": 1}}, {"q": ["a"], "r": ["a"]}

    found = {
        policy: ir.evaluate(qrels, run, measure, f"standard,no_relevant={policy}").per_query()["q"]
        for policy in ("zero", "one", "left-out")
    }

    defined = DEFINED_WITHOUT_RELEVANT.get(measure)
    assert [next(iter(values.values())) for values in found.values()] == (
        [0.0, 1.0, None] if defined is None else [defined] * 3
    )


@pytest.mark.parametrize("measure", EVERY)
def test_a_query_that_is_not_answered_has_0(measure: str) -> None:
    assert ir.evaluate({"q": {"a": 1}, "r": {"b": 1}}, {"q": ["a"]}, measure).per_query()["r"] == {
        measure: 0.0
    }


def test_the_geometric_mean_has_trec_evals_floor() -> None:
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": ["x", "a"], "r": ["x"]}

    evaluation = ir.evaluate(qrels, run, ["GMAP", "AP"])

    assert evaluation.mean() == pytest.approx(
        {"GMAP": math.sqrt(0.5 * 0.00001), "AP": 0.25}, rel=1e-14
    )
    assert evaluation["GMAP"].tolist() == [0.5, 0.0]


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelling", "measure", "trec_name"),
    [
        ("RPrec", ir.Rprec(), "Rprec"),
        ("Rprec_mult_0.20", ir.Rprec(mult=0.2), "Rprec_mult_0.20"),
        ("Rprec_mult.5.0", ir.Rprec(mult=5), "Rprec_mult_5.00"),
        ("Rprec(mult=0.2,rel=2)", ir.Rprec(mult=0.2, rel=2), "Rprec(mult=0.2,rel=2)"),
        ("success_5", ir.Success(cutoff=5), "success_5"),
        ("hit_rate@10", ir.Success(cutoff=10), "success_10"),
        ("relative_P_10", ir.RelativeP(cutoff=10), "relative_P_10"),
        ("R_cap@100", ir.RelativeP(cutoff=100), "relative_P_100"),
        ("gm_map", ir.GMAP(), "gm_map"),
        ("GMAP@10", ir.GMAP(cutoff=10), "GMAP@10"),
        ("iprec_at_recall_0.10", ir.IPrec(recall=0.1), "iprec_at_recall_0.10"),
        ("iprec_at_recall..10", ir.IPrec(recall=0.1), "iprec_at_recall_0.10"),
        ("IPrec(rel=2)@0.1", ir.IPrec(recall=0.1, rel=2), "IPrec(rel=2)@0.1"),
        ("11pt_avg", ir.ElevenPointAP(), "11pt_avg"),
        (
            "11pt_avg_.25,.5,.75",
            ir.ElevenPointAP(recalls=(0.25, 0.5, 0.75)),
            "11pt_avg_0.25,0.5,0.75",
        ),
        (
            "11pt_avg..25,.5,.75",
            ir.ElevenPointAP(recalls=(0.25, 0.5, 0.75)),
            "11pt_avg_0.25,0.5,0.75",
        ),
        ("set_P", ir.SetP(), "set_P"),
        ("SetRelP", ir.SetP(relative=True), "set_relative_P"),
        ("SetRelP(rel=2)", ir.SetP(relative=True, rel=2), "SetP(rel=2,relative=True)"),
        ("set_F_0.5", ir.SetF(beta=0.5), "set_F_0.5"),
        ("SetF(beta=0.5)", ir.SetF(beta=0.5), "set_F_0.5"),
        ("set_map", ir.SetAP(), "set_map"),
        ("SetR", ir.R(), "set_recall"),
        ("P_5(judged_only=True)", ir.P(cutoff=5, judged_only=True), "P(judged_only=True)@5"),
        ("P_5(rel=2)", ir.P(cutoff=5, rel=2), "P(rel=2)@5"),
    ],
)
def test_other_tools_names_are_read_and_trec_evals_are_printed(
    spelling: str, measure: Measure, trec_name: str
) -> None:
    assert ir.parse_measure(spelling) == measure
    assert ir.parse_measure(str(measure)) == measure
    assert measure.trec_name == trec_name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Rprec_mult", "Rprec_mult: expected a number after the name, as in Rprec_mult_0.20"),
        ("Rprec(mult=0)", "mult=0: expected a number above 0"),
        ("Rprec@5", "Rprec has no cutoff"),
        ("Success", "Success needs a cutoff, as in Success@10"),
        ("IPrec", "IPrec needs a recall level, as in IPrec@0.1"),
        ("IPrec@10", "recall=10: expected a number from 0 to 1"),
        ("IPrec(recall_points=up)@0.1", "recall_points=up"),
        ("11ptAP(recalls=[0.5,2])", "recalls=2: expected a number from 0 to 1"),
        ("11ptAP(recalls=[])", "recalls=: expected a number from 0 to 1"),
        ("SetP(relative=maybe)", "relative=maybe: expected true or false"),
        ("SetF(beta=-1)", "beta=-1: expected a number of at least 0"),
    ],
)
def test_options_that_cannot_be_are_refused(text: str, message: str) -> None:
    with pytest.raises(
        ir.OptionError, match=rf"(?s).*{message.replace('(', '.').replace('[', '.')}"
    ):
        ir.parse_measure(text)


def test_no_recall_levels_are_refused() -> None:
    with pytest.raises(ir.OptionError, match="expected at least one recall level"):
        ir.ElevenPointAP(recalls=())
