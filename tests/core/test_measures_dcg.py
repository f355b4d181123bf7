"""Gains, discounts, cutoffs and the identities of the NDCG family."""

import math
import pickle
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import idealrank as ir
from idealrank.measures.cutoffs import RelativeCutoff, make_cutoff
from idealrank.measures.discounts import RankDiscount, make_discount
from idealrank.measures.gains import make_gain

LABELS, SCORES = [3, 0, 2, 1, 0, 2], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]


# --- gains ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("linear", lambda g: g),
        ("exp2", lambda g: 2.0**g - 1),
        ("power(2)", lambda g: g**2),
        ("power(0.5)", lambda g: g**0.5),
        ("binary", lambda g: float(g >= 1)),
        ("{0:0,1:1,2:5,3:6}", lambda g: {0: 0, 1: 1, 2: 5, 3: 6}[g]),
    ],
)
def test_gains_are_their_formulas(text: str, formula: Callable[[float], float]) -> None:
    """Grade by grade, and the text reads back."""
    gain = make_gain(text)
    assert gain(np.array([0.0, 1.0, 2.0, 3.0])).tolist() == [
        formula(grade) for grade in (0, 1, 2, 3)
    ]
    assert make_gain(gain.text) == gain


def test_a_gain_may_be_any_function_or_table() -> None:
    """Vectorised functions and mappings from grade to gain."""
    squares = ir.ndcg(LABELS, SCORES, gain="power(2)")
    assert ir.ndcg(LABELS, SCORES, gain=np.square) == pytest.approx(squares, abs=1e-15)
    assert ir.ndcg(LABELS, SCORES, gain=lambda grades: grades**2) == pytest.approx(
        squares, abs=1e-15
    )
    assert ir.ndcg(LABELS, SCORES, gain={0: 0, 1: 1, 2: 4, 3: 9}) == pytest.approx(
        squares, abs=1e-15
    )


def test_a_table_need_not_say_that_grade_0_gains_nothing() -> None:
    """Grade 0 that is not in a table gains 0, in the order of gains too; any other such grade is an
    error.
    """
    assert ir.ndcg(LABELS, SCORES, gain={1: 1, 2: 4, 3: 9}) == pytest.approx(
        ir.ndcg(LABELS, SCORES, gain="power(2)"), abs=1e-15
    )
    assert make_gain("{1:5}").text == "{1:5}"
    assert ir.dcg([1, 0], [0.1, 0.9], gain={1: -5}, cutoff=1)[0] == 0.0
    best = ir.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "b"]}, ["iDCG(gain={1:-5})@1"]).mean()
    assert best["iDCG(gain={1:-5})@1"] == 0.0
    with pytest.raises(
        ir.InputError,
        match=r"gain=\{1:5\}: found grade 2, expected one of 0, 1; \*:\* in the table makes every "
        r"other grade",
    ):
        ir.ndcg([0, 1, 2], [3, 2, 1], gain={1: 5})


def test_a_negative_grade_made_0_gains_what_grade_0_does() -> None:
    """Also where a table pays for grade 0; an unjudged document gains nothing."""
    found = ir.evaluate({"q": {"a": -1}}, {"q": ["x", "a"]}, ["DCG(gain={0:3})"])
    assert found.mean()["DCG(gain={0:3})"] == pytest.approx(3 / math.log2(3), abs=1e-12)


