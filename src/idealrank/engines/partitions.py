"""Whole queries as an Arrow table, evaluated where the table is: the one function that engines call
on each of their partitions.

A row has a query, a document and a value; its `kind` is 0 for judgments and 1 for results. An
engine brings all rows of a query together, calls `evaluate_rows` on tables of whole queries, and
merges the evaluations. Engines contain no logic of measures.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from importlib import import_module
from typing import Any

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.label_kinds import Labels, merged_labels
from idealrank.data.qrels import added
from idealrank.data.run import Run
from idealrank.data.types import decode_id, encode_id
from idealrank.errors import IdealrankError, InputError, OptionError
from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.evaluate import Evaluation, Provenance
from idealrank.evaluation.parts import evaluate_part, warn_of_whole
from idealrank.inputs.evaluation import to_qrels, to_run
from idealrank.io import row_parts
from idealrank.io.complaints import refuse
from idealrank.io.formats.arrow import rows_from_table
from idealrank.io.formats.trec import read_lines
from idealrank.io.row_parts import Table
from idealrank.io.table_columns import Chosen
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, default_measures, parse_measures
from idealrank.version import __version__

KINDS: dict[Table, int] = {"qrels": 0, "run": 1}
BASELINE = 2
"""Kind of the rows of run a of a comparison; the rows of run b have the kind of a run."""

ROWS = ("query", "document", "value", "kind")
"""Columns of the rows that engines bring together; `position` follows where the convention asks for
the order of rows.
"""

PROBLEM = "idealrank_problem"
"""Column of rows that were read from text: why a line cannot be used."""

REFUSED = -1
"""Kind of a row that stands for lines that cannot be used; its document says why."""

_BLOCK = 1 << 19  # rows: a few megabytes, and enough for the kernel
_TEXT = 8 << 20  # bytes of lines that are parsed together
_CHOSEN = Chosen("query", "document", "value")  # columns of `ROWS` that the kernel reads


@dataclass(frozen=True, kw_only=True)
class PartitionPlan:
    """Measures and convention of an evaluation in parts, as they are sent to workers."""

    measures: tuple[Measure, ...]  # Measures that look at one query at a time
    convention: Convention  # Convention of every part
    name: str = "run"  # Name of the run
    max_documents: int | None = None  # As for `evaluate`

    @classmethod
    def of(
        cls,
        measures: "MeasureLike | Iterable[MeasureLike] | None",
        convention: "Convention | str" = "standard",
        name: str = "run",
        max_documents: int | None = None,
    ) -> "PartitionPlan":
        """Plan an evaluation in parts; measures whose values are texts are refused."""
        parsed = parse_measures(default_measures() if measures is None else measures)
        for measure in parsed:
            measure.check_tables(())
            if measure.aggregate == "text":
                raise OptionError(f"{measure}: found a measure with text values, expected numbers")
        return cls(
            measures=tuple(parsed),
            convention=Convention.of(convention),
            name=name,
            max_documents=max_documents,
        )


def needs_order(convention: Convention) -> bool:
    """Return whether values depend on the order of rows, which engines do not keep."""
    return needs_order_of("run", convention)


def needs_order_of(kind: Table, convention: Convention) -> bool:
    """Return whether values depend on the order of these rows."""
    alignment = convention.alignment
    is_tied = kind == "run" and alignment.ties == "input"
    return is_tied or alignment.duplicates in ("first", "last")


def refuse_order(kind: Table, convention: Convention, order: str | None) -> None:
    """Refuse a table of an engine without a column that tells the order of its rows, where values
    depend on that.
    """
    if order is None and needs_order_of(kind, convention):
        alignment = convention.alignment
        raise OptionError(
            f"{kind}: convention {convention.name} has ties={alignment.ties} and "
            f"duplicates={alignment.duplicates}, which depend on the order of rows; a dataframe of "
            "an engine has none, since its partitions are read and shuffled in any order; expected "
            "ties=docid or expected, and duplicates=error or best",
            hint="or name a column that numbers the rows with order=",
            command_hint="or use --engine local, which keeps the order of rows",
        )


def evaluate_rows(table: Any, plan: PartitionPlan, *, kind: int = KINDS["run"]) -> Evaluation:
    """Evaluate the queries of an Arrow table, which has every row of each query."""
    pyarrow = import_module("pyarrow")
    compute = import_module("pyarrow.compute")
    is_refused = compute.equal(table.column("kind"), REFUSED)
    if refused := sorted(table.filter(is_refused).column("document").to_pylist()):
        first = refused[0]
        raise InputError(decode_id(first) if isinstance(first, bytes) else first)
    if plan.convention.alignment.ties not in ("docid", "docid-ascending", "input"):
        # sums over tied documents round by their order, which engines do not keep
        table = table.sort_by("document")
    kinds = table.column("kind").to_numpy()

    def rows_of(name: Table, number: int) -> Any:
        selected = table.filter(pyarrow.array(kinds == number)).select(_CHOSEN.names)
        _refuse_missing(selected, name)
        return rows_from_table(selected, name, _CHOSEN, f"{name}, in a partition", refuse)

    judgments = rows_of("qrels", KINDS["qrels"])
    results = rows_of("run", kind)
    policy = plan.convention.alignment.duplicates
    # a run may have a document twice, and judgments may not
    qrels = row_parts.to_qrels([judgments], ["qrels"], "error" if policy == "twice" else policy)
    source: Any = row_parts.to_run([results], [plan.name], plan.name).source
    run = Run.from_table(source, name=plan.name)
    return evaluate_part(
        qrels, run, plan.measures, plan.convention, max_documents=plan.max_documents
    )


def _refuse_missing(rows: Any, kind: Table) -> None:
    """Refuse null and NaN, with the query and the document of the row: its number in a partition
    has no meaning for a reader.
    """
    is_missing = np.isnan(rows.column("value").to_numpy())
    for name in ("query", "document"):
        column = rows.column(name)
        if column.null_count:
            is_missing |= column.is_null().to_numpy()
    if is_missing.any():
        row = int(np.flatnonzero(is_missing)[0])
        cells = [rows.column(name)[row].as_py() for name in _CHOSEN.names]
        query, document, number = (
            decode_id(cell) if isinstance(cell, bytes) else cell for cell in cells
        )
        value_name = "grade" if kind == "qrels" else "score"
        raise InputError(
            f"{kind}: found query {query!r}, document {document!r}, {value_name} {number}; "
            "expected two ids and a number in every row"
        )


def whole_queries(batches: Iterable[Any], block: int = _BLOCK) -> Iterator[Any]:
    """Cut record batches that are sorted by query into tables of whole queries: the last query of a
    table waits for the next batch.
    """
    last_query: Any = None
    for table in _cut_tables(batches, block):
        bounds = import_module("pyarrow.compute").min_max(table.column("query")).as_py()
        first = bounds["min"]
        if last_query is not None and first is not None and first <= last_query:
            raise InputError(
                f"query {first!r} comes in two tables of a partition; expected rows sorted by query"
            )
        if bounds["max"] is not None:
            last_query = bounds["max"]
        yield table


def _cut_tables(batches: Iterable[Any], block: int) -> Iterator[Any]:
    pyarrow = import_module("pyarrow")
    compute = import_module("pyarrow.compute")
    waiting: list[Any] = []
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
        if sum(rows.num_rows for rows in waiting) < block:
            continue
        table = pyarrow.Table.from_batches(waiting)
        query = table.column("query")
        differs = compute.not_equal(query, query[table.num_rows - 1]).to_numpy()
        # sorted: the last query is the end
        cut = int(np.flatnonzero(differs)[-1]) + 1 if differs.any() else 0
        if cut:
            yield table.slice(0, cut)
        waiting = table.slice(cut).to_batches()
    if waiting:
        yield pyarrow.Table.from_batches(waiting)


def judged_tables(tables: Iterable[Any], judgments: Any) -> Iterator[Any]:
    """Add to tables of results the judgments of their queries; without judgments, the tables as
    they are.
    """
    pyarrow = import_module("pyarrow")
    compute = import_module("pyarrow.compute")
    for table in tables:
        if judgments is None:
            yield table
            continue
        queries = compute.unique(table.column("query"))
        is_asked = compute.is_in(judgments.column("query"), value_set=queries)
        of_queries = judgments.filter(is_asked).select(table.column_names).cast(table.schema)
        yield pyarrow.concat_tables([of_queries, table])


def evaluated_batches(
    batches: Iterable[Any], plan: PartitionPlan, judgments: Any = None
) -> Iterator[Any]:
    """Evaluate record batches that are sorted by query; yield a record batch of values for each
    table of whole queries.

    Columns: query (bytes), values and scored (a list over the measures), counts (JSON).
    """
    try:
        for table in judged_tables(whole_queries(batches), judgments):
            yield _encoded(evaluate_rows(table, plan), None if judgments is None else table)
    except IdealrankError as error:
        refusal = json.dumps({"error": str(error)})
        yield _batch(queries=[None], values=[None], scored=[None], counts=[refusal])


def _encoded(part: Evaluation, table: Any) -> Any:
    """Record batch of an evaluation: a row for each query, and a last row of counts."""
    counts = {**asdict(part.coverage), "missing_queries": list(part.coverage.missing_queries)}
    # Queries of the table that do not count; without them, `evaluation_of` would take their
    # judgments for queries without results.
    looked_at: list[str] = []
    if table is not None:
        ids = import_module("pyarrow.compute").unique(table.column("query")).to_pylist()
        looked_at = sorted(set(map(decode_id, ids)) - set(part.queries))
    labels = None if part.provenance.labels is None else asdict(part.provenance.labels)
    counted = json.dumps(
        {
            "coverage": counts,
            "judgments": part.provenance.judgments,
            "labels": labels,
            "looked_at": looked_at,
        }
    )
    queries = [encode_id(query) for query in part.queries]
    nothing = [None] * len(queries)
    return _batch(
        queries=[*queries, None],
        values=[*part.values.tolist(), None],
        scored=[*part.scored.tolist(), None],
        counts=[*nothing, counted],
    )


def result_schema() -> Any:
    """Return the schema of the batches that `evaluated_batches` yields."""
    pyarrow = import_module("pyarrow")
    return pyarrow.schema(
        [
            ("query", pyarrow.binary()),
            ("values", pyarrow.list_(pyarrow.float64())),
            ("scored", pyarrow.list_(pyarrow.bool_())),
            ("counts", pyarrow.string()),
        ]
    )


def _batch(*, queries: list[Any], values: list[Any], scored: list[Any], counts: list[Any]) -> Any:
    cells = {"query": queries, "values": values, "scored": scored, "counts": counts}
    return import_module("pyarrow").RecordBatch.from_pydict(cells, schema=result_schema())


def evaluation_of(table: Any, plan: PartitionPlan, judgments: Any = None) -> Evaluation:
    """Return the evaluation of all partitions, from the rows of `evaluated_batches` in any order;
    queries are sorted by id.

    With `judgments`, queries without results are evaluated here: no partition has them.

    Examples
    --------
    >>> import pyarrow
    >>> evaluation_of(pyarrow.Table.from_batches([], result_schema()), PartitionPlan.of("RR"))
    Traceback (most recent call last):
        ...
    idealrank.errors.InputError: found no rows, expected judgments and results
    """
    records = [json.loads(text) for text in table.column("counts").to_pylist() if text is not None]
    if errors := sorted(record["error"] for record in records if "error" in record):
        raise InputError(errors[0])
    if not records and judgments is None:
        raise InputError("found no rows, expected judgments and results")

    rows = table.filter(import_module("pyarrow.compute").is_valid(table.column("query")))
    queries = [decode_id(query) for query in rows.column("query").to_pylist()]
    if len(set(queries)) < len(queries):
        twice, _ = Counter(queries).most_common(1)[0]
        raise InputError(
            f"query {twice!r} came back from two partitions; expected all rows of a query in one "
            "partition"
        )

    evaluations = [_of_partitions(rows, queries, records, plan)] if records else []
    if judgments is not None:
        evaluated = set(map(encode_id, queries))
        for record in records:
            evaluated.update(map(encode_id, record["looked_at"]))
        others = _of_other_queries(judgments, evaluated)
        if others.num_rows or not evaluations:
            evaluations.append(evaluate_rows(others, plan))
    return finished(evaluations)


def _of_partitions(
    rows: Any, queries: list[str], records: list[dict[str, Any]], plan: PartitionPlan
) -> Evaluation:
    """Join the values of all partitions and add up their counts."""
    shape = (rows.num_rows, len(plan.measures))

    def matrix(name: str) -> Any:
        cells = rows.column(name).combine_chunks().flatten()
        return cells.to_numpy(zero_copy_only=False).reshape(shape)

    labels = [record["labels"] for record in records]
    kinds = [None if fields is None else Labels(**fields) for fields in labels]
    provenance = Provenance(
        version=__version__,
        convention=plan.convention,
        measures=tuple(str(measure.under(plan.convention)) for measure in plan.measures),
        max_documents=plan.max_documents,
        judgments=reduce(added, (record["judgments"] for record in records)),
        labels=reduce(merged_labels, kinds),
    )
    coverages = [Coverage.from_record(record["coverage"]) for record in records]
    return Evaluation(
        name=plan.name,
        queries=queries,
        measures=plan.measures,
        values=matrix("values"),
        scored=matrix("scored").astype(bool),
        coverage=reduce(Coverage.plus, coverages),
        provenance=provenance,
    )


def _of_other_queries(judgments: Any, evaluated: set[bytes]) -> Any:
    pyarrow = import_module("pyarrow")
    compute = import_module("pyarrow.compute")
    column = judgments.column("query")
    queries = pyarrow.array(sorted(evaluated), column.type)
    return judgments.filter(compute.invert(compute.is_in(column, value_set=queries)))


def finished(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Merge evaluations of parts, sort the queries by id, and warn as `evaluate` does, except of
    runs that do not fit the judgments.

    The command line names their files in that warning; `warn_of_doubt` gives it in Python.
    """
    merged = list(evaluations)
    while len(merged) > 1:  # in pairs, so that every value is copied a few times only
        pairs = [merged[place : place + 2] for place in range(0, len(merged), 2)]
        merged = [reduce(Evaluation.merge, pair) for pair in pairs]
    (whole,) = merged
    warn_of_whole(whole)
    return whole.on(sorted(whole.queries, key=encode_id))


