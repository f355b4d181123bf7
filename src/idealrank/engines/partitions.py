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
from idealrank.data.qrels import Qrels, added
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
"""Kind of the rows of a second run, of a comparison."""

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
    numbers: dict[Table, int] = {"qrels": KINDS["qrels"], "run": kind}
    parts: dict[Table, Any] = {
        name: table.filter(pyarrow.array(kinds == number)).select(_CHOSEN.names)
        for name, number in numbers.items()
    }
    for name, part in parts.items():
        _refuse_missing(part, name)
    rows = {
        name: rows_from_table(part, name, _CHOSEN, f"{name}, in a partition", refuse)
        for name, part in parts.items()
    }

    policy = plan.convention.alignment.duplicates
    qrels = row_parts.to_qrels([rows["qrels"]], ["qrels"], "error" if policy == "twice" else policy)
    source: Any = row_parts.to_run([rows["run"]], [plan.name], plan.name).source
    run = Run.from_table(source, name=plan.name)
    return evaluate_part(
        qrels, run, plan.measures, plan.convention, max_documents=plan.max_documents
    )


def _refuse_missing(part: Any, kind: Table) -> None:
    """Refuse null and NaN, with the query and the document of the row: its number in a partition
    has no meaning for a reader.
    """
    value = part.column("value")
    bad = np.isnan(value.to_numpy())
    for name in ("query", "document"):
        column = part.column(name)
        bad |= column.is_null().to_numpy() if column.null_count else False
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        cells = [part.column(name)[row].as_py() for name in _CHOSEN.names]
        query, document, number = (
            decode_id(cell) if isinstance(cell, bytes) else cell for cell in cells
        )
        what = "grade" if kind == "qrels" else "score"
        raise InputError(
            f"{kind}: found query {query!r}, document {document!r}, {what} {number}; expected two "
            "ids and a number in every row"
        )


def whole_queries(batches: Iterable[Any], block: int = _BLOCK) -> Iterator[Any]:
    """Cut record batches that are sorted by query into tables of whole queries: the last query of a
    table waits for the next batch.
    """
    pyarrow = import_module("pyarrow")
    compute = import_module("pyarrow.compute")
    waiting: list[Any] = []
    last: Any = None

    def checked(table: Any) -> Any:
        nonlocal last
        bounds = compute.min_max(table.column("query")).as_py()
        if last is not None and bounds["min"] is not None and bounds["min"] <= last:
            raise InputError(
                f"query {bounds['min']!r} comes in two tables of a partition; expected rows sorted "
                "by query"
            )
        if bounds["max"] is not None:
            last = bounds["max"]
        return table

    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
        if sum(part.num_rows for part in waiting) < block:
            continue
        table = pyarrow.Table.from_batches(waiting)
        query = table.column("query")
        differs = compute.not_equal(query, query[table.num_rows - 1]).to_numpy()
        # sorted: the last query is the end
        cut = int(np.flatnonzero(differs)[-1]) + 1 if differs.any() else 0
        if cut:
            yield checked(table.slice(0, cut))
        waiting = table.slice(cut).to_batches()
    if waiting:
        yield checked(pyarrow.Table.from_batches(waiting))


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
        own = judgments.filter(compute.is_in(judgments.column("query"), value_set=queries))
        names = table.column_names
        yield pyarrow.concat_tables([own.select(names).cast(table.schema), table])


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
        yield _batch([None], [None], [None], [json.dumps({"error": str(error)})])


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
        [*queries, None],
        [*part.values.tolist(), None],
        [*part.scored.tolist(), None],
        [*nothing, counted],
    )


def result_schema() -> Any:
    """Return the schema of the batches that `evaluated_batches` yields."""
    pyarrow = import_module("pyarrow")
    types = (
        pyarrow.binary(),
        pyarrow.list_(pyarrow.float64()),
        pyarrow.list_(pyarrow.bool_()),
        pyarrow.string(),
    )
    return pyarrow.schema(list(zip(("query", "values", "scored", "counts"), types, strict=True)))


def _batch(queries: list[Any], values: list[Any], scored: list[Any], counts: list[Any]) -> Any:
    pyarrow = import_module("pyarrow")
    schema = result_schema()
    columns = [
        pyarrow.array(cells, field.type)
        for cells, field in zip((queries, values, scored, counts), schema, strict=True)
    ]
    return pyarrow.RecordBatch.from_arrays(columns, schema=schema)


