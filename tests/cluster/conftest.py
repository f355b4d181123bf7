"""A session of Spark on a standalone cluster of two workers."""

import sys
from pathlib import Path

import pytest

from tests.cluster.local_cluster import Cluster, executors, wait_for

ROOT = Path(__file__).parents[2]


@pytest.fixture
def cluster(tmp_path):
    found = Cluster(tmp_path)
    yield found
    found.stop()


@pytest.fixture
def spark(cluster, monkeypatch):
    """A session on the cluster, with one core on each worker."""
    from pyspark.sql import SparkSession

    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.cores": "1",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "6",
        "spark.executorEnv.PYTHONPATH": str(ROOT),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    }
    builder = SparkSession.builder.master(cluster.url)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    wait_for(lambda: executors(session) == 2, "two executors")
    yield session
    session.stop()
