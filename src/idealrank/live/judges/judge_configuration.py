"""Configuration of a judge, from a mapping; checked before anything is asked."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from idealrank._sections import Section
from idealrank.live.judges.judge_answers import Scale
from idealrank.live.search_configuration import policy_of
from idealrank.live.search_jobs import SearchPolicy

KEYS = (
    "judge",
    "pairs",
    "queries",
    "documents",
    "scale",
    "repeats",
    "aggregate",
    "most_failed",
    "price",
    "budget",
    "qrels",
    "output",
    "cache",
    "concurrency",
    "rate",
    "timeout",
    "retries",
    "backoff",
    "breaker",
    "seed",
)
"""Keys of a configuration of `idealrank judge run`."""

AGGREGATES = ("median", "mean", "majority")
_TIMEOUT = 60.0  # seconds for an answer: models are slower than search engines
_MOST_REPEATS = 100  # times that a pair is judged


@dataclass(frozen=True)
class Price:
    """Price of a million tokens, in any currency."""

    # input, output: Price of a million tokens read, and written
    input: float = 0.0
    output: float = 0.0

    def of(self, n_input: int | None, n_output: int | None) -> float:
        """Price of so many tokens; unknown numbers cost nothing."""
        return ((n_input or 0) * self.input + (n_output or 0) * self.output) / 1e6


@dataclass(frozen=True, kw_only=True)
class JudgeConfig:
    """Configuration of `idealrank judge run`."""

    judge: Section  # The judge
    pairs: str  # List of pairs, as `read_pairs` reads it
    # queries, documents: Files of texts
    queries: str | None
    documents: str | None
    scale: Scale  # Grades
    repeats: int  # Times that each pair is judged
    # Grade of a pair that is judged several times; of two in the middle, and of two with the most
    # votes, the lower
    aggregate: Literal["median", "mean", "majority"]
    most_failed: float  # Share of pairs without a readable answer up to which judgments are written
    price: Price | None  # Price of tokens
    budget: float | None  # Cost after which nothing more is asked
    qrels: str | None  # Judgments of people, to compare with
    # output, cache: Files that are written
    output: str | None
    cache: str | None
    policy: SearchPolicy  # Limits of the job

    @classmethod
    def of(cls, mapping: Any, path: str = "configuration") -> "JudgeConfig":
        """Read a mapping, as YAML, TOML or JSON give it."""
        top = Section(mapping, path, "")
        top.refuse_unknown(*KEYS)
        judge = top.section("judge", required=True)
        pairs = top.text("pairs", None)
        if pairs is None:
            raise top.error("pairs", "nothing", "a list of pairs, as in next.csv")

        repeats = top.number("repeats", 1)
        if repeats > _MOST_REPEATS:
            raise top.error("repeats", str(repeats), f"a whole number from 1 to {_MOST_REPEATS}")
        price = _price(top.section("price")) if top.has("price") else None
        budget = top.amount("budget", 0.0, most=1e9) if top.has("budget") else None
        if budget is not None and price is None:
            raise top.error(
                "budget",
                "a budget without `price`",
                "the price of tokens, as in price: {input: 0.15, output: 0.6}",
            )

        most_failed = top.amount("most_failed", 0.05, most=1.0, unit="share of the pairs")
        aggregate = cast(
            'Literal["median", "mean", "majority"]', top.choice("aggregate", AGGREGATES)
        )
        policy = policy_of(top, SearchPolicy(timeout=_TIMEOUT))
        return cls(
            judge=judge,
            pairs=pairs,
            queries=top.text("queries", None),
            documents=top.text("documents", None),
            scale=_scale(top),
            repeats=repeats,
            aggregate=aggregate,
            most_failed=most_failed,
            price=price,
            budget=budget,
            qrels=top.text("qrels", None),
            output=top.text("output", None),
            cache=top.text("cache", None),
            policy=policy,
        )


def _price(section: Section) -> Price:
    section.refuse_unknown("input", "output")
    return Price(section.amount("input", 0.0), section.amount("output", 0.0))


def _scale(top: Section) -> Scale:
    """Key ``scale``: a list of grades, grades with their meaning, or a section with ``grades``,
    ``outside`` and ``choose``.
    """
    grades = top.given.get("scale")
    section: Section | None = None
    options: dict[str, str] = {}
    if isinstance(grades, Mapping) and "grades" in grades:
        section = top.section("scale")
        section.refuse_unknown("grades", "outside", "choose")
        options = {
            "outside": section.choice("outside", ("error", "clip")),
            "choose": section.choice("choose", ("mode", "mean")),
        }
        grades = section.given["grades"]
    expected = (
        "a list of two or more finite grades, each once, or grades with their meaning, as in {0: "
        "no, 1: yes}"
    )
    if grades is None:
        grades = [0, 1, 2, 3]
    pairs: list[tuple[Any, Any]] = []
    if isinstance(grades, Mapping):
        pairs = list(grades.items())
    elif _is_list(grades):
        pairs = [(grade, "") for grade in grades]
    try:
        return Scale.named([(_grade(grade), _word(word)) for grade, word in pairs], **options)
    except ValueError:
        raise (section or top).error(
            "grades" if section else "scale", repr(grades), expected
        ) from None


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


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
