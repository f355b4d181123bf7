"""Evaluate a recorded fixture as a peer's call would see it: judgments and a run, or arrays of the
returned documents.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.lists import Lists
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import IdealrankWarning
from idealrank.evaluation.evaluate import Evaluation, evaluate, evaluate_lists

Row = tuple[str, float | None, float | None]
"""Document, score (None: judged but not returned), grade (None: returned but not judged)."""


@dataclass(frozen=True, eq=False)
class Fixture:
    """Queries with their documents in input order."""

    queries: Mapping[str, Sequence[Row]]

    @classmethod
    def of(cls, queries: Mapping[str, Sequence[Sequence[Any]]]) -> "Fixture":
        """From JSON, where infinite scores and NaN are texts."""
        return cls(
            {
                query: [(row[0], _number(row[1]), _number(row[2])) for row in rows]
                for query, rows in queries.items()
            }
        )

    def qrels(self, *, only_returned: bool) -> Qrels:
        """What was judged; for tools that take arrays only what was also returned, with unjudged
        documents as grade 0.
        """
        grades: dict[str, dict[str, float]] = {}
        for query, rows in self.queries.items():
            for document, score, grade in rows:
                if only_returned and score is not None:
                    grades.setdefault(query, {})[document] = grade or 0.0
                elif not only_returned and grade is not None:
                    grades.setdefault(query, {})[document] = grade
        return Qrels(grades)

    def run(self) -> Run:
        """What was returned, in input order, duplicates included."""
        rows = [
            (query, document, score)
            for query, all_rows in self.queries.items()
            for document, score, _ in all_rows
            if score is not None
        ]
        return Run.from_columns(
            [r[0] for r in rows], [r[1] for r in rows], np.array([r[2] for r in rows], np.float64)
        )

    def lists(self) -> Lists:
        """Labels and scores of the returned documents, query after query."""
        returned = {
            query: [row for row in rows if row[1] is not None]
            for query, rows in self.queries.items()
        }
        rows = [row for one in returned.values() for row in one]
        sizes = [len(one) for one in returned.values() if one]
        return Lists.from_arrays(
            np.array([row[2] or 0.0 for row in rows]),
            np.array([row[1] for row in rows], np.float64),
            group=sizes,
        )

    def listed_queries(self) -> list[str]:
        """Queries that returned something, in the order of `lists`."""
        return [
            query
            for query, rows in self.queries.items()
            if any(score is not None for _, score, _ in rows)
        ]


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def as_tables(
    fixture: Fixture, measures: Sequence[str], convention: Convention, *, only_returned: bool
) -> list[dict[str, float | None]]:
    """For each measure, value per query from judgments and a run; None where a query does not
    count.
    """
    return _values(
        evaluate(
            fixture.qrels(only_returned=only_returned), _quiet(fixture.run), measures, convention
        )
    )


def as_arrays(
    fixture: Fixture, measures: Sequence[str], convention: Convention
) -> list[dict[str, float | None]]:
    """For each measure, value per query from labels and scores."""
    queries = fixture.listed_queries()
    return [
        dict(zip(queries, values.values(), strict=True))
        for values in _values(evaluate_lists(fixture.lists(), measures, convention))
    ]


def _quiet(make: Any) -> Run:
    run: Run = make()
    return run


def _values(evaluation: Evaluation) -> list[dict[str, float | None]]:
    by_query = {query: list(values.values()) for query, values in evaluation.per_query().items()}
    return [
        {query: values[place] for query, values in by_query.items()}
        for place in range(len(evaluation.measures))
    ]


def quietly(function: Any, *arguments: Any, **options: Any) -> Any:
    """Call without the warnings that a convention's truncated grades or values out of range
    give.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)
        return function(*arguments, **options)