def test_a_gain_that_falls_has_its_ideal_by_gain() -> None:
    """Grade 1 worth more than grade 3: the ideal list shows grade 1 first."""
    gain = {0: 0, 1: 3, 2: 2, 3: 1}
    assert ir.ndcg([1, 2, 3, 0], [4.0, 3.0, 2.0, 1.0], gain=gain)[0] == 1.0
    assert ir.ndcg([1, 2, 3, 0], [4.0, 3.0, 2.0, 1.0], 2, gain=gain)[0] == 1.0
    evaluation = ir.evaluate(
        {"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]}, [ir.NDCG(gain=gain, cutoff=1)]
    )
    assert evaluation.values[0, 0] == 1.0


@pytest.mark.parametrize("cutoff", ["", "@2"])
@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("gain=binary", "{0:0,1:1,2:1,3:1}"),
        ("rel=2", "{0:0,1:0,2:2,3:3}"),
        ("gain=exp2,rel=2", "{0:0,1:0,2:3,3:7}"),
        ("gain=binary,rel=2", "{0:0,1:0,2:1,3:1}"),
        ("gain={2:5,3:6},rel=2", "{0:0,1:0,2:5,3:6}"),
    ],
)
@pytest.mark.parametrize("name", ["nDCG", "DCG", "iDCG"])
def test_a_threshold_makes_lower_grades_gain_nothing(
    name: str, text: str, table: str, cutoff: str
) -> None:
    """As the table of gains that says so, from arrays and from tables."""
    asked, same = f"{name}({text}){cutoff}", f"{name}(gain={table}){cutoff}"
    assert str(ir.parse_measure(asked)) == asked
    qrels = {"q": {"a": 3, "b": 0, "c": 2, "d": 1}, "r": {"a": 1, "b": 1}}
    run = {"q": ["d", "a", "x", "c"], "r": ["a", "b"]}
    of_tables = ir.evaluate(qrels, run, [asked, same]).values
    of_arrays = ir.evaluate([LABELS, LABELS[::-1]], [SCORES, SCORES], [asked, same]).values
    assert of_tables[:, 0].tolist() == of_tables[:, 1].tolist()
    assert of_arrays[:, 0].tolist() == of_arrays[:, 1].tolist()
    assert of_tables[1, 0] == (0.0 if "rel" in text else 1.0 if name == "nDCG" else of_tables[1, 1])


def test_binary_gains_begin_at_grade_1_as_relevance_does_elsewhere() -> None:
    """A grade of 0.5 is no relevant document for AP either, unless `rel` says so."""
    found = ir.evaluate(
        [0.5, 1.0], [2.0, 1.0], ["DCG(gain=binary)@1", "DCG(gain=binary,rel=0.5)@1"]
    )
    assert found.values.tolist() == [[0.0, 1.0]]


def test_negative_grades_lie_below_any_threshold() -> None:
    """Also where the convention keeps them; a threshold below 0 keeps some, and sorts the ideal by
    what is kept.
    """
    labels, scores = [-2.0, -1.0, 1.0], [3.0, 2.0, 1.0]
    for measure, value in (
        ("DCG(rel=1)", 0.5),
        ("DCG(rel=-1)", -1 / math.log2(3) + 0.5),
        ("iDCG(rel=-1)", 1.0 - 0.5),
    ):
        found = ir.evaluate(labels, scores, measure, "standard,negative=kept")
        assert found.mean()[measure] == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize(
    ("gain", "error", "message"),
    [
        ("cubic", ir.OptionError, "gain=cubic: expected linear | exp2 | binary | power(EXPONENT)"),
        ("power(0)", ir.OptionError, "expected an exponent above 0"),
        ({}, ir.OptionError, "expected at least one grade"),
        ({0: 0, 1: 1}, ir.InputError, "found grade 3, expected one of 0, 1"),
        ({0: 0, 1: math.inf}, ir.OptionError, "expected finite numbers"),
        ("{0:0,nan:1}", ir.OptionError, "expected finite numbers"),
        ({"a": 1}, ir.OptionError, "expected numbers"),
        ("{0:0,1:1,1.0:2}", ir.OptionError, "grade 1 is given twice"),
        ("power(inf)", ir.OptionError, "expected an exponent above 0"),
        (lambda grades: grades[:1], ir.InputError, "gave shape (1,) for grades of shape"),
    ],
)
def test_impossible_gains_are_named(gain: object, error: type[Exception], message: str) -> None:
    """When built, or when a grade cannot be had."""
    with pytest.raises(error) as caught:
        ir.ndcg(LABELS, SCORES, gain=gain)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_a_gain_beyond_float64_is_named() -> None:
    """2^2000."""
    with pytest.raises(
        ir.InputError, match=r"gain exp2 of grade 2000 is larger than a number can be"
    ):
        ir.ndcg([2000, 1], [0.2, 0.1], gain="exp2")


