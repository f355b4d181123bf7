"""Explanations: the parts sum to the value that evaluate gives, and what is said to gain most gains
most.
"""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from idealrank import Explanation, explain
from idealrank.conventions import PRESETS, Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import IdealrankError, InputError, OptionError
from idealrank.evaluation.evaluate import evaluate
from tests.conftest import examples

DOCUMENTS = [f"d{number}" for number in range(12)]
MEASURES = (
    "nDCG@3",
    "nDCG",
    "nDCG(gain=exp2,ideal=uncut)@4",
    "nDCG(discount=linear)@0.5n",
    "DCG@3",
    "P@3",
    "R@4",
    "R",
    "AP",
    "AP@3",
    "RR",
    "RR@2",
    "AP(rel=2)",
)
TIES = ("docid", "docid-ascending", "input", "expected", "best", "worst")
# Sums in another order differ in the last bits; 1e-12 is far above that and far below anything
# printed.
CLOSE = 1e-12

grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0, 1, 2, 3]), min_size=1)
scores = st.dictionaries(
    st.sampled_from(DOCUMENTS), st.sampled_from([0.25, 0.5, 1.0, 1.0 + 1e-9, 2.0]), min_size=1
)


def explained_and_evaluated(
    qrels: dict, run: dict, measure: str, convention: Convention | str
) -> tuple[Explanation, float | None]:
    """The explanation of query q, and the value evaluate gives among other queries; skips what the
    convention refuses.
    """
    try:
        evaluation = evaluate(
            Qrels({**qrels, "other": {"d1": 1}}),
            Run({**run, "other": ["d1"]}),
            [measure],
            convention,
        )
        found = explain(
            Qrels({**qrels, "other": {"d1": 1}}),
            Run({**run, "other": ["d1"]}),
            "q",
            measure,
            convention,
        )
    except IdealrankError:
        assume(False)
        raise
    return found, evaluation.per_query().get("q", {}).get(str(found.measure))


def assert_sums_to(found: Explanation, value: float | None) -> None:
    assert found.value == value or (
        found.value is not None
        and value is not None
        and math.isnan(found.value)
        and math.isnan(value)
    )
    if value is None or math.isnan(value):
        assert found.note
        return
    total = math.fsum(row.contribution for row in found.rows) + found.adjustment
    assert total == pytest.approx(value, abs=CLOSE)
    if found.dcg is not None and not found.note:
        assert math.fsum(row.gain * (row.discount or 0) for row in found.rows) == pytest.approx(
            found.dcg, abs=1e-9
        )
    if found.ideal_dcg and not found.note:
        assert math.fsum(row.gain * row.discount for row in found.ideal) == pytest.approx(
            found.ideal_dcg, abs=1e-9
        )
        assert math.fsum(row.contribution for row in found.ideal) == pytest.approx(1.0, abs=CLOSE)


@pytest.mark.spread(12)
@pytest.mark.parametrize("preset", PRESETS)
@settings(max_examples=examples(12), deadline=None)
@given(judged=grades, returned=scores, measure=st.sampled_from(MEASURES))
def test_contributions_sum_to_the_value_of_evaluate_under_every_preset(
    preset: str, judged: dict, returned: dict, measure: str
) -> None:
    found, value = explained_and_evaluated({"q": judged}, {"q": returned}, measure, preset)

    assert_sums_to(found, value)


@pytest.mark.parametrize("ties", TIES)
@settings(max_examples=examples(60), deadline=None)
@given(
    judged=st.dictionaries(
        st.sampled_from(DOCUMENTS), st.sampled_from([-1, 0, 0.5, 1, 2, 3]), min_size=1
    ),
    returned=scores,
    measure=st.sampled_from(MEASURES),
    negative=st.sampled_from(["kept", "zero", "removed", "padding"]),
    unjudged=st.sampled_from(["not-relevant", "skipped"]),
    ideal=st.sampled_from(["judged", "returned", "hits", "uncut"]),
    no_relevant=st.sampled_from(["zero", "one", "nan", "left-out", "quotient"]),
    rounding=st.sampled_from(["none", "round-2", "floor-2"]),
)
def test_contributions_sum_to_the_value_of_evaluate_under_every_switch(
    ties: str, judged: dict, returned: dict, measure: str, **switches: str
) -> None:
    convention = Convention.of("standard", ties=ties, **switches)

    found, value = explained_and_evaluated({"q": judged}, {"q": returned}, measure, convention)

    assert_sums_to(found, value)


