"""The report of `idealrank robust`: a few sentences, a grid of all variants, what turns the
verdict, and how it was found out.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from idealrank.analysis.comparison import Pair
from idealrank.analysis.robustness import Robustness, Variant
from idealrank.analysis.robustness.robustness import CAUTION, Status
from idealrank.reports.table.cells import Cell, Column, NamedCells, Table
from idealrank.reports.table.records import SCHEMA, Row, record_rows
from idealrank.reports.table.text import (
    WIDTH,
    MethodLines,
    MoreLines,
    Part,
    clipped,
    filled,
    fits,
    wrapped,
)
from idealrank.reports.views.comparison.columns import Line, Shown, difference_columns, meanings
from idealrank.reports.views.comparison.label_phrases import (
    label_clause,
    labels_note,
    one_sided_step,
    one_sided_why,
)
from idealrank.reports.views.comparison.pair_sentences import Told, numbers_text, verdict_text
from idealrank.reports.views.comparison.phrases import (
    IN_PYTHON,
    Asked,
    labels_command,
    next_step,
    why_too_few,
)
from idealrank.reports.views.comparison.verdicts import TOO_FEW, is_identical
from idealrank.reports.views.comparison.verdicts import mark as verdict_mark
from idealrank.reports.views.conventions import cautioned, paragraph, warned

_CHANGE, _NAME = 34, 10
_MOVERS = 6
_AGAIN = "run the analysis again"
_MOST_TURNING = 15
# By verdict, and then by who is ahead.
_COUNTED: dict[Status, str] = {
    "no effect": "with no effect here",
    "repeats": "with the numbers of another",
    "refused": "refused",
}


def robust_parts(
    found: Robustness,
    digits: int | None = None,
    *,
    asked: Asked = IN_PYTHON,
) -> list[Part]:
    """The whole report.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.robust(
    ...     {"q": {"x": 1}}, {"q": ["x"]}, {"q": ["y", "x"]}, "RR", variants=["cutoff"]
    ... )
    >>> robust_parts(found)[0][0][:21]
    'These queries do not '
    """
    shown = Shown.of_rows(
        [found.asked, *(one.row for one in found.variants if one.row is not None)],
        found.method.level,
        digits,
    )
    told = robust_sentences(found, shown, asked)
    parts: list[Part] = [
        filled(told.brief),
        MoreLines(filled(told.more)),
        [*_grid(found), *_legend(found)],
    ]
    note = labels_note(found.labels, [found.basis], asked)
    too_few = found.verdict == "too few judgments"
    command = labels_command(found, found.run_a, found.run_b, "compare", asked) if too_few else []
    ending = [command, note, _method(found), paragraph(found.convention, [found.measure])]
    return [*parts, movers_table(found, shown), _counts(found), *ending]


def robust_sentences(found: Robustness, shown: Shown, asked: Asked = IN_PYTHON) -> Told:
    """Return all sentences: the verdict as asked, the effect of the variants and the next step in
    at most four, then everything else.
    """
    if found.mismatches:
        return Told.of([*warned(found.mismatches), *found.summary()], [])
    row = replace(found.asked, measure=found.measure, verdict=found.verdict)
    pair = Pair(a=found.run_a, b=found.run_b, measures={found.measure: row})
    verdict = f"{verdict_text(pair, row, found.method)}: {numbers_text(row, found.method, shown)}."
    first, *others = found.varied()
    if clause := label_clause(found.basis):
        first = f"{first.removesuffix('.')}; {clause}."
    if found.verdict != "too few judgments":
        return Told.of([verdict, *cautioned(found.cautions), first, *others, _next(found)], [])
    why, step = _too_few(found, asked)
    return Told.of([verdict, why, *cautioned(found.cautions), f"As judged: {first}", step], others)


def _too_few(found: Robustness, asked: Asked) -> tuple[str, str]:
    """Say why there are too few judgments, and what to do."""
    a, b = found.run_a, found.run_b
    if found.basis is not None and found.basis.one_sided is not None:
        return one_sided_why(found.basis.one_sided, a, b), one_sided_step(
            found.basis.one_sided, _AGAIN, asked
        )
    if found.tipping is None:
        return (
            "Unjudged documents may explain the difference.",
            f"Judge the unjudged documents and {_AGAIN}.",
        )
    return why_too_few(found.tipping, a, b), next_step(found.tipping, a, b, "compare", asked)


def _next(found: Robustness) -> str:
    """Say what follows from the variants for the reader."""
    if is_identical(found.asked):
        return "Check that these are the runs that you meant to compare."
    if found.turning or found.pairs:
        return "The verdict depends on the choices below: report yours with it."
    if found.verdict == "undecided":
        return "Another measure or convention does not decide it; more queries may."
    return "Report the verdict as asked: it does not depend on these choices."


def mark(one: Variant) -> str:
    """Return the verdict of a variant in one or two signs."""
    if one.row is None:
        return "x"
    if one.status == "no effect":
        return "="
    gain = one.row.difference * one.row.direction
    sign = "0"
    if variant := verdict_mark(one.row.verdict).variant:
        sign = variant
    elif gain > 0:
        sign = "+"
    elif gain < 0:
        sign = "-"
    return f"{sign}'" if one.status == "repeats" else sign


def _grid(found: Robustness) -> list[str]:
    groups = found.groups()
    shown = {
        group: members
        for group, members in groups.items()
        if any(one.status != "no effect" for one in members)
    }
    lines: list[str] = []
    width = max(map(len, shown), default=0)
    for group, members in shown.items():
        row = [
            f"{clipped(one.change.removeprefix(f'{one.group}='), _CHANGE)} {mark(one)}"
            for one in members
        ]
        lines += _wrapped_cells(group.ljust(width), row)
    if silent := [group for group in groups if group not in shown]:
        lines += filled(f"no effect on these data: {', '.join(silent)}", indent="  ")
    return lines


def _wrapped_cells(head: str, row: Sequence[str]) -> list[str]:
    lines = [head]
    for cell in row:
        if len(lines[-1]) + 2 + len(cell) > WIDTH:
            lines.append(" " * len(head))
        lines[-1] += f"  {cell}"
    return lines


def _legend(found: Robustness) -> list[str]:
    seen = {mark(one).rstrip("'") for one in found.variants}
    a, b = found.run_a, found.run_b
    words = {
        "++": f"{b} better",
        "+": f"{b} ahead, undecided",
        "0": "equal",
        "-": f"{a} ahead, undecided",
        "--": f"{a} better",
        "~": "equivalent",
        "?": TOO_FEW,
        "=": "the numbers as asked",
        "x": "refused",
    }
    said = [f"{sign} {word}" for sign, word in words.items() if sign in seen]
    if any(one.status == "repeats" for one in found.variants):
        said.append("' the numbers of a variant before it")
    return ["", *wrapped("; ".join(said), indent="")]


def movers_table(found: Robustness, shown: Shown) -> Part:
    """Build the table of variants that change the verdict, then of those that move the difference
    most, in standard deviations.
    """
    turning = [*found.turning, *found.pairs]
    effect = found.asked.effect
    moved = {
        one.change: abs(one.row.effect - effect)
        for one in found.changing
        if one.row is not None and one not in turning
    }
    others = sorted(
        (one for one in found.changing if 0 < moved.get(one.change, 0) < math.inf),
        key=lambda one: -moved[one.change],
    )
    if not turning and not others:
        return []
    lines: list[Line | NamedCells] = [
        Line.of(one.row, one.change) for one in turning[:_MOST_TURNING] if one.row is not None
    ]
    if hidden := len(turning[_MOST_TURNING:]):
        lines.append(NamedCells(change=Cell(f"and {hidden} more")))
    if turning and others:
        lines += [NamedCells(), NamedCells(change=Cell("moves the difference most", tone="quiet"))]
    lines += [Line.of(one.row, one.change) for one in others[:_MOVERS] if one.row is not None]
    names = (clipped(name, _NAME) for name in (found.run_a, found.run_b))
    columns = difference_columns("robust", shown, found.method.level, *names)
    return _fitting(
        "changes the verdict" if turning else "moves the difference most", columns, lines
    )


def _fitting(
    title: str, columns: Sequence[Column[Line]], lines: Sequence[Line | NamedCells]
) -> Table:
    """The table with as much of the changes as a page has room for."""

    def table(width: int | None) -> Table:
        change: Column[Line] = Column(
            title=title,
            cell=lambda line: line.name if width is None else clipped(line.name, width),
            name="change",
        )
        return Table.of([change, *columns], lines)

    narrow = map(table, range(_CHANGE, _CHANGE // 2, -2))
    return next((found for found in narrow if fits(found, gap=" ")), table(None))


def _counts(found: Robustness) -> list[str]:
    counts = [f"{len(found.changing):,} with other numbers"]
    for status, words in _COUNTED.items():
        if count := found.count(status):
            counts.append(f"{count:,} {words}")
    lines = wrapped(f"{len(found.variants):,} variants: {'; '.join(counts)}", indent="")
    lines += [
        line
        for one in found.variants
        if one.status == "refused"
        for line in filled(f"  {one.change}: {one.reason}", indent="    ")
    ]
    lacking: dict[str, list[str]] = {}
    for group, reason in found.lacking.items():
        lacking.setdefault(reason, []).append(group)
    return lines + [
        line
        for reason, groups in lacking.items()
        for line in filled(f"no variants of {', '.join(groups)}: {reason}", indent="  ")
    ]


def _method(found: Robustness) -> MethodLines:
    method = found.method
    tests = {
        "permutation": "sign flips",
        "t": "Student's t",
        "wilcoxon": "Wilcoxon's signed ranks",
        "sign": "signs",
    }
    phrases = [f"{tests[method.test]}, two-sided"]
    phrases += (
        [f"{method.n_resamples:,} draws, seed {method.seed} everywhere"]
        if method.n_resamples is not None
        else []
    )
    phrases += [f"margin {method.margin:g}"] if method.margin is not None else []
    design = [
        *(["queries weighted"] if method.weighted else []),
        *(["queries in clusters"] if method.clustered else []),
    ]
    said = "; ".join([*phrases, *design, *meanings(["robust"]), CAUTION])
    return MethodLines(["method", *wrapped(said)], *design, CAUTION.rpartition("; ")[2])


def robust_json(found: Robustness) -> Iterator[str]:
    """JSON text: the comparison asked for, a summary, every variant, the method."""
    record = found.as_dict()
    record["method"]["schema"] = SCHEMA
    yield json.dumps(record, indent=2) + "\n"


def robust_rows(found: Robustness) -> Iterator[Row]:
    """Titles, the comparison asked for, then a variant a row; empty where there is no number."""
    how = {"test": found.method.test, "seed": found.method.seed}
    yield from record_rows(record | how for record in found.records())
