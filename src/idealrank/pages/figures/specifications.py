"""Every figure of a report: templates and rows for a page, and finished specifications for files
and notebooks.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.analysis.comparison import Comparison
from idealrank.analysis.robustness import Robustness
from idealrank.data.types import BoolArray, FloatArray
from idealrank.measures.measure import Measure
from idealrank.pages.figures import forest, mean_intervals, query_values
from idealrank.pages.figures.pair_map import pairs_spec
from idealrank.pages.figures.theme import LIGHT, Row, Spec, dressed, in_print, pixels, room_words
from idealrank.reports.subject import Subject, leading_pairs
from idealrank.reports.table.text import TITLE, told_apart

_LEVEL = 0.95  # of intervals, where nothing was compared
_MOST_PAIRS = 3  # of more pairs of runs, only the leading one has figures of its own
_MAPPED = 3  # runs, from which on all pairs have a map
_UNSAFE = re.compile(r"[^\w@.,=()+-]+")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure, before it has a size and colours."""

    name: str  # Of its file, without the ending
    plot: str  # Which kind: means, distribution, scatter, winloss, cutoffs, slices, robust or pairs
    template: Spec  # With words
    rows: list[Row]  # What is drawn
    words: Mapping[str, Any]  # What the words are

    def spec(self, inches: float, colours: Mapping[str, str] = LIGHT) -> Spec:
        """The specification of a drawing that is so many inches wide in print."""
        room = room_words(pixels(inches), self.template.get("usermeta", {}).get("letters", 0))
        return in_print(dressed(self.template, self.rows, {**room, **self.words}, colours), inches)


def templates(subject: Subject) -> dict[str, Spec]:
    """The template of each plot that a page of this subject has, by its name."""
    level, names = _level(subject), subject.names
    found = {"means": mean_intervals.means_template(level)} if subject.means else {}
    found["distribution"] = query_values.distribution_template(runs=len(names))
    if len(names) > 1:
        found |= {
            "scatter": query_values.scatter_template(),
            "winloss": query_values.winloss_template(),
        }
    if subject.curves:
        cutoffs = sorted({cutoff for curve in subject.curves for cutoff in curve.cutoffs})
        found["cutoffs"] = mean_intervals.cutoffs_template(level, cutoffs)
    if _sliced(subject):
        found["slices"] = forest.slices_template(level)
    if subject.robustness is not None:
        rows = forest.robust_rows(subject.robustness)
        found["robust"] = forest.robust_template(rows, subject.robustness.method.level)
    return found


def static_rows(subject: Subject) -> dict[str, list[Row]]:
    """Rows of the plots that are not made from values by query, for all measures and pairs."""
    found = {}
    if subject.means:
        found["means"] = mean_intervals.means_rows(subject.means, _directions(subject))
    if subject.curves:
        found["cutoffs"] = mean_intervals.cutoff_rows(subject.curves)
    if subject.comparison is not None and _sliced(subject):
        found["slices"] = forest.slice_rows(subject.comparison)
    if subject.robustness is not None:
        found["robust"] = forest.robust_rows(subject.robustness)
    return found


def static_words(subject: Subject) -> dict[str, Any]:
    """Words of these plots: of each curve by its measure, and of the variants."""
    found: dict[str, Any] = {
        "cutoffs": {curve.measure: mean_intervals.curve_words(curve) for curve in subject.curves}
    }
    if subject.robustness is not None:
        found["robust"] = _robust_words(subject.robustness)
    return found


def pair_names(a: str, b: str) -> dict[str, str]:
    """Names of two runs, whole and as titles have them."""
    short = [a, b] if a == b else told_apart([a, b], TITLE)
    return {"a": a, "b": b, "shorta": short[0], "shortb": short[1]}


def _robust_words(found: Robustness) -> dict[str, Any]:
    return {
        **pair_names(found.run_a, found.run_b),
        "measure": found.measure,
        "said": " ".join(found.summary()),
    }


def figures(subject: Subject) -> Iterator[Figure]:
    """Every figure of a subject, one measure after the other.

    Of up to three pairs of runs each has its own figures, of more only the leading one.
    """
    made, rows, words = templates(subject), static_rows(subject), static_words(subject)
    pairs = pairs_shown(subject)
    for measure in subject.measures:
        yield from _of_measure(subject, measure, pairs, made, rows)
        yield from _map_of(subject, str(measure))
    for curve in subject.curves:
        shown = with_roles(
            [row for row in rows["cutoffs"] if row["measure"] == curve.measure], subject, pairs[0]
        )
        yield Figure(
            name=slug("cutoffs", curve.measure),
            plot="cutoffs",
            template=made["cutoffs"],
            rows=shown,
            words=words["cutoffs"][curve.measure],
        )
    if subject.robustness is not None:
        yield robustness_figure(subject.robustness)


def robustness_figure(found: Robustness) -> Figure:
    """The difference in every variant."""
    rows, words = forest.robust_rows(found), _robust_words(found)
    template = forest.robust_template(rows, found.method.level)
    return Figure(
        name=slug("robust", found.measure, found.run_a, found.run_b),
        plot="robust",
        template=template,
        rows=rows,
        words=words,
    )


