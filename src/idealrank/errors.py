"""Every error the library raises on purpose.

    IdealrankError
    ├── InputError            data that cannot be evaluated (also a ValueError)
    │   ├── FileFormatError   ... found on a line of a file
    │   └── NotStoredError    a store has no such entry, or several; any other InputError of a
    │                         store says that it is damaged
    ├── OptionError           a measure, convention or option that does not exist (also a
    │                         ValueError)
    ├── IncompatibleError     results that must not be put together (also a ValueError)
    ├── BackendError          a search engine did not answer, or not as expected
    ├── StoppedError          a long job was asked to stop
    └── MissingExtraError     an optional dependency is not installed (also an ImportError)

Messages say where, what was found, what was expected and what to do next. `IdealrankWarning` is the
category of every warning.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import local
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_SHOWN = 80  # letters of a value in a message
_SEARCHED = 10_000  # letters of a value in which secrets are looked for


class _Hidden(local):
    hide: Callable[[str], str] | None = None


_hidden = _Hidden()


@contextmanager
def hiding(hide: Callable[[str], str]) -> Iterator[None]:
    """Let `shown` hide secrets before it cuts a value, in this thread and block.

    Parameters
    ----------
    hide : callable
        Returns a text without secrets.

    Examples
    --------
    >>> with hiding(lambda text: text.replace("s3cret", "${KEY}")):
    ...     shown("the key s3cret")
    'the key ${KEY}'
    """
    before = _hidden.hide
    _hidden.hide = hide
    try:
        yield
    finally:
        _hidden.hide = before


def shown(value: object) -> str:
    r"""Return a user's value as printable text of at most 80 characters.

    Examples
    --------
    >>> shown("nDCG\n@10"), len(shown("x" * 5000)), shown("x" * 5000)[-6:]
    ('nDCG\\n@10', 80, 'xx ...')
    """
    text = str(value)
    if (hide := _hidden.hide) is not None:
        text = hide(text[:_SEARCHED])
    # A long text is cut first: what is left out need not be made printable.
    printable = "".join(
        letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[: _SHOWN + 1]
    )
    if len(printable) <= _SHOWN:
        return printable
    end = " ..." + (text[0] if text[0] in "'\"" and text.endswith(text[0]) else "")
    return printable[: _SHOWN - len(end)] + end


class IdealrankError(Exception):
    """Base class of all errors of this library.

    Parameters
    ----------
    *message : str
        Place, value found, and value expected.
    hint : str
        Suggested next step; appended to the text of the error.
    switch : str
        Setting that lets the call succeed, such as ``duplicates=first``; already named in the text.
    command_hint : str
        Next step on the command line, where it differs from the one in Python.

    Examples
    --------
    >>> error = InputError("qrels: found nothing, expected judgments", hint="is the file empty?")
    >>> str(error), error.hint
    ('qrels: found nothing, expected judgments; is the file empty?', 'is the file empty?')
    """

    def __init__(
        self, *message: object, hint: str = "", switch: str = "", command_hint: str = ""
    ) -> None:
        if hint and message:
            message = (f"{message[0]}; {hint}", *message[1:])
        super().__init__(*message)
        self.hint = hint
        self.switch = switch
        self.command_hint = command_hint

    def on_command_line(self) -> str:
        """Return the text of the error with the next step as the command line has it.

        Examples
        --------
        >>> InputError(
        ...     "found no columns", hint="set columns=", command_hint="set --columns"
        ... ).on_command_line()
        'found no columns; set --columns'
        """
        return self.kept().on_command_line()

    def kept(self) -> "Advised":
        """Return the text of the error, to be shown later in either interface.

        Examples
        --------
        >>> InputError("found no columns", hint="set columns=", command_hint="set --columns").kept()
        'found no columns; set columns='
        """
        return Advised(str(self).removesuffix(f"; {self.hint}"), self.hint, self.command_hint)


class InputError(IdealrankError, ValueError):
    """The data cannot be evaluated as given.

    Examples
    --------
    >>> issubclass(InputError, ValueError)
    True
    """


class FileFormatError(InputError):
    """A line of a file does not match its format.

    Parameters
    ----------
    path : str
        The file, as the user typed it.
    line : int
        Line number from 1; 0 if the error concerns the whole file.
    found, expected : str
        Text found, and text expected.
    hint : str
        Suggested next step, if any.

    Examples
    --------
    >>> str(FileFormatError("bad.qrels", 2, "3 fields", "4: QUERY ITERATION DOCUMENT GRADE"))
    'bad.qrels:2: found 3 fields, expected 4: QUERY ITERATION DOCUMENT GRADE'
    """

    def __init__(
        self,
        path: str,
        line: int,
        found: str,
        expected: str,
        hint: str = "",
        *,
        switch: str = "",
        command_hint: str = "",
    ) -> None:
        place = f"{path}:{line}" if line else path
        super().__init__(
            f"{place}: found {found}, expected {expected}",
            hint=hint,
            switch=switch,
            command_hint=command_hint,
        )
        self.path = path
        self.line = line
        self._parts = (path, line, found, expected, hint)

    def __reduce__(
        self,
    ) -> "tuple[type[FileFormatError], tuple[str, int, str, str, str], dict[str, object]]":
        """Rebuild the error in another process from its parts."""
        return type(self), self._parts, self.__dict__


class NotStoredError(InputError):
    """A store does not have what was asked for, or has several entries whose ids begin with the
    digits that were given.

    Examples
    --------
    >>> issubclass(NotStoredError, InputError)
    True
    """


class OptionError(IdealrankError, ValueError):
    """A measure, convention or option is unknown or has an invalid value.

    Examples
    --------
    >>> issubclass(OptionError, ValueError)
    True
    """


class IncompatibleError(IdealrankError, ValueError):
    """Two results have different conventions, measures or queries and cannot be combined.

    Examples
    --------
    >>> issubclass(IncompatibleError, ValueError)
    True
    """


class BackendError(IdealrankError):
    """A search backend failed on a query.

    Parameters
    ----------
    *message : str
        Backend, failure found, and answer expected.
    temporary : bool
        True if another attempt may succeed.
    outage : bool, optional
        True if the engine was not reached or gave no access, so that it said nothing about the
        query; default `temporary`.
    retry_after : float or None
        Seconds to wait before another attempt, if the engine asks for them.
    hint : str
        Suggested next step.

    Examples
    --------
    >>> BackendError("redis: connection refused", temporary=True).temporary
    True
    """

    def __init__(
        self,
        *message: object,
        temporary: bool = False,
        outage: bool | None = None,
        retry_after: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(*message, hint=hint)
        self.temporary = temporary
        self.outage = temporary if outage is None else outage
        self.retry_after = retry_after


class StoppedError(IdealrankError):
    """A long job was stopped from another thread.

    Examples
    --------
    >>> issubclass(StoppedError, IdealrankError)
    True
    """


class MissingExtraError(IdealrankError, ImportError):
    """An optional dependency is not installed.

    Examples
    --------
    >>> str(MissingExtraError("reading Parquet", "pyarrow", "arrow"))  # doctest: +ELLIPSIS
    "reading Parquet needs pyarrow; pip install ...[arrow]..."
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} needs {package}", hint=install_command(extra))
        self._parts = (what, package, extra)

    def __reduce__(self) -> "tuple[type[MissingExtraError], tuple[str, str, str]]":
        """Rebuild the error in another process from its parts."""
        return type(self), self._parts


