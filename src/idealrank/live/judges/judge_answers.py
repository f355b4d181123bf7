"""Protocol of judges: a pair in, a grade out; and the grades that their answers stand for."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from idealrank._keys import text
from idealrank.errors import BackendError, shown
from idealrank.io.judgment_files import grade_text
from idealrank.judging.files.judgment_pairs import JudgmentPair

MOST_TOKENS = 10**12
"""Number of tokens above which a count is taken for nonsense of a service."""

_SUM = 1e-3  # tolerance of a sum of probabilities, which services round
_OBJECT = re.compile(r"\{[^{}]*\}", re.DOTALL)
_FENCE = re.compile(r"^```[a-z]*\s*|\s*```$")


@dataclass(frozen=True)
class Scale:
    """Grades that a judge may give, with their meaning."""

    words: Mapping[float, str]  # Meaning of each grade, in rising order; empty where none is given
    # Treatment of other grades: the answer is unreadable, or counts as the nearest grade
    outside: str = "error"
    # Grade of an answer with probabilities: the most probable, the lower of two; or the expected
    # value, off the scale's grades
    choose: str = "mode"

    @classmethod
    def of(cls, text: str) -> "Scale":
        """Read grades with commas between, each with its meaning behind an equals sign where there
        is one.
        """
        entries = [entry.partition("=") for entry in text.split(",")]
        return cls.named([(float(grade), word.strip()) for grade, _, word in entries])

    @classmethod
    def named(cls, pairs: Sequence[tuple[float, str]], **options: str) -> "Scale":
        """Take grades and meanings in any order."""
        words = dict(sorted(pairs))
        if len(words) != len(pairs) or len(words) < 2 or not all(map(math.isfinite, words)):
            raise ValueError("scale")
        return cls(words, **options)

    @property
    def grades(self) -> tuple[float, ...]:
        """Grades, rising."""
        return tuple(self.words)

    @property
    def text(self) -> str:
        """Grades with commas between."""
        return ", ".join(map(grade_text, self.words))

    @property
    def lines(self) -> str:
        """A line for each grade with its meaning."""
        return "\n".join(
            f"{grade_text(grade)}{f': {word}' if word else ''}"
            for grade, word in self.words.items()
        )

    def fitted(self, grade: float) -> float:
        """Return a grade of the scale."""
        if grade in self.words:
            return float(grade)
        if self.outside == "clip" and math.isfinite(grade):
            return min(self.words, key=lambda allowed: (abs(allowed - grade), allowed))
        shown_grade = grade_text(grade) if math.isfinite(grade) else grade
        raise ValueError(f"found the grade {shown_grade}, expected one of {self.text}")


@dataclass(frozen=True, kw_only=True)
class JudgeAnswer:
    """Answer of a judge."""

    grade: float | None  # None for an abstention, and for an answer that cannot be read
    probabilities: Mapping[float, float] | None = None  # Probability of each grade
    unreadable: str = ""  # What is wrong with the answer; empty if it can be read
    text: str = ""  # The answer as the judge wrote it
    # input_tokens, output_tokens: Tokens read and written
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str = ""  # Model that answered, as the service names it

    @property
    def status(self) -> str:
        """``graded``, ``abstained`` or ``unreadable``."""
        if self.unreadable:
            return "unreadable"
        return "abstained" if self.grade is None else "graded"


@dataclass(frozen=True, kw_only=True)
class JudgeKeys:
    """Keys of every judge of a configuration, besides its kind."""

    name: str = text("Name of the assessor in the judgments.", "")
    version: str = text("Part of the key of the cache: change it to ask anew.", "")


class Judge(Protocol):
    """A function, program or model that grades documents.

    `ask` may be called from several threads at once. It raises `BackendError`, temporary if another
    attempt may succeed.
    """

    name: str  # Name of the assessor in judgments
    kind: str  # ``function``, ``command`` or ``model``
    # What answers depend on besides the pair, as plain values without secrets: the model, its
    # prompt and parameters
    identity: Mapping[str, Any]

    def ask(self, pair: JudgmentPair, repeat: int) -> JudgeAnswer:
        """Grade a pair; `repeat` counts from 1."""
        ...

    def close(self) -> None:
        """Release connections and processes."""


def answer_of(value: Any, scale: Scale, **details: Any) -> JudgeAnswer:
    """Return the answer that a value stands for: a grade, probabilities of grades, or None for an
    abstention.
    """
    if value is None:
        return JudgeAnswer(grade=None, **details)
    try:
        if isinstance(value, Mapping | list | tuple):
            chances = _chances(value, scale)
            return JudgeAnswer(grade=_chosen(chances, scale), probabilities=chances, **details)
        return JudgeAnswer(grade=scale.fitted(_number(value)), **details)
    except ValueError as error:
        return JudgeAnswer(grade=None, unreadable=str(error), **details)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"found {shown(repr(value))}, expected a grade, probabilities or nothing"
        ) from None


def _chances(value: Any, scale: Scale) -> dict[float, float]:
    """Probabilities by grade, each grade of the scale once."""
    if isinstance(value, Mapping):
        chances = {_number(grade): _number(chance) for grade, chance in value.items()}
    elif len(value) == len(scale.grades):
        chances = dict(zip(scale.grades, map(_number, value), strict=True))
    else:
        raise ValueError(
            f"found {len(value)} probabilities, expected {len(scale.grades)}, one for each grade "
            f"of {scale.text}"
        )
    stray = next((grade for grade in chances if grade not in scale.words), None)
    if stray is not None:
        raise ValueError(
            f"found a probability of the grade {stray:g}, expected grades of {scale.text}"
        )
    total = sum(chances.values())
    if not all(0 <= chance <= 1 + _SUM for chance in chances.values()) or abs(total - 1) > _SUM:
        raise ValueError(
            f"found probabilities that sum to {total:g}, expected numbers from 0 to 1 that sum to 1"
        )
    return {grade: chances.get(grade, 0.0) / total for grade in scale.grades}


def _chosen(chances: Mapping[float, float], scale: Scale) -> float:
    if scale.choose == "mean":
        return math.fsum(grade * chance for grade, chance in chances.items())
    return max(chances, key=lambda grade: (chances[grade], -grade))


def answer_of_text(
    text: str, scale: Scale, pattern: "re.Pattern[str] | None" = None, **details: Any
) -> JudgeAnswer:
    r"""Return the answer that a model's text stands for."""
    plain = _FENCE.sub("", text.strip())
    if pattern is not None:
        grades = [match[1] for match in pattern.finditer(text)]
        if not grades:
            unreadable = f"found {shown(repr(text))}, expected text with {pattern.pattern}"
            return JudgeAnswer(grade=None, unreadable=unreadable, text=text, **details)
        return answer_of(grades[-1], scale, text=text, **details)
    for candidate in (plain, *reversed(_OBJECT.findall(text))):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "grade" in value:
            # A function may return True or False; from a model they are not a grade.
            if isinstance(value["grade"], bool):
                unreadable = (
                    f"found the grade {json.dumps(value['grade'])}, expected one of {scale.text}"
                )
                return JudgeAnswer(grade=None, unreadable=unreadable, text=text, **details)
            return answer_of(value["grade"], scale, text=text, **details)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return answer_of(value, scale, text=text, **details)
    found_text = shown(repr(text)) if text.strip() else "an empty text"
    return JudgeAnswer(
        grade=None,
        unreadable=f"found {found_text}, expected a grade of {scale.text}",
        text=text,
        **details,
    )


def value_of_line(value: Any, name: str) -> Any:
    """Return the grade or the probabilities in the answer of a program: the value itself, or that
    of ``grade`` or ``probabilities``.
    """
    if not isinstance(value, dict):
        return value
    if "probabilities" in value:
        return value["probabilities"]
    if "grade" in value:
        return value["grade"]
    raise BackendError(
        f"{name}: found {shown(json.dumps(value))}, expected a grade, or an object with grade or "
        "probabilities"
    )
