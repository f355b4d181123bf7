"""Whole queries as an Arrow table, evaluated where the table is: the one function that engines call on each of their partitions.

A row has a query, a document and a value; `kind` tells judgments (0) from results (1). An engine brings all rows of a query together,
calls `evaluate_rows` on tables of whole queries, and merges what comes back. Engines hold no logic of measures.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from importlib import import_module
from typing import Any

import numpy as np

from idealrank.api.evaluation import to_qrels, to_run, warn_of_doubt
from idealrank.conventions import Convention
from idealrank.data.fingerprints import added
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import decode_id, encode_id, table_columns
from idealrank.errors import IdealrankError, InputError, OptionError
from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.evaluate import Evaluation, Provenance
from idealrank.evaluation.parts import evaluate_part, warn_of_whole
from idealrank.io import row_parts
from idealrank.io.complaints import refuse
from idealrank.io.formats.arrow import rows_from_table
from idealrank.io.row_parts import Table
from idealrank.io.table_columns import Chosen
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, default_measures, parse_measures
from idealrank.version import __version__

KINDS: dict[Table, int] = {"qrels": 0, "run": 1}
ROWS = ("query", "document", "value", "kind")
"""Columns of the rows that engines bring together; `position` follows where the convention asks for the order of rows."""

_BLOCK = 1 << 19  # rows: a few megabytes, and enough for the kernel
_CHOSEN = Chosen("query", "document", "value")


@dataclass(frozen=True)
class PartitionPlan:
    """Measures and convention of an evaluation in parts, as they are sent to workers.

    Attributes
    ----------
    measures : tuple of Measure
        Measures that look at one query at a time.
    convention : Convention
        Convention of every part.
    name : str
        Name of the run.
    max_documents : int or None
        As for `evaluate`.

    Examples
    --------
    >>> PartitionPlan.of("nDCG@10").needs_order, PartitionPlan.of("nDCG@10", "standard,ties=input").needs_order
    (False, True)
    """

    measures: tuple[Measure, ...]
    convention: Convention
    name: str = "run"
    max_documents: int | None = None

    @classmethod
    def of(
        cls,
        measures: "MeasureLike | Iterable[MeasureLike] | None",
        convention: "Convention | str" = "standard",
        name: str = "run",
        max_documents: int | None = None,
    ) -> "PartitionPlan":
        """PartitionPlan an evaluation.

        Raises
        ------
        OptionError
            A measure or the convention is unknown, or a measure has text values or needs more than grades.
        """
        asked = parse_measures(default_measures() if measures is None else measures)
        for measure in asked:
            measure.check_tables(())
            if measure.aggregate == "text":
                raise OptionError(f"{measure}: found a measure with text values, expected numbers")
        return cls(tuple(asked), Convention.of(convention), name, max_documents)

    @property
    def needs_order(self) -> bool:
        """True if values depend on the order of rows, which engines do not keep."""
        return needs_order(self.convention)


def needs_order(convention: Convention) -> bool:
    """Return whether values under a convention depend on the order of rows.

    Examples
    --------
    >>> needs_order(Convention.of("standard")), needs_order(Convention.of("standard,ties=input"))
    (False, True)
    """
    return convention.alignment.ties == "input" or convention.alignment.duplicates in ("first", "last")


def evaluate_rows(table: Any, plan: PartitionPlan) -> Evaluation:
    """Evaluate the queries of an Arrow table, which has every row of each.

    Parameters
    ----------
    table : pyarrow.Table
        Columns query and document (text or bytes), value (a number) and kind (0: judgments, 1: results), in any order of rows.
    plan : PartitionPlan
        Measures and convention.

    Raises
    ------
    InputError
        A value is missing or not a number, or a document is judged twice and the convention refuses that.

    Examples
    --------
    >>> import pyarrow
    >>> rows = {"query": ["q", "q", "q"], "document": ["a", "b", "a"], "value": [1.0, 0.9, 0.4], "kind": [0, 1, 1]}
    >>> evaluate_rows(pyarrow.table(rows), PartitionPlan.of("RR")).mean()
    {'RR': 0.5}
    """
    if plan.convention.alignment.ties not in ("docid", "docid-ascending", "input"):
        table = table.sort_by("document")  # sums over tied documents round by their order, which engines do not keep
    kinds = table.column("kind").to_numpy()
    parts: dict[Table, Any] = {
        name: table.filter(import_module("pyarrow").array(kinds == kind)).select(_CHOSEN.names) for name, kind in KINDS.items()
    }
    for kind, part in parts.items():
        _refuse_missing(part, kind)
    rows = {kind: rows_from_table(part, kind, _CHOSEN, f"{kind}, in a partition", refuse) for kind, part in parts.items()}
    policy = plan.convention.alignment.duplicates
    qrels = row_parts.to_qrels([rows["qrels"]], ["qrels"], "error" if policy == "twice" else policy)
    source: Any = row_parts.to_run([rows["run"]], [plan.name], plan.name).source
    run = Run.from_table(source, name=plan.name)
    return evaluate_part(qrels, run, plan.measures, plan.convention, max_documents=plan.max_documents)


def _refuse_missing(part: Any, kind: Table) -> None:
    """Refuse null and NaN by the row's query and document: its number in a partition tells nothing."""
    value = part.column("value")
    bad = np.isnan(value.to_numpy())
    for name in ("query", "document"):
        column = part.column(name)
        bad |= column.is_null().to_numpy() if column.null_count else False
    if bad.any():
        cells = (part.column(name)[int(np.flatnonzero(bad)[0])].as_py() for name in _CHOSEN.names)
        query, document, number = (decode_id(cell) if isinstance(cell, bytes) else cell for cell in cells)
        what = "grade" if kind == "qrels" else "score"
        raise InputError(
            f"{kind}: found query {query!r}, document {document!r}, {what} {number}; expected two ids and a number in every row"
        )


