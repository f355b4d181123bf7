"""What stands behind `idealrank trec-eval`: read both files, join them once, print."""

from collections.abc import Iterator

import numpy as np

from idealrank.app import console, reading
from idealrank.app.progress import Watch
from idealrank.app.trec.measures import columns_of
from idealrank.app.trec.names import chosen
from idealrank.app.trec.options import VERSION_9, Request
from idealrank.conventions import Convention
from idealrank.data.progress import Progress
from idealrank.evaluation import Evaluation, evaluate
from idealrank.io.notes import Notes
from idealrank.io.sources import open_sources
from idealrank.io.trec import read_trec_qrels, read_trec_run, tag_of
from idealrank.io.zscores import read_zscores
from idealrank.measures.parse import parse_measure
from idealrank.reports.trec import trec_eval_report


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
    reading.refuse_standard_input_twice(*request.files, request.zscores or "")
    watch = Watch()
    notes = Notes(lambda message: console.say("note", message))
    qrels_path, run_path = request.files
    qrels = watch.run("judgments", lambda _: read_trec_qrels(open_sources(qrels_path, notes), "error", notes))
    sources = open_sources(run_path, notes)
    tag = tag_of(sources)
    columns = columns_of(names, request, np.unique(qrels.grades).tolist())
    zscores = None if request.zscores is None else read_zscores(request.zscores, notes)
    measures = [measure for column in columns for measure in (column.measure, column.summary) if measure is not None]

    def evaluated(progress: Progress) -> Evaluation:
        run = read_trec_run(sources, tag)
        convention = convention_of(request)
        return evaluate(
            qrels,
            run,
            measures or [parse_measure("num_q")],
            convention,
            max_documents=request.depth,
            threads=request.threads,
            progress=progress,
        )

    evaluation = watch.run(tag, evaluated)
    reading.doubt(evaluation, run_path)
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
