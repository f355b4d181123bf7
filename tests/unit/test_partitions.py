"""The function that engines call on partitions: every cut of the rows gives the bits of `evaluate`."""

import random
import warnings

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import idealrank as ir
from idealrank.api.partitions import PartitionPlan, evaluate_rows, evaluated_batches, evaluation_of, finished, local_rows, whole_queries
from idealrank.testing import strategies

MEASURES = ["nDCG@3", "AP", "RR", "num_q"]
QUERIES = ("q1", "q2", "q3", "é")


def evaluated(qrels, run, convention="standard"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IdealrankWarning)
        return ir.evaluate(qrels, run, MEASURES, convention)


def rows_of(qrels, run) -> pa.Table:
    return pa.concat_tables([local_rows(qrels, "qrels"), local_rows(run, "run")])


def in_partitions(table: pa.Table, plan: PartitionPlan, count: int, batch: int, seed: int = 1) -> ir.Evaluation:
    """As an engine does: rows in another order, partitions by a hash of the query, sorted, in record batches."""
    rows = table.take(random.Random(seed).sample(range(table.num_rows), table.num_rows))
    home = np.array([sum(query) % count for query in rows.column("query").to_pylist()], np.int64)
    order = [("position", "ascending")] if plan.needs_order else []
    found = []
    for partition in range(count):
        part = rows.filter(pa.array(home == partition)).sort_by([("query", "ascending"), *order])
        found += evaluated_batches(part.to_batches(max_chunksize=batch), plan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IdealrankWarning)
        return evaluation_of(pa.Table.from_batches(found), plan)


def same(found: ir.Evaluation, whole: ir.Evaluation) -> None:
    whole = whole.on(sorted(whole.queries, key=str.encode))
    assert (list(found.queries), found.values.tobytes(), found.scored.tobytes()) == (
        list(whole.queries), whole.values.tobytes(), whole.scored.tobytes(),
    )  # fmt: skip
    assert found.mean() == pytest.approx(whole.mean(), abs=0, rel=0, nan_ok=True)
    assert found.coverage.as_dict() == whole.coverage.as_dict()
    assert sorted(found.coverage.missing_queries) == sorted(whole.coverage.missing_queries)
    assert found.provenance.judgments == whole.provenance.judgments


@given(
    strategies.judgments(queries=QUERIES), strategies.runs(queries=(*QUERIES, "alone")),
    st.sampled_from(["standard", "trec_eval", "lightgbm", "standard,missing=left-out"]),
    st.integers(1, 5), st.integers(1, 4),
)  # fmt: skip
def test_any_partitions_have_the_bits_of_evaluate(qrels, run, convention, count, batch) -> None:
    try:
        whole = evaluated(qrels, run, convention)
    except ir.InputError:
        return
    same(in_partitions(rows_of(qrels, run), PartitionPlan.of(MEASURES, convention), count, batch), whole)


def test_the_order_of_rows_changes_no_bit_of_expected_values() -> None:
    """Sums over tied documents round by order; `evaluate` differs in the last bit, partitions do not."""
    rng = np.random.default_rng(7)
    run = {f"q{n}": {f"d{k}": float(rng.integers(40)) for k in range(300)} for n in range(40)}
    qrels = {query: {f"d{k}": int(rng.integers(4)) for k in rng.choice(300, 90, replace=False)} for query in run}
    plan = PartitionPlan.of("nDCG@10", "standard,ties=expected")
    one, other = (in_partitions(rows_of(qrels, run), plan, 3, 64, seed) for seed in (1, 2))
    assert one.values.tobytes() == other.values.tobytes()
    whole = ir.evaluate(qrels, run, "nDCG@10", "standard,ties=expected").on(list(one.queries))
    np.testing.assert_allclose(one.values, whole.values, rtol=0, atol=1e-15)


def test_a_query_goes_on_in_the_next_batch() -> None:
    """Where engines cut batches (`maxRecordsPerBatch`) no query may be measured twice."""
    run = {f"q{n}": {f"d{k}": float(k) for k in range(n)} for n in range(1, 12)}
    qrels = {query: {"d0": 1, "d3": 2} for query in run}
    whole = evaluated(qrels, run)
    for block in (1, 2, 5, 1000):
        rows = rows_of(qrels, run).sort_by("query")
        tables = list(whole_queries(rows.to_batches(max_chunksize=3), block))
        plan = PartitionPlan.of(MEASURES)
        same(finished([evaluate_rows(table, plan) for table in tables]), whole)
    assert len(list(whole_queries(rows.to_batches(max_chunksize=3), 1))) > 5


def test_a_query_that_comes_back_is_refused() -> None:
    """In one partition, where rows are not sorted; and from two partitions."""
    rows = [pa.record_batch({"query": names}) for names in (["a", "b"], ["a", "c"])]
    with pytest.raises(ir.InputError, match="query 'a' comes in two tables"):
        list(whole_queries(rows, 1))
    table, plan = rows_of({"q": {"a": 1}}, {"q": ["a"]}), PartitionPlan.of("AP")
    twice = [batch for _ in range(2) for batch in evaluated_batches(table.to_batches(), plan)]
    with pytest.raises(ir.InputError, match="query 'q' came back from two partitions"):
        evaluation_of(pa.Table.from_batches(twice), plan)


def test_partitions_with_judgments_or_results_alone_count() -> None:
    qrels, run = {"a": {"x": 1}, "b": {"x": 1}}, {"b": ["x"], "c": ["x"]}
    found = in_partitions(rows_of(qrels, run), PartitionPlan.of(MEASURES), 3, 1)
    same(found, evaluated(qrels, run))
    assert (found.coverage.missing, found.coverage.without_judgments) == (1, 1)


def test_a_user_is_told_what_row_cannot_be_used() -> None:
    rows = {"query": ["q", "q"], "document": ["a", "b"], "value": [1.0, None], "kind": [0, 1]}
    with pytest.raises(ir.InputError, match="run: found query 'q', document 'b', score None"):
        evaluate_rows(pa.table(rows), PartitionPlan.of("AP"))
    rows = {"query": ["q", None], "document": ["a", "b"], "value": [1.0, 1.0], "kind": [1, 0]}
    with pytest.raises(ir.InputError, match="qrels: found query None, document 'b'"):
        evaluate_rows(pa.table(rows), PartitionPlan.of("AP"))
    rows = pa.record_batch({"query": ["q", "q"], "document": ["a", "a"], "value": [1.0, 2.0], "kind": [0, 0]})
    with pytest.raises(ir.InputError, match='"q a" a second time'):
        evaluation_of(pa.Table.from_batches(evaluated_batches([rows], PartitionPlan.of("AP"))), PartitionPlan.of("AP"))


def test_nothing_to_evaluate_is_said_as_by_evaluate() -> None:
    with pytest.raises(ir.InputError, match="no query to evaluate: found 0 judged queries, run 'run' answers 1"):
        in_partitions(local_rows({"q": ["a"]}, "run"), PartitionPlan.of("AP"), 1, 1)


def test_measures_without_numbers_are_refused() -> None:
    with pytest.raises(ir.OptionError, match="text values"):
        PartitionPlan.of("relstring")