def whole_queries(batches: Iterable[Any], block: int = _BLOCK) -> Iterator[Any]:
    """Cut record batches that are sorted by query into tables of whole queries: the last query of a table waits for the next batch.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Sorted by the column query; a query may go on in later batches.
    block : int
        Rows from which a table is handed on.

    Raises
    ------
    InputError
        A query comes back after its table was handed on.

    Examples
    --------
    >>> import pyarrow
    >>> batches = [pyarrow.record_batch({"query": names}) for names in (["a", "b"], [], ["b", "c"])]
    >>> [table.column("query").to_pylist() for table in whole_queries(batches, 1)]
    [['a'], ['b', 'b'], ['c']]
    """
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    waiting: list[Any] = []
    last: Any = None

    def checked(table: Any) -> Any:
        nonlocal last
        bounds = compute.min_max(table.column("query")).as_py()
        if last is not None and bounds["min"] is not None and bounds["min"] <= last:
            raise InputError(f"query {bounds['min']!r} comes in two tables of a partition; expected rows sorted by query")
        last = bounds["max"] if bounds["max"] is not None else last
        return table

    for batch in batches:
        waiting += [batch] if batch.num_rows else []
        if sum(one.num_rows for one in waiting) < block:
            continue
        table = pyarrow.Table.from_batches(waiting)
        query = table.column("query")
        differs = compute.not_equal(query, query[table.num_rows - 1]).to_numpy()
        cut = int(np.flatnonzero(differs)[-1]) + 1 if differs.any() else 0  # sorted: the last query is the end
        if cut:
            yield checked(table.slice(0, cut))
        waiting = table.slice(cut).to_batches()
    if waiting:
        yield checked(pyarrow.Table.from_batches(waiting))


def evaluated_batches(batches: Iterable[Any], plan: PartitionPlan) -> Iterator[Any]:
    """Evaluate record batches that are sorted by query; yield a record batch of values for each table of whole queries.

    Columns: query (bytes), values and scored (a list over the measures), counts (JSON). The last row of a batch has the counts alone. An
    error of the input is such a row, too, so that no engine tries the partition again.

    Examples
    --------
    >>> import pyarrow
    >>> rows = pyarrow.record_batch({"query": ["q", "q"], "document": ["a", "a"], "value": [1.0, 0.4], "kind": [0, 1]})
    >>> found = evaluated_batches([rows], PartitionPlan.of("RR"))
    >>> evaluation_of(pyarrow.Table.from_batches(found), PartitionPlan.of("RR")).mean()
    {'RR': 1.0}
    """
    try:
        for table in whole_queries(batches):
            yield _encoded(evaluate_rows(table, plan))
    except IdealrankError as error:
        yield _batch([None], [None], [None], [json.dumps({"error": str(error)})])


def _encoded(part: Evaluation) -> Any:
    counts = {**asdict(part.coverage), "missing_queries": list(part.coverage.missing_queries)}
    said = json.dumps({"coverage": counts, "judgments": part.provenance.judgments})
    queries = [encode_id(query) for query in part.queries]
    nothing = [None] * len(queries)
    return _batch([*queries, None], [*part.values.tolist(), None], [*part.scored.tolist(), None], [*nothing, said])


