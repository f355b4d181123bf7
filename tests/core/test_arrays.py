"""Labels and scores as arrays: layouts, padding, number types, and what is refused."""

from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.data.lists import Lists

LABELS, SCORES = [3, 0, 1, 2, 0, 1], [0.2, 0.9, 0.4, 0.8, 0.1, 0.7]
GROUPS = [3, 1, 2]
EXPECTED = [
    ir.ndcg(LABELS[:3], SCORES[:3])[0],
    ir.ndcg(LABELS[3:4], SCORES[3:4])[0],
    ir.ndcg(LABELS[4:], SCORES[4:])[0],
]


@pytest.mark.parametrize(
    "layout",
    [
        {"group": GROUPS},
        {"group": np.array(GROUPS, np.uint8)},
        {"offsets": [0, 3, 4, 6]},
        {"qid": [7, 7, 7, 3, 5, 5]},
        {"qid": ["b", "b", "b", "a", "c", "c"]},
    ],
)
def test_lists_of_different_lengths(layout: dict[str, Any]) -> None:
    """Sizes, offsets or an id per item."""
    assert ir.ndcg(LABELS, SCORES, **layout).tolist() == EXPECTED


def test_items_in_any_order() -> None:
    """Query ids scattered: queries by first appearance, items in their order, as if they had stood
    together.
    """
    rng = np.random.default_rng(2)
    qid = rng.integers(0, 40, 600)
    labels, scores = rng.integers(0, 4, 600), rng.integers(0, 5, 600).astype(float)
    names = list(dict.fromkeys(qid.tolist()))
    for ties in ("expected", "input", "best", "worst"):
        found = ir.evaluate(
            labels, scores, ["nDCG@3", "AP", "RR"], f"standard,ties={ties}", qid=qid
        )
        assert list(found.queries) == [str(name) for name in names]
        for name, values in zip(names, found.values, strict=True):
            alone = ir.evaluate(
                labels[qid == name],
                scores[qid == name],
                ["nDCG@3", "AP", "RR"],
                f"standard,ties={ties}",
            )
            np.testing.assert_allclose(values, alone.values[0], rtol=1e-14)


def test_rows_masks_and_padding() -> None:
    """A rectangle with holes, told by a mask, a label or NaN, equals the lists without them."""
    labels = np.array([[3, 0, 1], [2, -1, -1], [0, 1, -1]], float)
    scores = np.array([[0.2, 0.9, 0.4], [0.8, 9.0, 9.0], [0.1, 0.7, 9.0]])
    for layout in ({"mask": labels >= 0}, {"padding": -1}):
        assert ir.ndcg(labels, scores, **layout).tolist() == EXPECTED  # type: ignore[arg-type]
    assert (
        ir.ndcg(np.where(labels < 0, np.nan, labels), scores, padding=float("nan")).tolist()
        == EXPECTED
    )
    flat = ir.ndcg(
        labels.reshape(-1),
        scores.reshape(-1),
        qid=[1, 1, 1, 2, 2, 2, 3, 3, 3],
        mask=(labels >= 0).reshape(-1),
    )
    assert flat.tolist() == EXPECTED


@pytest.mark.parametrize(
    "labels",
    [
        np.int8,
        np.int16,
        np.int32,
        np.int64,
        np.uint8,
        np.uint32,
        np.float16,
        np.float32,
        np.float64,
        np.bool_,
    ],
)
@pytest.mark.parametrize("scores", [np.float32, np.float64, np.float16, np.int32])
def test_number_types(labels: type, scores: type) -> None:
    """Every type that holds the numbers gives the same values."""
    one, two = np.array([1, 0, 1, 0], labels), np.array([1, 3, 2, 3], scores)
    assert ir.ndcg(one, two, 3).tolist() == ir.ndcg([1, 0, 1, 0], [1.0, 3.0, 2.0, 3.0], 3).tolist()


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_layouts(order: str) -> None:
    """Strided and column-major arrays are read in their own order."""
    labels, scores = (
        np.arange(24).reshape(4, 6) % 5,
        (np.arange(24) * 7 % 11).reshape(4, 6).astype(float),
    )
    expected = ir.ndcg(labels, scores).tolist()
    assert (
        ir.ndcg(np.array(labels, order=order), np.array(scores, order=order)).tolist() == expected
    )  # type: ignore[call-overload]
    wide = np.zeros((4, 12))
    wide[:, ::2] = scores
    assert ir.ndcg(labels, wide[:, ::2]).tolist() == expected


