"""Click models written slowly: every state of mind of a user is listed, with its probability, and
steps of EM sum over all of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

Session: TypeAlias = tuple[str, Sequence[str], Sequence[int]]  # query, documents, clicks
Parameters: TypeAlias = dict[object, float]
Facts: TypeAlias = list[tuple[object, bool]]  # a parameter's name, and whether its event happened
Stories: TypeAlias = Callable[[Session], Iterator[Facts]]


def pbm(session: Session) -> Iterator[Facts]:
    """Each document attracts or not and each rank is examined or not; both together are a click."""
    query, documents, clicks = session
    for attracted in product((True, False), repeat=len(documents)):
        for examined in product((True, False), repeat=len(documents)):
            if all(
                (one and other) == bool(click)
                for one, other, click in zip(attracted, examined, clicks, strict=True)
            ):
                yield [
                    *(
                        (("attractive", query, document), one)
                        for document, one in zip(documents, attracted, strict=True)
                    ),
                    *((("examined", rank), one) for rank, one in enumerate(examined)),
                ]


def ubm(session: Session) -> Iterator[Facts]:
    """As the position-based model, but examination depends also on the last click above."""
    _, documents, clicks = session
    above = [
        max((rank + 1 for rank in range(place) if clicks[rank]), default=0)
        for place in range(len(documents))
    ]
    for story in pbm(session):
        yield [
            (("examined", name[1], above[name[1]]) if name[0] == "examined" else name, one)
            for name, one in story
        ]  # type: ignore[index]


def dbn(session: Session) -> Iterator[Facts]:
    """Users read from the top; a click may satisfy, which ends the reading; otherwise they go on,
    or give up.
    """
    query, documents, clicks = session
    n = len(documents)
    for attracted in product((True, False), repeat=n):
        facts: Facts = [
            (("attractive", query, document), one)
            for document, one in zip(documents, attracted, strict=True)
        ]
        yield from _read(query, documents, clicks, attracted, facts, 0)


def _read(
    query: str,
    documents: Sequence[str],
    clicks: Sequence[int],
    attracted: Sequence[bool],
    facts: Facts,
    rank: int,
) -> Iterator[Facts]:
    if rank == len(documents):
        yield facts
        return
    if attracted[rank] != bool(clicks[rank]):
        return
    quiet = not any(clicks[rank + 1 :])
    for satisfied in (True, False) if clicks[rank] else (False,):
        known = [
            *facts,
            *([(("satisfied", query, documents[rank]), satisfied)] if clicks[rank] else []),
        ]
        if satisfied:
            if quiet:
                yield known
        elif rank + 1 == len(documents):
            yield known
        else:
            if quiet:
                yield [*known, ("continues", False)]
            yield from _read(
                query, documents, clicks, attracted, [*known, ("continues", True)], rank + 1
            )


def likelihood(stories: Stories, session: Session, parameters: Parameters) -> float:
    """Probability of the clicks of a session: the sum over all its stories."""
    return sum(_probability(facts, parameters) for facts in stories(session))


def fit(
    stories: Stories,
    sessions: Sequence[Session],
    iterations: int,
    start: float = 0.5,
    first: Parameters | None = None,
) -> Parameters:
    """Steps of expectation maximisation: each parameter becomes the share of its events that
    happened, over all stories.
    """
    parameters: Parameters = defaultdict(lambda: start, first or {})
    for _ in range(iterations):
        happened: dict[object, float] = defaultdict(float)
        events: dict[object, float] = defaultdict(float)
        for session in sessions:
            told = [(facts, _probability(facts, parameters)) for facts in stories(session)]
            whole = sum(weight for _, weight in told)
            for facts, weight in told:
                for name, one in facts:
                    events[name] += weight / whole
                    happened[name] += weight / whole * one
        parameters = defaultdict(
            lambda: start, {name: happened[name] / events[name] for name in events}
        )
    return parameters


def _probability(facts: Facts, parameters: Parameters) -> float:
    found = 1.0
    for name, one in facts:
        found *= parameters[name] if one else 1 - parameters[name]
    return found
