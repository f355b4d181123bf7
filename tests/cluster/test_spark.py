"""`evaluate_spark` on a cluster of two workers, one of which is killed: the bits of `evaluate`,
every time.
"""

import json
import threading
import time
import warnings

import numpy as np
import pytest

import idealrank as ir
from tests.cluster.local_cluster import executors

pytestmark = pytest.mark.service
MEASURES = ["nDCG@10", "AP", "RR", "num_q"]


def workload() -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """200 queries, one of them a third of all rows; some only judged, some only answered; scores
    with ties.
    """
    rng = np.random.default_rng(7)
    run = {
        f"q{n}": {f"d{k}": float(rng.integers(40)) for k in range(3000 if n == 50 else 30)}
        for n in range(5, 200)
    }
    qrels = {
        f"q{n}": {f"d{k}": int(rng.integers(4)) for k in rng.choice(40, 12, replace=False)}
        for n in range(190)
    }
    return qrels, run


QRELS, RUN = workload()


def frames(session):
    graded = [
        (query, doc, int(grade)) for query, one in QRELS.items() for doc, grade in one.items()
    ]
    ranked = [(query, doc, score) for query, one in RUN.items() for doc, score in one.items()]
    np.random.default_rng(3).shuffle(ranked := np.array(ranked, dtype=object))
    rows = [(query, doc, float(score)) for query, doc, score in ranked]
    return session.createDataFrame(
        graded, "qid string, docno string, label int"
    ), session.createDataFrame(rows, "qid string, docno string, score double")


def same(found: ir.Evaluation, whole: ir.Evaluation) -> None:
    whole = whole.on(sorted(whole.queries, key=str.encode))
    assert list(found.queries) == list(whole.queries)
    assert (found.values.tobytes(), found.scored.tobytes()) == (
        whole.values.tobytes(),
        whole.scored.tobytes(),
    )
    assert found.mean() == whole.mean()
    assert found.coverage.as_dict() == whole.coverage.as_dict()
    assert found.provenance.judgments == whole.provenance.judgments


def test_a_worker_is_killed_in_the_middle_and_the_result_is_exact(spark, cluster, tmp_path) -> None:
    """The first partitions of the run are done when the worker dies, with their output; the others
    are being made.
    """
    from idealrank.engines.spark import evaluate_spark

    folder, killed = tmp_path / "begun", tmp_path / "killed"
    folder.mkdir()

    def waiting(batches):
        import os

        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        (folder / f"{number}-{os.getpid()}").touch()
        end = time.monotonic() + 600
        while number >= 2 and not killed.exists() and time.monotonic() < end:
            time.sleep(0.05)
        yield from batches

    def kill() -> None:
        while (
            len([path for path in folder.iterdir() if not path.name.startswith(("0-", "1-"))]) < 2
        ):
            time.sleep(0.05)
        cluster.kill_worker(cluster.workers[0])
        killed.touch()

    qrels, run = frames(spark)
    held = run.repartition(6).mapInArrow(waiting, run.schema)
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = evaluate_spark(qrels, held, MEASURES)
    killer.join(10)
    assert killed.exists()
    assert cluster.workers[0].poll() is not None
    assert executors(spark) == 1
    assert len(list(folder.iterdir())) > 6  # partitions that were lost were made again
    same(found, ir.evaluate(QRELS, RUN, MEASURES))


def test_every_input_has_the_bits_of_evaluate(spark, tmp_path) -> None:
    from idealrank.engines.spark import evaluate_spark, per_query_spark

    qrels, run = frames(spark)
    for convention in ("standard", "trec_eval", "standard,missing=left-out"):
        same(
            evaluate_spark(qrels, run, MEASURES, convention, partitions=3),
            ir.evaluate(QRELS, RUN, MEASURES, convention),
        )
    whole = ir.evaluate(QRELS, RUN, MEASURES)
    # more partitions than some hashes fill
    same(evaluate_spark(QRELS, run, MEASURES, partitions=40), whole)
    same(evaluate_spark(qrels, RUN, MEASURES), whole)
    run.repartition(1).write.partitionBy("qid").parquet(str(tmp_path / "hive"))
    same(evaluate_spark(qrels, spark.read.parquet(str(tmp_path / "hive")), MEASURES), whole)
    per_query_spark(qrels, run, MEASURES).write.parquet(str(tmp_path / "values"))
    rows = {row["query"]: row for row in spark.read.parquet(str(tmp_path / "values")).collect()}
    assert {
        query: {name: rows[query][name] for name in values}
        for query, values in whole.per_query().items()
    } == whole.per_query()