@pytest.mark.parametrize("measure", ["DCG", "iDCG", "nDCG", "nDCG@2"])
@pytest.mark.parametrize("gain", ["linear", "exp2"])
def test_sums_beyond_float64_are_named(measure: str, gain: str) -> None:
    """Each gain is a number, their sum is none; from arrays and from tables."""
    grade = 1.7e308 if gain == "linear" else 1023.9
    with pytest.raises(ir.InputError, match=r"larger than a number can be \(1\.8e308\)"):
        ir.evaluate([grade] * 3, [3.0, 2.0, 1.0], measure, f"standard,gain={gain}")
    with pytest.raises(ir.InputError, match=r"larger than a number can be \(1\.8e308\)"):
        ir.evaluate(
            {"q": dict.fromkeys("abc", grade)},
            {"q": ["a", "b", "c"]},
            measure,
            f"standard,gain={gain}",
        )


def test_functions_must_give_numbers() -> None:
    """A weight of 1 / log2(rank) is infinite at rank 1; NaN would make a silent 0 of the value."""
    with pytest.raises(
        ir.InputError, match=r"discount custom:lambda gave inf for rank 1, expected finite numbers"
    ):
        ir.ndcg(
            LABELS,
            SCORES,
            discount=lambda rank: np.divide(
                1, rank - 1, out=np.full(rank.shape, np.inf), where=rank > 1
            ),
        )
    with pytest.raises(
        ir.InputError, match=r"gain custom:lambda gave nan for grade 3, expected finite numbers"
    ):
        ir.ndcg(LABELS, SCORES, gain=lambda grades: np.where(grades > 2, np.nan, grades))


# --- discounts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("log2", lambda r: 1 / math.log2(r + 1)),
        ("log(10)", lambda r: 1 / math.log10(r + 1)),
        ("jarvelin(2)", lambda r: 1 / math.log2(r) if r >= 2 else 1.0),
        ("jarvelin(10)", lambda r: 1 / math.log10(r) if r >= 10 else 1.0),
        ("zipf(0.5)", lambda r: r**-0.5),
        ("zipf", lambda r: 1 / r),
        ("geometric(2)", lambda r: 2.0**-r),
        ("geometric(0.8)", lambda r: 0.8**r),
        ("linear", lambda r: max(40 - r, 0)),
        ("[1,0.5,0.25]", lambda r: [1, 0.5, 0.25][r - 1] if r <= 3 else 0.0),
    ],
)
def test_discounts_are_their_formulas(text: str, formula: Callable[[int], float]) -> None:
    """Rank by rank in a list of 40, sums of ranges, and the text reads back."""
    discount = make_discount(text)
    ranks, length = np.arange(1, 61), np.full(60, 40)
    weights = [formula(rank) for rank in ranks.tolist()]
    assert discount.at(ranks, length) == pytest.approx(weights, abs=1e-15)
    first, last = np.array([1, 3, 10, 55]), np.array([60, 3, 50, 54])
    sums = [
        math.fsum(weights[a - 1 : b]) for a, b in zip(first.tolist(), last.tolist(), strict=True)
    ]
    assert discount.between(first, last, np.full(4, 40)) == pytest.approx(
        sums, rel=1e-13, abs=1e-13
    )
    assert make_discount(discount.text).text == discount.text


@pytest.mark.parametrize(
    ("spelling", "text"),
    [
        ("power(0.5)", "zipf(0.5)"),
        ("reciprocal", "zipf(1)"),
        ("ZIPF( 2 )", "zipf(2)"),
        ("exponential(2)", "geometric(2)"),
        ("ln", "log(2.718281828459045)"),
    ],
)
def test_other_names_of_a_discount_are_read(spelling: str, text: str) -> None:
    """As the papers and other tools say it; one discount has one text."""
    assert make_discount(spelling) == make_discount(text)
    assert str(ir.parse_measure(f"nDCG(discount={spelling})@10")) == f"nDCG(discount={text})@10"
    evaluation = ir.evaluate(
        {"q": {"a": 1, "b": 2}}, {"q": ["a", "b"]}, [f"nDCG(discount={spelling})@10"]
    )
    assert (
        evaluation.mean()[f"nDCG(discount={spelling})@10"]
        == evaluation.mean()[f"nDCG(discount={text})@10"]
    )


