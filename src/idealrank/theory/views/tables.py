"""Theory of measures, and their stability on two rankers, as tables, JSON and CSV."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, NamedTuple, get_args

import numpy as np

from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import columns, filled
from idealrank.theory.distinguishability import Column, Distinguishability
from idealrank.theory.feasible import Feasibility
from idealrank.theory.limits import Limit
from idealrank.theory.relevance import RelevanceModel

_LABEL = 13  # characters before a reason
_DIGITS = 6  # of limits and means in tables


class Ended(NamedTuple):
    """A value, and the interval that data leave about it; both ends are NaN where it is computed
    from a model.
    """

    value: float
    low: float = math.nan
    high: float = math.nan

    def __str__(self) -> str:
        """Return the value, with the interval if there is one."""
        if math.isnan(self.low):
            return f"{self.value:.{_DIGITS}f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def record(self) -> "float | dict[str, float]":
        """Return the JSON record; all machines agree on its twelve digits."""
        numbers = {name: float(f"{number:.12g}") for name, number in self._asdict().items()}
        return numbers["value"] if math.isnan(self.low) else numbers


@dataclass(frozen=True, kw_only=True)
class LimitRow:
    """Theory of one measure for one model."""

    measure: str
    discount: str
    cutoff: str  # Empty for the whole list
    limit: Ended | None  # What it tends to; None where there is no limit
    theorem: str  # Which states the limit, or that there is none
    statement: Limit | None  # Conditions and rate of the limit
    # Reason why there is no limit; for a limit that no theorem states, why there is one
    why_not: str
    means: tuple[Ended | None, ...]  # Its mean at each list length; None where there is no formula


def feasibility_table(measures: Sequence[str], verdicts: Sequence[Feasibility]) -> Iterator[str]:
    """Build the table of measures that can distinguish rankers, with reasons."""
    rows = [["measure", "verdict", "theorem"]]
    for measure, verdict in zip(measures, verdicts, strict=True):
        rows.append([measure, verdict.verdict, verdict.theorem or "-"])
    yield from (f"{line}\n" for line in columns(rows, left=(0, 1, 2)))
    yield from _reasons(measures, verdicts)


def feasibility_json(measures: Sequence[str], verdicts: Sequence[Feasibility]) -> str:
    """Return the feasibility as JSON."""
    rows = [
        {"measure": measure, **_record(each)}
        for measure, each in zip(measures, verdicts, strict=True)
    ]
    return result_json({"feasibility": rows})


def feasibility_rows(measures: Sequence[str], verdicts: Sequence[Feasibility]) -> Iterator[Row]:
    """Return the feasibility as rows of cells, one row a measure."""
    names = ["discount", "cutoff", "verdict", "theorem", "reason", "distinguishes", "errata"]
    yield ["measure", *names]
    for measure, each in zip(measures, verdicts, strict=True):
        yield [measure, *(str(_record(each)[name]) for name in names)]


def _record(verdict: Feasibility) -> dict[str, Any]:
    return asdict(verdict) | {"cutoff": verdict.cutoff.removeprefix("@")}


def _reasons(measures: Sequence[str], verdicts: Sequence[Feasibility]) -> Iterator[str]:
    """Give each reason once, for all measures that have it."""
    measures_of: dict[str, list[str]] = {}
    for measure, verdict in zip(measures, verdicts, strict=True):
        measures_of.setdefault(_reason(verdict), []).append(measure)
    for reason, measures_alike in measures_of.items():
        yield f"\n{_labelled(', '.join(measures_alike))}{reason}"


def _reason(verdict: Feasibility) -> str:
    texts = {"why": verdict.reason, "tells apart": verdict.distinguishes, "note": verdict.errata}
    return "".join(_labelled(text, f"  {label}", _LABEL) for label, text in texts.items() if text)


def _labelled(text: str, label: str = "", width: int = 0) -> str:
    """Lines of a text below each other, behind a label of that width if there is one."""
    return "".join(f"{line}\n" for line in filled(text, label.ljust(width) + "  " if label else ""))


# --- limits ---------------------------------------------------------------------------------------


def limits_json(
    rows: Sequence[LimitRow], sizes: Sequence[int], *, model: RelevanceModel, name: str
) -> str:
    """Return limits for one model and means at some list lengths as JSON; the arguments match
    `limits_table`.
    """
    return result_json(_limits_record(rows, sizes, model, name))


def limits_rows(rows: Sequence[LimitRow], sizes: Sequence[int]) -> Iterator[Row]:
    """Return the limits as rows of cells, one row a measure."""
    yield ["measure", "discount", "cutoff", "limit", "low", "high", "theorem", *_size_heads(sizes)]
    for row in rows:
        yield [
            row.measure,
            row.discount,
            row.cutoff,
            *_cells(row.limit),
            row.theorem,
            *chain.from_iterable(_cells(mean) for mean in row.means),
        ]


def _size_heads(sizes: Sequence[int]) -> list[str]:
    return [f"{word}@{size}" for size in sizes for word in ("mean", "low", "high")]


def _cells(value: Ended | None) -> list[str]:
    if value is None:
        return ["", "", ""]
    return ["" if math.isnan(number) else f"{number:.12g}" for number in value]


def _limits_record(
    rows: Sequence[LimitRow], sizes: Sequence[int], model: RelevanceModel, name: str
) -> dict[str, object]:
    def record(row: LimitRow) -> dict[str, object]:
        return {
            "measure": row.measure,
            "discount": row.discount,
            "cutoff": row.cutoff or None,
            "limit": row.limit and row.limit.record(),
            "theorem": row.theorem,
            "conditions": _conditions(row),
            "rate": row.statement.rate if row.statement else None,
            "why_not": row.why_not if row.limit is None else None,
            "means": {
                str(size): mean and mean.record()
                for size, mean in zip(sizes, row.means, strict=True)
            },
        }

    record_of_model = {
        "name": name,
        "relevant": Ended(model.share).record(),
        "at_top": Ended(model.at_top).record(),
        "gains": list(model.gains),
    }
    return {"model": record_of_model, "limits": [record(row) for row in rows]}


def _conditions(row: LimitRow) -> list[str]:
    if row.statement:
        return list(row.statement.conditions)
    return [row.why_not] if row.limit else []


def limits_table(
    rows: Sequence[LimitRow], sizes: Sequence[int], *, model: RelevanceModel, name: str
) -> Iterator[str]:
    r"""Build the table of limits for one model, with means at some list lengths."""
    expected = "chance of relevance" if model.gains == (1.0,) else "expected gain"
    yield _labelled(
        f"{name}: {100 * model.share:.4g} % of the documents are relevant; {expected} at the very "
        f"top {model.at_top:.4g}"
    )
    yield "\n"
    head = ["measure", "limit", "theorem", *(f"n = {size:,}" for size in sizes)]
    ranks = [0, 0, 0, *range(1, 1 + len(sizes))]
    body = []
    for row in rows:
        means = [_shown(mean, "-") for mean in row.means]
        body.append([row.measure, _shown(row.limit, "none"), row.theorem, *means])
    yield from (f"{line}\n" for line in columns([head, *body], left=(0, 2), ranks=ranks))
    yield (
        "\nlimit: what NDCG of one query tends to as its list grows; n = ...: its mean over lists "
        "of that length\n"
    )
    measures_by_reason: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.why_not:
            label = "none" if row.limit is None else "note"
            measures_by_reason.setdefault((row.why_not, label), []).append(row.measure)
    for (reason, label), measures in measures_by_reason.items():
        yield _labelled(f"{', '.join(measures)}: {reason}", label, 4)
    if len(rows) == 1 and rows[0].statement:
        yield "".join(f"{line}\n" for line in str(rows[0].statement).splitlines()[1:])


def _shown(value: Ended | None, nothing: str) -> str:
    return nothing if value is None else str(value)


_FEW = 8  # sizes of which all rows are shown; of more, some


def distinguished_json(counted: Sequence[Distinguishability], *, measures: Sequence[str]) -> str:
    """Return the counts at every list length as JSON; the arguments match `distinguished_table`."""
    first = counted[0]
    common = {
        "names": list(first.names),
        "source": first.source,
        "runs": first.runs,
        "level": first.level,
        "largest": first.largest,
    }
    rows = [
        {"measure": measure, "sizes": _records(each)}
        for measure, each in zip(measures, counted, strict=True)
    ]
    return result_json({**common, "measures": rows})


def distinguished_rows(
    counted: Sequence[Distinguishability], *, measures: Sequence[str]
) -> Iterator[Row]:
    """Return the counts as rows of cells, one row a measure and list length."""
    yield ["measure", *_records(counted[0])[0]]
    for measure, each in zip(measures, counted, strict=True):
        for record in _records(each):
            yield [measure, *(_cell(value) for value in record.values())]


def _records(counts: Distinguishability) -> list[dict[str, Any]]:
    """A record for each size."""
    columns: dict[str, list[Any]] = {"size": counts.sizes.tolist()}
    for name in get_args(Column):
        low, high = counts.interval(name).round(6).T
        columns |= {
            name: counts.share(name).tolist(),
            f"{name}_low": low.tolist(),
            f"{name}_high": high.tolist(),
        }
    columns["last_decade"] = counts.last_decade.tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _cell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def distinguished_table(
    counted: Sequence[Distinguishability], *, every_size: bool = False
) -> Iterator[str]:
    """Build one table a measure; shared notes follow once, below."""
    sizes = counted[0].sizes
    shown = range(sizes.size) if every_size or sizes.size <= _FEW else _landmarks(sizes.tolist())
    texts = [str(counts).splitlines() for counts in counted]
    end = 2 + sizes.size  # two lines of heads, and one for each size; the rest are notes
    common = [note for note in texts[0][end:] if all(note in lines[end:] for lines in texts)]
    for lines in texts:
        notes = [note for note in lines[end:] if note not in common]
        body = [lines[2 + row] for row in shown]
        yield "".join(f"{line}\n" for line in (*lines[:2], *body, *notes, ""))
    yield "".join(f"{line}\n" for line in common)
    if len(shown) < sizes.size:
        yield (
            f"{sizes.size} list lengths from {sizes[0]:,} to {sizes[-1]:,} were simulated; "
            f"--format csv has all of them.\n"
        )


def _landmarks(sizes: Sequence[int]) -> list[int]:
    """Places of the first and the last size, and of those nearest to 1 and 3 times the powers of
    ten between.
    """
    candidates = [factor * 10**power for power in range(19) for factor in (1, 3)]
    marks = [mark for mark in candidates if sizes[0] < mark < sizes[-1]]
    logs = np.log(np.array(sizes, np.float64))
    nearest = [int(np.abs(logs - np.log(mark)).argmin()) for mark in marks]
    return sorted({0, len(sizes) - 1, *nearest})
