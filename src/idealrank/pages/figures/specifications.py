"""Every figure of a report: templates and rows for a page, and finished specifications for files
and notebooks.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from idealrank.analysis.comparison import Comparison
from idealrank.analysis.robustness import Robustness
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.measure import Measure
from idealrank.pages.figures import forest, mean_intervals, query_values, value_shares
from idealrank.pages.figures.pair_map import pairs_spec
from idealrank.pages.figures.theme import LIGHT, Row, Spec, dressed, in_print, pixels, room_words
from idealrank.reports.subject import Subject, leading_pairs
from idealrank.reports.table.short_names import TITLE, told_apart

_LEVEL = 0.95  # of intervals, where nothing was compared
_MOST_PAIRS = 3  # of more pairs of runs, only the leading one has figures of its own
_MAPPED = 3  # runs, from which on all pairs have a map
_UNSAFE = re.compile(r"[^\w@.,=()+-]+")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure, before it has a size and colours."""

    name: str  # Of its file, without the ending
    plot: str  # Kind: means, distribution, scatter, winloss, cutoffs, slices, robust or pairs
    template: Spec  # With words in place of names, numbers and colours
    rows: list[Row]  # What is drawn
    words: Mapping[str, Any]  # The values of the words

    def spec(self, inches: float, colours: Mapping[str, str] = LIGHT) -> Spec:
        """Return the specification of a drawing of this width in print."""
        letters = self.template.get("usermeta", {}).get("letters", 0)
        words = {**room_words(pixels(inches), letters), **self.words}
        return in_print(dressed(self.template, self.rows, words, colours), inches)


def templates(subject: Subject) -> dict[str, Spec]:
    """Return the template of each plot that a page of this subject has, by its name."""
    level = _LEVEL if subject.comparison is None else subject.comparison.method.level
    names = subject.names
    by_plot = {"means": mean_intervals.means_template(level)} if subject.means else {}
    by_plot["distribution"] = value_shares.distribution_template(runs=len(names))
    if len(names) > 1:
        by_plot |= {
            "scatter": query_values.scatter_template(),
            "winloss": query_values.winloss_template(),
        }
    if subject.curves:
        cutoffs = sorted({cutoff for curve in subject.curves for cutoff in curve.cutoffs})
        by_plot["cutoffs"] = mean_intervals.cutoffs_template(level, cutoffs)
    if _sliced(subject):
        by_plot["slices"] = forest.slices_template(level)
    if subject.robustness is not None:
        rows = forest.robust_rows(subject.robustness)
        by_plot["robust"] = forest.robust_template(rows, subject.robustness.method.level)
    return by_plot


def static_rows(subject: Subject) -> dict[str, list[Row]]:
    """Make the rows of plots without values by query, for all measures and pairs."""
    by_plot = {}
    if subject.means:
        by_plot["means"] = mean_intervals.means_rows(
            subject.means, {str(measure): measure.direction for measure in subject.measures}
        )
    if subject.curves:
        by_plot["cutoffs"] = mean_intervals.cutoff_rows(subject.curves)
    if subject.comparison is not None and _sliced(subject):
        by_plot["slices"] = forest.slice_rows(subject.comparison)
    if subject.robustness is not None:
        by_plot["robust"] = forest.robust_rows(subject.robustness)
    return by_plot


def static_words(subject: Subject) -> dict[str, Any]:
    """Return the words of plots without values by query: of each curve by its measure, and of the
    variants.
    """
    by_plot: dict[str, Any] = {
        "cutoffs": {curve.measure: mean_intervals.curve_words(curve) for curve in subject.curves}
    }
    if subject.robustness is not None:
        by_plot["robust"] = _robust_words(subject.robustness)
    return by_plot


def pair_names(a: str, b: str) -> dict[str, str]:
    """Return the names of two runs, whole and as titles have them."""
    short_a, short_b = [a, b] if a == b else told_apart([a, b], TITLE)
    return {"a": a, "b": b, "shorta": short_a, "shortb": short_b}


def _robust_words(robustness: Robustness) -> dict[str, Any]:
    return {
        **pair_names(robustness.run_a, robustness.run_b),
        "measure": robustness.measure,
        "said": " ".join(robustness.summary()),
    }


