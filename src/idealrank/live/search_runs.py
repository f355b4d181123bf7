"""Runs from search engines: ask each backend all queries of a configuration, keep a journal, write
the runs, and evaluate them. A backend that fails does not stop the others.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from idealrank._files import write_bytes
from idealrank._sections import Section
from idealrank.analysis.comparison import intervals
from idealrank.data.run import Run
from idealrank.errors import BackendError, IdealrankError, InputError, OptionError, shown
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import AnyTable, evaluate, to_qrels
from idealrank.io.configuration_files import read_configuration, require_files
from idealrank.io.label_grades import parse_labels
from idealrank.live.backends import backend_from, check_keys
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery
from idealrank.live.request_jobs import Latencies, SearchPolicy
from idealrank.live.search_configuration import MeasuresSection, SearchConfig
from idealrank.live.search_jobs import QueryRecord, SearchJob, SearchJournal

Tell = Callable[[int, int, Latencies], None]
"""Called with queries done, queries in all, and the latencies so far."""

_EVERY = 50  # answers between two computations of percentiles
_BLANK_HINT = "end the name of the run in .json"  # for ids that a TREC run cannot hold


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchRun:
    """Answers of one backend to all queries.

    Attributes
    ----------
    name : str
        Name of the backend in the configuration.
    records : tuple of QueryRecord
        In the order of the queries.
    evaluation : Evaluation or None
        Evaluation of the run, with judgments.
    path : str
        File of the run.
    titles_path : str
        File of the titles that the engine returned; empty without any.

    Examples
    --------
    >>> found = SearchRun(
    ...     name="bm25",
    ...     records=(
    ...         QueryRecord(query="q1", hits=(), seconds=0.5, attempts=1, failure="timed out"),
    ...         QueryRecord(query="q2", hits=(), seconds=0.25, attempts=2),
    ...     ),
    ... )
    >>> found.failures, found.n_answered, found.latencies.p50
    ({'q1': 'timed out'}, 1, 0.25)
    """

    name: str
    records: tuple[QueryRecord, ...]
    evaluation: Evaluation | None = None
    path: str = ""
    setting: Mapping[str, Any] = field(default_factory=dict)
    titles_path: str = ""

    @property
    def failures(self) -> dict[str, str]:
        """Message of each query that failed."""
        return {record.query: record.failure for record in self.records if record.failure}

    @property
    def n_answered(self) -> int:
        """Number of queries that the engine answered, with or without documents."""
        return sum(not record.failure for record in self.records)

    @property
    def latencies(self) -> Latencies:
        """Percentiles of the latency of answered queries."""
        return Latencies.of([record.seconds for record in self.records if not record.failure])

    @property
    def no_documents(self) -> str:
        """Message for answers that are all empty."""
        return (
            f"{self.name}: found no document in any answer, expected some; see the query, the "
            "index and the field of text"
        )

    @property
    def run(self) -> Run:
        """Answers with documents, as a run; queries that failed are not in it.

        Raises
        ------
        InputError
            No query has a document.
        """
        answers = {record.query: dict(record.hits) for record in self.records if record.hits}
        if not answers:
            raise InputError(self.no_documents)
        return Run(answers, name=self.name)

    @property
    def titles(self) -> dict[str, str]:
        """Title of each document, where the engine returned titles."""
        titles: dict[str, str] = {}
        for record in self.records:
            titles |= record.titles
        return titles

    def to_dict(self) -> dict[str, Any]:
        """Return counts, latencies and means as plain values."""
        latencies = self.latencies
        summary: dict[str, Any] = {
            "name": self.name,
            "run": self.path,
            "queries": len(self.records),
            "answered": self.n_answered,
            "empty": sum(not record.failure and not record.hits for record in self.records),
            "failed": self.failures,
            "attempts": sum(record.attempts for record in self.records),
            "latency": {"p50": latencies.p50, "p95": latencies.p95, "p99": latencies.p99},
        }
        if self.titles_path:
            summary["documents"] = self.titles_path
        if self.evaluation is not None:
            means = intervals(self.evaluation)
            summary["measures"] = {}
            for text, mean in means.items():
                low, high = mean.interval
                summary["measures"][text] = {
                    "mean": mean.mean,
                    "low": low,
                    "high": high,
                    "queries": mean.n,
                }
            summary["convention"] = str(self.evaluation.convention)
            coverage = self.evaluation.coverage
            summary["unjudged"] = {
                "share": coverage.unjudged_share,
                "cutoff": coverage.unjudged_cutoff,
            }
        return summary


def search_section(
    section: Section,
    name: str,
    queries: Sequence[SearchQuery],
    policy: SearchPolicy,
    path: str,
    *,
    restart: bool = False,
    retry_failed: bool = False,
    tell: Tell | None = None,
) -> SearchRun:
    """Ask a backend all queries, and write the run when the last one has ended."""
    check_query_ids(queries, path)
    backend = backend_from(section)
    engine = backend if path.endswith(".json") else _TrecIds(backend)
    try:
        with SearchJournal(
            journal_path(path), subject_of(section, queries, policy), restart=restart
        ) as journal:
            _ask(engine, queries, policy, journal, retry_failed=retry_failed, tell=tell)
            records = tuple(journal.records[query.id] for query in queries)
    finally:
        backend.close()
    searched = SearchRun(name=name, records=records, path=path, setting=section.given)
    if not searched.n_answered:
        query, failure = next(iter(searched.failures.items()))
        hint = "--retry-failed asks the queries again"
        raise BackendError(
            f"{name}: all {len(records)} queries failed; {query}: {failure}", hint=hint
        )
    if not any(record.hits for record in records):
        raise BackendError(searched.no_documents)
    write_run(searched.run, records, path)
    titles = searched.titles
    return replace(searched, titles_path=_write_titles(titles, path)) if titles else searched


def check_query_ids(queries: Sequence[SearchQuery], path: str) -> None:
    """Check that a run at a path can have the ids of all queries."""
    if path.endswith(".json"):
        return
    for query in queries:
        if _has_blank(query.id):
            raise InputError(_no_trec(path, "query", query.id), hint=_BLANK_HINT)


def _has_blank(text: str) -> bool:
    return not text or any(map(str.isspace, text))


def _no_trec(place: str, kind: str, text: str) -> str:
    return f"{place}: found {kind} {shown(repr(text))}, expected an id without blanks in a TREC run"


class _TrecIds:
    """Backend whose answers a TREC run can hold; an id with a blank is a failure of its query."""

    def __init__(self, backend: Backend) -> None:
        self.name = backend.name
        self.titles = _titles(backend)
        self._backend = backend

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        hits = self._backend.search(query, limit)
        for document, _ in hits:
            if _has_blank(document):
                raise BackendError(_no_trec(self.name, "document", document), hint=_BLANK_HINT)
        return hits

    def close(self) -> None:
        self._backend.close()


def _titles(backend: Backend) -> Mapping[str, str]:
    """Return the titles that a backend collects, by document; empty if it collects none."""
    titles: Mapping[str, str] = getattr(backend, "titles", {})
    return titles


class _RunningLatencies:
    """Percentiles of the latencies so far."""

    def __init__(self) -> None:
        self._seconds: list[float] = []
        self.latencies = Latencies()

    def add(self, seconds: float) -> None:
        self._seconds.append(seconds)
        # often at first, when each answer moves them
        if len(self._seconds) < _EVERY or len(self._seconds) % _EVERY == 0:
            self.latencies = Latencies.of(self._seconds)


def _ask(
    backend: Backend,
    queries: Sequence[SearchQuery],
    policy: SearchPolicy,
    journal: SearchJournal,
    *,
    retry_failed: bool,
    tell: Tell | None,
) -> None:
    """Ask the queries that the journal lacks."""
    settled = {
        query for query, record in journal.records.items() if not (retry_failed and record.failure)
    }
    open_queries = [query for query in queries if query.id not in settled]
    running = _RunningLatencies()
    every_title = _titles(backend)

    def keep(record: QueryRecord) -> None:
        titles = {hit.document: every_title.get(hit.document, "") for hit in record.hits}
        titled = {document: title for document, title in titles.items() if title}
        journal.add(replace(record, titles=titled))
        settled.add(record.query)
        if not record.failure:
            running.add(record.seconds)
        if tell is not None:
            tell(len(settled), len(queries), running.latencies)

    SearchJob(backend, policy).run(open_queries, keep)


def subject_of(
    section: Section, queries: Sequence[SearchQuery], policy: SearchPolicy
) -> dict[str, Any]:
    """Return all that answers depend on: the section without the values of secrets, the limit, and
    the queries.
    """
    hashed = hashlib.sha256()
    for query in queries:
        vector = None if query.vector is None else [float(number) for number in query.vector]
        hashed.update(json.dumps([query.id, query.text, vector]).encode() + b"\n")
    backend = {key: value for key, value in section.given.items() if key != "timeout"}
    return {
        "backend": json.loads(json.dumps(backend, default=str)),
        "limit": policy.limit,
        "queries": hashed.hexdigest(),
    }


def journal_path(path: str) -> str:
    """Return the file of the journal that belongs to a run."""
    return f"{path}.journal.jsonl"


def write_run(run: Run, records: Sequence[QueryRecord], path: str) -> None:
    """Write a run, whole or not at all."""
    if path.endswith(".json"):
        answers = {answer.query: dict(answer.hits) for answer in records if answer.hits}
        write_bytes([json.dumps(answers, indent=1).encode()], path)
        return
    tag = "".join(letter if not letter.isspace() else "_" for letter in run.name)
    lines = []
    for record in records:
        for rank, (document, score) in enumerate(record.hits, 1):
            for kind, text in (("query", record.query), ("document", document)):
                if _has_blank(text):
                    raise InputError(_no_trec(path, kind, text), hint=_BLANK_HINT)
            lines.append(f"{record.query} Q0 {document} {rank} {score!r} {tag}\n")
    write_bytes(["".join(lines).encode("utf-8", "surrogateescape")], path)


def titles_path(path: str) -> str:
    """Return the file of titles that belongs to a run."""
    return f"{path}.documents.jsonl"


def _write_titles(titles: Mapping[str, str], path: str) -> str:
    """Write the titles of the documents of a run, as `--documents` reads them."""
    target = titles_path(path)
    records = ({"_id": document, "title": title} for document, title in titles.items())
    lines = (f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    write_bytes([line.encode("utf-8", "replace") for line in lines], target)
    return target


def evaluated(searched: SearchRun, qrels: Any, section: MeasuresSection) -> SearchRun:
    """Return the answers with an evaluation of the run."""
    evaluation = evaluate(
        qrels, searched.run, list(section.measures), section.convention, name=searched.name
    )
    return replace(searched, evaluation=evaluation)


Around = Callable[[str, Callable[[Tell | None], SearchRun]], SearchRun]
"""Runs the work of a backend, given its name; the work takes a function for its progress."""


@dataclass(frozen=True, eq=False)
class SearchResults:
    """Answers of the backends of a configuration.

    Attributes
    ----------
    runs : mapping of str to SearchRun
        Of each backend that answered, by its name.
    failures : mapping of str to BackendError
        Of each backend that answered no query or stopped, by its name.

    Examples
    --------
    >>> results = SearchResults({}, {"bm25": BackendError("http: refused")})
    >>> results.to_dict()
    {'systems': [], 'failed': {'bm25': 'http: refused'}}
    >>> results.check()
    Traceback (most recent call last):
    ...
    idealrank.errors.BackendError: http: refused
    """

    runs: Mapping[str, SearchRun]
    failures: Mapping[str, BackendError] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return ``systems``, a list of what `SearchRun.to_dict` returns, and ``failed``, the
        message of each backend that failed.
        """
        failed = {name: str(error) for name, error in self.failures.items()}
        return {"systems": [run.to_dict() for run in self.runs.values()], "failed": failed}

    def check(self) -> None:
        """Raise an error if a backend failed.

        Raises
        ------
        BackendError
            Names the backends; the error itself if there is a single backend.
        """
        failed = list(self.failures.values())
        backends = len(self.runs) + len(self.failures)
        if failed and backends == 1:
            raise failed[0]
        if failed:
            raise BackendError(
                f"{len(failed)} of {backends} backends failed: {'; '.join(map(str, failed))}"
            )


