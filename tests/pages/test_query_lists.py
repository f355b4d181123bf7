"""Listings of many queries at once are those of each query by itself."""

import numpy as np
import pytest

from idealrank.analysis.explanation.contributions import list_hits
from idealrank.conventions import Convention
from idealrank.data.align import align
from idealrank.data.judged import Judged
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.measures.parse import parse_run_measure
from idealrank.pages.report.query_lists import Lister
from idealrank.reports.subject import Listing

TOGETHER = ["nDCG@10", "nDCG", "DCG@5", "P@3", "R@4", "nDCG(gain=exp2)@4", "NumRet"]
ALONE = ["AP", "RR", "nDCG(judged_only=True)@10"]


def drawn(seed: int, *, negative: bool) -> tuple[Qrels, Run, list[str]]:
    """Judgments and a run with ties, with queries that only one of them has."""
    rng = np.random.default_rng(seed)
    documents = [f"d{number}" for number in range(30)]
    qrels = {
        f"q{query}": {
            str(name): int(rng.integers(-1 if negative else 0, 4))
            for name in rng.choice(documents, rng.integers(1, 9), False)
        }
        for query in range(8)
    }
    run = {
        f"q{query}": {
            str(name): float(rng.integers(0, 12))
            for name in rng.choice(documents, rng.integers(1, 25), False)
        }
        for query in range(2, 10)
    }
    return Qrels(qrels), Run(run), [f"q{query}" for query in range(11)]


def by_itself(lister: Lister, run: Run, query: str) -> Listing | None:
    return lister._listing(
        run,
        query,
        Convention.of(lister.convention, unjudged="skipped")
        if lister.measure.judged_only
        else lister.convention,
    )


def aligned(qrels: Qrels, run: Run, convention: Convention) -> Judged:
    """With every query, also those that do not count."""
    return align(
        qrels,
        run,
        Convention.of(convention, missing="zero", without_judgments="evaluated").alignment,
        top_depth=5,
    )


@pytest.mark.slow
@pytest.mark.parametrize("measure", [*TOGETHER, *ALONE])
@pytest.mark.parametrize(
    "switches",
    [
        "standard",
        "standard,ties=expected",
        "standard,ties=worst",
        "standard,negative=removed",
        "trec_eval-9",
    ],
)
def test_listings_of_many_queries_are_those_of_each_by_itself(measure: str, switches: str) -> None:
    for seed in range(3):
        qrels, run, queries = drawn(seed, negative=seed == 1)
        lister = Lister(qrels, parse_run_measure(measure), Convention.of(switches), 5)
        found = lister.listings(run, aligned(qrels, run, lister.convention), queries)
        assert list(found) == queries
        assert found == {query: by_itself(lister, run, query) for query in queries}


@pytest.mark.parametrize("measure", TOGETHER)
def test_most_measures_are_taken_apart_for_all_queries_at_once(measure: str) -> None:
    qrels, run, _ = drawn(0, negative=False)
    convention = Convention.of("standard")
    found = list_hits(
        aligned(qrels, run, convention),
        parse_run_measure(measure).under(convention),
        convention.alignment,
    )
    assert found is not None
