"""`idealrank search`: a run from a search engine that is asked all queries, with its latency and failures."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealrank.cli import options
from idealrank.cli.format_option import Formats
from idealrank.cli.progress import Watch
from idealrank.errors import BackendError, InputError, OptionError
from idealrank.io.configuration_files import read_configuration

if TYPE_CHECKING:
    from collections.abc import Callable

    from idealrank.live.search_configuration import SearchConfig

_EPILOG = """\
Examples:

\b
  idealrank search search.yaml -o bm25.run
  idealrank search search.yaml -o bm25.run --qrels qrels.txt
  idealrank search search.yaml -o bm25.run --retry-failed

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

With `backends:`, a section for each name, OUTPUT is a folder with a run for each. Secrets are named as ${NAME} and read from the
environment. Answers stand in OUTPUT.journal.jsonl as they come: the same command continues a search that was stopped.
"""

_FORMATS = Formats(
    "A table to read;", table="views.search:search_parts", json="views.search:search_json", rows="views.search:search_rows"
)  # fmt: skip


@click.command(epilog=_EPILOG, short_help="Ask a search engine all queries, and write a run.")
@click.argument("config")
@click.option(
    "-o", "--output", "run_path", metavar="RUN", help="Run, instead of `output` of the configuration; a folder for several backends."
)
@click.option("--qrels", metavar="FILE", help="Judgments to evaluate with, instead of `qrels` of the configuration.")
@click.option("--restart", is_flag=True, help="Drop answers of an earlier search, and ask every query again.")
@click.option("--retry-failed", is_flag=True, help="Ask queries again that failed in an earlier search.")
@click.option("--report", metavar="FILE", help="Page with quality against latency of all backends; FILE ends in .html and opens offline.")
@options.schema
@_FORMATS.option
def search(
    *, config: str, run_path: str | None, qrels: str | None, restart: bool, retry_failed: bool, report: str | None, layout: str
) -> None:
    """Ask the search engine of CONFIG (YAML, TOML or JSON) all queries, and write its answers as a run.

    The engine gets a bounded number of queries at the same time and per second. Failed attempts are repeated after a pause, and an engine
    that fails again and again is left alone for a while. The report has latencies, failures, and with judgments the means with intervals.
    """
    from idealrank.live import search_runs as work  # noqa: PLC0415  (help needs none of it)
    from idealrank.live.search_configuration import SearchConfig  # noqa: PLC0415

    given = read_configuration(config)
    chosen = SearchConfig.of(given, config)
    paths = _paths(chosen, run_path or chosen.output, config)
    if report is not None:
        from idealrank.cli.result_options import check_page  # noqa: PLC0415  (few ask for pages)

        check_page(report, [config, chosen.queries.path], {f"-o {name}": path for name, path in paths.items()}, option="--report")
    files = [config, chosen.queries.path, chosen.queries.vectors, qrels or chosen.qrels]
    for path in paths.values():
        options.refuse_to_replace(path, files)
    watch = Watch()
    queries = chosen.queries.read()
    for path in paths.values():
        work.check_query_ids(queries, path)
    judgments = _judgments(qrels or chosen.qrels, chosen.evaluation)

    def one(name: str) -> Any:
        def ask(count: Any) -> Any:
            def tell(done: int, total: int, latencies: Any) -> None:
                count(done, total)
                count.note = _latency_words(latencies)

            return work.search_section(
                chosen.backends[name], name, queries, chosen.policy, paths[name], restart=restart, retry_failed=retry_failed, tell=tell
            )  # fmt: skip

        found = watch.count(name, ask)
        return found if judgments is None else work.evaluated(found, judgments, chosen.evaluation)

    systems, failed = _each(list(chosen.backends), one)
    if not systems:
        raise _together(failed, len(paths))
    found = [system.to_dict() for system in systems]
    if report is not None:
        from idealrank.cli.result_options import write_page_file  # noqa: PLC0415  (few ask for pages)
        from idealrank.reports.figures.latency_quality import latency_quality_page  # noqa: PLC0415

        write_page_file(latency_quality_page(found), report)
    _FORMATS.write(layout, None, {"systems": found})
    if failed:
        raise _together(failed, len(paths))


def _each(names: list[str], search: "Callable[[str], Any]") -> tuple[list[Any], list[BackendError]]:
    """Search with each backend; one that fails does not stop the others."""
    found, failed = [], []
    for name in names:
        try:
            found.append(search(name))
        except BackendError as error:
            failed.append(error)
    return found, failed


def _together(failed: list[BackendError], backends: int) -> BackendError:
    """Error for the backends of a search that failed; the only one as it is."""
    if backends == 1:
        return failed[0]
    return BackendError(f"{len(failed)} of {backends} backends failed: {'; '.join(map(str, failed))}")


def _judgments(path: str | None, evaluation: Any) -> Any:
    """Judgments, and a check of the measures, before an engine is asked."""
    if path is None:
        return None
    from idealrank.api.evaluation import to_qrels  # noqa: PLC0415  (help needs none of it)

    options.parse_convention(evaluation.convention)
    options.parse_measure_texts(evaluation.measures)
    return to_qrels(path)


def _paths(chosen: "SearchConfig", output: str | None, config: str) -> dict[str, str]:
    """File of each run."""
    if output is None:
        raise OptionError(f"{config}: found no output, expected -o RUN, or `output: FILE` in the configuration")
    if len(chosen.backends) == 1:
        return {next(iter(chosen.backends)): output}
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"-o {output}: found a file, expected a folder for the runs of {len(chosen.backends)} backends")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # a NUL in the path is a ValueError
        raise InputError(f"-o {output}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    paths = {name: str(folder / f"{re.sub(r'[^A-Za-z0-9._=-]+', '-', name)}.run") for name in chosen.backends}
    if len(set(paths.values())) < len(paths):
        raise OptionError(f"{config}: backends: found names that give the same file, expected names that differ in letters and digits")
    return paths


def _latency_words(latencies: Any) -> str:
    shown = [f"{name} {getattr(latencies, name) * 1000:.0f} ms" for name in ("p50", "p95", "p99") if getattr(latencies, name) is not None]
    return " ".join(shown)
