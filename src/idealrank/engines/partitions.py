"""Whole queries as an Arrow table, evaluated where the table is: the one function that engines call
on each of their partitions.

A row has a query, a document and a value; `kind` tells judgments (0) from results (1). An engine
brings all rows of a query together, calls `evaluate_rows` on tables of whole queries, and merges
what comes back. Engines hold no logic of measures.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from importlib import import_module
from typing import Any

import numpy as np

from idealrank.api.evaluation import to_qrels, to_run
from idealrank.conventions import Convention
from idealrank.data.label_kinds import Labels, merged_labels
from idealrank.data.qrels import Qrels, added
from idealrank.data.run import Run
from idealrank.data.types import decode_id, encode_id
from idealrank.errors import IdealrankError, InputError, OptionError
from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.evaluate import Evaluation, Provenance
from idealrank.evaluation.parts import evaluate_part, warn_of_whole
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
_CHOSEN = Chosen("query", "document", "value")


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
        asked = parse_measures(default_measures() if measures is None else measures)
        for measure in asked:
            measure.check_tables(())
            if measure.aggregate == "text":
                raise OptionError(f"{measure}: found a measure with text values, expected numbers")
        return cls(
            measures=tuple(asked),
            convention=Convention.of(convention),
            name=name,
            max_documents=max_documents,
        )

    @property
    def needs_order(self) -> bool:
        """True if values depend on the order of rows, which engines do not keep."""
        return needs_order(self.convention)


def needs_order(convention: Convention) -> bool:
    """Return whether values under a convention depend on the order of rows."""
    return convention.alignment.ties == "input" or convention.alignment.duplicates in (
        "first",
        "last",
    )


def needs_order_of(kind: Table, convention: Convention) -> bool:
    """Return whether values depend on the order of these rows."""
    return convention.alignment.duplicates in ("first", "last") or (
        kind == "run" and convention.alignment.ties == "input"
    )


def refuse_order(kind: Table, convention: Convention, order: str | None) -> None:
    """Refuse a table of an engine without a column that tells the order of its rows, where values
    depend on that.
    """
    if order is None and needs_order_of(kind, convention):
        alignment = convention.alignment
        raise OptionError(
            f"{kind}: convention {convention.name} has ties={alignment.ties} and "
            f"duplicates={alignment.duplicates}, which depend on the "
            "order of rows; a dataframe of an engine has none, since its partitions are read "
            "and shuffled in any order; expected "
            "ties=docid or expected, and duplicates=error or best",
            hint="or name a column that numbers the rows with order=",
            command_hint="or use --engine local, which keeps the order of rows",
        )


def evaluate_rows(table: Any, plan: PartitionPlan, *, kind: int = KINDS["run"]) -> Evaluation:
    """Evaluate the queries of an Arrow table, which has every row of each."""
    if refused := sorted(
        table.filter(import_module("pyarrow.compute").equal(table.column("kind"), REFUSED))
        .column("document")
        .to_pylist()
    ):
        raise InputError(decode_id(refused[0]) if isinstance(refused[0], bytes) else refused[0])
    if plan.convention.alignment.ties not in ("docid", "docid-ascending", "input"):
        # sums over tied documents round by their order, which engines do not keep
        table = table.sort_by("document")
    kinds = table.column("kind").to_numpy()
    numbers: dict[Table, int] = {"qrels": KINDS["qrels"], "run": kind}
    parts: dict[Table, Any] = {
        name: table.filter(import_module("pyarrow").array(kinds == number)).select(_CHOSEN.names)
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
    """Refuse null and NaN by the row's query and document: its number in a partition tells
    nothing.
    """
    value = part.column("value")
    bad = np.isnan(value.to_numpy())
    for name in ("query", "document"):
        column = part.column(name)
        bad |= column.is_null().to_numpy() if column.null_count else False
    if bad.any():
        cells = (part.column(name)[int(np.flatnonzero(bad)[0])].as_py() for name in _CHOSEN.names)
        query, document, number = (
            decode_id(cell) if isinstance(cell, bytes) else cell for cell in cells
        )
        what = "grade" if kind == "qrels" else "score"
        raise InputError(
            f"{kind}: found query {query!r}, document {document!r}, {what} {number}; expected "
            f"two ids and a number in every row"
        )


def whole_queries(batches: Iterable[Any], block: int = _BLOCK) -> Iterator[Any]:
    """Cut record batches that are sorted by query into tables of whole queries: the last query of a
    table waits for the next batch.
    """
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    waiting: list[Any] = []
    last: Any = None

    def checked(table: Any) -> Any:
        nonlocal last
        bounds = compute.min_max(table.column("query")).as_py()
        if last is not None and bounds["min"] is not None and bounds["min"] <= last:
            raise InputError(
                f"query {bounds['min']!r} comes in two tables of a partition; expected rows "
                f"sorted by query"
            )
        last = bounds["max"] if bounds["max"] is not None else last
        return table

    for batch in batches:
        waiting += [batch] if batch.num_rows else []
        if sum(one.num_rows for one in waiting) < block:
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
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    for table in tables:
        if judgments is None:
            yield table
            continue
        own = judgments.filter(
            compute.is_in(
                judgments.column("query"), value_set=compute.unique(table.column("query"))
            )
        )
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
    counts = {**asdict(part.coverage), "missing_queries": list(part.coverage.missing_queries)}
    # queries that do not count: who evaluates the rest of the judgments must know them
    looked_at: list[str] = []
    if table is not None:
        looked_at = sorted(
            set(
                map(
                    decode_id,
                    import_module("pyarrow.compute").unique(table.column("query")).to_pylist(),
                )
            )
            - set(part.queries)
        )
    labels = None if part.provenance.labels is None else asdict(part.provenance.labels)
    said = json.dumps(
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
        [*nothing, said],
    )


def result_schema() -> Any:
    """Schema of the batches that `evaluated_batches` yields."""
    pyarrow = import_module("pyarrow")
    types = (
        pyarrow.binary(),
        pyarrow.list_(pyarrow.float64()),
        pyarrow.list_(pyarrow.bool_()),
        pyarrow.string(),
    )
    return pyarrow.schema(list(zip(("query", "values", "scored", "counts"), types, strict=True)))


def _batch(queries: list[Any], values: list[Any], scored: list[Any], counts: list[Any]) -> Any:
    pyarrow, schema = import_module("pyarrow"), result_schema()
    columns = [
        pyarrow.array(cells, field.type)
        for cells, field in zip((queries, values, scored, counts), schema, strict=True)
    ]
    return pyarrow.RecordBatch.from_arrays(columns, schema=schema)


def evaluation_of(table: Any, plan: PartitionPlan, judgments: Any = None) -> Evaluation:
    """The evaluation of all partitions, from the rows of `evaluated_batches` in any order; queries
    sorted by id.

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
    said = [json.loads(text) for text in table.column("counts").to_pylist() if text is not None]
    if errors := sorted(one["error"] for one in said if "error" in one):
        raise InputError(errors[0])
    if not said and judgments is None:
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
        twice, _ = max(Counter(queries).items(), key=lambda item: item[1])
        raise InputError(
            f"query {twice!r} came back from two partitions; expected all rows of a query in "
            f"one partition"
        )
    parts = []
    if said:
        coverage = reduce(Coverage.plus, (Coverage.from_record(one["coverage"]) for one in said))
        resolved = tuple(str(measure.under(plan.convention)) for measure in plan.measures)
        fingerprint = reduce(added, (one["judgments"] for one in said))
        kinds = [None if one["labels"] is None else Labels(**one["labels"]) for one in said]
        provenance = Provenance(
            version=__version__,
            convention=plan.convention,
            measures=resolved,
            max_documents=plan.max_documents,
            judgments=fingerprint,
            labels=reduce(merged_labels, kinds),
        )
        values, scored = flat["values"].reshape(shape), flat["scored"].astype(bool).reshape(shape)
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
        known = {
            *map(encode_id, queries),
            *(encode_id(query) for one in said for query in one["looked_at"]),
        }
        rest = _of_other_queries(judgments, known)
        parts += [evaluate_rows(rest, plan)] if rest.num_rows or not parts else []
    return finished(parts)


