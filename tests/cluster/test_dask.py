"""`evaluate_dask` on two worker processes has the bits of `evaluate`."""

import pandas as pd
import pytest

import idealrank as ir
from tests.cluster.test_spark import MEASURES, QRELS, RUN, same

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def client():
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


def frames():
    import dask.dataframe as dd

    graded = pd.DataFrame(
        [(query, doc, grade) for query, one in QRELS.items() for doc, grade in one.items()],
        columns=["qid", "docno", "label"],
    )
    ranked = pd.DataFrame(
        [(query, doc, score) for query, one in RUN.items() for doc, score in one.items()],
        columns=["qid", "docno", "score"],
    )
    return dd.from_pandas(graded, npartitions=3), dd.from_pandas(
        ranked.sample(frac=1, random_state=1), npartitions=7
    )


@pytest.mark.filterwarnings("ignore")
def test_the_bits_are_those_of_evaluate(client) -> None:
    from idealrank.engines.dask import evaluate_dask

    qrels, run = frames()
    for convention in ("standard", "standard,missing=left-out"):
        same(
            evaluate_dask(qrels, run, MEASURES, convention),
            ir.evaluate(QRELS, RUN, MEASURES, convention),
        )
        same(
            evaluate_dask(qrels, run, MEASURES, convention, broadcast=True),
            ir.evaluate(QRELS, RUN, MEASURES, convention),
        )
    same(evaluate_dask(QRELS, run, MEASURES, partitions=31), ir.evaluate(QRELS, RUN, MEASURES))
    same(evaluate_dask(QRELS, run, MEASURES, broadcast=True), ir.evaluate(QRELS, RUN, MEASURES))


@pytest.mark.filterwarnings("ignore")
def test_positions_and_sums_of_partitions(client) -> None:
    from idealrank.engines.dask import compare_dask, evaluate_dask

    qrels, run = frames()
    run["place"] = run["docno"].str.slice(1).astype("int64")
    tied = run.assign(score=(run["score"] > 20).astype("float64"))
    lists = {
        query: {doc: float(score > 20) for doc, score in one.items()} for query, one in RUN.items()
    }
    found = evaluate_dask(qrels, tied, MEASURES, "standard,ties=input", order="place")
    same(found, ir.evaluate(QRELS, lists, MEASURES, "standard,ties=input"))
    sums = compare_dask(qrels, run, tied, MEASURES[:3], n_draws=500)
    sides = [ir.evaluate(QRELS, one, MEASURES[:3]) for one in (RUN, lists)]
    for one, whole in zip(
        sums.differences(), ir.ComparisonSums.of(*sides, n_draws=500).differences(), strict=True
    ):
        assert one.as_dict() == pytest.approx(whole.as_dict(), abs=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_input_that_cannot_be_used_is_told(client) -> None:
    from idealrank.engines.dask import evaluate_dask

    qrels, run = frames()
    with pytest.raises(ir.InputError, match="no Dask dataframe"):
        evaluate_dask(QRELS, RUN, MEASURES)
    with pytest.raises(ir.OptionError, match="order of rows"):
        evaluate_dask(qrels, run, MEASURES, "standard,ties=input")
    with pytest.raises(ir.InputError, match="column 'score' of type float64, expected ids"):
        evaluate_dask(
            qrels,
            run,
            MEASURES,
            run_columns={"document": "score", "query": "qid", "score": "score"},
        )


@pytest.mark.filterwarnings("ignore")
def test_hostile_tables_are_refused_or_measured_as_by_evaluate(client) -> None:
    """Queries over many partitions, null ids and positions, scores without an order, odd names, no
    rows.
    """
    import dask.dataframe as dd

    from idealrank.engines.dask import compare_dask, evaluate_dask

    qrels, run = frames()
    whole = ir.evaluate(QRELS, RUN, MEASURES)
    odd = run.rename(columns={"qid": "a.b", "docno": 0, "score": "score (ms), π"})
    same(
        evaluate_dask(
            qrels,
            odd,
            MEASURES,
            run_columns={"query": "a.b", "document": "0", "score": "score (ms), π"},
        ),
        whole,
    )
    same(evaluate_dask(qrels, run.astype({"qid": "category"}), MEASURES), whole)
    held = run.compute()

    def with_row(query, document, score, **more):
        return dd.from_pandas(
            pd.concat(
                [held, pd.DataFrame([{"qid": query, "docno": document, "score": score, **more}])]
            ),
            npartitions=5,
        )

    twice = dd.concat([run, run[run["qid"] == "q50"]])
    with pytest.raises(ir.InputError, match=r'a document a second time in "q50 d[0-9]+"'):
        evaluate_dask(qrels, twice, MEASURES, "standard,duplicates=error")
    best = evaluate_dask(qrels, twice, MEASURES, "standard,duplicates=best")
    assert (best.per_query(), best.coverage.duplicates) == (
        ir.evaluate(QRELS, RUN, MEASURES).per_query(),
        3000,
    )
    for row, found in (
        ((None, "d1", 1.0), "query None, document 'd1'"),
        (("q5", None, 1.0), "document None"),
        (("q5", "x", float("nan")), "score (nan|None)"),
    ):
        with pytest.raises(ir.InputError, match=found):
            evaluate_dask(qrels, with_row(*row), MEASURES)
    endless = {**RUN, "q5": {**RUN["q5"], "x": float("inf")}}
    same(
        evaluate_dask(qrels, with_row("q5", "x", float("inf")), MEASURES),
        ir.evaluate(QRELS, endless, MEASURES),
    )
    numbered = run.assign(place=1)
    numbered["place"] = numbered["place"].astype("Int64").mask(numbered["docno"] == "d3")
    with pytest.raises(ir.InputError, match="found a row without a value of order='place'"):
        evaluate_dask(qrels, numbered, MEASURES, "standard,ties=input", order="place")
    large = held.assign(score=held["score"].astype("int64") + 2**53)
    with pytest.raises(
        ir.InputError, match=r"run: found 90071992547\d+, a number that float64 changes"
    ):
        evaluate_dask(qrels, dd.from_pandas(large, npartitions=3), MEASURES)
    with pytest.raises(ir.InputError, match=r"column 'score' of type .*string.*, expected numbers"):
        evaluate_dask(qrels, run.astype({"score": "string"}), MEASURES)
    empty = held[:0]
    assert evaluate_dask(
        qrels, dd.from_pandas(empty, npartitions=1), MEASURES
    ).coverage.missing == len(QRELS)
    nothing = dd.from_pandas(empty.rename(columns={"score": "label"}), npartitions=1)
    with pytest.raises(ir.InputError, match="no query to evaluate"):
        evaluate_dask(nothing, run, MEASURES)
    with pytest.raises(ir.InputError, match="found no rows, expected judgments and results"):
        evaluate_dask(nothing, dd.from_pandas(empty, npartitions=1), MEASURES)
    assert compare_dask(nothing, run, run, "AP", n_draws=100).sums[0].n == 0
