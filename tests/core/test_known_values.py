"""Numbers that users of other tools got wrong and reported, and the worked examples that tutorials
print, with the right values.
"""

import math

import numpy as np
import pytest

import idealrank as ir

TIED = {"d1": 1.0, "d2": 1.0, "d3": 1.0}


def one(
    grades: dict[str, float],
    run: dict[str, float] | list[str],
    measure: str = "nDCG",
    **switches: str,
) -> float:
    """A measure of one query."""
    value: float = ir.evaluate(
        {"q": grades}, {"q": run}, [measure], ir.Convention.of("standard", **switches)
    ).values[0, 0]
    return value


def documents(count: int) -> list[str]:
    """Ids a0, a1, ..."""
    return [f"a{number}" for number in range(count)]


# --- reported by users ----------------------------------------------------------------------------


def test_a_short_list_is_measured_against_all_judged_documents() -> None:
    """elasticsearch PR 154362, mlflow 24541: one of five good documents returned is 0.3392, not
    1.
    """
    grades = dict.fromkeys(documents(5), 1.0)
    assert one(grades, ["a0"], "nDCG@5") == pytest.approx(0.3392, abs=5e-5)
    assert one(grades, ["a0"], "nDCG(ideal=returned)@5") == 1.0
    assert one(grades, [*"vwxyz", *grades], "nDCG@10") == pytest.approx(0.5410, abs=5e-5)


def test_a_document_listed_twice_cannot_push_ndcg_above_1_unnoticed() -> None:
    """haystack PR 11959, trulens 2746, llama_index PR 22683: 1.6309 elsewhere."""
    with pytest.raises(ir.InputError, match="a second time"):
        one({"A": 1}, ["A", "A"])
    assert one({"A": 1}, ["A", "A"], duplicates="first") == 1.0
    twice = ir.evaluate({"q": {"A": 1}}, {"q": ["A", "A"]}, ["nDCG"], "standard,duplicates=twice")
    assert twice.values[0, 0] == pytest.approx(1.6309, abs=5e-5)
    assert (twice.coverage.out_of_range, twice.coverage.duplicates) == (1, 1)


def test_ties_have_a_stated_order_or_an_expected_value() -> None:
    """pytrec_eval 56: three tied documents, the last one relevant."""
    assert one({"d3": 1}, TIED) == 1.0
    assert one({"d3": 1}, TIED, ties="input") == 0.5
    assert one({"d3": 1}, TIED, ties="expected") == pytest.approx(0.7103, abs=5e-5)


def test_renaming_a_tied_document_changes_nothing_when_ties_are_averaged() -> None:
    """trec_eval 22: 1.0 or 0.6309 by the name of the other document; 0.8155 for both names."""
    for other in ("a", "z"):
        assert one({"m": 1}, {"m": 1.0, other: 1.0}, ties="expected") == pytest.approx(
            0.8155, abs=5e-5
        )
    assert [one({"m": 1}, {"m": 1.0, other: 1.0}) for other in ("a", "z")] == pytest.approx(
        [1.0, 0.6309], abs=5e-5
    )


def test_a_constant_scorer_does_not_get_1() -> None:
    """scholar 360: gains 10, 0, 0, 1, 5 with equal scores."""
    assert ir.ndcg([10, 0, 0, 1, 5], [1.0] * 5) == pytest.approx([0.6910], abs=5e-5)
    assert ir.dcg([10, 0, 0, 1, 5], [1.0] * 5) == pytest.approx([9.4351], abs=5e-5)


def test_rows_of_a_matrix_are_queries() -> None:
    """torchmetrics 3216: flattened to one list they gave 0.9197."""
    assert ir.ndcg([[1, 0], [0, 1]], [[0.9, 0.1], [0.9, 0.1]]).mean() == pytest.approx(
        0.8155, abs=5e-5
    )