def _of_other_queries(judgments: Any, known: set[bytes]) -> Any:
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    column = judgments.column("query")
    return judgments.filter(
        compute.invert(compute.is_in(column, value_set=pyarrow.array(sorted(known), column.type)))
    )


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
    """Judgments or a run that this process holds, or reads as `evaluate` does, as an Arrow table of
    `ROWS` and position.
    """
    pyarrow = import_module("pyarrow")
    read: Qrels | Run = to_qrels(table) if kind == "qrels" else to_run(table)
    source: Any = read.table if isinstance(read, Qrels) else read.in_memory().source
    return table_rows(source, kind, pyarrow)


def table_rows(source: Any, kind: Table, pyarrow: Any) -> Any:
    """A table of the kernel as an Arrow table of `ROWS` and position; a part at a time goes through
    Python.
    """
    names = pyarrow.array(source.query_ids(), pyarrow.binary())
    codes = np.repeat(np.arange(source.n_queries, dtype=np.int32), np.diff(source.offsets))
    queries = names.take(pyarrow.array(codes))
    steps = range(0, source.n_rows, _BLOCK)
    blocks = [
        pyarrow.array(
            source.document_ids(np.arange(begin, min(begin + _BLOCK, source.n_rows))),
            pyarrow.binary(),
        )
        for begin in steps
    ]
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
            waiting, size = [], 0
    if size:
        yield _parsed(waiting, kind, path)


def _parsed(columns: Sequence[Any], kind: Table, path: str) -> Any:
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    lines = pyarrow.concat_arrays(columns)
    whole = pyarrow.ListArray.from_arrays(pyarrow.array([0, len(lines)], pyarrow.int32()), lines)
    text = compute.binary_join(whole, b"\n")[0].as_py()
    names = ["query", "document", "grade" if kind == "qrels" else "score", PROBLEM]
    types = [pyarrow.binary(), pyarrow.binary(), pyarrow.float64(), pyarrow.string()]
    try:
        table = read_lines(text, kind, path)
    except IdealrankError as error:
        cells: list[list[Any]] = [[None], [None], [None], [str(error)]]
        return pyarrow.RecordBatch.from_arrays(
            [pyarrow.array(c, t) for c, t in zip(cells, types, strict=True)], names=names
        )
    rows = table_rows(table, kind, pyarrow)
    columns = [rows.column(name).combine_chunks() for name in ("query", "document", "value")]
    columns = [
        column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
        for column in columns
    ]
    return pyarrow.RecordBatch.from_arrays(
        [*columns, pyarrow.nulls(rows.num_rows, pyarrow.string())], names=names
    )
