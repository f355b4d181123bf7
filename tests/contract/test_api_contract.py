"""The Python API that other programs depend on, frozen; `containment` says what may change."""

import json
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from tests.contract.containment import assert_kept
from tests.contract.snapshot import FILE, recorded, snapshot

FROZEN: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
NOW: dict[str, Any] = json.loads(json.dumps(snapshot()))

QRELS = {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}
RUN = {"q1": {"d2": 0.9, "d1": 0.4}, "q2": {"d9": 1.0}}


@pytest.mark.parametrize("part", FROZEN)
def test_nothing_is_gone_or_changed_unnoticed(part: str) -> None:
    """Names, parameters with their defaults, keys, and the fingerprint of every preset."""
    assert_kept(FROZEN[part], NOW[part], part)


def test_what_the_file_leaves_out_is_recorded_with_the_base_class() -> None:
    """A measure has its members in the file and the members of `Measure`: nothing public is
    unrecorded.
    """
    kept = recorded(NOW)["classes"]
    assert {
        name: kept["Measure"] | members
        for name, members in kept.items()
        if name in {cls.__name__ for cls in ir.MEASURES.values()}
    } == {cls.__name__: NOW["classes"][cls.__name__] for cls in ir.MEASURES.values()}


def test_keys_of_means_are_texts_that_any_spelling_finds() -> None:
    """The text of the measure as asked; also found by the measure or another tool's spelling."""
    means = ir.evaluate(QRELS, RUN, ["nDCG@10", ir.AP()]).mean()
    assert list(means) == ["nDCG@10", "AP"]
    assert means["nDCG@10"] == means["ndcg_cut_10"] == means["NDCG@10"] == means[ir.NDCG(cutoff=10)]
    assert means["AP"] == means["map"] == means[ir.AP()]
    with pytest.raises(KeyError, match=r"nDCG@5: not evaluated, only nDCG@10, AP"):
        means["nDCG@5"]


def test_values_of_a_measure_come_in_the_order_of_the_queries() -> None:
    """Per query, as float64."""
    evaluation = ir.evaluate(QRELS, RUN, ["RR", "nDCG@10"])
    assert list(evaluation.queries) == ["q1", "q2"]
    assert evaluation["RR"].dtype == np.float64
    assert evaluation["RR"].tolist() == [1.0, 0.0]
    assert evaluation.values.shape == evaluation.scored.shape == (2, 2)


def test_an_option_set_on_a_measure_wins_over_the_convention() -> None:
    """And an unset one is not the same as one set to the default."""
    assert ir.NDCG(gain="linear") != ir.NDCG()
    means = ir.evaluate(QRELS, RUN, [ir.NDCG(gain="linear"), ir.NDCG()], "lightgbm").mean()
    assert (
        means["nDCG(gain=linear)"]
        == ir.evaluate(QRELS, RUN, ["nDCG"], "lightgbm,gain=linear").mean()["nDCG"]
    )
    assert means["nDCG"] != means["nDCG(gain=linear)"]


def test_results_go_into_json_and_frames() -> None:
    """Standard JSON: None where a query does not count; a column per measure and one for the
    query.
    """
    evaluation = ir.evaluate(
        {**QRELS, "q3": {"d1": 0}},
        {**RUN, "q3": ["d1"]},
        ["nDCG@10", "P@1"],
        "standard,no_relevant=left-out",
    )
    record = {
        "mean": evaluation.mean(),
        "queries": evaluation.per_query(),
        "coverage": evaluation.coverage.as_dict(),
    }
    assert json.loads(json.dumps(record, allow_nan=False))["queries"]["q3"] == {
        "nDCG@10": None,
        "P@1": 0.0,
    }
    for backend in ("pandas", "polars", "pyarrow"):
        frame = evaluation.to_frame(backend)
        assert list(getattr(frame, "column_names", None) or frame.columns) == [
            "query",
            "nDCG@10",
            "P@1",
        ]


def test_the_one_liners_take_k_for_cutoff() -> None:
    """Both words, one of them at a time."""
    labels, scores = [3, 2, 3, 0, 1], [5.0, 4.0, 3.0, 2.0, 1.0]
    assert (
        ir.ndcg(labels, scores, k=3)
        == ir.ndcg(labels, scores, 3)
        == ir.ndcg(labels, scores, cutoff=3)
    )
    assert ir.dcg(labels, scores, k=3).shape == (1,)
    with pytest.raises(ir.InputError, match="found cutoff=3 and k=3"):
        ir.ndcg(labels, scores, cutoff=3, k=3)
