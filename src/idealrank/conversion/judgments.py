"""Rows of judgments made fit for a format: texts are joined, queries renamed, assessors merged, and
what is lost is counted.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, nan
from statistics import fmean

import numpy as np

from idealrank._features import offered
from idealrank.conversion.losses import LossCounter
from idealrank.conversion.query_numbers import QueryNumbers
from idealrank.conversion.targets import TARGETS, RowLayout, Target
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.io.judgment_layouts import is_word
from idealrank.io.judgment_rows import JudgmentRow, JudgmentSheet

POLICIES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "mean": lambda grades: np.array([fmean(row[~np.isnan(row)]) for row in grades]),
    "median": lambda grades: offered("combine grades")(grades, "median"),
    "majority": lambda grades: offered("combine grades")(grades, "majority"),
    "lowest": lambda grades: np.nanmin(grades, axis=1),
    "highest": lambda grades: np.nanmax(grades, axis=1),
}
"""Ways to make one grade of several, by rows of grades that end in NaN: of equally frequent grades,
and of the two in the middle, the lower one counts.
"""
_BATCH = 1 << 10  # documents whose grades are combined at once


@dataclass(frozen=True, kw_only=True)
class JudgmentOptions:
    """Options of a conversion of judgments."""

    # queries, documents: Texts by id
    queries: Mapping[str, str] | None = None
    documents: Mapping[str, str] | None = None
    # A key of `POLICIES`, or the name of one assessor whose grades alone are kept; empty for
    # neither
    assessors: str = ""
    scale: Collection[float] = ()  # Grades that the target knows; empty for any
    # Queries that are named by their text get ids ``q1``, ``q2``, ..., as do ids that the target
    # cannot hold, and all texts are handed on
    number_queries: bool = False
    numbers: QueryNumbers = field(default_factory=QueryNumbers)  # Ids that queries have already
    keep_unjudged: bool = False  # Keep rows without a grade in formats that do so on request
    name: str = "judgments"  # Name of the collection, for formats that have one


@dataclass(kw_only=True)
class FittedRows:
    """Rows that a format can hold, and what was counted on the way; the counts are complete when
    the rows have been read.
    """

    rows: Iterator[JudgmentRow]  # To be written
    layout: RowLayout  # What they have
    # Text of each query by the id that is written
    query_texts: dict[str, str] = field(default_factory=dict)
    # n_read, n_written: Rows
    n_read: int = 0
    n_written: int = 0
    queries: set[str] = field(default_factory=set)  # Ids that were written


def fitted(
    sheet: JudgmentSheet, target: str, options: JudgmentOptions, losses: LossCounter
) -> FittedRows:
    """Make rows fit for a format."""
    return _Fitting(sheet, TARGETS[target], options, losses).fitted()


class _Fitting:
    """The steps from the rows of a file to the rows of a format."""

    def __init__(
        self, sheet: JudgmentSheet, target: Target, options: JudgmentOptions, losses: LossCounter
    ) -> None:
        self._sheet = sheet
        self._target = target
        self._options = options
        self._losses = losses
        losses.add_all(sheet.lost)
        has_query_texts = sheet.has_query_texts or options.queries is not None
        # A text that is the id is written once, unless the format wants both.
        is_text_the_id = sheet.texts_are_ids and target.query != "both"
        has_texts = sheet.has_texts or options.documents is not None
        layout = RowLayout(
            name=options.name,
            assessors=target.assessors
            and sheet.has_assessors
            and options.assessors not in POLICIES,
            query_texts=target.query_texts
            and has_query_texts
            and not is_text_the_id
            and not options.number_queries,
            texts=target.texts and has_texts,
            columns=sheet.columns if target.columns else (),
            features=sheet.features if target.features else (),
            losses=losses,
        )
        self._fitted = FittedRows(rows=iter(()), layout=layout)
        self._ids: dict[str, str] = {}  # of each query, as it is written
        self._query_of_name: dict[str, str] = {}

    def fitted(self) -> FittedRows:
        rows = self._chosen(self._counted(self._sheet.rows))
        if self._sheet.has_assessors and not self._fitted.layout.assessors:
            rows = self._merged(rows)
        self._fitted.rows = self._written(rows)
        return self._fitted

    def _counted(self, rows: Iterator[JudgmentRow]) -> Iterator[JudgmentRow]:
        for row in rows:
            self._fitted.n_read += 1
            yield row

    def _chosen(self, rows: Iterator[JudgmentRow]) -> Iterator[JudgmentRow]:
        """Rows of one assessor, if one is named."""
        assessor = self._options.assessors
        if not assessor or assessor in POLICIES:
            yield from rows
            return
        names: dict[str, None] = {}
        for row in rows:
            names[row.assessor] = None
            if row.assessor == assessor or row.grade is None:
                yield row
            else:
                self._losses.add("other_assessors", row.assessor)
        if assessor not in names:
            known = ", ".join(repr(name) for name in list(names)[:20] if name)
            policies = f"one of {', '.join(POLICIES)}"
            nor = ", nor any name"
            expected = policies
            if known:
                nor = ""
                expected = f"one of {known}, or {policies}"
            raise OptionError(
                f"assessors={assessor}: found no such assessor{nor}, expected {expected}"
            )

    def _merged(self, rows: Iterator[JudgmentRow]) -> Iterator[JudgmentRow]:
        """One row for each document of a query."""
        policy = POLICIES.get(self._options.assessors)
        by_pair: dict[tuple[str, str], list[JudgmentRow]] = {}
        for row in rows:
            by_pair.setdefault((row.query, row.document), []).append(row)
        documents = list(by_pair.values())
        for start in range(0, len(documents), _BATCH):
            batch = documents[start : start + _BATCH]
            grades = _combined(batch, policy) if policy else [None] * len(batch)
            for judgments, grade in zip(batch, grades, strict=True):
                yield self._merged_row(judgments, grade)

    def _merged_row(self, rows: list[JudgmentRow], grade: float | None) -> JudgmentRow:
        """The row of a document: its first judged row with the combined grade."""
        judged = [row for row in rows if row.grade is not None]
        kept = (judged or rows)[0]
        if len(judged) > 1:
            if grade is None:
                raise self._several((kept.query, kept.document), judged)
            self._losses.add("merged")
        for row in judged:
            if row.assessor:
                self._losses.add("assessors", row.assessor)
        for row in rows:
            self._lose_differences(row, kept)
        return kept if grade is None else kept._replace(grade=grade)

    def _lose_differences(self, row: JudgmentRow, kept: JudgmentRow) -> None:
        """Count parts of another assessor's row that the kept row lacks."""
        for name, value in row.values.items():
            if kept.values.get(name) != value:
                self._losses.add("columns", name)
        if row.features.items() - kept.features.items():
            self._losses.add("features")
        if row.text not in ("", kept.text):
            self._losses.add("texts")

    def _several(self, pair: tuple[str, str], judged: list[JudgmentRow]) -> InputError:
        names = ", ".join(repr(row.assessor) for row in judged[:4])
        where = f"query {shown(repr(pair[0]))}, document {shown(repr(pair[1]))}"
        words = " | ".join(POLICIES)
        holding = ", ".join(name for name, target in TARGETS.items() if target.assessors)
        return InputError(
            f"{where}: found grades by {len(judged)} assessors ({names}), expected one, since "
            f"{self._target.title} has no assessors",
            hint=f"set assessors= to {words} or to the name of one; these formats keep all: "
            f"{holding}",
            command_hint=f"use --aggregate {words}, or the name of one; these formats keep all: "
            f"{holding}",
        )

    def _written(self, rows: Iterator[JudgmentRow]) -> Iterator[JudgmentRow]:
        for row in rows:
            with_texts = self._with_texts(row)
            fitting = self._graded(with_texts)
            if fitting is None:
                continue
            fitting = self._reduced(self._named_query(fitting))
            self._fitted.n_written += 1
            self._fitted.queries.add(fitting.query)
            yield fitting

    def _with_texts(self, row: JudgmentRow) -> JudgmentRow:
        queries = self._options.queries
        documents = self._options.documents
        if queries is not None and row.query in queries:
            row = row._replace(query_text=queries[row.query])
        if documents is not None and row.document in documents:
            row = row._replace(text=documents[row.document])
        return row

    def _graded(self, row: JudgmentRow) -> JudgmentRow | None:
        """The row with a grade that the format knows; None if it is left out."""
        target = self._target
        grade = row.grade
        if grade is None:
            is_kept = target.unjudged == "kept" or (
                target.unjudged == "on request" and self._options.keep_unjudged
            )
            if not is_kept:
                self._losses.add("unjudged")
            return row if is_kept else None
        if not grade.is_integer() and target.fractions == "truncated":
            self._losses.add("truncated")
        if not grade.is_integer() and target.fractions == "rounded":
            self._losses.add("rounded")
            grade = float(floor(grade + 0.5))
        if self._options.scale and grade not in self._options.scale:
            self._losses.add("off_scale", f"{grade:g}")
            return None
        return row if grade == row.grade else row._replace(grade=grade)

    def _named_query(self, row: JudgmentRow) -> JudgmentRow:
        """The row with the query's name in this format."""
        target = self._target
        name = self._ids.get(row.query)
        if name is None:
            name = self._ids[row.query] = self._name(row)
            self._take_name(name, row)
        if target.document == "word" and not is_word(row.document):
            raise self._no_word("document", row.document)
        has_assessor = target.query == "word" and target.assessors and row.assessor
        if has_assessor and not is_word(row.assessor):
            raise self._no_word("assessor", row.assessor)
        return row if name == row.query else row._replace(query=name)

    def _take_name(self, name: str, row: JudgmentRow) -> None:
        """Refuse a name that another query has, keep the text of the query, and count losses."""
        target = self._target
        other = self._query_of_name.setdefault(name, row.query)
        if other != row.query:
            raise self._shared_name(name, other, row.query)
        if target.query == "word" and not is_word(name):
            raise self._no_word("query", name)
        is_numbered = target.query != "text" and name != row.query
        if is_numbered and row.query_text not in ("", row.query):
            self._losses.add("numbered", row.query)
        if (row.query_text or is_numbered) and self._options.number_queries:
            key = row.query if target.query == "text" else name
            self._fitted.query_texts[key] = row.query_text or row.query
        elif row.query_text and row.query_text != name and not target.query_texts:
            self._losses.add("query_texts")
        elif row.query_text and row.query_text == name and name != row.query:
            self._losses.add("query_ids", row.query)

    def _name(self, row: JudgmentRow) -> str:
        if self._target.query == "text":
            return row.query_text or row.query
        if not self._options.number_queries:
            return row.query
        is_text = row.query == (row.query_text or row.query) and self._sheet.texts_are_ids
        needs_word = self._target.query == "word"
        numbers = self._options.numbers
        known = numbers.known(row.query) if is_text or needs_word else None
        if known is not None:
            return known
        if not is_text and (not needs_word or is_word(row.query)):
            return row.query
        return numbers.new(len(self._ids) + 1, self._query_of_name)

    def _shared_name(self, name: str, first: str, second: str) -> InputError:
        """Two queries that the format would call the same."""
        if self._target.query == "text":
            clash = (
                f"queries {shown(repr(first))} and {shown(repr(second))} with the text "
                f"{shown(repr(name))}"
            )
            return InputError(
                f"found {clash}, expected different texts, since {self._target.title} names a "
                f"query by its text"
            )
        numbered = first if first != name else second
        clash = (
            f"query {shown(repr(name))} and a query {shown(repr(numbered))}, which is numbered "
            f"{name}, too"
        )
        return InputError(
            f"found {clash}, expected different ids", hint=f"rename query {shown(repr(name))}"
        )

    def _no_word(self, kind: str, name: str) -> InputError:
        """An id that a line cannot hold."""
        complaint = (
            f"found {kind} {shown(repr(name))}, expected an id without blanks, control characters "
            f"and a leading #"
        )
        if kind != "query":
            return InputError(
                f"{complaint}, since {self._target.title} separates fields by blanks",
                hint="use a format such as csv or beir",
            )
        return InputError(
            f"{complaint}, since {self._target.title} separates fields by blanks",
            hint="name a file for the texts with write_queries=, and the queries are numbered; or "
            "use a format such as csv or beir",
            command_hint="add --write-queries queries.tsv, and the queries are numbered; or use a "
            "format such as csv or beir",
        )

    def _reduced(self, row: JudgmentRow) -> JudgmentRow:
        """The row without what the format has no place for."""
        target = self._target
        losses = self._losses
        if row.text and not target.texts:
            losses.add("texts")
        if row.features and not target.features:
            losses.add("features")
        # The writer of LETOR, which has features alone, counts what a comment cannot hold.
        if row.values and not target.columns and not target.features:
            for name in row.values:
                losses.add("columns", name)
        if row.values and target.columns:
            for name in row.values:
                if name in target.reserved:
                    losses.add("columns", name)
        keeps_text = self._fitted.layout.query_texts
        if not (row.assessor or row.query_text or row.text or row.features):
            return row
        return row._replace(
            assessor=row.assessor if self._fitted.layout.assessors else "",
            query_text=row.query_text if keeps_text else "",
            text=row.text if target.texts else "",
            features=row.features if target.features else {},
        )


def _combined(
    units: Sequence[Sequence[JudgmentRow]], policy: Callable[[FloatArray], FloatArray]
) -> list[float | None]:
    """One grade of the grades of each document; None where none has judged it."""
    grades_of_units = [_grades_of(rows) for rows in units]
    judged = [grades for grades in grades_of_units if grades]
    width = max(map(len, judged), default=0)
    padded = [grades + [nan] * (width - len(grades)) for grades in judged]
    # Documents without a grade have no row in the table: the others take the results in turn.
    combined = iter(policy(np.array(padded)).tolist() if judged else [])
    return [next(combined) if grades else None for grades in grades_of_units]


def _grades_of(rows: Sequence[JudgmentRow]) -> list[float]:
    return [row.grade for row in rows if row.grade is not None]
