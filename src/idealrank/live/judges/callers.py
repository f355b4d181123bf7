"""Judges on this machine: any Python function, and any program that reads and writes JSON lines;
and the judge of a configuration.
"""

import inspect
import os
import shutil
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import Any

from idealrank._keys import choice, key, read, schema_of, schema_of_kinds, texts
from idealrank._sections import Section
from idealrank.errors import BackendError, shown
from idealrank.io.configuration_files import require_files
from idealrank.io.judgment_files import assessor_text
from idealrank.judging.files.judgment_pairs import JudgmentPair
from idealrank.live.backends.outside_command import LineProgram
from idealrank.live.backends.python_function import is_own, named_object
from idealrank.live.backends.secrets import Secrets
from idealrank.live.judges.chat_endpoint import ChatKeys, chat_judge
from idealrank.live.judges.function_identity import FunctionIdentity
from idealrank.live.judges.judge_answers import (
    Judge,
    JudgeAnswer,
    JudgeKeys,
    Scale,
    answer_of,
    value_of_line,
)

# types of values that a function may change while it judges, such as a memo or a counter
_CHANGING = (dict, list, set, int, float, str)
_TAKES: Mapping[str, Callable[[JudgmentPair], tuple[Any, Any]]] = {
    "texts": lambda pair: (pair.query_text, pair.content.joined),
    "ids": lambda pair: pair.key,
    "pair": lambda pair: (pair, pair.content),
}


class FunctionJudge:
    """Function that is called with a query and a document.

    Examples
    --------
    >>> from idealrank.io.texts import DocumentText
    >>> judge = FunctionJudge(
    ...     lambda query, document: int(query in document), Scale.of("0,1"), "contains"
    ... )
    >>> judge.ask(
    ...     JudgmentPair(
    ...         query="q1", document="d1", query_text="list", content=DocumentText("", "a list")
    ...     ),
    ...     1,
    ... ).grade
    1.0
    """

    kind = "function"

    def __init__(
        self,
        function: Callable[..., Any],
        scale: Scale,
        name: str = "",
        *,
        takes: str = "texts",
        version: str = "",
        place: str = "",
    ) -> None:
        self.name = assessor_text(name or getattr(function, "__name__", type(function).__name__))
        self._function = function
        self._scale = scale
        self._takes = _TAKES[takes]
        identity = FunctionIdentity.of(function, place)
        self._place = place
        self._values = _values_of(function)
        self.identity: Mapping[str, Any] = {
            "function": self.name,
            "source": identity.digest,
            "takes": takes,
            "version": version,
        }
        self.uncached = ""
        if identity.unknown and not version:
            self.uncached = f"it uses {identity.unknown}, which may change unnoticed"

    def ask(self, pair: JudgmentPair, repeat: int) -> JudgeAnswer:
        """Call the function; its exceptions become errors of the judge, temporary for connections
        and timeouts.
        """
        try:
            value = self._function(*self._takes(pair))
        except BackendError:
            raise
        except (ConnectionError, TimeoutError) as error:
            raise BackendError(self._failure(error), temporary=True) from error
        except (Exception, SystemExit) as error:
            raise BackendError(self._failure(error)) from error
        return answer_of(value, self._scale)

    def _failure(self, error: BaseException) -> str:
        return f"{self.name}: {type(error).__name__}: {shown(error)}{_line_of(error)}"

    def close(self) -> None:
        """Do nothing: the function holds what it holds."""

    def changed(self) -> str:
        """Return the names of values that changed since the judge was made, for which the next call
        asks everything again; empty for none.
        """
        if self.uncached:
            return ""
        try:
            if FunctionIdentity.of(self._function, self._place).digest == self.identity["source"]:
                return ""
            current = _values_of(self._function)
        # a call that was given up may still run, and fill a value while it is read
        except RuntimeError:
            current = {}
        names = [repr(name) for name, digest in current.items() if digest != self._values.get(name)]
        return " and ".join(names) or "a value that it uses"


def _values_of(function: Callable[..., Any]) -> dict[str, str]:
    """Digests of global values and variables around a function, if they are of a kind that usually
    changes, by name.
    """
    try:
        variables = inspect.getclosurevars(function)
    except (TypeError, ValueError):  # not written in Python, or a name has no value yet
        return {}
    value_of = {**variables.globals, **variables.nonlocals}
    return {
        name: FunctionIdentity.of(partial(repr, value)).digest
        for name, value in value_of.items()
        if isinstance(value, _CHANGING)
    }


def _line_of(error: BaseException) -> str:
    """File, line and function of the user's own code that an exception passed last."""
    frames = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = frame.f_globals.get("__name__") or ""
        if module.partition(".")[0] != "idealrank":
            frames.append((frame.f_code, line))
    if not frames:  # of a builtin
        return ""
    # code without a file, as in a notebook, is the user's too
    user_frames = [
        (code, line)
        for code, line in frames
        if is_own(code.co_filename) or not Path(code.co_filename).is_file()
    ]
    code, line = (user_frames or frames)[-1]
    path = Path(code.co_filename)
    file = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f" ({file}:{line}, in {code.co_name})"


