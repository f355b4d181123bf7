"""Evaluations: which queries count, what the coverage says, when a warning comes, and what is
refused.
"""

import math
import pickle
import warnings

import numpy as np
import pytest

import idealrank as ir
from idealrank.evaluation import evaluate as core
from idealrank.measures.parse import parse_measures

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}, "q3": {"d": 0}}
RUN = {"q1": {"a": 3.0, "x": 2.0, "b": 2.0}, "q3": {"d": 1.0}, "q9": {"z": 1.0}}


# --- which queries count --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("missing", "without_judgments", "queries"),
    [
        ("zero", "left-out", ["q1", "q2", "q3"]),
        ("left-out", "left-out", ["q1", "q3"]),
        ("zero", "evaluated", ["q1", "q2", "q3", "q9"]),
        ("left-out", "evaluated", ["q1", "q3", "q9"]),
    ],
)
def test_queries_that_count(missing: str, without_judgments: str, queries: list[str]) -> None:
    """In the order of the judgments, then of the run; each value at its query."""
    evaluation = ir.evaluate(
        QRELS,
        RUN,
        ["RR"],
        ir.Convention.of("standard", missing=missing, without_judgments=without_judgments),
    )
    assert list(evaluation.queries) == queries
    assert dict(zip(evaluation.queries, evaluation["RR"].tolist(), strict=True)) == {
        query: float(query == "q1") for query in queries
    }
    assert evaluation.mean()["RR"] == 1 / len(queries)


def test_a_missing_query_can_be_refused() -> None:
    """The message names it and the ways out."""
    with pytest.raises(
        ir.InputError,
        match=r"does not answer 1 of 3 judged queries \('q2'\), expected all; missing=zero counts "
        r"them as 0",
    ):
        ir.evaluate(QRELS, RUN, ["RR"], "standard,missing=error")


def test_nothing_in_common_is_refused() -> None:
    """Instead of a mean over no query."""
    with pytest.raises(ir.InputError, match="do the query ids of both match"):
        ir.evaluate({"q1": {"a": 1}}, {"q01": {"a": 1.0}}, ["AP"], "trec_eval-9")


def test_a_run_without_queries_scores_0() -> None:
    """Every judged query is missing, and that is said."""
    with pytest.warns(ir.IdealrankWarning, match="answers none of the 3 judged queries"):
        evaluation = ir.evaluate(QRELS, {}, ["nDCG"])
    assert evaluation.mean()["nDCG"] == 0.0
    assert evaluation.coverage.missing == 3


# --- coverage -------------------------------------------------------------------------------------


def test_the_coverage_counts_what_happened() -> None:
    """Every count of one evaluation, by hand."""
    coverage = ir.evaluate(QRELS, RUN, ["nDCG@2", "AP"]).coverage
    assert coverage.as_dict() == {
        "queries_in_qrels": 3,
        "queries_in_run": 3,
        "missing": 1,
        "without_judgments": 1,
        "scored": 3,
        "no_relevant": 1,
        "unjudged_share": pytest.approx(1 / 3),
        "unjudged_cutoff": 2,
        "tied_queries": 1,
        "tied_documents": 2,
        "duplicates": 0,
        "truncated_grades": 0,
        "out_of_range": 0,
        "by_measure": {
            "nDCG@2": {"scored": 3, "no_relevant": 1},
            "AP": {"scored": 3, "no_relevant": 1},
        },
    }
    assert list(coverage.missing_queries) == ["q2"]


def test_the_share_of_unjudged_documents_is_that_of_the_smallest_cutoff() -> None:
    """Whole lists without one."""
    assert ir.evaluate(QRELS, RUN, ["AP"]).coverage.unjudged_share == 1 / 4
    assert ir.evaluate(QRELS, RUN, ["P@1", "P@3"]).coverage.unjudged_share == 0.0


def test_truncated_grades_are_counted_with_one_warning() -> None:
    """trec_eval cuts 1.5 to 1 without a word."""
    with pytest.warns(
        ir.IdealrankWarning, match="convention trec_eval-10 cut 2 grades to whole numbers"
    ) as caught:
        evaluation = ir.evaluate(
            {"q": {"a": 1.5, "b": 0.5, "c": 1}},
            {"q": ["a", "b", "c"]},
            ["nDCG", "AP"],
            "trec_eval-10",
        )
    assert len(caught) == 1
    assert evaluation.coverage.truncated_grades == 2
    whole = ir.evaluate(
        {"q": {"a": 1, "b": 0, "c": 1}}, {"q": ["a", "b", "c"]}, ["nDCG", "AP"], "trec_eval-10"
    )
    np.testing.assert_array_equal(evaluation.values, whole.values)


