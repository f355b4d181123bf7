"""Stability of measures on two rankers, as tables, JSON and CSV."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import numpy as np

from idealrank.reports.table.records import SCHEMA, csv_row
from idealrank.theory.distinguishability import Column, Distinguishability
from idealrank.version import __version__

_FEW = 8  # so many rows are shown of each measure


def distinguished_json(measures: Sequence[str], found: Sequence[Distinguishability]) -> str:
    """Return the counts at every list length as JSON; the arguments match `distinguished_table`.

    Examples
    --------
    >>> from idealrank.theory import distinguish
    >>> found = distinguish(lambda s: s, lambda s: 0.5, sizes=[10], runs=9, rng=1)
    >>> json.loads(distinguished_json(["nDCG"], [found]))["runs"]
    9
    """
    first = found[0]
    told = {"names": list(first.names), "source": first.source, "runs": first.runs, "level": first.level, "largest": first.largest}
    rows = [{"measure": measure, "sizes": _records(each)} for measure, each in zip(measures, found, strict=True)]
    return json.dumps({"version": __version__, "schema": SCHEMA, **told, "measures": rows}, indent=2) + "\n"


def distinguished_csv(measures: Sequence[str], found: Sequence[Distinguishability]) -> Iterator[str]:
    """Return the counts as CSV, one row a measure and list length.

    Examples
    --------
    >>> from idealrank.theory import distinguish
    >>> found = distinguish(lambda s: s, lambda s: 0.5, sizes=[10], runs=9, rng=1)
    >>> "".join(distinguished_csv(["nDCG"], [found]))[:41]
    'measure,size,a_better,a_better_low,a_bett'
    """
    yield csv_row(["measure", *_records(found[0])[0]])
    for measure, each in zip(measures, found, strict=True):
        yield from (csv_row([measure, *(_cell(value) for value in record.values())]) for record in _records(each))


def _records(found: Distinguishability) -> list[dict[str, Any]]:
    """A record for each size."""
    columns: dict[str, list[Any]] = {"size": found.sizes.tolist()}
    for name in get_args(Column):
        low, high = found.interval(name).round(6).T
        columns |= {name: found.share(name).tolist(), f"{name}_low": low.tolist(), f"{name}_high": high.tolist()}
    columns["last_decade"] = found.last_decade.tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _cell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def distinguished_table(_measures: Sequence[str], found: Sequence[Distinguishability], *, every_size: bool = False) -> Iterator[str]:
    """Build one table a measure; shared notes follow once, below.

    Parameters
    ----------
    _measures : sequence of str
        Their texts, which the tables know.
    found : sequence of Distinguishability
        One for each, of the same lists.
    every_size : bool
        Show all list lengths, not only some.

    Examples
    --------
    >>> from idealrank.theory import distinguish
    >>> found = distinguish(lambda s: s, lambda s: 0.5, sizes=[10], runs=9, rng=1)
    >>> "9 growing lists" in "".join(distinguished_table(["nDCG"], [found]))
    True
    """
    sizes = found[0].sizes
    shown = range(sizes.size) if every_size or sizes.size <= _FEW else _landmarks(sizes.tolist())
    texts = [str(each).splitlines() for each in found]
    end = 2 + sizes.size
    common = [line for line in texts[0][end:] if all(line in lines[end:] for lines in texts)]
    for lines in texts:
        own = [line for line in lines[end:] if line not in common]
        yield "".join(f"{line}\n" for line in (*lines[:2], *(lines[2 + place] for place in shown), *own)) + "\n"
    yield "".join(f"{line}\n" for line in common)
    if len(shown) < sizes.size:
        yield f"{sizes.size} list lengths from {sizes[0]:,} to {sizes[-1]:,} were looked at; --format csv has all of them.\n"


def _landmarks(sizes: Sequence[int]) -> list[int]:
    """Places of the first and the last size, and of those nearest to 1 and 3 times the powers of ten between."""
    marks = [factor * 10**power for power in range(19) for factor in (1, 3) if sizes[0] < factor * 10**power < sizes[-1]]
    logs = np.log(np.array(sizes, np.float64))
    return sorted({0, len(sizes) - 1, *(int(np.abs(logs - np.log(mark)).argmin()) for mark in marks)})
