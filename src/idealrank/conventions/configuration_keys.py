"""Keys of configuration files that name measures, conventions, gains and discounts."""

from collections.abc import Callable
from typing import Any

from idealrank._keys import Schema, key, text, texts
from idealrank._sections import Section
from idealrank.conventions.presets import Convention
from idealrank.errors import OptionError
from idealrank.measures.discounts import DISCOUNT_FAMILIES, DISCOUNT_NAMES, make_discount
from idealrank.measures.gains import GAIN_NAMES, make_gain
from idealrank.measures.parse import parse_run_measure


def measures_key(about: str, default: tuple[str, ...] = (), **declared: Any) -> Any:
    """Declare a list of measures, which stay texts."""
    words = "a measure, or a list of measures"
    return texts(about, default, words=words, made=_valid_for(parse_run_measure), **declared)


def measure_key(about: str) -> Any:
    """Declare a measure, which stays a text."""
    return text(about, words="a measure, as in nDCG@10", made=_valid_for(parse_run_measure))


def convention_key(default: str | None = "standard") -> Any:
    """Declare a convention, which stays a text."""
    words = "the name of a convention"
    return text("Convention of the values.", default, words=words, made=_valid_for(Convention.of))


def gain_key(default: str | None = None) -> Any:
    """Declare a gain: its name, or a table by grade."""
    pattern = _pattern(GAIN_NAMES, ("power",), "{}")
    table = {"type": "object", "minProperties": 1}
    return _named_key(
        "Gain of each grade.", default, make_gain, pattern=pattern, table_type=dict, table=table
    )


def discount_key(default: str | None = None) -> Any:
    """Declare a discount: its name, or the weights of ranks 1, 2, ..."""
    pattern = _pattern(DISCOUNT_NAMES, DISCOUNT_FAMILIES, "[]")
    weights = {"type": "array", "items": {"type": "number"}, "minItems": 1}
    return _named_key(
        "Weight of each rank.",
        default,
        make_discount,
        pattern=pattern,
        table_type=list,
        table=weights,
    )


def _named_key(
    about: str,
    default: str | None,
    make: Callable[[Any], object],
    *,
    pattern: str,
    table_type: type,
    table: Schema,
) -> Any:
    """Declare a name of this pattern, or a table."""

    def read(section: Section, name: str) -> Any:
        value = section.given[name]
        if not isinstance(value, str | table_type):
            raise section.error(name, repr(value), "a name, as in linear, or a table of numbers")
        return _valid_for(make)(section, name, value)

    schema = {"anyOf": [{"type": "string", "pattern": pattern}, table]}
    return key(default, about=about, read=read, schema=lambda: schema)


def _valid_for(make: Callable[[Any], object]) -> Callable[[Section, str, Any], Any]:
    """Return a function that returns a value as it is, if `make` takes it."""

    def checked(section: Section, name: str, value: Any) -> Any:
        try:
            make(value)
        except OptionError as error:
            raise section.refusal(name, error) from None
        return value

    return checked


def _pattern(names: tuple[str, ...], families: tuple[str, ...], brackets: str) -> str:
    """Pattern of a name, a family with its parameter, or a table in brackets."""
    begin, end = tuple(brackets)
    listed, with_parameter = ("|".join(map(_any_case, words)) for words in (names, families))
    return rf"^\s*({listed}|({with_parameter})\(.+\)|\{begin}.+\{end})\s*$"


def _any_case(word: str) -> str:
    """Pattern of a word in small or capital letters, for which JSON Schema has no flag."""
    letters = (f"[{letter}{letter.upper()}]" if letter.isalpha() else letter for letter in word)
    return "".join(letters)
