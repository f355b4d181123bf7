"""The reports that browser tests open: of the demo, of three runs, of one run, of a gate, and of
names that mean harm.
"""

from functools import cache

import numpy as np

import idealrank as ir
from tests.conftest import PYDOCS

QRELS, BM25, MINILM = (str(PYDOCS / name) for name in ("qrels.txt", "bm25.run", "minilm.run"))
MEASURES = ["nDCG@10", "AP", "RR"]
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(2)>",
    "`${alert(3)}`",
    "{{ 7*7 }} <!-- --> ]]>",
    "שאילתה \u202eabc",
    "a=b&query=q1#x%41",
    "&lt;b&gt;",
    "javascript:alert(4)",
]


@cache
def demo() -> str:
    """The comparison that `make demo` makes, with texts, slices and other ways to compute it."""
    evaluations = [ir.evaluate(QRELS, run, MEASURES) for run in (BM25, MINILM)]
    slices = ir.read_categories(str(PYDOCS / "categories.csv"))
    comparison = ir.compare(*evaluations, slices=slices)
    return ir.report(
        comparison,
        evaluations=evaluations,
        qrels=QRELS,
        runs=[BM25, MINILM],
        queries=str(PYDOCS / "queries.tsv"),
        slices=slices,
    )


def some(
    names: list[str], *, n_queries: int = 70, seed: int = 1
) -> "tuple[dict[str, dict[str, int]], list[ir.Run]]":
    """Judgments and runs of so many queries; each run is a little better than the one before."""
    rng = np.random.default_rng(seed)
    documents = [f"d{number}" for number in range(30)]
    grades = rng.integers(0, 4, (n_queries, 20))
    qrels = {
        f"q{number}": dict(zip(documents[:20], row.tolist(), strict=True))
        for number, row in enumerate(grades)
    }
    runs = []
    for place, name in enumerate(names):
        scores = {
            query: {
                one: judged.get(one, 0) * 0.4 * place + rng.normal()
                for one in rng.choice(documents, 15, replace=False).tolist()
            }
            for query, judged in qrels.items()
        }
        runs.append(ir.Run(scores, name=name))
    return qrels, runs


@cache
def three() -> str:
    """Three runs, every two compared."""
    qrels, runs = some(["first", "second", "third"])
    evaluations = [ir.evaluate(qrels, run, ["nDCG@10", "RR"]) for run in runs]
    return ir.report(
        ir.compare(*evaluations), evaluations=evaluations, qrels=qrels, runs=runs, robustness=False
    )


# 40 letters and more, which differ in the middle
LONG = [f"bm25-tuned-2026-11-{day:02d}-k1-0.9-b-0.4-stemmed" for day in range(1, 9)]
OBJECTS = ["constructor", "__proto__", "toString"]  # what every object of JavaScript has


@cache
def twelve() -> str:
    """Twelve runs with names that are hard to show, not in the order of their means; the best is
    `toString`, then comes one of `LONG`.
    """
    names = ["dense", *LONG, *OBJECTS]
    qrels, runs = some([*names[:2], *OBJECTS[:2], *names[2:9], OBJECTS[2]], n_queries=20)
    evaluations = [ir.evaluate(qrels, run, ["nDCG@10", "RR"]) for run in [*runs[::2], *runs[1::2]]]
    texts = {f"d{number}": f"Title number {number}. And what follows it." for number in range(30)}
    shown = [*runs[::2], *runs[1::2]]
    return ir.report(
        ir.compare(*evaluations, test="t"),
        evaluations=evaluations,
        qrels=qrels,
        runs=shown,
        documents=texts,
        robustness=False,
    )


@cache
def long_names() -> str:
    """Two runs of long names."""
    qrels, runs = some(LONG[:2], n_queries=20)
    evaluations = [ir.evaluate(qrels, run, "nDCG@10") for run in runs]
    return ir.report(
        ir.compare(*evaluations), evaluations=evaluations, qrels=qrels, runs=runs, robustness=False
    )


@cache
def single() -> str:
    """One run, with a measure of which less is better, and nothing but its values."""
    qrels, runs = some(["only"], n_queries=8)
    return ir.report(ir.evaluate(qrels, runs[0], ["nDCG@10", "Unjudged@10"]))


@cache
def gate() -> str:
    """A gate that a worse run closes."""
    qrels, runs = some(["good", "better"])
    new, baseline = (ir.evaluate(qrels, run, ["nDCG@10", "RR"]) for run in runs)
    return ir.report(
        ir.gate(new, baseline),
        evaluations=[new, baseline],
        qrels=qrels,
        runs=runs,
        robustness=False,
    )


@cache
def pull_request() -> str:
    """The gate of the guide: bm25 would replace minilm."""
    new, baseline = (ir.evaluate(QRELS, run, "nDCG@10") for run in (BM25, MINILM))
    return ir.report(
        ir.gate(new, baseline),
        evaluations=[new, baseline],
        qrels=QRELS,
        runs=[BM25, MINILM],
        queries=str(PYDOCS / "queries.tsv"),
        robustness=False,
    )


@cache
def hostile() -> str:
    """Ids, names and texts that would run, close or turn what stands around them."""
    qrels = {
        name: {document: 2, "d2": 1}
        for name, document in zip(HOSTILE, reversed(HOSTILE), strict=True)
    }
    runs = [
        ir.Run(
            {query: [*extra, document, "u"] for query, (document, _) in qrels.items()},
            name=f"{HOSTILE[0]} {place}",
        )
        for place, extra in enumerate((["x"], []))
    ]
    evaluations = [ir.evaluate(qrels, run, "nDCG@10") for run in runs]
    texts = {query: f"{HOSTILE[place - 1]} {query}" for place, query in enumerate(qrels)}
    slices = {query: (HOSTILE[place % 2],) for place, query in enumerate(qrels)}
    return ir.report(
        ir.compare(*evaluations),
        evaluations=evaluations,
        qrels=qrels,
        runs=runs,
        queries=texts,
        slices=slices,
        documents={name: f"text of {name}" for name in HOSTILE},
        robustness=False,
    )