@pytest.mark.spread(8)
@pytest.mark.parametrize("depth", [1, 2, 3, 5, 8, None])
@pytest.mark.parametrize("width", [1, 2, 5, 9])
def test_a_cutoff_gives_the_values_of_the_whole_list(depth: int | None, width: int) -> None:
    """Asked alone the kernel keeps only the top; asked beside an uncut measure it keeps all."""
    rng = np.random.default_rng(width)
    labels, scores = rng.integers(0, 4, (50, width)), rng.integers(0, 3, (50, width)).astype(float)
    for ties in ("expected", "input", "best", "worst"):
        for text in ("nDCG", "DCG", "iDCG", "AP", "RR", "R", "P"):
            measure = ir.MEASURES[text](cutoff=depth or (3 if text == "P" else None))
            convention = ir.Convention.of("standard", ties=ties)
            alone = ir.evaluate(labels, scores, [measure], convention)[measure]
            beside = ir.evaluate(labels, scores, [measure, "nDCG(ideal=uncut)", "AP"], convention)[
                measure
            ]
            np.testing.assert_allclose(alone, beside, rtol=1e-13, atol=1e-15)


def test_empty_lists_and_no_lists() -> None:
    """A query without items has no relevant ones; no query at all gives no value."""
    assert ir.ndcg([1, 0], [0.2, 0.1], group=[0, 2, 0]).tolist() == [0.0, 1.0, 0.0]
    assert ir.ndcg([], [], group=[]).tolist() == []
    assert ir.ndcg(np.zeros((0, 5)), np.zeros((0, 5))).shape == (0,)


def test_arrays_have_no_ids_so_ties_by_id_become_their_mean() -> None:
    """Said in the provenance."""
    evaluation = ir.evaluate([1, 0], [0.5, 0.5], "nDCG")
    assert evaluation.convention.name == "standard,ties=expected"
    assert evaluation.values[0, 0] == pytest.approx((1 + 1 / np.log2(3)) / 2)


@pytest.mark.parametrize(
    ("labels", "scores", "layout", "message"),
    [
        ([1, 0], [0.1], {}, "labels have shape (2,) and scores (1,)"),
        ([[[1]]], [[[0.1]]], {}, "expected the same 1-D or 2-D shape"),
        ([[1, 0], [1]], [[1, 0], [1]], {}, "rows of different lengths"),
        (["a", "b"], [0.1, 0.2], {}, "labels: found values of type"),
        ([1, 0], [0.1, float("nan")], {}, "item 1: found NaN as score or label"),
        (
            [3, 1, 0],
            [0.3, 0.1, float("nan")],
            {"mask": [False, True, True]},
            "item 2: found NaN as score or label",
        ),
        (
            [1, 0, 2],
            [0.3, 0.1, float("nan")],
            {"padding": 0, "qid": [1, 2, 1]},
            "item 2: found NaN as score or label",
        ),
        ([1.0, float("inf")], [0.1, 0.2], {}, "labels: found inf, expected finite numbers"),
        ([1.0, float("-inf")], [0.1, 0.2], {}, "labels: found -inf, expected finite numbers"),
        (
            [1, 0, 1],
            [0.1, 0.2, 0.3],
            {"offsets": [0, 1.7, 3]},
            "offsets: expected rising whole numbers",
        ),
        ([1, 0, 1], [0.1, 0.2, 0.3], {"qid": [None, 1, None]}, "qid: found ids of several types"),
        (
            np.ma.array([1, 0], mask=[0, 1]),
            [0.1, 0.2],
            {},
            "labels: found a masked array, expected",
        ),
        ([1, 0], [0.1, 0.2], {"group": [3]}, "sizes that add up to 3, expected 2"),
        ([1, 0], [0.1, 0.2], {"group": [1, 2]}, "for one query id per item pass qid="),
        ([1, 0], [0.1, 0.2], {"group": [3, -1]}, "group: found the size -1, expected 0 or more"),
        (
            [1, 0],
            [0.1, 0.2],
            {"group": [1, 1], "qid": [1, 2]},
            "found group and qid with 1-D labels",
        ),
        ([[1, 0]], [[0.1, 0.2]], {"group": [2]}, "found group with 2-D labels"),
        (
            [1, 0],
            [0.1, 0.2],
            {"offsets": [0, 1]},
            "offsets: expected rising whole numbers from 0 to the number of items, 2",
        ),
        ([1, 0], [0.1, 0.2], {"qid": [1]}, "qid has shape (1,), expected one id per item, (2,)"),
        ([1, 0], [0.1, 0.2], {"mask": [True]}, "mask has shape (1,), expected that of the labels"),
    ],
)
def test_what_does_not_fit_is_named(
    labels: Any, scores: Any, layout: dict[str, Any], message: str
) -> None:
    """What was found and what was expected."""
    with pytest.raises(ir.InputError) as caught:
        ir.ndcg(labels, scores, **layout)
    assert message in str(caught.value)


def test_numbers_of_another_byte_order() -> None:
    """As files of other machines have them."""
    for labels, scores in ((">i4", ">f8"), (">f4", ">f4"), (">i8", ">i2")):
        given = np.array(LABELS, labels), (np.array(SCORES) * 10).astype(scores)
        assert ir.ndcg(*given).tolist() == ir.ndcg(LABELS, np.array(SCORES) * 10).tolist()