def test_a_discount_may_be_any_function_or_table() -> None:
    """Of ranks, of ranks and list lengths, or a sequence of weights; expected values over ties
    included.
    """
    for ties, scores in (("input", SCORES), ("expected", [1.0, 1.0, 1.0, 0.5, 0.5, 0.5])):
        expected = ir.ndcg(LABELS, scores, 4, discount="reciprocal", ties=ties)
        for discount in (
            lambda rank: 1 / rank,
            lambda rank, length: 1 / rank + 0 * length,
            [1, 1 / 2, 1 / 3, 1 / 4],
        ):
            assert ir.ndcg(LABELS, scores, 4, discount=discount, ties=ties) == pytest.approx(
                expected, abs=1e-15
            )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "discount",
    [
        "log(1)",
        "jarvelin(0)",
        "zipf(-1)",
        "geometric(1)",
        "geometric(0)",
        "steps",
        "log2(3",
        "[]",
        "[a]",
        "log(inf)",
        "zipf(inf)",
        "exponential(inf)",
        "jarvelin(inf)",
        "[1,nan]",
        [1, math.inf],
        [],
        ["a"],
        5,
    ],
)
def test_impossible_discounts_are_named(discount: Any) -> None:
    """When built."""
    with pytest.raises(ir.OptionError, match="discount="):
        ir.NDCG(discount=discount)


def test_threads_that_need_more_ranks_at_once_share_one_table() -> None:
    """While one thread computes the weights of further ranks, another does the same and finishes
    first.
    """
    others = iter([True])

    def weight(rank: int) -> float:
        if rank == 70 and next(others, False):
            assert discount.at(np.array([300]), np.array([300])) == [1 / 300]
        return 1 / rank

    discount = RankDiscount("shared by threads", weight)
    discount.at(np.array([1]), np.array([1]))  # ranks 1 to 64
    ranks = np.arange(1, 401)
    assert discount.at(ranks, ranks).tolist() == [1 / rank for rank in ranks.tolist()]
    assert discount.between(ranks, ranks, ranks) == pytest.approx(1 / ranks, abs=1e-14)


@pytest.mark.parametrize(
    "text",
    [
        "log2",
        "log(3)",
        "jarvelin(2)",
        "zipf(0.5)",
        "geometric(2)",
        "geometric(0.8)",
        "linear",
        "[1,0.5]",
    ],
)
def test_discounts_go_to_other_processes(text: str) -> None:
    """Evaluations are made in several processes and merged in one."""
    discount = pickle.loads(pickle.dumps(make_discount(text)))
    ranks = np.arange(1, 9)
    assert discount == make_discount(text)
    assert discount.at(ranks, ranks).tolist() == make_discount(text).at(ranks, ranks).tolist()


# --- linear NDCG (Jin and Geng 2011) --------------------------------------------------------------

GRADED = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=12)


@given(GRADED)
def test_linear_dcg_falls_short_by_the_pairwise_loss(items: list[tuple[int, int]]) -> None:
    """ideal - DCG = sum over pairs of the label difference where the lower label stands first; half
    of it where they tie.
    """
    labels, scores = [label for label, _ in items], [float(score) for _, score in items]
    loss = sum(
        max(b - a, 0) * (1.0 if s > t else 0.5)
        for i, (a, s) in enumerate(items)
        for j, (b, t) in enumerate(items)
        if i != j and (s > t or (s == t and b > a))
    )
    ideal = sum(
        label * (len(items) - rank) for rank, label in enumerate(sorted(labels, reverse=True), 1)
    )
    assert ideal - ir.dcg(labels, scores, discount="linear")[0] == pytest.approx(loss, abs=1e-9)


