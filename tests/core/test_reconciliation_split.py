"""`split_difference`: the parts add up, agree with walking every order by hand, and say which
switches act on each other.
"""

import json
import math
import warnings
from collections.abc import Mapping
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idealrank import DifferenceSplit, split_difference
from idealrank.conventions import PRESETS, SWITCHES, Convention
from idealrank.data.lists import Lists
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import IdealrankWarning, InputError
from idealrank.evaluation.evaluate import evaluate, evaluate_lists
from idealrank.measures.parse import parse_measure
from idealrank.measures.rules import Rules

# Ties, a document that is not returned, a query without relevant documents, one not answered, one
# not judged.
GRADES = {
    "q1": {"a": 3, "b": 0, "c": 1, "e": 2},
    "q2": {"x": 0},
    "q3": {"m": 1, "n": 2},
    "q4": {"k": 1},
}
SCORES = {
    "q1": {"a": 1.0, "b": 1.0, "c": 0.5},
    "q2": {"x": 2.0},
    "q3": {"u": 3.0, "m": 2.0, "n": 2.0},
    "q5": {"z": 1.0},
}
TOLERANCE = 1e-15  # parts are rounded once each, from exact fractions


def value_of(convention: Convention, measure: str = "nDCG@2") -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)
        return evaluate(Qrels(GRADES), Run(SCORES), measure, convention).mean()[measure]


def split(a: str, b: str, measure: str = "nDCG@2") -> DifferenceSplit:
    return split_difference(Qrels(GRADES), Run(SCORES), measure, a, b)


def differing(a: str, b: str) -> list[str]:
    one, other = Convention.of(a).switches(), Convention.of(b).switches()
    return [switch for switch in SWITCHES if one[switch] != other[switch]]


def is_read(switch: str, measure: str = "nDCG@2") -> bool:
    """Return True if the switch decides on the alignment, False if it is a rule that the measure
    asks for.
    """
    return switch not in Rules.names() or switch in parse_measure(measure).from_convention


def by_hand(a: str, b: str) -> dict[str, list[float]]:
    """What each switch changes in every order of changing all that differ, by evaluating at each
    step.
    """
    target, changes = Convention.of(b).switches(), {switch: [] for switch in differing(a, b)}
    known: dict[frozenset[str], float] = {}
    for order in permutations(changes):
        done: list[str] = []
        for switch in ["", *order]:
            done += [switch] if switch else []
            state = frozenset(done)
            if state not in known:
                known[state] = value_of(Convention.of(a, **{name: target[name] for name in done}))
            if switch:
                changes[switch].append(known[state] - known[state - {switch}])
    return changes


PAIRS = [
    ("standard", "jarvelin-2002"),
    ("standard,missing=left-out", "rankkit,negative=zero,duplicates=error"),
    ("standard", "standard,ties=expected,gain=exp2,ideal=returned,no_relevant=one"),
    ("trec_eval-10", "ir_measures"),
    ("sklearn,negative=kept", "catboost-exp"),
    (
        "standard,rounding=round-2",
        "standard,gain=exp2,missing=left-out,without_judgments=evaluated",
    ),
]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_the_parts_are_the_averages_over_all_orders(a: str, b: str) -> None:
    expected = by_hand(a, b)

    found = split(a, b)

    parts = {part.switches[0]: part for part in found.parts}
    for switch, changes in expected.items():
        mean = math.fsum(changes) / len(changes)
        assert (parts[switch].part if switch in parts else 0.0) == pytest.approx(mean, abs=1e-14)
        if switch in parts:
            assert (parts[switch].low, parts[switch].high) == pytest.approx(
                (min(changes), max(changes)), abs=1e-14
            )
        else:
            assert switch in found.idle or not is_read(switch)
            assert max(map(abs, changes)) == 0


