"""States of a verdict with what each form must show, and comparisons that are set to one state."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import idealrank as ir
from idealrank.analysis.comparison import Comparison, Difference
from idealrank.analysis.comparison.difference_rows import JudgeDifference
from idealrank.analysis.comparison.label_basis import LabelBasis, OneSided
from idealrank.analysis.gate.outcome import TOO_FEW
from idealrank.data.label_kinds import LabelKind
from idealrank.reports.subject import Subject

# --- the table ------------------------------------------------------------------------------------


class State(NamedTuple):
    """What each form must show for one state; it must show what no other state has.

    Attributes
    ----------
    verdict : str
        In JSON and CSV.
    word : str
        In the columns of verdicts.
    line, sentence : str
        In `str(comparison)`; in the sentence of reports and pages, a pattern.
    signs : str
        In the map in text, of which one stands for each pair.
    star, paper, latex : str
        Behind differences; behind means in papers; the same in LaTeX.
    caption, shape : str
        Below the title of the coloured map; over its cells.
    side : str
        In figures of differences.
    has_letters : bool
        Whether letters name a worse run.
    """

    verdict: str
    word: str
    line: str
    sentence: str
    signs: str
    star: str
    paper: str
    latex: str
    caption: str
    shape: str
    side: str
    has_letters: bool


STATES = {
    "better": State(
        "better",
        "better",
        " is better than ",
        r"^run\d is better than ",
        "#+:",
        "*",
        "▲",
        r"$\blacktriangle$",
        "each pair has a better run",
        "",
        "better",
        True,
    ),
    "worse": State(
        "worse",
        "worse",
        " is worse than ",
        " is worse than ",
        "#+:",
        "*",
        "▼",
        r"$\blacktriangledown$",
        "each pair has a better run",
        "",
        "worse",
        True,
    ),
    "equivalent": State(
        "equivalent",
        "equivalent",
        " are equivalent: ",
        " are equivalent, within ",
        "~",
        "",
        "",
        "",
        "that are equivalent (within 0.05)",
        "dot",
        "equal",
        False,
    ),
    "undecided": State(
        "undecided",
        "undecided",
        " is better is undecided",
        "These queries do not show whether ",
        ".",
        "",
        "",
        "",
        "without a significant difference (p above 0.05",
        "dot",
        "equal",
        False,
    ),
    "contradicted": State(
        "undecided",
        "undecided",
        " is better is undecided",
        "People and the judge disagree on ",
        ".",
        "",
        "",
        "",
        "on whose sign people and the judge disagree (p 0.00001)",
        "dot",
        "equal",
        False,
    ),
    "identical": State(
        "undecided",
        "identical",
        " are identical: ",
        " are identical in every value",
        "=",
        "",
        "",
        "",
        "with equal values on every query",
        "dot",
        "equal",
        False,
    ),
    TOO_FEW: State(
        TOO_FEW,
        TOO_FEW,
        "too few judgments to say whether ",
        "Too few judgments to say whether ",
        "?",
        "?",
        "?",
        "?",
        "with too few judgments to decide (p 0.00001)",
        "cross",
        "withheld",
        False,
    ),
}
TURNED = {"better": "worse", "worse": "better"}

# --- the cases ------------------------------------------------------------------------------------


class Case(NamedTuple):
    """One constructed comparison."""

    state: str
    runs: int
    direction: int
    companion: bool
    sliced: bool
    baseline: bool
    labels: LabelKind
    rate_known: bool = True

    def __str__(self) -> str:
        parts = [self.state, f"{self.runs} runs", "up" if self.direction > 0 else "down"]
        flags = {"companion": self.companion, "slices": self.sliced, "baseline": self.baseline}
        return ", ".join([*parts, *(name for name, is_set in flags.items() if is_set), self.labels])


LABELS: tuple[LabelKind, ...] = ("pooled", "positive-only", "complete")
PATTERNS = ((1, False, False, False), (-1, True, True, True), (1, True, False, True))
MORE = ((-1, False, True, False), (1, False, True, True), (-1, True, False, False))


def constructed() -> Iterator[Case]:
    """Each state with two, three and six runs, twice; the other traits go round."""
    for place, (state, runs) in enumerate(itertools.product(STATES, (2, 3, 6))):
        for half, patterns in enumerate((PATTERNS, MORE)):
            direction, companion, sliced, baseline = patterns[(place + place // 3) % 3]
            labels = LABELS[(place + place // 9 + half) % 3]
            yield Case(state, runs, direction, companion, sliced, baseline, labels)


CASES = tuple(constructed())
QUERIES = 24
MEASURES = {1: ("RR", "AP"), -1: ("Unjudged@3", "Unjudged@2")}
SMALL = 0.00001
P_VALUES = {"better": SMALL, "worse": SMALL, TOO_FEW: SMALL, "contradicted": SMALL}


def values_of(case: Case, run: int) -> np.ndarray:
    """Values with the sign that the state says, the later run against the earlier."""
    rng = np.random.default_rng(run)
    step = -0.1 if case.state == "worse" else 0.1
    middle = 0.4 + case.direction * step * run / case.runs
    return np.clip(middle + rng.normal(0, 0.02, (QUERIES, 2)), 0, 1)


@cache
def evaluations_of(case: Case) -> tuple[ir.Evaluation, ...]:
    qrels = {f"q{i:02d}": {"x": 1} for i in range(QUERIES)}
    made = ir.evaluate(qrels, {query: ["x"] for query in qrels}, MEASURES[case.direction])
    return tuple(
        replace(made, name=f"run{run}", values=values_of(case, run)) for run in range(case.runs)
    )


def in_state(row: Any, state: str) -> Any:
    """A row, or a slice, in one state."""
    p = P_VALUES.get(state, 0.4)
    changes: dict[str, Any] = {"verdict": STATES[state].verdict, "p": p, "p_corrected": p}
    if state == "identical":
        changes |= {
            "wins": 0,
            "losses": 0,
            "ties": row.n,
            "difference": 0.0,
            "interval": (0.0, 0.0),
        }
        changes |= {"p": 1.0, "p_corrected": 1.0, "mean_a": row.mean_b}
    return replace(row, **changes)


def built(row: Difference, case: Case) -> Difference:
    """A difference in the state of the case, on labels of its kind, with its slices."""
    one_sided = None
    if case.state == TOO_FEW and case.labels == "positive-only":
        one_sided = OneSided(run="a", declared=True)
    basis = LabelBasis(
        kind=case.labels,
        one_sided=one_sided,
        unlabelled_a=3,
        unlabelled_b=40,
    )
    judge = None
    if case.state == "contradicted":
        judge = JudgeDifference(
            mean_a=0.5, mean_b=0.4, difference=-0.1, p=0.001, n=QUERIES, contradicts=True
        )
    slices = row.slices
    if slices is not None:
        state = slice_state(case)
        slices = replace(slices, rows=tuple(in_state(one, state) for one in slices))
    row = in_state(row, case.state)
    equivalence = 0.001 if case.state == "equivalent" else None
    return replace(
        row,
        basis=basis,
        judge=judge,
        slices=slices,
        p_equivalence=equivalence,
        tipping=None,
        tipping_reason=None,
        unjudged_a=0.1,
        unjudged_b=0.857,
        queries_needed=None,
        error_rate_known=case.rate_known,
    )


def slice_state(case: Case) -> str:
    """Slices are never equivalent, and no judge is heard on them."""
    return "undecided" if case.state in ("equivalent", "contradicted") else case.state


@cache
def comparison_of(case: Case) -> Comparison:
    options: dict[str, Any] = {"measures": MEASURES[case.direction], "n_resamples": 199, "rng": 1}
    if case.sliced:
        options["slices"] = {f"q{i:02d}": ("short", "long")[i % 2] for i in range(QUERIES)}
    if case.baseline:
        options["baseline"] = "run0"
    if case.state == "equivalent":
        options["margin"] = 0.05
    compared = ir.compare(*evaluations_of(case), **options)
    pairs = [
        replace(pair, measures={text: built(row, case) for text, row in pair.measures.items()})
        for pair in compared.pairs
    ]
    return replace(compared, pairs=tuple(pairs))


def subject_of(case: Case) -> Subject:
    evaluations, comparison = evaluations_of(case), comparison_of(case)
    measures = evaluations[0].measures
    return Subject(
        evaluations=evaluations, measures=measures, means=comparison.means, comparison=comparison
    )


def measure_of(case: Case) -> str:
    return MEASURES[case.direction][case.companion]
