"""Corrected values of runs, as tables, Markdown, JSON and CSV."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from idealrank.judging import CorrectedDocuments, CorrectedRun
from idealrank.judging.correction import MIN_DISAGREEMENTS, CorrectedEstimate
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import (
    Column,
    Table,
    decimals,
    interval_cell,
    number,
    number_cell,
)
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.stats.intervals import side_of_interval


@dataclass(frozen=True, kw_only=True)
class CorrectedValue:
    """One corrected value: a run, or a difference of two, by one judge."""

    # judge, run, against: Names; `against` is empty for a single run
    judge: str
    run: str
    against: str
    measure: str  # Text of the measure
    by: str  # What people labelled
    # The corrected value, and the values by people alone and by the judge alone
    result: CorrectedEstimate
    human_interval: tuple[float, float]  # Interval of the human labels alone; NaN by documents
    n_other: int  # Queries or documents without a human label
    n_partly: int = 0  # Documents of human-labelled queries that only the judge graded
    # Human-labelled queries (clusters) on which the judge's value differs; None by documents
    n_disagreements: int | None = None
    refused: bool = False  # True if there are too few disagreements to give the judge a weight
    # Error of the judge on one query that the interval allows for; NaN by documents
    largest_error: float = math.nan
    # Human-labelled queries whose value differs from the most common one; None by documents
    n_uncommon: int | None = None
    is_rare: bool = False  # True if nearly all human values are equal
    target: str = "mean"  # Estimated number; by queries the mean

    @classmethod
    def of_run(cls, judge: str, corrected_run: CorrectedRun) -> "CorrectedValue":
        """Take a value over queries."""
        mean = corrected_run.found
        return cls(
            judge=judge,
            run=corrected_run.run,
            against=corrected_run.against,
            measure=corrected_run.measure,
            by="queries",
            result=mean,
            human_interval=_ends(mean.human_interval, mean.human_error),
            n_other=mean.n_judge_only,
            n_partly=corrected_run.n_partly,
            n_disagreements=mean.n_disagreements,
            refused=mean.refused,
            largest_error=mean.largest_error,
            n_uncommon=mean.n_uncommon,
            is_rare=mean.is_rare,
        )

    @classmethod
    def of_documents(
        cls, judge: str, run: str, against: str, corrected: CorrectedDocuments
    ) -> "CorrectedValue":
        """Take a value by documents."""
        return cls(
            judge=judge,
            run=run,
            against=against,
            measure=corrected.measure,
            by="documents",
            result=corrected,
            human_interval=(math.nan, math.nan),
            n_other=corrected.n_documents - corrected.n_labelled,
            target=corrected.target,
        )

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of the corrected value; NaN where the human labels show no variation."""
        return _ends(self.result.interval, self.result.standard_error)

    @property
    def verdict(self) -> str:
        """Verdict of a difference: better, worse or undecided; empty for a single run."""
        if not self.against:
            return ""
        if not self.shows_variation:
            return "undecided"
        return side_of_interval(*self.interval)

    @property
    def shows_variation(self) -> bool:
        """False where queries do not differ by human labels, which says nothing of the error."""
        return self.result.standard_error > 0

    @property
    def title(self) -> str:
        """Name of the run, or of the difference."""
        return f"{self.run} - {self.against}" if self.against else self.run


def _ends(interval: tuple[float, float], error: float) -> tuple[float, float]:
    return interval if error > 0 else (math.nan, math.nan)


def corrected_parts(values: Sequence[CorrectedValue], *, digits: int | None = None) -> list[Part]:
    """Return a row for each run and judge, with warnings and the method."""
    first = values[0]
    places = decimals([value.interval for value in values], digits=digits)
    opening = (
        f"{first.measure}: {first.result.n_labelled:,} {first.by} with human labels, "
        f"{first.n_other:,} with labels of the judge alone"
    )

    columns: list[Column[CorrectedValue]] = [
        Column(title="run", cell=lambda value: value.title),
        Column(title="judge", cell=lambda value: value.judge),
        Column(
            title="human alone",
            kind="number",
            cell=lambda value: number_cell(
                value.result.human_estimate, places, signed=bool(value.against)
            ),
            rank=1,
        ),
        Column(
            title="judge alone",
            kind="number",
            cell=lambda value: number_cell(
                value.result.judge_estimate, places, signed=bool(value.against)
            ),
            rank=2,
        ),
        Column(
            title="corrected",
            kind="number",
            cell=lambda value: number_cell(
                value.result.estimate, places, signed=bool(value.against)
            ),
        ),
        Column(
            title=f"{100 * first.result.confidence:g} % interval",
            kind="number",
            cell=lambda value: interval_cell(value.interval, places, signed=bool(value.against)),
        ),
        Column(
            title="weight",
            kind="number",
            cell=lambda value: number_cell(value.result.weight, 2),
            rank=4,
        ),
        Column(
            title="worth",
            kind="number",
            cell=lambda value: number_cell(value.result.effective_labels, 1),
            rank=3,
        ),
    ]
    if any(value.against for value in values):
        columns.append(Column(title="verdict", cell=lambda value: value.verdict))

    # rows of one judge may have the same warning
    warnings = dict.fromkeys(text for value in values for text in _warnings(value, places))
    lines = [line for text in warnings for line in filled(text)]
    return [[opening], Table.of(columns, values), lines, _notes(first)]