def test_inputs_are_never_changed() -> None:
    """Neither by padding nor by policies."""
    labels, scores = np.array([2.0, -1.0, 0.5]), np.array([0.1, 0.3, 0.2])
    for convention in ("ignite", "keras-rs", "allrank", "trec_eval-10", "standard"):
        kept = labels.copy(), scores.copy()
        Lists.from_arrays(labels, scores)
        with np.errstate(all="raise"):
            ir.ndcg(labels, scores, convention=convention)
        np.testing.assert_array_equal((labels, scores), kept)


@pytest.mark.parametrize("ties", ["docid", "docid-ascending", "docid-descending"])
def test_ties_by_id_that_were_asked_for_are_refused(ties: str) -> None:
    """A preset that has them gives the expected value; who names them gets no other value in
    silence.
    """
    with pytest.raises(
        ir.InputError,
        match=r"ties=docid.*: found arrays, which have no document ids; expected ties=expected",
    ):
        ir.ndcg([1, 0], [0.5, 0.5], ties=ties)
    for convention in (
        f"standard,ties={ties}",
        f"sklearn, ties = {ties}",
        ir.Convention.of("sklearn", ties=ties),
    ):
        with pytest.raises(ir.InputError, match="which have no document ids"):
            ir.evaluate([1, 0], [0.5, 0.5], "nDCG", convention)
        with pytest.raises(ir.InputError, match="which have no document ids"):
            ir.dcg([1, 0], [0.5, 0.5], convention=convention)
    assert (
        ir.ndcg([1, 0], [0.5, 0.5], convention="trec_eval").tolist()
        == ir.ndcg([1, 0], [0.5, 0.5], ties="expected").tolist()
    )


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (
            {"qid": [1, "1", 1, "1"]},
            "qid: item 1: found '1' after 1 (ids of several types), expected ids of one type",
        ),
        (
            {"qid": ("a", b"a", "a", "a")},
            "qid: item 1: found b'a' after 'a' (ids of several types)",
        ),
        (
            {"mask": [1.0, float("nan"), 1.0, 0.0]},
            "mask: item 1: found nan, expected True for an item or False for padding (1 or 0)",
        ),
        ({"mask": [1, 2, 1, 0]}, "mask: item 1: found 2, expected True"),
        ({"mask": [True, None, True, False]}, "mask: item 1: found None, expected True"),
        ({"mask": ["yes", "no", "yes", "no"]}, "mask: item 0: found yes, expected True"),
        (
            {"group": [2.5, 1.5]},
            "group: found the size 2.5, expected whole numbers that add up to 4",
        ),
        (
            {"group": [2.0, float("nan")]},
            "group: found the size nan, expected whole numbers that add up to 4",
        ),
        (
            {"group": [2.0, 2.0]},
            "group: found sizes of type float64, expected whole numbers that add up to 4",
        ),
    ],
)
def test_a_layout_that_would_be_taken_for_another_is_refused(
    layout: dict[str, Any], message: str
) -> None:
    """NumPy makes texts of ids of two types, and True of NaN."""
    with pytest.raises(ir.InputError) as caught:
        ir.ndcg([1, 0, 2, 1], [0.4, 0.3, 0.2, 0.1], **layout)
    assert message in str(caught.value)


def test_padding_that_wrapped_round_is_refused() -> None:
    """-1 in an array of bytes is 255."""
    labels = np.array([2, 0, 255], np.uint8)
    with pytest.raises(
        ir.InputError,
        match="padding: found -1 with labels of type uint8, which cannot hold it, expected signed "
        "labels",
    ):
        ir.ndcg(labels, [0.3, 0.2, 0.1], padding=-1)
    assert ir.ndcg(labels, [0.3, 0.2, 0.1], padding=255).tolist() == [1.0]


def test_columns_with_other_rows_are_refused() -> None:
    """Items are matched by place; two indexes say that places differ."""
    pandas = pytest.importorskip("pandas")
    labels, scores = pandas.Series([1, 0, 2]), pandas.Series([0.1, 0.2, 0.3], index=[2, 1, 0])
    with pytest.raises(
        ir.InputError,
        match=r"labels and scores: found two indexes, expected one.*scores.reindex\(labels.index\)",
    ):
        ir.ndcg(labels, scores)
    with pytest.raises(ir.InputError, match="labels and qid: found two indexes"):
        ir.ndcg(labels, [0.1, 0.2, 0.3], qid=pandas.Series([1, 1, 2], index=[5, 6, 7]))
    aligned = scores.reindex(labels.index)
    assert ir.ndcg(labels, aligned).tolist() == ir.ndcg([1, 0, 2], [0.3, 0.2, 0.1]).tolist()