def figures(subject: Subject) -> Iterator[Figure]:
    """Yield every figure of a subject, one measure after the other.

    Each of up to three pairs of runs has its own figures; of more pairs only the leading one has.
    """
    made = templates(subject)
    rows = static_rows(subject)
    words = static_words(subject)
    pairs = pairs_shown(subject)
    for measure in subject.measures:
        yield from _of_measure(subject, measure, pairs, made, rows)
        yield from _map_of(subject, str(measure))
    for curve in subject.curves:
        of_curve = [row for row in rows["cutoffs"] if row["measure"] == curve.measure]
        yield Figure(
            name=slug("cutoffs", curve.measure),
            plot="cutoffs",
            template=made["cutoffs"],
            rows=with_roles(of_curve, subject, pairs[0]),
            words=words["cutoffs"][curve.measure],
        )
    if subject.robustness is not None:
        yield robustness_figure(subject.robustness)


def robustness_figure(robustness: Robustness) -> Figure:
    """Make the figure of the difference in every variant."""
    rows = forest.robust_rows(robustness)
    words = _robust_words(robustness)
    template = forest.robust_template(rows, robustness.method.level)
    return Figure(
        name=slug("robust", robustness.measure, robustness.run_a, robustness.run_b),
        plot="robust",
        template=template,
        rows=rows,
        words=words,
    )


def comparison_figures(comparison: Comparison, *, most_slices: int) -> Iterator[Figure]:
    """Yield the figures of the first measure of a comparison that need no values of queries: means,
    and slices of the leading pair.
    """
    first = leading_pairs(comparison)[0]
    level = comparison.method.level
    measure, row = next(iter(first.measures.items()))
    roles = {first.a: "a", first.b: "b"}
    means = mean_intervals.means_rows(
        {measure: comparison.means.get(measure, {})}, {measure: row.direction}
    )
    if means:
        means = [mean | {"role": roles.get(mean["run"], "other")} for mean in means]
        words = {"measure": measure, "said": means_said(means)}
        yield Figure(
            name=slug("means", measure),
            plot="means",
            template=mean_intervals.means_template(level),
            rows=means,
            words=words,
        )
    sliced = [
        slice_row
        for slice_row in forest.slice_rows(comparison)
        if (slice_row["measure"], slice_row["a"], slice_row["b"]) == (measure, first.a, first.b)
    ]
    if sliced and len(sliced) <= most_slices:
        words = {"measure": measure, **pair_names(first.a, first.b), "said": slices_said(sliced)}
        name = slug("slices", measure, first.a, first.b)
        yield Figure(
            name=name,
            plot="slices",
            template=forest.slices_template(level),
            rows=sliced,
            words=words,
        )


def _map_of(subject: Subject, measure: str) -> Iterator[Figure]:
    """Yield the map of all pairs, if there are three runs or more and every two were compared."""
    comparison = subject.comparison
    if comparison is None or comparison.method.baseline is not None:
        return
    if len(comparison.names) < _MAPPED or measure not in comparison.means:
        return
    spec = pairs_spec(comparison, measure)
    rows = spec.pop("data")["values"]
    template = spec | {"data": {"name": "rows"}, "usermeta": {"fixed": True}}
    yield Figure(name=slug("pairs", measure), plot="pairs", template=template, rows=rows, words={})


def pairs_shown(subject: Subject) -> list[tuple[int, int]]:
    """Return the pairs of runs, by their places, that have figures of their own; a single run makes
    a pair with itself.
    """
    if subject.comparison is None:
        return [(0, min(1, len(subject.names) - 1))]
    place = {name: number for number, name in enumerate(subject.names)}
    pairs = [(place[pair.a], place[pair.b]) for pair in leading_pairs(subject.comparison)]
    return pairs if len(pairs) <= _MOST_PAIRS else pairs[:1]


def _of_measure(
    subject: Subject,
    measure: Measure,
    pairs: Sequence[tuple[int, int]],
    made: Mapping[str, Spec],
    rows: Mapping[str, list[Row]],
) -> Iterator[Figure]:
    text = str(measure)
    means = subject.means.get(text, {})
    if means:
        of_measure = [row for row in rows["means"] if row["measure"] == text]
        shown = with_roles(of_measure, subject, pairs[0])
        words = {"measure": text, "said": means_said(shown)}
        yield Figure(
            name=slug("means", text), plot="means", template=made["means"], rows=shown, words=words
        )
    for pair in pairs:
        yield from _of_pair(subject, measure, pair, made)
        a, b = (subject.names[place] for place in pair)
        shown = [
            row
            for row in rows.get("slices", [])
            if (row["measure"], row["a"], row["b"]) == (text, a, b)
        ]
        if shown:
            words = {"measure": text, **pair_names(a, b), "said": slices_said(shown)}
            yield Figure(
                name=slug("slices", text, a, b),
                plot="slices",
                template=made["slices"],
                rows=shown,
                words=words,
            )


