"""`check_measure`: what holds passes, and each broken promise is told in words with an input that
shows it.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import idealrank as ir
from idealrank.data.judged import Hits
from idealrank.data.types import FloatArray
from idealrank.measures import MEASURES
from idealrank.measures.discounts import make_discount
from idealrank.measures.facts import example_of
from idealrank.measures.ranks import hit_weights
from idealrank.measures.terms import RelevantGroups, Terms
from idealrank.testing import check_measure, faults_of
from tests.conftest import examples

FEW = examples(12)


@dataclass(frozen=True, kw_only=True)
class Found(ir.Measure):
    """A weight if a document of at least this grade was returned, else 0."""

    weight: float | None = None

    name: ClassVar[str] = "Found"
    summary: ClassVar[str] = "whether anything relevant was returned"
    bounds: ClassVar[tuple[float, float]] = (0.0, 4.0)
    ties: ClassVar = "not affected"
    cuts: ClassVar = "none"
    samples: ClassVar = {"weight": (None, 2, 4)}

    def compute(self, judged: ir.Judged) -> ir.PerQuery:
        values = np.zeros(judged.n_queries)
        values[judged.relevant(1).hits.query] = self.weight or 1
        return ir.PerQuery(values)


def test_a_class_that_keeps_its_promises_passes() -> None:
    check_measure(Found(weight=2), max_examples=FEW)
    check_measure(Found, max_examples=FEW)
    assert ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, [Found(weight=2), Found()]).mean() == {
        "Found(weight=2)": 2.0,
        "Found": 1.0,
    }


@pytest.mark.parametrize("name", ["nDCG", "AP", "RR", "NumRel"])
def test_listed_measures_pass(name: str) -> None:
    check_measure(example_of(MEASURES[name]), max_examples=FEW)


def test_queries_of_relevant_documents_alone_may_have_a_value_as_arrays() -> None:
    check_measure(ir.AUC(), max_examples=12)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
def test_every_listed_measure_passes(name: str) -> None:
    check_measure(example_of(MEASURES[name]))


class _Unbounded(Found):
    name = "OutOfBounds"
    bounds = (0.0, 0.5)


class _Upside(Found):
    name = "Upside"
    direction = 1
    bounds = (-10.0, 10.0)
    ties = "not offered"

    def compute(self, judged: ir.Judged) -> ir.PerQuery:
        return ir.PerQuery(
            -judged.sum_by_query(judged.hits.query, judged.hits.grade / judged.hits.rank)
        )


class _Affected(Found):
    name = "Affected"
    bounds = (0.0, 10.0)

    def compute(self, judged: ir.Judged) -> ir.PerQuery:
        return ir.PerQuery(
            judged.sum_by_query(judged.hits.query, judged.hits.grade / judged.hits.rank)
        )


class _NoMean(_Affected):
    name = "NoMean"
    ties = "closed form"


class _Together(Found):
    name = "Together"
    bounds = (0.0, 100.0)
    direction = 0

    def compute(self, judged: ir.Judged) -> ir.PerQuery:
        return ir.PerQuery(np.full(judged.n_queries, float(judged.hits.query.size)))


class _Shallow(Found):
    name = "Shallow"

    def depth(self, *, lists: bool = False) -> int:
        return 1


class _Crashing(Found):
    name = "Crashing"

    def compute(self, judged: ir.Judged) -> ir.PerQuery:
        return ir.PerQuery(judged.hits.grade[: judged.n_queries])


class _Blank(Found):
    name = "two words"


class _Taken(Found):
    name = "AP"


class _Undeclared(Found):
    name = "Undeclared"
    power: float = 2.0


class _Wrong(Found):
    name = "Wrong"
    ties = "sometimes"  # type: ignore[assignment]


class _Silent(Found):
    name = "Silent"

    def __str__(self) -> str:
        return "Silent"


class _Summed(Found):
    """By terms that sum to the value."""

    name = "Summed"
    bounds = (0.0, 10.0)
    ties = "closed form"

    def compute(self, judged: ir.Judged) -> ir.PerQuery:
        hits = judged.hits
        return ir.PerQuery(
            judged.sum_by_query(hits.query, self.terms(judged, hits, hits.grade).added)
        )

    def worth(self, grades: FloatArray) -> FloatArray:
        return grades

    def terms(self, judged: ir.Judged, documents: Hits, gains: FloatArray) -> Terms:
        weights = hit_weights(judged, documents, gains, make_discount("reciprocal"), None)
        return Terms(weights, gains * weights)


class _Missummed(_Summed):
    name = "Missummed"

    def compute(self, judged: ir.Judged) -> ir.PerQuery:
        return ir.PerQuery(super().compute(judged).values / 2)


class _Misshared(Found):
    name = "Misshared"

    def worth(self, grades: FloatArray) -> FloatArray:
        return (grades >= 1).astype(np.float64)

    def group_terms(self, groups: RelevantGroups, n_relevant: int, limit: int) -> FloatArray:
        return groups.relevant / 1.0


class _Unmoved(Found):
    """Falls with the number of grades above 1, and says that it rises."""

    name = "Unmoved"
    bounds = (-10.0, 0.0)
    response = "rising"

    def compute(self, judged: ir.Judged) -> ir.PerQuery:
        return ir.PerQuery(
            -judged.sum_by_query(judged.hits.query, (judged.hits.grade > 1).astype(np.float64))
        )


class _Unheard(Found):
    name = "Unheard"
    response = "falling"


class _Apart(ir.AUC):
    """Arrays have 1 for a list of relevant documents alone, not the value of `no_relevant`."""

    name = "Apart"

    def compute(self, judged: ir.Judged) -> ir.PerQuery:
        result = super().compute(judged)
        if not judged.complete:
            return result
        relevant = np.bincount(
            judged.relevant(self.threshold).hits.query, minlength=judged.n_queries
        )
        return ir.PerQuery(np.where(relevant == judged.lengths, 1.0, result.values), result.scored)


class _Omitting(ir.AUC):
    """Tables leave queries of which no document is relevant out, too."""

    name = "Omitting"

    def compute(self, judged: ir.Judged) -> ir.PerQuery:
        result = super().compute(judged)
        if judged.complete:
            return result
        relevant = (
            np.bincount(judged.relevant(self.threshold).hits.query, minlength=judged.n_queries) > 0
        )
        scored = relevant if result.scored is None else result.scored & relevant
        return ir.PerQuery(np.where(scored, result.values, np.nan), scored)


def test_terms_of_ones_own_are_explained_and_attributed() -> None:
    qrels, old, new = {"q": {"a": 3, "b": 1}}, {"q": ["x", "a", "b"]}, {"q": ["a", "b"]}

    summed = _Summed()
    check_measure(summed, max_examples=FEW)
    rows = ir.explain(qrels, old, "q", summed).rows
    found = ir.attribute(qrels, old, new, summed)

    assert [row.contribution for row in rows] == [0, 1.5, pytest.approx(1 / 3)]
    assert found.is_exact
    assert {one.document: one.difference for one in found.documents("q")} == {
        "a": 1.5,
        "b": pytest.approx(1 / 6),
    }


@pytest.mark.spread(3)
@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (_Missummed, "what its documents add does not sum to the value"),
        (_Misshared, "what its documents add does not sum to the value"),
        (_Unbounded, "has 1, bounds say 0 to 0.5; judgments {'q"),
        (_Upside, "the ideal order is not the best"),
        (_Affected, "ties are said not to affect it, and do"),
        (_NoMean, "is not the mean over the orders of ties"),
        (_Together, "queries are not independent"),
        (_Shallow, "it needs hits that it does not ask for"),
        (_Crashing, "fails on some input"),
        (_Blank, "has blanks"),
        (_Taken, "name AP is that of the listed measure AP"),
        (_Undeclared, "option power is no part of the measure; put @dataclass"),
        (_Wrong, "class fact ties='sometimes', expected one of"),
        (_Unmoved, "grades do not move it as it says: query 'q"),
        (_Unheard, "class fact response='falling', expected one of"),
        (_Silent, "two different measures have the text Silent"),
        (_Apart, "arrays and tables disagree: query 'q"),
        (_Omitting, "arrays and tables disagree: query 'q"),
    ],
)
def test_a_broken_promise_is_told_in_words(cls: type[ir.Measure], words: str) -> None:
    with pytest.raises(AssertionError, match="violates its own claims") as raised:
        check_measure(cls(), max_examples=25)
    assert words in str(raised.value)


@pytest.mark.slow
def test_functions_are_held_to_their_facts() -> None:
    @ir.measure(bounds=(0, 1))
    def reward(grades):
        return float((grades > 1).any())

    @ir.measure(bounds=(0, 1))
    def too_much(grades):
        return np.nansum(grades)

    @ir.measure(ties="not affected")
    def top(grades):
        return np.nansum(grades[:1])

    check_measure(reward, max_examples=FEW)
    check_measure(reward @ 2, max_examples=FEW)
    assert [fault.partition(":")[0] for fault in faults_of(too_much, max_examples=25)] == ["bounds"]
    assert "ties are said not to affect it, and do" in {
        fault.partition(":")[0] for fault in faults_of(top, max_examples=25)
    }


def test_the_report_is_the_same_each_time() -> None:
    assert faults_of(_Upside(), max_examples=FEW) == faults_of(_Upside(), max_examples=FEW)


def test_what_is_no_measure_is_refused() -> None:
    with pytest.raises(ir.OptionError, match="expected a measure"):
        check_measure("nDCG")  # type: ignore[arg-type]
