"""Keys of configuration files. A key is a field of a dataclass, declared once by its `Key`: the
reader, the JSON Schema and the tables of the documentation are made from it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields, is_dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from idealrank._sections import LARGEST_AMOUNT, LARGEST_WHOLE, Section

T = TypeVar("T")
Schema: TypeAlias = Mapping[str, Any]
Reader: TypeAlias = Callable[[Section, str], Any]

_TEXT: Schema = {"type": "string", "minLength": 1}


class Level(NamedTuple):
    """Dataclass whose keys are in the section of another dataclass, not in a section below it."""

    keys: type
    usual: Any = None  # Values of missing keys; None for the defaults of the dataclass
    without: tuple[str, ...] = ()  # Fields whose keys the section lacks
    is_partial: bool = False  # True if the field has only the given values, as a mapping


class Key(NamedTuple):
    """Declaration of a key."""

    about: str = ""  # Sentence; only a level, which is no key of its own, has none
    schema: Callable[[], Schema] = dict  # JSON Schema of the value
    # Value under a name that has one in the section, for null is a missing value; None leaves the
    # default. Without a reader, the class of the section reads the key
    read: Reader | None = None
    name: str = ""  # In files, if the field has another name
    # Further names that `read` looks at, each with its sentence and its schema
    others: Mapping[str, tuple[str, Schema]] = MappingProxyType({})
    expected: str = ""  # What a section must have; empty if the key may be missing
    part: type | None = None  # Dataclass of a section below this one
    level: Level | None = None
    is_file: bool = False  # True if a text is the path of a file to read
    below: type | None = None  # Dataclass of a section that `read` reads; `part` needs none


def key(default: Any = MISSING, *, about: str, **declared: Any) -> Any:
    """Return a field of a dataclass with its `Key`; a key that must be there has no default."""
    declaration = {"key": Key(about, **declared)}
    if declared.get("expected"):
        return field(metadata=declaration)
    if isinstance(default, type):
        return field(default_factory=default, metadata=declaration)
    return field(default=None if default is MISSING else default, metadata=declaration)


def text(
    about: str,
    default: str | None = None,
    *,
    words: str = "a text",
    pattern: str = "",
    is_valid: Callable[[str], object] | None = None,
    made: Callable[[Section, str, str], Any] | None = None,
    may_be_empty: bool = False,
    **declared: Any,
) -> Any:
    """Declare a text, which a regular expression or a function may check. A message that refuses it
    expects `words`, and `made` makes its value.
    """

    def read(section: Section, name: str) -> Any:
        if may_be_empty and section.given[name] == "":
            return ""
        value = section.text(name, "", words=words) or ""
        matches = not pattern or re.fullmatch(pattern, value)
        if not matches or (is_valid is not None and not is_valid(value)):
            raise section.error(name, repr(value), words)
        return value if made is None else made(section, name, value)

    schema = {"type": "string"} if may_be_empty else _TEXT
    if pattern:
        schema = {"type": "string", "pattern": pattern}
    return key(default, about=about, read=read, schema=lambda: schema, **declared)


def file_to_read(about: str, **declared: Any) -> Any:
    """Declare the path of a file to read; `files_in` finds it."""
    return text(about, is_file=True, **declared)


def texts(
    about: str,
    default: tuple[str, ...] = (),
    *,
    words: str = "a list of texts",
    made: Callable[[Section, str, str], Any] | None = None,
    takes_none: bool = True,
    **declared: Any,
) -> Any:
    """Declare a list of texts; one text is a list of one, and no text leaves the default."""
    is_filled = not takes_none or bool(declared.get("expected"))

    def read(section: Section, name: str) -> tuple[Any, ...] | None:
        listed = section.texts(name, words=words)
        if not listed and not takes_none:
            raise section.error(name, repr(section.given[name]), words)
        if made is not None:
            return tuple(made(section, name, value) for value in listed) or None
        return listed or None

    return key(
        default, about=about, read=read, schema=partial(_texts, is_filled=is_filled), **declared
    )


def _texts(*, is_filled: bool) -> Schema:
    listed = {"type": "array", "items": _TEXT} | ({"minItems": 1} if is_filled else {})
    return {"anyOf": [_TEXT, listed]}


def whole(
    about: str,
    default: int | None = None,
    *,
    least: int = 1,
    most: int = LARGEST_WHOLE,
    **declared: Any,
) -> Any:
    """Declare a whole number from `least` to `most`."""

    def read(section: Section, name: str) -> int:
        return section.number(name, default, least=least, most=most)

    schema = {"type": "integer", "minimum": least}
    if most < LARGEST_WHOLE:
        schema["maximum"] = most
    return key(default, about=about, read=read, schema=lambda: schema, **declared)


def share(about: str) -> Any:
    """Declare a share of the queries, from 0 to below 1."""

    def read(section: Section, name: str) -> float:
        return section.share(name)

    schema = {"type": "number", "minimum": 0, "exclusiveMaximum": 1}
    return key(0.0, about=about, read=read, schema=lambda: schema)


def number(about: str, default: float | None = None, **declared: Any) -> Any:
    """Declare any number; the class that it is for checks its range."""

    def read(section: Section, name: str) -> float:
        value = section.given[name]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise section.error(name, repr(value), "a number")
        return float(value)

    return key(default, about=about, read=read, schema=lambda: {"type": "number"}, **declared)


def amount(
    about: str,
    default: float | None = None,
    *,
    least: float = 0.0,
    most: float = LARGEST_AMOUNT,
    is_above: bool = False,
    unit: str = "",
    **declared: Any,
) -> Any:
    """Declare a finite number from `least`, or above it, to `most`."""

    def read(section: Section, name: str) -> float:
        return section.amount(name, default, least=least, most=most, is_above=is_above, unit=unit)

    lowest = "exclusiveMinimum" if is_above else "minimum"
    schema = {"type": "number", lowest: least, "maximum": most}
    return key(default, about=about, read=read, schema=lambda: schema, **declared)


def flag(about: str, *, default: bool | None = False, **declared: Any) -> Any:
    """Declare true or false."""

    def read(section: Section, name: str) -> bool:
        return section.flag(name)

    schema: Schema = {"type": "boolean"}
    return key(default, about=about, read=read, schema=lambda: schema, **declared)


def choice(choices: Sequence[str], about: str, default: str | None = "", **declared: Any) -> Any:
    """Declare one of several words; the first is the default, unless another is given."""

    def read(section: Section, name: str) -> str:
        return section.choice(name, choices)

    usual = choices[0] if default == "" else default
    return key(usual, about=about, read=read, schema=lambda: {"enum": list(choices)}, **declared)


def entries(about: str, read: Reader, schema: Schema, **declared: Any) -> Any:
    """Declare a section whose keys are free, and whose values are alike."""

    def read_all(section: Section, name: str) -> dict[str, Any]:
        inner = section.section(name)
        return {free_key: read(inner, free_key) for free_key in inner.given}

    whole_schema = {"type": "object", "additionalProperties": schema}
    return key(dict, about=about, read=read_all, schema=lambda: whole_schema, **declared)


def text_value(section: Section, name: str) -> str:
    """Return a text, which may be empty."""
    value = section.given[name]
    if not isinstance(value, str):
        raise section.error(name, repr(value), "a text")
    return value


def anything(about: str, default: Any = None, **declared: Any) -> Any:
    """Declare a value of another program, which is passed on as it is."""
    return key(
        default,
        about=about,
        read=lambda section, name: section.given[name],
        schema=dict,
        **declared,
    )


def part(keys: type, about: str, default: Any = MISSING, **declared: Any) -> Any:
    """Declare a section below this one."""
    default = keys if default is MISSING else default
    schema = partial(schema_of, keys)
    return key(default, about=about, part=keys, schema=schema, **declared)


def part_or_text(keys: type, name_of_text: str, about: str, **declared: Any) -> Any:
    """Declare a section below this one, or a text that stands for its key `name_of_text`."""

    def read_either(section: Section, name: str) -> Any:
        if isinstance(section.given[name], str):
            return keys(**{name_of_text: section.text(name, None)})
        return read(keys, section.section(name))

    def schema() -> Schema:
        return {"anyOf": [_TEXT, schema_of(keys)]}

    is_file = keys_of(keys)[name_of_text].is_file
    return key(
        about=about, read=read_either, schema=schema, is_file=is_file, below=keys, **declared
    )


def level(keys: type, usual: Any = None, *, without: tuple[str, ...] = ()) -> Any:
    """Declare a dataclass whose keys are in this section."""
    declared = Level(keys, usual, without)
    return key(keys if usual is None else usual, about="", level=declared)


def given_of(keys: type) -> Any:
    """Declare a mapping of those keys of a dataclass that this section has, by field."""
    return key(dict, about="", level=Level(keys, is_partial=True))


@cache
def keys_of(keys: Any) -> Mapping[str, Key]:
    """Return the keys of a dataclass by its fields; the inherited ones come last."""
    bases = [base for base in keys.__bases__ if is_dataclass(base)]
    inherited = {part.name for base in bases for part in fields(base)}
    declared: list[Field[Any]] = [part for part in fields(keys) if "key" in part.metadata]
    declared.sort(key=lambda part: part.name in inherited)
    return {part.name: part.metadata["key"] for part in declared}


def names_of(keys: type) -> list[str]:
    """Return the names of all keys of a section, in the order of their declarations."""
    return list(_names(keys, ()))


def _names(keys: type, without: Iterable[str]) -> Iterator[str]:
    for name, declared in keys_of(keys).items():
        if name in without:
            continue
        if declared.level is not None:
            yield from _names(declared.level.keys, declared.level.without)
        else:
            yield from (*declared.others, declared.name or name)


def read(
    keys: type[T], section: Section, usual: T | None = None, *, known: tuple[str, ...] = ()
) -> T:
    """Read a section. A missing key has the value of `usual`, or else its default."""
    values = values_of(keys, section, usual, known=known)
    return keys(**values) if usual is None else replace(usual, **values)  # type: ignore[type-var]


def values_of(
    keys: type, section: Section, usual: Any = None, *, known: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the values that a section has, by field; refuse missing keys, and unknown ones except
    for those in `known`, such as the kind.
    """
    section.refuse_unknown(*known, *names_of(keys))
    return _values(keys, section, usual, ())


