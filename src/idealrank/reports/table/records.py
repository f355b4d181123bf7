"""Results for programs: JSON, rows of cells (CSV) and trec_eval's layout, written piece by piece,
for there may be ten million queries.
"""

import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from idealrank.conventions import Convention
from idealrank.data.interchange import finite
from idealrank.errors import InputError, shown
from idealrank.evaluation.evaluate import Evaluation
from idealrank.version import __version__

if TYPE_CHECKING:
    from idealrank.analysis.comparison import RunMean
    from idealrank.analysis.comparison.slice_differences import SliceMeans

Row: TypeAlias = Sequence[str]
"""Cells of one line of a flat format; the first row of a report has the titles."""

SCHEMA = 1
_BLOCK = 4096
_BREAKS = {"\n": "a line feed", "\r": "a carriage return", "\t": "a tab"}
_BREAK = re.compile("[\n\r\t]")
# Beginnings of formulas, in the width of East Asian letters too; not a number, and not the dash of
# an empty cell.
_FORMULA = re.compile(
    r"(?!-\Z|[+-](?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf|nan)\Z)[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]",
    re.IGNORECASE,
)


def json_report(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    slices: "Sequence[SliceMeans]" = (),
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
    clustered: bool = False,
    cautions: Sequence[str] = (),
) -> Iterator[str]:
    """JSON text in pieces; float64 in the shortest form that reads back, null for NaN and for what
    is left out.
    """
    head: dict[str, Any] = {
        "version": __version__,
        "schema": SCHEMA,
        "convention": convention_record(evaluations[0].convention),
    }
    if weighted or clustered:
        head |= {"weighted": bool(weighted), "clustered": clustered, "warnings": list(cautions)}
    yield json.dumps(head, indent=2).removesuffix("\n}") + ',\n  "runs": ['
    for number, evaluation in enumerate(evaluations):
        yield ("," if number else "") + "\n    {"
        yield from _json_run(
            evaluation,
            mean=mean_of(evaluation, number, weighted),
            per_query=per_query,
            ends=intervals[number] if intervals else {},
        )
        if slices:
            yield f',\n      "slices": {_object(slices[number].as_dict()["slices"])}'
        yield "\n    }"
    yield "\n  ]\n}\n"


def mean_of(
    evaluation: Evaluation, number: int, weighted: "Sequence[Mapping[str, RunMean]]"
) -> Mapping[str, float]:
    """Means of an evaluation: the weighted ones with its number if there are any, else its own."""
    return (
        {text: found.mean for text, found in weighted[number].items()}
        if weighted
        else evaluation.mean()
    )


def _json_run(
    evaluation: Evaluation,
    *,
    mean: Mapping[str, float],
    per_query: bool,
    ends: "Mapping[str, RunMean]",
) -> Iterator[str]:
    yield (
        f'\n      "name": {json.dumps(evaluation.name)},\n      "path": '
        f"{json.dumps(evaluation.path)}"
    )
    yield f',\n      "mean": {_object(mean)}'
    if ends:
        yield (
            f',\n      "intervals": '
            f"{_object({measure: one.interval for measure, one in ends.items()})}"
        )
    if per_query:
        yield ',\n      "queries": {'
        # One query a line: greppable, and no second copy of everything in memory.
        for number, (query, values) in enumerate(_rows(evaluation)):
            yield f"{',' if number else ''}\n        {json.dumps(query)}: {_object(values)}"
        yield "\n      }"
    yield f',\n      "coverage": {_object(evaluation.coverage.as_dict())}'
    labels = evaluation.provenance.labels
    yield f',\n      "labels": {json.dumps(None if labels is None else labels.as_dict())}'
    yield f',\n      "judgments": {json.dumps(evaluation.provenance.judgments)}'


def _rows(evaluation: Evaluation) -> Iterator[tuple[str, dict[str, float | None]]]:
    """Yield the records of `Evaluation.per_query`, some queries at a time."""
    texts = [str(measure) for measure in evaluation.measures]
    ids = iter(evaluation.queries)
    for top in range(0, len(evaluation.queries), _BLOCK):
        part = slice(top, top + _BLOCK)
        for values, scored in zip(
            evaluation.values[part].tolist(), evaluation.scored[part].tolist(), strict=True
        ):
            yield (
                next(ids),
                {t: v if s else None for t, v, s in zip(texts, values, scored, strict=True)},
            )


def _object(values: Any) -> str:
    return json.dumps({name: finite(value) for name, value in values.items()})


def convention_record(convention: Convention) -> dict[str, str]:
    """A convention as JSON has it: name, fingerprint, and every switch as text."""
    return {"name": convention.name, "fingerprint": convention.fingerprint, **convention.switches()}


