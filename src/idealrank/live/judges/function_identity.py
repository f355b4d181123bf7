"""Identity of a Python function: a digest of all that its answers depend on, as far as Python can tell."""

import ast
import dis
import functools
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from pathlib import Path, PurePath
from types import BuiltinFunctionType, CodeType, EllipsisType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from idealrank.live.backends.python_function import is_own

_PLAIN = (type(None), bool, int, float, complex, str, slice, EllipsisType)
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)
_MAY_HOLD_ITSELF = (FunctionType, type, list, Mapping)
_HEAP_TYPE = 1 << 9  # flag of a class that is written in Python
_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})


@dataclass(frozen=True)
class FunctionIdentity:
    """Identity of a function.

    Attributes
    ----------
    digest : str
        Digest of its code, its files and the values that it uses.
    unknown : str
        First part without a digest, which may change unnoticed; empty if there is none.

    Examples
    --------
    >>> FunctionIdentity.of(lambda query, document: 1) == FunctionIdentity.of(lambda query, document: 0)
    False
    >>> model = object()
    >>> FunctionIdentity.of(lambda query, document, model=model: 1).unknown
    'an object'
    """

    digest: str
    unknown: str = ""

    @classmethod
    def of(cls, function: Callable[..., Any], place: str = "") -> "FunctionIdentity":
        """Describe a function, a method, a `functools.partial`, or an object that can be called.

        Parameters
        ----------
        function : callable
            What is called.
        place : str
            Text that names it in a configuration, as in ``judge.py:grade``; empty for a function that is passed itself. A named function
            is loaded from its files, so that nothing in them is unknown.
        """
        file, name = _named(place)
        described: list[Any] = [name, {} if file is None else _digests(file)]
        parts = _Parts()
        if file is None or not place.endswith(f".py:{name}"):  # else loaded anew each time, so that the files say everything
            described.append(parts.called(function))
        digest = sha256(repr(described).encode("utf-8", "surrogatepass")).hexdigest()
        return cls(digest, "" if file is not None else next(iter(parts.unknown), ""))


def _named(place: str) -> tuple[Path | None, str]:
    """The file and the name of ``file.py:name`` or of ``module:name``, which is loaded; no file for a module without a source."""
    module, _, name = place.rpartition(":")
    file = module if module.endswith(".py") else getattr(sys.modules.get(module), "__file__", None) or ""
    return (Path(file) if file.endswith(".py") else None), name


def _digests(file: Path) -> dict[str, str]:
    """Digest of a file, and of the user's own modules that it imports, and so on, by their place beside it."""
    root = file.parent
    while (root / "__init__.py").is_file() and root != root.parent:  # of a package
        root = root.parent
    found: dict[str, str] = {}
    waiting = [file]
    while waiting:
        one = waiting.pop()
        key = os.path.relpath(one, file.parent)
        if key in found:
            continue
        try:
            content = one.read_bytes()
        except OSError:
            found[key] = ""
            continue
        found[key] = sha256(content).hexdigest()
        waiting.extend(_imported(one, content, {root, one.parent, Path()}))
    return dict(sorted(found.items()))


def _imported(file: Path, content: bytes, folders: Collection[Path]) -> Iterator[Path]:
    """Files in some folders that the text of a file imports; the last part of a name may be a module or a value of one."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names, bases = [one.name for one in node.names], folders
        elif isinstance(node, ast.ImportFrom):
            names = [".".join(filter(None, (node.module, one.name))) for one in node.names]
            bases = folders if not node.level else [[file, *file.parents][min(node.level, len(file.parents))]]
        else:
            continue
        for name in names:
            for base in bases:
                yield from _files_of(base, name.split("."))


def _files_of(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Files of a module and of the packages that hold it."""
    for end in range(1, len(parts) + 1):
        place = folder.joinpath(*parts[:end])
        yield from (one for one in (place.with_name(f"{place.name}.py"), place / "__init__.py") if one.is_file())


