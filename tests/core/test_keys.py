"""A key of a configuration is declared once: its reader, its schema and its default agree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest

from idealrank import _keys as keys
from idealrank._sections import Section
from idealrank.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class Pause:
    failures: int = keys.whole("Failures in a row.", 10)
    seconds: float = keys.amount("Length.", 2.5, most=60.0, is_above=True, unit="seconds")


@dataclass(frozen=True, kw_only=True)
class Limits:
    limit: int = keys.whole("Documents.", 100, most=1000)
    pause: Pause = keys.part(Pause, "Pause of a job.")


@dataclass(frozen=True, kw_only=True)
class Texts:
    path: str = keys.text("File.", expected="a file")
    vectors: str | None = keys.text("Vectors.")


@dataclass(frozen=True, kw_only=True)
class Job:
    name: str = keys.text("Name.", pattern="^[a-z]+$", words="small letters", expected="a name")
    queries: Texts = keys.part_or_text(Texts, "path", "Queries.", expected="a file of queries")
    files: tuple[str, ...] = keys.texts("Files.", ("a.run",))
    some: tuple[str, ...] = keys.texts("Paths.", words="a path, or paths", takes_none=False)
    order: str = keys.choice(("score", "distance"), "Meaning of the numbers.")
    driver: str | None = keys.choice(("a", "b"), "Driver.", None)
    rows: int | None = keys.whole("Rows.")
    weights: Mapping[str, float] = keys.entries(
        "Weights.", lambda part, own: part.amount(own, None), {"type": "number", "minimum": 0}
    )
    share: float = keys.share("Share of the queries.")
    exact: bool = keys.flag("Exact.")
    body: Any = keys.anything("Body.")
    limits: Limits = keys.level(Limits, Limits(limit=7), without=("limit",))
    note: str = ""  # No key


NEEDED: dict[str, Any] = {"name": "a", "queries": "q.tsv"}


def job(**given: Any) -> Job:
    return keys.read(Job, Section(NEEDED | given, "a.yaml", ""))


def test_missing_keys_have_their_defaults_and_those_of_a_level_the_usual_values() -> None:
    usual = Limits(limit=7)
    assert job() == Job(
        name="a", queries=Texts(path="q.tsv"), files=("a.run",), order="score", limits=usual
    )


def test_every_kind_of_key_is_read() -> None:
    read = job(
        queries={"path": "q", "vectors": "v"},
        files="b.run",
        some=["c", "d"],
        order="distance",
        driver="b",
        rows=3,
        weights={"title": 2},
        share=0.5,
        exact=True,
        body=[1],
        pause={"seconds": 4},
    )

    assert read.queries == Texts(path="q", vectors="v")
    assert (read.files, read.some, read.order, read.driver) == (
        ("b.run",),
        ("c", "d"),
        "distance",
        "b",
    )
    assert (read.rows, read.weights, read.share, read.exact) == (3, {"title": 2.0}, 0.5, True)
    assert (read.body, read.limits) == ([1], Limits(limit=7, pause=Pause(seconds=4.0)))


@pytest.mark.parametrize("key", [name for name in keys.names_of(Job) if name not in NEEDED])
def test_null_is_a_missing_value_where_a_key_may_be_missing(key: str) -> None:
    assert job(**{key: None}) == job()
    assert jsonschema.Draft202012Validator(keys.schema_of(Job)).is_valid(NEEDED | {key: None})


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"name": None}, "a.yaml: name: found nothing, expected a name"),
        ({"name": "A"}, "a.yaml: name: found 'A', expected small letters"),
        ({"queries": {}}, "a.yaml: queries.path: found nothing, expected a file"),
        ({"queries": None}, "a.yaml: queries: found nothing, expected a file of queries"),
        ({"some": []}, r"some: found \[\], expected a path, or paths"),
        ({"rows": 0}, "rows: found 0, expected a whole number of 1 or more"),
        ({"weights": {"a": -1}}, "weights.a: found -1, expected a number of 0 or more"),
        ({"pause": {"seconds": 0}}, r"pause.seconds: found 0, expected a number above 0 \(sec"),
        ({"pause": {"seconds": 61}}, r"found 61, expected a number from 0 to 60 \(seconds\)"),
        ({"limit": 3}, "unknown key 'limit', expected name, queries, .*, pause$"),
        ({"note": "b"}, "a.yaml: unknown key 'note'"),
        ({"ordre": "score"}, r"unknown key 'ordre', .*; did you mean order\?"),
    ],
)
def test_a_refused_value_is_refused_by_the_schema_too(given: dict[str, Any], error: str) -> None:
    with pytest.raises(OptionError, match=error):
        job(**given)
    schema = jsonschema.Draft202012Validator(keys.schema_of(Job))
    assert list(schema.iter_errors(NEEDED | given)) != []


def test_a_pattern_holds_for_the_whole_text() -> None:
    with pytest.raises(OptionError, match="expected small letters"):
        job(name="a\n")


def test_a_schema_has_the_sentence_and_the_default_of_each_key() -> None:
    properties = keys.schema_of(Job)["properties"]

    assert properties["order"] == {
        "description": "Meaning of the numbers.",
        "default": "score",
        "enum": ["score", "distance", None],
    }
    assert properties["pause"]["properties"]["failures"]["default"] == 10
    assert list(properties) == keys.names_of(Job)
    assert keys.schema_of(Job)["required"] == ["name", "queries"]


def test_a_kind_decides_on_the_other_keys() -> None:
    kinds = {"pause": keys.schema_of(Pause, "pause"), "texts": keys.schema_of(Texts, "texts")}
    schema = keys.document("one", Pause, section=keys.schema_of_kinds(kinds, "Kind."))
    check = jsonschema.Draft202012Validator(schema["$defs"]["section"])

    assert schema["title"] == "one"
    assert check.is_valid({"kind": "pause", "failures": 3})
    assert not check.is_valid({"kind": "texts", "failures": 3})
    assert not check.is_valid({"kind": "other"})


def test_inherited_keys_come_last_and_an_overridden_default_holds() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Longer(Pause):
        failures: int = keys.whole("Failures in a row.", 20)
        url: str = keys.text("Address.", expected="an address")

    assert keys.names_of(Longer) == ["url", "failures", "seconds"]
    assert keys.schema_of(Longer)["properties"]["failures"]["default"] == 20


def test_given_keys_of_another_dataclass_are_a_mapping_of_them() -> None:
    @dataclass(frozen=True, kw_only=True)
    class File:
        rule: Mapping[str, Any] = keys.given_of(Limits)

    section = Section({"limit": 3}, "a.toml", "")
    assert keys.read(File, section).rule == {"limit": 3}
    assert keys.read(File, Section({}, "a.toml", "")).rule == {}
