"""The function that engines call on partitions: every cut of the rows gives the bits of
`evaluate`.
"""

import random
import warnings

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import idealrank as ir
from idealrank.engines.partition_comparison import (
    ComparisonPlan,
    added_batches,
    compared_batches,
    comparison_of,
)
from idealrank.engines.partitions import (
    BASELINE,
    PROBLEM,
    REFUSED,
    PartitionPlan,
    evaluate_rows,
    evaluated_batches,
    evaluation_of,
    finished,
    local_rows,
    needs_order,
    parsed_lines,
    refuse_order,
    result_schema,
    whole_queries,
)
from idealrank.inputs.evaluation import warn_of_doubt
from idealrank.testing import strategies

MEASURES = ["nDCG@3", "AP", "RR", "num_q"]
QUERIES = ("q1", "q2", "q3", "é")


def evaluated(qrels, run, convention="standard"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IdealrankWarning)
        return ir.evaluate(qrels, run, MEASURES, convention)


def rows_of(qrels, run) -> pa.Table:
    return pa.concat_tables([local_rows(qrels, "qrels"), local_rows(run, "run")])


def in_partitions(
    table: pa.Table, plan: PartitionPlan, count: int, batch: int, seed: int = 1, judgments=None
) -> ir.Evaluation:
    """As an engine does: rows in another order, partitions by a hash of the query, sorted, in
    record batches.
    """
    rows = table.take(random.Random(seed).sample(range(table.num_rows), table.num_rows))
    home = np.array([sum(query) % count for query in rows.column("query").to_pylist()], np.int64)
    order = [("position", "ascending")] if needs_order(plan.convention) else []
    found = []
    for partition in range(count):
        part = rows.filter(pa.array(home == partition)).sort_by([("query", "ascending"), *order])
        found += evaluated_batches(part.to_batches(max_chunksize=batch), plan, judgments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IdealrankWarning)
        return evaluation_of(pa.Table.from_batches(found, result_schema()), plan, judgments)


def same(found: ir.Evaluation, whole: ir.Evaluation) -> None:
    whole = whole.on(sorted(whole.queries, key=str.encode))
    assert (list(found.queries), found.values.tobytes(), found.scored.tobytes()) == (
        list(whole.queries),
        whole.values.tobytes(),
        whole.scored.tobytes(),
    )
    assert found.mean() == pytest.approx(whole.mean(), abs=0, rel=0, nan_ok=True)
    assert found.coverage.as_dict() == whole.coverage.as_dict()
    assert sorted(found.coverage.missing_queries) == sorted(whole.coverage.missing_queries)
    assert found.provenance.judgments == whole.provenance.judgments


@given(
    strategies.judgments(queries=QUERIES),
    strategies.runs(queries=(*QUERIES, "alone")),
    st.sampled_from(["standard", "trec_eval", "lightgbm", "standard,missing=left-out"]),
    st.integers(1, 5),
    st.integers(1, 4),
)
def test_any_partitions_have_the_bits_of_evaluate(qrels, run, convention, count, batch) -> None:
    try:
        whole = evaluated(qrels, run, convention)
    except ir.InputError:
        return
    same(
        in_partitions(rows_of(qrels, run), PartitionPlan.of(MEASURES, convention), count, batch),
        whole,
    )


@given(
    strategies.judgments(queries=QUERIES),
    strategies.runs(queries=(*QUERIES, "alone")),
    st.sampled_from(["standard", "trec_eval", "lightgbm", "standard,missing=left-out"]),
    st.integers(1, 4),
)
def test_judgments_that_every_worker_has_give_the_bits_of_evaluate(
    qrels, run, convention, count
) -> None:
    """Judged queries without results are in no partition."""
    try:
        whole = evaluated(qrels, run, convention)
    except ir.InputError:
        return
    plan = PartitionPlan.of(MEASURES, convention)
    same(
        in_partitions(local_rows(run, "run"), plan, count, 3, judgments=local_rows(qrels, "qrels")),
        whole,
    )


def test_sums_of_partitions_are_those_of_the_whole_comparison() -> None:
    rng = np.random.default_rng(9)
    qrels = {f"q{n}": {f"d{k}": int(rng.integers(3)) for k in range(6)} for n in range(20)}
    a, b = (
        {query: {f"d{k}": float(rng.random()) for k in range(6)} for query in qrels} for _ in "ab"
    )
    plan = ComparisonPlan.of(["nDCG@3", "AP"], "standard", ("a", "b"), n_draws=200)
    second = local_rows(a, "run")
    second = second.set_column(
        second.column_names.index("kind"), "kind", pa.array([BASELINE] * second.num_rows, pa.int8())
    )
    table = pa.concat_tables([rows_of(qrels, b), second]).sort_by("query")
    home = np.array([sum(query) % 3 for query in table.column("query").to_pylist()])
    parts = [
        batch
        for n in range(3)
        for batch in compared_batches(
            table.filter(pa.array(home == n)).to_batches(max_chunksize=7), plan
        )
    ]
    assert len(parts) == 3
    found = comparison_of(pa.Table.from_batches(list(added_batches(parts, plan))), plan)
    sides = (
        ir.evaluate(qrels, ir.Run(run, name=name), ["nDCG@3", "AP"])
        for run, name in ((a, "a"), (b, "b"))
    )
    whole = ir.ComparisonSums.of(*sides, n_draws=200)
    for one, test in zip(found.differences(), whole.differences(), strict=True):
        assert one.as_dict() == pytest.approx(test.as_dict(), abs=1e-12)
    assert (found.worst, found.judgments) == (whole.worst, whole.judgments)
    broken = table.slice(0, 1).set_column(
        table.column_names.index("value"), "value", pa.array([np.nan])
    )
    with pytest.raises(ir.InputError, match="expected two ids and a number"):
        comparison_of(
            pa.Table.from_batches(
                list(added_batches(compared_batches(broken.to_batches(), plan), plan))
            ),
            plan,
        )
    with pytest.raises(ir.InputError, match="found no rows"):
        comparison_of(
            pa.table({"numbers": pa.array([], pa.string()), "draws": pa.array([], pa.binary())}),
            plan,
        )