def search(
    config: "str | PathLike[str] | Mapping[str, Any]",
    output: "str | PathLike[str] | None" = None,
    *,
    qrels: AnyTable = None,
    restart: bool = False,
    retry_failed: bool = False,
) -> SearchResults:
    r"""Ask search engines all queries of a configuration, write the runs, and evaluate them.

    Parameters
    ----------
    config : path or mapping
        Configuration in YAML, TOML or JSON, or its content.
    output : path, optional
        Run, instead of ``output`` of the configuration: TREC, or JSON if it ends in .json. With
        several backends, folder of the runs.
    qrels : path, mapping, dataframe or Qrels, optional
        Judgments to evaluate with, instead of ``qrels`` of the configuration. Without any, the runs
        are not evaluated.
    restart : bool
        Drop answers of an earlier search, and ask every query again.
    retry_failed : bool
        Ask queries again that failed in an earlier search.

    Returns
    -------
    SearchResults
        Runs with their latencies, failures and evaluations. A backend that fails does not stop the
        others.

    Raises
    ------
    OptionError
        A key of the configuration is unknown or has a wrong value, a journal is of another search,
        or a run would replace a file that the search reads.
    InputError
        A file cannot be read or written.
    BackendError
        Every backend failed.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "queries.tsv").write_text("q1\tred fox\n")
    >>> _ = (folder / "old.json").write_text('{"q1": {"d1": 2.0, "d2": 1.0}}')
    >>> config = {
    ...     "backend": {"kind": "replay", "path": str(folder / "old.json")},
    ...     "queries": str(folder / "queries.tsv"),
    ... }
    >>> results = search(config, folder / "new.run", qrels={"q1": {"d2": 1}})
    >>> results.runs["replay"].evaluation.mean()
    {'nDCG@10': 0.6309297535714575}
    """
    is_content = isinstance(config, Mapping)
    name = "configuration" if is_content else fspath(config)  # type: ignore[arg-type]
    section = Section(config if is_content else read_configuration(name), name, "")
    chosen = SearchConfig.of(section.given, name)
    require_files(SearchConfig, section, but=() if qrels is None else ("qrels",))
    paths = run_paths(chosen, None if output is None else fspath(output), name)
    judged = chosen.qrels if qrels is None else qrels
    qrels_path = fspath(judged) if isinstance(judged, str | PathLike) else None
    refuse_to_replace_inputs(paths, input_files(chosen, None if is_content else name, qrels_path))
    queries = checked_queries(chosen, paths)
    judgments = judgments_of(judged, chosen.labels)
    refuse_wrong_keys(chosen)
    results = search_backends(
        chosen, queries, paths, judgments, restart=restart, retry_failed=retry_failed
    )
    if not results.runs:
        results.check()
    return results


