"""Metrics and objectives for LightGBM."""

from idealrank.training.lightgbm import eval_function, objective

__all__ = ["eval_function", "objective"]
