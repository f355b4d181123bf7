"""Configuration files: YAML, TOML and JSON, read into plain values.

A key twice, and values that grow without end, are refused.
"""

import json
import re
import tomllib
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from stat import S_ISDIR
from typing import Any

from idealrank import _keys
from idealrank._lazy import load_extra
from idealrank._sections import Section
from idealrank.errors import FileFormatError, InputError, OptionError, shown
from idealrank.io.label_grades import parse_labels

_LARGEST_FILE = 1 << 22  # bytes; people write smaller ones by hand, and data are larger
_MOST_VALUES = 1 << 20  # with each alias of YAML counted as what it stands for
_MOST_BITS = 1023  # whole numbers that a float64 can hold
_MERGE = "tag:yaml.org,2002:merge"  # the key <<
# A string, which is a key if a colon follows it, or a brace.
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?|[{}]', re.DOTALL)


def read_configuration(path: str, extra: str = "search") -> Any:
    """Read a configuration from YAML, TOML or JSON, by the ending of the file."""
    text = _text_of(path)
    from_yaml = partial(_from_yaml, extra=extra)
    readers: dict[str, Callable[[str, str], Any]] = {".toml": _from_toml, ".json": _from_json}
    read: Callable[[str, str], Any] = readers.get(Path(path).suffix.lower(), from_yaml)
    try:
        configuration = read(text, path)
        _count(configuration, path, {}, set())
    except RecursionError:
        raise InputError(
            f"{path}: found values nested too deeply, expected sections with keys and values"
        ) from None
    return configuration


def require_files(keys: type, section: Section, *, but: Collection[str] = ()) -> None:
    """Refuse a key that names a file that does not exist, or a folder, before anything is read;
    the keys in `but`, with their sections and dots, are not used.
    """
    for holder, name in _keys.files_in(keys, section):
        place = f"{holder.name}.{name}" if holder.name else name
        path = holder.given[name]
        if place in but or path == "-":
            continue
        problem = _file_problem(path)
        if problem is not None:
            from idealrank.io.sources import refusal_text  # noqa: PLC0415  (only after a mistake)

            hint = _hint_of_folder(section.path, path)
            raise OptionError(f"{section.path}: {place}: {refusal_text(path, problem)}", hint=hint)


def _file_problem(path: str) -> OSError | None:
    """A missing file or a folder; for all else, the reader of the file has the words."""
    try:
        return IsADirectoryError() if S_ISDIR(Path(path).stat().st_mode) else None
    except FileNotFoundError as error:
        return error
    except (OSError, ValueError):
        return None


def _hint_of_folder(configuration: str, path: str) -> str:
    """A hint if the file is beside the configuration, in another folder than the current one."""
    folder = Path(configuration).parent
    if Path(path).exists() or not (folder / path).exists():
        return ""
    return f"paths of a configuration start at the current folder; run the command in {folder}"


def _text_of(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        from idealrank.io.sources import refusal_text  # noqa: PLC0415  (only after a mistake)

        raise InputError(refusal_text(path, error)) from None
    except ValueError as error:  # a name may hold a null character
        raise InputError(f"{path!r}: {error}, expected the name of a file") from None
    if len(content) > _LARGEST_FILE:
        raise InputError(
            f"{path}: found more than {_LARGEST_FILE >> 20} MB, expected a configuration; are "
            f"these the data?"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            f"{path}: found bytes that are no UTF-8, expected text; save it as UTF-8"
        ) from None


def _twice(path: str, line: int, key: object, first: int) -> FileFormatError:
    return FileFormatError(
        path,
        line,
        f"the key {shown(repr(key))} again, after line {first}",
        "it once",
        "leave one of them out",
    )


def _from_toml(text: str, path: str) -> Any:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise InputError(f"{path}: {_said(error)}") from None


def _from_json(text: str, path: str) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}:{error.lineno}: {error.msg}, at column {error.colno}; expected JSON"
        ) from None
    except ValueError as error:
        raise InputError(f"{path}: {_said(error)}") from None
    # `json` keeps the last of equal keys in silence, so the keys of each open object are collected
    # from the text, with their lines.
    objects: list[dict[str, int]] = []
    for token in _JSON_TOKEN.finditer(text):
        if token[0] == "{":
            objects.append({})
        elif token[0] == "}":
            objects.pop()
        elif token[1]:
            key = json.loads(token[0][: -len(token[1])])
            line = text.count("\n", 0, token.start()) + 1
            if key in objects[-1]:
                raise _twice(path, line, key, objects[-1][key])
            objects[-1][key] = line
    return value


