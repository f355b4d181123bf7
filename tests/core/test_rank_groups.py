"""`rank_groups` against its slow twin, NumPy's stable argsort, and worked examples."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from idealrank._kernel import Groups, ParseError, rank_groups
from tests.conftest import examples
from tests.twins.groups_twin import COLUMNS, TwinGroups, rank_groups_twin

Ties = Literal["input", "reversed"]
LABEL_TYPES = (np.float32, np.float64, np.int8, np.int16, np.int32, np.int64)
SCORE_TYPES = (np.float32, np.float64)
# Each side of every change of method: padding to fours, one network, two networks, byte counts,
# radix sort.
LENGTHS = (0, 1, 2, 3, 4, 5, 8, 9, 20, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300)


def assert_equal(groups: Groups, expected: TwinGroups) -> None:
    """All columns, exactly."""
    assert groups.n_queries == expected.n_queries
    assert groups.width == expected.width
    for column in COLUMNS:
        np.testing.assert_array_equal(
            getattr(groups, column), getattr(expected, column), err_msg=column
        )


def to_offsets(lengths: list[int]) -> NDArray[np.int64]:
    """Group sizes as offsets."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def draw_scores(rng: np.random.Generator, n: int, kind: str) -> NDArray[np.float64]:
    """Scores of one of the kinds that take different ways through the sort."""
    if kind == "spread":
        return rng.normal(size=n)
    if kind == "few":
        return rng.choice([-np.inf, -1.5, -0.0, 0.0, 0.25, 3.0, np.inf], size=n)
    if kind == "close":  # doubles that differ in their last bits only, with ties among them
        return 1.0 + rng.integers(0, 100, size=n) * np.finfo(np.float64).eps
    # any magnitude and sign, subnormals too
    bits = rng.integers(0, 2**64, size=n, dtype=np.uint64).view(np.float64)
    return np.where(np.isnan(bits), -0.0, bits)


def draw_labels(rng: np.random.Generator, n: int, kind: str, dtype: type[Any]) -> NDArray[Any]:
    """Grades of one of the kinds that take different ways to the ideal order."""
    if kind == "fractions" and np.issubdtype(dtype, np.floating):
        return rng.choice([-2.5, -0.0, 0.0, 0.1, 1.0, 7.0, 1e30, np.inf], size=n).astype(dtype)
    bounds = {"grades": (0, 5), "eights": (0, 9), "wide": (-3, 100), "fractions": (-128, 127)}[kind]
    return rng.integers(*bounds, size=n).astype(dtype)


@settings(max_examples=examples(300), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    lengths=st.lists(st.sampled_from(LENGTHS) | st.integers(0, 40), max_size=8),
    label_type=st.sampled_from(LABEL_TYPES),
    score_type=st.sampled_from(SCORE_TYPES),
    label_kind=st.sampled_from(["grades", "eights", "wide", "fractions"]),
    score_kind=st.sampled_from(["spread", "few", "close", "bits"]),
    ties=st.sampled_from(["input", "reversed"]),
    float32=st.booleans(),
    depth=st.sampled_from([0, 1, 3, 10, 1000]),
    scattered=st.booleans(),
    threads=st.sampled_from([1, 2, 5]),
)
def test_kernel_gives_what_the_twin_gives(
    seed: int,
    lengths: list[int],
    label_type: type[Any],
    score_type: type[Any],
    label_kind: str,
    score_kind: str,
    ties: Ties,
    float32: bool,
    depth: int,
    scattered: bool,
    threads: int,
) -> None:
    """Every size, type, tie rule and depth at once."""
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    labels = draw_labels(rng, n, label_kind, label_type)
    with np.errstate(over="ignore"):
        scores = draw_scores(rng, n, score_kind).astype(score_type)
    order = rng.permutation(n) if scattered else None
    offsets = to_offsets(lengths)
    groups = rank_groups(
        labels,
        scores,
        offsets,
        ties=ties,
        float32=float32,
        depth=depth,
        order=order,
        threads=threads,
    )
    twin = rank_groups_twin(
        labels, scores, offsets, ties=ties, float32=float32, depth=depth, order=order
    )
    assert_equal(groups, twin)


@given(
    rows=st.lists(
        st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)), min_size=1, max_size=70
    ),
    depth=st.integers(0, 80),
)
def test_any_doubles_are_ranked_like_the_twin(rows: list[tuple[float, float]], depth: int) -> None:
    """Values that Hypothesis chooses and shrinks, one list."""
    labels, scores = (np.array(column) for column in zip(*rows, strict=True))
    offsets = to_offsets([len(rows)])
    assert_equal(
        rank_groups(labels, scores, offsets, depth=depth),
        rank_groups_twin(labels, scores, offsets, depth=depth),
    )