def test_values_out_of_range_are_counted_and_told() -> None:
    """A discount that rises: NDCG above 1. Where a convention allows that, the count stands without
    a warning.
    """
    measure = ir.NDCG(discount=[1, 2, 4])
    with pytest.warns(ir.IdealrankWarning, match="1 values lie outside the bounds"):
        evaluation = ir.evaluate({"q": {"a": 1, "b": 0, "c": 0}}, {"q": ["b", "c", "a"]}, [measure])
    assert evaluation.coverage.out_of_range == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = ir.evaluate(
            {"q": {"a": 1, "b": -5}}, {"q": ["b", "a"]}, ["nDCG@1"], "standard,negative=kept"
        )
    assert (kept.values[0, 0], kept.coverage.out_of_range) == (-5.0, 1)


def test_duplicates_and_ties_of_arrays_are_counted() -> None:
    """Arrays have no ids, so no duplicates; ties they have."""
    coverage = ir.evaluate(
        [[1, 0, 2], [0, 1, 1]], [[0.5, 0.5, 0.1], [3.0, 2.0, 1.0]], "nDCG@1"
    ).coverage
    assert (
        coverage.tied_queries,
        coverage.tied_documents,
        coverage.duplicates,
        coverage.unjudged_share,
    ) == (1, 2, 0, 0.0)


# --- policies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "lengths", "value"),
    [("first", 3.0, 1.0), ("last", 3.0, 1 / 3), ("best", 3.0, 1.0), ("twice", 4.0, 1.0)],
)
def test_duplicate_documents(policy: str, lengths: float, value: float) -> None:
    """Which of two rows of a document counts; the first has the higher score."""
    run = ir.Run.from_columns(["q"] * 4, ["a", "x", "y", "a"], np.array([4.0, 3.0, 2.0, 1.0]))
    evaluation = ir.evaluate(
        {"q": {"a": 1}}, run, ["NumRet", "RR"], f"standard,duplicates={policy}"
    )
    assert evaluation.values[0].tolist() == [lengths, value]
    assert evaluation.coverage.duplicates == 1


def test_unjudged_documents() -> None:
    """Counted as not relevant, skipped so that ranks close up, or refused by name."""
    run, qrels = {"q": ["x", "a", "y", "b"]}, {"q": {"a": 1, "b": 1}}
    assert ir.evaluate(qrels, run, ["P@2"]).values[0, 0] == 0.5
    assert ir.evaluate(qrels, run, ["P@2", "NumRet"], "standard,unjudged=skipped").values[
        0
    ].tolist() == [1.0, 2.0]
    with pytest.raises(
        ir.InputError,
        match=r"query 'q': the document at rank 1 is unjudged \(1 queries have such documents\)",
    ):
        ir.evaluate(qrels, run, ["P@2"], "standard,unjudged=error")
    with pytest.raises(ir.InputError, match=r"query 'p': the document at rank 1 is unjudged"):
        ir.evaluate(
            qrels,
            {"q": ["a"], "p": ["z"]},
            ["P@2"],
            "standard,unjudged=error,without_judgments=evaluated",
        )


@pytest.mark.parametrize(
    ("policy", "values"), [("zero", [0.0, 3.0]), ("removed", [1.0, 1.0]), ("padding", [0.0, 2.0])]
)
def test_negative_grades(policy: str, values: list[float]) -> None:
    """As 0, out of the list, or out of the list where -1 marks padding."""
    grades = {"q": {"a": -2, "b": -1, "c": 1}}
    assert (
        ir.evaluate(
            grades, {"q": ["a", "b", "c"]}, ["P@1", "NumRet"], f"standard,negative={policy}"
        )
        .values[0]
        .tolist()
        == values
    )
    assert (
        ir.evaluate(
            [[-2, -1, 1]], [[3.0, 2.0, 1.0]], ["P@1", "NumRet"], f"standard,negative={policy}"
        )
        .values[0]
        .tolist()
        == values
    )