def comparison_figures(found: Comparison, *, most_slices: int) -> Iterator[Figure]:
    """Figures of the first measure of a comparison, without the values of its queries: means, and
    slices of the leading pair.
    """
    first, level = leading_pairs(found)[0], found.method.level
    measure, row = next(iter(first.measures.items()))
    roles = {first.a: "a", first.b: "b"}
    means = mean_intervals.means_rows(
        {measure: found.means.get(measure, {})}, {measure: row.direction}
    )
    if means:
        means = [one | {"role": roles.get(one["run"], "other")} for one in means]
        words = {"measure": measure, "said": means_said(means)}
        yield Figure(
            name=slug("means", measure),
            plot="means",
            template=mean_intervals.means_template(level),
            rows=means,
            words=words,
        )
    sliced = [
        one
        for one in forest.slice_rows(found)
        if (one["measure"], one["a"], one["b"]) == (measure, first.a, first.b)
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
    """The map of all pairs, where there are three runs or more and every two were compared."""
    found = subject.comparison
    if (
        found is None
        or found.method.baseline is not None
        or len(found.names) < _MAPPED
        or measure not in found.means
    ):
        return
    spec = pairs_spec(found, measure)
    rows = spec.pop("data")["values"]
    template = spec | {"data": {"name": "rows"}, "usermeta": {"fixed": True}}
    yield Figure(name=slug("pairs", measure), plot="pairs", template=template, rows=rows, words={})


def pairs_shown(subject: Subject) -> list[tuple[int, int]]:
    """Pairs of runs, by their places, that have figures of their own; of one run alone it is
    both.
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
        shown = with_roles(
            [row for row in rows["means"] if row["measure"] == text], subject, pairs[0]
        )
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
    text, names = str(measure), tuple(subject.names[place] for place in pair)
    values, scored = _columns(subject, measure)
    if not np.issubdtype(values[0].dtype, np.floating):
        return
    shared = (values[pair[0]], values[pair[1]], scored[pair[0]] & scored[pair[1]])
    labels = told_apart(subject.names, TITLE)
    words = {"measure": text} | query_values.pair_words(
        *shared,
        (names[0], names[1]),
        direction=measure.direction or 1,
        bounds=measure.bounds,
        labels=(labels[pair[0]], labels[pair[1]]),
    )
    counted = [
        (name, role, values[place][scored[place] & ~np.isnan(values[place])])
        for name, role, place in _roles(subject, pair)
    ]
    spread = {"domain": query_values.domain([one for _, _, one in counted], measure.bounds)}
    names = names if pair[0] != pair[1] else names[:1]
    lines = query_values.distribution_rows(counted, measure.bounds[0])
    said = words | spread | {"half": query_values.half_said(lines)}
    yield Figure(
        name=slug("distribution", text, *names),
        plot="distribution",
        template=made["distribution"],
        rows=lines,
        words=said,
    )
    if pair[0] == pair[1]:
        return
    points = query_values.scatter_rows(*shared, subject.queries, measure.direction or 1)
    sizes = query_values.size_words(points)
    yield Figure(
        name=slug("scatter", text, *names),
        plot="scatter",
        template=made["scatter"],
        rows=points,
        words=words | sizes,
    )
    bars = query_values.winloss_rows(*shared, subject.queries, measure.direction or 1)
    yield Figure(
        name=slug("winloss", text, *names),
        plot="winloss",
        template=made["winloss"],
        rows=bars,
        words=words,
    )


def _columns(subject: Subject, measure: Measure) -> tuple[list[FloatArray], list[BoolArray]]:
    """Values and which count, a run each, in the order of the queries of the first."""
    place = {query: number for number, query in enumerate(subject.queries)}
    values, scored = [], []
    for one in subject.evaluations:
        column = [str(each) for each in one.measures].index(str(measure))
        rows = (
            np.array([place[query] for query in one.queries], dtype=np.int64)
            if list(one.queries) != list(subject.queries)
            else slice(None)
        )
        value, counts = np.full(len(place), np.nan), np.zeros(len(place), dtype=np.bool_)
        value[rows], counts[rows] = one.values[:, column], one.scored[:, column]
        values.append(value)
        scored.append(counts)
    return values, scored


def _roles(subject: Subject, pair: tuple[int, int]) -> list[tuple[str, str, int]]:
    """Name, role and place of each run: the others first, so that the two of the pair are drawn
    over them.
    """
    role = {pair[0]: "a", pair[1]: "b"}
    found = [(name, role.get(place, "other"), place) for place, name in enumerate(subject.names)]
    return sorted(found, key=lambda run: ["other", "a", "b"].index(run[1]))


def with_roles(rows: Sequence[Row], subject: Subject, pair: tuple[int, int]) -> list[Row]:
    """Rows of runs, each with the role of its run."""
    role = {name: role for name, role, _ in _roles(subject, pair)}
    return [row | _as_role(row, role.get(row["run"], "other")) for row in rows]


def _as_role(row: Row, role: str) -> Row:
    """A role, and the line that goes with it where the row is of one; the lines of other runs stay
    what they are.
    """
    return (
        {"role": role, "line": role, "dash": role}
        if role != "other" and "line" in row
        else {"role": role}
    )


def means_said(rows: Sequence[Row]) -> str:
    """Means in words."""
    return "; ".join(f"{row['run']} {' '.join(row['text'].split())}" for row in rows) + "."


def slices_said(rows: Sequence[Row]) -> str:
    """Differences on slices in words."""
    said = [
        f"{row['slice']} {' '.join(row['text'].split())} on {row['n']:,} queries, {row['verdict']}"
        for row in rows
    ]
    return f"{'; '.join(said)}."


def slug(*parts: str) -> str:
    """A file's name from texts: letters, digits and a few signs stay, anything else is a hyphen."""
    return "-".join(_UNSAFE.sub("-", part).strip("-.") or "run" for part in parts)


def _directions(subject: Subject) -> dict[str, int]:
    return {str(measure): measure.direction for measure in subject.measures}


def _level(subject: Subject) -> float:
    return _LEVEL if subject.comparison is None else subject.comparison.method.level


def _sliced(subject: Subject) -> bool:
    return subject.comparison is not None and any(
        row.slices is not None for _, row in subject.comparison.rows()
    )