@pytest.mark.spread(3)
@pytest.mark.parametrize("score_type", SCORE_TYPES)
@pytest.mark.parametrize("values", [2, 50, 10**9])
def test_every_length_is_sorted_as_numpy_sorts(score_type: type[Any], values: int) -> None:
    """NumPy's stable argsort, for each length up to 200: thirty random lists of each."""
    rng = np.random.default_rng(values)
    for length in range(1, 201):
        scores = rng.integers(0, values, size=(30, length)).astype(score_type)
        positions = np.broadcast_to(np.arange(length), scores.shape).astype(np.int32)
        groups = rank_groups(positions.ravel(), scores.ravel(), to_offsets([length] * 30))
        expected = np.argsort(-scores, axis=1, kind="stable")
        np.testing.assert_array_equal(
            groups.grades.reshape(30, length), expected, err_msg=str(length)
        )


@pytest.mark.parametrize("length", range(1, 13))
def test_every_pattern_of_two_scores_is_sorted(length: int) -> None:
    """All 2^n lists of zeros and ones, in both tie orders: ones first, each kind in (reversed)
    input order.
    """
    patterns = (np.arange(2**length)[:, None] >> np.arange(length)) & 1
    scores = patterns.astype(np.float32)
    positions = np.broadcast_to(np.arange(length), scores.shape).astype(np.int8)
    offsets = to_offsets([length] * len(scores))
    for ties, step in (("input", 1), ("reversed", -1)):
        groups = rank_groups(positions.ravel(), scores.ravel(), offsets, ties=ties)
        expected = np.arange(length)[::step][np.argsort(-scores[:, ::step], axis=1, kind="stable")]
        np.testing.assert_array_equal(groups.grades.reshape(scores.shape), expected)


@pytest.mark.parametrize("score_type", SCORE_TYPES)
def test_a_long_list_is_sorted_as_numpy_sorts(score_type: type[Any]) -> None:
    """300,000 items, where radix sort has cut bits of doubles off: the low bits decide in a tenth
    of the list.
    """
    rng = np.random.default_rng(7)
    scores = rng.normal(size=300_000)
    scores[::10] = 1.0 + rng.integers(0, 2000, size=30_000) * np.finfo(np.float64).eps
    scores = scores.astype(score_type)
    positions = np.arange(scores.size, dtype=np.int64)
    groups = rank_groups(positions, scores, to_offsets([scores.size]), depth=50_000)
    np.testing.assert_array_equal(groups.grades, np.argsort(-scores, kind="stable")[:50_000])
    values, counts = np.unique(scores, return_counts=True)
    assert groups.tied[0] == counts[counts > 1].sum()
    assert groups.ideal_grades[0] == scores.size - 1
    reached = values >= np.sort(scores)[-50_000]
    assert groups.tie_rank.size == counts[reached & (counts > 1)].sum()


def test_a_worked_example() -> None:
    """Two lists, a tie that the depth cuts through, by hand."""
    labels = np.array([0, 3, 1, 2, 5], dtype=np.int8)
    scores = np.array([0.5, 0.9, 0.5, 0.5, 0.1], dtype=np.float32)
    groups = rank_groups(labels, scores, np.array([0, 4, 5]), depth=2)
    assert groups.grades.tolist() == [3.0, 0.0, 5.0]
    assert groups.ideal_grades.tolist() == [3.0, 2.0, 5.0]
    assert groups.hit_offsets.tolist() == [0, 2, 3]
    assert groups.length.tolist() == [4, 1]
    assert groups.tied.tolist() == [3, 0]
    assert groups.tie_rank.tolist() == [2, 3, 4]
    assert groups.tie_first.tolist() == [2, 2, 2]
    assert groups.tie_last.tolist() == [4, 4, 4]
    assert groups.tie_grade.tolist() == [0.0, 1.0, 2.0]
    assert groups.width == 0


@pytest.mark.parametrize(
    ("depth", "lengths", "width"),
    [(0, [3, 3], 3), (2, [5, 3], 2), (4, [5, 3], 0), (0, [], 0), (0, [0, 0], 0)],
)
def test_lists_of_the_same_kept_length_are_a_rectangle(
    depth: int, lengths: list[int], width: int
) -> None:
    """`width` is the number of columns, or 0."""
    ones = np.ones(sum(lengths), dtype=np.float32)
    assert rank_groups(ones, ones, to_offsets(lengths), depth=depth).width == width


