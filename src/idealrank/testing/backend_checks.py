"""The contract of search backends, tried on one of them: order, limit, repetition, hostile queries,
threads, errors, closing.
"""

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from idealrank.errors import BackendError, OptionError, shown
from idealrank.live.backends.protocol import Backend, SearchQuery

_THREADS = 4  # that search at the same time
# Empty, blank, other scripts, letters that compose, direction marks, operators of query languages,
# JSON, SQL, a null, and a long text.
HOSTILE = (
    "",
    " \t\n ",
    "été naïve",
    "東京の天気",
    "שלום \u202eabc",
    "e\u0301",
    "👩\u200d👩 ",
    "AND OR NOT NEAR(",
    'a "b',
    "title:x^2 ~1 [* TO *]",
    "-a +b !c | (d",
    '{"match_all": {}}',
    "'; DROP TABLE documents; --",
    "%s {text} ${HOME} \\",
    "a\0b",
    "word " * 3000,
)
"""Texts that each backend must answer, or refuse with `BackendError`."""


@dataclass(kw_only=True)
class _Trial:
    """A backend, what it is asked, and the complaints so far."""

    backend: Backend
    queries: Sequence[SearchQuery]
    limit: int
    exact: bool
    faults: list[str] = field(default_factory=list)

    def ask(self, query: SearchQuery, limit: int) -> list[tuple[str, float]] | None:
        """Documents of a query with good form; None after a complaint."""
        try:
            hits = list(self.backend.search(query, limit))
        except Exception as error:  # noqa: BLE001  (whatever is raised is a complaint)
            self.faults.append(
                f"query {shown(repr(query.text))}: raised {type(error).__name__}: {shown(error)}, "
                "expected documents"
            )
            return None
        complaints = list(_faults_of_answer(hits, limit))
        if complaints:
            place = f"query {shown(repr(query.text))}, limit {limit}"
            self.faults += [f"{place}: {fault}" for fault in complaints]
            return None
        return [(str(document), float(score)) for document, score in hits]


def _faults_of_answer(hits: Sequence[Any], limit: int) -> Iterator[str]:
    if len(hits) > limit:
        yield f"found {len(hits)} documents, expected at most {limit}"
    if not all(isinstance(hit, tuple) and len(hit) == 2 for hit in hits):
        yield f"found {shown(repr(hits[0]))}, expected pairs of document and score"
        return
    documents = [document for document, _ in hits]
    scores = [score for _, score in hits]
    if not all(isinstance(document, str) and document for document in documents):
        yield f"found documents {shown(repr(documents))}, expected texts that are not empty"
    elif len(set(documents)) < len(documents):
        yield f"found a document twice in {shown(repr(documents))}, expected each once"
    if not all(isinstance(score, float) and math.isfinite(score) for score in scores):
        yield f"found scores {shown(repr(scores))}, expected finite floats"
    elif any(after > before for before, after in pairwise(scores)):
        yield (
            f"found scores {shown(repr(scores))}, expected them to fall: larger is better, and a "
            f"distance must be negated"
        )


def _check_answers(trial: _Trial) -> None:
    """Form of answers, and the limit."""
    longest = 0
    for query in trial.queries:
        whole = trial.ask(query, trial.limit)
        first = trial.ask(query, 1)
        if whole is None or first is None:
            continue
        longest = max(longest, len(whole))
        if bool(whole) != bool(first):
            trial.faults.append(
                f"query {shown(repr(query.text))}: found {len(first)} documents with limit 1, and "
                f"{len(whole)} with more"
            )
        elif trial.exact and whole:
            _, best_score = whole[0]
            _, score_of_first = first[0]
            if best_score != score_of_first:
                trial.faults.append(
                    f"query {shown(repr(query.text))}: the best document has score {best_score}, "
                    f"with limit 1 {score_of_first}"
                )
    if longest < 2 and not trial.faults:
        trial.faults.append(
            "no query has two documents, so that no order was checked; pass queries that the index "
            "answers"
        )


def _check_repetition(trial: _Trial) -> None:
    """Equal answers to equal queries."""
    for query in trial.queries:
        first = trial.ask(query, trial.limit)
        again = trial.ask(query, trial.limit)
        if trial.exact and first is not None and again is not None and first != again:
            trial.faults.append(
                f"query {shown(repr(query.text))}: answered {shown(first)}, then {shown(again)}"
            )


def _check_hostile(trial: _Trial) -> None:
    """Any text is answered, or refused with the error of backends."""
    vector = trial.queries[0].vector
    for place, text in enumerate(HOSTILE):
        query = SearchQuery(f"check-{place}", text, vector)
        try:
            hits = list(trial.backend.search(query, trial.limit))
        except BackendError as error:
            if error.temporary:
                trial.faults.append(
                    f"query {shown(repr(text))}: raised a temporary error ({shown(error)}), "
                    f"expected documents or a lasting one"
                )
            continue
        except Exception as error:  # noqa: BLE001
            trial.faults.append(
                f"query {shown(repr(text))}: raised {type(error).__name__}: {shown(error)}, "
                f"expected BackendError"
            )
            continue
        trial.faults += [
            f"query {shown(repr(text))}: {fault}" for fault in _faults_of_answer(hits, trial.limit)
        ]


