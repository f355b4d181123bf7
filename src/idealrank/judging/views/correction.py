"""Corrected values of runs, as tables, Markdown, JSON and CSV."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from idealrank.data.interchange import finite
from idealrank.judging import CorrectedDocuments, CorrectedRun
from idealrank.judging.correction import MIN_DISAGREEMENTS
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import (
    Column,
    Table,
    decimals,
    interval_cell,
    number,
    number_cell,
)
from idealrank.reports.table.forms import parts_markdown
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.stats.intervals import side_of_interval
from idealrank.version import __version__


@dataclass(frozen=True, kw_only=True)
class CorrectedValue:
    """One corrected value: a run, or a difference of two, by one judge."""

    # judge, run, against: Names; `against` is empty for a single run
    judge: str
    run: str
    against: str
    measure: str  # Text of the measure
    by: str  # What people labelled
    # human, judge_alone, corrected: Values of the human labels alone, the judge's alone, and
    # corrected
    human: float
    judge_alone: float
    corrected: float
    # human_error, error: Standard errors of the first and the last
    human_error: float
    error: float
    # Of the corrected value; NaN where the human labels show no variation
    interval: tuple[float, float]
    human_interval: tuple[float, float]  # Of the human labels alone; NaN by documents
    weight: float  # Weight of the judge
    # n_labelled, n_other: Queries (or documents) with and without a human label
    n_labelled: int
    n_other: int
    effective: float  # Human labels that the corrected value is worth
    # df, confidence: Degrees of freedom and confidence level
    df: float
    confidence: float
    n_partly: int = 0  # Documents of human-labelled queries that only the judge graded
    # Human-labelled queries (clusters) on which the judge's value differs; None by documents
    n_disagreements: int | None = None
    refused: bool = False  # True if there are too few disagreements to give the judge a weight
    # Error of the judge on one query that the interval allows for; NaN by documents
    largest_error: float = math.nan
    # Human-labelled queries whose value differs from the most common one; None by documents
    n_uncommon: int | None = None
    is_rare: bool = False  # True if nearly all human values are equal
    target: str = "mean"  # What is estimated; by queries the mean

    @classmethod
    def of_run(cls, judge: str, one: CorrectedRun) -> "CorrectedValue":
        """Take a value over queries."""
        found = one.found
        return cls(
            judge=judge,
            run=one.run,
            against=one.against,
            measure=one.measure,
            by="queries",
            human=found.human_estimate,
            judge_alone=found.judge_estimate,
            corrected=found.estimate,
            human_error=found.human_error,
            error=found.standard_error,
            interval=_ends(found.interval, found.standard_error),
            human_interval=_ends(found.human_interval, found.human_error),
            weight=found.weight,
            n_labelled=found.n_labelled,
            n_other=found.n_judge_only,
            effective=found.effective_labels,
            df=found.df,
            confidence=found.confidence,
            n_partly=one.n_partly,
            n_disagreements=found.n_disagreements,
            refused=found.refused,
            largest_error=found.largest_error,
            n_uncommon=found.n_uncommon,
            is_rare=found.is_rare,
        )

    @classmethod
    def of_documents(
        cls, judge: str, run: str, against: str, found: CorrectedDocuments
    ) -> "CorrectedValue":
        """Take a value by documents."""
        return cls(
            judge=judge,
            run=run,
            against=against,
            measure=found.measure,
            by="documents",
            human=found.human_estimate,
            judge_alone=found.judge_estimate,
            corrected=found.estimate,
            human_error=found.human_error,
            error=found.standard_error,
            interval=_ends(found.interval, found.standard_error),
            human_interval=(math.nan, math.nan),
            weight=1.0,
            n_labelled=found.n_labelled,
            n_other=found.n_documents - found.n_labelled,
            effective=found.effective_labels,
            df=found.df,
            confidence=found.confidence,
            target=found.target,
        )

    @property
    def verdict(self) -> str:
        """Of a difference: better, worse or undecided."""
        if not self.against:
            return ""
        if not self.shows_variation:
            return "undecided"
        return side_of_interval(*self.interval)

    @property
    def shows_variation(self) -> bool:
        """False where queries do not differ by human labels, which says nothing of the error."""
        return self.error > 0

    @property
    def title(self) -> str:
        """Name of the run, or of the difference."""
        return f"{self.run} - {self.against}" if self.against else self.run


def _ends(interval: tuple[float, float], error: float) -> tuple[float, float]:
    return interval if error > 0 else (math.nan, math.nan)


def corrected_parts(values: Sequence[CorrectedValue], digits: int | None = None) -> list[Part]:
    """A row for each run and judge, and what the correction rests on."""
    one = values[0]
    places = decimals([value.interval for value in values], asked=digits)
    opening = (
        f"{one.measure}: {one.n_labelled:,} {one.by} with human labels, {one.n_other:,} with "
        f"labels of the judge alone"
    )
    columns: list[Column[CorrectedValue]] = [
        Column(title="run", cell=lambda value: value.title),
        Column(title="judge", cell=lambda value: value.judge),
        Column(
            title="human alone",
            kind="number",
            cell=lambda value: number_cell(value.human, places, signed=bool(value.against)),
        ),
        Column(
            title="judge alone",
            kind="number",
            cell=lambda value: number_cell(value.judge_alone, places, signed=bool(value.against)),
        ),
        Column(
            title="corrected",
            kind="number",
            cell=lambda value: number_cell(value.corrected, places, signed=bool(value.against)),
        ),
        Column(
            title=f"{100 * one.confidence:g} % interval",
            kind="number",
            cell=lambda value: interval_cell(value.interval, places, signed=bool(value.against)),
        ),
        Column(title="weight", kind="number", cell=lambda value: number_cell(value.weight, 2)),
        Column(title="worth", kind="number", cell=lambda value: number_cell(value.effective, 1)),
    ]
    if any(value.against for value in values):
        columns.append(Column(title="verdict", cell=lambda value: value.verdict))
    said = [
        line
        for text in dict.fromkeys(text for value in values for text in _said(value, places))
        for line in filled(text)
    ]
    return [[opening], Table.of(columns, values), said, _notes(one)]


def _said(value: CorrectedValue, places: int) -> Iterator[str]:
    """Warnings of one row."""
    if value.against and value.human * value.judge_alone < 0:
        yield (
            f"warning: {value.title}: the human labels alone say "
            f"{number(value.human, places, signed=True)}, {value.judge} alone says "
            f"{number(value.judge_alone, places, signed=True)}. They disagree about the sign; "
            f"the judge alone would mislead."
        )
    if not value.shows_variation:
        yield (
            f"warning: {value.title}: the {value.n_labelled:,} human-labelled {value.by} show "
            f"no variation, which says nothing of the "
            "error; there is no interval."
        )
    if value.refused:
        yield (
            f"warning: {value.title}: {value.judge} and the human labels differ on "
            f"{value.n_disagreements:,} of {value.n_labelled:,} "
            f"queries; to know the judge's errors, at least {MIN_DISAGREEMENTS} disagreement "
            f"is needed. The judge is refused: its weight "
            "is 0. Label more queries, or choose a weight with --weight; the interval then "
            "allows for unseen errors."
        )
    if value.is_rare and value.shows_variation:
        yield (
            f"warning: {value.title}: human values other than the most common one: "
            f"{value.n_uncommon:,} of {value.n_labelled:,}. With so "
            f"few, an interval contains the true value less often than in "
            f"{100 * value.confidence:g} % of samples: label more queries."
        )
    if value.target != "mean":
        yield (
            f"warning: {value.measure} by documents is the sum of DCG over the sum of ideal "
            f"DCG of all queries, not the mean of "
            f"{value.measure} that evaluate prints. With few sampled documents it is biased, "
            f"and its interval contains it less "
            f"often than in {100 * value.confidence:g} % of samples. For the mean, label "
            f"whole queries (--by queries)."
        )
    if value.n_partly:
        yield (
            f"warning: {value.judge} graded {value.n_partly:,} documents of human-labelled "
            f"queries that no human graded. They count as "
            "unjudged on the human's side: label whole queries, or correct by documents (--by "
            "documents)."
        )


def _notes(one: CorrectedValue) -> list[str]:
    if one.by == "queries":
        phrases = [
            "corrected: weight times the judge's mean where no human looked, plus the mean of "
            "human less weighted judge where one did",
            "weight: of two runs, one weight, which is tuned for their difference",
            (
                f"interval: t with {one.df:g} degrees"
                if math.isfinite(one.df)
                else "interval: normal"
            )
            + f", with room for unseen errors of the judge up to {one.largest_error:.3g} on a "
            f"query",
            "worth: queries with human labels that alone would give this standard error",
            "the human-labelled queries must be a random sample of all",
        ]
    else:
        phrases = [
            "corrected: the judge's gain of every document, plus human less judge over the "
            "probability of being sampled",
            f"interval: t with {one.df:g} degrees",
            "worth: sampled human grades that alone would be as sure of the value of these queries",
        ]
    return ["method", *wrapped("; ".join(phrases))]


def corrected_markdown(values: Sequence[CorrectedValue], digits: int | None = None) -> str:
    """The report as Markdown."""
    return parts_markdown(corrected_parts(values, digits))


_FIELDS = {
    "judge": "judge",
    "run": "run",
    "against": "against",
    "measure": "measure",
    "by": "by",
    "human": "human",
    "judge_alone": "judge_alone",
    "corrected": "corrected",
    "standard_error": "error",
    "human_standard_error": "human_error",
    "weight": "weight",
    "labelled": "n_labelled",
    "judge_only": "n_other",
    "effective_labels": "effective",
    "df": "df",
    "level": "confidence",
    "partly_labelled": "n_partly",
    "verdict": "verdict",
    "disagreements": "n_disagreements",
    "judge_refused": "refused",
    "largest_error": "largest_error",
    "uncommon_values": "n_uncommon",
    "rare_values": "is_rare",
    "target": "target",
}


def corrected_json(values: Sequence[CorrectedValue], digits: int | None = None) -> str:  # noqa: ARG001  (JSON has every digit)
    """JSON text; null where there is no number."""
    rows = [
        {name: getattr(value, field) for name, field in _FIELDS.items()}
        | {"interval": list(value.interval), "human_interval": list(value.human_interval)}
        for value in values
    ]
    return (
        json.dumps(finite({"version": __version__, "schema": SCHEMA, "corrected": rows}), indent=2)
        + "\n"
    )


def corrected_rows(values: Sequence[CorrectedValue], digits: int | None = None) -> Iterator[Row]:  # noqa: ARG001  (every digit)
    """Titles, and a row a run and judge."""
    yield [*_FIELDS, "low", "high", "human_low", "human_high"]
    for value in values:
        cells = [_csv_text(getattr(value, field)) for field in _FIELDS.values()]
        yield [*cells, *(number_text(end) for end in (*value.interval, *value.human_interval))]


def _csv_text(cell: object) -> str:
    if isinstance(cell, float):
        return number_text(cell)
    return "" if cell is None else str(cell)