@pytest.mark.parametrize("duplicates", ["first", "last", "best", "twice"])
@settings(max_examples=examples(40), deadline=None)
@given(
    judged=grades,
    lines=st.lists(
        st.tuples(st.sampled_from(DOCUMENTS[:4]), st.sampled_from([0.5, 1.0, 2.0])),
        min_size=1,
        max_size=8,
    ),
    measure=st.sampled_from(MEASURES),
    ties=st.sampled_from(TIES),
    ideal=st.sampled_from(["judged", "returned"]),
)
def test_contributions_sum_to_the_value_of_evaluate_with_documents_listed_twice(
    duplicates: str, judged: dict, lines: list, measure: str, ties: str, ideal: str
) -> None:
    convention = Convention.of("standard", duplicates=duplicates, ties=ties, ideal=ideal)
    documents, values = [document for document, _ in lines], np.array([score for _, score in lines])
    run = Run.from_columns(["q"] * len(lines), documents, values)

    found = explain(Qrels({"q": judged}), run, "q", measure, convention)

    assert_sums_to(
        found,
        evaluate(Qrels({"q": judged}), run, [measure], convention).per_query()["q"][found.measure],
    )


def best_of(judged: dict, rankings: list, measure: str, convention: Convention | str) -> float:
    """The greatest value that a ranking, or scores, of one query has; evaluated at once, each as a
    query of its own. 0 without any.
    """
    if not rankings:
        return 0.0
    run = {f"q{place}": ranking for place, ranking in enumerate(rankings)}
    return float(
        evaluate(Qrels(dict.fromkeys(run, judged)), Run(run), [measure], convention)[measure].max()
    )


def swapped(documents: list[str]) -> list[list[str]]:
    """The list with each two of its documents in each other's place."""
    found = []
    for upper, lower in combinations(range(len(documents)), 2):
        other = list(documents)
        other[upper], other[lower] = other[lower], other[upper]
        found.append(other)
    return found


@pytest.mark.spread(5)
@pytest.mark.parametrize("measure", MEASURES)
@settings(max_examples=examples(25), deadline=None)
@given(judged=grades, returned=st.permutations(DOCUMENTS), size=st.integers(1, 9))
def test_the_best_swap_is_the_best_of_all_pairs(
    measure: str, judged: dict, returned: list, size: int
) -> None:
    convention = Convention.of("standard")
    documents = list(returned[:size])
    found, value = explained_and_evaluated({"q": judged}, {"q": documents}, measure, convention)

    best = max(value or 0.0, best_of(judged, swapped(documents), measure, convention))

    reached = found.best_swap.value if found.best_swap else value
    assert reached == pytest.approx(best, abs=CLOSE)


@pytest.mark.spread(5)
@pytest.mark.parametrize("measure", MEASURES)
@settings(max_examples=examples(25), deadline=None)
@given(judged=grades, returned=scores)
def test_the_best_swap_of_scores_is_found_where_ties_are_averaged(
    measure: str, judged: dict, returned: dict
) -> None:
    convention = Convention.of("standard,ties=expected")
    found, value = explained_and_evaluated({"q": judged}, {"q": returned}, measure, convention)

    others = [
        {**returned, one: returned[two], two: returned[one]}
        for one, two in combinations(returned, 2)
    ]
    best = max(value or 0.0, best_of(judged, others, measure, convention))

    reached = found.best_swap.value if found.best_swap else value
    assert reached == pytest.approx(best, abs=CLOSE)


