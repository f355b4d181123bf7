"""Identity of a Python function: a digest of all that its answers depend on, as far as Python can
tell.
"""

import ast
import dis
import functools
import logging
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from pathlib import Path, PurePath
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np

from idealrank.live.backends.python_function import is_own

_EXACT = frozenset({type(None), bool, float, str})  # their values describe themselves
# their `repr` shows the whole value
_PLAIN = (*_EXACT, complex, EllipsisType, range, Decimal, Fraction, UUID, timedelta, timezone)
_DATA = (int, float, str, bytes, dict, list, tuple, set, frozenset)
_MAY_HOLD_ITSELF = (FunctionType, type, list, Mapping)
_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})  # instructions that read a global value
_DEEPEST = 100  # values in values; Python's own limit, which depends on the caller, is farther


@dataclass(frozen=True)
class FunctionIdentity:
    """Identity of a function."""

    digest: str  # Digest of its code, its files and the values that it uses
    # First part without a digest, which may change unnoticed; empty if there is none
    unknown: str = ""

    @classmethod
    def of(cls, function: Callable[..., Any], place: str = "") -> "FunctionIdentity":
        """Describe a function, a method, a `functools.partial`, or an object that can be called."""
        file, name = _named(place)
        values = _Descriptions()
        described: list[Any] = [name]
        # A file is loaded anew each time, so that its digest covers the function.
        if file is None or not place.endswith(f".py:{name}"):
            described.append(values.called(function))
        described.append(_digests([*filter(None, [file]), *map(Path, values.files)]))
        unknown = "" if file is not None else next(iter(values.unknown), "")
        return cls(_hashed(described), unknown)


def _named(place: str) -> tuple[Path | None, str]:
    """The file and the name of ``file.py:name`` or of ``module:name``, which is loaded; no file for
    a module without a source.
    """
    module, _, name = place.rpartition(":")
    file = module
    if not module.endswith(".py"):
        file = getattr(sys.modules.get(module), "__file__", None) or ""
    return (Path(file) if file.endswith(".py") else None), name


def _digests(files: Sequence[Path]) -> dict[str, str]:
    """Digests of files, and of modules that they import, and so on, by their place beside the first
    one.
    """
    digests: dict[str, str] = {}
    package = _package(files[0]) if files else Path()
    waiting = [(file, _root(file)) for file in files]
    while waiting:
        file, root = waiting.pop()
        key = os.path.relpath(file, files[0].parent)
        if key in digests:
            continue
        try:
            content = file.read_bytes()
        except OSError:
            digests[key] = ""
            continue
        digests[key] = sha256(content).hexdigest()
        imported = _imported(file, content, {root, file.parent, Path()})
        waiting.extend(
            (path, root) for path in imported if is_own(str(path)) or path.is_relative_to(package)
        )
    return dict(sorted(digests.items()))


def _root(file: Path) -> Path:
    """The folder in which the modules of a file are found: that of its package, if it has one."""
    root = file.parent
    while (root / "__init__.py").is_file() and root != root.parent:
        root = root.parent
    return root


def _package(file: Path) -> Path:
    """The folder of the whole package that a file belongs to, and the file itself if it belongs to
    none.
    """
    root = _root(file)
    return root / file.relative_to(root).parts[0]