def _of_pair(
    subject: Subject, measure: Measure, pair: tuple[int, int], made: Mapping[str, Spec]
) -> Iterator[Figure]:
    text = str(measure)
    direction = measure.direction or 1
    values, scored = _columns(subject, measure)
    if not np.issubdtype(values[0].dtype, np.floating):
        return
    a, b = pair
    shared = (values[a], values[b], scored[a] & scored[b])
    labels = told_apart(subject.names, TITLE)
    words = {"measure": text} | query_values.pair_words(
        *shared,
        (subject.names[a], subject.names[b]),
        direction=direction,
        bounds=measure.bounds,
        labels=(labels[a], labels[b]),
    )

    counted = [
        value_shares.CountedValues(
            name=run.name,
            role=run.role,
            values=values[run.place][scored[run.place] & ~np.isnan(values[run.place])],
        )
        for run in _roles(subject, pair)
    ]
    of_runs = [run.values for run in counted]
    spread = {"domain": query_values.domain(of_runs, measure.bounds)}
    names = [subject.names[place] for place in dict.fromkeys(pair)]
    least, _ = measure.bounds
    lines = value_shares.distribution_rows(counted, least)
    line_words = words | spread | {"half": value_shares.half_said(lines)}
    yield Figure(
        name=slug("distribution", text, *names),
        plot="distribution",
        template=made["distribution"],
        rows=lines,
        words=line_words,
    )
    if a == b:
        return

    points = query_values.scatter_rows(*shared, subject.queries, direction)
    sizes = query_values.size_words(points)
    yield Figure(
        name=slug("scatter", text, *names),
        plot="scatter",
        template=made["scatter"],
        rows=points,
        words=words | sizes,
    )
    bars = query_values.winloss_rows(*shared, subject.queries, direction)
    yield Figure(
        name=slug("winloss", text, *names),
        plot="winloss",
        template=made["winloss"],
        rows=bars,
        words=words,
    )


def _columns(subject: Subject, measure: Measure) -> tuple[list[FloatArray], list[BoolArray]]:
    """Values of each run, and which of them count, in the order of the queries of the first."""
    place = {query: number for number, query in enumerate(subject.queries)}
    values, scored = [], []
    for evaluation in subject.evaluations:
        column = [str(each) for each in evaluation.measures].index(str(measure))
        rows: IntArray | slice = slice(None)
        if list(evaluation.queries) != list(subject.queries):
            rows = np.array([place[query] for query in evaluation.queries], dtype=np.int64)
        value = np.full(len(place), np.nan)
        counts = np.zeros(len(place), dtype=np.bool_)
        value[rows], counts[rows] = evaluation.values[:, column], evaluation.scored[:, column]
        values.append(value)
        scored.append(counts)
    return values, scored


class _RunRole(NamedTuple):
    name: str
    role: str
    place: int


def _roles(subject: Subject, pair: tuple[int, int]) -> list[_RunRole]:
    """Name, role and place of each run: the others first, so that the two of the pair are drawn
    over them.
    """
    a, b = pair
    role = {a: "a", b: "b"}
    runs = [
        _RunRole(name=name, role=role.get(place, "other"), place=place)
        for place, name in enumerate(subject.names)
    ]
    order = ("other", "a", "b")
    return sorted(runs, key=lambda run: order.index(run.role))


def with_roles(rows: Sequence[Row], subject: Subject, pair: tuple[int, int]) -> list[Row]:
    """Add to each row of a run the role of its run."""
    roles = {run.name: run.role for run in _roles(subject, pair)}
    return [row | _as_role(row, roles.get(row["run"], "other")) for row in rows]


def _as_role(row: Row, role: str) -> Row:
    """A role, and for a row of a line of a or b the line of that role; the lines of other runs do
    not change.
    """
    if role != "other" and "line" in row:
        return {"role": role, "line": role, "dash": role}
    return {"role": role}


def means_said(rows: Sequence[Row]) -> str:
    """Write means in words."""
    return "; ".join(f"{row['run']} {' '.join(row['text'].split())}" for row in rows) + "."


def slices_said(rows: Sequence[Row]) -> str:
    """Write differences on slices in words."""
    sentences = [
        f"{row['slice']} {' '.join(row['text'].split())} on {row['n']:,} queries, {row['verdict']}"
        for row in rows
    ]
    return f"{'; '.join(sentences)}."


def slug(*parts: str) -> str:
    """Make a file name of texts: letters, digits and a few signs stay, anything else becomes a
    hyphen.
    """
    return "-".join(_UNSAFE.sub("-", part).strip("-.") or "run" for part in parts)


def _sliced(subject: Subject) -> bool:
    if subject.comparison is None:
        return False
    return any(row.slices is not None for _, row in subject.comparison.rows())
