"""`reconcile`: a convention's own number leads back to it, in words that say how it differs;
nothing found is an answer too.
"""

import json
import warnings
from collections.abc import Mapping
from decimal import ROUND_DOWN, Decimal
from functools import cache
from pathlib import Path

import pytest

from idealrank import Reconciliation, reconcile
from idealrank.analysis.reconciliation.convention_search import Search
from idealrank.analysis.reconciliation.result import Stated
from idealrank.analysis.reconciliation.trials import Trials
from idealrank.conventions import PRESETS, Convention
from idealrank.data.lists import Lists
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run
from idealrank.errors import IdealrankWarning
from idealrank.evaluation.evaluate import evaluate, evaluate_lists
from idealrank.io.read import read_qrels
from idealrank.measures.parse import parse_measure

Table = Mapping[str, Mapping[str, float]]

# One query of every kind: ties within and across grades, near-ties, more relevant documents than
# returned, fractions, nothing relevant, not answered, not judged.
GRADES: Table = {
    "many": {"a": 3, "b": 0, "c": 2, "d": 1, "e": 3, "f": 2},
    "tied": {"b": 0, "d": 3, "a": 1, "c": 2, "e": 0},
    "near": {"d1": 0, "d2": 2, "d3": 1},
    "bare": {"x": 0, "y": 0},
    "missing": {"m": 1},
    "whole": {"g": 1, "h": 4},
}
SCORES: Table = {
    "many": {"b": 9.0, "a": 8.0, "u": 7.5, "c": 7.0, "d": 1.0},
    "tied": {"b": 0.9, "d": 0.9, "a": 0.9, "c": 0.5, "e": 0.5},
    "near": {"d3": 1.0, "d1": 1.00000001, "d2": 1.00000002},
    "bare": {"x": 2.0, "y": 1.0},
    "whole": {"g": 3.0, "u": 2.0, "h": 1.0},
    "unjudged": {"z": 1.0},
}


def value_of(name: str, measure: str, grades: Table = GRADES, scores: Table = SCORES) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)
        return evaluate(Qrels(grades), Run(scores), measure, name).mean()[measure]


def names_of(found: Reconciliation) -> list[str]:
    return [name for match in found.matches for name in match.conventions]


# --- the right convention is found ----------------------------------------------------------------


@cache
def trials() -> Trials:
    """Shared by the numbers of all presets: `reconcile` makes them anew, which is most of its
    time.
    """
    return Trials.of_run(Qrels(GRADES), Run(SCORES))


def searched(stated: str, measure: str, convention: str = "standard") -> Reconciliation:
    """What `reconcile` says of the tables above."""
    return Search(
        trials(), Stated.parse(stated), parse_measure(measure), Convention.of(convention)
    ).run()


@pytest.mark.slow
def test_reconcile_searches_with_trials_of_its_own() -> None:
    for stated, measure, convention in (
        (repr(value_of("sklearn", "nDCG@3")), "nDCG@3", "standard"),
        ("0.7", "AP", "lightgbm"),
    ):
        assert reconcile(Qrels(GRADES), Run(SCORES), stated, measure, convention) == searched(
            stated, measure, convention
        )


REFUSED = {"ranx", "ranx-burges"}  # a judged query is missing from the run


@pytest.mark.spread(10)
@pytest.mark.parametrize("name", [name for name in PRESETS if name not in REFUSED])
@pytest.mark.parametrize("measure", ["nDCG@3", pytest.param("nDCG", marks=pytest.mark.slow)])
def test_the_number_of_a_preset_leads_back_to_it(name: str, measure: str) -> None:
    value = value_of(name, measure)

    found = searched(repr(value), measure)

    (match,) = [match for match in found.matches if name in match.conventions]
    assert (match.found, match.fit, match.value) == ("preset", "rounded", value)
    # What stands before it gives the very same number; these data may or may not tell them apart by
    # query.
    before = found.matches[: found.matches.index(match)]
    assert all(other.value == pytest.approx(value, abs=1e-12) for other in before)


@pytest.mark.parametrize(
    "name", ["standard", "lightgbm", "sklearn", "opensearch", "rre", "jarvelin-2002"]
)
def test_four_digits_are_enough_among_presets_here(name: str) -> None:
    value = value_of(name, "nDCG@3")

    found = searched(f"{value:.4f}", "nDCG@3")

    assert name in names_of(found)


