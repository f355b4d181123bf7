"""Implementation of `idealrank trec-eval`: read both files, align once, print."""

from collections.abc import Iterator, Sequence

import numpy as np

from idealrank.api.evaluation import evaluate_read as evaluate
from idealrank.cli import console, input_options
from idealrank.cli.progress import Watch
from idealrank.cli.trec.trec_measures import columns_of
from idealrank.cli.trec.trec_names import chosen
from idealrank.cli.trec.trec_options import VERSION_9, Request
from idealrank.conventions import Convention
from idealrank.data.join import Judgments
from idealrank.data.qrels import Qrels
from idealrank.data.types import Progress
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.formats.preferences import read_assessors, read_preferences
from idealrank.io.formats.trec import read_trec_qrels, read_trec_run, tag_of
from idealrank.io.formats.zscores import read_zscores
from idealrank.io.notes import Notes
from idealrank.io.sources import open_sources
from idealrank.measures.parse import parse_measure
from idealrank.reports.views.trec import TrecColumn, trec_eval_report


def report(request: Request) -> Iterator[str]:
    r"""The text for a request, in pieces.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "qrels").write_text("q 0 a 1")
    >>> _ = (folder / "run").write_text("q Q0 a 1 0.5 mine")
    >>> list(report(Request(files=[str(folder / "qrels"), str(folder / "run")], measures=["runid", "map"])))[1]
    'map                   \tall\t1.0000\n'
    """
    names = chosen(request.measures, new=request.convention != VERSION_9)
    input_options.refuse_standard_input_twice(*request.files, request.zscores or "")
    watch = Watch()
    notes = Notes(lambda message: console.say("note", message))
    judgments = watch.run("judgments", lambda _: _judgments(request, notes))
    zscores = None if request.zscores is None else read_zscores(request.zscores, notes)
    columns = columns_of(names, request, np.unique(judgments.grades).tolist() if isinstance(judgments, Qrels) else ())
    tag, evaluation = _evaluated(request, judgments, columns, watch, notes)
    input_options.doubt(evaluation, request.files[1])
    return trec_eval_report(
        evaluation,
        columns,
        runid=tag if "runid" in names else None,
        per_query=request.per_query,
        summary=not request.no_summary,
        # Of queries that the run does not answer, 10 prints the zeros that it counts, and 9 nothing.
        silent=set(evaluation.coverage.missing_queries) if request.convention == VERSION_9 else (),
        zscores=zscores,
    )


def _judgments(request: Request, notes: Notes) -> Judgments:
    path = request.files[0]
    if request.relevance_format == "prefs":
        return read_preferences(path, tell=notes.warn)
    if request.relevance_format == "qrels_prefs":
        return read_preferences(path, layout="qrels", tell=notes.warn)
    if request.relevance_format == "qrels_jg":
        return read_assessors(path, tell=notes.warn)
    return read_trec_qrels(open_sources(path, notes), "error", notes)


def _evaluated(request: Request, judgments: Judgments, columns: Sequence[TrecColumn], watch: Watch, notes: Notes) -> tuple[str, Evaluation]:
    """The run's tag, and the values of every column from one pass over the run."""
    sources = open_sources(request.files[1], notes)
    tag = tag_of(sources)
    measures = [measure for column in columns for measure in (column.measure, column.summary) if measure is not None]

    def work(progress: Progress) -> Evaluation:
        return evaluate(
            judgments,
            read_trec_run(sources, tag),
            measures or [parse_measure("num_q")],
            convention_of(request),
            max_documents=request.depth,
            threads=request.threads,
            progress=progress,
        )

    return tag, watch.run(tag, work)


def convention_of(request: Request) -> Convention:
    """The convention that the options make.

    Examples
    --------
    >>> convention_of(Request(complete=True, judged_only=True)).name
    'trec_eval-10,unjudged=skipped,negative=removed'
    """
    switches = {"missing": "zero" if request.complete else "left-out"}
    if request.judged_only:
        switches |= {"unjudged": "skipped", "negative": "removed"}
    return Convention.of(request.convention, **switches)
