"""The check of one record against the convention that reproduces its call."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from idealrank.conventions import Convention
from idealrank.errors import IdealrankError
from tests.golden.harness import Fixture, as_arrays, as_tables, quietly
from tests.golden.known import ERRORS, VALUES, Known
from tests.golden.records import Golden, Record, same
from tests.golden.targets import TARGETS, Target

Values = dict[str, float | None]
Measures = tuple[str, ...]
ByMeasure = Mapping[str, Values | IdealrankError]


@cache
def target_of(peer: str, version: str, call: str) -> Target | None:
    """What reproduces a call; None when nothing claims to."""
    found = [target for target in TARGETS if target.matches(peer, version, call)]
    if len(found) > 1:
        raise LookupError(f"{peer} {version} {call} matches {len(found)} targets, expected one")
    return found[0] if found else None


def complaints(golden: Golden, peer: str, version: str, call: str, target: Target) -> list[str]:
    """Every record of a call that its convention does not reproduce, and known differences that no
    longer differ, in words.
    """
    records = [
        record
        for record in golden.records
        if (record.peer, record.version, record.call) == (peer, version, call)
    ]
    lines: list[str] = []
    differing: dict[Known, bool] = {}
    for record in records:
        known = _known(record)
        for way, values in _ways(golden, record, target):
            problem = _check(record, target, values)
            if known:
                differing[known] = differing.get(known, False) or bool(problem)
            elif problem:
                lines.append(f"{record} [{way}, {target.convention}]: {problem}")
    stale = [
        f"{peer} {call} on {known.fixture}: listed as a known difference, but all is equal"
        for known, differs in differing.items()
        if not differs
    ]
    return lines + stale


def _ways(
    golden: Golden, record: Record, target: Target
) -> Sequence[tuple[str, Values | IdealrankError]]:
    """The same input as tables of ids and, for peers that take them, as arrays."""
    asked = target.measure_at(record.cutoff)
    given = (
        golden.fixtures[record.fixture],
        tuple(dict.fromkeys(map(target.measure_at, golden.cutoffs[record.fixture]))),
        target.convention,
    )
    tables = ("tables", _of_tables(*given, target.arrays)[asked])
    return [tables, ("arrays", _of_arrays(*given)[asked])] if target.arrays else [tables]


# Many calls of many peers stand for one convention: what it gives is computed once, at all cutoffs
# together.
@cache
def _of_tables(
    fixture: Fixture, measures: Measures, convention: str, only_returned: bool
) -> ByMeasure:
    return _or_errors(
        measures,
        lambda some: as_tables(
            fixture, some, Convention.of(convention), only_returned=only_returned
        ),
    )


@cache
def _of_arrays(fixture: Fixture, measures: Measures, convention: str) -> ByMeasure:
    return _or_errors(measures, lambda some: as_arrays(fixture, some, Convention.of(convention)))


def _or_errors(measures: Measures, compute: Callable[[Measures], Sequence[Values]]) -> ByMeasure:
    """Values of each measure; where that is an error, of one measure at a time, since not every
    cutoff need have it.
    """
    try:
        values: Sequence[Values] = quietly(compute, measures)
    except IdealrankError as error:
        if len(measures) == 1:
            return {measures[0]: error}
        return {measure: _or_errors((measure,), compute)[measure] for measure in measures}
    return dict(zip(measures, values, strict=True))


def _check(record: Record, target: Target, values: Values | IdealrankError) -> str:
    """What is different, or nothing."""
    if _agrees(record, target, values):
        return ""
    return f"recorded {record.error or record.value} {dict(record.per_query)}, found {values!r}"


def _known(record: Record) -> Known | None:
    table = ERRORS if record.error else VALUES
    return next(
        (known for known in table if known.covers(record.peer, record.call, record.fixture)), None
    )


def _agrees(record: Record, target: Target, values: "Values | IdealrankError") -> bool:
    if record.error or isinstance(values, IdealrankError):
        return bool(record.error) and isinstance(values, IdealrankError)
    counted = [value for value in values.values() if value is not None]
    mean = math.fsum(counted) / len(counted) if counted else None
    shown = {
        query: value for query, value in record.per_query.items() if not _not_shown(value, target)
    }
    per_query = all(
        same(values.get(query), value, target.tolerance) for query, value in shown.items()
    )
    return per_query and same(mean, record.value, target.tolerance)


def _not_shown(value: float | None, target: Target) -> bool:
    """trectools has no row, so NaN, for a query that it leaves out and for one whose value is 0."""
    return target.peer == "trectools" and value is not None and math.isnan(value)