def test_input_that_cannot_be_used_is_told_as_by_evaluate(spark) -> None:
    from idealrank.engines.spark import evaluate_spark

    qrels, run = frames(spark)
    with pytest.raises(ir.InputError, match="found query 'q5', document None"):
        evaluate_spark(
            qrels, run.union(spark.createDataFrame([("q5", None, 1.0)], run.schema)), MEASURES
        )
    with pytest.raises(ir.InputError, match=r'"q1 d[0-9]+" a second time'):
        evaluate_spark(qrels.union(qrels.where("qid = 'q1'")), run, MEASURES)
    with pytest.raises(
        ir.InputError, match="found columns 'qid', 'docno', expected one for the score"
    ):
        evaluate_spark(qrels, run.drop("score"), MEASURES)
    with pytest.raises(
        ir.OptionError,
        match=r"run: convention .* depend on the order of rows; a dataframe of an engine has none",
    ):
        evaluate_spark(qrels, run, MEASURES, "standard,ties=input")
    with pytest.raises(ir.InputError, match="run: found no column for order='rank'"):
        evaluate_spark(qrels, run, MEASURES, "standard,ties=input", order="rank")
    with pytest.raises(ir.InputError, match="no Spark dataframe"):
        evaluate_spark(QRELS, RUN, MEASURES)


def test_hostile_tables_are_refused_or_measured_as_by_evaluate(spark) -> None:
    """Queries over many partitions, null ids and positions, scores without an order, odd names, no
    rows, one query of many batches.
    """
    from idealrank.engines.spark import compare_spark, evaluate_spark, per_query_spark

    qrels, run = frames(spark)
    odd = run.selectExpr(
        "qid as `a.b`", "docno as `d``e f`", "score as `score (ms), π`", "score"
    ).repartition(9)
    names = {"query": "a.b", "document": "d`e f", "score": "score (ms), π"}
    same(evaluate_spark(qrels, odd, MEASURES, run_columns=names), ir.evaluate(QRELS, RUN, MEASURES))
    # a query and its documents again, in other partitions
    twice = run.union(run.where("qid = 'q50'").repartition(4))
    with pytest.raises(ir.InputError, match=r'a document a second time in "q50 d[0-9]+"'):
        evaluate_spark(qrels, twice, MEASURES, "standard,duplicates=error")
    best = evaluate_spark(qrels, twice, MEASURES, "standard,duplicates=best")
    assert (best.per_query(), best.coverage.duplicates) == (
        ir.evaluate(QRELS, RUN, MEASURES).per_query(),
        3000,
    )
    with pytest.raises(
        ir.InputError, match=r"run: found query None, document 'd1', score 1.0; expected two ids"
    ):
        evaluate_spark(
            qrels, run.union(spark.createDataFrame([(None, "d1", 1.0)], run.schema)), MEASURES
        )
    for value, found in ((float("nan"), "score nan"), (None, "score None")):
        with pytest.raises(ir.InputError, match=found):
            evaluate_spark(
                qrels, run.union(spark.createDataFrame([("q5", "x", value)], run.schema)), MEASURES
            )
    endless = {**RUN, "q5": {**RUN["q5"], "d9": float("inf"), "x": float("-inf")}}
    rows = [(query, doc, score) for query, one in endless.items() for doc, score in one.items()]
    same(
        evaluate_spark(qrels, spark.createDataFrame(rows, run.schema), MEASURES),
        ir.evaluate(QRELS, endless, MEASURES),
    )
    with pytest.raises(ir.InputError, match=r"grade inf"):
        evaluate_spark(
            qrels.selectExpr("qid", "docno", "cast('inf' as double) as label"), run, MEASURES
        )
    with pytest.raises(
        ir.InputError, match=r"run: found 9007199254740993, a number that float64 changes$"
    ):
        evaluate_spark(qrels, run.selectExpr("qid", "docno", "9007199254740993 as score"), MEASURES)
    both = run.join(run.select("qid", "docno", "score"), ["qid", "docno"])
    assert both.columns.count("score") == 2
    with pytest.raises(
        ir.InputError, match="run: expected one column 'score', found it more than once"
    ):
        evaluate_spark(qrels, both, MEASURES)
    numbered = run.selectExpr("*", "case when docno = 'd3' then null else 1 end as place")
    with pytest.raises(
        ir.InputError,
        match=r"found a row without a value of order='place', expected a whole number in every "
        r"row$",
    ):
        evaluate_spark(qrels, numbered, MEASURES, "standard,ties=input", order="place")
    with pytest.raises(ir.InputError, match="no query to evaluate"):
        evaluate_spark(qrels.where("false"), run, MEASURES)
    with pytest.warns(ir.IdealrankWarning, match="answers none of the 190 judged queries"):
        assert evaluate_spark(qrels, run.where("false"), MEASURES).coverage.missing == len(QRELS)
    for work in (evaluate_spark, compare_spark):
        with pytest.raises(ir.InputError, match="found no rows, expected judgments and results"):
            work(
                qrels.where("false"),
                *[run.where("false")] * (1 + (work is compare_spark)),
                MEASURES[:3],
            )
    assert per_query_spark(qrels.where("false"), run.where("false"), MEASURES).count() == 0


