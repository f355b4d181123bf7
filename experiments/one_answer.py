"""Compare the answers of compare, gate, robust, why, the page and the trackers on 20 pairs of runs.

Data       Two rankers of all qualities, 30 queries of 30 documents, three in ten of them relevant,
judged by one of five kinds of pools.
           nDCG@10 is the first measure, P@10 its companion.
Answers    The two-sided p and the verdict on the new run, from each; of the gate its outcome, whose
test is one-sided.
"""

import argparse
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import idealrank as ir
from idealrank.pages.report.material import ReportMaterial, with_gate
from idealrank.reports.table.text import parts_text
from idealrank.reports.views.robustness import robust_parts
from idealrank.trackers.content import content_of

PAIRS = 20
QUERIES = DOCUMENTS = 30
# first documents of the old and the new run that are judged
POOLS = ((30, 30), (8, 2), (2, 8), (5, 5), (12, 0))
MEASURES = ("nDCG@10", "P@10")
PRINTED = {  # first words of the text of robust, and the verdict they stand for
    "new is better than old:": "better",
    "new is worse than old:": "worse",
    "These queries do not show whether": "undecided",
    "Too few judgments to say": "too few judgments",
}
TRACKED = {  # words logged to a tracker, and the verdict they stand for
    "new is better than old": "better",
    "new is worse than old": "worse",
    "whether new or old is better is undecided": "undecided",
    "too few judgments to say": "too few judgments",
}


class Answer(NamedTuple):
    """One command's answer on a pair of runs: the two-sided p value, and the verdict or outcome."""

    p: float
    said: str


class Answers(NamedTuple):
    """The answers of all commands on one pair."""

    compare: Answer
    gate: Answer
    robust: Answer
    why: Answer
    page: Answer
    tracker: Answer


class Asked(NamedTuple):
    """The answers on one pair, with the rows of `compare` and `gate` behind them."""

    answers: Answers
    row: Any
    check: Any


def pair(seed: int) -> tuple[ir.Qrels, ir.Run, ir.Run]:
    """Two rankers of all qualities, judged by one of five kinds of pools."""
    rng = np.random.default_rng(seed)
    quality = rng.uniform(0.3, 1.5, 2)
    qrels: dict[str, dict[str, int]] = {}
    runs: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
    for number in range(QUERIES):
        grades = rng.integers(1, 4, DOCUMENTS) * (rng.random(DOCUMENTS) < 0.3)
        pool = set()
        for run, good, depth in zip(runs, quality, POOLS[seed % len(POOLS)], strict=True):
            order = [
                f"d{place}" for place in np.argsort(-(good * grades + rng.normal(0, 1, DOCUMENTS)))
            ]
            run[f"q{number:02d}"] = order[:10]
            pool |= set(order[:depth])
        qrels[f"q{number:02d}"] = {
            document: int(grades[int(document[1:])]) for document in sorted(pool)
        }
    return ir.Qrels(qrels), ir.Run(runs[0], name="old"), ir.Run(runs[1], name="new")


@cache
def asked(seed: int) -> Asked:
    """Ask every command about one pair of runs."""
    qrels, old, new = pair(seed)
    first = MEASURES[0]
    before, after = (
        ir.evaluate(qrels, run, list(MEASURES), keep_unjudged=True) for run in (old, new)
    )
    comparison = ir.compare(before, after)
    row, gated = comparison.pairs[0][first], ir.gate(after, before, when_unjudged="neutral")
    robust = ir.robust(qrels, old, new, first, variants=["cutoff"])
    why = ir.attribute(qrels, old, new, first).as_dict()
    page: Any = with_gate(
        ReportMaterial(evaluations=(after, before), measures=after.measures), gated
    ).comparison
    shown = page.pairs[0][first]
    check = gated.checks[0]
    answers = Answers(
        compare=Answer(row.p_corrected, row.verdict),
        gate=Answer(check.p_two_sided, gated.outcome),
        robust=Answer(robust.asked.p, _read(parts_text(robust_parts(robust)))),
        why=Answer(why["p"], why["verdict"]),
        page=Answer(shown.p_corrected, shown.verdict),
        tracker=_tracked(comparison),
    )
    return Asked(answers, row, check)


def _read(text: str) -> str:
    """Read the verdict from the first words of the text of `idealrank robust`; the text if it
    begins with none.
    """
    first = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return next((verdict for words, verdict in PRINTED.items() if first.startswith(words)), first)


def _tracked(comparison: ir.Comparison) -> Answer:
    """Read p and the verdict from the content logged to a tracker."""
    content = content_of(comparison, page="")
    p = next(
        value
        for name, value in content.metrics.items()
        if "nDCG" in name and name.endswith("_difference_p")
    )
    words = content.words["verdicts"].splitlines()[0]
    return Answer(p, next(verdict for said, verdict in TRACKED.items() if said in words))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"pairs of runs, default {PAIRS}")
    options = parser.parse_args(arguments)
    titles = (
        "pair",
        "judged",
        "compare",
        "p",
        "gate",
        "two-sided p",
        "robust",
        "why",
        "page",
        "tracker",
    )
    print(f"| {' | '.join(titles)} |\n|---:|---|---|---:|---|---:|---|---|---|---|")
    for seed in range(options.pairs):
        found = asked(seed).answers
        pool = "old {}, new {}".format(*POOLS[seed % len(POOLS)])
        cells = [
            str(seed),
            pool,
            _said(found.compare),
            _p(found.compare),
            _said(found.gate),
            _p(found.gate),
        ]
        cells += [
            _said(one) if one.p == found.compare.p else f"{_said(one)}, p {_p(one)}"
            for one in found[2:]
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def _said(answer: Answer) -> str:
    return answer.said


def _p(answer: Answer) -> str:
    return f"{answer.p:.5f}"


if __name__ == "__main__":
    main()