def _said(error: Exception) -> str:
    if "integer string conversion" in str(error):
        return "found a whole number of thousands of digits, expected a smaller one"
    return " ".join(str(error).split())


def _from_yaml(text: str, path: str, *, extra: str) -> Any:
    yaml = load_extra("yaml", "a configuration in YAML", extra, "pyyaml")
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_node(loader, node, path, set())
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        if mark is None:
            raise InputError(f"{path}: {' '.join(str(error).split())}; expected YAML") from None
        problem = ", ".join(filter(None, (error.context, error.problem)))
        raise InputError(
            f"{path}:{mark.line + 1}: {problem}, at column {mark.column + 1}; expected YAML"
        ) from None


def _check_node(loader: Any, node: Any, path: str, checked: set[int]) -> None:
    """Refuse keys of one section that are equal, and values that Python cannot hold, such as the
    31st of June.
    """
    if id(node) in checked:  # an alias
        return
    checked.add(id(node))
    if node.id == "scalar":
        try:
            loader.construct_object(node)
        except (ValueError, OverflowError) as error:
            raise InputError(f"{path}:{node.start_mark.line + 1}: {_said(error)}") from None
        return
    line_of_key: dict[tuple[str, object], int] = {}
    for part in node.value:
        # a key and its value, or an element of a list
        key, *values = part if isinstance(part, tuple) else (part,)
        if values and key.id == "scalar":
            typed_key = (key.tag, key.value)  # 1 and "1" are two keys
            line = key.start_mark.line + 1
            if typed_key in line_of_key:
                raise _twice(path, line, key.value, line_of_key[typed_key])
            line_of_key[typed_key] = line
        for child in (key, *values):
            if child.tag != _MERGE:
                _check_node(loader, child, path, checked)


def _count(value: Any, path: str, counted: dict[int, int], inside: set[int]) -> int:
    """Count the values; an alias of YAML counts as the values that it stands for, since the file
    could repeat them without end.
    """
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise InputError(
            f"{path}: found a whole number of {value.bit_length():,} bits, expected a smaller one"
        )
    if not isinstance(value, (dict, list, set, tuple)):
        return 1
    if id(value) in inside:
        raise InputError(
            f"{path}: found a value that contains itself, expected none; take the alias out"
        )
    if id(value) not in counted:
        inside.add(id(value))
        members = [*value, *value.values()] if isinstance(value, dict) else value
        n_members = sum(_count(member, path, counted, inside) for member in members)
        counted[id(value)] = 1 + n_members
        inside.discard(id(value))
        if counted[id(value)] > _MOST_VALUES:
            raise InputError(
                f"{path}: found more than {_MOST_VALUES:,} values, expected a configuration; "
                f"aliases repeat what they stand for"
            )
    return counted[id(value)]


def labels_key() -> Any:
    """Declare the key of grades of labels that are words, as the option takes them."""
    return _keys.text(
        "Grades of labels that are words, such as `Exact=3,Substitute=2`.",
        "",
        words="LABEL=GRADE,LABEL=GRADE,..., with words as labels",
        is_valid=_are_labels,
    )


def _are_labels(labels: str) -> bool:
    try:
        return bool(parse_labels(labels))
    except OptionError:  # it speaks of an option; the reader of the section names the key
        return False
