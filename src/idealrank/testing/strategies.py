"""Strategies: judgments, runs, lists, measures and conventions as Hypothesis draws them; and the
facts that a class must state.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache, lru_cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, get_args, get_type_hints

from idealrank._lazy import load_extra
from idealrank.conventions import Convention
from idealrank.data.alignment import Alignment
from idealrank.measures import MEASURES
from idealrank.measures.measure import Aggregate, Cuts, Kind, Measure, Response, TieValues
from idealrank.measures.rules import Rules

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Grades = dict[str, dict[str, float]]
Scores = dict[str, dict[str, float]]
GroupedLevels = dict[str, dict[str, list[dict[str, float]]]]

P = ParamSpec("P")
T = TypeVar("T")

QUERIES = ("q1", "q2", "q3")
ASSESSORS = ("ann", "ben", "0")
DOCUMENTS = ("d1", "d10", "d2", "D2", "é", "doc-3", "~", "0")
SCORES = (2.0, 1.0, 1.0 + 1e-9, 0.5, 0.0, -0.0, -1.5)
CUTOFFS = (None, 1, 2, 3, 5, 10, "0.2n", "0.5n", "sqrt(n)", "n^0.25")
GAINS = ("linear", "exp2", "binary", "power(1.5)", "{-2:-1,-1:0,0:0,1:3,2:1,3:2}")
DISCOUNTS = (
    "log2",
    "log(10)",
    "jarvelin(2)",
    "jarvelin(3.5)",
    "zipf(0.5)",
    "reciprocal",
    "geometric(2)",
    "geometric(0.8)",
    "linear",
    "[1,0.5,0.25]",
)


def drawn_from() -> Any:
    """Hypothesis' strategies; loaded when the first one is made."""
    return load_extra("hypothesis.strategies", "making test data", "testing", package="hypothesis")


def _made_once(make: "Callable[P, T]") -> "Callable[P, T]":
    """Give the same strategy for the same arguments: Hypothesis checks a strategy when it is first
    drawn from. The key is the text of the arguments, since 0.0 and -0.0 are equal.
    """
    strategies: dict[str, T] = {}

    @wraps(make)
    def get(*args: P.args, **kwargs: P.kwargs) -> T:
        key = repr((args, kwargs))
        if key not in strategies:
            strategies[key] = make(*args, **kwargs)
        return strategies[key]

    return get


@cache
def _words() -> dict[str, tuple[str, ...]]:
    """The switches whose values are words, with those words."""
    words_of: dict[str, tuple[str, ...]] = {}
    for name, hint in {**get_type_hints(Alignment), **get_type_hints(Rules)}.items():
        words = get_args(hint)
        if words and all(isinstance(word, str) for word in words):
            words_of[name] = words
    return words_of


def judgments(
    *, grades: Sequence[float] = (0, 1, 2, 3), queries: Sequence[str] = QUERIES
) -> "SearchStrategy[Grades]":
    """Judgments ``{query: {document: grade}}`` of one or more of `queries`, each with one to eight
    documents.

    Parameters
    ----------
    grades : sequence of float
        What a grade may be.
    queries : sequence of str
        Query ids to draw from.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(judgments(), lambda table: True)
    {'q1': {'d1': 0.0}}
    """
    return _judgments(tuple(map(float, grades)), tuple(queries))


@_made_once
def _judgments(grades: tuple[float, ...], queries: tuple[str, ...]) -> "SearchStrategy[Grades]":
    st = drawn_from()
    graded = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(grades), min_size=1)
    strategy: SearchStrategy[Grades] = st.dictionaries(st.sampled_from(queries), graded, min_size=1)
    return strategy


def runs(
    *, scores: Sequence[float] = SCORES, queries: Sequence[str] = QUERIES, max_size: int = 6
) -> "SearchStrategy[Scores]":
    """Runs ``{query: {document: score}}`` over the same ids as `judgments`, some judged, some not.

    Parameters
    ----------
    scores : sequence of float
        What a score may be; few values make many ties.
    queries : sequence of str
        Query ids to draw from.
    max_size : int
        Documents per query, at most.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(runs(), lambda table: len(table) == 1)
    {'q1': {'d1': 2.0}}
    """
    return _runs(tuple(scores), tuple(queries), max_size)


@_made_once
def _runs(
    scores: tuple[float, ...], queries: tuple[str, ...], max_size: int
) -> "SearchStrategy[Scores]":
    st = drawn_from()
    scored = st.dictionaries(
        st.sampled_from(DOCUMENTS), st.sampled_from(scores), min_size=1, max_size=max_size
    )
    strategy: SearchStrategy[Scores] = st.dictionaries(st.sampled_from(queries), scored, min_size=1)
    return strategy


