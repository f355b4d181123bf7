"""ranx sorts equal scores of long lists in an order of its own: the preset is exact below that
length, and the stated range holds.
"""

import numpy as np
import pytest

import idealrank as ir

pytestmark = pytest.mark.peers


def tied_list(n_documents: int, seed: int) -> tuple[dict[str, int], dict[str, float]]:
    """Judgments of one query, and a run with scores in descending order, many of them equal."""
    rng = np.random.default_rng(seed)
    documents = [f"d{number}" for number in range(n_documents)]
    scores = np.sort(rng.integers(0, n_documents // 4 + 1, n_documents))[::-1]
    grades = rng.integers(0, 4, n_documents)
    grades[0] = 3
    return dict(zip(documents, grades.tolist(), strict=True)), dict(
        zip(documents, scores.astype(float).tolist(), strict=True)
    )


def test_the_preset_is_exact_in_short_lists_and_the_range_holds_in_long_ones() -> None:
    ranx = pytest.importorskip("ranx")
    differing = 0
    for n_documents in (8, 15, 16, 20, 50):
        for seed in range(10):
            judged, listed = tied_list(n_documents, seed)
            theirs = float(
                ranx.evaluate(ranx.Qrels({"q": judged}), ranx.Run({"q": listed}), "ndcg@10")
            )
            ours = ir.evaluate({"q": judged}, {"q": listed}, "nDCG@10", "ranx").mean()["nDCG@10"]
            if n_documents < ir.Convention.of("ranx").unstable_from:
                assert theirs == pytest.approx(ours, abs=1e-12)
                continue
            differing += abs(theirs - ours) > 1e-9
            ties = next(
                ties
                for ties in ir.reconcile({"q": judged}, {"q": listed}, theirs).unstable
                if "ranx" in ties.conventions
            )
            assert ties.low - 1e-12 <= theirs <= ties.high + 1e-12
    assert differing > 0
