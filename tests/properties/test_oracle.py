"""Every measure under every convention equals its definition, written slowly: closed forms of ties
against all orders, and all the rest.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idealrank.conventions import PRESETS, Convention
from idealrank.data.lists import Lists
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import evaluate, evaluate_lists
from idealrank.measures import MEASURES
from idealrank.measures.dcg import NDCG
from idealrank.measures.facts import families
from idealrank.measures.measure import Measure
from idealrank.testing import Grades, conventions, judgments, lists, measures
from idealrank.testing.strategies import DOCUMENTS, SCORES
from tests.golden.harness import quietly
from tests.properties.refusals import offers_expected, within_offer
from tests.twins import naive_measures as naive

Rows = dict[str, list[tuple[str, float]]]
Values = dict[str, float | None]

GRADES = (-2, -1, 0, 0.5, 1, 2, 2.5, 3)
WHOLE_GRADES = (-2, -1, 0, 1, 2, 3)
EXAMPLES = settings().max_examples // 2
OF_GRADES = [name for name, cls in MEASURES.items() if not cls.needs and cls.aggregate != "text"]


def test_every_family_has_its_oracles_in_the_file_of_its_name() -> None:
    expected = {
        family: {cls.name for cls in classes} & {*OF_GRADES}
        for family, classes in families().items()
    }
    found = {
        family: {*tables["VALUES"]}
        for family, tables in naive.FAMILIES.items()
        if "VALUES" in tables
    }

    assert found == {family: names for family, names in expected.items() if names}


@cache  # a strategy is checked when it is first drawn from
def rows() -> st.SearchStrategy[Rows]:
    """Runs whose lists may hold a document twice."""
    item = st.tuples(st.sampled_from(DOCUMENTS), st.sampled_from(SCORES))
    unique = st.lists(item, min_size=1, max_size=5, unique_by=lambda row: row[0])
    return st.dictionaries(
        st.sampled_from(("q1", "q2", "q3")),
        unique | st.lists(item, min_size=1, max_size=5),
        min_size=1,
    )


def run_of(table: Rows) -> Run:
    """A run with its rows in this order."""
    flat = [
        (query, document, score) for query, ranked in table.items() for document, score in ranked
    ]
    return Run.from_columns(
        [row[0] for row in flat], [row[1] for row in flat], np.array([row[2] for row in flat])
    )


def expected_of(
    qrels: Grades, run: Rows, measure: Measure, convention: Convention
) -> Values | None:
    """What the oracle says; None when it refuses the input or no query counts."""
    try:
        return (
            naive.evaluate(qrels, run, str(measure.under(convention)), convention.switches())
            or None
        )
    except naive.NaiveError:
        return None


def found_in(qrels: Grades, run: Rows, measure: Measure, convention: Convention) -> Values | None:
    """What the library says; None when it refuses the input."""
    try:
        evaluation = quietly(evaluate, Qrels(qrels), run_of(run), [measure], convention)
    except InputError:
        return None
    return {query: next(iter(values.values())) for query, values in evaluation.per_query().items()}


def assert_same(found: Values | None, expected: Values | None) -> None:
    """Equal to 1e-11, relative to values above 1; None and NaN only equal themselves."""
    assert (found is None) == (expected is None), (found, expected)
    if found is None or expected is None:
        return
    assert list(found) == list(expected)
    for query, value in expected.items():
        ours = found[query]
        if value is None or ours is None or math.isnan(value):
            assert repr(ours) == repr(value)
        else:
            assert ours == pytest.approx(value, rel=1e-11, abs=1e-11)


@pytest.mark.spread(24)
@pytest.mark.parametrize("name", OF_GRADES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_tables_equal_the_definition(name: str, data: st.DataObject) -> None:
    """Judgments and runs, any switches, any options."""
    measure = data.draw(measures([MEASURES[name]]), label="measure")
    convention = within_offer(measure, data.draw(conventions(), label="convention"))
    grades = WHOLE_GRADES if "{" in str(measure) else GRADES
    qrels, run = data.draw(judgments(grades=grades), label="qrels"), data.draw(rows(), label="run")
    assert_same(
        found_in(qrels, run, measure, convention), expected_of(qrels, run, measure, convention)
    )


@pytest.mark.spread(24)
@pytest.mark.parametrize("name", OF_GRADES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_ties_equal_the_mean_best_and_worst_of_all_orders(name: str, data: st.DataObject) -> None:
    """Tied groups with unjudged members, cutoffs inside them, kept negative grades: closed form
    against enumeration.
    """
    measure = data.draw(measures([MEASURES[name]]), label="measure")
    ties = data.draw(st.sampled_from(("expected", "best", "worst")))
    drawn = data.draw(
        conventions(ties=ties, duplicates="first", rounding="none"), label="convention"
    )
    convention = within_offer(measure, drawn, instead="worst")
    item = st.tuples(st.sampled_from(DOCUMENTS), st.sampled_from((1.0, 1.0, 2.0)))
    run = {
        "q1": data.draw(
            st.lists(item, min_size=2, max_size=6, unique_by=lambda row: row[0]), label="run"
        )
    }
    qrels = data.draw(judgments(grades=WHOLE_GRADES, queries=["q1"]), label="qrels")
    assert_same(
        found_in(qrels, run, measure, convention), expected_of(qrels, run, measure, convention)
    )


STRADDLING_CUTOFFS = (2, 3, 4)


def straddling_ties() -> tuple[Grades, Rows]:
    """One query for each choice of grades, three or more of them relevant, of four tied documents
    at ranks 2 to 5.

    A document stands above the tie, one below, and one relevant document is not returned.
    """
    tied = [
        grades
        for grades in combinations_with_replacement((None, 0, 1, 3), 4)
        if sum(bool(grade) for grade in grades) >= 3
    ]
    qrels: Grades = {}
    run: Rows = {}
    for number, (grades, first) in enumerate(product(tied, (0, 2))):
        judged = {
            f"d{place}": float(grade) for place, grade in enumerate(grades) if grade is not None
        }
        qrels[f"q{number}"] = {"first": float(first), **judged, "last": 1.0, "missing": 2.0}
        run[f"q{number}"] = [
            ("first", 2.0),
            *((f"d{place}", 1.0) for place in range(4)),
            ("last", 0.0),
        ]
    return qrels, run


def straddled(name: str) -> list[Measure]:
    """The measure with its options unset, at cutoffs inside the tie, or at levels of recall reached
    there.
    """
    cls = MEASURES[name]
    if cls.after_at == "recall":
        return [cls(recall=recall) for recall in (0.5, 0.7)]  # type: ignore[call-arg]
    return [cls()] if cls.cuts == "none" else [cls(cutoff=cutoff) for cutoff in STRADDLING_CUTOFFS]


@pytest.mark.spread(67)
@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@pytest.mark.parametrize("name", OF_GRADES)
def test_a_tie_across_the_cutoff_equals_the_mean_best_and_worst_of_all_orders(
    name: str, ties: str
) -> None:
    """Not drawn but enumerated: examples rarely hold three relevant documents in one tie, where a
    wrong order of gains shows.
    """
    qrels, run = straddling_ties()
    for measure in straddled(name):
        convention = within_offer(measure, Convention.of("standard", ties=ties), instead="worst")
        assert_same(
            found_in(qrels, run, measure, convention), expected_of(qrels, run, measure, convention)
        )


@pytest.mark.parametrize("preset", PRESETS)
@settings(max_examples=EXAMPLES // 2)
@given(data=st.data())
def test_every_preset_equals_the_definition(preset: str, data: st.DataObject) -> None:
    """The presets' own combinations of switches, for NDCG at several cutoffs."""
    measure = data.draw(measures([NDCG]).map(lambda m: NDCG(cutoff=m.cutoff)), label="measure")
    qrels, run = (
        data.draw(judgments(grades=WHOLE_GRADES), label="qrels"),
        data.draw(rows(), label="run"),
    )
    convention = Convention.of(preset)
    assert_same(
        found_in(qrels, run, measure, convention), expected_of(qrels, run, measure, convention)
    )


