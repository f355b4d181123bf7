"""Results for programs are written piece by piece."""

import json
import tracemalloc

import numpy as np
import pytest

import idealrank as ir
from idealrank.reports.table.records import delimited, evaluation_rows, json_report, trec_report


@pytest.mark.slow
def test_the_values_of_many_queries_are_written_without_a_second_copy() -> None:
    """A dict of all of them takes some 400 bytes a query; the values themselves take 8."""
    count = 20_000
    evaluation = ir.evaluate(np.ones((count, 1)), np.ones((count, 1)), ["nDCG"])
    assert len(list(evaluation.queries)) == count  # the ids are made when first asked
    for report in (
        json_report,
        lambda *given, **options: delimited(evaluation_rows(*given, **options)),
    ):
        tracemalloc.start()
        for _ in report([evaluation], per_query=True):
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100 * count


def test_the_pieces_are_what_the_evaluation_has() -> None:
    """Also across the places where pieces end."""
    labels = np.arange(10_000) % 3
    evaluation = ir.evaluate(
        labels.reshape(-1, 1), np.ones((10_000, 1)), ["nDCG", "P@2"], "rankkit"
    )
    written = json.loads("".join(json_report([evaluation], per_query=True)))["runs"][0]["queries"]
    assert written == evaluation.per_query()
    assert list(written) == list(evaluation.queries)


def test_the_trec_layout_has_geometric_means_of_the_summary_alone() -> None:
    """As trec_eval -q prints gm_map."""
    evaluation = ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP", "GMAP"])
    lines = [line.split()[:2] for line in trec_report([evaluation], per_query=True)]
    assert lines == [["map", "q"], ["runid", "all"], ["map", "all"], ["gm_map", "all"]]
