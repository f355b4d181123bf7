"""What judgments and runs say about each other, each observation made to happen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.io.observations import Observation, observe_qrels, observe_run, resemblance

Scores = dict[str, dict[str, float]]


def found(observations: list[Observation]) -> dict[str, tuple[int, tuple[str, ...]]]:
    return {
        observation.kind: (observation.count, observation.examples) for observation in observations
    }


def test_judgments_and_a_run_that_fit_show_nothing() -> None:
    qrels, run = Qrels({"q": {"a": 1, "b": 0}}), Run({"q": {"a": 0.5, "b": 0.4, "c": 0.3}})
    assert observe_qrels(qrels) == []
    assert observe_run(qrels, run) == []


def test_queries_without_a_grade_above_zero_are_counted() -> None:
    qrels = Qrels(
        {"zero": {"a": 0}, "empty": {}, "below": {"a": -1, "b": -2}, "fine": {"a": -1, "b": 1}}
    )
    assert found(observe_qrels(qrels)) == {
        "negative": (1, ("below",)),
        "no-relevant": (1, ("zero",)),
        "negative-grades": (3, ()),
    }


def test_queries_that_do_not_meet_are_counted_on_both_sides() -> None:
    qrels = Qrels({"a": {"d": 1}, "b": {"d": 1}, "c": {"d": 1}})
    run = Run({"a": {"d": 1.0}, "b": {}, "x": {"d": 1.0}, "y": {"d": 1.0}})
    observations = observe_run(qrels, run, examples=1)
    assert found(observations) == {
        "missing": (1, ("c",)),
        "without-judgments": (2, ("x",)),
        "empty-list": (1, ("b",)),
    }
    assert str(observations[1]) == "2 of 4 queries of the run have no judgments: x, ..."
    assert all(observation.severity == "warning" for observation in observations)


def test_no_common_query_is_an_error_with_a_suspicion() -> None:
    observation, *_ = observe_run(
        Qrels({"001": {"d": 1}, "002": {"d": 1}}), Run({"1": {"d": 1.0}, "2": {"d": 1.0}})
    )
    assert (observation.kind, observation.severity) == ("no-common-query", "error")
    assert 'ids differ by leading zeros ("001" judged, "1" answered)' in str(observation)


def test_documents_that_never_meet_are_an_error_only_where_all_look_alike() -> None:
    qrels = Qrels({"q": {"D1": 1}, "r": {"D2": 1}})
    (alike,) = observe_run(qrels, Run({"q": {"d1": 1.0, "d3": 0.5}, "r": {"d2": 1.0}}))
    assert (alike.kind, alike.count, alike.severity) == ("no-judged-document", 2, "error")
    (one,) = observe_run(qrels, Run({"q": {"d1": 1.0}, "r": {"D2": 1.0}}))
    assert (one.count, one.severity, one.examples) == (1, "warning", ("q",))
    (foreign,) = observe_run(qrels, Run({"q": {"x": 1.0}, "r": {"y": 1.0}}))
    assert (foreign.count, foreign.severity) == (2, "warning")


def test_constant_scores_are_those_of_the_whole_list() -> None:
    qrels = Qrels(
        {query: {"a": 1} for query in ("constant", "two groups", "one document", "plain")}
    )
    run = Run(
        {
            "constant": {"a": 1.0, "b": 1.0, "c": 1.0},
            "two groups": {"a": 1.0, "b": 1.0, "c": 2.0, "d": 2.0},
            "one document": {"a": 1.0},
            "plain": {"a": 1.0, "b": 0.0},
        }
    )
    assert found(observe_run(qrels, run)) == {"constant-scores": (1, ("constant",))}


@settings(deadline=None)
@given(scores=st.lists(st.floats(0.9999, 1.0001), min_size=2, max_size=6))
def test_single_precision_ties_are_what_numpy_rounds_together(scores: list[float]) -> None:
    run = Run({"q": {f"d{i}": score for i, score in enumerate(scores)}})

    def tied(values: np.ndarray) -> int:
        return int(sum((values == value).sum() > 1 for value in values))

    merged = tied(np.array(scores, np.float32)) > tied(np.array(scores))
    assert (
        "single-precision-ties" in found(observe_run(Qrels({"q": {"other": 1}}), run))
    ) == merged


ALIKE = [
    (["d1 "], ["d1"], "blanks at the ends"),
    (["\ufeffd1"], ["d1"], "invisible characters"),
    (["FT-1"], ["ft-1"], "upper and lower case"),
    (['"d1"'], ["d1"], "quotation marks"),
    (["caf\u00e9"], ["cafe\u0301"], "the form of Unicode (composed or not)"),
    (["a%20b"], ["a b"], "percent-encoding"),
    (["7.0", "12.0"], ["7", "12"], "a decimal point (numbers written as 7.0)"),
    (["007"], ["7"], "leading zeros"),
    (["d1.txt"], ["d1"], "a file ending"),
    (["corpus/a/d1"], ["d1"], "a leading folder"),
    (["msmarco_passage_12"], ["12"], "a prefix before the number"),
    (["D07"], ["d7"], "a prefix and zeros before the number"),
    (["d1#3"], ["d1"], "the part after a separator"),
]


@pytest.mark.parametrize(("left", "right", "difference"), ALIKE, ids=[case[2] for case in ALIKE])
def test_ids_that_look_alike(left: list[str], right: list[str], difference: str) -> None:
    for here, there in ((left, right), (right, left)):
        suspicion = resemblance(["unlike", *here], [*there, "other"])
        assert suspicion is not None
        assert (suspicion.difference, suspicion.left, suspicion.right, suspicion.count) == (
            difference,
            here[0],
            there[0],
            len(here),
        )


@given(
    left=st.lists(st.sampled_from(["a", "b", "c"])),
    right=st.lists(st.sampled_from(["x", "y", "z"])),
)
def test_ids_that_do_not_look_alike_give_no_suspicion(left: list[str], right: list[str]) -> None:
    assert resemblance(left, right) is None


def test_two_products_with_one_prefix_are_not_one_id() -> None:
    assert resemblance(["SKU-078533616"], ["SKU-000938308"]) is None
    assert resemblance(["SKU-1", "SKU-2"], ["SKU-3"]) is None
