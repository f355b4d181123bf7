"""Which of two rankers is ahead at each length, for models and for real scores, against documents
drawn one by one.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import idealrank as ir
from idealrank.errors import InputError, OptionError
from idealrank.theory import distinguish, distinguish_many
from idealrank.theory.distinguishability import sign_of

PAIRS = [
    ("log2", None),
    ("zipf(0.5)", "0.2n"),
    ("geometric(2)", None),
    ("log2", 10),
    ("linear", "sqrt(n)"),
]


def lin(s: Any) -> Any:
    return 0.1 + 0.8 * s


def half(s: Any) -> Any:
    return 0.5 + 0 * s


def mild(s: Any) -> Any:
    return 0.2 + 0.6 * s


def drawn_by_rejection(ybar: Any, relevant: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Scores of documents given their relevance: uniform ones are kept with the chance of the
    label.
    """
    scores, open_ = np.empty(relevant.shape), np.ones(relevant.shape, bool)
    while open_.any():
        score, chance = rng.random((2, *relevant.shape))
        kept = open_ & ((chance < ybar(score)) == relevant)
        scores[kept], open_ = score[kept], open_ & ~kept
    return scores


@pytest.mark.slow
def test_models_agree_with_documents_drawn_one_by_one() -> None:
    """Documents with labels and two scores each, in order of arrival; values by the measure
    itself.
    """
    sizes, runs, rng = [10, 20, 40], 1000, np.random.default_rng(1)
    relevant = rng.random((runs, 40)) < 0.5
    scores = [drawn_by_rejection(ybar, relevant, rng) for ybar in (lin, half)]
    pairs = PAIRS[:3]
    for table, (discount, cutoff) in zip(
        distinguish_many(lin, half, pairs, sizes=sizes, runs=2000, rng=2), pairs, strict=True
    ):
        options: dict[str, Any] = {"discount": discount, "cutoff": cutoff}
        values = [
            [ir.ndcg(relevant[:, :n].astype(int), score[:, :n], **options) for n in sizes]
            for score in scores
        ]
        signs = np.sign(np.round(np.subtract(*values), 13)).T
        always = np.logical_and.accumulate(signs[:, ::-1] > 0, axis=1)[:, ::-1]
        for column, seen in (
            ("a_better", signs > 0),
            ("b_better", signs < 0),
            ("a_always", always),
        ):
            expected = table.share(column)  # type: ignore[arg-type]
            error = np.sqrt(expected * (1 - expected) * (1 / runs + 1 / 2000))
            assert (np.abs(seen.mean(axis=0) - expected) < 5 * error).all(), (discount, column)


@pytest.mark.slow
def test_graded_models_count_all_grades() -> None:
    """A ranker that knows only the higher grade is ahead of one that knows only the lower, and
    equal to itself by symmetry.
    """
    top = {1: lambda s: 0.3 + 0 * s, 2: lambda s: 0.4 * s}
    low = {1: lambda s: 0.6 * s, 2: lambda s: 0.2 + 0 * s}
    assert (
        distinguish(
            top, low, discount="zipf(0.5)", gain="exp2", sizes=[3000], runs=100, rng=1
        ).share("a_better")[0]
        == 1
    )
    same = distinguish(top, top, sizes=[100], runs=800, rng=1).share("a_better")[0]
    assert same == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(800))


@pytest.mark.parametrize("tied", [False, True])
def test_scores_agree_with_the_measure_on_each_first_part(tied: bool) -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 60)
    a, b = (labels + rng.normal(0, 2, 60) for _ in range(2))
    if tied:
        a, b = a.round(), b.round()
    sizes, runs = [5, 20, 60], 12
    tables = distinguish_many(
        a, b, PAIRS, labels=labels, sizes=sizes, runs=runs, rng=9, gain="exp2"
    )
    seed = np.random.default_rng(9)
    orders = [
        (seed if run == 0 else child).permutation(60) for run, child in enumerate(seed.spawn(runs))
    ]
    for table, (discount, cutoff) in zip(tables, PAIRS, strict=True):
        above = np.zeros(3, int)
        for arrival in orders:
            for at, size in enumerate(sizes):
                part = arrival < size
                first, second = (
                    ir.ndcg(labels[part], s[part], cutoff, discount=discount, gain="exp2")[0]
                    for s in (a, b)
                )
                above[at] += first > second + 1e-13
        assert table.counts["a_better"].tolist() == above.tolist()


def test_all_documents_are_one_list() -> None:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 200)
    table = distinguish(
        labels + rng.normal(0, 1, 200), rng.normal(0, 1, 200), labels=labels, runs=20, rng=1
    )
    assert table.largest == 200
    assert table.sizes[0] == 10
    assert table.share("a_better")[-1] == 1
    assert "more documents they share" in str(table)


def test_exchanging_the_rankers_exchanges_the_columns() -> None:
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 2, 50)
    a, b = rng.normal(size=50), rng.normal(size=50)
    one, other = (
        distinguish(a, b, labels=labels, runs=50, rng=1),
        distinguish(b, a, labels=labels, runs=50, rng=1),
    )
    assert np.array_equal(one.counts["a_always"], other.counts["b_always"])
    assert np.array_equal(one.counts["constant"], other.counts["constant"])


def test_signs_are_of_anything_beyond_rounding() -> None:
    assert [sign_of(0.7, 0.7 * (1 + step)) for step in (1e-9, -1e-9, 1e-15, 0)] == [-1, 1, 0, 0]


