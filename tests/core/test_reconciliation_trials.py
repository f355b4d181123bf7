"""What `reconcile` rests on: digits of a number, words of switches, and trials that say what
`evaluate` says.
"""

import warnings
from collections.abc import Callable, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idealrank import reconcile
from idealrank.analysis.reconciliation.convention_search import switch_values
from idealrank.analysis.reconciliation.result import Stated
from idealrank.analysis.reconciliation.trials import Candidate, Refusal, Trials
from idealrank.conventions import PRESETS, SWITCHES, Convention
from idealrank.conventions.switches import ROWS, difference_phrase
from idealrank.data.alignment import Alignment
from idealrank.data.lists import Lists
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import IdealrankError, IdealrankWarning, OptionError
from idealrank.evaluation.evaluate import evaluate, evaluate_lists
from idealrank.measures.parse import parse_measure
from idealrank.measures.rules import Rules

Table = Mapping[str, Mapping[str, float]]

# --- the number and its digits --------------------------------------------------------------------


@given(st.floats(0, 1), st.integers(1, 9))
def test_what_rounds_or_is_cut_to_the_digits_fits(value: float, digits: int) -> None:
    step = Decimal(1).scaleb(-digits)
    rounded, cut = (
        str(Decimal(repr(value)).quantize(step, rounding))
        for rounding in (ROUND_HALF_EVEN, ROUND_DOWN)
    )

    assert Stated.parse(rounded).fit(value) == "rounded"
    following = Decimal(cut) + step
    # A value that only rounding keeps below the following number is this number.
    if following - Decimal(repr(value)) > Decimal("1e-12"):
        assert Stated.parse(cut).fit(value) in ("rounded", "cut off")
    else:
        assert Stated.parse(str(following)).fit(value) == "rounded"


@pytest.mark.parametrize(
    ("text", "value", "fit"),
    [
        ("0.81", 0.8149, "rounded"),
        ("0.81", 0.8151, "cut off"),
        ("0.81", 0.8201, None),
        ("0.81", 0.8049, None),
        ("0.810", 0.8104, "rounded"),
        ("0.810", 0.8111, None),
        ("-0.21", -0.2155, "cut off"),
        ("-0.21", -0.2055, "rounded"),
        ("-0.21", -0.2045, None),
        ("0.94881076", 0.94881092, "single precision"),
        ("0.9488", 0.94892, None),
        ("43", 43.0, "rounded"),
        ("8.1e-1", 0.8149, "rounded"),
    ],
)
def test_digits_count(text: str, value: float, fit: str | None) -> None:
    assert Stated.parse(text).fit(value) == fit


@pytest.mark.parametrize("text", ["", "abc", "nan", "inf", "1e999", "0,81", "0.8.1", "%"])
def test_what_is_no_number_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(OptionError, match=r"expected a number such as 0\.8145"):
        Stated.parse(text)


def test_a_float_counts_with_the_digits_of_its_shortest_text() -> None:
    stated = [Stated.parse(value) for value in (0.25, np.float64(0.25), "0.25")]

    assert {(one.number, one.unit) for one in stated} == {(0.25, 0.01)}


# --- tables ---------------------------------------------------------------------------------------


def test_every_switch_and_every_policy_has_words() -> None:
    kinds = {
        name: kind
        for owner in (Alignment, Rules)
        for name, kind in get_type_hints(owner).items()
        if get_origin(kind) is Literal
    }

    assert set(ROWS) == set(SWITCHES)
    assert {name: tuple(row.values) for name, row in ROWS.items() if row.open_values is None} == {
        switch: get_args(kind) for switch, kind in kinds.items()
    }


def test_the_values_worth_trying_are_written_as_conventions_write_them() -> None:
    for switch, row in ROWS.items():
        for value in row.used_by_tools:
            assert Convention.of("standard", **{switch: value}).switches()[switch] == value


def test_differences_read_as_sentences() -> None:
    assert difference_phrase("gain", "exp2", "linear") == "gain exp2 instead of linear"
    assert (
        difference_phrase("ideal", "returned", "judged")
        == "ideal of the returned documents instead of all judged"
    )
    assert (
        difference_phrase("ties", "input", "docid")
        == "ties in input order instead of by document id"
    )


# --- values are those of evaluate -----------------------------------------------------------------

grades = st.sampled_from([-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0])
some_grades = st.dictionaries(st.sampled_from("abcde"), grades, max_size=5)
rows = st.lists(
    st.tuples(st.sampled_from("abcdu"), st.sampled_from([0.0, 1.0, 1.00000001, 2.0])), max_size=6
)
qrels_tables = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]), some_grades.filter(bool), min_size=1, max_size=3
)
run_tables = st.dictionaries(
    st.sampled_from(["q1", "q2", "q4"]), rows.filter(bool), min_size=1, max_size=3
)
lists_of_items = st.lists(
    st.tuples(grades, st.sampled_from([0.0, 1.0, 2.0])), min_size=1, max_size=5
)
measures = st.sampled_from(
    ["nDCG@2", "nDCG", "DCG", "RR", "AP", "P@2", "nDCG(gain=exp2)@3", "NumRel"]
)


