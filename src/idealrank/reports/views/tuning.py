"""The report of `idealrank measures choose`: a recommendation, tables of discounts by cutoffs, and
the method.
"""

from collections.abc import Callable, Iterator, Sequence

from idealrank.analysis.tuning import Choice, Setting
from idealrank.analysis.tuning.settings import flat_setting
from idealrank.reports.table.records import Row, csv_cell, method_json
from idealrank.reports.table.text import (
    MethodLines,
    Part,
    clipped,
    columns,
    filled,
    line_width,
    wrapped,
)
from idealrank.reports.views.conventions import paragraph, warned

_BARS = "▁▂▃▄▅▆▇█"
_WORST = 0.5  # the highest swap rate, that of a coin toss
_NAME = 24  # letters of a discount
_INDENT = "  "


def choice_parts(choice: Choice) -> list[Part]:
    """Build the whole report."""
    parts: list[Part] = [filled([*warned(choice.mismatches), choice.recommendation])]
    if choice.warnings:
        cautions = [line for warning in choice.warnings for line in filled(warning, "  * ")]
        parts.append(["cautions", *cautions])
    parts += _tables(choice)
    theory = _theory(choice)
    parts += [theory] if theory else []
    method = _method(choice)
    return [
        *parts,
        MethodLines(["method", *wrapped(method)], method.partition("; ")[0]),
        paragraph(choice.convention, [choice.usual.measure]),
    ]


def _tables(choice: Choice) -> Iterator[list[str]]:
    size = choice.method.size
    swaps = (
        f"swap rate: how often two random sets of {size:,} queries order two runs in opposite ways "
        "(0.5 is a coin toss)"
    )
    yield [swaps, *_table(choice, _swap_cell, unjudged=True), *wrapped(_legend(choice))]
    pairs = choice.usual.pairs
    title = "significant: 1 where the one pair of runs differs significantly"
    if pairs > 1:
        title = (
            f"significant: share of the {pairs:,} pairs of runs that differ, corrected for their "
            "number"
        )
    yield [title, *_table(choice, _share_cell)]


def _table(choice: Choice, cell: Callable[[Setting], str], *, unjudged: bool = False) -> list[str]:
    """Write discounts by cutoffs; cutoffs that do not fit into the width follow below."""
    settings = {(setting.discount, setting.depth): setting for setting in choice.settings}
    # Each column has its head, a cell for each discount, and the unjudged share.
    names = ["", *(clipped(discount, _NAME) for discount in choice.discounts)]
    names += ["unjudged"] if unjudged else []
    lines: list[str] = []
    block = [names]
    for depth in choice.depths:
        of_depth = [settings[discount, depth] for discount in choice.discounts]
        texts = [depth if of_depth[-1].considered else f"({depth})", *map(cell, of_depth)]
        # Two blanks, where the cells above have a bar and a star.
        texts += [f"{of_depth[0].unjudged:.0%}  "] if unjudged else []
        if _width([*block, texts]) > line_width() and len(block) > 1:
            lines += columns(list(zip(*block, strict=True)))
            block = [names]
        block.append(texts)
    lines += columns(list(zip(*block, strict=True)))
    return [_INDENT + line for line in lines]


def _width(block: Sequence[Sequence[str]]) -> int:
    return sum(max(map(len, texts)) + len(_INDENT) for texts in block)


def _swap_cell(setting: Setting) -> str:
    sign = "*" if setting.as_good else " "
    return f"{setting.swap_rate:.3f}{_bar(setting.swap_rate / _WORST)}{sign}"


def _share_cell(setting: Setting) -> str:
    return f"{setting.share:.2f} {_bar(setting.share)}"


def _bar(height: float) -> str:
    """Return one of eight bars, from an eighth of a line to a whole one, for a share."""
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
    depths_by_words: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for depth in choice.depths:
        discounts_by_words: dict[str, list[str]] = {}
        for discount in choice.discounts:
            theory = known[depth, discount]
            if theory is None:
                return []
            words = theory.verdict + (f" ({theory.theorem})" if theory.theorem else "")
            discounts_by_words.setdefault(words, []).append(discount)
        every = len(discounts_by_words) == 1 and len(choice.discounts) > 1
        key = tuple(
            ("every discount" if every else ", ".join(discounts), words)
            for words, discounts in discounts_by_words.items()
        )
        depths_by_words.setdefault(key, []).append("whole list" if depth == "all" else depth)
    lines = [
        "theory, for a growing number of documents under one query (`idealrank theory feasible` "
        "says why)"
    ]
    for rows, depths in depths_by_words.items():
        lines += [f"  {', '.join(depths)}: {discounts}: {words}" for discounts, words in rows]
    return [part for line in lines for part in filled(line, indent="    ")]


def _method(choice: Choice) -> str:
    method = choice.method
    largest = max(setting.swap_error for setting in choice.settings)
    size = f"{len(choice.names)} runs, {choice.n:,} queries"
    size += f", {choice.left_out:,} left out" if choice.left_out else ""
    if method.exact:
        drawn = [f"all {method.trials:,} splits, seed {method.seed}"]
    else:
        drawn = [
            f"{method.trials:,} random splits, the same for every setting, seed {method.seed}",
            f"standard error of the rates from the draw of the splits {largest:.2g} or less",
        ]
    phrases = [
        size,
        *drawn,
        "a tie in one of the two sets counts half",
        f"significance from {method.resamples:,} bootstrap samples of the queries, level "
        f"{method.level:g} for all settings together",
        f"significance by {method.test}, at {1 - method.level:.2g}",
    ]
    return "; ".join(phrases)


def choice_json(choice: Choice) -> str:
    """Write JSON text: recommendation, settings, method, convention; null for missing numbers."""
    return method_json(choice.as_dict())


def choice_rows(choice: Choice) -> Iterator[Row]:
    """Yield the titles, and a row for each setting; a missing number is empty."""
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