def _values(keys: type, section: Section, usual: Any, without: tuple[str, ...]) -> dict[str, Any]:
    values = {}
    for name, declared in keys_of(keys).items():
        if name not in without:
            value = _value(declared, declared.name or name, section, getattr(usual, name, None))
            if value is not None:
                values[name] = value
    return values


def _value(declared: Key, name: str, section: Section, usual: Any) -> Any:
    if declared.level is not None:
        return _level_value(declared.level, section)
    if declared.part is not None and (section.has(name) or usual is not None):
        return read(declared.part, section.section(name), usual)
    names = (*declared.others, name)
    value = None
    if declared.read is not None and any(map(section.has, names)):
        value = declared.read(section, name)
    if value is None and declared.expected:
        raise section.error(names[0], "nothing", declared.expected)
    return value


def _level_value(declared: Level, section: Section) -> Any:
    values = _values(declared.keys, section, declared.usual, declared.without)
    if declared.is_partial:
        return values
    if declared.usual is None:
        return declared.keys(**values)
    return replace(declared.usual, **values)


def files_in(keys: type, section: Section) -> Iterator[tuple[Section, str]]:
    """Return the section and the name of each key that has the path of a file to read."""
    for field_name, declared in keys_of(keys).items():
        name = declared.name or field_name
        below = declared.part or declared.below
        value = section.given.get(name)
        if declared.is_file and isinstance(value, str):
            yield section, name
        elif below is not None and isinstance(value, Mapping):
            yield from files_in(below, section.section(name))