def test_the_current_convention_stands_first_among_equals() -> None:
    value = value_of("standard", "nDCG@3")

    found = searched(repr(value), "nDCG@3", "standard")

    assert found.matches[0].conventions == ("standard",)
    assert found.matches[0].differences == ()
    assert "the current convention" in str(found)


def test_names_that_mean_the_same_are_one_line() -> None:
    found = searched(repr(value_of("trec_eval", "nDCG@3")), "nDCG@3")
    with_cutoff = searched(repr(value_of("ranx,missing=zero", "P@1")), "P@1", "ranx")

    assert ("trec_eval-10", "trec_eval") in [match.conventions for match in found.matches]
    # the gain means nothing to P
    assert with_cutoff.refused[0].conventions == ("ranx", "ranx-burges")


def test_a_changed_switch_is_found_and_told() -> None:
    value = value_of("lightgbm,discount=jarvelin(2)", "nDCG@3")

    found = searched(repr(value), "nDCG@3", "lightgbm")

    assert (found.matches[0].found, found.matches[0].words) == (
        "one switch",
        "discount jarvelin(2) instead of log2",
    )


@pytest.mark.slow
def test_two_switches_are_tried_when_nothing_else_fits() -> None:
    value = value_of("standard,ties=best,discount=zipf(1)", "nDCG")

    found = searched(f"{value:.10f}", "nDCG")

    assert found.matches[0].found == "two switches"
    assert (
        found.matches[0].words
        == "ties in the best order instead of by document id; discount 1/rank instead of log2"
    )


def test_another_cutoff_is_tried_when_nothing_else_fits() -> None:
    found = searched(f"{value_of('standard', 'nDCG@1'):.6f}", "nDCG@10")

    assert (found.matches[0].found, found.matches[0].measure, found.matches[0].conventions) == (
        "other cutoff",
        "nDCG@1",
        ("standard",),
    )


def test_the_bare_ndcg_of_xgboost_is_found_although_it_is_cut_at_32() -> None:
    grades = {"q": {f"d{number:02}": float(number % 4) for number in range(50)}}
    scores = {"q": {f"d{number:02}": -float(number) for number in range(50)}}

    found = reconcile(
        Qrels(grades), Run(scores), repr(value_of("xgboost", "nDCG@32", grades, scores)), "nDCG"
    )

    assert "xgboost" in names_of(found)
    assert "default cutoff 32 instead of none" in next(
        match.words for match in found.matches if "xgboost" in match.conventions
    )


@pytest.mark.parametrize(("text", "reading"), [("{:.4f}%", "in percent"), ("{:.4f}", "in percent")])
def test_percentages_are_read(text: str, reading: str) -> None:
    stated = text.format(100 * value_of("sklearn", "nDCG@3"))

    found = searched(stated, "nDCG@3")

    assert {match.reading for match in found.matches} == {reading}
    assert "sklearn" in names_of(found)


def test_one_minus_the_value_is_read_when_nothing_else_fits() -> None:
    found = searched(f"{1 - value_of('standard', 'nDCG@3'):.6f}", "nDCG@3")

    assert (found.matches[0].reading, found.matches[0].conventions) == ("one minus", ("standard",))


@pytest.mark.slow  # as long a search as one that finds nothing
def test_the_value_of_one_query_is_read_when_nothing_else_fits() -> None:
    evaluation = evaluate(Qrels(GRADES), Run(SCORES), "nDCG", "standard")
    value = evaluation.per_query()["whole"]["nDCG"]

    found = searched(f"{value:.12f}", "nDCG")

    assert (found.matches[0].found, found.matches[0].query) == ("one query", "whole")
    assert "query whole alone" in str(found)


def test_digits_that_were_cut_off_fit_and_are_told() -> None:
    value = value_of("standard", "nDCG@3")
    cut = str(Decimal(value).quantize(Decimal("0.0001"), ROUND_DOWN))
    assert cut != f"{value:.4f}"  # else this test shows nothing

    found = searched(cut, "nDCG@3")

    assert (
        next(match.fit for match in found.matches if "standard" in match.conventions) == "cut off"
    )
    assert "its digits cut off, not rounded" in str(found)