@pytest.mark.spread(28)
@pytest.mark.parametrize("name", [name for name in PRESETS if name not in ("ranx", "ranx-burges")])
@pytest.mark.parametrize("measure", ["nDCG@2", "nDCG", "AP", "DCG@3"])
def test_the_parts_add_up_to_the_difference_of_what_evaluate_says(name: str, measure: str) -> None:
    found = split("standard", name, measure)

    assert found.difference == value_of(PRESETS[name], measure) - value_of(
        Convention.of("standard"), measure
    )
    assert math.fsum(part.part for part in found.parts) == pytest.approx(
        found.difference, abs=TOLERANCE
    )
    # all five are told
    assert math.fsum(query.share for query in found.queries) == pytest.approx(
        found.difference, abs=1e-14
    )
    assert set(found.idle) | {switch for part in found.parts for switch in part.switches} <= set(
        differing("standard", name)
    )


grades = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
graded = st.dictionaries(st.sampled_from("abcd"), grades, min_size=1)
scored = st.dictionaries(
    st.sampled_from("abcu"), st.sampled_from([1.0, 1.00000001, 2.0]), min_size=1
)
tables = st.dictionaries(st.sampled_from(["q1", "q2"]), graded, min_size=1)
runs = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), scored, min_size=1)


@given(tables, runs, st.sampled_from(sorted(PRESETS)), st.sampled_from(sorted(PRESETS)))
def test_the_parts_add_up_on_any_data(
    qrels: Mapping[str, Any], run: Mapping[str, Any], a: str, b: str
) -> None:
    try:
        found = split_difference(Qrels(qrels), Run(run), "nDCG@2", a, b)
    except InputError:
        return

    assert math.fsum(part.part for part in found.parts) == pytest.approx(
        found.difference, abs=TOLERANCE * max(1, abs(found.difference))
    )
    for part in found.parts:
        assert part.low is None or part.low - 1e-15 <= part.part <= part.high + 1e-15


def test_two_switches_that_act_on_each_other_show_the_effect_of_order() -> None:
    found = split("standard", "standard,gain=exp2,ideal=returned", "nDCG")

    for part in found.parts:
        assert part.part == pytest.approx((part.alone + part.last) / 2, abs=1e-15)
        assert part.alone != pytest.approx(part.last, abs=1e-6)
    assert found.orders == 2
    assert "average over all 2 orders" in " ".join(str(found).split())


def test_switches_that_act_alone_have_no_effect_of_order() -> None:
    found = split("standard", "standard,no_relevant=one", "nDCG")

    (part,) = found.parts
    assert (part.switches, part.part, part.alone, part.last) == (("no_relevant",), 0.25, 0.25, 0.25)
    assert part.noun == "queries without relevant documents"
    assert [(query.query, query.a, query.b, query.share) for query in found.queries] == [
        ("q2", 0.0, 1.0, 0.25)
    ]


def test_a_query_that_is_left_out_shows_in_its_share() -> None:
    found = split("standard", "standard,missing=left-out", "nDCG")

    # q4 adds nothing on either side; the others weigh a third each instead of a quarter.
    assert found.difference > 0
    assert {query.query for query in found.queries} == {"q1", "q3"}
    assert [query.share for query in found.queries] == [
        pytest.approx(query.a / 3 - query.a / 4) for query in found.queries
    ]
    assert {query.mostly for query in found.queries} == {"missing"}
    left_out = split("standard,no_relevant=one", "standard,no_relevant=left-out", "nDCG").queries
    assert [query.b for query in left_out if query.query == "q2"] == [None]


def test_many_switches_are_split_along_one_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idealrank.analysis.reconciliation.difference._MOST_AVERAGED", 2)

    found = split("standard", "lightgbm", "nDCG@2")

    assert (found.method, found.orders) == ("path", 1)
    assert math.fsum(part.part for part in found.parts) == pytest.approx(
        found.difference, abs=TOLERANCE
    )
    switches = [part.switches[0] for part in found.parts]
    assert switches == sorted(switches, key=SWITCHES.index)
    assert all(part.alone is None for part in found.parts)
    first = switches[0]
    changed = Convention.of("standard", **{first: Convention.of("lightgbm").switches()[first]})
    assert found.parts[0].part == pytest.approx(
        value_of(changed) - value_of(Convention.of("standard")), abs=1e-15
    )
    assert "Parts along one path" in str(found)


