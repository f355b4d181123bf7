"""Lists cut after their first documents, against runs that hold no more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealrank as ir

DOCUMENTS = [f"d{number}" for number in range(12)]
MEASURES = ["AP", "nDCG", "P@5", "R@3", "NumRet", "NumRel", "NumRelRet", "RR"]

qrels = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 3), min_size=1),
    min_size=1,
)
runs = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3", "q4"]),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 4)),
    min_size=1,
)


def shortened(run: dict[str, dict[str, int]], n: int) -> dict[str, dict[str, int]]:
    """The first n documents of every query, ties by document id, the greater first."""
    ranked = {
        query: sorted(scores.items(), key=lambda pair: (pair[1], pair[0].encode()), reverse=True)
        for query, scores in run.items()
    }
    return {query: dict(pairs[:n]) for query, pairs in ranked.items()}


@pytest.mark.filterwarnings("ignore::idealrank.errors.IdealrankWarning")
@pytest.mark.parametrize(
    "convention",
    [
        "standard",
        "standard,unjudged=skipped",
        "standard,unjudged=skipped,negative=removed",
        "trec_eval-10,negative=removed",
        "trec_eval-9",
    ],
)
@given(qrels=qrels, run=runs, n=st.integers(1, 13))
def test_a_cut_run_is_a_shorter_run(
    convention: str, qrels: dict[str, dict[str, int]], run: dict[str, dict[str, int]], n: int
) -> None:
    convention += ",missing=zero"
    cut = ir.evaluate(qrels, run, MEASURES, convention, max_documents=n)
    short = ir.evaluate(qrels, shortened(run, n), MEASURES, convention)

    np.testing.assert_array_equal(cut.values, short.values)
    assert cut.coverage.unjudged_share == short.coverage.unjudged_share


def test_what_it_refuses() -> None:
    with pytest.raises(ir.OptionError, match="expected a whole number from 1 on"):
        ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP", max_documents=0)
    with pytest.raises(ir.OptionError, match="found ties=expected, expected docid"):
        ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP", "standard,ties=expected", max_documents=2)
    with pytest.raises(ir.InputError, match="belongs to runs with document ids"):
        ir.evaluate([1, 0], [0.1, 0.2], "AP", max_documents=2)


def test_a_document_that_nobody_judged_below_the_cut_is_not_refused() -> None:
    judged, run = {"q": {"a": 1}}, {"q": ["a", "x"]}
    assert (
        ir.evaluate(judged, run, "AP", "standard,unjudged=error", max_documents=1).mean()["AP"] == 1
    )
    with pytest.raises(ir.InputError, match="rank 2 is unjudged"):
        ir.evaluate(judged, run, "AP", "standard,unjudged=error", max_documents=2)


def test_the_cut_stands_in_the_provenance_and_parts_of_different_cuts_are_not_put_together() -> (
    None
):
    one, other = (
        ir.evaluate({q: {"a": 1}}, {q: ["a"]}, "AP", max_documents=n)
        for q, n in (("q1", 5), ("q2", 6))
    )
    assert one.provenance.max_documents == 5
    with pytest.raises(ir.IncompatibleError, match="cut at 5 and at 6"):
        one.merge(other)