class CommandJudge:
    r"""Program that answers a JSON line on standard input with a JSON line on standard output.

    It reads ``{"query", "document", "query_text", "title", "text", "link", "scale", "repeat"}``. It
    writes a grade, ``null``, or an object with ``grade``, ``probabilities`` or ``error``.
    """

    kind = "command"

    def __init__(
        self,
        command: "tuple[str, ...] | list[str]",
        scale: Scale,
        name: str = "",
        *,
        timeout: float = 60.0,
        version: str = "",
    ) -> None:
        self.name = assessor_text(name or Path(command[0]).stem)
        self._scale = scale
        self._program = LineProgram(command, timeout)
        self.identity: Mapping[str, Any] = {
            "command": list(command),
            "files": _digests(command),
            "version": version,
        }

    def ask(self, pair: JudgmentPair, repeat: int) -> JudgeAnswer:
        """Send the pair to an idle process, and read its answer."""
        content = pair.content
        value = self._program.ask(
            {
                "query": pair.query,
                "document": pair.document,
                "query_text": pair.query_text,
                "title": content.title,
                "text": content.text,
                "link": content.link,
                "scale": list(self._scale.grades),
                "repeat": repeat,
            }
        )
        return answer_of(value_of_line(value, "command"), self._scale)

    def close(self) -> None:
        """End all processes."""
        self._program.close()


def _digests(command: Sequence[str]) -> dict[str, str]:
    """SHA-256 of the files that a command names, by their place in it, so that a changed script is
    asked again.
    """
    digests = {}
    for place, name in enumerate(command):
        if os.path.isfile(name):  # noqa: PTH113  (False for a text that is too long for a name)
            try:
                with Path(name).open("rb") as file:
                    digests[str(place)] = file_digest(file, "sha256").hexdigest()
            except OSError:
                continue  # the program reports a file that it cannot read
    return digests


def _function(section: Section, name: str) -> Any:
    value = section.given[name]
    function = value if callable(value) else named_object(section, name, "function")
    if not callable(function):
        raise section.error(name, shown(repr(function)), "a function")
    return function


@dataclass(frozen=True, kw_only=True)
class FunctionJudgeKeys(JudgeKeys):
    """Keys of the kind ``function``."""

    function: Callable[..., Any] = key(
        about="Function, as in module:function or file.py:function.",
        read=_function,
        schema=lambda: {"type": "string", "minLength": 1},
        expected="module:function, or file.py:function",
    )
    takes: str = choice(
        tuple(_TAKES), "Arguments of the function: texts, ids, or a `JudgmentPair` and its text."
    )


@dataclass(frozen=True, kw_only=True)
class CommandJudgeKeys(JudgeKeys):
    """Keys of the kind ``command``."""

    command: tuple[str, ...] = texts(
        "Program and arguments.",
        expected='a program with arguments, as in ["python", "judge.py"]',
    )


KINDS: Mapping[str, type[JudgeKeys]] = {
    "openai": ChatKeys,
    "function": FunctionJudgeKeys,
    "command": CommandJudgeKeys,
}
"""Keys of each kind of judge, by the word in `judge.kind`."""


def judge_schema() -> dict[str, Any]:
    """Return the JSON Schema of a section ``judge``, of all kinds."""
    kinds = {kind: schema_of(keys, kind) for kind, keys in KINDS.items()}
    return schema_of_kinds(kinds, "Kind of judge, which decides on the other keys.")


def judge_from(section: Section, scale: Scale, timeout: float, secrets: Secrets) -> Judge:
    """Make the judge of a section ``judge`` of a configuration.

    ``${NAME}`` in a text of the section is the value of the environment variable; `secrets` hides
    it in messages.
    """
    kind = section.kind(KINDS)
    filled = Section(secrets.fill(section.given, section), section.path, section.name)
    keys = read(KINDS[kind], filled, known=("kind",))
    require_files(KINDS[kind], filled)
    if isinstance(keys, ChatKeys):
        return chat_judge(keys, section, scale, timeout)

    if isinstance(keys, CommandJudgeKeys):
        if shutil.which(keys.command[0]) is None:
            program = section.texts("command")[0]
            raise section.error(
                "command",
                f"no program {program}",
                "one that is on the PATH, or the path of one that may be executed",
            )
        judge = CommandJudge(keys.command, scale, keys.name, timeout=timeout, version=keys.version)
        # without the values of secrets
        judge.identity = {**judge.identity, "command": section.given["command"]}
        return judge

    assert isinstance(keys, FunctionJudgeKeys)  # noqa: S101  (the others are above)
    place = "" if callable(section.given["function"]) else filled.given["function"]
    return FunctionJudge(
        keys.function, scale, keys.name, takes=keys.takes, version=keys.version, place=place
    )
