"""From trec_eval's names to the measures of this library."""

from collections.abc import Mapping
from dataclasses import fields, replace

from idealrank.app.trec.names import NAMES
from idealrank.app.trec.options import Request
from idealrank.errors import OptionError
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.reports.trec import Column

# Where a name alone means something else in this library.
_SPELLINGS = {"rbp": "trec_rbp"}


def columns_of(names: Mapping[str, tuple[str, ...]], request: Request) -> list[Column]:
    """What is printed, line by line; the run's tag, which is no measure, is left out.

    Parameters
    ----------
    names : mapping
        Names with their parameters, as `chosen` gives them.
    request : Request
        The options: the relevance level, and ``-c``.

    Examples
    --------
    >>> [str(column.measure) for column in columns_of({"map": (), "P": ("5",)}, Request(level=2))]
    ['AP(rel=2)', 'P(rel=2)@5']
    """
    columns = []
    for name, parameters in names.items():
        if name != "runid" and is_offered(name, parameters):
            columns += [_column(name, parameter, request) for parameter in parameters or ("",)]
    return columns


def _column(name: str, parameter: str, request: Request) -> Column:
    measure = _at_level(plain(name, parameter), request.level)
    # With -c, trec_eval sums up the relevant documents of all judged queries, and counts every grade above 0 there, whatever -l.
    whole = parse_measure("num_rel") if name == "num_rel" and request.complete and request.level != 1 else None
    return Column(NAMES[name].printed(parameter), measure, whole)


def is_offered(name: str, parameters: tuple[str, ...] = ()) -> bool:
    """Whether the library has this measure of trec_eval's.

    Examples
    --------
    >>> is_offered("map")
    True
    """
    try:
        plain(name, parameters[0] if parameters else "")
    except OptionError:
        return False
    return True


def plain(name: str, parameter: str) -> Measure:
    """The measure of a name and a parameter, at the usual relevance level.

    Examples
    --------
    >>> str(plain("P", "5"))
    'P@5'
    """
    name = _SPELLINGS.get(name, name)
    return parse_measure(f"{name}.{parameter}" if parameter else name)


def _at_level(measure: Measure, level: int) -> Measure:
    has_level = any(field.name == "rel" for field in fields(measure))
    return replace(measure, rel=float(level)) if has_level and level != 1 else measure  # type: ignore[call-arg]
