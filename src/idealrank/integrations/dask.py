"""Evaluation and comparison on Dask."""

from idealrank.engines.dask import compare_dask, evaluate_dask

__all__ = ["compare_dask", "evaluate_dask"]
