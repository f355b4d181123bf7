"""Measures of preferences and of several assessors against their definitions, and what must hold
for all of them.
"""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idealrank.conventions import Convention
from idealrank.data.assessors import AssessorQrels
from idealrank.data.preference_qrels import PreferenceQrels
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.evaluation.evaluate import Evaluation, evaluate
from idealrank.measures import MEASURES
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.testing import (
    Grades,
    GroupedLevels,
    Scores,
    assessors,
    judgments,
    measures,
    preferences,
    runs,
)
from tests.golden.harness import quietly
from tests.twins import naive_preferences as naive

OF_PREFERENCES = [name for name, cls in MEASURES.items() if cls.needs == ("preferences",)]
OF_ASSESSORS = ["AP_avgjg", "P_avgjg@3", "Rprec_avgjg(mult=0.6)", "Rprec_avgjg(mult=2)"]
TIES = st.sampled_from(("docid", "input", "expected"))
EXAMPLES = settings(max_examples=max(10, settings().max_examples // 4))


def evaluated(
    table: PreferenceQrels | AssessorQrels | Qrels,
    run: Scores,
    measure: Measure | str,
    convention: Convention,
) -> Evaluation:
    """The evaluation, without warnings about what the convention does."""
    evaluation: Evaluation = quietly(evaluate, table, Run(run), [measure], convention)
    return evaluation


@pytest.mark.parametrize("name", OF_PREFERENCES)
@given(data=st.data())
def test_preferences_equal_the_definition(name: str, data: st.DataObject) -> None:
    """Every option, groups of one and several sub-groups, ties by id, by input, and averaged over
    all orders.
    """
    measure = data.draw(measures([MEASURES[name]]))
    table, run = data.draw(preferences()), data.draw(runs())
    ties = data.draw(TIES)
    evaluation = evaluated(
        PreferenceQrels(table),
        run,
        measure,
        Convention.of("standard", ties=ties, no_relevant="zero"),
    )
    options = {
        "among": getattr(measure, "among", None) or "all",
        "surplus": getattr(measure, "surplus", None) or "printed",
    }
    policy = {"one": 1.0, "nan": math.nan, "left-out": math.nan}.get(
        getattr(measure, "no_relevant", None) or "zero", 0.0
    )
    for query, value in zip(evaluation.queries, evaluation.values[:, 0], strict=True):
        groups = list(table[query].values())
        expected = (
            naive.value(name, groups, run.get(query, {}), ties, **options)
            if naive.is_defined(name, groups)
            else policy
        )
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.spread(3)
@pytest.mark.parametrize("name", OF_PREFERENCES)
@EXAMPLES
@given(data=st.data())
def test_values_stay_within_the_bounds(name: str, data: st.DataObject) -> None:
    """Whatever the tie rule; NaN is the policy of that name."""
    measure, run = data.draw(measures([MEASURES[name]])), data.draw(runs())
    convention = Convention.of("standard", ties=data.draw(TIES))
    values = evaluated(PreferenceQrels(data.draw(preferences())), run, measure, convention).values
    low, high = measure.bounds
    assert np.all(np.isnan(values) | ((values >= low) & (values <= high)))


def renamed(table: Mapping[str, GroupedLevels], run: Scores) -> tuple[GroupedLevels, Scores]:
    """Other ids in the same places."""
    groups = {
        query: {
            group[::-1]: [{f"x{d[::-1]}": level for d, level in part.items()} for part in parts]
            for group, parts in groups.items()
        }
        for query, groups in table.items()
    }
    return groups, {
        query: {f"x{d[::-1]}": score for d, score in scores.items()}
        for query, scores in run.items()
    }


@pytest.mark.spread(3)
@pytest.mark.parametrize("name", OF_PREFERENCES)
@EXAMPLES
@given(data=st.data())
def test_names_of_documents_and_groups_do_not_matter(name: str, data: st.DataObject) -> None:
    """The same bits, unless ties go by id."""
    measure = data.draw(measures([MEASURES[name]]))
    table, run = data.draw(preferences()), data.draw(runs())
    ties = data.draw(TIES)
    convention = Convention.of("standard", ties="input" if ties == "docid" else ties)
    other, turned = renamed(table, run)
    np.testing.assert_array_equal(
        evaluated(PreferenceQrels(table), run, measure, convention).values,
        evaluated(PreferenceQrels(other), turned, measure, convention).values,
    )


@pytest.mark.spread(3)
@pytest.mark.parametrize("name", OF_PREFERENCES)
@EXAMPLES
@given(data=st.data())
def test_queries_are_independent(name: str, data: st.DataObject) -> None:
    """A query's value has the same bits alone as among others."""
    measure = data.draw(measures([MEASURES[name]]))
    table, run = data.draw(preferences()), data.draw(runs())
    convention = Convention.of("standard", ties=data.draw(TIES))
    together = evaluated(PreferenceQrels(table), run, measure, convention).per_query()
    for query, values in together.items():
        alone = evaluated(
            PreferenceQrels({query: table[query]}),
            {query: run[query]} if query in run else {},
            measure,
            convention,
        )
        assert repr(alone.per_query()[query]) == repr(values)


@given(qrels=judgments(grades=(0, 1, 2, 3.5)), run=runs(), ties=TIES)
def test_graded_judgments_are_one_group_of_preferences(
    qrels: Grades, run: Scores, ties: str
) -> None:
    """Made of qrels, or written down as one group of each query: the same values."""
    written = PreferenceQrels({query: {"0": grades} for query, grades in qrels.items()})
    made = PreferenceQrels.from_qrels(Qrels(qrels))
    assert made.n_preferences == written.n_preferences
    for text in ("prefs_simp", "prefs_pair_ret", "prefs_num_prefs_ful", "prefs_avgjg_imp"):
        convention = Convention.of("standard", ties=ties)
        np.testing.assert_array_equal(
            evaluated(made, run, text, convention).values,
            evaluated(written, run, text, convention).values,
            strict=True,
        )


@pytest.mark.parametrize("text", OF_ASSESSORS)
@given(table=assessors(), run=runs(), ties=TIES)
def test_assessors_equal_the_definition(
    text: str, table: dict[str, Grades], run: Scores, ties: str
) -> None:
    """The mean over groups, and over all orders where ties are averaged."""
    measure = parse_measure(text)
    evaluation = evaluated(AssessorQrels(table), run, measure, Convention.of("standard", ties=ties))
    for query, value in zip(evaluation.queries, evaluation.values[:, 0], strict=True):
        orders = naive.orders_of(run.get(query, {}), "falling" if ties == "docid" else ties)
        cutoff = getattr(measure, "mult", None) or measure.cutoff or 0
        assert isinstance(cutoff, int | float)
        groups = list(table[query].values())
        means = [
            math.fsum(naive.group_values(measure.name, groups, order, cutoff)) / len(groups)
            for order in orders
        ]
        assert value == pytest.approx(math.fsum(means) / len(means), abs=1e-12)


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("AP_avgjg", "AP"),
        ("P_avgjg@3", "P@3"),
        ("Rprec_avgjg", "Rprec"),
        ("AP_avgjg(rel=2)@2", "AP(rel=2)@2"),
    ],
)
@given(qrels=judgments(grades=(-1, 0, 1, 2)), run=runs(), data=st.data())
def test_one_assessor_alone_is_plain_judgments(
    text: str, one: str, qrels: Grades, run: Scores, data: st.DataObject
) -> None:
    """Under every tie rule, policy for queries without relevant documents, and policy for negative
    grades.
    """
    ties = data.draw(st.sampled_from(("docid", "input", "expected", "best", "worst")))
    policy = data.draw(st.sampled_from(("zero", "one", "nan", "left-out")))
    convention = Convention.of(
        "standard",
        ties=ties,
        no_relevant=policy,
        negative=data.draw(st.sampled_from(("zero", "kept", "removed"))),
    )
    table = AssessorQrels({query: {"ann": grades} for query, grades in qrels.items()})
    found, expected = (
        evaluated(table, run, text, convention),
        evaluated(Qrels(qrels), run, one, convention),
    )
    np.testing.assert_array_equal(found.values, expected.values, strict=True)
    np.testing.assert_array_equal(found.scored, expected.scored, strict=True)
