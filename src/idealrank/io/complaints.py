"""One problem of the input, and the two ways to meet it: stop at the first, or collect them all.

Every reader hands its problems to a function of type `Complain` and goes on with the next row if that function returns. So reading
(which refuses) and validating (which collects) share each parser, and cannot disagree.
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

    Parameters
    ----------
    kind : str
        Short name of this sort of problem; problems are counted by it.
    path : str
        The file, as typed.
    line : int
        From 1; 0 where there are no lines.
    found, expected, hint, command_hint : str
        As in `FileFormatError`.
    severity : {"error", "warning"}
        Whether the file can be evaluated all the same.

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
        """Path and line.

        Examples
        --------
        >>> Complaint("nan", "a.csv", 3, "score NaN", "a number").place
        'a.csv:3'
        """
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def said(self) -> Advised:
        """The problem without its place: found, expected, next step.

        Examples
        --------
        >>> Complaint("nan", "a.csv", 3, "score NaN", "a number").said
        'found score NaN, expected a number'
        """
        return Advised(f"found {self.found}, expected {self.expected}", self.hint, self.command_hint)

    def error(self) -> FileFormatError:
        """Return the problem as an exception.

        Examples
        --------
        >>> Complaint("nan", "a.csv", 3, "score NaN", "a number").error().line
        3
        """
        return FileFormatError(
            self.path, self.line, self.found, self.expected, self.hint, switch=switch_for(self.kind), command_hint=self.command_hint
        )

    def __str__(self) -> str:
        return str(self.error())


Complain: TypeAlias = Callable[[Complaint], None]


def refuse(complaint: Complaint) -> None:
    """Stop at the first problem.

    Raises
    ------
    FileFormatError
        Always.

    Examples
    --------
    >>> try:
    ...     refuse(Complaint("nan", "a.csv", 3, "score NaN", "a number"))
    ... except ValueError as error:
    ...     print(error)
    a.csv:3: found score NaN, expected a number
    """
    raise complaint.error() from None


class Collection:
    """All problems, counted by kind, with the first few of each.

    Parameters
    ----------
    examples : int
        How many of each kind to keep.

    Examples
    --------
    >>> collection = Collection(examples=1)
    >>> for line in (3, 5):
    ...     collection(Complaint("nan", "a.csv", line, "score NaN", "a number"))
    >>> collection.counts["nan"], [c.line for c in collection.examples["nan"]]
    (2, [3])
    """

    def __init__(self, examples: int = 3) -> None:
        self._kept = examples
        self.counts: Counter[str] = Counter()
        self.severities: dict[str, Severity] = {}
        self.examples: dict[str, list[Complaint]] = {}

    def __call__(self, complaint: Complaint) -> None:
        self.add(complaint.kind, 1, [complaint], complaint.severity)

    def add(self, kind: str, count: int, examples: list[Complaint], severity: Severity = "error") -> None:
        """Count several problems of one kind at once.

        Examples
        --------
        >>> collection = Collection()
        >>> collection.add("blank", 7, [], "warning")
        >>> collection.counts["blank"], collection.n_errors
        (7, 0)
        """
        self.counts[kind] += count
        self.severities[kind] = severity
        kept = self.examples.setdefault(kind, [])
        kept.extend(examples[: max(0, self._kept - len(kept))])

    @property
    def n_errors(self) -> int:
        """Count the problems that prevent evaluation."""
        return sum(count for kind, count in self.counts.items() if self.severities[kind] == "error")