def preferences(
    *, levels: Sequence[float] = (0, 1, 2, 2.5, 7), queries: Sequence[str] = QUERIES
) -> "SearchStrategy[GroupedLevels]":
    """Preferences ``{query: {group: [{document: level}, ...]}}``, groups of one to three sub-groups
    that never contradict themselves.

    Parameters
    ----------
    levels : sequence of float
        What a level may be.
    queries : sequence of str
        Query ids to draw from.

    Examples
    --------
    >>> from hypothesis import Phase, find, settings
    >>> any_one = settings(phases=[Phase.generate])
    >>> list(find(preferences(queries=["q1"]), lambda table: True, settings=any_one))
    ['q1']
    """
    return _preferences(tuple(map(float, levels)), tuple(queries))


@_made_once
def _preferences(
    levels: tuple[float, ...], queries: tuple[str, ...]
) -> "SearchStrategy[GroupedLevels]":
    st = drawn_from()
    levelled = st.dictionaries(
        st.sampled_from(DOCUMENTS), st.sampled_from(levels), min_size=1, max_size=6
    )

    def part_of(level_of: dict[str, float]) -> "SearchStrategy[dict[str, float]]":
        # All sub-groups see one and the same order, each a part of it.
        def part(documents: set[str]) -> dict[str, float]:
            return {document: level_of[document] for document in sorted(documents)}

        chosen = st.sets(st.sampled_from(sorted(level_of)), min_size=1)
        strategy: SearchStrategy[dict[str, float]] = chosen.map(part)
        return strategy

    group = levelled.map(lambda level: [level]) | levelled.flatmap(
        lambda level: st.lists(part_of(level), min_size=1, max_size=3)
    )
    groups = st.dictionaries(st.sampled_from(ASSESSORS), group, min_size=1)
    strategy: SearchStrategy[GroupedLevels] = st.dictionaries(
        st.sampled_from(queries), groups, min_size=1
    )
    return strategy


def assessors(
    *, grades: Sequence[float] = (0, 1, 2, 3), queries: Sequence[str] = QUERIES
) -> "SearchStrategy[dict[str, Grades]]":
    """Judgments of several assessors ``{query: {assessor: {document: grade}}}``.

    Parameters
    ----------
    grades : sequence of float
        What a grade may be.
    queries : sequence of str
        Query ids to draw from.

    Examples
    --------
    >>> from hypothesis import Phase, find, settings
    >>> any_one = settings(phases=[Phase.generate])
    >>> list(find(assessors(queries=["q1"]), lambda table: True, settings=any_one))
    ['q1']
    """
    return _assessors(tuple(map(float, grades)), tuple(queries))


@_made_once
def _assessors(
    grades: tuple[float, ...], queries: tuple[str, ...]
) -> "SearchStrategy[dict[str, Grades]]":
    st = drawn_from()
    by_assessor = judgments(grades=grades, queries=ASSESSORS)
    strategy: SearchStrategy[dict[str, Grades]] = st.dictionaries(
        st.sampled_from(queries), by_assessor, min_size=1
    )
    return strategy


def lists(
    *, grades: Sequence[float] = (0, 1, 2, 3), scores: Sequence[float] = SCORES, max_size: int = 6
) -> "SearchStrategy[list[list[tuple[float, float]]]]":
    """Lists of (label, score) pairs, one list a query, some of them empty.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(lists(), lambda queries: len(queries[0]) == 1)
    [[(0.0, 2.0)]]
    """
    return _lists(tuple(map(float, grades)), tuple(scores), max_size)


@_made_once
def _lists(
    grades: tuple[float, ...], scores: tuple[float, ...], max_size: int
) -> "SearchStrategy[list[list[tuple[float, float]]]]":
    st = drawn_from()
    item = st.tuples(st.sampled_from(grades), st.sampled_from(scores))
    strategy: SearchStrategy[list[list[tuple[float, float]]]] = st.lists(
        st.lists(item, max_size=max_size), min_size=1, max_size=4
    )
    return strategy


def measures(classes: Sequence[type[Measure]] | None = None) -> "SearchStrategy[Measure]":
    """Measures of these classes, default all of one run and its judgments, with any options set
    that the class does not refuse.

    Examples
    --------
    >>> from hypothesis import find
    >>> str(find(measures([MEASURES["RR"]]), lambda measure: measure.cutoff == 10))
    'RR@10'
    """
    return _measures(tuple(classes or _of_one_run()))