def evaluation_of(table: Any, plan: PartitionPlan, judgments: Any = None) -> Evaluation:
    """Return the evaluation of all partitions, from the rows of `evaluated_batches` in any order;
    queries are sorted by id.

    With `judgments`, queries without results are evaluated here: no partition has them.

    Examples
    --------
    >>> import pyarrow
    >>> evaluation_of(
    ...     pyarrow.Table.from_batches([], _batch([], [], [], []).schema), PartitionPlan.of("RR")
    ... )
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
    shape = (rows.num_rows, len(plan.measures))
    flat = {
        name: rows.column(name).combine_chunks().flatten().to_numpy(zero_copy_only=False)
        for name in ("values", "scored")
    }
    queries = [
        query.decode("utf-8", "surrogateescape") for query in rows.column("query").to_pylist()
    ]
    if len(set(queries)) < len(queries):
        twice, _ = Counter(queries).most_common(1)[0]
        raise InputError(
            f"query {twice!r} came back from two partitions; expected all rows of a query in one "
            "partition"
        )

    parts = []
    if records:
        coverages = [Coverage.from_record(record["coverage"]) for record in records]
        coverage = reduce(Coverage.plus, coverages)
        resolved = tuple(str(measure.under(plan.convention)) for measure in plan.measures)
        fingerprint = reduce(added, (record["judgments"] for record in records))
        labels = [record["labels"] for record in records]
        kinds = [None if fields is None else Labels(**fields) for fields in labels]
        provenance = Provenance(
            version=__version__,
            convention=plan.convention,
            measures=resolved,
            max_documents=plan.max_documents,
            judgments=fingerprint,
            labels=reduce(merged_labels, kinds),
        )
        values = flat["values"].reshape(shape)
        scored = flat["scored"].astype(bool).reshape(shape)
        parts.append(
            Evaluation(
                name=plan.name,
                queries=queries,
                measures=plan.measures,
                values=values,
                scored=scored,
                coverage=coverage,
                provenance=provenance,
            )
        )
    if judgments is not None:
        known = set(map(encode_id, queries))
        for record in records:
            known.update(map(encode_id, record["looked_at"]))
        rest = _of_other_queries(judgments, known)
        if rest.num_rows or not parts:
            parts.append(evaluate_rows(rest, plan))
    return finished(parts)


def _of_other_queries(judgments: Any, known: set[bytes]) -> Any:
    pyarrow = import_module("pyarrow")
    compute = import_module("pyarrow.compute")
    column = judgments.column("query")
    queries = pyarrow.array(sorted(known), column.type)
    return judgments.filter(compute.invert(compute.is_in(column, value_set=queries)))


def finished(parts: Sequence[Evaluation]) -> Evaluation:
    """Merge parts, sort the queries by id, and warn as `evaluate` does, except of runs that do not
    fit the judgments.

    The command line names their files in that warning; `warn_of_doubt` gives it in Python.
    """
    left = list(parts)
    while len(left) > 1:  # in pairs, so that every value is copied a few times only
        left = [
            left[at].merge(left[at + 1]) if at + 1 < len(left) else left[at]
            for at in range(0, len(left), 2)
        ]
    warn_of_whole(left[0])
    return left[0].on(sorted(left[0].queries, key=encode_id))


def local_rows(table: Any, kind: Table) -> Any:
    """Return judgments or a run as an Arrow table of `ROWS` and position; inputs are read as
    `evaluate` reads them.
    """
    pyarrow = import_module("pyarrow")
    read: Qrels | Run = to_qrels(table) if kind == "qrels" else to_run(table)
    source: Any = read.table if isinstance(read, Qrels) else read.in_memory().source
    return table_rows(source, kind, pyarrow)


def table_rows(source: Any, kind: Table, pyarrow: Any) -> Any:
    """Return a table of the kernel as an Arrow table of `ROWS` and position; ids go through Python
    a block at a time.
    """
    names = pyarrow.array(source.query_ids(), pyarrow.binary())
    codes = np.repeat(np.arange(source.n_queries, dtype=np.int32), np.diff(source.offsets))
    queries = names.take(pyarrow.array(codes))
    blocks = []
    for begin in range(0, source.n_rows, _BLOCK):
        rows = np.arange(begin, min(begin + _BLOCK, source.n_rows))
        blocks.append(pyarrow.array(source.document_ids(rows), pyarrow.binary()))
    documents = pyarrow.chunked_array(blocks, pyarrow.binary())
    kinds = pyarrow.array(np.full(source.n_rows, KINDS[kind], np.int8))
    columns = [
        queries,
        documents,
        pyarrow.array(source.values),
        kinds,
        pyarrow.array(np.arange(source.n_rows)),
    ]
    return pyarrow.Table.from_arrays(columns, names=[*ROWS, "position"])


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


def _parsed(columns: Sequence[Any], kind: Table, path: str) -> Any:
    pyarrow = import_module("pyarrow")
    compute = import_module("pyarrow.compute")
    lines = pyarrow.concat_arrays(columns)
    # `binary_join` joins the items of a list: all lines become one list
    whole = pyarrow.ListArray.from_arrays(pyarrow.array([0, len(lines)], pyarrow.int32()), lines)
    text = compute.binary_join(whole, b"\n")[0].as_py()
    names = ["query", "document", "grade" if kind == "qrels" else "score", PROBLEM]
    types = [pyarrow.binary(), pyarrow.binary(), pyarrow.float64(), pyarrow.string()]
    try:
        table = read_lines(text, kind, path)
    except IdealrankError as error:
        cells: list[list[Any]] = [[None], [None], [None], [str(error)]]
        refused = [pyarrow.array(cell, type_) for cell, type_ in zip(cells, types, strict=True)]
        return pyarrow.RecordBatch.from_arrays(refused, names=names)
    rows = table_rows(table, kind, pyarrow)
    columns = [rows.column(name).combine_chunks() for name in ("query", "document", "value")]
    problems = pyarrow.nulls(rows.num_rows, pyarrow.string())
    return pyarrow.RecordBatch.from_arrays([*columns, problems], names=names)
