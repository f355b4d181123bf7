"""The per-query table: a row a run and query, a column a measure, as trackers and Parquet have it."""

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from idealrank._lazy import load_extra
from idealrank.errors import MissingExtraError
from idealrank.evaluation.evaluate import Evaluation

Columns: TypeAlias = Mapping[str, Sequence[Any]]


def columns_of(evaluations: Sequence[Evaluation]) -> Columns:
    """Columns ``run``, ``query`` and one a measure; None where a query does not count or has no value.

    Examples
    --------
    >>> import idealrank as ir
    >>> columns_of([ir.evaluate({"q1": {"x": 1}, "q2": {"y": 1}}, {"q1": ["y", "x"]}, "RR")])
    {'run': ['run', 'run'], 'query': ['q1', 'q2'], 'RR': [0.5, 0.0]}
    """
    if not evaluations:
        return {}
    texts = dict.fromkeys(str(measure) for evaluation in evaluations for measure in evaluation.measures)
    columns: dict[str, list[Any]] = {"run": [], "query": []} | {text: [] for text in texts}
    for evaluation in evaluations:
        columns["run"] += [evaluation.name] * len(evaluation.queries)
        columns["query"] += evaluation.queries
        for text in texts:
            columns[text] += _values(evaluation, text)
    return columns


def _values(evaluation: Evaluation, text: str) -> Sequence[Any]:
    if text in evaluation.texts:
        return evaluation.texts[text]
    measured = [str(measure) for measure in evaluation.measures]
    if text not in measured:
        return [None] * len(evaluation.queries)
    place = measured.index(text)
    pairs = zip(evaluation.values[:, place].tolist(), evaluation.scored[:, place].tolist(), strict=True)
    return [value if scored and math.isfinite(value) else None for value, scored in pairs]


def parquet(columns: Columns) -> bytes | None:
    """The table as a Parquet file; None where pyarrow is not installed.

    Examples
    --------
    >>> parquet({"query": ["q1"], "RR": [0.5]})[:4]
    b'PAR1'
    """
    try:
        pyarrow, files = (load_extra(module, "a table of queries", "arrow") for module in ("pyarrow", "pyarrow.parquet"))
    except MissingExtraError:
        return None
    packed = io.BytesIO()
    files.write_table(pyarrow.table(dict(columns)), packed, compression="zstd")
    return packed.getvalue()
