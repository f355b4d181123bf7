"""Measures as classes of the user's own: names that are taken, and results of the wrong form, are
refused by name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import OptionError
from idealrank.measures.bpref import RunningBpref
from idealrank.measures.cutoffs import RelativeCutoff
from idealrank.measures.measure import number_option
from idealrank.measures.parse import parse_measures

QRELS = {"q1": {"a": 3, "b": 1}, "q2": {"d": 2}}
RUN = {"q1": ["x", "a", "b"], "q2": ["d", "y"]}


def _class(name: str, base: type[ir.Measure] = ir.Measure) -> type[ir.Measure]:
    @dataclass(frozen=True, kw_only=True)
    class Own(base):  # type: ignore[misc, valid-type]
        summary: ClassVar[str] = "relevant documents"
        bounds: ClassVar[tuple[float, float]] = (0.0, 100.0)

        def compute(self, judged: ir.Judged) -> ir.PerQuery:
            return ir.PerQuery(np.full(judged.n_queries, 7.0))

    Own.name = name
    return Own


@pytest.mark.parametrize(
    ("name", "listed"), [("P", "P"), ("p", "P"), ("NDCG", "nDCG"), ("numrelret", "NumRelRet")]
)
def test_a_class_with_the_name_of_a_listed_measure_is_refused(name: str, listed: str) -> None:
    with pytest.raises(
        ir.OptionError,
        match=f"measure '{name}': found the name of the listed measure {listed}, expected a name "
        f"of",
    ):
        ir.evaluate(QRELS, RUN, ["nDCG@10", _class(name)(cutoff=10)])


def test_a_class_derived_from_a_listed_measure_needs_a_name_of_its_own() -> None:
    with pytest.raises(ir.OptionError, match="found the name of the listed measure P"):
        ir.evaluate(QRELS, RUN, _class("P", ir.P)(cutoff=10))
    assert ir.evaluate(QRELS, RUN, _class("OwnP", ir.P)(cutoff=10)).mean() == {"OwnP@10": 7.0}


@pytest.mark.parametrize("call", ["compare", "report", "gate"])
def test_no_entry_takes_a_name_that_is_taken(call: str) -> None:
    with pytest.raises(ir.OptionError, match="found the name of the listed measure P"):
        getattr(ir, call)(QRELS, RUN, RUN, measures=["nDCG@10", _class("P")(cutoff=10)])


def test_listed_measures_and_what_adds_them_up_otherwise_keep_their_names() -> None:
    assert str(parse_measures(RunningBpref())[0]) == "Bpref"
    assert ir.evaluate(QRELS, RUN, [ir.P(cutoff=1), ir.NDCG(cutoff=1)]).mean() == {
        "P@1": 0.5,
        "nDCG@1": 0.5,
    }


@pytest.mark.parametrize(
    ("gives", "found"),
    [
        (lambda n: ir.PerQuery(np.zeros(n + 3)), r"values of type float64 and shape \(5,\)"),
        (lambda n: ir.PerQuery(np.zeros((n, 1))), r"values of type float64 and shape \(2, 1\)"),
        (lambda n: ir.PerQuery(np.array(["a"] * n)), r"values of type <U1 and shape \(2,\)"),
        (lambda n: ir.PerQuery([0.5] * n), "values of type list"),
        (
            lambda n: ir.PerQuery(np.zeros(n), np.zeros(n + 1, bool)),
            r"scored of type bool and shape \(3,\)",
        ),
        (
            lambda n: ir.PerQuery(np.zeros(n), np.zeros(n)),
            r"scored of type float64 and shape \(2,\)",
        ),
        (np.zeros, "ndarray"),
        (lambda n: None, "NoneType"),
    ],
)
def test_a_result_of_the_wrong_form_is_refused_by_the_name_of_the_measure(
    gives: Callable[[int], Any], found: str
) -> None:
    kind = "bool" if found.startswith("scored") else "numeric"

    @dataclass(frozen=True, kw_only=True)
    class Own(ir.Measure):
        name: ClassVar[str] = "Own"
        summary: ClassVar[str] = "whatever"

        def compute(self, judged: ir.Judged) -> ir.PerQuery:
            return gives(judged.n_queries)

    with pytest.raises(
        ir.OptionError,
        match=f"measure Own: compute gave {found}, expected PerQuery with a {kind} array of shape",
    ):
        ir.evaluate(QRELS, RUN, Own())


def test_values_of_a_measure_may_be_whole_numbers() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Own(ir.Measure):
        name: ClassVar[str] = "Own"
        summary: ClassVar[str] = "whatever"

        def compute(self, judged: ir.Judged) -> ir.PerQuery:
            return ir.PerQuery(np.ones(judged.n_queries, np.int64))  # type: ignore[arg-type]

    assert ir.evaluate(QRELS, RUN, Own()).mean() == {"Own": 1.0}


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({}, "a number"),
        ({"low": 6}, "a number of at least 6"),
        ({"high": 3}, "a number of at most 3"),
        ({"low": 1, "high": 3}, "a number from 1 to 3"),
    ],
)
def test_a_number_out_of_bounds_is_told_its_bounds(bounds: dict[str, float], expected: str) -> None:
    value = 5 if bounds else "five"
    with pytest.raises(ir.OptionError, match=f"x='?{value}'?: expected {expected}$"):
        number_option("x", value, **bounds)


def test_a_class_without_a_name_is_refused_in_words() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Own(ir.Measure):
        summary: ClassVar[str] = "whatever"

    for name, found in ((None, "no name"), (7, "name = 7")):
        if name is not None:
            Own.name = name  # type: ignore[assignment]
        with pytest.raises(
            ir.OptionError,
            match=f"measure Own: found {found}, expected a text, as in name: ClassVar",
        ):
            ir.evaluate(QRELS, RUN, Own())


@pytest.mark.parametrize("text", ["bogus", "n^2", "0n", "\u0662n"])
def test_a_cutoff_that_is_no_function_of_the_length_is_refused_when_it_is_built(text: str) -> None:
    with pytest.raises(OptionError, match="expected sqrt"):
        RelativeCutoff(text)
