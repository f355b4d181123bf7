"""Values of the measures that count results, documents or queries, as `Measure.counts` says."""

import numpy as np
import pytest

from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.evaluation.evaluate import evaluate
from idealrank.measures import MEASURES
from idealrank.measures.measure import Measure
from tests.golden.harness import quietly

COUNTING = [name for name, cls in MEASURES.items() if cls.counts]
QUERIES, CUTOFF = 30, 4


def values_and_hits(measure: Measure) -> list[tuple[float, int, int]]:
    """Of each query the value, the relevant documents in the first ranks, and all of them; the
    latter by plain counting.
    """
    rng = np.random.default_rng(11)
    qrels = {
        str(query): {f"d{place}": int(grade) for place, grade in enumerate(rng.integers(0, 3, 9))}
        for query in range(QUERIES)
    }
    run = {
        query: [f"d{place}" for place in rng.permutation(12)[: int(rng.integers(1, 9))]]
        for query in qrels
    }
    values = quietly(
        evaluate, Qrels(qrels), Run(run), measure, Convention.of("standard")
    ).per_query()
    least = getattr(measure, "rel", None) or 1
    good = {
        query: {document for document, grade in grades.items() if grade >= least}
        for query, grades in qrels.items()
    }
    found = {query: len(good[query].intersection(run[query][:CUTOFF])) for query in qrels}
    return [
        (float(next(iter(values[query].values()))), found[query], len(good[query]))
        for query in qrels
    ]


@pytest.mark.parametrize("rel", [None, 2])
@pytest.mark.parametrize("name", COUNTING)
def test_a_value_is_a_number_of_what_its_measure_counts(name: str, rel: int | None) -> None:
    measure = MEASURES[name](cutoff=CUTOFF, rel=rel)
    for value, found, relevant in values_and_hits(measure):
        of = {"results": CUTOFF, "documents": relevant, "queries": 1}[measure.counts]
        counted = min(found, 1) if measure.counts == "queries" else found
        assert value * of == pytest.approx(counted, abs=1e-12)


def test_each_kind_is_counted_by_a_measure() -> None:
    assert {MEASURES[name].counts for name in COUNTING} == {"results", "documents", "queries"}
