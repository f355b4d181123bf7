"""The policies of a convention that act on queries once run and judgments are joined: unjudged documents, missing queries."""

import numpy as np

from idealrank import _kernel
from idealrank.data.alignment import Alignment
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import IntArray, decode_id
from idealrank.errors import InputError


def name_row(qrels: Qrels, row: int) -> str:
    """A row of the judgments, for an error message."""
    query = int(np.searchsorted(qrels.offsets, row, side="right")) - 1
    document = decode_id(qrels.table.document_id(row))
    return f"{qrels.paths[0] if qrels.paths else qrels.name}: query {qrels.queries[query]!r}, document {document!r}"


def refuse_unjudged(qrels: Qrels, run: Run, alignment: Alignment, aligned: _kernel.Aligned, *, within: int | None = None) -> None:
    """Raise where a returned document (down to the rank `within`) has no judgment and the policy is ``unjudged=error``."""
    if alignment.unjudged != "error":
        return
    last = aligned.n_queries if alignment.without_judgments == "evaluated" else aligned.n_qrels_queries
    first = aligned.first_unjudged[:last]
    unjudged = np.flatnonzero((first > 0) if within is None else (first > 0) & (first <= within))
    if unjudged.size:
        query = int(unjudged[0])
        name = qrels.queries[query] if query < qrels.n_queries else decode_id(aligned.run_only_ids()[query - qrels.n_queries])
        raise InputError(
            f"run {run.name!r}, query {name!r}: the document at rank {aligned.first_unjudged[query]} has no judgment "
            f"({unjudged.size} queries have such documents), expected all judged; unjudged=not-relevant or unjudged=skipped allows it",
            switch="unjudged=not-relevant",
        )


def queries_that_count(qrels: Qrels, run: Run, alignment: Alignment, aligned: _kernel.Aligned) -> IntArray | None:
    """Codes of the queries kept under the policies for missing queries and queries without judgments; None when all are."""
    missing = np.flatnonzero(~aligned.in_run[: qrels.n_queries])
    if alignment.missing == "error" and missing.size:
        some = ", ".join(repr(qrels.queries[int(query)]) for query in missing[:5]) + (", ..." if missing.size > 5 else "")
        raise InputError(
            f"run {run.name!r} does not answer {missing.size} of {qrels.n_queries} judged queries ({some}), "
            "expected all; missing=zero counts them as 0, missing=left-out leaves them out",
            switch="missing=zero",
        )
    last = aligned.n_queries if alignment.without_judgments == "evaluated" else aligned.n_qrels_queries
    if alignment.missing == "left-out" and missing.size:
        return np.flatnonzero(aligned.in_run[:last])
    return None if last == aligned.n_queries else np.arange(last)