@given(GRADED)
def test_bipartite_linear_ndcg_is_the_auc(items: list[tuple[int, int]]) -> None:
    """NDCG = 1 - mn(1 - AUC) / (mn + m(m-1)/2) with m relevant and n other items; AUC by
    scikit-learn.
    """
    labels, scores = [min(label, 1) for label, _ in items], [float(score) for _, score in items]
    m, n = sum(labels), len(labels) - sum(labels)
    if m and n:
        expected = 1 - m * n * (1 - roc_auc_score(labels, scores)) / (m * n + m * (m - 1) / 2)
        assert ir.ndcg(labels, scores, convention="linear-2010")[0] == pytest.approx(
            expected, abs=1e-12
        )


def test_a_list_of_one_has_no_linear_ndcg() -> None:
    """Its only weight is 0."""
    assert np.isnan(ir.ndcg([1], [1.0], convention="linear-2010", no_relevant="nan")[0])


# --- cutoffs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("0.2n", lambda n: n // 5),
        ("0.1n", lambda n: n // 10),
        ("1n", lambda n: n),
        ("sqrt(n)", math.isqrt),
        ("n^0.5", math.isqrt),
        ("n^1", lambda n: n),
        ("n^0.25", lambda n: math.isqrt(math.isqrt(n))),
        ("n^0.3333333333333333", lambda n: math.floor(0.9999999999999 * n ** (1 / 3))),
        ("n^0.99", lambda n: bisect_right(range(n + 1), n**99, key=lambda power: power**100) - 1),
    ],
)
def test_relative_cutoffs_are_exact_floors_of_at_least_1(
    text: str, formula: Callable[[int], int]
) -> None:
    """Also next to perfect powers and for huge lists, where floating point would miss by one."""
    cutoff = make_cutoff(text)
    assert isinstance(cutoff, RelativeCutoff)
    lengths = [
        0,
        1,
        2,
        4,
        9,
        10,
        15,
        16,
        17,
        99,
        100,
        10**8 - 1,
        10**8,
        3**16 - 1,
        3**16,
        2**52 - 1,
        2**52,
    ]
    assert cutoff.resolve(np.array(lengths)).tolist() == [max(1, formula(n)) for n in lengths]
    assert make_cutoff(cutoff.text) == cutoff


@pytest.mark.parametrize(
    "cutoff",
    [
        0,
        -1,
        1.5,
        True,
        "0",
        "ten",
        "2n^2",
        "n^2",
        "0n",
        "n^0",
        "@10",
        2**63,
        "9" * 5000,
        "9" * 20 + "n",
    ],
)
def test_impossible_cutoffs_are_named(cutoff: object) -> None:
    """A whole number from 1 on, or one of the texts."""
    with pytest.raises(ir.OptionError, match=r"expected a whole number from 1 on, or 0\.2n, sqrt"):
        ir.NDCG(cutoff=cutoff)  # type: ignore[arg-type]


def test_n_is_the_length_of_the_list_that_is_ranked() -> None:
    """After duplicates and skipped documents: ten lines, five of them counted, 0.4n = 2."""
    grades = {f"d{place}": 1.0 for place in range(5)}
    run = [document for document in grades for _ in (0, 1)]
    for switches in ({"duplicates": "first"}, {"duplicates": "first", "unjudged": "skipped"}):
        convention = ir.Convention.of("standard", **switches)
        assert (
            ir.evaluate({"q": grades}, {"q": run}, ["NumRelRet@0.4n"], convention).values[0, 0]
            == 2.0
        )


def test_one_evaluation_serves_many_cutoffs_and_gains() -> None:
    """The same values as one by one."""
    measures = [
        f"nDCG(gain={gain})@{cutoff}" for gain in ("linear", "exp2") for cutoff in (1, 3, "0.5n")
    ] + ["nDCG", "P@2", "AP@4"]
    qrels, run = (
        {"q": {f"d{i}": label for i, label in enumerate(LABELS)}},
        {"q": [f"d{i}" for i in range(6)]},
    )
    together = ir.evaluate(qrels, run, measures)
    for measure in measures:
        assert together[measure].tolist() == ir.evaluate(qrels, run, [measure])[measure].tolist()