class Advised(str):
    """Text of an error, note or warning that ends with the next step in Python, and knows the one
    on the command line.

    Parameters
    ----------
    text : str
        What was found.
    hint, command_hint : str
        Next step in Python, and on the command line where it differs; empty for none.

    Examples
    --------
    >>> said = Advised(
    ...     "a.csv: read as CSV",
    ...     "to set the format, use format='csv'",
    ...     "to set the format, use --input-format csv",
    ... )
    >>> said, said.on_command_line()
    ("a.csv: read as CSV; to set the format, use format='csv'", 'a.csv: read as CSV; to set the format, use --input-format csv')
    """  # noqa: E501

    parts: tuple[str, str, str]

    def __new__(cls, text: str, hint: str = "", command_hint: str = "") -> "Advised":
        """Join the text and the next step."""
        self = super().__new__(cls, f"{text}; {hint}" if hint else text)
        self.parts = (text, hint, command_hint)
        return self

    def on_command_line(self) -> str:
        """Return the text with the next step as the command line has it.

        Examples
        --------
        >>> Advised("found no columns", "set columns=", "set --columns").on_command_line()
        'found no columns; set --columns'
        """
        text, hint, command_hint = self.parts
        step = command_hint or hint
        return f"{text}; {step}" if step else text

    def __reduce__(self) -> tuple[type["Advised"], tuple[str, str, str]]:
        """Rebuild the text in another process from its parts."""
        return type(self), self.parts


class IdealrankWarning(UserWarning):
    """Category of every warning of this library.

    Examples
    --------
    >>> issubclass(IdealrankWarning, UserWarning)
    True
    """


