"""Conventions: their names, their texts, their switches, and what makes two of them the same."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given

import idealrank as ir
from idealrank.conventions import PRESETS, SWITCHES, Convention, Proof, presets
from idealrank.conventions.presets import later_defaults, switches_fingerprint
from idealrank.conventions.switches import ROWS
from idealrank.errors import OptionError
from idealrank.measures.rules import Rules
from idealrank.store.diff import changes
from idealrank.testing import conventions
from tests.contract.snapshot import FILE

NAMES = (
    "standard",
    "trec_eval-9",
    "trec_eval-10",
    "trec_eval",
    "ir_measures",
    "gdeval",
    "ranx",
    "ranx-burges",
    "sklearn",
    "lightgbm",
    "xgboost",
    "xgboost-minus",
    "xgboost-linear",
    "catboost",
    "catboost-exp",
    "torchmetrics",
    "rax",
    "keras-rs",
    "tf-ranking",
    "allrank",
    "ignite",
    "pyltr",
    "lenskit",
    "rectools",
    "rectools-ideal",
    "implicit",
    "trectools",
    "elasticsearch",
    "opensearch",
    "rre",
    "quepid",
    "quepid-cut",
    "letor",
    "mslr",
    "jarvelin-2002",
    "linear-2010",
    "rankkit",
)

WORDS = {switch: row.values for switch, row in ROWS.items() if row.open_values is None}


def test_the_presets_have_the_agreed_names() -> None:
    """Exactly these."""
    assert tuple(PRESETS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_says_what_it_is_and_how_that_was_shown(name: str) -> None:
    """Its name gives it, it names its tool, and its proof is one of four words."""
    preset = Convention.of(name)
    assert preset is PRESETS[name]
    assert preset.name == name
    assert preset.tool
    assert preset.proof in get_args(Proof)
    assert tuple(preset.switches()) == SWITCHES


@pytest.mark.parametrize(
    ("switch", "word"), [(switch, word) for switch, words in WORDS.items() for word in words]
)
def test_every_switch_takes_its_words(switch: str, word: str) -> None:
    """From Python and in a text, and the name tells when it differs from the preset."""
    changed = Convention.of("standard", **{switch: word})
    assert changed == Convention.of(f"standard,{switch}={word}")
    assert changed.switches()[switch] == word
    same = PRESETS["standard"].switches()[switch] == word
    assert changed.name == ("standard" if same else f"standard,{switch}={word}")


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ("half", "expected"),
        ("average", "expected"),
        ("strict", "best"),
        ("weak", "worst"),
        ("le", "worst"),
        ("docid-descending", "docid"),
    ],
)
def test_the_words_of_papers_are_understood(given: str, word: str) -> None:
    """The pairwise loss's half, strict and weak ties."""
    assert Convention.of("standard", ties=given).alignment.ties == word


def test_trec_eval_is_its_newest_version() -> None:
    """The same numbers, so the same fingerprint."""
    assert (
        Convention.of("trec_eval").fingerprint
        == Convention.of("trec_eval-10").fingerprint
        != Convention.of("trec_eval-9").fingerprint
    )


def test_fingerprints_tell_conventions_apart() -> None:
    """Equal only where every switch is."""
    by_print: dict[str, set[str]] = {}
    for name, preset in PRESETS.items():
        by_print.setdefault(preset.fingerprint, set()).add(name)
    for names in by_print.values():
        assert len({tuple(PRESETS[name].switches().items()) for name in names}) == 1


