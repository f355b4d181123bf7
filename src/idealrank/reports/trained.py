"""The report of `idealrank seeds`: two systems over copies and queries, where the variance comes from, and what more would buy."""

import json
import math
from collections.abc import Callable, Iterator

from idealrank.reports.digits import p_text
from idealrank.reports.layout import clipped, columns, filled, fitted, wrapped
from idealrank.reports.records import SCHEMA, csv_row, finite
from idealrank.reports.words import paragraph
from idealrank.verdict import SystemComparison, SystemDifference

_NAME = 14
_MORE: tuple[tuple[str, Callable[[int], int]], ...] = (
    ("as many copies", lambda seeds: seeds),
    ("1 more of each", lambda seeds: seeds + 1),
    ("twice as many", lambda seeds: 2 * seeds),
    ("10 times as many", lambda seeds: 10 * seeds),
)
_QUERIES = (1, 2, 10)


def systems_table(found: SystemComparison) -> Iterator[str]:
    """Words and tables.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(6)}
    >>> good, bad = ([ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR")] * 2 for ranking in (["x", "y"], ["y", "x"]))
    >>> "".join(systems_table(ir.compare_systems(bad, good))).splitlines()[0][:60]
    'B is better than A: RR 1.0000 against 0.5000 (means over 2 a'
    """
    rows = list(found)
    parts = [_words(found, rows[0]), _differences(found, rows), _variances(rows), _of_copies(found, rows[0]), _more(rows[0])]
    parts += [_method(found), paragraph(found.convention, [row.measure for row in rows])]
    yield "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _words(found: SystemComparison, row: SystemDifference) -> list[str]:
    said = {
        "better": f"{found.b} is better than {found.a}",
        "worse": f"{found.b} is worse than {found.a}",
        "undecided": f"These runs cannot decide whether {found.b} is better than {found.a}",
    }[row.verdict]
    one, tests = row.found, len(found.measures)
    corrected = f" after correction for {tests} measures" if tests > 1 else ""
    copies = f"means over {len(row.copies_a)} and {len(row.copies_b)} runs and {row.n:,} queries"
    sentences = [
        f"{said}: {row.measure} {row.mean_b:.4f} against {row.mean_a:.4f} ({copies}), {one.difference:+.4f} "
        f"({100 * one.level:g} % interval {one.low:+.4f} to {one.high:+.4f}), p {p_text(row.p_corrected)}{corrected}."
    ]
    sentences.append(f"Training makes up {100 * row.training_share:.0f} % of the variance of this difference;")
    sentences.append(
        f"a test of means over queries alone would take its standard error for {one.query_error:.4f}, and it is {one.standard_error:.4f}."
    )
    if math.isfinite(row.detectable):
        sentences.append(f"A true difference of {row.detectable:.4f} is seen four times in five, smaller ones less often.")
    if one.standard_error:
        worth = row.queries_worth_one_copy()
        run = "training of each" if len(one.training) > 1 or found.pairing == "crossed" else "training"
        as_much = "no number of queries would do" if worth is None else f"{worth:,} more {'query' if worth == 1 else 'queries'} would do"
        sentences.append(f"To lower the standard error as much as one more {run} does, {as_much}.")
    return filled(sentences)


def _differences(found: SystemComparison, rows: list[SystemDifference]) -> list[str]:
    a, b, level = clipped(found.a, _NAME), clipped(found.b, _NAME), f"{100 * found.level:g} % interval"
    table = [["measure", a, b, "difference", level, "p", "d.f.", "training", "visible", "verdict"]]
    for row in rows:
        one = row.found
        visible = f"{row.detectable:.4f}" if math.isfinite(row.detectable) else "-"
        ends, share = f"[{one.low:+.4f}, {one.high:+.4f}]", f"{100 * row.training_share:.0f} %"
        means = (f"{row.mean_a:.4f}", f"{row.mean_b:.4f}", f"{one.difference:+.4f}")
        table.append([row.measure, *means, ends, p_text(row.p_corrected), f"{one.df:.1f}", share, visible, row.verdict])
    return fitted(table)


