"""From trec_eval's names to the measures of this library."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from idealrank.cli.trec.trec_names import NAMES
from idealrank.cli.trec.trec_options import Request
from idealrank.errors import OptionError
from idealrank.measures.bpref import RunningBpref
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.reports.views.trec import TrecColumn

# Where a name alone means something else in this library.
_SPELLINGS = {"rbp": "trec_rbp"}
# What weighs grades whatever the level: a threshold, which these have too, would make them binary.
_WITHOUT_LEVEL = ("rbp", "rbp_resid")


# By the format of -R: the tables that measures may need.
_TABLES = {"qrels": (), "prefs": ("preferences",), "qrels_prefs": ("preferences",), "qrels_jg": ("assessors",)}


def columns_of(names: Mapping[str, tuple[str, ...]], request: Request, grades: Iterable[float] = ()) -> list[TrecColumn]:
    """List the printed measures, line by line, without the run's tag.

    Parameters
    ----------
    names : mapping
        Names with their parameters, as `chosen` gives them.
    request : Request
        The options: the relevance level, the size of the collection, and ``-c``.
    grades : iterable of float
        Every grade of the judgments: one for which no gain is given is its own gain.

    Raises
    ------
    OptionError
        A measure needs judgments of another kind than ``-R`` says, or a parameter is not what it takes.

    Examples
    --------
    >>> [str(column.measure) for column in columns_of({"map": (), "P": ("5",), "ndcg": ("1=3",)}, Request(level=2), [0, 2])]
    ['AP(rel=2)', 'P(rel=2)@5', 'nDCG(gain={0:0,1:3,2:2})']
    """
    columns = []
    for name, parameters in names.items():
        if name != "runid":
            columns += [_column(name, parameter, request, grades) for parameter in parameters or ("",)]
    return columns


def _column(name: str, parameter: str, request: Request, grades: Iterable[float]) -> TrecColumn:
    measure = measure_of(name, parameter, grades)
    if measure.needs != _TABLES[request.relevance_format] and (measure.needs or measure.looks_at_grades):
        wanted = " or ".join(f"-R {format_}" for format_, tables in _TABLES.items() if tables == measure.needs)
        raise OptionError(f"-m {name}: found judgments of -R {request.relevance_format}, expected {wanted}")
    if request.collection is not None and getattr(measure, "collection", None) is not None:
        measure = replace(measure, collection=float(request.collection))  # type: ignore[call-arg]
    if name == "bpref":
        measure = RunningBpref()
    if name not in _WITHOUT_LEVEL and request.level != 1 and _has(measure, "rel"):
        measure = replace(measure, rel=float(request.level))  # type: ignore[call-arg]
    # With -c, trec_eval sums up the relevant documents of all judged queries, and counts every grade above 0 there, whatever -l.
    whole = parse_measure("num_rel") if name == "num_rel" and request.complete and request.level != 1 else None
    return TrecColumn(NAMES[name].printed(parameter), measure, whole, _made_up(name, parameter))


def _made_up(name: str, parameter: str) -> float | str | None:
    """Value or text of the document that trec_eval makes up; without parameters it empties both measures afterwards, by their names."""
    if not parameter:
        return None
    if name == "utility":  # one document more that is returned and not relevant, one less that is neither
        _, wrong, _, left = map(float, parameter.split(","))
        return wrong - left
    return "'-'" if name == "relstring" else None


def _has(measure: Measure, option: str) -> bool:
    return any(field.name == option for field in fields(measure))


def measure_of(name: str, parameter: str, grades: Iterable[float] = ()) -> Measure:
    """The measure of a name and a parameter, at the usual relevance level.

    Raises
    ------
    OptionError
        The parameter is not what the measure takes.

    Examples
    --------
    >>> str(measure_of("P", "5", ())), str(measure_of("ndcg", "1=3,2=4.5", [0, 1]))
    ('P@5', 'nDCG(gain={0:0,1:3,2:4.5})')
    """
    spelling = _SPELLINGS.get(name, name)
    try:
        if parameter and name in _WITH_GAINS:
            return replace(parse_measure(spelling), gain=_gains(parameter, grades))  # type: ignore[call-arg]
        if parameter and name in _WITH_OPTIONS:
            return _WITH_OPTIONS[name](parse_measure(spelling), parameter)
        for part in parameter.split(",") if parameter else ():
            float(part)
        return parse_measure(f"{spelling}_{parameter}" if parameter else spelling)
    except ValueError as error:
        said = error if isinstance(error, OptionError) else "expected numbers with commas between"
        raise OptionError(f"-m {name}{'.' if parameter else ''}{parameter}: {said}") from None


# --- parameters that are one text ------------------------------------------------------------------------------------------------

_WITH_GAINS = ("G", "dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg")


def _gains(parameter: str, grades: Iterable[float]) -> dict[float, float]:
    """Gains by grade, of pairs ``1=3,2=9``; the other grades are their own gains."""
    pairs = [part.partition("=") for part in parameter.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise OptionError("expected pairs GRADE=GAIN with commas between, as in 1=3,2=9")
    # trec_eval's grades are whole numbers, and what is below 0 has no gain.
    own = {max(float(int(grade)), 0.0) for grade in grades} | {0.0}
    return {grade: grade for grade in sorted(own)} | {float(grade): float(gain) for grade, _, gain in pairs}


def _coefficients(measure: Measure, parameter: str) -> Measure:
    numbers = [float(part) for part in parameter.split(",")]
    if len(numbers) != 4:
        raise OptionError("expected four numbers with commas between, as in 1,-1,0,0")
    worth: dict[str, Any] = dict(zip("abcd", numbers, strict=True))
    if numbers[3]:
        worth["collection"] = 0.0  # trec_eval's, where -N does not say how many documents there are
    return replace(measure, **worth)


def _persistence(measure: Measure, parameter: str) -> Measure:
    return replace(measure, p=float(parameter))  # type: ignore[call-arg]


_WITH_OPTIONS: Mapping[str, Callable[[Measure, str], Measure]] = {
    "utility": _coefficients,
    "rbp": _persistence,
    "rbp_resid": _persistence,
}
