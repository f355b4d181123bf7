"""Evaluation and comparison on Spark."""

from idealrank.engines.spark import compare_spark, evaluate_spark, per_query_spark, read_trec_spark

__all__ = ["compare_spark", "evaluate_spark", "per_query_spark", "read_trec_spark"]