@pytest.mark.slow  # what the command says then is in the default run
def test_finding_nothing_is_an_answer_with_the_nearest_numbers() -> None:
    found = searched("0.000123456", "nDCG@3")

    assert found.matches == ()
    distances = [match.distance for match in found.nearest]
    assert distances == sorted(distances)
    assert all(match.fit is None for match in found.nearest)
    assert "No convention tried gives 0.000123456." in str(found)


def test_presets_come_first_and_the_nearest_number_first_among_them() -> None:
    found = searched("0.7", "nDCG@3")
    presets = [
        match for match in found.matches if match.found == "preset" and match.fit == "rounded"
    ]

    assert len({match.group for match in presets}) > 1
    assert [match.distance for match in presets] == sorted(match.distance for match in presets)
    assert [match.found for match in found.matches][: len(presets)] == ["preset"] * len(presets)


# --- what is told beside it -----------------------------------------------------------------------


def test_differences_that_cannot_act_are_told_apart_from_those_that_do() -> None:
    value = value_of("sklearn", "nDCG", {"q": {"a": 2, "b": 1}}, {"q": {"b": 2.0, "u": 1.0}})

    found = reconcile(
        Qrels({"q": {"a": 2, "b": 1}}), Run({"q": {"b": 2.0, "u": 1.0}}), repr(value), "nDCG"
    )

    (match,) = [match for match in found.matches if "sklearn" in match.conventions]
    acting = {difference.switch for difference in match.differences if difference.acts}
    assert acting == {"ideal"}
    assert {"ties", "duplicates", "negative", "missing"} <= {
        difference.switch for difference in match.differences
    }


def test_conventions_that_give_every_query_the_same_value_share_a_group_and_what_would_separate_them_is_told() -> (  # noqa: E501
    None
):
    data = Qrels({"q": {"a": 2, "b": 1}}), Run({"q": {"b": 2.0, "a": 1.0}})

    found = reconcile(*data, repr(evaluate(*data, "nDCG", "lightgbm").mean()["nDCG"]), "nDCG")

    groups = {name: match.group for match in found.matches for name in match.conventions}
    assert groups["lightgbm"] == groups["xgboost"] == groups["rax"]
    told = found.twins[0]
    assert {"lightgbm", "xgboost", "rax"} <= set(told.conventions)
    assert "a query without relevant documents" in told.data
    assert "documents of different grades with equal scores" in told.data


def test_queries_that_tell_two_fitting_conventions_apart_are_named() -> None:
    # The same mean by two ways: the convention decides which of two queries it is won on.
    grades = {"q1": {"a": 0, "b": 1}, "q2": {"a": 1, "b": 0}}
    scores = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0, "b": 1.0}}

    found = reconcile(Qrels(grades), Run(scores), "0.8154649", "nDCG", "standard")

    assert "ranx" in names_of(found)
    pair = next(pair for pair in found.separations if (pair.a, pair.b) == ("standard", "ranx"))
    values = {
        query.query: [round(value or 0, 4) for value in (query.a, query.b)]
        for query in pair.queries
    }
    assert values == {"q1": [1.0, 0.6309], "q2": [0.6309, 1.0]}


def test_conventions_that_refuse_the_data_are_reported_with_their_reason() -> None:
    found = reconcile(Qrels({"q": {"a": 2, "b": -1}}), Run({"q": ["a", "b"]}), "1.0", "nDCG")

    reasons = {name: refused.reason for refused in found.refused for name in refused.conventions}
    assert set(reasons) == {
        name for name, preset in PRESETS.items() if preset.alignment.negative == "error"
    }
    assert all("found grade -1" in reason for reason in reasons.values())
    assert "Conventions that give no number on these data" in str(found)


def test_a_current_convention_that_refuses_the_data_is_no_crash() -> None:
    found = reconcile(
        Qrels({"q": {"a": 2, "b": -1}}), Run({"q": ["b", "a"]}), "0.63", "nDCG", "sklearn"
    )

    assert found.value is None
    assert "standard" in names_of(found)
    assert f"the current convention, {Convention.of('sklearn')}, refuses these data" in " ".join(
        str(found).split()
    )


