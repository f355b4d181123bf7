"""Chances of relevance as one types them: polynomials in s, logistic curves, and points joined by
straight lines.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import OptionError
from idealrank.measures.gains import GainLike
from idealrank.theory.relevance import Chance, RelevanceModel

_LONGEST = 2_000  # characters of a text
_DEEPEST = 20  # brackets inside each other: far from the end of Python's stack
_HIGHEST = 64  # power
_MOST = 1_000  # points of a line
_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>{_NUMBER})|(?P<name>[a-z]+)|(?P<sign>\*\*|[-+*^(),])|(?P<end>$))"
)
_SIGNED = re.compile(rf"\s*[-+]?{_NUMBER}\s*")
_POINT = re.compile(rf"({_SIGNED.pattern}):({_SIGNED.pattern})")
_EXPECTED = "a polynomial in s such as 0.1+0.8s, logistic(8,-5), or points such as 0:0.1,1:0.9"

_Function: TypeAlias = Callable[[FloatArray], FloatArray]


class RelevanceCurve(NamedTuple):
    """A chance of relevance at each canonical score, and where it has kinks or jumps."""

    chance: Chance
    points: tuple[float, ...] = ()


def parse_model(texts: "str | Sequence[str]", *, gain: GainLike = "linear") -> RelevanceModel:
    """A model of relevance from text."""
    listed = [texts] if isinstance(texts, str) else list(texts)
    graded = [_split_grade(text) for text in listed]
    if not listed or (len(listed) > 1 and any(grade is None for grade, _ in graded)):
        raise OptionError(
            f"ybar: found {listed}, expected one text, or several that each begin with a grade, as "
            "in 2:0.05+0.35s^2"
        )
    curves = [(1.0 if grade is None else grade, parse_curve(text)) for grade, text in graded]
    if len({grade for grade, _ in curves}) < len(curves):
        raise OptionError(f"ybar: found {listed}, expected each grade once")
    points = [point for _, curve in curves for point in curve.points]
    return RelevanceModel.of(
        {grade: curve.chance for grade, curve in curves}, points=points, gain=gain
    )


def _split_grade(text: str) -> tuple[float | None, str]:
    """The grade before a colon, and the rest; the points of a line have a colon each, too."""
    first, *others = text.split(",")
    is_line = any(":" in part for part in others)
    if first.count(":") < (2 if is_line else 1):
        return None, text
    head, _, rest = text.partition(":")
    if not _SIGNED.fullmatch(head.lower()):
        raise OptionError(
            f"ybar {text!r}: found {head!r} before the colon, expected a grade, as in "
            f"2:0.05+0.35s^2"
        )
    return float(head), rest


def parse_curve(text: str) -> RelevanceCurve:
    """One chance of relevance from text."""
    if len(text) > _LONGEST:
        raise OptionError(
            f"ybar {text[:40]!r}...: found {len(text)} characters, expected at most {_LONGEST}"
        )
    if ":" in text:
        return _line(text)
    return RelevanceCurve(_Parser(text=text).whole())


# --- points ---------------------------------------------------------------------------------------


def _line(text: str) -> RelevanceCurve:
    matches = [_POINT.fullmatch(part.lower()) for part in text.split(",")]
    if not all(matches) or not 2 <= len(matches) <= _MOST:
        raise OptionError(
            f"ybar {text!r}: expected 2 to {_MOST} points s:probability, separated by commas, as "
            "in 0:0.1,1:0.9"
        )
    pairs = [(float(point[1]), float(point[2])) for point in matches if point]
    return line_through(pairs, f"ybar {text!r}")


def line_through(pairs: Sequence[tuple[float, float]], name: str) -> RelevanceCurve:
    """Straight lines through points; two at one score are a jump."""
    scores, values = np.array(pairs, np.float64).T
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        raise OptionError(
            f"{name}: found probability {values[wrong][0]:g}, expected probabilities from 0 to 1"
        )
    steps = np.diff(scores)
    if (
        scores[0] != 0
        or scores[-1] != 1
        or (steps < 0).any()
        or steps[0] == 0
        or steps[-1] == 0
        or ((steps[1:] == 0) & (steps[:-1] == 0)).any()
    ):
        raise OptionError(
            f"{name}: expected scores that rise from 0 to 1, each once, or twice for a jump; found "
            f"{', '.join(f'{s:g}' for s in scores[:12])}"
        )

    def chance(score: FloatArray) -> FloatArray:
        piece = np.clip(np.searchsorted(scores, score, side="right") - 1, 0, scores.size - 2)
        share = (score - scores[piece]) / (scores[piece + 1] - scores[piece])
        between: FloatArray = values[piece] * (1 - share) + values[piece + 1] * share
        return between

    return RelevanceCurve(chance, tuple(sorted(set(scores[1:-1].tolist()))))


# --- expressions ----------------------------------------------------------------------------------


class _Token(NamedTuple):
    kind: str  # "number", "name", "sign" or "end"
    text: str
    place: int


def _scaled(factor: float, function: _Function) -> _Function:
    return lambda s: factor * function(s)


@dataclass(kw_only=True)
class _Parser:
    """Recursive descent; nothing is ever evaluated as Python.

    sum = ["-"] product {("+" | "-") product}; product = power {["*"] power}; power = atom ["^"
    whole number]; atom = number | "s" | "logistic(" number "," number ")" | "(" sum ")"
    """

    text: str
    tokens: list[_Token] = field(default_factory=list)
    next: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        place = 0
        lower = self.text.lower()
        while not self.tokens or self.tokens[-1].kind != "end":
            match = _TOKEN.match(lower, place)
            if match is None:
                rest = lower[place:].lstrip()
                raise OptionError(f"ybar {self.text!r}: found {rest[0]!r}, expected {_EXPECTED}")
            kind = match.lastgroup or "end"
            self.tokens.append(_Token(kind, match[kind], match.start(kind)))
            place = match.end()

    def whole(self) -> Chance:
        """The function of the whole text."""
        function = self._sum()
        if self._here.kind != "end":
            raise self._wrong("an operator, or the end")

        def chance(score: FloatArray) -> FloatArray:
            with np.errstate(all="ignore"):  # what overflows is no chance, and the model says so
                return function(np.asarray(score, np.float64))

        return chance

    @property
    def _here(self) -> _Token:
        return self.tokens[self.next]

    def _take(self, *texts: str) -> str:
        """Take the sign at this place, if it is one of these; else return an empty text."""
        token = self._here
        if token.kind == "sign" and token.text in texts:
            self.next += 1
            return token.text
        return ""

    def _wrong(self, expected: str) -> OptionError:
        token = self._here
        shown_token = repr(token.text) if token.text else "the end"
        place = token.place + 1
        return OptionError(
            f"ybar {self.text!r}: found {shown_token} at character {place}, expected {expected}"
        )

    def _sum(self) -> _Function:
        negative = self._take("-", "+") == "-"
        terms = [_scaled(-1.0 if negative else 1.0, self._product())]
        while sign := self._take("+", "-"):
            terms.append(_scaled(-1.0 if sign == "-" else 1.0, self._product()))
        first, *others = terms
        return lambda s: sum((term(s) for term in others), start=first(s))

    def _product(self) -> _Function:
        factors = [self._power()]
        while (
            self._take("*")
            or self._here.kind == "name"
            or (self._here.kind, self._here.text) == ("sign", "(")
        ):
            factors.append(self._power())
        first, *others = factors
        return lambda s: math.prod((factor(s) for factor in others), start=first(s))

    def _power(self) -> _Function:
        base = self._atom()
        if not self._take("^", "**"):
            return base
        token = self._here
        if token.kind != "number" or not token.text.isdecimal() or int(token.text) > _HIGHEST:
            raise self._wrong(f"a whole power from 0 to {_HIGHEST}")
        self.next += 1
        return lambda s: base(s) ** int(token.text)

    def _atom(self) -> _Function:
        token = self._here
        if token.kind == "number":
            value = self._number()
            return lambda s: np.full(s.shape, value)
        if (token.kind, token.text) == ("name", "s"):
            self.next += 1
            return lambda s: s
        if (token.kind, token.text) == ("name", "logistic"):
            self.next += 1
            return self._logistic()
        if token.kind == "name":
            raise self._wrong(_EXPECTED)
        if not self._take("("):
            raise self._wrong("a number, s, logistic(a,b) or an opening bracket")
        return self._bracketed()

    def _bracketed(self) -> _Function:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._wrong(f"at most {_DEEPEST} brackets inside each other")
        function = self._sum()
        self.depth -= 1
        if not self._take(")"):
            raise self._wrong("a closing bracket")
        return function

    def _logistic(self) -> _Function:
        numbers = []
        for mark in ("(", ","):
            if not self._take(mark):
                raise self._wrong("two numbers, as in logistic(8,-5)")
            negative = self._take("-", "+") == "-"
            numbers.append(-self._number() if negative else self._number())
        if not self._take(")"):
            raise self._wrong("a closing bracket, as in logistic(8,-5)")
        slope, shift = numbers
        return lambda s: 1 / (1 + np.exp(-(slope * s + shift)))

    def _number(self) -> float:
        token = self._here
        if token.kind != "number" or not math.isfinite(float(token.text)):
            raise self._wrong("a finite number")
        self.next += 1
        return float(token.text)