@lru_cache(maxsize=256)
def _measures(classes: tuple[type[Measure], ...]) -> "SearchStrategy[Measure]":
    strategy: SearchStrategy[Measure] = drawn_from().sampled_from(classes).flatmap(_with_options)
    return strategy


@lru_cache(maxsize=256)
def _with_options(cls: type[Measure]) -> "SearchStrategy[Measure]":
    """Measures of one class."""
    st = drawn_from()

    def build(options: dict[str, Any]) -> Measure:
        options = {name: value for name, value in options.items() if value is not None}
        if cls.cuts == "required":
            options.setdefault("cutoff", 3)
        if cls.cuts == "none":
            options.pop("cutoff", None)
        return cls(**options)

    names = {name: st.sampled_from(values) for name, values in option_values(cls).items()}
    strategy: SearchStrategy[Measure] = st.fixed_dictionaries(names).map(build)
    return strategy


def option_values(cls: type[Measure]) -> dict[str, tuple[Any, ...]]:
    """Some values of every option of a class, None for unset among them."""
    values: dict[str, tuple[Any, ...]] = {
        "cutoff": CUTOFFS,
        "gain": (None, *GAINS),
        "discount": (None, *DISCOUNTS),
        "rel": (None, -1, 0, 0.5, 1, 2),
        "judged_only": (None, None, True),
        **{name: (None, *words) for name, words in _words().items()},
    }
    return {field.name: cls.samples.get(field.name) or values[field.name] for field in fields(cls)}


def _of_one_run() -> list[type[Measure]]:
    """Measures that need nothing but a run and its judgments."""
    return [
        cls
        for cls in MEASURES.values()
        if not cls.needs and cls.kind == "per query" and cls.aggregate != "text"
    ]


def conventions(
    *, presets: Sequence[str] = ("standard",), **fixed: str
) -> "SearchStrategy[Convention]":
    """Conventions: a preset with any of its switches changed.

    Parameters
    ----------
    presets : sequence of str
        Presets to start from.
    **fixed
        Switches that must have this value.

    Examples
    --------
    >>> from hypothesis import Phase, find, settings
    >>> any_one = settings(phases=[Phase.generate])
    >>> find(conventions(ties="expected"), lambda convention: True, settings=any_one).alignment.ties
    'expected'
    """
    return _conventions(tuple(presets), tuple(fixed.items()))


@_made_once
def _conventions(
    presets: tuple[str, ...], fixed: tuple[tuple[str, str], ...]
) -> "SearchStrategy[Convention]":
    st = drawn_from()
    fixed_words = dict(fixed)
    changes = {
        name: st.sampled_from(words) for name, words in _words().items() if name not in fixed_words
    }

    def build(preset: str, switches: dict[str, str]) -> Convention:
        return Convention.of(preset, **{**switches, **fixed_words})

    strategy: SearchStrategy[Convention] = st.builds(
        build, st.sampled_from(presets), st.fixed_dictionaries({}, optional=changes)
    )
    return strategy


def missing_facts(cls: type[Measure]) -> list[str]:
    """List the facts that a measure's class lacks or misstates; the property suite checks every
    listed measure.

    Parameters
    ----------
    cls : type of Measure
        The class.

    Examples
    --------
    >>> missing_facts(MEASURES["nDCG"])
    []
    """
    allowed = {
        "kind": get_args(Kind),
        "aggregate": get_args(Aggregate),
        "direction": (-1, 0, 1),
        "ties": get_args(TieValues),
        "cuts": get_args(Cuts),
        "response": get_args(Response),
    }
    problems = [
        f"{name}={getattr(cls, name, None)!r}, expected one of {words}"
        for name, words in allowed.items()
        if getattr(cls, name, None) not in words
    ]
    low, high = cls.bounds
    if not low <= high:
        problems.append(f"bounds={cls.bounds}, expected low <= high")
    problems += [f"{name} is missing" for name in ("name", "summary") if not getattr(cls, name, "")]
    options = {field.name for field in fields(cls)}
    unknown = set(cls.from_convention) - options
    drawn = {"cutoff", "judged_only", "gain", "discount", "rel", *_words()}
    problems += [
        f"samples has no values of the option {name}"
        for name in sorted(options - drawn - set(cls.samples))
    ]
    if unknown:
        problems.append(f"from_convention names {', '.join(sorted(unknown))}, which are no options")
    return problems
