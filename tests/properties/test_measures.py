"""What must hold for every listed measure; listing a measure tests it."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idealrank.conventions import PRESETS, Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.evaluation.evaluate import Evaluation, evaluate
from idealrank.measures import MEASURES
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.testing import Grades, Scores, conventions, judgments, measures, missing_facts, runs
from tests.golden.harness import quietly
from tests.properties.refusals import offers_expected, within_offer

OF_GRADES = [name for name, cls in MEASURES.items() if not cls.needs and cls.aggregate != "text"]
BETTER_IS_MORE = [
    name for name in OF_GRADES if MEASURES[name].direction == 1 and MEASURES[name].ideal_is_best
]
# Floored terms may lose a hundredth in the ideal order that another order keeps, so only unrounded
# values are bounded and ordered.
EXACT = {"rounding": "none"}
EXAMPLES = settings().max_examples // 2


def evaluated(qrels: Grades, run: Scores, measure: Measure, convention: Convention) -> Evaluation:
    """The evaluation, without warnings about what the convention does."""
    evaluation: Evaluation = quietly(evaluate, Qrels(qrels), Run(run), [measure], convention)
    return evaluation


def unrounded(measure: Measure) -> Measure:
    """The same measure without rounding."""
    return (
        replace(measure, rounding="none")
        if any(field.name == "rounding" for field in fields(measure))
        else measure
    )


@pytest.mark.parametrize("name", MEASURES)
def test_the_class_states_its_facts(name: str) -> None:
    """Kind, aggregate, direction, bounds, ties, summary: a measure without them fails here."""
    assert missing_facts(MEASURES[name]) == []
    assert MEASURES[name].name == name


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_the_text_reads_back(name: str, data: st.DataObject) -> None:
    """A measure, and the same measure resolved by any preset, equal what their texts say."""
    measure = data.draw(measures([MEASURES[name]]))
    resolved = measure.under(Convention.of(data.draw(st.sampled_from(sorted(PRESETS)))))
    for one in (measure, resolved):
        assert parse_measure(str(one)) == one
        assert hash(parse_measure(str(one))) == hash(one)


@pytest.mark.spread(24)
@pytest.mark.parametrize("name", OF_GRADES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_values_stay_within_the_bounds(name: str, data: st.DataObject) -> None:
    """For grades of 0 or more; NaN is the policy of that name."""
    measure = unrounded(data.draw(measures([MEASURES[name]])))
    drawn = data.draw(
        conventions(duplicates="error", unjudged="not-relevant", missing="zero", **EXACT)
    )
    convention = within_offer(measure, drawn)
    values = evaluated(data.draw(judgments()), data.draw(runs()), measure, convention).values
    low, high = measure.bounds
    assert np.all(np.isnan(values) | ((values >= low - 1e-12) & (values <= high + 1e-12)))


@pytest.mark.spread(24)
@pytest.mark.parametrize("name", BETTER_IS_MORE)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_order_beats_the_ideal_order(name: str, data: st.DataObject) -> None:
    """The documents of a list, sorted by gain, score at least what they score in any order; NDCG of
    the ideal list is 1.
    """
    measure = unrounded(data.draw(measures([MEASURES[name]])))
    # A class may offer other numbers beside the one that is better for being larger.
    measure = replace(measure, of=None) if hasattr(measure, "of") else measure
    ties = data.draw(st.sampled_from(("docid", "input", "expected", "best", "worst")))
    convention = within_offer(measure, Convention.of("standard", ties=ties))
    qrels, run = data.draw(judgments(queries=["q1"])), data.draw(runs(queries=["q1"]))
    grades = qrels["q1"]
    gain = getattr(measure.under(convention), "gain", None)
    # To a measure with a threshold an unjudged document is worth less than any judged one; to a
    # gain it is worth 0.
    worth = {
        d: float(gain(np.array([grades[d]]))[0])
        if gain and d in grades
        else grades.get(d, 0.0 if gain else -math.inf)
        for d in run["q1"]
    }
    ideal = {
        "q1": {
            d: -float(place)
            for place, d in enumerate(sorted(worth, key=lambda d: (-worth[d], d not in grades)))
        }
    }
    best = evaluated(qrels, ideal, measure, convention).values[0, 0]
    value = evaluated(qrels, run, measure, convention).values[0, 0]
    assert value <= best + 1e-12 or math.isnan(best)


@pytest.mark.parametrize("cutoff", [None, 1, 3, "0.5n"])
@given(qrels=judgments(grades=(0, 1, 2, 3)), preset=st.sampled_from(sorted(PRESETS)))
def test_the_ideal_list_has_ndcg_1(cutoff: int | str | None, qrels: Grades, preset: str) -> None:
    """Under every preset: all judged documents returned, best first, in every query with a relevant
    one.
    """
    run = {
        query: {
            d: -float(place) for place, d in enumerate(sorted(grades, key=lambda d: -grades[d]))
        }
        for query, grades in qrels.items()
    }
    measure = MEASURES["nDCG"](cutoff=cutoff)  # type: ignore[arg-type]
    evaluation = evaluated(qrels, run, measure, Convention.of(preset))
    linear = str(evaluation.convention.switches()["discount"]) == "linear"
    for query, value in zip(
        evaluation.queries, evaluation["nDCG" if cutoff is None else f"nDCG@{cutoff}"], strict=True
    ):
        lone = linear and len(qrels[query]) == 1  # the only weight, n - 1, is 0
        uncut = preset == "quepid" and cutoff is not None
        if max(qrels[query].values()) > 0 and not lone and not uncut:
            assert value == pytest.approx(1.0, abs=1e-12)


@pytest.mark.spread(24)
@pytest.mark.parametrize("name", OF_GRADES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_names_of_documents_do_not_matter(name: str, data: st.DataObject) -> None:
    """Other ids in the same places give the same bits, unless ties go by id."""
    measure = data.draw(measures([MEASURES[name]]))
    expected = offers_expected(measure, Convention.of("standard"))
    ties = data.draw(
        st.sampled_from(("input", "expected") if expected else ("input", "best", "worst"))
    )
    convention = data.draw(
        conventions(
            ties=ties,
            duplicates="error",
            unjudged="not-relevant",
            missing="zero",
            negative="zero",
            **EXACT,
        )
    )
    qrels, run = data.draw(judgments()), data.draw(runs())
    other = {
        query: {f"x{d[::-1]}": grade for d, grade in grades.items()}
        for query, grades in qrels.items()
    }
    renamed = {
        query: {f"x{d[::-1]}": score for d, score in scores.items()}
        for query, scores in run.items()
    }
    np.testing.assert_array_equal(
        evaluated(qrels, run, measure, convention).values,
        evaluated(other, renamed, measure, convention).values,
        strict=True,
    )


@pytest.mark.spread(24)
@pytest.mark.parametrize("name", OF_GRADES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_the_order_of_tied_documents_does_not_matter_when_ties_are_averaged(
    name: str, data: st.DataObject
) -> None:
    """Expected values do not see in which order tied documents came."""
    measure = unrounded(data.draw(measures([MEASURES[name]])))
    drawn = Convention.of(
        "standard", ties=data.draw(st.sampled_from(("expected", "best", "worst")))
    )
    convention = within_offer(measure, drawn, instead="worst")
    qrels, run = data.draw(judgments()), data.draw(runs(scores=(1.0, 2.0)))
    turned = {query: dict(reversed(scores.items())) for query, scores in run.items()}
    found, expected = (
        evaluated(qrels, table, measure, convention).per_query() for table in (turned, run)
    )
    for query, values in expected.items():
        assert found[query] == pytest.approx(values, abs=1e-12, nan_ok=True)


@pytest.mark.spread(24)
@pytest.mark.parametrize("name", OF_GRADES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_queries_are_independent(name: str, data: st.DataObject) -> None:
    """A query's value has the same bits alone as among others, and twice in a row."""
    measure = data.draw(measures([MEASURES[name]]))
    convention = data.draw(
        conventions(
            duplicates="error",
            unjudged="not-relevant",
            missing="zero",
            negative="zero",
            ties="input",
            **EXACT,
        )
    )
    qrels, run = data.draw(judgments()), data.draw(runs())
    together = evaluated(qrels, run, measure, convention).per_query()
    assert repr(evaluated(qrels, run, measure, convention).per_query()) == repr(together)
    for query, values in together.items():
        alone = evaluated(
            {query: qrels[query]} if query in qrels else {"other": {"d": 0.0}},
            {query: run[query]} if query in run else {},
            measure,
            convention,
        )
        assert repr(alone.per_query()[query]) == repr(values)
