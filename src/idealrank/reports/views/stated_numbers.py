"""The text of `idealrank reconcile`: the conventions behind a stated number, and the difference of
two conventions switch by switch.
"""

from collections.abc import Sequence
from itertools import chain

from idealrank.analysis.reconciliation import DifferenceSplit, Reconciliation
from idealrank.analysis.reconciliation.result import Match, QueryPair, Reading, read_as
from idealrank.conventions.switches import ROWS
from idealrank.reports.table.text import columns, filled

_GROUPS_SHOWN = 6  # groups of conventions, where no preset fits
_NAMES_SHOWN = 6  # names of one group
_MOST_DIGITS = 12  # digits of a value: those after are rounding
_STEPS = {
    "one switch": "one switch changed",
    "two switches": "two switches changed; among so many trials, one may fit by chance",
}
_READINGS = {"in percent": "in percent", "one minus": "as 1 - value"}
_FITS = {
    "cut off": "its digits cut off, not rounded",
    "single precision": "within the error of single precision, 3e-6",
}
_OTHERS = "weights of queries or items, a run cut short"


def reconciliation_text(result: Reconciliation) -> str:
    """Write the whole answer."""
    digits = min(_MOST_DIGITS, max(4, result.stated.decimals + 2))
    current = f"the current convention, {result.current} [{result.fingerprint}],"
    reading: Reading = "in percent" if result.stated.percent else "as it is"
    sign = "%" if result.stated.percent else ""
    own = f"{current} refuses these data"
    if result.value is not None:
        own = f"under {current} it is {read_as(result.value, reading):.{digits}f}{sign}"
    lines = [f"{result.measure} is stated as {result.stated.text}; {own}.", ""]
    lines += _matches(result, digits) if result.matches else _nothing(result, digits)
    lines += [*_twins(result), *_separations(result, digits)]
    lines += [*_refused(result), *_unstable(result, digits)]
    lines += ["", _effort(result)]
    return "\n".join(piece for line in lines for piece in _wrapped(line))


def _wrapped(line: str) -> list[str]:
    """Fill a line into the width; the lines after the first are indented a little more."""
    indent = line[: len(line) - len(line.lstrip())]
    return filled(line.lstrip(), indent, f"{indent}  " if indent else "") or [""]


def _matches(result: Reconciliation, digits: int) -> list[str]:
    groups: dict[int, list[Match]] = {}
    for match in result.matches:
        groups.setdefault(match.group, []).append(match)
    presets = sum(group[0].found == "preset" for group in groups.values())
    most = min(presets + 2, 2 * _GROUPS_SHOWN) if presets else _GROUPS_SHOWN
    shown = list(groups.values())[:most]
    lines = [_count(result, len(groups))]
    for group in shown:
        lines += ["", *_group(group, digits)]
    hidden = len(groups) - len(shown)
    if hidden > 0 or result.unlisted:
        lines += [
            "",
            f"and {_plural(max(hidden, 1), 'more group')}, which the JSON lists; more digits "
            f"would leave fewer",
        ]
    return lines


def _count(result: Reconciliation, groups: int) -> str:
    count = len(result.matches) + result.unlisted
    if count == 1:
        return f"One convention gives {result.stated.text}:"
    if groups == 1:
        return (
            f"{count} conventions give {result.stated.text}, with the same value for every query:"
        )
    least = "at least " if result.unlisted else ""
    return (
        f"{count} conventions give {result.stated.text}, in {least}{groups} groups of the same "
        f"value for every query, nearest first:"
    )


def _group(members: Sequence[Match], digits: int) -> list[str]:
    """The value, its reading, and its conventions: conventions of the same words on one line."""
    first = members[0]
    notes = [_STEPS.get(first.found, "")]
    if first.form:
        notes.append(f"as {first.measure}: {first.form}")
    if first.found == "other cutoff":
        notes.append(f"at another cutoff: {first.measure}")
    if first.query is not None:
        notes.append(f"query {first.query} alone; among so many values, one may fit by chance")
    notes.append(_READINGS.get(first.reading, ""))
    notes.append(_FITS.get(first.fit, "") if first.fit else f"off by {first.distance:.2g}")
    told = "; ".join(filter(None, notes))
    value = f"  {read_as(first.value, first.reading):.{digits}f}"
    lines = [value + (f"  ({told})" if told else "")]
    by_words: dict[str, list[Match]] = {}
    for match in members:
        by_words.setdefault(_words(match), []).append(match)
    for words, matches in by_words.items():
        names = [" = ".join(match.conventions) for match in matches]
        differences = chain.from_iterable(match.differences for match in matches)
        idle = dict.fromkeys(difference.switch for difference in differences if not difference.acts)
        lines.append(f"    {_listed(names)}: {words}")
        lines += [f"      without effect here: {', '.join(idle)}"] if idle else []
    return lines


def _words(match: Match) -> str:
    if not match.differences:
        return "the current convention"
    return match.words or "no difference that acts on these data"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    return f"{shown} and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else shown


def _nothing(result: Reconciliation, digits: int) -> list[str]:
    lines = [f"No convention tried gives {result.stated.text}."]
    if result.nearest:
        lines += ["The nearest numbers that some convention gives:", ""]
        for match in result.nearest:
            lines += _group([match], digits)
    return [
        *lines,
        "",
        "Is the number from another measure, cutoff or data set? Not tried, though they change "
        f"numbers: {_OTHERS}.",
    ]


