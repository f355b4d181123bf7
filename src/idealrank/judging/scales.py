"""Scales of grades: a table for each source that maps its grades to common ones, and the refusal to
compare two scales.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from idealrank.data.qrels import Qrels
from idealrank.data.types import table_columns
from idealrank.errors import InputError, OptionError, shown


@dataclass(frozen=True)
class ScaleTable:
    """Table that maps the grades of one source to grades, or gains, of a common scale.

    Parameters
    ----------
    grades : mapping of str or float to float
        Every grade of the source: a number, or a word such as ``Perfect``.

    Raises
    ------
    OptionError
        The table is empty, has a grade twice (as number and as text), or maps a grade to what is no
        finite number.

    Examples
    --------
    >>> ScaleTable({0: 0, 1: 2, 2: 4}).map({"q": {"a": 2, "b": 1}})["q"]
    {'a': 4.0, 'b': 2.0}
    >>> ScaleTable({"none": 0, "clicked": 1, "booked": 5}).map(
    ...     {"q": {"hotel": "booked", "hostel": "none"}}
    ... )["q"]
    {'hotel': 5.0, 'hostel': 0.0}
    """

    grades: Mapping[str | float, float]

    def __post_init__(self) -> None:
        if not self.grades:
            raise OptionError(
                "scale table: found no grade, expected each grade of the source with a number"
            )
        keys: set[object] = set()
        for grade, value in cast("Mapping[str | float, object]", self.grades).items():
            if not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
                text = f"{value:g}" if isinstance(value, float) else repr(value)
                raise OptionError(
                    f"scale table: found {text} for grade {grade!r}, expected a finite number"
                )
            key = _key(grade)
            if isinstance(key, float) and math.isnan(key):  # no judgment has this grade
                raise OptionError("scale table: found nan, expected grades of the source")
            if key in keys:
                raise OptionError(f"scale table: found grade {grade!r} twice, expected each once")
            keys.add(key)

    @classmethod
    def of(cls, text: str) -> "ScaleTable":
        """Return a table by its name, or read one written as ``0:0,1:2,2:4``.

        Parameters
        ----------
        text : str
            ``0-2 to 0-4``, ``Perfect to Bad`` (4 to 0), ``booked, clicked, none`` (5, 1, 0) or
            ``stars`` (5 to 1 as 4 to 0); or grades with numbers.

        Raises
        ------
        OptionError
            A part is no grade with a number, or a grade comes twice.

        Examples
        --------
        >>> ScaleTable.of("Bad:0,Perfect:4").grades, ScaleTable.of("stars").grades[5]
        ({'Bad': 0.0, 'Perfect': 4.0}, 4)
        """
        if text in _NAMED:
            return cls(_NAMED[text])
        grades: dict[str | float, float] = {}
        for part in text.split(","):
            grade, _, number = part.rpartition(":")
            value = _key(number)
            if not grade or not isinstance(value, float):
                raise OptionError(
                    f"scale table {shown(text)}: found {shown(part)}, expected a grade and a "
                    f"number, as in 0:0,1:2,2:4"
                )
            key = _key(grade)
            if key in grades:
                raise OptionError(
                    f"scale table {shown(text)}: found grade {shown(grade)} twice, expected each "
                    "once"
                )
            grades[key] = value
        return cls(grades)

    def map(
        self, judgments: "Qrels | Mapping[str, Mapping[str, str | float]]", *, source: str = "qrels"
    ) -> Qrels:
        """Return the judgments with the grades of the common scale.

        Raises
        ------
        InputError
            A grade is not in the table.
        """
        mapped_grade = {_key(grade): value for grade, value in self.grades.items()}
        if isinstance(judgments, Qrels):
            queries, documents, grades = table_columns(judgments.table)
            distinct, codes = np.unique(grades, return_inverse=True)
            missing = next(
                (grade for grade in distinct.tolist() if grade not in mapped_grade), None
            )
            if missing is not None:
                raise self._unknown(source, missing)
            by_code = np.array([mapped_grade[grade] for grade in distinct.tolist()])
            mapped = by_code[codes.reshape(-1)]
            return Qrels.from_columns(queries, documents, mapped, name=judgments.name)
        by_query: dict[str, dict[str, float]] = {}
        for query, of_query in judgments.items():
            unknown = [grade for grade in of_query.values() if _key(grade) not in mapped_grade]
            if unknown:
                raise self._unknown(source, unknown[0])
            by_query[query] = {
                document: mapped_grade[_key(grade)] for document, grade in of_query.items()
            }
        return Qrels(by_query, name=source)

    def _unknown(self, source: str, grade: str | float) -> InputError:
        return InputError(
            f"{source}: found grade {grade!r}, expected one of the scale table: "
            f"{', '.join(map(str, self.grades))}"
        )


def _key(grade: str | float) -> str | float:
    """Return a word as it is; a number as its value, also where it is written as text."""
    try:
        return float(grade)
    except (TypeError, ValueError):
        return grade


_NAMED: dict[str, dict[str | float, float]] = {
    "0-2 to 0-4": {0: 0, 1: 2, 2: 4},
    "Perfect to Bad": {"Bad": 0, "Fair": 1, "Good": 2, "Excellent": 3, "Perfect": 4},
    "booked, clicked, none": {"none": 0, "clicked": 1, "booked": 5},
    "stars": {1: 0, 2: 1, 3: 2, 4: 3, 5: 4},
}


def on_one_scale(
    sources: "Mapping[str, Qrels | Mapping[str, Mapping[str, str | float]]]",
    tables: "Mapping[str, ScaleTable] | None" = None,
) -> dict[str, Qrels]:
    """Return the judgments of several sources on one scale, by a table for each source that needs
    one.

    Parameters
    ----------
    sources : mapping of str to Qrels or mapping
        Judgments by name of their source.
    tables : mapping of str to ScaleTable, optional
        Tables by name of the source.

    Raises
    ------
    InputError
        Two sources have different highest grades, and one of them has no table; or a grade is not
        in its table.
    OptionError
        A table belongs to no source.

    Notes
    -----
    A gain such as ``2^grade - 1`` and a threshold of relevance mean something else on each scale:
    of 2 in 0 to 2, and of 2 in 0 to 4.

    Examples
    --------
    >>> sources = {"web": {"q": {"a": 2, "b": 0}}, "shop": {"q": {"a": 4, "b": 1}}}
    >>> common = on_one_scale(
    ...     sources,
    ...     {
    ...         "web": ScaleTable({0: 0, 1: 2, 2: 4}),
    ...         "shop": ScaleTable({grade: grade for grade in range(5)}),
    ...     },
    ... )
    >>> common["web"]["q"]
    {'a': 4.0, 'b': 0.0}
    """
    by_source = dict(tables or {})
    stray = next((name for name in by_source if name not in sources), None)
    if stray is not None:
        raise OptionError(
            f"scale table of {stray!r}: found no source of that name, expected one of "
            f"{', '.join(sources)}"
        )
    common: dict[str, Qrels] = {}
    for name, judgments in sources.items():
        if name in by_source:
            common[name] = by_source[name].map(judgments, source=name)
        elif isinstance(judgments, Qrels):
            common[name] = judgments
        else:
            common[name] = Qrels(judgments, name=name)
    highest = {name: highest_grade(judgments) for name, judgments in common.items()}
    bare = [name for name in common if name not in by_source]
    if len({highest[name] for name in common}) > 1 and bare:
        scales = ", ".join(f"{name} to {grade:g}" for name, grade in highest.items())
        raise InputError(
            f"{bare[0]}: found sources with different highest grades ({scales}) and no scale "
            "table, expected one scale: a grade and its gain mean something else on each",
            hint="give each source a table of its grades, even one that maps each grade to itself",
        )
    return common


def highest_grade(judgments: Qrels) -> float:
    """Return the highest grade of judgments; NaN without any."""
    _, _, grades = table_columns(judgments.table)
    return float(grades.max()) if grades.size else float("nan")
