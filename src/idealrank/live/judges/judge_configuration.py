"""Configuration of a judge, from a mapping; checked before anything is asked."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from idealrank._keys import (
    Schema,
    amount,
    choice,
    document,
    file_to_read,
    has_value,
    key,
    level,
    part,
    read,
    schema_of,
    text,
    whole,
)
from idealrank._sections import Section
from idealrank.io.configuration_files import labels_key
from idealrank.live.judges.callers import judge_schema
from idealrank.live.judges.judge_answers import Scale
from idealrank.live.request_jobs import SearchPolicy

Aggregate: TypeAlias = Literal["median", "mean", "majority"]
_POLICY = SearchPolicy(timeout=60.0)  # models are slower than search engines
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)$"  # keys of JSON and TOML are texts
_GRADES: Schema = {
    "anyOf": [
        {
            "type": "array",
            "items": {"anyOf": [{"type": "number"}, {"type": "string", "pattern": _NUMBER}]},
            "minItems": 2,
            "uniqueItems": True,
        },
        {
            "type": "object",
            "minProperties": 2,
            "propertyNames": {"pattern": _NUMBER},
            "additionalProperties": {"type": ["string", "null"]},
        },
    ]
}


@dataclass(frozen=True)
class Price:
    """Price of a million tokens, in any currency."""

    input: float = amount("Price of a million tokens read.", 0.0)
    output: float = amount("Price of a million tokens written.", 0.0)

    def of(self, n_input: int | None, n_output: int | None) -> float:
        """Price of so many tokens; unknown numbers cost nothing."""
        return ((n_input or 0) * self.input + (n_output or 0) * self.output) / 1e6


@dataclass(frozen=True, kw_only=True)
class _ScaleKeys:
    """Section ``scale``, unless it has only the grades."""

    grades: Any = key(
        about="Grades, with their meaning or without.",
        read=lambda section, name: section.given[name],
        schema=lambda: _GRADES,
        expected="grades, as in [0, 1, 2, 3]",
    )
    outside: str = choice(
        ("error", "clip"),
        "Treatment of an answer outside the scale: unreadable, or the nearest grade.",
    )
    choose: str = choice(("mode", "mean"), "Grade of an answer with probabilities.")


def _scale(top: Section, name: str) -> Scale:
    """Key ``scale``: a list of grades, grades with their meaning, or a section with ``grades``,
    ``outside`` and ``choose``.
    """
    grades = top.given[name]
    holder = top  # the section and the key that have the grades, for the message
    grades_key = name
    options = {}
    if isinstance(grades, Mapping) and "grades" in grades:
        section = top.section(name)
        keys = read(_ScaleKeys, section)
        holder = section
        grades_key = "grades"
        grades = keys.grades
        options = {"outside": keys.outside, "choose": keys.choose}
    pairs: list[tuple[Any, Any]] = []
    if isinstance(grades, Mapping):
        pairs = list(grades.items())
    elif isinstance(grades, Sequence) and not isinstance(grades, str | bytes):
        pairs = [(grade, "") for grade in grades]
    try:
        return Scale.named([(_grade(grade), _word(word)) for grade, word in pairs], **options)
    except ValueError:
        expected = (
            "a list of two or more finite grades, each once, or grades with their meaning, as in "
            "{0: no, 1: yes}"
        )
        raise holder.error(grades_key, repr(grades), expected) from None


@dataclass(frozen=True, kw_only=True)
class JudgeConfig:
    """Configuration of `idealrank judge run`."""

    schema_rules: ClassVar[Schema] = {"if": has_value("budget"), "then": has_value("price")}
    judge: Section = key(
        about="Model, function or program that grades the pairs.",
        read=lambda top, name: top.section(name),
        schema=lambda: {"$ref": "#/$defs/judge"},
        expected="a section `judge:` with keys and values",
    )
    pairs: str = file_to_read(
        "List of pairs: CSV, JSON lines or JSON with columns query and document.",
        expected="a list of pairs, as in next.csv",
    )
    queries: str | None = file_to_read("Texts of queries by id.")
    documents: str | None = file_to_read("Texts of documents by id.")
    scale: Scale = key(
        Scale.named([(float(grade), "") for grade in range(4)]),
        about="Grades, with their meaning or without; default 0, 1, 2, 3.",
        read=_scale,
        schema=lambda: {"anyOf": [_GRADES, schema_of(_ScaleKeys)]},
    )
    repeats: int = whole("Times that each pair is judged.", 1, most=100)
    # Of two grades in the middle, and of two with the most votes, the lower
    aggregate: Aggregate = choice(
        get_args(Aggregate), "Grade of a pair that is judged several times."
    )
    most_failed: float = amount(
        "Share of pairs without a readable answer up to which judgments are written.",
        0.05,
        most=1.0,
        unit="share of the pairs",
    )
    price: Price | None = part(Price, "Price of a million tokens.", None)
    budget: float | None = amount("Cost after which nothing more is asked.", most=1e9)
    qrels: str | None = file_to_read("Judgments of people, to compare with.")
    labels: str = labels_key()
    output: str | None = text("Judgments to write.")
    cache: str | None = text("File of answers; default OUTPUT.cache.jsonl.")
    policy: SearchPolicy = level(SearchPolicy, _POLICY, without=("limit",))

    @classmethod
    def of(cls, mapping: Any, path: str = "configuration") -> "JudgeConfig":
        """Read a mapping, as YAML, TOML or JSON give it."""
        top = Section(mapping, path, "")
        config = read(cls, top)
        if config.budget is not None and config.price is None:
            raise top.error(
                "budget",
                "a budget without `price`",
                "the price of tokens, as in price: {input: 0.15, output: 0.6}",
            )
        return config

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a configuration."""
        return document("idealrank judge run", cls, judge=judge_schema())


def _word(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise ValueError("word")
    return value or ""


def _grade(value: Any) -> float:
    """A grade; keys of JSON and TOML are texts."""
    is_number = isinstance(value, int | float | str) and not isinstance(value, bool)
    grade = float(value) if is_number else math.nan
    if not math.isfinite(grade):
        raise ValueError("grade")
    return grade
