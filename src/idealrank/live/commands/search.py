"""`idealrank search`: a run from a search engine that is asked all queries, with its latency and
failures.
"""

import math
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from idealrank._features import command_homes
from idealrank._sections import Section
from idealrank.cli import console, options, output
from idealrank.cli.lazy_groups import CommandGroup
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.io.configuration_files import read_configuration, require_files

if TYPE_CHECKING:
    from idealrank.live.search_runs import SearchRun

# Command -> what it does in one line, the same line as in its own help (a test compares them).
COMMANDS = {"recall": "Measure the cost of an approximate index."}

_EPILOG = """\
Examples:

\b
  idealrank search search.yaml --check
  idealrank search search.yaml -o bm25.run
  idealrank search search.yaml -o bm25.run --qrels qrels.txt
  idealrank search search.yaml -o bm25.run --retry-failed
  idealrank search recall flat.run hnsw.run

A configuration, here for a table of SQLite's full-text search:

\b
  backend:
    kind: sqlite-fts5      # or http, function, command, replay, ...
    path: documents.db
    table: documents
    id: id
  queries: queries.tsv     # or {path: queries.tsv, vectors: queries.npy}
  limit: 100               # documents of each query
  concurrency: 4           # queries at the same time
  rate: 50                 # queries a second
  timeout: 10              # seconds
  retries: 3
  breaker: {failures: 10, pause: 10, probes: 5}
  qrels: qrels.txt
  evaluation: {measures: [nDCG@10, R@100]}

With `backends:`, a section for each name, OUTPUT is a folder with a run for each. Secrets are named
as ${NAME} and read from the environment. Answers stand in OUTPUT.journal.jsonl as they come: the
same command continues a search that was stopped.
"""

# exit codes
_FAILED = 1
_UNUSABLE = 2
_ROUNDING = 1e-9  # 0.29 of 100 queries are 29, although 100 * 0.29 is less in binary


def _views() -> ModuleType:
    from idealrank.live.views import search  # noqa: PLC0415  (NumPy; not for the help)

    return search


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="search_parts",
    json="search_json",
    rows="search_rows",
)


def _schema() -> dict[str, Any]:
    from idealrank.live.search_configuration import SearchConfig  # noqa: PLC0415  (help needs none of it)

    return SearchConfig.schema()


