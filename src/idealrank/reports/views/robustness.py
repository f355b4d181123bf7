"""The report of `idealrank robust`: a few sentences, a grid of all variants, the changes that turn
the verdict, and the method.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from idealrank.analysis.comparison import Pair
from idealrank.analysis.robustness import Robustness, Variant
from idealrank.analysis.robustness.robustness import CAUTION, Status
from idealrank.reports.table.cells import Cell, Column, NamedCells, Table
from idealrank.reports.table.records import Row, method_json, record_rows
from idealrank.reports.table.text import (
    MethodLines,
    MoreLines,
    Part,
    clipped,
    filled,
    fits,
    line_width,
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
    TEST_NAMES,
    Asked,
    labels_command,
    next_step,
    why_too_few,
)
from idealrank.reports.views.comparison.verdicts import TOO_FEW, is_identical
from idealrank.reports.views.comparison.verdicts import mark as verdict_mark
from idealrank.reports.views.conventions import cautioned, paragraph, warned

_CHANGE, _NAME = 34, 10  # letters of a change, and of a run's name
_MOVERS = 6  # variants that move the difference most, in the table
_AGAIN = "run the analysis again"
_MOST_TURNING = 15  # variants that change the verdict, in the table
# States of variants without numbers of their own, in the words of their counts.
_COUNTED: dict[Status, str] = {
    "no effect": "with no effect here",
    "repeats": "with the numbers of another",
    "refused": "refused",
}


def robust_parts(
    robustness: Robustness,
    digits: int | None = None,
    *,
    origin: Asked = IN_PYTHON,
) -> list[Part]:
    """Build the whole report.

    Examples
    --------
    >>> import idealrank as ir
    >>> robustness = ir.robust(
    ...     {"q": {"x": 1}}, {"q": ["x"]}, {"q": ["y", "x"]}, "RR", variants=["cutoff"]
    ... )
    >>> robust_parts(robustness)[0][0][:21]
    'These queries do not '
    """
    shown = Shown.of_rows(
        [
            robustness.asked,
            *(variant.row for variant in robustness.variants if variant.row is not None),
        ],
        robustness.method.level,
        digits,
    )
    told = robust_sentences(robustness, shown, origin)
    parts: list[Part] = [
        filled(told.brief),
        MoreLines(filled(told.more)),
        [*_grid(robustness), *_legend(robustness)],
    ]
    note = labels_note(robustness.labels, [robustness.basis], origin)
    too_few = robustness.verdict == "too few judgments"
    command = (
        labels_command(robustness, robustness.run_a, robustness.run_b, "compare", origin)
        if too_few
        else []
    )
    ending = [
        command,
        note,
        _method(robustness),
        paragraph(robustness.convention, [robustness.measure]),
    ]
    return [*parts, movers_table(robustness, shown), _counts(robustness), *ending]


def robust_sentences(robustness: Robustness, shown: Shown, origin: Asked = IN_PYTHON) -> Told:
    """Return all sentences: the verdict as asked, the effect of the variants and the next step in
    at most four, then everything else.
    """
    if robustness.mismatches:
        return Told.of([*warned(robustness.mismatches), *robustness.summary()], [])
    row = replace(robustness.asked, measure=robustness.measure, verdict=robustness.verdict)
    pair = Pair(a=robustness.run_a, b=robustness.run_b, measures={robustness.measure: row})
    numbers = numbers_text(row, robustness.method, shown)
    verdict = f"{verdict_text(pair, row, robustness.method)}: {numbers}."
    first, *others = robustness.varied()
    if clause := label_clause(robustness.basis):
        first = f"{first.removesuffix('.')}; {clause}."
    if robustness.verdict != "too few judgments":
        return Told.of(
            [verdict, *cautioned(robustness.cautions), first, *others, _next(robustness)], []
        )
    why, step = _too_few(robustness, origin)
    return Told.of(
        [verdict, why, *cautioned(robustness.cautions), f"As judged: {first}", step], others
    )


def _too_few(robustness: Robustness, origin: Asked) -> tuple[str, str]:
    """Say why there are too few judgments, and write the next step."""
    a, b = robustness.run_a, robustness.run_b
    basis, tipping = robustness.basis, robustness.tipping
    if basis is not None and basis.one_sided is not None:
        why = one_sided_why(basis.one_sided, a, b)
        return why, one_sided_step(basis.one_sided, _AGAIN, origin)
    if tipping is None:
        why = "Unjudged documents may explain the difference."
        return why, f"Judge the unjudged documents and {_AGAIN}."
    return why_too_few(tipping, a, b), next_step(tipping, a, b, "compare", origin)


def _next(robustness: Robustness) -> str:
    """Say what follows from the variants for the reader."""
    if is_identical(robustness.asked):
        return "Check that these are the runs that you meant to compare."
    if robustness.turning or robustness.pairs:
        return "The verdict depends on the choices below: report yours with it."
    if robustness.verdict == "undecided":
        return "Another measure or convention does not decide it; more queries may."
    return "Report the verdict as asked: it does not depend on these choices."


def mark(variant: Variant) -> str:
    """Return the verdict of a variant in one or two signs."""
    if variant.row is None:
        return "x"
    if variant.status == "no effect":
        return "="
    gain = variant.row.difference * variant.row.direction
    sign = verdict_mark(variant.row.verdict).variant
    if not sign:
        sign = "+" if gain > 0 else "0"
        sign = "-" if gain < 0 else sign
    return f"{sign}'" if variant.status == "repeats" else sign


def _grid(robustness: Robustness) -> list[str]:
    """List the variants of each group with their marks; groups without any effect only by name."""
    shown = {}
    silent = []
    for group, members in robustness.groups().items():
        if all(variant.status == "no effect" for variant in members):
            silent.append(group)
        else:
            shown[group] = members
    lines: list[str] = []
    width = max(map(len, shown), default=0)
    for group, members in shown.items():
        cells = []
        for variant in members:
            change = variant.change.removeprefix(f"{variant.group}=")
            cells.append(f"{clipped(change, _CHANGE)} {mark(variant)}")
        lines += _wrapped_cells(group.ljust(width), cells)
    if silent:
        lines += filled(f"no effect on these data: {', '.join(silent)}", indent="  ")
    return lines


def _wrapped_cells(head: str, row: Sequence[str]) -> list[str]:
    lines = [head]
    for cell in row:
        if len(lines[-1]) + 2 + len(cell) > line_width():
            lines.append(" " * len(head))
        lines[-1] += f"  {cell}"
    return lines


def _legend(robustness: Robustness) -> list[str]:
    seen = {mark(variant).rstrip("'") for variant in robustness.variants}
    a, b = robustness.run_a, robustness.run_b
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
    meanings_seen = [f"{sign} {word}" for sign, word in words.items() if sign in seen]
    if any(variant.status == "repeats" for variant in robustness.variants):
        meanings_seen.append("' the numbers of a variant before it")
    return ["", *wrapped("; ".join(meanings_seen), indent="")]


def movers_table(robustness: Robustness, shown: Shown) -> Part:
    """Build the table of variants that change the verdict, then of those that move the difference
    most, in standard deviations.
    """
    turning = [*robustness.turning, *robustness.pairs]
    effect = robustness.asked.effect
    moved = {
        variant.change: abs(variant.row.effect - effect)
        for variant in robustness.changing
        if variant.row is not None and variant not in turning
    }
    others = sorted(
        (variant for variant in robustness.changing if 0 < moved.get(variant.change, 0) < math.inf),
        key=lambda variant: -moved[variant.change],
    )
    if not turning and not others:
        return []
    lines: list[Line | NamedCells] = [
        Line.of(variant.row, variant.change)
        for variant in turning[:_MOST_TURNING]
        if variant.row is not None
    ]
    if hidden := len(turning[_MOST_TURNING:]):
        lines.append(NamedCells(change=Cell(f"and {hidden} more")))
    if turning and others:
        lines += [NamedCells(), NamedCells(change=Cell("moves the difference most", tone="quiet"))]
    lines += [
        Line.of(variant.row, variant.change)
        for variant in others[:_MOVERS]
        if variant.row is not None
    ]
    names = (clipped(name, _NAME) for name in (robustness.run_a, robustness.run_b))
    columns = difference_columns("robust", shown, robustness.method.level, *names)
    return _fitting(
        "changes the verdict" if turning else "moves the difference most", columns, lines
    )


def _fitting(
    title: str, columns: Sequence[Column[Line]], lines: Sequence[Line | NamedCells]
) -> Table:
    """Build the table with as much of the changes as a page has room for; all of them if even half
    of the usual width is too much.
    """

    def table(width: int | None) -> Table:
        def change(line: Line) -> str:
            return line.name if width is None else clipped(line.name, width)

        return Table.of([Column(title=title, cell=change, name="change"), *columns], lines)

    for width in range(_CHANGE, _CHANGE // 2, -2):
        narrow = table(width)
        if fits(narrow, gap=" "):
            return narrow
    return table(None)


def _counts(robustness: Robustness) -> list[str]:
    counts = [f"{len(robustness.changing):,} with other numbers"]
    for status, words in _COUNTED.items():
        if count := robustness.count(status):
            counts.append(f"{count:,} {words}")
    lines = wrapped(f"{len(robustness.variants):,} variants: {'; '.join(counts)}", indent="")
    for variant in robustness.variants:
        if variant.status == "refused":
            lines += filled(f"  {variant.change}: {variant.reason}", indent="    ")
    lacking: dict[str, list[str]] = {}
    for group, reason in robustness.lacking.items():
        lacking.setdefault(reason, []).append(group)
    for reason, groups in lacking.items():
        lines += filled(f"no variants of {', '.join(groups)}: {reason}", indent="  ")
    return lines


def _method(robustness: Robustness) -> MethodLines:
    method = robustness.method
    phrases = [f"{TEST_NAMES[method.test].short}, two-sided"]
    if method.n_resamples is not None:
        phrases.append(f"{method.n_resamples:,} draws, seed {method.seed} everywhere")
    phrases += [f"margin {method.margin:g}"] if method.margin is not None else []
    design = ["queries weighted"] if method.weighted else []
    design += ["queries in clusters"] if method.clustered else []
    phrases_text = "; ".join([*phrases, *design, *meanings(["robust"]), CAUTION])
    return MethodLines(["method", *wrapped(phrases_text)], *design, CAUTION.rpartition("; ")[2])


def robust_json(robustness: Robustness) -> Iterator[str]:
    """Yield JSON text: the reference comparison, a summary, every variant, the method."""
    yield method_json(robustness.as_dict())


def robust_rows(robustness: Robustness) -> Iterator[Row]:
    """Yield titles, the reference comparison, and a row for each variant."""
    how = {"test": robustness.method.test, "seed": robustness.method.seed}
    yield from record_rows(record | how for record in robustness.records())
