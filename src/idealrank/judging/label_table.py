"""Grades that several raters gave to the same pairs of query and document, joined by their ids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from idealrank.data.alignment import check_choice
from idealrank.data.assessors import AssessorQrels
from idealrank.data.qrels import Qrels
from idealrank.data.types import FloatArray, IntArray, decode_id, table_columns
from idealrank.errors import InputError, OptionError

OutsidePolicy: TypeAlias = Literal["error", "clip", "drop"]


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelTable:
    """Pairs of query and document with the grade of each rater.

    Attributes
    ----------
    queries, documents : tuple of str, one a pair
        Ids, in the order of the first rater; pairs that only later raters graded follow.
    raters : tuple of str
        Names.
    grades : float64 array, shape (pairs, raters)
        NaN where the rater did not grade the pair.
    outside : dict of str to int
        By rater, grades outside the scale that were clipped or dropped.

    Examples
    --------
    >>> table = LabelTable.of({"ann": {"q": {"a": 2, "b": 0}}, "ben": {"q": {"b": 1, "c": 0}}})
    >>> table.documents, table.grades.tolist()
    (('a', 'b', 'c'), [[2.0, nan], [0.0, 1.0], [nan, 0.0]])
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    raters: tuple[str, ...]
    grades: FloatArray
    outside: Mapping[str, int]

    @classmethod
    def of(
        cls, judgments: "Mapping[str, Qrels | Mapping[str, Mapping[str, float]]] | AssessorQrels"
    ) -> "LabelTable":
        """Join the grades of several raters by query and document, whatever the order of their
        rows.

        Parameters
        ----------
        judgments : mapping of str to Qrels or to mapping, or AssessorQrels
            By name of the rater.

        Raises
        ------
        InputError
            There is no rater.
        """
        if isinstance(judgments, AssessorQrels):
            return cls._joined({name: judgments.of(name) for name in judgments.assessors})
        return cls._joined(
            {
                name: one if isinstance(one, Qrels) else Qrels(one, name=name)
                for name, one in judgments.items()
            }
        )

    @classmethod
    def _joined(cls, judgments: Mapping[str, Qrels]) -> "LabelTable":
        if not judgments:
            raise InputError("judgments: found no rater, expected at least one")
        places: dict[tuple[bytes, bytes], int] = {}
        columns: list[tuple[IntArray, FloatArray]] = []
        for qrels in judgments.values():
            queries, documents, grades = table_columns(qrels.table)
            found = [
                places.setdefault(pair, len(places))
                for pair in zip(queries, documents, strict=True)
            ]
            columns.append((np.array(found, np.int64), grades))
        joined = np.full((len(places), len(columns)), np.nan)
        for rater, (rows, grades) in enumerate(columns):
            joined[rows, rater] = grades
        names: dict[bytes, str] = {}
        queries_of = tuple(names.setdefault(query, decode_id(query)) for query, _ in places)
        return cls(
            queries=queries_of,
            documents=tuple(decode_id(document) for _, document in places),
            raters=tuple(judgments),
            grades=joined,
            outside={},
        )

    @cached_property
    def query_codes(self) -> IntArray:
        """Query of each pair as a number, in order of first appearance."""
        numbers: dict[str, int] = {}
        return np.array(
            [numbers.setdefault(query, len(numbers)) for query in self.queries], np.int64
        )

    def in_scale(
        self, scale: "Sequence[float] | FloatArray", policy: OutsidePolicy = "error"
    ) -> "LabelTable":
        """Return the table with grades of the scale alone.

        Parameters
        ----------
        scale : sequence of float
            All grades of the scale.
        policy : {"error", "clip", "drop"}
            Refuse a grade outside the scale; replace one above or below all grades by the nearest;
            or leave the grade out. What is clipped or dropped is counted in `outside`.

        Raises
        ------
        InputError
            There is a grade outside the scale; for ``clip``, one between two grades.

        Examples
        --------
        >>> table = LabelTable.of({"model": {"q": {"a": 5, "b": 1}}}).in_scale([0, 1, 2, 3], "clip")
        >>> table.grades.tolist(), table.outside
        ([[3.0], [1.0]], {'model': 1})
        """
        check_choice("outside", policy, get_args(OutsidePolicy))
        known = np.unique(np.asarray(scale, np.float64))
        if not known.size:
            raise OptionError("scale: found no grade, expected at least one")
        if not np.isfinite(known).all():
            raise OptionError(
                f"scale: found {known[~np.isfinite(known)][0]:g}, expected finite grades"
            )
        present = ~np.isnan(self.grades)
        outside = present & ~np.isin(self.grades, known)
        if not outside.any():
            return self
        kept = self.grades.copy()
        if policy == "drop":
            kept[outside] = np.nan
        elif policy == "clip":
            kept = np.clip(kept, known[0], known[-1])
        left = ~np.isnan(kept) & ~np.isin(kept, known)
        if left.any():
            raise self._outside_error(left, known, policy)
        counts = {
            rater: int(n) for rater, n in zip(self.raters, outside.sum(axis=0), strict=True) if n
        }
        return replace(self, grades=kept, outside=counts)

    def _outside_error(self, left: Any, known: FloatArray, policy: OutsidePolicy) -> InputError:
        pair, rater = (int(places[0]) for places in np.nonzero(left))
        n = int(left.sum())
        others = f", and {n - 1:,} more outside the scale" if n > 1 else ""
        hint = (
            "drop them with outside='drop'"
            if policy == "clip"
            else "declare the scale, or name a policy: outside='clip' or 'drop'"
        )
        command = (
            "drop them with --outside drop"
            if policy == "clip"
            else "declare the --scale, or name a policy: --outside clip or drop"
        )
        return InputError(
            f"{self.raters[rater]}, query {self.queries[pair]!r}, document "
            f"{self.documents[pair]!r}: found grade "
            f"{self.grades[pair, rater]:g}{others}, expected one of "
            f"{', '.join(f'{grade:g}' for grade in known)}",
            hint=hint,
            command_hint=command,
        )
