"""rankDCG: the paper's table, lists worked in fractions, every order of small lists, what must not
change it, and what is refused.
"""

import json
import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import InputError, OptionError
from tests.conftest import shared_file
from tests.twins import naive_rank_dcg as naive

TIES = ("worst", "expected", "best")
L = [9, 4, 4, 2, 2, 2, 1, 1, 1, 1]

# Katerenchuk and Rosenberg (2016), table of test lists; values worked in fractions, of which the
# paper prints three decimals, cut.
TABLE = [
    ([9, 4, 4, 2, 2, 2, 1, 1, 1, 1], Fraction(1), 1.0),
    ([9, 4, 4, 2, 2, 1, 2, 1, 1, 1], Fraction(39, 40), 0.975),
    ([4, 4, 2, 9, 2, 2, 1, 1, 1, 1], Fraction(13, 20), 0.65),
    ([1, 4, 4, 2, 2, 2, 9, 1, 1, 1], Fraction(13, 40), 0.325),
    ([1, 4, 4, 2, 2, 2, 1, 1, 1, 9], Fraction(13, 40), 0.325),
    ([1, 1, 1, 1, 2, 2, 2, 4, 4, 9], Fraction(0), 0.0),
]
# Tied predictions: the least, the mean and the greatest value over their orders.
TIED = [
    (L, [5] * 6 + [1] * 4, (Fraction(1, 2), Fraction(7, 10), Fraction(1))),
    (L, [1] * 10, (Fraction(0), Fraction(2, 5), Fraction(1))),
    (
        L,
        [0.3, 0.9, 0.9, 0.3, 0.3, 0.1, 0.1, 0.1, 0.5, 0.5],
        (Fraction(3, 5), Fraction(19, 30), Fraction(13, 20)),
    ),
]


@pytest.mark.parametrize(("hypothesis", "exact", "printed"), TABLE)
def test_the_table_of_the_paper(hypothesis: list[float], exact: Fraction, printed: float) -> None:
    """No policy of ties matters in its rows; the printed digits are cut, not rounded."""
    for ties in TIES:
        assert ir.rank_dcg(L, hypothesis, ties=ties) == pytest.approx(float(exact), abs=1e-15)
    assert math.floor(1000 * exact) / 1000 == printed


@pytest.mark.parametrize(("reference", "predicted", "values"), TIED)
def test_tied_predictions(
    reference: list[float], predicted: list[float], values: tuple[Fraction, ...]
) -> None:
    """The paper's package sorts tied items by rising true value: a constant prediction has 0."""
    found = [ir.rank_dcg(reference, predicted, ties=ties) for ties in TIES]
    assert found == pytest.approx([float(value) for value in values], abs=1e-15)
    assert ir.rank_dcg(reference, predicted) == found[0]


def test_twelve_lists_in_fractions() -> None:
    """Numbers worked apart from this library: value, exact maximum and minimum."""
    cases = json.loads(shared_file("golden", "papers.json").read_text(encoding="utf-8"))[
        "rank_dcg"
    ]["cases"]
    assert len(cases) == 12
    for case in cases:
        for ties in TIES:
            found = ir.rank_dcg(case["ref"], case["hyp"], ties=ties)
            assert found == pytest.approx(
                math.nan if case[ties] is None else float(Fraction(case[ties])),
                abs=1e-15,
                nan_ok=True,
            )
            assert naive.of_lists(case["ref"], case["hyp"], ties) == (
                None if case[ties] is None else Fraction(case[ties])
            )


def test_equals_the_definition_on_random_lists() -> None:
    """Ties on both sides, several lists at once, against fractions over all orders."""
    rng = np.random.default_rng(1)
    reference, predicted = rng.integers(-3, 3, (60, 6)), rng.integers(0, 4, (60, 6))
    for ties in TIES:
        found = ir.rank_dcg(reference, predicted, ties=ties)
        for row in range(60):
            exact = naive.of_lists(reference[row].tolist(), predicted[row].tolist(), ties)
            assert found[row] == pytest.approx(
                math.nan if exact is None else float(exact), abs=1e-14, nan_ok=True
            )


@pytest.mark.parametrize(
    "reference",
    [[1, 2], [3, 3, 1], [5, 1, 1, 1], [4, 3, 2, 1], [2, 2, 1, 1, 7], [9, 4, 4, 2, 1, 1]],
)
def test_bounds_are_reached_and_never_passed(reference: list[float]) -> None:
    """Over every order of a list: exactly 0 and 1, and nothing outside."""
    orders = np.array(list(permutations(range(len(reference)))))
    values = ir.rank_dcg(np.broadcast_to(reference, orders.shape), -orders)
    assert (values.min(), values.max()) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("reference", "mean"), [([1, 2, 3, 4, 5], 0.5), ([7, 3, 2, 0, -1, -4], 0.5), (L, 0.4)]
)
def test_the_mean_over_random_orders(reference: list[float], mean: float) -> None:
    """1/2 where all true values differ, 0.4 for the paper's list: all lists share the lower bound,
    and not the level of chance.
    """
    assert ir.rank_dcg(reference, np.zeros(len(reference)), ties="expected") == pytest.approx(
        mean, abs=1e-15
    )
    rng = np.random.default_rng(7)
    drawn = ir.rank_dcg(
        np.broadcast_to(reference, (4000, len(reference))), rng.random((4000, len(reference)))
    )
    assert drawn.mean() == pytest.approx(mean, abs=4 * drawn.std() / math.sqrt(4000))