def test_threads_do_not_change_a_bit() -> None:
    """Lists of very different lengths, half of the scores tied, over more blocks than threads."""
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 60, size=20_000).tolist()
    lengths[7] = 90_000
    n = sum(lengths)
    labels, scores = rng.integers(0, 5, size=n).astype(np.float32), np.round(rng.normal(size=n), 1)
    alone = rank_groups(labels, scores, to_offsets(lengths), depth=10, threads=1)
    for threads in (2, 3, 7, 1000, 0):
        together = rank_groups(labels, scores, to_offsets(lengths), depth=10, threads=threads)
        for column in COLUMNS:
            assert getattr(alone, column).tobytes() == getattr(together, column).tobytes(), column


@pytest.mark.parametrize("threads", [1, 5])
@pytest.mark.parametrize("in_scores", [True, False])
@pytest.mark.parametrize("length", [20, 50, 500])
def test_nan_names_its_smallest_row(length: int, in_scores: bool, threads: int) -> None:
    """Rows count from 1; of several the smallest is told, whatever thread meets it first."""
    n = 200_000
    labels, scores = np.ones(n, dtype=np.float32), np.ones(n)
    column = scores if in_scores else labels
    column[[150_000, 77_777, 199_999]] = np.nan
    scores[180_000] = labels[190_000] = np.nan
    with pytest.raises(ParseError) as caught:
        rank_groups(labels, scores, to_offsets([length] * (n // length)), threads=threads)
    assert caught.value.args == ("nan", 0, 77_778, b"", b"")


def test_nan_names_the_row_of_the_input_under_an_order() -> None:
    """The row is the one in the user's arrays, not the place in the permutation."""
    scores = np.array([1.0, 2.0, np.nan, 4.0])
    with pytest.raises(ParseError) as caught:
        rank_groups(np.ones(4), scores, np.array([0, 4]), order=np.array([3, 2, 1, 0]))
    assert caught.value.args[2] == 3


def test_inputs_stay_as_they_are() -> None:
    """The kernel reads only: arrays that cannot be written are fine."""
    labels, scores, offsets = np.ones(3, dtype=np.int64), np.arange(3.0), np.array([0, 3])
    for array in (labels, scores, offsets):
        array.setflags(write=False)
    assert rank_groups(labels, scores, offsets).grades.tolist() == [1.0, 1.0, 1.0]


def test_columns_outlive_their_groups() -> None:
    """An array keeps the memory it looks at, and cannot be written."""
    grades = rank_groups(np.arange(3.0), np.arange(3.0), np.array([0, 3])).grades
    assert grades.tolist() == [2.0, 1.0, 0.0]
    assert not grades.flags.writeable


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offsets": np.array([0, 2])}, "offsets"),
        ({"offsets": np.array([1, 3])}, "offsets"),
        ({"offsets": np.array([0, 9, 3])}, "offsets"),
        ({"offsets": np.array([0, 3, -5, 3])}, "offsets"),
        ({"offsets": np.array([0, np.iinfo(np.int64).max, np.iinfo(np.int64).min, 3])}, "offsets"),
        ({"offsets": np.array([], dtype=np.int64)}, "offsets"),
        ({"scores": np.ones(2)}, "same length"),
        ({"order": np.array([0, 1, 3])}, "order"),
        ({"order": np.array([0, -1, 2])}, "order"),
        ({"order": np.array([0, 1])}, "order"),
        ({"depth": -1}, "depth"),
        ({"threads": -1}, "threads"),
        ({"ties": "docid"}, "input, reversed"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    """Nothing is read through offsets or an order that point outside."""
    arguments: dict[str, Any] = {
        "labels": np.ones(3),
        "scores": np.ones(3),
        "offsets": np.array([0, 3]),
    } | change
    with pytest.raises(ValueError, match=message):
        rank_groups(
            arguments.pop("labels"), arguments.pop("scores"), arguments.pop("offsets"), **arguments
        )


@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        (np.ones(3, dtype=np.uint16), np.ones(3)),
        (np.ones(3), np.ones(3, dtype=np.int32)),
        (np.ones(6)[::2], np.ones(3)),
        (np.ones((3, 1)), np.ones(3)),
    ],
)
def test_other_types_and_layouts_are_refused(labels: NDArray[Any], scores: NDArray[Any]) -> None:
    """Rather than copied behind the caller's back."""
    with pytest.raises(TypeError):
        rank_groups(labels, scores, np.array([0, 3]))