def _imported(file: Path, content: bytes, folders: Collection[Path]) -> Iterator[Path]:
    """Files in some folders, else on the path, that the text of a file imports; the last part of a
    name may be a value of a module.
    """
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            bases = folders
        elif isinstance(node, ast.ImportFrom):
            names = [".".join(filter(None, (node.module, alias.name))) for alias in node.names]
            bases = folders
            if node.level:  # one dot is the folder of the file, two dots its parent
                level = min(node.level, len(file.parents))
                bases = [[file, *file.parents][level]]
        else:
            continue
        for name in names:
            packages = name.split(".")
            paths = [path for base in bases for path in _files_of(base, packages)]
            if not paths and bases is folders:  # not of a relative import
                searched = (list(_files_of(Path(folder), packages)) for folder in sys.path)
                paths = next(filter(None, searched), [])
            yield from paths


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements of a file, without their expressions, which are most of a tree and import
    nothing.
    """
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "orelse", "handlers", "finalbody", "cases"):
            waiting.extend(getattr(node, field, ()))


def _files_of(folder: Path, packages: Sequence[str]) -> Iterator[Path]:
    """Files of a module and of the packages that hold it."""
    for depth in range(1, len(packages) + 1):
        place = folder.joinpath(*packages[:depth])
        files = (place.with_name(f"{place.name}.py"), place / "__init__.py")
        yield from (path for path in files if os.path.isfile(path))  # noqa: PTH113  (False in a folder that may not be read)


class _Descriptions:
    """Descriptions of values as nested lists of texts, the same in every process; and the names of
    the values without a description.
    """

    def __init__(self) -> None:
        self.unknown: list[str] = []
        # with the value, so that no other one gets its id
        self._seen: dict[int, tuple[int, Any]] = {}
        self._depth = 0
        self.files: dict[str, None] = {}  # of the user, in order
        self._ways: dict[type, Callable[[Any], Any]] = {}

    def note_file(self, file: str | None) -> bool:
        """Note a file if it is one of the user; return True if it is."""
        if not file or not is_own(file):
            return False
        self.files[file] = None
        return True

    def called(self, value: Any) -> Any:
        """Describe what is called: a function, or an object with its attributes."""
        # as a subclass of dict, with attributes
        return self._unknown(value) if issubclass(type(value), _DATA) else self.of(value)

    def of(self, value: Any) -> Any:
        """Describe a value."""
        kind = type(value)
        self._depth += 1
        try:
            if kind in _EXACT:
                return value
            if self._depth > _DEEPEST:
                return self._unknown(value)
            describe = self._ways.get(kind) or self._ways.setdefault(kind, self._way(kind))
            if describe == self._object or issubclass(kind, _MAY_HOLD_ITSELF):
                again = self._again(value)
                if again is not None:
                    return again
            return [kind.__name__, *describe(value)]
        except Exception:  # noqa: BLE001  (an object of the user may fail in any way)
            return self._unknown(value)
        finally:
            self._depth -= 1

    def _way(self, kind: type) -> Callable[[Any], Any]:
        """Return the function that describes values of a class."""
        if issubclass(kind, Mapping) and _is_open(kind):  # its attributes say more than its items
            return self._object
        ways: list[tuple[Any, Callable[[Any], Any]]] = [
            (Enum, lambda member: [self.of(type(member)), member.name, self.of(member.value)]),
            (int, lambda number: [hex(number)]),
            (_PLAIN, lambda value: [repr(value)]),
            (bytes, lambda content: [sha256(content).hexdigest()]),
            (ZoneInfo, lambda zone: [zone.key]),
            (
                (datetime, time),
                lambda moment: [repr(moment.replace(tzinfo=None)), self.of(moment.tzinfo)],
            ),
            (date, lambda day: [repr(day)]),
            (slice, lambda cut: [self.of(end) for end in (cut.start, cut.stop, cut.step)]),
            (FunctionType, self._function),
            (BuiltinFunctionType, self._builtin),
            (MethodType, lambda method: [self.of(method.__func__), self.called(method.__self__)]),
            ((staticmethod, classmethod), lambda method: [self.of(method.__func__)]),
            (
                (property, functools.cached_property),
                lambda attribute: [self.of(getattr(attribute, "func", None) or attribute.fget)],
            ),
            (
                functools.partial,
                lambda bound: [self.of(bound.func), self.of(bound.args), self.of(bound.keywords)],
            ),
            (
                ModuleType,
                lambda module: [module.__name__, self.note_file(getattr(module, "__file__", None))],
            ),
            (CodeType, self._code),
            (type, self._class),
            (re.Pattern, lambda pattern: [repr(pattern.pattern), pattern.flags]),
            (PurePath, lambda path: [str(path)]),
            (logging.Logger, lambda logger: [logger.name]),
            (MemberDescriptorType, lambda slot: [slot.__name__]),
            ((list, tuple), lambda many: [_hashed(self.of(part) for part in many)]),
            (
                (set, frozenset),
                lambda many: [_hashed(sorted(repr(self.of(part)) for part in many))],
            ),
            (
                Mapping,
                lambda many: [_hashed([self.of(key), self.of(part)] for key, part in many.items())],
            ),
            (SimpleNamespace, lambda namespace: [self.of(vars(namespace))]),
            ((np.ndarray, np.generic), self._array),
        ]
        return next((way for kinds, way in ways if issubclass(kind, kinds)), self._object)

    def _again(self, value: Any) -> Any:
        """The number of a value that was described before, such as a function that calls itself."""
        if id(value) in self._seen:
            number, _ = self._seen[id(value)]
            return ["again", number]
        self._seen[id(value)] = (len(self._seen), value)
        return None

    def _unknown(self, value: Any) -> list[Any]:
        name = type(value).__name__
        self.unknown.append(f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}")
        return ["unknown", name]

    def _object(self, value: Any) -> list[Any]:
        """Describe an object by its attributes. One of a package, such as a client, is unknown if a
        part of it is.
        """
        if not _is_open(type(value)):
            # as of `functools.lru_cache`
            wrapped = getattr(value, "__dict__", {}).get("__wrapped__")
            return [self.of(wrapped)] if callable(wrapped) else self._unknown(value)
        n_unknown = len(self.unknown)
        n_seen = len(self._seen)
        n_files = len(self.files)
        described = [self.of(type(value)), self.of(dict(getattr(value, "__dict__", {})))]
        if slots := _slots(type(value)):
            filled = [slot for slot in slots if _has(value, slot)]
            described.append([[slot.__name__, self.of(slot.__get__(value))] for slot in filled])
        if len(self.unknown) == n_unknown or _is_of_user(type(value)):
            return described
        # The object as a whole is unknown: what was noted of its parts is dropped.
        del self.unknown[n_unknown:]
        for noted, size in ((self._seen, n_seen), (self.files, n_files)):
            while len(noted) > size:
                noted.popitem()
        return self._unknown(value)

    def _array(self, value: Any) -> list[Any]:
        if value.dtype.hasobject:
            return self._unknown(value)
        return [str(value.dtype), value.shape, sha256(value.tobytes()).hexdigest()]

    def _builtin(self, function: BuiltinFunctionType) -> list[Any]:
        owner = function.__self__
        return [
            str(function.__module__),
            function.__qualname__,
            None if isinstance(owner, ModuleType | None) else self.of(owner),
        ]

    def _function(self, function: FunctionType) -> list[Any]:
        code = function.__code__
        cells = [_content(cell) for cell in function.__closure__ or ()]
        attributes = dict(vars(function))
        values = (cells, function.__defaults__, function.__kwdefaults__, attributes)
        bound = [self.of(value) for value in values]
        is_own_file = self.note_file(code.co_filename)
        if not is_own_file and Path(code.co_filename).is_file():  # of an installed package
            return [function.__module__, function.__qualname__, bound]
        n_unknown = len(self.unknown)
        read = [[name, self.of(value)] for name, value in sorted(_values_read(function).items())]
        if is_own_file:
            del self.unknown[n_unknown:]  # the digest of the file covers how the module makes them
        return [self._code(code), bound, read]

    def _code(self, code: CodeType) -> list[Any]:
        names = [
            code.co_name,
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_cellvars,
            code.co_argcount,
            code.co_flags,
        ]
        return [
            sha256(code.co_code).hexdigest(),
            repr(names),
            [self.of(constant) for constant in code.co_consts],
        ]

    def _class(self, kind: type) -> list[Any]:
        """Describe a class of the user as it is in memory, too: its file may have changed, and its
        attributes are set at run time.
        """
        if not _is_of_user(kind):
            return [kind.__module__, kind.__qualname__]
        is_own_file = self.note_file(_file_of(kind))
        n_unknown = len(self.unknown)
        members = [
            [name, self.of(member)]
            for name, member in vars(kind).items()
            if not name.startswith("__") or callable(member)
        ]
        if is_own_file:
            del self.unknown[n_unknown:]  # as in `_function`
        return [
            kind.__module__,
            kind.__qualname__,
            [self.of(base) for base in kind.__bases__],
            members,
        ]


def _hashed(descriptions: Iterable[Any]) -> str:
    """Digest of descriptions, one after another, as there may be many."""
    digest = sha256()
    for description in descriptions:
        digest.update(f"{description!r}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _file_of(kind: type) -> str | None:
    return getattr(sys.modules.get(kind.__module__), "__file__", None)


def _is_of_user(kind: type) -> bool:
    """True for a class of the user's files, or of a notebook, which has no file."""
    file = _file_of(kind)
    return is_own(file) if file else kind.__module__ not in sys.builtin_module_names


