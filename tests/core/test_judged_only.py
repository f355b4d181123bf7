"""Documents nobody judged taken out of the list for one measure: ranks close up, as ir_measures'
option of that name does.
"""

import ir_measures
import numpy as np
import pytest
from hypothesis import given

import idealrank as ir
from idealrank.conventions import Convention
from idealrank.testing import Grades, Scores, conventions, judgments, runs
from tests.golden.harness import quietly

MEASURES = ("nDCG@2", "AP", "RR", "P@2", "R@3", "NumRet", "AP@0.5n")


@given(judgments(), runs(), conventions(unjudged="not-relevant", missing="zero"))
def test_the_option_equals_the_switch_of_the_convention(
    qrels: Grades, run: Scores, convention: Convention
) -> None:
    """Asked of the measure or of the convention, ties and duplicates and all: the same values."""
    skipped = Convention.of(convention, unjudged="skipped")
    for text in MEASURES:
        name, _, cutoff = text.partition("@")
        option = f"{name}(judged_only=true)" + (f"@{cutoff}" if cutoff else "")
        found, expected = (
            quietly(ir.evaluate, qrels, run, [one], rules)[one]
            for one, rules in ((option, convention), (text, skipped))
        )
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "nDCG(judged_only=True)@2",
        "AP(judged_only=True)",
        "RR(judged_only=True)",
        "P(judged_only=True)@2",
    ],
)
def test_ir_measures_computes_the_same(text: str) -> None:
    """Judged documents at ranks 2, 4 and 5 of six."""
    qrels = {"q": {"b": 1, "d": 0, "e": 2, "z": 1}}
    run = {"q": {document: 6.0 - place for place, document in enumerate("abcdef")}}
    expected = ir_measures.calc_aggregate([ir_measures.parse_measure(text)], qrels, run)
    assert ir.evaluate(qrels, run, [text], "ir_measures").mean()[text] == pytest.approx(
        next(iter(expected.values())), abs=1e-12
    )


@pytest.mark.parametrize(
    "text",
    [
        "nDCG(judged_only=True)@2",
        "AP(judged_only=True)",
        "RR(judged_only=True)",
        "P(judged_only=True)@1",
        "SetP(judged_only=True)",
    ],
)
def test_documents_that_were_pooled_but_not_judged_go_too(text: str) -> None:
    """To ir_measures a negative grade is no judgment; where the convention keeps negative grades,
    it is one.
    """
    qrels = {"q": {"a": -1, "b": 1, "c": 0, "d": -2}}
    run = {"q": {document: 6.0 - place for place, document in enumerate("axbcd")}}
    expected = ir_measures.calc_aggregate([ir_measures.parse_measure(text)], qrels, run)

    found = ir.evaluate(qrels, run, [text], "ir_measures").mean()[text]

    assert found == pytest.approx(next(iter(expected.values())), abs=1e-12)
    kept = ir.evaluate(qrels, run, ["NumRet(judged_only=True)"], "standard,negative=kept").mean()
    assert kept == {"NumRet(judged_only=True)": 4.0}


def test_false_is_the_same_as_not_saying_it() -> None:
    """And what is neither is refused."""
    assert ir.AP(judged_only=False) == ir.AP()
    assert str(ir.AP(judged_only=True)) == "AP(judged_only=True)"
    with pytest.raises(ir.OptionError, match="judged_only=maybe: expected true or false"):
        ir.parse_measure("AP(judged_only=maybe)")


@given(judgments(), runs(), conventions(unjudged="not-relevant", missing="zero", rounding="none"))
def test_measures_asked_together_have_the_values_that_each_has_alone(
    qrels: Grades, run: Scores, convention: Convention
) -> None:
    """The closed-up lists are made once for all of them, and apart for those that also drop what
    was pooled and never judged.
    """
    texts = [
        "nDCG(judged_only=true)",
        "AP(judged_only=true)",
        "R(judged_only=true)@3",
        "P(judged_only=true)@2",
        "AP(judged_only=true,rel=2)",
        "AP",
    ]
    together = quietly(ir.evaluate, qrels, run, texts, convention)
    for text in texts:
        np.testing.assert_array_equal(
            together[text], quietly(ir.evaluate, qrels, run, [text], convention)[text]
        )
