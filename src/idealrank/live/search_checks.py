"""All mistakes of the configuration of a search, found without a request: in its keys, its files
and the sections of its backends.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from idealrank._sections import Section
from idealrank.errors import IdealrankError
from idealrank.live.backends import backend_from
from idealrank.live.search_configuration import SearchConfig, backends_of
from idealrank.live.search_runs import check_query_ids, judgments_of, run_paths

# Keys that make a configuration whole while the others are tried one by one.
_WHOLE = {"backend": {"kind": "replay", "path": "answers.jsonl"}, "queries": "queries.tsv"}
_OF_BACKENDS = ("backend", "backends")


def search_mistakes(
    config: Mapping[str, Any], path: str, output: str | None, qrels: str | None
) -> list[IdealrankError]:
    """Return the mistakes of a configuration, each once; `output` and `qrels` take precedence over
    its own.
    """
    mistakes: list[IdealrankError] = []
    for key in dict.fromkeys(["queries", *config]):
        if key not in _OF_BACKENDS:
            mistakes += _of_key(config, key, path)
    mistakes += _of_backends(config, path)
    mistakes += _of_files(config, path, output, qrels)
    by_text = {str(mistake): mistake for mistake in mistakes}
    return list(by_text.values())


def _of_key(config: Mapping[str, Any], key: str, path: str) -> list[IdealrankError]:
    """Mistakes of one key at the top level; in a section, of each of its keys."""
    others = {name: value for name, value in _WHOLE.items() if name != key}

    def read(content: Any) -> object:
        return SearchConfig.of({**others, key: content}, path)

    value = config.get(key)
    if isinstance(value, Mapping):
        return _each(read, value)
    return _mistakes_of(lambda: read(value))


def _of_backends(config: Mapping[str, Any], path: str) -> list[IdealrankError]:
    """Mistakes of the sections of backends; none is asked."""
    shared = {key: config[key] for key in (*_OF_BACKENDS, "timeout") if key in config}
    try:
        SearchConfig.of({**shared, "queries": _WHOLE["queries"]}, path)
        sections = backends_of(Section(shared, path, ""))
    except IdealrankError as error:
        return [error]
    mistakes = []
    for section in sections.values():

        def make(content: Any, section: Section = section) -> None:
            backend_from(Section(content, section.path, section.name)).close()

        mistakes += _each(make, section.given)
    return mistakes


def _of_files(
    config: Mapping[str, Any], path: str, output: str | None, qrels: str | None
) -> list[IdealrankError]:
    """Mistakes of the files that are read, and a run that has no name."""
    mistakes = []
    queries = {"backend": _WHOLE["backend"], "queries": config.get("queries")}
    with suppress(IdealrankError):  # a section of queries with a mistake is told of above
        section = SearchConfig.of(queries, path).queries
        mistakes += _mistakes_of(section.read)
    judged = qrels or config.get("qrels")
    if isinstance(judged, str):
        mistakes += _mistakes_of(lambda: judgments_of(judged))
    with suppress(IdealrankError):
        chosen = SearchConfig.of(config, path)
        paths: dict[str, str] = {}
        if output or chosen.output:
            mistakes += _mistakes_of(lambda: paths.update(_paths(chosen, output, path)))
        with suppress(IdealrankError):
            queries_read = chosen.queries.read()
            for run in paths.values():
                mistakes += _mistakes_of(partial(check_query_ids, queries_read, run))
    return mistakes


def _paths(chosen: SearchConfig, output: str | None, path: str) -> dict[str, str]:
    return run_paths(chosen, output, path, makes_folder=False)


def _mistakes_of(work: Callable[[], object]) -> list[IdealrankError]:
    try:
        work()
    except IdealrankError as error:
        return [error]
    return []


def _each(read: Callable[[Any], object], content: Mapping[str, Any]) -> list[IdealrankError]:
    """Mistakes of a section: each key with a mistake is taken out, until the rest has none."""
    mistakes: list[IdealrankError] = []
    remaining = dict(content)
    removed: list[str] = []
    while mistake := _mistakes_of(lambda: read(remaining)):
        # Without a key that must be there, nothing more can be told of the section.
        if any(f"{key}: found nothing" in str(mistake[0]) for key in removed):
            break
        mistakes += mistake
        culprit = _culprit(read, remaining, str(mistake[0]))
        if culprit is None:
            break
        del remaining[culprit]
        removed.append(culprit)
    return mistakes


def _culprit(read: Callable[[Any], object], content: Mapping[str, Any], message: str) -> str | None:
    """Return the key without which a section does not have this mistake; None if no key is."""
    named = [key for key in content if repr(key) in message or f".{key}" in message]
    for key in dict.fromkeys([*named, *content]):
        others = {name: value for name, value in content.items() if name != key}
        without = _mistakes_of(partial(read, others))
        if not without or str(without[0]) != message:
            return key
    return None


def checked_words(config: Mapping[str, Any], path: str) -> str:
    """Return a line about a configuration without mistakes."""
    chosen = SearchConfig.of(config, path)
    n_queries = len(chosen.queries.read())
    return f"{path}: {n_queries:,} queries; backends {', '.join(chosen.backends)}; no mistakes"
