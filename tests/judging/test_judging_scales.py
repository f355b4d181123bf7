"""Tables from grades of a source to a common scale, and two scales that are not held against each
other without one.
"""

from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import IdealrankError, IncompatibleError, InputError, OptionError
from idealrank.judging import ScaleTable, on_one_scale

WORDS = {"q1": {"a": "Perfect", "b": "Bad", "c": "Good"}, "q2": {"a": "Fair"}}
NUMBERS = {"q1": {"a": 4, "b": 0, "c": 2}, "q2": {"a": 1}}
RUN = {"q1": ["b", "c", "a"], "q2": ["a"]}


def test_words_become_the_grades_of_the_table() -> None:
    found = ScaleTable.of("Perfect to Bad").map(WORDS)

    assert {query: found[query] for query in WORDS} == NUMBERS
    assert (
        ir.evaluate(found, RUN, "nDCG(gain=exp2)@10").mean()
        == ir.evaluate(NUMBERS, RUN, "nDCG(gain=exp2)@10").mean()
    )


@pytest.mark.parametrize(
    ("name", "grades"), [("0-2 to 0-4", [0, 1, 2]), ("stars", [1, 2, 3, 4, 5])]
)
def test_tables_of_numbers_keep_the_order_and_map_qrels_as_mappings(
    name: str, grades: list[int]
) -> None:
    judged = {"q": {f"d{grade}": grade for grade in grades}}

    mapped = [ScaleTable.of(name).map(one)["q"] for one in (judged, ir.Qrels(judged))]

    assert mapped[0] == mapped[1]
    assert list(mapped[0].values()) == sorted(mapped[0].values())
    assert max(mapped[0].values()) == 4


def test_a_table_of_zero_and_more_makes_ndcg_depend_on_it() -> None:
    judged = {"q": {"a": 1, "b": 2, "c": 0}}
    linear, convex = (ScaleTable({0: 0, 1: 1, 2: top}).map(judged) for top in (2, 5))

    values = [
        ir.evaluate(one, {"q": ["a", "b"]}, "nDCG").mean()["nDCG"] for one in (linear, convex)
    ]

    assert values[0] > values[1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ScaleTable({}), OptionError, "found no grade"),
        (lambda: ScaleTable({1: float("inf")}), OptionError, "found inf for grade 1"),
        (lambda: ScaleTable({"a": "b"}), OptionError, "found 'b' for grade 'a'"),  # type: ignore[dict-item]
        (lambda: ScaleTable({1: 1, "1.0": 2}), OptionError, "found grade '1.0' twice"),
        (lambda: ScaleTable.of("nan:1"), OptionError, "found nan"),
        (lambda: ScaleTable.of("0:0").map({"q": {"a": None}}), InputError, "found grade None"),  # type: ignore[dict-item]
        (
            lambda: ScaleTable.of("0:0,1"),
            OptionError,
            "expected a grade and a number, as in 0:0,1:2,2:4",
        ),
        (lambda: ScaleTable.of("0:0,0.0:1"), OptionError, "twice"),
        (
            lambda: ScaleTable({0: 0}).map({"q": {"a": 3}}, source="web"),
            InputError,
            "web: found grade 3, expected one of the scale table: 0",
        ),
        (lambda: ScaleTable({0: 0}).map(ir.Qrels({"q": {"a": 3}})), InputError, "found grade 3.0"),
        (
            lambda: on_one_scale({"a": NUMBERS}, {"b": ScaleTable.of("stars")}),
            OptionError,
            "expected one of a",
        ),
    ],
)
def test_a_refusal_says_what_was_found(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_two_scales_without_a_table_are_refused_with_the_reason() -> None:
    sources = {"web": {"q": {"a": 2, "b": 0}}, "shop": {"q": {"a": 4, "b": 1}}}
    same = ScaleTable({grade: grade for grade in range(5)})

    with pytest.raises(
        InputError, match=r"web to 2, shop to 4\) and no scale table, expected one scale"
    ):
        on_one_scale(sources)
    with pytest.raises(InputError, match="shop: found sources with different highest grades"):
        on_one_scale(sources, {"web": ScaleTable({0: 0, 1: 1, 2: 3})})
    assert on_one_scale(sources, {"web": ScaleTable.of("0-2 to 0-4"), "shop": same})["web"][
        "q"
    ] == {"a": 4, "b": 0}
    assert on_one_scale(sources, {"web": ScaleTable.of("0-2 to 0-4")})["shop"]["q"] == {
        "a": 4,
        "b": 1,
    }


def test_results_of_two_scales_are_not_compared_without_a_table() -> None:
    three = {f"q{n}": {"a": 2, "b": n % 3, "c": 0} for n in range(6)}
    five = {query: {name: 2 * grade for name, grade in of.items()} for query, of in three.items()}
    runs = [dict.fromkeys(three, ranking) for ranking in (["a", "b"], ["b", "a"])]
    one, other = (
        ir.evaluate(qrels, run, "nDCG", keep_unjudged=True)
        for qrels, run in zip((three, five), runs, strict=True)
    )
    mapped = ir.evaluate(
        ScaleTable.of("0-2 to 0-4").map(three), runs[0], "nDCG", keep_unjudged=True
    )

    with pytest.raises(
        IncompatibleError, match="grades to 2 and to 4, which are two scales"
    ) as caught:
        ir.compare(one, other, judgments="different")
    assert "map the grades of one source" in str(caught.value)
    assert ir.compare(mapped, other)["nDCG"].n == 6  # a table makes them one scale
    assert ir.compare(one, other, judgments="different scales")["nDCG"].n == 6  # or it is meant
    with pytest.raises(IdealrankError):
        ir.compare(one, other)