@pytest.mark.parametrize(("policy", "grade"), [("first", 3.0), ("last", 1.0)])
def test_judgments_given_twice_are_read_as_each_convention_reads_them(
    policy: QrelsDuplicates, grade: float, tmp_path: Path
) -> None:
    path = tmp_path / "twice.qrels"
    path.write_text("q 0 a 3\nq 0 b 2\nq 0 a 1\n", encoding="utf-8")
    run = Run({"q": ["b", "a"]})
    value = evaluate(
        Qrels({"q": {"a": grade, "b": 2}}), run, "nDCG", f"standard,duplicates={policy}"
    ).mean()["nDCG"]

    found = reconcile(
        lambda duplicates: read_qrels(path, duplicates=duplicates),
        run,
        repr(value),
        "nDCG",
        f"standard,duplicates={policy}",
    )

    assert found.value == value
    assert found.matches[0].conventions[0] == f"standard,duplicates={policy}"
    assert any(
        "trec_eval-10" in refused.conventions and "twice.qrels:3" in refused.reason
        for refused in found.refused
    )


def test_as_dict_is_plain_and_whole() -> None:
    found = searched("0.7", "nDCG@3")

    record = json.loads(json.dumps(found.as_dict(), allow_nan=False))

    assert record["stated"] == "0.7"
    assert record["current"] == {
        "name": "standard",
        "fingerprint": Convention.of("standard").fingerprint,
        "value": found.value,
    }
    assert [match["conventions"] for match in record["matches"]] == [
        list(match.conventions) for match in found.matches
    ]
    assert record["matches"][0]["differences"][0]["words"]
    assert (
        record["matches"][0]["fingerprint"]
        == Convention.of(record["matches"][0]["conventions"][0]).fingerprint
    )


def test_every_convention_told_can_be_asked_for_by_its_name() -> None:
    found = searched("0.6", "nDCG@3")

    assert len(found.matches) > 20
    for match in found.matches:
        assert value_of(match.conventions[0], match.measure) == pytest.approx(
            match.value, abs=1e-12
        )


def test_counts_and_other_measures_are_reconciled_too() -> None:
    assert searched("6", "NumQ").matches[0].conventions[0] == "standard"
    assert "rankkit" in names_of(searched(repr(value_of("rankkit", "AP")), "AP"))


def test_a_large_run_stops_the_search_at_the_same_place_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "idealrank.analysis.reconciliation.convention_search._ONE_SWITCH_WORK", 0.002
    )

    first, second = (reconcile(Qrels(GRADES), Run(SCORES), "0.7", "nDCG@3") for _ in range(2))

    assert not first.complete
    assert first == second
    assert "The search stopped early" in str(first)


# --- arrays ---------------------------------------------------------------------------------------


def test_arrays_are_reconciled_with_names_that_say_what_their_ties_are() -> None:
    labels, scores = (
        [[0, 3, 1, 2, 0], [2, 1, 0, 0, 0]],
        [[0.9, 0.9, 0.9, 0.5, 0.5], [0.5, 0.9, 0.4, 0.3, 0.2]],
    )
    lists = Lists.from_arrays(labels, scores)
    value = evaluate_lists(lists, "nDCG", "lightgbm").mean()["nDCG"]

    found = reconcile(labels, scores, repr(value), "nDCG", "sklearn")

    assert "lightgbm" in names_of(found)
    assert (
        found.matches[0].words
        == "ties in input order instead of averaged over all orders; gain exp2 instead of linear"
    )
    assert found.current == "sklearn"
    assert reconcile(labels, scores, "0.5", "nDCG").current == "standard,ties=expected"


def test_values_that_differ_late_are_printed_with_the_digits_that_differ() -> None:
    qrels = Qrels({"q": {"a": 3, "b": 1, "c": 2}, "r": {"a": 1, "b": 2}})
    run = Run({"q": ["b", "c", "a"], "r": ["a", "b"]})
    value = evaluate(qrels, run, "nDCG@10", "gdeval").mean()["nDCG@10"]

    pairs = (
        str(reconcile(qrels, run, f"{value:.3f}"))
        .partition("More digits would distinguish them")[2]
        .splitlines()
    )
    shown = [
        part.partition(": ")[2].split(" | ")
        for line in pairs
        if line.startswith("  gdeval |")
        for part in line.split("; ")
    ]

    assert shown
    assert all(sides[0] != sides[-1] for sides in shown)
