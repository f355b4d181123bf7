"""The marks of each verdict, one record for every form.

Sentences, tables, maps, papers, figures, build servers, pages and trackers take the presentation of
a verdict from here. None of them compares a p value with a level to name a difference: only letters
of groups do, and their note says so.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from idealrank.analysis.comparison import Difference, Pair
from idealrank.evaluation.coverage import MANY_UNJUDGED
from idealrank.reports.table.cells import Tone

if TYPE_CHECKING:
    from idealrank.analysis.comparison.slice_differences import Slice
    from idealrank.analysis.gate.contracts import KeptContract
    from idealrank.analysis.gate.outcome import Check, Gated

IDENTICAL = "identical"
"""The word for two runs that have one value on every query: more queries cannot tell them apart."""

TOO_FEW = "too few judgments"
"""The word for a decision of a test that the judgments do not support."""

CONTRADICTED = "contradicted by a judge"
"""The state of an undecided difference whose sign people and a judge disagree on; its word is
undecided.
"""

Side: TypeAlias = Literal["better", "worse", "equal", "withheld"]


@dataclass(frozen=True, kw_only=True)
class VerdictMark:
    r"""Presentation of one verdict, or of one outcome of a gate."""

    word: str  # In sentences and tables
    symbol: str = "."  # In the map of all pairs in text; empty where the size of p decides
    paper: str = ""  # Behind a mean in a table for a paper, against the baseline
    star: str = ""  # Behind a difference in tables and slices
    variant: str = ""  # In the grid of variants; empty to show the sign of the difference
    tone: Tone = "quiet"  # Colour of its word, and its class in HTML
    side: Side = "equal"  # Shape and colour in figures of differences; the last two are hollow
    decided: bool = False  # Whether it answers the question
    shape: Literal["", "dot", "cross"] = "dot"  # Over its cell in the coloured map of all pairs
    # Meaning of the shape, after "marks pairs"; ``{p}`` stands for its p values, ``{level}`` for
    # the level and correction of the test, ``{margin}`` for the margin
    caption: str = "without a verdict"
    # Outcome of a JUnit test case, and of a test of pytest
    case: Literal["passed", "skipped", "failure"] = "passed"
    annotation: Literal["", "warning", "error"] = ""  # Kind of annotation on GitHub
    tracker: str = ""  # Outcome of a gate in an experiment tracker
    # Class of the verdict of a gate on a page
    section: Literal["passed", "closed", "unreached"] = "unreached"


_UNDECIDED = VerdictMark(
    word="undecided", caption="without a significant difference (p above {level})"
)

# A new state needs one value here; without it, it looks as undecided does, in its own word.
MARKS: Mapping[str, VerdictMark] = {
    "better": VerdictMark(
        word="better",
        symbol="",
        paper="▲",
        star="*",
        variant="++",
        tone="better",
        side="better",
        decided=True,
        shape="",
        caption="with a better run",
    ),
    "worse": VerdictMark(
        word="worse",
        symbol="",
        paper="▼",
        star="*",
        variant="--",
        tone="worse",
        side="worse",
        decided=True,
        shape="",
        caption="with a better run",
    ),
    "equivalent": VerdictMark(
        word="equivalent",
        symbol="~",
        variant="~",
        tone="",
        decided=True,
        caption="that are equivalent (within {margin})",
    ),
    "undecided": _UNDECIDED,
    CONTRADICTED: VerdictMark(
        word="undecided",
        caption="on whose sign people and the judge disagree (p {p})",
        case="skipped",
        annotation="warning",
        tracker=TOO_FEW,
    ),
    IDENTICAL: VerdictMark(word=IDENTICAL, symbol="=", caption="with equal values on every query"),
    TOO_FEW: VerdictMark(
        word=TOO_FEW,
        symbol="?",
        paper="?",
        star="?",
        variant="?",
        side="withheld",
        shape="cross",
        caption="with too few judgments to decide (p {p})",
        case="skipped",
        annotation="warning",
        tracker=TOO_FEW,
    ),
    "passed": VerdictMark(word="passed", tone="", decided=True, tracker="open", section="passed"),
    "failed": VerdictMark(
        word="failed",
        tone="worse",
        decided=True,
        case="failure",
        annotation="error",
        tracker="closed",
        section="closed",
    ),
    # A person accepted the run of a closed gate.
    "accepted": VerdictMark(word="accepted", decided=True, tracker="accepted"),
    "kept": VerdictMark(word="kept", tone="", decided=True),
    "broken": VerdictMark(
        word="broken", tone="worse", decided=True, case="failure", annotation="error"
    ),
    # Companions close no gate, whatever they show.
    "companion": VerdictMark(word="companion"),
    "companion, would fail": VerdictMark(word="companion, would fail"),
    f"companion, {TOO_FEW}": VerdictMark(word=f"companion, {TOO_FEW}"),
    "companion, undecided": VerdictMark(word="companion, undecided"),
}


def mark(state: str) -> VerdictMark:
    """Return the marks of a state by its name."""
    known = MARKS.get(state)
    return VerdictMark(word=state, caption=_UNDECIDED.caption) if known is None else known


def state_of(row: "Difference | Slice") -> str:
    """Return the state of a difference: its verdict, or the reason that it is undecided if that is
    not the number of queries.
    """
    if row.verdict != "undecided":
        return row.verdict
    if is_identical(row):
        return IDENTICAL
    judge = row.judge if isinstance(row, Difference) else None
    return CONTRADICTED if judge is not None and judge.contradicts else row.verdict


def mark_of(row: "Difference | Slice") -> VerdictMark:
    """Return the marks of a difference."""
    return mark(state_of(row))


def mark_of_check(check: "Check", gated: "Gated") -> VerdictMark:
    """Return the marks of a check of a gate; a companion closes no gate and is named one.

    The word is the state of the check, such as too few judgments, whatever the policy says. Colour,
    test case and annotation show the outcome.
    """
    shown = mark(state_of_check(check, gated))
    if not check.decides:
        if shown.case == "skipped":
            return mark(f"companion, {shown.word}")
        return mark("companion" if check.passed else "companion, would fail")
    if check.outcome != TOO_FEW:
        shown = replace(mark(check.outcome), word=shown.word)
    return shown if check.passed else _as_accepted(shown, gated)


def state_of_check(check: "Check", gated: "Gated") -> str:
    """Return the state of a check, whatever the policy says: its outcome, unless the answer is
    withheld.
    """
    # A run that does not fit the judgments has no answer that could be withheld.
    if gated.mismatches:
        return check.outcome
    if not check.carried:
        return TOO_FEW
    # A stored gate has no grades of the judge; only a judge withholds an answer that the judgments
    # support.
    by_judge = check.is_contradicted(gated.policy.alpha) or check.outcome == TOO_FEW
    return CONTRADICTED if by_judge else check.outcome


def mark_of_contract(kept: "KeptContract", gated: "Gated") -> VerdictMark:
    """Return the marks of a contract of a gate."""
    return mark("kept") if kept.passed else _as_accepted(mark("broken"), gated)


def _as_accepted(shown: VerdictMark, gated: "Gated") -> VerdictMark:
    """Return the marks of a check that closed the gate; once accepted, it fails no build."""
    if gated.acceptance is None:
        return shown
    return replace(shown, word=f"{shown.word}, accepted", case="skipped", annotation="warning")


def mark_of_gate(gated: "Gated") -> VerdictMark:
    """Return the marks of a whole gate."""
    return mark(gated.outcome if gated.acceptance is None else "accepted")


def decided_tone(verdict: str) -> Tone:
    """Return the colour of a number whose verdict names the better run; empty for others."""
    shown = mark(verdict)
    return shown.tone if shown.side in ("better", "worse") else ""


def correction_word(correction: str) -> str:
    """Return the name of a correction for people."""
    return {"holm": "Holm", "bonferroni": "Bonferroni"}.get(correction, correction)


def is_identical(row: "Difference | Slice | Check") -> bool:
    """Return whether both runs have the same value on every query."""
    return not row.wins and not row.losses


def word(row: "Difference | Slice") -> str:
    """Return the verdict for people; a difference whose values are all equal is identical."""
    return mark_of(row).word


STAR_WORDS: Mapping[str, str] = {
    "*": "better or worse",
    "?": f"{TOO_FEW}, however small p",
}
"""Meanings of the marks behind differences; the marks of papers have their own words."""


def stars_text(marks: Collection[str]) -> str:
    """Explain the marks behind differences; the star always, since its absence has a meaning,
    too.
    """
    explained = [f"* {STAR_WORDS['*']} after correction"]
    explained += [f"? {STAR_WORDS['?']}"] if "?" in marks else []
    return "; ".join(explained)


# --- the basis of a verdict -----------------------------------------------------------------------

UNLABELLED = "documents without a label count as not relevant"
"""The clause of a verdict under positive-only labels."""

RATE_UNKNOWN = "too few queries to know the error rate of the verdict"
"""The clause of a verdict that rare large differences beyond the queries could change."""

CAUTION = "!"
"""Behind a verdict of which much is unjudged, or whose error rate is not known."""


def many_unjudged(row: Difference) -> float:
    """Return the larger unjudged share of both runs if a verdict needs a caution; else 0.

    A verdict under pooled labels needs one, and one under labels of an unknown kind. Under complete
    labels no document is unjudged, and under positive-only labels the clause `UNLABELLED` stands.
    """
    kind = None if row.basis is None else row.basis.kind
    if not mark_of(row).decided or kind in ("complete", "positive-only"):
        return 0.0
    largest = max(row.unjudged_a or 0.0, row.unjudged_b or 0.0)
    return largest if largest >= MANY_UNJUDGED else 0.0


def caution_mark(row: "Difference | Slice") -> str:
    """Return the mark of a verdict with many unjudged documents, or of unknown error rate; none for
    slices.
    """
    cautioned = isinstance(row, Difference) and (many_unjudged(row) or not row.error_rate_known)
    return CAUTION if cautioned else ""


def caution_mark_of_check(check: "Check") -> str:
    """Return the mark of a check of a gate whose error rate is not known."""
    return "" if check.error_rate_known else CAUTION


def counts_unlabelled(row: Difference) -> bool:
    """Return whether a verdict takes documents without a label to be not relevant."""
    positive_only = row.basis is not None and row.basis.kind == "positive-only"
    return positive_only and mark_of(row).decided


def basis_notes(rows: Iterable[tuple[Pair, Difference]], *, marked: bool = True) -> list[str]:
    """List notes on the basis of the verdicts of a table if documents are unjudged."""
    valid = [(pair, row) for pair, row in rows if not pair.mismatch]
    notes = []
    if any(counts_unlabelled(row) for _, row in valid):
        notes.append(f"{UNLABELLED.capitalize()}.")
    if any(not row.error_rate_known for _, row in valid):
        note = "Too few queries to know the error rate of every verdict."
        notes.append(f"{CAUTION} {RATE_UNKNOWN}." if marked else note)
    doubtful = [(pair, row) for pair, row in valid if many_unjudged(row)]
    if not doubtful:
        return notes
    most = max(many_unjudged(row) for _, row in doubtful)
    pair, row = next((pair, row) for pair, row in doubtful if many_unjudged(row) == most)
    run = pair.a if row.unjudged_a == most else pair.b
    up_to = "" if len(doubtful) == 1 else "up to "
    share = f"{up_to}{most:.1%} in {run}, by {row.measure}"
    if not marked:
        return [*notes, f"Many documents are unjudged ({share})."]
    advice = "judge some of them to check the verdict"
    return [*notes, f"{CAUTION} many documents are unjudged ({share}): {advice}."]