def local_rows(table: Any, kind: Table) -> Any:
    """Return judgments or a run as an Arrow table of `ROWS` and position; inputs are read as
    `evaluate` reads them.
    """
    source: Any = to_qrels(table).table if kind == "qrels" else to_run(table).in_memory().source
    return table_rows(source, kind)


def table_rows(source: Any, kind: Table) -> Any:
    """Return a table of the kernel as an Arrow table of `ROWS` and position; ids go through Python
    a block at a time.
    """
    pyarrow = import_module("pyarrow")
    names = pyarrow.array(source.query_ids(), pyarrow.binary())
    codes = np.repeat(np.arange(source.n_queries, dtype=np.int32), np.diff(source.offsets))
    queries = names.take(pyarrow.array(codes))
    blocks = []
    for begin in range(0, source.n_rows, _BLOCK):
        rows = np.arange(begin, min(begin + _BLOCK, source.n_rows))
        blocks.append(pyarrow.array(source.document_ids(rows), pyarrow.binary()))
    documents = pyarrow.chunked_array(blocks, pyarrow.binary())
    kinds = pyarrow.array(np.full(source.n_rows, KINDS[kind], np.int8))
    return pyarrow.table(
        {
            "query": queries,
            "document": documents,
            "value": pyarrow.array(source.values),
            "kind": kinds,
            "position": pyarrow.array(np.arange(source.n_rows)),
        }
    )


