"""Stores for tests of the command line: the example runs, evaluated at fixed times, some in a git
repository.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from idealrank.data.run import Run
from idealrank.evaluation.judged_hits import judged_hits
from idealrank.inputs.comparison import compare
from idealrank.inputs.evaluation import evaluate, read_qrels, read_run
from idealrank.inputs.gate import gate
from idealrank.store import Record, Store
from tests.cli.terminal import DATA, Said
from tests.git import Repository

_ID = re.compile(r"\b[0-9a-f]{12}\b")
# of a checked-out file; times of a store have microseconds
_MODIFIED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")


@dataclass
class Clock:
    """A day later at each call."""

    day: int = 0

    def __call__(self) -> str:
        self.day += 1
        return f"2026-01-{self.day:02d}T09:30:00.000000+00:00"


def with_stable_ids(said: Said, ids: list[str]) -> Said:
    """What was said, with the ids of a store by their order in `ids`, as wide as before."""
    names = {one: f"id-{place:09d}" for place, one in enumerate(ids, start=1)}
    texts = (
        _ID.sub(lambda found: names.get(found[0], found[0]), text) for text in (said.out, said.err)
    )
    return Said(
        said.code, *(_MODIFIED.sub("when-it-was-last-changed.".ljust(25), text) for text in texts)
    )


def example_store(folder: Path) -> list[str]:
    """Two runs, evaluated on three days; then other judgments, and another convention. The ids, in
    order.
    """
    clock, changed = Clock(), folder.parent / "changed.qrels"
    changed.write_text(
        DATA.joinpath("qrels.txt").read_text(encoding="utf-8").replace("q1 0 d1 ", "q1 0 d9 "),
        encoding="utf-8",
    )
    with Store.open(folder) as store:
        return [
            store.add(
                evaluate(DATA / qrels, DATA / f"{run}.run", ["nDCG@10", "AP"], convention),
                hits=judged_hits(read_qrels(DATA / qrels), read_run(DATA / f"{run}.run"))
                if convention == "standard"
                else None,
                record=Record(
                    time=clock(),
                    tags=tags,
                    command=f"idealrank evaluate {Path(qrels).name} {run}.run --store "
                    f"{folder.name}",
                ),
            )
            for qrels, run, convention, tags in (
                ("qrels.txt", "bm25", "standard", ("main",)),
                ("qrels.txt", "neural", "standard", ()),
                ("qrels.txt", "bm25", "standard", ("main", "release")),
                (changed, "bm25", "standard", ()),
                (changed, "bm25", "sklearn", ()),
                ("qrels.txt", "neural", "standard", ()),
            )
        ]


def example_verdicts(folder: Path, ids: list[str]) -> list[str]:
    """A comparison of the first two evaluations of the example store, and a gate of them the other
    way round.
    """
    record = Record(
        time="2026-01-07T09:30:00.000000+00:00",
        command="idealrank compare qrels.txt bm25.run neural.run",
        notes=("as a test",),
    )
    with Store.open(folder) as store:
        bm25, neural = (store.evaluation(one).evaluation for one in ids[:2])
        compared = store.add_comparison(compare(bm25, neural), ids[:2], record=record)
        return [
            compared,
            store.add_gate(
                gate(bm25, neural),
                [ids[1], ids[0]],
                record=Record(time="2026-01-08T09:30:00.000000+00:00"),
            ),
        ]


def store_in_repository(
    folder: Path, repository: Repository, values: dict[int, float], query: str = "q1"
) -> list[str]:
    """Evaluations of the query in some commits of a repository, by their places; value 0 finds
    nothing, 1/2 and 1 stand for ranks.
    """
    commits, clock = repository.commits(), Clock()
    with Store.open(folder) as store:
        return [
            add_value(store, query, value, Record(time=clock(), commit=commits[place], dirty=False))
            for place, value in values.items()
        ]


def add_value(store: Store, query: str, value: float, record: Record) -> str:
    """An evaluation in which the query has this reciprocal rank, and another one always 1."""
    ranking = [f"n{rank}" for rank in range(1, round(1 / value))] + ["a"] if value else ["n"]
    evaluation = evaluate(
        {query: {"a": 1}, "other": {"a": 1}},
        Run({query: ranking, "other": ["a"]}, name="search"),
        ["RR"],
    )
    return store.add(evaluation, record=record)
