"""The switches of a convention, a row for each: its values in words, the values to try, and the data on which it can act.

`Occurrences` are the cases in the data that make switches act: a switch without its case cannot change a number.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray


class Occurrences(NamedTuple):
    """Occurring cases.

    Attributes
    ----------
    near_ties : bool
        Scores that only float32 takes for equal.
    ties, ties_float32 : bool
        Judged documents with equal scores, in either precision.
    duplicates, unjudged, missing, without_judgments : bool
        Documents listed or judged twice; returned documents without a judgment; judged queries the run does not answer; queries of the
        run without judgments.
    fractions, below_one : bool
        Grades that are not whole; grades other than 0 below 1.
    lowest_grade, lowest_whole : float
        The lowest grade as given, and cut to whole numbers; 0 when there is none.
    padding : bool
        A grade of -1, as given or cut to whole numbers.
    """

    near_ties: bool
    ties: bool
    ties_float32: bool
    duplicates: bool
    unjudged: bool
    missing: bool
    without_judgments: bool
    fractions: bool
    below_one: bool
    lowest_grade: float
    lowest_whole: float
    padding: bool

    @classmethod
    def of(cls, full: Judged, full_float32: Judged, grades: FloatArray, *, judged_twice: bool) -> "Occurrences":
        """Look the cases up in an alignment that refuses and drops nothing, and in its float32 twin.

        Parameters
        ----------
        full, full_float32 : Judged
            All queries, negative grades kept, duplicates counted twice, whole lists.
        grades : float64 array, shape (n,)
            Grades as given.
        judged_twice : bool
            Whether the judgments list a document twice.
        """
        counters, whole, hits, hits_float32 = full.alignments, np.trunc(grades), full.hits, full_float32.hits
        return cls(
            near_ties=not (_are_equal(hits.tie_first, hits_float32.tie_first) and _are_equal(hits.tie_last, hits_float32.tie_last)),
            ties=hits.tie_first is not None,
            ties_float32=hits_float32.tie_first is not None,
            duplicates=judged_twice or bool(counters.duplicates.any()),
            unjudged=bool((full.lengths > counters.judged).any()),
            missing=len(full.scope.missing) > 0,
            without_judgments=full.scope.without_judgments > 0,
            fractions=bool((whole != grades).any()),
            below_one=bool(((grades < 1) & (grades != 0)).any()),
            lowest_grade=float(grades.min(initial=0.0)),
            lowest_whole=float(whole.min(initial=0.0)),
            padding=bool((whole == -1).any()),
        )


def _are_equal(one: IntArray | None, other: IntArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one, other))


Settle: TypeAlias = Callable[[Occurrences, Mapping[str, str]], str]
"""The value that a switch has on given data: that of the convention, or where the switch cannot act there, one and the same."""

_VARIED_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000, None)


class Switch(NamedTuple):
    """One switch.

    Attributes
    ----------
    about : str
        What it decides on, before the long words of a value: "a document listed twice: an error".
    noun : str
        The switch as a cause: "so much is the ties".
    lead : str
        Opens a difference, before the short words of a value: "ties" in "ties in input order instead of by document id".
    values : mapping of str to (str, str)
        By value: its long words and its short ones. All values there are; of a switch with `open_values`, those that do not speak for
        themselves.
    shown_by : str
        Data on which its values can give different numbers.
    settle : callable, optional
        See `Settle`; None where the switch acts on all data, as far as is looked at.
    usual : str, optional
        The value that sentences omit, since it has no effect.
    open_values : tuple of str
        Of a switch with values without end: those that a tool may have used.
    varied : tuple of object
        Of such a switch: those under which a verdict is tried.
    """

    about: str
    noun: str
    lead: str
    values: Mapping[str, tuple[str, str]]
    shown_by: str
    settle: Settle | None = None
    usual: str | None = None
    open_values: tuple[str, ...] | None = None
    varied: tuple[object, ...] = ()

    @property
    def tried(self) -> tuple[str, ...]:
        """The values that may stand behind a number; "error" among them gives none."""
        return tuple(self.values) if self.open_values is None else self.open_values

    @property
    def variants(self) -> tuple[object, ...]:
        """The values under which a verdict is tried; "error" among them gives none."""
        return tuple(self.values) if self.open_values is None else self.varied

    def long(self, value: str) -> str:
        """Describe a value in a sentence about the whole convention."""
        return self.values[value][0] if value in self.values else value

    def short(self, value: str) -> str:
        """Describe a value in contrast to another."""
        return self.values[value][1] if value in self.values else value


def _same(words: str) -> tuple[str, str]:
    return words, words


def _unless(case: str, switch: str, idle: str) -> Settle:
    """A switch that acts only where a case occurs."""
    return lambda occurs, switches: switches[switch] if getattr(occurs, case) else idle


def _settled_ties(occurs: Occurrences, switches: Mapping[str, str]) -> str:
    # Floored terms have no expected value, ties or not: that pair must stay visible to be refused.
    refused = switches["ties"] == "expected" and switches["rounding"] == "floor-2"
    acts = occurs.ties_float32 if switches["score"] == "float32" else occurs.ties
    return switches["ties"] if acts or refused else "docid"


def _settled_grades(occurs: Occurrences, switches: Mapping[str, str]) -> str:
    acts = {"given": True, "truncated": occurs.fractions, "minimum": occurs.below_one}
    return switches["grades"] if acts[switches["grades"]] else "given"


def _settled_negative(occurs: Occurrences, switches: Mapping[str, str]) -> str:
    lowest = {"given": occurs.lowest_grade, "truncated": occurs.lowest_whole, "minimum": 0.0}[switches["grades"]]
    if lowest >= 0:
        return "zero"
    return "kept" if switches["negative"] == "padding" and not occurs.padding else switches["negative"]


# In the order of sentences about a convention. `settled` goes through them in it: negative grades come after what is made of grades.
ROWS: dict[str, Switch] = {
    "gain": Switch(
        "gain", "the gain", "gain", {"linear": ("the grade", "linear"), "exp2": ("2^grade - 1", "exp2")},
        "a relevant document with a grade other than 1",
        open_values=("linear", "exp2", "power(2)"), varied=("linear", "exp2", "power(0.5)", "power(2)"),
    ),
    "discount": Switch(
        "discount", "the discount", "discount",
        {"log2": ("1/log2(rank + 1)", "log2"), "zipf(1)": _same("1/rank"), "linear": ("list length - rank", "linear")},
        "relevant documents at different ranks below the first",
        # Any log base gives the same NDCG; the natural and the decimal logarithm are here for DCG.
        open_values=("log2", "jarvelin(2)", "jarvelin(10)", "zipf(1)", "linear", "log(2.718281828459045)", "log(10)"),
        varied=("log2", "jarvelin(2)", "jarvelin(10)", "zipf(0.5)", "zipf(1)", "geometric(0.8)", "linear"),
    ),
    "ideal": Switch(
        "ideal list", "the ideal", "ideal of",
        {
            "judged": ("all judged documents, cut at the cutoff", "all judged"),
            "returned": ("the returned documents, cut at the cutoff", "the returned documents"),
            "hits": ("all judged documents, cut at the number of documents returned", "all judged, cut at the number returned"),
            "uncut": ("all judged documents, not cut", "all judged, never cut"),
        },
        "a relevant document that the run does not return, or more relevant documents than the cutoff",
    ),
    "no_relevant": Switch(
        "a query without relevant documents", "queries without relevant documents", "queries without relevant documents",
        {
            "zero": ("0", "as 0"), "one": ("1", "as 1"), "nan": ("NaN", "as NaN"), "left-out": _same("left out"),
            "quotient": ("DCG / ideal DCG, and 0 for 0 / 0", "as 0 if the ideal is exactly 0"),
        },
        "a query without relevant documents",
    ),
    "missing": Switch(
        "a query missing from the run", "queries missing from the run", "queries missing from the run",
        {"zero": ("counted 0", "as 0"), "left-out": _same("left out"), "error": ("an error", "refused")},
        "a judged query that the run does not answer", _unless("missing", "missing", "zero"),
    ),
    "without_judgments": Switch(
        "a query without judgments", "queries without judgments", "queries without judgments",
        {"left-out": _same("left out"), "evaluated": _same("evaluated")},
        "a query of the run without judgments", _unless("without_judgments", "without_judgments", "left-out"),
    ),
    "ties": Switch(
        "equal scores", "ties", "ties",
        {
            "docid": ("by document id, descending", "by document id"),
            "docid-ascending": ("by document id, ascending", "by document id ascending"),
            "input": _same("in input order"),
            "expected": ("averaged over all their orders", "averaged over all orders"),
            "best": ("in their best order", "in the best order"), "worst": ("in their worst order", "in the worst order"),
        },
        "documents of different grades with equal scores", _settled_ties,
    ),
    "score": Switch(
        "scores compared as", "precision of scores", "scores compared as", {"float64": _same("float64"), "float32": _same("float32")},
        "scores that differ only after the seventh digit", _unless("near_ties", "score", "float64"), usual="float64",
    ),
    "duplicates": Switch(
        "a document listed twice", "documents listed twice", "documents listed twice:",
        {
            "error": ("an error", "refused"), "first": ("counted once, at the first line", "the first kept"),
            "last": ("counted once, at the last line", "the last kept"),
            "best": ("counted once, with the best score", "the best score kept"),
            "twice": ("counted each time", "both counted"),
        },
        "a document listed twice for a query", _unless("duplicates", "duplicates", "error"),
    ),
    "unjudged": Switch(
        "unjudged documents", "unjudged documents", "unjudged documents",
        {"not-relevant": _same("not relevant"), "skipped": _same("skipped"), "error": ("an error", "refused")},
        "a returned document without a judgment above a judged one", _unless("unjudged", "unjudged", "not-relevant"),
        usual="not-relevant",
    ),
    "grades": Switch(
        "grades", "fractional grades", "grades",
        {
            "given": ("as given", "as they are"), "truncated": _same("cut to whole numbers"),
            "minimum": ("0 where below 1", "below 1 as 0"),
        },
        "a grade that is not a whole number", _settled_grades,
    ),
    "negative": Switch(
        "negative grades", "negative grades", "negative grades",
        {
            "kept": _same("kept"), "zero": ("counted 0", "as 0"), "removed": _same("removed with their documents"),
            "padding": ("kept, but -1 is padding", "-1 removed as padding"), "error": ("an error", "refused"),
        },
        "a negative grade", _settled_negative,
    ),
    "rounding": Switch(
        "rounding", "rounding", "rounding",
        {
            "none": _same("none"), "round-2": ("each query's value to 2 decimals", "each query to 2 decimals"),
            "round-5": ("each query's value to 5 decimals", "each query to 5 decimals"),
            "floor-2": ("every term, sum and value down to 2 decimals", "every term down to 2 decimals"),
        },
        "any query whose value has more decimals", usual="none",
    ),
    "cutoff": Switch(
        "cutoff where none is asked", "the default cutoff", "default cutoff", {}, "a list longer than the default cutoff",
        usual="none", open_values=(), varied=_VARIED_CUTOFFS,
    ),
    "recall_points": Switch(
        "recall levels", "recall points", "recall points",
        {
            "rounded": ("rounded to whole documents", "rounded"),
            "truncated": ("the whole part of level x relevant + 0.9", "cut off after adding 0.9"),
        },
        "a query whose number of relevant documents is no multiple of 10", usual="rounded",
    ),
}  # fmt: skip


def settled(switches: Mapping[str, str], occurs: Occurrences) -> dict[str, str]:
    """A convention's switches with those that cannot act on some data set to one and the same value.

    Two conventions that come out equal give equal numbers there; the reverse need not hold.

    Parameters
    ----------
    switches : mapping
        As `Convention.switches` gives them.
    occurs : Occurrences
        Which cases the data have.
    """
    found = dict(switches)
    for name, row in ROWS.items():
        if row.settle is not None:
            found[name] = row.settle(occurs, found)
    return found


def phrase(switch: str, value: str) -> str:
    """One switch in words.

    Examples
    --------
    >>> phrase("ties", "docid")
    'equal scores by document id, descending'
    """
    row = ROWS[switch]
    return f"{row.about} {row.long(value)}" if switch == "ties" else f"{row.about}: {row.long(value)}"


def difference_phrase(switch: str, here: str, there: str) -> str:
    """A switch that stands at `here`, told against `there`.

    Examples
    --------
    >>> difference_phrase("ideal", "returned", "judged")
    'ideal of the returned documents instead of all judged'
    """
    row = ROWS[switch]
    return f"{row.lead} {row.short(here)} instead of {row.short(there)}"