@click.group(
    cls=CommandGroup,
    lines=COMMANDS,
    home="idealrank.live.commands",
    modules=command_homes("search"),
    epilog=_EPILOG,
    short_help="Ask a search engine all queries, and write a run.",
)
@click.argument("config")
@click.option(
    "-o",
    "--output",
    "run_path",
    cls=options.OnceOption,
    metavar="RUN",
    help="Run, instead of `output` of the configuration; a folder for several backends.",
)
@click.option(
    "--qrels",
    metavar="FILE",
    cls=options.OnceOption,
    help="Judgments to evaluate with, instead of `qrels` of the configuration.",
)
@options.labels
@click.option(
    "--restart", is_flag=True, help="Drop answers of an earlier search, and ask every query again."
)
@click.option(
    "--retry-failed", is_flag=True, help="Ask queries again that failed in an earlier search."
)
@click.option(
    "--allow-failed",
    metavar="SHARE",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Share of queries that may fail before the command ends with code 1; default 0.",
)
@click.option(
    "--report",
    metavar="FILE",
    help="Page with quality against latency of all backends; FILE ends in .html and opens offline.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Only check the configuration, its files and its backends; nothing is asked or written.",
)
@options.schema(_schema)
@_FORMATS.option
def search(
    *,
    config: str,
    run_path: str | None,
    qrels: str | None,
    labels_text: str,
    restart: bool,
    retry_failed: bool,
    allow_failed: float,
    report: str | None,
    check: bool,
    layout: str,
) -> None:
    """Ask the search engine of CONFIG (YAML, TOML or JSON) all queries, and write its answers as a
    run.

    The engine gets a bounded number of queries at the same time and per second. Failed attempts are
    repeated after a pause, and an engine that fails again and again is left alone for a while. The
    report has latencies, failures, and with judgments the means with intervals. Queries that failed
    are not in the run; if there are any, the command ends with code 1. A configuration named recall
    is given as ./recall.
    """
    from idealrank.live import search_runs as work  # noqa: PLC0415  (help needs none of it)
    from idealrank.live.search_configuration import SearchConfig  # noqa: PLC0415

    mapping = read_configuration(config)
    if check:
        _check(mapping, config, run_path, qrels)
        return
    chosen = SearchConfig.of(mapping, config)
    require_files(SearchConfig, Section(mapping, config, ""), but=("qrels",) if qrels else ())
    paths = work.run_paths(chosen, run_path, config)
    judged = qrels or chosen.qrels
    inputs = work.input_files(chosen, config, judged)
    if report is not None:
        from idealrank.cli.result_options import check_page  # noqa: PLC0415  (few ask for pages)

        runs = {f"-o {name}": path for name, path in paths.items()}
        check_page(report, inputs, runs, option="--report")
    work.refuse_to_replace_inputs(paths, inputs, option="-o")
    watch = Watch()
    queries = work.checked_queries(chosen, paths)
    judgments = work.judgments_of(judged, labels_text or chosen.labels)
    work.refuse_wrong_keys(chosen)

    def around(name: str, ask: Any) -> Any:
        def counted(count: Any) -> Any:
            def tell(done: int, total: int, latencies: Any) -> None:
                count(done, total)
                count.note = _latency_words(latencies)

            return ask(tell)

        return watch.count(name, counted)

    results = work.search_backends(
        chosen, queries, paths, judgments, restart=restart, retry_failed=retry_failed, around=around
    )
    if not results.runs:
        results.check()
    summary = results.to_dict()
    if report is not None:
        from idealrank.cli.result_options import write_page_file  # noqa: PLC0415  (few ask for pages)
        from idealrank.live.views.latency_quality import latency_quality_page  # noqa: PLC0415

        write_page_file(latency_quality_page(summary["systems"]), report)
    query_texts = {query.id: query.text for query in queries if query.text != query.id}
    _FORMATS.write(layout, None, summary, query_texts=query_texts)
    results.check()
    _refuse_failures(results.runs.values(), allow_failed)


def _check(mapping: Any, config: str, run_path: str | None, qrels: str | None) -> None:
    """Write all mistakes of a configuration, and end with code 2 if there are any."""
    from idealrank.live import search_checks  # noqa: PLC0415  (help needs none of it)

    mistakes = search_checks.search_mistakes(mapping, config, run_path, qrels)
    for mistake in mistakes:
        console.error(console.worded(mistake))
    if mistakes:
        raise click.exceptions.Exit(_UNUSABLE)
    output.write([f"{search_checks.checked_words(mapping, config)}\n"], None)


def _refuse_failures(runs: Iterable["SearchRun"], allowed: float) -> None:
    """End with code 1 if more queries failed than are allowed: a run without them measures less
    than it seems to.
    """
    too_many = [
        f"{run.name}: {len(run.failures):,} of {len(run.records):,} queries failed and are not in "
        f"{run.path or 'the run'}"
        for run in runs
        if len(run.failures) > math.floor(allowed * len(run.records) + _ROUNDING)
    ]
    if too_many:
        console.error(
            "; ".join(too_many),
            "--retry-failed asks them again; --allow-failed 0.05 accepts up to 5% of them",
        )
        raise click.exceptions.Exit(_FAILED)


def _latency_words(latencies: Any) -> str:
    percentiles = {"p50": latencies.p50, "p95": latencies.p95, "p99": latencies.p99}
    return " ".join(
        f"{name} {seconds * 1000:.0f} ms"
        for name, seconds in percentiles.items()
        if seconds is not None
    )