def conventions_record(conventions: Mapping[str, Convention]) -> str:
    """Conventions as JSON: tool, proof, fingerprint and switches by name."""
    record = {
        name: {
            "tool": convention.tool,
            "proof": convention.proof,
            "unstable_from": convention.unstable_from,
            "fingerprint": convention.fingerprint,
            "switches": convention.switches(),
        }
        for name, convention in conventions.items()
    }
    return (
        json.dumps({"version": __version__, "schema": SCHEMA, "conventions": record}, indent=2)
        + "\n"
    )


def evaluation_rows(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
) -> Iterator[Row]:
    """Titles and a row a value; empty where a value is left out or NaN. Intervals of means, where
    asked for, are low and high.
    """
    yield [
        "run",
        *(["query"] if per_query else []),
        "measure",
        "value",
        *(["low", "high"] if intervals else []),
        "convention",
    ]
    for number, evaluation in enumerate(evaluations):
        convention = str(evaluation.convention)
        if per_query:
            for query, values in _rows(evaluation):
                for measure, value in values.items():
                    yield [evaluation.name, query, measure, csv_cell(value), convention]
        else:
            for measure, value in mean_of(evaluation, number, weighted).items():
                ends = _ends(intervals[number].get(measure)) if intervals else []
                yield [evaluation.name, measure, csv_cell(value), *ends, convention]


def delimited(rows: Iterable[Row], delimiter: str = ",") -> Iterator[str]:
    r"""Rows as lines of a flat format, quoted where they must be; an apostrophe stands before what
    a spreadsheet would compute.

    Numbers are no formulas, also as ids. OWASP, "CSV Injection".
    """
    import csv  # noqa: PLC0415  (of all formats only these need it)

    line = io.StringIO()
    # so that a carriage return is quoted, as a line feed is
    writer = csv.writer(line, delimiter=delimiter, lineterminator="\r\n")
    for cells in rows:
        writer.writerow([f"'{cell}" if _FORMULA.match(cell) else cell for cell in cells])
        yield line.getvalue().removesuffix("\r\n") + "\n"
        line.seek(0)
        line.truncate()


def _ends(found: "RunMean | None") -> list[str]:
    ends = (None, None) if found is None else finite(found.interval)
    return [csv_cell(end) for end in ends]


def csv_cell(value: object) -> str:
    """Return a value as a cell of a flat format: text as it is, numbers with every digit; empty for
    None and NaN.
    """
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(value)


def record_rows(records: Iterable[Mapping[str, object]]) -> Iterator[Row]:
    """Rows of records with the same fields, with titles."""
    for number, record in enumerate(records):
        if not number:
            yield list(record)
        yield [csv_cell(value) for value in record.values()]


def trec_report(evaluations: Sequence[Evaluation], *, per_query: bool = False) -> Iterator[str]:
    r"""trec_eval's layout: name, query or ``all``, value, separated by tabs; a run's block begins
    with its name as ``runid``.
    """
    for evaluation in evaluations:
        refuse_broken_lines(evaluation, evaluation.name, per_query=per_query)
    for evaluation in evaluations:
        measures = {str(measure): measure for measure in evaluation.measures}
        if per_query:
            for query, values in _rows(evaluation):
                for text, value in values.items():
                    # trec_eval says the number of queries, and what has a geometric mean, once,
                    # under "all".
                    if (
                        value is not None
                        and measures[text].name != "NumQ"
                        and measures[text].aggregate != "geometric"
                    ):
                        yield _trec_line(
                            measures[text].trec_name,
                            query,
                            _trec_value(value, measures[text].aggregate),
                        )
        yield _trec_line("runid", "all", evaluation.name)
        for text, value in evaluation.mean().items():
            yield _trec_line(
                measures[text].trec_name, "all", _trec_value(value, measures[text].aggregate)
            )


def refuse_broken_lines(evaluation: Evaluation, name: str | None, *, per_query: bool) -> None:
    r"""Refuse a name or an id that would end a line or a column of trec_eval's layout, which can
    quote none.
    """
    run, next_step = evaluation.name, "--format json or csv can hold it"
    if name is not None and (found := _BREAK.search(name)):
        raise InputError(
            f"run {shown(repr(name))}: found {_BREAKS[found[0]]}, expected one that fits into "
            f"a line; {next_step}"
        )
    for query in evaluation.queries if per_query else ():
        if found := _BREAK.search(query):
            where = (
                f"run {shown(repr(run)) if _BREAK.search(run) else run}, query {shown(repr(query))}"
            )
            raise InputError(
                f"{where}: found {_BREAKS[found[0]]}, expected one that fits into a line; "
                f"{next_step}"
            )


def _trec_line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}\n"


def _trec_value(value: float, aggregate: str) -> str:
    return f"{value:.0f}" if aggregate == "sum" and math.isfinite(value) else f"{value:6.4f}"
