"""One query of judgments or of a run, as a collection of its own."""

import numpy as np

from idealrank import _kernel
from idealrank.data.problems import translate
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import sought_id

_LINE = 40  # bytes of a usual line of a text, for estimates


def qrels_of_query(qrels: Qrels, query_id: str) -> Qrels:
    """The judgments of one query; none at all where the query has none."""
    table = qrels.table
    query_bytes = sought_id(query_id)
    query = table.find_query(query_bytes)
    rows = (
        np.arange(table.offsets[query], table.offsets[query + 1])
        if query >= 0
        else np.zeros(0, np.int64)
    )
    name = qrels.paths[0] if qrels.paths else qrels.name
    return Qrels.from_columns(
        [query_bytes] * rows.size, table.document_ids(rows), qrels.grades[rows], name=name
    )


def run_of_query(run: Run, query_id: str) -> Run | None:
    """Return the list of a run for one query, duplicates kept, in input order; None without an
    answer.
    """
    table = run.source
    query_bytes = sought_id(query_id)
    if isinstance(table, _kernel.Text):
        try:
            table = _kernel.read_text(table, duplicates="keep", only_query=query_bytes)
        except _kernel.ParseError as error:
            raise translate(error, run.paths, "run") from None
    query = table.find_query(query_bytes)
    if query < 0:
        return None
    rows = np.arange(table.offsets[query], table.offsets[query + 1])
    if not rows.size:
        return Run({query_id: {}}, name=run.name)
    return Run.from_columns(
        [query_bytes] * rows.size, table.document_ids(rows), table.values[rows], name=run.name
    )


def in_memory(run: Run) -> Run:
    r"""Return the run as a table read once, if it is text: a single query of a text costs a pass
    over all of it.
    """
    if isinstance(run.source, _kernel.Table):
        return run
    try:
        table = _kernel.read_text(run.source, duplicates="keep")
    except _kernel.ParseError as error:
        raise translate(error, run.paths, "run") from None
    run.let_go()
    return Run.from_table(table, name=run.name, paths=run.paths)


def in_memory_where_distinct(run: Run) -> Run:
    r"""Return the run as a table read once; text that is wrong, or lists a document twice, stays
    text, whose errors name the line.

    Examples
    --------
    >>> texts = (b"q1 Q0 d1 1 2.5 tag\n", b"q1 Q0 d1 1 2.5 tag\n" * 2)
    >>> runs = [
    ...     in_memory_where_distinct(Run.from_text(_kernel.Text([text], "run"), name="a"))
    ...     for text in texts
    ... ]
    >>> [type(run.source).__name__ for run in runs]
    ['Table', 'Text']
    """
    if isinstance(run.source, _kernel.Table):
        return run
    try:
        table = _kernel.read_text(run.source, duplicates="error")
    except _kernel.ParseError:
        return run
    run.let_go()
    return Run.from_table(table, name=run.name, paths=run.paths)


def longest(run: Run) -> int:
    """Documents of the longest list of a run in memory.

    Examples
    --------
    >>> longest(Run({"q1": ["a"], "q2": ["a", "b"]}))
    2
    """
    source = run.source
    sizes = np.diff(source.offsets) if isinstance(source, _kernel.Table) else np.zeros(0)
    return int(sizes.max()) if sizes.size else 0


def rows_about(run: Run) -> int:
    """Return the number of documents of a run, over all queries; an estimate by length for text
    that is not read yet.
    """
    if isinstance(run.source, _kernel.Table):
        return run.source.n_rows
    return -(-run.source.nbytes // _LINE)
