"""Numbers of others lead to the convention of the tool they came from: scikit-learn, trec_eval, and
every recorded peer.
"""

import gzip
import math
from functools import lru_cache

import numpy as np
import pytest

from idealrank import Reconciliation, _kernel, reconcile
from idealrank.analysis.reconciliation.convention_search import Search
from idealrank.analysis.reconciliation.result import Stated
from idealrank.analysis.reconciliation.trials import Trials
from idealrank.conventions import PRESETS, Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.evaluation.evaluate import evaluate
from idealrank.measures.dcg import NDCG
from idealrank.measures.parse import parse_measure
from tests.conftest import shared_file
from tests.golden.checks import target_of
from tests.golden.known import VALUES as KNOWN
from tests.golden.records import Golden, Record


def names_of(found: Reconciliation) -> list[str]:
    return [name for match in found.matches for name in match.conventions]


def test_the_number_scikit_learn_computes_leads_to_its_preset() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(7)
    labels, scores = rng.integers(0, 4, (12, 6)), rng.integers(0, 4, (12, 6)).astype(float)
    labels[3] = 0  # a query without relevant documents

    value = metrics.ndcg_score(labels, scores, k=5)

    found = reconcile(labels, scores, value, "nDCG@5", "lightgbm")

    assert found.matches[0].conventions == ("sklearn",)
    assert found.matches[0].words == (
        "ties averaged over all orders instead of in input order; gain linear instead of exp2; "
        "queries without relevant documents as 0 instead of as 1"
    )


# Numbers of all presets lead back on the tables of `test_reconciliation.py`; on data of others
# every third one does in the default run.
SOME = [
    pytest.param(name, marks=() if place % 3 == 0 else pytest.mark.slow)
    for place, name in enumerate(PRESETS)
]


def text_of(name: str) -> bytes:
    return gzip.decompress(shared_file("data", "dl19", name).read_bytes())


@lru_cache
def dl19() -> tuple[Qrels, Run]:
    qrels = _kernel.read_text(
        _kernel.Text([text_of("qrels.dl19-passage.txt.gz")], "qrels"), duplicates="error"
    )
    run = _kernel.Text([text_of("run.msmarco-v1-passage.bm25-default.dl19.txt.gz")], "run")
    return Qrels.from_table(qrels), Run.from_text(run)


@lru_cache
def trials_on_dl19() -> Trials:
    return Trials.of_run(*dl19())


def test_the_published_number_of_dl19_leads_to_trec_eval() -> None:
    found = reconcile(*dl19(), "0.5058", "ndcg_cut_10", "lightgbm")

    assert {"trec_eval-9", "trec_eval-10", "ir_measures"} <= set(names_of(found))
    assert (
        found.matches[0].words
        == "gain linear instead of exp2; ideal of all judged instead of the returned documents"
    )


@pytest.mark.spread(4)
@pytest.mark.parametrize("name", SOME)
def test_the_number_of_every_preset_on_dl19_leads_back_to_it(name: str) -> None:
    value = evaluate(*dl19(), "nDCG@10", name).mean()["nDCG@10"]

    searches = [
        Search(trials_on_dl19(), Stated.parse(text), NDCG(cutoff=10), PRESETS["standard"])
        for text in (f"{value:.6f}", repr(value))
    ]
    printed, exact = (search.run() for search in searches)

    assert name in names_of(printed)
    assert name in names_of(exact)
    # Presets that stand before it give every query the same value: no number could tell them apart.
    assert exact.matches[0].group == next(
        match.group for match in exact.matches if name in match.conventions
    )


def test_the_number_of_pytrec_eval_on_dl19_leads_to_trec_eval_9() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = dl19()
    table = {
        query: {document: int(grade) for document, grade in qrels[query].items()} for query in qrels
    }
    scores: dict[str, dict[str, float]] = {}
    for line in text_of("run.msmarco-v1-passage.bm25-default.dl19.txt.gz").decode().splitlines():
        query, _, document, _, score, _ = line.split()
        scores.setdefault(query, {})[document] = float(score)
    results = pytrec_eval.RelevanceEvaluator(table, {"ndcg_cut.10"}).evaluate(scores)

    found = reconcile(
        qrels,
        run,
        math.fsum(result["ndcg_cut_10"] for result in results.values()) / len(results),
        "nDCG@10",
    )

    assert "trec_eval-9" in names_of(found)
    # equal on data without ties, missing queries or fractions
    assert found.matches[0].conventions == ("standard",)


# --- recorded numbers -----------------------------------------------------------------------------

# Fixtures on which conventions part: the ideal, ties, precision of scores, empty queries, negative
# grades, queries of one side only.
TELLING = (
    "unretrieved",
    "ties",
    "float32_tie",
    "all_zero_and_good",
    "negative",
    "missing_query",
    "extra_query",
    "grade_30",
)


@lru_cache
def golden() -> Golden:
    return Golden.read(shared_file("golden", "conventions.json"))


@lru_cache
def trials_on(fixture: str, *, only_returned: bool) -> Trials:
    """Shared by all numbers of a fixture: a search costs little once the alignments are there."""
    content = golden().fixtures[fixture]
    return Trials.of_run(content.qrels(only_returned=only_returned), content.run())


def is_checked(record: Record, name: str) -> bool:
    """A number of a call that a preset, unchanged, stands for."""
    target = target_of(record.peer, record.version, record.call)
    known = any(known.covers(record.peer, record.call, record.fixture) for known in KNOWN)
    return (
        target is not None
        and target.convention == name
        and record.value is not None
        and not known
        and record.fixture in TELLING
    )


@pytest.mark.spread(2)
@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("cutoff", [3, pytest.param(None, marks=pytest.mark.slow)])
def test_every_recorded_number_leads_to_the_preset_of_its_peer(
    name: str, cutoff: int | None
) -> None:
    checked = [
        record
        for record in golden().records
        if record.cutoff == cutoff and is_checked(record, name)
    ]
    records = {(record.fixture, record.cutoff, record.value): record for record in checked}.values()
    for record in records:
        target = target_of(record.peer, record.version, record.call)
        assert target is not None
        assert record.value is not None
        trials = trials_on(record.fixture, only_returned=target.arrays)
        found = Search(
            trials,
            Stated.parse(repr(record.value)),
            parse_measure(target.measure_at(record.cutoff)),
            Convention.of("standard"),
        ).run()

        assert name in names_of(found), str(record)
        # It is first, or what is before it gives the same number: then nothing in the number can
        # tell.
        match = next(match for match in found.matches if name in match.conventions)
        assert all(
            other.distance <= match.distance + 1e-12
            for other in found.matches[: found.matches.index(match)]
        ), str(record)
    if not records:
        pytest.skip(f"no unchanged call of {name} at this cutoff is recorded on these fixtures")