def test_chance_depends_on_how_many_values_are_equal() -> None:
    """Never above 1/2 for one item before many equal ones, and below it the more there are."""
    means = [
        ir.rank_dcg([1] + [0] * others, [0] * (1 + others), ties="expected")
        for others in (1, 2, 9, 99)
    ]
    assert means == pytest.approx([1 / (1 + others) for others in (1, 2, 9, 99)])


def test_only_the_order_of_values_counts() -> None:
    """Strictly increasing functions of either list, and one permutation of both."""
    rng = np.random.default_rng(3)
    reference, predicted = (
        rng.integers(0, 5, (40, 8)).astype(float),
        rng.integers(0, 6, (40, 8)).astype(float),
    )
    together = rng.permutation(8)
    for ties in TIES:
        values = ir.rank_dcg(reference, predicted, ties=ties)
        for true, guessed in (
            (np.exp(reference), predicted),
            (reference**3 - 100, predicted),
            (reference, np.arctan(predicted)),
            (reference[:, together], predicted[:, together]),
        ):
            np.testing.assert_array_equal(ir.rank_dcg(true, guessed, ties=ties), values)


def test_items_of_one_true_value_may_change_places() -> None:
    """Rows 4 and 5 of the table, and every exchange of predictions inside a rank group."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        predicted = rng.permutation(10).astype(float)
        value = ir.rank_dcg(L, predicted)
        for one, other in product(range(10), repeat=2):
            if L[one] == L[other]:
                swapped = predicted.copy()
                swapped[[one, other]] = predicted[[other, one]]
                assert ir.rank_dcg(L, swapped) == value


def test_the_quotient_that_is_printed_is_one_less_this() -> None:
    """Equation with (max - DCG') / (max - min): 0, 0.025, 0.35, 0.675, 0.675, 1 for the six
    rows.
    """
    printed = [1 - ir.rank_dcg(L, hypothesis) for hypothesis, _, _ in TABLE]
    assert printed == pytest.approx([0, 0.025, 0.35, 0.675, 0.675, 1], abs=1e-15)


def test_equal_true_values_have_no_value_unless_told() -> None:
    """Neither an exception nor a number that could be one of an order."""
    for reference in ([2, 2, 2], [5], []):
        assert math.isnan(ir.rank_dcg(reference, list(range(len(reference)))))
    assert [ir.rank_dcg([2, 2], [1, 0], no_relevant=word) for word in ("zero", "one")] == [0.0, 1.0]
    assert math.isnan(ir.rank_dcg([2, 2], [1, 0], no_relevant="left-out"))


def test_every_layout_of_several_lists() -> None:
    """A float for one list; sizes, offsets, ids, rows and padding for several."""
    reference, predicted = [3, 1, 2, 9, 1], [1, 3, 2, 0.1, 0.2]
    alone = [ir.rank_dcg(reference[:3], predicted[:3]), ir.rank_dcg(reference[3:], predicted[3:])]
    assert all(isinstance(value, float) for value in alone)
    found = [
        ir.rank_dcg(reference, predicted, "worst", [3, 2]),
        ir.rank_dcg(reference, predicted, offsets=[0, 3, 5]),
        ir.rank_dcg([3, 9, 1, 1, 2], [1, 0.1, 3, 0.2, 2], qid=["a", "b", "a", "b", "a"]),
        ir.rank_dcg([[3, 1, 2], [9, 1, -1]], [[1, 3, 2], [0.1, 0.2, 9]], padding=-1),
        ir.rank_dcg(
            [[3, 1, 2], [9, 1, math.nan]],
            [[1, 3, 2], [0.1, 0.2, 9]],
            mask=[[True] * 3, [True, True, False]],
        ),
    ]
    for values in found:
        assert values.tolist() == alone


def test_long_lists_of_nearly_equal_values_keep_their_digits() -> None:
    """Two of a million items stand out: the closed form, to 12 digits."""
    n = 1_000_000
    reference = np.zeros(n)
    reference[:2] = (2, 1)
    best = ir.rank_dcg(reference, -np.arange(n))
    swapped = ir.rank_dcg(reference, np.r_[0.5, 1.0, -np.arange(2.0, n)])
    # Above the worst order, less the same terms: (3 - 1) / 1 + (2 - 1) / 2 - (1 + 2) / 3 for the
    # best, 1 / 2 - 1 ... for the swap.
    assert best == 1.0
    assert swapped == pytest.approx((1 / 1 + 2 / 2 - 3 / 3) / (2 / 1 + 1 / 2 - 3 / 3), abs=1e-12)


def test_a_run_is_measured_on_judged_documents_returned() -> None:
    """Unjudged ones are taken out, judged ones not returned do not count, and their number stands
    in the coverage.
    """
    judged = {"q": {"a": 9, "b": 3, "c": 1, "not returned": 20}}
    evaluation = ir.evaluate(judged, {"q": ["x", "c", "y", "a", "b", "z"]}, [ir.RankDCG()])
    assert evaluation.values[0, 0] == pytest.approx(
        float(naive.of_order([1, 9, 3]) or 0), abs=1e-15
    )
    assert evaluation.coverage.judged == 3
    beside_a_cutoff = ir.evaluate(
        judged, {"q": ["x", "c", "y", "a", "b", "z"]}, ["nDCG@2", "RankDCG"]
    )
    assert (beside_a_cutoff.coverage.judged, beside_a_cutoff.coverage.considered) == (3, 2)
    assert (
        ir.evaluate(
            [[1, 0, 2], [0, 1, 1]], [[0.5, 0.5, 0.1], [3.0, 2.0, 1.0]], ["nDCG@1"]
        ).coverage.judged
        == 6
    )
    only_two = ir.evaluate(
        judged, {"q": ["x", "c", "y", "a", "b", "z"]}, ["RankDCG"], max_documents=4
    )
    assert only_two.coverage.judged == 2


def test_ties_of_a_run_follow_the_convention_unless_set() -> None:
    """By document id as in trec_eval, or the option; arrays have no ids and take the mean."""
    judged, run = {"q": {"a": 2, "b": 1, "c": 0}}, {"q": {"a": 1, "b": 1, "c": 1}}

    def value(text: str, **switches: str) -> float:
        return ir.evaluate(judged, run, [text], ir.Convention.of("standard", **switches)).mean()[
            text
        ]

    assert (value("RankDCG"), value("RankDCG", ties="docid-ascending")) == (0.0, 1.0)
    assert [value("RankDCG", ties=ties) for ties in TIES] == [0.0, 0.5, 1.0]
    for convention in ("docid", "input", "worst", "expected", "best"):
        assert [value(f"RankDCG(ties={ties})", ties=convention) for ties in TIES] == [0.0, 0.5, 1.0]
    assert ir.evaluate([2, 1, 0], [1, 1, 1], "RankDCG").mean()["RankDCG"] == 0.5


def test_fewer_than_two_grades_fall_under_the_policy() -> None:
    """As a query without relevant documents does."""
    judged, run = {"q": {"a": 2, "b": 2, "c": 1}, "r": {"a": 1}}, {"q": ["a", "b"], "r": ["x"]}
    for word, expected in (("zero", 0.0), ("one", 1.0), ("nan", math.nan)):
        values = ir.evaluate(judged, run, ["RankDCG"], f"standard,no_relevant={word}").values[:, 0]
        np.testing.assert_array_equal(values, [expected, expected])


@pytest.mark.parametrize(
    ("reference", "predicted", "options", "said"),
    [
        ([1, 2], [1], {}, r"reference has shape \(2,\) and predicted \(1,\)"),
        ([1, math.inf], [1, 2], {}, "reference, item 1: found inf"),
        ([1, 2], [math.nan, 2], {}, "predicted, item 0: found nan"),
        (["a", "b"], [1, 2], {}, "reference: found values of type <U1"),
        (
            [1, 2],
            [1, 2],
            {"ties": "docid"},
            r"ties=docid: expected one of worst \| expected \| best",
        ),
        ([1, 2], [1, 2], {"no_relevant": "minus one"}, "no_relevant=minus one: expected one of"),
        ([1, 2], [1, 2], {"group": [3]}, "group: found sizes that add up to 3, expected 2"),
    ],
)
def test_refused(
    reference: list[float], predicted: list[float], options: dict[str, str], said: str
) -> None:
    with pytest.raises((InputError, OptionError), match=said):
        ir.rank_dcg(reference, predicted, **options)


def test_texts() -> None:
    """What is set is written; other words of papers are read."""
    assert str(ir.RankDCG()) == "RankDCG"
    assert (
        str(ir.RankDCG(ties="worst")) == ir.RankDCG(ties="worst").trec_name == "RankDCG(ties=worst)"
    )
    assert ir.parse_measure("rank_dcg(ties=half)") == ir.RankDCG(ties="expected")
    assert ir.RankDCG.ties == "closed form"
    assert ir.RankDCG() != ir.RankDCG(ties="worst")
    for text in ("RankDCG@5", "RankDCG(ties=docid)"):
        with pytest.raises(OptionError, match=r"no cutoff|expected one of"):
            ir.parse_measure(text)
