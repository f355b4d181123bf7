"""Grades of labels that are words, such as ``Exact=3,Substitute=2``."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from idealrank.errors import OptionError, near_ids, shown

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
# A label ends at an equals sign, so it may itself hold commas.
_PAIR = re.compile(rf"\s*([^=]+?)\s*=\s*({_NUMBER})\s*(?:,|\Z)", re.ASCII | re.DOTALL)
_IS_NUMBER = re.compile(rf"{_NUMBER}|[+-]?(?:inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE)
_MOST_LISTED = 8  # labels in a message


def parse_labels(text: str, option: str = "--labels") -> dict[str, float]:
    """Parse grades of labels as the command line takes them."""
    grades: dict[str, float] = {}
    position = 0
    while position < len(text):
        pair = _PAIR.match(text, position)
        if pair is None:
            raise OptionError(
                f"{option} {shown(text)}: expected LABEL=GRADE,LABEL=GRADE,..., as in "
                "Exact=3,Substitute=2"
            )
        label, grade = pair.groups()
        if label in grades:
            raise OptionError(
                f"{option} {shown(text)}: found the label {shown(label)} twice, expected each once"
            )
        grades[label] = float(grade)
        position = pair.end()
    return checked_labels(grades, f"{option} {shown(text)}")


def checked_labels(labels: Mapping[Any, Any] | None, where: str = "labels") -> dict[str, float]:
    """Return grades by label; refuse labels that are numbers, since numbers count as they are."""
    grades: dict[str, float] = {}
    for label, grade in (labels or {}).items():
        word = label.strip() if isinstance(label, str) else ""
        if not word:
            raise OptionError(f"{where}: found the label {shown(repr(label))}, expected a word")
        if _IS_NUMBER.fullmatch(word):
            raise OptionError(
                f"{where}: found the number {shown(word)} as a label, expected a word, since "
                "numbers are grades already"
            )
        try:
            value = float(grade)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise OptionError(
                f"{where}: found {shown(repr(grade))} for {shown(word)}, expected a finite grade"
            )
        grades[word] = value
    return grades


def labels_text(grades: Mapping[str, float]) -> str:
    """Write grades of labels as `parse_labels` reads them."""
    return ",".join(f"{label}={grade:.17g}" for label, grade in grades.items())


def grade_of(value: Any, grades: Mapping[str, float]) -> Any:
    """Return the grade of a label, or of a number written as text beside labels, with or without
    blanks at its ends; any other value as it is.
    """
    if not isinstance(value, str) or not grades:
        return value
    word = value.strip()
    if word in grades:
        return grades[word]
    return float(word) if _IS_NUMBER.fullmatch(word) else value


def graded(qrels: Mapping[Any, Any], grades: Mapping[str, float]) -> dict[Any, Any]:
    """Return a mapping of judgments with the grades of labels in their place."""
    numbers: dict[Any, Any] = {}
    for query, documents in qrels.items():
        if isinstance(documents, Mapping):
            numbers[query] = {
                document: grade_of(label, grades) for document, label in documents.items()
            }
        else:
            numbers[query] = documents
    return numbers


def spelled_grades(texts: Sequence[str], grades: Mapping[str, float]) -> list[str]:
    """Return cells of a column with the grades of labels in their place, as text."""
    numbers = {label: repr(grade) for label, grade in grades.items()}
    return [numbers.get(text.strip(), text) for text in texts]


class LabelAdvice(NamedTuple):
    """End of a message about a word where a grade should be."""

    expected: str
    hint: str
    command_hint: str


def label_advice(word: str, grades: Mapping[str, float]) -> LabelAdvice:
    """Say what a word in the column of grades could have been."""
    if not grades:
        example = shown(word.strip())
        # a broken number, or a number in text where numbers have a type
        if _IS_NUMBER.fullmatch(example) or not any(map(str.isalpha, example)):
            return LabelAdvice(expected="a number", hint="", command_hint="")
        return LabelAdvice(
            expected="a number",
            hint=f"if grades are words, give each its number: labels={{{example!r}: NUMBER, ...}}",
            command_hint="if grades are words, give each its number: --labels "
            f"'{example}=NUMBER,...'",
        )
    names = ", ".join(shown(label) for label in list(grades)[:_MOST_LISTED])
    more = ", ..." if len(grades) > _MOST_LISTED else ""
    near = near_ids(word.strip(), grades, 1)
    question = f"did you mean {shown(near[0])}? " if near else ""
    return LabelAdvice(
        expected=f"a number, or one of the labels {names}{more}",
        hint=f"{question}add the label to labels=",
        command_hint=f"{question}add the label to --labels",
    )
