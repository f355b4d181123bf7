"""One problem of the input, and the two ways to meet it: stop at the first, or collect them all.
What a reader guessed is a note.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from idealrank.data.problems import switch_for
from idealrank.errors import Advised, FileFormatError, warn

Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True)
class Complaint:
    """A problem: its place, what was found, what was expected, and what to do.

    Examples
    --------
    >>> print(Complaint("nan", "a.csv", 3, "score NaN", "a number"))
    a.csv:3: found score NaN, expected a number
    """

    kind: str
    path: str
    line: int
    found: str
    expected: str
    hint: str = ""
    severity: Severity = "error"
    command_hint: str = ""

    @property
    def place(self) -> str:
        """Path and line."""
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def said(self) -> Advised:
        """The problem without its place: found, expected, next step."""
        return Advised(
            f"found {self.found}, expected {self.expected}", self.hint, self.command_hint
        )

    def error(self) -> FileFormatError:
        """Return the problem as an exception."""
        return FileFormatError(
            self.path,
            self.line,
            self.found,
            self.expected,
            self.hint,
            switch=switch_for(self.kind),
            command_hint=self.command_hint,
        )

    def __str__(self) -> str:
        return str(self.error())


Complain: TypeAlias = Callable[[Complaint], None]


def refuse(complaint: Complaint) -> None:
    """Stop at the first problem."""
    raise complaint.error() from None


class ComplaintCounts:
    """All problems, counted by kind, with the first few of each."""

    def __init__(self, examples: int = 3) -> None:
        self._most_examples = examples
        self.counts: Counter[str] = Counter()
        self.severities: dict[str, Severity] = {}
        self.examples: dict[str, list[Complaint]] = {}

    def __call__(self, complaint: Complaint) -> None:
        self.add(complaint.kind, 1, [complaint], complaint.severity)

    def add(
        self, kind: str, count: int, examples: list[Complaint], severity: Severity = "error"
    ) -> None:
        """Count several problems of one kind at once."""
        self.counts[kind] += count
        self.severities[kind] = severity
        examples_of_kind = self.examples.setdefault(kind, [])
        room = max(0, self._most_examples - len(examples_of_kind))
        examples_of_kind.extend(examples[:room])

    @property
    def n_errors(self) -> int:
        """Count the problems that prevent evaluation."""
        return sum(count for kind, count in self.counts.items() if self.severities[kind] == "error")


Tell: TypeAlias = Callable[[str], None]


class Notes:
    """Passes messages on: all of them to `tell`, or, without one, the doubtful ones as warnings.

    `query_word` is the word of the columns that were read: "user" if the queries are users.
    """

    query_word = "query"

    def __init__(self, tell: Tell | None = None, tell_doubts: Tell | None = None) -> None:
        self._tell = tell
        self._tell_doubts = tell_doubts or tell

    def inform(self, message: str) -> None:
        """Say how something was read when there was no doubt about it."""
        if self._tell is not None:
            self._tell(message)

    def warn(self, message: str) -> None:
        """Say that another reading was possible, or that the data look odd."""
        if self._tell_doubts is not None:
            self._tell_doubts(message)
        else:
            warn(message)
