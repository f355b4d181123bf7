"""`idealrank measures`: the list by family with its advice, and one measure explained from its
class facts.
"""

import json
import shlex
from collections.abc import Callable
from dataclasses import fields

import pytest

from idealrank.measures import MEASURES, PAIR_MEASURES
from idealrank.measures.facts import classes_of, facts_of
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]

COMMANDS = {"one": "measures P", "spelled": "measures map_cut_10"}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_measures_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"measures-{name}", said.text(command))
    assert said.code == 0


def test_the_list_has_every_measure_with_its_summary_and_fits_the_width(say: Say) -> None:
    said = say("measures")
    flat = " ".join(said.out.split())

    for cls in (*MEASURES.values(), *PAIR_MEASURES.values()):
        facts = facts_of(cls)
        assert f"{facts.text} {cls.summary}" in flat
    assert max(map(len, said.out.splitlines())) <= 100


def test_the_list_ends_with_which_to_choose(say: Say) -> None:
    rows = say("measures").out.partition("choose")[2].splitlines()[1:5]

    assert [
        cell in row.split()
        for cell, row in zip(("RR", "AP", "nDCG@10", "R@100"), rows, strict=True)
    ] == [True] * 4
    assert [
        "right answer" in rows[0],
        "binary" in rows[1],
        "graded" in rows[2],
        "candidates" in rows[3],
    ] == [True] * 4


@pytest.mark.parametrize("name", MEASURES)
def test_one_is_explained_with_all_that_its_class_says(name: str, say: Say) -> None:
    cls = MEASURES[name]
    said = " ".join(say("measures", name).out.split())
    facts = facts_of(cls)

    for words in (cls.summary, facts.formula, cls.use, cls.proof, facts.source):
        assert " ".join(words.replace("`", "").split()) in said
    assert all(
        f" {field.name} " in said
        for field in fields(cls)
        if field.name != "cutoff" or cls.cuts != "none"
    )


def test_json_has_every_fact_of_every_measure(say: Say) -> None:
    record = json.loads(say("measures", "--format", "json").out)

    assert list(record["measures"]) == list(MEASURES)
    assert list(record["pair_measures"]) == list(PAIR_MEASURES)
    for name, stated in record["measures"].items():
        cls = MEASURES[name]
        for fact in ("kind", "aggregate", "direction", "ties", "summary", "use", "proof"):
            assert stated[fact] == getattr(cls, fact), f"{name}: {fact}"
        assert {parameter["name"] for parameter in stated["parameters"]} >= {
            field.name for field in fields(cls)
        } - {"cutoff"}
    assert record["measures"]["DCG"]["range"] == [0.0, None]
    assert record["measures"]["AP"]["trec_names"] == ["map", "map_cut_10"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("MAP", "AP"),
        ("P", "P"),
        ("P_10", "P"),
        ("nDCG(gain=exp2)@5", "nDCG"),
        ("ndcg_burges", "nDCG"),
    ],
)
def test_anybodys_spelling_is_understood(text: str, name: str) -> None:
    assert [cls.name for cls in classes_of(text)] == [name]


def test_the_measures_of_both_tables_are_explained(say: Say) -> None:
    """A name that both have is explained twice."""
    for name in sorted(set(MEASURES) & set(PAIR_MEASURES)):
        said = say("measures", name).out
        assert MEASURES[name].summary in said
        assert PAIR_MEASURES[name].summary in said
    assert set(
        json.loads(say("measures", "rbo(p=0.8)", "--format", "json").out)["pair_measures"]
    ) == {"RBO"}


def test_several_are_explained_one_after_the_other_and_each_once(say: Say) -> None:
    """Names apart or with commas between; a name that is unknown refuses all."""
    said = say("measures", "map", "RR,AP", "P_10")
    cards = [say("measures", name).out for name in ("AP", "RR", "P")]
    assert said.out == "\n\n".join(cards)
    assert list(json.loads(say("measures", "map", "RR", "--format", "json").out)["measures"]) == [
        "AP",
        "RR",
    ]
    for names, words in (
        (("AP", "nDGC"), "unknown measure 'nDGC'"),
        (("",), "NAME: found no measure, expected one such as nDCG"),
    ):
        refused = say("measures", *names)
        assert (refused.code, refused.out) == (2, "")
        assert words in refused.err


def test_an_unknown_name_is_refused_with_what_may_be_meant(say: Say) -> None:
    said = say("measures", "nDGC")

    assert said.code == 2
    assert said.out == ""
    assert "unknown measure 'nDGC'" in said.err
    assert "did you mean nDCG?" in said.err
