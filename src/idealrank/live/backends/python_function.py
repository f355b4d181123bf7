"""Any Python function as a backend: query and limit in, ids or scores out."""

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

from idealrank._keys import choice, key
from idealrank._sections import Section
from idealrank.errors import BackendError, OptionError, shown
from idealrank.live.backends.protocol import ORDERS, ScoredDocument, SearchQuery, ranked_value
from idealrank.live.backends.shared import BackendKeys, keys_from

_TAKES: dict[str, Callable[[SearchQuery], Any]] = {
    "text": lambda query: query.text,
    "vector": lambda query: query.vector,
    "query": lambda query: query,
}


class FunctionBackend:
    """Function that is called with a query and the number of documents wanted."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str = "function",
        *,
        takes: str = "text",
        order: str = "score",
    ) -> None:
        self.name = name
        self._function = function
        self._takes = _TAKES[takes]
        self._order = order

    def search(self, query: SearchQuery, limit: int) -> list[ScoredDocument]:
        """Call the function; its exceptions become errors of the backend, temporary for connections
        and timeouts.
        """
        try:
            value = self._function(self._takes(query), limit)
        except BackendError:
            raise
        except (ConnectionError, TimeoutError) as error:
            raise BackendError(
                f"{self.name}: {type(error).__name__}: {shown(error)}", temporary=True
            ) from error
        except (Exception, SystemExit) as error:
            raise BackendError(f"{self.name}: {type(error).__name__}: {shown(error)}") from error
        return ranked_value(self.name, value, limit=limit, order=self._order)

    def close(self) -> None:
        """Do nothing: the function owns its resources."""


def _function(section: Section, name: str) -> Any:
    function = named_object(section, name, "function")
    if not callable(function):
        raise section.error(name, shown(repr(function)), "a function")
    return function


@dataclass(frozen=True, kw_only=True)
class FunctionKeys(BackendKeys):
    """Keys of the kind ``function``."""

    function: Callable[..., Any] = key(
        about="Function, as in module:function or file.py:function.",
        read=_function,
        schema=lambda: {"type": "string", "pattern": ".:."},
        expected="module:function, or file.py:function",
    )
    takes: str = choice(
        tuple(_TAKES), "First argument of the function: the text, the vector, or a `SearchQuery`."
    )
    order: str = choice(ORDERS, "Meaning of the numbers; distances are negated.")


SECTIONS = {"function": FunctionKeys}


def from_section(section: Section) -> FunctionBackend:
    """Make the backend of a section."""
    keys = keys_from(FunctionKeys, section)
    name = section.given["function"]
    return FunctionBackend(keys.function, name, takes=keys.takes, order=keys.order)


def named_object(section: Section, key: str, what: str) -> Any:
    """Return the object of the user's code that a text such as ``module:name`` or ``file.py:name``
    names.
    """
    text = section.text(key, None)
    place, _, name = (text or "").rpartition(":")
    if not place or not name:
        raise section.error(
            key, "nothing" if text is None else repr(text), f"module:{what}, or file.py:{what}"
        )
    try:
        value: Any = _module(place)
        for part in name.split("."):
            value = getattr(value, part)
    except OptionError as error:
        raise section.error(key, str(error), "an existing file") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001  (a module of the user may fail in any way)
        raise section.error(
            key, f"{text} ({type(error).__name__}: {error})", f"a {what} that can be imported"
        ) from None
    return value


def is_own(file: str) -> bool:
    """Return True for a file that belongs neither to an installed package nor to Python."""
    return Path(file).is_file() and not _is_installed(Path(file).resolve())


def _is_installed(file: Path) -> bool:
    """True for a file of a package, of this library, which may be a source checkout, or of
    Python.
    """
    if {"site-packages", "dist-packages"} & set(file.parts):
        return True
    python = Path(ast.__file__).resolve().parent
    library = Path(__file__).resolve().parents[2]
    return file.is_relative_to(python) or file.is_relative_to(library)


def _module(place: str) -> Any:
    """Load a module by its dotted name, from the current folder too, or a file, which may import
    modules of its folder.
    """
    if not place.endswith(".py"):
        loaded_before = set(sys.modules)
        _search_last(Path.cwd())
        module = importlib.import_module(place)
        # A module by name is loaded once, as by any import.
        _KEPT.update(set(sys.modules) - loaded_before)
        return module
    if not Path(place).is_file():
        raise OptionError(f"no file {place}")
    folder = Path(place).resolve().parent
    if not _FOLDERS:
        _KEPT.update(sys.modules)
    _FOLDERS.add(folder)
    _forget_modules()
    _search_last(folder)
    spec = importlib.util.spec_from_file_location(
        Path(place).stem, place, loader=_SourceLoader(Path(place).stem, place)
    )
    if spec is None or spec.loader is None:
        raise OptionError(f"no module {place}")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, module)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        _forget_modules()
        raise
    return module


_KEPT: set[str] = set()
"""Names of modules that stay loaded: loaded before the first file, or by a dotted name."""

_FOLDERS: set[Path] = set()
"""Folders of the files that were loaded."""

_SEARCHED: list[str] = []
"""Folders of files, behind all others on the path, the last one first."""


def _forget_modules() -> None:
    """Forget the user's modules that earlier files imported: they may have changed since."""
    for name in set(sys.modules) - _KEPT:
        module = sys.modules[name]
        if _is_beside(module):
            del sys.modules[name]
            parent, _, last = name.rpartition(".")
            members = getattr(sys.modules.get(parent), "__dict__", {})
            if members.get(last) is module:  # `from parent import last` looks there first
                del members[last]


def _is_beside(module: Any) -> bool:
    """True for a module of the user, written in Python, below the folder of a file; an environment
    there holds packages of others.
    """
    name = getattr(module, "__file__", None)
    if not isinstance(name, str) or not name.endswith(".py"):
        return False
    file = Path(name).resolve()
    return any(file.is_relative_to(folder) for folder in _FOLDERS) and not _is_installed(file)


def _search_last(folder: Path) -> None:
    """Put a folder on the path for good, as a function may import when it is called; behind
    packages, so that it hides none.
    """
    name = str(folder)
    if name in _SEARCHED:
        _SEARCHED.remove(name)
        sys.path[:] = [entry for entry in sys.path if entry != name]
    if name not in sys.path:
        places = (sys.path.index(entry) for entry in _SEARCHED if entry in sys.path)
        behind_packages = next(places, len(sys.path))
        sys.path.insert(behind_packages, name)
        _SEARCHED.insert(0, name)


class _SourceLoader(SourceFileLoader):
    """Loads a file as it is now: compiled code is found by the time and the size of a file, which a
    change may leave as they are.
    """

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)