@dataclass(frozen=True, kw_only=True)
class PlantedRules(Rules):
    """Rules with a switch that a later version might add."""

    planted: str = "before"


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version with one more switch."""
    monkeypatch.setattr(presets, "Rules", PlantedRules)
    monkeypatch.setattr(presets, "SWITCHES", (*SWITCHES, "planted"))
    rules = {name: PlantedRules(**vars(preset.rules)) for name, preset in PRESETS.items()}
    monkeypatch.setattr(
        presets,
        "PRESETS",
        {name: replace(preset, rules=rules[name]) for name, preset in PRESETS.items()},
    )


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize("name", NAMES)
def test_a_later_switch_at_its_default_changes_no_fingerprint(name: str) -> None:
    """Stored results stay comparable; any other value gives other fingerprints."""
    frozen = json.loads(FILE.read_text(encoding="utf-8"))["presets"][name][0]
    assert Convention.of(name).switches()["planted"] == "before"
    assert Convention.of(name).fingerprint == frozen
    assert Convention.of(name, planted="after").fingerprint != frozen


def test_every_switch_of_the_first_fingerprint_counts_at_its_default() -> None:
    """Else a fingerprint of today could change; a switch of today is either one of them or has a
    default to leave out.
    """
    switches = Convention.of("standard").switches()
    for name in switches:
        rest = {switch: value for switch, value in switches.items() if switch != name}
        assert (switches_fingerprint(rest) == switches_fingerprint(switches)) == (
            name in later_defaults()
        ), name


@pytest.mark.usefixtures("planted")
def test_a_record_from_before_a_switch_differs_from_a_later_one_only_where_that_left_the_default(
    tmp_path: Path,
) -> None:
    """`diff` names the switch with both values, never one value and nothing."""
    with ir.Store.open(tmp_path) as store:
        key = store.add(ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR"))
        old, new = store.evaluation(key), store.evaluation(key)
    assert old.fields["convention"]["switches"].pop("planted") == "before"
    for value, told in (
        ("before", []),
        ("after", [{"switch": "planted", "a": "before", "b": "after"}]),
    ):
        new.fields["convention"]["switches"]["planted"] = value
        assert changes(old, new)["convention"] == told
        assert (
            switches_fingerprint(new.fields["convention"]["switches"])
            == old.fields["convention"]["fingerprint"]
        ) == (not told)


@given(conventions(presets=NAMES))
def test_the_name_gives_the_convention_back(convention: Convention) -> None:
    """Whatever was switched."""
    again = Convention.of(convention.name)
    assert again.switches() == convention.switches()
    assert again.fingerprint == convention.fingerprint
    assert again.name == convention.name


@given(conventions(presets=NAMES), conventions(presets=NAMES))
def test_switching_back_restores_name_and_fingerprint(one: Convention, other: Convention) -> None:
    """All switches of another preset, then all of the first again."""
    assert (
        Convention.of(Convention.of(one, **other.switches()), **one.switches()).fingerprint
        == one.fingerprint
    )


def test_gains_and_discounts_are_switches_too() -> None:
    """Also with commas inside."""
    convention = Convention.of("lightgbm,gain={0:0,1:1,2:5},discount=[1,0.5],cutoff=10")
    assert convention.name == "lightgbm,gain={0:0,1:1,2:5},discount=[1,0.5],cutoff=10"
    assert convention.rules.cutoff == 10
    assert Convention.of("xgboost,cutoff=none").rules.cutoff is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lightgmb", "unknown convention 'lightgmb', expected one of standard, "),
        ("standard,tie=docid", "unknown switch 'tie', expected one of ties, "),
        (
            "standard,ties=random",
            "ties=random: expected one of docid | docid-ascending | input | expected | best | "
            "worst",
        ),
        (
            "standard,expected",
            "convention 'expected': expected SWITCH=VALUE after the name, as in "
            "lightgbm,ties=expected",
        ),
        (
            "standard,ties=input,ties=best",
            "convention 'standard,ties=input,ties=best': ties is given twice",
        ),
        ("standard,gain=cubic", "gain=cubic: expected linear | exp2"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    """What was found and what was expected."""
    with pytest.raises(OptionError) as caught:
        Convention.of(text)
    assert message in str(caught.value)


def test_switches_from_python_win_over_the_text() -> None:
    """As a program changes one switch of what a user typed."""
    assert Convention.of("standard,ties=input", ties="best").name == "standard,ties=best"
