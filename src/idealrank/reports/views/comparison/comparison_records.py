"""Comparisons for programs: JSON and CSV, with every digit."""

import json
from collections.abc import Iterator

from idealrank.analysis.comparison import Comparison
from idealrank.reports.table.records import SCHEMA, csv_row


def comparison_json(comparison: Comparison) -> Iterator[str]:
    """JSON text: pairs, method, convention; float64 in the shortest form that reads back, null for what is not finite.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> json.loads("".join(comparison_json(ir.compare(one, one))))["pairs"][0]["measures"]["RR"]["interval"]
    [0.0, 0.0]
    """
    record = comparison.as_dict()
    record["method"]["schema"] = SCHEMA
    yield json.dumps(record, indent=2) + "\n"


def comparison_csv(comparison: Comparison) -> Iterator[str]:
    """CSV with header, a pair and measure a row, and below it its slices; empty where a number is not finite or was not measured.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> next(comparison_csv(ir.compare(one, one)))[:40]
    'a,b,measure,direction,mean_a,mean_b,diff'
    """
    method = comparison.method
    how = {"test": method.test, "seed": method.seed, "convention": str(comparison.convention)}
    records = [record | how for record in comparison.records()]
    yield csv_row(list(records[0]))
    for record in records:
        yield csv_row(["" if value is None else value if isinstance(value, str) else repr(value) for value in record.values()])
