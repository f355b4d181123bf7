"""Results for programs: JSON, rows of cells (CSV) and trec_eval's layout, written piece by piece,
for there may be ten million queries.
"""

import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

from idealrank.data.interchange import finite
from idealrank.errors import InputError, shown
from idealrank.version import __version__

if TYPE_CHECKING:  # so that commands that evaluate nothing write their JSON without NumPy
    from idealrank.analysis.comparison import RunMean
    from idealrank.analysis.comparison.slice_means import SliceMeans
    from idealrank.bounds.lift import Lift, MeasureLift
    from idealrank.conventions import Convention
    from idealrank.evaluation.evaluate import Evaluation
    from idealrank.measures.measure import Measure

Row: TypeAlias = Sequence[str]
"""Cells of one line of a flat format; the first row of a report has the titles."""

SCHEMA = 1  # version of the layout of JSON
_BLOCK = 4096  # queries that become Python objects at a time
_BREAKS = {"\n": "a line feed", "\r": "a carriage return", "\t": "a tab"}
_BREAK = re.compile("[\n\r\t]")
# Beginnings of formulas, in full-width letters, too; but no number, and no dash of an empty cell.
_FORMULA = re.compile(
    r"(?!-\Z|[+-](?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf|nan)\Z)[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]",
    re.IGNORECASE,
)