def naive_lists(
    queries: Sequence[Sequence[tuple[float, float]]], measure: Measure, convention: Convention
) -> Values | None:
    """The oracle on arrays: every item is judged and returned."""
    switches = convention.switches()
    switches["ties"] = "expected" if switches["ties"].startswith("docid") else switches["ties"]
    text = str(measure.under(convention))
    order = naive.Asked.read(text).options.get("ties", switches["ties"])
    values: Values = {}
    for number, items in enumerate(queries):
        grades = {f"d{i}": label for i, (label, _) in enumerate(items)}
        ranked = [(f"d{i}", score) for i, (_, score) in enumerate(items)]
        try:
            query = replace(
                naive.prepare(grades, ranked, {**switches, "ties": order}), complete=True
            )
            values[str(number)] = naive.value(text, query, order)
        except naive.NaiveError:
            return None
    return values


@pytest.mark.spread(24)
@pytest.mark.parametrize("name", OF_GRADES)
@settings(max_examples=2 * EXAMPLES)
@given(data=st.data())
def test_arrays_equal_the_definition(name: str, data: st.DataObject) -> None:
    """Labels and scores, lists of equal and of different lengths, ties across the cutoff."""
    measure = data.draw(measures([MEASURES[name]]), label="measure")
    convention = data.draw(conventions(), label="convention")
    width = data.draw(st.integers(0, 5), label="width of equal lists, or 0")
    grades = WHOLE_GRADES if "{" in str(measure) else GRADES
    queries = data.draw(lists(grades=grades), label="lists")
    if width:
        queries = [(items * width)[:width] if items else [(1.0, 0.0)] * width for items in queries]
    # arrays have no document ids, and refuse these ties where they are asked for
    if convention.alignment.ties.startswith("docid"):
        convention = Convention.of(convention, ties="expected")
    if not offers_expected(measure, convention) and convention.alignment.ties == "expected":
        convention = Convention.of(convention, ties="input")
    labels = np.array([label for items in queries for label, _ in items])
    scores = np.array([score for items in queries for _, score in items])
    try:
        evaluation = quietly(
            evaluate_lists,
            Lists.from_arrays(labels, scores, group=[len(items) for items in queries]),
            [measure],
            convention,
        )
        found: Values | None = {
            query: next(iter(values.values())) for query, values in evaluation.per_query().items()
        }
    except InputError:
        found = None
    assert_same(found, naive_lists(queries, measure, convention))