def test_negative_grades_can_be_kept_or_refused() -> None:
    """Kept they cost; refused they are named with query and document."""
    assert (
        ir.evaluate(
            {"q": {"a": -1, "b": 1}}, {"q": ["a"]}, ["DCG"], "standard,negative=kept"
        ).values[0, 0]
        == -1.0
    )
    with pytest.raises(
        ir.InputError,
        match=r"query 'q', document 'a': found grade -1 \(1 negative grades in all\), expected 0 "
        r"or "
        r"more",
    ):
        ir.evaluate({"q": {"a": -1, "b": 1}}, {"q": ["a"]}, ["DCG"], "standard,negative=error")


def test_scores_may_be_infinite_but_not_nan() -> None:
    """Infinity has an order; NaN has none."""
    assert (
        ir.evaluate(
            {"q": {"a": 1}}, {"q": {"b": 5.0, "a": math.inf, "c": -math.inf}}, ["RR"]
        ).values[0, 0]
        == 1.0
    )
    with pytest.raises(ir.InputError, match=r"(?i)nan"):
        ir.evaluate({"q": {"a": 1}}, {"q": {"a": math.nan}}, ["RR"])
    with pytest.raises(ir.InputError, match="expected a finite number"):
        ir.evaluate({"q": {"a": math.inf}}, {"q": ["a"]}, ["RR"])


def test_float32_scores_tie_where_the_tool_ties_them() -> None:
    """16777217 and 16777216 are one float32."""
    run = {"q": {"a": 16777216.0, "b": 16777217.0}}
    values = {
        name: ir.evaluate({"q": {"b": 1}}, run, ["RR"], name).values[0, 0]
        for name in ("trec_eval-10", "trec_eval-9,ties=worst")
    }
    assert values == {"trec_eval-10": 1.0, "trec_eval-9,ties=worst": 0.5}


# --- results --------------------------------------------------------------------------------------


def test_a_query_left_out_is_none_and_does_not_count() -> None:
    """A mask, not NaN: NaN as a policy poisons the mean on purpose."""
    left_out, poisoned = (
        ir.evaluate(QRELS, RUN, ["nDCG"], f"standard,no_relevant={policy}")
        for policy in ("left-out", "nan")
    )
    assert left_out.per_query()["q3"] == {"nDCG": None}
    assert left_out.mean()["nDCG"] == 0.5
    assert math.isnan(poisoned.mean()["nDCG"])
    assert poisoned.scored.all()


def test_no_query_that_counts_has_no_mean() -> None:
    """NaN instead of 0."""
    assert math.isnan(
        ir.evaluate({"q": {"a": 0}}, {"q": ["a"]}, ["nDCG"], "rankkit").mean()["nDCG"]
    )


def test_the_provenance_says_everything_that_was_set() -> None:
    """Version, convention, and each measure with all its options."""
    provenance = ir.evaluate(QRELS, RUN, ["nDCG", "AP(rel=2)@5"], "xgboost-linear").provenance
    assert provenance.version == ir.__version__
    assert provenance.convention is ir.PRESETS["xgboost-linear"]
    assert provenance.measures == (
        "nDCG(discount=log2,gain=linear,ideal=returned,no_relevant=one,rounding=none)@32",
        "AP(no_relevant=one,rel=2)@5",
    )


def test_a_measure_that_was_not_evaluated_is_a_key_error() -> None:
    """With the list of those that were."""
    evaluation = ir.evaluate(QRELS, RUN, ["nDCG"])
    with pytest.raises(KeyError, match="AP: not evaluated, only nDCG"):
        evaluation["AP"]
    with pytest.raises(ir.OptionError, match="unknown measure"):
        evaluation["apples"]


def test_evaluations_travel_between_processes() -> None:
    """Parts are made in several processes and merged in one."""
    whole = ir.evaluate(QRELS, RUN, ["nDCG", "AP"], "lightgbm,missing=zero")
    copy = pickle.loads(pickle.dumps(whole))
    assert (list(copy.queries), copy.mean(), copy.coverage) == (
        list(whole.queries),
        whole.mean(),
        whole.coverage,
    )
    assert copy.convention == whole.convention
    part = ir.evaluate(
        {"other": {"a": 1}}, {"other": ["a"]}, ["nDCG", "AP"], "lightgbm,missing=zero"
    )
    assert copy.merge(part).mean() == whole.merge(part).mean()


