"""The check of a live call against the convention that reproduces it, and random input with ties
for it.
"""

import random
from collections.abc import Sequence
from importlib import metadata

from idealrank.conventions import Convention
from tests.golden.checks import target_of
from tests.golden.harness import Fixture, Row, as_arrays, as_tables, quietly
from tests.golden.records import same
from tests.parity.calls import Call

CUTOFFS = (None, 1, 3, 10)


def disagreements(
    call: Call, fixture: Fixture, cutoffs: Sequence[int | None] = CUTOFFS
) -> list[str]:
    """Queries whose value the convention does not reproduce, as tables and, for peers that take
    them, as arrays.
    """
    target = target_of(call.peer, metadata.version(call.package), call.call)
    if target is None:
        raise LookupError(f"{call.peer} {call.call}: no convention claims to reproduce it")
    convention, lines = Convention.of(target.convention), []
    for cutoff in cutoffs:
        if not call.takes(fixture, cutoff):
            continue
        measure = target.measure_at(cutoff)
        ways = {
            "tables": quietly(
                as_tables, fixture, [measure], convention, only_returned=target.arrays
            )[0]
        }
        if target.arrays:
            ways["arrays"] = quietly(as_arrays, fixture, [measure], convention)[0]
        for query, value in call.function(fixture, cutoff).items():
            for way, found in ways.items():
                if not same(found.get(query), value, target.tolerance):
                    lines.append(
                        f"{measure} of {query} as {way} under {target.convention}: "
                        f"{call.peer} says {value}, found {found.get(query)}"
                    )
    return lines


def none_taken(
    call: Call, fixtures: Sequence[Fixture], cutoffs: Sequence[int | None] = CUTOFFS
) -> bool:
    """True if the peer can be given nothing here, as gdeval where there is no Perl."""
    return not any(call.takes(fixture, cutoff) for fixture in fixtures for cutoff in cutoffs)


def random_fixture(
    seed: int, *, n_queries: int = 6, longest: int = 12, top_grade: int = 4
) -> Fixture:
    """Lists with ties, unjudged documents, judged ones that were not returned, and queries without
    a relevant one.
    """
    rng = random.Random(seed)
    queries: dict[str, list[Row]] = {}
    for number in range(n_queries):
        documents = [f"d{document}" for document in rng.sample(range(100), rng.randint(2, longest))]
        grades = [0] if rng.random() < 0.15 else range(top_grade + 1)
        rows: list[Row] = [
            (
                document,
                round(rng.uniform(-2, 2), 1),
                None if rng.random() < 0.2 else float(rng.choice(grades)),
            )
            for document in documents
        ]
        rows += [
            (f"m{missed}", None, float(rng.choice(grades))) for missed in range(rng.randint(0, 3))
        ]
        if all(grade is None for *_, grade in rows):
            rows[0] = (*rows[0][:2], 1.0)
        queries[str(100 + number)] = rows
    return Fixture(queries)


def long_fixture(seed: int) -> Fixture:
    """Two lists of 200 documents without ties, grades falling slowly down the list."""
    rng = random.Random(seed)
    scores = [rng.sample(range(100_000), 200) for _ in range(2)]
    return Fixture(
        {
            str(q): [
                (f"d{i}", float(score), float(rng.choice([0, 0, 0, 1, 2, 3])))
                for i, score in enumerate(one)
            ]
            for q, one in enumerate(scores)
        }
    )