def _check_threads(trial: _Trial) -> None:
    """Searches at the same time have the answers of searches one by one."""
    alone = {query.id: trial.ask(query, trial.limit) for query in trial.queries}
    answers_of_threads: list[dict[str, Any]] = [{} for _ in range(_THREADS)]
    started = threading.Barrier(_THREADS)

    def ask_all(by_query: dict[str, Any], first: int) -> None:
        # Each thread begins with another query, and all begin at the same moment.
        started.wait()
        for query in (*trial.queries[first:], *trial.queries[:first]):
            by_query[query.id] = trial.ask(query, trial.limit)

    threads = []
    for number, by_query in enumerate(answers_of_threads):
        arguments = (by_query, number % len(trial.queries))
        threads.append(threading.Thread(target=ask_all, args=arguments, daemon=True))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not trial.exact:
        return
    for query in trial.queries:
        usual = alone[query.id]
        answers = [by_query.get(query.id) for by_query in answers_of_threads]
        others = [answer for answer in answers if answer != usual]
        if others:
            trial.faults.append(
                f"query {shown(repr(query.text))}: answered {shown(usual)} alone, "
                f"{shown(others[0])} among threads"
            )


def _check_failing(
    make: Callable[[], Backend], *, temporary: bool, query: SearchQuery
) -> Iterator[str]:
    """A backend that cannot work raises the error of backends, with the right mark."""
    subject = "an engine that is not reached" if temporary else "a backend with a mistake"
    backend = None
    try:
        backend = make()
        backend.search(query, 1)
    except (BackendError, OptionError) as error:
        if isinstance(error, BackendError) and error.temporary != temporary:
            yield (
                f"{subject} raised an error with temporary={error.temporary}, expected "
                f"temporary={temporary}: {shown(error)}"
            )
    except Exception as error:  # noqa: BLE001
        yield f"{subject} raised {type(error).__name__}: {shown(error)}, expected BackendError"
    else:
        yield f"{subject} raised nothing, expected BackendError"
    finally:
        if backend is not None:
            with suppress(Exception):
                backend.close()


def faults_of_backend(
    backend: object,
    queries: Sequence[SearchQuery | str],
    *,
    limit: int = 10,
    exact: bool = True,
    unreachable: Callable[[], Backend] | None = None,
    mistaken: Callable[[], Backend] | None = None,
) -> list[str]:
    """List the complaints of `check_backend`, one sentence each; empty without any.

    Examples
    --------
    >>> from idealrank.live.backends.python_function import FunctionBackend
    >>> faults_of_backend(FunctionBackend(lambda text, limit: ["a"]), ["a b"])
    ['no query has two documents, so that no order was checked; pass queries that the index answers']
    """  # noqa: E501
    searches = [
        SearchQuery(f"check-q{place}", query) if isinstance(query, str) else query
        for place, query in enumerate(queries)
    ]
    if not searches:
        raise OptionError(
            "check_backend: found no query, expected one or more that the index answers"
        )
    if not isinstance(backend, Backend) or not backend.name:
        return ["found an object without name, search and close, expected the protocol Backend"]

    trial = _Trial(backend=backend, queries=searches, limit=limit, exact=exact)
    _check_answers(trial)
    if not trial.faults:
        for check in (_check_repetition, _check_hostile, _check_threads):
            check(trial)
    if unreachable is not None:
        trial.faults += _check_failing(unreachable, temporary=True, query=searches[0])
    if mistaken is not None:
        trial.faults += _check_failing(mistaken, temporary=False, query=searches[0])

    for time in ("first", "second"):
        try:
            backend.close()
        except Exception as error:  # noqa: BLE001
            trial.faults.append(
                f"the {time} close raised {type(error).__name__}: {shown(error)}, expected it to "
                "do nothing more"
            )
    return list(dict.fromkeys(trial.faults))


def check_backend(
    backend: Backend,
    queries: Sequence[SearchQuery | str],
    *,
    limit: int = 10,
    exact: bool = True,
    unreachable: Callable[[], Backend] | None = None,
    mistaken: Callable[[], Backend] | None = None,
) -> None:
    """Check that a search backend keeps to the protocol `Backend`, and close it.

    Answers have at most `limit` documents, each once, with finite scores that fall. Equal queries
    have equal answers, also from several threads. Any text is answered or refused with
    `BackendError`: empty, other scripts, operators of query languages.

    Parameters
    ----------
    backend : Backend
        Backend with an index that is filled.
    queries : sequence of SearchQuery or str
        Queries that the index answers, one of them with two documents or more. Vector indexes need
        `SearchQuery` with a vector.
    limit : int
        Documents of each query.
    exact : bool
        False for an index whose answers may differ from time to time.
    unreachable : callable, optional
        Makes a backend whose engine is not reached; it must raise a temporary `BackendError`.
    mistaken : callable, optional
        Makes a backend with a mistake, such as an unknown index; it must raise a `BackendError`
        that is not temporary, or `OptionError`.

    Raises
    ------
    AssertionError
        With a sentence for each promise that does not hold.

    Examples
    --------
    >>> from idealrank.live.backends.python_function import FunctionBackend
    >>> check_backend(
    ...     FunctionBackend(lambda text, limit: sorted(set(text.split()))[:limit]), ["one two"]
    ... )
    """
    faults = faults_of_backend(
        backend, queries, limit=limit, exact=exact, unreachable=unreachable, mistaken=mistaken
    )
    if faults:
        raise AssertionError(
            "\n".join(
                [
                    f"backend {getattr(backend, 'name', backend)} violates the protocol:",
                    *(f"* {fault}" for fault in faults),
                ]
            )
        )