def search_backends(
    config: SearchConfig,
    queries: Sequence[SearchQuery],
    paths: Mapping[str, str],
    judgments: Any,
    *,
    restart: bool = False,
    retry_failed: bool = False,
    around: Around = lambda _, work: work(None),
) -> SearchResults:
    """Ask the backends one after another; the runs are evaluated if there are judgments."""
    runs = {}
    failures = {}
    for name, path in paths.items():

        def ask(tell: Tell | None, name: str = name, path: str = path) -> SearchRun:
            section = config.backends[name]
            return search_section(
                section,
                name,
                queries,
                config.policy,
                path,
                restart=restart,
                retry_failed=retry_failed,
                tell=tell,
            )

        try:
            searched = around(name, ask)
            if judgments is not None:
                searched = evaluated(searched, judgments, config.evaluation)
            runs[name] = searched
        except BackendError as error:
            failures[name] = error
    return SearchResults(runs, failures)


def refuse_wrong_keys(config: SearchConfig) -> None:
    """Raise the mistakes in the keys of all backends before one of them is asked."""
    mistakes: dict[str, IdealrankError] = {}
    for section in config.backends.values():
        try:
            check_keys(section)
        except IdealrankError as error:
            mistakes.setdefault(str(error), error)  # those of a sweep have the same one
    if len(mistakes) > 1:
        raise OptionError(f"{len(mistakes)} backends have mistakes: {'; '.join(mistakes)}")
    for mistake in mistakes.values():
        raise mistake


