"""A collection whose judgments come from one run alone, so that they do not reach what a better run
brings up.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import idealrank as ir
from idealrank.evaluation.evaluate import Evaluation

Lists = dict[str, list[str]]
Grades = dict[str, dict[str, int]]

POOL = 12  # first ranks of the baseline that are judged


def collection(queries: int = 17, better: float = 0.5) -> tuple[Grades, Grades, Lists, Lists]:
    """All grades, those of the baseline's first ranks, the baseline's first ten documents, and
    those of a run that is truly better.

    60 documents a query, three in ten of them relevant; each run ranks by noise plus a relevance
    that the second run weighs more.
    """
    generator = np.random.default_rng(1)
    everything: Grades = {}
    pooled: Grades = {}
    baseline: Lists = {}
    run: Lists = {}
    for number in range(queries):
        query, names = f"q{number:02d}", [f"d{number}-{place}" for place in range(60)]
        relevant = (generator.random(60) < 0.3).astype(int)
        first, second = (
            np.argsort(-(relevant * weight + generator.normal(size=60)))
            for weight in (1.2, 1.2 + better)
        )
        everything[query] = dict(zip(names, map(int, relevant), strict=True))
        pooled[query] = {names[place]: int(relevant[place]) for place in first[:POOL]}
        baseline[query], run[query] = (
            [names[place] for place in order[:10]] for order in (first, second)
        )
    return everything, pooled, baseline, run


def evaluated(
    grades: Grades, lists: Lists, name: str, measures: Sequence[str] = ("nDCG@10",)
) -> Evaluation:
    """An evaluation that keeps its unjudged documents and counts them."""
    return ir.evaluate(
        grades, ir.Run(lists, name=name), ir.with_companions(list(measures)), keep_unjudged=True
    )


def written(folder: Path) -> None:
    """The collection as files: full.qrels, pooled.qrels, main.run, new.run."""
    everything, pooled, baseline, run = collection()
    for name, grades in (("full", everything), ("pooled", pooled)):
        (folder / f"{name}.qrels").write_text(qrels_text(grades), encoding="utf-8")
    for name, lists in (("main", baseline), ("new", run)):
        (folder / f"{name}.run").write_text(run_text(lists), encoding="utf-8")


def qrels_text(grades: Mapping[str, Mapping[str, int]]) -> str:
    """Judgments in TREC's format."""
    return "".join(
        f"{query} 0 {document} {grade}\n"
        for query, judged in grades.items()
        for document, grade in judged.items()
    )


def run_text(lists: Mapping[str, Sequence[str]]) -> str:
    """A run in TREC's format."""
    return "".join(
        f"{query} Q0 {document} {rank} {100 - rank} t\n"
        for query, listed in lists.items()
        for rank, document in enumerate(listed, 1)
    )
