"""What stands behind `idealrank trec-eval`: read both files, join them once, print."""

from collections.abc import Iterator

from idealrank.app import console, reading
from idealrank.app.progress import Watch
from idealrank.app.trec.measures import columns_of
from idealrank.app.trec.names import chosen
from idealrank.app.trec.options import Request
from idealrank.conventions import Convention
from idealrank.data.progress import Progress
from idealrank.evaluation import Evaluation, evaluate
from idealrank.io.notes import Notes
from idealrank.io.sources import open_sources
from idealrank.io.trec import read_trec_qrels, read_trec_run, tag_of
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
    names = chosen(request.measures)
    reading.refuse_standard_input_twice(*request.files)
    watch = Watch()
    notes = Notes(lambda message: console.say("note", message))
    qrels_path, run_path = request.files
    qrels = watch.run("judgments", lambda _: read_trec_qrels(open_sources(qrels_path, notes), "error", notes))
    sources = open_sources(run_path, notes)
    tag = tag_of(sources)
    columns = columns_of(names, request)
    measures = [measure for column in columns for measure in (column.measure, column.summary) if measure is not None]

    def evaluated(progress: Progress) -> Evaluation:
        run = read_trec_run(sources, tag)
        convention = convention_of(request)
        return evaluate(qrels, run, measures, convention, max_documents=request.depth, threads=request.threads, progress=progress)

    return trec_eval_report(
        watch.run(tag, evaluated),
        columns,
        runid=tag if "runid" in names else None,
        per_query=request.per_query,
        summary=not request.no_summary,
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