def test_a_precision_that_makes_ties_wakes_the_ties_policy() -> None:
    qrels, run = Qrels({"q": {"a": 0, "b": 1}}), Run({"q": {"a": 1.00000001, "b": 1.0}})

    found = split_difference(
        qrels, run, "nDCG", "standard,ties=docid-ascending", "standard,score=float32"
    )

    assert {part.switches[0] for part in found.parts} == {"ties", "score"}
    assert {part.switches[0]: (part.alone, part.last) for part in found.parts}["ties"] == (
        0.0,
        pytest.approx(0.369, abs=1e-3),
    )


def test_switches_that_cannot_be_had_apart_are_one_part() -> None:
    # Floored terms have no expected value over ties: rounding cannot be changed before the ties
    # are.
    found = split("sklearn", "rre", "nDCG@2")

    assert ("ties", "rounding") in [part.switches for part in found.parts]
    assert math.fsum(part.part for part in found.parts) == pytest.approx(
        found.difference, abs=TOLERANCE
    )


def test_a_convention_that_refuses_the_data_has_no_difference_to_split() -> None:
    with pytest.raises(
        InputError, match=r"nDCG under convention lightgbm: found no value.*found grade -1"
    ):
        split_difference(
            Qrels({"q": {"a": -1, "b": 1}}), Run({"q": ["a", "b"]}), "nDCG", "standard", "lightgbm"
        )


def test_a_value_that_is_no_number_cannot_be_split() -> None:
    with pytest.raises(InputError, match="found a value that is not a number"):
        split("standard", "standard,no_relevant=nan", "nDCG")


def test_the_same_convention_has_no_parts() -> None:
    found = split("trec_eval", "trec_eval-10")

    assert (found.parts, found.idle, found.queries, found.difference) == ((), (), (), 0.0)
    assert "the same convention for this measure" in str(found)


def test_conventions_that_differ_only_idly_say_so() -> None:
    found = split_difference(
        Qrels({"q": {"a": 1}}),
        Run({"q": ["a"]}),
        "nDCG",
        "standard",
        "standard,ties=input,duplicates=last",
    )

    assert (found.parts, found.idle) == ((), ("ties", "duplicates"))
    assert "No switch in which they differ changes a value on these data." in str(found)


def test_functions_of_the_user_are_split_like_any_gain() -> None:
    convention = Convention.of("standard", gain=np.sqrt)

    found = split_difference(
        Qrels(GRADES), Run(SCORES), "nDCG", "standard,missing=left-out", convention
    )

    assert {part.switches for part in found.parts} == {("gain",), ("missing",)}
    assert found.difference == value_of(convention, "nDCG") - value_of(
        Convention.of("standard,missing=left-out"), "nDCG"
    )


def test_arrays_are_split_too() -> None:
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 4, (20, 6)), rng.integers(0, 4, (20, 6)).astype(float)
    lists = Lists.from_arrays(labels, scores)

    found = split_difference(labels, scores, "nDCG@3", "sklearn", "lightgbm")

    values = [
        evaluate_lists(lists, "nDCG@3", name).mean()["nDCG@3"] for name in ("sklearn", "lightgbm")
    ]
    assert (found.value_a, found.value_b) == tuple(values)
    assert math.fsum(part.part for part in found.parts) == pytest.approx(
        values[1] - values[0], abs=TOLERANCE
    )
    assert {"ties", "gain"} <= {part.switches[0] for part in found.parts}


def test_as_dict_is_plain_and_whole() -> None:
    found = split("standard", "lightgbm")

    record = json.loads(json.dumps(found.as_dict(), allow_nan=False))

    assert record["difference"] == found.difference
    assert [part["switches"] for part in record["parts"]] == [
        list(part.switches) for part in found.parts
    ]
    assert record["parts"][0]["words"]
    assert record["b"] == {
        "name": "lightgbm",
        "fingerprint": Convention.of("lightgbm").fingerprint,
        "value": found.value_b,
    }