def test_a_document_may_have_the_id_of_its_query() -> None:
    """beir 187: a perfect run of ten scored 0.94 because document '0' was dropped under query
    '0'.
    """
    grades = {str(number): 1.0 for number in range(10)}
    means = ir.evaluate({"0": grades}, {"0": list(grades)}, ["nDCG@10", "R@10"]).mean()
    assert dict(means) == {"nDCG@10": 1.0, "R@10": 1.0}


def test_a_query_without_relevant_documents_is_a_policy() -> None:
    """scikit-learn 29521: ndcg(y, y) with an all-zero row was 0.5 without a word."""
    labels = np.array([[1, 0], [0, 0]])
    found = {
        policy: ir.evaluate(labels, labels, "nDCG", f"standard,no_relevant={policy}")
        for policy in ("zero", "one", "left-out")
    }
    assert {policy: evaluation.mean()["nDCG"] for policy, evaluation in found.items()} == {
        "zero": 0.5,
        "one": 1.0,
        "left-out": 1.0,
    }
    assert {evaluation.coverage.no_relevant for evaluation in found.values()} == {1}


def test_a_negative_label_is_named() -> None:
    """scikit-learn 17639: 396.03; here an error that says which label, under conventions that
    refuse them.
    """
    with pytest.raises(
        ir.InputError, match=r"item 2: found grade -0\.47 \(1 negative grades in all\)"
    ):
        ir.ndcg([0.1, 0.5, -0.47], [0.3, 0.2, 0.1], convention="sklearn")


def test_the_ideal_is_cut_where_the_list_is() -> None:
    """lkpy 309: recommendations [2, 3, 1] of items rated 3, 5, 4, cutoff 2, no discount at ranks 1
    and 2: 1.21 elsewhere.
    """
    assert one({"1": 3, "2": 5, "3": 4}, ["2", "3", "1"], "nDCG(discount=jarvelin(2))@2") == 1.0


def test_a_new_judgment_can_take_most_of_a_number() -> None:
    """search-relevance 407: a known document of grade 1 first; then an unretrieved one of grade 3
    is judged.
    """
    assert one({"a": 1}, ["a", "b"], "nDCG(gain=exp2)@2") == 1.0
    assert one({"a": 1, "c": 3}, ["a", "b"], "nDCG(gain=exp2)@2") == pytest.approx(0.1310, abs=5e-5)


def test_the_order_of_rows_does_not_matter_when_ties_are_averaged() -> None:
    """LightGBM 2091: 0.5438 or 0.9197 for the same rows turned round."""
    labels, scores = [3, 0, 1, 2, 0], [0.9, 0.9, 0.9, 0.5, 0.5]
    assert ir.ndcg(labels, scores, gain="exp2") == pytest.approx(
        ir.ndcg(labels[::-1], scores[::-1], gain="exp2"), abs=1e-15
    )
    turned = [
        ir.ndcg(one, two, convention="lightgbm")[0]
        for one, two in ((labels, scores), (labels[::-1], scores[::-1]))
    ]
    assert turned[0] != pytest.approx(turned[1], abs=0.01)


def test_a_second_call_gives_the_same_numbers() -> None:
    """pytrec_eval 38: the second call lacked cutoffs."""
    measures = ["ndcg_cut_10", "ndcg_cut_100", "ndcg_cut_2"]
    first, second = (
        ir.evaluate({"q": {"a": 1, "b": 2}}, {"q": ["a", "b"]}, measures).mean() for _ in range(2)
    )
    assert first == second
    assert list(first) == ["nDCG@10", "nDCG@100", "nDCG@2"]


# --- printed in tutorials -------------------------------------------------------------------------

ORDER = [5.0, 4.0, 3.0, 2.0, 1.0]