def _properties(keys: Any, usual: Any = None, without: Iterable[str] = ()) -> dict[str, Schema]:
    properties: dict[str, Schema] = {}
    for name, declared in keys_of(keys).items():
        if name in without:
            continue
        if declared.level is not None:
            inner = declared.level
            properties |= _properties(inner.keys, inner.usual, inner.without)
            continue
        for other, (about, schema) in declared.others.items():
            properties[other] = {"description": about, **or_null(schema)}
        default = getattr(usual, name, None) if usual is not None else getattr(keys, name, None)
        properties[declared.name or name] = _property(declared, default)
    return properties


def _property(declared: Key, default: Any) -> Schema:
    """Schema of a key with its sentence and its default, unless the sentence names one."""
    schema = declared.schema()
    if declared.part is not None and default is not None:
        schema = schema_of(declared.part, usual=default)
    if not declared.expected or declared.others:
        schema = or_null(schema)
    annotations: dict[str, Any] = {"description": declared.about}
    is_plain = isinstance(default, str | int | float | tuple) and default not in ("", ())
    if is_plain and "default" not in declared.about:
        annotations["default"] = list(default) if isinstance(default, tuple) else default
    return {**annotations, **schema}


def or_null(schema: Schema) -> Schema:
    """Return the JSON Schema of a key that may be missing: as it is with null."""
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    several = next((word for word in ("anyOf", "oneOf") if word in schema), None)
    if several is not None:
        return {**schema, several: [*schema[several], {"type": "null"}]}
    if "type" in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]} if schema else schema


def has_value(name: str, of: Schema = MappingProxyType({})) -> Schema:
    """Return the JSON Schema of a section that has a value of this schema under a name."""
    return {"required": [name], "properties": {name: {"not": {"type": "null"}, **of}}}


def schema_of(keys: type, kind: str = "", *, usual: Any = None) -> dict[str, Any]:
    """Return the JSON Schema of a section, of a kind if it has one, with its defaults or the values
    of `usual`; `schema_rules` of the dataclass are further rules.
    """
    of_kind: dict[str, Schema] = {"kind": {"const": kind}} if kind else {}
    needed = [
        declared.name or name
        for name, declared in keys_of(keys).items()
        if declared.expected and not declared.others
    ]
    required = [*of_kind, *needed]
    return {
        "type": "object",
        "properties": of_kind | _properties(keys, usual),
        **({"required": required} if required else {}),
        "additionalProperties": False,
        **getattr(keys, "schema_rules", {}),
    }


def schema_of_kinds(schemas: Mapping[str, Schema], about: str) -> dict[str, Any]:
    """Return the JSON Schema of a section whose key `kind` decides on the others; `about` is the
    sentence of that key.
    """
    kinds = [
        {
            "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
            "then": schema,
        }
        for kind, schema in schemas.items()
    ]
    return {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"description": about, "enum": list(schemas)}},
        "allOf": kinds,
    }


def document(title: str, keys: type, **shared: Schema) -> dict[str, Any]:
    """Return the JSON Schema of a file; `shared` are the parts that it refers to by name."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **schema_of(keys),
    }
    return schema | ({"$defs": shared} if shared else {})