def test_one_query_of_many_batches_is_measured_as_by_evaluate(spark) -> None:
    """Its ties lie over all 300 batches."""
    from idealrank.engines.spark import evaluate_spark

    _, run = frames(spark)
    one = {f"d{number}": float(number % 7) for number in range(20_000)}
    alone = spark.createDataFrame(
        [("q", doc, score) for doc, score in one.items()], run.schema
    ).repartition(8)
    judged = {"q": {f"d{number}": number % 3 for number in range(0, 20_000, 5)}}
    same(evaluate_spark(judged, alone, MEASURES), ir.evaluate(judged, {"q": one}, MEASURES))


def test_broadcast_judgments_and_text_read_by_workers_give_the_bits_of_evaluate(
    spark, tmp_path
) -> None:
    """Judgments of queries that the run does not answer are in no partition, and are evaluated on
    the driver.
    """
    from idealrank.engines.spark import evaluate_spark, read_trec_spark

    qrels, run = frames(spark)
    for convention in (
        "standard",
        "trec_eval",
        "standard,missing=left-out",
        "standard,ties=expected",
        "standard,missing=zero",
    ):
        # Under expected values, counts of tied documents at the cutoff follow the order of rows,
        # which a cluster does not keep.
        is_expected = "expected" in convention
        whole = (
            evaluate_spark(qrels, run, MEASURES, convention)
            if is_expected
            else ir.evaluate(QRELS, RUN, MEASURES, convention)
        )
        for judged in (qrels, QRELS):
            same(
                evaluate_spark(judged, run, MEASURES, convention, broadcast=True, partitions=5),
                whole,
            )
    with pytest.warns(ir.IdealrankWarning, match="answers none of the 190 judged queries"):
        nothing = evaluate_spark(QRELS, run.where("false"), MEASURES, broadcast=True)
    assert nothing.coverage.missing == len(QRELS)
    (tmp_path / "qrels").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, one in QRELS.items() for d, g in one.items()), "utf-8"
    )
    lines = [f"{q}\tQ0 {d}  1 {s} tag\r\n" for q, one in RUN.items() for d, s in one.items()]
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "one.run").write_text("".join(lines[::2]), "utf-8", newline="")
    (tmp_path / "runs" / "two.run").write_text(
        "\ufeff# a comment\n" + "".join(lines[1::2]), "utf-8", newline=""
    )
    judged = read_trec_spark(spark, str(tmp_path / "qrels"), "qrels")
    same(
        evaluate_spark(judged, read_trec_spark(spark, str(tmp_path / "runs")), MEASURES),
        ir.evaluate(QRELS, RUN, MEASURES),
    )
    (tmp_path / "runs" / "two.run").write_text("q5 Q0 d1 1 high tag\n", "utf-8")
    with pytest.raises(ir.InputError, match=r'runs: found "high" in "q5 Q0 d1 1 high tag"'):
        evaluate_spark(
            QRELS, read_trec_spark(spark, str(tmp_path / "runs")), MEASURES, broadcast=True
        )