@settings(max_examples=examples(60), deadline=None)
@given(
    judged=grades,
    returned=st.permutations(DOCUMENTS),
    size=st.integers(1, 9),
    gain=st.sampled_from(["linear", "exp2", "{0:0,1:5,2:2,3:3}"]),
)
def test_the_best_swap_is_exact_where_every_term_is_rounded(
    judged: dict, returned: list, size: int, gain: str
) -> None:
    convention = Convention.of("rre", gain=gain)
    documents = list(returned[:size])
    found, value = explained_and_evaluated({"q": judged}, {"q": documents}, "nDCG@4", convention)

    best = max(value or 0.0, best_of(judged, swapped(documents), "nDCG@4", convention))

    assert (found.best_swap.value if found.best_swap else value) == pytest.approx(best, abs=CLOSE)


@pytest.mark.spread(10)
@pytest.mark.parametrize(
    "convention", ["standard", "sklearn", "elasticsearch", "jarvelin-2002", "linear-2010"]
)
@pytest.mark.parametrize("measure", ["nDCG@4", "nDCG", "AP", "RR@3", "P@3", "R@5"])
@settings(max_examples=examples(8), deadline=None)
@given(judged=grades, returned=st.permutations(DOCUMENTS), size=st.integers(1, 6))
def test_the_best_missing_document_gains_what_putting_it_there_gains(
    measure: str, convention: str, judged: dict, returned: list, size: int
) -> None:
    documents = list(returned[:size])
    found, value = explained_and_evaluated({"q": judged}, {"q": documents}, measure, convention)
    assume(value is not None and not found.note)
    assert value is not None

    place = min(found.cutoff or size + 1, size + 1) - 1
    others = [
        [*documents[:place], document, *documents[place + 1 :]]
        for document in sorted(set(judged) - set(documents))
    ]
    best = max(value, best_of(judged, others, measure, convention))

    assert (found.best_missing.value if found.best_missing else value) == pytest.approx(
        best, abs=CLOSE
    )


def test_a_tie_shows_the_mean_weight_of_its_ranks() -> None:
    found = explain(
        Qrels({"q": {"a": 2}}), Run({"q": {"a": 1.0, "b": 1.0, "c": 0.5}}), "q", "nDCG@1", "sklearn"
    )

    weights = [(row.tie, row.discount) for row in found.rows]

    # Half a chance of rank 1, whose weight is 1; rank 2 lies beyond the cutoff.
    assert weights == [((1, 2), 0.5), ((1, 2), 0.5), (None, 0.0)]


def test_worst_ties_show_the_list_in_its_worst_order() -> None:
    found = explain(
        Qrels({"q": {"a": 2, "b": 1}}),
        Run({"q": {"a": 1.0, "b": 1.0, "x": 1.0}}),
        "q",
        "nDCG",
        "catboost",
    )

    assert [row.document for row in found.rows] == ["x", "b", "a"]


def test_the_ideal_takes_documents_that_the_run_did_not_return() -> None:
    found = explain(Qrels({"q": {"a": 1, "z": 3}}), Run({"q": ["a"]}), "q", "nDCG@10")

    assert [(row.rank, row.document, row.grade) for row in found.ideal] == [
        (1, "z", 3.0),
        (2, "a", 1.0),
    ]


def test_a_query_the_run_does_not_answer_counts_zero_or_is_left_out() -> None:
    qrels, run = Qrels({"q1": {"a": 1}, "q2": {"a": 1}}), Run({"q2": ["a"]})

    counted, left_out = (
        explain(qrels, run, "q1", "AP"),
        explain(qrels, run, "q1", "AP", "trec_eval-9"),
    )

    assert (counted.value, counted.rows, counted.best_missing and counted.best_missing.value) == (
        0.0,
        (),
        1.0,
    )
    assert (left_out.value, left_out.note) == (None, "left out: the run does not answer the query")


def test_a_query_without_relevant_documents_says_what_it_counts() -> None:
    found = explain(Qrels({"q": {"a": 0}}), Run({"q": ["a"]}), "q", "nDCG@10", "lightgbm")

    assert (found.value, found.adjustment, found.note) == (
        1.0,
        1.0,
        "no relevant document: counted 1",
    )