def checked_queries(config: SearchConfig, paths: Mapping[str, str]) -> list[SearchQuery]:
    """Read the queries; each run can have their ids."""
    queries = config.queries.read()
    for path in paths.values():
        check_query_ids(queries, path)
    return queries


def judgments_of(qrels: Any, labels: str = "") -> Any:
    """Read judgments before an engine is asked; None without judgments."""
    return None if qrels is None else to_qrels(qrels, labels=parse_labels(labels))


def input_files(chosen: SearchConfig, config: str | None, qrels: str | None) -> list[str]:
    """Return the existing files that a search reads: its configuration, queries, vectors and
    judgments, and files that its backends name.
    """
    candidates = [config, chosen.queries.path, chosen.queries.vectors, qrels]
    for section in chosen.backends.values():
        for text in _texts(section.given.values()):
            filled = os.path.expandvars(text)  # a path may stand in a variable
            candidates += [filled, filled.rpartition(":")[0]]  # FILE:FUNCTION
    return [path for path in candidates if path and os.path.isfile(path)]  # noqa: PTH113  (a text that is no path is no error)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping | Sequence) and not isinstance(value, bytes):
            yield from _texts(value.values() if isinstance(value, Mapping) else value)


def refuse_to_replace_inputs(
    paths: Mapping[str, str], inputs: Sequence[str], *, option: str = "output", work: str = "search"
) -> None:
    """Refuse a file that would take the place of one that the search, or another work of this name,
    reads, itself or by its journal.
    """
    for run in paths.values():
        journal = journal_path(run)
        titles = titles_path(run)
        for written, role in (
            (run, ""),
            (journal, f" as the journal {journal}"),
            (titles, f" as the titles {titles}"),
        ):
            if os.path.isfile(written) and any(os.path.samefile(written, path) for path in inputs):  # noqa: PTH113, PTH121  (as above)
                problem = f"found an input file of this {work}{role}"
                raise OptionError(f"{option} {run}: {problem}, expected another name")


def run_paths(
    chosen: SearchConfig, output: str | None, config: str, *, makes_folder: bool = True
) -> dict[str, str]:
    """Return the file of the run of each backend, and make the folder of several."""
    output = output or chosen.output
    if output is None:
        message = f"{config}: found no output, expected the name of a run"
        usual = "or set `output: FILE` in the configuration"
        raise OptionError(
            message, hint=f"pass output=, {usual}", command_hint=f"use -o RUN, {usual}"
        )
    if len(chosen.backends) == 1:
        return {next(iter(chosen.backends)): output}
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise OptionError(
            f"output {output}: found a file, expected a folder for the runs of "
            f"{len(chosen.backends)} backends"
        )
    try:
        if makes_folder:
            folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # a NUL in the path is a ValueError
        raise InputError(
            f"output {output}: cannot be written: {getattr(error, 'strerror', None) or error}"
        ) from None
    paths = {
        name: str(folder / f"{re.sub(r'[^A-Za-z0-9._=-]+', '-', name)}.run")
        for name in chosen.backends
    }
    if len(set(paths.values())) < len(paths):
        raise OptionError(
            f"{config}: backends: found names that give the same file, expected names that differ "
            "in letters and digits"
        )
    return paths