class _Parts:
    """Descriptions of values as nested lists of texts, the same in every process; and the parts that have none."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self._seen: dict[int, tuple[int, Any]] = {}  # with the value, so that no other one gets its id

    def called(self, value: Any) -> Any:
        """Describe what is called: a function, or an object with its attributes."""
        if isinstance(value, (*_FUNCTIONS, functools.partial, type)) or hasattr(value, "__wrapped__"):
            return self.of(value)
        kinds = type(value).__mro__[:-1]
        is_open = all(kind.__flags__ & _HEAP_TYPE and not vars(kind).get("__slots__") for kind in kinds)  # nothing outside __dict__
        if not is_open:
            return self._unknown(value)
        again = self._again(value)
        return [self.of(type(value)), self.of(dict(vars(value)))] if again is None else again

    def of(self, value: Any) -> Any:
        """Describe a value."""
        describe = next((found for kinds, found in self._by_type() if isinstance(value, kinds)), None)
        if describe is None and hasattr(value, "__wrapped__"):  # as of `functools.lru_cache`
            describe = lambda one: [self.of(one.__wrapped__)]  # noqa: E731
        if describe is None:
            return self._unknown(value)
        if isinstance(value, _MAY_HOLD_ITSELF) and (again := self._again(value)) is not None:
            return again
        return [type(value).__name__, *describe(value)]

    def _by_type(self) -> list[tuple[Any, Callable[[Any], Any]]]:
        return [
            (_PLAIN, lambda one: [repr(one)]), (bytes, lambda one: [sha256(one).hexdigest()]), (FunctionType, self._function),
            (BuiltinFunctionType, self._builtin), (MethodType, lambda one: [self.of(one.__func__), self.called(one.__self__)]),
            (ModuleType, lambda one: [one.__name__, _own_digests(getattr(one, "__file__", None))]),
            (functools.partial, lambda one: [self.of(one.func), self.of(one.args), self.of(one.keywords)]),
            (CodeType, self._code), (Enum, lambda one: [self.of(type(one)), one.name]), (type, self._class),
            (re.Pattern, lambda one: [repr(one.pattern), one.flags]), (PurePath, lambda one: [str(one)]),
            ((list, tuple), lambda many: [self.of(one) for one in many]),
            ((set, frozenset), lambda many: sorted(repr(self.of(one)) for one in many)),
            (Mapping, lambda many: [[self.of(key), self.of(one)] for key, one in many.items()]),
            (property, lambda one: [self.of(one.fget)]), ((np.ndarray, np.generic), self._array),
        ]  # fmt: skip

    def _again(self, value: Any) -> Any:
        """The number of a value that was described before, such as a function that calls itself."""
        if id(value) in self._seen:
            return ["again", self._seen[id(value)][0]]
        self._seen[id(value)] = (len(self._seen), value)
        return None

    def _unknown(self, value: Any) -> Any:
        name = type(value).__name__
        self.unknown.append(f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}")
        return ["unknown", name]

    def _array(self, value: Any) -> Any:
        return self._unknown(value) if value.dtype.hasobject else [str(value.dtype), value.shape, sha256(value.tobytes()).hexdigest()]

    def _builtin(self, function: BuiltinFunctionType) -> list[Any]:
        owner = function.__self__
        return [str(function.__module__), function.__qualname__, None if isinstance(owner, ModuleType | None) else self.of(owner)]

    def _function(self, function: FunctionType) -> list[Any]:
        code = function.__code__
        cells = [_content(cell) for cell in function.__closure__ or ()]
        bound = [self.of(one) for one in (cells, function.__defaults__, function.__kwdefaults__, dict(vars(function)))]
        own = is_own(code.co_filename)
        if not own and Path(code.co_filename).is_file():  # of an installed package
            return [function.__module__, function.__qualname__, bound]
        used = {name: function.__globals__[name] for name in sorted(set(_global_names(code))) if name in function.__globals__}
        known = len(self.unknown)
        values = [[name, self.of(one)] for name, one in used.items()]
        if own:
            del self.unknown[known:]  # the file says how the module makes them
        return [_own_digests(code.co_filename), self._code(code), bound, values]

    def _code(self, code: CodeType) -> list[Any]:
        names = [code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount, code.co_flags]
        return [sha256(code.co_code).hexdigest(), repr(names), [self.of(one) for one in code.co_consts]]

    def _class(self, kind: type) -> list[Any]:
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)
        found = [kind.__module__, kind.__qualname__, _own_digests(file)]
        if file is None and kind.__module__ not in sys.builtin_module_names:  # of a notebook, or a script without a file
            members = [[name, self.of(one)] for name, one in vars(kind).items() if not name.startswith("__") or callable(one)]
            return [*found, [self.of(base) for base in kind.__bases__], members]
        return found


def _own_digests(file: str | None) -> dict[str, str]:
    """Digests of a file of the user; none of an installed package."""
    return _digests(Path(file)) if file and is_own(file) else {}


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that has no value yet
        return None


def _global_names(code: CodeType) -> Iterator[str]:
    """Names of global values that code reads, with the code inside it."""
    yield from (one.argval for one in dis.get_instructions(code) if one.opname in _READS)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)