def test_errors_travel_between_processes() -> None:
    """With what they say."""
    for error in (
        ir.FileFormatError("a.run", 3, "2 fields", "6", "add some"),
        ir.MissingExtraError("reading", "pyarrow", "arrow"),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_parts_measured_by_different_functions_are_not_merged() -> None:
    """Two functions without a name have one text."""
    parts = [
        ir.evaluate(
            {query: {"a": 1}}, {query: ["a"]}, ["nDCG"], ir.Convention.of("standard", gain=gain)
        )
        for query, gain in (("q1", lambda grades: grades), ("q2", lambda grades: grades + 1))
    ]
    with pytest.raises(ir.IncompatibleError, match="expected one convention"):
        parts[0].merge(parts[1])


def test_a_frame_of_an_unknown_kind_is_named() -> None:
    """Not installed, or no eager dataframe."""
    evaluation = ir.evaluate(QRELS, RUN, ["nDCG"])
    for backend in ("nonsense", "duckdb"):
        with pytest.raises(ir.OptionError, match=f"backend={backend}: expected"):
            evaluation.to_frame(backend)


def test_evaluate_says_what_it_cannot_take() -> None:
    """Judgments and runs of any kind but these."""
    with pytest.raises(ir.InputError, match="found int, expected"):
        ir.evaluate(3, RUN, ["nDCG"])  # type: ignore[arg-type]
    with pytest.raises(ir.InputError, match="found int, expected"):
        ir.evaluate(QRELS, 3, ["nDCG"])  # type: ignore[arg-type]
    with pytest.raises(ir.InputError, match="belong to arrays"):
        ir.evaluate(QRELS, RUN, ["nDCG"], group=[3])


# --- parts of an evaluation, and more of it -------------------------------------------------------


def test_an_evaluation_joined_from_parts_is_the_whole_one() -> None:
    """Columns, resolved texts and texts of queries come from where each measure was evaluated."""
    whole = ir.evaluate(QRELS, RUN, ["RR", "RelString@2", "P@2"])

    joined = whole.select("RR").join(whole.select(["RelString@2", "P@2"]))

    assert joined.measures == whole.measures
    np.testing.assert_array_equal(joined.values, whole.values)
    np.testing.assert_array_equal(joined.scored, whole.scored)
    assert (joined.provenance, joined.texts) == (whole.provenance, whole.texts)


def test_what_stands_already_is_not_joined_again() -> None:
    one, other = ir.evaluate(QRELS, RUN, ["RR", "AP"]), ir.evaluate(QRELS, RUN, ["AP", "P@2"])
    assert list(map(str, one.join(other).measures)) == ["RR", "AP", "P@2"]


def test_a_query_that_an_evaluation_lacks_counts_for_nothing() -> None:
    evaluation = ir.evaluate(QRELS, RUN, ["RR", "RelString@2"], "standard,missing=left-out")

    on = evaluation.on(["q2", "q3", "q1"])

    assert on.mean()["RR"] == evaluation.mean()["RR"]
    assert on.texts["RelString@2"] == [
        "",
        *(evaluation.texts["RelString@2"][row] for row in (1, 0)),
    ]
    assert on.scored[:, 0].tolist() == [False, True, True]


@pytest.mark.parametrize(
    "convention", ["standard", "standard,ties=expected", "quepid", "standard,unjudged=skipped"]
)
def test_further_measures_are_those_of_an_evaluation_of_their_own(convention: str) -> None:
    """To the bit, for hits below the deepest cutoff add nothing."""
    more = parse_measures(["nDCG@1", "P@3", "AP", "RR(judged_only=True)@2", "NumRet"])

    found = core.evaluate(
        ir.Qrels(QRELS), ir.Run(RUN), "nDCG@1", convention, keep_for=more
    ).further(more)

    alone = ir.evaluate(QRELS, RUN, more, convention)
    np.testing.assert_array_equal(found.values, alone.values)
    np.testing.assert_array_equal(found.scored, alone.scored)
    assert (list(found.queries), found.coverage, found.provenance.measures) == (
        list(alone.queries),
        alone.coverage,
        alone.provenance.measures,
    )


def test_measures_that_look_deeper_than_the_hits_that_were_kept_are_refused() -> None:
    evaluation = ir.evaluate(QRELS, RUN, "P@2", keep_unjudged=True)

    assert (
        evaluation.can_tell("P@1"),
        evaluation.can_tell("AP"),
        ir.evaluate(QRELS, RUN, "P@2").can_tell("P@1"),
    ) == (True, False, False)
    with pytest.raises(
        ir.InputError, match=r"found no hits kept for AP, expected evaluate\(keep_for=\.\.\.\)"
    ):
        evaluation.further("AP")