def test_tables_of_delta_and_iceberg_are_read_by_the_files_of_their_snapshot(
    spark, tmp_path
) -> None:
    """Both are overwritten, so that a folder holds files of two versions; the libraries know which
    ones are of the last.
    """
    import pyarrow as pa
    from deltalake import DeltaTable, write_deltalake
    from pyiceberg.catalog.sql import SqlCatalog

    from idealrank.engines.spark import evaluate_spark

    rows = [(query, doc, score) for query, one in RUN.items() for doc, score in one.items()]
    table = pa.table(
        dict(zip(("qid", "docno", "score"), map(list, zip(*rows, strict=True)), strict=True))
    )
    write_deltalake(str(tmp_path / "delta"), table.slice(0, 500))
    write_deltalake(str(tmp_path / "delta"), table, mode="overwrite")
    catalog = SqlCatalog(
        "test", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/iceberg"
    )
    catalog.create_namespace("runs")
    iceberg = catalog.create_table("runs.bm25", schema=table.schema)
    iceberg.append(table.slice(0, 500))
    iceberg.overwrite(table)
    assert len(list((tmp_path / "delta").glob("*.parquet"))) > len(
        DeltaTable(str(tmp_path / "delta")).file_uris()
    )
    whole = ir.evaluate(QRELS, RUN, MEASURES)
    of_iceberg = [planned.file.file_path for planned in iceberg.scan().plan_files()]
    for files in (DeltaTable(str(tmp_path / "delta")).file_uris(), of_iceberg):
        same(evaluate_spark(QRELS, spark.read.parquet(*files), MEASURES, broadcast=True), whole)
    for held in (DeltaTable(str(tmp_path / "delta")).to_pyarrow_table(), iceberg.scan().to_arrow()):
        assert ir.evaluate(QRELS, held, MEASURES).mean() == whole.mean()


def test_a_column_of_positions_stands_for_the_order_of_rows(spark) -> None:
    from idealrank.engines.spark import evaluate_spark

    ranked = [
        (query, doc, float(score > 20), place)
        for query, one in RUN.items()
        for place, (doc, score) in enumerate(one.items())
    ]
    run = spark.createDataFrame(
        ranked, "qid string, docno string, score double, place long"
    ).repartition(7)
    tied = {
        query: {doc: float(score > 20) for doc, score in one.items()} for query, one in RUN.items()
    }
    for convention in ("standard,ties=input", "lightgbm"):
        found = evaluate_spark(QRELS, run, MEASURES, convention, order="place")
        same(found, ir.evaluate(QRELS, tied, MEASURES, convention))


def test_sums_of_partitions_compare_and_gate_as_the_whole_does(spark) -> None:
    from idealrank.engines.spark import compare_spark

    qrels, run = frames(spark)
    worse = {
        query: {
            doc: score - 30 * (QRELS.get(query, {}).get(doc, 0) > 1) for doc, score in one.items()
        }
        for query, one in RUN.items()
    }
    rows = [(query, doc, score) for query, one in worse.items() for doc, score in one.items()]
    other = spark.createDataFrame(rows, run.schema).repartition(5)
    found = compare_spark(qrels, run, other, MEASURES[:3], names=("old", "new"), n_draws=2000)
    sides = [
        ir.evaluate(QRELS, ir.Run(one, name=name), MEASURES[:3])
        for one, name in ((RUN, "old"), (worse, "new"))
    ]
    whole = ir.ComparisonSums.of(*sides, n_draws=2000)
    for one, test in zip(found.differences(), whole.differences(), strict=True):
        assert one.as_dict() == pytest.approx(test.as_dict(), abs=1e-12)
    assert (found.worst, found.missing, found.judgments, found.a, found.b) == (
        whole.worst,
        whole.missing,
        whole.judgments,
        "old",
        "new",
    )
    assert ir.gate_sums(found).passed is ir.gate_sums(whole).passed is False
    with pytest.raises(ir.InputError, match="found query 'q5', document None"):
        compare_spark(
            qrels, run.union(spark.createDataFrame([("q5", None, 1.0)], run.schema)), other, "AP"
        )