def _slots(kind: type) -> list[MemberDescriptorType]:
    """Slots of a class written in Python and of its bases, in order; slots of one name are two."""
    slotted = [base for base in kind.__mro__ if "__slots__" in vars(base)]
    members = (member for base in slotted for member in vars(base).values())
    return [member for member in members if isinstance(member, MemberDescriptorType)]


def _has(value: Any, slot: MemberDescriptorType) -> bool:
    """True if a slot has a value."""
    try:
        slot.__get__(value)
    except AttributeError:
        return False
    return True


def _is_open(kind: type) -> bool:
    """True if attributes and slots hold all of an object: it is as large as an object that has no
    other fields.
    """
    if kind.__dictoffset__ == 0 and not any("__slots__" in vars(base) for base in kind.__mro__):
        return False
    names = [f"slot_{place}" for place in range(len(_slots(kind)))]
    if kind.__dictoffset__ != 0:
        names.append("__dict__")
    if kind.__weakrefoffset__ != 0:
        names.append("__weakref__")
    return _shape(tuple(names)) == (kind.__basicsize__, kind.__itemsize__)


@functools.cache
def _shape(slots: tuple[str, ...]) -> tuple[int, int]:
    """Sizes of an object with these slots alone."""
    kind = type("_Alone", (), {"__slots__": slots})
    return kind.__basicsize__, kind.__itemsize__


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that has no value yet
        return None


def _values_read(function: FunctionType) -> dict[str, Any]:
    """Global values that a function reads, and the values of the user's modules among them that it
    may read, as they are in memory.
    """
    reads: set[str] = set()
    names: set[str] = set()
    for code in _nested(function.__code__):
        instructions = dis.get_instructions(code)
        reads.update(step.argval for step in instructions if step.opname in _READS)
        names.update(code.co_names)
    values = {name: function.__globals__[name] for name in reads & function.__globals__.keys()}
    waiting = list(values.values())
    while waiting:
        module = waiting.pop()
        if isinstance(module, ModuleType) and is_own(getattr(module, "__file__", None) or ""):
            members = {
                f"{module.__name__}.{name}": vars(module)[name]
                for name in names & vars(module).keys()
            }
            waiting.extend(value for key, value in members.items() if key not in values)
            values.update(members)
    return values


def _nested(code: CodeType) -> Iterator[CodeType]:
    """Code, and the code inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