def test_the_textbook_list() -> None:
    """Grades 3, 2, 3, 0, 1: tutorials print 12.79, 13.36 and 0.957."""
    grades = [3, 2, 3, 0, 1]
    assert ir.dcg(grades, ORDER, gain="exp2")[0] == pytest.approx(12.779642067948915, abs=1e-12)
    assert ir.dcg(sorted(grades, reverse=True), ORDER, gain="exp2")[0] == pytest.approx(
        13.347184833073596, abs=1e-12
    )
    assert ir.ndcg(grades, ORDER, gain="exp2")[0] == pytest.approx(0.9574784666412695, abs=1e-12)
    assert ir.ndcg(grades, ORDER)[0] == pytest.approx(0.9723642841729143, abs=1e-12)


def test_the_other_textbook_list() -> None:
    """Grades 2, 1, 4, 0, 3, 3: 'about 0.75'."""
    grades, scores = [2, 1, 4, 0, 3, 3], [6.0, *ORDER]
    assert ir.ndcg(grades, scores, gain="exp2")[0] == pytest.approx(0.6640410748376936, abs=1e-12)
    assert ir.ndcg(grades, scores)[0] == pytest.approx(0.7939027381042424, abs=1e-12)


def test_a_random_order_is_far_from_0() -> None:
    """The mean over all orders of 2, 1, 4, 0, 3, 3 is 0.739 (or 0.829, linear); its worst order has
    0.537 (or 0.637).
    """
    grades, tied = [2, 1, 4, 0, 3, 3], [0.0] * 6
    assert ir.ndcg(grades, tied, gain="exp2")[0] == pytest.approx(0.739, abs=5e-4)
    assert ir.ndcg(grades, tied)[0] == pytest.approx(0.829, abs=5e-4)
    assert ir.ndcg(grades, tied, gain="exp2", ties="worst")[0] == pytest.approx(0.537, abs=5e-4)
    assert ir.ndcg(grades, tied, ties="worst")[0] == pytest.approx(0.637, abs=5e-4)
    assert ir.ndcg(grades, tied, ties="best")[0] == 1.0


def test_what_grades_and_ranks_are_worth() -> None:
    """Grade 4 is worth 15 times grade 1, rank 1 3.459 times rank 10; scikit-learn's gain is
    linear.
    """
    assert ir.dcg([4], [1.0], gain="exp2")[0] == 15 * ir.dcg([1], [1.0], gain="exp2")[0]
    tenth = ir.dcg([0] * 9 + [1], np.arange(10.0)[::-1])[0]
    assert 1 / tenth == pytest.approx(math.log2(11), abs=1e-12)
    assert ir.ndcg([3, 2, 3, 0, 1], ORDER, convention="sklearn") == ir.ndcg([3, 2, 3, 0, 1], ORDER)


@pytest.mark.parametrize(
    "kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.float32, np.float64]
)
def test_gains_do_not_overflow_small_whole_numbers(kind: type) -> None:
    """2**grades - 1 on int8 overflows at grade 8, on int64 at 63."""
    labels = np.array([1, 40, 8], kind)
    assert (
        ir.dcg(labels, [1.0, 2.0, 3.0], gain="exp2")[0]
        == 255 + (2.0**40 - 1) / math.log2(3) + 1 / 2
    )


def test_missing_documents_count_unless_the_ideal_is_built_from_the_list() -> None:
    """Judged 3, 3, 2, 1; returned 3, 1; gain 2^g - 1."""
    grades = {"a": 3.0, "b": 3.0, "c": 2.0, "d": 1.0}
    assert one(grades, ["a", "d"], "nDCG(gain=exp2)") == pytest.approx(0.571726, abs=5e-7)
    assert one(grades, ["a", "d"], "nDCG(gain=exp2,ideal=returned)") == 1.0


def test_the_discount_of_2002_starts_at_its_base() -> None:
    """1/log_b(r) from rank b on and none before, not 1/log2(r + 1)."""
    ranks = {
        rank: ir.dcg(
            [0] * (rank - 1) + [1], np.arange(rank)[::-1].astype(float), discount="jarvelin(4)"
        )[0]
        for rank in (1, 3, 4, 16)
    }
    assert ranks == pytest.approx({1: 1.0, 3: 1.0, 4: 1.0, 16: 0.5}, abs=1e-15)