def test_equal_rankers_are_neither_above_nor_below() -> None:
    scores = np.arange(30.0)
    table = distinguish(scores, 2 * scores, labels=scores > 10, runs=10, rng=1)
    assert not any(count.any() for count in table.counts.values())


@pytest.mark.parametrize("scored", [False, True])
def test_threads_do_not_change_a_count(scored: bool) -> None:
    rng = np.random.default_rng(8)
    given = (rng.normal(size=300), rng.normal(size=300)) if scored else (lin, mild)
    options: dict[str, Any] = {"labels": rng.integers(0, 2, 300)} if scored else {}
    tables = [
        distinguish_many(
            *given, PAIRS, sizes=[10, 100, 300], runs=40, rng=3, threads=threads, **options
        )
        for threads in (1, 2, 5)
    ]
    for other in tables[1:]:
        for one, two in zip(tables[0], other, strict=True):
            assert all(
                np.array_equal(one.counts[column], two.counts[column]) for column in one.counts
            )


def test_a_generator_gives_what_its_seed_gives() -> None:
    one, two = (
        distinguish(lin, mild, sizes=[100], runs=30, rng=rng)
        for rng in (4, np.random.default_rng(4))
    )
    assert one.counts["a_better"] == two.counts["a_better"]


def test_columns_follow_from_each_other_and_intervals_are_scipys() -> None:
    table = distinguish(lin, mild, sizes=[10, 30, 100, 300, 1000], runs=100, rng=1, level=0.9)
    assert (table.counts["constant"] == table.counts["a_always"] + table.counts["b_always"]).all()
    assert (np.diff(table.counts["constant"]) >= 0).all()
    assert table.counts["a_always"][-1] == table.counts["a_better"][-1]
    assert table.last_decade.tolist() == [False, False, True, True, True]
    for hits, found in zip(table.counts["a_better"], table.interval("a_better"), strict=True):
        expected = binomtest(int(hits), 100).proportion_ci(0.9, method="exact")
        assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("hits", [0, 1, 49, 50])
def test_intervals_at_the_ends(hits: int) -> None:
    table = distinguish(lin, mild, sizes=[10], runs=50, rng=1)
    table.counts["a_better"][0] = hits
    expected = binomtest(hits, 50).proportion_ci(0.95, method="exact")
    assert table.interval("a_better")[0] == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_text_names_the_largest_size_and_marks_the_last_decade() -> None:
    text = str(distinguish(lin, half, sizes=[10, 100, 1000], runs=20, rng=1, names=("LIN", "RAND")))
    assert "LIN against RAND" in text
    assert [line.endswith("*") for line in text.splitlines()[2:5]] == [False, True, True]
    assert "From N = 10 to 1,000" in text
    assert text.endswith("The simulation does not cover lists longer than 1,000.")
    short = str(distinguish(lin, half, sizes=[500, 1000], runs=20, rng=1))
    assert "From N" not in short


def test_frames_have_a_row_for_each_size() -> None:
    frame = distinguish(lin, half, sizes=[10, 100], runs=20, rng=1).to_frame("polars")
    assert frame.shape == (2, 17)
    assert frame["last_decade"].to_list() == [True, True]
    with pytest.raises(OptionError, match="backend=nothing"):
        distinguish(lin, half, sizes=[10], runs=2, rng=1).to_frame("nothing")


@pytest.mark.parametrize(
    ("a", "b", "options", "error", "named"),
    [
        (lin, lambda s: 0.3 + 0 * s, {}, InputError, "0.5 under a and 0.3 under b"),
        (lin, lambda s: 0.501 + 0 * s, {}, InputError, "0.5 under a and 0.501 under b"),
        (lin, {2: half}, {}, InputError, "gains"),
        ([1.0, 2.0], [2.0, 1.0], {}, InputError, "without labels"),
        (lin, mild, {"labels": [0, 1]}, InputError, "a: expected numbers"),
        ([1.0, 2.0], [2.0, 1.0], {"labels": [1, 1]}, InputError, "all 2 documents have gain 1"),
        ([1.0, 2.0], [2.0, 1.0], {"labels": [0, 0]}, InputError, "all 2 documents have gain 0"),
        ([], [], {"labels": []}, InputError, "no document"),
        ([1.0, 2.0], [2.0, 1.0], {"labels": [-1, 1]}, InputError, "a gain is -1"),
        ([1.0, 2.0], [2.0], {"labels": [0, 1]}, InputError, "expected one length"),
        ([1.0, np.nan], [2.0, 1.0], {"labels": [0, 1]}, InputError, r"a\[1\] is nan"),
        (
            [1.0, 2.0],
            [2.0, 1.0],
            {"labels": [0, 1], "sizes": [3]},
            OptionError,
            "more than the 2 documents",
        ),
        (lin, mild, {"sizes": [0]}, OptionError, "n=0"),
        (lin, mild, {"runs": 0}, OptionError, "runs=0"),
        (lin, mild, {"level": 1.0}, OptionError, "level=1.0"),
        (lin, mild, {"names": ("x",)}, OptionError, "names="),
        (lin, mild, {"names": "ab"}, OptionError, "names='ab'"),
        (lin, mild, {"rng": "x"}, OptionError, "rng='x'"),
    ],
)
def test_what_cannot_be_compared_is_said(
    a: Any, b: Any, options: dict[str, Any], error: type[Exception], named: str
) -> None:
    with pytest.raises(error, match=named):
        distinguish(a, b, **{"sizes": [2], "runs": 2, "rng": 1, **options})
