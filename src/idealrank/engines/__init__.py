"""Evaluation and comparison on Spark and Dask, a part of the queries at a time."""
