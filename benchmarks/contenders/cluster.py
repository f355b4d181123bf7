"""Time jobs on a standalone Spark cluster on loopback: ``python cluster.py WORKERS ROUNDS
JOB@N,JOB@N... QRELS.parquet RUN.parquet...``.

N is the number, from 0, of a pair of files. Prints JSON: seconds by job, on the clock and of the
workers' processors, and what the jobs found. The session is up, and every job has run once, before
a clock starts.
"""

import json
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.cluster.local_cluster import Cluster, executors, wait_for  # noqa: E402  (the path above comes first)

MEASURES = ["nDCG@10", "AP", "RR"]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.cores": "1",
    "spark.executor.memory": "2g",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.adaptive.enabled": "false",  # the same partitions for every job
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}


def session_on(cluster: Cluster, workers: int):
    """A session with one core on each worker."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    builder = SparkSession.builder.master(cluster.url)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    wait_for(lambda: executors(session) == workers, "the executors")
    return session


class Jobs:
    """The jobs over one run; each returns what it found."""

    def __init__(self, session, qrels: str, run: str) -> None:
        self._qrels, self._run = session.read.parquet(qrels), session.read.parquet(run)

    def evaluate(self) -> dict[str, float]:
        """`evaluate_spark`: shuffle of both tables, kernel, values on the driver."""
        from idealrank.engines.spark import evaluate_spark  # noqa: PLC0415

        return dict(evaluate_spark(self._qrels, self._run, MEASURES).mean())

    def broadcast(self) -> dict[str, float]:
        """`evaluate_spark` with the judgments sent to every worker."""
        from idealrank.engines.spark import evaluate_spark  # noqa: PLC0415

        return dict(evaluate_spark(self._qrels, self._run, MEASURES, broadcast=True).mean())

    def identity(self) -> dict[str, float]:
        """Pass the same columns through a `mapInArrow` that returns its batches unchanged, without
        a shuffle.
        """
        frame = self._run.select("query", "document", "score")
        frame.mapInArrow(_same, frame.schema).write.format("noop").mode("overwrite").save()
        return {}

    def grouped_identity(self) -> dict[str, float]:
        """Shuffle and sort the rows by query, and return the batches unchanged."""
        frame = (
            self._run.select("query", "document", "score")
            .repartition("query")
            .sortWithinPartitions("query")
        )
        frame.mapInArrow(_same, frame.schema).write.format("noop").mode("overwrite").save()
        return {}

    def scan(self) -> dict[str, float]:
        """The columns alone, in the JVM."""
        self._run.select("query", "document", "score").write.format("noop").mode("overwrite").save()
        return {}

    def ours_binary(self) -> dict[str, float]:
        """`evaluate_spark` on grades 0 and 1, for what MLlib computes."""
        from pyspark.sql import functions  # noqa: PLC0415

        from idealrank.engines.spark import evaluate_spark  # noqa: PLC0415

        binary = self._qrels.withColumn("grade", functions.least("grade", functions.lit(1)))
        return dict(evaluate_spark(binary, self._run, ["nDCG@10", "AP"]).mean())

    def _lists(self):
        """Ranked lists and relevant documents, as both classes of MLlib take them; queries without
        a relevant document are left out.
        """
        from pyspark.sql import functions as f  # noqa: PLC0415

        listed = f.sort_array(f.collect_list(f.struct("score", "document")), asc=False)
        ranked = self._run.groupBy("query").agg(listed.getField("document").alias("prediction"))
        relevant = (
            self._qrels.where("grade > 0")
            .groupBy("query")
            .agg(f.collect_list("document").alias("label"))
        )
        return ranked.join(relevant, "query")

    def ranking_metrics(self) -> dict[str, float]:
        """`RankingMetrics`: both values, from an RDD of Python lists."""
        from pyspark.mllib.evaluation import RankingMetrics  # noqa: PLC0415

        metrics = RankingMetrics(self._lists().select("prediction", "label").rdd.map(tuple))
        return {"AP": metrics.meanAveragePrecision, "nDCG@10": metrics.ndcgAt(10)}

    def ranking_evaluator(self) -> dict[str, float]:
        """`RankingEvaluator`: the same values, one job a metric. Its columns are arrays of doubles,
        so that ids have to be numbers.
        """
        from pyspark.ml.evaluation import RankingEvaluator  # noqa: PLC0415
        from pyspark.sql import functions as f  # noqa: PLC0415

        lists = self._lists().select(
            *(f.col(name).cast("array<double>").alias(name) for name in ("prediction", "label"))
        )
        names = {"AP": "meanAveragePrecision", "nDCG@10": "ndcgAtK"}
        return {
            ours: RankingEvaluator(
                metricName=theirs, predictionCol="prediction", labelCol="label", k=10
            ).evaluate(lists)
            for ours, theirs in names.items()
        }


def _same(batches):
    yield from batches


def medians(times: dict[str, list[float]]) -> dict[str, float]:
    """The median of each job."""
    return {job: statistics.median(one) for job, one in times.items()}


def main() -> None:
    """Start the cluster, run the jobs in turns, and print."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the cluster is stopped
    workers, rounds, jobs, files = (
        int(sys.argv[1]),
        int(sys.argv[2]),
        sys.argv[3].split(","),
        sys.argv[4:],
    )
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder), workers, "3g")
        try:
            session = session_on(cluster, workers)
            over = [Jobs(session, *pair) for pair in zip(files[::2], files[1::2], strict=True)]

            def run(job: str) -> dict[str, float]:
                name, _, number = job.partition("@")
                return getattr(over[int(number)], name)()

            # compiles, starts the workers' Python, and reads the files once
            found = {job: run(job) for job in jobs}
            seconds: dict[str, list[float]] = {job: [] for job in jobs}
            processor: dict[str, list[float]] = {job: [] for job in jobs}
            for _ in range(rounds):
                for job in jobs:
                    start, used = time.perf_counter(), cluster.processor_seconds()
                    run(job)
                    seconds[job].append(time.perf_counter() - start)
                    processor[job].append(cluster.processor_seconds() - used)
            print(
                json.dumps(
                    {"found": found, "clock": medians(seconds), "processor": medians(processor)}
                )
            )
            session.stop()
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