def enveloped(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Put the versions of the library and of the layout before the fields of a JSON record."""
    return {"version": __version__, "schema": SCHEMA, **fields}


def json_text(record: Any, *, indent: int = 2, ascii_only: bool = True) -> str:
    """Write a record as JSON; null for numbers that are not finite."""
    return json.dumps(finite(record), indent=indent, ensure_ascii=ascii_only) + "\n"


def result_json(fields: Mapping[str, Any], *, ascii_only: bool = True) -> str:
    """Write the fields of a result as JSON, after the versions."""
    return json_text(enveloped(fields), ascii_only=ascii_only)


def add_text(record: dict[str, Any], id_key: str, texts: Mapping[str, str]) -> None:
    """Add the text of a query or document to its record, if there is one."""
    text = texts.get(record[id_key])
    if text is not None:
        record["text"] = text


def method_json(record: Mapping[str, Any]) -> str:
    """Write a result as JSON whose version is part of its method; the layout's version, too."""
    return json_text({**record, "method": {**record["method"], "schema": SCHEMA}})


def json_report(
    evaluations: "Sequence[Evaluation]",
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    slices: "Sequence[SliceMeans]" = (),
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
    clustered: bool = False,
    cautions: Sequence[str] = (),
    chance: "Sequence[Lift]" = (),
) -> Iterator[str]:
    """Yield JSON text in pieces; float64 in the shortest form that reads back, null for NaN and for
    values that are left out.
    """
    head = enveloped({"convention": convention_record(evaluations[0].convention)})
    if weighted or clustered:
        head |= {"weighted": bool(weighted), "clustered": clustered, "warnings": list(cautions)}
    yield json_text(head).removesuffix("\n}\n") + ',\n  "runs": ['
    for number, evaluation in enumerate(evaluations):
        yield ("," if number else "") + "\n    {"
        yield from _json_run(
            evaluation,
            mean=mean_of(evaluation, number, weighted),
            per_query=per_query,
            ends=intervals[number] if intervals else {},
        )
        if chance:
            yield f',\n      "chance": {_object(_chance_record(chance[number]))}'
        if slices:
            yield f',\n      "slices": {_object(slices[number].as_dict()["slices"])}'
        yield "\n    }"
    yield "\n  ]\n}\n"


def _chance_record(lift: "Lift") -> dict[str, Any]:
    """Record of the lifts of a run, of which the name is written already."""
    record = lift.as_dict()
    del record["run"]
    return record


def mean_of(
    evaluation: "Evaluation", number: int, weighted: "Sequence[Mapping[str, RunMean]]"
) -> Mapping[str, float]:
    """Return the weighted means with the number of an evaluation, if any, else its means."""
    if not weighted:
        return evaluation.mean()
    return {text: run_mean.mean for text, run_mean in weighted[number].items()}


def _json_run(
    evaluation: "Evaluation",
    *,
    mean: Mapping[str, float],
    per_query: bool,
    ends: "Mapping[str, RunMean]",
) -> Iterator[str]:
    yield f'\n      "name": {json.dumps(evaluation.name)}'
    yield f',\n      "path": {json.dumps(evaluation.path)}'
    yield f',\n      "mean": {_object(mean)}'
    if ends:
        yield (
            f',\n      "intervals": '
            f"{_object({measure: run_mean.interval for measure, run_mean in ends.items()})}"
        )
    if per_query:
        yield ',\n      "queries": {'
        # One query per line, so that grep finds it; all at once would be a second copy in memory.
        for number, (query, values) in enumerate(_rows(evaluation)):
            yield f"{',' if number else ''}\n        {json.dumps(query)}: {_object(values)}"
        yield "\n      }"
    yield f',\n      "coverage": {_object(evaluation.coverage.as_dict())}'
    labels = evaluation.provenance.labels
    yield f',\n      "labels": {json.dumps(None if labels is None else labels.as_dict())}'
    yield f',\n      "judgments": {json.dumps(evaluation.provenance.judgments)}'
    candidates = evaluation.provenance.candidates
    if candidates is not None:
        yield f',\n      "candidates": {json.dumps(asdict(candidates))}'


def _rows(evaluation: "Evaluation") -> Iterator[tuple[str, dict[str, float | None]]]:
    """Yield the records of `Evaluation.per_query`, some queries at a time."""
    texts = [str(measure) for measure in evaluation.measures]
    ids = iter(evaluation.queries)
    for top in range(0, len(evaluation.queries), _BLOCK):
        part = slice(top, top + _BLOCK)
        values = evaluation.values[part].tolist()
        scored = evaluation.scored[part].tolist()
        for of_query, counts in zip(values, scored, strict=True):
            yield (
                next(ids),
                {
                    text: value if is_scored else None
                    for text, value, is_scored in zip(texts, of_query, counts, strict=True)
                },
            )


def _object(values: Any) -> str:
    return json.dumps({name: finite(value) for name, value in values.items()})


def convention_record(convention: "Convention") -> dict[str, str]:
    """Return the record of a convention in JSON: name, fingerprint, and every switch as text."""
    return {"name": convention.name, "fingerprint": convention.fingerprint, **convention.switches()}


def conventions_record(conventions: "Mapping[str, Convention]") -> str:
    """Write conventions as JSON: tool, proof, fingerprint and switches by name."""
    records = {}
    for name, convention in conventions.items():
        records[name] = {
            "tool": convention.tool,
            "proof": convention.proof,
            "unstable_from": convention.unstable_from,
            "fingerprint": convention.fingerprint,
            "switches": convention.switches(),
        }
    return result_json({"conventions": records})


def evaluation_rows(
    evaluations: "Sequence[Evaluation]",
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
    lifts: "Sequence[Lift]" = (),
) -> Iterator[Row]:
    """Yield the titles, then a row for each value, empty if it is left out or NaN; intervals of
    means, if given, are in the columns low and high, chance levels and lifts in further ones.
    """
    yield [
        "run",
        *(["query"] if per_query else []),
        "measure",
        "value",
        *(["low", "high"] if intervals else []),
        *(_LIFT_TITLES if lifts else []),
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
                cells = _lift_cells(lifts[number].measures.get(measure)) if lifts else []
                yield [evaluation.name, measure, csv_cell(value), *ends, *cells, convention]


_LIFT_TITLES = ("chance", "ceiling", "lift", "lift_low", "lift_high")


def _lift_cells(lift: "MeasureLift | None") -> list[str]:
    if lift is None:
        return [""] * len(_LIFT_TITLES)
    record = lift.as_dict()
    return [csv_cell(record[title.removeprefix("lift_")]) for title in _LIFT_TITLES]


def delimited(rows: Iterable[Row], delimiter: str = ",") -> Iterator[str]:
    r"""Yield rows as lines of a flat format, quoted if necessary; an apostrophe precedes a cell
    that a spreadsheet would compute.

    Numbers are no formulas, also as ids. OWASP, "CSV Injection".
    """
    import csv  # noqa: PLC0415  (of all formats only these need it)

    line = io.StringIO()
    # With this terminator, csv quotes a carriage return, as it quotes a line feed.
    writer = csv.writer(line, delimiter=delimiter, lineterminator="\r\n")
    for cells in rows:
        writer.writerow([f"'{cell}" if _FORMULA.match(cell) else cell for cell in cells])
        yield line.getvalue().removesuffix("\r\n") + "\n"
        line.seek(0)
        line.truncate()


def _ends(run_mean: "RunMean | None") -> list[str]:
    ends = (None, None) if run_mean is None else finite(run_mean.interval)
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
    """Yield the titles and the rows of records with the same fields."""
    for number, record in enumerate(records):
        if not number:
            yield list(record)
        yield [csv_cell(value) for value in record.values()]


def trec_report(evaluations: "Sequence[Evaluation]", *, per_query: bool = False) -> Iterator[str]:
    r"""Yield lines in trec_eval's layout: name, query or ``all``, value, separated by tabs; the
    summary of a run begins with its name as ``runid``.
    """
    for evaluation in evaluations:
        refuse_broken_lines(evaluation, evaluation.name, per_query=per_query)
    for evaluation in evaluations:
        measures = {str(measure): measure for measure in evaluation.measures}
        if per_query:
            for query, values in _rows(evaluation):
                for text, value in values.items():
                    if value is not None and _has_query_lines(measures[text]):
                        yield _trec_line(measures[text], query, value)
        yield _line("runid", "all", evaluation.name)
        for text, mean in evaluation.mean().items():
            yield _trec_line(measures[text], "all", mean)


def _has_query_lines(measure: "Measure") -> bool:
    """Return whether trec_eval prints a measure query by query."""
    # The number of queries and geometric means have only a line for all queries.
    return measure.name != "NumQ" and measure.aggregate != "geometric"


def refuse_broken_lines(evaluation: "Evaluation", name: str | None, *, per_query: bool) -> None:
    r"""Refuse a name or an id that would end a line or a column of trec_eval's layout, which has no
    quotes.
    """
    run = evaluation.name
    next_step = "--format json or csv can hold it"
    if name is not None and (match := _BREAK.search(name)):
        raise InputError(
            f"run {shown(repr(name))}: found {_BREAKS[match[0]]}, expected one that fits into a "
            f"line; {next_step}"
        )
    for query in evaluation.queries if per_query else ():
        if match := _BREAK.search(query):
            named = shown(repr(run)) if _BREAK.search(run) else run
            raise InputError(
                f"run {named}, query {shown(repr(query))}: found {_BREAKS[match[0]]}, expected one "
                f"that fits into a line; {next_step}"
            )


def _trec_line(measure: "Measure", query: str, value: float) -> str:
    is_count = measure.aggregate == "sum" and math.isfinite(value)
    return _line(measure.trec_name, query, f"{value:.0f}" if is_count else f"{value:6.4f}")


def _line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}\n"