def parsed_lines(batches: Iterable[Any], kind: Table, path: str) -> Iterator[Any]:
    """Parse lines of TREC text by the kernel, where an engine has them."""
    waiting: list[Any] = []
    size = 0
    for batch in batches:
        waiting.append(batch.column(0).cast(import_module("pyarrow").binary()))
        size += batch.nbytes
        if size >= _TEXT:
            yield _parsed(waiting, kind, path)
            waiting = []
            size = 0
    if size:
        yield _parsed(waiting, kind, path)


def _parsed(batches_of_lines: Sequence[Any], kind: Table, path: str) -> Any:
    pyarrow = import_module("pyarrow")
    compute = import_module("pyarrow.compute")
    lines = pyarrow.concat_arrays(batches_of_lines)
    # `binary_join` joins the items of a list: all lines become one list
    whole = pyarrow.ListArray.from_arrays(pyarrow.array([0, len(lines)], pyarrow.int32()), lines)
    text = compute.binary_join(whole, b"\n")[0].as_py()
    schema = pyarrow.schema(
        [
            ("query", pyarrow.binary()),
            ("document", pyarrow.binary()),
            ("grade" if kind == "qrels" else "score", pyarrow.float64()),
            (PROBLEM, pyarrow.string()),
        ]
    )
    try:
        table = read_lines(text, kind, path)
    except IdealrankError as error:
        refused = [dict.fromkeys(schema.names) | {PROBLEM: str(error)}]
        return pyarrow.RecordBatch.from_pylist(refused, schema=schema)
    rows = table_rows(table, kind)
    cells = [rows.column(name).combine_chunks() for name in ("query", "document", "value")]
    problems = pyarrow.nulls(rows.num_rows, pyarrow.string())
    return pyarrow.RecordBatch.from_arrays([*cells, problems], schema=schema)