def _warnings(value: CorrectedValue, places: int) -> Iterator[str]:
    """Yield the warnings of one row."""
    result = value.result
    level = f"{100 * value.result.confidence:g} %"
    if value.against and result.human_estimate * result.judge_estimate < 0:
        yield (
            f"warning: {value.title}: the human labels alone say "
            f"{number(result.human_estimate, places, signed=True)}, {value.judge} alone says "
            f"{number(result.judge_estimate, places, signed=True)}. They disagree about the sign; "
            "the judge alone would mislead."
        )
    if not value.shows_variation:
        yield (
            f"warning: {value.title}: the {result.n_labelled:,} human-labelled {value.by} show no "
            "variation, which says nothing of the error; there is no interval."
        )
    if value.refused:
        yield (
            f"warning: {value.title}: {value.judge} and the human labels differ on "
            f"{value.n_disagreements:,} of {result.n_labelled:,} queries; to know the judge's "
            f"errors, at least {MIN_DISAGREEMENTS} disagreement is needed. The judge is refused: "
            "its weight is 0. Label more queries, or choose a weight with --weight; the interval "
            "then allows for unseen errors."
        )
    if value.is_rare and value.shows_variation:
        yield (
            f"warning: {value.title}: human values other than the most common one: "
            f"{value.n_uncommon:,} of {result.n_labelled:,}. With so few, an interval contains the "
            f"true value less often than in {level} of samples: label more queries."
        )
    if value.target != "mean":
        yield (
            f"warning: {value.measure} by documents is the sum of DCG over the sum of ideal DCG of "
            f"all queries, not the mean of {value.measure} that evaluate prints. With few sampled "
            "documents it is biased, and its interval contains it less often than in "
            f"{level} of samples. For the mean, label whole queries (--by queries)."
        )
    if value.n_partly:
        yield (
            f"warning: {value.judge} graded {value.n_partly:,} documents of human-labelled queries "
            "that no human graded. They count as unjudged on the human's side: label whole "
            "queries, or correct by documents (--by documents)."
        )


def _notes(value: CorrectedValue) -> list[str]:
    df = value.result.df
    if value.by == "queries":
        interval = f"t with {df:g} degrees" if math.isfinite(df) else "normal"
        phrases = [
            "corrected: weight times the judge's mean where no human looked, plus the mean of "
            "human less weighted judge where one did",
            "weight: of two runs, one weight, which is tuned for their difference",
            f"interval: {interval}, with room for unseen errors of the judge up to "
            f"{value.largest_error:.3g} on a query",
            "worth: queries with human labels that alone would give this standard error",
            "the human-labelled queries must be a random sample of all",
        ]
    else:
        phrases = [
            "corrected: the judge's gain of every document, plus human less judge over the "
            "probability of being sampled",
            f"interval: t with {df:g} degrees",
            "worth: sampled human grades that alone would be as sure of the value of these queries",
        ]
    return ["method", *wrapped("; ".join(phrases))]


# Name in JSON and CSV, and the attribute of `CorrectedValue`
_FIELDS = {
    "judge": "judge",
    "run": "run",
    "against": "against",
    "measure": "measure",
    "by": "by",
    "human": "result.human_estimate",
    "judge_alone": "result.judge_estimate",
    "corrected": "result.estimate",
    "standard_error": "result.standard_error",
    "human_standard_error": "result.human_error",
    "weight": "result.weight",
    "labelled": "result.n_labelled",
    "judge_only": "n_other",
    "effective_labels": "result.effective_labels",
    "df": "result.df",
    "level": "result.confidence",
    "partly_labelled": "n_partly",
    "verdict": "verdict",
    "disagreements": "n_disagreements",
    "judge_refused": "refused",
    "largest_error": "largest_error",
    "uncommon_values": "n_uncommon",
    "rare_values": "is_rare",
    "target": "target",
}


def corrected_json(values: Sequence[CorrectedValue]) -> str:
    """Return JSON text; null where there is no number."""
    rows = []
    for value in values:
        row = {name: attrgetter(field)(value) for name, field in _FIELDS.items()}
        row |= {"interval": list(value.interval), "human_interval": list(value.human_interval)}
        rows.append(row)
    return result_json({"corrected": rows})


def corrected_rows(values: Sequence[CorrectedValue]) -> Iterator[Row]:
    """Yield titles, and a row for each run and judge."""
    yield [*_FIELDS, "low", "high", "human_low", "human_high"]
    for value in values:
        cells = [_csv_text(attrgetter(field)(value)) for field in _FIELDS.values()]
        yield [*cells, *map(number_text, (*value.interval, *value.human_interval))]


def _csv_text(cell: object) -> str:
    if isinstance(cell, float):
        return number_text(cell)
    return "" if cell is None else str(cell)