def _twins(result: Reconciliation) -> list[str]:
    lines: list[str] = []
    for twins in result.twins:
        lines += [
            "",
            f"These data cannot distinguish {_listed(twins.conventions)}. Data that might: "
            f"{'; '.join(twins.data)}.",
        ]
    return lines


def _separations(result: Reconciliation, digits: int) -> list[str]:
    if not result.separations:
        return []
    pairs = []
    for pair in result.separations:
        queries = "; ".join(_pair(query, digits) for query in pair.queries)
        pairs.append(f"  {pair.a} | {pair.b}: {queries}")
    return ["", "More digits would distinguish them, or the values of these queries:", *pairs]


def _pair(pair: QueryPair, digits: int) -> str:
    """Both values, with as many more digits as it takes to tell them apart."""
    while True:
        sides = [
            "left out" if value is None else f"{value:.{digits}f}" for value in (pair.a, pair.b)
        ]
        if sides[0] != sides[1] or digits >= _MOST_DIGITS:
            return f"{pair.query}: {sides[0]} | {sides[1]}"
        digits += 1


def _refused(result: Reconciliation) -> list[str]:
    if not result.refused:
        return []
    reasons = [
        f"  {', '.join(refusal.conventions)}: {refusal.reason}" for refusal in result.refused
    ]
    return ["", "Conventions that give no number on these data:", *reasons]


def _unstable(result: Reconciliation, digits: int) -> list[str]:
    lines: list[str] = []
    for ties in result.unstable:
        names = _listed(ties.conventions)
        these = "1 query" if ties.queries == 1 else f"{ties.queries:,} queries"
        lines += [
            "",
            f"{names}: the sort of the tool is unstable in lists of {ties.unstable_from} or more "
            f"documents, and its order of equal scores decides the value of {these}. Its own "
            f"number may lie between {ties.low:.{digits}f} and {ties.high:.{digits}f}.",
        ]
    return lines


def _effort(result: Reconciliation) -> str:
    early = "" if result.complete else " The search stopped early, since the data are large."
    return (
        f"Tried {_plural(result.tried, 'convention')}, which gave "
        f"{_plural(result.numbers, 'different number')}.{early}"
    )


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def split_text(split: DifferenceSplit) -> str:
    """Write the parts of a difference, and the queries with the largest shares."""
    return "\n".join([*_head(split), *_table(split), *_notes(split), *_queries(split)])


def _head(split: DifferenceSplit) -> list[str]:
    a = f"{split.a} [{split.fingerprint_a}]"
    b = f"{split.b} [{split.fingerprint_b}]"
    text = (
        f"{split.measure} is {split.value_a:.6f} under {a} and {split.value_b:.6f} under {b}: "
        f"{split.difference:+.6f}."
    )
    return [*_wrapped(text), ""]


def _table(split: DifferenceSplit) -> list[str]:
    if not split.parts:
        same = "They are the same convention for this measure."
        return [
            "No switch in which they differ changes a value on these data." if split.idle else same
        ]
    ordered = split.parts[0].alone is not None and len(split.parts) > 1
    rows = [["part", *(["first", "last"] if ordered else []), "what", "from", "to"]]
    for part in split.parts:
        orders = [f"{part.alone:+.6f}", f"{part.last:+.6f}"] if ordered else []
        before, after = (
            ", ".join(map(_short, part.switches, values)) for values in (part.before, part.after)
        )
        rows.append([f"{part.part:+.6f}", *orders, part.noun, before, after])
    rows.append(
        [f"{split.difference:+.6f}", *(["", ""] if ordered else []), "all together", "", ""]
    )
    return _columns(rows)


def _short(switch: str, value: str) -> str:
    return ROWS[switch].short(value)


def _notes(split: DifferenceSplit) -> list[str]:
    lines = []
    if split.method == "path":
        lines = [
            "Parts along one path: each switch changes after the switches above it. Another "
            "order gives other parts with the same sum."
        ]
    elif split.orders > 1:
        lines = [
            f"Each part is the average over all {split.orders:,} orders of changing the "
            f"{len(split.parts)} switches; 'first' and 'last' say what a switch changes before, "
            "and after, all others are changed. Where they differ, the switches act on each other."
        ]
    if split.idle:
        lines.append(
            f"They also differ, without effect on these data, in: {', '.join(split.idle)}."
        )
    return [piece for line in lines for piece in ("", *_wrapped(line))]


def _queries(split: DifferenceSplit) -> list[str]:
    if not split.queries:
        return []
    rows = [["query", split.a, split.b, "share", "mostly"]]
    for query in split.queries:
        sides = ["left out" if value is None else f"{value:.6f}" for value in (query.a, query.b)]
        noun = next(
            (part.noun for part in split.parts if query.mostly == " with ".join(part.switches)), ""
        )
        rows.append([query.query, *sides, f"{query.share:+.6f}", noun])
    head = (
        f"The queries with the largest shares (all {split.n_queries:,} shares add up to the "
        f"difference):"
    )
    return ["", head, *_columns(rows)]


def _columns(rows: list[list[str]]) -> list[str]:
    every = range(len(rows[0]))
    return columns(rows, left=every, indent="  ")
