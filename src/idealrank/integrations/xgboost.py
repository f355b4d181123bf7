"""Metrics and objectives for XGBoost."""

from idealrank.training.xgboost import eval_function, objective

__all__ = ["eval_function", "objective"]
