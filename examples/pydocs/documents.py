"""The documents: one per distinct documentation string of the running interpreter's standard
library.
"""

import functools
import hashlib
import importlib
import inspect
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

# Left out: imports with side effects, test and demo code, internals that nobody searches for, the
# per-charset codecs, and whatever exists only on some platforms or in some builds.
SKIPPED_PACKAGES = frozenset(
    "antigravity this idlelib test turtle turtledemo tkinter pydoc_data ensurepip lib2to3 "
    "distutils "
    "sre_compile sre_constants sre_parse ntpath nturl2path "
    "curses readline rlcompleter nis nt msilib msvcrt winreg winsound ossaudiodev spwd crypt "
    "posix".split()
)
SKIPPED_MODULES = frozenset(
    "asyncio.windows_events asyncio.windows_utils ctypes.macholib ctypes.test dbm.gnu dbm.ndbm "
    "multiprocessing.popen_spawn_win32 unittest.test".split()
)
PACKAGES_WITHOUT_SUBMODULES = frozenset({"encodings"})
SITE_BUILTINS = frozenset({"copyright", "credits", "exit", "help", "license", "quit"})
FEWEST_WORDS = 3


@dataclass(frozen=True)
class Document:
    r"""A documentation string under the dotted name of the thing that carries it.

    Examples
    --------
    >>> Document("json.dumps", "Serialize obj to a JSON string.").searchable
    'json.dumps\nSerialize obj to a JSON string.'
    """

    doc_id: str
    docstring: str

    @property
    def searchable(self) -> str:
        r"""What the rankers see: the name, then the documentation string.

        Examples
        --------
        >>> Document("math.gcd", "Greatest Common Divisor.").searchable
        'math.gcd\nGreatest Common Divisor.'
        """
        return f"{self.doc_id}\n{self.docstring}"


def collect_documents() -> list[Document]:
    """Read every public, documented module, class, function, method and property, sorted by id.

    Names that share one documentation string (aliases, copied methods) become one document under
    the shortest of their names, the first in alphabetical order if several are as short.

    Returns
    -------
    list of Document
        No id and no documentation string stands in it twice.

    Examples
    --------
    >>> any(document.doc_id == "json.dumps" for document in collect_documents())
    True
    """
    names: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for module_name in _module_names():
        module = _imported(module_name)
        if module is None:
            continue
        for name, docstring in _documented(module_name, module):
            text = " ".join(docstring.split())  # what differs in blanks alone is not distinct
            names.setdefault(text, []).append(name)
            texts.setdefault(text, docstring)
    documents: dict[str, Document] = {}
    for text, aliases in names.items():
        # A module and a class may share a name (`unittest.main`): the one found second takes its
        # next name.
        free = [name for name in aliases if name not in documents]
        if free:
            doc_id = min(free, key=lambda name: (len(name), name))
            documents[doc_id] = Document(doc_id, texts[text])
    return [documents[doc_id] for doc_id in sorted(documents)]


def digest(documents: list[Document]) -> str:
    """SHA-256 over ids and texts, which tells whether two interpreters have the same documents.

    Examples
    --------
    >>> digest([])[:8]
    'e3b0c442'
    """
    total = hashlib.sha256()
    for document in documents:
        total.update(f"{document.doc_id}\0{document.docstring}\0".encode())
    return total.hexdigest()


def _module_names() -> list[str]:
    tops = [
        name
        for name in sys.stdlib_module_names
        if not name.startswith("_") and name not in SKIPPED_PACKAGES
    ]
    found = ["os.path"]
    for top in sorted(tops):
        found.append(top)
        module = _imported(top)
        if module is not None and top not in PACKAGES_WITHOUT_SUBMODULES:
            found.extend(_submodule_names(module))
    return found


def _submodule_names(package: types.ModuleType) -> Iterator[str]:
    for info in pkgutil.iter_modules(getattr(package, "__path__", []), package.__name__ + "."):
        if info.name in SKIPPED_MODULES or info.name.rpartition(".")[2].startswith("_"):
            continue
        yield info.name
        if info.ispkg and (module := _imported(info.name)) is not None:
            yield from _submodule_names(module)


def _imported(name: str) -> types.ModuleType | None:
    with warnings.catch_warnings():
        # modules announced for removal are still part of this version
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ImportError:
            return None  # not part of this platform or build


def _documented(module_name: str, module: types.ModuleType) -> Iterator[tuple[str, str]]:
    prefix = "" if module is sys.modules["builtins"] else module_name + "."
    yield from _with_docstring(module_name, module)
    for name in _public_names(module_name, module):
        member = getattr(module, name, None)
        if inspect.isclass(member):
            yield from _documented_class(prefix + name, member)
        elif inspect.isroutine(member):
            yield from _with_docstring(prefix + name, member)


def _public_names(module_name: str, module: types.ModuleType) -> list[str]:
    exported = getattr(module, "__all__", None)
    if exported is not None:
        return sorted(name for name in exported if not name.startswith("_"))
    # The C twin of a module `x` is called `_x`; some C functions name no module at all.
    homes = {module_name, "_" + module_name, None}
    return sorted(
        name
        for name, member in vars(module).items()
        if not name.startswith("_")
        and name not in SITE_BUILTINS
        and getattr(member, "__module__", None) in homes
    )


def _documented_class(class_id: str, cls: type) -> Iterator[tuple[str, str]]:
    generated = "__dataclass_fields__" in vars(cls) or "_fields" in vars(cls)
    if not cls.__doc__ and inspect.isfunction(vars(cls).get("__init__")):
        yield from _with_docstring(class_id, vars(cls)["__init__"])
    elif not (generated and (cls.__doc__ or "").startswith(f"{cls.__name__}(")):
        yield from _with_docstring(class_id, cls)
    for name, member in sorted(vars(cls).items()):
        if name.startswith("_"):
            continue
        plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if inspect.isroutine(plain) or isinstance(plain, (property, functools.cached_property)):
            yield from _with_docstring(f"{class_id}.{name}", plain)


def _with_docstring(name: str, thing: object) -> Iterator[tuple[str, str]]:
    docstring = getattr(thing, "__doc__", None)
    if isinstance(docstring, str) and len(docstring.split()) >= FEWEST_WORDS:
        yield name, inspect.cleandoc(docstring)
