"""Why two runs differ, for programs: JSON and CSV."""

import json
from collections.abc import Iterator
from dataclasses import asdict, fields

from idealrank.analysis.attribution import Attribution, QueryChange
from idealrank.data.interchange import finite
from idealrank.reports.table.records import SCHEMA, csv_row
from idealrank.version import __version__


def attribution_json(found: Attribution, *, queries: int | None = None, documents: int | None = None) -> Iterator[str]:
    """JSON text: moves, queries with their documents, convention; float64 in the shortest form that reads back.

    Parameters
    ----------
    found : Attribution
        What is to be written.
    queries, documents : int, optional
        At most so many queries, the worst first; so many documents of each.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.attribute({"q": {"a": 1}}, {"q": ["a"]}, {"q": ["x", "a"]}, "RR")
    >>> json.loads("".join(attribution_json(found)))["queries"][0]["documents"][0]["move"]
    'moved down'
    """
    record = found.as_dict(queries=queries, documents=documents)
    yield json.dumps(finite({"version": __version__, "schema": SCHEMA, **record}), indent=2) + "\n"


def attribution_csv(found: Attribution, *, queries: int | None = None) -> Iterator[str]:
    r"""CSV with header, a query a row, the worst change first.

    Parameters
    ----------
    found : Attribution
        What is to be written.
    queries : int, optional
        At most so many.

    Examples
    --------
    >>> import idealrank as ir
    >>> rows = [*attribution_csv(ir.attribute({"q": {"a": 1}}, {"q": ["a"]}, {"q": ["x", "a"]}, "RR"))]
    >>> rows[0][:48], rows[1][:27]
    ('run_a,run_b,measure,query,value_a,value_b,differ', 'A,B,RR,q,1.0,0.5,-0.5,True,')
    """
    names = [field.name for field in fields(QueryChange)]
    yield csv_row(["run_a", "run_b", "measure", *names, "convention"])
    for query in found.queries[:queries]:
        values = ["" if finite(value) is None else value if isinstance(value, str) else repr(value) for value in asdict(query).values()]
        yield csv_row([found.run_a, found.run_b, found.measure, *values, str(found.convention)])
