"""Any program as a backend: a JSON line in, a JSON line out."""

import json
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from idealrank._keys import choice, texts
from idealrank._sections import Section
from idealrank.errors import BackendError, shown
from idealrank.live.backends.protocol import ORDERS, ScoredDocument, SearchQuery, ranked_value
from idealrank.live.backends.shared import BackendKeys, keys_from

_QUOTED = 5  # last lines of stderr that a message may quote


class CommandBackend:
    r"""Program that answers a JSON line on standard input with a JSON line on standard output.

    A process lives on and answers one query after another; searches at the same time have a process
    each. A process that does not answer in time is killed.
    """

    name = "command"

    def __init__(
        self, command: Sequence[str], *, timeout: float = 10.0, order: str = "score"
    ) -> None:
        self._program = LineProgram(command, timeout)
        self._order = order

    def search(self, query: SearchQuery, limit: int) -> list[ScoredDocument]:
        """Send the query to an idle process, and read its answer."""
        request: dict[str, Any] = {"id": query.id, "text": query.text, "limit": limit}
        if query.vector is not None:
            request["vector"] = [float(number) for number in query.vector]
        answer = self._program.ask(request)
        return ranked_value(self.name, answer, limit=limit, order=self._order)

    def close(self) -> None:
        """End all processes."""
        self._program.close()


class LineProgram:
    r"""Processes of one program that answers JSON lines with JSON lines; each answers one request
    after another.
    """

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self._command = tuple(command)
        self._timeout = timeout
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def ask(self, value: Any) -> Any:
        """Send a value to an idle process, and return its answer."""
        process = self._process()
        try:
            line = process.ask(json.dumps(value), self._timeout)
        except BaseException:
            self._drop(process)
            raise
        with self._lock:
            self._idle.append(process)
        try:
            answer = json.loads(line)
        except ValueError:
            raise BackendError(
                f"command: found {shown(repr(line))}, expected a line of JSON"
            ) from None
        if isinstance(answer, dict) and isinstance(answer.get("error"), str):
            raise BackendError(
                f"command: {shown(answer['error'])}", temporary=bool(answer.get("temporary"))
            )
        return answer

    def _process(self) -> "_Process":
        with self._lock:
            if self._is_closed:
                raise BackendError("command: found a closed backend, expected an open one")
            if self._idle:
                return self._idle.pop()
        process = _Process(self._command)
        with self._lock:
            self._all.add(process)
        return process

    def _drop(self, process: "_Process") -> None:
        process.end()
        with self._lock:
            self._all.discard(process)

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._is_closed = True
            ended = list(self._all)
            self._all.clear()
            self._idle.clear()
        for process in ended:
            process.end()


class _Process:
    """One process, and threads that read its output."""

    def __init__(self, command: tuple[str, ...]) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603  (the user's own program, and no shell)
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="surrogateescape",
            )
        except OSError as error:
            raise BackendError(f"command: {command[0]}: {error.strerror or error}") from None
        self._lines: queue.Queue[str] = queue.Queue()
        self._last_errors: deque[str] = deque(maxlen=_QUOTED)
        for stream, keep in (
            (self._process.stdout, self._lines.put),
            (self._process.stderr, self._last_errors.append),
        ):
            threading.Thread(target=self._read, args=(stream, keep), daemon=True).start()

    def _read(self, stream: IO[str], keep: Any) -> None:
        with suppress(ValueError, OSError):
            for line in stream:
                keep(line)
        if keep == self._lines.put:  # an empty line tells `ask` that the program has ended
            keep("")

    def ask(self, line: str, timeout: float) -> str:
        """Send a line, and return the next one."""
        assert self._process.stdin is not None  # noqa: S101  (a pipe, as asked for)
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            answer = self._lines.get(timeout=timeout)
        except queue.Empty:
            raise BackendError(
                f"command: found no answer in {timeout:g} s, expected a line of JSON",
                temporary=True,
            ) from None
        except OSError:
            answer = ""
        if not answer:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
            written = shown(" ".join(" ".join(self._last_errors).split()))
            quoted = f" ({written})" if written else ""
            ended = f"the program ended with exit code {self._process.poll()}{quoted}"
            raise BackendError(f"command: {ended}, expected an answer", temporary=True)
        return answer

    def end(self) -> None:
        """End the process."""
        with suppress(OSError):
            self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError, ValueError):
                    stream.close()


@dataclass(frozen=True, kw_only=True)
class CommandKeys(BackendKeys):
    """Keys of the kind ``command``."""

    command: tuple[str, ...] = texts(
        "Program and arguments.",
        expected='a program with arguments, as in ["python", "engine.py"]',
    )
    order: str = choice(ORDERS, "Meaning of the numbers; distances are negated.")


SECTIONS = {"command": CommandKeys}


def from_section(section: Section) -> CommandBackend:
    """Make the backend of a section."""
    keys = keys_from(CommandKeys, section)
    return CommandBackend(keys.command, timeout=keys.timeout, order=keys.order)