def test_lines_are_parsed_where_they_are_and_a_broken_one_is_an_error_of_the_evaluation() -> None:
    lines = ["q1\tQ0 d1 1 2.5 t", "", "# comment", "q1 Q0 \udcff 2 1.5 t\r", "q0 Q0 d1 1 1 t"]
    batch = pa.record_batch({"value": [line.encode("utf-8", "surrogateescape") for line in lines]})
    found = pa.Table.from_batches(list(parsed_lines([batch, batch.slice(0, 0)], "run", "a.run")))
    rows = {(row["query"], row["document"]): row["score"] for row in found.to_pylist()}
    assert rows == {(b"q1", b"d1"): 2.5, (b"q1", b"\xff"): 1.5, (b"q0", b"d1"): 1.0}
    assert found.column(PROBLEM).null_count == 3
    told = next(
        iter(parsed_lines([pa.record_batch({"value": ["q1 0 d1 x"]})], "qrels", "a.qrels"))
    ).to_pylist()[0]
    assert told["query"] is None
    assert (
        told[PROBLEM] == 'a.qrels: found "x" in "q1 0 d1 x", expected a number as grade (field 4)'
    )
    refused = {
        "query": [None, b"q"],
        "document": [told[PROBLEM].encode(), b"d"],
        "value": [None, 1.0],
        "kind": [REFUSED, 0],
    }
    with pytest.raises(ir.InputError, match=r'a.qrels: found "x"'):
        evaluate_rows(pa.table(refused), PartitionPlan.of("AP"))


def test_an_engine_without_an_order_is_told_what_to_name() -> None:
    for kind, convention in (
        ("run", "lightgbm"),
        ("run", "standard,duplicates=first"),
        ("qrels", "standard,duplicates=last"),
    ):
        with pytest.raises(
            ir.OptionError, match=f"{kind}: convention .*which depend on the order of rows"
        ) as told:
            refuse_order(kind, ir.Convention.of(convention), None)
        assert "order=" in told.value.hint
        refuse_order(kind, ir.Convention.of(convention), "position")
    refuse_order("qrels", ir.Convention.of("lightgbm"), None)


def test_the_order_of_rows_changes_no_bit_of_expected_values() -> None:
    """Sums over tied documents round by order; `evaluate` differs in the last bit, partitions do
    not.
    """
    rng = np.random.default_rng(7)
    run = {f"q{n}": {f"d{k}": float(rng.integers(40)) for k in range(300)} for n in range(40)}
    qrels = {
        query: {f"d{k}": int(rng.integers(4)) for k in rng.choice(300, 90, replace=False)}
        for query in run
    }
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


def test_partitions_leave_the_warning_of_a_run_without_an_answer_to_the_caller_who_knows_its_file() -> (  # noqa: E501
    None
):
    plan = PartitionPlan.of("AP")
    found = evaluated_batches(rows_of({"a": {"x": 1}}, {"b": ["x"]}).to_batches(), plan)
    with warnings.catch_warnings(action="error"):
        whole = evaluation_of(pa.Table.from_batches(found, result_schema()), plan)
    with pytest.warns(ir.IdealrankWarning, match="does not answer the judged query"):
        warn_of_doubt(whole)


def test_a_user_is_told_what_row_cannot_be_used() -> None:
    rows = {"query": ["q", "q"], "document": ["a", "b"], "value": [1.0, None], "kind": [0, 1]}
    with pytest.raises(ir.InputError, match="run: found query 'q', document 'b', score None"):
        evaluate_rows(pa.table(rows), PartitionPlan.of("AP"))
    rows = {"query": ["q", None], "document": ["a", "b"], "value": [1.0, 1.0], "kind": [1, 0]}
    with pytest.raises(ir.InputError, match="qrels: found query None, document 'b'"):
        evaluate_rows(pa.table(rows), PartitionPlan.of("AP"))
    rows = pa.record_batch(
        {"query": ["q", "q"], "document": ["a", "a"], "value": [1.0, 2.0], "kind": [0, 0]}
    )
    with pytest.raises(ir.InputError, match='"q a" a second time'):
        evaluation_of(
            pa.Table.from_batches(evaluated_batches([rows], PartitionPlan.of("AP"))),
            PartitionPlan.of("AP"),
        )


def test_nothing_to_evaluate_is_said_as_by_evaluate() -> None:
    with pytest.raises(
        ir.InputError, match="no query to evaluate: found 0 judged queries, run 'run' answers 1"
    ):
        in_partitions(local_rows({"q": ["a"]}, "run"), PartitionPlan.of("AP"), 1, 1)


def test_measures_without_numbers_are_refused() -> None:
    with pytest.raises(ir.OptionError, match="text values"):
        PartitionPlan.of("relstring")
