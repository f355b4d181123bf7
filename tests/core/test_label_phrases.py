"""Sentences on the labels behind a verdict: where they come from, how sensitive a difference is,
and what to do next.
"""

from types import SimpleNamespace
from typing import Any

import pytest

import idealrank as ir
from idealrank.analysis.comparison.label_basis import LabelBasis, OneSided
from idealrank.analysis.comparison.sensitivity import Sensitivity
from idealrank.data.label_kinds import Labels
from idealrank.reports.views.comparison.label_phrases import (
    labels_note,
    one_sided_sentences,
    sensitivity_sentence,
    suspected_sentence,
)
from idealrank.reports.views.comparison.pair_sentences import Told, verdict_sentences
from idealrank.reports.views.comparison.phrases import BY_COMMAND, Asked, labels_command, next_step

OF_A = OneSided(run="a", declared=False, depth=10, share=1.0, other_share=0.41)
ROW = Sensitivity(share=0.05, difference=0.21, turning_share=0.12, turning_documents=148)


def basis(**changes: Any) -> LabelBasis:
    facts: dict[str, Any] = {
        "kind": "positive-only",
        "unlabelled_a": 1200,
        "unlabelled_b": 900,
        "sensitivity": (ROW,),
    }
    return LabelBasis(**(facts | changes))


def test_labels_from_one_run_are_told_with_both_shares_the_doubt_and_two_ways_out() -> None:
    why, step = one_sided_sentences(
        basis(one_sided=OF_A), "old", "new", "compare again", BY_COMMAND
    )

    assert why.startswith(
        "old returns 100% of the labelled relevant documents in its first 10 results, and new 41%: "
    )
    assert why.endswith(
        "the labels seem to come from old alone, unless it really finds all of them."
    )
    assert step.startswith(
        "Label documents of both runs and compare again, or declare --labels-are complete if "
    )


def test_in_python_advice_names_the_argument() -> None:
    _, step = one_sided_sentences(basis(one_sided=OF_A), "old", "new", "compare again")

    assert 'declare labels_are="complete" if' in step


def test_declared_labels_from_one_run_need_labels_of_both() -> None:
    why, step = one_sided_sentences(
        basis(one_sided=OneSided(run="b", declared=True)), "old", "new", "compare again"
    )

    assert (
        why
        == "The labels come from the results of new, as declared, so they hardly cover what only "
        "old returns."
    )
    assert step == "Label documents of both runs and compare again."


@pytest.mark.parametrize(
    ("changes", "difference", "said"),
    [
        (
            {},
            0.2,
            "If 5% of the unlabelled documents that only new returns were relevant, 12% of "
            "those that only old returns",
        ),
        (
            {},
            -0.2,
            "If 5% of the unlabelled documents that only old returns were relevant, 12% of "
            "those that only new returns (148 documents)",
        ),
        (
            {"unlabelled_b": 0},
            0.2,
            "If 12% of the unlabelled documents that only old returns were relevant, the "
            "difference would be undone.",
        ),
        ({"unlabelled_a": 0}, 0.2, ""),
        ({"unlabelled_a": 0, "unlabelled_b": 0}, 0.2, ""),
        ({"sensitivity": ()}, 0.2, ""),
        ({}, 0.0, ""),
    ],
)
def test_the_sensitivity_names_the_run_ahead_and_only_documents_that_there_are(
    changes: Any, difference: float, said: str
) -> None:
    sentence = sensitivity_sentence(basis(**changes), "old", "new", difference)

    assert sentence.startswith(said)
    assert bool(sentence) == bool(said)


def test_a_difference_that_no_document_could_turn_says_so() -> None:
    never = Sensitivity(share=0.05, difference=0.21, turning_share=None, turning_documents=None)

    sentence = sensitivity_sentence(basis(sensitivity=(never,)), "old", "new", 0.2)

    assert sentence.endswith(
        "not even all of those that only old returns would undo the difference."
    )


@pytest.mark.parametrize(("difference", "is_told"), [(-0.2, True), (0.2, False)])
def test_labels_that_may_favour_a_run_are_a_caution_only_if_it_is_ahead(
    difference: float, is_told: bool
) -> None:
    suspected = OneSided(run="a", declared=False, depth=10, share=0.95, other_share=0.7)

    caution = suspected_sentence(basis(suspected=suspected), "old", "new", difference)

    assert ("labels from old, or from a system like it, would favour it" in caution) == is_told


def test_the_kind_is_told_where_it_was_found_and_matters() -> None:
    found, declared = Labels(kind="positive-only"), Labels(kind="positive-only", found=False)

    assert labels_note(found, [basis()], BY_COMMAND) == [
        "labels: positive-only found; change: --labels-are pooled"
    ]
    assert (
        labels_note(found, [None], BY_COMMAND) == labels_note(declared, [basis()], BY_COMMAND) == []
    )


def test_a_known_number_of_labels_comes_with_the_command_that_names_them() -> None:
    tipping: Any = SimpleNamespace(side="b", own_behind=9, labels_needed=40)
    asked = Asked(command=True, qrels="qrels.txt", paths={"old": "old.run", "new": "new.run"})

    command = "idealrank judge next qrels.txt old.run new.run --until compare -o sheet.csv"
    assert (
        next_step(tipping, "old", "new", "compare", asked)
        == "About 40 labels will decide; the command below chooses them."
    )
    assert (
        labels_command(
            SimpleNamespace(tipping=tipping, basis=None), "old", "new", "compare", asked
        )[-1].strip()
        == command
    )
    assert next_step(tipping, "old", "new", "gate").endswith(
        "idealrank judge next QRELS RUN_A RUN_B --until gate -o sheet.csv"
    )


def test_labels_from_one_run_are_declared_in_the_command_that_chooses_further_ones() -> None:
    asked = Asked(command=True, qrels="qrels.txt", paths={"old": "a/old.run", "new": "b/new.run"})
    withheld: Any = SimpleNamespace(
        tipping=None, basis=basis(one_sided=OneSided(run="a", declared=False))
    )

    lines = labels_command(withheld, "old", "new", "gate", asked)

    command = (
        "idealrank judge next qrels.txt a/old.run b/new.run --until gate -o sheet.csv "
        "--labels-from a/old.run"
    )
    assert sorted(lines[-1].split()) == sorted(command.split())


def test_cautions_take_the_place_of_other_sentences_but_not_of_the_next_step() -> None:
    told = Told.of(
        ["verdict.", "caution.", "second caution.", "basis.", "power.", "next step."],
        ["power.", "more."],
    )

    assert told.brief == ["verdict.", "caution.", "second caution.", "next step."]
    assert told.more == ["basis.", "power.", "more."]


def test_a_run_without_answers_and_a_judge_that_contradicts_stand_in_the_short_text() -> None:
    people, judge = ({f"q{number}": {good: 1} for number in range(9)} for good in "xy")
    a = {query: ["x", "y"] for query in people}
    b = {query: ["y", "x"] for query in people if query != "q8"}

    compared = ir.compare(people, a, b, measures="RR", judge_qrels=judge)
    told = verdict_sentences(compared, compared.pairs[0])

    assert len(told.brief) == 4
    assert "which disagree on the sign" in told.brief[1]
    assert told.brief[2] == "Judged queries without an answer: 1 in B."
    assert told.brief[3].startswith("Let people grade again")