def near_ids(word: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Known ids most like this one: first ids that differ only in case, punctuation and zero
    padding, then similar spellings.

    Examples
    --------
    >>> near_ids("shoe-1", ["shoe-10", "shoe-01", "boot-1"])
    ['shoe-01']
    >>> near_ids("shoe-1x", ["shoe-01", "boot-1"])
    ['shoe-01']
    """
    from difflib import get_close_matches  # noqa: PLC0415  (only after a mistake)

    ids = list(known)
    plain = _plain(word)
    alike = [known_id for known_id in ids if _plain(known_id) == plain]
    # The search takes time that grows with the word, so a long one is cut.
    return alike[:most] or get_close_matches(word[:200], ids, n=most, cutoff=0.6)


def _plain(word: str) -> str:
    """An id without case, punctuation and zero padding; numbers stay apart from each other."""
    return " ".join(
        part.lstrip("0") or "0" if part.isdigit() else part
        for part in re.findall(r"\d+|[^\W\d_]+", word.casefold())
    )


# Folders of idealrank and of Python's own library, each with its last separator.
_PACKAGE = __file__.removesuffix("errors.py")
_LIBRARY = warnings.__file__.removesuffix("warnings.py")


def warn(message: str) -> None:
    """Warn the caller of idealrank: the warning shows the line outside the package that led
    here.

    A frame of Python's own library between both, as `contextlib` has it, is passed over.
    """
    frame = _outside()
    scope = frame.f_globals
    warnings.warn_explicit(
        message,
        IdealrankWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        scope.get("__name__", "<string>"),
        scope.setdefault("__warningregistry__", {}),
    )


def _outside() -> FrameType:
    """Return the nearest frame outside idealrank and Python's library; without one, the outermost
    frame.
    """
    from inspect import currentframe  # noqa: PLC0415  (`import idealrank` needs it not)

    frame = currentframe()
    while frame is not None and frame.f_back is not None and _is_passed_over(frame):
        frame = frame.f_back
    if frame is None:  # an interpreter without frames
        raise RuntimeError("this Python gives no frames")
    return frame


def _is_passed_over(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    module = str(frame.f_globals.get("__name__", ""))
    # methods of dataclasses have no file
    if file.startswith((_PACKAGE, "<frozen ")) or module.partition(".")[0] == "idealrank":
        return True
    return file.startswith(_LIBRARY) and "site-packages" not in file and "dist-packages" not in file


# A quoted byte of an address.
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")


def install_command(extra: str) -> str:
    """Command that installs an extra into the environment in use.

    An index has the extras of a copy that came from it. A copy from a folder, a repository or an
    archive takes them from there.
    """
    origin, installer = _recorded()
    return f"{installer} install {_requirement(origin, extra)}"


def _recorded() -> tuple[dict[str, Any] | None, str]:
    """Origin of this copy as the installer wrote it down (PEP 610), None for an index; and the
    installer.
    """
    import json  # noqa: PLC0415  (`import idealrank` needs it not)
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415  (slow to load, and only after a mistake)

    try:
        copy = distribution("idealrank")
    except PackageNotFoundError:  # a source tree on the path
        return _tree(), "pip"
    installer = "uv pip" if (copy.read_text("INSTALLER") or "").strip() == "uv" else "pip"
    text = copy.read_text("direct_url.json")
    if text is not None:
        return json.loads(text), installer
    # A tree that comes before the installed copy on the path has no record of its own.
    from pathlib import Path  # noqa: PLC0415  (a start without a mistake needs it not)

    is_this_copy = Path(str(copy.locate_file("idealrank"))).resolve() == _here()
    return (None if is_this_copy else _tree()), installer


def _here() -> "Path":
    """Return the folder of this file."""
    from pathlib import Path  # noqa: PLC0415  (as above)

    return Path(__file__).resolve().parent


def _tree() -> dict[str, Any]:
    """The source tree of this file, as an editable copy."""
    return {"url": _here().parents[1].as_uri(), "dir_info": {"editable": True}}


def _requirement(origin: dict[str, Any] | None, extra: str) -> str:
    """The requirement as a shell takes it."""
    if origin is None:
        return f"'idealrank[{extra}]'"
    url = str(origin.get("url", ""))
    if "vcs_info" in origin:
        vcs_info = origin["vcs_info"]
        vcs = vcs_info.get("vcs", "git")
        revision = vcs_info.get("requested_revision")
        at_revision = f"@{revision}" if revision else ""
        return f"'idealrank[{extra}] @ {vcs}+{url}{at_revision}'"
    if "dir_info" not in origin:
        return f"'idealrank[{extra}] @ {url}'"
    from pathlib import Path  # noqa: PLC0415  (as above)

    quoted = url.removeprefix("file://").encode()
    folder = Path(_PERCENT.sub(lambda byte: bytes.fromhex(byte[1].decode()), quoted).decode())
    option = "-e " if origin["dir_info"].get("editable") else ""
    if not (folder / "pyproject.toml").is_file():
        return f"{option}'.[{extra}]' in a checkout of idealrank"
    return f"{option}'{'.' if folder == Path.cwd() else folder}[{extra}]'"