def _batch(queries: list[Any], values: list[Any], scored: list[Any], counts: list[Any]) -> Any:
    pyarrow = import_module("pyarrow")
    kinds = {
        "query": pyarrow.binary(),
        "values": pyarrow.list_(pyarrow.float64()),
        "scored": pyarrow.list_(pyarrow.bool_()),
        "counts": pyarrow.string(),
    }
    columns = [pyarrow.array(cells, kind) for cells, kind in zip((queries, values, scored, counts), kinds.values(), strict=True)]
    return pyarrow.RecordBatch.from_arrays(columns, names=list(kinds))


def evaluation_of(table: Any, plan: PartitionPlan) -> Evaluation:
    """The evaluation of all partitions, from the rows of `evaluated_batches` in any order; queries sorted by id.

    Raises
    ------
    InputError
        A partition refused its input, or a query came back from two partitions.

    Examples
    --------
    >>> import pyarrow
    >>> evaluation_of(pyarrow.Table.from_batches([], _batch([], [], [], []).schema), PartitionPlan.of("RR"))
    Traceback (most recent call last):
        ...
    idealrank.errors.InputError: found no rows, expected judgments and results
    """
    said = [json.loads(text) for text in table.column("counts").to_pylist() if text is not None]
    if errors := sorted(one["error"] for one in said if "error" in one):
        raise InputError(errors[0])
    if not said:
        raise InputError("found no rows, expected judgments and results")
    rows = table.filter(import_module("pyarrow.compute").is_valid(table.column("query")))
    shape = (rows.num_rows, len(plan.measures))
    flat = {name: rows.column(name).combine_chunks().flatten().to_numpy(zero_copy_only=False) for name in ("values", "scored")}
    queries = [query.decode("utf-8", "surrogateescape") for query in rows.column("query").to_pylist()]
    if len(set(queries)) < len(queries):
        twice, _ = max(Counter(queries).items(), key=lambda item: item[1])
        raise InputError(f"query {twice!r} came back from two partitions; expected all rows of a query in one partition")
    coverage = reduce(Coverage.plus, (Coverage(**one["coverage"]) for one in said))
    judgments = reduce(added, (one["judgments"] for one in said))
    resolved = tuple(str(measure.under(plan.convention)) for measure in plan.measures)
    provenance = Provenance(__version__, plan.convention, resolved, (), plan.max_documents, judgments)
    values, scored = flat["values"].reshape(shape), flat["scored"].astype(bool).reshape(shape)
    return finished([Evaluation(plan.name, queries, plan.measures, values, scored, coverage, provenance)])


def finished(parts: Sequence[Evaluation]) -> Evaluation:
    """Merge parts, sort the queries by id, and warn as `evaluate` does.

    Examples
    --------
    >>> from idealrank.api.evaluation import evaluate
    >>> finished([evaluate({q: {"a": 1}}, {q: ["a"]}, "RR") for q in ("q2", "q1")]).queries
    ['q1', 'q2']
    """
    left = list(parts)
    while len(left) > 1:  # in pairs, so that every value is copied a few times only
        left = [left[at].merge(left[at + 1]) if at + 1 < len(left) else left[at] for at in range(0, len(left), 2)]
    warn_of_whole(left[0])
    whole = left[0].on(sorted(left[0].queries, key=encode_id))
    warn_of_doubt(whole)
    return whole


def local_rows(table: Any, kind: Table) -> Any:
    """Judgments or a run that this process holds, or reads as `evaluate` does, as an Arrow table of `ROWS` and position.

    Examples
    --------
    >>> local_rows({"q": {"a": 1}}, "qrels").to_pylist()
    [{'query': b'q', 'document': b'a', 'value': 1.0, 'kind': 0, 'position': 0}]
    """
    pyarrow = import_module("pyarrow")
    read: Qrels | Run = to_qrels(table) if kind == "qrels" else to_run(table)
    source: Any = read.table if isinstance(read, Qrels) else read.in_memory().source
    queries, documents, values = table_columns(source)
    ids = [pyarrow.array(column, pyarrow.binary()) for column in (queries, documents)]
    kinds = pyarrow.array(np.full(values.size, KINDS[kind], np.int8))
    positions = pyarrow.array(np.arange(values.size))
    return pyarrow.Table.from_arrays([*ids, pyarrow.array(values), kinds, positions], names=[*ROWS, "position"])
