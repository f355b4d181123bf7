"""User-defined measures: a plain function of one query's ranked grades, made a measure by a
decorator.

A measure that needs options, closed forms over tied scores, or all queries at once is a class
instead: a frozen dataclass that extends `Measure`.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, Literal, TypeAlias, get_args, overload

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures import MEASURES
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.measure import Aggregate, Measure, PerQuery
from idealrank.measures.measure_texts import name_taken
from idealrank.measures.ranks import tie_groups, tied_ranks
from idealrank.measures.spellings import PRESET_OPTIONS, SPELLINGS

UserTies: TypeAlias = Literal["not offered", "not affected"]
UserFunction: TypeAlias = Callable[..., Any]

# What a function may ask for beside the grades, by the name of its parameter.
_EXTRAS = ("ideal", "cutoff")


class FunctionMeasure(Measure):
    """Measure that calls a function for every query; made by `measure`.

    Parameters
    ----------
    cutoff : int or str, optional
        Ranks that count; the function sees only these. Written with an @ in Python too: ``reward @
        10``.

    Examples
    --------
    >>> import idealrank as ir
    >>> @ir.measure
    ... def top_grade(grades):
    ...     return grades[0]
    >>> str(top_grade), str(top_grade @ 10), isinstance(top_grade, FunctionMeasure)
    ('top_grade', 'top_grade@10', True)
    """

    function: ClassVar[UserFunction]
    extras: ClassVar[tuple[str, ...]] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function as its signature asks."""
        return self.function(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionMeasure) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process finds the measure where its function was written."""
        cls = type(self)
        if (
            getattr(_resolved(cls.__module__, cls.__qualname__), "function", None)
            is not cls.function
        ):
            raise OptionError(
                f"measure {self.name} cannot travel to another process: found it at "
                f"{cls.__module__}.{cls.__qualname__}, expected a function at the top of a module, "
                "under its own name"
            )
        return _restored, (
            cls.__module__,
            cls.__qualname__,
            {"cutoff": self.cutoff, "judged_only": self.judged_only},
        )

    def _identity(self) -> tuple[Any, ...]:
        """Return what makes two such measures equal: function, facts and options."""
        return (
            self.function,
            self.name,
            self.bounds,
            self.direction,
            self.ties,
            self.aggregate,
            self.cutoff,
            self.judged_only,
        )

    def depth(self, *, lists: bool = False) -> int:
        """The cutoff, but all of `lists` where the function sees the ideal, which is made of what
        is kept.
        """
        return 0 if lists and "ideal" in self.extras else super().depth(lists=lists)

    def measured(self, judged: Judged) -> PerQuery:
        """Values of every query; ties are refused only where the order of tied documents could
        change what the function sees.
        """
        return self.compute(judged.condensed(pooled=False) if self.judged_only else judged)

    def compute(self, judged: Judged) -> PerQuery:
        """Values of every query, one call each."""
        limit = np.minimum(resolve_cutoff(self.cutoff, judged.lengths), judged.lengths)
        tied = self._first_tied(judged, limit)
        offsets, grades = _by_rank(judged, limit)
        ideal = judged.ideal.grade.copy()
        cuts = None if self.cutoff is None else resolve_cutoff(self.cutoff, judged.lengths).tolist()
        values = np.full(judged.n_queries, np.nan)
        scored = np.ones(judged.n_queries, bool)
        for query in range(judged.n_queries):
            if query == tied:
                raise self._tie_error(judged, query)
            extras = {
                "ideal": ideal[judged.ideal.offsets[query] : judged.ideal.offsets[query + 1]],
                "cutoff": None if cuts is None else cuts[query],
            }
            value = self._value(judged, query, grades[offsets[query] : offsets[query + 1]], extras)
            scored[query] = value is not None
            values[query] = math.nan if value is None else value
        return PerQuery(values, None if scored.all() else scored)

    def _value(
        self, judged: Judged, query: int, grades: FloatArray, extras: Mapping[str, Any]
    ) -> float | None:
        """One call, and what it gave as a number; None leaves the query out."""
        try:
            value = self.function(grades, **{name: extras[name] for name in self.extras})
            number = None if value is None else _number(value)
        except Exception as error:
            where = f"measure {self}, query {judged.queries[query]!r} ({grades.size} documents)"
            hint = ""
            if not grades.size:
                hint = "; the list is empty: return a number for it, or None to leave the query out"
            raise InputError(f"{where}: {type(error).__name__}: {error}{hint}") from error
        return number

    def _first_tied(self, judged: Judged, limit: IntArray) -> int:
        """The first query with ties that a function of one order cannot average; -1 where there is
        none.
        """
        hits = judged.hits
        if judged.ties != "expected" or hits.tie_first is None or hits.tie_last is None:
            return -1
        starts, sizes, _ = tie_groups(hits, hits.tie_first)
        if not starts.size:
            return -1
        first = hits.tie_first[starts]
        last = hits.tie_last[starts]
        reach = limit[hits.query[starts]]
        # The order matters if grades differ, or if some of the tied documents are not judged.
        highest = np.maximum.reduceat(hits.grade, starts)
        lowest = np.minimum.reduceat(hits.grade, starts)
        mixed = (sizes <= last - first) | (highest != lowest)
        matters = mixed & (first < last) & (first <= reach)
        if self.ties == "not affected":
            matters &= last > reach
        return int(hits.query[starts[matters]][0]) if matters.any() else -1

    def _tie_error(self, judged: Judged, query: int) -> OptionError:
        switch = "ties=docid"
        choices = "ties=docid, input, best or worst"
        if judged.complete:
            switch = "ties=input"
            choices = "ties=input, best or worst"
        return OptionError(
            f"{self}: found tied scores, in query {judged.queries[query]!r} first, and a function "
            f"of one order cannot give the expected value over all of them; choose {choices}, or "
            "write a class",
            switch=switch,
        )


def _by_rank(judged: Judged, limit: IntArray) -> tuple[IntArray, FloatArray]:
    """Where each query begins, and the grade at each of its ranks, NaN if unjudged."""
    offsets = np.concatenate(([0], np.cumsum(limit)))
    grades = np.full(int(offsets[-1]), np.nan)
    hits = judged.hits
    rank = tied_ranks(judged, hits, hits.grade)
    within = rank <= limit[hits.query]
    grades[offsets[hits.query[within]] + rank[within] - 1] = hits.grade[within]
    return offsets, grades


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)) or np.ndim(value) != 0:
        raise TypeError(
            f"gave {type(value).__name__}, expected a number, or None to leave the query out"
        )
    number = float(value)
    if math.isnan(number):
        raise ValueError(
            "gave NaN, expected a number, or None to leave the query out (unjudged documents have "
            "the grade NaN)"
        )
    return number


def _resolved(module: str, qualname: str) -> Any:
    value: Any = import_module(module)
    for part in qualname.split("."):
        value = getattr(value, part, None)
    return value


def _restored(module: str, qualname: str, options: Mapping[str, Any]) -> FunctionMeasure:
    restored: FunctionMeasure = replace(_resolved(module, qualname), **options)
    return restored


@overload
def measure(function: UserFunction, /) -> FunctionMeasure: ...
@overload
def measure(
    *,
    name: str | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    direction: int = 1,
    ties: UserTies = "not offered",
    aggregate: Aggregate = "mean",
    use: str = "",
) -> Callable[[UserFunction], FunctionMeasure]: ...
def measure(
    function: UserFunction | None = None,
    /,
    *,
    name: str | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    direction: int = 1,
    ties: UserTies = "not offered",
    aggregate: Aggregate = "mean",
    use: str = "",
) -> FunctionMeasure | Callable[[UserFunction], FunctionMeasure]:
    """Turn a function of one query's ranked grades into a measure, for `evaluate` and every output.

    Parameters
    ----------
    function : callable
        Receives the grades by rank, a new float64 array with NaN for unjudged documents, cut at the
        cutoff, and returns a number, or None to leave the query out. A parameter called ``ideal``
        receives all judged grades of the query, falling; one called ``cutoff`` receives the k of
        ``@k``, or None. For a judged query without an answer the array is empty.
    name : str, optional
        Text of the measure; default the function's name.
    bounds : tuple of two floats
        Lowest and highest value; values outside are counted in the coverage and raise a warning.
    direction : {1, -1, 0}
        1 if higher is better, -1 if lower is better, 0 if neither.
    ties : {"not offered", "not affected"}
        Whether the order of documents can change the value. The function receives one order; under
        ``ties=expected`` a query whose tied documents differ in grade is refused, unless the order
        does not matter.
    aggregate : {"mean", "sum", "geometric"}
        Aggregation over queries.
    use : str
        When to choose the measure and when not.

    Returns
    -------
    FunctionMeasure
        ``reward @ 10`` is the same measure with a cutoff. Two such measures are equal only if they
        have the same function.

    Raises
    ------
    OptionError
        A fact is invalid, or a listed measure has that name.

    Examples
    --------
    >>> import idealrank as ir
    >>> import numpy as np
    >>> @ir.measure(bounds=(0, 1))
    ... def reward(grades):
    ...     "1 when a document of grade 3 is there, half of that for grade 2."
    ...     return np.nanmax(grades, initial=1) / 2 - 0.5
    >>> ir.evaluate(
    ...     {"q": {"a": 3, "b": 2}}, {"q": ["x", "b", "a"]}, ["RR", reward, reward @ 2]
    ... ).mean()
    {'RR': 0.5, 'reward': 1.0, 'reward@2': 0.5}
    """

    def decorate(function: UserFunction) -> FunctionMeasure:
        title = name if name is not None else getattr(function, "__name__", "")
        facts = {
            "bounds": bounds,
            "direction": direction,
            "ties": ties,
            "aggregate": aggregate,
            "use": use,
        }
        return _function_measure(function, title, facts)

    return decorate if function is None else decorate(function)


def _function_measure(
    function: UserFunction, name: str, facts: Mapping[str, Any]
) -> FunctionMeasure:
    if isinstance(function, type):
        raise OptionError(
            f"measure: found the class {function.__name__}, expected a function; a class extends "
            "idealrank.Measure instead"
        )
    if not callable(function):
        raise OptionError(f"measure: found {function!r}, expected a function of one query's grades")
    _check_name(name)
    _check_facts(name, facts)
    doc = inspect.getdoc(function) or ""
    low, high = facts["bounds"]
    namespace = {
        **facts,
        "bounds": (float(low), float(high)),
        "name": name,
        "summary": " ".join(doc.partition("\n\n")[0].split()) or "a measure of one's own",
        "function": staticmethod(function),
        "extras": _extras(function, name),
        "__doc__": doc or None,
        "__module__": getattr(function, "__module__", __name__),
        "__qualname__": getattr(function, "__qualname__", name),
    }
    measure_of_function: FunctionMeasure = type(name, (FunctionMeasure,), namespace)()
    return measure_of_function


def _check_name(name: str) -> None:
    if not name.isidentifier():
        raise OptionError(
            f"measure {name!r}: expected letters, digits and _ alone; give one with "
            f"@idealrank.measure(name=...)"
        )
    if name in MEASURES:
        raise name_taken(name, name)
    # MRR10 and ndcg_cut_10 are spellings with a cutoff
    plain = name.lower()
    if plain[-1].isdigit():
        plain = plain.rstrip("0123456789").rstrip("_")
    listed = SPELLINGS.get(plain)
    if not listed and plain in PRESET_OPTIONS:
        listed, _ = PRESET_OPTIONS[plain]
    if listed:
        raise name_taken(name, listed)


def _check_facts(name: str, facts: Mapping[str, Any]) -> None:
    allowed = {
        "direction": (1, -1, 0),
        "ties": get_args(UserTies),
        "aggregate": ("mean", "sum", "geometric"),
    }
    for fact, words in allowed.items():
        if facts[fact] not in words:
            more = "; a closed form needs a class" if facts[fact] == "closed form" else ""
            raise OptionError(
                f"measure {name}: {fact}={facts[fact]!r}, expected one of "
                f"{' | '.join(map(str, words))}{more}"
            )
    try:
        low, high = map(float, facts["bounds"])
    except (TypeError, ValueError):
        low = high = math.nan
    if not low <= high:
        raise OptionError(
            f"measure {name}: bounds={facts['bounds']!r}, expected the least and the greatest "
            f"value, as in (0, 1)"
        )


def _extras(function: UserFunction, name: str) -> tuple[str, ...]:
    """List the parameters of the function beside the grades."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some functions written in C do not tell
        return ()
    positional = [
        parameter
        for parameter in parameters
        if parameter.kind
        in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    others = [
        parameter
        for parameter in parameters
        if parameter not in positional[:1]
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    unknown = [
        parameter.name
        for parameter in others
        if parameter.name not in _EXTRAS and parameter.default is parameter.empty
    ]
    if not positional or unknown:
        listed = ", ".join(parameter.name for parameter in parameters) or "no parameter"
        raise OptionError(
            f"measure {name}: found {listed}; expected the grades first, then only "
            f"{' and '.join(_EXTRAS)}, or parameters with a default"
        )
    return tuple(parameter.name for parameter in others if parameter.name in _EXTRAS)