def test_grades_are_shown_as_judged_and_gains_as_the_convention_takes_them() -> None:
    found = explain(
        Qrels({"q": {"a": 2.5, "b": -1}}), Run({"q": ["a", "b"]}), "q", "nDCG", "trec_eval-10"
    )

    assert [(row.grade, row.gain) for row in found.rows] == [(2.5, 2.0), (-1.0, 0.0)]


def test_a_duplicate_that_counts_twice_stands_twice() -> None:
    run = Run.from_columns(["q"] * 3, ["a", "b", "a"], np.array([3.0, 2.0, 1.0]))

    found = explain(Qrels({"q": {"a": 1, "b": 1}}), run, "q", "nDCG", "pyltr")

    assert [row.document for row in found.rows] == ["a", "b", "a"]
    assert found.value == float(
        evaluate(Qrels({"q": {"a": 1, "b": 1}}), run, "nDCG", "pyltr")["nDCG"][0]
    )


@pytest.mark.parametrize("typed", ["shoe-1", "Shoe_001"])
def test_an_id_equal_but_for_zeros_case_and_punctuation_is_suggested_first(typed: str) -> None:
    judgments = Qrels({query: {"a": 1} for query in ("shoe-10", "shoe-11", "shoe-01")})
    with pytest.raises(InputError, match=r"did you mean 'shoe-01'\?$"):
        explain(judgments, Run({"shoe-01": ["a"]}), typed)


def test_an_unknown_query_is_refused_with_those_that_are_near() -> None:
    with pytest.raises(
        InputError,
        match=r"query 'query-21': found in neither the judgments nor the run.*did you mean "
        r"'query-2[02]'",
    ):
        explain(
            Qrels({"query-20": {"a": 1}, "query-22": {"a": 1}}),
            Run({"query-20": ["a"]}),
            "query-21",
        )


def test_a_measure_without_parts_is_refused() -> None:
    with pytest.raises(
        OptionError,
        match="NumRel: found a measure without contributions of single documents, expected nDCG, "
        "DCG, AP, RR, P or R",
    ):
        explain(Qrels({"q": {"a": 1}}), Run({"q": ["a"]}), "q", "NumRel")


def test_everything_becomes_json() -> None:
    found = explain(Qrels({"q": {"a": 2, "z": 1}}), Run({"q": ["x", "a"]}), "q", "nDCG@10")

    record = json.loads(json.dumps(found.as_dict()))

    assert record["value"] == found.value
    assert record["convention"]["name"] == "standard"
    assert record["rows"][1] == {
        "rank": 2,
        "document": "a",
        "score": -1.0,
        "grade": 2.0,
        "tie": None,
        "gain": 2.0,
        "discount": pytest.approx(1 / math.log2(3)),
        "contribution": pytest.approx(2 / math.log2(3) / record["ideal_dcg"]),
    }


def test_a_thousand_deep_list_of_distinct_grades_is_explained_exactly() -> None:
    rng = np.random.default_rng(7)
    names = [f"d{number}" for number in range(1000)]
    grade = dict(zip(names, rng.random(1000).tolist(), strict=True))

    found = explain(Qrels({"q": grade}), Run({"q": names}), "q", "nDCG")

    gains, weights = np.array(list(grade.values())), 1 / np.log2(np.arange(2, 1002))
    every_pair = (gains[:, None] - gains[None, :]) * (weights[None, :] - weights[:, None])
    assert found.best_swap is not None
    assert found.ideal_dcg is not None
    assert found.best_swap.gain * found.ideal_dcg == pytest.approx(every_pair.max(), abs=1e-9)


def test_a_term_is_rounded_down_as_the_measure_rounds_it() -> None:
    """0.29 times 100 is a float below 29."""
    explanation = explain(
        Qrels({"q": {"a": 0.29, "b": 0.57}}),
        Run({"q": ["a", "b"]}),
        "q",
        "DCG(rounding=floor-2)",
    )
    assert [row.contribution for row in explanation.rows] == [0.29, 0.35]
    assert explanation.value == pytest.approx(0.64)
