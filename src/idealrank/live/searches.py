"""Searches of a configuration: each backend is asked all queries, and one that fails does not stop
the others.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from idealrank.api.evaluation import AnyTable, to_qrels
from idealrank.conventions import Convention
from idealrank.errors import BackendError, InputError, OptionError
from idealrank.io.configuration_files import read_configuration
from idealrank.live.backends.protocol import SearchQuery
from idealrank.live.search_configuration import SearchConfig
from idealrank.live.search_runs import (
    SearchRun,
    Tell,
    check_query_ids,
    evaluated,
    journal_path,
    search_section,
)
from idealrank.measures.parse import parse_measures

Around = Callable[[str, Callable[[Tell | None], SearchRun]], SearchRun]
"""Runs the work of a backend, given its name; the work takes what is told about its progress."""


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
        failed, backends = list(self.failures.values()), len(self.runs) + len(self.failures)
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
    chosen = SearchConfig.of(config if is_content else read_configuration(name), name)
    paths = run_paths(chosen, None if output is None else fspath(output), name)
    judged = chosen.qrels if qrels is None else qrels
    named = fspath(judged) if isinstance(judged, str | PathLike) else None
    refuse_to_replace_inputs(paths, input_files(chosen, None if is_content else name, named))
    queries = checked_queries(chosen, paths)
    judgments = judgments_of(chosen, judged)
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
    runs, failures = {}, {}
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
            found = around(name, ask)
            runs[name] = (
                found if judgments is None else evaluated(found, judgments, config.evaluation)
            )
        except BackendError as error:
            failures[name] = error
    return SearchResults(runs, failures)


def checked_queries(config: SearchConfig, paths: Mapping[str, str]) -> list[SearchQuery]:
    """Read the queries; each run can have their ids."""
    queries = config.queries.read()
    for path in paths.values():
        check_query_ids(queries, path)
    return queries


def judgments_of(config: SearchConfig, qrels: Any) -> Any:
    """Read judgments, and check the measures, before an engine is asked; None without judgments."""
    if qrels is None:
        return None
    Convention.of(config.evaluation.convention)
    parse_measures(config.evaluation.measures)
    return to_qrels(qrels)


def input_files(chosen: SearchConfig, config: str | None, qrels: str | None) -> list[str]:
    """Return the existing files that a search reads: its configuration, queries, vectors and
    judgments, and those that backends name.
    """
    named = [config, chosen.queries.path, chosen.queries.vectors, qrels]
    for section in chosen.backends.values():
        for text in _texts(section.given.values()):
            filled = os.path.expandvars(text)  # a path may stand in a variable
            named += [filled, filled.rpartition(":")[0]]  # FILE:FUNCTION
    return [path for path in named if path and os.path.isfile(path)]  # noqa: PTH113  (a text that is no path is no error)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping | Sequence) and not isinstance(value, bytes):
            yield from _texts(value.values() if isinstance(value, Mapping) else value)


def refuse_to_replace_inputs(
    paths: Mapping[str, str], inputs: Sequence[str], *, option: str = "output", of: str = "search"
) -> None:
    """Refuse a file that would take the place of one that the search, or another work of this name,
    reads, itself or by its journal.
    """
    for path in paths.values():
        for written, what in (
            (path, ""),
            (journal_path(path), f" as the journal {journal_path(path)}"),
        ):
            if os.path.isfile(written) and any(os.path.samefile(written, one) for one in inputs):  # noqa: PTH113, PTH121  (as above)
                raise OptionError(
                    f"{option} {path}: found an input file of this {of}{what}, expected "
                    f"another name"
                )


def run_paths(chosen: SearchConfig, output: str | None, config: str) -> dict[str, str]:
    """Return the file of the run of each backend, and make the folder of several."""
    output = output or chosen.output
    if output is None:
        said = f"{config}: found no output, expected the name of a run"
        usual = "or set `output: FILE` in the configuration"
        raise OptionError(said, hint=f"pass output=, {usual}", command_hint=f"use -o RUN, {usual}")
    if len(chosen.backends) == 1:
        return {next(iter(chosen.backends)): output}
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise OptionError(
            f"output {output}: found a file, expected a folder for the runs of "
            f"{len(chosen.backends)} backends"
        )
    try:
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
            f"{config}: backends: found names that give the same file, expected names that "
            f"differ in letters and digits"
        )
    return paths
