"""Aggregation of values over queries: mean, sum for counts, geometric mean; exact in any order."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Self

from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure

_GEOMETRIC_FLOOR = 0.00001
_SOME = 1 << 16


class Means(dict[str, float]):
    """Aggregate of each measure by its text; also found by the measure itself or any of its
    spellings.
    """

    @classmethod
    def of(cls, measures: Sequence[Measure], values: FloatArray, scored: BoolArray) -> Self:
        """Aggregates of the columns of `values` over the queries that are scored."""
        return cls(
            {
                str(measure): aggregate(measure, values[:, i], scored[:, i])
                for i, measure in enumerate(measures)
            }
        )

    def __missing__(self, key: object) -> float:
        text = self._text(key)
        if text is None:
            raise KeyError(f"{key}: not evaluated, only {', '.join(self)}")
        return dict.__getitem__(self, text)

    def __contains__(self, key: object) -> bool:
        return self._text(key) is not None

    def get(self, key: Any, default: Any = None) -> Any:
        """The aggregate of a measure, by itself or any of its spellings, or the default."""
        text = self._text(key)
        return default if text is None else dict.__getitem__(self, text)

    @staticmethod
    def _spelled(key: Any) -> str:
        """The text of a measure, from any spelling."""
        return str(parse_measure(key))

    def _text(self, key: object) -> str | None:
        """The key under which a measure stands here; None where it does not."""
        try:
            text = key if dict.__contains__(self, key) else self._spelled(key)
        except OptionError:
            return None
        return str(text) if dict.__contains__(self, text) else None


def values_by_query(
    queries: Iterable[str], measures: Iterable[Measure], values: FloatArray, scored: BoolArray
) -> dict[str, dict[str, float | None]]:
    """Return ``{query: {measure: value}}``; None if the query does not count."""
    texts = [str(measure) for measure in measures]
    rows = zip(queries, values.tolist(), scored.tolist(), strict=True)
    return {
        query: {t: v if s else None for t, v, s in zip(texts, row, counts, strict=True)}
        for query, row, counts in rows
    }


def aggregate(measure: Measure, values: FloatArray, scored: BoolArray) -> float:
    """One number for a measure over the queries that count; NaN where none does.

    The mean, the sum for counts, or the geometric mean, in which a value below 0.00001 counts as
    that, as in trec_eval. Summed exactly, so the order of the queries does not matter.
    """
    counted = values if scored.all() else values[scored]
    if measure.aggregate == "sum":
        return _sum(counted)
    if measure.aggregate == "geometric" and counted.size:
        return math.exp(
            math.fsum(math.log(max(value, _GEOMETRIC_FLOOR)) for value in _numbers(counted))
            / counted.size
        )
    return _sum(counted) / counted.size if counted.size else math.nan


def _sum(values: FloatArray) -> float:
    try:
        return math.fsum(_numbers(values))
    except OverflowError:
        raise InputError(
            "the sum of the values of all queries is larger than a number can be (1.8e308); "
            "use smaller grades"
        ) from None


def _numbers(values: FloatArray) -> Iterator[float]:
    """As Python's numbers, some at a time: each takes four times the memory."""
    return chain.from_iterable(
        values[begin : begin + _SOME].tolist() for begin in range(0, values.size, _SOME)
    )