@pytest.mark.filterwarnings("ignore:Deprecated in 3.0.0:FutureWarning")
def test_mllib_agrees_where_it_is_right_and_differs_where_it_is_not(spark) -> None:
    """`RankingMetrics` takes ranked lists and sets of relevant documents: grades are lost, unless a
    list of them is given.
    """
    from pyspark.mllib.evaluation import RankingMetrics

    queries = [
        query
        for query in QRELS
        if query in RUN and any(grade > 0 for grade in QRELS[query].values())
    ]
    held = ir.Run({query: RUN[query] for query in queries})
    lists = [
        (held.ranking(query).documents, [doc for doc, grade in QRELS[query].items() if grade > 0])
        for query in queries
    ]
    metrics = RankingMetrics(spark.sparkContext.parallelize(lists))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IdealrankWarning)
        binary = {
            query: {doc: min(grade, 1) for doc, grade in QRELS[query].items()} for query in queries
        }
        ours = ir.evaluate(binary, held, ["AP", "P@10", "nDCG@10"]).mean()
        graded = ir.evaluate({query: QRELS[query] for query in queries}, held, ["nDCG@10"]).mean()
    assert metrics.meanAveragePrecision == pytest.approx(ours["AP"], abs=1e-12)
    assert metrics.precisionAt(10) == pytest.approx(ours["P@10"], abs=1e-12)
    assert metrics.ndcgAt(10) == pytest.approx(ours["nDCG@10"], abs=1e-12)
    assert abs(metrics.ndcgAt(10) - graded["nDCG@10"]) > 0.01  # 1, 2 and 3 count the same


def test_the_command_prints_the_json_of_the_local_engine(spark, tmp_path, monkeypatch) -> None:
    """For TREC text, which this process reads, and for Parquet, which the cluster reads."""
    from click.testing import CliRunner

    from idealrank.cli.main import cli

    def printed(run, *options: str) -> list[dict]:
        arguments = [
            "evaluate",
            str(tmp_path / "qrels.txt"),
            str(tmp_path / run),
            "-m",
            "nDCG@10,AP",
            "--per-query",
            "--format",
            "json",
        ]
        found = CliRunner().invoke(cli, [*arguments, *options], catch_exceptions=False)
        assert found.exit_code == 0, found.output
        return json.loads(found.stdout)

    text = "".join(
        f"{query} 0 {doc} {grade}\n" for query, one in QRELS.items() for doc, grade in one.items()
    )
    (tmp_path / "qrels.txt").write_text(text, "utf-8")
    lines = "".join(
        f"{query} Q0 {doc} 1 {score} tag\n"
        for query, one in RUN.items()
        for doc, score in one.items()
    )
    (tmp_path / "a.run").write_text(lines, "utf-8")
    frames(spark)[1].toPandas().to_parquet(tmp_path / "a.parquet")
    for run in ("a.run", "a.parquet"):
        assert printed(run, "--engine", "spark") == printed(run)
    assert printed("a.run", "--engine", "spark", "--convention", "lightgbm") == printed(
        "a.run", "--convention", "lightgbm"
    )
    (tmp_path / "other.run").write_text("other Q0 d1 1 1 tag\n", "utf-8")
    said_once = CliRunner().invoke(
        cli,
        ["evaluate", str(tmp_path / "qrels.txt"), str(tmp_path / "other.run"), "--engine", "spark"],
    )
    assert said_once.stderr.count("answers none of the 190 judged queries") == 1
    for place, said in (
        (str(tmp_path / "none.parquet"), "[PATH_NOT_FOUND]"),
        ("hdfs:///runs/none", "java.io.IOException: Incomplete HDFS URI"),
    ):
        found = CliRunner().invoke(
            cli, ["evaluate", str(tmp_path / "qrels.txt"), place, "--engine", "spark"]
        )
        assert isinstance(found.exception, ir.InputError | SystemExit), found.exception
        assert f"{place}: Spark cannot read it ({said}" in f"{found.exception} {found.output}"
