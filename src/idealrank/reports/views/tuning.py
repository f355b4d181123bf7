"""The report of `idealrank choose`: a recommendation, tables of discounts by cutoffs, and how it
was found out.
"""

import json
from collections.abc import Callable, Iterator

from idealrank.analysis.tuning import Choice, Setting
from idealrank.analysis.tuning.settings import flat_setting
from idealrank.reports.table.records import SCHEMA, Row, csv_cell
from idealrank.reports.table.text import WIDTH, MethodLines, Part, clipped, columns, filled, wrapped
from idealrank.reports.views.conventions import paragraph, warned

_BARS = "▁▂▃▄▅▆▇█"
_WORST = 0.5  # a swap rate
_NAME = 24
_INDENT = "  "


def choice_parts(choice: Choice) -> list[Part]:
    """The whole report."""
    parts: list[Part] = [filled([*warned(choice.mismatches), choice.recommendation])]
    if choice.warnings:
        parts.append(
            ["cautions", *(line for warning in choice.warnings for line in filled(warning, "  * "))]
        )
    parts += _tables(choice)
    parts += [theory for theory in (_theory(choice),) if theory]
    said = _method(choice)
    return [
        *parts,
        MethodLines(["method", *wrapped(said)], said.partition("; ")[0]),
        paragraph(choice.convention, [choice.usual.measure]),
    ]


def _tables(choice: Choice) -> Iterator[list[str]]:
    size = choice.method.size
    swaps = (
        f"swap rate: how often two random sets of {size:,} queries order two runs in opposite "
        f"ways (0.5 is a coin toss)"
    )
    yield [swaps, *_table(choice, _swap_cell, unjudged=True), *wrapped(_legend(choice))]
    pairs = choice.usual.pairs
    yield [
        f"significant: share of the {pairs:,} pairs of runs that differ, corrected for their number"
        if pairs > 1
        else "significant: 1 where the one pair of runs differs significantly",
        *_table(choice, lambda setting: f"{setting.share:.2f} {_bar(setting.share)}"),
    ]


def _table(choice: Choice, cell: Callable[[Setting], str], *, unjudged: bool = False) -> list[str]:
    """Discounts by cutoffs; cutoffs that do not fit beside each other stand below."""
    settings = {(setting.discount, setting.depth): setting for setting in choice.settings}
    heads = {
        setting.depth: setting.depth if setting.considered else f"({setting.depth})"
        for setting in choice.settings
    }
    rows = [["", *heads.values()]]
    rows += [
        [clipped(discount, _NAME), *(cell(settings[discount, depth]) for depth in heads)]
        for discount in choice.discounts
    ]
    if unjudged:
        rows.append(
            [
                "unjudged",
                *(f"{settings[choice.discounts[0], depth].unjudged:.0%}  " for depth in heads),
            ]
        )
    widths = [max(len(row[column]) for row in rows) + 2 for column in range(len(rows[0]))]
    lines: list[str] = []
    shown = [0]
    for column in range(1, len(widths)):
        shown.append(column)
        if (
            column + 1 == len(widths)
            or sum(widths[place] for place in [*shown, column + 1]) > WIDTH
        ):
            lines += columns([[row[place] for place in shown] for row in rows])
            shown = [0]
    return [_INDENT + line for line in lines]


def _swap_cell(setting: Setting) -> str:
    return f"{setting.swap_rate:.3f}{_bar(setting.swap_rate / _WORST)}{'*' if setting.as_good else ' '}"  # noqa: E501


def _bar(height: float) -> str:
    """One of eight bars, from an eighth to a whole line, for a share of it."""
    return _BARS[min(max(int(height * len(_BARS)), 0), len(_BARS) - 1)]


def _legend(choice: Choice) -> str:
    phrases = [
        "* not significantly different from the best",
        "the taller the bar, the larger the number",
    ]
    if not all(setting.considered for setting in choice.settings):
        phrases.append(
            "( ) not considered, because too many of the documents shown there are unjudged"
        )
    return "; ".join(phrases)


def _theory(choice: Choice) -> list[str]:
    """Describe the theory of each discount and cutoff, shared parts once."""
    known = {(setting.depth, setting.discount): setting.theory for setting in choice.settings}
    said: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for depth in choice.depths:
        found: dict[str, list[str]] = {}
        for discount in choice.discounts:
            theory = known[depth, discount]
            if theory is None:
                return []
            words = theory.verdict + (f" ({theory.theorem})" if theory.theorem else "")
            found.setdefault(words, []).append(discount)
        every = len(found) == 1 and len(choice.discounts) > 1
        key = tuple(
            ("every discount" if every else ", ".join(discounts), words)
            for words, discounts in found.items()
        )
        said.setdefault(key, []).append("whole list" if depth == "all" else depth)
    lines = [
        "theory, for a growing number of documents under one query (`idealrank theory "
        "feasible` says why)"
    ]
    for rows, depths in said.items():
        lines += [f"  {', '.join(depths)}: {discounts}: {words}" for discounts, words in rows]
    return [part for line in lines for part in filled(line, indent="    ")]


def _method(choice: Choice) -> str:
    method = choice.method
    largest = max(setting.swap_error for setting in choice.settings)
    drawn = (
        f"all {method.trials:,} splits"
        if method.exact
        else f"{method.trials:,} random splits, the same for every setting"
    )
    error = (
        []
        if method.exact
        else [f"standard error of the rates from the draw of the splits {largest:.2g} or less"]
    )
    return "; ".join(
        [
            f"{len(choice.names)} runs, {choice.n:,} queries"
            + (f", {choice.left_out:,} left out" if choice.left_out else ""),
            f"{drawn}, seed {method.seed}",
            *error,
            "a tie in one of the two sets counts half",
            f"significance from {method.resamples:,} bootstrap samples of the queries, level "
            f"{method.level:g} for all settings together",
            f"significance by {method.test}, at {1 - method.level:.2g}",
        ]
    )


def choice_json(choice: Choice) -> str:
    """JSON text: recommendation, settings, method, convention; null for what has no number."""
    record = choice.as_dict()
    record["method"]["schema"] = SCHEMA
    return json.dumps(record, indent=2) + "\n"


def choice_rows(choice: Choice) -> Iterator[Row]:
    """Titles, a setting a row; empty where there is no number."""
    records = [flat_setting(setting) for setting in choice.settings]
    beside = {
        "size": str(choice.method.size),
        "seed": str(choice.method.seed),
        "convention": str(choice.convention),
    }
    yield [*records[0], "recommended", *beside]
    for setting, record in zip(choice.settings, records, strict=True):
        cells = [csv_cell(value) for value in record.values()]
        yield [*cells, repr(setting.measure == choice.recommended.measure), *beside.values()]
