"""Storing of results, with the command line, the commit and the input files."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from idealrank.cli.invocation import checkout
from idealrank.evaluation.evaluate import Evaluation
from idealrank.evaluation.judged_hits import JudgedHits
from idealrank.io.sources import input_files
from idealrank.store import Record, Store
from idealrank.store.commands.store_options import VARIABLE

if TYPE_CHECKING:  # SciPy, which only verdicts need
    from idealrank.analysis.comparison import Comparison
    from idealrank.analysis.gate import Gated


@dataclass(frozen=True)
class StoredResults:
    """Stored entries."""

    evaluations: tuple[str, ...]  # Ids, in the order of the evaluations
    verdict: str  # Id of the comparison or gate; empty where there was none
    line: str  # What to tell the user

    @property
    def ids(self) -> tuple[str, ...]:
        """All ids, the verdict first."""
        return (self.verdict, *self.evaluations) if self.verdict else self.evaluations


def check(folder: str) -> None:
    """Open a store before the work is done, so that a folder that cannot hold one is found out
    first.
    """
    with Store.open(folder) as store:
        store.check_writable()


def command_line(arguments: Sequence[str] | None = None) -> str:
    """The command as it could be typed again.

    Examples
    --------
    >>> command_line(["evaluate", "my qrels.txt", "bm25.run"])
    "idealrank evaluate 'my qrels.txt' bm25.run"
    """
    return shlex.join(["idealrank", *(sys.argv[1:] if arguments is None else arguments)])


def keep(
    folder: str,
    evaluations: Sequence[Evaluation],
    verdict: "Comparison | Gated | None" = None,
    *,
    hits: Sequence[JudgedHits | None] = (),
    judgments: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    command: str = "",
    tags: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> StoredResults:
    """Put results into a store."""
    here = checkout()
    record = Record(
        command=command, commit=here.commit, dirty=here.dirty, tags=tuple(tags), notes=tuple(notes)
    )
    with Store.open(folder) as store:
        hits_by_run = list(hits) or [None] * len(evaluations)
        ids = tuple(
            store.add(_with_inputs(evaluation, judgments), hits=run_hits, record=record)
            for evaluation, run_hits in zip(evaluations, hits_by_run, strict=True)
        )
        key = ""
        if verdict is not None:
            key = _keep_verdict(store, verdict, ids, options, record)
        return StoredResults(ids, key, _line(store, folder, ids, key))


def _keep_verdict(
    store: Store,
    verdict: "Comparison | Gated",
    ids: Sequence[str],
    options: Mapping[str, Any] | None,
    record: Record,
) -> str:
    from idealrank.analysis.comparison import Comparison  # noqa: PLC0415  (loaded by now)

    if isinstance(verdict, Comparison):
        return store.add_comparison(verdict, ids, options=options, record=record)
    return store.add_gate(verdict, ids, options=options, record=record)


def _with_inputs(evaluation: Evaluation, judgments: Sequence[str]) -> Evaluation:
    provenance = evaluation.provenance
    if provenance.inputs:
        return evaluation
    paths = [path for path in (*judgments, evaluation.path) if path]
    return replace(evaluation, provenance=replace(provenance, inputs=input_files(paths)))


def _line(store: Store, folder: str, ids: Sequence[str], key: str) -> str:
    """One line that names everything, and how to see it again."""
    words = ["idealrank", "store", "show", store.shortest(key or ids[0])]
    if os.environ.get(VARIABLE) != folder:
        words += ["--store", folder]
    entries = f"{key}, made of {', '.join(ids)}" if key else ", ".join(ids)
    return f"stored as {entries}; {shlex.join(words)}"