def _variances(rows: list[SystemDifference]) -> list[str]:
    """Standard deviations: of queries, of copies, of what a copy does to one query."""
    trained = rows[0].trained
    head = ["standard deviation", "queries", *(f"{what} of {of}" for of in trained for what in ("trainings", "rest"))]
    table = [head]
    for row in rows:
        parts = (f"{math.sqrt(value):.4f}" for part in row.found.training for value in (part.seeds, part.residual))
        table.append([row.measure, f"{math.sqrt(row.found.queries):.4f}", *parts])
    return fitted(table)


def _of_copies(found: SystemComparison, row: SystemDifference) -> list[str]:
    sides = ((found.runs_a, row.copies_a), (found.runs_b, row.copies_b))
    table = [[clipped(run, 2 * _NAME), f"{value:.4f}"] for runs, values in sides for run, value in zip(runs, values, strict=True)]
    return columns([["run", row.measure], *table])


def _more(row: SystemDifference) -> list[str]:
    head = [f"standard error of {row.measure}", *(f"{row.n * times:,} queries" for times in _QUERIES)]
    table = [[label, *(f"{row.standard_error(row.n * times, seeds):.4f}" for times in _QUERIES)] for label, seeds in _MORE]
    return columns([head, *table])


def _method(found: SystemComparison) -> list[str]:
    phrases = ["t test of the difference of systems, copies and queries both at random; Satterthwaite's degrees of freedom (d.f.)"]
    phrases.append(
        "copies of both sides belong together one by one" if found.pairing == "crossed" else "copies of the systems are independent"
    )
    if found.single is not None:
        phrases.append(
            {"fixed": "a single run is not trained", "alike": "training moves a single run as those of the other side"}[found.single]
        )
    if len(found.measures) > 1:
        phrases.append(f"p and verdict corrected for {len(found.measures)} measures (Holm)")
    phrases.append("training: share of the variance of the difference")
    phrases.append("rest: what a training does to one query")
    phrases.append("visible: the smallest true difference that so many runs and queries find four times in five")
    return ["method", *wrapped("; ".join(phrases))]


def systems_json(found: SystemComparison) -> Iterator[str]:
    """JSON text: systems, measures, method, convention; null for what is not finite.

    Examples
    --------
    >>> import idealrank as ir
    >>> copies = [ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"q": ["x"]}, "RR")] * 2
    >>> json.loads("".join(systems_json(ir.compare_systems(copies, copies))))["measures"]["RR"]["interval"]
    [0.0, 0.0]
    """
    record = found.as_dict()
    record["method"]["schema"] = SCHEMA
    yield json.dumps(finite(record), indent=2) + "\n"


def systems_csv(found: SystemComparison) -> Iterator[str]:
    """CSV with header, a measure a row; variances of training as columns, empty where a side is not trained.

    Examples
    --------
    >>> import idealrank as ir
    >>> copies = [ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"q": ["x"]}, "RR")] * 2
    >>> next(systems_csv(ir.compare_systems(copies, copies)))[:38]
    'a,b,measure,direction,mean_a,mean_b,di'
    """
    records = [_record(found, row) for row in found]
    yield csv_row(list(records[0]))
    for record in records:
        yield csv_row(["" if finite(value) is None else value if isinstance(value, str) else repr(value) for value in record.values()])


def _record(found: SystemComparison, row: SystemDifference) -> dict[str, object]:
    record = row.as_dict()
    low, high = record.pop("interval")
    variance = record.pop("variance")
    copies_a, copies_b = (len(record.pop(name)) for name in ("copies_a", "copies_b"))
    flat: dict[str, object] = {"a": found.a, "b": found.b, "measure": row.measure, **record, "interval_low": low, "interval_high": high}
    flat |= {"copies_a": copies_a, "copies_b": copies_b, "variance_queries": variance["queries"]}
    for of in ("a", "b", "difference"):
        part = variance["training"].get(of, {})
        flat |= {f"variance_{what}_{of}": part.get(what) for what in ("seeds", "residual")}
    return flat | {"convention": str(found.convention)}