def run_of(table: Mapping[str, list[tuple[str, float]]]) -> Run:
    """A run that may list documents twice."""
    flat = [
        (query, document, score) for query, entries in table.items() for document, score in entries
    ]
    return Run.from_columns(
        [row[0] for row in flat], [row[1] for row in flat], np.array([row[2] for row in flat])
    )


def said(compute: Callable[..., Any], *arguments: Any) -> Any:
    """What `evaluate` gives: value, and value by query where it counts; or that it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)
        try:
            evaluation = compute(*arguments)
        except IdealrankError:
            return None
    counted = {
        query: next(iter(values.values())) for query, values in evaluation.per_query().items()
    }
    return next(iter(evaluation.mean().values())), {
        query: value for query, value in counted.items() if value is not None
    }


def tried(trials: Trials, candidate: Candidate, measure: str) -> Any:
    outcome = trials.outcome(candidate, parse_measure(measure))
    if isinstance(outcome, Refusal):
        return None
    return outcome.value, {
        query: float(outcome.values[i])
        for i, query in enumerate(trials.queries)
        if outcome.counted[i]
    }


def drawn(
    data: st.DataObject,
    values: Mapping[str, tuple[str, ...]],
    base: Callable[[Convention], Convention],
) -> Candidate:
    """A preset with up to three switches changed."""
    changed = data.draw(
        st.sets(
            st.sampled_from(sorted(switch for switch, choices in values.items() if choices)),
            max_size=3,
        )
    )
    preset = PRESETS[data.draw(st.sampled_from(sorted(PRESETS)))]
    return Candidate(
        base(preset),
        tuple((switch, data.draw(st.sampled_from(values[switch]))) for switch in sorted(changed)),
    )


@given(qrels_tables, run_tables, measures, st.data())
def test_a_trial_is_what_evaluate_says_under_any_convention(
    qrels_table: Table,
    run_table: Mapping[str, list[tuple[str, float]]],
    measure: str,
    data: st.DataObject,
) -> None:
    qrels, run = Qrels(qrels_table), run_of(run_table)
    trials = Trials.of_run(qrels, run)
    for _ in range(12):  # on one set of trials, for they share what cannot differ
        candidate = drawn(
            data, {name: row.used_by_tools for name, row in ROWS.items()}, lambda preset: preset
        )

        expected = said(evaluate, qrels, run, measure, candidate.convention)

        np.testing.assert_equal(tried(trials, candidate, measure), expected)


@given(st.lists(lists_of_items, min_size=1, max_size=3), measures, st.data())
def test_a_trial_on_arrays_is_what_evaluate_says(
    lists: list[list[tuple[float, float]]], measure: str, data: st.DataObject
) -> None:
    labels, scores = (np.array([item[side] for one in lists for item in one]) for side in (0, 1))
    arrays = Lists.from_arrays(labels, scores, group=[len(one) for one in lists])
    trials = Trials.of_lists(arrays)
    for _ in range(8):
        candidate = drawn(data, switch_values(trials, parse_measure(measure)), trials.adapt)

        expected = said(evaluate_lists, arrays, measure, candidate.convention)

        np.testing.assert_equal(tried(trials, candidate, measure), expected)


def test_an_unstable_sort_of_a_tool_is_told_with_the_range_that_it_can_give() -> None:
    grades: Table = {
        "long": {f"d{place}": place % 3 for place in range(16)},
        "short": {f"d{place}": place % 3 for place in range(15)},
    }
    tied = {query: dict.fromkeys(documents, 1.0) for query, documents in grades.items()}
    found = reconcile(Qrels(grades), Run(tied), "0.123")
    ranx = next(ties for ties in found.unstable if "ranx" in ties.conventions)
    assert (ranx.unstable_from, ranx.queries) == (16, 1)
    # The short list keeps the value of the input order at both ends.
    values = {
        order: evaluate(Qrels(grades), Run(tied), "nDCG@10", f"ranx,ties={order}")["nDCG@10"]
        for order in ("input", "worst", "best")
    }
    assert ranx.low == pytest.approx((values["worst"][0] + values["input"][1]) / 2, abs=1e-12)
    assert ranx.high == pytest.approx((values["best"][0] + values["input"][1]) / 2, abs=1e-12)
    assert f"may lie between {ranx.low:.5f} and {ranx.high:.5f}" in " ".join(str(found).split())
    assert found.as_dict()["unstable"][0]["queries"] == 1
    assert (
        reconcile(
            Qrels({"short": grades["short"]}), Run({"short": tied["short"]}), "0.123"
        ).unstable
        == ()
    )
