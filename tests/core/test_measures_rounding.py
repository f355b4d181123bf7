"""Rounding as the tools do it: OpenSearch halves up to two decimals, gdeval five as printf, RRE
every term down.
"""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idealrank.conventions import Convention
from idealrank.data.lists import Lists
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.evaluation.evaluate import evaluate, evaluate_lists
from tests.twins import naive_measures


def value(convention: str, measure: str, grades: list[float]) -> float:
    """A measure of one list whose documents are all judged, in this order."""
    qrels = {"q": {f"d{i}": grade for i, grade in enumerate(grades)}}
    return next(
        iter(
            evaluate(Qrels(qrels), Run({"q": list(qrels["q"])}), [measure], convention)
            .mean()
            .values()
        )
    )


def test_opensearch_rounds_halves_up() -> None:
    """The only relevant document at rank 255 has NDCG 1/8 exactly; Java's Math.round makes that
    0.13.
    """
    assert value("opensearch", "nDCG", [0.0] * 254 + [1.0]) == 0.13


def test_opensearch_rounds_its_dcg_too() -> None:
    """DCG is shown with two decimals as well; 7/log2(3) = 4.4165."""
    assert value("opensearch", "DCG@10", [0.0, 3.0]) == 4.42


@pytest.mark.parametrize("convention", ["opensearch", "gdeval,ties=input", "rre"])
def test_arrays_are_rounded_as_tables_are(convention: str) -> None:
    """The rectangular path rounds the same way."""
    grades = [2.0, 0.0, 1.0, 3.0, 0.0]
    lists = Lists.from_arrays([grades], [[5.0, 4.0, 3.0, 2.0, 1.0]])
    for measure in ("nDCG@4", "DCG", "iDCG@2"):
        values = evaluate_lists(lists, [measure], convention).values
        assert values[0, 0] == value(convention, measure, grades)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_rre_floors_exact_decimals(grades: list[int]) -> None:
    """0.58 / 2.00 is 0.29, although the nearest binary numbers give 28.999999999999996
    hundredths.
    """
    query = naive_measures.prepare(
        {f"d{i}": grade for i, grade in enumerate(grades)},
        [(f"d{i}", -float(i)) for i in range(len(grades))],
        Convention.of("rre").switches(),
    )
    for text in (
        "nDCG(discount=log2,gain=exp2,ideal=judged,no_relevant=zero,rounding=floor-2)@10",
        "DCG(discount=log2,gain=exp2,rounding=floor-2)@10",
    ):
        expected = naive_measures.value(text, query, "input")
        assert (
            value("rre", text.partition("(")[0] + "@10", [float(grade) for grade in grades])
            == expected
        )


@given(st.integers(1, 4000), st.integers(1, 3))
def test_gdeval_rounds_as_printf(rank: int, grade: int) -> None:
    """Five decimals of the exact binary value."""
    expected = float(f"{1 / math.log2(rank + 1):.5f}")
    assert value("gdeval", "nDCG", [0.0] * (rank - 1) + [float(grade)]) == expected
