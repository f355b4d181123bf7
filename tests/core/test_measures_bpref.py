"""Measures of judged and unjudged documents, worked by hand: grades below 0, short lists, arrays,
and what other tools call them.
"""

import math

import numpy as np
import pytest

import idealrank as ir
from idealrank.data.lists import Lists
from idealrank.evaluation.evaluate import evaluate_lists

QRELS = {"q": {"a": 1, "b": 0, "c": -1, "d": 1, "e": 0}}
RUN = {"q": ["b", "x", "a", "c", "d"]}


def value(
    text: str,
    qrels: dict[str, dict[str, float]] = QRELS,
    run: dict[str, list[str]] = RUN,
    convention: str = "standard",
) -> float:
    """A measure of the one query."""
    return float(ir.evaluate(qrels, run, [text], convention)[text][0])


@pytest.mark.parametrize("negative", ["zero", "kept"])
def test_a_grade_below_0_is_neither_relevant_nor_judged(negative: str) -> None:
    """Of two relevant and two judged nonrelevant documents one of the latter stands above both of
    the former.
    """
    convention = f"standard,negative={negative}"
    assert value("Bpref", convention=convention) == pytest.approx(0.5)
    assert value("NumNonrelJudgedRet", convention=convention) == 1
    assert value("Unjudged@5", convention=convention) == pytest.approx(2 / 5)
    assert value("Judged@5", convention=convention) == pytest.approx(4 / 5)
    # At rank 3, of one pooled document above none is relevant; at rank 5, of three pooled above one
    # of two judged is.
    assert value("infAP", convention=convention) == pytest.approx(
        (1 / 3 + (1 + 3 / 2) / 5) / 2, abs=1e-4
    )


def test_documents_taken_out_with_negative_grades_are_gone() -> None:
    """The ranks close up, and nothing is pooled but not judged."""
    assert value("Unjudged@5", convention="standard,negative=removed") == pytest.approx(1 / 5)
    assert value("Judged", convention="standard,negative=removed") == pytest.approx(3 / 4)


def test_short_lists() -> None:
    """Ranks that a list lacks are not unjudged, and the judged share is of what is shown."""
    assert value("Unjudged@10") == pytest.approx(2 / 10)
    assert value("Judged@10") == pytest.approx(4 / 5)
    empty = ir.evaluate({"q": {"a": 1}, "r": {"b": 1}}, {"r": ["b"]}, ["Unjudged", "Judged@3"])
    assert empty.per_query()["q"] == {"Unjudged": 0.0, "Judged@3": 0.0}


def test_the_hole_of_mteb_is_over_documents_judged_for_any_query() -> None:
    """Its set of judged documents is one for all queries: here b, judged for the other query, is no
    hole.
    """
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    run = {"q1": ["a", "b", "x"], "q2": ["b", "x", "y"]}
    pooled = {query: {"a": 0, "b": 0} | grades for query, grades in qrels.items()}
    assert ir.evaluate(qrels, run, ["hole@3"]).mean()["hole@3"] == pytest.approx(
        (2 / 3 + 2 / 3) / 2
    )
    assert ir.evaluate(pooled, run, ["hole@3"]).mean()["hole@3"] == pytest.approx(
        (1 / 3 + 2 / 3) / 2
    )


@pytest.mark.parametrize("ties", ["input", "expected", "best", "worst"])
def test_arrays_keep_labels_below_0_as_unjudged(ties: str) -> None:
    """The same values as from tables, with rows of one length and of several."""
    labels, scores = [1, 0, -1, 1, 0, -1], [3.0, 3.0, 3.0, 2.0, 1.0, 1.0]
    for group in ([6], [4, 2]):
        found = evaluate_lists(
            Lists.from_arrays(labels, scores, group=group),
            ["Bpref", "infAP", "Unjudged@3"],
            f"standard,ties={ties}",
        )
        begins = np.cumsum([0, *group])
        qrels = {
            str(q): {f"d{i}": labels[i] for i in range(begins[q], begins[q + 1])}
            for q in range(len(group))
        }
        run = {
            str(q): {f"d{i}": scores[i] for i in range(begins[q], begins[q + 1])}
            for q in range(len(group))
        }
        expected = ir.evaluate(
            qrels, run, ["Bpref", "infAP", "Unjudged@3"], f"standard,ties={ties}"
        )
        np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-12)


def test_inferred_precision_of_large_ties() -> None:
    """A thousand tied documents, one of them relevant and none other judged: the mean of 1 /
    rank.
    """
    run = {"q": {f"d{number}": 1.0 for number in range(1000)}}
    found = ir.evaluate({"q": {"d7": 1}}, run, ["infAP"], "standard,ties=expected")["infAP"][0]
    assert found == pytest.approx(math.fsum(1 / rank for rank in range(1, 1001)) / 1000, abs=1e-12)


def test_log_odds_of_average_precision() -> None:
    """S = 1/1 + 2/3 of R = 2."""
    assert value("yaap", {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}) == pytest.approx(
        math.log((1 + 5 / 3) / (1 + 1 / 3))
    )


@pytest.mark.parametrize(
    ("spelling", "text"),
    [
        ("bpref", "Bpref"),
        ("BPref(rel=2)", "Bpref(rel=2)"),
        ("infAP", "infAP"),
        ("gm_bpref", "GMBpref"),
        ("unj_5", "Unjudged@5"),
        ("hole@10", "Unjudged@10"),
        ("Judged@10", "Judged@10"),
        ("utility.2,-1,0,0", "Utility(a=2,b=-1,c=0,d=0)"),
        ("G", "G"),
        ("ndcg_1=3,2=9", "nDCG(gain={1:3,2:9,*:*})"),
        ("NumRet(rel=2)", "NumRelRet(rel=2)"),
        ("Rndcg", "RnDCG"),
        ("binG", "binG"),
        ("ndcg_rel", "nDCG_rel"),
        ("relstring.20", "RelString@20"),
        ("num_nonrel_judged_ret", "NumNonrelJudgedRet"),
        ("yaap", "YAAP"),
    ],
)
def test_spellings(spelling: str, text: str) -> None:
    """trec_eval's, ir_measures' and MTEB's; what trec_eval prints reads back."""
    measure = ir.parse_measure(spelling)
    assert str(measure) == text
    assert ir.parse_measure(measure.trec_name) == measure


def test_a_wrong_number_of_coefficients_is_refused() -> None:
    """Four are expected."""
    with pytest.raises(ir.OptionError, match="utility_2,-1: expected 4 numbers"):
        ir.parse_measure("utility_2,-1")


def test_grades_that_a_table_lacks_are_their_own_gain_where_it_says_so() -> None:
    """trec_eval's and ir_measures' tables name some grades only."""
    qrels, run = {"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]}
    assert value("DCG(gain={1:5,*:*})", qrels, run) == pytest.approx(5 + 3 / math.log2(3))
    with pytest.raises(ir.InputError, match="found grade 3"):
        value("DCG(gain={1:5})", qrels, run)


def test_strings_of_grades_and_of_other_letters() -> None:
    """Above 9, fractions, unjudged, pooled."""
    evaluation = ir.evaluate(
        {"q": {"a": 12, "b": 2.5, "c": -1}},
        {"q": ["a", "x", "b", "c"]},
        ["RelString", "RelString@2"],
    )
    assert evaluation.texts == {"RelString": ["'>-2.'"], "RelString@2": ["'>-'"]}
    assert not evaluation.scored.any()
