"""One problem of the input, and the two ways to meet it: stop at the first, or collect them all.

Every reader hands its problems to a function of type `Complain` and goes on with the next row if
that function returns. So reading (which refuses) and validating (which collects) share each parser,
and cannot disagree.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from idealrank.data.problems import switch_for
from idealrank.errors import Advised, FileFormatError

Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True)
class Complaint:
    """A problem: where it is, what stands there, what should, and what to do.

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


class Collection:
    """All problems, counted by kind, with the first few of each."""

    def __init__(self, examples: int = 3) -> None:
        self._kept = examples
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
        kept = self.examples.setdefault(kind, [])
        kept.extend(examples[: max(0, self._kept - len(kept))])

    @property
    def n_errors(self) -> int:
        """Count the problems that prevent evaluation."""
        return sum(count for kind, count in self.counts.items() if self.severities[kind] == "error")
